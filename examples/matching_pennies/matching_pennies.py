"""Matching pennies as a package of its own: a game and a scripted player."""

from __future__ import annotations

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.config import one_of, whole
from manyhands.core.env import Env, SeatError, state_dataclass, unwrap
from manyhands.core.paint import BACKGROUND, PAPER, label, player_colour
from manyhands.core.reading.answers import decide
from manyhands.core.reading.grammar import Grammar

SIDES = ("heads", "tails")
NOTHING = 2  # in `shown`, before the first round
WORDS = Grammar({i: [f"[show|choose] {side}"] for i, side in enumerate(SIDES)})


@state_dataclass
class Pennies:
    """time: i32[], rounds played; shown: i32[2], the sides shown in the last round; points:
    i32[2], rounds won."""

    time: jax.Array
    shown: jax.Array
    points: jax.Array


class MatchingPennies(Env[Pennies]):
    """Both players show heads or tails at once; "even" wins if they match, "odd" if not.

    Args:
        rounds: rounds in an episode, from 1 to 1000.
    """

    id = "matching_pennies"
    agents = ("even", "odd")
    action_space = gymnasium.spaces.Discrete(2)
    terms = ("win",)
    scripted_policy = "copycat"
    deterministic_reset = True

    def __init__(self, rounds: int = 10):
        self.rounds = self.max_steps = whole("rounds", rounds, 1, 1000)
        self.reward_weights = {"win": 1.0}
        high = np.array([NOTHING, NOTHING, rounds, rounds, rounds], np.int32)
        self.observation_space = gymnasium.spaces.Box(np.zeros_like(high), high, dtype=np.int32)

    def config(self):
        return {"rounds": self.rounds}

    def reset(self, key):
        return Pennies(jnp.int32(0), jnp.full(2, NOTHING, jnp.int32), jnp.zeros(2, jnp.int32))

    def step(self, key, state, actions):
        legal = (actions == 0) | (actions == 1)
        shown = jnp.where(legal, actions, self.noop).astype(jnp.int32)
        match = shown[0] == shown[1]
        won = jnp.stack([match, ~match])
        state = Pennies(state.time + 1, shown, state.points + won)
        over = jnp.full(2, state.time >= self.rounds)
        illegal = (~legal).sum().astype(jnp.float32)
        return state, self.outcome(
            {"win": jnp.where(won, 1.0, -1.0)}, over, jnp.zeros_like(over), {"illegal": illegal}
        )

    def acting(self, state):
        return jnp.ones(2, bool)

    def legal(self, state):
        return jnp.ones((2, 2), bool)

    def observe(self, state):
        """i32[2, 5]: what I showed, what the other showed, my points, the other's, rounds."""
        mine = jnp.stack([state.shown, state.shown[::-1], state.points, state.points[::-1]], 1)
        return jnp.concatenate([mine, jnp.full((2, 1), state.time)], 1)

    def summary(self, state):
        return self.observe(state)[0]

    def rules(self, agent):
        me = self.index(agent)
        return (
            f"You are {self.agents[me]}. In each of {self.rounds} rounds you and the other player "
            f"show heads or tails at once. You win (+1) if both sides are "
            f"{('the same', 'different')[me]}, and lose (-1) if not."
        )

    def describe(self, state, agent):
        me, shown, points = self.index(agent), np.asarray(state.shown), np.asarray(state.points)
        text = f"{int(state.time)} of {self.rounds} rounds are over; {points[me]} of them are yours"
        if shown[me] == NOTHING:
            return text + "."
        return text + f". You showed {SIDES[shown[me]]}, the other {SIDES[shown[1 - me]]}."

    def choices(self, state, agent):
        return list(SIDES)

    def parse(self, text, state, agent):
        return decide(text, lambda answer: WORDS.meaning(answer.plain))

    def to_dict(self, state):
        shown, points = np.asarray(state.shown).tolist(), np.asarray(state.points).tolist()
        return {
            "time": int(state.time),
            "shown": [(*SIDES, None)[i] for i in shown],
            "points": points,
        }

    def draw(self, state, canvas, agent=None, camera=""):
        import pygame

        canvas.fill(BACKGROUND)
        width, height = canvas.get_size()
        size = max(8, height // 12)
        for i, shown in enumerate(np.asarray(state.shown)):
            centre = (width * (1 + 2 * i) // 4, height // 2)
            pygame.draw.circle(canvas, player_colour(i), centre, min(width, height) // 5)
            label(canvas, (*SIDES, "?")[shown], size, PAPER, center=centre)
            title = f"{self.agents[i]}: {int(state.points[i])}"
            label(canvas, title, size, PAPER, midtop=(centre[0], size))


class Copycat:
    """Shows what the other player showed last, and `first` in the first round."""

    def __init__(self, env, first="heads"):
        self.game = unwrap(env, MatchingPennies, SeatError)
        self.first = SIDES.index(one_of("first", first, SIDES))

    def init(self, env, agent):
        return ()

    def apply(self, env, agent, memory, key, view):
        last = view.perception[1]
        return self.game.lift(jnp.where(last == NOTHING, self.first, last)), memory
