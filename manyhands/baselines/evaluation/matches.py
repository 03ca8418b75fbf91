"""Matches: episodes with known seeds, one policy for each agent.

Episode `e` of a match has the seed `episode_seed(seed, e)`: it is the episode that `play` plays,
and all matches of an evaluation share their seeds. Device policies play all matches in one compiled
loop, each match a block of neighbours in the batch. Policies that differ in nothing but arrays
(networks of one shape, greedy chefs of different skill) are one program, whose arrays are
arguments: other arrays do not compile again. A match with a host policy (a language model, a reader
of texts) goes through `play`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.batch import BatchView, Transition, play_episodes
from manyhands.core.config import whole
from manyhands.core.env import (
    Array,
    Env,
    agent_key,
    is_device_policy,
    seed_key,
)
from manyhands.core.episode import episode_seed
from manyhands.core.pack import no_actions
from manyhands.core.play import play
from manyhands.core.view import BudgetSpent

CONFIDENCE = 0.95
INTERVAL = "95% t-interval over seeds: mean ± t(0.975, n - 1) · s / √n"
NOBODY = -1  # in a line-up
BATCH = 4096  # environments at once: more do not run faster on a CPU, and need more memory
MOST_EPISODES = 1_000_000  # of a match: all of its episodes' numbers are held in memory


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
        illegal: f64[E, N], illegal answers of host policies.
        forfeits: f64[E, N], 1 where an agent forfeited; returns hold the price.
    """

    players: tuple[int, ...]
    returns: np.ndarray
    lengths: np.ndarray
    terms: dict[str, np.ndarray]
    metrics: dict[str, np.ndarray]
    illegal: np.ndarray
    forfeits: np.ndarray


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
    episodes = whole("episodes", episodes, 1, MOST_EPISODES)
    device = [_compiles(policy) for policy in policies]
    compiled = [tuple(row) for row in lineups if all(device[player] for player in row)]
    done: dict[tuple[int, ...], Match] = {}
    if compiled:
        done |= _on_device(env, policies, compiled, episodes, int(seed))
    for row in map(tuple, lineups):
        if row not in done:
            played = play(env, [policies[player] for player in row], episodes, int(seed))
            if played.stopped:
                raise BudgetSpent(f"a match is not complete: {played.stopped}")
            results = played.episodes
            done[row] = Match(
                row,
                played.rewards,
                np.array([float(e.steps) for e in results]),
                {name: np.array([e.terms[name] for e in results]) for name in env.terms},
                {n: np.array([e.metrics[n] for e in results]) for n in results[0].metrics},
                np.array([e.illegal for e in results], np.float64),
                np.array([[float(a in e.forfeits) for a in env.agents] for e in results]),
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
            np.zeros((episodes, env.num_agents)),
            np.zeros((episodes, env.num_agents)),
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
