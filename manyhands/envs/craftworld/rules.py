"""The rules of CraftWorld as data: names, tables, and the presets.

`crafter` follows Crafter (Hafner, "Benchmarking the Spectrum of Agent Capabilities", ICLR 2022;
package 1.8.3), `craftax_classic` follows Craftax-Classic (Matthews et al., "Craftax: A
Lightning-Fast Benchmark for Open-Ended Reinforcement Learning", ICML 2024; package 1.6.1). What
several players do together follows Craftax-Coop (arXiv 2511.04904), where it says something.

Codes are positions in these tuples: `MATERIALS[state.map[row, column]]`. Every preset has Crafter's
materials, items, actions and achievements, in this order; it may have others of its own after them
(`Contents`; docs/craftworld.md, "Adding a preset, an item").
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

from manyhands.core.config import nearest
from manyhands.core.env import ConfigError, names_of

# ---- names ---------------------------------------------------------------------------------------

MATERIALS = (
    "void",  # outside the map
    "water",
    "grass",
    "stone",
    "path",
    "sand",
    "tree",
    "lava",
    "coal",
    "iron",
    "diamond",
    "table",
    "furnace",
    "plant",  # a sapling that grows
    "ripe plant",
    # Joint tasks only: what a single player cannot change (see `JOINT`).
    "gap",
    "bridge",
    "gate",
    "beacon",
    "lit beacon",
    "wall",
)
(
    VOID,
    WATER,
    GRASS,
    STONE,
    PATH,
    SAND,
    TREE,
    LAVA,
    COAL,
    IRON,
    DIAMOND,
    TABLE,
    FURNACE,
    PLANT,
    RIPE_PLANT,
    GAP,
    BRIDGE,
    GATE,
    BEACON,
    LIT_BEACON,
    WALL,
) = range(len(MATERIALS))
CORE = tuple(range(GAP))  # materials of all presets
TOGETHER = tuple(range(GAP, WALL + 1))  # those of joint tasks
WALKABLE = (GRASS, PATH, SAND, BRIDGE)  # lava can be entered, too: once

VITALS = ("health", "food", "drink", "energy")
HEALTH, FOOD, DRINK, ENERGY = range(4)
# Hidden clocks behind the vitals, in half steps (see `CraftRules.hunger`).
COUNTERS = ("hunger", "thirst", "fatigue", "recover")
HUNGER, THIRST, FATIGUE, RECOVER = range(4)

ITEMS = (
    "sapling",
    "wood",
    "stone",
    "coal",
    "iron",
    "diamond",
    "wood_pickaxe",
    "stone_pickaxe",
    "iron_pickaxe",
    "wood_sword",
    "stone_sword",
    "iron_sword",
)
MOST = 9  # of each item; a vital, too, is at most 9 (but see `CraftRules.forager_capacity`)

ACHIEVEMENTS = (
    "collect_coal",
    "collect_diamond",
    "collect_drink",
    "collect_iron",
    "collect_sapling",
    "collect_stone",
    "collect_wood",
    "defeat_skeleton",
    "defeat_zombie",
    "eat_cow",
    "eat_plant",
    "make_iron_pickaxe",
    "make_iron_sword",
    "make_stone_pickaxe",
    "make_stone_sword",
    "make_wood_pickaxe",
    "make_wood_sword",
    "place_furnace",
    "place_plant",
    "place_stone",
    "place_table",
    "wake_up",
)

# Facings are numbered as the actions that turn there, from 0: (rows, columns) of one step.
FACINGS = ("left", "right", "up", "down")
DELTAS = ((0, -1), (0, 1), (-1, 0), (1, 0))

CREATURES = ("zombie", "skeleton", "cow", "arrow")
ZOMBIE, SKELETON, COW, ARROW = range(1, 5)  # `state.kind`; 0 is an empty slot

# Actions begin with these and `place_...` for each of `PLACES`; then come `make_...` for each of
# `Contents.makes`, and towards others `give_...` and `request_...` for each of `CraftRules.gifts`.
NOOP, MOVE, DO, SLEEP, PLACE, MAKE = 0, 1, 5, 6, 7, 11  # MOVE, PLACE and MAKE begin their groups
BASIC_ACTIONS = ("noop", *(f"move_{way}" for way in FACINGS), "do", "sleep")


# ---- what may be done to what --------------------------------------------------------------------

# material -> (what one gets, the tool one needs, what is left). `drink` is a vital.
COLLECT: Mapping[int, tuple[str, str | None, int]] = {
    TREE: ("wood", None, GRASS),
    STONE: ("stone", "wood_pickaxe", PATH),
    COAL: ("coal", "wood_pickaxe", PATH),
    IRON: ("iron", "stone_pickaxe", PATH),
    DIAMOND: ("diamond", "iron_pickaxe", PATH),
    WATER: ("drink", None, WATER),
    GRASS: ("sapling", None, GRASS),  # with probability `CraftRules.sapling_chance`
}
PLACES = ("stone", "table", "furnace", "plant")  # in the order of the actions
PLACED = (STONE, TABLE, FURNACE, PLANT)

# What a team does together (`CraftWorld.joint`): the material that waits, and what it becomes once
# enough players `do` it in one step.
JOINT = {"bridge": (GAP, BRIDGE), "gate": (GATE, PATH), "beacon": (BEACON, LIT_BEACON)}

ROLES = ("none", "forager", "miner", "warrior")
FORAGER, MINER, WARRIOR = 1, 2, 3


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How a tool is made.

    Attributes:
        cost: item -> how many: a number, or the name of a number in `CraftRules`.
        near: materials that must be within the 3 x 3 cells around who makes it.
        role: whose task it is, where there are roles.
    """

    cost: Mapping[str, int | str]
    near: tuple[int, ...] = (TABLE,)
    role: int = MINER


_IRON: dict[str, int | str] = {"wood": 1, "stone": "iron_stone", "coal": 1, "iron": 1}
RECIPES = {
    "wood_pickaxe": Recipe({"wood": 1}),
    "stone_pickaxe": Recipe({"wood": 1, "stone": 1}),
    "iron_pickaxe": Recipe(_IRON, (TABLE, FURNACE)),
    "wood_sword": Recipe({"wood": 1}, role=WARRIOR),
    "stone_sword": Recipe({"wood": 1, "stone": 1}, role=WARRIOR),
    "iron_sword": Recipe(_IRON, (TABLE, FURNACE), WARRIOR),
}
MAKES = tuple(RECIPES)  # in the order of the actions

ALIVE, DOWN, DEAD = 1, 2, 0  # `state.alive`


@dataclasses.dataclass(frozen=True)
class Rulebook:
    """How a game runs, where the two differ in more than numbers; `phases.PHASES` has the order of
    each one's phases, and `generation.WORLDS` its worlds.

    Attributes:
        wakes_to_act: with full energy a player wakes at the start of its turn and acts in it; else
            it wakes after the creatures.
        sleeps_at_once: whether `sleep` takes effect in the player's turn, before its needs.
        needs_first: whether players' needs come before the creatures; else after them.
        hurt_wakes: whether a player wakes with its needs if it has lost health; else at a hit.
        lava_at_once: whether lava takes all health in the player's turn, not at the end of a step.
        arrows_block: whether arrows are in the way of players and creatures.
        fresh_arrows_fly: whether an arrow flies in the step in which it is shot, where its turn is
            still to come.
        kills_at_once: whether what has no health left vanishes at once, not at its own turn.
        creatures_at_first: whether a generated world begins with creatures.
        always_diamond: whether a generated world has one diamond at least.
    """

    name: str
    wakes_to_act: bool
    sleeps_at_once: bool
    needs_first: bool
    hurt_wakes: bool
    lava_at_once: bool
    arrows_block: bool
    fresh_arrows_fly: bool
    kills_at_once: bool
    creatures_at_first: bool
    always_diamond: bool


CRAFTER = Rulebook(
    name="crafter",
    wakes_to_act=True,
    sleeps_at_once=True,
    needs_first=True,
    hurt_wakes=True,
    lava_at_once=True,
    arrows_block=True,
    fresh_arrows_fly=False,
    kills_at_once=False,
    creatures_at_first=True,
    always_diamond=False,
)
CRAFTAX = Rulebook(
    name="craftax_classic",
    wakes_to_act=False,
    sleeps_at_once=False,
    needs_first=False,
    hurt_wakes=False,
    lava_at_once=False,
    arrows_block=False,
    fresh_arrows_fly=True,
    kills_at_once=True,
    creatures_at_first=False,
    always_diamond=True,
)


@dataclasses.dataclass(frozen=True)
class Contents:
    """What there is under a preset. Crafter's come first, in their order.

    Attributes:
        book: how the game runs.
        items: what players carry, at most 9 of each.
        achievements: 32 at most; `collect_<item>` and `make_<tool>` are unlocked by doing so.
        materials: codes that the preset has beside `CORE` and `TOGETHER`.
        collect: material -> (item, the tool one needs or None, what is left).
        recipes: tool -> how it is made, in the order of the actions.
        swords: from the weakest; `CraftRules.damage` has a number for each, after bare hands.
        veins: material -> the share of stone that it takes the place of in generated worlds.
    """

    book: Rulebook
    items: tuple[str, ...] = ITEMS
    achievements: tuple[str, ...] = ACHIEVEMENTS
    materials: tuple[int, ...] = ()
    collect: Mapping[int, tuple[str, str | None, int]] = dataclasses.field(
        default_factory=lambda: COLLECT
    )
    recipes: Mapping[str, Recipe] = dataclasses.field(default_factory=lambda: RECIPES)
    swords: tuple[str, ...] = ("wood_sword", "stone_sword", "iron_sword")
    veins: Mapping[int, float] = dataclasses.field(default_factory=dict)

    @property
    def makes(self) -> tuple[str, ...]:
        """Tools, in the order of the actions."""
        return tuple(self.recipes)

    @property
    def codes(self) -> tuple[int, ...]:
        """All materials, those of joint tasks among them."""
        return (*CORE, *TOGETHER, *self.materials)


CONTENTS: dict[str, Contents] = {"crafter": Contents(CRAFTER), "craftax_classic": Contents(CRAFTAX)}


@dataclasses.dataclass(frozen=True)
class CraftRules:
    """Every number of the game. Times are in steps, distances count rows plus columns (L1).

    Attributes:
        name: of the preset it began as.
        achievement_each: +1 for each achievement unlocked in a step; else +1 for any number.
        table_wood, furnace_stone: what the two cost to place.
        iron_stone: stone that an iron tool costs, beside 1 wood, 1 coal, 1 iron.
        place_on_lava: whether tables and furnaces can be placed on lava; stone always can.
        sapling_chance: of a sapling when a player does grass.
        swords_add_up: whether n swords of a kind hit n times as hard.
        hunger, thirst, fatigue: after more steps than this a vital falls by one.
        rest: after more steps asleep than this energy rises by one.
        heal, harm: after more steps than this with all needs met (any unmet) health rises (falls).
        sleep_slows: hunger and thirst count half, and harm too, asleep; healing counts twice.
        cow_food, plant_food: what eating gives.
        plant_hunger: whether eating a plant sets hunger back, as eating a cow does.
        ripe: a plant can be eaten from this age on.
        plants: slots of growing plants, for all players together; others never ripen.
        trampled: whether a plant dies beside a zombie, skeleton or cow, or by an arrow.
        damage: of a hit with bare hands, wood, stone, iron sword.
        zombie_health, skeleton_health, cow_health, zombie_damage, zombie_damage_asleep,
            zombie_cooldown, arrow_damage, arrow_cooldown: as they say.
        arrows_hit_creatures: whether arrows hurt whom they meet other than players.
        zombie_wakes: whether being hit by a zombie while asleep counts as `wake_up`.
        near: only creatures and plants nearer than this to a player act; 0: all do.
        slots: how many zombies, skeletons, cows, arrows there can be for each player; or, as one
            number, how many creatures in all.
        despawn: creatures at this distance from all players vanish at once; 0: never so.
        light_day: steps of a day and night.
        start_facing: number of the facing in `FACINGS`.
        death: see `CraftWorld`.
        revive_health: of a player who is helped up.
        request_steps: how long the others see a request.
        forager_capacity: of food and drink of a forager; warrior_damage: factor of its hits.
    """

    name: str
    achievement_each: bool
    table_wood: int
    furnace_stone: int
    iron_stone: int
    place_on_lava: bool
    sapling_chance: float
    swords_add_up: bool
    hunger: int
    thirst: int
    fatigue: int
    rest: int
    heal: int
    harm: int
    cow_food: int
    plant_food: int
    plant_hunger: bool
    ripe: int
    plants: int
    trampled: bool
    damage: tuple[int, int, int, int]
    zombie_health: int
    skeleton_health: int
    cow_health: int
    zombie_damage: int
    zombie_damage_asleep: int
    zombie_cooldown: int
    arrow_damage: int
    arrow_cooldown: int
    arrows_hit_creatures: bool
    zombie_wakes: bool
    near: int
    slots: tuple[int, ...]
    despawn: int
    start_facing: int
    revive_health: int = 1
    request_steps: int = 10
    forager_capacity: int = 27
    warrior_damage: int = 2

    def place_cost(self, name: str) -> tuple[str, int]:
        """What placing one costs: (item, how many)."""
        return {
            "stone": ("stone", 1),
            "table": ("wood", self.table_wood),
            "furnace": ("stone", self.furnace_stone),
            "plant": ("sapling", 1),
        }[name]

    def place_on(self, name: str) -> tuple[int, ...]:
        """The materials that one can be placed on."""
        if name == "plant":
            return (GRASS,)
        ground = (GRASS, SAND, PATH)
        if name == "stone":
            return (*ground, WATER, LAVA)
        return (*ground, LAVA) if self.place_on_lava else ground

    def make_cost(self, name: str) -> dict[str, int]:
        """What making a tool costs: item -> how many."""
        cost = self.contents.recipes[name].cost.items()
        numbers = {item: getattr(self, n) if isinstance(n, str) else n for item, n in cost}
        return {item: number for item, number in numbers.items() if number}

    def make_near(self, name: str) -> tuple[int, ...]:
        """The materials that must be within the 3 x 3 cells around who makes it."""
        return self.contents.recipes[name].near

    # ---- what the preset has -------------------------------------------------------------------

    @property
    def contents(self) -> Contents:
        if self.name not in CONTENTS:
            raise ConfigError(
                f"rules are {names_of(list(CONTENTS))} or one of them with other numbers, given "
                f"the name {self.name!r}"
            )
        return CONTENTS[self.name]

    @property
    def book(self) -> Rulebook:
        return self.contents.book

    @property
    def gifts(self) -> tuple[str, ...]:
        """What can be handed to, and asked of, another player."""
        return ("food", "drink", *self.contents.items)

    @functools.cached_property
    def solo_actions(self) -> tuple[str, ...]:
        """The actions of a player who is alone."""
        places, makes = (f"place_{x}" for x in PLACES), (f"make_{x}" for x in self.contents.makes)
        return (*BASIC_ACTIONS, *places, *makes)

    @property
    def give(self) -> int:
        """The number of `give_food`, after which come the other gifts."""
        return len(self.solo_actions)

    @property
    def request(self) -> int:
        """The number of `request_food`."""
        return self.give + len(self.gifts)

    def actions(self, players: int) -> tuple[str, ...]:
        """The actions of one player; those towards others exist where there are others."""
        if players == 1:
            return self.solo_actions
        social = [f"{verb}_{name}" for verb in ("give", "request") for name in self.gifts]
        return (*self.solo_actions, *social)


PRESETS = {
    "crafter": CraftRules(
        name="crafter",
        achievement_each=False,
        table_wood=2,
        furnace_stone=4,
        iron_stone=0,
        place_on_lava=False,
        sapling_chance=0.1,
        swords_add_up=False,
        hunger=25,
        thirst=20,
        fatigue=30,
        rest=10,
        heal=25,
        harm=15,
        cow_food=6,
        plant_food=4,
        plant_hunger=False,
        ripe=301,
        plants=32,
        trampled=True,
        damage=(1, 2, 3, 5),
        zombie_health=5,
        skeleton_health=3,
        cow_health=3,
        zombie_damage=2,
        zombie_damage_asleep=7,
        zombie_cooldown=5,
        arrow_damage=2,
        arrow_cooldown=4,
        arrows_hit_creatures=True,
        zombie_wakes=False,
        near=18,
        slots=(160,),
        despawn=0,
        start_facing=3,
    ),
    "craftax_classic": CraftRules(
        name="craftax_classic",
        achievement_each=True,
        table_wood=2,
        furnace_stone=1,
        iron_stone=1,
        place_on_lava=True,
        sapling_chance=0.1,
        swords_add_up=True,
        hunger=25,
        thirst=20,
        fatigue=30,
        rest=10,
        heal=25,
        harm=15,
        cow_food=6,
        plant_food=4,
        plant_hunger=True,
        ripe=600,
        plants=10,
        trampled=False,
        damage=(1, 2, 3, 5),
        zombie_health=5,
        skeleton_health=3,
        cow_health=3,
        zombie_damage=2,
        zombie_damage_asleep=7,
        zombie_cooldown=5,
        arrow_damage=2,
        arrow_cooldown=4,
        arrows_hit_creatures=False,
        zombie_wakes=True,
        near=0,
        slots=(3, 2, 3, 3),
        despawn=14,
        start_facing=2,
    ),
}


def load_rules(given: str | Mapping[str, Any] | CraftRules) -> CraftRules:
    """Rules by a preset's name, or as a preset with other numbers:
    `{"name": "crafter", "furnace_stone": 2}`."""
    if isinstance(given, CraftRules):
        return given
    if not isinstance(given, (str, Mapping)):
        raise ConfigError(f"rules are {names_of(list(PRESETS))}, or a dict of it, given {given!r}")
    changes: dict[str, Any] = {"name": given} if isinstance(given, str) else dict(given)
    name = changes.get("name", "craftax_classic")
    if name not in PRESETS:
        raise ConfigError(
            f"rules are {names_of(list(PRESETS))}, given {name!r};{nearest(name, PRESETS)}"
        )
    fields = {field.name: field for field in dataclasses.fields(CraftRules)}
    preset = PRESETS[name]
    for key, value in changes.items():
        if key not in fields:
            raise ConfigError(
                f"rules have no {key!r};{nearest(key, fields)} there are {', '.join(fields)}"
            )
        usual = getattr(preset, key)
        if isinstance(usual, tuple):
            fits = (
                isinstance(value, (list, tuple))
                and len(value) == len(usual)
                and all(isinstance(x, int) and 0 <= x <= 255 for x in value)
            )
            changes[key] = tuple(value) if fits else value
        elif isinstance(usual, bool):
            fits = isinstance(value, bool)
        elif isinstance(usual, float):
            fits = isinstance(value, (int, float)) and 0 <= value <= 1
        elif isinstance(usual, int):
            fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 60_000
        else:
            fits = isinstance(value, str)
        if not fits:
            raise ConfigError(f"the rule {key!r} is like {usual!r}, given {value!r}")
    return dataclasses.replace(preset, **changes)
