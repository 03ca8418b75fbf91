"""What a run of training keeps and shows: its folder, its logs, its checkpoints, its display.

The folder and what is in it are described in `training`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import io
import json
import math
import os
import platform
import socket
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
from manyhands.baselines.learners.spread import Spread
from manyhands.baselines.players import network as policies
from manyhands.core.env import Array, ConfigError, Env, PolicyError, TrainingError

try:
    import fcntl
except ImportError:  # Windows has other locks; there two runs in one folder are not noticed
    fcntl = None  # type: ignore[assignment]

FORMAT = "manyhands-checkpoint-1"
_KEPT = 2  # checkpoints


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
        "return...", "length", "metrics/..." and "terms/..." are means over those, NaN if none."""

    def policy(self, progress: Any) -> policies.NetworkPolicy:
        """What the progress of one seed has learned, as a player. A learner may also have a method
        `average`, which gives its average strategy as a player, or None; and an attribute
        `measure`, the metric that its curve shows and displays tell, by default "return"."""


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


def must_be_finite(name: str) -> bool:
    return "loss" in name or name == "grad_norm"


@contextlib.contextmanager
def locked(folder: Path, resume: bool, overwrite: bool) -> Iterator[None]:
    """The folder, for this run alone; without a run in it, unless that is to be resumed."""
    if resume and overwrite:
        raise ConfigError("resume goes on with a run, overwrite deletes it; choose one")
    with writing(folder):
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
            with writing(folder):
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
    "average-[0-9]*.safetensors",
    "average-[0-9]*.json",
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
def writing(folder: Path) -> Iterator[None]:
    """Says in words that something cannot be written."""
    try:
        yield
    except OSError as error:
        raise TrainingError(io_error(error, folder)) from error


def io_error(error: OSError, folder: Path) -> str:
    where = error.filename if isinstance(error.filename, str) else folder
    return f"cannot write {where}: {error.strerror or error}"


class Run:
    """A run and its files.

    Attributes:
        state: what changes, of all seeds, on the device, or divided over those of `spread`.
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
        display: Display,
        spread: Spread,
    ):
        self.learner, self.seeds, self.folder, self.display = learner, seeds, folder, display
        self.command, self.spread = command, spread
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

    def begin(self, make: Callable[[], Any]) -> None:
        """Write run.json and start with the state that `make` makes (traceable); or go on from the
        newest whole checkpoint."""
        about = self.folder / "run.json"
        if about.exists():
            self._check(_read_json(about), about)
        else:
            # What would be resumed is known before there is anything to resume.
            _write_json(about, {**self._what, **self._made()})
        tensors = self._newest()
        if not self.spread.any(tensors is not None):
            self.state = jax.jit(make, out_shardings=self.spread.shardings(make))()
        else:
            tensors = self._shared(make, tensors)
            self.state = self.spread.put(make, tensors, self.folder / "checkpoints", restore)
            self._notice(np.asarray(self.state["failed"]))
            self.saved = True
            self.display.note(f"going on after update {self.update}")
        self._curve = _Appender(self.folder / "curve.jsonl", self._curve_until_now())
        steps = self.update * self.learner.steps_per_update
        self._events = [
            _Events(self.folder / "tensorboard" / f"seed-{seed}", steps) for seed in self.seeds
        ]

    def _shared(
        self, make: Callable[[], Any], tensors: dict[str, np.ndarray] | None
    ) -> dict[str, np.ndarray]:
        """The arrays that the first process has read, and where they stand, in all processes."""
        where = np.array([self.update, self.seconds, self.compile_seconds])
        if tensors is not None:
            restore(make, tensors, self.folder / "checkpoints")  # what does not fit is no news
        else:
            tensors = blank(make)
        told = self.spread.from_first({**tensors, "": where})
        update, self.seconds, self.compile_seconds = map(float, told.pop(""))
        self.update = int(update)
        return told

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
                if must_be_finite(name) and not math.isfinite(rows[name][at, i])
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
        state = self.spread.whole(self.state)
        if not self.spread.first:
            self.saved = True
            return
        tensors = arrays_of(state)
        about = {
            **self._what,
            "update": self.update,
            "seconds": self.seconds,
            "compile_seconds": self.compile_seconds,
        }
        path = self.folder / "checkpoints" / f"update-{self.update:09d}.safetensors"
        metadata = {"format": FORMAT, "about": json.dumps(about), "sum": checksum(tensors)}
        policies.write_tensors(path, tensors, metadata)
        self.saved = True
        for old in sorted(path.parent.glob("update-*.safetensors"))[:-_KEPT]:
            old.unlink()

    def rescue(self) -> None:
        """Save what there is, where something went wrong; that it cannot be saved is no news. Where
        several processes train, the others may have gone on, and the last checkpoint stays."""
        lost = any(
            isinstance(leaf, jax.Array) and leaf.is_deleted()
            for leaf in jax.tree_util.tree_leaves(self.state)
        )
        if not (self.saved or lost) and self.spread.processes == 1:
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
                "start again with --overwrite (overwrite=True)"
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
        # Compilers differ, and long sums are divided among the threads of a CPU, of which there is
        # one for each core or host device.
        machine = {name: value for name, value in _machine().items() if name != "system"}
        for kind, values in (("versions", _versions()), ("machine", machine)):
            for name, value in values.items():
                before = about.get(kind, {}).get(name, value)
                if before != value:
                    self.display.print(
                        f"warning: this run began with {name} {before}, this is {value}: what "
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

    def card(self, seed: int, score: Mapping[str, Any]) -> dict[str, Any]:
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
            "score": score,
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
        "devices": jax.local_device_count(),
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


def is_key(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def arrays_of(tree: Any) -> dict[str, np.ndarray]:
    """The leaves of a tree on the host, by path; PRNG keys as the numbers that they are."""
    leaves = {
        jax.tree_util.keystr(path): jax.random.key_data(leaf) if is_key(leaf) else leaf
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    }
    fetched: dict[str, np.ndarray] = jax.device_get(leaves)
    return fetched


def blank(make: Callable[[], Any]) -> dict[str, np.ndarray]:
    """Arrays of the names, shapes and types of `arrays_of(make())`, all zero."""

    def data() -> dict[str, Any]:
        leaves = jax.tree_util.tree_leaves_with_path(make())
        return {
            jax.tree_util.keystr(path): jax.random.key_data(leaf) if is_key(leaf) else leaf
            for path, leaf in leaves
        }

    return {name: np.zeros(leaf.shape, leaf.dtype) for name, leaf in jax.eval_shape(data).items()}


def restore(make: Callable[[], Any], arrays: Mapping[str, np.ndarray], where: Path) -> Any:
    """The tree that `make` would make, with `arrays` as its leaves."""
    kinds = {}  # of PRNG keys

    def plain() -> Any:
        def data(path: Any, leaf: Any) -> Any:
            if not is_key(leaf):
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
                f"{like.dtype}{list(like.shape)}; start again with --overwrite (overwrite=True)"
            )
        # A copy: a checkpoint's memory must not be donated to a computation.
        value = jnp.array(array)
        return jax.random.wrap_key_data(value, impl=kinds[name]) if name in kinds else value

    return jax.tree_util.tree_map_with_path(leaf, jax.eval_shape(plain))


def checksum(tensors: Mapping[str, np.ndarray]) -> str:
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
        if metadata["sum"] != checksum(tensors):
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


class Display:
    """What is seen while a run trains: live in a terminal, a line for each report elsewhere."""

    def __init__(self, learner: Learner, seeds: int, progress: bool | None):
        self._title = f"{learner.env.id} · {learner.name} · {seeds} seed{'s' * (seeds > 1)}"
        self._console = Console(stderr=True, quiet=progress is False)
        self._measure = getattr(learner, "measure", "return")
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

    def __enter__(self) -> Display:
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
        measured = at.metrics[self._measure]
        measured = measured[np.isfinite(measured)]
        self._best = max(self._best, *measured, -math.inf)
        numbers = {self._measure: "no episode finished"}
        digits = 2 if self._measure == "return" else 4
        if len(measured):
            spread = f" ± {measured.std(ddof=1):.{digits}f}" if len(measured) > 1 else ""
            numbers[self._measure] = f"{measured.mean():.{digits}f}{spread}"
            numbers["best"] = f"{self._best:.{digits}f}"
        numbers["env-steps/s" if self._measure == "return" else "steps/s"] = (
            f"{at.steps_per_second:,.0f}"
        )
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
