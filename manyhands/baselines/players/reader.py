"""A chef that plays from words alone: it reads the text observation and the choices, as a language
model would, plans on the map that it finds there, and answers with a sentence and an ACTION line.

It is stateless: the same words always get the same answer. It is made for fully observed kitchens,
and ignores anything outside its view. Where one recipe is asked for at a time it cooks that, if it
is in view, and presses no buttons.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from manyhands.core.config import boolean
from manyhands.core.env import ConfigError, Env, SeatError
from manyhands.core.view import Reply, View

Cell = tuple[int, int]
MOVES = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
SYMBOLS = {"onion": "O", "tomato": "T", "carrot": "C", "mushroom": "M", "dish": "D"}
INGREDIENTS = tuple(name for name in SYMBOLS if name != "dish")
FAR = 1_000

_ROW = re.compile(r"^ *(\d+) ([X.OTDPS?CMRB@\d]+)$", re.M)
_CHEF = re.compile(
    r"^(?:You are )?(\w+) (?:is )?at \((\d+), (\d+)\), facing (\w+) to .*?, holding (.*?)\. (.*)$",
    re.M,
)
_POT = re.compile(r"^Pot (\w+) at \((\d+), (\d+)\): (.*)\.$", re.M)
_COUNTERS = re.compile(r"^On counters: (.*)\.$", re.M)
_ORDER = re.compile(r"^- soup of (.*?): (\d+) points", re.M)
_ASKED = re.compile(r"^Asked for: soup of (.*)\.$", re.M)
_AMOUNT = re.compile(r"(\d) (onion|tomato|carrot|mushroom)")
_CELL = re.compile(r"\((\d+), (\d+)\)")


def _amounts(words: str) -> Counter[str]:
    return Counter({name: int(count) for count, name in _AMOUNT.findall(words)})


@dataclass
class _Chef:
    name: str
    cell: Cell
    facing: str
    holding: str  # nothing, onion, tomato, dish or soup
    blocked: bool  # in its last step, by another chef
    waited: bool  # in its last step


@dataclass
class _Pot:
    name: str
    cell: Cell
    needs: Counter[str]  # ingredients that it still takes to fill an order
    left: int | None  # steps until the soup is ready, 0 if it is; None if it is not cooking


class _Kitchen:
    """The state, as far as the text describes it."""

    def __init__(self, text: str, rules: str):
        step = re.match(r"Step (\d+)", text)
        if step is None or not _ROW.search(text) or not _CHEF.search(text):
            raise SeatError(f"the reader plays kitchens; this is no kitchen's text: {text[:60]!r}")
        self.step = int(step.group(1))
        self.map = {
            (x, int(y)): symbol for y, row in _ROW.findall(text) for x, symbol in enumerate(row)
        }
        self.floor = {c for c, symbol in self.map.items() if symbol in ".@" or symbol.isdigit()}
        chefs = [
            _Chef(
                name,
                (int(x), int(y)),
                facing,
                held.split()[-1],
                "blocked" in event,
                "waited" in event,
            )
            for name, x, y, facing, held, event in _CHEF.findall(
                re.sub(r" of \d[^.;,]*", "", text)  # a soup is a soup
            )
        ]
        self.me = next(chef for chef in chefs if self.map[chef.cell] == "@")
        self.others = [chef for chef in chefs if chef is not self.me]
        self.taken = {chef.cell for chef in self.others}
        self.lying: dict[Cell, str] = {}
        for part in _COUNTERS.findall(text)[0].split("; "):
            for x, y in _CELL.findall(part):
                self.lying[int(x), int(y)] = part.split()[0]
        orders = [(int(value), _amounts(words)) for words, value in _ORDER.findall(rules)]
        asked = [_amounts(words) for words in _ASKED.findall(text)]
        orders = [(value, order) for value, order in orders if not asked or order in asked]
        self.pots = [
            self._pot(name, (int(x), int(y)), inside, orders)
            for name, x, y, inside in _POT.findall(text)
        ]
        self.home = self.room(self.me.cell)
        self.away = set[Cell]().union(*(self.room(c.cell) for c in self.others)) - self.home

    def _pot(
        self, name: str, cell: Cell, words: str, orders: list[tuple[int, Counter[str]]]
    ) -> _Pot:
        inside = _amounts(words)
        cooking = re.search(r"ready in (\d+)", words)
        if cooking or "ready to plate" in words:
            return _Pot(name, cell, Counter(), int(cooking.group(1)) if cooking else 0)
        have = [kind for kind in INGREDIENTS if self.find(SYMBOLS[kind])]
        fitting = [
            (value, order - inside)
            for value, order in orders
            if inside <= order and all(kind in have for kind in order - inside)
        ]
        if fitting:
            return _Pot(name, cell, max(fitting, key=lambda pair: pair[0])[1], None)
        # No order can be made of this any more: fill it up, to get rid of it.
        filler = Counter({have[0]: 3 - inside.total()}) if have else Counter[str]()
        return _Pot(name, cell, +filler, None)

    def skill(self, station: Cell) -> str:
        """The skill that uses a station with what this chef holds."""
        held, symbol = self.me.holding, self.map[station]
        pot = next((pot.name for pot in self.pots if pot.cell == station), "")
        if pot:
            return f"plate from pot {pot}" if held == "dish" else f"put in pot {pot}"
        if symbol == "S":
            return "serve"
        if station in self.lying:
            return f"pick up {self.lying[station]}"
        fetched = next((kind for kind, sign in SYMBOLS.items() if sign == symbol), "")
        return f"fetch {fetched}" if fetched else "put down"

    def hindered(self) -> bool:
        """Whether this chef and another one are in each other's way."""
        return self.me.blocked or self.in_the_way()

    def in_the_way(self) -> bool:
        """Whether another chef has just bumped into this one."""
        return any(
            chef.blocked and _around(chef.cell).get(chef.facing) == self.me.cell
            for chef in self.others
        )

    # ---- the map ------------------------------------------------------------------------------

    def find(self, symbol: str) -> list[Cell]:
        return [cell for cell, found in self.map.items() if found == symbol]

    def room(self, start: Cell) -> set[Cell]:
        return set(self.walk(start, ()))

    def beside(self, cells: Iterable[Cell], room: Collection[Cell]) -> list[Cell]:
        """Those stations that can be used from a room."""
        return [c for c in cells if any(n in room for n in _around(c).values())]

    def walk(self, start: Cell, blocked: Collection[Cell]) -> dict[Cell, tuple[int, str]]:
        """(steps, first move) to every floor cell in reach: breadth first."""
        found: dict[Cell, tuple[int, str]] = {start: (0, "stay")}
        queue = [start]
        for cell in queue:
            steps, first = found[cell]
            for move, to in _around(cell).items():
                if to in self.floor and to not in found and to not in blocked:
                    found[to] = (steps + 1, move if cell == start else first)
                    queue.append(to)
        return found

    def way(self, chef: _Chef, stations: Iterable[Cell], blocked: Collection[Cell] = ()) -> tuple:
        """(steps, next action) to use the nearest of some stations; steps are `FAR` or more if
        there is none."""
        walked = self.walk(chef.cell, blocked)
        best = (FAR, "stay")
        for station in stations:
            for direction, (dx, dy) in MOVES.items():
                spot = station[0] - dx, station[1] - dy
                if spot not in walked:
                    continue
                steps, first = walked[spot]
                if steps:
                    steps += 1  # it may have to turn
                elif chef.facing == direction:
                    first = "interact"
                else:
                    steps, first = 1, direction
                best = min(best, (steps, first))
        return best


def _around(cell: Cell) -> dict[str, Cell]:
    return {move: (cell[0] + dx, cell[1] + dy) for move, (dx, dy) in MOVES.items()}


# ---- what to do ----------------------------------------------------------------------------------


def _plan(k: _Kitchen) -> tuple[str, list[Cell]]:
    """The reason, and the stations to choose from; none: wait."""
    hand, home = k.me.holding, k.home
    pots = [pot for pot in k.pots if k.beside([pot.cell], home)]
    supplying = not pots  # others cook; this chef passes items over a counter
    shared = k.beside(k.beside(k.find("X"), home), k.away)
    empty = [c for c in k.beside(k.find("X"), home) if c not in k.lying]
    serving = k.beside(k.find("S"), home)
    if supplying:
        pots = [pot for pot in k.pots if k.beside([pot.cell], k.away)]

    def held(kind: str) -> int:
        """The number of items that others are bringing to these pots."""
        return sum(
            chef.holding == kind
            for chef in k.others
            if supplying or k.beside([pot.cell for pot in pots], k.room(chef.cell))
        )

    def sources(kind: str) -> list[Cell]:
        lying = [c for c, thing in k.lying.items() if thing == kind]
        if supplying:
            lying = [c for c in lying if c not in shared]
        return k.beside(k.find(SYMBOLS.get(kind, "")) + lying, home)

    def waiting(kind: str) -> int:
        """The number of items ready for the chefs that this one supplies."""
        return sum(k.lying.get(c) == kind for c in shared) if supplying else 0

    cooking = [pot for pot in pots if pot.left is not None]
    idle = [pot for pot in pots if pot.left is None]
    startable = [pot.cell for pot in idle if not pot.needs]
    wanted = {
        kind: sum(pot.needs[kind] for pot in idle) - held(kind) - waiting(kind)
        for kind in INGREDIENTS
    }
    dishes = len(cooking) - held("dish") - waiting("dish")

    def dish_is_mine() -> bool:
        """Whether this chef is the one to fetch the next dish: the nearest, and rather one with
        empty hands; but nobody waits for the others once a soup is ready."""
        if dishes <= 0 or not sources("dish"):
            return False
        if supplying or any(pot.left == 0 for pot in cooking):
            return True
        able = [chef for chef in (k.me, *k.others) if chef.holding in ("nothing", *wanted)]
        stations = sources("dish")
        able.sort(key=lambda chef: (chef.holding != "nothing", k.way(chef, stations)[0], chef.name))
        return k.me in able[:dishes]

    if hand == "soup":
        if serving:
            return "I serve the soup", serving
        return "I hand over the soup", [c for c in shared if c in empty]
    if hand == "dish":
        if supplying:
            return "I hand over a dish", [c for c in shared if c in empty]
        if cooking:
            soon = min(max(k.way(k.me, [pot.cell])[0], pot.left or 0) for pot in cooking)
            rivals = sum(
                chef.holding == "dish" and k.way(chef, [pot.cell for pot in cooking])[0] < soon
                for chef in k.others
            )
            if rivals < len(cooking):
                best = min(cooking, key=lambda p: max(k.way(k.me, [p.cell])[0], p.left or 0))
                return f"I wait with a dish for pot {best.name}", [best.cell]
        elif any(pot.needs.total() <= 1 for pot in idle):
            return "I keep the dish for the next soup", []
        return "nobody needs this dish now", empty
    if hand in wanted:
        if supplying:
            return f"I hand over the {hand}", [c for c in shared if c in empty]
        filling = [pot for pot in idle if pot.needs[hand]]
        if filling:
            fullest = min(pot.needs.total() for pot in filling)
            fullest_pots = [pot.cell for pot in filling if pot.needs.total() == fullest]
            return f"I put the {hand} into a pot", fullest_pots
        if startable or dish_is_mine() or idle:
            return f"I put the {hand} down, there is something else to do", empty
        return f"I keep the {hand} for the next soup", []

    # Empty hands.
    soups = k.beside([c for c, thing in k.lying.items() if thing == "soup"], home)
    if soups and serving:
        return "a soup waits to be served", soups
    if startable and not supplying:
        return "I start the cooking", startable
    mine = dish_is_mine()
    trip = k.way(k.me, sources("dish"))[0] + 6
    if mine and (supplying or any((pot.left or 0) <= trip for pot in cooking)):
        return "I take the dish", sources("dish")
    for kind, count in wanted.items():
        if count > 0 and sources(kind):
            return f"the pots need {kind}{'es' if kind == 'tomato' else 's'}", (sources(kind))
    if mine:
        return "I take the dish", sources("dish")
    if cooking and not supplying:
        for kind in wanted:
            if k.beside(k.find(SYMBOLS[kind]), home):
                return f"I fetch the next {kind}", sources(kind)
    return "there is nothing for me to do", []


def _act(k: _Kitchen, stations: list[Cell], useful: bool, asked: bool) -> str:
    """The action that continues the plan, around the others; `useful`: an interact would have an
    effect now; `asked`: another chef wants this one out of the way."""
    steps, action = k.way(k.me, stations, k.taken)
    straight, onward = k.way(k.me, stations)
    around = _around(k.me.cell)
    if steps > straight + (0 if _goes_first(k) else FAR - 1):
        action = onward  # somebody stands in the way, and should move
    if action == "stay":
        action = _park(k)
    elif action == "interact" and not useful:
        action = "stay"  # the pot still cooks
    free = [move for move, to in around.items() if to in k.floor and to not in k.taken]
    in_way = around.get(action) in k.taken or (k.me.blocked and action in free)
    hindering = asked or k.in_the_way()
    if in_way or (action == "stay" and hindering):
        # One of two who block each other steps aside, in turns.
        turn = (k.step // 2 + int(re.sub(r"\D", "", k.me.name) or 0)) % 2
        aside = [move for move in free if move != action]
        if aside and (turn or not in_way):
            return aside[k.step // 4 % len(aside)]
        # A bump signals the other chef, which then needs a step without a bump to move away.
        return "stay" if around.get(action) in k.taken and k.me.blocked else action
    return action


def _goes_first(k: _Kitchen) -> bool:
    """Whether this chef has the right of way when two meet; the other one goes around. (If both
    did, they would turn back forever.) Everybody goes around a chef that stands still."""
    rank = ("soup", "dish", *INGREDIENTS, "nothing").index
    own = rank(k.me.holding), k.me.name
    return all(own < (rank(chef.holding), chef.name) and not chef.waited for chef in k.others)


def _park(k: _Kitchen) -> str:
    """A step towards the nearest place where a waiting chef blocks nobody."""

    def busy(cell: Cell) -> int:
        return sum({"P": 3, "S": 2, "D": 2}.get(k.map[c], 0) for c in _around(cell).values())

    walked = k.walk(k.me.cell, k.taken)
    best = min(walked, key=lambda c: (3 * busy(c) + walked[c][0], c))
    return walked[best][1]


class Reader:
    """A text player for the kitchen; a host policy.

    Args:
        env: a kitchen, with or without a chat channel (where it says what it is about to do).
    """

    def __init__(self, env: Env):
        self.talks = env.chat is not None

    def act(self, views: Sequence[View]) -> list[Reply]:
        return [self._answer(view) for view in views]

    def _answer(self, view: View) -> Reply:
        kitchen = _Kitchen(view.text, view.rules)
        why, stations = _plan(kitchen)
        asked = any("in my way" in message.text for message in view.messages)
        offered = {choice.partition(":")[0]: choice for choice in view.choices}
        useful = not offered.get("interact", "").startswith("interact: nothing")
        action = _act(kitchen, stations, useful, asked)
        if action not in offered:
            return Reply(None, error=f"the reader chooses {action!r}, which is not offered here")
        words = f"{why[0].upper()}{why[1:]}.\nACTION: {offered[action]}"
        say = None
        if self.talks:
            if kitchen.me.blocked:
                say = "you are in my way"
            elif action == "interact" and why == "I take the dish":
                say = why
            elif action == "interact" and why == "I serve the soup":
                say = "serving"
        return Reply(words, say)


class Cook(Reader):
    """The same player by skills, for a kitchen in the wrapper `Skills`: what it plans is said as
    the skill that does it. Where chefs hinder each other, or there is nothing to do, it makes way
    by single steps, as the other one does: two skills that lead through each other would wait for
    ever."""

    def _answer(self, view: View) -> Reply:
        kitchen = _Kitchen(view.text, view.rules)
        why, stations = _plan(kitchen)
        offered = {choice.partition(":")[0] for choice in view.choices}
        skill = next((s for s in map(kitchen.skill, stations) if s in offered), "")
        if not skill or kitchen.hindered():
            cooking = any(pot.cell in stations and pot.left for pot in kitchen.pots)
            move = _act(kitchen, stations, useful=not cooking, asked=False)
            skill = {"stay": "wait"}.get(move, move)
        if skill not in offered:
            skill = "wait"
        return Reply(f"{why[0].upper()}{why[1:]}.\nACTION: {skill}")


def text(
    env: Env,
    file: str = "",
    skills: bool = False,
    greedy: bool = False,
    constrained: bool | None = None,
    policy: bool = True,
    patience: int = 0,
) -> object:
    """The player that reads text and answers in words.

    Args:
        file: a text policy (`players/text_policy.py`); by default it is scripted, for a kitchen,
            for volleyball, for a home or for the maze for two of missions.
        skills: the scripted player of a kitchen answers by skills (of the wrapper `Skills`).
        greedy, constrained, policy, patience: of text policies (`text_policy.from_file`).

    Raises:
        SeatError: options of a text policy without a file, or there is no scripted player.
        PolicyError: the file holds no text policy for this environment.
        ConfigError: an option is of another type.
    """
    skills = boolean("skills", skills)
    if not isinstance(file, (str, os.PathLike)):
        raise ConfigError(f"file is a path, or shipped, given {file!r}")
    if file:
        if skills:
            raise SeatError("skills=true is of the scripted player; leave it out, or file=")
        try:
            from manyhands.baselines.players.text_policy import from_file
        except ModuleNotFoundError as error:
            raise SeatError(
                f"the seat text:file=... needs the package {error.name!r}: pip install "
                '"manyhands[train]"'
            ) from error
        return from_file(env, str(file), greedy, constrained, policy, patience)
    if greedy or constrained or policy is not True or patience:
        raise SeatError("greedy, constrained, policy and patience are options of text:file=PATH")
    if skills:
        if env.id != "skills" or env.unwrapped.id != "kitchen":
            raise SeatError(f"text:skills=true plays a kitchen by skills; given {env!r}")
        return Cook(env)
    if env.unwrapped.id == "volleyball":
        from manyhands.baselines.players.volleyball_reader import reader

        return reader(env)
    if env.unwrapped.id == "home":
        from manyhands.baselines.players import home_reader

        return home_reader.reader(env)
    if env.unwrapped.id == "mission":
        from manyhands.baselines.players import maze_reader

        return maze_reader.reader(env)
    if env.unwrapped.id != "kitchen":
        raise SeatError(
            "the scripted player of the seat text plays kitchen, volleyball, home, and the maze "
            f"for two of mission; given {env!r}. Others take a text policy: text:file=PATH"
        )
    return Reader(env)
