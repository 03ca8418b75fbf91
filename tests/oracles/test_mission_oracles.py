"""Level-based foraging beside lbforaging 2.0.0: states, rewards, ends, legal actions and
observations of recorded steps (`record_foraging.py`), each played again from the state before it.

    python tests/oracles/test_mission_oracles.py FILE    # a longer recording
"""

import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import manyhands
from manyhands.envs.mission.state import MissionState

FILE = Path(__file__).parent / "data" / "foraging.npz"
QUICK = ("2s-8x8-2p-2f-coop", "7x7-9p-4f")


def tasks(path: Path) -> list[str]:
    return list(dict.fromkeys(name.split(".")[0] for name in np.load(path)))


def last(values: np.ndarray, dtype: type) -> np.ndarray:
    """With the axis of steps last."""
    return np.moveaxis(values, 0, -1).astype(dtype)


def compare(path: Path, task: str) -> int:
    """Play all steps of a task again, in one batch; how many there are."""
    found = {
        name.split(".")[1]: values
        for name, values in np.load(path).items()
        if name.split(".")[0] == task
    }
    env = manyhands.make("mission", scenario=f"foraging-{task}")
    cells, position = last(found["food_cell"], np.int8), last(found["position"], np.int8)
    state = MissionState(
        row=position[:, 0],
        column=position[:, 1],
        level=last(found["level"], np.int8),
        food_row=cells[:, 0],
        food_column=cells[:, 1],
        food_level=last(found["food"], np.int8),
        spawned=last(found["spawned"], np.int16),
        time=last(found["time"], np.int16),
        recent=np.zeros(position[:, 0].shape, np.uint8),
    )
    actions = last(found["action"], np.int32)

    @jax.jit
    def play(state, actions):
        after, outcome = env.step(None, state, actions)
        return after, outcome, env.observe(state), env.legal(state)

    after, outcome, seen, legal = play(state, actions)
    position = last(found["next_position"], np.int8)
    np.testing.assert_array_equal(after.row, position[:, 0])
    np.testing.assert_array_equal(after.column, position[:, 1])
    np.testing.assert_array_equal(after.food_level, last(found["next_food"], np.int8))
    np.testing.assert_array_equal(seen, last(found["seen"], np.int8))
    np.testing.assert_array_equal(legal, last(found["legal"], bool))
    np.testing.assert_allclose(outcome.reward, last(found["reward"], float), rtol=1e-6)
    np.testing.assert_array_equal((outcome.terminated | outcome.truncated)[0], found["done"])
    if "grid" in found:
        planes = manyhands.make("mission", scenario=f"foraging-{task}", observation="grid")
        seen = jax.jit(planes.observe)(state)
        np.testing.assert_array_equal(seen, last(found["grid"], np.int8))
    return len(found["action"])


@pytest.mark.parametrize(
    "task",
    [pytest.param(task, marks=[pytest.mark.slow] * (task not in QUICK)) for task in tasks(FILE)],
)
def test_foraging_is_lbforaging(task):
    assert compare(FILE, task) >= 100


def test_random_play_of_the_oracle_loads_food():
    found = np.load(FILE)
    assert sum((found[name] > 0).sum() for name in found if name.endswith(".reward")) > 50


if __name__ == "__main__":
    path = Path(sys.argv[1])
    for task in tasks(path):
        print(f"{task}: {compare(path, task)} steps are equal", flush=True)
