"""What choices of CraftWorld promise: certain effects happen whatever the others do, and what
others can prevent is not called certain."""

import dataclasses
import re

import jax
import numpy as np
import pytest
from craft_crowds import RICH, alone, crowd_of

from manyhands.core.choices import HEDGES
from manyhands.core.env import IllegalAction, episode_key
from manyhands.core.pack import stepper
from manyhands.envs.craftworld import CraftWorld
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.words import observe
from manyhands.testing import broken_facts, random_actions


@pytest.fixture(scope="module", params=["craftax_classic", "crafter"])
def crowd(request):
    return crowd_of(request.param)


def situations(env, count, seed):
    """States of crowded random play, some of them changed: asleep, down, empty or full pockets."""
    rng, steps = np.random.default_rng(seed), stepper(env)
    frame = steps.reset(episode_key(seed))
    n = env.num_agents
    for t in range(count):
        state = frame.state
        if t % 3 == 1:
            state = dataclasses.replace(
                state,
                asleep=(rng.random(n) < 0.3) & (np.asarray(state.alive) == rl.ALIVE),
                facing=rng.integers(0, 4, n, dtype=np.uint8),
                inventory=rng.choice([0, 1, 3, 8, 9], np.shape(state.inventory)).astype(np.uint8),
                counters=rng.integers(-30, 50, (n, 4)).astype(np.int8),
            )
        elif t % 3 == 2:
            state = dataclasses.replace(
                state,
                facing=rng.integers(0, 4, n, dtype=np.uint8),
                alive=rng.choice([1, 1, 1, 2], n).astype(np.uint8),
                vitals=rng.integers(1, 10, (n, 4), dtype=np.uint8),
            )
        yield state, rng
        rows = np.array(
            [rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in frame.legal],
            np.int32,
        )
        frame = steps.step(rng.integers(0, 2**32, 2, np.uint32), t, frame.state, rows)
        if frame.over:
            frame = steps.reset(episode_key(seed + t))


def test_what_is_certain_happens_whatever_the_others_do(crowd):
    env, steps, kinds = crowd, stepper(crowd), set()
    for state, rng in situations(env, 60, 3):
        legal = np.array([observe(env, state, i)[1] for i in range(env.num_agents)])
        for i in rng.permutation(env.num_agents)[:3]:
            choices = env.choices(state, int(i), None)
            assert [choice.action for choice in choices] == np.flatnonzero(legal[i]).tolist()
            for choice in choices:
                hedged = set(re.findall(r"[a-z]+", choice.effect)) & set(HEDGES)
                assert choice.certain or hedged, choice
                assert not choice.certain or choice.facts or not choice.effect, choice
                if not choice.facts:
                    continue
                kinds.add((choice.text.partition(" ")[0], choice.effect.partition(" ")[0]))
                rows = np.array(
                    [rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in legal],
                    np.int32,
                )
                rows[i] = choice.action
                after = steps.step(rng.integers(0, 2**32, 2, np.uint32), 0, state, rows)
                broken = broken_facts(env, choice, after)
                assert not broken, (str(choice), broken, rows.tolist(), env.to_dict(state))
    verbs = {verb for verb, _ in kinds}
    assert verbs >= {"noop", "move", "do", "place", "make", "request"}
    assert {what for verb, what in kinds if verb == "move"} >= {"step", "turn"}
    assert {what for verb, what in kinds if verb == "do"} >= {"take", "hit", "drink,"}


def at_one_tree(**options):
    """Two players on both sides of a tree, facing it; nobody else."""
    env = CraftWorld(map=".......\n..0T1..\n.......\n.......", **options)
    state = jax.device_get(env.reset(episode_key(0)))
    return env, dataclasses.replace(state, facing=np.uint8([1, 0]))


def offer(env, state, agent, name):
    return next(c for c in env.choices(state, agent, None) if c.text == name.replace("_", " "))


def test_a_tree_that_another_faces_is_not_certain():
    env, state = at_one_tree()
    assert not offer(env, state, 0, "do").certain and "player_1" in offer(env, state, 0, "do")
    # The tree may be gone, and then the move is a step.
    assert "clears" in offer(env, state, 0, "move_right")
    away = dataclasses.replace(state, facing=np.uint8([1, 1]))
    found = offer(env, away, 0, "do")
    assert found.certain and found.facts["players.0.inventory.wood"] == 1
    assert offer(env, away, 0, "move_right").certain
    asleep = dataclasses.replace(state, asleep=np.array([False, True]))
    assert offer(env, asleep, 0, "do").certain
    # Who comes first gets it, and the other nothing: both ways, over two steps of the clock.
    steps, wood = stepper(env), []
    for clock in (0, 1):
        then = dataclasses.replace(state, clock=np.int32(clock))
        after = steps.step(np.uint32([1, 2]), clock, then, np.int32([rl.DO, rl.DO]))
        wood.append(after.state.inventory[:, rl.ITEMS.index("wood")].tolist())
    assert wood == [[1, 0], [0, 1]]


def test_a_cell_that_another_is_beside_is_not_certain():
    env, state = at_one_tree()
    ground = state.map.copy()
    ground[1, 3] = rl.GRASS
    state = dataclasses.replace(state, map=ground)
    contested = offer(env, state, 0, "move_right")
    assert not contested.certain and contested.effect.endswith("unless player_1 gets there first")
    assert offer(env, state, 0, "move_left").certain


@pytest.mark.parametrize(
    "rules", ["crafter", pytest.param("craftax_classic", marks=pytest.mark.slow)]
)
def test_lava_says_that_it_kills(rules):
    env, state = alone(rules, "lava")
    found = offer(env, state, 0, "move_right")
    assert found.certain and found.facts["players.0.status"] == "dead" and found.facts["over"]
    assert "LAVA" in found.effect and "die" in found.effect
    after = stepper(env).step(np.uint32([1, 2]), 0, state, np.int32([found.action]))
    assert not broken_facts(env, found, after)
    if rules == "crafter":  # whose needs come after the lava, and may heal
        counters = np.int8([[0, 0, 0, 50]])
        assert not offer(
            env, dataclasses.replace(state, counters=counters), 0, "move_right"
        ).certain


def test_pockets_that_are_full_lose_what_is_taken():
    env, state = alone(to_the_right="tree", inventory={"wood": 9})
    found = offer(env, state, 0, "do")
    assert "9 already" in found.effect and found.facts["players.0.inventory.wood"] == 9
    after = stepper(env).step(np.uint32([1, 2]), 0, state, np.int32([rl.DO]))
    (event,) = [e for e in env.last_events(after.state) if e["event"] == "collected"]
    assert event["amount"] == 0


def test_who_sleeps_may_go_on_naming_it():
    env, state = alone()
    vitals = np.array(state.vitals)
    vitals[0, rl.ENERGY] = 3
    state = dataclasses.replace(state, vitals=vitals)
    after = stepper(env).step(np.uint32([1, 2]), 0, state, np.int32([rl.SLEEP])).state
    assert env.last_events(after)[0]["event"] == "fell_asleep"
    for words in ("sleep", "6", "go to sleep", "sleep on", "wait", "ACTION: sleep"):
        assert env.parse(words, after, 0) == rl.NOOP
    (only,) = env.choices(after, 0)
    assert only.text == "noop" and not only.certain and "until" in only.effect
    with pytest.raises(IllegalAction, match="asleep"):
        env.parse("move_left", after, 0)


def test_many_gifts_and_requests_are_told_in_one_line():
    env = CraftWorld(players=2, map="....\n.01.\n....", start=RICH)
    state = jax.device_get(env.reset(episode_key(0)))
    state = dataclasses.replace(state, facing=np.uint8([1, 0]))
    every, few = env.choices(state, 0, None), env.choices(state, 0)
    assert len(every) > 24 and len(few) < 15
    assert sum(choice.form is not None for choice in few) == 2
    assert "stone sword" in next(c for c in few if c.text.startswith("request ")).effect
    for choice in few:
        for said in (str(choice), choice.text, f"ACTION: {choice}"):
            assert env.parse(said, state, 0) == choice.action


# ---- budgets -------------------------------------------------------------------------------------

SETTINGS = {
    "alone": {},
    "six": {"players": 6},
    "specialists": {"players": 8, "roles": "specialists", "joint": "bridge", "goal": "build house",
                    "friendly_fire": True, "reward": "mixed", "compass": True},
    "crafter": {"rules": "crafter", "players": 8, "roles": "specialists", "joint": "gate",
                "goal": "everyone: collect 3 iron", "friendly_fire": True, "reward": "team"},
    "final": {"rules": "crafter", "players": 6, "death": "final", "world": [
        {"day_length": 100}, {"day_length": 200}], "goal": ["collect wood", "build shelter"]},
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_the_rule_book_is_short(name):
    env = CraftWorld(**SETTINGS[name])
    for agent in range(env.num_agents):
        assert len(env.rules(agent)) <= 5_000


@pytest.mark.parametrize("name", ["alone", pytest.param("six", marks=pytest.mark.slow)])
def test_texts_are_short(name):
    env = CraftWorld(**SETTINGS[name], size=24)
    steps, rng = stepper(env), np.random.default_rng(1)
    frame, lengths = steps.reset(episode_key(1)), []
    for t in range(40):
        for agent in range(env.num_agents):
            assert len("\n".join(env.choices(frame.state, agent))) <= 800
            lengths.append(len(env.describe(frame.state, agent)))
        frame = steps.step(rng.integers(0, 2**32, 2, np.uint32), t, frame.state,
                           random_actions(env, frame))  # fmt: skip
        if frame.over:
            break
    # Where nearly everyone is in view, stands by a beast and asks for something, a little more.
    assert np.mean(np.array(lengths) <= 1_200) > 0.9 and max(lengths) <= 1_400


def test_refusals_are_short(crowd):
    env = crowd
    for state, _ in situations(env, 6, 5):
        for agent in range(env.num_agents):
            if int(np.asarray(state.alive)[agent]) == rl.DEAD:
                continue
            for said in ("mvoe_lfet", "make iron pickaxee", "x" * 200, "make iron sword",
                         "place furnace", "give iron pickaxe to player_5", "do or move left",
                         "request wod", "make_stone_pickax"):  # fmt: skip
                try:
                    env.parse(said, state, agent)
                except IllegalAction as error:
                    assert len(error.reason) <= 400
                    assert said != "x" * 200 or "names no action" in error.reason


@pytest.mark.parametrize(
    "said",
    [
        "wait",
        "keep waiting",
        "wait until something happens",
        "wait until something concerns me",
        "wait 5 steps",
        "wait for 3 turns",
        "wait for a change",
        "wait for an event",
        "I'll keep waiting until something happens",
        "ACTION: wait until something changes",
    ],
)
def test_waiting_is_read(said):
    env, state = at_one_tree()
    assert env.parse(said, state, 0) == rl.NOOP


@pytest.mark.parametrize(
    "said", ["wait until I have wood", "wait for player_1 to go left", "wait?"]
)
def test_conditions_are_no_waiting(said):
    env, state = at_one_tree()
    with pytest.raises(IllegalAction):
        env.parse(said, state, 0)
