"""The sentence of an answer that decides, behind or before whatever was weighed.

People and language models reason, and then decide:

    "If he has the king I lose two chips. A queen would fold here. So I check."
    "East? No, then I'd be in his way. I stay."
    "Bet 1... no wait, player_2 could hold the king. Check."
    "## Move\\n\\nstay\\n\\n## Why\\n\\nHe needs the other cell, and I would be in his way."

`asides.py` asks of every word beside an action that it is harmless. Here the action is a
sentence of its own, so that the others may hold conditions, denials and other actions: those are
weighed. What they may not do is to make the deciding sentence another's words, a part of their
own, or a supposition; and none of them may be another action by itself. Each `Verdict` is a way to
see an answer so; `answers.py` reads the sentence, and the others beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from manyhands.core.reading.signs import A_GOOD, NAME, PLACE
from manyhands.core.reading.words import CHEER

MOST = 2_000  # characters of an answer that is read so
_MOST_UNITS = 30  # sentences of it
_MOST_CLAUSES = 300  # characters of a sentence that is taken apart: the patterns are not linear


class Verdict(NamedTuple):
    """A sentence that may decide.

    Attributes:
        main: its words.
        others: the sentences that may be no other action by themselves.
        weighed: of them, those in which not even a word may name another action.
        goals: what the player is after, which may be no other action that is open now.
    """

    main: str
    others: tuple[str, ...] = ()
    weighed: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()


# ---- sentences -----------------------------------------------------------------------------------

_ITEM = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|[-*>\u2022]+)[ \t]+", re.M)
_NUMBERED = re.compile(r"^[ \t]*\d{1,2}[.)][ \t]", re.M)
_STOP = re.compile(
    r"(?<!\bno\.)(?<!\bvs\.)(?<!\bi\.e\.)(?<!\be\.g\.)(?:(?<=[.!?\u2026])|(?<=[.!?][\"')*]))\s+"
    rf"|\s*\n\s*|\.\.\.+(?=\w)|\s*{CHEER.pattern}+\s+(?=(?-i:[A-Z])|i\b|i'll\b)",
    re.I,
)
_ENDED = re.compile(r"[.!?\u2026)\"*`_:]\W*\Z")
# Numbers that are no action: places, counts and what a label says.
COUNTED = re.compile(
    rf"{PLACE}|(?<=:)\s*-?\d+(?:\.\d+)?\b"
    r"|\b\d+(?:\.\d+)?(?=\s+[a-z]{4,}\b)",
    re.I,
)
# "Bet 1? No, too much."
_DENIED = re.compile(r"\W*(?:no|nope|nah|hm+,? no)\b", re.I)
# A heading, or a label at the start of a line.
_HEADS = (
    r"(?:(?:my|final|next|chosen|selected|best|the) ){0,2}(?:decision|move|action|answer|choice"
    r"|verdict|pick|play|conclusion)"
)
_WHYS = (
    r"(?:(?:my|the|short|brief) )?(?:why|rationale|reasons?|reasoning|explanation|thoughts?"
    r"|thinking|analysis|justification|notes?|context|situation|background|observations?"
    r"|assessment|because)"
)
_HEADING = re.compile(
    rf"(?m)^[ \t>#*_-]*(?:(?P<head>{_HEADS})|(?P<why>{_WHYS}))[ \t*_]*"
    r"(?:[:\uff1a]|\.(?=[ \t*_]+\w)|\n|\Z)[ \t*_]*",
    re.I,
)

# ---- what makes a sentence another's -------------------------------------------------------------

# A supposition, a quotation, a joke, a play: anywhere before.
_FRAMED = re.compile(
    r"\b(?:suppos\w+|imagin\w+|pretend\w*|hypothe\w+|what if|assume|jok\w+|kidding|lying|opposite"
    r"|contrary|ironic\w*|sarcas\w+|quot\w+|examples?|e\.\s?g|as if|as though|dream\w*"
    r"|role-?play\w*|in theory|theoretically|yeah,? right|oh sure|like i'd|never ?mind"
    r"|trap question|test)\b"
    rf"|^\W*(?:{NAME}|(?:my |the )?(?:opponent|partner|rival|other)\w*|he|she|they|you|me|him|her"
    r"|them)"
    r"(?: (?:says?|said|thinks?|thought|writes?|wrote|tells?|told|asks?|asked))?\s*:"
    r"|[\u201c\u201d\u00ab\u00bb]",
    re.I,
)
# Another intention, which may come before what the last sentence says.
_FIRST = re.compile(
    r"\b(?:i'll|i will|i'm going to)\b(?! (?:be|have|need|lose|get|not|think|see|keep|win|only)\b)"
    r"|\A\W*first\b(?! (?:instinct|impulse|thought|reaction|idea|glance)\b)",
    re.I,
)
# What leads on into the next sentence.
_LEADS = re.compile(
    r"(?:[,;:\u2013\u2014-]|\b(?:not|never|or|and|but|to|if|unless|avoid|than|except|like|so"
    r"|this|that"
    r"|the following|as follows|says?|said|tells?|told|asks?|asked|asking|writes?|wrote|thinks?"
    r"|thought|suggests?|suggested|advised?|advises|answers?|answered|replies|replied|hopes?|wants?"
    r"|wish(?:es)?|means?|meant))[\s.!\u2026*_`]*\Z",
    re.I,
)
_STOPPED = re.compile(r"[a-z\d][.!?]\W*\Z", re.I)  # it leads nowhere
_SUBORDINATE = re.compile(
    r"\W*(?:by the time|if|when|whenever|unless|once|until|after|before|while|because|since"
    r"|although|though"
    r"|provided|in case|as (?:long|soon))\b",
    re.I,
)
# "My friend told me his plan"; "chef_1 is slow", behind which an order is for him.
_HEARD = re.compile(r"\b(?:told|tells?|asked|asks?|advised) (?:me|us)\b|\b(?:says?|said)\b", re.I)
_OF_ANOTHER = re.compile(rf"\W*(?:{NAME}|he|she|they)\b", re.I)
# "Why trail after B?" asks nothing.
_RHETORICAL = re.compile(
    r"\W*(?:so )?(?:why (?:not|on earth|bother|even)?\b(?! (?:would|did|does|do|is|was|has|are"
    r"|should|not)\b)"
    r"|what(?:'s| is) (?:the (?:point|use|harm|rush|hurry)|not to like)|who (?:cares|needs"
    r"|minds|knows)\b)"
    r"[^?]*\?\W*",
    re.I,
)
# A question to which the next sentence may be the answer, rather than the decision.
_ASKS = re.compile(
    rf"\b(?:where|which|what|who|how|why|you|your|he|she|they|his|her|their|{NAME}"
    r"|opponent|partner|rival)\b[^.!]*\?",
    re.I,
)

# ---- what decides --------------------------------------------------------------------------------

_LEAD = (
    r"\W*(?:(?:so|therefore|thus|hence|ok|okay|anyway|for now|well|yes|no|nope|right|fine|alright"
    r"|all right|instead|overall|accordingly|consequently|in the end|that's why|as a result|still"
    r"|to be (?:safe|on the safe side)|given (?:this|that|all (?:this|that))"
    r"|with (?:this|that) in mind|based on (?:this|that)|all in all|in conclusion"
    r"|for (?:this|that|these) reasons?"
    r"|nevertheless|meanwhile|in the meantime|this time|this turn|now)\b[,:.]?\s+)*"
)
_WILL = (
    r"(?:i'll|i will|i shall|i'm|i am|i|we'll|let me|let's|let us"
    r"|my (?:\w+ ){0,2}(?:move|action|answer|choice|decision|play|pick|vote|skill|order|offer"
    r"|proposal"
    r"|bid|claim|price)"
    r"|the (?:move|action|choice|answer) i (?:take|make|pick|choose))\b"
)
_BEST_IS = (
    r"(?:the |my )?(?:safest|simplest|easiest|best|wisest|smartest|surest|rational|right|correct"
    r"|optimal|logical|sensible|obvious|natural|most [a-z]+)(?: (?:thing|move|choice|option|play"
    r"|action|decision|response|course of action))?(?: (?:here|now|for me))? is to\b"
)
_STRONG = re.compile(
    rf"{_LEAD}(?:no [a-z]+ing,\s+|(?:i )?(?:guess|think|suppose|reckon|figure|believe) (?=i'll"
    rf"|i will|i'm))?"
    rf"{_WILL}(?! (?:would|could|might|may|should)\b)"
    r"|\W*(?!(?:what|where|when|how|if|so|and|then|that)\b)[a-z]+(?: [a-z]+)? (?:we|i) go\W*\Z"
    r"|\W*(?:no [a-z]+ing,\s+)?(?:my \w+ (?:lands?|goes|falls?|drops?|moves?) |off to "
    r"|on my way to "
    r"|[a-z]{2,}ing (?!(?:is|are|was|were|has|had|would|could|might|may|can|will|seems?|looks?"
    r"|and|or)\b))"
    r"|\W*[a-z][^,;:.!?]{1,60} (?:for now|right now|this (?:step|turn|time)|for this (?:step"
    r"|turn|round))\W*\Z"
    r"|\W*(?:so|therefore|thus|hence)\s*:\s*\w"
    r"|\W*(?!(?:this|that|what|how)\b)[^,;:.!?]{1,40} it is(?: for me)?\W*\Z"
    r"|\W*(?:[a-z]{2,}ing|(?:an?|my) (?:\w+ )?(?:ask|offer|bid|price|gift|catch|split))"
    r" [^,;:.!?]{1,50} (?:is|seems|looks|feels|sounds)(?: to be| like)?"
    rf" {A_GOOD}\W*\Z"
    rf"|{_LEAD}i (?:really )?should(?! (?:have|not|never|probably|maybe|rather|instead)\b)"
    rf"|{_LEAD}{_BEST_IS}",
    re.I,
)
_SO = re.compile(
    r",\s+(?:and\s+)?(?:so|hence|thus|therefore)\s+(?=i\b|i'll\b|i'm\b|let me\b|let's\b|we\b)"
    r"(?!\w+ (?:would|could|might|may|should)\b)",
    re.I,
)
# An own clause at the end of a sentence, behind what is told: "..., so I'm passing", "...: I bet".
_OWN_CLAUSE = re.compile(
    r"(?P<told>[^?\n]*[^\s,;:.!?])(?:(?:,\s+(?:and\s+)?|\s+and\s+)(?P<so>so|hence|thus|therefore)\s+"
    r"|(?P<sign>[;:]|\s+[\u2013\u2014-]+)\s+(?:and |so |and so |which is why )?)"
    r"(?P<main>(?:(?:i'll|i will|i'm|i am|i|we'll|let me|let's|let us)"
    r"(?! (?:would|could|might|may|should|can)\b)\s[^?;:]*"
    r"|[^,;:.!?]{1,40} it is(?: for me)?[.!]*))\Z",
    re.I,
)
# What is told so, is of another time, a plan or a condition, or announces what somebody says.
_NOT_SO = re.compile(
    r"\b(?:if|unless|whether|by the time|last (?:time|turn|round|game|hand|step)|yesterday"
    r"|earlier|previously|back then"
    r"|used to|you\w*|never ?mind|next (?:time|turn|round|step)|tomorrow)\b",
    re.I,
)
_ANNOUNCES = re.compile(
    r"\A\W*(?:what|how|who|where|why|when|here|this|that|there|the (?:one|thing|way|plan|idea)"
    r"|my \w+\W*\Z"
    r"|no|not|never)\b|\b(?:does|do|did|is|was|are|be|of|to|for|with|by)\W*\Z",
    re.I,
)
_SPOKEN = re.compile(
    r"\b(?:you\w*|plans?|ideas?|messages?|words?|answers?|repl(?:y|ies)|mottos?|rules?|texts?|notes?|hints?"
    r"|advice|orders?|lines?|quotes?|thoughts?|says?|saying|tells?|writes?|examples?|option\w*|would|could"
    r"|should|never)\b",
    re.I,
)
# "It is tempting to pledge: I will take at most 12": the colon is in the middle.
_GOES_ON = re.compile(
    rf"\b(?:to|not|never|{NAME}|they|he|she|you|who|\w+n't) \w+\W*\Z|\b(?:instead|rather|better)\b",
    re.I,
)
_LEAST = 4  # words that tell something: "oh great, so I go left" tells nothing
_CALLED = re.compile(rf"(?:\A|,\s*){NAME}\W*\Z|\A\W*{NAME},", re.I)  # it is told to somebody
_ARGUED = re.compile(
    rf"{_LEAD}(?:since|because|as|given that|now that)\b[^.;:!?]*,\s+"
    rf"(?:{_WILL}|i should|{_BEST_IS})",
    re.I,
)
# A word that is a place or a direction as well may only tell where something is.
_WHERE = re.compile(
    r"\W*(?:the |to the |in the |on the |at the )?(?:north|south|east|west|up|down|left|right"
    r"|middle|cent(?:er|re)|top|bottom|here|there|ahead|back|behind|[a-z]?\d+|[a-z]+ \d+|column \w+"
    r"|\w+(?:ward|wards))\W*",
    re.I,
)
_WORDS = 12  # of a deciding sentence that tells of nobody
# Before it: what may be meant for others, or weighed without an end.
_OPEN = re.compile(
    r"\b(?:you|your|yours|should|must|please|options?|choices?|alternatives?|plans?|ideas?|wants?"
    r"|wish\w*|hop(?:es?|ing)|let (?:him|her|them)|tell|ask|either|maybe|perhaps|both|first|next"
    r"|later|then|tomorrow|last|once|i would|i'd|i could|i might|we could|going to|worst"
    r"|this one)\b",
    re.I,
)
# A judgement that rules out what a sentence names.
_RULED_OUT = re.compile(
    r"\b(?:no|not|nothing|none|never|cannot|\w+n't|wrong|dumb|bad|silly|stupid|useless|pointless"
    r"|nonsense|waste|blocked|too|risky|dangerous|worse|instead|without|impossible|hopeless)\b",
    re.I,
)

# ---- what comes of it

# "That threatens c3": what comes of the action names other things.
_COMES = re.compile(
    r"\W*(?:that|this|it|which)(?: (?:also|then|only|just|even|already))? (?:threatens|makes"
    r"|creates|forces|blocks|gives|keeps|sets|leaves|brings|gets|lets|stops|puts|opens|builds"
    r"|prepares|prevents|completes|extends|connects|guards|protects|saves|clears|frees|covers|starts"
    r"|takes (?:away|care)|wins|helps|means|closes|cuts|shortens)\b",
    re.I,
)
# "Yes, I know that it changes nothing."
_CONCEDES = re.compile(
    r"\W*(?:(?:yes|yeah|ok|okay|well|sure|and|though),? )*(?:i (?:do )?(?:know|realise|realize"
    r"|am aware|understand)|i'm aware|(?<=yes, )(?:it|this|that)(?:'s| is| does| changes))\b"
    r"(?!.*\b(?:but|should|wrong|illegal|impossible"
    r"|instead|rather|would|not allowed|what|who)\b)",
    re.I,
)
# "Too risky for me, sorry!"
_TOO = re.compile(
    r"\W*(?:(?:that's|this is|it's|way|far|just|a bit) )*too (?!bad\b|late\b|sure\b)\w+"
    r"(?: (?:for|with|against) (?:me|my \w+|this|that|a \w+))?(?:,? sorry)?\W*",
    re.I,
)

# What admits too much.
_QUALIFIED = re.compile(
    r"\b(?:but|should|wrong|illegal|impossible|instead|rather|would|could|or|not allowed|better|i'd"
    r"|unless|if not|who|you)\b|[?\"]",
    re.I,
)
# "Player_1 passed, so it probably waits."
_ANOTHER_DOES = re.compile(
    rf"\W*{NAME} (?:(?:has|just|already|also|always|only|never) )*[a-z]+(?:ed|s)\b(?!\s*:)", re.I
)

# ---- what takes back -----------------------------------------------------------------------------

# A sentence behind the deciding one tells of others, or how things are.
_TELLS = re.compile(
    rf"\W*(?!(?:that|this|it|what|so)\b)(?:{NAME}|he|she|they|the|an?|my|our|his|her|their|its"
    rf"|there|there's|another|both|nobody"
    r"|everyone|everybody|from (?:there|here)|with|on|in|at|near|all|one|two|three|each|most|some"
    r"|\w+ing|[a-z]+s?(?= (?:is|are|has|have|may|might|can|will|wins?|needs?|beats?|costs?"
    r"|gives?)\b))"
    r"\b",
    re.I,
)
_TAKES_BACK = re.compile(
    r"\b(?:unless|instead|actually|wait|sorry|oops|hm+|jok\w+|kidding|scratch|scrap|correction"
    r"|second thoughts?|mistake|illegal|impossible|options?|choices?|examples?|alternativ\w+|or not"
    r"|maybe not|rather|better|wrong|bad|you|your|i|i'd|i'll|me|my (?:move|action|choice|answer)"
    r"|said|says|told|tells|suppose|imagine|pretend|lie|lying|blocked|occupied|taken|forbidden"
    r"|rejected|ruled|opposite|never ?mind|last|previous|earlier|would have|had|went|came|took"
    r"|gave|was|were|did"
    r"|right|best|correct|safer?)\b|\?",
    re.I,
)
# "This gives me 40 points if accepted": what comes of it for the one who acts.
_FOR_ME = re.compile(
    r"\A\W*(?:that|this|it|which) (?:(?:would|will|'ll|also|still) )?(?:gives?|gains?|nets?|brings?"
    r"|leaves?|earns?|gets?|keeps?|puts?|lets?) (?:me|us)\b",
    re.I,
)
# A labelled decision stands, unless it is taken back in so many words.
_HEADED = re.compile(rf"\W*{_HEADS}\s*[*_]*\s*(?:[:\uff1a]|[\u2013\u2014-])", re.I)
_UNDOES = re.compile(
    r"\b(?:if|unless|instead|actually|wait|sorry|oops|hm+|jok\w+|kidding|scratch|scrap|correction"
    r"|second thoughts?|mistake|illegal|impossible|options?|examples?|alternativ\w+|or not|maybe"
    r"|never ?mind|change\w* my mind|opposite|you|your|next|then|later|i'll|i will)\b|\?",
    re.I,
)
# What was said first is taken back, and what counts stands behind it.
_CORRECTED = re.compile(
    r"(?:\b(?:no,? wait|wait,? no|hm+,? no|hold on,? no|scratch (?:that|this)|scrap (?:that|this)"
    r"|on second thoughts?|correction|(?:uh+,? |oh,? |no,? )sorry|sorry,? no|no, i mean|i meant"
    r"|wait,? actually|actually,? (?:no|wait|scratch that|scrap that)|no,? actually)\b"
    r"|\.\.+ ?(?:no|nope|nah)(?=,))"
    r"[\s,;:.!\u2026\u2013\u2014-]*(?P<main>[\w(].*)\Z",
    re.I | re.S,
)


# A clause before what "I" do, behind a comma: a statement, of no condition, time or speech.
_TOLD = re.compile(
    r"(?P<told>[^.;:!?\n]*[^,.;:!?\n])(?:,|\s+[\u2013\u2014-]+)\s+(?:and |so |and so )?"
    r"(?P<main>(?!i (?:bet\W*\Z|would|could|might|may|should)\b)"
    r"(?:i'll|i will|i'm|i am|i|we'll|let me|let's|let us)\s[^?]*)",
    re.I,
)
_STATES = re.compile(
    r"\W*(?:no|nothing|nobody|none|not)\b|\b(?:is|are|am|isn't|aren't|has|have|hasn't|haven't|i'm"
    r"|i've|\w+'s|\w+'re|can|can't|cannot|won't|don't|doesn't|will|may|might|needs?|wants?|holds?"
    r"|lies|stands?|looks?|seems?|goes|comes?|gets?|costs?|wins?|loses?|beats?|gives?|passed"
    r"|checked"
    r"|\w+ed)\b",
    re.I,
)
_NOT_TOLD = re.compile(
    r"\b(?:if|when\w*|unless|while|once|until|till|whether|because|like|that|who|what|which|where"
    r"|how|why|than|or|either|would|could|should|says?|said|tells?|told|thinks?|thought|asks?|asked"
    r"|by the time|hopes?|wish\w*|want (?:me|us)|wants (?:me|us)|believes?|expects?|claims?"
    r"|next|later|then"
    r"|after\w*|before|tomorrow|soon|last|first|eventually|sometimes|usually|often|always|had|were"
    r"|with(?:out)?|given|in case|i|i'd|you|your|maybe|perhaps|more|option\w*|choice\w*|plan\w*)\b"
    r"|[?:\"]",
    re.I,
)
_POINTS = re.compile(r"\b(?:it|that|this|them|there|one|so)\b", re.I)  # to what is told
_MY_STATE = re.compile(
    r"\W*(?:i have|i've|i'm|i am|i hold|i can't|i cannot|i don't|you're|you are)\b", re.I
)
# A clause behind the action: where it leads, how things are, what others are free to do.
_BEHIND = re.compile(
    r"(?P<main>[^,.;:!?\n(]+(?:\([^()]*\)[^,.;:!?\n(]*)?)(?P<sign>,|;"
    r"|\s+[\u2013\u2014-]+)\s+(?P<tail>"
    r"(?:(?:right|just|straight|directly|one (?:cell|step)|nearly|almost|still) )?"
    r"(?:away from|towards?|next to|close to|closer to|nearer(?: to)?|near|beside|far from"
    r"|out of|on my way|in front of"
    r"|under|below|above|behind|between|along|past|around|back to|nearly there"
    r"|almost there|as before|as planned|just to|to be|for the|for a|where)\b.*"
    rf"|(?:it's|it is|it|there's|there is|there are|they're|he's|she's|he|she|they|{NAME}|we|nobody"
    r"|everyone|one|two|three|\d+|the \w+(?: \w+)?|my \w+|its \w+|his \w+"
    r"|(?!(?:that|this|what|so|which|as)\b)[a-z]+)"
    r"(?:'s|'ll)?(?<!that's)(?<!it's) ?(?:now |still |just |already |also |surely |only )?"
    r"(?:is|are|has|have|can|will|needs?|may|might|must|flies|moves|comes|goes|stands|lies|wants"
    r"|looks|leaves|gives|brings|closes|gets|does|do|makes|saves|keeps|wins|holds|waits)\b.+"
    r"|(?:it's|there's|they're|he's|she's)\b.+)",
    re.I | re.S,
)
# "Even though I can't beat a queen, I'll call".
_THOUGH = re.compile(
    r"\W*(?:even though|although|though|while(?! i'?\b))\s+(?P<told>[^,;:.!?\n]+),\s+"
    r"(?P<main>(?:i'll|i will|i'm|i am|i|let me|let's|my)\s[^?]+)",
    re.I,
)
# "North again, I know it changes nothing", "interact, even though nothing will happen".
_ADMITS = re.compile(
    r"(?P<main>[^.;:!?\n]+?),\s+(?P<tail>(?:even though|although|despite|in spite of|even if)\b.+"
    r"|(?:yes,? |yeah,? )?i know\b.*)",
    re.I,
)
_CONDITIONS = re.compile(
    r"\b(?:if|unless|when\w*|once|until|till|later|next|tomorrow|said|says?|told|tells?|asks?|asked)\b",
    re.I,
)
_LETS = re.compile(r"\W*let (?!me\b|us\b)", re.I)  # is told to others
_NOT_BEHIND = re.compile(
    r"\b(?:if|unless|whether|or|but|maybe|perhaps|would|could|should|says?|said|tells?|told|thinks?"
    r"|wish\w*|hopes?|imagine|suppose|pretend|jok\w+|kidding|instead|rather|wrong|bad|stupid|silly"
    r"|mistake|illegal|impossible|blocked|taken|occupied|forbidden|later"
    r"|next (?:turn|step|time|round)|tomorrow|then|once|when\w*|until|before|after\w*"
    r"|last|earlier|previous\w*|was|were|had|did|threw|thrown|went|took|dropped|options?|choices?"
    r"|examples?|who|what|how|why"
    r"|yours?|you|i'd|not to|no (?:way|good"
    r"|use)|pointless|useless|risky|dangerous|nonsense|dumb|right\W*\Z|is\W*\Z|are\W*\Z|too)\b"
    r"|[?\"]",
    re.I,
)


def verdicts(text: str) -> Iterator[Verdict]:
    """The ways to see which sentence decides; none if nothing tells it."""
    if len(text) > MOST:
        return
    text = text.replace("\u2019", "'").replace("**", "")
    told = _section(text)
    if told is not None:
        main, rest = told
        if not _framed(rest):
            yield Verdict(main, tuple(_units(rest)))
            first, *behind = _units(main) or [""]
            if behind and not rest.strip():
                yield from _first(first, behind)
        return
    corrected = _CORRECTED.search(text)
    if corrected and not text[: corrected.start()].strip(" *_\"'"):
        text, corrected = corrected["main"], None
    if corrected:
        said, main = text[: corrected.start()], corrected["main"]
        again = said.lower().strip(" .,;:!-\u2013\u2014\u2026") in main.lower()
        if corrected.start() and not again and not _framed(text):
            yield Verdict(main)
            *before, last = _units(main) or [""]
            yield from _final(before, last, corrected=True)
        return
    units = _units(text)
    if not units or len(units) > _MOST_UNITS:
        return
    *before, last = units
    yield from _final(before, last)
    if len(units) > 1:
        yield from _first(units[0], units[1:])


def _section(text: str) -> tuple[str, str] | None:
    """(what stands under the heading of the decision, what stands under others); None without."""
    marks = list(_HEADING.finditer(text))
    heads = [mark for mark in marks if mark["head"]]
    whys = [mark for mark in marks if mark["why"]]
    if whys and not heads and len(_units(text[: whys[0].start()])) == 1:
        return text[: whys[0].start()].strip(), text[whys[0].end() :]
    if len(heads) != 1 or not (whys or _alone(text, heads[0])):
        return None
    head = heads[0]
    end = next((mark.start() for mark in marks if mark.start() > head.start()), len(text))
    main = text[head.end() : end].strip()
    return (main, f"{text[: head.start()]}\n{text[end:]}") if main else None


def _units(text: str) -> list[str]:
    """The sentences and lines of a text; none if the last one may name another by its number."""
    found: list[str] = []
    for unit in _STOP.split(_ITEM.sub("", text)):
        if unit and re.search(r"\w", unit):
            found.append(unit.strip(" \t#>`"))
    return found if found and not (_NUMBERED.search(text) and re.search(r"\d", found[-1])) else []


def _alone(text: str, head: re.Match[str]) -> bool:
    """Whether a text is a heading of the decision, and what stands below."""
    return not text[: head.start()].strip(" #>*_-\n") and "\n" in head[0]


def _answered(units: list[str]) -> list[str]:
    """The sentences without questions to which the next one says no."""
    return [
        unit
        for unit, after in zip(units, [*units[1:], ""], strict=True)
        if not (unit.rstrip("\"')*_").endswith("?") and _DENIED.match(after))
    ]


def _framed(text: str) -> bool:
    return _FRAMED.search(text) is not None or text.count('"') % 2 == 1


def _final(before: list[str], last: str, corrected: bool = False) -> Iterator[Verdict]:
    """The last sentence, or its last clause; behind a correction it is for nobody else."""
    if len(before) > 1:
        before = _answered(before)
    told = " \n".join(before)
    yield from _in_clauses(before, last)
    if _framed(told) or "?" in last or _FRAMED.search(last):
        return
    if before:
        nearest = before[-1]
        strong_own = _STRONG.match(last)
        strong = strong_own and _STOPPED.search(nearest)
        if (
            (nearest.endswith("?") and not (strong_own and _RHETORICAL.fullmatch(nearest)))
            or (_LEADS.search(nearest) and not strong)
            or _HEARD.search(nearest)
            or (_SUBORDINATE.match(nearest) and not _ENDED.search(nearest))
        ):
            return
        if any(_FIRST.search(unit) for unit in before):
            return
        others = tuple(before)
        so = _SO.search(last)
        if so:
            yield Verdict(last[so.end() :], (*others, last[: so.start()]))
        if _STRONG.match(last) or so or _ARGUED.match(last):
            yield Verdict(last, others)
        elif not (
            _WHERE.fullmatch(last)
            or len(last.split()) > _WORDS
            or (_OF_ANOTHER.match(nearest) and not corrected)
            or any(_OPEN.search(unit) or _ASKS.search(unit) for unit in before)
        ):
            yield Verdict(last, others, _weighed([u for u in before if not _RULED_OUT.search(u)]))


def _in_clauses(before: list[str], last: str) -> Iterator[Verdict]:
    """The last clause of a sentence, or its first ones."""
    if before or len(last) > _MOST_CLAUSES or "?" in last or _framed(last):
        return
    own = _own_clause(last)
    if own is not None:
        yield own
    found = _TOLD.fullmatch(last)
    if found:
        told = _MY_STATE.sub("", found["told"])
        alone = not _POINTS.search(found["main"])
        if alone and _STATES.search(found["told"]) and not _NOT_TOLD.search(told):
            yield Verdict(found["main"], (found["told"],))
    found = _THOUGH.fullmatch(last)
    if found and not _CONDITIONS.search(found["told"]):
        yield Verdict(found["main"], (found["told"],))
    found = _ADMITS.fullmatch(last)
    if found and not _LETS.match(found["main"]) and not _QUALIFIED.search(found["tail"]):
        yield Verdict(found["main"], (found["tail"],))
    found = _BEHIND.fullmatch(last)
    if found and not _NOT_BEHIND.search(found["tail"]) and not _LETS.match(found["main"]):
        yield Verdict(found["main"], (found["tail"],), _weighed([found["tail"]]))


def _own_clause(last: str) -> Verdict | None:
    """An own clause at the end of a sentence, if what is told before it is no condition, nor
    another's."""
    found = _OWN_CLAUSE.fullmatch(last)
    if not found or _SUBORDINATE.match(found["told"]) or _NOT_SO.search(found["told"]):
        return None
    told = found["told"]
    if len(told.split()) < _LEAST or _CALLED.search(told) or _POINTS.search(found["main"]):
        return None
    if not found["so"]:
        if (
            _STRONG.match(told)
            or _FIRST.search(told)
            or _OPEN.search(told)
            or _HEARD.search(told)
            or _SPOKEN.search(told)
        ):
            return None
        if found["sign"] == ":" and (_ANNOUNCES.search(told) or _GOES_ON.search(told)):
            return None
    elif ":" in told and _SPOKEN.search(told):
        return None
    return Verdict(found["main"], (told,))


def _first(first: str, rest: list[str]) -> Iterator[Verdict]:
    """The first sentence, where the others tell of other things."""
    if "?" in first or _FRAMED.search(first) or _LEADS.search(first):
        return
    if all(_harmless_behind(unit) for unit in rest):
        yield Verdict(first, tuple(rest), _weighed(rest))
    # "Decision: fold. I would rather not pay for a card that is beaten."
    elif _HEADED.match(first) and not any(_UNDOES.search(unit) for unit in rest):
        yield Verdict(first, tuple(rest))


def _weighed(units: list[str]) -> tuple[str, ...]:
    """The sentences in which no word may name another action: not what comes of the one that is
    chosen, what is admitted, or what another one does."""
    signs = (_COMES, _CONCEDES, _ANOTHER_DOES)
    return tuple(unit for unit in units if not any(sign.match(unit) for sign in signs))


def _harmless_behind(unit: str) -> bool:
    """Whether a sentence behind the deciding one leaves it as it is."""
    if _CONCEDES.match(unit) or _TOO.fullmatch(unit):
        return True
    unit, comes = _FOR_ME.subn("", unit, count=1)
    return bool(comes or _TELLS.match(unit) or _COMES.match(unit)) and not _TAKES_BACK.search(unit)
