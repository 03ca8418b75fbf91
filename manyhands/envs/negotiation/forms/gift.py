"""Gift: each round one player, the donor, may give to another, or punish it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import flat
from manyhands.core.choices import Form
from manyhands.core.env import Array, ConfigError, IllegalAction
from manyhands.core.layout import Piece, labelled
from manyhands.core.reading.grammar import Reading
from manyhands.envs.negotiation.forms.base import Choice, Deal, Turn
from manyhands.envs.negotiation.state import PASS, NegotiationState
from manyhands.envs.negotiation.words import Observation, amount


@dataclass(frozen=True, eq=False, kw_only=True)
class Gift(Choice):
    """A choice is i16[3]: coins given, coins spent on punishing, and in the log the receiver (from
    1, counted from the player who sees it).

    Attributes:
        max_gift: coins that a donor can give, or spend on punishing, at most.
        multiplier: how many coins arrive for each one given.
        punishment: whether a donor may take two coins from the receiver for each one spent.
    """

    terms = ("gain", "win", "given", "punished", "equality")
    event_kinds = ("give", "punish")
    chooses = "leader"
    how_to_offer = '"give <coins>"'
    choice_phase = "A gift may be made."
    choosing_nothing = "keep everything"
    receives = True
    shows_pool = False
    units = (*Choice.units, "unit")

    max_gift: int
    multiplier: int
    punishment: bool

    # ---- rules ------------------------------------------------------------------------------

    @property
    def is_fixed(self) -> bool:
        return super().is_fixed and self.players == 2  # otherwise the receiver is drawn

    def draw_receiver(self, key: Array, leader: Array) -> Array:
        """Anybody but the donor."""
        n = self.players
        if n == 2:
            return 1 - leader

        def draw(key: Array) -> Array:
            return jax.random.randint(key, (), 1, n)

        steps = jax.vmap(draw)(key) if key.ndim else draw(key)
        return ((leader + steps) % n).astype(jnp.uint8)

    def fits(self, state: NegotiationState, i: int, xp: Any) -> Array:
        offers = self.enumerated(state)
        return offers[:, 0] + offers[:, 1] <= state.holdings[i, 0][None]

    def settle(self, state: NegotiationState, turn: Turn) -> Turn:
        now, content = turn.finished, turn.content
        players = jnp.arange(self.players).reshape(-1, *[1] * state.time.ndim)
        donor = (players == state.turn[None]) & now[None]
        receives = (players == state.receiver[None]) & now[None]
        given, spent = content[:, 0] * donor, content[:, 1] * donor
        arrives = jnp.sum(given, axis=0) * self.multiplier
        taken = 2 * jnp.sum(spent, axis=0)
        own = state.holdings[:, 0]
        own = own - given - spent + jnp.where(receives, arrives[None], 0)
        own = jnp.where(receives, jnp.maximum(own - taken[None], 0), own)
        whom = jnp.where(donor, state.receiver[None] + 1, 0).astype(content.dtype)
        change = own[:, None] - state.holdings
        return turn._replace(
            holdings=own[:, None],
            gain=jnp.sum(change * state.values.astype(jnp.int32), axis=1),
            record=turn.record + jnp.stack([donor.astype(jnp.int16), given, spent], axis=1),
            shown=jnp.stack([content[:, 0], content[:, 1], whom], axis=1),
            terms={"given": given.astype(jnp.float32), "punished": spent.astype(jnp.float32)},
        )

    def best_joint(self, state: NegotiationState) -> Deal:
        raise ConfigError("what is best in the donor game depends on who is drawn to receive")

    # ---- observations -----------------------------------------------------------------------

    @property
    def most_given(self) -> int:
        return self.rounds * self.max_gift

    @property
    def most_owned(self) -> int:
        return int(self.holdings.max()) + self.most_given * self.multiplier

    @property
    def offer_names(self) -> list[str]:
        return ["given", "spent on punishing", "receiver"]

    def own_pieces(self, players: Sequence[str]) -> list[Piece]:
        record = labelled(players, ("donor", "given", "spent"))
        return [
            Piece("receiver", len(players), labels=players),
            Piece("record", len(record), high=self.most_given, labels=record),
        ]

    def observe_own(
        self, state: NegotiationState, i: int, order: Sequence[int], xp: Any
    ) -> dict[str, Array]:
        seats = xp.array(order).reshape(-1, *[1] * state.time.ndim)
        return {
            "receiver": seats == state.receiver[None],
            "record": flat(state.record[np.array(order)]),
        }

    def seen_offer(
        self, content: list[Array], i: int, order: Sequence[int], xp: Any
    ) -> list[Array]:
        given, spent, whom = content
        return [given, spent, xp.where(whom > 0, (whom - 1 - i) % self.players + 1, 0)]

    def true_state(self, state: NegotiationState) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        names = ("donor", "given", "punished")
        records = [dict(zip(names, row.tolist(), strict=True)) for row in state.record]
        receiver = self.agents[int(state.receiver)]
        return [{"record": record} for record in records], {"receiver": receiver}

    # ---- words ------------------------------------------------------------------------------

    def rules_words(self) -> list[str]:
        private = punish = ""
        low, high = self.values[0, 0].tolist()
        if low != high:
            private = f" A coin is worth something else ({low} to {high}) to each of you."
        if self.punishment:
            punish = " Or the donor spends coins on punishing: the receiver loses twice as many."
        return [
            f"Each of you starts with {int(self.holdings.max())} coins. In each of {self.rounds} "
            "rounds one of you, in turns, is the donor, and another one, drawn at random, the "
            f"receiver. The donor may give up to {self.max_gift} of its coins; the other gets "
            f"{self.multiplier} for each.{punish} All see what everybody owns and gave so far. You "
            f"gain what you own at the end beyond what you started with.{private}",
        ]

    def answer_words(self, agent: int) -> str:
        punish = f', "punish {min(2, self.max_gift)}"' if self.punishment else ""
        return f'"give {min(3, self.max_gift)}"{punish}, "pass" to keep all'

    @property
    def offer_hint(self) -> str:
        return self.how_to_offer + ', "punish with <coins>"' * self.punishment

    def decision_words(self) -> str:
        return "The donor chooses."

    def lead_words(self, seen: Observation, leader: int) -> str:
        return f"Donor: {seen.who(leader)}. Receiver: {seen.who(_receiver(seen))}."

    def own_words(self, seen: Observation) -> list[str]:
        lines = []
        for j, (times, given, spent) in enumerate(seen["record"].reshape(-1, 3)):
            punished = f", and spent {spent} on punishing" if self.punishment else ""
            how_often = f"{times} time{'' if times == 1 else 's'}"
            lines.append(f"As a donor {how_often}, {seen.who(j)} gave {given} in all{punished}.")
        return lines

    def offer_words(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        given, spent, whom = map(int, content)
        if spent:
            return f"{amount(self.goods, [spent])} to punish {seen.who(whom - 1)}"
        return f"{amount(self.goods, [given])} to {seen.who(whom - 1)}"

    def chosen_words(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        return f"{'spent' if content[1] else 'gave'} {self.offer_words(seen, maker, content)}"

    def entry_words(self, seen: Observation, entry: np.ndarray) -> str | None:
        if int(entry[1]) == PASS and entry[5]:
            return f"{seen.who(int(entry[0]) - 1)} gave nothing to {seen.who(entry[5] - 1)}"
        return super().entry_words(seen, entry)

    def choice_words(self, seen: Observation, content: np.ndarray) -> str:
        receiver = seen.who(_receiver(seen))
        if content[1]:
            coins, owned = amount(self.goods, content[1:2]), self._owned(seen, _receiver(seen))
            return f"punish with {coins}: {receiver} loses {min(2 * int(content[1]), owned)}"
        arrives = int(content[0] * self.multiplier)
        return f"give {amount(self.goods, content[:1])}: {receiver} gets {arrives}"

    @staticmethod
    def _owned(seen: Observation, place: int) -> int:
        """The coins of the player in this place."""
        return int(seen["own_holdings" if place == 0 else "other_holdings"][max(place - 1, 0)])

    def choice_facts(
        self, state: NegotiationState, agent: int, content: np.ndarray
    ) -> dict[str, Any] | None:
        given, spent, _ = map(int, content)
        receiver, own = int(state.receiver), state.holdings[:, 0].astype(int)
        left = max(int(own[receiver]) + given * self.multiplier - 2 * spent, 0)
        return {
            f"players.{agent}.holdings.{self.goods[0]}": int(own[agent]) - given - spent,
            f"players.{receiver}.holdings.{self.goods[0]}": left,
            "gain": -(given + spent) * int(state.values[agent, 0]),
        }

    def choice_forms(self, seen: Observation, contents: np.ndarray) -> Sequence[Form | None]:
        receiver, gifts = seen.who(_receiver(seen)), contents[contents[:, 1] == 0, 0]
        most = int(max(contents.max(), 1))
        give = Form(
            "give {coins}",
            f"any whole number from 1 to {int(gifts.max(initial=1))}; {receiver} gets "
            f"{self.multiplier} for each",
            {"coins": (1, int(gifts.max(initial=1)))},
        )
        punish = Form(
            "punish with {coins}",
            f"any whole number from 1 to {most}; {receiver} loses 2 for each",
            {"coins": (1, most)},
        )
        return [punish if content[1] else give for content in contents]

    def choice_event(self, content: Sequence[int]) -> dict[str, Any]:
        given, spent, whom = map(int, content)
        kind = "punish" if spent else "give"
        return {"event": kind, "coins": given + spent, "to": self.agents[whom - 1]}

    def full_words(self, seen: Observation) -> list[str]:
        return [f"A coin that is given costs one and brings the receiver {self.multiplier}."]

    def bounds_words(self, seen: Observation, content: np.ndarray) -> str:
        if content[1] and not self.punishment:
            return "nobody can be punished in this game"
        return f"you can spend at most {min(self.max_gift, int(seen['own_holdings'][0]))} coins"

    def offer_phrases(self, agent: int) -> Mapping[str, Sequence[str]]:
        whom = "({player}|them|him|her|the receiver|the recipient|my receiver)"
        if self.players == 2:
            whom = whom.replace("(", "(you|{other}|", 1)
        give = (
            "[be (generous|kind|nice|fair|modest|helpful) [here|today|this time|now] and] [i] "
            "[make] "
            "[a] (give|give away|donate|send|send over|transfer|pay|gift|hand|hand over|donation"
            "|gift|offer|contribute|settle on|part with)"
        )
        mine = "[of] [my] {amount} [of my [{owned:amount}] [coin]] [over|away]"
        purse = "my [whole|entire|full] (purse|fortune|wealth|money|stock)"
        everything = (
            "(everything|it all|all|all [of] my coin|all i have|everything i have"
            f"|[all [of]] {purse})"
        )
        favour = "(favour|favor|return|reward|something|gift|goodwill|help|it|trust|friendship)"
        # What somebody gives for.
        why = (
            "[[.] (a (good|nice|kind|fair|friendly|generous|decent) (start|gesture|gift)|as a "
            "(thank "
            "you|thanks|gesture|sign|token) [of (goodwill|trust|thanks|friendship)]|(expect|hope "
            f"for|in [the] hope of|count on|hoping for) [get|receive] [the|a|some] {favour} [in "
            "return|back|returned] [back|later|soon]|(to|should|will) (buy|earn|win|gain|keep|build"
            f"|secure|show) [me] [some|their|his|the|my|a bit of] ({favour}|generosity|reputation) "
            "[going|alive])]"
        )
        phrases = {
            "give": [
                f"{give} [to] [{whom}] {mine} [(to|for) {whom}] {why}",
                f"{{amount}} [of my [{{owned:amount}}] [coin]] [(go|goes)] [to|for] {whom} {why}",
                "{amount} [is (plenty|enough)] [.] [so|and] (that is|that's|it's|this is) my "
                f"(gift|donation) [(to|for) {whom}]",
                "[a] (small|little|big|large|generous|modest|tiny) (gift|donation) [of] {amount}",
                "({player}|the receiver|the recipient) (get|receive|have) {amount} "
                "[of my coin|from me|from my coin]",
                f"let {whom} have {mine}",
                f"(carry|put) {mine} to {whom}",
                f"(part with|make a present of|pass|pass on|slip|award|grant) {mine} [(to|for) "
                f"{whom}]",
                f"[i] share {mine} with {whom}",
                f"[my] (gift|donation) [is|of|will be] {{amount}} [(to|for|->) {whom}]",
                f"{give} [to] [{whom}] {mine} [(to|for) {whom}] as [a|my] (present|gift|donation)",
                f"make {whom} [a] (present|gift) of {{amount}}",
                "(match|answer|return|repay) (that|it|this) with [a] (gift|donation) of {amount}",
            ],
            "all": [
                f"{everything} (go|goes) to {whom} {why}",
                f"{give} [to] [{whom}] {everything} [(to|for) {whom}]",
                f"{give} [to] [{whom}] (everything i have|everything|it all) [.] {{amount}}",
                f"{give} [to] [{whom}] all [of] [my] {{amount}} [(to|for) {whom}]",
                "(everything|it all|all i have|all my coin) [.] [all] {amount}",
            ],
            "half": [
                f"{give} [to] {whom} half",
                "half",
                f"half [of] (my coin|{purse}) (go|goes) to {whom}",
                f"{give} [to] [{whom}] half [of] ([my] coin|what i (have|own)|{purse}) [(to|for) "
                f"{whom}]",
                f"{give} [to] [{whom}] half [of] ([my] coin|what i (have|own)) [.] {{amount}}",
            ],
            "nothing": [
                f"{give} [to] [{whom}] (nothing|no coin|none) [at all] [(to|for) {whom}]",
                f"[i] (keep|hold on to|hang on to) ({everything}|my coin|my money|all the "
                "coin) [for "
                "myself] [this round]",
            ],
            "punish": [
                f"punish [{whom}] [with|by spending] {{amount}}",
                f"(spend|use) {{amount}} [on|to|for] punish [{whom}]",
            ],
        }
        if not self.punishment:
            phrases["give"].append("{amount}")
        return phrases

    def offered(self, seen: Observation, reading: Reading) -> np.ndarray:
        values, receiver = reading.values, (_receiver(seen) + seen.agent) % self.players
        for name in ("player", "other"):
            if values.get(name, receiver) != receiver:
                raise IllegalAction(f"only {seen.names[_receiver(seen)]} can receive now")
        number, owned = values.get("amount", 0), int(seen["own_holdings"][0])
        if values.get("owned", owned) != owned:
            raise IllegalAction(f"you own {owned} coins")
        if reading.meaning in ("all", "half"):
            part = owned if reading.meaning == "all" else owned / 2
            if values.get("amount", int(part)) != part:
                raise IllegalAction(f"you own {owned} coins, and {reading.meaning} is {part:g}")
            number = int(part)
        return np.array([0, number, 0] if reading.meaning == "punish" else [number, 0, 0])

    # ---- pictures ---------------------------------------------------------------------------

    def caption(self, seen: Observation) -> str:
        donor = seen.marked("lead")
        return f"{seen.who(donor or 0)} may give to {seen.who(_receiver(seen))}"

    def own_facts(self, seen: Observation, place: int) -> list[str]:
        times, given, spent = seen["record"].reshape(-1, 3)[place]
        facts = [f"gave {given} in {times} turn{'' if times == 1 else 's'}"]
        return [*facts, *([f"punished with {spent}"] if self.punishment else [])]

    # ---- scripted players -------------------------------------------------------------------

    def scripted(
        self, style: str, seen: dict[str, Array], legal: Array, last: Array, count: Array
    ) -> tuple[Array, Array]:
        """`fair` gives half of what it can, `tit_for_tat` as much as the receiver gave on average
        when it was the donor."""
        can = jnp.minimum(seen["own_holdings"][0], self.max_gift)
        gift = (can + 1) // 2
        if style == "tit_for_tat":
            times, given, _ = seen["record"].reshape(-1, 3)[jnp.argmax(seen["receiver"])]
            mean = jnp.round(given / jnp.maximum(times, 1)).astype(jnp.int32)
            gift = jnp.where(times > 0, jnp.minimum(mean, can), gift)
        return gift, last


def _receiver(seen: Observation) -> int:
    """The place of the player who receives."""
    receiver = seen.marked("receiver")
    assert receiver is not None
    return receiver
