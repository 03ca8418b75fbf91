"""A seat's policy asked for, at every information set of a small game, and judged exactly.

`judge(env, seat)` plays nothing. It shows the seat one view of each information set and takes the
probabilities that it gives (`Reply.info["policy"]`); tables and networks are read off. What a seat
without probabilities does is counted, over `samples` answers to each information set. The result is
a table, which the exact methods of `policies.py` evaluate.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import inspect
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.game_theory.analysis import (
    distribution,
    dominated,
    kinds_of_actions,
    kuhn_bets,
    span,
)
from manyhands.baselines.game_theory.policies import (
    TablePolicy,
    best_response,
    expected_values,
    exploitability,
    from_counts,
    nash_conv,
    one_hand,
    tabulate,
    tree_of,
    uniform,
)
from manyhands.baselines.game_theory.tree import Tree, root_states
from manyhands.baselines.players.random import Random
from manyhands.core.config import whole
from manyhands.core.env import (
    ConfigError,
    DeviceView,
    Env,
    IllegalAction,
    SeatError,
    Wrapper,
    episode_key,
    is_device_policy,
)
from manyhands.core.episode import Game, Turn, check_action, episode_seed, member_seed, view_seed
from manyhands.core.pack import stepper
from manyhands.core.registry import make
from manyhands.core.seats import seat_policy
from manyhands.core.view import Reply, View

_BATCH = 64  # views in one call of `act`
_SMALL = 0.0005  # probabilities below it are not listed as mistakes


@dataclasses.dataclass(frozen=True)
class Chance:
    """The probability of an action, or of a kind of actions.

    Attributes:
        what: in words.
        probability: where it is possible; of kinds, weighted by how often it is when this policy
            plays itself. None where that is never.
        low, high: the range over all equilibria, where they are known.
        reference: in one equilibrium, where there may be others.
    """

    what: str
    probability: float | None
    low: float | None = None
    high: float | None = None
    reference: float | None = None

    @property
    def fits(self) -> bool | None:
        """Whether an equilibrium may have this probability, to 0.01."""
        if self.low is None or self.high is None or self.probability is None:
            return None
        return self.low - 0.01 <= self.probability <= self.high + 0.01


@dataclasses.dataclass(frozen=True)
class Judgement:
    """The result of `judge`; `show()` prints it.

    Attributes:
        env: the game of one hand; tree: its tree.
        name: of the seat.
        policy: f64[I, A].
        exact: bool[I], where the probabilities are the seat's own; elsewhere actions were counted.
        samples: answers asked for at each information set where they were not.
        illegal: answers among these that were refused, which are not counted. unread: information
            sets at which all of them were, whose policy is assumed uniform.
        exploitability: chips a hand; in two-player zero-sum games what a best response wins above
            the value of the game, mean over both seats. nash_conv: the sum of the agents' gains.
        values: f64[N], what each agent earns where all play this policy; against: f64[N], where all
            others do, and it plays a best response.
        dominated, dominated_iterated: the probability of a dominated action where there is one
            (`dominated`), weighted by how often this policy gets there when it plays itself.
        mistakes: the dominated actions, those that cost most often first.
        frequencies: bluffs and calls, compared with an equilibrium.
    """

    env: Env
    tree: Tree
    name: str
    policy: np.ndarray
    exact: np.ndarray
    samples: int
    illegal: int
    unread: int
    exploitability: float
    nash_conv: float
    values: np.ndarray
    against: np.ndarray
    dominated: Chance
    dominated_iterated: Chance
    mistakes: tuple[Chance, ...]
    frequencies: tuple[Chance, ...]

    @property
    def source(self) -> str:
        """Where the policy comes from: `"distributions"`, `"counts"` or `"both"`."""
        if self.exact.all():
            return "distributions"
        return "both" if self.exact.any() else "counts"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        entry: dict[str, Any] = {"env": self.env.spec(), "seat": self.name, "source": self.source}
        for name in ("samples", "illegal", "unread", "exploitability", "nash_conv"):
            entry[name] = getattr(self, name)
        for name in ("values", "against"):
            numbers = getattr(self, name).tolist()
            entry[name] = dict(zip(self.env.agents, numbers, strict=True))
        for name in ("dominated", "dominated_iterated"):
            entry[name] = dataclasses.asdict(getattr(self, name))
        for name in ("mistakes", "frequencies"):
            entry[name] = [dataclasses.asdict(chance) for chance in getattr(self, name)]
        tree = self.tree
        entry["policy"] = [
            {
                "agent": self.env.agents[tree.owner[i]],
                "at": tree.names[i],
                "probabilities": {
                    tree.word(i, int(action)): float(self.policy[i, action])
                    for action in np.flatnonzero(tree.legal[i])
                },
                "exact": bool(self.exact[i]),
            }
            for i in range(tree.num_infosets)
        ]
        return entry

    def show(self) -> None:
        """Print it as tables."""
        from rich.console import Console
        from rich.table import Table

        console, count = Console(), self.tree.num_infosets
        table = Table(title=f"{self.env!r}: {self.name}", show_header=False)
        table.add_column()
        table.add_column(justify="right")
        asked = {
            "distributions": f"its own, at all {count}",
            "counts": f"counted, {self.samples} answers at each of {count}",
            "both": f"its own at {int(self.exact.sum())} of {count}, else {self.samples} answers",
        }
        rows = [("policy", asked[self.source])]
        if self.illegal:
            rows.append(("illegal answers", f"{self.illegal:,}; uniform at {self.unread}"))
        rows += [
            ("exploitability, chips a hand", f"{self.exploitability:.4f}"),
            ("NashConv", f"{self.nash_conv:.4f}"),
            ("dominated actions", _percent(self.dominated)),
            ("  iterated", _percent(self.dominated_iterated)),
        ]
        for agent, value, most in zip(self.env.agents, self.values, self.against, strict=True):
            text = f"{value:+.4f}; a best response {most:+.4f}"
            rows.append((f"{agent} against this policy", text))
        for row in rows:
            table.add_row(*row)
        console.print(table)
        if self.mistakes:
            table = Table("dominated", "probability", title="mistakes")
            for chance in self.mistakes:
                table.add_row(chance.what, f"{chance.probability:.3f}")
            console.print(table)
        table = Table(title="compared with equilibrium")
        for column in ("", "probability", "equilibrium", ""):
            table.add_column(column, justify="right" if column else "left")
        for chance in self.frequencies:
            table.add_row(
                chance.what,
                "" if chance.probability is None else f"{chance.probability:.3f}",
                span(chance.low, chance.high, chance.reference),
                "off" if chance.fits is False else "",
            )
        console.print(table)


def _percent(chance: Chance) -> str:
    return "no occasion" if chance.probability is None else f"{chance.probability:.1%}"


def judge(env: Env | str, seat: Any, samples: int = 0, *, seed: int = 0) -> Judgement:
    """Judge a seat at every information set of a game, without playing.

    Every view is one of an episode of its own, at the step that it would have: a seat that
    remembers earlier turns is asked as if it had joined there.

    Args:
        env: a game with a tree (`unroll`); of a match, one hand is judged.
        seat: as in `play`: a name, a policy, a device policy, or a function of one view.
        samples: how many answers are counted at each information set where the seat gives no
            probabilities; 1 is enough for one that always answers alike.
        seed: of the views' random numbers.

    Raises:
        ConfigError: the game has no tree that fits in memory.
        SeatError: the seat failed, or gives no probabilities while `samples` is 0.
    """
    env = make(env) if isinstance(env, str) else env
    samples = whole("samples", samples, 0)
    if isinstance(env, Wrapper):
        raise ConfigError(
            f"a game is judged without wrappers, given {env!r}; judge {env.unwrapped!r}"
        )
    env = one_hand(env)
    policy, name = seat_policy(env, seat)
    asked = _Asked(tree_of(env), name, samples, seed)
    asked.ask(policy)
    return _judged(asked)


class _Asked:
    """What a seat answers at the information sets of a tree."""

    def __init__(self, tree: Tree, name: str, samples: int, seed: int):
        self.tree, self.name, self.samples, self.seed = tree, name, samples, seed
        self.exact = np.zeros(tree.num_infosets, bool)
        self.table = np.zeros(tree.legal.shape)  # probabilities, or counts
        self.illegal = 0

    def ask(self, policy: Any) -> None:
        table = _table(self.tree, policy)
        if table is not None:
            self.table, self.exact[:] = table, True
        elif is_device_policy(policy):
            self._needs_samples()
            self.table = _drawn(self.tree, policy, self.samples, self.seed)
        else:
            # In a thread of its own there is no event loop yet, also in a notebook.
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                pool.submit(asyncio.run, self._ask(policy)).result()

    def _needs_samples(self) -> None:
        if not self.samples:
            raise SeatError(
                f"the seat {self.name!r} gives no probabilities (info['policy']); say how many "
                "answers to count at each information set: samples=100, or 1 if it always answers "
                "alike"
            )

    async def _ask(self, policy: Any) -> None:
        moments = _moments(self.tree, self.seed)
        try:
            while part := list(itertools.islice(moments, _BATCH)):
                await self._answers(policy, part, 0)
                left = [(i, game) for i, game in part if not self.exact[i]]
                for sample in range(1, self.samples if left else 0):
                    await self._answers(policy, left, sample)
        finally:
            if hasattr(policy, "aclose"):
                await policy.aclose()

    async def _answers(self, policy: Any, part: Sequence[tuple[int, Game]], sample: int) -> None:
        tree = self.tree
        views = [_view(tree, i, game, sample) for i, game in part]
        try:
            answers = policy.act(views)
            answers = list(await answers if inspect.isawaitable(answers) else answers)
        except SeatError:
            raise
        except Exception as error:
            raise SeatError(
                f"the seat {self.name!r} failed: {type(error).__name__}: {error}"
            ) from error
        if len(answers) != len(views):
            raise SeatError(
                f"the seat {self.name!r} gave {len(answers)} answers to {len(views)} views"
            )
        first = int(tree.env.action_space.start)  # type: ignore[attr-defined]
        for (i, _), view, answer in zip(part, views, answers, strict=True):
            reply = answer if isinstance(answer, Reply) else Reply(answer)
            given = reply.info.get("policy")
            if given is not None and not sample:
                try:
                    self.table[i] = distribution(tree, i, given, view)
                except ConfigError as error:
                    raise SeatError(
                        f"the seat {self.name!r}, as {view.agent} with {tree.names[i]}: {error}"
                    ) from error
                self.exact[i] = True
                continue
            self._needs_samples()
            try:
                if reply.action is None:
                    raise IllegalAction(reply.error or "no action was given")
                action = reply.action
                action = view.parse(action) if isinstance(action, str) else action
                self.table[i, int(check_action(tree.env, view.legal, action)) - first] += 1
            except IllegalAction:
                self.illegal += 1


def _table(tree: Tree, policy: Any) -> np.ndarray | None:
    """The probabilities of a policy that can be read off."""
    if isinstance(policy, TablePolicy):
        return policy.on(tree)
    if isinstance(policy, Random):
        return uniform(tree)
    if is_device_policy(policy) and callable(getattr(policy, "chances", None)):
        return tabulate(tree, policy)
    return None


def _drawn(tree: Tree, policy: Any, samples: int, seed: int) -> np.ndarray:
    """[I, A]: how often a device policy takes each action, from its first memory."""
    env: Any = tree.env
    if type(env).perceive is not Env.perceive:
        raise ConfigError(
            f"the tree of {env!r} keeps observations; device policies may read others"
        )
    counts = np.zeros(tree.legal.shape)
    for agent in range(tree.num_agents):
        rows = tree.infosets(agent)
        memory = policy.init(env, agent)

        def one(key: Any, seen: Any, legal: Any, agent: int = agent, memory: Any = memory) -> Any:
            view = DeviceView(seen, seen, legal, jnp.bool_(True))
            return policy.apply(env, agent, memory, key, view)[0]

        some = jax.vmap(one, (0, None, None))
        every = jax.jit(jax.vmap(some, (0, 0, 0)))
        size = rows.stop - rows.start
        keys = jax.random.split(jax.random.fold_in(episode_key(seed), agent), (size, samples))
        drawn = np.asarray(every(keys, tree.observations[rows], tree.legal[rows]))
        actions = drawn.reshape(size, samples) - int(env.action_space.start)
        np.add.at(counts, (np.arange(rows.start, rows.stop)[:, None], actions), 1)
    return np.where(tree.legal, counts, 0)


def _moments(tree: Tree, seed: int) -> Iterator[tuple[int, Game]]:
    """An episode that has come to each information set: by the first point of it."""
    env, states = tree.env, root_states(tree.env)
    found, firsts = np.unique(tree.infoset, return_index=True)
    for i, point in zip(found.tolist(), firsts.tolist(), strict=True):
        if i < 0:  # ends
            continue
        deal = int(tree.deal[point])
        state = jax.tree_util.tree_map(lambda leaf, deal=deal: leaf[..., deal], states)
        game = Game(env, episode_seed(seed, i), i, frame=stepper(env).view(state))
        for agent, action in tree.line(point):
            first = int(env.action_space.start)  # type: ignore[attr-defined]
            game.advance(Turn(actions={agent: action + first}))
        yield i, game


def _view(tree: Tree, infoset: int, game: Game, sample: int) -> View:
    """What the agent sees; sample after sample with other random numbers, in other episodes."""
    agent = int(tree.owner[infoset])
    view = game.views[agent]
    if not sample:
        return view
    seed = view_seed(member_seed(game.seed, sample), agent, game.step)
    episode = game.episode + sample * tree.num_infosets
    return View(
        tree.env, game.frame, agent, episode=episode, step=view.step, turn=view.turn, seed=seed
    )


# ---- what they are worth -------------------------------------------------------------------------


def _judged(asked: _Asked) -> Judgement:
    tree = asked.tree
    policy, read = from_counts(tree, asked.table)
    reached = visits(tree, policy)
    plain, iterated = dominated(tree), dominated(tree, iterated=True)
    best = [best_response(tree, policy, agent)[0] for agent in range(tree.num_agents)]
    return Judgement(
        env=tree.env,
        tree=tree,
        name=asked.name,
        policy=policy,
        exact=asked.exact,
        samples=asked.samples,
        illegal=asked.illegal,
        unread=int((~read).sum()),
        exploitability=max(0.0, exploitability(tree, policy)),
        nash_conv=max(0.0, nash_conv(tree, policy)),
        values=expected_values(tree, policy),
        against=np.array(best),
        dominated=_wrong(policy, reached, plain, "dominated"),
        dominated_iterated=_wrong(policy, reached, iterated, "dominated, iterated"),
        mistakes=tuple(_mistakes(tree, policy, reached, plain, iterated)),
        frequencies=tuple(_frequencies(tree, policy, reached)),
    )


def visits(tree: Tree, policy: np.ndarray) -> np.ndarray:
    """f64[I]: how often each information set is reached in a hand where all play `policy`."""
    chance = tree.deals[tree.deal].copy()
    for first, last in list(itertools.pairwise(tree.offsets))[1:]:
        parent = tree.parent[first:last]
        taken = policy[tree.infoset[parent], tree.action[first:last]]
        chance[first:last] = chance[parent] * taken
    inner = tree.infoset >= 0
    return np.bincount(tree.infoset[inner], chance[inner], tree.num_infosets)


def _wrong(policy: np.ndarray, reached: np.ndarray, marked: np.ndarray, what: str) -> Chance:
    where = marked.any(axis=1)
    weight = float(reached[where].sum())
    wrong = float((reached[:, None] * policy)[marked].sum())
    return Chance(what, wrong / weight if weight > 0 else None)


def _mistakes(
    tree: Tree, policy: np.ndarray, reached: np.ndarray, plain: np.ndarray, marked: np.ndarray
) -> Iterator[Chance]:
    found = np.argwhere(marked & (policy >= _SMALL)).tolist()
    for i, action in sorted(found, key=lambda at: -reached[at[0]] * policy[at[0], at[1]]):
        what = f"{tree.env.agents[tree.owner[i]]} with {tree.names[i]}: {tree.word(i, action)}"
        what += "" if plain[i, action] else " (iterated)"
        yield Chance(what, float(policy[i, action]))


def _frequencies(tree: Tree, policy: np.ndarray, reached: np.ndarray) -> Iterator[Chance]:
    env: Any = tree.env
    if env.id == "kuhn_poker" and env.num_agents == 2:
        for what, i, low, high in kuhn_bets(tree):
            yield Chance(what, float(policy[i, 1]), low, high)
        return
    for what, weight, of, expected in kinds_of_actions(tree, policy * reached[:, None]):
        yield Chance(what, weight / of, reference=expected)
