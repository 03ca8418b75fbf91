"""`team`: a scripted player of CraftWorld that works with others for what is asked of them.

It reads the goal, the plan or the joint task from its own perception, keeps a map of what it has
seen (`craftworld_atlas.py`), and does at each step the first thing that applies: fight off what is
beside it; help up who is down, if it is the nearest; drink, eat and sleep, closed in with stones;
bring what another asks for; work at the task; explore. It is a host policy.

- **Joint tasks**: everybody goes to the same cell, each to a side of it, and works there until
  enough do so in one step.
- **Plans**: what is in the way is cleared; then tables, furnaces and plants are set, then stones.
  Everybody brings its share of the stones.
- **Other goals**: each works for what the goal needs, parts from the others to look for it, and,
  where there is a channel, tells where it is: "iron 3 up 7 right of the start". Players of phrases
  hear "iron here".
- **A goal that only the first is told** (`told="first"`): it says what and where, and the others
  believe it; until then, and without a channel, they do as without a goal.
- **Without a goal**: joint tasks first, then all achievements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from manyhands.baselines.bots.craftworld_atlas import NEVER, UNSEEN, Mate
from manyhands.baselines.bots.craftworld_refuge import is_closed
from manyhands.baselines.bots.craftworld_settler import EVENING, PLACE, SHELTER, Settler
from manyhands.core.env import ConfigError, Env, SeatError, unwrap
from manyhands.core.view import Reply, View
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.env import CraftWorld
from manyhands.envs.craftworld.goals import (
    BUILD,
    FREE,
    HOLD,
    NO_GOAL,
    SITE,
    UNLOCK_ONE,
    Goal,
    depths,
    parse_goal,
)
from manyhands.envs.craftworld.state import HERE

# What is told of, where it stands still.
TOLD = {"tree": rl.TREE, "water": rl.WATER, "stone": rl.STONE, "coal": rl.COAL, "iron": rl.IRON}
TOLD |= {"diamonds": rl.DIAMOND, "table": rl.TABLE, "furnace": rl.FURNACE}
_WHERE = r"(?:(?:\d+ (?:up|down)|\d+ (?:left|right)) ){0,2}of the (?:start|site|corner)"
_PLACE = re.compile(r"(?:(\d+) (up|down) )?(?:(\d+) (left|right) )?of the (start|site|corner)")
_NEWS = re.compile(rf"(\w+) (here|{_WHERE})")
_GOAL = re.compile(rf"the goal is (.+?)(?:; its corner is ({_WHERE}))?")
SAY_AGAIN = 60  # steps before the same is told again
TEARS = 12  # steps in which one goes through what is built, if one does not get on
FEW = 4  # stones that are laid before the night, if no more are missing
FORAY = 20  # steps that one goes for what a sword takes
PATIENCE, NEAR = 25, 4  # so many steps near a cell of a plan, and it is left alone for as long


class Team:
    """A host policy; see the module's docstring. One object may take several seats."""

    name = "team"

    def __init__(self, env: Env):
        found = unwrap(env, CraftWorld, SeatError)
        self.world, self.env = found.env, env
        actions = np.arange(len(self.world.actions), dtype=np.int32)
        self._lift = [np.asarray(found.lift(action)) for action in actions]
        self._lower: np.ndarray | None = None
        self._found = found
        self._players: dict[tuple[int, int], Player] = {}

    def act(self, views: Sequence[View]) -> list[Reply]:
        return [self._answer(view) for view in views]

    def _answer(self, view: View) -> Reply:
        key = view.episode, view.index
        if view.turn == 0 or key not in self._players:
            if len(self._players) > 512:  # episodes long over
                self._players.pop(next(iter(self._players)))
            self._players[key] = Player(self.world, view.index, self.env.chat is not None)
        legal = np.asarray(view.legal)
        if self._lower is None:
            self._lower = np.asarray(self._found.lower(np.arange(len(legal), dtype=np.int32)))
        player = self._players[key]
        said = [(message.sender, message.text) for message in view.messages]
        action, say = player.step(
            np.asarray(view.perception), legal[self._lower], said, view.rng(), view.step
        )
        return Reply(self._lift[action], say)


def team(env: Env) -> Team:
    """A player that works with others for the goal, the plan or the joint task."""
    return Team(env)


class Player(Settler):
    """One player of a team in one episode."""

    # ---- one step --------------------------------------------------------------------------------

    def step(
        self,
        row: np.ndarray,
        legal: np.ndarray,
        said: Iterable[tuple[str, str]],
        rng: np.random.Generator,
        now: int,
    ) -> tuple[int, str | None]:
        """(an action of the world, what it says)."""
        self.now, self.rng, self.row = now, rng, row
        atlas = self.atlas
        atlas.look(row, now, self.walking)
        parts = self.world.layout
        self.items = dict(zip(self.contents.items, row[parts["inventory"]].tolist(), strict=True))
        self.vitals = dict(zip(rl.VITALS, row[parts["vitals"]].tolist(), strict=True))
        self.asleep, self.alive = bool(row[parts["asleep"]][0]), int(row[parts["alive"]][0])
        light = int(row[parts["light"]][0])
        falls = light < self.light or (self.evening and light == self.light)
        self.evening = light < EVENING and falls
        self.light = light
        self.table, self.furnace = (bool(x) for x in row[parts["near"]])
        self.role = int(row[parts["role"]][0])
        names = self.contents.achievements
        self.done = {n for n, d in zip(names, row[parts["achievements"]], strict=True) if d}
        if now == 0 or not self.last:
            self._set_goal(Goal.of_row(row[parts["goal"]], self.craft))
        for sender, text in said:
            self._hear_goal(sender, text)
            self._hear(sender, text)
        self._reckon()
        self._look_out()
        action = self._act()
        # Nothing that changes anything: a stumble breaks the spell.
        state = (atlas.at, atlas.facing, tuple(self.items.values()), tuple(self.vitals.values()))
        still = state == self.last and action not in (rl.SLEEP,) and not self.asleep
        self.idle = self.idle + 1 if still else 0
        self.last = state
        if self.idle > (30 if self.before == rl.DO else 6) and not self.waiting:
            action = self._stumble()
            self.aim = -1
        action = self._out_of_shots(self._out_of_step(action))
        if not legal[action]:
            action = rl.NOOP
        ahead = atlas.at + atlas.steps[action - rl.MOVE] if rl.MOVE <= action < rl.DO else -1
        free = ahead >= 0 and atlas.code(ahead) in rl.WALKABLE and ahead not in atlas.bodies
        self.walking = free and not self.asleep
        self.before = action
        if action == PLACE["plant"]:
            self.planted[atlas.front] = now
        return action, (self._tell_goal() or self._news()) if self.talks else None

    def _out_of_step(self, action: int) -> int:
        """Another action for a while, if one only goes to and fro: so do two who are in each
        other's way, and neither would ever get past the other."""
        moves = rl.MOVE <= action < rl.DO and not self.waiting
        self.trail = [*self.trail[-7:], (self.atlas.at, *self.items.values())] if moves else []
        if len(self.trail) == 8 and len(set(self.trail)) <= 2:
            self.dizzy, self.trail = int(self.rng.integers(1, 4)), []
            if self._on_site(self.atlas.at):
                self.tears = self.now + TEARS  # what is built may be in its way
        if not self.dizzy or not moves:
            return action
        self.dizzy -= 1
        return self._stumble() if self.rng.random() < 0.5 else rl.NOOP

    def _act(self) -> int:
        """The first thing that applies."""
        self.waiting = False
        self.inside = self.inside and is_closed(self.atlas)
        if self.alive != rl.ALIVE:
            self.resting, self.refuge = False, None
        if self.asleep or self.alive != rl.ALIVE:
            self.waiting = True
            return rl.NOOP
        for what in (
            self._fight,
            self._hold,
            self._rescue,
            self._survive,
            self._rest,
            self._give,
            self._tools,
            self._task,
            self._roam,
        ):
            action = what()
            if action is not None:
                return action
        return self._stumble()

    # ---- for others ------------------------------------------------------------------------------

    def _give(self) -> int | None:
        """Bring what another asks for, if one has it to spare and is the nearest who is known."""
        atlas = self.atlas
        for mate in self._up():
            if not mate.request or mate.at < 0:
                continue
            gift = self.craft.gifts[mate.request - 1]
            if gift in rl.VITALS or self.items[gift] <= self._keeps(gift):
                continue
            if atlas.gap(atlas.at, mate.at) > 12:
                continue
            if atlas.front == mate.at:
                return self.craft.give + self.craft.gifts.index(gift)
            special = {**self.special, mate.at: 1}
            found = atlas.route(self.prices, mate.at.__eq__, special, 400)
            if found is not None:
                return self._stride(found[2])
        return None

    def _keeps(self, gift: str) -> int:
        """How many of an item one does not give away."""
        goal = self.goal
        if gift in self.contents.recipes:
            return 1
        if goal.kind == HOLD and goal.target == gift:
            return goal.count if goal.everyone else rl.MOST
        if goal.kind == BUILD and gift == "stone":
            return 2
        return 2

    # ---- talking ---------------------------------------------------------------------------------

    def _landmark(self) -> str:
        told = self.goal.kind and self.world.told == "all"
        return "site" if told else "corner" if self.world.compass else "start"

    def _place(self, cell: int) -> str:
        """Where a cell is, in words that all understand alike."""
        away = np.subtract(
            divmod(cell, self.atlas.width), divmod(self.atlas.origin, self.atlas.width)
        )
        rows, columns = away.tolist()
        words = [f"{abs(rows)} {'down' if rows > 0 else 'up'}"] * bool(rows)
        words += [f"{abs(columns)} {'right' if columns > 0 else 'left'}"] * bool(columns)
        return " ".join([*words, f"of the {self._landmark()}"])

    def _cell(self, place: str) -> int:
        """The cell that `_place` gives these words, -1 for none."""
        found = _PLACE.fullmatch(place)
        if found is None or self.atlas.origin < 0 or found[5] != self._landmark():
            return -1
        rows = int(found[1] or 0) * (1 if found[2] == "down" else -1)
        columns = int(found[3] or 0) * (1 if found[4] == "right" else -1)
        cell = self.atlas.origin + rows * self.atlas.width + columns
        return cell if 0 <= cell < len(self.atlas.cells) else -1

    def _set_goal(self, goal: Goal) -> None:
        self.goal = goal
        self.wanted = goal.row(self.craft)[4:].reshape(SITE, SITE).tolist()

    def _tell_goal(self) -> str | None:
        """The goal, to those who are not told it; again after a while."""
        private = self.world.told == "first" and self.index == 0 and self.goal.kind
        if not private or self.now - self.told.get("goal", -SAY_AGAIN) < SAY_AGAIN:
            return None
        self.told["goal"] = self.now
        site = f"; its corner is {self._place(self.atlas.site)}" * (self.goal.kind == BUILD)
        return f"the goal is {self.goal}{site}"

    def _hear_goal(self, sender: str, text: str) -> None:
        """Believe the one who is told the goal."""
        found = _GOAL.fullmatch(text.strip())
        private = self.world.told == "first" and self.index > 0
        if found is None or not private or sender != self.world.agents[0]:
            return
        try:
            goal = parse_goal(found[1], self.world.num_players, self.craft)
        except ConfigError:
            return
        site = self._cell(found[2] or "")
        if goal != self.goal and (goal.kind != BUILD or site >= 0):
            self._set_goal(goal)
            self.atlas.site = site

    def _news(self) -> str | None:
        """What is new in view, by its place; each kind again only after a while."""
        atlas = self.atlas
        for what in ("diamonds", "iron", "coal", "table", "furnace", "water", "stone", "tree"):
            if self.now - self.told.get(what, -SAY_AGAIN) < SAY_AGAIN:
                continue
            code = TOLD[what] + 1
            for r in range(-3, 4):
                start = atlas.place(r, -4)
                k = atlas.cells.find(code, start, start + 9)
                if k < 0:
                    continue
                self.told[what] = self.now
                if atlas.origin < 0:
                    return f"{what} here"
                return f"{what} {self._place(k)}"
        return None

    def _hear(self, sender: str, text: str) -> None:
        """Note on the map what another tells of."""
        found = _NEWS.search(text)
        if found is None:
            return
        what = found[1] if found[1] in TOLD else found[1] + "s"
        what = {"trees": "tree"}.get(found[1], what)
        if what not in TOLD:
            return
        atlas = self.atlas
        if found[2] == "here":
            mate = next((m for m in atlas.mates.values() if f"player_{m.index}" == sender), None)
            cell = mate.at if mate is not None else -1
        else:
            cell = self._cell(found[2])
        if 0 <= cell < len(atlas.cells) and atlas.cells[cell] == UNSEEN:
            atlas.cells[cell] = TOLD[what] + 1

    # ---- what is asked ---------------------------------------------------------------------------

    def _tools(self) -> int | None:
        """A sword, where it costs little way."""
        able = self._able("stone_sword") and self.items["wood_pickaxe"]
        wanted = self._most("stone_sword") - self.items["stone_sword"]
        has = self.items["wood"] and self.items["stone"] and wanted > 0
        if self._is_long() and able and has and wanted > 0 and not self.table:
            station = self._station(furnace=False)
            if station is not None and station[1][1] <= 8:
                return self._stride(station[1][2])
        if not self.table:
            return None
        for tool in ("wood_sword", "stone_sword"):
            better = tool == "wood_sword" and self.items["stone_sword"]
            if self.items[tool] >= self._most(tool) or better or not self._able(tool):
                continue
            spare = int(self.goal.kind != NO_GOAL and self.goal.kind != BUILD)
            enough = all(self.items[i] >= n + spare for i, n in self._cost(tool).items())
            if enough and self.items["wood_pickaxe"]:
                return rl.MAKE + self.contents.makes.index(tool)
        return None

    def _task(self) -> int | None:
        goal = self.goal
        joint = self._joint() if goal.kind == NO_GOAL or self.world.joint else None
        if joint is not None:
            return joint
        if goal.kind == BUILD:
            return self._build()
        if goal.kind == HOLD:
            if goal.everyone and self.items[goal.target] >= goal.count:
                return self._roam()
            if self.items[goal.target] < rl.MOST:
                return self._obtain(goal.target, rl.MOST)
            return self._roam()
        if goal.kind == UNLOCK_ONE:
            return self._unlock(goal.target)
        return self._unlock_next()

    def _unlock(self, name: str) -> int | None:
        """Towards an achievement; None if it is unlocked, or nothing leads to it now."""
        if name in self.done:
            return None
        verb, _, what = name.partition("_")
        if verb == "collect" and what == "drink":
            return self._use(self._seek(rl.WATER)) or self._explore(rocky=False)
        if verb == "collect":
            return self._obtain(what, self.items[what] + 1)
        if verb == "make":
            return self._make(what)
        if verb == "place":
            return self._place_first(what)
        if name == "eat_cow":
            return self._use(self._meal()) or self._explore(rocky=False)
        if name in ("defeat_zombie", "defeat_skeleton"):
            kind = rl.ZOMBIE if name == "defeat_zombie" else rl.SKELETON
            bodies = self.atlas.bodies
            found = self._to(lambda cell: bodies.get(cell) == kind)
            return self._use(found) or self._explore(rocky=kind == rl.SKELETON)
        if name == "wake_up":
            return self._roam() if self.vitals["energy"] >= rl.MOST else None
        if name == "eat_plant":
            return self._eat_plant()
        return None

    def _place_first(self, what: str) -> int | None:
        if what == "plant":
            if not self.items["sapling"]:
                return self._sapling()
            return self._set("plant")
        item, number = self.craft.place_cost(what)
        if self.items[item] < number:
            return self._obtain(item, number)
        return self._set(what)

    def _eat_plant(self) -> int | None:
        ripe = self._seek(rl.RIPE_PLANT)
        if ripe is not None:
            return self._use(ripe)
        if not self.planted:
            return self._place_first("plant")
        cell, when = min(self.planted.items(), key=lambda pair: pair[1])
        if self.now - when > self.craft.ripe and self.atlas.gap(cell, self.atlas.at) > 2:
            return self._put(cell, rl.NOOP)
        if self.now - when > 100 and len(self.planted) < 3:
            return self._place_first("plant")
        return None

    def _unlock_next(self) -> int | None:
        """Towards the next achievement, the easiest first; what is at hand before the others."""
        depth = depths(self.craft)
        near = {"eat_cow": self._meal, "collect_drink": lambda: self._seek(rl.WATER)}
        for name, find in near.items():
            if name not in self.done:
                found = find()
                if found is not None and found[1] <= 8:
                    return self._use(found)
        patient = ("defeat_zombie", "defeat_skeleton", "wake_up", "eat_plant")
        names = sorted(self.contents.achievements, key=lambda n: (n in patient, depth[n]))
        for name in names:
            if name not in self.done:
                action = self._unlock(name)
                if action is not None:
                    return action
        return None

    # ---- together --------------------------------------------------------------------------------

    def _joint(self) -> int | None:
        """Work at what takes several in one step; None where nothing waits."""
        if not self.world.has_joint or self.world.helpers > 1 + len(self._others()):
            return None
        atlas, cells = self.atlas, self.atlas.cells
        waiting = {before + 1 for before, _ in rl.JOINT.values()}
        found = [k for k in range(len(cells)) if cells[k] in waiting] if self._any(waiting) else []
        if not found:
            done = any(after + 1 in cells for _, after in rl.JOINT.values() if after != rl.PATH)
            if done or self.now > 150 or self.world.joint is None:
                return None
            return self._search_near_start()
        diamonds = {k for k in range(len(cells)) if cells[k] == rl.DIAMOND + 1}
        walkable = {code + 1 for code in rl.WALKABLE}

        def stands(cell: int) -> list[int]:
            return [cell + step for step in atlas.steps if cells[cell + step] in walkable]

        def reached(cell: int) -> bool:
            return any(cells[cell + step] in walkable for step in atlas.steps)

        fits = [cell for cell in found if len(stands(cell)) >= self.world.helpers]
        open_diamond = any(
            reached(d) and any(cells[d + s] in waiting | {rl.BRIDGE + 1} for s in atlas.steps)
            for d in diamonds
        )
        if not fits or open_diamond:
            return None
        middle = atlas.origin if atlas.origin >= 0 else found[0]

        def rank(cell: int) -> tuple[int, int, int]:
            leads = any(cell + step in diamonds for step in atlas.steps)
            return 0 if leads else 1, atlas.gap(cell, middle), cell - middle

        target = min(fits, key=rank)
        if atlas.front == target:
            self.waiting = True
            return rl.DO
        taken = {mate.at for mate in atlas.mates.values() if mate.at >= 0}
        free = [cell for cell in stands(target) if cell not in taken]
        if atlas.at in stands(target):
            return rl.MOVE + atlas.steps.index(target - atlas.at)
        way = atlas.route(self.prices, lambda cell: cell in free, {**self.special, target: NEVER})
        if way is None:
            return None if not free else self._explore()
        return self._stride(way[2])

    def _any(self, codes: set[int]) -> bool:
        return any(code in self.atlas.cells for code in codes)

    def _others(self) -> list[Mate]:
        return [mate for mate in self.atlas.mates.values() if mate.alive != rl.DEAD]

    def _search_near_start(self) -> int:
        """Around where one began, ring by ring, the top first."""
        atlas, cells = self.atlas, self.atlas.cells
        start = len(cells) // atlas.width // 2 * atlas.width + atlas.width // 2
        found = atlas.route(
            self.prices,
            lambda cell: cells[cell] == UNSEEN and cell < start and atlas.gap(cell, start) < 14,
            self.special,
        )
        return self._explore() if found is None else self._stride(found[2])

    # ---- building --------------------------------------------------------------------------------

    def _build(self) -> int | None:
        """Towards the plan."""
        armed = self._arm()
        if armed is not None:
            return armed
        wrong = {c: w for c, w in self.cells_of_plan.items() if not self._is_right(c, w)}
        self.finishes = len(wrong) <= FEW
        if not wrong:
            return self._inspect()
        stone = rl.STONE + 1
        walls = [cell for cell, wanted in wrong.items() if wanted == stone]
        first = [cell for cell, wanted in wrong.items() if wanted != stone]
        crew = 1 + len(self._up())
        if walls and not self.items["wood_pickaxe"]:
            return self._obtain("wood_pickaxe")
        self.stays = bool(walls) and self.evening and not self.finishes
        if self.stays and self.items["stone"] < SHELTER:
            # What is left cannot be done today: stones for the night, which one has again then.
            return self._obtain("stone", SHELTER)
        # Where stones are to be laid, one fetches only what one's own part of the rest takes, and
        # lays what one carries before. Plants are set first: later nobody comes to their place.
        parts = self._parts(first)
        fetched = [c for c in first if not walls or (parts[c] and not self.hauling)]
        for name in ("table", "furnace", "plant"):
            cells = [c for c in first if wrong[c] == rl.PLACED[rl.PLACES.index(name)] + 1]
            item, number = self.craft.place_cost(name)
            if self.items[item] < number and name != "plant":
                cells = [c for c in cells if c in fetched]
            if not cells:
                continue
            action = self._build_part(name, cells)
            if action is not None:
                return action
        for cell in self._shared([c for c in first if wrong[c] == FREE]):
            action = self._clear(cell)
            if action is not None:
                return action
        if walls:
            return self._wall(walls, crew)
        return None

    def _inspect(self) -> int | None:
        """To see what one has not seen for longest: not all is as it was then."""
        if not self.checked:
            return None
        cell, gap = min(self.checked, key=self.checked.__getitem__), self.atlas.gap
        way = self.atlas.route(self.prices, lambda to: gap(to, cell) <= HERE[0], self.special)
        return None if way is None else self._stride(way[2])

    def _arm(self) -> int | None:
        """Swords before the first night, where a plan takes so long, and what they take is near."""
        needs = self._most("stone_sword") - self.items["stone_sword"]
        able = self._able("stone_sword") and self.items["wood_pickaxe"]
        if not (self._is_long() and able and needs > 0) or self.evening:
            return None
        station = self._station(furnace=False)
        each = self._cost("stone_sword")["wood"]
        table = 0 if station is not None else self.craft.table_wood
        if self.items["wood"] < needs * each + table:
            tree = self._seek(rl.TREE)
            if tree is not None and tree[1] <= FORAY:
                return self._use(tree)
            if self.items["wood"] < each + table:
                return None
        if station is not None and station[1][1] > FORAY:
            return None
        return self._obtain("stone", 1) or self._make("stone_sword")

    def _workers(self) -> dict[int, int]:
        """The others who are up and awake -> where they are."""
        return {mate.index: mate.at for mate in self._up() if mate.at >= 0 and not mate.asleep}

    def _parts(self, cells: list[int]) -> dict[int, bool]:
        """Cells -> whether they are one's own part: each player who is up has one."""
        mates = self._workers()
        rank, crew = sum(j < self.index for j in mates), len(mates) + 1
        return {cell: k * crew // len(cells) == rank for k, cell in enumerate(sorted(cells))}

    def _shared(self, cells: list[int]) -> list[int]:
        """Cells in the order in which one sees to them: first those of one's own part, of which
        each player who is up has one; without those that another is at."""
        atlas = self.atlas
        mates, own = self._workers(), self._parts(cells)
        walls = {c for c, code in self.cells_of_plan.items() if code != FREE}

        def order(cell: int) -> tuple[bool, bool, int]:
            # What can only be laid from where there will be walls comes first.
            late = atlas.lanes(cell, self.prices, walls) > 0
            return not own[cell], late, atlas.gap(cell, atlas.at)

        def taken(cell: int) -> bool:
            here = atlas.gap(cell, atlas.at), self.index
            near = [(atlas.gap(cell, at), j) for j, at in mates.items()]
            return not own[cell] and any(one < here and one[0] <= 3 for one in near)

        fit = [c for c in cells if self.given_up.get(c, -1) < self.now and not taken(c)]
        fit.sort(key=order)
        # What it is at goes first: the way to one cell often leads over another, which would be
        # the nearest then.
        if self.laying in fit:
            fit.remove(self.laying)
            fit.insert(0, self.laying)
        return [cell for cell in fit if cell == self.laying or cell != self.atlas.at]

    def _stay_at(self, cell: int) -> bool:
        """Whether to go on with a cell of a plan, beside which it has not been for too long."""
        if cell != self.laying:
            self.laying, self.tries = cell, 0
        self.tries += self.atlas.gap(cell, self.atlas.at) <= NEAR
        if self.tries <= PATIENCE:
            return True
        self.given_up[cell], self.laying = self.now + PATIENCE, -1
        return False

    def _build_part(self, name: str, cells: list[int]) -> int | None:
        """A table, furnace or plant."""
        item, number = self.craft.place_cost(name)
        grounds = self.craft.place_on(name)
        for cell in self._shared(cells):
            code = self.atlas.code(cell)
            if code not in grounds and code >= 0:
                action = self._clear(cell)
                if action is not None:
                    return action
                continue
            if self.items[item] < number:
                return self._obtain(item, number)
            action = self._put(cell, PLACE[name])
            if action is not None and self._stay_at(cell):
                return action
        if self.atlas.at in cells:  # on the spot itself
            return self._obtain(item, number) or self._stumble()
        return None

    def _clear(self, cell: int) -> int | None:
        """Take away what is in the way of a plan; None where nobody can."""
        code = self.atlas.code(cell)
        if code < 0:
            return self._put(cell, rl.NOOP)
        if code in (rl.WATER, rl.LAVA):
            if not self.items["stone"]:
                return self._obtain("stone")
            return self._put(cell, PLACE["stone"])
        if code not in self.contents.collect:
            return None
        tool = self.contents.collect[code][1]
        if tool is not None and not self.items[tool]:
            return self._obtain(tool)
        return self._put(cell, rl.DO)

    def _wall(self, walls: list[int], crew: int) -> int | None:
        """Stones of a plan: bring one's share, and lay them."""
        lacking = len(walls)
        share = min(rl.MOST, -(-lacking // crew))
        if self.items["stone"] >= share:
            self.hauling = True
        if not self.items["stone"]:
            self.hauling = False
        if not self.hauling:
            return self._obtain("stone", share)
        for cell in self._shared(walls):
            code = self.atlas.code(cell)
            if code in self.craft.place_on("stone") or code < 0:
                action = self._put(cell, PLACE["stone"])
            else:
                action = self._clear(cell)
            if action is not None and self._stay_at(cell):
                return action
        return self._stumble()
