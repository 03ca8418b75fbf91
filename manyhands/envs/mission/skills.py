"""The skills of foraging: pure functions of what a player sees, if it sees all of the field.

Food is numbered as in the text, in reading order; other players by name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError, IllegalAction
from manyhands.core.reading.grammar import Grammar
from manyhands.envs.mission.planning import BODY, NONE, Details, Table, plan
from manyhands.envs.mission.state import ACTIONS, COLUMNS, LOAD, ROWS
from manyhands.envs.mission.ways import FAR, at, beside, cells, distances

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission


def skill_set(mission: Mission) -> ForagingSkills:
    """The skills of a field of foraging.

    Raises:
        ConfigError: its players see a part of it alone.
    """
    if mission.sight < max(mission.size):
        raise ConfigError(
            f"the skills of foraging are for players who see all of the field, given a sight of "
            f"{mission.sight} on {mission.size[0]} x {mission.size[1]} cells"
        )
    return ForagingSkills(mission)


class ForagingSkills(Table):
    """In table order: `go to` each food (beside it); `load` each food; `load with` each other slot
    of the list of players (the food that you two are nearest to); `follow` each of them; `load
    alone` (the nearest food that one can load alone); `wait`; single steps."""

    def __init__(self, mission: Mission):
        self._mission = mission
        others = range(1, mission.players)
        meal = "[(the|a)] [piece of]"
        names: dict[str, list[str]] = {
            f"go to food {k}": [f"(go|walk|move) (to|beside|next to) {meal} food {k}"]
            for k in range(1, mission.foods + 1)
        }
        names |= {
            f"load food {k}": [f"(load|collect|gather|take|eat) {meal} food {k}"]
            for k in range(1, mission.foods + 1)
        }
        names |= {
            f"load with other {k}": [
                f"(load|help|cooperate|collect|team up|work) [food] with [the] other [player] {k}",
                f"help [the] other [player] {k} [load]",
            ]
            for k in others
        }
        names |= {
            f"follow other {k}": [
                f"(follow|go to|join|stick with|stay with) [the] other [player] {k}"
            ]
            for k in others
        }
        waits = [f"(wait|stay) [here] for [the] other [player] {k}" for k in others]
        if mission.players == 2:
            mate = "(the other player|the other|(my|the) (partner|teammate|mate)|player {player})"
            names["load with other 1"] += [f"(load|work|cooperate|team up) [food] with {mate}",
                                           f"help {mate} [load]"]  # fmt: skip
            names["follow other 1"] += [f"(follow|go to|join) {mate}"]
            waits += [f"(wait|stay) [here] for {mate}"]
        names["load alone"] = ["(load|take|collect|eat) [(food|it)] (alone|by myself|on my own)"]
        # Of two players each means the other one by any name.
        slots = {"player": dict.fromkeys(("0", "1", "a", "b"))}
        super().__init__(names, ACTIONS, slots, {"wait": waits})

    def _listed(self, perception: np.ndarray) -> tuple[dict[int, list[int]], list[int]]:
        """(row, column and level of each food by its number, those of the player)."""
        rows = np.asarray(perception).reshape(-1, 3).astype(int).tolist()
        food = {k: row for k, row in enumerate(rows[: self._mission.foods], start=1) if row[2] > 0}
        return food, rows[self._mission.foods]

    def words(self, perception: np.ndarray) -> list[str]:
        said = super().words(perception)
        food, _ = self._listed(perception)
        if food:
            self._tell_loads(said, perception, food)
        for k, (row, column, level) in self._listed(perception)[0].items():
            which = f"of level {level} at row {row}, column {column}"
            for first in (0, self._mission.foods):
                said[first + k - 1] = f"{which}; {said[first + k - 1]}"
        return said

    def _tell_loads(
        self, said: list[str], perception: np.ndarray, food: dict[int, list[int]]
    ) -> None:
        """Say with whom, and which food, where a name does not."""
        mission = self._mission
        players = np.asarray(perception).reshape(-1, 3).astype(int).tolist()[mission.foods :]
        where = {k: f"food {k} at row {row}, column {column}"
                 for k, (row, column, _) in food.items()}  # fmt: skip
        gaps = {k: [abs(row - y) + abs(column - x) for y, x, _ in players]
                for k, (row, column, _) in food.items()}  # fmt: skip
        for j, (y, x, level) in enumerate(players[1:], start=1):
            if level > 0:
                best = min(food, key=lambda k: gaps[k][0] + gaps[k][j])
                who = f"the player of level {level} at row {y}, column {x}"
                for name, more in (("load with", f"; {where[best]}"), ("follow", "")):
                    s = self.names.index(f"{name} other {j}")
                    if said[s].startswith("done"):
                        said[s] = f"{who}{more}; {said[s]}"
        able = [k for k in food if food[k][2] <= players[0][2]]
        if able and said[self.names.index("load alone")].startswith("done"):
            s = self.names.index("load alone")
            said[s] = f"{where[min(able, key=lambda k: gaps[k][0])]}; {said[s]}"

    def reason(self, skill: int, why: int, perception: np.ndarray) -> str:
        if self.names[skill] == "load alone" and why == NONE:
            return "no food has a level as low as yours"
        return super().reason(skill, why, perception)

    def addressed(self, text: str, me: int) -> str:
        """A sentence in which other players have their numbers in the list of others."""
        if self._mission.players == 2:
            return text  # any name is that of the other one
        names: dict[str, str] = {}
        for i, name in enumerate(self._mission.agents):
            if i != me:
                other = f"other {1 + i - (i > me)}"
                names |= {name: other, name.replace("_", " "): other, chr(ord("a") + i): other}
        return _PLAYER.sub(lambda found: f"{found[1]} {names.get(found[2], found[2])}", text)

    def parse(
        self, text: str, perception: np.ndarray | None = None, current: int | None = None
    ) -> int | None:
        found = super().parse(text, perception, current)
        if found is not None or perception is None:
            return found
        readings = _FOOD.read(text)
        if len(readings) != 1:
            return None
        values = readings[0].values
        food, me = self._listed(perception)
        fits = {
            k: abs(row - me[0]) + abs(column - me[1])
            for k, (row, column, level) in food.items()
            if (row, column, level)
            == (values.get("row", row), values.get("column", column), values.get("level", level))
        }
        if "beside" in values:
            fits = {k: far for k, far in fits.items() if far == 1}
        if "nearest" in values:
            fits = {k: far for k, far in fits.items() if far == min(fits.values())}
        if len(fits) != 1:
            places = ", ".join(
                f"{k} at row {food[k][0]}, column {food[k][1]}" for k in fits or food
            )
            raise IllegalAction(
                f"{'several foods are' if fits else 'no food is'} like that; name one by its "
                f"number or place: {places}"
            )
        return self.names.index(f"{readings[0].meaning} food {next(iter(fits))}")

    def plans(self, perception: Array) -> tuple[list[Details], Array]:
        mission, size = self._mission, self._mission.size
        rows = perception.reshape(-1, 3).astype(jnp.int32)
        food, players = rows[: mission.foods], rows[mission.foods :]
        me, others = players[0], players[1:]
        y, x = cells(size)
        there = food[:, 2] > 0
        on = (food[:, 0, None, None] == y) & (food[:, 1, None, None] == x) & there[:, None, None]
        body = (others[:, 0, None, None] == y) & (others[:, 1, None, None] == x)
        body = body & (others[:, 2, None, None] > 0)
        eaten = jnp.any(on, axis=0)
        price = jnp.where(eaten, FAR, 1.0 + BODY * jnp.any(body, axis=0))
        near = jnp.min(beside(jnp.where(on, 0.0, FAR)), axis=-1) < FAR  # [F, H, W]
        times = distances(near & ~eaten, price)
        cost = self._cost(times, price, me)  # [F, 5]
        gap = jnp.abs(food[:, None, :2] - players[None, :, :2]).sum(-1)  # [F, N]
        found = []
        for k in range(mission.foods):
            arrived = cost[k, 0] <= 0
            found.append(plan(cost[k], cost[k, 0], done=arrived & there[k], there=there[k]))
        loads = [
            plan(cost[k], cost[k, 0], extra=1, there=there[k], stays=LOAD)
            for k in range(mission.foods)
        ]
        found += loads

        def of(best: Array, sure: Array) -> Details:
            action, why, steps, held = (jnp.stack(part)[best] for part in zip(*loads, strict=True))
            return Details(action, jnp.where(sure, why, NONE), steps, held)

        for k in range(1, mission.players):
            seen = players[k, 2] > 0
            both = jnp.where(there, gap[:, 0] + gap[:, k], FAR)
            found.append(of(jnp.argmin(both), seen & jnp.any(there)))
        for k in range(1, mission.players):
            mate = body[k - 1]
            to = distances(mate, jnp.where(mate, 1.0, price))
            way = self._cost(to, jnp.where(mate, 1.0, price), me)
            seen, close = players[k, 2] > 0, gap_of(me, players[k]) <= 1
            found.append(plan(way, way[0], extra=-1, done=seen & close, there=seen))
        alone = there & (food[:, 2] <= me[2])
        found.append(of(jnp.argmin(jnp.where(alone, gap[:, 0], FAR)), jnp.any(alone)))

        legal = [jnp.any(there)]
        for dy, dx in zip(ROWS[1:5], COLUMNS[1:5], strict=True):
            row, column = me[0] + dy, me[1] + dx
            inside = (row >= 0) & (row < size[0]) & (column >= 0) & (column < size[1])
            blocked = jnp.any(there & (food[:, 0] == row) & (food[:, 1] == column))
            legal.append(jnp.any(there) & inside & ~blocked)
        legal.append(jnp.any(there & (gap[:, 0] == 1)))
        return found, jnp.stack(legal)

    @staticmethod
    def _cost(times: Array, price: Array, me: Array) -> Array:
        """f32[..., 5]: what staying and going each way leaves to go."""
        here = at(times, me[0], me[1])
        around = at(jnp.moveaxis(beside(times + price), -1, -3), me[0], me[1])
        return jnp.concatenate([here[..., None], around], axis=-1)

    def rules(self) -> str:
        return (
            "A skill goes its way one step each time you name it; go on naming it until it is "
            "done, or name another one.\n"
            "go to food K: go beside the K-th food of the list. load food K: go there and load it, "
            "until it is gone; the numbers of others change then.\n"
            "load with other K: load the food that you and the K-th other player of the list are "
            "nearest to together; both have to load it. follow other K: go beside that player. "
            "Players may be called by their names, too.\n"
            "load alone: load the nearest food whose level is not above yours.\n" + self._steps()
        )


_PLAYER = re.compile(r"\b(with|follow|join|help|to|for) (player[_ ]\d+|[a-h](?=\W*$))\b")
_WHICH = (
    "[(the|that|a|any)] [{nearest}] ([level {level:n}] food [(of|at|with) level {level:n}]"
    "|level {level:n} [1]|1 (of|at|with) level {level:n}) "
    "[[right] {beside} [me]"
    "|[(at|on|in)] (row {row:n} [and|.] column {column:n}|{row:n} {column:n})]"
)
# Food by its level and place, where the list has numbers.
_FOOD = Grammar(
    {
        "load": [
            f"[go [and]] (load|collect|gather|take|eat|get|grab|fetch|harvest|pick|pick up) "
            f"({_WHICH}|[the] 1 [right] {{beside}} me)"
        ],
        "go to": [
            "(go|walk|move|head|come) [(over|straight)] (to|towards|toward|beside|next to|for) "
            + _WHICH
        ],
    },
    {
        "nearest": dict.fromkeys(("nearest", "closest"), True),
        "beside": dict.fromkeys(("beside", "next to"), True),
    },
)


def gap_of(one: Array, other: Array) -> Array:
    """Steps between two places."""
    return jnp.abs(one[:2] - other[:2]).sum()
