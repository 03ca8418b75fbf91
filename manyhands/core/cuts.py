"""Sentences in two parts, what is told and what is done, as a table: `CUTS`.

Each of its ways knows such a sentence by its shape and by what the told part may not say;
`core/asides.py` tries them all, beside what it cuts at single words.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Clause(NamedTuple):
    """A clause that may name the action.

    Attributes:
        main: its words.
        reason: what is told beside it; "" if nothing is.
        ruled_out: an action that is not done; "" if none is named.
        later: whether the reason is a purpose, and may so name what is done later.
        strict: whether nothing but the order of the sentences tells which is the action, so that
            not even a word of the reason may name one.
        outcome: whether the reason tells what the action is or does at once, and so may name that
            action again, but no other: "turn right, to face south", "go up (north)".
        again: whether the reason has to name that action again: "pick it up: interact".
    """

    main: str
    reason: str = ""
    ruled_out: str = ""
    later: bool = False
    strict: bool = False
    outcome: bool = False
    again: bool = False


# Who plays, as it calls itself; what it intends.
SELF = r"(?:i|i'll|i'm|i've|i'd|we|we'll|we're|my|let me|let's|let us)"
INTEND = (
    r"(?:i'll|i'm|i'd|i've|i|we'll|we will|let me|let's|let us"
    r"|my (?:next |final )?(?:move|action|answer|choice))\b"
)
# Another one by its name; "cabinet 3" is a thing.
NAME = (
    r"(?:[a-z]+_\d{1,2}|(?:player|chef|cook|drone|near|far|pursuer|evader|runner|tagger|hunter|robot"
    r"|agent|bot|opponent|partner|team|seller|buyer) \d{1,2})"
)
# "There is nothing I can do but wait."
NOTHING_BUT = (
    r"(?:there(?:'s| is) |i have |i've (?:got )?|leaves me )?(?:nothing (?:else |better |left )*"
    r"(?:(?:i|we) can do|(?:for (?:me|us) )?to do)|no (?:other |real )*(?:choice|option))"
    r" (?:but|except|other than|than) (?:to )?"
)

# What tells of others, of another time or of a judgement.
OTHERS = re.compile(
    r"\b(?:you|your|he|his|she|her|they|their|partner|opponent|mate|team\w*|everyone|everybody|all"
    rf"|chef|player|bot|robot|agent|human|drone|worst|wrong|mistake|illegal|terrible|forbidden"
    r"|following|loses|avoid|never|past|previous\w*|last|earlier|was|were|did|example|option\w*"
    rf"|choices?|could|should|would|{NAME})\b",
    re.I,
)


class _Cut(NamedTuple):
    """A way to take a sentence apart that is the whole of it.

    Attributes:
        whole: with the groups "reason" and "main".
        unless: what the reason says in none of these ways.
        states: whether the reason is a statement of how things are.
        later: of the sentence: its reason tells what is done later.
        clause: what else is known of the clause.
    """

    whole: re.Pattern[str]
    unless: tuple[re.Pattern[str], ...] = ()
    states: bool = False
    later: re.Pattern[str] | None = None
    clause: Clause = Clause("", outcome=True)


# A statement of how things are, and the words before a thing in it.
STATES = re.compile(
    r"\b(?:(?:it|that|there|he|she)'s|i'm|we're|i am|we are|is|are|isn't|aren't|needs?|has|have"
    r"|nothing (?:\w+ )?to \w+|holds?|contains?|requires?|becomes?|lies|stands?|will be|gets"
    r"|still \w+ing)\b",
    re.I,
)
LIKELY = re.compile(r"\b(?:may|might|must|could|should) be\b", re.I)
BEFORE_THINGS = frozenset(
    str.split(
        "the a an of in into from with for some my our this that its need needs want has have "
        "holds no more enough another any still one two three four five"
    )
)
# What a reason may not say: a judgement, another time, that it is not done.
JUDGES = re.compile(
    r"\b(?:best|right|good|correct|optimal|better|fine|okay|safer?|profitable|cheap|free|off|gone"
    r"|over|unclear|trap|test|example|mistake|thing|idea|move|action|choice|answer|turn)\b"
    r"|\b(?:is|are|isn't|aren't|lies|stands?|has|have|blocked|closed|locked|shut)\W*$"
    r"|\bgonna \w+\W*$"
    r"|\b(?:tempt\w+|afraid|early|late|reluctant|hesitant|wrong|hard) to\b"
    r"|\b(?:going|about|tempt\w+|afraid|early|late|ready|able|inclined|reluctant|hesitant|eager"
    r"|\w*willing|wrong|hard) to \w+\W*$"
    r"|^\W*(?:is|are|am|has|have)\b",
    re.I,
)
_IN_TIME = re.compile(
    r"\b(?:when\w*|once|while|after|before|as|by|next|then|later|soon|were|was|had|should"
    r"|would|could|may|can|you\w*|that|which|who|what|how|rule|option\w*|plan\w*|turns?|even|given"
    r"|in (?:case|my|our|a|an|one|two|three|\d+|that|which|this|general|theory|the end)"
    r")\b",
    re.I,
)
_NOT_DOING = re.compile(
    r"\b(?:no|not|never|\w+n't|bad|worse|worst|wrong|lose|losing|nowhere|was|were|did|\w+ed|caught"
    r"|could|should|would|when|you\w*|he|she|they|his|her|their|option\w*|choice\w*)\b",
    re.I,
)
_AGAINST = re.compile(
    r"\b(?:no|not|never|\w+n't|none|nothing|nobody|cannot|without|avoid\w*|bad|worse|worst|wrong"
    r"|mistake|poor|silly|stupid|terrible|risky|rejected|ruled|you|your|he|his|she|her|they|their"
    r"|was|were|did|done|had|would|could|should|rather|better|sorry|oops|hmm|correction|change"
    r"|mean|means|thoughts?|what|who|where|why|how|option\w*|plan\w*"
    r"|fallback|else|but|except|than|unlikely"
    r"|illegal|impossible|blocked|taken|closed|locked|occupied|too|example|test|trap|question"
    r"|last|previous|earlier|past|alternative\w*|false|fails?|useless|pointless|loses?)\b",
    re.I,
)
_NOT_POINTED = re.compile(
    r"\b(?:thoughts?|impulse|temptation|instinct|hunch|wish|alternative|hand|rounds?)\W*$", re.I
)

# Another player, and what tells what it says or is told rather than does.
_OTHER = (
    rf"(?:{NAME}|he|she|they|(?:(?:my|the|our) )?(?:other )?(?:partner|opponent|rival|team-?mates?"
    r"|mate|chef|player|drone|robot|others?)(?: chef| player)?)"
)
# Judgements that choose, what takes the good of them away, and what takes an action back.
_SENSIBLE = (
    r"(?:sensible|reasonable|best|right|correct|safest|optimal|obvious|logical|natural|smart\w*)"
    r"(?: (?:thing|move|choice|option|play|action|step))?"
)
_WHERE = re.compile(r"\b(?:where|about)\b", re.I)  # an order rather than a statement
_NO_HELP = re.compile(
    r"\b(?:no|not|never|\w+n't|nothing|none|nowhere|worse|worst|wrong|bad|trap|los\w+|kill\w*|dead"
    r"|hurt\w*|than|but|except|if|when|you\w*)\b",
    re.I,
)
_TAKEN_BACK = re.compile(
    r"\b(?:no|not|\w+n't|you\w*|it|that|this|was|were|did|had|went|told|wait|actually"
    r"|instead|rather|sorry|jok\w+|kidding|mistake|wrong|bad|worse|worst|illegal|impossible|blocked"
    r"|taken|better|but|except|else|would|should|what|which|where|option\w*|choices?|example|i|me"
    r"|we|us)\b",
    re.I,
)
# Where another one is told or wishes something, it is no matter of what it does; where a message or
# a plan is quoted, what stands behind the colon may be another's.
_ORDERED = re.compile(
    r"\b(?:you\w*|want\w*|ask\w*|think\w*|thought|beat|punish\w*|win|stop|never|not|\w+n't)\b", re.I
)
_SPEAKS = re.compile(
    r"\b(?:you\w*|clear|plan|idea|message|words?|answer\w*|reply|repl\w+|motto|rule|text|note|hint"
    r"|advice|order|line|quote|thought|when|while|after|before|was|were|had|would|could|should"
    r"|example|option\w*|he|she|they)\W*\b",
    re.I,
)

_THEN = r"(?::|\s*(?:->|=>|\u2192)|\s--?|\s*[\u2013\u2014])\s+"
CUTS = (
    # "I line up with the food: up", "time to get an onion -> north".
    _Cut(
        re.compile(
            r"\W*(?:(?:i|we|i'll|let me|let's|let us) (?="
            r"(?:move|go|line up|head|step|walk|come|close|approach"
            r"|follow|flee|run|retreat|continue|make (?:room|way)|check|search|look for|fetch"
            r"|explore|try|start|begin|clear|help|serve|bring|want|need|bluff|trap|slow-?play"
            r"|give up|get|grab|aim|leave|let|take|keep|meet|play|stay|set"
            r"|chase|catch|hunt|attack|collect|cut|surround|block"
            r"|use (?:the|this|my) (?:time|turn|step|moment))\b)"
            r"|(?=let (?!me\b|us\b)\w)"
            r"|(?:my |the )?next (?=(?:stop|target|goal|errand|job)\b"
            r"|the (?!other|opponent|player|partner|turn|step|round|time|move|hand|game)\w)"
            r"|(?:(?:i|we|i'll|let me) )?"
            r"(?=(?:take|do|hit|drop|play|lift|use|grab) (?:it|this|that)\b)"
            r"|(?=(?:closing|approaching|heading|following|lining up|fac(?:e|ing)"
            r"|(?:head|heading|go|going|get|getting|fly|flying) back"
            r"|(?:head|go|move|walk|step) (?:over )?(?:to|towards?|for) (?:the|my))\b)"
            r"|(?:now,? |still )?(?:back (?:to|for)|off to|time to|on (?:my|our) way|ready to)\b"
            r"|now,? (?:i|we) can\b|(?:i|we) can now\b)"
            rf"(?P<reason>[^:;.!\n]{{1,90}}?){_THEN}(?P<main>[^:]+)",
            re.I,
        ),
        unless=(_NOT_DOING,),
        later=re.compile(
            r"\W*(?:(?:(?:i|we|i'll|let me|let's|let us) )?"
            r"(?:move|go|going|line up|lining up|head|heading|step"
            r"|walk|come|close|closing|approach|approaching|follow|following|continue|facing|get"
            r"|fetch|use (?:the|this|my) (?:time|turn|step|moment))\b|let (?!me\b|us\b)\w"
            r"|(?:now,? |still )?(?:back (?:to|for)|off to|time to|on (?:my|our) way"
            r"|ready to)\b|now,? (?:i|we) can\b|(?:i|we) can now\b)",
            re.I,
        ),
    ),
    # The same action twice: "pick it up: interact", "face the pot -> north".
    _Cut(
        re.compile(rf"(?P<reason>[^:\n]{{1,120}}?){_THEN}(?P<main>[^:\n]+)"),
        clause=Clause("", outcome=True, again=True),
    ),
    # "Door 1 is open now: east", "the mince is ready, take it".
    *(
        _Cut(
            re.compile(pattern, re.I),
            unless=(OTHERS, _IN_TIME, _WHERE),
            states=True,
            clause=Clause("", strict=True, outcome=True),
        )
        for pattern in (
            r"(?P<reason>[^:;.!?\n]{1,90}):\s+(?P<main>[a-z][^:]{1,60})",
            r"(?P<reason>[^,:;.!?\n]{1,90})(?:,|\s*->|\s--?)\s+"
            r"(?P<main>[a-z][^:,;.!?\n]{1,40})[.!]*",
        )
    ),
    # "far_0 is on the right. Bump to (-2.4, -0.75)": where others are, and what they hold.
    _Cut(
        re.compile(
            rf"\W*(?P<reason>(?:{NAME}|(?:(?:my|the|our) )?(?:other )?(?:partner|opponent|rival"
            r"|team-?mate|chef|player|drone|robot))\s+(?:is|stands|waits|has|holds|carries)\s+"
            r"(?:now |still |already |far |just )*(?:on (?!\w+ way)|at|in|near|beside|behind|by"
            r"|next to|away|below|above|between|close|holding|waiting|frozen|asleep|busy|\d|an?|the"
            r"|no|nothing)\b"
            r"[^.:;!?\n]{0,60})(?:[.;:!]|\s*(?:->|=>|\u2192))\s+"
            r"(?P<main>[a-z][^:;!?\n]{1,60})",
            re.I,
        ),
        clause=Clause("", strict=True, outcome=True),
    ),
    # "Chef_1 hasn't moved; wait". Behind a colon it would be where it moved to.
    _Cut(
        re.compile(
            rf"\W*(?P<reason>{_OTHER}\s+(?:hasn't|has not|has|isn't|is not)\s+(?:\w+ )?"
            r"(?:moved|passed|left|gone|folded|begun|started|moving|coming|cooking|sleeping)\b"
            r"[^.:;!?\n]{0,40})[.;!]\s+(?P<main>[a-z][^:;!?\n]{1,60})",
            re.I,
        ),
        clause=Clause("", strict=True, outcome=True),
    ),
    # "The salad needs lettuce but I fetch bread".
    _Cut(
        re.compile(rf"(?P<reason>.+?),?\s+but\s+(?P<main>{INTEND}.+)", re.I | re.S),
        unless=(_IN_TIME,),
        states=True,
        clause=Clause(""),
    ),
    # "After weighing the options, I go north".
    _Cut(
        re.compile(
            r"\W*(?P<reason>(?:(?:after|having) (?:careful |some |much )?(?:weigh|consider|think"
            r"|thought|look|compar|review|read|analy[sz]|evaluat|reason|reflect|deliberat)"
            r"(?:ing|ed|ion)?|considering|given|based on|looking at|judging (?:by|from)|in light of"
            r"|in (?:this|the current) (?:situation|position|state))\b"
            rf"[^,.;:!?\n]{{0,60}}),\s+(?P<main>{INTEND}.+|[^,;:?\n]{{1,60}})",
            re.I | re.S,
        ),
        clause=Clause(""),
    ),
    # "Gather wood by chopping the tree", "I'll chase it by moving north".
    *(
        _Cut(re.compile(rf"{first},? by (?P<{other}>[a-z]+ing\b[^,;:.!?\n]*)[.!]*", re.I))
        for first, other in (
            (r"(?P<main>[^,;:.!?\n]+?)", "reason"),
            (
                rf"\W*{INTEND}\s+(?!(?:could|would|might|may|can)\b)(?P<reason>[^,;:.!?\n]+?)",
                "main",
            ),
        )
    ),
    # "Moving north brings me closer", "drinking is the priority".
    _Cut(
        re.compile(
            r"\W*(?P<main>(?:[a-z]+ing\b[^,;:.!?\n]{0,40}?|[a-z]\d{1,2}(?= gives"
            r" me\b))) (?P<reason>(?:"
            r"(?:brings|gets|takes|leads|puts) (?:me|us) (?:closer|nearer|to|right|next|near|within"
            r"|the|an?)"
            r"|(?:gives|earns|wins) (?!(?:them|him|her|it|you|nothing)\b)|keeps (?:me|us|it|the)"
            r"|helps|creates|blocks|threatens|sets up|secures|prevents|stops|completes"
            r"|is (?:best|safest|optimal|right|correct)(?= *[.!]*$)"
            r"|is (?:the|my) (?:(?:first |top |main )?priority"
            rf"|next step|plan|goal|(?:only |most )?{_SENSIBLE}))\b[^?]*)",
            re.I,
        ),
        unless=(_NO_HELP,),
    ),
    # "North seems to be the shortest way to the food".
    _Cut(
        re.compile(
            r"\W*(?P<main>[a-z][^,;:.!?\n]{0,40}?) (?P<reason>(?:is|seems(?: to be)?|looks like)"
            r" (?:clearly |probably |obviously )?(?:the|my) (?:best|safest|shortest|fastest"
            r"|quickest|natural|obvious|right|correct|most \w+)(?: \w+)? (?:way|route|path"
            r"|direction|move|choice|option|action|play|step)\b[^?]*)",
            re.I,
        ),
        unless=(_NO_HELP,),
    ),
    # "Call. He may be bluffing": the action, and what others do or how things are.
    _Cut(
        re.compile(
            r"(?P<main>[^,;:.!?\n]{1,60})(?:[.!;]|\s+[\u2013\u2014-])\s+(?P<reason>(?:he|she|they"
            rf"|{_OTHER}|(?:the|an?|my|our|his|her|their|its) \w+(?: \w+)?|[a-z]+)\s+"
            r"(?:(?:may|might|could|must|will|can) (?:\w+ )?\w+|(?:never|always|only|usually|often)"
            r" \w+s|is|are|has|have|wins|beats|loses|gives|needs|holds)\b[^?]*)",
            re.I,
        ),
        unless=(_TAKEN_BACK,),
        clause=Clause("", strict=True, outcome=True),
    ),
    # "North. This brings me to the door."
    *(
        _Cut(
            re.compile(
                rf"(?P<main>{main})\s*(?P<reason>(?:this|that|it)(?:'ll)?\b[^?]*)",
                re.I,
            ),
            unless=(_AGAINST,),
            clause=Clause("", later=True),
        )
        for main in (r"(?:[^.!?;\n]|\.(?=\d))+[.!;](?=\s)", r"[^?\n]+\n")
    ),
    # "While it cooks I fetch a plate".
    _Cut(
        re.compile(
            r"\W*(?:while|meanwhile|in the meantime)\b(?P<reason>[^.;:!?\n]*?),?\s*(?<![a-z])"
            rf"(?P<main>{INTEND}.*)",
            re.I | re.S,
        ),
        clause=Clause(""),
    ),
    # "The door is not open yet, I'll wait".
    _Cut(
        re.compile(
            r"(?P<reason>[^,;:.!\n]{0,80}?(?:\b(?:is|are|isn't|aren't|has|have|hasn't|needs?|holds?"
            r"|stands?|remains?)|\b(?:it|that|there)'s|nothing (?:\w+ )?(?:for me )?to do)\b"
            r"[^,;:.!\n]{0,60}),\s+(?=(?:i|i'll|i'm|we|we'll|let me)\b)(?P<main>.+)",
            re.I | re.S,
        ),
        unless=(_IN_TIME,),
        clause=Clause(""),
    ),
    # "The blender is running; nothing for me to do but wait", "let it run, I wait".
    _Cut(
        re.compile(
            rf"(?P<reason>[^:?\n]{{1,120}})[,;.]\s+(?:so |and )?{NOTHING_BUT}"
            r"(?P<main>[a-z][^,;:.!?\n]*[.!]*)",
            re.I,
        ),
    ),
    _Cut(
        re.compile(
            rf"\W*(?P<reason>let (?!me\b|us\b)\w[^,;:.!?\n]{{1,60}})[,;.]\s+(?P<main>{INTEND}.+)",
            re.I,
        ),
        unless=(_NOT_DOING,),
        clause=Clause("", later=True),
    ),
    # "To make mince I need beef: get beef"; "to block the zombie I place a stone".
    _Cut(
        re.compile(
            r"\W*(?P<reason>(?:in order )?to \w[^,;:.!?\n]{1,60}? (?:i|we) (?:need|want|lack)"
            rf" [^,;:.!?\n]{{1,40}}){_THEN}(?P<main>[^:]+)",
            re.I,
        ),
        unless=(_AGAINST,),
        clause=Clause("", later=True),
    ),
    _Cut(
        re.compile(
            rf"\W*(?P<reason>(?:in order )?to \w[^,;:.!?\n]{{1,60}}?) (?P<main>{INTEND}.+)",
            re.I | re.S,
        ),
        unless=(_AGAINST,),
        clause=Clause("", later=True),
    ),
    # "My partner can get the lettuce, I get beef"; "I fetch beef; chef_1 can handle the bread".
    *(
        _Cut(
            re.compile(pattern, re.I),
            unless=(_ORDERED,),
            clause=Clause("", later=True),
        )
        for pattern in (
            rf"\W*(?P<reason>{_OTHER}\s+(?:can|will|is going to)\s[^,;:.!?\n]{{1,60}})[,;.:!]\s+"
            rf"(?:so |and )?(?P<main>{INTEND}[^;:!?\n]+)",
            rf"(?P<main>{INTEND}[^;:!?\n]+?)(?:[,;.!]| and| while)\s+"
            rf"(?P<reason>{_OTHER}\s+(?:can|will|is going to)\s[^;:!?\n]{{1,60}})",
        )
    ),
    # "player_1 has plate 2, so the last one is fork 2: I go to counter top 1".
    _Cut(
        re.compile(rf"\W*(?P<reason>[^:!?\n]{{1,200}}):\s+(?P<main>{INTEND}[^:]*)", re.I),
        unless=(_SPEAKS,),
        states=True,
        clause=Clause("", strict=True, outcome=True),
    ),
    # "It flies along the wall, I cut it off".
    _Cut(
        re.compile(
            rf"\W*(?P<reason>(?:it|he|she|this|that|there|nobody|{NAME}"
            r"|(?:the|my|our|its|their|an?|this|that|no|one|every|each)"
            r"\s+\w+(?: \w+)?)\s+(?:now |still |just |already |only )?(?:\w+s|\w+n't)\b"
            rf"[^,;:.!?\n]{{0,80}}),\s+(?:so )?(?P<main>{INTEND}.+)",
            re.I,
        ),
        unless=(_IN_TIME, _ORDERED),
    ),
    # "My card decides: I bet"; "the old man: I bet" tells who says it.
    _Cut(
        re.compile(
            r"\W*(?P<reason>(?:my|it|this|that|there|i|we|with|no|only|nothing|one|two|three)\b"
            rf"(?: [^\s:;.!?]+){{2,12}}):\s+(?P<main>{INTEND}[^:]*)",
            re.I,
        ),
        unless=(OTHERS, _IN_TIME, JUDGES, _NOT_POINTED),
    ),
)
