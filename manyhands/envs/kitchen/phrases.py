"""What a chef may say: the names of things and places, and the phrases of each action.

`reading.py` checks what is said against what the chef sees.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.phrases import BEST, IS_BEST, WAITING
from manyhands.core.reading.words import names, tokens
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.levels import (
    BUTTON,
    CARROTS,
    COUNTER,
    DISHES,
    DISPENSERS,
    INDICATOR,
    MUSHROOMS,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
)
from manyhands.envs.kitchen.state import (
    ACTIONS,
    CARROT,
    DISH,
    EAST,
    INTERACT,
    MUSHROOM,
    NORTH,
    NOTHING,
    ONION,
    SOUTH,
    STAY,
    TOMATO,
    WEST,
)


class Cell(NamedTuple):
    """A cell beside a chef: what is there."""

    x: int
    y: int
    code: int  # of the terrain
    thing: int  # lying there, or in the pot
    pot: str  # its letter
    chef: int | None


class Target(NamedTuple):
    """What a place may be: terrain, things on counters, one pot, one chef."""

    codes: frozenset[int] = frozenset()
    things: frozenset[int] = frozenset()
    pot: str = ""
    chef: int | None = None

    def fits(self, cell: Cell) -> bool:
        if self.chef is not None or cell.chef is not None:
            return self.chef is not None and cell.chef is not None and self.chef in (cell.chef, -1)
        if self.pot:
            return cell.code == POT and cell.pot == self.pot
        return cell.code in self.codes or (cell.code == COUNTER and cell.thing in self.things)


# ---- names ---------------------------------------------------------------------------------------

_list = str.split
_WAYS = {
    f"{way}{end}": i
    for i, way in enumerate(ACTIONS[:STAY])
    for end in ("", "ward", "bound", "erly")
}
_SIDES = {"up": NORTH, "upward": NORTH, "down": SOUTH, "downward": SOUTH, "right": EAST,
          "rightward": EAST, "left": WEST, "leftward": WEST}  # fmt: skip
_SIDED = {
    **{f"{way}ern": i for i, way in enumerate(ACTIONS[:STAY])},
    **{f"{side}{hand}": _SIDES[side] for side in ("left", "right") for hand in ("", " hand")},
    **{"upper": NORTH, "top": NORTH, "lower": SOUTH, "bottom": SOUTH},
}
_CLEAR = {side: way for side, way in _SIDES.items() if side not in ("left", "right")}
_ARROWS = {"\u2191": NORTH, "\u2193": SOUTH, "->": EAST, "\u2190": WEST} | {
    f"{'arrow ' * first}{side}{' arrow' * (not first)}{key}": _SIDES[side]
    for first, side, key in product((0, 1), ("up", "down", "right", "left"), ("", " key"))
}
_OTHERS = {
    **dict.fromkeys(
        ("stay", "wait", "noop", "no op", "no operation", "do nothing", "idle", "stand still"), STAY
    ),
    **dict.fromkeys(("interact", "interaction", "use"), INTERACT),
}
_NAMES = {**_WAYS, **_SIDES, **_ARROWS, **_OTHERS}
_LETTERS = {**dict(zip("nsew", range(4), strict=True)), **_SIDES, **_ARROWS, "act": INTERACT}

_SOUPS = frozenset(map(ask.soup_code, ask.RECIPES))
_ANY = frozenset({*ask.INGREDIENTS, DISH}) | _SOUPS
BY_DISPENSER = dict(zip(DISPENSERS, ask.INGREDIENTS, strict=True)) | {DISHES: DISH}


def _things() -> Iterator[tuple[str, frozenset[int]]]:
    for name, code in (("onion", ONION), ("tomato", TOMATO), ("carrot", CARROT),
                       ("mushroom", MUSHROOM), ("dish", DISH), ("plate", DISH),
                       ("bowl", DISH)):  # fmt: skip
        yield name, frozenset({code})
    for name in _list("it this that one object obj item thing"):
        yield name, _ANY
    for name in ("what (am i|i am|i'm) (holding|carrying)", "what i (hold|carry|have)"):
        yield from ((words, _ANY) for words in _spelled(name))
    for name in _list("ingredient vegetable veggie"):
        yield name, frozenset(ask.INGREDIENTS)
    for name in _list("soup meal order food"):
        yield name, _SOUPS
    for kind in _list("cooked finished ready done hot completed plated"):
        yield f"{kind} soup", _SOUPS
    for k, name in enumerate(ask.KINDS):
        pure = [recipe for recipe in ask.RECIPES if sum(recipe) == recipe[k]]
        yield f"{name} soup", frozenset(map(ask.soup_code, pure))
    for recipe in ask.RECIPES:
        parts = [f"{n} {name}" for n, name in zip(recipe, ask.KINDS, strict=True) if n]
        soup = frozenset({ask.soup_code(recipe)})
        yield f"soup of {' and '.join(parts)}", soup
        yield f"{' '.join(parts)} soup", soup
        yield f"soup with {' and '.join(parts)}", soup


def _spelled(pattern: str) -> list[str]:
    """The wordings of a pattern with alternatives in brackets."""
    parts = [part.split("|") for part in re.split(r"[()]", pattern)]
    return ["".join(words) for words in product(*parts)]


def places() -> Iterator[tuple[str, Target]]:
    for kind in ("pot", "cooking pot", "soup pot", "stove", "cooker"):
        yield kind, Target(frozenset({POT}))
        for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
            yield f"{kind} {letter}", Target(pot=letter)
    for kind in ("counter", "countertop", "counter top", "worktop", "bench", "table", "surface"):
        yield kind, Target(frozenset({COUNTER}))
        yield from (
            (f"{how} {kind}", Target(things=frozenset({NOTHING}))) for how in ("empty", "free")
        )
    boxes = _list("dispenser box crate bin source station pile supply stack rack storage container")
    for code, thing, kinds in ((ONIONS, ONION, ["onion"]), (TOMATOES, TOMATO, ["tomato"]),
                               (CARROTS, CARROT, ["carrot"]), (MUSHROOMS, MUSHROOM, ["mushroom"]),
                               (DISHES, DISH, ["dish", "plate", "bowl"])):  # fmt: skip
        for kind in kinds:
            yield kind, Target(frozenset({code}), frozenset({thing}))
            yield from ((f"{kind} {box}", Target(frozenset({code}))) for box in boxes)
    yield from ((box, Target(frozenset(BY_DISPENSER))) for box in boxes[:3])
    yield "soup", Target(frozenset({POT}), _SOUPS)
    windows = _list("window area counter station hatch spot point location")
    for how, where in product(_list("serving delivery service"), windows):
        yield f"{how} {where}", Target(frozenset({SERVING}))
    yield from ((name, Target(frozenset({SERVING}))) for name in ("window", "hatch", "customer"))
    for name in ("button", "recipe button", "switch"):
        yield name, Target(frozenset({BUTTON}))
    for name in ("indicator", "recipe indicator", "recipe sign", "recipe display"):
        yield name, Target(frozenset({INDICATOR}))
    for i in range(6):
        yield f"chef {i}", Target(chef=i)
    for name in ("partner", "teammate", "team mate", "other chef"):
        yield name, Target(chef=-1)


_SLOTS: dict[str, Any] = {
    "way": _WAYS, "side": _SIDES, "arrow": _ARROWS, "name": _NAMES,
    "own_name": {**_WAYS, **_OTHERS}, "short": _LETTERS,
    "over": {"above": NORTH, "below": SOUTH, "beneath": SOUTH},
    "sided": _SIDED,
    "near": {"above": NORTH, "below": SOUTH, "beneath": SOUTH, "under": SOUTH,
             "underneath": SOUTH, "left of": WEST, "right of": EAST},
    "back": {"behind": True}, "free": dict.fromkeys(("empty", "unused"), True),
    "complete": dict.fromkeys(("finish", "complete", "top up", "top", "finish off"), True),
    "hand": {"left": WEST, "right": EAST},
    "rest": {"up": NORTH, "down": SOUTH, "left": WEST, **_CLEAR}, "clear": _CLEAR,
    "thing": dict(_things()),
    "noun": {name: codes for name, codes in _things() if codes != _ANY},
    "place": dict(places()), "letter": names("NSEW"),
}  # fmt: skip


# ---- phrases -------------------------------------------------------------------------------------

_A = (
    "[a|my|one|another|1|this|that|some|its|(one|1) more|more] [next|first|second|third|last|final"
    "|third and (last|final)|fresh|raw|clean|empty|new|further|extra]"
)
_FRONT = (
    "from (here|there)"
    "|in front [of me]|ahead [of me]|before me|directly in front of me|right in front of me|here"
    "|there|right (here|there)|under my nose|[that|which] (i|i'm|i am) (face|look at)"
    "|next to me|beside me"
)


def _place(label: str) -> str:
    """A place, what lies there, and where it is."""
    what = f"[(with|that holds|holding) [a|my] {{{label}_what:thing}} [on it]]"
    return (
        f"[a|my|this|that|nearest|closest] [{{{label}_free:free}}] "
        f"[({{{label}_way:way}}|{{{label}_side:sided}})] "
        f"({{{label}:place}}|it) {what} "
        "[[at] [cell|position] "
        f"{{{label}_x:n}} {{{label}_y:n}}|[(to|on|in|at|directly|right|just)] {{{label}_way:way}} "
        f"[of me|of here|side]|{{{label}_back:back}} me"
        f"|(to|on|at) [my] {{{label}_way:side}} [side|hand side] [of me]|{{{label}_way:near}} me"
        f"|{{{label}_way:over}}"
        f"|(directly|right|just) {{{label}_way:near}} me|{_FRONT}] "
        f"{what}"
    )


# What a move or a thing is for.
_NTH = (
    "[next|first|second|third|fourth|last|final|third and last|other|empty|free|open|remaining"
    "|fresh|new|lower|upper|left|right|same|whole]"
)
_DET = "[a|my|our|one|1|another|(one|1) more|this|that|its|nearest|closest]"
_FOR_THIS = (
    f"([this time|now|again] for {_DET} {_NTH} {_NTH} ({{for:place}}|{{for:thing}}|recipe|batch"
    "|slot|place|spot|room) [(in|of|inside|for) "
    f"{_DET} {_NTH} {{for:place}}]"
    "|(first|second|third|last|final) [one|1] (of|out of) 3"
    f"|as {_DET} (first|second|third|last|final) [one|1|{{for:thing}}] [(of|out of) (3|it)] "
    f"[(in|for) {_DET} {_NTH} {{for:place}}])"
)
# A cell by its place, and one beside the chef by its side.
_KIND = "[floor] (cell|tile|square|position|floor|spot|space|field|location)"
_NEXT = "[free|empty|open|next|adjacent|neighbouring|neighboring|other|my]"
_XY = f"[{_NEXT} {_KIND} [(beside|next to) me]] [.] [at] [x [=]] {{x:n}} [y [=]] {{y:n}}"
_BESIDE = (
    f"({_NEXT} {_KIND} ((to|on|at|in) [my] ({{way}}|{{side}}) [side|hand side] [of me]"
    f"|({{way}}|{{side}}) of me|{{near}} me)|{_NEXT} {{sided}} [floor] {_KIND})"
)
_THERE = "[cell|position|spot] {place_x:n} {place_y:n}"
_HELD = "[[that] (i|i'm|i am) (hold|have|carry|holding|carrying)|(in|from) my hand]"
_CELL = "(step|pace|cell|tile|square|space|block|position|field)"
_SINGLE = "(a|another|(a|one|1) [more|further|single])"
_ONE = f"[{_SINGLE} [{_CELL}]]"
_BY = f"[[by] {_SINGLE} [{_CELL}]|(once|again|once more|once again) [(a|one|1) {_CELL}]]"
_CARRIED = (
    "[(with|carrying|holding) [a|my|this] {carried:thing} "
    "[(in|between) [my] hand|[that] (i|i'm|i am) (hold|carry)]]"
)
_GO = (
    "(go|move|walk|step|head|off|run|travel|proceed|advance|shift|slide|edge|inch|shuffle|scoot"
    "|back|back up|back off|back away|retreat|withdraw|pull back|fall back"
    "|(go|move|walk|step|head) back"
    "|slip [out|past]|(shift|slide|edge|inch|shuffle|scoot|hop) over"
    "|(go|move|walk|step|head) (over|off|across|straight|right over)"
    f"|(take|make|do) {_SINGLE} (step|move)"
    "|(keep|continue) [going|moving|walking|heading]|(move|bring) (myself|my chef)"
    "|side step|sidestep|squeeze|swerve|hop|roll|stroll|march|wander|drift|relocate|reposition"
    "|make (room|way)|give way|yield|clear the way|(move|go|get|step) out of {passed:place} s way"
    "|(make (room|way)|clear the way) by (go|move|step|walk)"
    "|(go|walk|carry|keep|move|step|head) on|onward|(step|move|stand|get) (aside|out of the way))"
)
_TURN = (
    "([(make|have|let) (my chef|me)] (turn|swing|spin|pivot|swivel|rotate|orient|point|aim) "
    "[myself|my (chef|face|nose|body)] [back|round|around|about|over]"
    "|[(make|have|let) (my chef|me)] [turn and] (face|look))"
)
_LOOK_AT = (
    "([turn and] (look|glance|stare|gaze|peer) [{towards:side}|{way}]"
    "|(have|take) [a] [quick|closer] look) at"
)
_AND_FACE = "[(and|to) (look at|face|see) (it|that|this|{aim:place})]"
_TO = (
    "[to|->|for|toward|in|into|onto|due|straight|straight to|up to|direction|over to"
    "|back|back to|across to|down to]"
)
_TO_DO = (
    "((on [my|our] way|en route|heading|nearer|closer|next|over|back) (to|toward|for)|past|along"
    "|around|by|[that|which] (bring|get|take|lead) (me|us) (to|toward|closer to|nearer to|next to)"
    "|(to|so i can|in order to|so that i can) (get|reach|fetch|grab|take|pick up|collect|face"
    "|approach|be at|get to|use|be near|get closer to|make room for|avoid|get past|pass|unblock"
    "|free|let))"
)
# Where a step leaves a chef or a thing.
_IS_AT = (
    "(close|closer|nearer|near|ahead|within reach|in reach|[directly|right|just] (next to|beside"
    "|behind|above|below|under|underneath|beneath|in front of|close to|closer to|nearer to"
    "|within reach of|near|at) (me|us|{end:place})"
    "|(on|at|to) [my] (left|right|other|{end_way:way}) [hand] [side] [of (me|{end:place})])"
)
_ENDS_UP = (
    f"(so [that] (({{passed:place}}|i|it) [will] (is|be|am|come|end up|get|stand|come to be)"
    f"|i'm|i'll (be|stand|end up)) {_IS_AT}"
    f"|(to|and) (be|stand|get|end up|come) {_IS_AT})"
)
_THAT_IS = (
    "[.] [(i . e [.]|that is|that's|so|->|meaning|namely|which (is|be|mean|means)"
    "|[by] (go|step|move|walk|turn|head))] [.]"
)
_AWAY = "(get out of the way|make room|clear the way)"
# Where a move leads.
_LEADS = (
    f"(({_TO_DO}|to|toward|in search of|(in|into|to) [a|my] (nook|corner|alcove|gap|niche|spot|end"
    f"|side) (next to|beside|near|by|at|below|above|of|with)) {_place('aim')}"
    "|(to|toward|near) where [a|my] {aim:place} (is|are|stand|lie|wait)"
    f"|to {_AWAY}|{_FOR_THIS}|[to|into|toward|for] [a|my] [upper|lower|left|right|top|bottom"
    "] corner [of [a|my] (room|kitchen|floor|map|aisle)]"
    "|[along|to|into|onto] [a|my] [left|right|upper|lower|narrow|middle|this] "
    "(aisle|corridor|column|row|side) [by (a|one|1)])"
)
_FOR = (
    "[for [a|my] ({for:place}|{for:thing})|to (cook|plate|serve) [[a|my|it] {for:thing}]"
    "|to (start|begin|continue|finish|complete|get) [a|my|our|this|that|another|1] "
    "[next|first|second|third|last|final|onion|tomato] (soup|meal|order|batch) "
    "[started|going|cook]|so [that] {for:place} can (take|get|use|grab|pick up|reach|have) it"
    "|to (put|place|add) [it] (in|into|to|on) [a|my] {for:place}|for (later|now)]"
)
_STAY = (
    "[keep|keep on|continue|continue to|go on|still|just] "
    "(stay [put|here|still|idle|where i am|in place|in position|at my place|on my cell]"
    "|wait [here|right here|in place|still|longer]"
    "|hang (back|on|about|here|around)|stand by"
    "|(remain|stand) (put|here|still|idle|where i am|in place|by)"
    "|hold (still|on|position|my position|here)|hold|pause|halt|freeze|idle|be idle|stay and wait"
    "|no move|not move|nothing to do|no action|rest|relax|chill|stay there"
    "|stand still and wait|stop [moving|here]|do nothing|nothing|noop|no op|no operation"
    "|keep still|sit (still|tight)|pass|(pass|skip|sit out) [(my|this|a|one|1)] "
    "(turn|step|beat|tick|round|move)|skip|take no action"
    "|do (a|one) (wait|noop)|be wait) [without (act|move|do anything)]"
)
# What another chef is let do.
_DOES = (
    "(go|pass|move|work|act|decide|by|through|step|get|take|use|fetch|bring|have|reach|do|handle"
    "|finish|cook|fill|serve|deliver|deal with|put|place|get (at|to|by|past|through)) "
    "[a|an|another|1|my|its|his|her|their] "
    "[({until_what:place}|{until_what:thing}|it|that|this|rest|way|turn|job|work)] "
    "[first|by|through|past|ahead|aside|away|off|out of [my|the] way]"
)
# Not to move is to stay.
_UNMOVED = (
    "(do not|don't|dont|won't|wont|will not|shall not|i'm not|am not|not) [even] "
    f"(go anywhere|budge|stir|leave [from] [my|this] {_KIND}|move (at all|inch|anywhere|this (turn"
    f"|step|tick|time)|from [my|this] {_KIND})) [from [my|this] {_KIND}|at all|an inch] "
    "[[for|at] [right] (this|the|1) (turn|step|moment|tick|time)|right now]",
    "(do not|don't|won't|will not|shall not|i'm not|am not) (do|touch|press) anything [at all] "
    "[[for] (this|1) (turn|step|time|tick|round)|here|right now]",
    "no (move|movement|step) (from|for) me [this (turn|step|tick|time)]",
    "(stand pat|hold my horses|hold our horse|hang tight|keep my foot where "
    "they are|stay right where i stand) [for [a] (step|turn|moment)|this (turn|step)]",
)
_UNTIL = (
    "(until|till) (something|anything) [else|new|important|relevant] (happen|change|concern me"
    "|matters|occur) [to me|for me]|(until|till) (a change|an event)|for (a change|an event|change)"
    "|for (something|anything) [else|new|important|relevant] to (happen|change|concern me|occur)"
    "|(until|till) (it's|they're) (ready|done|cooked|finished|free|empty|full)"
)
_AWAITED = (
    "[a|an|the|my|another|one|1|this|that] [next|first|second|third|last|other|more] "
    "({until:place}|{until:thing}) [soup]"
)
_DONE = (
    "((is|are|has|have|will be) [been] (ready|done|cooked|finished|cook|free|empty|full|gone|here"
    "|there|away|out of [the|my] way|served|plated|moved [away]|left|passed|filled|arrived)"
    "|(has|have) (put|brought|placed|taken|handed|delivered|dropped|moved|served|fetched) "
    "[a|an|another|1|the|me|its] [{until_what:thing}] [(down|away|over|in)] "
    "[(on|onto|in|into|to|from|at) [a] ({until_where:place}|me)]"
    "|(cook|finish|leave|pass|come|arrive|act|move) [away|by|over|on|cook|out of [the|my] way]"
    "|(put|bring|place|take|hand|deliver|drop|serve|fetch|pass|fill|hand over|hand me|bring me"
    "|give me|pass me) [a|an|another|1|the|me|its] [{until_what:thing}] [(down|away|over|in)] "
    "[(on|onto|in|into|to|from|at) [a] ({until_where:place}|me)]|get out of [the|my] way)"
)
_RECIPE = "[a|my|our] [next|new] (recipe|order)"
_KNOWN = (
    f"for {_RECIPE} [to (show|appear|be shown|be known|come|come up|light up)]|(until|till) "
    f"((i|we) [can] (know|see|learn|find out|hear) {_RECIPE}"
    f"|{_RECIPE} (show|appear|come up|(is|be) (known|shown|visible|there|clear|displayed))"
    f"|[a|my] [recipe] button (show [it|{_RECIPE}]|(is|be) (on|lit|pressed)|light up))"
)
_WHILE = (
    "[[for] (a|one|1|another|this|this one|this 1) [little|short|brief] "
    "(step|turn|moment|second|sec|tick|bit|while|round|move)"
    "|1|my turn|for my turn|for now|[for] {count:n} (step|turn|moment|second|tick|round|move)"
    f"|{_UNTIL}|{_KNOWN}"
    "|for [a|my] ({until:place}|{until:thing}|cooking) "
    "[to (cook|finish|be ready|be done|be cooked|move [away|out of the way]|pass|finish cooking"
    "|get out of my way|leave)|move"
    "|cook]"
    "|while [my] ({until:place}|{until:thing}) (cook|is cooking|move|pass|is moving)"
    f"|for {_AWAITED} [from {{until_who:place}}]|(until|till) {_AWAITED} {_DONE}"
    "|[at|on|in] [cell|position] {x:n} {y:n}]"
)
_ACT = (
    "[(try|attempt) to] (interact|use|poke|tap|prod|act|activate|operate|trigger|(do|perform"
    "|make|use) [a|an] "
    "(interact|interaction)"
    "|(press|hit) (interact|space|spacebar|space bar) [key|bar|button])"
)
_AHEAD = (
    "(it|this|that|(what|whatever) is (in front of|ahead of|before) me|what i face"
    f"|what i am facing|what i'm facing|(cell|thing|object|station|tile) ({_FRONT})|{_FRONT})"
)
_TAKE = (
    "(take|get|grab|fetch|collect|pickup|lift|retrieve|gather|obtain|pick|snatch|pluck|scoop|draw"
    "|pull|seize|secure|equip|get hold of|get my hands on|get my hand on)"
)
_PUT = "(put|place|set|lay|drop|drop off|deposit|pop|store|park|stow|rest|dump|unload)"
_POUR = (
    "(put|place|drop|add|throw|toss|load|insert|pop|dump|deposit|drop off|bring|carry|move"
    "|transfer|tip|slide|slip|plop|feed|release|sling|lower|stick|chuck|fling|plonk|pitch|dunk"
    ")"
)
_DISH = "(with|using|onto|on|in|into) [a|my] [clean|empty] (dish|plate|bowl)"
_START = "(start|begin)"
_COMPLETE = "(start|begin|continue|{whole:complete})"
_SERVE = "(serve|deliver|hand in|hand over|submit|turn in|send out|hand out|bring|carry|take|put)"
_DEEDS: dict[str, list[str]] = {
    "take": [
        f"{_TAKE} [up] {_A} {{thing}} [up|out] [in [my] hand] "
        f"[(from|out of|off|at|in|on|with) ({_place('place')}|{_THERE})|{_FRONT}] {_FOR}",
        "(pick up|pickup|take|grab)",
        f"{_TAKE} [up] (1|one) of {{thing}} [(from|out of) {_place('place')}] {_FOR}",
        f"{_TAKE} [up] (1|one) (from|out of) {_place('place')}",
        f"reach into {_place('place')}",
        f"({_TAKE}|pull) {_A} {{thing}} out [(of|from) {_place('place')}]",
        "reach [out|over|in] and (grab|take|get) (1|one|it)",
        f"help myself to {_A} {{thing}} [(from|at) {_place('place')}]",
        f"{_TAKE} (myself|me) {_A} {{thing}} [(from|out of|at) {_place('place')}|{_FRONT}]",
    ],
    "put": [
        f"{_PUT} {_A} {{thing}} {_HELD} [[right|just] here] "
        f"[(in|into|on|onto|to|at|inside|through) ({_place('place')}|{_THERE})] {_FOR}",
        f"{_PUT} {_A} {{thing}} {_HELD} back (in|into|on|onto|to) {_place('place')} {_FOR}",
        f"(leave|bring|carry) {_A} {{thing}} (in|on|onto|to|at) "
        f"({_place('place')}|{_THERE}) {_FOR}",
        "drop",
    ],
    "put down": [
        f"{_PUT} down {_A} {{thing}} {_HELD} [(on|onto|at) {_place('place')}]",
        f"{_PUT} {_A} {{thing}} down [here|(on|onto|at) {_place('place')}] {_FOR}",
        "(put|set) down",
        f"{_PUT} {_A} {{thing}} (aside|away) [(on|onto|at) {_place('place')}]",
    ],
    "fill": [
        f"{_POUR} {_A} {{thing}} {_HELD} ((in|inside) [here|there]|(in|into|to|inside|at|over) "
        f"{_place('place')}) [{{so_far:n}} of 3]",
        f"(put|place|drop|add|throw|toss) in {_A} {{thing}}",
        f"add {_A} {{thing}}",
        f"let {_A} {{thing}} (fall|drop|go) (in|into|over) {_place('place')}",
        f"(get|deliver) {_A} {{thing}} (in|into|to) {_place('place')}",
        f"(in|into {_place('place')}) [it|{_A} {{thing}}] (go|with) [it|{_A} {{thing}}]",
        f"{_A} {{thing}} go (in|into|to|inside) [{_place('place')}]",
        f"(fill|load|feed) {_place('place')}",
        f"(fill|load|feed) {_place('place')} with {_A} {{thing}}",
        f"(feed|give) {_place('place')} {_A} {{thing}}",
        f"[start|begin] [to] (fill|load|feed) [up] {_place('place')} [with {_A} {{thing}} {_HELD}]",
        f"{_place('place')} (get|take|receive) {_A} {{thing}} [from me]",
        f"{_COMPLETE} [{_A} ({{of:thing}}|batch)|{_place('place')}] [off|up] "
        f"(with {_A} {{thing}} {_HELD}|by (add|insert) {_A} {{thing}} {_HELD}"
        f"|by {_POUR} {_A} {{thing}} {_HELD} (in|into|to) "
        f"{_place('place')}|by {_POUR} (in {_A} {{thing}}|{_A} {{thing}} in))",
    ],
    "plate": [
        f"(plate|scoop|ladle|dish (up|out)) [up|out] [{_A} {{thing}}] "
        f"[(from|out of|in) {_place('place')}] [{_DISH}]",
        f"(fill|load) {_A} (dish|plate|bowl) [with {_A} {{thing}}] [from {_place('place')}]",
        f"(dish|scoop|ladle|plate) {_A} {{thing}} (up|out)",
        f"(take|get) out {_A} {{thing}}",
        f"({_TAKE}|put|pour|scoop|ladle|serve) [up|out] {_A} {{thing}} "
        f"[(from|out of) {_place('place')}] {_DISH}",
    ],
    "serve": [
        "(serve|deliver) [up]",
        f"(serve|deliver|hand in|hand over|submit|turn in|send out|hand out) [up] {_A} "
        f"({{thing}}|dish|plate|bowl) [(to|at|in|through|on|into) {_place('place')}] "
        "[[for] {points:n} point]",
        f"(bring|carry|take) {_A} ({{thing}}|dish|plate) to {_place('place')}",
        f"(give|hand|pass|send) {_A} {{thing}} [over] (to|through) {_place('place')}",
        f"(hand|turn|send|put|pass|slide) {_A} {{thing}} (in|over|out) "
        f"[(through|to|at) {_place('place')}]",
        f"(put|pass|send|slide|push|shove|hand|get) {_A} ({{thing}}|dish|plate|bowl) "
        "(through|over|across) "
        f"{_place('place')} [out]",
        f"(serve|deliver) (at|to|through) {_place('place')}",
        f"(give|hand|bring) (them|guest|customer) {_A} {{thing}}",
        f"serve {_place('place')}",
    ],
    "start": [
        f"{_START} [to] (cook [process]|boil) [{_A} {{thing}}] [(in|at) {_place('place')}]",
        f"{_START} {_A} {{thing}}",
        f"(start|begin|turn on|switch on|ignite|light|boil|fire up|heat [up]) "
        f"{_place('place')} [with {_A} {{thing}}]",
        "(get|start) (cook|boil)",
        f"let ({_place('place')}|it|this) (cook|boil|simmer|bubble)",
        f"(light|fire|heat) {_place('place')} up",
        f"let {_place('place')} (start [to] (cook|boil)|cook|boil|start|simmer|heat up)",
        f"(get|set) ({_place('place')}|[a|my] (soup|food|meal)) "
        "(go|cook|started|boil|bubble|simmer)",
        "start [a|my] (soup|food|meal)",
        "let [a|my] cook (start|begin)",
        f"(set|put) {_place('place')} (to|on) [a] (boil|cook|simmer)",
        "let [a|my] (soup|food|meal) (cook|boil|simmer)",
        f"(turn|switch|fire|heat) {_place('place')} (on|up)",
        f"cook [{_A} {{thing}}] [(in|at) {_place('place')}]",
    ],
    "press": [
        f"(press|push|hit|activate|use|trigger|operate) {_place('place')} "
        "[[so that|so] [for] ({for:place}|i|we) (can|to) (see|know|learn|read) (it|[the|a|what] "
        "(recipe|order|is asked for|is ordered))"
        "|to (see|show|reveal|know|learn|read|tell) [{for:place}|everyone|us] "
        "(it|[the|a|current] (recipe|order)|what is (asked for|ordered)) [(to|for) {for:place}]]",
        "(show|reveal) [{for:place}] [the|a] (recipe|order) [to {for:place}]",
    ],
}  # fmt: skip
_ORDER = (
    "((action|option|choice|number) [number]|(take|do|perform|execute|use|pick) (action|option)"
    "|(choose|select|go with|play) [action|option|choice|number]|my [next|final] move) [#|=|.|is]"
)


@functools.cache
def grammar() -> Grammar:
    phrases: dict[str, list[str]] = {
        "go": [
            f"({_GO}|{_TURN}|direction) {_ONE} {_TO} [direction] [=|.] {{way}} [direction] {_BY} "
            f"{_CARRIED} [{_LEADS} [again|once more]] [{_FOR_THIS}]",
            f"{_GO} {_ONE} {_TO} [direction] [=|.] {{side}} [side|direction] {_BY} {_CARRIED} "
            f"[{_LEADS}|[.] {_ENDS_UP}] [{_FOR_THIS}]",
            f"(carry|bring|move|haul|transport|run) {_A} {{carried:thing}} {_ONE} "
            f"({{way}}|{{clear}}|to [my] {{side}}) {_BY} [{_LEADS}]",
            f"{_TURN} {_TO} {{way}} {_AND_FACE}",
            f"({_GO}|[take] {_SINGLE} {_CELL}) {_ONE} [to [my]] ({{way}}|{{side}}) {_BY} [.] "
            f"({_ENDS_UP}|[which|that] (puts|brings|gets|takes|leaves) (me|us) {_IS_AT})",
            "(turn [myself]|rotate) to face {way}",
            f"face {_TO} {{side}} [side|direction]",
            "(go|move|press|hit|push) {arrow}",
            f"({_GO}|take|enter|occupy|use|claim|choose) [to|onto|into|on] {_BESIDE}",
            f"{_TURN} {_TO} ({{way}}|{{side}}) (so [that]|to have|and have) {_place('aim')} [is]",
            f"({_GO}|off|(a|one|1) {_CELL}|(carry|bring|take|move) {_A} {{carried:thing}}) "
            f"(to|toward|for|closer to|nearer to|in direction of) {_place('aim')} ({_THAT_IS} "
            f"{_ONE}|{_SINGLE} {_CELL})"
            f" [to [my]] ({{way}}|{{side}}) {_BY}",
            f"[out of [my|{{passed:place}} s] way] [.] {_GO} {_TO} ({{way}}|{{side}}) "
            "[{again:arrow}]",
            "take [a|one|1] single step [to] [my] ({way}|{clear})",
            "off to ({way}|{side}) (i|we) go",
            f"[keep] (push|press|hit|walk) [to] ({{way}}|{{clear}}) {_BY}",
            "(step|move|go) (aside|out of the way) [to] [my] ({way}|{side}) [side]",
        ],
        "turn": [
            f"(turn|rotate|look|(take|make) a) {_TO} {{hand}} {_AND_FACE}",
            f"{_GO} to my {{side}}",
        ],
        "ahead": [
            f"(go|move|walk|step|take (a|one|1) step|continue|keep going|keep moving) {_ONE} "
            f"(forward|straight [on|ahead|forward]) {_BY}",
            f"(move|walk|step|take (a|one|1) step) ahead {_BY}",
            f"({_GO}|take {_SINGLE} [step]) {_ONE} [in] [same] (direction|way) [that] "
            "(i|i'm|i am) (face|look)",
        ],
        "back": [
            f"(move|walk|step|go|take (a|one|1) step) {_ONE} backward {_BY}",
            "(step|take (a|one|1) step) back",
            "turn (around|round)",
        ],
        "step": [
            f"({_GO}|{_TURN}|{{way}} {_BY}|{_GO} {{way}}|{{way}} [-|.|and] ({_GO}|{_TURN})) {_TO} "
            "[cell|tile|square|position|floor] [at] [x [=]] {x:n} [y [=]] {y:n}",
            f"[{_GO}] [to] {{side}} {_ONE} [to] [cell|tile|square|position|floor] [at] {{x:n}} "
            f"{{y:n}} [for {_A} {{for:thing}}]",
            f"(back|{_ONE} over) to {_XY}",
            f"(go [and] (stand|be)|(place|position|station|park|get|bring|put|plant) "
            f"(myself|my chef)) (at|on|in|to|onto) {_XY}",
            f"({_GO} [to|onto|into|on|up to|over to]|get (to|onto|on|over to)|(take|enter|occupy"
            "|reach|claim|step on|stand "
            f"(on|at)) [to]) {_XY} [and (free|leave|vacate) {_A} {_KIND} [(for|to) {{for:place}}]]",
            f"[{_GO}] {_ONE} [to] ({{way}}|{{side}}) {_BY} [back] [to|onto|into] {_XY}",
        ],
        "face": [
            f"[{{way}} [-|.|and|to]] ({_TURN} {_TO}|(go|move|walk|step|head) (to|toward|over to"
            f"|up to)|approach|turn around to [face]|turn to face"
            f"|(turn|swing) [back|round|around|about] to face) {_place('place')} [again|once more] "
            f"{_CARRIED} [{_FOR_THIS}]",
            f"[with] {_A} {{carried:thing}} in [my] hand (i|i'll) {_TURN} {_TO} {_place('place')}",
            f"(bring|swing|turn) {_A} {{carried:thing}} [round|around] to face {_place('place')}",
            f"(back|round|around) to {_place('place')}",
            f"{_LOOK_AT} {_place('place')} [again|once more] {_CARRIED} [{_FOR_THIS}]",
            f"(follow|join|chase|swap [places|cells|positions] with|trade places with) "
            f"{_place('place')} ({{way}}|{{clear}})",
            f"(swap|trade places) {{way}} with {_place('place')}",
            f"[{_GO}] ({{way}}|{{clear}}) (onto|into|to) {_place('place')} [s (cell|spot|square"
            "|place|position)]",
            f"(point|aim) [myself|my (chef|face|nose|body)] at {_place('place')}",
            f"(turn|swing|rotate|pivot) [to] [my|a] {{towards:side}} (to|toward|to face) "
            f"{_place('place')} [again|once more] {_CARRIED} [{_FOR_THIS}]",
        ],
        # Against what cannot be entered.
        "bump": [
            f"(push|bump|bonk|press|walk|run|knock) [myself] (against|into) "
            f"{_place('place')} [again|once more]",
            f"bump {_place('place')} [again|once more]",
        ],
        "stay": [
            *WAITING,
            *_UNMOVED,
            f"{_STAY} [(.|and|to)] ((see|watch|check) (what|how|where|which way) {{until:place}} "
            "(do|go|move|plan|want|act|decide|will do|is up to|is doing|react)|(watch|observe|mark"
            "|mind|keep an eye on) {until:place})",
            f"{_STAY} {_WHILE} [.|and] ([to] let {{until:place}}|so [that] {{until:place}} can) "
            f"{_DOES}",
            f"(keep|hold on to|hold onto|hang on to|hang onto|hold) [a|my] {{carried:thing}} "
            f"[and|.] {_STAY} {_WHILE}",
            f"{_STAY} [and|.] (keep|hold on to|hold onto|hang on to) [a|my] {{carried:thing}} "
            f"{_WHILE}",
            f"(stay|remain|stand|wait) (at|on|in) ({_XY}|my {_KIND})",
            f"{_STAY} [-|.|and] [wait here|wait] {_WHILE} "
            "[[.] with [a|my] {until:thing} [in [my] hand]|[.] [a|my] {until:thing} in [my] hand"
            "|and let [my] {until:place} (go|pass|move|work|act) [first|by|through|past|ahead]]",
        ],
        "act": [
            f"{_ACT} [with|on|at] [{_AHEAD}|{_place('on')}]",
            f"use {_A} {{tool:thing}} (on|at|with) {_place('on')}",
            "space bar",
            "spacebar",
        ],
        "name": [
            "(choose|select|go with|prefer|say|answer|play|vote) {name}",
            "(choose|execute|perform|do) {name} [action]",
            "(take|choose|select|execute|perform|do|use|play) [a] action {name}",
            "pick {way}",
            "say we {name}",
            "{name} action",
            "my [next|final] move [is|=] {name}",
            "{name} it is",
            f"{BEST} {{name}}",
            *(f"{{name}} {behind}" for behind in IS_BEST),
            "[this turn|on my turn] [i'd|i would] (say|go for|go with) {name}",
            "{name} is my [final|next] (action|choice|answer|move)",
        ],
        "number": [
            f"{_ORDER} {{n}} [[-|.|=|is|which is] {{own_name}}]",
            "{own_name} [-|.|=|is] (action|option|choice|number) [#] {n}",
            "(press|hit|push|use) {n}",
        ],
    }
    phrases |= {
        f"do {deed}": [f"[{_ACT} [with|on|at] [{_AHEAD}|{_place('on')}] [to|and|by|for|-|.]"
                       f"|use {_A} {{tool:thing}} to] {how} [{_FOR_THIS}]"
                       for how in hows]
        for deed, hows in _DEEDS.items()
    }  # fmt: skip
    phrases["do take"].append(
        f"{_ACT} [with|on|at] {_place('on')} (i|we) (want|need|would like|lack) {_A} {{thing}} "
        "[(in|for) my hand|from it]"
    )
    # "a" is the letter of a pot.
    one = (
        "[(a|one|1|an|another|next|my|(one|1) more)] [next|first|second|third|last|final|fresh"
        "|clean|empty|new]"
    )
    few = {
        "do take": ["[time for|(i'll|i will) have|(i'd|i would|i should) like] "
                    f"{one} {{thing:noun}} "
                    f"[(from|off|out of) {_place('place')}]",
                    f"{one} {{thing:noun}} for [a|my|our|this|next] {{for:thing}}"],
        "do put": [f"{one} {{thing:noun}} (on|onto) {_place('place')}"],
        "do fill": [f"{one} {{thing:noun}} (in|into|to|for|->) {_place('place')}",
                    f"(in|into) {_place('place')} with [a|my|this] {{thing:noun}}"],
        "do serve": [f"{one} {{thing:noun}} (to|through|for) {_place('place')}",
                     f"{one} {{thing:noun}} coming up"],
    }  # fmt: skip
    return Grammar(phrases, _SLOTS, keep=["a"], short=few)


# Alone, a direction or a number is no action after "I am" and its like: "I'm north of you".
_SUBJECTS = _list("i i'll i'm i've i'd we we'll we're it it's")


@functools.cache
def short() -> Grammar:
    phrases = {
        "go": [f"[direction] [.] {{way}} [direction] {_BY}", "{letter}", "{arrow}", "[to] {rest}",
               "to {side}",
               f"{_ONE} [back] [to] {{way}} [{_LEADS}]", "i (opt for|think) {way}",
               f"({_GO}|turn|face|look) {_TO} {{letter}} [{_LEADS}]", f"{{letter}} {_LEADS}",
               f"{{way}} {_BY} {_CARRIED} {_LEADS}",
               "(once more|once again|again|1 more time) [to] ({way}|{clear})",
               f"{_ONE} [to] {{clear}}", f"{_SINGLE} {_CELL} to [my] {{side}} [{_LEADS}]",
               f"{{side}} {_SINGLE} {_CELL}", "{clear} (a|one|1)", _BESIDE,
               f"{_ONE} over to [my] ({{way}}|{{side}})",
               f"(to|to my) {{side}} (to|toward) {_place('aim')}",
               f"[to] {{clear}} (to|toward) {_place('aim')}",
               f"(to|toward) {_place('aim')} by (go|step|move|walk) ({{way}}|{{side}}) {_BY}"],
        "step": [f"{_ONE} [to] ({{way}}|{{side}}) {_BY} [to|onto|into] {_XY}"],
        # A place alone: what it is called, and where it is.
        "spot": [f"[(to|toward)] {_place('place')}", f"[(to|onto)] {_XY}"],
        "face": [f"{_TURN} {_TO} {_place('place')} {{letter}}"],
        "alone": ["{n}"],
        "ahead": ["forward"],
        "number": ["{n} [-|.|=|is] {own_name}"],
    }  # fmt: skip
    return Grammar(phrases, _SLOTS, keep=["a", "n", "s", "e", "w", "move", *_SUBJECTS])


@functools.cache
def bare() -> Grammar:
    """Sides alone: with courtesy around them, "yeah, right" and "right now" would be moves."""
    phrases = {
        "name": [
            "[action .] [please] [to] {short} [side] [please]",
            "[i think] (my|best|next) [next|final] (action|move|choice|answer) (is|=) [to] {short}",
        ]
    }
    return Grammar(phrases, _SLOTS, courtesy=False, keep=["now", "then", "just"])


@functools.lru_cache(maxsize=256)
def offered(choices: tuple[str, ...]) -> Grammar:
    """The wording of the choices, with the action's name or, where it says what is done, alone."""
    phrases: list[tuple[int, list[str]]] = []
    for i, choice in enumerate(choices):
        patterns = [" ".join(tokens(choice.lower()))]
        body = choice.partition(": ")[2]
        if not body.startswith(("nothing", "no change", "blocked")):
            patterns.append(" ".join(tokens(body.lower())))
        phrases.append((i, patterns))
    return Grammar(phrases)
