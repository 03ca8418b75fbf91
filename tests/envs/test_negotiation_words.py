"""Negotiations in words: what choices promise, what just happened, what was said, and how long it
all is."""

import functools
import json
import re

import jax
import numpy as np
import pytest

import manyhands
from manyhands import testing
from manyhands.core.choices import HEDGES
from manyhands.core.env import ConfigError, IllegalAction, episode_key
from manyhands.core.pack import full_actions, stepper
from manyhands.core.talk import OTHER, Message
from manyhands.envs.negotiation.state import KINDS
from manyhands.wrappers.recent import Recent

# Every scenario as it is, and what changes effects: delay, outside options, votes, chance.
GAMES = {
    "chat": {"scenario": "deal_or_no_deal"},
    "offers": {"scenario": "deal_or_no_deal", "protocol": "offers"},
    "late offers": {"scenario": "deal_or_no_deal", "protocol": "offers", "discount": 0.5},
    "shaky offers": {"scenario": "deal_or_no_deal", "protocol": "offers", "break_off": 0.3},
    "trade": {"scenario": "trade"},
    "spiral": {"scenario": "trade", "preset": "spiral", "max_steps": 5},
    "buy_sell": {"scenario": "buy_sell"},
    "dear": {"scenario": "buy_sell", "cost": 50, "value": 20, "discount": 0.9, "score": "win"},
    "ultimatum": {"scenario": "ultimatum"},
    "rounds": {"scenario": "ultimatum", "rounds": 3, "outside": (0, 4), "discount": 0.5},
    "short rounds": {"scenario": "ultimatum", "rounds": 3, "discussion": 0, "max_steps": 5},
    "divide": {"scenario": "divide"},
    "divide among five": {"scenario": "divide", "players": 5, "outside": (0, 9), "rounds": 3},
    "all must agree": {"scenario": "divide", "vote": "unanimity", "discussion": 0},
    "commons": {"scenario": "commons", "months": 3},
    "scarce": {"scenario": "commons", "players": 3, "max_harvest": 60, "discussion": 0},
    "donor": {"scenario": "donor"},
    "punishing": {"scenario": "donor", "players": 3, "punishment": True, "values": (1, 3)},
}
# These differ from others in numbers alone, and are left to the slow tests.
ALIKE = ("late offers", "spiral", "short rounds", "divide", "scarce")
CASES = [pytest.param(name, marks=[pytest.mark.slow] * (name in ALIKE)) for name in GAMES]
LONGEST = {"rules": 5000, "describe": 1200, "choices": 800}


@functools.cache
def plays(name: str):
    """[(environment, key data, step, frame)] along two episodes of random play in which offers are
    often answered."""
    return list(_played(name))


def _played(name: str, episodes: int = 2):
    env = manyhands.make("negotiation", **GAMES[name])
    rng = np.random.default_rng(3)
    for seed in range(episodes):
        key = episode_key(seed)
        data, frame, t = np.asarray(jax.random.key_data(key)), stepper(env).reset(key), 0
        while True:
            yield env, data, t, frame
            if frame.over:
                break
            rows = {}
            for i in np.flatnonzero(frame.acting):
                found = env.choices(frame.state, int(i), None)
                able = [c for c in found if not c.text.startswith(("say", "claim", "pledge"))]
                if len(able) > 1 and rng.random() < 0.8:
                    able = [c for c in able if c.text not in ("pass", "walk away")] or able
                pick = (able or found)[rng.integers(len(able or found))]
                rows[int(i)] = env.parse(pick.text, frame.state, int(i))
            frame = stepper(env).step(data, t, frame, full_actions(env, rows))
            t += 1


@pytest.mark.parametrize("name", CASES)
def test_what_choices_promise_happens(name):
    rng = np.random.default_rng(5)
    promised = set()
    for env, _, t, frame in plays(name):
        for i in np.flatnonzero(frame.acting):
            choices = env.choices(frame.state, int(i), None)
            kinds = {c.text.partition(":")[0].partition(" ")[0]: c for c in choices}
            picked = [choices[k] for k in rng.choice(len(choices), min(4, len(choices)), False)]
            for choice in [*kinds.values(), *picked]:
                words = set(choice.effect.replace(",", " ").replace(";", " ").split())
                assert choice.certain or words & set(HEDGES), choice
                assert not (choice.certain and choice.effect) or choice.facts, choice
                rows = testing.random_actions(env, frame)
                rows[i] = choice.action
                assert np.array_equal(rows[i], env.parse(choice.text, frame.state, int(i)))
                key = rng.integers(0, 2**32, 2, np.uint32)
                if not choice.certain:
                    continue
                after = stepper(env).step(key, t, frame, rows)
                broken = testing.broken_facts(env, choice, after)
                assert not broken, f"{choice}: {broken}"
                promised |= {path.partition(".")[0] for path in choice.facts}
    assert "time" in promised and promised & {"reward", "deals", "offer", "players"}


def test_a_loss_is_called_a_loss_and_a_gain_is_what_is_paid():
    env = manyhands.make("negotiation", scenario="buy_sell", cost=20, value=30, discount=0.5)
    frame = stepper(env).reset(episode_key(0))
    data = np.asarray(jax.random.key_data(episode_key(0)))
    for t, (agent, text) in enumerate([(0, "offer 35"), (1, "pass"), (0, "pass")]):
        rows = full_actions(env, {agent: env.parse(text, frame.state, agent)})
        frame = stepper(env).step(data, t, frame, rows)
    accept = next(c for c in env.choices(frame.state, 1) if c.text == "accept")
    assert "lose 5" in accept.effect and "0.25" in accept.effect
    assert accept.facts["reward.player_1"] == pytest.approx(-1.25) and accept.facts["over"]
    away = next(c for c in env.choices(frame.state, 1) if c.text == "walk away")
    assert away.facts["over"] and away.facts["reward.player_1"] == 0
    # With another reward than the gain, nothing is promised of it.
    won = manyhands.make("negotiation", scenario="buy_sell", cost=20, value=30, score="win")
    assert not any("reward" in str(c.facts) for c in won.choices(frame.state, 1))


@pytest.mark.parametrize("name", CASES)
def test_texts_are_short(name):
    longest = dict.fromkeys(LONGEST, 0)
    for env, _, _, frame in plays(name):
        for i in range(env.num_agents):
            choices = env.choices(frame.state, i)
            found = {
                "rules": len(env.rules(i)),
                "describe": len(env.describe(frame.state, i)),
                "choices": len("\n".join(choices)),
            }
            longest = {key: max(longest[key], length) for key, length in found.items()}
            if bool(frame.acting[i]):
                all_of_them = env.choices(frame.state, i, None)
                assert len(all_of_them) == frame.legal[i].sum()
                for choice in choices:  # each line that is shown is read, too
                    assert np.array_equal(env.parse(str(choice), frame.state, i), choice.action), (
                        choice
                    )
            brief = len(env.describe(frame.state, i, detail="brief"))
            assert brief <= found["describe"] <= len(env.describe(frame.state, i, detail="full"))
    assert all(longest[key] <= LONGEST[key] for key in LONGEST), longest


def test_offers_of_a_trade_are_one_line_with_an_example_that_can_be_paid():
    for env, _, _, frame in plays("trade"):
        for i in np.flatnonzero(frame.acting):
            (offer,) = (c for c in env.choices(frame.state, int(i)) if c.text.startswith("offer"))
            r, own = len(env.scenario.goods), frame.state.holdings[i]
            give, ask = offer.action[1 : 1 + r], offer.action[1 + r :]
            assert (give <= own).all() and give.any() == own.any() and ask.any()
            last = "too late" in offer.effect
            for good, most in zip(env.scenario.goods, own.tolist(), strict=True):
                assert last or not most or f"{most} {good}" in offer.effect
            parts = env.choices(frame.state, int(i), None)
            assert sum(c.text.startswith(("give ", "ask ")) for c in parts) == sum(
                frame.legal[i][env.moves :]
            )


def test_what_cannot_be_answered_any_more_says_so():
    env = manyhands.make("negotiation", scenario="buy_sell", max_steps=2)
    state = stepper(env).reset(episode_key(0)).state
    last = state.__class__(**(vars(state) | {"time": np.int16(1), "turn": np.uint8(1)}))
    for limit in (24, None):
        offers = [c for c in env.choices(last, 1, limit) if c.text.startswith("offer")]
        assert offers and all("too late" in c.effect and c.facts["over"] for c in offers)


# ---- what just happened --------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_events_are_what_was_done(name):
    seen, before = set(), np.zeros(0, bool)
    for env, _, t, frame in plays(name):
        acted, before = before, frame.acting
        events = env.last_events(frame.state)
        assert json.loads(json.dumps(events)) == events
        assert all(env.last_events(frame.state, i) == events for i in range(env.num_agents))
        codes = np.asarray(env.event_codes(frame.state))
        assert codes.shape == (env.num_agents, len(env.event_names))
        if not t:
            assert events == [] and not codes.any()
            continue
        kinds = [event["event"] for event in events]
        seen |= set(kinds)
        moved = [event["agent"] for event in events if "agent" in event]
        assert moved == [name for name, acts in zip(env.agents, acted, strict=True) if acts]
        assert ("over" in kinds) == frame.over
        assert ("deal" in kinds) == (frame.metrics["deals"] > 0)
        names = env.event_names
        for i in range(env.num_agents):
            row = dict(zip(names, codes[i].tolist(), strict=True))
            for j in range(env.num_agents):
                place = "you" if not j else f"next_{j}"
                bits = [row[f"{place}: {kind}"] for kind in KINDS]
                assert sum(bits) == (env.agents[(i + j) % env.num_agents] in moved)
            assert row["over"] == frame.over and row["deal"] == ("deal" in kinds)
    assert seen & {"offer", "catch", "give", "punish"}


def test_a_deal_is_told_with_what_it_means():
    env = manyhands.make(
        "negotiation",
        protocol="offers",
        counts=[1, 2, 3],
        values=[[1, 3, 1], [4, 0, 2]],
    )
    frame = stepper(env).reset(episode_key(0))
    data = np.asarray(jax.random.key_data(episode_key(0)))
    for t, text in enumerate(["take 2 hats and 1 ball", "accept"]):
        rows = full_actions(env, {t: env.parse(text, frame.state, t)})
        frame = stepper(env).step(data, t, frame, rows)
    deal = env.last_events(frame.state)[1]
    assert deal["by"] == "player_0" and deal["offer"]["takes"] == {"book": 0, "hat": 2, "ball": 1}
    assert "you get 2 hats and 1 ball, worth 7 to you" in env.describe(frame.state, 0)
    assert "you get 1 book and 2 balls, worth 8 to you" in env.describe(frame.state, 1)


def test_events_can_be_part_of_observations():
    env = Recent(manyhands.make("negotiation", scenario="commons", players=3))
    states = jax.jit(env.batch_reset)(jax.vmap(jax.random.key)(np.arange(4)))
    plain = env.env.observation_space.shape[0]
    assert env.observe(states).shape == (3, plain + len(env.event_names), 4)


# ---- what was said -------------------------------------------------------------------------------


def test_real_words_stand_where_they_were_said():
    env = manyhands.make("negotiation", scenario="divide", players=3, rounds=3)
    frame = stepper(env).reset(episode_key(0))
    data = np.asarray(jax.random.key_data(episode_key(0)))
    talk = []
    script = [
        {0: ("SAY: forty for me would be grand", "forty for me would be grand")},
        {1: ("pass", None)},
        {2: ("SAY: let us share fairly!", "let us share fairly!")},
        {0: ("40 for me, 30 for player_1, 30 for player_2", "as I said " + "x" * 300)},
        {1: ("reject", "too <b>little</b>"), 2: ("reject", None)},
        {1: ("SAY: my turn", "my turn")},
    ]
    for t, moves in enumerate(script):
        rows = {i: env.parse(text, frame.state, i) for i, (text, _) in moves.items()}
        frame = stepper(env).step(data, t, frame, full_actions(env, rows))
        talk += [Message(env.agents[i], said, t) for i, (_, said) in moves.items() if said]
    plain = env.describe(frame.state, 1)
    assert plain.count(OTHER) == 2 and "saying" not in plain
    text = env.describe(frame.state, 1, talk=talk)
    lines = text.splitlines()
    assert OTHER not in text
    assert '- player_0 said: "forty for me would be grand"' in lines
    assert '- player_2 said: "let us share fairly!"' in lines
    assert "- player_1: pass" not in lines and "- you: pass" in lines
    (offer,) = (line for line in lines if "player_0 proposes" in line)
    assert ', saying "as I said xxx' in offer and len(offer) < 220 and offer.endswith('…"')
    assert '- you: reject, saying "too (b)little(/b)"' in lines
    assert lines[-2:] == ["Last step (round 2):", '- you said: "my turn"']
    # Words of a step that is no longer remembered are left out, and so are those of nobody.
    old = [Message("player_0", "long ago", -5), Message("player_9", "who?", 0)]
    assert env.describe(frame.state, 1, talk=old) == plain


@pytest.mark.parametrize("name", CASES)
def test_words_find_their_moves_in_every_game(name):
    """Each mover says the number of its step: it must stand beside that move."""
    talk, moves = [], []
    for env, _, t, frame in plays(name):
        if not t:
            talk, moves = [], []
        elif moves:
            lines = env.describe(frame.state, 0, talk=talk).splitlines()
            told = [line.rpartition('"step ')[2].rstrip('"') for line in lines if "- " in line[:2]]
            expected = [str(step) for step, _ in moves][-len(told) :]
            assert told == expected
        for i in np.flatnonzero(frame.acting):
            talk.append(Message(env.agents[i], f"step {t}", t))
            moves.append((t, int(i)))


def test_detail_is_an_option_of_the_game():
    env = manyhands.make("negotiation", scenario="commons", detail="full")
    assert env.config()["detail"] == "full"
    assert "detail" not in manyhands.make("negotiation").config()
    state = stepper(env).reset(episode_key(0)).state
    assert "at most 50 tons (10 each)" in env.describe(state, 0)
    assert env.describe(state, 0, detail="normal") != env.describe(state, 0)
    with pytest.raises(ConfigError, match="detail"):
        manyhands.make("negotiation", detail="loud")


def test_more_detail_tells_nothing_that_is_private():
    for options in (
        {"scenario": "buy_sell", "cost": 40, "value": 61},
        {"scenario": "deal_or_no_deal", "protocol": "offers"},
        {"scenario": "ultimatum", "outside": (0, 4)},
        {"scenario": "trade"},
    ):
        env = manyhands.make("negotiation", detail="full", **options)
        state = stepper(env).reset(episode_key(1)).state
        others = np.array([[0], [1]], np.int16)
        twin = state.__class__(
            **(
                vars(state)
                | {"values": state.values + others, "outside": state.outside + others[:, 0]}
            )
        )
        assert env.describe(state, 0) == env.describe(twin, 0)
    priced = manyhands.make("negotiation", scenario="buy_sell", cost=40, value=61, detail="full")
    state = stepper(priced).reset(episode_key(0)).state
    assert "61" not in priced.describe(state, 0) and "40" not in priced.describe(state, 1)


def test_an_address_is_no_part_of_a_move():
    env = manyhands.make("negotiation", scenario="buy_sell", cost=20, value=50)
    state = stepper(env).reset(episode_key(0)).state
    for text in ("offer 40, my friend", "Dear friend, I offer 40.", "offer 40, player_1"):
        assert env.scenario.offers[env.parse(text, state, 0) - env.first[5], 0] == 40, text
    for text in ("my friend offers 40", "offer 40 to my friend's friend", "friend or 40"):
        with pytest.raises(IllegalAction):
            env.parse(text, state, 0)


def test_a_phrase_is_said_as_it_is_shown():
    env = manyhands.make("negotiation", scenario="buy_sell")
    state = stepper(env).reset(episode_key(0)).state
    (shown,) = (c for c in env.choices(state, 0) if c.text.startswith("say"))
    assert env.chat.speech(str(shown)) == shown.text.removeprefix("say: ")
    assert env.parse(f"{shown}.", state, 0) == shown.action


@pytest.mark.parametrize(
    ("scenario", "sign"),
    [
        ("donor", r"Donor: (\w+)\. Receiver: (\w+)\."),
        ("divide", r"(\w+) proposes?\."),
        ("commons", r"(\w+) speaks? first\."),
    ],
)
def test_who_leads_a_round_is_told_in_its_discussion_too(scenario, sign):
    """The leader is the same in a whole round, and whoever speaks may be another."""
    env = manyhands.make("negotiation", scenario=scenario, players=3)
    frame = stepper(env).reset(episode_key(0))
    data = np.asarray(jax.random.key_data(episode_key(0)))
    for t in range(12):
        number = env.to_dict(frame.state)["round"]
        for agent in range(3):
            told = re.search(sign, env.describe(frame.state, agent))
            names = [env.agents[agent] if name.lower() == "you" else name for name in told.groups()]
            assert names[0] == env.agents[number % 3]
            assert len(set(names)) == len(names)  # nobody gives to itself
        acting = np.flatnonzero(frame.acting).tolist()
        rows = {i: env.parse("pass", frame.state, i) for i in acting}
        frame = stepper(env).step(data, t, frame.state, full_actions(env, rows))
        if frame.over:
            break
    assert number > 0


@pytest.mark.parametrize("name", CASES)
def test_claims_that_the_rules_give_as_examples_can_be_made(name):
    tried = 0
    for env, _, _, frame in plays(name):
        for agent in np.flatnonzero(frame.acting).tolist():
            said = re.search(r', "((?:claim|pledge)[^"]*)"', env.rules(agent))
            offered = {str(c).split(":")[0] for c in env.choices(frame.state, agent, None)}
            if said and not offered.isdisjoint({"claim", "pledge"}):
                env.parse(said[1], frame.state, agent)
                tried += 1
    assert tried or not re.search('"(claim|pledge)', env.rules(0))


def test_a_history_that_is_cut_says_so():
    env = manyhands.make("negotiation", scenario="commons", players=3)
    state, step, moves = env.reset(jax.random.key(0)), jax.jit(env.step), 0
    for turn in range(14):
        text = env.describe(jax.device_get(state), 0)
        assert ("earlier moves left out" in text) is (moves > env.memory), turn
        acting = np.asarray(env.acting(state))
        passing = env.parse("pass", jax.device_get(state), int(np.argmax(acting)))
        state, _ = step(jax.random.key(turn), state, np.full(3, passing, np.int32))
        moves += int(acting.sum())
    assert moves > env.memory


def test_a_pass_in_place_of_an_answer_is_told_as_a_no():
    env = manyhands.make("negotiation", scenario="ultimatum", rounds=3)
    state, step = jax.jit(env.reset)(jax.random.key(0)), jax.jit(env.step)
    for said in ("pass", "pass", "keep 6", "pass", "pass"):
        agent = int(np.argmax(env.acting(state)))
        actions = np.zeros(2, np.int32)
        actions[agent] = env.parse(said, state, agent)
        state, _ = step(jax.random.key(0), state, actions)
    text = env.describe(state, 0)
    assert text.count("(no answer, which is a no)") == 1
    assert "- you propose: you take 6 coins\n- player_1: pass (no answer, which is a no)" in text


def test_errors_name_all_that_a_donor_can_do():
    env = manyhands.make("negotiation", scenario="donor", punishment=True, discussion=0)
    state = env.reset(jax.random.key(0))
    with pytest.raises(IllegalAction, match='"punish with <coins>"'):
        env.parse("give 99", state, 0)
    with pytest.raises(IllegalAction, match="half is 5"):
        env.parse("give half of my coins: 4", state, 0)


def test_taking_nothing_is_a_choice_and_a_pass_states_none():
    env = manyhands.make("negotiation", scenario="deal_or_no_deal")
    state = env.reset(jax.random.key(0))
    actions = np.zeros(2, np.int32)
    actions[0] = env.parse("ready", state, 0)
    state, _ = env.step(jax.random.key(0), state, actions)
    passing = next(str(choice) for choice in env.choices(state, 0) if choice.text == "pass")
    assert "nothing" not in passing
    assert env.parse("take nothing", state, 0) != env.parse("pass", state, 0)


def _after(scenario: str, *moves: str, **options):
    """(environment, state) once these moves were made, each by the player whose turn it is."""
    env = manyhands.make("negotiation", scenario=scenario, **options)
    key = episode_key(0)
    data, frame = np.asarray(jax.random.key_data(key)), stepper(env).reset(key)
    for t, move in enumerate(moves):
        agent = int(np.flatnonzero(frame.acting)[0])
        rows = full_actions(env, {agent: env.parse(move, frame.state, agent)})
        frame = stepper(env).step(data, t, frame, rows)
    return env, frame.state


def test_a_text_says_why_an_offer_cannot_be_accepted():
    env, state = _after("trade", "offer 1 wheat for 25 wood")
    text = env.describe(state, 1)
    assert "you cannot accept, for the offer asks for 25 wood, more than you own)." in text
    assert "accept" not in [str(choice).split(":")[0] for choice in env.choices(state, 1)]
    assert "you cannot accept" not in env.describe(state, 0)
    env, state = _after("trade", "offer 1 wheat for 1 wood")
    assert "you cannot accept" not in env.describe(state, 1)


def test_rules_tell_of_the_last_turn_the_order_of_speakers_and_of_claims():
    trade = manyhands.make("negotiation", scenario="trade").rules(0)
    assert "What is offered in the last turn can no longer be answered." in trade
    assert "nobody has to believe it" in trade
    donor = manyhands.make("negotiation", scenario="donor").rules(0)
    assert "everybody speaks once, in turns, player_0 first." in donor
    assert "In each later round the next player begins." in donor


def test_a_claim_of_a_seller_is_of_its_cost():
    env, state = _after("buy_sell", "claim 30")
    assert "Claimed cost or value: player_0: 30." in env.describe(state, 1)


def test_silence_in_the_talk_keeps_no_coins():
    talks = ["pass"] * 4
    env, state = _after("donor", *talks)
    with pytest.raises(IllegalAction, match="talk is over"):
        env.parse("No words from me this time, I pass.", state, 0)
    assert np.array_equal(env.parse("I pass.", state, 0), env.noop)
    env, state = _after("donor", *talks, "pass")
    assert "you gave nothing to player_" in env.describe(state, 0)


ROUNDS = ("rounds", "short rounds", "divide among five", "all must agree", "commons", "donor")


@pytest.mark.parametrize("name", ROUNDS)
def test_the_history_tells_the_round_of_each_move(name):
    """With proposals that are refused, or not even made, and talks that somebody leaves."""
    env = manyhands.make("negotiation", **GAMES[name])
    rng, most = np.random.default_rng(1), 0
    for seed in range(3):
        key, t = episode_key(seed), 0
        data, frame = np.asarray(jax.random.key_data(key)), stepper(env).reset(key)
        played: list[int] = []  # of each move, the round that it was made in
        while True:
            told, now = [], 0
            for line in env.describe(frame.state, 0).splitlines():
                if found := re.fullmatch(r"(?:Round|Month) (\d+):|Last step \(\w+ (\d+)\):", line):
                    now = int(found[1] or found[2])
                told += [now] * line.startswith("- ")
            assert told == played[len(played) - len(told) :], (t, told, played)
            assert len(told) >= min(len(played), 5)
            if frame.over:
                break
            played += [int(frame.state.round) + 1] * int(frame.acting.sum())
            rows = {}
            for i in np.flatnonzero(frame.acting):
                words = {str(c).split(":")[0]: c for c in env.choices(frame.state, int(i), None)}
                weights = [{"accept": 0.2, "walk away": 0.1}.get(kind, 1.0) for kind in words]
                pick = rng.choice(list(words), p=np.array(weights) / sum(weights))
                rows[int(i)] = words[pick].action
            frame, t = stepper(env).step(data, t, frame, full_actions(env, rows)), t + 1
        most = max([most, *played])
    assert most > 1


@pytest.mark.parametrize("name", CASES)
def test_deals_are_counted_where_there_can_be_several(name):
    ends = set()
    for env, _, _, frame in plays(name):
        for detail in ("brief", "normal"):
            text = env.describe(frame.state, 0, detail=detail)
            one_off = "deals" in env.at and not env.scenario.accumulates
            assert ("Deals so far" in text) is (
                "deals" in env.at and not one_off and detail != "brief"
            )
            if frame.over and one_off:
                end = "with a deal" if frame.state.deals else "without a deal"
                assert text.splitlines()[0].endswith(f"{end}.")
                ends.add(end)
            else:
                assert "without a deal." not in text.splitlines()[0]
    assert ends or env.scenario.accumulates or "deals" not in env.at


@pytest.mark.parametrize("scenario", ["donor", "commons"])
def test_nobody_leads_a_round_after_the_last(scenario):
    length = {"donor": "rounds", "commons": "months"}[scenario]
    env, state = _after(scenario, *["pass"] * 3, players=3, discussion=0, **{length: 3})
    told = env.describe(state, 0).splitlines()[1]
    assert told.startswith("All 3") and "Were there one more" in told


def test_claims_tell_within_what_they_can_be_true():
    env, state = _after("buy_sell")
    (claim,) = (str(c) for c in env.choices(state, 0) if c.text.startswith("claim"))
    assert "10 to 50 by 5 (a cost is from 10 to 40)" in claim
    env, state = _after("buy_sell", "pass")
    (claim,) = (str(c) for c in env.choices(state, 1) if c.text.startswith("claim"))
    assert "(a value is from 20 to 50)" in claim
    assert "what your value is" in env.rules(1) and "what your cost is" in env.rules(0)
    env, state = _after("trade")  # each range is the one of its good
    (claim,) = (str(c) for c in env.choices(state, 0) if c.text.startswith("claim"))
    assert "wheat 5 to 6" in claim and "(" not in claim


def test_phrases_fit_their_games():
    said = {name: set(manyhands.make("negotiation", **GAMES[name]).phrases) for name in GAMES}
    assert not any(re.search("share|need most|much of this", line) for line in said["buy_sell"])
    assert not any(re.search("take|took|hold back", line) for line in said["donor"])
    assert len({len(phrases) for phrases in said.values()}) == 1


@pytest.mark.parametrize(
    ("scenario", "words", "phrase"),
    [
        ("buy_sell", "I ask player_1 what price they want.", "what price do you want?"),
        ("buy_sell", "I suggest that we find a fair price.", "let us find a fair price"),
        ("buy_sell", "I tell them that I am in no hurry.", "I am in no hurry"),
        ("donor", "I urge everyone to give more.", "let us all give more"),
        ("donor", "I tell them that I will give if they do.", "I will give if you do"),
    ],
)
def test_phrases_of_a_sale_and_of_gifts_are_read_as_reports(scenario, words, phrase):
    env, state = _after(scenario)
    assert np.array_equal(env.parse(words, state, 0), env.parse(f"say: {phrase}", state, 0))
    assert env.parse(f"say: {phrase}", state, 0) == env.first[KINDS.index("say")] + (
        env.phrases.index(phrase)
    )
