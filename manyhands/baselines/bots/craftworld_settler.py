"""What every host-side player of CraftWorld does: ways, staying alive, finding and making things.

`craftworld_team.py` says what for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from manyhands.baselines.bots.craftworld_atlas import NEVER, UNSEEN, Atlas, Mate
from manyhands.baselines.bots.craftworld_refuge import Refuge, choose, is_closed, next_step
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.env import CraftWorld
from manyhands.envs.craftworld.goals import (
    ANYTHING,
    BUILD,
    FREE,
    HOLD,
    NO_GOAL,
    SITE,
    UNLOCK_MANY,
    UNLOCK_ONE,
    Goal,
)
from manyhands.envs.craftworld.observe import PLAYER

PLACE = {name: rl.PLACE + i for i, name in enumerate(rl.PLACES)}
HOSTILE = (rl.ZOMBIE, rl.SKELETON)
ROCK = (rl.STONE, rl.COAL, rl.IRON, rl.DIAMOND, rl.PATH, rl.TABLE)
DARK = 100  # light below which it is night
EVENING = 200  # light below which, while it falls, one makes ready for the night
DUSK = 150  # light at which it withdraws where there is too much left to do
DAWN = 40  # light above which, in the morning, one does not lie down again
RESTED = 7  # energy with which one gets up in the morning
SHELTER = 6  # stones of a shelter on open ground
WEAK, SOUND = 3, 5  # health at which it withdraws to recover, and that it comes out with
HOLD_OUT = 10  # steps that one waits for zombies
MEADOW = 12  # cells of grass in view from which zombies come at night
LARGE = 8  # cells of a plan that takes so long that swords pay
NEAR = 4  # steps that one goes to help while one is weak
LOYAL = 4  # how much farther than the nearest what it is on the way to may be
PATIENCE = 40  # steps in which a refuge should be closed
STATION = 30  # steps that one goes to a table or furnace, rather than place another one


class Settler:
    """One player in one episode: what it knows, and how it does what it wants. Methods give an
    action, or None where they do not apply."""

    def __init__(self, world: CraftWorld, index: int, talks: bool):
        self.world, self.index, self.talks = world, index, talks
        self.craft, self.contents = world.craft, world.contents
        self.atlas = Atlas(world, index)
        self.now = -1
        self.before = rl.NOOP
        self.walking = False
        self.trail: list[tuple[int, ...]] = []  # where it was in its last moves, and with what
        self.tears = 0  # until when it goes through what is built
        self.dizzy = 0  # steps in which it does not as it would
        self.idle = 0  # steps in a row in which nothing came of what it did
        self.last: tuple[Any, ...] = ()
        self.refuge: Refuge | None = None  # where it is about to close itself in
        self.since = 0  # when it chose that
        self.resting = self.inside = False  # whether it wants to rest; whether it is closed in
        self.restless = self.lay_down = 0  # until when it does not rest; since when it wants to
        self.hauling = False  # on the way to the building site, with stones
        self.aim = -1  # the unseen cell that it explores towards
        self.laying, self.tries = -1, 0  # the cell of a plan that it is at, and steps near it
        self.sought: dict[
            tuple[int, ...], int
        ] = {}  # materials -> the cell that it goes to for them
        self.facing_to = -1  # the cell that it is about to face
        self.checked: dict[int, int] = {}  # cells of the plan -> when they were in view last
        self.finishes = False  # whether little is left to do
        self.stays = False  # whether it does no more today
        self.held = 0  # steps in which it waited for zombies
        self.short = 0  # stones that it gathers before it builds a shelter
        self.arrows: set[int] = set()  # cells of arrows in view
        self.shots: set[int] = set()  # cells where arrows may be after this step
        self.given_up: dict[int, int] = {}  # cell -> until when it is no target
        self.planted: dict[int, int] = {}  # cell -> when
        self.told: dict[str, int] = {}  # what -> when it was said
        self.asked = -100
        self.goal = Goal()
        self.wanted = np.zeros((SITE, SITE), int).tolist()
        self.items: dict[str, int] = {}
        self.vitals: dict[str, int] = {}
        self.done: set[str] = set()
        self.asleep = self.table = self.furnace = False
        self.alive, self.light, self.role = rl.ALIVE, 255, 0
        self.evening = False
        self.row = np.zeros(world.layout.shape, np.uint8)
        self.rng = np.random.default_rng(0)
        self.prices: list[int] = []
        self.special: dict[int, int] = {}
        self.cells_of_plan: dict[int, int] = {}
        self.waiting = False  # whether standing still is meant
        self.gain = {item: code for code, (item, _, _) in self.contents.collect.items()}

    # ---- ways ------------------------------------------------------------------------------------

    def _reckon(self) -> None:
        """What cells cost now, and those that are special."""
        prices = [NEVER] * 64
        prices[UNSEEN] = 2
        for code in rl.WALKABLE:
            prices[code + 1] = 1
        for code, (_, tool, _) in self.contents.collect.items():
            if code not in (rl.WATER, rl.GRASS) and (tool is None or self.items[tool]):
                prices[code + 1] = 3
        if self.items["stone"] and self.items["wood_pickaxe"]:
            prices[rl.WATER + 1] = 5
        self.prices = prices
        special = {cell: 6 if body >= PLAYER else 4 for cell, body in self.atlas.bodies.items()}
        for cell in special:
            if prices[self.atlas.cells[cell]] >= NEVER:
                special[cell] = NEVER
        for mate in self._up():
            if mate.asleep and mate.at >= 0:  # nobody opens a refuge with someone in it
                special |= {cell: NEVER for cell in self._walls_about(mate.at)}
        self.cells_of_plan = self._plan_cells()
        for cell in self.cells_of_plan:
            if self.atlas.in_view(cell) or cell not in self.checked:
                self.checked[cell] = self.now
        for cell, code in self.cells_of_plan.items():
            if code != FREE and self._is_right(cell, code):
                special[cell] = NEVER
        self.special = special
        if self.now < self.tears:
            self.special = self._torn_down()
        elif self._on_site(self.atlas.at) and len(self.cells_of_plan) > 3:
            out = self.atlas.route(prices, lambda cell: not self._on_site(cell), special, 300)
            if out is None:  # it has built itself in
                self.special = self._torn_down()

    def _walls_about(self, spot: int) -> list[int]:
        """What may be the walls of a refuge, but those beside oneself."""
        atlas, width = self.atlas, self.atlas.width
        around = [spot + r * width + c for r in range(-2, 3) for c in range(abs(r) - 2, 3 - abs(r))]
        walls = (cell for cell in around if atlas.code(cell) not in rl.WALKABLE)
        return [cell for cell in walls if not self._beside(cell)]

    def _torn_down(self) -> dict[int, int]:
        """The cells that are special, if what is built may be taken down again where it can be."""
        collect = self.contents.collect
        return {
            cell: 8 if price >= NEVER and self.atlas.code(cell) in collect else price
            for cell, price in self.special.items()
        }

    def _stride(self, way: int) -> int:
        """The action that begins to go in a direction."""
        atlas = self.atlas
        to = atlas.at + atlas.steps[way]
        code, body = atlas.code(to), atlas.bodies.get(to, 0)
        turned = atlas.facing == way
        if body:
            if body < PLAYER and body != rl.ARROW:
                return rl.DO if turned else rl.MOVE + way
            return rl.NOOP if turned and body == rl.ARROW else rl.MOVE + way
        if code in rl.WALKABLE or not turned:
            return rl.NOOP if code == rl.LAVA else rl.MOVE + way
        if code == rl.WATER:
            return PLACE["stone"]
        return rl.DO

    def _to(self, done: Callable[[int], bool], codes: Iterable[int] = (), most: int = 4000) -> Any:
        """The way to the nearest cell that is `done`, of materials that one stands before."""
        return self.atlas.route(self._standing_before(codes), done, self.special, most)

    def _standing_before(self, codes: Iterable[int]) -> list[int]:
        """The prices of ways that lead to cells of some materials, rather than through them."""
        prices = list(self.prices)
        for code in codes:
            prices[code + 1] = min(prices[code + 1], 2)
        return prices

    def _seek(self, *codes: int) -> tuple[int, int, int] | None:
        """The way to the nearest cell of some materials."""
        kinds = {code + 1 for code in codes}
        cells, refused, plan = self.atlas.cells, self.given_up, self.cells_of_plan
        if not any(kind in cells for kind in kinds):
            return None
        before = self.sought.get(codes, -1)

        def done(cell: int) -> bool:
            if cells[cell] not in kinds or self.special.get(cell, 0) >= NEVER:
                return False
            return refused.get(cell, -1) < self.now and (cell not in plan or cells[cell] != 4)

        prices = self._standing_before(codes)
        best = None
        for found in self.atlas.spread(prices, self.special):
            if best is not None and found[1] > best[1] + LOYAL:
                break
            # What it is on the way to, if that is nearly as near: creatures in the way change
            # what is the nearest from step to step.
            if (best is None or found[0] == before) and done(found[0]):
                best = found
                if found[0] == before or before < 0:
                    break
        self.sought[codes] = -1 if best is None else best[0]
        return best

    def _use(self, found: tuple[int, int, int] | None, action: int = rl.DO) -> int | None:
        """Go to a cell, and act once it is faced."""
        if found is None:
            return None
        cell, _, way = found
        if cell == self.atlas.front and cell not in self.atlas.bodies:
            return action
        if cell == self.atlas.at + self.atlas.steps[way] and self.atlas.facing != way:
            if self.atlas.code(cell) in rl.WALKABLE and cell not in self.atlas.bodies:
                turn = self._turn_to(cell)
                return rl.MOVE + way if turn is None else turn
            return rl.MOVE + way
        return self._stride(way)

    def _stumble(self) -> int:
        """A random step that is not into lava."""
        ways = [
            way
            for way, step in enumerate(self.atlas.steps)
            if self.atlas.code(self.atlas.at + step) in rl.WALKABLE
        ]
        return rl.MOVE + int(self.rng.choice(ways)) if ways else rl.DO

    def _beside(self, cell: int) -> bool:
        return self.atlas.gap(cell, self.atlas.at) == 1

    # ---- staying alive ---------------------------------------------------------------------------

    def _look_out(self) -> None:
        """Where arrows may be after this step: one flies on as it came, a new one anywhere."""
        atlas = self.atlas
        arrows = {cell for cell, body in atlas.bodies.items() if body == rl.ARROW}
        before, self.arrows, self.shots = self.arrows, arrows, set()
        for cell in arrows:
            ways = [step for step in atlas.steps if cell - step in before] or atlas.steps
            self.shots |= {cell + step for step in ways}

    def _out_of_shots(self, action: int) -> int:
        """The action, or another one that does not end where an arrow may be."""
        atlas = self.atlas

        def free(to: int) -> bool:
            return atlas.code(to) in rl.WALKABLE and to not in atlas.bodies

        steps = {rl.MOVE + way: atlas.at + step for way, step in enumerate(atlas.steps)}
        to = steps.get(action, atlas.at)
        if (to if free(to) else atlas.at) not in self.shots or self.inside:
            return action
        if atlas.at not in self.shots:
            return rl.NOOP
        ways = [way for way, cell in steps.items() if free(cell) and cell not in self.shots]
        return ways[0] if ways else action

    def _fight(self) -> int | None:
        """Hit a zombie or skeleton that is beside one, or turn to it."""
        atlas = self.atlas
        foes = [cell for cell, body in atlas.bodies.items() if body in HOSTILE]
        near = [cell for cell in foes if self._beside(cell)]
        if near:
            cell = atlas.front if atlas.front in near else near[0]
            return rl.DO if cell == atlas.front else rl.MOVE + atlas.steps.index(cell - atlas.at)
        if self._strength() >= self.craft.zombie_health:
            # Who waits for it, facing it, hits first, and once is enough.
            ahead = atlas.front + atlas.steps[atlas.facing]
            if atlas.bodies.get(ahead) == rl.ZOMBIE and atlas.code(atlas.front) in rl.WALKABLE:
                self.waiting = True
                return rl.NOOP
        return None

    def _sees_foes(self) -> bool:
        return any(body in HOSTILE for body in self.atlas.bodies.values())

    def _strength(self) -> int:
        """How much health a hit takes."""
        craft = self.craft
        found = craft.damage[0]
        for name, damage in zip(self.contents.swords, craft.damage[1:], strict=True):
            held = self.items[name] if craft.swords_add_up else min(self.items[name], 1)
            found = max(found, held * damage)
        return found * (craft.warrior_damage if self.role == rl.WARRIOR else 1)

    def _up(self) -> list[Mate]:
        return [mate for mate in self.atlas.mates.values() if mate.alive == rl.ALIVE]

    def _rescue(self) -> int | None:
        """Help up who is down, if one is the nearest. Nothing harms those until the morning."""
        atlas, health = self.atlas, self.vitals["health"]
        if self.light < DARK:
            return None
        weak = health <= WEAK or (self.resting and health < SOUND)
        if weak and self._sees_foes():
            return None
        for mate in atlas.mates.values():
            if mate.alive != rl.DOWN or mate.at < 0 or self.given_up.get(mate.at, -1) > self.now:
                continue
            own = atlas.gap(atlas.at, mate.at), self.index
            if weak and own[0] > NEAR:
                continue
            others = [(atlas.gap(m.at, mate.at), m.index) for m in self._up() if m.at >= 0]
            if others and min(others) < own:
                continue
            foe = self._foe_near(mate.at)
            if foe is not None:
                return foe
            if atlas.front == mate.at:
                return rl.DO
            special = {**self.special, mate.at: 1}
            found = atlas.route(self.prices, mate.at.__eq__, special)
            if found is None:
                self.given_up[mate.at] = self.now + 40
                continue
            return self._use(found)
        return None

    def _foe_near(self, spot: int) -> int | None:
        """Towards a zombie in view that would strike down at once who gets up there."""
        bodies, gap = self.atlas.bodies, self.atlas.gap
        foes = {cell for cell, kind in bodies.items() if kind == rl.ZOMBIE and gap(cell, spot) <= 3}
        if not foes:
            return None
        found = self._to(foes.__contains__, most=400)
        # One that is to be gone round to would leave the view on the way.
        return None if found is None or found[1] > 2 * NEAR else self._stride(found[2])

    def _survive(self) -> int | None:
        """Drink and eat, what is most urgent first."""
        drink, food = self.vitals["drink"], self.vitals["food"]
        atlas = self.atlas
        if atlas.code(atlas.front) == rl.WATER and atlas.front not in atlas.bodies and drink < 8:
            return rl.DO
        if self.inside or (self.resting and self.light < DUSK):
            # Nobody goes out at night for a drink: thirst and hunger kill slowly.
            dark, weak = self.light < DARK, self.vitals["health"] <= WEAK
            if min(drink, food) > (0 if dark else 4) or (dark and self.inside and not weak):
                return None
        needs: list[tuple[int, tuple[int, int, int] | None]] = []

        def is_near(level: int, way: int) -> bool:
            # Before the night one goes further for it, if it is worth the way.
            return way <= (3 * (7 - level) if self.evening else 4)

        water = self._seek(rl.WATER) if drink <= 6 else None
        if drink <= (3 if water else 5) or (water is not None and is_near(drink, water[1])):
            needs.append((drink, water))
        if food <= 5:
            meal = self._meal()
            if food <= 3 or (meal is not None and is_near(food, meal[1] - 1)):
                needs.append((food, meal))
        for level, found in sorted(needs, key=lambda need: need[0]):
            if found is not None:
                return self._use(found)
            if level <= (2 if self.light < EVENING else 5):
                return self._explore(rocky=False)
        return None

    def _meal(self) -> tuple[int, int, int] | None:
        """The way to the nearest cow or ripe plant."""
        if self.role not in (0, rl.FORAGER):
            return None
        cells, cows, ripe = self.atlas.cells, self.atlas.cows, rl.RIPE_PLANT + 1
        if not cows and ripe not in cells:
            return None
        return self._to(
            lambda cell: cell in cows or (cells[cell] == ripe and cell not in self.cells_of_plan),
            (rl.RIPE_PLANT,),
        )

    def _rest(self) -> int | None:
        """Sleep closed in, before one is too tired."""
        energy, dark = self.vitals["energy"], self.light < DARK
        was_inside, self.inside = self.inside, False
        urgent = min(self.vitals["drink"], self.vitals["food"]) <= 2 and not dark
        hurt = self.vitals["health"] < (SOUND if self.resting else WEAK + 1)
        wild = dark and self._meadow() and self._strength() < self.craft.zombie_health
        dusk = self.stays and self.evening and self.light < DUSK
        spent = energy <= (1 if self.finishes else 3)
        tired = spent or (dark and energy <= 7) or hurt or wild or dusk
        if self.goal.kind == UNLOCK_ONE and self.goal.target == "wake_up":
            tired = energy < rl.MOST
        if self.resting:
            tired = energy < (rl.MOST if dark or self.evening else RESTED) or hurt or dark or dusk
        if not tired or (urgent and energy > 1) or self.now < self.restless:
            self.resting, self.refuge, self.short = False, None, 0
            return self._open() if was_inside else None
        if not self.resting:
            self.resting, self.lay_down = True, self.now
        if self.role not in (0, rl.MINER):
            return rl.SLEEP if energy <= 1 else None
        if is_closed(self.atlas):
            self.waiting, self.lay_down, self.inside = True, self.now, True
            # Who falls asleep sleeps until it is rested: not when the night is nearly over.
            sleeps = energy < (rl.MOST if hurt or self.evening or self.light < DAWN else RESTED)
            return rl.SLEEP if sleeps else rl.NOOP
        if energy == 0 and self.vitals["health"] <= WEAK and not self._sees_foes():
            return rl.SLEEP  # it would not live to see its refuge
        if self.now - self.lay_down > 80 and not dark:
            # It does not get there: later, and elsewhere.
            self.restless = self.now + 40
        return self._withdraw(energy)

    def _withdraw(self, energy: int) -> int | None:
        """Towards being closed in."""
        atlas, held = self.atlas, self.items["stone"]
        if self.refuge is not None and self.now - self.since > PATIENCE:
            self.given_up[self.refuge.inner], self.refuge = self.now + 2 * PATIENCE, None
        if self.refuge is None:
            refused = {cell: until for cell, until in self.given_up.items() if until > self.now}
            fit, stones = choose(
                atlas, self.prices, self.special, held, self.cells_of_plan, refused
            )
            if held < self.short and fit is None:
                return self._obtain("stone", self.short)
            self.refuge, self.since = fit, self.now
            if fit is None:
                if energy == 0 and not self._sees_foes():
                    return rl.SLEEP
                # It gathers all that it lacks before it tries again, here or elsewhere.
                self.short = min(rl.MOST, max(stones, 2)) if stones else SHELTER
                return self._obtain("stone", self.short)
        self.short = 0
        refuge = self.refuge
        if refuge is None:
            return None
        found = next_step(atlas, refuge, self.prices, self.special, held)
        if found is None:
            self.given_up[refuge.inner], self.refuge = self.now + 2 * PATIENCE, None
            return self._stumble()
        what, way = found
        if what == "go":
            return self._stride(way)
        if what == "dig":
            return rl.DO
        if what == "lay":
            if held:
                return PLACE["stone"]
            self.refuge = None
            return self._obtain("stone", 1)
        self.waiting = True
        return rl.DO if atlas.bodies[atlas.front] < rl.ARROW else rl.NOOP

    def _waylaid(self) -> bool:
        """Whether zombies are about, and one is fit to meet them."""
        gap, at = self.atlas.gap, self.atlas.at
        near = [c for c, body in self.atlas.bodies.items() if body == rl.ZOMBIE and gap(c, at) <= 5]
        return bool(near) and self.vitals["health"] > WEAK + 1

    def _open(self) -> int | None:
        """Out of a shelter by the cell that one faces, if zombies wait: they come one by one."""
        code = self.atlas.code(self.atlas.front)
        opens = self._waylaid() and code == rl.STONE and self.items["wood_pickaxe"]
        self.held = 0
        return rl.DO if opens else None

    def _hold(self) -> int | None:
        """Wait for zombies where they can come only from ahead: who waits hits first."""
        atlas = self.atlas
        if (
            not self._waylaid()
            or self.held > HOLD_OUT
            or atlas.code(atlas.front) not in rl.WALKABLE
        ):
            return None
        room, edge = {atlas.at}, [atlas.at]
        while edge and len(room) <= 3:
            cell = edge.pop()
            new = {cell + step for step in atlas.steps} - room - {atlas.front}
            new = {c for c in new if atlas.code(c) in rl.WALKABLE or atlas.code(c) < 0}
            room |= new
            edge += new
        if len(room) > 3:
            return None
        self.held += 1
        self.waiting = True
        return rl.NOOP

    def _meadow(self) -> bool:
        """Whether zombies are to be expected here at night."""
        cells = self.row[self.world.layout["cells"]]
        return int(np.count_nonzero(cells == rl.GRASS)) >= MEADOW

    # ---- looking for things ----------------------------------------------------------------------

    def _explore(self, rocky: bool | None = None) -> int:
        """Towards cells that were never seen, away from the others; near rock, or not."""
        atlas, cells = self.atlas, self.atlas.cells
        if self.aim >= 0 and cells[self.aim] == UNSEEN:
            aim = self.aim
            found = atlas.route(self.prices, lambda cell: cell == aim, self.special, 3000)
            if found is not None and found[1] < 200:
                return self._stride(found[2])
        best, chosen = float(NEVER), None
        others = [mate.at for mate in self._up() if mate.at >= 0]
        home = divmod(len(cells) // atlas.width // 2 * atlas.width + atlas.width // 2, atlas.width)
        rocks = {code + 1 for code in ROCK}

        def judge(cell: int) -> bool:
            nonlocal best, chosen
            if cells[cell] != UNSEEN or self.given_up.get(cell, -1) > self.now:
                return False
            score = float(atlas.gap(cell, atlas.at))
            if others:
                near = min(atlas.gap(cell, other) for other in others)
                score += max(0, 14 - near)
            if rocky is not None:
                beside = [cells[cell + k * step] for step in atlas.steps for k in (1, 2)
                          if 0 <= cell + k * step < len(cells)]  # fmt: skip
                is_rock = any(code in rocks for code in beside)
                score += 0 if is_rock == rocky else 8
            away = np.subtract(divmod(cell, atlas.width), home)
            turn = self.index * 2.4 + 0.7
            score -= 0.15 * float(away[0] * np.sin(turn) + away[1] * np.cos(turn))
            if score < best:
                best, chosen = score, cell
            return False

        atlas.route(self.prices, judge, self.special, 600)
        if chosen is None:
            atlas.route(self.prices, judge, self.special, 9000)
        if chosen is None:
            return self._stumble()
        self.aim = aim = chosen
        found = atlas.route(self.prices, lambda cell: cell == aim, self.special, 9000)
        return self._stumble() if found is None else self._stride(found[2])

    def _roam(self) -> int | None:
        return self._explore()

    # ---- gathering and making --------------------------------------------------------------------

    def _obtain(self, item: str, count: int = 1) -> int | None:
        """Towards holding so many of an item; None if one does."""
        if self.items[item] >= count:
            return None
        if item in self.contents.recipes:
            return self._make(item)
        code = self.gain[item]
        tool = self.contents.collect[code][1]
        if tool is not None and not self.items[tool]:
            return self._make(tool)
        if item == "sapling":
            return self._sapling()
        found = self._seek(code)
        if found is not None:
            return self._use(found)
        if item in ("stone", "coal", "iron", "diamond"):
            return self._explore(rocky=True)
        return self._explore(rocky=False)

    def _sapling(self) -> int | None:
        atlas = self.atlas
        if self.role not in (0, rl.FORAGER):
            return None
        if atlas.code(atlas.front) == rl.GRASS and atlas.front not in atlas.bodies:
            self.waiting = True
            return rl.DO
        cells, here = atlas.cells, atlas.at
        found = self._to(lambda cell: cells[cell] == rl.GRASS + 1 and cell not in atlas.bodies)
        if found is None:
            return self._explore(rocky=False)
        if not self._beside(found[0]) or found[0] == here:
            return self._stride(found[2])
        turn = self._turn_to(found[0])
        return self._stride(found[2]) if turn is None else turn

    def _cost(self, tool: str) -> dict[str, int]:
        return self.craft.make_cost(tool)

    def _chain(self, tool: str) -> list[str]:
        """The tools that have to be made for one, it last."""
        found: list[str] = []
        for item in self._cost(tool):
            needs = self.contents.collect[self.gain[item]][1] if item in self.gain else None
            if needs is not None and not self.items[needs]:
                found += [t for t in self._chain(needs) if t not in found]
        return [*found, tool]

    def _able(self, tool: str) -> bool:
        return self.role in (0, self.contents.recipes[tool].role)

    def _make(self, tool: str) -> int | None:
        """Towards making a tool."""
        if not self._able(tool):
            return self._ask(tool) or self._roam()
        chain = self._chain(tool)
        first = chain[0]
        if first != tool:
            return self._make(first)
        cost = self._cost(tool)
        station = self._station(rl.FURNACE in self.contents.recipes[tool].near)
        more = 0 if station is not None else self.craft.table_wood
        wood = cost.get("wood", 0) + more
        # Before the first table, wood for the tools to come too.
        ahead = [t for t in self._aims() if not self.items[t] and t != tool and self._able(t)]
        if tool == "wood_pickaxe":
            wood += sum(self._cost(t).get("wood", 0) * self._most(t) for t in ahead)
        wood = min(wood, rl.MOST)
        gathering = self.items["wood"] < cost.get("wood", 0) + more
        if gathering or (tool == "wood_pickaxe" and self.items["wood"] < wood):
            near = self._seek(rl.TREE)
            if gathering or (near is not None and near[1] <= 6):
                return self._obtain("wood", wood)
        for item in ("stone", "coal", "iron"):
            if item in cost and self.items[item] < cost[item]:
                return self._obtain(item, cost[item])
        furnace = rl.FURNACE in self.contents.recipes[tool].near
        if furnace and (station is None or station[0] == "furnace"):
            stone = self.craft.furnace_stone + cost.get("stone", 0)
            if self.items["stone"] < stone:
                return self._obtain("stone", stone)
        number = rl.MAKE + self.contents.makes.index(tool)
        if self.table and (self.furnace or not furnace):
            return number
        if station is None:
            return self._set("table")
        kind, found = station
        if kind == "furnace":
            return self._set("furnace") if self.table else self._stride(found[2])
        return self._stride(found[2])

    def _station(self, furnace: bool) -> tuple[str, tuple[int, int, int]] | None:
        """What leads to a table (and a furnace) that one reaches from one cell: ("use", the way
        there), or ("furnace", the way to a table that a furnace is to be set beside)."""
        atlas, cells, width = self.atlas, self.atlas.cells, self.atlas.width
        around = [r * width + c for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
        table, oven = rl.TABLE + 1, rl.FURNACE + 1

        def near(cell: int, code: int) -> bool:
            return any(cells[cell + step] == code for step in around)

        if self.table and (self.furnace or not furnace):
            return "use", (atlas.at, 0, 0)
        if table not in cells:
            return None
        if furnace and oven in cells:
            both = self._to(lambda cell: near(cell, table) and near(cell, oven))
            if both is not None and both[1] <= 2 * STATION:
                return "use", both
        if self.table:
            return ("furnace" if furnace else "use"), (atlas.at, 0, 0)
        found = self._to(lambda cell: near(cell, table), most=2500)
        if found is None or found[1] > STATION:
            return None
        return ("furnace" if furnace else "use"), found

    # ---- placing ---------------------------------------------------------------------------------

    def _set(self, name: str) -> int | None:
        """Place a thing somewhere near, but not on the building site."""
        atlas = self.atlas
        item, number = self.craft.place_cost(name)
        if self.items[item] < number:
            return self._obtain(item, number)
        grounds = self.craft.place_on(name)
        planned = self._to_build(name)
        if planned is not None:
            return self._put(planned, PLACE[name])

        def fits(cell: int) -> bool:
            code = atlas.code(cell)
            free = cell not in atlas.bodies and cell not in self.cells_of_plan
            return code in grounds and code != rl.LAVA and free and not self._on_site(cell)

        if fits(atlas.front):
            return PLACE[name]
        for way, step in enumerate(atlas.steps):
            to = atlas.at + step
            walkable = atlas.code(to) in rl.WALKABLE and to not in atlas.bodies
            if walkable and fits(to + step):
                return rl.MOVE + way
        return self._stumble()

    def _put(self, cell: int, action: int) -> int | None:
        """Go before a cell, and do something to it, without entering it."""
        atlas = self.atlas
        if atlas.front == cell:
            body = atlas.bodies.get(cell, 0)
            if not body:
                return action
            return rl.DO if body < rl.ARROW else self._stumble()
        # Once it has looked for a way to face the cell, it goes on with that: it may lead round.
        gap = atlas.gap(atlas.at, cell)
        if gap <= 5 or (cell == self.facing_to and gap <= 12):
            self.facing_to = cell
            turn = self._turn_to(cell)
            if turn is not None:
                return turn
        self.facing_to = -1
        special = {**self.special, cell: 1}
        found = atlas.route(self.prices, lambda to: to == cell, special)
        if found is None or found[1] <= 2:
            # Closed in by what was built, or nowhere to turn to it: through it.
            turn = self._turn_to(cell, through=True)
            if turn is not None:
                return turn
        if found is None:
            found = atlas.route(self.prices, lambda to: to == cell, self._torn_down())
        if found is None or atlas.gap(atlas.at, cell) == 1:
            self.given_up[cell] = self.now + 50
            return None
        return self._stride(found[2])

    def _turn_to(self, cell: int, through: bool = False) -> int | None:
        """The action that leads to facing a cell near by, without entering it."""
        special = self.special
        if through:
            special = self._torn_down()
        found = self.atlas.facing_way((cell,), self.prices, special)
        if found is None or found[0] < 0:
            return None
        way, mines = found
        return self._stride(way) if mines else rl.MOVE + way

    def _ask(self, item: str) -> int | None:
        """Let the others see what one needs, now and then, if somebody is near."""
        if not self._up() or self.now - self.asked < 40:
            return None
        if min(self.atlas.gap(self.atlas.at, m.at) if m.at >= 0 else 99 for m in self._up()) > 12:
            return None
        self.asked = self.now
        return self.craft.request + self.craft.gifts.index(item)

    # ---- what is asked ---------------------------------------------------------------------------

    def _aims(self) -> list[str]:
        """The tools that what is asked for takes, in order."""
        goal, needs = self.goal, []
        if goal.kind == HOLD or goal.kind == UNLOCK_ONE:
            what = goal.target.removeprefix("collect_")
            tool = goal.target.removeprefix("make_")
            code = self.gain.get(what)
            if code is not None and goal.target != "collect_sapling":
                needs = [self.contents.collect[code][1]]
            elif tool in self.contents.recipes:
                needs = [tool]
            elif goal.target in ("place_stone", "place_furnace"):
                needs = ["wood_pickaxe"]
        elif goal.kind == BUILD:
            needs = ["wood_pickaxe"] if set(goal.plan) & set("SF") else []
            needs += ["wood_sword", "stone_sword"] if self._is_long() else []
        else:
            needs = list(self.contents.makes)
        return [t for need in needs if need for t in self._whole_chain(need)]

    def _is_long(self) -> bool:
        """Whether what is asked for takes so long that swords pay."""
        goal = self.goal
        if goal.kind == BUILD:
            return sum(map(goal.plan.count, "STFP")) >= LARGE
        return goal.kind in (NO_GOAL, UNLOCK_MANY)

    def _most(self, tool: str) -> int:
        """How many of a tool are worth having: where the hits of swords add up, so many that one
        hit kills a zombie."""
        if tool != "stone_sword" or not self.craft.swords_add_up or not self._is_long():
            return 1
        damage = self.craft.damage[1 + self.contents.swords.index(tool)]
        return -(-self.craft.zombie_health // damage)

    def _whole_chain(self, tool: str) -> list[str]:
        found: list[str] = []
        for item in self._cost(tool):
            before = self.contents.collect[self.gain[item]][1] if item in self.gain else None
            if before is not None:
                found += [t for t in self._whole_chain(before) if t not in found]
        return [*found, tool]

    def _on_site(self, cell: int) -> bool:
        """Whether a cell is of the building site."""
        if self.goal.kind != BUILD or self.atlas.site < 0:
            return False
        row, column = np.subtract(
            divmod(cell, self.atlas.width), divmod(self.atlas.site, self.atlas.width)
        )
        return -1 <= row <= SITE and -1 <= column <= SITE

    def _plan_cells(self) -> dict[int, int]:
        """Cell -> what the plan wants there: 1 + a material, or `FREE`."""
        if self.goal.kind != BUILD or self.atlas.site < 0:
            return {}
        return {
            self.atlas.site + y * self.atlas.width + x: code
            for y, line in enumerate(self.wanted)
            for x, code in enumerate(line)
            if code != ANYTHING
        }

    def _is_right(self, cell: int, code: int) -> bool:
        there = self.atlas.cells[cell]
        if code == FREE:
            return there - 1 in rl.WALKABLE
        return there == code or (code == rl.PLANT + 1 and there == rl.RIPE_PLANT + 1)

    def _to_build(self, name: str) -> int | None:
        """The nearest cell where the plan wants a table, a furnace or a plant, and it can be."""
        code = rl.PLACED[rl.PLACES.index(name)] + 1
        grounds = self.craft.place_on(name)
        fit = [
            cell
            for cell, wanted in self.cells_of_plan.items()
            if wanted == code and self.atlas.code(cell) in grounds and cell != self.atlas.at
            and self.given_up.get(cell, -1) < self.now
        ]  # fmt: skip
        return min(fit, key=lambda cell: self.atlas.gap(cell, self.atlas.at), default=None)
