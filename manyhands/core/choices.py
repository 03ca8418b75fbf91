"""The legal actions in words, with their effects: `Choice`, and `Form` for choices that differ only
in numbers."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

LIMIT = 24  # the most lines of `Env.choices`, where there are forms to shorten them

# One of these is in the effect of a choice that is not certain.
HEDGES = ("if", "unless", "until", "may", "can", "chance", "depends", "try", "tries", "about")


@dataclass(frozen=True)
class Form:
    """A family of choices that differ only in numbers or names, told in one line.

    Attributes:
        text: with the parts that differ in braces: "offer a price of {price}".
        effect: of all of them: "any whole price from 0 to 60; you gain 45 less the price".
        ranges: part -> (lowest, highest), or the words that are possible.
        example: the text of the choice that stands for all; by default one from the middle.
    """

    text: str
    effect: str
    ranges: Mapping[str, tuple[Any, ...]]
    example: str = ""


class Spot(NamedTuple):
    """An area of a picture that stands for a choice; all but `text` are shares of its size."""

    left: float
    top: float
    width: float
    height: float
    text: str

    def holds(self, x: float, y: float) -> bool:
        """Whether a point is in it, shares of the picture's size, too."""
        return 0 <= x - self.left < self.width and 0 <= y - self.top < self.height


def pointed(spots: Iterable[Spot], x: float, y: float) -> str:
    """The choice of the last, and so the uppermost, spot that holds a point; "" if none does."""
    found = [spot.text for spot in spots if spot.holds(x, y)]
    return found[-1] if found else ""


class Choice(str):
    """One legal action in words. As a string it is the line that is shown, "north: step to (2, 1)",
    or `text` alone where there is nothing to say of its effect; both parse to the action.

    Attributes:
        text: the words to answer: "north".
        action: the action that they mean; None where a game lists strings only.
        effect: what it does: "step to (2, 1)". If it is not certain, it says what it depends on.
        certain: whether the effect happens whatever the others do, and whatever chance brings.
        facts: the effect as data, where it is certain: path in `Env.to_dict` of the next state ->
            value, as in `{"chefs.chef_0.position": [2, 1]}`. The paths "over" (whether the episode
            ends) and "reward.NAME" (of an agent, in this step) are possible, too.
        form: the family that the choice belongs to, or None. One line may stand for a whole family
            (`fold`): its text is an example, its effect tells the ranges.
    """

    text: str
    action: Any
    effect: str
    certain: bool
    facts: Mapping[str, Any]
    form: Form | None

    def __new__(
        cls,
        text: str,
        effect: str = "",
        action: Any = None,
        *,
        certain: bool = True,
        facts: Mapping[str, Any] = MappingProxyType({}),
        form: Form | None = None,
    ) -> Choice:
        new = super().__new__(cls, f"{text}: {effect}" if effect else text)
        new.text, new.action, new.effect = text, action, effect
        new.certain, new.facts, new.form = certain, facts, form
        return new

    @classmethod
    def of(cls, line: str) -> Choice:
        """A choice from a plain line, "north: step to (2, 1)": nothing in it is called certain."""
        if isinstance(line, Choice):
            return line
        text, _, effect = line.partition(": ")
        return cls(text, effect, certain=not effect)

    def __reduce__(self) -> tuple[Any, ...]:
        values = self.text, self.effect, self.action, self.certain, dict(self.facts), self.form
        return _made, values

    def but(self, **changes: Any) -> Choice:
        """The same choice with other attributes."""
        own = {
            "text": self.text,
            "effect": self.effect,
            "action": self.action,
            "certain": self.certain,
            "facts": self.facts,
            "form": self.form,
        }
        return type(self)(**{**own, **changes})


def _made(
    text: str, effect: str, action: Any, certain: bool, facts: Mapping[str, Any], form: Form | None
) -> Choice:
    return Choice(text, effect, action, certain=certain, facts=facts, form=form)


def choices_of(env: Any, state: Any, agent: str | int, limit: int | None = LIMIT) -> list[Choice]:
    """`Env.choices`, also of games whose own method knows no `limit` and lists strings."""
    listed = (
        env.choices(state, agent, limit) if _limits(env.__class__) else env.choices(state, agent)
    )
    return [Choice.of(choice) for choice in listed]


@functools.lru_cache(maxsize=256)
def _limits(kind: Any) -> bool:
    return "limit" in inspect.signature(kind.choices).parameters


def without_effects(text: Any, choices: Callable[[], Sequence[Choice]]) -> Any:
    """An answer that has the words to answer alone wherever it copies a choice with its effect:
    "I won't stay: wait here" denies "stay", and no order to wait follows. The effect may be cut
    short before a comma or the like; that of a family may stand behind each of its members."""
    if not isinstance(text, str) or not _TOLD.search(text):
        return text
    plain, listed = " ".join(text.lower().split()), choices()
    forms = {(form.text, form.effect) for choice in listed if (form := choice.form) is not None}
    lines = [(re.escape(choice.text), choice.effect) for choice in listed]
    lines += [(_PART.sub(_MEMBER, re.escape(form)), effect) for form, effect in sorted(forms)]
    ways = []  # (length of what is told, the name, what is told)
    for name, effect in lines:
        parts = _BOUNDARY.split(" ".join(effect.split()))
        if not parts[0] or f": {parts[0].lower()}" not in plain:
            continue
        for n in range(1, len(parts) + 1):
            told = "".join(parts[:n])
            ends = r"(?![\w-])" if n == len(parts) else _CUT
            ways.append((len(told), name, re.escape(told).replace(r"\ ", r"\s+") + ends))
    for _, name, told in sorted(ways, reverse=True):
        said = name.replace(r"\ ", r"[\s_-]+")
        text = re.sub(rf"(?<!\w)({said}['\"*`]*):\s+{told}", r"\1", text, flags=re.I)
    return text


_TOLD = re.compile(r"(?<!\baction)(?<!\bsay)(?<=[\w)'\"*`]):\s", re.I)
_PART, _MEMBER = re.compile(r"\\\{.*?\\\}"), r"\\S+(?:\\s\\S+){0,2}"
_BOUNDARY = re.compile(r"(?=[,;:.] )(?![^(]*\))")
_CUT = r"(?=[\s\"'*`)\]}<]*(?:[,;.!?\n]|(?:so|since|because)\b|\Z))"


def fold(choices: Iterable[str], limit: int | None = LIMIT) -> list[Choice]:
    """Choices, where there are more than `limit` of them with one line for each family of more than
    two; None: all of them."""
    listed = [Choice.of(choice) for choice in choices]
    if limit is None or len(listed) <= limit:
        return listed
    families: dict[int, list[Choice]] = {}
    for choice in listed:
        if choice.form is not None:
            families.setdefault(id(choice.form), []).append(choice)
    folded: list[Choice] = []
    for choice in listed:
        family = families.get(id(choice.form), [])
        if len(family) <= 2:
            folded.append(choice)
        elif choice is family[0]:
            assert choice.form is not None
            shown = family[len(family) // 2]
            shown = next((one for one in family if one.text == choice.form.example), shown)
            certain = shown.certain and bool(shown.facts)
            folded.append(shown.but(effect=choice.form.effect, certain=certain))
    return folded
