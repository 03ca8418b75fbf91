"""The tree of what may follow a state: every legal action, forked in batches on the device."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from manyhands.baselines.search.expand import Expander, Playouts, Value, device_seat, expander
from manyhands.core.config import number, one_of, whole
from manyhands.core.env import ConfigError, Env, episode_key_data, shorten
from manyhands.core.pack import restore, snapshot

BACKUPS = ("best", "team", "mean")
_BLOCK = 256  # forks in one compiled call
_CHUNK = 4096  # forks that are made before equal states are looked for


@dataclasses.dataclass(frozen=True, eq=False)
class Forks:
    """The states that follow one, as arrays: M nodes, E edges, N agents, A actions.

    Node 0 is the state given; nodes of depth `d` are `offsets[d]` to `offsets[d + 1]`. An edge is
    one step: of all agents' actions, under one key.

    Attributes:
        env: the environment.
        offsets: i64[depths + 1].
        depth: i32[M].
        parent: i32[M], the edge that first led here; -1 at the root.
        source, target: i32[E], nodes.
        actions: i32[E, N], what was played; `env.noop` for agents that did not act.
        chance: i32[E], the number of the key.
        rewards: f32[E, N].
        terminated, truncated: bool[E, N], of the step.
        over: bool[M], whether the episode is over here for all agents.
        legal: bool[M, N, A]; acting: bool[M, N].
        values: f64[M, N], what follows the node is worth to each agent (`tree(backup=)`).
        complete: whether nothing was left out for the limit of nodes.
    """

    env: Env
    offsets: np.ndarray
    depth: np.ndarray
    parent: np.ndarray
    source: np.ndarray
    target: np.ndarray
    actions: np.ndarray
    chance: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    over: np.ndarray
    legal: np.ndarray
    acting: np.ndarray
    values: np.ndarray
    complete: bool
    _expander: Expander
    _rows: np.ndarray

    def __len__(self) -> int:
        return len(self.depth)

    def state(self, node: int) -> Any:
        """The state of a node, as NumPy arrays."""
        return self._expander.state(self._rows[node])

    def snapshot(self, node: int) -> bytes:
        """The state of a node as bytes, to fork from."""
        return snapshot(self.env, self.state(node))

    def edges(self, node: int) -> np.ndarray:
        """The numbers of the edges that leave a node."""
        return np.flatnonzero(self.source == node)

    def line(self, node: int) -> list[int]:
        """The edges from the root to a node, along `parent`."""
        found: list[int] = []
        while (edge := int(self.parent[node])) >= 0:
            found.append(edge)
            node = int(self.source[edge])
        return found[::-1]

    def action_values(self, node: int = 0) -> dict[tuple[int, ...], np.ndarray]:
        """Joint actions of a node -> f64[N], the mean over its keys of reward and value after."""
        sums: dict[tuple[int, ...], list[np.ndarray]] = {}
        for edge in self.edges(node):
            worth = self.rewards[edge] + self.values[self.target[edge]]
            sums.setdefault(tuple(self.actions[edge].tolist()), []).append(worth)
        return {actions: np.mean(worth, axis=0) for actions, worth in sums.items()}

    def __repr__(self) -> str:
        cut = "" if self.complete else ", cut at the limit"
        return (
            f"Forks of {self.env!r}: {len(self.depth):,} nodes, {len(self.source):,} edges, "
            f"depth {len(self.offsets) - 2}{cut}"
        )


def tree(
    env: Env,
    state: Any,
    depth: int,
    *,
    agent: str | int | None = None,
    partners: Any = "random",
    chances: int = 1,
    seed: int = 0,
    merge: bool = True,
    max_nodes: int = 100_000,
    value: Value | Playouts | None = None,
    backup: str | None = None,
    discount: float = 1.0,
) -> Forks:
    """All that may follow `state` in `depth` steps, depth by depth, with batched compiled calls.

    Args:
        env: an environment with `Discrete` actions.
        state: a state, or a snapshot.
        depth: steps, from 1.
        agent: fork on the actions of this agent alone; the others are played by `partners`, a
            device policy or its name, whose draws come from the keys. None: all joint legal
            actions of those that act.
        chances, seed: under how many keys each action is forked, and the seed of the keys: chance
            `k` of a step is the same for all forks of a depth. 1 is all there is where steps take
            nothing from their key.
        merge: make one node of equal states of one depth (equal by `fingerprint`): the tree becomes
            a graph, whose edges are all steps.
        max_nodes: no step is made that could exceed it; `Forks.complete` is then False.
        value: what the states at the edge of the tree are worth, f(env, states) -> f32[N, B], or
            `Playouts`; None: 0.
        backup: how values of nodes follow from those after them: "best": whoever acts takes its own
            best action (max^n, Luckhardt & Irani 1986; for two sides of a zero-sum game minimax);
            "team": the action with the best mean of all agents' values; "mean": the mean of all
            actions. The keys are averaged. None: "best" where one agent acts at a time or `agent`
            is given, else "team".
        discount: of a step, from 0 to 1.

    Raises:
        ConfigError: an option is wrong; "best" was asked for where several act at once.
        SnapshotError: `state` is no snapshot of this environment.
    """
    depth = whole("depth", depth, 1)
    chances = whole("chances", chances, 1)
    max_nodes = whole("max_nodes", max_nodes, 1)
    discount = number("discount", discount, 0, 1)
    if backup is not None:
        one_of("backup", backup, BACKUPS)
    if isinstance(state, (bytes, bytearray, memoryview)):
        state = restore(env, bytes(state))
    own = None if agent is None else env.index(agent)
    others = {}
    if own is not None:
        policy = device_seat(env, partners)
        others = {i: policy for i in range(env.num_agents) if i != own}
    forks = expander(env, others, value, block=_BLOCK)
    growth = _Growth(forks, own, chances, merge, max_nodes)
    return growth.run(state, depth, seed, backup, discount)


class _Growth:
    def __init__(
        self, expander: Expander, own: int | None, chances: int, merge: bool, max_nodes: int
    ):
        self.expander, self.own, self.chances = expander, own, chances
        self.merge, self.max_nodes = merge, max_nodes
        self.env = expander.env

    def run(self, state: Any, depth: int, seed: int, backup: str | None, discount: float) -> Forks:
        expander, n = self.expander, self.env.num_agents
        root = expander.row(state)[None]
        first = expander.look(root, episode_key_data(seed)[None])
        nodes: dict[str, list[np.ndarray]] = {
            "rows": [root],
            "legal": [first.legal],
            "acting": [first.acting],
            "leaf": [first.value],
            "over": [np.logical_not(np.any(first.acting, axis=1, keepdims=False))],
            "parent": [np.full(1, -1, np.int32)],
        }
        names = "source target actions chance rewards terminated truncated"
        edges: dict[str, list[np.ndarray]] = {name: [] for name in names.split()}
        offsets, complete, made = [0, 1], True, 0
        for level in range(depth):
            begin, end = offsets[-2], offsets[-1]
            forks = list(itertools.islice(self._forks(nodes, begin, end), self.max_nodes + 1))
            if not forks:
                break
            if end + len(forks) * self.chances > self.max_nodes:
                complete = False
                break
            known: dict[bytes, int] = {}
            new: list[np.ndarray] = []
            fresh = end
            for part in _chunks(forks, max(1, _CHUNK // self.chances)):
                source = np.repeat([at for at, _ in part], self.chances).astype(np.int32)
                actions = np.repeat([moves for _, moves in part], self.chances, axis=0)
                chance = np.tile(np.arange(self.chances, dtype=np.int32), len(part))
                keys = _keys(seed, level, self.chances)[chance]
                rows = nodes["rows"][-1][source - begin]
                found = expander.step(rows, actions.astype(np.int32), keys)
                target = np.empty(len(source), np.int32)
                kept = []
                for k, key in enumerate(expander.keys(found.rows)):
                    if self.merge and key in known:
                        target[k] = known[key]
                        continue
                    target[k] = known[key] = fresh
                    fresh += 1
                    kept.append(k)
                new.append(found.rows[kept])
                for name, values in (
                    ("legal", found.legal),
                    ("acting", found.acting),
                    ("leaf", found.value),
                    ("over", found.over),
                    ("parent", np.arange(made, made + len(source), dtype=np.int32)),
                ):
                    nodes[name].append(values[kept])
                made += len(source)
                for name, values in (
                    ("source", source),
                    ("target", target),
                    ("actions", self._played(nodes, source, actions)),
                    ("chance", chance),
                    ("rewards", found.reward),
                    ("terminated", found.terminated),
                    ("truncated", found.truncated),
                ):
                    edges[name].append(values)
            nodes["rows"].append(np.concatenate(new))
            offsets.append(fresh)
        arrays = {
            name: np.concatenate(parts) if parts else _none(name, n)
            for name, parts in edges.items()
        }
        whole_nodes = {name: np.concatenate(parts) for name, parts in nodes.items()}
        leaf, rows = whole_nodes.pop("leaf"), whole_nodes.pop("rows")
        numbers = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)).astype(np.int32)
        acting = whole_nodes["acting"]
        values = self._values(arrays, offsets, acting, leaf, backup, discount)
        return Forks(
            env=self.env,
            offsets=np.array(offsets),
            depth=numbers,
            values=values,
            complete=complete,
            _expander=expander,
            _rows=rows,
            **arrays,
            **whole_nodes,
        )

    def _forks(
        self, nodes: dict[str, list[np.ndarray]], begin: int, end: int
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """(node, an action of each agent) of each step from the nodes of the last depth."""
        legal, acting, over = (np.concatenate(nodes[name]) for name in ("legal", "acting", "over"))
        for at in range(begin, end):
            if over[at]:
                continue
            options = []
            for i in range(self.env.num_agents):
                chooses = acting[at, i] and (self.own is None or i == self.own)
                options.append(np.flatnonzero(legal[at, i]).tolist() if chooses else [0])
            for moves in itertools.product(*options):
                yield at, moves

    def _played(
        self, nodes: dict[str, list[np.ndarray]], source: np.ndarray, actions: np.ndarray
    ) -> np.ndarray:
        """Actions as the environment counts them; no-ops of those that did not act or choose."""
        acting = np.concatenate(nodes["acting"])[source]
        if self.own is not None:
            acting = acting & (np.arange(self.env.num_agents) == self.own)
        return np.where(acting, actions + self.expander.first, int(self.env.noop)).astype(np.int32)

    def _values(
        self,
        edges: dict[str, np.ndarray],
        offsets: list[int],
        acting: np.ndarray,
        leaf: np.ndarray,
        backup: str | None,
        discount: float,
    ) -> np.ndarray:
        """f64[M, N]."""
        several = bool((acting[edges["source"]].sum(axis=1) > 1).any()) and self.own is None
        if backup is None:
            backup = "team" if several else "best"
        if backup == "best" and several:
            raise ConfigError(
                f"backup='best' needs one agent to act at a time, and in {shorten(self.env)} "
                "several do; pass backup='team' or 'mean', or agent= with partners="
            )
        values = leaf.astype(np.float64)
        order = np.argsort(edges["source"], kind="stable")
        source = edges["source"][order]
        bounds = np.searchsorted(source, np.arange(len(values) + 1))
        chances = self.chances
        for node in range(len(values) - 1, -1, -1):
            own = order[bounds[node] : bounds[node + 1]]
            if not len(own):
                continue
            worth = edges["rewards"][own] + discount * values[edges["target"][own]]
            worth = worth.reshape(-1, chances, worth.shape[1]).mean(axis=1)  # keys are adjacent
            if backup == "mean":
                values[node] = worth.mean(axis=0)
            elif backup == "team":
                values[node] = worth[worth.mean(axis=1).argmax()]
            else:
                mover = self.own if self.own is not None else int(acting[node].argmax())
                values[node] = worth[worth[:, mover].argmax()]
        return values


def _none(name: str, agents: int) -> np.ndarray:
    """No edges."""
    rows = name in ("actions", "rewards", "terminated", "truncated")
    kind: dict[str, Any] = {"rewards": np.float32, "terminated": bool, "truncated": bool}
    return np.zeros((0, agents) if rows else 0, kind.get(name, np.int32))


def _keys(seed: int, level: int, count: int) -> np.ndarray:
    """u32[count, 2], the keys of one depth."""
    draws = np.random.default_rng([seed & 0xFFFFFFFF, level])
    return draws.integers(0, 2**32, (count, 2), np.uint32)


def _chunks(items: list[Any], size: int) -> Iterator[list[Any]]:
    take = functools.partial(itertools.islice, iter(items), size)
    while part := list(take()):
        yield part
