"""Negotiations in words: rule book, description, choices, and reading what a player answers.

All that `describe` says is said from `Negotiation.sight`, the row of numbers that the player's
vector is made of, in sentences of a fixed form from which that row can be rebuilt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.env import Action, IllegalAction
from manyhands.core.talk import OTHER, clean, split_say
from manyhands.envs.negotiation.env import (
    ACCEPT,
    CLAIM,
    KINDS,
    OFFER,
    OVER,
    PASS,
    PICK,
    PROPOSE,
    READY,
    REJECT,
    RESPOND,
    SAY,
    TALK,
    TURNS,
    WALK,
)
from manyhands.envs.negotiation.scenarios import (
    CHAT,
    EXCHANGE,
    GIFT,
    HARVEST,
    MOST,
    POOL,
    PRICE,
    ROUNDS,
    SHARES,
)

if TYPE_CHECKING:
    from manyhands.envs.negotiation.env import Negotiation, NegotiationState

MAX_ANSWER = 2_000  # characters that `parse` reads
_COUNTED = frozenset(["book", "hat", "ball", "coin", "ton", "item"])  # the others have no plural

# ---- things in words -----------------------------------------------------------------------------


def _plural(good: str, count: int) -> str:
    return f"{good}s" if good in _COUNTED and count != 1 else good


def amount(goods: tuple[str, ...], counts: Any) -> str:
    """ "2 books, 1 hat and 3 balls", or "nothing"."""
    parts = [f"{c} {_plural(g, c)}" for g, c in zip(goods, map(int, counts), strict=True) if c]
    return _listed(parts) if parts else "nothing"


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


class Sight:
    """What one player may know, by name (`Negotiation.sight`)."""

    def __init__(self, env: Negotiation, state: NegotiationState, agent: int, you: bool = True):
        self.env, self.agent, self.data = env, agent, env.scenario
        self.you = you  # whether the player itself is called so
        self.row = env.sight(state, agent).astype(int)
        n = env.num_agents
        self.names = [env.agents[(agent + j) % n] for j in range(n)]
        self.phase = env.phases[int(np.argmax(self["phase"]))]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.row[self.env.at[name]]

    def who(self, number: int, capital: bool = False) -> str:
        """The player in place `number` of this player's order: "you", or a name."""
        if number or not self.you:
            return self.names[number]
        return "You" if capital else "you"

    def verb(self, number: int, word: str) -> str:
        """A verb in the form for the player in place `number`."""
        return word if number == 0 and self.you else f"{word}s"

    def marked(self, name: str) -> int | None:
        """The place of the player whose bit is set."""
        bits = np.flatnonzero(self[name])
        return int(bits[0]) if len(bits) else None

    def worth(self, counts: Any) -> int:
        return int(np.dot(self["own_values"], counts))

    # ---- offers ---------------------------------------------------------------------------

    def offer_words(self, maker: int, content: np.ndarray) -> str:
        """What an offer (catch, gift) of the player in place `maker` says."""
        data, goods = self.data, self.data.goods
        if data.form == POOL:
            return f"{self.who(maker)} {self.verb(maker, 'take')} {amount(goods, content)}"
        if data.form == PRICE:
            return f"a price of {int(content[0])}"
        if data.form == SHARES:
            return ", ".join(f"{c} for {self.who(j)}" for j, c in enumerate(content))
        if data.form == EXCHANGE:
            r = len(goods)
            return f"{amount(goods, content[:r])} for {amount(goods, content[r:])}"
        if data.form == HARVEST:
            return amount(goods, content)
        given, spent, whom = map(int, content)
        if spent:
            return f"{amount(goods, [spent])} to punish {self.who(whom - 1)}"
        return f"{amount(goods, [given])} to {self.who(whom - 1)}"

    def offer_means(self, maker: int, content: np.ndarray) -> str:
        """What accepting an offer would mean to this player."""
        data, goods = self.data, self.data.goods
        if data.form == POOL:
            mine = content if maker == 0 else self["pool"] - content
            worth = f", worth {self.worth(mine)} to you" if len(goods) > 1 else ""
            return f"you get {amount(goods, mine)}{worth}"
        if data.form == PRICE:
            limit = int(self["own_values"][0])
            gain = int(content[0]) - limit
            return f"you gain {gain if self.agent == 0 else -gain}"
        if data.form == SHARES:
            return f"you get {amount(goods, [content[0]])}"
        r = len(goods)
        get, give = content[:r], content[r:]
        if maker == 0:
            get, give = give, get
        change = self.worth(get) - self.worth(give)
        return f"you give {amount(goods, give)}, get {amount(goods, get)} and gain {change}"

    # ---- moves ----------------------------------------------------------------------------

    def claim_words(self, number: int, mine: bool) -> str:
        """A claim, as its maker says it."""
        good, value = map(int, self.data.claims[number])
        if self.data.about == "pledge":
            return f"I will catch at most {value} {_plural('ton', value)}"
        if self.data.about == "outside":
            return f"having no deal is worth {value} to me"
        if self.data.form == PRICE:
            seller = (self.agent == 0) == mine
            return f"my {'cost' if seller else 'value'} is about {value}"
        return f"{self.data.goods[good]} is worth {value} to me"

    def move_words(self, entry: np.ndarray) -> str:
        """A line of the history: who did what."""
        number, kind, word = map(int, entry[:3])
        place, content = number - 1, entry[3:]
        form, who = self.data.form, self.who(number - 1)
        if form == HARVEST and kind == OFFER:
            caught = f"caught {amount(self.data.goods, content)}"
            return f"{who} {caught}"
        if form == GIFT and kind == OFFER:
            verb = "spent" if content[1] else "gave"
            return f"{who} {verb} {self.offer_words(place, content)}"
        if form == GIFT and content[2]:
            return f"{who} kept everything from {self.who(int(content[2]) - 1)}"
        if kind == SAY:
            said = OTHER if word > len(self.env.phrases) else f'"{self.env.phrases[word - 1]}"'
            return f"{who} said: {said}"
        if kind == CLAIM:
            verb = "pledged" if self.data.about == "pledge" else "claimed"
            return f'{who} {verb}: "{self.claim_words(word - 1, place == 0)}"'
        if kind == OFFER:
            if word:
                return f"{who} chose in private: {self.offer_words(place, content)}"
            verb = "propose" if self.data.flow in (CHAT, ROUNDS) else "offer"
            return f"{who} {self.verb(place, verb)}: {self.offer_words(place, content)}"
        return f"{who}: {KINDS[kind]}"

    def entries(self) -> np.ndarray:
        """[moves, 3 + K], the moves that are remembered."""
        log = self["log"].reshape(self.env.memory, -1)
        return log[log[:, 0] > 0]


def history(env: Negotiation, state: NegotiationState) -> list[str]:
    """The last moves in words, with everybody's name."""
    look = Sight(env, state, 0, you=False)
    return [look.move_words(entry) for entry in look.entries()]


# ---- description ---------------------------------------------------------------------------------


def describe(env: Negotiation, state: NegotiationState, agent: int) -> str:
    """What the player knows, as text."""
    look = Sight(env, state, agent)
    data, goods, form = look.data, look.data.goods, look.data.form
    left = int(look["steps_left"][0])
    played = env.max_steps - left
    if look.phase == OVER:
        lines = [f"It is over, after {played} of at most {env.max_steps} turns."]
    else:
        lines = [f"Turn {played + 1} of at most {env.max_steps}. {_PHASES[look.phase](look)}"]
    if data.flow == ROUNDS:
        rounds = int(look["rounds_left"][0])
        if rounds:
            now = f"{_round(form).capitalize()} {data.rounds - rounds + 1} of {data.rounds}."
        else:
            now = f"All {data.rounds} {_round(form)}s have been played."
        lines.append(f"{now} {_lead(look)}")
    movers = [look.who(int(j)) for j in np.flatnonzero(look["to_move"])]
    together = " (at the same time)" if len(movers) > 1 else ""
    lines.append(f"To move: {_listed(movers) if movers else 'nobody'}{together}.")
    role = f", {data.roles[agent]}" if data.roles else ""
    lines.append(f"You are {env.agents[agent]}{role}.")
    if "pool" in env.at:
        where = "In the lake" if form == HARVEST else "On the table"
        lines.append(f"{where}: {amount(goods, look['pool'])}.")
    if form == PRICE:
        lines.append(f"Your {'cost' if agent == 0 else 'value'}: {look['own_values'][0]}.")
    else:
        worth = ", ".join(f"{g} {v}" for g, v in zip(goods, look["own_values"], strict=True))
        lines.append(f"Worth to you, each: {worth}.")
    if "own_outside" in env.at:
        lines.append(f"Having no deal is worth {look['own_outside'][0]} to you.")
    if "own_holdings" in env.at:
        verb = "have caught" if form == HARVEST else "own"
        lines.append(f"You {verb}: {_owned(goods, look['own_holdings'])}.")
        if "other_holdings" in env.at:
            verb = "has caught" if form == HARVEST else "owns"
            rows = look["other_holdings"].reshape(-1, len(goods))
            for name, row in zip(look.names[1:], rows, strict=True):
                lines.append(f"{name} {verb}: {_owned(goods, row)}.")
    if "own_gain" in env.at:
        lines.append(f"Your gain so far: {look['own_gain'][0]}.")
    if "record" in env.at:
        for j, (times, given, spent) in enumerate(look["record"].reshape(-1, 3)):
            punished = f", and spent {spent} on punishing" if data.extra["punishment"] else ""
            how_often = f"{times} time{'' if times == 1 else 's'}"
            lines.append(f"As a donor {how_often}, {look.who(j)} gave {given} in all{punished}.")
    if "offer" in env.at:
        maker = look.marked("offer_by")
        if maker is None:
            lines.append("Standing offer: none.")
        else:
            words = look.offer_words(maker, look["offer"])
            means = look.offer_means(maker, look["offer"])
            lines.append(f"Standing offer, by {look.who(maker)}: {words} (then {means}).")
    if "claims" in env.at:
        lines.append(_claims(look))
    if "deals" in env.at:
        lines.append(f"Deals so far: {look['deals'][0]}.")
    entries = look.entries()
    if not len(entries):
        lines.append("History: nothing yet.")
    else:
        lines.append("History, oldest first:")
        lines += [f"- {look.move_words(entry)}" for entry in entries]
    return "\n".join(lines)


def _owned(goods: tuple[str, ...], counts: Any) -> str:
    return ", ".join(f"{int(c)} {_plural(g, int(c))}" for g, c in zip(goods, counts, strict=True))


def _round(form: str) -> str:
    return "month" if form == HARVEST else "round"


def _lead(look: Sight) -> str:
    """What the leader of the round does."""
    lead = look.marked("lead")
    assert lead is not None
    if look.data.form == GIFT:
        receiver = look.marked("receiver")
        assert receiver is not None
        return f"Donor: {look.who(lead)}. Receiver: {look.who(receiver)}."
    if look.data.form == HARVEST:
        return f"{look.who(lead, True)} {look.verb(lead, 'speak')} first."
    return f"{look.who(lead, True)} {look.verb(lead, 'propose')}."


_PHASES = {
    TURNS: lambda look: "Offers and talk.",
    TALK: lambda look: "Discussion.",
    PROPOSE: lambda look: "A proposal is to be made.",
    RESPOND: lambda look: "The proposal is to be answered.",
    PICK: lambda look: {
        HARVEST: "Harvest.",
        GIFT: "A gift may be made.",
    }.get(look.data.form, "The talk is over: each states in private what it takes."),
}


def _claims(look: Sight) -> str:
    """What players said about themselves, last of each good."""
    told = look["claims"].reshape(len(look.names), -1)
    parts = []
    for j, row in enumerate(told):
        said = [
            f"{good} {value - 1}" for good, value in zip(look.data.goods, row, strict=True) if value
        ]
        if said:
            parts.append(f"{look.who(j)}: {', '.join(said)}")
    name = {"pledge": "Pledged catches, at most", "outside": "Claimed worth of no deal"}
    return f"{name.get(look.data.about, 'Claimed worth, each')}: {'; '.join(parts) or 'none'}."


# ---- choices -------------------------------------------------------------------------------------


def choices(env: Negotiation, state: NegotiationState, agent: int) -> list[str]:
    """The legal actions in words; in a trade, the legal parts of one."""
    look = Sight(env, state, agent)
    legal = env._legal(state, np)[agent]
    words = []
    for kind, (first, size) in enumerate(zip(env.first, env.sizes, strict=True)):
        for number in np.flatnonzero(legal[first : first + size]):
            words.append(_choice(look, kind, int(number)))
    if look.data.form == EXCHANGE and legal.any():
        start = env.moves
        for verb in ("give", "ask"):
            for good, most in zip(look.data.goods, env.most, strict=True):
                for units in np.flatnonzero(legal[start : start + int(most) + 1]):
                    words.append(f"{verb} {units or 'no'} {good}")
                start += int(most) + 1
    return words


def _choice(look: Sight, kind: int, number: int) -> str:
    data, phase, goods = look.data, look.phase, look.data.goods
    maker = look.marked("offer_by") if "offer_by" in look.env.at else None
    if kind == PASS:
        return f"pass: {_PASSING[phase](look)}"
    if kind in (ACCEPT, REJECT):
        assert maker is not None
        if kind == REJECT:
            return f"reject: turn down the offer of {look.who(maker)}"
        return f"accept: {look.offer_means(maker, look['offer'])}"
    if kind == WALK:
        ends = (
            "end the game, keeping what you own" if data.form == EXCHANGE else "end without a deal"
        )
        return f"walk away: {ends}"
    if kind == READY:
        return "ready: end the talk; then both state in private what they take"
    if kind == SAY:
        phrases = look.env.phrases
        return f"say: {phrases[number] if number < len(phrases) else OTHER}"
    if kind == CLAIM:
        verb = "pledge" if data.about == "pledge" else "claim"
        return f"{verb}: {look.claim_words(number, True)}"
    if data.form == EXCHANGE:
        give, get = _example(look)
        return f"offer {amount(goods, give)} for {amount(goods, get)}, or other amounts"
    content = data.offers[number]
    if data.form == POOL:
        verb = (
            "take" if phase == PICK else "propose to take" if data.flow == CHAT else "offer to take"
        )
        rest = amount(goods, look["pool"] - content)
        worth = f"worth {look.worth(content)} to you, " if len(goods) > 1 else ""
        return f"{verb} {amount(goods, content)}: {worth}{look.names[1]} gets {rest}"
    if data.form == PRICE:
        return f"offer {look.offer_words(0, content)}: {look.offer_means(0, content)}"
    if data.form == SHARES:
        order = [(look.agent + j) % len(look.names) for j in range(len(look.names))]
        return f"propose: {look.offer_words(0, content[order])}"
    if data.form == HARVEST:
        return f"catch {amount(goods, content)}"
    receiver = look.marked("receiver")
    assert receiver is not None
    if content[1]:
        coins = amount(goods, content[1:2])
        return f"punish with {coins}: {look.who(receiver)} loses {2 * content[1]}"
    arrives = int(content[0] * data.extra["multiplier"])
    return f"give {amount(goods, content[:1])}: {look.who(receiver)} gets {arrives}"


def words(env: Negotiation, action: Any, state: NegotiationState, agent: int) -> str:
    """A whole action in words."""
    look, row = Sight(env, state, agent), np.atleast_1d(np.asarray(action)).astype(int)
    kind = max(k for k, size in enumerate(env.sizes) if size and env.first[k] <= row[0])
    if env.scenario.form == EXCHANGE and kind == OFFER:
        return f"offer {look.offer_words(0, row[1:])}"
    return _choice(look, kind, int(row[0]) - env.first[kind])


_PASSING = {
    TURNS: lambda look: "let the turn go by",
    TALK: lambda look: "say nothing",
    PROPOSE: lambda look: "propose nothing; the round is lost",
    RESPOND: lambda look: "no answer, which is a no",
    PICK: lambda look: {HARVEST: "catch nothing", GIFT: "keep everything"}.get(
        look.data.form, "take nothing; there is no deal"
    ),
}


def _example(look: Sight) -> tuple[np.ndarray, np.ndarray]:
    """A small offer that this player can make: one unit for one of another good."""
    count = len(look.data.goods)
    give, get = np.zeros(count, int), np.zeros(count, int)
    owned = np.flatnonzero(look["own_holdings"])
    if len(owned):
        give[owned[0]] = 1
    wanted = [k for k in range(count) if not give[k]] or [0]
    get[wanted[0]] = not len(owned) or count > 1
    return give, get


# ---- rules ---------------------------------------------------------------------------------------


def rules(env: Negotiation, agent: int) -> str:
    """The rule book of one player."""
    data, n = env.scenario, env.num_agents
    others = [name for i, name in enumerate(env.agents) if i != agent]
    role = f", {data.roles[agent]}" if data.roles else ""
    lines = [
        f"NEGOTIATION: {data.name.replace('_', ' ').upper()}",
        f"You are {env.agents[agent]}{role}; the other{'s are' * (n > 2) or ' is'} "
        f"{_listed(others)}. The game lasts {env.max_steps} turns at most.",
        *_GAMES[data.form](env, agent),
        _aim(env),
        "",
        "TURNS",
        *_turns(env),
    ]
    if data.claims.size and env.sizes[CLAIM]:
        what = {
            "pledge": "A pledge names the most that you will catch in this month's harvest.",
            "outside": "A claim states what having no deal is worth to you.",
        }.get(data.about, "A claim states what something is worth to you.")
        lines.append(f"{what} Nothing forces it to be true.")
    if env.chat is not None:
        lines += ["", "TALKING", *_talking(env)]
    lines += ["", "HOW TO ANSWER", *_answering(env, agent)]
    return "\n".join(lines)


def _pool_rules(env: Negotiation, agent: int) -> list[str]:
    data = env.scenario
    if data.flow == ROUNDS:
        pool = amount(data.goods, data.pool)
        late = _late(env, "round r", "r - 1")
        return [
            f"The two of you can share {pool}. One proposes, the other accepts or not; after a "
            f"refusal {'the other one proposes, ' if data.rounds > 1 else ''}"
            f"{f'for {data.rounds} rounds in all; after the last ' if data.rounds > 1 else ''}"
            f"there is no deal, and nobody gets any of it.{late}",
            *_outside_rules(env),
        ]
    private = (
        "Books, hats and balls lie on the table, for the two of you to divide. What each is worth "
        "to you, only you know; the other has other values. All together are worth "
        "10 to each of you; each kind is worth something to at least one of you, and at least one "
        "kind to both."
    )
    if data.flow == CHAT:
        return [
            private,
            "You talk and propose in turns; proposals bind nobody. When one of you ends the talk "
            "(ready), both state in private what they take. If the two parts together are exactly "
            "what lies on the table, each scores the worth of its part. Otherwise, or if the "
            "turns run out before, both score 0.",
        ]
    return [
        private,
        "You make offers in turns. Who accepts the standing offer makes it the deal, and each "
        "scores the worth of its part. Without a deal both score 0."
        + _late(env, "turn t", "t - 2"),
    ]


def _late(env: Negotiation, when: str, power: str) -> str:
    data, words = env.scenario, ""
    if data.discount != 1:
        words += f" A deal in {when} is worth {data.discount:g} to the power {power} of that."
    if data.break_off:
        words += (
            f" After each turn talks break off without a deal with probability {data.break_off:g}."
        )
    return words


def _outside_rules(env: Negotiation) -> list[str]:
    if not env.scenario.has_outside:
        return []
    low, high = env.scenario.outside[0].tolist()
    if low == high:
        return [f"Without a deal each of you gets {low} from elsewhere."]
    return [
        f"Without a deal each of you gets something from elsewhere: a number from {low} to {high}, "
        "drawn for each, which only that player knows."
    ]


def _price_rules(env: Negotiation, agent: int) -> list[str]:
    data = env.scenario
    drawn = ""
    if (data.values[..., 0] < data.values[..., 1]).any():
        (c_low, c_high), (v_low, v_high) = data.values[:, 0].tolist()
        drawn = f"The cost is drawn from {c_low} to {c_high}, the value from {v_low} to {v_high}. "
    low, high = int(data.offers.min()), int(data.offers.max())
    return [
        "The seller can sell one item to the buyer. If you agree on a price, the seller gains the "
        "price less its cost, the buyer its value less the price; that can be a loss. Without a "
        f"deal nobody gains anything. Prices are whole numbers from {low} to {high}.",
        f"{drawn}Only the seller knows the cost, and only the buyer the value."
        + _late(env, "turn t", "t - 2"),
    ]


def _shares_rules(env: Negotiation, agent: int) -> list[str]:
    data, n = env.scenario, env.num_agents
    step = int(np.unique(data.offers)[1]) if len(np.unique(data.offers)) > 1 else 1
    need = "all of you" if data.unanimous else f"more than half of you ({n // 2 + 1} of {n})"
    return [
        f"You can share {amount(data.goods, data.pool)}, in multiples of {step}. In each round one "
        "of you (in turns) proposes a share for everybody, and the others vote at the same time; "
        f"if {need} are for it, the proposer counted, that is the deal, and the game is over. "
        f"There are {data.rounds} rounds; after the last there is no deal, and nobody gets any."
        + _late(env, "round r", "r - 1"),
        *_outside_rules(env),
    ]


def _exchange_rules(env: Negotiation, agent: int) -> list[str]:
    data = env.scenario
    lows, highs = data.values[..., 0].min(0), data.values[..., 1].max(0)
    spans = [
        f"{g} {a}" if a == b else f"{g} {a} to {b}"
        for g, a, b in zip(data.goods, lows, highs, strict=True)
    ]
    seen = "both of you see" if data.public else "only its owner sees"
    return [
        f"Each of you owns some {_listed(list(data.goods))}; what somebody owns, {seen}. You offer "
        "some of your goods for some of the other's; who accepts makes the exchange, if both own "
        "what they are to give, and the game goes on. "
        "What a unit is worth to you, only you know; to the other it is worth something else "
        f"({', '.join(spans)}, for either of you). Your gain is by how much the worth of all that "
        "you own grows.",
    ]


def _harvest_rules(env: Negotiation, agent: int) -> list[str]:
    data = env.scenario
    extra, most = data.extra, int(data.offers.max())
    private = ""
    low, high = data.values[0, 0].tolist()
    if low != high:
        private = f" A ton is worth something else ({low} to {high}) to each of you."
    return [
        f"You fish in one lake, for {data.rounds} months. In each month all catch at the same "
        f"time, 0 to {most} tons each; if together you want more than there is, each gets the same "
        f"share of its wish. Then what is left is multiplied by {extra['growth']:g}, up to "
        f"{int(extra['capacity'])} tons. If fewer than {int(extra['collapse'])} tons are left "
        "after a harvest, the lake is empty for ever and the game is over. You gain what you catch."
        + private,
    ]


def _gift_rules(env: Negotiation, agent: int) -> list[str]:
    data = env.scenario
    extra = data.extra
    private = ""
    low, high = data.values[0, 0].tolist()
    if low != high:
        private = f" A coin is worth something else ({low} to {high}) to each of you."
    punish = (
        " Or the donor spends coins on punishing: the receiver loses twice as many."
        if extra["punishment"]
        else ""
    )
    return [
        f"Each of you starts with {int(data.holdings.max())} coins. In each of {data.rounds} "
        "rounds one of you, in turns, is the donor, and another one, drawn at random, the "
        f"receiver. The donor may give up to {int(extra['max_gift'])} of its coins; the other gets "
        f"{int(extra['multiplier'])} for each.{punish} All see what everybody owns and gave so "
        f"far. You gain what you own at the end beyond what you started with.{private}",
    ]


_GAMES = {
    POOL: _pool_rules,
    PRICE: _price_rules,
    SHARES: _shares_rules,
    EXCHANGE: _exchange_rules,
    HARVEST: _harvest_rules,
    GIFT: _gift_rules,
}

_DEEDS = {
    "gain": "for each point that you gain",
    "win": "if you gain most (the opposite if another one does, nothing if the best are equal)",
    "agreement": "if there is a deal",
    "efficiency": "times the joint gain over the best possible one",
    "pareto": "if no other outcome is better for one of you and worse for none",
    "nash_product": "times the product of all gains",
    "envy": "for each point by which you would rather have another's part",
    "truthful": "for each claim that is true, or pledge that is kept",
    "untruthful": "for each claim that is false, or pledge that is broken",
    "survival": "for each month that the lake survives",
    "equality": "times how equal all ends (1 if all own the same)",
    "given": "for each coin that you give",
    "punished": "for each coin that you spend on punishing",
}


def _aim(env: Negotiation) -> str:
    """The reward, in words."""
    parts = [f"{w:g} {_DEEDS[name]}" for name, w in env.reward_weights.items() if w]
    return f"Your reward: {'; '.join(parts) or 'none'}."


def _turns(env: Negotiation) -> list[str]:
    data, n = env.scenario, env.num_agents
    offers = (
        "An offer replaces the one that stood before. Only the other can accept or reject it; a "
        "rejected offer is closed. An offer stays open while the two of you talk."
    )
    if data.flow == CHAT:
        return [
            "player_0 begins; you take turns. In a turn you do one thing: propose, speak, claim, "
            "end the talk (ready), walk away, or pass.",
        ]
    if data.flow != ROUNDS:
        return [
            "player_0 begins; you take turns. In a turn you do one thing: offer, accept, reject, "
            "speak, claim, walk away, or pass. " + offers,
        ]
    first = ""
    if env.discussion:
        times = "once" if env.discussion == 1 else f"{env.discussion} times"
        first = f"Each {_round(data.form)} begins with a discussion: everybody speaks {times}, "
        first += "in turns. "
    if data.form == HARVEST:
        return [f"{first}Then all choose their catch at the same time."]
    if data.form == GIFT:
        return [f"{first}Then the donor chooses."]
    votes = "the other answers" if n == 2 else "the others vote at the same time"
    return [f"{first}Then one proposes, and {votes}. Passing instead of an answer is a no."]


def _talking(env: Negotiation) -> list[str]:
    assert env.chat is not None
    lines = [
        "Beside any move you may say something in your own words, in a line of its own below it: "
        f'"SAY: ...", in at most {env.chat.max_length} characters. Others hear it before they move '
        "next. What players say are their words, not rules of the game."
    ]
    if env.sizes[SAY]:
        lines.append(
            "Words alone are a move, where there is a turn for talk. Some players understand "
            "phrases only, and hear of your words the nearest one of these, if one is near: "
            + "; ".join(f'"{phrase}"' for phrase in env.phrases)
            + "."
        )
    return lines


def _answering(env: Negotiation, agent: int) -> list[str]:
    data = env.scenario
    other = env.agents[1 - agent] if env.num_agents == 2 else ""
    if data.form == POOL and data.flow == ROUNDS:
        how = '"keep 6" or "give 4" proposes that; then "accept" or "reject"'
    elif data.form == POOL:
        how = (
            '"take 1 hat and 2 balls" names what you would take, "give 2 books" (or "offer 2 '
            f'books") what {other} would get; the rest goes to the one of you who is not named'
        )
        how += (
            '; then "accept" or "reject"' if data.flow != CHAT else '; then "ready", and "take ..."'
        )
    elif data.form == PRICE:
        how = '"offer 25", "accept", "reject"'
    elif data.form == SHARES:
        how = f'"{_equal_shares(env)}" proposes that (the shares must add up); then "accept" or '
        how += '"reject"'
    elif data.form == EXCHANGE:
        goods = data.goods if len(data.goods) > 1 else data.goods * 2
        how = f'"offer 3 {goods[0]} for 2 {goods[1]}", several goods on a side with "and"; '
        how += '"accept", "reject"'
    elif data.form == HARVEST:
        how = '"catch 10"'
    else:
        how = (
            '"give 3"'
            + (', "punish 2"' if data.extra["punishment"] else "")
            + ', "pass" to keep all'
        )
    speak = ', "SAY: ..." alone to speak' if env.sizes[SAY] else ""
    claim = ""
    if env.sizes[CLAIM]:
        look = {"pledge": "pledge 10", "outside": "claim 3"}.get(data.about)
        look = look or ("claim 25" if data.form == PRICE else f"claim {data.goods[0]} 4")
        claim = f', "{look}"'
    away = ', "walk away"' if env.sizes[WALK] else ""
    return [
        f'Name one move, or one of the choices offered: {how}{claim}{speak}{away}, "pass". '
        "Amounts are whole numbers, in the digits 0 to 9. Or put your move in a last line "
        '"ACTION: ...".'
    ]


def _equal_shares(env: Negotiation) -> str:
    """The proposal that is nearest to equal shares, as an example."""
    offers = env.scenario.offers.astype(int)
    nearest = offers[np.argmin(offers.max(1) - offers.min(1))]
    return ", ".join(f"{c} for {name}" for c, name in zip(nearest, env.agents, strict=True))


# ---- reading an answer ---------------------------------------------------------------------------

_ACTION_LINE = re.compile(r"^[ \t>*_`#-]*action[ \t*_`]*[:=](.*)$", re.IGNORECASE | re.MULTILINE)
_WRAPPING = " \t\r\n\"'`*_[]{}<>.,;:!“”"
_INTRO = re.compile(
    r"^(?:(?:ok|okay|yes|well|sure|fine|so|then|now|please|hello|hi|let me|let us|let's|i will|i'll"
    r"|i shall|i would like to|i'd like to|i want to|i choose to|i decide to|i am going to|i hereby"
    r"|my (?:offer|proposal|move|answer)(?: is)?(?: to)?|we)[ ,:]+)+"
)
_HEADS: tuple[tuple[int, str], ...] = (
    (REJECT, r"(?:i )?(?:do not|don't|cannot|can't|will not|won't|never|not)"
     r" (?:accept|agree|take it)"),
    (REJECT, r"(?:i )?(?:reject|refuse|decline|deny|turn (?:it )?down|vote (?:no|against)"
     r"|disagree)"),
    (REJECT, r"no(?: deal| thanks| thank you)?"),
    (ACCEPT, r"(?:i )?(?:accept|agree|agreed|take it|take (?:the|your|this|that) (?:deal|offer)"
     r"|vote (?:yes|for)|approve)|it'?s a deal|deal|yes"),
    (WALK, r"(?:i )?(?:walk away|walk|leave|quit|give up"
     r"|end (?:the )?(?:negotiations?|talks? without))"),
    (READY, r"(?:i am |i'm )?(?:ready|done|finished)|(?:i )?end (?:the )?talk(?:ing)?|finish"),
    (PASS, r"(?:i )?(?:pass|skip|wait|do nothing|say nothing|stay silent|abstain|keep everything"
     r"|keep all|catch nothing|take nothing)|no-?op|nothing|silence"),
)  # fmt: skip
_CONDITION = re.compile(r"\b(?:if|but|unless|only|when|provided|instead|reject|accept|offer)\b|\d")

_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
} | {"zero": 0, "a": 1, "an": 1, "nothing": 0, "none": 0}
_WORD_NUMBER = "|".join(_NUMBER_WORDS)


# What may follow an amount where there is one good only.
_BEHIND_NUMBERS = frozenset([
    "coin", "coins", "ton", "tons", "fish", "point", "points", "dollar", "dollars", "for", "to",
    "and", "of", "each", "me", "you", "in", "is", "it", "now", "here", "from", "on", "or", "as",
    "please", "more", "at", "most", "the",
])  # fmt: skip


def parse(env: Negotiation, text: Any, state: NegotiationState, agent: int) -> Action:
    """The action that an answer names; `IllegalAction` if it names none, or one that is not
    allowed now."""
    if not isinstance(text, str):
        raise IllegalAction(f"an answer is text, not {type(text).__name__}")
    if len(text) > MAX_ANSWER:
        raise IllegalAction(
            f"the answer has {len(text)} characters; at most {MAX_ANSWER} are read. Answer with "
            "one move"
        )
    return _Reader(env, state, agent).read(text)


class _Reader:
    """Reads one answer of one player."""

    def __init__(self, env: Negotiation, state: NegotiationState, agent: int):
        self.env, self.state, self.agent = env, state, agent
        self.look = Sight(env, state, agent)
        self.legal = env._legal(state, np)[agent]
        self.data = env.scenario

    def read(self, text: str) -> Action:
        if not self.legal.any():
            raise IllegalAction("it is not your turn")
        act, say = split_say(text)
        lines = _ACTION_LINE.findall(act)
        answer = (lines[-1] if lines else act).strip(_WRAPPING)
        if say is not None and self.env.chat is not None:
            limit = self.env.chat.max_length
            if len(say) > limit:
                raise IllegalAction(
                    f"your words have {len(say)} characters; at most {limit} are heard. Say less"
                )
            if not answer:
                return self.words(say)
        plain = " ".join(answer.lower().replace("\u2019", "'").split())
        if not plain:
            raise self.illegal("the line ACTION: names nothing" if lines else "the answer is empty")
        offered = [choice.lower() for choice in choices(self.env, self.state, self.agent)]
        if plain in (c.strip(_WRAPPING) for c in offered):
            return self.choice([c.strip(_WRAPPING) for c in offered].index(plain))
        return self.sentence(plain, answer)

    # ---- kinds of moves -------------------------------------------------------------------

    def words(self, say: str) -> Action:
        """Words alone: a phrase, as a move."""
        if say.strip() in ("", OTHER) and not say.strip():
            return self.env.noop
        if say.strip() == OTHER and self.env.sizes[SAY]:
            return self.move(SAY, len(self.env.phrases), quoted="say")
        action = self.env.spoken(say, self.state, self.agent)
        if np.array_equal(action, self.env.noop) and clean(say, 8) not in ("", "nothing"):
            raise self.illegal("this is no time for words alone; say them beside a move")
        return action

    def choice(self, index: int) -> Action:
        """The action (in a trade, the part) that is the choice of this number."""
        number = int(np.flatnonzero(self.legal)[index])
        if self.data.form != EXCHANGE:
            return number
        if number == self.env.first[OFFER]:
            return self.exchange(np.concatenate(_example(self.look)), "this")
        if number < self.env.moves:
            return self.env.action(PASS) + np.eye(1, 1 + self.env.width, dtype=np.int32)[0] * number
        number -= self.env.moves
        content = np.zeros(self.env.width, int)
        for part, most in enumerate([*self.env.most, *self.env.most]):
            if number <= most:
                content[part] = number
                break
            number -= int(most) + 1
        return self.env.action(OFFER, 0, content) if content.any() else self.env.noop

    def move(self, kind: int, number: int = 0, *, quoted: str) -> Action:
        """A move without amounts, if it is legal."""
        env = self.env
        if not 0 <= number < env.sizes[kind] or not self.legal[env.first[kind] + number]:
            raise self.illegal(f"{quoted}: {self.why_not(kind)}")
        return env.action(kind, number)

    def why_not(self, kind: int) -> str:
        env, phase = self.env, self.look.phase
        if kind in (ACCEPT, REJECT) and env.sizes[kind]:
            maker = self.look.marked("offer_by")
            if maker is None:
                return f"there is no offer to {KINDS[kind]}"
            if maker == 0:
                return f"this is your own offer; only the other can {KINDS[kind]} it"
            if self.data.form == EXCHANGE:
                r = len(self.data.goods)
                asked = amount(self.data.goods, self.look["offer"][r:])
                return f"the offer asks for {asked}, more than you own"
        if not env.sizes[kind]:
            return f"there is no {KINDS[kind]!r} in this game"
        when = {
            TALK: "the discussion",
            PROPOSE: "a proposal",
            RESPOND: "answers",
            PICK: "the choice",
        }
        return f"that cannot be done now, it is time for {when.get(phase, 'something else')}"

    def sentence(self, plain: str, answer: str) -> Action:
        """The move of a sentence in lower case."""
        quoted = _quoted(answer)
        if any(c.isnumeric() and not c.isascii() for c in plain):
            raise self.illegal(f"{quoted}: write amounts with the digits 0 to 9")
        if re.search(r"(?<![\w)])[-\u2212\u2013]\s*[\d.]", plain) or "minus" in plain.split():
            raise self.illegal(f"{quoted}: amounts are not negative")
        if re.search(r"\d[.,]\d|\d\s*e\s*[+-]?\d|\d\s*%|[\d]\s*\^", plain):
            raise self.illegal(f"{quoted}: amounts are whole numbers, in plain digits")
        if any(len(digits) > 6 or int(digits) > MOST for digits in re.findall(r"\d+", plain)):
            raise self.illegal(f"{quoted}: no amount here is above {MOST}")
        short = _INTRO.sub("", plain)
        claim = re.match(r"(?:i )?(?:claim|state|pledge|promise)\b[: ]*(.*)", short)
        if claim and self.env.sizes[CLAIM]:
            return self.claim(claim[1], quoted)
        for kind, pattern in _HEADS:
            for words in (plain, short):
                found = re.match(rf"(?:{pattern})(?![\w'-])", words)
                if found and kind == PASS and "take" in found[0] and self.data.form == POOL:
                    continue  # to take nothing gives the other everything
                if found and self.is_head(kind, words[found.end() :]):
                    return self.head(kind, quoted)
        return self.offer(short, quoted)

    def is_head(self, kind: int, rest: str) -> bool:
        """Whether a sentence that begins like a move goes on like one."""
        if kind == ACCEPT and re.search(r"\b(?:if|but|unless|only|provided|when)\b", rest):
            raise self.illegal("an acceptance has no conditions; make an offer of your own instead")
        return not _CONDITION.search(rest.partition(":")[0]) or rest.startswith(":")

    def head(self, kind: int, quoted: str) -> Action:
        data, look = self.data, self.look
        if data.flow == CHAT and kind == ACCEPT:
            # Nothing binds here; to agree is to end the talk, and then to choose accordingly.
            maker = look.marked("offer_by")
            if look.phase == TURNS:
                if maker is None:
                    raise self.illegal(f"{quoted}: there is no proposal to accept")
                if maker == 0:
                    raise self.illegal(f"{quoted}: this is your own proposal")
                return self.move(READY, quoted=quoted)
            if maker is None:
                raise self.illegal(f"{quoted}: there is no proposal; name what you take")
            mine = look["offer"] if maker == 0 else look["pool"] - look["offer"]
            return self.enumerated(mine, quoted)
        if data.flow == CHAT and kind == REJECT and look.phase == TURNS:
            raise self.illegal(f"{quoted}: proposals bind nobody; propose something else, or talk")
        return self.move(kind, quoted=quoted)

    def claim(self, rest: str, quoted: str) -> Action:
        claims, goods = self.data.claims, self.data.goods
        numbers = [int(d) for d in re.findall(r"\d+", rest)]
        named = [k for k, good in enumerate(goods) if re.search(rf"\b{good}s?\b", rest)]
        good = named[0] if len(named) == 1 else 0 if len(goods) == 1 else None
        if good is None or len(numbers) != 1:
            example = f"{goods[0]} 4" if len(goods) > 1 else "10"
            raise self.illegal(
                f'{quoted}: a claim names one thing and one number: "claim {example}"'
            )
        fits = np.flatnonzero((claims[:, 0] == good) & (claims[:, 1] == numbers[0]))
        if not len(fits):
            known = claims[claims[:, 0] == good, 1]
            every = int(np.diff(known).min()) if len(known) > 1 else 1
            raise self.illegal(
                f"{quoted}: {int(known[0])} to {int(known[-1])}"
                f"{f' in steps of {every}' if every > 1 else ''} can be claimed here"
            )
        return self.move(CLAIM, int(fits[0]), quoted=quoted)

    # ---- offers ---------------------------------------------------------------------------

    def offer(self, plain: str, quoted: str) -> Action:
        form = self.data.form
        if form == EXCHANGE:
            return self.exchange(self.two_sides(plain, quoted), quoted)
        if form == POOL and len(self.data.goods) > 1:
            return self.enumerated(self.pool_part(plain, quoted), quoted)
        numbers = self.numbers(plain)
        if form == SHARES:
            return self.enumerated(self.shares(plain, numbers, quoted), quoted)
        if not numbers:
            raise self.illegal(f"{quoted} names no move")
        if form == POOL:
            return self.enumerated(np.array([self.kept(plain, numbers, quoted)]), quoted)
        if len(set(numbers)) > 1:
            raise self.illegal(f"{quoted} names more than one amount")
        if not self.verb(plain):
            raise self.illegal(f"{quoted} names no move")
        number = numbers[0]
        if form == HARVEST:
            return (
                self.move(PASS, quoted=quoted)
                if not number and self.look.phase == PICK
                else (self.enumerated(np.array([number]), quoted))
            )
        if form == GIFT:
            if not number and self.look.phase == PICK:
                return self.env.noop
            punishes = re.search(r"\bpunish|\bfine\b", plain) is not None
            return self.enumerated(np.array([0, number, 0] if punishes else [number, 0, 0]), quoted)
        return self.enumerated(np.array([number]), quoted)

    def verb(self, plain: str) -> bool:
        """Whether a sentence with a number in it is about that number."""
        about = {
            PRICE: r"offer|propose|ask|pay|sell|buy|price|bid|counter|for",
            HARVEST: r"catch|harvest|take|fish|get|want",
            GIFT: r"give|donate|gift|punish|fine|send|spend",
        }[self.data.form]
        bare = re.fullmatch(r"\$?\d+(?: ?(?:coins?|tons?|points?|dollars?|\$))?", plain)
        return bare is not None or re.search(rf"\b(?:{about})\w*\b", plain) is not None

    def numbers(self, plain: str) -> list[int]:
        """All amounts, in digits or in words; names of players hold none."""
        plain = re.sub(r"\b[a-z]+_\d+\b", " ", plain)
        for noun in re.findall(r"\d ?([a-z]+)", plain):
            if noun not in _BEHIND_NUMBERS:
                goods = _plural(self.data.goods[0], 2) if self.data.form != PRICE else "coins"
                raise self.illegal(f"{noun!r}: amounts here are {goods}")
        found = re.findall(rf"\d+|\b(?:{_WORD_NUMBER})\b(?= (?:coins?|tons?))", plain)
        return [int(word) if word.isdigit() else _NUMBER_WORDS[word] for word in found]

    def enumerated(self, content: np.ndarray, quoted: str) -> Action:
        """The action of an offer (catch, gift) with this content."""
        env, look, data = self.env, self.look, self.data
        if look.phase not in (TURNS, PROPOSE, PICK):
            raise self.illegal(f"{quoted}: {self.why_not(OFFER)}")
        found = np.flatnonzero((data.offers == content).all(1))
        if len(found) and self.legal[env.first[OFFER] + found[0]]:
            return env.action(OFFER, int(found[0]))
        if data.form == POOL:
            beyond = f"on the table are only {amount(data.goods, look['pool'])}"
        elif data.form == PRICE:
            beyond = f"prices are from {data.offers.min()} to {data.offers.max()}"
        elif data.form == SHARES:
            step = int(np.unique(data.offers)[1]) if len(np.unique(data.offers)) > 1 else 1
            beyond = f"shares are multiples of {step} that add up to {int(look['pool'][0])}"
        elif data.form == HARVEST:
            most = min(int(data.offers.max()), int(look["pool"][0]))
            beyond = f"you can catch at most {most} tons"
        else:
            owned = min(int(data.extra["max_gift"]), int(look["own_holdings"][0]))
            beyond = f"you can spend at most {owned} coins"
            if content[1] and not data.extra["punishment"]:
                beyond = "nobody can be punished in this game"
        raise self.illegal(f"{quoted}: {beyond}")

    def kept(self, plain: str, numbers: list[int], quoted: str) -> int:
        """How many coins the proposer keeps."""
        total = int(self.look["pool"][0])
        if len(numbers) == 2:
            if sum(numbers) != total:
                raise self.illegal(f"{quoted}: the two shares do not add up to {total}")
            mine, theirs = numbers
            first = re.search(r"\b(?:give|offer|for you|to you|you get|you take|you keep)\b", plain)
            second = re.search(r"\b(?:keep|for me|i get|i take|to me|leaving me)\b", plain)
            if first and (second is None or first.start() < second.start()):
                mine, theirs = theirs, mine
            return mine
        if len(numbers) != 1:
            raise self.illegal(f"{quoted} names more than one amount")
        if re.search(r"\b(?:keep|take|i get|for me|i want|i have|to take|to keep)\b", plain):
            if not re.search(r"\byou (?:keep|take|get|have|can)", plain):
                return numbers[0]
        elif not re.search(r"\b(?:give|offer|for you|to you|propose|you get|you)\b", plain):
            raise self.illegal(f'{quoted}: say "keep {numbers[0]}" or "give {numbers[0]}"')
        return total - numbers[0]

    def shares(self, plain: str, numbers: list[int], quoted: str) -> np.ndarray:
        """The shares in seat order."""
        env, n = self.env, self.env.num_agents
        total = int(self.look["pool"][0])
        who = r"(player_\d+|me|myself|you|everybody|everyone|each|all)"
        named: dict[int, int] = {}
        pairs = [
            (w, int(c)) for c, w in re.findall(rf"(\d+)(?: coins?)? (?:for|to) {who}\b", plain)
        ]
        if not pairs:
            pairs = [(w, int(c)) for w, c in re.findall(rf"\b{who}[ :=]+(?:gets? )?(\d+)\b", plain)]
        for word, count in pairs:
            if word in ("everybody", "everyone", "each", "all"):
                named |= dict.fromkeys(range(n), count)
                continue
            # The choices call the proposer "you".
            index = self.agent if not word.startswith("player_") else None
            if index is None:
                if word not in env.agents:
                    raise self.illegal(f"{quoted}: there is no {word}")
                index = env.agents.index(word)
            if index in named:
                raise self.illegal(f"{quoted} names two shares for {env.agents[index]}")
            named[index] = count
        if not pairs and len(numbers) == n:
            named = dict(enumerate(numbers))
        if not named:
            example = _equal_shares(env)
            raise self.illegal(f'{quoted}: name everybody\'s share, as in "{example}"')
        content = np.array([named.get(i, 0) for i in range(n)])
        if int(content.sum()) != total:
            raise self.illegal(f"{quoted}: these shares add up to {content.sum()}, not to {total}")
        return content

    def quantities(self, plain: str, pool: np.ndarray | None, quoted: str) -> np.ndarray:
        """How many of each good a phrase names: "2 books and a hat"."""
        goods = self.data.goods
        counts = np.zeros(len(goods), int)
        names = "|".join(goods)
        pattern = (
            rf"\b(?:(\d+|{_WORD_NUMBER}|all|every|both|the)(?: ?x)? (?:of )?"
            rf"(?:the |my |your |these )?(?:units? of |pieces? of )?)?({names})s?\b"
        )
        for count, good in re.findall(pattern, plain):
            k = goods.index(good)
            if count in ("all", "every", "both", "the", ""):
                here = int(pool[k]) if pool is not None else 0
                if pool is None or (count == "" and here != 1):
                    raise self.illegal(f"{quoted}: say how many units of {good}")
                counts[k] += here
            else:
                counts[k] += int(count) if count.isdigit() else _NUMBER_WORDS[count]
        rest = re.sub(pattern, " ", plain)
        everything = re.search(r"\beverything\b|\ball of (?:it|them)\b", rest)
        if everything and pool is not None:
            counts += pool
        if re.search(r"\d", rest):
            known = ", ".join(goods)
            raise self.illegal(f"{quoted}: an amount of what? There are {known}")
        if not everything and not re.search(rf"({names})s?\b|\b(?:nothing|none|no)\b", plain):
            raise self.illegal(f"{quoted} names no move")
        return counts

    def pool_part(self, plain: str, quoted: str) -> np.ndarray:
        """What the speaker takes."""
        pool = self.look["pool"]
        plain = plain.partition(": worth")[0]
        plain = re.sub(r"\b(?:the rest|the others?|what is left|whatever is left)\b", " ", plain)
        other = self.look.names[1]
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
            if after and self.counts_something(words):
                sides[after.endswith(("me", "myself"))].append(words)
            elif side is not None and self.counts_something(words):
                sides[side].append(words)
            if not after:
                side = bool(my) and not their
            start = found.end()
        tail = plain[start:]
        if side is not None and self.counts_something(tail):
            sides[side].append(tail)
        if side is None and not sides[True] and not sides[False]:
            counts = self.quantities(plain, pool, quoted)
            if self.look.phase != PICK:
                words = amount(self.data.goods, counts)
                raise self.illegal(f'{quoted}: say whether you would "take" or "give" {words}')
            return self.within(counts, quoted)
        parts = {
            key: self.within(
                sum((self.quantities(w, pool, quoted) for w in words), np.zeros(len(pool), int)),
                quoted,
            )
            for key, words in sides.items()
            if words
        }
        if not parts:
            raise self.illegal(f"{quoted} names no move")
        if len(parts) == 2 and (parts[True] + parts[False] != pool).any():
            raise self.illegal(
                f"{quoted}: the two parts do not add up to what is on the table, "
                f"{amount(self.data.goods, pool)}"
            )
        return parts[True] if True in parts else pool - parts[False]

    def counts_something(self, words: str) -> bool:
        """Whether words name goods or an amount."""
        names = "|".join(self.data.goods)
        return bool(re.search(rf"\d|\b(?:(?:{names})s?|everything|nothing|all of)\b", words))

    def within(self, counts: np.ndarray, quoted: str) -> np.ndarray:
        pool = self.look["pool"]
        if (counts > pool).any():
            have = amount(self.data.goods, pool)
            raise self.illegal(f"{quoted}: on the table are only {have}")
        return counts

    def two_sides(self, plain: str, quoted: str) -> np.ndarray:
        """What is given, and what is asked for."""
        plain = re.sub(r",? or other amounts$", "", plain)
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
                raise self.illegal(f"{quoted} names no move")
        give = re.sub(
            r"\b(?:i|offer|trade|give|propose|swap|exchange|sell|you|my|to|with)\b", " ", give
        )
        get = re.sub(r"\b(?:i|you|your|from|to|want|get|of|me)\b", " ", get)
        sides = [
            self.quantities(" ".join(words.split()), None, quoted)
            if words.strip(" ,.;")
            else np.zeros(len(self.data.goods), int)
            for words in (give, get)
        ]
        return np.concatenate(sides)

    def exchange(self, content: np.ndarray, quoted: str) -> Action:
        """The action of offering an exchange, if it can be offered."""
        env, goods = self.env, self.data.goods
        if not self.legal[env.first[OFFER]]:
            raise self.illegal(f"{quoted}: {self.why_not(OFFER)}")
        if not content.any():
            raise self.illegal(f"{quoted}: nothing for nothing is no offer")
        start = env.moves
        for part, most in enumerate([*env.most, *env.most]):
            size = int(most) + 1
            units, good = int(content[part]), goods[part % len(goods)]
            if units >= size or not self.legal[start + units]:
                mask = self.legal[start : start + size]
                bound = int(np.flatnonzero(mask)[-1])
                who = "you own only" if part < len(goods) else "the other can own at most"
                raise self.illegal(f"{quoted}: {who} {bound} {good}")
            start += size
        return env.action(OFFER, 0, content)

    def illegal(self, reason: str) -> IllegalAction:
        """With what can be done now, in short."""
        env = self.env
        able = [
            KINDS[kind]
            for kind, (first, size) in enumerate(zip(env.first, env.sizes, strict=True))
            if size and self.legal[first : first + size].any()
        ]
        names = {"offer": _OFFERING[self.data.form]}
        if self.look.phase == PICK and self.data.form == POOL:
            names["offer"] = '"take ..."'
        able = [
            names.get(kind, f'"{kind}"' if kind not in ("say", "claim") else kind) for kind in able
        ]
        return IllegalAction(f"{reason}. Now you can: {', '.join(able)}.")


_OFFERING = {
    POOL: '"take ..." or "give ..."',
    SHARES: "propose shares",
    PRICE: '"offer <price>"',
    EXCHANGE: '"offer ... for ..."',
    HARVEST: '"catch <tons>"',
    GIFT: '"give <coins>"',
}


def _quoted(answer: str) -> str:
    """What was given, short and without characters that could do harm in a prompt or a log."""
    return repr(answer if len(answer) <= 60 else answer[:57] + "...")
