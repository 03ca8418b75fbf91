"""An answer that corrects itself: "north, no, east", "bet? No, he holds the king: check".

What is said first names an action; a word that takes it back stands between two signs of
punctuation; what is said last is what counts. Between them may stand why:

    "3 - no, 4, next to my two"             "I take the onion - no, chef_1 has one - a potato"
    "fold... hang on, I hold the king! Call"      "7 for me... no, make that 8"

Only words that name actions are corrected, so that "no" behind a report, a question or another's
move says nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from manyhands.core.env import IllegalAction
from manyhands.core.reading.bare import Reader
from manyhands.core.reading.signs import NAME
from manyhands.core.reading.words import tokens, whole_number

_MOST = 300  # characters of an answer that is read so
_MOST_PARTS = 5
_WORDS = 12  # of what counts, behind a reason


class Correction(NamedTuple):
    """One way to see an answer as corrected.

    Attributes:
        firsts: what is taken back; each names an action.
        main: what counts.
        reason: what stands between them, which is no action.
        inserted: of a short `main`, the last of `firsts` with it in place of its end, or of its
            one number: "turn left, no, right" is "turn right".
    """

    firsts: tuple[str, ...]
    main: str
    reason: str = ""
    inserted: str = ""


_FILLS = r"(?:u+h+|u+m+|hm+|er+m?|a+h|oh|argh|ugh|well|ok(?:ay)?)"
_BACK = (
    r"(?:(?:no+)(?: no+)*|no way|nope|nah|(?:no,? )?wait,? no|no,? wait(?: a (?:second|moment"
    r"|minute))?"
    r"|hang on|hold (?:on|up)|sorry|(?:wh)?oops(?:ie)?|(?:scratch|scrap|strike|cancel|undo) that"
    r"|er+m?|u+h+|correction|on second thoughts?|my (?:bad|mistake)|actually,? no|no,? actually)"
)
# These need no sign behind them: "north, I mean east".
_GOES_ON = r"(?:(?:no,? )?(?:i mean|i meant|make (?:that|it)))"
_PAUSE = r"[\s,;:.!\u2026\u2013\u2014-]"
# One mark after another, each read in one way only: a long row of dots must not take for ever.
_MARK = r"(?:[,;:.!?\u2026\u2013\u2014]|(?<=\s)-+(?=\s))"
_SIGN = rf"\s*{_MARK}(?:\s*{_MARK})*\s*"
_TURN = re.compile(
    rf"(?P<sign>{_SIGN})(?:{_FILLS}{_PAUSE}+){{,4}}"
    rf"(?:(?:{_BACK}(?:{_SIGN}|(?=\s+make (?:that|it)\b))(?:{_FILLS}{_PAUSE}+){{,4}}){{1,4}}"
    rf"(?:{_GOES_ON}{_PAUSE}+)?|{_GOES_ON}{_PAUSE}+)(?=[\w(])",
    re.I,
)
# "I go south. No, I go north": two sentences of two voices, or of one that has not decided.
_APART = re.compile(r"\s*[.!;]\s*(?:no+|nope|nah)(?=[\s,;:.!]+)(?! wait\b|,? i mean)", re.I)
_PLAIN_NO = re.compile(rf"{_PAUSE}*(?:no+|nope|nah){_PAUSE}*", re.I)
_INSTEAD = re.compile(r"\W*(?:(?:make|call) (?:that|it)|rather|let's say|better)\s+", re.I)
# "4 then", "right it is": what is said of it at its end.
_IT_IS = re.compile(r"\s+(?:then|it is|instead|after all|rather|of course)(?=\W*\Z)", re.I)
_NO_MAIN = re.compile(
    r"\W*(?:no|nothing|none|nobody|not|never|don't|do not|maybe|perhaps|either|neither)\b", re.I
)
_CUT = re.compile(r"(?:[;:!\u2026\u2013\u2014]|\.(?!\d)|\s-+(?=\s))\s*|,\s+(?:so |and so |hence )")
_BEHIND = re.compile(r"(?:[,;:!\u2026\u2013\u2014]|\.(?!\d)|\s-+(?=\s))\s*(?=\w)")
# What makes all of it another's words, another time, a supposition.
_FRAMED = re.compile(
    r"\b(?:suppos\w+|imagin\w+|pretend\w*|hypothe\w+|if|unless|jok\w+|kidding|says?|said|asks?"
    r"|(?:talk|speak|address)(?:s|ed|ing)?|spoke|meant (?:for|to)|asked"
    r"|tells?|told|wrote|writes?|quot\w+|examples?|sarcas\w+|yesterday|tomorrow)\b"
    r"|[\"\u201c\u201d\u00ab\u00bb]",
    re.I,
)
# What gives the end to another, to another time or to doubt.
_GIVEN_AWAY = re.compile(
    r"\b(?:when\w*|once|until|till|later|next(?! to\b)|then|after\w*|maybe|perhaps|or|either"
    r"|wants?|wished"
    r"|thinks?|thought|hopes?|you\w*|plans?|ideas?|options?|never|not (?:yet|now))\b|\?",
    re.I,
)
_OTHER = rf"(?:{NAME}|he|she|they|(?:my|the) (?:partner|opponent|other|rival|mate)|[A-Z])"
_CALLS = re.compile(rf"\W*(?:(?:and|but|so)\W+)*{_OTHER}(?:'s \w+)?\W*", re.I)
# Before a colon a reason says how things are; "he plays: a1" tells what another does.
_STATES = re.compile(
    r"\b(?:\w+s|\w+ed|\w+'(?:s|re|m)|\w+n't|can|will|have|are|am|need|first"
    r"|(?:would|could|may|might) (?:\w+ ){3,}\w+)\b",
    re.I,
)
_DOES = re.compile(r"\b(?:for|to|by|with|of|is|are|goes|\w+s)\W*\Z", re.I)
_BUT_HERE = re.compile(r"\b(?:this|his|there's|is|less|as|us|points|cards|others)\W*\Z", re.I)


def corrected(text: str, reader: Reader, calm: Callable[[str], bool]) -> Any:
    """The action that an answer means which corrects itself; None if it does not, or may mean
    several. `reader.meant` raises `IllegalAction` for actions that are not open."""
    found: list[Any] = []
    shut: IllegalAction | None = None
    for firsts, main, reason, inserted in corrections(text):
        if reason and not (calm(reason) and not reader.names(reason)):
            continue
        if not all(_meant(first, reader)[1] for first in firsts):
            continue
        both = [_meant(words, reader) for words in (inserted, main) if words]
        ways = [action for action, _ in both if action is not None]
        shut = next((closed for _, closed in both if isinstance(closed, IllegalAction)), shut)
        # "Give 3, no, 4": "4" alone may be another.
        if not ways or not all(reader.same(ways[0], other) for other in ways[1:]):
            continue
        before, _ = _meant(firsts[-1], reader)
        if len(firsts) == 1 and before is not None and reader.same(before, ways[0]):
            continue
        if not any(reader.same(ways[0], other) for other in found):
            found.append(ways[0])
    if shut and not found:
        raise shut
    return found[0] if len(found) == 1 else None


def _meant(words: str, reader: Reader) -> tuple[Any, IllegalAction | bool]:
    """(the open action that words mean or None, whether they name one: why it is not open)."""
    try:
        action = reader.meant(words)
    except IllegalAction as error:
        return None, error
    return action, action is not None


_ALONE = re.compile(rf"\W*(?:{_BACK}|{_FILLS}|yes|yeah|yep|i|wait)\W*", re.I)
_OWN = re.compile(r"\W*(?:i|i'll|i'm|we|let me|let's)\b", re.I)


def corrections(text: str) -> Iterator[Correction]:
    """The ways to see an answer as corrected; none if nothing in it is taken back."""
    text = text.replace("\u2019", "'").strip()
    if len(text) > _MOST or _FRAMED.search(text):
        return
    parts, start, plain = [], 0, False
    for turn in _TURN.finditer(text):
        if _APART.match(turn[0]):
            return
        said = text[start : turn.start()] + ("?" if "?" in turn["sign"] else "")
        parts.append(said.strip())
        start = turn.end()
        plain = _PLAIN_NO.fullmatch(turn[0]) is not None
    last = text[start:].strip()
    if not (0 < len(parts) < _MOST_PARTS) or not last or "?" in last:
        return
    firsts = tuple(_first(part) for part in parts)
    if not all(firsts) or any(_ALONE.fullmatch(first) for first in firsts):
        return
    for main, reason in _ends(last):
        # "I accept, no, I reject" has not decided.
        if not reason and plain and _OWN.match(firsts[-1]) and _OWN.match(main):
            continue
        main = _INSTEAD.sub("", _IT_IS.sub("", main))
        if re.search(r"\w", main) and not _NO_MAIN.match(main):
            yield Correction(firsts, main, reason, _inserted(firsts[-1], main))


def _first(part: str) -> str:
    """What is taken back: the part, up to a question that it may end with."""
    asked, sign, rest = part.partition("?")
    return asked.strip() if not rest.strip() or rest.strip().endswith("?") or not sign else ""


def _ends(last: str) -> Iterator[tuple[str, str]]:
    """(what counts, the reason before it)."""
    yield last, ""
    cuts = list(_CUT.finditer(last.rstrip(" .!")))
    for cut in cuts[-1:]:
        reason, main = last[: cut.start()].strip(), last[cut.end() :].strip()
        if not reason or not main or len(main.split()) > _WORDS:
            continue
        if _GIVEN_AWAY.search(reason) or _CALLS.fullmatch(reason):
            continue
        if ":" in cut[0] and not _is_statement(reason):
            continue
        yield main, reason
    # "4, next to my two": why stands behind it.
    sign = _BEHIND.search(last)
    if sign and sign.start():
        main, reason = last[: sign.start()].strip(), last[sign.end() :].strip()
        if reason and not (_GIVEN_AWAY.search(reason) or _NO_MAIN.match(reason)):
            yield main, reason


def _is_statement(reason: str) -> bool:
    ends = _DOES.search(reason) and not _BUT_HERE.search(reason)
    return _STATES.search(reason) is not None and not ends


def _inserted(first: str, main: str) -> str:
    """The action that is taken back with a short correction in its place, "" if it does not fit."""
    words, own = first.split(), main.strip(" .!").split()
    if not 0 < len(own) <= 2 or len(words) < 2:
        return ""
    if len(own) == 1 and whole_number(own[0].lower()) is not None:
        told = [k for k, word in enumerate(words) if _is_number(word)]
        if len(told) != 1:
            return ""
        return " ".join([*words[: told[0]], own[0], *words[told[0] + 1 :]])
    return " ".join([*words[: -len(own)], *own]) if len(own) < len(words) else ""


def _is_number(word: str) -> bool:
    said = tokens(word)
    return len(said) == 1 and whole_number(said[0]) is not None
