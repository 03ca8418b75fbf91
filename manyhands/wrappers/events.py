"""Skills that run from one event to the next: options in a semi-Markov decision process (Sutton,
Precup & Singh 1999). One step lasts as many primitive steps as pass until the next event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.choices import LIMIT, Choice
from manyhands.core.config import one_of, whole
from manyhands.core.env import (
    Action,
    Array,
    ConfigError,
    Env,
    Outcome,
    Wrapper,
    state_dataclass,
)
from manyhands.core.reading.answers import how_to_answer
from manyhands.core.reading.ranks import by_place
from manyhands.core.talk import Message
from manyhands.wrappers.skills import SkillSet, answered, read_option, read_skill, unfolded


class EventSkills(SkillSet, Protocol):
    """A skill set for `Events`: its functions also accept further axes.

    Attributes:
        events: the possible events, in words; the first one is "nothing".
        members: number of agents in a team; a team's agents are adjacent in axis order.
        options: the choices of a whole team, in words; empty if teams cannot choose as one.
        plays: explanation of the options.
        example: a skill, for the rules.
    """

    events: tuple[str, ...]
    members: int
    options: tuple[str, ...]
    plays: str
    example: str

    def parse_observation(self, row: Array) -> Any:
        """An agent's perception [K, *axes] by names: a pytree of arrays [..., *axes]."""

    def order(self, skill: Array) -> Any:
        """Skills [*axes] with their arguments, prepared for many steps of `follow`."""

    def follow(self, obs: Any, order: Any) -> Array:
        """The next primitive action, [*action_space.shape, *axes]."""

    def possible(self, obs: Any) -> Array:
        """bool[S, *axes]: which skills can be chosen."""

    def event(self, before: Any, after: Any) -> Array:
        """u8[*axes], index into `events`: the event between two observations of an agent."""

    def assign(self, obs: Any, option: Array) -> Array:
        """The skill of each agent, [*axes], under its team's option [*axes]."""

    def plain_orders(self, text: str) -> str:
        """An answer for a team as it is to be read."""

    def parse_option(
        self, text: str, perception: np.ndarray | None = None, agents: Sequence[str] = ()
    ) -> int | None:
        """The option that a sentence names, None if it names none; may raise `IllegalAction`. From
        the perception of one of a team with these names, they may stand for their roles."""

    def offers(self, perception: np.ndarray, limit: int | None = LIMIT) -> list[Choice]:
        """The skills that can be chosen with this perception, each with its effect."""

    def option_choices(self, limit: int | None = LIMIT) -> list[Choice]:
        """The options, with their effects."""

    def cast(self, perception: np.ndarray, agents: Sequence[str]) -> str:
        """Who of a team, with these names, would do what now under its option, in words, from the
        perception of one of them."""


@state_dataclass
class EventState:
    """The wrapped state, and how the last step ended.

    Attributes:
        inner: state of the wrapped environment.
        chosen: i16[N], the last action of each agent of this environment.
        event: u8[], index into the skill set's `events`: the event that ended the last step;
            "nothing" if `patience` ran out.
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
        env: an environment whose `skill_set()` is a set of `EventSkills`; for teams, one that has
            `team_rules` and `team_describe`, too.
        patience: primitive steps after which all agents choose again without an event.
        per: `"agent"`: each agent chooses a skill; `"team"`: each team chooses one of the set's
            `options` for all its members.

    A step ends with the first event, with the end of the episode, or after `patience` primitive
    steps. Reward terms and metrics are summed over the primitive steps; for a team, terms are the
    means of its members. The metric `primitive_steps` is their number k: a learner with a discount
    of gamma for a primitive step should discount this step by gamma ** k. `max_steps` is that of
    `env`, an upper bound: most episodes have far fewer steps.

    Actions are `Discrete`, in the order of the table (`skills.names`, or `skills.options`). An
    impossible skill plays `skills.wait`, counted in `metrics["illegal"]`. Observations are those of
    `env`; a team's observation is the concatenation of its members' observations.
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
        self._perceive = jax.jit(env.perceive)
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

    # ---- pure ---------------------------------------------------------------------------------

    def _parsed(self, inner: Any) -> Any:
        """The perceptions of the agents of `env`, by names; the agent axis after the components."""
        return self.skills.parse_observation(jnp.moveaxis(self.env.perceive(inner), 0, 1))

    def inner(self, state: EventState) -> Any:
        return state.inner

    def elapsed(self, state: EventState) -> None:
        """Not counted: the field `time` of the wrapped state counts primitive steps."""

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
        """bool[N, S, ...], the skills that the agents of `env` can choose, given their
        perceptions."""
        return jnp.moveaxis(self.skills.possible(obs), 0, 1)

    def acting(self, state: EventState) -> Array:
        acting = self.env.acting(state.inner)
        return jnp.any(self._teams(acting), axis=1) if self.per == "team" else acting

    def forfeit_terms(self, state: EventState, agents: Sequence[int]) -> dict[str, Array]:
        members = [i * self.members + k for i in agents for k in range(self.members)]
        terms = self.env.forfeit_terms(state.inner, members)
        if self.per == "agent":
            return terms
        return {name: self._teams(np.asarray(rows)).mean(axis=1) for name, rows in terms.items()}

    # ---- words and pictures -------------------------------------------------------------------

    def _member(self, agent: str | int) -> int:
        """The agent of `env` whose view an agent of this environment gets."""
        return self.index(agent) * self.members

    def rules(self, agent: str | int) -> str:
        i, name = self._member(agent), self.agents[self.index(agent)]
        if self.per == "agent":
            return self.manual(self.env.rules(i), name)
        game: Any = self.env.unwrapped
        return self.manual(game.team_rules(i), name)

    def manual(self, rules: str, agent: str) -> str:
        """The wrapped rules, with what can be answered here in place of their last section."""
        until = ", ".join(self.skills.events[1:])
        until = f"It runs until something happens ({until}) or {self.patience} steps have passed"
        if self.per == "agent":
            how = f"Answer with the name of a skill. {until}; then you choose again: {_AGAIN} "
            how, means = how + how_to_answer(self.skills.example), self.skills.rules()
        else:
            names = ", ".join(self.env.agents[self._member(agent) :][: self.members])
            how = (
                f"You choose for all drones of the {agent} team ({names}) at once, with an option. "
                f"{until}; then you choose again: {_AGAIN} "
                f"{how_to_answer('receiver: pass high; setter: set; ...')}"
            )
            means = self.skills.plays
        return answered(rules, f"{how}\n{means}")

    def describe(
        self,
        state: EventState,
        agent: str | int,
        *,
        detail: str | None = None,
        talk: Sequence[Message] = (),
    ) -> str:
        """The wrapped text, who plays which role in a team, and what made the agent choose
        again."""
        i, member = self.index(agent), self._member(agent)
        acting = bool(np.asarray(self.env.acting(state.inner)).any())
        if self.per == "agent":
            text = super().describe(state, member, detail=detail, talk=talk)
        else:
            env: Any = self.env
            inner = state.inner
            while isinstance(env, Wrapper):
                env, inner = env.env, env.inner(inner)
            text = env.team_describe(inner, member, detail=detail)
            if acting:
                row = np.asarray(self._perceive(state.inner))[member]
                text = f"{text}\n{self.skills.cast(row, self.env.agents[member:])}"
        if not acting:
            return text
        event, steps = int(np.asarray(state.event)), int(np.asarray(state.steps))
        return f"{text}\n{self.news(event, steps, int(np.asarray(state.chosen)[i]))}"

    def last_events(
        self, state: EventState, agent: str | int | None = None
    ) -> list[dict[str, Any]]:
        """What ended the last step: nothing happens within one but at its end."""
        who = None if agent is None else self._member(agent)
        return self.env.last_events(state.inner, who)

    def concerns(self, state: EventState, agent: str | int) -> bool:
        if self.per == "team":
            return bool(self.last_events(state, agent))
        return self.env.concerns(state.inner, agent)

    def event_codes(self, state: EventState) -> Array:
        codes = self.env.event_codes(state.inner)
        return self._teams(codes)[:, 0] if self.per == "team" else codes

    def news(self, event: int, steps: int, chosen: int) -> str:
        """The event after `steps` primitive steps of an agent that chose `chosen`, in words."""
        if steps == 0:
            return f"Choose: {self.skills.events[-1]}."
        what = self.skills.events[event] if event else "nothing in particular happened"
        return (
            f"Choose: {what}, {steps} step{'s' * (steps != 1)} after your last choice, "
            f'"{self.table[chosen]}".'
        )

    def choices(
        self, state: EventState, agent: str | int, limit: int | None = LIMIT
    ) -> list[Choice]:
        i = self.index(agent)
        if not bool(np.asarray(self.acting(state))[i]):
            return []
        if self.per == "team":
            return self.skills.option_choices(limit)
        return self.offers(np.asarray(self._perceive(state.inner))[i], limit)

    def offers(self, row: np.ndarray, limit: int | None = LIMIT) -> list[Choice]:
        """The skills that can be chosen with this perception, each with its effect."""
        return self.skills.offers(row, limit)

    def can(self, row: np.ndarray) -> np.ndarray:
        """bool[S]: the skills that can be chosen with this perception."""
        compiled = self.__dict__.get("_can")
        if compiled is None:
            compiled = jax.jit(lambda row: self.skills.possible(self.skills.parse_observation(row)))
            self.__dict__["_can"] = compiled
        return np.asarray(compiled(np.asarray(row)))

    def parse(self, text: str, state: EventState, agent: str | int) -> Action:
        """The skill, or a team's option, that an answer names; "go on" is the last one chosen."""
        i = self.index(agent)
        current = int(np.asarray(state.chosen)[i]) if int(np.asarray(state.steps)) else None
        if self.per == "team":
            shown, member = self.skills.option_choices(), self._member(agent)
            row = np.asarray(self._perceive(state.inner))[member]
            team = self.env.agents[member:][: self.members]

            def read(said: Any) -> int:
                plain = self.skills.plain_orders(said) if isinstance(said, str) else said
                return read_option(
                    self.table,
                    plain,
                    lambda words: self.skills.parse_option(words, row, team),
                    current,
                    shown,
                )

        else:
            row = np.asarray(self._perceive(state.inner))[i]

            def read(said: Any) -> int:
                return self.read(said, row, current, self.agents[i])

        return by_place(text, lambda: unfolded(lambda most: self.choices(state, i, most)), read)

    def read(self, text: str, row: np.ndarray, current: int | None = None, me: str = "") -> int:
        """The skill that an answer names; it must be possible with this perception. `current` was
        chosen last; `me` is the agent's name."""
        return read_skill(self.skills, text, row, self.can(row), current, self.offers(row), me)

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


_AGAIN = '"go on" is what you chose last.'


def _of(table: Array, numbers: Array) -> Array:
    """Entry `numbers[n, ...]` of each row of `table`, [N, S, ...]: one-hot, for batches."""
    count = jnp.arange(table.shape[1]).reshape((-1,) + (1,) * (table.ndim - 2))
    return jnp.any(table & (count == numbers[:, None]), axis=1)
