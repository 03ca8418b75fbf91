"""CraftWorld in words: rule book, description in three lengths, choices, and reading answers.

A description is made of the player's row of `perceive`, and of nothing else; every fact of that row
is said, whatever the length, in lines of a fixed form. A longer text adds what follows from the
facts: what letters mean, what is near, what could be done next and what stands in the way.
"""

from __future__ import annotations

import functools

import numpy as np

from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.effects import doing, effect, why_helpless, why_not
from manyhands.envs.craftworld.goals import BUILD, depths, requirements
from manyhands.envs.craftworld.reading import parse
from manyhands.envs.craftworld.rulebook import rules
from manyhands.envs.craftworld.rules import CraftRules
from manyhands.envs.craftworld.setting import DETAILS, Setting
from manyhands.envs.craftworld.state import CraftState
from manyhands.envs.craftworld.words import (
    COLUMNS,
    HERE,
    LETTER,
    NAMES,
    ROWS,
    YOU,
    Body,
    Mate,
    Observation,
    article,
    cost,
    counted,
    direction,
    faced,
    from_you,
    listed,
    name_of,
    observe,
    spaced,
    stations,
    steps,
)

__all__ = ["choices", "describe", "parse", "rules"]

_BODY = {rl.ZOMBIE: "z", rl.SKELETON: "k", rl.COW: "c"}
_ARROWS = "<>^v"  # by heading
_LOW = 3  # a vital at this or less is low

# ---- description ---------------------------------------------------------------------------------


def describe(env: Setting, state: CraftState, agent: int) -> str:
    """What the player sees, as text, as long as `env.detail` says."""
    obs, legal = observe(env, state, agent)
    longer = DETAILS.index(env.detail)
    lines = [_you(env, obs), *_map(obs)]
    if longer:
        lines.append(_legend(env, obs))
    lines += [_in_view(env, obs), _vitals(env, obs, warn=longer > 0), _bag(obs)]
    if longer:
        lines += _nearest(env, obs)
    lines += [_mate_line(env, mate) for mate in obs.mates]
    lines += _aims(env, obs, explain=longer > 0)
    lines.append(
        f"Achievements ({len(obs.done)} of {len(env.contents.achievements)}): "
        f"{', '.join(map(spaced, obs.done)) or 'none'}."
    )
    if longer:
        lines.append(f"Next: {_next(env.craft, obs)}.")
        lines.append(f"Possible now: {', '.join(_possible(env, obs, legal)) or 'nothing'}.")
    if longer > 1:
        lines += ["Not possible now:", *_impossible(env, obs, legal)]
    return "\n".join(lines)


def _you(env: Setting, obs: Observation) -> str:
    """The first line: oneself."""
    role = f", {article(rl.ROLES[obs.role])}" if obs.role else ""
    condition = {rl.ALIVE: "", rl.DOWN: ", down and helpless", rl.DEAD: ", dead"}[obs.alive]
    if obs.abandoned:
        condition = ", down for good, since nobody is up"
    condition += ", asleep" if obs.asleep else ""
    ground = NAMES[obs.cells[HERE]]
    words = [
        f"You are {env.agents[obs.agent]}{role}{condition}, standing on {ground}, facing "
        f"{rl.FACINGS[obs.facing]} to {faced(env, obs)}. Light {obs.light} of 255"
        f" ({_hour(obs.light)})."
    ]
    if env.compass:
        words.append(f"You are at row {obs.position[0]}, column {obs.position[1]}.")
    return " ".join(words)


def _hour(light: int) -> str:
    return ("night", "dark", "dusk", "day")[(light > 60) + (light > 120) + (light > 190)]


def _map(obs: Observation) -> list[str]:
    """The view, a letter a cell."""
    letters = [[LETTER[code] for code in row] for row in obs.cells.tolist()]
    for body in obs.bodies:
        letters[body.row][body.column] = _mark(body)
    letters[HERE[0]][HERE[1]] = YOU
    return ["".join(row) for row in letters]


def _mark(body: Body) -> str:
    if not body.kind:
        return str(body.player)
    return _BODY.get(body.kind) or _ARROWS[max(body.heading, 0)]


def _legend(env: Setting, obs: Observation) -> str:
    """The letters of this view."""
    words = [f"{YOU} you"]
    for code in sorted(set(obs.cells.ravel().tolist())):
        words.append(f"{LETTER[code]} {NAMES[code] if code != rl.VOID else 'outside the world'}")
    for mark, name in sorted({(_mark(body), name_of(env, body)) for body in obs.bodies}):
        words.append(f"{mark} {name}")
    return f"Letters: {', '.join(words)}. The top of the map is up."


def _in_view(env: Setting, obs: Observation) -> str:
    """Creatures and players that are seen, with what they stand on."""
    words = []
    for body in obs.bodies:
        heading = ""
        if body.heading >= 0:
            heading = f", {'facing' if not body.kind else 'flying'} {rl.FACINGS[body.heading]}"
        words.append(
            f"{name_of(env, body)} {from_you(body.row, body.column)} on "
            f"{NAMES[obs.cells[body.row, body.column]]}{heading}"
        )
    return f"In view: {'; '.join(words) or 'nobody'}."


_NEEDS = {
    "health": "eat, drink and sleep to recover",
    "food": "eat a cow or a ripe plant",
    "drink": "drink water",
    "energy": "sleep in a safe place",
}


def _vitals(env: Setting, obs: Observation, warn: bool) -> str:
    words = ", ".join(f"{name} {value}" for name, value in obs.vitals.items())
    line = f"You have {words}."
    low = [name for name, value in obs.vitals.items() if value <= _LOW]
    if not warn or not low or obs.alive != rl.ALIVE:
        return line
    hints = []
    for name in low:
        empty = " You lose health until then." if not obs.vitals[name] and name != "health" else ""
        hints.append(f"WARNING: {name} is {'gone' if not obs.vitals[name] else 'low'}, "
                     f"{_NEEDS[name]}.{empty}")  # fmt: skip
    return " ".join([line, *hints])


def _bag(obs: Observation) -> str:
    held = [counted(item, number) for item, number in obs.items.items() if number]
    near = [name for name, on in (("a table", obs.table), ("a furnace", obs.furnace)) if on]
    return f"You carry {', '.join(held) or 'nothing'}. Within reach: {listed(near) or 'no table'}."


_SEEK = (
    *(rl.TREE, rl.WATER, rl.STONE, rl.COAL, rl.IRON, rl.DIAMOND, rl.TABLE, rl.FURNACE),
    *(rl.RIPE_PLANT, rl.PLANT, rl.GAP, rl.GATE, rl.BEACON, rl.LAVA, rl.GRASS, rl.SAND, rl.PATH),
)
# The other cells of the view, the nearest first: (number in reading order, in words).
_AROUND = [
    (row * COLUMNS + column, from_you(row, column))
    for row, column in sorted(
        np.ndindex(ROWS, COLUMNS), key=lambda at: abs(at[0] - HERE[0]) + abs(at[1] - HERE[1])
    )
    if (row, column) != HERE
]


def _nearest(env: Setting, obs: Observation) -> list[str]:
    """The nearest of each thing that one may want, and dangers at hand."""
    seen = obs.cells.ravel().tolist()
    first: dict[int, str] = {}
    for cell, where in _AROUND:
        first.setdefault(seen[cell], where)
    found = [
        f"{NAMES[code]} {first[code]}"
        for code in (*_SEEK, *env.contents.materials)
        if code in first
    ]
    lines = [f"Nearest: {', '.join(found) or 'nothing of use'}."]
    beside = [(HERE[0] + rows, HERE[1] + columns) for rows, columns in rl.DELTAS]
    dangers = []
    for way, cell in zip(rl.FACINGS, beside, strict=True):
        body = obs.at(cell)
        if obs.cells[cell] == rl.LAVA:
            dangers.append(f"lava {way} of you, to step into it is death")
        if body is not None and body.kind in (rl.ZOMBIE, rl.SKELETON):
            dangers.append(f"a {rl.CREATURES[body.kind - 1]} next to you ({way})")
    if dangers:
        lines.append(f"DANGER: {'; '.join(dangers)}.")
    return lines


def _mate_line(env: Setting, mate: Mate) -> str:
    """Another player, wherever it is."""
    name = env.agents[mate.player]
    if mate.alive == rl.DEAD:
        return f"{name} is dead."
    role = f", {article(rl.ROLES[mate.role])}" if mate.role else ""
    state = "asleep" if mate.asleep else "awake"
    if mate.alive == rl.DOWN:
        state = "helpless and asleep, help it up" if mate.asleep else "helpless, help it up"
    request = ""
    if mate.request:
        request = (
            f", asks for {spaced(env.craft.gifts[mate.request - 1])} ({steps(mate.left)} more)"
        )
    return (
        f"{name}{role}: {direction(mate.rows, mate.columns)}, {state}, "
        f"facing {rl.FACINGS[mate.facing]}, health {mate.health}, food {mate.food}{request}."
    )


def _aims(env: Setting, obs: Observation, explain: bool) -> list[str]:
    """The own request, and the goal."""
    lines = []
    if obs.request:
        asked = spaced(env.craft.gifts[obs.request - 1])
        lines.append(f"You ask for {asked} ({steps(obs.left)} more).")
    if obs.goal.kind:
        lines.append(f"Goal: {obs.goal}.")
        lines.append(f"Building site: its top left cell is {direction(*obs.site)}.")
    if obs.goal.kind == BUILD and explain:
        lines.append(
            "The plan is told row by row from the top: S stone, T table, F furnace, P plant, "
            "_ free ground, . anything."
        )
    return lines


def _next(craft: CraftRules, obs: Observation) -> str:
    """The achievements that nothing but effort stands before, the easiest first."""
    # What others have given or built is as good as one's own.
    met = {f"{verb}_{item}" for item, n in obs.items.items() if n for verb in ("collect", "make")}
    met |= {"place_table"} if obs.table else set()
    met |= {"place_furnace"} if obs.furnace else set()
    words = _open(craft, obs.done, frozenset(met), obs.role)
    return ", ".join(words) or "nothing that you could do alone"


@functools.lru_cache(maxsize=4096)
def _open(
    craft: CraftRules, done: tuple[str, ...], met: frozenset[str], role: int
) -> tuple[str, ...]:
    needs, depth = requirements(craft), depths(craft)
    names = [
        name
        for name in sorted(needs, key=lambda n: depth[n])
        if name not in done
        and all(before in done or before in met for before in needs[name])
        and role in (0, _only(craft, name) or role)
    ]
    return tuple(spaced(name) + _price(craft, name) for name in names)


def _only(craft: CraftRules, achievement: str) -> int:
    """The role that alone can unlock an achievement, where there are roles; else 0."""
    verb, _, what = achievement.partition("_")
    if verb == "make":
        return craft.contents.recipes[what].role
    if achievement in ("collect_sapling", "eat_cow", "eat_plant"):
        return rl.FORAGER
    return rl.MINER if achievement == "place_stone" else 0


def _price(craft: CraftRules, achievement: str) -> str:
    """ " (1 wood, at a table)" behind an achievement that costs something."""
    verb, _, what = achievement.partition("_")
    if verb == "place":
        return f" ({counted(*craft.place_cost(what))})"
    if verb == "make":
        return f" ({cost(craft, what)}, at {stations(craft, what)})"
    return ""


def _possible(env: Setting, obs: Observation, legal: np.ndarray) -> list[str]:
    """Names of legal actions; the plain moves and requests in one word each."""
    words = []
    for action in np.flatnonzero(legal).tolist():
        name = env.actions[action]
        if action == rl.DO:
            words.append(f"do ({doing(env, obs)})")
        elif name.startswith("request_"):
            if "request_food (or anything else)" not in words:
                words.append("request_food (or anything else)")
        else:
            words.append(name)
    return words


def _impossible(env: Setting, obs: Observation, legal: np.ndarray) -> list[str]:
    """Why other actions are not possible; what is so of all of them, once."""
    if obs.helpless(env):
        return [f"- anything else: {why_helpless(obs)}."]
    lines = []
    give, request, gifts = env.craft.give, env.craft.request, env.craft.gifts
    for action in range(min(len(legal), give)):
        if not legal[action]:
            lines.append(f"- {env.actions[action]}: {why_not(env, obs, action)}.")
    if len(legal) > give and not legal[give:request].any():
        lines.append(f"- give_...: {why_not(env, obs, request - 1)}.")
    elif len(legal) > give:
        short = [gifts[a - give] for a in range(give, request) if not legal[a]]
        if short:
            lines.append(f"- give_{', give_'.join(short)}: {why_not(env, obs, give + 2)}.")
    return lines


# ---- choices -------------------------------------------------------------------------------------


def choices(env: Setting, state: CraftState, agent: int) -> list[str]:
    """What each legal action would do now."""
    obs, legal = observe(env, state, agent)
    return [
        f"{env.actions[action]}: {effect(env, obs, action)}"
        for action in np.flatnonzero(legal).tolist()
    ]
