"""Reading the answer of a player of a negotiation: the move that it means, or why it means none.

`core/reading/answers.py` finds the part of an answer that decides. It must be one of the choices,
or a sentence of the grammars here: answers to an offer, moves without amounts and claims, which all
negotiations share, and offers, which each form words itself (`Scenario.offer_phrases`).
"""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.env import Action, IllegalAction
from manyhands.core.reading import answers, parts
from manyhands.core.reading.asides import MOST, is_reason, pieces
from manyhands.core.reading.bare import Remarks
from manyhands.core.reading.grammar import Grammar, Reading
from manyhands.core.reading.ranks import by_choice, ranked
from manyhands.core.reading.signs import NAME
from manyhands.core.reading.words import tokens, whole_number
from manyhands.core.talk import OTHER, clean
from manyhands.envs.negotiation import text as texts
from manyhands.envs.negotiation.choosing import said_alone
from manyhands.envs.negotiation.forms import Bargain, Pool, Shares
from manyhands.envs.negotiation.listing import in_one_line
from manyhands.envs.negotiation.moves import moves as moves_of
from manyhands.envs.negotiation.reporting import reported
from manyhands.envs.negotiation.state import (
    ACCEPT,
    CHAT,
    CLAIM,
    KINDS,
    OFFER,
    PASS,
    PICK,
    PROPOSE,
    READY,
    REJECT,
    RESPOND,
    SAY,
    TALK,
    TURNS,
    NegotiationState,
)
from manyhands.envs.negotiation.words import digits

if TYPE_CHECKING:
    from manyhands.envs.negotiation.env import Negotiation

# ---- phrases -------------------------------------------------------------------------------------

_OFFERED = Grammar({"": ["{choice}"]}, {"choice": {}})
_SPOKEN = Grammar({"": ["say", "say aloud", "speak"]})
_SAYS = re.compile(r"\bsay(?:\s|[*_`])*[:=\uff1a]", re.I)
# A line of words to say, or the mark in capitals behind a sentence.
_SAY_LINE = re.compile(
    r"^[^\w\n]*(?:(?i:move|action|answer|choice|reply|decision|my move)\W{1,6})?(?i:say)[^\w\n]*"
    r"[:=\uff1a]|(?<=[^\w\s,;:'\"(]\s)\W{0,2}SAY[*_]{0,2}:",
    re.M,
)
# Before a phrase of the game that stands as it is: who says it, to whom, or nothing.
_LEADS_TO_WORDS = re.compile(
    r"\W*(?:(?:so|ok|okay|well|now|then)\b[\s,]*)*(?:(?:(?:i|we|i'll|i will|i shall|let me|let's"
    r"|i want to"
    r"|i'd like to|i'm going to|i just|i'll just|i kindly|i go|go)\s+(?:will |just |kindly "
    r"|simply |(?:settle on|go with|go for|choose|pick|opt for) [^\".;:!?\n]{1,30} and )?)?"
    r"(?:say|tell|ask|answer|reply|respond|remind|message|send|broadcast|speak|use|with|choose"
    r"|pick)\b"
    r"[^.;:!?\n\"]{0,40}?|(?:my )?(?:msg|message|reply|answer|words?|choice|move|phrase)"
    r"(?: to [\w ]{1,20})?(?: is)?)?[\s:,\"\u201c'*_-]*",
    re.I,
)
_QUOTES = re.compile(
    r'(?P<lead>[^"\n]{1,60}?)"(?P<said>[^"\n]{3,60})"\W{0,3}'
    r"\b(?:as|since|because|which|to|so that|so"
    r'|in order to|hoping)\b (?P<why>[^"\n]{3,160})'
)
# A sentence around a phrase: "A friendly "thank you" is what I say now".
_IS_SAID = re.compile(
    r'\W*(?:(?:a|an|my|one|just)(?: \w+){0,2} "(?P<first>[^"\n]{3,60})" is (?:what'
    r"|all) i(?:\'ll| will)?"
    r" (?:say|send|answer|reply)(?: now| today| here| this time| this round| to (?:all|them"
    r"|everyone))*"
    r"|(?:what|all|the \w+) (?:the others?|they|he|she|everyone|you|[a-z]+_\d+)"
    r"(?:'ll| will| shall)?(?: gets?(?: to)?)? (?:hears?|reads?|gets?)(?: from me)?(?: now"
    r"| today)? is"
    r':? "(?P<last>[^"\n]{3,60})(?:"|\Z))(?:, (?P<why>[^"\n]{3,60}))?\W*'
)
_SO_SAYS = re.compile(r"(?P<why>[^.;:!?\n\"]{3,100}),? so (?=i |i'll )")
_DENIED = re.compile(r"\b(?:not|never|\w+n't|no|instead|if|avoid|would|could|or)\b", re.I)
# What stands for a move of its own.
_A_MOVE = re.compile(
    r"\d|\b(?:offer\w*|propos\w+|accept\w*|reject\w*|declin\w+|agree\w*|deal|take|give|trade|sell"
    r"|buy|pay|pass|walk|leave|quit|claim|vote|pledge|ready|keep|price|yes|no|action|want"
    r"|ask for)\b",
    re.I,
)
_QUOTED = re.compile(r"\"[^\"\n]{1,80}\"|\u201c[^\u201d\n]{1,80}\u201d|^[ \t]*>.*$", re.M)
# The number of a step of a plan.
_STEP = re.compile(r"^\W*(?:step \d+\b|\d+[.)](?=\s))\W*", re.I | re.M)
# What is said to somebody, set off by commas ("Partner: ..." is what it said); and what stands
# around a move without a meaning.
_WHO = (
    r"(?:(?:my|dear|good|old) )*(?:friends?|partners?|mate|buddy|pal|colleagues?|neighbou?rs?"
    r"|folks|sir|madam|everyone|everybody)"
)
_ADDRESS = re.compile(
    rf"^\W*(?!partner\s*:){_WHO}\s*[,!:]\s*"
    rf"|,\s*{_WHO}(?=\s*[,.!?;]|\s*$)",
    re.I,
)
# "Partner, please offer more": asked of somebody, no move of the one who says it.
_ASKED = r"(?:offer|propos|suggest|bid|counter|pass|walk|leave|quit|claim|pledge|vote|go|be)\w*\b"
_ASKS = re.compile(
    rf"\W*(?:{_WHO}|{NAME})\W+please,? {_ASKED}.*"
    rf"|\W*please,? {_ASKED}.*,\s*(?:please,? )?(?:{_WHO}|{NAME})\W*"
    rf"|\W*{_ASKED}.*, please,? (?:{_WHO}|{NAME})\W*",
    re.I | re.S,
)
_AROUND = re.compile(
    r"^\W*as (?:we )?(?:agreed|promised|discussed|said|proposed|planned)\s*,\s*"
    r"|,\s*as (?:we )?(?:agreed|promised|discussed|said|proposed|planned)\W*$"
    r"|^\W*(?:i'll|i will|i shall|let me) (?:start|begin|open) (?:by|with) "
    r"|(?<=, so )(?:let me |i'll |i will )(?:start|begin|open) (?:by|with)(?::|\s)\s*"
    r"(?=(?:offer|bid|propos|suggest))"
    r"|[,\s]+(?:out of|on) principle\W*$"
    r"|,?\s+and (?:we(?:'re| are) (?:good|done|set|even)|we(?:'ve| have)(?: got)? a deal"
    r"|(?:it's|that's) a deal|call it a deal)\W*$"
    r"|^\W*(?:instead\s*,?|no\s*,?\s*but)\s+(?=i\b|i'd\b|i'll\b|my\b)|,\s*(?:i'm |i am )?sorry\W*$",
    re.I,
)
# "No, I offer 30": the offer is the answer.
_INSTEAD = re.compile(
    r"^\W*nah\s+(?=\$?\d)"
    r"|^\W*(?:no|nope|nah)(?: thanks)?\s*[,.;]\s*(?=\$?\d|my (?:offer|price|counter\w*|proposal)\b"
    r"|(?:i|i'll|i'd|i can|i will|let me) (?:offer|propose|suggest|counter|give|pay|ask)\b)"
    r"|^\W*i (?:reject|decline|refuse|turn down) (?:it|that|this|(?:your|the|this|that) "
    r"(?:offer|deal|trade|proposal|price))\s*[,;.]?\s*(?:and|but)\s*(?:i\s+)?"
    r"(?=(?:offer|propose|suggest|counter)\b)",
    re.I,
)
# A conclusion that names no amounts, so that amounts of the reason cannot be part of it.
_PLAINLY = re.compile(
    r"(?P<why>.+)[,;.!]\s*(?:and\s+)?(?:so|therefore|thus|hence)\s*,?\s*(?P<main>(?:(?:i|i'll"
    r"|i will|i must|i have to|i'd better)\s+)?(?:accept|reject|decline|refuse|vote (?:yes|no)"
    r"|walk away|pass|yes|no)(?: (?:it|this|that|(?:your|the|this|that) (?:offer|deal|trade"
    r"|proposal|price|split)))?)\W*",
    re.I | re.S,
)
# An answer to an offer, with a reason before or behind it.
_ANSWERS = (
    re.compile(
        r"(?P<why>.+?)[,;.!\u2014]\s*(?:and |but )?(?P<so>so|therefore|thus|hence)\b,?\s+"
        r"(?P<main>.+)",
        re.I | re.S,
    ),
    re.compile(
        r"(?P<why>.+)(?:[,;.!]|\s[-\u2013\u2014]|\u2014)\s*(?:and |but )?(?:(?:obviously|clearly"
        r"|of course|like this"
        r"|this way|as it is|at (?:that|this) price|on (?:these|those) terms|for (?:that"
        r"|this)),? )?"
        r"(?P<main>(?:i|i'll|i'm|let's"
        r"|deal|sold|agreed|done|rejected|declined|rejecting|declining|refusing"
        r"|take my money|with pleasure)\b[^,;.!]*[.!]*)",
        re.I | re.S,
    ),
    re.compile(r"(?P<main>.+?),?\s+(?P<so>since|because|as)\s+(?P<why>.+)", re.I | re.S),
    # "I turn that down, it costs me 390."
    re.compile(
        r"(?P<main>[^,;.!:]+?)\s*[,;.!:\u2014]\s*(?:it|that|this) (?:would "
        r"|will )?(?P<why>(?:costs?"
        r"|loses?|earns?|gains?|gives?|brings?) me [\w ]{1,30})\W*",
        re.I | re.S,
    ),
    # "Deal! Eight points of gain is plenty for me."
    re.compile(
        r"(?P<main>[^,;.!:]+?)\s*[,;.!:\u2014]\s*(?P<so>)(?P<why>(?:(?:a|the) (?:gain|profit) of )?"
        r"[\w-]+(?: coins?| points?)?(?: of (?:gain|profit))? (?:is|are|beats|beat)"
        r" (?:nothing|(?:plenty|enough|fine|good|fair|okay|ok|better than nothing)(?: enough)?)"
        r"(?: (?:for|by|with|to) me)?)\W*",
        re.I | re.S,
    ),
)
# What leaves such a reason open, or makes it another's; what is denied is no reason to accept.
_OPEN = re.compile(
    r"\b(?:when\w*|once|after|before|next|later|would|could|might|may|should|what|who|how|which"
    r"|(?:don't|do not|not) (?:know|sure)|doubt\w*|thinks?|but|want\w*"
    r"|i'd|(?:they|he|she|you)'ll|(?:you|they|he|she|player_\d+) "
    r"(?:accept|reject|decline|refuse|agree"
    r"|vote|must|walk|pass)\w*)\b",
    re.I,
)
# A refusal stands whatever else would be taken.
_WOULD = re.compile(r"\b(?:would|could|might|but|i'd)\b", re.I)
_DENIES = re.compile(r"\b(?:no|not|never|nothing|cannot|\w+n't|hardly|too)\b", re.I)
# "34?! I can pay 20."
_PRICE_ECHOED = re.compile(
    r"\W*(?:(?:only|just|really|what|wow|ha)\b,? )?\$?(?P<n>\d{1,4})(?: coins?| "
    r"dollars?)?\s*\?[?!]*\s+"
    r"(?=[^?]*\Z)",
    re.I,
)
# Behind an offer, whether the other likes it.
_TAG = re.compile(
    r"[,;.!\u2014-]?\s*\b(?:fair(?: enough)?|ok(?:ay)?|deal|agreed|good|right|yes|what do you "
    r"(?:say|think)"
    r"|(?:that )?sounds? (?:good|fair|okay)(?: to you)?|how(?:'s| is| about) that|are you in"
    r"|interested"
    r"|(?:does|would) that work(?: for you)?|is (?:that|it) (?:ok|okay|fair|good)(?: for "
    r"you)?)\s*\?+\s*\Z",
    re.I,
)
# "8 for you and 2 for me? Forget it": the offer that stands, said again in wonder.
_ECHOED = re.compile(r"\W*(?P<offer>[^?!.:;\n]{1,60})\?[?!]*\s*(?P<rest>\S.*)", re.S)
# "Their 30", "thirty is": the price that stands, as a reason has it.
_THEIR_PRICE = re.compile(
    r"(?:^|\b(?:their|your|his|her|buyer's|seller's|(?:offer|price|bid) of) )(\d+)\b(?! (?:more"
    r"|less|better))"
)
_MY_SHARE = re.compile(r"^(\d+)(?: coins?)? (?:is|are|beats)\b")
_OF_WORDS = re.compile(
    r"\b(?:no (?:words?|comments?|message|remarks?)|nothing to (?:say|add)|say(?:ing)? nothing"
    r"|silen\w+|(?:stay|keep|remain)(?:ing)? quiet|discussion)\b",
    re.I,
)
# A conclusion behind a reason whose amounts are no part of it, since no part of it is an offer.
_CONCLUDES = re.compile(
    r"(?P<why>.+)(?:[,;.!]\s*(?:and\s+|but\s+)?(?:so|therefore|thus|hence)\s*,?|[.!;])\s*"
    r"(?P<main>(?:i|i'll|i will|let me) (?:now )?(?:catch|harvest|take|keep|fish for|give|offer"
    r"|propose|bid|counter|ask|pay|accept|pledge|claim)\b[^.,;!]+)[.!]*\s*",
    re.I | re.S,
)
_OWN_MOVE = re.compile(
    r"\b(?:i'll|i'd|i will|i would|i could|i (?:can|must|should)?\s*(?:catch|harvest|take|fish|give"
    r"|offer|propose|bid|counter|ask|pay|accept|reject|pass|sell|buy)|let me)\b",
    re.I,
)
_THEIRS = re.compile(
    r"\b(?:you|they|player_\d+) (?:want|accept|reject|decline|refuse|vote|must|should)\b"
    r"|\bi (?:agree|accept|reject|decline|refuse)\b|^\W*(?:yes|no|deal|agreed)\b",
    re.I,
)
_BEFORE = re.compile(
    r"^\W*(?:sorry,? )?(?:no,? )?(?:(?:that|this|it|\d+|your (?:offer|price|bid)|the price)"
    r"(?:['\u2019]s| is)? (?:just |simply |way |far |a bit |a little |still |really )?"
    r"(?:too (?:much )?(?:much|high|low|little|expensive|cheap|steep|dear|pricey)"
    r"|not (?:good )?enough)"
    r"|not (?:good )?enough|too (?:much|high|low|little|expensive|cheap|steep|dear|pricey))"
    r"(?: for me)?\s*[,;.!\u2013\u2014]+\s*(?:but |so )?(?=\S)",
    re.I,
)
# In private: what was proposed, or exactly what the other leaves.
_AS_PROPOSED = re.compile(
    r"(?:(?:i|i'll|i will|let me) )?(?:stay (?:by|with)|stick (?:to|with)|keep to|stand by|follow)"
    r" (?:my|our|the) (?:own )?(?:proposal|offer|word|plan)",
    re.I,
)
_REST = re.compile(
    r"(?:(?:i|i'll|i will|let me) )?(?:(?:take|state|choose|claim|keep) )?"
    r"(?:(?:exactly |just )?the (?:rest|remainder|other part)|(?:everything|all|what(?:ever)?)"
    rf"(?: that)? (?:he|she|they|{NAME}) (?:left|leaves|did not take|didn't take|does not take"
    r"|doesn't take)(?: me| for me)?)",
    re.I,
)
# "I accepted" tells of the past, "accepted" alone accepts.
_PAST = re.compile(
    r"\b(?:i|we|you|they|he|she) (?:have |had |already |just )*"
    r"(?:accepted|agreed|approved|rejected|declined|refused|sold)\b",
    re.I,
)
_FIRST = re.compile(r"\b(?:i|i'll|me|my|mine|myself|let's)\b", re.I)
_NOTHING = re.compile(r"\W*(?:action\W*)?", re.I)
_NOTED = re.compile(r"\W*([yn])\W*", re.I)
_SHORT_NAME = re.compile(r"\bp(\d)\b", re.I)


# ---- reading -------------------------------------------------------------------------------------


def parse(env: Negotiation, text: Any, state: NegotiationState, agent: int) -> Action:
    """The action that an answer means; `IllegalAction` if it means none, more than one, or one that
    is not allowed now."""
    return _Reader(env, state, agent).read(text)


class _Reader:
    """Reads one answer of one player."""

    def __init__(self, env: Negotiation, state: NegotiationState, agent: int):
        self.env, self.state, self.agent = env, state, agent
        self.seen = texts.observation(env, state, agent)
        self.legal = texts.legal(env, state, agent)
        self.data = env.scenario
        self.said = ""

    def read(self, text: Any) -> Action:
        if not self.legal.any():
            raise IllegalAction("it is not your turn")
        if isinstance(text, str) and len(text) <= answers.MAX_ANSWER:
            text = self.listed_words(text)
            text = self.listed(_SHORT_NAME.sub(r"player_\1", text))
            rest, say = parts.split_say(text)
            if say is not None and self.env.chat is not None:
                limit = self.env.chat.max_length
                if len(say) > limit:
                    raise IllegalAction(
                        f"your words have {len(say)} characters; at most {limit} are heard"
                    )
                if self.is_courtesy(rest):
                    return self.words(say)
                alone = self.seen.phase == TALK and _SAY_LINE.search(text)
                if alone and parts.condense(rest) is None:
                    # Talk is all there is to do: what is not marked is thought.
                    try:
                        return self.decided(rest)
                    except IllegalAction:
                        return self.words(say)
                thought = _STEP.sub("", _QUOTED.sub("", rest))
                if _SAY_LINE.search(text) and not _A_MOVE.search(thought) and self.may_speak():
                    try:
                        return self.decided(thought)
                    except IllegalAction:
                        return self.words(say)
        return self.decided(text)

    def listed_words(self, text: str) -> str:
        """An answer that names words to say by their place in the list of choices, as those."""
        named = ranked(text, lambda: self.env.choices(self.state, self.agent, None), alone=True)
        return str(named) if str(named).startswith("say:") else text

    def decided(self, text: Any) -> Action:
        return by_choice(
            text, lambda: self.env.choices(self.state, self.agent, None), self.decided_in_words
        )

    def decided_in_words(self, text: Any) -> Action:
        noted = _NOTED.fullmatch(text) if isinstance(text, str) else None
        if noted and self.seen.phase in (TURNS, RESPOND):
            text = {"y": "yes", "n": "no"}[noted[1].lower()]
        echo = _PRICE_ECHOED.match(text) if isinstance(text, str) and self.data.width == 1 else None
        if echo and self.seen.marked("offer_by") and int(echo["n"]) == int(self.seen["offer"][0]):
            text = text[echo.end() :]
        tag = _TAG.search(text) if isinstance(text, str) and len(text) <= MOST else None
        before = text[: tag.start()] if tag and self.data.bargains else ""
        if before and "?" not in before and self.offers(self.bare(before)):
            text = before
        action = self.decision(text)
        chooses = self.seen.phase in (PICK, PROPOSE)
        # "No words from me, I pass" keeps to talk, which is over.
        words = chooses and isinstance(text, str) and _OF_WORDS.search(text)
        if words and np.array_equal(action, self.env.action(PASS)):
            raise self.illegal("the talk is over, and that is about words")
        return action

    def decision(self, text: Any) -> Action:
        return answers.decide(
            text,
            self.mean,
            self.illegal,
            what="move",
            me=self.env.agents[self.agent],
            calm=_is_calm,
            remarks=Remarks(calm=_is_remark),
        )

    def listed(self, text: str) -> str:
        """An answer in which a list of all players' shares, "player_0: 40, player_1: 60", says "me"
        of the one who answers: a name with a colon before a move tells who makes it."""
        others = [name for k, name in enumerate(self.env.agents) if k != self.agent]
        text = in_one_line(text, others[0] if len(others) == 1 else "")
        names = [name for name in self.env.agents if f"{name}:" in text]
        me = self.env.agents[self.agent]
        if len(names) < 2 or me not in names:
            return text
        return re.sub(rf"\b{me}:\s*(?=\d)", "me: ", text)

    def may_speak(self) -> bool:
        """Whether words alone are a move now."""
        return any(self.legal) and any(choice.startswith("say") for choice in self.named())

    def phrase(self, text: str) -> str | None:
        """The phrase of the game that an answer is, or says that it says."""
        plain = parts.normalise(text).strip(parts.WRAPPING + "?'")
        for phrase in self.env.phrases:
            words = parts.normalise(phrase).strip(".!?")
            if not plain.endswith(words):
                continue
            lead = plain[: len(plain) - len(words)]
            lead = self.concluding(lead)
            short = len(lead) <= 100
            if short and _LEADS_TO_WORDS.fullmatch(lead) and not _DENIED.search(lead):
                return phrase
        return None

    def phrase_with_reason(self, text: str) -> str | None:
        """The phrase of the game that an answer quotes, and gives a reason for: "I choose "trust
        me", as it is true"."""
        found = _QUOTES.fullmatch(
            parts.normalise(text).replace("\u201c", '"').replace("\u201d", '"')
        )
        if found is None or not is_reason(found["why"]) or _A_MOVE.search(found["why"]):
            return None
        lead = found["lead"]
        if not lead or _DENIED.search(lead) or not _LEADS_TO_WORDS.fullmatch(lead):
            return None
        said = found["said"].strip(" .!?,")
        return next((p for p in self.env.phrases if parts.normalise(p).strip(".!?") == said), None)

    def phrase_presented(self, text: str) -> str | None:
        """The phrase of the game that an answer presents as what it says, in a sentence around it:
        "A friendly "thank you" is what I say now"."""
        found = _IS_SAID.fullmatch(
            parts.normalise(text).replace("\u201c", '"').replace("\u201d", '"')
        )
        if found is None or (found["why"] and not is_reason(found["why"])):
            return None
        said = (found["first"] or found["last"]).strip(" .!?,")
        return next((p for p in self.env.phrases if parts.normalise(p).strip(".!?") == said), None)

    def concluding(self, lead: str) -> str:
        """What leads to words to say, without the reason before it, where talk is all there is to
        do: "I want a fair split, so I say: "."""
        found = _SO_SAYS.match(lead)
        if found is None or self.seen.phase != TALK or not is_reason(found["why"]):
            return lead
        return lead[found.end("why") :]

    def is_courtesy(self, rest: str) -> bool:
        """Whether what stands before words to say is nothing."""
        return bool(_NOTHING.fullmatch(rest) or _SPOKEN.read(f"{rest} say"))

    def mean(self, answer: parts.Answer) -> Action | None:
        """The action that a decisive part means."""
        if _ASKS.fullmatch(answer.text):
            return None
        answer = dataclasses.replace(answer, text=self.bare(answer.text))
        says = _SAYS.search(answer.text)
        if says and self.env.chat is not None and self.is_courtesy(answer.text[: says.start()]):
            return self.words(answer.text[says.end() :].strip(parts.WRAPPING))
        if self.env.chat is not None and answer.kind != parts.REASON:
            phrase = (
                self.phrase(answer.text)
                or self.phrase_with_reason(answer.text)
                or self.phrase_presented(answer.text)
            )
            if phrase is not None and (
                self.seen.phase == TALK
                or ("offer_by" in self.seen.at and not self.seen.marked("offer_by"))
            ):
                return self.words(phrase)
            told = reported(
                tuple(self.env.phrases), tuple(self.env.agents), self.agent, answer.text
            )
            if told and self.may_speak():
                return self.words(told)
        named = self.named()
        chosen = _OFFERED.read(answer.text, {"choice": _longest(named)})
        if len(chosen) == 1:
            return self.choice(chosen[0].values["choice"])
        private = self.seen.phase == PICK and self.data.flow == CHAT
        own = self.seen.marked("offer_by") == 0 if private else False
        if private and (_REST if not own else _AS_PROPOSED).fullmatch(answer.plain):
            return self.head(ACCEPT, [], answers.quoted(answer.text))
        self.said = answer.plain
        past = _PAST.search(answer.plain)
        silent = self.seen.phase not in (PICK, PROPOSE)
        moves = [] if past else moves_of(self.data, self.agent, silent).read(answer.text)
        kinds = {reading.meaning for reading in moves}
        quoted = answers.quoted(answer.text)
        if len(kinds) == 1 and kinds != {CLAIM}:
            kind = kinds.pop()
            try:
                return self.head(kind, moves, quoted)
            except IllegalAction:
                # "I take it for 40" may be an offer, where no such one stands.
                if kind != ACCEPT or not any(reading.values for reading in moves):
                    raise
                try:
                    offer = self.offer(answer, quoted)
                except IllegalAction:
                    offer = None
                if offer is None:
                    raise
                return offer
        if len(kinds) == 1:
            return self.claim(moves, quoted)
        if kinds or (answer.kind == parts.BRACKET and not re.search("[a-z]", answer.plain)):
            return None
        return self.offer(answer, quoted)

    def bare(self, text: str) -> str:
        """An answer without forms of address ("my friend"), apologies, complaints before an offer
        and the like, which mean no move."""
        for pattern in (_ADDRESS, _AROUND):
            text = pattern.sub("", text)
        plain = _PLAINLY.fullmatch(text) if len(text) <= MOST and "?" not in text else None
        if plain and is_reason(plain["why"]) and not _THEIRS.search(plain["why"]):
            return plain["main"]
        answered = self.answered(text)
        if answered:
            return answered
        concluded = self.concluded(text)
        if concluded:
            return concluded
        text = _INSTEAD.sub("", text)
        if self.data.players == 2:
            text = re.sub(rf",\s*(?:dear )?{self.env.agents[1 - self.agent]}\W*$", "", text)
        return _BEFORE.sub("", text)

    def answered(self, text: str) -> str:
        """The answer to an offer of a sentence that gives a reason for it, which may deny what
        makes one refuse: "I don't have eleven wood, so I turn that one down"; else ""."""
        if len(text) > MOST or "?" in text or not isinstance(self.data, Bargain):
            return self.echoed(text) if "?" in text else ""
        for shape in _ANSWERS:
            found = shape.fullmatch(text)
            if found is None:
                continue
            why, main = found["why"], found["main"]
            kinds = self.kinds(main)
            known = _WOULD.sub("", why) if kinds == {REJECT} else why
            if kinds not in ({ACCEPT}, {REJECT}) or _OPEN.search(known) or not is_reason(why):
                continue
            if kinds == {ACCEPT} and "so" not in found.groupdict() and _DENIES.search(why):
                continue
            if self.fits_standing(why, kinds == {ACCEPT}) and all(
                self.kinds(part) <= kinds and not self.offers(part) for part in pieces(why) or [""]
            ):
                return main
        return ""

    def echoed(self, text: str) -> str:
        """What an answer says behind the offer that stands, which it repeats in wonder, if
        it answers that; else ""."""
        found = _ECHOED.fullmatch(text) if len(text) <= MOST and text.count("?") < 4 else None
        if found is None or not self.seen.marked("offer_by") or "?" in found["rest"]:
            return ""
        said = {int(n) for n in re.findall(r"\b\d{1,4}\b", digits(tokens(found["offer"])))}
        standing = set(self.seen["offer"].tolist())
        if isinstance(self.data, Pool):
            standing |= set((self.seen["pool"] - self.seen["offer"]).tolist())
        if not said or not said <= standing:
            return ""
        kinds = self.kinds(found["rest"])
        if kinds == {ACCEPT} and self.data.composed:
            # Other goods are another offer.
            there = zip(self.data.goods * 2, self.seen["offer"].tolist(), strict=True)
            traded = {good for good, units in there if units}
            named = {good for good in self.data.goods if good in found["offer"].lower()}
            return found["rest"] if named and named <= traded else ""
        return found["rest"] if kinds in ({ACCEPT}, {REJECT}) else ""

    def kinds(self, text: str) -> set[Any]:
        """The moves without amounts that a text names."""
        if _PAST.search(text):
            return {None}
        silent = self.seen.phase not in (PICK, PROPOSE)
        return {r.meaning for r in moves_of(self.data, self.agent, silent).read(text)}

    def offers(self, text: str) -> bool:
        """Whether a text names an offer by itself, possible or not."""
        try:
            return self.data.read_offer(self.seen, text) is not None
        except IllegalAction:
            return True

    def fits_standing(self, why: str, all_of_it: bool) -> bool:
        """Whether the amounts in a reason are those of the offer that stands."""
        said, offer = digits(tokens(why)), self.seen["offer"]
        if not self.data.composed:
            shared = isinstance(self.data, Shares)
            prices = _MY_SHARE.findall(said) if shared else []
            prices = _THEIR_PRICE.findall(said) if self.data.width == 1 else prices
            return all(int(price) == int(offer[0]) for price in prices)
        for k, good in enumerate(self.data.goods if all_of_it else ()):
            units = {int(offer[k]), int(offer[k + len(self.data.goods)])}
            for n in re.findall(rf"\b(\d+) (?:of (?:my|your|their|his|her) )?{good}s?\b", said):
                if int(n) not in units:
                    return False
        return True

    def concluded(self, text: str) -> str:
        """The conclusion of a sentence whose reason has amounts that are no offer: "30 is above my
        cost of 20, so I counter with 38"; else ""."""
        if len(text) > MOST or "?" in text:
            return ""
        found = _CONCLUDES.fullmatch(text)
        if not found or not is_reason(found["why"]) or _OWN_MOVE.search(found["why"]):
            return ""
        if self.data.composed and (
            " for " not in found["main"] or re.search(r"\b(?:you|they|your|their)\b", found["why"])
        ):
            return ""
        for part in pieces(found["why"]) or [""]:
            try:
                if not part or self.data.read_offer(self.seen, part) is not None:
                    return ""
            except IllegalAction:
                return ""
        return found["main"]

    def named(self) -> dict[str, int]:
        """The choices by their words: alone, with their effects, and told as families."""
        offered = texts.choices_of(self.env, self.state, self.seen, self.legal, parts=True)
        names = {_words_of(choice): k for k, choice in enumerate(offered)}
        families: dict[int, list[int]] = {}
        for k, choice in enumerate(offered):
            if choice.effect:
                names.setdefault(_words_of(choice.text), k)
            if choice.form is not None:
                families.setdefault(id(choice.form), []).append(k)
        for family in families.values():
            for k in {family[len(family) // 2], family[0]}:
                form = offered[k].form
                assert form is not None
                names.setdefault(_words_of(f"{offered[k].text}: {form.effect}"), k)
        return names

    # ---- kinds of moves -------------------------------------------------------------------

    def words(self, say: str) -> Action:
        """Words alone: a phrase, as a move."""
        say = said_alone(say)
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
            offered = texts.choices_of(self.env, self.state, self.seen, self.legal, parts=False)
            return offered[index].action
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

    def head(self, kind: int, moves: list[Reading], quoted: str) -> Action:
        """A move without amounts."""
        data, seen = self.data, self.seen
        maker = seen.marked("offer_by")
        if kind in (ACCEPT, REJECT) and isinstance(data, Bargain) and maker:
            seat = (maker + self.agent) % data.players
            for values in (reading.values for reading in moves):
                if values.get("maker", seat) != seat:
                    raise self.illegal(f"{quoted}: the standing offer is of {seen.who(maker)}")
                if values.keys() - {"maker", "good"} and not data.accepts(seen, values):
                    words = data.offer_words(seen, maker, seen["offer"])
                    raise self.illegal(f"{quoted}: the standing offer is another: {words}")
        if data.flow == CHAT and kind == ACCEPT:
            # Nothing binds here; to agree is to end the talk, and then to choose accordingly.
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

    def claim(self, moves: list[Reading], quoted: str) -> Action:
        claims = self.data.claims
        stated = {(move.values.get("good", 0), move.values["n"]) for move in moves}
        if len(stated) != 1 or not self.env.sizes[CLAIM]:
            raise self.illegal(f"{quoted}: {self.why_not(CLAIM)}")
        good, number = stated.pop()
        fits = np.flatnonzero((claims[:, 0] == good) & (claims[:, 1] == number))
        if not len(fits):
            known = claims[claims[:, 0] == good, 1]
            every = int(np.diff(known).min()) if len(known) > 1 else 1
            raise self.illegal(
                f"{quoted}: {int(known[0])} to {int(known[-1])}"
                f"{f' in steps of {every}' if every > 1 else ''} can be claimed here"
            )
        return self.move(CLAIM, int(fits[0]), quoted=quoted)

    # ---- offers ---------------------------------------------------------------------------

    def offer(self, answer: parts.Answer, quoted: str) -> Action | None:
        try:
            content = self.data.read_offer(self.seen, answer.text)
        except IllegalAction as error:
            if answer.kind == parts.BRACKET:
                return None
            raise self.illegal(f"{quoted}: {error.reason}") from None
        if content is None:
            return None
        if self.data.composed:
            return self.composed(content, quoted)
        if not self.data.bargains and not content.any() and self.seen.phase == PICK:
            return self.env.noop
        return self.enumerated(content, quoted)

    def enumerated(self, content: np.ndarray, quoted: str) -> Action:
        """The action of an offer (catch, gift) with this content."""
        env, data = self.env, self.data
        own = self.seen.phase == RESPOND and _FIRST.search(self.said)
        try:
            agreed = data.means_standing(self.seen, content) and (
                own or data.agrees(self.seen, self.said)
            )
        except IllegalAction as error:
            raise self.illegal(f"{quoted}: {error.reason}") from None
        if agreed:
            return self.move(ACCEPT, quoted=quoted)
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
        offering = self.data.offer_hint
        if self.seen.phase == PICK and self.data.flow == CHAT:
            offering = '"take ..."'
        claim = "pledge" if self.data.about == "pledge" else "claim"
        names = {"offer": offering, "say": '"SAY: ..."', "claim": f'"{claim} ..."'}
        able = [names.get(kind, f'"{kind}"') for kind in able]
        return IllegalAction(f"{reason}. Now you can: {', '.join(able)}.")


def _is_calm(reason: str) -> bool:
    """Whether the reason of a move is no part of it: one with amounts, or of what others do, may be
    what is asked for it, as in "you give me 3 ore, so I give 2 wheat"."""
    said = tokens(_NO_AMOUNT.sub("", reason))
    amounts = any(whole_number(word) is not None for word in said)
    unwilling = _UNWILLING.search(reason) is not None
    return not (amounts or unwilling) and _AMOUNTS.isdisjoint(said)


def _is_remark(remark: str) -> bool:
    """Whether what is told beside a bare move asks for nothing: "throw in a hat, deal" does."""
    return _is_calm(remark) and (_TELLS.search(remark) is not None)


_TELLS = re.compile(
    r"^(?:wow|nice|great|perfect|fair|good|sounds|looks|seems|works|enjoy|accepting|gaining"
    r"|too \w+)\b"
    r"|\b(?:is|are|am|isn't|aren't|has|have|i need|i like|i love|i gain|suits|deserves?|makes?"
    r"|\w+'s|i'm)\b",
    re.I,
)
# "I hesitate to pledge: ...", "I regret my pledge: ...".
_UNWILLING = re.compile(
    r"\b(?:hesitat\w*|regret\w*|doubt\w*|hate|refuse|reluctant|not|never|\w+n't)\b.*"
    r"\b(?:pledge|promise|claim|say|offer|propose|state|commit)\W*$",
    re.I,
)
# Words for amounts and for others that stand for none: "the one I'm making", "looking at where
# everything stands", "with apologies to player_1".
_NO_AMOUNT = re.compile(
    r"\b(?:one (?:eye|line|step|sensible|thing|of the|more reason|last look|by one|way or"
    r"|for tricks|good reason|i(?:'m)? (?:make|making|pick|choose|take))"
    r"|(?:this|that|only|right|quick|good|bold|careful|cautious|sound|the|easy|simple|useful) one"
    r"(?=\s*(?:[,:;.!]|\Z|(?:i|i'm|is|that|to|who|here|now|this)\b))"
    r"|(?:i wish|thank|keep|kept|keeping|sorry to keep|good luck to|transparent with"
    r"|honest with|respect to|luck to) you(?: all)?|you know\b"
    r"|all (?:right|things considered|the same|of (?:that|this)|in all|the noise|the moves"
    r"|the (?:choices|options)|i (?:need|have) to do|i do|the while)|after all|above all|of all"
    r"|everything (?:is in place|stands|up|points|else|considered|i know|we know|together)"
    r"|(?:the|for the|handle the|do the) rest(?: (?:can wait|of the (?:game|day|way)|is "
    r"(?:up to|history|easy)))?(?=\W*$)|(?:both|all) of us"
    rf"|{NAME}(?! (?:will |should |must |can |may |to |now )?(?:gives?|giving|pays?|takes?|gets?"
    r"|offers?|trades?|hands?|adds?|keeps?|accepts?|owes?|returns?)\b))\b",
    re.I,
)
_AMOUNTS = frozenset(("half", "all", "both", "everything", "rest", "you", "they", "he", "she"))


@functools.lru_cache(maxsize=8192)
def _words_of(line: str) -> str:
    return " ".join(tokens(line))


def _longest(named: dict[str, int]) -> Any:
    """A slot for choices, whose words are the whole of what follows, but for courtesy."""
    sizes = sorted({len(words.split()) for words in named}, reverse=True)

    def read(words: list[str], i: int) -> Any:
        for size in sizes:
            said = " ".join(words[i : i + size])
            if said in named and i + size <= len(words):
                yield named[said], size

    return read
