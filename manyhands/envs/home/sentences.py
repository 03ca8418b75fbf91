"""The phrases in which an answer may name an action of a home, for `reading.py`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.phrases import TIME, WAITING
from manyhands.envs.home.catalog import Catalog
from manyhands.envs.home.naming import Names
from manyhands.envs.home.state import CLEAN, COOL, HOT, SLICED

# ---- ways to name a thing, a place and a room ----------------------------------------------------

_IT = (
    "(it|that|this|them|object|item|thing|what (i (hold|carry|have)|(i am|i'm) (holding|carrying)))"
)
# "My clean mug", "the left-hand fork", "the fork in my left hand", "the bottle I'm carrying".
_MINE_NOW = (
    "[(in|from|of|out of) my [{side}] hand|[(that|which)] (i (hold|carry|have)|(i am|i'm) "
    "(holding|carrying)) [in my hand]]"
)
_IS_NOW = "[[.] [now] {is} [(and|.|but) [now] {too:is}] [now] [.]]"
_THING = f"([my] [{{side}} hand] [whole|entire] [{{is}}] {{thing}} {_MINE_NOW} {_IS_NOW}|{_IT})"
_BOX = "[my] {box:thing} [(i (hold|carry|have)|in my hand)]"
# The last ones are names of a tool call's arguments: take(object="mug 1", source="desk 1").
_IN = (
    "(in|on|into|onto|in / on|in or on|on or in|inside|inside of|in to|on to|to|at|upon|"
    "back in|back on|back into|back onto|over to|down on|down in|down onto|down at|away in|"
    "destination|location|receptacle|container)"
)
_FROM = (
    "(from|out of|off|off of|in|on|at|inside|from inside|from in|from on|source|location|receptacle"
    "|container|origin)"
)
_WITH = "(with|in|at|using|by|on|by using|under|inside|via|through|use)"
_AFTER = "[(first|again|and (stand|stop|be|stay|wait) (there|in front of it|by it|at it))]"

_HOLDS = "(has|holds|contains)"
_LIES = "(is|lies|stands|sits|rests)"
_WHERE = f"where ({{told:things}} {_LIES}|i (saw|found|left) {{told:things}})"
# A place by its name, and by its room or by what is there: "the kitchen sink", "the drawer in this
# room", "the table with the bread".
_WHICH = (
    "[({of:room}|{near:near of})] {place} [({near}|[here|there|over there] (in|inside|of) {room})] "
    f"[((with [my]|holding|containing|(that|which) {_HOLDS}) {{has:things}} [(in|on) it]|{_WHERE})]"
)
# A place may be told twice: "the kitchen counter, that's counter top 1".
_ALSO = "[[(that's|that is|i . e [.]|namely|which is)] {also:place}]"
_PLACE = f"[{{how}}] {_WHICH} {_ALSO}"
_OWN = f"{_WHICH} [{{mine}}]"  # "the cabinet in front of me"
_ROOM = f"({{room}}|room) (with|where|that {_HOLDS}|which {_HOLDS}) {{in:place}} [{_LIES}]"
_IDLE = (
    "((wait|do nothing|stay|hold|pass|idle|watch|stand|remain|rest|linger|loiter|tarry|pause"
    "|stay (put|still)|stand (by|still)|hold (still|on)|keep still|hang (around|about|back)) "
    "[(here|where i am|there|in place)])"
)
_ANY_WORK = "(it|that|this|the (work|rest|job)|its (work|job|part))"
_PLAYER = "(player {n}|teammate|partner|other player|somebody|someone|anybody|anyone)"
_TURNS_UP = (
    f"(and|to) ((see|watch|check) (if|whether|when|where|what|that) {_PLAYER} (turn up|come [by|in"
    "|here|over|back]|arrive|appear|show up|go|do|is|be|is doing|is up to|need [help]|return"
    f"|move|find [something|anything])|(watch|look out|keep a lookout) for {_PLAYER})"
)
_LYING = (
    f"((that|which) {_LIES} [(left|still|lying)]|[still] (lying|standing|sitting|waiting|left)"
    "|remaining|that's left)"
)
_TAKES = "(take|get|grab|pick|pick up|fetch|collect|retrieve|lift|lift up)"
_PUT = (
    "(put|place|set|lay|drop|leave|move|insert|deposit|store|return|stow|rest|drop off|put down"
    "|set down|put back|place back|put away|lay down|park|slide|slip|dump|unload|release|toss|throw"
    "|hide|transfer|add|position|ditch|discard|stash|shelve|dispose of|leave behind|load|pile|stack"
    "|get)"
)
_ALONGSIDE = (
    "(along|together) with ((the|all) [other] (others|ones|rest|thing|2|3)"
    "|{among:things} [and {among:things}])"
)
_PLACE_HERE = "{place} [({near}|(in|of) {room})]"
_UNDER_WATER = "under (tap|faucet|water|running water)"
_THINGS = (
    "[(other|remaining|rest of|rest of the)] (thing|target|object|item|stuff|rest) (in|of|from)"
)
# What one has with one.
_LOAD = (
    "(with|carrying|bringing|holding|taking) ([my] [{is}] {along:thing}|{load}"
    "|[(both|2|both of)] [(my|the|these) [2]] {both:things}|{empty}) [(along|with me|in hand)]"
)
_ALONG = f"[{_LOAD}]"
# What is to be done there.
_TO_DO = (
    "to (chill|cool|heat|warm|wash|clean|rinse|open|close|use|fetch|get|take|collect|grab|pick up"
    "|put|drop|drop off|throw|load|deliver|leave|empty|retrieve|place|unload|store|return|cook"
    "|slice|dispose of|get rid of|set|lay|search|inspect|check) "
    "({aim:thing}|{aim:things}|it|that|them|this|both) [(and|&) [(my|the)] {aim:thing}] "
    "[(up|down|off|away|out|in|there|inside|in it|first|on it|into it|in there|back|inside it|with"
    " it|myself|at last|next)]"
)
# "The last place left", "the one spot I haven't looked at yet".
_THE_LAST = (
    "(last|only|1|one|single|final|other) [remaining] "
    "[(place|spot|one|candidate|receptacle|container|piece of furniture|option)] "
    "[(left|remaining|that is left|unchecked|unsearched|to check|left to (check|search|try))] "
    "[[that] (i|we|i've|we've|nobody|no one) [(have|has)] [(not|haven't|never)] [yet] "
    "(looked|checked|searched|seen|opened|visited|tried) [(at|in|into|inside|on)] [(yet|so far)]]"
)
_PURPOSE = (
    "[([but] [(only|just)] to (look around it|look it over|(have|take) [a] [(quick|good|another)] "
    "(look|peek) [(around|at it|around it|inside|in it|there)])"
    "|for ([(any|some|more|my)] ({get:thing}|{aim:things}) [(and|&|+)] [{aim:thing}]"
    "|[(quick|closer|short|better|first|good)] (look|check|search|peek))"
    "|in search of [(any|some|more|my)] ({aim:thing}|{aim:things}|target)"
    "|(to|and) (see|check|find out) ((if|whether) (there (is|are)|it (has|holds|contains)"
    "|{aim:thing} (is|might be|could be)) [(any|some|more)] [({aim:thing}|{aim:things})]"
    "|what is|what's) [(there|in it|inside|on it|in there|on there)]"
    "|to (switch|turn|put) [on] ({aim:thing}|light) [on] [(in advance|already|there|next|later)]"
    "|(to|and) (see|check|find out) (if|whether) (anything|something|it|1|one|what (i|we) need"
    "|{aim:thing}) is [hidden] [(there|in it|inside|on it|in there|on there|of use)]"
    f"|{_TO_DO})]"
)
# Why one goes there: what it may hold, that nobody looked, what was left undone.
_SOUGHT_ONE = (
    "[(another|second|1|one|some|other|1 of|one of|some of|any of)] [(the|my|our)] "
    "({aim:thing}|{aim:things}|food|target|lamp|something|object|item|what (i|we) need)"
)
_INSIDE = "[(there|in it|on it|inside|in there|on there|at it)]"
_WHY_THERE = (
    "[[.] ([since|because] [(i|we|i've|we've|nobody|no one|which|it)] [(has|have|is|was)] "
    "(never|not|haven't|hasn't|nobody has|not yet) [yet] [been] (looked|checked|searched|seen"
    "|opened|explored|visited|been|tried) [(in|into|inside|at|there|it)] [(it|there)] "
    "[(yet|before|so far|at all)]"
    f"|(maybe|perhaps|possibly|hopefully) ({_SOUGHT_ONE} is [(hidden|lying|waiting)] {_INSIDE}"
    f"|there is {_SOUGHT_ONE} {_INSIDE}|it (has|holds|contains) {_SOUGHT_ONE}"
    f"|(i'll|i will|i|we|i can|we can) (find|get|see) {_SOUGHT_ONE} {_INSIDE})"
    f"|(it|that|which) (may|might|could|should) [(already|still|well|even)] "
    f"(hold|have|contain|hide) {_SOUGHT_ONE}"
    f"|{_SOUGHT_ONE} (may|might|could|should) be [(hidden|lying|waiting)] {_INSIDE}"
    f"|[.] {_THE_LAST}"
    "|[.] (which|that) (i|we|nobody|no one) (have|has) (yet|still) to (explore|see|visit|search"
    "|check"
    "|look (at|into|through)|enter|open)"
    "|i (forgot|still need|still have|have yet|meant) to (close|shut|open|check|search) "
    "(it|{also:place})|i left (it|{also:place}) open|(it|{also:place}) is still open)]"
)

_A_LOOK = (
    "(look|peek|glance|(have|take|get|steal) [another] "
    "[(good|quick|closer|proper|short|better|second|first|little)] "
    "(look|peek|glance|gander|rummage))"
)
_SEARCH = (
    f"(search|check|explore|{_A_LOOK} (in|inside|into|through|around)|look (through|on|over by)"
    "|(rummage|go|search) (in|through)|investigate|scout|check out|go over"
    "|(check|see|find out) (what is|what's) [(hidden|hiding|lying|waiting|over|out)] "
    "(on top of|in|on|inside of|inside|at|behind|by|near))"
)
# To look at a place from elsewhere is to go there.
_VISIT = (
    "(inspect|check on|check up on|[go] [and] see|[go and] inspect"
    "|(have|take|get) [another] [(good|quick|closer|proper|short|better|second|first|little)] "
    "(look|peek|glance|gander) (at|over))"
)
_SEARCH_ROOM = (
    "((look|have look|take look|take peek|see (what is|what's)) "
    "((around|round|about) [in|inside]|in|into|inside|through))"
)
_ANY = (
    "[(any|some|more|other|my|missing|last)] "
    "({aim:thing}|{aim:things}|target|object|item|container|something|lamp|light)"
)
_SOUGHT = f"[for {_ANY}]"

# What may follow any action.
_ENDING = (
    "[[.] (for a (moment|while)|while (i am|i'm) [(still|already)] (here|there|at it)"
    "|(to|so that i|so i|which|that) [(can|to|will)] (free|empty) [up] (1|one|a|my|both [of my]) "
    "hand|so [that] (a|my|1|one) hand is free|for the time being|with care|like before|as before"
    "|as planned|one last time|for good measure|like that"
    "|[and] (before|rather than) (cool|chill|heat|warm|wash|clean|rinse|carry|bring|take|serve"
    "|put|deliver"
    "|store|pack) ({aim:thing}|it|them) [(away|down|back|up)] [(later|next|afterwards|there)]"
    "|(and|so) [that] (chore|job|task|goal|work|that|this|it|everything) is (done|finished|complete"
    "|completed|over)"
    "|(to|which [will]|that [will]|and) (finish|complete|end|wrap up|conclude) (chore|job|task"
    "|goal|work"
    "|game|episode|it)"
    "|so [that] (all|everything|both|all of them|all {n} [(thing|target|object|item|of them)]) is "
    "(delivered|there|done) [(at once|together|in one go|at the same time)])]"
)
# Why one opens what is in front.
_TO_LOOK = (
    "((and|to) (look|search|check|see|peek|(have|take) [a] [(quick|good)] (look|peek)) "
    "[([in] (it|there)|inside|inside it|{again:place})] "
    "[for [(any|some|more|my)] ({aim:thing}|{aim:things}|target)]"
    "|in search of [(any|some|more|my)] ({aim:thing}|{aim:things}|target)"
    "|[.] look for [(any|some|more|my)] ({aim:thing}|{aim:things}|target)"
    "|so [that] i [(can|will|could)] (see|know|look at|check|find out) (what is|what's) [hidden] "
    "(in it|inside|there|in there)|so [that] i (can|could) look (inside|in|into it|in it|in there)"
    "|(and|to) (see|check|find out) ((if|whether) (there (is|are)|it (has|holds|contains)"
    "|({aim:thing}|{aim:things}) (is|are)|(anything|something) is) [(any|some|more|hidden)] "
    "[({aim:thing}|{aim:things})]|what is|what's) [hidden] "
    "[(in it|inside|there|in there)])"
)
# ---- ways to go there ----------------------------------------------------------------------------

_GO = (
    "(go|walk|move|head|run|step|proceed|return|travel|navigate|come back|get|hurry|switch|continue"
    "|cross|rush|race|advance|turn|be off|make my way|set (out|off)|start (out|off)|headed"
    "|relocate|betake myself|be on my way|on my way|en route|journey|wend my way|drop by"
    "|(bring|send|carry|get|drag|haul|move) (me|myself)|set course|make tracks"
    "|take (me|myself|us)|take [(short|quick|long|little)] (walk|trip|stroll|way|path|route)"
    "|(make|on) [(short|quick|little)] (trip|detour)) "
    "[(back|over|on|straight|right|directly|across|along|up|down|ahead|out|off|around|all the way)]"
)
_TO = (
    "(to|towards|toward|into|for|in|over to|back to|up to|next to|near|close to|beside|in front of)"
)
_GO_TO = (
    f"({_GO} {_TO}|off to|(make|make beeline|aim|leave|start|depart|bound|headed|head|set (out|off)"
    "|(head|start|move) (off|out)) for|goto|visit|approach|reach"
    "|check out|try|call at|look in at|(swing|stop|drop) by|stop at|drop in at)"
)
_ENTER = (
    f"({_GO_TO}|{_GO} (inside|through|through to|through door (to|into)|across to|across into)"
    f"|enter|(slip|duck) (in|into)"
    "|(take|use) door to)"
)
_BE_AT = (
    "[go] [and] (be|stand|arrive|end up|appear|show up|sit|sit down"
    "|(position|place|station|plant|post|put) myself) "
    "(at|by|in|on|near|beside|next to|in front of)"
)
_BEGIN = "(begin|start) [my] (search|hunt|round|tour|check) (at|with|in|from|by)"
_LEAVING = (
    "((leave|exit) ({near}|{off:place}|{from:room}|room)"
    "|(skip|pass over|leave) (it|this [(one|1|place)]|{off:place}))"
)
_TO_WHERE = f"where ({{to:things}} {_LIES}|i (saw|found|left|have seen) {{to:things}})"


_HERE = (
    *("here", "in here", "right here"),
    *("this room", "in this room", "of this room", "here in this room"),
)
_MINE = (
    *("in front of me", "before me", "right in front of me", "right before me", "next to me"),
    *("where i am", "beside me", "at hand", "here", "right here", "where i stand"),
    *(
        f"{that}{i_am} {at}"
        for that in ("", "that ", "which ")
        for i_am in ("i am", "i'm", "i am standing", "i'm standing", "i stand", "i am now")
        for at in ("at", "in front of", "by", "next to", "before", "beside")
    ),
    *(
        f"{that}i {just}{came}"
        for that in ("", "that ", "which ")
        for just in ("", "just ", "have just ")
        for came in ("walked to", "walked up to", "went to", "came to", "reached", "arrived at")
    ),
)
_UNSEEN = (
    *("unexplored", "unseen", "unvisited", "unsearched", "unchecked", "unopened", "remaining"),
)


def _names(catalog: Catalog) -> dict[str, Any]:
    """The slots of things, places and rooms, and of words that tell which is meant."""
    return {
        "thing": Names(catalog.object_kinds, pointing=True),
        "things": Names(catalog.object_kinds, several=True),
        "place": Names(catalog.receptacle_kinds, pointing=True),
        "room": Names(catalog.room_kinds, pointing=True),
        "near": dict.fromkeys(_HERE, True),
        "near of": {"this room's": True},
        "is": {
            **dict.fromkeys(("clean", "washed", "rinsed", "cleaned"), CLEAN),
            **dict.fromkeys(("hot", "heated", "cooked"), HOT),
            **dict.fromkeys(("cold", "cool", "chilled", "cooled"), COOL),
            **dict.fromkeys(("sliced", "cut"), SLICED),
            **dict.fromkeys(("dirty", "unwashed"), -CLEAN),
        },
        "waste": dict.fromkeys(("out", "away"), True),
        "load": dict.fromkeys(("it", "them", "this", "my hands full", "a full hand"), True),
        "target": {"target": True, "target object": True, "target item": True},
        "empty": dict.fromkeys(("empty hands", "an empty hand", "both hands free"), True),
        "places": Names(catalog.receptacle_kinds, several=True),
        "how": {**dict.fromkeys(_UNSEEN, "unseen"), "closed": "closed", "shut": "closed"},
        "unseen": dict.fromkeys(_UNSEEN, "unseen"),
        "mine": dict.fromkeys(_MINE, True),
    }


def _made(verbs: str, states: str, nouns: str, ends: str) -> list[str]:
    """Phrases of what makes a thing clean, hot or cool; each list as alternatives of a pattern."""
    at = f"[{_WITH} ({_WHICH}|here|it|{{near}})|[right] (here|there)|at once]"
    return [
        f"({verbs}) {_THING} [({ends})] {at} [{_UNDER_WATER}]",
        f"(make|get) {_THING} ({states}) {at}",
        f"use ({_WHICH}|it|this) to ({verbs}) {_THING} [({ends})]",
        f"give {_THING} [(quick|good|short|proper|little)] ({nouns}) {at} [{_UNDER_WATER}]",
        f"({verbs}) {_THING} [({ends})] {at} so [that] (it|{{again:thing}}) is [also] ({states}) "
        "[(as well as|and|besides) [also] ({is}|clean|cool|hot)] [(too|as well)]",
        f"let {_THING} (({verbs})|(get|become|turn|go|grow) ({states})) {at}",
        f"use ({_WHICH}|it|this) (on|for) {_THING} to ({verbs}) (it|{{again:thing}}) [({ends})]",
    ]


@functools.lru_cache(maxsize=8)
def grammar(catalog: Catalog) -> Grammar:
    """The phrases of homes with a catalog; they do not depend on the state."""
    slots: dict[str, Any] = {
        **_names(catalog),
        "side": {"left": 0, "right": 1},
    }
    phrases: list[tuple[Any, Sequence[str]]] = [
        (
            "go",
            [
                f"[{_LEAVING} (and|to) [now]|{_LOAD} (i|i'm|i'll|let me|we)] {_GO_TO} "
                f"({_PLACE} ({_AFTER} [{_LOAD}] {_PURPOSE}"
                f"|to (look|search|check|see)|{_WHY_THERE})"
                f"|{{to:things}} [{_FROM} {_PLACE_HERE}])",
                "[go] [and] (fetch|get|grab|find|collect|pick up) {told:things} "
                f"[from where (it|they) {_LIES}] [.] [by] {_GO_TO} {{place}}",
                f"{_GO} (from ({{off:place}}|{{from:room}}) [on|over] (to|into|in to) {_PLACE}"
                f"|[to] [(place|spot|back to)] {_TO_WHERE})",
                f"{_LEAVING} for {_PLACE}",
                f"[from here] (it's|it is) off to {_PLACE} {_ALONG}",
                f"(carry|bring|take) (both|2|both of|my 2|all) [my] {{both:things}} [back] "
                f"[over] (to|towards) {_PLACE}",
                f"{_SEARCH} {{also:places}} [(first|now|next)] [.] (start|begin) "
                f"(with|at|in) {_PLACE}",
                f"(check|search) {{place}} (in|inside|of) {{room}} {_AFTER}",
                f"check {{place}} {_AFTER} ({_PURPOSE}|{_WHY_THERE})",
                "[next] {place} is [certainly|surely] worth a (look|visit|check|try|peek)",
                f"(go|(go|walk|head) and (check|inspect|see|search)|go (check|see|inspect|search)"
                f"|{_BE_AT}|{_BEGIN}) {_PLACE}",
                "not {out:place} [.] [but] {place}",
                f"pay {_PLACE} [(short|quick|little)] visit",
            ],
        ),
        (
            "room",
            [
                f"[{_LEAVING} (and|to) [now]] {_ENTER} ([middle of] {{room}}|{_ROOM}) "
                f"({_AFTER}|(to|and) (look|search|explore|check|have a look) [around] "
                f"[(there|in it|inside|{{again:room}})] [for {_ANY}]|{_ALONG}|{_WHY_THERE})",
                f"{_ENTER} {_ROOM} [.] (that's|that is|i . e [.]|namely|which is) {{again:room}}",
                f"{_GO} (from {{from:room}} [on|over] (to|into|in to)|for {_THINGS}) {{room}}",
                f"{_LEAVING} for {{room}}",
                f"(take|cover|do|handle|tackle|{_BEGIN}) {{room}}",
                f"go ({{room}}|{_ROOM})",
                "off to {room} to (look|search|explore) [(around|there|in it)]",
                "not {out:room} [.] [but] {room}",
            ],
        ),
        (
            "middle",
            [
                f"({_GO} (to|into|in|for|back to|over to|towards)|(to|into|back to|over to)"
                "|(be|stand|place myself) (in|at)) "
                "(middle|center|centre) [of (room|{near}|{room})]",
            ],
        ),
        (
            "open",
            [
                f"(open|unlatch) [up] [door of] ({_OWN}|it|this|that|here|[its] door) [door]",
                "open [up] (one|door) ({near}|{mine})",
                "({place}|it) (has|needs) to be opened [first]",
                "open [up]",
                f"((open|unlatch) [up]|(pull|swing|push|slide|crack|throw|pop) open) ({_OWN}|it"
                f"|this|[its] door) [door] [(open|up)] {_TO_LOOK}",
                f"({_OWN}|it|[its] door) get opened [by me] [(now|next|first)]",
                f"(pull|swing|push|slide|get|crack|pop) ({_OWN}|it|this|that|[its] door) [door] "
                f"(open|ajar) [{_TO_LOOK}]",
                "(see|check|find out|look|discover) (what is|what's) [hidden|hiding] "
                "(in|inside|behind|within) (here|(this|that) 1|this|[its] door|this door)",
                "(check|see|look|peek|glance|search|(have|take) [a] [quick] (look|peek)) "
                "(in|inside|into) (here|this 1|this)",
                f"(pull|swing|push|slide|crack|throw|pop) open ({_OWN}|it|this|[its] door)",
                f"(pull|swing|push|slide|get|crack|pop) ({_OWN}|it|this|[its] door [of {{place}}]) "
                "(open|ajar)",
                "(have|get) ({place}|it|this) opened [up]",
                "open (it|this|{place}) up",
                "open ({place}|it) to (look (in|inside)|(see|check) (what is|(whether|if) "
                "[there is] (a|an|some) {aim:thing} [is]) (in it|inside|in there|there))",
            ],
        ),
        (
            "close",
            [
                f"(close|shut) [up] [door of] ({_OWN}|it|this|here|[its] door) [door]",
                "(close|shut) [again]",
                "(close|shut) ({place}|it) [(up|tight)] [again]",
                f"(push|pull|swing|slide) ({_WHICH}|it|this) (shut|closed)",
            ],
        ),
        (
            "take",
            [
                "[go] [and] (take|get|grab|pick|pick up|fetch|collect|retrieve|remove|lift|obtain"
                "|acquire|withdraw|scoop up|lift up|gather [up]|(take|get) hold of|help myself to) "
                f"[{{is}}] {{thing}} [up] [{_LYING} [right] [(here|there)]|here|there"
                "|[up] with me] "
                f"[{_FROM} ({_PLACE_HERE}|there|here|it)] [(with|in|into) [my] [(free|empty)] "
                "[{side}] hand]",
                "(take|pick up|grab|hold|get) ({thing}|it) [up] [(here|there)] (in|with|into) "
                "[(my|the)] [(free|empty|other)] [{side}] hand",
                f"[(with|in) [my] (free|empty|other) [{{side}}] hand (i|i'll|i will)] {_TAKES} "
                f"[up] [(only|one|1|next|last|remaining)] {{target}} [{_FROM} ({{place}}|here"
                f"|there)]"
                " [(with|in|into) [my] [(free|empty|other)] [{side}] hand]",
                f"[(with|in) [my] (free|empty|other) [{{side}}] hand (i|i'll|i will)] {_TAKES} "
                f"{{thing}} "
                f"[{_FROM} ({{place}}|here|there)]",
                f"{{thing}} [{_FROM} {{place}}] [(next|first)] [.] which i [(will|now)] {_TAKES} "
                f"[(with|in|into) [my] "
                "[(free|empty|other)] [{side}] hand]",
                "{thing} [(here|there)] come (with me|along [with me])",
                f"{{thing}} {_LYING} [right] (on|in|at|here|there) [{{place}}] come "
                "(with me|along)",
                "pick up {thing} [(as well|too)] let me (carry|hold|take|bring) "
                "(2|both|two of them|2 things) [{aim:things}] [at (a time|once)|together]",
                f"(take|pull|get|lift) out {{thing}} [{_FROM} {{place}}]",
                "(take|pull|get|bring) {thing} out [of {place}]",
                f"pick {{thing}} [up] [{_FROM} {{place}}]",
                f"(take|get|grab|pick up|fetch|collect) (it|that|this) [{_FROM} {{place}}]",
                "(take|get) it out [of {place}]",
                f"pick (it|that|this) up [{_FROM} {{place}}]",
            ],
        ),
        (
            "put",
            [
                f"{_PUT} {_THING} [(down|back|away|off)] [(here|there)] "
                f"{_IN} ({_WHICH}|{_BOX}|here|there|it|{{near}}) [{_ALONGSIDE}]",
                f"{_PUT} {_THING} [down] (in|inside|in it|in there|in here|on it|here|there) [.] "
                "[right] (beside|next to|with|by|near|alongside|close to) {by:thing}",
                f"{_PUT} {_THING} [(down|back)] (beside|next to|with|by|near|alongside|close to) "
                "{by:thing} [{near}]",
                f"{_THING} go [(back|down|straight)] {_IN} ({_WHICH}|here|there)",
                f"{_THING} go (in|inside) [(too|as well|next|now|first|there|here)]",
                f"{_PUT} {_THING} (in|inside|to|down|beside|next to) "
                "[((with|among|to|beside) [(the|all)] [other] (others|other|one|ones|rest|thing"
                "|{among:things}) [already] [(inside|there|in there|in it|here)])] "
                f"[(in|on) {_WHICH}]",
                f"{_PUT} {_THING} [down] (among|to) [(the|all)] [other] (others|other|ones"
                "|rest|thing|{among:things}) [already] (inside|there|in there|in it|here|in|"
                f"(in|on) {_WHICH})",
                f"(toss|throw|chuck|drop|put|dispose of|get rid of) {_THING} [right] {{waste}}",
                f"(toss|throw|chuck) {{waste}} {_THING}",
                f"(bin|trash|scrap|junk) {_THING}",
                f"{_PUT} (what is|thing|object) in my {{side}} hand {_IN} ({_WHICH}|{_BOX}|it)",
                f"(put|place|set|lay|drop) down {_THING} [{_IN} ({_WHICH}|here|there)]",
                f"{_PUT} {_THING} (down [here]|here|down there|back here)",
                f"(put|place|set|lay|drop) [down] {_THING} [down] with ({{with:thing}} [in it]|"
                f"its content|what is in it) {_IN} ({{place}}|here)",
                f"(put|place|set|lay|drop) [down] {_THING} [down] [(from|in|of|with)] my {{side}} "
                "hand [down]",
                "(put|place|set|lay|drop) [down] (what is|what i hold|thing|object|one) in my "
                "{side} hand [down]",
                "(drop|deposit|get rid of|let go of|release|unload|dump) "
                f"{_THING} [(here|there|off)]",
                f"leave {_THING} here [{_IN} {_WHICH}]",
                f"(put|place|drop|slide|load|set|lay|throw|toss) {_THING} (in|inside)",
                f"load {_THING}",
            ],
        ),
        (
            "bring",
            [f"(bring|carry|take|deliver) {_THING} [back] [(over|across|along)] (to|into|in|on"
             f"|onto) "
             f"({_WHICH}|{{room}}|{_BOX}) [{_WHY_THERE}]"],
        ),
        (
            "pack",
            [
                f"(pack|load|stash|pile|stack) {_THING} [{_IN} ({_BOX}|it)] [{_ALONGSIDE}]",
                f"pack {_THING} up",
                f"(pack|load|stow|store|stash) {_THING} [away] [{_IN} ({_BOX}|it)] [(along"
                f"|together)] with "
                "[(the|my)] other {others:n} [(one|thing|target|object|item)]",
                f"(put|place) {_THING} (in|into|inside) ({{box:thing}})",
            ],
        ),
        (
            "clean",
            [
                *_made("clean|wash|rinse|scrub|(clean|wash) up|(rinse|wash|clean) off",
                       "clean|cleaned|washed|rinsed", "wash|rinse|clean|scrub", "off|up|clean"),
                f"(hold|put|run|clean|wash|rinse) {_THING} {_UNDER_WATER}",
            ],
        ),
        (
            "heat",
            _made("heat|warm|heat up|warm up|cook|microwave|reheat|zap|nuke|make warm",
                  "hot|heated|warm|warmed [up]|cooked", "heat|zap|warm up", "up|hot"),
        ),
        (
            "cool",
            _made("cool|chill|cool down|refrigerate|cool off|chill down",
                  "cold|cool|cooled [down]|chilled", "chill|cooling", "down|off|cold"),
        ),
        (
            "use",
            [
                "(use|toggle|turn on|switch on|light|light up|activate|power on|toggle on|put on"
                "|(flip|flick|click) on) {thing} [(on|at) {place}]",
                "(turn|switch|toggle|put|flip|flick|get) {thing} on [(on|at) {place}]",
                "(turn|switch) (on light of {thing}|light of {thing} on)",
                "(turn|switch) (it|this) on",
                "(turn|switch) on light",
                "(flick|flip|press|push|hit) (switch|button) [(of|on|for) {thing}]",
                "(turn|switch) light on",
                "light on",
            ],
        ),
        (
            "slice",
            [
                "(slice|cut|cut up|slice up|chop) {thing} [up] [(with|using|by using) "
                "{tool:thing}]",
            ],
        ),
        (
            "wait",
            [
                *WAITING,
                "(wait|noop|none|pass|idle|skip|rest|stand still|do nothing|no op|stay put|"
                "no action|hold)",
                "(wait|stay|hold on) [here|there] for (player {n}|they|everyone|all|others|{thing})"
                " [(here|to (come|arrive|act|pass|answer|reply|catch up|finish|leave))]",
                "(wait|stay|remain|hold on|stand still) [(here|there|where i am|put|still)] "
                "(until|till) (player {n}|they|everyone|someone|somebody|all|others) "
                "((has|have|is|are) [been] (moved|left|gone|come|arrived|passed|finished|done|ready"
                "|back|here|answered|replied|acted|gone ahead)|move [on|away]|leave|come [back|over"
                "|by]|arrive|pass|finish|act|answer|reply|go [away|on]|return)",
                "(stay|wait|remain|hold|rest) "
                "[(here|there|where i am|in place|still|at my place|put)] "
                "[for] [(one|1|a)] [(turn|step|moment|bit)]",
                "(stay|wait|remain|stand|stand still|linger|loiter|hang (around|about|back)|rest"
                "|hold on|stay put) [here] (at|by|near|next to|in front of|beside) {place} "
                f"{TIME} [for now]",
                f"{_IDLE} {TIME} {_TURNS_UP}",
                f"{_IDLE} {TIME} [and] {_IDLE}",
                "(stay|wait|remain) in {room}",
                "(skip|pass) [(my|this)] (turn|move|step)",
                "do nothing [at all] [(this|for one) (turn|step)]",
                f"{_IDLE} {TIME} and let player {{who:n}} (finish|work|pass|do {_ANY_WORK}"
                "|go [(first|ahead)]|act|move|take over)",
                f"[{_IDLE} and] let player {{who:n}} (act|move|go|play) (first|ahead) "
                f"[and {_IDLE}]",
                f"let player {{who:n}} (act|move|go|play|work|do it) and {_IDLE}",
                f"{_IDLE} and {_IDLE} {TIME}",
                f"(have|take) [(short|little|quick)] (break|rest) {TIME}",
                f"i (won't|will not|don't|do not) (do|touch) anything {TIME} [(now|here)]",
                f"[i make] no (move|action) [(from|for|by) me] {TIME}",
            ],
        ),
        ("look", ["look [around] [here]", "look around [(me|room)]", "observe"]),
        (
            "inventory",
            ["[check] [my] inventory", "(check|show) [my] (inventory|hands)", "list inventory"],
        ),
        ("examine", ["(examine|inspect|look at|study) ({thing}|it)",
                     "(look in|look inside|look into) it", "examine"]),
        ("look at", ["(examine|look at|study|look at what is (in|on)) {place}"]),
        ("visit", [f"{_VISIT} {_PLACE}"]),
        (
            "search",
            [
                f"[go] [and] {_SEARCH} ({_PLACE}|{{room}}) ({_SOUGHT}|{_WHY_THERE})",
                f"{_SEARCH_ROOM} {{room}} {_SOUGHT}",
                "([go] [and] see|inspect|(have|take) look at|take on|go see) {room}",
                f"(check|see|find out) what ({_PLACE}|{{room}}) "
                "(has|holds|contains|offers|hides|keeps)",
                f"check (content|contents|inside) of {_PLACE}",
                f"(look|search|hunt|check) for {_ANY} (in|on|at|inside|around) ({_PLACE}|{{room}})",
            ],
        ),
        ("help", ["help"]),
    ]  # fmt: skip
    phrases = [(what, [f"({way}) {_ENDING}" for way in ways]) for what, ways in phrases]
    return Grammar(phrases, slots)


@functools.lru_cache(maxsize=8)
def bare(catalog: Catalog) -> Grammar:
    """Answers that are no more than a name."""
    slots = _names(catalog)
    stop = "(stop|room|place|target|destination)"
    to = (
        "[[(on|over|off|back|through|[(quick|short)] (trip|walk|visit))] "
        "(to|into|towards|toward)|(bound|next stop|destination) [for]|[my] next "
        f"[{{unseen}}] [({stop}|candidate|one)] [is]|[my] (target|destination) [is]]"
    )
    i_go = (
        "(i (go|head|walk|move)|(i am|i'm) (going|headed|heading|off to|bound)"
        "|i (need|want) to (be|go))"
    )
    then = (
        f"[(with me|is where {i_go}|is next on [my] (list|agenda)"
        f"|is [my] [next] {stop}|go|here i (come|go)|is [my] next [{stop}]"
        f"|as my [next] {stop})]"
    )
    short = {
        "take": [
            "{thing}",
            "{thing} (from|off) {place}",
            "[next (is|come)] {thing} that is [still] (here|(on|in|at) {place})",
            "[(i'll|i will)] hold {thing}",
            "(i'd like|i would like|i'll have|i will have) {thing}",
            "not {out:thing} [.] [but] {thing}",
        ],
        "go": [
            f"{to} [{{how:unseen}}] {_WHICH} {_ALSO} {_PURPOSE} {then}",
            "{place} is up next",
            "(i|we) need {place}",
            f"(off|over|on|out) to {_WHICH} (i|we) go [now|next]",
        ],
        "room": [
            f"{to} ({{room}}|{_ROOM}) {_PURPOSE} {then}",
            "{room} is up next",
            "(off|over|on|out) to {room} (i|we) go [now|next]",
            "through door (to|into) {room} [(i|we) (go|walk|head|step)]",
        ],
        "put": [f"[my] {{thing}} [back] (into|onto) ({_WHICH}|{_BOX})"],
        "pack": ["[my] {thing} (in|inside) {box:thing}"],
        "wait": ["nothing"],
    }
    return Grammar({}, slots, short=short)
