"""Skills: what each does on small maps, in words, and together with the wrapper."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import numpy as np
import pytest

from manyhands.core.env import IllegalAction
from manyhands.envs.craftworld import CraftWorld, ways
from manyhands.envs.craftworld.rules import ITEMS, MATERIALS, VITALS
from manyhands.wrappers.skills import DONE, UNDER_WAY, Skills

MAP = """
TTTSSSWWWW
T...SCWWWW
T.0....WWW
......,,WW
...c...,WW
....SS....
....S...1.
LLL....I.D
"""


@functools.lru_cache
def game() -> tuple[Skills, Any, Any]:
    """(the world, its step, its first state); one world, since each takes seconds to compile."""
    env = Skills(CraftWorld(map=MAP))
    return env, jax.jit(env.step), jax.jit(env.reset)(jax.random.key(0))


def run(words: list[str], start: Any = None, agent: int = 0, limit: int = 40) -> Any:
    """(env, state) after one agent did skills, each until it was done; the others wait."""
    env, step, state = game()
    if start is not None:
        state = _given(state, agent, **start)
    for text in words:
        for time in range(limit):
            actions = np.full(env.num_agents, env.noop, np.int32)
            actions[agent] = env.parse(text, state, agent)
            state, outcome = step(jax.random.key(time), state, actions)
            assert outcome.metrics["illegal"] == 0
            if state.status[agent] == DONE:
                break
            assert state.status[agent] == UNDER_WAY
        else:
            raise AssertionError(f"{text!r} was not done in {limit} steps")
    return env, state


def _given(state: Any, agent: int, **numbers: int) -> Any:
    """The state with things in an agent's hands, or other vitals."""
    inner = state.inner
    for name, number in numbers.items():
        field = "inventory" if name in ITEMS else "vitals"
        index = (ITEMS if name in ITEMS else VITALS).index(name)
        values = np.array(getattr(inner, field))
        values[agent, index] = number
        inner = dataclasses.replace(inner, **{field: values})
    return dataclasses.replace(state, inner=inner)


def held(state: Any, name: str, agent: int = 0) -> int:
    return int(state.inner.inventory[agent, ITEMS.index(name)])


@pytest.mark.slow
def test_from_trees_to_a_stone_pickaxe_by_skills():
    _, state = run(
        [
            "collect 5 wood",
            "place table",
            "make a wood pickaxe",
            "collect stone until you hold 2",
            "go to table",
            "make stone pickaxe",
            "mine 1 coal",
        ],
    )
    assert held(state, "stone_pickaxe") == 1
    assert held(state, "coal") == 1
    assert held(state, "wood") == 1


@pytest.mark.slow
def test_hunting_drinking_and_eating():
    _, state = run(["eat cow"], {"food": 3})
    assert state.inner.vitals[0, 1] == 9
    _, state = run(["drink"], {"drink": 5})
    assert state.inner.vitals[0, 2] == 9
    assert state.inner.achievements.sum() == 1


def test_saplings_take_patience():
    _, state = run(["collect 1 sapling", "plant sapling"], limit=400)
    assert held(state, "sapling") == 0


def test_exploring_leads_to_the_edge_and_around_lava():
    _, state = run(["explore west"])
    assert state.inner.position[0, 1] == 0
    _, state = run(["go to sand", "explore south"])
    assert state.inner.position[0, 0] == 7
    assert state.inner.vitals[0, 0] == 9


def test_gifts_are_carried_over_and_counted():
    _, state = run(["give 2 stone to player_1"], {"stone": 5, "wood_pickaxe": 1})
    assert (held(state, "stone"), held(state, "stone", 1)) == (3, 2)
    _, state = run(["give wood to player_0"], {"wood": 2}, agent=1)
    assert (held(state, "wood", 1), held(state, "wood", 0)) == (0, 2)
    _, state = run(["follow player_1"])
    away = np.abs(np.subtract(*np.asarray(state.inner.position, int)))
    assert away.sum() == 1


def test_a_gift_said_again_goes_on():
    env, step, state = game()
    state = _given(state, 0, stone=5, wood_pickaxe=1)
    first = env.parse("give 2 stone to player_1", state, 0)
    assert env.skills.names[first] == "give stone to player_1 until you hold 3"
    state, _ = step(jax.random.key(0), state, np.array([first, env.noop]))
    fewer = _given(state, 0, stone=4)
    assert env.parse("give 2 stone to player_1", fewer, 0) == first


def test_impossible_skills_say_why():
    env, _, state = game()
    why = dict(zip(env.skills.names, env.skills.words(env.perceive(state)[0]), strict=True))
    assert why["collect stone until you hold 1"] == "needs a wood pickaxe"
    assert "1 wood, 1 stone, and a table within" in why["make stone pickaxe"]
    assert "table and a furnace" in why["make iron sword"]
    assert why["place table"] == "needs 2 wood"
    assert why["fight zombie"] == "there is none in view"
    assert why["sleep"] == "done already"
    assert why["collect wood until you hold 1"] == "about 1 step away"
    for text, reason in (
        ("make iron sword", "impossible now: needs"),
        ("collect gold", "nearest: collect"),
        ("explore mars", "nearest: explore"),
        ("follow nobody", "nearest: follow"),
        ("collect 12 wood", "one can hold 9"),
    ):
        with pytest.raises(IllegalAction, match=reason):
            env.parse(text, state, 0)


def test_every_choice_parses_to_its_skill():
    env, _, state = game()
    state = _given(state, 0, stone=5, wood=3)
    legal = np.flatnonzero(np.asarray(env.legal(state))[0])
    choices = env.choices(state, 0, None)
    assert [env.parse(choice, state, 0) for choice in choices] == legal.tolist()


def test_only_waiting_is_possible_asleep():
    env, step, state = game()
    state = _given(state, 0, energy=3)
    sleep = env.parse("sleep", state, 0)
    state, _ = step(jax.random.key(0), state, np.array([sleep, env.noop]))
    assert np.flatnonzero(np.asarray(env.legal(state))[0]).tolist() == [env.skills.wait]
    # To sleep on is to wait.
    assert "sleep (under way)" in env.describe(state, 0)
    for said in ("sleep", "go on", "sleep on", "stay asleep until morning"):
        assert env.parse(said, state, 0) == env.skills.wait
    with pytest.raises(IllegalAction, match="you are asleep"):
        env.parse("collect wood", state, 0)
    state, _ = step(jax.random.key(0), state, np.array([env.skills.wait, env.noop]))
    assert env.parse("go on", state, 0) == env.skills.wait


def test_a_skill_that_cannot_go_on_is_told():
    env, step, state = game()
    collect = env.parse("collect 9 wood", state, 0)
    state, _ = step(jax.random.key(0), state, np.array([collect, env.noop]))
    assert "until you hold 9 (under way)" in env.describe(state, 0)
    tree, grass = MATERIALS.index("tree"), MATERIALS.index("grass")
    ground = np.array(state.inner.map)
    ground[ground == tree] = grass
    bare = dataclasses.replace(state, inner=dataclasses.replace(state.inner, map=ground))
    told = env.describe(bare, 0)
    assert "(under way, but impossible now: there is none in view)" in told


def test_what_is_under_way_is_told_and_gone_on_with_by_its_own_words():
    env, step, state = game()
    collect = env.parse("collect 5 wood", state, 0)
    begun, _ = step(jax.random.key(0), state, np.array([collect, env.noop]))
    assert '(under way). "go on" continues it.' in env.describe(begun, 0)
    assert any(line.startswith(env.skills.names[collect]) for line in env.choices(begun, 0))
    for said in ("Continue chopping.", "Keep at it.", "Still on my way there.", "No change."):
        assert env.parse(said, begun, 0) == collect
        with pytest.raises(IllegalAction):
            env.parse(said, state, 0)
    for said in ("Keep mining.", "Keep exploring.", "Player_1 keeps chopping.", "Stop chopping."):
        with pytest.raises(IllegalAction):
            env.parse(said, begun, 0)


def test_how_many_are_wanted_may_stand_in_the_reason():
    env, _, state = game()
    said = "I want five wood for tools, so I start gathering logs from the nearest tree."
    assert env.skills.names[env.parse(said, state, 0)] == "collect wood until you hold 5"
    with pytest.raises(IllegalAction, match="say once how many"):
        env.parse("I need five wood, I want six wood, so I gather logs.", state, 0)


def test_a_full_level_says_so():
    env, _, state = game()
    with pytest.raises(IllegalAction, match="your drink is full; at the water, do drinks"):
        env.parse("drink", state, 0)
    with pytest.raises(IllegalAction) as refused:
        env.parse("kill time", state, 0)
    assert "perhaps" not in refused.value.reason


def test_primitives_are_skills_of_one_step():
    env, _, _ = game()
    for action, name in enumerate(env.env.actions):
        skill = int(env.skills.primitive(np.int32(action)))
        assert env.skills.instant[skill] == (name != "sleep")
        assert env.skills.names[skill] == ("wait" if name == "noop" else name)


def test_a_plain_step_is_offered_only_while_it_can_change_something():
    env, step, state = game()
    sword = env.skills.names.index("make_iron_sword")
    place = env.skills.names.index("place_stone")
    legal = np.asarray(env.legal(state))[0]
    assert not legal[sword] and not legal[place]
    with pytest.raises(IllegalAction, match="'make_iron_sword' is impossible now: it would change"):
        env.parse("make_iron_sword", state, 0)
    for skill in (sword, place):
        _, outcome = step(jax.random.key(0), state, np.array([skill, env.noop]))
        assert outcome.metrics["illegal"] == 1
    rich = _given(state, 0, stone=1)
    assert np.asarray(env.legal(rich))[0, place]
    after, outcome = step(jax.random.key(0), rich, np.array([place, env.noop]))
    assert outcome.metrics["illegal"] == 0 and held(after, "stone") == 0


def test_ways_are_the_cheapest():
    # A wall of stone with a gap far away: through it with a pickaxe, else around.
    cost = np.full((7, 9), ways.STEP, np.int16)
    cost[:, 5] = ways.FAR
    seeds = ways.starts(7, 9, 3, 4)
    assert ways.flood(seeds, cost, 40)[3, 6] == ways.FAR
    cost[0, 5] = ways.STEP
    assert int(ways.flood(seeds, cost, 40)[3, 6]) >> 3 == 3 + 2 + 3
    cost[3, 5] = 2 * ways.STEP
    way = int(ways.flood(seeds, cost, 40)[3, 6])
    assert (way >> 3, way & 7) == (3, 1)


def test_a_gate_is_reached_and_opened_by_skills():
    """Two players walk to a gate and work on it in one step; what is in front decides."""
    env = Skills(CraftWorld(players=2, map=".......\n...G...\n.......\n..0.1..\n......."))
    step, state = jax.jit(env.step), jax.jit(env.reset)(jax.random.key(0))
    with pytest.raises(IllegalAction, match="you do not face a gate"):
        env.parse("open the gate", state, 0)
    for time in range(12):
        said = []
        for agent in range(2):
            there = "to a gate" in env.describe(state, agent)
            said.append("wait" if there else "go to the gate")
        actions = np.array([env.parse(words, state, i) for i, words in enumerate(said)], np.int32)
        if set(said) == {"wait"}:
            break
        state, _ = step(jax.random.key(time), state, actions)
    both = np.array([env.parse("open the gate", state, i) for i in range(2)], np.int32)
    state, outcome = step(jax.random.key(99), state, both)
    assert outcome.terms["joint"].tolist() == [1, 1]
    assert "you did your part: the gate is a path now" in env.describe(state, 0)


def test_the_rules_tell_how_much_is_collected_without_a_number():
    env, _, state = game()
    assert "without a number, until you hold 9" in " ".join(env.rules(0).split())
    assert env.parse("collect wood", state, 0) == env.parse(
        "collect wood until you hold 9", state, 0
    )


def test_gifts_to_one_player_are_one_line_with_their_numbers():
    env = Skills(CraftWorld(players=2, map=MAP, start={"inventory": {"stone": 4, "wood": 4}}))
    lines = env.choices(jax.jit(env.reset)(jax.random.key(0)), 0)
    gifts = [line for line in lines if line.startswith("give stone to player_1")]
    assert len(gifts) == 1 and gifts[0].endswith("any of 0 to 3")


def test_an_amount_behind_the_order_is_the_amount() -> None:
    env, _, state = game()
    for words, name in {
        "Collect wood, six pieces in all.": "collect wood until you hold 6",
        "Let's collect wood from the trees around here, four in total.": (
            "collect wood until you hold 4"
        ),
        "I'll gather wood up to 6 for a table and the first tools.": (
            "collect wood until you hold 6"
        ),
    }.items():
        assert env.skills.names[env.parse(words, state, 0)] == name
    with pytest.raises(IllegalAction):
        env.parse("Get some wood, twelve in total.", state, 0)


def test_a_refusal_names_skills_by_all_words_of_the_sentence() -> None:
    env, _, state = game()
    with pytest.raises(IllegalAction) as refused:
        env.parse("Let's collect wood over yonder, as grandma would, six of the finest", state, 0)
    near = refused.value.reason.split("nearest: ")[1]
    assert near.startswith("collect wood")
