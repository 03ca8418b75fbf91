"""Price: an item changes hands for a price, from the seller (player 0) to the buyer (player 1)."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.envs.negotiation.forms.base import Bargain, Deal, Turn
from manyhands.envs.negotiation.state import NegotiationState
from manyhands.envs.negotiation.words import Observation, one_number


class Price(Bargain):
    """An offer is i16[1], a price. The item's worth to the seller is its cost."""

    how_to_offer = '"offer <price>"'
    shows_pool = False
    shows_holdings = False
    drawn_offer = "offers "

    # ---- rules ------------------------------------------------------------------------------

    def settle(self, state: NegotiationState, turn: Turn) -> Turn:
        price, cost, value = turn.agreed[0], state.values[0, 0], state.values[1, 0]
        gain = jnp.stack([price - cost, value - price])
        return turn._replace(
            gain=jnp.where(turn.dealt[None], gain, 0),
            pool=jnp.where(turn.dealt[None], 0, turn.pool),
            over=turn.over | turn.dealt,
        )

    def frontier(
        self, before: NegotiationState, after: NegotiationState, made: Array
    ) -> tuple[Array, Array]:
        values = before.values.astype(jnp.int32)
        prices = self.enumerated(before)[:, 0].astype(jnp.int32)
        gains = jnp.stack([prices - values[0], values[1] - prices], axis=1)
        price = before.offer[0].astype(jnp.int32)
        cost, value = before.values[:, 0].astype(jnp.int32)
        return self.among(before, gains, jnp.stack([price - cost, value - price]), made)

    def grades(
        self, before: NegotiationState, after: NegotiationState, total: Array, envy: Array
    ) -> dict[str, Array]:
        more = jnp.max(total, axis=0)[None] - total
        return super().grades(before, after, total, jnp.maximum(more, 0))

    def outcomes(self, state: NegotiationState) -> list[Deal]:
        cost, value = np.asarray(state.values, int)[:, 0].tolist()
        prices = self.offers[:, 0].tolist()
        deals = [Deal((price - cost, value - price), {"price": price}) for price in prices]
        return [*deals, self.no_deal(state)]

    # ---- words ------------------------------------------------------------------------------

    def rules_words(self) -> list[str]:
        drawn = ""
        if (self.values[..., 0] < self.values[..., 1]).any():
            (c_low, c_high), (v_low, v_high) = self.values[:, 0].tolist()
            drawn = (
                f"The cost is drawn from {c_low} to {c_high}, the value from {v_low} to {v_high}. "
            )
        low, high = int(self.offers.min()), int(self.offers.max())
        return [
            "The seller can sell one item to the buyer. If you agree on a price, the seller gains "
            "the price less its cost, the buyer its value less the price; that can be a loss. "
            "Without a deal nobody gains anything. Prices are whole numbers from "
            f"{low} to {high}.",
            f"{drawn}Only the seller knows the cost, and only the buyer the value."
            + self.delay_words("turn t", "t - 2"),
        ]

    def answer_words(self, agent: int) -> str:
        return '"offer 25", "accept", "reject"'

    def offer_words(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        return f"a price of {int(content[0])}"

    def offer_means(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        gain = int(content[0]) - int(seen["own_values"][0])
        return f"you gain {gain if seen.agent == 0 else -gain}"

    def choice_words(self, seen: Observation, content: np.ndarray) -> str:
        return f"offer {self.offer_words(seen, 0, content)}: {self.offer_means(seen, 0, content)}"

    def value_words(self, seen: Observation) -> str:
        return f"Your {_limit(seen.agent)}: {seen['own_values'][0]}."

    def claim_words(self, seen: Observation, number: int, mine: bool) -> str:
        maker = seen.agent if mine else 1 - seen.agent
        return f"my {_limit(maker)} is about {int(self.claims[number, 1])}"

    @property
    def claim_example(self) -> str:
        return "claim 25"

    def bounds_words(self, seen: Observation, content: np.ndarray) -> str:
        return f"prices are from {self.offers.min()} to {self.offers.max()}"

    def read_offer(self, seen: Observation, plain: str, quoted: str) -> np.ndarray:
        about = r"offer|propose|ask|pay|sell|buy|price|bid|counter|for"
        return np.array([one_number(plain, "coins", about, quoted)])

    # ---- pictures ---------------------------------------------------------------------------

    def centrepiece(self, seen: Observation) -> str:
        return "" if seen["deals"][0] else self.goods[0]

    def value_fact(self, i: int, known: str) -> str:
        return f"{_limit(i)} {known}"

    # ---- scripted players -------------------------------------------------------------------

    def appraise(
        self, seen: dict[str, Array], agent: int, offers: Array, own: bool
    ) -> tuple[Array, Array]:
        values = seen["own_values"].astype(jnp.float32)
        gain = (offers[:, 0] - values[0]) * (1 if agent == 0 else -1)
        return gain, -gain

    def fair_share(self, seen: dict[str, Array], agent: int) -> Array:
        # Half of what there is to gain if the other's limit is the middle one.
        values = seen["own_values"].astype(jnp.float32)
        middle = self.values[1 - agent, 0].mean()
        gain = (middle - values[0]) if agent == 0 else (values[0] - middle)
        return jnp.maximum(gain / 2, 1)


def _limit(player: int) -> str:
    """What the worth of the item is called."""
    return ("cost", "value")[player]
