"""Policy-space response oracles (Lanctot et al. 2017), for games between two sides.

A population of strategies grows: a *meta-solver* mixes those that there are, PPO learns a best
response to the mixture, and the response joins them. What every strategy wins from every other is
the meta-game, a matrix; its mixture is `uniform` (fictitious play over strategies, Heinrich et al.
2015) or `nash` (an equilibrium of the matrix, exactly, by linear programming). With a fresh best
response to the last mixture, `exploitability` says how much there is left to win from it.

**Sides.** A side is one agent, or a team whose seats are all played by one strategy; `sides_of`
says which. A strategy plays either side, and what counts between two of them is the mean over both
orders: the meta-game is symmetric, and worth 0.

**Opponents.** While a response learns, the mixture is shared out over blocks of environments, each
with one opponent to the end (`population.Partnered`), in whole blocks, whose numbers are drawn so
that they are right on average (systematic resampling). Networks and scripted players mix freely.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import io
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import linprog

from manyhands.baselines import policies as policy_files
from manyhands.baselines.evaluation import (
    INTERVAL,
    NOBODY,
    Estimate,
    Lineup,
    described,
    markdown,
    play_matches,
)
from manyhands.baselines.evaluation import players as read_players
from manyhands.baselines.learning import masked_mean
from manyhands.baselines.policies import NetworkPolicy
from manyhands.baselines.population import Partnered
from manyhands.baselines.ppo import PPO, PPOConfig, Progress, Steps
from manyhands.core.env import (
    Array,
    ConfigError,
    DeviceView,
    Env,
    SeatError,
    TrainingError,
    names_of,
    seed_key,
)

Sides = tuple[tuple[int, ...], tuple[int, ...]]
_LIKE_THE_TEACHER = 0.8  # how likely a pupil is to choose as its teacher does, at the end


def sides_of(env: Env) -> Sides:
    """The agents of both sides, by axis index: the environment's own attribute `sides`, or the two
    agents of a game of two."""
    given = env.sides
    if given is None and env.num_agents == 2:
        given = ((0,), (1,))
    if given is None:
        raise ConfigError(
            f"{env!r} has {env.num_agents} agents, and no attribute `sides` that says who plays "
            "with whom; a game of two sides is needed"
        )
    first, second = (tuple(int(a) for a in side) for side in given)
    if len(first) != len(second) or sorted(first + second) != list(range(env.num_agents)):
        raise ConfigError(
            f"the sides of {env!r} are not two teams of one size that share out all agents: "
            f"{first} and {second}"
        )
    return first, second


# ---- the meta-game -------------------------------------------------------------------------------


def uniform(payoffs: np.ndarray) -> np.ndarray:
    """Every strategy alike: f64[P]."""
    return np.full(len(payoffs), 1 / len(payoffs))


def nash(payoffs: np.ndarray) -> np.ndarray:
    """An equilibrium mixture of the row player in the zero-sum game with `payoffs`, f64[R, C], to
    the row player: f64[R].

    The linear program of von Neumann's theorem, solved by HiGHS (Huangfu and Hall 2018): the
    largest v for which some mixture x earns x · payoffs >= v against every column.
    """
    payoffs = np.asarray(payoffs, np.float64)
    rows, columns = payoffs.shape
    found = linprog(
        c=[*np.zeros(rows), -1.0],
        A_ub=np.hstack([-payoffs.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=[[*np.ones(rows), 0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs",
    )
    if not found.success:
        raise ConfigError(f"these payoffs have no equilibrium: {found.message}")
    mixture = np.maximum(found.x[:rows], 0.0)
    return mixture / mixture.sum()


META_SOLVERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"nash": nash, "uniform": uniform}


def elo(wins: np.ndarray, games: int, base: float = 1000.0, rounds: int = 10_000) -> np.ndarray:
    """Elo ratings (1978) from a table of win rates, f64[P, P], of `games` games each: f64[P].

    All play all, again and again, and after each round everybody moves by K times the mean of what
    was won beyond what the ratings predicted, with K = 42 P, until nobody moves by more than a
    thousandth: the order of the games then plays no part. The mean stays `base`. Where all games
    were won, half a game counts as lost, or no rating would be high enough.
    """
    count = len(wins)
    share = np.clip(np.asarray(wins, np.float64), 0.5 / games, 1 - 0.5 / games)
    np.fill_diagonal(share, 0.5)
    ratings = np.full(count, float(base))
    for _ in range(rounds):
        expected = 1 / (1 + 10 ** ((ratings[None] - ratings[:, None]) / 400))
        # A full step overshoots where there are many players: at most the curve's own slope.
        move = 42 * count * (share - expected).mean(axis=1) * min(1.0, 16 / count)
        ratings = ratings + move - move.mean()
        if np.abs(move).max() < 1e-5:
            break
    return ratings


@dataclasses.dataclass(frozen=True)
class League:
    """All strategies of a meta-game against each other; print it, or `save` it.

    Attributes:
        env, seed: what was played.
        names: of the P strategies.
        margins: f64[P, P, E], half of what the row on the first side earned more than the column
            on the second one, in each episode (of a game with zero sum: what it won); 0 on the
            diagonal, which is not played.
        by: the reward term that decides, "" for all of the reward.
    """

    env: Env
    seed: int
    names: tuple[str, ...]
    margins: np.ndarray
    by: str = ""

    @property
    def episodes(self) -> int:
        """Episodes of a pair in each order."""
        return self.margins.shape[-1]

    def _both(self, values: np.ndarray) -> np.ndarray:
        """f64[P, P, E]: a row's mean over both sides."""
        return (values - np.swapaxes(values, 0, 1)) / 2

    @property
    def payoffs(self) -> np.ndarray:
        """f64[P, P]: mean margins of the row; minus its own transpose."""
        return self._both(self.margins).mean(-1)

    @property
    def wins(self) -> np.ndarray:
        """f64[P, P]: share of episodes that the row won, a draw being half of one."""
        return 0.5 + self._both(np.sign(self.margins)).mean(-1) / 2

    def table(self) -> list[list[Estimate]]:
        """[row][column]: the win rates with their intervals."""
        each = 0.5 + self._both(np.sign(self.margins)) / 2
        return [[Estimate.of(cell) for cell in row] for row in each]

    @property
    def ratings(self) -> np.ndarray:
        return elo(self.wins, 2 * self.episodes)

    def matrix(self, counts: str) -> np.ndarray:
        """f64[P, P]: the meta-game; `counts` is "wins" (from -1, all lost, to 1) or "margin"."""
        return 2 * self.wins - 1 if counts == "wins" else self.payoffs

    def mixture(self, solver: str = "nash", counts: str = "wins") -> np.ndarray:
        """f64[P], of a meta-solver."""
        return META_SOLVERS[solver](self.matrix(counts))

    def __str__(self) -> str:
        header = ["row against column", *self.names, "Elo", "Nash"]
        table, ratings, weights = self.table(), self.ratings, self.mixture()
        rows = []
        for i, name in enumerate(self.names):
            cells = ["" if i == j else str(cell) for j, cell in enumerate(table[i])]
            rows.append([name, *cells, f"{ratings[i]:.0f}", f"{weights[i]:.3f}"])
        return (
            f"{described(self.env)}: win rates of {len(self.names)} strategies over both sides, "
            f"{self.episodes} episodes a pair and side, seed {self.seed}; a draw is half a win\n\n"
            f"{markdown(header, rows)}\n\n{INTERVAL}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        return {
            "environment": self.env.spec(),
            "seed": self.seed,
            "episodes": self.episodes,
            "interval": INTERVAL,
            "decided_by": self.by or "reward",
            "strategies": list(self.names),
            "wins": [[cell.to_dict() for cell in row] for row in self.table()],
            "payoffs": self.payoffs.tolist(),
            "elo": self.ratings.tolist(),
            "nash": self.mixture().tolist(),
        }

    def to_csv(self) -> str:
        """A line for each ordered pair."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["row", "column", "wins", "low", "high", "episodes"])
        for i, row in enumerate(self.table()):
            for j, cell in enumerate(row):
                if i != j:
                    writer.writerow([self.names[i], self.names[j], *cell.to_dict().values()])
        return text.getvalue()

    def save(self, folder: str | Path) -> list[Path]:
        """Write league.json, .csv and .md; gives their paths."""
        files = {
            "json": json.dumps(self.to_dict(), indent=2) + "\n",
            "csv": self.to_csv(),
            "md": f"{self}\n",
        }
        paths = [Path(folder) / f"league.{ending}" for ending in files]
        for path, text in zip(paths, files.values(), strict=True):
            policy_files.replace(path, text.encode())
        return paths


def league(
    env: Env,
    strategies: Mapping[str, Any] | Sequence[Any],
    episodes: int = 100,
    seed: int = 0,
    by: str = "",
) -> League:
    """Play all strategies against each other, on both sides.

    Args:
        strategies: what `evaluation.players` takes: seats by name, policy files, or policies; in a
            mapping their names in the tables are its keys. Each plays all seats of a side.
        by: the reward term that decides who won, "" for all of the reward.

    Raises:
        ConfigError, SeatError, PolicyError: what was given makes no sense, or cannot play here.
    """
    if len(strategies) < 2:
        raise ConfigError(f"a league needs two strategies or more, {len(strategies)} given")
    given = list(strategies.values()) if isinstance(strategies, Mapping) else list(strategies)
    made, names = read_players(env, given)
    if isinstance(strategies, Mapping):
        names = list(strategies)
    count = len(made)
    pairs = [(i, j) for i in range(count) for j in range(count) if i != j]
    margins = np.zeros((count, count, episodes))
    for (i, j), values in zip(pairs, _meet(env, made, pairs, episodes, seed, by), strict=True):
        margins[i, j] = values
    return League(env, seed, tuple(names), margins, by)


def _meet(
    env: Env,
    strategies: Sequence[Any],
    pairs: Sequence[tuple[int, int]],
    episodes: int,
    seed: int,
    by: str,
) -> list[np.ndarray]:
    """The margins, f64[E], of each pair's first strategy on the first side."""
    if by and by not in env.terms:
        raise ConfigError(
            f"{by!r} is no reward term, by which somebody could win; the terms are "
            f"{names_of(env.terms)}"
        )
    first, second = sides_of(env)
    lineups = []
    for i, j in pairs:
        row = [j] * env.num_agents
        for a in first:
            row[a] = i
        lineups.append(tuple(row))
    found = []
    for match in play_matches(env, strategies, lineups, episodes, seed):
        earned = match.terms[by] if by else match.returns
        found.append((earned[:, list(first)].mean(1) - earned[:, list(second)].mean(1)) / 2)
    return found


# ---- a best response -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class PSROConfig(PPOConfig):
    """Beyond `PPOConfig`, whose `total_steps` are those of one best response at most:

    Attributes:
        meta_solver: "nash" or "uniform".
        counts: what a strategy wants, "wins" (twice its win rate less 1) or "margin" (see
            `League.margins`).
        decided_by: the reward term whose sum decides an episode; "" for all of the reward.
        strategies: how many there are at the end, the first ones included.
        start: the first strategies: seats by name, or policy files; "" is an untrained network.
        warm_start: whether a response begins from the newest network instead of from scratch.
        teacher: a scripted seat by name; where there is no network yet, what a response begins
            from is first taught to choose as it does, for `lessons` steps (see `Taught`).
        opponents: blocks of environments that the mixture is shared out over, for each side.
        checks: how often the response meets the mixture while it learns, to see how good it is.
        enough: win rate against the mixture at which a response is finished.
        matches: episodes of each pair, for each side.
    """

    meta_solver: str = "nash"
    counts: str = "wins"
    decided_by: str = ""
    strategies: int = 6
    start: tuple[str, ...] = ("",)
    warm_start: bool = True
    teacher: str = ""
    lessons: int = 50_000
    opponents: int = 8
    checks: int = 5
    enough: float = 0.9
    matches: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, known in (("meta_solver", META_SOLVERS), ("counts", ("wins", "margin"))):
            if getattr(self, name) not in known:
                raise ConfigError(
                    f"{name} is {names_of(list(known))}, given {getattr(self, name)!r}"
                )
        if not self.start or self.strategies < len(self.start):
            raise ConfigError(
                f"strategies is from {max(len(self.start), 1)}, the number of those to start with, "
                f"and there is one at least; given {self.strategies} and start={self.start!r}"
            )
        if min(self.opponents, self.checks, self.matches) < 1 or not 0 < self.enough <= 1:
            raise ConfigError(
                "opponents, checks and matches are from 1, enough is above 0 and at most 1; given "
                f"{self.opponents}, {self.checks}, {self.matches} and {self.enough}"
            )
        taught = self.warm_start and self.reads == "perception" and not self.recurrent
        if self.teacher and not (taught and self.lessons > 0):
            raise ConfigError(
                "who is taught by a scripted player reads its perception, has no memory, goes on "
                "from its lessons (warm_start) and takes a step of them or more; given "
                f"reads={self.reads!r}, recurrent={self.recurrent}, warm_start={self.warm_start} "
                f"and lessons={self.lessons}"
            )
        if self.num_envs % (2 * self.opponents):
            raise ConfigError(
                f"num_envs={self.num_envs} cannot be divided among {self.opponents} opponents on "
                f"both sides; choose a multiple of {2 * self.opponents}"
            )


@dataclasses.dataclass(frozen=True)
class Response:
    """A best response, as far as it was learned.

    Attributes:
        policy: the player. progress: what it could go on learning from.
        margins: f64[P, 2, E], against each opponent: on the first side, and on the second.
        curve: (steps, win rate against the mixture) at each check.
        steps, seconds: what it took.
    """

    policy: NetworkPolicy
    progress: Progress
    margins: np.ndarray
    curve: tuple[tuple[int, float], ...]
    steps: int
    seconds: float

    def wins(self, mixture: np.ndarray) -> Estimate:
        """The win rate against a mixture of the opponents."""
        each = 0.5 + np.sign(self.margins).mean(1) / 2
        return Estimate.of(mixture @ each)

    def margin(self, mixture: np.ndarray) -> Estimate:
        """By how much it beats a mixture of the opponents."""
        return Estimate.of(mixture @ self.margins.mean(1))


def respond(
    env: Env,
    opponents: Sequence[Any],
    mixture: np.ndarray,
    config: PSROConfig,
    key: Any,
    seed: int = 0,
    warm: Progress | None = None,
    told: Callable[[str], None] | None = None,
    learner: Callable[[Env, PPOConfig], PPO] = PPO,
) -> Response:
    """Learn a best response to a mixture of strategies.

    Args:
        opponents: device policies, whose chances are `mixture`, f64[P].
        key: of everything that is random while learning; `seed` is that of the matches.
        warm: begin from these parameters; None: from scratch.
        told: called with a line at each check.
        learner: what learns, a kind of PPO.

    Raises:
        SeatError: an opponent cannot play in compiled code.
        TrainingError: the response diverged.
    """
    for opponent in opponents:
        if not (hasattr(opponent, "init") and hasattr(opponent, "apply")):
            raise SeatError(
                f"{opponent!r} cannot play inside a compiled loop; an opponent to learn against is "
                "a network or a scripted player in JAX"
            )
    start_key, share_key = jax.random.split(key)
    shared = _shared_out(mixture, config.opponents, float(jax.random.uniform(share_key)))
    count = env.num_agents
    players = tuple(
        tuple(NOBODY if a in own else block for a in range(count))
        for own in sides_of(env)
        for block in range(config.opponents)
    )
    lineup, stacked = Lineup.of([opponents[number] for number in shared], players)
    solo = PPO(env, plain(config))
    begin, advance = _programs(env, lineup, solo.config, learner)
    progress = begin(stacked, start_key)
    if warm is not None:
        progress = dataclasses.replace(
            progress,
            params=warm.params,
            mean=warm.mean,
            variance=warm.variance,
            count=warm.count,
        )
    started, done, curve = time.perf_counter(), 0, []
    every = max(1, math.ceil(solo.num_updates / config.checks))
    while True:
        now = min(every, solo.num_updates - done)
        progress = advance(stacked, progress, jnp.int32(now))
        done += now
        policy = dataclasses.replace(
            jax.device_get(solo.player(progress)), spec=env.spec(), algorithm="psro"
        )
        if not all(np.isfinite(leaf).all() for leaf in jax.tree_util.tree_leaves(policy.params)):
            raise TrainingError(f"the response diverged before update {done}")
        margins = _against(env, policy, opponents, config, seed)
        response = Response(
            policy,
            progress,
            margins,
            (),
            done * solo.steps_per_update,
            time.perf_counter() - started,
        )
        wins = response.wins(mixture)
        curve.append((response.steps, wins.mean))
        if told is not None:
            told(f"{response.steps:,} steps, {response.seconds:.0f} s: wins {wins} of the mixture")
        if done == solo.num_updates or wins.mean >= config.enough:
            return dataclasses.replace(response, curve=tuple(curve))


@dataclasses.dataclass(frozen=True)
class Taught(PPO):
    """PPO beside a teacher: to the loss is added the cross-entropy between what the learner would
    do and what a scripted player does in its place, averaged over the steps; but no more is asked
    than to do the same four times of five, so that there is something left to explore.

    Attributes:
        teacher: a device policy that reads the perception alone, and remembers nothing.
    """

    teacher: Any

    def _penalty(self, steps: Steps, outputs: Array) -> tuple[Array, dict[str, Array]]:
        game = self.env.env if isinstance(self.env, Partnered) else self.env
        memory, key = self.teacher.init(game, 0), seed_key(0)

        def chosen(row: Array, legal: Array) -> Array:
            view = DeviceView(vector=row, perception=row, legal=legal, acting=jnp.bool_(True))
            return self.teacher.apply(game, 0, memory, key, view)[0]

        wanted = jax.vmap(jax.vmap(jax.vmap(chosen)))(steps.row, steps.legal)
        gap = -self._actions.log_prob(outputs, steps.legal, wanted)
        mean = masked_mean(jnp.maximum(gap, -math.log(_LIKE_THE_TEACHER)), steps.acts)
        return mean, {"teacher_cross_entropy": mean}


def plain(config: PSROConfig) -> PPOConfig:
    """The part of the settings that PPO reads."""
    names = [field.name for field in dataclasses.fields(PPOConfig)]
    settings = {name: getattr(config, name) for name in names}
    # It sees what its opponents do from its own first steps on (see `population`).
    return PPOConfig(**{**settings, "start_player": ""})


@functools.lru_cache(maxsize=16)
def _programs(
    env: Env, lineup: Lineup, config: PPOConfig, learner: Callable[[Env, PPOConfig], PPO]
) -> tuple[Any, Any]:
    """Compiled (begin(stacked, key), advance(stacked, progress, updates))."""

    def beside(stacked: Any) -> PPO:
        return learner(Partnered(env, lineup, stacked), config)

    def advance(stacked: Any, progress: Progress, count: Any) -> Progress:
        update = beside(stacked).update
        made: Progress = jax.lax.fori_loop(0, count, lambda _, at: update(at)[0], progress)
        return made

    begin = jax.jit(lambda stacked, key: beside(stacked).init(key))
    return begin, jax.jit(advance, donate_argnums=1)


def _shared_out(mixture: np.ndarray, blocks: int, offset: float) -> list[int]:
    """Which strategy each block meets: as many blocks as its chance, rounded up or down so that
    the mean over all offsets from 0 to 1 is exact; equal ones beside each other."""
    ends = np.cumsum(mixture) / np.sum(mixture)
    points = (np.arange(blocks) + offset) / blocks
    return np.minimum(np.searchsorted(ends, points, side="right"), len(ends) - 1).tolist()


def _against(
    env: Env, policy: NetworkPolicy, opponents: Sequence[Any], config: PSROConfig, seed: int
) -> np.ndarray:
    """f64[P, 2, E]: a strategy's margins on both sides. Always as many matches, so that one program
    serves while the population grows."""
    room = max(config.strategies, len(opponents))
    filled = [*opponents, *[opponents[-1]] * (room - len(opponents))]
    pairs = [pair for k in range(1, room + 1) for pair in ((0, k), (k, 0))]
    met = _meet(env, [policy, *filled], pairs, config.matches, seed, config.decided_by)
    margins = np.reshape(met, (room, 2, config.matches))[: len(opponents)]
    return margins * np.array([1.0, -1.0])[:, None]


# ---- the population ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Population:
    """What `psro` gives back.

    Attributes:
        league: who wins how much from whom, the strategies in the order in which they joined.
        strategies: the players.
        mixture: f64[P], the meta-solver's answer to all of them.
        history: of each response what it was learned against, how, and how well, JSON-ready.
    """

    league: League
    strategies: tuple[Any, ...]
    mixture: np.ndarray
    history: tuple[dict[str, Any], ...]

    def __str__(self) -> str:
        return f"{self.league}\n\nThe mixture: {_spoken(self.league.names, self.mixture)}"


def psro(
    env: Env,
    config: PSROConfig,
    out: str | Path | None = None,
    seed: int = 0,
    *,
    resume: bool = False,
    overwrite: bool = False,
    told: Callable[[str], None] | None = None,
) -> Population:
    """Grow a population until it has `config.strategies`.

    Args:
        out: a folder for the strategies (strategy-K.safetensors), psro.json (all that is needed to
            go on) and the tables (league.json, .csv and .md), written whenever one has joined.
        resume: go on with what the folder holds, if it holds anything.
        overwrite: begin anew, whatever the folder holds.
        told: called with a line on what goes on.

    Raises:
        ConfigError, SeatError, PolicyError: what was given makes no sense, or cannot play here.
        TrainingError: a response diverged; the folder holds another run, or one already.
    """
    say = told or (lambda line: None)
    solo = PPO(env, plain(config))
    root = seed_key(seed)
    folder = None if out is None else Path(out)
    names, strategies = _first(env, config, solo, root)
    table: dict[tuple[int, int], np.ndarray] = {}
    history: list[dict[str, Any]] = []
    about = {
        "environment": env.spec(),
        "config": json.loads(json.dumps(dataclasses.asdict(config))),
        "seed": seed,
    }
    if folder is not None and (folder / "psro.json").exists() and not overwrite:
        if not resume:
            raise TrainingError(
                f"{folder} holds a run already: go on with it (resume), or overwrite it"
            )
        table, history = _restore(env, folder, about, len(names))
        for k in range(len(names), len(names) + len(history)):
            strategies.append(policy_files.load(folder / f"strategy-{k}.safetensors", env))
            names.append(f"response {k - len(config.start) + 1}")
    count = len(strategies)
    missing = [(i, j) for i in range(count) for j in range(count) if i != j and (i, j) not in table]
    if missing:
        met = _meet(env, strategies, missing, config.matches, seed, config.decided_by)
        table |= dict(zip(missing, met, strict=True))
    warm: Progress | None = None
    while len(strategies) < config.strategies:
        count = len(strategies)
        found = _league(env, seed, names, table, config)
        mixture = found.mixture(config.meta_solver, config.counts)
        say(f"strategy {count} learns against {_spoken(names, mixture)}")
        if config.warm_start and warm is None:
            warm = begin_from(solo, strategies, root)
        if config.teacher and warm is None:
            say(f"{config.teacher} teaches")
            warm = _lessons(env, strategies, mixture, config, root, seed, say)
        response = respond(
            env,
            strategies,
            mixture,
            config,
            jax.random.fold_in(root, count),
            seed,
            warm if config.warm_start else None,
            say,
        )
        warm = response.progress
        for k in range(count):
            table[count, k], table[k, count] = response.margins[k, 0], -response.margins[k, 1]
        strategies.append(response.policy)
        names.append(f"response {count - len(config.start) + 1}")
        wins = response.wins(mixture)
        history.append(
            {
                "mixture": mixture.tolist(),
                "wins": wins.to_dict(),
                "curve": [list(point) for point in response.curve],
                "steps": response.steps,
                "seconds": round(response.seconds, 1),
            }
        )
        if folder is not None:
            path = folder / f"strategy-{count}.safetensors"
            policy_files.save(path, response.policy, {**about, "response": history[-1]})
            margins = [[*pair, values.tolist()] for pair, values in sorted(table.items())]
            data = {**about, "strategies": names, "history": history, "margins": margins}
            policy_files.replace(folder / "psro.json", json.dumps(data).encode())
            _league(env, seed, names, table, config).save(folder)
    found = _league(env, seed, names, table, config)
    mixture = found.mixture(config.meta_solver, config.counts)
    return Population(found, tuple(strategies), mixture, tuple(history))


def _lessons(
    env: Env,
    opponents: Sequence[Any],
    mixture: np.ndarray,
    config: PSROConfig,
    key: Any,
    seed: int,
    told: Callable[[str], None],
) -> Progress:
    """What a network is like after its lessons."""
    (teacher,), _ = read_players(env, [config.teacher])
    settings = dataclasses.replace(config, total_steps=config.lessons, checks=1, enough=1.0)
    learner = functools.partial(Taught, teacher=teacher)
    return respond(
        env, opponents, mixture, settings, key, seed, told=told, learner=learner
    ).progress


def exploitability(
    env: Env,
    population: Population,
    config: PSROConfig,
    seed: int = 0,
    told: Callable[[str], None] | None = None,
) -> Response:
    """A best response to the final mixture, from scratch, or from what the teacher teaches. What it
    wins (`wins`, beyond one half, or `margin`, beyond 0) is the least by which the mixture can be
    exploited: a better learner or more steps may find more."""
    key = jax.random.fold_in(seed_key(seed), 1_000_000)
    against = population.strategies, population.mixture, config
    say = told or (lambda line: None)
    warm = _lessons(env, *against, key, seed, say) if config.teacher else None
    return respond(env, *against, key, seed, warm, told)


def _first(env: Env, config: PSROConfig, solo: PPO, key: Any) -> tuple[list[str], list[Any]]:
    """The strategies to start with, and their names."""
    untrained = dataclasses.replace(
        jax.device_get(solo.player(jax.jit(solo.init)(key))), algorithm="psro"
    )
    names, strategies = [], []
    for given in config.start:
        made, named = read_players(env, [given]) if given else ([untrained], ["untrained"])
        names += named
        strategies += made
    return names, strategies


def begin_from(solo: PPO, strategies: Sequence[Any], key: Any) -> Progress | None:
    """A beginning that knows what the newest of `strategies` knows that is a network of the
    learner's own shape, but for the critic; None if none is."""
    fresh = jax.eval_shape(solo.init, key)
    for strategy in reversed(strategies):
        if isinstance(strategy, NetworkPolicy) and strategy.network == solo.network:
            progress: Progress = jax.jit(solo.init)(key)
            params = {**progress.params, "actor": strategy.params["network"]}
            shapes = [jax.tree_util.tree_map(np.shape, tree) for tree in (params, fresh.params)]
            if shapes[0] != shapes[1]:
                continue
            scale = jnp.asarray(strategy.params["scale"])
            return dataclasses.replace(
                progress,
                params=params,
                mean=jnp.asarray(strategy.params["mean"]),
                variance=1 / scale**2 - 1e-8,
                # As sure of the moments as after many updates.
                count=jnp.float32(1e6),
            )
    return None


def _league(
    env: Env,
    seed: int,
    names: Sequence[str],
    table: Mapping[tuple[int, int], np.ndarray],
    config: PSROConfig,
) -> League:
    margins = np.zeros((len(names), len(names), config.matches))
    for (i, j), values in table.items():
        margins[i, j] = values
    return League(env, seed, tuple(names), margins, config.decided_by)


def _restore(
    env: Env, folder: Path, about: Mapping[str, Any], start: int
) -> tuple[dict[tuple[int, int], np.ndarray], list[dict[str, Any]]]:
    """The meta-game and the history of a run that was stopped."""
    path = folder / "psro.json"
    try:
        data = json.loads(path.read_text())
        table = {(int(i), int(j)): np.asarray(v, np.float64) for i, j, v in data["margins"]}
        history = list(data["history"])
        differs = [name for name in about if data[name] != about[name]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TrainingError(f"{path} cannot be gone on with: {error!r}") from error
    # More strategies than were asked for before are welcome.
    if differs == ["config"]:
        both = (dict(data["config"]), dict(about["config"]))
        for settings in both:
            settings.pop("strategies", None)
        differs = [] if both[0] == both[1] else differs
    if differs:
        raise TrainingError(f"{folder} holds a run of another {names_of(differs)}")
    return table, history


def _spoken(names: Sequence[str], mixture: np.ndarray) -> str:
    """The mixture in words, the most likely first."""
    order = [i for i in np.argsort(-mixture) if mixture[i] >= 0.005]
    return names_of([f"{names[i]} ({mixture[i]:.2f})" for i in order]).replace(" or ", ", ")
