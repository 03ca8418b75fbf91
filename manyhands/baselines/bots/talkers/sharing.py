"""Living together: catching from one lake, and giving."""

from __future__ import annotations

from typing import Any

import numpy as np

from manyhands.baselines.bots.talkers.mind import Mind
from manyhands.envs.negotiation import hearing
from manyhands.envs.negotiation.hearing import Heard
from manyhands.envs.negotiation.history import entries
from manyhands.envs.negotiation.state import (
    CLAIM,
    OFFER,
    PASS,
    PICK,
    TALK,
)

# ---- the commons ---------------------------------------------------------------------------------


class Fishing(Mind):
    """Catching from one lake."""

    def begin(self) -> None:
        self.pledges: dict[int, int] = {}
        self.month = -1

    def start(self) -> None:
        month = int(self.seen["rounds_left"][0])
        if month != self.month:
            self.month, self.pledges = month, {}

    def saw(self, entry: np.ndarray) -> None:
        place, kind, word = map(int, entry[:3])
        if kind == CLAIM and place != 1:
            self.pledges[(place - 1 + self.agent) % self.data.players] = int(
                self.data.claims[word - 1, 1]
            )

    def heard(self, speaker: int, heard: Heard) -> None:
        if heard.kind == hearing.PLEDGE and heard.number is not None:
            self.pledges[speaker] = heard.number

    def part(self) -> tuple[int, int]:
        """(its part of what grows back, what it catches now)."""
        n, stock = self.data.players, int(self.seen["pool"][0])
        most = min(int(self.data.offers.max()), stock)
        if int(self.seen["rounds_left"][0]) == 1:
            return min(stock // n, most), min(stock // n, most)
        spare = max(stock - self.data.most_left, 0)
        fair = spare // n
        beyond = sum(max(pledge - fair, 0) * (1 - self.manner.doubt)
                     for pledge in self.pledges.values())  # fmt: skip
        return fair, int(min(max(fair - beyond / n, 0), most))

    def move(self) -> Any:
        fair, catch = self.part()
        if self.seen.phase == TALK:
            before = entries(self.game, self.seen)
            caught = [e for e in before[-2 * self.data.players :] if e[1] == OFFER]
            if any(e[3] > fair + 2 and e[0] != 1 for e in caught[-self.data.players :]):
                self.say("somebody took too much")
                return self.action(PASS)
            pledges = self.data.claims[:, 1] if len(self.data.claims) else np.zeros(0, int)
            last = int(self.seen["rounds_left"][0]) == 1
            said = fair
            if self.manner.shades and last:
                said = fair // 2  # and then it takes its part all the same
            fits = np.flatnonzero(pledges >= said)
            if len(fits) and self.can(CLAIM):
                self.say("let us all take the same" if not self.turns else "I keep my promises",
                         "same" if not self.turns else "promise")  # fmt: skip
                return self.action(CLAIM, int(fits[0]))
            self.say(f"I will catch at most {said}")
            return self.action(PASS)
        if self.seen.phase == PICK and catch > 0:
            first = self.game.first[OFFER]
            numbers = np.flatnonzero(self.legal[first : first + self.game.sizes[OFFER]])
            fits = numbers[self.data.offers[numbers, 0] <= catch]
            if len(fits):
                return self.action(OFFER, int(fits[-1]))
        return self.action(PASS)


# ---- gifts ---------------------------------------------------------------------------------------


class Giving(Mind):
    """Giving to one who may never give back."""

    def reach(self) -> int:
        return min(int(self.seen["own_holdings"][0]), self.data.max_gift)

    def gift(self, receiver: int) -> int:
        """What it gives to the player in this place: less to one who gave little as a donor."""
        can = self.reach()
        times, given, _ = self.seen["record"].reshape(-1, 3)[receiver].tolist()
        full = self.manner.gives * can
        if times:
            generous = min(given / times / (0.5 * self.data.max_gift), 1.0)
            full *= generous
        return int(min(round(full), can))

    def move(self) -> Any:
        receiver, donor = self.seen.marked("receiver"), self.seen.marked("lead")
        if self.seen.phase == TALK:
            if donor == 0 and receiver is not None:
                promised = self.reach() if self.manner.shades else self.gift(receiver)
                if promised:
                    self.say(f"I will give {promised}")
                else:
                    self.say("that was selfish" if self.reach() else "I have nothing to give")
            elif receiver == 0:
                self.say("help those who help others")
            else:
                self.say("I keep my promises" if not self.turns else "trust me")
            return self.action(PASS)
        gift = self.gift(receiver or 0)
        first = self.game.first[OFFER]
        numbers = np.flatnonzero(self.legal[first : first + self.game.sizes[OFFER]])
        offers = self.data.offers[numbers]
        fits = numbers[(offers[:, 0] == gift) & (offers[:, 1] == 0)]
        return self.action(OFFER, int(fits[0])) if gift and len(fits) else self.action(PASS)
