"""The observation "routes", against the skills' paths, a search of its own, and the map."""

import collections

import jax
import numpy as np
import pytest
from kitchen_states import any_states, count, joined, played_states

from manyhands.core.env import ConfigError
from manyhands.envs.kitchen import routes
from manyhands.envs.kitchen.env import Kitchen
from manyhands.envs.kitchen.levels import COUNTER, DIRECTIONS, FLOOR, POT
from manyhands.envs.kitchen.skills import POSSIBLE, KitchenSkills
from manyhands.envs.kitchen.state import DISH, INTERACT, NOTHING, ONION, SOUP

LAYOUTS = ["cramped_room", "asymmetric_advantages", "forced_coordination", "counter_circuit"]
SKILLS = {
    "fetch onion": "onion dispenser",
    "fetch dish": "dish dispenser",
    "serve": "serving window",
    "put down": "empty counter",
    "pick up onion": "onion on a counter",
    "pick up dish": "dish on a counter",
    "pick up soup": "soup on a counter",
}


@pytest.fixture(scope="module")
def kitchen() -> Kitchen:
    return Kitchen(LAYOUTS, observation="routes")


@pytest.fixture(scope="module")
def states(kitchen):
    return joined(any_states(kitchen, 24, 0), played_states(kitchen, 12, 60))


@pytest.fixture(scope="module")
def seen(kitchen, states) -> np.ndarray:
    """f32[states, chefs, F]."""
    return np.moveaxis(np.asarray(jax.jit(kitchen.batch_observe)(states)), -1, 0)


def piece(kitchen: Kitchen, row: np.ndarray, name: str) -> np.ndarray:
    found = row[..., kitchen.observation_layout[name]]
    shape = kitchen.observation_layout.pieces[name].shape
    return found.reshape(*row.shape[:-1], *shape)


def test_numbers_keep_to_their_own_bounds(kitchen, seen):
    layout, space = kitchen.observation_layout, kitchen.observation_space
    assert seen.min() >= space.low.min() and all(space.contains(row) for row in seen[:, 0])
    flags = [name for name, piece in layout.pieces.items() if piece.high.max() == 1]
    assert set(flags) == {"own_facing", "holding", "blocked", "urgent"}
    assert layout.pieces["soup_held"].high.tolist() == [3, 3]
    assert layout.pieces["routes"].high[:4].tolist() == [1, routes.most(kitchen), 1, 1]


def test_ways_are_those_of_the_skills(kitchen, states, seen):
    """What both know of a chef that could use a place: how far it is, and the first action."""
    skills, compared = KitchenSkills(kitchen), 0
    perception = np.moveaxis(np.asarray(kitchen.batch_perceive(states)), -1, 0)
    every = jax.device_get(jax.jit(jax.vmap(jax.vmap(skills.details)))(perception))
    for i in range(count(states)):
        for chef in range(2):
            details = jax.tree_util.tree_map(lambda leaf, at=(i, chef): leaf[at], every)
            found = piece(kitchen, seen[i, chef], "routes")
            for skill, place in SKILLS.items():
                k = skills.names.index(skill)
                if details.why[k] != POSSIBLE:
                    continue
                there, steps, *first, front = found[routes.PLACES.index(place)]
                assert there == 1 and steps == details.steps[k]
                assert front == (details.action[k] == INTERACT)
                assert [n for n, on in enumerate(first) if on] == (
                    [] if front else [details.action[k]]
                )
                compared += 1
    assert compared > 100


def test_what_others_reach_is_what_a_search_finds(kitchen, states, seen):
    perception = np.moveaxis(np.asarray(kitchen.batch_perceive(states)), -1, 0)
    for i in range(count(states)):
        codes = perception[i, 0]
        terrain, thing = codes & 7, (codes >> 8) & 31
        (y, x), *_ = np.argwhere((codes >> 3) & 7 == 2)
        steps, queue = {(x, y): 0}, collections.deque([(x, y)])
        while queue:
            at = queue.popleft()
            for dx, dy in DIRECTIONS:
                to = at[0] + dx, at[1] + dy
                if terrain[to[1], to[0]] == FLOOR and to not in steps:
                    steps[to] = steps[at] + 1
                    queue.append(to)
        beside: dict = {}
        for (x, y), far in steps.items():
            for dx, dy in DIRECTIONS:
                to = x + dx, y + dy
                beside[to] = min(far, beside.get(to, far))

        def nearest(mask, beside=beside):
            far = [beside[x, y] for y, x in np.argwhere(mask) if (x, y) in beside]
            return [1, min(far)] if far else [0, 0]

        found = piece(kitchen, seen[i, 0], "others_routes").tolist()
        counter = terrain == COUNTER
        for place, mask in (
            ("onion on a counter", counter & (thing == ONION)),
            ("dish on a counter", counter & (thing == DISH)),
            ("soup on a counter", counter & (thing >= SOUP)),
            ("empty counter", counter & (thing == NOTHING)),
            ("ready pot", (terrain == POT) & ((codes >> 13) & 255 == 1)),
        ):
            assert found[routes.PLACES.index(place)] == nearest(mask), place
        # A counter to hand things over is one that both reach.
        own = piece(kitchen, seen[i, 0], "routes")
        shared, any_counter = (
            own[routes.PLACES.index(name)]
            for name in ("empty counter that others reach", "empty counter")
        )
        assert shared[0] <= any_counter[0] and (not shared[0] or shared[1] >= any_counter[1])


def test_a_divided_kitchen_has_counters_to_hand_over():
    env = Kitchen("forced_coordination", observation="routes")
    state = env.reset(jax.random.key(0))
    row = np.asarray(env.observe(state))
    ways = dict(zip(routes.PLACES, piece(env, row, "routes")[1].tolist(), strict=True))
    theirs = dict(zip(routes.PLACES, piece(env, row, "others_routes")[1].tolist(), strict=True))
    assert ways["onion dispenser"][0] == 1 and ways["pot with room"] == [0] * 7
    assert theirs["pot with room"][0] == 1 and theirs["onion dispenser"] == [0, 0]
    # chef_1 is at (1, 2), beside the counter at (2, 2), and faces north.
    assert ways["empty counter that others reach"] == [1, 1, 0, 0, 1, 0, 0]
    assert piece(env, row, "pots").tolist() == [[2, 2, 0, 0]] * 2


def test_all_kitchens_have_the_same_numbers(kitchen, seen):
    made = Kitchen("generated", num_levels=3, observation="routes", generator={"divided": 0.5})
    small = Kitchen("cramped_room", observation="routes")
    assert made.observation_space.shape == small.observation_space.shape == seen.shape[-1:]
    low, high = kitchen.observation_layout.low, kitchen.observation_layout.high
    assert (seen >= low).all() and (seen <= high).all()
    # A kitchen alone and among others: the same to a chef that stands in it.
    states = any_states(small, 8, 0)
    among = Kitchen(["cramped_room", "asymmetric_advantages"], observation="routes")
    padded = np.full((2, 5, 9, 8), 7, np.int32)
    padded[:, :4, :5] = np.asarray(small.batch_perceive(states))
    np.testing.assert_array_equal(routes.observe(among, padded), small.batch_observe(states))


def test_routes_know_onions_and_tomatoes_only():
    with pytest.raises(ConfigError, match="routes"):
        Kitchen("grounded_coord_simple", observation="routes")
