"""Words that may turn a sentence round, and so may not stand beside an action.

Each list is what the ways to take a sentence apart (`cuts.py`, `asides.py`) may not find
in the part that is no action. Most are made of the same few groups of words.
"""

from __future__ import annotations

import re

# Another one by its name; "cabinet 3" is a thing.
NAME = (
    r"(?:[a-z]+_\d{1,2}|(?:player|chef|cook|drone|near|far|pursuer|evader|runner|tagger|hunter"
    r"|robot"
    r"|agent|bot|opponent|partner|team|seller|buyer) \d{1,2})"
)

# "(2, 3)" is one word, and none of its numbers an action.
PLACE = r"\(\s*-?\d+(?:\.\d+)?(?:\s*,\s*-?\d+(?:\.\d+)?)+\s*\)"

# Where something is on its way to, which is no action: "the ball is coming straight down".
_WAYS = r"(?:up|down|left|right|north|south|east|west)(?:wards?)?"
MOVING = re.compile(
    r"\b(?P<who>(?!i\b|we\b|i'm\b)[\w']+ (?:(?:is|are|was|keeps?) )?(?:(?:now|still|already) )?)"
    r"(?P<does>coming|falling|dropping|going|flying|moving|heading|running|fleeing|drifting|rolling|falls|drops"
    r"|comes|flies|moves)(?: (?:straight|right|back|fast|slowly|directly|quickly|to the))*"
    rf" {_WAYS}\b",
    re.I,
)

# Where "right" is no direction.
RIGHT = re.compile(
    r"\bright (?=beside|next|here|there|behind|under|above|below|in|at|on|by|where)", re.I
)

# A judgement for an action: "calling is the best play", "5 coins seem a fair start".
A_GOOD = (
    r"(?:(?:about|just) right|(?:the|my|an?) (?:very |pretty |fairly |quite )?(?:best|safest"
    r"|shortest|fastest|quickest"
    r"|natural|obvious|right|correct|most \w+|good|sensible|reasonable|solid|fair|safe|decent|nice"
    r"|sound|wise|smart|balanced|modest|generous|strong|clear|simple)(?: \w+)? (?:way|route|path"
    r"|direction|move|choice|option|action|play|step|start|balance|opening|gesture|compromise"
    r"|offer|bid|idea|call|approach|split|deal|decision))"
)

# Groups of words, by what they do.
_NO = r"no not never cannot \w+n't"
_PEOPLE = "he she they his her their"
_PAST = "was were did had"
_IDEAS = "would could should"
_BAD = "bad worse worst wrong"
_POOR = (
    "mistake poor silly stupid dumb terrible risky riskiest dumbest weakest rejected ruled illegal "
    "impossible unlikely"
)
_REGRET = "rather better sorry oops hmm correction mean change"
_ASKED = "what who where how"
_EXCEPT = "but except else"
_EARLIER = "last previous earlier past"
_SHUT = "blocked taken"


def _any(*groups: str, also: str = "") -> re.Pattern[str]:
    """Any of the words of some groups; `also` is a pattern that may have blanks in it."""
    words = [*" ".join(groups).split(), *([also] if also else [])]
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.I)


# What tells of others, of another time or of a judgement.
OTHERS = _any(
    *(_PEOPLE, _IDEAS, _EARLIER),
    r"you your partner opponent mate team\w* everyone everybody all chef player bot robot agent",
    r"human drone worst wrong mistake illegal terrible forbidden following loses avoid never",
    r"previous\w* was were did example option\w* choices?",
    also=NAME,
)
# A judgement, or a statement that breaks off or only asks.
JUDGES = re.compile(
    r"\b(?:best|right|good|correct|optimal|better|fine|okay|safer?|profitable|cheap|free|off|gone"
    r"|over|unclear|trap|test|example|mistake|thing|idea|move|action|choice|answer|turn)\b"
    r"|\b(?:is|are|isn't|aren't|lies|stands?|has|have|blocked|closed|locked|shut)\W*$"
    r"|\bgonna \w+\W*$"
    r"|\b(?:tempt\w+|afraid|early|late|reluctant|hesitant|wrong|hard) to\b"
    r"|\bagainst (?:it|this|that)\b|\bhave (?:tried|been|seen)\b|\bno (?:point|sense|use|reason)\b"
    r"|\bnot to \w+\W*$|\b(?:didn't|never) \w+\W*$"
    r"|\b(?:going|about|tempt\w+|afraid|early|late|ready|able|inclined|reluctant|hesitant|eager"
    r"|\w*willing|wrong|hard) to \w+\W*$"
    r"|^\W*(?:is|are|am|has|have)\b",
    re.I,
)
# Another time, or a part of the rules.
IN_TIME = _any(
    *(_IDEAS, "was were had may can when\\w* once while after before as by next then later soon"),
    r"you\w* that which who what how rule option\w* plan\w* turns? even given",
    also=r"in (?:case|my|our|a|an|one|two|three|\d+|that|which|this|general|theory|the end)",
)
# What is on the way is not done, or others do it.
NOT_DOING = _any(
    *(_NO, _BAD, _PEOPLE, _IDEAS),
    r"was were did \w+ed caught lose losing nowhere when you\w* option\w* choice\w*",
)
# What speaks against the action, or takes it back.
AGAINST = _any(
    *(_NO, _BAD, _POOR, _PEOPLE, _PAST, _IDEAS, _REGRET, _ASKED, _EXCEPT, _EARLIER, _SHUT),
    r"none nothing nobody without avoid\w* you your done means thoughts? why option\w* plan\w*",
    r"fallback than closed locked occupied too example test trap question alternative\w* false",
    r"fails? useless pointless loses?",
)
# The same of a note beside the action, which may tell of no other time or player, either.
NO_NOTE = _any(
    *(_NO, _BAD, _POOR, _PEOPLE, _PAST, _IDEAS, _REGRET, _ASKED, _EXCEPT, _EARLIER, _SHUT),
    r"none without avoid you your partner opponent player chef done may can when once while after",
    r"before make thoughts? just only which option plan fallback [a-z]+[_\s]\d{1,2}",
    r"forbidden nah later mate team-?mate everyone",
    also=r"next (?:turn|step|time|round|move|game)|too (?:slow|late|early|risky|far|costly|weak)",
)
# What takes the good of an action away.
NO_HELP = _any(
    *(_NO, _BAD),
    r"nothing none nowhere trap los\w+ kill\w* dead hurt\w* than but except if when you\w*",
)
# What takes an action back in the sentence after it.
TAKEN_BACK = _any(
    *(_NO, _BAD, _POOR, _PAST, _REGRET, _EXCEPT, _SHUT),
    r"it that this i me we us you\w* would should went told wait actually instead jok\w+ kidding",
    r"what which where option\w* choices? example",
)
# Where another one is told or wishes something, that is not what it does.
ORDERED = _any(_NO, r"you\w* want\w* ask\w* think\w* thought beat punish\w* wins? stop")
# Where a message or a plan is quoted, what stands behind the colon may be another's.
SPEAKS = re.compile(
    r"\b(?:you\w*|clear|plan|idea|message|words?|answer\w*|reply|repl\w+|motto|rule|text|note|hint"
    r"|advice|order|line|quote|thought|when|while|after|before|was|were|had|would|could|should"
    r"|example|option\w*|he|she|they)\W*\b",
    re.I,
)
NOT_POINTED = re.compile(
    r"\b(?:thoughts?|impulse|temptation|instinct|hunch|wish|alternative|hand|rounds?)\W*$", re.I
)
WHERE = _any("where about")  # an order rather than a statement
NOT_WEIGHED = _any(r"if unless says? said told tell would pretend imagine suppose jok\w+ you\w*")

# Conditions, doubts, suppositions, others' words and jokes.
_DOUBT = (
    r"if unless whether until till suppos\w+ imagin\w+ pretend\w* assum\w+ provid(?:ed|ing) "
    r"hypothetical\w* theor\w+ jok\w+ kidding lies? lying ironic\w* sarcas\w+ opposite contrary "
    r"untrue false says? said saying tells? told asks? asked asking wrote writes? quot\w+ hear\w* "
    r"claims wish\w* hopes? hoping dream\w* otherwise or either maybe perhaps possibly probably "
    r"might depend\w* however although though nevertheless instead actually undecided unsure "
    r"uncertain "
    r"refus\w+ forget ignor\w+ cancel\w* scratch"
)
_DOUBTS = "|".join(
    [
        *_DOUBT.split(),
        "not sure",
        "no idea",
        r"nah(?=\W*$)",
        "(?:one|some) ?day",
        "given (?:a|the|half a) chance",
        "(?:please|pls) confirm",
        "never ?mind",
        "by the time",
        "(?:perfect|ideal) world",
    ]
)
# What makes a reason more than one.
HARMFUL = re.compile(
    rf"[?\"\u201c\u201d\u00ab\u00bb:]|\b(?:{_DOUBTS}"
    r"|still(?=\W*(?:[,;.!]|$|(?:i|we|my|our)\b))|wait"
    r"|well as|soon as|long as|far as|much as|e\.\s?g)\b",
    re.I,
)
# What makes a remark beside a bare action more than one: there, nothing but a few shapes of a
# remark is harmless, so that other times, judgements, thoughts and calls are not.
NO_REMARK = re.compile(
    rf"\b(?:{_DOUBTS}"
    r"|pending|barring|failing|granted|because|since|but|in case|hesitat\w+|afraid|reluctant|claim"
    r"|neither|nor|may|idk|dunno|guess"
    r"|should\w*|would\w*|could\w*|shall|i'd|we'd|was|wasn't|were|weren't|had|hadn't|did|didn't"
    r"|used|last|earlier|ago|yesterday|previous\w*|before|after\w*|later|next(?! to\b)|soon"
    r"|eventually|usually|normally|sometimes|often|once|when\w*|while|as|first|second|then"
    r"|tomorrow|rather|better|worse|worst|wrong|mistakes?|bad|stupid|silly|terrible|dumb|dangerous"
    r"|suicid\w+|losing|loses?|lost|avoid\w*|never|illegal|forbidden|impossible|except|unlike"
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
# An intention of its own.
PLAN = re.compile(
    r"\b(?:i'll|i will|i shall|let me|let's|let us|i'm going|i am going|i'm about|i am about"
    r"|i choose|i plan|i intend|we'll|we will|we shall|first|then"
    r"|(?<!the )(?<!my )(?<!its )next(?! (?:to|step|turn|round)\b)"
    r"|later|afterwards?)\b",
    re.I,
)
MOCKING = re.compile(
    r"\W*(?:oh|yeah|right(?!,? (?:to|because|since|not|rather|instead|again|so)\b)"
    r"|great|sure|totally|of course|obviously|as though)\b(?!.*\bi(?:'ll)?\b)"
    r"|\W*oh\b",
    re.I,
)
# "He has nothing, I bet" is no bet.
I_BET = re.compile(
    rf"(?:he|she|they|{NAME}|(?:the|my) (?:opponent|rival|partner|other))\b[^,]*"
    r"\b(?:has|have|is|are|holds?|will|must|got)\b[^,]*, i bet\W*",
    re.I,
)
