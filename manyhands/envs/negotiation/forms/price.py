"""Price: an item changes hands for a price, from the seller (player 0) to the buyer (player 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.choices import Form
from manyhands.core.env import Array, IllegalAction
from manyhands.core.reading.grammar import Reading
from manyhands.envs.negotiation.forms.base import Bargain, Deal, Turn
from manyhands.envs.negotiation.state import NegotiationState
from manyhands.envs.negotiation.words import Observation

_STANDING = 'that is the standing offer: write "accept", or offer a price'
_HEDGED = re.compile(r"\b(?:would|could|can|might|only|\w+'d)\b", re.I)
_AGREES = re.compile(
    r"^\W*(?:ok|okay|fine|all ?right|yes|yeah|sure|deal|agreed|good|great)\b|\bit is\W*$", re.I
)


class Price(Bargain):
    """An offer is i16[1], a price. The item's worth to the seller is its cost."""

    how_to_offer = '"offer <price>"'
    shows_pool = False
    shows_holdings = False
    drawn_offer = "offers "
    terms_named = (
        "[(your|the|this|that) (offer|price|bid|proposal) of] [(a|the|your) price of] {amount}",
        "[at|for|to|to pay] {amount}",
    )

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

    # ---- what is hidden ---------------------------------------------------------------------

    def value_spans(self, i: int) -> np.ndarray:
        if self.limits_told:
            return super().value_spans(i)
        # Nobody is told where it may be.
        numbers = [*self.offers[:, 0].tolist(), *self.values.ravel().tolist()]
        return np.array([[min(numbers), max(numbers)]])

    def worth_question(self, i: int, good: int) -> str:
        return f"What is the {_limit(i)} of {self.agents[i]}?"

    def worth_words(self, i: int, good: int, number: int) -> str:
        about = "about " * (self.slack > 0)
        return f"the {_limit(i)} of {self.agents[i]} is {about}{number}"

    # ---- words ------------------------------------------------------------------------------

    def rules_words(self) -> list[str]:
        drawn = ""
        if self.limits_told:
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
        gain = self.offer_gain(seen, maker, content)
        return f"you gain {gain}" if gain >= 0 else f"you lose {-gain}"

    def offer_gain(self, seen: Observation, maker: int, content: np.ndarray) -> int:
        gain = int(content[0]) - int(seen["own_values"][0])
        return gain if seen.agent == 0 else -gain

    def choice_words(self, seen: Observation, content: np.ndarray) -> str:
        words, means = self.offer_words(seen, 0, content), self.offer_means(seen, 0, content)
        return f"offer {words}: {means} if accepted"

    def choice_forms(self, seen: Observation, contents: np.ndarray) -> Sequence[Form | None]:
        low, high, own = int(contents.min()), int(contents.max()), seen["own_values"][0]
        gain = f"the price less {own}" if seen.agent == 0 else f"{own} less the price"
        effect = f"any whole price from {low} to {high}; if accepted, you gain {gain}"
        return [Form("offer a price of {price}", effect, {"price": (low, high)})] * len(contents)

    @property
    def offer_names(self) -> list[str]:
        return ["price"]

    def full_words(self, seen: Observation) -> list[str]:
        own = int(seen["own_values"][0])
        side = "above" if seen.agent == 0 else "below"
        lines = [f"You gain at prices {side} {own}."]
        if self.limits_told:
            low, high = self.values[1 - seen.agent, 0].tolist()
            lines.append(f"The other's {_limit(1 - seen.agent)} is from {low} to {high}.")
        return lines

    @property
    def limits_told(self) -> bool:
        """Whether the rules tell from where to where cost and value are drawn."""
        return bool((self.values[..., 0] < self.values[..., 1]).any())

    def value_words(self, seen: Observation) -> str:
        return f"Your {_limit(seen.agent)}: {seen['own_values'][0]}."

    def claim_words(self, seen: Observation, number: int, mine: bool) -> str:
        maker = seen.agent if mine else 1 - seen.agent
        return f"my {_limit(maker)} is about {int(self.claims[number, 1])}"

    def claim_limits(self, agent: int) -> str:
        low, high = self.values[agent, 0].tolist()
        inside = low <= self.claims[:, 1].min() and self.claims[:, 1].max() <= high
        if inside or not self.limits_told:
            return ""
        return f"a {_limit(agent)} is {low if low == high else f'from {low} to {high}'}"

    def claim_rule(self, agent: int) -> str:
        return f"A claim states about what your {_limit(agent)} is."

    @property
    def claim_example(self) -> str:
        return f"claim {self.claimed_near(int(self.claims[:, 1].mean()))}"

    def bounds_words(self, seen: Observation, content: np.ndarray) -> str:
        return f"prices are from {self.offers.min()} to {self.offers.max()}"

    def offer_phrases(self, agent: int) -> Mapping[str, Sequence[str]]:
        will = (
            "[i|i'd|i'll|i'm|i am] [can|would|[be] (willing|ready|prepared|happy|glad) to|offer to"
            "|propose to]"
        )
        end = "(low|lowest|least)" if agent == 0 else "(high|highest|most)"
        it = "[it|this|the item|your item|my item|the thing|your thing|that|the object]"
        offers = [
            "[offer|propose|suggest|bid] [(you|to you|to {other})] [(a|the) price of] {amount}",
            "[offer|propose|suggest|bid|ask [for]] {n:count} [coin] "
            "{more:more} [than] (your|his|her|their|the|{other} s|buyer s|seller s"
            "|the buyer's|the seller's|buyer's|seller's) [last|current|standing] "
            "(offer|bid|price|ask|proposal)",
            "(offer|propose|suggest|bid|counter|counteroffer) [you|with|at] [a price of] {amount} "
            "[coin] [for (it|the item)]",
            "[make|propose|here is|here's|open with|start with|begin with] [a|an|my] "
            "[new|first|last|final|next|opening|starting] "
            "(offer|bid|price|proposal|counteroffer|counter offer|counter) "
            "[is|of|at|will be] {amount}",
            "(how|what) about [a price of] {amount} [?]",
            "how does [a price of] {amount} sound [to you] [?]",
            "(say|settle on|settle at|meet at|meet you at|go with|start at|begin at|open at"
            "|[(i'd|i'll|i would|i will)] settle for) {amount}",
            "(make|call) it {amount} [and (we have|we've got|it's|you have|you've got) a deal]",
            "{amount} [coin] for (it|the item|this|that)",
            "(let's|let us|[i] (propose|suggest|offer) [that] we) (settle on|settle at|agree on|do"
            "|meet at|trade (at|for)|deal at|close at|shake on|go (for|with)) {amount}",
            f"{will} go (for|with|to|as (high|low) as) {{amount}}",
            "[i] (place|put in|submit|lodge|bid) [a|my] (bid|offer) of {amount}",
            "make_offer [price|amount] {amount}",
            "{amount} (is|would be|seems|sounds|looks) [a] (fair|good|reasonable|decent) [price] "
            "[.] [and|so] (that's|that is) [my|what i] (offer|bid|price)",
            "[i] can (do|offer) [you] {amount} [for it]",
            "[i] [can|could|will|would|i'll|i'd] stretch (to|as far as) {amount}",
            "(my|the) (bid|offer|price|ask|counter) = {amount}",
            "(meet me|meet|let's meet|let us meet) (in the middle|halfway) between {low:n} and "
            "{high:n} "
            "[.] [(at|with|so|that is|that's)] {amount}",
            "{amount} [.] [and] ((that's|that is|that) me be (generous|nice|kind|fair)"
            "|i'm (generous|nice|kind))",
            "[it's|that's|this is] [better|closer|nice] [.] [but] [it's|that's|that is|it is] "
            "(still|just) [(far|way|much|a bit|a little)] (too (high|low|much|little|expensive"
            "|cheap|steep)|not enough|above my budget) [for me] [.] [so] [i|i'll] [(offer|bid|say"
            "|go to)] {amount}",
            "[i] [can|will|i'll|i'd|am willing to] (lower|drop|reduce|raise|increase|cut|bring down"
            "|bring up|bring) my (price|offer|bid|ask|asking price) [down|up] [by {n}] to {amount}",
            "(meet me|anchor|anchor high|anchor low|open high|open low|start high|start low|lowball"
            "|highball|aim high) [.] [at|with] {amount}",
            "(i'd|i'll|i can|i will|i would|let's) go [with|for|to|as (low|high) as] {amount}",
            "[i'll|i'd] (open|start|begin) (with|at|by asking [for]|by offering) {amount}",
            "(split|halve) the difference [.] [at|on] {amount}",
            "[i] [can|will|i'll|i'd|am willing to] (come|go) (down|up) (to|until) {amount}",
            "[i] [can|will|i'll|i'd|am willing to] [only] (lower|drop|reduce|raise|increase|cut) "
            "[my|the] (price|offer|bid|ask|asking price) from {not:amount} to {amount}",
            "meet you at {amount}",
            "{amount} final",
            "[a|my] opening ask of {amount}",
            "(you|they|he|she|{other}|the (buyer|seller)) (say|said|offer|offered|bid) [for] "
            "{not:amount} [.] [but] (i|i'll|i'd) (say|offer|bid|propose"
            "|counter) [for|with] {amount}",
            "[i] [can|will|i'll|i'd|am willing to] [only] (lower|drop|reduce|raise|increase|cut) "
            "[my|the] (price|offer|bid|ask|asking price) by {n} [coin] (to|->|.|and (offer|ask"
            "|bid|say)) {amount}",
            f"the {end} [price|that] i (can|will|am (willing|ready|able) to) (go|accept|take|pay"
            "|do|offer|sell for|give) [to] is {amount}",
            "no deal (at|for) {not:amount} [.] my (price|offer|bid) is {amount}",
            "[the|my] [asking|final|last|new|offered|opening|first|starting|next] price [is"
            "|will be] [.] {amount}",
            "{amount} [coin] is (my [next|new|first|last|opening] (price|offer|bid|proposal)"
            "|what i (offer|ask|want|bid|pay))",
            "a price of {amount} is my [next|new|first|last|opening] (proposal|offer|bid)",
            "(hold out|stick|insist|stay|remain|hold firm) (for|with|to|at|on) [my price of] "
            "{amount} [coin]",
            "name (a|my|the) price [of|.] {amount}",
            "my price (stays|remains|is still) [at] {amount}",
            f"{{amount}} is ((as {end} as|the {end} [price|that]) (i (can|will|am going to)"
            "|i'll) [go|come|do]"
            f"|the {end} i (go|come)|my bottom line)",
            "{amount} [.] [that is|that's|it is|it's|is] [my|the] (final|last|best) "
            "(offer|price|bid|word)",
        ]
        if agent == 0:
            buyer = "(you|him|her|them|{other}|the buyer|this buyer|my (partner|opponent))"
            closes = [
                f"{will} let {buyer} have {it} (for|at) {{amount}}",
                f"{will} (ask|charge|want) [{buyer}] [for] {{amount}} [from {buyer}] [for {it}]",
                f"{will} (sell|offer|let you have|give you) {it} [to you] (for|at) {{amount}}",
                f"{will} sell you {it} (for|at) {{amount}}",
                "(i want|i'd like|i would like|ask|charge) [you] [for] {amount} "
                "[for (it|the item)]",
                "my asking price is {amount}",
                f"[i] [can|could|would|will|i'll|i'd] (let {it} go|part with {it}) "
                "(for|at) {amount}",
                f"(i'm|i am|i'd be|i would be) (willing|prepared) to (sell|let {it} go"
                f"|part with|let go of) [{it}] (for|at) {{amount}}",
                "(i'd|i would|i'll|i will) take {amount} [for (it|the item)]",
                "{amount} is (what|all|the least) [that] i [can|could|will|would] "
                "(take|accept|want|need|ask [for]|ask for it)",
                "[you] (give|pay) me {amount} [for (it|the item)]",
                "you pay {amount} [for (it|the item)]",
                "{amount} and (it is|it's) yours",
                "[i] set (the|my) price (at|to) {amount}",
                "you [can|may] (have|buy|get|take) (it|the item) (for|at) {amount}",
                "(it is|it's|the item is) yours (for|at) {amount}",
            ]
        else:
            closes = [
                "(i'd|i would|i'll|i will) pay [you] {amount} [for (it|the item|your item)]",
                f"{will} pay [you] {{amount}} [for (it|the item|your item)]",
                "[i] [can] give you {amount} [for (it|the item|your item)]",
                f"{will} (buy|purchase|take) {it} [from you] (for|at) {{amount}}",
                f"sell {it} [to me] (for|at) {{amount}}",
                f"[i'm|i am|i'd be] (willing|ready|prepared|happy|glad) (to|for) (pay|give [you]"
                f"|spend"
                f"|offer [you]) {{amount}} [for {it}]",
                f"you (get|receive|will get|can get|can have) {{amount}} [from me] [for {it}]",
                f"{{amount}} from me [for {it}]",
                f"sell me {it} (for|at) {{amount}}",
                "[i] (can|could|would|will) [only] (pay|give|offer) [you] [only|just] {amount}",
                "[i'm|i am|i'd be] (willing|ready|prepared|happy|glad|able) to (spend|invest|put "
                "up|part with) {amount} (on|for) (it|that|this|the item|your item)",
                "{amount} is (what|all|the most|as much as) [that] i [can|could|will|would] "
                "(pay|give|afford|offer|spend) [for (it|the item)]",
            ]
        # What makes it firm.
        coin = "(coin|penny|cent|dime|dollar)"
        firm = (
            "[but not (lower|higher|further|more|less)] [[just|only] for (you|them|him|her"
            "|{other})] [[.] [well|far|just|still] (above|over"
            "|below|under) (my (cost|value|limit)|what it "
            "(cost me|is worth to me|costs me))] [right now|for now] "
            f"[[.] [and|but] (not (a|1|one) [single] {coin} (more|less)|not {coin} (more|less)"
            "|no (more|less) [than that]"
            "|take it or leave it|(that's|that is|it's|it is) (my|the) [final|last|best] "
            "(offer|price|word|limit)|[my] final offer|firm|(that's|that is) (it|final|all))]"
        )
        return {
            "offer": [f"{pattern} {firm}" for pattern in offers],
            "close": [f"{pattern} {firm}" for pattern in closes],
        }

    def slots(self, agent: int) -> dict[str, Any]:
        more = dict.fromkeys(("more", "higher", "above"), 1)
        return super().slots(agent) | {"more": more | dict.fromkeys(("less", "lower", "below"), -1)}

    def offered(self, seen: Observation, reading: Reading) -> np.ndarray:
        values = reading.values
        if "more" not in values:
            return super().offered(seen, reading)
        if not seen.marked("offer_by"):
            raise IllegalAction("no price of the other stands")
        return np.array([int(seen["offer"][0]) + values["n"] * values["more"]])

    def means_standing(self, seen: Observation, content: np.ndarray) -> bool:
        return bool(seen.marked("offer_by")) and bool(content[0] == seen["offer"][0])

    def agrees(self, seen: Observation, sentence: str) -> bool:
        # "I'll pay 45" and "okay, 45 it is" accept an offer of 45; "45" alone is one's own.
        closes = any(reading.meaning == "close" for reading in self.readings(seen, sentence))
        if not (closes or _AGREES.search(sentence)):
            return False
        if _HEDGED.search(sentence):
            raise IllegalAction(_STANDING)
        return True

    def accepts(self, seen: Observation, values: Mapping[str, Any]) -> bool:
        return bool(values["amount"] == seen["offer"][0])

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
