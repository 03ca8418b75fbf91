"""Shares: one player proposes how to split a sum among all, and the others vote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.choices import Form
from manyhands.core.env import Array, IllegalAction
from manyhands.core.reading.grammar import Reading
from manyhands.envs.negotiation.forms.base import Bargain, Deal, Turn
from manyhands.envs.negotiation.state import NegotiationState
from manyhands.envs.negotiation.words import EVENLY, Observation, amount, digits

_N = (
    r"(?P<n{0}>[0-9]+|the rest|the remaining|what is left|everything else|nothing|everything"
    r"|all the coins|all of it|all(?= for)|half|the other half)(?: coins?)?"
)
_WORDS = {
    "all": "all",
    "nothing": "0",
    "everything": "all",
    "all the coins": "all",
    "all of it": "all",
    "the other half": "half",
}
_WHO = (
    r"(?P<who{0}>player [0-9]+|me|myself|i|you|yourself|everybody|everyone|each player|each of us"
    r"|(?:the |both |each )?(?:two |2 )?of (?:them|you)|each of (?:the )?others|each of you"
    r"|(?:the )?other (?:two|2)|both (?:of the )?others"
    r"|(?:the )?others|you (?:two|2)|each"
    r"|all of us|all|both of us|both)"
)
_GETS = (
    r"(?:gets?|takes?|keeps?|receives?|have|has|wants?|(?:go|goes|walk|walks|leave|leaves|end"
    r"|ends|is left|am left)"
    r"(?: home| away| off| up| out)? with)"
)
# "40 for me", "player_1 gets 30", "give player_1 30", "keep 40", of words with single spaces.
_SHARE = re.compile(
    rf"(?:(?:i )?(?:give |offer )?(?:{_N.format(1)} (?:(?:for|to|going to|goes to) "
    rf"|(?=(?:me|player)\b))"
    rf"{_WHO.format(1)})"
    rf"|(?:{_WHO.format(2)}(?: will| would| should| shall| can)?(?: (?:{_GETS}|=))? {_N.format(2)})"
    rf"|(?:(?:i |i'll |i will )?(?:give|offer) {_WHO.format(3)} {_N.format(3)})"
    rf"|(?:(?:i |i'll |i will )?(?:keep|take|get) (?:all )?{_N.format(4)}(?: for (?:myself|me))?)"
    rf"|the (?:other|remaining|last) (?P<n12>[0-9]+)(?: coins?)? (?:for|to|go to"
    rf"|goes to) {_WHO.format(12)}"
    rf"|{_WHO.format(13)} and {_WHO.format(14)} (?:go|goes|do)? ?(?P<half>halves|(?:split"
    rf"|share) (?:it|them|everything"
    r"|all(?: of it)?|the (?:coins|pot|sum|money|lot))"
    r" (?:evenly|equally|fifty fifty|50 / 50|50 - 50|50 50|in half|down the middle))"
    r"|(?:the (?:other |remaining )?)?(?P<n9>[0-9]+)(?: coins?)? (?:are|is) mine"
    rf"|{_WHO.format(10)} (?:leaves?|goes|walks away|is left|stays|ends up|comes away)(?: home)? "
    r"(?P<none>empty(?: ?- ?| )handed)"
    r"|(?P<n6>[0-9]+)(?: coins?)? each (?:for|to) (?P<who6>(?:the )?others|you (?:two|2))"
    rf"|(?:{_WHO.format(7)} and {_WHO.format(8)} (?:will |would |should |both )?(?:{_GETS}) "
    rf"{_N.format(7)} (?:each|apiece))"
    r"|(?P<n5>[0-9]+)(?: coins?)? (?P<who5>each))(?: each)?(?= |$)"
)
_LINK = re.compile(r" (?:\. )?(?:(?:and|while|with|so) )?(?:(?:which |that )?(?:leaves|leaving) )?")


class Shares(Bargain):
    """An offer is i16[N], what each player gets, in seat order; players see them from their own
    place on."""

    can_walk = False
    how_to_offer = "propose shares"
    drawn_offer = "proposes "
    spares = True
    terms_named = ("[(your|the|this|that) (offer|proposal|split) of] {amount} [for me]",)

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

    def choice_parts(self, seen: Observation, content: np.ndarray) -> tuple[str, str]:
        return self.choice_words(seen, content), ""

    def choice_forms(self, seen: Observation, contents: np.ndarray) -> Sequence[Form | None]:
        total = int(seen["pool"][0])
        effect = f"any shares in multiples of {self.step} that add up to {total}"
        ranges = {seen.who(j): (0, total) for j in range(self.players)}
        return [Form("propose: {shares}", effect, ranges)] * len(contents)

    def offer_gain(self, seen: Observation, maker: int, content: np.ndarray) -> int:
        return int(content[0]) * int(seen["own_values"][0])

    def offer_data(self, content: Sequence[int]) -> dict[str, Any]:
        return {"shares": dict(zip(self.agents, map(int, content), strict=True))}

    def full_words(self, seen: Observation) -> list[str]:
        n, total = self.players, int(seen["pool"][0])
        needed = n if self.unanimous else n // 2 + 1
        return [f"An equal share is {total / n:.3g}; {needed} of {n} votes make a deal."]

    def bounds_words(self, seen: Observation, content: np.ndarray) -> str:
        return f"shares are multiples of {self.step} that add up to {int(seen['pool'][0])}"

    # ---- reading answers --------------------------------------------------------------------

    def offer_phrases(self, agent: int) -> Mapping[str, Sequence[str]]:
        start = (
            "[i] [shares|(offer|propose|suggest) [that|to]|[my|this is my|here is my] "
            "(offer|proposal|counteroffer|suggestion|split) [is] [that|to]|split [it]"
            "|(let's|let us|i|i'll|i will) (do|say|try|go with|go for|make it)"
            "|[i] [offer|propose|suggest|want] [a|the|this] [fair|greedy|new] "
            "(split|division|proposal|sharing) of"
            "|(my|this) [new] (offer|proposal|plan|split|division) (give|grant|allot|assign)] "
            "[this|the following] [split|division|proposal] [.]"
        )
        ends = (
            "[[.] (is|are|that's|that is|this is) (my [fair|greedy|final|last|new] "
            "(split|proposal|offer|plan|division|suggestion)"
            "|[(a|the) [fair|greedy|final|new|safe] (split|proposal|offer|plan|division)] "
            "[what|that] "
            "(i|i'm) (propose|suggest|offer))]"
        )
        row = " [/|-|and] ".join(f"{{{i}:amount}}" for i in range(self.players))
        return {
            "shares": [f"{start} {{shares}} {ends}"],
            "equal": EVENLY if self.players == 2 else EVENLY[::2],
            "row": [f"{start} {row}"],
        }

    def slots(self, agent: int) -> dict[str, Any]:
        return super().slots(agent) | {"shares": self._shares}

    def offered(self, seen: Observation, reading: Reading) -> np.ndarray:
        n, total = self.players, int(seen["pool"][0])
        if reading.meaning == "equal":
            if total % n:
                raise IllegalAction(f"{total} cannot be split evenly")
            return np.full(n, total // n)
        if reading.meaning == "row":
            content = np.array([reading.values[str(i)] for i in range(n)])
            if seen.agent and (content != np.roll(content, seen.agent)).any():
                raise IllegalAction(f'say whose each share is: "{self.equal_shares()}"')
        else:
            content = self._named(seen.agent, reading.values["shares"], total)
        if int(content.sum()) != total:
            raise IllegalAction(f"these shares add up to {content.sum()}, not to {total}")
        return content

    def _named(self, agent: int, pairs: tuple[tuple[str, str], ...], total: int) -> np.ndarray:
        """i[N], the shares of (player, share) pairs."""
        content, n = np.full(self.players, -1), self.players
        rest, halves = None, []
        for who, share in pairs:
            if "other" in who or who in ("you two", "you 2") or who.endswith(("of you", "of them")):
                others = np.arange(n) != agent
                if (content[others] >= 0).any() or rest is not None or not share.isdigit():
                    raise IllegalAction("say what each of the others gets")
                two = who.endswith(("two", "2")) or {"two", "2", "both"} & set(who.split())
                if two and n != 3:
                    raise IllegalAction(f"there are {n - 1} others: name all by number")
                content[others] = int(share)
                continue
            if who.startswith(("every", "each", "all", "both")):
                if len(pairs) > 1 or (who.startswith("both") and n > 2):
                    raise IllegalAction("it names two shares for somebody")
                return np.full(n, int(share) if share.isdigit() else -1)
            index = agent
            if who.startswith("player"):
                index = int(who.split()[1])
            elif who == "you" or who == "yourself":
                index = 1 - agent
            if index >= n or (who.startswith("you") and n > 2):
                raise IllegalAction(f"there is no {who.replace(' ', '_')} here: name all by number")
            if content[index] >= 0 or rest == index or index in halves:
                raise IllegalAction(f"it names two shares for {self.agents[index]}")
            if share == "half":
                halves.append(index)
            elif share == "rest":
                if rest is not None:
                    raise IllegalAction("only one can get the rest")
                rest = index
            else:
                content[index] = total if share == "all" else int(share)
        given, content = content, np.maximum(content, 0)
        if halves:
            left = total - int(content.sum())
            mine = agent in halves or given[agent] >= 0
            if len(set(halves)) < 2 or rest is not None or left < 0 or left % 2 or not mine:
                raise IllegalAction(f"{left} cannot be split so: name all shares")
            content[halves] = left // 2
        if rest is not None:
            content[rest] = max(total - int(content.sum()), 0)
        return content

    @staticmethod
    def _shares(words: list[str], i: int) -> Iterator[tuple[tuple[tuple[str, str], ...], int]]:
        """A slot for "40 for me, 30 for player_1 and player_2 gets the rest"."""
        text, at = digits(words[i:]), 0
        found: tuple[tuple[str, str], ...] = ()
        while share := _SHARE.match(text, at):
            said = {name: words for name, words in share.groupdict().items() if words}
            who = next((words for name, words in said.items() if name.startswith("who")), "me")
            counts = (words for name, words in said.items() if name.startswith("n"))
            count = "half" if "half" in said else next(counts)
            count = "0" if "none" in said else count
            if not count[0].isdigit() and count != "half":
                count = _WORDS.get(count, "rest")
            elif len(count) > 4:
                return
            both = [said[name] for name in ("who7", "who8", "who13", "who14") if name in said]
            found = (*found, *((one, count) for one in both or [who]))
            yield found, len(text[: share.end()].split())
            link = _LINK.match(text, share.end())
            if link is None:
                return
            at = link.end()

    def accepts(self, seen: Observation, values: Mapping[str, Any]) -> bool:
        return bool(values["amount"] == seen["offer"][0])

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
