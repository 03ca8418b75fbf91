"""The kitchen's rules, each on a state made for it."""

import dataclasses
import itertools
import math

import jax
import numpy as np
import pytest

from manyhands.core.env import ConfigError, episode_key
from manyhands.core.pack import Frame, fingerprint, stepper
from manyhands.envs.kitchen.env import Kitchen
from manyhands.envs.kitchen.levels import (
    COUNTER,
    DISHES,
    FLOOR,
    LAYOUTS,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
    VOID,
    connected_parts,
)
from manyhands.envs.kitchen.observe import unpack
from manyhands.envs.kitchen.state import (
    ACTIONS,
    ARRIVED,
    BLOCKED,
    DISH,
    INTERACT,
    MOVED,
    NOTHING,
    ONION,
    PICKED_UP,
    PLATED,
    POTTED,
    PUT_DOWN,
    SERVED,
    STARTED,
    STAY,
    TOMATO,
    TOOK_DISH,
    TOOK_ONION,
    TOOK_TOMATO,
    TURNED,
    URGENT,
    USELESS,
    WAITED,
    WASTED,
    KitchenState,
)

NORTH, SOUTH, EAST, WEST = range(4)
DYNAMICS = ("classic", "manual")


def soup(onions: int, tomatoes: int = 0) -> int:
    return 16 | onions << 2 | tomatoes


def make_state(env: Kitchen, chefs=(), things=None, **changes) -> KitchenState:
    """The first state with changes.

    Args:
        chefs: (x, y, facing, held) of the first chefs.
        things: (x, y) -> (object, timer).
    """
    state = stepper(env).reset(episode_key(0)).state
    arrays = {name: getattr(state, name).copy() for name in ("position", "facing", "held")}
    objects, timer = state.objects.copy(), state.timer.copy()
    for i, (x, y, facing, held) in enumerate(chefs):
        for name, value in zip(arrays, (y * env.width + x, facing, held), strict=True):
            arrays[name][i] = value
    for (x, y), (thing, clock) in (things or {}).items():
        objects[y * env.width + x], timer[y * env.width + x] = thing, clock
    return dataclasses.replace(state, objects=objects, timer=timer, **arrays, **changes)


def act(env: Kitchen, state: KitchenState, *words: str) -> Frame:
    """One step; an action in words for each chef."""
    actions = np.array([ACTIONS.index(word) for word in words], np.int32)
    return stepper(env).step(np.zeros(2, np.uint32), int(state.time), state, actions)


def at(env: Kitchen, state: KitchenState, x: int, y: int) -> tuple[int, int]:
    return int(state.objects[y * env.width + x]), int(state.timer[y * env.width + x])


def cells(env: Kitchen, state: KitchenState) -> list[tuple[int, int]]:
    return [(int(cell) % env.width, int(cell) // env.width) for cell in state.position]


@pytest.fixture(scope="module")
def room() -> Kitchen:
    return Kitchen()


@pytest.fixture(scope="module")
def ring() -> Kitchen:
    return Kitchen("coordination_ring")


@pytest.fixture(scope="module", params=DYNAMICS)
def both(request) -> Kitchen:
    """Onions and tomatoes, one pot at (2, 0), in each dynamics; times differ by recipe."""
    return Kitchen(
        "cramped_room_v2",
        dynamics=request.param,
        orders=["onion+onion+onion", "onion+tomato+tomato"]
        + (["onion"] if request.param == "manual" else []),
        bonus_orders=["onion+tomato+tomato"],
        order_bonus=3,
        onion_value=5,
        tomato_value=2,
        onion_time=4,
        tomato_time=1,
    )


# ---- interact ------------------------------------------------------------------------------------

# What a chef at the cell, turned that way, has in front of it.
STATIONS = {
    COUNTER: (1, 2, WEST),
    FLOOR: (1, 1, EAST),
    ONIONS: (1, 1, WEST),
    TOMATOES: (3, 1, EAST),
    DISHES: (1, 2, SOUTH),
    POT: (2, 1, NORTH),
    SERVING: (3, 2, SOUTH),
}
SOUPS = [soup(o, t) for o in range(4) for t in range(4) if 1 <= o + t <= 3]
HANDS = [0, ONION, TOMATO, DISH, *SOUPS]


def interact_table(manual: bool, ground: int, hand: int, there: int, clock: int):
    """(hand, there, clock, event) by the published table, before pots cook."""
    count = (there >> 2 & 3) + (there & 3)
    if ground == COUNTER and hand and not there:
        return 0, hand, 0, PUT_DOWN
    if ground == COUNTER and there and not hand:
        return there, 0, 0, PICKED_UP
    if ground == ONIONS and not hand:
        return ONION, 0, 0, TOOK_ONION
    if ground == TOMATOES and not hand:
        return TOMATO, 0, 0, TOOK_TOMATO
    if ground == DISHES and not hand:
        return DISH, 0, 0, TOOK_DISH
    if ground == POT and hand in (ONION, TOMATO) and clock == 0 and count < 3:
        there = soup(there >> 2 & 3, there & 3) + (4 if hand == ONION else 1)
        starts = count == 2 and not manual
        return 0, there, 1 + cook_time(there) if starts else 0, POTTED
    if ground == POT and not hand and clock == 0 and count > 0 and manual:
        return 0, there, 1 + cook_time(there), STARTED
    if ground == POT and hand == DISH and clock == 1:
        return there, 0, 0, PLATED
    if ground == SERVING and hand >= 16:
        return 0, 0, 0, SERVED if worth(hand, manual) else WASTED
    return hand, there, clock, USELESS


def cook_time(code: int) -> int:
    return 4 * (code >> 2 & 3) + (code & 3)


def worth(code: int, manual: bool) -> int:
    return {soup(3): 15, soup(1, 2): 3 * 9, soup(1): 5 if manual else 0}.get(code, 0)


def test_every_row_of_the_interact_table(both):
    cases = []
    for ground, hand in itertools.product(STATIONS, HANDS):
        inside = [(0, 0)]
        if ground == COUNTER:
            inside = [(thing, 0) for thing in HANDS]
        if ground == POT:
            inside += [(thing, clock) for thing in SOUPS for clock in (0, 1, 2, 7)]
        cases += [(ground, hand, thing, clock) for thing, clock in inside]
    states = []
    for ground, hand, there, clock in cases:
        x, y, facing = STATIONS[ground]
        fx, fy = x + (facing == EAST) - (facing == WEST), y + (facing == SOUTH) - (facing == NORTH)
        partner = (2, 2, NORTH, 0)
        states.append(make_state(both, [(x, y, facing, hand), partner], {(fx, fy): (there, clock)}))
    batch = jax.tree_util.tree_map(lambda *leaves: np.stack(leaves, -1), *states)
    actions = np.full((2, len(cases)), STAY, np.int32)
    actions[0] = INTERACT
    keys = jax.vmap(jax.random.key)(np.arange(len(cases)))
    after, outcome = jax.device_get(jax.jit(both.batch_step)(keys, batch, actions))
    for i, (ground, hand, there, clock) in enumerate(cases):
        x, y, facing = STATIONS[ground]
        front = int(batch.position[0, i]) + (-both.width, both.width, 1, -1)[facing]
        new_hand, now, now_clock, event = interact_table(
            both.dynamics == "manual", ground, hand, there, clock
        )
        now_clock -= now_clock > 1  # pots cook at the end of the step
        found = (after.held[0, i], after.objects[front, i], after.timer[front, i])
        assert (*map(int, found), int(after.event[0, i])) == (new_hand, now, now_clock, event), (
            cases[i]
        )
        assert (after.position[:, i] == batch.position[:, i]).all()
        value = worth(hand, both.dynamics == "manual") if event in (SERVED, WASTED) else 0
        assert outcome.terms["delivery"][:, i].tolist() == [value, value]
        assert after.score[i] == value
        assert after.soups[i] == outcome.metrics["soups"][i] == (event == SERVED)
        assert outcome.metrics["wasted"][i] == (event == WASTED)
        assert outcome.terms["pot_placement"][:, i].tolist() == [3 * (event == POTTED), 0]
        assert outcome.terms["soup_pickup"][:, i].tolist() == [5 * (event == PLATED), 0]


def test_interacts_resolve_in_index_order(ring):
    """Two chefs at the counter in the middle: what the first puts there, the second takes."""
    chefs = [(2, 1, SOUTH, ONION), (2, 3, NORTH, 0)]
    handed = act(ring, make_state(ring, chefs), "interact", "interact").state
    assert handed.held.tolist() == [0, ONION] and at(ring, handed, 2, 2) == (0, 0)
    late = act(ring, make_state(ring, chefs[::-1]), "interact", "interact").state
    assert late.held.tolist() == [0, 0] and at(ring, late, 2, 2) == (ONION, 0)
    assert late.event.tolist() == [USELESS, PUT_DOWN]


def test_a_third_ingredient_from_two_chefs_is_taken_once():
    env = Kitchen("XXXXX\nO1P2D\nX   X\nXXSXX")
    state = make_state(env, [(1, 1, EAST, ONION), (3, 1, WEST, ONION)], {(2, 1): (soup(2), 0)})
    after = act(env, state, "interact", "interact").state
    assert at(env, after, 2, 1) == (soup(3), 20)
    assert after.held.tolist() == [0, ONION] and after.event.tolist() == [POTTED, USELESS]


def test_an_interact_uses_the_facing_before_the_step(room):
    """And does not turn; the cell beside, which a move would face, is not touched."""
    state = make_state(room, [(1, 1, NORTH, 0), (3, 1, WEST, 0)])
    after = act(room, state, "interact", "east")
    assert after.state.held.tolist() == [0, 0] and after.state.facing.tolist() == [NORTH, EAST]
    taken = act(room, after.state, "stay", "interact").state
    assert taken.held.tolist() == [0, ONION]


# ---- moves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chefs", "words", "ends", "events"),
    [
        # free floor; a counter only turns
        ([(1, 1), (3, 2)], ("south", "north"), [(1, 2), (3, 1)], (MOVED, MOVED)),
        ([(1, 1), (3, 2)], ("west", "south"), [(1, 1), (3, 2)], (TURNED, TURNED)),
        # one cell for two
        ([(1, 1), (3, 1)], ("east", "west"), [(1, 1), (3, 1)], (BLOCKED, BLOCKED)),
        # a swap
        ([(1, 1), (2, 1)], ("east", "west"), [(1, 1), (2, 1)], (BLOCKED, BLOCKED)),
        # into somebody who stays, turns or interacts
        ([(1, 1), (2, 1)], ("east", "stay"), [(1, 1), (2, 1)], (BLOCKED, WAITED)),
        ([(1, 1), (2, 1)], ("east", "north"), [(1, 1), (2, 1)], (BLOCKED, TURNED)),
        ([(1, 1), (2, 1)], ("east", "interact"), [(1, 1), (2, 1)], (BLOCKED, USELESS)),
        # following, either way round
        ([(1, 1), (2, 1)], ("east", "east"), [(2, 1), (3, 1)], (MOVED, MOVED)),
        ([(2, 1), (1, 1)], ("east", "east"), [(3, 1), (2, 1)], (MOVED, MOVED)),
    ],
)
def test_moves_of_two(room, chefs, words, ends, events):
    state = make_state(room, [(x, y, WEST, 0) for x, y in chefs])
    frame = act(room, state, *words)
    assert cells(room, frame.state) == ends
    assert tuple(frame.state.event) == events
    turned = [ACTIONS.index(word) if word in ACTIONS[:4] else WEST for word in words]
    assert frame.state.facing.tolist() == turned
    assert frame.metrics["collisions"] == (BLOCKED in events)


def test_a_collision_of_two_stops_everybody():
    env = Kitchen(chefs=4)
    state = make_state(env, [(1, 1, 0, 0), (3, 1, 0, 0), (1, 2, 0, 0), (3, 2, 0, 0)])
    frame = act(env, state, "east", "west", "east", "south")
    assert cells(env, frame.state) == [(1, 1), (3, 1), (1, 2), (3, 2)]
    assert frame.state.facing.tolist() == [EAST, WEST, EAST, SOUTH]
    assert frame.state.event.tolist() == [BLOCKED, BLOCKED, BLOCKED, TURNED]
    # Four chefs in a circle share no cell and swap none.
    state = make_state(env, [(1, 1, 0, 0), (2, 1, 0, 0), (2, 2, 0, 0), (1, 2, 0, 0)])
    frame = act(env, state, "east", "south", "west", "north")
    assert cells(env, frame.state) == [(2, 1), (2, 2), (1, 2), (1, 1)]
    assert frame.metrics["collisions"] == 0


# ---- cooking -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_soup_cooks_for_twenty_steps(dynamics):
    env = Kitchen(dynamics=dynamics)
    contents, hand = (soup(2), ONION) if dynamics == "classic" else (soup(3), 0)
    state = make_state(env, [(2, 1, NORTH, hand), (1, 2, NORTH, 0)], {(2, 0): (contents, 0)})
    state = act(env, state, "interact", "stay").state  # step t
    state = dataclasses.replace(state, held=np.array([DISH, 0], np.uint8))
    for step in range(1, 20):
        assert at(env, state, 2, 0) == (soup(3), 21 - step)
        state = act(env, state, "interact", "stay").state
        assert state.held[0] == DISH  # too early
    assert at(env, state, 2, 0) == (soup(3), 1)  # ready at the end of step t + 19
    assert env.to_dict(state)["pots"][0]["status"] == "ready"
    for _ in range(3):  # nothing burns
        state = act(env, state, "stay", "stay").state
    state = act(env, state, "interact", "stay").state
    assert state.held[0] == soup(3) and at(env, state, 2, 0) == (0, 0)


def test_recipes_have_their_own_times(both):
    if both.dynamics == "classic":
        state = make_state(both, [(2, 1, NORTH, TOMATO)], {(2, 0): (soup(1, 1), 0)})
        assert at(both, act(both, state, "interact", "stay").state, 2, 0) == (soup(1, 2), 4 + 2)
        return
    for onions, tomatoes in ((0, 1), (1, 0), (1, 1), (3, 0)):
        state = make_state(both, [(2, 1, NORTH, 0)], {(2, 0): (soup(onions, tomatoes), 0)})
        state = act(both, state, "interact", "stay").state
        left = 4 * onions + tomatoes - 1  # the step that starts it counts; one tomato is done
        assert at(both, state, 2, 0) == (soup(onions, tomatoes), left + 1)


def test_a_full_pot_waits_in_manual_dynamics():
    env = Kitchen(dynamics="manual")
    state = make_state(env, [(2, 1, NORTH, ONION)], {(2, 0): (soup(2), 0)})
    for word in ("interact", "stay", "stay"):
        state = act(env, state, word, "stay").state
        assert at(env, state, 2, 0) == (soup(3), 0)


# ---- shaping and orders --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pots", "lying", "partner_holds", "useful"),
    [
        ([(0, 0)], 0, 0, 0),  # all pots empty
        ([(soup(1), 0)], 0, 0, 3),  # partly filled
        ([(soup(3), 9)], 0, 0, 3),  # cooking
        ([(soup(3), 1)], 0, 0, 3),  # ready
        ([(soup(3), 0)], 0, 0, 0),  # full and idle (manual): does not count
        ([(soup(3), 1)], DISH, 0, 0),  # a dish lies on a counter
        ([(soup(3), 1)], ONION, 0, 3),  # something else does
        ([(soup(3), 1)], 0, DISH, 0),  # the partner has one
        ([(soup(3), 1), (soup(1), 0)], 0, DISH, 3),  # but there are two pots
    ],
)
def test_dishes_that_are_useful(pots, lying, partner_holds, useful):
    env = Kitchen("counter_circuit", dynamics="manual")
    things = {(3 + i, 0): pot for i, pot in enumerate(pots)} | {(7, 4): (lying, 0)}
    state = make_state(env, [(1, 2, WEST, 0), (6, 2, NORTH, partner_holds)], things)
    frame = act(env, state, "interact", "stay")
    assert frame.terms["dish_pickup"].tolist() == [useful, 0]
    assert frame.state.event[0] == TOOK_DISH


def test_usefulness_counts_pots_before_the_step_and_dishes_within_it():
    """Chef 0 acts first; its partner stands at the dishes, on a layout where both can work."""
    env = Kitchen("XXDXX\nP1 2X\nX   X\nXOXSX")
    pot = (0, 1)
    taker = (2, 1, NORTH, 0)

    def shaped(chef, thing):
        state = make_state(env, [(1, 1, WEST, chef), taker], {pot: thing})
        return act(env, state, "interact", "interact").terms["dish_pickup"].tolist()

    assert shaped(ONION, (0, 0)) == [0, 0]  # the pot was empty when the step began
    assert shaped(DISH, (soup(3), 1)) == [0, 3]  # the pot was ready; the dish is used up
    # Putting a dish down in this very step makes the other one useless.
    state = make_state(env, [(1, 2, WEST, DISH), taker], {pot: (soup(3), 1)})
    assert act(env, state, "interact", "interact").terms["dish_pickup"].tolist() == [0, 0]


def test_orders_bonus_and_waste(both):
    single = 5 if both.dynamics == "manual" else 0
    for code, value in ((soup(3), 15), (soup(1, 2), 27), (soup(1), single), (soup(0, 3), 0)):
        state = make_state(both, [(3, 2, SOUTH, code), (1, 1, NORTH, 0)])
        frame = act(both, state, "interact", "stay")
        assert frame.reward.tolist() == [value, value]
        assert (frame.state.score, frame.state.soups) == (value, value > 0)
        assert frame.metrics["wasted"] == (value == 0) and frame.state.held[0] == 0


def test_two_soups_in_one_step_add_up():
    env = Kitchen("XXPXX\nS1 2S\nX   X\nXODXX", reward_weights={"delivery": 0.5})
    state = make_state(env, [(1, 1, WEST, soup(3)), (3, 1, EAST, soup(3))])
    frame = act(env, state, "interact", "interact")
    assert frame.reward.tolist() == [20, 20] and frame.terms["delivery"].tolist() == [40, 40]
    assert frame.metrics["soups"] == 2 and frame.state.soups == 2 and frame.state.score == 40


# ---- episodes ------------------------------------------------------------------------------------


def test_episodes_are_truncated_and_never_terminate(room):
    state = make_state(room, time=np.int16(398))
    for over in (False, True):
        frame = act(room, state, "stay", "stay")
        assert frame.truncated.tolist() == [over, over] and not frame.terminated.any()
        assert frame.over == over
        state = frame.state


def test_urgency_begins_with_forty_steps_left(room):
    for left, urgent in ((URGENT, 0), (URGENT - 1, 1)):
        frame = stepper(room).view(make_state(room, time=np.int16(400 - left)))
        assert (frame.vector[:, -1] == urgent).all()
        assert (frame.perception >> 21 == urgent).all()


PUBLISHED = {
    "cramped_room": (((1, 2), (3, 1)), ((1, 1), (3, 1))),
    "asymmetric_advantages": (((6, 2), (1, 3)), ((2, 3), (5, 3))),
    "coordination_ring": (((2, 1), (1, 2)), ((2, 1), (1, 2))),
    "forced_coordination": (((3, 1), (1, 2)), ((1, 2), (3, 1))),
    "counter_circuit": (((3, 3), (3, 1)), ((2, 1), (6, 3))),
}


@pytest.mark.parametrize("layout", PUBLISHED)
def test_starts_are_the_published_ones(layout):
    for starts, expected in zip(("overcooked_ai", "jaxmarl"), PUBLISHED[layout], strict=True):
        env = Kitchen(layout, starts=starts)
        state = env.reset(episode_key(0))
        assert tuple(cells(env, state)) == expected
        assert state.facing.tolist() == [NORTH, NORTH] and state.held.tolist() == [0, 0]
        assert not state.objects.any() and not state.timer.any()
        assert state.event.tolist() == [ARRIVED, ARRIVED]
        assert env.deterministic_reset


def test_random_starts_stay_in_the_own_room():
    env = Kitchen(["forced_coordination", "cramped_room"], starts="random", chefs=3)
    assert not env.deterministic_reset
    keys = jax.vmap(jax.random.key)(np.arange(300))
    states = jax.device_get(jax.jit(env.batch_reset)(keys))
    assert set(np.unique(states.facing)) == {0, 1, 2, 3}
    assert set(np.unique(states.level)) == {0, 1}
    for number, level in enumerate(env.levels):
        chosen = states.position[:, states.level == number]
        parts = connected_parts(level.cells(FLOOR))
        for i, start in enumerate(level.starts):
            (own,) = [part for part in parts if start in part]
            # Every cell of the chef's own room comes up, and no other.
            assert set(chosen[i]) == {y * env.width + x for x, y in own}
        assert all(len(set(column)) == 3 for column in chosen.T)
    assert states.terrain[:, 0].tolist() == env.terrains[states.level[0]].tolist()


@pytest.mark.parametrize("chefs", range(1, 7))
def test_one_to_six_chefs(chefs):
    env = Kitchen("counter_circuit", chefs=chefs)
    assert env.agents == tuple(f"chef_{i}" for i in range(chefs))
    state = env.reset(episode_key(0))
    found = cells(env, state)
    assert len(set(found)) == chefs and found[:2] == [(3, 3), (3, 1)][:chefs]
    assert all(state.terrain[cell] == FLOOR for cell in np.asarray(state.position))
    shape = jax.eval_shape(env.observe, state).shape
    assert shape == (chefs, 5 * chefs + 16, 5, 8) == (chefs, *env.observation_space.shape)


def test_padding_changes_nothing():
    """The small layout plays the same by itself and beside a larger one."""
    small, padded = Kitchen("cramped_room"), Kitchen(["cramped_room", "counter_circuit"])
    assert (padded.width, padded.height) == (8, 5)
    key = next(k for k in map(episode_key, range(99)) if padded.reset(k).level == 0)
    states = [small.reset(key), padded.reset(key)]
    rng = np.random.default_rng(0)
    for _ in range(60):
        words = [ACTIONS[i] for i in rng.choice(6, 2, p=(0.15, 0.15, 0.15, 0.15, 0.05, 0.35))]
        frames = [
            act(env, state, *words) for env, state in zip((small, padded), states, strict=True)
        ]
        states = [frame.state for frame in frames]
        assert small.to_dict(states[0]) == padded.to_dict(states[1])
        np.testing.assert_array_equal(frames[0].reward, frames[1].reward)
        a, b = frames[0].vector, frames[1].vector
        np.testing.assert_array_equal(a[:, :-1], b[:, :-1, :4, :5])
        assert not b[:, :-1, 4:].any() and not b[:, :-1, :, 5:].any()
        assert (frames[1].perception[:, 4:] == VOID).all()


# ---- observations --------------------------------------------------------------------------------


def test_the_grid_shows_each_fact_in_its_channel(both):
    things = {(2, 0): (soup(2, 1), 6), (0, 2): (soup(1), 0), (4, 2): (DISH, 0), (0, 0): (TOMATO, 0)}
    state = make_state(both, [(1, 1, WEST, ONION), (3, 2, SOUTH, soup(0, 2))], things)
    grid = stepper(both).view(state).vector
    assert grid.shape == (2, 26, 4, 5)

    def marks(agent, channel):
        return {
            (int(x), int(y)): int(grid[agent, channel, y, x])
            for y, x in np.argwhere(grid[agent, channel])
        }

    assert marks(0, 0) == {(1, 1): 1} == marks(1, 1) and marks(0, 1) == {(3, 2): 1} == marks(1, 0)
    assert [marks(0, 2 + f) for f in range(4)] == [{}, {}, {}, {(1, 1): 1}]
    assert [marks(0, 6 + f) for f in range(4)] == [{}, {(3, 2): 1}, {}, {}]
    stations = [POT, COUNTER, ONIONS, TOMATOES, DISHES, SERVING]
    for channel, code in enumerate(stations, start=10):
        assert (grid[0, channel].ravel() == (state.terrain == code)).all()
    assert marks(0, 16) == {} == marks(0, 17)  # no idle pot
    assert marks(0, 18) == {(2, 0): 2, (0, 2): 1} and marks(0, 19) == {(2, 0): 1, (3, 2): 2}
    assert marks(0, 20) == {(2, 0): 5} and marks(0, 21) == {(0, 2): 1, (3, 2): 1}
    assert marks(0, 22) == {(4, 2): 1} and marks(0, 23) == {(1, 1): 1}
    assert marks(0, 24) == {(0, 0): 1} and marks(0, 25) == {}
    idle = make_state(both, things={(2, 0): (soup(1, 1), 0)})
    grid = stepper(both).view(idle).vector
    assert marks(1, 16) == {(2, 0): 1} == marks(1, 17) and marks(1, 18) == {} == marks(1, 21)


@pytest.mark.parametrize("radius", [1, 2, 9])
def test_the_view_radius_cuts_a_window(radius):
    env, full = Kitchen("counter_circuit", view_radius=radius), Kitchen("counter_circuit")
    things = {(3, 0): (soup(2), 0), (4, 0): (soup(3), 9), (7, 4): (DISH, 0), (0, 0): (ONION, 0)}
    state = make_state(full, [(1, 1, EAST, DISH), (6, 3, WEST, ONION)], things)
    near, far = stepper(env).view(state), stepper(full).view(state)
    for i, (x, y) in enumerate(((1, 1), (6, 3))):
        rows, columns = np.indices((env.height, env.width))
        seen = np.maximum(abs(columns - x), abs(rows - y)) <= radius
        np.testing.assert_array_equal(near.perception[i][seen], far.perception[i][seen])
        assert (near.perception[i][~seen] == VOID).all()
        np.testing.assert_array_equal(near.vector[i], unpack(near.perception[i], 2))
    np.testing.assert_array_equal(far.vector, unpack(far.perception, 2))
    if radius == 9:
        np.testing.assert_array_equal(near.vector, far.vector)


def test_features_are_where_the_documentation_says():
    env = Kitchen("counter_circuit", observation="features")
    things = {(3, 0): (soup(2), 0), (4, 0): (soup(3), 9), (7, 4): (DISH, 0)}
    state = make_state(
        env, [(1, 1, EAST, soup(2, 1)), (6, 3, WEST, ONION)], things, soups=np.int16(7)
    )
    vector = stepper(env).view(state).vector[0]
    assert vector.shape == env.observation_space.shape == (16 + 13 + 27 + 18 + 2,)
    assert vector[:16].tolist() == [0, 0, 1, 0, 0, 0, 0, 1, 2, 1, 1, 1, 1, 0, 0, 1]
    assert vector[16:29].tolist() == [1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 5, 2]
    wanted = vector[29:56].reshape(9, 3).tolist()
    assert wanted[0] == [1, 2, 3] and wanted[1] == [0, 0, 0] and wanted[2] == [1, -1, 1]
    assert wanted[3] == [1, 6, 1] and wanted[4] == [1, 0, -1]
    assert wanted[5:] == [[0, 0, 0], [0, 0, 0], [1, 6, 3], [0, 0, 0]]
    assert vector[56:74].reshape(2, 9).tolist() == [
        [1, 2, -1, 0, 0, 0, 2, 0, 0],
        [1, 3, -1, 0, 1, 0, 3, 0, 8],
    ]
    assert vector[74:].tolist() == [400, 7]


def test_fingerprints_of_chefs_follow_what_they_see():
    env = Kitchen("counter_circuit", view_radius=2)
    here = [(1, 1, EAST, 0), (6, 3, WEST, 0)]
    before = make_state(env, here)
    for chefs, seen in (
        ([(1, 1, EAST, 0), (6, 3, WEST, DISH)], [False, True]),
        ([(1, 1, SOUTH, 0), (6, 3, WEST, 0)], [True, False]),
        ([(1, 1, EAST, 0), (6, 3, NORTH, 0)], [False, True]),
    ):
        after = make_state(env, chefs)
        assert fingerprint(env, after) != fingerprint(env, before)
        for i in range(2):
            assert (fingerprint(env, after, i) != fingerprint(env, before, i)) == seen[i]
    later = dataclasses.replace(before, time=np.int16(1))
    assert fingerprint(env, later, 0) != fingerprint(env, before, 0)


# ---- the rest ------------------------------------------------------------------------------------


def test_the_true_state_in_plain_names(room):
    things = {(2, 0): (soup(3), 5), (0, 2): (soup(2, 1), 0)}
    state = make_state(room, [(1, 1, WEST, 0), (3, 2, SOUTH, soup(3))], things)
    found = room.to_dict(state)
    assert found["chefs"] == [
        {"name": "chef_0", "x": 1, "y": 1, "facing": "west", "holding": None},
        {
            "name": "chef_1",
            "x": 3,
            "y": 2,
            "facing": "south",
            "holding": "soup",
            "onions": 3,
            "tomatoes": 0,
        },
    ]
    assert found["pots"] == [
        {"x": 2, "y": 0, "onions": 3, "tomatoes": 0, "status": "cooking", "steps_left": 4}
    ]
    assert found["counters"] == [{"x": 0, "y": 2, "object": "soup", "onions": 2, "tomatoes": 1}]
    assert (found["layout"], found["time"], found["steps_left"]) == ("cramped_room", 0, 400)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"layout": "cramped_rom"}, "cramped_room"),
        ({"layout": []}, "layout"),
        ({"layout": ["cramped_room", "long_room"]}, "chefs"),
        ({"dynamics": "old"}, "dynamics"),
        ({"starts": "anywhere"}, "starts"),
        ({"observation": "pixels"}, "observation"),
        ({"view_radius": 0}, "view_radius"),
        ({"view_radius": 1.5}, "view_radius"),
        ({"view_radius": True}, "view_radius"),
        ({"max_steps": 0}, "max_steps"),
        ({"max_steps": True}, "max_steps"),
        ({"chefs": 7}, "chefs"),
        ({"chefs": True}, "chefs"),
        ({"reward_weights": {"fun": 1}}, "fun"),
        ({"reward_weights": {"delivery": math.nan}}, "delivery"),
        ({"reward_weights": {"delivery": math.inf}}, "delivery"),
        ({"values": math.nan}, "values"),
        ({"times": [20]}, "times"),
        ({"orders": ["onion", "onion"]}, "orders"),
        ({"bonus_orders": 3}, "bonus_orders"),
        ({"generator": {"width": 5}}, "generated"),
        ({"num_levels": 8}, "num_levels"),
        ({"level_seed": 1}, "level_seed"),
        ({"layout": "generated", "num_levels": True}, "num_levels"),
        ({"layout": "generated", "level_seed": 1.5}, "level_seed"),
        ({"layout": "generated", "generator": {"widht": 5}}, "width"),
    ],
    ids=repr,
)
def test_wrong_configurations_are_refused(config, named):
    with pytest.raises(ConfigError, match=named):
        Kitchen(**config)


@pytest.mark.parametrize(
    ("actions", "given"),
    [
        (np.array([np.nan, 4.0], np.float32), "float"),
        (np.array([1.9, 4.0]), "float"),
        (np.array([True, False]), "bool"),
        (np.int32(3), r"\(\)"),
        (np.array([3], np.int32), r"\(1,\)"),
        (np.array([3, 3, 3], np.int32), r"\(3,\)"),
    ],
    ids=repr,
)
def test_actions_that_are_not_a_whole_number_for_each_chef_are_refused(room, actions, given):
    state = room.reset(episode_key(0))
    for step in (room.step, jax.jit(room.step)):
        with pytest.raises(ConfigError, match=given):
            step(episode_key(0), state, actions)


def test_all_shipped_layouts_can_be_made():
    for layout in LAYOUTS:
        env = Kitchen(layout)
        state = env.reset(episode_key(0))
        assert (np.asarray(state.terrain) == POT).sum() == env.max_pots > 0


def test_classic_dynamics_order_only_what_they_can_cook():
    classic = Kitchen("counter_circuit_tomato")
    assert all(sum(recipe) == 3 for recipe in classic.levels[0].orders)
    assert (1, 1) in Kitchen("counter_circuit_tomato", dynamics="manual").levels[0].orders
    with pytest.raises(ConfigError, match="manual"):
        Kitchen("two_rooms", orders=["onion", "onion+onion+onion"])


def test_many_chefs_play_alike_alone_and_in_a_batch() -> None:
    """One kitchen with many chefs is another program than a batch of one."""
    kitchen = Kitchen("multiplayer_schelling", chefs=4, dynamics="manual", max_steps=300)
    together = jax.jit(
        lambda keys, states, actions: _seen(kitchen, *kitchen.batch_step(keys, states, actions))
    )
    keys, random = jax.random.split(jax.random.key(0), 1), np.random.default_rng(0)
    stock, happened = [NOTHING, ONION, TOMATO, DISH, DISH, soup(3)], set()
    state = make_state(kitchen)
    terrain, turns = state.terrain, np.array([-kitchen.width, kitchen.width, 1, -1])
    places = [
        (int(cell), facing)
        for cell in np.flatnonzero(terrain == FLOOR)
        for facing in range(4)
        for _ in range(1 if terrain[cell + turns[facing]] == COUNTER else 8)
        if terrain[cell + turns[facing]] != FLOOR
    ]
    for step in range(280):
        if step % 4 == 0:  # all sorts of things in hands, on counters and in pots
            lying = np.where(terrain == COUNTER, random.choice(stock, terrain.size), NOTHING)
            inside = random.choice([NOTHING, soup(1), soup(3), soup(3)], terrain.size)
            inside = np.where(terrain == POT, inside, lying).astype(np.uint8)
            ready = (inside == soup(3)) & (terrain == POT)
            begun = dict(random.permutation(places).tolist())  # a chef to a cell
            state = dataclasses.replace(
                state,
                objects=inside,
                timer=ready.astype(np.uint8),
                held=random.choice(stock, 4).astype(np.uint8),
                position=np.array(list(begun)[:4], np.uint8),
                facing=np.array(list(begun.values())[:4], np.uint8),
            )
        actions = random.choice(7, 4, p=[0.13, 0.13, 0.13, 0.13, 0.04, 0.4, 0.04]).astype(np.int32)
        states = jax.tree_util.tree_map(lambda leaf: leaf[..., None], state)
        batch, outcome, grid, codes = together(keys, states, actions[:, None])
        frame = stepper(kitchen).step(np.zeros(2, np.uint32), step, state, actions)
        alone = frame.state, (frame.reward, frame.terms, frame.metrics, frame.truncated)
        many = batch, (outcome.reward, outcome.terms, outcome.metrics, outcome.truncated)
        pairs = zip(*map(jax.tree_util.tree_leaves, (alone, many)), strict=True)
        for one, of_batch in [*pairs, (frame.vector, grid), (frame.perception, codes)]:
            np.testing.assert_array_equal(one, np.asarray(of_batch)[..., 0])
        state = frame.state
        happened |= set(state.event.tolist())
    usual = {TOOK_ONION, TOOK_DISH, PUT_DOWN, PICKED_UP, POTTED, STARTED, PLATED, SERVED, BLOCKED}
    assert usual <= happened


def _seen(kitchen: Kitchen, states: KitchenState, outcome):
    return states, outcome, kitchen.batch_observe(states), kitchen.batch_perceive(states)


RING = "overcooked_v2/grounded_coord_ring"


@pytest.mark.parametrize(
    "config",
    [
        {"layout": RING, "view_radius": 2, "random_reset": True, "show_delivery": True},
        {"layout": RING, "relabel": ["onion", "tomato"], "random_reset": True},
        {"observation": "routes", "view_radius": 3, "starts": "random"},
        {"observation": "features", "view_radius": 3, "starts": "random"},
    ],
)
def test_many_chefs_see_alike_alone_and_in_a_batch(config) -> None:
    kitchen = Kitchen(**{"layout": "multiplayer_schelling", **config}, chefs=4)
    steps, random = stepper(kitchen), np.random.default_rng(0)
    frames = [steps.reset(np.array([0, seed], np.uint32)) for seed in range(6)]
    for step in range(40):
        before = frames[step % len(frames)]
        actions = random.choice(6, 4, p=[0.15, 0.15, 0.15, 0.15, 0.05, 0.35])
        frames.append(steps.step(np.zeros(2, np.uint32), step, before, actions))
    states = jax.tree_util.tree_map(lambda *rows: np.stack(rows, -1), *(f.state for f in frames))
    seen = jax.jit(lambda states: (kitchen.batch_observe(states), kitchen.batch_perceive(states)))
    vectors, perceptions = (np.asarray(rows) for rows in seen(states))
    for k, frame in enumerate(frames):
        np.testing.assert_array_equal(frame.vector, vectors[..., k])
        np.testing.assert_array_equal(frame.perception, perceptions[..., k])


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"view_radius": 2},
        {"observation": "features"},
        {"observation": "featurized"},
        {"observation": "routes"},
        {"layout": RING, "view_radius": 2},
        {"layout": RING, "relabel": ["onion", "tomato"]},
        {"statistics": True, "reward_weights": {"potential": 1.0}, "dynamics": "manual"},
    ],
)
def test_programs_hardly_grow_with_chefs(config) -> None:
    counts = {}
    for n in (2, 4, 6):
        kitchen = Kitchen(**{"layout": "multiplayer_schelling", **config}, chefs=n)
        state = jax.eval_shape(kitchen.reset, jax.random.key(0))
        actions = np.zeros(n, np.int32)

        def packed(state, actions, kitchen=kitchen):
            state, outcome = kitchen.step(jax.random.key(0), state, actions)
            return state, outcome, kitchen.observe(state)

        counts[n] = operations(jax.make_jaxpr(packed)(state, actions).jaxpr)
    assert counts[4] <= counts[2] and counts[6] <= 1.2 * counts[2], counts


def operations(jaxpr) -> int:
    """The operations of a program, those of its loops and calls included."""
    count = len(jaxpr.eqns)
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            nested = getattr(value, "jaxpr", value)
            count += operations(nested) if hasattr(nested, "eqns") else 0
    return count
