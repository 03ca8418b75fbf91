"""What players say in words of their own, as far as it is about the game: `hear`.

Each sentence of a message is read with a grammar, like an answer (`reading.py`); offers are read by
the form's own one, as their speaker says them. What is not understood is left out.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.core.env import IllegalAction
from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.words import names
from manyhands.envs.negotiation.forms import Scenario
from manyhands.envs.negotiation.state import PICK, TURNS
from manyhands.envs.negotiation.words import Observation, amounts, named

if TYPE_CHECKING:
    from manyhands.envs.negotiation.env import Negotiation

WORTH, LIMIT, LEAST, MOST, USELESS, OWNS = "worth", "limit", "least", "most", "useless", "owns"
OFFER, TOO_LITTLE, LIKES, LAST, YIELDS, ASKS = (
    "offer", "too little", "likes", "last", "yields", "asks"
)  # fmt: skip
PLEDGE, KEEPS, FAIR = "pledge", "keeps", "fair"


class Heard(NamedTuple):
    """One thing that somebody said.

    Attributes:
        kind: what about it: `WORTH` (a unit of a good is worth `number` to the speaker), `LIMIT`
            (its cost, its value, or its worth of no deal), `LEAST` (it needs `number` at least, of
            a good if there is one), `MOST` and `USELESS` (the good that it values most; one that it
            has no use for), `OWNS`, `OFFER` (its `content`, as it would be offered), `TOO_LITTLE`,
            `LIKES`, `LAST` and `YIELDS` (what it says of the offers), `ASKS` (what others value),
            `PLEDGE` (it will catch, or give, `number`), `KEEPS` (its promises) and `FAIR` (equal
            parts for all).
        good: index of a good, or None.
        number: or None.
        content: i[K], an offer, or None.
    """

    kind: str
    good: int | None = None
    number: int | None = None
    content: tuple[int, ...] | None = None


_EACH = "[each|apiece|a piece|per unit|a unit]"
_TO_ME = "[to me|for me|from my side]"
_POINT = "[point|coin|dollar]"
_VERY = "[really|very|much|so|most|mainly|mostly|especially|only|just]"
_DEAL = "(offer|deal|proposal|price|bid|split|trade|exchange|swap|terms)"
_PHRASES: dict[str, tuple[str, ...]] = {
    WORTH: (
        "[(claim|state|know) [that]] [my|your|the|a|an|each|one|every] {good} "
        f"(is|are|'s) [about|around] worth [about|around] {{n}} {_POINT} {_EACH} {_TO_ME}",
        f"[my|the|a|an|each|one] {{good}} (has|have) [a] (value|worth) [of] {{n}} {_POINT} "
        f"{_TO_ME}",
        f"i value [my|the|a|an|each|one|every] {{good}} {_EACH} at [about|around] {{n}} {_POINT}",
        f"[a|an|each|one|every] {{good}} {_EACH} (gives|brings|gets|earns) me {{n}} {_POINT}",
        "i (get|gain|score) {n} [point] (for|from|per) [a|an|each|one|every] {good}",
        "my (value|worth) (for|of) [a|an|each|one|every] {good} is {n}",
    ),
    "more": ("{good} [is|are] [worth] [about|around] {n} [point|coin] [each] [to me]",
             "{good} at {n}", "{n} {good}"),
    LIMIT: (
        "[claim|state] [that] my (cost|value|limit|budget|maximum|minimum|valuation|reservation "
        "price) [is|are|of] [about|around|roughly|near] {amount}",
        "(it|the item|this item) (cost me|is worth|'s worth) [about|around] {amount} [to me]",
        "it's worth [about|around] {amount} to me",
        "[claim|state] [that] [having] no deal is worth {amount} [to me]",
        "i value (it|the item|this item) at [about|around] {amount}",
        "i (have|get) {amount} (without a deal|elsewhere|from elsewhere)",
        "i can get {amount} (without a deal|elsewhere|from elsewhere|without you)",
    ),
    LEAST: (
        "i (need|want|must have|must get|have to get|expect|require|have to have) "
        "(at least|no less than|a minimum of|minimum) {amount} [for (it|the item)]",
        "i (need|want|must have|must get|have to get) (at least|no less than) {n} {good}",
        "i (can't|cannot|can not|won't|will not|could not|couldn't) "
        "(go|sell|accept|take|do|sell it) [for] (below|under|less than|lower than) {amount}",
        "i (can't|cannot|can not|won't|will not|could not|couldn't) "
        "(go|pay|offer|do|spend) (above|over|more than|higher than|beyond) {amount}",
        "i (can|could|will|would) (pay|go|offer|spend|do) (at most|no more than|up to) {amount}",
        "(no less than|at least|not below|not less than|no more than|at most) {amount}",
        "{amount} is (my (limit|minimum|maximum|bottom line|last price)|the (least|most) "
        "(i can (do|accept|pay|take)))",
    ),
    MOST: (
        f"i {_VERY} (value|want|need|like|prefer) [the|my|your] {{good}} "
        "(most|the most|best|more than anything|above all)",
        f"i (need|want|care about|care for|am after|value) {_VERY} [the] {{good}} [most|the most]",
        "i'm after the {good}",
        "i (really|mainly|mostly|especially|only|just) (need|want|care about|value|like) [the] "
        "{good}",
        "[the] {good} (is|are) (most|very|more) (important|valuable) [to me|for me|of all]",
        "[the] {good} (matters|matter) (most|the most|a lot) [to me]",
        "my (favorite|favourite|priority|top priority) (is|are) [the] {good}",
        "what i (need|want|value) most (is|are) [the] {good}",
    ),
    USELESS: (
        "i (do not|don't) (need|want|value|like|care about|care for|care much about) "
        "[the|any|your] {good} [much|at all|so much]",
        "i have no (use|need) for [the] {good}",
        "[the] {good} (is|are) (worthless|useless|not important|unimportant|of no use) [to me]",
        "[the] {good} (is|are) (not worth much|worth nothing|worth little) [to me]",
        "i (do not|don't) need much of [the] {good}",
        "you (can|may) (have|take|keep) (all|all of) [the] {good}",
    ),
    OWNS: ("i (own|have|hold|got) [about] {n} {good}", "my stock of {good} is {n}"),
    TOO_LITTLE: (
        "(that's|that is|it's|it is|this is|that|it|your offer is|the offer is|your price is) "
        "[just|simply|still|way|much|far|a bit|a little|really] "
        "(too (low|little|high|much|expensive|cheap)|not enough|unfair|not fair|unacceptable) "
        "[for me|to me]",
        "too (low|little|high|much|expensive|cheap) [for me]",
        "(that|this|your|the) price (does not|doesn't) suit me",
        "(make me|give me|offer me|i need|i want|i expect) [a] (better|higher|lower|fairer) "
        f"[{_DEAL}]",
        "(can|could) you [please] (do|offer|go|make it) [any] (better|higher|lower)",
        "i (can't|cannot|can not|won't|will not) (accept|agree to|take|do) "
        f"(that|this|it|[your|this|that] {_DEAL})",
        f"(no|no deal|no way|nope) [to [that|this|your] {_DEAL}]",
        "[i] (reject|refuse|decline) [that|it|[your|this|that|the] offer]",
        "that was selfish",
    ),
    LIKES: (
        f"i (like|love|accept|agree to|am happy with) (it|that|this|[your|this|that|the] {_DEAL})",
        f"(that|this|it|[your|this|that] {_DEAL}) (works|is fine|is fair|is good|sounds good|is "
        "great|looks good|sounds fair) [for me|to me|by me]",
        "(that's|it's) (fine|fair|good|great|ok|okay|a deal) [for me|with me|by me]",
        "(sounds good|agreed|deal|i agree|we have a deal|it is a deal)",
        "(thank you|thanks)",
    ),
    LAST: (
        f"(that is|that's|this is|it is|it's) my (last|final) {_DEAL}",
        "(take it or leave it|i can not go further|i cannot go further|not a coin more)",
        f"[my] (last|final) {_DEAL}",
    ),
    YIELDS: (
        "i (can|could|will|would) (give way|come down|go up|move|give in) [a little|a bit|some]",
        "let us meet in the middle", "let's meet in the middle",
    ),
    ASKS: (
        "what do you (need|want|value|like) [most|the most|best]",
        "what (is|are) [the] ({good}|it|that|your good|things) worth to you",
        "which (good|item|one) do you (need|want|value|like) [most|the most|best]",
        "what is your (cost|value|limit|price)", "what price do you want",
        "tell me (what|which) [good|item] you (need|want|value|like) [most]",
    ),
    PLEDGE: (
        "[(pledge|promise|claim) [that] [to]|i'll|i will|i (promise|pledge|plan|intend) to|i can "
        "promise to] (catch|take|harvest|fish|give|donate) "
        "[at most|no more than|up to|only|just|you] {amount} [of fish] "
        "[this (month|round|time)|at most|or less]",
        "let us all (catch|take|harvest) [at most|no more than|up to|only|just] {amount} [each]",
        "let's all (catch|take|harvest) [at most|no more than|up to|only|just] {amount} [each]",
        "(everyone|everybody|each of us|all of us|we all|we) (should|must|can|could) "
        "(catch|take|harvest) [at most|no more than|up to|only|just] {amount} [each]",
    ),
    KEEPS: ("i keep my (promises|word)", "trust me", "i will (hold back|give) if you do",
            "(help|i help) those who help others"),
    FAIR: (
        "(let us|let's) [all] (share|split|divide) [it|this|everything] "
        "(fairly|equally|evenly|in half)",
        "(let us|let's) [all] take (the same|less|equal part)", "let's be fair", "let us be fair",
        "(let us|let's) all give (the same|more)", "(let us|let's) find a fair price",
        "we must save for later", "without a deal we both lose",
        "(without|with no) [a] deal (we|both of us) [both] (lose|get nothing|gain nothing)",
    ),
}  # fmt: skip
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\s*[;\n]\s*")
_CLAUSE = re.compile(r",\s*(?:and\s+|but\s+|so\s+)?|\s+(?:and|but|so|because|since)\s+", re.I)
_ASKED = re.compile(
    r"^(?:(?:can|could|would|will) (?:you|we) (?:please )?(?:do|go (?:to|for|with|down to|up to)"
    r"|make it|accept|take|pay|sell (?:it )?(?:for|at)|say|agree (?:to|on)|meet (?:me )?at)"
    r"|(?:how|what) about|(?:can|could|may) (?P<me>i) (?:have|get|take|keep)|is|would) "
    r"(?P<rest>.*?)(?: (?:ok|okay|fine|work|be fine)(?: for you)?)?"
    r"\s*\?*$",
    re.I,
)
_FILLING = re.compile(
    r"^(?:(?:well|hi|hello|hey|ok|okay|sorry|look|listen|please|honestly|frankly|to be honest"
    r"|my friend|friend|partner)[,!. ]+)+|[, ]+(?:my friend|friend|partner|please|thanks)[.!]*$",
    re.I,
)


@functools.lru_cache(maxsize=128)
def _grammar(data: Scenario, agent: int) -> Grammar:
    """Of what the player with this index may say about the game."""
    units = amounts("|".join([*data.goods, *data.units]))
    slots: dict[str, Any] = {
        "good": names(data.goods),
        "amount": units,
        **named(data.agents, agent),
    }
    keep = ("agreed", "deal", "thanks", "no", "yes")
    left_out = {PLEDGE, KEEPS} if data.bargains else {WORTH, "more", MOST, USELESS, LIMIT, LEAST}
    if not data.composed:
        left_out.add(OWNS)
    if data.bargains and len(data.goods) == 1:
        left_out |= {WORTH, "more", MOST, USELESS}
    phrases = {kind: lines for kind, lines in _PHRASES.items() if kind not in left_out}
    return Grammar(phrases, slots, keep=keep)


def hear(env: Negotiation, text: str, speaker: int, seen: Observation) -> list[Heard]:
    """What a message of the player `speaker` says about the game, sentence by sentence.

    Args:
        seen: what the listener knows, which says what is on the table.
    """
    found: list[Heard] = []
    listing = ""  # what a list is of: "wheat is worth 5 to me, wood 9"
    for sentence in _SENTENCE.split(text[:500]):
        whole = _FILLING.sub("", sentence.strip())
        if not whole:
            continue
        known = _read(env, whole, speaker, seen, "")
        if known:
            found += known
            continue
        for clause in _CLAUSE.split(whole):
            clause = _FILLING.sub("", clause.strip())
            heard = _read(env, clause, speaker, seen, listing) if clause else []
            listing = next((h.kind for h in heard if h.kind in (WORTH, OWNS)), listing)
            found += heard
    return found


def _read(
    env: Negotiation, sentence: str, speaker: int, seen: Observation, listing: str
) -> list[Heard]:
    data = env.scenario
    found = []
    for meaning, values in _grammar(data, speaker).read(sentence.rstrip("?.! ")):
        if meaning == "more":
            if not listing:
                continue
            meaning = listing
        number = values.get("amount", values.get("n"))
        found.append(Heard(str(meaning), values.get("good"), number))
    if found:  # of one sentence one thing, what is said of a good first
        return sorted(found, key=lambda h: (h.kind == TOO_LITTLE, h.good is None))[:1]
    content = _offer(env, sentence, speaker, seen)
    return [] if content is None else [Heard(OFFER, content=tuple(map(int, content)))]


def _offer(env: Negotiation, sentence: str, speaker: int, seen: Observation) -> np.ndarray | None:
    """i[K], the offer that a sentence names or asks for, as the speaker would make it."""
    data = env.scenario
    if not data.bargains:
        return None
    theirs = _Theirs(seen, speaker)
    asked = _ASKED.match(sentence)
    rest = f"{'i take ' if asked['me'] else ''}{asked['rest']}" if asked else ""
    for words in (sentence.rstrip("? "), rest):
        try:
            content = data.read_offer(theirs, words) if words.strip() else None
        except IllegalAction:
            continue
        if content is not None and _possible(env, content, theirs):
            return content
        if rest and words == rest:
            return _number(env, words)
    return None


def _number(env: Negotiation, words: str) -> np.ndarray | None:
    """i[1], a price that is named alone."""
    data = env.scenario
    alone = re.fullmatch(r"\W*(\d{1,3})(?: coins?)?\W*", words)
    if alone is None or data.width > 1 or data.composed or data.shows_pool:
        return None
    content = np.array([int(alone[1])])
    return content if (data.offers == content).all(1).any() else None


def _possible(env: Negotiation, content: np.ndarray, theirs: Observation) -> bool:
    data = env.scenario
    if data.composed:
        r = len(data.goods)
        sides = content[:r], content[r:]
        return bool(content.any() and all((side <= data.most).all() for side in sides))
    return bool((data.offers == content).all(1).any())


class _Theirs(Observation):
    """What the listener knows, read as another player: what that one owns and values is not
    known."""

    def __init__(self, seen: Observation, speaker: int):
        n = len(seen.names)
        names = [seen.names[(speaker - seen.agent + j) % n] for j in range(n)]
        self.row, self.at, self.names = seen.row, seen.at, names
        self.agent, self.you, self._public = speaker, False, seen
        self.phase = seen.phase if seen.phase not in (PICK,) else TURNS

    def __getitem__(self, name: str) -> Any:
        if name in ("own_holdings", "other_holdings", "own_values", "offer_by"):
            return np.zeros_like(self.row[self.at[name]])
        return self.row[self.at[name]]
