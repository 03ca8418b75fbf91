"""The rules of CraftWorld as data: names, tables, and the two presets.

`crafter` follows Crafter (Hafner, "Benchmarking the Spectrum of Agent Capabilities", ICLR 2022;
package 1.8.3), `craftax_classic` follows Craftax-Classic (Matthews et al., "Craftax: A
Lightning-Fast Benchmark for Open-Ended Reinforcement Learning", ICML 2024; package 1.6.1). What
several players do together follows Craftax-Coop (arXiv 2511.04904), where it says something.

Codes are positions in these tuples: `MATERIALS[state.map[row, column]]`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

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
SINGLE = GAP  # materials below this one occur in worlds without joint tasks
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

# What can be handed to, and asked of, another player.
GIFTS = ("food", "drink", *ITEMS)

SOLO_ACTIONS = (
    "noop",
    "move_left",
    "move_right",
    "move_up",
    "move_down",
    "do",
    "sleep",
    "place_stone",
    "place_table",
    "place_furnace",
    "place_plant",
    "make_wood_pickaxe",
    "make_stone_pickaxe",
    "make_iron_pickaxe",
    "make_wood_sword",
    "make_stone_sword",
    "make_iron_sword",
)
NOOP, MOVE, DO, SLEEP, PLACE, MAKE = 0, 1, 5, 6, 7, 11  # MOVE, PLACE and MAKE begin their groups
GIVE = len(SOLO_ACTIONS)  # give_food ... give_iron_sword, then request_food ...
REQUEST = GIVE + len(GIFTS)
SOCIAL_ACTIONS = (*(f"give_{name}" for name in GIFTS), *(f"request_{name}" for name in GIFTS))


def actions(players: int) -> tuple[str, ...]:
    """The actions of one player; those towards others exist where there are others."""
    return SOLO_ACTIONS if players == 1 else SOLO_ACTIONS + SOCIAL_ACTIONS


# ---- what may be done to what --------------------------------------------------------------------

# material -> (what one gets, the tool one needs, what is left). `drink` is a vital.
COLLECT: dict[int, tuple[str, str | None, int]] = {
    TREE: ("wood", None, GRASS),
    STONE: ("stone", "wood_pickaxe", PATH),
    COAL: ("coal", "wood_pickaxe", PATH),
    IRON: ("iron", "stone_pickaxe", PATH),
    DIAMOND: ("diamond", "iron_pickaxe", PATH),
    WATER: ("drink", None, WATER),
    GRASS: ("sapling", None, GRASS),  # with probability `CraftRules.sapling_chance`
}
MAKES = ITEMS[6:]  # in the order of the actions
PLACES = ("stone", "table", "furnace", "plant")  # in the order of the actions
PLACED = (STONE, TABLE, FURNACE, PLANT)

# What a team does together (`CraftWorld.joint`): the material that waits, and what it becomes once
# enough players `do` it in one step.
JOINT = {"bridge": (GAP, BRIDGE), "gate": (GATE, PATH), "beacon": (BEACON, LIT_BEACON)}

ROLES = ("none", "forager", "miner", "warrior")
FORAGER, MINER, WARRIOR = 1, 2, 3

ALIVE, DOWN, DEAD = 1, 2, 0  # `state.alive`


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
        metal = name.partition("_")[0]
        cost = {"wood": 1}
        if metal == "stone":
            cost["stone"] = 1
        if metal == "iron":
            cost |= {"stone": self.iron_stone} if self.iron_stone else {}
            cost |= {"coal": 1, "iron": 1}
        return cost

    def make_near(self, name: str) -> tuple[int, ...]:
        """The materials that must be within the 3 x 3 cells around who makes it."""
        return (TABLE, FURNACE) if name.startswith("iron") else (TABLE,)


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
    changes: dict[str, Any] = {"name": given} if isinstance(given, str) else dict(given)
    name = changes.get("name", "craftax_classic")
    if name not in PRESETS:
        raise ConfigError(f"rules are {names_of(list(PRESETS))}, given {name!r}")
    fields = {field.name: field for field in dataclasses.fields(CraftRules)}
    preset = PRESETS[name]
    for key, value in changes.items():
        if key not in fields:
            raise ConfigError(f"rules have no {key!r}; there are {', '.join(fields)}")
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
