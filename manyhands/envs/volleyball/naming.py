"""The skill that a sentence names, and the places of skills in words and numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.choices import Form
from manyhands.core.env import IllegalAction, names_of
from manyhands.envs.volleyball import figures, reading
from manyhands.envs.volleyball.flight import BUMP, GO, SET, SPIKE, VERBS

if TYPE_CHECKING:
    from manyhands.envs.volleyball.skills import VolleyballSkills

AROUND, TOP = 1.0, 6.0  # m around the court and above it, of places that are named in words
LISTED = 5  # numbers that a line of choices names, one by one
DEPTHS = {"short": 0.3, "medium": 0.55, "deep": 0.8}  # of the far half's length
# How far numbers may be from a place that they mean, in distances between places, and at least, m.
_OFF, _LEAST = 0.75, 0.7
# What tells of a serve, and orders none.
_ABOUT_SERVE = re.compile(r"\bserve (?:goes|go|went|is|was|will|flies|lands)\b", re.I)
# Where a way leads: the axis of a place, and its sign.
_WAYS = {"back": (0, 1), "forward": (0, -1), "left": (1, -1), "right": (1, 1), "up": (2, 1),
         "down": (2, -1)}  # fmt: skip


def parse(
    skills: VolleyballSkills, text: str, perception: Any = None, current: int | None = None
) -> int | None:
    """`VolleyballSkills.parse`."""
    sentence, numbers = reading.with_place(text)
    readings = reading.skills().read(sentence)
    if {r.meaning for r in readings} == {"receive", "serve"} and perception is not None:
        served = float(skills.parse_observation(np.asarray(perception)).served) > 0
        now = "receive" if served else "serve"  # "take the serve"
        readings = [r for r in readings if r.meaning == now]
    going = [r for r in readings if r.meaning == "go on"]
    if going and current is not None and VERBS[skills.kinds[current]] == going[0].values["what"]:
        readings = going[:1]
    elif len(going) < len(readings):  # "continue the spike" is a spike, if none is under way
        readings = [r for r in readings if r.meaning != "go on"]
    if not readings or len({(r.meaning, *r.values.items()) for r in readings}) > 1:
        return None
    meaning, values = readings[0]
    if meaning == "serve" and _ABOUT_SERVE.search(text):
        return None
    if meaning == "go on":
        return _going_on(skills, values, numbers, perception, current)
    if meaning == "pass to":  # a team's, to a place of the own half
        if numbers is None or len(numbers) != 3 or skills.members == 1:
            return None
        meaning = "set to"
    if meaning == "touch":
        hitting = ("receive", "bump to", *(("set to",) if skills.members > 1 else ()), "spike to")
        raise IllegalAction(f"say how to play the ball: {names_of(hitting)}")
    if meaning == "receive far":  # a team's goes to the one who sets
        return skills.names.index("receive") if skills.members == 1 else None
    if meaning in ("go home", "go middle"):
        return _going_home(skills, meaning, sentence, numbers, perception)
    kind = VERBS.index(meaning)
    rows = np.flatnonzero(skills.kinds == kind)
    if not len(rows):
        raise IllegalAction(f"there is no {VERBS[kind]!r} here: each team has one drone")
    if len(rows) == 1:
        return int(rows[0])
    if figures.LIST not in sentence and sentence.endswith(" to") and ":" in sentence:
        return None  # its place is cut off
    return _placed(skills, kind, values, sentence, numbers)


def _placed(
    skills: VolleyballSkills,
    kind: int,
    values: dict[str, Any],
    sentence: str,
    numbers: list[float] | None,
) -> int | None:
    """The skill of a kind whose place a sentence names in words or numbers."""
    spans, spot = _spans(skills, kind), None
    if "side" in values or "middle" in values:
        spot = _spot(skills, values)
        ruled_out = {k: values[f"not {k}"] for k in ("side", "depth") if f"not {k}" in values}
        if ruled_out and _spot(skills, {**values, **ruled_out}) == spot:
            return None  # "deep left, not left"
        numbers = spot if figures.LIST not in sentence else numbers
    if numbers is None or len(numbers) != len(spans):
        raise IllegalAction(
            f"say where to {VERBS[kind]} in {len(spans)} numbers: {listed(skills, kind)}; for "
            f"example {skills.names[int(np.flatnonzero(skills.kinds == kind)[0])]!r}"
        )
    place = ", ".join(f"{number:g}" for number in numbers)
    if not all(a <= number <= b for number, (a, b) in zip(numbers, spans, strict=True)):
        raise IllegalAction(f"({place}) is off the court; {VERBS[kind]!r} has {_in_words(spans)}")
    found = _closest(skills, kind, np.asarray(numbers))
    if spot is not None and found != _closest(skills, kind, np.asarray(spot)):
        return None  # numbers and words that differ
    if spot is None and not _means(skills, kind, numbers, found):
        raise IllegalAction(
            f"no place to {VERBS[kind]} is at ({place}), the nearest is {skills.names[found]!r}; "
            f"there are {listed(skills, kind)}"
        )
    return found


def _means(skills: VolleyballSkills, kind: int, numbers: Sequence[float], found: int) -> bool:
    """Whether numbers are near enough to the place that they are nearest to: not those of two
    places of which there is no pair."""
    goals, place = skills.goals[skills.kinds == kind], skills.goals[found]
    exact = True
    for k, number in enumerate(numbers):
        values = np.unique(goals[:, k].round(3))
        gap = float(np.diff(values).max()) if len(values) > 1 else 2.0
        if abs(number - float(place[k])) > max(_OFF * gap, _LEAST):
            return False
        exact = exact and bool(np.abs(values - number).min() < 1e-3)
    return not exact or bool(np.abs(place[: len(numbers)] - numbers).max() < 1e-3)


def _going_on(
    skills: VolleyballSkills,
    values: dict[str, Any],
    numbers: list[float] | None,
    perception: Any,
    current: int | None,
) -> int | None:
    """The skill that is under way, if it is the one of which a sentence says that it goes on."""
    what = values["what"]
    doing = -1 if current is None else int(skills.kinds[current])
    if current is None or doing != VERBS.index(what):
        raise IllegalAction(f"no {what.removesuffix(' to')!r} is under way that could go on")
    if "way" in values:
        if perception is None:
            return None
        obs = skills.parse_observation(np.asarray(perception, np.float32))
        axis, sign = _WAYS[values["way"]]
        if sign * float(skills.goals[current][axis] - obs.position[axis]) < 0:
            return None
    if numbers is not None and not _agrees(numbers, skills.goals[current], 0.1):
        return None
    return current


def _going_home(
    skills: VolleyballSkills,
    meaning: str,
    sentence: str,
    numbers: list[float] | None,
    perception: Any,
) -> int | None:
    home = np.array([skills.body.half_length / 2, 0.0, 2.0])
    if meaning == "go home":
        if perception is None:
            return None
        obs = skills.parse_observation(np.asarray(perception))
        home = np.asarray(obs.anchors)[: skills.members].T @ np.asarray(obs.me)
    if figures.LIST in sentence and not _agrees(numbers, home):
        return None
    return _closest(skills, GO, home)


def _spot(skills: VolleyballSkills, values: dict[str, Any]) -> list[float]:
    """The place of the far half that words like "deep left" mean."""
    side = {"left": -0.5, "right": 0.5}.get(values.get("side", ""), 0.0)
    depth = DEPTHS["deep" if "rear" in values else values.get("depth", "medium")]
    return [-depth * skills.body.half_length, side * skills.body.half_width]


def _closest(skills: VolleyballSkills, kind: int, place: np.ndarray) -> int:
    """The skill of a kind whose place is nearest to some numbers."""
    rows = np.flatnonzero(skills.kinds == kind)
    apart = np.linalg.norm(skills.goals[rows][:, : len(place)] - place, axis=1)
    return int(rows[np.argmin(apart)])


def _spans(skills: VolleyballSkills, kind: int) -> list[tuple[float, float]]:
    """Between what numbers a skill's places can be: on its half, or a little outside it."""
    length, width = skills.body.half_length + AROUND, skills.body.half_width + AROUND
    far = kind in (BUMP, SPIKE)
    sides = [(-length, 0.0) if far else (0.0, length), (-width, width)]
    return sides if far else [*sides, (0.0, TOP)]


def form(skills: VolleyballSkills, kind: int, word: str) -> Form:
    """All skills of one kind as one line: `word` is what one of them does."""
    names = "xyz" if kind in (GO, SET) else "xy"
    goals = skills.goals[skills.kinds == kind]
    ranges = {n: (_round(v.min()), _round(v.max())) for n, v in zip(names, goals.T, strict=False)}
    effect = "fly there, about 1 s for 1 m, 2 s for 4 m" if kind == GO else word
    places = ", ".join(f"{{{n}}}" for n in names)
    return Form(f"{VERBS[kind]} ({places})", f"{effect}; {listed(skills, kind)}", ranges)


def listed(skills: VolleyballSkills, kind: int) -> str:
    """The places of a kind: "x -0.9 or -1.8, y -0.75 or 0.75", and those of them that go together,
    where not all do."""
    names = "xyz" if kind in (GO, SET) else "xy"
    places = {tuple(map(_round, goal[: len(names)])) for goal in skills.goals[skills.kinds == kind]}
    beside: dict[tuple[tuple[float, ...], ...], list[float]] = {}
    for x in sorted({place[0] for place in places}):
        others = tuple(sorted(place[1:] for place in places if place[0] == x))
        beside.setdefault(others, []).append(x)
    return "; ".join(
        _values(names, np.array([(x, *other) for x in xs for other in others]))
        for others, xs in beside.items()
    )


def _values(names: str, goals: np.ndarray) -> str:
    # Numbers mean the nearest of these: "z 1.6 to 2.4" would seem to hold 2.
    parts = []
    for n, column in zip(names, goals.T, strict=False):
        values = sorted({_round(value) for value in column})
        few = len(values) <= LISTED
        told = names_of([f"{value:g}" for value in values])
        parts.append(f"{n} {told}" if few else f"{n} {values[0]:g} to {values[-1]:g}")
    return ", ".join(parts)


def _in_words(spans: Sequence[tuple[float, float]]) -> str:
    return ", ".join(f"{n} from {a:g} to {b:g}" for n, (a, b) in zip("xyz", spans, strict=False))


def _agrees(numbers: Sequence[float] | None, place: np.ndarray, within: float = 0.6) -> bool:
    """Whether numbers name about that place."""
    return (
        numbers is not None
        and len(numbers) in (2, 3)
        and bool(np.all(np.abs(place[: len(numbers)] - numbers) <= within))
    )


def _round(value: float) -> float:
    return round(float(value), 2)
