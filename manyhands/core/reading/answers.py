"""What an answer means, or why it is refused.

One reader serves all worlds, for people, scripts and language models alike (`decide`):

1. Reasoning between tags like `<think>` is left out, and so is what is said aloud.
2. The parts that decide are looked for (`parts.py`). What stands around a marked part is thought,
   and never an action. Two parts of one kind that differ are refused.
3. Such a part must be one plain sentence that means one action: games read it with a `Grammar`
   (`grammar.py`), which leaves no word out. A reason, an alternative that is ruled out or a name
   may stand beside it, where they take nothing back (`asides.py`), and so may a remark that is no
   sentence (`bare.py`).
4. What names nothing so is read once more without its slips of the pen (`slips.py`).

Nothing is guessed: an answer is the action that it means, or an `IllegalAction` says what is wrong
with it. All of it takes time linear in the length of the answer.
"""

from __future__ import annotations

import contextlib
import contextvars
import difflib
import itertools
import re
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from manyhands.core.env import IllegalAction, names_of
from manyhands.core.reading import slips
from manyhands.core.reading.asides import is_reason, main_clauses, pieces, states
from manyhands.core.reading.bare import Reader, Remarks, at_end
from manyhands.core.reading.closing import closings
from manyhands.core.reading.corrections import corrected
from manyhands.core.reading.doubts import denies, doubt, misspelt
from manyhands.core.reading.frames import NO_ACTION, framed, orders_nothing
from manyhands.core.reading.grammar import listening
from manyhands.core.reading.margins import without_margins
from manyhands.core.reading.parts import (
    BRACKET,
    JSON,
    LABEL,
    PARAGRAPH,
    REASON,
    SENTENCE,
    WRAPPING,
    Answer,
    called,
    normalise,
    part_of,
    parts_of,
    split_say,
)
from manyhands.core.reading.plain import clearly, plainly, pointed
from manyhands.core.reading.signs import MOVING, RIGHT
from manyhands.core.reading.verdict import COUNTED, verdicts
from manyhands.core.reading.word_order import as_own
from manyhands.core.reading.words import tokens

MAX_ANSWER = 20_000  # characters of an answer that are read; a longer one is refused
REMARKS = Remarks()
_ASIDES = 2  # clauses around the main one: "The pot is full, so I wait, not cook"
_MARKS = re.compile(r"[\[{<\\\n]|action|say|//", re.I)  # an answer may have marked parts
# Code that negates or compares: `!accept()`, `action == "north"`.
_COMPARES = re.compile(r"\A[\s\"'`*_(]*!\s*[a-z]|[=!]=", re.I)


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
            unread = part_of(unread.ways[-1][0], JSON)  # with all that it says
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
    text = _BOLD.sub(r"\n", _GAP.sub(" " * 8, text))
    # Without any mark, an answer is one sentence.
    told, groups = text, iter([[part_of(text, SENTENCE)]])
    if _MARKS.search(text):
        told = split_say(text)[0]
        groups = parts_of(told, me)
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


_GAP = re.compile(r"[ \t]{9,}")  # a space or an indentation is no longer
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
    answer = called(answer)
    if not answer.ways:
        said = clearly(answer.text)
        if said != answer.text:
            answer = part_of(said, answer.kind)
        if orders_nothing(answer.text) or NO_ACTION.fullmatch(answer.plain):
            return None
        try:
            action = _explained(answer, mean, calm, _ASIDES)
        except IllegalAction:
            action = _bare(answer, mean)
            if action is None:
                raise
        if action is not None or answer.kind == JSON:
            return action
        label = LABEL.match(answer.text)
        if label and label["colon"] and answer.text[label.end() :].strip(WRAPPING):
            rest = part_of(answer.text[label.end() :], answer.kind)
            action = _explained(rest, mean, calm, _ASIDES)
        if action is None:
            action = _remarked(answer, mean, calm, remarks)
        if action is None:
            action = _decided(answer, mean, calm)
        said = plainly(answer.text)
        if action is None and said != answer.text:
            action = _decided(part_of(said, answer.kind), mean, calm)
        return _corrected(said, mean, calm) if action is None else action
    closed: IllegalAction | None = None
    for tier in answer.ways:
        found: list[Any] = []
        for words in tier:
            try:
                action = mean(part_of(words, JSON)) if words.strip(WRAPPING) else None
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


def _bare(answer: Answer, mean: Callable[[Answer], Any]) -> Any:
    """What all that is left means, where a clause of the answer is no open action: it may have been
    cut within a place, as in "go to (1.5, 0, 2.4) lol"."""
    said = plainly(answer.text)
    if not answer.text.startswith(said):  # "with the plate in hand, ..." may be what is not so
        said = without_margins(answer.text)
    if said == answer.text:
        return None
    with contextlib.suppress(IllegalAction):
        return mean(part_of(said, answer.kind))
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
        clause = part_of(main, answer.kind)
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
        if outcome and not _is_outcome(part_of(reason, answer.kind), meant, mean, named):
            continue
        if ruled_out and not _is_other(part_of(ruled_out, answer.kind), meant, mean):
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
            meant = _explained(part_of(main, answer.kind), mean, calm, 1, talk=False)
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
            return mean(part_of(words, REASON))
        except IllegalAction:
            return None

    text = plainly(answer.text.replace("\u2019", "'"))
    if text != answer.text:
        action = _explained(part_of(text, answer.kind), mean, calm, _ASIDES)
        if action is not None:
            return action
    reader = Reader(meant, lambda words: _names(words, mean), _equal)
    return at_end(text, reader, remarks)


_YES_OR_NO = frozenset(str.split("yes yeah yep sure okay ok no nope"))


def _decided(answer: Answer, mean: Callable[[Answer], Any], calm: Callable[[str], bool]) -> Any:
    """What the sentence means that decides, beside others that are weighed."""
    found: list[Any] = []
    for main, others, weighed, goals in itertools.chain(verdicts(answer.raw), closings(answer.raw)):
        clause = part_of(main, answer.kind)
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
        if any(_is_other_open(goal, action, mean) for goal in goals):
            continue
        if not any(_equal(action, other) for other in found):
            found.append(action)
    return found[0] if len(found) == 1 else None


def _corrected(text: str, mean: Callable[[Answer], Any], calm: Callable[[str], bool]) -> Any:
    """What an answer means that takes back the action which it names first."""

    def meant(words: str) -> Any:
        ways = dict.fromkeys((words, plainly(words)))
        found = (_explained(part_of(way, SENTENCE), mean, calm, 1) for way in ways)
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
        other = mean(part_of(words, SENTENCE))
    except IllegalAction:
        return False
    return other is not None and _equal(other, action)


def _is_other_open(words: str, action: Any, mean: Callable[[Answer], Any]) -> bool:
    """Whether words name another action that is open."""
    try:
        other = mean(part_of(words, SENTENCE))
    except IllegalAction:
        return False
    return other is not None and not _equal(other, action)


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
        return mean(part_of(words, REASON)) is not None
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
    return answer if said == answer.text else part_of(said, answer.kind)


def _equal(one: Any, other: Any) -> bool:
    return bool((one == other) if not hasattr(one, "shape") else (one == other).all())


def how_to_answer(example: str) -> str:
    """What rules say of the form of answers."""
    return (
        f'Answer in one plain sentence, such as "{example}". If you write more, mark the action: '
        'a last line "ACTION: ...", or [...], <answer>...</answer> or {"action": "..."}; the rest '
        "is not read. Questions, conditions, denials and two actions are refused."
    )


# ---- words ---------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?:(?:action|option|choice|number) )?#?\(?([0-9]{1,4})\)?")
_NUMBERED = re.compile(
    r"(?:(?:action|option|choice|number) )?#?\(?([0-9]{1,2}) ?(?:[:)-]|\.(?![0-9]))+ ?(.+)"
)


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
