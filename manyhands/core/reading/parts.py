"""The parts of an answer that decide, and what is said aloud.

A part is looked for in this order: a JSON object or tool call with an "action";
`<answer>...</answer>` or `\\boxed{...}`; a word in square brackets; `ACTION: ...` on any line;
"Final answer: ..." as the last line; a last paragraph that is nothing but an action; else it is all
of the answer (`parts_of`). What is said aloud is taken off before (`split_say`).
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator

from manyhands.core.reading.calls import calls_in, order_in_code
from manyhands.core.reading.objects import (
    THOUGHTS,
    Wordings,
    no_order,
    objects_in,
    order_of,
    orders_in,
    rivals_in,
    sole,
    tells_more,
    whole_ways,
)
from manyhands.core.reading.turns import spoken

WRAPPING = " \t\r\n«»\"'`*_[]{}<>.,;:!“”¡\u3002\uff01\uff0c\uff1b"  # around an answer

JSON, TAG, BRACKET, LINE, SENTENCE = "JSON object", "tag", "bracket", "ACTION line", "sentence"
PARAGRAPH = "last paragraph"
REASON = "reason"  # what stands beside an action: it is asked whether it is one, too


@dataclasses.dataclass(frozen=True)
class Answer:
    """A decisive part of an answer.

    Attributes:
        text: its words, without wrapping characters.
        plain: `text` in lower case with single spaces and straight apostrophes.
        raw: the same words with their wrapping characters.
        kind: `JSON`, `TAG`, `BRACKET`, `LINE`, `PARAGRAPH`, `SENTENCE` or `REASON`.
        ways: of a JSON object, all ways to say it, if there are several.
        source: the text of that object.
        rival: whether it stands under a second key for actions in its object: if it names none, it
            may be a remark.
        shut: why its object orders nothing, if it says so.
        denied: what its object denies, {"accept": false}, beside what it orders.
    """

    text: str
    plain: str
    raw: str
    kind: str = SENTENCE
    ways: Wordings = ()
    source: str = ""
    rival: bool = False
    shut: str = ""
    denied: tuple[str, ...] = ()


def normalise(text: str) -> str:
    """In lower case, with single spaces and straight apostrophes."""
    return " ".join(text.lower().replace("\u2019", "'").split())


# ---- the decisive part ---------------------------------------------------------------------------


def condense(text: str) -> str | None:
    """An answer without what stands around its decisive parts, which means the same; None if it has
    no marked part."""
    return divide(text)[2]


def divide(text: str) -> tuple[str, str | None, str | None]:
    """(the answer and the words said aloud, as `split_say` gives them, the answer as `condense`
    does)."""
    rest, say = split_say(text)
    return rest, say, _condensed(rest)


def _condensed(rest: str) -> str | None:
    group, *others = parts_of(rest)
    if group[0].kind == SENTENCE:
        return None
    if group[0].kind != BRACKET:
        return "\n".join(
            dict.fromkeys(answer.source or f"ACTION: {answer.text}" for answer in group)
        )
    lines = [f"ACTION: {a.text}" for a in others[0]] if others[0][0].kind == LINE else []
    return "\n".join(dict.fromkeys([*(f"[{answer.text}]" for answer in group), *lines]))


def parts_of(text: str, me: str = "") -> Iterator[list[Answer]]:
    """The decisive parts of an answer by kind, those that count before the others first."""
    orders = [_ordered(ways, own) for ways, own in calls_in(text)]
    if not orders:
        orders = [_ordered(ways, own) for ways, own in orders_in(text, me)]
        rivals = rivals_in(text) if orders else ()
        orders += [dataclasses.replace(part_of(words, JSON), rival=True) for words in rivals]
    if not orders:
        orders = _whole(text, me)
    if orders:
        yield orders
        return
    finders = (
        *((TAG, _in_tags), (BRACKET, _in_brackets)),
        *((LINE, _in_lines), (LINE, _in_arrows), (LINE, _in_last)),
    )
    for kind, find in finders:
        parts = [part_of(words, kind) for words in find(text)]
        if parts:
            yield parts
            if kind != BRACKET:
                return
    for words in _in_paragraph(text):
        yield [part_of(words, PARAGRAPH)]
    yield [part_of(_without_fences(text), SENTENCE)]


def _whole(text: str, me: str) -> list[Answer]:
    """The decisive part of an answer that is nothing but a JSON object without an "action"."""
    text = _without_fences(text).strip()
    if not (text.startswith("{") and text.endswith("}")):
        return []
    found = objects_in(text)
    if len(found) != 1 or found[0][1] != text or not isinstance(found[0][0], dict):
        return []
    value = sole(found[0][0], me)
    why = no_order(value)
    if why:
        return [dataclasses.replace(part_of("", JSON), source=text, shut=why)]
    ways, denied = whole_ways(value)
    if not ways and value.keys() <= THOUGHTS:  # {"plan": ["north"]}
        return [dataclasses.replace(part_of("", JSON), source=text)]
    order = _ordered((ways,), text) if ways else None
    if order and denied:
        order = dataclasses.replace(order, denied=denied, source=text)
    return [order] if order else []


def _ordered(ways: Wordings, source: str) -> Answer:
    """The decisive part that a JSON object is."""
    answer = part_of(ways[0][0], JSON)
    if len(ways) == 1 and len(ways[0]) == 1:
        return answer
    return dataclasses.replace(answer, ways=ways, source=source)


def called(answer: Answer) -> Answer:
    """A decisive part that is a call in code, as what it orders."""
    order = None if answer.ways else order_in_code(answer.text.strip(" ;`"))
    if isinstance(order, str):
        return part_of(order, answer.kind)
    return _ordered(order, answer.text) if order else answer


def part_of(raw: str, kind: str) -> Answer:
    """A decisive part of such words."""
    raw = raw.replace("\\_", "_").replace("**", "").replace("`", "")  # of Markdown and LaTeX
    stripped = raw.strip(WRAPPING)
    return Answer(stripped, normalise(stripped), raw, kind)


_TAGGED = re.compile(
    r"[<\[](/?)(answer|action|move|final|final_answer|final_action|choice|decision"
    r"|command|act|vote)[>\]]|\\boxed\{",
    re.I,
)


_FONT = re.compile(r"\A\\(?:text|textbf|mathrm|mathbf|textit)\{")


def _in_tags(text: str) -> Iterator[str]:
    opened: tuple[str, int] | None = None
    for tag in _TAGGED.finditer(text):
        if tag[0].startswith("\\"):
            end = text.find("}", tag.end())
            if end < 0:
                return
            yield _FONT.sub("", text[tag.end() : end], count=1)
        elif not tag[1]:
            opened = tag[2].lower(), tag.end()
        elif opened and opened[0] == tag[2].lower():
            yield text[opened[1] : tag.start()]
            opened = None


_BRACKETED = re.compile(r"\[([^\[\]\n]*)\](?!\()")


def _in_brackets(text: str) -> Iterator[str]:
    for found in _BRACKETED.finditer(text):
        if found[1].strip(WRAPPING):
            yield found[1]


_BLANK = r"[^\S\n]"  # a space of any kind within a line
_TAKEN = (
    rf"(?:{_BLANK}(?:chosen|selected|taken|picked|(?:for{_BLANK})?this{_BLANK}(?:turn|step|round))"
    rf"|{_BLANK}\((?:final|chosen|selected|best|now|this turn)\))?"
)
_ACTION = re.compile(
    rf"(?<![^\W_])action{_TAKEN}(?:{_BLANK}|[*_`\]])*(?:[:\uff1a]|=(?!=))|\[action\]{_BLANK}*(?=[\w\"'])",
    re.I,
)
# Behind the action on its line: "ACTION: north  # to the pot".
_COMMENT = re.compile(rf"{_BLANK}+(?:#|//){_BLANK}*(?P<said>[^\d\s].*)\Z")
_ARROW = re.compile(
    rf"(?<![^\W_])action{_TAKEN}(?:{_BLANK}|[*_`])*(?:-{{1,2}}>|\u2192|\u27a1\ufe0f?)", re.I
)
# Before ACTION: then it is a quotation, or somebody else's.
_NOT_OWN = re.compile(
    r"(?:[\"“>]|\b(?:your|his|her|their|its|whose|last|previous|possible|legal|available|no|not"
    r"|non|never|bad|wrong|worst|failed|rejected|forbidden|illegal|invalid|avoided|earlier|former"
    r"|predicted|candidate|alternative|future|other|opposite|dangerous|risky|useless|unsafe"
    r"|impossible|blocked|undone|cancell?ed|hypothetical|example|sample|partner|opponent|[a-z]+_\d+"
    r"|suggested|expected|planned|previous|prior"
    r"|the format is"
    r"|['\u2019]s)|\b(?:not|never|avoid|reject|exclude|forbid|cancel|undo|simulate|consider"
    r"|evaluate|skip|veto|discard|dismiss|suggest|predict|preview|don['\u2019]?t)[\s(]*\()[\s*_`]*$",
    re.I,
)


def _in_lines(text: str, sign: re.Pattern[str] = _ACTION) -> Iterator[str]:
    lines = text.split("\n")
    for i, line in enumerate(lines):
        marks = [m for m in sign.finditer(line) if not _NOT_OWN.search(line[: m.start()][-24:])]
        for mark, after in itertools.zip_longest(marks, marks[1:]):
            words = line[mark.end() : after.start() if after else len(line)]
            if not words.strip(WRAPPING) and after is None:
                words = next((other for other in lines[i + 1 :] if other.strip(WRAPPING)), words)
            yield _COMMENT.sub(r" (\g<said>)", words)


def _in_arrows(text: str) -> Iterator[str]:
    """ "ACTION -> ...", which says the same where there is no "ACTION: ..."."""
    return _in_lines(text, _ARROW)


# "Final answer: ..." as the last line, or alone on the line before.
LABEL = re.compile(
    rf"(?:{_BLANK}|[>*_`#\u2022-])*(?:\d{{1,2}}[.)]{_BLANK}+)?(?:[*_`]{{1,2}})?"
    rf"(?:(?:so|thus|therefore|hence),?{_BLANK}+)?"
    rf"(?:(?:based on|given|considering|after)\b[^,.:;!?]{{0,60}},{_BLANK}+)?"
    rf"(?:(?:the|my|final|next|chosen|best){_BLANK}+){{0,3}}(?:answer|move|choice|decision|action"
    rf"|(?:selected|chosen){_BLANK}+(?:skill|action|move|square|column|option)|selection|conclusion|verdict|result|vote"
    rf"|output|response|command|pick"
    rf"|(?:selected|chosen)(?=[*_`]{{0,2}}:)|(?<=my )order|(?:final|act)(?=[*_`]{{0,2}}:)"
    rf"|only{_BLANK}(?:one{_BLANK})?(?:option|choice|move|action)(?:{_BLANK}(?:left|here|now))?)"
    rf"(?:{_BLANK}+is(?:{_BLANK}+to(?={_BLANK}+[a-z]))?)?"
    rf"(?:{_BLANK}|[*_`])*(?P<colon>[:\uff1a]|=(?!=)|(?<=[\s*])[-\u2013\u2014](?=\s)|)"
    rf"(?:{_BLANK}|[*_`])*",
    re.I,
)
_ITEM = re.compile(rf"\A{_BLANK}*(?:[-*>\u2022]|1[.)]){_BLANK}+(?=\S)")


def _in_last(text: str) -> Iterator[str]:
    """What the last line of several gives as the answer."""
    *before, last = [line for line in text.split("\n") if line.strip(WRAPPING)][-2:] or [""]
    label = LABEL.match(last)
    if before and label and label["colon"] and last[label.end() :].strip(WRAPPING):
        yield last[label.end() :]
    elif before and LABEL.fullmatch(before[0]):
        yield _ITEM.sub("", last, count=1)


# What is said before the action: not to whom, of whom or of what, or that it is not done.
_LEADS_ON = re.compile(
    r"(?:[:,?\"\u201c\uff1a]|\b(?:not|never|or|to|if|unless|avoid|than|but|except|say|says|said))"
    r"[\s*_`]*$",
    re.I,
)
# A whole sentence, an item or a heading.
_CLOSED = re.compile(r"[.!\u2026)\]`*_][\s\"]*$|^\s*(?:[-*#>\u2022]|\d{1,2}[.)])")
_SHORT = 60  # characters of a last paragraph that is nothing but an action


def _in_paragraph(text: str) -> Iterator[str]:
    """The last line, if it is short and stands apart, or in bold: "It is free.\\n\\n**West**"."""
    lines = text.rstrip().split("\n")
    before = next((line for line in reversed(lines[:-1]) if line.strip(WRAPPING)), "")
    last = lines[-1].strip()
    bold = last.startswith("**") and last.endswith("**") and last.count("**") == 2
    apart = bold or (not (lines[-2:-1] or [before])[0].strip() and _CLOSED.search(before))
    if before and apart and len(last) <= _SHORT and not _LEADS_ON.search(before):
        yield last


def _without_fences(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("```"))


# ---- what is said aloud --------------------------------------------------------------------------

_SAY = re.compile(
    rf"(?:(?:^|[;,.|:=])(?:{_BLANK}|[>*_`#-])*(?i:say)|(?<=[\s*_`])SAY)(?:{_BLANK}"
    rf"|[*_`])*[:=\uff1a]"
)
_ENDS_IN_ACTION = re.compile(r"(?<![^\W_])action[\s*_`]*$", re.I)


def split_say(text: str) -> tuple[str, str | None]:
    """(the answer without reasoning and without what is said aloud, the words said aloud or None).

    Said aloud is "say" in a JSON object that decides, else what follows the last "say:" at the
    start of a line or after a comma, semicolon, full stop or bar, or "SAY:" anywhere, to the end of
    the line or to an ACTION."""
    text = spoken(text)
    values = [value for value, _ in objects_in(text)]
    orders = [order for order in map(order_of, values) if order]
    if orders:
        frame = "ACTION: {}"
        parts = [_split_lines(ways[0][0] if ways else "") for ways, _ in orders]
        said = [*(say for _, say in orders), *(say for _, say in parts)]
        if all(say is None for _, say in parts):
            # {"direction": "north", "say": "hi"} is more than speaking.
            decided = any(ways for ways, _ in orders) or any(map(tells_more, values))
            return (text if decided else ""), next((say for say in said[::-1] if say), None)
    else:
        framed = (("<answer>{}</answer>", _in_tags), ("[{}]", _in_brackets))
        found = [(frame, [_split_lines(words) for words in find(text)]) for frame, find in framed]
        found = [one for one in found if any(say is not None for _, say in one[1])]
        if not found:
            return _split_lines(text)
        frame, parts = found[0]
        said = [say for _, say in parts]
    rest = "\n".join(frame.format(words) for words, _ in parts if words)
    return rest, next(say for say in said[::-1] if say is not None)


def _split_lines(text: str) -> tuple[str, str | None]:
    """`split_say` of a text without other marks."""
    say, kept = None, []
    for line in text.split("\n"):
        mark = _SAY.search(line)
        if not mark:
            kept.append(line)
            continue
        words, rest = line[mark.end() :], line[: mark.start()]
        action = _ACTION.search(words)
        if action:
            rest, words = f"{rest} {words[action.start() :]}", words[: action.start()]
        say = words.strip(" \t\r*_`\"'“”|;")
        if _ENDS_IN_ACTION.search(rest[-40:]):
            kept = []  # "ACTION: say: ...": speaking is all that is done
        elif rest.strip(WRAPPING + "#-|"):
            kept.append(rest.rstrip(" \t\r;,|*_`"))
    if say is None:
        return text, None
    return "\n".join(kept).strip(" \t\r\n;,|*_`"), say
