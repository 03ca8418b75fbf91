"""Tabular policies: expected values, best responses, exploitability; and their seats.

A table of probabilities is f64[I, A], a row for each information set of a `Tree`, all agents
together; it is 0 where an action is not legal. All values are exact (sums over all terminal nodes,
in double precision), not sampled.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.game_theory.tree import Tree, unroll
from manyhands.core.env import Array, ConfigError, DeviceView, Env
from manyhands.core.registry import from_spec, make
from manyhands.envs.poker import KuhnPoker

if TYPE_CHECKING:  # it needs flax, which tables do not
    from manyhands.baselines.players.network import NetworkPolicy

PathLike = str | os.PathLike[str]
FORMAT = 1  # of files


# ---- tables --------------------------------------------------------------------------------------


def uniform(tree: Tree) -> np.ndarray:
    """Every legal action with the same probability."""
    return tree.legal / tree.legal.sum(axis=1, keepdims=True)


def from_counts(
    tree: Tree, counts: np.ndarray, fill: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The empirical policy, and the information sets where it was observed.

    Args:
        counts: [I, A], how often each action was taken.
        fill: f64[I, A], the policy where nothing was counted; by default `uniform`.

    Returns:
        f64[I, A], the shares of the actions, and bool[I], the information sets with any.
    """
    counts = np.where(tree.legal, np.asarray(counts, np.float64), 0.0)
    total = counts.sum(axis=1, keepdims=True)
    fill = uniform(tree) if fill is None else fill
    return np.where(total > 0, counts / np.maximum(total, 1e-300), fill), total[:, 0] > 0


def average(tree: Tree, tables: Any) -> np.ndarray:
    """The table that is equivalent to drawing one of `tables` (f64[K, I, A]) uniformly before every
    hand, for each agent, and playing it to the end.

    Each row is weighted by its table's own reach probability of the information set (Kuhn 1953:
    with perfect recall the two are realisation-equivalent). Where no table gets there, actions are
    uniform.
    """
    plans = [reach(tree, check(tree, table))[:-1] for table in tables]
    return from_counts(tree, np.mean(plans, axis=0).reshape(tree.legal.shape))[0]


def tabulate(tree: Tree, policy: NetworkPolicy) -> np.ndarray:
    """A trained network as a table of its probabilities at each information set; for a network with
    snapshots, of which it draws one for each hand, their `average`.

    Raises:
        ConfigError: its actions depend on more than the agent's observation.
        PolicyError: it was trained for another environment.
    """
    if policy.reads == "perception" and type(tree.env).perceive is not Env.perceive:
        raise ConfigError(f"the tree of {tree.env!r} keeps observations; this network reads others")
    chances = policy.chances(tree.env, jnp.asarray(tree.observations), jnp.asarray(tree.legal))
    tables = np.asarray(chances, np.float64) * tree.legal
    return average(tree, tables / tables.sum(axis=2, keepdims=True))


def kuhn_equilibrium(tree: Tree, a: float = 1 / 6) -> np.ndarray:
    """An equilibrium of two-player Kuhn poker, from Kuhn's family of all of them (1950).

    Args:
        a: from 0 to 1/3, how often player 0 bets first with the jack. It bets 3a with the king,
            never with the queen, and calls with the queen a + 1/3 after its own pass. Player 1
            has one equilibrium strategy: it bluffs with the jack after a pass, and calls with the
            queen, 1/3 of the time each.
    """
    env = tree.env
    if not isinstance(env, KuhnPoker) or env.num_agents != 2 or env.hands != 1:
        raise ConfigError(f"the family is of kuhn_poker for two players; given {env!r}")
    try:
        a = float(a)
    except (TypeError, ValueError):
        a = math.nan
    if not 0 <= a <= 1 / 3 + 1e-12:
        raise ConfigError(f"a is a number from 0 to 1/3, given {a!r}")
    third = 1 / 3
    # Bets and calls by the moves so far (0 pass, 1 bet), with the jack, the queen, the king.
    family = {
        (): (a, 0.0, min(3 * a, 1.0)),
        (0, 1): (0.0, min(a + third, 1.0), 1.0),
        (0,): (third, 0.0, 1.0),
        (1,): (0.0, third, 1.0),
    }
    table = np.empty((tree.num_infosets, 2))
    for i in range(tree.num_infosets):
        card = int(np.argmax(tree.observations[i][:3]))  # the observer's own, one-hot
        moves = tuple(action for _, action in tree.line(tree.example(i)))
        bet = family[moves][card]
        table[i] = 1 - bet, bet
    return table


def check(tree: Tree, table: Any) -> np.ndarray:
    """`table` as f64[I, A]; raises `ConfigError` unless its rows are probabilities."""
    table = np.asarray(table, np.float64)
    if table.shape != tree.legal.shape:
        raise ConfigError(
            f"a table for {tree.env!r} is {list(tree.legal.shape)} (information sets, actions), "
            f"given {list(table.shape)}"
        )
    wrong = ~np.isclose(np.where(tree.legal, table, 0.0).sum(axis=1), 1.0, atol=1e-6)
    wrong |= ~((table >= 0) & (tree.legal | (table == 0))).all(axis=1)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ConfigError(
            f"row {i} ({tree.env.agents[tree.owner[i]]}, {tree.names[i]}) is no distribution over "
            f"the legal actions: {table[i].tolist()}"
        )
    return table


# ---- what they earn, and what beats them ---------------------------------------------------------


def reach(tree: Tree, table: np.ndarray) -> np.ndarray:
    """f64[I * A + 1]: each agent's own reach probability of each of its sequences."""
    x = np.ones(tree.empty + 1)
    rows = x[:-1].reshape(tree.legal.shape)
    for level in range(int(tree.level.max(initial=-1)) + 1):
        here = tree.level == level
        rows[here] = table[here] * x[tree.before[here], None]
    return x


def direct_values(tree: Tree, x: np.ndarray, agent: int) -> np.ndarray:
    """f64[I * A + 1]: for each sequence of `agent`, the payoff of the terminal nodes right after
    it, weighted by the reach probability of chance and the others (who play `x`, see `reach`)."""
    sequences, payoffs = tree.merged
    weight = payoffs[agent].copy()
    for other in range(tree.num_agents):
        if other != agent:
            weight *= x[sequences[other]]
    return np.bincount(sequences[agent], weight, tree.empty + 1)


def expected_values(tree: Tree, table: Any) -> np.ndarray:
    """f64[N]: the expected value of each agent when all play `table`."""
    x = reach(tree, check(tree, table))
    sequences, payoffs = tree.merged
    return payoffs @ np.prod(x[sequences], axis=0)


def best_response(tree: Tree, table: Any, agent: str | int) -> tuple[float, np.ndarray]:
    """The most that `agent` can earn against the others, who play `table`; and `table` with the
    agent's rows replaced by those that earn it (the first action among equals)."""
    table = check(tree, table)
    agent = tree.env.index(agent)
    values = direct_values(tree, reach(tree, table), agent)
    rows, best = values[:-1].reshape(tree.legal.shape), table.copy()
    for level in reversed(tree.levels(agent)):
        options = np.where(tree.legal[level], rows[level], -np.inf)
        choice = options.argmax(axis=1)
        best[level] = np.arange(tree.num_actions) == choice[:, None]
        np.add.at(values, tree.before[level], options.max(axis=1))
    return float(values[-1]), best


def nash_conv(tree: Tree, table: Any) -> float:
    """The sum of the agents' gains from unilateral best responses; 0 exactly at an equilibrium."""
    table = check(tree, table)
    gains = [best_response(tree, table, agent)[0] for agent in range(tree.num_agents)]
    return float(np.sum(gains) - expected_values(tree, table).sum())


def exploitability(tree: Tree, table: Any) -> float:
    """`nash_conv` over the number of agents. In a two-player zero-sum game: the winnings per hand
    of a best response above the value of the game, mean over both seats."""
    return nash_conv(tree, table) / tree.num_agents


# ---- seats ---------------------------------------------------------------------------------------


class TablePolicy:
    """A table of probabilities as a player: a `DevicePolicy`, for `play`, `rollout` and partners.

    It looks up its observation among the information sets. In a match of several hands it looks up
    the first part of the observation, which is that of the hand. If there is no match, it plays a
    random legal action.

    Args:
        env: the game that the table is for.
        owner: i32[I], whose each row is.
        observations: [I, *observation_space.shape].
        table: f64[I, A].
    """

    def __init__(self, env: Env, owner: np.ndarray, observations: np.ndarray, table: np.ndarray):
        self.env, self.owner = env, np.asarray(owner, np.int32)
        self.observations, self.table = np.asarray(observations), np.asarray(table, np.float64)
        rows = np.ascontiguousarray(self.observations.reshape(len(self.owner), -1))
        self._rows = rows
        # Observations mostly tell whose they are (the position at the table); then a seat can play
        # for any agent, as it must in a match. Where they do not, it looks among its own.
        self._anyone = len(np.unique(rows, axis=0)) == len(rows)
        self._multipliers = _multipliers(rows)
        digest = hashlib.blake2b(env.spec_json().encode(), digest_size=16)
        for part in (self.owner, rows, self.table):
            digest.update(np.ascontiguousarray(part).tobytes())
        self._digest = digest.digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TablePolicy) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def init(self, env: Env, agent: int) -> tuple[()]:
        size = math.prod(env.observation_space.shape or ())
        if size < self._rows.shape[1] or env.action_space != self.env.action_space:
            raise ConfigError(f"this table is for {self.env!r}; it cannot play {env!r}")
        return ()

    def apply(
        self, env: Env, agent: int, memory: Any, key: Array, view: DeviceView
    ) -> tuple[Array, Any]:
        rows, table = self._rows, self.table
        if not self._anyone:
            rows, table = rows[self.owner == agent], table[self.owner == agent]
        seen = view.vector.reshape(-1)[: rows.shape[1]].astype(rows.dtype)
        # One number for each observation, different for all of the table: comparing those instead
        # of whole rows makes a batch of thousands cheap. The row found is then compared whole.
        code = jnp.sum(_words(seen) * self._multipliers, dtype=jnp.uint32)
        hit = code == np.sum(_words(rows) * self._multipliers, axis=1, dtype=np.uint32)
        row = jnp.argmax(hit)
        known = jnp.all(jnp.asarray(rows)[row] == seen)
        weights = jnp.where(known, jnp.asarray(table, jnp.float32)[row], 1.0) * view.legal
        total = jnp.cumsum(weights)
        # Among the actions with any probability, the first whose sum exceeds the draw.
        draw = jax.random.uniform(key) * total[-1]
        last = jnp.max(jnp.where(weights > 0, jnp.arange(len(total)), 0))
        action = jnp.minimum(jnp.sum(total <= draw), last)
        return action.astype(jnp.int32) + jnp.int32(env.action_space.start), memory  # type: ignore[attr-defined]

    def on(self, tree: Tree) -> np.ndarray:
        """The table in the order of a tree's information sets."""
        found = [tree.find(row, owner) for row, owner in zip(self._rows, self.owner, strict=True)]
        if sorted(found, key=str) != sorted(range(tree.num_infosets), key=str):
            raise ConfigError(f"this table is for {self.env!r}, not for {tree.env!r}")
        table = np.empty_like(self.table)
        table[np.array(found)] = self.table
        return check(tree, table)

    def save(self, path: PathLike, **notes: Any) -> None:
        """Write the table, and `notes` (JSON-ready), to a .safetensors file."""
        tensors = {
            "owner": self.owner,
            "observations": self.observations,
            "probabilities": self.table,
        }
        write(path, "table", tensors, {"env": self.env.spec(), "notes": notes})

    @classmethod
    def load(cls, path: PathLike) -> TablePolicy:
        """The table in a file; raises `ConfigError` if it holds none."""
        tensors, head = read(path, "table")
        try:
            env = from_spec(head.get("env"))  # type: ignore[arg-type]
            owner, rows = tensors["owner"], tensors["observations"]
            table = tensors["probabilities"]
        except (KeyError, TypeError) as error:
            raise ConfigError(f"{os.fspath(path)} holds no table: {error}") from error
        count, actions = len(owner), int(env.action_space.n)  # type: ignore[attr-defined]
        shape = (count, *(env.observation_space.shape or ()))
        fits = owner.ndim == 1 and rows.shape == shape and table.shape == (count, actions)
        fits = fits and rows.dtype == env.observation_space.dtype and table.dtype == np.float64
        if not fits or not count or not ((owner >= 0) & (owner < env.num_agents)).all():
            raise ConfigError(f"{os.fspath(path)} holds no table that fits {env!r}")
        if not (table >= 0).all() or not np.allclose(table.sum(axis=1), 1, atol=1e-6):
            raise ConfigError(f"{os.fspath(path)}: the rows are no probabilities")
        return cls(env, owner, rows, table)

    def __repr__(self) -> str:
        return f"TablePolicy({self.env!r}, {len(self.owner)} information sets)"


def as_policy(tree: Tree, table: Any) -> TablePolicy:
    """A table as a player."""
    return TablePolicy(tree.env, tree.owner, tree.observations, check(tree, table))


def table_seat(env: Env, file: str) -> TablePolicy:
    """The seat `table:file=PATH`, which plays a policy of `manyhands solve`."""
    policy = TablePolicy.load(file)
    if env.id != policy.env.id or one_hand(env) != policy.env:
        raise ConfigError(f"{file} holds a table for {policy.env!r}; it cannot play {env!r}")
    return policy


def equilibrium_seat(env: Env, a: float = 1 / 6) -> TablePolicy:
    """The seat `equilibrium`, an equilibrium of two-player Kuhn poker (`kuhn_equilibrium`)."""
    if env.id != "kuhn_poker" or env.num_agents != 2:
        raise ConfigError(
            f"the seat equilibrium plays kuhn_poker for two players, not {env!r}; `manyhands solve`"
            " makes tables for other games"
        )
    tree = tree_of(one_hand(env))
    return as_policy(tree, kuhn_equilibrium(tree, a))


def one_hand(env: Env) -> Env:
    """The game of a single hand, in chips, without the options of a match."""
    config = env.config()
    for name in ("hands", "duplicate", "max_steps", "reward_weights"):
        config.pop(name, None)
    return make(env.id, **config)


@functools.lru_cache(maxsize=8)
def tree_of(env: Env) -> Tree:
    """`unroll(env)`, cached."""
    return unroll(env)


def _words(rows: Any) -> Any:
    """Numbers of any kind as u32, for hashing rows by sums."""
    kind = np.dtype(rows.dtype)
    on_host = isinstance(rows, np.ndarray)
    if kind == np.float32:
        if on_host:
            return np.ascontiguousarray(rows).view(np.uint32)
        return jax.lax.bitcast_convert_type(rows, jnp.uint32)
    return rows.astype(np.uint32)


def _multipliers(rows: np.ndarray) -> np.ndarray:
    """u32[D] factors, under whose weighted sums all different rows differ."""
    different = len(np.unique(rows, axis=0))
    for seed in range(64):
        draw = np.random.default_rng(seed).integers(0, 2**32, rows.shape[1], np.uint32) | 1
        codes = np.sum(_words(rows) * draw, axis=1, dtype=np.uint32)
        if len(np.unique(codes)) == different:
            return draw
    raise ConfigError(f"{different} observations are too many for a table")


# ---- files ---------------------------------------------------------------------------------------


def write(
    path: PathLike, kind: str, tensors: Mapping[str, np.ndarray], head: Mapping[str, Any]
) -> None:
    """Write arrays and a JSON header to one .safetensors file, atomically: to a temporary file,
    which is then renamed."""
    safetensors = _safetensors()
    path = Path(path)
    text = json.dumps({"kind": kind, "format": FORMAT, **head}, sort_keys=True, allow_nan=False)
    ordered = {name: np.ascontiguousarray(tensors[name]) for name in sorted(tensors)}
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(beside, "wb") as file:
            file.write(safetensors.save(ordered, {"manyhands": text}))
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error
    finally:
        beside.unlink(missing_ok=True)


def read(path: PathLike, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read a file of `write`. Nothing in the file is ever executed.

    Raises:
        ConfigError: it is something else, or damaged.
    """
    safetensors = _safetensors()
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {name}: {error.strerror}") from error
    try:
        tensors = safetensors.load(data)
        size = int.from_bytes(data[:8], "little")
        head = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["manyhands"])
        found = head["kind"], head["format"]
    except Exception as error:  # whatever a parser of foreign bytes may raise
        raise ConfigError(
            f"{name} is no file of Manyhands, or is damaged: {type(error).__name__}: {error}"
        ) from error
    if found != (kind, FORMAT):
        raise ConfigError(
            f"{name} is a {found[0]} of format {found[1]}; a {kind} of format {FORMAT} is needed"
        )
    return tensors, head


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError as error:
        raise ConfigError(
            'tables are kept as safetensors: pip install "manyhands[train]"'
        ) from error
    return safetensors.numpy
