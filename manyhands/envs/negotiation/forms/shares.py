"""Shares: one player proposes how to split a sum among all, and the others vote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, IllegalAction
from manyhands.envs.negotiation.forms.base import Bargain, Deal, Turn
from manyhands.envs.negotiation.state import NegotiationState
from manyhands.envs.negotiation.words import Observation, amount, numbers, plural


class Shares(Bargain):
    """An offer is i16[N], what each player gets, in seat order; players see them from their own
    place on."""

    can_walk = False
    how_to_offer = "propose shares"
    drawn_offer = "proposes "
    spares = True

    @property
    def step(self) -> int:
        """The smallest share that is more than nothing."""
        steps = np.unique(self.offers)
        return int(steps[1]) if len(steps) > 1 else 1

    def equal_shares(self) -> str:
        """The proposal that is nearest to equal shares, as an example."""
        offers = self.offers.astype(int)
        nearest = offers[np.argmin(offers.max(1) - offers.min(1))]
        return ", ".join(f"{c} for {name}" for c, name in zip(nearest, self.agents, strict=True))

    # ---- rules ------------------------------------------------------------------------------

    def settle(self, state: NegotiationState, turn: Turn) -> Turn:
        return self.split_pool(state, turn, turn.agreed[:, None])

    def frontier(
        self, before: NegotiationState, after: NegotiationState, made: Array
    ) -> tuple[Array, Array]:
        values = before.values.astype(jnp.int32)
        gains = self.enumerated(before) * values[None, :, 0]
        split = jnp.sum(after.holdings.astype(jnp.int32) * before.values, axis=1)
        return self.among(before, gains, split, made)

    def outcomes(self, state: NegotiationState) -> list[Deal]:
        values = np.asarray(state.values, int)[:, 0]
        found = []
        for offer in self.offers.astype(int):
            gains = tuple((offer * values).tolist())
            found.append(Deal(gains, self.named(list(offer[:, None]))))
        return [*found, self.no_deal(state)]

    # ---- observations -----------------------------------------------------------------------

    @property
    def most_offered(self) -> int:
        return int(self.pool.max())

    @property
    def offer_names(self) -> list[str]:
        return ["you", *(f"next_{j}" for j in range(1, self.players))]

    def observe_own(
        self, state: NegotiationState, i: int, order: Sequence[int], xp: Any
    ) -> dict[str, Array]:
        return {"offer": state.offer[np.array(order)]}

    def seen_offer(
        self, content: list[Array], i: int, order: Sequence[int], xp: Any
    ) -> list[Array]:
        return [content[k] for k in order]

    # ---- words ------------------------------------------------------------------------------

    def rules_words(self) -> list[str]:
        n = self.players
        need = "all of you" if self.unanimous else f"more than half of you ({n // 2 + 1} of {n})"
        return [
            f"You can share {amount(self.goods, self.pool)}, in multiples of {self.step}. In each "
            "round one of you (in turns) proposes a share for everybody, and the others vote at "
            f"the same time; if {need} are for it, the proposer counted, that is the deal, and the "
            f"game is over. There are {self.rounds} rounds; after the last there is no deal, and "
            f"nobody gets any.{self.delay_words('round r', 'r - 1')}",
            *self.outside_words(),
        ]

    def answer_words(self, agent: int) -> str:
        how = f'"{self.equal_shares()}" proposes that (the shares must add up)'
        return f'{how}; then "accept" or "reject"'

    def offer_words(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        return ", ".join(f"{share} for {seen.who(j)}" for j, share in enumerate(content))

    def offer_means(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        return f"you get {amount(self.goods, [content[0]])}"

    def choice_words(self, seen: Observation, content: np.ndarray) -> str:
        return f"propose: {self.offer_words(seen, 0, np.roll(content, -seen.agent))}"

    def bounds_words(self, seen: Observation, content: np.ndarray) -> str:
        return f"shares are multiples of {self.step} that add up to {int(seen['pool'][0])}"

    # ---- reading answers --------------------------------------------------------------------

    def read_offer(self, seen: Observation, plain: str, quoted: str) -> np.ndarray:
        n, total = self.players, int(seen["pool"][0])
        found = numbers(plain, plural(self.goods[0], 2))
        who = r"(player_\d+|me|myself|you|everybody|everyone|each|all)"
        named: dict[int, int] = {}
        pairs = [
            (w, int(c)) for c, w in re.findall(rf"(\d+)(?: coins?)? (?:for|to) {who}\b", plain)
        ]
        if not pairs:
            pairs = [(w, int(c)) for w, c in re.findall(rf"\b{who}[ :=]+(?:gets? )?(\d+)\b", plain)]
        for word, count in pairs:
            if word in ("everybody", "everyone", "each", "all"):
                named |= dict.fromkeys(range(n), count)
                continue
            # The choices call the proposer "you".
            index = seen.agent
            if word.startswith("player_"):
                if word not in self.agents:
                    raise IllegalAction(f"{quoted}: there is no {word}")
                index = self.agents.index(word)
            if index in named:
                raise IllegalAction(f"{quoted} names two shares for {self.agents[index]}")
            named[index] = count
        if not pairs and len(found) == n:
            named = dict(enumerate(found))
        if not named:
            example = self.equal_shares()
            raise IllegalAction(f'{quoted}: name everybody\'s share, as in "{example}"')
        content = np.array([named.get(i, 0) for i in range(n)])
        if int(content.sum()) != total:
            raise IllegalAction(f"{quoted}: these shares add up to {content.sum()}, not to {total}")
        return content

    # ---- scripted players -------------------------------------------------------------------

    def appraise(
        self, seen: dict[str, Array], agent: int, offers: Array, own: bool
    ) -> tuple[Array, Array]:
        # Of the others, the one who gets least counts.
        rest = jnp.delete(offers, agent, axis=1, assume_unique_indices=True)
        return offers[:, agent], jnp.min(rest, axis=1)

    def fair_share(self, seen: dict[str, Array], agent: int) -> Array:
        return seen["pool"][0] // self.players // self.step * jnp.float32(self.step)

    def standing(self, seen: dict[str, Array], agent: int) -> Array:
        return jnp.roll(super().standing(seen, agent), agent, axis=1)
