"""What follows a move in an answer and names none: where it leads ("which puts me beside it"), what
it is for ("to line up with the food"), through what it goes ("along this row"). A reader may leave
it out, as long as no word of it is left unread."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from manyhands.core.reading.grammar import Grammar

_THING = (
    "(food|fruit|apple|berry|meal|box|crate|plate|pressure plate|door|doorway|key|goal|x|wall"
    "|corner|it|target|button|machine|generator|coin|flag|river|partner|teammate|mate|crossing|exit"
    "|obstacle|opening|ore|gold|iron|tree|shelf|edge|{who})"
)
_GOAL = (
    "([(that|this|my|its|our|another)] [very] [(last|next|other|remaining|only|nearest|closest"
    "|frozen"
    "|big|bigger|small|smaller"
    "|first|second|level {n}|left|right|open|closed|locked|left hand|right hand|lower|upper)] "
    f"{_THING} [{{n}}] [(of|for) door {{n}}] [(at|in|on) row {{n}} [[.] column {{n}}]] "
    "[level {n}] [s [(left|right|top|bottom|upper|lower)] (row|column|side)] "
    "[(at|on|in) [(left|right|top|bottom)] (edge|wall|corner|side)] [(then|now|next|again)]"
    "|(the|that) {n})"
)
_NEAR = (
    "[(right|just|directly|finally|again|close|closer|nearer|even closer|straight|one step|1 step"
    "|back)] (beside|next to|in front of|face to face with|adjacent to|level with|in line with"
    "|lined up with|near|nearer [to]|closer to|close to|onto|on|within reach of|up to|below|above"
    "|against|behind|to|across from)"
)
_WHO = "({who}|them|him|her|it|my (partner|teammate|mate)|others|everybody|us all|us)"
_ALONE = (
    "(alone|by myself|on my own|single handed|without help|by my own strength|without anybody's"
    " help|in one go|at once|as my next move|as my move)"
)
_PASS = (
    "(come|follow|pass|cross|go|walk|get|move|step|enter|slip|run|catch up|join me|get past) "
    "[(on|over|across|by|past|up|in|inside)] [me] [(through|to|into|behind|past) "
    f"[(me|{_GOAL}|[that] (next|other|middle) room)]] [behind me] [safely]"
)
# "Puts me beside it", "brings me closer".
_BRINGS = (
    f"(put|bring|get|take|move|place|set|leave|carry|lead|line|draw) me [up] (({_NEAR}|with|into"
    f"|in line with) {_GOAL}|[(one|1|a|another)] [(step|cell|row|column)] (closer|nearer) "
    f"[(to|towards) {_GOAL}]|into position|(into|to) its [old] (place|cell|spot|square)"
    "|where i (want|need) to be|in reach)",
    f"(put|bring|get|place|leave) {_GOAL} ([right] (on|to|at) my (left|right|side)|beside me"
    "|within [my] reach|next to me|in front of me|ahead of me|above me|below me)",
    f"(close|shorten|narrow) (gap|distance) [(to|with) {_GOAL}]",
)
# What a move results in.
_BECOMES = (
    f"(close|shorten|narrow) (gap|distance) [(to|with) {_GOAL}]",
    f"(be|end up|get|stand|come|stop|find myself|wind up|arrive|sit) {_NEAR} {_GOAL}",
    "(be|get|stay|end up) (hidden|hide|out of (sight|view)|in cover|safe|in position|ready) "
    f"[(by|behind|from) {_GOAL}]",
    f"(line up with|reach|face|approach|close in on|get closer to|get nearer to) {_GOAL}",
    "(follow|take) it [into its [old] (place|cell|spot|square)]",
    f"(let|allow|help) {_WHO} [to] {_PASS}",
    f"(make|leave) [(some|more)] (room|way|space) [for {_WHO}]",
    "(end|finish|win|complete) (game|episode|job|it|this|round)",
)
# What it is for, in the words of an action that may be another.
_SERVES = (
    f"(open|unlock) {_GOAL} [for {_WHO}]",
    f"(keep|hold) {_GOAL} (open|down|in place) [for {_WHO}]",
    f"(draw|lure|lead) {_WHO} away [from {_GOAL}]",
    f"(get|keep) [further] away from {_GOAL}",
)
AREA = (
    "[(this|that|my)] [(middle|next|first|last|left|right|left hand|right hand|top|bottom|upper"
    "|lower|northern|southern|eastern|western|far|other|same|narrow|dead|empty|free|open)] "
    "(room|area|corner|corridor|passage|nook|niche|pocket|gap|opening|doorway|alcove|dead end"
    "|hallway|chamber|wall|edge|row|column|hideout|lane|aisle|border)"
)
_THROUGH = (
    "[(deeper|further|back|straight|again|once more|safely|well|hidden)] (into|in|through|along"
    "|across|behind|past"
    f"|towards|toward|beside|around) {AREA} [(behind|by|at|along|near|next to) {_GOAL}]",
    f"[(back|safely|hidden|well|right)] (beside|next to|behind|past|around|away from|closer to"
    f"|nearer to|in front of|up to) "
    f"{_GOAL}",
    f"(to|into) {_GOAL} s (row|column)",
    "(towards|toward|after|into|onto) (it|them|him|her)",
    f"(out of|from|leaving) {AREA}",
    f"on (my|the) way (to|into|towards) ({_GOAL}|{AREA})",
)
_WHILE = f"while {_WHO} ({_PASS}|(be|is) {{there}}|wake up|hold {_GOAL} [down]|wait|take {_GOAL})"
_OPEN = f"so [that] ({_GOAL} (stay|remain|be|keep) open [for {_WHO}]|{_WHO} [(can|may)] {_PASS})"
# What one sees there, and what one hopes that others do.
_LOOKS = (
    f"(to|and|and i|so i can) (look around|(have|take|get) [(a|another|one)] [(good|better|quick)] "
    f"(look|peek) [(around|there|(at|of|around|behind|into) ({_GOAL}|{AREA}))]"
    f"|(look|peek|check) (around|behind|into|beyond) ({_GOAL}|{AREA})"
    "|(see|check|find out|look) (what|who|if anything|if anybody|whether anybody|whether anything)"
    f" (is|lie|hide|wait|stand) [(there|here|(around|behind|beyond|in|past|on) ({_GOAL}|{AREA})"
    "[(at|in|on) (row|column) {n}])])",
    f"[to] [get] [for] [a] better (view|look) (of|at) ({_GOAL}|{AREA}|middle|rest|map|field)",
    "(and|to) hide [(there|in there|in it)]",
)
_HOPES = (
    f"and hope [that] {_WHO} (come|come back|return|join in|join me|help|do same|load too|load as"
    " well|turn back|follow|do so [too]|(do|will) [too])",
)
_TAIL = Grammar(
    {
        "aim": [
            f"(to|and|and i|which [will]|that [will]|and i'll|so that i|so i) ({way})"
            for way in _BECOMES
        ]
        + [f"(to|which [will]|that [will]|so that i) ({way})" for way in _SERVES]
        + [
            f"(which [will]|that [will]|and that [will]|and it [will]|and) ({way})"
            for way in _BRINGS
        ]
        + [
            _WHILE,
            _OPEN,
            *_LOOKS,
            *_HOPES,
            f"and (keep|hold) {_GOAL} (open|down) [for {_WHO}]",
            _ALONE,
        ],
        "result": list(_BRINGS),
        "through": list(_THROUGH),
    },
    {"who": {}, "there": {"gone": 1, "across": 1, "through": 1, "there": 1, "near": 1, "here": 1}},
    courtesy=False,
)
# What leads to a move: "close the gap to the runner by", "into the room:".
_LEAD = Grammar(
    {
        "by": [
            f"[(i|i'll|i will|let me|let us|let's)] ({way}) by"
            for way in (*_BECOMES, *_SERVES, f"(guard|watch|block|shield|protect) {_GOAL}",
                        "(guard|watch|block|corner) {who}")
        ],
        "to": [f"[(now|next|so)] ({way})" for way in (*_THROUGH, f"(towards|toward) {_GOAL}")],
        "and": [
            f"[(i|i'll|i will|let me|let's)] (leave|keep) {_GOAL} (locked|lock|closed|shut|alone"
            "|behind|as it is|where it is|in place) and",
            f"[(i|i'll|i will|let me|let's)] (leave|exit) {AREA} and",
        ],
    },
    {"who": {}},
    courtesy=False,
)  # fmt: skip
_LED = re.compile(r"(?<= by) (?=\w+ing\b)|(?<= and) |[:,] ")
_CUT = re.compile(
    r",? (?=(?:to|and|so|out|from|leaving|safely|hidden|well|right|after|onto|for|which|that"
    r"|while|into|in|through|along|across|behind|past|towards?|beside"
    r"|around|back|deeper|further|next|away|closer|nearer|up|alone|by|on|single|without|at|once"
    r"|straight|as|puts?|brings?|gets?|takes?|moves?|places?|sets?|leaves?|carries|leads?|lines?"
    r"|draws?|closes?|shortens?|narrows?)\b)"
)
_ARTICLES = re.compile(r"\b(?:the|a|an|please|now|just) ")
_MOST = 12  # places where a tail may begin
# A bare direction that "puts me beside it" is only thought of.
_THOUGHT = re.compile(r"(?:going |to )?\w+")
# "Push the box into the corner" does not say which way.
_WAY = re.compile(
    r"\brow \d+,? (?:and )?column \d+|\b(?:north|south|east|west|up|down|left|right)(?:wards?"
    r"|ern)?\b"
    r"|\b(?:stay|wait|remain|hold|stand|keep|still|hide|freeze)(?:ing)?\b"
)
_FITS = {
    "aim": lambda head: True,
    "result": lambda head: not _THOUGHT.fullmatch(head),
    "through": lambda head: _WAY.search(head) is not None,
    "": lambda head: False,
}


def without_aim(plain: str, who: Mapping[str, Any]) -> Iterator[str]:
    """A sentence without what may follow a move in it, or lead to it, the longest first."""
    yield from _headed(plain, who)
    for k, led in enumerate(_LED.finditer(plain)):
        if k >= _MOST:
            return
        rest, lead = plain[led.end() :], _ARTICLES.sub("", plain[: led.start()])
        said = {reading.meaning for reading in _LEAD.read(lead, {"who": who})}
        if rest and (said & {"by", "and"} if led[0] == " " else "to" in said):
            yield rest
            yield from _headed(rest, who)


def _headed(plain: str, who: Mapping[str, Any]) -> Iterator[str]:
    """A sentence without what may follow a move in it."""
    for k, cut in enumerate(_CUT.finditer(plain)):
        head, tail = plain[: cut.start()], plain[cut.end() :]
        if k >= _MOST or not head:
            return
        meant = _meaning(tail, who)
        if _FITS[meant](head):
            yield head


_SIDE = (
    r"\b(?:(?:on|to|in|at|toward|towards) (?:the |my )?(?P<side>left|right|top|bottom|north|south"
    r"|east|west)|(?P<way>north|south|east|west)(?:ern|wards?)?)\b"
)
_THAT_WAY = re.compile(
    r"(?<=\bi )(?P<go>(?:go|walk|head|move|step|run|continue|proceed)(?: over| back| on)?)"
    r" (?:that|this) (?:way|direction)\b"
    r"|(?<=\bso )(?P<i>i |i'll |let me )?(?P<step>(?:go|walk|head|move|step)(?: over| back)?)"
    r" there\b(?=[.!]*$)",
    re.I,
)
_MOST_CHARACTERS = 400
_TO_SIDE = {"top": "north", "bottom": "south", "left": "west", "right": "east"}


_LETTERS = {"l": "west", "r": "east", "u": "north"}


def that_way(text: Any) -> Any:
    """An answer in which "that way" is the only side that is named before it: "the food over on
    the right is closest, so I walk that way"; and the side of a letter alone."""
    if not isinstance(text, str) or len(text) > _MOST_CHARACTERS:
        return text
    found = _THAT_WAY.search(text)
    if found is None:
        return _LETTERS.get(text.strip().lower(), text)
    before = text[: found.start()].lower()
    sides = [one["side"] or one["way"] for one in re.finditer(_SIDE, before)]
    ways = {_TO_SIDE.get(side, side) for side in sides}
    if len(ways) != 1 or _THAT_WAY.search(text, found.end()):
        return text
    go = found["go"] or f"{found['i'] or ''}{found['step']}"
    return f"{text[: found.start()]}{go} {ways.pop()}{text[found.end() :]}"


def _meaning(tail: str, who: Mapping[str, Any]) -> str:
    found = {reading.meaning for reading in _TAIL.read(_ARTICLES.sub("", tail), {"who": who})}
    return next((meant for meant in _FITS if meant in found), "")
