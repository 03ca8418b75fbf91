"""A wrapper with a state of its own: all rewards are paid when the episode ends."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

import manyhands
from manyhands.core.env import Wrapper, state_dataclass


@state_dataclass
class Account:
    """inner: the state of the wrapped environment; terms: f32[N] each, the sums so far."""

    inner: Any
    terms: dict[str, jax.Array]


class Delayed(Wrapper[Account]):
    """Pays all rewards in the last step of an episode."""

    id = "delayed"

    def begin(self, inner):
        return Account(inner, {name: jnp.zeros(self.num_agents) for name in self.terms})

    def inner(self, state):
        return state.inner

    def step(self, key, state, actions):
        new, outcome = self.env.step(key, state.inner, actions)
        terms = {name: state.terms[name] + outcome.terms[name] for name in self.terms}
        ends = outcome.terminated, outcome.truncated
        paid = {name: jnp.where(ends[0] | ends[1], terms[name], 0.0) for name in self.terms}
        return Account(new, terms), self.outcome(paid, *ends, outcome.metrics)


manyhands.register_wrapper("delayed", "delayed:Delayed")
