"""Ways to name a square or a column, as `Grammar`s."""

from __future__ import annotations

import string

from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.words import names

_STONE = "(stone|piece|token|disc|disk|counter|mark|symbol|checker|chip|man|marker|tile|{mark})"
_WHICH = (
    "[a|my|another|1|one|this|the] [next|first|opening|second|third|fourth|fifth|sixth|new|own"
    "|single] [own]"
)
_OBJECT = f"{_WHICH} ({_STONE}|move|one|1|it|mine)"
_ON = (
    "(on|in|at|to|into|onto|for|with|down|over|inside|upon|through|right down|straight down"
    "|right in"
    "|down into|down in|right at|straight into)"
)
_VERB = (
    "(play|take|place|put|mark|choose|pick|claim|occupy|drop|go|set|select|use|make|move|start"
    "|begin|open|say|want|stick|grab|get|have|lay|position|plant|land|settle|fill|seize|capture"
    "|slide|release|insert|call|name|do|sit|stand|try|enter|build|stack|add|fall|cap|plug|stuff"
    "|toss"
    "|chuck|lob|throw|shove|pop)"
)
_LINE = (
    "[(x's|o's|{whose:mark}|opponent's|player 0's|player 1's|your|their|his|my|the|a|our|this"
    "|that)] [(winning|open|own)] "
    "[(top|upper|middle|bottom|lower|left|right|first|second|third|long|vertical|horizontal)] "
    "(row|column|diagonal|line|threat|attack|three|two|win|fork|three in [a] row) "
    "[({line:letter}|{line_number:n})]"
)
_RIVAL = "(x|o|{mark}|[my] (opponent|rival)|them|him|her|player 0|player 1|other [player])"
_WITH = (
    "(with|at|on|in|by (play|take|choose|mark|fill|go|drop|(put|drop|play|place) "
    f"(a|my|another) {_STONE}) [(in|into|at|on)])"
)
_PLAY = (
    f"[{_VERB} [{_OBJECT}] [{_ON}]"
    f"|{_OBJECT} [(sit|stand|rest|be)] {_ON}"
    f"|{_OBJECT} (go|land|fall|drop|sit) [{_ON}]|put down {_OBJECT} [{_ON}]"
    f"|let (fall|drop|go|slide) {_OBJECT} {_ON}"
    f"|let {_OBJECT} (go|fall|drop|sit|stand|land|rest|be|slide) {_ON}"
    f"|put {_OBJECT} down {_ON}|have {_OBJECT} {_ON}|go [ahead] and (take|mark|claim)"
    "|(straight|right) down [into]|down [into]|into|onto|on to|in|on"
    "|win [the|this] [game] (with|at|on|by (play|take))"
    "|(complete|finish|make) [the|my|a] [winning] (line|diagonal|row|column|three) (with|at|on|in)"
    f"|(build|make|start|form|begin|extend|line up|shut|close|seal|lock|plug) {_LINE} "
    "[(down|off|up)] (via|through|by|at|on|with)"
    f"|(block|stop|prevent|cut off|break|complete|finish|extend|make) {_LINE} {_WITH}"
    "|(block|stop|cut off) {near:neighbour} [(at once|right away|immediately)] "
    f"by (sit|play|place [{_STONE}]|go) [[right|directly] (next to|beside) it] (on|at|in)"
    "|block (with|by (play|take))"
    f"|(block|stop|cut off|shut out|deny) {_RIVAL} {_WITH}|cut {_RIVAL} off {_WITH}"
    f"|(stay|stick|remain|continue|keep|go on) (with|to|in|at)|(block|defend|cover) [{_ON}]"
    f"|[{_VERB}] [{_OBJECT}] on top of (x's|o's|{{whose:mark}}|opponent's|your|their|my|the) "
    f"[{_STONE}] (in|at|of)"
    "|[(my|one)] [only] [(winning|blocking|strongest|best|usual|natural|classic|standard|normal"
    "|obvious|right|correct|proper|safest|typical|textbook|good|sensible|first|next|opening)] "
    "(move|square|reply|spot|answer|response|opening [move]|start|stone|column) "
    "[here] [(is|be|.)]"
    "|{mark} [->|-|in|at|on|to|into]]"
)
# What lies beside it, or at the other end of the board, which is checked.
_ACROSS = (
    "[(directly|right|straight|exactly|just)] "
    "(opposite [(to|of)]|across [(from|to)]|on [the] (other|opposite) side (of|from)|facing)"
)
_BY = (
    "[right|just|directly|diagonally] (next to|beside|adjacent to|by|alongside|touching|close to"
    "|diagonal to|diagonal from) "
    "{near:neighbour} [(on|to) [its] {hand} [side] [of it]|(on|in) [the] (middle|top|bottom|left"
    "|right|centre|center|same|first|second|third|fourth|fifth|last) (row|column)]"
)
_END = (
    "[(for|from) me|with my [next] (stone|mark|{mark})|for [a|the|my] (block|win|defence|defense)"
    "|[again] [.] [(right|straight|directly)] (on top of|above) {on:neighbour}"
    "|(.|and) ((your|now your|now it is your|it's your) (turn|move|go) "
    "[(player 0|player 1|now|my friend)]|over to you)"
    "|[.] [the] (opposite corner (of|to|from)|corner opposite [(of|to|from)]) {opposite:neighbour}"
    f"|[.] ({_BY}|[as] far [away] (from|of) (everything|all|it|everyone|others|{{far:neighbour}})"
    " [as (possible|i can [(get|go|be)])])"
    f"|[.] {_ACROSS} {{facing:neighbour}}"
    "|[.] (near|close to|around|toward|towards) (middle|centre|center) [of board]"
    "|[.] one of [the] [{n}] (central|middle|centre|center|corner|edge) squares"
    "|[.] (i|i'll) (sit|stack|play|go) [right|straight|directly] on top of {on:neighbour}]"
)
# What a move brings, which names no other move of one's own.
_ROWS = "[(bottom|top|middle|left|right|same|long|first|second|third|this|that|1|one)]"
_GAIN = (
    "[[(.|-)] [(which|and|to|that|it|this|so|because it)] "
    "(make|give [me|us]|build|get me|create|keep|leave me|set up|bring|mean) "
    "[(a|my|me|up|us)] ({n}|pair|fork|[double] threat|line|chance|three|two|row)"
    f" [(in|on|along|of) {_ROWS} (row|column|line|diagonal|bottom|side)] [open] "
    f"[(and|so|that) (force|make|send|push) {_RIVAL} "
    "[to] [(block|play|take|answer|go|reply|respond)] [(at|on|to|in)] "
    "[({next:letter} {next_row:n}|there|it)]]"
    f"|[(.|-)] (.|and|so) [(that|it|this)] [threaten [to win (at|with|on)] {{next:letter}} "
    f"{{next_row:n}}] [.] [so] [{_RIVAL} (has to|must|will have to|is forced to|need to) "
    "(block|answer|reply|respond|defend|play|go) [(there|it|at once)]]]"
)
# The same before the square.
_FIRST = (
    f"([one|1|square|column] {_BY}"
    f"|[{_VERB}] [{_OBJECT}] {_ACROSS} {{facing:neighbour}}"
    f"|[{_VERB}] [{_OBJECT}] [(right|straight|directly)] (on top of|above|on) {{on:neighbour}}"
    f"|[{_VERB}] [{_OBJECT}] [{_ON}] (opposite corner (of|to|from)|corner opposite [(of|to|from)]) "
    "{opposite:neighbour})"
)
_EXTEND = (
    "(extend|continue|lengthen) [(my [{whose:mark}] [(line|row|chain|stone|column)]|it|that"
    "|this [(line|row)])] "
    "[(up|upward|down|downward|left|right|to left|to right|diagonally|sideways|leftward"
    "|rightward)] "
    "[(with|at|on|by (play|take))]"
)
_FOR = f"(for|with) {_WHICH} {_STONE}"

# ---- columns -------------------------------------------------------------------------------------

_KEEPS = (
    "[(.|-)] [(reason|since|because)] [.] (it|this|that|which|to) "
    "(keep|connect|link|leave|join) [my] "
    "{a:n} [(.|and)] [my] [{b:n}] [(.|and)] [my] [{c:n}] [and] [my] [{d:n}] "
    "[(on|in) [the] [(bottom|first)] row [{height:n}]] [(connected|open|together|linked|alive)]"
)
_COL = "(col|column|slot|lane|file|one|1|stack)"
_SIDE = "(side|edge|end|border|wall)"
_BY_FULL = (
    "[right|directly|just] (beside|next to|by|alongside|adjacent to) [the] full (one|1|column)"
)
_FULL = f"[.] {_BY_FULL}"
_INSIDE = "([just|right|directly] (next to|beside|inside of|inside)|(one|1) [in] from)"
_CENTRAL = "(middle|centre|center|central) [(square|spot|cell|place)]"
_GAP = (
    "[(close|plug|bridge)] [(empty|free|open|only|one|1)] [(square|space|gap|hole|spot|place|col"
    "|column|slot)] [left]"
)
_NAMED = {
    "column": [
        "[in|into|to] [col|column|slot|lane|number|no] [.|number|no] [.] {n}",
        "[in|into|to] (empty|free|open|unused) (col|column|slot|lane) {n}",
        "{n} (st|nd|rd|th) (col|column|slot|lane)",
        "[(col|column)] {n} [.] [(together|along|in line)] with [my] [(stone|column|the one in)] "
        "{with:n} [(that|it|this)] (make|give me|build) {many:n} in [a] [(bottom|lowest|first)] "
        "row",
        f"[(col|column)] {{n}} {_KEEPS}",
        "[in|into|to] (col|column) {letter}",
        "(col|column) = {n}",
        "(col|column) [.] [number] {n} [and] [at|on|in|to] row {row:n}",
        "[[on] top] [at|in] row {row:n} [and|of|in] (col|column) [number] {n}",
        "[at|on] {row:floor} of (col|column) [number] {n}",
        "[(empty|free|open|last)] (gap|hole|square|space|spot) [(at|on) {row:floor}] (in|of) "
        "(col|column) [number] {n}",
        "[at|on|in] [the] {row:ordinal} (row|square) (of|in|on) (col|column) [number] {n}",
        "[(col|column)] {n} [(and|.)] [(in|on|at)] ({row:floor} [row]|row {row:n})",
    ],
    "ordinal": [
        f"{{ordinal}} {_COL} [from left|along|across|over]",
        f"{_COL} {{ordinal}} from [the] left",
        f"{{row:floor}} of {{ordinal}} {_COL} [from left]",
        f"[(empty|free|open|last)] (gap|hole|square|space|spot) [(at|on) {{row:floor}}] (in|of) "
        f"{{ordinal}} {_COL}",
        "{ordinal} [from [the] left]",
    ],
    "last": [
        f"[one on|1 on] (rightmost|right most|last|far right|extreme right|very right) [{_COL}]",
        "all the way [to] [the] right",
        f"(extreme|far|very) right [{_SIDE}|hand side|hand {_COL}]",
        f"right [hand] {_SIDE} [of board]",
        f"last [{_COL}] [on|to|at] right",
        f"{_COL} (on|at|to) [the] (far|extreme|very) right [side]",
        f"{_COL} (on|at) [the] right [hand] {_SIDE}",
    ],
    "from the right": [
        f"{_COL} [that is] {{ordinal}} from [the] right",
        f"{{ordinal}} [{_COL}] from [the] right",
        f"{{ordinal}} [{_COL}] (to|from) [the] (last|end) [{_COL}]",
    ],
    "by the middle": [
        f"[{_COL}] [just|directly|right|immediately] [to] {{beside}} [of] (middle|centre|center) "
        f"[{_COL}]",
    ],
    "by a column": [
        f"[{_COL}] [just|directly|right|immediately] [to] {{beside}} [of] [(col|column)] {{n}}",
        f"[{_COL}] [just|directly|right|immediately] (next to|beside|by) (col|column) {{n}} "
        "(on|to) [its] {beside} [hand] [side]",
    ],
    "penultimate": [
        f"(penultimate|second last|next to last|last but one|last but 1) [{_COL}]",
        f"{_COL} [just|right] before [the] (last|rightmost) [{_COL}]",
        f"[{_COL}] {_INSIDE} (rightmost|last|right) [{_COL}|edge|side|hand side]",
    ],
    "second": [f"[{_COL}] {_INSIDE} (leftmost|left) [{_COL}|edge|side|hand side]"],
    "leftmost": [
        f"[one on|1 on] (leftmost|left most|far left|extreme left|very left) [{_COL}]",
        "all the way [to] [the] left",
        f"(extreme|far|very) left [{_SIDE}|hand side|hand {_COL}]",
        f"left [hand] {_SIDE} [of board]",
        f"{_COL} (on|at|to) [the] (far|extreme|very) left [side]",
        f"{_COL} (on|at) [the] left [hand] {_SIDE}",
    ],
    "between columns": [
        f"{_GAP} between (col|column) {{low:n}} and [(col|column)] {{high:n}}",
        "[(close|plug|bridge|fill)] [(empty|free|open|only|one|1)] (gap|hole|space|col|column"
        "|slot) "
        "[left] between {low:n} and {high:n}",
    ],
    "gap": [f"{_GAP} between {{owner}} [own] [{{two:n}}] {{stone}}"],
    "middle": [
        f"[in|into|to|right in] (middle|centre|center|central|mid) [{_COL}|spot] [of board]",
        f"(very|exact|dead) (middle|centre|center) [{_COL}] [of board]",
        f"{_COL} in [the] (middle|centre|center) [of board]",
        f"{_CENTRAL} of {{row:floor}} [row]",
        f"{{row:floor}} of {_CENTRAL} [{_COL}]",
    ],
}


# What a column brings, in the row that the stone falls to, and what stands beside its name.
_IN_ROW = "in [(a|one|1)] (row|line|column)"
_WAY = (
    "(upright|vertically|across|up|upward|horizontally|sideways|diagonally|on [the] diagonal"
    "|side by side|next to each other|together|connected|on top)"
)
_LAYER = "(in|on|along|of) [(my|this|that|same)] (({row:ordinal}|{row:floor}) row|row {row:n})"
_ROWED = f"({_IN_ROW} [{_WAY}] [{_LAYER}]|{_WAY} [{_LAYER}]|{_LAYER})"
_GOAL = (
    "[(my|another|a|an|already|us)] [(own|open|good|strong|solid|nice|winning|new|second|third"
    "|vertical|horizontal|diagonal)] "
    "({many:n} [stone]|pair|line|chain|threat|fork|diagonal|win|game|it|base|start"
    f"|diagonal of {{many:n}}|{_STONE}|"
    f"({{row:ordinal}}|{{row:floor}}) row|[vertical] (column|tower|stack"
    f"|pile)|gap|hole) [{_ROWED}]"
)
_MAKES = (
    "(make|complete|finish|form|build|get|give me|bring me|earn me|win|secure|fill|extend|prepare"
    "|threaten|leave me [with]|bring [me] [up] to|take [me] [up] to|be)"
)
_MAKING = "(making|completing|finishing|forming|building|giving me|winning|filling|extending)"
_BRINGS = (
    f"([(.|and|so|as|because|since)] ((that|which|it|this) [(already|now|also)] {_MAKES}|(to|and) "
    f"{_MAKES}"
    f"|that's|{_MAKING}) {_GOAL} [(for me|at once|right away)] [[.] {_GOAL}]"
    f"|for {{many:n}} {_ROWED}|before (it|they|he|she|{_RIVAL}) (reach|get|make|grow|become"
    "|complete|have|win|connect|build)"
    f" [to] [{_GOAL}|higher|taller|further])"
)
# Where it can be finished later, which is no move of now.
_LATER = (
    "[[(.|and|that|which|to)] threaten [to (finish|win|connect|complete [it]|make {later_many:n})] "
    "[next] (in|at|with|on) (col|column) {later:n}]"
)
_SAME = (
    "[.] ([((that|which|it|this) is|that's|it's|so|namely|(that|which) make it)]"
    " (col|column) {same:n}"
    "|[(right|just|directly)] (next to|beside) {central} [(col|column|one|1)])"
)
_EARLY = (
    "((once more|once again|again|another time|for [a] (change|variety)"
    "|this time)|(for|as|in) [(my|an|a)] (opening|first|start|beginning) [(move|stone)]"
    "|to (open|start|begin)"
    f"|{{many:n}} {_ROWED} [already])"
)
_ATOP = (
    f"(cap|cover|top|top up|top off|stop|block|add [{_OBJECT}] to|build [up] "
    f"[on]|extend|raise|grow|heighten"
    f"|(put|drop|play|place|stack|set) {_OBJECT} (on|onto|upon) [top of])"
)


# What makes a column the right one, before it is played: "column 4 wins, so I take it".
_PRAISE = (
    "((is|seem|look|look like|feel like|remain) [(still|clearly|now|by far)] [a|an] "
    "[(my|(1|one) of the)] "
    "(best|strongest|safest|good|strong|solid|natural|classic|central|key|usual|standard|obvious"
    "|only|most (flexible|valuable|useful|promising|central|natural)) "
    "[(start|opening|square|spot|place|choice|move|column|option|point|position|reply|answer"
    "|block|one|1)] [(here|now|for me|on [the] board|to (start|begin|open))]"
    "|(give|offer|have|open|bring|allow) [me] [the] (most|more|many|best|several|a lot of) "
    "(line|chance|option|possibility|opening|connection|way)"
    f"|(block|stop) ({_RIVAL}|({{near:neighbour}}|his|her|their|your|{_RIVAL} 's) [open] "
    "(three|3|two|2|line|row|threat|attack|diagonal|tower|column|win))"
    f"|{_MAKES} {_GOAL} [(for me|at once|right away|immediately|now)]|win [(for me|at once"
    "|right away|immediately|now)])"
)
_SO = (
    f"[.] [(and|so|therefore|thus)] [(i|i'll|i will|i'm|let me)] ({_VERB} ({_OBJECT} (there|in [it]"
    "|in there|on it|into it)|there|in there|it|that [one])"
    f"|{_OBJECT} (go|belong|fall|land) (there|in [it]|into it)|(that's|that is|it's|it is) "
    "(where (i|i'll) (play|go|move|drop|put [it]|start|begin)|my (pick|choice|move|column)"
    "|what i (play|choose|take)))"
)


def _in_columns(ways: list[str]) -> list[str]:
    """The sentences that name a column, with what a stone in it brings."""
    place = f"({'|'.join(ways)})"
    # A number alone is none: "four makes a win".
    told = [way for way in ways if not way.endswith(("[number|no] [.] {n}", "[from [the] left]"))]
    named = f"({'|'.join([*told, '(col|column|number) {n}'])})" if "{n}" in place else place
    named = f"({'|'.join(told)})" if told and "{n}" not in place else named
    return [
        *_played(ways, "take|get|receive|have|catch|welcome"),
        f"[{_EARLY} [.] [(so|and)] [(i|i'll|i'm|let me|let's)] [keep]] {_PLAY} {place} [it is] "
        f"[{_SAME}] [(again|now|once more)] [[.] with {_GOAL}] [{_BRINGS}] {_LATER}",
        f"{named} {_PRAISE} {_SO}",
        f"{named} is forced",
        f"[{_MAKES}] [it] {_GOAL} [here] (in|at|on|with) {named} [(again|now)]",
        f"[(my|a|this|1|one|another)] [next] {_STONE} [here] (in|at|on|into) {named} {_MAKES} "
        f"{_GOAL} [(for me|at once|now)]",
        f"{named} [{_SAME}] [again] [(now|also|already)] {_MAKES} {_GOAL} [(for me|at once)] "
        f"[[.] {_GOAL}]",
    ]


def _played(ways: list[str], takes: str) -> list[str]:
    """The sentences that play at a place, by the ways to name it and the verbs of one that does."""
    place = f"({'|'.join(ways)})"
    return [
        f"{place} is where (i|i'll|i'm|i want to) [(will|shall)] "
        "(play|go|move|drop|put|place|set|build|stack) [(it|mine|one|1|my [next] stone)]",
        f"{place} is where (my|this) [next] {_STONE} (go|belong|land|fall)",
        f"{_PLAY} {place} {_END}",
        f"{place} ({_FOR}|({takes}) {_OBJECT})",
        f"{_FIRST} [.] {place}",
    ]


_OWNERS = {
    **{"my": "me", "your": "you", "his": "you", "her": "you", "their": "you"},
    **{"opponent s": "you", "opponent's": "you", "my opponent's": "you", "rival's": "you"},
    **{"player 0 s": "p0", "player 1 s": "p1", "x's": "p0", "o's": "p1"},
}
_MARKS = {"x": 0, "cross": 0, "o": 1, "nought": 1, "naught": 1, "circle": 1}
_PIECES = ("stone", "piece", "mark", "token", "disc", "disk", "chip", "counter", "one", "1")
_STONES = dict.fromkeys(_PIECES, -1) | _MARKS
_RIVALS = ("him", "her", "them", "my opponent", "opponent", "my rival", "rival")
_HOW = ("", " own", " other", " first", " last", " only", " lone", " single")
# What a square may lie beside: whose stone, and its mark or -1.
_NEIGHBOURS = (
    {f"{own}{how} {noun}": (whose, mark) for own, whose in _OWNERS.items() for how in _HOW
     for noun, mark in _STONES.items()}
    | {f"{noun} i {have}": ("me", mark) for noun, mark in _STONES.items()
       for have in ("have", "already have", "have already")}
    | {name: (f"p{mark}", mark) for name, mark in _MARKS.items()}
    | {noun: ("any", -1) for noun in ("stone", "piece", "disc", "disk", "chip", "counter")}
    | {f"{own} own": (whose, -1) for own, whose in _OWNERS.items()}
    | {"mine": ("me", -1), "theirs": ("you", -1), "it": ("any", -1)}
    | dict.fromkeys(_RIVALS, ("you", -1))
)  # fmt: skip
_ITS = (
    "({owner} [own|other] [first|last|lone|only|single] {stone}|(that|the) {stone:mark}"
    "|{stone} {owner:have}|{owner:whose})"
)
_WHOSE = {"mine": "me", "theirs": "you", "his": "you", "hers": "you", "yours": "you"}
_WHOSE |= dict.fromkeys(_RIVALS, "you")
_HAVE = {"i have": "me", "i already have": "me", "i have already": "me", "they have": "you"}
# A column's upper end, where it is all of one player.
_TOWERS = {
    f"{own} {noun}": whose for own, whose in _OWNERS.items() for noun in ("tower", "stack", "pile")
}
_DISC = f"({_ITS}|{{tower}})"
COLUMNS = Grammar(
    {meaning: _in_columns(ways) for meaning, ways in _NAMED.items()}
    | {
        "beside": [
            f"{_PLAY} {_BY_FULL} {_END}",
            f"{_PLAY} [{_COL}] {_BY_FULL} {_END}",
            "(start|begin|open) [a] [new] (stack|pile|tower|column) " + _BY_FULL,
        ],
        "column beside": [f"{_PLAY} {{ordinal}} {_COL} {_FULL}",
        f"{_PLAY} column {{ordinal:n}} {_FULL}"],
        "on a stone": [
            f"{_PLAY} [right|straight|directly] (on top of|above|over|upon|on) {_DISC} {_END}",
            f"{_PLAY} same {_COL} as {_DISC}",
            f"(stack|build) [up] [right|straight|directly] on [top of] {_DISC} {_END}",
            f"{_PLAY} [right|straight|directly] (on top of|above|over|upon|on) {_DISC} [{_SAME}] "
            f"[{_BRINGS}]",
            f"{_ATOP} {{tower}} [(to {{many:n}}|higher|further|up)] [again] [{_SAME}] [{_BRINGS}]",
        ],
        "column by a stone": [
            f"{_PLAY} [one|1] [{_COL}] [just|directly|right|immediately] [to] {{beside}} [of] "
            f"{_DISC} [{_SAME}] [{_BRINGS}]",
            f"{_PLAY} [{_COL}] [just|directly|right|immediately] (beside|next to) {_DISC} (on|to) "
            "[its] {beside} [hand] [side]",
            f"[{_COL}] [just|directly|right|immediately] (beside|next to) {_DISC} (on|to) "
            "[its] {beside} [hand] [side]",
        ],
        "by it": [
            f"{_ATOP} [{{owner}}] (col|column) {{n}} (tower|stack|pile|column|threat) [{_BRINGS}]",
            f"{_ATOP} ([{{owner}}] (tower|stack|pile|column|threat)|{{on:neighbour}}) "
            f"(in|at|on) ((col|column) {{n}}|{{n:ordinal}} {_COL}) [{_BRINGS}]",
            f"{_PLAY} [right|straight|directly] (on top of|above|over|upon|on) ({_ITS}|{{tower}}"
            "|[(my|the|this)] (tower|stack|pile|column|threat)) (in|at|of) "
            f"((col|column) {{n}}|{{n:ordinal}} {_COL}) [{_BRINGS}]",
            f"{_FIRST} [.] [(so|i|i'll)] [{_VERB}] [{_ON}] "
            f"((col|column) {{n}}|{{n:ordinal}} {_COL})",
            f"({_RIVAL}|they|he|she) (has|have|got|stacked) {{count}} [{_STONE}] (in|on) (col"
            f"|column) {{n}} "
            f"[.] [(so|and)] [(i|i'll|i will|i'm|let me)] {_VERB} [{_OBJECT}] on top [of (it|them"
            "|that)]",
            f"(cover|top|sit on|cap) {{on:neighbour}} (in|at|on) ((col|column) {{n}}|{{n:ordinal}} "
            f"{_COL})",
            f"{_PLAY} (on top of|above) {{on:neighbour}} (in|at) {{n}}",
        ],
    },
    {
        "mark": _MARKS, "owner": _OWNERS, "stone": _STONES, "neighbour": _NEIGHBOURS,
        "have": _HAVE, "whose": _WHOSE, "hand": {"left": -1, "right": 1}, "tower": _TOWERS,
        "central": dict.fromkeys(("middle", "centre", "center"), 0),
        "letter": names(string.ascii_lowercase, values=range(1, 27)),
        "floor": {"bottom": 1, "foot": 1, "base": 1},
        "beside": {"left of": -1, "left": -1, "right of": 1, "right": 1},
    },
    # A letter alone is a square of other boards, and right is a side.
    keep=("a", "right", "first", "next"),
)  # fmt: skip

# ---- squares -------------------------------------------------------------------------------------

_SQUARE = "(square|cell|field|corner|edge|side|spot|position|place|box|space)"
_WHERE = f"[hand] [{_SQUARE}] [of (board|grid)]"
_MIDDLE = "(middle|centre|center|central|mid|heart)"
_OF = "(of|in|on|at)"
_PLACE = {  # with one square of a small board: how far down, how far across
    "words": [
        f"[right] {{down}} {{across}} {_WHERE}",  # "Right, top left."
        f"{{across}} {{down}} {_WHERE}",
        f"{{down}} row {{across}} [{_SQUARE}]",
        f"{{across}} (col|column) {{down}} [{_SQUARE}|row]",
        "{across} (side|edge|col|column) {down} [row|square|cell]",
        f"{{across}} [{_SQUARE}] {_OF} {{down}} (row|line)",
        f"{{down}} [{_SQUARE}] {_OF} {{across}} (side|edge|col|column)",
        f"{{down}} {_OF} {{across}} (side|edge|col|column)",
        f"{_SQUARE} {_OF} {{across}} {_OF} {{down}} (row|line)",
        f"{_SQUARE} {_OF} {{down}} {_OF} {{across}} (side|edge|col|column)",
        f"{_SQUARE} [{_OF}] {{down}} {{across}} [hand] [side|corner|edge]",
        f"{{down:outer}} (edge|row|side|line) [.] {_OF} {_MIDDLE}",
        f"{{across:outer_side}} (edge|column|side) [.] {_OF} {_MIDDLE}",
        f"{_SQUARE} {_OF} {{across}} {_OF} {{down}}",
        f"{_MIDDLE} {_OF} {{down:outer}} (row|line|edge|side)",
        f"{_MIDDLE} {_OF} {{across:outer_side}} (col|column|edge|side)",
        f"{{down:outer}} {_OF} {_MIDDLE} (col|column)",
        f"{{across:outer_side}} {_OF} {_MIDDLE} row",
        "{down} row [.|and|in|at] {across} (col|column)",
    ],
    "centre": [
        f"[(very|exact|dead|bang in|right in|right at)] {_MIDDLE} [{_SQUARE}] "
        "[of [game] (board|grid)]",
        f"{_SQUARE} in [the] [very] {_MIDDLE} [of (board|grid)]",
    ],
}
_THEIRS = f"({_ITS}|{{stone:mark}})"  # of which a small board has few: "below X"
_ON_LINE = "(of|in|at|on|where)"
_CROSS = "[(meet|cross|intersect)]"
_ROW = "(row {row:n}|{row:ordinal} row)"
_COLUMN = "((col|column) {column:n}|{column:ordinal} (col|column))"
_AND = "[(and|of|in|at)]"
_REL = "[directly|right|just|straight|immediately|exactly] {side}"
SQUARES = Grammar(
    {
        "square": [
            f"{_PLAY} [{_SQUARE}] {{column:letter}} {{row:n}} [{_SQUARE}] {_END}",
            f"{_SQUARE} = {{column:letter}} {{row:n}}",
            f"(start|begin|open) (near|close to) {_MIDDLE} (with|at|on) {{column:letter}} "
            "{row:n}",
            f"{_PLAY} [{_SQUARE}] {{row:n}} {{column:letter}} {_END}",
            f"{_PLAY} {{column:letter}} {{row:n}} [.] [which|and|to] threaten "
            "[to win (at|with|on)] {next:letter} {next_row:n} "
            "[(and|or) [to win (at|with|on)] {last:letter} {last_row:n}]",
            f"{_PLAY} row {{row:n}} [and|of|in] (col|column) {{column:letter}}",
            f"{_PLAY} [{_SQUARE} [{_ON}]] (col|column) {{column:letter}} [and|of|in] row {{row:n}}",
            f"{_PLAY} {_SQUARE} [{_ON}] row {{row:n}} [and|of|in] (col|column) {{column:letter}}",
            f"{_PLAY} {_SQUARE} (called|named|marked|labelled) {{column:letter}} {{row:n}}",
            f"{_FIRST} [.] [(so|i|i'll)] [{_VERB}] [{_ON}] {{column:letter}} {{row:n}}",
            f"{_EXTEND} [.] {{column:letter}} {{row:n}}",
            f"{_PLAY} {{column:letter}} {{row:n}} {_GAIN}",
            f"{{column:letter}} {{row:n}} {_FOR}",
            f"{{column:letter}} {{row:n}} (take|get|receive) {_OBJECT}",
            f"{{column:letter}} {{row:n}} (block|stop|complete|finish|make) {_LINE}",
            "{column:letter} {row:n} is forced",
        ],
        "square and corner": [
            f"{_PLAY} {{column:letter}} {{row:n}} [.] [in|at] {{down}} {{across}} "
            f"[hand] [{_SQUARE}] [of (board|grid)] {_END}",
            f"{_PLAY} {{down}} {{across}} [hand] [corner] [square] [.] {{column:letter}} {{row:n}} "
            f"{_END}",
        ],
        "kind and square": [
            f"{_PLAY} [a] [(free|opposite|open|empty|other|another|remaining|last|1|one)] {{kind}} "
            "[square] [.] {column:letter} {row:n}",
            f"{_PLAY} ({{down:outer}}|{{across:outer_side}}) [hand] {{kind}} [square] [.] "
            "{column:letter} {row:n}",
        ],
        "by a square": [
            f"{_PLAY} [1|one|{_SQUARE}] {_REL} {{column:letter}} {{row:n}} {_END}",
            f"{_PLAY} [1|one|{_SQUARE}] {_REL} ({_THEIRS}|{{owner}}) [(at|on|in)] "
            f"{{column:letter}} "
            "{row:n} "
            f"{_END}",
        ],
        "between stones": [
            f"{_PLAY} [(free|empty|only)] [(one|1|{_SQUARE}|gap|hole)] between ({{owner}} [own] [2]"
            " {stone}|[2] ({stone:mark}|{stone:marks})) [(in|on|of) ({down} row|{across} (col"
            "|column)|row {line:n}"
            "|column {lettered:letter})] [[.] [(that's|that is|which is|so|at|on|namely)] "
            f"{{column:letter}} {{row:n}}] {_END}",
        ],
        "numbers": [
            f"{_PLAY} [{_SQUARE} {_ON_LINE}] ({_ROW} {_AND} {_COLUMN}|{_COLUMN} {_AND} {_ROW}) "
            f"{_CROSS}",
            f"{_PLAY} ({{column:ordinal}} {_SQUARE} (of|in) {_ROW}"
            f"|{{row:ordinal}} {_SQUARE} (of|in) {_COLUMN})",
        ],
        **{meaning: _played(ways, "take|get|receive") for meaning, ways in _PLACE.items()},
        "across": [f"{_PLAY} [one|1] [{_SQUARE}] {_ACROSS} {_THEIRS} {_END}"],
        "by a stone": [
            f"{_PLAY} [one|1] [{_SQUARE}] [of] {_REL} {_THEIRS} [in {_MIDDLE}] {_END}",
            f"{_PLAY} [one|1] [{_SQUARE}] [right|directly|just] (beside|next to) {_THEIRS} "
            f"{{side}} [side] [of it]",
        ],
        "several": [f"{_PLAY} (corner|edge|side|border) [{_SQUARE}] {_END}"],
        "by the centre": [f"{_PLAY} [{_SQUARE}] {_REL} {_MIDDLE} [{_SQUARE}] {_END}"],
        "between squares": [
            f"{_PLAY} [(free|empty|only|last|open|middle)] [(one|1|{_SQUARE}|gap|hole)] between "
            f"{{column:letter}} {{row:n}} and {{next:letter}} {{next_row:n}} {_END}".replace(
                "{_SQUARE}", _SQUARE),
        ],
        "free in a line": [
            f"{_PLAY} [(last|only|remaining|one|1|free|empty|open|unoccupied|vacant)] "
            f"(free|empty|open|unoccupied|vacant|remaining|last|only) ({_SQUARE}|one|1) [left] "
            f"{_ON_LINE} ({_ROW}|{_COLUMN}|{{down}} row|{{across}} (col|column)|column "
            f"{{lettered:letter}}) {_END}",
            f"(fill|complete|finish|close|plug|block|stop|defend|cut off) ({_ROW}|{_COLUMN}"
            f"|{{down}} row|{{across}} (col|column)|column {{lettered:letter}}) {_END}",
        ],
        "line by a side": [
            f"(block|stop|cut off|close|fill|complete|finish|defend|cover) {{down}} row (on|at) "
            f"{{across}} [(side|end|edge)] {_END}",
            f"(block|stop|cut off|close|fill|complete|finish|defend|cover) {{across}} (col|column) "
            f"(on|at) {{down}} [(side|end|edge)] {_END}",
        ],
        "between": [
            f"{_PLAY} [{_SQUARE}] between {_THEIRS} and {{down}} {{across}} [hand] [corner] {_END}",
            f"{_PLAY} [{_SQUARE}] between {{down}} {{across}} [hand] [corner] and {_THEIRS} {_END}",
        ],
        "opposite": [
            f"{_PLAY} [far|opposite] corner [(diagonally|directly)] (across from|opposite"
            f"|opposite to"
            f"|facing|away from|from) {_THEIRS}",
            f"{_PLAY} [{_SQUARE}] diagonally (across from|opposite|opposite to) {_THEIRS}",
            f"{_PLAY} corner opposite [to|from|of] {_THEIRS}",
        ],
    },
    {
        "letter": names(string.ascii_lowercase),
        "kind": {"corner": "corner", "edge": "edge", "side": "edge"},
        "down": {"north": 0, "northern": 0, "south": 2, "southern": 2,
                 "top": 0, "upper": 0, "uppermost": 0, "topmost": 0, "middle": 1, "centre": 1,
                 "center": 1, "central": 1, "bottom": 2, "lower": 2, "lowest": 2, "bottommost": 2},
        "outer": {"top": 0, "upper": 0, "first": 0, "bottom": 2, "lower": 2, "last": 2},
        "across": {"west": 0, "western": 0, "east": 2, "eastern": 2, "left": 0,
                   "leftmost": 0, "middle": 1, "centre": 1, "center": 1, "central": 1,
                   "right": 2, "rightmost": 2, "far left": 0, "far right": 2, "extreme left": 0,
                   "extreme right": 2},
        "outer_side": {"left": 0, "leftmost": 0, "right": 2, "rightmost": 2},
        "side": {"above": (-1, 0), "over": (-1, 0), "on top of": (-1, 0), "below": (1, 0),
                 "under": (1, 0), "beneath": (1, 0), "underneath": (1, 0),
                 "left of": (0, -1), "to left of": (0, -1), "right of": (0, 1),
                 "to right of": (0, 1), "on left of": (0, -1), "on right of": (0, 1),
                 "on the left of": (0, -1), "on the right of": (0, 1), "on the left": (0, -1),
                 "on the right": (0, 1), "on its left": (0, -1), "on its right": (0, 1),
                 "to its left": (0, -1), "to its right": (0, 1), "on left": (0, -1),
                 "on right": (0, 1), "to the left of": (0, -1), "to the right of": (0, 1)},
        "owner": _OWNERS, "mark": _MARKS, "stone": _STONES, "neighbour": _NEIGHBOURS,
        "have": _HAVE, "whose": _WHOSE, "hand": {"left": -1, "right": 1},
        "marks": {"xs": 0, "x's": 0, "x s": 0, "os": 1, "o's": 1, "o s": 1},
    },
    keep=("a", "right", "first"),
)  # fmt: skip
