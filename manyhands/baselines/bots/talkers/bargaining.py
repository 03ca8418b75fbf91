"""Bargaining with beliefs: dividing goods or a sum, a price, exchanges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from manyhands.baselines.bots.talkers.beliefs import Goods, Limit, Market
from manyhands.baselines.bots.talkers.mind import Mind, given_up
from manyhands.envs.negotiation import hearing
from manyhands.envs.negotiation.forms import Shares
from manyhands.envs.negotiation.hearing import Heard, hear
from manyhands.envs.negotiation.state import (
    ACCEPT,
    CHAT,
    CLAIM,
    OFFER,
    PASS,
    PICK,
    READY,
    REJECT,
    RESPOND,
    SAY,
    TALK,
)


@dataclass
class Bargaining(Mind):
    """In turns, or in rounds of proposals.

    Attributes:
        first_left: how many useful offers were left at first.
        standing: its own offer that the other has not answered, or None.
        made: how often it made each offer.
    """

    dislike: ClassVar[str] = "that is too little for me"  # what it says of an offer

    first_left: int = 0
    standing: np.ndarray | None = None
    made: dict[tuple[int, ...], int] = field(default_factory=dict)

    def useful_left(self) -> int:
        """How many more offers of its own can still be answered, this one included."""
        if "rounds_left" in self.game.at:
            rounds = int(self.seen["rounds_left"][0])
            n = self.data.players
            played = self.data.rounds - rounds
            return sum((played + k) % n == self.agent for k in range(rounds))
        spare = 1 if self.data.flow == CHAT else 0
        return max((self.left - spare) // 2, 0)

    @property
    def last_chance(self) -> bool:
        """Whether nothing can be accepted after this step by this player."""
        if "rounds_left" in self.game.at:
            return int(self.seen["rounds_left"][0]) <= 1
        return self.left <= (3 if self.data.flow == CHAT else 2)

    def conceded(self, ahead: int = 0) -> float:
        """The share of its aspiration that it has given up, at this offer or one that comes
        later."""
        left = max(self.useful_left() - ahead, 0)
        if not self.first_left:
            self.first_left = max(left, 1)
        passed = 1.0 if left <= 1 else 1 - (left - 1) / max(self.first_left - 1, 1)
        return given_up(passed, self.manner.patience)

    def floor(self) -> float:
        return float(self.seen["own_outside"][0]) if "own_outside" in self.game.at else 0.0

    @property
    def maker(self) -> int | None:
        return self.seen.marked("offer_by")

    def agree(self) -> Any:
        kind = READY if self.data.flow == CHAT else ACCEPT
        return self.action(kind) if self.can(kind) else self.action(PASS)

    # ---- for subclasses -------------------------------------------------------------------

    def offers(self) -> np.ndarray:
        """i[O, K], what it can offer."""
        return self.data.offers[self.numbers()].astype(int)

    def numbers(self) -> np.ndarray:
        first = self.game.first[OFFER]
        return np.flatnonzero(self.legal[first : first + self.game.sizes[OFFER]])

    def mine(self, offers: np.ndarray, own: bool) -> np.ndarray:
        """f[O], what offers are worth to it: its own ones, or another's."""
        raise NotImplementedError

    def theirs(self, offers: np.ndarray, own: bool) -> np.ndarray:
        """f[O], what they are worth to the other (of several, to who gets least), as far as it
        believes."""
        raise NotImplementedError

    def tell(self) -> None:
        """Say something about what it values."""

    # ---- the same for all -----------------------------------------------------------------

    def move(self) -> Any:
        phase = self.seen.phase
        if phase == TALK:
            return self.discuss()
        if phase == PICK:
            return self.pick()
        if phase == RESPOND:
            return self.respond()
        return self.bargain()

    def discuss(self) -> Any:
        self.tell()
        if not self.words:
            self.say("let us share fairly", "fair")
        return self.action(PASS)

    def pick(self) -> Any:
        """As was agreed: one's own proposal, or the rest of the other's."""
        if self.maker is None:
            return self.action(PASS)
        part = self.seen["offer"] if self.maker == 0 else self.seen["pool"] - self.seen["offer"]
        which = np.flatnonzero((self.data.offers == part).all(1))
        if not len(which):
            return self.action(PASS)
        return self.action(OFFER, int(which[0]))

    def offered(self) -> float:
        return float(self.mine(self.seen["offer"][None], self.maker == 0)[0])

    def aspires(self, mine: np.ndarray, theirs: np.ndarray, ahead: int = 0) -> float:
        """What an offer has to be worth to it."""
        floor = self.floor()
        good = (mine > floor) & (theirs > 0)
        if not good.any():
            return float(mine.max(initial=floor))
        gains = (mine[good] - floor) * theirs[good]
        equal = float(mine[good][np.argmax(gains)])  # where the product of the gains is largest
        most = float(mine[good].max())
        start = equal + self.manner.asks * (most - equal)
        # It gives up what is more than equal, and at the end a little more than that.
        last = floor + 0.6 * (equal - floor)
        return start - (start - last) * self.conceded(ahead)

    def respond(self) -> Any:
        """To a proposal."""
        mine = self.offered()
        good = self.would_vote(mine) or (self.last_chance and mine > self.floor())
        if not good:
            self.say(self.dislike)
            return self.action(REJECT if self.can(REJECT) else PASS)
        return self.agree()

    def would_vote(self, mine: float) -> bool:
        equal = float(self.seen["pool"].sum()) / self.data.players
        return mine >= max(equal * (0.75 + 0.25 * self.manner.asks), self.floor() + 1e-6)

    def bargain(self) -> Any:
        numbers, offers = self.numbers(), self.offers()
        mine, theirs = self.mine(offers, True), self.theirs(offers, True)
        wants = self.aspires(mine, theirs)
        best = self.choose(offers, mine, theirs, wants)
        next_one = min(self.aspires(mine, theirs, 1), float(mine[best]) if len(mine) else np.inf)
        standing = self.maker is not None
        if standing and self.maker != 0:
            value = self.offered()
            enough = value >= next_one - 1e-6 and value > self.floor()
            last = self.last_chance and value >= self.floor() + (self.data.flow == CHAT) * 1e-6
            if enough or last:
                self.say("I like this offer")
                return self.agree()
            if self.turns:
                self.say(self.dislike, ("little", self.turns // 2))
        if standing and self.maker == 0 and self.data.flow == CHAT and self.left <= 3:
            return self.agree()  # one's own proposal is all that is left to agree on
        if not len(mine):
            return self.action(PASS)
        self.tell()
        if self.useful_left() <= 1:
            self.say("that is my last offer", "last")
        return self.action(OFFER, int(numbers[best]))

    def choose(self, offers: np.ndarray, mine: np.ndarray, theirs: np.ndarray, wants: float) -> int:
        """The offer to make: of those worth enough the best for both together."""
        if not len(offers):
            return 0
        enough = mine >= min(wants, float(mine.max())) - 1e-6
        tried = np.array([self.made.get(tuple(offer), 0) for offer in offers.tolist()])
        score = mine + theirs + 0.25 * np.minimum(mine, theirs) - 0.6 * tried
        return int(np.argmax(np.where(enough, score, -np.inf)))

    def saw(self, entry: np.ndarray) -> None:
        place, kind, word = map(int, entry[:3])
        content = entry[3:]
        if kind == OFFER and not word:
            if place == 1:
                key = tuple(content.tolist())
                self.made[key] = self.made.get(key, 0) + 1
                self.standing = content
            else:
                if self.standing is not None:
                    self.refused(self.standing)
                    self.standing = None
                self.they_offer(content)
        elif kind == REJECT and place != 1 and self.standing is not None:
            self.refused(self.standing)
            self.standing = None
        elif kind == CLAIM and place != 1:
            good, number = map(int, self.data.claims[word - 1])
            kind_of = hearing.WORTH if self.data.about == "value" else hearing.LIMIT
            if len(self.data.goods) == 1:
                kind_of = hearing.LIMIT
            speaker = (place - 1 + self.agent) % self.data.players
            self.heard(speaker, Heard(kind_of, good, number))
        elif kind == SAY and place != 1 and word <= len(self.game.phrases):
            phrase = self.game.phrases[word - 1]
            speaker = (place - 1 + self.agent) % self.data.players
            for heard in hear(self.game, phrase, speaker, self.seen):
                self.heard(speaker, heard)

    def they_offer(self, content: np.ndarray) -> None:
        """Another made an offer."""

    def refused(self, content: np.ndarray) -> None:
        """Another turned one's own offer down."""


# ---- dividing, by goods --------------------------------------------------------------------------


class Dividing(Bargaining):
    """What lies on the table, with several goods."""

    begun = False

    def start(self) -> None:
        if self.begun:
            return
        self.begun = True
        self.pool, self.values = self.seen["pool"].copy(), self.seen["own_values"].copy()
        table = self.data.table
        r = len(self.data.goods)
        possible = np.zeros((0, r), int)
        if table is not None:
            fits = (table[:, :r] == self.pool).all(1)
            columns = table[:, r:].reshape(-1, self.data.players, r)
            same = fits & (columns[:, self.agent] == self.values).all(1)
            possible = np.unique(columns[same][:, 1 - self.agent], axis=0)
        if len(possible) < 2:
            possible = _of_worth(self.pool, int(self.values @ self.pool))
        self.belief = Goods(possible, self.manner.doubt)
        self.whole = float(self.values @ self.pool)

    def parts(self, offers: np.ndarray, own: bool) -> tuple[np.ndarray, np.ndarray]:
        return (offers, self.pool - offers) if own else (self.pool - offers, offers)

    def mine(self, offers: np.ndarray, own: bool) -> np.ndarray:
        found: np.ndarray = (self.parts(offers, own)[0] @ self.values).astype(float)
        return found

    def theirs(self, offers: np.ndarray, own: bool) -> np.ndarray:
        found: np.ndarray = self.parts(offers, own)[1] @ self.belief.mean
        return found

    def they_offer(self, content: np.ndarray) -> None:
        self.belief.asked(content, self.whole)

    def refused(self, content: np.ndarray) -> None:
        self.belief.refused(self.pool - content, self.whole)

    def heard(self, speaker: int, heard: Heard) -> None:
        told = heard.kind in (hearing.WORTH, hearing.LIMIT)
        if told and heard.good is not None and heard.number is not None:
            self.belief.told(heard.good, heard.number)
        elif heard.kind in (hearing.MOST, hearing.LEAST) and heard.good is not None:
            self.belief.wants(heard.good, self.pool)
        elif heard.kind == hearing.USELESS and heard.good is not None:
            self.belief.spurns(heard.good)
        elif heard.kind == hearing.OFFER and heard.content is not None:
            self.belief.asked(np.array(heard.content), self.whole)

    def tell(self) -> None:
        goods, values = self.data.goods, self.values
        order = np.argsort(-values * self.pool, kind="stable").tolist()
        if not self.manner.reveals:
            best, worst = order[0], order[-1]
            self.say(f"I need the {goods[best]}s most", "best")
            if values[worst] == 0:
                self.say(f"I do not need the {goods[worst]}s", "worst")
            return
        untold = [k for k in order if ("value", k) not in self.spoken]
        told = [(goods[k], self.said_value(k)) for k in untold[: self.manner.reveals]]
        for k in untold[: self.manner.reveals]:
            self.spoken.add(("value", k))
        if told:
            self.say(_listed(told))
        if not self.turns:
            self.say("what do you need most?", "ask")

    def said_value(self, good: int) -> int:
        """What it says that a unit is worth to it."""
        true = int(self.values[good])
        if not self.manner.shades or not self.pool[good]:
            return true
        # More than the truth, of what it wants; the order of the goods stays.
        best = int(np.argmax(self.values * self.pool))
        return min(true + 1, 10) if good == best else true


def _of_worth(pool: np.ndarray, whole: int) -> np.ndarray:
    """i[M, R], values that make a pool worth so much."""
    ranges = [range(whole // max(int(count), 1) + 1) for count in pool]
    grid = np.stack(np.meshgrid(*ranges, indexing="ij"), -1).reshape(-1, len(pool))
    fits = grid[grid @ pool == whole]
    return fits if len(fits) else grid


def _listed(told: Sequence[tuple[str, int]]) -> str:
    """ "hat is worth 3 to me, ball 1, book 0"."""
    (good, value), *others = told
    rest = "".join(f", {other} {number}" for other, number in others)
    return f"{good} is worth {value} to me{rest}"


# ---- dividing a sum ------------------------------------------------------------------------------


class Splitting(Bargaining):
    """A sum of coins, among two or more."""

    def begin(self) -> None:
        self.needs: dict[int, int] = {}

    def start(self) -> None:
        self.total = int(self.data.pool[0])

    def shares(self, offers: np.ndarray, own: bool) -> np.ndarray:
        """i[O, N], everybody's part in this player's order."""
        if isinstance(self.data, Shares):
            return np.roll(offers, -self.agent, axis=1) if own else offers
        mine = offers[:, 0] if own else self.total - offers[:, 0]
        return np.stack([mine, self.total - mine], 1)

    def mine(self, offers: np.ndarray, own: bool) -> np.ndarray:
        shares = self.shares(offers, own) if own else offers
        if not own and not isinstance(self.data, Shares):
            shares = self.shares(offers, False)
        return shares[:, 0].astype(float)

    def theirs(self, offers: np.ndarray, own: bool) -> np.ndarray:
        shares = self.shares(offers, own).astype(float)
        worth = shares[:, 1:].copy()
        for j in range(1, self.data.players):
            need = self.needs.get((self.agent + j) % self.data.players, 0)
            worth[:, j - 1] -= np.maximum(need - worth[:, j - 1], 0)  # too little counts twice
        found: np.ndarray = worth.min(1)
        return found

    def aspires(self, mine: np.ndarray, theirs: np.ndarray, ahead: int = 0) -> float:
        equal = self.total / self.data.players
        start = equal + 0.5 * self.manner.asks * (self.total - equal) / max(
            self.data.players - 1, 1
        )
        return max(start - (start - equal) * self.conceded(ahead) * 0.5, self.floor())

    def choose(self, offers: np.ndarray, mine: np.ndarray, theirs: np.ndarray, wants: float) -> int:
        if not len(offers):
            return 0
        step = getattr(self.data, "step", 1)
        off = np.abs(mine - wants)
        near = off < step
        score = np.where(near, theirs + 1e-3 * mine, -1000 - off)
        return int(np.argmax(score))

    def heard(self, speaker: int, heard: Heard) -> None:
        if heard.kind in (hearing.LIMIT, hearing.LEAST) and heard.number is not None:
            believed = round(heard.number * (1 - self.manner.doubt))
            if heard.number <= self.total:
                self.needs[speaker] = max(self.needs.get(speaker, 0), believed)

    def tell(self) -> None:
        if self.floor() > 0 and self.manner.reveals:
            told = int(self.floor() * (1 + self.manner.shades) + 0.5)
            self.say(f"having no deal is worth {told} to me", "outside")
            return
        if self.manner.asks >= 0.5 and self.data.discussion:
            step = getattr(self.data, "step", 1)
            share = self.total / self.data.players * (1 + 0.5 * self.manner.asks)
            self.say(f"I need at least {int(share // step * step)}", "need")
        elif not self.turns:
            self.say("let us share fairly", "fair")


# ---- a price -------------------------------------------------------------------------------------


class Pricing(Bargaining):
    """Buying and selling."""

    dislike = "that price does not suit me"

    def begin(self) -> None:
        low, high = self.span(1 - self.agent)
        self.belief = Limit(np.arange(low, high + 1), self.agent == 1, self.manner.doubt)
        self.side = 1 if self.agent == 0 else -1
        self.wish: int | None = None

    def start(self) -> None:
        self.own = int(self.seen["own_values"][0])

    def span(self, player: int) -> tuple[int, int]:
        """From where to where a player's limit can be, as the rules tell it."""
        if self.data.limits_told:
            low, high = self.data.values[player, 0].tolist()
        else:
            low, high = self.data.offers.min(), self.data.offers.max()
        return int(low), int(high)

    def mine(self, offers: np.ndarray, own: bool) -> np.ndarray:
        return (offers[:, 0] - self.own).astype(float) * self.side

    def theirs(self, offers: np.ndarray, own: bool) -> np.ndarray:
        return (self.belief.mean - offers[:, 0].astype(float)) * self.side

    def they_offer(self, content: np.ndarray) -> None:
        self.belief.names(float(content[0]))

    def refused(self, content: np.ndarray) -> None:
        self.belief.refuses(float(content[0]))

    def heard(self, speaker: int, heard: Heard) -> None:
        if heard.kind in (hearing.LIMIT, hearing.LEAST) and heard.number is not None:
            self.belief.told(heard.number)
        elif heard.kind == hearing.OFFER and heard.content is not None:
            self.belief.names(float(heard.content[0]))
            self.wish = heard.content[0]

    def aspires(self, mine: np.ndarray, theirs: np.ndarray, ahead: int = 0) -> float:
        """Between a half of what there seems to be to gain, and all of it."""
        gains = np.arange(int(np.ptp(self.data.offers)) + 1)
        sure = self.belief.takes(self.own + self.side * gains)
        most = float(gains[sure > 0.3].max(initial=1))
        equal = max((self.belief.mean - self.own) * self.side / 2, 1.0)
        start = equal + self.manner.asks * max(most - equal, 0)
        last = max(min(float(gains[sure > 0.9].max(initial=0)), equal), 0.0)
        if self.useful_left() - ahead <= 1:
            return min(last, 1.0) if last < 1 else last
        return max(start - (start - last) * self.conceded(ahead), 1.0)

    def choose(self, offers: np.ndarray, mine: np.ndarray, theirs: np.ndarray, wants: float) -> int:
        """The price that is worth what it wants; what the other asked for, if it is worth more."""
        if not len(offers):
            return 0
        if self.wish is not None:
            asked = np.flatnonzero(offers[:, 0] == self.wish)
            if len(asked) and mine[asked[0]] >= wants - 1e-6:
                return int(asked[0])
        best = int(np.argmin(np.where(mine >= wants - 0.5, mine, np.inf)))
        return best

    def bargain(self) -> Any:
        action = super().bargain()
        self.wish = None
        return action

    def tell(self) -> None:
        if not self.manner.reveals:
            if self.turns:
                self.say("make me a better offer", ("better", self.turns // 2))
            return
        low, high = self.span(self.agent)
        told = self.own + round(self.side * self.manner.shades * (high - low) / 2)
        name = ("cost", "value")[self.agent]
        self.say(f"my {name} is about {min(max(told, low), high)}", "limit")


# ---- trading -------------------------------------------------------------------------------------


class Trading(Bargaining):
    """Bundles of goods, one exchange after the other."""

    def begin(self) -> None:
        r = len(self.data.goods)
        spans = self.data.spans()
        self.belief = Market(spans.T, self.manner.doubt)
        self.usual = spans.mean(0)
        # The most that it can own shows in what can be asked for.
        self.theirs_owned = 0.6 * self.data.holdings[1 - self.agent, :, 1]
        self.on_table: tuple[int, np.ndarray] | None = None
        self.known = np.zeros(r, bool)

    def start(self) -> None:
        self.values, self.own = self.seen["own_values"], self.seen["own_holdings"]
        if self.data.public:
            self.theirs_owned = self.seen["other_holdings"].astype(float)
            self.known[:] = True

    def saw(self, entry: np.ndarray) -> None:
        place, kind = int(entry[0]), int(entry[1])
        r = len(self.data.goods)
        if kind == OFFER:
            self.on_table = place, entry[3:].copy()
        elif kind == ACCEPT and self.on_table is not None:
            maker, content = self.on_table
            sign = 1 if maker != 1 else -1  # what the other has less of
            self.theirs_owned = self.theirs_owned - sign * (content[:r] - content[r:])
            self.theirs_owned = np.maximum(self.theirs_owned, 0)
        super().saw(entry)

    def they_offer(self, content: np.ndarray) -> None:
        r = len(self.data.goods)
        self.belief.offers(content[r:], content[:r])
        # It owns what it offers.
        self.theirs_owned = np.maximum(self.theirs_owned, content[:r])

    def heard(self, speaker: int, heard: Heard) -> None:
        if heard.good is None:
            return
        if heard.kind in (hearing.WORTH, hearing.LIMIT) and heard.number is not None:
            self.belief.told(heard.good, heard.number)
        elif heard.kind in (hearing.MOST, hearing.LEAST):
            self.belief.wants(heard.good)
        elif heard.kind == hearing.USELESS:
            self.belief.spurns(heard.good)
        elif heard.kind == hearing.OWNS and heard.number is not None:
            self.theirs_owned[heard.good] = heard.number
            self.known[heard.good] = True

    def plan(self, share: float) -> tuple[np.ndarray, float]:
        """(i[2R] an exchange that gives it this share of what both gain, its own gain)."""
        r, v, u = len(self.data.goods), self.values.astype(float), self.belief.mean
        caution = np.where(self.known, 1.0, 0.7)
        could = np.floor(self.theirs_owned * caution)
        start = self.game.moves + sum(int(m) + 1 for m in self.data.most)
        for k, most in enumerate(self.data.most.tolist()):
            able = np.flatnonzero(self.legal[start : start + most + 1])
            could[k] = min(could[k], able[-1] if len(able) else 0)
            start += most + 1
        give = np.where(u > v, self.own, 0).astype(float)
        get = np.where(v > u, could, 0).astype(float)
        spare, more = self.own - give, could - get
        price = u / np.maximum(v, 1e-6)  # what a unit is worth to the other, by its worth to it
        for _ in range(400):
            mine, theirs = float(get @ v - give @ v), float(give @ u - get @ u)
            over = mine - share * (mine + theirs)
            if abs(over) <= v.max() / 2:
                break
            # Who gets too much pays with what it values hardly more than the other, as long as
            # both together gain by it; else less is exchanged.
            taken = np.where(get > 0, price, -np.inf)
            paid = np.where(give > 0, price, np.inf)
            if over > 0:
                pay = int(np.argmax(np.where((spare > 0) & (get <= 0), price, -np.inf)))
                least = int(np.argmax(taken))
                if spare[pay] > 0 and get[pay] <= 0 and price[pay] > taken[least]:
                    give[pay], spare[pay] = give[pay] + 1, spare[pay] - 1
                elif get.any():
                    get[least], more[least] = get[least] - 1, more[least] + 1
                else:
                    break
            else:
                ask = int(np.argmin(np.where((more > 0) & (give <= 0), price, np.inf)))
                least = int(np.argmin(paid))
                if more[ask] > 0 and give[ask] <= 0 and price[ask] < paid[least]:
                    get[ask], more[ask] = get[ask] + 1, more[ask] - 1
                elif give.any():
                    give[least], spare[least] = give[least] - 1, spare[least] + 1
                else:
                    break
        if not give.any() or not get.any():
            return np.zeros(2 * r, int), 0.0
        return np.concatenate([give, get]).astype(int), float(get @ v - give @ v)

    def bargain(self) -> Any:
        r = len(self.data.goods)
        equal, start = 0.5, 0.5 + 0.35 * self.manner.asks
        share = start - (start - equal) * self.conceded()
        offer, gain = self.plan(share)
        if self.maker is not None and self.maker != 0 and self.can(ACCEPT):
            content = self.seen["offer"]
            get, give = content[:r], content[r:]
            mine = float((get - give) @ self.values)
            theirs = float((give - get) @ self.belief.mean)
            both = max(mine + theirs, mine)
            wanted = (share - 0.2) * both
            if mine > 0 and (mine >= min(wanted, 0.9 * gain) or self.left <= 4):
                self.say("I like this offer")
                return self.agree()
            if self.turns:
                self.say("that is too little for me", ("little", self.turns // 2))
        self.tell()
        if not offer.any() or gain <= 0 or not self.can(OFFER):
            return self.action(PASS)
        key = tuple(offer.tolist())
        if self.made.get(key, 0) > 1:  # the other cannot, or will not
            offer = self.smaller(offer)
        return self.action(OFFER, 0, offer)

    def smaller(self, offer: np.ndarray) -> np.ndarray:
        """Half of an offer, as the other may not own as much."""
        r = len(self.data.goods)
        half = (offer + 1) // 2
        mine = float(half[r:] @ self.values - half[:r] @ self.values)
        return half if mine > 0 and half[:r].any() and half[r:].any() else offer

    def tell(self) -> None:
        goods, values = self.data.goods, self.values
        if not self.manner.reveals:
            more = (values - self.usual) / np.maximum(self.usual, 1)
            order = np.argsort(-more).tolist()
            k = min(self.turns, len(order) // 2)
            self.say(f"I need {goods[order[k]]} most", ("want", order[k]))
            self.say(f"I have no use for {goods[order[-1 - k]]}", ("spare", order[-1 - k]))
            return
        untold = [k for k in range(len(goods)) if ("value", k) not in self.spoken]
        told = untold[: self.manner.reveals + 2 * (self.asked or not self.manner.shades)]
        for k in told:
            self.spoken.add(("value", k))
        if told:
            self.say(_listed([(goods[k], self.said_value(k)) for k in told]))
            if not self.data.public:
                self.say("I own " + ", ".join(f"{int(self.own[k])} {goods[k]}" for k in told))

    def said_value(self, good: int) -> int:
        true, usual = float(self.values[good]), float(self.usual[good])
        # Nearer to the average than the truth: as if it gained less.
        return round(true + self.manner.shades * (usual - true))
