"""A bare action at an end of an answer, beside what is told in passing: "im thirsty, drink".

`core/asides.py` takes sentences apart by their shape. People and small models often write no
sentence at all, but a remark and an action, with a comma, a colon or an arrow between them:

    "too rich for my blood, fold"       "King high is fine -> call"
    "Slow-playing the king: check"      "Tag runner_0, he is right beside me"

`at_end` reads these: one end of the answer is an action by itself, in a few words, and what is left
names none, not even in one word, and tells of no condition, doubt, question, judgement, other time
or speech of others. Before that, chat's spellings ("im", "lol") are read as what they stand for,
and sentences that say nothing of an action are left out (`plainly`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from manyhands.core.grammar import tokens
from manyhands.core.signs import NAME

MOST = 240  # characters of an answer that is read so
_MOST_CLAUSES = 6
_MOST_WORDS = 6  # of the action

# ---- chat ----------------------------------------------------------------------------------------

_SPELT = tuple(
    (re.compile(pattern, re.I), words)
    for pattern, words in (
        (r"\bim\b(?! \d)", "I'm"),
        (r"(?:^|(?<=[,.;:!] ))ill (?=[a-z])", "I'll "),
        (r"\b(?:imma|ima)\b", "I'll"),
        (r"\blemme\b", "let me"),
        (r"\bgotta\b", "have to"),
        (r"\bu\b", "you"),
        (r"\bur\b", "your"),
        (r"\bthats\b", "that's"),
        (r"\b(?:cuz|cos|coz|bc)\b", "because"),
        (
            r"\bthe right (?=(?:move|call|choice|option|action|play|decision|thing|answer)\b)",
            "the best ",
        ),
    )
)
_LAUGH = r"(?:lo+l|lmao|rofl|(?:ha){2,}h?|(?:he){2,}|xd|[>:]*[:=]-?[)dp])"
_OPENS = re.compile(
    r"\W*(?:(?:nah|nope)[,.! ]+(?=(?:i|i'll|ill|i'm|im|\w+ing) )"
    rf"|(?:(?:{_LAUGH}|u[hm]+|erm?|ugh|welp|meh|aight|yo|bro|dude|ha|ah|aha|oh well|okey|okie|k)"
    r"\b[,.!\s]*)+"
    r"(?=\w)|(?:(?:let me (?:think|see)|let's (?:see|think)|thinking)\b[,.!:\u2026\s]+)+(?=\w))",
    re.I,
)
# Sentences behind an action that say no more of it than that it is one.
_GOOD = r"(?:best|right|safest|most \w+)(?: (?:option|choice|move|action|play|call|thing to do))?"
_HELPS = re.compile(
    r"(?:,? (?:and |and then |then )(?:see|watch) what happens(?: next)?"
    r"|(?<=[.!;,]) *(?:that|this|it) (?:should|will|would|'ll) (?:help|work|do|make progress"
    r"|be (?:enough|fine|good|best)|keep (?:us|me|things) going)"
    rf"|(?<=[.!;]) *(?:this|that|it) (?:seems|looks|feels)(?: like| to be)? (?:the )?{_GOOD}"
    r"(?: here| now| for me)?"
    r"|(?<=[.!;]) *(?:done|your turn|over to you|(?:i hope|hopefully) (?:this|that|it)"
    r" (?:works|helps)|no other (?:option|choice|move|action) makes sense)"
    r"|(?<=[.!;\u2014-]) *(?:(?:there(?:'s| is) )?(?:not much|nothing) (?:else|more|better)"
    r" (?:to do|i can do)|no (?:question|doubt)(?: about it)?|i have no doubt"
    r"|i'm (?:sure|confident)(?: in (?:this|that|it))?)"
    r"|(?<=[.!;]) *(?:let's|we'll|i'll) see (?:what happens|how (?:it|that|this) goes))[.!\s]*$",
    re.I,
)
_BAR = re.compile(
    r"\s*\|\s*(?=(?:reason(?:ing)?|rationale|explanation|because|justification)\b)", re.I
)
_CLOSES = re.compile(
    rf"[,.!\s]+(?:{_LAUGH}|tbh|imo|imho|ngl|obvs?|yolo|gg|bro|dude|man|fam|thx|ty|boys|baby)"
    r"[.!\s]*$",
    re.I,
)

# "Go north right now" and "right now I go north", but not "go right now".
_RIGHT_NOW = re.compile(r"(?<![\w'-])(?P<before>[\w'-]+,? )?right now(?=\b(?P<after>\W+\w)?)", re.I)
_MOVES = re.compile(
    r"(?:go|mov|turn|step|head|walk|fac|look|shift|slid|fly|run|strafe?|dash|edg|push|travel|bank"
    r"|advanc|roll|lean)(?:e|ing|n)?,? |(?:to|the|my|its?|their|your|his|her|on|from|then|and|a)"
    r",? |left,? ",
    re.I,
)
# "I'll do this: turn left" is no "I'll do, this turn, left".
_DO_THIS = re.compile(
    r"\A\W*(?:(?:i'll|i will|i'm going to|let me|let's|i)\s+)?(?:do|try)\s+(?:this|the following)"
    r"\s*(?::|->)\s*",
    re.I,
)


def clearly(text: str) -> str:
    """An answer with "now" for "right now" where "right" is no direction, and without "I'll do
    this:"."""

    def told(found: re.Match[str]) -> str:
        before = found["before"] or ""
        if _MOVES.fullmatch(before) or not (before or found["after"]):
            return found[0]
        return f"{before}now"

    return _RIGHT_NOW.sub(told, _DO_THIS.sub("", text))


# Who speaks, and what it does beside speaking: "Player: north", "*thinks* north".
_SPEAKER = re.compile(
    r"\W*(?:(?:assistant|ai|bot|agent|player|model)\s*:|tl;?dr\b\s*[:,]?"
    r"|[(*](?:thinking|thinks|pauses|sighs|shrugs|nods|smiles|ponders|hmm+)[^()*]{0,30}[)*])\s*",
    re.I,
)


def plainly(text: str) -> str:
    """An answer in the spelling of books, without what says nothing of an action at its ends: who
    speaks, laughter, "let me think", "that should help"."""
    speaker = _SPEAKER.match(text)
    text = text[speaker.end() :] if speaker else text
    opening = _OPENS.match(text)
    text = text[opening.end() :] if opening else text
    for sign, words in _SPELT:
        text = sign.sub(words, text)
    text = _HELPS.sub("", _BAR.sub(", ", text)).rstrip(" \u2014-")
    for _ in range(2):
        text = _CLOSES.sub("", text)
    return text


# ---- clauses -------------------------------------------------------------------------------------

_CUT = re.compile(
    r"\s*(?:(?P<colon>:|\s-{1,2}\s|\s[\u2013\u2014]\s|\u2014|->|=>|\u2192|\u27a1\ufe0f?)\s*"
    r"|(?:[,;!\u2026\n()]|\.{2,}|\.(?!\d))+\s*)"
)
_LEAD = re.compile(r"(?:so|thus|therefore|hence|now|ok|okay|but)\b[,\s]*", re.I)

# "He has nothing, I bet" is no bet; "the pot is one way, north" may only tell where it is.
_NO_MAIN = re.compile(r"i bet|(?:north|south|east|west|up|down|left|right)(?:ward)?s?", re.I)
# How things are: "queen no good", "the opponent most likely has the king".
_HOW_THINGS_ARE = (
    r"(?!(?:there|what|who|for|to|with|by|from|in|at|on|as|like|his|her|their|your)\b)[^,]*?"
    r"\b(?:is|are|aren't|isn't|has|have|holds?|needs?|looks?|seems?|no good|(?:might|may|could) be"
    r"|they're|(?:it|that|he|she|\w+)'s (?:right|a|an|the|my|not|in|on|at|under|next|near|\w+ing"
    r"|full|empty|ready|open|closed|down|up|low|high|weak|strong|good|hungry|thirsty|dark|late))\b"
    r"(?!.*\bthere\W*$)"
)
# Remarks before an action: what "I" am at, and few others; how things are is for `core/cuts.py`.
# What is not known to be harmless ("for chef_1, north", "too far, north") is refused.
_BEFORE = re.compile(
    r"(?:(?:ok|okay|well|honestly|alright)\s+)?(?:"
    r"(?:i|i'm|i've|i'll|we|we're|we've|let me|let's|let us)\b(?!.*\b(?:hate|skip|leave|left"
    r"|fear|know|see|saw|watch|remember|tried|been|against|trust|dislike|pass|drop|quit|gave|give"
    r"|given|regret|doubt|resist|done|tired|came|went|no|ignore)\b)"
    r"|(?:weak|strong|decent|mediocre|marginal|lousy|nice|low|high|top|middle|bottom|no)"
    r" (?:hand|cards?|pair|kicker|odds)$"
    r"|[\w-]+ing\b(?! (?:to|of|for) \w+$)|too \w+ for (?:me|my \w+)|you win\b|just for fun"
    r"|no need to (?:hurry|rush|risk|bluff|wait|panic|worry))",
    re.I,
)
# Behind it: where it is, how things are, what is allowed to others.
_BEHIND = re.compile(
    r"(?!(?:that|this|but|so)\b)(?:(?:(?:right|just|straight|directly)\s+)?(?:under|above|below"
    r"|over(?! my)|beside|next to|near|towards?|left of|right of|behind|in front of|between"
    r"|on top of)\b|let (?:him|her|them)\b"
    rf"|no need to (?:hurry|rush|risk|bluff|wait|panic|worry)|{_HOW_THINGS_ARE})",
    re.I,
)
# Remarks of one word that mean nothing by themselves.
_LABELS = re.compile(
    r"decision|verdict|conclusion|result|intercept|whatever|sigh|wow|nice|fine|alas|obviously"
    r"|clearly|simple|easy",
    re.I,
)
# Before a colon, orders to oneself as well: "Stop O from building the diagonal: f6".
_ORDERS = re.compile(r"stop \w+ from\b|winning move$", re.I)
# What another one is or has done: what follows may be told to it.
_OPINION = re.compile(rf"(?:he|she|{NAME}) (?:is \w+|has \w+ed)$", re.I)

# What makes a remark more than a remark.
_HARM = re.compile(
    r"\b(?:if|unless|because|since|whether|until|till|but|in case|suppos\w+|imagin\w+|pretend\w*"
    r"|assum\w+|provid(?:ed|ing)|hypothetical\w*|theor\w+|jok\w+|kidding|lies?|lying|ironic\w*"
    r"|sarcas\w+|opposite|contrary|hesitat\w+|afraid|reluctant"
    r"|untrue|false|says?|said|saying|tells?|told|asks?|asked|asking|wrote|writes?|quot\w+|hear\w*"
    r"|claims?|wish\w*|hopes?|hoping|dream\w*|otherwise|or|either|neither|nor|maybe|perhaps"
    r"|possibly|probably|may|might|however|although|though|nevertheless|instead|actually|undecided"
    r"|unsure|not sure|uncertain|no idea|idk|dunno|guess|refus\w+|forget|ignor\w+|cancel\w*"
    r"|never ?mind|scratch|should\w*|would\w*|could\w*|shall|i'd|we'd|was|wasn't|were|weren't|had"
    r"|hadn't|did|didn't|used|last|earlier|ago|yesterday|previous\w*|before|after\w*|later"
    r"|next(?! to\b)|soon|eventually|usually|normally|sometimes|often|once|when\w*|while|as|first"
    r"|second|then|tomorrow|rather|better|worse|worst|wrong|mistakes?|bad|stupid|silly|terrible|dumb"
    r"|dangerous|suicid\w+|losing|loses?|lost|avoid\w*|never|illegal|forbidden|impossible|except|unlike"
    r"|alternativ\w+|options?|choices?|choose|possible|possibilit\w+|examples?|eg|tempt\w+"
    r"|instinct\w*|thoughts?|think\w*|consider\w*|plan\w*|rules?|text|hint|advice|want\w*"
    r"|expect\w*|sorry|oops|correction|mean\w*|what(?!ever)\w*|who\w*|which|how|why|right now|than"
    r"|only|wait(?! (?:for|here|and))|your|(?<!got )you(?! win\b| got (?:me|it)\b)|please|and|oh"
    r"|great|sure|totally|of course|yeah|yes|hmm+|about|order\w*|vote[ds]?|answer\w*"
    r"|question\w*|test|trap|must|need(?! (?:to|for)\b)\w*|everyone|everybody|somebody"
    r"|someone|others)\b"
    r"|[?\"\u201c\u201d\u00ab\u00bb\[\]{}<>=]|\w:\w",
    re.I,
)
_OTHER = (
    rf"(?:he|she|they|it|{NAME}|(?:the|my|his|her|their|an?) (?!\w*(?:move|play|idea|thing"
    r"|call|one)\b)\w+(?: \w+)?)"
)
# Of others, and of how things are, a guess is a reason like any other.
_GUESS = re.compile(
    r"(?<!\w)(?P<who>(?!(?:i|we|it|this|that|you)\b)\w+(?: \w+)?)"
    r"(?: (?:may|might|could|must|will|can|probably|likely|surely|most likely))+ (?=\w)",
    re.I,
)
_DENIES = re.compile(r"\b(?:no|not|none|nothing|nobody|cannot|without|\w+n't|\w+nt)\b", re.I)
# Where "right" is no direction.
_RIGHT = re.compile(
    r"\bright (?=beside|next|here|there|behind|under|above|below|in|at|on|by|by|where)", re.I
)
_SHORTENED = re.compile(r"\b(?:e\.\s?g|i\.\s?e|etc)\b", re.I)
# Before what is another's: "his bet".
_OWNED = re.compile(r"\w+'s|s|his|her|their")
# What is said to somebody, and what leads on to more than itself.
_CALLS = re.compile(
    r"(?:(?:hey|hi|ok|okay|alright|right|well|so|now|thanks|sorry|yo|come on|go|dear|my)\s+)*"
    rf"(?:{NAME}|you|partner|mate|buddy|team\w*|guys"
    r"|folks|opponent|chef|captain|boss|he|she|they|him|her|them)(?:\s+\w+)?",
    re.I,
)
_LEADS_ON = re.compile(
    r"\b(?:of|at|to|on|in|with|by|for|from|is|are|be|not|the|a|an|my|their|its|his|her|do|does"
    r"|can|will|like|that|this|it's|that's|i'm|taken|free|full|closed|blocked|left|open"
    r"|(?:not|never|to|\w+n't) \w+)\W*\Z",
    re.I,
)


class Remarks(NamedTuple):
    """What may stand beside a bare action in a game.

    Attributes:
        figures: whether a number alone may name an action, so that no remark may have one.
        behind: whether a remark may stand behind the action, too.
        calm: whether a remark leaves an action as it is.
    """

    figures: bool = True
    behind: bool = True
    calm: Callable[[str], bool] = bool


class Reader(NamedTuple):
    """What a game makes of words.

    Attributes:
        meant: the open action that they mean, or None.
        names: whether they name an action, open or not.
        same: whether two actions are.
    """

    meant: Callable[[str], Any]
    names: Callable[[str], bool]
    same: Callable[[Any, Any], bool]


def at_end(text: str, reader: Reader, remarks: Remarks) -> Any:
    """The bare action at an end of an answer, None if there is none, or something doubtful."""
    if len(text) > MOST or "?" in text or _SHORTENED.search(text):
        return None
    clauses, signs = _clauses(text)
    if not 1 < len(clauses) <= _MOST_CLAUSES:
        return None
    found: list[Any] = []
    ends = [(clauses[-1], clauses[:-1], signs[-1], True)]
    ends += [(clauses[0], clauses[1:], signs[0], False)] if remarks.behind else []
    for main, rest, sign, is_last in ends:
        main = _LEAD.sub("", main, count=1) if is_last else main
        if not main or len(main.split()) > _MOST_WORDS or _NO_MAIN.fullmatch(main):
            continue
        action = reader.meant(main)
        if action is None:
            continue
        told = _told(rest, action, reader)
        if told is None or not all(
            _is_harmless(clause) and remarks.calm(clause) for clause in told
        ):
            return None
        if remarks.figures and any(re.search(r"(?<![\w_])\d", clause) for clause in told):
            return None
        # "West, west" may be two steps, "the middle, column 4" is one.
        if not told and any(clause.lower() == main.lower() for clause in rest):
            return None
        if is_last and not all(_leads(part, sign) for part in told):
            return None
        if not is_last and (sign == ":" or not all(_follows(part) for part in told)):
            return None
        found.append(action)
    return found[0] if found and all(reader.same(found[0], other) for other in found[1:]) else None


def _clauses(text: str) -> tuple[list[str], list[str]]:
    """The clauses of an answer, and what stands between them: ":" for a colon, else ""."""
    clauses, signs, start = [], [], 0
    for cut in [*_CUT.finditer(text), None]:
        clause = text[start : cut.start() if cut else len(text)].strip()
        if clause:
            clauses.append(clause)
            signs.append("")
        if cut:
            start = cut.end()
            if signs and cut["colon"] == ":":
                signs[-1] = ":"
    return clauses, signs[:-1]


def _told(rest: list[str], action: Any, reader: Reader) -> list[str] | None:
    """What is told, without clauses that name the same action again; None if it names another."""
    told = []
    for clause in rest:
        again = reader.meant(clause)
        if again is not None and reader.same(again, action):
            continue
        if reader.names(clause):
            return None
        words = tokens(_RIGHT.sub("", clause))
        spans = {
            " ".join(words[i:j])
            for i in range(len(words))
            for j in (i + 1, i + 2)
            if not (i and _OWNED.fullmatch(words[i - 1]))
        }
        for span in spans:
            if span[0].isalpha() and reader.names(span):
                return None
        told.append(clause)
    return told


def _is_harmless(remark: str) -> bool:
    remark = _GUESS.sub(r"\g<who> ", remark)
    return not _HARM.search(remark) and not _CALLS.fullmatch(remark)


def _leads(remark: str, sign: str) -> bool:
    """Whether a remark may stand before an action, with a sign between them."""
    if len(remark.split()) == 1:
        return _LABELS.fullmatch(remark) is not None
    if _LEADS_ON.search(remark) or _OPINION.match(remark):
        return False
    # "Player_1 is on his way: north" is its move, and "my fear: north" nobody's.
    if sign == ":" and (
        _DENIES.search(remark) or re.match(rf"(?:he|she|they|{NAME})\b", remark, re.I)
    ):
        return False
    return _BEFORE.match(remark) is not None or (sign == ":" and _ORDERS.match(remark) is not None)


def _follows(remark: str) -> bool:
    """Whether a remark may stand behind an action, and take nothing of it back."""
    return _BEHIND.match(remark) is not None and (
        not _DENIES.search(remark)
        or (len(remark.split()) > 3 and re.match(rf"{_OTHER}\b", remark, re.I) is not None)
    )
