"""Choices that an answer names by their place: "the second option", "option B", "the last one".

A place counts where it is the same in the list of all choices and in what is shown of it (`fold`),
and where its line stands for one choice. "Option" and "choice" are of the list; "the second one"
may be of anything that the text tells of, so that a game is asked first what it makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from manyhands.core.choices import Choice, fold, without_effects
from manyhands.core.errors import IllegalAction
from manyhands.core.reading.words import RANKS, whole_number

Action = TypeVar("Action")


def by_choice(
    text: Any, choices: Callable[[], Sequence[Choice]], read: Callable[[Any], Action]
) -> Action:
    """What a game reads in an answer, with choices in place of references to them."""
    return by_place(text, choices, lambda said: read(without_effects(said, choices)))


def by_place(
    text: Any, choices: Callable[[], Sequence[Choice]], read: Callable[[Any], Action]
) -> Action:
    """`by_choice` of what reads effects by itself."""
    said = ranked(text, choices)
    try:
        return read(said)
    except IllegalAction:
        named = ranked(said, choices, alone=True)
        if named == said:
            raise
    return read(named)


def ranked(text: Any, choices: Callable[[], Sequence[Choice]], alone: bool = False) -> Any:
    """An answer that names a choice by its place in the list, "the second option", "the last of
    these", "option B, since it is free", "option 2: accept", `{"action": "the first option"}`, as
    that choice. `alone`: "the second one" and "the last", too."""
    if not isinstance(text, str):
        return text
    numbered = _NUMBERED.fullmatch(text) if len(text) < _MOST else None
    number = whole_number((numbered["n"] or numbered["item"]).lower()) if numbered else None
    if numbered and number is not None:
        words = numbered["words"]
        near = choices()[max(number - 1, 0) : number + 1]  # counted from 1, or from 0
        if numbered["item"] == "1" and "\n" not in text:  # a list of one
            near = choices()
        said = words.lower()
        return words if any(said.startswith(choice.text.lower()) for choice in near) else text
    if not _HINT.search(text):
        return text
    whole = _WHOLE.fullmatch(text) if len(text) < _MOST else None
    if whole is None:
        return _MARKED.sub(lambda found: _named(found, choices, alone), text)
    return text if "?" in text else _named(whole, choices, alone)


def _named(found: re.Match[str], choices: Callable[[], Sequence[Choice]], alone: bool) -> str:
    """The words around a place with its choice, as they are where it is none."""
    bare, tail = found["bare"], found["tail"] or ""
    if bare is not None and not alone:
        return found[0]
    rank = (found["rank"] or found["letter"]).lower().replace("-", " ")
    choice = _placed(rank, choices())
    if choice is None or _LISTS.search(tail):
        return found[0]
    # "Option A: north. Option B: west." is a list of one's own.
    if found["letter"] and tail.strip().startswith((":", "-", "\u2013", "\u2014")):
        return found[0]
    # "The second, accept" says it twice; "second, the bet is high" counts reasons; and "final
    # choice: accept" is a label.
    named = tail.strip(" ,;:.\u2013\u2014-").lower()
    if named.startswith(choice.text.lower()):
        tail = ""
    elif any(named.startswith(other.text.lower()) for other in choices()):
        return found[0]
    if bare is not None and not bare.strip() and tail:
        return found[0]
    lead = _PICKS.sub("I choose ", found["lead"]) if tail else found["lead"]
    marked = bool(_MARK.match(lead))
    return f"{lead if tail or marked else ''}{choice.text}{tail}"


def _placed(rank: str, listed: Sequence[Choice]) -> Choice | None:
    """The choice of a rank ("second", "2nd", "b", "last", "middle"), if it is surely one."""
    shown = fold(listed)
    digits = re.match(r"\d+", rank)
    if rank in _FROM_END:
        place = -_FROM_END[rank]
        same = [*map(str, shown[place:])] == [*map(str, listed[place:])]
    elif rank == "middle":
        place = len(listed) // 2
        same = len(listed) % 2 == 1 and len(shown) == len(listed)
    else:
        place = ord(rank) - ord("a") if len(rank) == 1 else RANKS.get(rank, 0) - 1
        place = int(digits[0]) - 1 if digits else place
        same = place >= 0
        same = same and [*map(str, shown[: place + 1])] == [*map(str, listed[: place + 1])]
        # "Option b" of squares may be their column.
        if len(rank) == 1 and any(_LETTERED.match(choice.text) for choice in listed):
            return None
    return listed[place] if same and -len(listed) <= place < len(listed) else None


_MOST = 200  # characters of an answer that is nothing else
_LETTERED = re.compile(r"[a-z]\d")
_FROM_END = {
    **{"last": 1, "final": 1, "penultimate": 2},
    **{"second last": 2, "second to last": 2, "next to last": 2},
    **{"one before the last": 2, "one before last": 2},
    **{"third last": 3, "third to last": 3},
}
_NUMERALS = r"\d{1,2}(?:st|nd|rd|th)"
_PICK = (
    r"(?:choose|pick|take|select|use|do|play|opt for|settle (?:for|on)|decide (?:for|on)|stick with"
    r"|go (?:for|with)|(?:going|opting) (?:for|with)|choosing|picking|taking|selecting)"
)
_LISTS = re.compile(r"\b(?:option|choice|alternative)s?\b", re.I)
_PICKS = re.compile(rf"(?:\b(?:i|i'll|i will|i'd|let me|let's)\s+)?\b{_PICK}\s+\Z", re.I)
_OF = r"(?:on|in|of|from) (?:the|your|that|this|these|those|my)"
_PLACE = (
    r"(?:the )?(?:very )?(?:"
    rf"(?P<rank>(?:second|third|next)[ -](?:to[ -])?last|{'|'.join(RANKS)}|{_NUMERALS}|last|final"
    r"|penultimate|middle|one before (?:the )?last)"
    rf"(?:\s+(?:option|choice|alternative|possibility)(?: {_OF} (?:list|menu))?"
    r"|\s+(?:free|legal|available|listed|offered|open|possible) (?:one|option|choice|move|action"
    r"|square|cell|spot|column)"
    rf"|\s+(?:(?:one|entry|item|line) )?(?:{_OF} (?:list|menu|options|choices|possibilities"
    r"|alternatives)|(?:of|from) (?:these|those|them))"
    r"|(?P<bare>(?: one)?(?![\w-])))"
    r"|(?:option|choice|alternative) [\"'(]?(?P<letter>[a-h])(?!\w)[\"')]?)"
)
_WHOLE = re.compile(
    r"\W*(?P<lead>(?:(?:after|having|given|considering) [^,.;:!?\n]{3,60},\s+)?"
    r"(?:(?:i|i'll|i will|i'd|i'm|i am|let me|let's|okay|ok|so|well|please|just|then|thus"
    r"|therefore|(?:my|the) (?:final )?(?:choice|pick|answer|move|decision)(?: is|:)"
    rf"|{_PICK})[\s,]+)*){_PLACE}"
    r"(?:,? (?:please|then|here|for me|it is|listed|given|offered|above|now))*"
    r"(?P<tail>(?:\s?[,;:.\u2013\u2014-]+\s+(?=[a-z])|,? (?=(?:because|since|as|so)\b)).*)?\W*",
    re.I | re.S,
)
# "Option 2: accept", "2. accept".
_NUMBERED = re.compile(
    r"\W*(?:(?:option|choice|alternative|number|no\.|#)\s*(?P<n>\d{1,2}|[a-z]{3,5})"
    r"(?:\s*[:.)\u2013\u2014-]+|,)|(?P<item>\d{1,2})\.)\s+(?P<words>[a-z].*)",
    re.I | re.S,
)
_MARK = re.compile(
    r"(?:<\w+>|\[|\\boxed\{|[\"'*_]*(?:action|move|answer|choice|decision"
    r"|pick)[\"'*_]*\s*:)[\s\"'*_]*",
    re.I,
)
_MARKED = re.compile(
    rf"(?P<lead>{_MARK.pattern}){_PLACE}(?P<tail>)(?=[\s.]*(?:[\"'*_<\]}}\n]|\Z))", re.I
)
_HINT = re.compile(
    rf"\b(?:{'|'.join(RANKS)}|{_NUMERALS}|last|final|penultimate|middle|(?:option|choice"
    r"|alternative)\W{1,2}[a-h])\b",
    re.I,
)
