"""The first error of a player in an episode: its earliest decision that had a better alternative.

An episode that is lost has often been lost at one decision, early on. `first_errors(record)` finds
it by the values of all legal actions: exactly for boards (perfect play) and poker (the best
response to an equilibrium, or to a table of your own), and for any game by a function of yours,
such as a search.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from manyhands.core.coach import heard
from manyhands.core.config import number
from manyhands.core.env import ConfigError, Env, shorten, unwrap
from manyhands.core.export import answered, coached, export_file, prompt_of
from manyhands.core.record import Episode, PathLike, frames, plain, read
from manyhands.core.view import View
from manyhands.envs.board import solvers
from manyhands.envs.board.env import Board
from manyhands.envs.poker import KuhnPoker, LeducHoldem

# f(env, state, agent index) -> action -> its value to the agent, for the actions that are judged.
Values = Callable[[Env, Any, int], Mapping[int, float]]


@dataclasses.dataclass(frozen=True)
class FirstError:
    """A decision for which there was a better one.

    Attributes:
        episode, line: number of the episode, and of its line in the record.
        agent, seat: who decided, and the name of the seat.
        step: number of the step; turn: how many decisions of the agent were before it.
        action, best: what was played (None: an answer that was refused) and the best action;
            `words` and `best_words` are their words.
        value, best_value: what they are worth to the agent; a refused answer is worth what was
            played in its place.
        total: the agent's return in the episode.
        prompt, answer: what it read, and its answer, as exports write them.
    """

    episode: int
    line: int
    agent: str
    seat: str
    step: int
    turn: int
    action: int | None
    best: int
    words: str
    best_words: str
    value: float
    best_value: float
    total: float
    prompt: str
    answer: str


def first_errors(
    path: PathLike, value: Values | str = "exact", *, tolerance: float = 0.01
) -> Iterator[FirstError]:
    """The first error of each agent in each episode of a record; agents without one are left out.

    Args:
        path: the record.
        value: `f(env, state, agent) -> {action: value}`, of the legal actions of the agent to move;
            actions that it leaves out are not judged. "exact": `board_values` or `poker_values`.
        tolerance: how much worse than the best action an error is at least, in reward.

    Raises:
        ConfigError: "exact", and the game has no exact values; or actions are not `Discrete`.
        RecordError: the record cannot be read or does not fit its environment.
    """
    tolerance = number("tolerance", tolerance, 0)
    if not callable(value) and value != "exact":
        raise ConfigError(f"value is 'exact' or a function of (env, state, agent), given {value!r}")
    envs: dict[str, tuple[Env, Values]] = {}
    for episode in read(path):
        spec = json.dumps(episode.spec)
        if spec not in envs:
            env = episode.env()
            envs[spec] = env, value if callable(value) else exact_values(env)
        yield from _errors(episode, *envs[spec], tolerance)


def _errors(episode: Episode, env: Env, value: Values, tolerance: float) -> Iterator[FirstError]:
    found: set[int] = set()
    for before, after in itertools.pairwise(frames(episode, env)):
        turn = after.turn
        assert turn is not None
        for i, action in turn.actions.items():
            if i in found:
                continue
            values = value(env, before.frame.state, i)
            if not values:
                continue
            refused = i in turn.illegal
            mine = values.get(int(action)) if np.ndim(action) == 0 else None
            if mine is None:
                if not refused:
                    continue
                mine = min(values.values())
            best = max(values, key=lambda a: (values[a], -a))
            if values[best] - mine <= tolerance:
                continue
            found.add(i)
            view: View = before.views[i]
            yield FirstError(
                episode=episode.result.episode,
                line=episode.line,
                agent=env.agents[i],
                seat=episode.players[i],
                step=view.step,
                turn=view.turn,
                action=None if refused else int(action),
                best=int(best),
                words="" if refused else view.words(action),
                best_words=view.words(best),
                value=float(mine),
                best_value=float(values[best]),
                total=float(episode.result.rewards[i]),
                prompt=prompt_of(view, heard(coached(turn, i))),
                answer=answered(view, turn)[0],
            )


def export_errors(
    path: PathLike, out: PathLike, value: Values | str = "exact", *, tolerance: float = 0.01
) -> int:
    """Write `first_errors` as JSON, one a line, with the fields of `FirstError`.

    Returns:
        The number of lines written.
    """
    count = 0
    with export_file(path, out) as file:
        for error in first_errors(path, value, tolerance=tolerance):
            file.write(json.dumps(plain(dataclasses.asdict(error))) + "\n")
            count += 1
    return count


# ---- exact values --------------------------------------------------------------------------------


def exact_values(env: Env) -> Values:
    """The exact values of a game's actions.

    Raises:
        ConfigError: there are none for this game.
    """
    innermost = env.unwrapped
    if isinstance(innermost, Board):
        return board_values
    if isinstance(innermost, (KuhnPoker, LeducHoldem)) and env is innermost:
        return poker_values(env)
    raise ConfigError(
        f"no exact values of actions are known for {shorten(env)}; pass value=, a function of "
        "(env, state, agent) that gives {action: value}, for example by a search"
    )


def board_values(env: Env, state: Any, agent: int) -> dict[int, float]:
    """1 for a move that wins, -1 for one that loses, 0 for one that does neither, against perfect
    play. On boards of more than 9 squares only wins and losses within the solver's depth are
    known; all else counts 0."""
    found = unwrap(env, Board)
    verdicts = solvers.solve(found.env, found.inner(state))
    return {a: verdict.value if verdict.exact else 0.0 for a, verdict in verdicts.items()}


def poker_values(env: Env, table: np.ndarray | None = None) -> Values:
    """The value of each action in one hand of poker, in chips, when the agent plays on as well as
    it can against others who play `table`, given what it has seen.

    Args:
        table: f64[I, A], probabilities for the information sets of `tree_of(one_hand(env))`; by
            default an equilibrium: no error by it loses nothing against the best opponents.
    """
    from manyhands.baselines.game_theory import equilibrium, kuhn_equilibrium
    from manyhands.baselines.game_theory.policies import one_hand, tree_of

    tree = tree_of(one_hand(env))
    if table is None:
        kuhn = isinstance(env, KuhnPoker) and env.num_agents == 2
        table = kuhn_equilibrium(tree) if kuhn else equilibrium(tree)
    values = [_response_values(tree, table, agent) for agent in range(tree.num_agents)]

    def value(env: Env, state: Any, agent: int) -> dict[int, float]:
        vector = np.asarray(_observe(env)(state))[agent]
        infoset = tree.find(vector, agent)
        if infoset is None:
            return {}
        rows = values[int(tree.owner[infoset])][infoset]
        return {int(a): float(rows[a]) for a in np.flatnonzero(tree.legal[infoset])}

    return value


@functools.lru_cache(maxsize=16)
def _observe(env: Env) -> Any:
    import jax

    return jax.jit(env.observe)


def _response_values(tree: Any, table: np.ndarray, agent: int) -> np.ndarray:
    """f64[I, A]: the expected payoff of each action of `agent` at its information sets, with best
    play of its own from there on; NaN where the others never let it come to that."""
    from manyhands.baselines.game_theory.policies import check, direct_values, reach

    x = reach(tree, check(tree, table))
    values = direct_values(tree, x, agent)
    rows = values[:-1].reshape(tree.legal.shape)
    for level in reversed(tree.levels(agent)):
        options = np.where(tree.legal[level], rows[level], -np.inf)
        np.add.at(values, tree.before[level], options.max(axis=1))
    # The probability that chance and the others bring an information set about.
    weight = tree.chance.copy()
    for other in range(tree.num_agents):
        if other != agent:
            weight = weight * x[tree.sequences[other]]
    ahead = np.bincount(tree.sequences[agent], weight, tree.empty + 1)
    shares = np.zeros(tree.num_infosets)
    sums = ahead[:-1].reshape(tree.legal.shape).copy()
    for level in reversed(tree.levels(agent)):
        # All actions of an information set are reached alike: the ends after any one of them.
        shares[level] = np.where(tree.legal[level], sums[level], 0).max(axis=1)
        before = tree.before[level]
        inner = before < tree.empty
        np.add.at(sums.reshape(-1), before[inner], shares[level][inner])
    with np.errstate(divide="ignore", invalid="ignore"):
        found = rows / shares[:, None]
    return np.where(tree.legal & (shares > 0)[:, None], found, np.nan)
