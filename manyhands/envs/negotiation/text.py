"""Negotiations in words: rule book, description, choices, and reading what a player answers.

All that `describe` says is said from `observe.observation`, the row of numbers that the player's
vector is made of, in sentences of a fixed form from which that row can be rebuilt. What differs
between forms (`forms/`) each form says itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core import answers
from manyhands.core.env import Action, IllegalAction
from manyhands.core.talk import OTHER, clean
from manyhands.envs.negotiation import observe
from manyhands.envs.negotiation import rules as rulebook
from manyhands.envs.negotiation.forms import Bargain
from manyhands.envs.negotiation.state import (
    ACCEPT,
    CHAT,
    CLAIM,
    KINDS,
    MOST,
    OFFER,
    OVER,
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
from manyhands.envs.negotiation.words import Observation, amount, listed, owned

if TYPE_CHECKING:
    from manyhands.envs.negotiation.env import Negotiation


def observation(
    env: Negotiation, state: NegotiationState, agent: int, you: bool = True
) -> Observation:
    """What a player knows of a state, by name."""
    return observe.observation(env.scenario, env.observation_layout, state, agent, you)


def history(env: Negotiation, state: NegotiationState) -> list[str]:
    """The last moves in words, with everybody's name."""
    seen = observation(env, state, 0, you=False)
    return [_move(env, seen, entry) for entry in entries(env, seen)]


def entries(env: Negotiation, seen: Observation) -> np.ndarray:
    """[moves, 3 + K], the moves that are remembered."""
    log = seen["log"].reshape(env.memory, -1)
    return log[log[:, 0] > 0]


def _move(env: Negotiation, seen: Observation, entry: np.ndarray) -> str:
    """A line of the history: who did what."""
    number, kind, word = map(int, entry[:3])
    data, place, content = env.scenario, number - 1, entry[3:]
    own = data.entry_words(seen, entry)
    if own is not None:
        return own
    who = seen.who(place)
    if kind == SAY:
        said = OTHER if word > len(env.phrases) else f'"{env.phrases[word - 1]}"'
        return f"{who} said: {said}"
    if kind == CLAIM:
        verb = "pledged" if data.about == "pledge" else "claimed"
        return f'{who} {verb}: "{data.claim_words(seen, word - 1, place == 0)}"'
    if kind == OFFER:
        words = data.offer_words(seen, place, content)
        if word:
            return f"{who} chose in private: {words}"
        verb = "propose" if data.flow in (CHAT, ROUNDS) else "offer"
        return f"{who} {seen.verb(place, verb)}: {words}"
    return f"{who}: {KINDS[kind]}"


# ---- description ---------------------------------------------------------------------------------


def describe(env: Negotiation, state: NegotiationState, agent: int) -> str:
    """What the player knows, as text."""
    seen = observation(env, state, agent)
    data, goods = env.scenario, env.scenario.goods
    played = env.max_steps - int(seen["steps_left"][0])
    if seen.phase == OVER:
        lines = [f"It is over, after {played} of at most {env.max_steps} turns."]
    else:
        phase = data.choice_phase if seen.phase == PICK else _PHASES[seen.phase]
        lines = [f"Turn {played + 1} of at most {env.max_steps}. {phase}"]
    if data.flow == ROUNDS:
        rounds, leader = int(seen["rounds_left"][0]), seen.marked("lead")
        if rounds:
            number = data.rounds - rounds + 1
            now = f"{data.round_name.capitalize()} {number} of {data.rounds}."
        else:
            now = f"All {data.rounds} {data.round_name}s have been played."
        lines.append(f"{now} {data.lead_words(seen, leader or 0)}")
    movers = [seen.who(int(j)) for j in np.flatnonzero(seen["to_move"])]
    together = " (at the same time)" if len(movers) > 1 else ""
    lines.append(f"To move: {listed(movers) if movers else 'nobody'}{together}.")
    role = f", {data.roles[agent]}" if data.roles else ""
    lines.append(f"You are {env.agents[agent]}{role}.")
    if "pool" in env.at:
        lines.append(f"{data.pool_place}: {amount(goods, seen['pool'])}.")
    lines.append(data.value_words(seen))
    if "own_outside" in env.at:
        lines.append(f"Having no deal is worth {seen['own_outside'][0]} to you.")
    if "own_holdings" in env.at:
        lines.append(f"You {data.owning[0]}: {owned(goods, seen['own_holdings'])}.")
    if "other_holdings" in env.at:
        rows = seen["other_holdings"].reshape(-1, len(goods))
        for name, row in zip(seen.names[1:], rows, strict=True):
            lines.append(f"{name} {data.owning[1]}: {owned(goods, row)}.")
    lines += data.own_words(seen)
    if isinstance(data, Bargain):
        maker = seen.marked("offer_by")
        if maker is None:
            lines.append("Standing offer: none.")
        else:
            words = data.offer_words(seen, maker, seen["offer"])
            means = data.offer_means(seen, maker, seen["offer"])
            lines.append(f"Standing offer, by {seen.who(maker)}: {words} (then {means}).")
    if "claims" in env.at:
        lines.append(_claims(env, seen))
    if "deals" in env.at:
        lines.append(f"Deals so far: {seen['deals'][0]}.")
    moves = [f"- {_move(env, seen, entry)}" for entry in entries(env, seen)]
    lines += ["History, oldest first:", *moves] if moves else ["History: nothing yet."]
    return "\n".join(lines)


_PHASES = {
    TURNS: "Offers and talk.",
    TALK: "Discussion.",
    PROPOSE: "A proposal is to be made.",
    RESPOND: "The proposal is to be answered.",
}


def _claims(env: Negotiation, seen: Observation) -> str:
    """What players said about themselves, last of each good."""
    parts = []
    for j, row in enumerate(seen["claims"].reshape(len(seen.names), -1)):
        stated = zip(env.scenario.goods, row, strict=True)
        said = [f"{good} {value - 1}" for good, value in stated if value]
        if said:
            parts.append(f"{seen.who(j)}: {', '.join(said)}")
    name = {"pledge": "Pledged catches, at most", "outside": "Claimed worth of no deal"}
    about = name.get(env.scenario.about, "Claimed worth, each")
    return f"{about}: {'; '.join(parts) or 'none'}."


# ---- choices -------------------------------------------------------------------------------------


def choices(env: Negotiation, state: NegotiationState, agent: int) -> list[str]:
    """The legal actions in words; in a trade, the legal parts of one."""
    return _choices(env, observation(env, state, agent), _legal(env, state, agent))


def _legal(env: Negotiation, state: NegotiationState, agent: int) -> np.ndarray:
    return rulebook.legal(env.scenario, state, np)[agent]


def _choices(env: Negotiation, seen: Observation, legal: np.ndarray) -> list[str]:
    data, found = env.scenario, []
    for kind, (first, size) in enumerate(zip(env.first, env.sizes, strict=True)):
        for number in np.flatnonzero(legal[first : first + size]):
            found.append(_choice(env, seen, kind, int(number)))
    if data.composed and legal.any():
        start = env.moves
        for verb in ("give", "ask"):
            for good, most in zip(data.goods, data.most, strict=True):
                for units in np.flatnonzero(legal[start : start + int(most) + 1]):
                    found.append(f"{verb} {units or 'no'} {good}")
                start += int(most) + 1
    return found


def _choice(env: Negotiation, seen: Observation, kind: int, number: int) -> str:
    data, phrases = env.scenario, env.phrases
    if kind == PASS:
        what = data.choosing_nothing if seen.phase == PICK else _PASSING[seen.phase]
        return f"pass: {what}"
    if kind in (ACCEPT, REJECT):
        maker = seen.marked("offer_by")
        assert maker is not None and isinstance(data, Bargain)
        if kind == REJECT:
            return f"reject: turn down the offer of {seen.who(maker)}"
        return f"accept: {data.offer_means(seen, maker, seen['offer'])}"
    if kind == WALK:
        return f"walk away: {data.walking_away}"
    if kind == READY:
        return "ready: end the talk; then both state in private what they take"
    if kind == SAY:
        return f"say: {phrases[number] if number < len(phrases) else OTHER}"
    if kind == CLAIM:
        verb = "pledge" if data.about == "pledge" else "claim"
        return f"{verb}: {data.claim_words(seen, number, True)}"
    return data.choice_words(seen, data.example(seen) if data.composed else data.offers[number])


def words(env: Negotiation, action: Any, state: NegotiationState, agent: int) -> str:
    """A whole action in words."""
    seen = observation(env, state, agent)
    row = np.atleast_1d(np.asarray(action)).astype(int)
    kind = max(k for k, size in enumerate(env.sizes) if size and env.first[k] <= row[0])
    if env.scenario.composed and kind == OFFER:
        return f"offer {env.scenario.offer_words(seen, 0, row[1:])}"
    return _choice(env, seen, kind, int(row[0]) - env.first[kind])


_PASSING = {
    TURNS: "let the turn go by",
    TALK: "say nothing",
    PROPOSE: "propose nothing; the round is lost",
    RESPOND: "no answer, which is a no",
}

# ---- rules ---------------------------------------------------------------------------------------


def rules(env: Negotiation, agent: int) -> str:
    """The rule book of one player."""
    data, n = env.scenario, env.num_agents
    others = [name for i, name in enumerate(env.agents) if i != agent]
    role = f", {data.roles[agent]}" if data.roles else ""
    lines = [
        f"NEGOTIATION: {data.name.replace('_', ' ').upper()}",
        f"You are {env.agents[agent]}{role}; the other{'s are' * (n > 2) or ' is'} "
        f"{listed(others)}. The game lasts {env.max_steps} turns at most.",
        *data.rules_words(),
        _aim(env),
        "",
        "TURNS",
        _turns(env),
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


def _turns(env: Negotiation) -> str:
    data = env.scenario
    if data.flow == CHAT:
        return (
            "player_0 begins; you take turns. In a turn you do one thing: propose, speak, claim, "
            "end the talk (ready), walk away, or pass."
        )
    if data.flow != ROUNDS:
        return (
            "player_0 begins; you take turns. In a turn you do one thing: offer, accept, reject, "
            "speak, claim, walk away, or pass. An offer replaces the one that stood before. Only "
            "the other can accept or reject it; a rejected offer is closed. An offer stays open "
            "while the two of you talk."
        )
    first = ""
    if data.discussion:
        times = "once" if data.discussion == 1 else f"{data.discussion} times"
        first = f"Each {data.round_name} begins with a discussion: everybody speaks {times}, "
        first += "in turns. "
    return first + data.decision_words()


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
    speak = ', "SAY: ..." alone to speak' if env.sizes[SAY] else ""
    claim = f', "{data.claim_example}"' if env.sizes[CLAIM] else ""
    away = ', "walk away"' if env.sizes[WALK] else ""
    return [
        f"Name one move, or one of the choices offered: {data.answer_words(agent)}{claim}{speak}"
        f'{away}, "pass". Amounts are whole numbers, in the digits 0 to 9. Or put your move in a '
        'last line "ACTION: ...". A move that is not possible now is refused; if it is played all '
        'the same, it counts as "pass".'
    ]


# ---- reading an answer ---------------------------------------------------------------------------

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
# What a sentence that begins like a move may go on with; anything else is not that move.
_AND = r"(?:[ ,.;:!-]|\b(?:{})\b)*"
_POLITE = r"then|now|please|thanks?|thank you|and|so|here|i|ok|okay|well"
_GOES_ON = {
    ACCEPT: _AND.format(
        rf"{_POLITE}|player_\d+'s|your|the|this|that|current|standing|last|latest|new"
        r"|offer|deal|proposal|price|terms|split|exchange|trade|it|to|with|for|of|from|by|me"
        r"|player_\d+|is|fair|good|great|fine|gladly|happily|accept|agree|agreed|yes|take|sure"
    ),
    WALK: _AND.format(
        rf"{_POLITE}|away|from|the|this|table|game|negotiations?|talks?|trade|without|a|deal|sorry"
    ),
    READY: _AND.format(
        rf"{_POLITE}|to|choose|with|talk|talking|the|end|finish|this|negotiations?|am|done|ready"
    ),
    PASS: _AND.format(
        rf"{_POLITE}|this|the|my|turn|time|round|month|for|on|it|once|again|say|do|nothing"
    ),
}
# Of an acceptance with these, the reason says more.
_CONDITION = re.compile(r"\b(?:if|but|unless|only|provided|when)\b")
# Behind "no", "reject" and the like: it is another move, or none.
_NOT_A_NO = re.compile(
    r"\b(?:if|but|unless|only|when|provided|instead|reject|accept|offer)\b|\d"
    r"|^ (?:problem|problems|doubt|worries|objections?|need|reason|question|issue|matter)\b"
)
# What no offer says, with the reason. A sentence with any of these may mean the opposite of its
# amounts, so none is read from it.
_NO_OFFER = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        (r"\?", "a question is no move; write a move, or ask behind SAY:"),
        (
            r"\b(?:not|never|cannot|neither|nor|without|instead of|rather than|refus\w+|declin\w+"
            r"|avoid\w*|hardly|except)\b|n't\b",
            "it denies something; write only what you do",
        ),
        (
            r"\b(?:if|unless|provided|only|when|until|as long as|in case|would have|could have)\b",
            "a move has no conditions; write an offer, the other can accept or reject it",
        ),
        (r"\bor\b", "it names more than one move; write one"),
        (
            r"\b(?:accept|agree|reject|deny|disagree)\w*\b",
            'write "accept" or "reject" alone, or only an offer of your own',
        ),
        (
            r"\btoo (?:high|low|much|little|many|few|dear|expensive|cheap|big|small|large)\b"
            r"|\byour (?:last |first |new )?(?:offer|price|proposal|bid|demand)\b",
            "it is about an offer of the other; write your own move",
        ),
    )
)


def parse(env: Negotiation, text: Any, state: NegotiationState, agent: int) -> Action:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not allowed now."""
    return _Reader(env, state, agent).read(text)


class _Reader:
    """Reads one answer of one player."""

    def __init__(self, env: Negotiation, state: NegotiationState, agent: int):
        self.env, self.state, self.agent = env, state, agent
        self.seen = observation(env, state, agent)
        self.legal = _legal(env, state, agent)
        self.data = env.scenario

    def read(self, text: Any) -> Action:
        if not self.legal.any():
            raise IllegalAction("it is not your turn")
        say = None
        if isinstance(text, str) and len(text) <= answers.MAX_ANSWER:
            text, say = answers.split_say(text)
        if say is not None and self.env.chat is not None:
            limit = self.env.chat.max_length
            if len(say) > limit:
                raise IllegalAction(
                    f"your words have {len(say)} characters; at most {limit} are heard. Say less"
                )
            if not answers.find(text).text:
                return self.words(say)
        answer = answers.read(text, self.illegal)
        offered = [
            answers.normalise(choice).strip(answers.WRAPPING)
            for choice in _choices(self.env, self.seen, self.legal)
        ]
        if answer.plain in offered:
            return self.choice(offered.index(answer.plain))
        return self.sentence(answer.plain, answers.quoted(answer.text))

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
        if not self.data.composed:
            return number
        if number == self.env.first[OFFER]:
            return self.composed(self.data.example(self.seen), "this")
        if number < self.env.moves:
            return self.env.action(PASS) + np.eye(1, 1 + self.env.width, dtype=np.int32)[0] * number
        number -= self.env.moves
        content = np.zeros(self.env.width, int)
        for part, most in enumerate([*self.data.most, *self.data.most]):
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
        env, phase = self.env, self.seen.phase
        if kind in (ACCEPT, REJECT) and env.sizes[kind]:
            maker = self.seen.marked("offer_by")
            if maker is None:
                return f"there is no offer to {KINDS[kind]}"
            if maker == 0:
                return f"this is your own offer; only the other can {KINDS[kind]} it"
            if reason := self.data.why_not_accept(self.seen):
                return reason
        if not env.sizes[kind]:
            return f"there is no {KINDS[kind]!r} in this game"
        when = {
            TALK: "the discussion",
            PROPOSE: "a proposal",
            RESPOND: "answers",
            PICK: "the choice",
        }
        return f"that cannot be done now, it is time for {when.get(phase, 'something else')}"

    def sentence(self, plain: str, quoted: str) -> Action:
        """The move of a sentence in lower case."""
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
        takes = self.data.takes_nothing
        for kind, pattern in _HEADS:
            for words in (plain, short):
                found = re.match(rf"(?:{pattern})(?![\w'-])", words)
                if found and kind == PASS and re.search("take|keep", found[0]) and takes:
                    continue  # to take nothing gives the other everything
                if found and self.is_head(kind, words[found.end() :]):
                    return self.head(kind, quoted)
        return self.offer(short, quoted)

    def is_head(self, kind: int, rest: str) -> bool:
        """Whether a sentence that begins like a move goes on like one."""
        if kind == ACCEPT and _CONDITION.search(rest):
            raise self.illegal("an acceptance has no conditions; make an offer of your own instead")
        if rest.startswith(":"):  # as in the choices
            return "?" not in rest
        if kind == REJECT:
            return "?" not in rest and not _NOT_A_NO.search(rest.partition(":")[0])
        return re.fullmatch(_GOES_ON[kind], rest) is not None

    def head(self, kind: int, quoted: str) -> Action:
        data, seen = self.data, self.seen
        if data.flow == CHAT and kind == ACCEPT:
            # Nothing binds here; to agree is to end the talk, and then to choose accordingly.
            maker = seen.marked("offer_by")
            if seen.phase == TURNS:
                if maker is None:
                    raise self.illegal(f"{quoted}: there is no proposal to accept")
                if maker == 0:
                    raise self.illegal(f"{quoted}: this is your own proposal")
                return self.move(READY, quoted=quoted)
            if maker is None:
                raise self.illegal(f"{quoted}: there is no proposal; name what you take")
            mine = seen["offer"] if maker == 0 else seen["pool"] - seen["offer"]
            return self.enumerated(mine, quoted)
        if data.flow == CHAT and kind == REJECT and seen.phase == TURNS:
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
        offered = re.sub(r",? or other amounts$", "", plain)
        for pattern, reason in _NO_OFFER:
            if pattern.search(offered):
                raise self.illegal(f"{quoted}: {reason}")
        try:
            content = self.data.read_offer(self.seen, plain, quoted)
        except IllegalAction as error:
            raise self.illegal(error.reason) from None
        if self.data.composed:
            return self.composed(content, quoted)
        if not self.data.bargains and not content.any() and self.seen.phase == PICK:
            return self.env.noop
        return self.enumerated(content, quoted)

    def enumerated(self, content: np.ndarray, quoted: str) -> Action:
        """The action of an offer (catch, gift) with this content."""
        env, data = self.env, self.data
        if self.seen.phase not in (TURNS, PROPOSE, PICK):
            raise self.illegal(f"{quoted}: {self.why_not(OFFER)}")
        found = np.flatnonzero((data.offers == content).all(1))
        if len(found) and self.legal[env.first[OFFER] + found[0]]:
            return env.action(OFFER, int(found[0]))
        raise self.illegal(f"{quoted}: {data.bounds_words(self.seen, content)}")

    def composed(self, content: np.ndarray, quoted: str) -> Action:
        """The action of an offer of these amounts, if it can be made."""
        env, data = self.env, self.data
        if not self.legal[env.first[OFFER]]:
            raise self.illegal(f"{quoted}: {self.why_not(OFFER)}")
        if not content.any():
            raise self.illegal(f"{quoted}: {data.bounds_words(self.seen, content)}")
        start = env.moves
        for part, most in enumerate([*data.most, *data.most]):
            size = int(most) + 1
            units, good = int(content[part]), data.goods[part % len(data.goods)]
            if units >= size or not self.legal[start + units]:
                bound = int(np.flatnonzero(self.legal[start : start + size])[-1])
                gives = part < len(data.goods)
                who = "you own only" if gives else "the other can own at most"
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
        offering = self.data.how_to_offer
        if self.seen.phase == PICK and self.data.flow == CHAT:
            offering = '"take ..."'
        names = {"offer": offering, "say": "say", "claim": "claim"}
        able = [names.get(kind, f'"{kind}"') for kind in able]
        return IllegalAction(f"{reason}. Now you can: {', '.join(able)}.")
