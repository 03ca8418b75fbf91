"""Lists, small tables and JSON of amounts, as one sentence.

    "- give: 3 brick\\n- get: 2 ore"          "give: 3 brick, get: 2 ore"
    "| me | 6 |\\n| player_1 | 4 |"           "me: 6, player_1: 4"
    '{"self": 9, "opponent": 1}'             '{"me": 9, "player_1": 1}'

Only what names parts of one move is put so; lists of anything else stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOST = 600  # characters of an answer with a table
_PLAYER = r"[a-z]+_\d{1,2}"
_LABEL = (
    rf"(?:(?:i|you|they) )?(?:{_PLAYER}|give|get|receive|want|take|keep|offer|ask(?: for)?|me|you"
    r"|myself|self|mine|yours|theirs?|them|(?:the )?other(?: (?:side|player|one))?|opponent"
    r"|partner)"
)
# "- books: 1", "- hats: 0", "* give: 3 brick": a list of amounts, a line each.
_AMOUNT_LINES = re.compile(
    rf"(?:^[ \t]*[-*\u2022][ \t]+[*_]*(?:[a-z]+[*_]*:[*_]*[ \t]*\d+|(?:{_LABEL})[*_]*:[*_]*[ \t]*"
    r"[^\n:?]{1,60})[ \t]*(?:\n|\Z)){2,}",
    re.I | re.M,
)
# "Give: 6 wheat / Get: 2 wood".
_SLASHED = re.compile(
    rf"(\b(?:{_LABEL})[*_]*:[*_]*[ \t]*[^\n/|:;?]{{1,40}}?)[ \t]*(?:/|\|"
    rf"|;)[ \t]*(?=[*_]*(?:{_LABEL})[*_]*:)",
    re.I,
)
_ROW = re.compile(r"[ \t]*\|(?P<cells>[^\n]+)\|[ \t]*")
_RULE = re.compile(r"[ \t]*\|(?:[ \t]*:?-{2,}:?[ \t]*\|)+[ \t]*")
_HEAD = re.compile(
    r"(?:(?:the |my )?(?:player|who|name|side|person|coins?|shares?|amounts?|gets?|receives?|takes?"
    r"|tons?|goods|items?|what|units?|split|part|offer|proposal|number)s?)?",
    re.I,
)
_KNOWN = re.compile(_LABEL, re.I)
_SELF = r"self|myself|mine|my_share|me_share|own|own_share|i"
_OTHER = (
    r"opponent|other|others|other_player|other_side|the_other|them|they|theirs?|partner|rival"
    r"|counterpart|opponent_share|their_share|your_share|yours"
)


def in_one_line(text: str, other: str) -> str:
    """An answer with lists of amounts as one line; `other` is the only other player, or empty."""
    text = _AMOUNT_LINES.sub(_joined, _SLASHED.sub(r"\1, ", _table(text)))
    if "{" in text:
        text = re.sub(rf"([\"'])(?:{_SELF})\1(?=\s*:)", '"me"', text, flags=re.I)
        if other:
            text = re.sub(rf"([\"'])(?:{_OTHER})\1(?=\s*:)", f'"{other}"', text, flags=re.I)
    return text


def _joined(lines: re.Match[str]) -> str:
    said = [line.strip(" \t-*\u2022").replace("**", "") for line in lines[0].strip().split("\n")]
    return ", ".join(said) + "\n"


def _table(text: str) -> str:
    """An answer that is nothing but a small table as the sentence that it is: a row below the names
    of what it holds, or a name and what it gets in each row."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not 3 <= len(lines) <= 8 or len(text) > _MOST or not _RULE.fullmatch(lines[1]):
        return text
    rows = [_ROW.fullmatch(line) for line in (lines[0], *lines[2:])]
    if not all(rows):
        return text
    head, *body = [[c.strip(" *_`") for c in row["cells"].split("|")] for row in rows if row]
    if len(body) == 1:
        return _pairs(head, body[0]) or text
    if all(len(row) == 2 for row in (head, *body)) and all(map(_HEAD.fullmatch, head)):
        return _pairs([row[0] for row in body], [row[1] for row in body]) or text
    return text


def _pairs(names: Sequence[str], values: Sequence[str]) -> str:
    if len(names) != len(values) or not all(_KNOWN.fullmatch(name) for name in names):
        return ""
    values = [re.sub(r",\s*", " and ", value) for value in values]
    return ", ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
