"""Every form of negotiation, and one that is registered from outside of the package."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pygame
import pytest

import manyhands
from manyhands.core.env import ConfigError, DeviceView, IllegalAction, episode_key
from manyhands.core.play import play
from manyhands.envs.negotiation import SCENARIOS, NegotiationState, register_scenario
from manyhands.envs.negotiation.forms.base import Bargain, Choice, Scenario
from manyhands.envs.negotiation.state import OVER, ROUNDS
from manyhands.envs.negotiation.words import amount

# ---- a form from outside: a sealed-bid auction ---------------------------------------------------


class Auction(Choice):
    """All bid at the same time; the highest bidder (the first of several) pays its bid and gets
    the item. A choice is i16[1], a bid."""

    terms = ("gain", "win", "equality")
    chooses = "all"
    accumulates = False
    how_to_offer = '"bid <coins>"'
    choice_phase = "Sealed bids."
    choosing_nothing = "bid nothing"

    def settle(self, state, turn):
        bids = jnp.where(turn.finished[None], turn.content[:, 0], 0)
        first = jnp.argmax(bids, axis=0)[None]
        seats = jnp.arange(self.players).reshape(-1, *[1] * state.time.ndim)
        wins = (seats == first) & (jnp.max(bids, axis=0) > 0)[None]
        return turn._replace(
            holdings=turn.holdings + wins[:, None],
            pool=turn.pool - jnp.sum(wins, axis=0)[None],
            gain=jnp.where(wins, state.values[:, 0] - bids, 0),
            shown=bids[:, None],
        )

    def rules_words(self):
        return [
            f"One item is sold. Each of you bids 0 to {int(self.offers.max())} coins in secret, at "
            "the same time. The highest bidder (of several, the one with the lowest number) pays "
            "its bid and gains what the item is worth to it, less the bid."
        ]

    def answer_words(self, agent):
        return '"bid 10"'

    def decision_words(self):
        return "Then all bid at the same time."

    def offer_words(self, seen, maker, content):
        return amount(("coin",), content)

    def chosen_words(self, seen, maker, content):
        return f"bid {self.offer_words(seen, maker, content)}"

    def choice_words(self, seen, content):
        gain = int(seen["own_values"][0] - content[0])
        return f"bid {self.offer_words(seen, 0, content)}: if you win, you gain {gain}"

    def bounds_words(self, seen, content):
        return f"bids are from 0 to {int(self.offers.max())}"

    def offer_phrases(self, agent):
        return {"bid": ["(bid|pay) {amount}"]}

    def scripted(self, style, seen, legal, last, count):
        return seen["own_values"][0] // 2, last


def auction(players=3, value=(10, 40), discussion=1):
    span = np.array(value, np.int16)
    return Auction(
        name="auction",
        flow=ROUNDS,
        goods=("item",),
        offers=np.arange(1, value[1] + 1, dtype=np.int16)[:, None],
        pool=np.ones(1, np.int16),
        values=np.broadcast_to(span, (players, 1, 2)),
        holdings=np.zeros((players, 1, 2), np.int16),
        outside=np.zeros((players, 2), np.int16),
        max_steps=players * discussion + 1,
        rounds=1,
        discussion=discussion,
    )


# A case of each scenario; one that has none fails below.
CASES = {
    "deal_or_no_deal": {},
    "trade": {"preset": "spiral"},
    "buy_sell": {},
    "ultimatum": {},
    "divide": {},
    "commons": {},
    "donor": {"punishment": True},
    "auction": {},
}


@pytest.fixture(scope="module", autouse=True)
def registered():
    register_scenario("auction", auction)
    yield
    del SCENARIOS["auction"]


def forms(base=Scenario):
    """All concrete forms."""
    for form in base.__subclasses__():
        yield from forms(form)
        if not form.__abstractmethods__ and form.__module__.startswith(("manyhands", __name__)):
            yield form


def test_every_scenario_and_every_form_has_a_case():
    assert set(CASES) == set(SCENARIOS)
    assert {type(SCENARIOS[name](**CASES[name])) for name in CASES} == set(forms())


def finished(env, state):
    """The same state, but over."""
    return type(state)(**(vars(state) | {"phase": np.uint8(OVER)}))


@pytest.mark.parametrize("name", CASES)
def test_a_form_has_texts_a_bot_and_a_drawing(name):
    env = manyhands.make("negotiation", scenario=name, **CASES[name])
    state: NegotiationState = jax.device_get(jax.jit(env.reset)(episode_key(0)))
    # As if the discussion was over: offers and choices are possible.
    deciding = env.scenario.decision if env.scenario.flow == ROUNDS else env.scenario.opening
    state = type(state)(**(vars(state) | {"phase": np.uint8(deciding)}))
    acting, legal, vector, perception = jax.jit(
        lambda state: (env.acting(state), env.legal(state), env.observe(state), env.perceive(state))
    )(state)
    mover = int(np.flatnonzero(acting)[0])
    for agent in range(env.num_agents):
        assert name.replace("_", " ").upper() in env.rules(agent)
        assert "You are" in env.describe(state, agent)
    choices = env.choices(state, mover, None)
    assert len(choices) == len(set(choices)) == np.asarray(legal)[mover].sum()
    for choice in choices[:40]:
        env.parse(choice, state, mover)
    with pytest.raises(IllegalAction) as caught:
        env.parse("gibberish", state, mover)
    assert env.scenario.how_to_offer in caught.value.reason or "take ..." in caught.value.reason
    # A scripted player.
    seat = manyhands.seat("fair", env)
    view = DeviceView(
        *(np.asarray(rows)[mover] for rows in (vector, perception, legal)),
        jnp.bool_(True),
    )
    memory = seat.init(env, mover)
    action, _ = jax.eval_shape(
        lambda view: seat.apply(env, mover, memory, episode_key(0), view), view
    )
    assert action.shape == np.shape(env.noop)
    # A finished game.
    over = finished(env, state)
    assert "It is over" in env.describe(over, 0)
    json.dumps(env.to_dict(over))
    for agent in (None, 0):
        canvas = pygame.Surface((320, 240))
        env.draw(over, canvas, agent)
        assert len(np.unique(pygame.surfarray.array2d(canvas))) > 50


def test_a_form_from_outside_is_played():
    env = manyhands.make("negotiation", scenario="auction")
    result = play(env, "fair", progress=False)
    assert result.mean["illegal"] == 0 and result.rewards.sum() > 0
    values = np.asarray(env.reset(episode_key(0)).values)[:, 0]
    assert result.mean["turns"] == env.max_steps and (values >= 10).all()


# ---- what is left out is named -------------------------------------------------------------------


def test_what_a_form_lacks_is_named():
    class Half(Choice):
        chooses = "all"
        settle = Auction.settle

    data = auction()
    with pytest.raises(TypeError) as caught:
        Half(**{name: getattr(data, name) for name in data.__dataclass_fields__})
    first, *lines = str(caught.value).splitlines()
    named = {line[2:].partition(":")[0] for line in lines}
    assert "Half" in first and not named & {"settle()", "chooses"}
    assert {"terms", "how_to_offer", "offer_phrases()", "scripted()", "choice_words()"} <= named

    class Priceless(Bargain):
        how_to_offer = '"offer"'

    with pytest.raises(TypeError, match=r"offer_means\(\).*"):
        Priceless()


def test_an_unknown_scenario_and_option_are_named():
    with pytest.raises(ConfigError, match="auction"):
        manyhands.make("negotiation", scenario="auctoin")
    with pytest.raises(ConfigError, match="players"):
        manyhands.make("negotiation", scenario="auction", player=3)
