"""Record games of lbforaging 2.0.0, which the tests of missions compare with.

    pip install lbforaging==2.0.0
    python tests/oracles/record_foraging.py --steps 150 --output tests/oracles/data/foraging.npz

Players act at random, and load more often beside food. Every array has a leading axis of steps; `.`
separates the task from the field.
"""

import argparse

import gymnasium
import lbforaging  # noqa: F401  # registers the tasks
import numpy as np

TASKS = (
    "5x5-2p-1f-coop",
    "8x8-2p-2f-coop",
    "2s-8x8-2p-2f-coop",
    "8x8-2p-2f",
    "10x10-3p-3f",
    "2s-10x10-3p-3f",
    "15x15-3p-4f",
    "15x15-4p-3f",
    "2s-15x15-4p-3f",
    "19x19-5p-4f-coop",
    "7x7-9p-4f",
    "2s-6x6-9p-3f-coop",
)


def record(task: str, steps: int, seed: int, grid: bool) -> dict[str, np.ndarray]:
    """Fields of `steps` steps, one after the other, of as many episodes as it takes."""
    env = gymnasium.make(f"Foraging-{task}-v3", disable_env_checker=True).unwrapped
    if grid:  # its space has the wrong shape, and an assertion that uses it fails
        env._grid_observation = True
        env.observation_space = [Anything()] * len(env.players)
    draws = np.random.default_rng(seed)
    rows: list[dict[str, np.ndarray]] = []
    fresh, episode = True, 0
    while len(rows) < steps:
        if fresh:
            env.reset(seed=seed * 1_000 + episode)
            cells, time, episode = np.argwhere(env.field > 0), 0, episode + 1
            spawned = env.field.sum()
            if len(cells) < env.max_num_food:  # there was no room for all
                continue
        before = state(env, cells)
        seen = np.stack(env._make_gym_obs())
        legal = np.array(
            [[a in env._valid_actions[p] for a in type(env).action_set] for p in env.players]
        )
        loads = draws.random(len(env.players)) < 0.4
        actions = np.where(loads & legal[:, -1], 5, draws.integers(0, 6, len(env.players)))
        _, rewards, done, _, _ = env.step(actions.tolist())
        rows.append(
            {
                **before,
                "food_cell": cells,
                "spawned": np.array(spawned),
                "time": np.array(time),
                "seen": seen,
                "legal": np.concatenate([np.ones((len(legal), 1), bool), legal], axis=1),
                "action": actions,
                "reward": np.array(rewards, np.float64),
                "done": np.array(done),
                **{f"next_{name}": value for name, value in state(env, cells).items()},
            }
        )
        time, fresh = time + 1, done
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


class Anything:
    def contains(self, _) -> bool:
        return True


def state(env, cells: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "position": np.array([player.position for player in env.players]),
        "level": np.array([player.level for player in env.players]),
        "food": env.field[cells[:, 0], cells[:, 1]].copy(),
    }


def small(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f" and (values == np.round(values)).all() and values.max() < 100:
        return values.astype(np.int8)
    return values.astype(np.int16) if values.dtype.kind == "i" else values


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=150, help="of each task")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", required=True)
    options = parser.parse_args()
    found = {}
    for task in TASKS:
        fields = record(task, options.steps, options.seed, grid=False)
        found |= {f"{task}.{name}": small(values) for name, values in fields.items()}
        if task.startswith("2s-"):
            planes = record(task, options.steps, options.seed, grid=True)["seen"]
            found[f"{task}.grid"] = small(planes)
    np.savez_compressed(options.output, **found)


if __name__ == "__main__":
    main()
