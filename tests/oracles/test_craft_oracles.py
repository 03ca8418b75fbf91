"""CraftWorld beside the games it follows, whose play `record_craftworld.py` has recorded: crafter
1.8.3 and craftax 1.6.1, each in games without creatures, and 200 generated worlds of each."""

import gzip
import json
from pathlib import Path

import jax
import numpy as np
import pytest

from manyhands.core.env import episode_key
from manyhands.envs.craftworld import CraftWorld
from manyhands.envs.craftworld import rules as rl

DATA = Path(__file__).parent / "data"
PEERS = {"crafter": "crafter", "craftax_classic": "craftax"}


@pytest.fixture(scope="module", params=PEERS)
def recorded(request):
    content = gzip.decompress((DATA / f"{PEERS[request.param]}.json.gz").read_bytes())
    return request.param, json.loads(content)


def test_games_go_as_in_the_original(recorded):
    """Every step of three games: place, facing, sleep, inventory, vitals, reward, number of
    achievements, number of plants; and the map at the end."""
    rules, content = recorded
    step = None
    assert len(content["games"]) == 3
    for game in content["games"]:
        rows = [list(row) for row in game["map"]]
        middle = len(rows) // 2
        rows[middle][middle] = "0"
        start = {"inventory": {item: count for item, count in game["start"].items() if count}}
        env = CraftWorld(rules, map="\n".join(map("".join, rows)), start=start)
        step = step or jax.jit(env.step)
        state = env.reset(episode_key(0))
        assert len(game["track"]) > 60
        for t, (action, expected) in enumerate(zip(game["actions"], game["track"], strict=False)):
            key = jax.random.fold_in(jax.random.key(0), t)
            state, outcome = step(key, state, np.array([action], np.int32))
            place, pockets, vitals, reward, achievements, plants = expected
            now = jax.device_get(state)
            seen = [*now.position[0].tolist(), int(now.facing[0]), int(now.asleep[0])]
            assert seen == place, (game["name"], t)
            assert now.inventory[0].tolist() == pockets, (game["name"], t)
            assert now.vitals[0].tolist() == vitals, (game["name"], t)
            assert abs(float(outcome.reward[0]) - reward) < 1e-5, (game["name"], t)
            assert int(now.achievements.sum()) == achievements, (game["name"], t)
            assert int((now.plant_age > 0).sum()) == plants, (game["name"], t)
        final = np.array(rl.MATERIALS)[now.map].tolist()
        assert final == game["final"]


def test_generated_worlds_are_like_the_original_ones(recorded):
    """Shares of materials, and the distance from the start to the nearest tree, water, coal, iron
    and diamond, within 20 %."""
    rules, content = recorded
    theirs = content["figures"]
    env = CraftWorld(rules)
    keys = jax.random.split(jax.random.key(2), (4, 50))
    reset = jax.jit(jax.vmap(env.reset))
    states = [jax.device_get(reset(part)) for part in keys]
    maps = np.concatenate([state.map for state in states])
    assert len(maps) == theirs["worlds"] == 200
    names = np.array(rl.MATERIALS)
    for name, share in theirs["shares"].items():
        ours = (names[maps] == name).mean()
        assert abs(ours - share) <= 0.2 * share, (name, ours, share)
    rows, columns = np.indices(maps.shape[1:])
    far = np.abs(rows - maps.shape[1] // 2) + np.abs(columns - maps.shape[2] // 2)
    for name, expected in theirs["nearest"].items():
        nearest = [far[m].min() for m in maps == rl.MATERIALS.index(name) if m.any()]
        assert abs(len(nearest) - expected["worlds"]) <= 0.2 * expected["worlds"], name
        assert abs(np.mean(nearest) - expected["mean"]) <= 0.2 * expected["mean"], (
            name,
            np.mean(nearest),
            expected["mean"],
        )
    for name, count in theirs.get("creatures", {}).items():
        kind = 1 + rl.CREATURES.index(name)
        ours = np.mean([(state.kind == kind).sum(1) for state in states])
        assert abs(ours - count) <= 0.2 * count, (name, ours, count)
