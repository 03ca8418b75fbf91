"""What there is to achieve: goals in words and as data, curricula over them, and the Crafter score.

**Goals** are short texts that `parse_goal` reads. They are the team's, unless "everyone" begins
them, which asks the same of each player.

| text                       | reached when                                                    |
|----------------------------|-----------------------------------------------------------------|
| `make iron pickaxe`        | any achievement, by its name: somebody has unlocked it          |
| `collect 3 iron`           | the players hold three together, all at one time                |
| `unlock 12 achievements`   | so many different ones are unlocked, by whomever                |
| `build SSS/S_S/SSS`        | these materials lie at the building site (`PLANS` has names)    |
| `everyone: collect 1 coal` | each player holds one; so with achievements and their number    |

In a plan S is stone, T a table, F a furnace, P a plant, `_` ground that can be walked on, and `.`
anything; `/` ends a row. The building site lies at `state.site`, near where the players start.

**Difficulty** is the depth of what a goal needs in the graph of achievements: each one is a step
deeper than the deepest of those that have to come before it (`requirements`).
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, ConfigError, Env, seed_key
from manyhands.core.rollout import seats_of, view_of
from manyhands.envs.craftworld.rules import (
    ACHIEVEMENTS,
    COLLECT,
    ITEMS,
    MAKES,
    MATERIALS,
    MOST,
    PLANT,
    RIPE_PLANT,
    WALKABLE,
    CraftRules,
)

# ---- the graph of achievements -------------------------------------------------------------------


@functools.lru_cache(maxsize=16)
def requirements(rules: CraftRules) -> dict[str, tuple[str, ...]]:
    """For each achievement those that have to be unlocked before it can be."""
    needs: dict[str, tuple[str, ...]] = {}
    tools = {gain: tool for gain, tool, _ in COLLECT.values() if tool is not None}
    for name in ACHIEVEMENTS:
        verb, _, noun = name.partition("_")
        found: list[str] = []
        if verb == "collect" and noun in tools:
            found = [_source(tools[noun])]
        elif verb == "place":
            found = [_source(rules.place_cost(noun)[0])]
        elif verb == "make":
            found = [f"place_{MATERIALS[station]}" for station in rules.make_near(noun)]
            found += [_source(item) for item in rules.make_cost(noun)]
        elif name == "eat_plant":
            found = ["place_plant"]
        needs[name] = tuple(dict.fromkeys(found))
    return needs


def _source(item: str) -> str:
    """The achievement that comes with the first one of an item."""
    return f"collect_{item}" if f"collect_{item}" in ACHIEVEMENTS else f"make_{item}"


@functools.lru_cache(maxsize=16)
def depths(rules: CraftRules) -> dict[str, int]:
    """The depth of each achievement in the graph, from 1."""
    needs = requirements(rules)

    @functools.cache
    def depth(name: str) -> int:
        return 1 + max((depth(before) for before in needs[name]), default=0)

    return {name: depth(name) for name in ACHIEVEMENTS}


# ---- goals ---------------------------------------------------------------------------------------

NO_GOAL, UNLOCK_ONE, HOLD, UNLOCK_MANY, BUILD = range(5)
SITE = 5  # cells along a side of a building site
GOAL = 4 + SITE * SITE  # bytes of a goal: kind, target, count, everyone, plan
ANYTHING, FREE = 0, 255  # in a plan; else the code of a material and 1
PLAN_LETTERS = {"S": "stone", "T": "table", "F": "furnace", "P": "plant"}
PLANS = {
    "wall": "SSS",
    "workshop": "TF",
    "bench": "STS",
    "garden": "PP/PP",
    "fenced plant": "SSS/SPS/SSS",
    "shelter": "SSS/S_S/SSS",
    "pen": "SSSS/S__S/S__S/SSSS",
    "house": "SSSSS/ST_FS/S___S/S___S/SS_SS",
}

_VERBS = "collect|gather|get|have|hold|make|mine|own"
_HOLD = re.compile(rf"(?:{_VERBS}) (\d+|an|a) ([a-z ]+)")
_MANY = re.compile(r"(?:unlock|reach) (\d+) (?:different )?achievements?")
_BUILD = re.compile(r"build (?:an? |the )?(.+)", re.DOTALL)
_EVERYONE = re.compile(
    r"(?:everyone|everybody|each player|all players)\b[\s:,]*(.*)", re.IGNORECASE | re.DOTALL
)


@dataclasses.dataclass(frozen=True)
class Goal:
    """What a team is to reach; see the module's text.

    Attributes:
        kind: `NO_GOAL`, `UNLOCK_ONE`, `HOLD`, `UNLOCK_MANY` or `BUILD`.
        target: index into `ACHIEVEMENTS` (`UNLOCK_ONE`) or into `ITEMS` (`HOLD`), else 0.
        count: how many items or achievements, else 1; 0 without a goal.
        everyone: whether each player has to.
        plan: rows of a plan in letters, `/` between them (`BUILD`), else "".
    """

    kind: int = NO_GOAL
    target: int = 0
    count: int = 0
    everyone: bool = False
    plan: str = ""

    def __str__(self) -> str:
        """The words that `parse_goal` reads as this goal; "" for none."""
        if self.kind == BUILD:
            return f"build {self.plan}"
        words = ""
        if self.kind == UNLOCK_ONE:
            words = ACHIEVEMENTS[self.target]
        elif self.kind == HOLD:
            words = f"collect {self.count} {ITEMS[self.target]}"
        elif self.kind == UNLOCK_MANY:
            words = f"unlock {self.count} achievement{'s' * (self.count > 1)}"
        return "everyone: " * self.everyone + words.replace("_", " ")

    def row(self) -> np.ndarray:
        """u8[GOAL], as states hold it."""
        row = np.zeros(GOAL, np.uint8)
        row[:4] = self.kind, self.target, self.count, self.everyone
        site = row[4:].reshape(SITE, SITE)
        for y, line in enumerate(filter(None, self.plan.split("/"))):
            for x, letter in enumerate(line):
                if letter == "_":
                    site[y, x] = FREE
                elif letter != ".":
                    site[y, x] = MATERIALS.index(PLAN_LETTERS[letter]) + 1
        return row

    @classmethod
    def of_row(cls, row: Any) -> Goal:
        """The goal that `row` made this of."""
        row = np.asarray(row, np.uint8)
        kind, target, count, everyone = (int(part) for part in row[:4])
        letters = {MATERIALS.index(name) + 1: key for key, name in PLAN_LETTERS.items()}
        letters |= {ANYTHING: ".", FREE: "_"}
        site = row[4:].reshape(SITE, SITE)
        used = np.argwhere(site != ANYTHING)
        plan = ""
        if kind == BUILD:
            height, width = used.max(0) + 1
            lines = ["".join(letters[int(code)] for code in line[:width]) for line in site[:height]]
            plan = "/".join(lines)
        return cls(kind, target, count, bool(everyone), plan)


def parse_goal(text: str, players: int = 1) -> Goal:
    """The goal that a text names, for so many players.

    Raises:
        ConfigError: it names none, or one that they cannot reach.
    """
    if not isinstance(text, str):
        raise ConfigError(f"a goal is a text, given {text!r}")
    given = text.strip().rstrip(".!")
    if not given:
        return Goal()
    everyone = _EVERYONE.fullmatch(given)
    rest = everyone[1] if everyone else given
    words = re.sub(r"[\s_-]+", " ", rest.lower()).strip()
    if match := _BUILD.match(rest) if words.startswith("build") else None:
        if everyone:
            raise ConfigError(f"a plan is built by the team, not by everyone: {text!r}")
        return Goal(BUILD, 0, 1, False, _plan(match[1].strip()))
    if match := _MANY.fullmatch(words):
        count = int(match[1])
        if not 1 <= count <= len(ACHIEVEMENTS):
            raise ConfigError(f"there are {len(ACHIEVEMENTS)} achievements, given {text!r}")
        return Goal(UNLOCK_MANY, 0, count, bool(everyone))
    if words.replace(" ", "_") in ACHIEVEMENTS:
        index = ACHIEVEMENTS.index(words.replace(" ", "_"))
        return Goal(UNLOCK_ONE, index, 1, bool(everyone))
    if match := _HOLD.fullmatch(words):
        count = int(match[1]) if match[1].isdigit() else 1
        most = MOST * (1 if everyone else players)
        if not 1 <= count <= most:
            raise ConfigError(
                f"{'each player' if everyone else 'the team'} can hold 1 to {most} of an item, "
                f"given {text!r}"
            )
        return Goal(HOLD, _item(match[2], text), count, bool(everyone))
    raise ConfigError(
        f"no goal is called {text!r}; a goal is an achievement ({', '.join(ACHIEVEMENTS)}), "
        '"collect 3 wood", "unlock 12 achievements", "build SSS/S_S" or "build shelter"; '
        '"everyone: ..." asks it of each player'
    )


def _item(words: str, text: str) -> int:
    """The index of an item by its name, in the singular or the plural."""
    names = [words.replace(" ", "_")]
    names += [names[0].removesuffix("s")] if names[0].endswith("s") else []
    for name in names:
        if name in ITEMS:
            return ITEMS.index(name)
    raise ConfigError(f"{words!r} is no item, in {text!r}; the items are {', '.join(ITEMS)}")


def _plan(words: str) -> str:
    """The rows of a plan, checked."""
    rows = PLANS.get(re.sub(r"[\s_-]+", " ", words.lower()))
    rows = rows if rows is not None else re.sub(r"\s*[/\n]\s*", "/", words.strip()).upper()
    lines = rows.split("/")
    known = set(PLAN_LETTERS) | {"_", "."}
    if not set("".join(lines)) <= known or not all(lines):
        raise ConfigError(
            f"no plan is called {words!r}; there are {', '.join(PLANS)}, and rows of the letters "
            f"{', '.join(f'{k} ({v})' for k, v in PLAN_LETTERS.items())}, _ (free ground) and . "
            "(anything), / between them"
        )
    if len(lines) > SITE or max(map(len, lines)) > SITE:
        raise ConfigError(f"a building site has {SITE} x {SITE} cells, too few for {words!r}")
    if not set("".join(lines)) & set(PLAN_LETTERS):
        raise ConfigError(f"the plan {words!r} has nothing to build")
    # As `Goal.of_row` gives it back: without what says nothing at the edges below and to the right.
    while set(lines[-1]) == {"."}:
        lines.pop()
    width = max(len(line.rstrip(".")) for line in lines)
    return "/".join(line[:width].ljust(width, ".") for line in lines)


def fulfilled(
    goal: Array, inventory: Array, achievements: Array, present: Array, site: Array
) -> Array:
    """How much of a goal is done, f32: 1 exactly where it is reached, 0 where there is no goal.
    Every argument may have a trailing batch axis.

    Args:
        goal: u8[GOAL], see `Goal.row`.
        inventory: u8[N, items].
        achievements: bool[N, 22].
        present: bool[N], whose belongings count: who is not dead for good.
        site: u8[SITE, SITE], the materials at the building site.
    """
    kind, target, everyone = goal[0], goal[1], goal[3] > 0
    count = jnp.maximum(goal[2], 1).astype(jnp.float32)

    def chosen(values: Array) -> Array:
        """Column `target` of [N, K], as f32[N]."""
        which = jnp.arange(values.shape[1], dtype=jnp.uint8)
        which = which.reshape(1, -1, *(1 for _ in target.shape)) == target
        return jnp.sum(jnp.where(which, values, 0), axis=1).astype(jnp.float32)

    held = chosen(inventory) * present
    unlocked = achievements.astype(jnp.float32)
    each = jnp.stack([chosen(achievements), held, jnp.sum(unlocked, axis=1)])  # [3, N]
    union = jnp.any(achievements, axis=0)
    team = jnp.stack(
        [jnp.any(chosen(achievements) > 0, axis=0), jnp.sum(held, axis=0), jnp.sum(union, axis=0)]
    )
    share_each = jnp.minimum(each / count, 1.0) * present
    all_of = jnp.sum(share_each, axis=1) / jnp.maximum(jnp.sum(present, axis=0), 1)
    share = jnp.where(everyone, all_of, jnp.minimum(team / count, 1.0))

    plan = goal[4:].reshape(SITE, SITE, *goal.shape[1:])
    ground = functools.reduce(jnp.logical_or, [site == code for code in WALKABLE])
    site = jnp.where(site == RIPE_PLANT, np.uint8(PLANT), site)
    wanted = plan != ANYTHING
    right = jnp.where(plan == FREE, ground, site + np.uint8(1) == plan) & wanted
    built = jnp.sum(right, axis=(0, 1)) / jnp.maximum(jnp.sum(wanted, axis=(0, 1)), 1)
    done = jnp.float32(0)
    for which, value in ((UNLOCK_ONE, share[0]), (HOLD, share[1]), (UNLOCK_MANY, share[2])):
        done = jnp.where(kind == which, value, done)
    return jnp.where(kind == BUILD, built, done).astype(jnp.float32)


# ---- families of goals, and what is held out -----------------------------------------------------

# Worlds that no training meets but by name: `reset(options={"world": HELD_OUT_WORLDS[i]})`.
HELD_OUT_WORLDS = range(2**31, 2**31 + 1000)
HELD_OUT_SHARE = 4  # one goal in so many, of those that are more than one achievement


def difficulty(goal: Goal, rules: CraftRules) -> int:
    """The depth of what a goal needs in the graph of achievements; 0 for no goal."""
    depth = depths(rules)
    if goal.kind == UNLOCK_ONE:
        return depth[ACHIEVEMENTS[goal.target]]
    if goal.kind == HOLD:
        return depth[_source(ITEMS[goal.target])]
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
    goals = [Goal(UNLOCK_ONE, i, 1) for i in range(len(ACHIEVEMENTS))]
    gathered = [i for i, item in enumerate(ITEMS) if item not in MAKES]
    goals += [Goal(HOLD, i, count) for i in gathered for count in range(1, MOST + 1)]
    goals += [Goal(UNLOCK_MANY, 0, count) for count in range(2, len(ACHIEVEMENTS) + 1)]
    goals += [Goal(BUILD, 0, 1, False, _plan(name)) for name in PLANS]
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


def with_goals(states: Any, rows: Any) -> Any:
    """States with other goals; `rows` is u8[GOAL], with the states' batch axis if they have one."""
    return dataclasses.replace(states, goal=jnp.asarray(rows, jnp.uint8))


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
        unlocked: bool[episodes, N, 22].
        returns: f64[episodes, N], total reward.
        steps: i64[episodes], lengths.
        reached: bool[episodes], whether the goal was, if there was one.
    """

    unlocked: np.ndarray
    returns: np.ndarray
    steps: np.ndarray
    reached: np.ndarray

    @property
    def success(self) -> dict[str, float]:
        """The percentage of episodes in which anybody unlocked each achievement."""
        rates = 100 * self.unlocked.any(1).mean(0)
        return dict(zip(ACHIEVEMENTS, rates.tolist(), strict=True))

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
    found = jax.device_get(_score_loop(env, players)(seeds))
    unlocked, returns, steps, reached = found
    return Scores(
        np.moveaxis(unlocked, -1, 0).astype(bool),
        np.moveaxis(returns, -1, 0).astype(np.float64),
        steps.astype(np.int64),
        reached > 0,
    )


@functools.lru_cache(maxsize=16)
def _score_loop(env: Env, players: Any) -> Any:
    n = env.num_agents

    def run(seeds: Array) -> Any:
        keys, size = jax.vmap(seed_key)(seeds), seeds.shape[0]
        index = jnp.arange(size, dtype=jnp.uint32)

        def step(at: Any) -> Any:
            time, state, memory, done, unlocked, returns, steps, reached = at
            acting = env.batch_acting(state) & ~done
            view = view_of(env, state, jnp.broadcast_to(time == 0, (size,)), index)
            view = dataclasses.replace(view, acting=acting)
            step_keys = jax.vmap(jax.random.fold_in, (0, None))(keys, time)
            actions, memory = players.apply(env, memory, step_keys, view)
            noop = jnp.asarray(env.noop, actions.dtype)[..., None]
            asked = acting.reshape(n, *[1] * (actions.ndim - 2), size)
            state, outcome = env.batch_step(step_keys, state, jnp.where(asked, actions, noop))
            playing = ~jnp.all(done, axis=0)
            unlocked = jnp.where(playing, _inner(state).achievements, unlocked)
            returns = returns + jnp.where(playing, outcome.reward, 0.0)
            done = done | outcome.terminated | outcome.truncated
            reached = jnp.where(playing, _inner(state).goal_step, reached)
            return time + 1, state, memory, done, unlocked, returns, steps + playing, reached

        state = env.batch_reset(keys)
        start = (
            jnp.int32(0),
            state,
            players.init(env, size),
            jnp.zeros((n, size), bool),
            _inner(state).achievements,
            jnp.zeros((n, size)),
            jnp.zeros(size, jnp.int32),
            jnp.zeros(size, jnp.int32),
        )
        return jax.lax.while_loop(lambda at: ~jnp.all(at[3]), step, start)[4:]

    return jax.jit(run)


def _inner(state: Any) -> Any:
    """The state of the world inside wrappers."""
    while hasattr(state, "inner"):
        state = state.inner
    return state
