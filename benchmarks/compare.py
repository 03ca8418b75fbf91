"""How fast this checkout is beside an earlier commit of it, in one run.

    python benchmarks/compare.py --against COMMIT

For each environment, the packed single step (random legal actions) and batched rollouts with random
players, of both. Three processes take turns, one measuring at a time: this
checkout, the other one, and this checkout once more. What the first and the last differ by is the
noise of the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from common import RESULTS, ROOT, Worker, is_worker, machine, report, save, serve, summary

# Id (with what a wrapper wraps in `env`), configuration, and how many steps a rollout makes in one
# call: few where a step of a wrapper is many of the game.
ENVIRONMENTS: dict[str, tuple[dict[str, Any], int]] = {
    "kitchen": ({"id": "kitchen"}, 16),
    "kuhn_poker": ({"id": "kuhn_poker"}, 64),
    "leduc_holdem": ({"id": "leduc_holdem"}, 64),
    "tic_tac_toe": ({"id": "tic_tac_toe"}, 64),
    "connect_four": ({"id": "connect_four"}, 64),
    "negotiation": ({"id": "negotiation"}, 16),
    "negotiation commons": ({"id": "negotiation", "config": {"scenario": "commons"}}, 16),
    "volleyball 1v1": ({"id": "volleyball"}, 8),
    "volleyball 3v3": ({"id": "volleyball", "config": {"task": "3v3"}}, 4),
    "volleyball 6v6": ({"id": "volleyball", "config": {"task": "6v6"}}, 4),
    "volleyball 1v1 mujoco": ({"id": "volleyball", "config": {"physics": "mujoco"}}, 4),
    "volleyball 3v3 mujoco": (
        {"id": "volleyball", "config": {"task": "3v3", "physics": "mujoco"}},
        4,
    ),
    "volleyball 6v6 mujoco": (
        {"id": "volleyball", "config": {"task": "6v6", "physics": "mujoco"}},
        4,
    ),
    "craftworld": ({"id": "craftworld"}, 16),
    "craftworld crafter, 2 players": (
        {"id": "craftworld", "config": {"rules": "crafter", "players": 2}},
        16,
    ),
    "mission foraging": ({"id": "mission"}, 64),
    "mission warehouse": (
        {"id": "mission", "config": {"scenario": "warehouse-tiny-4ag"}},
        64,
    ),
    "cuisine": ({"id": "cuisine"}, 64),
    "drones": ({"id": "drones"}, 64),
    "home": ({"id": "home"}, 64),
    "home house, 4 players": ({"id": "home", "config": {"task": "house", "players": 4}}, 16),
    "chat kitchen": ({"id": "chat", "env": {"id": "kitchen"}}, 16),
    "skills kitchen": ({"id": "skills", "env": {"id": "kitchen"}}, 4),
    "events volleyball": ({"id": "events", "env": {"id": "volleyball"}}, 1),
}
MEASURES = {"step": "us a step", "rollout": "env steps a second"}
WHO = ("now", "before", "again")  # "again" is a second process of "now"


# ---- one checkout: the worker --------------------------------------------------------------------


def worker() -> None:
    """Uses nothing of the package that an earlier commit may lack or call otherwise."""
    import jax
    import numpy as np
    from gymnasium.spaces import Box, Discrete

    import manyhands
    from manyhands.core.pack import stepper

    runs: dict[str, Any] = {}

    def make(spec: dict[str, Any]) -> Any:
        inner = {"env": make(spec["env"])} if "env" in spec else {}
        return manyhands.make(spec["id"], **spec.get("config", {}), **inner)

    def about() -> dict[str, Any]:
        device = jax.local_devices()[0]
        return {
            "package": str(Path(manyhands.__file__).parents[1]),
            "jax": jax.__version__,
            "platform": device.platform,
        }

    def has(spec: dict[str, Any]) -> bool:
        """Whether this checkout has the environment, with that configuration."""
        try:
            make(spec)
        except manyhands.ConfigError:
            return False
        return True

    def begin(spec: dict[str, Any], batch: int, steps: int) -> dict[str, Any]:
        """Compile an environment and forget the one before it; seconds for each measure."""
        runs.clear()
        jax.clear_caches()
        env = make(spec)
        seconds = {}
        for name, prepare in (("step", single), ("rollout", batched)):
            began = time.perf_counter()
            runs[name] = prepare(env, batch, steps)
            runs[name](time.perf_counter)
            seconds[name] = time.perf_counter() - began
        return seconds

    def single(env: Any, batch: int, steps: int) -> Any:
        """Plays on at random. Only the steps are timed; games are always new ones, so that steps
        which are remembered are looked up as often as they are in play."""
        step, rng, numbers = stepper(env), np.random.default_rng(0), itertools.count()
        space: Any = env.action_space
        dtype = jax.dtypes.canonicalize_dtype(space.dtype)
        at: dict[str, Any] = {}

        def choose(legal: np.ndarray) -> Any:
            if isinstance(space, Box):
                return rng.uniform(space.low, space.high)
            if isinstance(space, Discrete):
                return rng.choice(np.flatnonzero(legal)) if legal.any() else 0
            masks = np.split(legal, np.cumsum(space.nvec)[:-1])
            return [rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks]

        def run(clock: Callable[[], float]) -> tuple[int, float]:
            spent = 0.0
            for _ in range(50):
                if not at or at["frame"].over:
                    key = jax.random.key(np.uint32(next(numbers)))
                    at.update(frame=step.reset(key), time=0)
                    at["key"] = np.asarray(jax.random.key_data(key))
                rows = np.zeros((env.num_agents, *(space.shape or ())), dtype)
                for i in range(env.num_agents):
                    rows[i] = choose(np.asarray(at["frame"].legal[i]))
                begin = clock()
                frame = step.step(at["key"], at["time"], at["frame"], rows)
                spent += clock() - begin
                at.update(frame=frame, time=at["time"] + 1)
            return 50, spent

        return run

    def batched(env: Any, batch: int, steps: int) -> Any:
        key, carry = jax.random.key(0), None
        players: Any = "random"
        if not isinstance(env.action_space, Discrete):
            players = [players] * env.num_agents

        def run(clock: Callable[[], float]) -> tuple[int, float]:
            nonlocal carry
            begin = clock()
            found = manyhands.rollout(
                env, players, batch, steps, key, collect="statistics", carry=carry
            )
            carry = jax.block_until_ready(found.carry)
            return batch * steps, clock() - begin

        run(time.perf_counter)  # from a carry: as it will be measured
        return run

    def measure(name: str, seconds: float, clock: str) -> dict[str, Any]:
        now = time.process_time if clock == "cpu" else time.perf_counter
        count, spent = 0, 0.0
        while spent < seconds:
            more, took = runs[name](now)
            count, spent = count + more, spent + took
        done = count / spent
        return {"value": 1e6 / done if name == "step" else done}

    what = {"about": about, "has": has, "begin": begin, "measure": measure}
    serve(lambda ask, **request: what[ask](**request))


# ---- both: the parent ----------------------------------------------------------------------------


@contextlib.contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """A working tree of a commit, in a folder that is gone afterwards."""

    def git(*arguments: str, check: bool = True) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        if check and done.returncode:
            raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout.strip()

    whole = git("rev-parse", "--verify", f"{commit}^{{commit}}")
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / whole[:12]
        git("worktree", "add", "--quiet", "--detach", str(tree), whole)
        try:
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree), check=False)


def speedups(name: str, figures: dict[str, list[float]], other: str) -> list[float]:
    """How many times as fast "now" is as `other`, in each turn."""
    pairs = zip(figures["now"], figures[other], strict=True)
    return [b / a if name == "step" else a / b for a, b in pairs]


def noise(ratios: list[float]) -> float:
    """How far the speed of one and the same program is from itself: the median's distance from 1,
    or half of what lies between the quartiles, whichever is more."""
    spread = 0.0
    if len(ratios) > 1:
        low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
        spread = (high - low) / 2
    return max(abs(statistics.median(ratios) - 1), spread)


def row_of(environment: str, name: str, figures: dict[str, list[float]]) -> dict[str, Any]:
    best = min if name == "step" else max
    ratios, same = speedups(name, figures, "before"), speedups(name, figures, "again")
    return {
        "environment": environment,
        "measure": name,
        "unit": MEASURES[name],
        "speedup": statistics.median(ratios),
        "noise": noise(same),
        "spread": noise([ratio / statistics.median(ratios) for ratio in ratios]),
        **{who: summary(values, best) for who, values in figures.items()},
    }


def cells(row: dict[str, Any]) -> list[str]:
    digits = 1 if row["measure"] == "step" else 0
    verdict = ""
    if abs(row["speedup"] - 1) > 2 * max(row["noise"], row["spread"]):
        verdict = "faster" if row["speedup"] > 1 else "SLOWER"
    return [
        row["environment"],
        row["unit"],
        f"{row['before']['median']:,.{digits}f}",
        f"{row['now']['median']:,.{digits}f}",
        f"{row['speedup']:.2f}",
        f"{row['noise']:.2f}",
        f"{row['spread']:.2f}",
        verdict,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", required=True, metavar="COMMIT")
    parser.add_argument("--only", nargs="+", choices=tuple(ENVIRONMENTS), default=ENVIRONMENTS)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one repeat, at least")
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="cpu: processor time of the process, where the machine has other things to do",
    )
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--out", type=Path, help="by default results/compare-COMMIT.json")
    args = parser.parse_args()

    # Silences what a shared compilation cache says of this machine's features.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    where, rows, compiled = machine(), [], {}
    with checkout(args.against) as tree:
        commit = tree.name
        workers = {
            who: Worker(__file__, device="cpu", root=tree if who == "before" else ROOT)
            for who in WHO
        }
        for who, one in workers.items():
            found = one.ask(ask="about")
            wanted = tree if who == "before" else ROOT
            if Path(found["package"]).resolve() != wanted.resolve():
                raise SystemExit(f"{who!r} is to measure {wanted}, but loads {found['package']}")
            where |= {name: found[name] for name in ("jax", "platform")}
        for environment in args.only:
            spec, steps = ENVIRONMENTS[environment]
            if not workers["before"].ask(ask="has", spec=spec):
                print(f"{environment}: {commit} has no such environment", flush=True)
                continue
            compiled[environment] = {
                who: one.ask(ask="begin", spec=spec, batch=args.batch, steps=steps)
                for who, one in workers.items()
            }
            for name in MEASURES:
                figures: dict[str, list[float]] = {who: [] for who in WHO}
                for _ in range(args.repeats):
                    for who, one in workers.items():
                        answer = one.ask(
                            ask="measure", name=name, seconds=args.seconds, clock=args.clock
                        )
                        figures[who].append(answer["value"])
                rows.append(row_of(environment, name, figures))
                print("  ".join(cells(rows[-1])), flush=True)
        for one in workers.values():
            one.close()

    columns = ["", "", "before", "now", "speedup", "noise", "spread", ""]
    title = (
        f"against {commit}: {where['cpu']} ({where['cores']} cores), {args.clock} clock, medians"
    )
    report(title, columns, [cells(row) for row in rows])
    settings = {name: getattr(args, name) for name in ("repeats", "seconds", "clock", "batch")}
    save(
        args.out or RESULTS / f"compare-{commit}.json",
        benchmark="compare",
        against=commit,
        machine=where,
        settings=settings,
        seconds_to_begin=compiled,
        rows=rows,
    )


if __name__ == "__main__":
    worker() if is_worker() else main()
