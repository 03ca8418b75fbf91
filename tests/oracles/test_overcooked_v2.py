"""Our kitchen replays what was played in JaxMARL's OvercookedV2, and agrees at every step.

`record_overcooked_v2.py` made data/overcooked_v2.npz; it says how, and with which versions. A
longer recording is compared by

    python tests/oracles/test_overcooked_v2.py /tmp/long.npz
"""

import dataclasses
import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from manyhands.envs.kitchen import Kitchen
from manyhands.envs.kitchen.asked import LAYOUTS, PREFIX, SHIFTS
from manyhands.envs.kitchen.levels import COUNTER, POT
from manyhands.envs.kitchen.state import Asked

DATA = Path(__file__).parent / "data" / "overcooked_v2.npz"
RANDOM = DATA.with_name("overcooked_v2_random.npz")  # episodes that start amid a game
EVERY, RADIUS = 25, 2
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "all": {
        "dynamics": "manual",
        "penalty": True,
        "resample": True,
        "show_delivery": True,
        "view_radius": RADIUS,
    },
    "random": {"random_reset": True},
    "random-manual": {"random_reset": True, "dynamics": "manual"},
    "relabel": {"relabel": ["onion", "tomato"]},
}
GROUPS = [(setting, agents) for setting in ("plain", "all") for agents in (2, 1)]
STATES = ("cell", "facing", "held", "objects", "timer", "recipe", "delivered")
Episodes = dict[str, dict[str, np.ndarray]]  # by layout: arrays with episodes first


@functools.cache
def recorded(path: Path, setting: str, agents: int) -> Episodes:
    found: Episodes = {}
    with np.load(path) as data:
        for key in data.files:
            layout, played, name = key.split()
            if played == setting:
                found.setdefault(layout, {})[name] = data[key]
    return {name: one for name, one in found.items() if one["actions"].shape[2] == agents}


@functools.cache
def replay(path: Path, setting: str, agents: int) -> tuple[Kitchen, list[tuple[str, int]], Any]:
    """(kitchen, (layout, episode) of each row, what our kitchen made of the recorded actions)."""
    episodes = recorded(path, setting, agents)
    env = Kitchen([PREFIX + name for name in episodes], **OPTIONS[setting])
    rows = [(name, e) for name, one in episodes.items() for e in range(len(one["actions"]))]
    levels = [list(episodes).index(name) for name, _ in rows]
    first = env.reset(jax.random.key(0))
    batch = len(rows)
    start = jax.tree_util.tree_map(lambda leaf: jnp.stack([leaf] * batch, -1), first)
    recipes = np.stack([episodes[name]["recipe"][e] for name, e in rows], -1)
    actions = np.stack([episodes[name]["actions"][e] for name, e in rows], -1)
    opening = [opened(env, levels[b], episodes[name], e) for b, (name, e) in enumerate(rows)]
    start = dataclasses.replace(
        start,
        terrain=jnp.asarray(env.terrains[levels].T),
        level=jnp.asarray(levels, jnp.int16),
        **{name: jnp.asarray(np.stack([one[name] for one in opening], -1)) for name in opening[0]},
        asked=Asked(
            jnp.asarray(recipes[0]), jnp.zeros(batch, bool), names_seen(env, episodes, rows)
        ),
    )
    keys = jax.vmap(jax.random.key)(np.arange(batch))

    def step(state: Any, given: Any) -> Any:
        act, recipe = given
        after, outcome = env.batch_step(keys, state, act.astype(jnp.int32))
        drawn = after.asked.recipe
        # What is drawn anew is drawn by other random numbers: theirs is put in the place of ours.
        state = dataclasses.replace(after, asked=dataclasses.replace(after.asked, recipe=recipe))
        shaped = sum(outcome.terms[name] for name in env.shaped)
        return state, (state, drawn, outcome.reward, shaped)

    play = jax.jit(lambda s, given: jax.lax.scan(step, s, given)[1])
    states, drawn, reward, shaped = jax.device_get(play(start, (actions, recipes[1:])))
    states = jax.tree_util.tree_map(
        lambda a, b: np.concatenate([np.asarray(a)[None], b]), start, states
    )
    drawn = np.concatenate([recipes[:1], drawn])
    return env, rows, (states, drawn, reward, shaped)


def names_seen(env: Kitchen, episodes: Episodes, rows: list[tuple[str, int]]) -> Any:
    """u8[chefs, kinds, rows], of recordings with exchanged names; else None."""
    if not env.relabel:
        return None
    usual = np.tile(np.arange(env.kinds, dtype=np.uint8), (env.num_agents, 1))
    found = []
    for name, e in rows:
        theirs = episodes[name]["seen_as"][e, 0]  # of the kinds that this layout knows
        found.append(np.concatenate([theirs, usual[:, theirs.shape[1] :]], 1))
    return jnp.asarray(np.stack(found, -1))


def opened(env: Kitchen, level: int, one: dict[str, np.ndarray], e: int) -> dict[str, np.ndarray]:
    """What an episode starts with, in the cell numbers of a kitchen of several layouts."""
    height, width = env.levels[level].terrain.shape
    cell = one["cell"][e, 0].astype(int)
    inside = (np.arange(height)[:, None] * env.width + np.arange(width)).ravel()
    found = {"objects": np.zeros(env.terrains.shape[1], np.uint16)}
    found["timer"] = np.zeros(env.terrains.shape[1], np.uint8)
    for name, values in found.items():
        values[inside] = one[name][e, 0]
    found["position"] = (cell // width * env.width + cell % width).astype(np.uint8)
    if not env.random_starts:
        assert (found["position"] == env.start_cells[level]).all()
    return found | {"facing": one["facing"][e, 0], "held": one["held"][e, 0]}


def ours(env: Kitchen, level: int, states: Any, drawn: np.ndarray, b: int) -> dict[str, np.ndarray]:
    """One episode of ours as it would be recorded, in the cell numbers of its own layout."""
    height, width = env.levels[level].terrain.shape
    cell = states.position[..., b].astype(int)
    inside = np.arange(height)[:, None] * env.width + np.arange(width)
    return {
        "cell": cell // env.width * width + cell % env.width,
        "facing": states.facing[..., b],
        "held": states.held[..., b],
        "objects": states.objects[:, inside.ravel(), b],
        "timer": states.timer[:, inside.ravel(), b],
        "recipe": drawn[:, b],
        "delivered": states.asked.delivered[..., b],
    }


def compare(path: Path, setting: str, agents: int) -> Iterator[tuple[str, int, int]]:
    """Assert that an episode is the same; then yield (layout, steps, soups asked for)."""
    env, rows, (states, drawn, reward, shaped) = replay(path, setting, agents)
    for b, (name, e) in enumerate(rows):
        theirs = recorded(path, setting, agents)[name]
        mine = ours(env, int(states.level[0, b]), states, drawn, b)
        changed = np.zeros(len(mine["recipe"]), bool)
        for field in STATES:
            want = theirs[field][e]
            if field == "recipe" and env.resample:
                changed = mine["recipe"] != want
                assert not (changed & ~theirs["delivered"][e]).any(), (name, "recipe")
                known = {int(code) for code in env.recipes[int(states.level[0, b])]}
                assert set(mine["recipe"].tolist()) <= known
                continue
            wrong = np.flatnonzero((mine[field] != want).reshape(len(want), -1).any(1))
            assert not wrong.size, (name, e, field, int(wrong[0]))
        np.testing.assert_array_equal(
            reward[..., b], np.repeat(theirs["reward"][e][:, None], agents, 1), err_msg=name
        )
        np.testing.assert_array_equal(shaped[..., b], theirs["shaped"][e], err_msg=name)
        yield name, len(reward), int(theirs["delivered"][e].sum())


@pytest.mark.parametrize(("setting", "agents"), GROUPS)
def test_every_step_is_theirs(setting, agents):
    done = list(compare(DATA, setting, agents))
    assert len(done) == sum((text.count("2") > 0) == (agents == 2) for text, _ in LAYOUTS.values())
    assert all(steps >= 200 for _, steps, _ in done)
    # Two of their layouts are hard for chefs that draw lots.
    assert sum(soups > 0 for _, _, soups in done) >= len(done) - 3


@pytest.mark.parametrize("setting", ["random", "random-manual"])
def test_episodes_that_start_amid_a_game(setting):
    """Each step is theirs, from their first states on; and ours are drawn with their chances."""
    done = list(compare(RANDOM, setting, 2))
    assert sum(soups for _, _, soups in done) > 3
    assert check_observations(RANDOM, setting, 2) > 100
    full = 0
    for name, one in recorded(RANDOM, setting, 2).items():
        env = Kitchen(PREFIX + name, **OPTIONS[setting])
        keys = jax.random.split(jax.random.key(1), len(one["starts-held"]))
        mine = jax.device_get(jax.jit(jax.vmap(env.reset))(keys))
        terrain = env.terrains[0]
        assert not mine.objects[:, (terrain != COUNTER) & (terrain != POT)].any()
        pots = {
            "objects": (one["starts-objects"], mine.objects, terrain == POT),
            "timer": (one["starts-timer"], mine.timer, terrain == POT),
        }
        full += int((contents(mine.objects[:, terrain == POT]) == 3).sum())
        everywhere = np.ones(2, bool)
        for theirs, own, where in (
            (one["starts-held"], mine.held, everywhere),
            (one["starts-objects"], mine.objects, terrain == COUNTER),
            *pots.values(),
        ):
            theirs, own = theirs[:, where].ravel(), own[:, where].ravel()
            assert set(own.tolist()) <= set(theirs.tolist()) or len(theirs) < 10_000
            for code in np.unique(theirs):
                chance, found = (theirs == code).mean(), (own == code).mean()
                # Five standard errors of the difference of two shares, and a little.
                error = np.sqrt(2 * chance * (1 - chance) / len(theirs))
                assert abs(chance - found) < 5 * error + 1e-3, (name, code, chance, found)
    assert full > 100


def test_chefs_see_exchanged_names_as_theirs():
    for name in ("grounded_coord_simple", "test_time_wide"):
        one = recorded(RANDOM, "relabel", 2)[name]
        assert (one["seen_as"][:, 0, :, :2] == [1, 0]).any()  # someone's are exchanged
    assert list(compare(RANDOM, "relabel", 2))
    assert check_observations(RANDOM, "relabel", 2) > 50


def contents(things: np.ndarray) -> np.ndarray:
    """How many ingredients are in pots."""
    return sum(things.astype(int) >> shift & 3 for shift in SHIFTS)


@pytest.mark.parametrize("setting", ["plain", "all"])
def test_all_of_the_game_is_recorded(setting):
    rewards, shaped = [], set()
    for agents in (1, 2):
        for one in recorded(DATA, setting, agents).values():
            rewards += one["reward"].ravel().tolist()
            shaped |= set(one["shaped"].ravel().tolist())
    assert rewards.count(20) > 20 and rewards.count(-5) > 3
    assert (rewards.count(-20) > 3) == (setting == "all")
    assert shaped == {0, 3, 5}


# ---- observations --------------------------------------------------------------------------------


def channels(env: Kitchen, kinds: int) -> list[int]:
    """Where their channels for so many kinds of ingredients are among those of a kitchen that has
    more kinds, as it holds several layouts."""
    k, spare = env.kinds, env.kinds - kinds
    sizes = [5, (k + 2), 5, (k + 2), 6, k, (k + 2), (k + 2), 1 + env.show_delivery]
    per_kind = [False, True, False, True, False, True, True, True, False]
    found, at = [], 0
    for size, some in zip(sizes, per_kind, strict=True):
        found += range(at, at + size - spare * some)
        at += size
    return found


def cropped(env: Kitchen, seen: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """u8[N, C, 2r + 1, 2r + 1]: the part about each chef, 0 where there is no kitchen."""
    pads = ((0, 0), (0, 0), (RADIUS, RADIUS), (RADIUS, RADIUS))
    seen, found = np.pad(seen, pads), []
    for i, cell in enumerate(cells.tolist()):
        y, x = divmod(cell, env.width)
        found.append(seen[i, :, y : y + 2 * RADIUS + 1, x : x + 2 * RADIUS + 1])
    return np.stack(found)


def check_observations(path: Path, setting: str, agents: int) -> int:
    env, rows, (states, _, _, _) = replay(path, setting, agents)
    observe, compared = jax.jit(env.batch_observe), 0
    for k, t in enumerate(range(0, len(states.time), EVERY)):
        now = jax.tree_util.tree_map(lambda leaf, t=t: leaf[t], states)
        seen = np.asarray(observe(now))
        for b, (name, e) in enumerate(rows):
            theirs = recorded(path, setting, agents)[name]["observations"][e, k]
            extra = 18 if env.show_delivery else 17
            kinds = (theirs.shape[1] - extra - 8) // 5
            mine = seen[:, channels(env, kinds)][..., b]
            spare = np.delete(seen[..., b], channels(env, kinds), axis=1)
            assert not spare.any()
            if env.view_radius is None:
                height, width = env.levels[int(now.level[b])].terrain.shape
                assert not mine[..., height:, :].any() and not mine[..., width:].any()
                mine = mine[..., :height, :width]
            else:
                around = cropped(env, mine, now.position[:, b])
                assert around.sum() == mine.sum()  # nothing is seen beyond it
                mine = around
            np.testing.assert_array_equal(mine, theirs, err_msg=f"{name} {t}")
            compared += agents
    return compared


@pytest.mark.parametrize(("setting", "agents"), GROUPS)
def test_observations_are_theirs(setting, agents):
    assert check_observations(DATA, setting, agents) >= 11 * agents


@pytest.mark.parametrize("layout", ["grounded_coord_simple", "test_time_wide"])
def test_the_grid_of_one_layout_has_their_channels(layout):
    """Alone, a layout has as many kinds of ingredients as theirs, in the same order."""
    one = recorded(DATA, "plain", 2)[layout]
    env = Kitchen(layout)
    state = env.reset(jax.random.key(0))
    state = dataclasses.replace(
        state, asked=dataclasses.replace(state.asked, recipe=jnp.asarray(one["recipe"][0, 0]))
    )
    np.testing.assert_array_equal(env.observe(state), one["observations"][0, 0])


if __name__ == "__main__":
    total, soups, layouts, seen = 0, 0, set(), 0
    for group in GROUPS:
        for name, steps, served in compare(Path(sys.argv[1]), *group):
            total, soups = total + steps, soups + served
            layouts.add(name)
        seen += check_observations(Path(sys.argv[1]), *group)
    print(f"{total} steps in {len(layouts)} layouts agree, {soups} soups asked for served;")
    print(f"{seen} observations agree")
