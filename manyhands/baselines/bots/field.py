"""Players of fields. All are one `Ranger`, which finds its way over what it sees and remembers, and
plays one of `ROLES`; by default the one that its team has."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.bots import field_flag, field_talk
from manyhands.baselines.bots.field_ways import (
    FAR,
    Sight,
    ahead_of,
    around,
    beside,
    distances,
    foes_of,
    marked,
)
from manyhands.core.config import boolean, number, one_of
from manyhands.core.env import Array, DeviceView, Env, SeatError, unwrap
from manyhands.envs.mission.env import Mission
from manyhands.envs.mission.field.observe import codes
from manyhands.envs.mission.field.state import (
    APPLE,
    BOX,
    COIN,
    COLUMNS,
    DIRT,
    DOOR,
    GOAL,
    GOLD,
    GROUPS,
    IRON,
    KEY,
    LOCKED,
    MACHINE,
    PLATE,
    ROWS,
    WALK,
    WATER,
    Plan,
)
from manyhands.envs.mission.ways import exposed

ROLES = (
    *("chaser", "evader", "tagger", "raider", "guard", "seeker", "hider", "walker", "keeper"),
    *("catcher", "fixer", "harvester", "cleaner", "collector", "miner", "meeter", "wanderer"),
)


class Memory(NamedTuple):
    """What a ranger remembers.

    Attributes:
        away: f32[H, W], steps since each cell was in view.
        failed: f32[H, W], how often entering it failed.
        tried: i32[2], the cell that it wanted last, and where it was.
        told: bool[H, W], walls that were told; bool[0, 0] for who does not talk.
    """

    away: Array
    failed: Array
    tried: Array
    told: Array


@dataclasses.dataclass(frozen=True)
class _Fixed:
    """What is compiled of a ranger: all but its noise. `made` is one that was made with these."""

    env: Env
    role: str
    greedy: bool
    talks: bool
    made: Ranger = dataclasses.field(compare=False, repr=False)


@jax.tree_util.register_pytree_node_class
class Ranger:
    """A `DevicePolicy` for fields. A pytree whose leaf is the noise, so that rangers that differ in
    nothing else share one compiled program (`baselines/evaluation/matches.py`).

    Args:
        role: one of `ROLES`; "" for the one that fits the agent's team.
        noise: the share of its actions that are random legal ones.
        greedy: of harvesters and collectors, whether they take all that they can.
        talk: whether a walker tells walls and uses what it hears, where it has a channel (the
            wrapper `chat` around the field) with the field's own phrases.
    """

    def __init__(
        self,
        env: Env,
        role: str = "",
        noise: float = 0.0,
        greedy: bool = False,
        talk: bool = True,
    ):
        self._found = unwrap(env, Mission, SeatError)
        mission = self._found.env
        if mission.kind != "field":
            raise SeatError(
                f"rangers play fields, given the scenario {mission.kind!r}; "
                f"{mission.scripted_policy} plays that one"
            )
        if role:
            one_of("role", role, ROLES)
        self.role, self.noise, self.greedy = role, number("noise", noise, 0, 1), bool(greedy)
        self._layout = codes(mission)
        self.plan = mission.plan
        talks = boolean("talk", talk) and field_talk.Talk.fits(mission.plan, env)
        self.talk = field_talk.Talk(mission.plan, env) if talks else None  # type: ignore[arg-type]
        middle = np.abs(
            np.indices(mission.size) - (np.array(mission.size) / 2 - 0.5)[:, None, None]
        )
        order = middle.sum(0) + np.indices(mission.size)[0] * 0.01
        self.central = order + np.indices(mission.size)[1] * 0.0001
        self._fixed = _Fixed(env, role, self.greedy, talks, self)

    def tree_flatten(self) -> tuple[tuple[Any], _Fixed]:
        return (self.noise,), self._fixed

    @classmethod
    def tree_unflatten(cls, fixed: _Fixed, leaves: tuple[Any]) -> Ranger:
        found = object.__new__(cls)
        found.__dict__.update(fixed.made.__dict__)
        (found.noise,) = leaves
        return found

    def init(self, env: Env, agent: int) -> Memory:
        size = self._found.env.size
        return Memory(
            jnp.full(size, 200.0, jnp.float32),
            jnp.zeros(size, jnp.float32),
            jnp.full(2, -1, jnp.int32),
            jnp.zeros(size if self.talk else (0, 0), bool),
        )

    def apply(
        self, env: Env, agent: int, memory: Memory, key: Array, view: DeviceView
    ) -> tuple[Array, Memory]:
        plan = self.plan
        legal = self._found.lower(view.legal) if self._found.wrappers else view.legal
        tie, chance, which = jax.random.split(key, 3)
        sight, away, failed = self._look(view.perception, memory)
        noise = jax.random.uniform(tie, legal.shape)
        role = self.role or role_of(plan, agent)
        worth = _PLAYS[role](self, agent, sight, noise)
        told, token = memory.told, jnp.int32(0)
        if self.talk and role == "walker":
            tokens = view.vector[-2:].astype(jnp.int32)
            told = told | self.talk.heard(agent, tokens).reshape(told.shape)
            together, token = self.talk.plan(self, agent, sight, told, legal)
            # Who has said nothing yet, but at the start, does not talk.
            mute = (tokens[1] == 0) & (tokens[0] != 0)
            worth = jnp.where(mute, worth, together)
        worth = worth + 0.01 * noise
        astray = jax.random.uniform(chance) < self.noise
        worth = jnp.where(astray, jax.random.uniform(which, legal.shape), worth)
        action = jnp.argmax(jnp.where(legal, worth, -jnp.inf)).astype(jnp.int32)
        here = sight.own["row"] * plan.size[1] + sight.own["column"]
        wanted = jnp.int32(-1)
        for way, (dy, dx) in enumerate(zip(ROWS, COLUMNS, strict=True), start=1):
            if plan.exits is None:
                cell = here + dy * plan.size[1] + dx
                wanted = jnp.where(action == way, cell.astype(jnp.int32), wanted)
        new = Memory(away, failed, jnp.stack([wanted, here.astype(jnp.int32)]), told)
        lifted = self._found.lift(action)
        return (lifted.at[-1].set(token.astype(lifted.dtype)) if self.talk else lifted), new

    def _look(self, row: Array, memory: Memory) -> tuple[Sight, Array, Array]:
        plan, layout = self.plan, self._layout
        names = ("row", "column", *plan.features)
        wide = row.astype(jnp.float32)
        own = dict(zip(names, wide[layout["self"]], strict=True))
        count = 0 if plan.token else plan.bodies - 1
        listed = wide[layout["others"]].reshape(count, -1) if count else jnp.zeros((0, len(names)))
        others = {name: listed[:, k] for k, name in enumerate(names)}
        cells = wide[layout["cells"]].reshape(plan.size)
        doors = wide[layout["doors"]] if plan.groups else jnp.zeros(0)
        away, failed, tried = memory.away, memory.failed, memory.tried
        away = jnp.where(cells >= 0, 0.0, away + 1.0)
        numbers = np.arange(cells.size).reshape(cells.shape)
        here = own["row"] * plan.size[1] + own["column"]
        stuck = (tried[0] >= 0) & (here == tried[1])
        failed = failed + jnp.where(stuck & (numbers == tried[0]), 1.0, 0.0)
        sight = Sight(
            own, others, others["row"] >= 0, doors, cells, away, failed, wide[layout["clock"]][0]
        )
        return sight, away, failed

    # ---- ways ----------------------------------------------------------------------------------

    def price(self, sight: Sight, opened: Any = None) -> Array:
        """f32[H, W]: what it costs to enter each cell; what is not in view may be free."""
        plan = self.plan
        free = sight.cells == -1
        for code in WALK:
            if code in plan.used:
                free = free | (sight.cells == code)
        for group in range(plan.groups):
            open_ = (sight.doors[group] > 0) if opened is None else opened[group]
            free = free | ((sight.cells == DOOR + group) & open_)
        return jnp.where(free, 1.0, FAR)

    def others_at(self, sight: Sight, which: Any = True) -> Array:
        """f32[H, W]: how many of some others in view are on each cell."""
        y, x = np.indices(self.plan.size)
        on = (sight.others["row"][:, None, None] == y) & (
            sight.others["column"][:, None, None] == x
        )
        return jnp.sum(on & jnp.asarray(sight.there & which)[:, None, None], axis=0).astype(
            jnp.float32
        )

    def towards(self, sight: Sight, targets: Array, price: Array) -> tuple[Array, Array]:
        """What staying and each way is worth, f32[A] (verbs are worth nothing), to come to the
        targets, bool[H, W] or f32[H, W] of what reaching each costs more (FAR: no target); and the
        distance of the agent."""
        times = distances(targets, price)
        cost = around(times, price, sight)
        here = cost[0]
        rest = jnp.full(len(self.plan.actions) - 5, -FAR * FAR)
        return jnp.concatenate([-cost, rest]), here

    def acting(self, worth: Array, verb: str, when: Array) -> Array:
        """With a verb that is best when a condition holds."""
        index = self.plan.verbs[verb]
        return worth.at[index].set(jnp.where(when, FAR, worth[index]))


def role_of(plan: Plan, agent: int) -> str:
    """The role that fits an agent's team."""
    team = int(plan.of_team[agent])
    verbs, place = plan.teams[team].verbs, agent - plan.teams[team].first
    effects = {plan.beams[verb].effect for verb in verbs if verb in plan.beams}
    all_effects = {beam.effect for beam in plan.beams.values()}
    if plan.token:
        return "walker"
    if plan.exits is not None:
        return "fixer" if "repair" in verbs else "catcher"
    if "deliveries" in plan.stages:
        return "guard" if place % 2 else "raider"
    if plan.spotting is not None:
        return "hider" if team == plan.spotting[0] else "seeker"
    if "mine" in effects:
        return "miner"
    if any(COIN <= code < COIN + 4 for code in plan.used):
        return "collector"
    if APPLE in plan.used:
        return "cleaner" if "clean" in effects and place % 2 == 0 else "harvester"
    if any(capture.by == team for capture in plan.captures):
        return "chaser"
    if effects & {"freeze", "out", "home"}:
        return "tagger"
    if all_effects & {"freeze", "out", "home"} or plan.captures:
        return "evader"
    if any(end.when == "meet" for end in plan.ends):
        return "meeter"
    if any(end.when == "goal" for end in plan.ends):
        return "keeper"
    return "wanderer"


# ---- roles: what each action is worth ------------------------------------------------------------


def _explore(ranger: Ranger, sight: Sight, price: Array) -> Array:
    """Worth of ways to cells that were longest out of view."""
    old = jnp.where(
        (price < FAR) & (sight.away > 0), 40.0 - 0.5 * jnp.minimum(sight.away, 80.0), FAR
    )
    worth, here = ranger.towards(sight, old, price)
    return jnp.where(here < FAR, worth, jnp.where(jnp.arange(len(worth)) < 5, -FAR, worth))


def _wanderer(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    goal = sight.cells == GOAL
    price = ranger.price(sight)
    worth, here = ranger.towards(sight, goal, price)
    return jnp.where(here < FAR, worth, _explore(ranger, sight, price))


def _hunting(ranger: Ranger, agent: int, sight: Sight, foes: Any, near: Array) -> Array:
    """Worth of ways to cells (`near` each foe) that the mates leave free, or to look for foes."""
    mates = ranger.others_at(sight, ~foes_of(ranger, agent))
    price = ranger.price(sight) + 4.0 * mates + FAR * (ranger.others_at(sight, foes) > 0)
    worth, here = ranger.towards(sight, near & (mates == 0), price)
    return jnp.where(here < FAR, worth, _explore(ranger, sight, price))


def _chaser(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Comes beside the one that is caught, on a side that no mate has."""
    foes = foes_of(ranger, agent)
    return _hunting(ranger, agent, sight, foes, beside(ranger.others_at(sight, foes)))


def _tagger(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Comes beside the nearest foe that can act, and hits it."""
    plan = ranger.plan
    out = sight.others["out"] if "out" in plan.features else jnp.zeros(len(sight.there))
    foes = foes_of(ranger, agent) & (out == 0)
    at = ranger.others_at(sight, foes)
    worth = _hunting(ranger, agent, sight, foes, beside(at))
    gap = jnp.abs(sight.others["row"] - sight.own["row"])
    gap = gap + jnp.abs(sight.others["column"] - sight.own["column"])
    for verb in plan.teams[int(plan.of_team[agent])].verbs:
        beam = plan.beams.get(verb)
        if beam is not None and beam.around:
            near = jnp.any((gap <= beam.around) & sight.there & foes)
            worth = ranger.acting(worth, verb, near)
    return worth


def _evader(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Goes where its foes are far, counted in steps, and has ways out."""
    foes = ranger.others_at(sight, foes_of(ranger, agent))
    price = ranger.price(sight)
    away = jnp.minimum(distances(foes > 0, price), 30.0)
    free = (price < FAR).astype(jnp.float32)
    wide = jnp.pad(free, 1)
    ways = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    good = away + 0.3 * ways - 5.0 * ranger.others_at(sight)
    block = jnp.where(price < FAR, 0.0, FAR)
    worth = around(-good, block, sight)
    rest = jnp.full(len(ranger.plan.actions) - 5, -FAR * FAR)
    return jnp.concatenate([-worth, rest])


def _seeker(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    foes = foes_of(ranger, agent)
    return _hunting(ranger, agent, sight, foes, beside(ranger.others_at(sight, foes)))


def _hider(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Goes where no seeker in view has a line to, far from them, likes corners, and locks boxes
    that it faces."""
    plan = ranger.plan
    foes = ranger.others_at(sight, foes_of(ranger, agent))
    price = ranger.price(sight)
    away = jnp.minimum(distances(foes > 0, price), 20.0)
    away = jnp.where(jnp.any(foes > 0), away, 0.0)
    walls = jnp.pad((price >= FAR).astype(jnp.float32), 1, constant_values=1.0)
    near = walls[:-2, 1:-1] + walls[2:, 1:-1] + walls[1:-1, :-2] + walls[1:-1, 2:]
    solid = (price >= FAR) & (sight.cells >= 0)
    known = sight.there & jnp.asarray(foes_of(ranger, agent))
    watched = jnp.zeros(solid.shape, bool)
    for k in np.flatnonzero(foes_of(ranger, agent)):
        line = exposed(solid, sight.others["row"][k], sight.others["column"][k])
        watched = watched | (known[k] & line)
    nook = 60.0 - 3.0 * near - 2.0 * away + jnp.where(watched, 40.0, 0.0)
    nook = jnp.where((price < FAR) & ((near >= 2) | ~watched), nook, FAR)
    nook = jnp.where(foes > 0, FAR, nook)
    worth, _ = ranger.towards(sight, nook, price + 3.0 * ranger.others_at(sight))
    if "lock" in plan.verbs:
        ahead = ahead_of(sight)
        worth = ranger.acting(worth, "lock", ahead == BOX)
        worth = worth.at[plan.verbs["lock"]].set(
            jnp.where(ahead == LOCKED, -FAR * FAR, worth[plan.verbs["lock"]])
        )
    return worth


def _harvester(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Eats the nearest apple; unless greedy, only where others near it let it grow back."""
    price = ranger.price(sight) + 3.0 * ranger.others_at(sight)
    apples = sight.cells == APPLE
    if not ranger.greedy and len(ranger.plan.growths[0].rates) > 1:
        wide = jnp.pad(apples.astype(jnp.float32), 2)
        rows, columns = apples.shape
        near = sum(
            wide[2 + dy : 2 + dy + rows, 2 + dx : 2 + dx + columns]
            for dy in range(-2, 3)
            for dx in range(-2, 3)
            if 0 < dy * dy + dx * dx <= 4
        )
        keep = apples & (near < 3)
        price = price + jnp.where(keep, 50.0, 0.0)
        apples = apples & (near >= 3)
    worth, here = ranger.towards(sight, apples, price)
    return jnp.where(here < FAR, worth, _explore(ranger, sight, price))


def _cleaner(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Cleans while too much of the water that it sees is dirty, else eats."""
    plan = ranger.plan
    dirt, water = sight.cells == DIRT, sight.cells == WATER
    share = jnp.sum(dirt) / jnp.maximum(jnp.sum(dirt | water), 1)
    river = jnp.any(dirt | water)
    price = ranger.price(sight) + 3.0 * ranger.others_at(sight)
    bank = beside(dirt | water) & (price < FAR)
    verb = next(verb for verb, beam in plan.beams.items() if beam.effect == "clean")
    length = plan.beams[verb].length
    dirty = jnp.zeros((), bool)
    heading = sight.own["heading"].astype(jnp.int32)
    wide = jnp.pad(sight.cells, length, constant_values=-1.0)
    for k in range(1, length + 1):
        y = sight.own["row"].astype(jnp.int32) + k * jnp.asarray(ROWS)[heading] + length
        x = sight.own["column"].astype(jnp.int32) + k * jnp.asarray(COLUMNS)[heading] + length
        dirty = dirty | (wide[y, x] == DIRT)
    # From the bank it turns to the water by walking into it.
    wet = price + jnp.where(dirt | water, -FAR + 1.0, 0.0)
    to_dirt, _ = ranger.towards(sight, dirt, jnp.maximum(wet, 1.0))
    to_bank, there = ranger.towards(sight, bank, price)
    clean = jnp.where(there < 1.0, to_dirt, to_bank)
    clean = clean.at[0].set(jnp.where(there < 1.0, -FAR, clean[0]))
    clean = ranger.acting(clean, verb, dirty)
    eat = _harvester(ranger, agent, sight, noise)
    # Where no river is in view it goes to look at it now and then.
    old = jnp.max(jnp.where(jnp.arange(sight.away.shape[0])[:, None] < 1, sight.away, 0.0)) > 25.0
    look, _ = ranger.towards(sight, jnp.broadcast_to(
        jnp.arange(sight.away.shape[0])[:, None] == 4, sight.away.shape), price)  # fmt: skip
    busy = river & (share > 0.15)
    return jnp.where(busy, clean, jnp.where(old & ~river, look, eat))


def _collector(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Takes coins; unless greedy, only its own."""
    own = sight.cells == COIN + agent
    coins = (sight.cells >= COIN) & (sight.cells < COIN + 4)
    price = ranger.price(sight) + 3.0 * ranger.others_at(sight)
    if ranger.greedy:
        own = coins
    else:
        price = price + jnp.where(coins & ~own, 20.0, 0.0)
    worth, here = ranger.towards(sight, own, price)
    return jnp.where(here < FAR, worth, _explore(ranger, sight, price))


def _miner(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Goes to gold that others are near, or to iron, and strikes it."""
    plan = ranger.plan
    mates = ranger.others_at(sight)
    price = ranger.price(sight) + 3.0 * mates
    gold, iron = sight.cells == GOLD, sight.cells == IRON
    y, x = np.indices(plan.size)
    gap = jnp.abs(sight.others["row"][:, None, None] - y)
    gap = gap + jnp.abs(sight.others["column"][:, None, None] - x)
    gap = jnp.min(jnp.where(sight.there[:, None, None], gap, FAR), axis=0)
    # Gold is worth the way that it takes both; all who see the same go to the same.
    extra = jnp.where(gold, gap, jnp.where(iron, 6.0, FAR))
    extra = jnp.minimum(jnp.where(gold & (gap >= FAR), FAR, extra), FAR)
    solid = jnp.where(gold | iron, 1.0, price)
    worth, _ = ranger.towards(sight, extra, solid)
    worth = worth.at[0].set(jnp.where(worth[0] > -FAR, worth[0] - 2.0, worth[0]))
    ahead = ahead_of(sight)
    near = jnp.any((gap <= 3) & gold & marked(sight, plan))
    strike = (ahead == IRON) | ((ahead == GOLD) & near)
    worth = ranger.acting(worth, next(iter(plan.beams)), strike)
    none = jnp.all(worth[:5] <= -FAR)
    return jnp.where(none, _explore(ranger, sight, price), worth)


def _meeter(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Goes to the free cell that is nearest to the middle, as far as is known."""
    price = ranger.price(sight)
    known_wall = (price >= FAR) & (sight.cells >= 0)
    # What it saw as a wall before is one still.
    order = jnp.asarray(ranger.central, jnp.float32)
    free = ~known_wall & (sight.failed < 1)
    best = jnp.argmin(jnp.where(free, order, FAR))
    target = jnp.arange(free.size).reshape(free.shape) == best
    worth, _ = ranger.towards(sight, target, price + 2.0 * sight.failed)
    return worth


def _keeper(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Fetches keys and opens their doors; stands on a plate while the other passes, and comes
    after when the other stands on the plate beyond."""
    plan = ranger.plan
    alone = plan.bodies == 1
    y, x = np.indices(plan.size)
    me = (sight.own["row"] == y) & (sight.own["column"] == x)
    mate = (ranger.others_at(sight) > 0) if not alone else jnp.zeros(plan.size, bool)
    plates_of = [sight.cells == PLATE + g for g in range(plan.groups)]
    held_by = [(jnp.any(me & plate), jnp.any(mate & plate)) for plate in plates_of]
    fixed = [(sight.doors[g] > 0) & ~held_by[g][0] & ~held_by[g][1] for g in range(plan.groups)]
    now = [fixed[g] | held_by[g][1] for g in range(plan.groups)]
    carry = sight.own["carry"] if "carry" in plan.features else jnp.float32(0)
    mine = [carry == KEY + g for g in range(plan.groups)]
    usual = ranger.price(sight, fixed) if plan.groups else ranger.price(sight)
    current = ranger.price(sight, now) if plan.groups else usual
    goal = sight.cells == GOAL
    from_goal = distances(goal, usual)
    here = jnp.min(jnp.where(me, from_goal, FAR))
    there = jnp.float32(0) if alone else jnp.min(jnp.where(mate, from_goal, FAR))
    to_goal, open_now = ranger.towards(sight, goal, current)

    # As near to the goal as the doors let one come, if all were open.
    open_all = ranger.price(sight, [jnp.bool_(True)] * plan.groups) if plan.groups else usual
    reach = distances(me, usual) < FAR
    wait = jnp.where(reach & (sight.cells != GOAL), distances(goal, open_all) * 3.0, FAR)
    waiting, _ = ranger.towards(sight, jnp.minimum(wait, FAR), usual)

    plates = jnp.zeros(plan.size, bool)
    for g in range(GROUPS):
        if PLATE + g in plan.used:
            blocked = jnp.any(sight.cells == DOOR + g) & ~fixed[g]
            plates = plates | ((sight.cells == PLATE + g) & blocked)
    # Of several plates the one nearest to the goal that can be reached.
    best = jnp.where(plates & reach, distances(goal, open_all), FAR)
    plate = plates & reach & (best <= jnp.min(best))
    to_plate, _ = ranger.towards(sight, plate, usual)
    any_plate = jnp.any(plate)

    closed_here, closed_there = here >= FAR, there >= FAR
    holds = closed_here & closed_there & (agent == 0) & any_plate
    worth = jnp.where(closed_here, jnp.where(holds, to_plate, waiting), to_goal)
    worth = jnp.where(closed_here & ~holds & (open_now < FAR), to_goal, worth)
    worth = jnp.where(~closed_here & closed_there & any_plate, to_plate, worth)

    if KEY in plan.used or KEY + 1 in plan.used or KEY + 2 in plan.used:
        keys = (sight.cells >= KEY) & (sight.cells < KEY + GROUPS)
        mate_near = distances(mate, usual) if not alone else jnp.full(plan.size, FAR)
        own_near = distances(me, usual)
        first = (own_near < mate_near) | ((own_near == mate_near) & (agent == 0))
        fetch = keys & first & (carry == 0) & (own_near < FAR)
        to_key, _ = ranger.towards(sight, fetch, usual)
        worth = jnp.where(jnp.any(fetch), to_key, worth)
        for g in range(plan.groups):
            door = sight.cells == DOOR + g
            to_door, away = ranger.towards(sight, door, jnp.where(door, 1.0, usual))
            worth = jnp.where(mine[g] & (away < FAR), to_door, worth)
    return worth


# ---- rooms ---------------------------------------------------------------------------------------


def _room_ways(ranger: Ranger, sight: Sight) -> Array:
    """bool[R, R]: exits that are open."""
    plan = ranger.plan
    assert plan.exits is not None and plan.gates is not None
    ways = jnp.asarray(plan.exits)
    for group in range(plan.groups):
        ways = ways & (jnp.asarray(plan.gates != group + 1) | (sight.doors[group] > 0))
    return ways


def _room_distances(ways: Array) -> Array:
    """f32[R, R]: steps between rooms."""
    count = ways.shape[0]
    steps = jnp.where(ways, 1.0, FAR)
    steps = jnp.where(jnp.eye(count, dtype=bool), 0.0, steps)
    for _ in range(int(np.ceil(np.log2(count)))):
        steps = jnp.minimum(steps, jnp.min(steps[:, :, None] + steps[None], axis=1))
    return steps


def _room_worth(ranger: Ranger, sight: Sight, value: Array) -> Array:
    """f32[A]: of staying and going, by the value f32[R] of the room that one is in then."""
    own = sight.own["column"].astype(jnp.int32)
    rest = jnp.full(len(ranger.plan.actions) - 1 - len(value), -FAR * FAR)
    return jnp.concatenate([value[own][None], value, rest])


def _catcher(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Goes to the room of the thief, but the second one to a room beside it, from the other
    side."""
    ways = _room_ways(ranger, sight)
    steps = _room_distances(ways)
    foes = foes_of(ranger, agent)
    prey = sight.others["column"][int(np.flatnonzero(foes)[0])].astype(jnp.int32)
    mates = np.flatnonzero(~foes)
    value = -steps[:, prey]
    if len(mates) and agent % 2:
        mate = sight.others["column"][int(mates[0])].astype(jnp.int32)
        # Where the thief goes if the other comes: rooms beside it that are far from the other.
        flight = jnp.where(ways[prey], jnp.abs(jnp.arange(len(value)) - mate), -1.0)
        target = jnp.argmax(flight)
        value = jnp.where(flight[target] > 0, -steps[:, target], value)
    return _room_worth(ranger, sight, value + noise[: len(value)] * 0.5)


def _fixer(ranger: Ranger, agent: int, sight: Sight, noise: Array) -> Array:
    """Repairs the nearest broken generator of those that it and the others divide, leaves rooms
    that the killer can reach, and goes to the goal when all are repaired."""
    steps = _room_distances(_room_ways(ranger, sight))
    foes = np.flatnonzero(foes_of(ranger, agent))
    cells = sight.cells[0]
    own = sight.own["column"].astype(jnp.int32)
    killer = sight.others["column"][int(foes[0])].astype(jnp.int32)
    danger = steps[killer]
    broken = cells == MACHINE
    order = jnp.where(broken, steps[own] - 4.0 * danger, FAR)
    pick = jnp.argmin(order)
    target = jnp.where(jnp.any(broken), pick, jnp.argmax(cells == GOAL))
    value = -steps[:, target] - jnp.where(danger <= 1, 20.0, jnp.where(danger <= 2, 1.5, 0.0))
    worth = _room_worth(ranger, sight, value + 0.1 * noise[: len(value)])
    fix = (cells[own] == MACHINE) & (danger[own] > 1)
    return ranger.acting(worth, "repair", fix)


_PLAYS = {
    "chaser": _chaser,
    "evader": _evader,
    "tagger": _tagger,
    "raider": field_flag.raider,
    "guard": field_flag.guard,
    "seeker": _seeker,
    "hider": _hider,
    "walker": field_talk.silent,
    "keeper": _keeper,
    "catcher": _catcher,
    "fixer": _fixer,
    "harvester": _harvester,
    "cleaner": _cleaner,
    "collector": _collector,
    "miner": _miner,
    "meeter": _meeter,
    "wanderer": _wanderer,
}
assert tuple(_PLAYS) == ROLES
