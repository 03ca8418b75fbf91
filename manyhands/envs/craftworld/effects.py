"""What actions would do now, and why others are not possible.

An effect is certain where nothing that others may do in the same step, and no chance, can prevent
it. Within a step joint efforts come first, then the players one after the other (nobody knows who
begins), then creatures: so only other players can forestall an action, those beside the cell that
it is about. A player's facts are told of `CraftWorld.to_dict`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from manyhands.core.choices import Choice, Form
from manyhands.core.env import names_of
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.state import CraftState
from manyhands.envs.craftworld.words import (
    HERE,
    NAMES,
    Body,
    Mate,
    Observation,
    article,
    cost,
    counted,
    faced,
    listed,
    name_of,
    spaced,
)

Cell = tuple[int, int]


class Effect(NamedTuple):
    """What an action does.

    Attributes:
        words: in words. certain: whether it happens whatever the others do.
        facts: what then holds of the player, by name in `to_dict`.
        over: whether it ends the episode.
    """

    words: str
    certain: bool
    facts: dict[str, Any]
    over: bool = False


# ---- who may come first --------------------------------------------------------------------------


def _able(env: Setting, mate: Mate) -> bool:
    """Whether another player may act in this step."""
    return mate.alive == rl.ALIVE and (not mate.asleep or env.book.wakes_to_act)


def _beside(env: Setting, obs: Observation, cell: Cell) -> list[str]:
    """The players who may enter a cell of the view in this step, or change it."""
    row, column = cell[0] - HERE[0], cell[1] - HERE[1]
    return [
        env.agents[mate.player]
        for mate in obs.mates
        if _able(env, mate) and abs(mate.rows - row) + abs(mate.columns - column) == 1
    ]


def _facing(env: Setting, obs: Observation, cell: Cell, but: int = -1) -> list[str]:
    """The players who may do something to a cell in this step, all `but` one."""
    row, column = cell[0] - HERE[0], cell[1] - HERE[1]
    found = []
    for mate in obs.mates:
        down, right = rl.DELTAS[mate.facing]
        there = (mate.rows + down, mate.columns + right) == (row, column)
        if there and mate.player != but and _able(env, mate):
            found.append(env.agents[mate.player])
    return found


def _unless(rivals: list[str], what: str) -> str:
    return f", unless {names_of(rivals)} {what}" if rivals else ""


# ---- what a legal action does --------------------------------------------------------------------


def offers(env: Setting, state: CraftState, obs: Observation, legal: np.ndarray) -> list[Choice]:
    """What each legal action would do now."""
    forms = _forms(env, obs, legal)
    return [
        choice(env, state, obs, action, forms.get(action))
        for action in np.flatnonzero(legal).tolist()
    ]


def choice(
    env: Setting, state: CraftState, obs: Observation, action: int, form: Form | None = None
) -> Choice:
    """A legal action, with what it would do."""
    words, certain, own, over = outcome(env, state, obs, action)
    facts = {f"players.{obs.agent}.{name}": value for name, value in own.items()} if certain else {}
    if over and certain:
        facts["over"] = True
    return Choice(
        spaced(env.actions[action]), words, action, certain=certain, facts=facts, form=form
    )


def _forms(env: Setting, obs: Observation, legal: np.ndarray) -> dict[int, Form]:
    """By action, the families of gifts and of requests."""
    craft, gifts = env.craft, env.craft.gifts
    found: dict[int, Form] = {}
    given = [a for a in range(craft.give, craft.request) if a < len(legal) and legal[a]]
    if given:
        things = tuple(spaced(gifts[a - craft.give]) for a in given)
        words = f"{outcome_of_gift(env, obs, given[0]).words}; also {', '.join(things)}"
        found |= dict.fromkeys(given, Form("give {thing}", words, {"thing": things}))
    if len(legal) > craft.request and legal[craft.request]:
        things = tuple(map(spaced, gifts))
        words = f"show all for {craft.request_steps} steps that you need it; also "
        asked = Form("request {thing}", words + ", ".join(things), {"thing": things})
        found |= dict.fromkeys(range(craft.request, craft.request + len(gifts)), asked)
    return found


def outcome(env: Setting, state: CraftState, obs: Observation, action: int) -> Effect:
    """What a legal action does."""
    craft = env.craft
    if action == rl.NOOP:
        if obs.alive == rl.DOWN:
            return Effect("lie, until another player helps you up", False, {})
        if obs.helpless(env):
            return Effect(f"sleep on, until energy is {rl.MOST} or you are hurt", False, {})
        return Effect("wait", True, _stays(state, obs))
    if action < rl.DO:
        return _step(env, state, obs, action - rl.MOVE)
    if action == rl.DO:
        return _doing(env, obs)
    if action == rl.SLEEP:
        return Effect(f"sleep until energy is {rl.MOST} or you are hurt", False, {})
    if action < rl.MAKE:
        return _placing(env, obs, rl.PLACES[action - rl.PLACE])
    if action < craft.give:
        tool = env.contents.makes[action - rl.MAKE]
        lost = " (you hold 9 already)" if obs.items[tool] >= rl.MOST else ""
        return Effect(
            f"costs {cost(craft, tool)}{lost}", True, _holds(env, obs, tool, obs.items[tool] + 1)
        )
    if action < craft.request:
        return outcome_of_gift(env, obs, action)
    return Effect("", True, {"request": craft.gifts[action - craft.request]})


def effect(env: Setting, state: CraftState, obs: Observation, action: int) -> str:
    """What a legal action does, in words."""
    return outcome(env, state, obs, action).words


def _stays(state: CraftState, obs: Observation) -> dict[str, Any]:
    row, column = np.asarray(state.position)[obs.agent].tolist()
    return {"row": row, "column": column, "facing": rl.FACINGS[obs.facing]}


def _holds(env: Setting, obs: Observation, item: str, number: int) -> dict[str, Any]:
    """Facts of an action that comes off, and leaves the player with so many of an item."""
    facts: dict[str, Any] = {"worked": True}
    if number > 0 and not _facing(env, obs, HERE):  # else one may give it another
        facts[f"inventory.{item}"] = min(number, rl.MOST)
    return facts


def _step(env: Setting, state: CraftState, obs: Observation, facing: int) -> Effect:
    """What a move does."""
    down, right = rl.DELTAS[facing]
    cell = HERE[0] + down, HERE[1] + right
    body, code = obs.at(cell), int(obs.cells[cell])
    turn = "stay facing" if facing == obs.facing else "turn to"
    stays = _stays(state, obs) | {"facing": rl.FACINGS[facing]}
    moves = stays | {"row": stays["row"] + down, "column": stays["column"] + right}
    hidden = body is not None and body.kind == rl.ARROW and not env.book.arrows_block
    if body is not None and not hidden:
        return _turn_to(env, obs, body, cell, stays, turn)
    behind = ", unless something is behind the arrow" if hidden else ""
    if code in rl.WALKABLE or code == rl.LAVA:
        rivals = _beside(env, obs, cell)
        behind += _unless(rivals, "gets there first")
        if code != rl.LAVA:
            return Effect(f"step onto {NAMES[code]}{behind}", not behind, moves)
        if env.book.lava_at_once and not behind:
            # Needs come after it, and may bring a point of health back.
            recover = int(np.asarray(state.counters)[obs.agent, rl.RECOVER])
            behind = ", unless you heal in this step" * (recover + 2 > 2 * env.craft.heal)
        dead = {"status": "dead", "row": moves["row"], "column": moves["column"]}
        return Effect(f"step into LAVA and die{behind}", not behind, dead, not obs.mates)
    if code == rl.VOID:
        return Effect(f"{turn} the edge of the world", True, stays)
    at_it = _facing(env, obs, cell)
    waits = code in [before for before, _ in rl.JOINT.values()] and len(at_it) >= env.helpers
    opens = waits or len(at_it) > (0 if code in env.contents.collect and code != rl.WATER else 1)
    if at_it and opens:
        words = f"{turn} {article(NAMES[code])}, or step there if {names_of(at_it)} clears it"
        return Effect(words, False, stays)
    return Effect(f"{turn} {article(NAMES[code])}", True, stays)


def _turn_to(
    env: Setting, obs: Observation, body: Body, cell: Cell, stays: dict[str, Any], turn: str
) -> Effect:
    """What a move against a body does."""
    if not body.kind:
        name, mate = name_of(env, body), obs.mate(body.player)
        if _able(env, mate):
            return Effect(f"{turn} {name}, or step there if it leaves", False, stays)
        return Effect(f"{turn} {name}", True, stays)
    name = article(name_of(env, body))
    killers = _facing(env, obs, cell) if env.book.kills_at_once else []
    if killers:
        return Effect(f"{turn} {name}, or step there if {names_of(killers)} kills it", False, stays)
    return Effect(f"{turn} {name}", True, stays)


def strength(env: Setting, obs: Observation) -> int:
    """How much health a hit takes."""
    craft = env.craft
    most = craft.damage[0]
    for name, damage in zip(env.contents.swords, craft.damage[1:], strict=True):
        swords = obs.items[name] if craft.swords_add_up else min(obs.items[name], 1)
        most = max(most, swords * damage)
    return most * craft.warrior_damage if obs.role == rl.WARRIOR else most


def _doing(env: Setting, obs: Observation) -> Effect:
    """What a legal `do` does to the cell in front."""
    body, code, cell = obs.at(obs.front), int(obs.cells[obs.front]), obs.front
    rivals, worked = _facing(env, obs, cell), {"worked": True}
    first = _unless(rivals, "does so first")
    if body is not None and not body.kind:
        name, mate = name_of(env, body), obs.mate(body.player)
        others = _facing(env, obs, cell, body.player)
        if mate.alive == rl.DOWN:
            first = _unless(others, "does so first")
            words = f"help {name} up, to {env.craft.revive_health} health{first}"
            return Effect(words, not first, worked)
        stays = ", if it stays" if _able(env, mate) else ""
        return Effect(f"hit {name} for {strength(env, obs)}{stays}", not stays, worked)
    hidden = body is not None and body.kind == rl.ARROW and not env.book.arrows_block
    if body is not None and not hidden:
        killed = _unless(rivals if env.book.kills_at_once else [], "kills it first")
        meal = f" ({env.craft.cow_food} food once it falls)" if body.kind == rl.COW else ""
        words = f"hit the {name_of(env, body)} for {strength(env, obs)}{meal}{killed}"
        return Effect(words, not killed, worked)
    if hidden:
        first += ", unless something is behind the arrow"
    if code == rl.WATER:
        most = int(env.caps[obs.agent][rl.DRINK])
        drink = min(obs.vitals["drink"] + 1, most)
        filled = first.replace("does so", "fills it")
        sure = env.craft.thirst and not _facing(env, obs, HERE)
        facts = worked | {"drink": drink} if sure else worked
        return Effect(f"drink, to {drink} of {most}{filled}", not filled, facts)
    if code == rl.GRASS:
        return Effect(f"{env.craft.sapling_chance:.0%} chance of a sapling", False, {})
    if code == rl.RIPE_PLANT:
        return Effect(f"eat the plant: {env.craft.plant_food} food{first}", not first, worked)
    if code in env.contents.collect:
        item = env.contents.collect[code][0]
        lost = " (you hold 9 already)" if obs.items[item] >= rl.MOST else ""
        facts = _holds(env, obs, item, obs.items[item] + 1)
        return Effect(f"take 1 {spaced(item)}{lost}{first}", not first, facts)
    becomes = {before: after for before, after in rl.JOINT.values()}
    if code in becomes:
        words = f"make it {article(NAMES[becomes[code]])}"
        alone = env.helpers == 1 and not obs.asleep
        helpers = "" if alone else f", if {env.helpers} players do it in this step"
        return Effect(words + helpers, alone, worked)
    return Effect("hit what may be behind the arrow", False, {})


def _placing(env: Setting, obs: Observation, name: str) -> Effect:
    item, number = env.craft.place_cost(name)
    ground = NAMES[int(obs.cells[obs.front])]
    first = _unless(_beside(env, obs, obs.front), "gets there first")
    facts = _holds(env, obs, item, obs.items[item] - number)
    return Effect(f"costs {counted(item, number)}, onto {ground}{first}", not first, facts)


def outcome_of_gift(env: Setting, obs: Observation, action: int) -> Effect:
    """What giving does."""
    body = obs.at(obs.front)
    if body is None or body.kind:
        return Effect("hand 1 to what may be in front", False, {})
    name, mate = name_of(env, body), obs.mate(body.player)
    if _able(env, mate):
        return Effect(f"1 to {name}, if it stays", False, {})
    others = _facing(env, obs, obs.front, body.player)
    return Effect(f"1 to {name}{_unless(others, 'fills it')}", not others, {"worked": True})


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
        return "you face no player who could take it"
    have = obs.vitals[gift] if gift in rl.VITALS else obs.items[gift]
    if not have:
        return f"you have no {spaced(gift)} to give"
    return f"{name_of(env, body)} can hold no more {spaced(gift)}"
