"""Counterfactual regret minimisation: CFR, CFR+ and external-sampling MCCFR, compiled.

CFR is due to Zinkevich et al. ("Regret Minimization in Games with Incomplete Information", NIPS
2007), CFR+ to Tammelin ("Solving Large Imperfect Information Games Using CFR+", 2014), external
sampling to Lanctot et al. ("Monte Carlo Sampling for Regret Minimization in Extensive Games", NIPS
2009). As in OpenSpiel's solvers, updates alternate: the second agent responds to the first agent's
new policy within the same iteration.

- `cfr`: regret matching; the average policy weights each iteration by the agent's own reach.
- `cfr+`: regrets are clipped at zero after each update, and iteration t has weight t in the
average.
- `mccfr`: an update of an agent draws one deal and one action at each information set of the
  others, and tries all actions of its own. The average is taken over the agent's own information
  sets of the deal that was drawn.

An iteration works on the sequence form (see `tree.py`), not on the nodes of the tree: the immediate
value of a sequence is a weighted sum over the others' reach probabilities, to which the agent's own
later decisions are added, last ones first. Each of these is a fixed table of indices, so that an
iteration is a dozen small gathers, which XLA compiles into a single kernel inside one loop. All
computations use double precision: regret matching divides by sums that may cancel to exactly zero.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata

from manyhands.baselines.game_theory.policies import (
    PathLike,
    as_policy,
    expected_values,
    nash_conv,
    read,
    write,
)
from manyhands.baselines.game_theory.tree import Tree, unroll
from manyhands.core.env import Array, ConfigError, Env, episode_key_data, names_of, wrap_key

ALGORITHMS = ("cfr", "cfr+", "mccfr")
_SMALL = 8 << 20  # bytes of tables up to which an iteration is one kernel: Leduc has half a million


# ---- the tables of an iteration ------------------------------------------------------------------


@dataclass(frozen=True)
class _Shape:
    """The static configuration of the compiled program.

    Attributes:
        algorithm: one of `ALGORITHMS`.
        num_actions: A.
        levels: for each agent the first and last information set of each level, in the agent's own
            numbering.
        treedef, leaves: how the tables lie in a buffer of numbers of each kind (`_packed`); None
            where they are arrays of their own.
    """

    algorithm: str
    num_actions: int
    levels: tuple[tuple[tuple[int, int], ...], ...]
    treedef: Any = None
    leaves: tuple[tuple[str, tuple[int, ...]], ...] = ()


def _packed(tables: Any) -> tuple[Any, tuple[Any, ...], dict[str, np.ndarray]]:
    """The tables as one array of each dtype: XLA's single kernels crash on unused inputs (such as a
    table of one entry) and on empty ones; the joined arrays are neither."""
    leaves, treedef = jax.tree_util.tree_flatten(tables)
    kinds: dict[str, list[np.ndarray]] = {}
    for leaf in leaves:
        kinds.setdefault(leaf.dtype.str, []).append(leaf.ravel())
    buffers = {kind: np.concatenate(parts) for kind, parts in kinds.items()}
    return treedef, tuple((leaf.dtype.str, leaf.shape) for leaf in leaves), buffers


def _unpacked(shape: _Shape, buffers: dict[str, Array]) -> Any:
    """The tables, of the buffers that the program was given; traceable."""
    if shape.treedef is None:
        return buffers
    offsets, leaves = dict.fromkeys(buffers, 0), []
    for kind, size in shape.leaves:
        count = int(np.prod(size))
        part = jax.lax.slice(buffers[kind], (offsets[kind],), (offsets[kind] + count,))
        leaves.append(part.reshape(size))
        offsets[kind] += count
    return jax.tree_util.tree_unflatten(shape.treedef, leaves)


def _padded(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """i32[width, len(rows)]: each row as a column, filled up with -1."""
    table = np.full((max(map(len, rows), default=0), len(rows)), -1, np.int32)
    for i, row in enumerate(rows):
        table[: len(row), i] = row
    return table


def _tables(
    tree: Tree, infosets: Sequence[np.ndarray], ends: np.ndarray, payoffs: np.ndarray
) -> list[dict[str, Any]]:
    """For each agent, the index tables of an update over some information sets and ends.

    Args:
        infosets: for each agent, the global numbers of those that take part, by level.
        ends: i32[N, T], sequences at the ends; payoffs: f64[N, T]. Agents that never act are in
            none of the three.

    Returns:
        dicts of
        `past` i32[L, n A], for each sequence itself and the agent's sequences before it;
        `weight` f64[W, n A], payoffs of the ends after each sequence, and
        `others` i32[N - 1, W, n A], the sequences of the others there;
        `next`, a list with i32[C, ...] for each level: for each of its sequences, the information
        sets that come next, counted from the first of the next level. -1 fills up, and stands for
        the empty sequence. Where filling up would make the tables many times as large, `weight`
        f64[T], `others` i32[N - 1, T] and `end` i32[T], the sequences, are lists of the ends.
    """
    a, n = tree.num_actions, len(infosets)
    local = np.full(tree.empty + 1, -1, np.int64)  # of sequences, for each agent's own numbering
    for own in infosets:
        local[(own[:, None] * a + np.arange(a)).ravel()] = np.arange(len(own) * a)
    tables = []
    for agent, own in enumerate(infosets):
        size = len(own) * a
        before = local[tree.before[own]]
        past = [[s] for s in range(size)]
        after: list[list[int]] = [[] for _ in range(size)]
        for i, s in enumerate(before.tolist()):
            if s >= 0:
                after[s].append(i)
                for b in range(a):
                    past[i * a + b] = [i * a + b, *past[s]]
        level = tree.level[own]
        bounds = np.searchsorted(level, np.arange(level.max(initial=-1) + 2))
        following = []
        for first, last in itertools.pairwise(bounds):
            of_level = after[first * a : last * a]
            following.append(_padded([[i - last for i in row] for row in of_level]))
        acted = np.flatnonzero(ends[agent] != tree.empty)
        mine = local[ends[agent, acted]]
        order = np.argsort(mine, kind="stable")
        mine, acted = mine[order], acted[order]
        count = np.bincount(mine, minlength=size)
        place = np.arange(len(mine)) - np.repeat(np.cumsum(count) - count, count)
        weight = payoffs[agent, acted]
        other_ends = local[np.delete(ends, agent, axis=0)[:, acted]].astype(np.int32)
        table = {"past": _padded(past), "next": following, "legal": tree.legal[own]}
        width = int(count.max(initial=0))
        if width * size < max(_SMALL // 8, 3 * len(mine)):
            table["weight"] = np.zeros((width, size))
            table["weight"][place, mine] = weight
            table["others"] = np.full((n - 1, width, size), -1, np.int32)
            table["others"][:, place, mine] = other_ends
        else:
            table |= {"weight": weight, "others": other_ends, "end": mine.astype(np.int32)}
        tables.append(table)
    return tables


def _whole(tree: Tree, agents: Sequence[int]) -> tuple[list[dict[str, Any]], Any]:
    """The tables of an update over the whole tree, and the levels."""
    everything = [np.arange(tree.num_infosets)[tree.infosets(p)] for p in agents]
    sequences, payoffs = tree.merged
    levels = tuple(
        tuple((s.start - int(tree.first[p]), s.stop - int(tree.first[p])) for s in tree.levels(p))
        for p in agents
    )
    return _tables(tree, everything, sequences[agents], payoffs[agents]), levels


def _by_deal(tree: Tree, agents: Sequence[int]) -> tuple[dict[str, Any], Any]:
    """The tables of an update over a single deal, for all deals (first axis), and the levels.

    Deals differ in which information sets they can lead to, and may in how many: each level is as
    wide as in the widest deal. Besides what `_tables` gives there is `here` i32[D, n], the agent's
    information sets in the deal.
    """
    deal_of_end = tree.deal[tree.ends]
    inner = tree.infoset >= 0
    pairs = np.unique(np.stack([tree.deal[inner], tree.infoset[inner]]), axis=1)
    of_deal = np.split(pairs[1], np.searchsorted(pairs[0], np.arange(1, len(tree.deals))))
    own = [[i[tree.owner[i] == p] for i in of_deal] for p in agents]
    depth = [int(tree.level[tree.infosets(p)].max(initial=-1)) + 1 for p in agents]
    widths = [
        [max(int((tree.level[i] == level).sum()) for i in own[k]) for level in range(depth[k])]
        for k in range(len(agents))
    ]
    levels = tuple(
        tuple(zip(np.cumsum([0, *w])[:-1].tolist(), np.cumsum(w).tolist(), strict=True))
        for w in widths
    )
    deals = []
    for d in range(len(tree.deals)):
        here = deal_of_end == d
        sets = [of_agent[d] for of_agent in own]
        payoffs = tree.payoffs[agents][:, here]
        tables = _tables(tree, sets, tree.sequences[agents][:, here], payoffs)
        deals.append([_widened(tree, k, tables[k], sets, levels) for k in range(len(agents))])
    stacked = []
    for k, agent in enumerate(agents):
        joined: dict[str, Any] = {}
        for name in deals[0][k]:
            entries = [deal[k][name] for deal in deals]
            if name == "next":
                joined[name] = [
                    _stacked([entry[level] for entry in entries]) for level in range(depth[k])
                ]
            else:
                joined[name] = _stacked(entries)
        joined["here"] -= np.where(joined["here"] < 0, 0, tree.first[agent]).astype(np.int32)
        joined["legal"] = tree.legal[tree.infosets(agent)]
        stacked.append(joined)
    return {"agents": stacked, "chances": np.cumsum(tree.deals)}, levels


def _widened(
    tree: Tree, agent: int, table: dict[str, Any], sets: list[np.ndarray], levels: Any
) -> dict[str, Any]:
    """One deal's tables of one agent, with the columns where the widest deal has them."""
    a = tree.num_actions

    def columns(p: int) -> np.ndarray:
        """The wide number of each of agent p's information sets."""
        level = tree.level[sets[p]]
        begin = np.array([first for first, _ in levels[p]], np.int64)
        rank = np.arange(len(level)) - np.searchsorted(level, level)
        return begin[level] + rank

    def renamed(index: np.ndarray, wide: np.ndarray) -> np.ndarray:
        """Sequences by their wide numbers."""
        if not len(wide):
            return index
        return np.where(index < 0, -1, wide[index // a] * a + index % a).astype(np.int32)

    wide = columns(agent)
    size = levels[agent][-1][1] if levels[agent] else 0
    at = (wide[:, None] * a + np.arange(a)).ravel()

    def spread(values: np.ndarray, fill: Any) -> np.ndarray:
        result = np.full((*values.shape[:-1], size * a), fill, values.dtype)
        result[..., at] = values
        return result

    others = table["others"].copy()
    for k, other in enumerate(p for p in range(len(sets)) if p != agent):
        others[k] = renamed(others[k], columns(other))
    following, level = [], tree.level[sets[agent]]
    for k, (first, last) in enumerate(levels[agent]):
        entries = table["next"][k] if k < len(table["next"]) else np.zeros((0, 0), np.int32)
        result = np.full((len(entries), (last - first) * a), -1, np.int32)
        # Ranks within the next level are the same in both numberings.
        result[:, : int((level == k).sum()) * a] = entries
        following.append(result)
    here = np.full(size, -1, np.int32)
    here[wide] = sets[agent]
    return {
        "past": spread(renamed(table["past"], wide), -1),
        "weight": spread(table["weight"], 0.0),
        "others": spread(others, -1),
        "next": following,
        "here": here,
    }


def _stacked(entries: list[np.ndarray]) -> np.ndarray:
    """Arrays that differ in length along the axis before the last, as one, filled up."""
    if entries[0].ndim == 1:
        return np.stack(entries)
    longest = max(entry.shape[-2] for entry in entries)
    fill = 0 if entries[0].dtype == np.float64 else -1
    result = [
        np.pad(
            entry,
            [*[(0, 0)] * (entry.ndim - 2), (0, longest - entry.shape[-2]), (0, 0)],
            constant_values=fill,
        )
        for entry in entries
    ]
    return np.stack(result)


# ---- an iteration --------------------------------------------------------------------------------


def _take(values: Array, index: Array, fill: float) -> Array:
    """values[index], and `fill` where the index is -1."""
    found = values.at[jnp.maximum(index, 0)].get(mode="promise_in_bounds")
    return jnp.where(index >= 0, found, fill)


def _matched(regrets: Array, legal: Array) -> Array:
    """Regret matching: probabilities proportional to positive regrets, uniform if there are
    none."""
    positive = jnp.where(legal, jnp.maximum(regrets, 0.0), 0.0)
    total = positive.sum(axis=-1, keepdims=True)
    even = legal / jnp.maximum(legal.sum(axis=-1, keepdims=True), 1)
    return jnp.where(total > 0, positive / jnp.where(total > 0, total, 1.0), even)


def _reach(policy: Array, table: dict[str, Any]) -> Array:
    """f64[n A]: the agent's own reach probability of each of its sequences."""
    flat = policy.reshape(-1)
    product = jnp.ones(flat.shape)
    for step in table["past"]:
        product = product * _take(flat, step, 1.0)
    return product


def _regrets(policy: Array, xs: list[Array], table: dict[str, Any], levels: Any) -> Array:
    """f64[n, A]: the counterfactual regret of each action against `policy`.

    Args:
        xs: the reach of the others, in order.
    """
    a = policy.shape[-1]
    product = table["weight"]
    for x, index in zip(xs, table["others"], strict=True):
        product = product * _take(x, index, 1.0)
    if "end" in table:
        size = policy.size
        direct = jax.ops.segment_sum(product, table["end"], size, indices_are_sorted=True)
    else:
        direct = product.sum(axis=0)
    parts: list[Array] = []
    value = jnp.zeros(0)
    for (first, last), following in reversed(list(zip(levels, table["next"], strict=True))):
        gains = direct[first * a : last * a]
        for index in following:
            gains = gains + _take(value, index, 0.0)
        gains = gains.reshape(-1, a)
        value = (policy[first:last] * gains).sum(axis=1)
        parts.insert(0, gains - value[:, None])
    return jnp.concatenate(parts) if parts else jnp.zeros((0, a))


def _added(total: Array, here: Array, allowed: Array, values: Array) -> Array:
    """`total` with `values` added in the rows `here`, where allowed: one by one, since a scatter
    cannot be part of a single kernel."""
    values = jnp.where(allowed, values, 0.0)

    def add(i: Array, total: Array) -> Array:
        row = jnp.maximum(here[i], 0)
        old = jax.lax.dynamic_slice_in_dim(total, row, 1)
        return jax.lax.dynamic_update_slice_in_dim(total, old + values[i], row, 0)

    return jax.lax.fori_loop(0, len(here), add, total)


def _iterate(
    shape: _Shape, tables: Any, time: Array, regrets: Any, sums: Any, policies: Any, xs: Any
) -> Any:
    """One iteration of CFR or CFR+."""
    plus = shape.algorithm == "cfr+"
    regrets, sums, policies, xs = list(regrets), list(sums), list(policies), list(xs)
    time = time + 1
    for p, (table, levels) in enumerate(zip(tables, shape.levels, strict=True)):
        others = [x for q, x in enumerate(xs) if q != p]
        gained = jnp.where(table["legal"], _regrets(policies[p], others, table, levels), 0.0)
        sums[p] = sums[p] + (time if plus else 1.0) * xs[p].reshape(gained.shape)
        regrets[p] = jnp.maximum(regrets[p] + gained, 0.0) if plus else regrets[p] + gained
        policies[p] = _matched(regrets[p], table["legal"])
        xs[p] = _reach(policies[p], table)
    return time, tuple(regrets), tuple(sums), tuple(policies), tuple(xs)


def _sample(
    shape: _Shape, tables: Any, time: Array, regrets: Any, sums: Any, key_data: Array
) -> Any:
    """One iteration of external-sampling MCCFR: one traversal for each agent."""
    regrets, sums = list(regrets), list(sums)
    key = jax.random.fold_in(wrap_key(key_data), time.astype(jnp.uint32))
    time = time + 1
    count = [levels[-1][1] if levels else 0 for levels in shape.levels]
    for p, levels in enumerate(shape.levels):
        draws = jax.random.uniform(jax.random.fold_in(key, p), (1 + sum(count),), jnp.float64)
        deal = jnp.minimum(jnp.sum(tables["chances"] <= draws[0]), len(tables["chances"]) - 1)
        xs, begin = [], 1
        for q, agent in enumerate(tables["agents"]):
            rows: dict[str, Any] = {
                name: [part[deal] for part in entry] if name == "next" else entry[deal]
                for name, entry in agent.items()
                if name != "legal"
            }
            here = jnp.maximum(rows["here"], 0)
            legal = agent["legal"][here] & (rows["here"] >= 0)[:, None]
            current = _matched(regrets[q][here], legal)
            if q == p:
                policy, table, allowed = current, rows, legal
            else:
                # The first action whose sum exceeds the draw, among those with any probability.
                total = jnp.cumsum(current, axis=1)
                draw = draws[begin : begin + count[q], None] * total[:, -1:]
                chosen = jnp.sum(total <= draw, axis=1, keepdims=True)
                xs.append(_reach(jnp.arange(shape.num_actions) == chosen, rows).astype(jnp.float64))
            begin += count[q]
        gained = _regrets(policy, xs, table, levels)
        x = _reach(policy, table).reshape(gained.shape)
        regrets[p] = _added(regrets[p], table["here"], allowed, gained)
        sums[p] = _added(sums[p], table["here"], allowed, x)
    return time, tuple(regrets), tuple(sums)


@functools.lru_cache(maxsize=32)
def _program(shape: _Shape, one_kernel: bool) -> Callable[..., Any]:
    """`run(buffers, key data, carry, count)`, compiled once for any number of iterations."""

    def run(buffers: Any, key_data: Array, carry: Any, count: Array) -> Any:
        if shape.algorithm == "mccfr":
            # The key is in the carry, for it is of use only where something is drawn.
            one = jax.jit(
                lambda buffers, carry: (
                    *_sample(shape, _unpacked(shape, buffers), *carry),
                    carry[-1],
                )
            )
            carry = (*carry, key_data)
        else:
            tables = _unpacked(shape, buffers)
            policies = tuple(map(_matched, carry[1], [table["legal"] for table in tables]))
            carry = (*carry, policies, tuple(map(_reach, policies, tables)))
            one = jax.jit(lambda buffers, carry: _iterate(shape, _unpacked(shape, buffers), *carry))

        def body(_: Any, carry: Any) -> Any:
            done = one(buffers, carry)
            if not one_kernel:
                return done
            # As in `core/kernel.py`: a kernel a call, instead of one for every few operations.
            return set_xla_metadata(done, xla_cpu_small_call="true", inlineable="false")

        return jax.lax.fori_loop(0, count, body, carry)[:3]

    return jax.jit(run)


@contextlib.contextmanager
def _double() -> Iterator[None]:
    """Double precision, on the CPU, for this thread and this block alone."""
    with jax.enable_x64(True), jax.default_device(jax.local_devices(backend="cpu")[0]):
        yield


class Solver:
    """Regret minimisation on a tree; `average()` is the current average policy.

    Args:
        algorithm: `"cfr"`, `"cfr+"` or `"mccfr"`.
        seed: of the draws of `"mccfr"`; the other two draw nothing.

    Attributes:
        iteration: iterations made.
        regrets, sums: f64[I, A], cumulative regrets and the sums of the average policy.
    """

    def __init__(self, tree: Tree, algorithm: str = "cfr+", seed: int = 0):
        if algorithm not in ALGORITHMS:
            raise ConfigError(f"algorithm is {names_of(ALGORITHMS)}, given {algorithm!r}")
        self.tree, self.algorithm, self.seed = tree, algorithm, int(seed)
        self.iteration = 0
        self.regrets = np.zeros(tree.legal.shape)
        self.sums = np.zeros(tree.legal.shape)
        self._agents = [p for p in range(tree.num_agents) if tree.first[p] < tree.first[p + 1]]
        tables, levels = (_by_deal if algorithm == "mccfr" else _whole)(tree, self._agents)
        # A single kernel has one thread, and copies what it slices out of the packed tables.
        size = sum(leaf.nbytes for leaf in jax.tree_util.tree_leaves(tables))
        self._one_kernel = size < _SMALL
        self._shape, self._buffers = _Shape(algorithm, tree.num_actions, levels), tables
        if self._one_kernel:
            treedef, leaves, self._buffers = _packed(tables)
            self._shape = dataclasses.replace(self._shape, treedef=treedef, leaves=leaves)

    def run(self, iterations: int) -> None:
        """Make so many iterations more. How they are divided into calls makes no difference."""
        own = [self.tree.infosets(p) for p in self._agents]
        carry = (
            np.float64(self.iteration),
            tuple(self.regrets[rows] for rows in own),
            tuple(self.sums[rows] for rows in own),
        )
        with _double():
            key_data = episode_key_data(self.seed)
            order = self._buffers, key_data, carry, np.int64(iterations)
            try:
                done = _program(self._shape, self._one_kernel)(*order)
            except jax.errors.JaxRuntimeError:
                if not self._one_kernel:
                    raise
                self._one_kernel = False  # this XLA cannot
                done = _program(self._shape, False)(*order)
            _, regrets, sums = jax.device_get(done)
        parts = self.iteration + iterations, np.concatenate(regrets), np.concatenate(sums)
        self.iteration, self.regrets, self.sums = parts  # all, or none if interrupted before

    def average(self) -> np.ndarray:
        """f64[I, A]: the average policy, which approaches equilibrium in two-player games."""
        total = self.sums.sum(axis=1, keepdims=True)
        even = self.tree.legal / self.tree.legal.sum(axis=1, keepdims=True)
        return np.where(total > 0, self.sums / np.where(total > 0, total, 1), even)

    def current(self) -> np.ndarray:
        """f64[I, A]: the policy of the next iteration."""
        with _double():
            return np.asarray(_matched(jnp.asarray(self.regrets), jnp.asarray(self.tree.legal)))

    def save(self, path: PathLike, **notes: Any) -> None:
        """Write the checkpoint for `load`, and `notes` (JSON-ready)."""
        head = {
            "env": self.tree.env.spec(),
            "tree": self.tree.digest,
            "algorithm": self.algorithm,
            "seed": self.seed,
            "iteration": self.iteration,
            "notes": notes,
        }
        write(path, "checkpoint", {"regrets": self.regrets, "sums": self.sums}, head)

    def load(self, path: PathLike) -> dict[str, Any]:
        """Continue from a checkpoint of the same run; returns its notes.

        Raises:
            ConfigError: it is no checkpoint, or one of another game, algorithm or seed.
        """
        tensors, head = read(path, "checkpoint")
        mine = {
            "env": self.tree.env.spec(),
            "tree": self.tree.digest,
            "algorithm": self.algorithm,
            "seed": self.seed,
        }
        for name, value in mine.items():
            if head.get(name) != value:
                raise ConfigError(
                    f"{path} is of another run: its {name} is {json.dumps(head.get(name))}, "
                    f"this run's is {json.dumps(value)}"
                )
        iteration = head.get("iteration")
        arrays = [tensors.get(name) for name in ("regrets", "sums")]
        fit = all(
            array is not None
            and array.shape == self.tree.legal.shape
            and array.dtype == np.float64
            and np.isfinite(array).all()
            for array in arrays
        )
        if not fit or not isinstance(iteration, int) or iteration < 0:
            raise ConfigError(f"{path} holds no whole checkpoint")
        self.iteration, (self.regrets, self.sums) = iteration, arrays  # type: ignore[assignment]
        notes = head.get("notes")
        return notes if isinstance(notes, dict) else {}


# ---- a run with files ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Solution:
    """The result of `solve`.

    Attributes:
        tree, policy: the game, and the average policy, f64[I, A].
        algorithm, seed, iterations: how it was found.
        values: f64[N], the expected value of each agent when all play it.
        nash_conv: the sum of the agents' gains by unilateral best responses.
        exploitability: `nash_conv` over the number of agents.
        curve: (iteration, exploitability) at some iterations, the last one included.
        speed: iterations a second in this call, without evaluations; None if there were none.
    """

    tree: Tree
    policy: np.ndarray
    algorithm: str
    seed: int
    iterations: int
    values: np.ndarray
    nash_conv: float
    exploitability: float
    curve: tuple[tuple[int, float], ...]
    speed: float | None

    def __str__(self) -> str:
        tree = self.tree
        lines = [
            f"{tree.env!r}: {tree.num_infosets:,} information sets, "
            f"{self.iterations:,} iterations of {self.algorithm}"
            + (f" ({self.speed:,.0f} a second)" if self.speed else "")
        ]
        for agent, value in zip(tree.env.agents, self.values, strict=True):
            lines.append(f"  {agent} earns {value:+.6f} a hand")
        lines.append(f"  NashConv {self.nash_conv:.3g}, exploitability {self.exploitability:.3g}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without machine-dependent values."""
        tree = self.tree
        rows: dict[str, dict[str, list[float]]] = {agent: {} for agent in tree.env.agents}
        for owner, name, row in zip(tree.owner, tree.names, self.policy, strict=True):
            rows[tree.env.agents[owner]][name] = row.tolist()
        return {
            "env": tree.env.spec(),
            "algorithm": self.algorithm,
            "seed": self.seed,
            "iterations": self.iterations,
            "values": dict(zip(tree.env.agents, self.values.tolist(), strict=True)),
            "nash_conv": self.nash_conv,
            "exploitability": self.exploitability,
            "curve": [list(point) for point in self.curve],
            "policy": rows,
        }


def _evaluated_after(iteration: int) -> int:
    """The next iteration at which the curve has a point: eight in each power of ten."""
    k = 0
    while (point := round(10 ** (k / 8))) <= iteration:
        k += 1
    return point


def solve(
    env: Env,
    algorithm: str = "cfr+",
    iterations: int = 1000,
    *,
    seed: int = 0,
    out: PathLike | None = None,
    resume: bool = False,
    progress: bool = False,
) -> Solution:
    """Solve a game.

    Args:
        iterations: in all, those before a resumption included.
        out: a folder for `policy.safetensors` (which the seat `table` plays), `result.json`,
            `curve.png` and `checkpoint.safetensors`.
        resume: continue from the checkpoint in `out`, if there is one. The policy that comes out is
            the same, byte for byte, as without the interruption.
        progress: show a bar.

    Raises:
        ConfigError: the game has no small tree, or the folder holds something else.
    """
    if isinstance(iterations, bool) or not isinstance(iterations, int) or iterations < 1:
        raise ConfigError(f"iterations is a whole number from 1, given {iterations!r}")
    if resume and out is None:
        raise ConfigError("resume=True needs the folder `out` with the checkpoint")
    folder = None if out is None else Path(out)
    checkpoint = None if folder is None else folder / "checkpoint.safetensors"
    if checkpoint is not None and checkpoint.exists() and not resume:
        raise ConfigError(
            f"{folder} holds a run already; resume it (resume=True, --resume), or name another "
            "folder"
        )
    solver = Solver(unroll(env), algorithm, seed)
    curve: list[tuple[int, float]] = []
    if checkpoint is not None and checkpoint.exists():
        curve = [(int(i), float(e)) for i, e in solver.load(checkpoint).get("curve", [])]
        if solver.iteration > iterations:
            raise ConfigError(
                f"{checkpoint} has made {solver.iteration} iterations already, {iterations} asked"
            )
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    begun, seconds, saved, chunk = solver.iteration, 0.0, time.monotonic(), 1

    def evaluate() -> None:
        """Add to the curve, where it has a point."""
        here = solver.iteration
        if _evaluated_after(here - 1) == here and (not curve or curve[-1][0] < here):
            gap = nash_conv(solver.tree, solver.average()) / env.num_agents
            curve.append((here, gap))
            bar.note(gap)

    with _Bar(algorithm, iterations, begun, progress) as bar:
        try:
            if begun:
                evaluate()  # it may have been interrupted just before
            while solver.iteration < iterations:
                point = _evaluated_after(solver.iteration)
                count = min(point, iterations) - solver.iteration
                count = min(count, chunk)
                start = time.perf_counter()
                solver.run(count)
                took = time.perf_counter() - start
                # The first call compiles. The others are long enough to cost nothing, and short
                # enough to be interrupted.
                if solver.iteration - count > begun:
                    seconds += took
                chunk = max(1, min(int(count * 0.3 / max(took, 1e-6)), 4 * chunk, 2**30))
                evaluate()
                bar.at(solver.iteration)
                if checkpoint is not None and time.monotonic() > saved + 10:
                    solver.save(checkpoint, curve=curve)
                    saved = time.monotonic()
        finally:
            if checkpoint is not None and solver.iteration > begun:
                solver.save(checkpoint, curve=curve)
    policy = solver.average()
    gap = nash_conv(solver.tree, policy)
    last = (solver.iteration, gap / env.num_agents)
    solution = Solution(
        tree=solver.tree,
        policy=policy,
        algorithm=algorithm,
        seed=solver.seed,
        iterations=solver.iteration,
        values=expected_values(solver.tree, policy),
        nash_conv=gap,
        exploitability=last[1],
        curve=tuple(curve) if curve and curve[-1][0] == last[0] else (*curve, last),
        speed=(solver.iteration - begun - 1) / seconds if seconds else None,
    )
    if folder is not None:
        notes = {"algorithm": algorithm, "iterations": solver.iteration}
        as_policy(solver.tree, policy).save(folder / "policy.safetensors", **notes)
        text = json.dumps(solution.to_dict(), indent=1)
        (folder / "result.json").write_text(text + "\n")
        plot([solution], folder / "curve.png")
    return solution


def plot(solutions: Sequence[Solution], path: PathLike) -> None:
    """Exploitability against iterations as a picture."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigError('the plot needs matplotlib: pip install "manyhands[train]"') from error
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    games = {solution.tree.env for solution in solutions}
    for solution in solutions:
        game, points = solution.tree.env, np.array(solution.curve)
        label = solution.algorithm if len(games) == 1 else f"{game!r}, {solution.algorithm}"
        axes.loglog(points[:, 0], np.maximum(points[:, 1], 1e-16), marker=".", label=label)
    if len(games) == 1:
        axes.set_title(repr(game), fontsize="medium")
    axes.set_xlabel("iterations")
    axes.set_ylabel("exploitability (chips a hand)")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=110, metadata={"Software": None})


class _Bar:
    """A progress bar, or nothing."""

    def __init__(self, name: str, total: int, done: int, shown: bool):
        self._progress = None
        if shown:
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            self._progress = Progress(
                TextColumn(name),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("exploitability {task.fields[gap]}"),
            )
            self._task = self._progress.add_task(name, total=total, completed=done, gap="…")

    def __enter__(self) -> _Bar:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def at(self, iteration: int) -> None:
        if self._progress is not None:
            self._progress.update(self._task, completed=iteration)

    def note(self, gap: float) -> None:
        if self._progress is not None:
            self._progress.update(self._task, gap=f"{gap:.3g}")
