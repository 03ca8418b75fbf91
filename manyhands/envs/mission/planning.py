"""What the skills of all missions have in common; the tables are in `skills.py` of each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, names_of
from manyhands.core.grammar import WAITING, Grammar
from manyhands.envs.mission.ways import FAR

POSSIBLE, DONE, NONE, NO_WAY, UNABLE = range(5)
WHY = {
    DONE: "it is done",
    NONE: "you see none",
    NO_WAY: "you know of no way there",
    UNABLE: "you cannot do it now",
}
_ON = "[(keep|still|continue|keep on|go on|continue to|go on to|go and|i will|i'll|let me)]"


class Details(NamedTuple):
    """All skills at once: `action` i32[S], `why` i32[S] (`POSSIBLE`, or what stands against it),
    `steps` i32[S]: until the aim is reached, as far as is known; -1 where it has no end."""

    action: Array
    why: Array
    steps: Array


class Table:
    """A skill set (see `wrappers/skills.py`) whose skills are computed from a perception, and then
    the primitive actions, one step each.

    Args:
        skills: name -> patterns of sentences that name it.
        actions: names of the primitive actions; the first is to stay.
        slots: of the patterns.

    Attributes:
        names, instant, wait: as of any skill set.
        example: a skill, for the rules.
    """

    def __init__(
        self,
        skills: Mapping[str, Sequence[str]],
        actions: Sequence[str],
        slots: Mapping[str, Mapping[str, Any]] | None = None,
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
        patterns[self.wait] = [*WAITING, f"{_ON} (wait|stay|stay here|do nothing)"]
        for k, name in enumerate(actions[1:], start=self.wait + 1):
            patterns[k] = [f"{_ON} [(step|go|move|one step|a step|walk)] {name}"]
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
        action, why, steps = (
            jnp.concatenate([jnp.atleast_1d(jnp.asarray(row[k])) for row in rows]) for k in range(3)
        )
        # A plan whose next action is not legal cannot go on.
        able = jnp.asarray(legal)[jnp.clip(action, 0, count - 1)]
        why = jnp.where((why == POSSIBLE) & ~able, UNABLE, why)
        action = jnp.where(why == POSSIBLE, action, 0)
        return Details(action.astype(jnp.int32), why.astype(jnp.int32), steps.astype(jnp.int32))

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
        for k, (why, steps) in enumerate(zip(found.why, found.steps, strict=True)):
            if k >= self.wait:
                said.append("")  # the rules explain them
            elif why != POSSIBLE:
                said.append(WHY[int(why)])
            elif steps < 0:
                said.append("it goes on until you do something else")
            else:
                # Others may be in the way, or leave it; and help, or not.
                many = f"about {int(steps)} step{'s' * (int(steps) != 1)}"
                said.append(f"done in {many}" if steps else "done at once")
        return said

    def parse(
        self, text: str, perception: np.ndarray | None = None, current: int | None = None
    ) -> int | None:
        """The skill that a sentence names, None if it names none."""
        plain = " ".join(text.lower().split()).strip(" .")
        if plain in self._index:
            return self._index[plain]
        found: int | None = self._grammar.meaning(text)
        return found


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
    return Details(action, why, jnp.where(here < FAR, here + extra, -1))
