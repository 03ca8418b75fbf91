"""CraftWorld in words: rule book, description in three lengths, choices, and reading answers.

A description is made of the player's row of `perceive`, and of nothing else; every fact of that row
is said, whatever the length, in lines of a fixed form. A longer text adds what follows from the
facts: what letters mean, what is near, what could be done next and what stands in the way.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from manyhands.core.env import IllegalAction, names_of
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.env import DETAILS, VIEW
from manyhands.envs.craftworld.rules import (
    ACHIEVEMENTS,
    ALIVE,
    ARROW,
    COLLECT,
    COW,
    CREATURES,
    DEAD,
    DELTAS,
    DO,
    DOWN,
    FACINGS,
    FORAGER,
    FURNACE,
    GIFTS,
    GIVE,
    GRASS,
    ITEMS,
    LAVA,
    LIT_BEACON,
    MAKE,
    MAKES,
    MATERIALS,
    MINER,
    MOST,
    MOVE,
    NOOP,
    PLACE,
    PLACES,
    PLANT,
    REQUEST,
    RIPE_PLANT,
    ROLES,
    SKELETON,
    SLEEP,
    TABLE,
    VITALS,
    VOID,
    WALKABLE,
    WARRIOR,
    WATER,
    ZOMBIE,
    CraftRules,
)
from manyhands.envs.craftworld.tasks import BUILD, Goal, depths, requirements
from manyhands.envs.craftworld.world import LETTERS

if TYPE_CHECKING:
    from manyhands.envs.craftworld.env import CraftState, CraftWorld

MAX_ANSWER = 2_000  # characters that `parse` reads
ROWS, COLUMNS = VIEW
OWN = (3, 4)  # row and column of the player in its view
YOU = "@"
_LETTER = {code: letter for letter, code in LETTERS.items()} | {VOID: "-"}
_BODY = {ZOMBIE: "z", SKELETON: "k", COW: "c"}
_ARROWS = "<>^v"  # by heading
_LOW = 3  # a vital at this or less is low
_NAMES = [name.replace("_", " ") for name in MATERIALS]

# ---- what a player sees --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Body:
    """A creature or another player in view: `kind` as in `CREATURES`, from 1, or 0."""

    row: int  # in the view
    column: int
    kind: int
    player: int
    heading: int  # in `FACINGS`, or -1


@dataclass(frozen=True)
class _Mate:
    """Another player, wherever it is; `rows` down, `columns` to the right of the reader."""

    player: int
    rows: int
    columns: int
    alive: int
    asleep: bool
    facing: int
    health: int
    food: int
    request: int
    left: int
    role: int


@dataclass(frozen=True)
class Look:
    """A row of `perceive` in plain Python; parts as in `CraftWorld`."""

    agent: int
    cells: np.ndarray  # u8[7, 9]
    bodies: tuple[_Body, ...]  # in reading order
    facing: int
    items: dict[str, int]
    vitals: dict[str, int]
    asleep: bool
    alive: int
    light: int
    done: tuple[str, ...]
    table: bool
    furnace: bool
    role: int
    request: int
    left: int
    mates: tuple[_Mate, ...]
    goal: Goal
    site: tuple[int, int]
    position: tuple[int, int]

    @property
    def front(self) -> tuple[int, int]:
        """Row and column of the faced cell in the view."""
        rows, columns = DELTAS[self.facing]
        return OWN[0] + rows, OWN[1] + columns

    def at(self, cell: tuple[int, int]) -> _Body | None:
        """The body in a cell of the view."""
        return next((b for b in self.bodies if (b.row, b.column) == cell), None)

    @property
    def abandoned(self) -> bool:
        """Whether the player is down and no other is up, which ends the episode."""
        return self.alive == DOWN and not any(mate.alive == ALIVE for mate in self.mates)

    def helpless(self, env: CraftWorld) -> bool:
        """Whether only `noop` is possible."""
        # In Crafter one wakes at the start of a step, and acts in it.
        rested = env.craft.name == "crafter" and self.vitals["energy"] >= MOST
        return self.alive != ALIVE or (self.asleep and not rested)

    def met(self, env: CraftWorld) -> _Body | None:
        """What stands in the way in front; only in Crafter arrows do."""
        body = self.at(self.front)
        flies = body is not None and body.kind == ARROW and env.craft.name != "crafter"
        return None if flies else body

    def mate(self, player: int) -> _Mate:
        return next(mate for mate in self.mates if mate.player == player)


def read_row(env: CraftWorld, row: np.ndarray, agent: int) -> Look:
    """What a row of `perceive` says."""
    parts = {name: row[where].tolist() for name, where in env.layout.items()}
    cells = np.reshape(parts["cells"], (ROWS, COLUMNS)).astype(np.uint8)
    bodies = []
    for k, (code, heading) in enumerate(zip(parts["bodies"], parts["headings"], strict=True)):
        if code and code != len(CREATURES) + 1 + agent:
            kind, player = (code, -1) if code <= len(CREATURES) else (0, code - 1 - len(CREATURES))
            bodies.append(_Body(*divmod(k, COLUMNS), kind, player, heading - 1))
    others = [i for i in range(env.num_agents) if i != agent]
    mates = []
    for i, player in enumerate(others):
        rows, columns, alive, asleep, *rest = parts["teammates"][10 * i : 10 * i + 10]
        mates.append(_Mate(player, rows - 128, columns - 128, alive, bool(asleep), *rest))
    return Look(
        agent,
        cells,
        tuple(bodies),
        parts["facing"][0],
        dict(zip(ITEMS, parts["inventory"], strict=True)),
        dict(zip(VITALS, parts["vitals"], strict=True)),
        bool(parts["asleep"][0]),
        parts["alive"][0],
        parts["light"][0],
        tuple(n for n, on in zip(ACHIEVEMENTS, parts["achievements"], strict=True) if on),
        bool(parts["near"][0]),
        bool(parts["near"][1]),
        parts["role"][0],
        parts["request"][0],
        parts["request"][1],
        tuple(mates),
        Goal.of_row(parts["goal"]),
        (parts["site"][0] - 128, parts["site"][1] - 128),
        (parts["position"][0], parts["position"][1]),
    )


@functools.lru_cache(maxsize=64)
def _sight(env: CraftWorld) -> Any:
    return jax.jit(lambda state: (env.perceive(state), env.legal(state)))


_last: tuple[Any, Any, Any] = (None, None, None)  # one state is looked at by several in turn


def look_at(env: CraftWorld, state: CraftState, agent: int) -> tuple[Look, np.ndarray]:
    """(what a player sees, bool[A] its legal actions)."""
    global _last
    whose, what, seen = _last
    if what is not state or whose is not env:
        seen = jax.device_get(_sight(env)(state))
        _last = env, state, seen
    rows, legal = seen
    return read_row(env, rows[agent], agent), legal[agent]


# ---- small words ---------------------------------------------------------------------------------


def _list(words: Sequence[str], last: str = "and") -> str:
    """ "a, b and c"."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _count(item: str, number: int) -> str:
    return f"{number} {_plain(item)}"


def _where(rows: int, columns: int) -> str:
    """ "3 right 2 up"; "here" for no distance."""
    parts = []
    if columns:
        parts.append(f"{abs(columns)} {'right' if columns > 0 else 'left'}")
    if rows:
        parts.append(f"{abs(rows)} {'down' if rows > 0 else 'up'}")
    return " ".join(parts) or "here"


def _from_you(row: int, column: int) -> str:
    return _where(row - OWN[0], column - OWN[1])


def _a(name: str) -> str:
    """With an article, where there is one."""
    if name in ("water", "grass", "sand", "lava", "coal", "iron", "stone"):
        return name
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


# The other cells of the view, the nearest first: (number in reading order, in words).
_AROUND = [
    (row * COLUMNS + column, _from_you(row, column))
    for row, column in sorted(
        np.ndindex(ROWS, COLUMNS), key=lambda at: abs(at[0] - OWN[0]) + abs(at[1] - OWN[1])
    )
    if (row, column) != OWN
]


def _who(env: CraftWorld, body: _Body) -> str:
    return CREATURES[body.kind - 1] if body.kind else env.agents[body.player]


# ---- description ---------------------------------------------------------------------------------


def describe(env: CraftWorld, state: CraftState, agent: int) -> str:
    """What the player sees, as text, as long as `env.detail` says."""
    look, legal = look_at(env, state, agent)
    longer = DETAILS.index(env.detail)
    lines = [_you(env, look), *_map(look)]
    if longer:
        lines.append(_legend(env, look))
    lines += [_in_view(env, look), _vitals(env, look, warn=longer > 0), _bag(look)]
    if longer:
        lines += _nearest(env, look)
    lines += [_mate_line(env, mate) for mate in look.mates]
    lines += _aims(look, explain=longer > 0)
    lines.append(
        f"Achievements ({len(look.done)} of {len(ACHIEVEMENTS)}): "
        f"{', '.join(map(_plain, look.done)) or 'none'}."
    )
    if longer:
        lines.append(f"Next: {_next(env.craft, look)}.")
        lines.append(f"Possible now: {', '.join(_possible(env, look, legal)) or 'nothing'}.")
    if longer > 1:
        lines += ["Not possible now:", *_impossible(env, look, legal)]
    return "\n".join(lines)


def _you(env: CraftWorld, look: Look) -> str:
    """The first line: oneself."""
    role = f", {_a(ROLES[look.role])}" if look.role else ""
    condition = {ALIVE: "", DOWN: ", down and helpless", DEAD: ", dead"}[look.alive]
    if look.abandoned:
        condition = ", down for good, since nobody is up"
    condition += ", asleep" if look.asleep else ""
    ground = _NAMES[look.cells[OWN]]
    words = [
        f"You are {env.agents[look.agent]}{role}{condition}, standing on {ground}, facing "
        f"{FACINGS[look.facing]} to {_faced(env, look)}. Light {look.light} of 255"
        f" ({_hour(look.light)})."
    ]
    if env.compass:
        words.append(f"You are at row {look.position[0]}, column {look.position[1]}.")
    return " ".join(words)


def _hour(light: int) -> str:
    return ("night", "dark", "dusk", "day")[(light > 60) + (light > 120) + (light > 190)]


def _faced(env: CraftWorld, look: Look) -> str:
    """What is in front."""
    body = look.at(look.front)
    if body is not None:
        return _who(env, body) if not body.kind else _a(_who(env, body))
    code = int(look.cells[look.front])
    return "the edge of the world" if code == VOID else _a(_NAMES[code])


def _map(look: Look) -> list[str]:
    """The view, a letter a cell."""
    letters = [[_LETTER[code] for code in row] for row in look.cells.tolist()]
    for body in look.bodies:
        letters[body.row][body.column] = _mark(body)
    letters[OWN[0]][OWN[1]] = YOU
    return ["".join(row) for row in letters]


def _mark(body: _Body) -> str:
    if not body.kind:
        return str(body.player)
    return _BODY.get(body.kind) or _ARROWS[max(body.heading, 0)]


def _legend(env: CraftWorld, look: Look) -> str:
    """The letters of this view."""
    words = [f"{YOU} you"]
    for code in sorted(set(look.cells.ravel().tolist())):
        words.append(f"{_LETTER[code]} {_NAMES[code] if code != VOID else 'outside the world'}")
    for mark, name in sorted({(_mark(body), _who(env, body)) for body in look.bodies}):
        words.append(f"{mark} {name}")
    return f"Letters: {', '.join(words)}. The top of the map is up."


def _in_view(env: CraftWorld, look: Look) -> str:
    """Creatures and players that are seen, with what they stand on."""
    words = []
    for body in look.bodies:
        heading = ""
        if body.heading >= 0:
            heading = f", {'facing' if not body.kind else 'flying'} {FACINGS[body.heading]}"
        words.append(
            f"{_who(env, body)} {_from_you(body.row, body.column)} on "
            f"{_NAMES[look.cells[body.row, body.column]]}{heading}"
        )
    return f"In view: {'; '.join(words) or 'nobody'}."


_NEEDS = {
    "health": "eat, drink and sleep to recover",
    "food": "eat a cow or a ripe plant",
    "drink": "drink water",
    "energy": "sleep in a safe place",
}


def _vitals(env: CraftWorld, look: Look, warn: bool) -> str:
    words = ", ".join(f"{name} {value}" for name, value in look.vitals.items())
    line = f"You have {words}."
    low = [name for name, value in look.vitals.items() if value <= _LOW]
    if not warn or not low or look.alive != ALIVE:
        return line
    hints = []
    for name in low:
        empty = " You lose health until then." if not look.vitals[name] and name != "health" else ""
        hints.append(f"WARNING: {name} is {'gone' if not look.vitals[name] else 'low'}, "
                     f"{_NEEDS[name]}.{empty}")  # fmt: skip
    return " ".join([line, *hints])


def _bag(look: Look) -> str:
    held = [_count(item, number) for item, number in look.items.items() if number]
    near = [name for name, on in (("a table", look.table), ("a furnace", look.furnace)) if on]
    return f"You carry {', '.join(held) or 'nothing'}. Within reach: {_list(near) or 'no table'}."


_SEEK = (rl.TREE, WATER, rl.STONE, rl.COAL, rl.IRON, rl.DIAMOND, TABLE, FURNACE, RIPE_PLANT, PLANT,
         rl.GAP, rl.GATE, rl.BEACON, LAVA, GRASS, rl.SAND, rl.PATH)  # fmt: skip


def _nearest(env: CraftWorld, look: Look) -> list[str]:
    """The nearest of each thing that one may want, and dangers at hand."""
    seen = look.cells.ravel().tolist()
    first: dict[int, str] = {}
    for cell, where in _AROUND:
        first.setdefault(seen[cell], where)
    found = [f"{_NAMES[code]} {first[code]}" for code in _SEEK if code in first]
    lines = [f"Nearest: {', '.join(found) or 'nothing of use'}."]
    beside = [(OWN[0] + rows, OWN[1] + columns) for rows, columns in DELTAS]
    dangers = []
    for way, cell in zip(FACINGS, beside, strict=True):
        body = look.at(cell)
        if look.cells[cell] == LAVA:
            dangers.append(f"lava {way} of you, to step into it is death")
        if body is not None and body.kind in (ZOMBIE, SKELETON):
            dangers.append(f"a {CREATURES[body.kind - 1]} next to you ({way})")
    if dangers:
        lines.append(f"DANGER: {'; '.join(dangers)}.")
    return lines


def _mate_line(env: CraftWorld, mate: _Mate) -> str:
    """Another player, wherever it is."""
    name = env.agents[mate.player]
    if mate.alive == DEAD:
        return f"{name} is dead."
    role = f", {_a(ROLES[mate.role])}" if mate.role else ""
    state = "asleep" if mate.asleep else "awake"
    if mate.alive == DOWN:
        state = "helpless and asleep, help it up" if mate.asleep else "helpless, help it up"
    request = ""
    if mate.request:
        request = f", asks for {_plain(GIFTS[mate.request - 1])} ({_steps(mate.left)} more)"
    return (
        f"{name}{role}: {_where(mate.rows, mate.columns)}, {state}, facing {FACINGS[mate.facing]}, "
        f"health {mate.health}, food {mate.food}{request}."
    )


def _steps(number: int) -> str:
    return f"{number} step{'s' * (number != 1)}"


def _aims(look: Look, explain: bool) -> list[str]:
    """The own request, and the goal."""
    lines = []
    if look.request:
        asked = _plain(GIFTS[look.request - 1])
        lines.append(f"You ask for {asked} ({_steps(look.left)} more).")
    if look.goal.kind:
        lines.append(f"Goal: {look.goal}.")
        lines.append(f"Building site: its top left cell is {_where(*look.site)}.")
    if look.goal.kind == BUILD and explain:
        lines.append(
            "The plan is told row by row from the top: S stone, T table, F furnace, P plant, "
            "_ free ground, . anything."
        )
    return lines


def _next(craft: CraftRules, look: Look) -> str:
    """The achievements that nothing but effort stands before, the easiest first."""
    # What others have given or built is as good as one's own.
    met = {f"{verb}_{item}" for item, n in look.items.items() if n for verb in ("collect", "make")}
    met |= {"place_table"} if look.table else set()
    met |= {"place_furnace"} if look.furnace else set()
    words = _open(craft, look.done, frozenset(met), look.role)
    return ", ".join(words) or "nothing that you could do alone"


@functools.lru_cache(maxsize=4096)
def _open(
    craft: CraftRules, done: tuple[str, ...], met: frozenset[str], role: int
) -> tuple[str, ...]:
    needs, depth = requirements(craft), depths(craft)
    names = [
        name
        for name in sorted(ACHIEVEMENTS, key=lambda n: depth[n])
        if name not in done
        and all(before in done or before in met for before in needs[name])
        and role in (0, _ONLY.get(name, role))
    ]
    return tuple(_plain(name) + _price(craft, name) for name in names)


# Achievements that only one role can unlock, where there are roles.
_ONLY = dict.fromkeys(("collect_sapling", "eat_cow", "eat_plant"), FORAGER)
_ONLY |= {"place_stone": MINER} | {f"make_{m}_pickaxe": MINER for m in ("wood", "stone", "iron")}
_ONLY |= {f"make_{metal}_sword": WARRIOR for metal in ("wood", "stone", "iron")}


def _price(craft: CraftRules, achievement: str) -> str:
    """ " (1 wood, at a table)" behind an achievement that costs something."""
    verb, _, what = achievement.partition("_")
    if verb == "place":
        return f" ({_count(*craft.place_cost(what))})"
    if verb == "make":
        return f" ({_cost(craft, what)}, at {_stations(craft, what)})"
    return ""


def _possible(env: CraftWorld, look: Look, legal: np.ndarray) -> list[str]:
    """Names of legal actions; the plain moves and requests in one word each."""
    words = []
    for action in np.flatnonzero(legal).tolist():
        name = env.actions[action]
        if action == DO:
            words.append(f"do ({_doing_now(env, look)})")
        elif name.startswith("request_"):
            if "request_food (or anything else)" not in words:
                words.append("request_food (or anything else)")
        else:
            words.append(name)
    return words


def _impossible(env: CraftWorld, look: Look, legal: np.ndarray) -> list[str]:
    """Why other actions are not possible; what is so of all of them, once."""
    if look.helpless(env):
        return [f"- anything else: {_helpless(look)}."]
    lines = []
    for action in range(min(len(legal), GIVE)):
        if not legal[action]:
            lines.append(f"- {env.actions[action]}: {_why_not(env, look, action)}.")
    if len(legal) > GIVE and not legal[GIVE:REQUEST].any():
        lines.append(f"- give_...: {_why_not(env, look, GIVE + len(GIFTS) - 1)}.")
    elif len(legal) > GIVE:
        short = [GIFTS[a - GIVE] for a in range(GIVE, REQUEST) if not legal[a]]
        if short:
            lines.append(f"- give_{', give_'.join(short)}: {_why_not(env, look, GIVE + 2)}.")
    return lines


# ---- choices -------------------------------------------------------------------------------------


def choices(env: CraftWorld, state: CraftState, agent: int) -> list[str]:
    """What each legal action would do now."""
    look, legal = look_at(env, state, agent)
    return [
        f"{env.actions[action]}: {_effect(env, look, action)}"
        for action in np.flatnonzero(legal).tolist()
    ]


def _effect(env: CraftWorld, look: Look, action: int) -> str:
    """What a legal action does."""
    if action == NOOP:
        return "sleep on" if look.asleep and look.helpless(env) else "wait"
    if action < DO:
        return _step(env, look, action - MOVE)
    if action == DO:
        return _doing_now(env, look)
    if action == SLEEP:
        return f"fall asleep until energy is {MOST} or something hurts you"
    if action < MAKE:
        item, number = env.craft.place_cost(PLACES[action - PLACE])
        return f"costs {_count(item, number)}, onto {_faced(env, look)}"
    if action < GIVE:
        return f"costs {_cost(env.craft, MAKES[action - MAKE])}"
    if action < REQUEST:
        body = look.at(look.front)
        mate = "the player in front" if body is None else _who(env, body)
        return f"hand 1 {_plain(GIFTS[action - GIVE])} to {mate}"
    return f"let the others see that you need {_plain(GIFTS[action - REQUEST])}"


def _step(env: CraftWorld, look: Look, facing: int) -> str:
    """What a move does."""
    rows, columns = DELTAS[facing]
    cell = OWN[0] + rows, OWN[1] + columns
    body, code = look.at(cell), int(look.cells[cell])
    if body is not None:
        return f"turn to {_a(_who(env, body)) if body.kind else _who(env, body)}"
    if code in WALKABLE:
        return f"step onto {_NAMES[code]}"
    if code == LAVA:
        return "step into LAVA and die"
    return "turn to the edge of the world" if code == VOID else f"turn to {_a(_NAMES[code])}"


def _cost(craft: CraftRules, tool: str) -> str:
    return _list([_count(item, number) for item, number in craft.make_cost(tool).items()])


def _stations(craft: CraftRules, tool: str) -> str:
    return _list([_a(MATERIALS[code]) for code in craft.make_near(tool)])


def _doing_now(env: CraftWorld, look: Look) -> str:
    """What a legal `do` does to the cell in front."""
    body, code = look.met(env), int(look.cells[look.front])
    if body is not None and not body.kind:
        down = look.mate(body.player).alive == DOWN
        return f"{'help up' if down else 'hit'} {_who(env, body)}"
    if body is not None:
        return f"hit the {_who(env, body)}"
    if code == WATER:
        return "drink water"
    if code == GRASS:
        return f"look for a sapling ({env.craft.sapling_chance:.0%} chance)"
    if code == RIPE_PLANT:
        return "eat the ripe plant"
    if code in COLLECT:
        return f"take {COLLECT[code][0]} from {'the tree' if code == rl.TREE else 'the rock'}"
    if code in [before for before, _ in rl.JOINT.values()]:
        return f"work on the {_NAMES[code]} ({env.helpers} players at once)"
    return "hit what is behind the arrow"


# ---- why not -------------------------------------------------------------------------------------


def _helpless(look: Look) -> str:
    if look.alive == DEAD:
        return "you are dead"
    if look.alive == DOWN:
        if look.abandoned:
            return "you are down, and nobody is up to help: the episode is over"
        return "you are down, until another player helps you up"
    return "you are asleep, until your energy is full or something hurts you"


def _why_not(env: CraftWorld, look: Look, action: int) -> str:
    """Why an action that is not legal is not."""
    if look.helpless(env):
        return _helpless(look)
    if action == DO:
        return _nothing_to_do(env, look)
    if action == SLEEP:
        return f"your energy is {look.vitals['energy']}, you are not tired"
    if action < MAKE:
        return _cannot_place(env, look, PLACES[action - PLACE])
    if action < GIVE:
        return _cannot_make(env, look, MAKES[action - MAKE])
    return _cannot_give(env, look, GIFTS[action - GIVE])


def _nothing_to_do(env: CraftWorld, look: Look) -> str:
    body, code = look.met(env), int(look.cells[look.front])
    if body is not None and body.kind == COW:
        return "only foragers eat cows"
    if body is not None:
        return f"{_faced(env, look)} is in front of you, and there is nothing to do to it"
    if code in COLLECT:
        _, tool, _ = COLLECT[code]
        if tool is not None and not look.items[tool]:
            return f"the {_NAMES[code]} in front of you needs {_a(_plain(tool))}"
        return "only foragers collect saplings"
    if code == PLANT:
        return "the plant in front of you is not ripe yet"
    if code == RIPE_PLANT:
        return "only foragers eat plants"
    if code == LIT_BEACON:
        return "the beacon is lit already"
    what = "the edge of the world" if code == VOID else _a(_NAMES[code])
    return f"{what} is in front of you, and there is nothing to do to it"


def _cannot_place(env: CraftWorld, look: Look, name: str) -> str:
    craft, lacks = env.craft, []
    item, number = craft.place_cost(name)
    if name == "stone" and look.role not in (0, MINER):
        return "only miners place stone"
    if look.items[item] < number:
        lacks.append(f"needs {_count(item, number)}, you have {look.items[item]}")
    body, code = look.met(env), int(look.cells[look.front])
    if body is not None or code not in craft.place_on(name):
        grounds = _list([MATERIALS[g] for g in craft.place_on(name)], "or")
        lacks.append(f"needs free {grounds} in front, there is {_faced(env, look)}")
    return "; ".join(lacks)


def _cannot_make(env: CraftWorld, look: Look, tool: str) -> str:
    craft, lacks = env.craft, []
    kind = tool.partition("_")[2]
    if look.role not in (0, MINER if kind == "pickaxe" else WARRIOR):
        return f"only {'miners make pickaxes' if kind == 'pickaxe' else 'warriors make swords'}"
    missing = {
        item: number - look.items[item]
        for item, number in craft.make_cost(tool).items()
        if look.items[item] < number
    }
    if missing:
        lacks.append(_list([f"{number} more {item}" for item, number in missing.items()]))
    reach = {TABLE: look.table, FURNACE: look.furnace}
    far = [_a(MATERIALS[code]) for code in craft.make_near(tool) if not reach[code]]
    if far:
        lacks.append(f"{_list(far)} within reach")
    return f"needs {', and '.join(lacks)}"


def _cannot_give(env: CraftWorld, look: Look, gift: str) -> str:
    body = look.at(look.front)
    if body is None or body.kind or look.mate(body.player).alive != ALIVE:
        return "there is no player who is up in front of you"
    have = look.vitals[gift] if gift in VITALS else look.items[gift]
    if not have:
        return f"you have no {_plain(gift)} to give"
    return f"{_who(env, body)} can hold no more {_plain(gift)}"


# ---- rules ---------------------------------------------------------------------------------------


def rules(env: CraftWorld, agent: int) -> str:
    """The rule book of one player, written from the numbers of the rules in force."""
    sections = [
        ("CRAFTWORLD", _aim(env, agent)),
        ("YOUR LIFE", _life(env)),
        ("WHAT YOU SEE", _seeing(env)),
        ("ACTIONS (number, name)", _actions(env)),
        ("WHAT do DOES TO WHAT IS IN FRONT OF YOU", _doing(env)),
        ("PLACING SOMETHING INTO THE CELL IN FRONT OF YOU", _placing(env)),
        ("MAKING TOOLS AND WEAPONS", _making(env)),
        ("CREATURES", _creatures(env)),
        ("DAY, NIGHT AND SLEEP", _sleeping(env)),
        ("PLANTS", _plants(env)),
        ("ACHIEVEMENTS, AND WHAT EACH NEEDS FIRST", _graph(env)),
        ("THE OTHERS", _others(env, agent) if env.num_agents > 1 else []),
        ("HOW TO PLAY WELL", _advice(env)),
        ("HOW TO ANSWER", _answering(env)),
    ]
    return "\n\n".join("\n".join([title, *lines]) for title, lines in sections if lines)


def _aim(env: CraftWorld, agent: int) -> list[str]:
    others = [name for i, name in enumerate(env.agents) if i != agent]
    role = ROLES[1 + agent % (len(ROLES) - 1)] if env.roles != "none" else ""
    mates = f"together with {_list(others)}" if others else "alone"
    name = env.agents[agent] + (f", {_a(role)}," if role else "")
    weights, craft = env.reward_weights, env.craft
    parts = []
    if weights["achievements"]:
        once = "each achievement that you unlock for the first time in the episode"
        if not craft.achievement_each:
            once = "a step in which you unlock one or more achievements for the first time"
        parts.append(f"{weights['achievements']:g} for {once}")
    if weights["health"]:
        parts.append(f"{weights['health']:g} for each point of health won, and minus that for each "
                     "lost")  # fmt: skip
    if weights["joint"] and env.has_joint:
        parts.append(f"{weights['joint']:g} for your part in a joint work")
    if weights["goal"] and env.goal:
        parts.append(f"{weights['goal']:g} for all of you when the goal is reached")
    share = {
        "own": "",
        "team": " Everyone gets the sum of what all players earn.",
        "mixed": " Everyone gets half of what it earns and half of what all players earn.",
    }[env.reward]
    end = "you die" if not others else "nobody is up any more"
    lines = [
        f"You are {name} in a wild land, {mates}. Gather, build, make tools, eat, drink, "
        f"sleep and stay alive. There are {len(ACHIEVEMENTS)} achievements to unlock; most need "
        "others first. In each step "
        f"{'every player chooses' if others else 'you choose'} one action. The episode ends when "
        f"{end}, or after {env.max_steps} steps.",
        f"Your reward: {'; '.join(parts) or 'none'}.{share if others else ''}",
    ]
    if env.goal:
        lines.append(f"The goal is: {env.goal}. The episode ends as soon as it is reached.")
    return lines


def _life(env: CraftWorld) -> list[str]:
    craft = env.craft
    capacity = ""
    if env.roles != "none":
        capacity = f" (food and drink of a forager {craft.forager_capacity})"
    down = "you die."
    if env.num_agents > 1 and env.death == "down":
        down = (
            "you fall down: you can do nothing until another player stands beside you and does you "
            f"(then you rise with {craft.revive_health} health)."
        )
    return [
        f"Health, food, drink and energy go from 0 to {MOST}{capacity}. Food falls by 1 about "
        f"every {craft.hunger + 1} steps, drink every {craft.thirst + 1}, energy every "
        f"{craft.fatigue + 1} while awake; asleep, food and drink fall half as fast. While food, "
        f"drink and energy are all above 0, health rises by 1 every {craft.heal + 1} steps (twice "
        f"as fast asleep). If any of them is 0, health falls by 1 every {craft.harm + 1} steps. At "
        f"health 0 {down}",
    ]


def _seeing(env: CraftWorld) -> list[str]:
    known = [code for code in _LETTER if env.has_joint or code < rl.SINGLE]
    letters = ", ".join(
        f"{_LETTER[code]} {_NAMES[code] if code != VOID else 'outside the world'}"
        for code in sorted(known)
    )
    return [
        f"You see {COLUMNS} columns and {ROWS} rows of cells, yourself ({YOU}) in the middle. Up "
        "is the top of the map. Places are told from you: '3 right 2 up' is three columns to the "
        "right and two rows up.",
        f"Letters: {letters}; z zombie, k skeleton, c cow, < > ^ v an arrow and where it flies"
        + (", a digit another player." if env.num_agents > 1 else "."),
        f"You can walk on {_list([_NAMES[code] for code in WALKABLE if code in known])}. "
        "Nothing else can be entered, except lava, which kills at once.",
    ]


def _actions(env: CraftWorld) -> list[str]:
    craft, lines = env.craft, []
    lines.append("0 noop: wait.")
    lines.append(
        "1 move_left, 2 move_right, 3 move_up, 4 move_down: turn that way and, if the cell there "
        "is free, step onto it. If it is not free you only turn to face it."
    )
    lines.append(
        "5 do: use the one cell in front of you, the one that you face. To use a thing, stand "
        "beside it (not diagonally), turn to it by moving against it, then do."
    )
    lines.append(f"6 sleep: see below. Possible below {MOST} energy.")
    places = ", ".join(f"{PLACE + i} place_{name}" for i, name in enumerate(PLACES))
    makes = ", ".join(f"{MAKE + i} make_{name}" for i, name in enumerate(MAKES))
    lines.append(f"{places}: see below.")
    lines.append(f"{makes}: see below.")
    if env.num_agents > 1:
        gives = ", ".join(f"{GIVE + i} give_{name}" for i, name in enumerate(GIFTS))
        asks = ", ".join(f"{REQUEST + i} request_{name}" for i, name in enumerate(GIFTS))
        lines.append(f"{gives}: hand 1 of it to the player in front of you.")
        lines.append(f"{asks}: let everyone see for {craft.request_steps} steps that you need it.")
    lines.append("You hold at most 9 of each item. An action that is not possible does nothing.")
    return lines


def _doing(env: CraftWorld) -> list[str]:
    craft, lines = env.craft, []
    for code, (item, tool, left) in COLLECT.items():
        needs = f" (needs {_a(_plain(tool))})" if tool else ""
        if code == GRASS:
            who = ", for foragers" if env.roles != "none" else ""
            lines.append(
                f"- grass: with a chance of {craft.sapling_chance:.0%} 1 sapling{who}; the grass "
                "stays. Try again and again."
            )
        elif code == WATER:
            lines.append("- water: 1 drink; the water stays.")
        else:
            lines.append(f"- {_NAMES[code]}: 1 {item}{needs}; {_NAMES[left]} is left there.")
    lines.append(f"- ripe plant: {craft.plant_food} food; a sapling is left, which grows again.")
    who = ", for foragers" if env.roles != "none" else ""
    lines.append(
        f"- cow: hit it until it falls ({craft.cow_health} health); then you have eaten it: "
        f"{craft.cow_food} food{who}."
    )
    hits = ", ".join(
        f"{damage} with {name}"
        for damage, name in zip(
            craft.damage,
            ("bare hands", "a wood sword", "a stone sword", "an iron sword"),
            strict=True,
        )
    )
    lines.append(
        f"- zombie ({craft.zombie_health} health), skeleton ({craft.skeleton_health} health): hit "
        f"it. A hit takes {hits}; your best sword counts by itself."
    )
    if env.num_agents > 1:
        if env.death == "down":
            lines.append("- a player who is down: it rises again.")
        if env.friendly_fire:
            lines.append("- a player who is up: you hurt it.")
    for name, (before, after) in rl.JOINT.items():
        if env.has_joint and (env.chart is not None or name == env.joint):
            lines.append(
                f"- {_NAMES[before]}: becomes {_a(_NAMES[after])} when {env.helpers} players do it "
                "in one and the same step."
            )
    return lines


def _placing(env: CraftWorld) -> list[str]:
    craft, lines = env.craft, []
    for name in PLACES:
        item, number = craft.place_cost(name)
        grounds = _list([_NAMES[code] for code in craft.place_on(name)], "or")
        what = "sapling" if name == "plant" else name
        who = ", by miners only" if name == "stone" and env.roles != "none" else ""
        lines.append(
            f"- place_{name}: costs {_count(item, number)}; {what} onto free {grounds}{who}."
        )
    lines.append(
        "Stone can be taken back with a pickaxe: bridge water, make lava safe, wall yourself in."
    )
    return lines


def _making(env: CraftWorld) -> list[str]:
    craft, lines = env.craft, []
    for tool in MAKES:
        lines.append(
            f"- make_{tool}: costs {_cost(craft, tool)}; needs {_stations(craft, tool)} within "
            "reach."
        )
    lines.append(
        "Within reach is any of the 8 cells around you. You need not face it, and it is not "
        "used up."
    )
    if env.roles != "none":
        lines.append("Only miners make pickaxes, only warriors make swords.")
    return lines


def _creatures(env: CraftWorld) -> list[str]:
    craft = env.craft
    lines = [
        "- cow: wanders on grass and does no harm.",
        f"- zombie: on grass, many more in the dark; comes to you and, beside you, hits for "
        f"{craft.zombie_damage} ({craft.zombie_damage_asleep} if you sleep), then rests "
        f"{craft.zombie_cooldown} steps. Face it and do, again and again.",
        f"- skeleton: in the dark paths of caves; shoots arrows of {craft.arrow_damage} damage "
        "along rows and columns. Step out of its line, or come close and hit it.",
    ]
    if craft.trampled:
        lines.append("A zombie, skeleton or cow beside a plant destroys it.")
    return lines


def _sleeping(env: CraftWorld) -> list[str]:
    craft = env.craft
    lengths = [str(n) for n in sorted({world.day_length for world in env.worlds})]
    waking = "Waking by being hurt is no achievement."
    if craft.zombie_wakes:
        waking = "Being woken by a zombie counts as wake_up, too, but costs health."
    return [
        f"A day and night take {_list(lengths, 'or')} steps. The lower the light, "
        "the more zombies. Asleep you do nothing, "
        f"energy rises by 1 about every {craft.rest + 1} steps, and you wake once it is {MOST} "
        f"(achievement wake_up), or when you are hurt. {waking}",
        "Before you sleep, wall yourself in: place stone on the free cells left, right, up and "
        "down of you.",
    ]


def _plants(env: CraftWorld) -> list[str]:
    craft = env.craft
    ruin = (
        " Zombies, skeletons and cows beside it destroy it: fence it with stone."
        if craft.trampled
        else ""
    )
    return [
        f"A sapling that you place on grass is ripe after {craft.ripe} steps; then it looks "
        f"different (P) and can be eaten. Unripe it cannot.{ruin} Place one early and come back.",
    ]


def _graph(env: CraftWorld) -> list[str]:
    """The dependency graph, in order of depth."""
    craft = env.craft
    needs, depth = requirements(craft), depths(craft)
    lines = []
    for level in range(1, max(depth.values()) + 1):
        for name in ACHIEVEMENTS:
            if depth[name] != level:
                continue
            before = [_plain(n) for n in needs[name]]
            arrow = f" <- {', '.join(before)}" if before else ""
            lines.append(f"{level}. {_plain(name)}{arrow}")
    return ["(level. achievement <- achievements that come before it)", *lines]


def _others(env: CraftWorld, agent: int) -> list[str]:
    lines = [
        "You always know where the others are, and their health and food. Two players are never in "
        "one cell. Within a step the players act one after the other, and another one begins each "
        "step, so nobody is always first.",
        "To hand something over stand beside the other, turn to it, and give. "
        f"A request is shown to all for {env.craft.request_steps} steps.",
    ]
    if env.roles != "none":
        roles = [f"{name} is a {ROLES[1 + i % 3]}" for i, name in enumerate(env.agents)]
        lines.append(
            f"Roles: {', '.join(roles)}. Only foragers eat cows and plants and collect saplings; "
            "only miners make pickaxes and place stone; only warriors make swords, and they hit "
            f"{env.craft.warrior_damage} times as hard. So share: food, tools, protection."
        )
    if env.death == "down":
        lines.append(
            "A player without health lies down; help it up by doing it, before everyone is down. "
            "Lava kills for good."
        )
    else:
        lines.append("A player without health is dead for good.")
    return lines


def _advice(env: CraftWorld) -> list[str]:
    craft = env.craft
    wood = craft.table_wood + 2
    stone = craft.furnace_stone + 3 + 2 * craft.iron_stone
    return [
        f"1. Collect about {wood} wood from trees, place a table beside the trees, and make a wood "
        "pickaxe and a wood sword there. Try grass in passing for a sapling, and place it.",
        f"2. Find stone (grey hills), collect {stone} or more: for a stone pickaxe and sword (with "
        "2 more wood, at a table), a furnace, walls. Place one stone. Tables are cheap: carry wood "
        "and place a new one where you need it.",
        "3. Mine coal (black dots) and iron (orange dots, near tunnels and caves; it needs the "
        "stone pickaxe). With a table and a furnace both within reach make the iron pickaxe first, "
        f"then the iron sword. Each costs {_cost(craft, 'iron_pickaxe')}, so keep wood for both.",
        "4. Diamonds (white) lie deep in the hills, often near lava: look at each cell before you "
        "step, and place stone on lava.",
        "5. Drink whenever water is near and drink is below 7; eat a cow when food is below 6. "
        "Fight zombies face to face. Below 4 energy, or at night, wall yourself in and sleep.",
        "6. If nothing of use is in view, walk in one direction for many steps rather than to and "
        "fro; remember where water, table and plants were.",
    ]


def _answering(env: CraftWorld) -> list[str]:
    return [
        "Name one action: its name, its number, or one of the choices offered, for example "
        '"move_left", "5", "make wood pickaxe", or a last line "ACTION: do".',
    ]


# ---- reading an answer ---------------------------------------------------------------------------

_WAYS = {
    **dict(zip(FACINGS, range(4), strict=True)),
    "west": 0, "east": 1, "north": 2, "south": 3,
    "leftward": 0, "rightward": 1, "upward": 2, "downward": 3,
}  # fmt: skip
_SHORT = {"w": 0, "e": 1, "n": 2, "s": 3, "l": 0, "r": 1, "u": 2, "d": 3}
_ACTION_LINE = re.compile(r"^[ \t>*_`#-]*action[ \t*_`]*:(.*)$", re.IGNORECASE | re.MULTILINE)
_NUMBER = re.compile(r"(?:(?:action|option|choice|number) )?#?\(?([0-9]{1,4})\)?")
_NUMBERED = re.compile(r"(?:(?:action|option|choice|number) )?#?\(?([0-9]{1,2}) ?[:.)-]+ ?(.+)")
_WRAPPING = " \t\r\n\"'`*_[]{}<>.,:!"
_NOT = re.compile(
    r"\b(?:not|never|cannot|avoid|without|neither|nor|instead\s+of|rather\s+than)\b|n['\u2019]t\b"
)
_CLAUSE = re.compile(r"[.,;:!?\n]|\b(?:but|so|then|and)\b")

_WAY = "|".join(_WAYS)
_ITEM = "|".join(sorted((_plain(gift) for gift in GIFTS), key=len, reverse=True))
_TOOL = r"(wood|stone|iron)(?:en)? (pickaxe|sword)"
_THE = r"(?: (?:a|an|the|my|one|1|some))*"
# What names an action in a sentence. The first group decides by itself; what follows counts only
# where nothing of the first does: "I go left to collect wood" is a move.
_STRONG = re.compile(
    rf"\b(?:mov(?:e|ing)|go(?:ing)?|walk(?:ing)?|step(?:ping)?|turn(?:ing)?|head(?:ing)?|run(?:ning)?"
    r"|fac(?:e|ing))(?: (?:one|1) step)?(?: to(?:wards?)?)?(?: the| my)? "
    rf"(?P<way>{_WAY})(?:s|wards?)?\b"
    rf"|\b(?:plac(?:e|ing)|put(?:ting)?(?: down)?|build(?:ing)?|plant(?:ing)?){_THE} "
    r"(?P<place>stone|table|furnace|plant|sapling)\b"
    rf"|\b(?:mak(?:e|ing)|craft(?:ing)?){_THE} {_TOOL}\b"
    rf"|\b(?:giv(?:e|ing)|hand(?:ing)?(?: over)?){_THE} (?P<give>{_ITEM})\b"
    rf"|\b(?:request(?:ing)?|ask(?:ing)? for){_THE} (?P<ask>{_ITEM})\b"
    r"|\b(?P<sleep>(?:go(?:ing)? to )?sleep|fall asleep)\b"
    r"|\b(?P<noop>no-?op|do nothing|stand still|wait(?:ing)?|stay(?:ing)?|idle|pass)\b"
    r"|\b(?:action|option|choice) #?(?P<number>[0-9]{1,4})\b"
)
_WEAK = re.compile(
    r"(?<!to )\b(?:do(?! not)|interact|use|act|collect|gather|take|mine|chop|cut|dig|pick|attack"
    r"|hit|fight|kill|eat|drink|harvest|revive|help)(?:ing)?\b"
)
_DEEDS = (
    "do",
    "interact",
    "use",
    "act",
    "collect",
    "gather",
    "attack",
    "hit",
    "eat",
    "drink",
    "mine",
)


def parse(env: CraftWorld, text: Any, state: CraftState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not possible now."""
    if not isinstance(text, str):
        raise IllegalAction(f"an answer is text, not {type(text).__name__}")
    if len(text) > MAX_ANSWER:
        raise IllegalAction(
            f"the answer has {len(text)} characters; at most {MAX_ANSWER} are read. Answer with "
            "one action"
        )
    look, legal = look_at(env, state, agent)
    possible = ", ".join(env.actions[a] for a in np.flatnonzero(legal).tolist() if a < REQUEST)
    lines = _ACTION_LINE.findall(text)
    answer = (lines[-1] if lines else text).strip(_WRAPPING)
    plain = " ".join(answer.lower().replace("_", " ").split())
    try:
        action = _read(env, look, legal, plain)
        if not legal[action]:
            reason = _why_not(env, look, action)
            raise _Unread(f"{env.actions[action]} is not possible now: {reason}")
    except _Unread as error:
        shown = repr(answer if len(answer) <= 60 else answer[:57] + "...")
        raise IllegalAction(
            f"{shown}: {error}. Answer with exactly one action, by name or number; possible now: "
            f"{possible}."
        ) from None
    return action


class _Unread(Exception):
    """Why an answer is no action."""


def _read(env: CraftWorld, look: Look, legal: np.ndarray, plain: str) -> int:
    """The action of an answer in lower case, with single spaces and no underscores."""
    if not plain:
        raise _Unread("the answer is empty")
    offered = {
        f"{env.actions[a]}: {_effect(env, look, a)}".lower().replace("_", " "): a
        for a in np.flatnonzero(legal).tolist()
    }
    if plain in offered:
        return offered[plain]
    number = _NUMBER.fullmatch(plain)
    if number:
        return _numbered(env, number[1])
    numbered = _NUMBERED.fullmatch(plain)
    if numbered:  # "5. do: take wood": both must agree
        action = _read(env, look, legal, numbered[2])
        if int(numbered[1]) != action:
            raise _Unread(f"the number {numbered[1]} and the words of {env.actions[action]} differ")
        return action
    named = _named(env, plain)
    if named is not None:
        return named
    bodies = [text.partition(": ")[2] for text in offered]
    if bodies.count(plain) == 1:
        return list(offered.values())[bodies.index(plain)]
    return _sentence(env, look, plain)


def _named(env: CraftWorld, plain: str) -> int | None:
    """The action that is called so."""
    names = {_plain(name): i for i, name in enumerate(env.actions)}
    names |= {word: MOVE + way for word, way in (_WAYS | _SHORT).items()}
    names |= dict.fromkeys(_DEEDS, DO) | dict.fromkeys(("wait", "stay", "nothing", "no-op"), NOOP)
    # "move_left: whatever follows" is what choices look like; they change from step to step.
    return names.get(plain, names.get(plain.partition(":")[0]))


def _numbered(env: CraftWorld, digits: str) -> int:
    if int(digits) >= len(env.actions):
        raise _Unread(f"there is no action {int(digits)}, they go to {len(env.actions) - 1}")
    return int(digits)


def _sentence(env: CraftWorld, look: Look, plain: str) -> int:
    """The one action that a sentence names and does not deny."""

    def meant(found: re.Match[str]) -> bool:
        return not _NOT.search(_CLAUSE.split(plain[: found.start()])[-1])

    named = {_strong(env, look, found) for found in _STRONG.finditer(plain) if meant(found)}
    if not named and any(meant(found) for found in _WEAK.finditer(plain)):
        named = {DO}
    if len(named) == 1:
        return named.pop()
    if named:
        several = names_of([env.actions[action] for action in sorted(named)])
        raise _Unread(f"it names more than one action ({several})")
    raise _Unread("it names no action")


def _strong(env: CraftWorld, look: Look, found: re.Match[str]) -> int:
    words: Mapping[str, str | None] = found.groupdict()
    name = ""
    if words["way"]:
        return MOVE + _WAYS[words["way"]]
    if words["number"]:
        return _numbered(env, words["number"])
    if words["place"]:
        name = f"place_{words['place'].replace('sapling', 'plant')}"
    elif found[3]:
        name = f"make_{found[3]}_{found[4]}"
    elif words["give"]:
        name = "give_" + words["give"].replace(" ", "_")
        to = re.match(r" to (player \d+)", found.string[found.end() :])
        body = look.at(look.front)
        front = "" if body is None or body.kind else _plain(env.agents[body.player])
        if to and to[1] != front:
            raise _Unread(
                f"you do not face {to[1].replace(' ', '_')}: stand beside it and turn to it"
            )
    elif words["ask"]:
        name = "request_" + words["ask"].replace(" ", "_")
    else:
        name = "sleep" if words["sleep"] else "noop"
    if name not in env.actions:
        raise _Unread("there is no other player here")
    return env.actions.index(name)
