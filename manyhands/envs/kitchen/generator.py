"""Procedural kitchens: deterministic by seed, every one solvable.

A generated kitchen starts as one open room (or two, with a counter between them), which is then
filled with counters, single ones and runs, as long as each room stays connected. Much floor gives
islands, little floor gives corridors. Stations take random places beside the floor. A kitchen that
the checker of `levels.py` refuses is thrown away and the next one drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from manyhands.core.config import check_options, whole
from manyhands.core.env import ConfigError, LayoutError
from manyhands.envs.kitchen.levels import (
    DIRECTIONS,
    MAX_CELLS,
    MAX_CHEFS,
    SYMBOLS,
    Cell,
    Level,
    connected_parts,
    load_level,
)

TRIES = 300  # drafts of one kitchen before the knobs are called impossible

Range = int | tuple[int, int]


@dataclass(frozen=True)
class GeneratorConfig:
    """The knobs of `generate`. A number may be a range (lowest, highest), drawn for each kitchen.

    Attributes:
        width, height: cells, borders included.
        chefs: how many chefs, 1 to 6; not a range, as it is the number of agents.
        onions, tomatoes, dishes, pots, servings: how many stations of each kind.
        openness: share of the interior that is floor, 0 (as little as the rest allows) to 1.
        divided: whether the kitchen is two rooms that share a counter, with a chef in each; a
            number is the share of kitchens that are.
    """

    width: Range = (5, 8)
    height: Range = (4, 7)
    chefs: int = 2
    onions: Range = (1, 2)
    tomatoes: Range = 0
    dishes: Range = 1
    pots: Range = (1, 2)
    servings: Range = 1
    openness: float | tuple[float, float] = (0.5, 1.0)
    divided: bool | float = False

    def __post_init__(self) -> None:
        lowest = {"width": 3, "height": 3, "chefs": 1, "dishes": 1, "pots": 1, "servings": 1}
        for field in fields(self):
            name, given = field.name, getattr(self, field.name)
            if isinstance(given, list):  # as JSON gives ranges back
                given = tuple(given)
                object.__setattr__(self, name, given)
            if name in ("openness", "divided"):
                low, high, kinds = 0.0, 1.0, (int, float)
            else:
                low, high, kinds = lowest.get(name, 0), MAX_CELLS, (int,)  # type: ignore[assignment]
            parts = given if isinstance(given, tuple) else (given,)
            single = name in ("chefs", "divided")
            if (
                len(parts) not in (1, 2)
                or (single and isinstance(given, tuple))
                or not all(isinstance(part, kinds) for part in parts)
                or (name != "divided" and any(isinstance(part, bool) for part in parts))
            ):
                what = "a number" if single else "a number or a range (lowest, highest)"
                raise ConfigError(f"{name} of a generated kitchen is {what}; got {given!r}")
            if not low <= parts[0] <= parts[-1] <= high:
                raise ConfigError(
                    f"{name} of a generated kitchen is from {low} to {high}, the lower end of a "
                    f"range first; got {given!r}"
                )
        if self.chefs > MAX_CHEFS:
            raise ConfigError(f"chefs of a generated kitchen is 1 to {MAX_CHEFS}; got {self.chefs}")
        if self.max_width * self.max_height > MAX_CELLS:
            raise ConfigError(
                f"a kitchen has at most {MAX_CELLS} cells; {self.max_width} by {self.max_height} "
                "is more"
            )
        if _high(self.onions) + _high(self.tomatoes) == 0:
            raise ConfigError("a generated kitchen needs onions or tomatoes (dispensers)")
        if self.divided and self.chefs < 2:
            raise ConfigError("a divided kitchen needs a chef in each room: chefs is at least 2")
        if self.divided and max(self.max_width, self.max_height) < 5:
            raise ConfigError("a divided kitchen is at least 5 cells wide or high")

    @property
    def max_width(self) -> int:
        return int(_high(self.width))

    @property
    def max_height(self) -> int:
        return int(_high(self.height))


def _high(given: Any) -> Any:
    return given[-1] if isinstance(given, tuple) else given


def generate(
    seed: int | list[int],
    config: GeneratorConfig | None = None,
    *,
    rules: Mapping[str, Any] | None = None,
    **knobs: Any,
) -> Level:
    """The kitchen that a seed names: `generate(7, width=(6, 9), height=6, pots=2)`.

    Args:
        seed: an integer of 0 or more, or a list of them.
        config, knobs: a `GeneratorConfig`, or its fields by name, or both (knobs win).
        rules: recipes, as keyword arguments of `load_level` (orders, values, times, ...).
    """
    check_options(GeneratorConfig, knobs, "the generator")
    config = replace(config or GeneratorConfig(), **knobs)
    rng = np.random.default_rng(seed)
    reason = "no draft has room for all stations and chefs"
    for _ in range(TRIES):
        text = _draft(rng, config)
        if text is None:
            continue
        try:
            level = load_level(text, **dict(rules or {}))
        except LayoutError as error:
            reason = str(error)
            continue
        return replace(level, name=f"generated {seed}")
    raise ConfigError(
        f"no solvable kitchen found in {TRIES} drafts with {config}: {reason}; "
        "make it larger or more open, or ask for fewer stations and chefs"
    )


def generate_levels(
    config: GeneratorConfig | None = None,
    count: int = 1,
    seed: int = 0,
    *,
    rules: Mapping[str, Any] | None = None,
) -> list[Level]:
    """`count` different kitchens; the first ones are the same whatever the count."""
    whole("num_levels", count, 1)
    whole("level_seed", seed, 0)
    levels: dict[Level, None] = {}
    for i in range(20 * count + 100):
        levels.setdefault(generate([seed, i], config, rules=rules))
        if len(levels) == count:
            return list(levels)
    raise ConfigError(
        f"only {len(levels)} different kitchens found with {config}, {count} were asked for"
    )


def _draft(rng: np.random.Generator, config: GeneratorConfig) -> str | None:
    """A layout text with all that was asked for, perhaps not solvable; None if it did not fit."""

    def draw(given: Range) -> int:
        low, high = given if isinstance(given, tuple) else (given, given)
        return int(rng.integers(low, high + 1))

    width, height = draw(config.width), draw(config.height)
    low, high = config.openness if isinstance(config.openness, tuple) else (config.openness,) * 2
    openness = rng.uniform(low, high)
    interior = [(x, y) for y in range(1, height - 1) for x in range(1, width - 1)]
    floor = set(interior)
    divided = bool(rng.random() < config.divided)
    if divided:
        lines = [[(x, y) for y in range(1, height - 1)] for x in range(2, width - 2)]
        lines += [[(x, y) for x in range(1, width - 1)] for y in range(2, height - 2)]
        if not lines:
            return None
        floor -= set(lines[rng.integers(len(lines))])
    rooms = len(connected_parts(floor))
    target = max(round(openness * len(interior)), config.chefs, rooms)
    # Runs of counters look like work tops, single ones like islands; kitchens lean either way.
    run = rng.choice([1, 1, 2, 3])
    while len(floor) > target:  # ends: a room of two cells or more has one that it can spare
        x, y = interior[rng.integers(len(interior))]
        dx, dy = DIRECTIONS[rng.integers(4)]
        for step in range(run):
            rest = floor - {(x + dx * step, y + dy * step)}
            if target <= len(rest) < len(floor) and len(connected_parts(rest)) == rooms:
                floor = rest

    stations = "".join(
        symbol * draw(number)
        for symbol, number in (
            ("O", config.onions),
            ("T", config.tomatoes),
            ("D", config.dishes),
            ("P", config.pots),
            ("S", config.servings),
        )
    )
    walls = [(x, y) for y in range(height) for x in range(width) if (x, y) not in floor]
    places = [cell for cell in walls if any(n in floor for n in _beside(cell))]
    if len(places) < len(stations) or len(floor) < config.chefs:
        return None
    rows = [["X"] * width for _ in range(height)]
    for x, y in floor:
        rows[y][x] = SYMBOLS[1]
    for symbol, i in zip(stations, rng.permutation(len(places)), strict=False):
        x, y = places[i]
        rows[y][x] = symbol
    # One chef in each room first, the others anywhere; then shuffled, so that numbers say nothing.
    starts: list[Cell] = []
    for part in connected_parts(floor):
        if len(starts) < config.chefs:
            starts.append(sorted(part)[rng.integers(len(part))])
    free = sorted(floor.difference(starts))
    starts += [free[i] for i in rng.permutation(len(free))[: config.chefs - len(starts)]]
    for player, i in enumerate(rng.permutation(len(starts))):
        x, y = starts[i]
        rows[y][x] = str(player + 1)
    return "\n".join("".join(row) for row in rows)


def _beside(cell: Cell) -> list[Cell]:
    return [(cell[0] + dx, cell[1] + dy) for dx, dy in DIRECTIONS]
