"""Reading an answer: the one action that it means, and what is open to a chef, on the host.

A chef may name an action ("go to pan 1", "get tomato"), or say it otherwise ("chop it", "serve the
soup"). Whatever a sentence names besides, the tool or the item, is checked against what is there:
said of anything else, it is refused.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.core.answers import REASON, Answer, decide, instead, settled
from manyhands.core.choices import without_effect
from manyhands.core.env import IllegalAction, names_of
from manyhands.core.grammar import Grammar, Reading
from manyhands.core.phrases import TIME, WAITING
from manyhands.core.pronouns import MOST, before_it, named
from manyhands.core.words import tokens
from manyhands.envs.cuisine.menu import MOST_CHEFS, Book, words
from manyhands.envs.cuisine.state import MOST_WAITING, STORE, TABLE, TOOLS, CuisineState, actions_of

if TYPE_CHECKING:
    from manyhands.envs.cuisine.env import Cuisine

OTHER = -1  # the only other chef
SHOWN = 8  # choices that a refusal names at most


class Facts(NamedTuple):
    """A state in plain numbers. Items are None for nothing; dishes are numbered as in
    `Book.dishes`."""

    level: int
    time: int
    place: list[int]
    held: list[int | None]
    bound: list[int]
    inside: list[Counter[int]]
    busy: list[int]
    ready: list[bool]
    waiting: list[int]
    orders: list[int]
    left: list[int]
    served: int
    expired: int


def facts_of(cuisine: Cuisine, state: CuisineState) -> Facts:
    """A state, read once."""
    order = np.asarray(state.order).tolist()
    inside = np.asarray(state.inside)
    return Facts(
        level=int(state.level),
        time=int(state.time),
        place=np.asarray(state.place).tolist(),
        held=[item - 1 if item else None for item in np.asarray(state.held).tolist()],
        bound=np.asarray(state.bound).tolist(),
        inside=[Counter({k: int(row[k]) for k in np.flatnonzero(row).tolist()}) for row in inside],
        busy=np.asarray(state.busy).tolist(),
        ready=np.asarray(state.ready).tolist(),
        waiting=np.asarray(state.waiting).tolist(),
        orders=[dish - 1 for dish in order if dish],
        left=[left for dish, left in zip(order, np.asarray(state.left).tolist(), strict=True)
              if dish],
        served=int(state.served),
        expired=int(state.expired),
    )  # fmt: skip


@functools.lru_cache(maxsize=4096)
def needs(book: Book, recipe: int) -> Counter[int]:
    """What goes into a recipe."""
    row = book.need[recipe]
    return Counter({k: int(row[k]) for k in np.flatnonzero(row).tolist()})


def open_actions(cuisine: Cuisine, facts: Facts, agent: int) -> list[int]:
    """The legal actions of a chef, as `rules.legal` has them."""
    book = cuisine.book
    go, get, put, activate = actions_of(book)
    found = [0]
    if facts.bound[agent]:
        return found
    place, held = facts.place[agent], facts.held[agent]
    exists = book.exists[facts.level]
    found += [go + p for p in range(len(book.places)) if exists[p] and p != place]
    tool = place - TOOLS
    if held is None:
        if place == STORE:
            found += [get + k for k in np.flatnonzero(book.stock[facts.level]).tolist()]
        elif place >= TOOLS and not facts.busy[tool]:
            if facts.ready[tool] or book.take_back[place]:
                found += [get + k for k in sorted(facts.inside[tool])]
            if not facts.ready[tool] and any(
                needs(book, r) == facts.inside[tool] for r in _usable(book, facts.level, place)
            ):
                found.append(activate)
    elif place == STORE or (place == TABLE and _can_serve(book, facts, held)):
        found.append(put)
    elif place >= TOOLS and not facts.busy[tool] and not facts.ready[tool]:
        after = facts.inside[tool] + Counter([held])
        if any(after <= needs(book, r) for r in _usable(book, facts.level, place)):
            found.append(put)
    return found


def _usable(book: Book, level: int, place: int) -> Iterator[int]:
    """The recipes of a level that are made at a place."""
    for r in range(len(book.recipes)):
        if book.recipe_on[level, r] and book.made_with[r, place]:
            yield r


def _can_serve(book: Book, facts: Facts, held: int) -> bool:
    if held not in book.dishes:
        return False
    dish = book.dishes.tolist().index(held)
    return bool(book.dish_on[facts.level, dish]) and facts.waiting[dish] < MOST_WAITING


# ---- reading an answer ---------------------------------------------------------------------------

_PLACES = {
    "storage": (
        "store",
        "storage room",
        "ingredient storage",
        "stockroom",
        "food storage",
        *("pantry", "fridge", "storeroom", "larder", "cupboard", "cold room", "supply room"),
        *("ingredients storage", "ingredient room", "food store", "ingredient store", "supplies"),
    ),
    "serving_table": (
        *("serving counter", "table", "serving window", "serving", "pass", "delivery table"),
        *("counter", "serving area", "serving station", "servingtable", "serving hatch"),
        *("serving point", "delivery counter", "delivery area"),
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
    "chicken": ("bird", "poultry"),
    "shrimp": ("prawn",),
    "mushroom": ("shroom", "fungus", "fungi"),
    "potato": ("spud", "tater"),
    "noodles": ("pasta",),
    "cucumber": ("cuke",),
    "beans": ("bean", "legume"),
}
_RAW = ("raw", "uncooked", "uncut", "whole", "plain", "unprocessed")
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
    "(it|that|this|them|[(my|this|that)] (item|ingredient|load|stuff)"
    f"|[(my|this|that)] (item|ingredient|thing|stuff|food|dish) [(that|which)] {_I_HOLD}"
    f"|(what|whatever|everything) [that] {_I_HOLD}|(what's|what is|whatever is) in my hand"
    "|content of my hand)"
)
_DISH = "(dish|food|meal|order|plate)"
_DONE = (
    "(it|that|product|result|content|finished (item|product|dish|food)"
    "|what (is|'s) (done|ready|there|in it|inside)|ready (item|dish|food|product)"
    "|what (it|this|that|tool|{place}) (has made|made|has ready))"
)
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
    "|begin using|crank up|kick off|press start on|press button on|push button on|work)"
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
    "|stand|hang (around|about|back)|linger|loiter|stick around|pause|rest|tarry) "
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
    }
    phrases: list[tuple[Any, Sequence[str]]] = [
        (
            ("go", None),
            [
                f"{_WALK} {_OVER} (to|towards|toward|into|for|at) {{place}} [first] {_THERE}",
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
                "(goto|visit|approach|reach|enter) {place}",
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
                f"{_WAITS} [{_AT} {{place}}] [and] [just] "
                f"(keep [(hold of|hold)]|hold|hold on to|hold onto|with) {_HELD} {_FOR_NOW}",
            ],
        ),
        (
            ("carry", None),
            [
                f"(bring|carry|take) {_HELD} {_OVER} to {_CHEF}",
                f"(bring|carry|take|have) {_HELD} [along] with me {_OVER} to ({{place}}|{_CHEF})",
                f"(bring|carry|take|move|transport|haul|bear|rush) {_HELD} "
                f"{_OVER} (to|towards|toward) {{place}}",
                f"{_WALK} {_OVER} (to|towards|toward) ({{place}}|{_CHEF}) {_WITH} {_HELD} {_THERE}",
                f"{_WALK} {_WITH} {_HELD} {_OVER} (to|towards|toward) ({{place}}|{_CHEF}) {_THERE}",
            ],
        ),
        (
            ("get", None),
            [
                f"{_TAKE} {_SOME} {{item}} [(up|back|back up|back out|myself)] [{_OFF} {{place}}]",
                f"{_TAKE} [(out|up)] {_SOME} {{item}}",
                f"pick [out] {_SOME} {{item}} [{_OFF} {{place}}]",
                f"(pick|take) {_SOME} {{item}} ([back] up|off) [again] [{_OFF} {{place}}]",
                "my [(next|first)] ingredient is {item}",
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
                f"[(my|this|next|first|our|1)] ({{of:item}} [(s bun|{_DISH})]|{_DISH})]",
                "{item} (is|are) (done|ready|finished) [(so|.)] (take|get|grab|collect) (it|them)",
                "get {item} {place}",
                "(pick up|get|take|grab|collect)",
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
                f"(put down|drop off|put in|set down) [{_HELD}] [{_INTO} {{place}}]",
                "(fill|load|stock) [up] {place} [with {item}]",
                "put {item} {place}",
                f"let {_HELD} (drop|fall|slide|go) [down] {_INTO} {{place}}",
                f"empty my hand {_INTO} {{place}}",
                "(stick|shove|chuck|throw|dunk|get|plop|dump|stuff|bung) "
                f"{_HELD} ((in|inside) [(here|there)]|{_INTO} {{place}})",
                "(tip|slide|slip|lower|empty|feed|pop|sling|drop off) "
                f"{_HELD} [(down|in|off|here|there)] [{_INTO} {{place}}]",
                f"(transfer|move|unload|drop) {_HELD} [(from|out of) my hand] [{_INTO} {{place}}]",
                f"(hand over|give|hand|pass) {_HELD} to {{place}}",
                f"let go of {_HELD} [{_INTO} {{place}}]",
                f"(start|begin) [({{of:item}}|{_DISH})] (with|by (put|add|drop) [in]) {_HELD} "
                f"[(in|{_INTO} {{place}})]",
                f"give {{place}} {_SOME} {{item}}",
                f"feed {{place}} [with] {_SOME} {{item}}",
            ],
        ),
        (
            ("serve", None),
            [
                f"(deliver|serve|hand over|hand in|submit|turn in|send out|serve up|hand out"
                "|send|present|dish up|plate up|give out) "
                f"[({_HELD}|{_DISH})] "
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
                "(press|hit|push) [start] button [(of|on) {place}]",
                "let ({place}|it) (run|work|do its work|do its job|do its thing|go|start)",
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
                ],
            )
        )
    have = "(i will have|i'll have|i'd like|i would like|i should like|i want)"
    short: list[tuple[Any, Sequence[str]]] = [
        (("go", None), [f"{_OVER} [(to|towards|toward)] {{place}}",
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
                        "{place} for (another|more|some) {for:item}",
                        "{place} here (i|we) (come|go)"]),
        (("get", None), [f"[{have}] {_A} {{item}} [{_OFF} {{place}}]",
                         f"[{have}] {_A} {{item}} for [(a|my|1)] {{of:item}}"]),
        (("put", None), [f"{_A} {{item}} (in|into|onto|on|to|->) {{place}}",
                         f"(in|into) {{place}} with {_SOME} {{item}}",
                         f"{_A} {{item}} (in|down) [(too|as well|also)]"]),
        (("carry", None), [f"{_A} {{item}} {_OVER} (to|->) {{place}}",
                           f"{_OVER} [to] {{place}} with ({_SOME} {{item}}|it) {_THERE}"]),
        (("throw", None), [f"(away|out) with {_SOME} {{item}}",
                           f"(into|in) {_BIN} with {_SOME} {{item}}"]),
        (("serve", None), [f"(here comes|order up|coming up) [.] {_A} {{item}}",
                           f"{_A} {{item}} (coming up|is served|for customer)"]),
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
        if what and how.endswith("ed"):
            shorts += [what, *(("mince", "mincemeat") if how == "minced" else ())]
        elif what and (last := name.split()[-1]) not in (*items, *_TOOL_WORDS):
            shorts.append(last)
        for short in shorts:
            found[short] = (*found.get(short, ()), k)
    return found


def grammar_of(book: Book) -> Grammar:
    kinds = dict.fromkeys(kind.name for kind in book.kinds)
    own = {kind.name: kind.verb for kind in book.kinds}
    verbs = tuple((name, _VERBS.get(name, own[name].replace("-", " "))) for name in kinds)
    return _grammar(tuple(book.places), tuple(book.item_names), verbs)


def the(place: str) -> str:
    """A place with its article, which a number makes needless."""
    return place if place[-1].isdigit() else f"the {place}"


def parse(cuisine: Cuisine, text: Any, state: CuisineState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not open to the chef now."""
    facts = facts_of(cuisine, state)
    open_ = open_actions(cuisine, facts, agent)
    items = _item_words(tuple(cuisine.book.item_names))

    def refuse(reason: str) -> IllegalAction:
        return IllegalAction(functools.partial(refusal, reason))

    def refusal(reason: str) -> str:
        said = [short_words(cuisine, facts, agent, action) for action in open_]
        return f"{reason}. Open to you: {instead(text, said, SHOWN)}."

    def mean(answer: Answer) -> int | None:
        plain = " ".join(answer.plain.split()).rstrip(".")
        if ":" in plain:
            plain = without_effect(plain, cuisine.choices(state, agent, None))
        for action in open_:
            if plain == short_words(cuisine, facts, agent, action):
                return action
        readings = grammar_of(cuisine.book).read(plain)
        if answer.kind == REASON:  # what is in the hands stays there
            readings = [reading for reading in readings if reading.meaning[0] != "keep"]
        if answer.kind == REASON and tuple(tokens(plain)) in items:
            # "Burger time": a thing that is told of, and is not here to be taken.
            here = {_action(cuisine, facts, agent, reading) for reading in readings}
            readings = readings if here & set(open_) else []
        return settled(
            (_action(cuisine, facts, agent, reading) for reading in readings),
            open_,
            functools.partial(_why, cuisine, facts, agent),
            refuse,
        )

    listed = (short_words(cuisine, facts, agent, action) for action in open_)
    said = _with_names(cuisine, facts, agent, text, listed)
    return int(decide(said, mean, refuse, me=cuisine.agents[agent]))


_OF_IT = (
    before_it("place", "activate start start_up turn_on switch_on use run operate"),
    before_it("item", "get take grab pick_up collect fetch put add drop deliver serve chop"),
)


def _with_names(
    cuisine: Cuisine, facts: Facts, agent: int, text: Any, listed: Iterable[str]
) -> Any:
    """An answer with the names that its pronouns stand for ("pan 1 is done, so I go there")."""
    book = cuisine.book
    tables = (
        ("place", _place_words(tuple(book.places))),
        ("item", _item_words(tuple(book.item_names))),
    )

    def name(said: list[str], start: int) -> Iterator[tuple[str, frozenset[int], int]]:
        for kind, known in tables:
            for length in range(1, min(_LONGEST, len(said) - start) + 1):
                meant = known.get(tuple(said[start : start + length]))
                if meant:
                    yield kind, frozenset(meant), length

    def here(meaning: Set[int]) -> bool:
        return meaning == {facts.place[agent]}

    text = _with_free(cuisine, facts, agent, text)
    return named(text, name, _OF_IT, ("place",), here, listed)


_FREE = re.compile(
    r"\b(?P<how>empty|unused|idle|free|unoccupied|vacant|available) "
    r"(?P<kind>[a-z]+(?: [a-z]+)?)\b(?! ?(?:number |#)?\d)",
    re.I,
)


def _with_free(cuisine: Cuisine, facts: Facts, agent: int, text: Any) -> Any:
    """An answer with the name of "the empty pan", if one alone is empty; a "free" one has no chef
    at it either."""
    if not isinstance(text, str) or len(text) > MOST:
        return text
    book = cuisine.book
    known = _place_words(tuple(book.places))
    others = {place for i, place in enumerate(facts.place) if i != agent}

    def name(found: re.Match[str]) -> str:
        said = found["kind"].lower().split()
        for length in range(len(said), 0, -1):
            meant = [p for p in known.get(tuple(said[:length]), ()) if p >= TOOLS]
            free = [
                p
                for p in meant
                if book.exists[facts.level, p]
                and not (facts.inside[p - TOOLS] or facts.busy[p - TOOLS] or facts.ready[p - TOOLS])
                and (p not in others or found["how"].lower() in ("empty", "unused", "idle"))
            ]
            if len(free) == 1:
                return " ".join([book.place_names[free[0]], *said[length:]])
        return found[0]

    return _FREE.sub(name, text)


_LONGEST = 4  # words of a name


@functools.lru_cache(maxsize=64)
def _place_words(places: tuple[tuple[str, int], ...]) -> dict[tuple[str, ...], tuple[int, ...]]:
    return {tuple(tokens(name)): meant for name, meant in _place_names(places).items()}


@functools.lru_cache(maxsize=64)
def _item_words(items: tuple[str, ...]) -> dict[tuple[str, ...], tuple[int, ...]]:
    return {tuple(tokens(name)): meant for name, meant in _item_names(items).items()}


def short_words(cuisine: Cuisine, facts: Facts, agent: int, action: int) -> str:
    """A legal action in words, without its effect."""
    book = cuisine.book
    go, get, put, activate = actions_of(book)
    if action == 0:
        return "wait"
    if action < get:
        return f"go to {book.place_names[action - go]}"
    if action < put:
        return f"get {book.item_names[action - get]}"
    place = facts.place[agent]
    if action == activate:
        return f"activate {book.place_names[place]}"
    held = facts.held[agent]
    item = "" if held is None else book.item_names[held]
    if place == STORE:
        return f"throw away {item}"
    return f"deliver {item}" if place == TABLE else f"put {item} into {book.place_names[place]}"


def _action(cuisine: Cuisine, facts: Facts, agent: int, reading: Reading) -> int | str:
    """The action that a reading means, or why it can mean none here."""
    book = cuisine.book
    go, _, put, activate = actions_of(book)
    what, kind = reading.meaning
    values: Mapping[str, Any] = reading.values
    place, held = facts.place[agent], facts.held[agent]
    here = the(book.place_names[place])
    named, item = values.get("place"), values.get("item")
    if "chef" in values:
        where = _of_chef(cuisine, facts, agent, values["chef"])
        if isinstance(where, str):
            return where
        if named and where not in named and what != "meet":
            return "that chef is elsewhere"
        named = named or (where,)
    if "off" in values and place not in values["off"]:
        return f"you are at {here}, not there"
    if "rest" in values:  # "the other pot", or "the other pot, number 2", said at a pot
        kinds = {book.places[p][0] for p in values["rest"]}
        alike = book.places[place][0] in kinds
        named = tuple(p for p in values["rest"] if p != place and alike)
    if "also" in values:
        named = tuple(p for p in named or () if p in values["also"])
    if what in ("go", "carry", "meet", "rather"):
        if item is not None and held not in item:
            return "that is not in your hands"
        there = [p for p in named or () if book.exists[facts.level, p]]
        if len(there) != 1:
            several = names_of([book.place_names[p] for p in there]) if there else "what is here"
            return f"it is open which place is meant: {several}"
        return go + there[0]
    if named is not None and place not in named:
        if not named:
            return "it is open which place is meant"
        there_name = the(book.place_names[named[0]])
        return f"you are at {here}, not at {there_name}: go there first"
    if what in ("keep", "wait and keep") and held is None:
        return "your hands are empty"
    if what in ("wait", "keep", "wait and keep"):
        in_hand = what == "wait" or item is None or held in item
        return 0 if in_hand else f"you hold {book.item_names[held or 0]}"
    if what == "get":
        return _taken(cuisine, facts, agent, item)
    if what == "use":
        if place < TOOLS or (kind is not None and book.kinds[place - TOOLS].name != kind):
            return f"you are at {here}, where that cannot be done"
        fits = item is None or any(_fits(book, facts, place, one) for one in item)
        if "raw" in values:  # what is in it, which is not what it makes
            contents = facts.inside[place - TOOLS]
            made = item is not None and any(
                _fits(book, facts, place, one) for one in item if one not in contents
            )
            fits = made and any(one in contents for one in values["raw"])
        return activate if fits else f"that is not what {here} makes"
    if held is None:
        return "your hands are empty"
    if item is not None and held not in item:
        return f"you hold {book.item_names[held]}, not {book.item_names[item[0]]}"
    if what == "serve" and place != TABLE:
        return f"you are at {here}: dishes are delivered at the serving table"
    if what == "throw" and place != STORE:
        return f"you are at {here}: things are thrown away in the storage"
    return put


def _of_chef(cuisine: Cuisine, facts: Facts, agent: int, chef: int) -> int | str:
    """The place of another chef, or why nobody else is meant."""
    others = [i for i in range(len(cuisine.agents)) if i != agent]
    if chef == OTHER and len(others) == 1:
        chef = others[0]
    return facts.place[chef] if chef in others else "it is open which chef is meant"


def _taken(cuisine: Cuisine, facts: Facts, agent: int, item: tuple[int, ...] | None) -> int | str:
    """Taking an item, or what is there, if only one thing is."""
    _, get, put, _ = actions_of(cuisine.book)
    open_ = open_actions(cuisine, facts, agent)
    if item is not None:
        names = [cuisine.book.item_names[k] for k in item]
        there = [get + k for k in item if get + k in open_]
        # "Beef" is no minced beef while it is taken, but "chips" may be fries.
        exact = all(name.endswith(names[0]) for name in names)
        return there[0] if len(there) == 1 and not exact else get + item[0]
    there = [action for action in open_ if get <= action < put]
    return there[0] if len(there) == 1 else "it is open what to take"


def _fits(book: Book, facts: Facts, place: int, item: int) -> bool:
    """Whether an item that is named with a tool is in it, or is what it would make."""
    inside = facts.inside[place - TOOLS]
    made = {
        int(book.makes[r]) for r in _usable(book, facts.level, place) if needs(book, r) == inside
    }
    return item in inside or item in made


def _why(cuisine: Cuisine, facts: Facts, agent: int, action: int) -> str:
    """Why an action is not open."""
    book = cuisine.book
    go, get, put, activate = actions_of(book)
    place, held = facts.place[agent], facts.held[agent]
    here = the(book.place_names[place])
    if facts.bound[agent]:
        return f"you have to stay at {here} until it is done"
    if action < get:
        return f"you are at {the(book.place_names[action - go])} already"
    if action != put and held is not None:
        return f"your hands are full: you hold {book.item_names[held]}"
    tool = place - TOOLS
    if action < put:
        item = book.item_names[action - get]
        if place >= TOOLS and facts.busy[tool]:
            return f"{here} still works"
        if place >= TOOLS and facts.inside[tool].get(action - get):
            return f"{here} has to be activated before {item} can be taken"
        return f"there is no {item} to take at {here}"
    if place < TOOLS:
        if action == activate:
            return f"you are at {here}, which cannot be activated"
        return (
            f"{book.item_names[held]} is no dish that is ordered here"
            if held is not None
            else ("your hands are empty")
        )
    if facts.busy[tool]:
        return f"{here} still works"
    if facts.ready[tool]:
        return f"{here} holds what it made; take that first"
    if action == activate:
        return f"the contents of {here} are no complete recipe"
    return f"{book.item_names[held or 0]} does not belong into {here} now"
