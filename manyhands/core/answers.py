"""Reading answers: the ACTION line, the message, and negation.

Every reader of answers is built on these functions. The order of work is

1. `read_reply` (language models only): reasoning is left out; the last `ACTION:` and `SAY:` lines.
2. `split_say` (games with a channel): the action and the message.
3. `read` (every game): one line of text that names the action; `IllegalAction` if there is none.
4. The game searches for its own words in `Answer.plain`: `number`, `numbered`, `meant`.

All of them take time linear in the length of the text: they go through it once, line by line, and
no pattern here has two repetitions that can match the same characters.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from manyhands.core.env import IllegalAction

MAX_ANSWER = 2_000  # characters of an answer that are read; a longer one is refused
WRAPPING = " \t\r\n\"'`*_[]{}<>.,;:!“”"  # around an answer, of no meaning

_BLANK = r"[^\S\n]"  # a space of any kind within a line
_ACTION = re.compile(rf"(?:{_BLANK}|[>*_`#-])*action(?:{_BLANK}|[*_`])*[:=\uff1a]", re.I)
_SAY = re.compile(rf"(?:^|[;,.|])(?:{_BLANK}|[>*_`#-])*say(?:{_BLANK}|[*_`])*[:=\uff1a]", re.I)


@dataclasses.dataclass(frozen=True)
class Answer:
    """The part of an answer that names the action.

    Attributes:
        text: the words after the last `ACTION:`, or all words, without wrapping characters.
        plain: `text` in lower case with single spaces and straight apostrophes.
        raw: the same words with their wrapping characters.
        lined: whether they were in an ACTION line.
    """

    text: str
    plain: str
    raw: str
    lined: bool


def find(text: str) -> Answer:
    """The part of an answer that names the action, which may be empty."""
    line = action_line(text)
    raw = text if line is None else line
    stripped = raw.strip(WRAPPING)
    return Answer(stripped, normalise(stripped), raw, line is not None)


def read(
    text: Any,
    refuse: Callable[[str], IllegalAction] = IllegalAction,
    limit: int = MAX_ANSWER,
) -> Answer:
    """The part of an answer that names the action.

    Args:
        text: the answer.
        refuse: makes the error from its reason; a game adds what could be answered instead.
        limit: the most characters that are read.

    Raises:
        IllegalAction: it is no text, too long, or empty.
    """
    if not isinstance(text, str):
        raise refuse(f"an answer is text, not {type(text).__name__}")
    if len(text) > limit:
        raise refuse(f"the answer has {len(text)} characters; at most {limit} are read")
    answer = find(text)
    if not answer.text.strip("()"):
        raise refuse("the line ACTION: names nothing" if answer.lined else "the answer is empty")
    return answer


def action_line(text: str) -> str | None:
    """What follows the last `ACTION:` (or `ACTION=`) that begins a line; if nothing does, the next
    line that is not blank. None if no line begins so."""
    lines = text.split("\n")
    for i in range(len(lines) - 1, -1, -1):
        found = _ACTION.match(lines[i])
        if found:
            words = lines[i][found.end() :]
            if not words.strip(WRAPPING):
                words = next((line for line in lines[i + 1 :] if line.strip(WRAPPING)), words)
            return words
    return None


def split_say(text: str) -> tuple[str, str | None]:
    """(the words around it, the words after the last "say:") of an answer; None if there is no
    "say:" at the start of a line or after a comma, semicolon, full stop or bar. The rest of the
    line after "say:" belongs to it."""
    action = action_line(text)
    if action is not None and _SAY.match(
        action
    ):  # "ACTION: say: ...": speaking is all that is done
        text = action
    lines = text.split("\n")
    for i in range(len(lines) - 1, -1, -1):
        found = _SAY.search(lines[i])
        if found:
            before = "\n".join([*lines[:i], lines[i][: found.start()]])
            if not found.start():  # a line of its own: what leads up to it ends here
                bare = before.rstrip(" \t\r\n*_`>-")
                before = bare[:-1] if not bare or bare[-1] in ";,.|" else before
            rest = "\n".join([before, *lines[i + 1 :]]).strip(" \t\r\n;,|*_`")
            return rest, lines[i][found.end() :].strip(" \t\r*_`\"'“”")
    return text, None


# ---- sentences -----------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?:(?:action|option|choice|number) )?#?\(?([0-9]{1,4})\)?")
_NUMBERED = re.compile(r"(?:(?:action|option|choice|number) )?#?\(?([0-9]{1,2}) ?[:.)-]+ ?(.+)")
_CLAUSE = re.compile(r"[.,;:!?\n]|\b(?:but|so|then|and)\b")
_NOT = re.compile(
    r"\b(?:not|never|cannot|avoid|without|neither|nor|instead of|rather than)\b|n['\u2019]t\b", re.I
)
_DENIAL = re.compile(r"\b(?:no|not|never|none|nothing|cannot|without)\b|n['\u2019]t\b", re.I)


def normalise(text: str) -> str:
    """In lower case, with single spaces and straight apostrophes."""
    return " ".join(text.lower().replace("\u2019", "'").split())


def quoted(answer: str) -> str:
    """The answer, short and without characters that could do harm in a prompt or a log."""
    answer = answer.strip()
    return repr(answer if len(answer) <= 60 else answer[:57] + "...")


def number(plain: str) -> int | None:
    """The number that a plain answer consists of: "5", "#5", "(5)", "action 5"."""
    found = _NUMBER.fullmatch(plain)
    return None if found is None else int(found[1])


def numbered(plain: str) -> tuple[int, str] | None:
    """(number, words) of a plain answer like "5. go north" or "action 5: go north"."""
    found = _NUMBERED.fullmatch(plain)
    return None if found is None else (int(found[1]), found[2])


def meant(pattern: re.Pattern[str], plain: str) -> list[re.Match[str]]:
    """The matches of `pattern` in a plain answer that are not negated: no "not", "never", "instead
    of" or the like precedes them in their clause."""
    matches = list(pattern.finditer(plain))
    if not matches:
        return matches
    clauses = [0, *(found.end() for found in _CLAUSE.finditer(plain))]
    denials = [found.span() for found in _NOT.finditer(plain)]
    ends = [end for _, end in denials]

    def denied(start: int) -> bool:
        before = bisect_right(ends, start)
        clause = clauses[bisect_right(clauses, start) - 1]
        return before > 0 and denials[before - 1][0] >= clause

    return [found for found in matches if not denied(found.start())]


def denies(text: str) -> bool:
    """Whether a sentence contains a negation."""
    return bool(_DENIAL.search(text))


# ---- replies of language models ------------------------------------------------------------------

_THOUGHT = re.compile(r"<(/?)(think|thinking|reasoning)>", re.I)
# Markdown around the word is allowed, a quotation is not: neither `>` nor `"` may precede it.
_LINE = re.compile(r"[\s*_`#-]*(ACTION|SAY)[\s*_`]*[:\uff1a]", re.I)
_SAY_BEHIND = re.compile(r"(?<=[\s;,|*_`])SAY[\s*_`]*[:\uff1a]", re.I)
_EDGES = " \t*_`\"'“”<>"


def read_reply(reply: str) -> tuple[str | None, str | None]:
    """(action, say) of the last `ACTION:` line in a reply, and of the `SAY:` line below it (or
    above it, if there is only one `ACTION:` line); None if absent. Reasoning between tags like
    `<think>` is ignored."""
    action = say = None
    pending = ""  # a keyword whose words begin in the next line
    for line in _spoken(reply).splitlines():
        match = _LINE.match(line)
        if match:
            pending, words = match[1].upper(), line[match.end() :]
        elif pending and line.strip(_EDGES):
            words = line
        else:
            continue
        if pending == "ACTION":
            if match and action is not None:
                say = None
            behind = _SAY_BEHIND.search(words)
            if behind:
                say = words[behind.end() :].strip(_EDGES) or None
                words = words[: behind.start()].rstrip(" \t;,|*_`")
            action = words.strip(_EDGES) or None
            pending = "" if action else pending
        else:
            say = words.strip(_EDGES) or None
            pending = "" if say else pending
    return action, say


def _spoken(reply: str) -> str:
    """A reply without its reasoning: the text between tags, after an opening tag that is never
    closed, and before a closing tag that was never opened."""
    parts: list[str] = []
    start, inside = 0, ""
    for tag in _THOUGHT.finditer(reply):
        closing, name = bool(tag[1]), tag[2].lower()
        if not inside and not closing:
            parts.append(reply[start : tag.start()])
            inside = name
        elif not inside:
            parts, start = [], tag.end()
        elif closing and name == inside:
            start, inside = tag.end(), ""
    return "".join(parts if inside else [*parts, reply[start:]])
