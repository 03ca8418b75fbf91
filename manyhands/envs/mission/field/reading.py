"""Reading what agents on a field answer."""

from __future__ import annotations

import collections
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.env import IllegalAction, names_of
from manyhands.core.reading.answers import decide
from manyhands.core.reading.grammar import Grammar, Reading
from manyhands.core.reading.parts import REASON, Answer
from manyhands.core.reading.phrases import TIME, WAITING
from manyhands.envs.mission.aims import AREA, that_way, without_aim
from manyhands.envs.mission.field.effects import ahead, choices, word
from manyhands.envs.mission.field.events import body_name
from manyhands.envs.mission.field.look import (
    Look,
    beam_words,
    beyond,
    cell_words,
    letter,
    look_of,
    steps,
)
from manyhands.envs.mission.field.rooms import (
    IN_ROOM,
    TO_A_THING,
    TO_A_THING_IN_SHORT,
    TO_ONE,
    TO_ROOM,
    TO_ROOM_IN_SHORT,
    WAY_OUT,
    figures,
    pronouns,
    room_named,
)
from manyhands.envs.mission.field.state import (
    APPLE,
    BASE,
    BOX,
    BUTTON,
    CAUGHT,
    CELLS,
    COIN,
    COLUMNS,
    DIRT,
    DOOR,
    FLAG,
    GOAL,
    GOLD,
    GROUPS,
    HEADINGS,
    IRON,
    KEY,
    LAND,
    LOCKED,
    MACHINE,
    PLATE,
    ROWS,
    SOIL,
    WALK,
    WATER,
    FieldState,
)
from manyhands.envs.mission.field.verbs import AHEAD, GROWS, PLACE, REST, VERBS, WHO
from manyhands.envs.mission.text import (
    HOLD,
    MAKE_ROOM,
    NEXT_CELL,
    NO_MOVE,
    offered_action,
    opened,
    wait_for,
)

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

_GO = (
    "(go|move|step|walk|head|run|travel|proceed|advance|continue|keep going|keep moving|sneak"
    "|sprint|race|cut [across]|drop (down|back)|back [(off|away|up)]|slide|shift|hurry|jog"
    "|press on|push on|swing|creep|inch|edge|duck|circle [(round|around)]|slip|slip away|veer"
    "|climb|tiptoe|make my way|dodge|flee|escape|cross|fall back|retreat|withdraw|charge|dash|rush"
    "|get away|carry on|keep on|sidestep|drop|get|hop|back up|tuck myself|squeeze"
    "|return|come|turn [(around|round|back)] and (walk|go|head|move)|keep (go|head|walk|move)"
    "|(get|step|come|move|climb) (off|down from) (it|plate|button) and (walk|go|head|move)"
    "|(take|make) (a|one|1|another) [(single|more|further)] (step|move|pace))"
)
# In any direction, unlike "climb".
_WALK = "(go|move|step|walk|head|run|travel|proceed|advance|continue|hurry|make my way|dash|rush)"
_CELL = "(step|cell|square|field|tile|pace|space|row|column)"
_FAR = (
    f"[(one|1|a single|single|one more|1 more|another) [{_CELL}] [(further|more)]|a {_CELL}"
    f"|{_CELL}|over|back|straight|onward"
    "|due|further"
    "|now|first|right now|right away|again|once more|once again|one more time|one last time|in"
    "|inside|a bit|a bit further"
    "|aside|away|out of the way|(up|down|along|through) the (corridor|passage|hall|hallway)"
    "|(around|past|along) the (wall|box|crate|obstacle|edge|border|river|river bank|bank)]"
)
_AIM = "[(to|towards|toward)] [the]"
_THING = "[(the|a|an|that|this)] [{which:sided}] {thing} [(of|for|to) door {door:n}|{door:n}]"
_ALONG = "along [(the|this)] ((row|column) {n}|[(top|bottom|first|last)] (row|column|wall|edge))"
_ON = (
    f"[(to|onto|on|into|through) [cell|square] ({PLACE}|{_THING})|[(up|down)] to row {{row:n}}"
    "|[over] to column {column:n}|" + _ALONG + "]"
)
# What one may go towards, further away.
_TOWARDS = (
    "((towards|toward|(in|to) direction of|closer to|nearer to|to|for|into|onto|on|through) "
    f"({PLACE}|row {{row:n}}|column {{column:n}}|{_THING} [(at|on) {PLACE}]"
    "|{to:who} [s (cell|square|place|position)])|(after|at|behind|against) {to:who}"
    "|away from {off:who})"
)
_WHOSE = "({join:who} [s (cell|square|place|position|spot)]|{join:owner} (cell|square|place|spot))"
_SIDE = (
    "[(beside|next to|near) me|[just|right] (to|on|in|at) [my|the] {side:way} [side] [of me]"
    "|{side:way} [of me]|[just|right|directly] {side:near} [me]] [at {place}]"
).replace("{place}", PLACE)
_ONE = "({prey:who}|it|him|her|them|(the|their|our) [other] {thing})"
# What a move is for, and what a partner does meanwhile.
_AFTER = (
    "[[.] [(and|to)] (close in [on {ONE}]|(close|shorten) [the] (distance|gap) [to {ONE}]"
    "|(chase|pursue|corner|trap|intercept|follow|catch|meet|hunt|surround|flank|block) {ONE}"
    "|(cut off|head off|get closer to|catch up with|get at|go after|be after|approach|get near) "
    "{ONE}|(cut|head) {ONE} off|(hem|box|pin|shut) {ONE} in"
    "|(circle|swing|loop) (round|around) [{ONE}])"
    " [(against the (wall|edge)|in the corner|from {side:way}|there)]]"
).replace("{ONE}", _ONE)
_MATES = (
    "[[.] [(and|while|as)] ({mate:who}|(my|the|our) (partner|mate|team mate|teammate|other [one])) "
    "(cover|guard|watch|take|check|handle|block|hold|attack|chase|defend|go [for]|come from|head"
    "|keep|stay [on]|search|look after) [(the|our|their)] "
    "[({their:way}|other|rest|flag|goal|base|door|river|{prey:who})] "
    "[(side|flank|way|half|exit|end|direction|one)]]"
)
# How one goes.
_MANNER = (
    "[[.] (tiptoe [tiptoe]|step by step|hush [hush]|bit by bit|quick quick|chop chop|hop hop"
    "|(one|1) step at a time|nice and (slow|quiet|easy)|(quiet|silent) as a mouse|slow and steady)]"
)
_BESIDES = f"{_AFTER} {_MATES} {_MANNER}"
_HEADING = "[current] (direction|heading|course|way) [(that i face|i'm facing|i am facing)]"
_ONCE_MORE = "[for (1|one|another) [more] (step|turn|cell|move)]"
_FOR_ROOM = MAKE_ROOM.replace("{who:player}", "{for:who}")
# A part of the field by its side: "the northern patches".
_PART = (
    "[the] {way:sided} (side|half|part|area|edge|end|region|corridor|field|patch|apple|food|row"
    "|wall|tree|orchard|section|zone|column|room|passage|box|crate|cell|square)"
)
_WAYS = {
    "north": "up|upward|northward|n|\u2191|\u2b06",
    "south": "down|downward|southward|s|\u2193|\u2b07",
    "west": "left|leftward|westward|w|\u2190|\u2b05",
    "east": "right|rightward|eastward|e|->|\u27a1",
}
_DOOR = "[(the|that)] door [{hold:n}]"
_LAST = (
    "(for|out) [(the|my|these|those)] [{n}] (last|final|remaining|next|other) [{n}] "
    "[(frozen|idle|waiting)] (step|turn)"
)
_BESIDE = "(beside|next to|alongside)"
_STAY = [
    *WAITING,
    "(stay|wait|noop|none|pass|idle|skip|rest|chill|do nothing|no op|halt|pause|take no action) "
    f"{TIME}",
    "(stay|wait|remain|hold) [(here|there|where i am|in place|still|at my place|in [this|my] room)]"
    f" {TIME}",
    "(stay|remain|wait) in my (cell|place|room)",
    HOLD,
    "hold my place",
    f"(hold|keep|man|guard) my (post|station) [here] [((at|by|near|beside) [the|my] {{thing}})] "
    f"{TIME}",
    f"((guard|watch|hold) (this|my) (room|cell|place|spot)|[keep|stand|be on] guard [here]) {TIME}",
    f"(stay|wait|remain|hold) [(here|put|still|right here)] [on|at|in] [{PLACE}] {_LAST}",
    f"(stay|remain|wait|hold|stand) [here] [(at|on|in)] {PLACE} {TIME}",
    f"{REST} [(here|still|put)] [right] {_BESIDE} [(the|my)] [(frozen|tagged)] {{frozen:who}} "
    f"{TIME}",
    f"(keep|hold) my (position|place|ground|spot) [right] {_BESIDE} ([(the|my)] [(frozen|tagged)] "
    f"{{frozen:who}}|it|him|her|them) {TIME}",
    "[(keep|stay|remain|be|hold|sit)] (motionless|quiet|still|silent|immobile|unmoving) "
    f"[(here|where i am)] {TIME}",
    "(hold|stand|keep) my (ground|place|spot) [here]",
    f"[(keep|stay|remain|hold)] still and {HOLD}",
    "not move [(at all|now)] is [the] (safest|best|wisest|safe) [(thing|move|choice|plan)]",
    "keep [my] weight (on|upon) [(the|this|my)] plate",
    f"[keep|keep on] (hold|press|weigh) {_THING} down [for (you [{{who}}]|{{who}})]",
    f"{REST} [(here|on {_THING})] (and|to|so that i) (keep|hold) {_DOOR} {{held}} [for {{who}}]",
    "((guard|hide) here|(stay|remain|keep) (hidden|out of sight) [in (this|my) (cell|spot)])",
    "[keep|keep on] (stay|wait|stand|remain|sit|hold|(hold|keep) my (place|ground)) "
    "[(still|here|there|put|right here|exactly)] [right] "
    f"({{on:on}} ({PLACE}|my (cell|place|square|spot|tile)|{_THING}|my {{thing}}))",
    f"[keep|keep on] hold [down] ({_THING}|my {{thing}})",
    f"(keep|hold) {_DOOR} {{held}} "
    f"[(for {{who}}|by (stay|stand|wait) [(here|still|put|on {_THING})])]",
    "(stay|wait|hold [my] position|remain|keep back) [(here|there|put)] (and|to) (guard|defend"
    "|block|watch|protect|cover) [(the|our|my|this|their)] "
    f"(way|path|flag|goal|exit|door|room|base|land|line|side|corridor|patch|gap) {_MATES}",
    "do nothing [at all]",
    *wait_for("who"),
    "(stay|wait) [here] for [(another|a second|the other|other|one more)] {who} to "
    "(strike|mine|help|join|dig) [[with] ({ore}|me|it|too)]",
    *NO_MOVE,
    *GROWS,
    f"{HOLD} in (my|this) [(own|present|current)] (room|cell|place)",
]
_AT = "[(at|on|in)] (row {row:n} [and|.] (column|col) {column:n}|{pair_row:n} {pair_column:n})"
_STEPS_OFF = "[[.] [only] [(one|1|{far:n})] (step|cell|square) (away|off|from here|ahead)]"
_TOKEN = "[(the|our|this)] token [a]"
_BY = f"by {_GO} {_FAR} {_AIM} {{way}} [by] {_FAR} {_ON}"
_TAKE = "(take|grab|get|collect|pick|pick up|fetch|gather|seize|pocket|snatch|steal|capture)"


def _things() -> dict[str, tuple[int, ...]]:
    """Nouns with the codes of cells that they may stand for."""
    three = range(GROUPS)
    found = {
        "key": tuple(KEY + k for k in three),
        "plate|pressure plate": tuple(PLATE + k for k in three),
        "button|switch": tuple(BUTTON + k for k in three),
        "door|open door|opened door|doorway": tuple(DOOR + k for k in three),
        "goal|x|goal x|finish": (GOAL,),
        "apple|fruit": (APPLE,),
        "coin": tuple(COIN + k for k in range(4)),
        "box|crate": (BOX, LOCKED),
        "flag": (FLAG, FLAG + 1),
        "soil": (SOIL,),
        "water|river": (WATER, DIRT),
        "dirty water|dirt": (DIRT,),
        "clean water": (WATER,),
        "gold|gold ore": (GOLD,),
        "iron|iron ore": (IRON,),
        "ore": (GOLD, IRON),
        "generator|machine": (MACHINE,),
    }
    return {word: codes for names, codes in found.items() for word in names.split("|")}


_ORES = {"gold": (GOLD,), "gold ore": (GOLD,), "iron": (IRON,), "iron ore": (IRON,),
         "ore": (GOLD, IRON)}  # fmt: skip


@functools.lru_cache(maxsize=64)
def _grammar(actions: tuple[str, ...], token: bool = False) -> Grammar:
    """The phrases of a field, for its actions; and of the token that all move, if there is one."""
    phrases: list[tuple[str, list[str]]] = [("stay", _STAY)]
    if "tag" not in actions:  # which freezes others
        phrases.append(("stay", [f"freeze [(here|in place|where i (am|stand))] {TIME}"]))
    short: list[tuple[str, list[str]]] = []
    if "north" in actions:
        phrases += [
            ("go", [f"{_GO} {_FAR} {_AIM} {{way}} [side|direction] [by] {_FAR} {_ON} {_BESIDES}",
                    f"{_GO} [over|back] (to|onto|into) {NEXT_CELL}",
                    f"(take|occupy|claim) ({NEXT_CELL}|{PLACE})",
                    f"{_GO} {_FAR} [(up|down|over|back|on)] (to|towards|toward|into|for) {_PART}",
                    f"{_GO} {_FAR} [(back|towards|toward|to)] (home|(our|my) (side|half|land|base"
                    "|flag)) [.] {way} [first]",
                    f"[{_GO}] (into|to|onto) [the] (corner|edge|wall) (at|on|in) (row {{row:n}}"
                    "|column {column:n})",
                    "{way} is where (i|i'm|i'll|we|we're) [(am|are)] "
                    "(go|head|headed|walk|off to|bound|move)",
                    f"{_FOR_ROOM} [.] [(by|with|and|->)] [{_GO}|(1|one|a) {_CELL}] {_AIM} {{way}} "
                    "[side] [by] [(1|one|a)] [(step|cell|square)]",
                    "(take|choose|pick|try) [(the way|way|direction)] {way:course}",
                    "(my|the) only (way|option|direction) [(forward|on|out|left|open)] "
                    "(is|be|lead) [to] {way}",
                    "(to|first) step [(of|in|to) (that|it|this)] [.] [is] {way}",
                    f"{_GO} [(up|down|over|back|on)] (to|onto|into) (row {{row:n}}|column "
                    "{column:n})",
                    "(explore|search|scout|look around) [(to|in|towards|toward)] {way}",
                    "(my|the) [next] (step|move|way) (go|lead|take me|be) [to] [the] {way}",
                    f"(1|one|a|another) [more] [{_CELL}] [(further|more|back)] [to] [the] {{way}} "
                    f"{_FAR} [(the|this|my|that)] [(column|row|corridor)] {_ON} {_BESIDES}",
                    f"(carry|bring|take) [(the|my|this)] {{load:thing}} {_FAR} {_AIM} {{way}} "
                    f"{_FAR} {_ON}",
                    "[with] [(the|my)] {load:thing} in [my] hand [.] (i|i'll|let me) "
                    f"{_GO} {_FAR} {_AIM} {{way}} {_FAR} {_ON}",
                    "{way:rise} [(1|one|a|another)] [more] (row|cell|step)",
                    f"[{_GO}] (1|one|a|another) [more] {_CELL} {{way:height}} [down|up]",
                    f"{_GO} [over|back] (to|towards|toward|for) [the] {{way:flank}} "
                    "(side|half|part|edge|end) [of [the] (map|field|grid|board|room|arena)]",
                    "(take|choose|use|try|follow) [the] {way:sided} (way|path|route|exit|corridor"
                    "|option|direction|passage|side|road) [{_BESIDES}]".replace(
                        "[{_BESIDES}]", _AFTER),
                    f"{_GO} {_FAR} (into|in|to) [(the|this|that|my)] (nook|niche|corner|passage"
                    "|pocket|gap|opening|room|area|cell|dead end) (on|to|in) [(the|my)] {way} "
                    "[side] [of me]",
                    f"(leave|exit|quit|(come|get|go|slip) out of) {AREA} (by|through|via|to|towards"
                    "|on|in) [the] {way} [(side|exit|way|end|opening)]",
                    "[my] next stop is ({NEXT})".replace("{NEXT}", NEXT_CELL),
                    f"(1|one|a) {_CELL} [to] [the] {{way}} (bring|take|put|get|move) me "
                    "[(closer|nearer|next)] [(to|towards|away from|beside)] {prey:who}",
                    f"{_GO} {_FAR} (to|onto|on|into|through|towards|toward|for) [cell|square] "
                    f"({PLACE}|{_THING} {_SIDE})",
                    "(join|meet|follow|approach|chase|pursue|hunt|go after) {who} [(.|->)] "
                    f"[{_GO}] {_AIM} {{way}}",
                    f"{_GO} (around|past) the (wall|box|crate|obstacle) [by] {_AIM} {{way}}",
                    "(enter|reach|step on|stand on|get on|get onto|hop onto) "
                    f"({PLACE}|{_THING} {_SIDE})",
                    f"(enter|reach|step on|stand on|get on) {_THING} {_BY}"]),
            ("on", [f"(keep|keep on|continue|carry on|{_GO}) [{_GO}] [(in|on|with|to)] "
                    f"(this|that|my|the [very] same|the) {_HEADING} [as before] {_ONCE_MORE}",
                    f"(keep|hold|maintain) [to] (this|that|my|the [very] same|the) {_HEADING} "
                    f"[as before] {_ONCE_MORE}",
                    f"(1|one|another) [more] {_CELL} [in] (this|that|my|the [very] same) "
                    f"{_HEADING}"]),
            ("head", [f"{_WALK} {_FAR} [(up|down|over|back|on)] (to|towards|toward|for) {_THING}"]),
            # To the cell of another, which is beside the agent.
            ("join", [f"{_GO} [{{way}}] [over] (to|towards|toward|onto|into) {_WHOSE}",
                      f"(join|meet|follow) {{join:who}} [(at|in|on) [({PLACE}|row {{row:n}})]]",
                      "move in with {join:who}",
                      f"{_GO} [{{way}}] to where {{join:who}} (is|be|stand|wait)",
                      "(follow|go after) {join:who} {way}",
                      f"{_GO} {{way}} (behind|after) {{join:who}}"]),
            ("towards", [f"{_GO} {_FAR} {_AIM} {{way}} [by] {_FAR} {_TOWARDS}",
                         f"{_GO} {_FAR} {_TOWARDS} [{_ALONG}] [.] [in] {{way}} [first]",
                         f"(on|onward|off|back|over) {_TOWARDS} [.] {_AIM} {{way}} [side]",
                         f"{_TAKE} {_THING} [first] [.] [{_GO}] {_AIM} {{way}}",
                         f"(approach|close in on|get closer to|go after) {_THING} [.] [{_GO}] "
                         f"{_AIM} {{way}}",
                        f"{_GO} {_FAR} (towards|toward|to|for) {_THING} (in|to|on|at) {{way}} "
                        "[side] [of me]"]),
            ("take", [f"{_GO} {_FAR} {_AIM} {{way}} {_FAR} {_ON} and (take|get|eat|collect|grab"
                      f"|pick up) {_THING} [(at|on) {PLACE}]",
                      f"{_TAKE} [up] {_THING} {_SIDE} [up]",
                      f"(eat|harvest|munch) {_THING} {_SIDE}",
                      f"(eat|munch) (the|that|this) (one|1|snack) {_SIDE}",
                      f"{_TAKE} [up] ({_THING}|it) [up] {_BY}",
                      f"({_TAKE}|eat) [up] it [up]"]),
            ("push", ["(push|shove|move) [(the|this|that)] (box|crate) "
                      f"{_FAR} {_AIM} {{way}} {_FAR}",
                      f"(push|shove) [(the|this|that)] (box|crate) {_SIDE}",
                      f"(push|shove|slide|nudge) (it|[(the|this|that)] (box|crate)) {_FAR} {_AIM} "
                      f"{{way}} {_FAR} {_ON}",
                      f"[{_GO}] {{way}} [.] (and|to|->) (push|shove|move|slide|nudge) "
                      f"(it|[(the|this|that)] (box|crate)) [(along|on|away|up|down)]",
                      "give [(the|this|that)] (box|crate) [(a|one|another)] [more] (push|shove"
                      f"|nudge) {_FAR} {_AIM} {{way}}",
                      "{way} [.] (push|shove|move|slide|nudge) [(the|this|that)] (box|crate)"]),
            ("open", [f"(open|unlock|go through) [(the|this|that)] door [{{door:n}}] {_SIDE} "
                      "[with (my|the) key]",
                      f"(open|unlock) [(the|this|that)] door [{{door:n}}] [with (my|the) key] "
                      f"{_BY}",
                      f"use (my|the|this) key [(on|in|with|for|to open)] "
                      f"(the|this|that) door [{{door:n}}] {_SIDE}",
                      "use (my|the|this) key (on|in|with|for|to open) door {door:n}"]),
            ("face", ["(face|turn) [(to|towards|toward)] [the] {way}",
                      f"(face|turn) {{way}} (to|towards|toward) {_THING}",
                      f"(face|turn to|turn towards) {_THING} {_SIDE}"]),
        ]  # fmt: skip
        short += [("towards", [f"[straight|due] {{way}} {_FAR} {_TOWARDS}",
                               f"{{way:rise}} {_FAR} {_TOWARDS}",
                        f"{{way}} [.] [(there is|there's|for|to)] {_THING} [is] {_AT} "
                               f"{_STEPS_OFF}",
                               f"{_THING} [is] {_AT} [.] {_STEPS_OFF} [.] {{way}}",
                               f"{_TOWARDS} [{_ALONG}] [.] {{way}} [first]"]),
                  ("on", [f"[in] (this|my|the [very] same) {_HEADING} [again] {_ONCE_MORE}"]),
                  ("join", [f"{{way}} to {_WHOSE}"]),
                  ("go", ["{way} {same:arrow}", "{way:arrow} {same:way}",
                          f"to {_PART}",
                          "[(further|on|onward|deeper|back|further on)] (along|down|through|into|in"
                          f"|up) {AREA} (to|on|in|towards) [(my|the)] {{way}} [side] [of me]",
                          "[out of the way] {way} [into the corner]",
                          "{way} [(along|through)] the (corridor|passage|hallway)",
                          "[(up|down|over|back|on)] (to|into) (row {row:n}|column {column:n})",
                          "[straight|due] "
                          f"{_AIM} {{way}} [by] [(one|1|a) [{_CELL}]|again|once more] {_ON} "
                          f"{_BESIDES}",
                          f"{_AIM} {{way}} it is {_AFTER}",
                          "{way} (ho|bound)", NEXT_CELL,
                          f"[to] [cell|square] {PLACE}",
                          f"({{way:near}} me|[to] [my] {{way}} [side]) [.] {PLACE}"]),
                  ("take", [f"{_THING} {_SIDE}"])]  # fmt: skip
        if token:
            phrases.append(("go", [
                f"(move|push|bring|send|step|take|shift|let) {_TOKEN} [(go|move)] {_FAR} {_AIM} "
                f"{{way}} [by] {_FAR}",
                f"{_TOKEN} [(go|goes|move|moves|is to go|is to move|should go|should move|must go"
                f"|must move)] {_FAR} {_AIM} {{way}} [by] {_FAR}",
                f"[(move|push|bring|send|take|shift)] {_TOKEN} (to|onto|into) ({PLACE}|{_THING})",
                "(name|call|call for|say) {way} [direction] [(too|as well|again)]",
                f"(move|push|bring|send|take|shift|steer|guide|lead) it {_FAR} {_AIM} {{way}} "
                f"[by] {_FAR}",
                f"{_GO} {_FAR} {_AIM} {{way}} with {_TOKEN}",
                f"both {_GO} {_FAR} {_AIM} {{way}} {_FAR}",
                f"(i agree|agreed|i'm with you|i am with you) [with {{who}}] [.] [{_GO}] {_AIM} "
                "{way}",
                "(vote|vote for) {way} [(direction|way)]", "my vote [(is|goes to|is for)] {way}",
            ]))  # fmt: skip
    else:
        phrases += [
            ("in room", IN_ROOM),
            ("room of one", TO_ONE),
            ("room of a thing", TO_A_THING),
            ("way out", WAY_OUT),
            ("room", TO_ROOM),
            ("room", [
                "(go|move|walk|run|head|step|proceed|travel) from room {from:room} "
                "(to|into|over to|on to) room {room}",
                "goto room {room}",
                "go to room room {room}",
                "(join|meet|go to) {in:who} in room {room}",
                "(follow|chase|pursue|hunt|join) {who} [(to|into)] room {room}",
                "(take|use) [the] (exit|way|door|passage) (to|into|towards|toward) [room] {room}",
                "(chase|pursue|hunt|follow|catch) {who} (via|through|by way of) room {room}",
                "(get away|run away|flee|escape|run) from {who} [(to|into)] room {room}",
                "(go|run|flee|move|escape|retreat) (to|into) room {room} away from {who}",
                "(go|move|head|run|walk|off|be off) (to|for|towards|toward) "
                "(room {goal:room}|{thing} [(of|for|to) [door] {n}]|{who}) "
                "(via|through|by way of|by) room {room}",
                "(go|move|head|run|walk) (via|through|by way of) room {room} "
                "[(to|towards|toward) (room {goal:room}|{thing} [(of|for|to) [door] {n}]|{who})]",
                "(go|move|walk|run|head) 2 room {room}",
            ]),
        ]  # fmt: skip
        short += [("room", TO_ROOM_IN_SHORT), ("room of a thing", TO_A_THING_IN_SHORT)]
        short.append(("room number", ["[(to|into)] [#] {room}"]))
        phrases = [(meaning, _numbered(ways)) for meaning, ways in phrases]
        short = [(meaning, _numbered(ways)) for meaning, ways in short]
        short.append(("room", ["[(to|into|(on|off|back|over|onwards|onward) to)] room {room}"]))
    for verb in actions:
        if verb not in ("stay", *HEADINGS) and not verb.startswith("go to room "):
            own = VERBS.get(verb, [f"{verb} {WHO}", f"{verb} {AHEAD}"])
            # "I'm clean" is no action.
            bare = [verb] if verb != "clean" else []
            short.append((verb, [verb]))
            phrases.append((verb, [*bare, f"use [(the|my)] {verb} [beam]", *own]))
            if verb == "lock":
                phrases.append(("unlock", VERBS["unlock"]))
    if token:
        phrases.append(("stay", ["wait to hear [from] {who}",
                                 "wait to hear what {who} (say|answer|think|see)",
                                 "wait for {who} s (word|answer|message|reply|call|suggestion)",
                                 f"(don't|do not|dont|won't) move ({_TOKEN}|it) [at all] {TIME}",
                                 "(name|call|say) (nothing|no (way|direction)) [at all]",
                                 "(keep|leave|hold) [(the|our)] token [(where it is|here|there|in "
                                 "place|still)]"]))  # fmt: skip
    slots: dict[str, Any] = {
        "on": {
            "on": 0,
            "at": 1,
            "by": 1,
            "near": 1,
            "next to": 1,
            "beside": 1,
            "with": 1,
            "in": 0,
            "inside": 0,
        },
        "held": {"open": True},
        "rise": {"climb": 0, "climb up": 0, "ascend": 0, "descend": 1, "climb down": 1},
        "near": {"above": 0, "below": 1, "beneath": 1},
        "height": {"higher": 0, "higher up": 0, "lower": 1, "lower down": 1},
        "flank": {
            "left": 2,
            "left hand": 2,
            "right": 3,
            "right hand": 3,
            "top": 0,
            "upper": 0,
            "bottom": 1,
            "lower": 1,
        },
        "sided": {
            **{"northern": 0, "southern": 1, "western": 2, "eastern": 3},
            **{"upper": 0, "lower": 1, "left": 2, "left hand": 2, "right hand": 3},
        },
        "thing": _things(),
        "ore": _ORES,
        "who": {},
        "owner": {},
        "room": {},
        "figure": {},
        "it": {},
        "its": {},
    }
    slots["way"] = {
        word: HEADINGS.index(way) for way, also in _WAYS.items() for word in (way, *also.split("|"))
    }
    slots["way"]["^"] = 0
    slots["arrow"] = {word: way for word, way in slots["way"].items() if not word.isalpha()}
    slots["course"] = {
        word: way for word, way in slots["way"].items() if word not in ("up", "down")
    }
    keep = ("right", "left", "a", "first", "now", "then", "just", "again", "yeah", "away")
    return Grammar(phrases, slots, keep=keep, short=short)


def _numbered(patterns: list[str]) -> list[str]:
    """Patterns with all ways to name a room by its number: "rm 6", "room #6", "room no. 6"."""
    ways = "(room|rm|chamber) [(number|no|#)] {"
    return [pattern.replace("room {", ways) for pattern in patterns]


def parse(mission: Mission, text: Any, state: FieldState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not open to the agent now."""
    plan, look = mission.plan, look_of(mission, state, agent)
    if not look.open:
        raise IllegalAction("The episode is over; there is nothing to answer.")

    def refuse(reason: str) -> IllegalAction:
        allowed = names_of([word(mission, look, action) for action in look.open])
        return IllegalAction(f"{reason}. Answer with exactly one action: {allowed}.")

    def mean(answer: Answer) -> int | None:
        offered = offered_action(choices(mission, state, agent), answer.plain)
        if offered is not None:
            return offered
        named: set[int] = set()
        reason = ""
        phrases, slots = _grammar(plan.actions, bool(plan.token)), _slots(mission, agent)
        readings = phrases.read(opened(answer.plain), slots)
        for head in () if readings else without_aim(answer.plain, slots["who"]):
            readings = readings or phrases.read(opened(head), slots)
        for reading in readings:
            stated = answer.kind == REASON or answer.plain.startswith(_FACING)
            # "Take it: west" says again what west does.
            bare = answer.kind == REASON and reading == ("take", {})
            bare |= answer.kind == REASON and reading.meaning == "room number"
            if bare or (stated and _faces(look, reading)):
                continue
            action = _named(mission, state, look, agent, reading)
            if isinstance(action, str):
                reason = reason or action
            else:
                named.add(action)
        if reason and not named:
            # "I want the key at row 1, column 2, so I go west": that is where it leads.
            if answer.kind == REASON and reason == NOT_BESIDE:
                return None
            raise refuse(reason)
        if len(named) != 1:
            return None
        (action,) = named
        if action not in look.open:
            raise refuse(_why(mission, look, agent, action))
        return action

    return int(decide(that_way(text), mean, refuse, me=mission.agents[agent], written=text))


def _slots(mission: Mission, agent: int) -> dict[str, Any]:
    """Bodies by their names and kinds, things and rooms."""
    plan = mission.plan
    who: dict[str, tuple[int, ...]] = {
        name: (k,)
        for k in range(plan.bodies)
        if k != agent
        for name in (body_name(plan, k), *(() if plan.token else (letter(k),)))
    }
    for team in plan.teams:
        members = range(team.first, team.first + team.size)
        who[team.member] = tuple(k for k in members if k != agent)
        if not plan.token:
            who |= {f"{team.member} {letter(k)}": (k,) for k in members if k != agent}
    things = _things()
    marked = [KEY + k for k in range(GROUPS) if KEY + k in plan.used]
    things |= {CELLS[code].mark: (code,) for code in marked}
    for k, name in enumerate(mission.agents[:4]):
        mine = ("my coin", "my own coin") if k == agent else ()
        mark = CELLS[COIN + k].mark
        words = (f"coin of {name}", f"{name}'s coin", f"coin {mark}", f"{mark} coin", *mine)
        things |= dict.fromkeys(words, (COIN + k,))
    if len(plan.teams) > 1 and LAND in plan.used:
        for k, team in enumerate(plan.teams[:2]):
            whose = ("our", "my") if k == plan.of_team[agent] else ("their", "the other")
            codes = (LAND + k, BASE + k, FLAG + k)
            for land, wanted in (("land", codes), ("base", codes[1:]), ("flag", codes[2:])):
                words = (
                    f"{land} of the {team.name}",
                    f"{team.name} {land}",
                    f"{team.name}'s {land}",
                )
                things |= dict.fromkeys((*words, *(f"{own} {land}" for own in whose)), wanted)
    owners = {f"{name}'s": bodies for name, bodies in who.items()}
    return {
        "who": who,
        "owner": owners,
        "thing": things,
        "room": {name: name for name in plan.room_names},
        "figure": figures(plan),
        **pronouns(plan, agent),
    }


def _named(
    mission: Mission, state: FieldState, look: Look, agent: int, reading: Reading
) -> int | str:
    """The action of a reading, or why what it says does not hold here."""
    plan, values, name = mission.plan, reading.values, str(reading.meaning)
    if name == "stay":
        return _stays(look, values)
    if name == "in room":
        own = plan.room_names[look.own.column]
        return 0 if values.get("room", own) == own else f"you are in room {own}"
    if name in ("room", "room number", "room of one", "room of a thing", "way out"):
        own = plan.room_names[look.own.column]
        if values.get("from", own) != own:
            return f"you are in room {own}"
        if "in" in values and not any(
            body.number in values["in"] and plan.room_names[body.column] == values["room"]
            for body in look.others
            if body.row >= 0
        ):
            return f"nobody of that name is in room {values['room']}"
        return room_named(plan, look, name, values)
    if values.get("same", values.get("way")) != values.get("way"):
        return "it names two ways"
    if name == "on":
        known = "heading" in plan.features and look.own.row >= 0
        return 1 + int(look.own.heading) if known else "say which way"
    if name == "join":
        return _joins(look, values)
    if name == "towards":
        return _towards(look, values)
    if name == "head":
        return _heads(look, values)
    if "load" in values and look.own.carry not in values["load"]:
        return "you do not carry that"
    if name in ("go", "take", "push", "open", "face"):
        return _way(mission, state, look, agent, reading)
    if "at" in values and values["at"] != plan.room_names[look.own.column]:
        return f"you are in room {plan.room_names[look.own.column]}"
    here = int(look.cells[look.own.row, look.own.column]) if look.own.row >= 0 else -1
    if "door" in values:
        code = look.own.carry - KEY if name == "drop" else here - BUTTON
        if code + 1 != values["door"]:
            return f"that is not of door {values['door']}"
    if "facing" in values and values["facing"] != look.own.heading:
        return f"you face {HEADINGS[look.own.heading]}"
    if "cells" in values:
        told = [str(choice) for choice in choices(mission, state, agent)]
        if not any(f": {values['cells']} cell" in line.partition(": ")[2] for line in told):
            return "it is another number of cells"
    if "ore" in values:
        code, row, column = _first(look, plan.beams["mine"].length)
        if code not in values["ore"] or not _is_at(values, row, column):
            return "there is no such ore ahead of you"
    aimed = {"who", "side", "row", "pair_row"} if name in plan.beams else {"who"}
    if aimed & set(values) and not any(
        body.number in values.get("who", (body.number,))
        and _reached(mission, look, name, body)
        and _is_there(look, values, body)
        for body in look.others
    ):
        return f"nobody of that name is where your {name} reaches"
    if name in ("lock", "unlock") and "lock" in plan.verbs:
        locked = ahead(look) == LOCKED
        if plan.verbs["lock"] in look.open and locked != (name == "unlock"):
            return f"the box ahead of you is {'' if locked else 'not '}locked"
        name = "lock"
    return plan.actions.index(name)


def _faces(look: Look, reading: Reading) -> bool:
    """Whether a reading says no more than which thing the agent faces: "I'm facing the river"."""
    if reading.meaning != "face" or "way" in reading.values or "side" in reading.values:
        return False
    return ahead(look) in reading.values.get("thing", ())


def _stays(look: Look, values: dict[str, Any]) -> int | str:
    """Staying, if the agent is where a reading says."""
    own = look.own
    # To stay near one who can walk is to follow it.
    if "frozen" in values and not any(
        one.number in values["frozen"]
        and one.out
        and abs(one.row - own.row) + abs(one.column - own.column) == 1
        for one in look.others
    ):
        return "nobody of that name is frozen beside you"
    if own.row < 0 or not {"held", "thing", "row", "pair_row"} & set(values):
        return 0
    if "held" in values:
        here = int(look.cells[own.row, own.column]) - PLATE
        fits = 0 <= here < GROUPS and values.get("hold", here + 1) == here + 1
        return 0 if fits else "you are on no plate of that door"
    reach = "thing" in values and values.get("on", 0)
    for row, column in ((own.row, own.column), *(beyond(own, way) for way in range(4) if reach)):
        inside = 0 <= row < look.cells.shape[0] and 0 <= column < look.cells.shape[1]
        if inside and _is_at(values, row, column):
            code = int(look.cells[row, column])
            group = {code - first + 1 for first in (DOOR, PLATE, BUTTON, KEY)}
            if code in values.get("thing", (code,)) and values.get("door", min(group)) in group:
                return 0
    return "you are not there"


def _is_at(values: dict[str, Any], row: int, column: int) -> bool:
    """Whether a cell has the row and column that a reading names; of a bare pair of numbers either
    may be the row."""
    if "pair_row" in values:
        pair = values["pair_row"], values["pair_column"]
        return (row, column) in (pair, pair[::-1])
    return (row, column) == (values.get("row", row), values.get("column", column))


def _first(look: Look, length: int) -> tuple[int, int, int]:
    """The code, the row and the column of the first ore ahead; all -1 for none."""
    own = look.own
    for _ in range(length):
        row, column = beyond(own, own.heading)
        if not (0 <= row < look.cells.shape[0] and 0 <= column < look.cells.shape[1]):
            break
        own = own._replace(row=row, column=column)
        if int(look.cells[row, column]) in (GOLD, IRON):
            return int(look.cells[row, column]), row, column
    return -1, -1, -1


def _is_there(look: Look, values: dict[str, Any], body: Any) -> bool:
    """Whether a body is on the side and the cell that a reading tells."""
    if "side" in values and _side(look.own, body.row, body.column, int(values["side"])) <= 0:
        return False
    return _is_at(values, body.row, body.column)


def _reached(mission: Mission, look: Look, verb: str, body: Any) -> bool:
    """Whether a beam may reach a body, by its place."""
    beam, own = mission.plan.beams[verb], look.own
    down, across = body.row - own.row, body.column - own.column
    if beam.around:
        return abs(down) + abs(across) <= beam.around
    ahead_, aside = ((-down, across), (down, across), (-across, down), (across, down))[own.heading]
    return 0 < ahead_ <= beam.length and abs(aside) <= beam.radius


def _way(
    mission: Mission, state: FieldState, look: Look, agent: int, reading: Reading
) -> int | str:
    """The move of a reading: the only one that leads where it says, and does what it says."""
    plan, values, name = mission.plan, reading.values, reading.meaning
    told = {int(choice.action): str(choice) for choice in choices(mission, state, agent)}
    if look.own.row < 0:
        return _why(mission, look, agent, 1)
    codes = values.get("thing")
    if name in ("push", "open"):
        codes = (BOX, LOCKED) if name == "push" else tuple(DOOR + k for k in range(GROUPS))
    if codes and "door" in values:
        codes = tuple(code for code in codes if (code - DOOR) % GROUPS + 1 == values["door"])
        if not set(codes) <= set(range(DOOR, KEY + GROUPS)):
            return f"there is no such thing of door {values['door']}"
    sides = {int(values[label]) for label in ("way", "side", "which") if label in values}
    if len(sides) > 1:
        return "that is on another side"
    way = next(iter(sides), None)
    placed = {"row", "column", "pair_row"} & set(values)
    if way is not None and codes is None and not placed and name != "face":
        return 1 + int(way)
    fits = []
    for action in range(1, plan.moves + 1):
        row, column = beyond(look.own, action - 1)
        inside = 0 <= row < plan.size[0] and 0 <= column < plan.size[1]
        if not inside or (way is not None and way != action - 1):
            continue
        # "To row 3" is up or down.
        if (placed == {"row"} and row == look.own.row) or (
            placed == {"column"} and column == look.own.column
        ):
            continue
        here = codes is None or int(look.cells[row, column]) in codes
        if name == "take" and codes is None and way is None:  # "I pick it up"
            here = any(words in told.get(action, "") for words in (" and take ", " and eat "))
        if here and _is_at(values, row, column):
            fits.append(action)
    far = {"row", "column"} & set(values)
    if not fits and way is not None and codes is None and len(far) == 1:
        # "Down to row 5", from further up.
        away = _side(look.own, values.get("row", look.own.row),
                     values.get("column", look.own.column), int(way))  # fmt: skip
        if away > 0:
            return 1 + int(way)
    if len(fits) != 1:
        return NOT_BESIDE if not fits else "say which way"
    (action,) = fits
    does = {
        "take": (" and take ", " and eat "),
        "push": ("push the box",),
        "open": ("open door",),
        "face": (": turn to",),
    }
    goes = told.get(action, "")
    if name == "go" and ": turn to" in goes:
        return "you would only turn there"
    if name in does and goes and not any(words in goes for words in does[name]):
        return "that cannot be done there"
    return action


_FACING = ("i'm facing", "i am facing", "facing")
NOT_BESIDE = "that is not beside you"


def _towards(look: Look, values: dict[str, Any]) -> int | str:
    """The way that is named, if what it should lead towards is seen on that side."""
    own, way = look.own, int(values["way"])
    if values.get("which", way) != way:
        return f"what you name is not {HEADINGS[way]} of you"
    if "off" in values:
        near = [body for body in look.others if body.number in values["off"]]
        if near and all(_side(own, body.row, body.column, way) <= 0 for body in near):
            return 1 + way
        return f"{HEADINGS[way]} is not away from there"
    if "to" in values:
        goals = [(body.row, body.column) for body in look.others if body.number in values["to"]]
    elif "thing" in values:
        codes = values["thing"]
        if "door" in values:
            codes = tuple(code for code in codes if (code - DOOR) % GROUPS + 1 == values["door"])
        goals = [(y, x) for y, x in np.argwhere(np.isin(look.cells, codes)).tolist()]
        goals = [cell for cell in goals if _is_at(values, *cell)]
    elif "pair_row" in values:
        goals = [(values["pair_row"], values["pair_column"])]
    else:
        goals = [(values.get("row", own.row), values.get("column", own.column))]
    if any(_side(own, row, column, way) > 0 for row, column in goals) or _leads(look, goals, way):
        return 1 + way
    return f"what you name is not {HEADINGS[way]} of you"


def _heads(look: Look, values: dict[str, Any]) -> int | str:
    """The way straight to the one thing that is named, further off in the same row or column."""
    own, codes = look.own, values["thing"]
    if "door" in values:
        codes = tuple(code for code in codes if (code - DOOR) % GROUPS + 1 == values["door"])
    goals = np.argwhere(np.isin(look.cells, codes)).tolist()
    ways = [
        way
        for way in range(4)
        for row, column in goals
        if (row == own.row or column == own.column) and _side(own, row, column, way) > 1
        if values.get("which", way) == way and _leads(look, [(row, column)], way)
    ]
    return 1 + ways[0] if len(goals) == len(ways) == 1 else NOT_BESIDE


def _joins(look: Look, values: dict[str, Any]) -> int | str:
    """The step to the cell of another, beside the agent, that is named."""
    near = {(body.row, body.column) for body in look.others if body.number in values["join"]}
    ways = [way for way in range(4) if beyond(look.own, way) in near and _is_at(
        values, *beyond(look.own, way))]  # fmt: skip
    ways = [way for way in ways if values.get("way", way) == way]
    return 1 + ways[0] if len(ways) == 1 else NOT_BESIDE


def _leads(look: Look, goals: list[tuple[int, int]], way: int) -> bool:
    """Whether a step that way is on a shortest way to one of some cells, around what stands there;
    what is not in view counts as free, and so do doors."""
    rows, columns = look.cells.shape
    free = np.isin(look.cells, (-1, *WALK, *range(DOOR, DOOR + GROUPS)))
    steps_to = {goal: 0 for goal in goals}
    queue = collections.deque(steps_to)
    while queue:
        row, column = queue.popleft()
        for down, across in zip(ROWS, COLUMNS, strict=True):
            cell = row + down, column + across
            inside = 0 <= cell[0] < rows and 0 <= cell[1] < columns
            if inside and cell not in steps_to and free[cell]:
                steps_to[cell] = steps_to[row, column] + 1
                queue.append(cell)
    here = steps_to.get((look.own.row, look.own.column), 0)
    return steps_to.get(beyond(look.own, way), here) < here


def _side(own: Any, row: int, column: int, way: int) -> int:
    """How far a cell lies on one side."""
    return (own.row - row, row - own.row, own.column - column, column - own.column)[way]


def _why(mission: Mission, look: Look, agent: int, action: int) -> str:
    """Why an action is not open."""
    plan, own = mission.plan, look.own
    name = plan.actions[action]
    if own.out == CAUGHT or own.row < 0:
        return "you are out"
    if own.out:
        return f"you cannot act for {steps(own.out)}"
    if not plan.able[agent, action]:
        return f"your team cannot {name}"
    if action > plan.moves:
        if name in plan.beams:
            return f"you can {beam_words(plan, agent, 'your')} again in {steps(own.cool)}"
        return {
            "press": "there is no button where you are",
            "repair": "there is no broken generator where you are",
            "drop": "you carry no key, or are not on plain floor",
            "lock": "there is no box ahead of you",
        }[name]
    if plan.exits is not None:
        return f"no open exit leads from your room to room {plan.room_names[action - 1]}"
    row, column = beyond(own, action - 1)
    rows, columns = plan.size
    if not (0 <= row < rows and 0 <= column < columns):
        return f"{name} of you the field ends"
    return f"{name} of you is {cell_words(mission, int(look.cells[row, column]))}"
