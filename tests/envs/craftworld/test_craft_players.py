"""Several players in CraftWorld: who goes first, death, gifts, requests, roles, joint tasks; and
what must hold whatever they do."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.core.env import ConfigError, episode_key
from manyhands.core.pack import stepper
from manyhands.core.registry import from_spec
from manyhands.envs.craftworld import CraftWorld, tasks
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld import world as wd
from manyhands.envs.craftworld.phases import shared

TWO = """
.......
.......
..0.1..
.......
......."""
CRAFT = rl.PRESETS["crafter"]
ACTIONS = CRAFT.actions(2)


# One configuration has every switch on, so that two compiled steps serve all tests.
RICH = {"friendly_fire": True, "roles": "specialists", "reward": "team", "joint": "beacon"}


@functools.cache
def world(rich):
    return CraftWorld(map=TWO, players=2, **(RICH if rich else {}))


class Pair:
    """Two players on a map of 5 x 7, played by the names of their actions."""

    def __init__(self, text=TWO, start=None, facing=("right", "left"), rich=False):
        self.env = world(rich)  # its step serves all maps of this size
        other = CraftWorld(map=text, start=start, players=2)
        self.state, self.time = other.reset(episode_key(0)), 0
        self.change(facing=np.array([rl.FACINGS.index(side) for side in facing], np.uint8))

    def change(self, **parts):
        self.state = dataclasses.replace(self.state, **parts)
        return self

    def play(self, *moves):
        for move in moves:
            rows = np.array([ACTIONS.index(name) for name in move.split()], np.int32)
            data = np.array([0, 7], np.uint32)
            frame = stepper(self.env).step(data, self.time, jax.device_get(self.state), rows)
            self.state, self.outcome, self.time = frame.state, frame, self.time + 1
        return self

    def has(self, player, item):
        return int(self.state.inventory[player, rl.ITEMS.index(item)])

    def where(self, player):
        return tuple(self.state.position[player].tolist())


# ---- who goes first ------------------------------------------------------------------------------


def test_two_never_enter_one_cell_and_take_turns_to_go_first():
    winners = []
    for clock in (0, 1):
        pair = Pair().change(clock=np.int32(clock)).play("move_right move_left")
        assert pair.where(0) != pair.where(1)
        winners.append(0 if pair.where(0) == (2, 3) else 1)
    assert winners == [0, 1]


def test_who_is_left_of_a_leaving_player_may_follow():
    text = TWO.replace("..0.1..", "..01...")
    pair = Pair(text).change(clock=np.int32(1)).play("move_right move_right")
    assert (pair.where(0), pair.where(1)) == ((2, 3), (2, 4))
    pair = Pair(text).change(clock=np.int32(0)).play("move_right move_right")
    assert (pair.where(0), pair.where(1)) == ((2, 2), (2, 4))
    for clock in (0, 1):  # nobody changes places
        pair = Pair(text).change(clock=np.int32(clock)).play("move_right move_left")
        assert (pair.where(0), pair.where(1)) == ((2, 2), (2, 3))


def test_a_tree_falls_to_one_of_two():
    text = TWO.replace("..0.1..", "..0T1..")
    for clock in (0, 1):
        pair = Pair(text).change(clock=np.int32(clock)).play("do do")
        first, second = pair.has(clock, "wood"), pair.has(1 - clock, "wood")
        assert (first, second) == (1, 0)


# ---- death ---------------------------------------------------------------------------------------

NEXT = TWO.replace("..0.1..", "..01...")


def test_who_is_down_is_helped_up():
    pair = Pair(NEXT).change(
        vitals=np.array([[9, 9, 9, 9], [1, 0, 9, 9]], np.uint8),
        counters=np.array([[0, 0, 0, 0], [0, 0, 0, -30]], np.int8),
    )
    pair.play("noop noop")
    assert pair.state.alive.tolist() == [rl.ALIVE, rl.DOWN]
    assert not pair.outcome.over and pair.outcome.metrics["deaths"] == 1
    assert np.flatnonzero(pair.outcome.legal[1]).tolist() == [rl.NOOP]
    assert pair.outcome.legal[0, rl.DO]
    pair.play("move_right noop")  # bodies stay where they are
    assert pair.where(0) == (2, 2)
    pair.play("do noop")
    assert pair.state.alive.tolist() == [rl.ALIVE, rl.ALIVE]
    assert pair.state.vitals[1, 0] == 1


def test_the_episode_ends_when_nobody_is_up():
    pair = Pair().change(
        vitals=np.array([[1, 0, 9, 9], [1, 0, 9, 9]], np.uint8),
        counters=np.array([[0, 0, 0, -30]] * 2, np.int8),
    )
    assert pair.play("noop noop").outcome.terminated.all()


def test_lava_and_final_deaths_take_the_body():
    text = TWO.replace("..0.1..", "..0L1..")
    pair = Pair(text).play("move_right noop")
    assert pair.state.alive.tolist() == [rl.DEAD, rl.ALIVE]
    assert pair.outcome.terminated.tolist() == [True, False]
    assert pair.outcome.acting.tolist() == [False, True] and not pair.outcome.legal[0].any()


# ---- hitting, giving, asking ---------------------------------------------------------------------


@pytest.mark.slow
def test_friendly_fire_is_a_switch():
    assert Pair(NEXT).play("do noop").state.vitals[1, 0] == 9
    pair = Pair(NEXT, rich=True, start={"inventory": {"wood_sword": 1}})
    assert pair.play("do noop").state.vitals[1, 0] == 7


def test_gifts_change_hands_and_nothing_is_lost():
    pair = Pair(NEXT, start=[{"inventory": {"stone": 2}}, {"inventory": {"stone": 8}}])
    assert pair.play("give_stone noop").has(0, "stone") == 1 and pair.has(1, "stone") == 9
    assert pair.outcome.metrics["gifts"] == 1
    assert not pair.outcome.legal[0, ACTIONS.index("give_stone")]  # there is no more room
    pair.play("give_stone noop")
    assert pair.has(0, "stone") == 1 and pair.outcome.metrics["illegal"] == 1
    pair = Pair(NEXT, start=[{}, {"vitals": {"food": 4}}]).play("give_food noop")
    assert pair.state.vitals[:, rl.FOOD].tolist() == [8, 5]
    pair = Pair(start={"inventory": {"stone": 1}}).play("give_stone noop")  # nobody is faced
    assert pair.has(0, "stone") == 1 and pair.outcome.metrics["gifts"] == 0


@pytest.mark.slow
def test_requests_are_seen_for_ten_steps():
    pair = Pair().play("noop request_iron")
    row = pair.env.perceive(pair.state)[0, pair.env.layout["teammates"]]
    asked = 1 + CRAFT.gifts.index("iron")
    assert row[7] == asked and row[8] == 10
    pair.play(*["noop noop"] * 9)
    assert pair.state.request[1] == asked and pair.state.request_left[1] == 1
    pair.play("noop noop")
    assert pair.state.request[1] == 0


# ---- rewards, roles, joint tasks, goals ----------------------------------------------------------


def test_rewards_are_shared_as_configured():
    text = TWO.replace("..0.1..", "..0T.1.")
    assert Pair(text).play("do noop").outcome.reward.tolist() == [1, 0]
    assert Pair(text, rich=True).play("do noop").outcome.reward.tolist() == [1, 1]
    mixed = CraftWorld(map=TWO, reward="mixed")
    np.testing.assert_allclose(shared(mixed, jnp.array([1.0, 0.0])), [1, 0.5])


@pytest.mark.slow
def test_specialists_have_their_own_crafts():
    text = """
.......
...B...
..0.1..
..c.T..
......."""
    tools = {"wood": 9, "stone": 9}
    pair = Pair(text, rich=True, start={"inventory": tools}, facing=("down", "down"))
    forager, miner = pair.env.legal(pair.state)
    assert forager[rl.DO] and not forager[ACTIONS.index("make_wood_pickaxe")]
    assert miner[ACTIONS.index("make_wood_pickaxe")]
    assert not miner[ACTIONS.index("make_wood_sword")]
    assert not forager[ACTIONS.index("place_stone")]
    pair.play("make_wood_pickaxe make_wood_pickaxe")
    assert (pair.has(0, "wood_pickaxe"), pair.has(1, "wood_pickaxe")) == (0, 1)
    pair = Pair(TWO.replace("..0.1..", "..0c1.."), rich=True)
    assert not pair.env.legal(pair.state)[1, rl.DO]
    pair.play("noop do", "noop do", "noop do")
    assert np.count_nonzero(pair.state.kind) == 1 and pair.state.health[pair.state.kind > 0] == 3


def test_a_beacon_takes_two_in_one_step():
    pair = Pair(TWO.replace("..0.1..", "..0O1.."), rich=True)
    pair.play("do noop", "noop do")
    assert pair.state.map[2, 3] == rl.BEACON
    pair.play("do do")
    assert pair.state.map[2, 3] == rl.LIT_BEACON
    assert pair.outcome.terms["joint"].tolist() == [2, 2]  # one each, shared


def test_a_goal_ends_the_episode_and_tells_its_step():
    goal = tasks.parse_goal("collect 1 wood", 2).row()
    pair = Pair(TWO.replace("..0.1..", "..0T1..")).change(goal=goal).play("noop noop")
    assert not pair.outcome.over and pair.outcome.metrics["steps_to_goal"] == 0
    pair.play("do noop")
    assert pair.outcome.over and pair.outcome.metrics["steps_to_goal"] == 2
    assert pair.outcome.terms["goal"].tolist() == [1, 1] and pair.state.goal_step == 2


# ---- whatever they do ----------------------------------------------------------------------------

# What a step may change of each item: (collected or made, spent), by the achievement's action.
PRECONDITION = {
    "collect_stone": "make_wood_pickaxe",
    "collect_coal": "make_wood_pickaxe",
    "collect_iron": "make_stone_pickaxe",
    "collect_diamond": "make_iron_pickaxe",
    "make_wood_pickaxe": "place_table",
    "make_wood_sword": "place_table",
    "place_table": "collect_wood",
    "place_plant": "collect_sapling",
    "place_stone": "collect_stone",
    "place_furnace": "collect_stone",
    "make_stone_pickaxe": "collect_stone",
}


@pytest.mark.parametrize(
    "rules", ["craftax_classic", pytest.param("crafter", marks=pytest.mark.slow)]
)
def test_what_holds_in_every_world(rules):
    """Random legal play, three players: bodies never share a cell, vitals and items stay in range,
    nothing is made from nothing, and achievements come in their order."""
    env = CraftWorld(rules, players=3, size=24, friendly_fire=True)
    batch, steps = 16, 150
    states = jax.jit(env.batch_reset)(jax.random.split(jax.random.key(1), batch))
    step = jax.jit(env.batch_step)
    legal = jax.jit(env.batch_legal)
    fold = jax.jit(jax.vmap(lambda i, t: jax.random.fold_in(jax.random.key(i), t), (0, None)))
    rng = np.random.default_rng(0)
    craft = env.craft
    walkable = np.isin(np.arange(len(rl.MATERIALS)), (*rl.WALKABLE, rl.LAVA))
    for t in range(steps):
        mask = np.asarray(legal(states))
        noise = rng.random(mask.shape)
        noise[:, rl.MAKE : CRAFT.give] += 1  # whoever can make something does
        noise[:, rl.DO : rl.MAKE] += 0.4
        actions = np.argmax(np.where(mask, noise, -1), axis=1).astype(np.int32)
        before = jax.device_get(states)
        states, outcome = step(fold(np.arange(batch), t), states, actions)
        after = jax.device_get(states)

        alive = after.alive != rl.DEAD
        mobs = (after.kind > 0) & ((after.kind < rl.ARROW) | (rules == "crafter"))
        for b in range(batch):
            cells = [tuple(after.position[i, :, b]) for i in range(3) if alive[i, b]]
            cells += [tuple(after.place[i, :, b]) for i in np.flatnonzero(mobs[:, b])]
            assert len(set(cells)) == len(cells)
            ground = after.map[..., b]
            creatures = np.flatnonzero(mobs[:, b] & (after.kind[:, b] < rl.ARROW))
            assert all(walkable[ground[tuple(cell)]] for cell in cells[: alive[:, b].sum()])
            for i in creatures:
                assert ground[tuple(after.place[i, :, b])] in rl.WALKABLE
        assert after.vitals.max() <= 9 and after.inventory.max() <= rl.MOST
        if rules == "craftax_classic":
            for kind, most in zip(range(1, 5), craft.slots, strict=True):
                assert ((after.kind == kind).sum(0) <= 3 * most).all()

        # Items: what the team holds changes by what its actions can have done, and no more.
        change = after.inventory.astype(int).sum(0) - before.inventory.astype(int).sum(0)
        did = {name: (actions == env.actions.index(name)).sum(0) for name in env.actions}
        for i, item in enumerate(rl.ITEMS):
            made = did.get(f"make_{item}", 0) + (did["do"] if i < 6 else 0)
            spent = did["place_stone"] + did["place_furnace"] * craft.furnace_stone
            spent = spent if item == "stone" else 0
            spent += did["place_table"] * craft.table_wood if item == "wood" else 0
            spent += did["place_plant"] if item == "sapling" else 0
            spent += sum(
                did[f"make_{tool}"] * craft.make_cost(tool).get(item, 0) for tool in rl.MAKES
            )
            assert (change[i] <= made).all() and (change[i] >= -spent).all()
        # Matter: ore that left the map is in somebody's pocket, or was too much to carry.
        for material in (rl.COAL, rl.IRON, rl.DIAMOND):
            item = rl.ITEMS.index(rl.MATERIALS[material])
            mined = (before.map == material).sum((0, 1)) - (after.map == material).sum((0, 1))
            assert (mined >= 0).all() and (change[item] <= mined).all()
        done = after.achievements.any(0)
        for name, first in PRECONDITION.items():
            late, early = (rl.ACHIEVEMENTS.index(x) for x in (name, first))
            assert (done[early] | ~done[late]).all()
        assert not (before.achievements & ~after.achievements).any()
        unlocked = (after.achievements & ~before.achievements).sum((0, 1))
        counted = sum(np.asarray(outcome.metrics[name]) for name in rl.ACHIEVEMENTS)
        np.testing.assert_array_equal(unlocked, counted)
    assert after.achievements.any(0).sum() > 3 * batch


# ---- the clock -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_episode_that_starts_at_night_has_all_its_steps():
    """`start["clock"]` sets the time of day; steps are counted from 0 all the same."""
    env = CraftWorld(map="....\n.0T.\n....", start={"clock": 150}, max_steps=3)
    state = env.reset(episode_key(0))
    assert int(state.clock) == 150 and int(env.elapsed(state)) == 0
    wait, ends = np.zeros(1, np.int32), []
    for time in range(3):
        state, outcome = env.step(jax.random.key(time), state, wait)
        ends.append(bool(outcome.truncated[0]))
    assert ends == [False, False, True]
    assert int(state.clock) == 153 and int(env.elapsed(state)) == 3
    # The light goes by the clock.
    bright, dark = (
        CraftWorld(map="0", start={"clock": clock}).reset(episode_key(0)) for clock in (0, 210)
    )
    light = env.layout["light"]
    assert env.perceive(bright)[0, light] > env.perceive(dark)[0, light]


def test_steps_to_the_goal_are_steps_played():
    start = {"inventory": {"wood": 9}, "clock": 150}
    env = CraftWorld(map="....\n.0..\n....", start=start, goal="place table")
    state, step = env.reset(episode_key(0)), jax.jit(env.step)
    for action in (0, env.actions.index("place_table")):
        state, outcome = step(jax.random.key(0), state, np.int32([action]))
    assert outcome.terminated.all() and outcome.metrics["steps_to_goal"] == 2
    assert int(state.goal_step) == 2


# ---- configuration -------------------------------------------------------------------------------


def test_worlds_are_data_with_a_schema(tmp_path):
    path = tmp_path / "wet.json"
    path.write_text('{"name": "wet", "water": 0.4, "cows": 2, "day_length": 100}')
    env = CraftWorld(world=str(path), size=16)
    assert env.worlds[0].name == "wet" and env.worlds[0].day_length == 100
    assert from_spec(env.spec()) == env
    usual = CraftWorld(size=[24, 32])
    key = episode_key(3)
    wet = CraftWorld(size=[24, 32], world={"water": 0.4})
    water = [np.sum(np.asarray(e.reset(key).map) == rl.WATER) for e in (usual, wet)]
    assert water[1] > 2 * water[0]
    for wrong, reason in (
        ({"rain": 1}, "no parameter 'rain'"),
        ({"trees": -1}, "from 0 to 8"),
        ({"trees": "many"}, "number"),
        ({"day_length": 2.5}, "integer"),
        ({"always_diamond": 1}, "boolean"),
        ({"name": ""}, "1 to 40"),
        (5, "object of parameters"),
        (str(tmp_path / "none.json"), "no world can be read"),
        ([], "1 to 255"),
        ([None], "no None"),
    ):
        with pytest.raises(ConfigError, match=reason):
            CraftWorld(world=wrong)
    assert set(wd.WORLD_SCHEMA["properties"]) == {
        field.name for field in dataclasses.fields(wd.WorldConfig)
    }


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"rules": "minecraft"}, "rules are crafter or craftax_classic"),
        ({"rules": {"name": "crafter", "furnace": 1}}, "rules have no 'furnace'"),
        ({"rules": {"name": "crafter", "hunger": "much"}}, "the rule 'hunger'"),
        ({"players": 9}, "from 1 to 8"),
        ({"size": 200}, "size is"),
        ({"observation": "smell"}, "observation is"),
        ({"reward": "none"}, "reward is"),
        ({"joint": "gate"}, "there are 1 players"),
        ({"spawning": "no"}, "spawning is True or False, given 'no'"),
        ({"spawning": 0}, "spawning is True or False, given 0"),
        ({"compass": "yes"}, "compass is True or False"),
        ({"map": "..0..\n..."}, "row 1"),
        ({"map": "..0?."}, "no letter of a map"),
        ({"map": "....."}, "numbered 0, 1, 2"),
        ({"map": "..0..", "players": 2}, "marks 1 players"),
        ({"start": {"inventory": {"gold": 1}}}, "start: inventory"),
        ({"start": [{}, {}]}, "2 entries for 1 players"),
        ({"map": "zzzz0"}, "room for no more"),
    ],
)
def test_impossible_configurations_say_why(config, reason):
    with pytest.raises(ConfigError, match=reason):
        CraftWorld(**config)


def test_maps_as_text_come_back_as_they_were():
    text = "TWS_,.\n.LCID.\nBFpPX=\nGO*#0.\nzc<>^v\nk.1..."
    env = CraftWorld({"name": "crafter", "slots": [16]}, map=text)
    assert env.to_text(env.reset(episode_key(0))) == text


def test_a_world_fits_in_eight_kilobytes():
    for rules in rl.PRESETS:
        state = jax.eval_shape(CraftWorld(rules).reset, episode_key(0))
        size = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree_util.tree_leaves(state))
        assert size < 8192
