"""Level-based foraging beside lbforaging 2.0.0, and warehouses beside rware 2.0.0: states, rewards,
ends, legal actions and observations of recorded steps (`record_foraging.py`,
`record_warehouse.py`), each played again from the state before it.

    python tests/oracles/test_mission_oracles.py FILE    # a longer recording
"""

import dataclasses
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import manyhands
from manyhands.envs.mission.state import MissionState
from manyhands.envs.mission.warehouse import rules
from manyhands.envs.mission.warehouse.state import WarehouseState

FILE = Path(__file__).parent / "data" / "foraging.npz"
QUICK = ("2s-8x8-2p-2f-coop", "7x7-9p-4f")
WAREHOUSES = Path(__file__).parent / "data" / "warehouse.npz"
QUICK_WAREHOUSES = ("tiny-10ag-hard", "1x3-8h-5ag-5req-twostage", "2s-small-4ag", "map")
# As in `record_warehouse.py`.
MAP = {
    "stages": ["drives", "loads", "deliveries"],
    "map": ["..g..x", ".xx.x.", ".xx...", "g..x.g"],
    "players": 6,
    "requests": 2,
    "inactivity": 9,
}


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


# ---- warehouses ----------------------------------------------------------------------------------


def compare_warehouse(path: Path, task: str) -> dict[str, int]:
    """Play all steps of a task again, in one batch; how many of what there are."""
    found = {
        name.rsplit(".", 1)[1]: values
        for name, values in np.load(path).items()
        if name.rsplit(".", 1)[0] == task
    }
    scenario = MAP if task == "map" else f"warehouse-{task}"
    env = manyhands.make("mission", scenario=scenario)

    def batch(values: np.ndarray) -> np.ndarray:
        return np.moveaxis(values.reshape(-1, *values.shape[2:]), 0, -1)

    names = (*(f.name for f in dataclasses.fields(WarehouseState) if f.name != "recent"),)
    none = np.zeros(batch(found["row"][:, :-1]).shape, np.uint8)
    state = WarehouseState(**{name: batch(found[name][:, :-1]) for name in names}, recent=none)
    actions, order = batch(found["action"]).astype(np.int32), batch(found["order"])
    draws = batch(found["draws"]).astype(np.int32)
    planes = manyhands.make("mission", scenario=scenario, observation="grid")

    @jax.jit
    def play(state, actions, order, draws):
        chance = rules.Chance(order, draws)
        after, results = rules.play(env, state, actions, chance)
        usual = rules.Chance(np.arange(env.players, dtype=np.int8)[:, None], draws)
        other, _ = rules.play(env, state, actions, usual)
        ties = (after.row != other.row) | (after.column != other.column)
        views = env.observe(after), planes.observe(after)
        return after, env.outcome(**results), views, ties.any(0)

    after, outcome, views, ties = play(state, actions, order, draws)
    for name in names:
        if name != "delivered" or task.endswith("twostage"):  # rware keeps it up only there
            wanted = batch(found[name][:, 1:])
            np.testing.assert_array_equal(getattr(after, name), wanted, err_msg=name)
    np.testing.assert_array_equal(views[0], batch(found["seen"][:, 1:]))
    np.testing.assert_array_equal(views[1], batch(found["planes"][:, 1:]))
    np.testing.assert_array_equal(outcome.reward * 2, batch(found["reward"]))
    np.testing.assert_array_equal(
        (outcome.terminated | outcome.truncated)[0], found["done"].ravel()
    )
    return {
        "steps": actions.shape[-1],
        "moves": int(((after.row != state.row) | (after.column != state.column)).sum()),
        "blocked": int(outcome.metrics["blocked"].sum()),
        "deliveries": int(outcome.metrics["deliveries"].sum()),
        "ties that networkx decided otherwise": int(ties.sum()),
    }


# Random play of 200 steps brings nothing to a goal in these.
NOTHING_DELIVERED = ("tiny-1ag", "medium-6ag-easy", "large-10ag")


def warehouses(path: Path) -> list[str]:
    return list(dict.fromkeys(name.rsplit(".", 1)[0] for name in np.load(path)))


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, marks=[pytest.mark.slow] * (task not in QUICK_WAREHOUSES))
        for task in warehouses(WAREHOUSES)
    ],
)
def test_warehouses_are_those_of_rware(task):
    found = compare_warehouse(WAREHOUSES, task)
    assert found["steps"] == 200 and found["moves"] > 40
    assert found["deliveries"] > 0 or task in NOTHING_DELIVERED


if __name__ == "__main__":
    path = Path(sys.argv[1])
    total: dict[str, int] = {}
    stored = any(name.endswith(".shelves") for name in np.load(path))
    for task in (warehouses if stored else tasks)(path):
        found = compare_warehouse(path, task) if stored else {"steps": compare(path, task)}
        total = {name: total.get(name, 0) + count for name, count in found.items()}
        print(f"{task}: {found['steps']} steps are equal", flush=True)
    print(total)
