"""Tasks: families of goals, what is held out, curricula over goals, and the Crafter score.

Goals themselves, and the graph of achievements, are in `goals.py`. **Difficulty** is the depth of
what a goal needs in that graph: each achievement is a step deeper than the deepest of those that
have to come before it (`requirements`).
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.batch import Seats, Transition, play_episodes, seats_of
from manyhands.core.env import Array, ConfigError, Env, seed_key
from manyhands.envs.craftworld.generation import building_site
from manyhands.envs.craftworld.goals import (
    GOAL,
    HOLD,
    NO_GOAL,
    PLAN_LETTERS,
    PLANS,
    UNLOCK_MANY,
    UNLOCK_ONE,
    Goal,
    depths,
    fulfilled,
    parse_goal,
    requirements,
    source,
)
from manyhands.envs.craftworld.rules import ACHIEVEMENTS, MOST, CraftRules
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.state import CraftState

__all__ = [
    "GOAL",
    "HELD_OUT_WORLDS",
    "Curriculum",
    "Goal",
    "Scores",
    "crafter_score",
    "depths",
    "difficulty",
    "families",
    "fulfilled",
    "generate_goals",
    "held_out",
    "parse_goal",
    "play_scores",
    "requirements",
    "with_goals",
]

# ---- families of goals, and what is held out -----------------------------------------------------

# Worlds that no training meets but by name: `reset(options={"world": HELD_OUT_WORLDS[i]})`.
HELD_OUT_WORLDS = range(2**31, 2**31 + 1000)
HELD_OUT_SHARE = 4  # one goal in so many, of those that are more than one achievement


def difficulty(goal: Goal, rules: CraftRules) -> int:
    """The depth of what a goal needs in the graph of achievements; 0 for no goal."""
    depth = depths(rules)
    if goal.kind == UNLOCK_ONE:
        return depth[goal.target]
    if goal.kind == HOLD:
        return depth.get(source(goal.target, rules), 1)
    if goal.kind == UNLOCK_MANY:
        return sorted(depth.values())[goal.count - 1]
    letters = set(goal.plan) & set(PLAN_LETTERS)
    return max((depth[f"place_{PLAN_LETTERS[letter]}"] for letter in letters), default=0)


def held_out(goal: Goal) -> bool:
    """Whether a goal is kept for evaluation: a fixed quarter of all goals, by a hash of their
    words, but no single achievement, since rewards are made of those."""
    if goal.kind in (NO_GOAL, UNLOCK_ONE):
        return False
    return hashlib.blake2b(str(goal).encode(), digest_size=1).digest()[0] % HELD_OUT_SHARE == 0


@functools.lru_cache(maxsize=16)
def families(rules: CraftRules) -> tuple[Goal, ...]:
    """Every achievement, every number (to 9) of everything that is collected, every number of
    achievements, and every plan that has a name: the easiest first."""
    contents = rules.contents
    goals = [Goal(UNLOCK_ONE, name, 1) for name in contents.achievements]
    gathered = [item for item in contents.items if item not in contents.recipes]
    goals += [Goal(HOLD, item, count) for item in gathered for count in range(1, MOST + 1)]
    goals += [Goal(UNLOCK_MANY, "", n) for n in range(2, len(contents.achievements) + 1)]
    goals += [parse_goal(f"build {name}") for name in PLANS]
    return tuple(sorted(goals, key=lambda goal: difficulty(goal, rules)))


def generate_goals(
    rules: CraftRules,
    level: int,
    count: int,
    rng: np.random.Generator,
    *,
    held_out_ones: bool = False,
) -> list[Goal]:
    """`count` different goals of difficulty `level` (fewer, where there are not so many): such as
    may be trained on, or the held-out ones.

    Raises:
        ConfigError: no goal is so easy or so hard.
    """
    deepest = max(depths(rules).values())
    if not 1 <= level <= deepest:
        raise ConfigError(f"goals are of difficulty 1 to {deepest}, given {level!r}")
    fitting = [
        goal
        for goal in families(rules)
        if difficulty(goal, rules) == level and held_out(goal) == held_out_ones
    ]
    chosen = rng.permutation(len(fitting))[:count]
    return [fitting[i] for i in chosen]


# ---- curricula -----------------------------------------------------------------------------------

SAMPLERS = ("uniform", "learning_progress")


@dataclasses.dataclass
class History:
    """How a goal has gone so far.

    Attributes:
        attempts, successes: episodes, and those in which it was reached.
        steps: mean number of steps to the goal in these, or None.
        fast, slow: running means of success, of short and of long memory.
        last: the last `RECENT` outcomes, oldest first.
    """

    attempts: int = 0
    successes: int = 0
    steps: float | None = None
    fast: float = 0.0
    slow: float = 0.0
    last: list[bool] = dataclasses.field(default_factory=list)


RECENT = 100


class Curriculum:
    """Which goal to set next, by how all of them have gone.

        curriculum = Curriculum(["collect wood", "place table", "make wood pickaxe"])
        while training:
            goal = curriculum.sample()
            env.reset(seed=seed, options={"goal": goal})
            ...
            curriculum.record(goal, reached, steps)

    Args:
        goals: texts.
        sampler: "uniform", or "learning_progress": where success changes most between a short and a
            long memory, rare successes magnified (Kanitscheider et al. 2021).
        explore: share of draws that are uniform all the same.
        rate: how fast the short memory forgets, per episode of the goal; the long one is 5 times as
            slow.
        seed: of the draws.
    """

    MAGNIFY = 0.1  # success rates about and below this count for more (p_theta in the paper)

    def __init__(
        self,
        goals: Sequence[str],
        sampler: str = "learning_progress",
        *,
        explore: float = 0.2,
        rate: float = 0.1,
        seed: int = 0,
    ):
        if sampler not in SAMPLERS:
            raise ConfigError(f"sampler is {' or '.join(SAMPLERS)}, given {sampler!r}")
        if not 0 <= explore <= 1 or not 0 < rate <= 1:
            raise ConfigError(
                f"explore is from 0 to 1, rate above 0 and to 1; given {explore!r} and {rate!r}"
            )
        if isinstance(goals, str) or not goals:
            raise ConfigError(f"goals is a list of one text or more, given {goals!r}")
        self.goals = tuple(str(parse_goal(goal, 8)) for goal in goals)
        if len(set(self.goals)) < len(self.goals):
            raise ConfigError(f"some goals are the same: {', '.join(self.goals)}")
        self.sampler, self.explore, self.rate = sampler, explore, rate
        self.history = {goal: History() for goal in self.goals}
        self.seed, self._rng = seed, np.random.default_rng(seed)

    def progress(self) -> np.ndarray:
        """f64[goals], how much each goal's success changes of late, from 0."""

        def magnified(p: float) -> float:
            return (1 - self.MAGNIFY) * p / (p + self.MAGNIFY * (1 - 2 * p))

        return np.array([abs(magnified(h.fast) - magnified(h.slow)) for h in self.history.values()])

    def probabilities(self) -> np.ndarray:
        """f64[goals], the chance of each goal to be drawn next."""
        even = np.full(len(self.goals), 1 / len(self.goals))
        if self.sampler == "uniform":
            return even
        progress = self.progress()
        if not progress.sum() > 0:
            return even
        chances: np.ndarray = self.explore * even + (1 - self.explore) * progress / progress.sum()
        return chances

    def sample(self) -> str:
        """A goal."""
        return self.goals[int(self._rng.choice(len(self.goals), p=self.probabilities()))]

    def rows(self, count: int) -> np.ndarray:
        """u8[GOAL, count]: as many goals, drawn for a batch of states (`with_goals`)."""
        drawn = self._rng.choice(len(self.goals), count, p=self.probabilities())
        return np.stack([parse_goal(self.goals[i], 8).row() for i in drawn], axis=-1)

    def record(self, goal: str, reached: bool, steps: float | None = None) -> None:
        """What came of an episode with this goal; `steps` to it, if it was reached."""
        name = str(parse_goal(goal, 8))
        if name not in self.history:
            raise ConfigError(f"{goal!r} is no goal of this curriculum: {', '.join(self.goals)}")
        h, reached = self.history[name], bool(reached)
        h.attempts += 1
        # Means of all outcomes at first, so that both memories begin alike.
        h.fast += (reached - h.fast) * max(self.rate, 1 / h.attempts)
        h.slow += (reached - h.slow) * max(self.rate / 5, 1 / h.attempts)
        h.last = [*h.last, reached][-RECENT:]
        if reached:
            h.successes += 1
            if steps is not None:
                mean = h.steps if h.steps is not None else float(steps)
                h.steps = mean + (float(steps) - mean) / h.successes

    def success(self, goal: str) -> float:
        """The share of its last `RECENT` episodes in which a goal was reached; NaN before any."""
        last = self.history[str(parse_goal(goal, 8))].last
        return sum(last) / len(last) if last else float("nan")

    def to_json(self) -> str:
        """All of it, but for the place in the series of draws, which begins anew."""
        about = {name: getattr(self, name) for name in ("sampler", "explore", "rate", "seed")}
        history = {goal: dataclasses.asdict(h) for goal, h in self.history.items()}
        return json.dumps({**about, "history": history})

    @classmethod
    def from_json(cls, text: str) -> Curriculum:
        """What `to_json` wrote."""
        try:
            data = json.loads(text)
            history = {goal: History(**h) for goal, h in data.pop("history").items()}
            made = cls(tuple(history), **data)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigError(f"this is no curriculum in JSON: {error!r}") from error
        made.history = history
        return made


def with_goals(states: Any, rows: Any, world: Setting | None = None) -> Any:
    """States with other goals.

    Args:
        states: states of a world, or a batch of them.
        rows: u8[GOAL], with the states' batch axis if they have one.
        world: theirs. With it, building sites are chosen anew, as resets do; it is needed where
            plans are among the goals.
    """
    goal = jnp.asarray(rows, jnp.uint8)
    site = states.site if world is None else building_site(world, states.map, goal)
    return dataclasses.replace(states, goal=goal, site=site)


# ---- the Crafter score ---------------------------------------------------------------------------


def crafter_score(unlocked: Any) -> float:
    """The score of Hafner (2021, section 3.2), in percent: the geometric mean of success rates,
    exp(mean of ln(1 + s)) - 1, where s is the percentage of episodes that unlocked an achievement.

    Args:
        unlocked: bool[episodes, achievements].
    """
    rates = 100 * np.asarray(unlocked, np.float64).mean(0)
    return float(np.expm1(np.log1p(rates).mean()))


@dataclasses.dataclass(frozen=True)
class Scores:
    """What players unlocked in a number of episodes.

    Attributes:
        unlocked: bool[episodes, N, achievements].
        returns: f64[episodes, N], total reward.
        steps: i64[episodes], lengths.
        reached: bool[episodes], whether the goal was, if there was one.
        names: of the achievements.
    """

    unlocked: np.ndarray
    returns: np.ndarray
    steps: np.ndarray
    reached: np.ndarray
    names: tuple[str, ...] = ACHIEVEMENTS

    @property
    def success(self) -> dict[str, float]:
        """The percentage of episodes in which anybody unlocked each achievement."""
        rates = 100 * self.unlocked.any(1).mean(0)
        return dict(zip(self.names, rates.tolist(), strict=True))

    @property
    def per_player(self) -> list[float]:
        """Each player's Crafter score, from what that player unlocked."""
        return [crafter_score(self.unlocked[:, i]) for i in range(self.unlocked.shape[1])]

    @property
    def team(self) -> float:
        """The team's: an achievement counts where anybody unlocked it."""
        return crafter_score(self.unlocked.any(1))

    @property
    def achievements(self) -> np.ndarray:
        """f64[N], mean number of achievements of each player."""
        return self.unlocked.sum(2).mean(0)

    def to_dict(self) -> dict[str, Any]:
        """The figures, JSON-ready."""
        return {
            "episodes": len(self.steps),
            "crafter_score": {"per_player": self.per_player, "team": self.team},
            "achievements": {
                "per_player": self.achievements.tolist(),
                "team": float(self.unlocked.any(1).sum(1).mean()),
            },
            "return": self.returns.mean(0).tolist(),
            "length": float(self.steps.mean()),
            "success": self.success,
        }


def play_scores(env: Env, seats: Any, episodes: int = 100, seed: int = 0) -> Scores:
    """Play episodes, all at once in one compiled loop, and see what was unlocked: episode `e` has
    the seed `seed + e`.

    Args:
        env: a `CraftWorld`, or a wrapper of it.
        seats: device policies or their names: one for all, or one each.
    """
    players = seats_of(env, seats)
    seeds = jnp.asarray((seed + np.arange(episodes)) & 0xFFFFFFFF, jnp.uint32)
    found = jax.device_get(_scoring(env, players)(seeds))
    return Scores(
        np.moveaxis(found["unlocked"], -1, 0).astype(bool),
        np.moveaxis(found["returns"], -1, 0).astype(np.float64),
        found["steps"].astype(np.int64),
        found["reached"] > 0,
        cast(Any, env.unwrapped).contents.achievements,
    )


@functools.lru_cache(maxsize=16)
def _scoring(env: Env, players: Seats) -> Any:
    """f(seeds u32[B]) -> what is known of each episode at its end."""

    def add(totals: dict[str, Array], made: Transition, playing: Array) -> dict[str, Array]:
        world = _inner(made.state)
        return {
            "unlocked": jnp.where(playing, world.achievements, totals["unlocked"]),
            "returns": totals["returns"] + jnp.where(playing, made.outcome.reward, 0.0),
            "steps": totals["steps"] + playing,
            "reached": jnp.where(playing, world.goal_step, totals["reached"]),
        }

    def run(seeds: Array) -> Any:
        keys, size, n = jax.vmap(seed_key)(seeds), seeds.shape[0], env.num_agents
        first = jax.eval_shape(lambda: _inner(env.batch_reset(keys)).achievements)
        none = {
            "unlocked": jnp.zeros(first.shape, bool),
            "returns": jnp.zeros((n, size)),
            "steps": jnp.zeros(size, jnp.int32),
            "reached": jnp.zeros(size, jnp.int32),
        }
        memory = players.init(env, size)
        return play_episodes(env, functools.partial(players.apply, env), memory, keys, none, add)

    return jax.jit(run)


def _inner(state: Any) -> CraftState:
    """The state of the world inside wrappers."""
    while hasattr(state, "inner"):
        state = state.inner
    return state
