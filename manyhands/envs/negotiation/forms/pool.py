"""Pool: two players divide what lies on the table. The one who offers names what it takes, and the
other gets the rest. With several goods (Deal or No Deal) or with one (the ultimatum game)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.choices import Form
from manyhands.core.env import Array, IllegalAction
from manyhands.core.reading.grammar import Reading
from manyhands.envs.negotiation.forms.base import Bargain, Deal, Turn
from manyhands.envs.negotiation.state import CHAT, PICK, ROUNDS, NegotiationState
from manyhands.envs.negotiation.words import (
    EVENLY,
    YOU,
    YOU_GET,
    Bundle,
    Observation,
    amount,
    bundles,
)

POINTS = 10  # what a pool of several goods is worth to each player (Lewis et al. 2017)


def valuations(counts: Sequence[int]) -> list[tuple[int, ...]]:
    """Non-negative values of the goods that make the pool worth `POINTS`."""
    ranges = [range(POINTS // count + 1) for count in counts]
    return [v for v in itertools.product(*ranges) if np.dot(v, counts) == POINTS]


def is_deal(counts: Sequence[int], a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether these are the values of two players: the pool is worth `POINTS` to each, every good
    something to somebody, and one something to both."""
    worth = int(np.dot(counts, a)) == POINTS == int(np.dot(counts, b))
    wanted = all(x + y > 0 for x, y in zip(a, b, strict=True))
    return worth and wanted and any(x * y > 0 for x, y in zip(a, b, strict=True))


class Pool(Bargain):
    """An offer is i16[R], what the one who makes it takes. With `CHAT` both state in private, at
    the same time, what they take."""

    chooses = "all"
    how_to_offer = '"take ..." or "give ..."'
    takes_nothing = True
    spares = True
    terms_named = (
        "[(your|the|this|that) (offer|proposal|split) of] {list}",
        "[and] [you] [can|may] (take|keep|have) (your|those|these|the) {theirs:list}",
    )

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

    # ---- what is hidden ---------------------------------------------------------------------

    def value_spans(self, i: int) -> np.ndarray:
        return super().value_spans(i) if self.flow == ROUNDS else np.array([[0, POINTS]] * 3)

    def possible_values(self, seen: Observation) -> np.ndarray | None:
        if self.flow == ROUNDS:
            return None
        pool, own = seen["pool"].tolist(), seen["own_values"].tolist()
        return np.array([v for v in valuations(pool) if is_deal(pool, own, v)])

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
        rest = amount(self.goods, seen["pool"] - content)
        verb, other = self._verb(seen), seen.names[1]
        gain = seen.worth(content)
        if seen.phase == PICK:
            effect = f"worth {gain} to you if {other} takes {rest}, else 0"
        else:
            worth = f"worth {gain} to you, " if len(self.goods) > 1 else ""
            effect = f"{'' if self.flow == CHAT else 'if accepted, '}{worth}{other} gets {rest}"
        return f"{verb} {amount(self.goods, content)}: {effect}"

    def _verb(self, seen: Observation) -> str:
        if seen.phase == PICK:
            return "take"
        return "propose to take" if self.flow == CHAT else "offer to take"

    def choice_forms(self, seen: Observation, contents: np.ndarray) -> Sequence[Form | None]:
        verb, other, pool = self._verb(seen), seen.names[1], seen["pool"].tolist()
        parts = [
            f"0 to {amount((good,), [most])}"
            for good, most in zip(self.goods, pool, strict=True)
            if most
        ]
        rest = f"{other} gets the rest"
        if seen.phase == PICK:
            rest = f"it is yours only if {other} takes exactly the rest"
        elif self.flow != CHAT:
            rest = f"if accepted, {rest}"
        ranges = {good: (0, most) for good, most in zip(self.goods, pool, strict=True)}
        form = Form(f"{verb} {{items}}", f"any of {', '.join(parts)}; {rest}", ranges)
        return [form] * len(contents)

    def offer_gain(self, seen: Observation, maker: int, content: np.ndarray) -> int:
        return seen.worth(content if maker == 0 else seen["pool"] - content)

    def deal_words(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        mine = seen["own_holdings"]
        worth = f", worth {seen.worth(mine)} to you" if len(self.goods) > 1 else ""
        return f"you get {amount(self.goods, mine)}{worth}"

    def offer_data(self, content: Sequence[int]) -> dict[str, Any]:
        return {"takes": super().offer_data(content)}

    def full_words(self, seen: Observation) -> list[str]:
        all_of_it = seen.worth(seen["pool"])
        if len(self.goods) == 1 or not all_of_it:
            return []
        worth = [
            f"{amount((good,), [count])} {count * value}"
            for good, count, value in zip(
                self.goods, seen["pool"].tolist(), seen["own_values"].tolist(), strict=True
            )
        ]
        return [f"To you, in all: {', '.join(worth)}; everything {all_of_it}."]

    def bounds_words(self, seen: Observation, content: np.ndarray) -> str:
        return f"on the table are only {amount(self.goods, seen['pool'])}"

    # ---- reading answers --------------------------------------------------------------------

    def offer_phrases(self, agent: int) -> Mapping[str, Sequence[str]]:
        takes = "(take|keep|get|receive|grab|pocket|collect|have)"
        part = "(share|part|portion|pick|half|side|take|cut)"
        only = "[only|alone|just|and nothing else|and nothing more|and no more]"
        takes_to = f"({takes}|have)"
        mine = [
            f"[{{me}}] {takes} {{take:list}} [for (me|myself)]",
            f"(i|me|{{me}}) [will|would|shall] {takes} {{take:list}} [for (me|myself)]",
            f"(i'll|i'd|i will|i would|i should|i can) {takes_to} {{take:list}} [for (me|myself)]",
            f"(i want|i'd like|i would like) [just|only] [to {takes_to}] "
            f"[just|only] {{take:list}} [for (me|myself)]",
            "[just|only] {take:list} [is|are] (for|to|->) (me|myself|{me})",
            "for (me|myself|{me}) {take:list}",
            "{take:list} (is|are|will be|should be|must be|has to be|have to be) mine",
            "(i|i'd|i could) can live with {take:list} " + only,
            "{take:list} belong to me",
            f"mine [is|are] {{take:list}} {only}",
            f"[i|i'll|i'm] [will] [be] {takes} [item|part] {{take:list}} {only}",
            "{take:list} (is|are) (what|all) (i'm|i am) (taking|keeping|getting|claiming)",
            f"{{take:list}} (is|are) (what|all) i {takes} [here|now]",
            "(i'm|i am|i'd be|i'll be) (content|happy|satisfied|fine|okay|good) with [just|only] "
            f"{{take:list}} {only} [this time|here|for now]",
            f"[i] [will] ({takes}|claim|want|ask for|pick) nothing (but|except|other than) "
            "{take:list} [for (me|myself)]",
            "nothing (but|except) {take:list} for (me|myself)",
            f"[i] (settle for|go for|go with|opt for|stick with|stick to) [just|only] "
            f"{{take:list}} {only}",
            f"my [final|own|fair] {part} [is|will be] {{take:list}}",
            f"[i] (state|declare|write|write down|put down) [that] [i] [{takes}] {{take:list}}",
            "[i] (stick to|follow) the (plan|deal|agreement) [.] [and] [i] (take|keep) {take:list}",
            "put me down for {take:list}",
            "it's {take:list} for me",
            "everything [on the table] is mine [.] [i] take {take:list}",
            "(me|myself|{me}) [-] {take:list}",
            "(i'm|i am) [only|just|really|mainly] after {take:list}",
            "([you] (give|leave|hand) me|gimme|let me (have|keep|take|get)) {take:list}",
            "(i|i'll|i will|i'd|let me) [(just|only)] (ask for|request|claim|call for|pick|choose) "
            "[just|only] {take:list} [for (me|myself)]",
            "(i|i'll|i will|let me) help myself to {take:list}",
            "all (i|that i) (ask|ask for|want|claim|request) [for] is {take:list}",
            "{take:list} (is|are) (all|what) i (ask|want|need|ask for|take|need|am asking for|claim"
            "|request)",
            "{take:list} (goes|go|come|comes) to (me|{me})",
            "{take:list} (stay|stays|remain|remains) (with me|mine)",
            "{take:list} mine",
            "[i] (keep|take) (almost|nearly) (everything|all [of it]) [.] {take:list}",
        ]
        gives = "[i] [i'll|will|would|i'd|can] (give|offer|leave|hand|hand over)"
        theirs = [
            *(
                f"{get} {{give:list}} [for (yourself|themselves|himself|herself)]"
                for get in YOU_GET
            ),
            f"{gives} [[to] {YOU}] {{give:list}} [(to|for) {YOU}]",
            f"[i|i'll|i will] let {{give:list}} (to|for) {YOU}",
            f"[i|i'll|i will] let {YOU} (have|keep|take|get) {{give:list}}",
            f"{{give:list}} [is|are] (for|to|->) {YOU}",
            f"for {YOU} {{give:list}}",
            "{give:list} (is|are|will be) yours",
            "yours [is|are] {give:list}",
            "{other} can (keep|have|take|get) {give:list}",
            "({other}|you|them|him|her) [-] {give:list}",
            "[only|just] {give:list} (goes|go) to (you|{other})",
            "{give:list} yours",
            f"all [that] i (leave|give|offer) [to] {YOU} is {{give:list}}",
            f"{{give:list}} is all [that] (i (leave|give|offer) [to] {YOU}|{YOU} (get|gets))",
        ]
        start = (
            "[[i|i'd|i'll|i would|i will] (offer|propose|suggest|counter [with]|counteroffer"
            "|counterproposal) [that|to] [[we] (share|split|divide) [(it|this|them|everything)] "
            "[like this|this way|as follows|so] [.]]"
            "|[my|this is my|here is my] "
            "(offer|proposal|counteroffer|counter offer|suggestion|split) [is] [that|to]"
            "|(let's|let us) do (this|it like this|it this way)]"
        )
        first, second = f"({'|'.join(mine)})", f"({'|'.join(theirs)})"
        start = (
            "[everything [on the table] [(is mine|is for me|(goes|comes) to me|for me)] [.] [and] "
            f"[nothing [(for|to) {YOU}]] [.]] {start}"
        )
        start = f"[[for|as] a fair (split|division|share|deal) [.]] {start}"
        link = "[.] [and|while|with|so|but] [.]"
        splits = [
            f"{first} [{link} ({second[1:-1]}|{{other}} (take|keep) {{give:list}})]",
            f"{second} [{link} {first}]",
            f"[you] (keep|take|have) [your] {{give:list}} [then] {link} {first}",
            f"[you] (give|leave) me {{take:list}} [{link}] [you] (keep|take|have) {{give:list}}",
            f"{{take:list}} me {link} {{give:list}} (you|{{other}})",
        ]
        phrases = {
            "split": [
                *(f"{start} {split}" for split in splits),
                *(f"(how|what) about [that|if] {split} [?]" for split in splits),
            ],
            "half": (*EVENLY, "(we|both) [each|both] (get|take|receive) half"),
            "bare": [f"[just|only] {{take:list}} {only}", "[just|only] {take:list} it is"],
        }
        if len(self.goods) == 1:
            phrases["each"] = [
                "[i] [propose|offer|suggest] {amount} [for|to] (each|each of us|both of us|both)",
                "[we] (both|each) (get|take|receive) {amount}",
                f"({'|'.join(EVENLY)}) [.|with|that is] {{amount}} (each|for each [of us]|apiece)",
                "{amount} (each|apiece|for each of us)",
                "[i] [propose|offer|suggest] [a] {amount} (/|-) {second:amount} [split]",
                "[let's be fair|fair is fair] [.] {amount} (each|apiece|for each [of us])",
            ]
            phrases["favour"] = [
                "[i|my (proposal|offer|split) is] [propose|offer|suggest] [a] {amount} "
                "[(/|-|to)] {second:amount} [(split|division|share)] (in|to) (my|own|my own) "
                "(favour|favor|advantage)",
            ]
        return phrases

    def slots(self, agent: int) -> dict[str, Any]:
        return super().slots(agent) | {"list": bundles(self.goods)}

    def offered(self, seen: Observation, reading: Reading) -> np.ndarray:
        pool, values = seen["pool"], reading.values
        if reading.meaning == "half":
            return Bundle(whole="half").counts(self.goods, pool)
        if reading.meaning == "favour":
            share = max(values["amount"], values["second"])
            total, said = int(pool[0]), values["amount"] + values["second"]
            if said == 100 != total and not share * total % 100:
                share, said = share * total // 100, total
            if said != total:
                raise IllegalAction(f"the shares add up to {int(pool[0])}: say what you keep")
            values = {"take": Bundle(((0, share),))}
        if reading.meaning == "each":
            share, second = values["amount"], values.get("second", values["amount"])
            if share != second:
                # Whose is the first part of "60/40"? Where it is of a hundred, it is percent.
                total = int(pool[0])
                if share + second == 100 != total and not share * total % 100:
                    share = share * total // 100
                raise IllegalAction(f'say "keep {share}" or "give {share}"')
            values = {name: Bundle(((0, share),)) for name in ("take", "give")}
        if values.keys() >= {"take", "give"}:
            values = dict(values)
            for name, other in (("take", "give"), ("give", "take")):
                values[name] = values[name].left(values[other])
        parts = {
            name: values[name].counts(self.goods, pool)
            for name in ("take", "give")
            if name in values and values[name].whole != "rest"
        }
        if seen.phase == PICK and "take" not in values:
            raise IllegalAction("say what you take")
        if not parts:
            raise IllegalAction("say what the rest is left of")
        if reading.meaning == "bare" and values["take"].whole == "half":
            return parts["take"]  # the other half is left
        if reading.meaning == "bare" and seen.phase != PICK:
            words = amount(self.goods, parts["take"])
            raise IllegalAction(f'say whether you would "take" or "give" {words}')
        if any((part > pool).any() for part in parts.values()):
            raise IllegalAction(self.bounds_words(seen, pool))
        if len(parts) == 2 and (parts["take"] + parts["give"] != pool).any():
            there = amount(self.goods, pool)
            raise IllegalAction(f"the two parts do not add up to what is on the table, {there}")
        return parts["take"] if "take" in parts else pool - parts["give"]

    def means_standing(self, seen: Observation, content: np.ndarray) -> bool:
        standing = bool(seen.marked("offer_by"))
        return standing and bool((content == seen["pool"] - seen["offer"]).all())

    def accepts(self, seen: Observation, values: Mapping[str, Any]) -> bool:
        # The maker of the offer takes what it names.
        parts = {"theirs": seen["offer"], "list": seen["pool"] - seen["offer"]}
        return all(
            bool((values[name].counts(self.goods, seen["pool"]) == part).all())
            for name, part in parts.items()
            if name in values
        )

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
