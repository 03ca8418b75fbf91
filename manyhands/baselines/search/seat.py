"""The seat `search`: Monte-Carlo tree search with the environment as the model.

UCT (Kocsis & Szepesvári 2006): each simulation goes down the tree by the upper confidence bound
(UCB1), adds one node, values it (by playouts, or by a value function), and adds the return to every
edge on the way. With a prior it goes down by PUCT (Rosin 2011, in the form of Silver et al. 2017).
Values are scaled to between 0 and 1 by the least and the greatest in the tree (Schrittwieser et al.
2020), so that `c` means the same in every game.

Several trees, of several episodes, grow side by side: one compiled call steps and values the new
leaf of each.

**What it may know.** A search plays on from the true state, which no view holds: `play` hands it
over to policies that declare `needs_state`, and marks their answers in the record. In games of
hidden information this is cheating, so the seat refuses them unless `peek=true` says so openly. The
chance of future steps is not known to it: it draws its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from manyhands.baselines.search.expand import (
    Expander,
    Playouts,
    Prior,
    Value,
    check_discrete,
    check_hooks,
    device_seat,
    expander,
)
from manyhands.core.config import number, whole
from manyhands.core.env import Env, SeatError, Wrapper, shorten
from manyhands.core.pack import draws_from_key, restore
from manyhands.core.view import Reply, View
from manyhands.envs.board.env import Board
from manyhands.envs.kitchen.env import Kitchen

_HIDDEN_NOTHING = ("recent", "retries", "skills")  # wrappers that hide nothing


@dataclasses.dataclass(frozen=True)
class Found:
    """What a search found at one state.

    Attributes:
        values: f64[A], the mean return of each action to the agent; NaN where it was not tried.
        visits: i64[A], simulations that took it.
        value: of the state, the mean return of all simulations.
        nodes: how many states were added to the tree.
    """

    values: np.ndarray
    visits: np.ndarray
    value: float
    nodes: int

    @property
    def best(self) -> int:
        """The action taken most often, of several the one with the greatest value."""
        values = np.nan_to_num(self.values, nan=-np.inf)
        most = np.flatnonzero(self.visits == self.visits.max())
        return int(most[values[most].argmax()])


class Search:
    """A host policy that searches; see the module.

    Args:
        env: an environment with `Discrete` actions and exact steps (`Env.exact`).
        simulations: how many for each answer.
        c: weight of exploration.
        value: what a leaf is worth: the name of a device seat that plays all agents in playouts
            ("random", "greedy", "policy:file=..."), or a traceable f(env, states) -> f32[N, B], the
            return to come of each agent, of a batch of states (the batch axis last).
        rollouts: playouts of each leaf, in one batch (leaf parallelisation: Cazenave & Jouandeau
            2007).
        horizon: steps of a playout.
        prior: a traceable f(env, states) -> f32[N, A, B], weights of the actions: PUCT.
        partners: a device policy, or its name, as the model of all other agents. None: the others
            search for themselves, each node by its mover's own return (max^n), in games of turns;
            where several act at once, `Env.default_policy`.
        chances: how many outcomes an edge may have. None: 1 where steps take nothing from their key
            and no partner is modelled, else 4.
        discount: of a step, from 0 to 1.
        temperature: 0 takes the action with most visits; else actions are drawn in proportion to
            visits ** (1 / temperature).
        peek: allow games in which the state holds what the agent may not know.

    Raises:
        SeatError: the environment cannot be searched, or hides something and `peek` is false; a
            player cannot play inside a search; `value` or `prior` gives another shape.

    Its answers have in `Reply.info`: `policy`, the probabilities that it acted by (over the legal
    actions), and `search`: the simulations, the value of the state, and visits and values of the
    legal actions.
    """

    needs_state = True

    def __init__(
        self,
        env: Env,
        simulations: int = 100,
        c: float = 0.5,
        value: str | Value = "random",
        rollouts: int = 4,
        horizon: int = 100,
        prior: Prior | None = None,
        partners: Any = None,
        chances: int | None = None,
        discount: float = 1.0,
        temperature: float = 0.0,
        peek: bool = False,
    ):
        if not env.exact:
            raise SeatError(
                f"{env!r} has no exact steps: a search of it would not be of what is played"
            )
        if not peek and not fully_observed(env):
            raise SeatError(
                f"in {shorten(env)} a state may hold what its agents cannot know, and a search "
                "sees the whole state: that is cheating; peek=true allows it"
            )
        check_discrete(env)
        self.env, self.simulations = env, whole("simulations", simulations, 1)
        self.c, self.discount = number("c", c, 0), number("discount", discount, 0, 1)
        self.temperature = number("temperature", temperature, 0)
        rollouts, horizon = whole("rollouts", rollouts, 1), whole("horizon", horizon, 1)
        hook: Any = value
        if isinstance(value, str):
            device_seat(env, value)
            hook = Playouts(value, rollouts, horizon, self.discount)
        elif not callable(value):
            raise SeatError(f"value is a device seat or a function of states, given {value!r}")
        if prior is not None and not callable(prior):
            raise SeatError(f"prior is a function of states, from Python; given {prior!r}")
        check_hooks(env, hook, prior)
        if partners is not None:
            partners = device_seat(env, partners)
        self.name = f"search:simulations={self.simulations}"
        self._hook, self._prior, self._model = hook, prior, partners
        self._chances = None if chances is None else whole("chances", chances, 1)
        self._draws = draws_from_key(env)
        self._expanders: dict[int | None, Expander] = {}

    def act(self, views: Sequence[View], states: Sequence[bytes] | None = None) -> list[Reply]:
        """One answer for each view; `states` are the snapshots of their episodes."""
        if states is None:
            raise SeatError(
                "a search needs the state of each view, act(views, states): `play` and Gymnasium's "
                "partners pass snapshots to policies with needs_state"
            )
        found = self.search(
            [restore(self.env, state) for state in states],
            [view.index for view in views],
            [view.seed for view in views],
        )
        return [self._reply(view, one) for view, one in zip(views, found, strict=True)]

    def _reply(self, view: View, found: Found) -> Reply:
        legal = np.flatnonzero(view.legal)
        visits = found.visits[legal].astype(float)
        if self.temperature:
            weights = (visits / visits.max()) ** (1 / self.temperature)
            policy = weights / weights.sum()
            action = int(legal[view.rng().choice(len(legal), p=policy)])
        else:
            action = found.best
            policy = (legal == action).astype(float)
        note = {
            "simulations": self.simulations,
            "value": round(found.value, 6),
            "visits": found.visits[legal].tolist(),
            "values": [None if np.isnan(v) else round(float(v), 6) for v in found.values[legal]],
        }
        start = int(self.env.action_space.start)  # type: ignore[attr-defined]
        return Reply(action + start, info={"policy": policy.tolist(), "search": note})

    def search(
        self, states: Sequence[Any], agents: Sequence[int], seeds: Sequence[int]
    ) -> list[Found]:
        """Search from several states at once.

        Args:
            agents: whose move it is to find, by index.
            seeds: of the draws of each search.
        """
        found: list[Found | None] = [None] * len(states)
        groups: dict[int | None, list[int]] = {}
        for k, (state, agent) in enumerate(zip(states, agents, strict=True)):
            groups.setdefault(self._chooser(state, agent), []).append(k)
        for chooser, members in groups.items():
            expander = self._expander(chooser)
            trees = [_Tree(self, expander, states[k], agents[k], seeds[k]) for k in members]
            self._grow(expander, trees)
            for k, tree in zip(members, trees, strict=True):
                found[k] = tree.found()
        return found  # type: ignore[return-value]

    def _chooser(self, state: Any, agent: int) -> int | None:
        """Whose actions branch: None where every mover's do (max^n)."""
        if self._model is None:
            acting = int(np.asarray(self.env.acting(state)).sum())
            if acting <= 1:
                return None
            self._model = self.env.default_policy
        return agent

    def _expander(self, chooser: int | None) -> Expander:
        if chooser not in self._expanders:
            partners = {}
            if chooser is not None:
                policy = device_seat(self.env, self._model)
                partners = {i: policy for i in range(self.env.num_agents) if i != chooser}
            self._expanders[chooser] = expander(self.env, partners, self._hook, self._prior)
        return self._expanders[chooser]

    def _grow(self, expander: Expander, trees: Sequence[_Tree]) -> None:
        rows = np.stack([tree.row for tree in trees])
        seen = expander.look(rows, np.stack([tree.key() for tree in trees]))
        for k, tree in enumerate(trees):
            tree.begin(seen, k)
        for _ in range(self.simulations):
            leaves = [tree.descend() for tree in trees]
            asked = [(tree, leaf) for tree, leaf in zip(trees, leaves, strict=True) if leaf]
            if asked:
                made = expander.step(
                    np.stack([leaf[0] for _, leaf in asked]),
                    np.stack([leaf[1] for _, leaf in asked]),
                    np.stack([tree.key() for tree, _ in asked]),
                )
                for k, (tree, _) in enumerate(asked):
                    tree.add(made, k)

    def chances(self, chooser: int | None) -> int:
        """How many outcomes an edge may have."""
        if self._chances is not None:
            return self._chances
        return 4 if self._draws or chooser is not None else 1


class _Node:
    """A state in a tree.

    Attributes:
        row: the state as bytes.
        mover: whose return decides here, by index.
        actions: i64[K], the legal actions of the mover; `[0]` where the searcher waits.
        visits: i64[K]; total: f64[K], returns of the mover.
        prior: f64[K], or None.
        children: for each action, [(node or None at an end, reward f64[N], draws)].
    """

    __slots__ = ("actions", "children", "mover", "prior", "row", "total", "visits", "worth")

    def __init__(self, row: np.ndarray, mover: int, actions: np.ndarray, prior: np.ndarray | None):
        self.row, self.mover, self.actions, self.prior = row, mover, actions, prior
        self.visits = np.zeros(len(actions), np.int64)
        self.total = np.zeros(len(actions))
        self.children: list[list[list[Any]]] = [[] for _ in actions]
        self.worth = 0.0  # the value function's, for the mover


class _Tree:
    """The tree of one search."""

    def __init__(self, search: Search, expander: Expander, state: Any, agent: int, seed: int):
        self.search, self.expander, self.agent = search, expander, agent
        self.row = expander.row(state)
        self.rng = np.random.default_rng(seed)
        self.chooser = agent if expander.partners else None
        self.chances = search.chances(self.chooser)
        self.low, self.high = np.inf, -np.inf
        self.nodes = 0
        self.root: _Node = None  # type: ignore[assignment]
        self.path: list[tuple[_Node, int, np.ndarray | None]] = []

    def key(self) -> np.ndarray:
        return self.rng.integers(0, 2**32, 2, np.uint32)

    def begin(self, seen: Any, k: int) -> None:
        self.root = self._node(seen, k)
        if not len(self.root.actions) or self.root.mover != self.agent:
            raise SeatError(f"{self.search.env.agents[self.agent]} is not to move here")

    def _node(self, made: Any, k: int) -> _Node:
        self.nodes += 1
        acting, legal = made.acting[k], made.legal[k]
        if self.chooser is None:
            movers = np.flatnonzero(acting)
            if len(movers) > 1:
                raise SeatError(
                    f"in {shorten(self.search.env)} several agents act at once; name partners=, "
                    "the players that the search expects in the other seats"
                )
            mover = int(movers[0]) if len(movers) else self.agent
        else:
            mover = self.chooser
        actions = np.flatnonzero(legal[mover]) if acting[mover] else np.zeros(1, np.int64)
        prior = None
        if made.prior is not None:
            weights = np.maximum(made.prior[k, mover, actions].astype(np.float64), 0)
            total = weights.sum()
            prior = weights / total if total > 0 else np.full(len(actions), 1 / len(actions))
        node = _Node(made.rows[k], mover, actions, prior)
        node.worth = float(made.value[k, mover])
        return node

    def descend(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(row, actions) of the step to make next; None where the way ended at an end of the
        episode, whose return has been added."""
        self.path, node = [], self.root
        while True:
            choice = self._choose(node)
            outcomes = node.children[choice]
            tried = sum(outcome[2] for outcome in outcomes)
            if tried < self.chances:
                self.path.append((node, choice, None))
                moves = np.zeros(self.search.env.num_agents, np.int32)
                moves[node.mover] = node.actions[choice]
                return node.row, moves
            draw = 0
            if len(outcomes) > 1:
                shares = np.array([outcome[2] for outcome in outcomes], float)
                draw = int(self.rng.choice(len(outcomes), p=shares / shares.sum()))
            after, reward, _ = outcomes[draw]
            self.path.append((node, choice, reward))
            if after is None:
                self._back_up(np.zeros(len(reward)))
                return None
            node = after

    def add(self, made: Any, k: int) -> None:
        """The outcome of the step that `descend` asked for."""
        node, choice, _ = self.path.pop()
        reward = made.reward[k].astype(np.float64)
        outcomes = node.children[choice]
        row = made.rows[k]
        known = next(
            (o for o in outcomes if o[0] is not None and np.array_equal(o[0].row, row)), None
        )
        if known is not None:
            known[2] += 1
        else:
            over = (made.terminated[k] | made.truncated[k]).all()
            outcomes.append([None if over else self._node(made, k), reward, 1])
        self.path.append((node, choice, reward))
        self._back_up(made.value[k].astype(np.float64))

    def _back_up(self, returns: np.ndarray) -> None:
        for node, choice, reward in reversed(self.path):
            returns = reward + self.search.discount * returns
            node.visits[choice] += 1
            node.total[choice] += returns[node.mover]
            mean = node.total[choice] / node.visits[choice]
            self.low, self.high = min(self.low, mean), max(self.high, mean)

    def _choose(self, node: _Node) -> int:
        """The action to try at a node, by its place in `actions`."""
        visits = node.visits
        if len(visits) == 1:
            return 0
        spread = self.high - self.low
        count = int(visits.sum())
        if node.prior is None:
            new = np.flatnonzero(visits == 0)
            if len(new):
                return int(new[self.rng.integers(len(new))])
            scaled = (node.total / visits - self.low) / spread if spread > 0 else 0.5
            bonus = np.sqrt(np.log(count) / visits)
        else:
            mean = np.where(visits > 0, node.total / np.maximum(visits, 1), node.worth)
            scaled = np.clip((mean - self.low) / spread, 0, 1) if spread > 0 else 0.5
            bonus = node.prior * np.sqrt(max(count, 1)) / (1 + visits)
        return int(np.argmax(scaled + self.search.c * bonus))

    def found(self) -> Found:
        root, size = self.root, self.expander.num_actions
        values, visits = np.full(size, np.nan), np.zeros(size, np.int64)
        visits[root.actions] = root.visits
        tried = root.visits > 0
        values[root.actions[tried]] = root.total[tried] / root.visits[tried]
        return Found(values, visits, float(root.total.sum() / root.visits.sum()), self.nodes)


def fully_observed(env: Env) -> bool:
    """Whether every agent of a shipped environment knows the whole state: boards, and kitchens
    without a `view_radius`, themselves or in wrappers that hide nothing. Of other environments this
    is not known, and the answer is no."""
    while isinstance(env, Wrapper):
        if env.id not in _HIDDEN_NOTHING:
            return False
        env = env.env
    if isinstance(env, Kitchen):
        return env.view_radius is None
    return isinstance(env, Board)


def search(
    env: Env,
    simulations: int = 100,
    c: float = 0.5,
    value: str | Value = "random",
    rollouts: int = 4,
    horizon: int = 100,
    prior: Prior | None = None,
    partners: Any = "",
    chances: int | None = None,
    discount: float = 1.0,
    temperature: float = 0.0,
    peek: bool = False,
) -> Search:
    """The seat `search:simulations=N,...`, by the options of `Search`."""
    return Search(
        env,
        simulations,
        c,
        value,
        rollouts,
        horizon,
        prior,
        None if partners == "" else partners,
        chances,
        discount,
        temperature,
        peek,
    )
