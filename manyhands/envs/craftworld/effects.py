"""What actions would do now, and why others are not possible."""

from __future__ import annotations

from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.words import (
    HERE,
    NAMES,
    Observation,
    article,
    cost,
    counted,
    faced,
    listed,
    name_of,
    spaced,
)

# ---- what a legal action does --------------------------------------------------------------------


def effect(env: Setting, obs: Observation, action: int) -> str:
    """What a legal action does."""
    if action == rl.NOOP:
        return "sleep on" if obs.asleep and obs.helpless(env) else "wait"
    if action < rl.DO:
        return _step(env, obs, action - rl.MOVE)
    if action == rl.DO:
        return doing(env, obs)
    if action == rl.SLEEP:
        return f"fall asleep until energy is {rl.MOST} or something hurts you"
    if action < rl.MAKE:
        item, number = env.craft.place_cost(rl.PLACES[action - rl.PLACE])
        return f"costs {counted(item, number)}, onto {faced(env, obs)}"
    if action < env.craft.give:
        return f"costs {cost(env.craft, env.contents.makes[action - rl.MAKE])}"
    if action < env.craft.request:
        body = obs.at(obs.front)
        mate = "the player in front" if body is None else name_of(env, body)
        return f"hand 1 {spaced(env.craft.gifts[action - env.craft.give])} to {mate}"
    return f"let the others see that you need {spaced(env.craft.gifts[action - env.craft.request])}"


def _step(env: Setting, obs: Observation, facing: int) -> str:
    """What a move does."""
    rows, columns = rl.DELTAS[facing]
    cell = HERE[0] + rows, HERE[1] + columns
    body, code = obs.at(cell), int(obs.cells[cell])
    if body is not None:
        return f"turn to {article(name_of(env, body)) if body.kind else name_of(env, body)}"
    if code in rl.WALKABLE:
        return f"step onto {NAMES[code]}"
    if code == rl.LAVA:
        return "step into LAVA and die"
    return "turn to the edge of the world" if code == rl.VOID else f"turn to {article(NAMES[code])}"


def doing(env: Setting, obs: Observation) -> str:
    """What a legal `do` does to the cell in front."""
    body, code = obs.met(env), int(obs.cells[obs.front])
    if body is not None and not body.kind:
        down = obs.mate(body.player).alive == rl.DOWN
        return f"{'help up' if down else 'hit'} {name_of(env, body)}"
    if body is not None:
        return f"hit the {name_of(env, body)}"
    if code == rl.WATER:
        return "drink water"
    if code == rl.GRASS:
        return f"look for a sapling ({env.craft.sapling_chance:.0%} chance)"
    if code == rl.RIPE_PLANT:
        return "eat the ripe plant"
    if code in env.contents.collect:
        what = "the tree" if code == rl.TREE else "the rock"
        return f"take {spaced(env.contents.collect[code][0])} from {what}"
    if code in [before for before, _ in rl.JOINT.values()]:
        return f"work on the {NAMES[code]} ({env.helpers} players at once)"
    return "hit what is behind the arrow"


# ---- why not -------------------------------------------------------------------------------------


def why_helpless(obs: Observation) -> str:
    if obs.alive == rl.DEAD:
        return "you are dead"
    if obs.alive == rl.DOWN:
        if obs.abandoned:
            return "you are down, and nobody is up to help: the episode is over"
        return "you are down, until another player helps you up"
    return "you are asleep, until your energy is full or something hurts you"


def why_not(env: Setting, obs: Observation, action: int) -> str:
    """Why an action that is not legal is not."""
    if obs.helpless(env):
        return why_helpless(obs)
    if action == rl.DO:
        return _nothing_to_do(env, obs)
    if action == rl.SLEEP:
        return f"your energy is {obs.vitals['energy']}, you are not tired"
    if action < rl.MAKE:
        return _cannot_place(env, obs, rl.PLACES[action - rl.PLACE])
    if action < env.craft.give:
        return _cannot_make(env, obs, env.contents.makes[action - rl.MAKE])
    return _cannot_give(env, obs, env.craft.gifts[action - env.craft.give])


def _nothing_to_do(env: Setting, obs: Observation) -> str:
    body, code = obs.met(env), int(obs.cells[obs.front])
    if body is not None and body.kind == rl.COW:
        return "only foragers eat cows"
    if body is not None:
        return f"{faced(env, obs)} is in front of you, and there is nothing to do to it"
    if code in env.contents.collect:
        _, tool, _ = env.contents.collect[code]
        if tool is not None and not obs.items[tool]:
            return f"the {NAMES[code]} in front of you needs {article(spaced(tool))}"
        return "only foragers collect saplings"
    if code == rl.PLANT:
        return "the plant in front of you is not ripe yet"
    if code == rl.RIPE_PLANT:
        return "only foragers eat plants"
    if code == rl.LIT_BEACON:
        return "the beacon is lit already"
    what = "the edge of the world" if code == rl.VOID else article(NAMES[code])
    return f"{what} is in front of you, and there is nothing to do to it"


def _cannot_place(env: Setting, obs: Observation, name: str) -> str:
    craft, lacks = env.craft, []
    item, number = craft.place_cost(name)
    if name == "stone" and obs.role not in (0, rl.MINER):
        return "only miners place stone"
    if obs.items[item] < number:
        lacks.append(f"needs {counted(item, number)}, you have {obs.items[item]}")
    body, code = obs.met(env), int(obs.cells[obs.front])
    if body is not None or code not in craft.place_on(name):
        grounds = listed([rl.MATERIALS[g] for g in craft.place_on(name)], "or")
        lacks.append(f"needs free {grounds} in front, there is {faced(env, obs)}")
    return "; ".join(lacks)


def _cannot_make(env: Setting, obs: Observation, tool: str) -> str:
    craft, lacks = env.craft, []
    role = craft.contents.recipes[tool].role
    if obs.role not in (0, role):
        return f"only {rl.ROLES[role]}s make {tool.rpartition('_')[2]}s"
    missing = {
        item: number - obs.items[item]
        for item, number in craft.make_cost(tool).items()
        if obs.items[item] < number
    }
    if missing:
        lacks.append(listed([f"{number} more {spaced(item)}" for item, number in missing.items()]))
    reach = {rl.TABLE: obs.table, rl.FURNACE: obs.furnace}
    far = [article(rl.MATERIALS[code]) for code in craft.make_near(tool) if not reach[code]]
    if far:
        lacks.append(f"{listed(far)} within reach")
    return f"needs {', and '.join(lacks)}"


def _cannot_give(env: Setting, obs: Observation, gift: str) -> str:
    body = obs.at(obs.front)
    if body is None or body.kind or obs.mate(body.player).alive != rl.ALIVE:
        return "there is no player who is up in front of you"
    have = obs.vitals[gift] if gift in rl.VITALS else obs.items[gift]
    if not have:
        return f"you have no {spaced(gift)} to give"
    return f"{name_of(env, body)} can hold no more {spaced(gift)}"
