"""The optimum, beside a search that knows nothing but the environment's own `step`."""

import dataclasses
import itertools

import jax
import numpy as np
import pytest

from manyhands.core.env import ConfigError
from manyhands.envs.kitchen.env import Kitchen
from manyhands.envs.kitchen.generator import GeneratorConfig, generate_levels
from manyhands.envs.kitchen.levels import load_level
from manyhands.envs.kitchen.planning import first_delivery

CHANGING = ("objects", "timer", "position", "facing", "held")
BATCH = 8192


class BruteForce:
    """Breadth-first search over all joint actions, every reachable state kept, nothing pruned."""

    def __init__(self, texts: list[str], **config):
        self.env = env = Kitchen(layout=texts, **config)
        self.step = jax.jit(lambda state, a: env.step(jax.random.key(0), state, a))
        keys = jax.random.split(jax.random.key(1), 40 * len(texts))
        states = jax.tree.map(np.asarray, jax.jit(jax.vmap(env.reset, out_axes=-1))(keys))
        first = [int(np.flatnonzero(states.level == k)[0]) for k in range(len(texts))]
        self.roots = [jax.tree.map(lambda leaf, i=i: leaf[..., i], states) for i in first]
        self.actions = np.array(list(itertools.product(range(6), repeat=env.num_agents))).T

    def first_delivery(self, level: int) -> int:
        root, moves = self.roots[level], self.actions.shape[1]
        sizes = np.cumsum([getattr(root, name).size for name in CHANGING])[:-1]
        per = BATCH // moves
        # Positions, facings and so on as one column of bytes; a state is known by its bytes.
        layer = np.concatenate([getattr(root, name) for name in CHANGING])[:, None]
        whole = jax.tree.map(lambda leaf: np.repeat(leaf[..., None], per * moves, -1), root)
        seen = {layer.tobytes()}
        for step in range(1, 200):
            found = []
            for at in range(0, layer.shape[1], per):
                some = layer[:, at : at + per]
                real = some.shape[1] * moves
                some = np.pad(some, ((0, 0), (0, per - some.shape[1])), mode="edge")
                parts = np.split(np.repeat(some, moves, 1), sizes)
                states = dataclasses.replace(whole, **dict(zip(CHANGING, parts, strict=True)))
                after, outcome = self.step(states, np.tile(self.actions, per))
                if (np.asarray(outcome.terms["delivery"])[0, :real] > 0).any():
                    return step
                rows = np.concatenate([getattr(after, name) for name in CHANGING])[:, :real].T
                found += np.unique(np.ascontiguousarray(rows).view(f"V{rows.shape[1]}")).tolist()
            fresh = set(found) - seen
            assert fresh, "nothing can be delivered"
            seen |= fresh
            layer = np.frombuffer(b"".join(sorted(fresh)), np.uint8).reshape(len(fresh), -1).T
        raise AssertionError("no delivery in 200 steps")


@pytest.mark.parametrize(
    "chefs, dynamics, rules, width, count, seed",
    [
        (1, "classic", {"times": 4}, (4, 5), 4, 11),
        (1, "manual", {"orders": [(1, 1), (0, 2)], "times": 2}, (4, 5), 4, 11),
        (2, "manual", {"orders": [(1, 0)], "times": 1}, 4, 2, 11),
        pytest.param(1, "classic", {"times": 6}, (4, 5), 25, 1, marks=pytest.mark.slow),
        pytest.param(
            1, "manual", {"orders": [(2, 1)], "times": 3}, (4, 5), 25, 2, marks=pytest.mark.slow
        ),
        pytest.param(2, "manual", {"orders": [(1, 0)]}, 4, 5, 3, marks=pytest.mark.slow),
    ],
)
def test_agrees_with_brute_force(chefs, dynamics, rules, width, count, seed):
    levels = generate_levels(
        GeneratorConfig(
            width=width,
            height=4,
            chefs=chefs,
            tomatoes=int(rules.get("orders", [(3, 0)])[0][1] > 0),
            dishes=(1, 2),
            pots=1,
            servings=(1, 2),
            openness=(0.4, 1.0),
        ),
        count,
        seed=seed,
        rules=rules,
    )
    brute_force = BruteForce([level.text() for level in levels], dynamics=dynamics, **rules)
    for i, level in enumerate(levels):
        found = first_delivery(level, dynamics)
        assert found.exact and found.lower == brute_force.first_delivery(i), level.text()


def test_a_dish_is_fetched_early_when_cooking_is_short():
    # Found by brute force: 16 steps, only if a dish is there before the pot is loaded.
    level = load_level("XXPX\nD 1X\nX2 S\nXOXX", times=1)
    assert first_delivery(level).lower == first_delivery(level).upper == 16


@pytest.mark.parametrize(
    "name, steps",
    [
        ("cramped_room", 33),
        ("asymmetric_advantages", 31),
        ("coordination_ring", 39),
        ("forced_coordination", 39),
        ("counter_circuit", 40),
    ],
)
def test_classics(name, steps):
    found = first_delivery(load_level(name))
    assert found.exact and found.upper == steps


def test_bounds_when_effort_is_short_or_chefs_are_many():
    level = load_level("coordination_ring")
    found = first_delivery(level, effort=0)
    assert found.lower <= 39 <= found.upper
    many = first_delivery(load_level("cramped_room", chefs=3), effort=20_000)
    assert many.lower <= many.upper and many.lower <= 33


def test_dynamics():
    level = load_level("cramped_room", orders=["onion"])
    assert first_delivery(level, "manual", effort=50_000).upper < 33
    with pytest.raises(ConfigError, match="classic dynamics"):
        first_delivery(level)
    with pytest.raises(ConfigError, match="dynamics is"):
        first_delivery(level, "modern")
