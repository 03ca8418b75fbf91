"""Record steps of rware 2.0.0, which the tests of missions compare with.

    pip install rware==2.0.0
    python tests/oracles/record_warehouse.py --output tests/oracles/data/warehouse.npz
    python tests/oracles/record_warehouse.py --all --segments 36 --output FILE    # 104,400 steps

Each segment begins in a random state: robots anywhere or crowded together, before the goals or
elsewhere, with and without shelves. From there they act at random, `STEPS` steps. Arrays of states
have axes [segments, STEPS + 1], those of steps [segments, STEPS]; `.` separates the task from the
field. What rware leaves to chance is recorded: which shelf is requested next, as its number in
reading order among those that could be, and which of equally long queues goes first: that is up to
the order in which networkx lists cells.
"""

import argparse
import re

import networkx as nx
import numpy as np
from rware.warehouse import Direction, ImageLayer, RewardType, Warehouse

STEPS = 25
SIZES = {"tiny": (1, 3), "small": (2, 3), "medium": (2, 5), "large": (3, 5)}
REWARDS = {
    "indiv": RewardType.INDIVIDUAL,
    "global": RewardType.GLOBAL,
    "twostage": RewardType.TWO_STAGE,
}
TASKS = (
    "tiny-1ag",
    "tiny-2ag",
    "tiny-4ag-easy",
    "tiny-10ag-hard",
    "small-4ag-hard",
    "small-6ag",
    "medium-6ag-easy",
    "large-10ag",
    "2s-small-4ag",
    "1x3-8h-5ag-5req-twostage",
    "2x3-3h-8ag-9req-global",
)
MAP = ["..g..x", ".xx.x.", ".xx...", "g..x.g"]
LAYERS = ("SHELVES", "REQUESTS", "AGENTS", "GOALS", "ACCESSIBLE")


def every_task() -> list[str]:
    return [
        f"{size}-{players}ag{level}"
        for size in SIZES
        for players in range(1, 11)
        for level in ("", "-easy", "-hard")
        if players > 1 or level != "-hard"
    ]


def make(task: str) -> Warehouse:
    if task == "map":
        layout, shape, height, players, sight, reward = "\n".join(MAP), (1, 1), 1, 6, 1, "indiv"
        requests, inactivity = 2, 9
    else:
        found = re.fullmatch(
            r"(?:(\d)s-)?(\w+?)(?:-(\d+)h)?-(\d+)ag(?:-(easy|hard)|-(\d+)req)?(?:-(\w+))?", task
        )
        layout, inactivity = None, None
        name, players = found[2], int(found[4])
        shape = SIZES.get(name) or tuple(map(int, name.split("x")))
        sight, height, reward = int(found[1] or 1), int(found[3] or 8), found[7] or "indiv"
        requests = int(found[6] or {"easy": 2, "hard": 0.5}.get(found[5], 1) * players)
    env = Warehouse(
        shelf_columns=shape[1],
        column_height=height,
        shelf_rows=shape[0],
        n_agents=players,
        msg_bits=0,
        sensor_range=sight,
        request_queue_size=requests,
        max_inactivity_steps=inactivity,
        max_steps=500,
        reward_type=REWARDS[reward],
        layout=layout,
    )
    env.image_observation_layers = [ImageLayer[name] for name in LAYERS]
    env.image_observation_directional = True
    env.goals = Goals(env.goals)
    return env


class Goals(list):
    """That knows at which of them a loop is."""

    at = 0

    def __iter__(self):
        for number, goal in enumerate(list.__iter__(self)):
            self.at = number
            yield goal


class Draws:
    """The numbers of the environment, which remembers what shelf it drew after which delivery."""

    def __init__(self, env: Warehouse, seed: int):
        self.env, self.random = env, np.random.default_rng(seed)
        self.drawn = np.zeros(len(env.goals), int)

    def choice(self, candidates, **options):
        if options:
            return self.random.choice(candidates, **options)
        cells = [shelf.y * self.env.grid_size[1] + shelf.x for shelf in candidates]
        number = int(self.random.integers(len(candidates)))
        self.drawn[self.env.goals.at] = sum(cell < cells[number] for cell in cells)
        return candidates[number]


def scatter(env: Warehouse, random: np.random.Generator) -> None:
    """A random state."""
    env.reset()
    rows, columns = env.grid_size
    middle = random.integers((rows, columns)) if random.random() < 0.5 else env.goals[0][::-1]
    spread = random.choice([2, 3, 100])
    near = [
        (y, x)
        for y in range(rows)
        for x in range(columns)
        if abs(y - middle[0]) <= spread and abs(x - middle[1]) <= spread
    ]
    if len(near) < env.n_agents:
        near = [(y, x) for y in range(rows) for x in range(columns)]
    cells = [near[k] for k in random.permutation(len(near))[: env.n_agents]]
    standing = {(shelf.y, shelf.x): shelf for shelf in env.shelfs}
    wanted = set(env.request_queue)
    for agent, (y, x) in zip(env.agents, cells, strict=True):
        agent.y, agent.x, agent.dir = y, x, Direction(int(random.integers(4)))
    for agent in env.agents:
        if random.random() < 0.6:
            shelf = standing.pop((agent.y, agent.x), None)
            free = [s for at, s in standing.items() if at not in cells]
            asked = [s for s in free if s in wanted]
            if shelf is None and free:
                asked = asked if asked and random.random() < 0.6 else free
                shelf = asked[int(random.integers(len(asked)))]
                del standing[shelf.y, shelf.x]
            if shelf is not None:
                shelf.y, shelf.x, agent.carrying_shelf = agent.y, agent.x, shelf
                agent.has_delivered = bool(
                    env.reward_type == RewardType.TWO_STAGE and random.random() < 0.5
                )
    env._cur_steps = int(random.integers(500))
    env._recalc_grid()


def state(env: Warehouse) -> dict[str, np.ndarray]:
    shelves = np.zeros(env.grid_size, np.uint8)
    carried = {agent.carrying_shelf for agent in env.agents}
    for shelf in env.shelfs:
        if shelf not in carried:
            assert shelves[shelf.y, shelf.x] == 0
            shelves[shelf.y, shelf.x] = 1 + (shelf in env.request_queue)
    load = [
        0 if agent.carrying_shelf is None else 1 + (agent.carrying_shelf in env.request_queue)
        for agent in env.agents
    ]
    return {
        "row": np.array([agent.y for agent in env.agents], np.int8),
        "column": np.array([agent.x for agent in env.agents], np.int8),
        "heading": np.array([agent.dir.value for agent in env.agents], np.int8),
        "load": np.array(load, np.uint8),
        "delivered": np.array([agent.has_delivered for agent in env.agents]),
        "shelves": shelves.ravel(),
        "time": np.array(env._cur_steps, np.int16),
        "idle": np.array(env._cur_inactive_steps, np.int16),
        "seen": np.stack([env._make_obs(agent) for agent in env.agents]).astype(np.int8),
        "planes": np.stack([env._make_img_obs(agent) for agent in env.agents]).astype(np.int8),
    }


def record(task: str, segments: int, seed: int) -> dict[str, np.ndarray]:
    env = make(task)
    random = np.random.default_rng([seed, *task.encode()])
    env._np_random = Draws(env, int(random.integers(2**31)))
    paths: list[tuple[int, int]] = []
    longest = nx.algorithms.dag_longest_path

    def noted(graph):
        paths.extend(found := longest(graph))
        return found

    rows: list[dict[str, np.ndarray]] = []
    nx.algorithms.dag_longest_path = noted
    try:
        for _ in range(segments):
            scatter(env, random)
            states, steps = [state(env)], []
            for _ in range(STEPS):
                actions = random.choice(5, env.n_agents, p=[0.08, 0.5, 0.12, 0.12, 0.18])
                paths.clear()
                before = [(agent.x, agent.y) for agent in env.agents]
                _, rewards, done, _, _ = env.step(actions.tolist())
                last = [cell not in paths for cell in before]
                order = np.argsort(np.argsort(last, kind="stable"))
                states.append(state(env))
                steps.append(
                    {
                        "action": actions.astype(np.int8),
                        "reward": (2 * np.array(rewards)).astype(np.int8),  # in halves
                        "done": np.array(done),
                        "order": order.astype(np.int8),
                        "draws": env._np_random.drawn.astype(np.int16),
                    }
                )
            found = {name: np.stack([s[name] for s in states]) for name in states[0]}
            found |= {name: np.stack([s[name] for s in steps]) for name in steps[0]}
            rows.append(found)
    finally:
        nx.algorithms.dag_longest_path = longest
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--segments", type=int, default=8, help=f"of {STEPS} steps, of each task")
    parser.add_argument("--all", action="store_true", help="of the four sizes with 1 to 10 robots")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", required=True)
    options = parser.parse_args()
    found = {}
    for task in every_task() if options.all else (*TASKS, "map"):
        fields = record(task, options.segments, options.seed)
        found |= {f"{task}.{name}": values for name, values in fields.items()}
    np.savez_compressed(options.output, **found)


if __name__ == "__main__":
    main()
