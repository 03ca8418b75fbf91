"""Advantages for training language models, from the conversations of `export_chat` alone.

Three estimators of how much better an episode, or one answer in it, was than could be expected. R
is the return of the agent in the episode, its `total`.

- **role** (RAE, Liu et al. 2025, SPIRAL): R - b, where b is a running mean of the returns of this
  role in this game, from 0 on: b <- decay b + (1 - decay) R. Each return is compared with the mean
  before it, in the order of the file.
- **group** (GRPO, Shao et al. 2024): (R - mean) / deviation, over the episodes that began alike
  with the agent in the same role: the members of a group of `play(group=)`.
- **anchor** (GiGPO, Feng et al. 2025), of each answer: (D - mean) / deviation, over all answers of
  the group that the same role gave to the same sight (`anchors`), where D is the discounted sum of
  the rewards from this answer on.

Deviations are those of samples (n - 1) plus 1e-6, as trainers of language models have them; what is
alone in its group has the advantage 0.
"""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyhands.core.env import ConfigError, RecordError, shorten

_NEEDED: dict[str, type | tuple[type, ...]] = {
    "env": (str, dict),  # JSON text; an object in older exports
    "agent": str,
    "seat": str,
    "seed": int,
    "group": int,
    "total": (int, float, str),  # not finite: "nan", "inf"
    "rewards": list,
    "anchors": list,
}


@dataclass(frozen=True)
class Credit:
    """The advantages of one agent in one episode.

    Attributes:
        conversation: the line of the export (`export_chat`).
        role, group: of the episode.
        anchor: f64[answers], of each answer.
        illegal: how many of its answers were refused in the end.
        forfeit: whether it forfeited: `total` then holds the price.
    """

    conversation: dict[str, Any]
    role: float
    group: float
    anchor: np.ndarray
    illegal: int = 0
    forfeit: bool = False

    def joint(self, weight: float = 1.0) -> np.ndarray:
        """f64[answers], what GiGPO trains with: group + weight * anchor."""
        return self.group + weight * self.anchor


def advantages(
    path: str | os.PathLike[str],
    *,
    seat: str | None = None,
    decay: float = 0.95,
    discount: float = 0.95,
    scale: bool = True,
    baselines: MutableMapping[tuple[str, str], float] | None = None,
) -> list[Credit]:
    """The advantages of every conversation in a file that `export_chat` wrote, in its order.

    Several games may be in one file. Groups are told apart by game, seed, number and role, so runs
    in one file need seeds of their own.

    Args:
        path: the export.
        seat: the name of the seat that learns; conversations of others are left out. By default all
            learn, as in self-play.
        decay: of the running mean of each role.
        discount: of rewards per answer, for anchors.
        scale: whether to divide by deviations; otherwise only means are subtracted.
        baselines: the running means so far, by game (its `spec` as JSON) and agent; they are moved
            on, so that the next file can go on with them.

    Raises:
        RecordError: the file cannot be read, or is no such export.
    """
    for name, value in (("decay", decay), ("discount", discount)):
        if not 0 <= value <= 1:
            raise ConfigError(f"{name} is a number from 0 to 1, given {value!r}")
    baselines = {} if baselines is None else baselines
    lines = [line for line in _read(path) if seat is None or line["seat"] == seat]
    games = [json.dumps(line["env"], sort_keys=True) for line in lines]
    returns = [float(line["total"]) for line in lines]

    role = []
    for line, game, gained in zip(lines, games, returns, strict=True):
        baseline = baselines.get((game, line["agent"]), 0.0)
        role.append(gained - baseline)
        baselines[game, line["agent"]] = decay * baseline + (1 - decay) * gained

    groups: list[Hashable] = [
        (game, line["seed"], line["group"], line["agent"])
        for line, game in zip(lines, games, strict=True)
    ]
    group = compared(returns, groups, scale)

    sights: list[Hashable] = []
    to_come: list[float] = []
    for line, key in zip(lines, groups, strict=True):
        sights += [(key, sight) for sight in line["anchors"]]
        to_come += discounted(line["rewards"], discount)
    answers, end = compared(to_come, sights, scale), 0
    credits = []
    for line, by_role, by_group in zip(lines, role, group.tolist(), strict=True):
        begin, end = end, end + len(line["anchors"])
        illegal = sum(status != "ok" for status in line.get("parse", ()))
        forfeit = line["agent"] in line.get("forfeits", ())
        credits.append(Credit(line, by_role, by_group, answers[begin:end], illegal, forfeit))
    return credits


def compared(values: Sequence[float], groups: Sequence[Hashable], scale: bool) -> np.ndarray:
    """f64[len(values)]: each value less the mean of its group, over the group's deviation."""
    members: dict[Hashable, list[int]] = {}
    for k, key in enumerate(groups):
        members.setdefault(key, []).append(k)
    compared = np.array(values, np.float64)
    for among in members.values():
        differences = compared[among] - compared[among].mean()
        if scale and len(among) > 1:
            differences /= compared[among].std(ddof=1) + 1e-6
        compared[among] = differences
    return compared


def discounted(rewards: Sequence[Any], discount: float) -> list[float]:
    """For each answer, the discounted sum of rewards from it on."""
    sums, later = [], 0.0
    for reward in reversed(rewards):
        later = float(reward) + discount * later
        sums.append(later)
    return sums[::-1]


def _read(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    try:
        with open(path, "rb") as file:
            for number, data in enumerate(file, start=1):
                try:
                    yield _checked(json.loads(data))
                except (ValueError, TypeError, RecursionError) as error:
                    raise RecordError(
                        f"{os.fspath(path)}, line {number} is no conversation of export_chat: "
                        f"{error}"
                    ) from error
    except OSError as error:
        raise RecordError(f"cannot read {os.fspath(path)}: {error.strerror}") from error


def _checked(line: Any) -> dict[str, Any]:
    if not isinstance(line, dict):
        raise TypeError(f"an object was expected, not {shorten(line)}")
    for name, kind in _NEEDED.items():
        if not isinstance(line.get(name), kind):
            raise TypeError(f"`{name}` is {shorten(line.get(name))}")
    numbers = [float(value) for value in (line["total"], *line["rewards"])]
    if len(numbers) != 1 + len(line["anchors"]) or not all(
        isinstance(sight, str) for sight in line["anchors"]
    ):
        raise ValueError("`rewards` and `anchors` have one number and one text for each answer")
    if isinstance(line["env"], str):
        line["env"] = json.loads(line["env"])
    return line
