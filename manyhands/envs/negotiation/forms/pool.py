"""Pool: two players divide what lies on the table. The one who offers names what it takes, and the
other gets the rest. With several goods (Deal or No Deal) or with one (the ultimatum game)."""

from __future__ import annotations

import re
from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array, IllegalAction
from manyhands.envs.negotiation.forms.base import Bargain, Deal, Turn
from manyhands.envs.negotiation.state import CHAT, PICK, ROUNDS, NegotiationState
from manyhands.envs.negotiation.words import Observation, amount, numbers, plural, quantities


class Pool(Bargain):
    """An offer is i16[R], what the one who makes it takes. With `CHAT` both state in private, at
    the same time, what they take."""

    chooses = "all"
    how_to_offer = '"take ..." or "give ..."'
    takes_nothing = True
    spares = True

    # ---- rules ------------------------------------------------------------------------------

    def fits(self, state: NegotiationState, i: int, xp: Any) -> Array:
        return xp.all(self.enumerated(state) <= state.pool[None], axis=1)

    def settle(self, state: NegotiationState, turn: Turn) -> Turn:
        rest = state.pool - turn.agreed
        first = turn.by == 1
        parts = [jnp.where(first, turn.agreed, rest), jnp.where(first, rest, turn.agreed)]
        return self.split_pool(state, turn, jnp.stack(parts))

    def frontier(
        self, before: NegotiationState, after: NegotiationState, made: Array
    ) -> tuple[Array, Array]:
        offers, values = self.enumerated(before), before.values.astype(jnp.int32)
        mine = jnp.sum(offers * values[0][None], axis=1)
        rest = jnp.sum((before.pool[None] - offers) * values[1][None], axis=1)
        gains = jnp.stack([mine, rest], axis=1)
        outside = before.outside.astype(jnp.int32)
        gains = jnp.where(self.fits(before, 0, jnp)[:, None], gains, outside[None])
        split = jnp.sum(after.holdings.astype(jnp.int32) * before.values, axis=1)
        return self.among(before, gains, split, made)

    def outcomes(self, state: NegotiationState) -> list[Deal]:
        values = np.asarray(state.values, int)
        # A deal may have been made already.
        pool = np.asarray(state.pool, int) + np.asarray(state.holdings, int).sum(0)
        found = []
        for offer in self.offers.astype(int):
            if (offer <= pool).all():
                parts = [offer, pool - offer]
                gains = tuple(int(part @ own) for part, own in zip(parts, values, strict=True))
                found.append(Deal(gains, self.named(parts)))
        return [*found, self.no_deal(state)]

    # ---- words ------------------------------------------------------------------------------

    def rules_words(self) -> list[str]:
        if self.flow == ROUNDS:
            again, after = "", ""
            if self.rounds > 1:
                again = "the other one proposes, "
                after = f"for {self.rounds} rounds in all; after the last "
            return [
                f"The two of you can share {amount(self.goods, self.pool)}. One proposes, the "
                f"other accepts or not; after a refusal {again}{after}there is no deal, and "
                f"nobody gets any of it.{self.delay_words('round r', 'r - 1')}",
                *self.outside_words(),
            ]
        private = (
            "Books, hats and balls lie on the table, for the two of you to divide. What each is "
            "worth to you, only you know; the other has other values. All together are worth "
            "10 to each of you; each kind is worth something to at least one of you, and at least "
            "one kind to both."
        )
        if self.flow == CHAT:
            return [
                private,
                "You talk and propose in turns; proposals bind nobody. When one of you ends the "
                "talk (ready), both state in private what they take. If the two parts together are "
                "exactly what lies on the table, each scores the worth of its part. Otherwise, or "
                "if the turns run out before, both score 0.",
            ]
        return [
            private,
            "You make offers in turns. Who accepts the standing offer makes it the deal, and each "
            "scores the worth of its part. Without a deal both score 0."
            + self.delay_words("turn t", "t - 2"),
        ]

    def answer_words(self, agent: int) -> str:
        if self.flow == ROUNDS:
            return '"keep 6" or "give 4" proposes that; then "accept" or "reject"'
        how = (
            '"take 1 hat and 2 balls" names what you would take, "give 2 books" (or "offer 2 '
            f'books") what {self.agents[1 - agent]} would get; the rest goes to the one of you who '
            "is not named"
        )
        then = '"ready", and "take ..."' if self.flow == CHAT else '"accept" or "reject"'
        return f"{how}; then {then}"

    def offer_words(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        return f"{seen.who(maker)} {seen.verb(maker, 'take')} {amount(self.goods, content)}"

    def offer_means(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        mine = content if maker == 0 else seen["pool"] - content
        worth = f", worth {seen.worth(mine)} to you" if len(self.goods) > 1 else ""
        return f"you get {amount(self.goods, mine)}{worth}"

    def choice_words(self, seen: Observation, content: np.ndarray) -> str:
        verb = "propose to take" if self.flow == CHAT else "offer to take"
        verb = "take" if seen.phase == PICK else verb
        rest = amount(self.goods, seen["pool"] - content)
        worth = f"worth {seen.worth(content)} to you, " if len(self.goods) > 1 else ""
        return f"{verb} {amount(self.goods, content)}: {worth}{seen.names[1]} gets {rest}"

    def bounds_words(self, seen: Observation, content: np.ndarray) -> str:
        return f"on the table are only {amount(self.goods, seen['pool'])}"

    # ---- reading answers --------------------------------------------------------------------

    def read_offer(self, seen: Observation, plain: str, quoted: str) -> np.ndarray:
        if len(self.goods) > 1:
            return self._part(seen, plain, quoted)
        found = numbers(plain, plural(self.goods[0], 2))
        if not found:
            raise IllegalAction(f"{quoted} names no move")
        return np.array([_kept(plain, found, int(seen["pool"][0]), quoted)])

    def _part(self, seen: Observation, plain: str, quoted: str) -> np.ndarray:
        """What the speaker takes."""
        pool = seen["pool"]
        plain = plain.partition(": worth")[0]
        plain = re.sub(r"\b(?:the rest|the others?|what is left|whatever is left)\b", " ", plain)
        other = seen.names[1]
        mine = r"(?:i (?:take|keep|get|want|have|need)|me|take|keep|want|taking|keeping|get)"
        theirs = (
            r"(?:you (?:can |may |could )?(?:take|keep|get|have|receive)"
            rf"|(?:{other}|he|she|they) (?:can )?(?:takes?|keeps?|gets?|has|have|receives?)"
            r"|giv(?:e|ing)(?: you)?|offer(?:ing)?(?: you)?|leav(?:e|ing) you|hand over)"
        )
        trailing = r"(?:for (?:me|you|myself)|to (?:me|you))"
        sides: dict[bool, list[str]] = {True: [], False: []}
        side: bool | None = None
        start = 0
        for found in re.finditer(rf"\b(?:({trailing})|({theirs})|({mine}))\b", plain):
            words = plain[start : found.start()]
            after, their, my = found.groups()
            if after and self._counts(words):
                sides[after.endswith(("me", "myself"))].append(words)
            elif side is not None and self._counts(words):
                sides[side].append(words)
            if not after:
                side = bool(my) and not their
            start = found.end()
        tail = plain[start:]
        if side is not None and self._counts(tail):
            sides[side].append(tail)
        if side is None and not sides[True] and not sides[False]:
            counts = quantities(plain, self.goods, pool, quoted)
            if seen.phase != PICK:
                words = amount(self.goods, counts)
                raise IllegalAction(f'{quoted}: say whether you would "take" or "give" {words}')
            return self._within(seen, counts, quoted)
        none = np.zeros(len(pool), int)
        parts = {
            key: self._within(
                seen, sum((quantities(w, self.goods, pool, quoted) for w in words), none), quoted
            )
            for key, words in sides.items()
            if words
        }
        if not parts:
            raise IllegalAction(f"{quoted} names no move")
        if len(parts) == 2 and (parts[True] + parts[False] != pool).any():
            raise IllegalAction(
                f"{quoted}: the two parts do not add up to what is on the table, "
                f"{amount(self.goods, pool)}"
            )
        return parts[True] if True in parts else pool - parts[False]

    def _counts(self, words: str) -> bool:
        """Whether words name goods or an amount."""
        names = "|".join(self.goods)
        return bool(re.search(rf"\d|\b(?:(?:{names})s?|everything|nothing|all of)\b", words))

    def _within(self, seen: Observation, counts: np.ndarray, quoted: str) -> np.ndarray:
        if (counts > seen["pool"]).any():
            raise IllegalAction(f"{quoted}: {self.bounds_words(seen, counts)}")
        return counts

    # ---- scripted players -------------------------------------------------------------------

    def appraise(
        self, seen: dict[str, Array], agent: int, offers: Array, own: bool
    ) -> tuple[Array, Array]:
        values = seen["own_values"].astype(jnp.float32)
        pool = seen["pool"].astype(jnp.float32)
        mine, rest = (offers, pool - offers) if own else (pool - offers, offers)
        # The other is guessed to value all goods alike.
        each = jnp.sum(values * pool) / jnp.maximum(jnp.sum(pool), 1)
        return mine @ values, jnp.sum(rest, axis=1) * each

    def fair_share(self, seen: dict[str, Array], agent: int) -> Array:
        return jnp.sum(seen["own_values"].astype(jnp.float32) * seen["pool"]) / 2


def _kept(plain: str, found: list[int], total: int, quoted: str) -> int:
    """How many coins the proposer keeps."""
    if len(found) == 2:
        if sum(found) != total:
            raise IllegalAction(f"{quoted}: the two shares do not add up to {total}")
        mine, theirs = found
        first = re.search(r"\b(?:give|offer|for you|to you|you get|you take|you keep)\b", plain)
        second = re.search(r"\b(?:keep|for me|i get|i take|to me|leaving me)\b", plain)
        if first and (second is None or first.start() < second.start()):
            mine, theirs = theirs, mine
        return mine
    if len(found) != 1:
        raise IllegalAction(f"{quoted} names more than one amount")
    if re.search(r"\b(?:keep|take|i get|for me|i want|i have|to take|to keep)\b", plain):
        if not re.search(r"\byou (?:keep|take|get|have|can)", plain):
            return found[0]
    elif not re.search(r"\b(?:give|offer|for you|to you|propose|you get|you)\b", plain):
        raise IllegalAction(f'{quoted}: say "keep {found[0]}" or "give {found[0]}"')
    return total - found[0]
