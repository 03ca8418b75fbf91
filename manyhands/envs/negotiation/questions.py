"""Questions about what negotiators keep to themselves (`core/probes.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from manyhands.core.probes import NOT_KNOWN, Question, Ranges
from manyhands.envs.negotiation import observe
from manyhands.envs.negotiation.state import CLAIM, OVER, NegotiationState
from manyhands.envs.negotiation.words import Observation

if TYPE_CHECKING:
    from manyhands.envs.negotiation.env import Negotiation

_YES_NO = ("yes", "no", NOT_KNOWN)


def questions(env: Negotiation, state: NegotiationState, agent: int) -> list[Question]:
    """What things are worth to each other player (`values`), and having no deal (`outside`); how
    many units it owns (`holdings`); whether what it claimed is true (`claims`); and whether it can
    know what things are worth to the player itself (`others`). Claims prove nothing; what follows
    from the rules, one's own values and past offers is known. When all is over, nothing is asked.

    Args:
        state: on the host.
    """
    data = env.scenario
    seen = observe.observation(data, env.observation_layout, state, agent)
    if seen.phase == OVER:
        return []
    found: list[Question] = []
    for place in range(1, data.players):
        i = (agent + place) % data.players
        found += _worths(env, state, seen, i) + _outside(env, state, i)
        if data.players == 2:
            found += _holdings(env, state, seen, i) + _others(env, state, seen, i)
    return found


def _worths(env: Negotiation, state: NegotiationState, seen: Observation, i: int) -> list[Question]:
    """What goods are worth to player i, and whether its claims of that are true."""
    data, found = env.scenario, []
    spans, joint = data.value_spans(i), data.possible_values(seen)
    for good, (low, high) in enumerate(spans.tolist()):
        if low == high:
            continue
        possible = np.arange(low, high + 1) if joint is None else joint[:, good]
        ranges, true = Ranges(low, high), int(state.values[i, good])
        mine = ranges.known(int(possible.min()), int(possible.max()))
        text = data.worth_question(i, good)
        found.append(Question(text, ranges.options, mine, ranges.of(true), "values"))
        if data.about == "value":
            found += _claim(env, state, i, good, true, possible)
    return found


def _outside(env: Negotiation, state: NegotiationState, i: int) -> list[Question]:
    data = env.scenario
    low, high = data.outside[i].tolist()
    if low == high:
        return []
    ranges, true = Ranges(low, high), int(state.outside[i])
    text = f"How much is having no deal worth to {env.agents[i]}?"
    question = Question(text, ranges.options, NOT_KNOWN, ranges.of(true), "outside")
    return [question, *_claim(env, state, i, 0, true, np.arange(low, high + 1))]


def _claim(
    env: Negotiation, state: NegotiationState, i: int, good: int, true: int, possible: np.ndarray
) -> list[Question]:
    """Whether what player i claimed last about a good is true, given what it can be."""
    data = env.scenario
    stated = int(state.claims[i, good]) - 1
    if stated < 0 or not data.sizes[CLAIM]:
        return []
    words = data.worth_words(i, good, stated)
    if data.about == "outside":
        words = f"having no deal is worth {stated} to {env.agents[i]}"
    fits = np.abs(possible - stated) <= data.slack
    mine = "yes" if fits.all() else NOT_KNOWN if fits.any() else "no"
    now = "yes" if abs(true - stated) <= data.slack else "no"
    return [Question(f"Is it true that {words}, as it claimed?", _YES_NO, mine, now, "claims")]


def _holdings(
    env: Negotiation, state: NegotiationState, seen: Observation, i: int
) -> list[Question]:
    data, me = env.scenario, seen.agent
    change = np.asarray(state.start[me], int) - np.asarray(state.holdings[me], int)
    bounds = data.holding_bounds(seen, change)
    if bounds is None:
        return []
    found = []
    for good, (low, high) in enumerate(bounds.tolist()):
        ranges = Ranges(0, int(data.most[good]))
        true = ranges.of(int(state.holdings[i, good]))
        text = f"How many units of {data.goods[good]} does {env.agents[i]} own?"
        found.append(Question(text, ranges.options, ranges.known(low, high), true, "holdings"))
    return found


def _others(env: Negotiation, state: NegotiationState, seen: Observation, i: int) -> list[Question]:
    """Whether the other can know what goods are worth to the player, if it reasons."""
    data = env.scenario
    joint = data.possible_values(seen)
    if joint is None:
        return []

    def knows(values: np.ndarray) -> np.ndarray:
        """bool[R], of the other, if these are its values."""
        row = seen.row.copy()
        row[seen.at["own_values"]] = values
        other = Observation(row, seen.at, seen.names, seen.agent, data.phases)
        mine = data.possible_values(other)
        assert mine is not None
        return np.asarray((mine == mine[0]).all(axis=0))

    could, now = np.stack([knows(values) for values in joint]), knows(state.values[i])
    found = []
    for good, name in enumerate(data.goods):
        flags = could[:, good]
        mine = "yes" if flags.all() else NOT_KNOWN if flags.any() else "no"
        text = f"Can {env.agents[i]} know how much a {name} is worth to you?"
        found.append(Question(text, _YES_NO, mine, "yes" if now[good] else "no", "others"))
    return found
