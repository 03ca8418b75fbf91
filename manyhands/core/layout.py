"""The layout of an observation: named pieces, one after the other.

A game declares its pieces once; the `Layout` made of them says where each piece is, within which
bounds, what every index is called, and writes the table for the documentation:

    layout = Layout(
        [
            Piece("cells", (7, 9), 0, 20, "material of each cell"),
            Piece("vitals", 4, 0, 9, "what keeps you alive", ("health", "food", "drink", "energy")),
            Piece("teammates", (players - 1, 10), 0, 255, "the others, in index order"),
        ],
        np.uint8,
    )
    layout["vitals"]            # slice(63, 67); a piece of no size, such as the teammates of a
    "teammates" in layout       # single player, is left out
    layout.part(row, "cells")   # [7, 9, ...], out of a row [K, ...]
    layout.space()              # the Box
    layout.names[63]            # "vitals: health"
    layout.table()              # Markdown
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from manyhands.core.env import Array


class Piece:
    """One named part of an observation.

    Args:
        name: unique within the layout.
        shape: of its numbers, or how many there are.
        low, high: bounds, both included: numbers, or arrays that broadcast to `shape`.
        meaning: what it holds, for the documentation.
        labels: what each of its numbers is called, in order (see `labelled`).
        actions: of a piece of several rows, each about one thing, the first number of each run of
            `Discrete` actions that has one about each of these things, in the order of the rows.
    """

    def __init__(
        self,
        name: str,
        shape: int | Sequence[int] = 1,
        low: Any = 0,
        high: Any = 1,
        meaning: str = "",
        labels: Sequence[str] = (),
        actions: Sequence[int] = (),
    ):
        self.name, self.meaning, self.labels = name, meaning, tuple(labels)
        self.actions = tuple(actions)
        self.shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape)
        self.size = math.prod(self.shape)
        self.low = np.broadcast_to(np.asarray(low), self.shape).ravel()
        self.high = np.broadcast_to(np.asarray(high), self.shape).ravel()
        if labels and len(labels) != self.size:
            raise ValueError(f"{name} has {self.size} numbers, but {len(labels)} labels")
        if actions and len(self.shape) != 2:
            raise ValueError(f"{name} has actions {self.actions}, but no rows: {self.shape}")

    def names(self) -> list[str]:
        """What each number is called: `"vitals: food"`; without labels `"cells 0"`."""
        if self.labels:
            return [f"{self.name}: {label}" for label in self.labels]
        return [self.name] if self.size == 1 else [f"{self.name} {k}" for k in range(self.size)]


class Layout(Mapping[str, slice]):
    """Where each piece of an observation is: a mapping of names to slices of its first axis.

    Args:
        pieces: in order; those of no size are left out.
        dtype: of the observation.
        over: the shape of what each index holds: () for a vector, (rows, columns) for planes.

    Attributes:
        size: the length of the first axis.
        shape: of the observation of one agent, (size, *over).
        pieces: those that have a size, by name.
        names: what each index is called.
        low, high: bounds of each index, [size].
        divisors: f32[size], the largest absolute value that each index can have, and at least 1: an
            observation divided by it lies within -1 and 1.
    """

    def __init__(self, pieces: Sequence[Piece], dtype: Any, over: Sequence[int] = ()):
        kept = [piece for piece in pieces if piece.size]
        self.pieces = {piece.name: piece for piece in kept}
        if len(self.pieces) < len(kept):
            raise ValueError(f"a piece is named twice in {[piece.name for piece in kept]}")
        ends = list(itertools.accumulate(piece.size for piece in kept))
        self._slices = {p.name: slice(end - p.size, end) for p, end in zip(kept, ends, strict=True)}
        self.size, self.over, self.dtype = sum(p.size for p in kept), tuple(over), np.dtype(dtype)
        self.shape = (self.size, *self.over)
        self.names = tuple(name for piece in kept for name in piece.names())
        self.low = np.concatenate([piece.low for piece in kept])
        self.high = np.concatenate([piece.high for piece in kept])
        largest = np.maximum(np.abs(self.low), np.abs(self.high))
        self.divisors = np.maximum(largest, 1).astype(np.float32)

    def __getitem__(self, name: str) -> slice:
        return self._slices[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._slices)

    def __len__(self) -> int:
        return len(self._slices)

    def space(self, *, divided: bool = False) -> gymnasium.spaces.Box:
        """The space of the observation; `divided`: of one that was divided by `divisors`, f32."""
        low, high, dtype = self.low, self.high, self.dtype
        if divided:
            per_unit = np.float32(1) / self.divisors
            low, high = np.float32(low) * per_unit, np.float32(high) * per_unit
            dtype = np.dtype(np.float32)
        if (low == low[0]).all() and (high == high[0]).all():
            return gymnasium.spaces.Box(low[0].item(), high[0].item(), self.shape, dtype.type)
        wide = (self.size, *(1,) * len(self.over))
        low, high = (
            np.broadcast_to(b.reshape(wide), self.shape).astype(dtype) for b in (low, high)
        )
        return gymnasium.spaces.Box(low, high, dtype=dtype.type)

    def part(self, row: Array, name: str) -> Array:
        """A piece in its own shape, [*piece.shape, ...], out of a row [size, ...]."""
        found, shape = row[self._slices[name]], self.pieces[name].shape
        return found if len(shape) == 1 else found.reshape(*shape, *row.shape[1:])

    def ordered(self, parts: Mapping[str, Array], axis: int = 0) -> list[Array]:
        """The arrays that make up an observation, in the order of the layout, checked to have the
        sizes that were declared along `axis`. Names that are not in the layout are passed over.

        Raises:
            ValueError: a piece is missing, or of another size.
        """
        missing = [name for name in self if name not in parts]
        if missing:
            raise ValueError(f"the observation lacks {', '.join(missing)}")
        for name, piece in self.pieces.items():
            if parts[name].shape[axis] != piece.size:
                raise ValueError(
                    f"{name} has {piece.size} numbers in the layout, "
                    f"but {parts[name].shape[axis]} were given"
                )
        return [parts[name] for name in self]

    def table(self) -> str:
        """The pieces as a table in Markdown."""
        rows = ["| Index | Piece | Numbers | Range | Holds |", "|---|---|---|---|---|"]
        for name, piece in self.pieces.items():
            where = self._slices[name]
            index = f"{where.start}" if piece.size == 1 else f"{where.start}\u2013{where.stop - 1}"
            numbers = " \u00d7 ".join(map(str, piece.shape))
            low, high = piece.low.min().item(), piece.high.max().item()
            span = f"{low:g} to {high:g}" if math.isfinite(low) or math.isfinite(high) else ""
            meaning = piece.meaning or ", ".join(piece.labels)
            rows.append(f"| {index} | `{name}` | {numbers} | {span} | {meaning} |")
        return "\n".join(rows)


def labelled(*axes: Sequence[Any]) -> list[str]:
    """Labels of a piece with several axes: every combination, the last axis running fastest."""
    return [" ".join(map(str, each)) for each in itertools.product(*axes)]
