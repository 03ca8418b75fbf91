"""A bare action at an end of an answer, beside what is told in passing: "im thirsty, drink".

`asides.py` takes sentences apart by their shape. People and small models often write no
sentence at all, but a remark and an action, with a comma, a colon or an arrow between them:

    "too rich for my blood, fold"       "King high is fine -> call"
    "Slow-playing the king: check"      "Tag runner_0, he is right beside me"

`at_end` reads these: one end of the answer is an action by itself, in a few words, and what is left
names none, not even in one word, and tells of no condition, doubt, question, judgement, other time
or speech of others. Chat's spellings are plain words by then (`plain.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from manyhands.core.reading.signs import MOVING, NAME, NO_REMARK, RIGHT
from manyhands.core.reading.words import tokens

MOST = 240  # characters of an answer that is read so
_MOST_CLAUSES = 6
_MOST_WORDS = 6  # of the action

_CUT = re.compile(
    r"\s*(?:(?P<colon>:|\s-{1,2}\s|\s[\u2013\u2014]\s|\u2014|->|=>|\u2192|\u27a1\ufe0f?)\s*"
    r"|(?:[,;!\u2026\n()]|\.{2,}|\.(?!\d))+\s*)"
)
_LEAD = re.compile(r"(?:so|thus|therefore|hence|now|ok|okay|but)\b[,\s]*", re.I)

# "He has nothing, I bet" is no bet; "the pot is one way, north" may only tell where it is.
_NO_MAIN = re.compile(r"i bet|(?:north|south|east|west|up|down|left|right)(?:ward)?s?", re.I)
# How things are: "queen no good", "the opponent most likely has the king".
_HOW_THINGS_ARE = (
    r"(?!(?:there|what|who|for|to|with|by|from|in|at|on|as|like|his|her|their|your)\b)[^,]*?"
    r"\b(?:is|are|aren't|isn't|has|have|holds?|needs?|looks?|seems?|no good|(?:might|may|could) be"
    r"|they're|(?:it|that|he|she|\w+)'s (?:right|a|an|the|my|not|in|on|at|under|next|near|\w+ing"
    r"|full|empty|ready|open|closed|down|up|low|high|weak|strong|good|hungry|thirsty|dark|late))\b"
    r"(?!.*\bthere\W*$)"
)
# Remarks before an action: what "I" am at, and few others; how things are is for `cuts.py`.
# What is not known to be harmless ("for chef_1, north", "too far, north") is refused.
_BEFORE = re.compile(
    r"(?:(?:ok|okay|well|honestly|alright)\s+)?(?:"
    r"(?:i|i'm|i've|i'll|we|we're|we've|let me|let's|let us)\b(?!.*\b(?:hate|skip|leave|left"
    r"|fear|know|see|saw|watch|remember|tried|been|against|trust|dislike|pass|drop|quit|gave|give"
    r"|given|regret|doubt|resist|done|tired|came|went|no|ignore)\b)"
    r"|(?:weak|strong|decent|mediocre|marginal|lousy|nice|low|high|top|middle|bottom|no)"
    r" (?:hand|cards?|pair|kicker|odds|strength|showdown value|equity|draw|luck)"
    r"(?: (?:here|yet|at all|for me|this time))?$"
    r"|[\w-]+ing\b(?! (?:to|of|for) \w+$)|too \w+ for (?:me|my \w+)|you win\b|just for fun"
    r"|no need to (?:hurry|rush|risk|bluff|wait|panic|worry))",
    re.I,
)
# Behind it: where it is, how things are, what is allowed to others.
_BEHIND = re.compile(
    r"(?!(?:that|this|but|so)\b)(?:(?:(?:right|just|straight|directly)\s+)?(?:under|above|below"
    r"|over(?! my)|beside|next to|near|towards?|left of|right of|behind|in front of|between"
    r"|on top of)\b|let (?:him|her|them)\b"
    rf"|no need to (?:hurry|rush|risk|bluff|wait|panic|worry)|{_HOW_THINGS_ARE})",
    re.I,
)
# Remarks of one word that mean nothing by themselves.
_LABELS = re.compile(
    r"decision|verdict|conclusion|result|intercept|whatever|sigh|wow|nice|fine|alas|obviously"
    r"|clearly|simple|easy",
    re.I,
)
# Before a colon, orders to oneself as well: "Stop O from building the diagonal: f6".
_ORDERS = re.compile(r"stop \w+ from\b|winning move$", re.I)
# What another one is or has done: what follows may be told to it.
_OPINION = re.compile(rf"(?:he|she|{NAME}) (?:is \w+|has \w+ed)$", re.I)

_OTHER = (
    rf"(?:he|she|they|it|{NAME}|(?:the|my|his|her|their|an?) (?!\w*(?:move|play|idea|thing"
    r"|call|one)\b)\w+(?: \w+)?)"
)
# Of others, and of how things are, a guess is a reason like any other.
_GUESS = re.compile(
    r"(?<!\w)(?P<who>(?!(?:i|we|it|this|that|you)\b)\w+(?: \w+)?)"
    r"(?: (?:may|might|could|must|will|can|probably|likely|surely|most likely))+ (?=\w)",
    re.I,
)
_DENIES = re.compile(r"\b(?:no|not|none|nothing|nobody|cannot|without|\w+n't|\w+nt)\b", re.I)
_SHORTENED = re.compile(r"\b(?:e\.\s?g|i\.\s?e|etc)\b", re.I)
# Before what is another's: "his bet".
_OWNED = re.compile(r"\w+'s|s|his|her|their")
# What is said to somebody, and what leads on to more than itself.
_CALLS = re.compile(
    r"(?:(?:hey|hi|ok|okay|alright|right|well|so|now|thanks|sorry|yo|come on|go|dear|my)\s+)*"
    rf"(?:{NAME}|you|partner|mate|buddy|team\w*|guys"
    r"|folks|opponent|chef|captain|boss|he|she|they|him|her|them)(?:\s+\w+)?",
    re.I,
)
_LEADS_ON = re.compile(
    r"\b(?:of|at|to|on|in|with|by|for|from|is|are|be|not|the|a|an|my|their|its|his|her|do|does"
    r"|can|will|like|that|this|it's|that's|i'm|taken|free|full|closed|blocked|left|open"
    r"|(?:not|never|to|\w+n't) \w+)\W*\Z",
    re.I,
)


class Remarks(NamedTuple):
    """What may stand beside a bare action in a game.

    Attributes:
        figures: whether a number alone may name an action, so that no remark may have one.
        behind: whether a remark may stand behind the action, too.
        calm: whether a remark leaves an action as it is.
    """

    figures: bool = True
    behind: bool = True
    calm: Callable[[str], bool] = bool


class Reader(NamedTuple):
    """What a game makes of words.

    Attributes:
        meant: the open action that they mean, or None.
        names: whether they name an action, open or not.
        same: whether two actions are.
    """

    meant: Callable[[str], Any]
    names: Callable[[str], bool]
    same: Callable[[Any, Any], bool]


def at_end(text: str, reader: Reader, remarks: Remarks) -> Any:
    """The bare action at an end of an answer, None if there is none, or something doubtful."""
    if len(text) > MOST or "?" in text or _SHORTENED.search(text):
        return None
    clauses, signs = _clauses(text)
    if not 1 < len(clauses) <= _MOST_CLAUSES:
        return None
    found: list[Any] = []
    ends = [(clauses[-1], clauses[:-1], signs[-1], True)]
    ends += [(clauses[0], clauses[1:], signs[0], False)] if remarks.behind else []
    for main, rest, sign, is_last in ends:
        main = _LEAD.sub("", main, count=1) if is_last else main
        if not main or len(main.split()) > _MOST_WORDS or _NO_MAIN.fullmatch(main):
            continue
        action = reader.meant(main)
        if action is None:
            continue
        told = _told(rest, action, reader)
        if told is None or not all(
            _is_harmless(clause) and remarks.calm(clause) for clause in told
        ):
            return None
        if remarks.figures and any(re.search(r"(?<![\w_])\d", clause) for clause in told):
            return None
        # "West, west" may be two steps, "the middle, column 4" is one.
        if not told and any(clause.lower() == main.lower() for clause in rest):
            return None
        if is_last and not all(_leads(part, sign) for part in told):
            return None
        if not is_last and (sign == ":" or not all(_follows(part) for part in told)):
            return None
        found.append(action)
    return found[0] if found and all(reader.same(found[0], other) for other in found[1:]) else None


def _clauses(text: str) -> tuple[list[str], list[str]]:
    """The clauses of an answer, and what stands between them: ":" for a colon, else ""."""
    clauses, signs, start = [], [], 0
    for cut in [*_CUT.finditer(text), None]:
        clause = text[start : cut.start() if cut else len(text)].strip()
        if clause:
            clauses.append(clause)
            signs.append("")
        if cut:
            start = cut.end()
            if signs and cut["colon"] == ":":
                signs[-1] = ":"
    return clauses, signs[:-1]


def _told(rest: list[str], action: Any, reader: Reader) -> list[str] | None:
    """What is told, without clauses that name the same action again; None if it names another."""
    told = []
    for clause in rest:
        again = reader.meant(clause)
        if again is not None and reader.same(again, action):
            continue
        if reader.names(clause):
            return None
        words = tokens(RIGHT.sub("", MOVING.sub(r"\g<who>\g<does>", clause)))
        spans = {
            " ".join(words[i:j])
            for i in range(len(words))
            for j in (i + 1, i + 2)
            if not (i and _OWNED.fullmatch(words[i - 1]))
        }
        for span in spans:
            if span[0].isalpha() and reader.names(span):
                return None
        told.append(clause)
    return told


def _is_harmless(remark: str) -> bool:
    remark = _GUESS.sub(r"\g<who> ", remark)
    return not NO_REMARK.search(remark) and not _CALLS.fullmatch(remark)


def _leads(remark: str, sign: str) -> bool:
    """Whether a remark may stand before an action, with a sign between them."""
    if len(remark.split()) == 1:
        return _LABELS.fullmatch(remark) is not None
    if _LEADS_ON.search(remark) or _OPINION.match(remark):
        return False
    # "Player_1 is on his way: north" is its move, and "my fear: north" nobody's.
    if sign == ":" and (
        _DENIES.search(remark) or re.match(rf"(?:he|she|they|{NAME})\b", remark, re.I)
    ):
        return False
    return _BEFORE.match(remark) is not None or (sign == ":" and _ORDERS.match(remark) is not None)


def _follows(remark: str) -> bool:
    """Whether a remark may stand behind an action, and take nothing of it back."""
    return _BEHIND.match(remark) is not None and (
        not _DENIES.search(remark)
        or (len(remark.split()) > 3 and re.match(rf"{_OTHER}\b", remark, re.I) is not None)
    )
