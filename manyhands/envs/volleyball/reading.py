"""Ways to say skills, the options of a team, and motions, as `Grammar`s. `figures.LIST` stands for
a list of numbers."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable

from manyhands.core.reading.grammar import Grammar, Reading
from manyhands.core.reading.phrases import WAITING
from manyhands.core.reading.words import tokens
from manyhands.envs.volleyball import figures
from manyhands.envs.volleyball.rotors import HIGHER, LOWER
from manyhands.envs.volleyball.state import STEPPED

_WAIT = (*WAITING, f"[(keep|keep on)] wait [for] {figures.LIST} [more] (step|turn|tick|second)")

# ---- skills --------------------------------------------------------------------------------------

_BALL = "[(ball|it|this ball|this|this 1|that)]"
_ON = "[(keep|still|continue|keep on|go on|continue with|go on with|continue to|go on to)]"
_THERE = f"[(point|place|spot|position|coordinate|target)] [x y z|x y] [=] {figures.LIST}"
_THEIR = "(their|far|other|opposite|opponent|opponent's|enemy|opposing)"
_HALF = f"[(of|in|on|into) [{_THEIR}] (half|court|side|field)]"
_CORNER = f"[(corner|side|part|area|zone|edge)] {_HALF}"
_INTO = "(to|at|toward|into|in|towards|on|down|for)"
# "Back to the left" is said of a ball that is returned: "back" is a depth before a side alone.
_SPOT = (
    f"[{_THEIR}] ({{depth}} [(and|{_INTO})] [to] {{side}} {_CORNER}"
    f"|{{side}} [side] [(and|in|at)] {{depth}} {_CORNER}"
    f"|{{rear:depth of a corner}} {{side}} {_CORNER}"
    f"|{{side}} {{rear:depth of a corner}} (corner|part|area|zone) {_HALF})"
)
_TO = f"[{_INTO}]"
_HOW = (
    "[(over|over net|up|across|back|hard|high|softly|flat|fast|safely|gently|firmly|cleanly"
    "|straight)]"
)
_DRONE = "(far|near) {n}"
_WHOM = f"({_DRONE}|opponent|them|him|it|other (drone|team|1)|[their] (drone|player))"
_AWAY = (
    f"[([well] away from|far [away] from|out of reach (of|for)|past|behind) {_WHOM}"
    "|where (nobody|no 1|none of them) (stand|is|wait|be) [there]]"
)
# What a place is not: it must be another one.
_NOT = "(not|rather than|instead of|but not)"
_NOT_THERE = (
    f"[{_NOT} [to] [{{not depth:depth}}] {{not side:side}} {_CORNER}|{_NOT} {{not depth:depth}}]"
)
_FAR_MIDDLE = f"[(to|at|toward|towards|into|over|in|down)] {{middle}} {_HALF}"
_WHERE = (
    f"{_HOW} ([{{depth}}] [into {_THEIR} (half|court|side)] {_TO} {_THERE} [{_TO} {_SPOT}]"
    f"|{_TO} {_SPOT} {_NOT_THERE} [{_THERE}]|{_FAR_MIDDLE}"
    f"|{_TO} target) [over net] {_AWAY}"
)
_LIKE = "[(high|soft|safe|gentle|firm|quick|hard|flat|fast|good|controlled)]"
_MEET = f"[(meet|take|get under|get to|move under|go under|reach|go for) {_BALL} and]"
_FLY = (
    "(go|fly|move|head|travel|position myself|get|reposition|return|retreat|come|fall|drop|recover"
    "|float|drift|shift|climb|rise|descend|head out|make my way|rush|hurry|dash|back off|back up"
    "|pull back|run|slide)"
)
_NEXT = (
    "([(their|my|our)] (return|set|pass|serve)|[next] (ball|touch|shot|attack|hit)"
    "|[their] [next] (return|shot|attack|hit)|it)"
)
_ATTACK = f"(spike|attack|smash|block|receive|hit|play|set|pass|bump|dig) {_BALL}"
_READY = (
    f"[(((and|to) (get ready|be ready|wait|wait there|stay there|hold|hold there|hover there"
    f"|prepare|watch|stay ready)|ready [and waiting]) [for {_NEXT}] [there]|for {_NEXT}"
    f"|ready to {_ATTACK} [from there]"
    f"|(from where|where|so [that]) i (can|could|may) (reach|get to|cover|meet|wait for) {_NEXT}"
    f"|out of (the|my) way|to (make room|give (them|near {{mate:n}}) room))]"
)
# "Leave this ball to near_1 and ..."
_MAKING_ROOM = "[((make|give) [(them|him|her|some)] room|get out of (his|her|their|[the]) way) and]"
# "One step deeper" and "back a metre", which count nothing.
_TOWARD = r"(?:(?:closer|nearer|deeper|higher|lower|back|forward|up|down|left|right)\b|to the )"
_STEP = r"(?:a|an|one|1|two|2|half a|a half)[ -](?:m|met(?:re|er)s?|steps?|paces?)"
BY_A_STEP = re.compile(
    rf"\b{_STEP} (?=(?:further |farther |more )?{_TOWARD})"
    rf"|(?<=\bback ){_STEP}\b|(?<=\bup ){_STEP}\b|(?<=\bdown ){_STEP}\b|(?<=\bforward ){_STEP}\b",
    re.I,
)
# How a place lies to the present one, or to the court.
_MORE = (
    "(higher|lower|deeper|back|forward|further (back|forward|up|down|left|right)"
    "|farther (back|forward|up|down|left|right)|[further] (up|down|left|right)"
    "|to [the] (left|right)|(closer|nearer) (to|in to) [the] net"
    "|(farther|further|back|away) from [the] net|inward|outward|sideways)"
)
_SHIFTED = (
    "(same (spot|place|position|point|height) [but|only|just] [(bit|little|slightly|step|1 step)] "
    f"{_MORE}|[over] [(bit|little|touch|slightly|step|1 step|metre|1 metre|half metre|m|notch)] "
    f"[over] {_MORE} [up])"
)
_PART = (
    "(near|by|at|close to|next to|behind|in front of|in|on|up at|up to) [my|our] "
    "[(left|right|back|front|own)] (net|middle|centre|center|side|half|court|back|line|flank"
    "|corner|service line|back line)"
)
_AREA = "[my|our] [(left|right|back|front|own)] (middle|centre|center|side|half|court|back|flank)"
_HOME = (
    "(home|[my] (place|own place)|[my] home [(position|place|spot|base)]|base"
    "|my (base|spot|position|starting (position|place|point)|start position|base position))"
)
_MY_MIDDLE = "{middle} of (my|our|own|my own|near) (half|court|side)"
_WATCH = (
    f"[(and|to) (wait|watch|see) [(ball|it|them|{_DRONE}|what (they|{_DRONE}|other team) (do|will "
    "do|play))]]"
)
# A step that the place tells exactly: "step back a bit: fly to (3.9, 0, 1.6)".
_STEPPING = (
    f"({_FLY}|step) (back|forward|up|down|in|aside|deeper|higher|lower|away|over) "
    "[(a bit|a little|slightly|some|a touch|bit|little)] [(and|.)]"
)
_UP_AT_NET = "(get|go|move|fly|jump|rise|head|rush) [up|in|over] (at|to) [the] net"
_THEIRS = (
    "((its|his|her|their|this|that|far {n} s|near {n} s|opponent s|opponent's) "
    "(spike|attack|shot|hit|serve|ball|return)|it|ball"
    "|[their] (spike|attack|shot|hit|serve|return))"
)
# What one does at the net.
_STOP = (
    "[(and|to) (block|(hit|send) [back] (ball|it|whatever come|what come) [back] "
    f"[(if|when|should) (it|ball) come [(to|at) me]]|(stop|block|meet) {_THEIRS})]"
)
_LET_GO = (
    "(let (ball|it) (go|drop|fly|fall|land|pass|sail|be) [(out|by|past|through|long|wide|out of "
    "court|out of bounds)]|leave (ball|it) [(alone|be|go)])"
)
_MATE = "(near {mate:n}|[my] (team mate|teammate|others|partner))"
_LEAVE = (
    f"(leave (ball|it|this ball) (to|for) {_MATE}|let {_MATE} (take|play|have|handle|get) (ball"
    "|it))"
)

# Why one does not play it: "hover, it is not my ball yet".
_NOT_MINE = (
    "[.|-] [since|because|as] "
    "([(it|this|that|ball|it's|that's|this is|that is|it is)] (is not|isn't|not) "
    "(mine|my (ball|touch|turn|serve|job|play)) "
    "|(it's|this is|that's) [still] (near {mate:n}|my (partner|teammate)) s (ball|touch|turn|serve)"
    "|i (may|must|can|should) (not|no longer) (touch|play|hit) (it|ball)"
    "|i (can't|mustn't|cannot) (touch|play|hit) (it|ball)"
    "|(i'm|i am) not allowed to (touch|play|hit) (it|ball)) [to (touch|play|hit|take)] [(yet|now)]"
)
# Not to play the ball.
_SHUN = (
    "((keep|stay) [well] (away|clear|off|out of reach) [(from|of)] (ball|it|that ball|this 1)"
    "|avoid [any] (ball|contact [with ball]|touch ball|hit ball|play ball)"
    "|(no|without [any]) (contact|touch|hit|play) [with|of] [(ball|it)]|hand off [(ball|it)]"
    "|(don't|do not|not) (touch|hit|play|go for|chase|attack) (ball|it|anything))"
)
_TO_THEM = (
    f"(let {_WHOM} ((have|take|deal with|handle|play|get|hit|do|receive|try) "
    "(ball|it|this|that|this 1|this ball|this touch|next touch|next 1|work)"
    "|serve [(it|ball)]|receive|play|(do|get on with) [(its|his|her|their)] (job|thing|work))"
    f"|leave (ball|it|this 1|this ball|next touch) (to|for) {_WHOM})"
)
_STILL = (
    "(hover|stay|hold|remain|float|hang|do nothing|stand still|stand by|idle|stay still|keep hover"
    "|(hold|keep) [my] (position|place|spot|station|height|altitude)) "
    "[right|just|exactly] [(here|still|put|in place"
    "|where i am|in [the] air|steady|there|back)]"
)


@functools.cache
def skills() -> Grammar:
    """The skills by name (`skills.VERBS`), "go home" and "go middle", "receive far", and "touch",
    which names no skill but any that hits the ball."""
    return Grammar(_SKILLS, _PLACES)


def _played(verb: str, names: str) -> list[str]:
    """Ways to say that the ball is played to a place of the far half, as a `verb` or a thing."""
    thing = f"{_LIKE} ({names})"
    return [
        f"{_ON} {_MEET} {verb} {_BALL} [{_WHERE}|to]",
        f"(aim|direct|place|play|make|hit|send|try|go for|do|put) (my|a|1|the) {thing} {_WHERE}",
        f"(aim|direct|place|play|make|hit|send|try|go for|do|put) {{depth}} ({names}) "
        f"{_TO} {{side}} {_CORNER} {_NOT_THERE} [over net] {_AWAY}",
        f"{thing} {_WHERE}",
        f"{{depth}} {_LIKE} ({names}) {_TO} {{side}} {_CORNER} {_NOT_THERE} [over net] {_AWAY}",
        f"(target|aim for|aim at) {_SPOT} with [(my|1)] {thing} {_AWAY}",
        f"(send|play|put|hit|return) {_BALL} {_WHERE} with [(my|1)] {thing}",
        f"(send|play|put|hit|return) {_BALL} [back] with [(my|1)] {thing} {_WHERE}",
    ]


# Where a serve goes, which is always the middle of the far half, and what it is for.
_FAR_HALF = f"{_THEIR} (half|court|side|field)"
_ACROSS = (
    f"((over|across) [net] [(to|into|onto) ({_FAR_HALF}|other team|opponent)]|over"
    f"|(to|into|onto) {_FAR_HALF}|across)"
)
_MID = f"(middle|centre|center) [(of|in|on) {_FAR_HALF}]"
_TO_MID = f"(to|at|toward|into|in|for|over to|over into|onto|[straight] down) {_MID}"
_LANDING = f"(land|drop|fall|come down) (in|on|at|into) ({_MID}|{_FAR_HALF})"
_SENDING = "(send|lift|play|put|get|hit|bring|lob|carry|knock|drive)"
_TO_START = (
    f"(to|and|so as to|so [that] i [can]) ((start|begin|open|get) [this|my|our] "
    f"(point|rally|game|play|match) [(started|going|under way|off)]|{_SENDING} {_BALL} "
    f"({_ACROSS} [{_TO_MID}]|{_TO_MID}|in play|into play)|{_LANDING}|put ball (in|into) play)"
)
_SERVED = (
    "[(straight|high|safely|cleanly|gently|firmly|deep|softly|now)] [(enough|straight)] "
    f"[({_ACROSS} [{_TO_MID}]|{_TO_MID} [over net]|so that (it|ball) {_LANDING})] "
    f"[((aim|target) [it] [(for|at)] ({_MID}|{_FAR_HALF})|{_TO_START})]"
)
_FALLING = "[(meet|take|get under|go under) [falling|dropping|hanging|resting] (ball|it) and]"
_SERVE = [
    f"{_ON} {_FALLING} serve {_BALL} {_SERVED}",
    f"({_SENDING}|take|do|make|deliver|start with|begin with|open with|go for) "
    f"[(my|a|this|that)] serve {_SERVED}",
    f"(take|do|make|play|hit) [(my|a|this|that)] serve and {_SENDING} {_BALL} "
    f"({_ACROSS} [{_TO_MID}]|{_TO_MID})",
    f"{_SENDING} (ball|it) [({_ACROSS}|in play|into play|{_TO_MID})] (with|by) [(my|a|this)] serve "
    f"{_SERVED}",
    f"(start|begin|open|get) [(this|my|our)] [(point|rally|game)] [(started|going|under way)] "
    "(with|by) [(my|a|this)] serve "
    f"{_SERVED}",
]
# What going on leads to.
_ONWARD = (
    "[((that is|that's|which is) [(already|still|now)] (under way|underway|in progress|going on)"
    "|[(already|still)] (under way|underway|in progress)|to [the] end|over net"
    f"|(to|and) {_SENDING} ball {_ACROSS})]"
)
_CARRY = "(continue|keep on|carry on|go on|proceed|press on|keep going|keep at|keep)"
_MY = "[(my|the|this|that|same|current|same current)]"
_THERE_TOO = (
    "[(there|on|that way|towards it|to it|(to|for) (same|that) (place|spot|point|position))]"
)
_SKILLS = {
        "go on": [
            f"{_CARRY} [(with|on|through)] {_MY} {{what:doing}} "
            f"([[(at|to|toward)] {figures.LIST}]|{_ONWARD})",
            f"({_CARRY} [(with|on|through)]|stick with|stay (with|on)|finish|complete|see through"
            f"|follow through (with|on)|go through with) {_MY} {{what:serving}} {_SERVED}",
            f"{_CARRY} {{what:going}} [{{way}}] {_THERE_TOO}",
            f"{_CARRY} {{what:moving}} {{way}}",
            f"(stick|stay|remain) (with|on|to|at) {_MY} {{what:doing}} [{figures.LIST}]",
            f"(finish|complete|see through|follow through (with|on)|go through with) {_MY} "
            f"{{what:doing}} ([{figures.LIST}]|{_ONWARD})",
            f"see {_MY} {{what:doing}} through [to [the] end]",
            f"keep (going|pushing|flying) for {_MY} {{what:doing}}",
            f"{_MY} {{what:doing}} (go on|continue|is still on)",
        ],
        "hover": [
            f"[{_LET_GO} [(for now|for the moment)] and] "
            f"{_ON} (hover|stay|hold|stop|remain|float|hang|do nothing|stand still|stand by|idle"
            "|stay still) [right|just|about|roughly] "
            "[in [the] air] [(here|still|put|in place|where (i am|you are)|in [the] air"
            f"|on [the] spot|steady|there)] ({_WATCH} [and {_LET_GO}]|{_READY})",
            "(hold|keep|maintain) [(my|this|current)] (position|place|altitude|height|spot)"
            f" {_WATCH} [and {_LET_GO}]",
            "(remain|stay|keep) in [a] hover", "keep hover", "[a] [steady] hover",
            "stay as i am", "no op", "hover [for] (1|a) (second|sec|moment)",
            f"{_STILL} [(and|.|while)] ({_SHUN}|{_TO_THEM})",
            f"({_SHUN}|{_TO_THEM}|{_LET_GO}) [(and|.)] [i] [just] {_STILL}",
            f"({_STILL}|wait) {_NOT_MINE}",
            "((keep|stay) [well] (away|clear|off|out of reach) [(from|of)]|avoid) (ball|it)",
            "come to [a] (rest|stop|halt) [(about|right|just|exactly)] [(here|where i am)] "
            f"{_READY}",
            f"(come to [a] (rest|stop|halt)|hover|stay [where i am]|hold|stay out of it) [and] "
            f"({_LET_GO}|(don't|do not|not) touch {_BALL}|hover|{_LEAVE})",
            _LEAVE, "hold station", "keep still and save (energy|battery|power)",
            f"[i] {_ON} {_STILL} [(.|-)] (serve|ball|touch|next touch|it) "
            f"(belong to ({_MATE}|{_DRONE})|(is|be) {_DRONE} s)",
            "(hover|stay|hold|stand by|hang|float|wait) [back] [(here|where i am|still)] "
            f"for {_NEXT} [to come]",
            f"[drift no further and] (hover|hang|stay|hold) [back] [(here|where i am|still)] "
            f"[and {_LET_GO}]",
            "drift no further and (hover|hang|stay|hold [position])",
            "(hover|float|stay|hold|do nothing) [in place] (until|till) (they|{_DRONE}) serve"
            .replace("{_DRONE}", _DRONE),
            "(stay|remain|hover) in [the] air at my (place|spot|position)",
            "(hover|stay|wait|hold|do nothing) (until|till|for) [(the|their)] serve",
            "stay airborne [where i am]", "(hold|keep) [my] position me",
            f"{_LET_GO} [it (is|be) going out|it go out|it (will|be) land out] "
            f"[(and|so) (hover|stay [(here|put|where i am)]|hold [position]|wait)]",
            *_WAIT,
        ],
        "receive": [
            f"{_ON} {_MEET} (receive|pass|dig) {_BALL} [(safely|cleanly|well|high|up)]",
            "(receive|dig|take|meet) [their|this|that] serve",
            "(take|make|do) [a] (pass|receive|reception)", "receive serve",
            f"(take|meet|get|go for|play) {_BALL} and (pass|play|put|lift|pop) {_BALL} [high] [up] "
            "(to|for|over to) (setter|teammate|my teammate|[the] 1 who sets)",
            "[((ball|it|this|this one|this 1|[(first|next|1)] (touch|ball)) (is|be) mine|(i got"
            "|i have"
            "|i've got|got) (it|this)|mine) [.] [so|and]] (pass|receive|play|dig|pop|put|lift) "
            "[(ball|it)] [high] [up] (to|for|over to|up to) (setter|my setter|teammate|my teammate"
            "|[the] 1 who sets)",
            "receive [(ball|it|serve)] and (pass|play) [(ball|it)] [high] to (setter|teammate)",
        ],
        "receive far": [
            f"(just|simply) (return|play back) {_BALL} [(safely|safe)]",
            f"(return|send|play) {_BALL} [back] [high] (to|into|toward) {{middle}} {_HALF}",
            f"(return|send|play|put) {_BALL} [high] [back] [high] [over] [net] [high] (to|into"
            f"|toward) "
            f"{_THEIR} {{middle}}",
            f"{_MEET} receive {_BALL} [serve] [and (play|send|pass) {_BALL}] [high] [back] (to|into"
            f"|toward) {{middle}} {_HALF}",
        ],
        "serve": [*_SERVE, "go [and] serve", "serve [for] [my team]",
                  f"serve {_BALL} far [(half|side|court)]", f"serve {_BALL} middle"],
        "block": [f"{_ON} block {_BALL} [at net]",
                  f"{_ON} (stay [put]|wait|remain|stand [ready]|hang|camp|hold|defend|guard"
                  "|cover|be) "
                  f"[up] (at|by) net {_STOP}",
                  f"{_ON} (guard|hold|cover|defend) net [and wait [for (ball|it)]]",
                  "(keep|hold|stay with|stick with|maintain|stay on|remain (on|with)) [(my|the)] "
                  "block [(up|on|there)] [at net]",
                  f"{_ON} (get|stay|wait|stand|be|hover|move) in front of ball at net {_STOP}",
                  "meet ball at net",
                  "(do|play|perform|go for|make|try|continue|keep up|take up|set up|form|get into"
                  "|fly|man) block [at net]",
                  "(go|fly|move|get|head) [up] to net for block",
                  "(be|put up|form|make|build|act as) wall at net",
                  f"(man|close|seal|shut) net [{_STOP[1:-1]}]",
                  "(get|be) [(ready|in position|into position|in place)] to block [at net]",
                  f"{_UP_AT_NET} {_STOP[1:-1]}", "[(go|fly|move)] [up] to net and block",
                  f"(wait|stand|stay) (at|by) net for {_NEXT}",
                  f"(take up [my] (place|post|position)|take [my] (post|position|station)) at net "
                  f"{_STOP}",
                  f"(station|position|place) myself at net {_STOP}",
                  "(net|block|blocking) duty", f"{_ON} (i was|was) block and (keep|stay) at it",
                  "(i'm|i am) blocker",
                  "(keep|keep on|carry on|continue|go on) (with [my] block|blocking)",
                  f"[{_UP_AT_NET} and] (put|put up|set up|form|do|make|go for) [a] block "
                  f"[(on|to|against) {_THEIRS}] [at net]",
                  f"[{_UP_AT_NET} (and|to)] block {_THEIRS} [at net]",
                  "go up for [a] block [at net]", f"(go|move) to net and block {_BALL}",
                  "wait at net",
                  f"(stay|wait|hover|stand|be|hold) at net (and|to|for) block {_BALL} [there]",
                  f"(go|go and|go up to net and|move up to net and) block {_BALL} [at net]"],
        "go to": [f"(my|the) [next] (place|target|position|destination|spot|goal|stop) (is|will "
                  f"be) {_THERE}",
                  f"({_SHIFTED}|{_PART}) [.] {_ON} [{_FLY}] [to] {_THERE} {_READY}",
                  f"{_ON} ({_FLY}|(position|place|station) myself|wait|stand|stand by|hover) "
                  f"({_SHIFTED}|{_PART}) [.] [(at|to)] {_THERE} {_READY}",
                  f"(cover|guard|hold|defend|watch|keep|protect) {_AREA} (at|from) {_THERE} "
                  f"{_READY}",
                  f"[(to|for|toward|towards)] [my] (same|old|last|previous) "
                  "(place|target|position|destination|spot|goal) [(as before|again|as last time)] "
                  f"{figures.LIST}",
                  f"{_ON} {_FLY} (up|down|over|across|out|forward|straight) (to|toward) "
                  f"{figures.LIST} {_READY}", f"to {figures.LIST} {_READY}",
                  f"(position|place) {figures.LIST}",
                  f"(make for|take [up] [my] (position|place|station|post) [(at|on)]|station "
                  f"myself at|be at|get ready at|(wait|stand by) [(behind|back)] at"
                  f"|(stay|hold) (behind|back) at) "
                  f"{_THERE} {_READY}",
                  f"{_ON} {_FLY} [back] [over] (to|toward) (middle|centre|center) [(at|to)] "
                  f"{figures.LIST} {_READY}",
                  f"[{_LEAVE} and] {_MAKING_ROOM} [{_STEPPING}] {_ON} {_FLY} "
                  f"[(to|toward|towards|for|over to|back to|at|back|under it to)] "
                  f"[{_THERE}] {_READY}",
                  f"(take|take up|occupy|hold|fill|claim) {_THERE} {_READY}"],
        "go home": [f"{_ON} {_FLY} [back] [to] {_HOME} [(at|to)] [{figures.LIST}] {_READY}",
                    f"back [to] {_HOME} {_READY}",
                    f"take [up] (my|the) [home] place [again] [at] [{figures.LIST}] {_READY}"],
        "go middle": [f"{_ON} {_FLY} [back] (to|into) {_MY_MIDDLE} [(at|to)] [{figures.LIST}] "
                      f"{_READY}", f"{_ON} {_FLY} back to (middle|centre|center) {_READY}"],
        "bump to": [*_played("bump", "bump|lob|high ball|high arc"),
                    f"(send|return|lob|play|hit) {_BALL} in [high] arc {_WHERE}",
                    f"lob {_BALL} {_WHERE}"],
        "pass to": [f"(pass|play|put|pop|lift|float) {_BALL} (up|high|softly|high up) (to|toward) "
                    f"{_THERE} [for ({_DRONE}|[my] teammate|[the] attacker)]",
                    f"(pass|put up|lift) {_BALL} (to|toward) {_THERE}"],
        "set to": [f"{_ON} {_MEET} set {_BALL} [{_HOW} {_TO} {_THERE}|to] [for ({_DRONE}|[my] "
                   f"teammate|[the] attacker)] [to (spike|attack|hit)]",
                   f"set {_BALL} up [{_TO} {_THERE}]",
                   f"set {_BALL} [up] [{_HOW}] for ({_DRONE}|[my] teammate|[the] (attacker|spiker"
                   f"|hitter)) {_TO} {_THERE}",
                   f"set {_BALL} [up] [{_HOW}] {_TO} {_THERE} for [my] (spiker|hitter|attacker)"],
        "spike to": [
            *(
                "[(put it away|finish (it|rally|point)|attack|kill it|end (it|rally|point)) [and]] "
                + way
                for way in _played("(spike|smash)", "spike|smash")
            ),
            f"(hit|play|strike|drive|slam|hammer|pound) {_BALL} [really|very|as] (hard|flat and "
            f"fast"
            f"|fast and flat|flat|fast|with (power|force)|down hard|hard down) [as i can] {_TO} "
            f"{_SPOT} {_AWAY}",
            f"(attack|hit|strike|finish) {_BALL} {_HOW} {_TO} {_SPOT} with [(my|1)] {_LIKE} "
            f"(spike|smash) {_AWAY}",
        ],
        "touch": ["(touch|hit|play|strike) (ball|it|this ball)"],
}  # fmt: skip
_DEPTHS = {
    **dict.fromkeys(("deep", "long", "rear", "deep back"), "deep"),
    **dict.fromkeys(("short", "front", "close", "near net", "close to net"), "short"),
    **dict.fromkeys(("medium", "mid court", "mid", "mid depth"), "medium"),
}
_PLACES = {
        "depth": _DEPTHS,
        "depth of a corner": {"back": "deep", "far back": "deep"},
        "side": {
            **dict.fromkeys(("left", "left hand"), "left"),
            **dict.fromkeys(("right", "right hand"), "right"),
            **dict.fromkeys(("middle", "centre", "center", "straight"), "middle"),
        },
        "middle": dict.fromkeys(("middle", "centre", "center"), "middle"),
        "doing": {
            **dict.fromkeys(("spike", "smash", "attack", "kill"), "spike to"),
            **dict.fromkeys(("bump", "lob"), "bump to"),
            **dict.fromkeys(("set",), "set to"),
            **dict.fromkeys(("receive", "reception", "dig"), "receive"),
            **dict.fromkeys(("serve",), "serve"),
            **dict.fromkeys(("flight", "trip", "way", "course", "path", "approach"), "go to"),
        },
        "serving": {"serve": "serve"},
        "going": dict.fromkeys(
            ("fly", "flying", "moving", "move", "heading", "going", "head", "travelling"), "go to"
        ),
        "moving": dict.fromkeys(
            ("drop", "dropping", "fall", "falling", "backing", "retreating", "climbing", "rising",
             "step", "stepping", "drifting"), "go to"
        ),
        "way": {
            **dict.fromkeys(("back", "deeper", "backward"), "back"),
            **dict.fromkeys(("forward", "in", "to the net", "to net", "toward net"), "forward"),
            **dict.fromkeys(("up", "higher"), "up"), **dict.fromkeys(("down", "lower"), "down"),
            **dict.fromkeys(("left", "to the left"), "left"),
            **dict.fromkeys(("right", "to the right"), "right"),
        },
}  # fmt: skip


def with_place(text: str) -> tuple[str, list[float] | None]:
    """A sentence with `figures.LIST` in place of the place in it, and the place."""
    plain = BY_A_STEP.sub("", text)
    return figures.split(plain, ("x", "y", "z|height|altitude"), "m|metres?|meters?")


# ---- options of a team ---------------------------------------------------------------------------

# "Our best play is ...": what is played comes after it.
PLAY = re.compile(
    r"^(?:(?:keep|stick with|stay with|stick to|keep to) )?"
    r"(?:(?:our|my|the|a|best|standard|usual|next|normal|quick|first|same) ){0,3}"
    r"(?:play|attack|plan|combination)(?: (?:is|will be):?|:) "
)


def _ways(*parts: Iterable[str]) -> list[str]:
    """Every way to take one word of each part."""
    return [" ".join(" ".join(way).split()) for way in itertools.product(*parts)]


_IT, _SIDE = ("", "it", "ball", "the ball"), ("", "side")
_PLAY = ("pass", "receive", "dig", "play", "bump")


def _for(role: str) -> list[str]:
    """ "to the setter" and the like, or nothing."""
    near = ("to", "straight to", "directly to", "right to", "for", "before", "up to", "up for")
    return ["", *_ways(near, ("", "the", "our", "my"), (role,))]


_TO_SETTER, _TO_ATTACKER = _for("setter"), _for("attacker")
_FLYING = ("go", "move", "fly", "shift")
_BACK = ("", "to", "to the", "to the back", "back", "back to the")
_TO_SIDE = ("", "to", "to the", "on the", "down the", "down", "at the", "to their")
_PASSING = {
    "pass high": [
        *_ways(_PLAY, _IT, ("high",), ("", "up"), _TO_SETTER),
        *_ways(("", "make", "play"), ("high pass", "high reception", "high receive"), _TO_SETTER),
    ],
    "pass quickly": [
        *_ways(_PLAY, _IT, ("quick", "quickly", "fast", "short"), _TO_ATTACKER),
        *_ways(("", "make", "play"), ("quick pass", "fast pass"), _TO_ATTACKER),
    ],
}
_LEAVING = ("", *_ways(("leave", "let"), ("it", "ball", "the ball"), ("", "go", "alone"), ("and",)))
_GOING = {
    "go left": _ways(_LEAVING, _FLYING, _BACK, ("left",), _SIDE),
    "go right": _ways(_LEAVING, _FLYING, _BACK, ("right",), _SIDE),
    "go to the middle": _ways(
        _LEAVING, _FLYING, _BACK, ("middle", "centre", "center"),
        ("", "at back", "at the back", "of the back", "back", "deep"),
    ),
}  # fmt: skip
_TO_GO = {
    "go left": ["to left", "to the left", "to left side", "to the left side"],
    "go right": ["to right", "to the right", "to right side", "to the right side"],
    "go to the middle": ["to middle", "to the middle", "to centre", "to the centre"],
}
_LIFTING = ("put", "lift", "pop", "lay", "toss")
_SETTING = {
    "set": [
        *_ways(("set",), _IT, ("", "up"), _TO_ATTACKER),
        *_ways(_LIFTING, _IT[1:], ("up",), _TO_ATTACKER),
    ]
}
_SPIKING = {
    f"spike {side}": [
        *_ways(("spike", "attack", "hit", "smash", "finish"), _IT, _TO_SIDE, (side,), _SIDE),
        *_ways(("", "attack with"), (f"{side} spike",)),
    ]
    for side in ("left", "right")
}  # fmt: skip
_REST = {
    "go": ["go", "get ready", "stand ready", "prepare", *_ways(
        ("go to", "wait near", "wait at", "move to", "fly to", "stay near", "stay at"),
        ("net", "the net"))],
    "hover": ["hover", "wait", "stay", "hold", "do nothing", "stand still", "stay put", "nothing",
              "hold position", "keep still", "rest"],
}  # fmt: skip
ROLES = ("receiver", "setter", "attacker")
_WILL = "[(=|-|to|will|should|must|is to|do)]"
_ALL = (
    "[(all [3] role|role|all of them|3 of us|all|everyone|everybody|we all|all of us|all drone"
    "|whole team|team|all 3)]"
)
# Which role does what follows from the verb, where the role is not named.
_AND = " [.] [-] [(and|and then|while)] "
# "To the setter, who sets it."
WHO = re.compile(r"\b(receiver|setter|attacker),? who (?:then )?")
# A purpose that is an order as well: "pass high for the attacker to spike left".
_THEN = r"(?:set|spike|attack|smash|finish)(?:s|es)?\b"
_FOR_WHOM = re.compile(
    r",? (?:for|so that) (?:the |our )?(?P<who>receiver|setter|attacker) (?:to|can) "
    rf"(?={_THEN}|hit\b)",
    re.I,
)
_DENIED = re.compile(r"n't\b|\b(?:not|never|no|without|instead|rather|refuse)\b", re.I)
_IN_ORDER = re.compile(
    r"(?P<first>\b(?:pass|set|receive|dig)(?:s|es)?\b(?:(?!receiver|setter|attacker)[^.;:!?\n])"
    r"{0,40}?)(?:,? and|,)? "
    rf"(?:to|in order to|so (?:that )?(?:we|they) can) (?={_THEN})",
    re.I,
)


def plain_orders(text: str) -> str:
    """What a team is to do, with its purposes as orders; what is denied stays as it is."""
    if _DENIED.search(text):
        return text
    return _IN_ORDER.sub(r"\g<first>; ", _FOR_WHOM.sub(r"; \g<who> ", text))


_BARE = {"receiver": "passing", "setter": "setting", "attacker": "spiking"}


def _orders(count: int) -> Iterable[tuple[str, ...]]:
    return itertools.permutations(ROLES, count)


@functools.cache
def options() -> Grammar:
    """What a team's drones do, by roles ("option"), and that all of them wait ("wait")."""
    return Grammar(_OPTIONS, _DOES)


_OPTIONS = {
        "option": [
            "[(let|have|make)] " + _AND.join(f"{role} {_WILL} {{{role}:does}}" for role in roles)
            for count in (1, 2, 3)
            for roles in _orders(count)
        ]
        + [
            _AND.join(
                f"([{role} {_WILL}] {{{role}:{_BARE[role]}}}|{role} {_WILL} {{{role}:does}})"
                for role in roles
            )
            for count in (1, 2, 3)
            for roles in _orders(count)
        ]
        + [
            _AND.join(f"{{{role}:does}} (by|from|for) {role}" for role in roles)
            for count in (1, 2, 3)
            for roles in _orders(count)
        ]
        + [  # two roles do the same
            pattern
            for a, b, c in _orders(3)
            if b < c
            for one in (f"{a} {_WILL} {{{a}:does}}", f"{{{a}:does}} (by|from|for) {a}")
            for two in (f"[both] {b} and {c} {_WILL} [both] {{{b}+{c}:does}}",
                        f"[both] {c} and {b} {_WILL} [both] {{{b}+{c}:does}}")
            for pattern in (one + _AND + two, two + _AND + one)
        ],
        "wait": [f"{_ALL} (hover|stay|wait|hold|do nothing|stand still|remain|stay put"
                 "|hold position)",
                 f"[{_ALL} (hover|stay|wait|hold) and] {_LET_GO} [{_ALL} (hover|stay|wait|hold)]",
                 "nobody (move|act|fly|go anywhere)", f"{_ALL} (stay|hold) (here|in place|where "
                                                      f"[(we|they)] are)",
                 *WAITING],
}  # fmt: skip


def _table(*verbs: dict[str, list[str]]) -> dict[str, str]:
    """What each way to say something means."""
    return {way: name for known in verbs for name, ways in known.items() for way in ways}


_DOES = {
    "does": _table(_PASSING, _SETTING, _SPIKING, _GOING, _TO_GO, _REST),
    "passing": _table(_PASSING, _GOING),
    "setting": _table(_SETTING),
    "spiking": _table(_SPIKING),
}


# ---- motions -------------------------------------------------------------------------------------


@functools.cache
def motions() -> Grammar:
    """The named actions of motors, rates and velocities, and four numbers."""
    return Grammar(_PHRASES, _MOTION_SLOTS)


# What the four numbers of an action may be called.
LABELS = {
    "rotors": ("front right", "back left", "front left", "back right"),
    "ctbr": ("x|roll|roll rate", "y|pitch|pitch rate", "z|yaw|yaw rate", "thrust"),
    "velocity": ("x|vx", "y|vy", "z|vz", "yaw|yaw rate|turn|turning"),
    "position": ("x", "y", "z|height", "yaw|heading|nose|degrees|angle"),
}
LABELS |= dict.fromkeys(STEPPED, LABELS["rotors"])
_GO = (
    "(go|move|fly|run|drift|head|shift|slide|slip|travel|zoom|glide|float|edge|ease|nudge|scoot"
    "|inch|creep|crawl|accelerate|push)"
)
_SOME = (
    "[(a little|a bit|slightly|slowly|gently|some|a little bit|straight|directly|back|a touch|over"
    "|across|on [the] spot|in place|where i am|myself|drone|yourself|some more|a little more|a "
    "fraction"
    "|little|bit|touch|fraction|tad|a tad|little bit)]"
)
_WARD = "[to|toward] [my|its] {side} [side|hand side]"
_TURN = "((turn|rotate|yaw|spin|swivel|pivot) [round|around])"
_STILL = (
    "(hold|hover|stay|wait|stop|freeze|remain|float|keep hovering|hang|brake|halt|pause) "
    "[(here|still|steady|put|in place|in [the] air|on [the] spot|where (i am|you are)|moving|there"
    "|in position|in my place)]"
)
_HEIGHT = "(height|altitude)"
# What a motion is for: whoever flies into the ball hits it.
_TOUCH = "[(and|to) (hit|meet|strike|reach|touch|head|bump|punch|smash|catch) (ball|it)]"
_PHRASES = {
    "still": [_STILL, *_WAIT,
              f"{_STILL} [.] [(it|this|that|[next] ball) (is|be)|it's|that's|this is] not (mine|my "
              "([next] (ball|touch|turn|serve)))",
              f"(hold|keep|maintain) [(my|this|current)] (position|{_HEIGHT}|place|spot)",
              "(stop|halt|brake|pause) and (stay|hover|hold|wait|remain|float) "
              "[(here|there|put|where i am|in place)]",
              "(remain|stay|keep|float|hang) in [a] [steady|stable] hover",
              "(come|bring (myself|drone)) to [a] (standstill|stand still|hover|[dead|full"
              "|complete] stop)",
              "keep [the] hover",
              "(keep|stay) (level|steady) and (hover|hold [position]|wait)",
              "[a] [short|quick|full|brief] stop [here]",
              "[a] [steady|stable|quiet] hover", "(stand|keep) still", "do nothing", "no op",
              "(not|don't|do not|won't|will not|not to) (move|budge|go anywhere) "
              "[(at all|from here|an inch|anywhere|now|yet)] [.] [(hover|hold|stay|wait)]",
              "(0|zero|no) (velocity|speed|motion|movement) [in (all|every) (axis|direction)]",
              "stay as i am", "(stay|keep|hold|remain|hover) (level|steady|still|flat) and "
              "(level|steady|still|flat)", "(park|hang) in [the] (air|mid air|midair)",
              "come to [a] (rest|stop|halt)",
              "(put|hit|apply) [the] brake [on]", "kill [all] [my] (speed|velocity|momentum)",
              "come to [a] (rest|stop|halt) and stay [there|here]"],
    "up": [f"{_GO} {_SOME} (up|upward|higher) {_SOME}",
           f"(climb|rise|ascend|lift off) [straight] [up|higher] {_SOME}",
           f"(jump|leap|soar|spring) [straight] (up|higher) {_SOME}",
           f"(jump|leap) (.|and) {_GO} (up|higher) {_SOME}",
           f"(gain|increase|raise) {_SOME} [more] [of] [my] {_HEIGHT}", "lift up",
           f"[(give it|give me|add|put on|use|apply)] {_SOME} more [(lift|power|thrust|throttle)] "
           "(lift|power|thrust|throttle)".replace("[(lift|power|thrust|throttle)] ", ""),
           f"(throttle|power) up {_SOME}",
           f"(increase|raise|boost|up) [my] (thrust|power|throttle|lift) {_SOME}",
           f"(climb|rise|ascend) {_SOME} (up|higher|upward) {_SOME}",
           f"{_SOME} [of] [more] {_HEIGHT}", f"[some|a bit|a little] more {_HEIGHT}",
           f"(come|get|take (myself|drone)) {_SOME} (up|higher) {_SOME}",
           f"let (myself|drone) (rise|climb|ascend|float up|go up) {_SOME}",
           f"({_GO}|get|come) {_SOME} (up|upward|higher) {_SOME} (to|toward|into|under|at) "
           "(ball|it)",
           f"(rise|climb|ascend) {_SOME} (to|toward|into|under|at) (ball|it)",
           f"(raise|lift) (myself|me|drone) [up] {_SOME}", f"(rise|climb|ascend) up {_SOME}"],
    "down": [f"{_GO} {_SOME} (down|downward|lower) {_SOME}",
             f"(sink|descend|lower) {_SOME} [down|lower] {_SOME}",
             f"lose {_SOME} [of] {_HEIGHT}", "drop (down|lower) " + _SOME,
             f"{_SOME} less (lift|power|thrust|throttle)",
             f"(decrease|reduce|lower) [my] (thrust|power|throttle|lift) {_SOME}",
             f"drop {_SOME} (down|lower) {_SOME}",
             f"(throttle|power|ease) (down|back|off) [(the|my)] [(throttle|power|thrust)] {_SOME}",
             f"ease off [on] [(the|my)] (throttle|power|thrust) {_SOME}",
             f"(come|get|take (myself|drone)|ease) {_SOME} (down|lower|downward) {_SOME}",
             f"let (myself|drone) (sink|drop|down|descend|fall|go down) {_SOME}",
             f"(lower|drop) (myself|drone) {_SOME}", f"[some|a bit|a little] less {_HEIGHT}",
             f"(give up|shed) {_SOME} [of] {_HEIGHT}"],
    "to the net": [f"[{_GO}|get|come|step] {_SOME} [forward] "
                   f"(to|toward|up to|closer to|nearer to|near) net {_SOME}",
                   "[(one|1|a)] [(step|metre|meter|m)] (closer|nearer) to net",
                   "(approach|advance on) net", "(advance|close in|close) (to|toward|on) net"],
    "from the net": [f"[{_GO}|get|come|step] {_SOME} (from|away from|back from|off) net",
                     f"{_SOME} (backward|retreat|back off|back away|back up|withdraw|drop back"
                     f"|fall back"
                     f"|pull back"
                     f"|move back|step back|drift back|ease back|fly back|back) (from|off|away "
                     f"from) net "
                     f"{_SOME}", "(retreat|fall back)",
                     "[a bit|a little|some] [more] distance (from|to) net"],
    "side": [f"({_GO}|strafe|step|sidestep|dodge) {_SOME} {_WARD} {_SOME}"],
    "bare": [f"[by] (a|1) (metre|meter|m) [more] {_WARD}",
             "[by] half [a] (metre|meter|m) [more] {height}",
             f"{_GO} [by] (a|1) (metre|meter|m) [more] {_WARD}",
             f"({_GO}|climb|rise|sink|drop|descend) [by] half [a] (metre|meter|m) [more] "
             f"{{height}}",
             f"({_GO}|climb|rise|sink|drop|descend) {{height}} [by] half [a] (metre|meter|m)",
             f"{_SOME} {_WARD} {_SOME}", f"{_SOME} {{height}} {_SOME}"],
    "turn": [f"(begin|start|make|take|do|fly|go into) [a] [gentle|slight|soft] {{side}} turn "
    f"{_SOME}",
             "[a] [gentle|slight|soft] {side} (turn|spin|rotation)", f"{{around}} {_SOME}",
             f"[a] [gentle|slight|soft] (turn|spin|rotation) {_WARD} {_SOME}",
             f"{_TURN} {_SOME} {_WARD} {_SOME}", f"{_TURN} {_SOME} {{around}}",
             f"[(point|swing|turn|bring|move|nudge|yaw)] [my] nose {_SOME} {_WARD} {_SOME}"],
    "bank": ["(lean|go|roll|tip|ease|dip) into [a] {side} (bank|roll)",
             f"(begin|start|enter|make|take|do|fly) [a] {{side}} (bank|roll) {_SOME}",
             "[a] [gentle|slight|soft] {side} (bank|roll|lean)",
             f"[a] [gentle|slight|soft] (bank|roll|lean) [over] {_WARD} {_SOME}",
             f"(bank|roll|lean|tilt|tip) {_SOME} [over] {_WARD} {_SOME}",
             f"(drop|dip|lower) [my|its] {{side}} (wing|side|edge) {_SOME}",
             f"(raise|lift|pull up) [my|its] {{lifted}} (wing|side|edge) {_SOME}"],
    "nose down": ["[(put|push|tip|pitch|point|tilt|dip|drop|bring|lower|press)] [my] nose "
                  f"(down|forward|(forward|over) and down|down and forward) {_SOME}",
                  f"(push|tip|pitch|point|tilt|dip|drop|lower|put) [down] [my] nose {_SOME}",
                  f"pitch {_SOME} (down|forward|forward and down|over) {_SOME}",
                  f"(tilt|lean|tip) {_SOME} forward {_SOME}",
                f"(drop|dip|lower|push down|tip down) [my] front [(edge|end|side)] {_SOME}",
                f"(raise|lift|pull up) [my] (tail|rear [(edge|end|side)]) {_SOME}"],
    "nose up": ["[(put|pull|tip|pitch|point|tilt|bring|lift|raise)] [my] nose up "
                f"{_SOME}",
                f"(pull up|lift|raise|lift up) [my] nose {_SOME}",
                f"pitch {_SOME} (up|back|backward|up and back) {_SOME}",
                f"(tilt|lean|tip) {_SOME} backward {_SOME}",
                f"(raise|lift|pull up|tip up) [my] front [(edge|end|side)] {_SOME}",
                f"(drop|dip|lower|push down) [my] (tail|rear [(edge|end|side)]) {_SOME}"],
    "target": [f"[(keep|continue|keep on|go on)] ({_GO}|navigate|make for|return|continue|come) "
               f"{_SOME} "
               f"[(straight|back|on)] (to|for|toward|towards) target [position|point|place] "
               f"[(at|=)] [{figures.LIST}]",
               f"[(straight|back|on)] to target [(at|=)] [{figures.LIST}]"],
    "fly to": [f"(get|go|move|fly|come) [right|straight] under (ball|it) [.] [(at|to)] "
               f"{figures.LIST}",
               f"[(keep|keep on|go on)] ({_GO}|rise|climb|sink|descend|drop|continue|return|step) "
               "[(under ball|under it|up|down|back|on|over)] to [my] [point|place|position] "
               f"[(at|=)] {figures.LIST}",
               f"(stay|hold|hover|wait|be) at {figures.LIST}"],
    "four": [f"[(fly|go|move|goto)] [set] [my] [(with|at|use|apply|send|output|command|give)] [my] "
             f"[(control|command|number|value|{{space}})] [(at|to|of|with|=|is|are)] "
             f"{figures.LIST}",
             f"[(give|send|apply|use)] {figures.LIST} (for|to|as) [my] {{space}}"],
}  # fmt: skip
# What a motion makes good: "I correct my turning with a turn to the left".
_MOVEMENT = (
    "(spin|turning|turn|rotation|drift|tilt|lean|roll|yaw|bank|slide|tip|slip|sway|spinning|rolling"
    "|tilting|leaning|drifting|movement|motion|attitude|position|course|heading|angle)"
)
_COUNTER = (
    f"((correct|counter|fix|stop|compensate [for]|cancel|offset|undo|reverse|check|damp|balance"
    "|counteract|kill|arrest|slow|level) [out] [(my|the|this|that|any)] "
    f"[(slow|slight|own|right|left|sideways|unwanted|fast|clockwise)] {_MOVEMENT} "
    "[(with|by|using|through|.)]"
    "|(lean|tip|roll|tilt|come|swing) back [(upright|the other way|level)] [(.|by|with)]"
    "|(level|straighten|even) (out|up|off|myself [out|up]) [(.|by|with)]"
    "|right myself [(.|by|with)])"
)
# "Bringing the nose down corrects both."
_MENDS = (
    "[to] (correct|fix|counter|stop|cure|solve|cancel|handle|help|undo|offset|reduce|compensate"
    "|settle) [for] [out] (both|it|this|that|them|(my|the|this) "
    f"[(slow|slight|own|sideways|unwanted|fast|backward|forward)] {_MOVEMENT} "
    f"[and [(my|the)] {_MOVEMENT}])"
)
_TO_CORRECT = (
    "(and|to) ((level|straighten|even) (out|up|off)|right myself"
    "|(get|come|be) (upright|level) [again]"
    "|(correct|counter|fix|stop|compensate [for]|cancel|offset|undo|reverse|damp|balance"
    f"|counteract) [out] [(my|the|this|that|any)] {_MOVEMENT})"
)
# What a tilt or a turn is for; where to, its player says as it likes.
_TO_MOVE = (
    "(to|so as to|in order to|so [that] i [(can|will)]) (slow down|brake|stop|lose (speed|way)"
    f"|kill [my] speed|({_GO}|back|back off|come|get|retreat|lean) [back] "
    "[(to|toward|away from|off|from|up to|closer to|under|back from)] [(my|the)] "
    "(net|middle|centre|center|back line|line|left|right|ball|place|spot|position)"
    "|(slow|stop|check|cancel|kill|counter|end|break|damp|reduce|arrest|halt|correct) [(my|the)] "
    f"[(left|right|sideways|backward|forward|leftward|rightward)] {_MOVEMENT} [over] "
    "[(to|toward|away from) (left|right|net)]"
    "|(come|get|stay|keep|be) (level|upright|steady|balanced) [again])"
)
_AGAIN = "[(again|once more|further|for [1] (moment|step)|briefly)]"
_AT_HALF = (
    "(for|to (keep|have)|and keep) [(a|an|the|my)] "
    "[(half [of]|balanced|even|moderate|medium|even moderate|steady)] "
    "thrust [(balanced|even|moderate|steady|at half|as it is)]"
)
_ENDS = dict.fromkeys(
    ("nose down", "nose up", "bank", "turn"), f"[({_MENDS}|{_TO_CORRECT}|{_TO_MOVE}|{_AT_HALF})]"
)
_ENDS |= {"up": f"({HIGHER}|{_TO_CORRECT})", "down": f"({LOWER}|{_TO_CORRECT})"}
_ENDS |= {"side": f"[{_TO_CORRECT}]"}
_PHRASES |= {
    meaning: [
        f"[(another|1 more|more|{_COUNTER})] ({'|'.join(_PHRASES[meaning])}) {_AGAIN} {end}"
        if "nose" not in meaning
        else f"[(another|1 more|more)] ({'|'.join(_PHRASES[meaning])}) {_AGAIN} {end}"
    ]
    for meaning, end in _ENDS.items()
}
_PHRASES["up"] += [f"(hold|keep|maintain|regain) [my] {_HEIGHT} (with|by) [a] (climb|rise)"]
_PHRASES |= {
    meaning: [f"{phrase} {_TOUCH}" for phrase in _PHRASES[meaning]]
    for meaning in ("up", "down", "to the net", "from the net", "side", "bare")
}
_PHRASES["up"] += [f"(jump|leap) {_TOUCH[1:-1]}"]
_MOTION_SLOTS = {
        "side": {"left": "left", "leftward": "left", "right": "right", "rightward": "right"},
        "lifted": {"left": "right", "right": "left"},
        "around": {"counterclockwise": "left", "counter clockwise": "left", "anticlockwise": "left",
                   "anti clockwise": "left", "clockwise": "right"},
        "height": {"up": "up", "upward": "up", "higher": "up",
                   "down": "down", "downward": "down", "lower": "down"},
        "space": {"rotor": "rotors", "motor": "rotors", "thrust": "rotors", "propeller": "rotors",
                  "rotor thrust": "rotors", "rotor command": "rotors", "motor command": "rotors",
                  "rate": "ctbr", "body rate": "ctbr", "rate and thrust": "ctbr",
                  "velocity": "velocity", "vel": "velocity", "speed": "velocity",
                  "velocity command": "velocity",
                  "position": "position", "place": "position", "set point": "position",
                  "setpoint": "position", "goto": "position"},
}  # fmt: skip


# "I'm down" and "I left" are no commands, "I'm going down" and "I choose left" are.
_OWN = frozenset(("i", "we", "i'm", "we're", "i've", "we've", "now"))
_CHOOSE = frozenset(("choose", "pick", "select", "choosing", "picking", "what"))
# Where "right" and "left" are no sides.
_NO_SIDE = re.compile(
    r"\bright (?:now|then|away)\b|(?:^\W*|[.,!;]\s*|\bi'm )right again\b"
    r"|\b(?:yeah|yes|all)\W+right\b|^\W*left over\b",
    re.I,
)


# Numbers of another kind than these.
_TO_PLACE = re.compile(r"\b(?:fly|go|move|flying|going|moving)\b.*\bto\b|\bgoto\b", re.I)


def command(sentence: str, actions: str) -> set[str]:
    """What a sentence is called in `orders.commands`, or would be elsewhere; "four" for numbers.
    Several, where it can be read in several ways."""
    return {_command(found, sentence, actions) for found in motions().read(sentence)} - {""}


def _command(found: Reading, sentence: str, actions: str) -> str:
    meaning, values = found
    if _NO_SIDE.search(sentence):
        return ""
    side = next(
        (values[slot] for slot in ("side", "around", "height", "lifted") if slot in values), ""
    )
    like = "rotors" if actions in STEPPED else actions  # rotors by another name
    if meaning == "fly to":
        return "four" if like == "position" else "position"
    if meaning == "four" and values.get("space", like) != like:
        return str(values["space"])
    if meaning == "four" and like != "position" and _TO_PLACE.search(sentence):
        return "position"
    if meaning == "bare":
        said = frozenset(tokens(sentence))
        if said & _OWN and not said & _CHOOSE:
            return ""
        meaning = side
    velocity = actions in ("velocity", "position")
    if meaning in ("turn", "bank"):
        return f"{meaning} {side}"
    still, up, down = ("hold", "up", "down") if velocity else ("hover", "climb", "sink")
    return {"side": side, "still": still, "up": up, "down": down}.get(meaning, meaning)
