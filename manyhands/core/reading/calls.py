"""Tool calls that are no JSON: in the tags, lines and code in which models write them.

Tags are parsed into a tree, in which an element is a call that

- is a tool with a name: `<invoke name="move"><parameter name="to">...`, `<function=move>{...}`,
  `<tool><name>move</name><arg>...`;
- is an action in parts: `<action><name>put</name><target>pot A</target></action>`;
- is all of the answer, and named like its action: `<go_to target="pot A"/>`, `<offer>18</offer>`.

Lines are a call as in ReAct (Yao et al. 2023), "Action: move" with "Action Input: ..." below it, or
a record, "move: offer" with "price: 26" below it. What a call orders is read like a tool call in
JSON (`objects.py`). Nothing is executed, and time is linear.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import re
from collections.abc import Iterator
from typing import Any

from manyhands.core.reading.objects import CALLS, KEYS, THOUGHTS, Wordings, objects_in, order_of

_LONGEST = 2_000  # characters of a text with a call
_DEEPEST = 8  # elements within one another
_MOST_LINES = 12

_list = str.split
Call = tuple[str, dict[str, Any] | None]  # the name, and what is given by key: None if unreadable

_WORD = r"[A-Za-z][\w.-]{0,40}"
_VALUE = rf"(?:\"[^\"<>]{{1,80}}\"|'[^'<>]{{1,80}}'|{_WORD})"
_TAG = re.compile(
    rf"<(?P<closing>/?)(?:\w{{1,20}}:)?(?P<name>{_WORD})"
    rf"(?P<given>={_VALUE}|(?:\s+[a-z][\w-]{{0,20}}\s*=\s*{_VALUE}){{0,6}})\s*(?P<empty>/?)>",
    re.I,
)
_ATTRIBUTE = re.compile(rf"(?P<key>[a-z][\w-]*)?\s*=\s*(?P<value>{_VALUE})", re.I)
_TOOLS = frozenset(_list("invoke function function_call tool tool_call call"))
_ACTIONS = frozenset(_list("action answer choice command decision move act"))
_REPLIES = frozenset(_list("response reply output result turn"))  # if they are all of an answer
_HOLDERS = _TOOLS | _ACTIONS | _REPLIES | frozenset(_list("final final_answer final_action"))
_STEPS = frozenset(_list("tool do step turn next"))  # words in them are all of an action
_THOUGHTS = THOUGHTS | {"scratchpad"}
_NAMING = (
    *("name", "action", "type", "command", "verb", "skill", "tool", "function", "move"),
    *("decision", "choice", "option", "kind"),
)
# With one of these a record of lines begins.
_FIRST = frozenset(_list("action move type name decision choice command option kind"))
_UNNAMED = frozenset(_list("arg argument param parameter input value"))  # what has no name
_PLAIN = re.compile(r"[^<>{}]{0,200}")
_LINES = re.compile(
    rf"^[ \t]*(?:tool|tool[ _]name|function|name|action)[ \t]*:[ \t]*[\"']?(?P<name>{_WORD}"
    rf"(?:[ ]{_WORD}){{0,2}})[\"']?[ \t]*\n+[ \t]*"
    r"(?:args|arguments|input|parameters|params|(?:action|tool)[ _]input)[ \t]*:"
    r"[ \t]*(?P<given>[^\n]{1,300})[ \t]*$",
    re.I | re.M,
)
_LINE = re.compile(
    rf"(?P<indent>[ \t]*(?:[-*][ \t]+)?)[\"'*]{{0,2}}(?P<key>{_WORD})[\"'*]{{0,2}}:[*]{{0,2}}"
    r"(?:[ \t]+(?:[\"']?(?P<value>[^\n:{}\[\]\"']{1,80}?)[\"']?"
    r"|(?P<held>\{[^\n{}]{1,80}\})))?[ \t]*"
)
_FENCE = re.compile(r"\A\s*```\w*[ \t]*\n(?P<inside>[^`]*)\n[ \t]*```\s*\Z")
_NOTHING = ("", "none", "null")
_PAIR = re.compile(
    rf"\s*[\"']?({_WORD})[\"']?\s*:\s*[\"']?([^\"'{{}}\[\],:]{{1,80}})[\"']?\s*(?:,|$)"
)


def calls_in(text: str) -> list[tuple[Wordings, str]]:
    """What the calls in a text order, each with its own text; empty if one cannot be read."""
    if len(text) > _LONGEST or not ("<" in text or ":" in text):
        return []
    found = [*_in_tags(text), *_in_lines(text)]
    record = None if found else _record(text)
    if record:
        found.append((record, text))
    orders = []
    for (name, given), own in found:
        order = None if given is None else order_of({"name": name, "arguments": given})
        if not order or not order[0]:
            return []
        orders.append((order[0], own))
    return orders


# ---- tags ----------------------------------------------------------------------------------------


@dataclasses.dataclass
class _Element:
    """An element of a text, `<name key="value">...</name>`.

    Attributes:
        name: in lower case.
        attributes: (key, value) of each; the key of `<name=value>` is "name".
        start, end: its place in the text; the end is 0 if it is not closed.
        words: what stands in it outside of its parts.
        parts: the elements in it.
    """

    name: str
    attributes: list[tuple[str, str]]
    start: int = 0
    end: int = 0
    words: str = ""
    parts: list[_Element] = dataclasses.field(default_factory=list)


def _parsed(text: str) -> list[_Element]:
    """The outermost elements of a text; none if elements are too deep in one another."""
    opened, read = [_Element("", [])], 0
    for tag in _TAG.finditer(text):
        opened[-1].words += text[read : tag.start()]
        read, name = tag.end(), tag["name"].lower()
        if not tag["closing"]:
            pairs = _ATTRIBUTE.findall(tag["given"])
            given = [((key or "name").lower(), value.strip("\"' \n")) for key, value in pairs]
            element = _Element(name, given, tag.start(), read if tag["empty"] else 0)
            opened[-1].parts.append(element)
            opened += [] if element.end else [element]
            if len(opened) > _DEEPEST:
                return []
            continue
        depth = next((k for k in range(len(opened) - 1, 0, -1) if opened[k].name == name), 0)
        if depth:
            opened[depth].end = read
            del opened[depth:]
        else:
            opened[-1].words += tag[0]
    opened[-1].words += text[read:]
    return opened[0].parts


def _in_tags(text: str) -> Iterator[tuple[Call, str]]:
    """The calls in a text that are elements, each with its own text."""
    todo = _parsed(text)[::-1] if "<" in text else []
    while todo:
        element = todo.pop()
        own = text[element.start : element.end or None]
        call = _call(element, alone=bool(element.end) and own.strip() == text.strip())
        if call:
            yield call, own
        elif element.name not in _THOUGHTS:
            todo += element.parts[::-1]


def _call(element: _Element, alone: bool) -> Call | None:
    """The call that an element is, which may be all of an answer; None if it is none."""
    own, given = element.name, _given(element)
    alone = alone and own not in _THOUGHTS
    if not element.attributes and not element.parts:
        if not alone or not given or (own in _HOLDERS and own not in _STEPS):
            return None
        if own in _STEPS:
            return (given, {}) if isinstance(given, str) else None
        return own, {"object": given} if isinstance(given, str) else given
    if not isinstance(given, dict):
        return ("", None) if own in _TOOLS and element.attributes else None
    holds = own in _TOOLS or own in _ACTIONS or (alone and own in _REPLIES)
    key = next((key for key in _NAMING if key in given), "") if holds else ""
    name = given.pop(key) if key else own
    if not (key or alone) or not isinstance(name, str):
        return None
    # <avoid action="north"/>
    return name, None if own not in _TOOLS and given.keys() & set(KEYS) else given


def _given(element: _Element) -> dict[str, Any] | str | None:
    """What an element is given: attributes, parts or the members of an object, by name, or words
    alone; None if it cannot be read."""
    given, words = dict(element.attributes), element.words.strip()
    held = None if element.parts else _object(words)
    if not (given or element.parts) and held is None:
        return words if _PLAIN.fullmatch(words) else None
    if len(given) < len(element.attributes) or (words and held is None):
        return None
    held = held or {}
    for part in element.parts:
        (called, key), *more = part.attributes or [("name", part.name)]
        key = "object" if key.lower() in _UNNAMED else key.lower()
        value = _given(dataclasses.replace(part, attributes=[]))
        inner_call = part.parts and part.name in _HOLDERS
        if called != "name" or more or key in held or not value or inner_call:
            return None
        held[key] = value
    return None if given.keys() & held.keys() else given | held


# ---- lines ---------------------------------------------------------------------------------------


def _in_lines(text: str) -> Iterator[tuple[Call, str]]:
    """The calls in a text that are lines, each with its own text."""
    for call in _LINES.finditer(text):
        yield (call["name"], _in_line(call["given"])), call[0]


def _record(text: str) -> Call | None:
    """The action of lines "key: value" that are all of an answer, and what stands beside it; those
    further in belong to the key above them. None if they are no record."""
    fenced = _FENCE.match(text)
    lines = [line for line in (fenced["inside"] if fenced else text).split("\n") if line.strip()]
    found = [_LINE.fullmatch(line) for line in lines]
    if not 2 <= len(lines) <= _MOST_LINES or not all(found):
        return None
    given: dict[str, Any] = {}
    held: dict[str, Any] | None = None
    first = len(found[0]["indent"]) if found[0] else 0
    for line in filter(None, found):
        key, value = line["key"].lower(), (line["value"] or "").strip()
        within = _in_line(line["held"]) if line["held"] else None
        inner = len(line["indent"]) > first
        into = held if inner else given
        if into is None or key in into or (inner and not value and within is None):
            return None
        if within is not None:
            into[key] = _counted(within)
        elif value:
            into[key] = _counted(value)
        elif not inner:
            given[key] = held = {}
    first_key = next(iter(given))
    if len(given) == 1 and isinstance(given[first_key], dict) and given[first_key]:
        return first_key, given[first_key]
    name = given.pop(first_key) if first_key in _FIRST else ""
    # What has nothing beside it but why is read as a sentence, and so are two actions.
    told = given.keys() <= THOUGHTS or not given.keys().isdisjoint(KEYS)
    return (name, given) if name and isinstance(name, str) and not told else None


def _counted(value: Any) -> Any:
    """A value with numbers in place of figures."""
    if isinstance(value, dict):
        return {key: _counted(item) for key, item in value.items()}
    figures = isinstance(value, str) and value.isascii() and value.isdigit()
    return int(value) if figures else value


def _in_line(line: str) -> dict[str, Any] | None:
    """What a call in lines is given, by name: an object, with quotation marks or without, or a
    single thing."""
    line = line.strip()
    whole = _object(line)
    if whole is not None or not (line.startswith("{") and line.endswith("}")):
        line = line.strip("\"'`")
        return whole if whole is not None else {} if line.lower() in _NOTHING else {"object": line}
    pairs = _PAIR.findall(line[1:-1])
    given = {key.lower(): value.strip() for key, value in pairs}
    strange = _PAIR.sub("", line[1:-1]).strip() or len(given) < len(pairs)
    return None if strange else given


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is."""
    found = objects_in(text) if text.startswith("{") else []
    whole = len(found) == 1 and found[0][1] == text and isinstance(found[0][0], dict)
    return found[0][0] if whole else None


# ---- code ----------------------------------------------------------------------------------------

_NAMED = re.compile(
    r"(?:(?:tool|function)(?:_call)?\s*:\s*|call:?\s+)?(?P<name>[a-z][a-z_]{0,40})"
    r"\((?P<rest>\s*[a-z_]{1,40}\s*=[^=].*)\)",
    re.I | re.S,
)
# `env.step("north")`: the tool takes the action in words.
_HOLDS = re.compile(
    r"(?:[a-z_]{1,20}\.)?(?P<name>[a-z]{1,12})\(\s*(?P<sign>[\"'])(?P<given>[^\"'()]{1,100})(?P=sign)\s*\)",
    re.I,
)
_MOST_CALLED = 400  # characters of a call


def order_in_code(text: str) -> Wordings | str | None:
    """What a call in code orders: `offer(give={"wood": 2})`, or the words that it takes. It is
    parsed, and only literals are taken from it: nothing is executed."""
    if len(text) > _MOST_CALLED or not text.endswith(")"):
        return None
    inner = _HOLDS.fullmatch(text)
    if inner and inner["name"].lower() in CALLS:
        return inner["given"]
    found = _NAMED.fullmatch(text)
    if found is None:
        return None
    try:
        call = ast.parse(text[found.start("name") :], mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        names = [word.arg for word in call.keywords]
        if None in names or len(set(names)) < len(names):
            return None
        given = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
        order = order_of(json.loads(json.dumps({"name": found["name"], "arguments": given})))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return order[0] if order and order[0] else None
