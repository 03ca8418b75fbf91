"""Reading an answer: the move or the four numbers that it means."""

from __future__ import annotations

import functools
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.env import IllegalAction
from manyhands.core.reading.answers import decide, instead
from manyhands.core.reading.bare import Remarks
from manyhands.core.reading.grammar import Grammar, Reading
from manyhands.core.reading.parts import JSON, Answer
from manyhands.core.reading.phrases import WAITING
from manyhands.envs.drones import moves
from manyhands.envs.drones.commands import commands
from manyhands.envs.drones.observe import as_read, goal_of
from manyhands.envs.drones.rules import bounds
from manyhands.envs.drones.state import DronesState
from manyhands.envs.volleyball import figures

if TYPE_CHECKING:
    from manyhands.envs.drones.env import Drones

SHOWN = 8  # choices that a refusal names at most

_GO = (
    "(go|move|fly|run|drift|head|shift|slide|travel|zoom|glide|edge|step|proceed|steer|turn|get"
    "|position myself|place myself|come|race|dash|sweep|sprint|speed|cruise|charge|dart|swoop"
    "|make my way|press [on]|blast|push|veer|bank|tilt|lean|peel)"
)
_SOME = (
    "[(a little|a bit|slightly|slowly|gently|some|directly|straight|sideways|back|over|on|along|out"
    "|off|fast"
    "|a touch|a notch|a tad|a fraction"
    "|further|farther|now|at full speed|full speed|all out|flat out|across|around)]"
)
_PREY = "(evader|it|him|her|target|prey|intruder|runaway|enemy|opponent|fugitive)"
_OF_PREY = "(its|his|her|evader's|target's|intruder's|prey's|runaway's|enemy's|opponent's)"
_ITS = f"({_OF_PREY}|the)"
_STRAIGHT = "(straight|right|directly|head on|flat out) (at|for|to|toward|towards|after)"
_SHAPE = "(shape|formation|THIS SHAPE)"  # and the name of the shape that is flown
_GOAL = "[(next|our|current)] goal"
_OTHERS = (
    "(other [2]|2 other|both [of them]|[my] team|[my] (squad|crew)|rest [of [my] team]|mate"
    "|team mate"
    "|everyone else)"
)
_THEM = (
    "with ([(all|my)] (other [2]|team|rest|mate|team mate)|them|everyone|everybody"
    "|{one:mate} [and {two:mate}]"
    "|whole [of] THIS SHAPE|[whole] (shape|formation|team))"
)
_TOGETHER = f"((together|along|as 1|as [a] team) [{_THEM}]|{_THEM})"
_WITH = f"[{_TOGETHER}]"
_IN_SHAPE = f"(in|with|keeping) {_SHAPE}"
# Where a drone is, and how far from a place an order leads.
_ABOUT = "[(about|roughly|right|exactly|more or less|approximately)]"
_HERE = f"[({_ABOUT} (here|there|where i (am|hover))|still|put|in place|on [the] spot|steady)]"
# Where it flies is why one flies that way.
_SINCE = (
    f"[[.] [(as|since|because)] [(that is|that's)] (where|where (it's|it is|he's|he is)) "
    f"[{_PREY}] [(is|be)] "
    "[(head|go|fly|flee|run|headed|bound)] [(there|that way)]]"
)
_BRIEFLY = (
    "[[for] [(1|another|1 more|half [a]|0.5)] [(short|little)] (moment|bit|while|second|step)]"
)
# Where it flies to, and where it was.
_AHEAD = (
    f"(where ({_PREY} (will (be|go|fly|end up)|is (going [to be]|heading|headed|bound|flying)"
    "|goes|is going to (go|fly|end up))"
    "|(it's|he's|she's) (going [to (be|go|fly)]|heading|headed|bound|flying)"
    "|(it'll|he'll|she'll) (be|go|fly|end up))"
    f"|(spot|place|point|position) [(where|that|which)] ({_PREY} (will|is going to|is about to"
    "|is bound to)|it'll|he'll|she'll) (reach|be|pass|arrive|get to|fly to|end up|cross)"
    " [(at|in|through)]) [(next|soon|shortly|in [a|1] (moment|second|sec|bit|while))]"
)
_LAST = (
    f"(where {_PREY} was [last] (seen [last]|spotted [last]|[last])"
    f"|where (we|i) [last] (saw|spotted) {_PREY} [last]"
    f"|[last] (place|point|spot) where ({_PREY} was [last] seen|(we|i) [last] saw {_PREY})"
    f"|{_OF_PREY} last [(known|seen|reported)] (place|position|spot|point|location|whereabouts))"
)
# Where in the arena something is done.
_COMPASS = (
    "(north|south|east|west|northern|southern|eastern|western"
    "|(north|south) (east|west|eastern|western)"
    "|northeast|northwest|southeast|southwest|northeastern|northwestern|southeastern|southwestern)"
)
_PART = (
    f"[{_COMPASS}] (corner|wall|side|edge|end|flank|centre|center|middle|cylinder|pillar|column"
    "|post|obstacle|boundary)"
)
_AT = (
    f"[(in|at|near|by|along|on|beside|against|around|past|behind|between) [2|both] {_PART} "
    "[of (arena|room|field|map)]]"
)
_FROM = f"[from (north|south|east|west|{_PART})]"
# What an order of a pursuer is for. None of these is a move of its own.
_GAIN = (
    f"((close|shorten|narrow|cut) [down] (distance|gap|ground) [(to|on) {_PREY}]"
    f"|catch up [with {_PREY}]|(gain|make up) [some] ground [on {_PREY}]|gain on {_PREY}"
    f"|catch {_PREY}|(get|be|come|draw|stay) (close|closer|near|nearer) [to {_PREY}]"
    "|(widen|spread|stretch|cast|open) [out] [our] [a] [wide|wider] (net|line|formation|ring)"
    "|spread [us] out|(be|get|stay) [more] spread out"
    "|cover ([some] more (ground|space|area)|more [of] (arena|room))"
    f"|keep [up] [the] pressure [on] [on {_PREY}]|put [more] pressure on {_PREY}|pressure {_PREY}"
    f"|(trap|corner|pin|press) {_PREY} [against {_PART}] {_AT}"
    f"|keep {_PREY} (boxed in|in sight|in view|from escaping|from getting away|close)"
    f"|(stay|keep up|keep pace) with {_PREY}|leave [{_PREY}] no (way out|escape|exit|room)"
    f"|({_PREY}|it) (cannot|can't|can not) (get away|escape|get out|flee|slip (away|through|by))"
    "|shut [off] [its] way out|force it to turn)"
)
_END = f"[(to|so as to|in order to|so [that] (i|we) [(can|may|will)]|so [that]) {_GAIN}]"
_TRACK = (
    f"[(anticipate|predict|read|work out|lead|foresee|extrapolate) ({_OF_PREY} [next] "
    "(path|flight|way|course|line|route|move|movement|direction|position|heading)"
    f"|{_AHEAD}|where {_PREY} (go|fly|is)) and]"
)
_HELP = f"[help [(us|team|{_OTHERS}|{{helper:mate}} [and {{other:mate}}]|them)] [to]]"
_KEEP_ON = (
    "(keep up|keep on with|continue [with]|carry on with|go on with|resume|maintain|press on with)"
)
_LEVEL = (
    f"[(to|(to|and) (match|reach|get to|be at|get level with|draw level with|meet)) "
    f"({_OF_PREY} (height|altitude|level)|{_PREY})]"
)
_PASSAGE = (
    "(gap|passage|space|lane|way|opening) between [2|both] (cylinder|pillar|column|obstacle|post)"
)
_COME_BACK = (
    "to (catch up|pass [by]|return|reappear|show up|turn (back|around|up)|approach"
    "|come [(back|closer|near|nearer|around|round|to (me|us)|past|by|this way|my way|out)]"
    "|fly (past|by|back))"
)
_POST = "([(nearest|next|this|that)] (cylinder|obstacle|pillar|column|post))"
_OFF = f"[(off|away from|clear of|out from under|past) {_POST}]"
_FOR = f"[[(and|to)] [wait] for ({_OTHERS}|{{mate}}|{_PREY}) [{_COME_BACK}]]"
# What an order is for.
_TO_CLOSE = (
    "[((to|and) (close|fill|cover|plug|shut|block) [(this|that)] (gap|hole|lane|way|side) [there]"
    "|so [that] we (form|make) [a] (line|wall|net|ring|circle|triangle))]"
)
_TO_SHUT = (
    "[(to|and|so i|so as to) (close|fill|cover|plug|shut|block|seal|bar|guard|deny|take away)"
    " [off] [(that|this|my)] [(last|open|southern|northern|eastern|western|bottom|top)]"
    " (gap|hole|lane|way|way out|side|corner|exit|door|flank|escape|path|corridor|opening)"
    " [(there|at bottom|at top|below|above|down there|up there|on (that|this) side"
    "|in {corner:way})]]"
)
_BIT = "[(a bit|a little|slightly|somewhat|some|a touch|a notch|a tad)] [(further|more)]"
_GUARD = (
    "[(and|to) ((guard|cover|watch|block|defend|protect|keep) "
    f"([(this|my)] [{_COMPASS}] (corner|spot|place|area|gap|side|lane|flank|wall|exit|passage"
    f"|centre|center|middle) [of (arena|room|field)]|{_PASSAGE})"
    "|(block|bar|guard) (its|the) (way|path|escape|exit) [(back|out|there)])]"
)
_FLANK = "[(side|hand side|flank|wing)]"
# A side as orders have it: so far away, and seen towards the evader.
_GAP = f"[[to] {_ABOUT} {{gap}} (m|metre|meter)]"
_SEEN = f"[([as] (seen|looking|facing|it looks) (to|toward|towards|at)|facing) {_PREY}]"
_MINE = (
    "(my [own] (place|position|spot) [(relative to|beside|near|between|among) ([the] others|them)]"
    "|(place|position|spot) (that's mine|of mine|that (is mine|belongs to me)))"
)
_ABOUT_MIDDLE = (
    "((around|about) [(our|their|drone s|team's)] [(common|current|shared|joint|present)] "
    "(middle|centre|center))"
)
_MIDDLE = f"[{_ABOUT_MIDDLE}]"
_THEN_GO = (
    f"[(first|before [(we|i)] ({_GO}|advance|move on|carry on|continue) [(on|again)] "
    f"[(to|toward|towards|for) {_GOAL}])]"
)
# What a drone of a formation changes its speed for.
_FASTER = (
    "((speed up|pick up [some] speed|accelerate|open up [the] throttle|put on [some] speed"
    "|give it more speed|hurry up) [and])"
)
_LEAD = (
    f"[(to|so [that] i [(can|may)]|so as to|and) ((stay|keep|get|be|remain) (in front|ahead|level"
    f"|in line|in touch) [(of|with) ({_OTHERS}|them|{{one:mate}})]"
    f"|(keep up|catch up|keep pace) [with ({_OTHERS}|them|{{one:mate}})]"
    "|keep (my|[the]) lead|take [the] lead)]"
)
_KEEP = "[(keep|keep on|continue|continue to|go on)]"
_PACE = (
    "[(slowly|gently|carefully|a little|a bit|steadily|at full speed|fast|directly|straight"
    "|head on|[.] [in [a]] straight line|[.] [at] full (speed|throttle|power|tilt)|flat out"
    f"|at top speed|as fast as (i can|possible))] {_BRIEFLY}"
)
# What the others do meanwhile.
_MEANWHILE = (
    f"[[.] [(and|while|as|so [that])] ({_OTHERS}|{{helper:mate}}) [(can|will|may)] "
    "(cut (it|him|her) off|cut off [(its|his|her)] (way|path|escape|it|him|her)|block (it|him|her"
    "|[(its|his|her)] (way|path|escape))|surround (it|him|her)|close in|come in|flank (it|him|her)"
    "|cover [the] [(other|left|right)] (side|flank|rest|wing)|take [the] other (side|flank)"
    "|go (around|round)|spread out|follow|catch up|chase (it|him|her)"
    "|come from [the] other side) [from {flank:way}]]"
)
# What one leaves to the others while one waits.
_DO = (
    "((drive|push|chase|bring|flush|herd|steer|force|send|lead) (PREY) "
    "[(to|toward|towards|into|at|back to|past) (me|us|my (side|corner|place|position))]"
    "|(deal with|handle|take care of|chase|catch|take|hunt|engage|intercept) (PREY)"
    "|do the (work|chasing|running|hunting|rest)|come [(closer|near|nearer|to (me|us))]|approach"
    "|catch up [(to|with) (me|us)]|close [up] [gap] [(to|with) (me|us)]|close in|move|advance|pass"
    "|go first|(get|come|fly|fall|move) back (in|into) [(line|place|position|shape|formation)]"
    "|draw level [with (me|us)]|rejoin [(me|us)])"
).replace("(PREY)", _PREY)
_FIRST = f"{_TRACK} [(lead {_PREY}|cut ([the] corner|across)) and]"
_ITS_WAY = f"(on|along|in|across) {_OF_PREY} (path|way|course|route|flight|line)"
_BEFORE = f"[before {_PREY} [can] (reach|get to|make) {_PART}|{_AT[1:-1]}|{_FROM[1:-1]}|there]"
# About as far as one step leads at full speed.
_A_METRE = "[by] [(about|roughly|maybe)] (a|1|another|half [a]) (metre|meter|m|step|notch|touch)"
_PHRASES: dict[str, list[str]] = {
    "hold": [
        *WAITING,
        "(hold|hover|stay|stop|freeze|remain|float|brake|halt|wait|pause|stand still|do nothing"
        f"|idle|hang|noop|no op|pass|none) {_HERE} [(in [the] air|in position)] {_BRIEFLY} {_FOR}",
        f"(hold|keep|maintain) [(my|this|current)] (position|place|spot|altitude|height|station) "
        f"({_FOR}|{_GUARD})",
        f"(hold|stay|wait|hover|remain|stand|keep) (put|still) {_GUARD}",
        f"let ({_OTHERS}|{{mate}}) (catch up|come [closer])",
        f"let (it|him|her|them) (catch up|come closer) and "
        f"(hold|stay|wait|hover|remain) {_HERE} {_BRIEFLY}",
        f"(hold|keep|maintain|hover|stay|wait|remain) [[(my|this)] (position|place|spot|post)] "
        f"{_HERE} {_BRIEFLY} (and|to|so [that]|let|which let) [let] "
        f"({_OTHERS}|{{mate}}|them|him|her) [(can|may)] {_DO}",
        f"[just] (1 more|another|1) (moment|step|second|turn|bit) of (hold|hover|wait|stay|remain) "
        f"{_HERE}",
        f"[(slow down|brake|stop) and] wait for ({_OTHERS}|{{mate}}|{_PREY}) [{_COME_BACK}]",
        "come to a (stop|halt|hover|standstill)",
        "(stop|halt|brake|freeze|slow down) and (wait|hold|hover|stay|pause) [(here|there)]",
        "(0|zero|no) (velocity|speed|motion|movement)",
        "(hit|slam [on]|apply|put on|use) [my] brake",
        f"(park|hang|float|hover) [(here|still)] in [the] (air|mid air|midair) {_BRIEFLY}",
        "(0|zero|nothing) (on|for|in|along) (all|every|each) "
        "(axis|axes|direction|component|number)",
        "stay as i am",
        f"(stay|remain|keep) (airborne|aloft|in [the] air) {_HERE} {_BRIEFLY}",
        f"(hold|stay|wait|hover|remain|stand) {_HERE} {_GUARD}",
        f"(hold|stay|wait|hover|remain) [[my] position] {_HERE} and let "
        f"({_PREY}|them|{_OTHERS}|{{mate}}) (come|catch up) "
        "[(closer|to (me|us)|near|with (me|us))]",
        f"(hold|stay|wait|hover|remain) [[my] position] {_HERE} (until|till|til) "
        f"({_OTHERS}|{{mate}}|{_PREY}|they) "
        "[(have|has)] ((catch|have caught|has caught|are caught|caught) up [(to|with) (me|us)]"
        "|arrive"
        "|(be|is|are|am) (here|there|ready)"
        "|(come|came|get|draw|move|fly|flown|drawn|gotten|got|pull) "
        "[(closer|near|nearer|back|by|here|in|up|level|into (place|position|range))] "
        "[[in] [(to|toward|past|with|by) (me|us)]]|pass [by]|arrived|passed"
        "|((join|joined|rejoin|rejoined|reach|reached|regroup|regrouped|form up"
        "|formed up) [with]) [(me|us|formation|shape)]"
        "|(is|are|be) (near|close|nearer|closer|level|in position|in place|back))",
        "slow down and hold [(here|position)]",
        f"(hold|keep|stay in|remain in|maintain) [(my|this|a)] hover {_HERE} {_BRIEFLY}",
        f"(stay|remain|keep|hover|hold|wait) (exactly|right|just) (here|where i am) {_BRIEFLY} "
        f"{_FOR}",
        f"(not|not to|don't|do not|won't) (move|budge|go anywhere) {_BRIEFLY} [.] "
        "[(hover|hold|stay|wait)]",
    ],
    "advance": [
        f"{_KEEP} [(keep pace|keep up) with {_OTHERS} and] "
        f"(advance|{_GO} [(on|along)] forward|{_GO} (onward|ahead)|push on|press on|carry on"
        f"|continue) {_WITH} "
        f"[(in|with|keeping|while keeping) {_SHAPE}] [(to|toward|towards) {_GOAL}] {_WITH} {_PACE}",
        # "Go to the goal" may be to one's slot there.
        f"{_KEEP} {_GO} {_SOME} (toward|towards) {_GOAL} {_WITH} [{_IN_SHAPE}]",
        f"(keep|keep on|continue|go on) {_GO} {_SOME} (to|for) {_GOAL} {_WITH} [{_IN_SHAPE}]",
        f"{_GO} {_SOME} (to|for) {_GOAL} ({_TOGETHER} [{_IN_SHAPE}]|{_IN_SHAPE})",
        f"{_KEEP} {_GO} [(on|ahead|forward)] [together] in {_SHAPE} [(to|toward|towards) {_GOAL}]",
        f"(keep|hold) {_SHAPE} (and|while) (advance|{_GO} [(on|ahead|forward)]) "
        f"[(to|toward|towards|for) {_GOAL}] {_WITH}",
        f"(onward|onwards|on|go on|carry on|continue|back) (with|to) [my|our] advance "
        f"[(to|toward|towards) {_GOAL}]",
        f"all advance {_WITH} [(to|toward|towards) {_GOAL}]",
        f"(move|fly|take|bring|lead) {_SHAPE} [(on|ahead|forward)] (to|toward|towards) {_GOAL}",
        f"(move|fly|bring|lead) {_SHAPE} (on|ahead|forward|forwards)",
        f"approach {_GOAL} [together] [in formation]",
        f"{_GO} (onward|onwards|forward|forwards|ahead) {_WITH} "
        f"(to|toward|towards) {_GOAL} {_WITH}",
        f"{_GO} on {_TOGETHER}",
    ],
    "close ranks": [
        f"(close|tighten|close up) rank [again] {_WITH} {_THEN_GO}",
        "(hold|keep|maintain|restore|reform|re form|form|repair|mend|tighten [up]|close [up]) "
        f"{_SHAPE} [again] {_THEN_GO}",
        f"(close up|gather|regroup|tighten up|form up|bunch up|draw together) {_ABOUT_MIDDLE} "
        f"{_THEN_GO}",
        f"[(ease off|slow down|drop back|fall back|back off) and] ((take|take up|resume|keep) "
        f"{_MINE}|{_GO} {_SOME} (to|into) {_MINE}) [in {_SHAPE}] {_ABOUT_MIDDLE} {_THEN_GO}",
        f"(stay|get [back]|go back|return|fall back|come back) (in|into|to) {_SHAPE}",
        f"(take|take up|resume) {_MINE} in {_SHAPE} {_MIDDLE}",
        f"{_GO} {_SOME} (to|into) {_MINE} in {_SHAPE} {_MIDDLE}",
        f"(gather|regroup|close up|form up) [with ({_OTHERS}|them)] [again] {_THEN_GO}",
        f"(tuck|snug|squeeze|slot|close) [(back|myself)] in [(closer|tighter|again)] {_WITH}",
        f"(rejoin|join up with|fall in with|link up with|close up (with|to)|reunite with) "
        f"({_OTHERS}|them|{_SHAPE}) [again] {_MIDDLE}",
        f"(get|go|fall|move|come|fly|slot|slide|drop|pull|settle) [back] (in|into|to) {_SHAPE} "
        f"[again] {_MIDDLE}",
        f"(tighten|close|draw|pull|pack) [up] [our] {_SHAPE} [(up|together|tighter)] {_MIDDLE} "
        f"{_WITH}",
        f"(close|tighten|bunch|draw) (up|in|together|closer) {_TOGETHER}",
        f"{_GO} {_SOME} (closer|nearer|back) to ({_OTHERS}|them|{_SHAPE})",
        f"(squeeze|snug|huddle) [up|in|together] {_TOGETHER}",
        f"(correct|fix|repair|restore|reduce) [my] (place|position|error|part) [in {_SHAPE}] "
        f"{_MIDDLE}",
    ],
    "slot": [
        f"(take|take up|hold|keep|fill|occupy|claim|cover|man) [my] [place at] [(formation|shape)] "
        f"(slot|place|position) [(number|#)] {{n}} [of {_SHAPE}] [at goal]",
        f"{_GO} {_SOME} (to|into|for|toward|towards) [(formation|shape)] (slot|place|position) "
        f"[(number|#)] {{n}} [of {_SHAPE}] [at goal]",
        f"(take|hold|keep|fill|occupy|claim) {{ordinal}} (slot|place) [(of|in) {_SHAPE}] [at goal]",
        f"{_GO} {_SOME} (to|into|for) {{ordinal}} (slot|place) [(of|in) {_SHAPE}] [at goal]",
        f"[({_GO}|take|fill|claim|occupy)] {_SOME} [(to|into|for|toward|towards)] slot {{n}} [.] "
        "(that's|that is|it's|it is|which is) (mine|my (own|place|slot|spot|position))",
        "(slot {n}|{ordinal} slot) is mine",
        "(i'll|i will) slot {n}",
        f"{_GO} {_SOME} [to] [(place|spot|point|position)] where slot {{n}} "
        "(is|be|belong|will be|sit|lie) [at goal]",
        f"({_GO} {_SOME} (to|into|for|toward|towards)|take [up]|fill|occupy|claim|hold) "
        "(place|spot|position|point) (of|for|at) slot {n} [at goal]",
        f"({_GO} {_SOME} (to|into|for|toward|towards)|take|fill|occupy|claim|hold) slot {{n}} "
        "s (place|spot|position|point) [at goal]",
        f"{_GO} {_SOME} (to|into|for|toward|towards) goal [(in|into|to|at)] slot {{n}}",
        "(make|call) slot {n} (mine|my (own|place|spot|position))",
        "be in slot {n}",
        "settle (in|into) slot {n} [at goal]",
        "take (place|position) of slot {n}",
        "(my|the) [own] (place|spot|position|slot) [(at|in)] [the] [(goal|shape|formation)] "
        f"is slot {{n}} [.] [(so|and)] [(i|i'll|i will|i'm|let me)] [(will|now)] {_GO} {_SOME} "
        f"(there|to it|for it|into it) [{_PACE}]",
    ],
    "own slot": [
        f"(take|take up|hold|keep|fill|occupy|claim) my [own] (slot|place|position) "
        f"[in {_SHAPE}] at goal",
        f"((take|take up|hold|keep|fill|occupy|claim)|{_GO} {_SOME} (to|into|for|toward|towards)) "
        "[my] [own] (own|assigned|designated|given|proper) slot [(there|at goal)]",
        "(take|take up|hold|keep|fill|occupy|claim) my [own] slot [there]",
        f"{_GO} {_SOME} (to|into|for|toward|towards) my [own] slot [(in|of) {_SHAPE}] [at goal]",
        f"{_GO} {_SOME} (to|into) my [own] (place|position) [in {_SHAPE}] at goal",
        "settle (in|into) my [own] slot [at goal]",
    ],
    "chase": [
        f"{_KEEP} (chase|pursue|hunt|follow|catch|attack|tail|charge|go for|go after|run after"
        f"|close in on|close on|make for|run down|hunt down|track|grab|capture|rush"
        f"|(rush|charge|race|dash) straight at) [(down|after)] [{_PREY}] {_WITH} {_PACE}",
        f"{_GO} {_SOME} (after|at|for|to|toward|towards) {_PREY} {_WITH} {_PACE}",
        f"{_GO} {_SOME} [(to|for|toward|towards|at)] {_LAST}",
        f"(give|keep up) chase [to {_PREY}]",
        f"[keep [up] pressure [on] [on {_PREY}] and] {_GO} {_SOME} {_STRAIGHT} {_PREY} {_PACE}",
        f"[[be] [right] on {_OF_PREY} (tail|heel) and] {_KEEP_ON} [my|our] (chase|pursuit|hunt) "
        f"[of {_PREY}]",
        f"(stay|be|remain) in [hot] pursuit [of {_PREY}]",
        "(go|move|close|come|fly|dive|rush) in for [the] (catch|capture|kill|grab|tag)",
        f"(chase|pursue|hunt|follow|go after|track) {_PREY} (into {_PART}|{_AT[1:-1]})",
        f"(chase|run|hunt|track) {_PREY} down",
        f"shadow {_PREY}",
        f"(chase|pursue|hunt|follow|go after|press) {_PREY} {_MEANWHILE}",
        "(close|shorten|reduce|cut) [(last|remaining)] (distance|gap) "
        f"(to|on|with|between (me|us) and) {_PREY}",
        f"(keep|stay) on {_PREY} (heel|tail)",
        "(stay|keep|stick|get|be|sit) [right|close] (on|to) (its|his|her|evader's) (tail|heel)",
        f"close [in] on {_PREY}",
        f"(keep|stay) after {_PREY}",
        f"[at] full (speed|throttle|power|tilt) (at|to|toward|towards|after|for) {_PREY}",
        f"[go [and]] (get|nab|bag|seize|snatch|nail|hound|stalk|pounce on|bear down on"
        f"|home in on|zero in on|gain on|set after|take off after|stay after|press) {_PREY} "
        f"{_PACE}",
        f"{_GO} {_STRAIGHT} {_PREY} {_PACE}",
        f"(be|get|stay) [right] behind {_PREY} and catch {_PREY}",
        "(close|shorten|narrow) [the] (distance|gap) [(as fast as (i can|possible)|quickly)]",
        f"pedal to the metal [.] {_STRAIGHT} {_PREY}",
    ],
    "cut off": [
        f"{_FIRST} (cut off|cutoff|head off|intercept|lead|anticipate|block) [{_PREY}] "
        f"({_ITS_WAY}|[{_AHEAD}]) {_BEFORE}",
        f"{_FIRST} (cut|head) {_PREY} off [(there|{_AHEAD}|{_ITS_WAY})] {_BEFORE}",
        f"{_FIRST} (meet|await|catch|wait for) {_PREY} {_AHEAD}",
        f"(cut off|block|bar) [{_OF_PREY}] [{_COMPASS}] (escape|[escape] (way|path|route|retreat"
        "|lane|course|line|flight) [out]) "
        f"[[(to|in)] (east|west|north|south)] {_BEFORE}",
        f"(cut off|block|bar) {_PREY} (to|in) (east|west|north|south)",
        f"{_FIRST} ({_GO}|aim|point|cut|cut in) {_SOME} [to] [(in|a (spot|point|place))] "
        f"(ahead of|in front of) {_PREY}",
        f"{_TRACK[1:-1]} (go|fly|head|move) there",
        f"cut across {_OF_PREY} (way|path|route|course|line|flight path|bows)",
        f"(set|take|fly|plot) [a] course to (intercept|cut off|head off) {_PREY}",
        f"(beat|outrun) {_PREY} to (its|his|her|the) (next|future|coming|predicted) "
        "(place|position|spot|point)",
        f"{_GO} {_SOME} (to|toward|towards|for) {_ITS} "
        f"(next|future|coming|predicted|expected|projected) (place|position|spot|point) "
        f"[of {_PREY}]",
        f"{_GO} {_SOME} (into|across) {_ITS} "
        "(way|path|escape|route|lane|course|line|flight path|escape route)",
        "(fly|take|set|plot|hold|steer) [on] [(a|an)] (intercept|interception) (course|path) "
        f"[(to|for|with) {_PREY}]",
        f"(be|get|arrive) there before {_PREY} [(do|is|get there|arrive)]",
        f"(get|put myself) (between|into way of) {_PREY} and (its|his|her) (way out|escape|exit)",
        f"{_GO} {_SOME} [(to|toward|towards)] {_AHEAD} "
        f"[(rather than|not|instead of) [to] where ({_PREY} is|it's) [now]]",
        f"{_GO} {_SOME} [(over|out)] [(and|to)] (intercept|cut off|head off) [{_PREY}]",
        f"{_GO} {_SOME} [(over|out)] [(and|to)] (cut|head) {_PREY} off",
        f"({_GO}|aim|point|steer) {_SOME} [for [a] (spot|point|place)] (ahead of|in front of) "
        f"{_PREY} [(and|to) ((cut off|intercept|block|head off|stop|meet) [{_PREY}]"
        f"|(cut|head) {_PREY} off|block {_OF_PREY} (way|path|escape|route))]",
        f"(aim|point|steer|make) (at|for|toward|towards) {_AHEAD}",
    ],
    "surround": [
        f"{_HELP} [take my [own] side and] {_KEEP} (surround|encircle|circle|enclose|box in"
        f"|hem in|trap|close around|envelop|corner {_PREY}|ring {_PREY}) [{_PREY}] {_WITH}",
        f"(surround|encircle|enclose|corner|trap) {_PREY} (from|on|at) [my] {{from:way}} [side]",
        f"{_HELP} (box|hem|ring|circle|pen|fence|close|shut|wall|block) {_PREY} in "
        "[(from|on|at) my [own] (side|flank|end)]",
        f"(surround|encircle|enclose|corner|trap|circle|ring) {_PREY} (from|on|at) my [own] "
        "(side|flank|end)",
        f"circle (in|around|round) [(on|around|round)] {_PREY}",
        f"(close|move|come|draw|press|go) in (around|round|about) {_PREY}",
        f"(join|complete) [our] (ring|circle|net|cordon|encirclement) [(around|on|about) {_PREY}]",
        f"{_HELP} (close|tighten|draw|complete|hold|form|make) [our|the|my side of [the]] "
        f"(ring|circle|net|noose|cordon|encirclement) [(around|on|about) {_PREY}] "
        "[(from|on) my [own] (side|flank)]",
        f"({_GO}|approach|close in|come in) {_SOME} [only] (to|on) my [own] (side|part|place) "
        f"(of|in|on) [our] (ring|circle|net|noose|cordon|encirclement) [around {_PREY}]",
        f"{_GO} {_SOME} (to|into) [my] (place|position|spot) (in|on) [our] "
        f"(ring|circle|net|cordon|encirclement) [around {_PREY}]",
        f"(take|take up|hold|fill) my [own] (place|position|spot|part) (in|of|on) [our] "
        f"(ring|circle|net|cordon|encirclement) [around {_PREY}]",
        f"(close|form|make|build|complete) [our] [a] (ring|circle) [(around|on) {_PREY}] {_WITH}",
        f"{_GO} {_SOME} (to my [own] side|around) of {_PREY}",
        f"(take|take up|hold|cover|fly to|go to) my [own] side [of ({_PREY}|ring|circle|triangle"
        f"|net|encirclement) [around {_PREY}]]",
        f"(approach|close in|come in|go in) [on] [{_PREY}] from my [own] side "
        f"[(and|to|so [that] we) (encircle|surround|ring|box in|trap|enclose) {_PREY}]",
    ],
    "side": [
        f"({_GO}|keep|spread out|swing|fan out|hover|station myself|stand|line up|form up|settle"
        f"|park"
        f"|[form [a] line] [.] me|tuck in|set up|slot in|slide in|fall in|get in|pull in) {_SOME} "
        f"{_GAP} "
        f"[(to|on|over to|at)] {{side}} {_FLANK} of {{mate}} {_SEEN}",
        f"(be|stay|take position|take my place|take up position|hold) {_GAP} [(at|on|to)] {{side}} "
        f"{_FLANK} of {{mate}} {_SEEN}",
        f"(cover|guard|take) {{side}} {_FLANK} of {{mate}} {_TO_CLOSE}",
        f"(take|take up|get|hold|fill|occupy|choose|pick|claim|go for) [my] "
        f"(spot|place|position|post|station|slot|flank) {_GAP} [(on|to|at)] {{side}} {_FLANK} "
        f"(of|from|by|beside) {{mate}} {_SEEN} {_TO_CLOSE}",
        f"(spot|place|position|post|station) (on|to|at) {{side}} {_FLANK} of {{mate}} [for me]",
        f"(cover|shadow|escort) {{mate}} (on|to|at|from) {{side}} {_FLANK} {_TO_CLOSE}",
        f"(my|the) (spot|place|position|post|station) is (on|at|to) {{side}} {_FLANK} of {{mate}} "
        f"{_TO_CLOSE}",
        f"{_GO} {_SOME} [(to|on|at)] {{side}} {_FLANK} of {{mate}} {_TO_CLOSE}",
        "(cover|guard|take) {mate} on {side} [side]",
        f"(cover|guard|take) {{mate}} s {{side}} {_FLANK}",
        f"({_GO}|hover|stay|station myself|stand|line up|form up|settle|set up) {_SOME} {_GAP} "
        f"[(to|on|at)] {{mate}} s {{side}} {_FLANK} {_SEEN}",
        f"{_GO} {_SOME} {_GAP} (beside|next to|alongside) {{mate}} on {{side}} [side] {_SEEN}",
    ],
    "way": [
        f"{_FASTER} [{_GO}] {_SOME} [(to|toward|towards|due)] {{way}} {_LEAD}",
        f"({_GO}) {_SOME} [(to|toward|towards|due|(in|to) [the] direction of)] {{way}} {_SOME} "
        f"[direction] {_LEAD}",
        f"({_GO}) {_SOME} [(to|toward|towards|to the|due)] {{way}} {_PACE} ({_SINCE} {_TO_SHUT}"
        f"|(along|by|close to|near|past|around) {_PART})",
        f"[at] full (speed|throttle|power|tilt) [(to|toward|towards|due)] {{way}} {_SINCE}",
        f"({_GO}|dodge|swerve|slip [away]|break away|veer) {_SOME} "
        f"[(to|toward|towards|to the|due)] {{way}} {_SOME} "
        f"[(around|past|by) ({_POST}|it)] {_BRIEFLY}"
        "[away from (them|him|it|[all|nearest] pursuer|{mate})]",
        f"({_GO}|slip|push|back) {_SOME} {_OFF} [.] [at] [full (speed|throttle)] "
        "[(to|toward|towards|due)] {way}",
        f"({_GO}|dodge|swerve|slip|veer) {_SOME} [(to|toward|towards|due)] {{way}} {_OFF}",
        f"({_GO}|slip|swing|squeeze) [(past|around|by)] [({_POST}|it)] on (its|[the]) {{way}} side",
    ],
    # With what it leads to, which has to be on that side.
    "toward": [
        f"({_GO}|climb|rise|sink|descend) {_SOME} [(to|toward|towards|to the|due)] {{way}} {_SOME} "
        "(to|toward|towards|after|at|for) "
        f"({{evader:prey}}|{{goal:goal}}|{{one:mate}}) [(quickly|fast|at full speed|now)]",
    ],
    "up": [
        f"(climb|rise|ascend|lift off|fly up|go up) [(up|higher)] {_PACE} {_LEVEL}",
        "pull up ((a little|a bit|slightly|some|a touch|higher|further)|to [a] higher "
        f"(height|altitude|level)|{_LEVEL[1:-1]})",
        "(climb|rise|ascend|go up|fly) (above|over) (them|him|it|{mate}|[all] pursuer)",
        f"(gain|get more) [some|more] (height|altitude) {_LEVEL}",
        f"(climb|rise|ascend|go up|fly up) [up] {_A_METRE}",
    ],
    "down": [
        f"(sink|descend|drop|dive|fly down|go down) [(down|lower|to [a] lower (height|altitude))] "
        f"{_PACE} {_LEVEL}",
        "(get|come|go) [a] [(bit|little)] lower",
        f"lose [some|more] (height|altitude) {_LEVEL}",
        f"(sink|descend|drop|dive|come down|go down|fall) [down] {_A_METRE}",
    ],
    "flee": [
        "(flee|escape|run away|run|get away|evade|run for it|run for my life|bolt|take flight)",
        "(flee|escape|run away|get away|fly away|move away|run|keep away|stay away) from "
        "([all] (pursuer|them|hunter|drone)|{mate})",
        "(evade|avoid|dodge|outrun) [all] (pursuer|them|hunter)",
        "(get me|i'm|i am|get|let me get|let's get) out of here",
    ],
    "hide": [
        "hide [(behind|at) [nearest|closest] (cylinder|obstacle|pillar|column|post)] [from them]",
        f"({_GO}|take cover|get cover|seek cover|duck) [(to|in)] (behind|cover behind) "
        "[nearest|closest] (cylinder|obstacle|pillar|column|post)",
        "break [their] line of sight (using|with|by using|behind) [the] [(nearest|closest|next)] "
        "(cylinder|obstacle|pillar|column|post)",
        "take cover [behind [nearest|closest] (cylinder|obstacle|pillar|column|post)]",
        "(get|go|move|fly) out of [their] (sight|view)",
        "break [their] line of sight",
    ],
    # The last move, as the text tells it.
    "same": [
        "[(do|fly|play|repeat|use|choose)] same [(move|thing|one|1|action|command|order)] "
        "[again] (as|like) (before|last time|(in|on) last (step|turn)|in [the] step before)",
        "[(do|fly|play|use|choose)] same [(move|thing|action|command|order)] again",
        "(keep|keep on|carry on|continue|go on|stick|stay) (with|to) my "
        "(last|previous|current|same) (move|action|command|order)",
        "(repeat|keep) [my] (last|previous) (move|action|command|order)",
        "(same|just|exactly) as (before|last time|in [the] last (step|turn))",
    ],
    "hover": ["hover [(here|in place|steady|level)]", "keep [my] (height|altitude)"],
    "climb": ["(climb|rise|ascend) [up]", "gain (height|altitude)", f"{_GO} up"],
    "sink": ["(sink|descend|drop) [down]", "lose (height|altitude)", f"{_GO} down"],
}
# What the four numbers of a level are called: a place is no velocity.
_SPACES = {
    "rotors": "thrust|rotor|motor|rotor thrust|motor thrust",
    "ctbr": "rate|rate and thrust|body rate",
    "velocity": "velocity|vel|speed",
    "position": "place|point|position|set point|target",
}
_NUMBERS = [
    "[(set|send|use|apply|command|give|output)] [(at|with)] [my] [(number|action|{space})] "
    f"[(to|at|of|is|=)] {figures.LIST}",
]
_FLIES = {
    "velocity": [f"(fly|go|move) [(at|with)] [my] [({{space}})] [of] {figures.LIST}"],
    "position": [
        f"(fly|go|move|head|goto) [(to|toward)] [my] [({{space}})] [(at|of|=)] {figures.LIST}"
    ],
}
_SHORT = {
    "way": [
        "[(full|at full) (speed|throttle|power)] [straight] [on] [(to|toward|towards|due)] {way} "
        f"{_PACE} {_SINCE} {_TO_SHUT}",
        f"{_BIT} {{way}} [(->|=|.|that is|i . e .) {{same:way}}]",
        f"{{way}} [.] {_BIT} {{same:way}}",
        f"{{way}} {_OFF}",
        "away from (them|him|it|[all] pursuer|{mate}) [.] [(that is|that's|so|which is|i . e ."
        "|to)] "
        "{way}",
        "{way:up} and over (them|him|it|[all] pursuer|{mate})",
    ],
    "side": [
        f"{_GAP} [(to|on|at)] {{side}} {_FLANK} of {{mate}} {_SEEN} {_TO_CLOSE}",
        f"{_GAP} [(to|on|at)] {{mate}} s {{side}} {_FLANK} {_SEEN}",
        "(to|on|at) {mate} {side} (side|hand side|flank|wing)",
    ],
    "chase": [
        f"[(right|straight)] after {_PREY} {_PACE}",
        f"[[at] full (speed|throttle|power)] {_STRAIGHT} {_PREY} {_PACE}",
        "(go|go and|let's go) get (em|them|it|him|her)",
        f"(get|catch|grab) {_PREY} [.] {_STRAIGHT} {_PREY}",
        f"[straight] (at|to|for|toward|towards) {_LAST}",
        f"[(right|straight)] (for|at|onto|after) {_OF_PREY} (tail|heel|back) {_PACE}",
    ],
    "hide": [
        "[(right|straight|quick)] behind [(nearest|closest|this|that)] "
        "(cylinder|obstacle|pillar|column|post)"
    ],
    "cut off": ["[(set|fly|take|on|plot)] [an|a] (intercept|interception|collision) course"],
    "close ranks": [
        "tighten up [(a bit|a little|more)]",
        f"[back] (to|into) {_MINE} in {_SHAPE} {_MIDDLE}",
        f"back (in|into) {_SHAPE}",
    ],
    # "Forward" alone may be where the nose points.
    "advance": [
        f"(onward|onwards) {_WITH}",
        f"on (to|toward|towards) {_GOAL} {_TOGETHER}",
        f"[now] (onward|onwards|forward|forwards|ahead) (to|toward|towards) {_GOAL} [again] "
        f"{_WITH}",
        f"(onward|onwards|forward|forwards|ahead) in {_SHAPE} [(to|toward|towards) {_GOAL}]",
        f"(onward|onwards|forward|forwards|ahead) {_TOGETHER} [(to|toward|towards) {_GOAL}]",
    ],
    "slot": [
        "[[straight] (to|into)] [my] slot [(number|#)] {n} [at goal]",
        "[[straight] (to|into)] {ordinal} slot [at goal]",
    ],
    "own slot": [
        "[[straight] (to|into)] my [own] slot [at goal]",
        f"{_GO} {_SOME} my [own] slot [at goal]",
    ],
}
_SLOTS: dict[str, Any] = {
    "way": {
        **{word: word for word in ("east", "west", "north", "south")},
        **dict.fromkeys(("up", "upward", "higher"), "up"),
        **dict.fromkeys(("down", "downward", "lower"), "down"),
        **{f"{word}ward": word for word in ("east", "west", "north", "south")},
    },
    "up": {"up": "up"},
    "prey": dict.fromkeys(("evader", "it", "him", "her", "target", "prey"), True),
    "goal": dict.fromkeys(("goal", "next goal", "our goal", "current goal"), True),
    "side": {"left": "left", "right": "right", "left hand": "left", "right hand": "right"},
    "gap": {f"{moves.ASIDE:g}": True},
}
_LABELS = {
    "rotors": ("front right", "back left", "front left", "back right"),
    "ctbr": ("x|roll|roll rate", "y|pitch|pitch rate", "z|yaw|yaw rate", "thrust"),
    "velocity": ("x|vx|east", "y|vy|north", "z|vz|up", "yaw|yaw rate|turn"),
    "position": ("x|east", "y|north", "z|height|up", "yaw|heading|degrees|angle"),
}
_OF_TASK = {
    "formation": (
        "hold",
        "advance",
        "close ranks",
        "slot",
        "own slot",
        "way",
        "toward",
        "up",
        "down",
        "same",
    ),
    "pursuit": (
        "hold",
        "chase",
        "cut off",
        "surround",
        "side",
        "way",
        "toward",
        "up",
        "down",
        "flee",
        "hide",
        "same",
    ),
}


# The moves of a pursuer that may be told with what they are for.
_WITH_AN_END = frozenset(("chase", "cut off", "surround", "side", "way", "toward", "up", "down"))


@functools.lru_cache(maxsize=64)
def _grammar(task: str, actions: str, mates: tuple[str, ...], shape: str) -> Grammar:
    kinds = _OF_TASK[task] if actions not in ("rotors", "ctbr") else ("hover", "climb", "sink")
    phrases = {
        kind: [line.replace("THIS SHAPE", shape) for line in _PHRASES[kind]] for kind in kinds
    }
    for kind in _WITH_AN_END.intersection(phrases) if task == "pursuit" else ():
        phrases[kind] = [f"({'|'.join(phrases[kind])}) {_END}"]
    if actions != "moves":
        lines = [*_NUMBERS, *_FLIES.get(actions, [])]
        phrases["numbers"] = [line.replace("{space}", _SPACES[actions]) for line in lines]
    called = {name: name for name in mates}
    called |= {f"{name.split('_')[0]} number {name.split('_')[1]}": name for name in mates}
    short = {
        kind: [line.replace("THIS SHAPE", shape) for line in lines]
        for kind, lines in _SHORT.items()
        if kind in kinds
    }
    return Grammar(phrases, {**_SLOTS, "mate": called}, short=short)


def parse(drones: Drones, text: Any, state: DronesState, agent: int) -> Any:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not open to the drone."""
    state = as_read(drones, state, agent)
    known = commands(drones, state, agent)

    def refuse(reason: str) -> IllegalAction:
        return IllegalAction(functools.partial(refusal, reason))

    def refusal(reason: str) -> str:
        numbers = "" if drones.actions == "moves" else ", or four numbers"
        return f"{reason}. Open to you: {instead(text, list(known), SHOWN)}{numbers}."

    def told() -> str:
        return drones.describe(state, agent, detail="full")

    def mean(answer: Answer) -> Any:
        plain = " ".join(answer.plain.split()).rstrip(".")
        if plain in known:
            return known[plain][0]
        mates = drones.agents[: drones.team]
        grammar = _grammar(drones.task, drones.actions, mates, drones.shape)
        if drones.actions != "moves":
            sentence, numbers = figures.split(
                answer.text,
                _LABELS[drones.actions],
                "m|metres?|meters?|degrees?" if drones.actions == "position" else "",
                _rest(drones, state, agent, answer),
            )
            if numbers is not None and any(
                reading.meaning == "numbers" for reading in grammar.read(sentence)
            ):
                if figures.repeats(sentence, answer.text, numbers, told):
                    return None
                return _four(drones, numbers, refuse)
        found: dict[str, None] = {}
        plain = _IDIOM.sub("", _without_places(drones, state, plain))
        for reading in grammar.read(plain):
            name = _move(reading, agent)
            if name == "same":
                name = _last(drones, state, agent)
                if not name:
                    raise refuse("you have made no move yet")
            if reading.meaning == "toward" and not _leads(drones, state, agent, reading.values):
                raise refuse(f"what you name is not {name} of you")
            if "from" in reading.values and not _is_own_side(drones, agent, reading.values["from"]):
                raise refuse(f"your own side of the evader is not {reading.values['from']}")
            if name:
                found[name] = None
        if len(found) != 1:
            return None
        (name,) = found
        if name == "up" and _FASTER_ALONE.search(plain):
            return None
        if name not in known:
            raise refuse(f"{name} is not open to {drones.agents[agent]}")
        return known[name][0]

    # No move is a number alone, so that remarks may tell of numbers.
    remarks = Remarks(figures=drones.actions != "moves")
    return decide(text, mean, refuse, me=drones.agents[agent], remarks=remarks)


def _rest(drones: Drones, state: DronesState, agent: int, answer: Answer) -> list[float] | None:
    """What numbers are that an answer leaves out which names others: no velocity, and the place
    where the drone is; None where it leaves none out."""
    few = answer.kind == JSON
    if drones.actions == "velocity" and (few or figures.VELOCITY.search(answer.text)):
        return [0.0] * 4
    if drones.actions != "position" or not few:
        return None
    low, high = bounds(drones)
    return [*np.clip(np.asarray(state.bodies.position)[agent], low, high).tolist(), 0.0]


def _last(drones: Drones, state: DronesState, agent: int) -> str:
    """The last move of a drone, as its text tells it; empty before there is one."""
    played = int(state.recent[agent]) if drones.actions == "moves" else 0
    return moves.move_names(drones)[played - 1] if played else ""


def _leads(drones: Drones, state: DronesState, agent: int, values: dict[str, Any]) -> bool:
    """Whether what a way should lead to is on that side, as far as is known."""
    places = np.asarray(state.bodies.position)
    if "one" in values:
        aim = places[drones.agents.index(values["one"])]
    elif "evader" in values:
        if not drones.pursuit:
            return False
        aim = np.asarray(state.known)[:3]
    elif drones.pursuit or int(state.reached) >= drones.goals:
        return False
    else:
        aim = np.asarray(goal_of(state))
    axis, sign = {"east": (0, 1), "west": (0, -1), "north": (1, 1), "south": (1, -1),
                  "up": (2, 1), "down": (2, -1)}[str(values["way"])]  # fmt: skip
    return bool(sign * (aim[axis] - places[agent][axis]) > 0)


def _is_own_side(drones: Drones, agent: int, way: str) -> bool:
    """Whether the side from which a drone surrounds the evader is this one, more or less."""
    angle = math.tau * agent / drones.team
    to = {"east": 0.0, "north": 0.25, "west": 0.5, "south": 0.75}.get(way)
    return to is not None and math.cos(angle - math.tau * to) > 0.5


# "The goal at (6.00, 3.64, 1.61)".
_PLACED = re.compile(
    r"(?P<what>goal|evader|it|slot (?P<slot>\d)),?(?: is)?(?: at)? "
    r"\((?P<place> ?-?\d+(?:\.\d+)?(?:, ?-?\d+(?:\.\d+)?){2} ?)\)"
)
# "Up north": north is up on maps.
_IDIOM = re.compile(r"\b(?:up(?= north\b)|down(?= south\b)|(?:out|over)(?= (?:east|west)\b)) ")
_FASTER_ALONE = re.compile(r"\bspeed(?:ing|s)? (?:it |this )?up\b", re.I)  # and not: upwards
_NEAR = 0.1  # m, as exactly as places are repeated


def _without_places(drones: Drones, state: DronesState, plain: str) -> str:
    """A sentence of moves without the places of what it names, where they are true."""
    if drones.actions != "moves" or "(" not in plain:
        return plain

    def replaced(found: re.Match[str]) -> str:
        said, what = [float(number) for number in found["place"].split(",")], found["what"]
        if drones.pursuit:
            true = np.asarray(state.known)[:3] if what in ("evader", "it") else None
        else:
            true = np.asarray(goal_of(state)) if what != "evader" else None
            if found["slot"] and 1 <= int(found["slot"]) <= drones.team:
                true = true + drones.slots[int(found["slot"]) - 1]
        agrees = true is not None and np.abs(true - said).max() <= _NEAR
        return what if agrees else found[0]

    return _PLACED.sub(replaced, plain)


def _move(reading: Reading, agent: int) -> str:
    """The name of a move that a reading means, said by an agent, whose slot has its number."""
    meaning, values = reading
    if meaning == "slot":
        return f"slot {values.get('n', values.get('ordinal'))}"
    if meaning == "own slot":
        return f"slot {agent + 1}"
    if meaning == "side":
        return f"{values['side']} of {values['mate']}"
    if meaning in ("way", "toward"):
        return str(values["way"]) if values.get("same", values["way"]) == values["way"] else ""
    return "" if meaning == "numbers" else str(meaning)


def _four(drones: Drones, numbers: list[float], refuse: Any) -> np.ndarray:
    """The action that four numbers stand for; of set-points and velocities the last may lack."""
    if len(numbers) == 3 and drones.actions in ("position", "velocity"):
        numbers = [*numbers, 0.0]
    if len(numbers) != 4:
        count = len(numbers)
        raise refuse(f"{count} number{'s' * (count != 1)} given, four are needed")
    if not all(math.isfinite(value) for value in numbers):
        raise refuse("the numbers are finite")
    if drones.actions == "position":
        low, high = bounds(drones)
        for name, value, a, b in zip("xyz", numbers, low.tolist(), high.tolist(), strict=False):
            if not a <= value <= b:
                raise refuse(f"{name} is within {a:g} and {b:g} m, given {value:g}")
        if not -180 <= numbers[3] <= 180:
            raise refuse(f"degrees are within -180 and 180, given {numbers[3]:g}")
        place = 2 * (np.asarray(numbers[:3]) - low) / (high - low) - 1
        return np.clip(np.append(place, numbers[3] / 180), -1, 1).astype(np.float32)
    outside = [value for value in numbers if not -1 <= value <= 1]
    if outside:
        raise refuse(f"{outside[0]:g} is not within -1 and 1")
    return np.asarray(numbers, np.float32)
