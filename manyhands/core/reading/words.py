"""The words of a sentence: tokens, their forms, numbers.

Plural and `-ing` forms are understood, as are number words, both spellings of names ("chef_1",
"chef 1"), and a few looser words for plain ones ("nab" for "grab").
"""

from __future__ import annotations

import functools
import re
from collections.abc import Hashable, Iterable
from typing import Any

_TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<rank>(?:st|nd|rd|th)\b)?"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?)|(?P<sign>->|\S|\n)"
)
_DROPPED = frozenset(",:\"'`*()_~\u201c\u201d\u2018\uff0c\u3001\uff1a")
_STOPS = {
    "!": ".",
    ";": ".",
    "\n": ".",
    "\u3002": ".",
    "\uff01": ".",
    "\uff1b": ".",
    "\u2026": ".",
    "\u2014": ".",
    "\u2192": "->",
}

# Pictures: most add nothing to words. Those that may turn a sentence round (a thumb down, laughter,
# a white flag, a cross, a doubt), or that point somewhere, are words that no pattern has.
CHEER = re.compile(
    "[\u2600-\u2604\u2615\u263a\u2660-\u2667\u2693\u26a1\u26bd\u26be\u2705\u2708\u2714\u2728\u2764"
    "\u2b50\ufe0f\U0001f300-\U0001f37f\U0001f380-\U0001f3f2\U0001f3f8-\U0001f43f\U0001f44b"
    "\U0001f44c\U0001f44d\U0001f44f\U0001f450-\U0001f47e\U0001f481-\U0001f493"
    "\U0001f495-\U0001f4a8\U0001f4aa-\U0001f4ff\U0001f525\U0001f52a\U0001f52b\U0001f600\U0001f601"
    "\U0001f603\U0001f604\U0001f607\U0001f608\U0001f60a-\U0001f60e\U0001f618\U0001f624"
    "\U0001f62c\U0001f634\U0001f642\U0001f64c\U0001f64f\U0001f680-\U0001f69f"
    "\U0001f6a0-\U0001f6a8\U0001f6f8\U0001f916\U0001f917\U0001f91d\U0001f920\U0001f929"
    "\U0001f950-\U0001f9c0\U0001f973\U0001f9c1-\U0001f9cb\U0001f9d0-\U0001f9d9"
    "\U0001fa91-\U0001faff]"
)

_NUMBER_SIGN = re.compile(r"\bno\. (?=[0-9])")  # "onion no. 3" denies nothing

_list = str.split
UNITS = _list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = _list("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBERS = {word: i for i, word in enumerate(UNITS)}
NUMBERS |= {word: 20 + 10 * i for i, word in enumerate(_TENS)}
_ORDINALS = _list("first second third fourth fifth sixth seventh eighth ninth tenth")
RANKS = {word: i for i, word in enumerate(_ORDINALS, start=1)}
_NUMERALS = {f"{i}{('th', 'st', 'nd', 'rd')[i if i < 4 else 0]}": word for word, i in RANKS.items()}


def tokens(text: str) -> list[str]:
    """The words, numbers and signs of a sentence, in lower case. Names with underscores and words
    with hyphens come apart; commas, quotation marks and round brackets are left out; what ends a
    sentence is "."; a minus stays with its number, and "twenty-five" is "25"."""
    found: list[str] = []
    text = text.lower().replace("\u2019", "'")
    if not text.isascii():
        text = CHEER.sub(" ", text)
    if "no. " in text:
        text = _NUMBER_SIGN.sub("number ", text)
    for match in _TOKEN.finditer(text):
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        token = _STOPS.get(match[0], match[0])
        if token in _DROPPED or (token == "." and found[-1:] in ([], ["."])):
            continue
        if token in "-\u2013":
            # A hyphen within a word, or the mark of a list; before a number it is a minus.
            if (before.isalpha() and after.isalpha()) or (not found and after.isspace()):
                continue
            token = "-"
        signed = match["number"] and found[-1:] == ["-"] and before in ("-", "\u2013")
        if signed and not text[match.start() - 2 : match.start() - 1].isalnum():
            found[-1] = f"-{token}"
            continue
        if 0 < NUMBERS.get(token, 0) < 10 and found[-1:] and found[-1] in _TENS:
            found[-1] = str(NUMBERS[found[-1]] + NUMBERS[token])
            continue
        found.append(token)
    return found


# Words that say the same as another one in every game, more loosely; patterns hold the plain word.
# None is also the past of a verb ("saw"), or says more than the plain word ("lend", "done").
_LOOSE = {
    "grab": "snag nab snatch swipe pluck",
    "put": "stick pop plonk plop slap shove stuff plunk",
    "throw": "chuck toss fling hurl sling",
    "go": "stroll saunter scoot wander hop trot march dash nip hike amble trek trudge stride tread "
    "hurry sidestep drift pop",
    "hit": "whack smack clobber bash thump wallop slug hunt",
    "chop": "hack",
    "mine": "quarry excavate",
    "drink": "sip gulp slurp swig",
    "make": "whittle assemble fabricate",
    "give": "slip",
    "wait": "linger loiter chill",
    "turn": "swivel swing pivot rotate",
}
_PLAIN: dict[str, list[str]] = {}
for _word, _others in _LOOSE.items():
    for _other in _list(_others):
        _PLAIN.setdefault(_other, []).append(_word)


@functools.lru_cache(maxsize=4096)
def forms_of(token: str) -> tuple[str, ...]:
    """A word, and what it may be a plural or an `-ing` form of; numbers in digits, too."""
    forms = [token]
    if token in NUMBERS:
        forms.append(str(NUMBERS[token]))
    elif token in _NUMERALS:
        forms.append(_NUMERALS[token])
    if len(token) > 3 and token.endswith("s") and not token.endswith("ss"):
        forms.append(token[:-1])
        if token.endswith("es"):
            forms.append(token[:-2])
        if token.endswith("ies"):
            forms.append(token[:-3] + "y")
    if len(token) > 4 and token.endswith("ing"):
        stem = token[:-3]
        forms += [stem, stem + "e"]
        if stem[-1] == stem[-2]:
            forms.append(stem[:-1])
    return tuple(forms)


@functools.lru_cache(maxsize=4096)
def loose_forms(token: str) -> tuple[str, ...]:
    """`forms_of`, and the plain words for all of them."""
    forms = forms_of(token)
    return tuple(dict.fromkeys((*forms, *(w for form in forms for w in _PLAIN.get(form, ())))))


def whole_number(token: str) -> int | None:
    """The whole number that a token is: "12", "-3", "seven"."""
    if token in NUMBERS:
        return NUMBERS[token]
    digits = token.removeprefix("-")
    return int(token) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def names(words: Iterable[str], *, values: Iterable[Hashable] | None = None) -> dict[str, Any]:
    """A slot of names: each of `words`, in any spelling, with its value (by default its index)."""
    words = list(words)
    return dict(zip(words, range(len(words)) if values is None else values, strict=True))
