"""Exchange: two players own goods that are worth different amounts to each, and trade bundles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import expand
from manyhands.core.env import Array, IllegalAction
from manyhands.core.layout import Piece
from manyhands.core.reading.grammar import Reading
from manyhands.core.reading.spelling import DONE, Spelling
from manyhands.envs.negotiation.forms.base import Bargain, Deal, Turn
from manyhands.envs.negotiation.state import (
    ACCEPT,
    OFFER,
    REJECT,
    TURNS,
    NegotiationState,
)
from manyhands.envs.negotiation.words import (
    YOU,
    Bundle,
    Observation,
    amount,
    bundles,
    listed,
    owned,
    plural,
)

# The exchanges that scripted players consider: so many units of one good for as many of another as
# are worth these shares of them on average.
UNITS = (1, 2, 3, 5, 8, 10, 15, 20, 25)
RATES = (0.85, 0.92, 1.0, 1.08, 1.18)


_SWAPPED = (
    ("{mine}", "{get}"),
    ("{give}", "{yours}"),
    ("{yours}", "{give}"),
    ("{get}", "{mine}"),
    ("{mine}", "{yours}"),
    ("{yours}", "{mine}"),
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
    meaningful = (*Bargain.meaningful, "like", "want", "wish", "prefer", "rather")
    terms_named = (
        "(your|the|this|that) (offer|trade|exchange|deal|proposal) of {yours:get} "
        "[(for|in exchange for|in return for|->) {mine:give}]",
        "[the] {yours:get} (for|in exchange for|in return for|->) {mine:give}",
        "[the] {yours:get} and ((give|give up|give you|pay|let go of|hand over|part with) "
        "{mine:give}"
        "|let {mine:give} go)",
    )

    # ---- rules ------------------------------------------------------------------------------

    def fits(self, state: NegotiationState, i: int, xp: Any) -> Array:
        return xp.ones((1, *state.time.shape), bool)

    def covers(self, state: NegotiationState, i: int, xp: Any) -> Array:
        return xp.all(state.offer[len(self.goods) :] <= state.holdings[i], axis=0)

    def amounts(self, state: NegotiationState, i: int, xp: Any) -> list[Array]:
        """What one owns can be given, what the other can own, as far as one knows, asked for."""
        axes = state.time.ndim
        could = state.holdings[1 - i] if self.public else self.other_most(state, i)
        turns = state.phase[None] == TURNS
        masks = []
        for bound in (state.holdings[i], could):
            for good, most in enumerate(self.most):
                units = xp.arange(most + 1).reshape(-1, *[1] * axes)
                masks.append((units == 0) | (turns & (units <= bound[good][None])))
        return masks

    def other_most(self, state: NegotiationState, i: int) -> Array:
        """i[R, ...], the most that the other of player i can own: what is drawn at first at most,
        and what it got from i since."""
        high = expand(self.holdings[1 - i, :, 1], state.time.ndim)
        return high + state.start[i] - state.holdings[i]

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
        pieces = [Piece("own_gain", low=-most, high=most)]
        if not self.public:
            pieces.append(
                Piece("other_most", len(self.goods), high=self.most_owned, labels=self.goods)
            )
        return pieces

    def observe_own(
        self, state: NegotiationState, i: int, order: Sequence[int], xp: Any
    ) -> dict[str, Array]:
        change = (state.holdings[i] - state.start[i]).astype(np.int32)
        found = {"own_gain": xp.sum(change * state.values[i], axis=0)[None]}
        return found if self.public else found | {"other_most": self.other_most(state, i)}

    # ---- what is hidden ---------------------------------------------------------------------

    def value_spans(self, i: int) -> np.ndarray:
        return self.spans().T

    def holding_bounds(self, seen: Observation, change: np.ndarray) -> np.ndarray | None:
        if self.public:
            return None
        # What the other gave, or offered to give, it owned.
        log = seen["log"].reshape(-1, 3 + self.width)
        offer, maker = None, 0
        moved, owned = np.zeros(len(self.goods), int), []
        for player, kind, _, *content in log.tolist():
            if kind == OFFER and player:
                offer, maker = np.reshape(content, (2, -1)), player
                if maker == 2:
                    owned.append(offer[0] - moved)
            elif kind == ACCEPT and offer is not None:
                if player == 2:
                    owned.append(offer[1] - moved)
                moved = moved + (offer[1] - offer[0]) * (1 if maker == 2 else -1)
                offer = None
            elif kind == REJECT:
                offer = None
        bounds = self.holdings[1 - seen.agent].astype(int) + change[:, None]
        for units in owned:
            bounds[:, 0] = np.maximum(bounds[:, 0], units + moved)
        return np.maximum(bounds, 0)

    def worth_question(self, i: int, good: int) -> str:
        return f"How much is one {self.goods[good]} worth to {self.agents[i]}?"

    def worth_words(self, i: int, good: int, number: int) -> str:
        return f"one {self.goods[good]} is worth {number} to {self.agents[i]}"

    # ---- words ------------------------------------------------------------------------------

    def rules_words(self) -> list[str]:
        lows, highs = self.spans()
        spans = [
            f"{g} {a}" if a == b else f"{g} {a} to {b}"
            for g, a, b in zip(self.goods, lows, highs, strict=True)
        ]
        sees = "both of you see" if self.public else "only its owner sees"
        return [
            f"Each of you owns some {listed(self.goods)} ({self._drawn()}); what somebody owns, "
            f"{sees}. You offer "
            "some of your goods for some of the other's; who accepts makes the exchange, if both "
            "own what they are to give, and the game goes on. What a unit is worth to you, only "
            f"you know; to the other it is worth something else ({', '.join(spans)}, for either "
            "of you). Your gain is by how much the worth of all that you own grows.",
        ]

    def _drawn(self) -> str:
        """How many units are drawn at first."""
        spans = [
            [f"{a}" if a == b else f"{a} to {b}" for a, b in own.tolist()] for own in self.holdings
        ]
        if spans[0] != spans[1]:
            each = (
                f"{who} {', '.join(f'{k} {good}' for k, good in zip(own, self.goods, strict=True))}"
                for who, own in zip(self.agents, spans, strict=True)
            )
            return f"at first: {'; '.join(each)}"
        if len(set(spans[0])) == 1:
            return f"at first {spans[0][0]} of each"
        told = zip(spans[0], self.goods, strict=True)
        return f"at first {', '.join(f'{k} {good}' for k, good in told)}"

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
        return f"you give {given}, get {got} and {'gain' if change >= 0 else 'lose'} {abs(change)}"

    def offer_gain(self, seen: Observation, maker: int, content: np.ndarray) -> int:
        r = len(self.goods)
        change = seen.worth(content[r:]) - seen.worth(content[:r])
        return change if maker == 0 else -change

    def offer_data(self, content: Sequence[int]) -> dict[str, Any]:
        r, units = len(self.goods), list(map(int, content))
        sides = {"give": units[:r], "ask": units[r:]}
        return {
            side: {good: count for good, count in zip(self.goods, counts, strict=True) if count}
            for side, counts in sides.items()
        }

    def choice_words(self, seen: Observation, content: np.ndarray) -> str:
        change = self.offer_gain(seen, 0, content)
        means = f"you {'gain' if change >= 0 else 'lose'} {abs(change)} if accepted"
        return f"offer {self.offer_words(seen, 0, content)}: {means}"

    def example(self, seen: Observation, bounds: np.ndarray) -> np.ndarray:
        """i[2R], a small offer that the player can make: of the first good that it owns for another
        one, of about the same worth on average."""
        r, usual = len(self.goods), np.maximum(self.usual(), 1e-6)
        offer, own, could = np.zeros(2 * r, int), bounds[:r], bounds[r:]
        gives = next((k for k in range(r) if own[k]), None)
        asks = next((k for k in range(r) if could[k] and k != gives), None)
        if gives is not None:
            offer[gives] = 1
        if asks is not None:
            offer[r + asks] = 1
        if gives is not None and asks is not None:
            rate = usual[asks] / usual[gives]  # units given for one
            offer[gives] = min(max(round(rate), 1), own[gives])
            offer[r + asks] = min(max(round(offer[gives] / rate), 1), could[asks])
        return offer

    def spelled(self, units: Sequence[Sequence[int]]) -> Spelling:
        """ "3 wheat, 1 wood and 2 ore for nothing": as `offer_words` has it. States are (the side,
        the next good, what came before it: "", "," or "and"; whether anything was given); after a
        good, these with "after" in front."""
        r = len(self.goods)
        sides = [units[:r], units[r:]]

        def pieces(state: Any) -> list[tuple[str, Any]]:
            after, (side, first, mark, given) = state[0] == "after", state[-4:]
            left = [k for k in range(first, r) if sides[side][k]]
            found: list[tuple[str, Any]] = []
            if after:
                found += [(" for ", (1, 0, "", given))] if side == 0 and mark != "," else []
                if mark != "and":
                    found += [(", ", (side, first, ",", given))] * (len(left) > 1)
                    found += [(" and ", (side, first, "and", given))] * bool(left)
                return found
            if mark == ",":  # not the last one of a list
                left = left[:-1]
            for good in left:
                # What is given is known from now on; before, it was nothing.
                later = ("after", side, good + 1, mark, True)
                for count in sides[side][good]:
                    text = f"{count} {plural(self.goods[good], count)}"
                    found.append((text, later))
                    if side == 1 and mark != ",":
                        found.append((text, DONE))
            if mark == "" and side == 0:
                found.append(("nothing for ", (1, 0, "", False)))
            if mark == "" and side == 1 and given:
                found.append(("nothing", DONE))
            return found

        return Spelling(pieces, (0, 0, "", False))

    def composed_words(self, seen: Observation, bounds: np.ndarray) -> tuple[str, str]:
        r = len(self.goods)
        text, _ = self.choice_parts(seen, self.example(seen, bounds))
        give, ask = (
            ", ".join(f"{most} {good}" for good, most in zip(self.goods, part, strict=True) if most)
            for part in (bounds[:r].tolist(), bounds[r:].tolist())
        )
        effect = (
            f"any amounts, also of several goods; give at most {give or 'nothing'}; ask at most "
            f"{ask or 'nothing'}; if accepted, you gain what you get less what you give"
        )
        return text, effect

    def full_words(self, seen: Observation) -> list[str]:
        usual, own = self.spans().mean(0), seen["own_values"]
        usually = ", ".join(f"{g} {u:g}" for g, u in zip(self.goods, usual, strict=True))
        more = [g for g, u, v in zip(self.goods, usual, own, strict=True) if v > u]
        less = [g for g, u, v in zip(self.goods, usual, own, strict=True) if v < u]
        return [
            f"All that you own is worth {seen.worth(seen['own_holdings'])} to you.",
            f"Middle of what each can be worth: {usually}. "
            f"Worth more to you: {listed(more or ['nothing'])}; "
            f"less: {listed(less or ['nothing'])}.",
        ]

    def own_words(self, seen: Observation) -> list[str]:
        lines = []
        if "other_most" in seen.at:
            most = owned(self.goods, seen["other_most"])
            lines.append(f"{seen.names[1]} owns at most: {most}.")
        return [*lines, f"Your gain so far: {seen['own_gain'][0]}."]

    def bounds_words(self, seen: Observation, content: np.ndarray) -> str:
        return "nothing for nothing is no offer"

    def why_not_accept(self, seen: Observation) -> str:
        units = seen["offer"][len(self.goods) :]
        if (units <= seen["own_holdings"]).all():
            return ""
        return f"the offer asks for {amount(self.goods, units)}, more than you own"

    def ending(self, seen: Observation) -> str:
        deals = int(seen["deals"][0])
        return f"It is over, {deals} exchange{'' if deals == 1 else 's'} made"

    # ---- reading answers --------------------------------------------------------------------

    def offer_phrases(self, agent: int) -> Mapping[str, Sequence[str]]:
        hands = (
            "(give|offer|try|send|hand|hand over|pay|trade|swap|exchange|change|barter|sell"
            "|provide|part with"
            "|put up|let go of|let you have|trade away|give away|give up|spend|spare|supply)"
        )
        want = "(i'd like|i would like|i want|i wish|i'd prefer|i'd rather|i would rather)"
        will = (
            f"[i|i'll|i'd|i will|i would|i can|will|{want} [to]"
            "|(i'm|i am|i'd be|i would be) (happy|glad|willing|ready|delighted|pleased|prepared"
            "|honoured|honored|open|keen)"
            " to]"
        )
        for_ = "(for|in exchange for|in return for|as payment for|against|->|= >)"
        return_ = "[in return|in exchange|for (it|that|them|those)|back]"
        start = (
            "[[please] put (this|it|the following) on the table|on the table|make it"
            f"|[i|{want} to] (offer|propose|suggest|make) [that|[a|an|the|this] [following] (trade"
            "|exchange|swap|deal|offer)|this]|offer_trade|propose_trade|make_offer|trade_offer"
            f"|{want} to (trade|swap|deal)|[i] (open|start|begin) "
            f"[small|low|modestly|carefully] [with]"
            "|[my|this is my|here is my|a|trade] (offer|proposal|counteroffer|counter offer|trade"
            "|counterproposal|counter proposal|counter) [from (my side|me)] [is] "
            "[that]] [.]"
        )
        again = (
            "[again|once more|[same] as (before|last time|the last one)|like (before|last time)]"
        )
        whose = (
            "[next up|(another|[the] same) (trade|swap|exchange|deal|offer) " + again + "|(let's"
            "|let us) (make|do|have|try|repeat) [the|a|an|another] [same] (trade|swap|exchange"
            f"|deal) {again}] [.] "
            "[[i] (propose|suggest)|my (offer|proposal|counteroffer) [is]|make it|[i|please|let's] "
            "[put] [this|it] on the table] [.] [a] [trade|swap|exchange] [of]"
        )
        # What is given, and what is got, each said with a verb that tells from whom.
        give = (
            f"({will} {hands} {YOU} {{give}}|{will} {hands} {{give}} [(to|for) {YOU}]"
            "|(you|{other}|they|he|she) [will|would|can|could|should|shall] (get|receive|have) "
            "{give} [from me] [from my side]"
            "|you'll (get|receive|have) {give} [from me])"
        )
        get = (
            f"([(you|{{other}}) [will|would|can|could|should|shall]] let me have {{get}}"
            f"|(you|{{other}}) [will|would|can|could|should|shall|in return|in exchange] {hands} "
            f"[me] {{get}} [to me]|you'll {hands} [me] {{get}}|{hands} me {{get}}"
            f"|{hands} {{get}} to me"
            "|[i|i'll|i'd|i will|i would] (get|receive|take|ask [for]|ask "
            f"{YOU}"
            " for"
            "|get my hands on|request|want|expect"
            "|would like|would like to (get|have)|i'd like|i want|i need|need|i would "
            "like|buy|i'll buy) "
            f"{{get}} [from {YOU}])"
        )
        if_ = (
            f"if (you [will|would|could|can] ({hands}|gave) [me] {{get}}"
            "|i (get|receive) {get} [from you])"
        )
        link = f"[.] [and|then|while|so|but|to|->] [.] {return_} [then]"
        swaps = f"{will} (offer|propose|suggest) [to] {hands}|{will} [to] {hands}|counter [with]"
        asks = (
            f"[i|i'll|i'd|i will|i would|{want} [to]] "
            "(get|receive|ask [for]|ask you for|request|buy|i want"
            "|i'd like|i would like|i need|would like|want|need|(i'll|i will|i'd|i would) take"
            # "You could offer me ..." only suggests what the other might do.
            f"|[you] [will|would|could] {hands.replace('offer|', '')} me)"
        )
        both = [
            f"{start} {give} {link} {get} {return_}",
            f"{start} {get} {link} {give} {return_}",
            f"{start} {give} [.] {if_} {return_}",
            f"{start} [i] put {{give}} on the table {link} {get} {return_}",
            f"{start} {get} {link} [i|i'll|i will|will] {hands} {{give}} {return_}",
            f"{start} {{give}} {link} {get} {return_}",
            f"[{start}] [we|let's|let us] [swap|trade|exchange] [.] {{mine}} [.] "
            f"[and|{for_}] {{yours}}",
            f"{start} {if_} [.] [then] {give} {return_}",
            f"{start} {will} let {{give}} go [to {YOU}] [.] {if_} {return_}",
            "(would|could|can|will) (give|pay|trade|offer|spare) {give} [.] [and] "
            "(want|need|would like|ask for|expect|take) {get} [back|in return]",
            f"[please|pls] {{get}} [please|pls] [.] [and] (i|i'll|i will) {hands} [{YOU}] {{give}}",
            f"here is (a|my) [better|new|another|fairer|different|final] (one|1|offer|deal|trade"
            f"|proposal|idea) [for you] [.] {{give}} {for_} {{get}}",
            f"here's (a|my) [better|new|another|fairer|different|final] (one|1|offer|deal|trade"
            f"|proposal|idea) [for you] [.] {{give}} {for_} {{get}}",
            f"{start} ({swaps}) [{YOU}] {{give}} [to {YOU}] {for_} {{get}} [from {YOU}] {return_} "
            "[or other amounts]",
            f"{start} ({swaps}) [{YOU}] {{give}} [to {YOU}] [and] (to get|to receive|get|receive"
            "|for getting|ask [for]|want|[to] (get|lay) my hands on|[to] obtain) "
            f"{{get}} [from {YOU}]",
            f"{asks} {{get}} [from {YOU}] [.] [and|so] {{give}} is what (i|i'll|i will|i can|i'd) "
            "(pay|give|offer|spare|part with) [for (it|them|that|those)|in return]",
            f"{{give}} is what (i|i'll|i will|i can|i'd) (pay|give|offer) {for_} {{get}}",
            "{give} is what i [can|could|will|would] (spare|give|offer|part with) [.] [and|but|so] "
            "(i'd|i'll|i|i would|i will) (take|want|like|ask for|expect|need|get) "
            f"{{get}} ({return_[1:-1]})",
            f"{whose} {{get}} from {YOU} [.] ({for_}|and) {{give}} [from me]",
            f"{whose} {{give}} from me [.] [{for_}|and] {{get}} from {YOU}",
            f"{start} {asks} {{get}} [from {YOU}] ({for_}|with) {{give}}",
            f"(for|in exchange for|in return for) {{get}} {will} {hands} [{YOU}] {{give}}",
            f"[you] take {{give}} [from me] and {hands} me {{get}}",
            "[my] [new|final|last|next|first|initial|opening] "
            "(offer|trade|proposal|counteroffer|counter offer) [is] [.] "
            f"{{give}} {for_} {{get}}",
            f"{whose} {{mine}} {for_} {{get}}",
            f"{whose} {{give}} {for_} {{yours}}",
            f"{whose} {{yours}} {for_} {{give}}",
            f"{whose} {{get}} {for_} {{mine}}",
        ]
        about = (
            "(how|what) about [that|this|[a|an|another|the] [bigger|smaller|better|different|fair"
            "|new|simple] (trade|exchange|swap|deal)] [instead] [.]"
        )
        both += [
            pattern.replace(start, about, 1) + " [?]"
            for pattern in both
            if pattern.startswith(start)
        ]
        both += [f"(how|what) about {mine} {for_} {get} [?]" for mine, get in _SWAPPED]
        gift = "[as a gift|for nothing|for free]"
        own = "(is|are|would be) (my (offer|proposal|bid|trade)|what i (offer|propose|suggest))"
        both += [
            f"{{give}} {for_} {{get}} [.] (that is|that's|is|are|would be) "
            "(my (offer|proposal|bid|trade)|what i (offer|propose|suggest))",
            f"{{give}} from me {for_} {{get}} [from you]",
            f"{{give}} {for_} {{get}} from you",
            f"{{get}} {own} [to get|to have]".replace(own, f"is what i (ask|want) {for_} {{give}}"),
            f"my {{give}} {for_} [your] {{get}}",
        ]
        # What is said of the offer itself.
        us = "(both [sides|of us|parties]|us [both]|me|everyone|each of us)"
        fair = (
            f"[[.] [and|so] ((that|this|it|which) (suits|helps|works for|is (good|fair|fine) "
            f"(for|to)) {us}|[a] (fair|good|decent) (deal|trade|swap|exchange) [for {us}]"
            "|(that's|that is|this is) (what i (propose|offer|suggest)|my (offer|proposal)))]"
        )
        both = [f"{pattern} {fair}" for pattern in both]
        return {
            "bare": [f"[[i] (propose|suggest)] {{give}} {for_} {{get}}"],
            "proposed": [
                f"([i|i'll|i will|{want} to] (propose|suggest)|make it) {{give}} {for_} {{get}} "
                f"{fair}"
            ],
            "both": both,
            "give": [f"[i|i'll|i will] give [{YOU}] {{give}} [to {YOU}] {gift}"],
            "ask": [f"[i] (ask|ask {YOU}) [for] {{get}} [from {YOU}] {gift}"],
        }

    def slots(self, agent: int) -> dict[str, Any]:
        owners = {"give": ("", "me"), "get": ("", "you"), "mine": ("me",), "yours": ("you",)}
        lists = {name: bundles(self.goods, owner) for name, owner in owners.items()}
        return super().slots(agent) | lists

    def _may_be_theirs(self, seen: Observation, reading: Reading) -> bool:
        """Whether a proposal may be worded as the standing one of the other is, from its side: it
        shares a good with it."""
        if not seen.marked("offer_by"):
            return False
        sides = zip(("give", "get"), seen["offer"].reshape(2, -1), strict=True)
        goods = {side: {k for k, _ in reading.values[side].parts} for side in ("give", "get")}
        return any(goods[side] & set(np.flatnonzero(units).tolist()) for side, units in sides)

    def offered(self, seen: Observation, reading: Reading) -> np.ndarray:
        if reading.meaning == "bare" and seen.marked("offer_by") == 0:
            raise IllegalAction("say who gives what")  # it may repeat the standing offer
        if reading.meaning in ("bare", "proposed") and self._may_be_theirs(seen, reading):
            raise IllegalAction("say who gives what")
        there = [seen["own_holdings"], None]
        if self.public:
            there[1] = seen["other_holdings"]
        nothing = Bundle(whole="nothing")
        sides = [
            reading.values.get(one, reading.values.get(other, nothing)).counts(self.goods, here)
            for (one, other), here in zip((("give", "mine"), ("get", "yours")), there, strict=True)
        ]
        return np.concatenate(sides)

    def accepts(self, seen: Observation, values: Mapping[str, Any]) -> bool:
        # The maker of the offer gives what is accepted.
        sides = [values.get(name, Bundle(whole="nothing")) for name in ("yours", "mine")]
        r = len(self.goods)
        named = [side.counts(self.goods, None) for side in sides]
        return bool((np.concatenate(named) == seen["offer"][: 2 * r]).all())

    # ---- scripted players -------------------------------------------------------------------

    def spans(self) -> np.ndarray:
        """i[2, R], the lowest and the highest worth of each good for either player, as the rules
        tell it."""
        return np.stack([self.values[..., 0].min(0), self.values[..., 1].max(0)]).astype(int)

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
