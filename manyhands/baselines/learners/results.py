"""What a run of training yields: scores of self-play, learning curves, a film of an episode."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import os
from pathlib import Path
from typing import Any

import jax
import numpy as np

from manyhands.baselines.players import network as policies
from manyhands.core.batch import BatchPolicy, BatchView, Seats
from manyhands.core.env import (
    Array,
    Env,
)
from manyhands.core.rollout import rollout

_BLOCK = 256 << 20  # bytes of a trajectory that evaluation may hold


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
class _Player(BatchPolicy):
    """A network in every seat whose parameters are data, so that one program plays all seeds."""

    policy: policies.NetworkPolicy  # without its parameters

    def _seats(self, env: Env, params: Any) -> Seats:
        return Seats((dataclasses.replace(self.policy, params=params),) * env.num_agents)

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
        self._player = _Player(dataclasses.replace(policy, params=None))
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


def plot(curve: str | Path, title: str = "", measure: str = "return") -> bytes:
    """The learning curve in a curve.jsonl as a PNG: a thin line for each seed, their mean, and one
    standard deviation around it; of the return, or of another of its metrics."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    lines = read_curve(curve)
    steps = np.array([line["steps"] for line in lines])
    returns = np.array([line["metrics"][measure] for line in lines], np.float64)
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    if len(lines):
        for i, values in enumerate(returns.T):
            label, known = "single seeds" if i == 0 else None, np.isfinite(values)
            axes.plot(
                steps[known], values[known], color="tab:blue", linewidth=0.6, alpha=0.5, label=label
            )
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
    label = "return of an episode (reward, mean of the agents)"
    axes.set_xlabel("environment steps of each seed" if measure == "return" else "steps")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_ylabel(label if measure == "return" else measure.replace("_", " "))
    axes.set_title(title, fontsize="medium")
    axes.grid(alpha=0.3)
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=130)
    return data.getvalue()


def render_gif(env: Env, policy: policies.NetworkPolicy, seed: int, path: Path) -> None:
    """A GIF of one episode."""
    from manyhands.core.play import play
    from manyhands.viewer.export import export_gif
    from manyhands.viewer.scenes import scenes

    moments: list[Any] = []
    play(env, policy, episodes=1, seed=seed, on_step=moments.append, progress=False)
    beside = path.with_name(f".{path.name}")
    try:
        export_gif(scenes(moments), beside, fps=max(10.0, env.pace))
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
