"""What a chef may say: the names of tools and items, and the phrases of each action.

`reading.py` checks what is said against what is there.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.phrases import TIME, WAITING
from manyhands.core.reading.words import tokens
from manyhands.envs.cuisine.menu import MOST_CHEFS, Book, words

OTHER = -1  # the only other chef

# ---- names and phrases ---------------------------------------------------------------------------

_PLACES = {
    "storage": (
        "store",
        "storage room",
        "ingredient storage",
        "stockroom",
        "food storage",
        *("pantry", "fridge", "storeroom", "larder", "cupboard", "cold room", "supply room"),
        *("ingredients storage", "ingredient room", "food store", "ingredient store", "supplies"),
        *("storage area", "storage zone", "storage space", "pantry area"),
        *(
            f"{where} {things} are{kept}"
            for where, things, kept in product(
                ("where", "place where"),
                ("the ingredients", "ingredients", "the supplies"),
                ("", " kept", " stored"),
            )
        ),
    ),
    "serving_table": (
        *("serving counter", "table", "serving window", "serving", "pass", "delivery table"),
        *("counter", "serving area", "serving station", "servingtable", "serving hatch"),
        *("serving point", "delivery counter", "delivery area", "where we serve", "where i serve"),
        *(
            f"{table} where {the}{dishes} {served}"
            for table, the, dishes, served in product(
                ("table", "counter"),
                ("", "the ", "finished "),
                ("dishes", "orders", "meals"),
                ("are served", "get served", "are delivered", "go out"),
            )
        ),
    ),
    "chopping_board": (
        *("board", "cutting board", "chopboard", "chopping block", "board for chopping"),
        "chop board",
    ),
    "blender": ("mincer",),
    "pan": ("frying pan", "skillet"),
    "pot": ("cooking pot", "saucepan"),
    "fryer": ("deep fryer",),
    "mixer": ("mixing bowl", "bowl"),
}
_TOOL_WORDS = frozenset(name for names in _PLACES.values() for name in names)
_ITEMS = {
    "fries": ("chips", "french fries"),
    "chicken": ("bird", "poultry", "meat"),
    "beef": ("meat",),
    "pork": ("meat",),
    "shrimp": ("prawn",),
    "mushroom": ("shroom", "fungus", "fungi"),
    "potato": ("spud", "tater"),
    "noodles": ("pasta",),
    "cucumber": ("cuke",),
    "beans": ("bean", "legume"),
    "bread": ("bun", "roll", "toast"),
}
_RAW = ("raw", "uncooked", "uncut", "whole", "plain", "unprocessed")
_PARTS = ("slices", "pieces", "chunks", "cubes")
_CUT = ("chopped", "sliced", "cut", "cut up", "diced")
_VERBS = {
    "chopping_board": "chop|cut|cut up|slice|dice|shred",
    "blender": "blend|puree|mince|grind|liquidise|liquidize|blitz|whizz|pulverise|pulverize",
    "pan": "fry|sear|saute|grill|pan fry",
    "pot": "boil|simmer|stew",
    "fryer": "fry|deep fry",
    "steamer": "steam",
    "oven": "bake|roast",
    "mixer": "mix|combine|assemble|toss|stir",
}
_I_HOLD = "((i|i'm|i am|i've) [(now|currently|still)] (hold|carry|have|got)|in [my] hand)"
_IT = (
    "(it|that|this|them|these|those|[(my|this|that)] (item|ingredient|load|stuff)"
    f"|[(my|this|that)] (item|ingredient|thing|stuff|food|dish) [(that|which)] {_I_HOLD}"
    f"|(what|whatever|everything) [that] {_I_HOLD}|(what's|what is|whatever is) in my hand"
    "|content of my hand)"
)
_DISH = "(dish|food|meal|order|plate)"
_DONE = (
    "(it|that|them|these|those|product|result|content|finished (item|product|dish|food)"
    "|(what (is|'s)|what's|whatever is) [(done|ready|there|in it|in there|inside)]"
    "|ready (item|dish|food|product)"
    "|what (it|this|that|tool|{place}) (has made|made|has ready)|what {own:made})"
)
# What a player has made itself.
_MADE = {
    f"{who} {just}{did}": True
    for who, just, did in product(
        ("i", "i've", "i have", "we", "we've"),
        ("", "just "),
        ("made", "cut", "chopped", "sliced", "cooked", "fried", "boiled", "grilled", "prepared"),
    )
}
_OFF = "(from|out of|off|off of|in|at|on|inside)"
_INTO = "(in|into|inside|on|onto|to|at|in to|on to|down on|down in)"
_TAKE = (
    "[go] [and] (get|take|grab|pick|pick up|fetch|collect|retrieve|obtain|remove|withdraw|lift|pull"
    "|bag|scoop|scoop up|draw)"
)
_PIECE = (
    "(piece|portion|head|loaf|slice|bit|chunk|leaf|fillet|block|bunch|helping|serving|lump|wedge"
    "|unit|measure|handful|batch|bag|packet|carton|bottle|glass|cup|sack)"
)
_SOME = (
    "[(one|1|some|single|another|one more|more|fresh|nice|a|my|this|that)] [1] "
    "[(useless|stupid|damn|silly|unwanted|unneeded|needless|extra|spare|surplus|leftover|wrong"
    "|superfluous|unordered)] "
    f"[(finished|ready|complete|completed)] [{_PIECE} of]"
)
_HELD = f"({_SOME} {{item}} [[(that|which)] {_I_HOLD}]|{_IT})"
_A = f"[(1 [x]|another)] [{_PIECE} of]"
_SWITCH = (
    "(activate|use|start|start up|turn on|switch on|run|operate|fire up|power on|power up"
    "|heat|heat up|begin using|crank up|kick off|press start on|press button on"
    "|push button on|work)"
)
_WALK = (
    "(go|walk|move|head|run|step|proceed|return|travel|come|get|switch|change|make my way|make"
    "|jog|rush|stroll|press|push|nip|relocate|bound|am bound|headed|am headed|set off|set out|set"
    "|advance|wander|drift|carry myself|drag myself"
    "|get myself|"
    "(bring|take|carry|get|lead|send|move|put) me|on my way|be on my way|hurry over"
    "|take myself|betake myself|bring myself|am off|off)"
)
_OVER = "[(off|over|back|across|along|up|round|around|on|straight|right|down|out|directly|next)]"
_WITH = "(with|carrying|holding|bearing|bringing)"
_CHEFS = {f"chef_{i}": i for i in range(MOST_CHEFS)} | dict.fromkeys(
    ("partner", "teammate", "colleague", "other chef", "my partner", "my teammate", "my colleague"),
    OTHER,
)
# What one waits for, or until: that a tool, an item or a chef has done what it does.
_WAITS = (
    "(wait|stay|remain|hold on|hold|stand by|stand still|stay put|keep still|keep wait|hang on|idle"
    "|stand|hang (around|about|back)|linger|loiter|stick around|pause|rest|tarry"
    "|(a|1|another) (step|moment|turn|bit) of (patience|wait)) "
    "[(here|there|still|in place|nearby|by it|where i am|at my place)] "
    "[(for now|[for] ({n}|a|another|this) [more] (step|turn|moment))]"
)
_THAT = (
    f"({_SOME} {{for:item}}|{{for:place}}|{_DISH}|it|this|that|tool|chef {{n}}|partner|teammate"
    "|they|order|new order)"
)
_WORKING = "(work|cook|run|chop|blend|fry|boil|steam|bake|mix|process|go|prepare|heat)"
_TO_DO = (
    f"(finish|be (done|ready|finished|free|empty|complete|made|cooked|served)|get ready|complete"
    f"|stop|{_WORKING}|(finish|stop) ({_WORKING}|it|up|{{that:item}}|with {{that:place}})"
    "|do its work|clear ({that:place}|it)|come [back]|arrive|help|pass|move [away]|go away|act"
    "|(empty|free|use|leave|activate|start) ({that:place}|it)"
    "|(take|get|bring|deliver|serve|put|add|collect|fetch|chop|cook|prepare|make) "
    f"[({_SOME} {{that:item}}|it|{_DISH})] [(away|out|in|up|here|over)] "
    "[(from|out of|in|into|on|onto|to|at|with) ({where:place}|me)])"
)
_IS_DONE = (
    "(is|are|has|have|has been|have been|will be|gets|get) (done|ready|finished|complete|completed"
    "|free|empty|available|over|served|there|here|gone|cooked|made|activated|filled|emptied|stopped"
    f"|chopped|taken|{_WORKING}|(done|finished) ({_WORKING}|with {{that:place}}))"
)
_DOES = f"((finish|stop|end) [({_WORKING}|it|{{that:item}})]|come [in|back]|arrive)"
_BIN = "(bin|trash|trash can|garbage|rubbish|rubbish bin|waste|dustbin|waste bin|garbage can)"
# What one does at a place besides being there.
_AT = "(at|by|beside|near|next to|in front of|with)"
_CHEF = f"{{chef}} [{_OVER} {_AT} {{place}}]"
_LET_ME = "(let me|let us|let's|i want to|i'd like to|i would like to|i will|i'll|i'm going to)"
_GET_RID = (
    f"(throw {_HELD} (away|out|in {_BIN})|(discard|dump|bin|trash|get rid of|dispose of|scrap"
    f"|ditch) {_HELD}|throw (away|out) {_HELD})"
)
_THERE = (
    "[and (be|stand|get) [ready] [there]] "
    f"[((to|and [then]) {_GET_RID}|to (deliver|serve|drop off|put down) [{_HELD}]) "
    "[there] [(next (step|turn)|then|later|afterwards)]"
    f"|where (i|we) (can|will|may|could) ({_GET_RID}|(deliver|serve|hand in|drop off) {_HELD}) "
    "[there] [(next (step|turn)|then|later|afterwards)]"
    f"|(so|so that) ({_HELD}|{_DISH}|(my|this|next|first|our) order) [(can|will|may|get|is|be)] "
    "(go (out|up)|be (served|delivered)|get (served|delivered)|served|delivered|out) "
    "[(at once|right away|immediately|soon|in time|fast|quickly|next)]]"
)
_ADD = "put|place|add|drop|pour|toss|throw|tip|slide|pop|crack|break|spoon|scrape"
# What a tool needs besides.
_LACKS = (
    f"so [that] ((it|this|{{at:place}}|dish|order) (only|just) (lack|need|miss|want) {_SOME} "
    f"{{other:item}}|(only|just) {_SOME} {{other:item}} is [still] (lack|needed|miss|left)) [now]"
)
# What is in a tool already, and all that is in it.
_JOINS = (
    f"[(in|together|down)] (to|with|in with|in|into|on|onto|on top of|over|next to"
    f"|beside) {_SOME} {{with:item}}"
)
_ALL = (
    "(it all|all [of] [(it|this|them)]|everything|2|both|(2|both|all) (of them|ingredient|thing))"
)
# The place that is meant, said again: "the pantry, um, the storage I mean".
_AGAIN = "[.] [(um|er|erm|uh|well)] [.] [(i mean|that is|that's|i . e [.])]"
_SOMEBODY = (
    "(somebody else|someone else|somebody|someone|other [2]|others|rest|another chef|chef {n}"
    "|(my|the) (partner|teammate|colleague|mate)|they)"
)
_FOR_NOW = "[for (now|1 (step|turn)|the moment|a (step|turn|moment))]"
_WATCH = (
    f"(see|watch|observe) ({_THAT} [({_WORKING}|act|{_TO_DO})]"
    f"|(what|which (item|ingredient)|where|how) {_THAT} (do|go|act|come|{_TO_DO}) [next])"
)


@functools.lru_cache(maxsize=64)
def _grammar(
    places: tuple[tuple[str, int], ...], items: tuple[str, ...], kinds: tuple[tuple[str, str], ...]
) -> Grammar:
    """The phrases of a kitchen: a meaning is (what, kind of tool or None)."""
    slots: dict[str, Any] = {
        "place": _place_names(places),
        "item": _item_names(items),
        "chef": _CHEFS,
        "made": _MADE,
        "meal": {
            f"{how}{dish}": True
            for how in ("", "finished ", "ready ", "complete ", "my ", "this ")
            for dish in ("dish", "meal", "order", "plate")
        },
    }
    every = "|".join(verbs for _, verbs in kinds)
    to_work = f"[(to|for) ({every}|cook) [({_SOME} {{for:item}}|it|them|this|that)]]"
    carried = f"({_HELD}|{{meal:meal}})"
    phrases: list[tuple[Any, Sequence[str]]] = [
        (
            ("go", None),
            [
                f"[leave {_SOME} {{that:item}} to {_SOMEBODY} (and|.) [i|i'll]] "
                f"{_WALK} {_OVER} (to|towards|toward|into|in|for|at) {{place}} [first] {_THERE}",
                f"[({every}) time] [(i|i'll)] {_WALK} {_OVER} (to|towards) {{place}} {to_work}",
                f"{_WALK} {_OVER} (to|towards|toward|into) {{place}} {_AGAIN} {{also:place}} "
                "[(i mean|that is)]",
                f"{_WALK} {_OVER} (to|towards|toward) {_CHEF}",
                f"{_WALK} {_OVER} [to] [place] where {{chef}} (is|stands|waits|works)",
                f"[go [and]] (join|visit|approach|stand {_AT}) {_CHEF}",
                f"[go [and]] (keep {{chef}} company|help {{chef}} [out]) [{_AT} {{place}}]",
                "[go [and]] (join|meet|help) (others|everyone|everybody|team|crew|them|rest) "
                f"{_AT} {{place}}",
                f"{_WALK} {_OVER} (to|towards|toward) {{place}} (for|after|in search of) "
                f"[({_SOME}|another|more|new|next)] ({{for:item}}|ingredients|supplies|it)",
                "(goto|visit|approach|reach|enter|take) {place}",
                f"be {_AT} {{place}} [with {_HELD}]",
                f"go [and] (wait|stay|stand) {_AT} {{place}}",
                f"leave {{that:place}} [(alone|be|running|as it is)] (and|.) [i|i'll] {_WALK} "
                f"{_OVER} (to|towards) {{place}}",
                "[go] [and] stand (near|next to|beside|in front of) {place}",
                "(claim|go stand at|go and stand at|go stand by|go and stand by) {place}",
                f"{_LET_ME} (be|stand) {_AT} ({{place}}|{_CHEF}) [(after this step|next)]",
                "(go|head|move|walk) {place}",
                "be at {place}",
                "(get|take|move) myself [(over|back)] to {place}",
                "(get|move|go) [back] (into|in) position (at|by) {place}",
                "(man|occupy) {place}",
                "take {place} as my (station|post|place|position)",
                "(position|station|place|post|install|plant) myself (at|by|in front of) {place}",
                "take [up] [my] (position|place|post) (at|by) {place}",
                "{place} is where i (am|will) (head|headed|going|bound|off to|go|move)",
                "{place} is where (i'm|i'll|i) (head|headed|going|bound|off to|go|move)",
                f"(see|check|check on|inspect|take a look at|have a look at) {_OVER} {{place}}",
                f"{_WALK} {_OVER} (next to|beside|near|by|in front of) {{place}}",
                f"{_WALK} {_OVER} (to|towards|toward) {{place}} [.] {{also:place}}",
                f"{_WALK} {_OVER} (to|towards|toward) other {{rest:place}} [.] [{{also:place}}]",
                "(move|relocate|reposition) [myself] to {place}",
                "[my] (next|first) (stop|station|destination) [is] {place}",
                "{place} is my [next|first] (stop|station|destination|goal|target)",
                "my (stop|station|destination) is {place}",
            ],
        ),
        (
            ("rather", None),
            [
                "(rather than|instead of) ((stand|stay|wait|linger|be) (at|by)|[use]) [this] "
                "{off:place} [.] [(i|i'll)] [(go to|head to|to|take|use)] "
                "({place}|other {rest:place} [.] [{also:place}])",
            ],
        ),
        (("meet", None), ["(follow|accompany|meet) {chef} [over] (to|at) {place}"]),
        (("keep", None), [f"(hold on to|keep (hold of|hold)|hold onto) {_HELD} {_FOR_NOW}"]),
        (
            ("wait and keep", None),
            [
                f"{_WAITS} ({_AT}|in) {{place}} with {_HELD} {_FOR_NOW}",
                f"(keep [(hold of|hold)]|hold|hold on to|hold onto) {_HELD} and "
                f"(do nothing|{_WAITS}) {_FOR_NOW}",
                f"{_WAITS} [{_AT} {{place}}] [and] [just] "
                f"(keep [(hold of|hold)]|hold|hold on to|hold onto|with) {_HELD} {_FOR_NOW}",
            ],
        ),
        (
            ("carry", None),
            [
                f"(bring|carry|take) {_HELD} {_OVER} to {_CHEF}",
                f"(bring|carry|take|have) {_HELD} [along] with me {_OVER} to ({{place}}|{_CHEF})",
                f"(bring|carry|take|move|transport|haul|bear|rush|walk|run) {carried} "
                f"{_OVER} (to|towards|toward) {{place}} {to_work}",
                f"{_WALK} {_OVER} (to|towards|toward) ({{place}}|{_CHEF}) {_WITH} {carried} "
                f"{_THERE}",
                f"{_WALK} {_WITH} {carried} {_OVER} (to|towards|toward) ({{place}}|{_CHEF}) "
                f"{_THERE}",
            ],
        ),
        (
            ("get", None),
            [
                f"{_TAKE} {_SOME} {{item}} [(up|back|back up|back out|myself)] [{_OFF} {{place}}]",
                f"{_TAKE} {_SOME} {{item}} [(that|which)] {{own:made}} [{_OFF} {{place}}]",
                f"{_TAKE} [(out|up)] {_SOME} {{item}}",
                f"pick [out] {_SOME} {{item}} [{_OFF} {{place}}]",
                f"(pick|take) {_SOME} {{item}} ([back] up|off) [again] [{_OFF} {{place}}]",
                "my [(next|first)] ingredient is {item}",
                "(what|all|all that) (i|we) [(still|now|just)] (want|need|come for|am after|take"
                "|get|pick) [next] [(from|out of|at) (here|{place})] [(now|next)] "
                f"is {_SOME} {{item}}",
                f"{_SOME} {{item}} is mine",
                f"{_TAKE} (myself|me) {_SOME} {{item}} [{_OFF} {{place}}]",
                f"help myself to {_SOME} {{item}} [{_OFF} {{place}}]",
                f"(take|get|have) hold of {_SOME} {{item}} [{_OFF} {{place}}]",
                f"{_SOME} {{item}} (comes|is coming) [along] with me",
                f"(have|go for|choose) {_SOME} {{item}} [{_OFF} {{place}}]",
                f"{_TAKE} {_SOME} {{item}} out [of {{place}}]",
                f"take out {{item}} [{_OFF} {{place}}]",
                f"{_TAKE} (up|out) {_DONE} [{_OFF} {{place}}]",
                f"{_TAKE} {_DONE} [(up|out)] [{_OFF} {{place}}]",
                f"{_TAKE} {_DONE} out of {{place}}",
                f"{_TAKE} (from|out of) {{place}}",
                f"{_TAKE} {_SOME} {{item}} for [{{of:item}} [{_DISH}]|{_DISH} [of {{of:item}}]]",
                f"{_TAKE} {_SOME} {{item}} [{_OFF} ({{place}}|shelf|rack) [here]] "
                f"[[(that|which)] (i|we) need] [(for|to (make|cook|start|fill)) "
                f"[(my|this|next|first|second|third|other|last|our|1)] "
                f"({{of:item}} [(s bun|{_DISH})]|{_DISH}) [(that|which) (come|be|is) [up] next]]",
                "{item} (is|are) (done|ready|finished) [(so|.)] (take|get|grab|collect) (it|them)",
                "get {item} {place}",
                "(pick up|get|take|grab|collect)",
                "(empty|unload|clear) [out] ({place}|it)",
            ],
        ),
        (
            ("put", None),
            [
                "(put|place|add|drop|insert|pour|set|lay|load|toss|leave|release|deposit"
                "|transfer) "
                f"[{_HELD}] [(down|in|off|here|there)] [{_INTO} ({{place}}|it)]",
                f"{_INTO} {{place}} (it|that) goes",
                "in (it|that) goes",
                f"(put|place|add|drop|insert|set|lay) (down|in) {_HELD}",
                f"({_ADD}) {_HELD} [in] to mix",
                f"(put down|drop off|put in|set down) [{_HELD}] [{_INTO} {{place}}]",
                f"(fill|load|stock|feed) [up] {{place}} [with {_HELD}]",
                "put {item} {place}",
                f"let {_HELD} (drop|fall|slide|go) [down] {_INTO} {{place}}",
                f"empty my hand {_INTO} {{place}}",
                "(stick|shove|chuck|throw|dunk|get|plop|dump|stuff|bung) "
                f"{_HELD} ((in|inside) [(here|there)]|{_INTO} {{place}})",
                "(tip|slide|slip|lower|empty|feed|pop|sling|drop off|crack|break|spoon|scrape) "
                f"{_HELD} [(down|in|off|here|there)] [{_INTO} {{place}}]",
                f"(transfer|move|unload|drop) {_HELD} [(from|out of) my hand] [{_INTO} {{place}}]",
                f"(hand over|give|hand|pass) {_HELD} to {{place}}",
                f"let go of {_HELD} [{_INTO} {{place}}]",
                f"(start|begin) [({{of:item}}|{_DISH})] (with|by (put|add|drop) [in]) {_HELD} "
                f"[(in|{_INTO} {{place}})]",
                f"({_ADD}) {_HELD} {_JOINS} [{_INTO} [{{place}}]]",
                f"({_ADD}) {_HELD} {_INTO} {{place}} {_JOINS}",
                f"(mix|combine|join) {_HELD} {_JOINS} by (put|add|drop|place) (it|them|that) "
                f"[in] [{_INTO} {{place}}]",
                f"({_ADD}|load) {_HELD} [in] [{_INTO} {{place}}] {_LACKS}",
                f"{_SOME} {{item}} (join|go [in] with) {_SOME} {{with:item}} "
                "[(in|inside) {place}]",
                f"give {{place}} {_SOME} {{item}}",
                f"feed {{place}} [with] {_SOME} {{item}}",
            ],
        ),
        (
            ("serve", None),
            [
                f"(deliver|serve|hand over|hand in|submit|turn in|send out|serve up|hand out"
                "|send|present|dish up|plate up|give out) "
                f"[({_HELD}|{_DISH})] [up] "
                f"[(to|on|onto|at|over) [({{place}}|customer|guest|client)]"
                "|(to|for) [(first|oldest|next|most urgent|urgent|1st|this)] order]",
                f"(put|place|set) ({_HELD}|{_DISH}) {_INTO} {{place}}",
                f"(hand|turn|give|send|put|pass) ({_HELD}|{_DISH}) (over|in|out) "
                "[(at|to|on) {place}]",
                f"bring ({_HELD}|{_DISH}) to (customer|guest|client|{{place}})",
                f"(serve|dish|plate) it up {_SOME} {{item}}",
            ],
        ),
        (
            ("throw", None),
            [
                "(throw away|discard|dump|bin|trash|get rid of|dispose of|throw out|scrap|ditch"
                f"|junk|chuck out|chuck away|toss out|toss away) "
                f"[{_HELD}] [{_INTO} ({{place}}|{_BIN})]",
                f"(throw|toss|chuck) {_HELD} (away|out) [{_INTO} ({{place}}|{_BIN})]",
                f"(throw|toss|chuck|put|drop|dump|tip) {_HELD} (in|into) {_BIN}",
                f"put {_HELD} down in {_BIN}",
                f"{_HELD} (go|land|end up) (in|into) {_BIN}",
                f"out with {_HELD}",
                f"into {_BIN} (with {_HELD}|{_HELD} go)",
                f"return {_HELD} [to {{place}}]",
                f"put {_HELD} back [{_INTO} {{place}}]",
                f"put back {_HELD} [{_INTO} {{place}}]",
            ],
        ),
        (
            ("use", None),
            [
                f"{_SWITCH} [({{place}}|it|this tool|tool|machine)] [(to (make|cook)|->) {{item}}]",
                "(turn|switch|power|fire|start) ({place}|it) (on|up)",
                f"{_SWITCH} {{place}} (with|on) {_SOME} {{item}} [(in|on) it]",
                f"(turn|make|process|transform|convert|cook|change) ({_SOME} {{raw:item}}|it|this) "
                f"into {_SOME} {{item}}",
                f"(make|produce|cook|prepare) {_SOME} {{item}} (out of|from|with) "
                f"({_SOME} {{raw:item}}|it|this|that)",
                "(set|get) ({place}|it) (go|run|started|off|in motion|to work|work)",
                "put {place} to work",
                f"({_SWITCH} ({{place}}|it)|(turn|switch|power|fire|start) ({{place}}|it) (on|up)"
                f"|(turn|switch) on ({{place}}|it)) so [that] {_SOME} {{item}} [(can|will)] "
                f"[(start|begin|get)] [to] {_WORKING}",
                "(press|hit|push) [start] button [(of|on) {place}]",
                f"let ({{place}}|it) (run|do its work|do its job|do its thing|start|{_WORKING})",
                "(put|turn|switch) heat (on|up) [(under|at|for|on) {place}]",
                "turn up heat [(under|at|for|on) {place}]",
                f"(cook|make|prepare|process|start (cook|make|prepare)) [({_HELD}|{_DISH})] "
                f"[(in|on|with|at|using) {{place}}]",
            ],
        ),
        (
            ("wait", None),
            [
                *WAITING,
                "(wait|noop|none|pass|idle|skip|hold|rest|stand still|do nothing|no op|stay put|"
                "nothing|no action)",
                "(stay|wait|remain|hold) [(here|there|where i am|in place|still|at my place)] "
                "[for] [(one|1|a)] [(turn|step|moment|bit)]",
                f"{_WAITS} ({_AT}|in|inside) {{place}} {TIME} [for now]",
                "(stay|wait|remain|stand) (at|by|near|next to|beside) {place}",
                f"{_WAITS} [(at|by) {{place}}] for {_THAT} [to {_TO_DO}]",
                f"{_WAITS} [(at|by) {{place}}] (until|till) {_THAT} ({_IS_DONE}|{_DOES}|{_TO_DO})",
                f"{_WAITS} (until|till) it's (done|ready|finished|complete|cooked|over)",
                f"{_WAITS} [(at|by) {{place}}] while {_THAT} ((is|are) [still] ({_WORKING}|busy"
                f"|occupied|in use|full)|[still] {_WORKING})",
                f"{_WAITS} [{_AT} {{place}}] and (let {_THAT} {_TO_DO}|{_WATCH})",
                f"{_WAITS} [{_AT} {{place}}] [(and|.|while|as|so)] {_SOMEBODY} "
                f"[(can|will|may|should|is to|must|has to|could)] {_TO_DO}",
                f"{_WAITS} [{_AT} {{place}}] [(and|.)] leave {{that:item}} to {_SOMEBODY}",
                f"[(just|only)] {_WATCH} [for (now|1 (step|turn)|a (step|turn|moment))]",
                f"await {_THAT}",
                f"give {_THAT} (a|1|another) (moment|step|second|turn|bit) [more] [to {_TO_DO}]",
                f"{_WAITS} [(at|by) {{place}}] while {_THAT} (finish|is finishing)",
                "stand by {place}",
                "(skip|pass) [(my|this)] (turn|move|step)",
                f"i (won't|will not|don't|do not) (do|touch) anything {TIME}",
                f"[i make] no (move|action) [(from|for|by) me] {TIME}",
                f"(have|take) [a] [(short|little|quick)] (break|rest) {TIME}",
                f"(wait|stay [(here|put)]|do nothing|stand by) and "
                f"(wait|do nothing|stay [(here|put)]) {TIME}",
                "hold on [(a|one|for a)] [(moment|step)]",
                "do nothing [at all] [(this|for one) (turn|step)]",
            ],
        ),
    ]
    for kind, verbs in kinds:
        phrases.append(
            (
                ("use", kind),
                [
                    f"[(start|begin|start to|begin to)] ({verbs}) "
                    f"[({_HELD}|{_DISH})] [(up|together)] [(here|now)] "
                    "[(in|on|with|at|using) {place}]",
                    f"[(let|have)] {{place}} ({verbs}) [({_HELD}|{_DISH})]",
                    f"get ({verbs})",
                    f"(get|set) {_HELD} ({verbs})",
                    f"({verbs}) {_HELD} [up] (in|into) [(small|thin|fine|nice|little)] "
                    "(piece|slice|strip|cube|bit|chunk|shred)",
                    f"({verbs}) {_ALL} [(together|up)] [(in|with) {{place}}] "
                    f"[into {_SOME} {{item}}]",
                    f"({verbs}) {_SOME} {{item}} (and|with) {_SOME} {{and:item}} [(together|up)] "
                    "[(in|with) {place}]",
                    f"({verbs}) ({_SOME} {{raw:item}}|it|this|them) [up] (into|to) "
                    f"[(thin|small|fine|nice)] {_SOME} {{item}}",
                    f"({_SWITCH} {{place}}|(turn|switch|power|fire) {{place}} (on|up)) "
                    f"to ({verbs}) [({_HELD}|{_DISH})]",
                ],
            )
        )
    have = "(i will have|i'll have|i'd like|i would like|i should like|i want)"
    again = "[(again|once more|once again|this time)]"
    short: list[tuple[Any, Sequence[str]]] = [
        (("use", None), ["{place} on"]),
        (("go", None), [f"{_OVER} [(to|towards|toward)] {{place}} {to_work}",
                        f"{_OVER} [(to|towards|toward)] {{place}} {_AGAIN} {{also:place}} "
                        "[(i mean|that is)]",
                        f"{_OVER} [to] {{place}} [.] [(i|we)] (need|have|got|want|must) [to] "
                        f"{_GET_RID}",
                        f"{_OVER} to {{place}} [.] [and] {_GET_RID} there",
                        "[(off|over|back|on|straight)] to {place} with me",
                        f"[{_OVER} to] {{place}} [(that's|that is|namely|i . e [.])] "
                        "{also:place}",
                        "[to] other {rest:place} [.] [{also:place}]",
                        "{place} is next [on my list]", "next up [is] {place}",
                        f"{_OVER} to {{place}} {_THERE}",
                        "{place} next [please]", "{place} for (another|more|some) {for:item}",
                        "{place} here (i|we) (come|go)"]),
        (("get", None), [f"[this time] [{have} [(some more|more)]|once more] {_A} {{item}} {again} "
                         f"[{_OFF} {{place}}] [for [(a|my|this|next|first|second)] "
                         f"(order|{_DISH})]",
                         f"[{have}] {_A} {{item}} for [(a|my|1)] {{of:item}}"]),
        (("put", None), [f"{_A} {{item}} (in|into|onto|on|to|->) {{place}}",
                         f"(in|into) {{place}} with {_SOME} {{item}}", "into {place}",
                         f"{_A} {{item}} (in|down) [(too|as well|also)]"]),
        (("carry", None), [f"{_A} {{item}} {_OVER} (to|->) {{place}}",
                           f"{_OVER} [to] {{place}} with ({_HELD}|{{meal:meal}}) "
                           f"{_THERE}"]),
        (("throw", None), [f"(away|out) with {_SOME} {{item}}",
                           f"(into|in) {_BIN} with {_SOME} {{item}}"]),
        (("serve", None), [f"(here comes|order up|coming up) [.] {_A} {{item}}",
                           f"{_A} {{item}} (coming up|is served|for customer)",
                     "(here is|here's) (your|this) {item} [(sir|madam|dear customer)]"]),
    ]  # fmt: skip
    return Grammar(phrases, slots, short=short)


def _place_names(places: Sequence[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    """Every way to name a place -> the numbers of the places that it may be."""
    found: dict[str, tuple[int, ...]] = {}
    counts = Counter(kind for kind, _ in places)
    for p, (kind, number) in enumerate(places):
        station = f"{words(kind).removesuffix(' board')} station"
        for name in (words(kind), *_PLACES.get(kind, ()), station):
            found[name] = (*found.get(name, ()), p)
            rank = f"{number}{('st', 'nd', 'rd')[number - 1] if number < 4 else 'th'}"
            ways: tuple[str, ...] = (
                f"{name} {number}",
                f"{name} number {number}",
                f"{name} # {number}",
                f"{_RANKS[number]} {name}",
            )
            both = counts[kind] == 2
            ways += tuple(f"{_RANKS[number]} of {two} {name}s" for two in _TWO if both)
            for one in (*ways, f"{rank} {name}"):
                found[one] = (p,)
            if counts[kind] > 1:
                any_one = (f"any {name}", f"one of {name}s")
                found |= {name: () for name in any_one}  # which one is left open
    return found


_TWO = ("two", "the two")
_RANKS = (
    *("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"),
    *("ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth"),
    "sixteenth",
)


def _item_names(items: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Every way to name an item -> the numbers of the items that it may be, the one of just that
    name first: "the egg" may be a fried one, and "the fillet" a fish fillet."""
    found: dict[str, tuple[int, ...]] = {name: (k,) for k, name in enumerate(items)}
    for k, name in enumerate(items):
        how, _, what = name.partition(" ")
        shorts = [*_ITEMS.get(name, ()), *(f"{raw} {name}" for raw in _RAW if not what)]
        if how in _CUT or name.endswith("strips"):
            shorts += ["slices", *(f"{cut} {what if how in _CUT else how}" for cut in _CUT)]
            shorts += [f"{what} {part}" for part in _PARTS if how in _CUT]
        if how == "fried" and f"sliced {what.rstrip('s')}" in items:
            shorts.append("fried slices")
        shorts = [short for short in shorts if short not in items]
        if what and how.endswith("ed"):
            shorts.append(what)
            if how == "minced":
                shorts += ["mince", "mincemeat", f"ground {what}", f"{what} mince"]
        elif what and (last := name.split()[-1]) not in (*items, *_TOOL_WORDS):
            shorts.append(last)
        for short in shorts:
            found[short] = (*found.get(short, ()), k)
    return found


def grammar_of(book: Book) -> Grammar:
    kinds = dict.fromkeys(kind.name for kind in book.kinds)
    own = {kind.name: kind.verb for kind in book.kinds}
    said = _VERBS if "blender" in kinds else {**_VERBS, "mixer": f"{_VERBS['mixer']}|blend"}
    verbs = tuple((name, said.get(name, own[name].replace("-", " "))) for name in kinds)
    return _grammar(tuple(book.places), tuple(book.item_names), verbs)


LONGEST = 4  # words of a name


@functools.lru_cache(maxsize=64)
def place_words(places: tuple[tuple[str, int], ...]) -> dict[tuple[str, ...], tuple[int, ...]]:
    return {tuple(tokens(name)): meant for name, meant in _place_names(places).items()}


@functools.lru_cache(maxsize=64)
def item_words(items: tuple[str, ...]) -> dict[tuple[str, ...], tuple[int, ...]]:
    return {tuple(tokens(name)): meant for name, meant in _item_names(items).items()}
