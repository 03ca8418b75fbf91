"""A small environment for the tests of the loop: players take coins from a pile."""

from __future__ import annotations

import re

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import ConfigError, Env, IllegalAction, state_dataclass
from manyhands.core.registry import register
from manyhands.core.talk import Message

SPACES = {
    "discrete": gymnasium.spaces.Discrete(4),
    "multi": gymnasium.spaces.MultiDiscrete([4, 3]),
    "box": gymnasium.spaces.Box(-1.0, 3.0, (2,), np.float32),
}


@state_dataclass
class CoinsState:
    """pile: i32[]; time: i32[]; luck: f32[]; word: i32[N], the last message of each player."""

    pile: jax.Array
    time: jax.Array
    luck: jax.Array
    word: jax.Array


class Coins(Env[CoinsState]):
    """Take 0 to 3 coins, in turn or all at once, until the pile is empty or time is up."""

    id = "test-coins"
    terms = ("taken", "gift")
    noop = 0

    def __init__(self, players=2, turns=True, pile=12, space="discrete", max_steps=8):
        if not isinstance(players, int) or not 1 <= players < 9 or space not in SPACES:
            raise ConfigError("players is 1 to 8, space discrete, multi or box")
        self.agents = tuple(f"player_{i}" for i in range(players))
        self.reward_weights = {"taken": 1.0, "gift": 0.1}
        self.turns, self.pile, self.space, self.max_steps = turns, pile, space, max_steps
        self.action_space = SPACES[space]
        self.observation_space = gymnasium.spaces.Box(-1e9, 1e9, (3,), np.float32)
        if space == "multi":
            self.noop = np.zeros(2, np.int32)
        if space == "box":
            self.noop = np.zeros(2, np.float32)

    def config(self):
        names = {"players": self.num_agents, "turns": self.turns, "pile": self.pile}
        return names | {"space": self.space, "max_steps": self.max_steps}

    def reset(self, key):
        luck = jax.random.uniform(key, ())
        word = jnp.zeros(self.num_agents, jnp.int32)
        return CoinsState(jnp.int32(self.pile), jnp.int32(0), luck, word)

    def acting(self, state):
        if not self.turns:
            return jnp.ones(self.num_agents, bool)
        return jnp.arange(self.num_agents) == state.time % self.num_agents

    def legal(self, state):
        width = {"discrete": 4, "multi": 7, "box": 1}[self.space]
        numbers = jnp.arange(width)
        allowed = (numbers <= state.pile) | (numbers >= 4)
        return self.acting(state)[:, None] & allowed[None]

    def step(self, key, state, actions):
        if self.space != "discrete":
            word = actions[:, 1].astype(jnp.int32)
            actions = jnp.floor(actions[:, 0]).astype(jnp.int32)
        else:
            word = state.word
        taken = jnp.where(self.acting(state), jnp.clip(actions, 0, 3), 0)
        illegal = (taken > state.pile).sum()
        taken = jnp.where(taken > state.pile, 0, taken)
        pile = jnp.maximum(state.pile - taken.sum(), 0)
        time = state.time + 1
        gift = jax.random.uniform(key, (self.num_agents,))
        state = CoinsState(pile, time, state.luck, word)
        everyone = jnp.ones(self.num_agents, bool)
        return state, self.outcome(
            {"taken": taken * (1 + state.luck), "gift": gift},
            everyone & (pile == 0),
            everyone & (pile > 0) & (time >= self.max_steps),
            {"coins": taken.sum().astype(jnp.float32), "illegal": illegal.astype(jnp.float32)},
        )

    def observe(self, state):
        facts = jnp.stack([state.pile.astype(jnp.float32), state.time + 0.0, state.luck])
        return jnp.broadcast_to(facts, (self.num_agents, 3))

    def summary(self, state):
        return self.observe(state)[0]

    def rules(self, agent):
        return "Take coins. Whoever has most wins."

    def describe(self, state, agent):
        return f"There are {int(state.pile)} coins. Your luck is {float(state.luck)!r}."

    def choices(self, state, agent):
        return [f"take {k}" for k in np.flatnonzero(self.legal(state)[self.index(agent)][:4])]

    def parse(self, text, state, agent):
        match = re.fullmatch(r"\s*take (\d{1,3})\s*", text)
        if not match:
            raise IllegalAction("say 'take' and a number")
        number = int(match.group(1))
        if number > int(state.pile) or number > 3:
            raise IllegalAction(f"you cannot take {number}")
        return number


class Talk(Coins):
    """Coins with a channel: everybody hears what the others say, in capitals."""

    id = "test-talk"
    chat = property(lambda self: self)

    def __init__(self, players=2, turns=True, pile=12, space="multi", max_steps=8):
        super().__init__(players, turns, pile, space, max_steps)

    def parse(self, text, state, agent):
        return np.array([super().parse(text.partition(";")[0], state, agent), 0])

    def speech(self, text):
        return text.partition("; say: ")[2] or None

    def deliver(self, state, said):
        return {
            i: [Message(self.agents[j], said[j].upper()) for j in said if j != i]
            for i in range(self.num_agents)
        }

    def compose(self, action, say, state, agent):
        action = [*np.ravel(action), 0][:2]
        return np.array(action if say is None else [action[0], 1 if "please" in say else 2])


register("test-coins", "coins:Coins")
register("test-talk", "coins:Talk")
