"""What the skills of all missions have in common; the tables are in `skills.py` of each kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, names_of
from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.phrases import WAITING
from manyhands.envs.mission.ways import FAR

POSSIBLE, DONE, NONE, NO_WAY, UNABLE = range(5)
WHY = {
    DONE: "it is done",
    NONE: "you see none",
    NO_WAY: "you know of no way there",
    UNABLE: "you cannot do it now",
}
# What entering a cell with a body costs beyond a step: as many steps as one goes around it, and a
# fraction by which the bodies on a way are counted.
MARK = 1 / 64
BODY = 4 + MARK
_ON = "[(keep|still|continue|keep on|go on|continue to|go on to|go and|go|i will|i'll|let me)]"

_KEEPS = re.compile(r"\b(?:keep|still|continue|go on|carry on)\b", re.IGNORECASE)


class Details(NamedTuple):
    """All skills at once: `action` i32[S], `why` i32[S] (`POSSIBLE`, or what stands against it),
    `steps` i32[S]: until the aim is reached, as far as is known; -1 where it has no end; `held`
    i32[S]: how many stand in the way now."""

    action: Array
    why: Array
    steps: Array
    held: Array | int = 0


class Table:
    """A skill set (see `wrappers/skills.py`) whose skills are computed from a perception, and then
    the primitive actions, one step each.

    Args:
        skills: name -> patterns of sentences that name it.
        actions: names of the primitive actions; the first is to stay.
        slots: of the patterns.
        also: patterns of further sentences that name a primitive action, or "wait".

    Attributes:
        names, instant, wait: as of any skill set.
        example: a skill, for the rules.
    """

    def __init__(
        self,
        skills: Mapping[str, Sequence[str]],
        actions: Sequence[str],
        slots: Mapping[str, Mapping[str, Any]] | None = None,
        also: Mapping[str, Sequence[str]] | None = None,
    ):
        self.wait = len(skills)
        self.names = (*skills, "wait", *(f"step: {name}" for name in actions[1:]))
        self.example = self.names[0]
        self.instant = np.arange(len(self.names)) >= self.wait
        self._plain = names_of(actions[1:])
        patterns: dict[int, list[str]] = {
            k: [f"{_ON} {pattern}" for pattern in (name, *said)]
            for k, (name, said) in enumerate(skills.items())
        }
        others = "(them|[the] others|[the] other (players|robots)|my (partner|mate|team|teammate))"
        patterns[self.wait] = [
            *WAITING,
            f"{_ON} (wait|stay|stay here|do nothing)",
            f"{_ON} (wait|stay) [here] for {others}",
            *(f"{_ON} {said}" for said in (also or {}).get("wait", ())),
        ]
        for k, name in enumerate(actions[1:], start=self.wait + 1):
            # "Go to room 7" is the skill of this name.
            led = "step" if name in skills else "[(step|go|move|drive|one step|a step|walk)]"
            patterns[k] = [
                f"{_ON} {led} {name} [(one|1|a) (cell|step|square)]",
                *(f"{_ON} [step] {said}" for said in (also or {}).get(name, ())),
            ]
        self._grammar = Grammar(patterns, slots)
        self._index = {name: k for k, name in enumerate(self.names)}
        self._compiled = jax.jit(self.details)

    def plans(self, perception: Array) -> tuple[list[Details], Array]:
        """(details of the skills in order, scalars or rows each; bool[A], legal actions)."""
        raise NotImplementedError

    def rules(self) -> str:
        raise NotImplementedError

    def _steps(self) -> str:
        """What rules say of waiting and of single actions."""
        return (
            "wait: do nothing for one step. step: ...: one plain action, if it is possible now: "
            f"{self._plain}."
        )

    def details(self, perception: Array) -> Details:
        rows, legal = self.plans(perception)
        count = legal.shape[0]
        why = jnp.where(legal, POSSIBLE, UNABLE)
        rows = [*rows, Details(jnp.arange(count), why, jnp.ones(count))]
        action, why, steps, held = (
            jnp.concatenate([jnp.broadcast_to(row[k], jnp.shape(row.why) or (1,)) for row in rows])
            for k in range(4)
        )
        # A plan whose next action is not legal cannot go on.
        able = jnp.asarray(legal)[jnp.clip(action, 0, count - 1)]
        why = jnp.where((why == POSSIBLE) & ~able, UNABLE, why)
        action = jnp.where(why == POSSIBLE, action, 0)
        return Details(*(part.astype(jnp.int32) for part in (action, why, steps, held)))

    def primitive(self, action: Array) -> Array:
        return (self.wait + action).astype(jnp.int32)

    def survey(self, perception: Array) -> tuple[Array, Array, Array]:
        details = self._compiled(perception)  # traced once, for all who call it
        done = (details.why == DONE) | jnp.asarray(self.instant)
        return details.action, done, details.why == POSSIBLE

    def control(self, perception: Array, skill: Array) -> tuple[Array, Array, Array]:
        action, done, possible = self.survey(perception)
        return action[skill], done[skill], possible[skill]

    def words(self, perception: np.ndarray) -> list[str]:
        """For each skill what it would do now, or why it is impossible."""
        found = jax.device_get(self._compiled(np.asarray(perception)))
        said = []
        rows = (part.tolist() for part in (found.why, found.steps, found.held))
        for k, (why, steps, held) in enumerate(zip(*rows, strict=True)):
            if why != POSSIBLE:
                said.append(self.reason(k, why, perception))
            elif k >= self.wait:
                said.append("")  # the rules explain them
            elif steps < 0:
                said.append("it goes on until you do something else")
            else:
                # Others may be in the way, or leave it; and help, or not.
                many = f"about {steps} step{'s' * (steps != 1)}"
                freed = "whoever is" if held == 1 else f"the {held} who are"
                unless = f", if {freed} in the way move{'s' * (held == 1)} on" if held else ""
                said.append(f"done in {many}{unless}" if steps else "done at once")
        return said

    def reason(self, skill: int, why: int, perception: np.ndarray) -> str:
        """Why a skill is impossible, `why` not being `POSSIBLE`."""
        return WHY[why]

    def parse(
        self, text: str, perception: np.ndarray | None = None, current: int | None = None
    ) -> int | None:
        """The skill that a sentence names, None if it names none."""
        plain = " ".join(text.lower().split()).strip(" .")
        if plain in self._index:
            return self._index[plain]
        found: int | None = self._grammar.meaning(text)
        if found is not None and current is not None and found > self.wait:
            # "Keep mining" goes on with "mine gold", and is no single action.
            verb = self.names[found].removeprefix("step: ")
            if self.names[current].split()[0] == verb and _KEEPS.search(text):
                return current
        return found


def counted(cost: Array, body: float = BODY) -> tuple[Array, Array]:
    """(steps, bodies in the way) of what a way costs, where cells with bodies cost `body` more."""
    bodies = jnp.round((cost - jnp.floor(cost)) / MARK)
    return jnp.floor(cost) - bodies * np.floor(body), bodies


def plan(
    cost: Array,
    here: Array,
    *,
    extra: Any = 0,
    done: Any = False,
    there: Any = True,
    stays: Any = 0,
) -> Details:
    """A skill that goes: to the cheapest of costs f32[5] (staying first) of what staying and going
    each way leaves to go.

    Args:
        here: the cost from where one is.
        extra: steps that come after arriving.
        done: whether it is reached.
        there: whether there is anything to go to.
        stays: the action of who has arrived.
    """
    way = jnp.argmin(cost[1:]) + 1
    why = jnp.where(done, DONE, jnp.where(there, jnp.where(here < FAR, POSSIBLE, NO_WAY), NONE))
    action = jnp.where(here <= 0, stays, way)
    steps, held = counted(here)
    return Details(action, why, jnp.where(here < FAR, steps + extra, -1), held)
