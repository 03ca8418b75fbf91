"""Training: several seeds at once, in one compiled loop, into a folder that survives being killed.

`train(learner, seeds, out)` repeats `learner.update`, mapped over the seeds, and fetches nothing
but a few means between calls. What it leaves in the folder `out`:

    run.json              what is trained: environment, settings, seeds, command, versions, machine
    curve.jsonl           one line for each report: steps, seconds, and every mean by seed
    tensorboard/seed-S/   the same for TensorBoard: `tensorboard --logdir OUT`
    checkpoints/          all that changes, after one update, PRNG keys included; the newest two
    policy-S.safetensors  what seed S has learned, and beside it the card: where it comes from, and
    policy-S.json         what it scores
    average-S.safetensors where the learner keeps snapshots (`average` of PPO): the average strategy
    average-S.json        of self-play, and its card
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
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.table import Table

from manyhands.baselines import game_theory
from manyhands.baselines.evaluation.matches import MOST_EPISODES
from manyhands.baselines.learners.algorithms import (
    ALGORITHMS,
    Algorithm,
    config_class,
    configured,
    default_config,
    folder_name,
    grow,
    make_learner,
    told,
)
from manyhands.baselines.learners.results import Evaluation, Score, plot, read_curve, render_gif
from manyhands.baselines.learners.runs import (
    Display,
    Learner,
    Report,
    Run,
    arrays_of,
    io_error,
    is_key,
    locked,
    must_be_finite,
    restore,
    writing,
)
from manyhands.baselines.learners.spread import Spread
from manyhands.baselines.players import network as policies
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.core.config import number, whole
from manyhands.core.env import (
    Array,
    ConfigError,
    TrainingError,
    seed_key,
)

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Evaluation",
    "Learner",
    "Report",
    "Score",
    "TrainingError",
    "TrainingResult",
    "config_class",
    "configured",
    "default_config",
    "folder_name",
    "grow",
    "make_learner",
    "plot",
    "read_curve",
    "summary",
    "told",
    "train",
]

_REPORTS = 200  # reports of a run, by default


@dataclasses.dataclass(frozen=True)
class TrainingResult:
    """What `train` made.

    Attributes:
        out: the run's folder.
        policies, scores: by seed; seeds that diverged are not among them.
        averages: average strategies by seed, of learners that keep snapshots.
        exploitability: of each policy in `averages`, where the game is small enough to unroll.
        best: the seed with the highest score, None if all diverged.
        failed: seeds that diverged, and in which update.
        steps: environment steps of each seed.
        seconds, compile_seconds: wall-clock time of training, and the part of it that compiled.
    """

    out: Path
    policies: dict[int, NetworkPolicy]
    scores: dict[int, Score]
    averages: dict[int, NetworkPolicy]
    exploitability: dict[int, float]
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
    devices: Sequence[Any] | None = None,
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
        devices: divide the run over these (`learners/spread.py`): the seeds, if their number can be
            divided, else the environments. After `jax.distributed.initialize()` all processes make
            the same call with `devices=jax.devices()`; the first one writes `out`, and all get the
            result. By default one device.

    Raises:
        TrainingError: `out` holds a run already, or one of something else; the disk is full; a seed
            diverged (the result so far is the error's attribute `result`).
        KeyboardInterrupt, SystemExit: on SIGINT and SIGTERM, after a checkpoint.
    """
    chosen = _seeds(seeds)
    every = max(1, math.ceil(learner.num_updates / _REPORTS))
    if updates_per_report is not None:
        every = whole("updates_per_report", updates_per_report, 1)
    episodes = whole("episodes", episodes, 1, MOST_EPISODES)
    checkpoint_minutes = number("checkpoint_minutes", checkpoint_minutes, 0)
    spread = Spread(devices, len(chosen))
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(spread.folder(Path(out)))
        seen = progress if spread.first else False
        display = stack.enter_context(Display(learner, len(chosen), seen))
        stack.enter_context(locked(folder, resume, overwrite))
        run = Run(learner, chosen, folder, command, display, spread)
        stack.callback(run.close)
        with writing(folder):
            run.begin(_begin(learner, chosen))
        _loop(run, every, checkpoint_minutes * 60, report)
        try:
            result = _finish(run, episodes)
        except OSError as error:
            raise TrainingError(f"{io_error(error, folder)}; {run.whereabouts()}") from error
    result = dataclasses.replace(result, out=Path(out))
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
        progress = jax.vmap(lambda seed: learner.init(seed_key(seed)))(numbers)
        # A scalar of no fixed type would make the next call another program.
        progress = jax.tree_util.tree_map(
            lambda leaf: leaf if is_key(leaf) else jax.lax.convert_element_type(leaf, leaf.dtype),
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
    watched = [metrics[name] for name in metrics if must_be_finite(name)]
    for leaf in jax.tree_util.tree_leaves(getattr(progress, "params", ())):
        if jnp.issubdtype(leaf.dtype, jnp.inexact):
            watched.append(jnp.sum(leaf, axis=tuple(range(1, leaf.ndim))))
    return jnp.all(jnp.isfinite(jnp.stack(watched)), axis=0) if watched else jnp.bool_(True)


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
        by_episode = name.startswith(("return", "metrics/", "terms/")) or name == "length"
        share = (weight if by_episode else np.ones_like(values)) * ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            means[name] = (np.nan_to_num(values, posinf=np.inf) * share).sum(0) / share.sum(0)
    return means


def _loop(run: Run, every: int, pause: float, report: Callable[[Report], None] | None) -> None:
    """Train to the end; whatever happens, leave a checkpoint of the last whole interval."""
    learner, seeds, spread = run.learner, run.seeds, run.spread
    if run.over:
        return
    began, before = time.perf_counter(), run.seconds
    saved = began
    with _signals(run.display) as asked:
        try:
            run.display.note("compiling")
            made = spread.shardings(_begin(learner, seeds))
            divided: dict[str, Any] = (
                {} if made is None else {"out_shardings": (made, spread.everywhere())}
            )
            program = jax.jit(_advance(learner, every), donate_argnums=0, **divided)
            zero = jax.device_put(np.int32(0), spread.everywhere())
            compiled = program.lower(run.state, zero, zero).compile()
            run.compile_seconds += time.perf_counter() - began
            stopped = spread.any(bool(asked))
            while not (run.over or stopped):
                start = time.perf_counter()
                count = min(every, learner.num_updates - run.update)
                numbers = jax.device_put(
                    (np.int32(run.update), np.int32(count)), spread.everywhere()
                )
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
                stopped = spread.any(bool(asked))
                if spread.any(time.perf_counter() - saved >= pause or run.over or stopped):
                    run.save()
                    saved = time.perf_counter()
            if stopped and not run.saved:
                run.save()
        except BaseException as error:
            run.rescue()
            if isinstance(error, OSError):
                raise TrainingError(
                    f"{io_error(error, run.folder)}; {run.whereabouts()}"
                ) from error
            raise
    if stopped and not run.over:
        run.display.print(run.whereabouts())
        number = asked[0] if asked else signal.SIGTERM  # another process was asked
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)


@contextlib.contextmanager
def _signals(display: Display) -> Iterator[list[int]]:
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


# ---- the end: scores, policies, pictures ---------------------------------------------------------


def _finish(run: Run, episodes: int) -> TrainingResult:
    """Evaluate every seed that did not diverge, and write what it learned."""
    learner, host = run.learner, arrays_of(run.spread.whole(run.state["progress"]))
    made, scores, averages = {}, {}, {}
    average = getattr(learner, "average", lambda progress: None)
    evaluation: Evaluation | None = None
    for i, seed in enumerate(run.seeds):
        if seed in run.failed:
            continue
        run.display.note(f"evaluating seed {seed}")
        own = {name: array[i] for name, array in host.items()}
        progress = restore(lambda: learner.init(seed_key(0)), own, run.folder)
        made[seed] = learner.policy(progress)
        evaluation = evaluation or Evaluation(learner.env, made[seed], episodes)
        scores[seed] = evaluation(made[seed], seed_key(seed))
        path = run.folder / f"policy-{seed}.safetensors"
        policies.save(path, made[seed], run.card(seed, scores[seed].plain()))
        mixed = average(progress)
        if mixed is not None:
            averages[seed] = mixed
    exploitable = _exploitability(run, made, averages)
    best = max(scores, key=lambda seed: scores[seed].mean) if scores else None
    run.display.note("drawing the learning curve")
    curve = run.folder / "curve.jsonl"
    title = f"{learner.name} in {folder_name(learner.env)}, {len(run.seeds)} seeds"
    measure = getattr(learner, "measure", "return")
    policies.replace(run.folder / "curve.png", plot(curve, title, measure))
    if best is not None:
        run.display.note(f"filming seed {best}")
        render_gif(learner.env, made[best], best, run.folder / "episode.gif")
    return TrainingResult(
        out=run.folder,
        policies=made,
        scores=scores,
        averages=averages,
        exploitability=exploitable,
        best=best,
        failed=dict(run.failed),
        steps=run.update * learner.steps_per_update,
        seconds=run.seconds,
        compile_seconds=run.compile_seconds,
    )


def _exploitability(
    run: Run,
    last: Mapping[int, policies.NetworkPolicy],
    averages: Mapping[int, policies.NetworkPolicy],
) -> dict[int, float]:
    """Write the average strategies, with what a perfect opponent wins from them and from the last
    policies where that can be computed; returns it for the averages."""
    if not averages:
        return {}
    run.display.note("judging the average strategies")
    tables: dict[int, dict[str, np.ndarray]] = {}
    unknown = ""
    try:
        tree = game_theory.tree_of(run.learner.env)
        for seed, policy in averages.items():
            players = {"average": policy, "last": last[seed]}
            tables[seed] = {k: game_theory.tabulate(tree, each) for k, each in players.items()}
    except ConfigError as error:
        unknown = f"not computed: {error}"
        run.display.print(f"exploitability is {unknown}")
    exploitable = {}
    for seed, policy in averages.items():
        score: dict[str, Any] = {"exploitability": unknown}
        if not unknown:
            gaps = {k: game_theory.nash_conv(tree, table) for k, table in tables[seed].items()}
            exploitable[seed] = gaps["average"] / tree.num_agents
            score = {
                "nash_conv": gaps["average"],
                "exploitability": exploitable[seed],
                "exploitability_of_last": gaps["last"] / tree.num_agents,
                "values": game_theory.expected_values(tree, tables[seed]["average"]).tolist(),
            }
        path = run.folder / f"average-{seed}.safetensors"
        policies.save(path, policy, run.card(seed, score))
    return exploitable


def summary(result: TrainingResult) -> Table:
    """The scores of a run as a table."""
    table = Table(
        "seed", "return", "episodes", "steps of one", "policy", title=f"self-play, {result.out}"
    )
    if result.exploitability:
        table.add_column("exploitability of the average")
    for seed, score in result.scores.items():
        table.add_row(
            f"{seed}{' (best)' * (seed == result.best and len(result.scores) > 1)}",
            f"{score.mean:.2f} ± {score.standard_error:.2f}",
            str(score.episodes),
            f"{score.length:g}",
            str(result.out / f"policy-{seed}.safetensors"),
            *(f"{value:.4f}" for s, value in result.exploitability.items() if s == seed),
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
