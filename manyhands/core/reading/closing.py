"""The action at the end of an answer, behind what had been planned, behind a remark and a colon,
before a few words in passing, or in a list of what comes now and what comes later.

    "Was tempted to trap them, but value comes first: bet 1"
    "Onions are right below me and I only have to look their way: turn south."
    "desk 1 next, haven't peeked there yet"
    "1. NOW: walk to blender 2\\n2. next turn: see what chef_2 has put in it"

In each of these shapes the action is one by itself, and what stands beside it may be whatever
does not give it to another player, another time or a supposition. A plan that is dropped may name
another action; a remark may not be one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from manyhands.core.reading.signs import NAME
from manyhands.core.reading.verdict import Verdict

_MOST = 600  # characters of an answer that is read so
_MOST_ITEMS = 8

_OTHER = (
    rf"(?:{NAME}|he|she|they|you|who|(?:the|my|our|an?|his|her|their|your|some|one) (?:[\w-]+ )?"
    r"(?:opponent|partner|rival|other|others|mate|team-?mate|coach|player|chef|friend|captain"
    r"|robot|drone)s?|everyone|everybody|someone|somebody|nobody)"
)
# ---- plans that are dropped ----------------------------------------------------------------------

_DROPPED = re.compile(
    r"\W*(?:(?:well|hm+|ok|okay|so|honestly|earlier|at first|originally|initially|yes|sure)\W+)*"
    r"(?:(?:(?:i|i'd|i've|i had|i have|i was|i'm|i am|my|was|had|been) )?"
    r"(?:(?:really|just|almost|nearly|first"
    r"|originally|initially|all|briefly|already|still) )*"
    r"(?:had (?:my|the) (?:heart|mind|eye|eyes|sights|hopes?)(?: set)? on|meant|wanted|planned"
    r"|hoped|intended|thought (?:of|about)|considered|toyed with|flirted with|tempted|started out"
    r"|dreamt|dreamed|fancied|going to|about to|set out|heart was set on"
    r"|been (?:thinking|meaning|hoping|dreaming|tempted|planning))\b"
    r"|(?:[\w' -]{2,40} )?(?:crossed my mind|was my (?:first |old |earlier |original )?(?:plan"
    r"|hope|thought|idea|wish|target|aim|instinct)|was tempting)\b"
    r"|forget (?:the|about|that|my)\b)",
    re.I,
)
_TURNED = re.compile(
    r"\b(?:but|nah|instead|changed my mind|silly|too|however|gone|dead|mean|comes first|can wait"
    r"|rather|away|pointless|useless|beneath|no longer|risky|hopeless|foolish|greedy|forget"
    r"|scrap that|dropped?)\b",
    re.I,
)
_RESOLVED = re.compile(
    r"(?P<told>.*?)(?:[,;:.!]|\s[\u2013\u2014-]+|\u2014|,? but)\s+(?:but |so |and so |and )?"
    r"(?!(?:no|nope|nah|not|yes|ok|okay)\W*\Z)"
    r"(?P<main>[^,;:.!\n(]*(?:\([^()\n]*\)[^,;:.!\n(]*|[.,]\d[^,;:.!\n(]*)*)[\s.!]*\Z"
)

# Between such a plan and the end: what gives the end to somebody else, or to another time.
_GIVES = re.compile(
    r"\b(?:says?|said|tells?|told|asks?|asked|wants?|wrote|if|unless|when\w*|once|until|till|later"
    r"|next|tomorrow|then|after\w*|maybe|perhaps|or|either|could|would|should|might|you\w*)\b"
    r"|[?\"\u201c\u201d\u00ab\u00bb]",
    re.I,
)
_CALL = re.compile(rf"\W*(?:(?:and|but|so)\W+)*{_OTHER}\W*\Z", re.I)

# ---- remarks before a colon ----------------------------------------------------------------------

# What introduces another thing than what "I" do now.
_INTRODUCES = re.compile(
    r"\b(?:if|unless|whether|until|till|when\w*|once|before|after\w*|later|tomorrow|yesterday|last"
    r"|previous\w*|earlier|says?|said|tells?|told|asks?|asked|thinks?|thought|wrote|writes?"
    r"|suggest\w*|advis\w+|claims?|wants?|wish\w*|hop(?:es?|ing)|fears?|feared|dreams?|warn\w*"
    r"|suppos\w+|imagin\w+|pretend\w*|assum\w+|hypothe\w+|example|instance|not|never|neither|nor"
    r"|\w+n't|cannot|avoid\w*|except|forbid\w*|illegal|impossible|worst|worse|wrong|bad|mistake"
    r"|stupid|dumb|terrible|blocked|taken|occupied|refus\w+|reject\w*|options?|choices?"
    r"|alternativ\w+|ideas?|plans?|hint|advice|rules?|text|note|message|motto|quote|question|test"
    r"|trap|tempt\w*|hesitat\w*|reluct\w*|doubt\w*|jok\w+|kidding|sarcas\w+|iron\w+|ly?ing"
    r"|lies|would|could|should|might|may|maybe"
    r"|perhaps|possib\w+|or|either|than|rather|instead|then|next|(?<!comes )(?<!come )(?<!matter )"
    r"(?<!matters )first|second|third|finally|pledge"
    r"|promise|claim|offer|say|call(?:ed)?|means?|meant|was|were|did|had|used|usually|often"
    r"|sometimes|opposite|history|record|rumou?r|theory|please|your?|order\w*|goal|target|answer"
    r"|legal|available|list|menu|score|here(?:'s| is)|following|seen?|saw|watch\w*|who|what|which"
    r"|how|why|where)\b|[?\"\u201c\u201d\u00ab\u00bb(\[{]",
    re.I,
)
_HARMLESS = re.compile(
    r"\b(?:no (?:reason|need|point|sense) (?:to|in|for) (?!be\b)[\w -]{3,40}|nobody asked for"
    r"|nobody (?:needs|wants)|not (?:much|a lot) (?:to|of)|first things first|what i do)\b",
    re.I,
)
# Few words that leave an action as it is: "No reason to change course: I go on".
_CALM = re.compile(
    r"\W*(?:(?:there(?:'s| is) )?no (?:reason|need|point|sense) to (?!be\b)[\w' -]{3,40}|patience"
    r"|(?!(?:next|last|this|some|any|first|every|one|bad|wrong|no|what|my|your|his|her|their"
    r"|the)\b)"
    r"[a-z]{4,} time)\W*",
    re.I,
)
_ANOTHER = re.compile(rf"\b(?:{_OTHER}|him|her|me)\b", re.I)
_END = (
    r"(?P<main>(?!(?:not|no|never|don't|maybe|perhaps|either)\b)[a-z\d*_'][^:;?!\n]*?"
    r"(?:\([^()\n]*\)[^:;?!\n]*)?)[\s.!*_]*\Z"
)
_COLON = re.compile(rf"(?P<told>[^:;?\n]{{6,200}}):\s+{_END}", re.I)
_WORDS = 7  # of a remark, at least: "Use this word: north", "The deal is off: accept"
# In the sentences before it: what follows is supposed, quoted or no decision.
_FRAMES = re.compile(
    r"\b(?:suppos\w+|imagin\w+|pretend\w*|assum\w+|hypothe\w+|what if|if only|jok\w+|kidding"
    r"|theor\w+|dream\w*|quot\w+|examples?|sarcas\w+|opposite|never ?mind|role-?play\w*|yesterday"
    r"|last (?:turn|time|round|game)|next (?:turn|time|round)|tomorrow|first|then|later|i'll"
    r"|i will|let me|let's)\b|[?\"\u201c\u201d\u00ab\u00bb:]",
    re.I,
)

# ---- words in passing ----------------------------------------------------------------------------

_PASSING = re.compile(
    r"(?P<main>(?!(?:not|no|never|don't|maybe|perhaps|either)\b)[^,;:?!\n]*?"
    r"(?:\([^()\n]*\)[^,;:?!\n]*)?),\s+(?P<tail>(?:cheers|thx|thanks|thank you|ta|mate|lol|haha"
    r"|hehe|folks|pls|plz|buddy|ugh|phew)"
    r"|(?:that|this|it)(?:'s| is) (?:where|all|(?:what|why|how) (?:i|we)\b)[^,;:?]*"
    r"|(?:i )?(?:haven't|have not|didn't|did not) \w+(?: \w+){0,3} yet"
    r"|(?:maybe|perhaps) (?:i (?:\w+ed|missed|forgot|left|saw)|there(?:'s| is| are)"
    r"|it(?:'s| is| has))\b[^,;:?]*|(?:and )?who knows (?:what|who|where|how)\b[^,;:?]*"
    r"|nothing more(?:,| and) nothing less)[\s.!]*",
    re.I,
)
# ---- what a goal comes to ------------------------------------------------------------------------

_AIM = (
    r"(?:(?:i|we)(?:'d like| want| need| aim| hope| intend|'m after|'m going for|'m heading for"
    r"|'re after| would like|'m off to get)\b(?! (?:him|her|them|you|everyone|somebody|"
    rf"{NAME})\b)"
    r"|(?:my|our|the) (?:[\w-]+ )?(?:goal|plan|idea|aim|target|order|aim here|task|mission)\b"
    r"(?: now| here)?(?: is|'s|:)|what (?:i|we) (?:want|need)\b|what's (?:needed|missing|wanted)"
    r"|(?:in order )?to (?!be\b|do\b)\w+)"
)
_SO = (
    r"(?:and |so )*(?:(?:that|which|this|it) (?:means|calls for|makes it|comes down to"
    r"|boils down to)"
    r"(?: that)?|(?:so|hence|thus|therefore|which is why)(?: that's why)?),?:?"
    r"(?: (?:for (?:now|the moment|the time being|this (?:step|turn))|now|right now|at this point"
    r"|first(?: of all)?|this (?:step|turn)|today),?:?)?"
)
_COMES_TO = re.compile(
    rf"(?P<told>\W*{_AIM}[^:?\n]{{2,140}}?)(?:[,.;!]|\s[\u2013\u2014-]|\u2014)\s+{_SO}\s+"
    r"(?P<main>(?!(?:not|no|never|don't|maybe|perhaps|either|is|are|that|you|he|she|they|it)\b)"
    r"[a-z\d*_'(][^;?\n]*?)(?: (?:for now|now|first|at the moment|for the moment))*[\s.!*_]*",
    re.I,
)
_NO_AIM = re.compile(
    r"\b(?:if|unless|until|till|when\w*|once|was|were|had|did|would(?! like)|could|should|might"
    r"|maybe|perhaps|or|either|says?|said|tells?|told|thinks?|asks?|wants|you\w*|never|\w+n't|not"
    r"|tomorrow|later|next (?:turn|step|time|round)|suppos\w+|imagin\w+|pretend\w*)\b"
    r"|[\"\u201c\u201d]",
    re.I,
)

_NO_GOAL = re.compile(_NO_AIM.pattern.replace("|should", ""), re.I)
# "The pot is empty. I should get an onion. south": the step towards a goal, named before it.
_GOAL = re.compile(
    r"(?P<before>(?:[^?\n]{2,300}[.!]\s+)?)(?P<told>(?:(?:so|ok|okay|well|first|now|next|and)\W+)*"
    r"(?:i|we)(?: (?:should|must|have to|ought to|need to|want to|would like to|gotta|got to)"
    r"|'d like to)(?: (?:first|now|next|just|really|still))? (?!(?:not|have|never)\b"
    r"|be (?!careful|quick|fast|safe|patient|smart|efficient))[^:;?.!\n]{2,140}?)"
    r"(?:[.!:;]+\s+|\s*\n\s*|,\s+(?:and )?so\s+)"
    r"(?:(?:so|thus|therefore|hence|now|first)[, ]+)*"
    r"(?P<main>(?!(?:not|no|never|don't|maybe|perhaps|either|is|are|then|that|you|he|she|they|it)"
    r"\b)[a-z\d*_'(][^:;?!\n]*?)[\s.!*_]*",
    re.I,
)

_GUESS = re.compile(
    r"(?P<told>[^:;?\n]{6,120}),\s+(?:so |and )?(?:i )?(?:guess|reckon|suppose) (?P<main>i'll\b.+)",
    re.I,
)
_DOUBTS = re.compile(
    r"\b(?:if|unless|or|either|not|never|no|would|could|should|might|want\w*|said|says?|you\w*|then"
    r"|next (?:turn|step|time|round)|later|wrong|bad|illegal|blocked|better|best|others?|another"
    r"|rather|instead|wait)\b",
    re.I,
)

# ---- lists of now and later ----------------------------------------------------------------------

_NOW = (
    r"(?:(?:for )?(?:this|the current|current|the present|present) (?:very )?(?:step|turn|move"
    r"|round|moment)|step \d+ \((?:this one|now|this step|current(?: step)?)\)|right (?:now|away)"
    r"|straight away|now|at once|immediately|for now)"
)
_LATER = (
    r"(?:(?:(?:right|some time|much|a bit|a little|shortly|soon|straight|and|only) )*"
    r"(?:after(?:wards?| that| this)?|later(?: on)?|then)"
    r"|(?:the )?(?:next|following|coming|subsequent|other) (?:few |two |three )?(?:steps?|turns?"
    r"|moves?|rounds?|ones?)|(?:the )?next|in the end|finally|eventually|at the end|(?:the )?rest"
    r"(?: of [\w ]{1,20})?|(?:a |some |two |three |\d+ )?(?:couple of |few )?(?:steps?|turns?"
    r"|moves?|rounds?) (?:on|later|after|from now)|(?:step|turn|move|round) \d+|soon|long term"
    r"|in the long run|last|goal)"
)
_SIGN = r"[ \t*_\"']*(?:[:,.\u2013\u2014-]+|->|\u2192)[ \t*_\"']*"
_ITEM = r"[ \t]*(?:(?:\d{1,2}[.)]|[-*>\u2022]+)[ \t]*)?[*_]*"
_ITEM_NOW = re.compile(rf"{_ITEM}{_NOW}{_SIGN}(?P<main>[^\n]*\w[^\n]*)", re.I)
_ITEM_LATER = re.compile(rf"{_ITEM}{_LATER}(?:{_SIGN}|,? )[^\n]*", re.I)
# "1. fetch an onion\n2. put it in the pot\n\nNow: fetch an onion."
_STEP = re.compile(
    rf"[ \t]*(?:\d{{1,2}}[.)]|[-*>\u2022]+)[ \t]*(?P<main>[^\n]*?)(?:[ \t]*\({_NOW}\))?[.; \t]*",
    re.I,
)
_NOW_OF = re.compile(
    rf"[ \t*_]*(?:so |thus |therefore |ok,? |okay,? )?(?:(?:{_NOW}"
    r"|(?:i'll |i will |let me |let's |i )?(?:start|begin|starting|beginning)(?: now)?"
    r" (?:with|at|from) (?:step |item |number |no\. |#)?(?:1|one)"
    rf"|(?:the )?first step|step 1|current (?:step|move|action)){_SIGN}(?P<main>\w[^\n]*)"
    rf"|{_NOW},? (?P<own>(?:i|i'll|i'm|i will|let me|let's) [^\n]+))",
    re.I,
)
_TITLE = re.compile(r"[\w '*_#-]{2,40}:?[*_ ]*", re.I)


def closings(text: str) -> Iterator[Verdict]:
    """The ways to see the end of an answer, or the first item of a list, as what decides."""
    if len(text) > _MOST:
        return
    text = text.replace("\u2019", "'").replace("**", "").strip()
    listed = _listed(text)
    if listed:
        yield Verdict(listed)
    planned = _planned(text)
    if planned:
        yield planned
    goal = _GOAL.fullmatch(text)
    if goal and not (_NO_GOAL.search(goal["told"]) or _FRAMES.search(goal["before"])):
        told = tuple(filter(None, re.split(r"(?<=[.!])\s+", goal["before"].strip())))
        yield Verdict(goal["main"], told, (), (goal["told"],))
    if "\n" in text or "?" in text:
        return
    dropped = _DROPPED.match(text)
    if dropped:
        found = _RESOLVED.search(text[dropped.end() :])
        if found and _TURNED.search(dropped[0] + found[0]) and not _given_away(found["told"]):
            yield Verdict(found["main"])
    passing = _PASSING.fullmatch(text)
    if passing and not _DOUBTS.search(passing[0].replace("haven't", "").replace("didn't", "")):
        yield Verdict(passing["main"], (passing["tail"],))
    guessed = _GUESS.fullmatch(text)
    if guessed and not (_INTRODUCES.search(guessed["told"]) or "," in guessed["told"]):
        yield Verdict(guessed["main"], (guessed["told"],))
    aimed = _COMES_TO.fullmatch(text)
    if aimed and not _NO_AIM.search(aimed["told"]):
        yield Verdict(aimed["main"], (aimed["told"],))
    led = _COLON.fullmatch(text)
    if led:
        *before, last = re.split(r"(?<=[.!])\s+", led["told"])
        calm, last = _CALM.fullmatch(last), _HARMLESS.sub("", last)
        known = len(last.split()) >= _WORDS
        known = known and not (_INTRODUCES.search(last) or _ANOTHER.search(last))
        if (calm or known) and not _FRAMES.search(" ".join(before)):
            yield Verdict(led["main"], (*before, last))


def _listed(text: str) -> str | None:
    """What is for now in a list of which all the rest is for later."""
    lines = [line for line in text.split("\n") if line.strip()]
    if lines and not _ITEM_NOW.fullmatch(lines[0]) and _TITLE.fullmatch(lines[0].strip()):
        lines = lines[1:]
    if not 2 <= len(lines) <= _MOST_ITEMS:
        return None
    now = _ITEM_NOW.fullmatch(lines[0])
    return now["main"] if now and all(_ITEM_LATER.fullmatch(line) for line in lines[1:]) else None


def _planned(text: str) -> Verdict | None:
    """What the last line below a list of steps says is done now, which may be no other action than
    the first of these."""
    *lines, last = [line for line in text.split("\n") if line.strip()] or [""]
    now = _NOW_OF.fullmatch(last)
    steps = [found for found in map(_STEP.fullmatch, lines) if found]
    if now is None or not 2 <= len(steps) <= _MOST_ITEMS or len(lines) > len(steps) + 2:
        return None
    return Verdict(now["main"] or now["own"], (steps[0]["main"],))


def _given_away(told: str) -> bool:
    """Whether what is said between a dropped plan and the end gives it to somebody else, or to
    another time."""
    last = re.split(r"[,;.!]\s", told)[-1]
    return _GIVES.search(told) is not None or _CALL.match(last) is not None
