"""What stands around an action in a sentence and says no more than what it leads to, what it is for
or what it takes: "one more step left, which puts me beside the tree", "I build a table with two
wood", "this is the moment to craft a pickaxe".

`heads` and `split` take such parts off. What is left must name an action by itself, of a kind to
which the part can be said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from manyhands.core.reading.grammar import Grammar, Reading
from manyhands.envs.craftworld.phrases import DET, DISTANCE, GOODS, HOLE, HOLED, NEXT_TO

_THERE = (
    "[(ahead|nearby|over there|up there|down there|out there|there|in front [of me]|near me"
    "|[{n} (cell|step|tile|square)] away|(to|on|at|in) [my] {side} [side|hand|of me]|{rel}"
    f"|{DISTANCE})]"
)
_THING = f"{DET} {{thing}} {_THERE}"
_AM = "(am|be|stand|end up|get|come|land|arrive|draw|sit|move|step|will be|'m)"
_BESIDE = (
    "[(just|right|directly|already|now)] (in my (row|column)|in (line|reach) [with me]|within reach"
    "|ahead [of me]|in front of me|beside me|next to me|there|close [by]|near|(1|one|two|2|{n}) "
    "(step|cell) away|to my {side}|on my {side}|above me|below me)"
)
_TOOLS = "(tool|{tool}|{put}|pickaxe|sword|weapon|thing|stuff|other thing|what we need)"
# By the readings that it can be said to.
MOVES = frozenset(("move", "bare", "toward", "facing", "on"))
TURNS = frozenset(("facing",))
DEEDS = frozenset(("take", "chop", "mine", "hit", "eat", "drink", "search", "use"))
PLACES = frozenset(("place",))
MAKES = frozenset(("make",))
ALL_KINDS = MOVES | DEEDS | PLACES | MAKES | {"noop", "asleep", "sleep", "named"}
_COSTS = (
    "(using|with|for|out of|from|spend|at the cost of|costing|(which|that) cost) [(just|only)] "
    f"[(all|both|{{n}}) [of]] [my] [{{n}}] {GOODS} [and [my] [{{n}}] {GOODS}] "
    "[(i (have|hold|carry|own)|in (hand|my (bag|pack|inventory|pocket))|from my "
    "(bag|pack|inventory)|at hand|that i (have|hold|carry))]"
)
_LEADS = {
    "move": [
        "[.] [(and|which|that|this|it|and (this|that)|[and] so [that] (it|this))] [(will|should)] "
        f"(bring|put|get|take|lead|leave|land|move|place) (me|us) [{{n}} (step|cell)] {NEXT_TO} "
        f"{_THING}",
        f"[.] so [that] (i|i'm|i'll|we) {_AM} {NEXT_TO} {_THING}",
        f"[.] [in order] (to|so as to) ({_AM} {NEXT_TO}|line up with|close in on) {_THING}",
        f"[.] (get|come|draw|edge|move) [(1|one) step] (closer|nearer) to {_THING}",
        f"[.] (head|aim|make|bound|search|look) (for|to|toward) {_THING}",
        f"[.] (approaching|closing in on|lining up with|skirting|passing) {_THING}",
        f"[.] [(as part of|on|along)] (my|the) way (to|toward) {_THING}",
        "[.] [(right|just|straight)] (past|under|below|above|beneath|beside|alongside|around|round"
        f"|along|behind|next to|between|by|beyond|across from|in the direction of) {_THING}",
        f"[.] so [that] {_THING} [(will|should)] (am|be|end up|come|get|lie|sit|stand|is) "
        f"{_BESIDE}",
        f"[.] (and|and then|then|since|because|as|for|where) {_THING} (is|be|will be) {_BESIDE}",
        f"(into|onto|on to|on|in|through) {HOLE} [{{rel}}]",
        f"[back] (out of|from|along) {HOLED}",
        "by (1|one) (step|cell|pace|tile|square)",
        f"[.] which (is|be|hold|have|give [me]) (what|{DET} {{thing}}) [[that] i (want|need|seek"
        "|look for|am after|'m after)]",
    ],
    "turn": [
        "[(and|so as|in order|so [that] i)] [to] (turn|face|look) [to|toward|at] "
        "(it|that|tree|there|thing|this|them|him|her|{onto:thing})"
    ],
    "do": [
        "(for|toward|as) [(more|extra|a bit of|an|my|some|next|good)] (dinner|food|meal|lunch"
        "|supper|breakfast|snack|meat|beef|building|building material|material|crafting|resource"
        "|fuel|smelting|tool|achievement|{tool}|{put}|{gift}|pickaxe|sword|iron|later|later use)"
    ],
    "place": [
        _COSTS,
        "[.] so [that] (both of us|we [both|all]|everyone|everybody|i|you|he|she|you and i|{player}"
        "|both player) can (craft|make|build|work|use it|craft at it|make use of it|start crafting)"
        f" [{_TOOLS}] [(here|there|at it|on it)]",
    ],
    "make": [
        _COSTS,
        "(for|to) (mine|mining|fight|combat|defence|defense|protection|self defence|self defense"
        "|dig|hunt) [(stone|coal|iron|diamond|rock|ore|{thing})]",
    ],
    "gain": [
        "[.] (for|to (get|earn|gain|unlock|score|tick off|win)|as|which (is|be)|(and|which|that) "
        "(give|get|earn|win|bring|unlock|be worth) [(me|us)]) [(the|an|1|another|one more|my)] "
        "[(next|easy|quick|new|cheap|further|extra|simple|nice)] (achievement|reward|point|bonus)",
    ],
    "when": ["(before anything else|first thing|as [my] (next|first) (thing|job|task))"],
}
_KINDS = {
    "move": MOVES,
    "turn": TURNS,
    "do": DEEDS,
    "place": PLACES,
    "make": MAKES,
    "gain": PLACES | MAKES | DEEDS,
    "when": ALL_KINDS,
}
# The words that such a part begins with.
_OPENS = re.compile(
    r",? (?=(?:and|which|that|this|it|so|bring|put|get|tak|lead|leav|land|mov|plac|to|in|com|draw"
    r"|edg|clos|head|aim|mak|bound|approach|lin|skirt|pass|past|on|along|as|my|the|right|just"
    r"|straight|under|below|above|beneath|beside|around|round|behind|next|between|by|beyond|across"
    r"|then|since|because|for|where|into|onto|through|out|from|back|down|up|turn|fac|look|search"
    r"|toward|using|away|hunt|seek|hop|with|spend|at|cost|before|first|near|alongside)[a-z]*\b)"
    r"|[;.]\s+"
)
_MOST_CUTS = 12
_GOODS = r"(?:woods?|logs?|stones?|rocks?|coal|iron|diamonds?|saplings?|food|pickaxe)"
_SOME = (
    r"(?:(?:the|my|a|an|all|both|these|this|that|last|remaining|leftover|other|rest|spare|piece"
    r"|pieces|of|bit|unit|units|lump|lumps|\d|one|two|three|four|five|six|seven|eight|nine) )*"
)
_FRAME = re.compile(
    r"^(?:(?:this|now|it|here|that)(?:'s| is) (?:the|a|my) (?:(?:right|good|perfect|best|ideal) )?"
    r"(?:moment|time|chance|opportunity|place|spot) (?:for me )?to (?=\w)"
    rf"|(?:and |now )*with {_SOME}{_GOODS}(?: and {_SOME}{_GOODS})*"
    r"(?: (?:in (?:hand|my (?:bag|hands|pack|inventory))|left|to spare|at hand|that i "
    r"(?:have|hold|carry)|i (?:have|hold|carry)|ready))*,? "
    r"(?=(?:i|i'll|i'm|let me|let's|we|make|craft|build|forge|carve|place|put|set|upgrade)\b))"
)
_ALOUD = re.compile(r"^(?:heads[- ]up|note|fyi|just so you know),? (?:[\w ]{1,20})?[:,!-] ?(?=\w)")
_CALLED = re.compile(
    r"^(?:(?:hey|hi|hello|ok|okay|listen|dear|my) )*(?:player[_ ]\d|player (?:one|two|zero)|partner"
    r"|friend|mate|buddy|teammate|ally|team|everyone|everybody|folks|pal)(?:,|:|!| -) (?=\w)"
)
_THAT = re.compile(
    r"^(?:i|we)(?: (?:still|also|now|really|first|do))* (?:need|want|lack|require|could use|miss)"
    r"(?: (?:still|also|now))? (?P<what>(?:an?|the|my|some) [a-z_ ]{3,30}?)"
    r"(?:, | ?[;:.] | (?=so|and))(?:(?:so|and|thus|therefore),? )?(?P<verb>(?:i|i'll|i'm|let me"
    r"|let's|we|we'll)?[a-z' ]{0,20}?\b(?:make|making|craft|crafting|build|building|forge|forging"
    r"|place|placing|carve|carving|put down|set up)) (?:that|it|one|this)\b"
)


# "I'm off to the trees in the northeast, starting with a step up": no order without its head.
BEGUN = re.compile(r"\b(?:started|starting|began|begun|beginning)\b")
_OFF = re.compile(
    r"^(?:i'm |i am |i'll |i |we're |let's |let me )?(?:now |next )?"
    r"(?:off|head(?:ing|ed)?|bound|go(?:ing)?|on my way|mak(?:e|ing) (?:my way|for)|aim(?:ing)?"
    r"|sett?(?:ing)? (?:off|out))(?: over| off| back)?(?: to| for| towards?)? "
    r"(?:the |that |those )?(?!.*\b(?:not|never|no|or|if|without|than|instead"
    r"|player|player_\d|would|could)\b)"
    r"[a-z0-9 ]{3,50},? "
    r"(?:starting|beginning)(?: off)? (?:with|by) (?=\w)"
)
HEAD_KINDS = {"->": frozenset(("request",)), "st": MOVES}


def heads(plain: str) -> Iterator[str]:
    """A sentence without what leads to the action, in each way that it may have such a part."""
    called = _CALLED.match(plain)
    if called:
        yield f"-> {plain[called.end() :]}"
    aloud = _ALOUD.match(plain)
    if aloud:
        yield plain[aloud.end() :]
    off = _OFF.match(plain)
    if off:
        yield f"start by {plain[off.end() :]}"
    frame = _FRAME.match(plain)
    if frame:
        yield plain[frame.end() :]
    named = _THAT.match(plain)
    if named:
        yield f"{named['verb']} {named['what']}{plain[named.end() :]}"


def leads(slots: Mapping[str, Mapping[str, Any]]) -> Grammar:
    """The parts behind an action; `slots` as of a `Grammar`."""
    return Grammar(_LEADS, slots)


# Behind skills: "explore east in search of trees", "hunt the cow for dinner".
_MADE = (
    "[(my|1|one|some|more|new|next|first|other|our)] (table|{tool}|{put}|pickaxe|sword|tool"
    "|building|crafting|later|bridge|shelter|furnace|workbench|weapon)"
)
SKILL_TAILS = {
    "explore": [
        "[.] (in search of|[in order] (to|and) (find|look for|search for|see|get|discover|locate"
        "|spot"
        "|reach)|look for|search for|hunt for|seeking|for|hope (for|to find)|where i may find) "
        "[(some|more|any|new|other|another|fresh|my next)] {seen} [(there|over there|and {seen})]",
        "[.] (past|around|along|beyond|over|across|through|by|away from) [this|that|those] {seen} "
        "[there]",
    ],
    "eat cow": [
        "[.] (for|as) [(my|some|a bit of|a good)] (dinner|food|meal|lunch|supper|breakfast|snack"
        "|meat|beef|steak|nourishment)",
        "[.] (and|to) (eat|consume|devour) (it|its meat|beef|meat|them)",
        "[.] [and] to (fill (up|my stomach|my belly)|refill [my] food|get [some] (food|meat))",
    ],
    "collect": [
        f"(for|toward|to (make|build|craft|get|afford|place|set up)) {_MADE} [(and|.) {_MADE}] "
        f"[and {_MADE}]",
        f"[.] to get [(some|more|enough)] {{gift}} [for {_MADE} [and {_MADE}]]",
    ],
    "place": [
        "[.] (as|since|because|for) [both] {seen} [and {seen}] (is|are|be) [(both|all|right|so)] "
        "(near|close|nearby|close by|close at hand|at hand|here|around|beside me|next to me"
        "|within reach|in reach|not far|around here)",
        "[.] (so that|so) [i|we] can (make|craft|build) [(my|1|one|some)] "
        "({tool}|tool|pickaxe|sword) [(here|there|at it|next)]",
    ],
}
SKILL_KINDS = {
    "explore": frozenset(("explore",)),
    "eat cow": frozenset(("eat cow",)),
    "collect": frozenset(("collect", "collect all")),
    "place": frozenset(("place",)),
}


def split(
    plain: str, tails: Grammar, known: Mapping[str, frozenset[str]] = _KINDS
) -> Iterator[tuple[str, frozenset[str], list[Reading]]]:
    """(the words before a part, the kinds of readings that they may have, the part's readings) in
    each way to take one off, the longest part first."""
    for count, mark in enumerate(_OPENS.finditer(plain)):
        if count == _MOST_CUTS:
            return
        before, after = plain[: mark.start()].rstrip(" ,;."), plain[mark.end() :]
        readings = tails.read(after) if before else []
        if readings:
            kinds = frozenset().union(*(known[reading.meaning] for reading in readings))
            yield before, kinds, readings
