"""Questions about what agents know, asked outside of the game."""

import asyncio
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.baselines.evaluation.probing import LinearProbe, hidden
from manyhands.baselines.learners.networks import Network, NetworkConfig, inputs
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.core.env import ConfigError, SeatError
from manyhands.core.probes import NOT_KNOWN, Probes, Question, read_answers
from manyhands.core.record import verify
from manyhands.core.view import Reply
from manyhands.testing import ContractError, lookalikes, play_at_random
from manyhands.testing.questions import check_questions

KUHN = manyhands.make("kuhn_poker")
LEDUC = manyhands.make("leduc_holdem")
KITCHEN = manyhands.make("kitchen", layout="cramped_room", view_radius=1, max_steps=12)


def play(env, seats, episodes=3, **options):
    return manyhands.play(env, seats, episodes, progress=False, **options)


def knows(view, question):
    return question.believed


def test_answers_are_read():
    options = ("cabinet 1", "cabinet 11", "in the cabinet 1", NOT_KNOWN)
    question = Question("Where?", options, "cabinet 1", NOT_KNOWN)
    for said, option in {
        "ANSWER: cabinet 1": "cabinet 1",
        "I think.\nanswer: Cabinet 11.": "cabinet 11",
        "2": "cabinet 11",
        "it is in the cabinet 1": "in the cabinet 1",
        "ANSWER: 9": None,
        "cabinet 1 or cabinet 11": None,
        "": None,
    }.items():
        assert question.read(said) == option, said
    with pytest.raises(ConfigError):
        Question("Where?", ("here",), "there", "here")


def test_a_card_that_is_seen_rules_out_others():
    state = KUHN.reset(jax.random.key(0))
    for agent in range(2):
        asked = {q.text: q for q in KUHN.questions(state, agent)}
        own = KUHN.ranks[int(state.cards[agent])]
        other = KUHN.ranks[int(state.cards[1 - agent])]
        assert asked["Of which rank is your card?"].believed == own
        for rank in KUHN.ranks:
            question = asked[f"Does player_{1 - agent} hold a card of rank {rank}?"]
            assert question.believed == ("no" if rank == own else NOT_KNOWN)
            assert question.true == ("yes" if rank == other else "no")


def test_a_pair_on_the_board_rules_out_its_rank():
    found = []

    def watch(moment):
        state, seen = moment.frame.state, moment.views[0]
        if int(state.round) == 1 and int(state.cards[0]) // 2 == int(state.board[0]) // 2:
            rank = LEDUC.ranks[int(state.cards[0]) // 2]
            found.extend(
                q.believed
                for q in LEDUC.questions(state, seen.agent)
                if q.text.endswith(f"{rank}?")
            )

    play(LEDUC, lambda view: "call", 12, on_step=watch)
    assert found and set(found) == {"no"}


def test_a_chef_knows_what_is_in_its_view():
    kinds = set()

    def watch(moment):
        for i, view in enumerate(moment.views):
            for question in KITCHEN.questions(moment.frame.state, i):
                kinds.add((question.kind, question.believed == NOT_KNOWN))
                if question.believed != NOT_KNOWN:
                    assert question.believed == question.true
                if question.kind == "hands":
                    out = f"{KITCHEN.agents[1 - i]} is out of sight" in view.text
                    assert out == (question.believed == NOT_KNOWN)

    play(KITCHEN, "random", 2, on_step=watch)
    assert {("hands", True), ("hands", False), ("pots", True), ("pots", False)} <= kinds
    plain = manyhands.make("kitchen")
    assert plain.questions(plain.reset(jax.random.key(1)), 0) == []
    asked = manyhands.make("kitchen", layout="overcooked_v2/grounded_coord_simple", view_radius=1)
    recipe = [q for q in asked.questions(asked.reset(jax.random.key(1)), 0) if q.kind == "recipe"]
    assert len(recipe) == 1 and recipe[0].true != NOT_KNOWN == recipe[0].believed


class Leaking(type(KUHN)):
    """Gives away the cards of others, or what `fault` does."""

    fault = "believed"

    def questions(self, state, agent):
        found = super().questions(state, agent)
        if self.fault == "believed":
            return [dataclasses.replace(q, believed=q.true) for q in found]
        if self.fault == "asked":
            return [q for q in found if q.true != "no"]
        if self.fault == "twice":
            return found + found
        if self.fault == "drawn":
            np.random.random()
        if self.fault == "mark":
            return [dataclasses.replace(q, text=q.text.rstrip("?")) for q in found]
        return found


@pytest.mark.parametrize("fault", ["believed", "asked", "twice", "drawn", "mark"])
def test_questions_that_know_too_much_are_found(fault):
    env = Leaking()
    env.fault = fault
    with pytest.raises(ContractError, match="questions"):
        check_questions(play_at_random(env))


@pytest.mark.parametrize("env", [KUHN, LEDUC, KITCHEN], ids=lambda env: env.id)
def test_states_that_an_agent_cannot_tell_apart_have_different_truths(env):
    # Otherwise the check would show nothing.
    played = play_at_random(env)
    assert any(
        len({tuple(q.true for q in env.questions(state, i)) for state in states}) > 1
        for i, states in lookalikes(played)
    )
    check_questions(played)


def test_probes_are_recorded_and_change_nothing(tmp_path):
    path = tmp_path / "r.jsonl"
    plain = play(KUHN, "random", seed=5)
    probes = Probes(knows, most=3)
    asked = play(KUHN, "random", seed=5, probes=probes, record=path)
    assert (plain.rewards == asked.rewards).all() and verify(path)
    assert sorted(map(repr, read_answers(path))) == sorted(map(repr, probes.answers))
    score = probes.scores()[""]
    assert score.count == len(probes.answers) > 6 and score.believed == 1.0 and score.unread == 0
    assert score.true == score.knowable < 1.0
    assert {one.question.kind for one in probes.answers} == {"own card", "another's card"}


def test_who_is_asked():
    async def slow(view, question):
        await asyncio.sleep(0)
        return Reply("gibberish", info={"tokens": 3})

    probes = Probes({"player_1": slow}, kinds=["own card"])
    play(KUHN, "random", probes=probes)
    assert {one.agent for one in probes.answers} == {"player_1"}
    assert probes.scores()["own card"].unread == 1.0

    class Seat:
        def act(self, views):
            return [view.choices[0].text for view in views]

        def probe(self, views, questions):
            return [questions[0].true] * len(views)

    probes = Probes(agents=["player_0"])
    play(KUHN, [Seat(), "random"], probes=probes)
    assert probes.answers and all(a.answer == a.question.true for a in probes.answers)
    own = Probes(every=100)
    play(KUHN, [Seat(), "random"], probes=own)
    assert all(one.step == 0 for one in own.answers)
    for wrong in (Probes(knows, agents=["nobody"]), 5):
        with pytest.raises(SeatError):
            play(KUHN, "random", probes=wrong)
    for name in ("kinds", "agents"):  # text is no list of names: its letters name nothing
        for given in ("own card", 5, [5]):
            with pytest.raises(ConfigError, match=name):
                Probes(**{name: given})
    with pytest.raises(SeatError, match="probe"):
        play(KUHN, "random", probes=lambda view, question: 1 / 0)
    with pytest.raises(ConfigError):
        play(KUHN, "random", probes=knows, clock=1.0)


def test_kinds_that_never_come_up_are_warned_of():
    with pytest.warns(UserWarning, match="the kind own-card; there were .*own card"):
        play(KUHN, "random", seed=5, probes=Probes(knows, kinds=["own-card", "own card"]))


def test_a_linear_probe_reads_what_a_network_sees():
    probe = LinearProbe(learns="believed")
    assert probe.fit(KUHN, "random", 30, seed=1, most=9) > 100
    probes = Probes(probe, most=9)
    play(KUHN, "random", 5, seed=2, probes=probes)
    assert probes.scores()[""].believed == 1.0
    assert probe.probe([None], [Question("New?", ("a",), "a", "a")]) == [None]


def test_a_linear_probe_reads_a_hidden_layer():
    config = NetworkConfig(width=16, layers=1)
    row = KUHN.perceive(KUHN.reset(jax.random.key(0)))[0]
    x = inputs(KUHN, "perception", row, 0)
    module = Network(config, KUHN.action_space.n)
    params = module.init(jax.random.key(1), module.start(), x, jnp.bool_(False))
    weights = {"network": params, "mean": jnp.zeros_like(x), "scale": jnp.ones_like(x)}
    policy = NetworkPolicy(weights, config, "perception", KUHN.spec())
    features = hidden(policy, KUHN)
    rows = []
    probe = LinearProbe(lambda view: rows.append(features(view)) or rows[-1], ridge=0.01)
    probe.fit(KUHN, [policy, policy], 30, seed=1, kinds=["own card"])
    assert rows[0].shape == (16,)
    probes = Probes(probe, kinds=["own card"])
    play(KUHN, [policy, policy], 5, seed=2, probes=probes)
    assert probes.scores()["own card"].believed == 1.0
    with pytest.raises(ConfigError):
        hidden(NetworkPolicy(weights, NetworkConfig(16, 1, True), "perception", {}), KUHN)
