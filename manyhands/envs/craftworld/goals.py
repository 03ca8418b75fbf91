"""Goals in words and as data, and the graph of achievements that they are measured by.

**Goals** are short texts that `parse_goal` reads. They are the team's, unless "everyone" begins
them, which asks the same of each player.

| text                       | reached when                                                    |
|----------------------------|-----------------------------------------------------------------|
| `make iron pickaxe`        | any achievement, by its name: somebody has unlocked it          |
| `collect 3 iron`           | the players hold three together, all at one time                |
| `unlock 12 achievements`   | so many different ones are unlocked, by whomever                |
| `build SSS/S_S/SSS`        | these materials lie at the building site (`PLANS` has names)    |
| `everyone: collect 1 coal` | each player holds one; so with achievements and their number    |

In a plan S is stone, T a table, F a furnace, P a plant, `_` ground that can be walked on, and `.`
anything; `/` ends a row. The building site lies at `state.site`, near where the players start.

**Difficulty** is the depth of what a goal needs in the graph of achievements: each one is a step
deeper than the deepest of those that have to come before it (`requirements`).
"""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError
from manyhands.envs.craftworld.rules import (
    MATERIALS,
    MOST,
    PLANT,
    PRESETS,
    RIPE_PLANT,
    WALKABLE,
    CraftRules,
)

USUAL = PRESETS["craftax_classic"]  # whose achievements and items are meant where none are named

# ---- the graph of achievements -------------------------------------------------------------------


@functools.lru_cache(maxsize=16)
def requirements(rules: CraftRules) -> dict[str, tuple[str, ...]]:
    """For each achievement those that have to be unlocked before it can be."""
    needs: dict[str, tuple[str, ...]] = {}
    contents = rules.contents
    tools = {gain: tool for gain, tool, _ in contents.collect.values() if tool is not None}
    for name in contents.achievements:
        verb, _, noun = name.partition("_")
        found: list[str] = []
        if verb == "collect" and noun in tools:
            found = [source(tools[noun], rules)]
        elif verb == "place":
            found = [source(rules.place_cost(noun)[0], rules)]
        elif verb == "make":
            found = [f"place_{MATERIALS[station]}" for station in rules.make_near(noun)]
            found += [source(item, rules) for item in rules.make_cost(noun)]
        elif name == "eat_plant":
            found = ["place_plant"]
        needs[name] = tuple(n for n in dict.fromkeys(found) if n in contents.achievements)
    return needs


def source(item: str, rules: CraftRules) -> str:
    """The achievement that comes with the first one of an item."""
    return f"make_{item}" if item in rules.contents.recipes else f"collect_{item}"


@functools.lru_cache(maxsize=16)
def depths(rules: CraftRules) -> dict[str, int]:
    """The depth of each achievement in the graph, from 1."""
    needs = requirements(rules)

    @functools.cache
    def depth(name: str) -> int:
        return 1 + max((depth(before) for before in needs[name]), default=0)

    return {name: depth(name) for name in needs}


# ---- goals ---------------------------------------------------------------------------------------

NO_GOAL, UNLOCK_ONE, HOLD, UNLOCK_MANY, BUILD = range(5)
SITE = 5  # cells along a side of a building site
GOAL = 4 + SITE * SITE  # bytes of a goal: kind, target, count, everyone, plan
ANYTHING, FREE = 0, 255  # in a plan; else the code of a material and 1
PLAN_LETTERS = {"S": "stone", "T": "table", "F": "furnace", "P": "plant"}
PLANS = {
    "wall": "SSS",
    "workshop": "TF",
    "bench": "STS",
    "garden": "PP/PP",
    "fenced plant": "SSS/SPS/SSS",
    "shelter": "SSS/S_S/SSS",
    "pen": "SSSS/S__S/S__S/SSSS",
    "house": "SSSSS/ST_FS/S___S/S___S/SS_SS",
}

_VERBS = "collect|gather|get|have|hold|make|mine|own"
_HOLD = re.compile(rf"(?:{_VERBS}) (\d+|an|a) ([a-z ]+)")
_MANY = re.compile(r"(?:unlock|reach) (\d+) (?:different )?achievements?")
_BUILD = re.compile(r"build (?:an? |the )?(.+)", re.DOTALL)
_EVERYONE = re.compile(
    r"(?:everyone|everybody|each player|all players)\b[\s:,]*(.*)", re.IGNORECASE | re.DOTALL
)


@dataclasses.dataclass(frozen=True)
class Goal:
    """What a team is to reach; see the module's text.

    Attributes:
        kind: `NO_GOAL`, `UNLOCK_ONE`, `HOLD`, `UNLOCK_MANY` or `BUILD`.
        target: name of an achievement (`UNLOCK_ONE`) or of an item (`HOLD`), else "".
        count: how many items or achievements, else 1; 0 without a goal.
        everyone: whether each player has to.
        plan: rows of a plan in letters, `/` between them (`BUILD`), else "".
    """

    kind: int = NO_GOAL
    target: str = ""
    count: int = 0
    everyone: bool = False
    plan: str = ""

    def __str__(self) -> str:
        """The words that `parse_goal` reads as this goal; "" for none."""
        if self.kind == BUILD:
            return f"build {self.plan}"
        words = ""
        if self.kind == UNLOCK_ONE:
            words = self.target
        elif self.kind == HOLD:
            words = f"collect {self.count} {self.target}"
        elif self.kind == UNLOCK_MANY:
            words = f"unlock {self.count} achievement{'s' * (self.count > 1)}"
        return "everyone: " * self.everyone + words.replace("_", " ")

    def row(self, rules: CraftRules = USUAL) -> np.ndarray:
        """u8[GOAL], as states hold it: the target is its number in the sets of the rules."""
        row = np.zeros(GOAL, np.uint8)
        names = _targets(self.kind, rules)
        row[:4] = self.kind, names.index(self.target), self.count, self.everyone
        site = row[4:].reshape(SITE, SITE)
        for y, line in enumerate(filter(None, self.plan.split("/"))):
            for x, letter in enumerate(line):
                if letter == "_":
                    site[y, x] = FREE
                elif letter != ".":
                    site[y, x] = MATERIALS.index(PLAN_LETTERS[letter]) + 1
        return row

    @classmethod
    def of_row(cls, row: Any, rules: CraftRules = USUAL) -> Goal:
        """The goal that `row` made this of."""
        row = np.asarray(row, np.uint8)
        kind, target, count, everyone = (int(part) for part in row[:4])
        letters = {MATERIALS.index(name) + 1: key for key, name in PLAN_LETTERS.items()}
        letters |= {ANYTHING: ".", FREE: "_"}
        site = row[4:].reshape(SITE, SITE)
        used = np.argwhere(site != ANYTHING)
        plan = ""
        if kind == BUILD:
            height, width = used.max(0) + 1
            lines = ["".join(letters[int(code)] for code in line[:width]) for line in site[:height]]
            plan = "/".join(lines)
        return cls(kind, _targets(kind, rules)[target], count, bool(everyone), plan)


def _targets(kind: int, rules: CraftRules) -> tuple[str, ...]:
    """What goals of a kind can be about."""
    contents = rules.contents
    return {UNLOCK_ONE: contents.achievements, HOLD: contents.items}.get(kind, ("",))


def parse_goal(text: str, players: int = 1, rules: CraftRules = USUAL) -> Goal:
    """The goal that a text names, for so many players under some rules.

    Raises:
        ConfigError: it names none, or one that they cannot reach.
    """
    if not isinstance(text, str):
        raise ConfigError(f"a goal is a text, given {text!r}")
    given, achievements = text.strip().rstrip(".!"), rules.contents.achievements
    if not given:
        return Goal()
    everyone = _EVERYONE.fullmatch(given)
    rest = everyone[1] if everyone else given
    words = re.sub(r"[\s_-]+", " ", rest.lower()).strip()
    if match := _BUILD.match(rest) if words.startswith("build") else None:
        if everyone:
            raise ConfigError(f"a plan is built by the team, not by everyone: {text!r}")
        return Goal(BUILD, "", 1, False, _plan(match[1].strip()))
    if match := _MANY.fullmatch(words):
        count = int(match[1])
        if not 1 <= count <= len(achievements):
            raise ConfigError(f"there are {len(achievements)} achievements, given {text!r}")
        return Goal(UNLOCK_MANY, "", count, bool(everyone))
    if words.replace(" ", "_") in achievements:
        return Goal(UNLOCK_ONE, words.replace(" ", "_"), 1, bool(everyone))
    if match := _HOLD.fullmatch(words):
        count = int(match[1]) if match[1].isdigit() else 1
        most = MOST * (1 if everyone else players)
        if not 1 <= count <= most:
            raise ConfigError(
                f"{'each player' if everyone else 'the team'} can hold 1 to {most} of an item, "
                f"given {text!r}"
            )
        return Goal(HOLD, _item(match[2], text, rules), count, bool(everyone))
    raise ConfigError(
        f"no goal is called {text!r}; a goal is an achievement ({', '.join(achievements)}), "
        '"collect 3 wood", "unlock 12 achievements", "build SSS/S_S" or "build shelter"; '
        '"everyone: ..." asks it of each player'
    )


def _item(words: str, text: str, rules: CraftRules) -> str:
    """An item by its name, in the singular or the plural."""
    names = [words.replace(" ", "_")]
    names += [names[0].removesuffix("s")] if names[0].endswith("s") else []
    for name in names:
        if name in rules.contents.items:
            return name
    items = ", ".join(rules.contents.items)
    raise ConfigError(f"{words!r} is no item, in {text!r}; the items are {items}")


def _plan(words: str) -> str:
    """The rows of a plan, checked."""
    rows = PLANS.get(re.sub(r"[\s_-]+", " ", words.lower()))
    rows = rows if rows is not None else re.sub(r"\s*[/\n]\s*", "/", words.strip()).upper()
    lines = rows.split("/")
    known = set(PLAN_LETTERS) | {"_", "."}
    if not set("".join(lines)) <= known or not all(lines):
        raise ConfigError(
            f"no plan is called {words!r}; there are {', '.join(PLANS)}, and rows of the letters "
            f"{', '.join(f'{k} ({v})' for k, v in PLAN_LETTERS.items())}, _ (free ground) and . "
            "(anything), / between them"
        )
    if len(lines) > SITE or max(map(len, lines)) > SITE:
        raise ConfigError(f"a building site has {SITE} x {SITE} cells, too few for {words!r}")
    if not set("".join(lines)) & set(PLAN_LETTERS):
        raise ConfigError(f"the plan {words!r} has nothing to build")
    # As `Goal.of_row` gives it back: without what says nothing at the edges below and to the right.
    while set(lines[-1]) == {"."}:
        lines.pop()
    width = max(len(line.rstrip(".")) for line in lines)
    return "/".join(line[:width].ljust(width, ".") for line in lines)


def fulfilled(
    goal: Array, inventory: Array, achievements: Array, present: Array, site: Array
) -> Array:
    """How much of a goal is done, f32: 1 exactly where it is reached, 0 where there is no goal.
    Every argument may have a trailing batch axis.

    Args:
        goal: u8[GOAL], see `Goal.row`.
        inventory: u8[N, items].
        achievements: bool[N, achievements].
        present: bool[N], whose belongings count: who is not dead for good.
        site: u8[SITE, SITE], the materials at the building site.
    """
    kind, target, everyone = goal[0], goal[1], goal[3] > 0
    count = jnp.maximum(goal[2], 1).astype(jnp.float32)

    def chosen(values: Array) -> Array:
        """Column `target` of [N, K], as f32[N]."""
        which = jnp.arange(values.shape[1], dtype=jnp.uint8)
        which = which.reshape(1, -1, *(1 for _ in target.shape)) == target
        return jnp.sum(jnp.where(which, values, 0), axis=1).astype(jnp.float32)

    held = chosen(inventory) * present
    unlocked = achievements.astype(jnp.float32)
    each = jnp.stack([chosen(achievements), held, jnp.sum(unlocked, axis=1)])  # [3, N]
    union = jnp.any(achievements, axis=0)
    team = jnp.stack(
        [jnp.any(chosen(achievements) > 0, axis=0), jnp.sum(held, axis=0), jnp.sum(union, axis=0)]
    )
    share_each = jnp.minimum(each / count, 1.0) * present
    all_of = jnp.sum(share_each, axis=1) / jnp.maximum(jnp.sum(present, axis=0), 1)
    share = jnp.where(everyone, all_of, jnp.minimum(team / count, 1.0))

    plan = goal[4:].reshape(SITE, SITE, *goal.shape[1:])
    ground = functools.reduce(jnp.logical_or, [site == code for code in WALKABLE])
    site = jnp.where(site == RIPE_PLANT, np.uint8(PLANT), site)
    wanted = plan != ANYTHING
    right = jnp.where(plan == FREE, ground, site + np.uint8(1) == plan) & wanted
    built = jnp.sum(right, axis=(0, 1)) / jnp.maximum(jnp.sum(wanted, axis=(0, 1)), 1)
    done = jnp.float32(0)
    for which, value in ((UNLOCK_ONE, share[0]), (HOLD, share[1]), (UNLOCK_MANY, share[2])):
        done = jnp.where(kind == which, value, done)
    return jnp.where(kind == BUILD, built, done).astype(jnp.float32)
