"""Poker: matches, duplicate deals, what is hidden, and words. (Single hands are walked beside
OpenSpiel in `tests/oracles/test_poker_oracles.py`.)"""

import dataclasses
import functools
import itertools
import json
import re
import zlib

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyhands
from manyhands.core.env import ConfigError, Env, IllegalAction, episode_key
from manyhands.core.export import export_chat
from manyhands.core.pack import fingerprint, no_actions, stepper
from manyhands.core.play import play
from manyhands.envs.poker import rules
from manyhands.envs.poker.env import KuhnPoker, LeducHoldem, Poker
from manyhands.envs.poker.state import PASS, RAISE, PokerState
from manyhands.testing import broken_facts
from manyhands.wrappers.gymnasium import SeatEnv
from manyhands.wrappers.pettingzoo import Parallel, Sequential

GAMES = {
    "kuhn": KuhnPoker(),
    "kuhn, 10 players": KuhnPoker(10),
    "kuhn, 3 players, duplicate": KuhnPoker(3, hands=6, duplicate=True),
    "leduc, match": LeducHoldem(hands=3),
}


@functools.cache
def played(name: str, batch: int = 48) -> list[tuple[PokerState, np.ndarray, dict]]:
    """Random play of a batch of matches: states, rewards and terms after each step, batch last."""
    env = GAMES[name]
    keys = jax.vmap(jax.random.key)(np.arange(batch))

    @jax.jit
    def step(state, time):
        step_keys = jax.vmap(jax.random.fold_in, (0, None))(keys, time)
        legal = env.legal(state)
        noise = jax.random.uniform(jax.random.fold_in(jax.random.key(7), time), legal.shape)
        actions = jax.numpy.argmax(jax.numpy.where(legal, noise, -1.0), axis=1)
        return env.step(step_keys, state, actions)

    state = jax.jit(env.batch_reset)(keys)
    found = [(jax.device_get(state), np.zeros((env.num_agents, batch), np.float32), {})]
    for time in range(env.max_steps):
        state, outcome = step(state, time)
        found.append(jax.device_get((state, outcome.reward, outcome.metrics)))
        if outcome.terminated.all():
            return found
    raise AssertionError("longer than max_steps")


def column(tree, i: int):
    return jax.tree_util.tree_map(lambda leaf: leaf[..., i], tree)


def some_states(name: str, count: int) -> list[PokerState]:
    """States of random play, spread over its length."""
    rng = np.random.default_rng(3)
    rounds = played(name)
    width = rounds[0][0].turn.shape[0]
    return [
        column(rounds[int(rng.integers(len(rounds)))][0], int(rng.integers(width)))
        for _ in range(count)
    ]


# ---- matches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_matches_have_their_hands_and_chips_run_on(name):
    env, rounds = GAMES[name], played(name)
    n, last = env.num_agents, rounds[-1][0]
    assert sum(metrics["hands"] for _, _, metrics in rounds[1:]).tolist() == [env.hands] * 48
    assert (last.turn == n).all() and (last.hand == env.hands - 1).all()
    for before, after in itertools.pairwise(rounds):
        (state, *_), (later, reward, metrics) = before, after
        assert (later.chips == state.chips + reward).all() and (later.chips.sum(0) == 0).all()
        done = metrics["hands"] > 0
        assert (reward[:, ~done] == 0).all()
        # A new hand begins at once, with the next seat; nothing is dealt after the last.
        again = done & (later.turn < n)
        assert (later.hand == state.hand + again).all()
        assert (later.bets[:, again] == 1).all() and (later.line[:, again] == 0).all()
        assert (later.turn[again] == [env.opener(int(h)) for h in later.hand[again]]).all()
        assert (later.cards[:, ~again] == state.cards[:, ~again]).all()
        assert (later.board[:, ~again] == state.board[:, ~again]).all()
        if env.hands > 1:
            assert (later.last.won[:, again] == reward[:, again]).all()
            assert (later.last.cards[:, again] == state.cards[:, again]).all()
            out = later.last.bets[:, again] + later.last.won[:, again]
            assert (out.sum(0) == later.last.bets[:, again].sum(0)).all() and (out >= 0).all()


def test_later_deals_come_from_the_step_that_ends_a_hand():
    env = KuhnPoker(hands=2)
    state = env.reset(episode_key(1))
    step = jax.jit(env.step)
    for action in (1, 0):  # bet, fold
        ends = [step(jax.random.key(i), state, np.array([action, action]))[0] for i in range(24)]
        state = ends[0]
    assert len({tuple(np.asarray(end.cards).tolist()) for end in ends}) == 6
    assert env.reset(episode_key(1)).cards.tolist() == env.reset(episode_key(1)).cards.tolist()


@pytest.mark.parametrize(
    "env",
    [KuhnPoker(3, hands=6, duplicate=True), LeducHoldem(hands=8, duplicate=True)],
    ids=["kuhn", "leduc"],
)
def test_duplicate_matches_of_equal_players_end_even(env):
    """Everybody plays one strategy, a function of card, position and betting: what the cards gave
    to one seat they give to all."""
    one, n = stepper(env), env.num_agents
    deals = env.hands // n
    for seed in range(6):
        key_data = np.asarray(jax.random.key_data(episode_key(seed)))
        frame, time, seen = one.reset(episode_key(seed)), 0, {}
        while not frame.over:
            state = frame.state
            hand, seat = int(state.hand), int(state.turn)
            by_position = np.roll(state.cards, -env.opener(hand))
            seen[hand] = (*by_position.tolist(), *state.board.tolist())
            legal = np.flatnonzero(frame.legal[seat])
            choice = zlib.crc32(f"{seed} {env.information_state(state, seat)}".encode()) % len(
                legal
            )
            rows = np.full(n, legal[choice], np.int32)
            frame = one.step(key_data, time, frame, rows)
            time += 1
        assert frame.state.chips.tolist() == [0] * n
        assert all(seen[hand] == seen[hand % deals] for hand in range(env.hands))
        openers = [[env.opener(hand) for hand in range(d, env.hands, deals)] for d in range(deals)]
        assert all(sorted(seats) == list(range(n)) for seats in openers)


def test_the_winner_has_most_chips():
    env = KuhnPoker(3, hands=2)
    chips = np.array([[4, -2, -2], [3, 3, -6], [0, 0, 0], [-1, 2, -1]], np.int16).T
    won = np.asarray(rules.victory(env, chips, np.ones(4, bool)))
    np.testing.assert_allclose(
        won.T, [[1, -0.5, -0.5], [0.25, 0.25, -0.5], [0] * 3, [-0.5, 1, -0.5]]
    )
    assert (np.asarray(rules.victory(env, chips, np.zeros(4, bool))) == 0).all()


def test_an_illegal_action_is_played_as_a_pass():
    env = LeducHoldem()
    step, key = jax.jit(env.step), jax.random.key(0)
    start = env.reset(key)
    for wrong in (1, 7, -1):  # nothing to call
        state, outcome = step(key, start, np.array([wrong, 2]))
        assert outcome.metrics["illegal"] == 1 and state.line.tolist() == [1] + [0] * 7
        assert state.turn == 1 and not state.folded.any()
    state, _ = step(key, start, np.array([2, 0]))
    state, outcome = step(key, state, np.array([0, 9]))
    assert outcome.metrics["illegal"] == outcome.metrics["folds"] == 1
    assert outcome.reward.tolist() == [1, -1] and outcome.terminated.all()


def test_a_match_is_cut_at_max_steps():
    env = KuhnPoker(hands=5, max_steps=3)
    one, key = stepper(env), episode_key(0)
    key_data, frame = np.asarray(jax.random.key_data(key)), one.reset(key)
    for time in range(3):
        assert not frame.over
        frame = one.step(key_data, time, frame, np.array([0, 0]))
    assert frame.truncated.all() and not frame.terminated.any()


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"players": 1}, "players is a whole number from 2 to 10, given 1"),
        ({"players": 11}, "given 11"),
        ({"players": 2.0}, "given 2.0"),
        ({"players": True}, "given True"),
        ({"hands": 0}, "hands is a whole number from 1 to 1000, given 0"),
        ({"hands": "3"}, "given '3'"),
        ({"hands": 3, "duplicate": True}, "a multiple of 2, given 3"),
        ({"duplicate": 1}, "True or False, given 1"),
        ({"max_steps": 0}, "max_steps is a whole number"),
        ({"reward_weights": {"luck": 1}}, "the terms are chips, win"),
    ],
)
def test_impossible_configurations_are_refused(config, reason):
    with pytest.raises(ConfigError, match=re.escape(reason)):
        manyhands.make("kuhn_poker", **config)


def test_deals_can_be_chosen():
    env = LeducHoldem(hands=2)
    state = env.reset(episode_key(0))
    deals = list(env.deals())
    assert len(deals) == 120 and len({deal for deal, _ in deals}) == 120
    chosen = env.with_deal(state, (5, 0, 3))
    assert chosen.cards.tolist() == [5, 0] and chosen.board.tolist() == [3]
    # Deals go by position: in the second hand player_1 opens.
    second = env.with_deal(dataclasses.replace(state, hand=np.uint16(1)), (5, 0, 3))
    assert second.cards.tolist() == [0, 5]
    for wrong in ((0, 1), (0, 0, 1), (0, 1, 6), (-1, 0, 1)):
        with pytest.raises(ConfigError, match="a deal is 3 different cards from 0 to 5"):
            env.with_deal(state, wrong)


# ---- words: the same facts as the vectors --------------------------------------------------------


def decode(env: Poker, text: str) -> np.ndarray:
    """The vector observation, from the text alone (and how large the table is)."""
    n, cards_in_deck = env.num_agents, len(env.ranks) * env.suits
    head = re.match(r".*, hand (\d+) of \d+, (?:(you) open|(player_\d+) opens)\. "
                    r"You are player_(\d+)\.\n", text)  # fmt: skip
    own = int(head[4])
    before, _, now = text.rpartition("This hand:\n")

    def seat(name: str) -> int:  # counted from the reader
        return 0 if name == "you" else (int(name.removeprefix("player_")) - own) % n

    def amounts(words: str) -> np.ndarray:
        found = np.zeros(n)
        for name, amount in re.findall(r"(you|player_\d+) ([-+]?\d+)", words):
            found[seat(name)] = int(amount)
        return found

    def one_hot(name: str) -> np.ndarray:
        rank, _, suit = name.partition(" of ")
        number = env.ranks.index(rank) * env.suits + ("spades", "hearts").index(suit or "spades")
        return np.eye(cards_in_deck)[number]

    def fact(block: str, name: str) -> str | None:
        found = re.search(rf"^ *{name}: (.*)\.$", block, re.M)
        return found and found[1]

    def hand(block: str) -> np.ndarray:
        cards = np.zeros((n, cards_in_deck))
        cards[0] = one_hot(fact(block, "Your card"))
        for name, card in re.findall(r"(player_\d+) (\w+(?: of \w+)?)", fact(block, "Shown") or ""):
            cards[seat(name)] = one_hot(card)
        board = np.zeros((env.boards, cards_in_deck))
        if env.boards and "face down" not in fact(block, "Public card"):
            board[0] = one_hot(fact(block, "Public card"))
        slots = np.zeros((env.slots, env.num_actions))
        for r in range(env.rounds):
            where = f"Betting, {('first', 'second')[r]} round" if env.rounds > 1 else "Betting"
            deeds = re.findall(r"(check|fold|call|bet|raise)", fact(block, where) or "")
            for k, word in enumerate(deeds):
                action = {"check": 0, "fold": 0, "call": 1}.get(word, env.num_actions - 1)
                slots[r * env.slots // env.rounds + k, action] = 1
        pot = re.search(r"Pot: \d+ chips \((.*)\)", block)[1]
        return np.concatenate([cards.ravel(), board.ravel(), slots.ravel(), amounts(pot)])

    position, turn = np.zeros(n), np.zeros(n)
    position[-seat(head[2] or head[3]) % n] = 1
    if "It is your turn." in now:
        turn[0] = 1
    elif found := re.search(r"It is (player_\d+)'s turn", now):
        turn[seat(found[1])] = 1
    parts = [hand(now), position, turn]
    if env.hands > 1:
        chips = amounts(fact(text, "Chips won so far"))
        nothing = np.zeros(len(parts[0]) + n)
        last = [hand(before), amounts(fact(before, "Won"))] if before else [nothing]
        parts += [chips, [int(head[1])], *last]
    return np.concatenate(parts)


@pytest.mark.parametrize("name", GAMES)
def test_vectors_are_rebuilt_from_text(name):
    env = GAMES[name]
    rounds, observe = played(name), jax.jit(env.observe)
    for state, *_ in rounds:
        seen = np.asarray(observe(state))
        for i in (0, 17, 40):
            one = column(state, i)
            for agent in range(env.num_agents):
                np.testing.assert_array_equal(
                    decode(env, env.describe(one, agent)), seen[agent, :, i]
                )
                assert env.observation_space.contains(seen[agent, :, i])


# ---- what is promised, and what is told ----------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_choices_come_true_and_events_are_what_happened(name):
    """Every choice, with any deal of the next hand."""
    env, rng, kinds = GAMES[name], np.random.default_rng(5), set()
    codes = jax.jit(env.event_codes)
    for state in some_states(name, 60):
        agent = int(state.turn)
        if agent == env.num_agents:
            continue
        for choice in env.choices(state, agent):
            assert choice.certain and choice.facts
            assert env.parse(choice, state, agent) == env.parse(choice.text, state, agent)
            rows = np.full(env.num_agents, choice.action, np.int32)
            key = rng.integers(0, 2**32, 2, np.uint32)
            after = stepper(env).step(key, 0, state, rows)
            assert broken_facts(env, choice, after) == ""
            assert choice.facts.get("over", False) == after.over
            move, *rest = events = env.last_events(after.state)
            word, _, chips = choice.text.partition(" ")
            assert move == {"event": word, "agent": env.agents[agent]} | (
                {"chips": int(chips)} if chips else {}
            )
            ended = [event for event in rest if event["event"] == "hand ends"]
            won = [ended[0]["won"][a] for a in env.agents] if ended else [0] * env.num_agents
            assert won == after.terms["chips"].tolist()
            assert bool(ended) == bool(after.metrics["hands"])
            shown = [event["agent"] for event in rest if event["event"] == "show"]
            assert bool(shown) == bool(after.metrics["showdowns"])
            turned = any(event["event"] == "public card" for event in rest)
            assert turned == (not ended and int(after.state.round) > int(state.round))
            kinds |= {event["event"] for event in events}
            numbers = np.asarray(codes(after.state))
            for i in range(env.num_agents):
                row = dict(zip(env.event_names, numbers[i].tolist(), strict=True))
                seats = [(i + k) % env.num_agents for k in range(env.num_agents)]
                assert row[f"moved_{seats.index(agent)}"] == row[word] == 1
                assert row["chips"] == int(chips or 0)
                assert (row["public_card"], row["hand_ended"]) == (turned, bool(ended))
                assert [row[f"won_{k}"] for k in range(env.num_agents)] == [won[k] for k in seats]
                known = env.last_events(after.state, i)
                assert all(event in events for event in known)
                deals = [event["agent"] for event in known if event["event"] == "deal"]
                assert deals == [env.agents[i]] * bool(ended and not after.over)
    assert kinds >= {"check", "bet", "call", "fold", "hand ends", "show"}


def test_numbers_of_a_batch_are_those_of_its_states():
    env = GAMES["leduc, match"]
    states = played("leduc, match")[7][0]
    batch = np.asarray(env.batch_event_codes(states))
    for i in range(0, 48, 7):
        np.testing.assert_array_equal(batch[..., i], env.event_codes(column(states, i)))


@pytest.mark.parametrize("name", GAMES)
def test_texts_are_short(name):
    env = GAMES[name]
    assert len(env.rules(0)) <= 5_000
    for state in some_states(name, 30):
        for agent in range(env.num_agents):
            sizes = [len(env.describe(state, agent, detail=d)) for d in ("brief", "normal", "full")]
            assert sizes[0] < sizes[1] < sizes[2]
            assert sizes[1] <= (1_200 if env.num_agents < 10 else 1_600)
            assert len("\n".join(env.choices(state, agent))) <= 800


def test_detail_is_an_option():
    env = KuhnPoker(detail="full")
    assert env.config()["detail"] == "full" and "detail" not in KuhnPoker().config()
    state = env.with_deal(env.reset(episode_key(0)), (2, 0))  # K against J
    text = env.describe(jax.device_get(state), 0)
    assert "Cards that you do not see: J, Q." in text and "J < Q < K" in text


# ---- what is hidden ------------------------------------------------------------------------------


def otherwise(env: Poker, state: PokerState, agent: int, seed: int) -> PokerState:
    """The state with other cards wherever `agent` may not know them."""
    rng = np.random.default_rng(seed)
    n = env.num_agents
    open_now = np.arange(n) == agent
    if state.turn == n and (~state.folded).sum() > 1:
        open_now |= ~state.folded

    def shuffled(cards: np.ndarray, known: np.ndarray) -> np.ndarray:
        left = np.setdiff1d(np.arange(env.num_cards), cards[known])
        found = cards.copy()
        found[~known] = rng.permutation(left)[: (~known).sum()]
        return found

    up = np.arange(env.boards) < state.round
    cards = shuffled(np.r_[state.cards, state.board], np.r_[open_now, up])
    changes = {"cards": cards[:n], "board": cards[n:]}
    if state.last is not None:
        last = np.arange(n) == agent
        mixed = shuffled(state.last.cards, last | state.last.shown)
        changes["last"] = dataclasses.replace(state.last, cards=mixed)
    if state.deals is not None:
        changes["deals"] = rng.permuted(state.deals, axis=1)
    return dataclasses.replace(state, **changes)


@pytest.mark.parametrize("name", [name for name in GAMES if "10" not in name])
def test_nothing_that_a_seat_sees_depends_on_hidden_cards(name):
    env = GAMES[name]
    one, moved = stepper(env), 0
    for k, state in enumerate(some_states(name, 14)):
        for agent in range(env.num_agents):
            other = otherwise(env, state, agent, k)
            moved += other.cards.tolist() != state.cards.tolist()
            left, right = one.view(state), one.view(other)
            for part in ("vector", "perception", "legal"):
                assert (getattr(left, part)[agent] == getattr(right, part)[agent]).all()
            assert (left.acting == right.acting).all()
            assert env.describe(state, agent) == env.describe(other, agent)
            offered, offers = env.choices(state, agent), env.choices(other, agent)
            assert offered == offers and [c.facts for c in offered] == [c.facts for c in offers]
            assert env.last_events(state, agent) == env.last_events(other, agent)
            codes = [np.asarray(env.event_codes(s))[agent] for s in (state, other)]
            assert (codes[0] == codes[1]).all()
            assert env.information_state(state, agent) == env.information_state(other, agent)
            assert fingerprint(env, state, agent) == fingerprint(env, other, agent)
            pictures = [manyhands.render(env, s, agent, (160, 120)) for s in (state, other)]
            assert (pictures[0] == pictures[1]).all()
    assert moved > 4


@pytest.mark.parametrize("api", [Parallel, lambda env, **o: Sequential(Parallel(env, **o))])
def test_nothing_leaks_through_pettingzoo(api):
    """Bet and fold: the loser's card is never shown, so nothing that `player_0` gets may differ."""
    env = LeducHoldem()
    seen = []
    for deal in ((4, 0, 2), (4, 5, 2)):
        table = api(env, observe="both")
        state = env.with_deal(jax.device_get(env.reset(episode_key(0))), deal)
        first = table.reset(seed=1, options={"state": state})
        log = [first, table.infos["player_0"] if first is None else None]
        for action in ("bet 2", "raise 2", "call 2", "check", "bet 4", "raise 4", "fold"):
            if isinstance(table, Parallel):
                agent = env.agents[int(table.current.turn)]
                log.append([part["player_0"] for part in table.step({agent: action})])
                continue
            table.step(action)
            log += [table.observe("player_0"), table.infos["player_0"], dict(table.rewards)]
        seen.append(_plain([log[1:] if first is None else [first[0]["player_0"], *log[2:]]]))
    assert seen[0] == seen[1] and "player_1 raises 2" in seen[0]


def _plain(tree) -> str:
    return json.dumps(
        jax.tree_util.tree_map(lambda leaf: np.asarray(leaf).tolist(), tree), sort_keys=True
    )


def blind(view) -> str:
    """Plays without a look at its card: bets, and folds to a bet."""
    words = [choice.text for choice in view.choices]
    return next(word for word in ("fold", "bet 1") if word in words)


def test_nothing_leaks_to_a_seat_of_play_or_of_gymnasium_or_into_exports(tmp_path):
    env, looks = KuhnPoker(3, hands=2), {}

    def onlooker(view):
        own = re.findall(r"Your card: (\w+)", view.text)
        key = view.index, tuple(own)
        sight = (view.text, view.choices, view.rules, view.messages, view.vector.tolist())
        sight += (view.perception.tolist(), view.legal.tolist(), view.image[::8, ::8].tobytes())
        looks.setdefault((*key, view.step), set()).add(repr(sight))
        return blind(view)

    record, chats = tmp_path / "hands.jsonl", tmp_path / "chats.jsonl"
    play(env, [onlooker] * 3, episodes=60, progress=False, record=record)
    assert len(looks) > 20 and all(len(found) == 1 for found in looks.values())

    assert export_chat(record, chats) == 180
    talks: dict = {}
    for line in chats.read_text().splitlines():
        talk = json.loads(line)
        own = re.findall(r"Your card: (\w+)", talk["messages"][-2]["content"])
        for private in ("episode", "group", "seed"):
            talk.pop(private)
        talks.setdefault((talk["agent"], *own), set()).add(json.dumps(talk, sort_keys=True))
    assert len(talks) > 20 and all(len(found) == 1 for found in talks.values())

    seats: dict = {}
    table = SeatEnv(KuhnPoker(3), seat=2, partners=blind, observe="both")
    for seed in range(40):
        first, info = table.reset(seed=seed)
        *rest, _ = table.step("fold")
        own = re.search(r"Your card: (\w+)", first["text"])[1]
        log = _plain([first, info, *rest, _])
        seats.setdefault(own, set()).add(log)
    assert len(seats) == 4 and all(len(found) == 1 for found in seats.values())


def test_a_gymnasium_seat_moves_only_in_its_turn():
    env = KuhnPoker(3, hands=2)
    table = SeatEnv(env, seat=1, partners=lambda view: view.choices[0])  # they check or fold
    first, info = table.reset(seed=0)
    assert info["action_mask"].tolist() == [1, 1] and table.current.turn == 1
    second, reward, over, _, info = table.step("bet")  # both fold: 2 chips; then player_1 opens
    assert (reward, over, info["terms"]["chips"], info["metrics"]["folds"]) == (2, False, 2, 2)
    assert table.current.hand == 1 and table.current.turn == 1
    assert first.shape == second.shape
    _, reward, over, _, info = table.step(1)
    assert (reward, over, info["metrics"]["hands"]) == (2, True, 1)
    assert table.current.chips.tolist() == [-2, 4, -2]
    # Where no partners are named, they are random in a game that has no script.
    usual = SeatEnv(KuhnPoker(), seat=1)
    usual.reset(seed=0)
    assert usual.step("fold" if usual.current.raises else "check")[0].shape == (18,)


# ---- reading answers -----------------------------------------------------------------------------


def at(env: Env, *actions: int) -> PokerState:
    state = env.reset(episode_key(0))
    step = jax.jit(env.step)
    for action in actions:
        state, _ = step(jax.random.key(0), state, np.full(env.num_agents, action))
    return jax.device_get(state)


@functools.cache
def tables() -> dict[str, tuple[Poker, PokerState]]:
    kuhn, leduc = GAMES["kuhn"], LeducHoldem()
    return {
        "kuhn": (kuhn, at(kuhn)),
        "kuhn, bet": (kuhn, at(kuhn, 1)),
        "leduc": (leduc, at(leduc)),
        "leduc, bet": (leduc, at(leduc, 2)),
        "leduc, raised": (leduc, at(leduc, 2, 2)),
        "leduc, second round": (leduc, at(leduc, 0, 0)),
    }


@pytest.mark.parametrize(
    ("table", "answer", "action"),
    [
        ("kuhn", "check", 0),
        ("kuhn", " **Bet** ", 1),
        ("kuhn", "bet 1", 1),
        ("kuhn", "I bet 1 chip.", 1),
        ("kuhn", "1", 1),
        ("kuhn", "action 0", 0),
        ("kuhn", "I do not want to bet.\nACTION: I check.", 0),
        ("kuhn", "He may bet or fold.\nACTION: check", 0),
        ("kuhn", "If I check he will bet; better: [bet]", 1),
        ("kuhn", "My answer is \\boxed{check}", 0),
        ("kuhn, bet", "Calling!", 1),
        ("kuhn, bet", "[fold]", 0),
        ("kuhn, bet", "call 1", 1),
        ("leduc", "bet 2", 2),
        ("leduc, bet", "raise by 2", 2),
        ("leduc, bet", "action: raise 2", 2),
        ("leduc, raised", "call", 1),
        ("leduc, second round", "bet 4", 2),
    ],
)
def test_answers_are_read(table, answer, action):
    env, state = tables()[table]
    assert env.parse(answer, state, int(state.turn)) == action


@pytest.mark.parametrize(
    ("table", "answer", "reason"),
    [
        ("kuhn", "", "empty"),
        ("kuhn", "  \n\t", "empty"),
        ("kuhn", "ACTION:", "empty"),
        ("kuhn", "x" * 100_000, "100000 characters"),
        ("kuhn", "\x00\x1b[2J", "names no action"),
        ("kuhn", "я пас", "names no action"),
        ("kuhn", "1e9", "names no action"),
        ("kuhn", "-0", "names no action"),
        ("kuhn", "٣", "names no action"),
        ("kuhn", "2", "no action 2"),
        ("kuhn", "bet 1e9", "names no action"),
        ("kuhn", "bet -1", "cannot bet -1"),
        ("kuhn", "bet ٣", "names no action"),
        ("kuhn", "bet 10", "cannot bet 10"),
        ("kuhn", "fold", "checking is free"),
        ("kuhn", "call", "no bet to call"),
        ("kuhn", "raise", "nothing to raise"),
        ("kuhn", "I do not want to bet.", "denies"),
        ("kuhn", "check or bet", "choice open"),
        ("kuhn", "[check] [bet]", "differ"),
        ("kuhn, bet", "check", "a bet to answer"),
        ("kuhn, bet", "bet 1", "a bet already"),
        ("kuhn, bet", "raise 1", "no raise"),
        ("leduc", "bet 4", "cannot bet 4"),
        ("leduc, bet", "raise 4", "cannot raise 4"),
        ("leduc, raised", "raise 2", "no raise is left"),
        ("leduc, second round", "bet 2", "cannot bet 2"),
    ],
)
def test_other_answers_are_refused_with_the_reason(table, answer, reason):
    env, state = tables()[table]
    with pytest.raises(IllegalAction, match=re.escape(reason)) as refused:
        env.parse(answer, state, int(state.turn))
    offered = env.choices(state, int(state.turn))
    assert all(choice.text in refused.value.reason for choice in offered)
    assert len(refused.value.reason) < 300 and refused.value.reason.isprintable()


def test_nobody_acts_out_of_turn():
    env, state = tables()["leduc"]
    assert env.choices(state, 1) == []
    with pytest.raises(IllegalAction, match="not your turn"):
        env.parse("check", state, 1)


@settings(deadline=None, max_examples=150)
@given(
    table=st.sampled_from(["kuhn", "kuhn, bet", "leduc, bet", "leduc, raised"]),
    answer=st.one_of(
        st.text(max_size=200),
        st.lists(
            st.sampled_from(
                ["check", "bet", "call", "fold", "raise", "1", "-1", "1e9", "٣", "[", "]", "not"]
            )
        ).map(" ".join),
    ),
)
def test_any_answer_is_a_legal_action_or_refused(table, answer):
    env, state = tables()[table]
    agent = int(state.turn)
    try:
        action = env.parse(answer, state, agent)
    except IllegalAction as error:
        assert error.reason.isprintable() and env.choices(state, agent)[0].text in error.reason
    else:
        assert np.asarray(env.legal(state))[agent, action]


def test_a_fork_counts_the_steps_of_its_state():
    """One and two hands hold all their steps in their betting lines; longer ones need a clock."""
    for env in (KuhnPoker(), LeducHoldem(hands=2), LeducHoldem(hands=4, max_steps=60)):
        one, key = stepper(env), episode_key(3)
        key_data, frame = np.asarray(jax.random.key_data(key)), one.reset(key)
        time = 0
        while not frame.over:
            assert int(env.elapsed(frame.state)) == time
            frame = one.step(key_data, time, frame, np.full(2, PASS))
            time += 1
        assert int(env.elapsed(frame.state)) == time > 1
    assert env.hands == 4 and LeducHoldem(hands=4).elapsed(LeducHoldem(hands=4).reset(key)) is None


def test_an_illegal_action_facing_a_bet_folds():
    env = LeducHoldem()
    step, state = jax.jit(env.step), jax.jit(env.reset)(episode_key(0))
    state, _ = step(episode_key(1), state, np.array([RAISE, PASS]))
    state, outcome = step(episode_key(1), state, np.array([PASS, 7]))
    assert outcome.metrics["illegal"] == outcome.metrics["folds"] == 1
    assert state.folded.tolist() == [False, True]
    with pytest.raises(ConfigError, match="float"):
        env.step(episode_key(1), state, np.array([0.0, np.nan]))


def test_a_text_says_where_no_raise_is_left():
    env = LeducHoldem()
    key = episode_key(2)
    data, frame = np.asarray(jax.random.key_data(key)), stepper(env).reset(key)
    for t in range(2):
        assert "No raise is left" not in env.describe(frame.state, t)
        rows = no_actions(env)
        rows[t] = RAISE
        frame = stepper(env).step(data, t, frame, rows)
    assert "No raise is left in this round." in env.describe(frame.state, 0)
    assert "No raise is left" not in env.describe(frame.state, 1)


def test_a_hand_without_a_showdown_says_that_nobody_showed_a_card():
    env = GAMES["leduc, match"]
    state, told = env.reset(episode_key(0)), []
    for t, words in enumerate(["bet", "fold"]):
        state = jax.device_get(state)
        agent = int(state.turn)
        rows = np.zeros(env.num_agents, np.int32)
        rows[agent] = env.parse(words, state, agent)
        key = np.asarray(jax.random.key_data(episode_key(0)))
        state = stepper(env).step(key, t, state, rows).state
    for agent in range(env.num_agents):
        told = [line.strip() for line in env.describe(state, agent).splitlines()]
        assert "Nobody showed a card." in told and not any("Shown" in line for line in told)
