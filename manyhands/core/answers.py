"""Reading answers: which part of an answer decides, what is said aloud, and what is refused.

One reader serves all worlds, for people, scripts and language models alike (`decide`):

1. Reasoning between tags like `<think>` is left out, and so is what is said aloud (`split_say`).
2. The decisive part is looked for, in this order: a JSON object or tool call with an "action";
   `<answer>...</answer>` or `\\boxed{...}`; a word in square brackets that names an action, such as
   `[check]`; `ACTION: ...` on any line; else the whole answer. What stands around it is thought,
   and never an action. Two decisive parts of one kind that differ are refused.
3. The decisive part must be one plain sentence that means one action: games read it with a
   `Grammar` (`core/grammar.py`), which leaves no word out.

Nothing is guessed: an answer is the action that it means, or an `IllegalAction` says what is wrong
with it. All of it takes time linear in the length of the answer.
"""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from manyhands.core.env import IllegalAction
from manyhands.core.grammar import tokens

MAX_ANSWER = 20_000  # characters of an answer that are read; a longer one is refused
WRAPPING = " \t\r\n\"'`*_[]{}<>.,;:!“”"  # around an answer, of no meaning

JSON, TAG, BRACKET, LINE, SENTENCE = "JSON object", "tag", "bracket", "ACTION line", "sentence"


@dataclasses.dataclass(frozen=True)
class Answer:
    """A decisive part of an answer.

    Attributes:
        text: its words, without wrapping characters.
        plain: `text` in lower case with single spaces and straight apostrophes.
        raw: the same words with their wrapping characters.
        kind: `JSON`, `TAG`, `BRACKET`, `LINE` or `SENTENCE`.
    """

    text: str
    plain: str
    raw: str
    kind: str = SENTENCE


def decide(
    text: Any,
    mean: Callable[[Answer], Any],
    refuse: Callable[[str], IllegalAction] = IllegalAction,
    *,
    what: str = "action",
    limit: int = MAX_ANSWER,
) -> Any:
    """The action that an answer means.

    Args:
        text: the answer.
        mean: the action that a decisive part means, or None if it names none; it raises what
            `refuse` makes if the part names an action that is not open.
        refuse: makes the error from its reason; a game adds what could be answered instead.
        what: an action is called so in errors.
        limit: the most characters that are read.

    Raises:
        IllegalAction: it is no text, too long, empty, or does not mean exactly one action.
    """
    if not isinstance(text, str):
        raise refuse(f"an answer is text, not {type(text).__name__}")
    if len(text) > limit:
        raise refuse(f"the answer has {len(text)} characters; at most {limit} are read")
    unread = None
    # Without any mark, an answer is one sentence.
    marked = _groups(split_say(text)[0]) if _MARKS.search(text) else [[_answer(text, SENTENCE)]]
    for group in marked:
        kind, unread_here = group[0].kind, None
        meanings: list[Any] = []
        for answer in group:
            if answer.plain.strip("()"):
                action = mean(answer)
                if action is None:
                    unread_here = answer
                elif not any(_equal(action, other) for other in meanings):
                    meanings.append(action)
        # Brackets may stand for other things; all other marks are for actions.
        doubtful = bool(meanings) and unread_here is not None and kind != BRACKET
        if len(meanings) > 1 or doubtful:
            raise refuse(f"the answer has {len(group)} decisive parts ({kind}) that differ")
        if meanings:
            return meanings[0]
        unread = unread_here or unread
        if kind != BRACKET:
            break
    if unread is None:
        raise refuse("the answer is empty")
    why = doubt(unread.plain)
    raise refuse(f"{quoted(unread.text)} names no {what}" + (f": {why}" if why else ""))


def _equal(one: Any, other: Any) -> bool:
    return bool((one == other) if not hasattr(one, "shape") else (one == other).all())


def how_to_answer(example: str) -> str:
    """What rules say of the form of answers."""
    return (
        f'Answer in one plain sentence, such as "{example}". If you write more, mark the action: '
        f'end with a line "ACTION: {example}", or write [{example}], <answer>{example}</answer> or '
        f'{{"action": "{example}"}}; the rest is then not read. What is no clear action (a '
        "question, a condition, a denial, two actions) is refused."
    )


# ---- the decisive part ---------------------------------------------------------------------------


def condense(text: str) -> str | None:
    """An answer without what stands around its decisive parts, which means the same; None if it has
    no marked part."""
    group, *others = _groups(split_say(text)[0])
    if group[0].kind == SENTENCE:
        return None
    if group[0].kind != BRACKET:
        return "\n".join(dict.fromkeys(f"ACTION: {answer.text}" for answer in group))
    lines = [f"ACTION: {a.text}" for a in others[0]] if others[0][0].kind == LINE else []
    return "\n".join(dict.fromkeys([*(f"[{answer.text}]" for answer in group), *lines]))


def _groups(text: str) -> Iterator[list[Answer]]:
    """The decisive parts of an answer by kind, those that count before the others first."""
    for kind, find in ((JSON, _in_objects), (TAG, _in_tags), (BRACKET, _in_brackets),
                       (LINE, _in_lines)):  # fmt: skip
        parts = [_answer(words, kind) for words in find(text)]
        if parts:
            yield parts
            if kind != BRACKET:
                return
    yield [_answer(_without_fences(text), SENTENCE)]


def _answer(raw: str, kind: str) -> Answer:
    stripped = raw.strip(WRAPPING)
    return Answer(stripped, normalise(stripped), raw, kind)


_MARKS = re.compile(r"[\[{<\\\n]|action|say", re.I)
_KEYS = ("action", "move", "answer")
_NESTED = ("arguments", "parameters", "input", "function", "tool_calls", "tool_call")
_TRIES = 32  # objects that are looked for


def _in_objects(text: str) -> list[str]:
    return [found[0] for found in map(_order, _objects(text)) if found and found[0]]


def _objects(text: str) -> list[Any]:
    """The JSON objects in a text, and the rest of the text is never parsed twice."""
    found, start = [], text.find("{")
    for _ in range(_TRIES):
        if start < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, start)
            found.append(value)
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def _order(value: Any, depth: int = 4) -> tuple[str, str | None] | None:
    """(words of the action, words to say) of a JSON object or a tool call; None if it has none."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str) and depth < 4:
        try:
            value = _DECODER.decode(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, dict) or not depth:
        return None
    keys = {str(key).lower(): item for key, item in value.items()}
    say = keys.get("say", keys.get("message"))
    say = say if isinstance(say, str) and say.strip() else None
    for key in _KEYS:
        if key in keys:
            return _in_words(keys[key]), say
    for key in _NESTED:
        found = _order(keys[key], depth - 1) if key in keys else None
        if found:
            return found
    return ("", say) if say else None


def _in_words(value: Any) -> str:
    """A JSON value as words: the parts of a list or an object one after the other. Several numbers
    keep their names, since their order may be any."""
    if isinstance(value, dict):
        plain = [isinstance(item, int | float) for item in value.values()]
        named = len(plain) > 1 and all(plain)
        value = [f"{key} {_in_words(item)}" if named else item for key, item in value.items()]
    if isinstance(value, list):
        return ", ".join(_in_words(item) for item in value)
    if value is None or isinstance(value, bool):
        return ""
    return value if isinstance(value, str) else json.dumps(value)


_TAGGED = re.compile(r"<(/?)(answer|action|move)>|\\boxed\{", re.I)


def _in_tags(text: str) -> Iterator[str]:
    opened: tuple[str, int] | None = None
    for tag in _TAGGED.finditer(text):
        if tag[0].startswith("\\"):
            end = text.find("}", tag.end())
            if end < 0:
                return
            yield text[tag.end() : end].removeprefix("\\text{").removeprefix("\\textbf{")
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
_ACTION = re.compile(rf"(?<![^\W_])action(?:{_BLANK}|[*_`])*[:=\uff1a]", re.I)
# Before ACTION: then it is a quotation, or somebody else's.
_NOT_OWN = re.compile(
    r"(?:[\"“>]|\b(?:your|his|her|their|its|whose|last|previous|possible|legal|available|no"
    r"|['\u2019]s))[\s*_`]*$",
    re.I,
)


def _in_lines(text: str) -> Iterator[str]:
    lines = text.split("\n")
    for i, line in enumerate(lines):
        marks = [m for m in _ACTION.finditer(line) if not _NOT_OWN.search(line[: m.start()][-24:])]
        for mark, after in itertools.zip_longest(marks, marks[1:]):
            words = line[mark.end() : after.start() if after else len(line)]
            if not words.strip(WRAPPING) and after is None:
                words = next((other for other in lines[i + 1 :] if other.strip(WRAPPING)), words)
            yield words


def _without_fences(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("```"))


# ---- what is said aloud --------------------------------------------------------------------------

_SAY = re.compile(
    rf"(?:(?:^|[;,.|:=])(?:{_BLANK}|[>*_`#-])*(?i:say)|(?<=[\s*_`])SAY)(?:{_BLANK}|[*_`])*[:=\uff1a]"
)
_ENDS_IN_ACTION = re.compile(r"(?<![^\W_])action[\s*_`]*$", re.I)
_THOUGHT = re.compile(r"<(/?)(think|thinking|reasoning)>", re.I)


def split_say(text: str) -> tuple[str, str | None]:
    """(the answer without reasoning and without what is said aloud, the words said aloud or None).

    Said aloud is "say" in a JSON object that decides, else what follows the last "say:" at the
    start of a line or after a comma, semicolon, full stop or bar, or "SAY:" anywhere, to the end of
    the line or to an ACTION."""
    text = _spoken(text)
    orders = [order for order in map(_order, _objects(text)) if order]
    if orders:
        frame, parts = "ACTION: {}", [_split_lines(words) for words, _ in orders]
        said = [*(say for _, say in orders), *(say for _, say in parts)]
        if all(say is None for _, say in parts):
            decided = any(words for words, _ in orders)
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


def _spoken(text: str) -> str:
    """An answer without its reasoning: the text between tags, after an opening tag that is never
    closed, and before a closing tag that was never opened."""
    parts: list[str] = []
    start, inside = 0, ""
    for tag in _THOUGHT.finditer(text):
        closing, name = bool(tag[1]), tag[2].lower()
        if not inside and not closing:
            parts.append(text[start : tag.start()])
            inside = name
        elif not inside:
            parts, start = [], tag.end()
        elif closing and name == inside:
            start, inside = tag.end(), ""
    return "".join(parts if inside else [*parts, text[start:]])


# ---- words ---------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?:(?:action|option|choice|number) )?#?\(?([0-9]{1,4})\)?")
_NUMBERED = re.compile(r"(?:(?:action|option|choice|number) )?#?\(?([0-9]{1,2}) ?[:.)-]+ ?(.+)")


def normalise(text: str) -> str:
    """In lower case, with single spaces and straight apostrophes."""
    return " ".join(text.lower().replace("\u2019", "'").split())


def quoted(answer: str) -> str:
    """The answer, short and without characters that could do harm in a prompt or a log."""
    answer = answer.strip()
    return repr(answer if len(answer) <= 60 else answer[:57] + "...")


def closest(words: str, names: Iterable[str], most: int) -> list[str]:
    """At most so many of some names, those most like the words first, in their order where they are
    alike."""
    match = difflib.SequenceMatcher(b=words[:60].lower(), autojunk=False)

    def likeness(name: str) -> float:
        match.set_seq1(name.lower())
        return -match.ratio()

    return sorted(names, key=likeness)[:most]


def number(plain: str) -> int | None:
    """The number that a plain answer consists of: "5", "#5", "(5)", "action 5"."""
    found = _NUMBER.fullmatch(plain)
    return None if found is None else int(found[1])


def numbered(plain: str) -> tuple[int, str] | None:
    """(number, words) of a plain answer like "5. go north" or "action 5: go north"."""
    found = _NUMBERED.fullmatch(plain)
    return None if found is None else (int(found[1]), found[2])


_list = str.split
_DENIAL = frozenset(
    _list(
        "no not never none nothing cannot without neither nor nobody refuse avoid don't dont won't "
        "wont can't cant isn't wouldn't shouldn't doesn't didn't couldn't"
    )
)
_DOUBTS = (
    ("it denies something", " ".join(_DENIAL)),
    ("it sets a condition", "if unless when once only until provided otherwise"),
    ("a question is no {}", "? whether should could would why what how which"),
    ("it leaves a choice open", "or either whichever any / both"),
    ("it compares", "than too rather better worse higher lower"),
    ("it is not sure", "maybe perhaps might may probably possibly guess"),
    ("it tells of others", "you he she they your his her their someone"),
)


def doubt(plain: str, what: str = "move") -> str:
    """Why a sentence is no plain statement of an action, in a few words; empty if that cannot be
    seen from its words."""
    words = set(tokens(plain))
    for reason, signs in _DOUBTS:
        if not words.isdisjoint(signs.split()):
            return reason.format(what)
    if len(words) > 12:
        return 'end with a line of its own: "ACTION: ..."'
    return ""


def denies(text: str) -> bool:
    """Whether a sentence contains a negation."""
    return not _DENIAL.isdisjoint(tokens(text))
