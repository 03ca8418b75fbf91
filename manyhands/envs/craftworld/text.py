"""CraftWorld in words: rule book, description in three lengths, choices, and reading answers.

A description is made of the player's row of `perceive` and of what it knows of the last step; every
fact of that row is said, whatever the length, in lines of a fixed form. A longer text adds what
follows from the facts: warnings, what is near and what could be done next; the longest one what
letters mean and what stands in the way.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from manyhands.core.choices import Choice
from manyhands.core.env import DETAILS
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.effects import offers, why_helpless, why_not
from manyhands.envs.craftworld.events import LOW, known
from manyhands.envs.craftworld.goals import (
    BUILD,
    HOLD,
    PLAN_LETTERS,
    UNLOCK_ONE,
    Goal,
    depths,
    requirements,
    source,
)
from manyhands.envs.craftworld.reading import parse
from manyhands.envs.craftworld.rulebook import rules
from manyhands.envs.craftworld.rules import CraftRules
from manyhands.envs.craftworld.setting import UNKNOWN, Setting
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

_LATE = ("wake_up", "defeat_skeleton")  # what comes long after the start: in the dark, in caves
FOLLOWING, MISSING = 4, 5  # as many achievements, and cells of a plan, are named at most
OTHERS = 4  # of what others did in the last step, so much is told at most
_NOTHING = "nothing that you could do alone"
_PLANNED = {
    **{letter: (rl.MATERIALS.index(name),) for letter, name in PLAN_LETTERS.items()},
    **{"P": (rl.PLANT, rl.RIPE_PLANT), "_": rl.WALKABLE},
}

_BODY = {rl.ZOMBIE: "z", rl.SKELETON: "k", rl.COW: "c"}
_ARROWS = "<>^v"  # by heading
# ---- description ---------------------------------------------------------------------------------


def describe(env: Setting, state: CraftState, agent: int) -> str:
    """What the player sees, as text, as long as `env.detail` says."""
    obs, legal = observe(env, state, agent)
    longer = DETAILS.index(env.detail)
    lines = [_you(env, state, obs), *_map(obs)]
    if longer > 1:
        lines.append(_legend(env, obs))
    lines += _last_step(env, state, obs, others=longer > 0)
    lines += _in_view(env, obs)
    lines += [_vitals(env, obs, warn=longer > 0), _bag(obs)]
    alive = obs.alive != rl.DEAD
    if longer and alive:
        lines += _nearest(env, obs)
    lines += [_mate_line(env, obs, mate) for mate in obs.mates]
    lines += _aims(env, obs, explain=longer > 0)
    lines.append(
        f"Achievements ({len(obs.done)} of {len(env.contents.achievements)}): "
        f"{', '.join(map(spaced, obs.done)) or 'none'}."
    )
    if longer and alive:
        following = _next(env.craft, obs)
        lines.append(f"Next: {', '.join(following[:FOLLOWING]) or _NOTHING}.")
    if longer > 1 and alive:
        lines += [f"After these: {', '.join(rest)}." for rest in [following[FOLLOWING:]] if rest]
        lines += ["Not possible now:", *_impossible(env, obs, legal)]
    return "\n".join(lines)


def _you(env: Setting, state: CraftState, obs: Observation) -> str:
    """The first line: oneself, and the time."""
    role = f", {article(rl.ROLES[obs.role])}" if obs.role else ""
    condition = {rl.ALIVE: "", rl.DOWN: ", down and helpless", rl.DEAD: ", dead"}[obs.alive]
    if obs.abandoned:
        condition = ", down for good, since nobody is up"
    condition += ", asleep" if obs.asleep else ""
    ground = NAMES[obs.cells[HERE]]
    words = [
        f"You are {env.agents[obs.agent]}{role}{condition}, standing on {ground}, facing "
        f"{rl.FACINGS[obs.facing]} to {faced(env, obs)}. Step {int(env.played(state.clock))} of "
        f"{env.max_steps}. Light {obs.light} of 255 ({_hour(env, state)})."
    ]
    if env.compass:
        words.append(f"You are at row {obs.position[0]}, column {obs.position[1]}.")
    return " ".join(words)


DARK = 120  # of 255: the most light of the dark


def _hour(env: Setting, state: CraftState) -> str:
    """The hour, and how long it stays light or dark: by the light alone, morning and evening are
    alike."""
    world = int(state.world)
    day = int(env.days[world])
    lights = np.roll(env.light[world, :day].astype(int), -(int(state.clock) % day))
    light = int(lights[0])
    growing = bool(lights[1 % day] > light)
    hour = ("night", "dark", "dawn" if growing else "dusk", "day")[
        (light > 60) + (light > DARK) + (light > 190)
    ]
    changes = np.flatnonzero((lights > DARK) != (light > DARK))
    if not len(changes):
        return hour
    return f"{hour}, {'dark' if light > DARK else 'light again'} in {steps(int(changes[0]))}"


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


def _in_view(env: Setting, obs: Observation) -> list[str]:
    """Creatures that are seen, with what they stand on."""
    words = []
    for body in obs.bodies:
        if body.kind:
            heading = f", flying {rl.FACINGS[body.heading]}" if body.heading >= 0 else ""
            words.append(
                f"{name_of(env, body)} {from_you(body.row, body.column)} on "
                f"{NAMES[obs.cells[body.row, body.column]]}{heading}"
            )
    return [f"In view: {'; '.join(words)}."] if words else []


def _last_step(env: Setting, state: CraftState, obs: Observation, others: bool) -> list[str]:
    """What happened in the last step: of oneself and to oneself, and with `others`, of those in
    view."""
    own: list[str] = []
    rest: list[str] = []
    me = env.agents[obs.agent]
    for event in known(env, state, obs.agent):
        words = _told(env, state, obs, event, me)
        mine = event.get("agent", me) == me or me in (event.get("to"), event.get("by"))
        if words:
            (own if mine or event["event"] in _HEARD else rest).append(words)
    rest = [*rest[:OTHERS], "..."] if len(rest) > OTHERS else rest
    told = own + rest * others
    return [f"Last step: {'; '.join(told)}."] if told else []


_HEARD = ("asked", "went_down", "died")  # of others, wherever they are


def _told(
    env: Setting, state: CraftState, obs: Observation, event: Mapping[str, Any], me: str
) -> str:
    """An event in words."""
    kind, whose, amount = event["event"], event.get("agent", ""), event.get("amount", 1)
    own = whose == me
    who, thing = "you" if own else whose, spaced(event.get("thing", ""))
    whom, by = (("you" if event.get(key) == me else event.get(key, "")) for key in ("to", "by"))
    if kind == "moved":
        return f"{who} stepped {event['way']}"
    if kind == "turned":  # it may have faced that way already
        return f"{who} did not step, and now face {event['way']} to {faced(env, obs)}"
    if kind in ("collected", "made"):
        verb, what = ("made", article(thing)) if kind == "made" else ("took", thing)
        return f"{who} {verb} {what}{'' if amount else ', and lost it: 9 is the most'}"
    if kind in ("drank", "ate"):
        return f"{who} {kind}" + (f" a {thing}" if kind == "ate" else "")
    if kind in ("struck", "defeated"):
        return (
            f"{who} hit a {thing} for {amount}" if kind == "struck" else f"{who} killed a {thing}"
        )
    if kind == "placed":
        what = "sapling" if thing == "plant" else thing
        return f"{who} placed {article(what)}{'' if own else f' {_where(state, obs, event)}'}"
    if kind == "gave":
        return f"{who} gave {whom} 1 {thing}"
    if kind == "asked":
        return f"{who} asked for {thing}"
    if kind == "helped":
        return f"{who} helped {whom} up"
    if kind == "joined":
        before = next(NAMES[a] for a, b in rl.JOINT.values() if NAMES[b] == thing)
        return f"{who} did {'your' if own else 'its'} part: the {before} is {article(thing)} now"
    if kind == "worked":
        return f"{who} worked on the {thing}: it takes {env.helpers} players in one step"
    if kind == "failed":
        action = event["action"]
        if action == "do" and obs.cells[obs.front] == rl.GRASS and obs.at(obs.front) is None:
            return "you found no sapling"
        return f"{spaced(action)} failed"
    if kind == "hurt":
        if by == "you" or by in env.agents or by in rl.CREATURES:
            return f"{article(by) if by in rl.CREATURES else by} hit {who} (-{amount})"
        return f"{by} cost {who} {amount} health"
    if kind == "healed":
        return "you healed (+1)"
    if kind in ("fell_asleep", "woke", "went_down", "died"):
        verbs = {"fell_asleep": "fell asleep", "woke": "woke up", "went_down": "went down"}
        return f"{who} {verbs.get(kind, 'died')}{' in lava' if by == 'lava' else ''}"
    if kind == "unlocked":
        return f"you unlocked {thing}"
    if kind in ("destroyed", "ripened"):
        happened = "was destroyed" if kind == "destroyed" else "is ripe now"
        return f"the plant {_where(state, obs, event)} {happened}"
    return "the goal is reached" if kind == "goal_reached" else ""


def _where(state: CraftState, obs: Observation, event: Mapping[str, Any]) -> str:
    row, column = np.asarray(state.position)[obs.agent].tolist()
    return direction(event["at"][0] - row, event["at"][1] - column)


_NEEDS = {
    "health": "eat, drink and sleep to recover",
    "food": "eat a cow or a ripe plant",
    "drink": "drink water",
    "energy": "sleep in a safe place",
}


def _vitals(env: Setting, obs: Observation, warn: bool) -> str:
    words = ", ".join(f"{name} {value}" for name, value in obs.vitals.items())
    line = f"You have {words}."
    low = [name for name, value in obs.vitals.items() if value <= LOW]
    if obs.asleep and "energy" in low:
        low.remove("energy")  # nobody who sleeps needs to be told to
    if not warn or not low or obs.alive != rl.ALIVE:
        return line
    hints = []
    for name in low:
        empty = name != "health" and not obs.vitals[name]
        state = "gone and costs health" if empty else "low"
        hints.append(f"{name} is {state}, {_NEEDS[name]}")
    return f"{line} WARNING: {'; '.join(hints)}."


def _bag(obs: Observation) -> str:
    held = [counted(item, number) for item, number in obs.items.items() if number]
    near = [name for name, on in (("a table", obs.table), ("a furnace", obs.furnace)) if on]
    reach = f" Within reach: {listed(near)}." if near else ""
    return f"You carry {', '.join(held) or 'nothing'}.{reach}"


_SEEK = (
    *(rl.TREE, rl.WATER, rl.STONE, rl.COAL, rl.IRON, rl.DIAMOND, rl.TABLE, rl.FURNACE),
    *(rl.RIPE_PLANT, rl.PLANT, rl.GAP, rl.GATE, rl.BEACON, rl.LAVA),
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
    lines = [f"Nearest: {', '.join(found)}."] if found else []
    beside = [(HERE[0] + rows, HERE[1] + columns) for rows, columns in rl.DELTAS]
    dangers = []
    for way, cell in zip(rl.FACINGS, beside, strict=True):
        body = obs.at(cell)
        if obs.cells[cell] == rl.LAVA:
            dangers.append(f"lava next to you ({way}), death to step into")
        if body is not None and body.kind in (rl.ZOMBIE, rl.SKELETON):
            dangers.append(f"a {rl.CREATURES[body.kind - 1]} next to you ({way})")
    if dangers:
        lines.append(f"DANGER: {'; '.join(dangers)}.")
    return lines


def _mate_line(env: Setting, obs: Observation, mate: Mate) -> str:
    """Another player, wherever it is; in view, with what it stands on."""
    name = env.agents[mate.player]
    if mate.alive == UNKNOWN:
        return f"{name} is out of view."
    if mate.alive == rl.DEAD:
        return f"{name} is dead."
    role = f", {article(rl.ROLES[mate.role])}" if mate.role else ""
    state = "asleep, " if mate.asleep else ""
    if mate.alive == rl.DOWN:
        state = f"{state}helpless (help it up), "
    row, column = HERE[0] + mate.rows, HERE[1] + mate.columns
    seen = 0 <= row < ROWS and 0 <= column < COLUMNS
    ground = f" on {NAMES[obs.cells[row, column]]}" if seen else ", out of view"
    request = ""
    if mate.request:
        request = f", asks for {spaced(env.craft.gifts[mate.request - 1])} ({steps(mate.left)})"
    return (
        f"{name}{role}: {direction(mate.rows, mate.columns)}{ground}, {state}"
        f"facing {rl.FACINGS[mate.facing]}, health {mate.health}, food {mate.food}{request}."
    )


def _aims(env: Setting, obs: Observation, explain: bool) -> list[str]:
    """The own request, and the goal."""
    lines = []
    if obs.request:
        asked = spaced(env.craft.gifts[obs.request - 1])
        lines.append(f"You ask for {asked} ({steps(obs.left)}).")
    if obs.goal.kind:
        lines.append(f"Goal: {obs.goal}.")
        letters = ""
        if obs.goal.kind == BUILD and explain and str(obs.goal) not in env.goals:
            letters = "; S stone, T table, F furnace, P plant, _ free ground, . anything"
        corner = "top left cell " if obs.goal.kind == BUILD else ""
        unused = "" if obs.goal.kind == BUILD else " (this goal does not need it)"
        lines.append(f"Building site: {corner}{direction(*obs.site)}{letters}{unused}.")
    if obs.goal.kind == BUILD and explain:
        lines.append(_progress(obs))
    return lines


def _progress(obs: Observation) -> str:
    """What is still to be done at the building site, as far as it is in view."""
    wrong, right, unseen = [], 0, 0
    for y, line in enumerate(obs.goal.plan.split("/")):
        for x, letter in enumerate(line):
            if letter == ".":
                continue
            row, column = HERE[0] + obs.site[0] + y, HERE[1] + obs.site[1] + x
            if not (0 <= row < ROWS and 0 <= column < COLUMNS):
                unseen += 1
            elif int(obs.cells[row, column]) in _PLANNED[letter]:
                right += 1
            else:
                what = "free ground" if letter == "_" else PLAN_LETTERS[letter]
                wrong.append(f"{what} {from_you(row, column)}")
    missing = ", ".join(wrong[:MISSING]) + ", ..." * (len(wrong) > MISSING)
    out = f", {unseen} out of view" * bool(unseen)
    return f"Plan: {right} right{out}{f'; missing: {missing}' if wrong else ''}."


def _next(craft: CraftRules, obs: Observation) -> tuple[str, ...]:
    """The achievements that nothing but effort stands before: those that the goal takes first,
    then those that one action unlocks now, those whose thing is in view, and those that most
    others wait for. A creature that is not in view has to be found: it comes behind them."""
    # What others have given or built is as good as one's own.
    met = {f"{verb}_{item}" for item, n in obs.items.items() if n for verb in ("collect", "make")}
    met |= {"place_table"} if obs.table else set()
    met |= {"place_furnace"} if obs.furnace else set()
    found = _open(craft, obs.done, frozenset(met), obs.role)
    wanted, seen, before = _on_the_way(craft, obs.goal), _in_reach(craft, obs), _waiting(craft)

    def rank(one: tuple[str, str]) -> tuple[bool, bool, bool, int, bool, int]:
        name = one[0]
        ready, far = _ready(craft, obs, name), name not in seen
        hunted = far and name.endswith(rl.CREATURES)
        soon = ready or not far
        return (
            hunted or name not in wanted,
            not ready,
            not soon,
            -before[name],
            name not in wanted,
            _LATE.index(name) if name in _LATE else -1,
        )

    return tuple(words for _, words in sorted(found, key=rank))


def _in_reach(craft: CraftRules, obs: Observation) -> set[str]:
    """The achievements whose material, plant, creature or stations are in view, and waking up for
    who is tired."""
    cells = set(obs.cells.ravel().tolist())
    found = {f"make_{tool}" for tool in craft.contents.makes if cells >= set(craft.make_near(tool))}
    mined = {item for code, (item, _, _) in craft.contents.collect.items() if code in cells}
    mined |= {"sapling"} if rl.GRASS in cells else set()
    found |= {f"collect_{item}" for item in mined}
    found |= {f"place_{what}" for what in rl.PLACES if craft.place_cost(what)[0] in mined}
    found |= {"eat_plant"} if rl.RIPE_PLANT in cells else set()
    for body in obs.bodies:
        if body.kind in range(1, len(rl.CREATURES) + 1):
            kind = rl.CREATURES[body.kind - 1]
            found |= {f"eat_{kind}", f"defeat_{kind}"}
    return found | ({"wake_up"} if obs.vitals["energy"] <= LOW else set())


@functools.lru_cache(maxsize=16)
def _waiting(craft: CraftRules) -> dict[str, int]:
    """For each achievement how many others cannot come before it."""
    needs = requirements(craft)

    @functools.cache
    def behind(name: str) -> frozenset[str]:
        after = [other for other, before in needs.items() if name in before]
        return frozenset(after).union(*map(behind, after))

    return {name: len(behind(name)) for name in needs}


@functools.lru_cache(maxsize=256)
def _on_the_way(craft: CraftRules, goal: Goal) -> frozenset[str]:
    """The achievements that a goal takes, and those before them."""
    needs = requirements(craft)
    if goal.kind == BUILD:
        todo = [f"place_{name}" for letter, name in PLAN_LETTERS.items() if letter in goal.plan]
    else:
        todo = {UNLOCK_ONE: [goal.target], HOLD: [source(goal.target, craft)]}.get(goal.kind, [])
    found: set[str] = set()
    while todo:
        name = todo.pop()
        if name in needs and name not in found:
            found.add(name)
            todo += needs[name]
    return frozenset(found)


def _ready(craft: CraftRules, obs: Observation, achievement: str) -> bool:
    """Whether the player has all that placing or making something costs, and where."""
    verb, _, what = achievement.partition("_")
    if verb == "place":
        item, number = craft.place_cost(what)
        return obs.items[item] >= number
    if verb != "make":
        return False
    reach = {rl.TABLE: obs.table, rl.FURNACE: obs.furnace}
    paid = all(obs.items[item] >= number for item, number in craft.make_cost(what).items())
    return paid and all(reach[code] for code in craft.make_near(what))


@functools.lru_cache(maxsize=4096)
def _open(
    craft: CraftRules, done: tuple[str, ...], met: frozenset[str], role: int
) -> tuple[tuple[str, str], ...]:
    needs, depth = requirements(craft), depths(craft)
    names = [
        name
        for name in sorted(needs, key=lambda n: depth[n])
        if name not in done
        and all(before in done or before in met for before in needs[name])
        and role in (0, _only(craft, name) or role)
    ]
    return tuple((name, spaced(name) + _price(craft, name)) for name in names)


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


def _impossible(env: Setting, obs: Observation, legal: np.ndarray) -> list[str]:
    """Why other actions are not possible; what is so of all of them, once."""
    if obs.helpless(env):
        return [f"- anything else: {why_helpless(obs)}."]
    lines = []
    give, request, gifts = env.craft.give, env.craft.request, env.craft.gifts
    for action in range(min(len(legal), give)):
        if not legal[action]:
            lines.append(f"- {spaced(env.actions[action])}: {why_not(env, obs, action)}.")
    if len(legal) > give and not legal[give:request].any():
        lines.append(f"- give ...: {why_not(env, obs, request - 1)}.")
    elif len(legal) > give:
        short = [spaced(gifts[a - give]) for a in range(give, request) if not legal[a]]
        if short:
            lines.append(f"- give {', give '.join(short)}: {why_not(env, obs, give + 2)}.")
    return lines


# ---- choices -------------------------------------------------------------------------------------


def choices(env: Setting, state: CraftState, agent: int) -> list[Choice]:
    """What each legal action would do now."""
    obs, legal = observe(env, state, agent)
    return offers(env, state, obs, legal)
