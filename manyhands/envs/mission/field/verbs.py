"""Phrases of what agents on a field do besides walking: pressing, locking, beams."""

from __future__ import annotations

from manyhands.core.reading.phrases import TIME

PLACE = (
    "[(cell|square|tile|spot|position|corner)] [(at|in|on)] "
    "(row {row:n} [and|.] column {column:n}|{pair_row:n} {pair_column:n})"
)
_FACED = "[[that] (i'm|i am) facing]"
AHEAD = "[(ahead|forward|straight ahead|in front [of me]|ahead of me)|[to] [the] {facing:way}]"
_RAY = "(beam|zapper|ray|gun|zap)"
WHO = (
    "(whoever is (ahead|in front|in front of me|in range)|them|em|him|her|(the|that) [other] {who}"
    "|{who}|the other|everyone|everybody|whoever is there)"
)
_SIDE = (
    "[right] (near|beside|around|next to) me"
    "|[in [the] (cell|square)] (to|on|at) [(my|the)] {side:way} [side] [of me]|{side:way} of me"
    f"|{{side:near}} me|{PLACE}|(at|on|in) [the] [{{edge:way}}] (edge|wall|corner|border)"
)
_PREY = (
    f"({WHO}|it) [(now|right away|right now|at once)] [(who|which|that) is] [{_SIDE}] "
    "[[.] [(while|when|as|with)] [(it|him|her|them|{who})] [is] [still] (cornered|trapped|stuck"
    "|in reach|within reach)|before [(it|he|she|they|{who})] [can] (slip away|escape|get away|run"
    "|run away|flee|leave|move [away|on]|go)]"
)
_HERE = "[(here|where i (am|stand)|in this room|in my room|in room {at:room}|on (this|my) cell)]"
_DOORS = "[(of|for|to) door {door:n}]"
# Staying, also until something grows or is ready.
_PLANT = (
    "[(more|some|new|another|the next)] "
    "(apple|tree|fruit|crop|orchard|patch|patches|food|harvest|ore|gold|iron)"
)
REST = (
    "(stay|stay right here|wait|remain|hold|stand|hold still|keep still|stand still|stay put"
    "|do nothing|pause)"
)
GROWS = (
    f"{REST} {TIME} [and] (let|to let|so that|so) {_PLANT} [can] (grow|regrow|ripen|recover) "
    "[back] [again]",
    f"{REST} {TIME} (for|until|till) {_PLANT} [to] (grow|regrow|ripen|recover|has grown) [back]",
    f"{REST} {TIME} (for|until|till) [my] (beam|zap|zapper|tag) "
    "[to] (recharge|cool down|(be|is) ready [again]|work again)",
    f"{REST} [(here|still|put|right here)] {TIME} (until|till) (i (can|may|am able to) (tag|zap"
    "|act|move|use it|use (it|my (tag|beam|zap|zapper))|shoot|fire|freeze|hit) [(again|them|him"
    "|her|someone"
    "|somebody|{who}|a {who}|one)]|(i'm|i am|it is|it's) (ready|able to (tag|zap|act|move)) "
    "[again])",
    "(not|don't|do not|won't) move [yet] (until|till) [my] (beam|zap|zapper|tag) "
    "((be|is) (ready|recharged)|recharge) [again]",
    f"let {_PLANT} (grow|regrow|ripen|recover) [back]",
)
# Verb -> its patterns; others have their own name, and are aimed as beams are.
VERBS = {
    "press": [f"(press|push|hit|use|activate) (the|this|that) (button|switch) {_DOORS} {_HERE}",
              f"(press|push) (button|switch|it) {_HERE}"],
    "repair": [f"(repair|fix|work on|mend) [(the|this|that)] [broken] (generator|machine|engine) "
               f"{_HERE}", f"(repair|fix|mend|work on) it {_HERE}",
               f"(start|begin|continue) [the] repair {_HERE}",
               f"(keep|keep on|go on|continue) (work|repair) [on] [(it|the (generator|machine))] "
               f"{_HERE}"],
    "drop": [f"(drop|put down|lay down|leave|lay|set down|put) (the|my|this|a) key {_DOORS} [down] "
             f"{_HERE}", f"(drop|put|lay|set) (it|my key|key) [down] {_HERE}", "let go of my key"],
    "lock": [f"(lock|secure|bolt|fasten|anchor|fix) ([(the|this|that|my)] box|it) {_FACED} "
             f"[(in place|down|here|where it (is|stand)|with [(a|the|my)] lock|by lock it)] {AHEAD}"
             " [again]",
             f"[(the|this|that)] box {_FACED} get lock {AHEAD} [(now|by me)]".replace(
                 "lock", "locked"),
             "put [(a|the|my)] lock on ([(the|this|that)] box|it)"],
    "unlock": [f"(unlock|open|release|free|unbolt) ([(the|this|that|my)] [locked] box|it) {_FACED} "
               f"{AHEAD} [again]", "unlock [again]",
               "(undo|open|remove|take off|lift|release) [(the|that|this|my)] lock [again] "
               "[(of|on|from) [(the|this|that)] box] [again]"],
    "zap": [f"(zap|shoot|fire at|fire on|blast) {WHO} {AHEAD}",
            f"(fire|shoot|use) [(the|my|a)] [zap] (beam|zap|zapper|gun) {AHEAD}",
            f"(shoot|fire|zap) {AHEAD}",
            f"(take|knock) {WHO} (out|down|off) [with [(my|the|a)] {_RAY}] {TIME}",
            f"(take out|knock out|stun|beam|freeze out|eliminate|remove|take down|strike down) "
            f"{WHO} [with [(my|the|a)] {_RAY}] {TIME}",
            f"(hit|strike|shoot|zap|get|blast) {WHO} with [(my|the|a)] {_RAY}",
            f"(send|put) {WHO} (away|off|out|out of (action|the game|play|the way)|back to "
            f"(its|his|her|their|the) start) [with [(my|the|a)] {_RAY}] {TIME}",
            f"(open fire|let (fly|it rip)|pull the trigger) [(on|at) {WHO}]",
            f"(fire|shoot|use|aim|let loose|turn|discharge) [(my|the|a)] {_RAY} "
            f"[(at|on|against|into)] {WHO}",
            f"give {WHO} [a] (zap|taste of [(my|the)] {_RAY})",
            f"{WHO} (get|is) (zapped|shot) [by me]",
            ],
    "clean": [f"(clean|wash|scrub|spray|clean up) [(the|this|some)] [dirty] "
              f"(river|water|dirt|pollution|waste) {AHEAD}",
              f"(clean|scrub|wash) (it|up) {AHEAD}",
              "(scrub|wash|spray) the (river|water) (clean|down)",
              "(clean|wash|scrub) {cells:n} cell [[of] [dirty] (river|water|dirt)] [now]",
              "(i|i will|i'll) clean",
              f"(clean|wash) (away|up|off) [(the|this|some)] (dirt|pollution|waste) {AHEAD}",
              f"(fire|shoot|use|send out) [(the|my|a)] (cleaning beam|clean beam|clean) "
              f"[(at|on|into) [the] [dirty] (river|water|dirt|pollution|waste)] {AHEAD}"],
    "tag": [f"(tag|touch|freeze) {_PREY}",
            f"(use|apply) [(the|my)] tag (on|against|to) {_PREY}",
            "tag [now] [.] with {who} (cornered|trapped|in reach|within reach|beside me)",
            "tag all [(near|beside|around) me]", "(freeze|tag) (them|everyone|everybody) [all]",
            "use [(the|my)] (freeze|freezing)"],
    "mine": [f"(mine|strike|dig|dig up|hit|dig for) [(the|this|that|some)] {{ore}} {AHEAD}"
             f" [(at|on) {PLACE}]",
             f"(mine|strike|hit|dig up) it {AHEAD}",
             f"(swing|use) [(my|the)] (pickaxe|pick|axe) {AHEAD}",
             f"(mine|strike|dig) {AHEAD}"],
}  # fmt: skip
