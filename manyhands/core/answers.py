"""Reading answers: which part of an answer decides, what is said aloud, and what is refused.

One reader serves all worlds, for people, scripts and language models alike (`decide`):

1. Reasoning between tags like `<think>` is left out, and so is what is said aloud (`split_say`).
2. The decisive part is looked for, in this order: a JSON object or tool call with an "action";
   `<answer>...</answer>` or `\\boxed{...}`; a word in square brackets that names an action, such as
   `[check]`; `ACTION: ...` on any line; "Final answer: ..." as the last line; else all of it. What
   stands around it is thought, and never an action. Two decisive parts of one kind that differ are
   refused.
3. The decisive part must be one plain sentence that means one action: games read it with a
   `Grammar` (`core/grammar.py`), which leaves no word out. A reason, an alternative that is ruled
   out or a name may stand beside it, where they take nothing back (`core/asides.py`), and so may a
   remark that is no sentence (`core/bare.py`).
4. What names nothing so is read once more without its slips of the pen (`core/slips.py`).

Nothing is guessed: an answer is the action that it means, or an `IllegalAction` says what is wrong
with it. All of it takes time linear in the length of the answer.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import difflib
import itertools
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any

from manyhands.core import slips
from manyhands.core.asides import is_reason, main_clauses, pieces, states
from manyhands.core.bare import Reader, Remarks, at_end
from manyhands.core.calls import calls_in, order_in_code
from manyhands.core.closing import closings
from manyhands.core.corrections import corrected
from manyhands.core.doubts import denies, doubt, misspelt
from manyhands.core.env import IllegalAction, names_of
from manyhands.core.frames import NO_ACTION, framed, orders_nothing
from manyhands.core.grammar import listening
from manyhands.core.objects import (
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
from manyhands.core.plain import clearly, plainly, pointed
from manyhands.core.signs import MOVING, RIGHT
from manyhands.core.turns import spoken
from manyhands.core.verdict import COUNTED, verdicts
from manyhands.core.word_order import as_own
from manyhands.core.words import tokens

MAX_ANSWER = 20_000  # characters of an answer that are read; a longer one is refused
WRAPPING = " \t\r\n\"'`*_[]{}<>.,;:!“”¡\u3002\uff01\uff0c\uff1b"  # around an answer, of no meaning

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


REMARKS = Remarks()


def decide(
    text: Any,
    mean: Callable[[Answer], Any],
    refuse: Callable[[str], IllegalAction] = IllegalAction,
    *,
    what: str = "action",
    limit: int = MAX_ANSWER,
    me: str = "",
    written: Any = None,
    calm: Callable[[str], bool] = bool,
    remarks: Remarks = REMARKS,
) -> Any:
    """The action that an answer means.

    Args:
        text: the answer.
        mean: the action that a decisive part means, or None if it names none; it raises what
            `refuse` makes if the part names an action that is not open.
        refuse: makes the error from its reason; a game adds what could be answered instead.
        what: an action is called so in errors.
        limit: the most characters that are read.
        me: the name of the player who answers: "player_0 bets" is "I bet", said by itself.
        written: the answer as it was written, where `text` has names in place of its pronouns; a
            refusal quotes it.
        calm: whether the reason that is given for an action leaves it as it is in this game.
        remarks: what may stand beside an action that is no sentence.

    Raises:
        IllegalAction: it is no text, too long, empty, or does not mean exactly one action.
    """
    if not isinstance(text, str):
        raise refuse(f"an answer is text, not {type(text).__name__}")
    if len(text) > limit:
        raise refuse(f"the answer has {len(text)} characters; at most {limit} are read")
    text = pointed(text)
    inner = _NESTED.set(True) if not _NESTED.get() else None
    try:
        action, unread = _first(text, mean, refuse, me, calm, remarks)
        if unread is None:
            return action
        if unread.ways:
            unread = _answer(unread.ways[-1][0], JSON)  # with all that it says
        again = _mended(text, unread, mean, me) if inner is not None else text
        if again != text:
            action, still = _first(again, mean, refuse, me, calm, remarks)
            if still is None:
                return action
    finally:
        if inner is not None:
            _NESTED.reset(inner)
    why = misspelt(unread.plain, refuse("").reason) or doubt(unread.plain)
    shown = unread.text
    if isinstance(written, str) and normalise(shown) not in normalise(written):
        shown = written
    raise refuse(f"{quoted(shown)} names no {what}" + (f": {why}" if why else ""))


# Whether an answer is being read: a reader may ask another one of its parts, and only the whole
# answer is mended.
_NESTED: contextvars.ContextVar[bool] = contextvars.ContextVar("nested", default=False)


def _mended(text: str, unread: Answer, mean: Callable[[Answer], Any], me: str) -> str:
    """An answer without slips of the pen in the words of the grammars that were asked of it."""
    if not slips.possible(unread.text):
        return text
    with listening() as asked, contextlib.suppress(IllegalAction):
        mean(unread)
    return slips.mended(text, unread.text, asked, me)


def _first(
    text: str,
    mean: Callable[[Answer], Any],
    refuse: Callable[[str], IllegalAction],
    me: str,
    calm: Callable[[str], bool],
    remarks: Remarks,
) -> tuple[Any, Answer | None]:
    """The action of the first kind of decisive parts that has one, else the part that is unread."""
    unread, shut = None, None
    if "~~" in text:
        text = _STRUCK.sub(" ", text)
    text = _BOLD.sub(r"\n", text)
    # Without any mark, an answer is one sentence.
    told, groups = text, iter([[_answer(text, SENTENCE)]])
    if _MARKS.search(text):
        told = split_say(text)[0]
        groups = _groups(told, me)
    for group in groups:
        kind, unread_here = group[0].kind, None
        meanings: list[Any] = []
        for answer in group:
            if answer.shut:
                raise refuse(answer.shut)
            if answer.plain.strip("()"):
                try:
                    action = _meaning(_own(answer, me), mean, calm, remarks)
                except IllegalAction as error:
                    if kind != PARAGRAPH:
                        raise
                    action, shut = None, error
                if action is not None and kind == PARAGRAPH and _differs(told, action, mean):
                    action = None
                for words in answer.denied:
                    if action is not None and _is_same(words, action, mean):
                        raise refuse(f"{quoted(words)} is false, and what stands beside it is that")
                if action is None:
                    unread_here = unread_here if _is_remark(answer) else answer
                elif not any(_equal(action, other) for other in meanings):
                    meanings.append(action)
        # Brackets may stand for other things; all other marks are for actions.
        doubtful = bool(meanings) and unread_here is not None and kind not in (BRACKET, PARAGRAPH)
        if len(meanings) > 1 or doubtful:
            raise refuse(f"the answer has {len(group)} decisive parts ({kind}) that differ")
        if meanings:
            return meanings[0], None
        unread = unread_here or unread
        if kind not in (BRACKET, PARAGRAPH):
            break
    if shut is not None:
        raise shut
    if unread is None:
        raise refuse("the answer is empty")
    return None, unread


def _is_remark(answer: Answer) -> bool:
    """Whether what stands under a second key for actions may be left unread."""
    return answer.rival and len(answer.plain.split()) > 3 and not denies(answer.plain)


# "It is worth it. **Bet**": a last line of its own.
_BOLD = re.compile(r"(?<=[.!]) +(?=\*\*[^*\n]{1,60}\*\*[.!]*\s*\Z)")
_STRUCK = re.compile(r"(?<![\w~])~~(?=[^\s~])[^~\n]*(?<=[^\s~])~~(?![\w~])")  # of Markdown


def _differs(text: str, action: Any, mean: Callable[[Answer], Any]) -> bool:
    """Whether a line or sentence before the last paragraph is another action by itself."""
    before = text.rstrip().rpartition("\n")[0]
    parts = [part for part in _SENTENCES.split(before) if part.strip(WRAPPING)]
    return len(parts) > _MOST_SENTENCES or any(
        _names(part, mean) and not _is_same(part, action, mean) for part in parts
    )


_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n")
_MOST_SENTENCES = 60  # before a last paragraph


def _meaning(
    answer: Answer,
    mean: Callable[[Answer], Any],
    calm: Callable[[str], bool],
    remarks: Remarks,
) -> Any:
    """What a decisive part means; None if nothing, or several things, as it can be said."""
    if _COMPARES.search(answer.raw):
        return None
    answer = _called(answer)
    if not answer.ways:
        said = clearly(answer.text)
        if said != answer.text:
            answer = _answer(said, answer.kind)
        if orders_nothing(answer.text) or NO_ACTION.fullmatch(answer.plain):
            return None
        action = _explained(answer, mean, calm, _ASIDES)
        if action is not None or answer.kind == JSON:
            return action
        label = _LABEL.match(answer.text)
        if label and label["colon"] and answer.text[label.end() :].strip(WRAPPING):
            rest = _answer(answer.text[label.end() :], answer.kind)
            action = _explained(rest, mean, calm, _ASIDES)
        if action is None:
            action = _remarked(answer, mean, calm, remarks)
        if action is None:
            action = _decided(answer, mean, calm)
        said = plainly(answer.text)
        if action is None and said != answer.text:
            action = _decided(_answer(said, answer.kind), mean, calm)
        return _corrected(said, mean, calm) if action is None else action
    closed: IllegalAction | None = None
    for tier in answer.ways:
        found: list[Any] = []
        for words in tier:
            try:
                action = mean(_answer(words, JSON)) if words.strip(WRAPPING) else None
            except IllegalAction as error:
                closed = closed or error
                continue
            if action is not None and not any(_equal(action, other) for other in found):
                found.append(action)
        if found:
            return found[0] if len(found) == 1 else None
    if closed is not None:
        raise closed
    return None


def _explained(
    answer: Answer,
    mean: Callable[[Answer], Any],
    calm: Callable[[str], bool],
    depth: int,
    talk: bool = True,
) -> Any:
    """What a sentence means, or its main clause, if the rest of it takes nothing back."""
    shut: IllegalAction | None = None
    if NO_ACTION.fullmatch(answer.plain):
        return None
    try:
        action = mean(answer)
    except IllegalAction as error:
        # All of the answer was understood; but "to the pot: north" may be two clauses.
        if not depth or ":" not in answer.text:
            raise
        action, shut = None, error
    if action is not None or not depth:
        return action
    found: list[Any] = []
    for main, reason, ruled_out, later, strict, outcome, again in main_clauses(answer.text):
        if reason and not (is_reason(reason) and calm(reason)):
            continue
        named = [w for w in dict.fromkeys(_words(reason)) if _names(w, mean)] if strict else []
        if named and not outcome:
            continue
        clause = _answer(main, answer.kind)
        if not clause.plain:
            continue
        try:
            meant = _explained(clause, mean, calm, depth - 1, talk)
        except IllegalAction as error:
            if later or not reason or _is_told(reason, mean):
                shut = shut or error
            continue
        if meant is not None and later and not _is_last(reason, mean, meant):
            continue
        known = meant if outcome else None
        if meant is None or not (later or not reason or _is_told(reason, mean, known)):
            continue
        if again and not _is_same(reason, meant, mean):
            continue
        if outcome and not _is_outcome(_answer(reason, answer.kind), meant, mean, named):
            continue
        if ruled_out and not _is_other(_answer(ruled_out, answer.kind), meant, mean):
            continue
        if not any(_equal(meant, other) for other in found):
            found.append(meant)
    if len(found) == 1:
        return found[0]
    if shut and not found:
        raise shut
    return _framed(answer, mean, calm) if talk and not found else None


def _framed(answer: Answer, mean: Callable[[Answer], Any], calm: Callable[[str], bool]) -> Any:
    """What an own clause means, if all around it is talk."""
    found: list[Any] = []
    shut: IllegalAction | None = None
    for main, told in framed(answer.text):
        if told and not (calm(told) and _is_told(told, mean)):
            continue
        try:
            meant = _explained(_answer(main, answer.kind), mean, calm, 1, talk=False)
        except IllegalAction as error:
            shut = shut or error
            continue
        if meant is not None and not any(_equal(meant, other) for other in found):
            found.append(meant)
    if len(found) == 1:
        return found[0]
    if shut and not found:
        raise shut
    return None


def _remarked(
    answer: Answer,
    mean: Callable[[Answer], Any],
    calm: Callable[[str], bool],
    remarks: Remarks,
) -> Any:
    """What a remark with a bare action means, and what an answer in a chat's spelling does."""

    def meant(words: str) -> Any:
        try:
            return mean(_answer(words, REASON))
        except IllegalAction:
            return None

    text = plainly(answer.text.replace("\u2019", "'"))
    if text != answer.text:
        action = _explained(_answer(text, answer.kind), mean, calm, _ASIDES)
        if action is not None:
            return action
    reader = Reader(meant, lambda words: _names(words, mean), _equal)
    return at_end(text, reader, remarks)


_YES_OR_NO = frozenset(str.split("yes yeah yep sure okay ok no nope"))


def _decided(answer: Answer, mean: Callable[[Answer], Any], calm: Callable[[str], bool]) -> Any:
    """What the sentence means that decides, beside others that are weighed."""
    found: list[Any] = []
    for main, others, weighed in itertools.chain(verdicts(answer.raw), closings(answer.raw)):
        clause = _answer(main, answer.kind)
        if not clause.plain:
            continue
        action = _explained(clause, mean, calm, _ASIDES)
        # "Yes, I can't accept that, and gladly."
        if clause.plain in _YES_OR_NO and any(denies(unit) for unit in others):
            continue
        if action is None or any(
            _names(unit, mean) and not _is_same(unit, action, mean) for unit in others
        ):
            continue
        named = (word for unit in weighed for word in _words(COUNTED.sub("there", unit)))
        if any(_names(word, mean) and not _is_same(word, action, mean) for word in named):
            continue
        if not any(_equal(action, other) for other in found):
            found.append(action)
    return found[0] if len(found) == 1 else None


def _corrected(text: str, mean: Callable[[Answer], Any], calm: Callable[[str], bool]) -> Any:
    """What an answer means that takes back the action which it names first."""

    def meant(words: str) -> Any:
        ways = dict.fromkeys((words, plainly(words)))
        found = (_explained(_answer(way, SENTENCE), mean, calm, 1) for way in ways)
        return next((action for action in found if action is not None), None)

    return corrected(text, Reader(meant, lambda words: _names(words, mean), _equal), calm)


def _is_told(reason: str, mean: Callable[[Answer], Any], action: Any = None) -> bool:
    """Whether a reason names no action of its own, in none of its parts; an `action` may be named
    again."""
    parts = pieces(reason)
    return parts is not None and not any(
        _names(part, mean) and not (action is not None and _is_same(part, action, mean))
        for part in parts
    )


def _is_last(reason: str, mean: Callable[[Answer], Any], action: Any) -> bool:
    """Whether no clause behind a purpose is another action: "west to get an onion, go south"."""
    rest = reason.partition(",")[2].strip()
    return not rest or _is_told(rest, mean, action)


def _is_same(words: str, action: Any, mean: Callable[[Answer], Any]) -> bool:
    """Whether words name an action, and it is open."""
    try:
        other = mean(_answer(words, SENTENCE))
    except IllegalAction:
        return False
    return other is not None and _equal(other, action)


def _is_outcome(
    reason: Answer, action: Any, mean: Callable[[Answer], Any], named: list[str]
) -> bool:
    """Whether what is told beside an action is not what another one does: all of it, and each of
    the words that name one by themselves ("the pot is north. North"); it may not be denied then."""
    try:
        other = mean(reason)
    except IllegalAction:
        other = None
    if other is not None:
        return _equal(other, action)
    return not named or (
        not denies(reason.text) and all(_is_same(word, action, mean) for word in named)
    )


def _words(text: str) -> list[str]:
    """The words of a reason that could be an action; the number behind a name, "cabinet 3", belongs
    to it, and a thing that a statement tells of is none: "the pot is full"."""
    found = tokens(RIGHT.sub("", MOVING.sub(r"\g<who>\g<does>", text)))
    bare = states(text)
    return [
        word
        for before, word in zip(["", *found], found, strict=False)
        if not (word.isdigit() and before.isalpha()) and not (bare and before in bare)
    ]


def _names(words: str, mean: Callable[[Answer], Any]) -> bool:
    """Whether words name an action, open or not."""
    try:
        return mean(_answer(words, REASON)) is not None
    except IllegalAction:
        return True


def _is_other(answer: Answer, action: Any, mean: Callable[[Answer], Any]) -> bool:
    """Whether words name another action, or one that is not open."""
    try:
        other = mean(answer)
    except IllegalAction:
        return True
    return other is not None and not _equal(other, action)


def _own(answer: Answer, me: str) -> Answer:
    """A decisive part, as of "I" if it calls the player by its name."""
    if not me or answer.ways:
        return answer
    said = as_own(answer.text, me)
    return answer if said == answer.text else _answer(said, answer.kind)


def _equal(one: Any, other: Any) -> bool:
    return bool((one == other) if not hasattr(one, "shape") else (one == other).all())


def how_to_answer(example: str) -> str:
    """What rules say of the form of answers."""
    return (
        f'Answer in one plain sentence, such as "{example}". If you write more, mark the action: '
        'a last line "ACTION: ...", or [...], <answer>...</answer> or {"action": "..."}; the rest '
        "is not read. Questions, conditions, denials and two actions are refused."
    )


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
    group, *others = _groups(rest)
    if group[0].kind == SENTENCE:
        return None
    if group[0].kind != BRACKET:
        return "\n".join(
            dict.fromkeys(answer.source or f"ACTION: {answer.text}" for answer in group)
        )
    lines = [f"ACTION: {a.text}" for a in others[0]] if others[0][0].kind == LINE else []
    return "\n".join(dict.fromkeys([*(f"[{answer.text}]" for answer in group), *lines]))


def _groups(text: str, me: str = "") -> Iterator[list[Answer]]:
    """The decisive parts of an answer by kind, those that count before the others first."""
    orders = [_ordered(ways, own) for ways, own in calls_in(text)]
    if not orders:
        orders = [_ordered(ways, own) for ways, own in orders_in(text, me)]
        rivals = rivals_in(text) if orders else ()
        orders += [dataclasses.replace(_answer(words, JSON), rival=True) for words in rivals]
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
        parts = [_answer(words, kind) for words in find(text)]
        if parts:
            yield parts
            if kind != BRACKET:
                return
    for words in _in_paragraph(text):
        yield [_answer(words, PARAGRAPH)]
    yield [_answer(_without_fences(text), SENTENCE)]


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
        return [dataclasses.replace(_answer("", JSON), source=text, shut=why)]
    ways, denied = whole_ways(value)
    if not ways and value.keys() <= THOUGHTS:  # {"plan": ["north"]}
        return [dataclasses.replace(_answer("", JSON), source=text)]
    order = _ordered((ways,), text) if ways else None
    if order and denied:
        order = dataclasses.replace(order, denied=denied, source=text)
    return [order] if order else []


def _ordered(ways: Wordings, source: str) -> Answer:
    """The decisive part that a JSON object is."""
    answer = _answer(ways[0][0], JSON)
    if len(ways) == 1 and len(ways[0]) == 1:
        return answer
    return dataclasses.replace(answer, ways=ways, source=source)


# Code that negates or compares: `!accept()`, `action == "north"`.
_COMPARES = re.compile(r"\A[\s\"'`*_(]*!\s*[a-z]|[=!]=", re.I)


def _called(answer: Answer) -> Answer:
    """A decisive part that is a call in code, as what it orders."""
    order = None if answer.ways else order_in_code(answer.text.strip(" ;`"))
    if isinstance(order, str):
        return _answer(order, answer.kind)
    return _ordered(order, answer.text) if order else answer


def _answer(raw: str, kind: str) -> Answer:
    raw = raw.replace("\\_", "_").replace("**", "").replace("`", "")  # of Markdown and LaTeX
    stripped = raw.strip(WRAPPING)
    return Answer(stripped, normalise(stripped), raw, kind)


_ASIDES = 2  # clauses around the main one: "The pot is full, so I wait, not cook"
_MARKS = re.compile(r"[\[{<\\\n]|action|say|//", re.I)
_list = str.split


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
_LABEL = re.compile(
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
    label = _LABEL.match(last)
    if before and label and label["colon"] and last[label.end() :].strip(WRAPPING):
        yield last[label.end() :]
    elif before and _LABEL.fullmatch(before[0]):
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


# ---- words ---------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?:(?:action|option|choice|number) )?#?\(?([0-9]{1,4})\)?")
_NUMBERED = re.compile(
    r"(?:(?:action|option|choice|number) )?#?\(?([0-9]{1,2}) ?(?:[:)-]|\.(?![0-9]))+ ?(.+)"
)


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


def instead(given: Any, names: Sequence[str], most: int) -> str:
    """What could be answered in place of what was given: at most so many of the names, those most
    like it, in their order: "a, b or c, and 4 more"."""
    near = closest(given if isinstance(given, str) else "", names, most)
    more = f", and {len(names) - len(near)} more" if len(names) > len(near) else ""
    return names_of([name for name in names if name in near]) + more


def settled(
    meanings: Iterable[int | str],
    open_: Container[int],
    why: Callable[[int], str],
    refuse: Callable[[str], IllegalAction],
) -> int | None:
    """The one open action among the readings of a sentence; None if there are several, or none.

    Args:
        meanings: of each reading its action, or why what it says does not hold now.
        open_: the actions that are open.
        why: why an action is not.
        refuse: makes the error of the first such reason.
    """
    found: dict[int, None] = {}
    reason = ""
    for meant in meanings:
        if isinstance(meant, str):
            reason = reason or meant
        elif meant in open_:
            found[meant] = None
        else:
            reason = reason or why(meant)
    if found or not reason:
        return next(iter(found)) if len(found) == 1 else None
    raise refuse(reason)


def number(plain: str) -> int | None:
    """The number that a plain answer consists of: "5", "#5", "(5)", "action 5"."""
    found = _NUMBER.fullmatch(plain)
    return None if found is None else int(found[1])


def numbered(plain: str) -> tuple[int, str] | None:
    """(number, words) of a plain answer like "5. go north" or "action 5: go north"."""
    found = _NUMBERED.fullmatch(plain)
    return None if found is None else (int(found[1]), found[2])
