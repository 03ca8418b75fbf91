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

import dataclasses
import functools
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.evaluation.league import META_SOLVERS, League, meet, sides_of
from manyhands.baselines.evaluation.matches import NOBODY, Lineup
from manyhands.baselines.evaluation.scores import players as read_players
from manyhands.baselines.evaluation.tables import Estimate
from manyhands.baselines.learners.on_policy import masked_mean
from manyhands.baselines.learners.population import Partnered
from manyhands.baselines.learners.ppo import PPO, PPOConfig, Progress, Steps
from manyhands.baselines.players import network as policy_files
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.core.env import (
    Array,
    ConfigError,
    DeviceView,
    Env,
    SeatError,
    TrainingError,
    is_device_policy,
    names_of,
    seed_key,
)

_TEACHER_PROBABILITY = 0.8  # how likely a pupil is to choose as its teacher does, at the end


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
    log: Callable[[str], None] | None = None,
    learner: Callable[[Env, PPOConfig], PPO] = PPO,
    itself: bool = False,
) -> Response:
    """Learn a best response to a mixture of strategies.

    Args:
        opponents: device policies, whose chances are `mixture`, f64[P].
        key: of everything that is random while learning; `seed` is that of the matches.
        warm: begin from these parameters; None: from scratch.
        log: called with a line at each check.
        learner: what learns, a kind of PPO.
        itself: learn in self-play instead; the mixture is what the response is measured by.

    Raises:
        SeatError: an opponent cannot play in compiled code.
        TrainingError: the response diverged.
    """
    for opponent in opponents:
        if not is_device_policy(opponent):
            raise SeatError(
                f"{opponent!r} cannot play inside a compiled loop; an opponent to learn against is "
                "a network or a scripted player in JAX"
            )
    start_key, share_key = jax.random.split(key)
    shared = _allocate(mixture, config.opponents, float(jax.random.uniform(share_key)))
    count = env.num_agents
    players = tuple(
        tuple(NOBODY if a in own else block for a in range(count))
        for own in sides_of(env)
        for block in range(config.opponents)
    )
    lineup, stacked = Lineup.of([opponents[number] for number in shared], players)
    solo = PPO(env, plain(config))
    begin, advance = _programs(env, None if itself else lineup, solo.config, learner)
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
        if log is not None:
            log(f"{response.steps:,} steps, {response.seconds:.0f} s: wins {wins} of the mixture")
        if done == solo.num_updates or wins.mean >= config.enough:
            return dataclasses.replace(response, curve=tuple(curve))


@dataclasses.dataclass(frozen=True)
class Taught(PPO):
    """PPO with an imitation loss: the cross-entropy to the actions that a scripted player takes in
    the learner's place, averaged over the steps. It is bounded from below, at a probability of four
    fifths, so that the learner goes on exploring.

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
        mean = masked_mean(jnp.maximum(gap, -math.log(_TEACHER_PROBABILITY)), steps.acts)
        return mean, {"teacher_cross_entropy": mean}


def plain(config: PSROConfig) -> PPOConfig:
    """The part of the settings that PPO reads."""
    names = [field.name for field in dataclasses.fields(PPOConfig)]
    settings = {name: getattr(config, name) for name in names}
    # It sees what its opponents do from its own first steps on (see `population`).
    return PPOConfig(**{**settings, "start_player": ""})


@functools.lru_cache(maxsize=16)
def _programs(
    env: Env, lineup: Lineup | None, config: PPOConfig, learner: Callable[[Env, PPOConfig], PPO]
) -> tuple[Any, Any]:
    """Compiled (begin(stacked, key), advance(stacked, progress, updates)); without a line-up the
    learner plays all seats."""

    def ppo(stacked: Any) -> PPO:
        return learner(env if lineup is None else Partnered(env, lineup, stacked), config)

    def advance(stacked: Any, progress: Progress, count: Any) -> Progress:
        update = ppo(stacked).update
        made: Progress = jax.lax.fori_loop(0, count, lambda _, at: update(at)[0], progress)
        return made

    begin = jax.jit(lambda stacked, key: ppo(stacked).init(key))
    return begin, jax.jit(advance, donate_argnums=1)


def _allocate(mixture: np.ndarray, blocks: int, offset: float) -> list[int]:
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
    met = meet(env, [policy, *filled], pairs, config.matches, seed, config.decided_by)
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
        return f"{self.league}\n\nThe mixture: {_describe(self.league.names, self.mixture)}"


def psro(
    env: Env,
    config: PSROConfig,
    out: str | Path | None = None,
    seed: int = 0,
    *,
    resume: bool = False,
    overwrite: bool = False,
    log: Callable[[str], None] | None = None,
) -> Population:
    """Grow a population until it has `config.strategies`.

    Args:
        out: a folder for the strategies (strategy-K.safetensors), psro.json (all that is needed to
            go on) and the tables (league.json, .csv and .md), written whenever one has joined.
        resume: go on with what the folder holds, if it holds anything.
        overwrite: start again, whatever the folder holds.
        log: called with a line on progress.

    Raises:
        ConfigError, SeatError, PolicyError: what was given makes no sense, or cannot play here.
        TrainingError: a response diverged; the folder holds another run, or one already.
    """
    log = log or (lambda line: None)
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
        met = meet(env, strategies, missing, config.matches, seed, config.decided_by)
        table |= dict(zip(missing, met, strict=True))
    warm: Progress | None = None
    while len(strategies) < config.strategies:
        count = len(strategies)
        found = _league(env, seed, names, table, config)
        mixture = found.mixture(config.meta_solver, config.counts)
        log(f"strategy {count} learns against {_describe(names, mixture)}")
        if config.warm_start and warm is None:
            warm = begin_from(solo, strategies, root)
        if config.teacher and warm is None:
            log(f"{config.teacher} teaches")
            warm = _pretrain(env, strategies, mixture, config, root, seed, log)
        response = respond(
            env,
            strategies,
            mixture,
            config,
            jax.random.fold_in(root, count),
            seed,
            warm if config.warm_start else None,
            log,
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


def _pretrain(
    env: Env,
    opponents: Sequence[Any],
    mixture: np.ndarray,
    config: PSROConfig,
    key: Any,
    seed: int,
    log: Callable[[str], None],
) -> Progress:
    """A network after pre-training with the teacher."""
    (teacher,), _ = read_players(env, [config.teacher])
    settings = dataclasses.replace(config, total_steps=config.lessons, checks=1, enough=1.0)
    learner = functools.partial(Taught, teacher=teacher)
    return respond(env, opponents, mixture, settings, key, seed, log=log, learner=learner).progress


def exploitability(
    env: Env,
    population: Population,
    config: PSROConfig,
    seed: int = 0,
    log: Callable[[str], None] | None = None,
) -> Response:
    """A best response to the final mixture, from scratch, or from what the teacher teaches. What it
    wins (`wins`, beyond one half, or `margin`, beyond 0) is the least by which the mixture can be
    exploited: a better learner or more steps may find more."""
    key = jax.random.fold_in(seed_key(seed), 1_000_000)
    against = population.strategies, population.mixture, config
    log = log or (lambda line: None)
    warm = _pretrain(env, *against, key, seed, log) if config.teacher else None
    return respond(env, *against, key, seed, warm, log)


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


def _describe(names: Sequence[str], mixture: np.ndarray) -> str:
    """The mixture in words, the most likely first."""
    order = [i for i in np.argsort(-mixture) if mixture[i] >= 0.005]
    return names_of([f"{names[i]} ({mixture[i]:.2f})" for i in order]).replace(" or ", ", ")
