"""The kitchen's skills: path-finding controllers, as pure functions of what one chef sees.

A skill is a name in a table (`KitchenSkills.names`); at every step its controller turns the chef's
own perception (the compact codes of one chef, `Kitchen.perceive`) into one primitive action.
Nothing is remembered: a skill may be dropped or changed at any step. Cells out of view count as
walls, so a skill whose target is not in view is impossible until the chef has walked to where it
can see it.

Paths lead around the other chefs; where there is no such path, through them, as if they would step
aside. Costs are exact in steps, the turn towards a station included. Pots are called A, B, ... in
reading order among the pots in view.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, IllegalAction, names_of
from manyhands.core.reading.grammar import Grammar
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.levels import (
    BUTTON,
    COUNTER,
    FLOOR,
    POT,
    SERVING,
    VOID,
)
from manyhands.envs.kitchen.observe import fields
from manyhands.envs.kitchen.paths import FAR, STEP, chef_seeds, flood, longest_path, reach, shifted
from manyhands.envs.kitchen.skill_phrases import (
    ALL_DISPENSERS,
    ALL_OBJECTS,
    CHEFS,
    DIRECTIONS,
    DISPENSERS,
    DOING,
    FACING,
    FROM_BOX,
    FRONTS,
    FULLNESS,
    NTH,
    OBJECTS,
    PHRASES,
    RIGHT_AWAY,
    SHORT,
    SIDES,
    SIDES_OF_POTS,
    THINGS,
    WAYS,
)
from manyhands.envs.kitchen.state import (
    CARROT,
    DISH,
    INTERACT,
    MUSHROOM,
    NARROW,
    NOTHING,
    ONION,
    SOUP,
    STAY,
    TOMATO,
    Bits,
    KitchenConfig,
)

# Why a skill is impossible now.
POSSIBLE, WRONG_HANDS, NO_TARGET, NO_WAY = range(4)


# What may be said of a pot besides its place.
_OF_POTS = frozenset({"pot_ahead", "pot_n", "pot_full", "pot_thing"})
MOST_IN_POT = 3


# ---- seeing and path-finding -------------------------------------------------------------------


class Observation(NamedTuple):
    """One chef's perception, unpacked: i32[H, W] each (see `Kitchen`)."""

    terrain: Array
    chef: Array
    facing: Array
    thing: Array
    timer: Array

    @property
    def own(self) -> Array:
        """bool[H, W]: where this chef stands."""
        return self.chef == 1

    @property
    def lying(self) -> Array:
        """i32[H, W]: the object on a counter, 0 elsewhere."""
        return jnp.where(self.terrain == COUNTER, self.thing, NOTHING)

    @property
    def count(self) -> Array:
        """i32[H, W]: ingredients in a pot, 0 elsewhere."""
        inside = sum((self.thing >> shift) & 3 for shift in ask.SHIFTS)
        return jnp.where(self.terrain == POT, inside, 0)


def parse_observation(codes: Array, bits: Bits = NARROW) -> Observation:
    """Unpack compact codes i32[H, W] with these fields (`KitchenConfig.bits`)."""
    return Observation(*fields(codes, bits))


def own_reach(obs: Observation, steps: int) -> tuple[Array, Array]:
    """(around, through): the chef's reach maps i16[H, W], with and without the other chefs as
    obstacles."""
    own = jnp.stack([obs.own] * 2)
    floor = obs.terrain == FLOOR
    free = jnp.stack([floor & (obs.chef < 2), floor])
    facing = jnp.sum(jnp.where(obs.own, obs.facing, 0)).astype(jnp.int16)
    maps = flood(chef_seeds(own, free & ~own), free & ~own, steps)
    around, through = reach(maps, own, facing[None, None, None], free)
    return around, through


def own_ways(obs: Observation, around: Array, through: Array) -> Array:
    """i16[H, W]: what it costs the chef to stand on each floor cell, around the others if there is
    such a way. A cell on which another chef stands is entered from the cells beside it."""
    floor, taken = obs.terrain == FLOOR, obs.chef >= 2
    beside = jnp.where(floor & ~taken, around, FAR)
    entered = jnp.full(around.shape, FAR, jnp.int16)
    for direction in range(4):
        step = jnp.where(obs.own, jnp.int16(direction), beside) + STEP
        entered = jnp.minimum(entered, shifted(step, direction))
    ways = jnp.where(taken, entered, around)
    return jnp.where(ways < FAR, ways, through)


# ---- the skills --------------------------------------------------------------------------------


class Details(NamedTuple):
    """All skills at once, as one chef sees them now.

    Attributes:
        action: i32[S], the primitive action to take; "stay" where the skill is impossible or done.
        done: bool[S], what the skill is for holds now (a chef who holds an onion has fetched one).
        why: i32[S], `POSSIBLE`, or what stands against it.
        steps: i32[S], moves and turns to go, the last interact not counted.
        target: i32[S], cell number of the target.
    """

    action: Array
    done: Array
    why: Array
    steps: Array
    target: Array


class KitchenSkills:
    """The skills of one kitchen's chefs: see the module's docstring, and `wrappers/skills.py`.

    In table order: `fetch` an ingredient or a dish from the nearest dispenser; for each pot, `put
    in pot A`, `start pot A` (only with manual dynamics) and `plate from pot A` (which waits beside
    a pot that still cooks); `serve`; `put down` on the nearest empty counter; `pick up` from the
    nearest counter; `press button`, where layouts have recipe buttons; `wait`; `go to` each cell
    that is floor in any of the kitchen's layouts; and the primitive actions themselves, for one
    step each.

    Attributes:
        names: the table.
        instant: bool[S], whether a skill ends with its first step.
        wait: index of the skill that does nothing.
        example: a skill, for the rules.
    """

    example = "fetch onion"

    def __init__(self, config: KitchenConfig):
        self._config = config
        self._steps = longest_path(config)
        self._pots = [_letter(i) for i in range(config.max_pots)]
        terrains = [level.terrain for level in config.levels]
        floors = {(int(x), int(y)) for t in terrains for y, x in np.argwhere(t == FLOOR)}
        self._floors = sorted(floors, key=lambda cell: (cell[1], cell[0]))
        verbs = ["put in", *(["start"] if config.dynamics == "manual" else []), "plate from"]
        self._objects, self._dispensers = OBJECTS, DISPENSERS
        if config.asked:
            known = ask.KINDS[: config.kinds]
            left_out = set(ask.KINDS[:4]).difference(known)
            self._objects = {n: c for n, c in ALL_OBJECTS.items() if n not in left_out}
            self._dispensers = {n: c for n, c in ALL_DISPENSERS.items() if n not in left_out}
        self._buttons = bool((config.terrains == BUTTON).any())
        names = [f"fetch {name}" for name in self._dispensers]
        names += [f"{verb} pot {letter}" for letter in self._pots for verb in verbs]
        names += ["serve", "put down", *(f"pick up {name}" for name in self._objects)]
        names += [*["press button"] * self._buttons, "wait"]
        self.wait = len(names) - 1
        names += [f"go to ({x}, {y})" for x, y in self._floors]
        self._first_primitive = len(names)
        names += ["north", "south", "east", "west", "interact"]
        self.names = tuple(names)
        self.instant = np.arange(len(names)) >= self._first_primitive
        self.instant[self.wait] = True
        self._index = {name: i for i, name in enumerate(names)}
        letters = [_letter(i) for i in range(2 * 26)]
        self._grammar = Grammar(
            PHRASES,
            {
                "letter": {name: name for name in letters[: len(self._pots)]},
                "pot_side": SIDES_OF_POTS,
                "pot_near": dict.fromkeys(("nearest", "closest", "nearer", "closer"), True),
                "front": FRONTS,
                "dir": DIRECTIONS,
                "doing": DOING,
                "ahead": dict.fromkeys(
                    ("in front of me", "right in front of me", "ahead of me", "before me"), True
                ),
                "facing": dict.fromkeys(FACING, True),
                "full": FULLNESS,
                "kind": {name: name for name in ask.KINDS},
                "pots": {f"pot {name.lower()}'s": name for name in letters},
                "pot": {name: name for name in letters}
                | {str(i + 1): name for i, name in enumerate(letters[:9])},
                "nth": dict(zip(NTH, letters, strict=False)),
                "thing": THINGS,
                "way": WAYS,
                "side": SIDES,
                "other": CHEFS,
            },
            short=SHORT,
        )
        self._compiled = jax.jit(self.details)

    def primitive(self, action: Array) -> Array:
        """The skill that takes one primitive action for one step; traceable."""
        skill = self._first_primitive + jnp.minimum(action, STAY)
        skill = jnp.where(action == INTERACT, len(self.names) - 1, skill)
        return jnp.where(action == STAY, self.wait, skill).astype(jnp.int32)

    def survey(self, perception: Array) -> tuple[Array, Array, Array]:
        """(action i32[S], done bool[S], possible bool[S]) of all skills, for one chef."""
        details = self._compiled(perception)  # traced once, for all who call it
        return details.action, details.done, details.why == POSSIBLE

    def control(self, perception: Array, skill: Array) -> tuple[Array, Array, Array]:
        """(action, done, possible) of one skill, for one chef."""
        action, done, possible = self.survey(perception)
        return action[skill], done[skill], possible[skill]

    def details(self, perception: Array) -> Details:
        obs = parse_observation(perception, self._config.bits)
        around, through = own_reach(obs, self._steps)
        hand = jnp.sum(jnp.where(obs.own, obs.thing, 0))
        empty, soup = hand == NOTHING, hand >= SOUP
        cook = (hand == ONION) | (hand == TOMATO)
        if self._config.asked:
            cook = cook | (hand == CARROT) | (hand == MUSHROOM)
        pot = obs.terrain == POT
        number = jnp.cumsum(pot.reshape(-1)).reshape(pot.shape)
        lying = obs.lying
        lying = jnp.minimum(lying, SOUP)
        counter = obs.terrain == COUNTER
        idle = obs.timer == 0

        # (whether the hands are right, target cells, done), in the order of the table.
        rows: list[tuple[Array, Array, Array]] = []
        for name, code in self._dispensers.items():
            rows.append((empty, obs.terrain == code, hand == self._objects[name]))
        for i in range(len(self._pots)):
            this = pot & (number == i + 1)
            rows.append((cook, this & idle & (obs.count < 3), empty))
            if self._config.dynamics == "manual":
                startable = this & idle & (obs.count > 0)
                rows.append((empty, startable, jnp.any(this & ~idle)))
            rows.append((hand == DISH, this & ~idle, soup))
        rows.append((soup, obs.terrain == SERVING, empty))
        rows.append((~empty, counter & (lying == NOTHING), empty))
        for code in self._objects.values():
            rows.append((empty, counter & (lying == code), jnp.minimum(hand, SOUP) == code))
        if self._buttons:
            button = obs.terrain == BUTTON
            rows.append((empty, button, jnp.any(button & (obs.timer > 0))))

        targets = jnp.stack([target for _, target, _ in rows]).reshape(len(rows), -1)
        hands = jnp.stack([right for right, _, _ in rows])
        done = jnp.stack([achieved for _, _, achieved in rows])
        costs_around = jnp.where(targets, around.reshape(-1), FAR)
        costs_through = jnp.where(targets, through.reshape(-1), FAR)
        costs = jnp.where(costs_around.min(1, keepdims=True) < FAR, costs_around, costs_through)
        target, cost = costs.argmin(1).astype(jnp.int32), costs.min(1).astype(jnp.int32)
        why = jnp.where(cost < FAR, POSSIBLE, jnp.where(targets.any(1), NO_WAY, NO_TARGET))
        why = jnp.where(hands, why, WRONG_HANDS)
        cooking = (obs.timer.reshape(-1)[target] > 1) & (hand == DISH)
        there = jnp.where(cooking & jnp.asarray(self._plates()), STAY, INTERACT)
        action = jnp.where(cost < STEP, there, cost & 7)

        cells = jnp.asarray([y * self._config.width + x for x, y in self._floors], jnp.int32)
        standing = obs.own.reshape(-1)[cells]
        seen = (obs.terrain == FLOOR).reshape(-1)[cells]
        way = own_ways(obs, around, through).reshape(-1)[cells].astype(jnp.int32)
        go_why = jnp.where(way < FAR, POSSIBLE, jnp.where(seen, NO_WAY, NO_TARGET))
        go_why = jnp.where(standing, WRONG_HANDS, go_why)

        zero = jnp.zeros(1, jnp.int32)
        one_step = jnp.asarray([0, 1, 2, 3, INTERACT], jnp.int32)
        nowhere = jnp.zeros(5, jnp.int32)
        action = jnp.concatenate([action, zero + STAY, way & 7, one_step])
        done = jnp.concatenate([done, zero == 0, standing, one_step >= 0])
        why = jnp.concatenate([why, zero, go_why, nowhere]).astype(jnp.int32)
        return Details(
            jnp.where(why == POSSIBLE, action, STAY).astype(jnp.int32),
            done,
            why,
            jnp.concatenate([cost >> 3, zero, way >> 3, nowhere]),
            jnp.concatenate([target, zero, cells, nowhere]),
        )

    def _plates(self) -> np.ndarray:
        return np.array([name.startswith("plate") for name in self.names[: self.wait]])

    # ---- in words -----------------------------------------------------------------------------

    def words(self, perception: np.ndarray) -> list[str]:
        """For each skill what it would do now, or, where it is impossible, why."""
        details = jax.device_get(self._compiled(np.asarray(perception, np.int32)))
        obs = parse_observation(np.asarray(perception), self._config.bits)
        hand = int(obs.thing[obs.chef == 1].sum())
        return [self._word(i, details, obs, hand) for i in range(len(self.names))]

    def _word(self, i: int, details: Details, obs: Observation, hand: int) -> str:
        name = self.names[i]
        if i == self.wait or i >= self._first_primitive:
            return ""  # the rules explain them, and nothing is promised
        y, x = divmod(int(details.target[i]), self._config.width)
        held = (
            "nothing"
            if hand == NOTHING
            else next(noun for noun, code in self._objects.items() if code == min(hand, SOUP))
        )
        why, verb = int(details.why[i]), name.split(" pot ")[0]
        if why == WRONG_HANDS:
            if name.startswith("go to"):
                return "you are there"
            wanted = {
                "put in": "an ingredient",
                "plate from": "a dish",
                "serve": "a soup",
                "put down": "something",
            }.get(verb)
            need = f"needs {wanted} in your hands" if wanted else "needs empty hands"
            return f"{need}; you hold {held}"
        if why in (NO_WAY, NO_TARGET):
            reason = "no way leads there" if why == NO_WAY else self._missing(name, verb, obs)
            other = self._index.get(name.replace("fetch", "pick up"), i)
            lies = other != i and int(details.why[other]) == POSSIBLE
            return f"{reason}; one lies on a counter: {self.names[other]}" if lies else reason
        steps = int(details.steps[i])  # before the interact, which is one more
        done = steps + (not name.startswith("go to"))
        far = "now, if nobody is first" if steps == 0 else f"about {_steps(done)}"
        if verb == "plate from" and int(obs.timer[y, x]) > 1:
            ready = _steps(int(obs.timer[y, x]) - 1)
            far = f"about {ready} until it is ready" if steps == 0 else f"{far}, ready in {ready}"
        if verb == "put in":
            far += f", {held} {int(obs.count[y, x]) + 1} of 3"
        if name.startswith("go to"):
            return f"{far}, if the chef there leaves" if obs.chef[y, x] >= 2 else far
        return f"at ({x}, {y}), {far}"

    def _missing(self, name: str, verb: str, obs: Observation) -> str:
        if " pot " in name:
            number = self._pots.index(name.split(" ")[-1]) + 1
            if int((obs.terrain == POT).sum()) < number:
                return "there is no such pot in view"
            timer = int(obs.timer[obs.terrain == POT][number - 1])
            if verb == "plate from":
                return "nothing cooks in it"
            if verb == "start":
                return "it is empty" if timer == 0 else "it is cooking or ready"
            return "it is full" if timer == 0 else "it is cooking or ready"
        if name == "put down":
            return "no empty counter is in view"
        if name.startswith("go to"):
            return "no floor is seen there"
        return f"there is none {'on a counter ' if verb.startswith('pick up') else ''}in view"

    def parse(
        self, text: str, perception: np.ndarray | None = None, current: int | None = None
    ) -> int | None:
        """The skill that a sentence names, None if it names none.

        Raises:
            IllegalAction: it speaks of a skill, but not of one in the table; or of a thing that is
                not in the chef's hands, as `perception` has it.
        """
        readings = self._grammar.read(text)
        if RIGHT_AWAY.search(text):
            readings = [reading for reading in readings if reading.values.get("side") != "east"]
        # "Pot a" is pot A, although "a" may be an article.
        most = max((len(reading.values) for reading in readings), default=0)
        meant = [reading for reading in readings if len(reading.values) == most]
        # "Keep plating" is no plate; "continue picking up the onion" may begin it.
        ongoing = [reading for reading in meant if "doing" in reading.values]
        work = ongoing[0].values["doing"] if ongoing else ""
        if ongoing and (current is None or not _works(self.names[current], work)):
            ongoing = [reading for reading in readings if reading.meaning == work] or ongoing
        meant = ongoing or meant
        own = not FROM_BOX.search(text)
        named = {
            self._under_way(values, current)
            if meaning == "go on"
            else self._own(self._skill(meaning, values, perception), current, perception)
            if meaning == "fetch" and own
            else self._skill(meaning, values, perception)
            for meaning, values in meant
        }
        if len(named) > 1 and perception is not None:  # "from (3, 4)": a dispenser or a counter
            named = {skill for skill in named if self._leads(skill, meant[0].values, perception)}
        if len(named) != 1:
            return None
        skill = named.pop()
        if perception is not None:
            self._at(skill, meant[0].values, perception)
        return skill

    def _under_way(self, said: dict[str, Any], current: int | None) -> int:
        """The current skill, if it is one with the thing, the pot or the work that is named."""
        name = "" if current is None else self.names[current]
        thing, doing = said.get("pot") or said.get("thing"), said.get("doing", "")
        with_it = {"plate": ("dish", "soup"), "serve": ("soup",)}.get(name.split(" ")[0], ())
        known = not thing or thing in (*with_it, name.split(" ")[-1])
        if current is None or not known or not _works(name, doing):
            what = f"with {thing} " if thing else f"to {doing} " if doing else ""
            raise IllegalAction(f"no skill {what}is under way")
        return current

    def _own(self, skill: int, current: int | None, perception: np.ndarray | None) -> int:
        """The skill to take a thing, said of no dispenser: to pick it up, where that is under way
        or the only way to get one."""
        picking = self._index.get(self.names[skill].replace("fetch", "pick up"), skill)
        if picking == current or perception is None:
            return picking if picking == current else skill
        why = jax.device_get(self._compiled(np.asarray(perception, np.int32))).why
        lacking = int(why[skill]) in (NO_WAY, NO_TARGET)
        return picking if lacking and int(why[picking]) == POSSIBLE else skill

    def _at(self, skill: int, said: dict[str, Any], perception: np.ndarray) -> None:
        """That a skill leads to the place of which is spoken."""
        to = self._target(skill, perception)
        if to is None or not {"at_x", "at_dir", "at_front"} & said.keys():
            return
        x, y, ahead = self._here(perception)
        there = to == (said.get("at_x", to[0]), said.get("at_y", to[1]))
        if "at_dir" in said:
            axis, sign = said["at_dir"]
            there = there and ((to[1] - y, to[0] - x)[axis] * sign > 0)
        if not there or ("at_front" in said and to != ahead):
            raise IllegalAction(f"{self.names[skill]!r} leads to {to}")

    def _here(self, perception: np.ndarray) -> tuple[int, int, tuple[int, int]]:
        """(x, y) of the chef, and of the cell that it faces."""
        obs = parse_observation(np.asarray(perception), self._config.bits)
        ((y, x),) = np.argwhere(np.asarray(obs.own)).tolist()
        way = int(np.asarray(obs.facing)[y, x])
        return x, y, (x + _COLUMNS[way], y + _ROWS[way])

    def _leads(self, skill: int, said: dict[str, Any], perception: np.ndarray) -> bool:
        place = said.get("at_x"), said.get("at_y")
        return self._target(skill, perception) == place

    def _target(self, skill: int, perception: np.ndarray) -> tuple[int, int] | None:
        """(x, y) where a skill leads, None if it is impossible."""
        details = jax.device_get(self._compiled(np.asarray(perception, np.int32)))
        y, x = divmod(int(details.target[skill]), self._config.width)
        return (x, y) if int(details.why[skill]) == POSSIBLE else None

    def _skill(self, verb: str, said: dict[str, Any], perception: np.ndarray | None) -> int:
        thing, pots = said.get("thing"), ", ".join(self._pots)
        if verb == "fetch":  # "to the onion box, take one"
            thing = said.get("thing", said.get("box"))
        if verb == "wait":
            self._in_hand(thing, perception)
            return self.wait
        if verb == "press":
            return self._named("press button", "there is no recipe button here")
        if verb == "interact":
            self._in_front(said.get("front"), perception)
        if verb == "step":
            self._in_front(said.get("toward"), perception, said.get("way") or said.get("side"))
        if verb in ("step", "interact"):
            return self._index[said.get("way") or said.get("side") or verb]
        if verb == "go to":
            xs, ys = zip(*self._floors, strict=True)
            spans = f"x is from {min(xs)} to {max(xs)}, y from {min(ys)} to {max(ys)}"
            return self._named(
                f"go to ({said['x']}, {said['y']})", f"that is no floor cell; {spans}"
            )
        if verb == "fetch" and thing == "soup":
            raise IllegalAction("say from where: plate from pot A, or pick up soup from a counter")
        if said.get("box", thing) != thing:
            raise IllegalAction(f"there is no {thing} in a {said['box']} dispenser")
        if verb == "take it" or (verb == "pick up" and thing is None):
            return self._only(("fetch", "pick up") if verb == "take it" else (verb,), perception)
        if verb in ("fetch", "pick up"):
            known = names_of([name for name in self._objects if name in self._dispensers])
            return self._named(f"{verb} {thing}", f"there are {known}")
        self._in_hand(thing, perception)
        if verb in ("serve", "put down"):
            return self._index[verb]
        if "pot" not in said and len(self._pots) > 1:
            said = {**said, "pot": self._pot_like(verb, said, perception)}
        if said.get("also", said.get("pot")) != said.get("pot"):
            raise IllegalAction(f"that is pot {said['pot']}")
        known, pot = f"the pots are {pots}", said.get("pot", "A")
        if pot not in self._pots:
            raise IllegalAction(known)
        if perception is not None and pot not in self._pots_of(said, perception):
            raise IllegalAction(f"pot {pot} is not like that")
        if verb == "start" and self._config.dynamics != "manual":
            known = "pots start by themselves with the third ingredient"
        return self._named(f"{verb} pot {pot}", known)

    def _only(self, verbs: tuple[str, ...], perception: np.ndarray | None) -> int:
        """The one skill of some verbs that is possible."""
        able = [] if perception is None else self._able(perception)
        found = [k for k in able if self.names[k].startswith(verbs)]
        if len(found) != 1:
            raise IllegalAction(f"say what to take: {names_of([self.names[k] for k in found])}")
        return found[0]

    def _able(self, perception: np.ndarray) -> list[int]:
        why = jax.device_get(self._compiled(np.asarray(perception, np.int32))).why
        return np.flatnonzero(np.asarray(why) == POSSIBLE).tolist()

    def _pot_like(self, verb: str, said: dict[str, Any], perception: np.ndarray | None) -> str:
        """The letter of the pot that is named by its side, or as the nearest."""
        found: list[str] = []
        if perception is not None and "pot_side" in said:
            obs = parse_observation(np.asarray(perception), self._config.bits)
            axis, last = said["pot_side"]
            places = np.argwhere(np.asarray(obs.terrain) == POT)[:, axis].tolist()
            end = max(places) if last else min(places)
            found = [self._pots[k] for k, place in enumerate(places) if place == end]
        elif perception is not None and "pot_near" in said:
            details = jax.device_get(self._compiled(np.asarray(perception, np.int32)))
            rows = [self._index.get(f"{verb} pot {letter}", self.wait) for letter in self._pots]
            steps = [int(details.steps[k]) for k in rows if int(details.why[k]) == POSSIBLE]
            found = [
                letter
                for k, letter in zip(rows, self._pots, strict=True)
                if int(details.why[k]) == POSSIBLE and int(details.steps[k]) == min(steps)
            ]
        elif perception is not None and "pot_dir" in said:
            obs = parse_observation(np.asarray(perception), self._config.bits)
            x, y, _ = self._here(perception)
            axis, sign = said["pot_dir"]
            places = np.argwhere(np.asarray(obs.terrain) == POT).tolist()
            found = [
                self._pots[k]
                for k, place in enumerate(places)
                if (place[axis] - (y, x)[axis]) * sign > 0
            ]
        elif perception is not None and _OF_POTS & said.keys():
            found = self._pots_of(said, perception)
        elif perception is not None:  # the only one for which it is possible
            able = {self.names[k] for k in self._able(perception)}
            found = [letter for letter in self._pots if f"{verb} pot {letter}" in able]
        if len(found) != 1:
            raise IllegalAction(f"say which pot: {', '.join(self._pots)}")
        return found[0]

    def _pots_of(self, said: dict[str, Any], perception: np.ndarray) -> list[str]:
        """The letters of the pots that are as described: faced, or by what is in them."""
        if not _OF_POTS & said.keys():
            return self._pots
        obs = parse_observation(np.asarray(perception), self._config.bits)
        cells, ahead = np.argwhere(np.asarray(obs.terrain) == POT).tolist(), None
        if "pot_ahead" in said:
            ahead = self._here(perception)[2]
        inside = [ask.counts(int(obs.thing[y, x])) for y, x in cells]
        filling = [sum(held) for held in inside if sum(held) < MOST_IN_POT] or [0]
        amounts = {"empty": 0, "most": max(filling), "least": min(filling)}
        amount = amounts.get(said.get("pot_full", ""), said.get("pot_n"))
        kind = said.get("pot_thing")
        return [
            letter
            for letter, (y, x), held in zip(self._pots, cells, inside, strict=False)
            if ahead in (None, (x, y))
            and amount in (None, sum(held))
            and (kind is None or held[ask.KINDS.index(kind)] >= (amount or 1))
        ]

    def _in_front(
        self, front: int | None, perception: np.ndarray | None, way: str | None = None
    ) -> None:
        """That what the chef speaks of is what it faces, or what lies in a direction."""
        if front is None or perception is None:
            return
        obs = parse_observation(np.asarray(perception), self._config.bits)
        x, y, (to_x, to_y) = self._here(perception)
        if way is not None:
            k = ("north", "south", "east", "west").index(way)
            to_x, to_y = x + _COLUMNS[k], y + _ROWS[k]
        if int(np.asarray(obs.terrain)[to_y, to_x]) != front:
            raise IllegalAction("that is not what you face" if way is None else "it is not there")

    def _in_hand(self, thing: str | None, perception: np.ndarray | None) -> None:
        """That the chef does not hold something else than it speaks of."""
        if thing is None or perception is None:
            return
        obs = parse_observation(np.asarray(perception), self._config.bits)
        hand = min(int(obs.thing[obs.chef == 1].sum()), SOUP)
        held = next((noun for noun, code in self._objects.items() if code == hand), "nothing")
        if held != thing and hand != NOTHING:
            raise IllegalAction(f"you hold {held}, not {thing}")

    def _named(self, name: str, otherwise: str) -> int:
        if name not in self._index:
            raise IllegalAction(f"there is no skill {name!r}: {otherwise}")
        return self._index[name]

    def rules(self) -> str:
        """What a reader must know of the skills beyond the kitchen's own rules."""
        pots = "".join(
            [
                "put in pot A (B, ...): bring the ingredient you hold to that pot.\n",
                "start pot A: start cooking what is in it.\n"
                if self._config.dynamics == "manual"
                else "",
                "plate from pot A: take the soup onto the dish you hold, as soon as it is ready.\n",
            ]
        )
        kinds = [name for name in self._dispensers if name != "dish"]
        pressed = "press button: press the nearest recipe button.\n" if self._buttons else ""
        return (
            "You act by skills. A skill walks for you, one step each time you name it, around the "
            "others; go on naming it until it is done, or name another one at any time.\n"
            f"fetch {' / '.join(kinds)} / dish: take one from the nearest dispenser.\n"
            f"{pots}"
            "serve: bring the soup you hold to the serving window.\n"
            "put down: put what you hold onto the nearest empty counter.\n"
            f"pick up {' / '.join(kinds)} / dish / soup: take one from the nearest counter.\n"
            f"{pressed}"
            "go to (x, y): walk to that cell; x counts columns from the west, y rows from the "
            "north, both from 0.\n"
            "'About n steps' are those to walk and to turn, and the one to take, put or serve.\n"
            "wait: do nothing for one step. north, south, east, west, interact: one plain step.\n"
            "Pots are lettered in reading order among those you see; a skill whose target you do "
            "not see is impossible."
        )


_ROWS, _COLUMNS = (-1, 1, 0, 0), (0, 0, 1, -1)  # of north, south, east, west


def _works(name: str, doing: str) -> bool:
    """Whether a skill is the work that is named; whoever fetches picks up too."""
    return name.startswith(("pick up", "fetch") if doing == "pick up" else doing)


def _steps(count: int) -> str:
    return f"{count} step{'s' * (count != 1)}"


def _letter(number: int) -> str:
    """A, B, ... Z, AA, AB, ..., as the kitchen's text has it."""
    return (_letter(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)


def frontier(obs: Observation) -> Array:
    """bool[H, W]: floor cells beside cells that were never seen."""
    unseen = obs.terrain == VOID
    beside = shifted(unseen, 0)
    for direction in (1, 2, 3):
        beside = beside | shifted(unseen, direction)
    return (obs.terrain == FLOOR) & beside
