"""Reading an answer: the one action that it names."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from manyhands.core.answers import Answer, closest, decide, number, numbered
from manyhands.core.choices import without_effect
from manyhands.core.env import IllegalAction, names_of
from manyhands.core.grammar import Grammar, Reading
from manyhands.core.phrases import TIME, WAITING
from manyhands.core.words import tokens
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.effects import effect, offers, why_not
from manyhands.envs.craftworld.rules import DO, MOVE, NOOP, CraftRules
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.state import CraftState
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
    "mine": "(mine|dig|dig up|dig out|break|break up)",
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

ON = "[(keep|continue|keep on|go on|continue to|try)]"
_ONE = "(1|one|single|1 single)"
_CELL = f"[[{_ONE}] (step|pace|cell|tile|square|space|block|row|column|spot|notch)|{_ONE}]"
_OF = "(piece|block|unit|lump|chunk|bit|vein|slab|log|cell|stretch|patch) of"
_DET = "[(some|my|this|that|1|one|more|another|nearby|adjacent|nearest|1 more|one more|second|new"
_DET += f"|further|additional|of my|1 of my|one of my|own)] [{_OF}]"
_AT = (
    "[(in front|in front of me|directly in front of me|ahead|ahead of me|right in front of me|"
    "before me|that i face|that i am facing|that i'm facing|i am facing|i'm facing|i face|"
    "right here|here|there|nearby|next to me|by me|[directly|right|just] {at:rel})]"
)
_WITH = "[(with|using) [my] [(own|new|good|trusty|best)] "
_WITH += "({tool}|pickaxe|axe|sword|hand|fist|bare hand|tool|weapon)]"
_GET = "(collect|gather|take|get|obtain|grab|reach|mine|chop|chop down|cut|drink|eat|fight|attack|"
_GET += "hit|kill|hunt|harvest|find|help|pick up|dig|drink from|face|look for)"
# What `do` is done for: "use the grass and hope for a sapling".
_FOR = f"(for|(to|and) {_GET}|[and] hope (for|to {_GET})|in hope of [{_GET}])"
PLACE = "(place|put|put up|put down|put together|set|set up|set down|lay|lay down|build|construct"
PLACE += "|install|erect|position|drop)"
MAKE = "(make|craft|build|forge|create|produce|construct|fashion)"
NEAR = "[(at|near|beside|next to|using|with|on|by) [my|this] (table|furnace|crafting table|"
NEAR += "workbench|nearby table|nearby furnace|table and furnace)]"
# What may come of it: "poke the grass, maybe a sapling pops out".
_LUCKY = (
    "[.] [(and|in case|with [a bit of] luck|maybe|perhaps|possibly|hopefully|let's hope|hoping"
    "|who knows|could be)] [(i (get|find)|it (give|yield|drop|hold|hide|have) [me]|there is)] "
    f"{_DET} {{of:thing}} [(pop (out|up)|come (out|up|loose)|turn up|drop|fall out|appear|show up"
    "|(is|be) (in (it|there)|there|hiding))] [(this time|in it|there|from it|here)]"
)
_SEEK = (
    "(for|to (find|get|pick)|[and] (hoping|hope) (for|to (find|get|pick|see))|in (hope|hopes) of"
    "|(to|and) (see|check|find out) (if|whether) [(i (find|get)|there is|it (give|yield|hold|hide"
    "|have|drop)) [me]]|[and] (hoping|hope) [that]) "
    f"{_DET} {{of:thing}} [(drop|pop (out|up)|come (out|up|loose)|turn up|appear|show up|fall out"
    "|(is|be) (in (it|there)|there|hiding))]"
)
_GIVE = "(give|hand|hand over|pass|transfer|donate|gift)"
_MINE = "[(some|my|1|one|our|of my|1 of my|one of my|another|1 more|more|spare|my spare|1 of)]"
_MINE += "[(piece|unit|bit|lump|block) of [my]]"
_WISH = "[(with my (compliments|blessing|love|best wishes)|as a (gift|present)"
_WISH += "|as (promised|requested|asked|agreed|wished)|as (you|they|he|she|it) (asked|wished))]"
_GO = (
    "(move|go|walk|step|head|run|travel|proceed|shuffle|slide|shift|advance|edge|inch|retreat|back)"
)
# What is said to come nearer to something, before the way.
_JOIN = (
    "[[(in order)] to] (follow|join|catch up with|go after|chase|approach|reach|accompany|escort"
    "|(get|come) (closer|nearer) to|[go] over to|stay (close to|near|with)|make for|head for|meet)"
)
# Who goes: "my character goes right".
_FIGURE = re.compile(
    r"^(?:(?:have|let|make) )?my (?:character|avatar|figure|hero|guy|explorer)(?: will| now)? "
    r"(?=\w)"
)
_ASK = "(request|ask for|beg for|call for|ask [my] {player} for|ask everyone for|ask others for"
_ASK += "|ask all for|ask team for|ask my team for|ask teammate for|request help with)"
_ALL = "(others|other two|two others|both|both [of] (them|others)|everyone|everybody|team|all)"
_NEED = "(need|want|require|lack|would like|could (use|do with)|miss|wish for)"
_NEEDED = (
    f"(i {_NEED}|(i'm|i am) (in (need|want) of|short of|after|missing|lacking|out of|looking for)"
    f"|(i'd|i would) like) {_MINE} {{gift}}"
)
# As somebody asked before: "same as my friend did".
_LIKEWISE = "[([the] same as|just (as|like)|like|as) ([my] {player} [(did|do|asked|has)]|before)]"
_SIDE = "(to|on|at|in) [my] {way} [side|hand|hand side|of me|direction]"
_STANDS_STILL = (
    "(wait|stay|remain|stand|hold|pause|hang back|hold back|stand back|stay put|keep still"
    "|stand still|hold still|sit tight|do nothing) "
    "[(here|still|put|in place|where i am|right here|there|back)] "
    "[[for] [just] [(1|one|this|a|another)] [(short|brief|more)] (step|turn|tick|moment|bit|while)]"
)
_OUT_OF_WAY = (
    "(come (over|here|closer|near|to me|up|along) [(here|to me)]|join me|catch up [with me]"
    "|reach me|go|pass|move|act|leave|work|finish|decide|walk|come|clear off"
    "|get out of [the|my] way|do it|get on with it) "
    "[(first|on|by|past|away|off|over|ahead|through|here|1 step)]"
)
_LUCK = (
    "(take|try) [a|my] (chance|gamble|shot|luck)|gamble|(chance|push) my luck"
    "|have a (go|try|shot)|try|roll the dice"
)
RESTED = (
    "[(until|till) (morning|dawn|sunrise|daylight|i (wake|wake up|am rested|am awake)"
    "|it is (light|day|morning)|[my] energy is (full|9|back|restored)"
    "|i (have|get) [(my|all my|full)] energy [back]|i (am|feel) (rested|fit|refreshed|awake))]"
)
SLEEP_ON = (
    "(sleep (on|more|longer)|(stay|remain) asleep|keep sleeping|continue sleeping"
    f"|continue to sleep|go on sleeping|(nap|doze) on) {RESTED}"
)


@functools.lru_cache(maxsize=16)
def _grammar(craft: CraftRules, actions: tuple[str, ...], agents: tuple[str, ...]) -> Grammar:
    """What names an action, whether it is possible or not."""
    deeds = [
        (name, [f"{ON} {verb} [{_DET} {{thing}}] {_AT} {_WITH}",
                   f"{ON} {verb} {_DET} {{thing}} {_AT} (from|of|at|off) {_DET} {{of:thing}} "
                   f"{_AT} {_WITH}",
                   f"{ON} {verb} {_DET} {{thing}} {_AT} {_WITH} {_FOR} {_DET} "
                   "{of:thing}"])
        for name, base in _VERBS.items() if name not in ("use", "help")
        for verb in (f"[(try|attempt) to] {base}",)
    ]  # fmt: skip
    use = _VERBS["use"]
    towards = (
        "[(to|toward|at|for|next to|beside|near|[(get|move|so [that] i get)] (closer|nearer) to"
        f"|approach|away from) [{_GET}] {_DET} {{thing}}"
        f"|[so as] (facing|to face) {_DET} {{onto:thing}}]"
    )
    gift = {spaced(name): i for i, name in enumerate(craft.gifts)}
    gift |= {name: craft.gifts.index(tool) for name, tool in tools(craft).items()}
    gift |= {name: craft.gifts.index(what) for name, what in
             (("water", "drink"), ("log", "wood"), ("meal", "food"),
              ("something to drink", "drink"), ("something to eat", "food"), ("seedling",
              "sapling"))
             if what in craft.gifts}  # fmt: skip
    players = dict(zip(agents, range(len(agents)), strict=True)) | dict.fromkeys(
        (*_OTHERS, "player", "player in front", "player in front of me", "him", "her", "them"), -1,
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
                "[back|straight|on|aside|off|out|"
                f"further|over|directly|around] {_CELL} [(to|toward|in|on) [my]] {{way}} "
                f"[direction|side|hand side] [once|[by] {_ONE} (step|cell|tile|square|space)"
                "|[by] (row|column|1 row|1 column)"
                f"|by {_ONE}|{_ONE} [more] [(time|step|cell)]] {towards}",
                f"{ON} (move|take|carry|get|bring|shift|send|steer|walk|put) (me|myself) {_CELL} "
                "[further] [to|toward] [my] {way}",
                f"(get|turn [around] and (go|walk|step|move|head)) {_ONE} "
                "(step|cell|row|column|tile|square|pace) [further] [to|toward] [my] {way}",
                f"(set|put) ({_ONE}|my|a) foot [to|toward|on|in] [my] {{way}} [side]",
                "(my feet|my way) (take|carry|lead) me [to|toward] {way}",
                "my [next] (step|move) (is|will be) [1|one] [(step|cell)] [to|toward] [my] {way}",
                f"{ON} {_GO} [back|straight|further|over|directly] {_CELL} [to|toward|in] [my] "
                f"{{way}} "
                f"[side] [.] (away from {_DET} {{thing}}|(onto|on|over|into|across|along) {_DET} "
                "{onto:thing})",
                "(my|the) [next] (step|move|path|way) (go|lead|take me|be) [1|one] [step] "
                "[to|toward] [my] {way}",
                f"(go|walk|step|move|head|stroll) [over] (to|onto) {_DET} {{onto:thing}} "
                "(to|on|at) [my] {way} [side|hand|hand side|of me]",
                f"(go|walk|step|move|head) [over] (to|onto) {_DET} {{onto:thing}} "
                f"{{way:rel}}",
                f"(face|turn to|turn to face|look at) {_DET} {{onto:thing}} "
                "((to|on|at) [my] {way} [side|hand|hand side|of me]|{way:rel})",
                f"(take|make|do) [1|one|another|single] [small|little|single] "
                f"(step|pace|move|stride) "
                f"[back|over] [to|toward] [my] {{way}} "
                f"{towards}",
                f"[1|one|another] (step|pace) [back] [to|toward] [my] {{way}} {towards}",
                "turn [around] to face {way}",
                f"(turn|face|look) [to|toward] [my] {{way}} [side] [and] [then] "
                f"(step|move|walk|go|take|head) {_CELL} "
                "(forward|ahead|there|onward|(that|this) way|in that direction)",
                "(turn|face|look) [to|toward] [my] {way} [side] and take [1|one] (step|pace)",
                f"(move|go|walk|step|head|travel) (to|toward|for) {_DET} {{thing}} [.] "
                "[(with|by)] [(go|move|step|walk)] (1|one|a) (step|cell|pace) [to] {way}",
                "(explore|scout|search) [further] [to|toward|in] {way} [direction]",
                "(see|check|find out|look|explore|discover) (what|where|if anything) "
                "[(is|lie|there is|may be|can be found|i find)] [further|over|out] "
                "[(to|in|on|toward)] [my] {way} [side|direction] [(.|with|by)] "
                "[(go|take|walk|move)] "
                f"{_ONE} (step|cell|pace|tile|square) [(that way|there|over|that direction)]",
                f"(leave|let) {_DET} {{past:thing}} [(alone|be)] [here] (and|.) {_GO} "
                f"{_CELL} [(to|toward|in)] [my] {{way}} {towards}",
                "(keep|keep on|continue|carry on) [going|moving|walking|heading] [straight|on|to] "
                "{way}",
            ]),
            ("toward", [f"{_JOIN} {_DET} {{seen:thing}} [(.|by|with)] [{_GO}] [{_CELL}] "
                        "[to|toward] [my] {way} [side]",
                        f"{_GO} [{_CELL}] (toward|(closer|nearer) to|in [the] direction of) {_DET} "
                        f"{{seen:thing}} [{_SIDE}|{{way:rel}}]",
                        f"(approach|near|close in on) {_DET} {{seen:thing}} [{_SIDE}|{{way:rel}}]",
                        f"get [{_CELL}] (closer|nearer) to {_DET} {{seen:thing}} "
                        f"[{_SIDE}|{{way:rel}}]"]),
            ("facing", ["((push|press|bump) [up] (against|into)|(walk|run|step|move) up against) "
                        f"{_DET} {{onto:thing}} [again]",
                        "(step|move|walk|go|run|push) (on|onto|into|in|to) [my] {onto:owner} "
                        "(cell|place|spot|tile|square|position|space)"
]),
            ("facing", [f"(face|turn [around] (to|toward|to face)|look at) {_DET} {{onto:thing}}"]),
            ("bare", ["[[off|on|over] to|toward] {way} [once]", "{letter}",
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
            ("work", [f"{ON} {_VERBS['work']} {_DET} {{thing}} {_AT} (together|jointly"
                      "|[(together|jointly)] with [my] (other|everyone|team|{player}))"]),
            ("work", [f"{ON} (build|make|complete|finish|lay) [(our|this)] {{becomes}} "
                      "[(together|jointly)] [with [my] (other|everyone|team|{player})]"]),
            ("use", [f"{ON} (swing|wield|use|raise) [my] ({{tool}}|pickaxe|axe|sword|fist|hand"
            f"|tool|"
                     f"weapon) (at|on|against) {_DET} {{thing}} {_AT}"]),
            ("hit", [f"(punch|blow|hit|strike|kick|slap|jab|whack|smack) (to|at|for|against|on) "
                     f"{_DET} {{thing}} {_AT}",
                     f"give {_DET} {{thing}} {_AT} (a|1|one|another) [good] (punch|blow|hit|strike|"
                     "kick|slap|jab|whack|smack)",
                     f"{ON} (take a swing|swing|lash out|lunge|strike out|have a go|go) at {_DET} "
                     f"{{thing}} {_AT} {_WITH}",
                     f"(lay into|go for|stab|jab|kick|beat|club|batter|butcher|slaughter) {_DET} "
                     f"{{thing}} {_AT} {_WITH}"]),
            ("drink", [f"[(take|have|get|go for)] [(a|1|one|another)] [quick|little|long|good] "
                       f"(sip|gulp|drink|mouthful|swig|draught) (of|from) {_DET} {{thing}} {_AT}",
                       f"(quench|slake|still) [my] thirst [(at|from|with|in) {_DET} {{thing}} "
                       f"{_AT}]",
                       f"drink [my fill|deeply] (at|from|of) {_DET} {{thing}} {_AT}"]),
            ("search", [f"{ON} ({use}|{_VERBS['hit']}|search|check|comb) {_DET} {{thing}} "
                        f"{_AT} {_WITH} ({_LUCKY}|[.] {_SEEK})",
                        "(1|one|another) [(more|last|quick|final)] (go|try|attempt|shot|look|search"
                        f"|dig|poke|chance) [(at|to|for)] [(find|get|pick|finding|getting)] {_DET} "
                        f"{{of:thing}} [(in|from|on|among|out of) {_DET} {{thing}} {_AT}]",
                        "[(have|take|make|do)] (1|one|another) [(more|last|quick|final)] (go|try"
                        "|attempt|shot|look|search"
                        f"|dig|poke) (at|in|on|through|with) {_DET} {{thing}} {_AT} "
                        f"[(for|to find|to get) {_DET} {{of:thing}}]",
                        f"({_LUCK}) [(with|on|at|in)] {_DET} {{thing}} {_AT} "
                        f"[(for|to (find|get|pick)) {_DET} {{of:thing}}]",
                        f"({_LUCK}) [(for|with|on|to (find|get|pick))] {_DET} {{of:thing}} "
                        f"[(from|in|on) {_DET} {{thing}} {_AT}]",
                        "take [a|my] {of:thing} (gamble|chance)",
                        "((bend|kneel|crouch|stoop) [down]"
                        f"|look {{at:way}} at {_DET} {{thing}} {_AT}) "
                        f"and (rummage|search|hunt|forage|comb|look|dig|feel|poke|root) "
                        f"[around|about] (through|in|among|around|over) {_DET} {{thing}} {_AT} "
                        f"[for {_DET} {{of:thing}}]",
                        f"(rummage|search|hunt|forage|comb|look|dig|feel|poke|root) [around|about] "
                        f"(through|in|among|around|over) {_DET} {{thing}} {_AT} [[.] {_SEEK}]",
                        f"(look|search|hunt|rummage|forage|dig) for {_DET} {{of:thing}} "
                        f"(in|on|among|under) {_DET} {{thing}} {_AT}"]),
            ("take", ["(take|get|collect|cut|gather|harvest|pick) "
                      f"(from|off) {_DET} {{thing}} {_AT} {_WITH}",
                      f"cut {_DET} {{thing}} {_AT} (from|off|of) {_DET} {{of:thing}} {_AT}"]),
            ("mine", [f"{ON} (chip|hack|hew|cut|carve|knock|prise|pick) [(out|up|away|off|at"
            f"|loose)] "
                      f"{_DET} {{thing}} {_AT} {_WITH}",
                      f"{ON} (chip away|hack away|pick away|work away) at {_DET} {{thing}} {_AT} "
                      f"{_WITH}"]),
            ("chop", [f"{ON} (hew|axe|knock) [down] {_DET} {{thing}} {_AT} {_WITH}",
                      f"take [my|an] (axe|hand|fist) to {_DET} {{thing}} {_AT}"]),
            ("mine", [f"{ON} (dig|break) {_DET} {{thing}} (out|up) {_AT} {_WITH}"]),
            ("chop", [f"{ON} (chop|cut|knock|bring) {_DET} {{thing}} down {_AT} {_WITH}"]),
            ("use", [f"(use|apply|perform|do) do (on|at|with|to) {_DET} {{thing}} {_AT}"]),
            ("use", [f"{use} [{_DET} {{thing}}] {_AT} {_WITH}",
                        f"{use} {_DET} {{thing}} {_AT} {_FOR} {_DET} {{of:thing}}",
                        f"use [my] (tool|{{tool}}|pickaxe|axe|sword) on {_DET} {{thing}}"]),
            ("help", [f"{_VERBS['help']} {{thing}} [up|to get up|get up|back up]",
                         f"{_VERBS['help']} my {{thing}} [up|to get up|get up|back up]",
                         "help up"]),
            ("noop", [
                *WAITING,
                "(no op|no operation|nothing|do nothing|idle|stay idle|take no action|stand by)",
                "(wait|stay|remain|stand|hold) [(here|still|put|in place|where i am|position|"
                f"my position|there|{_ONE} (step|turn))]",
                "wait (for|out) (this|1|one) (step|turn)",
                f"{ON} (wait|idle)", f"{ON} wait [for] {{n}} [more] (step|turn|tick|move)",
                "(wait|keep waiting) (until|till) (something|anything) "
                "(happen|change|concern me|happen to me)",
                "(wait|keep waiting) for (change|event|something|anything|something to "
                "(happen|change)|anything to (happen|change))",
                "(pass|skip) [[(my|this|1|one)] (turn|step)]",
                "(halt|pause|rest a (moment|bit|step)|stick around [here]|(hold|stand) my ground)",
                f"({_STANDS_STILL}|(pass|skip) (this|my) (turn|step)) ([and] (let|to let)|so) "
                f"[my] ({{player}}|{_ALL}) [can] {_OUT_OF_WAY}",
                f"let [my] ({{player}}|{_ALL}) (go|act|move|pass|work) first",
                f"i (won't|will not|don't|do not) (move|act|(do|touch) anything) {TIME}",
                f"[i make] no (move|action) [(from|for|by) me] {TIME}",
                "stay where i am", "wait and (do nothing|see)",
                "(wait|stay|stand|remain|linger|rest) [right] [(here|still|put|where i am|back)] "
                "[for] (1|one|this|a|another) [brief] (step|turn|tick|moment|bit|second|while)",
                "do nothing at all [[for] (this|1|one|a) (step|turn|moment)]",
                "do nothing [for] (this|1|one|a) (step|turn|moment)",
                f"(wait|keep waiting|stay|hold|hold on) [(here|there|{_ONE} step)] for [my] "
                "({player}|other|others|everyone|team) [to (come|arrive|join me|catch up|get here"
                "|come (here|closer|over|to me|near)|act|move|help|get into position)]",
            ]),
            ("asleep", [SLEEP_ON]),
            ("sleep", ["(sleep|go to sleep|fall asleep|go to bed|take [a] nap|nap|rest|"
                          "have [a] rest|take [a] rest|get [some] (sleep|rest)"
                          f"|lie down to (sleep|rest)) [here] {RESTED}"]),
            ("place", [
                f"{PLACE} {_DET} {{put}} [down] {_AT} [(on|onto|in|into|over) [this|that] "
                f"{{thing}} {_AT}]",
                f"(plant|sow) {_DET} {{seed}} {_AT} "
                "[(on|onto|in|into) [this|that] {thing} " + f"{_AT}]",
                f"(make|craft|create) {_DET} {{station}} {_AT}",
                "block [my] (way|path|cell|tile|it) with {put}",
                f"(fill|fill in|fill up|cover|cover up|plug|pave|bridge|dam|seal) {_DET} "
                f"{{thing}} {_AT}"
                f" with {_DET} {{put}}",
                f"{_DET} {{put}} (put down|placed|set up|set down|built|planted|put up) {_AT}",
                f"(put up|erect|raise|set out|plonk down|drop down|assemble) {_DET} {{station}} "
                f"{_AT}",
                f"(put|set|lay|place|drop) {_DET} {{put}} (up|down) {_AT} "
                f"[(on|onto|in|into|over) [this|that] {{thing}} {_AT}]",
                f"(put|set|stick|tuck|bury) {_DET} {{seed}} {_AT} (in|into|on) "
                f"[this|that] {{thing}} {_AT}",
                f"{PLACE} {_DET} {{put}} (block|there|before me|next to me)",
                f"{PLACE} {_DET} {{put}} as [a] (wall|barrier|shield|bridge|roadblock|shelter) "
                f"[against {{against:thing}}]",
            ]),
            ("make", [f"{MAKE} (myself|me|us) {{tool}} {NEAR}",
                      f"upgrade to {_DET} {{tool}} {NEAR}",
                     f"{MAKE} {_DET} {{tool}} {NEAR}",
                     f"{MAKE} {_DET} {{kind}} {NEAR}",
                     f"use [the|this|my] (table|furnace|crafting table|workbench) to {MAKE} {_DET} "
                     "{tool}",
                     f"(work on|set to work on|get to work on|equip myself with|fit myself out "
                     f"with) "
                     f"{_DET} {{tool}} {NEAR}"]),
            ("give", [f"{_GIVE} {_MINE} {{gift}} (across|along|on) to ({{player}}|{whom}) {_WISH}",
                      f"{_GIVE} {_MINE} {{gift}} [(over|back)] to ({{player}}|{whom}) {_WISH}",
                      f"(let|have) ({{player}}|{whom}) (have|take) {_MINE} {{gift}}",
                      f"(make a (gift|present) of|part with) {_MINE} {{gift}} "
                      f"[(to|for) ({{player}}|{whom})]",
                      f"(carry|put) {_MINE} {{gift}} [over] to ({{player}}|{whom})",
                      f"{_GIVE} {_MINE} {{gift}} [over] [to ({{player}}|{whom})]",
                         f"{_GIVE} [over] ({{player}}|{whom}) {_MINE} {{gift}} {_WISH}",
                         f"share {_MINE} {{gift}} [with ({{player}}|{whom})]"]),
            ("feed", [f"feed ({{player}}|{whom}|it|him|her|them)"]),
            ("many", [f"{_GIVE} {{n}} [more] {{gift}} [[(over|back)] to ({{player}}|{whom})]",
                      f"{_GIVE} ({{player}}|{whom}) {{n}} [more] {{gift}}",
                      f"{_GIVE} (all|both|two|half) [of] [my] {{gift}} "
                      f"[[over] to ({{player}}|{whom})]"]),
            ("request", [
                f"(beg|ask|implore|call on|petition) [my] {{player}} for {_MINE} {{gift}}",
                "(put in|make|send|send out|put out|submit|repeat|renew) [(a|my)] request "
                f"for {_MINE} {{gift}}",
                f"(tell|let|inform|signal|signal to|show) [my] ({{player}}|{_ALL}) "
                f"[know] [that] {_NEEDED}",
                f"(signal|announce|declare|broadcast|report|show|shout|call out|make [it] known) "
                f"[to [my] ({{player}}|{_ALL})] [that] ({_NEEDED}|[i] {_NEED} {_MINE} {{gift}})",
                f"(signal|announce|broadcast|show|express) [my] (need|wish|want|demand) "
                f"(of|for) {_MINE} {{gift}} [to [my] ({{player}}|{_ALL})]",
                f"(ask|beg) [my] {_ALL} for {_MINE} {{gift}}",
                f"(ask|beg|plead) 4 {_MINE} {{gift}}",
                f"(beg|plead|appeal|put out a call|call out) [(to|with) [my] ({{player}}|{_ALL})] "
                f"for {_MINE} {{gift}}",
                "(repeat|renew) my {gift} request",
                f"{_ASK} {_MINE} {{gift}} [from (everyone|others|{{player}})] {_LIKEWISE}",
                f"my request (is|be) [for] {_MINE} {{gift}}",
                "[a] {gift} request",
                f"(ask|get|tell|call on|beg) [my] ({{player}}|{_ALL}|someone) to "
                f"(give|hand|pass|bring|send|fetch|get|lend) me {_MINE} {{gift}}",
                f"(shout|yell|cry|scream|call) [out] for {_MINE} {{gift}}",
                f"(ask around for|demand|inquire (about|after)|order) {_MINE} {{gift}}",
                            "let (others|everyone|team) (see|know) that i need {gift}",
                            "let (others|everyone|team) (see|know) i need {gift}"]),
        ],
        {
            "way": WAYS | {"up north": 2, "down south": 3},
            "owner": {f"{name}'s": what for name, what in things(craft, agents).items()
                      if what[0][0] == "player"},
            "clear": {word: way for word, way in WAYS.items() if word != "left"},  # "one step left"
            "rel": {f"{how}{mine}": way for how, way in (("above", 2), ("below", 3), ("beneath", 3),
                                                      ("left of", 0), ("right of", 1),
                                                      ("to left of", 0), ("to right of", 1),
                                                      ("to the left of", 0), ("to the right of", 1))
                    for mine in (" me", *[""] * (how in ("above", "below", "beneath")))}
                   | {f"{to} {my}{side}": way for way, sides in enumerate(_SIDES[:2])
                      for side in sides[:1] for to in ("to", "on") for my in ("", "my ")},
            "letter": _LETTERS,
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
            ("take", [f"{_DET} {{thing}} (from|off) {_DET} {{of:thing}} {_AT}"]),
            ("place", [f"[(1|one|a|another)] {{station}} {_AT}",
                       f"{_DET} {{put}} (on|onto|into|in) [this|that] {{thing}} {_AT}"]),
            ("give", [f"[(1|one|a|my|one of my|1 of my)] {{gift}} (to|for) ({{player}}|{whom}) "
            f"{_WISH}"]),
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
        more = ", ..." if len(near) < len(names) else ""
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
        plain = _FIGURE.sub("", plain)
        if ": " in plain:
            plain = without_effect(plain, offers(self.env, self.state, self.obs, self.legal))
        grammar = _grammar(self.env.craft, self.env.actions, self.env.agents)
        readings, said = grammar.read(plain), frozenset(tokens(plain))
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
        actions, refusals = set(), []
        for reading in readings:
            try:
                actions.add(self._action(reading))
            except IllegalAction as error:
                refusals.append(error)
        if len(actions) > 1:
            raise self.refuse(f"it names {names_of([self._name(a) for a in sorted(actions)])}")
        if refusals and not actions:
            raise refusals[0]
        return actions.pop() if actions else None

    def _action(self, reading: Reading) -> int:
        meaning, values = reading
        self._check_at(values.get("at"))
        if meaning in ("move", "bare"):
            if "onto" in values:
                self._check([values["onto"]], int(values["way"]))
            return MOVE + int(next(values[k] for k in ("way", "clear", "letter") if k in values))
        if meaning == "toward":
            return MOVE + self._way_to(values["seen"], values.get("way"))
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
