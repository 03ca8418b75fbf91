"""Lists of numbers in a sentence: "0.1, -0.2, 0, 0.3", "(x = 2, y = 0, z = 1.6)"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from manyhands.core.reading.parts import normalise
from manyhands.core.reading.words import whole_number

LIST = "@"  # stands for the list in the rest of the sentence, for a `Grammar`

_FIGURE = (
    r"(?:[-+]|minus )?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]{1,3})?"
    r"|nan|inf(?:inity)?|zero|one|two|three|four|five|six)"
)
VELOCITY = re.compile(r"\bv[_ ]?[xyz]\b", re.I)  # a name that nothing but a velocity has
_JOINT = re.compile(r"(?<=[a-z])_(?=[a-z])")
_SIGNS = str.maketrans("\u2212\u2013", "--")


def split(
    text: str, labels: Sequence[str], unit: str = "", rest: Sequence[float] | None = None
) -> tuple[str, list[float] | None]:
    """(a sentence with `LIST` in place of its one list of numbers, the numbers).

    Args:
        labels: for each number, a pattern of what it may be called; if names are given, they decide
            which number is which.
        unit: a pattern of what may follow a number.
        rest: what the others are where only one or two are given, all by their names: "z = 2.5";
            None if all have to be.

    The numbers are None if the sentence has no list, or more than one, or one that is not clear:
    some have names and others not (but the last ones may, those of their places), or they are set
    apart in two ways ("0,5 0,5").
    """
    plain = _JOINT.sub(" ", normalise(text).translate(_SIGNS))  # "yaw_rate" is "yaw rate"
    # "(1, 2, 3), heading 0": the last may stand behind the brackets.
    plain = re.sub(
        rf"[)\]}}>](?: ?(?:{unit}))?,? ?(?:and |with |at |a |the |my )*"
        rf"(?=(?:{labels[-1]}) ?(?:[:=] ?|is |of |at |to )?{_FIGURE})",
        ", ",
        plain,
    )
    # "0.3 along z and no turning" is "z 0.3 and turning 0".
    plain = re.sub(
        rf"(?<![\w.])({_FIGURE})(?: ?(?:{unit}))? (?:along|in|on|to|towards?) (?:the )?"
        rf"({'|'.join(labels)})(?:[- ](?:axis|direction))?\b",
        r"\2 \1",
        plain,
    )
    plain = re.sub(rf"\bno ({labels[-1]})\b", r"\1 0", plain)
    end = rf"(?: ?(?:{unit}))?(?![\w%])" if unit else r"(?![\w%])"
    item = re.compile(
        rf"(?:(?<!\w)(?P<name>{'|'.join(labels)}) ?(?:[:=] ?|is |of |at )?)?"
        rf"(?<![\w.+-])(?P<figure>{_FIGURE}){end}"
    )
    bare = re.sub(r"\?P<\w+>", "?:", item.pattern)
    between = r"(?: ?[,;] ?(?:and )?| and | )"
    behind = rf"(?:(?<=[\])}}>]) ?(?:{unit})(?!\w))?" if unit else ""  # "(1, 2, 3) m"
    lists = list(
        re.finditer(rf"[\[({{<]* ?({bare}(?:{between}{bare})*)[,;]? ?[\])}}>]*{behind}", plain)
    )
    if len(lists) != 1 or lists[0][1].isalpha():
        return plain, None
    if plain[: lists[0].start()].rstrip().endswith(("-", "+")):
        return plain, None  # a sign, or the mark of a list
    items = list(item.finditer(lists[0][1]))
    gaps = [lists[0][1][a.end() : b.start()] for a, b in itertools.pairwise(items)]
    apart = {gap.removesuffix("and ").strip() for gap in gaps if gap != " and "}
    figures = [_value(found["figure"]) for found in items]
    named = [next((i for i, label in enumerate(labels) if re.fullmatch(label, found["name"])), -1)
             for found in items if found["name"]]  # fmt: skip
    # "velocity 0.5, 0, 0, yaw rate 0.1": the last have names, which say what their places say.
    last = list(range(len(labels) - len(named), len(labels)))
    whole = len(items) == len(labels)
    agree = whole and named == last and all(items[i]["name"] for i in last)
    few = len(named) == len(items) == len(set(named)) < min(3, len(labels)) and -1 not in named
    if few and rest is not None:
        figures = [figures[named.index(i)] if i in named else rest[i] for i in range(len(labels))]
    elif named and not agree:
        if sorted(named) != list(range(len(items))):
            return plain, None
        figures = [figures[named.index(i)] for i in range(len(items))]
    elif len(apart) > 1:
        return plain, None
    return f"{plain[: lists[0].start()]} {LIST} {plain[lists[0].end() :]}", figures


def _value(figure: str) -> float:
    digits = figure.replace("minus ", "-")
    word = digits.lstrip("+-")
    whole = whole_number(word) if word.isalpha() else None
    if whole is not None:
        return float(-whole if digits.startswith("-") else whole)
    return float(digits)


_COMMANDS = re.compile(
    r"\b(?:set|send|use|apply|command|give|output|fly|go|move|goto|return|back|head|keep|hold|stay"
    r"|target|next|action|answer)\b"
)
_STATES = re.compile(r"\b(?:my|our|i'm|i am|we're|we are|i|it's)\b")
_GROUP = re.compile(r"\((-?\d+(?:\.\d+)?(?:, ?-?\d+(?:\.\d+)?)+)\)")
_EXACT = 0.006  # as exactly as a text tells a number


def repeats(sentence: str, raw: str, numbers: Sequence[float], describe: Callable[[], str]) -> bool:
    """Whether a sentence with `numbers`, as `split` gives them, only says how its player is, as its
    text does ("I'm at 1.57, -0.06, 1.95"), and names no action. `describe` gives that text."""
    words = sentence.replace(LIST, "").strip(" .,:()[]")
    if not words or _COMMANDS.search(words):
        return False
    told = describe()
    if not _STATES.search(words) and normalise(raw).strip(" .!") not in normalise(told):
        return False
    own = [line for line in told.splitlines() if line.lower().startswith("you")]
    groups = [[float(x) for x in found.split(",")] for found in _GROUP.findall(" ".join(own))]
    return any(
        len(group) <= len(numbers)
        and all(abs(a - b) < _EXACT for a, b in zip(group, numbers, strict=False))
        for group in groups
    )
