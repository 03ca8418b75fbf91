"""Several attempts at the same start in one episode.

The setting of meta-learning across attempts: RL² (Duan et al. 2016) plays several episodes of one
problem as one trial, Reflexion (Shinn et al. 2023) tries a task again with what it noted of earlier
tries. What was learned from an attempt is in the agent's own memory; what the wrapper tells of
earlier attempts is set by `feedback`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.choices import LIMIT, Choice, choices_of
from manyhands.core.config import number, one_of, whole
from manyhands.core.env import (
    Array,
    ConfigError,
    Env,
    Outcome,
    Wrapper,
    describe_with,
    state_dataclass,
    wrap_key,
)
from manyhands.core.talk import Message

FEEDBACK = ("full", "outcome", "none")
CHANCE = ("fresh", "same")
_IDLE = -(2**31)  # in the log: an agent that was not to move
_GOES_ON = " (if this attempt goes on)"


@state_dataclass
class RetriesState:
    """The attempt at hand, and what earlier ones came to.

    Attributes:
        inner: state of the wrapped environment.
        first: its initial state, from which every attempt begins.
        ended: its state when the last attempt ended; the initial one in the first attempt.
        chance: u32[2], the key of the first step, from which the keys of all attempts are folded
            with `chance="same"`; zeros otherwise.
        time: i32[], steps played in the episode.
        step: i32[], steps played in the attempt.
        attempt: i32[], its number, from 0.
        done: bool[N], agents for which the attempt is over.
        gained, last, best: f32[N], returns of this attempt so far, of the last one, and the best
            one; 0 where there was none.
        returns: f32[K, N], of the attempts so far; lengths: i32[K], their steps.
        log: i32[K, R, N, *action_space.shape], the last R actions of each attempt, step `t` at
            `t % R`; R = 0 where none are told.
    """

    inner: Any
    first: Any
    ended: Any
    chance: Array
    time: Array
    step: Array
    attempt: Array
    done: Array
    gained: Array
    last: Array
    best: Array
    returns: Array
    lengths: Array
    log: Array


class Retries(Wrapper[RetriesState]):
    """The environment `env`, of which an episode holds several attempts at the same start.

    Args:
        env: any environment with `Box` observations.
        attempts: how many.
        feedback: what texts tell of earlier attempts: `"full"`: each one's return, length and
            actions, and how the last one ended; `"outcome"`: returns and lengths; `"none"`: which
            attempt this is, and no more (vectors then hold zeros in place of returns).
        remember: how many actions of each attempt are told, the last ones.
        improvement: weight of the term `improvement`, an agent's return of an attempt beyond its
            best one so far, in the step that ends the attempt; 0 in the first attempt. It sums up
            to the best return less the first one: with a weight of 1 the first attempt's return
            cancels out where it is improved on, with more than that a bad first attempt pays.
        chance: `"fresh"`: the initial state is the same, and steps draw anew; `"same"`: step `t` of
            every attempt has the same key, too.

    An attempt is over when the wrapped episode is over for all agents; an agent whose own part ends
    earlier waits. Only the last attempt terminates or is truncated. Rewards are those of all
    attempts. `max_steps` is `attempts` times that of `env`, an upper bound. The initial state is
    kept in the state, not drawn again: what `reset_to`, `with_deal` or a fork began with is
    repeated as well.

    **Observations**: the wrapped observation, flattened, as f32, followed by six numbers of the
    agent's own: the number of the attempt from 0, how many are left after it, the best return so
    far, the last one, that of this attempt so far, and whether it waits. Terms: `improvement`.
    Metrics: `attempts_ended`.
    """

    id = "retries"

    def __init__(
        self,
        env: Env,
        attempts: int = 3,
        feedback: str = "full",
        remember: int = 20,
        improvement: float = 0.0,
        chance: str = "fresh",
    ):
        inner = env.observation_space
        if not isinstance(inner, gymnasium.spaces.Box):
            raise ConfigError(f"retries needs Box observations, {env.id!r} has {inner}")
        if "improvement" in env.terms:
            raise ConfigError(f"{env.id!r} has attempts already: it has a term `improvement`")
        attempts = whole("attempts", attempts, 1)
        one_of("feedback", feedback, FEEDBACK)
        one_of("chance", chance, CHANCE)
        super().__init__(env)
        self.attempts, self.feedback = attempts, feedback
        self.chance = chance
        self.remember = whole("remember", remember, 0)
        self.improvement = number("improvement", improvement, 0)
        self.max_steps = attempts * env.max_steps
        self.event_kinds = env.event_kinds and (*env.event_kinds, "new attempt")
        self.terms = (*env.terms, "improvement")
        self.reward_weights = {**env.reward_weights, "improvement": self.improvement}
        discrete = isinstance(
            env.action_space, (gymnasium.spaces.Discrete, gymnasium.spaces.MultiDiscrete)
        )
        self._kept = self.remember if feedback == "full" and discrete else 0
        more = np.full(6, np.inf, np.float32)
        low = np.concatenate([inner.low.ravel().astype(np.float32), -more])
        high = np.concatenate([inner.high.ravel().astype(np.float32), more])
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)

    # ---- pure ---------------------------------------------------------------------------------

    def inner(self, state: RetriesState) -> Any:
        return state.inner

    def begin(self, inner: Any) -> RetriesState:
        n, k = self.num_agents, self.attempts
        none = jnp.zeros(n, jnp.float32)
        zero = jnp.int32(0)
        shape = self.env.action_space.shape or ()
        return RetriesState(
            inner=inner,
            first=inner,
            ended=inner,
            chance=jnp.zeros(2, jnp.uint32),
            time=zero,
            step=zero,
            attempt=zero,
            done=jnp.zeros(n, bool),
            gained=none,
            last=none,
            best=none,
            returns=jnp.zeros((k, n), jnp.float32),
            lengths=jnp.zeros(k, jnp.int32),
            log=jnp.zeros((k, self._kept, n, *shape), jnp.int32),
        )

    def elapsed(self, state: RetriesState) -> Array:
        return state.time

    def step(self, key: Array, state: RetriesState, actions: Array) -> tuple[RetriesState, Outcome]:
        env, batch = self.env, jnp.shape(state.time)
        dtype = actions.dtype
        noop = jnp.asarray(env.noop, dtype).reshape(
            (1, *actions.shape[1 : actions.ndim - len(batch)], *(1,) * len(batch))
        )
        waits = state.done.reshape(self.num_agents, *(1,) * (actions.ndim - 1 - len(batch)), *batch)
        actions = jnp.where(waits, noop, actions)
        chance = state.chance
        if self.chance == "same":
            chance = jnp.where(
                state.time == 0, jnp.moveaxis(jax.random.key_data(key), -1, 0), chance
            )
            keys = wrap_key(jnp.moveaxis(chance, 0, -1))
            fold_in = jax.vmap(jax.random.fold_in) if batch else jax.random.fold_in
            key = fold_in(keys, state.step)
        inner, outcome = env.step(key, state.inner, actions)

        # What the attempt has come to.
        done = state.done | outcome.terminated | outcome.truncated
        over = jnp.all(done, axis=0)
        final = state.attempt == self.attempts - 1
        gained = state.gained + outcome.reward
        better = jnp.where(state.attempt > 0, jnp.maximum(gained - state.best, 0.0), 0.0)
        improvement = jnp.where(over, better, 0.0).astype(jnp.float32)
        best = jnp.where(over, self._best(state, gained), state.best)
        step = state.step + 1
        at = self._at(state.attempt)
        log = state.log
        if self._kept:
            place = jnp.arange(self._kept).reshape(-1, *(1,) * len(batch))
            here = at[:, None] & (place == state.step % self._kept)
            here = here.reshape(*here.shape[:2], *(1,) * (actions.ndim - len(batch)), *batch)
            moves = self.acting(state).reshape(waits.shape)
            log = jnp.where(here, jnp.where(moves, actions.astype(jnp.int32), _IDLE), log)

        # The next one begins where all ends but the last attempt.
        again = over & ~final

        def begun(first: Array, now: Array) -> Array:
            return jnp.where(again, first, now).astype(now.dtype)

        new = RetriesState(
            inner=jax.tree_util.tree_map(begun, state.first, inner),
            first=state.first,
            ended=jax.tree_util.tree_map(
                lambda now, before: jnp.where(over, now, before).astype(before.dtype),
                inner,
                state.ended,
            ),
            chance=chance,
            time=state.time + 1,
            step=jnp.where(again, 0, step),
            attempt=state.attempt + again,
            done=done & ~again,
            gained=jnp.where(again, 0.0, gained).astype(jnp.float32),
            last=jnp.where(over, gained, state.last).astype(jnp.float32),
            best=best.astype(jnp.float32),
            returns=jnp.where(at[:, None], gained, state.returns).astype(jnp.float32),
            lengths=jnp.where(at, step, state.lengths),
            log=log,
        )
        metrics = {**outcome.metrics, "attempts_ended": over.astype(jnp.float32)}
        terms = {**outcome.terms, "improvement": improvement}
        ends = (outcome.terminated & final, outcome.truncated & final)
        return new, self.outcome(terms, *ends, metrics)

    def _best(self, state: RetriesState, gained: Array) -> Array:
        return jnp.where(state.attempt > 0, jnp.maximum(state.best, gained), gained)

    def _at(self, attempt: Array) -> Array:
        """bool[K, ...]: one-hot."""
        return jnp.arange(self.attempts).reshape(-1, *(1,) * jnp.ndim(attempt)) == attempt

    def _numbers(self, state: RetriesState) -> Array:
        """f32[N, 6, ...]: what vectors tell of the attempts."""
        shape = state.done.shape
        tells = self.feedback != "none"
        attempt = jnp.broadcast_to(state.attempt, shape)
        rows = [
            attempt,
            self.attempts - 1 - attempt,
            state.best * tells,
            state.last * tells,
            state.gained,
            state.done,
        ]
        return jnp.stack([row.astype(jnp.float32) for row in rows], axis=1)

    def observe(self, state: RetriesState) -> Array:
        inner = self.env.observe(state.inner)
        rank = len(self.env.observation_space.shape or ())
        flat = inner.reshape(self.num_agents, -1, *inner.shape[1 + rank :])
        return jnp.concatenate([flat.astype(jnp.float32), self._numbers(state)], axis=1)

    def legal(self, state: RetriesState) -> Array:
        return self.env.legal(state.inner) & ~state.done[:, None]

    def acting(self, state: RetriesState) -> Array:
        return self.env.acting(state.inner) & ~state.done

    def summary(self, state: RetriesState) -> Array:
        """The wrapped summary, flattened, as f32, followed by the numbers of all agents."""
        inner, batch = self.env.summary(state.inner), jnp.shape(state.time)
        numbers = self._numbers(state).reshape(-1, *batch)
        return jnp.concatenate([inner.reshape(-1, *batch).astype(jnp.float32), numbers])

    def event_codes(self, state: RetriesState) -> Array:
        """In the first state of a further attempt, those of how the last one ended."""
        now, then = self.env.event_codes(state.inner), self.env.event_codes(state.ended)
        return jnp.where(self._fresh(state), then, now)

    def _fresh(self, state: RetriesState) -> Array:
        """bool[]: whether a further attempt begins here."""
        return (state.step == 0) & (state.attempt > 0)

    # ---- words and pictures -------------------------------------------------------------------

    def rules(self, agent: str | int) -> str:
        told = {
            "full": "You are told what earlier attempts came to, and what you did in them.",
            "outcome": "You are told what earlier attempts came to.",
            "none": "You are told nothing of earlier attempts; remember them.",
        }[self.feedback]
        luck = {
            "fresh": "The start is the same each time; what chance brings later may differ.",
            "same": "The start is the same each time, and so is what chance brings at each step.",
        }[self.chance]
        price = ""
        if self.improvement:
            price = (
                f" An attempt that brings you more than your best one before it is rewarded with "
                f"{self.improvement:g} times the difference."
            )
        return (
            f"{self.env.rules(agent)}\n\nATTEMPTS\n"
            f"You play this {self.attempts} times, one attempt after the other. {luck} {told} The "
            f"rewards of all attempts count.{price}"
        )

    def describe(
        self,
        state: RetriesState,
        agent: str | int,
        *,
        detail: str | None = None,
        talk: Sequence[Message] = (),
    ) -> str:
        """Which attempt this is and what earlier ones came to, then the wrapped text."""
        i, attempt = self.index(agent), int(np.asarray(state.attempt))
        parts = [f"Attempt {attempt + 1} of {self.attempts}, from the same start."]
        if self.feedback != "none":
            parts += [self._past(state, i, number) for number in range(attempt)]
        if attempt and self.feedback == "full" and bool(np.asarray(self._fresh(state))):
            last = describe_with(self.env, state.ended, i, "brief")
            parts.append(
                f"This is how attempt {attempt} ended:\n{last}\nNow attempt {attempt + 1}:"
            )
        if int(np.asarray(state.step)):
            parts.append(f"Your return in this attempt so far: {_plain(state.gained[i])}.")
        if bool(np.asarray(state.done)[i]):
            parts.append("This attempt is over for you; the others go on.")
        parts.append(super().describe(state, i, detail=detail, talk=talk))
        return "\n".join(parts)

    def _past(self, state: RetriesState, i: int, attempt: int) -> str:
        """One earlier attempt in words."""
        length = int(np.asarray(state.lengths)[attempt])
        line = (
            f"Attempt {attempt + 1}: your return {_plain(np.asarray(state.returns)[attempt, i])} "
            f"in {length} steps"
        )
        if not self._kept:
            return f"{line}."
        rows = np.asarray(state.log)[attempt, :, i]
        steps = range(max(0, length - self._kept), length)
        done = [self._word(state, i, rows[t % self._kept]) for t in steps]
        told = [
            f"{word} ({count} times)" if count > 1 else word
            for word, count in ((word, len(list(group))) for word, group in itertools.groupby(done))
            if word
        ]
        left_out = f"the last {self._kept} " if length > self._kept else ""
        return f"{line}; {left_out}actions of yours: {', '.join(told) or 'none'}."

    def _word(self, state: RetriesState, i: int, action: np.ndarray) -> str:
        """An action in the words that it has in the initial state, or as its number; "" where the
        agent was not to move."""
        if (action == _IDLE).all():
            return ""
        words = self._vocabulary(state, i)
        parts = [words.get((k, int(a)), str(int(a))) for k, a in enumerate(np.ravel(action))]
        return "; ".join(parts)

    def _vocabulary(self, state: RetriesState, i: int) -> dict[tuple[int, int], str]:
        """(part, number) -> the words of an action, as far as it is legal at the start, for this
        agent or another one that is to move there."""
        legal = np.asarray(self.env.legal(state.first))
        who = i if legal[i].any() else int(legal.any(axis=1).argmax())
        space: Any = self.env.action_space
        discrete = isinstance(space, gymnasium.spaces.Discrete)
        sizes = [int(space.n)] if discrete else [int(size) for size in space.nvec.ravel()]
        starts = np.ravel(space.start)
        numbers = [
            (part, number + int(starts[part]))
            for part, size in enumerate(sizes)
            for number in range(size)
        ]
        possible = [numbers[k] for k in np.flatnonzero(legal[who])]
        listed = choices_of(self.env, state.first, who, None)
        if len(listed) != len(possible):
            return {}
        return {place: choice.text for place, choice in zip(possible, listed, strict=True)}

    def choices(
        self, state: RetriesState, agent: str | int, limit: int | None = LIMIT
    ) -> list[Choice]:
        """The wrapped choices. What ends an attempt begins the next one, so that before the last
        attempt none of their effects is certain."""
        if not bool(np.asarray(self.acting(state))[self.index(agent)]):
            return []
        listed = super().choices(state, agent, limit)
        if int(np.asarray(state.attempt)) < self.attempts - 1:
            return [_hedged(choice) for choice in listed]
        if not self.improvement:
            return listed
        kept = [
            {k: v for k, v in choice.facts.items() if not k.startswith("reward")}
            for choice in listed
        ]
        return [
            choice.but(facts=facts) if facts or not choice.facts else _hedged(choice)
            for choice, facts in zip(listed, kept, strict=True)
        ]

    def parse(self, text: str, state: RetriesState, agent: str | int) -> Any:
        """As `env` reads it; a choice may be repeated with what is told of its effect here."""
        if isinstance(text, str):
            text = text.replace(_GOES_ON, "")
        return super().parse(text, state, agent)

    def last_events(
        self, state: RetriesState, agent: str | int | None = None
    ) -> list[dict[str, Any]]:
        """The wrapped events; where a further attempt begins, how the last one ended, and that."""
        if not bool(np.asarray(self._fresh(state))):
            return self.env.last_events(state.inner, agent)
        begins = {"event": "new attempt", "number": int(np.asarray(state.attempt)) + 1}
        return [*self.env.last_events(state.ended, agent), begins]

    def concerns(self, state: RetriesState, agent: str | int) -> bool:
        return bool(np.asarray(self._fresh(state))) or self.env.concerns(state.inner, agent)

    def to_dict(self, state: RetriesState) -> dict[str, Any]:
        by_agent = {
            name: {
                "best": float(np.asarray(state.best)[i]),
                "last": float(np.asarray(state.last)[i]),
                "now": float(np.asarray(state.gained)[i]),
            }
            for i, name in enumerate(self.agents)
        }
        attempt = int(np.asarray(state.attempt))
        return {
            **self.env.to_dict(state.inner),
            "attempt": {"number": attempt, "of": self.attempts, "returns": by_agent},
        }

    def deals(self) -> None:
        """None: a trial of several attempts is no single hand."""
        return None

    def information_state(self, state: RetriesState, agent: str | int) -> str:
        return ""

    def config(self) -> dict[str, Any]:
        return {
            "attempts": self.attempts,
            "feedback": self.feedback,
            "remember": self.remember,
            "improvement": self.improvement,
            "chance": self.chance,
        }


def _hedged(choice: Choice) -> Choice:
    """A choice whose effect holds unless it ends the attempt."""
    if not choice.effect:
        return choice.but(facts={})
    return choice.but(certain=False, facts={}, effect=f"{choice.effect}{_GOES_ON}")


def _plain(value: Any) -> str:
    return f"{float(np.asarray(value)):g}"
