"""Training: several seeds at once, in one compiled loop, into a folder that survives being killed.

`train(learner, seeds, out)` repeats `learner.update`, mapped over the seeds, and fetches nothing
but a few means between calls. What it leaves in the folder `out`:

    run.json              what is trained: environment, settings, seeds, command, versions, machine
    curve.jsonl           one line for each report: steps, seconds, and every mean by seed
    tensorboard/seed-S/   the same for TensorBoard: `tensorboard --logdir OUT`
    checkpoints/          all that changes, after one update, PRNG keys included; the newest two
    policy-S.safetensors  what seed S has learned, and beside it the card: where it comes from, and
    policy-S.json         what it scores
    curve.png             the learning curve: mean and spread over the seeds
    episode.gif           an episode of the best seed

**Going on.** `resume=True` goes on from the newest checkpoint that is whole, and ends with the same
bytes in the policies as a run that was never stopped (on the same machine and versions). Lines and
events logged after that checkpoint are dropped and made again.

**A seed that diverges** (a loss, a gradient or a parameter that is not finite) stays as it was
before that update, and the others, which share nothing with it, go on; `train` raises at the end.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import importlib
import io
import json
import math
import os
import platform
import signal
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import flax
import jax
import jax.numpy as jnp
import numpy as np
import optax
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from manyhands._version import __version__
from manyhands.baselines import policies
from manyhands.baselines.networks import NetworkConfig
from manyhands.baselines.presets import preset
from manyhands.core.env import (
    Array,
    ConfigError,
    Env,
    PolicyError,
    TrainingError,
    names_of,
)
from manyhands.core.rollout import BatchPolicy, BatchView, Seats, rollout

try:
    import fcntl
except ImportError:  # Windows has other locks; there two runs in one folder are not noticed
    fcntl = None  # type: ignore[assignment]

FORMAT = "manyhands-checkpoint-1"
_KEPT = 2  # checkpoints
_REPORTS = 200  # reports of a run, unless told otherwise
_BLOCK = 256 << 20  # bytes of a trajectory that evaluation may hold


class Learner(Protocol):
    """What `train` trains: a frozen, hashable dataclass of an environment and a configuration."""

    env: Env
    config: Any

    @property
    def name(self) -> str:
        """The algorithm, as the command line calls it."""

    @property
    def steps_per_update(self) -> int:
        """Environment steps of one seed in one update."""

    @property
    def num_updates(self) -> int:
        """Updates of a whole run."""

    def init(self, key: Array) -> Any:
        """All that changes: a pytree of arrays, typed PRNG keys among them. Pure. What must stay
        finite is its attribute `params`."""

    def update(self, progress: Any) -> tuple[Any, dict[str, Array]]:
        """One update, pure: (progress, means f32[]). "episodes" counts the episodes that finished;
        "return...", "length" and "metrics/..." are means over those, NaN if there were none."""

    def policy(self, progress: Any) -> policies.NetworkPolicy:
        """What the progress of one seed has learned, as a player."""


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """Where a learner is found, and what makes it this algorithm.

    Attributes:
        learner, config: "package.module:Class" of the learner and of its configuration.
        settings: what differs from the configuration's own defaults.
    """

    learner: str
    config: str
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)


_PPO = ("manyhands.baselines.ppo:PPO", "manyhands.baselines.ppo:PPOConfig")
ALGORITHMS: dict[str, Algorithm] = {
    "ippo": Algorithm(*_PPO),
    "mappo": Algorithm(*_PPO, {"centralised_critic": True}),
}


def config_class(algorithm: str) -> Any:
    """The class of an algorithm's configuration."""
    return _load(_known(algorithm).config)


def default_config(env: Env, algorithm: str) -> Any:
    """The configuration that an algorithm starts from in an environment (see `presets`)."""
    known = _known(algorithm)
    return config_class(algorithm)(**{**known.settings, **preset(env, algorithm)})


def configured(config: Any, path: str | Path) -> Any:
    """`config` with the settings in a JSON file."""
    try:
        data = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path} holds no JSON object of settings: {str(data)[:80]}")
    for name, value in data.items():
        if not hasattr(config, name):
            names = ", ".join(field.name for field in dataclasses.fields(config))
            raise ConfigError(f"{path} sets {name!r}; the settings are {names}")
        data[name] = _like(getattr(config, name), value, f"{name} in {path}")
    return dataclasses.replace(config, **data)


def _like(default: Any, value: Any, name: str) -> Any:
    """A value read from JSON, if it is of the default's type."""
    if isinstance(default, tuple) and isinstance(value, list):
        return tuple(tuple(item) if isinstance(item, list) else item for item in value)
    if isinstance(default, float) and type(value) is int:
        return float(value)
    if type(default) is not type(value):
        raise ConfigError(
            f"{name} is a {type(default).__name__} such as {json.dumps(default)}, given {value!r}"
        )
    return value


def make_learner(env: Env, algorithm: str, config: Any = None) -> Learner:
    """The learner of that name: `make_learner(env, "mappo")`, by default as `default_config`."""
    config = default_config(env, algorithm) if config is None else config
    learner: Learner = _load(_known(algorithm).learner)(env, config)
    return learner


def folder_name(env: Env) -> str:
    """What a run's folder is called: the environment, and its layout if that has a name."""
    spec, wrappers = env.spec(), ""
    while "env" in spec:
        spec, wrappers = spec["env"], f"-{spec['id']}{wrappers}"
    layout = spec["config"].get("layout")
    named = isinstance(layout, str) and layout.isidentifier()
    return f"{spec['id']}-{layout}{wrappers}" if named else f"{spec['id']}{wrappers}"


def _known(algorithm: str) -> Algorithm:
    if algorithm not in ALGORITHMS:
        raise ConfigError(
            f"no algorithm is called {algorithm!r}; there are {names_of(list(ALGORITHMS))}"
        )
    return ALGORITHMS[algorithm]


def _load(entry_point: str) -> Any:
    module, _, name = entry_point.partition(":")
    return getattr(importlib.import_module(module), name)


@dataclasses.dataclass(frozen=True)
class Report:
    """Where a run stands.

    Attributes:
        update, num_updates: updates made, and of the whole run.
        steps: environment steps of each seed so far.
        seconds: wall-clock time of training so far, compilation included; the time before the
            checkpoint that was resumed from counts, the time while nothing ran does not.
        steps_per_second: environment steps of all seeds together, in this interval.
        seconds_left: at this speed.
        metrics: means over the interval, f64[seeds]; NaN where there was nothing to average.
        failed: seeds that diverged, and in which update.
    """

    update: int
    num_updates: int
    steps: int
    seconds: float
    steps_per_second: float
    seconds_left: float
    metrics: dict[str, np.ndarray]
    failed: dict[int, int]

    def line(self) -> dict[str, Any]:
        """The report as a line of curve.jsonl."""
        return {
            "update": self.update,
            "steps": self.steps,
            "seconds": round(self.seconds, 3),
            "steps_per_second": round(self.steps_per_second, 1),
            "metrics": {
                name: [float(value) if math.isfinite(value) else None for value in values]
                for name, values in self.metrics.items()
            },
        }


@dataclasses.dataclass(frozen=True)
class Score:
    """What a policy earned in self-play, by the environment's own reward.

    Attributes:
        episodes: played, from the first step to the end, one in each environment of a batch.
        mean, standard_error: return of an episode, averaged over the agents; the error of the mean.
        by_agent: f64[N], mean return of each agent.
        length: mean number of steps.
        metrics: mean sums over an episode.
    """

    episodes: int
    mean: float
    standard_error: float
    by_agent: np.ndarray
    length: float
    metrics: dict[str, float]

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "return": self.mean,
            "standard_error": self.standard_error,
            "episodes": self.episodes,
            "return_by_agent": self.by_agent.tolist(),
            "length": self.length,
            "metrics": self.metrics,
        }


@dataclasses.dataclass(frozen=True)
class TrainingResult:
    """What `train` made.

    Attributes:
        out: the run's folder.
        policies, scores: by seed; seeds that diverged are not among them.
        best: the seed with the highest score, None if all diverged.
        failed: seeds that diverged, and in which update.
        steps: environment steps of each seed.
        seconds, compile_seconds: wall-clock time of training, and the part of it that compiled.
    """

    out: Path
    policies: dict[int, policies.NetworkPolicy]
    scores: dict[int, Score]
    best: int | None
    failed: dict[int, int]
    steps: int
    seconds: float
    compile_seconds: float


def train(
    learner: Learner,
    seeds: int | Sequence[int],
    out: str | Path,
    *,
    resume: bool = False,
    overwrite: bool = False,
    report: Callable[[Report], None] | None = None,
    updates_per_report: int | None = None,
    checkpoint_minutes: float = 5.0,
    episodes: int = 100,
    progress: bool | None = None,
    command: str = "",
) -> TrainingResult:
    """Train every seed to the end, evaluate it, and write all that the module's text lists.

    Args:
        seeds: how many (0, 1, ...), or which. They train at once, in one compiled function.
        resume: go on with the run in `out`; begin it if there is none.
        overwrite: delete the run in `out` first.
        report: called after each report interval.
        updates_per_report: by default a 200th of the run.
        checkpoint_minutes: a checkpoint is written after each report that comes this much later
            than the last; at the end, on SIGINT and SIGTERM, and on errors there is one anyway.
        episodes: played by each seed's policy for its score.
        progress: None shows a live display in a terminal and prints lines elsewhere; False is
            silent.
        command: what the files say how they were made.

    Raises:
        TrainingError: `out` holds a run already, or one of something else; the disk is full; a seed
            diverged (the result so far is the error's attribute `result`).
        KeyboardInterrupt, SystemExit: on SIGINT and SIGTERM, after a checkpoint.
    """
    chosen = _seeds(seeds)
    every = updates_per_report or max(1, math.ceil(learner.num_updates / _REPORTS))
    if every < 1 or checkpoint_minutes < 0 or episodes < 1:
        raise ConfigError(
            "updates_per_report and episodes are from 1, checkpoint_minutes from 0; given "
            f"{updates_per_report!r}, {episodes!r}, {checkpoint_minutes!r}"
        )
    folder = Path(out)
    with contextlib.ExitStack() as stack:
        display = stack.enter_context(_Display(learner, len(chosen), progress))
        stack.enter_context(_held(folder, resume, overwrite))
        run = _Run(learner, chosen, folder, command, display)
        stack.callback(run.close)
        with _writing(folder):
            run.begin()
        _loop(run, every, checkpoint_minutes * 60, report)
        try:
            result = _finish(run, episodes)
        except OSError as error:
            raise TrainingError(f"{_because(error, folder)}; {run.whereabouts()}") from error
    if result.failed:
        diverged = TrainingError(run.failures())
        diverged.result = result
        raise diverged
    return result


def _seeds(given: int | Sequence[int]) -> tuple[int, ...]:
    seeds = tuple(range(given)) if isinstance(given, int) else tuple(given)
    if not seeds or len(set(seeds)) < len(seeds):
        raise ConfigError(f"seeds are a number from 1, or different numbers; given {given!r}")
    for seed in seeds:
        if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**32:
            raise ConfigError(f"a seed is a whole number from 0 to 2**32 - 1, given {seed!r}")
    return tuple(map(int, seeds))


# ---- the compiled loop ---------------------------------------------------------------------------


def _begin(learner: Learner, seeds: tuple[int, ...]) -> Callable[[], Any]:
    """What changes, of all seeds: {"progress": ..., "failed": i32[seeds], 0 or the update}."""
    numbers = np.asarray(seeds, np.uint32)

    def begin() -> Any:
        progress = jax.vmap(lambda seed: learner.init(jax.random.key(seed)))(numbers)
        # A scalar of no fixed type would make the next call another program.
        progress = jax.tree_util.tree_map(
            lambda leaf: leaf if _is_key(leaf) else jax.lax.convert_element_type(leaf, leaf.dtype),
            progress,
        )
        return {"progress": progress, "failed": jnp.zeros(len(seeds), jnp.int32)}

    return begin


def _advance(learner: Learner, every: int) -> Callable[..., tuple[Any, dict[str, Array]]]:
    """f(state, done, count): up to `every` updates of all seeds, after `done` earlier ones. The
    count is data, so that the last, shorter interval of a run is the same program."""
    update = jax.jit(jax.vmap(learner.update))

    def advance(state: Any, done: Array, count: Array) -> tuple[Any, dict[str, Array]]:
        def body(i: Array, at: Any) -> Any:
            state, rows = at
            old, failed = state["progress"], state["failed"]
            new, metrics = update(old)
            stopped = failed > 0
            failed = jnp.where(stopped | _finite(new, metrics), failed, done + i + 1)

            def keep(new: Array, old: Array) -> Array:
                before = (failed > 0).reshape(-1, *[1] * (new.ndim - 1))
                return jnp.where(before, old, new)

            state = {"progress": jax.tree_util.tree_map(keep, new, old), "failed": failed}
            rows = {
                name: rows[name].at[i].set(jnp.where(stopped, jnp.nan, metrics[name]))
                for name in rows
            }
            return state, rows

        shapes = jax.eval_shape(update, state["progress"])[1]
        rows = {name: jnp.zeros((every, *leaf.shape)) for name, leaf in shapes.items()}
        finished: tuple[Any, dict[str, Array]] = jax.lax.fori_loop(0, count, body, (state, rows))
        return finished

    return advance


def _finite(progress: Any, metrics: Mapping[str, Array]) -> Array:
    """bool[seeds]: whether nothing has diverged."""
    watched = [metrics[name] for name in metrics if _must_be_finite(name)]
    for leaf in jax.tree_util.tree_leaves(getattr(progress, "params", ())):
        if jnp.issubdtype(leaf.dtype, jnp.inexact):
            watched.append(jnp.sum(leaf, axis=tuple(range(1, leaf.ndim))))
    return jnp.all(jnp.isfinite(jnp.stack(watched)), axis=0) if watched else jnp.bool_(True)


def _must_be_finite(name: str) -> bool:
    return "loss" in name or name == "grad_norm"


def _means(rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Means over the updates of an interval, [count, seeds] -> f64[seeds]: those over episodes are
    weighted by their number."""
    means = {}
    weight = np.nan_to_num(np.asarray(rows["episodes"], np.float64))
    for name, values in rows.items():
        values = np.asarray(values, np.float64)
        if name == "episodes":
            means[name] = weight.sum(0)
            continue
        by_episode = name.startswith(("return", "metrics/")) or name == "length"
        share = (weight if by_episode else np.ones_like(values)) * ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            means[name] = (np.nan_to_num(values, posinf=np.inf) * share).sum(0) / share.sum(0)
    return means


def _loop(run: _Run, every: int, pause: float, report: Callable[[Report], None] | None) -> None:
    """Train to the end; whatever happens, leave a checkpoint of the last whole interval."""
    learner, seeds = run.learner, run.seeds
    if run.over:
        return
    began, before = time.perf_counter(), run.seconds
    saved = began
    with _signals(run.display) as asked:
        try:
            run.display.note("compiling")
            program = jax.jit(_advance(learner, every), donate_argnums=0)
            zero = jax.device_put(np.int32(0))
            compiled = program.lower(run.state, zero, zero).compile()
            run.compile_seconds += time.perf_counter() - began
            while not (run.over or asked):
                start = time.perf_counter()
                count = min(every, learner.num_updates - run.update)
                numbers = jax.device_put((np.int32(run.update), np.int32(count)))
                with jax.transfer_guard("disallow"):
                    run.state, rows = compiled(run.state, *numbers)
                rows = {name: row[:count] for name, row in jax.device_get(rows).items()}
                now = time.perf_counter()
                run.update += count
                run.seconds = before + now - began
                run.notice_failures(rows, count)
                speed = count * learner.steps_per_update * len(seeds) / (now - start)
                left = (learner.num_updates - run.update) * (now - start) / count
                now_at = Report(
                    update=run.update,
                    num_updates=learner.num_updates,
                    steps=run.update * learner.steps_per_update,
                    seconds=run.seconds,
                    steps_per_second=speed,
                    seconds_left=left,
                    metrics=_means(rows),
                    failed=dict(run.failed),
                )
                run.log(now_at)
                run.display.report(now_at)
                if report is not None:
                    report(now_at)
                if time.perf_counter() - saved >= pause or run.over or asked:
                    run.save()
                    saved = time.perf_counter()
            if asked and not run.saved:
                run.save()
        except BaseException as error:
            run.rescue()
            if isinstance(error, OSError):
                raise TrainingError(
                    f"{_because(error, run.folder)}; {run.whereabouts()}"
                ) from error
            raise
    if asked and not run.over:
        run.display.print(run.whereabouts())
        if asked[0] == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + asked[0])


@contextlib.contextmanager
def _signals(display: _Display) -> Iterator[list[int]]:
    """Collects the first SIGINT or SIGTERM, to stop after the running interval; a second SIGINT
    interrupts at once. Only a main thread can."""
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def stop(number: int, frame: Any) -> None:
        if asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        asked.append(number)
        display.note("stopping after this interval")

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# ---- the folder ----------------------------------------------------------------------------------


@contextlib.contextmanager
def _held(folder: Path, resume: bool, overwrite: bool) -> Iterator[None]:
    """The folder, for this run alone; without a run in it, unless that is to be resumed."""
    if resume and overwrite:
        raise ConfigError("resume goes on with a run, overwrite deletes it; choose one")
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise TrainingError(f"another run is training in {folder}") from error
        if not resume and _holds_run(folder):
            if not overwrite:
                raise TrainingError(
                    f"{folder} holds a run already; go on with it (--resume, resume=True), delete "
                    "it (--overwrite, overwrite=True), or name another folder"
                )
            with _writing(folder):
                _delete(folder, _WHOLE)
        _delete(folder, _HALF)
        yield
    finally:
        os.close(lock)


# What a run leaves in its folder, and what is left of a file that it was killed while writing.
_WHOLE = (
    "run.json",
    "curve.jsonl",
    "curve.png",
    "episode.gif",
    "policy-[0-9]*.safetensors",
    "policy-[0-9]*.json",
    "checkpoints/update-*.safetensors",
    "tensorboard/seed-*/events.out.tfevents.*",
)
_HALF = tuple(
    str(Path(name).parent / f".{Path(name).name}{end}") for name in _WHOLE for end in (".*", "")
)


def _holds_run(folder: Path) -> bool:
    return (folder / "run.json").exists() or any(folder.glob("checkpoints/update-*"))


def _delete(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        for file in folder.glob(name):
            file.unlink()


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Says in words that something cannot be written."""
    try:
        yield
    except OSError as error:
        raise TrainingError(_because(error, folder)) from error


def _because(error: OSError, folder: Path) -> str:
    where = error.filename if isinstance(error.filename, str) else folder
    return f"cannot write {where}: {error.strerror or error}"


class _Run:
    """A run and its files.

    Attributes:
        state: what changes, of all seeds, on the device.
        update, seconds, compile_seconds: updates made, and time taken, with what was resumed from.
        failed: seeds that diverged, and in which update.
        saved: whether the state is in a checkpoint.
    """

    def __init__(
        self,
        learner: Learner,
        seeds: tuple[int, ...],
        folder: Path,
        command: str,
        display: _Display,
    ):
        self.learner, self.seeds, self.folder, self.display = learner, seeds, folder, display
        self.command = command
        self.state: Any = None
        self.update, self.seconds, self.compile_seconds = 0, 0.0, 0.0
        self.failed: dict[int, int] = {}
        self.saved = False
        self._reasons: dict[int, str] = {}
        self._curve: _Appender | None = None
        self._events: list[_Events] = []
        self._what = {
            "environment": learner.env.spec(),
            "algorithm": learner.name,
            "settings": dataclasses.asdict(learner.config),
            "seeds": list(seeds),
        }
        # Lists where there are tuples, as it will be read again.
        self._what = json.loads(json.dumps(self._what))

    @property
    def over(self) -> bool:
        return self.update >= self.learner.num_updates or len(self.failed) == len(self.seeds)

    def begin(self) -> None:
        """Write run.json and start; or go on from the newest whole checkpoint."""
        about = self.folder / "run.json"
        if about.exists():
            self._check(_read_json(about), about)
        else:
            # What would be resumed is known before there is anything to resume.
            _write_json(about, {**self._what, **self._made()})
        begin = _begin(self.learner, self.seeds)
        tensors = self._newest()
        if tensors is None:
            self.state = jax.jit(begin)()
        else:
            self.state = _restore(begin, tensors, self.folder / "checkpoints")
            self._notice(np.asarray(self.state["failed"]))
            self.saved = True
            self.display.note(f"going on after update {self.update}")
        self._curve = _Appender(self.folder / "curve.jsonl", self._curve_until_now())
        steps = self.update * self.learner.steps_per_update
        self._events = [
            _Events(self.folder / "tensorboard" / f"seed-{seed}", steps) for seed in self.seeds
        ]

    def close(self) -> None:
        for file in (self._curve, *self._events):
            if file is not None:
                file.close()

    # ---- what is logged -----------------------------------------------------------------------

    def log(self, at: Report) -> None:
        """Append to curve.jsonl and to TensorBoard's events."""
        self.saved = False
        assert self._curve is not None
        self._curve.write(json.dumps(at.line()).encode() + b"\n")
        for i, events in enumerate(self._events):
            values = {name: float(means[i]) for name, means in at.metrics.items()}
            values["steps_per_second"] = at.steps_per_second
            events.write(at.steps, values)

    def _curve_until_now(self) -> bytes:
        """The whole lines of curve.jsonl up to the update that is gone on from."""
        path, kept = self.folder / "curve.jsonl", b""
        for line in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
            try:
                if not line.endswith(b"\n") or json.loads(line)["update"] > self.update:
                    break
            except (ValueError, TypeError, KeyError):
                break
            kept += line
        return kept

    def notice_failures(self, rows: Mapping[str, np.ndarray], count: int) -> None:
        """Say which seeds diverged in the last `count` updates, and what was not finite."""
        known = set(self.failed)
        self._notice(np.asarray(self.state["failed"]))
        for seed in self.failed.keys() - known:
            at = self.failed[seed] - (self.update - count) - 1
            i = self.seeds.index(seed)
            bad = [
                f"{name} is {rows[name][at, i]:g}"
                for name in rows
                if _must_be_finite(name) and not math.isfinite(rows[name][at, i])
            ]
            self._reasons[seed] = ", ".join(bad) or "a parameter is not finite"
            self.display.print(
                f"seed {seed} diverged in update {self.failed[seed]}: "
                f"{self._reasons[seed]}; it stays as it was before"
            )

    def _notice(self, failed: np.ndarray) -> None:
        self.failed = {s: int(at) for s, at in zip(self.seeds, failed, strict=True) if at}

    def failures(self) -> str:
        """Which seeds diverged, for an error."""
        which = "; ".join(
            f"seed {seed} in update {at} of {self.learner.num_updates}"
            + (f" ({self._reasons[seed]})" if seed in self._reasons else "")
            for seed, at in self.failed.items()
        )
        return (
            f"training diverged: {which}. Its state before that update is kept in "
            f"{self.last_checkpoint()}. Lower the learning rate, or clip gradients and rewards"
        )

    # ---- checkpoints --------------------------------------------------------------------------

    def last_checkpoint(self) -> Path | None:
        found = sorted((self.folder / "checkpoints").glob("update-*.safetensors"))
        return found[-1] if found else None

    def whereabouts(self) -> str:
        last = self.last_checkpoint()
        kept = f"the last checkpoint is {last}" if last else "there is no checkpoint yet"
        return (
            f"training stopped after update {self.update} of {self.learner.num_updates}; {kept}; "
            "go on with --resume (resume=True)"
        )

    def save(self) -> None:
        """Write a checkpoint, and delete all but the newest two."""
        tensors = _arrays(self.state)
        about = {
            **self._what,
            "update": self.update,
            "seconds": self.seconds,
            "compile_seconds": self.compile_seconds,
        }
        path = self.folder / "checkpoints" / f"update-{self.update:09d}.safetensors"
        metadata = {"format": FORMAT, "about": json.dumps(about), "sum": _sum(tensors)}
        policies.write_tensors(path, tensors, metadata)
        self.saved = True
        for old in sorted(path.parent.glob("update-*.safetensors"))[:-_KEPT]:
            old.unlink()

    def rescue(self) -> None:
        """Save what there is, where something went wrong; that it cannot be saved is no news."""
        lost = any(
            isinstance(leaf, jax.Array) and leaf.is_deleted()
            for leaf in jax.tree_util.tree_leaves(self.state)
        )
        if not (self.saved or lost):
            with contextlib.suppress(OSError):
                self.save()

    def _newest(self) -> dict[str, np.ndarray] | None:
        """The arrays of the newest whole checkpoint; None if there is none at all."""
        found = sorted((self.folder / "checkpoints").glob("update-*.safetensors"), reverse=True)
        problems = []
        for path in found:
            try:
                tensors, about = _read_checkpoint(path)
            except PolicyError as error:
                problems.append(str(error))
                self.display.print(f"warning: {error}; going back to the checkpoint before")
                continue
            self._check(about, path)
            self.update = int(about["update"])
            self.seconds = float(about["seconds"])
            self.compile_seconds = float(about["compile_seconds"])
            return tensors
        if found:
            raise TrainingError(
                f"no checkpoint in {self.folder} can be read: {'; '.join(problems)}; "
                "begin anew with --overwrite (overwrite=True)"
            )
        return None

    def _check(self, about: Mapping[str, Any], path: Path) -> None:
        """That `about` (a file of this folder) describes this run."""
        theirs, ours = _flat(about), _flat(self._what)
        names = [n for n in (*ours, *theirs) if n.partition(".")[0] in self._what]
        for name in dict.fromkeys(names):
            if theirs.get(name) != ours.get(name):
                raise TrainingError(
                    f"{path} belongs to another run: its {name} is "
                    f"{json.dumps(theirs.get(name))}, this run's is {json.dumps(ours.get(name))}; "
                    "give the same settings to go on with it, or name another folder"
                )
        for name, version in _versions().items():
            before = about.get("versions", {}).get(name, version)
            if before != version:
                self.display.print(
                    f"warning: this run began with {name} {before}, this is {version}: what "
                    "follows may differ in the last digits"
                )

    def _made(self) -> dict[str, Any]:
        """How and where, for run.json and the cards."""
        return {
            "command": self.command,
            "num_updates": self.learner.num_updates,
            "steps_per_update": self.learner.steps_per_update,
            "versions": _versions(),
            "machine": _machine(),
            "began": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        }

    def card(self, seed: int, score: Score) -> dict[str, Any]:
        """Where the policy of a seed comes from."""
        began = _read_json(self.folder / "run.json")
        return {
            **self._what,
            "seed": seed,
            "command": began.get("command", self.command),
            "steps": self.update * self.learner.steps_per_update,
            "updates": self.update,
            "seconds": round(self.seconds, 1),
            "compile_seconds": round(self.compile_seconds, 1),
            "score": score.plain(),
            "versions": _versions(),
            "machine": _machine(),
            "began": began.get("began"),
        }


def _versions() -> dict[str, str]:
    return {
        "manyhands": __version__,
        "python": platform.python_version(),
        "jax": jax.__version__,
        "flax": flax.__version__,
        "optax": optax.__version__,
        "numpy": np.__version__,
    }


def _machine() -> dict[str, Any]:
    device = jax.devices()[0]
    return {
        "system": platform.platform(),
        "cpus": os.cpu_count(),
        "device": f"{device.platform} ({device.device_kind})",
    }


def _flat(tree: Any, prefix: str = "") -> dict[str, Any]:
    """Nested dicts as one, with the names joined by dots."""
    if not isinstance(tree, dict):
        return {prefix: tree}
    flat = {}
    for name, branch in tree.items():
        flat.update(_flat(branch, f"{prefix}.{name}" if prefix else name))
    return flat


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text())
        if not isinstance(data, dict):
            raise ValueError("it is no object")
    except (OSError, ValueError) as error:
        raise TrainingError(f"{path} cannot be read: {error}") from error
    return data


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    policies.replace(path, (json.dumps(data, indent=2) + "\n").encode())


def _is_key(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def _arrays(tree: Any) -> dict[str, np.ndarray]:
    """The leaves of a tree on the host, by path; PRNG keys as the numbers that they are."""
    leaves = {
        jax.tree_util.keystr(path): jax.random.key_data(leaf) if _is_key(leaf) else leaf
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    }
    fetched: dict[str, np.ndarray] = jax.device_get(leaves)
    return fetched


def _restore(make: Callable[[], Any], arrays: Mapping[str, np.ndarray], where: Path) -> Any:
    """The tree that `make` would make, with `arrays` as its leaves."""
    kinds = {}  # of PRNG keys

    def plain() -> Any:
        def data(path: Any, leaf: Any) -> Any:
            if not _is_key(leaf):
                return leaf
            kinds[jax.tree_util.keystr(path)] = jax.random.key_impl(leaf)
            return jax.random.key_data(leaf)

        return jax.tree_util.tree_map_with_path(data, make())

    def leaf(path: Any, like: Any) -> Any:
        name = jax.tree_util.keystr(path)
        array = arrays.get(name)
        if array is None or array.dtype != like.dtype or array.shape != like.shape:
            found = "nothing" if array is None else f"{array.dtype}{list(array.shape)}"
            raise TrainingError(
                f"the checkpoint in {where} is of another version: {name} is {found}, expected "
                f"{like.dtype}{list(like.shape)}; begin anew with --overwrite (overwrite=True)"
            )
        # A copy: a checkpoint's memory must not be donated to a computation.
        value = jnp.array(array)
        return jax.random.wrap_key_data(value, impl=kinds[name]) if name in kinds else value

    return jax.tree_util.tree_map_with_path(leaf, jax.eval_shape(plain))


def _sum(tensors: Mapping[str, np.ndarray]) -> str:
    """A checksum of all arrays."""
    total = 0
    for name in sorted(tensors):
        total = zlib.crc32(np.asarray(tensors[name], order="C").tobytes(), total)
    return f"{total:08x}"


def _read_checkpoint(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    tensors, metadata = policies.read_tensors(path)
    try:
        if metadata["format"] != FORMAT:
            raise ValueError(f"its format is {metadata['format']!r}, expected {FORMAT!r}")
        about = json.loads(metadata["about"])
        if metadata["sum"] != _sum(tensors):
            raise ValueError("its checksum is wrong")
        if not {"update", "seconds", "compile_seconds"} <= about.keys():
            raise ValueError("it does not say where it stands")
    except (KeyError, ValueError, AttributeError) as error:
        raise PolicyError(f"{path} is no whole checkpoint: {error}") from error
    return tensors, about


class _Appender:
    """A file that grows by whole pieces: one that does not fit on the disk leaves no trace."""

    def __init__(self, path: Path, content: bytes | None = None):
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            policies.replace(path, content)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, data: bytes) -> None:
        size = os.fstat(self._file).st_size
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            os.ftruncate(self._file, size)
            raise OSError(error.errno, error.strerror, str(self._path)) from error

    def close(self) -> None:
        os.close(self._file)


class _Events(_Appender):
    """Scalars for TensorBoard, of one seed, in a file of their own for each start of a run; those
    of an earlier start at later steps are hidden."""

    def __init__(self, folder: Path, steps: int):
        now = time.time()
        name = f"events.out.tfevents.{int(now * 1000):013d}.{socket.gethostname()}.{os.getpid()}"
        super().__init__(folder / name)
        self._write(Event(wall_time=now, file_version="brain.Event:2"))
        start = SessionLog(status=SessionLog.START)
        self._write(Event(wall_time=now, step=steps + 1, session_log=start))

    def _write(self, event: Event) -> None:
        record = io.BytesIO()
        RecordWriter(record).write(event.SerializeToString())
        super().write(record.getvalue())

    def write(self, steps: int, values: Mapping[str, float]) -> None:  # type: ignore[override]
        numbers = [
            Summary.Value(tag=name, simple_value=value)
            for name, value in values.items()
            if not math.isnan(value)
        ]
        self._write(Event(wall_time=time.time(), step=steps, summary=Summary(value=numbers)))


# ---- the display ---------------------------------------------------------------------------------


class _Display:
    """What is seen while a run trains: live in a terminal, a line for each report elsewhere."""

    def __init__(self, learner: Learner, seeds: int, progress: bool | None):
        self._title = f"{learner.env.id} · {learner.name} · {seeds} seed{'s' * (seeds > 1)}"
        self._console = Console(stderr=True, quiet=progress is False)
        self._best = -math.inf
        self._live: Live | None = None
        if self._console.is_terminal and progress is not False:
            self._bar = Progress(
                TextColumn("{task.fields[steps]}"),
                BarColumn(bar_width=None),
                TaskProgressColumn(),
                TextColumn("{task.fields[left]}"),
                expand=True,
            )
            self._task = self._bar.add_task("", total=learner.num_updates, steps="", left="")
            self._numbers: dict[str, str] = {}
            self._note = ""
            self._live = Live(console=self._console, get_renderable=self._render, transient=True)

    def __enter__(self) -> _Display:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def _render(self) -> Group:
        table = Table(*self._numbers, title=f"{self._title}  {self._note}", expand=True)
        table.add_row(*self._numbers.values())
        return Group(table, self._bar)

    def print(self, text: str) -> None:
        """A line that stays."""
        self._console.print(f"manyhands: {text}", soft_wrap=True, highlight=False, markup=False)

    def note(self, text: str) -> None:
        """What is going on now."""
        if self._live:
            self._note = f"({text})" if text else ""
        else:
            self._console.print(f"{self._title}: {text}", soft_wrap=True, highlight=False)

    def report(self, at: Report) -> None:
        returns = at.metrics["return"]
        returns = returns[np.isfinite(returns)]
        self._best = max(self._best, *returns, -math.inf)
        numbers = {"return": "no episode finished"}
        if len(returns):
            spread = f" ± {returns.std(ddof=1):.2f}" if len(returns) > 1 else ""
            numbers["return"] = f"{returns.mean():.2f}{spread}"
            numbers["best"] = f"{self._best:.2f}"
        numbers["env-steps/s"] = f"{at.steps_per_second:,.0f}"
        for name in ("entropy", "loss", "value_loss", "kl"):
            values = at.metrics.get(name, np.empty(0))
            values = values[np.isfinite(values)]
            if len(values):
                numbers[name] = f"{values.mean():.4g}"
        left = f"{datetime.timedelta(seconds=round(at.seconds_left))} left"
        steps = f"{at.steps:,} steps"
        if self._live:
            self._numbers, self._note = numbers, ""
            self._bar.update(self._task, completed=at.update, steps=steps, left=left)
            return
        shown = "  ".join(f"{name} {value}" for name, value in numbers.items())
        share = f"{at.update / at.num_updates:4.0%}"
        self._console.print(f"{share}  {steps}  {shown}  {left}", soft_wrap=True, highlight=False)


# ---- the end: scores, policies, pictures ---------------------------------------------------------


def _finish(run: _Run, episodes: int) -> TrainingResult:
    """Evaluate every seed that did not diverge, and write what it learned."""
    learner, host = run.learner, _arrays(run.state["progress"])
    made, scores = {}, {}
    evaluation: Evaluation | None = None
    for i, seed in enumerate(run.seeds):
        if seed in run.failed:
            continue
        run.display.note(f"evaluating seed {seed}")
        own = {name: array[i] for name, array in host.items()}
        progress = _restore(lambda: learner.init(jax.random.key(0)), own, run.folder)
        made[seed] = learner.policy(progress)
        evaluation = evaluation or Evaluation(learner.env, made[seed], episodes)
        scores[seed] = evaluation(made[seed], jax.random.key(seed))
        path = run.folder / f"policy-{seed}.safetensors"
        policies.save(path, made[seed], run.card(seed, scores[seed]))
    best = max(scores, key=lambda seed: scores[seed].mean) if scores else None
    run.display.note("drawing the learning curve")
    curve = run.folder / "curve.jsonl"
    title = f"{learner.name} in {folder_name(learner.env)}, {len(run.seeds)} seeds"
    policies.replace(run.folder / "curve.png", plot(curve, title))
    if best is not None:
        run.display.note(f"filming seed {best}")
        _film(learner.env, made[best], best, run.folder / "episode.gif")
    return TrainingResult(
        out=run.folder,
        policies=made,
        scores=scores,
        best=best,
        failed=dict(run.failed),
        steps=run.update * learner.steps_per_update,
        seconds=run.seconds,
        compile_seconds=run.compile_seconds,
    )


@dataclasses.dataclass(frozen=True)
class _Player(BatchPolicy):
    """A network in every seat whose parameters are data, so that one program plays all seeds."""

    network: NetworkConfig
    reads: str
    greedy: bool

    def _seats(self, env: Env, params: Any) -> Seats:
        policy = policies.NetworkPolicy(params, self.network, self.reads, {}, self.greedy)
        return Seats((policy,) * env.num_agents)

    def init(self, env: Env, num_envs: int) -> Any:
        return self._seats(env, None).init(env, num_envs)

    def apply(
        self, env: Env, params: Any, memory: Any, key: Array, view: BatchView
    ) -> tuple[Array, Any]:
        keys = jax.random.split(key, view.first.shape[0])
        return self._seats(env, params).apply(env, memory, keys, view)


class Evaluation:
    """Plays whole episodes of policies that share one network, in self-play.

    Every environment of the batch plays exactly one episode from its first step to its last, so
    that short episodes do not count more often than long ones.
    """

    def __init__(self, env: Env, policy: policies.NetworkPolicy, episodes: int):
        self._env, self._episodes = env, episodes
        self._player = _Player(policy.network, policy.reads, policy.greedy)
        space = env.observation_space
        size = math.prod(space.shape or ()) * np.dtype(space.dtype).itemsize + 64
        at_once = max(1, _BLOCK // (size * env.num_agents * episodes))
        self._calls = math.ceil(env.max_steps / at_once)
        self._steps = math.ceil(env.max_steps / self._calls)

    def __call__(self, policy: policies.NetworkPolicy, key: Array) -> Score:
        env, count = self._env, self._episodes
        returns = np.zeros((env.num_agents, count))
        length, playing, carry = np.zeros(count), np.ones(count, bool), None
        metrics: dict[str, np.ndarray] = {}
        for _ in range(self._calls):
            played = rollout(
                env, self._player, count, self._steps, key, params=policy.params, carry=carry
            )
            carry, steps = played.carry, played.trajectory
            assert steps is not None
            over = np.asarray(steps.terminated | steps.truncated).all(1)  # [T, B]
            counts = playing & (np.cumsum(over, 0) - over == 0)
            returns += (np.asarray(steps.reward, np.float64) * counts[:, None]).sum(0)
            length += counts.sum(0)
            for name, values in steps.metrics.items():
                total = (np.asarray(values, np.float64) * counts).sum(0)
                metrics[name] = metrics.get(name, 0.0) + total
            playing = playing & ~over.any(0)
            if not playing.any():
                break
        each = returns.mean(0)
        return Score(
            episodes=count,
            mean=float(each.mean()),
            standard_error=float(each.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan,
            by_agent=returns.mean(1),
            length=float(length.mean()),
            metrics={name: float(values.mean()) for name, values in metrics.items()},
        )


def read_curve(path: str | Path) -> list[dict[str, Any]]:
    """The lines of a curve.jsonl; a last one that was cut off is left out."""
    lines = []
    for line in Path(path).read_text().splitlines():
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return lines


def plot(curve: str | Path, title: str = "") -> bytes:
    """The learning curve in a curve.jsonl as a PNG: a thin line for each seed, their mean, and one
    standard deviation around it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    lines = read_curve(curve)
    steps = np.array([line["steps"] for line in lines]) / 1e6
    returns = np.array([line["metrics"]["return"] for line in lines], np.float64)
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    if len(lines):
        for i, values in enumerate(returns.T):
            label = "single seeds" if i == 0 else None
            axes.plot(steps, values, color="tab:blue", linewidth=0.6, alpha=0.5, label=label)
        known = np.isfinite(returns).any(1)
        steps, returns = steps[known], returns[known]
        mean, spread = np.nanmean(returns, 1), np.nanstd(returns, 1)
        axes.plot(steps, mean, color="tab:blue", linewidth=2, label="mean")
        axes.fill_between(
            steps,
            mean - spread,
            mean + spread,
            color="tab:blue",
            alpha=0.2,
            linewidth=0,
            label="± 1 standard deviation",
        )
        axes.legend(loc="best", frameon=False)
    axes.set_xlabel("environment steps of each seed (millions)")
    axes.set_ylabel("return of an episode (reward, mean of the agents)")
    axes.set_title(title, fontsize="medium")
    axes.grid(alpha=0.3)
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=130)
    return data.getvalue()


def _film(env: Env, policy: policies.NetworkPolicy, seed: int, path: Path) -> None:
    """A GIF of one episode."""
    from manyhands.core.play import play
    from manyhands.viewer.export import export_gif
    from manyhands.viewer.scenes import scenes

    moments: list[Any] = []
    play(env, policy, episodes=1, seed=seed, on_step=moments.append, progress=False)
    beside = path.with_name(f".{path.name}")
    try:
        export_gif(scenes(moments), beside, fps=10)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def summary(result: TrainingResult) -> Table:
    """The scores of a run as a table."""
    table = Table(
        "seed", "return", "episodes", "steps of one", "policy", title=f"self-play, {result.out}"
    )
    for seed, score in result.scores.items():
        table.add_row(
            f"{seed}{' (best)' * (seed == result.best and len(result.scores) > 1)}",
            f"{score.mean:.2f} ± {score.standard_error:.2f}",
            str(score.episodes),
            f"{score.length:g}",
            str(result.out / f"policy-{seed}.safetensors"),
        )
    for seed, at in result.failed.items():
        table.add_row(str(seed), f"diverged in update {at}", "", "", "")
    if len(result.scores) > 1:
        means = np.array([score.mean for score in result.scores.values()])
        error = means.std(ddof=1) / math.sqrt(len(means))
        table.add_section()
        table.add_row("all", f"{means.mean():.2f} ± {error:.2f}", "", "", "")
    table.caption = (
        f"{result.steps:,} steps of each seed in {result.seconds:.0f} s "
        f"({result.compile_seconds:.0f} s of it compiling); ± is the standard error"
    )
    return table
