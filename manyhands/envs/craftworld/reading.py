"""Reading an answer: the one action that it names."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from manyhands.core.env import IllegalAction, names_of
from manyhands.core.reading.answers import closest, decide, number, numbered
from manyhands.core.reading.grammar import Grammar, Reading
from manyhands.core.reading.parts import Answer
from manyhands.core.reading.phrases import TIME, WAITING
from manyhands.core.reading.words import tokens
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.effects import effect, offers, why_not
from manyhands.envs.craftworld.phrases import (
    ALL,
    AT,
    CELL,
    DET,
    FIGURE,
    FOR,
    GET,
    GIVE,
    GO,
    HOLE,
    HOLED,
    HOLES,
    JOIN,
    LUCK,
    LUCKY,
    MAKE,
    MINE,
    NEAR,
    ON,
    ONE,
    OUT_OF_WAY,
    PLACE,
    REQUESTS,
    RESTED,
    SEEK,
    SIDE,
    SLEEP_ON,
    STANDS,
    STANDS_STILL,
    THAT_WAY,
    WISH,
    WITH,
)
from manyhands.envs.craftworld.rules import DO, MOVE, NOOP, CraftRules
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.state import CraftState
from manyhands.envs.craftworld.tails import BEGUN, HEAD_KINDS, MAKES, PLACES, heads, leads, split
from manyhands.envs.craftworld.words import (
    HERE,
    NAMES,
    Observation,
    faced,
    from_you,
    observe,
    spaced,
)

MOST_NAMED = 6  # of the possible actions, in an error

# ---- names of things -----------------------------------------------------------------------------

_SIDES = (("left", "west"), ("right", "east"), ("up", "north"), ("down", "south"))  # as `FACINGS`
WAYS = {
    word + ward: way for way, words in enumerate(_SIDES) for word in words for ward in ("", "ward")
}
_LETTERS = {"l": 0, "r": 1, "u": 2, "n": 2, "e": 1, "s": 3}  # w and d mean other ways on keyboards

# What `do` is called for a cell, by material; and for others that something can be taken from.
_DEEDS = {
    rl.WATER: ("drink", "take"),
    rl.GRASS: ("take", "search"),
    rl.RIPE_PLANT: ("eat", "take"),
    rl.TREE: ("take", "chop"),
    **{before: ("work",) for before, _ in rl.JOINT.values()},
}
_ROCK = ("take", "mine")
_NAMED = ("mine", "chop", "hit")  # said of trees and rocks only by name: "hit the tree"
_VERBS = {
    "use": "(interact|use|activate|act|interact with|act on|poke|prod|touch|tap|try)",
    "take": "(collect|gather|take|get|get me|get myself|fetch|fetch me|obtain|grab|harvest|pick"
    "|pick up|extract|acquire)",
    "mine": "(mine|dig|dig up|dig out|break|break up|smash|crack|shatter|drill [into]|tunnel into"
    "|tunnel through|pickaxe|bore into|work loose)",
    "chop": "(chop|chop down|chop [away] at|cut|cut down|fell)",
    "hit": "(attack|hit|fight|kill|strike|punch|slay|defeat|hunt)",
    "eat": "(eat|consume|hunt|kill and eat)",
    "drink": "(drink|drink from|take a drink|have a drink|take a sip|take a drink of)",
    "help": "(help|revive|help up|rescue|save|raise)",
    "work": "(work|work on|open|light|activate|bridge|build|push)",
    "search": "(look for|search for|search)",
}
_KNOWN_AS = {
    rl.TREE: "log trunk timber lumber firewood",
    rl.WATER: "drink lake river pond sea",
    rl.STONE: "rock boulder cobblestone",
    rl.GRASS: "seedling seed",
    rl.RIPE_PLANT: "crop fruit",
    rl.TABLE: "workbench bench",
    rl.FURNACE: "oven",
}
STATION = dict.fromkeys(("table", "crafting table", "workbench", "work bench"), "table")
STATION |= dict.fromkeys(("furnace", "oven"), "furnace")
SEED = dict.fromkeys(("sapling", "seedling", "plant"), "plant")
PUT = {"stone": "stone", "rock": "stone"} | STATION | SEED
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven")
_OTHERS = (
    *("teammate", "team mate", "partner", "ally", "friend", "other player", "other", "companion"),
    *("mate", "buddy", "neighbour", "neighbor", "colleague"),
)
_IT = (
    *("it", "this", "that", "him", "her", "them", "what is in front of me", "what i face"),
    *("what's in front of me", "whatever is in front of me", "what i'm facing"),
    *("what i am facing",),
    "thing ahead",
    *(
        f"{noun} {where}"
        for noun in ("thing", "cell", "tile", "square", "block", "spot", "space")
        for where in ("in front", "in front of me", "before me", "ahead of me", "i'm facing",
                      "i am facing",
                      "i face", "that i face", "that i'm facing", "i'm looking at", "i look at")
    ),
)  # fmt: skip
_SIDES_OF = ("to your left", "to your right", "above you", "below you")
Thing = tuple[str, int]  # "cell" and material, "body" and creature, "player" and number, or "it"


def things(craft: CraftRules, agents: tuple[str, ...]) -> dict[str, tuple[Thing, ...]]:
    """What one calls the things that something can be done to."""
    found: dict[str, set[Thing]] = {}

    def add(name: str, *what: Thing) -> None:
        found.setdefault(name, set()).update(what)

    for code, name in enumerate(NAMES):
        add(name, ("cell", code))
        for other in _KNOWN_AS.get(code, "").split():
            add(other, ("cell", code))
    for code, (item, _, _) in craft.contents.collect.items():
        add(spaced(item), ("cell", code))
        add(f"{spaced(item)} ore", ("cell", code))
    add("plant", ("cell", rl.RIPE_PLANT))
    for name in ("ground", "floor"):
        add(name, *(("cell", code) for code in rl.WALKABLE))
    add("crafting table", ("cell", rl.TABLE))
    for kind, name in enumerate(rl.CREATURES, start=1):
        add(name, ("body", kind))
    for name in ("monster", "enemy", "mob"):
        add(name, ("body", rl.ZOMBIE), ("body", rl.SKELETON))
    everybody: list[Thing] = [("player", i) for i in range(len(agents))]
    for i, (name, player) in enumerate(zip(agents, everybody, strict=True)):
        add(name, player)
        add(f"player {_COUNTED[i]}", player)
    for name in _OTHERS:
        add(name, *everybody)
    for name in _IT:
        add(name, ("it", 0))
    return {name: tuple(sorted(what)) for name, what in found.items()}


def tools(craft: CraftRules) -> dict[str, str]:
    """What one calls the tools."""
    found = {}
    for tool in craft.contents.makes:
        of, _, what = spaced(tool).partition(" ")
        whats = {what, what.replace("pickaxe", "pick axe"), what.replace("pickaxe", "pick")}
        for kind, noun in itertools.product((of, f"{of}en"), whats):
            found[f"{kind} {noun}"] = tool
        for noun, made in itertools.product(whats, ("of", "out of", "from")):
            found[f"{noun} {made} {of}"] = tool
    return found


# ---- phrases -------------------------------------------------------------------------------------


def ground(craft: CraftRules, agents: tuple[str, ...]) -> tuple[Thing, ...]:
    """What one can walk on."""
    return things(craft, agents)["ground"]


_REL = {
    f"{how}{mine}": way
    for how, way in (
        *(("above", 2), ("below", 3), ("beneath", 3), ("left of", 0), ("right of", 1)),
        *(("to left of", 0), ("to right of", 1), ("to the left of", 0), ("to the right of", 1)),
    )
    for mine in (" me", *[""] * (how in ("above", "below", "beneath")))
} | {
    f"{to} {my}{side}": way
    for way, sides in enumerate(_SIDES[:2])
    for side in sides[:1]
    for to in ("to", "on")
    for my in ("", "my ")
}


def _gifts(craft: CraftRules) -> dict[str, int]:
    """What one calls the things that are handed over."""
    gift = {spaced(name): i for i, name in enumerate(craft.gifts)}
    gift |= {name: craft.gifts.index(tool) for name, tool in tools(craft).items()}
    known = (
        *(("water", "drink"), ("log", "wood"), ("meal", "food"), ("seedling", "sapling")),
        *(("something to drink", "drink"), ("something to eat", "food")),
    )
    return gift | {name: craft.gifts.index(what) for name, what in known if what in craft.gifts}


@functools.lru_cache(maxsize=16)
def tail_grammar(craft: CraftRules, agents: tuple[str, ...]) -> Grammar:
    """What may stand behind an action."""
    sides = WAYS | {
        f"{a}{b}": 2 * (a == "south") for a in ("north", "south") for b in ("east", "west")
    }
    return leads(
        {
            "thing": things(craft, agents),
            "hole": dict.fromkeys(HOLES, ground(craft, agents)),
            "side": sides,
            "rel": _REL,
            "tool": tools(craft),
            "put": PUT,
            "gift": _gifts(craft),
            "player": {name: i for i, name in enumerate((*agents, *_OTHERS))},
        }
    )


@functools.lru_cache(maxsize=16)
def _grammar(craft: CraftRules, actions: tuple[str, ...], agents: tuple[str, ...]) -> Grammar:
    """What names an action, whether it is possible or not."""
    deeds = [
        (name, [f"{ON} {verb} [{DET} {{thing}}] {AT} {WITH}",
                   f"{ON} {verb} {DET} {{thing}} {AT} (from|of|at|off) {DET} {{of:thing}} "
                   f"{AT} {WITH}",
                   f"{ON} {verb} {DET} {{thing}} {AT} {WITH} {FOR} {DET} "
                   "{of:thing}"])
        for name, base in _VERBS.items() if name not in ("use", "help")
        for verb in (f"[(try|attempt) to] {base}",)
    ]  # fmt: skip
    use = _VERBS["use"]
    towards = (
        "[(to|toward|at|for|next to|beside|near|[(get|move|so [that] i get)] (closer|nearer) to"
        f"|approach|away from) [{GET}] {DET} {{thing}}"
        f"|[so as] (facing|to face) {DET} {{onto:thing}}]"
    )
    gift = _gifts(craft)
    players = dict(zip(agents, range(len(agents)), strict=True)) | dict.fromkeys(
        (*_OTHERS, "player", "player in front", "player in front of me", "him", "her", "them",
         "you"), -1,
    )  # fmt: skip
    whom = "[(my|our)] [fellow] {player}"
    return Grammar(
        [
            ("move", [
                f"{ON} (move|go|walk|step|head|run|turn|face|look|travel|proceed|shuffle"
                "|wander|stroll"
                "|drop|drop down|climb|strike out|set off|set out|start|relocate|roam|jump|plod"
                "|be off|turn around and go"
                "|slide|shift|advance|edge|inch|nudge|sidle|creep|circle|retreat|back|back up"
                "|back off|strafe|dodge|get going|leave [this cell]) "
                "[back|straight|on|aside|off|out|away|"
                f"further|over|directly|around] {CELL} [(to|toward|in|on) [my]] {{way}} "
                f"[direction|side|hand side] [once|[by] {ONE} (step|cell|tile|square|space)"
                "|[by] (row|column|1 row|1 column)"
                f"|by {ONE}|{ONE} [more] [(time|step|cell)]|cell|step|pace|tile] {towards}",
                f"{ON} (move|take|carry|get|bring|shift|send|steer|walk|put) (me|myself) {CELL} "
                "[further] [to|toward] [my] {way}",
                f"(get|turn [around] and (go|walk|step|move|head)) {ONE} "
                "(step|cell|row|column|tile|square|pace) [further] [to|toward] [my] {way}",
                f"(set|put) ({ONE}|my|a) foot [to|toward|on|in] [my] {{way}} [side]",
                "(my feet|my way) (take|carry|lead) me [to|toward] {way}",
                "my [next] (step|move) (is|will be) [1|one] [(step|cell)] [to|toward] [my] {way}",
                f"{ON} {GO} [back|straight|further|over|directly] {CELL} [to|toward|in] [my] "
                f"{{way}} "
                f"[side] [.] (away from {DET} {{thing}}|(onto|on|over|into|across|along) {DET} "
                "{onto:thing})",
                "(my|the) [next] (step|move|path|way) (go|lead|take me|be) [1|one] [step] "
                "[to|toward] [my] {way}",
                f"(go|walk|step|move|head|stroll) [over] (to|onto) {DET} {{onto:thing}} "
                "(to|on|at) [my] {way} [side|hand|hand side|of me]",
                f"(go|walk|step|move|head) [over] (to|onto) {DET} {{onto:thing}} "
                f"{{way:rel}}",
                f"(face|turn to|turn to face|look at) {DET} {{onto:thing}} "
                "((to|on|at) [my] {way} [side|hand|hand side|of me]|{way:rel})",
                f"(take|make|do) [1|one|another|single] [small|little|single] "
                f"(step|pace|move|stride) "
                f"[back|over] [to|toward] [my] {{way}} "
                f"{towards}",
                "[(1|one|another|next|one more|1 more|yet another)] [(small|short|single|last|final"
                "|further)] (step|pace|cell|move|stride) [(back|over|further|on|more)] "
                f"(to|toward) [my] {{way}} [(side|direction)] {towards}",
                f"[1|one|another] (step|pace) [back] [to|toward] [my] {{way}} {towards}",
                "(start|begin) [off] (with|by) (1|one|a) [(single|small)] (step|pace|move) "
                f"[to|toward] [my] {{way}} {towards}",
                "[just] (another|one more|1 more) ({clear:clear}|(to|toward) [my] {way} "
                "[(side|hand side)])",
                f"(another|one more|1 more|yet another) (step|pace|cell) {{clear:clear}} {towards}",
                "(continue|carry on|keep going|keep on|go on|press on|push on|proceed|move on"
                "|walk on"
                "|head on|march on) [(to|toward|in)] [my] {way} [direction] "
                "[[for] (1|one|another|one more|1 more) [more] (step|cell|tile|square|pace)]",
                f"{GO} [back] (out of|from) {HOLED} [(to|toward|by (go|walk|step|head|move))] [my] "
                "{way} [side]",
                f"(leave|exit|get out of) {HOLED} (to|toward|by (go|walk|step|head|move|leave)) "
                 "[to] "
                "[my] {way} [side]",
                f"{GO} [back] (in|into|onto|through) {HOLE} ((to|on|at) [my] {{way}} "
                "[side|hand|of me]|{way:rel})",
                "turn [around] to face {way}",
                f"(turn|face|look) [to|toward] [my] {{way}} [side] [and] [then] "
                f"(step|move|walk|go|take|head) {CELL} "
                "(forward|ahead|there|onward|(that|this) way|in that direction)",
                "(turn|face|look) [to|toward] [my] {way} [side] and take [1|one] (step|pace)",
                f"(move|go|walk|step|head|travel) (to|toward|for) {DET} {{thing}} [.] "
                "[(with|by)] [(go|move|step|walk)] (1|one|a) (step|cell|pace) [to] {way}",
                "(explore|scout|search) [further] [to|toward|in] {way} [direction]",
                "(see|check|find out|look|explore|discover) (what|where|if anything) "
                "[(is|lie|there is|may be|can be found|i find)] [further|over|out] "
                "[(to|in|on|toward)] [my] {way} [side|direction] [(.|with|by)] "
                "[(go|take|walk|move)] "
                f"{ONE} (step|cell|pace|tile|square) [(that way|there|over|that direction)]",
                f"(leave|let) {DET} {{past:thing}} [(alone|be)] [here] (and|.) {GO} "
                f"{CELL} [(to|toward|in)] [my] {{way}} {towards}",
                "(keep|keep on|continue|carry on) [going|moving|walking|heading] [straight|on|to] "
                "{way}",
            ]),
            ("toward", [f"{JOIN} {DET} {{seen:thing}} [(.|by|with)] [{GO}] [{CELL}] "
                        "[to|toward] [my] {way} [side]",
                        f"{GO} [{CELL}] (toward|(closer|nearer) to|in [the] direction of) {DET} "
                        f"{{seen:thing}} [{SIDE}|{{way:rel}}]",
                        f"(approach|near|close in on) {DET} {{seen:thing}} [{SIDE}|{{way:rel}}]",
                        f"({GO}|get) [{CELL}] [(right|over|up)] (next to|beside|up to) {DET} "
                        f"{{seen:thing}} [{SIDE}|{{way:rel}}]",
                        f"[(now|next)] {DET} {{seen:thing}} {STANDS} [.] [(and|so)] [so] [i] {GO} "
                        f"[{CELL}] {THAT_WAY}",
                        f"get [{CELL}] (closer|nearer) to {DET} {{seen:thing}} "
                        f"[{SIDE}|{{way:rel}}]"]),
            ("on", [f"({GO}|continue|carry on|keep (going|moving|walking)) [on] (forward|ahead"
                    "|straight ahead|onward|straight on|in direction i (am facing|'m facing|face)) "
                    f"[{CELL}] [(into|onto|through|in|on|along) {HOLE}]",
                    f"{GO} [on] (into|onto|through) {HOLE} [(ahead|in front [of me]|before me)]",
                    f"[further|deeper] (deeper|further|on|onward) (into|in|through|down) {HOLE}"]),
            ("facing", ["((push|press|bump|lean|walk|turn) [up] (against|into)|(walk|run|step"
             "|move) up "
                        f"against) {DET} {{onto:thing}} [(to|on|at) [my] {{way}} [side|hand|hand "
                        "side|of me]|{way:rel}] [again]",
                        "(step|move|walk|go|run|push) (on|onto|into|in|to) [my] {onto:owner} "
                        "(cell|place|spot|tile|square|position|space)"
]),
            ("facing", ["(face|turn [(around|back)] (to|toward|to face)|look at) "
                        f"{DET} {{onto:thing}}"]),
            ("bare", ["[(onward|onwards|further|farther|still|straight|back|again|off|once more)] "
                      "[(to|toward)] {way} [(again|once more|further|still|one more time|it is)]",
                      "[[off|on|over] to|toward] {way} [once]", "{letter}",
                      "to my {way}", "{way} by (1|one) [step|cell]",
                      "[(press|tap|hit)] [arrow] {way} [key|arrow|arrow key|button]",
                      "(press|tap|hit|use) [arrow] [key] {way}", "arrow {way}",
                      "{way} (1|one|a) [(step|pace|cell|square|tile|row|column)]",
                      "{way} (1|one) more [(step|pace|cell|square|tile|time)]",
                      "back {way} [(1|one|a) (step|pace|cell|square|tile)]",
                      "(1|one|a) (step|pace|cell|square|tile|row|column) [back|further] "
                      "({clear:clear}|(to|toward) [my] {way})"]),
            ("number", ["[(take|do|play|use|choose|pick|select)] (action|option|choice|number) "
                        "[number] {digit}", "{digit}"]),
            ("named", ["[(do|perform|take|use|execute|choose|pick|select|press|hit) [action]] "
                       "{name} "
                       "[action]"]),
            *deeds,
            ("work", [f"{ON} {_VERBS['work']} {DET} {{thing}} {AT} (together|jointly"
                      "|[(together|jointly)] with [my] (other|everyone|team|{player}))"]),
            ("work", [f"{ON} (build|make|complete|finish|lay) [(our|this)] {{becomes}} "
                      "[(together|jointly)] [with [my] (other|everyone|team|{player})]"]),
            ("use", [f"{ON} (swing|wield|use|raise) [my] ({{tool}}|pickaxe|axe|sword|fist|hand"
            f"|tool|"
                     f"weapon) (at|on|against) {DET} {{thing}} {AT}"]),
            ("hit", [f"(punch|blow|hit|strike|kick|slap|jab|whack|smack) (to|at|for|against|on) "
                     f"{DET} {{thing}} {AT}",
                     f"give {DET} {{thing}} {AT} (a|1|one|another) [good] (punch|blow|hit|strike|"
                     "kick|slap|jab|whack|smack)",
                     f"{ON} (take a swing|swing|lash out|lunge|strike out|have a go|go) at {DET} "
                     f"{{thing}} {AT} {WITH}",
                     f"(lay into|go for|smash|stab|jab|kick|beat|club|batter|butcher|slaughter) "
                     f"{DET} {{thing}} {AT} {WITH}"]),
            ("drink", [f"[(take|have|get|go for)] [(a|1|one|another)] [quick|little|long|good] "
                       f"(sip|gulp|drink|mouthful|swig|draught) (of|from) {DET} {{thing}} {AT}",
                       "(take|have|get) [(a|1|one|another)] [(quick|little|long|good|big|nice)] "
                       "(sip|gulp|drink|mouthful|swig|draught)",
                       "(refill|restore|top up|replenish) [my] (drink|thirst|water) "
                       "[(at|from|with|in) {thing}]",
                       f"(quench|slake|still) [my] thirst [(at|from|with|in) {DET} {{thing}} "
                       f"{AT}]",
                       f"drink [my fill|deeply] (at|from|of) {DET} {{thing}} {AT}"]),
            ("search", [f"{ON} ({use}|{_VERBS['hit']}|search|check|comb) {DET} {{thing}} "
                        f"{AT} {WITH} ({LUCKY}|[.] {SEEK})",
                        "(1|one|another) [(more|last|quick|final)] (go|try|attempt|shot|look|search"
                        f"|dig|poke|chance) [(at|to|for)] [(find|get|pick|finding|getting)] {DET} "
                        f"{{of:thing}} [(in|from|on|among|out of) {DET} {{thing}} {AT}]",
                        "[(have|take|make|do)] (1|one|another) [(more|last|quick|final)] (go|try"
                        "|attempt|shot|look|search"
                        f"|dig|poke) (at|in|on|through|with) {DET} {{thing}} {AT} "
                        f"[(for|to find|to get) {DET} {{of:thing}}]",
                        f"({LUCK}) [(with|on|at|in)] {DET} {{thing}} {AT} "
                        f"[(for|to (find|get|pick)) {DET} {{of:thing}}]",
                        f"({LUCK}) [(for|with|on|to (find|get|pick))] {DET} {{of:thing}} "
                        f"[(from|in|on) {DET} {{thing}} {AT}]",
                        "take [a|my] {of:thing} (gamble|chance)",
                        f"(see|check|find out|try) (if|whether) {DET} {{thing}} {AT} "
                        f"(drop|give|yield|hold|hide|have) [me] {DET} {{of:thing}}",
                        "((bend|kneel|crouch|stoop) [down]"
                        f"|look {{at:way}} at {DET} {{thing}} {AT}) "
                        f"and (rummage|search|hunt|forage|comb|look|dig|feel|poke|root) "
                        f"[around|about] (through|in|among|around|over) {DET} {{thing}} {AT} "
                        f"[for {DET} {{of:thing}}]",
                        f"(rummage|search|hunt|forage|comb|look|dig|feel|poke|root) [around|about] "
                        f"(through|in|among|around|over) {DET} {{thing}} {AT} [[.] {SEEK}]",
                        f"(look|search|hunt|rummage|forage|dig) for {DET} {{of:thing}} "
                        f"(in|on|among|under) {DET} {{thing}} {AT}"]),
            ("take", ["(take|get|collect|cut|gather|harvest|pick) "
                      f"(from|off) {DET} {{thing}} {AT} {WITH}",
                      f"cut {DET} {{thing}} {AT} (from|off|of) {DET} {{of:thing}} {AT}"]),
            ("mine", [f"{ON} (hammer|pry|prise|break|knock|chip|mine|crack|smash|bash|pound) {DET} "
                      f"{{thing}} (loose|free|out|off|away|apart|open) {AT} {WITH}",
                      f"{ON} (chip|hack|hew|cut|carve|knock|prise|pick|hammer|pound|bash) "
                      "[(out|up|away|off|at|loose)] "
                      f"{DET} {{thing}} {AT} {WITH}",
                      f"{ON} (chip away|hack away|pick away|work away) at {DET} {{thing}} {AT} "
                      f"{WITH}"]),
            ("chop", [f"{ON} (hew|axe|knock) [down] {DET} {{thing}} {AT} {WITH}",
                      f"take [my|an] (axe|hand|fist) to {DET} {{thing}} {AT}"]),
            ("mine", [f"{ON} (dig|break) {DET} {{thing}} (out|up) {AT} {WITH}"]),
            ("chop", [f"{ON} (chop|cut|knock|bring) {DET} {{thing}} down {AT} {WITH}"]),
            ("use", [f"(use|apply|perform|do) do (on|at|with|to) {DET} {{thing}} {AT}"]),
            ("use", [f"{use} [{DET} {{thing}}] {AT} {WITH}",
                        f"{use} {DET} {{thing}} {AT} {FOR} {DET} {{of:thing}}",
                        f"use [my] (tool|{{tool}}|pickaxe|axe|sword) on {DET} {{thing}}"]),
            ("help", [f"{_VERBS['help']} {{thing}} [up|to get up|get up|back up]",
                         f"{_VERBS['help']} my {{thing}} [up|to get up|get up|back up]",
                         "help up"]),
            ("noop", [
                *WAITING,
                "(no op|no operation|nothing|do nothing|idle|stay idle|take no action|stand by)",
                "(wait|stay|remain|stand|hold) [(here|still|put|in place|where i am|position|"
                f"my position|there|{ONE} (step|turn))]",
                "wait (for|out) (this|1|one) (step|turn)",
                f"{ON} (wait|idle)", f"{ON} wait [for] {{n}} [more] (step|turn|tick|move)",
                "(wait|keep waiting) (until|till) (something|anything) "
                "(happen|change|concern me|happen to me)",
                "(wait|keep waiting) for (change|event|something|anything|something to "
                "(happen|change)|anything to (happen|change))",
                "(pass|skip) [[(my|this|1|one)] (turn|step)]",
                "(halt|pause|rest a (moment|bit|step)|stick around [here]|(hold|stand) my ground)",
                f"({STANDS_STILL}|(pass|skip) (this|my) (turn|step)) ([and] (let|to let)|so) "
                f"[my] ({{player}}|{ALL}) [can] {OUT_OF_WAY}",
                f"let [my] ({{player}}|{ALL}) (go|act|move|pass|work) first",
                f"i (won't|will not|don't|do not) (move|act|(do|touch) anything) {TIME}",
                f"[i make] no (move|action) [(from|for|by) me] {TIME}",
                "stay where i am", "wait and (do nothing|see)",
                "(wait|stay|stand|remain|linger|rest) [right] [(here|still|put|where i am|back)] "
                "[for] (1|one|this|a|another) [brief] (step|turn|tick|moment|bit|second|while)",
                "do nothing at all [[for] (this|1|one|a) (step|turn|moment)]",
                "do nothing [for] (this|1|one|a) (step|turn|moment)",
                f"(wait|keep waiting|stay|hold|hold on) [(here|there|{ONE} step)] for [my] "
                "({player}|other|others|everyone|team) [to (come|arrive|join me|catch up|get here"
                "|come (here|closer|over|to me|near)|act|move|help|get into position)]",
            ]),
            ("asleep", [SLEEP_ON]),
            ("noop", ["let time (pass|go by)"]),
            ("sleep", ["(sleep|go to sleep|fall asleep|go to bed|take [a] nap|nap|rest|"
                          "have [a] rest|take [a] rest|(get|catch|grab) [some] (sleep|rest|shut "
                          "eye|shuteye)"
                          "|hit [the] (sack|hay)|bedtime|bed time|time for bed|turn in [for [the] "
                          "night]|doze off|nod off"
                          "|lie down [and (sleep|rest|(get|catch) [some] (sleep|rest|shut eye))]"
                          f"|lie down to (sleep|rest)) [here] {RESTED}"]),
            ("place", [
                f"{PLACE} {DET} {{put}} [down] {AT} [(on|onto|in|into|over) [this|that] "
                f"{{thing}} {AT}]",
                f"(plant|sow) {DET} {{seed}} {AT} "
                "[(on|onto|in|into) [this|that] {thing} " + f"{AT}]",
                f"(make|craft|create) {DET} {{station}} {AT}",
                f"(block|block off|obstruct|barricade) [my] (way|path|cell|tile|it|passage) {AT} "
                 "with "
                f"{DET} {{put}}",
                "(fill|fill in|fill up|cover|cover up|plug|plug up|pave|bridge|dam|seal|seal off"
                "|close"
                f"|close off|stop up) ({DET} {{thing}}|{HOLED}) {AT} with {DET} {{put}}",
                f"{PLACE} {DET} {{put}} [(back|down)] (in|into|onto|on) {HOLED} {AT}",
                f"{DET} {{put}} (put down|placed|set up|set down|built|planted|put up) {AT}",
                f"(put up|erect|raise|set out|plonk down|drop down|assemble) {DET} {{station}} "
                f"{AT}",
                f"(put|set|lay|place|drop) {DET} {{put}} (up|down) {AT} "
                f"[(on|onto|in|into|over) [this|that] {{thing}} {AT}]",
                f"(put|set|stick|tuck|bury) {DET} {{seed}} {AT} (in|into|on) "
                f"[this|that] {{thing}} {AT}",
                f"{PLACE} {DET} {{put}} (block|there|before me|next to me)",
                f"use {DET} {{put}} to (fill|cover|plug|pave|bridge|dam|seal|close|block) "
                "[(in|up|off|over)] "
                f"{DET} {{thing}} {AT}",
                f"(throw|toss|chuck|fling|hurl|roll|push|shove|stick|pop) {DET} {{put}} "
                f"(in|into|onto|on) [(this|that)] {{thing}} {AT}",
                f"{PLACE} {DET} {{put}} as [a] (wall|barrier|shield|bridge|roadblock|shelter) "
                f"[against {{against:thing}}]",
            ]),
            ("make", [f"{MAKE} (myself|me|us) {DET} {{tool}} {NEAR}",
                      f"(upgrade|move up|step up|advance|switch|graduate) to {DET} {{tool}} {NEAR}",
                      f"upgrade [my] (pickaxe|sword|{{of:tool}}|tool|equipment) to {DET} "
                       f"{{tool}} {NEAR}",
                     f"{MAKE} {DET} {{tool}} {NEAR}",
                     f"{MAKE} {DET} {{kind}} {NEAR}",
                     f"use [the|this|my] (table|furnace|crafting table|workbench) to {MAKE} {DET} "
                     "{tool}",
                     f"(work on|set to work on|get to work on|equip myself with|fit myself out "
                     f"with) "
                     f"{DET} {{tool}} {NEAR}"]),
            ("give", [f"{GIVE} {MINE} {{gift}} (across|along|on) to ({{player}}|{whom}) {WISH}",
                      f"{GIVE} {MINE} {{gift}} [(over|back)] to ({{player}}|{whom}) {WISH}",
                      f"(let|have) ({{player}}|{whom}) (have|take) {MINE} {{gift}}",
                      f"(make a (gift|present) of|part with) {MINE} {{gift}} "
                      f"[(to|for) ({{player}}|{whom})]",
                      f"(carry|put) {MINE} {{gift}} [over] to ({{player}}|{whom})",
                      f"{GIVE} {MINE} {{gift}} [over] [to ({{player}}|{whom})]",
                         f"{GIVE} [over] ({{player}}|{whom}) {MINE} {{gift}} {WISH}",
                         f"share {MINE} {{gift}} [with ({{player}}|{whom})]"]),
            ("feed", [f"feed ({{player}}|{whom}|it|him|her|them)"]),
            ("many", [f"{GIVE} {{n}} [more] {{gift}} [[(over|back)] to ({{player}}|{whom})]",
                      f"{GIVE} ({{player}}|{whom}) {{n}} [more] {{gift}}",
                      f"{GIVE} (all|both|two|half) [of] [my] {{gift}} "
                      f"[[over] to ({{player}}|{whom})]"]),
            ("request", REQUESTS),
        ],
        {
            "way": WAYS | {"up north": 2, "down south": 3},
            "owner": {f"{name}'s": what for name, what in things(craft, agents).items()
                      if what[0][0] == "player"},
            "clear": {word: way for word, way in WAYS.items() if word != "left"},  # "one step left"
            "rel": _REL,
            "letter": _LETTERS,
            "hole": dict.fromkeys(HOLES, ground(craft, agents)),
            "digit": {str(i): i for i in range(len(actions))},
            "name": {name: i for i, name in enumerate(actions)},
            "thing": things(craft, agents),
            "tool": tools(craft),
            "kind": {tool.rpartition("_")[2]: tool.rpartition("_")[2]
                     for tool in craft.contents.makes},
            "put": PUT,
            "seed": SEED | {"it": "plant"},
            "station": STATION,
            "gift": gift,
            "becomes": {"bridge": (("cell", rl.GAP),)},
            "player": players,
        },
        short=[
            ("make", [f"[(1|one|a|my)] {{tool}} {NEAR}"]),
            ("take", [f"{DET} {{thing}} (from|off) {DET} {{of:thing}} {AT}"]),
            ("place", [f"[(1|one|a|another)] {{station}} {AT}",
                       f"{DET} {{put}} (on|onto|into|in) [this|that] {{thing}} {AT}"]),
            ("give", [f"[(1|one|a|my|one of my|1 of my)] {{gift}} (to|for) ({{player}}|{whom}) "
                      f"[my (friend|partner)] {WISH}",
                      f"(here|here you (are|go)) [.] (take|have) {MINE} {{gift}}"]),
        ],
    )  # fmt: skip


# ---- reading -------------------------------------------------------------------------------------

# "I left" is no move, "I choose left" is one.
_OWN = frozenset(("i", "we", "i'm", "we're", "i've", "we've"))
# Where "right" may be no direction, and what tells how one stands.
_RIGHT_AWAY = re.compile(
    r"\bright (?:now|then|away)\b|(?:^\W*|[.,!;]\s*|\bi'm )right again\b"
    r"|\b(?:yeah|yes|all)\W+right\b"
)
_STANDS = re.compile(r"\b(?:i'm|i am|we're|we are) (?:\w+ )?(?:facing|looking)\b")
_CHOOSE = frozenset(("choose", "pick", "select", "choosing", "picking"))


def parse(env: Setting, text: Any, state: CraftState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not possible now."""
    obs, legal = observe(env, state, agent)
    reader = _Reader(env, state, obs, legal)
    return int(decide(text, reader.mean, reader.refuse, me=env.agents[agent]))


# "make wood pickaxe (1 wood, at a table)", as the text names what comes next.
_PRICE = re.compile(r" ?\((?:costs? )?[0-9] [a-z0-9 ,]{1,60}\)?$")


def without_price(plain: str) -> str:
    """An answer without what something costs, in brackets behind it."""
    return _PRICE.sub("", plain)


class _Reader:
    """Reads one player's answer to what it sees."""

    def __init__(self, env: Setting, state: CraftState, obs: Observation, legal: np.ndarray):
        self.env, self.state, self.obs, self.legal, self.words = env, state, obs, legal, ""

    def refuse(self, reason: str) -> IllegalAction:
        return IllegalAction(functools.partial(self._refusal, reason, self.words))

    def _refusal(self, reason: str, words: str) -> str:
        possible = np.flatnonzero(self.legal[: self.env.craft.request])
        names = [self.env.actions[action] for action in possible]
        near = closest(words, names, MOST_NAMED)
        left = len(names) - len(near)
        more = f", and {left} more" if left else ""
        return (
            f"{reason}. Answer with one action, by name or number; possible now: "
            f"{', '.join(near)}{more}."
        )

    def mean(self, answer: Answer) -> int | None:
        """The action of a decisive part, None if it names none."""
        self.words = plain = answer.plain
        pair = numbered(plain)
        given, words = pair or (number(plain), plain)
        action = self._number(given) if pair is None and given is not None else self._worded(words)
        if action is not None and pair is not None and given != action:
            raise self.refuse(f"the number {given} and the words of {self._name(action)} differ")
        if action == rl.SLEEP and self.obs.asleep and not self.legal[action]:
            return NOOP  # it sleeps on
        if action is not None and not self.legal[action]:
            why = why_not(self.env, self.obs, action)
            raise self.refuse(f"{self._name(action)} is not possible now: {why}")
        return action

    def _name(self, action: int) -> str:
        return self.env.actions[action]

    def _number(self, given: int) -> int:
        if given >= len(self.env.actions):
            last = len(self.env.actions) - 1
            raise self.refuse(f"there is no action {given}, they go to {last}")
        return given

    def _worded(self, plain: str) -> int | None:
        """The action that a sentence names."""
        plain = FIGURE.sub("", plain)
        grammar = _grammar(self.env.craft, self.env.actions, self.env.agents)
        readings = self._readings(plain, grammar)
        said = frozenset(tokens(plain))
        priced = without_price(plain)
        if not readings and priced != plain:
            found = grammar.read(priced)
            readings = [r for r in found if r.meaning in ("place", "make", "named")]
        if not readings:
            effects = offers(self.env, self.state, self.obs, self.legal)
            alike = [offer.action for offer in effects if offer.effect.lower() == plain]
            return int(alike[0]) if len(alike) == 1 else None
        if (said & _OWN and not said & _CHOOSE) or said >= {"right", "now"}:
            readings = [reading for reading in readings if reading.meaning != "bare"]
        if _RIGHT_AWAY.search(plain):
            readings = [reading for reading in readings if reading.values.get("way") != 1]
        if _STANDS.search(plain):
            readings = [r for r in readings if r.meaning not in ("move", "facing")]
        actions, refusals = self._actions(readings)
        if refusals and not actions:  # "take its wood for a table": no table is taken
            actions, _ = self._actions(self._readings(plain, grammar, whole=False))
        if len(actions) > 1 and self.obs.asleep and not self.legal[rl.SLEEP]:
            actions -= {rl.SLEEP}  # to sleep is to wait, then
        if len(actions) > 1:
            raise self.refuse(f"it names {names_of([self._name(a) for a in sorted(actions)])}")
        if refusals and not actions:
            raise refusals[0]
        return actions.pop() if actions else None

    def _actions(self, readings: list[Reading]) -> tuple[set[int], list[IllegalAction]]:
        """(the actions that are meant, why others cannot be)."""
        actions, refusals = set(), []
        for reading in readings:
            try:
                actions.add(self._action(reading))
            except IllegalAction as error:
                refusals.append(error)
        return actions, refusals

    def _readings(self, plain: str, grammar: Grammar, whole: bool = True) -> list[Reading]:
        """What a sentence means, as a `whole` or else with what stands around the action taken
        off."""
        readings = grammar.read(plain) if whole and not BEGUN.search(plain) else []
        if readings:
            return readings
        for inner in heads(plain):
            kinds = HEAD_KINDS.get(inner[:2], PLACES | MAKES)
            readings = [r for r in self._readings(inner, grammar) if r.meaning in kinds]
            if readings:
                return readings
        tails = tail_grammar(self.env.craft, self.env.agents)
        for before, kinds, parts in split(plain, tails):
            readings = [r for r in self._readings(before, grammar) if r.meaning in kinds]
            onto = [part.values["onto"] for part in parts if "onto" in part.values]
            if readings and len(onto) == len(parts):
                readings = [Reading(m, {**v, "onto": v.get("onto", onto[0])}) for m, v in readings]
            if readings:
                return readings
        return []

    def _action(self, reading: Reading) -> int:
        meaning, values = reading
        self._check_at(values.get("at"))
        if meaning in ("move", "bare"):
            if "onto" in values:
                self._check([values["onto"]], int(values["way"]))
            return MOVE + int(next(values[k] for k in ("way", "clear", "letter") if k in values))
        if meaning == "toward":
            return MOVE + self._way_to(values["seen"], values.get("way"))
        if meaning == "on":
            self._check([values.get("onto", ground(self.env.craft, self.env.agents))])
            return MOVE + self.obs.facing
        if meaning == "facing" and "way" in values:
            self._check([values["onto"]], int(values["way"]))
            return MOVE + int(values["way"])
        if meaning == "facing":
            return MOVE + self._side_of(values["onto"])
        if meaning in ("number", "named"):
            return int(values["digit" if meaning == "number" else "name"])
        if meaning == "asleep" and not self.obs.asleep:
            raise self.refuse("you are not asleep")
        if meaning in ("noop", "asleep"):
            return NOOP
        if meaning == "sleep":
            return rl.SLEEP
        if meaning == "place":
            return self._placed(values)
        if meaning == "make":
            return self._made(values)
        if meaning == "many" and values.get("n") != 1:
            raise self.refuse("things are handed over one at a time, 1 in a step")
        if meaning in ("give", "feed", "many"):
            return self._handed("give", {"gift": self.env.craft.gifts.index("food"), **values})
        if meaning == "request":
            return self._handed(meaning, values)
        return self._deed(meaning, values)

    def _placed(self, values: Mapping[str, Any]) -> int:
        what = next(values[k] for k in ("put", "seed", "station") if k in values)
        self._check([values["thing"]] if "thing" in values else [])
        return self.env.actions.index(f"place_{what}")

    def _made(self, values: Mapping[str, Any]) -> int:
        if "kind" in values:
            makes = [f"make_{t}" for t in self.env.contents.makes if t.endswith(values["kind"])]
            if len(makes) > 1:
                raise self.refuse(f"which {values['kind']}? There are {names_of(makes)}")
            return self.env.actions.index(makes[0])
        return self.env.actions.index(f"make_{values['tool']}")

    def _handed(self, verb: str, values: Mapping[str, Any]) -> int:
        if self.env.num_players == 1:
            raise self.refuse("there is no other player here")
        to, body = values.get("player", -1), self.obs.at(self.obs.front)
        front = -1 if body is None or body.kind else body.player
        if verb == "give" and to >= 0 and to != front:
            whom = self.env.agents[to]
            raise self.refuse(f"you do not face {whom}: stand beside it and turn to it")
        first = self.env.craft.give if verb == "give" else self.env.craft.request
        return first + int(values["gift"])

    def _deed(self, verb: str, values: Mapping[str, Any]) -> int:
        """`do`, if that is what it would do now."""
        said = [values[label] for label in ("thing", "of", "becomes") if label in values]
        self._check(said)
        if self.legal[DO] and verb != "use" and verb not in self._deeds(bool(said)):
            words = effect(self.env, self.state, self.obs, DO)
            raise self.refuse(f"do would now be another thing: {words}")
        return DO

    def _deeds(self, named: bool) -> tuple[str, ...]:
        """What `do` is called now."""
        body, code = self.obs.met(self.env), int(self.obs.cells[self.obs.front])
        if body is not None and not body.kind:
            return ("help",) if self.obs.mate(body.player).alive == rl.DOWN else ("hit",)
        if body is not None:
            return ("hit", "eat") if body.kind == rl.COW else ("hit",)
        deeds = _DEEDS.get(code, _ROCK)
        return (*deeds, *_NAMED) if named and (code == rl.TREE or deeds is _ROCK) else deeds

    def _check_at(self, way: int | None) -> None:
        """That what is said to be at a side of the player is at the one that it faces."""
        if way is not None and way != self.obs.facing:
            raise self.refuse(f"you face {rl.FACINGS[self.obs.facing]}")

    def _side_of(self, what: tuple[Thing, ...]) -> int:
        """The side at which a thing is, if that is one."""
        ways = [way for way in range(len(rl.FACINGS)) if self._is_at(what, way)]
        if len(ways) != 1:
            if not ways:
                raise self.refuse("no such thing is beside you")
            raise self.refuse(f"there are such {names_of([_SIDES_OF[way] for way in ways])}")
        return ways[0]

    def _way_to(self, what: tuple[Thing, ...], way: int | None) -> int:
        """The way to the nearest of some things in view, or the one that is said, if it leads to
        one."""
        found = [
            (row - HERE[0], column - HERE[1])
            for row, column, thing in self._in_view()
            if thing in what
        ]
        if not found:
            raise self.refuse("no such thing is in view")
        leads = [
            {k for k, (down, right) in enumerate(rl.DELTAS) if rows * down + columns * right > 0}
            for rows, columns in found
        ]
        if way is not None:
            if not any(way in ways for ways in leads):
                raise self.refuse(f"no such thing is {_SIDES_OF[way]}")
            return way
        far = [abs(rows) + abs(columns) for rows, columns in found]
        ways = set().union(*(w for w, n in zip(leads, far, strict=True) if n == min(far)))
        if len(ways) != 1:
            names = names_of([_SIDES[k][0] for k in sorted(ways)])
            raise self.refuse(f"say which way to go there: {names}")
        return ways.pop()

    def _in_view(self) -> Iterator[tuple[int, int, Thing]]:
        """(row, column, thing) of all that is in view beside the player."""
        for (row, column), code in np.ndenumerate(self.obs.cells):
            if (row, column) != HERE:
                yield row, column, ("cell", int(code))
        for body in self.obs.bodies:
            if (body.row, body.column) != HERE:
                thing = ("body", body.kind) if body.kind else ("player", body.player)
                yield body.row, body.column, thing

    def _check(self, said: list[tuple[Thing, ...]], way: int | None = None) -> None:
        """That what is named is in front of the player, or in another direction."""
        if not all(self._is_at(what, way) for what in said):
            obs = self._turned(way)
            where = "you face" if way is None else f"{_SIDES_OF[way]} is"
            raise self.refuse(f"{where} {faced(self.env, obs)}{self._nearest(said)}")

    def _nearest(self, said: list[tuple[Thing, ...]]) -> str:
        """Where the nearest of the things is that are named, if one is in view."""
        named = {thing for what in said for thing in what}
        found = [
            (row, column, self._called(thing))
            for row, column, thing in self._in_view()
            if thing in named
        ]
        if not found:
            return ""
        row, column, name = min(
            found, key=lambda one: abs(one[0] - HERE[0]) + abs(one[1] - HERE[1])
        )
        return f"; {name} is {from_you(row, column)}"

    def _called(self, thing: Thing) -> str:
        kind, number = thing
        if kind == "player":
            return self.env.agents[number]
        return f"the nearest {NAMES[number] if kind == 'cell' else rl.CREATURES[number - 1]}"

    def _is_at(self, what: tuple[Thing, ...], way: int | None) -> bool:
        obs = self._turned(way)
        body = obs.met(self.env)
        front: Thing = ("cell", int(obs.cells[obs.front]))
        if body is not None:
            front = ("body", body.kind) if body.kind else ("player", body.player)
        return bool({front, ("it", 0)} & set(what))

    def _turned(self, way: int | None) -> Observation:
        return self.obs if way is None else dataclasses.replace(self.obs, facing=way)
