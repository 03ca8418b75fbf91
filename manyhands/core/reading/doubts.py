"""Why a sentence is no plain action: a denial, a condition, a slip of the pen.

What a refusal says of an answer that no reader understood (`answers.py`).
"""

from __future__ import annotations

import re

from manyhands.core.reading.signs import NAME
from manyhands.core.reading.slips import one_slip
from manyhands.core.reading.words import tokens

_FORM = frozenset(str.split("action actions answer answers exactly number square column something"))
_MOST_SPELT = 40  # words of an answer that are looked at for a slip


def misspelt(plain: str, offered: str) -> str:
    """What may be meant by a word that is one slip of the pen from just one word of five letters or
    more of what a refusal offers; empty if there is none. What `slips.py` leaves as it is, as
    it cannot be sure, is only asked: "cheat" is one letter from "wheat"."""
    known = frozenset(re.findall(r"[a-z]{5,}", offered.lower())) - _FORM
    for word in tokens(plain)[:_MOST_SPELT]:
        # A plural is no slip.
        if len(word) > 3 and word.isalpha() and known.isdisjoint({word, word.removesuffix("s")}):
            near = [other for other in known if one_slip(word, other)]
            if len(near) == 1:
                return f'perhaps "{near[0]}" was meant'
    return ""


_DENIAL = frozenset(
    str.split(
        "no not never none nothing cannot without neither nor nobody refuse avoid don't dont won't "
        "wont can't cant isn't wouldn't shouldn't doesn't didn't couldn't"
    )
)
_DOUBTS = (
    ("it denies something", " ".join(_DENIAL)),
    ("it sets a condition", "if unless when once until provided otherwise"),
    ("a question is no {}", "?"),
    ("it names more than one {}", "then afterwards"),
    ("it says only what would be", "should could would i'd"),
    ("it leaves something open", "whether why what how which"),
    ("it leaves a choice open", "or either whichever any / both"),
    ("it compares", "than too rather better worse higher lower"),
    ("it is not sure", "maybe perhaps might may probably possibly guess"),
    ("it tells of others", "you he she they your his her their someone"),
)


def doubt(plain: str, what: str = "move") -> str:
    """Why a sentence is no plain statement of an action, in a few words; empty if that cannot be
    seen from its words."""
    words = tokens(re.sub(r"\bonce (?:more|again)\b", "", plain))
    mark = 'end with a line of its own: "ACTION: ..."'
    if "==" in plain or "!=" in plain:
        return "it compares, and sets nothing"
    for reason, signs in _DOUBTS:
        sign = next((word for word in words if word in signs.split()), "")
        if sign:
            named = "" if sign == "?" else f' ("{sign}")'
            # In a long answer such a word may belong to what is thought.
            return reason.format(what) + named + (f"; {mark}" if len(words) > 12 else "")
    called = _CALLS.search(plain)
    if called:
        return f"it speaks to {called[1]}"
    return mark if len(words) > 7 else ""


_CALLS = re.compile(rf", ({NAME}),?(?: please)?\W*$", re.I)


def denies(text: str) -> bool:
    """Whether a sentence contains a negation."""
    return not _DENIAL.isdisjoint(tokens(text))
