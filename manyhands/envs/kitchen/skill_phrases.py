"""What a chef may say of a skill: the phrases, and the names in them."""

from __future__ import annotations

import re

from manyhands.core.reading.phrases import WAITING
from manyhands.envs.kitchen.levels import (
    BUTTON,
    CARROTS,
    COUNTER,
    DISHES,
    MUSHROOMS,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
)
from manyhands.envs.kitchen.state import CARROT, DISH, MUSHROOM, ONION, SOUP, TOMATO

OBJECTS = {"onion": ONION, "tomato": TOMATO, "dish": DISH, "soup": SOUP}
DISPENSERS = {"onion": ONIONS, "tomato": TOMATOES, "dish": DISHES}
# With those that there are only where one recipe is asked for at a time.
ALL_OBJECTS = OBJECTS | {"carrot": CARROT, "mushroom": MUSHROOM}
ALL_DISPENSERS = DISPENSERS | {"carrot": CARROTS, "mushroom": MUSHROOMS}

# Where "right" may be no direction.
RIGHT_AWAY = re.compile(r"\bright (?:now|then|away|again)\b|\b(?:yeah|yes|all)\W+right\b", re.I)

# Who says so means one from a dispenser.
FROM_BOX = re.compile(
    r"\bfetch|\b(?:dispenser|box|crate|pile|stack|supply|source|station|bin)s?\b", re.I
)

NTH = ("first", "second", "third", "fourth", "fifth", "sixth")
_ON = (
    "[(keep|still|continue|keep on|go on|continue with|go on with|continue to|go on to|go|go and"
    "|carry on|carry on with|proceed to|proceed with|resume|get back to|hurry to|finish|try to"
    "|(stay|stick|keep on|keep going) with|stick to|keep at|keep going and"
    "|(stay|keep|remain) on (course|track|task) (and|to) [(finish|keep|go on)]"
    "|(get|stand|be) ready to)]"
)
_DET = (
    "[(my|some|1|one|another|this|that|more|new|fresh)] "
    "[(first|second|third|fourth|next|last|final)]"
)
_TAKEN = (
    "[[(that|which)] (i|i've|i'm|i am) [(just|now)] (took|hold|have|carry|holding|carrying|taken"
    "|got|(picked|pick) up|fetched|collected)|in [my] hand]"
)
_HELD = (
    f"({_DET} {{thing}} {_TAKEN}|it|this|that|[my] ingredient|what i hold|what i'm holding"
    "|what i have)"
)
_AT = "[[(at|on|in)] [(cell|position)] {at_x:n} {at_y:n}]"
_POT_SIDE = "({pot_side} [(hand|side)]|{pot_near})"
# What is in a pot, and that the chef faces it.
_CONTENTS = (
    "((with|holding|containing|[.] (that|which|it|already) [(already|now|still)] "
    "(has|have|hold|contain|got)) [(already|just|only|now)] [1 of] "
    "({pot_n:count} {pot_thing:kind}|{pot_n:count} [ingredient]) "
    "[(in it|inside|in there|already|now|so far)]"
    "|[.] (that|which) is [(still|now)] {pot_full:full})"
)
_A_POT = (
    f"(([(this|that|my)] (pot|pan) [{{pot}}] {_AT}|{{pot:nth}} (pot|pan) {_AT}"
    f"|{_POT_SIDE} (pot|pan|1)|(pot|pan|1) (on|to|at) {{pot_side}} [(hand|side)]"
    "|(pot|pan|1) ((on|to) my {pot_dir:dir} [(hand|side)]|{pot_dir:dir} [of] me)"
    "|[(this|that)] (pot|pan|1) {pot_ahead:facing}|[(still|other)] {pot_full:full} (pot|pan|1)) "
    f"[{_CONTENTS}] [[.] [(that's|that is|i . e [.]|namely)] (pot|pan) {{also:pot}}])"
)
_POT = f"({_A_POT}|{{pot:letter}})"
_FOR = (
    "[for ([(my|this|our)] [(next|first|second|third|last|final|onion|tomato)] "
    f"(soup|order|batch)|{_POT})]"
)
_BOX = (
    "[(from|at|out of) [(nearest|closest|this)] [{box:thing}] (dispenser|box|crate|pile|stack|"
    "supply|source|station|bin) [(in front [of me]|ahead [of me]|to my {box_side:side}|next to me"
    "|{box_way:way} of me|on [the] {box_way:way} [side])]|[right] here|in front of me|in hand|back"
    f"|(that's|that is|which is) [right] (here|in front of me|next to me)] {_AT}"
)
_BOXES = "{box:thing} [(dispenser|box|crate|pile|stack|supply|station|bin)]"
_TOP = (
    "([(nearest|closest|empty|free|nearest empty|nearest free|this|that|middle|central|next|my)] "
    f"(counter|worktop) {_AT}|[(cell|position)] {{at_x:n}} {{at_y:n}})"
)
_WINDOW = (
    "(window|serving (window|counter|station|area|hatch|point)|hatch|delivery [(window|station|"
    f"counter|area|point)]|customer) {_AT}"
)
# What lies on a counter, and where.
_LEFT = (
    "[(that|which)] ({other} [has] [just] (left|put|placed|set|brought|laid|dropped|passed|handed"
    "|leave|put down) [(down|over|there|here)] [for me]|(is|[is] (lie|lying|sit|wait|rest)))"
)
_LIES = (
    f"[{_LEFT}] [[(from|off|on|at)] ({_TOP}|here|there)] [[(to|on)] my {{at_dir:dir}} [side]"
    "|{at_dir:dir} of me|{at_front:ahead}] [for me]"
)
_KEEPS = "[and [i] (keep|stay|stick) (at|with|to|on) (it|this|that)]"
_BATCH = (
    "(it|[(my|our|this|that|next|first|second|third)] [(next|first|second|third|onion|tomato)] "
    "(soup|order|batch|pot|meal))"
)
_COOKS = (
    "[[and] (so [that] (it|soup|pot|this|cook) [can] (start|begin) [to] [(cook|boil|go)]"
    "|(which|that|and) [will] (start|begin|fill|complete) (it|pot|soup|cook)"
    "|to (start|get|set) (it|soup|pot) [(cook|boil|going|go|started)]"
    f"|(and|to) (get|bring|move) {_BATCH} [(1|one) (step|onion|ingredient)] (closer|nearer) to "
    "((cook|boil|start|completion)|[be] (done|ready|full|complete|finished|cooked))"
    f"|(to|and) (start|begin|complete|finish|continue|fill) [(off|up)] {_BATCH}"
    f"|(for|as [the] (start|base|first part) of) {_BATCH})]"
)
_BOWL = "[(with|onto|on|using|in|into) [(my|this|a)] [(clean|empty)] (dish|plate|bowl)]"
_SOON = (
    "[[.] (as soon as|moment|instant|when|once) [(it is|it's|soup is|that is|it gets)] "
    "(ready|done|finished|cooked)]"
)
_PART = (
    "(middle|bottom|top|end|centre|center|corner|(lower|upper|far) end) [cell] of [(my|this|our)] "
    "(column|aisle|side|row|corridor|lane|part|half|room|area)"
)
_TOWARD = (
    "[[.] (to|toward|facing|to face|to look at|at) [(empty|free|my)] {toward:front} [where {other} "
    "(put|is about to put|will put|leave|place|is about to place) "
    f"[{_DET}] [({{their:thing}}|it)] [(down|next)]]]"
)
_GET = (
    "(fetch|get|take|grab|collect|retrieve|gather|pick|snatch|secure|bring [back]|get hold of"
    "|obtain"
    "|(go|head|off|be off|go off) for|go (fetch|get|grab)) [(myself|me)]"
)
_IN = "[(and|to) (drop|put|add|tip|place|throw|pop|toss) it [(in|there|in there|inside)]]"
# What another chef is let do.
_DOES = (
    "(go|pass|move|act|work|decide|get|get (to|at|by|past|through)|reach|use|take|grab|fetch|bring"
    "|put|fill|finish|cook|plate|serve|deliver|do|have|clear|deal with|by|past|through|squeeze"
    f" (by|past|through)) [{_DET}] [({{their:thing}} [(dispenser|box|crate|pile|stack|supply)]"
    "|(pot|pan) [{their_pot:pot}]|window|serving window|counter|it|this|way|job|turn)] "
    "[(first|by|past|through|away|on|out of [my] way)]"
)
# Why one goes or waits: what another can do then.
_SO_OTHER = (
    f"(so [that] {{other}} (can|may|has room to|is able to) {_DOES}|(to|and) let {{other}} {_DOES}"
    "|[to get|to be] out of [(my|{other} s)] way|to (make|give|leave) [{other}] (room|space) "
    "[for {other}]|to (make way for|free (way|path) for|give way to|avoid) {other})"
)
_WATCH_OTHER = (
    "[(and|to)] ((see|watch|check|find out) (what|where|how|which way|whether|if) {other} "
    "(do|does|will do|is doing|is up to|heads|goes|moves|is (going|heading|headed|off to)|wants"
    "|(wants|is going|plans|intends) to (go|do)|will go|turns|takes|decides|plans)"
    "|(watch|observe|see|keep an eye on) {other})"
)
_SO_FREE = (
    "(for ([my] {other}|now|later|you)|so [that] my hand (is|be|are|get|become) (free|empty)"
    f"|to (free|empty|clear) my hand|{_SO_OTHER})"
)
_SOUP = "([(my|this|that)] [(ready|cooked|finished)] (soup|dish|order|plate|meal)|it|this)"
_IS_READY = "[(that|which)] (is|wait) [(ready|done|cooked|finished|cook)]"
_ONCE = "[(1|one) (step|cell|tile|square)]"
_GO = "(go|walk|move|run|head|head for|travel|make my way|off)"
_ASIDE = (
    "((step|move|go|get|walk) (aside|out of way|back|away)|retreat|back off|back up|back away"
    "|withdraw|fall back|pull back|shift|slide|slip|hop|relocate|reposition|get|scoot|shuffle"
    "|(clear way|make room|make way|give way) by (go|walk|move|step))"
)
_UNTIL = (
    "(until|till) (something|anything) [(else|new|important)] (happen|change|concern me|occur) "
    "[to me]|for [(a|an|some)] (change|event)|(until|till) [(a|an|some)] (change|event)"
)
_FOR_THAT = (
    f"for ({_SOUP}|{_POT}|{{other}}) [to (cook|finish|be (ready|done|cooked)|finish cooking|move"
    " [(away|on|out of [(my|the)] way)]|pass|leave|get out of my way)]"
    f"|while ({_SOUP}|{_POT}) cook"
    f"|(until|till) ({_SOUP}|{_POT}|{{other}}) ((is|are|has|have) [been] (ready|done|cooked|cook"
    "|finished|moved|left|passed|gone|away|out of [(my|the)] way) [(away|by|on)]"
    "|(cook|finish|move|leave|pass|go away) [(away|by|on|out of [(my|the)] way)])"
)
_AHEAD = "(in front [of me]|ahead [of me]|before me|(that|which) i face|i face|i'm facing)"
_FACED = (
    "(it|this|(what|whatever) (i face|i'm facing|is in front of me|is ahead [of me])"
    f"|[(this|that|empty)] {{front}} [{_AHEAD}])"
)
_CELLS = (
    *("{x:n} {y:n}", "x [=] {x:n} [and] y [=] {y:n}", "column {x:n} [and] row {y:n}"),
    *("y [=] {y:n} [and] x [=] {x:n}", "row {y:n} [and] column {x:n}", "x y [=] {x:n} {y:n}"),
)
PHRASES = {
    "fetch": [f"{_ON} {_GET} {_DET} {{thing}} {_BOX} {_FOR}",
              f"[[(go|walk|head|run|off)] [over] to] [(nearest|closest)] {{box:thing}} "
              f"(dispenser|box|crate|pile|stack|supply|station|bin) {_AT} [.] [i] {_GET} "
              f"({_DET} {{thing}}|[(1|one)])",
              f"(go|walk|head|run|off|go over|walk over|head over) [over] to {_BOXES} "
              "(and|to) (take|get|grab|fetch|collect|pick up|pick|pull|draw) "
              "[(1|one|it|for a|a|{thing})] [(out|up|off [it]|from (it|there)|out of (it|there))]",
              f"(go|walk|head|run|off) [over] to {_BOXES} for {{thing}}",
              f"(i|we) (want|would like) {_DET} {{thing}}",
              f"{_DET} {{thing}} (is|be) what (i am|i'm|we are) after",
              f"(i'm|i am|be) (after|on) {_DET} {{thing}} [duty]",
              f"(handle|cover|take care of|see to|look after|be in charge of|do) {_DET} {{thing}} "
              "[duty]",
              f"get {_DET} {{thing}} ready",
              f"help myself to {_DET} {{thing}} {_BOX}",
              f"{_ON} go for {_DET} {{thing}}",
              f"{_ON} {_GET} {_DET} {{thing}} (from|at) [(cell|position)] {{at_x:n}} {{at_y:n}} "
              f"{_FOR}",
              f"{_ON} pick up {_DET} {{thing}} (from|at|out of) [(nearest|closest)] [{{thing}}] "
              f"(dispenser|box|crate|pile|stack|supply) {_AT} {_FOR}"],
    "go on": ["(keep|keep on|stay|stick|carry on|continue|go on|keep going|keep up|proceed|still)"
              " [(with|at|on)] ({thing}|[{thing} (in|from|at)] pot {pot}) "
              "[(plan|run|job|duty|errand|thing|business|task"
              "|idea|trip|delivery|fetch|work|mission)]",
              "(keep on|stay|stick|carry on|continue|go on|keep going|proceed) (with|at|on) "
              "[(my|this|same|current)] [(current|last)] (skill|task|job|errand|trip)",
              "[(stay|keep|remain) on (course|track|task) and] (keep|stay|stick|carry on|continue"
              "|go on|keep going|proceed|keep on|finish|complete) [(with|at|on)] "
              f"[my] {{doing}} [(of|with|from)] [({_DET} {{thing}}|pot {{pot}})]"],
    "put in": [f"{_ON} (put|add|drop|place|throw|toss|bring|carry|take|deliver|load|insert|tip"
               "|pop|walk|run|rush) "
               f"[{_HELD}] [(over|across|straight)] (in|into|to|inside|over to) {_POT} {_IN} "
               f"{_COOKS}",
               f"{_ON} {_GO} to {_POT} (and|to) (put|drop|add|place|throw|tip) {_HELD} [(in"
               "|there)]",
               f"(drop|get|put|stick|chuck|fling) {_HELD} [off] (in|into|at|to) {_POT}",
               f"(use|spend) {_HELD} (on|in|for|at) {_POT}", f"[.] {_POT} (gets|takes) {_HELD}",
               f"(start|begin|finish|complete|continue|top up|fill) {_POT} [(off|up)] with {_HELD}",
               f"(start|begin|finish|complete) {_DET} (soup|batch|order) [.] [(with|by)] {_HELD} "
               f"(goes|belongs|is going) (in|into|to|inside) {_POT}",
               f"{_POT} is where {_HELD} (goes|belongs|is going)",
               f"{_HELD} (goes|belongs|is going) (in|into|to|inside) {_POT}",
               f"{_A_POT} [please] [.] {_HELD} (goes|belongs|is going) (in|into|inside) "
               "[(there|it)]",
               f"{_ON} (bring|carry|take) {_HELD} (up|down|round|around|along) to {_POT} {_IN}",
               f"use {_POT} for {_HELD}", f"(start|begin) (fill|filling) {_POT}",
               f"(fill|load) [up] {_POT} [with {_HELD}] {_COOKS}",
               f"(finish|complete|top up|top) {_POT} [(off|up)]",
               f"(do|handle|take care of|take) {_POT}",
               "(start|begin|make) (second|new|another|next|fresh) (soup|batch|order) "
               f"(in|with) {_POT}", f"fill {_POT} up [with {_HELD}]",
               f"add {_HELD}", f"feed {_POT} [with {_HELD}]", f"feed {_HELD} to {_POT}",
               f"{_HELD} (in|into|to) {_POT}",
               f"{_ON} {_GO} (to|over to) {_POT} with {_HELD}"],
    "start": [f"(start|cook|turn on|switch on|activate|heat|begin) [cooking] [(in|with|at)] {_POT}",
              f"(cook|start|begin) [(cook|cooking)] [soup] in {_POT}", f"turn {_POT} on",
              "start cooking [soup]", f"(get|set) {_A_POT} (going|cooking|started|to (cook|boil))",
              f"let {_POT} (cook|boil|start|start cooking)"],
    "plate from": [f"{_ON} (plate|plate up|dish up|dish) [{_SOUP}] [{_IS_READY}] "
                   f"[(from|out of|in|of)] {_POT} {_BOWL} {_SOON} {_KEEPS}",
                   f"{_ON} ({_GET}|scoop|ladle|pick up) {_SOUP} [{_IS_READY}] (from|out of|in|of) "
                   f"{_POT} {_BOWL} {_SOON}",
                   f"{_ON} (plate|plate up|dish up) {{pot:pots}} {_SOUP} {_BOWL} {_SOON} {_KEEPS}",
                   f"(stand|wait|get|stay|be) ready (at|by|beside) {_POT} to "
                   f"(plate|plate up|dish up|scoop) [{_SOUP}]",
                   f"[(keep|keep on|continue|just)] (wait|stay|stand by) "
                   f"[(here|at {_POT}|by {_POT})] [for {_SOUP}] [(in|from|at) {_POT}] "
                   "[to (cook|finish|be (ready|done))] "
                   f"[.] [(and|to)] [then] (plate|plate up|dish up|scoop|ladle) [{_SOUP}]",
                   f"{_SOON} [.] [i] (plate|plate up|dish up|scoop|ladle|(put|get) it (on|onto) my "
                   "(dish|plate)) [it]",
                   f"(wait|stay|stand by) [(here|at {_POT}|by {_POT})] [with [my] (dish|plate)] "
                   f"(until|till) ({_SOUP}|{_POT}) (is|be) (ready|done|cooked|finished) [.] "
                   "(and|then|to) [then] (plate|plate up|dish up|scoop|ladle) [it]",
                   f"fill my dish (from|at) {_POT}",
                   f"{_ON} (plate|plate up|dish up) {_SOUP} {_BOWL} {_SOON} {_KEEPS}"],
    "serve": [f"{_ON} (serve|deliver) [{_SOUP}] [(at|to|on|through) {_WINDOW}] "
              "[for {points:count} point]",
              f"(hand|pass|give) {_SOUP} over [to {_WINDOW}]",
              f"{_ON} (bring|take|carry|hand|send|pass|run|rush) {_SOUP} [over|out] (to|through) "
              f"{_WINDOW}",
              f"put {_SOUP} (to|through|over) {_WINDOW}",
              f"{_ON} {_GO} [(on|over|straight)] to {_WINDOW} [with {_SOUP}]",
              f"(hand|turn) (in {_SOUP}|{_SOUP} in)", f"(send|hand) (out {_SOUP}|{_SOUP} out)"],
    "put down": [f"(put|set|lay|place) down [{_HELD}] [[(on|onto|at)] {_TOP}]",
                 f"(put|set|lay|place) {_HELD} down [(on|onto|at) {_TOP}]",
                 f"(put|set|lay|place|leave|drop|park|stow|rest) {_HELD} (on|onto) {_TOP}",
                 f"(bring|carry|take) {_HELD} to {_TOP}",
                 f"(put|set|lay|place) {_HELD} down [(on|onto|at) {_TOP}] {_SO_FREE}",
                 f"(put|set|lay|place) down {_HELD} [(on|onto|at) {_TOP}] {_SO_FREE}",
                 f"(put|set|lay|place|leave|drop|park|stow|rest|dump) {_HELD} (on|onto) {_TOP} "
                 f"{_SO_FREE}", f"get rid of {_HELD} (on|onto) {_TOP}",
                 f"(set|put|lay) {_HELD} aside",
                 f"(put|set|lay|place) {_HELD} [down] (here [somewhere]|somewhere [(here|near)])",
                 f"(drop|let go of|get rid of|ditch|discard) {_HELD}", "drop"],
    "pick up": [f"{_ON} pick up {_DET} {{thing}} {_LIES}",
                f"{_ON} {_GET} {_DET} {{thing}} {_LEFT} [(from|off|on|at) {_TOP}] {_LIES}",
                f"{_ON} {_GET} {_DET} {{thing}} [(from|off|on)] {_TOP} {_LIES}",
                f"{_ON} pick (it|one|1|this|that) up {_LIES}",
                f"{_ON} pick up (it|one|1|this|that) {_LIES}",
                f"pick {_DET} {{thing}} up [(from|off) {_TOP}]",
                ],
    "take it": [f"{_ON} {_GET} (it|this|that)"],
    "press": ["(press|push|hit|use|activate) [(a|the|my|nearest|closest|recipe)] [recipe] button"],
    "wait": [*WAITING, "[(keep|keep on|continue|continue to|go on|still)] "
             "(wait|stay|idle|stand still|stand by|do nothing|no op|pass|hold|stop|remain|pause|"
             "hang (back|on)) [(here|right here|still|put|in place|where i am|there"
             "|at my (place|cell|spot))] "
             "[(for a (moment|bit|second|while)|[for] this step|step|1 step|one step|for 1 step"
             "|for one step|for my turn"
             f"|[for] {{n}} (step|turn)|with {_HELD} [in hand]|{_FOR_THAT}|{_UNTIL})]",
             "(wait|stay|stand still|stand by|hold|hold (on|still)|remain|pause|hang back) [(here"
             "|right here|still|put|in place|where i am|in position)] "
             "[[for] [(this|1|one|a)] (step|turn|moment|bit|while|second)] "
             f"({_SO_OTHER}|while {{other}} {_DOES}|{_WATCH_OTHER})",
             f"do nothing [for] [(this|1|one|a)] [(1|one)] [(step|turn|moment|bit|while)] "
             f"{_WATCH_OTHER}",
             "wait for [(more|another|next|new|some|my)] {thing} [from {other}]",
             f"(pass|skip) [(my|this)] (turn|step) [(and|to)] ({_WATCH_OTHER}|{_SO_OTHER})",
             "stay idle", "[(hold|keep|maintain)] [my] position",
             "(do not|don't|won't|i'm not|not) (move|budge) (at all|(this|1) (step|turn)|for now)",
             "no (move|movement) [(this|for this) (step|turn)]",
             "(stay|keep) out of [(my|{other} s)] way and wait",
             "let {other} (go|pass|move|act) [(first|by|past|through)]",
             "(skip|pass) [(my|this)] (turn|step)"],
    "go to": [f"({_ON} {_GO}|(my|the) [next] (destination|target|goal|place|spot|position|stop"
    f"|cell) "
              f"[is|will be]|make for|make my way|[go] [and] stand|(station|position|place|park) "
              f"myself|step|take [up] [my] (position|place|post)|reach|wait|take) "
              f"[over|back|across|up|down|on|straight] [{_ONCE} [to] [my] ({{way}}|{{side}})] "
              f"[(to|at|onto)] "
              f"[{_PART}] [(cell|tile|square|position|spot|"
              f"floor cell)] [at] {place} [{_PART}] [[(to get|to be)] out of [(the|my)] way]"
              for place in _CELLS]
             + [f"({_ASIDE}|[get] out of [the] way|(make|give) [some] (room|way|space)|clear way) "
                f"[.] [({_ON} {_GO}|step|move|stand|wait)] [(over|back|across|up|down)] [(to|at)] "
                f"[(cell|tile|square|position|spot|floor cell)] [at] {place}"
                for place in _CELLS]
             + [f"({_ON} {_GO}|{_ASIDE}|step|move|stand|wait) [(over|back|across|up|down|aside)] "
                "[(to|at|onto|on)] [(cell|tile|square|position|spot|floor cell)] [at] "
                f"{place} [[.] {_SO_OTHER}]"
                for place in _CELLS],
    "step": ["take (1|one|a single) step [to] [my] ({way}|{side})",
             f"[({_GO}|step|turn|face)] {_ONCE} [to] {{way}} {_ONCE} [as before]",
             "(keep|continue|still) (face|go|walk|turn) {way}",
             "{way} [.] to (turn to|turn toward|face|look at|turn and face) "
             "[(empty|free|my)] {toward:front}",
             f"({_GO}|step|turn|face) {_ONCE} [to] [my] {{side}} {_ONCE} {_TOWARD}",
             f"({_GO}|turn) {_ONCE} [to] {{way}} {_TOWARD}",
             "[(go|turn)] [back] [to] face [(empty|free)] {toward:front} (on|to) [my] "
             "({way}|{side}) [(side|hand side|of me)]",
             "take [(1|one)] step [to] ({way}|{side})", "back {way}", "{way} once",
             f"({_GO}|step) [a] (cell|tile|square) [to] [my] ({{way}}|{{side}})"],
    "interact": [f"(interact|interact with) [{_FACED}]", f"use {_FACED}"],
}  # fmt: skip
SHORT = {
    "fetch": ["{thing} (duty|run)", "{thing} (it is|first)",
              "[(i'll have|i will have|i'd like|i would like|time for)] "
              f"[(1|one|another|a|fresh|clean)] [(first|second|third|next|last)] {{thing}} {_BOX}"],
    "put in": [_A_POT, f"{_DET} {{thing}} go (in|into|to) {_POT}",
               f"(in|into|to|off to) {_POT} (with {_HELD}|{_HELD} go)",
               f"{_DET} {{thing}} (in|into|to|for|is for) {_POT}", f"{_POT} for {_HELD}"],
    "go to": ["[(1|one) (cell|step|square|tile|pace)] [over|back|across|up|down|off|on|straight] "
              "to [(cell|tile|square|position|spot)] {x:n} {y:n}", "{x:n} {y:n} it is"],
}  # fmt: skip
SIDES = {"up": "north", "down": "south", "right": "east", "left": "west"}
WAYS = {f"{way}{ward}": way for way in SIDES.values() for ward in ("", "ward")}
# (axis, whether the greatest is meant) of the place of a pot among others.
SIDES_OF_POTS = {
    name: end
    for end, names in {
        (1, False): ("left", "leftmost", "west", "western"),
        (1, True): ("right", "rightmost", "east", "eastern"),
        (0, False): ("upper", "top", "north", "northern"),
        (0, True): ("lower", "bottom", "south", "southern"),
    }.items()
    for name in names
}
FRONTS = {"counter": COUNTER, "worktop": COUNTER, "pot": POT, "pan": POT, "window": SERVING,
           "serving window": SERVING, "hatch": SERVING, "recipe button": BUTTON} | {
    f"{thing} {box}": code
    for thing, code in ALL_DISPENSERS.items()
    for box in ("dispenser", "box", "crate", "pile")
}  # fmt: skip
# A dispenser is also called by what it holds ("turn to the onions").
FRONTS |= ALL_DISPENSERS | {"plate": DISHES, "bowl": DISHES}
FACING = (
    *("i'm facing", "i am facing", "i face", "that i face", "that i'm facing", "i'm looking at"),
    *("in front of me", "right in front of me", "ahead of me", "before me", "i look at"),
)
FULLNESS = {"empty": "empty", "fuller": "most", "fullest": "most", "emptier": "least",
            "emptiest": "least"}  # fmt: skip
DIRECTIONS = {
    "right": (1, 1),
    "left": (1, -1),
    "above": (0, -1),
    "below": (0, 1),
    "east": (1, 1),
    "west": (1, -1),
    "north": (0, -1),
    "south": (0, 1),
}  # axis, sign
DOING = {"plating": "plate from", "pickup": "pick up", "pick up": "pick up", "delivery": "serve",
         "serving": "serve", "delivering": "serve", "fetching": "fetch", "filling": "put in",
         "walking": "go to", "picking": "pick up"}  # fmt: skip
CHEFS = {f"chef {i}": i for i in range(6)} | {"partner": -1, "teammate": -1, "other chef": -1}
THINGS = {name: name for name in ALL_OBJECTS} | {
    "plate": "dish", "bowl": "dish", "clean dish": "dish", "clean plate": "dish",
    "empty dish": "dish", "empty plate": "dish", "dish of soup": "soup", "finished soup": "soup",
}  # fmt: skip
