"""The legal actions of a negotiation in words, each with what it does.

What is certain has `facts` (see `core/choices.py`): the offer that stands, the deal that is made by
accepting and one's own part of it, an end of the game. What others answer, and what is chosen while
others choose, too, is not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.choices import Choice, Form, fold
from manyhands.core.talk import OTHER
from manyhands.envs.negotiation.forms import Bargain
from manyhands.envs.negotiation.state import (
    ACCEPT,
    CHAT,
    CLAIM,
    OFFER,
    PASS,
    PICK,
    PROPOSE,
    READY,
    REJECT,
    RESPOND,
    ROUNDS,
    SAY,
    TALK,
    TURNS,
    WALK,
    NegotiationState,
)
from manyhands.envs.negotiation.words import Observation, listed

if TYPE_CHECKING:
    from manyhands.envs.negotiation.env import Negotiation

LONGEST = 800  # characters of all lines together, above which families are told in one line each
SAYING = "one of the phrases of the rules, or other words"
TOO_LATE = "too late: nobody can answer in the last turn"

_PASSING = {
    TURNS: "let the turn go by",
    TALK: "say nothing",
    PROPOSE: "propose nothing; the round is lost",
    RESPOND: "no answer, which is a no",
}


def choices(
    env: Negotiation, state: NegotiationState, seen: Observation, able: np.ndarray, parts: bool
) -> list[Choice]:
    """The legal actions in action order.

    Args:
        able: bool[A], the player's row of `legal`.
        parts: where offers are composed, whether the amounts of each good follow, as parts of one.
    """
    return _Chooser(env, state, seen, able).all(parts)


def said_alone(words: str) -> str:
    """Words to say without what `choices` adds to them, where all phrases are one line."""
    return words.split(f": {SAYING}")[0]


def text_of(env: Negotiation, seen: Observation, kind: int, number: int) -> str:
    """An action in words, without its effect; not of an offer that is composed."""
    data, phrases = env.scenario, env.phrases
    if kind == SAY:
        return f"say: {phrases[number] if number < len(phrases) else OTHER}"
    if kind == CLAIM:
        verb = "pledge" if data.about == "pledge" else "claim"
        return f"{verb}: {data.claim_words(seen, number, True)}"
    if kind == OFFER:
        return data.choice_parts(seen, data.offers[number])[0]
    return {
        PASS: "pass", ACCEPT: "accept", REJECT: "reject", WALK: "walk away", READY: "ready"
    }[kind]  # fmt: skip


class _Chooser:
    """The choices of one player in one state."""

    def __init__(
        self, env: Negotiation, state: NegotiationState, seen: Observation, able: np.ndarray
    ):
        self.env, self.state, self.seen, self.able = env, state, seen, able
        self.data, self.phase, self.time = env.scenario, seen.phase, int(state.time)
        self.last = self.time + 1 >= env.max_steps
        number = int(state.round) + 1
        self.last_round = self.data.flow == ROUNDS and (self.last or number >= self.data.rounds)
        self.next: dict[str, Any] = {"time": self.time + 1}
        self.over = {**self.next, "over": True}
        # A round that is lost.
        self.lost = self.over if self.last_round else {**self.next, "round": number}
        self.me = env.agents[seen.agent]
        weights = env.reward_weights
        self.weight = weights["gain"]
        self.pays = not any(w for name, w in weights.items() if name != "gain")

    def paid(self, gain: float) -> dict[str, Any]:
        """The reward of a gain, where nothing else is rewarded."""
        return {f"reward.{self.me}": float(self.weight * gain)} if self.pays else {}

    def without(self) -> dict[str, Any]:
        """The facts of an end without a deal."""
        if self.data.accumulates:
            return {**self.over, **self.paid(0)}
        outside = int(self.seen["own_outside"][0]) if self.data.has_outside else 0
        return {**self.over, "deals": int(self.state.deals), **self.paid(outside)}

    def all(self, parts: bool) -> list[Choice]:
        found: list[Choice] = []
        for kind, (first, size) in enumerate(zip(self.env.first, self.env.sizes, strict=True)):
            numbers = np.flatnonzero(self.able[first : first + size])
            if not len(numbers):
                continue
            if kind == OFFER:
                found += self.offers(numbers)
            elif kind in (SAY, CLAIM):
                found += self.words(kind, numbers)
            else:
                found.append(self.plain(kind))
        if parts and self.data.composed and self.able.any():
            found += self.parts()
        return found

    def choice(self, kind: int, number: int, effect: str, facts: Any, **more: Any) -> Choice:
        text = text_of(self.env, self.seen, kind, number)
        action = self.env.action(kind, number)
        return Choice(text, effect, action, certain=facts is not None, facts=facts or {}, **more)

    # ---- moves without amounts ------------------------------------------------------------

    def plain(self, kind: int) -> Choice:
        if kind == PASS:
            return self.choice(PASS, 0, *self.passing())
        if kind == ACCEPT:
            return self.choice(ACCEPT, 0, *self.accepting())
        if kind == REJECT:
            maker = self.seen.marked("offer_by")
            assert maker is not None
            what = f"turn down the offer of {self.seen.who(maker)}"
            if self.phase == RESPOND:
                return self.choice(REJECT, 0, *self.refusing(what))
            if self.last:
                return self.choice(REJECT, 0, f"{what}; it was the last turn", self.over)
            return self.choice(REJECT, 0, what, {**self.next, "offer": None})
        if kind == READY:
            if self.last:
                return self.choice(READY, 0, "too late for the choice: both score 0", self.over)
            what = "end the talk; then both state in private what they take"
            return self.choice(READY, 0, what, {**self.next, "phase": "pick"})
        what = self.data.walking_away
        if not self.data.accumulates:
            worth = int(self.seen["own_outside"][0]) if self.data.has_outside else 0
            what += f", which is worth {worth} to you"
        if self.phase == RESPOND and self.data.players > 2:
            return self.choice(WALK, 0, f"{what}, unless the others make a deal", None)
        return self.choice(WALK, 0, what, self.without())

    def passing(self) -> tuple[str, Any]:
        """(the effect of a pass, its facts)."""
        if self.phase == RESPOND:
            return self.refusing(_PASSING[RESPOND])
        if self.phase == PICK:
            return self.choosing_nothing()
        what = _PASSING[self.phase]
        if self.phase == PROPOSE:
            return f"{what}{', and no deal is made' * self.last_round}", self.lost
        if not self.last:
            return what, self.next
        if self.phase == TURNS:
            what = "let the last turn go by"
            if not self.data.accumulates:
                return f"{what}; there is no deal", self.without()
        return what, self.over

    def choosing_nothing(self) -> tuple[str, Any]:
        what, i = self.data.choosing_nothing, self.seen.agent
        if self.data.flow == CHAT:
            return what, self.without()
        facts = dict(self.over if self.last_round else self.next)
        if self.data.accumulates:  # what others give or catch is not one's own
            for good, count in zip(self.data.goods, self.state.holdings[i].tolist(), strict=True):
                facts[f"players.{i}.holdings.{good}"] = count
        return what, facts

    def refusing(self, what: str) -> tuple[str, Any]:
        """(effect, facts) of a no to a proposal: alone it is decisive among two, or where all must
        agree."""
        if self.data.players == 2 or self.data.unanimous:
            if self.last_round:
                return f"{what}; then there is no deal at all", self.without()
            return what, self.lost
        return f"{what}; the others may still make it a deal", None

    def accepting(self) -> tuple[str, Any]:
        data, seen = self.data, self.seen
        maker = seen.marked("offer_by")
        assert maker is not None and isinstance(data, Bargain)
        means = data.offer_means(seen, maker, seen["offer"])
        late = int(self.state.round) if data.flow == ROUNDS else max(self.time - 1, 0)
        share = float(np.float32(data.discount**late))
        if share != 1:
            means += f", times {share:.3g}, for it is late"
        if self.phase == RESPOND:
            votes = data.players - 1 if data.unanimous else data.players // 2
            if votes > 1:
                others = "all" if votes == data.players - 1 else f"{votes - 1} more"
                return f"{means}, if {others} of the others accept, too", None
        facts = {**self.next, "deals": int(self.state.deals) + 1}
        if not data.accumulates or self.last:
            facts["over"] = True
        gain = data.offer_gain(seen, maker, seen["offer"])
        return means, facts if gain is None else {**facts, **self.paid(gain * share)}

    # ---- offers and choices in private ----------------------------------------------------

    def offers(self, numbers: np.ndarray) -> list[Choice]:
        if self.data.composed:
            return [self.composed()]
        contents = self.data.offers[numbers].astype(int)
        forms = self.data.choice_forms(self.seen, contents)
        if self.last and self.phase != PICK:
            late = {id(form): form for form in forms if form is not None}
            told = {k: dataclasses.replace(f, effect=TOO_LATE) for k, f in late.items()}
            forms = [None if form is None else told[id(form)] for form in forms]
        return [
            self.offer(int(number), content, form)
            for number, content, form in zip(numbers, contents, forms, strict=True)
        ]

    def offer(self, number: int, content: np.ndarray, form: Form | None) -> Choice:
        text, effect = self.data.choice_parts(self.seen, content)
        action = self.env.action(OFFER, number)
        if self.phase == PICK:
            facts = self.data.choice_facts(self.state, self.seen.agent, content)
            if facts is None:
                return Choice(text, effect, action, certain=False, form=form)
            gain = facts.pop("gain", None)
            facts |= self.over if self.last_round else self.next
            facts |= {} if gain is None else self.paid(gain)
            return Choice(text, effect, action, facts=facts, form=form)
        return Choice(text, self.too_late(effect), action, facts=self.stands(content), form=form)

    def stands(self, content: np.ndarray) -> dict[str, Any]:
        """The facts of making an offer."""
        facts = self.over if self.last else self.next
        return {**facts, "offer": list(map(int, content)), "offer_by": self.me}

    def too_late(self, effect: str) -> str:
        return TOO_LATE if self.last else effect

    def composed(self) -> Choice:
        """One example of an offer, with how much there can be in others."""
        bounds, start = [], self.env.moves
        for most in [*self.data.most, *self.data.most]:
            row = self.able[start : start + int(most) + 1]
            bounds.append(int(np.flatnonzero(row)[-1]))
            start += int(most) + 1
        limits = np.array(bounds)
        example = self.data.example(self.seen, limits)
        text, effect = self.data.composed_words(self.seen, limits)
        action = self.env.action(OFFER, 0, example)
        return Choice(text, self.too_late(effect), action, facts=self.stands(example))

    def parts(self) -> list[Choice]:
        """How much of each good is given, and asked for: alone, for nothing in return."""
        found, start, place = [], self.env.moves, 0
        for verb in ("give", "ask"):
            for good, most in zip(self.data.goods, self.data.most.tolist(), strict=True):
                effect = f"any part of an offer; alone, {verb} it for nothing"
                form = Form(f"{verb} {{count}} {good}", effect, {"count": (0, most)})
                for units in np.flatnonzero(self.able[start : start + most + 1]).tolist():
                    content = np.zeros(self.env.width, int)
                    content[place] = units
                    action = self.env.action(OFFER, 0, content) if units else self.env.noop
                    facts = self.stands(content) if units else {}
                    text = f"{verb} {units or 'no'} {good}"
                    found.append(Choice(text, "", action, facts=facts, form=form))
                start, place = start + most + 1, place + 1
        return found

    # ---- talk -----------------------------------------------------------------------------

    def words(self, kind: int, numbers: np.ndarray) -> list[Choice]:
        env, data = self.env, self.data
        if kind == SAY:
            form = Form("say: {words}", SAYING, {"words": (*env.phrases, OTHER)})
            return [self.choice(SAY, int(k), "", self.next, form=form) for k in numbers]
        form = self.claim_form(data.claims, data.claim_limits(self.seen.agent))
        found = []
        for number in numbers.tolist():
            good, stated = map(int, data.claims[number])
            path = f"players.{self.seen.agent}.claims.{data.goods[good]}"
            facts = {**self.next, path: stated}
            found.append(self.choice(CLAIM, number, "", facts, form=form))
        return found

    def claim_form(self, claims: np.ndarray, limits: str) -> Form:
        """All claims in one line: the goods with their ranges, and within which `limits` one can
        be true."""
        ranges = []
        for good in np.unique(claims[:, 0]).tolist():
            stated = claims[claims[:, 0] == good, 1]
            step = int(np.diff(stated).min()) if len(stated) > 1 else 1
            steps = f" by {step}" if step > 1 else ""
            name = f"{self.data.goods[good]} " if len(self.data.goods) > 1 else ""
            ranges.append((name, f"{int(stated.min())} to {int(stated.max())}{steps}"))
        if len({span for _, span in ranges}) == 1:
            names = [name.strip() for name, _ in ranges if name]
            words = f"{f'any of {listed(names)}, ' if names else ''}{ranges[0][1]}"
        else:
            words = ", ".join(name + span for name, span in ranges)
        verb = "pledge" if self.data.about == "pledge" else "claim"
        low, high = int(claims[:, 1].min()), int(claims[:, 1].max())
        words += f" ({limits})" if limits else ""
        return Form(f"{verb}: {{claim}}", f"{words}; it need not be true", {"claim": (low, high)})


def shortened(found: Sequence[Choice], limit: int | None) -> list[Choice]:
    """Choices told in at most about `LONGEST` characters: families in one line each where there are
    more than `limit` choices, or where they would be longer; None: all of them."""
    folded = fold(found, limit)
    if limit is not None and sum(map(len, folded)) + len(folded) > LONGEST:
        folded = fold(found, 0)
    return folded
