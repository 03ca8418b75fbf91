"""Named skills in place of primitive actions, for any environment that ships a skill set.

One step of `Skills` is one primitive step of each agent's chosen skill: choose the skill again to
continue it, or another one at any time. `wrappers/events.py` runs skills from one event to the
next; `baselines/players/macro.py` has players that are queried only when there is something to
decide.
"""

from __future__ import annotations

import re
from typing import Any, Protocol

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.answers import read
from manyhands.core.config import nearest
from manyhands.core.env import (
    Action,
    Array,
    ConfigError,
    Env,
    IllegalAction,
    Outcome,
    Wrapper,
    state_dataclass,
)


class SkillSet(Protocol):
    """The result of an environment's `skill_set()`: a table of S skills, each a stateless, pure
    controller that reads one agent's row of `Env.perceive`.

    Attributes:
        names: the table, S names.
        instant: bool[S], whether a skill always ends after one step.
        wait: index of the skill that does nothing.
    """

    names: tuple[str, ...]
    instant: np.ndarray
    wait: int

    def survey(self, perception: Array) -> tuple[Array, Array, Array]:
        """(action [S, *action_space.shape], done bool[S], possible bool[S]) of all skills:
        the next primitive action, whether the skill's goal is reached, and whether it can be
        chosen. A skill that is done is not possible, unless it is instant."""

    def control(self, perception: Array, skill: Array) -> tuple[Array, Array, Array]:
        """`survey` of one skill."""

    def primitive(self, action: Array) -> Array:
        """The skill that takes one primitive action; traceable."""

    def words(self, perception: np.ndarray) -> list[str]:
        """For each skill its effect now, or why it cannot be chosen."""

    def parse(self, text: str) -> int | None:
        """The skill that `text` names, None if it names none; may raise `IllegalAction`."""

    def rules(self) -> str:
        """The skills, explained to a player."""


STATUS = ("none yet", "done", "under way", "impossible, you stayed where you were")
NEW, DONE, UNDER_WAY, IMPOSSIBLE = range(4)


@state_dataclass
class SkillState:
    """The wrapped state, and the status of each agent's skill.

    Attributes:
        inner: state of the wrapped environment.
        skill: i16[N], chosen in the last step.
        status: u8[N], index into `STATUS`.
    """

    inner: Any
    skill: Array
    status: Array


class Skills(Wrapper[SkillState]):
    """The environment `env`, played by skills.

    Args:
        env: an environment whose `skill_set()` gives a `SkillSet`.

    Actions are `Discrete(S)`, the skills in table order (`skills.names`). An impossible skill plays
    `env.noop`, counted in `metrics["illegal"]`. Observations, perceptions and rewards are those of
    `env`; the metric `skills_done` counts agents that finish a skill (not an instant one) in this
    step.
    """

    id = "skills"

    def __init__(self, env: Env):
        skills = env.skill_set()
        if skills is None:
            raise ConfigError(f"{env.id!r} ships no skill set (`Env.skill_set`)")
        super().__init__(env)
        self.batched, self.chat, self.keys = False, None, {}
        self.skills: SkillSet = skills
        self.action_space = gymnasium.spaces.Discrete(len(self.skills.names))
        self.noop = self.skills.wait
        self._perceive = jax.jit(env.perceive)

    def __reduce__(self) -> tuple[Any, ...]:
        return Skills, (self.env,)

    def lift(self, action: Array) -> Array:
        """The skill that takes one primitive action of `env`; traceable."""
        return self.skills.primitive(action)

    def lower(self, legal: Array) -> Array:
        """A row of `env.legal`: the entries of `legal` for skills that take one primitive
        action."""
        space = self.env.action_space
        primitives = jnp.arange(space.start, space.start + space.n)  # type: ignore[attr-defined]
        return legal[jax.vmap(self.skills.primitive)(primitives)]

    # ---- pure ---------------------------------------------------------------------------------

    def inner(self, state: SkillState) -> Any:
        return state.inner

    def skill_set(self) -> None:
        return None  # the skills are the actions here

    def words(self, action: Action, state: SkillState, agent: str | int) -> None:
        return None

    def begin(self, inner: Any) -> SkillState:
        n = self.num_agents
        skill = jnp.full(n, self.skills.wait, jnp.int16)
        return SkillState(inner, skill, jnp.full(n, NEW, jnp.uint8))

    def step(self, key: Array, state: SkillState, actions: Array) -> tuple[SkillState, Outcome]:
        count = len(self.skills.names)
        known = (actions >= 0) & (actions < count)
        chosen = jnp.where(known, actions, self.skills.wait)
        control = jax.vmap(self.skills.control)
        moves, _, possible = control(self.env.perceive(state.inner), chosen)
        acting = self.env.acting(state.inner)
        possible = possible & known
        noop = jnp.asarray(self.env.noop, moves.dtype)
        mask = possible.reshape(possible.shape + (1,) * (moves.ndim - 1))
        inner, outcome = self.env.step(key, state.inner, jnp.where(mask, moves, noop))

        _, done, _ = control(self.env.perceive(inner), chosen)
        instant = jnp.asarray(self.skills.instant)[chosen]
        status = jnp.where(done | instant, DONE, UNDER_WAY)
        status = jnp.where(possible, status, IMPOSSIBLE)
        finished = acting & possible & done & ~instant
        metrics = dict(outcome.metrics)
        illegal = jnp.sum(acting & ~possible).astype(metrics["illegal"].dtype)
        metrics["illegal"] = metrics["illegal"] + illegal
        metrics["skills_done"] = jnp.sum(finished).astype(jnp.float32)
        outcome = Outcome(
            outcome.reward, outcome.terminated, outcome.truncated, outcome.terms, metrics
        )
        new = SkillState(
            inner,
            jnp.where(acting, chosen, state.skill).astype(jnp.int16),
            jnp.where(acting, status, state.status).astype(jnp.uint8),
        )
        return new, outcome

    def legal(self, state: SkillState) -> Array:
        _, _, possible = jax.vmap(self.skills.survey)(self.env.perceive(state.inner))
        return possible & self.env.acting(state.inner)[:, None]

    # ---- words and pictures -------------------------------------------------------------------

    def rules(self, agent: str | int) -> str:
        return (
            f"{self.env.rules(agent)}\n\nSKILLS\nIn place of the actions above, answer with the "
            f"name of a skill, in words.\n{self.skills.rules()}"
        )

    def describe(self, state: SkillState, agent: str | int) -> str:
        """The wrapped text, and a line on the agent's last skill."""
        i = self.index(agent)
        status = int(np.asarray(state.status)[i])
        text = self.env.describe(state.inner, i)
        if status == NEW:
            return f"{text}\nYour last skill: none yet."
        name = self.skills.names[int(np.asarray(state.skill)[i])]
        return f"{text}\nYour last skill: {name} ({STATUS[status]})."

    def choices(self, state: SkillState, agent: str | int) -> list[str]:
        i = self.index(agent)
        legal = np.asarray(self._legal(state))[i]
        words = self.skills.words(self._row(state, i))
        return [f"{self.skills.names[s]}: {words[s]}" for s in np.flatnonzero(legal)]

    def parse(self, text: str, state: SkillState, agent: str | int) -> Action:
        """The skill that an answer names, or the one-step skill of the primitive action that it
        names for `env`; of several lines, the last one that begins with "ACTION:" counts."""
        i = self.index(agent)
        answer = read_skill(text)
        skill = self._named(answer, state, i)
        if skill is None:
            try:
                action = self.env.parse(answer, state.inner, i)
            except IllegalAction as error:
                # Cells and the like make for long tables: the first names suffice as examples.
                names = ", ".join(self.skills.names[: self.skills.wait + 1])
                near = nearest(answer, self.skills.names)
                raise IllegalAction(
                    f"{answer[:80]!r} names no skill;{near} skills are {names}, ...; no action: "
                    f"{error.reason[:200]}"
                ) from None
            skill = int(self.skills.primitive(jnp.asarray(action)))
        if not np.asarray(self._legal(state))[i, skill]:
            why = self.skills.words(self._row(state, i))[skill]
            raise IllegalAction(f"{self.skills.names[skill]!r} is impossible now: {why}")
        return skill

    def _named(self, answer: str, state: SkillState, i: int) -> int | None:
        """The skill that words name. With a set that has `read(text, perception, current)`, this
        may depend on the agent's perception, and on its skill if that is under way."""
        if not hasattr(self.skills, "read"):
            return self.skills.parse(answer)
        under_way = int(np.asarray(state.status)[i]) == UNDER_WAY
        current = int(np.asarray(state.skill)[i]) if under_way else None
        skill: int | None = self.skills.read(answer, self._row(state, i), current)
        return skill

    def _row(self, state: SkillState, i: int) -> np.ndarray:
        return np.asarray(self._perceive(state.inner))[i]

    def _legal(self, state: SkillState) -> Array:
        compiled = self.__dict__.get("_compiled_legal")
        if compiled is None:
            compiled = self.__dict__["_compiled_legal"] = jax.jit(self.legal)
        return compiled(state)

    def draw(
        self, state: SkillState, canvas: Any, agent: str | int | None = None, camera: str = ""
    ) -> None:
        doing = [self.skills.names[int(s)] for s in np.asarray(state.skill)]
        self.env.draw_doing(state.inner, canvas, doing, agent, camera)

    def to_dict(self, state: SkillState) -> dict[str, Any]:
        skills = [self.skills.names[int(s)] for s in np.asarray(state.skill)]
        statuses = [STATUS[int(s)] for s in np.asarray(state.status)]
        own = {
            name: {"skill": skill, "status": status}
            for name, skill, status in zip(self.agents, skills, statuses, strict=True)
        }
        return {**self.env.to_dict(state.inner), "skills": own}


def read_skill(text: str) -> str:
    """The part of an answer that names a skill."""
    answer = read(text, lambda reason: IllegalAction(f"{reason}; {_IN_WORDS}")).text
    if re.fullmatch(r"[-+\d.\s]*", answer):
        raise IllegalAction(_IN_WORDS)
    return answer


_IN_WORDS = "name a skill in words, for example one of the choices offered"
