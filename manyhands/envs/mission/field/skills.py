"""The skills of fields: pure functions of what an agent sees. What it does not see may be free."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.envs.mission.field.events import body_name
from manyhands.envs.mission.field.look import letter
from manyhands.envs.mission.field.observe import codes
from manyhands.envs.mission.field.state import (
    APPLE,
    BASE,
    BOX,
    BUTTON,
    CELLS,
    CLEAR,
    COIN,
    COLUMNS,
    DIRT,
    DOOR,
    FLAG,
    FLOOR,
    GOAL,
    GOLD,
    IRON,
    KEY,
    LOCKED,
    MACHINE,
    PLATE,
    ROWS,
    WALK,
)
from manyhands.envs.mission.planning import (
    BODY,
    DONE,
    NONE,
    POSSIBLE,
    UNABLE,
    Details,
    Table,
    counted,
    plan,
)
from manyhands.envs.mission.ways import FAR, at, beside, cells, distances, exposed

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission


_STAYS = re.compile(r"\b(?:stay|stand|wait|remain)(?:ing)? (?:on|at)\b", re.IGNORECASE)


class Seen(NamedTuple):
    """What an agent sees: its own row, column and number; whether it can act; its features; rows,
    columns of all bodies (-1: not in view, or itself) and their teams; which are of other teams;
    open doors; codes i32[H, W]; steps that each generator was worked on, i32[H W]."""

    row: Array
    column: Array
    me: Array
    able: Array
    own: dict[str, Array]
    rows: Array
    columns: Array
    foes: Array
    doors: Array
    cells: Array
    work: Array


_LETTER = re.compile(r"\b(follow|chase|pursue|hunt|after|with) ([a-j])(?=\W*$)")
_MATE = re.compile(r"\bmy (?:partner|mate|team-?mate)\b(?!')")
_OURS = re.compile(r"\b(?:our|my)(?: own)? (flag|base)\b")
_THEIRS = re.compile(r"\b(?:their|(?:the )?(?:enemy|opponent)(?:'s|s')?) (flag|base)\b")


def skill_set(mission: Mission) -> FieldSkills:
    """The skills of a field."""
    return FieldSkills(mission)


class FieldSkills(Table):
    """In table order, as far as a field has them: `go to` each kind of thing or each room; `open
    door`; `bring the flag home`; verbs with their aim (`clean water`, `mine gold`, `lock a box`,
    `zap NAME`, `repair a generator`, `press the button of door 1`, `drop the key`); `follow NAME`;
    `flee`; `hide`; `explore`; `wait`; single actions."""

    def __init__(self, mission: Mission):
        self._mission, self._plan = mission, mission.plan
        self._layout = codes(mission)
        self._bodies = [body_name(self._plan, k) for k in range(self._plan.bodies)]
        self._kinds = self._things()
        names: dict[str, list[str]] = {}
        self._list(names)
        waits = [f"(wait|stay) [here] for {body}" for body in self._bodies]
        super().__init__(names, self._plan.actions, also={"wait": waits})

    def _things(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names of what one can go to on a grid, with codes."""
        plan = self._plan
        if plan.exits is not None:
            return []
        found: list[tuple[str, tuple[int, ...]]] = [("goal", (GOAL,)), ("apple", (APPLE,))]
        found += [(f"coin of {self._bodies[k]}", (COIN + k,)) for k in range(min(4, plan.agents))]
        for group in range(3):
            for name, base in (("key", KEY), ("plate", PLATE), ("button", BUTTON)):
                found.append((f"{name} {group + 1}", (base + group,)))
        for k, team in enumerate(plan.teams[:2]):
            found += [(f"flag of {team.name}", (FLAG + k,))]
            found += [(f"base of {team.name}", (BASE + k, FLAG + k))]
        return [(name, kinds) for name, kinds in found if set(kinds) & set(plan.used)]

    def _list(self, names: dict[str, list[str]]) -> None:
        """All names, in the order of `plans`."""
        plan, the = self._plan, "[(the|a|an|my|nearest)] [nearest]"
        go = "(go|walk|move|run|head) [over] to"
        for name, _ in self._kinds:
            names[f"go to {name}"] = [
                f"({go}|[go [and]] (take|get|eat|fetch|reach|grab|collect|pick up|harvest|steal"
                "|capture|snatch)|(go|head|run) for|[go] back to|stand by"
                f"|step on|stand on|stay on|wait on|wait at|stay at) {the} {other}"
                for other in self._called(name)
            ]
        for room in plan.room_names if plan.exits is not None else ():
            names[f"go to room {room}"] = [f"{go} [the] room {room}"]
        for group in self._key_doors():
            number = f"[{group + 1}]" if len(self._key_doors()) == 1 else f"{group + 1}"
            names[f"open door {group + 1}"] = [
                f"(open|unlock|go through) [the] door {number} [with (my|the) key]"
            ]
        if "deliveries" in plan.stages:
            teams = "|".join(team.name for team in plan.teams)
            names["bring the flag home"] = [
                f"(bring|carry|take) [(the|their)] flag [of ({teams})] (home|back)"
            ]
        for verb, what, _ in self._strikes():
            also = "(water|river|dirt|dirty water)" if what == "water" else what
            # Several may have to strike one ore.
            said = "(mine|dig|dig for|dig up|strike|hit)" if verb == "mine" else verb
            beside = "[[together] with [the] (other|others|team|rest|everyone|everybody)]"
            names[f"{verb} {what}"] = [f"{said} {the} {also} [ore] {beside}"]
        for verb in self._aimed():
            for body in self._bodies:
                names[f"{verb} {body}"] = []
        if "repair" in plan.verbs:
            names["repair a generator"] = [f"(repair|fix) {the} generator"]
        for group in range(plan.groups if "press" in plan.verbs else 0):
            names[f"press button {group + 1}"] = [
                f"(press|push|use) {the} button [(of|for) [the] door] {group + 1}"
            ]
        if "drop" in plan.verbs:
            names["drop the key"] = ["(drop|put down) (the|my) key"]
        if not plan.token:
            for body in self._bodies:
                names[f"follow {body}"] = [
                    f"({go}|chase|pursue|hunt|(go|run) after|(go|stick|stay) with|trail) {body}"
                ]
            if plan.bodies > 1:
                foes = "".join(f"|[the] {team.member}" for team in plan.teams if team.mind)
                names["flee"] = [
                    "(flee|run away|escape|get away) [from (them|[all] [the] others|everybody"
                    f"|everyone|all{foes})]"
                ]
                if plan.lines:
                    names["hide"] = ["hide [from (them|all)]"]
        if plan.exits is None and (plan.radius is not None or plan.masks):
            names["explore"] = ["(explore|look around|search) [(the field|further)]"]

    def _called(self, name: str) -> list[str]:
        """Ways to call a thing: "key 1", "key of door 1", and if there are no others "key"."""
        kind, _, number = name.rpartition(" ")
        thing, of, team = name.partition(" of ")
        if of and thing != "coin":
            marks = {f"flag of {own.name}": CELLS[FLAG + k].mark
                     for k, own in enumerate(self._plan.teams[:2])}  # fmt: skip
            mark = [marks[name].lower()] if name in marks else []
            return [name, f"{team} {thing}", f"{thing} (of|from) [the] {team} team", *mark]
        if not number.isdigit():
            return [name]
        alone = sum(other.startswith(f"{kind} ") for other, _ in self._kinds) == 1
        return [name, f"{kind} (of|for|to) [the] door {number}", *([kind] if alone else [])]

    def _key_doors(self) -> list[int]:
        plan = self._plan
        grids = range(plan.groups) if plan.exits is None else ()
        return [group for group in grids if {KEY + group, DOOR + group} <= set(plan.used)]

    def _strikes(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """(verb, what it is for, codes) of verbs that work on cells ahead."""
        plan = self._plan
        found: list[tuple[str, str, tuple[int, ...]]] = []
        if plan.exits is not None:
            return []
        for verb, beam in plan.beams.items():
            if beam.effect == "clean" and verb in plan.verbs:
                found.append((verb, "water", (DIRT,)))
            if beam.effect == "mine" and verb in plan.verbs:
                ores = (("iron", IRON), ("gold", GOLD))
                found += [(verb, name, (ore,)) for name, ore in ores if ore in plan.used]
        if "lock" in plan.verbs:
            found += [("lock", "a box", (BOX,)), ("unlock", "a box", (LOCKED,))]
        return found

    def _aimed(self) -> list[str]:
        """Verbs that work on bodies."""
        plan = self._plan
        return [
            verb
            for verb, beam in plan.beams.items()
            if beam.effect in ("out", "freeze", "home") and verb in plan.verbs
        ]

    def addressed(self, text: str, me: int) -> str:
        """A sentence with names for the letters of bodies, for "my partner", where there is but
        one, and for "our flag" and "their flag"."""
        plan = self._plan
        if plan.token:
            return text
        own = plan.of_team[me]
        letters = {letter(k).lower(): body for k, body in enumerate(self._bodies) if k != me}
        text = _LETTER.sub(lambda found: f"{found[1]} {letters.get(found[2], found[2])}", text)
        mates = [k for k in range(plan.bodies) if k != me and plan.of_team[k] == own]
        if len(mates) == 1:
            text = _MATE.sub(self._bodies[mates[0]], text)
        if len(plan.teams) == 2:
            names = plan.teams[own].name, plan.teams[1 - own].name
            text = _OURS.sub(lambda found: f"{found[1]} of {names[0]}", text)
            text = _THEIRS.sub(lambda found: f"{found[1]} of {names[1]}", text)
        return text

    def parse(
        self, text: str, perception: np.ndarray | None = None, current: int | None = None
    ) -> int | None:
        found = super().parse(text, perception, current)
        if found is None or perception is None or found >= self.wait or not _STAYS.search(text):
            return found
        # "I stay on the plate" of who is on it.
        why = int(np.asarray(self._compiled(np.asarray(perception)).why)[found])
        return self.wait if why == DONE else found

    def reason(self, skill: int, why: int, perception: np.ndarray) -> str:
        name = self.names[skill]
        row = np.asarray(perception)[self._layout["self"]].tolist()
        own = dict(zip(("row", "column", *self._plan.features), row, strict=True))
        if why == UNABLE and (own["row"] < 0 or own.get("out")):
            return "you cannot act now"
        kind, _, thing = name.partition(" ")
        if why == UNABLE and (kind in self._plan.beams or kind in ("lock", "unlock")):
            return f"you cannot {kind} {'a box' if thing == 'a box' else thing} now"
        if kind == "step:" and thing in self._plan.beams and own.get("cool"):
            return f"you can do it again in {own['cool']} step{'s' * (own['cool'] != 1)}"
        if why == NONE:
            if name == "bring the flag home":
                return "you carry no flag"
            if name.startswith("open door "):
                return f"you do not carry the key of door {name.rsplit(' ', 1)[-1]}"
            if name == "repair a generator":
                return "all generators are repaired"
            if name == "explore":
                return "you see all of the field"
            if name in ("flee", "hide"):
                return f"you see nobody to {name} from"
            if thing in self._bodies:
                return f"you do not see {thing}"
        return super().reason(skill, why, perception)

    # ---- what is seen -------------------------------------------------------------------------

    def _look(self, perception: Array) -> Seen:
        plan, layout = self._plan, self._layout
        row = perception.astype(jnp.int32)
        names = ("row", "column", *plan.features)
        own = dict(zip(names, row[layout["self"]], strict=True))
        me = row[layout["number"]][0] if plan.numbered else jnp.int32(0)
        numbers = np.arange(plan.bodies)
        rows = columns = jnp.full(plan.bodies, -1, jnp.int32)
        if "others" in layout:
            listed = row[layout["others"]].reshape(-1, len(names))
            slot = jnp.clip(numbers - (numbers > me), 0, plan.bodies - 2)
            others = numbers != me
            rows = jnp.where(others, listed[slot, 0], -1)
            columns = jnp.where(others, listed[slot, 1], -1)
        team = jnp.asarray(plan.of_team)
        doors = row[layout["doors"]] > 0 if plan.groups else jnp.zeros(0, bool)
        grid = row[layout["cells"]].reshape(plan.size)
        able = own["row"] >= 0
        if "out" in own:
            able = able & (own["out"] == 0)
        work = row[layout["work"]] if "work" in layout else jnp.zeros(grid.size, jnp.int32)
        foes = team != team[me]
        return Seen(
            own["row"], own["column"], me, able, own, rows, columns, foes, doors, grid, work
        )

    def _one_of(self, seen: Seen, kinds: Sequence[int]) -> Array:
        found = jnp.zeros(self._plan.size, bool)
        for code in kinds:
            if code in self._plan.used:
                found = found | (seen.cells == code)
        return found

    def _bodies_on(self, seen: Seen, which: Array | np.ndarray) -> Array:
        """bool[H, W]: where some of the bodies in view are."""
        y, x = cells(self._plan.size)
        on = (seen.rows[:, None, None] == y) & (seen.columns[:, None, None] == x)
        return jnp.any(on & jnp.asarray(which)[:, None, None], axis=0)

    def _legal(self, seen: Seen) -> Array:
        """bool[A]: as the rules have it, from what is seen."""
        plan = self._plan
        here = at(seen.cells, seen.row, seen.column)
        listed: dict[str, Array] = {"stay": jnp.bool_(True)}
        if plan.exits is None:
            for name, cell in zip(plan.actions[1:5], self._cells_around(seen), strict=True):
                inside, code = cell
                free = inside
                if not (plan.token or "heading" in plan.features):
                    walks = jnp.isin(code, jnp.asarray((*WALK, BOX)))
                    for group in range(plan.groups):
                        opens = seen.doors[group]
                        if "carry" in plan.features:
                            opens = opens | (seen.own["carry"] == KEY + group)
                        walks = walks | ((code == DOOR + group) & opens)
                    free = free & walks
                listed[name] = free
        else:
            ways = self._exits(seen)
            for k, name in enumerate(plan.actions[1 : 1 + plan.moves]):
                listed[name] = ways[seen.column, k]
        if "press" in plan.verbs:
            listed["press"] = (here >= BUTTON) & (here < BUTTON + plan.groups)
        if "repair" in plan.verbs:
            listed["repair"] = here == MACHINE
        if "drop" in plan.verbs:
            carry = seen.own["carry"]
            listed["drop"] = (carry >= KEY) & (carry < KEY + plan.groups) & (here == FLOOR)
        if "lock" in plan.verbs:
            ahead = self._ahead(seen)
            listed["lock"] = (ahead == BOX) | (ahead == LOCKED)
        for verb, beam in plan.beams.items():
            listed[verb] = seen.own["cool"] == 0 if beam.cooldown else jnp.bool_(True)
        found = jnp.stack([listed[name] & (seen.able | (k == 0))
                           for k, name in enumerate(plan.actions)])  # fmt: skip
        return found & jnp.asarray(plan.able)[seen.me]

    def _cells_around(self, seen: Seen) -> list[tuple[Array, Array]]:
        """(whether it is on the field, code) of the cells north, south, west, east."""
        rows, columns = self._plan.size
        found = []
        for dy, dx in zip(ROWS, COLUMNS, strict=True):
            y, x = seen.row + dy, seen.column + dx
            inside = (y >= 0) & (y < rows) & (x >= 0) & (x < columns)
            code = seen.cells[jnp.clip(y, 0, rows - 1), jnp.clip(x, 0, columns - 1)]
            found.append((inside, jnp.where(inside, code, -1)))
        return found

    def _ahead(self, seen: Seen) -> Array:
        """The code of the cell that one faces; -1 beyond the edge."""
        return jnp.stack([code for _, code in self._cells_around(seen)])[seen.own["heading"]]

    # ---- plans --------------------------------------------------------------------------------

    def plans(self, perception: Array) -> tuple[list[Details], Array]:
        seen = self._look(perception)
        legal = self._legal(seen)
        found = self._in_rooms(seen) if self._plan.exits is not None else self._on_grid(seen)
        found = [row._replace(why=jnp.where(seen.able | (row.why == DONE), row.why, UNABLE))
                 for row in found]  # fmt: skip
        return found, legal

    def _price(self, seen: Seen) -> Array:
        """f32[H, W]: what entering each cell costs."""
        free = (seen.cells == -1) | self._one_of(seen, WALK)
        for group in range(self._plan.groups):
            free = free | ((seen.cells == DOOR + group) & seen.doors[group])
        if self._plan.conflict == "share":  # nobody is in the way
            return jnp.where(free, 1.0, FAR)
        everyone = np.ones(self._plan.bodies, bool)
        return jnp.where(free, 1.0 + BODY * self._bodies_on(seen, everyone), FAR)

    def _costs(self, seen: Seen, targets: Array, price: Array) -> Array:
        """f32[K, 5]: of staying and of going each way, for targets [K, H, W]."""
        times = distances(targets, price)
        around = jnp.moveaxis(beside(times + price), -1, -3)
        here = at(times, seen.row, seen.column)
        return jnp.concatenate([here[:, None], at(around, seen.row, seen.column)], axis=1)

    def _on_grid(self, seen: Seen) -> list[Details]:
        plan_, price = self._plan, self._price(seen)
        things = [self._one_of(seen, kinds) for _, kinds in self._kinds]
        doors = [seen.cells == DOOR + group for group in self._key_doors()]
        found = [
            plan(cost, cost[0], done=(cost[0] <= 0) | self._has(seen, kinds), there=jnp.any(thing))
            for (_, kinds), thing, cost in zip(
                self._kinds, things, self._all(seen, things, price), strict=True
            )
        ]
        for group, door in zip(self._key_doors(), doors, strict=True):
            cost = self._costs(seen, door[None], jnp.where(door, 1.0, price))[0]
            has = seen.own["carry"] == KEY + group
            opened = seen.doors[group]
            found.append(plan(cost, cost[0], done=opened, there=jnp.any(door) & has))
        if "deliveries" in plan_.stages:
            team = jnp.asarray(plan_.of_team)[seen.me]
            homes = [self._one_of(seen, (BASE + k, FLAG + k)) for k in range(2)]
            home = jnp.where(team == 0, homes[0], homes[1])
            cost = self._costs(seen, home[None], price)[0]
            found.append(plan(cost, cost[0], there=seen.own["carry"] > 0))
        for verb, _, kinds in self._strikes():
            name = "lock" if verb == "unlock" else verb
            found.append(self._strike(seen, self._one_of(seen, kinds), price, name))
        for verb in self._aimed():
            for k in range(plan_.bodies):
                found.append(self._aim(seen, k, price, verb))
        if "drop" in plan_.verbs:
            found.append(Details(plan_.verbs["drop"], jnp.int32(POSSIBLE), jnp.int32(0)))
        if plan_.token:
            return found + self._exploring(seen, price)
        y, x = cells(plan_.size)
        for k in range(plan_.bodies):
            mate = (seen.rows[k] == y) & (seen.columns[k] == x)
            cost = self._costs(seen, mate[None], jnp.where(mate, 1.0, price))[0]
            gap = jnp.abs(seen.rows[k] - seen.row) + jnp.abs(seen.columns[k] - seen.column)
            there = seen.rows[k] >= 0
            found.append(plan(cost, cost[0], extra=-1, done=there & (gap <= 1), there=there))
        if plan_.bodies > 1:
            away = self._threat(seen)
            found.append(self._flee(seen, away, price))
            if plan_.lines:
                found.append(self._hide(seen, away, price))
        return found + self._exploring(seen, price)

    def _has(self, seen: Seen, kinds: Sequence[int]) -> Array:
        """Whether the agent carries the key that it goes to: then it is there."""
        if not set(kinds) <= set(range(KEY, KEY + 3)):
            return jnp.bool_(False)
        return seen.own["carry"] == kinds[0]

    def _all(self, seen: Seen, targets: list[Array], price: Array) -> Array | list[Array]:
        return self._costs(seen, jnp.stack(targets), price) if targets else []

    def _strike(self, seen: Seen, things: Array, price: Array, verb: str) -> Details:
        """Goes beside one of some cells, turns to it, and uses a verb on it."""
        plan_ = self._plan
        near = jnp.min(beside(jnp.where(things, 0.0, FAR)), axis=-1) < FAR
        cost = self._costs(seen, (near & (price < FAR))[None], price)[0]
        beside_it = []
        for dy, dx, (inside, _) in zip(ROWS, COLUMNS, self._cells_around(seen), strict=True):
            y = jnp.clip(seen.row + dy, 0, plan_.size[0] - 1)
            x = jnp.clip(seen.column + dx, 0, plan_.size[1] - 1)
            beside_it.append(at(things, y, x) & inside)
        around = jnp.stack(beside_it)
        faced = around[seen.own["heading"]]
        turn = jnp.argmax(around) + 1
        acts = jnp.where(faced, plan_.verbs[verb], turn)
        can = jnp.asarray(plan_.able)[seen.me, plan_.verbs[verb]]
        row = plan(cost, cost[0], extra=2 - faced, there=jnp.any(things), stays=acts)
        return row._replace(why=jnp.where(can, row.why, UNABLE))

    def _aim(self, seen: Seen, body: int, price: Array, verb: str) -> Details:
        """Comes beside a body, turns to it if need be, and uses a verb on it."""
        plan_ = self._plan
        beam = plan_.beams[verb]
        y, x = cells(plan_.size)
        target = (seen.rows[body] == y) & (seen.columns[body] == x)
        down, across = seen.rows[body] - seen.row, seen.columns[body] - seen.column
        gap = jnp.abs(down) + jnp.abs(across)
        reach = jnp.int32(beam.around or 1)
        cost = self._costs(seen, target[None], jnp.where(target, 1.0, price))[0]
        turn = jnp.where(down < 0, 1, jnp.where(down > 0, 2, jnp.where(across < 0, 3, 4)))
        acts = jnp.int32(plan_.verbs[verb])
        if not beam.around:
            acts = jnp.where(seen.own["heading"] == turn - 1, acts, turn)
        there = seen.rows[body] >= 0
        way = jnp.where(gap <= reach, acts, jnp.argmin(cost[1:]) + 1)
        can = jnp.asarray(plan_.able)[seen.me, plan_.verbs[verb]] & (seen.me != body)
        if not beam.everybody and len(plan_.teams) > 1:
            can = can & seen.foes[body]
        why = jnp.where(can, jnp.where(there, POSSIBLE, NONE), UNABLE)
        why = jnp.where((why == POSSIBLE) & (cost[0] >= FAR), UNABLE, why)
        steps, held = counted(cost[0])
        turns = (gap <= reach) & (acts != plan_.verbs[verb])
        return Details(way, why, jnp.maximum(steps - reach, 0.0) + 1 + turns, held)

    def _threat(self, seen: Seen) -> Array:
        """bool[M]: from whom one flees: other teams, or all others of a single one."""
        there = seen.rows >= 0
        return there & seen.foes if len(self._plan.teams) > 1 else there

    def _flee(self, seen: Seen, away: Array, price: Array) -> Details:
        """To the side from which those in view are furthest."""
        gap = jnp.minimum(distances(self._bodies_on(seen, away), jnp.minimum(price, FAR)), 60.0)
        blocked = self._bodies_on(seen, np.ones(self._plan.bodies, bool))
        good = jnp.where((price < FAR) & ~blocked, 60.0 - gap, FAR)
        own = 60.0 - at(gap, seen.row, seen.column)
        around = at(jnp.moveaxis(beside(good), -1, -3), seen.row, seen.column)
        cost = jnp.concatenate([own[None], around])
        action = jnp.argmin(cost)
        why = jnp.where(jnp.any(away), POSSIBLE, NONE)
        return Details(action, why, jnp.int32(-1))

    def _hide(self, seen: Seen, away: Array, price: Array) -> Details:
        """To the nearest cell to which none in view has a clear line."""
        plan_ = self._plan
        solid = (seen.cells >= 0) & ~self._clear(seen)
        open_ = jnp.zeros(plan_.size, bool)
        for k in range(plan_.bodies):
            open_ = open_ | (away[k] & exposed(solid, seen.rows[k], seen.columns[k]))
        covered = ~open_ & (price < FAR) & (seen.cells >= 0)
        cost = self._costs(seen, covered[None], price)[0]
        return plan(cost, cost[0], done=cost[0] <= 0, there=jnp.any(away))

    def _clear(self, seen: Seen) -> Array:
        """bool[H, W]: cells that one sees across."""
        clear = self._one_of(seen, CLEAR)
        for group in range(self._plan.groups):
            clear = clear | ((seen.cells == DOOR + group) & seen.doors[group])
        return clear

    def _exploring(self, seen: Seen, price: Array) -> list[Details]:
        """To the nearest cell that is not in view."""
        if self._plan.radius is None and not self._plan.masks:
            return []
        unseen = seen.cells < 0
        cost = self._costs(seen, unseen[None], price)[0]
        return [plan(cost, cost[0], there=jnp.any(unseen))]

    # ---- rooms --------------------------------------------------------------------------------

    def _exits(self, seen: Seen) -> Array:
        """bool[R, R]: exits that are open."""
        plan_ = self._plan
        assert plan_.exits is not None and plan_.gates is not None
        ways = jnp.asarray(plan_.exits)
        for group in range(plan_.groups):
            ways = ways & (jnp.asarray(plan_.gates != group + 1) | seen.doors[group])
        return ways

    def _in_rooms(self, seen: Seen) -> list[Details]:
        plan_, ways = self._plan, self._exits(seen)
        count = ways.shape[0]
        steps = jnp.where(ways, 1.0, FAR)
        steps = jnp.where(np.eye(count, dtype=bool), 0.0, steps)
        for _ in range(int(np.ceil(np.log2(count)))):
            steps = jnp.minimum(steps, jnp.min(steps[:, :, None] + steps[None], axis=1))
        own = jnp.maximum(seen.column, 0)

        def going(far: Array, there: Array, stays: int = 0, extra: Array | int = 0) -> Details:
            """To where far f32[R], steps left from each room, is 0; with `extra` steps there."""
            step = jnp.argmin(jnp.where(ways[own], far, 2 * FAR))
            here = far[own]
            why = jnp.where(there, jnp.where(here < FAR, POSSIBLE, UNABLE), NONE)
            why = jnp.where(there & (here <= 0) & (stays == 0), DONE, why)
            return Details(jnp.where(here <= 0, stays, step + 1), why, here + extra)

        true = jnp.bool_(True)
        found = [going(steps[:, k], true) for k in range(count)]
        marks = seen.cells[0]
        if "repair" in plan_.verbs:
            broken = marks == MACHINE
            far = jnp.min(jnp.where(broken, steps, FAR), axis=1)
            # Work that was left off begins anew.
            worked = jnp.where(far[own] <= 0, seen.work[own], 0)
            found.append(going(far, jnp.any(broken), plan_.verbs["repair"], plan_.work - worked))
        for group in range(plan_.groups if "press" in plan_.verbs else 0):
            button = marks == BUTTON + group
            far = jnp.min(jnp.where(button, steps, FAR), axis=1)
            found.append(going(far, jnp.any(button), plan_.verbs["press"], 1))
        for k in range(plan_.bodies):
            there = seen.rows[k] >= 0
            found.append(going(steps[:, jnp.maximum(seen.columns[k], 0)], there))
        if plan_.bodies > 1:
            away = self._threat(seen)
            room = jnp.maximum(seen.columns, 0)
            near = jnp.min(jnp.where(away[:, None], steps[room], FAR), axis=0)
            best = jnp.where(ways[own] | (jnp.arange(count) == own), near, -1.0)
            step = jnp.argmax(best)
            action = jnp.where(step == own, 0, step + 1)
            why = jnp.where(jnp.any(away), POSSIBLE, NONE)
            found.append(Details(action, why, jnp.int32(-1)))
        return found

    def rules(self) -> str:
        listed = ", ".join(self.names[: self.wait])
        return (
            "A skill goes its way one step each time you name it, over what you see and may be "
            "free; go on naming it until it is done, or name another one. It takes the nearest of "
            "a kind.\n"
            f"Skills: {listed}; wait; step: ...\n"
            f"{self._steps()}\n"
            "follow NAME: until you are beside it. flee: away from those in view. A verb with a "
            "name or a thing: go there, turn to it, do it."
        )
