"""What happened in the last step (`CraftState.recent`): as events, and as numbers.

| event           | of its `agent`                                     | known to            |
|-----------------|----------------------------------------------------|---------------------|
| `moved`, `turned` | `way`                                            | itself              |
| `collected`     | `thing`, `amount` (0: it holds 9 already)          | who sees it         |
| `drank`, `ate`  | `thing`: water, cow, ripe plant                    | who sees it         |
| `struck`, `defeated` | `thing`: a creature; `amount` of the hit      | who sees it         |
| `placed`        | `thing`, `at` (row, column; others: with a compass) | who sees it        |
| `made`          | `thing`, `amount`                                  | who sees it         |
| `gave`          | `thing`, `to`                                      | who sees it, and `to` |
| `asked`         | `thing`                                            | all                 |
| `helped`        | `to`, who rises                                    | who sees it, and `to` |
| `joined`        | `thing` that the joint effort made                 | who sees it         |
| `worked`        | `thing` that takes more players                    | who sees it         |
| `failed`        | `action` that came to nothing                      | itself              |
| `hurt`          | `by` a creature, arrow, player or need; `amount`   | who sees it, and `by` |
| `healed`, `low` | `amount`; `thing`: a vital that fell to 3 or less  | itself              |
| `fell_asleep`, `woke`, `went_down`, `died` |                         | all                 |
| `unlocked`      | `thing`: an achievement                            | itself              |
| `destroyed`, `ripened` | `thing`: plant; `at`; of no agent           | who sees it         |
| `goal_reached`  | `thing`: the goal; of no agent                     | all                 |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import apart, expand, indices
from manyhands.core.env import Array
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld import state as st
from manyhands.envs.craftworld.cells import read, step_of
from manyhands.envs.craftworld.goals import Goal
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.state import HERE, CraftState

# Of the table above.
KINDS = (
    *("moved", "turned", "collected", "drank", "ate", "struck", "defeated", "placed", "made"),
    *("gave", "asked", "helped", "joined", "worked", "failed", "hurt", "healed", "low"),
    *("fell_asleep", "woke", "went_down", "died", "unlocked", "destroyed", "ripened"),
    "goal_reached",
)
LOW = 3  # a vital at this or less is low
OWN, SEEN, ALL = range(3)  # whom an event is known to
WAITING = {before: after for before, after in rl.JOINT.values()}
NEEDS = {"food": "hunger", "drink": "thirst", "energy": "fatigue"}


class Happening(NamedTuple):
    """An event, and who knows of it: `scope`, and beside it the players `who`."""

    event: dict[str, Any]
    scope: int
    who: tuple[int, ...]
    place: tuple[int, int]


# ---- as events -----------------------------------------------------------------------------------


def last_events(env: Setting, state: CraftState, agent: int | None) -> list[dict[str, Any]]:
    """What happened in the last step, or what one player knows of it, oldest first."""
    if agent is None:
        return [one.event for one in _happenings(env, state)]
    events = known(env, state, agent)
    if env.compass:
        return events
    return [{k: v for k, v in event.items() if k != "at"} for event in events]


def known(env: Setting, state: CraftState, agent: int) -> list[dict[str, Any]]:
    """What one player knows of the last step, with places."""
    row, column = np.asarray(state.position)[agent].tolist()
    found = []
    for one in _happenings(env, state):
        near = abs(one.place[0] - row) <= HERE[0] and abs(one.place[1] - column) <= HERE[1]
        if agent in one.who or one.scope == ALL or (one.scope == SEEN and near):
            found.append(one.event)
    return found


def _happenings(env: Setting, state: CraftState) -> list[Happening]:
    clock, n = int(state.clock), env.num_players
    if clock <= env.start_clock:
        return []
    columns = [column.tolist() for column in st.past(np.asarray(state.recent.players))]
    rows = [st.Past(*row) for row in zip(*columns, strict=True)]
    order = [(clock - 1 + k) % n for k in range(n)]
    found: list[Happening] = []
    for i in order:
        if rows[i].marks & st.JOINT:
            found.append(_of(env, state, i, "joined", SEEN, thing=_before(env, state, i)[0]))
    for i in order:
        found += _deed(env, state, i, rows[i])
    for i in range(n):
        found += _toll(env, state, i, rows[i])
    for i in range(n):
        bits = rows[i].unlocked
        for k, name in enumerate(env.contents.achievements if bits else ()):
            if bits >> k & 1:
                found.append(_of(env, state, i, "unlocked", OWN, thing=name))
    found += _plants(state)
    if 0 < int(state.goal_step) == int(env.played(state.clock)):
        goal = str(Goal.of_row(np.asarray(state.goal), env.craft))
        found.append(Happening({"event": "goal_reached", "thing": goal}, ALL, (), (0, 0)))
    return found


def _of(
    env: Setting,
    state: CraftState,
    i: int,
    event: str,
    scope: int,
    to: int | None = None,
    **facts: Any,
) -> Happening:
    """An event of player `i`, which concerns player `to` as well."""
    row, column = np.asarray(state.position)[i].tolist()
    who = (i,) if to is None else (i, to)
    return Happening({"event": event, "agent": env.agents[i], **facts}, scope, who, (row, column))


def _before(env: Setting, state: CraftState, i: int) -> tuple[str, list[int]]:
    """(the material, [row, column]) of the cell before player `i`."""
    down, right = rl.DELTAS[int(np.asarray(state.facing)[i])]
    row, column = np.asarray(state.position)[i].tolist()
    row, column = row + down, column + right
    inside = 0 <= row < env.height and 0 <= column < env.width
    code = int(np.asarray(state.map)[row, column]) if inside else rl.VOID
    return rl.MATERIALS[code], [row, column]


def _ground(state: CraftState, i: int) -> int:
    """The material that player `i` stands on."""
    row, column = np.asarray(state.position)[i].tolist()
    return int(np.asarray(state.map)[row, column])


def _deed(env: Setting, state: CraftState, i: int, row: st.Past) -> Iterator[Happening]:
    """What a player did."""
    craft, contents = env.craft, env.contents
    action, result, whom, marks = row.action, row.result, row.whom, row.marks
    kept = 0 if marks & st.FULL else 1

    def event(name: str, scope: int = SEEN, **facts: Any) -> Happening:
        return _of(env, state, i, name, scope, **facts)

    if action == rl.NOOP:
        return
    if action < rl.DO:
        yield event("moved" if result else "turned", OWN, way=rl.FACINGS[action - rl.MOVE])
    elif action == rl.SLEEP:
        if not row.changes & st.SLEPT:
            yield event("failed", OWN, action="sleep")
    elif not result:
        there = _before(env, state, i)[0]
        if action == rl.DO and rl.MATERIALS.index(there) in WAITING:
            yield event("worked", thing=there)
        elif not marks & st.JOINT:
            yield event("failed", OWN, action=env.actions[action])
    elif action == rl.DO:
        if result == st.HIT:
            yield _hurt(env, state, whom - 1, env.agents[i], row.strength, i)
        elif result == st.RAISED:
            yield event("helped", to=whom - 1)._replace(
                event={"event": "helped", "agent": env.agents[i], "to": env.agents[whom - 1]}
            )
        elif result >= st.KILLED:
            creature = rl.CREATURES[result - st.KILLED - 1]
            yield event("ate" if creature == "cow" else "defeated", thing=creature)
        elif result >= st.STRUCK:
            creature = rl.CREATURES[result - st.STRUCK - 1]
            yield event("struck", thing=creature, amount=row.strength)
        elif result == rl.RIPE_PLANT:
            yield event("ate", thing="ripe plant")
        elif result == rl.WATER:
            yield event("drank", thing="water")
        else:
            yield event("collected", thing=contents.collect[result][0], amount=kept)
    elif action < rl.MAKE:
        at = _before(env, state, i)[1]
        yield event("placed", thing=rl.PLACES[action - rl.PLACE], at=at)
    elif action < craft.give:
        yield event("made", thing=contents.makes[action - rl.MAKE], amount=kept)
    elif action < craft.request:
        made = event("gave", to=whom - 1, thing=craft.gifts[action - craft.give])
        yield made._replace(event=made.event | {"to": env.agents[whom - 1]})
    else:
        yield event("asked", ALL, thing=craft.gifts[action - craft.request])


def _hurt(
    env: Setting, state: CraftState, i: int, by: str, amount: int, hitter: int | None = None
) -> Happening:
    return _of(env, state, i, "hurt", SEEN, to=hitter, by=by, amount=amount)


def _toll(env: Setting, state: CraftState, i: int, row: st.Past) -> list[Happening]:
    """What befell a player."""
    marks, changes = row.marks, row.changes
    if not (marks >> 2 or changes or row.zombie or row.arrow):
        return []
    vitals = dict(zip(rl.VITALS, np.asarray(state.vitals)[i].tolist(), strict=True))
    needs = []
    if marks & st.HARMED:
        by = [NEEDS[name] for name in NEEDS if not vitals[name]]
        needs.append(_hurt(env, state, i, " and ".join(by) or "fatigue", 1))
    if marks & st.HEALED:
        needs.append(_of(env, state, i, "healed", OWN, amount=1))
    for bit, name in ((st.HUNGRIER, "food"), (st.THIRSTIER, "drink"), (st.WEARIER, "energy")):
        if marks & bit and vitals[name] <= LOW:
            needs.append(_of(env, state, i, "low", OWN, thing=name, amount=vitals[name]))
    hits = [
        _hurt(env, state, i, by, amount)
        for by, amount in (("zombie", row.zombie), ("arrow", row.arrow))
        if amount
    ]
    found = needs + hits if env.book.needs_first else hits + needs
    if changes & st.FELL:
        if int(np.asarray(state.alive)[i]) == rl.DOWN:
            return [*found, _of(env, state, i, "went_down", ALL)]
        died = _of(env, state, i, "died", ALL)
        if _ground(state, i) == rl.LAVA:
            died.event["by"] = "lava"
        return [*found, died]
    if changes & st.WOKE:
        found.append(_of(env, state, i, "woke", ALL))
    if changes & st.SLEPT:
        found.append(_of(env, state, i, "fell_asleep", ALL))
    return found


def _plants(state: CraftState) -> Iterator[Happening]:
    marks = np.asarray(state.recent.plants)
    for slot in np.flatnonzero(marks).tolist():
        row, column = np.asarray(state.plant_place)[slot].tolist()
        name = "destroyed" if marks[slot] == st.DIED else "ripened"
        event = {"event": name, "thing": "plant", "at": [row, column]}
        yield Happening(event, SEEN, (), (row, column))


# ---- whom they concern ---------------------------------------------------------------------------

_MINE = ("hurt", "low", "fell_asleep", "woke", "went_down", "died", "unlocked", "failed")
_OF_OTHERS = ("asked", "joined", "worked", "went_down", "died")
_OF_NOBODY = ("destroyed", "ripened", "goal_reached")


def concerns(env: Setting, state: CraftState, agent: int) -> bool:
    """Whether a player that waits should be asked again: it was hurt, fell or woke up, a vital ran
    low, it unlocked something or what it tried failed; another asks for something, gave it
    something, helped it up, went down or works on what takes several; a plant in view changed; the
    goal was reached; or a zombie or skeleton is beside it."""
    me = env.agents[agent]
    alive = int(np.asarray(state.alive)[agent])
    for event in last_events(env, state, agent):
        kind, whose = event["event"], event.get("agent")
        if whose == me:
            looked = kind == "failed" and _before(env, state, agent)[0] == "grass"
            if kind in _MINE and not looked:
                return True
        elif kind in (_OF_OTHERS if whose else _OF_NOBODY) or event.get("to") == me:
            return True
    if alive != rl.ALIVE or bool(np.asarray(state.asleep)[agent]):
        return False
    kind = np.asarray(state.kind)
    gap = np.abs(np.asarray(state.place).astype(int) - np.asarray(state.position)[agent]).sum(1)
    return bool((((kind == rl.ZOMBIE) | (kind == rl.SKELETON)) & (gap <= 1)).any())


# ---- as numbers ----------------------------------------------------------------------------------

_MATE = ("collected", "drank", "ate", "fought", "placed", "made", "gave", "worked", "hurt")
_MATE_ANYWHERE = ("asked", "fell_asleep", "woke", "went_down", "died")


def event_names(env: Setting) -> tuple[str, ...]:
    """Names of the numbers of `event_codes`."""
    contents = env.contents
    names = ["moved", "failed", "fought", "drank", "ate"]
    names += [f"collected {item}" for item in _gathered(env)]
    names += [f"placed {name}" for name in rl.PLACES]
    names += [f"made {name}" for name in contents.makes]
    names += [f"hurt by {what}" for what in ("zombie", "arrow", "need", "player")]
    names += ["healed", "low food", "low drink", "low energy"]
    names += ["fell asleep", "woke", "went down", "died"]
    names += [f"unlocked {name}" for name in contents.achievements]
    names += ["plant destroyed", "plant ripened", "goal reached"]
    if env.num_players > 1:
        names += ["gave", "asked", "helped", "joined", "worked", "helped up"]
        names += [f"received {gift}" for gift in env.craft.gifts]
    for k in range(1, env.num_players):
        names += [f"other {k}: {name.replace('_', ' ')}" for name in (*_MATE, *_MATE_ANYWHERE)]
    return tuple(names)


def _gathered(env: Setting) -> tuple[str, ...]:
    items = [item for code, (item, _, _) in env.contents.collect.items() if code != rl.WATER]
    return tuple(dict.fromkeys(items))


def event_codes(env: Setting, state: CraftState) -> Array:
    """What happened in the last step as each player knows it, f32[N, K, ...]: 0 or 1, and health
    lost / 9; the others in index order."""
    craft, contents, n, one = env.craft, env.contents, env.num_players, state.clock.ndim
    row = st.past(jnp.asarray(state.recent.players))
    action, result, whom, marks = row.action, row.result, row.whom, row.marks
    changes, alive = row.changes, jnp.asarray(state.alive)
    does, done = action == rl.DO, result > 0
    struck = does & (result >= st.STRUCK) & (result < st.HIT)
    killed = does & (result >= st.KILLED) & (result < st.HIT)
    used = does & done & (result < st.STRUCK)
    ate = (killed & (result == st.KILLED + rl.COW)) | (used & (result == rl.RIPE_PLANT))
    drank = used & (result == rl.WATER)
    gave = (action >= craft.give) & (action < craft.request) & done & (n > 1)
    asked = (action >= craft.request) & done & (n > 1)
    joined = marks & st.JOINT > 0
    worked = jnp.zeros(action.shape, bool)
    if env.has_joint:
        spot = jnp.asarray(state.position).astype(jnp.int32)
        ahead = (spot[:, 0] << 8 | spot[:, 1]) + step_of(jnp.asarray(state.facing))
        cell, inside = env.cell(ahead)
        flat = jnp.asarray(state.map).reshape(-1, *state.map.shape[2:])
        ground = jnp.where(inside, read(flat, cell), rl.VOID)
        waits = jnp.any(jnp.stack([ground == code for code in WAITING]), axis=0)
        worked = does & ~done & waits
    moved = (action >= rl.MOVE) & (action < rl.DO) & done
    slept = changes & st.SLEPT > 0
    tried = (action >= rl.DO) & ~joined & ~worked
    failed = tried & jnp.where(action == rl.SLEEP, ~slept, ~done)
    fell = changes & st.FELL > 0
    down, died = fell & (alive == rl.DOWN), fell & (alive != rl.DOWN)
    woke = (changes & st.WOKE > 0) & ~fell
    index = indices(n, 2 + one, axis=1)
    hit = does & (result == st.HIT)
    aimed = whom[:, None] == index + 1  # [by, of, ...]
    strength = jnp.where(hit, row.strength, 0)
    by_player = jnp.sum(jnp.where(aimed, strength[:, None], 0), axis=0)
    vitals = jnp.asarray(state.vitals)

    def low(bit: int, vital: int) -> Array:
        return (marks & bit > 0) & (vitals[:, vital] <= LOW)

    places = (action >= rl.PLACE) & (action < rl.MAKE) & done
    makes = (action >= rl.MAKE) & (action < craft.give) & done
    collected = []
    for item in _gathered(env):
        codes = [code for code, (name, _, _) in contents.collect.items() if name == item]
        took = jnp.any(jnp.stack([result == code for code in codes]), axis=0)
        collected.append(used & took)
    parts = [moved, failed, struck | hit, drank, ate, *collected]
    parts += [places & (action == rl.PLACE + k) for k in range(len(rl.PLACES))]
    parts += [makes & (action == rl.MAKE + k) for k in range(len(contents.makes))]
    parts += [row.zombie / 9, row.arrow / 9]
    parts += [(marks & st.HARMED > 0) / 9, by_player / 9, marks & st.HEALED > 0]
    parts += [low(st.HUNGRIER, rl.FOOD), low(st.THIRSTIER, rl.DRINK), low(st.WEARIER, rl.ENERGY)]
    parts += [slept, woke, down, died]
    for k in range(len(contents.achievements)):
        parts.append(row.unlocked >> k & 1)

    def sees(place: Array) -> Array:
        """bool[N, K, ...], whether each player sees places, [K, 2, ...]."""
        here = jnp.asarray(state.position).astype(jnp.int32)
        gap = jnp.abs(here[:, None] - place.astype(jnp.int32)[None])
        return (gap[:, :, 0] <= HERE[0]) & (gap[:, :, 1] <= HERE[1])

    plants = jnp.asarray(state.recent.plants)
    for mark in (st.DIED, st.RIPENED):
        there = sees(jnp.asarray(state.plant_place)) & (plants == mark)[None]
        parts.append(jnp.any(there, axis=1))
    reached = (state.goal_step > 0) & (state.goal_step == env.played(state.clock))
    parts.append(jnp.broadcast_to(reached[None], action.shape))
    if n > 1:
        raised = does & (result == st.RAISED)
        parts += [gave, asked, raised, joined, worked]
        parts.append(jnp.any(raised[:, None] & aimed, axis=0))
        for k in range(len(craft.gifts)):
            gift = gave & (action == craft.give + k)
            parts.append(jnp.any(gift[:, None] & aimed, axis=0))
        hurt = (row.zombie + row.arrow + by_player > 0) | (marks & st.HARMED > 0)
        gathers = jnp.any(jnp.stack(collected), axis=0)
        visible = [gathers, drank, ate, struck | hit, places, makes, gave, joined | worked, hurt]
        seen = sees(jnp.asarray(state.position))  # [who, whom, ...]
        for k in range(n - 1):
            other = np.array([k + (k >= i) for i in range(n)])
            chosen = expand(other[:, None] == np.arange(n), one)
            for what in visible:
                parts.append(jnp.any(chosen & seen & what[None], axis=1))
            for what in (asked, slept, woke, down, died):
                parts.append(jnp.any(chosen & what[None], axis=1))
    ready = [jnp.asarray(part).astype(jnp.float32) for part in parts]
    return jnp.stack(apart(*ready), axis=1)
