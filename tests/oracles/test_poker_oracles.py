"""Poker against OpenSpiel (Lanctot et al. 2019): every history, walked in step with its own tree.

A betting line is the same whatever the cards are, so that each line is stepped once, for all deals
in one batch; OpenSpiel walks each deal by itself.
"""

import functools

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import episode_key
from manyhands.envs.poker import rules
from manyhands.envs.poker.state import CALL, PASS, RAISE

pyspiel = pytest.importorskip("pyspiel")

GAMES = {
    "kuhn, 2 players": ("kuhn_poker", {"players": 2}, "kuhn_poker(players=2)"),
    "kuhn, 3 players": ("kuhn_poker", {"players": 3}, "kuhn_poker(players=3)"),
    "kuhn, 4 players": ("kuhn_poker", {"players": 4}, "kuhn_poker(players=4)"),
    "leduc": ("leduc_holdem", {}, "leduc_poker"),
}
# Betting lines to the end times deals (in Leduc 49 lines, of which OpenSpiel deals the public card
# only in 45), and information sets of all seats together.
TERMINALS = {"kuhn, 2 players": 30, "kuhn, 3 players": 312, "kuhn, 4 players": 3960, "leduc": 5880}
SETS = {"kuhn, 2 players": 12, "kuhn, 3 players": 48, "kuhn, 4 players": 160, "leduc": 936}


def theirs(env, action: int, facing: bool) -> int:
    """OpenSpiel's number for an action: in Leduc it checks with its call, 1, and folds with 0."""
    if env.id == "kuhn_poker":
        return action
    return {PASS: 0 if facing else 1, CALL: 1, RAISE: 2}[action]


@functools.cache
def walk(name: str) -> tuple[int, dict, dict]:
    """Terminals met, and which information states of theirs and ours went together."""
    id, config, game = GAMES[name]
    env = manyhands.make(id, **config)
    deals = [deal for deal, _ in env.deals()]
    first = jax.device_get(env.reset(episode_key(0)))
    states = jax.tree_util.tree_map(
        lambda *leaves: np.stack(leaves, -1), *(env.with_deal(first, deal) for deal in deals)
    )
    keys = jax.random.split(jax.random.key(0), len(deals))

    @jax.jit
    def step(states, actions):
        states, outcome = env.step(keys, states, actions)
        return states, outcome, env.observe(states), env.legal(states), env.acting(states)

    mine: dict = {}
    yours: dict = {}
    terminals = 0

    def chance(spiel, card: int):
        assert spiel.is_chance_node()
        outcomes = dict(spiel.chance_outcomes())
        left = len(outcomes)
        assert card in outcomes and abs(outcomes[card] - 1 / left) < 1e-12
        return spiel.child(card)

    def visit(states, observed, legal, acting, rewards, over, spiels):
        nonlocal terminals
        n = env.num_agents
        for i, spiel in enumerate(spiels):
            assert over[i] == spiel.is_terminal()
            if over[i]:
                terminals += 1
                assert rewards[:, i].tolist() == spiel.returns()
                continue
            assert rewards[:, i].tolist() == [0.0] * n
            player = spiel.current_player()
            assert acting[:, i].tolist() == [seat == player for seat in range(n)]
            facing = states.raises[i] > 0
            allowed = [theirs(env, a, facing) for a in np.flatnonzero(legal[player, :, i])]
            assert sorted(allowed) == spiel.legal_actions()
            assert legal[:, :, i].sum() == len(allowed)
            key = player, observed[player, :, i].tobytes()
            text = player, spiel.information_state_string(player)
            one = jax.tree_util.tree_map(lambda leaf, i=i: leaf[..., i], states)
            mine.setdefault(key, set()).add((text, env.information_state(one, player)))
            yours.setdefault(text, set()).add(key)
        if over.all():
            return
        assert not over.any()
        for action in np.flatnonzero(legal.any((0, 2))):
            facing = states.raises[0] > 0
            rows = np.full((n, len(deals)), action, np.int32)
            after, outcome, *seen = jax.device_get(step(states, rows))
            nexts = [spiel.child(theirs(env, action, facing)) for spiel in spiels]
            if nexts[0].is_chance_node():
                nexts = [chance(s, deals[i][n]) for i, s in enumerate(nexts)]
            visit(after, *seen, outcome.reward, outcome.terminated.all(0), nexts)

    root = pyspiel.load_game(game).new_initial_state()
    begun = []
    for deal in deals:
        spiel = root
        for card in deal[: env.num_agents]:
            spiel = chance(spiel, card)
        begun.append(spiel)
    nothing = np.zeros((env.num_agents, len(deals)))
    visit(
        states,
        *jax.device_get((env.observe(states), env.legal(states), env.acting(states))),
        nothing,
        np.zeros(len(deals), bool),
        begun,
    )
    return terminals, mine, yours


@pytest.mark.parametrize("name", GAMES)
def test_every_history_has_the_same_player_actions_and_returns(name):
    terminals, _, _ = walk(name)
    assert terminals == TERMINALS[name]


@pytest.mark.parametrize("name", GAMES)
def test_observations_are_information_states(name):
    """One observation for one information set, no more and no less; and so with the short keys."""
    _, mine, yours = walk(name)
    assert len(mine) == len(yours) == SETS[name]
    assert all(len(found) == 1 for found in [*mine.values(), *yours.values()])
    keys = {(seat, key) for (seat, _), found in mine.items() for _, key in found}
    assert len(keys) == SETS[name]


@pytest.mark.parametrize("name", GAMES)
def test_deals_are_uniform(name):
    id, config, _ = GAMES[name]
    env = manyhands.make(id, **config)
    deals = list(env.deals())
    assert sum(chance for _, chance in deals) == pytest.approx(1, abs=1e-12)
    count = 200 * len(deals)
    keys = jax.random.split(jax.random.key(1), count)
    drawn = np.asarray(jax.jit(jax.vmap(lambda key: rules.deal(env, key)))(keys))
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    assert {tuple(row) for row in found.tolist()} == {deal for deal, _ in deals}
    chi = ((counts - 200) ** 2 / 200).sum()  # mean: degrees of freedom, variance: twice that
    freedom = len(deals) - 1
    assert chi < freedom + 5 * np.sqrt(2 * freedom)
