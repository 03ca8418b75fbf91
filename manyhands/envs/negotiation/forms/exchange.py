"""Exchange: two players own goods that are worth different amounts to each, and trade bundles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array, IllegalAction
from manyhands.core.layout import Piece
from manyhands.envs.negotiation.forms.base import Bargain, Deal, Turn
from manyhands.envs.negotiation.state import TURNS, NegotiationState
from manyhands.envs.negotiation.words import Observation, amount, listed, quantities

# The exchanges that scripted players consider: so many units of one good for as many of another as
# are worth these shares of them on average.
UNITS = (1, 2, 3, 5, 8, 10, 15, 20, 25)
RATES = (0.85, 0.92, 1.0, 1.08, 1.18)
_ASKED_AS_GIVEN = re.compile(
    r"\byou(?:'ll| will| would| could| can| should)? (?:give|pay|offer|hand|send|trade)\b"
)


class Exchange(Bargain):
    """An offer is i16[2R], amounts of each good given and asked for. Offers are not enumerated:
    actions are put together from amounts."""

    how_to_offer = '"offer ... for ..."'
    composed = True
    accumulates = True
    shows_pool = False
    walking_away = "end the game, keeping what you own"
    drawn_offer = "gives "

    # ---- rules ------------------------------------------------------------------------------

    def fits(self, state: NegotiationState, i: int, xp: Any) -> Array:
        return xp.ones((1, *state.time.shape), bool)

    def covers(self, state: NegotiationState, i: int, xp: Any) -> Array:
        return xp.all(state.offer[len(self.goods) :] <= state.holdings[i], axis=0)

    def amounts(self, state: NegotiationState, i: int, xp: Any) -> list[Array]:
        """What one owns can be given, what the other can own, as far as one knows, asked for."""
        axes = state.time.ndim
        high = expand(self.holdings[1 - i, :, 1], axes)
        could = state.holdings[1 - i] if self.public else high + state.start[i] - state.holdings[i]
        turns = state.phase[None] == TURNS
        masks = []
        for bound in (state.holdings[i], could):
            for good, most in enumerate(self.most):
                units = xp.arange(most + 1).reshape(-1, *[1] * axes)
                masks.append((units == 0) | (turns & (units <= bound[good][None])))
        return masks

    def settle(self, state: NegotiationState, turn: Turn) -> Turn:
        r = len(self.goods)
        to_second = jnp.where(turn.by == 1, 1, -1) * (turn.agreed[:r] - turn.agreed[r:])
        change = jnp.where(turn.dealt[None, None], jnp.stack([-to_second, to_second]), 0)
        worth = jnp.sum(change * state.values.astype(jnp.int32), axis=1)
        return turn._replace(holdings=turn.holdings + change, gain=worth)

    def frontier(
        self, before: NegotiationState, after: NegotiationState, made: Array
    ) -> tuple[Array, Array]:
        # At best everything goes to the player who values it more.
        a, b = before.values.astype(jnp.int32)
        gains = jnp.maximum(b - a, 0) * before.start[0] + jnp.maximum(a - b, 0) * before.start[1]
        return jnp.sum(gains, axis=0).astype(jnp.float32), ~self.can_swap(after)

    def can_swap(self, state: NegotiationState) -> Array:
        """bool[]: whether exchanging whole units of one good for another one (or giving some away)
        would help one player and harm none."""
        values, own = state.values.astype(jnp.int32), state.holdings.astype(jnp.int32)
        useless = (values == 0) & (values[::-1] > 0) & (own > 0)
        # Player 0 gives `units` of one good and gets from `least` to `most` of another one:
        # [good, other, units, ...].
        units = jnp.arange(1, int(self.most.max()) + 1).reshape(1, 1, -1, *[1] * state.time.ndim)
        give = values[:, :, None, None] * units[None]  # what they are worth to each
        back = values[:, None, :, None]
        least = -(-give[0] // jnp.maximum(back[0], 1))
        least = jnp.maximum(jnp.where(back[0] == 0, 1 << 20, least), 1)
        most = jnp.where(back[1] == 0, 1 << 20, give[1] // jnp.maximum(back[1], 1))
        most = jnp.minimum(most, own[1][None, :, None])
        # Somebody must be better off: with `most`, this one; with `least`, the other.
        better = (back[0] * most > give[0]) | (give[1] > back[1] * least)
        swaps = (units <= own[0][:, None, None]) & (least <= most) & better
        return jnp.any(useless, axis=(0, 1)) | jnp.any(swaps, axis=(0, 1, 2))

    def best_joint(self, state: NegotiationState) -> Deal:
        """All goods go to the player who values them more; what both value alike stays."""
        values, start = np.asarray(state.values, int), np.asarray(state.start, int)
        first = np.where(values[0] > values[1], start.sum(0), 0)
        first = np.where(values[0] == values[1], start[0], first)
        held = np.stack([first, start.sum(0) - first])
        gains = ((held - start) * values).sum(1)
        return Deal(tuple(gains.tolist()), self.named(list(held)))

    # ---- observations -----------------------------------------------------------------------

    @property
    def most_owned(self) -> int:
        return int(self.most.max())

    @property
    def most_offered(self) -> int:
        return self.most_owned

    @property
    def offer_names(self) -> list[str]:
        return [f"{side} {good}" for side in ("give", "ask") for good in self.goods]

    def own_pieces(self, players: Sequence[str]) -> list[Piece]:
        most = self.most_owned * int(self.values[..., 1].max()) * len(self.goods)
        return [Piece("own_gain", low=-most, high=most)]

    def observe_own(
        self, state: NegotiationState, i: int, order: Sequence[int], xp: Any
    ) -> dict[str, Array]:
        change = (state.holdings[i] - state.start[i]).astype(np.int32)
        return {"own_gain": xp.sum(change * state.values[i], axis=0)[None]}

    # ---- words ------------------------------------------------------------------------------

    def rules_words(self) -> list[str]:
        lows, highs = self.values[..., 0].min(0), self.values[..., 1].max(0)
        spans = [
            f"{g} {a}" if a == b else f"{g} {a} to {b}"
            for g, a, b in zip(self.goods, lows, highs, strict=True)
        ]
        sees = "both of you see" if self.public else "only its owner sees"
        return [
            f"Each of you owns some {listed(self.goods)}; what somebody owns, {sees}. You offer "
            "some of your goods for some of the other's; who accepts makes the exchange, if both "
            "own what they are to give, and the game goes on. What a unit is worth to you, only "
            f"you know; to the other it is worth something else ({', '.join(spans)}, for either "
            "of you). Your gain is by how much the worth of all that you own grows.",
        ]

    def answer_words(self, agent: int) -> str:
        give, ask = (self.goods * 2)[:2]
        how = f'"offer 3 {give} for 2 {ask}", several goods on a side with "and"'
        return f'{how}; "accept", "reject"'

    def offer_words(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        r = len(self.goods)
        return f"{amount(self.goods, content[:r])} for {amount(self.goods, content[r:])}"

    def offer_means(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        r = len(self.goods)
        get, give = content[:r], content[r:]
        if maker == 0:
            get, give = give, get
        change = seen.worth(get) - seen.worth(give)
        given, got = amount(self.goods, give), amount(self.goods, get)
        return f"you give {given}, get {got} and gain {change}"

    def choice_words(self, seen: Observation, content: np.ndarray) -> str:
        return f"offer {self.offer_words(seen, 0, content)}, or other amounts"

    def example(self, seen: Observation) -> np.ndarray:
        """i[2R], a small offer that the player can make: one unit for one of another good."""
        count = len(self.goods)
        give, get = np.zeros(count, int), np.zeros(count, int)
        owned = np.flatnonzero(seen["own_holdings"])
        if len(owned):
            give[owned[0]] = 1
        wanted = [k for k in range(count) if not give[k]] or [0]
        get[wanted[0]] = not len(owned) or count > 1
        return np.concatenate([give, get])

    def own_words(self, seen: Observation) -> list[str]:
        return [f"Your gain so far: {seen['own_gain'][0]}."]

    def bounds_words(self, seen: Observation, content: np.ndarray) -> str:
        return "nothing for nothing is no offer"

    def why_not_accept(self, seen: Observation) -> str:
        asked = amount(self.goods, seen["offer"][len(self.goods) :])
        return f"the offer asks for {asked}, more than you own"

    def ending(self, seen: Observation) -> str:
        deals = int(seen["deals"][0])
        return f"It is over, {deals} exchange{'' if deals == 1 else 's'} made"

    # ---- reading answers --------------------------------------------------------------------

    def read_offer(self, seen: Observation, plain: str, quoted: str) -> np.ndarray:
        plain = re.sub(r",? or other amounts$", "", plain)
        if _ASKED_AS_GIVEN.search(plain):
            example = f'"offer 3 {self.goods[0]} for 2 {self.goods[-1]}"'
            raise IllegalAction(f"{quoted}: name what you give and what you ask for, as {example}")
        plain = re.sub(r"\b(?:in exchange for|in return for|against|->|=>|→|⇒)", " for ", plain)
        plain = plain.replace("->", " for ").replace("→", " for ")
        asks = r"(?:ask(?: for)?|want|get|receive|request|buy|need)"
        reverse = re.match(rf"(?:i )?{asks}\b(.*?)(?:\bfor\b(.*))?$", plain)
        if reverse and not re.search(rf"\b(?:give|offer)\b.*\b{asks}\b", plain):
            get, give = reverse[1], reverse[2] or ""
            given = re.search(r"\b(?:i )?(?:give|offer)(?: you)?\b(.*)", get)
            if given and not give:
                get, give = get[: given.start()], given[1]
        else:
            head, found, get = plain.partition(" for ")
            if not found:
                split = re.search(rf"\b(?:and |to |then |i )*{asks}\b", plain)
                if split:
                    head, get = plain[: split.start()], plain[split.end() :]
            give = head
            if not found and not get and not re.search(r"\b(?:give|offer|trade|propose)", plain):
                raise IllegalAction(f"{quoted} names no move")
        give = re.sub(
            r"\b(?:i|offer|trade|give|propose|swap|exchange|sell|you|my|to|with)\b", " ", give
        )
        get = re.sub(r"\b(?:i|you|your|from|to|want|get|of|me)\b", " ", get)
        if " for " in get or " for " in give:
            raise IllegalAction(f"{quoted} names more than one exchange")
        sides = [
            quantities(" ".join(words.split()), self.goods, None, quoted)
            if words.strip(" ,.;")
            else np.zeros(len(self.goods), int)
            for words in (give, get)
        ]
        return np.concatenate(sides)

    # ---- scripted players -------------------------------------------------------------------

    def usual(self) -> np.ndarray:
        """f[R], the average worth of each good, over both players' ranges."""
        return self.values.mean(axis=(0, 2))

    def appraise(
        self, seen: dict[str, Array], agent: int, offers: Array, own: bool
    ) -> tuple[Array, Array]:
        r = len(self.goods)
        values = seen["own_values"].astype(jnp.float32)
        give, get = offers[:, :r], offers[:, r:]
        if not own:
            give, get = get, give
        usual = jnp.asarray(self.usual(), jnp.float32)
        return (get - give) @ values, (give - get) @ usual

    def fair_share(self, seen: dict[str, Array], agent: int) -> Array:
        return jnp.float32(0)

    def considered(self) -> np.ndarray:
        """Exchanges of one good for another, near their average worth."""
        usual, most, goods = self.usual(), self.most, len(self.goods)
        found = {(0,) * (2 * goods)}
        for give in range(goods):
            for get in range(goods):
                for units in UNITS:
                    for rate in RATES:
                        back = round(units * rate * usual[give] / max(usual[get], 1e-6))
                        if give != get and units <= most[give] and 1 <= back <= most[get]:
                            row = [0] * (2 * goods)
                            row[give], row[goods + get] = units, back
                            found.add(tuple(row))
        return np.array(sorted(found))
