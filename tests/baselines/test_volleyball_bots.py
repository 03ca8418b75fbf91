"""Scripted volleyball players rally, play as a team, and one of them from words alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.baselines.bots.volleyball import Scripted, skills_of
from manyhands.baselines.evaluation import play_matches
from manyhands.baselines.evaluation.league import league
from manyhands.baselines.players.macro import Embodied
from manyhands.baselines.players.reader import text
from manyhands.baselines.players.volleyball_reader import VolleyballReader
from manyhands.core.env import ConfigError, SeatError
from manyhands.core.play import play
from manyhands.core.registry import make, seat
from manyhands.core.view import View
from manyhands.envs.volleyball import Volleyball
from manyhands.envs.volleyball.flight import RECEIVE, SET, SPIKE
from manyhands.wrappers.events import Events


def played(env, name, games, steps):
    """(crossings [steps, games], kinds of the touching skills [steps, D, games] or -1, last
    state)."""
    skills, player = skills_of(env), Scripted(name)
    keys = jax.vmap(jax.random.key)(jnp.arange(games, dtype=jnp.uint32))

    def step(state, _):
        obs = skills.parse_observation(jnp.moveaxis(env.perceive(state), 0, 1))
        order = skills.order(player.choose(skills, obs))
        actions = jnp.moveaxis(skills.follow(obs, order), 0, 1)
        new, outcome = env.step(keys, state, actions)
        touched = (new.since == 0) & ~state.over
        return new, (outcome.metrics["crossings"], jnp.where(touched, order.kind, -1))

    play = jax.jit(lambda keys: jax.lax.scan(step, env.batch_reset(keys), None, length=steps))
    last, (crossings, kinds) = jax.device_get(play(keys))
    return crossings, kinds, last


@pytest.mark.slow
def test_two_players_rally():
    crossings, _, last = played(Volleyball("1v1"), "rally", 16, 500)
    assert not last.over.any()  # no fault in ten seconds
    assert crossings.sum(0).min() >= 8


@pytest.mark.slow
def test_a_team_receives_sets_and_spikes():
    env = Volleyball("3v3", randomise={"mass": (0.98, 1.02), "restitution": (0.79, 0.81)})
    crossings, kinds, _ = played(env, "team", 32, 400)
    assert (crossings.sum(0) >= 2).mean() >= 0.8  # serves that come back
    plays = 0
    for game in range(32):
        touches = [k for row in kinds[:, :, game] for k in row if k >= 0]
        plays += touches[1:4] == [RECEIVE, SET, SPIKE]
    assert plays >= 24


@pytest.mark.slow
def test_a_hovering_player_loses_to_one_who_plays():
    result = play(Volleyball("1v1", serve="near"), ["rally", "hover"], 3, seed=1)
    assert all(episode.metrics["near_points"] == 1 for episode in result.episodes)


def test_a_pair_sets_and_spikes_on_target():
    env = Volleyball("set_and_spike", max_steps=200)
    assert env.scripted_policy == "spiker"
    episodes = play(env, "bot", 10, seed=0).episodes
    for name in ("spikes", "on_target"):  # downwards; within a metre of the target
        assert sum(episode.metrics[name] for episode in episodes) >= 8, name


class Words(View):
    """A view of nothing but words: whatever else is read fails."""

    @property
    def vector(self):
        raise AssertionError("the reader looked at numbers")

    perception = legal = image = vector


@pytest.mark.slow
def test_a_player_who_only_reads_rallies_with_a_bot():
    env = Volleyball("1v1", serve="near", max_steps=230)
    result = play(env, ["text", "rally"], 1, seed=0)
    (episode,) = result.episodes
    assert episode.ended == "truncated"  # the ball is still in play
    assert episode.metrics["crossings"] >= 3
    assert episode.illegal == (0, 0)


def test_what_it_reads_and_answers():
    env = Events(Volleyball("1v1"))
    game = env.env
    base = dict(ball_velocity=(2.7, 0.1, -1.0), served=True, turn="near")
    cases = [
        (game.place(ball=(1.0, 0.0, 3.0), serving="near"), "It is mine to serve.", "serve"),
        (game.place(ball=(0.5, 0.0, 3.5), **base), "The ball is mine: I send it back.", "bump to"),
        (game.place(ball=(2.2, 0.0, 4.5), **base), "That ball goes out: I leave it.", "go to"),
    ]
    for inner, why, skill in cases:
        state = env.begin(inner)
        view = Words(env, type("Frame", (), {"state": state})(), 0)
        (reply,) = VolleyballReader().act([view])
        thought, action = reply.action.split("\n")
        assert thought == why
        assert action.startswith(f"ACTION: {skill}")
        assert env.skills.names[env.parse(reply.action, state, 0)] == action[len("ACTION: ") :]


@pytest.mark.parametrize(("task", "per", "names"), [
    ("1v1", "agent", ("rally", "duel")),
    ("3v3", "team", ("team",)),
])  # fmt: skip
def test_from_event_to_event_they_choose_what_is_possible(task, per, names):
    """With `skills="attack"` not every bump is."""
    env = make("events", env=make("volleyball", task=task), per=per)
    for seats in ([*names, *names] * 3)[: env.num_agents], "random":
        line_up = seats if seats != "random" else [names[0], *["random"] * (env.num_agents - 1)]
        result = play(env, line_up, episodes=8, seed=1, progress=False)
        assert sum(result.refused(0)) == 0


@pytest.mark.slow
def test_who_hovers_by_velocities_stays():
    env = Volleyball("back_and_forth", actions="velocity")
    result = play(env, ["hover"], 2, seed=0)
    assert [episode.steps for episode in result.episodes] == [env.max_steps] * 2


def test_seats_that_do_not_fit_are_refused():
    team = Volleyball("3v3")
    with pytest.raises(SeatError, match="'team' does"):
        seat("rally", team)
    with pytest.raises(SeatError, match="plays set_and_spike"):
        seat("spiker", team)
    with pytest.raises(SeatError, match="no scripted player"):
        seat("bot", Volleyball("solo_bump"))
    with pytest.raises(SeatError, match="plays volleyball"):
        seat("hover", make("kitchen"))
    with pytest.raises(ConfigError, match="the skills are for"):
        seat("hover", Volleyball("1v1", actions="ctbr"))
    assert seat("bot", team) == Scripted("team")
    assert seat("bot", Volleyball("1v1")) == Scripted("duel")
    assert seat("bot", Volleyball("1v1", skills="plain")) == Scripted("rally")
    assert isinstance(text(team), Embodied)
    assert type(text(make("kitchen"))).__name__ == "Reader"
    assert np.array_equal(team.noop, np.zeros(4))


# ---- networks that come with the package ---------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "metric", "least"), [("solo_bump", "hits", 10), ("hit", "distance", 5)]
)
def test_shipped_networks_fly(task, metric, least):
    """They depend on the controllers' gains: whoever changes those trains them anew."""
    env = make("volleyball", task=task, actions="velocity")
    (match,) = play_matches(env, [seat("ippo", env)], [(0,)], 16, seed=5)
    assert match.metrics[metric].mean() >= least


@pytest.mark.slow
def test_a_shipped_network_wins_by_skills():
    env = Events(Volleyball("1v1"))
    table = league(env, ["ippo", "hover", "random"], 20, seed=5, by="win")
    assert table.wins[0, 1] >= 0.95 and table.wins[0, 2] >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize(("skills", "least"), [("plain", 0.6), ("attack", 0.2)])
def test_a_shipped_strategy_beats_the_scripted_team(skills, least):
    drawn = {"mass": (0.98, 1.02), "restitution": (0.79, 0.81)}
    env = Events(Volleyball("3v3", randomise=drawn, skills=skills), per="team")
    table = league(env, ["psro", "bot"], 64, seed=5, by="win")
    margins = np.concatenate([table.margins[0, 1], -table.margins[1, 0]])
    assert (margins > 0).mean() >= least and (margins > 0).sum() > 3 * (margins < 0).sum()


@pytest.mark.parametrize("task", ["3v3", "6v6"])
def test_a_team_attacks_short_by_plain_skills_alone(task):
    court, plain = Volleyball(task), Volleyball(task, skills="plain")
    for env in (court, Events(court), Events(court, per="team")):
        with pytest.raises(SeatError, match="plain"):
            seat("team:attack=short", env)
        assert seat("team", env).attack == "deep"
    assert seat("team:attack=short", plain).attack == "short"
    plain = Events(plain, per="team")
    assert "bumps deep" in env.rules("near") and "bumps deep" not in plain.rules("near")


@pytest.mark.slow
def test_a_team_that_attacks_short_beats_one_that_attacks_deep():
    drawn = {"mass": (0.98, 1.02), "restitution": (0.79, 0.81)}
    env = Events(Volleyball("3v3", randomise=drawn, skills="plain"), per="team")
    assert league(env, ["team:attack=short", "team"], 32, by="win").wins[0, 1] > 0.65
    with pytest.raises(SeatError, match="attack is deep or short, given 'high'"):
        seat("team:attack=high", env)
