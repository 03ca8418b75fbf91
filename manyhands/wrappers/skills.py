"""Named skills in place of primitive actions, for any environment that ships a skill set.

One step of the wrapper is one primitive step of each agent's chosen skill: whoever plays names the
skill again to go on with it, or another one at any time. `persist` does the naming again for
players whose every answer is dear.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import (
    Action,
    Array,
    ConfigError,
    Env,
    IllegalAction,
    Outcome,
    state_dataclass,
)
from manyhands.core.play import Reply, View


class SkillSet(Protocol):
    """What an environment's `skills()` gives: a table of S skills, each a pure controller that
    reads one agent's row of `Env.perceive`, and remembers nothing.

    Attributes:
        names: the table, S names.
        instant: bool[S], whether a skill is over after one step, whatever happens.
        wait: index of the skill that does nothing.
    """

    names: tuple[str, ...]
    instant: np.ndarray
    wait: int

    def survey(self, perception: Array) -> tuple[Array, Array, Array]:
        """(action [S, *action_space.shape], done bool[S], possible bool[S]) of all skills:
        the next primitive action, whether what the skill is for holds now, and whether it can be
        chosen. A skill that is done is not possible, unless it is instant."""

    def control(self, perception: Array, skill: Array) -> tuple[Array, Array, Array]:
        """The same of one skill."""

    def primitive(self, action: Array) -> Array:
        """The skill that takes one primitive action; traceable."""

    def words(self, perception: np.ndarray) -> list[str]:
        """For each skill what it would do now, or why it cannot be chosen."""

    def parse(self, text: str) -> int | None:
        """The skill that `text` names, None if it speaks of none; may raise `IllegalAction`."""

    def rules(self) -> str:
        """The skills, explained to a player."""


STATUS = ("none yet", "done", "under way", "impossible, you stayed where you were")
NEW, DONE, UNDER_WAY, IMPOSSIBLE = range(4)
_ACTION_LINE = re.compile(r"^[\s>*_`#-]*action[\s*_`]*:(.*)$", re.IGNORECASE | re.MULTILINE)


@state_dataclass
class SkillState:
    """The wrapped state, and how each agent's skill stands.

    Attributes:
        inner: state of the wrapped environment.
        skill: i16[N], chosen in the last step.
        status: u8[N], index into `STATUS`.
    """

    inner: Any
    skill: Array
    status: Array


class Skills(Env[SkillState]):
    """The environment `env`, played by skills.

    Args:
        env: an environment with a method `skills()` that gives a `SkillSet`.

    Actions are `Discrete(S)`, the skills in table order (`skills.names`). An impossible skill is
    `env.noop`, counted in `metrics["illegal"]`. Observations, perceptions and rewards are the
    wrapped ones; the metric `skills_done` counts the agents whose skill (none of the instant ones)
    was done by this step.
    """

    id = "skills"

    def __init__(self, env: Env):
        if not callable(getattr(env, "skills", None)):
            raise ConfigError(f"{env.id!r} ships no skill set (a method `skills()`)")
        self.env = env
        self.skills: SkillSet = env.skills()  # type: ignore[attr-defined]
        self.agents, self.max_steps, self.terms = env.agents, env.max_steps, env.terms
        self.reward_weights = env.reward_weights
        self.observation_space = env.observation_space
        self.action_space = gymnasium.spaces.Discrete(len(self.skills.names))
        self.noop = self.skills.wait
        self.deterministic_reset, self.reset_pool = env.deterministic_reset, env.reset_pool
        self.usual_seat, self.pace = env.usual_seat, env.pace
        self.reset_options = env.reset_options
        if hasattr(env, "phrases"):  # what a chat channel around the skills offers to say
            self.phrases = env.phrases
        self._perceive = jax.jit(env.perceive)

    def __reduce__(self) -> tuple[Any, ...]:
        return Skills, (self.env,)

    def lift(self, action: Array) -> Array:
        """The skill that takes one primitive action of `env`; traceable."""
        return self.skills.primitive(action)

    def lower(self, legal: Array) -> Array:
        """Of a row of `legal`, what the skills that take one primitive action each say of it."""
        space = self.env.action_space
        primitives = jnp.arange(space.start, space.start + space.n)  # type: ignore[attr-defined]
        return legal[jax.vmap(self.skills.primitive)(primitives)]

    # ---- pure ---------------------------------------------------------------------------------

    def reset(self, key: Array) -> SkillState:
        return self._begun(self.env.reset(key))

    def reset_to(self, key: Array, options: Mapping[str, Any]) -> SkillState:
        return self._begun(self.env.reset_to(key, options))

    def _begun(self, inner: Any) -> SkillState:
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

    def observe(self, state: SkillState) -> Array:
        return self.env.observe(state.inner)

    def perceive(self, state: SkillState) -> Array:
        return self.env.perceive(state.inner)

    def network_input(self, row: Array) -> Array:
        return self.env.network_input(row)

    def legal(self, state: SkillState) -> Array:
        _, _, possible = jax.vmap(self.skills.survey)(self.env.perceive(state.inner))
        return possible & self.env.acting(state.inner)[:, None]

    def acting(self, state: SkillState) -> Array:
        return self.env.acting(state.inner)

    def summary(self, state: SkillState) -> Array:
        return self.env.summary(state.inner)

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
        """The skill that an answer names, or the one-step skill of a primitive action that `env`
        reads in it; of several lines, the last one that begins with "ACTION:" counts."""
        i = self.index(agent)
        if not isinstance(text, str):
            raise IllegalAction(f"an answer is text, not {type(text).__name__}")
        lines = _ACTION_LINE.findall(text[:2_000])
        answer = (lines[-1] if lines else text[:2_000]).strip(" \t\r\n\"'`*_.!")
        if re.fullmatch(r"[-+\d.\s]*", answer):
            raise IllegalAction("name a skill in words, for example one of the choices offered")
        skill = self._named(answer, state, i)
        if skill is None:
            try:
                action = self.env.parse(answer, state.inner, i)
            except IllegalAction as error:
                # Cells and the like make for long tables: the first names suffice as examples.
                names = ", ".join(self.skills.names[: self.skills.wait + 1])
                raise IllegalAction(
                    f"{answer[:80]!r} names no skill ({names}, ...), and no action: {error.reason}"
                ) from None
            skill = int(self.skills.primitive(jnp.asarray(action)))
        if not np.asarray(self._legal(state))[i, skill]:
            why = self.skills.words(self._row(state, i))[skill]
            raise IllegalAction(f"{self.skills.names[skill]!r} is impossible now: {why}")
        return skill

    def _named(self, answer: str, state: SkillState, i: int) -> int | None:
        """The skill that words name. Words of a set with `read(text, perception, current)` may
        depend on what the agent sees, and on its skill if that is under way."""
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

    def draw(self, state: SkillState, canvas: Any, agent: str | int | None = None) -> None:
        self.env.draw(state.inner, canvas, agent)

    def to_dict(self, state: SkillState) -> dict[str, Any]:
        skills = [self.skills.names[int(s)] for s in np.asarray(state.skill)]
        statuses = [STATUS[int(s)] for s in np.asarray(state.status)]
        own = {
            name: {"skill": skill, "status": status}
            for name, skill, status in zip(self.agents, skills, statuses, strict=True)
        }
        return {**self.env.to_dict(state.inner), "skills": own}

    def config(self) -> dict[str, Any]:
        return {}

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "env": self.env.spec()}

    def __repr__(self) -> str:
        return f"Skills({self.env!r})"


# ---- players who choose seldom -------------------------------------------------------------------


def persist(policy: Any, env: Skills, patience: int = 25) -> Persist:
    """`policy`, a host policy with a plain or a coroutine `act`, asked only when there is
    something to decide."""
    asynchronous = inspect.iscoroutinefunction(policy.act)
    return (_AsyncPersist if asynchronous else Persist)(policy, env, patience)


class Persist:
    """A host policy that goes on with the skill another one chose, and asks that one again when
    the skill is done or has become impossible, when a message has come in, or after `patience`
    steps. Build it with `persist`.

    Attributes:
        asked: how often the other policy was asked.
    """

    def __init__(self, policy: Any, env: Skills, patience: int = 25):
        self.policy, self.env, self.patience = policy, env, patience
        self.name = getattr(policy, "name", type(policy).__name__)
        self.asked = 0
        self._under_way: dict[tuple[int, int], tuple[int, int]] = {}  # -> skill, steps so far

    def act(self, views: Sequence[View]) -> Any:
        kept = [self._keep(view) for view in views]
        ask = [view for view, skill in zip(views, kept, strict=True) if skill is None]
        return self._merge(views, kept, self.policy.act(ask) if ask else [])

    def _keep(self, view: View) -> int | None:
        """The skill to go on with, or None where there is something to decide."""
        skill, steps = self._under_way.get((view.episode, view.index), (self.env.noop, 0))
        over = self.env.skills.instant[skill] or not view.legal[skill]
        if view.turn == 0 or over or view.messages or steps >= self.patience:
            return None
        self._under_way[view.episode, view.index] = (skill, steps + 1)
        return skill

    def _merge(
        self, views: Sequence[View], kept: Sequence[int | None], answers: Sequence[Any]
    ) -> list[Any]:
        self.asked += len(answers)
        fresh = iter(answers)
        merged = []
        for view, skill in zip(views, kept, strict=True):
            answer = skill if skill is not None else next(fresh)
            merged.append(answer)
            if skill is None:
                self._note(view, answer)
        return merged

    def _note(self, view: View, answer: Any) -> None:
        action = answer.action if isinstance(answer, Reply) else answer
        if isinstance(action, str):
            try:
                action = view.parse(action)
            except IllegalAction:
                action = None
        number = self.env.noop if action is None else int(action)
        self._under_way[view.episode, view.index] = (number, 1)


class _AsyncPersist(Persist):
    async def act(self, views: Sequence[View]) -> Any:
        kept = [self._keep(view) for view in views]
        ask = [view for view, skill in zip(views, kept, strict=True) if skill is None]
        return self._merge(views, kept, await self.policy.act(ask) if ask else [])
