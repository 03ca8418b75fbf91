"""How well policies play together: episodes with known seeds, means and confidence intervals.

**Matches.** A match puts one policy into the seat of each agent. Its episode `e` has the seed
`episode_seed(seed, e)`: it is the episode that `play` would show, and all matches of an evaluation
are compared on the same seeds. Device policies play all matches in one compiled loop, each match a
block of neighbours in the batch. Policies that differ in nothing but arrays (networks of one shape,
greedy chefs of different skill) are one program, whose arrays are arguments: other arrays do not
compile anew. A match with a host seat (a language model, a reader of texts) goes through `play`.

**Intervals** are 95% t-intervals (Student, 1908) over seeds: mean ± t(0.975, n - 1) · s / √n, with
the sample's standard deviation s of n episodes. Where matches are averaged (both seat orders, many
partners) each seed's values are averaged first: episodes of one seed are not independent. Such an
interval says how exactly the mean for *these* policies is known, not how the next training run or
partner would do.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.util
import inspect
import math
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import stdtrit

from manyhands.core.batch import BatchView, Transition, play_episodes
from manyhands.core.env import (
    Array,
    ConfigError,
    Env,
    agent_key,
    is_device_policy,
    seed_key,
)
from manyhands.core.pack import no_actions
from manyhands.core.play import episode_seed, play, seat_policy
from manyhands.core.registry import seat

CONFIDENCE = 0.95
INTERVAL = "95% t-interval over seeds: mean ± t(0.975, n - 1) · s / √n"
NOBODY = -1  # in a line-up
BATCH = 4096  # environments at once: more do not run faster on a CPU, and need more memory


# ---- means ---------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A mean over `count` independent values, known to `± margin` (NaN for a single value)."""

    mean: float
    margin: float
    count: int

    @classmethod
    def of(cls, values: Any) -> Estimate:
        values = np.asarray(values, np.float64)
        n = len(values)
        margin = math.nan
        if n > 1:
            t = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
            margin = t * float(values.std(ddof=1)) / math.sqrt(n)
        return cls(float(values.mean()), margin, n)

    def __str__(self) -> str:
        """Two digits of the margin, and the mean as exactly."""
        if not self.margin > 0:
            return f"{self.mean:g}" + ("" if math.isnan(self.margin) else " ± 0")
        digits = min(max(1 - math.floor(math.log10(self.margin)), 0), 6)
        return f"{self.mean:.{digits}f} ± {self.margin:.{digits}f}"

    def to_dict(self) -> dict[str, Any]:
        known = not math.isnan(self.margin)
        low, high = self.mean - self.margin, self.mean + self.margin
        return {
            "mean": self.mean,
            "low": low if known else None,
            "high": high if known else None,
            "n": self.count,
        }


def markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown, aligned so that it also reads well as it is."""
    cells = [[str(cell).replace("|", r"\|") for cell in row] for row in (header, *rows)]
    widths = [max(len(row[c]) for row in cells) for c in range(len(header))]

    def line(row: Sequence[str]) -> str:
        first = row[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "| " + " | ".join([first, *rest]) + " |"

    rule = "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
    return "\n".join([line(cells[0]), f"|{rule}|", *map(line, cells[1:])])


# ---- who plays whom ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Program:
    """What is compiled of a device policy: all but its arrays.

    A policy that is registered as a pytree consists of its leaves; any other one has no arrays, and
    is its own program.

    Attributes:
        treedef: how the policy is put together from its leaves.
        fixed: the leaves that are no arrays, None in the place of arrays.
        shapes: shape and dtype of those.
    """

    treedef: Any
    fixed: tuple[Any, ...]
    shapes: tuple[tuple[tuple[int, ...], str], ...]

    def policy(self, arrays: Sequence[Array]) -> Any:
        rest = iter(arrays)
        leaves = [next(rest) if leaf is None else leaf for leaf in self.fixed]
        return jax.tree_util.tree_unflatten(self.treedef, leaves)


def split(policy: Any) -> tuple[Program, tuple[np.ndarray, ...]]:
    """A device policy as its program and its arrays."""
    leaves, treedef = jax.tree_util.tree_flatten(policy)
    fixed: list[Any] = []
    arrays: list[np.ndarray] = []
    for leaf in leaves:
        if isinstance(leaf, (bool, int, float, np.generic, np.ndarray, jax.Array)):
            array = np.asarray(leaf)
            arrays.append(array.astype(jax.dtypes.canonicalize_dtype(array.dtype)))
            fixed.append(None)
        else:
            fixed.append(leaf)
    shapes = tuple((array.shape, array.dtype.name) for array in arrays)
    return Program(treedef, tuple(fixed), shapes), tuple(arrays)


@dataclasses.dataclass(frozen=True)
class Lineup:
    """Device policies in blocks of a batch: `players[m][a]` is the number of the policy that plays
    agent `a` in block `m`, or `NOBODY` where that agent is played from elsewhere. Blocks are of one
    size, and neighbours in the batch.

    Attributes:
        programs: the different programs.
        kinds: of each policy its program's number, and its row in the stacked arrays of that.
        players: i[blocks][agents].
    """

    programs: tuple[Program, ...]
    kinds: tuple[tuple[int, int], ...]
    players: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, policies: Sequence[Any], players: Sequence[Sequence[int]]) -> tuple[Lineup, Any]:
        """The line-up, and the stacked arrays of the policies by program."""
        programs: dict[Program, list[tuple[np.ndarray, ...]]] = {}
        numbers: dict[Program, int] = {}
        kinds = []
        for policy in policies:
            program, arrays = split(policy)
            rows = programs.setdefault(program, [])
            kinds.append((numbers.setdefault(program, len(numbers)), len(rows)))
            rows.append(arrays)
        stacked = tuple(
            tuple(np.stack(column) for column in zip(*rows, strict=True))
            for rows in programs.values()
        )
        return cls(tuple(programs), tuple(kinds), tuple(map(tuple, players))), stacked

    def blocks(self, agent: int) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """(program, the blocks where it plays `agent`, the rows of its arrays there)."""
        nobody = (NOBODY, NOBODY)
        kinds = np.array(
            [nobody if row[agent] == NOBODY else self.kinds[row[agent]] for row in self.players]
        )
        found = []
        for number in range(len(self.programs)):
            blocks = np.flatnonzero(kinds[:, 0] == number)
            if len(blocks):
                found.append((number, blocks, kinds[blocks, 1]))
        return found

    def arrange(self, stacked: Any) -> Any:
        """The arrays as each agent's blocks need them: outside of the loop, once."""
        return [
            [tuple(leaf[rows] for leaf in stacked[number]) for number, _, rows in self.blocks(a)]
            for a in range(len(self.players[0]))
        ]

    def init(self, env: Env, arranged: Any, size: int) -> Any:
        """What the policies remember at the start, for blocks of `size` environments."""

        def start(number: int, agent: int, _: Array, arrays: Any) -> Any:
            return self.programs[number].policy(arrays).init(env, agent)

        memories: list[list[Any]] = []
        for a, by_program in enumerate(arranged):
            memories.append([])
            for (number, blocks, _), arrays in zip(self.blocks(a), by_program, strict=True):
                begin = jax.vmap(functools.partial(start, number, a), out_axes=-1)
                first = begin(jnp.arange(len(blocks)), arrays)
                memories[-1].append(
                    jax.tree_util.tree_map(
                        lambda leaf: jnp.broadcast_to(leaf[..., None], (*leaf.shape, size)), first
                    )
                )
        return memories

    def apply(
        self, env: Env, arranged: Any, memory: Any, step_keys: Array, view: BatchView
    ) -> tuple[Array, Any]:
        """(actions [N, ..., B], memory), given the key of each environment's step, [B], and what
        the agents see; where nobody plays an agent its action is 0."""
        count = len(self.players)
        none = no_actions(env)[0]

        def in_blocks(leaf: Array) -> Array:
            return leaf.reshape(*leaf.shape[:-1], count, -1)

        actions, memories = [], []
        for a, by_program in enumerate(arranged):
            keys = in_blocks(jax.vmap(agent_key, (0, None))(step_keys, a))
            rows = jax.tree_util.tree_map(in_blocks, view.row(a))
            played, remembered, places = [], [], []
            for (number, blocks, _), arrays, old in zip(
                self.blocks(a), by_program, memory[a], strict=True
            ):
                mine = (keys, rows)
                if len(blocks) < count:
                    mine = jax.tree_util.tree_map(functools.partial(_take, blocks), mine)
                act = functools.partial(self._act, env, number, a)
                act = jax.vmap(act, (None, -1, 0, -1), -1)  # over the environments of a block
                act = jax.vmap(act, (0, -2, 0, -2), -2)  # over blocks
                action, new = act(arrays, old, *mine)
                asked = functools.partial(jnp.where, mine[1].acting)  # `play` asks nobody else
                played.append(action.astype(none.dtype))
                remembered.append(jax.tree_util.tree_map(asked, new, old))
                places.append(blocks)
            absent = np.setdiff1d(np.arange(count), np.concatenate([[], *places]))
            if len(absent):
                played.append(jnp.zeros((*none.shape, len(absent), keys.shape[-1]), none.dtype))
                places.append(absent)
            action = played[0]
            if len(played) > 1:
                order = np.argsort(np.concatenate(places))
                action = _take(order, jnp.concatenate(played, axis=-2))
            actions.append(action.reshape(*none.shape, -1))
            memories.append(remembered)
        return jnp.stack(actions), memories

    def _act(
        self, env: Env, number: int, agent: int, arrays: Any, memory: Any, key: Array, row: Any
    ) -> tuple[Array, Any]:
        return self.programs[number].policy(arrays).apply(env, agent, memory, key, row)


def _take(blocks: np.ndarray, leaf: Array) -> Array:
    """Some of the blocks of [..., blocks, environments]; neighbours without a gather."""
    first, last = int(blocks[0]), int(blocks[-1]) + 1
    if np.array_equal(blocks, np.arange(first, last)):
        return leaf[..., first:last, :]
    return leaf[..., blocks, :]


# ---- matches -------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Match:
    """The episodes of one match, E of them.

    Attributes:
        players: number of the policy that played each agent.
        returns: f64[E, N], total reward.
        lengths: f64[E], steps.
        terms: f64[E, N] each, totals before weighting.
        metrics: f64[E] each, totals.
    """

    players: tuple[int, ...]
    returns: np.ndarray
    lengths: np.ndarray
    terms: dict[str, np.ndarray]
    metrics: dict[str, np.ndarray]


def play_matches(
    env: Env,
    policies: Sequence[Any],
    lineups: Sequence[Sequence[int]],
    episodes: int = 100,
    seed: int = 0,
) -> list[Match]:
    """Play `episodes` of each match; `lineups[m][a]` is the number, in `policies`, of the one that
    plays agent `a` in match `m`.

    Raises:
        ConfigError: sizes that make no sense.
        SeatError: a seat failed.
    """
    if isinstance(episodes, bool) or not isinstance(episodes, (int, np.integer)) or episodes < 1:
        raise ConfigError(f"episodes is a whole number from 1, given {episodes!r}")
    device = [_compiles(policy) for policy in policies]
    compiled = [tuple(row) for row in lineups if all(device[player] for player in row)]
    done: dict[tuple[int, ...], Match] = {}
    if compiled:
        done |= _on_device(env, policies, compiled, int(episodes), int(seed))
    for row in map(tuple, lineups):
        if row not in done:
            played = play(env, [policies[player] for player in row], int(episodes), int(seed))
            results = played.episodes
            done[row] = Match(
                row,
                played.rewards,
                np.array([float(e.steps) for e in results]),
                {name: np.array([e.terms[name] for e in results]) for name in env.terms},
                {n: np.array([e.metrics[n] for e in results]) for n in results[0].metrics},
            )
    return [done[tuple(row)] for row in lineups]


def _compiles(policy: Any) -> bool:
    """Whether a policy can play in the compiled loop: one that is not hashable cannot."""
    if not is_device_policy(policy):
        return False
    try:
        hash(split(policy)[0])
    except TypeError:
        return False
    return True


def _on_device(
    env: Env, policies: Sequence[Any], rows: list[tuple[int, ...]], episodes: int, seed: int
) -> dict[tuple[int, ...], Match]:
    rows = list(dict.fromkeys(rows))
    used = sorted({player for row in rows for player in row})
    places = {player: place for place, player in enumerate(used)}
    lineup, stacked = Lineup.of(
        [policies[player] for player in used],
        [[places[player] for player in row] for row in rows],
    )
    chunks = math.ceil(episodes * len(rows) / BATCH)
    size = math.ceil(episodes / chunks)
    program = _compile(env, lineup, size)
    numbers = np.minimum(np.arange(math.ceil(episodes / size) * size), episodes - 1)
    seeds = np.array([episode_seed(seed, e) for e in numbers.tolist()], np.uint32)
    parts = [
        jax.device_get(program(stacked, seeds[start : start + size]))
        for start in range(0, len(seeds), size)
    ]
    # [..., blocks, episodes], the filled up ones cut off.
    totals = jax.tree_util.tree_map(
        lambda *leaves: np.concatenate(
            [leaf.reshape(*leaf.shape[:-1], len(rows), size) for leaf in leaves], axis=-1
        )[..., :episodes].astype(np.float64),
        *parts,
    )
    return {
        row: Match(
            row,
            totals["returns"][:, m].T,
            totals["lengths"][m],
            {name: values[:, m].T for name, values in totals["terms"].items()},
            {name: values[m] for name, values in totals["metrics"].items()},
        )
        for m, row in enumerate(rows)
    }


@functools.lru_cache(maxsize=32)
def _compile(env: Env, lineup: Lineup, size: int) -> Any:
    """f(stacked arrays, seeds u32[size]) -> totals of each episode, [..., blocks * size]."""
    n, count = env.num_agents, len(lineup.players) * size

    def run(stacked: Any, seeds: Array) -> dict[str, Any]:
        keys = jnp.tile(jax.vmap(seed_key)(seeds), len(lineup.players))
        arranged = lineup.arrange(stacked)

        def add(totals: Any, made: Transition, playing: Array) -> Any:
            gained = {
                "returns": made.outcome.reward,
                "lengths": jnp.ones(count),
                "terms": made.outcome.terms,
                "metrics": made.outcome.metrics,
            }
            return jax.tree_util.tree_map(
                lambda total, gain: total + jnp.where(playing, gain, 0.0), totals, gained
            )

        zeros = functools.partial(jnp.zeros, dtype=jnp.float32)
        none = no_actions(env)
        idle = jnp.zeros((*none.shape, count), none.dtype)
        state = jax.eval_shape(env.batch_reset, keys)
        metrics = jax.eval_shape(env.batch_step, keys, state, idle)[1].metrics
        totals = {
            "returns": zeros((n, count)),
            "lengths": zeros(count),
            "terms": {name: zeros((n, count)) for name in env.terms},
            "metrics": {name: zeros(count) for name in metrics},
        }
        player = functools.partial(lineup.apply, env, arranged)
        memory = lineup.init(env, arranged, size)
        return play_episodes(env, player, memory, keys, totals, add)

    return jax.jit(run)


# ---- policies by name ----------------------------------------------------------------------------


def players(env: Env, given: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """The policies that `given` means, and a name for each: a seat's name with options
    (`"greedy:noise=0.2"`), a policy file (`"runs/a.safetensors"`), or a policy. Files are named by
    what tells them apart."""
    policies, names = [], []
    files = [i for i, one in enumerate(given) if _is_file(one)]
    for one in given:
        if _is_file(one):
            policies.append(seat("policy", env, file=str(one)))
            names.append(str(one))
        else:
            policy, name = seat_policy(env, one)
            policies.append(policy)
            names.append(name)
    paths = [list(PurePath(names[i]).with_suffix("").parts) for i in files]
    while len(paths) > 1 and all(len(p) > 1 for p in paths) and len({p[0] for p in paths}) == 1:
        paths = [p[1:] for p in paths]
    while len(paths) > 1 and all(len(p) > 1 for p in paths) and len({p[-1] for p in paths}) == 1:
        paths = [p[:-1] for p in paths]
    if len(paths) == 1:
        paths = [paths[0][-1:]]
    for i, parts in zip(files, paths, strict=True):
        names[i] = "/".join(parts)
    twice = {name for name in names if names.count(name) > 1}
    named = [f"{name} #{i}" if name in twice else name for i, name in enumerate(names, start=1)]
    return policies, named


def _is_file(given: Any) -> bool:
    return isinstance(given, PurePath) or (
        isinstance(given, str) and given.endswith(".safetensors") and ":file=" not in given
    )


# ---- one pair, or team ---------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What `evaluate` gives back; print it.

    Attributes:
        env, seed: what was played.
        names: of the policies, in the order of the seats; one that sits in several is named once.
        matches: one for each seat order.
    """

    env: Env
    seed: int
    names: tuple[str, ...]
    matches: tuple[Match, ...]

    def quantities(self, match: Match) -> dict[str, np.ndarray]:
        """f64[E] by name: the mean return of the agents, that of each policy's own agents where
        they differ, the length, the terms (the mean of the agents) and the metrics."""
        values = {"return": match.returns.mean(axis=1)}
        shared = all((m.returns == m.returns[:, :1]).all() for m in self.matches)
        if len(self.names) > 1 and not shared:
            for number, name in enumerate(self.names):
                own = [a for a, player in enumerate(match.players) if player == number]
                values[f"return of {name}"] = match.returns[:, own].mean(axis=1)
        values["length"] = match.lengths
        values |= {f"terms/{name}": v.mean(axis=1) for name, v in match.terms.items()}
        return values | {f"metrics/{name}": v for name, v in match.metrics.items()}

    @property
    def mean(self) -> dict[str, Estimate]:
        """Every quantity over all seat orders."""
        orders = [self.quantities(match) for match in self.matches]
        return {
            name: Estimate.of(np.mean([order[name] for order in orders], axis=0))
            for name in orders[0]
        }

    def _title(self, match: Match) -> str:
        return ", ".join(self.names[player] for player in match.players)

    def __str__(self) -> str:
        orders = [
            {name: Estimate.of(values) for name, values in self.quantities(match).items()}
            for match in self.matches
        ]
        header = ["mean of an episode", *(self._title(match) for match in self.matches)]
        if len(orders) > 1:
            header.insert(1, "all seat orders")
            orders.insert(0, self.mean)
        rows = [[name, *(order[name] for order in orders)] for name in orders[0]]
        count = len(self.matches[0].lengths)
        return (
            f"{described(self.env)}: {count} episode{'' if count == 1 else 's'} in each seat "
            f"order ({', '.join(self.env.agents)}), seed {self.seed}"
            f"\n\n{markdown(header, rows)}\n\n{INTERVAL}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        return {
            "environment": self.env.spec(),
            "seed": self.seed,
            "episodes": len(self.matches[0].lengths),
            "interval": INTERVAL,
            "mean": {name: value.to_dict() for name, value in self.mean.items()},
            "seat_orders": [
                {
                    "seats": [self.names[player] for player in match.players],
                    "mean": {
                        name: Estimate.of(values).to_dict()
                        for name, values in self.quantities(match).items()
                    },
                    "returns": match.returns.tolist(),
                }
                for match in self.matches
            ],
        }


def evaluate(env: Env, seats: Any, episodes: int = 100, seed: int = 0) -> Evaluation:
    """Play a policy or a team in all seat orders: in order `r` seat `s` plays agent
    `(s + r) % N`.

    Args:
        seats: one for all agents, or a sequence with one for each, of what `players` takes.

    Raises:
        ConfigError, SeatError, PolicyError: what was given makes no sense, or cannot play here.
    """
    n = env.num_agents
    if isinstance(seats, (str, PurePath)) or not isinstance(seats, Sequence):
        seats = [seats]
    if len(seats) not in (1, n):
        raise ConfigError(
            f"one policy for all agents or {n} are needed ({', '.join(env.agents)}), "
            f"{len(seats)} given"
        )
    numbers: dict[Any, int] = {}
    keys = [one if isinstance(one, (str, PurePath)) else id(one) for one in seats]
    for key in keys:
        numbers.setdefault(key, len(numbers))
    policies, names = players(env, [seats[keys.index(key)] for key in numbers])
    team = [numbers[key] for key in (keys * n if len(keys) == 1 else keys)]
    rows = [tuple(team[(a - r) % n] for a in range(n)) for r in range(n)]
    matches = play_matches(env, policies, list(dict.fromkeys(rows)), episodes, seed)
    return Evaluation(env, seed, tuple(names), tuple(matches))


def described(env: Env) -> str:
    """An environment in one line: the ids and the configuration that is not the default."""
    words: list[str] = []
    inner: Any = env
    while inner is not None:
        defaults = inspect.signature(type(inner)).parameters
        for name, value in inner.config().items():
            if name not in defaults or defaults[name].default != value:
                words.append(f"{name}={value}")
        words.insert(0, inner.id)
        inner = inner.env if "env" in inner.spec() else None
    return " ".join(words)


# ---- zero-shot: partners never met ---------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ZeroShot:
    """What `zero_shot` gives back; print it.

    Attributes:
        env, seed: what was played.
        name: the policy's. partners: theirs.
        returns: f64[partners, N, E], the policy's own, by the agent that it played while the
            partner played all others.
    """

    env: Env
    seed: int
    name: str
    partners: tuple[str, ...]
    returns: np.ndarray

    @property
    def mean(self) -> Estimate:
        """Over all partners and seats."""
        return Estimate.of(self.returns.mean(axis=(0, 1)))

    def _estimates(self) -> list[tuple[str, list[Estimate]]]:
        """For each partner, and for all of them: over all seats, then by seat."""
        parts = [*zip(self.partners, self.returns, strict=True), ("mean", self.returns.mean(0))]
        return [
            (name, [Estimate.of(values.mean(0)), *(Estimate.of(row) for row in values)])
            for name, values in parts
        ]

    def __str__(self) -> str:
        header = ["partner", "all seats", *(f"as {agent}" for agent in self.env.agents)]
        rows = [[name, *estimates] for name, estimates in self._estimates()]
        count = self.returns.shape[-1]
        return (
            f"{described(self.env)}: {self.name} with partners that it has not met, "
            f"{count} episode{'' if count == 1 else 's'} each, seed {self.seed}; its mean return"
            f"\n\n{markdown(header, rows)}\n\n{INTERVAL}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        *partners, (_, overall) = self._estimates()

        def by_seat(estimates: list[Estimate]) -> dict[str, Any]:
            named = zip(("all", *self.env.agents), estimates, strict=True)
            return {name: estimate.to_dict() for name, estimate in named}

        return {
            "environment": self.env.spec(),
            "seed": self.seed,
            "episodes": self.returns.shape[-1],
            "interval": INTERVAL,
            "policy": self.name,
            "mean": by_seat(overall),
            "partners": {name: by_seat(estimates) for name, estimates in partners},
        }


def zero_shot(
    env: Env,
    policy: Any,
    partners: Mapping[str, Any] | Sequence[Any] | None = None,
    episodes: int = 100,
    seed: int = 0,
) -> ZeroShot:
    """Seat a policy as each agent in turn, with one partner in all other seats.

    Args:
        policy: as `players` takes it.
        partners: the same, or by name; by default the environment's `held_out` ones.

    Raises:
        ConfigError, SeatError, PolicyError: what was given makes no sense, or cannot play here.
    """
    if env.num_agents < 2:
        raise ConfigError(f"{env!r} has one agent, and no seat for a partner")
    given = held_out(env) if partners is None else partners
    if not given:
        raise ConfigError("no partners are given")
    own, own_name = players(env, [policy])
    others, names = players(env, list(given.values()) if isinstance(given, Mapping) else given)
    policies = [*own, *others]
    rows = [
        tuple(0 if a == where else other for a in range(env.num_agents))
        for other in range(1, len(policies))
        for where in range(env.num_agents)
    ]
    matches = play_matches(env, policies, rows, episodes, seed)
    own_returns = [match.returns[:, match.players.index(0)] for match in matches]
    returns = np.reshape(own_returns, (len(policies) - 1, env.num_agents, -1))
    names = list(given) if isinstance(given, Mapping) else names
    return ZeroShot(env, seed, own_name[0], tuple(names), returns)


def held_out(env: Env) -> dict[str, str]:
    """The partners that a policy is evaluated with because it has not met them: seats by name."""
    inner: Any = env
    while "env" in inner.spec():
        inner = inner.env
    module = f"manyhands.baselines.bots.{inner.id}"
    found: dict[str, str] | None = None
    if importlib.util.find_spec(module) is not None:
        found = getattr(importlib.import_module(module), "HELD_OUT", None)
    if not found:
        raise ConfigError(
            f"{inner.id} has no held-out partners of its own; name the partners to evaluate with"
        )
    return found
