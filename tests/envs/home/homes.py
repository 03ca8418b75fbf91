"""Small homes for tests, and players who act by words."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np

import manyhands
from manyhands.core.env import episode_key
from manyhands.envs.home.names import names_of_home
from manyhands.envs.home.state import Actions

KEY = episode_key(0)
KITCHEN: dict[str, Any] = {
    "rooms": ["kitchen"],
    "receptacles": [
        {"kind": kind}
        for kind in (
            *("fridge", "fridge", "microwave", "sink_basin", "counter_top", "cabinet"),
            *("coffee_machine", "dining_table"),
        )
    ],
    "objects": [
        {"kind": "apple", "in": "fridge 1"},
        {"kind": "mug", "in": "counter top 1"},
        {"kind": "mug", "in": "counter top 1"},
        {"kind": "cup", "in": "counter top 1"},
        {"kind": "book", "in": "counter top 1"},
        {"kind": "plate", "in": "dining table 1"},
    ],
}


def goal(kind: str, where: str, *state: str, count: int = 1) -> list[dict[str, Any]]:
    return [{"kind": kind, "where": where, "state": list(state), "count": count}]


@functools.lru_cache
def compiled(env: Any, name: str) -> Any:
    """A function of an environment; homes that are equal share it."""
    return jax.jit(getattr(env, name))


class Table:
    """A home, and the compiled functions of its rules."""

    def __init__(self, **config: Any):
        self.env: Any = manyhands.make("home", **config)
        self.step, self.legal, self.observe = (
            compiled(self.env, name) for name in ("step", "legal", "observe")
        )

    def start(self, description: dict[str, Any]) -> Visit:
        return Visit(self, jax.device_get(self.env.reset_to(KEY, {"start": description})))


class Visit:
    """One episode.

    Attributes:
        state: the state now.
        outcome: of the last step.
    """

    def __init__(self, table: Table, state: Any):
        self.table, self.state, self.outcome = table, state, None
        self.rooms, self.places, self.things = names_of_home(table.env, state)

    def number(self, said: str) -> int:
        """The action that e.g. `"go fridge 1"`, `"room bedroom"`, `"take mug 2"` or `"heat"` (what
        is in the first hand; `"put 1"`: in the second) names."""
        verb, _, rest = said.partition(" ")
        first = 0 if verb == "wait" else getattr(Actions(self.table.env), verb)
        if verb == "go":
            return first + self.places.index(rest)
        if verb == "room":
            return first + self.rooms.index(rest)
        if verb in ("take", "slice"):
            return first + self.things.index(rest)
        return first + int(rest or 0)

    def can(self, said: str, player: int = 0) -> bool:
        return bool(self.table.legal(self.state)[player, self.number(said)])

    def do(self, *said: str) -> Visit:
        """One step: what each player does; those who are not named wait."""
        env = self.table.env
        actions = np.zeros(env.num_agents, np.int32)
        for i, each in enumerate(said):
            actions[i] = self.number(each)
        self.state, self.outcome = jax.device_get(self.table.step(KEY, self.state, actions))
        return self

    def alone(self, *said: str) -> Visit:
        """Steps of the first player, all of them legal."""
        for each in said:
            assert self.can(each), each
            self.do(each)
        return self

    def bits(self, thing: str) -> int:
        return int(self.state.bits[self.things.index(thing)])

    def place(self, thing: str) -> int:
        return int(self.state.place[self.things.index(thing)])

    def known(self, thing: str, player: int = 0) -> int:
        return int(self.state.known_place[player, self.things.index(thing)])

    def seen(self, thing: str, player: int = 0) -> int:
        return int(self.state.seen[player, self.things.index(thing)])

    def metric(self, name: str) -> float:
        return float(self.outcome.metrics[name])  # type: ignore[attr-defined]

    @property
    def won(self) -> bool:
        return bool(np.all(self.outcome.terminated))  # type: ignore[attr-defined]
