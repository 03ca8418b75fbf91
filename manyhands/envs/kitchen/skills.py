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

import re
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, IllegalAction, names_of
from manyhands.core.grammar import Grammar
from manyhands.core.phrases import WAITING
from manyhands.envs.kitchen import asked as ask
from manyhands.envs.kitchen.levels import (
    BUTTON,
    CARROTS,
    COUNTER,
    DISHES,
    FLOOR,
    MUSHROOMS,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
    VOID,
)
from manyhands.envs.kitchen.observe import fields
from manyhands.envs.kitchen.paths import FAR, STEP, chef_seeds, flood, longest_path, reach, shifted
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

OBJECTS = {"onion": ONION, "tomato": TOMATO, "dish": DISH, "soup": SOUP}
DISPENSERS = {"onion": ONIONS, "tomato": TOMATOES, "dish": DISHES}
# With those that there are only where one recipe is asked for at a time.
ALL_OBJECTS = OBJECTS | {"carrot": CARROT, "mushroom": MUSHROOM}
ALL_DISPENSERS = DISPENSERS | {"carrot": CARROTS, "mushroom": MUSHROOMS}
# Why a skill is impossible now.
POSSIBLE, WRONG_HANDS, NO_TARGET, NO_WAY = range(4)


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
            _PHRASES,
            {
                "letter": {name: name for name in letters[: len(self._pots)]},
                "pot_side": _SIDES_OF_POTS,
                "pot_near": dict.fromkeys(("nearest", "closest", "nearer", "closer"), True),
                "front": _FRONTS,
                "pot": {name: name for name in letters}
                | {str(i + 1): name for i, name in enumerate(letters[:9])},
                "nth": dict(zip(_NTH, letters, strict=False)),
                "thing": _THINGS,
                "way": _WAYS,
                "side": _SIDES,
                "other": _CHEFS,
            },
            short=_SHORT,
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
        if why == NO_WAY:
            return "no way leads there"
        if why == NO_TARGET:
            return self._missing(name, verb, obs)
        steps = int(details.steps[i])  # before the interact, which is one more
        done = steps + (not name.startswith("go to"))
        far = "now, if nobody is first" if steps == 0 else f"about {_steps(done)}"
        if verb == "plate from" and int(obs.timer[y, x]) > 1:
            far += f", ready in {_steps(int(obs.timer[y, x]) - 1)}"
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
        if _RIGHT_AWAY.search(text):
            readings = [reading for reading in readings if reading.values.get("side") != "east"]
        # "Pot a" is pot A, although "a" may be an article.
        most = max((len(reading.values) for reading in readings), default=0)
        meant = [reading for reading in readings if len(reading.values) == most]
        named = {
            self._under_way(values.get("thing") or values.get("pot"), current)
            if meaning == "go on"
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

    def _under_way(self, thing: str | None, current: int | None) -> int:
        """The current skill, if it is one with that thing or pot."""
        if current is None or (thing and self.names[current].split()[-1] != thing):
            raise IllegalAction(f"no skill {f'with {thing} ' if thing else ''}is under way")
        return current

    def _at(self, skill: int, said: dict[str, Any], perception: np.ndarray) -> None:
        """That a skill leads to the place of which is spoken."""
        if "at_x" not in said:
            return
        to = self._target(skill, perception)
        if to is not None and to != (said["at_x"], said["at_y"]):
            raise IllegalAction(f"{self.names[skill]!r} leads to {to}")

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
        known = f"the pots are {pots}"
        if verb == "start" and self._config.dynamics != "manual":
            known = "pots start by themselves with the third ingredient"
        return self._named(f"{verb} pot {said.get('pot', 'A')}", known)

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
        if len(found) != 1:
            raise IllegalAction(f"say which pot: {', '.join(self._pots)}")
        return found[0]

    def _in_front(self, front: int | None, perception: np.ndarray | None) -> None:
        """That the chef faces what it speaks of."""
        if front is None or perception is None:
            return
        obs = parse_observation(np.asarray(perception), self._config.bits)
        ((y, x),) = np.argwhere(np.asarray(obs.own)).tolist()
        way = int(np.asarray(obs.facing)[y, x])
        faced = jnp.roll(obs.terrain, (-_ROWS[way], -_COLUMNS[way]), (0, 1))[y, x]
        if int(faced) != front:
            raise IllegalAction("that is not what you face")

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

# ---- ways to say skills ------------------------------------------------------------------------

# Where "right" may be no direction.
_RIGHT_AWAY = re.compile(r"\bright (?:now|then|away|again)\b|\b(?:yeah|yes|all)\W+right\b", re.I)

_NTH = ("first", "second", "third", "fourth", "fifth", "sixth")
_ON = (
    "[(keep|still|continue|keep on|go on|continue with|go on with|continue to|go on to|go|go and"
    "|carry on|carry on with|proceed to|proceed with|resume|get back to|hurry to|finish|try to)]"
)
_DET = (
    "[(my|some|1|one|another|this|that|more|new|fresh)] "
    "[(first|second|third|fourth|next|last|final)]"
)
_HELD = f"({_DET} {{thing}}|it|this|that|[my] ingredient|what i hold|what i'm holding|what i have)"
_AT = "[[(at|on|in)] [(cell|position)] {at_x:n} {at_y:n}]"
_POT_SIDE = "({pot_side} [(hand|side)]|{pot_near})"
_A_POT = (
    f"([(this|that|my)] (pot|pan) [{{pot}}] {_AT}|{{pot:nth}} (pot|pan) {_AT}"
    f"|({_POT_SIDE} (pot|pan|1)|(pot|pan|1) (on|to|at) {{pot_side}} [(hand|side)]) "
    "[[.] [(that's|that is|i . e [.]|namely)] (pot|pan) {also:pot}])"
)
_POT = f"({_A_POT}|{{pot:letter}})"
_FOR = f"[for ([(my|this|next|our)] (soup|order)|{_POT})]"
_BOX = (
    "[(from|at|out of) [(nearest|closest|this)] [{box:thing}] (dispenser|box|crate|pile|stack|"
    "supply|source|station|bin) [(in front [of me]|ahead [of me]|to my {box_side:side}|next to me"
    "|{box_way:way} of me|on [the] {box_way:way} [side])]|[right] here|in front of me|in hand|back"
    f"|(that's|that is|which is) [right] (here|in front of me|next to me)] {_AT}"
)
_BOXES = "{thing} [(dispenser|box|crate|pile|stack|supply|station|bin)]"
_TOP = (
    "([(nearest|closest|empty|free|nearest empty|nearest free|this|that|middle|central|next|my)] "
    f"(counter|worktop) {_AT}|[(cell|position)] {{at_x:n}} {{at_y:n}})"
)
_WINDOW = (
    "(window|serving (window|counter|station|area|hatch|point)|hatch|delivery [(window|station|"
    f"counter|area|point)]|customer) {_AT}"
)
_GET = (
    "(fetch|get|take|grab|collect|retrieve|gather|pick|snatch|secure|bring [back]|get hold of"
    "|obtain"
    "|(go|head|off|be off|go off) for|go (fetch|get|grab)) [(myself|me)]"
)
_IN = "[(and|to) (drop|put|add|tip|place|throw|pop|toss) it [(in|there|in there|inside)]]"
# What another chef is let do.
_DOES = (
    "(go|pass|move|act|work|decide|get|get (to|at|by|past|through)|reach|use|take|grab|fetch|bring"
    "|put|fill|finish|cook|plate|serve|deliver|do|have|clear|deal with|by|past|through|squeeze"
    f" (by|past|through)) [{_DET}] [({{their:thing}} [(dispenser|box|crate|pile|stack|supply)]"
    "|(pot|pan) [{their_pot:pot}]|window|serving window|counter|it|this|way|job|turn)] "
    "[(first|by|past|through|away|on|out of [my] way)]"
)
# Why one goes or waits: what another can do then.
_SO_OTHER = (
    f"(so [that] {{other}} (can|may|has room to|is able to) {_DOES}|(to|and) let {{other}} {_DOES}"
    "|[to get|to be] out of [(my|{other} s)] way|to (make|give|leave) [{other}] (room|space) "
    "[for {other}]|to (make way for|free (way|path) for|give way to|avoid) {other})"
)
_WATCH_OTHER = (
    "[(and|to)] ((see|watch|check|find out) (what|where|how|which way|whether|if) {other} "
    "(do|does|will do|is doing|is up to|heads|goes|moves|is (going|heading|headed|off to)|wants"
    "|(wants|is going|plans|intends) to (go|do)|will go|turns|takes|decides|plans)"
    "|(watch|observe|see|keep an eye on) {other})"
)
_SO_FREE = (
    "(for (now|later|{other})|so [that] my hand (is|be|are|get|become) (free|empty)"
    f"|to (free|empty|clear) my hand|{_SO_OTHER})"
)
_SOUP = "([(my|this|that)] [(ready|cooked|finished)] (soup|dish|order|plate|meal)|it|this)"
_ONCE = "[(1|one) (step|cell|tile|square)]"
_GO = "(go|walk|move|run|head|head for|travel|make my way)"
_ASIDE = (
    "((step|move|go|get|walk) (aside|out of way|back|away)|retreat|back off|back up|back away"
    "|withdraw|fall back|pull back|shift|slide|slip|hop|relocate|reposition|get|scoot|shuffle"
    "|(clear way|make room|make way|give way) by (go|walk|move|step))"
)
_UNTIL = (
    "(until|till) (something|anything) [(else|new|important)] (happen|change|concern me|occur) "
    "[to me]|for [(a|an|some)] (change|event)|(until|till) [(a|an|some)] (change|event)"
)
_FOR_THAT = (
    f"for ({_SOUP}|{_POT}|{{other}}) [to (cook|finish|be (ready|done|cooked)|finish cooking|move"
    " [(away|on|out of [(my|the)] way)]|pass|leave|get out of my way)]"
    f"|while ({_SOUP}|{_POT}) cook"
    f"|(until|till) ({_SOUP}|{_POT}|{{other}}) ((is|are|has|have) [been] (ready|done|cooked|cook"
    "|finished|moved|left|passed|gone|away|out of [(my|the)] way) [(away|by|on)]"
    "|(cook|finish|move|leave|pass|go away) [(away|by|on|out of [(my|the)] way)])"
)
_AHEAD = "(in front [of me]|ahead [of me]|before me|(that|which) i face|i face|i'm facing)"
_FACED = (
    "(it|this|(what|whatever) (i face|i'm facing|is in front of me|is ahead [of me])"
    f"|[(this|that|empty)] {{front}} [{_AHEAD}])"
)
_CELLS = (
    *("{x:n} {y:n}", "x [=] {x:n} [and] y [=] {y:n}", "column {x:n} [and] row {y:n}"),
    *("y [=] {y:n} [and] x [=] {x:n}", "row {y:n} [and] column {x:n}", "x y [=] {x:n} {y:n}"),
)
_PHRASES = {
    "fetch": [f"{_ON} {_GET} {_DET} {{thing}} {_BOX} {_FOR}",
              f"[[(go|walk|head|run|off)] [over] to] [(nearest|closest)] {{box:thing}} "
              f"(dispenser|box|crate|pile|stack|supply|station|bin) {_AT} [.] [i] {_GET} "
              f"({_DET} {{thing}}|[(1|one)])",
              f"(go|walk|head|run|off|go over|walk over|head over) [over] to {_BOXES} "
              "(and|to) (take|get|grab|fetch|collect|pick up) [(1|one|it|for a|a|{thing})]",
              f"(go|walk|head|run|off) [over] to {_BOXES} for {{thing}}",
              f"(i|we) (want|would like) {_DET} {{thing}}",
              f"{_DET} {{thing}} (is|be) what (i am|i'm|we are) after",
              f"(i'm|i am|be) (after|on) {_DET} {{thing}} [duty]",
              f"help myself to {_DET} {{thing}} {_BOX}",
              f"{_ON} {_GET} {_DET} {{thing}} (from|at) [(cell|position)] {{at_x:n}} {{at_y:n}} "
              f"{_FOR}",
              f"{_ON} pick up {_DET} {{thing}} (from|at|out of) [(nearest|closest)] [{{thing}}] "
              f"(dispenser|box|crate|pile|stack|supply) {_AT} {_FOR}"],
    "go on": ["(keep|keep on|stay|stick|carry on|continue|go on|keep going|keep up|proceed|still)"
              " [(with|at|on)] ({thing}|pot {pot}) [(plan|run|job|duty|errand|thing|business|task"
              "|idea|trip|delivery|fetch|work|mission)]",
              "(keep on|stay|stick|carry on|continue|go on|keep going|proceed) (with|at|on) "
              "[(my|this|same|current)] [(current|last)] (skill|task|job|errand|trip)"],
    "put in": [f"{_ON} (put|add|drop|place|throw|toss|bring|carry|take|deliver|load|insert|tip"
               "|pop|walk|run|rush) "
               f"[{_HELD}] [(over|across|straight)] (in|into|to|inside|over to) {_POT} {_IN}",
               f"{_ON} {_GO} to {_POT} (and|to) (put|drop|add|place|throw|tip) {_HELD} [(in"
               "|there)]",
               f"(drop|get|put|stick|chuck|fling) {_HELD} [off] (in|into|at|to) {_POT}",
               f"(use|spend) {_HELD} (on|in|for|at) {_POT}", f"[.] {_POT} (gets|takes) {_HELD}",
               f"{_POT} is where {_HELD} (goes|belongs|is going)",
               f"{_HELD} (goes|belongs|is going) (in|into|to|inside) {_POT}",
               f"{_A_POT} [please] [.] {_HELD} (goes|belongs|is going) (in|into|inside) "
               "[(there|it)]",
               f"{_ON} (bring|carry|take) {_HELD} (up|down|round|around|along) to {_POT} {_IN}",
               f"use {_POT} for {_HELD}", f"(start|begin) (fill|filling) {_POT}",
               f"(fill|load) [up] {_POT} [with {_HELD}]", f"fill {_POT} up [with {_HELD}]",
               f"add {_HELD}", f"feed {_POT} [with {_HELD}]", f"feed {_HELD} to {_POT}",
               f"{_HELD} (in|into|to) {_POT}",
               f"{_ON} {_GO} (to|over to) {_POT} with {_HELD}"],
    "start": [f"(start|cook|turn on|switch on|activate|heat|begin) [cooking] [(in|with|at)] {_POT}",
              f"(cook|start|begin) [(cook|cooking)] [soup] in {_POT}", f"turn {_POT} on",
              "start cooking [soup]", f"(get|set) {_A_POT} (going|cooking|started|to (cook|boil))",
              f"let {_POT} (cook|boil|start|start cooking)"],
    "plate from": [f"{_ON} (plate|plate up|dish up|dish) [{_SOUP}] [(from|out of|in|of)] {_POT}",
                   f"{_ON} ({_GET}|scoop|ladle|pick up) {_SOUP} (from|out of|in|of) {_POT}",
                   f"fill my dish (from|at) {_POT}", f"(plate|plate up|dish up) {_SOUP}"],
    "serve": [f"{_ON} (serve|deliver) [{_SOUP}] [(at|to|on|through) {_WINDOW}]",
              f"{_ON} (bring|take|carry|hand|send|pass|run|rush) {_SOUP} [over|out] (to|through) "
              f"{_WINDOW}",
              f"put {_SOUP} (to|through|over) {_WINDOW}",
              f"(hand|turn) (in {_SOUP}|{_SOUP} in)", f"(send|hand) (out {_SOUP}|{_SOUP} out)"],
    "put down": [f"(put|set|lay|place) down [{_HELD}] [[(on|onto|at)] {_TOP}]",
                 f"(put|set|lay|place) {_HELD} down [(on|onto|at) {_TOP}]",
                 f"(put|set|lay|place|leave|drop|park|stow|rest) {_HELD} (on|onto) {_TOP}",
                 f"(bring|carry|take) {_HELD} to {_TOP}",
                 f"(put|set|lay|place) {_HELD} down [(on|onto|at) {_TOP}] {_SO_FREE}",
                 f"(put|set|lay|place) down {_HELD} [(on|onto|at) {_TOP}] {_SO_FREE}",
                 f"(put|set|lay|place|leave|drop|park|stow|rest|dump) {_HELD} (on|onto) {_TOP} "
                 f"{_SO_FREE}", f"get rid of {_HELD} (on|onto) {_TOP}",
                 f"(set|put|lay) {_HELD} aside",
                 f"(drop|let go of|get rid of|ditch|discard) {_HELD}", "drop"],
    "pick up": [f"{_ON} pick up {_DET} {{thing}} [(from|off|on) {_TOP}]",
                f"pick {_DET} {{thing}} up [(from|off) {_TOP}]",
                f"{_ON} {_GET} {_DET} {{thing}} (from|off|on) {_TOP}"],
    "press": ["(press|push|hit|use|activate) [(a|the|my|nearest|closest|recipe)] [recipe] button"],
    "wait": [*WAITING, "[(keep|keep on|continue|continue to|go on|still)] "
             "(wait|stay|idle|stand still|stand by|do nothing|no op|pass|hold|stop|remain|pause|"
             "hang (back|on)) [(here|right here|still|put|in place|where i am|there"
             "|at my (place|cell|spot))] "
             "[(for a (moment|bit|second|while)|[for] this step|step|1 step|one step|for 1 step"
             "|for one step|for my turn"
             f"|[for] {{n}} (step|turn)|with {_HELD} [in hand]|{_FOR_THAT}|{_UNTIL})]",
             "(wait|stay|stand still|stand by|hold|hold (on|still)|remain|pause|hang back) [(here"
             "|right here|still|put|in place|where i am|in position)] "
             "[[for] [(this|1|one|a)] (step|turn|moment|bit|while|second)] "
             f"({_SO_OTHER}|while {{other}} {_DOES}|{_WATCH_OTHER})",
             f"do nothing [for] [(this|1|one|a)] [(1|one)] [(step|turn|moment|bit|while)] "
             f"{_WATCH_OTHER}",
             f"(pass|skip) [(my|this)] (turn|step) [(and|to)] ({_WATCH_OTHER}|{_SO_OTHER})",
             "stay idle", "[(hold|keep|maintain)] [my] position",
             "(do not|don't|won't|i'm not|not) (move|budge) (at all|(this|1) (step|turn)|for now)",
             "no (move|movement) [(this|for this) (step|turn)]",
             "(stay|keep) out of [(my|{other} s)] way and wait",
             "let {other} (go|pass|move|act) [(first|by|past|through)]",
             "(skip|pass) [(my|this)] (turn|step)"],
    "go to": [f"({_ON} {_GO}|(my|the) [next] (destination|target|goal|place|spot|position|stop"
    f"|cell) "
              f"[is|will be]|make for|make my way|[go] [and] stand|(station|position|place|park) "
              f"myself|step|take [up] [my] (position|place|post)|reach|wait|take) "
              f"[over|back|across|up|down|on|straight] [{_ONCE} [to] [my] ({{way}}|{{side}})] "
              f"[(to|at|onto)] "
              f"[(cell|tile|square|position|spot|"
              f"floor cell)] [at] {place} [[(to get|to be)] out of [(the|my)] way]"
              for place in _CELLS]
             + [f"({_ASIDE}|[get] out of [the] way|(make|give) [some] (room|way|space)|clear way) "
                f"[.] [({_ON} {_GO}|step|move|stand|wait)] [(over|back|across|up|down)] [(to|at)] "
                f"[(cell|tile|square|position|spot|floor cell)] [at] {place}"
                for place in _CELLS]
             + [f"({_ON} {_GO}|{_ASIDE}|step|move|stand|wait) [(over|back|across|up|down|aside)] "
                "[(to|at|onto|on)] [(cell|tile|square|position|spot|floor cell)] [at] "
                f"{place} [[.] {_SO_OTHER}]"
                for place in _CELLS],
    "step": ["take (1|one|a single) step [to] [my] ({way}|{side})",
             f"[({_GO}|step|turn|face)] {_ONCE} [to] {{way}} {_ONCE} [as before]",
             "(keep|continue|still) (face|go|walk|turn) {way}",
             f"({_GO}|step|turn|face) {_ONCE} [to] [my] {{side}} {_ONCE}",
             "take [(1|one)] step [to] ({way}|{side})", "back {way}", "{way} once",
             f"({_GO}|step) [a] (cell|tile|square) [to] [my] ({{way}}|{{side}})"],
    "interact": [f"(interact|interact with) [{_FACED}]", f"use {_FACED}"],
}  # fmt: skip
_SHORT = {
    "fetch": ["{thing} (duty|run)", "{thing} (it is|first)",
              "[(i'll have|i will have|i'd like|i would like|time for)] "
              f"[(1|one|another|a|fresh|clean)] [(first|second|third|next|last)] {{thing}} {_BOX}"],
    "put in": [_A_POT, f"{_DET} {{thing}} go (in|into|to) {_POT}",
               f"(in|into|to|off to) {_POT} (with {_HELD}|{_HELD} go)",
               f"{_DET} {{thing}} (in|into|to|for|is for) {_POT}", f"{_POT} for {_HELD}"],
    "go to": ["[(1|one) (cell|step|square|tile|pace)] [over|back|across|up|down|off|on|straight] "
              "to [(cell|tile|square|position|spot)] {x:n} {y:n}", "{x:n} {y:n} it is"],
}  # fmt: skip
_SIDES = {"up": "north", "down": "south", "right": "east", "left": "west"}
_WAYS = {f"{way}{ward}": way for way in _SIDES.values() for ward in ("", "ward")}
# (axis, whether the greatest is meant) of the place of a pot among others.
_SIDES_OF_POTS = {
    name: end
    for end, names in {
        (1, False): ("left", "leftmost", "west", "western"),
        (1, True): ("right", "rightmost", "east", "eastern"),
        (0, False): ("upper", "top", "north", "northern"),
        (0, True): ("lower", "bottom", "south", "southern"),
    }.items()
    for name in names
}
_FRONTS = {"counter": COUNTER, "worktop": COUNTER, "pot": POT, "pan": POT, "window": SERVING,
           "serving window": SERVING, "hatch": SERVING, "recipe button": BUTTON} | {
    f"{thing} {box}": code
    for thing, code in ALL_DISPENSERS.items()
    for box in ("dispenser", "box", "crate", "pile")
}  # fmt: skip
_CHEFS = {f"chef {i}": i for i in range(6)} | {"partner": -1, "teammate": -1, "other chef": -1}
_THINGS = {name: name for name in ALL_OBJECTS} | {
    "plate": "dish", "bowl": "dish", "clean dish": "dish", "clean plate": "dish",
    "empty dish": "dish", "empty plate": "dish", "dish of soup": "soup", "finished soup": "soup",
}  # fmt: skip


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
