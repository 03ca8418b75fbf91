"""Skills of missions: masks that are true, aims that are reached, sentences that name them."""

import functools

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import ConfigError, IllegalAction
from manyhands.testing import problems_of

QUICK = ("foraging-8x8-2p-2f", "door_key", "cleanup")
SCENARIOS = (
    *QUICK,
    *("warehouse-tiny-2ag", "capture", "hide_and_seek", "mining", "tag", "flag", "escape"),
    *("maze_pair", "harvest", "pursuit", "coins", "rendezvous"),
)


def marked(names):
    return [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in names]


@functools.lru_cache
def make(name):
    """The environment with skills, and its compiled functions."""
    env = manyhands.make("skills", env=manyhands.make("mission", scenario=name))
    return env, jax.jit(env.step), jax.jit(env.legal), jax.jit(env.env.legal)


def play(name, state, *skills, steps=40, until=None):
    """(states, outcomes) while agents name skills; the last one stands for the rest."""
    env, step, legal, _ = make(name)
    for t in range(steps):
        may = np.asarray(legal(state))
        words = [*skills, *[skills[-1]] * (env.num_agents - len(skills))]
        chosen = [env.skills.names.index(word) for word in words]
        chosen = [k if may[i, k] else env.skills.wait for i, k in enumerate(chosen)]
        state, outcome = step(jax.random.key(t), state, np.array(chosen, np.int32))
        yield state, outcome


@pytest.mark.parametrize("name", marked(SCENARIOS))
def test_masks_tell_what_can_be_done(name):
    env, step, legal, plain = make(name)
    now, draws = env.reset(jax.random.key(3)), np.random.default_rng(1)
    offered = False
    for t in range(12):
        may = np.asarray(legal(now))
        allowed = np.asarray(plain(now.inner))
        if not allowed.any():
            break
        assert (may[:, env.skills.wait :] == allowed).all()  # single actions, as the rules say
        offered |= may[:, : env.skills.wait].any()
        chosen = np.array([draws.choice(np.flatnonzero(row)) for row in may], np.int32)
        now, outcome = step(jax.random.key(t), now, chosen)
        assert outcome.metrics["illegal"] == 0
    assert offered


@pytest.mark.slow
@pytest.mark.parametrize("name", ["foraging-8x8-2p-2f", "warehouse-tiny-2ag", "door_key"])
def test_the_contract_holds(name):
    assert not list(problems_of(make(name)[0], steps=8))


def test_a_pair_that_loads_together_clears_the_field():
    name = "foraging-8x8-2p-2f"
    env = make(name)[0]
    total = 0.0
    for _, outcome in play(name, env.reset(jax.random.key(1)), "load with other 1"):
        total += float(np.sum(outcome.reward))
        if outcome.terminated.all():
            break
    assert total == pytest.approx(1.0, abs=1e-5)


@pytest.mark.slow
def test_a_shelf_is_fetched_delivered_and_put_back():
    name = "warehouse-tiny-2ag"
    env = make(name)[0]
    now, paid = env.reset(jax.random.key(0)), 0.0
    for skill, load in (("fetch a request", 2), ("deliver", 1), ("put back", 0)):
        for after, outcome in play(name, now, skill, "park", steps=60):
            now, paid = after, paid + float(outcome.reward[0])
            if int(now.inner.load[0]) == load:
                break
        assert int(now.inner.load[0]) == load, skill
    assert paid == 1.0


def test_rivers_are_cleaned():
    name = "cleanup"
    env = make(name)[0]
    cleaned = 0.0
    for now, _ in play(name, env.reset(jax.random.key(0)), "clean water", steps=25):
        cleaned += sum(event["event"] == "clean" for event in env.last_events(now))
    assert cleaned >= 2


@pytest.mark.slow
def test_a_tagger_tags_whom_it_names():
    name = "tag"
    env = make(name)[0]
    hits = 0.0
    for _, outcome in play(name, env.reset(jax.random.key(0)), "tag runner_0", "wait", steps=30):
        hits += float(outcome.terms["hit"][0])
    assert hits >= 1


@pytest.mark.slow
def test_who_hides_is_not_seen():
    env = manyhands.make(
        "mission",
        scenario={
            "like": "hide_and_seek",
            "generator": None,
            "size": None,
            "sight": 4,
            "map": ["S...T", "..#..", "S...T", "b...."],
        },
    )
    skilled = manyhands.make("skills", env=env)
    places = {"hider_0": [0, 1], "hider_1": [2, 0], "seeker_0": [0, 4], "seeker_1": [1, 4]}
    start = {name: {"position": place} for name, place in places.items()}
    now = skilled.reset_to(jax.random.key(0), {"start": {"bodies": start}})
    step, hide = jax.jit(skilled.step), skilled.skills.names.index("hide")

    def seen(state):
        found = env.to_dict(state.inner)
        y, x = found["bodies"]["hider_0"]["position"]
        return any(int(found["sees"][name][y][x]) for name in ("seeker_0", "seeker_1"))

    assert seen(now)
    for t in range(4):
        wait = skilled.skills.wait
        may = bool(skilled.legal(now)[0, hide])
        now, _ = step(jax.random.key(t), now, np.array([hide if may else wait, *[wait] * 3]))
    assert not seen(now)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("go to plate 2", "go to plate 2"),
        ("I'll open the door 1", "open door 1"),
        ("keep following player_1", "follow player_1"),
        ("follow player_1", "follow player_1"),
        ("wait here", "wait"),
        ("step north", "step: north"),
        ("north", "step: north"),
        ("sing", None),
        ("get the key", "go to key 1"),
        ("go to the key of door 1", "go to key 1"),
        ("stand on the plate", "go to plate 2"),
        ("open the door with my key", "open door 1"),
    ],
)
def test_sentences(said, name):
    skills = make("door_key")[0].skills
    found = skills.parse(said)
    assert found is None if name is None else skills.names[found] == name


def test_a_key_that_is_taken_ends_the_way_to_it():
    env = make("door_key")[0]
    state = env.reset(jax.random.key(3))
    for now, _ in play("door_key", state, "go to key 1", "wait"):
        if env.to_dict(now)["bodies"]["player_0"]["carrying"]:
            break
    assert env.to_dict(now)["skills"]["player_0"]["status"] == "done"


def test_food_is_named_by_its_level_and_place():
    env = make("foraging-8x8-2p-2f")[0]
    state = env.reset(jax.random.key(0))  # level 2 at row 1, column 1; level 1 at row 5, column 1
    assert "load food 2: of level 1 at row 5, column 1; done in about" in str(env.choices(state, 0))
    for said, name in (
        ("load the level 1 food", "load food 2"),
        ("go to the food at row 1, column 1", "go to food 1"),
        ("help player_1", "load with other 1"),
    ):
        assert env.skills.names[int(env.parse(said, state, 0))] == name
    with pytest.raises(IllegalAction, match="several foods"):
        env.parse("take any food", state, 0)


def test_rules_tell_how_to_name_skills_in_place_of_actions():
    rules = make("door_key")[0].rules(0)
    assert "Name one action" not in rules and "Answer with the name of a skill" in rules
    assert "north, south, west, east or drop" in rules


def test_short_sights_have_no_skills_of_foraging():
    env = manyhands.make("mission", scenario="foraging-2s-8x8-2p-2f")
    with pytest.raises(ConfigError, match="sight of 2"):
        manyhands.make("skills", env=env)
