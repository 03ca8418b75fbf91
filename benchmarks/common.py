"""What the benchmarks share: workers in processes of their own, timing, the machine, the report.

Everything that is measured runs in a worker: a script that builds what it is asked for and then
waits. The parent lets the workers run in turns (A, B, C, A, B, C, ...), one at a time, so that a
noisy moment of the machine hits all of them alike. Workers of other packages run in virtual
environments of their own, made under `.cache/peers/` when first needed; this file therefore
imports nothing but the standard library at its top.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results"
Slot = tuple[str, str, Any]  # what is measured: by whom, what, and on which size or layout
# What JaxMARL calls our kitchens, where it differs.
SHORT = {"asymmetric_advantages": "asymm_advantages", "coordination_ring": "coord_ring"}
SHORT |= {"forced_coordination": "forced_coord", "counter_circuit_o_1order": "counter_circuit"}
PEERS = {
    "jaxmarl": ("jaxmarl==0.2.0", "jax==0.10.1", "jaxlib==0.10.1"),
    "open_spiel": ("open_spiel==2.0.2", "numpy==2.4.6", "scipy==1.17.1"),
    # What its IPPO baseline imports; the baseline itself is no part of the package (learning.py).
    "jaxmarl_ippo": (
        "jaxmarl==0.2.0",
        "jax==0.10.1",
        "jaxlib==0.10.1",
        "flax==0.12.8",
        "optax==0.2.8",
        "distrax==0.1.9",
        "hydra-core==1.3.8",
        "omegaconf==2.3.1",
    ),
    "craftax": ("craftax==1.6.1", "jax==0.10.1", "jaxlib==0.10.1"),
    "crafter": ("crafter==1.8.3", "numpy==2.4.6"),
    # It needs SciPy without saying so, and a NumPy older than 2.
    "overcooked_ai": ("overcooked-ai==1.1.0", "numpy==1.26.4", "scipy==1.15.3"),
    "lbforaging": ("lbforaging==2.0.0", "numpy==2.4.6"),
    "rware": ("rware==2.0.0", "numpy==2.4.6"),
    "jumanji": ("jumanji==1.1.2", "jax==0.10.1", "jaxlib==0.10.1"),
    "pgx": ("pgx==2.6.0", "jax==0.10.1", "jaxlib==0.10.1"),
    "textarena": ("textarena==0.7.4",),
    # Newer releases of MuJoCo than this one have no MJX yet.
    "mjx": ("mujoco-mjx==3.17.0", "mujoco==3.17.0", "jax==0.10.1", "jaxlib==0.10.1"),
    "pettingzoo": ("pettingzoo==1.27.0", "pygame-ce==2.5.8", "rlcard==1.2.0"),
}


# ---- workers -------------------------------------------------------------------------------------


def peer_python(name: str) -> Path:
    """The interpreter of a peer's virtual environment, which is made if it is missing."""
    home = ROOT / ".cache" / "peers" / name
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = home / "ready"
    wanted = "\n".join(PEERS[name])
    if not ready.exists() or ready.read_text() != wanted:
        print(f"installing {' '.join(PEERS[name])} into {home}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *PEERS[name]]
        subprocess.run(install, check=True)
        ready.write_text(wanted)
    return python


class Worker:
    """A script in a process of its own, that answers requests (see `serve`)."""

    def __init__(
        self,
        script: str,
        python: Path | str = sys.executable,
        device: str | None = None,
        cpu_devices: int = 1,
        root: Path = ROOT,
    ):
        """`root` is the checkout whose `manyhands` it imports."""
        environment = dict(os.environ, XLA_PYTHON_CLIENT_PREALLOCATE="false")
        kept = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = os.pathsep.join([str(root), *([kept] if kept else [])])
        environment["JAX_NUM_CPU_DEVICES"] = str(cpu_devices)
        if device is not None:
            # JAX knows NVIDIA's and AMD's devices by their platforms' names.
            environment["JAX_PLATFORMS"] = {"gpu": "cuda"}.get(device, device)
        command = [str(python), str(Path(__file__).parent / script), "--worker"]
        self.script = script
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=root,
        )

    def ask(self, **request: Any) -> Any:
        """One request, answered; what the worker raises ends the benchmark with its traceback."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended: told below
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("answer: "):
                return json.loads(line.removeprefix("answer: "))
        raise SystemExit(f"{self.script} ended with status {self.process.wait()}")

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def serve(answer: Callable[..., Any]) -> None:
    """The worker's side: call `answer(**request)` for each request on standard input."""
    for line in sys.stdin:
        print("answer: " + json.dumps(answer(**json.loads(line))), flush=True)


def is_worker() -> bool:
    return sys.argv[1:] == ["--worker"]


# ---- timing --------------------------------------------------------------------------------------


def rate(call: Callable[[], int], seconds: float, cpu: bool = False) -> float:
    """Units a second: `call` does some units of work and says how many; at least `seconds` long.
    `cpu`: a second of the time that the processor gave to all threads of this process."""
    clock = time.process_time if cpu else time.perf_counter
    done, begin = 0, clock()
    while (elapsed := clock() - begin) < seconds or not done:
        done += call()
    return done / elapsed


def interleave(
    slots: Iterable[Slot], measure: Callable[[Slot], float], repeats: int
) -> dict[Slot, list[float]]:
    """Measure all slots in turns, `repeats` times."""
    figures: dict[Slot, list[float]] = {slot: [] for slot in slots}
    for _ in range(repeats):
        for slot in figures:
            figures[slot].append(measure(slot))
    return figures


def summary(figures: Sequence[float], best: Callable[..., float] = max) -> dict[str, Any]:
    """Best and median of repeats, with all of them."""
    return {"best": best(figures), "median": statistics.median(figures), "all": list(figures)}


def parallel_steps(env: Any, legal: bool, count: int = 100) -> Callable[[], int]:
    """A function that makes `count` steps through PettingZoo's parallel API, and says how many. The
    actions of all agents are random ones of the whole action space, or of the legal ones that the
    masks in the infos allow."""
    import random

    rng, number = random.Random(0), env.game.action_space.n
    infos = env.reset(seed=0)[1]

    def any_steps() -> int:
        for _ in range(count):
            if not env.agents:
                env.reset()
            env.step({agent: rng.randrange(number) for agent in env.agents})
        return count

    def legal_steps() -> int:
        nonlocal infos
        for _ in range(count):
            if not env.agents:
                infos = env.reset()[1]
            actions = {}
            for agent, info in infos.items():
                allowed = info["action_mask"].nonzero()[0]
                if len(allowed):
                    actions[agent] = allowed[rng.randrange(len(allowed))]
            infos = env.step(actions)[4]
        return count

    return legal_steps if legal else any_steps


def aec_game(env: Any, choose: Callable[[Any, Any], Any]) -> int:
    """One game through PettingZoo's AEC API, with the actions that `choose(observation, info)`
    gives; how many there were."""
    steps = 0
    env.reset()
    for agent in env.agent_iter():
        if env.terminations[agent] or env.truncations[agent]:
            env.step(None)
        else:
            observation, _, _, _, info = env.last()
            env.step(choose(observation, info))
            steps += 1
    return steps


def play_games(game: Callable[[], int], seconds: float, games: int = 0) -> dict[str, Any]:
    """Steps a second of `game()`, which plays one from its reset on. Given a number of games, that
    many, with the speed of the first and of the last hundred of them beside the whole."""
    if not games:
        game()
        return {"rate": rate(game, seconds) if seconds else 0.0}
    steps, times = [], []
    for _ in range(games):
        begin = time.perf_counter()
        steps.append(game())
        times.append(time.perf_counter() - begin)
    return {
        "rate": sum(steps) / sum(times),
        "first": sum(steps[:100]) / sum(times[:100]),
        "last": sum(steps[-100:]) / sum(times[-100:]),
    }


# ---- scores --------------------------------------------------------------------------------------


def wilson(won: int, count: int) -> tuple[float, float]:
    """Wilson's (1927) 95 % interval of a share, `won` of `count`."""
    from scipy.stats import binomtest

    low, high = binomtest(won, count).proportion_ci(method="wilson")
    return float(low), float(high)


def points(first: Any, second: Any) -> dict[str, Any]:
    """Shares of points won, drawn and lost: on the near side, on the far one, on both. Of margins
    f64[E] of either side; the interval of those won is Wilson's (1927), 95 %."""
    import numpy as np

    sides = {"near": first, "far": second, "both": np.concatenate([first, second])}
    found = {}
    for side, margins in sides.items():
        won = int((margins > 0).sum())
        low, high = wilson(won, len(margins))
        found[side] = {
            "points": len(margins),
            "won": won / len(margins),
            "low": low,
            "high": high,
            "drawn": float((margins == 0).mean()),
            "lost": float((margins < 0).mean()),
        }
    return found


# ---- the report ----------------------------------------------------------------------------------


def machine() -> dict[str, Any]:
    """Where and when: what a figure is worth nothing without."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": cpu,
        "cores": cores,
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD") + ("+" if _git("status", "--porcelain") else ""),
    }


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip()


def command_line() -> str:
    """The command that runs this benchmark as it runs now, from the root of the checkout."""
    return shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])


def report(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on the terminal."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title)
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def finish_curves(figure: Any, axes: Iterable[Any], titles: Iterable[str], path: Path) -> None:
    """Give plots of percentages over episodes their titles and axes, and write the picture."""
    from matplotlib import pyplot

    axes = list(axes)
    for axis, title in zip(axes, titles, strict=True):
        axis.set(title=f"{title}, %", xlabel="episodes", ylim=(0, None), xlim=(0, None))
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def save(path: Path, **content: Any) -> None:
    """The figures as JSON, with the command that made them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"command": command_line()} | content
    path.write_text(json.dumps(content, indent=1) + "\n")
    print(f"written: {path}")
