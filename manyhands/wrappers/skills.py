"""Named skills in place of primitive actions, for any environment that ships a skill set.

One step of `Skills` is one primitive step of each agent's chosen skill: whoever plays names the
skill again to go on with it, or another one at any time. `persist` does the naming again for
players whose every answer is dear.

One step of `Events` is as many primitive steps as it takes until something happens: a semi-Markov
decision process (Sutton, Precup & Singh 1999). `embody` seats a player of `Events` in the
environment below it, beside players who choose every primitive action.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Sequence
from typing import Any, Protocol

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.answers import read
from manyhands.core.config import one_of, whole
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
from manyhands.core.view import Reply, View


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


class EventSkills(SkillSet, Protocol):
    """A skill set that `Events` can play: its functions also take any further axes.

    Attributes:
        events: what may happen, in words; the first one is "nothing".
        members: how many agents make a team; a team's agents are neighbours in axis order.
        options: what a whole team may choose, in words; empty where teams cannot choose as one.
        plays: what the words of options mean.
    """

    events: tuple[str, ...]
    members: int
    options: tuple[str, ...]
    plays: str

    def parse_observation(self, row: Array) -> Any:
        """An agent's perception [K, *axes] by names: a pytree of arrays [..., *axes]."""

    def order(self, skill: Array) -> Any:
        """Skills [*axes] with their arguments, ready to be followed for many steps."""

    def follow(self, obs: Any, order: Any) -> Array:
        """The next primitive action, [*action_space.shape, *axes]."""

    def possible(self, obs: Any) -> Array:
        """bool[S, *axes]: which skills can be chosen."""

    def event(self, before: Any, after: Any) -> Array:
        """u8[*axes], index into `events`: what happened between two observations of an agent."""

    def assign(self, obs: Any, option: Array) -> Array:
        """The skill of each agent, [*axes], that its team's option [*axes] means for it."""

    def parse_option(self, text: str) -> int:
        """The option that `text` names; raises `IllegalAction`."""


STATUS = ("none yet", "done", "under way", "impossible, you stayed where you were")
NEW, DONE, UNDER_WAY, IMPOSSIBLE = range(4)


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


class Skills(Wrapper[SkillState]):
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
        skills = env.skill_set()
        if skills is None:
            raise ConfigError(f"{env.id!r} ships no skill set (a method `skill_set()`)")
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
        """Of a row of `legal`, what the skills that take one primitive action each say of it."""
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
        """The skill that an answer names, or the one-step skill of a primitive action that `env`
        reads in it; of several lines, the last one that begins with "ACTION:" counts."""
        i = self.index(agent)
        answer = _answer(text)
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


# ---- from event to event -------------------------------------------------------------------------


@state_dataclass
class EventState:
    """The wrapped state, and what led there.

    Attributes:
        inner: state of the wrapped environment.
        chosen: i16[N], the last action of each agent of this environment.
        event: u8[], index into the skill set's `events`: why the last step ended; "nothing" where
            its time was up.
        steps: i16[], primitive steps of the last step.
    """

    inner: Any
    chosen: Array
    event: Array
    steps: Array


PER = ("agent", "team")


class Events(Wrapper[EventState]):
    """The environment `env`, played by skills that run from one event to the next.

    Args:
        env: an environment whose `skills()` is a set of `EventSkills`.
        patience: primitive steps after which all choose again although nothing happened.
        per: `"agent"`: everybody chooses a skill; `"team"`: teams choose one of the set's `options`
            for all their members.

    A step ends with the first event, with the end of the episode, or after `patience` primitive
    steps. Reward terms and metrics are summed over them; for a team, terms are the means of its
    members. The metric `primitive_steps` counts them: whoever discounts a primitive step by gamma
    discounts this one by gamma to that power. `max_steps` is that of `env`: no episode has more
    steps, and most have far fewer.

    Actions are `Discrete`, in the order of the table (`skills.names`, or `skills.options`). An
    impossible skill is `skills.wait`, counted in `metrics["illegal"]`. An agent's observation is
    the wrapped one; a team's, its members' one after the other.
    """

    id = "events"
    lifts = False  # a skill lasts for many actions of `env`; `embody` goes the other way

    def __init__(self, env: Env, patience: int = 50, per: str = "agent"):
        skills = env.skill_set()
        if not hasattr(skills, "event"):
            raise ConfigError(f"{env.id!r} ships no skill set that knows events")
        patience = whole("patience", patience, 1)
        one_of("per", per, PER)
        super().__init__(env)
        self.patience, self.per, self.pace = patience, per, 1.0
        self.chat, self.keys = None, {}
        self.skills: EventSkills = skills
        self.members = self.skills.members if per == "team" else 1
        table = self.skills.names
        self.noop = self.skills.wait
        if per == "team":
            table = self.skills.options
            if not table:
                raise ConfigError(f"teams cannot choose as one in {env!r}; leave out per='team'")
            self.agents = tuple(dict.fromkeys(name.rpartition("_")[0] for name in env.agents))
            self.noop = len(table) - 1
            space = env.observation_space
            self.observation_space = gymnasium.spaces.Box(
                np.tile(space.low, self.members),  # type: ignore[attr-defined]
                np.tile(space.high, self.members),  # type: ignore[attr-defined]
                dtype=space.dtype,  # type: ignore[arg-type]
            )
            self.sides = None
        self.table = table
        self.action_space = gymnasium.spaces.Discrete(len(table))

    def __reduce__(self) -> tuple[Any, ...]:
        return Events, (self.env, self.patience, self.per)

    # ---- pure ---------------------------------------------------------------------------------

    def _parsed(self, inner: Any) -> Any:
        """What each agent of `env` perceives, by names; the agent axis after the components."""
        return self.skills.parse_observation(jnp.moveaxis(self.env.perceive(inner), 0, 1))

    def inner(self, state: EventState) -> Any:
        return state.inner

    def skill_set(self) -> None:
        return None

    def words(self, action: Action, state: EventState, agent: str | int) -> None:
        return None

    def begin(self, inner: Any) -> EventState:
        chosen = jnp.full(self.num_agents, self.noop, jnp.int16)
        begins = jnp.uint8(len(self.skills.events) - 1)
        return EventState(inner, chosen, begins, jnp.int16(0))

    def step(self, key: Array, state: EventState, actions: Array) -> tuple[EventState, Outcome]:
        env, skills, batch = self.env, self.skills, jnp.shape(state.event)
        obs = self._parsed(state.inner)
        known = (actions >= 0) & (actions < len(self.table))
        actions = jnp.where(known, actions, self.noop)
        if self.per == "team":
            ready = known
            skill = skills.assign(obs, jnp.repeat(actions, self.members, axis=0))
        else:
            ready = known & _of(self.legal_of(obs), actions)
            skill = jnp.where(ready, actions, skills.wait)
        order = skills.order(skill)
        illegal = jnp.sum(self.acting(state) & ~ready, axis=0)

        def go_on(carry: Any) -> Any:
            running, count, inner, obs, event, sums, ends = carry
            moves = jnp.moveaxis(skills.follow(obs, order), -1 - len(batch), 0)
            keys = jax.vmap(jax.random.fold_in)(key, count) if batch else fold_in(key, count)
            new, outcome = env.step(keys, inner, moves)
            seen = self._parsed(new)
            happened = skills.event(obs, seen)[0]
            over = jnp.all(outcome.terminated | outcome.truncated, axis=0)

            def chosen(now: Any, before: Any) -> Any:
                return jax.tree_util.tree_map(
                    lambda a, b: jnp.where(running, a, b).astype(b.dtype), now, before
                )

            gained = jax.tree_util.tree_map(jnp.add, sums, (outcome.terms, outcome.metrics))
            count = chosen(count + 1, count)
            after = (
                count,
                chosen(new, inner),
                chosen(seen, obs),
                chosen(happened, event),
                chosen(gained, sums),
                chosen((outcome.terminated, outcome.truncated), ends),
            )
            return (running & (happened == 0) & ~over & (count < self.patience), *after)

        fold_in = jax.random.fold_in
        _, shapes = jax.eval_shape(
            env.step,
            key,
            state.inner,
            jnp.moveaxis(skills.follow(obs, order), -1 - len(batch), 0),
        )
        nothing = jax.tree_util.tree_map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        begin = (
            jnp.ones(batch, bool),
            jnp.zeros(batch, jnp.int32),
            state.inner,
            obs,
            jnp.zeros(batch, jnp.uint8),
            (nothing.terms, nothing.metrics),
            (nothing.terminated, nothing.truncated),
        )
        _, count, inner, _, event, (terms, metrics), ends = jax.lax.while_loop(
            lambda carry: jnp.any(carry[0]), go_on, begin
        )
        metrics["illegal"] = metrics["illegal"] + illegal.astype(metrics["illegal"].dtype)
        metrics["primitive_steps"] = count.astype(jnp.float32)
        if self.per == "team":
            terms = {name: jnp.mean(self._teams(values), axis=1) for name, values in terms.items()}
            ends = jax.tree_util.tree_map(lambda rows: jnp.all(self._teams(rows), 1), ends)
        acting = self.acting(state)
        new = EventState(
            inner,
            jnp.where(acting, jnp.where(ready, actions, self.noop), state.chosen).astype(jnp.int16),
            event,
            count.astype(jnp.int16),
        )
        return new, self.outcome(terms, *ends, metrics)

    def _teams(self, rows: Array) -> Array:
        """[N, ...] of the agents of `env` as [teams, members, ...]."""
        return rows.reshape(-1, self.members, *rows.shape[1:])

    def observe(self, state: EventState) -> Array:
        rows = self.env.observe(state.inner)
        if self.per == "team":
            return rows.reshape(-1, self.members * rows.shape[1], *rows.shape[2:])
        return rows

    def perceive(self, state: EventState) -> Array:
        """The wrapped rows; of a team, [members, K]."""
        rows = self.env.perceive(state.inner)
        return self._teams(rows) if self.per == "team" else rows

    def network_input(self, row: Array) -> Array:
        if self.per == "team":
            return jnp.concatenate([self.env.network_input(row[i]) for i in range(self.members)])
        return self.env.network_input(row)

    def legal(self, state: EventState) -> Array:
        acting = self.acting(state)
        if self.per == "team":
            shape = (self.num_agents, len(self.table), *acting.shape[1:])
            return jnp.broadcast_to(acting[:, None], shape)
        return self.legal_of(self._parsed(state.inner)) & acting[:, None]

    def legal_of(self, obs: Any) -> Array:
        """bool[N, S, ...] of what the agents of `env` see: the skills that can be chosen."""
        return jnp.moveaxis(self.skills.possible(obs), 0, 1)

    def acting(self, state: EventState) -> Array:
        acting = self.env.acting(state.inner)
        return jnp.any(self._teams(acting), axis=1) if self.per == "team" else acting

    # ---- words and pictures -------------------------------------------------------------------

    def _member(self, agent: str | int) -> int:
        """The agent of `env` through whose eyes an agent of this environment looks."""
        return self.index(agent) * self.members

    def rules(self, agent: str | int) -> str:
        i = self._member(agent)
        return self.manual(self.env.rules(i), self.agents[self.index(agent)])

    def manual(self, rules: str, agent: str) -> str:
        """The wrapped rule book, and what is different here."""
        rules = f"{rules}\n\nSKILLS\nIn place of the actions above, answer with "
        if self.per == "agent":
            return f"{rules}the name of a skill, in words.\n{self.skills.rules()}"
        names = ", ".join(self.env.agents[self._member(agent) :][: self.members])
        return (
            f"{rules}one of the options, in words. You are the {agent} team, and choose for all "
            f"its drones ({names}) at once, whenever something has happened.\n{self.skills.plays}"
        )

    def describe(self, state: EventState, agent: str | int) -> str:
        """The wrapped text, and what happened since the agent last chose."""
        i = self.index(agent)
        text = self.env.describe(state.inner, self._member(agent))
        event, steps = int(np.asarray(state.event)), int(np.asarray(state.steps))
        return f"{text}\n{self.news(event, steps, int(np.asarray(state.chosen)[i]))}"

    def news(self, event: int, steps: int, chosen: int) -> str:
        """What happened in the last `steps` primitive steps of an agent who chose `chosen`."""
        if steps == 0:
            return f"Choose: {self.skills.events[-1]}."
        what = self.skills.events[event] if event else "nothing in particular happened"
        return (
            f"Choose: {what}, {steps} step{'s' * (steps != 1)} after your last choice, "
            f'"{self.table[chosen]}".'
        )

    def choices(self, state: EventState, agent: str | int) -> list[str]:
        i = self.index(agent)
        if not bool(np.asarray(self.acting(state))[i]):
            return []
        if self.per == "team":
            return list(self.table)
        return self.offers(np.asarray(self.env.perceive(state.inner))[i])

    def offers(self, row: np.ndarray) -> list[str]:
        """The skills that can be chosen with this perception, each with what it would do."""
        possible, words = self.can(row), self.skills.words(row)
        return [f"{self.table[k]}: {words[k]}" for k in np.flatnonzero(possible)]

    def can(self, row: np.ndarray) -> np.ndarray:
        """bool[S]: the skills that can be chosen with this perception."""
        compiled = self.__dict__.get("_can")
        if compiled is None:
            compiled = jax.jit(lambda row: self.skills.possible(self.skills.parse_observation(row)))
            self.__dict__["_can"] = compiled
        return np.asarray(compiled(np.asarray(row)))

    def parse(self, text: str, state: EventState, agent: str | int) -> Action:
        """The skill, or a team's option, that an answer names; of several lines, the last one that
        begins with "ACTION:" counts."""
        i = self.index(agent)
        if self.per == "team":
            return self.skills.parse_option(_answer(text))
        return self.read(text, np.asarray(self.env.perceive(state.inner))[i])

    def read(self, text: str, row: np.ndarray) -> int:
        """The skill that an answer names, if it can be chosen with this perception."""
        skill = self.skills.parse(_answer(text))
        assert skill is not None
        if not self.can(row)[skill]:
            why = self.skills.words(row)[skill]
            raise IllegalAction(f"{self.table[skill]!r} is impossible now: {why}")
        return skill

    def draw(
        self, state: EventState, canvas: Any, agent: str | int | None = None, camera: str = ""
    ) -> None:
        doing = (
            [self.table[int(k)] for k in np.asarray(state.chosen)] if self.per == "agent" else ()
        )
        who = None if agent is None else self._member(agent)
        self.env.draw_doing(state.inner, canvas, doing, who, camera)

    def to_dict(self, state: EventState) -> dict[str, Any]:
        chosen = [self.table[int(k)] for k in np.asarray(state.chosen)]
        return {
            **self.env.to_dict(state.inner),
            "chosen": dict(zip(self.agents, chosen, strict=True)),
            "event": self.skills.events[int(np.asarray(state.event))],
            "steps_since_choice": int(np.asarray(state.steps)),
        }

    def config(self) -> dict[str, Any]:
        return {"patience": self.patience, "per": self.per}


def _of(table: Array, numbers: Array) -> Array:
    """Entry `numbers[n, ...]` of each row of `table`, [N, S, ...]: one-hot, for batches."""
    count = jnp.arange(table.shape[1]).reshape((-1,) + (1,) * (table.ndim - 2))
    return jnp.any(table & (count == numbers[:, None]), axis=1)


def _answer(text: str) -> str:
    """What counts of an answer."""
    answer = read(text, lambda reason: IllegalAction(f"{reason}; {_IN_WORDS}")).text
    if re.fullmatch(r"[-+\d.\s]*", answer):
        raise IllegalAction(_IN_WORDS)
    return answer


_IN_WORDS = "name a skill in words, for example one of the choices offered"


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


# ---- a player of skills among players of primitive actions ---------------------------------------


class SkillView(View):
    """What an agent of `Events` would know, made of what one of the environment below knows."""

    def __init__(self, events: Events, view: View, news: str, turn: int):
        super().__init__(
            view._env,
            view._frame,
            view.index,
            episode=view.episode,
            step=view.step,
            turn=turn,
            seed=view.seed,
            messages=view.messages,
        )
        self._events, self._news = events, news

    @property
    def legal(self) -> np.ndarray:
        return self._events.can(self.perception)

    @functools.cached_property
    def text(self) -> str:
        return f"{super().text}\n{self._news}"

    @functools.cached_property
    def choices(self) -> list[str]:
        return self._events.offers(self.perception)

    @functools.cached_property
    def rules(self) -> str:
        return self._events.manual(super().rules, self.agent)

    def parse(self, text: str) -> Action:
        return self._events.read(text, self.perception)

    def words(self, action: Action) -> str:
        return self._events.table[int(action)]


@dataclasses.dataclass
class _Body:
    """How one agent of one episode stands: the skill it follows, for how many steps, what it
    perceived last, and how often it chose."""

    skill: int
    steps: int
    row: np.ndarray
    turns: int


def embody(policy: Any, events: Events) -> Embodied:
    """`policy`, a host policy for `events` (an agent each), as one for the environment below, where
    it sits beside players of any other kind: it is asked at every event, and its skill flies on in
    between."""
    asynchronous = inspect.iscoroutinefunction(policy.act)
    return (_AsyncEmbodied if asynchronous else Embodied)(policy, events)


class Embodied:
    """A host policy that chooses a skill at every event, and follows it. Build it with `embody`.

    An answer that is no possible skill is the skill that does nothing, until the next event; why it
    was refused stands in `Reply.info["refused"]`.
    """

    def __init__(self, policy: Any, events: Events):
        if events.per != "agent":
            raise ConfigError("an embodied player chooses for one agent; give Events(per='agent')")
        self.policy, self.events = policy, events
        self.name = getattr(policy, "name", type(policy).__name__)
        self._bodies: dict[tuple[int, int], _Body] = {}
        skills = events.skills

        def happened(before: Array, row: Array) -> Array:
            return skills.event(skills.parse_observation(before), skills.parse_observation(row))

        def follow(row: Array, skill: Array) -> Array:
            return skills.follow(skills.parse_observation(row), skills.order(skill))

        self._event, self._follow = jax.jit(happened), jax.jit(follow)

    def act(self, views: Sequence[View]) -> Any:
        asked = self._asked(views)
        return self._moves(views, asked, self.policy.act(asked) if asked else [])

    def _asked(self, views: Sequence[View]) -> list[SkillView]:
        """What is to be decided now."""
        asked = []
        for view in views:
            body = self._bodies.get((view.episode, view.index))
            if view.turn == 0 or body is None:
                news, turn = self.events.news(0, 0, 0), 0
            else:
                event = int(self._event(body.row, view.perception))
                if not event and body.steps < self.events.patience and not view.messages:
                    continue
                news = self.events.news(event, body.steps, body.skill)
                turn = body.turns
            asked.append(SkillView(self.events, view, news, turn))
        return asked

    def _moves(
        self, views: Sequence[View], asked: Sequence[SkillView], answers: Sequence[Any]
    ) -> list[Reply]:
        said: dict[tuple[int, int], Reply] = {}
        for choosing, answer in zip(asked, answers, strict=True):
            reply = answer if isinstance(answer, Reply) else Reply(answer)
            skill, info = self.events.skills.wait, dict(reply.info)
            try:
                if reply.action is None:
                    raise IllegalAction(reply.error or "no action was given")
                named = reply.action
                skill = int(choosing.parse(named) if isinstance(named, str) else named)
                if not (0 <= skill < len(self.events.table) and choosing.legal[skill]):
                    raise IllegalAction(f"{named!r} is no skill that is possible now")
            except IllegalAction as error:
                skill = self.events.skills.wait
                info["refused"] = error.reason
            key = choosing.episode, choosing.index
            self._bodies[key] = _Body(skill, 0, choosing.perception, choosing.turn + 1)
            info["skill"] = self.events.table[skill]
            said[key] = Reply(None, reply.say, None, info)
        moves = []
        for view in views:
            key = view.episode, view.index
            body = self._bodies[key]
            body.row, body.steps = view.perception, body.steps + 1
            action = np.asarray(self._follow(view.perception, body.skill))
            reply = said.get(key, Reply(None))
            moves.append(Reply(action, reply.say, None, reply.info))
        return moves


class _AsyncEmbodied(Embodied):
    async def act(self, views: Sequence[View]) -> Any:
        asked = self._asked(views)
        return self._moves(views, asked, await self.policy.act(asked) if asked else [])
