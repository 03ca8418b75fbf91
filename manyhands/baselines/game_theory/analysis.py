"""The analysis of recorded players: exploitability and dominated actions.

`analyse(record)` plays the episodes of a record again and collects, for every seat, its actions at
each information set: the play of a network, a script or a language model becomes a table, which the
exact methods of `policies.py` evaluate. Where a seat gave the probabilities that it acted by
(`Reply.info["policy"]`), the table holds those in place of the actions drawn from them, and one
visit of an information set tells all.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from manyhands.baselines.game_theory.cfr import Solver
from manyhands.baselines.game_theory.policies import (
    PathLike,
    best_response,
    exploitability,
    from_counts,
    one_hand,
    tree_of,
    uniform,
)
from manyhands.baselines.game_theory.tree import Tree
from manyhands.core.env import ConfigError, Env, RecordError, names_of, shorten
from manyhands.core.view import View

FILLS = ("uniform", "equilibrium")
_NORMAL = 1.959964  # 95 % of a normal distribution lie within this many standard deviations


# ---- dominated actions ---------------------------------------------------------------------------


@functools.lru_cache(maxsize=16)
def dominated(tree: Tree, iterated: bool = False) -> np.ndarray:
    """bool[I, A]: dominated actions.

    An action is marked if there is another one, with a plan for the agent's own later decisions,
    that against all cards and actions of the others earns at least the most that the marked action
    can earn from the same node, and sometimes more. So a marked action is never better than its
    alternative. The converse does not hold: this comparison of best and worst cases does not detect
    every dominated action.

    Args:
        iterated: also mark actions that are dominated against others who avoid all marked actions,
            until none is added (iterated elimination).
    """
    marked = np.zeros(tree.legal.shape, bool)
    while True:
        more = marked.copy()
        for agent in range(tree.num_agents):
            judge = _Judge(tree, agent, marked)
            for i in range(*tree.infosets(agent).indices(tree.num_infosets)):
                for action in np.flatnonzero(tree.legal[i] & ~marked[i]):
                    more[i, action] = judge.is_dominated(i, int(action))
        if not iterated or (more == marked).all():
            more.flags.writeable = False  # cached, so shared by all callers
            return more
        marked = more


class _Judge:
    """Compares one agent's actions, given actions that the others avoid."""

    def __init__(self, tree: Tree, agent: int, avoided: np.ndarray):
        self.tree, self.agent = tree, agent
        size, actions = len(tree.parent), tree.num_actions
        inner = np.flatnonzero(tree.parent >= 0)
        parent, action = tree.parent[inner], tree.action[inner]
        self.child = np.full((size, actions), -1, np.int64)
        self.child[parent, action] = inner
        mover, infoset = tree.player[parent], tree.infoset[parent]
        shunned = np.zeros(size, bool)  # nodes that the others avoid
        shunned[inner] = (mover != agent) & avoided[infoset, action]
        for first, last in list(itertools.pairwise(tree.offsets))[1:]:
            shunned[first:last] |= shunned[tree.parent[first:last]]
        self.possible = ~shunned
        # The highest and the lowest payoff of the agent after each node.
        self.most, self.least = np.full(size, -np.inf), np.full(size, np.inf)
        ends = np.flatnonzero(self.possible[tree.ends])
        self.pay = tree.payoffs[agent]
        self.most[tree.ends[ends]] = self.least[tree.ends[ends]] = self.pay[ends]
        for first, last in list(itertools.pairwise(tree.offsets))[:0:-1]:
            np.maximum.at(self.most, tree.parent[first:last], self.most[first:last])
            np.minimum.at(self.least, tree.parent[first:last], self.least[first:last])
        # For each end, the points of the agent's decisions on the way; by their number.
        depth = int(tree.level[tree.infosets(agent)].max(initial=-1)) + 1
        self.decided = np.full((depth, len(tree.ends)), -1, np.int64)
        point = tree.ends.astype(np.int64)
        while (point >= 0).any():
            own = (point >= 0) & (tree.player[point] == agent)
            self.decided[tree.level[tree.infoset[point[own]]], np.flatnonzero(own)] = point[own]
            point = np.where(point >= 0, tree.parent[point], -1)
        # The ends right after each of its sequences, and the information sets.
        order = ends[np.argsort(tree.sequences[agent, ends], kind="stable")]
        bounds = np.searchsorted(tree.sequences[agent, order], np.arange(tree.empty + 2))
        self.ends = [order[a:b] for a, b in itertools.pairwise(bounds)]
        self.points: dict[int, list[int]] = {}
        for m in np.flatnonzero((tree.player == agent) & self.possible):
            self.points.setdefault(int(tree.infoset[m]), []).append(int(m))
        self.next: dict[int, list[int]] = {}
        for i in self.points:
            self.next.setdefault(int(tree.before[i]), []).append(i)

    def is_dominated(self, infoset: int, action: int) -> bool:
        points = self.points.get(infoset)
        if points is None:  # the others never allow it
            return False
        after = self.child[points, action]
        # Another action need not be strictly better where this one can turn out worse itself.
        strict = bool((self.least[after] < self.most[after]).any())
        needed = np.full(len(self.tree.parent), np.nan)
        needed[points] = self.most[after]
        level = int(self.tree.level[infoset])
        first = infoset * self.tree.num_actions
        for other in np.flatnonzero(self.tree.legal[infoset]):
            if other != action:
                better = self._reaches(first + int(other), needed, level)
                if better or (better is not None and strict):
                    return True
        return False

    def _reaches(self, sequence: int, needed: np.ndarray, level: int) -> bool | None:
        """Whether some plan after a sequence always earns at least `needed`: None if not, else
        whether it can earn more."""
        ends = self.ends[sequence]
        need = needed[self.decided[level, ends]]
        if (self.pay[ends] < need).any():
            return None
        more = bool((self.pay[ends] > need).any())
        for infoset in self.next.get(sequence, ()):
            first = infoset * self.tree.num_actions
            found = [
                self._reaches(first + int(action), needed, level)
                for action in np.flatnonzero(self.tree.legal[infoset])
            ]
            plans = [plan for plan in found if plan is not None]
            if not plans:
                return None
            more |= any(plans)
        return more


@functools.lru_cache(maxsize=8)
def equilibrium(tree: Tree) -> np.ndarray:
    """f64[I, A]: an approximate equilibrium, by CFR+: exploitability below 0.0005, or as good as
    it gets in 20,000 iterations."""
    solver = Solver(tree, "cfr+")
    while solver.iteration < 20_000:
        solver.run(1000)
        table = solver.average()
        if exploitability(tree, table) < 5e-4:
            break
    return table


# ---- what a record shows -------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Share:
    """A frequency: how often an action was taken where it was possible.

    Attributes:
        what: in words.
        count, of: how often it was taken, and the number of opportunities.
        low, high: the range of its probability over all equilibria, where they are known.
        reference: its probability in one equilibrium, where there may be others.
    """

    what: str
    count: int
    of: int
    low: float | None = None
    high: float | None = None
    reference: float | None = None

    @property
    def share(self) -> float:
        return self.count / self.of if self.of else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval (Wilson 1927)."""
        if not self.of:
            return 0.0, 1.0
        z2 = _NORMAL**2 / self.of
        centre = (self.share + z2 / 2) / (1 + z2)
        half = math.sqrt(self.share * (1 - self.share) * z2 + z2 * z2 / 4) / (1 + z2)
        return max(0.0, centre - half), min(1.0, centre + half)

    @property
    def fits(self) -> bool | None:
        """Whether the counts are consistent with an equilibrium."""
        if self.low is None or self.high is None or not self.of:
            return None
        low, high = self.interval
        return low <= self.high + 1e-9 and high >= self.low - 1e-9

    def to_dict(self) -> dict[str, Any]:
        share = self.share if self.of else None
        return {**dataclasses.asdict(self), "share": share, "fits": self.fits}


@dataclasses.dataclass(frozen=True)
class SeatReport:
    """One seat of a record.

    Attributes:
        name: of the seat.
        hands: hands played to their end.
        decisions: actions taken; illegal: answers that were refused, whose no-ops are none of its
            actions; forfeits: hands that it ended so, at the price `forfeited`, in chips, which no
            other figure holds.
        seen: information sets it acted at; known: those of the positions it played.
        chips: mean chips a hand, and error: half the width of the 95 % confidence interval (None
            with fewer than two hands). Hands of one deal, in duplicate matches, count as one.
        by_position: the same for each position that it played in: (position, hands, mean, error).
        exploitability: of the observed policy, chips a hand: in two-player zero-sum games the mean,
            over the positions that it played, of the winnings of a best response above the value
            of the game; in others, `nash_conv` by agent if all played this policy. With few hands
            it is overestimated.
        dominated, dominated_iterated: how often it took a dominated action where there was one (see
            `dominated`).
        mistakes: the dominated actions it took, with their frequencies.
        frequencies: its bluffs and calls, compared with an equilibrium.
        counts: i64[I, A], all its actions.
        policy: f64[I, A], the observed policy, completed by `fill`: at each information set the
            mean over its decisions of the probabilities that the seat gave, or, where it gave none,
            of the action taken.
        distributions: the decisions for which it gave probabilities.
    """

    name: str
    hands: int
    decisions: int
    illegal: int
    forfeits: int
    forfeited: float
    seen: int
    known: int
    chips: float | None
    error: float | None
    by_position: tuple[tuple[int, int, float, float | None], ...]
    exploitability: float | None
    dominated: Share
    dominated_iterated: Share
    mistakes: tuple[Share, ...]
    frequencies: tuple[Share, ...]
    counts: np.ndarray
    policy: np.ndarray
    distributions: int = 0

    @property
    def source(self) -> str:
        """Where the policy comes from: `"counts"`, `"distributions"` or `"both"`."""
        if not self.distributions:
            return "counts"
        return "distributions" if self.distributions == self.decisions else "both"


@dataclasses.dataclass(frozen=True)
class Analysis:
    """The result of `analyse`; `show()` prints it.

    Attributes:
        env: the game of one hand; tree: its tree.
        episodes: episodes read.
        fill: the policy assumed where a seat never acted.
        seats: one report each.
    """

    env: Env
    tree: Tree
    episodes: int
    fill: str
    seats: tuple[SeatReport, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        seats = []
        for seat in self.seats:
            entry: dict[str, Any] = {}
            for field in dataclasses.fields(seat):
                value = getattr(seat, field.name)
                if isinstance(value, Share):
                    value = value.to_dict()
                elif field.name in ("mistakes", "frequencies"):
                    value = [share.to_dict() for share in value]
                elif isinstance(value, np.ndarray):
                    continue
                entry[field.name] = value
            entry["policy"] = [
                {
                    "agent": self.tree.env.agents[self.tree.owner[i]],
                    "at": self.tree.names[i],
                    "counts": seat.counts[i].tolist(),
                    "probabilities": seat.policy[i].tolist(),
                }
                for i in np.flatnonzero(seat.counts.sum(axis=1))
            ]
            entry["source"] = seat.source
            seats.append(entry)
        return {
            "env": self.env.spec(),
            "episodes": self.episodes,
            "fill": self.fill,
            "seats": seats,
        }

    def show(self) -> None:
        """Print it as tables."""
        from rich.console import Console
        from rich.table import Table

        console = Console()
        table = Table(title=f"{self.env!r}: {self.episodes:,} episodes")
        for column in ("", *(seat.name for seat in self.seats)):
            table.add_column(column, justify="right" if column else "left")
        for label, cell in _ROWS:
            table.add_row(label, *(cell(seat) for seat in self.seats))
        for position in range(self.env.num_agents):
            found = [dict((p, rest) for p, *rest in seat.by_position) for seat in self.seats]
            cells = [_chips(*entry[position][1:]) if position in entry else "" for entry in found]
            table.add_row(f"  in position {position}", *cells)
        console.print(table)
        for seat in self.seats:
            if seat.mistakes:
                table = Table("dominated", "times", "of", title=f"{seat.name}: mistakes")
                for share in seat.mistakes:
                    table.add_row(share.what, str(share.count), str(share.of))
                console.print(table)
            table = Table(title=f"{seat.name}: compared with equilibrium")
            for column in ("", "times", "of", "share (95 %)", "equilibrium", ""):
                table.add_column(column, justify="right" if column else "left")
            for share in seat.frequencies:
                low, high = share.interval
                table.add_row(
                    share.what,
                    str(share.count),
                    str(share.of),
                    f"{share.share:.2f} ({low:.2f} to {high:.2f})" if share.of else "",
                    span(share.low, share.high, share.reference),
                    {None: "", True: "", False: "off"}[share.fits],
                )
            console.print(table)
        few = "" if all(seat.source == "distributions" for seat in self.seats) else _FEW
        console.print(f"Exploitability fills unseen information sets in by: {self.fill}.{few}")


_FEW = " Few hands make it too large where policies are counted."


def _source(seat: SeatReport) -> str:
    if seat.source == "both":
        return f"distributions ({seat.distributions:,} decisions), counts"
    return seat.source


def _chips(mean: float | None, error: float | None) -> str:
    if mean is None:
        return ""
    return f"{mean:+.4f}" + ("" if error is None else f" ± {error:.4f}")


def _percent(share: Share) -> str:
    return f"{share.share:.1%} ({share.count} of {share.of})" if share.of else "no occasion"


def span(low: float | None, high: float | None, reference: float | None) -> str:
    """What an equilibrium does, in a cell."""
    if reference is not None:
        return f"{reference:.2f}"
    if low is None or high is None:
        return ""
    if abs(high - low) < 5e-4:
        return f"{low:.2f}"
    return f"{low:.2f} to {high:.2f}"


_ROWS = (
    ("hands", lambda seat: f"{seat.hands:,}"),
    ("decisions", lambda seat: f"{seat.decisions:,}"),
    ("illegal answers", lambda seat: f"{seat.illegal:,}"),
    ("forfeits, and their price", lambda seat: f"{seat.forfeits:,}, {seat.forfeited:g}"),
    ("information sets seen", lambda seat: f"{seat.seen} of {seat.known}"),
    ("policy from", _source),
    ("dominated actions", lambda seat: _percent(seat.dominated)),
    ("  iterated", lambda seat: _percent(seat.dominated_iterated)),
    (
        "exploitability, chips a hand",
        lambda seat: "" if seat.exploitability is None else f"{seat.exploitability:.4f}",
    ),
    ("chips a hand", lambda seat: _chips(seat.chips, seat.error)),
)


def analyse(path: PathLike, fill: str = "uniform") -> Analysis:
    """Analyse the seats of a record of a small game.

    Illegal answers count as the action that was played instead.

    Args:
        path: a record (`play(record=...)`).
        fill: the policy assumed where a seat never acted: `"uniform"`, or `"equilibrium"`, so that
            only observed play counts against it.

    Raises:
        RecordError: the record cannot be read or played again.
        ConfigError: its game is too large to unroll.
    """
    from manyhands.core.record import read

    if fill not in FILLS:
        raise ConfigError(f"fill is {names_of(FILLS)}, given {fill!r}")
    log: _Log | None = None
    episodes = 0
    for episode in read(path):
        if log is None:
            log = _Log(episode)
        log.add(episode)
        episodes += 1
    if log is None:
        raise RecordError(f"{path} holds no finished episode")
    reports = [log.report(number, fill) for number in range(len(log.names))]
    return Analysis(log.tree.env, log.tree, episodes, fill, tuple(reports))


class _Log:
    """The counts of the seats of a record."""

    def __init__(self, episode: Any):
        self.spec, self.env = episode.spec, episode.env()
        self.base = self.env
        while isinstance(inner := self.base.__dict__.get("env"), Env):
            self.base = inner  # a wrapper adds to observations and actions at the end
        self.tree = tree_of(one_hand(self.base))
        self.seats = episode.seats
        repeated = {name for name in self.seats if self.seats.count(name) > 1}
        self.names = [
            f"{name} ({k})" if name in repeated else name for k, name in enumerate(self.seats)
        ]
        count = len(self.names)
        self.counts = np.zeros((count, *self.tree.legal.shape), np.int64)
        self.chances = np.zeros((count, *self.tree.legal.shape))  # sums of probabilities
        self.distributions = [0] * count
        self.illegal, self.forfeits = [0] * count, [0] * count
        self.forfeited = [0.0] * count
        # For each seat: (what makes hands one sample, position, chips).
        self.hands: list[list[tuple[tuple[int, int], int, float]]] = [[] for _ in range(count)]

    def add(self, episode: Any) -> None:
        from manyhands.core.record import frames

        if episode.spec != self.spec or episode.seats != self.seats:
            raise RecordError(
                f"line {episode.line} is of another game or other seats than the first; analyse "
                "them one by one"
            )
        players, n = episode.result.players, self.env.num_agents
        hand, opener, before = 0, 0, None
        for moment in frames(episode, self.env):
            turn = moment.turn
            if turn is not None:
                for agent in turn.illegal:
                    self.illegal[players[agent]] += 1
                for agent in turn.forfeits:
                    self.forfeits[players[agent]] += 1
                    self.forfeited[players[agent]] -= self._chips(moment, agent)
            if turn is not None and before is not None and not turn.forfeits:
                for agent, action in turn.actions.items():
                    if agent in turn.illegal:
                        continue
                    infoset = self.tree.find(before.views[agent].vector, agent)
                    if infoset is None:
                        raise RecordError(
                            f"line {episode.line}, step {moment.step}: what "
                            f"{self.env.agents[agent]} saw is not in the tree of {self.tree.env!r}"
                        )
                    opener = (agent - int(self.tree.owner[infoset])) % n
                    first = int(self.tree.env.action_space.start)  # type: ignore[attr-defined]
                    number = int(np.ravel(action)[0]) - first
                    self.counts[players[agent], infoset, number] += 1
                    given = turn.info.get(agent, {}).get("policy")
                    if given is None:
                        self.chances[players[agent], infoset, number] += 1
                        continue
                    try:
                        row = distribution(self.tree, infoset, given, before.views[agent])
                    except ConfigError as error:
                        where = f"line {episode.line}, step {moment.step}"
                        raise RecordError(f"{where}: {error}") from error
                    self.chances[players[agent], infoset] += row
                    self.distributions[players[agent]] += 1
                if self._ended(moment):
                    deal = hand % (self.base.num_deals or hand + 1)
                    for agent in range(n):
                        sample = (episode.result.episode, deal)
                        chips = self._chips(moment, agent)
                        self.hands[players[agent]].append((sample, (agent - opener) % n, chips))
                    hand += 1
            before = moment

    def _ended(self, moment: Any) -> bool:
        metrics = moment.frame.metrics
        return bool(metrics["hands"] > 0 if "hands" in metrics else moment.over)

    def _chips(self, moment: Any, agent: int) -> float:
        terms = moment.frame.terms
        return float(terms["chips"][agent] if "chips" in terms else moment.rewards[agent])

    def report(self, number: int, fill: str) -> SeatReport:
        tree, counts, hands = self.tree, self.counts[number], self.hands[number]
        filled = uniform(tree) if fill == "uniform" else equilibrium(tree)
        policy, seen = from_counts(tree, self.chances[number], filled)
        positions = sorted({position for _, position, _ in hands})
        chips, error = _mean(hands)
        known = sum(int(np.diff(tree.first)[p]) for p in positions)
        return SeatReport(
            name=self.names[number],
            hands=len(hands),
            decisions=int(counts.sum()),
            illegal=self.illegal[number],
            forfeits=self.forfeits[number],
            forfeited=self.forfeited[number],
            seen=int(seen.sum()),
            known=known,
            chips=chips,
            error=error,
            by_position=tuple(
                (p, len(part), *_mean(part))  # type: ignore[misc]
                for p in positions
                for part in [[hand for hand in hands if hand[1] == p]]
            ),
            exploitability=_exploitability(tree, policy, positions),
            dominated=_wrong(tree, counts, dominated(tree), "dominated"),
            dominated_iterated=_wrong(
                tree, counts, dominated(tree, iterated=True), "dominated, iterated"
            ),
            mistakes=tuple(_mistakes(tree, counts)),
            frequencies=tuple(_frequencies(tree, counts)),
            counts=counts,
            policy=policy,
            distributions=self.distributions[number],
        )


def distribution(tree: Tree, infoset: int, given: Any, view: View) -> np.ndarray:
    """f64[A]: the probabilities of a reply (`Reply.info["policy"]`) at an information set.

    Args:
        given: one for each legal action, in action order. In a wrapped environment, one for each of
            the view's choices: in a chat channel, words alone count as the action that they are
            said with.

    Raises:
        ConfigError: they are no probabilities, or not as many as there are actions.
    """
    legal = np.flatnonzero(tree.legal[infoset])
    try:
        chances = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        chances = np.full(1, np.nan)
    if chances.ndim != 1 or not (chances >= 0).all() or abs(chances.sum() - 1) > 1e-3:
        raise ConfigError(
            f"info['policy'] is a list of probabilities that sum to 1, given {shorten(given)}"
        )
    row = np.zeros(tree.num_actions)
    if len(chances) == len(legal):
        row[legal] = chances
        return row / row.sum()
    choices = view.all_choices
    if len(chances) != len(choices) or any(choice.action is None for choice in choices):
        raise ConfigError(
            f"info['policy'] has {len(chances)} probabilities, and {len(legal)} actions are legal"
        )
    first = int(tree.env.action_space.start)  # type: ignore[attr-defined]
    for choice, chance in zip(choices, chances, strict=True):
        row[int(np.ravel(choice.action)[0]) - first] += chance
    if (row[~tree.legal[infoset]] > 0).any():
        raise ConfigError("info['policy'] has probabilities of actions that are not legal")
    return row / row.sum()


def _mean(hands: list[tuple[tuple[int, int], int, float]]) -> tuple[float | None, float | None]:
    """Mean chips, and half the width of the 95 % confidence interval."""
    samples: dict[tuple[int, int], list[float]] = {}
    for sample, _, chips in hands:
        samples.setdefault(sample, []).append(chips)
    means = [float(np.mean(part)) for part in samples.values()]
    if not means:
        return None, None
    if len(means) < 2:
        return means[0], None
    return float(np.mean(means)), float(_NORMAL * np.std(means, ddof=1) / len(means) ** 0.5)


def _exploitability(tree: Tree, policy: np.ndarray, positions: list[int]) -> float | None:
    if not positions:
        return None
    if tree.num_agents != 2 or not tree.zero_sum:
        return exploitability(tree, policy)
    value = _value(tree)
    losses = [best_response(tree, policy, 1 - p)[0] + value[p] for p in positions]
    return max(0.0, float(np.mean(losses)))


def _value(tree: Tree) -> np.ndarray:
    """f64[2]: the value of a zero-sum game, to the accuracy of `equilibrium`: between the values of
    both best responses to it."""
    table = equilibrium(tree)
    gap = best_response(tree, table, 0)[0] - best_response(tree, table, 1)[0]
    return np.array([gap / 2, -gap / 2])


def _wrong(tree: Tree, counts: np.ndarray, marked: np.ndarray, what: str) -> Share:
    where = marked.any(axis=1)
    return Share(what, int(counts[marked].sum()), int(counts[where].sum()))


def _mistakes(tree: Tree, counts: np.ndarray) -> Iterator[Share]:
    marked = np.argwhere(dominated(tree, iterated=True) & (counts > 0))
    plainly = dominated(tree)
    for i, action in sorted(marked.tolist(), key=lambda at: -counts[at[0], at[1]]):
        agent = tree.env.agents[tree.owner[i]]
        what = f"{agent} with {tree.names[i]}: {tree.word(i, action)}"
        what += "" if plainly[i, action] else " (iterated)"
        yield Share(what, int(counts[i, action]), int(counts[i].sum()))


def _frequencies(tree: Tree, counts: np.ndarray) -> Iterator[Share]:
    env: Any = tree.env
    if env.id == "kuhn_poker" and env.num_agents == 2:
        for what, i, low, high in kuhn_bets(tree):
            yield Share(what, int(counts[i, 1]), int(counts[i].sum()), low, high)
        return
    for what, count, of, expected in kinds_of_actions(tree, counts):
        yield Share(what, round(count), round(of), reference=expected)


def kinds_of_actions(tree: Tree, weights: np.ndarray) -> Iterator[tuple[str, float, float, float]]:
    """Each kind of action by private card and legal actions, compared with one equilibrium at the
    same information sets: (in words, its weight, the weight of all, its share in equilibrium).

    Args:
        weights: [I, A], how often each action is taken.
    """
    table = equilibrium(tree)
    groups: dict[tuple[str, ...], dict[str, list[float]]] = {}
    named = any(name != str(i) for i, name in enumerate(tree.names))
    for i in np.flatnonzero(weights.sum(axis=1)):
        options = [word.partition(" ")[0] for word in tree.words[i]]
        held = tree.names[i].partition(" ")[0][:1] if named else ""
        facing = "to a bet" if "fold" in options else "without a bet"
        group = groups.setdefault((facing, held), {})
        for option, action in zip(options, np.flatnonzero(tree.legal[i]), strict=True):
            entry = group.setdefault(option, [0, 0, 0.0])
            entry[0] += weights[i, action]
            entry[1] += weights[i].sum()
            entry[2] += weights[i].sum() * table[i, action]
    for (facing, held), group in sorted(groups.items()):
        for option, (weight, of, expected) in group.items():
            what = f"{option} {f'with {held} ' if held else ''}{facing}"
            yield what, float(weight), float(of), float(expected / of)


def kuhn_bets(tree: Tree) -> Iterator[tuple[str, int, float, float]]:
    """Bets and calls of two-player Kuhn poker: (in words, information set, the least and the most
    probability over the family of equilibria)."""
    third = 1 / 3
    rows = (
        ("first: J bets, a bluff (a)", 0, "J", 0.0, third),
        ("first: Q bets", 0, "Q", 0.0, 0.0),
        ("first: K bets (3a)", 0, "K", 0.0, 1.0),
        ("first: J calls", 0, "J pr", 0.0, 0.0),
        ("first: Q calls (a + 1/3)", 0, "Q pr", third, 2 * third),
        ("first: K calls", 0, "K pr", 1.0, 1.0),
        ("second: J bets, a bluff", 1, "J p", third, third),
        ("second: Q bets", 1, "Q p", 0.0, 0.0),
        ("second: K bets", 1, "K p", 1.0, 1.0),
        ("second: J calls", 1, "J r", 0.0, 0.0),
        ("second: Q calls", 1, "Q r", third, third),
        ("second: K calls", 1, "K r", 1.0, 1.0),
    )
    number = {(int(tree.owner[i]), name): i for i, name in enumerate(tree.names)}
    for what, owner, name, low, high in rows:
        yield what, number[owner, name], low, high
