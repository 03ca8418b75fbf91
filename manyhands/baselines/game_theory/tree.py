"""The whole tree of a small game, unrolled once from the environment's own functions.

`unroll(env)` plays every legal action from every deal, depth by depth, with batched calls of
`acting`, `legal`, `observe` and `step` for all points (nodes) of one depth: there is no second copy
of the rules. The result is a set of flat arrays, which `policies.py` evaluates and `cfr.py` solves.

Points with the same observation of the acting agent form one *information set*. All methods
assume perfect recall (an observation determines the agent's earlier observations and actions), and
`unroll` checks it. With perfect recall, a *sequence* of an agent is its own last (information set,
action) pair, since that pair fixes all earlier ones: the sequence form of Koller, Megiddo and von
Stengel (1996). Sequence `infoset * A + action` belongs to that pair, and sequence `I * A` is the
empty one, of an agent that has not acted yet.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import sys
from typing import Any, NoReturn

import gymnasium
import jax
import numpy as np

from manyhands.core.choices import choices_of
from manyhands.core.env import ConfigError, Env, episode_key, seed_key

_CHUNK = 1024  # points in one batched call: one compilation for trees of every size


@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """A game as arrays: M points, T ends, I information sets, D deals, N agents, A actions.

    Points are numbered breadth-first: those of depth `d` are `offsets[d]` to `offsets[d + 1]`.
    Information sets are numbered by agent, then by the number of the agent's earlier decisions:
    those of agent `p` are `first[p]` to `first[p + 1]`.

    Attributes:
        env: the environment.
        offsets: i64[depths + 1].
        parent: i32[M], the point before; -1 at the roots.
        player: i8[M], who moves; -1 at the ends.
        infoset: i32[M], the information set of who moves; -1 at the ends.
        action: i16[M], the action that led here; -1 at the roots.
        deal: i32[M], the outcome of chance that the point follows from.
        deals: f64[D], the probability of each outcome.
        ends: i32[T], the points at which the game is over.
        payoffs: f64[N, T], the sum of each agent's rewards on the way there.
        sequences: i32[N, T], each agent's own last sequence.
        first: i64[N + 1].
        owner: i32[I], whose it is.
        level: i32[I], how many decisions of its own the agent has behind it.
        before: i32[I], the agent's sequence before this decision.
        legal: bool[I, A].
        observations: [I, *observation_space.shape], what the agent sees there.
        names: what the environment calls them (`information_state`), else their numbers.
        words: for each, the legal actions in words (`choices`), in action order.
    """

    env: Env
    offsets: np.ndarray
    parent: np.ndarray
    player: np.ndarray
    infoset: np.ndarray
    action: np.ndarray
    deal: np.ndarray
    deals: np.ndarray
    ends: np.ndarray
    payoffs: np.ndarray
    sequences: np.ndarray
    first: np.ndarray
    owner: np.ndarray
    level: np.ndarray
    before: np.ndarray
    legal: np.ndarray
    observations: np.ndarray
    names: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]

    @property
    def num_agents(self) -> int:
        return len(self.payoffs)

    @property
    def num_infosets(self) -> int:
        return len(self.owner)

    @property
    def num_actions(self) -> int:
        return self.legal.shape[1]

    @property
    def empty(self) -> int:
        """The number of the empty sequence."""
        return self.legal.size

    @property
    def chance(self) -> np.ndarray:
        """f64[T], the reach probability of chance for each end."""
        return self.deals[self.deal[self.ends]]

    @property
    def zero_sum(self) -> bool:
        return bool(np.abs(self.payoffs.sum(axis=0)).max() < 1e-6)

    @functools.cached_property
    def merged(self) -> tuple[np.ndarray, np.ndarray]:
        """(sequences i32[N, T'], f64[N, T'] payoffs times chance), with ends merged that differ
        only in unseen cards."""
        sequences, which = np.unique(self.sequences, axis=1, return_inverse=True)
        weighted = self.payoffs * self.chance
        size = sequences.shape[1]
        sums = [np.bincount(which.ravel(), row, size) for row in weighted]
        return sequences, np.stack(sums)

    @functools.cached_property
    def digest(self) -> str:
        """A hash of the information sets, to identify the tree of a table."""
        parts = (self.owner, self.before, self.legal, np.ascontiguousarray(self.observations))
        state = hashlib.blake2b(self.env.spec_json().encode(), digest_size=16)
        for part in parts:
            state.update(f"{part.dtype}{part.shape}".encode() + part.tobytes())
        return state.hexdigest()

    @functools.cached_property
    def _rows(self) -> tuple[bool, dict[Any, int]]:
        rows = np.ascontiguousarray(self.observations.reshape(self.num_infosets, -1))
        keys = [row.tobytes() for row in rows]
        if len(set(keys)) == len(keys):
            return True, {key: i for i, key in enumerate(keys)}
        return False, {(int(self.owner[i]), key): i for i, key in enumerate(keys)}

    def find(self, vector: Any, agent: int) -> int | None:
        """The information set of an observation, or None. In a match of several hands, where the
        observation begins with that of the hand, any agent may reach it; where observations do not
        identify their agent, it is one of `agent`'s."""
        anyone, index = self._rows
        size = int(np.prod(self.observations.shape[1:]))
        key = np.asarray(vector).ravel()[:size].astype(self.observations.dtype).tobytes()
        return index.get(key if anyone else (agent, key))

    def infosets(self, agent: int) -> slice:
        """The information sets of one agent."""
        return slice(int(self.first[agent]), int(self.first[agent + 1]))

    def levels(self, agent: int) -> list[slice]:
        """The information sets of one agent, by the number of its earlier decisions."""
        own = self.level[self.infosets(agent)]
        bounds = np.searchsorted(own, np.arange(own.max(initial=-1) + 2)) + self.first[agent]
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(bounds)]

    def example(self, infoset: int) -> int:
        """A point of an information set: the first one."""
        return int(np.argmax(self.infoset == infoset))

    def line(self, point: int) -> list[tuple[int, int]]:
        """(agent, action) of every move from the deal to a point."""
        moves = []
        while (parent := int(self.parent[point])) >= 0:
            moves.append((int(self.player[parent]), int(self.action[point])))
            point = parent
        return moves[::-1]

    def word(self, infoset: int, action: int) -> str:
        """The name of an action at an information set."""
        return self.words[infoset][int(self.legal[infoset, :action].sum())]

    def __repr__(self) -> str:
        return (
            f"Tree of {self.env!r}: {len(self.parent):,} points, {len(self.ends):,} ends, "
            f"{self.num_infosets:,} information sets, {len(self.deals):,} deals"
        )


def unroll(env: Env, max_points: int = 3_000_000) -> Tree:
    """The tree of `env`, where only deals are random.

    Args:
        max_points: a bound on the size. Kuhn poker for six players has two million points.

    Raises:
        ConfigError: there is no tree: chance cannot be enumerated, agents move at the same time,
            an agent has imperfect recall, or the tree is too large.
    """
    return _Unroller(env, max_points).run()


class _Unroller:
    def __init__(self, env: Env, max_points: int):
        if not isinstance(env.action_space, gymnasium.spaces.Discrete):
            raise ConfigError(f"a game tree needs Discrete actions; {env!r} has {env.action_space}")
        self.env, self.max_points = env, max_points
        self.first_action = int(env.action_space.start)
        self.numbers: dict[bytes, int] = {}  # of information sets, in order of discovery
        self.owner: list[int] = []
        self.before: list[int] = []
        self.legal: list[np.ndarray] = []
        self.observations: list[np.ndarray] = []
        self.names: list[str] = []
        self.words: list[tuple[str, ...]] = []

    def run(self) -> Tree:
        env, n, a = self.env, self.env.num_agents, int(self.env.action_space.n)  # type: ignore[attr-defined]
        states, deals = _deals(env, self.max_points)
        size = len(deals)
        offsets, ends, payoffs, sequences = [0], [], [], []
        parents: list[np.ndarray] = []
        players: list[np.ndarray] = []
        infosets: list[np.ndarray] = []
        actions: list[np.ndarray] = []
        dealt: list[np.ndarray] = []
        # Of the points of the depth at hand:
        parent = np.full(size, -1, np.int32)
        action = np.full(size, -1, np.int16)
        deal = np.arange(size, dtype=np.int32)
        over = np.zeros(size, bool)
        total = np.zeros((n, size))
        # Provisional: -1 is the empty sequence, and information sets are in order of discovery.
        sequence = np.full((n, size), -1, np.int64)
        while size:
            base = offsets[-1]
            offsets.append(base + size)
            player = np.full(size, -1, np.int8)
            infoset = np.full(size, -1, np.int32)
            live = np.flatnonzero(~over)
            mover, legal, seen = self._look(states)
            player[live] = mover
            infoset[live] = self._number(states, mover, legal, seen, sequence[mover, live])
            ends.append(base + np.flatnonzero(over))
            payoffs.append(total[:, over])
            sequences.append(sequence[:, over])
            for rows, row in (
                (parents, parent),
                (players, player),
                (infosets, infoset),
                (actions, action),
                (dealt, deal),
            ):
                rows.append(row)
            which, chosen = np.nonzero(legal)
            size = len(which)
            if offsets[-1] + size > self.max_points:
                _too_large(env, offsets[-1] + size, self.max_points)
            at = live[which]
            parent, deal, action = (base + at).astype(np.int32), deal[at], chosen.astype(np.int16)
            total, sequence = total[:, at], sequence[:, at]
            sequence[mover[which], np.arange(size)] = infoset[at].astype(np.int64) * a + chosen
            states, reward, over = self._move(states, which, mover, action)
            total = total + reward
            alive = np.flatnonzero(~over)
            states = jax.tree_util.tree_map(lambda leaf, alive=alive: leaf[..., alive], states)

        owner, before = np.array(self.owner, np.int32), np.array(self.before, np.int64)
        level = np.zeros(len(owner), np.int32)
        for i, sequence_before in enumerate(before):  # which is of an earlier one
            if sequence_before >= 0:
                level[i] = level[sequence_before // a] + 1
        order = np.lexsort((level, owner))
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))

        def final(sequence: np.ndarray) -> np.ndarray:
            moved = rank[sequence // a] * a + sequence % a
            return np.where(sequence < 0, len(order) * a, moved).astype(np.int32)

        infoset = np.concatenate(infosets)
        return Tree(
            env=env,
            offsets=np.array(offsets),
            parent=np.concatenate(parents),
            player=np.concatenate(players),
            infoset=np.where(infoset < 0, -1, rank[infoset]).astype(np.int32),
            action=np.concatenate(actions),
            deal=np.concatenate(dealt),
            deals=deals,
            ends=np.concatenate(ends).astype(np.int32),
            payoffs=np.concatenate(payoffs, axis=1),
            sequences=final(np.concatenate(sequences, axis=1)),
            first=np.searchsorted(owner[order], np.arange(n + 1)),
            owner=owner[order],
            level=level[order],
            before=final(before[order]),
            legal=np.stack(self.legal)[order],
            observations=np.stack(self.observations)[order],
            names=tuple(self.names[i] for i in order),
            words=tuple(self.words[i] for i in order),
        )

    def _look(self, states: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The agent to move (i64[B]), its legal actions (bool[B, A]) and observations ([B,
        ...])."""
        env = self.env
        acting, legal, seen = _in_chunks(functools.partial(_observed(env), None), states)
        if not (acting.sum(axis=0) == 1).all():
            raise ConfigError(
                f"a game tree needs turns; in {env!r} no agent, or several at once, are to move"
            )
        mover = acting.argmax(axis=0)
        each = np.arange(len(mover))
        # A batch axis between other indices would come first: move it there.
        return mover, np.moveaxis(legal, -1, 0)[each, mover], np.moveaxis(seen, -1, 0)[each, mover]

    def _move(
        self, states: Any, which: np.ndarray, mover: np.ndarray, action: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """The states after one action each, the rewards (f64[N, B]), and whether all is over."""
        env, size = self.env, len(which)
        chosen = jax.tree_util.tree_map(lambda leaf: leaf[..., which], states)
        dtype = jax.dtypes.canonicalize_dtype(env.action_space.dtype)
        actions = np.full((env.num_agents, size), env.noop, dtype)
        actions[mover[which], np.arange(size)] = action + self.first_action
        moved = _in_chunks(functools.partial(_moves(env), 0), (chosen, actions))
        # The key must make no difference; small depths are checked with several.
        for seed in range(1, 2 + min(8, _CHUNK // max(size, 1))):
            other = _in_chunks(functools.partial(_moves(env), seed), (chosen, actions))
            same = jax.tree_util.tree_map(np.array_equal, moved, other)
            if all(jax.tree_util.tree_leaves(same)):
                continue
            raise ConfigError(
                f"a step of {env!r} draws from its key, and a game tree has no such chance; of a "
                "match of several hands, unroll one"
            )
        states, reward, over, wrong = moved
        if wrong.any():
            raise ConfigError(f"{env!r} calls an action illegal that its own mask allows")
        if not (over.all(axis=0) == over.any(axis=0)).all():
            raise ConfigError(f"in {env!r} the game ends for some agents before it does for others")
        return states, reward.astype(np.float64), over.all(axis=0)

    def _number(
        self,
        states: Any,
        mover: np.ndarray,
        legal: np.ndarray,
        seen: np.ndarray,
        before: np.ndarray,
    ) -> np.ndarray:
        """The information set of each point, new ones included."""
        if not len(mover):
            return np.zeros(0, np.int32)
        rows = np.ascontiguousarray(seen.reshape(len(seen), -1)).view(np.uint8)
        keys = np.concatenate([mover.astype(np.uint8)[:, None], rows], axis=1)
        _, firsts, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        found = np.empty(len(firsts), np.int32)
        for group in np.argsort(firsts):  # in the order of the points
            i = firsts[group]
            key = keys[i].tobytes()
            if key not in self.numbers:
                self.numbers[key] = len(self.owner)
                self.owner.append(int(mover[i]))
                self.before.append(int(before[i]))
                self.legal.append(legal[i])
                self.observations.append(seen[i])
                state = jax.tree_util.tree_map(lambda leaf, i=i: leaf[..., i], states)
                name = self.env.information_state(state, int(mover[i]))
                self.names.append(name or str(len(self.names)))
                offered = choices_of(self.env, state, int(mover[i]), None)
                self.words.append(tuple(choice.text for choice in offered))
            found[group] = self.numbers[key]
        infoset = found[which.ravel()]
        agent = self.env.agents
        forgot = np.array(self.before)[infoset] != before
        if forgot.any():
            who = agent[mover[np.argmax(forgot)]]
            raise ConfigError(
                f"no perfect recall in {self.env!r}: {who} gets the same observation after having "
                "seen or done different things before"
            )
        unequal = (np.stack(self.legal)[infoset] != legal).any(axis=1)
        if unequal.any():
            who = agent[mover[np.argmax(unequal)]]
            raise ConfigError(
                f"{who} gets the same observation in {self.env!r} where different actions are legal"
            )
        return infoset


def _too_large(env: Env, points: int, max_points: int) -> NoReturn:
    raise ConfigError(
        f"the tree of {env!r} is too large to unroll: {points:,} points and more, of "
        f"{max_points:,} allowed (max_points)"
    )


def _deals(env: Any, max_points: int) -> tuple[Any, np.ndarray]:
    """All initial states (a batch, on the host), and the probability of each."""
    deals = env.deals()
    if deals is not None:
        listed = list(itertools.islice(deals, max_points + 1))
        if len(listed) > max_points:
            _too_large(env, len(listed), max_points)
        state = jax.device_get(jax.jit(env.reset)(episode_key(0)))
        leaves = [env.with_deal(state, deal) for deal, _ in listed]
        states = jax.tree_util.tree_map(lambda *leaf: np.stack(leaf, axis=-1), *leaves)
        chances = np.array([chance for _, chance in listed], np.float64)
    elif env.deterministic_reset:
        states = jax.device_get(env.batch_reset(episode_key(0)[None]))
        chances = np.ones(1)
    else:
        raise ConfigError(
            f"the tree of {env!r} cannot be unrolled: its resets draw, and it has no deals() and "
            "with_deal() that list what they may draw"
        )
    if abs(chances.sum() - 1) > 1e-9 or (chances <= 0).any():
        raise ConfigError(
            f"the deals of {env!r} have probabilities that are not positive or sum to "
            f"{chances.sum()!r}"
        )
    return states, chances


def root_states(env: Env) -> Any:
    """The states right after each deal of a tree, in the order of `Tree.deals`: a batch."""
    return _deals(env, sys.maxsize - 1)[0]


@functools.lru_cache(maxsize=16)
def _observed(env: Env) -> Any:
    def look(_: None, states: Any) -> Any:
        return env.batch_acting(states), env.batch_legal(states), env.batch_observe(states)

    return jax.jit(look)


@functools.lru_cache(maxsize=16)
def _moves(env: Env) -> Any:
    def move(seed: Any, order: Any) -> Any:
        states, actions = order
        keys = jax.random.split(seed_key(seed), actions.shape[-1])
        states, outcome = env.batch_step(keys, states, actions)
        over = outcome.terminated | outcome.truncated
        return states, outcome.reward, over, outcome.metrics.get("illegal", np.float32(0)) > 0

    return jax.jit(move)


def _in_chunks(call: Any, batch: Any) -> Any:
    """`call(batch)` on the host, in batches of `_CHUNK`."""
    size = jax.tree_util.tree_leaves(batch)[0].shape[-1]
    parts = []
    for begin in range(0, max(size, 1), _CHUNK):
        # The last batch is filled up with copies of its first entry.
        index = np.arange(begin, begin + _CHUNK)
        index = np.where(index < size, index, begin if size else 0)
        if not size:
            chunk = jax.tree_util.tree_map(
                lambda leaf: np.zeros((*leaf.shape[:-1], _CHUNK), leaf.dtype), batch
            )
        else:
            chunk = jax.tree_util.tree_map(lambda leaf, index=index: leaf[..., index], batch)
        count = min(size - begin, _CHUNK)
        done = jax.device_get(call(chunk))
        parts.append(
            jax.tree_util.tree_map(lambda leaf, count=count: np.asarray(leaf)[..., :count], done)
        )
    return jax.tree_util.tree_map(lambda *leaves: np.concatenate(leaves, axis=-1), *parts)
