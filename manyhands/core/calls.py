"""Tool calls that are no JSON: in the tags and lines in which models write them.

A call names a tool and what it is given: `<invoke name="move"><parameter name="to">...`,
`<function=move>{...}</function>`, `<tool><name>move</name><arg>...`, or lines, "tool: move" with
"args: ..." below it, as "Action:" and "Action Input:" in ReAct (Yao et al. 2023). What it orders is
read like a tool call in JSON (`core/objects.py`). Nothing is executed, and time is linear.
"""

from __future__ import annotations

import re
from typing import Any

from manyhands.core.objects import KEYS, THOUGHTS, Wordings, objects_in, order_of

_LONGEST = 2_000  # characters of a text with a call
_WORD = r"[A-Za-z][\w.-]{0,40}"
_TOOLS = r"(?:\w{1,20}:)?(?:invoke|function|function_call|tool|tool_call|call)"
_OPENED = re.compile(
    rf"<(?P<tag>{_TOOLS})(?:\s+(?:name|tool|function)\s*=\s*[\"']?|=[\"']?)(?P<name>{_WORD})[\"']?\s*>"
    rf"|<(?P<bare>{_TOOLS})>\s*<name>\s*(?P<inner>{_WORD})\s*</name>",
    re.I,
)
_GIVEN = re.compile(
    rf"<(?P<tag>parameter|param|argument|arg|input|{_WORD})"
    rf"(?:\s+name\s*=\s*[\"']?|=[\"']?)?(?P<key>(?<=[=\"']){_WORD})?[\"']?\s*>"
    r"(?P<value>[^<>]{1,200})</(?P=tag)>",
    re.I,
)
_LINES = re.compile(
    rf"^[ \t]*(?:tool|tool[ _]name|function|name|action)[ \t]*:[ \t]*[\"']?(?P<name>{_WORD}"
    rf"(?:[ ]{_WORD}){{0,2}})[\"']?[ \t]*\n+[ \t]*"
    r"(?:args|arguments|input|parameters|params|(?:action|tool)[ _]input)[ \t]*:"
    r"[ \t]*(?P<given>[^\n]{1,300})[ \t]*$",
    re.I | re.M,
)
# An answer that is one element, <offer>18</offer>, but for those that hold an action or thoughts.
_ELEMENT = re.compile(
    r"\s*<(?P<name>(?!answer|action|move|final|choice|decision|think|thought|reason|analysis|plan"
    r"|say|message|response|output|result|explanation|scratchpad|note|command|act\b)[a-z]{2,20})>"
    r"(?P<given>[^<>{}]{1,100})</(?P=name)>\s*",
    re.I,
)
# Such a name says nothing but that an action follows: <tool>wait</tool>.
_HOLDERS = frozenset(("tool", "do", "step", "turn", "next"))
# An answer that is one tag with attributes: <move room="office 1"/>.
_QUOTED = r"\s*=\s*(?:\"[^\"<>]{1,80}\"|'[^'<>]{1,80}')"
_ATTRIBUTE = re.compile(rf"(?P<key>[a-z][\w-]{{0,20}})(?P<value>{_QUOTED})", re.I)
_SINGLE_TAG = re.compile(
    rf"\s*<(?P<name>{_WORD})(?P<given>(?:\s+[a-z][\w-]{{0,20}}{_QUOTED}){{1,6}})\s*"
    r"(?:/>|>\s*</(?P=name)>)\s*",
    re.I,
)
# An action in parts: <action><name>put</name><target>pot A</target></action>.
_IN_PARTS = re.compile(
    r"<(?P<tag>answer|action|move|command|decision|choice|act)>\s*"
    rf"(?P<given>(?:<(?P<key>{_WORD})>[^<>]{{1,200}}</(?P=key)>\s*){{1,8}})</(?P=tag)>",
    re.I,
)
# An answer that is one element with others in it: <go><to>pot A</to></go>.
_NESTED = re.compile(
    r"\s*<(?P<name>(?!answer|action|move|command|decision|choice|act\b|think|thought|reason|plan|say"
    r"|tool|call|function|invoke|analysis|response|output|result|scratchpad)[a-z_]{2,20})>\s*"
    rf"(?P<given>(?:<(?P<key>{_WORD})>[^<>]{{1,200}}</(?P=key)>\s*){{1,6}})</(?P=name)>\s*",
    re.I,
)
_LABELS = ("action", "act", "answer", "choice", "command")
_NAMING = ("name", "action", "type", "command", "verb", "skill", "tool", "move")
# An answer that is one record: <move><type>offer</type><price>26</price></move>, or lines,
# "move: offer" with "give:" and what is given, further in, below it.
_RECORD = re.compile(
    r"\s*<(?P<name>[a-z_]{2,20})>(?P<inside>\s*<.*>\s*)</(?P=name)>\s*", re.I | re.S
)
_RECORDS = frozenset(
    str.split("move action answer decision choice response reply output result command turn act")
)
_VERBS = ("action", "move", "type", "name", "decision", "choice", "command", "option", "kind")
_LINE = re.compile(
    rf"(?P<indent>[ \t]*(?:[-*][ \t]+)?)[\"'*]{{0,2}}(?P<key>{_WORD})[\"'*]{{0,2}}:[*]{{0,2}}"
    r"(?:[ \t]+(?:[\"']?(?P<value>[^\n:{}\[\]\"']{1,80}?)[\"']?"
    r"|(?P<held>\{[^\n{}]{1,80}\})))?[ \t]*"
)
_FENCE = re.compile(r"\A\s*```\w*[ \t]*\n(?P<inside>[^`]*)\n[ \t]*```\s*\Z")
_MOST_LINES = 12
_PAIR = re.compile(
    rf"\s*[\"']?({_WORD})[\"']?\s*:\s*[\"']?([^\"'{{}}\[\],:]{{1,80}})[\"']?\s*(?:,|$)"
)
_UNNAMED = {"arg", "argument", "param", "parameter", "input", "value"}  # what is given has no name


def calls_in(text: str) -> list[tuple[Wordings, str]]:
    """What the calls in a text order, each with its own text; empty if one cannot be read."""
    if len(text) > _LONGEST or not ("<" in text or ":" in text):
        return []
    found: list[tuple[str, dict[str, Any] | None, str]] = []
    opened = list(_OPENED.finditer(text))
    ends = [*(after.start() for after in opened[1:]), len(text)]
    for call, end in zip(opened, ends, strict=False):
        own = text[call.start() : end]
        closing = re.search(rf"</{re.escape(call['tag'] or call['bare'])}\s*>", own, re.I)
        own = own[: closing.end()] if closing else own
        inside = own[call.end() - call.start() : closing.start() if closing else len(own)]
        found.append((call["name"] or call["inner"], _in_tags(inside), own))
    element = _ELEMENT.fullmatch(text)
    if element and element["name"].lower() in _HOLDERS:
        found.append((element["given"].strip(), {}, text))
    elif element:
        found.append((element["name"], {"object": element["given"].strip()}, text))
    single = _SINGLE_TAG.fullmatch(text)
    if single and not (single["name"].lower() in _LABELS and single["given"].count("=") == 1):
        found.append((*_attributes(single), text))
    nested = _NESTED.fullmatch(text)
    if nested:
        found.append((nested["name"], _in_tags(nested["given"]), text))
    for parts in _IN_PARTS.finditer(text):
        given = _in_tags(parts["given"])
        key = next((key for key in _NAMING if given and key in given), "")
        found.append((given.pop(key), given, parts[0]) if given and key else ("", None, parts[0]))
    for call in _LINES.finditer(text):
        found.append((call["name"], _in_line(call["given"]), call[0]))
    record = None if found else _record(text)
    if record:
        found.append((*record, text))
    orders = []
    for name, given, own in found:
        if (single or nested) and given and not given.keys().isdisjoint(KEYS):
            return []  # <avoid action="north"/>
        order = None if given is None else order_of({"name": name, "arguments": given})
        if not order or not order[0]:
            return []
        orders.append((order[0], own))
    return orders


def _attributes(tag: re.Match[str]) -> tuple[str, dict[str, Any] | None]:
    """(the name of a call that is one tag, what it is given): a tag that only says that it is an
    action, <action name="put" target="pot A"/>, is named by an attribute."""
    pairs = [
        (part["key"].lower(), part["value"].strip(" =\n\t")[1:-1])
        for part in _ATTRIBUTE.finditer(tag["given"])
    ]
    given: dict[str, Any] = dict(pairs)
    if len(given) < len(pairs):
        return tag["name"], None
    key = next(
        (key for key in ("name", "action", "type") if key in given and given.keys() - {key}), ""
    )
    return (given.pop(key) if key else tag["name"]), given


def _record(text: str) -> tuple[str, dict[str, Any]] | None:
    """The action of an answer that is one record, and what stands beside it; None if it is none."""
    fenced = _FENCE.match(text)
    text = fenced["inside"] if fenced else text
    holder = _RECORD.fullmatch(text)
    given = _in_tags(holder["inside"]) if holder else _in_record(text)
    if not given:
        return None
    if holder and holder["name"].lower() not in _RECORDS:
        return holder["name"], given
    key = next((key for key in _VERBS if isinstance(given.get(key), str)), "")
    name = given.pop(key, "")
    # What has nothing beside it but why is read as a sentence.
    return (name, given) if name and (holder or not given.keys() <= THOUGHTS) else None


def _in_record(text: str) -> dict[str, Any] | None:
    """What the lines of a record hold, "key: value", by key; those further in belong to the key
    above them."""
    lines = [line for line in text.split("\n") if line.strip()]
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
        return {"action": first_key, **given[first_key]}
    return given if first_key in _VERBS else None


def _counted(value: Any) -> Any:
    """A value with numbers in place of figures."""
    if isinstance(value, dict):
        return {key: _counted(item) for key, item in value.items()}
    figures = isinstance(value, str) and value.isascii() and value.isdigit()
    return int(value) if figures else value


def _in_tags(inside: str) -> dict[str, Any] | None:
    """What a call in tags is given, by name; None if it is something else."""
    objects = objects_in(inside)
    if len(objects) == 1 and inside.strip() == objects[0][1] and isinstance(objects[0][0], dict):
        return objects[0][0]
    given: dict[str, Any] = {}
    for part in _GIVEN.finditer(inside):
        key = (part["key"] or part["tag"]).lower()
        key = "object" if key in _UNNAMED else key
        if key in given:
            return None
        given[key] = part["value"].strip()
    return None if _GIVEN.sub("", inside).strip() else given


def _in_line(line: str) -> dict[str, Any] | None:
    """What a call in lines is given, by name: an object, with quotation marks or without, or a
    single thing."""
    line = line.strip()
    objects = objects_in(line)
    if len(objects) == 1 and line == objects[0][1] and isinstance(objects[0][0], dict):
        return objects[0][0]
    if line.startswith("{") and line.endswith("}"):
        pairs = [found.groups() for found in _PAIR.finditer(line[1:-1])]
        whole = _PAIR.sub("", line[1:-1]).strip()
        keys = [key.lower() for key, _ in pairs]
        if whole or len(set(keys)) < len(keys):
            return None
        return {key: value.strip() for key, (_, value) in zip(keys, pairs, strict=True)}
    line = line.strip("\"'`")
    return {} if line.lower() in ("", "none", "null") else {"object": line}
