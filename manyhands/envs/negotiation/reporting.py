"""Words that a player says, told as a report: "I tell player_0 that we ought to share fairly".

The phrases of a game are read in the ways that a report turns them: "that we should ...", "to ...",
"what they need most", with "this" and "it" for "that". Other reports stay unread: who reads them
would make up the words.
"""

from __future__ import annotations

import functools

from manyhands.core.reading.grammar import Grammar
from manyhands.envs.negotiation.words import named

_WHO = (
    "({other}|them|him|her|you|everybody|everyone|all [of (you|them)]|the (others|other|other side"
    "|group|table|whole (group|table))|{player}|my (opponent|partner|neighbours))"
)
_TELL = (
    f"(say|tell {_WHO}|state|declare|remark|mention|add|stress|signal [to {_WHO}]|announce"
    f"|point out|explain|make [it] clear|let {_WHO} know|remind {_WHO} [of this]|warn {_WHO}"
    "|make it known|let it be known|(make|have|offer) a remark [(to|for) "
    f"{_WHO}]|plead with {_WHO}|(appeal|call) (to|on) {_WHO}|(assure|promise|urge) {_WHO}"
    f"|want {_WHO} to know|tell {_WHO} openly|message {_WHO}|reply [to {_WHO}]|answer [{_WHO}]"
    f"|say to {_WHO}|tell {_WHO} this) [that] [.]"
)
_URGE = f"(tell|ask|urge|invite|beg|remind|want|advise|encourage) {_WHO} to"
_ASK = f"(ask [{_WHO}]|want to know|inquire|ask {_WHO} about)"
_THEY = f"({_WHO}|it|they|he|she)"
_GIVEN = (
    "for (the|your|that|this|all [the]|their|his|her) [kind|generous|great] (help|gift|coin"
    "|kindness"
    "|generosity|support|present|donation)"
)
_KIND = f"[.] that was [very|really|so] (kind|generous|nice|good|great) [of {_WHO}]"
_FOR_HELP = f"[{_GIVEN}] [{_KIND}]"
_IT = "(that|this|it)"
_OFFER = f"({_IT}|the offer|your offer|this offer)"

# Each phrase in other words; where it is no phrase of the game, nothing.
_REPORTS = {
    "let us share fairly": (
        f"{_TELL} (we|the two of us|both of us) (should|ought to|must|could|had better) "
        "(share|split) (fairly|fair)",
        f"{_TELL} (let's|let us) (share|split) (fairly|fair)",
        f"{_URGE} (share|split) [with me] (fairly|fair)",
        "(propose|suggest) [that we|to] (share|split) (fairly|fair)",
        f"(ask|plead|appeal|call|argue) [{_WHO}] (for|to) [a] (fair (split|share|sharing|division)"
        "|fairness)",
        "(let's|let us) (share|split) [it] fairly",
    ),
    "that is too little for me": (
        f"({_TELL}|complain [to {_WHO}] that) ({_IT} is|that's|it's|{_OFFER} is) "
        "(too little|not enough) for me",
    ),
    "make me a better offer": (
        f"{_URGE} make [me] a better offer",
        f"{_TELL} make me a better offer",
        f"(ask|ask {_WHO}|demand|call|push|press) [for] a better offer [from {_WHO}]",
    ),
    "I can give way a little": (
        f"{_TELL} i (can|could|may) give way [just] a (little|bit)",
        f"{_TELL} (i'm|i am) (willing|ready|able) to give way a (little|bit)",
    ),
    "that is my last offer": (f"{_TELL} ({_IT} is|that's|it's) my (last|final) offer",),
    "what do you need most?": (f"{_ASK} what {_THEY} (need|needs) [the] most",),
    "I do not need much of this": (
        f"{_TELL} i (do not|don't) need (much|a lot) of (this|that|it)",
    ),
    "without a deal we both lose": (
        f"{_TELL} without (a|any) deal [.] (we both|both of us|we) lose",
        f"{_TELL} (we both|both of us|we) lose without (a|any) deal",
    ),
    "I like this offer": (f"{_TELL} i like {_OFFER}",),
    "take it or leave it": (f"{_URGE} take it or leave it", f"{_TELL} take it or leave it"),
    "let us find a fair price": (
        f"{_TELL} we (should|ought to|must) find a fair price",
        f"{_TELL} (let's|let us) find a fair price",
        "(propose|suggest) [that] we find a fair price",
        "(let's|let us) find a fair price",
    ),
    "that price does not suit me": (
        f"({_TELL}|complain [to {_WHO}] that) (that|this|the|your) price "
        "(does not|doesn't) suit me",
    ),
    "what price do you want?": (f"{_ASK} (what|which) price {_THEY} (want|wants)",),
    "I am in no hurry": (f"{_TELL} (i'm|i am) in no hurry",),
    "let us all take less": (
        f"{_TELL} we (should|ought to|must) all take less",
        f"{_TELL} all of us (should|ought to|must) take less",
        f"{_URGE} take less",
        "(propose|suggest) [that] we all take less",
        "(let's|let us) all take less",
    ),
    "let us all take the same": (
        f"{_TELL} we (should|ought to|must) all take the same",
        "(propose|suggest) [that] we all take the same",
        "(let's|let us) all take the same",
    ),
    "I will hold back if you do": (
        f"{_TELL} (i'll|i will) hold back if (you|they) (do|hold back [too])",
    ),
    "somebody took too much": (f"{_TELL} (somebody|someone) took too much",),
    "let us all give more": (
        f"{_TELL} we (should|ought to|must) all give more",
        f"{_TELL} all of us (should|ought to|must) give more",
        f"{_URGE} give more",
        "(propose|suggest) [that] we all give more",
        "(let's|let us) all give more",
    ),
    "let us all give the same": (
        f"{_TELL} we (should|ought to|must) all give the same",
        "(propose|suggest) [that] we all give the same",
        "(let's|let us) all give the same",
    ),
    "I will give if you do": (f"{_TELL} (i'll|i will) give if (you|they) (do|give [too])",),
    "somebody gave too little": (f"{_TELL} (somebody|someone) gave too little",),
    "I keep my promises": (f"{_TELL} i (keep|always keep) my (promises|promise|word)",),
    "we must save for later": (f"{_TELL} we (must|should|have to|need to) save for later",),
    "help those who help others": (
        f"{_URGE} help those who help others",
        f"{_TELL} [we (should|must|ought to)] [all] help those who help others",
    ),
    "thank you": (
        f"{_TELL} (thanks|thank you) [to {_WHO}] {_FOR_HELP}",
        f"(thank|[many] thanks [to]|thank you) {_WHO} {_FOR_HELP}",
        f"[i] (say|give) [many] (thanks|thank you) [to {_WHO}] {_FOR_HELP}",
        f"(thank you|[many] thanks) {_GIVEN} [{_WHO}] [{_KIND}]",
    ),
    "that was selfish": (
        f"{_TELL} [that] (that|it|this) was selfish",
        "that was selfish [.] [and] i (say|tell (them|everyone|everybody|you)) (so|it|that) [out "
        "loud|aloud|openly]",
        "call (that|it|this) selfish",
    ),
    "trust me": (
        f"{_TELL} trust me",
        f"{_URGE} trust me",
        f"(ask|beg) [{_WHO}] for (their|his|her|your) trust",
    ),
}


def reported(phrases: tuple[str, ...], players: tuple[str, ...], agent: int, said: str) -> str:
    """The phrase that an answer reports; "" if none, or several."""
    return _grammar(phrases, players, agent).meaning(said) or ""


@functools.lru_cache(maxsize=64)
def _grammar(phrases: tuple[str, ...], players: tuple[str, ...], agent: int) -> Grammar:
    known = {phrase: _REPORTS[phrase] for phrase in phrases if phrase in _REPORTS}
    return Grammar(known, named(players, agent))
