"""What JSON objects and tool calls in an answer order, in words.

An object gives an action by a key such as "action", or is a tool call that is named like one; what
stands beside it ("direction", "amount") belongs to it. As the same order can be said in several
ways, an object has several `Wordings`, of which a game understands one (`answers.py`). Time is
linear in the length of the text.
"""

from __future__ import annotations

import json
import re
from typing import Any

from manyhands.core.reading.signs import NAME
from manyhands.core.reading.words import tokens

Wordings = tuple[tuple[str, ...], ...]  # ways to say an order; later ones count if no earlier does

KEYS = (
    *("action", "move", "answer", "action_name", "selected_action", "chosen_action", "next_action"),
    *("final_action", "final_answer", "best_action", "my_action", "chosen_move", "next_move"),
    *("decision", "final_decision", "my_move", "final_move", "best_move"),
    *("skill", "next_skill", "chosen_skill", "selected_skill"),
)
_ARGUMENTS = (
    *("arguments", "parameters", "input", "args", "params", "tool_input"),
    *("action_args", "action_arguments", "action_input", "action_params", "action_parameters"),
)
_NESTED = (*_ARGUMENTS, "function", "tool_calls", "tool_call", "response", "output", "result")
_TOOLS = ("name", "tool", "tool_name", "function")
_TRIES = 32  # objects that are looked for
_DEEPEST = 6  # how deep objects and lists that name an action are nested

_list = str.split
_MESSAGE = frozenset(_list("role type content"))
_TOLD = frozenset(_list("action answer move decision final text output_text"))  # types of messages
# What is named by these keys is said without them: {"action": "move", "direction": "north"} is
# "move north". Any other key may turn what it names round ("avoid"), so that it stays.
_VERBS = frozenset(
    _list(
        "action move type name skill verb kind command cmd option choice answer response reply "
        "output actions moves"
    )
)
_PLAIN = frozenset(
    _list(
        "direction dir heading way side corner depth target destination place location spot point "
        "receptacle furniture room source origin container dest loc obj "
        "where square cell field coordinates coordinate item object thing what resource "
        "material ingredient goods good tool pot recipient whom amount count quantity price size "
        "colour color"
    )
)
_ONLY_INSIDE = frozenset(_list("position player who number n value index id row column col x y z"))
_PREPOSITIONS = frozenset(_list("to from into onto on at with by for in over"))
_DOUBLINGS = frozenset(
    _list(
        "or and not if unless until when then but except without avoid instead alternative "
        "condition conditions"
    )
)
_OTHERS = frozenset(_list("partner friend everyone team"))
# Things are put into them, or taken from them.
_SOURCES = frozenset(_list("receptacle furniture source origin container"))
_GOALS = frozenset(
    _list(
        "target destination place location spot point where recipient whom receptacle furniture "
        "room"
    )
)
_UNITS = frozenset(_list("steps turns ticks seconds"))
_AXES = frozenset(
    _list(
        "x y z vx vy vz roll pitch yaw roll_rate pitch_rate yaw_rate thrust heading angle degrees"
    )
)
_SUMS = frozenset(_list("amount count quantity price size"))  # of which 0 says nothing
CALLS = frozenset(  # names of tools that take an action
    _list("choose select play act action submit make take do step answer perform option skill")
)
_GAMES = frozenset(  # may stand in the name of such a tool: "poker_action", "execute_move"
    _list("game env environment world poker kitchen board my final chosen selected execute send")
)
THOUGHTS = frozenset(
    _list(
        "thought thoughts think thinking reason reasoning rationale explanation explain why "
        "comment comments note notes analysis plan strategy confidence say message speech "
        "observation chat utterance"
    )
)
_SHORTENED = frozenset(
    _list("act cmd verb action_type")
)  # of a key that holds an action, beside others
_STEPS = frozenset(_list("next_step first_step current_step this_step this_turn now"))
_WORDED = frozenset(_list("text value label description"))  # of an action that is an object
_SAID = ("say", "message", "chat", "utterance")
# Such a key beside an action says that it is not done: {"action": "north", "valid": false}.
_SO_FAR = frozenset(
    _list(
        "valid legal allowed possible feasible confirmed approved execute do enabled apply commit"
    )
)
_TAKEN_BACK = frozenset(
    _list(
        "not negate negated cancel cancelled canceled rejected avoid forbidden illegal invalid "
        "skip undo abort discarded hypothetical conditional draft ignore ignored"
    )
)
_STATES = ("status", "verdict", "validity", "timing", "turn")
_NOT_DONE = re.compile(
    r"(?:not|reject|cancel|invalid|illegal|forbid|discard|fail|avoid|undone|dropped|abort|draft"
    r"|hypothe|denied|exclude|ruled|later|next|last|previous)",
    re.I,
)
# Who acts, if not the one who answers: {"agent": "chef_1", "action": ...}.
_ACTORS = ("agent", "agent_id", "actor", "player_id", "assigned_to", "chef", "seat")
# A tool with such a word in its name does not take the action that it is given.
_NO_CALLS = frozenset(
    _list(
        "avoid reject consider simulate rule ask undo cancel evaluate preview predict query forbid "
        "refuse remove exclude suggest recommend imagine dismiss skip never not dont discard veto "
        "think explain tell warn report compare rank score weigh rate assess"
    )
)
_ADDRESSES = frozenset(_list("to recipient receiver channel audience role type content"))


def orders_in(text: str, me: str = "") -> list[tuple[Wordings, str]]:
    """What the JSON objects in a text order, and their own text; `me` is who answers."""
    found = [(order_of(value), _actor(value, me), own) for value, own in objects_in(text)]
    return [
        ((tuple(f"{actor}: {words}" for words in order[0][0]), *order[0][1:]), own)
        if actor
        else (order[0], own)
        for order, actor, own in found
        if order and order[0]
    ]


def rivals_in(text: str) -> list[str]:
    """What the objects in a text hold under further keys for actions, beside the one that counts:
    {"action": "north", "decision": "east"}."""
    found: list[str] = []
    for value, _ in objects_in(text):
        given = {str(key).lower(): item for key, item in value.items()}
        named = [given[key] for key in KEYS if key in given and not _says_nothing(key, given[key])]
        found += [_in_words(item) for item in named[1:] if isinstance(item, str | int)]
    return [words for words in found if words]


def whole_ways(value: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ways to say an object without an "action" that is all of an answer, and what it denies
    beside that: {"accept": false} is "not accept", {"price": 30, "accept": false} is "price 30"."""
    denied = [key for key, item in value.items() if item is False]
    denied = [key for key in denied if key.lower() not in _TAKEN_BACK | THOUGHTS]
    ways = tuple(dict.fromkeys(words for words in ways_of(value) if words))
    if ways or not denied:
        return ways, tuple(denied)
    return tuple(ways_of({f"not {key}": "" for key in denied})[:1]), ()


def no_order(value: dict[str, Any]) -> str:
    """Why an object without an "action" orders nothing; empty if nothing in it says so."""
    given = {str(key).lower(): item for key, item in value.items()}
    turned = _turned(given) if len(given) > 1 else ""
    if turned:
        return f"{turned}: nothing is ordered so"
    report = next((key for key in given if _REPORT.match(key)), "")
    if report:
        return f"{json.dumps(report)} tells of what is, and is no action"
    if given and all(item is None for key, item in given.items() if key not in THOUGHTS):
        empty = next((key for key, item in given.items() if item is None), "")
        return f"{json.dumps(empty)} is null, which says nothing: give it a value" if empty else ""
    return ""


_REPORT = re.compile(
    r"(?:last|previous|prev|prior|past|earlier|former|current|standing|expected|predicted"
    r"|opponents?|partners?|others?|their|his|her|your)_[a-z]"
)


def sole(value: dict[str, Any], me: str) -> dict[str, Any]:
    """An object that gives nothing but a step, or what player `me` does, as one with an action;
    with a condition, if it says that it is not done."""
    turned = _turned({key.lower(): item for key, item in value.items()})
    if turned:
        return {**value, "if": f"{turned}?"}
    if me and list(value) == [me]:
        return {"action": value[me]}
    own = [key for key in value if key.lower() not in THOUGHTS]
    if len(own) == 1 and own[0].lower() in _STEPS and isinstance(value[own[0]], str):
        return {"action": value[own[0]]}
    return value


def _actor(value: Any, me: str) -> str:
    """Who acts in an object, if it is not the one who answers."""
    given = {str(key).lower(): item for key, item in value.items()}
    said = (given[key].strip() for key in _ACTORS if isinstance(given.get(key), str))
    own = me.lower().replace("_", " ")
    others = (
        name
        for name in said
        if name.lower() in _OTHERS or (me and _PLAYER.fullmatch(name))
        if name.lower().replace("_", " ") != own
    )
    return next(others, "")


_PLAYER = re.compile(NAME, re.I)


def _turned(keys: dict[str, Any]) -> str:
    """What in an object says that its action is not done; empty if nothing does."""
    for key, item in keys.items():
        if (item is False and key in _SO_FAR) or (item is True and key in _TAKEN_BACK):
            return f"{key} is {json.dumps(item)}"
        if key in _STATES and isinstance(item, str) and _NOT_DONE.match(item.strip()):
            return f"{key} is {item}"
    return ""


def _undone(ways: Wordings, why: str) -> Wordings:
    """An order that no game may take, in words: as a question, with what turns it round."""
    return ((f"{ways[0][0]}, if {why}?",),)


def objects_in(text: str) -> list[tuple[Any, str]]:
    """The JSON objects in a text with their own text; none of it is parsed twice."""
    found, start = [], text.find("{")
    for _ in range(_TRIES):
        if start < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, start)
            found.append((value, text[start:end]))
        except (ValueError, RecursionError):
            end = start + 1
            loose = _LOOSE.match(text, start)
            value = _mended(loose[0]) if loose else None
            if loose and value is not None:
                found.append((value, loose[0]))
                end = loose.end()
        start = text.find("{", end)
    return found


# A small object of plain pairs that is no JSON: with comments, a last comma, or Python's quotes.
_LOOSE = re.compile(r"\{[^{}\[\]]{1,600}\}")
_NO_JSON = re.compile(r"(?m)(?<=[\"'\w,])[ \t]*(?://|#)[^\n\"']*$|,(?=\s*\}$)")
_SINGLE = re.compile(r"'([^'\"\\\n]*)'(?=\s*[:,}])")


def _mended(text: str) -> Any:
    """The object that such a text is meant to be; None if it is something else."""
    try:
        return _DECODER.decode(_SINGLE.sub(r'"\1"', _NO_JSON.sub("", text)))
    except (ValueError, RecursionError):
        return None


_DIGITS = re.compile(r"-?(?:0|[1-9][0-9]{0,5})")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key is given twice")
    return {key: _unquoted(item) for key, item in pairs}


def _unquoted(item: Any) -> Any:
    """A number that is written as a string, "3", is that number, and 3.0 is 3."""
    if isinstance(item, float) and item.is_integer() and abs(item) < 1e6:
        return int(item)
    return int(item) if isinstance(item, str) and _DIGITS.fullmatch(item.strip()) else item


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def order_of(value: Any, depth: int = 4) -> tuple[Wordings, str | None] | None:
    """(the action in words, words to say) of a JSON object or a tool call; None if it has none."""
    value = _decoded(value, depth)
    if not isinstance(value, dict) or not depth:
        return None
    keys = {str(key).lower(): item for key, item in value.items()}
    if len(keys) > 1 and keys.keys().isdisjoint(KEYS):  # {"act": "open", "obj": "drawer 5"}
        keys = {"action" if key in _SHORTENED else key: item for key, item in keys.items()}
    say = next((keys[key] for key in _SAID if key in keys), None)
    say = say if isinstance(say, str) and say.strip() else None
    for key in KEYS:
        if key in keys:
            held = keys[key] if isinstance(keys[key], dict) else {}
            turned = _turned(keys) or _turned(held)
            if len(held) == 1 and not _WORDED.isdisjoint(held):  # {"move": {"text": "south"}}
                held = {"action": next(iter(held.values()))}
            inner = order_of(held, depth - 1) if held else None
            if inner and inner[0]:
                return (_undone(inner[0], turned) if turned else inner[0]), inner[1] or say
            rest = {name: item for name, item in keys.items() if name != key}
            # {"skill": "put_in", "args": {"pot": "A"}} is a call by another name.
            named = next((name for name in _ARGUMENTS if isinstance(rest.get(name), dict)), None)
            if named and isinstance(keys[key], str):
                rest = {str(name).lower(): item for name, item in rest.pop(named).items()} | rest
            # {"action": "explore", "args": ["east"]}: they have no names.
            listed = next((name for name in _ARGUMENTS if _is_listed(rest.get(name))), None)
            if listed and isinstance(keys[key], str):
                rest = {"object": rest.pop(listed)} | rest
            ways = _wordings(keys[key], rest, called=named is not None)
            return (_undone(ways, turned) if ways and turned else ways), say
    for key in _NESTED:
        found = order_of(keys[key], depth - 1) if key in keys else None
        if found and found[0]:
            tool = next((keys[name] for name in _TOOLS if isinstance(keys.get(name), str)), "")
            shut = key in _ARGUMENTS and not _NO_CALLS.isdisjoint(tokens(tool))
            return (_undone(found[0], tool), found[1]) if shut else found
        say = found[1] if found else say
    # A message with its role or type.
    own = keys.get("role", "assistant") == "assistant" and str(keys.get("type", "text")) in _TOLD
    if own and set(keys) <= _MESSAGE and isinstance(keys.get("content"), str):
        return _wordings(keys["content"], {}, called=False), say
    # A tool call that is named like the action.
    name = next((keys[key] for key in _TOOLS if isinstance(keys.get(key), str)), None)
    given = next((_decoded(keys[key], depth - 1) for key in _ARGUMENTS if key in keys), None)
    unnamed = next((keys[key] for key in _ARGUMENTS if _is_listed(keys.get(key))), None)
    if unnamed and not isinstance(given, dict):
        given = {"object": unnamed}
    said = next((keys[key] for key in _ARGUMENTS if isinstance(keys.get(key), str)), "").strip()
    if name and said and given is None:  # {"tool": "act", "input": "south"}
        if name.lower() in CALLS:
            return _wordings(said, {}, called=False), say
        given = {"object": said}
    if name and (isinstance(given, dict) or (given in (None, "") and set(keys) & {*_ARGUMENTS})):
        rest = {str(key).lower(): item for key, item in (given or {}).items()}
        return _wordings(name, rest, called=True), say
    return ((), say) if say else None


def tells_more(value: Any) -> bool:
    """Whether an object without an "action" holds more than what is said, and to whom."""
    if not isinstance(value, dict) or not {str(key).lower() for key in value}.isdisjoint(KEYS):
        return False
    return any(
        str(key).lower() not in THOUGHTS | _ADDRESSES and not _says_nothing(str(key), item)
        for key, item in value.items()
    )


def _decoded(value: Any, depth: int) -> Any:
    """A JSON value; text that holds one, as tool calls give their arguments, is decoded."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str) and depth < 4:
        try:
            return _DECODER.decode(value)
        except (ValueError, RecursionError):
            return None
    return value


def _wordings(action: Any, rest: dict[str, Any], called: bool) -> Wordings:
    """An action with what stands beside it, in words.

    Args:
        rest: by key. Those of `_PLAIN` and the like belong to the action; others do in a tool call,
            or if the action alone means nothing.
        called: whether it is a tool call.
    """
    alone = tuple(dict.fromkeys(ways_of(action)))
    if not any(alone):
        return ()
    rest = {
        key: item
        for key, item in rest.items()
        if key not in THOUGHTS and not _says_nothing(key, item) and _in_words(item) not in alone
    }
    known = _PLAIN | _PREPOSITIONS | _UNITS | _DOUBLINGS
    own = {key: item for key, item in rest.items() if key in known}
    axes = {key: item for key, item in rest.items() if key in _AXES}
    if len(axes) > 1:
        own = {key: item for key, item in rest.items() if key in own or key in axes}
    if called:
        own = rest
    tiers = [_joined(alone[0], own)] if own else [alone]
    if rest and not own:
        tiers.append(_joined(alone[0], rest))
    tool = set(tokens(alone[0]))
    if called and own and tool <= CALLS | _GAMES and tool & CALLS:
        tiers.append(tuple(words.strip() for words in _joined("", own)))
    return tuple(tiers)


def _joined(words: str, parts: dict[str, Any]) -> tuple[str, ...]:
    """Words with the parts that belong to them, in each way that they may be said."""
    numbers = [item for item in parts.values() if _is_number(item)]
    said: list[list[str]] = [[], [], [], [], [], []]
    for key, item in parts.items():
        value = _in_words(item)
        named = _named(key, value) if value else key
        bare = key in _PLAIN or key in _ONLY_INSIDE or key in _VERBS
        bare = bare or words.split()[-1:] == [key]  # an argument that is called like its tool
        plain = named if not bare or (len(numbers) > 1 and _is_number(item)) else value
        if key in _UNITS:
            plain = f"{value} {key}"
        goal = key in _GOALS
        for ways, way in zip(
            said,
            (
                plain,
                named,
                f"to {value}" if goal else plain,
                f"with {value}" if goal else plain,
                f"from {value}" if key in _SOURCES else plain,
                _counted(key, item),
            ),
            strict=True,
        ):
            if way:
                ways.append(way)
    return tuple(dict.fromkeys(f"{words} {', '.join(ways)}" for ways in said))


def ways_of(value: Any, depth: int = _DEEPEST) -> list[str]:
    """The ways to say a JSON value, the plainest first."""
    if not isinstance(value, dict):
        return [_in_words(value, depth)]
    items = {str(key).lower(): item for key, item in value.items() if item is not False}
    items = {key: item for key, item in items.items() if key not in THOUGHTS}
    if len(items) > 1:
        items = {key: item for key, item in items.items() if item is not None}
    said = {key: _in_words(item, depth - 1) for key, item in items.items()}
    full = {
        key: _named(key, words) if words and key not in _VERBS else words or key
        for key, words in said.items()
    }
    named = ", ".join(full.values())
    if len(items) > 1 and all(map(_is_number, items.values())):  # their order may be any
        return [named]
    counted = ", ".join(
        filter(None, (_counted(key, item, depth - 1) for key, item in items.items()))
    )
    bare = _VERBS | _PLAIN | _ONLY_INSIDE
    plain = ", ".join(words if words and key in bare else full[key] for key, words in said.items())
    return [plain, named, counted]


def _counted(key: str, item: Any, depth: int = _DEEPEST) -> str:
    """A key and what it holds, where numbers count what they stand beside: {"give": {"wood": 3}} is
    "give 3 wood"; empty if it is none of it."""
    if depth < 0:
        return "?"
    if isinstance(item, dict) and item:
        held = [_counted(str(part).lower(), inner, depth - 1) for part, inner in item.items()]
        join = " and " if all(map(_is_number, item.values())) else ", "
        return f"{key} {join.join(filter(None, held)) or 'nothing'}"
    if _is_number(item) and key not in _PLAIN | _ONLY_INSIDE | _VERBS | _AXES:
        return f"{json.dumps(item)} {key}" if item else ""
    words = _in_words(item, depth)
    return words if key in _VERBS else _named(key, words)


def _named(key: str, words: str) -> str:
    """A key and what it holds: what others do is theirs, and no way to speak to them."""
    return f"{key}'s {words}" if key in _OTHERS else f"{key} {words}"


def _is_number(item: Any) -> bool:
    return isinstance(item, int | float) and not isinstance(item, bool)


def _is_listed(item: Any) -> bool:
    """Whether what a call is given is a list of plain values."""
    return isinstance(item, list) and all(isinstance(part, str | int | float) for part in item)


def _says_nothing(key: str, item: Any) -> bool:
    if _is_number(item):
        return key in _SUMS and item == 0
    return item is None or item is False or item in ("", "none", "None", [], {})


def _in_words(value: Any, depth: int = _DEEPEST) -> str:
    """A JSON value as words: the parts of a list or an object one after the other. What is nested
    deeper than any action is no words."""
    if depth < 0:
        return "?"
    if isinstance(value, dict):
        return ways_of(value, depth)[0]
    if isinstance(value, list):
        return ", ".join([_in_words(item, depth - 1) for item in value])
    if value is None or isinstance(value, bool):
        return ""
    return value if isinstance(value, str) else json.dumps(value)
