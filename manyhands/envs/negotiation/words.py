"""Words that forms, texts and pictures share: amounts, one player's observation by name, and the
lists of goods in an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from manyhands.core.env import IllegalAction
from manyhands.core.reading.grammar import Slot
from manyhands.core.reading.words import whole_number
from manyhands.envs.negotiation.state import MOST

_COUNTED = frozenset(["book", "hat", "ball", "coin", "ton", "item"])  # the others have no plural


def plural(good: str, count: int) -> str:
    return f"{good}s" if good in _COUNTED and count != 1 else good


def amount(goods: Sequence[str], counts: Any) -> str:
    """ "2 books, 1 hat and 3 balls", or "nothing"."""
    parts = [f"{c} {plural(g, c)}" for g, c in zip(goods, map(int, counts), strict=True) if c]
    return listed(parts) if parts else "nothing"


def listed(parts: Sequence[str]) -> str:
    """ "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def owned(goods: Sequence[str], counts: Any) -> str:
    """ "2 books, 0 hats, 3 balls"."""
    return ", ".join(f"{int(c)} {plural(g, int(c))}" for g, c in zip(goods, counts, strict=True))


class Observation:
    """What one player knows, by name: `observation["pool"]` is a part of its row of `perceive`.

    Args:
        row: i32[F], the player's row of `Negotiation.perceive`.
        at: where each part lies in it.
        names: the players, in this player's order: itself first.
        agent: its index.
        phases: the phases of the game, in the order of the bits of "phase".
        you: whether the player itself is called "you".
    """

    def __init__(
        self,
        row: np.ndarray,
        at: Mapping[str, slice],
        names: Sequence[str],
        agent: int,
        phases: Sequence[int],
        you: bool = True,
    ):
        self.row, self.at, self.names = row, at, list(names)
        self.agent, self.you = agent, you
        self.phase = phases[int(np.argmax(self["phase"]))]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.row[self.at[name]]

    def who(self, number: int, capital: bool = False) -> str:
        """The player in place `number` of this player's order: "you", or a name."""
        if number or not self.you:
            return self.names[number]
        return "You" if capital else "you"

    def verb(self, number: int, word: str) -> str:
        """A verb in the form for the player in place `number`."""
        return word if number == 0 and self.you else f"{word}s"

    def marked(self, name: str) -> int | None:
        """The place of the player whose bit is set; None where none is."""
        bits = np.flatnonzero(self[name]) if name in self.at else np.zeros(0)
        return int(bits[0]) if len(bits) else None

    def worth(self, counts: Any) -> int:
        """What units of each good are worth to this player."""
        return int(np.dot(self["own_values"], counts))


# ---- lists of goods in an answer -----------------------------------------------------------------

# Players, and equal parts, in patterns of a `Grammar`.
ME = "(me|myself)"
YOU = "({other}|you|him|her|them)"
YOU_GET = (
    "you [can|may|will|would|should|shall] (take|keep|get|have|receive)",
    "(you'll|you'd) (take|keep|get|have|receive)",
    "({other}|they) [can|may|will|would|should|shall] (get|receive)",
    "({other}|they) (can|may|should) (have|take|keep)",
)
EVENLY = (
    "[i] [propose|offer|suggest] [to|we|that we] (split|share|divide) "
    "[it|this|that|them|all|everything|[all] the (item|coin|sum|pool|money|total|pot)] [up] "
    "(evenly|equally|in half|fifty fifty|50 / 50|50 - 50|50 50|down the middle"
    "|in (equal|even) (part|share)) [between us|among us|between the two of us]",
    "[i] [propose|offer|suggest] (50 / 50|50 - 50|50 50|fifty fifty|fifty / fifty|half and half"
    "|half each|half half) [split]",
    "[a] half for (each|both) [of us]",
    "[let's|let us|we] (go|do) (halves|halfsies|half and half|fifty fifty|50 50|50 / 50|even) "
    "[on (it|this|that)] [with (you|{other})]",
    "share and share alike",
    "[i] [propose|offer|suggest] [an|the] (equal|even) (split|share|part|division) "
    "[for (all|both|everyone|everybody|each)]",
)
_NONE = re.compile(r"\b(?:no|none)\b")
_SEPARATED = "(?: and| plus| as well as| along with| together with| &| \\+)? "


class Bundle(NamedTuple):
    """Amounts of goods, as they are worded.

    Attributes:
        parts: (good, how many) of each; in place of a number "all", "both", "the" (the only one)
            "other" (one that is left) or "others" (those that are left), or "" (not said).
        whole: "nothing", "everything", "rest", "half" or "each" (one of each good); or "".
        but: what is left out of everything.
        totals: (good, number) of which there must be as many.
        owner: "me" or "you", if it is said whose they are.
    """

    parts: tuple[tuple[int, int | str], ...] = ()
    whole: str = ""
    but: tuple[tuple[int, int | str], ...] = ()
    totals: tuple[tuple[int, int], ...] = ()
    owner: str = ""

    def left(self, other: Bundle) -> Bundle:
        """With the units that are "the other", of which `other` is what somebody else gets, and
        with all units of what is said without a number and is only here."""
        known = dict(other.parts)
        parts = tuple((k, 1 if n == "other" and k in known else n) for k, n in self.parts)
        if not other.whole:
            parts = tuple((k, "all" if n == "" and k not in known else n) for k, n in parts)
        return self._replace(parts=parts)

    def counts(self, goods: Sequence[str], there: np.ndarray | None) -> np.ndarray:
        """i[R], the amounts; `there` is how many there are of each, where that is known."""
        found = np.zeros(len(goods), int)
        if self.whole in ("half", "everything", "rest") and there is None:
            raise IllegalAction("say how many units of each good")
        if self.whole == "half" and there is not None:
            if (there % 2).any():
                raise IllegalAction(f"{amount(goods, there)} cannot be halved")
            return there // 2
        if self.whole == "everything" and there is not None:
            found += there
            return found - Bundle(self.but).counts(goods, there) if self.but else found
        if self.whole == "each":
            if len(goods) == 1:
                raise IllegalAction("say how many")
            return found + 1
        for k, count in self.parts:
            here = None if there is None else int(there[k])
            known = isinstance(count, int) or (
                here is not None and (count == "all" or here == {"both": 2, "the": 1}.get(count))
            )
            if not known:
                raise IllegalAction(f"say how many units of {goods[k]}")
            found[k] = count if isinstance(count, int) else here
        for k, total in self.totals:
            if there is not None and there[k] != total:
                raise IllegalAction(f"there are {there[k]}, not {total}, {plural(goods[k], 2)}")
        return found


def digits(words: Sequence[str]) -> str:
    """Words one after the other, number words as digits."""
    return " ".join(
        word if word.startswith("-") or whole_number(word) is None else str(whole_number(word))
        for word in words
    )


def amounts(units: str) -> Slot:
    """A slot for a number that is not negative, perhaps with its unit: "25", "$25", "25 coins"."""
    pattern = re.compile(rf"\$? ?(?P<n>[0-9]+)(?: ?(?:\$|(?:{units})s?))?(?= |$)")

    def read(words: list[str], i: int) -> Iterator[tuple[int, int]]:
        found = pattern.match(digits(words[i : i + 4]))
        if found and int(found["n"]) <= MOST:
            yield int(found["n"]), len(found[0].split())

    return read


def bundles(goods: Sequence[str], owners: Sequence[str] = ("",)) -> Slot:
    """A slot for a list of goods, "3 wood, 2 gold and an ore", whose owner is said as in `owners`.
    Where there is one good, its name can be left out."""
    item, whole = _patterns(tuple(goods))

    def read(words: list[str], i: int) -> Iterator[tuple[Bundle, int]]:
        text = digits(words[i:])
        found = whole.match(text)
        if found and "" in owners:
            kind = str(found.lastgroup)
            length = len(found[0].split())
            yield Bundle(whole=kind), length
            but = re.compile(r" (?:except|but|besides|apart from|other than)(?: for)? ")
            left = but.match(text, found.end())
            if kind == "everything" and left:
                for rest, end in _lists(text, left.end(), item):
                    if not rest.owner:
                        yield Bundle(whole=kind, but=rest.parts), len(text[:end].split())
        for rest, end in _lists(text, 0, item):
            if rest.owner in owners:
                yield rest, len(text[:end].split())

    def _lists(text: str, at: int, item: re.Pattern[str]) -> Iterator[tuple[Bundle, int]]:
        bundle, separated, joined = Bundle(), re.compile(_SEPARATED), True
        while found := item.match(text, at):
            added = _item(found, goods)
            stated = bundle.parts and bundle.parts[-1][1] in ("all", "the")
            if added and stated and added.parts[0][1] == "":
                added = added._replace(parts=((added.parts[0][0], "all"),))  # "the book and hats"
            if added and found["tail"] and not bundle.owner:  # "1 wood and 3 brick from me"
                bundle = bundle._replace(owner=added.owner) if bundle.parts else bundle
            again = added is None or added.parts[0][0] in dict(bundle.parts)
            if added is None or again or (bundle.parts and added.owner not in ("", bundle.owner)):
                return
            bundle = Bundle(
                bundle.parts + added.parts,
                totals=bundle.totals + added.totals,
                owner=bundle.owner or added.owner,
            )
            # "No books" alone tells what is not taken.
            # "2 hats, no balls" may correct itself.
            doubted = found["n"] == "no" and bool(bundle.parts[1:]) and not joined
            if (not doubted and any(count != 0 for _, count in bundle.parts)) or not _NONE.search(
                text
            ):
                yield bundle, found.end()
            after = separated.match(text, found.end())
            if after is None:
                return
            at, joined = after.end(), len(after[0]) > 1

    return read


_COUNTS = {"no": "0", "none": "0", "pair": "2", "couple": "2"}


def _item(found: re.Match[str], goods: Sequence[str]) -> Bundle | None:
    kinds = {name: k for k, good in enumerate(goods) for name in (f"{good}s", good)}
    if found["left"]:
        right = found["right"] or found["right2"]
        stated = int(right[:5]) if right.isdigit() else 0
        return Bundle(((kinds[found["left"]], stated),)) if stated <= MOST else None
    n = found["n"]
    n = _COUNTS.get(n.removeprefix("a "), n) if n else None
    if found["good"] is None and not (n or "").isdigit():
        return None
    name = found["good"] or goods[0]
    k = kinds[name]
    whose = {found["whose"], found["whose2"], found["tail"]} - {None, "the", "these", "those"}
    if len(whose & {"my", "mine", "me"}) and len(whose & {"your", "yours", "you"}):
        return None
    owner = "me" if whose & {"my", "mine", "me"} else "you" if whose else ""
    every, total = found["all"], found["total"]
    if n and (len(n) > 4 or int("1" if n in ("a", "an") else n) > MOST):
        return None
    number = None if n is None else 1 if n in ("a", "an") else int(n)
    totals = ((k, int(total[:5])),) if total else ()
    count: int | str
    if every:
        if total:
            return None
        count = number if number is not None else "all" if every != "both" else "both"
        totals = ((k, number),) if number is not None else ()
    elif number is not None:
        count = number
    elif found["other"]:
        count = "others" if name.endswith("s") and name not in goods else "other"
    else:
        plural_name, known = name.endswith("s") and name not in goods, found["whose"] is not None
        count = ("all" if known else "") if plural_name else "the"
    return Bundle(((k, count),), totals=totals, owner=owner)


def _patterns(goods: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What an item of a list is, in words one after the other, and what a whole is."""
    names = "|".join(f"{good}s?" for good in goods)
    tail = r"(?: (?:of|from) (?P<tail>mine|yours|me|you|theirs|hers|his|them|him|her))?(?= |$)"
    named = f" ?(?P<good>{names})" if len(goods) > 1 else f" ?(?P<good>{names})?"
    item = (
        r"(?:(?P<all>all|both|every)(?= )(?: of)? "
        r"?)?(?:(?P<whose>the|my|your|their|his|her|these|those)(?= ) )?"
        r"(?P<other>(?:other|remaining|last)(?= ) )?(?:(?P<n>[0-9]+|an?|no|none(?= of )"
        r"|(?:a )?(?:pair|couple)(?= of ))(?= |$)(?: x)?"
        r"(?: more| single| whole)?(?: (?:unit|piece)s?)?"
        r"(?:(?: out)? of(?: (?P<whose2>the|my|your|their|his|her|these|those))?(?: "
        r"(?P<total>[0-9]+))?)?)?"
        + named + tail
    )  # fmt: skip
    # "books 1, hats 0" counts; in "wood 2 gold" the number may be of either.
    number = "(?:[0-9]+|none|no)(?= |$)"
    right = rf"(?:= )?(?P<right>{number})(?! (?:and )?(?:{names})(?= |$)(?! (?:= )?{number}))"
    item = rf"(?:(?P<left>{names}) (?:{right}|(?== )= (?P<right2>[0-9]+)(?= |$))|{item})"
    one = len(goods) == 1
    others = f"{names}|money|sum|pot|cash" if one else "items?|things|goods|stuff|kinds"
    things = f"(?:{others}|pool|lot)"
    whole = (
        r"(?P<nothing>nothing(?: at all)?|none of (?:it|them))"
        r"|(?P<rest>(?:the )?(?:rest|remainder)(?= (?:for|to|goes to|is|are|yours|mine)\b)"
        rf"|all (?:the )?other {things}"
        rf"|(?:all |everything )?(?:of )?the (?:rest|others?|remaining {things}"
        rf"|remainder|other {things})(?: of (?:it|them|the {things}))?|everything else|all else"
        r"|what(?:ever)?(?: is|'s)? (?:left|remains)(?: over)?|what's left(?: over)?)"
        rf"|(?P<half>half(?: of)?(?: (?:it|them|everything|the {things}|coins))?)"
        r"|(?P<each>1 of each(?: kind)?)"
        rf"|(?P<everything>everything(?: on the table| here)?|it all|all(?: of)? (?:the )?{things}"
        r"|all(?: of (?:it|them))?|the (?:whole )?(?:lot|pool|pot|sum))"
    )
    return re.compile(item), re.compile(rf"(?:{whole})(?= |$)")


def named(players: Sequence[str], agent: int) -> dict[str, dict[str, int]]:
    """Slots of players: `me`, `other` (the only one) and `player` (any), by their seats."""
    others = {name: i for i, name in enumerate(players) if i != agent}
    slots = {"me": {players[agent]: agent}, "player": others | {players[agent]: agent}}
    words = [
        "the other", "the other player", "the other one", "my partner", "my opponent", "opponent",
        "partner", "the other side", "the other person", "the other party",
    ]  # fmt: skip
    if len(players) == 2:
        others |= dict.fromkeys(words, 1 - agent)
    return slots | {"other": others if len(players) == 2 else {}}
