"""Sentences in two parts, what is told and what is done, as a table: `CUTS`.

Each of its ways knows such a sentence by its shape and by what the told part may not say;
`asides.py` tries them all, beside what it cuts at single words.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from manyhands.core.reading.signs import (
    A_GOOD,
    AGAINST,
    IN_TIME,
    JUDGES,
    NAME,
    NO_HELP,
    NO_NOTE,
    NOT_DOING,
    NOT_POINTED,
    ORDERED,
    OTHERS,
    SPEAKS,
    TAKEN_BACK,
    WHERE,
)


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
# "There is nothing I can do but wait."
NOTHING_BUT = (
    r"(?:there(?:'s| is) |i have |i've (?:got )?|leaves me )?(?:nothing (?:else |better |left )*"
    r"(?:(?:i|we) can do|(?:for (?:me|us) )?to do)|no (?:other |real )*(?:choice|option))"
    r" (?:but|except|other than|than) (?:to )?"
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
    r"|still \w+ing|\w+'s (?:done|ready|full|empty|here|free|cooked|finished|open|closed|on|in|at"
    r"|not|still|now|already|my|the|too|cooking|running|waiting|missing|needed|gone|busy))\b",
    re.I,
)
LIKELY = re.compile(r"\b(?:may|might|must|could|should) be\b", re.I)
BEFORE_THINGS = frozenset(
    str.split(
        "the a an of in into from with for some my our this that its need needs want has have "
        "holds no more enough another any still one two three four five"
    )
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

# What another gives may be the price of what "I" give.
_TRADES = re.compile(
    r"\b(?:giv\w+|hand\w*|pay\w*|get\w*|trad\w+|send\w*|owe\w*|offer\w*|return\w*"
    r"|keep\w*(?! \w+ing\b)|shar\w+"
    r"|split\w*|exchange|deal|bet\w*|fold\w*|rais\w+|call\w*)\b|\d(?<!_\d)",
    re.I,
)

# "North, then it is south" names two ways.
_WAY = re.compile(r"\b(?:north|south|east|west|left|right|up|down)\b", re.I)
# "You help me, I help you" is a condition.
_IN_RETURN = re.compile(r"\b(?:help\w*|let|first|then|too|same|also|if|me)\b", re.I)
# What "you" do that is no part of a division of labour.
_NOT_TOLD = (
    r"(?:say|said|tell|told|ask|asked|think|thought|want|wanted|mean|meant|know|win|lose|lost|won"
    r"|did|had|were|would|could|should|might|never|don't|do not|won't|can't|cannot)\b"
)

# What stands behind a comma and is no remark: a price, another order, the same order again, a list.
_NO_TAIL = re.compile(
    r"\A\W*(?:(?:for|in (?:exchange|return)|against|plus|and(?! (?:the|this|that|it|my)(?: \w+)?"
    r" (?:is|will be|gets|becomes) (?:done|finished|over|complete\w*|free|ready|mine|won|safe)\b)"
    r"|or|minus|so|with|reason|funny|go|leave"
    r"|enter|take|put|get|open|close|move|turn|step|walk|run|drop|use|grab|pick|place|return|come"
    r"|head|fly|stop|stay|wait|hold|eat|drink|make|build|give|fetch|bring|cook|serve|push|pull|press"
    r"|call|fold|raise|bet|check|accept|reject|offer|claim|say|tell|ask|as|seen|in about"
    r"|the (?:rest|others?))\b|(\w+)(?:\W+\1)*\W*\Z)"
    r"|\bfunny\b|\band\b.*\bare\b",
    re.I,
)
# "... wins the game for player_1".
_THEIR_GAIN = re.compile(
    rf"\b(?:wins?|game|match|pot|four|three)\b.* for (?:{_OTHER}|him|them)\b"
    rf"|\bgives (?:{_OTHER}|him|them)\b",
    re.I,
)
_CHEERING = re.compile(r"\A\W*(?:yeah|yes|right|sure|oh|great|of course)\b", re.I)
_THEN = r"(?::|\s*(?:->|=>|\u2192)|\s--?|\s*[\u2013\u2014])\s+"
CUTS = (
    # "I line up with the food: up", "time to get an onion -> north".
    _Cut(
        re.compile(
            r"\W*(?:(?:i|we|i'll|let me|let's|let us) (?="
            r"(?:move|go|line up|head|step|walk|come|close|approach"
            r"|follow|flee|run|retreat|continue|make (?:room|way)|check|search|look for|fetch"
            r"|explore|try|start|begin|clear|help|find|locate|serve|bring|want|need|bluff|trap|slow-?play"
            r"|give up|get|grab|aim|leave|let|take|keep|meet|play|stay|set"
            r"|chase|catch|hunt|attack|collect|cut|surround|block"
            r"|use (?:the|this|my) (?:time|turn|step|moment))\b)"
            r"|(?=let (?!me\b|us\b"
            rf"|(?:him|her|them|{NAME}) (?:do|have|make|try|choose|decide|say)\b[^:]*:)\w)"
            r"|(?:my |the )?next (?=(?:stop|target|goal|errand|job)\b"
            r"|the (?!other|opponent|player|partner|turn|step|round|time|move|hand|game)\w)"
            r"|(?:(?:i|we|i'll|let me) )?"
            r"(?=(?:take|do|hit|drop|play|lift|use|grab) (?:it|this|that)\b"
            r"(?! (?:word|phrase|line|text|command|message|answer|action|option|key)\b))"
            r"|(?=(?:chase|catch|hunt|intercept"
            r") (?!(?:me|us|it\W*:)\b)\w)"
            r"|(?=(?:closing|approaching|heading|following|lining up|fac(?:e|ing)"
            r"|(?:head|heading|go|going|get|getting|fly|flying) back"
            r"|(?:head|go|move|walk|step) (?:over )?(?:to|towards?|for) (?:the|my))\b)"
            r"|(?:now,? |still )?(?:back (?:to|for)|off to|time to|on (?:my|our) way|ready to)\b"
            r"|now,? (?:i|we) can\b|(?:i|we) can now\b)"
            rf"(?P<reason>[^:;.!\n]{{1,90}}?){_THEN}(?P<main>[^:]+)",
            re.I,
        ),
        unless=(NOT_DOING,),
        later=re.compile(
            r"\W*(?:(?:(?:i|we|i'll|let me|let's|let us) )?"
            r"(?:move|go|going|line up|lining up|head|heading|step"
            r"|walk|come|close|closing|approach|approaching|follow|following|continue|facing|get"
            r"|fetch|find|locate|look for|use (?:the|this|my) (?:time|turn|step|moment))\b"
            r"|let (?!me\b|us\b)\w|(?:now,? |still )?"
            r"(?:back (?:to|for)|off to|time to|on (?:my|our) way"
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
            unless=(OTHERS, IN_TIME, WHERE),
            states=True,
            clause=Clause("", strict=True, outcome=True),
        )
        for pattern in (
            r"(?P<reason>[^:;.!?\n]{1,90}):\s+(?P<main>[a-z][^:]{1,60})",
            r"(?P<reason>[^,:;.!?\n]{1,90})(?:,|\s*(?:->|=>)|\s--?)\s+"
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
        unless=(IN_TIME,),
        states=True,
        clause=Clause(""),
    ),
    # "After weighing the options, I go north".
    _Cut(
        re.compile(
            r"\W*(?P<reason>(?:(?:after|having) (?:careful |some |much )?(?:weigh|consider|think"
            r"|thought|look|compar|review|read|analy[sz]|evaluat|reason|reflect|deliberat)"
            r"(?:ing|ed|ion)?|considering|given(?! up\b)|based on|looking at|judging (?:by|from)"
            r"|in light of|in (?:this|the current) (?:situation|position|state))\b"
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
                rf"\W*{INTEND}\s+(?!(?:could|would|might|may|can|\w+ed|began|lost|won|had|did|went)\b)"
                r"(?P<reason>[^,;:.!?\n]+?)",
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
        unless=(NO_HELP, _THEIR_GAIN),
    ),
    # "North seems to be the shortest way to the food".
    _Cut(
        re.compile(
            r"\W*(?P<main>[a-z][^,;:.!?\n]{0,40}?) (?P<reason>(?:is|(?:seems|looks|feels|sounds)"
            rf"(?: to be| like)?) (?:clearly |probably |obviously )?{A_GOOD}\b[^?]*)",
            re.I,
        ),
        unless=(NO_HELP,),
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
        unless=(TAKEN_BACK,),
        clause=Clause("", strict=True, outcome=True),
    ),
    # "North. This brings me to the door."
    *(
        _Cut(
            re.compile(
                rf"(?P<main>{main})\s*(?P<reason>(?:this|that|it)(?:'ll)?\b[^?]*)",
                re.I,
            ),
            unless=(AGAINST,),
            clause=Clause("", later=True),
        )
        for main in (r"(?:[^.!?;\n]|\.(?=\d))+[.!;](?=\s)", r"[^?\n]+\n")
    ),
    # "While it cooks I fetch a plate".
    _Cut(
        re.compile(
            rf"\W*(?:while(?!\W+{INTEND})|meanwhile|in the meantime)\b"
            r"(?P<reason>[^.;:!?\n]*?),?\s*(?<![a-z])"
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
        unless=(IN_TIME,),
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
        unless=(NOT_DOING,),
        clause=Clause("", later=True),
    ),
    # "To make mince I need beef: get beef"; "to block the zombie I place a stone".
    _Cut(
        re.compile(
            r"\W*(?P<reason>(?:in order )?to \w[^,;:.!?\n]{1,60}? (?:i|we) (?:need|want|lack)"
            rf" [^,;:.!?\n]{{1,40}}){_THEN}(?P<main>[^:]+)",
            re.I,
        ),
        unless=(AGAINST,),
        clause=Clause("", later=True),
    ),
    _Cut(
        re.compile(
            rf"\W*(?P<reason>(?:in order )?to \w[^,;:.!?\n]{{1,60}}?) (?P<main>{INTEND}.+)",
            re.I | re.S,
        ),
        unless=(AGAINST,),
        clause=Clause("", later=True),
    ),
    # "My partner can get the lettuce, I get beef"; "I fetch beef; chef_1 can handle the bread".
    *(
        _Cut(
            re.compile(pattern, re.I),
            unless=(ORDERED,),
            clause=Clause("", later=True),
        )
        for pattern in (
            rf"\W*(?P<reason>{_OTHER}\s+(?:can|will|is going to)\s[^,;:.!?\n]{{1,60}})[,;.:!]\s+"
            rf"(?:so |and )?(?P<main>{INTEND}[^;:!?\n]+)",
            rf"(?P<main>{INTEND}[^;:!?\n]+?)(?:[,;.!]| and| while)\s+"
            rf"(?P<reason>{_OTHER}\s+(?:can|will|is going to)\s[^;:!?\n]{{1,60}})",
            rf"(?P<main>{INTEND}[^;:!?\n]+?),? while\s+"
            rf"(?P<reason>{_OTHER}\s+(?!is\b|was\b|has\b)\w+s\s[^;:!?\n]{{1,60}})",
        )
    ),
    # "player_1 has plate 2, so the last one is fork 2: I go to counter top 1".
    _Cut(
        re.compile(rf"\W*(?P<reason>[^:!?\n]{{1,200}}):\s+(?P<main>{INTEND}[^:]*)", re.I),
        unless=(SPEAKS,),
        states=True,
        clause=Clause("", strict=True, outcome=True),
    ),
    # "It flies along the wall, I cut it off".
    _Cut(
        re.compile(
            rf"\W*(?P<reason>(?:it|he|she|this|that|there|nobody|{NAME}"
            r"|(?:the|my|our|its|their|an?|this|that|no|one|every|each)"
            r"\s+\w+(?: \w+)?)\s+(?:now |still |just |already |only )?(?:\w+s|\w+n't|\w+ed)\b"
            rf"[^,;:.!?\n]{{0,80}}),\s+(?:so )?(?P<main>{INTEND}.+)",
            re.I,
        ),
        unless=(IN_TIME, ORDERED),
    ),
    # "I step east, back beside the box", "Key in hand, I walk east".
    _Cut(
        re.compile(
            r"(?P<main>(?:[^,;:.!?\n]|\.(?=\d)){1,90}),\s+(?P<reason>[^:;?\n]{1,120})", re.I
        ),
        unless=(NO_NOTE, NO_HELP, SPEAKS, _NO_TAIL),
        clause=Clause("", strict=True, outcome=True),
    ),
    _Cut(
        re.compile(
            rf"\W*(?P<reason>[^:;!?\n]{{1,120}}),\s+(?:and )?(?P<main>{INTEND}.+)", re.I | re.S
        ),
        unless=(OTHERS, IN_TIME, ORDERED, _CHEERING),
        clause=Clause("", strict=True, outcome=True),
    ),
    # "I hold the plate, you go first"; what is given for it would be a part of an offer.
    _Cut(
        re.compile(
            rf"(?P<main>{INTEND}[^;:!?\n]+?)[,;.!]\s+(?P<reason>(?:so |and |now |while )*"
            rf"(?:please\b|you (?!{_NOT_TOLD})|{NAME}, (?!(?:no|not|nah|nope|sorry)\b))"
            r"[^;:!?\n]{1,80})",
            re.I,
        ),
        unless=(_TRADES,),
        clause=Clause("", later=True),
    ),
    # "You take the phone, partner. I walk to the sink", "you search the bedroom, I'll do the hall".
    _Cut(
        re.compile(
            rf"\W*(?P<reason>(?:{NAME}, )?you (?!{_NOT_TOLD}|(?:are|can|may|have)\b)"
            rf"\w+(?: [^,;:.!?\n]{{1,60}}|(?=\W+(?:i'll|i will|i'm|let me)\b)))"
            rf"(?:[;.!]|,(?: so)?| while)\s+(?P<main>{INTEND}[^;:!?\n]+)",
            re.I,
        ),
        unless=(_TRADES, _IN_RETURN),
        clause=Clause("", later=True),
    ),
    # "hider_1, bring that box over here while I wait".
    _Cut(
        re.compile(
            rf"\W*(?P<reason>{NAME},\s+[^,;:.!?\n]{{1,80}}?)"
            r"(?:,? while|[,;.] meanwhile,?) (?P<main>i [^;:!?\n]+)",
            re.I,
        ),
        unless=(_TRADES,),
        clause=Clause("", later=True),
    ),
    # "Check and see what he does", "I stay and let player_1 finish".
    _Cut(
        re.compile(
            r"(?P<main>(?:[^,;:.!?\n]|,(?=\s*\d))+?),? and (?:then |just )?"
            r"(?:(?:see|watch|find out|look|learn)"
            r" (?:what|if|whether|how|where|who|which)\b[^;:!?\n]*|(?:see|watch|listen|observe)\W*"
            r"|(?:be|get|stand|stay) ready\b(?![^;:!?\n]*\bor\b)[^;:!?\n]*"
            rf"|let (?:him|her|them|{_OTHER})\s+(?P<reason>[^;:!?\n]+))",
            re.I,
        ),
        unless=(_TRADES,),
        clause=Clause("", later=True),
    ),
    # "Turn to the pot, then I can drop the onion", "... then drop it next step".
    *(
        _Cut(
            re.compile(rf"(?P<main>[^,;:.!?\n]+?)[,;.]? (?:and )?then,? {reason}[.!]*", re.I),
            unless=(_TRADES,),
            clause=Clause("", later=True),
        )
        for reason in (
            r"(?:i|we)(?:'ll| will)? (?P<reason>(?:can|be able to|be ready to) [^;:.!?\n]{1,80})",
            r"(?:(?:i|we)(?:'ll| will)? )?(?P<reason>[^;:.!?\n]{1,80}?)"
            r" (?:(?:in|on|during) )?(?:the )?next (?:step|turn|round|move|tick|one)",
        )
    ),
    # "Before sleeping I set up a table", "never mind the onions, I step to the right".
    *(
        _Cut(
            re.compile(rf"\W*{first}(?P<reason>{told}),? (?P<main>{INTEND}.+)", re.I | re.S),
            unless=(_TRADES,),
            clause=Clause("", later=True),
        )
        for first, told in (
            ("before ", r"[a-z]+ing\b[^,;:.!?\n]{0,40}?"),
            (
                r"(?:never ?mind|forget(?: about)?|ignore|who needs|to hell with) ",
                r"(?:the|my|that|this|those|these|it)\b[^,;:.!?\n]{0,40}(?=,)",
            ),
        )
    ),
    # "Now that I hold an onion I turn to the pot".
    _Cut(
        re.compile(
            r"\W*(?:now that|since|because|as) (?P<reason>(?:i|i'm|i've|we|it|it's|the|my)\b"
            rf"[^,;:.!?\n]{{3,60}}?) (?P<main>{INTEND}.+)",
            re.I | re.S,
        ),
        unless=(OTHERS, IN_TIME),
    ),
    # "Third onion in, then it cooks", "up, then I'm beside the onions".
    _Cut(
        re.compile(
            r"(?P<main>[^,;:.!?\n]+?)[,;.]? (?:and )?then,? (?P<reason>(?:it|(?:the|my|our) \w+)"
            r" (?:is|will|can|\w+s)\b[^;:!?\n]{0,60}|(?:i'm|i am|we're|we are|i'll be|i will be)"
            r" (?:at|in|next|beside|near|there|closer|ready|by|on|free|close|able|right|one|done"
            r"|in front|within)\b[^;:!?\n]{0,60})[.!]*",
            re.I,
        ),
        unless=(_TRADES, _WAY),
        clause=Clause("", later=True),
    ),
    # "Put it back on the counter, chef_1 may take it".
    _Cut(
        re.compile(
            r"(?P<main>(?!(?:wait|hold|stop|hey|look|help|listen|no)\b)[^,;:.!?\n]{2,60})[,;.!] "
            rf"(?:so |and )?(?P<reason>{NAME} (?:can|may|will) (?!not\b|never\b)"
            r"[^,;:!?\n]{1,60})",
            re.I,
        ),
        unless=(ORDERED, _TRADES),
        clause=Clause("", later=True),
    ),
    # "I'll let chef_1 start and just hang back".
    _Cut(
        re.compile(
            rf"\W*(?:(?:i'll|i will|i|let's|i'm going to) )?"
            rf"(?P<reason>let (?:him|her|them|{_OTHER})"
            r" [^,;:.!?\n]{1,50}?),? and (?:just|simply) (?P<main>(?:wait|stay|hang|hold"
            r"|stand|remain|rest|pause|idle|do nothing)\b[^,;:.!?\n]*[.!]*)",
            re.I,
        ),
        clause=Clause("", later=True),
    ),
    # "I bet 1 and keep a straight face": nothing of it is another action.
    _Cut(
        re.compile(
            rf"\W*(?P<main>{INTEND}[^,;:.!?\n]+?)(?<!\bgo)(?<!\bcome)(?<!\btry)(?<!\brun)"
            r" and (?:just )?"
            r"(?P<reason>(?!(?:every\w+|no\w*|some\w*|any\w*|others?|things|people|he|she|they|it|we"
            r"|you|who|what|how|then|not|i|if|or|later|next|the|an?|my|his|her|its|this|that|these|those|to|in"
            r"|on|at|from|with|for|some|any|all|both|one|two|three|four"
            r"|five)\b)[a-z]+ [^;:!?\n]{2,80})",
            re.I,
        ),
        unless=(NO_NOTE, IN_TIME, _TRADES),
        clause=Clause("", strict=True),
    ),
    # "I stay where I am until the field sorts itself out", "wait until chef_1 is done"; another
    # action may be meant to last, and without "I" it may be what is waited for.
    *(
        _Cut(
            re.compile(
                rf"\W*(?P<main>{who}(?:stay|wait|hold|remain|rest|do nothing"
                rf"|stand|guard|linger)"
                r"(?:ing)?\b[^,;:.!?\n]*?),? (?:while|until|till) "
                rf"(?P<reason>(?:{whom}) [^;:!?\n]{{2,80}})",
                re.I,
            ),
            unless=(_TRADES,),
            clause=Clause("", strict=True),
        )
        for who, whom in (
            (
                rf"{INTEND} (?:\w+ ){{0,2}}?",
                rf"{_OTHER}|the (?:others?|rest|field|dust|coast|way|path|\w+ two)|the other \w+"
                r"|(?:the|my|our) \w+(?: \w+)? (?:is|are|has|have)"
                r"|he|she|they|everyone|everybody|things?|it|that",
            ),
            ("", rf"{NAME}|(?:my|the) (?:partner|team-?mate|mate|other (?:chef|player|one))"),
        )
    ),
    # "Into the hall I walk, without picking a chair yet".
    _Cut(
        re.compile(
            r"(?P<main>[^,;:.!?\n]+), without (?P<reason>[a-z]+ing [^,;:.!?\n]{2,60})[.!]*", re.I
        ),
        clause=Clause("", strict=True, outcome=True),
    ),
    # "Slot 3 becomes my target".
    _Cut(
        re.compile(
            r"(?P<reason>)(?P<main>(?:[^,;:.!?\n]|, (?=column\b)){2,40}?) (?:is|becomes"
            r"|will be|shall be)"
            r" (?:now )?my (?:next )?(?:target|stop|cell|destination|goal|choice|pick|move"
            r"|answer|action|skill"
            r"|square|play)(?: now| next| here| this (?:turn|step|time))?[.!]*",
            re.I,
        ),
    ),
    # "My card decides: I bet"; "the old man: I bet" tells who says it.
    _Cut(
        re.compile(
            r"\W*(?P<reason>(?:my|it|this|that|there|i|we|with|no|only|nothing|one|two|three)\b"
            rf"(?: [^\s:;.!?]+){{2,12}}):\s+(?P<main>{INTEND}[^:]*)",
            re.I,
        ),
        unless=(OTHERS, IN_TIME, JUDGES, NOT_POINTED),
    ),
)
