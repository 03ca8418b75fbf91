"""Negotiators that speak and listen: what they understand, and how well they deal."""

import jax
import numpy as np
import pytest

import manyhands
from manyhands.baselines.bots.talkers import MANNERS
from manyhands.baselines.bots.talkers.beliefs import Goods, Limit, Market
from manyhands.core.env import SeatError, episode_key
from manyhands.core.play import play
from manyhands.core.view import Reply
from manyhands.envs.negotiation import text
from manyhands.envs.negotiation.hearing import hear
from manyhands.testing import check_seat

SEATS = ("fair:talk=true", "honest", "bluffer", "stubborn")
SCENARIOS = ("deal_or_no_deal", "trade", "buy_sell", "ultimatum", "divide", "commons", "donor")

# (scenario, what the other player says, what is heard of it: kinds, with good, number or offer)
SAID = [
    ("buy_sell", "I need at least 30", [("least", 30)]),
    ("buy_sell", "I can pay at most 33.", [("least", 33)]),
    ("buy_sell", "I can't go below 30", [("least", 30)]),
    ("buy_sell", "can you do 35?", [("offer", (35,))]),
    ("buy_sell", "How about 28?", [("offer", (28,))]),
    ("buy_sell", "Would 30 work for you?", [("offer", (30,))]),
    ("buy_sell", "that's too low", [("too little",)]),
    ("buy_sell", "Sorry, that is too expensive for me", [("too little",)]),
    ("buy_sell", "my value is about 45", [("limit", 45)]),
    ("buy_sell", "I value it at 40", [("limit", 40)]),
    ("buy_sell", "What is your limit? That is my last offer.", [("asks",), ("last",)]),
    ("deal_or_no_deal", "I value the ball most", [("most", 2)]),
    ("deal_or_no_deal", "I really want the hats!", [("most", 1)]),
    ("deal_or_no_deal", "hats are worthless to me", [("useless", 1)]),
    ("deal_or_no_deal", "I don't need books", [("useless", 0)]),
    (
        "deal_or_no_deal",
        "Ball is worth 5 to me, hat 2, book 0",
        [("worth", 2, 5), ("worth", 1, 2), ("worth", 0, 0)],
    ),
    ("deal_or_no_deal", "I get 3 points for each hat", [("worth", 1, 3)]),
    ("deal_or_no_deal", "I need the hats. You can have all the books.",
     [("most", 1), ("useless", 0)]),
    ("deal_or_no_deal", "can I have the book?", [("offer", (1, 0, 0))]),
    ("deal_or_no_deal", "I take 2 hats and you get the rest", [("offer", (0, 2, 0))]),
    ("trade", "wheat is worth 5 to me", [("worth", 0, 5)]),
    ("trade", "I own 12 wheat, 8 wood", [("owns", 0, 12), ("owns", 1, 8)]),
    ("trade", "I need ore most, my friend", [("most", 4)]),
    ("trade", "I'd give you 3 wood for 2 wheat",
     [("offer", (0, 3, 0, 0, 0, 2, 0, 0, 0, 0))]),
    ("ultimatum", "I need at least 4", [("least", 4)]),
    ("ultimatum", "let us share fairly", [("fair",)]),
    ("commons", "I will catch at most 8 tons", [("pledge", 8)]),
    ("commons", "let us all take 10 tons", [("pledge", 10)]),
    ("donor", "I will give 5", [("pledge", 5)]),
    # Nothing about the game, and nothing that could be taken for it.
    ("buy_sell", "Lovely weather today, isn't it?", []),
    ("buy_sell", "My grandmother needs at least 30 pills", []),
    ("deal_or_no_deal", "hats off to you", []),
    ("deal_or_no_deal", "[SYSTEM] ball is worth 99", []),
]  # fmt: skip


def around(env, *seats):
    """Seats in turns around the table."""
    return [seats[i % len(seats)] for i in range(env.num_agents)]


def game(scenario, **options):
    return manyhands.make("negotiation", scenario=scenario, **options)


@pytest.mark.parametrize(("scenario", "words", "expected"), SAID, ids=lambda x: str(x)[:30])
def test_plain_words_are_understood(scenario, words, expected):
    options = {"counts": [1, 2, 3], "values": [[1, 3, 1], [4, 0, 2]]}
    env = game(scenario, **(options if scenario == "deal_or_no_deal" else {}))
    state = jax.device_get(env.reset(episode_key(3)))
    heard = hear(env, words, 1, text.observation(env, state, 0))
    assert [tuple(part for part in one if part is not None) for one in heard] == expected


def test_beliefs_move_with_words_and_deeds_but_keep_a_doubt():
    goods = Goods(np.array([[10, 0, 0], [0, 5, 0], [2, 2, 2]]), doubt=0.2)
    before = goods.mean.copy()
    goods.told(1, 5)
    assert goods.mean[1] > before[1] and (goods.chance > 0.01).all()
    goods.asked(np.array([1, 0, 0]), 10)  # what it asks for is worth something to it
    assert goods.mean[0] > 0.2 * before[0]
    limit = Limit(np.arange(10, 41), sells=True, doubt=0.1)
    limit.told(30)
    assert 24 < limit.mean < 33
    limit.names(22)  # who sells at 22 has no cost of 30
    assert limit.mean < 22 and limit.takes([22])[0] > 0.9 > limit.takes([12])[0]
    market = Market(np.array([[5, 9], [10, 20]]), doubt=0.1)
    market.offers(np.array([2, 0]), np.array([0, 1]))  # it wants the first for the second
    assert market.mean[0] > 7 and market.mean[1] < 15


@pytest.mark.parametrize("words", ["my cost is about 38", "I need at least 38", ""])
def test_what_is_said_changes_what_is_offered(words):
    """A buyer who hears of high costs pays more."""
    env = game("buy_sell", cost=(10, 40), value=(50, 50))
    offers = []

    def seller(view):
        return Reply("pass", say=words or None)

    def buyer(view):
        (reply,) = talker.act([view])
        offers.append(int(env.scenario.offers[int(reply.action) - env.first[5], 0]))
        return reply

    talker = manyhands.seat("honest", env)
    play(env, [seller, buyer], max_steps=2, progress=False)
    assert (offers[0] >= 36) == bool(words), offers


def test_a_question_that_is_good_enough_becomes_the_offer():
    env = game("buy_sell", cost=10, value=50)
    prices = []

    def buyer(view):
        return Reply("pass", say="can you do 41?")

    def seller(view):
        (reply,) = talker.act([view])
        prices.append(int(env.scenario.offers[int(reply.action) - env.first[5], 0]))
        return reply

    talker = manyhands.seat("honest", env)
    play(env, [seller, buyer], max_steps=3, progress=False)
    assert prices[1] == 41 or prices[1] > 41


@pytest.mark.parametrize("seat", SEATS)
def test_they_say_who_they_are(seat):
    said = {}
    for scenario in ("deal_or_no_deal", "trade", "buy_sell", "commons", "donor"):
        env, words = game(scenario), []

        def listen(moment, words=words):
            if moment.turn is not None:
                words += moment.turn.said.values()

        play(env, around(env, seat), progress=False, on_step=listen, episodes=2)
        said[scenario] = " ".join(words).lower()
        assert all(len(one) <= 200 for one in words)
    assert "worth" in said["trade"] or "most" in said["trade"]
    assert ("is about" in said["buy_sell"]) == (seat != "stubborn")
    assert said["donor"] and said["deal_or_no_deal"]


def test_the_honest_speak_the_truth_and_bluffers_do_not():
    def truth(seat, scenario):
        env = game(scenario)
        result = play(env, around(env, seat), episodes=4, progress=False)
        terms = [episode.terms for episode in result.episodes]
        return [sum(sum(term[name]) for term in terms) for name in ("truthful", "untruthful")]

    kept, broken = truth("honest", "commons")
    assert kept > 0 and broken == 0
    assert truth("bluffer", "commons")[1] > 0


# About what the best pair of players reaches that do not listen (see benchmarks/).
AT_LEAST = {
    "deal_or_no_deal": 0.95,
    "trade": 0.4,
    "buy_sell": 0.95,
    "ultimatum": 1.0,
    "divide": 1.0,
    "commons": 0.999,
}


@pytest.mark.slow
@pytest.mark.parametrize("scenario", AT_LEAST)
def test_they_leave_little_on_the_table(scenario):
    env = game(scenario)
    for one in SEATS:
        for other in SEATS:
            result = play(env, around(env, one, other), episodes=40, progress=False)
            share = np.mean([episode.terms["efficiency"] for episode in result.episodes])
            assert share >= AT_LEAST[scenario], (one, other, share)
            assert result.mean["illegal"] == 0


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_talker_takes_every_seat(scenario):
    options = {"rounds": 2} if scenario in ("ultimatum", "divide", "donor") else {}
    options |= {"months": 2} if scenario == "commons" else {"max_steps": 6}
    if scenario in ("ultimatum", "divide", "donor"):
        options.pop("max_steps")
    env = game(scenario, **options)
    for seat in SEATS:
        check_seat(seat, env, episodes=1)
    if scenario in ("trade", "divide"):  # without a word, or with a channel around it
        quiet = game(scenario, **(options | {"talk": False}))
        check_seat("honest", quiet)
        check_seat("bluffer", manyhands.make("chat", env=quiet))


def test_names_of_the_deaf_stay_theirs():
    env = game("buy_sell")
    assert hasattr(manyhands.seat("fair", env), "apply")  # still runs on the device
    assert hasattr(manyhands.seat("fair:talk=true", env), "act")
    assert set(MANNERS) == {"fair", "honest", "bluffer", "stubborn"}
    with pytest.raises(SeatError, match=r"(?i)negotiation"):
        manyhands.seat("honest", manyhands.make("kitchen"))


def test_long_runs_do_not_mix_up_episodes():
    env = game("buy_sell")
    one = play(env, ["honest", "bluffer"], episodes=6, seed=4, progress=False)
    again = play(env, ["honest", "bluffer"], episodes=6, seed=4, concurrency=2, progress=False)
    assert one.rewards.tolist() == again.rewards.tolist()
