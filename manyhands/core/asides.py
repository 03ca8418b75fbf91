"""Sentences that say more than an action: why, what is not done, and to whom it is said.

`main_clauses` takes such a sentence apart, by its shape alone: the clause that may name the action,
and what stands beside it. A reader takes the clause for the whole only if the rest is harmless: a
reason that tells of no condition, doubt, question or speech of others and of no second action, or
an alternative that is ruled out, which must be an action as well.

    "The pot is empty, so I'll go west"      main "I'll go west", reason "The pot is empty"
    "I go west because onions are there"     main "I go west", reason "onions are there"
    "bet 1 (strong hand)"                    main "bet 1", reason "strong hand"
    "I go west, not north"                   main "I go west", ruled out "north"
    "hold, no wait, advance"                 main "advance", ruled out "hold"
    "Okay chef_1, I'm going west"            main "I'm going west"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MOST = 600  # characters of a sentence that is taken apart; a longer one must mark its action
_MOST_PIECES = 12  # sentences and clauses of a reason
_list = str.split


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


_I = r"(?:i|i'll|i'm|i've|i'd|we|we'll|we're|my|let me|let's|let us)"
_INTEND = (
    r"(?:i'll|i'm|i'd|i've|i|we'll|we will|let me|let's|let us"
    r"|my (?:next |final )?(?:move|action|answer|choice))\b"
)
_NAME = r"(?!(?:row|column)\b)[a-z]+[_ ]\d{1,2}"
_CALLED = (
    rf"(?:{_NAME}|(?:my |dear )*(?:partner|friend|mate|buddy|pal|team|teammate|everyone|everybody"
    r"|folks|guys|all))"
)
_GREETING = r"(?:ok|okay|alright|all right|sure|yes|hi|hey|hello|thanks|thank you|sorry|no problem)"

# Whom it is said to, before and behind what "I" do.
_TO_BEFORE = re.compile(rf"\W*(?:{_GREETING},? )?{_CALLED}\s*[,!]\s*(?={_I}\b)", re.I)
_TO_BEHIND = re.compile(rf",\s*{_CALLED}\W*$", re.I)
_OWN = re.compile(rf"\W*{_I}\b", re.I)

# Words of conclusion before the action, and a label or a call around it.
_LABEL = re.compile(
    r"\W*(?:(?:so|therefore|thus|hence|consequently|accordingly|ultimately|overall)\b\s*,?\s*"
    r"|(?:in conclusion|in the end|after all|all in all|as a result|on balance|that said)\s*,\s*"
    r"|i(?:'ve| have) (?:decided|chosen)\s*:\s*"
    r"|that leaves (?:me )?(?:with )?(?:only )?one (?:thing|option|choice|move)\s*:\s*"
    r"|that(?:'s| is) what i(?:'ll| will| shall)? do\s*:\s*"
    r"|(?:(?:first|next|this) step|step (?:one|1)|first(?: off)?|next(?: up)?|now)\s*:\s*"
    r"|(?:(?:my|the|final)\s+)?(?:selected|final|output|best|pick|selection|verdict)\s*:\s*"
    r"|(?:(?:my|the) plan|(?:my |the )?(?:best|chosen|final) (?:option|pick|plan|skill|play))"
    r"\s*:\s*"
    r"|(?:->|=>|\u2192|\u27a1\ufe0f?)\s*"
    r"|(?:(?:my|the|final|best|next)\s+){0,2}(?:action|answer|move|choice|decision)"
    r"\s*(?:[-=]+>?\s|[\u2013\u2014\u2192])\s*)(?=[^\W\d])",
    re.I,
)
# "I think that going north is best"; "north is best" alone is an opinion.
_THINKS = re.compile(
    r"\W*(?:(?:so|therefore|thus|hence),?\s+)?(?:i|we) (?:think|believe|feel|find)(?: that)?\s+"
    r"(?P<main>[^,;:.!?\n]+?) is (?:the )?best(?: (?:move|choice|option|action))?(?: here| now)?"
    r"\W*",
    re.I,
)
_CALL = re.compile(
    r"(?:act|choose|select|play|do|take|submit|perform|execute|make)"
    r"(?:_(?:action|move|choice|step|turn))?\(\s*(?:(?:action|move)\s*=\s*)?"
    r"(?P<main>[^()]+(?:\([^()]*\))?[^()]*)\)",
    re.I,
)

# Behind the action, its reason; "since" and "as" are of time in other places.
_WHY = re.compile(
    r"\s*[,;(\u2013\u2014-]*\s*\b(?:because|since|so that|in order to|in order that"
    r"|so (?:i|we) (?:can|could|may|have|keep)|as (?:it|this|the|there|i|we|my|our)\b"
    rf"|as (?={_NAME}\b)"
    r"|so (?:the |my |our )*[\w]+(?: \w+)? (?:can|can't|cannot|could|couldn't|won't|doesn't|don't"
    r"|stays?|remains?|keeps?|opens|closes|gets)"
    r"|(?<=, )now (?=(?:it|the|there|that)\b)"
    r"|(?<=, )(?:there(?:'s| is) )?nothing (?:else|better|more|useful) (?=(?:for me )?to do\b)"
    r"|(?:reason(?:ing)?|explanation|rationale|justification)(?=\W{0,3}:)"
    r"|(?<=, )where|(?<=, )which (?:has|holds|contains)"
    r"|before (?=(?:the|my|our|its?|he|she|they|somebody|anyone|another|[a-z]+_\d)\b)"
    r"|while (?:it|this|the|my|our)\b|towards?|in the direction of)\b",
    re.I,
)
# A purpose: "west, to get an onion".
_AIM = re.compile(
    r"\s*[,;(\u2013\u2014-]*\s*\bto (?:get|reach|face|grab|pick|fetch|block|avoid|keep|help|prevent"
    r"|see|use|prepare|ensure|start|collect|approach|clear|free|deliver|serve|cook|gather|line"
    r"|cool|heat|clean|wash|rinse|put|place|take|open|slice|cut|chop|drop|bring|attack|kill|eat"
    r"|trap|bluff|induce|tempt|drink|make|build|craft|mine|carry|return|hand|join|follow|catch"
    r"|give|gain|position|set up"
    r"|protect|flee|escape|evade|hide|defend|tag|dodge|chase|check|look|search|find|pass|save"
    r"|maximi[sz]e|secure|stay|win|let|bump|hit|spike|receive|dig|touch|fly|move|load"
    r"|unload|push|press|repair|meet|lead|leave|score|stop|guard)\b",
    re.I,
)
# "I refuse to pass" names no purpose.
_NO_AIM = re.compile(
    r"\b(?:refuse|decline|hesitate|hate|fail|forget|want|like|love|wish|hope|need|plan|mean|tend|try"
    r"|afraid|\w*able|\w*willing|reluctant|tempt\w+|about|going|early|late|wrong|hard)\W*$",
    re.I,
)
# What the action does at once: "turn right, to face south".
_FACE = re.compile(r"\bto face\W*$", re.I)
_OUTCOME = re.compile(r"\b(?:so that|because|since)\b", re.I)
_SO_THAT = re.compile(r"\bso (?:that|i|we)\b", re.I)
# "As it might hold one": what is not sure in a cause leaves the action as it is.
_GIVEN = re.compile(r"\b(?:because|since|as)\b", re.I)
_UNSURE = re.compile(r"\b(?:maybe|perhaps|possibly|probably|might)\b", re.I)
# A purpose without an object: "west, to flee".
_BARE_AIM = re.compile(r"\b(?:flee|escape|hide|defend)\b", re.I)
# Before it.
_SINCE = re.compile(
    r"\W*(?:because|since|as|given that|now that|given|in order to|to)\b[^.;:!\n]*", re.I
)
_SO = re.compile(
    r"(?:[,.;!\n\u2013\u2014]|\s-)\s*(?:and |and, )?(?:so|thus|therefore|hence|that's why"
    r"|which is why|for that reason|as a result|consequently)\b\s*[,:]?\s*(?=\w)"
    rf"|\s+so\s+(?={_I}\b)",
    re.I,
)
# What is intended for later: "I'll let player_0 do the work, so I stay".
_AIMED = re.compile(
    r"\A\W*(?:i'll|i will|i'm going to|i am going to|let me)\s+|\s+(?:later|afterwards|first)\Z",
    re.I,
)
# What is needed is done later: "I need to cool the mug, so I go to the fridge".
_NEED = re.compile(r"\W*(?:i|we) (?:need|have|must|want)\b", re.I)
_ENDED = re.compile(r"(?:[.;!\n\u2013\u2014]|\s-)\s*(?:now,?\s+|but\s+)?(?=" + _INTEND + ")", re.I)
# A no of its own before what "I" do; where it is an answer, it is an action that differs.
_NO = re.compile(rf"\W*(?P<no>no|nope|nah)\s*[,.;!\u2013\u2014]+\s*(?={_I}\b)", re.I)
# A note in brackets behind the action: "bet 1 (strong hand)".
_NOTE = re.compile(r"(?P<main>[^()]+?)\s*\((?P<note>[^()]{1,80})\)\W*", re.S)
_BAD = re.compile(
    r"\b(?:no|not|never|none|without|avoid|cannot|\w+n't|bad|worse|worst|wrong|mistake|poor|silly"
    r"|stupid|terrible|risky|rejected|ruled|you|your|he|his|she|her|they|their|partner|opponent"
    r"|player|chef|was|were|did|done|had|would|could|should|may|can|when|once|while|after|before"
    r"|rather|better|sorry|oops|hmm|correction|mean|make|change|thought|thoughts|just|only|where"
    r"|what|who|which|how|option|plan|fallback|else|but|except|unlikely|illegal|impossible"
    rf"|blocked|taken|last|previous|earlier|past|{_NAME})\b",
    re.I,
)

# "west \u2014 the pot is there".
_DASH = re.compile(r"\s+(?:[\u2013\u2014]|--)\s+(?=\w)")

# Two sentences, of which one is the action and the other tells why.
_STOP = re.compile(r"[.!](?=\s)\s*(?=\w)|\s*[;\n]\s*(?=\w)")
_OTHERS = re.compile(
    r"\b(?:you|your|he|his|she|her|they|their|partner|opponent|mate|team\w*|everyone|everybody|all"
    rf"|chef|player|bot|robot|agent|human|drone|worst|wrong|mistake|illegal|terrible|forbidden"
    r"|following|loses|avoid|never|past|previous\w*|last|earlier|was|were|did|example|option\w*"
    rf"|choices?|could|should|would|{_NAME})\b",
    re.I,
)

_YOU = re.compile(r"\byou(?:r|'re)?\b", re.I)

# ---- sentences in two parts, what is told and what is done ---------------------------------------


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
_STATES = re.compile(
    r"\b(?:(?:it|that|there|he|she)'s|i'm|we're|i am|we are|is|are|isn't|aren't|needs?|has|have"
    r"|nothing (?:\w+ )?to \w+|holds?|contains?|requires?|becomes?|lies|stands?|will be|gets"
    r"|still \w+ing)\b",
    re.I,
)
_LIKELY = re.compile(r"\b(?:may|might|must|could|should) be\b", re.I)
_BEFORE_THINGS = frozenset(
    _list(
        "the a an of in into from with for some my our this that its need needs want has have "
        "holds no more enough another any still"
    )
)
# What a reason may not say: a judgement, another time, that it is not done.
_JUDGES = re.compile(
    r"\b(?:best|right|good|correct|optimal|better|fine|okay|safer?|profitable|cheap|free|off|gone"
    r"|over|unclear|trap|test|example|mistake|thing|idea|move|action|choice|answer|turn)\b"
    r"|\b(?:is|are|isn't|aren't|lies|stands?|has|have|blocked|closed|locked|shut)\W*$"
    r"|\bgonna \w+\W*$"
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

_THEN = r"(?::|\s*(?:->|=>|\u2192)|\s--?|\s*[\u2013\u2014])\s+"
_CUTS = (
    # "I line up with the food: up", "time to get an onion -> north".
    _Cut(
        re.compile(
            r"\W*(?:(?:i|we|i'll|let me|let's|let us) (?="
            r"(?:move|go|line up|head|step|walk|come|close|approach"
            r"|follow|flee|run|retreat|continue|make (?:room|way)|check|search|look for|fetch"
            r"|explore|try|start|begin|clear|help|serve|bring|want|need|bluff|trap|slow-?play"
            r"|give up|get|grab)\b)"
            r"|(?:(?:i|we|i'll|let me) )?"
            r"(?=(?:take|do|hit|drop|play|lift|use|grab) (?:it|this|that)\b)"
            r"|(?=(?:closing|approaching|heading|following|lining up|fac(?:e|ing)"
            r"|(?:head|heading|go|going) back"
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
            r"|fetch)\b|(?:now,? |still )?(?:back (?:to|for)|off to|time to|on (?:my|our) way"
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
            unless=(_OTHERS, _IN_TIME),
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
            rf"\W*(?P<reason>(?:{_NAME}|(?:(?:my|the|our) )?(?:other )?(?:partner|opponent|rival"
            r"|team-?mate|chef|player|drone|robot))\s+(?:is|stands|waits|has|holds|carries)\s+"
            r"(?:now |still |already |far |just )*(?:on (?!\w+ way)|at|in|near|beside|behind|by"
            r"|next to|away|below|above|between|holding|waiting|frozen|asleep|busy|\d|an?|the"
            r"|no|nothing)\b"
            r"[^.:;!?\n]{0,60})(?:[.;:!]|\s*(?:->|=>|\u2192))\s+"
            r"(?P<main>[a-z][^:;!?\n]{1,60})",
            re.I,
        ),
        clause=Clause("", strict=True, outcome=True),
    ),
    # "The salad needs lettuce but I fetch bread".
    _Cut(
        re.compile(rf"(?P<reason>.+?),?\s+but\s+(?P<main>{_INTEND}.+)", re.I | re.S),
        unless=(_IN_TIME,),
        states=True,
        clause=Clause(""),
    ),
    # "After weighing the options, I go north".
    _Cut(
        re.compile(
            r"\W*(?P<reason>(?:after|having) (?:careful |some |much )?(?:weigh|consider|think"
            r"|thought|look|compar|review|read|analy[sz]|evaluat|reason|reflect|deliberat)"
            r"(?:ing|ed|ion)?\b"
            rf"[^,.;:!?\n]{{0,60}}),\s+(?P<main>{_INTEND}.+)",
            re.I | re.S,
        ),
        clause=Clause(""),
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
            rf"(?P<main>{_INTEND}.*)",
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
    # "My card decides: I bet"; "the old man: I bet" tells who says it.
    _Cut(
        re.compile(
            r"\W*(?P<reason>(?:my|it|this|that|there|i|we|with|no|only|nothing|one|two|three)\b"
            rf"(?: [^\s:;.!?]+){{2,12}}):\s+(?P<main>{_INTEND}[^:]*)",
            re.I,
        ),
        unless=(_OTHERS, _IN_TIME, _JUDGES, _NOT_POINTED),
    ),
)

# An alternative that is ruled out.
_NOT = re.compile(
    r"\s*(?:[,;(\u2013\u2014-]\s*(?:and )?|\band )(?:definitely )?not\b\s*"
    r"|\s*[,;(\u2013\u2014-]*\s*\b(?:rather than|instead of|as opposed to)\b\s*",
    re.I,
)
_NOT_BEFORE = re.compile(
    r"\W*(?:not|don't|do not|instead of|rather than)\s+(?P<out>[^,;:.!\n\u2014]+?)\s*"
    r"(?:(?:[,;:.!\u2014]\s|\n)\s*(?:but\s+)?|\s+but\s+|\s+(?=(?:i|i'll|i'm|we|let me)\b))"
    r"(?P<main>.+)",
    re.I | re.S,
)
_WONT = re.compile(
    r"\W*(?:no,?\s+)?(?:i|we)(?: (?:won't|will not|do not|don't|shall not|refuse to)"
    r"|(?:'m| am|'re| are) not(?: going to)?)"
    r"\s+(?P<out>[^,;:.!\n]+?)\s*(?:(?:[,;:.!\n\u2013\u2014]|\s-|\bbut\b)\s*(?:but\s+"
    rf"|instead,?\s+|rather,?\s+)*(?={_INTEND})|[.:;!\n]\s*)(?P<main>.+)",
    re.I | re.S,
)
# What is said first is taken back: "hold, no wait, advance".
_CORRECTED = re.compile(
    r"(?P<out>[^,;:.!?\n\u2013\u2014]+?)\s*[,;.!\n\u2026\u2013\u2014-]+\s*"
    r"(?:no wait|wait,? no|scratch that|on second thoughts?|correction)\b"
    r"\s*[,;:.!\u2026\u2014-]*\s*(?P<main>\w[^,;:!?\n]*)",
    re.I,
)
# A question that is answered at once: "Fold? No. I call."
_ASKED = re.compile(
    r"\W*(?P<out>[^,;.:!?\n]+)\?\s*(?:no|nope|nah|not yet|not now)\s*[,.;!\n\u2013\u2014]+\s*"
    r"(?P<main>[^?]+)",
    re.I,
)
_RATHER = re.compile(
    r"\W*(?:i'd|i would|i will|i'll|i) rather (?P<main>[^.;!\n]+?),? than (?P<out>[^.;!\n]+)",
    re.I,
)

# What makes a reason more than one: conditions, doubts, questions, others' words, jokes, contrasts.
_HARMFUL = re.compile(
    r"[?\"\u201c\u201d\u00ab\u00bb:]|\b(?:if|unless|whether|until|till|suppose|supposing|imagine"
    r"|pretend|assum\w+|provided|providing|hypothetical\w*|theor\w+|jok\w+|kidding|lie|lying|lies"
    r"|ironic\w*|sarcas\w+|opposite|contrary|untrue|false|say|says|said|saying|tell|tells|told"
    r"|ask|asks|asked|wrote|writes|quot\w+|hear|heard|claims|wish|hope|dream|otherwise|or"
    r"|either|maybe|perhaps|possibly|probably|might|however|although|though|nevertheless"
    r"|still(?=\W*(?:[,;.!]|$|(?:i|we|my|our)\b))"
    r"|instead|wait|actually|undecided|unsure|not sure|uncertain|no idea|refus\w+"
    r"|forget|ignore|cancel|never ?mind|scratch"
    r"|well as|soon as|long as|far as|much as|e\.\s?g)\b",
    re.I,
)
# An intention of its own.
_PLAN = re.compile(
    r"\b(?:i'll|i will|i shall|let me|let's|let us|i'm going|i am going|i'm about|i am about"
    r"|i choose|i plan|i intend|we'll|we will|we shall|first|then|next(?! (?:to|step|turn|round)\b)"
    r"|later"
    r"|afterwards?)\b",
    re.I,
)
_MOCKING = re.compile(
    r"\W*(?:oh|yeah|right(?!,? (?:to|because|since|not|rather|instead|again|so)\b)"
    r"|great|sure|totally|of course|obviously|as though)\b(?!.*\bi(?:'ll)?\b)"
    r"|\W*oh\b",
    re.I,
)
# "b2 and a1 are taken" is one clause.
_PIECE = re.compile(r"[.,](?!\d)|[;!\n\u2013\u2014]| - | but | and (?!\S+(?: \S+)? are\b)")


def main_clauses(text: str) -> Iterator[Clause]:
    """The ways to take a sentence apart; none if it asks something, or quotes."""
    if len(text) > MOST or "\uff1f" in text:
        return
    text = text.replace("\u2019", "'")
    if "?" in text:
        asked = _ASKED.fullmatch(text)
        if asked:
            yield Clause(asked["main"], ruled_out=asked["out"])
        return
    call = _CALL.fullmatch(text.strip(" ;`"))
    if call:
        yield Clause(call["main"].strip(" \"'"))
        return
    if any(sign in text for sign in '"\u201c\u201d'):
        return
    label = _TO_BEFORE.match(text) or _LABEL.match(text)
    if label and label.end():
        yield Clause(text[label.end() :])
    thinks = _THINKS.fullmatch(text)
    if thinks:
        yield Clause(thinks["main"])
    behind = _TO_BEHIND.search(text)
    if behind and _OWN.match(text):
        yield Clause(text[: behind.start()])
    if _MOCKING.match(text):
        return
    no = _NO.match(text)
    if no:
        yield Clause(text[no.end() :], no["no"])
    note = _NOTE.fullmatch(text)
    if note and not _BAD.search(note["note"]):
        yield Clause(note["main"], note["note"], strict=True, outcome=True)
    yield from _reasons(text)
    yield from _alternatives(text)


def _reasons(text: str) -> Iterator[Clause]:
    for sign in (_WHY, _AIM):
        marks = sign.finditer(text, 1)
        if sign is _AIM:
            marks = (mark for mark in marks if not _NO_AIM.search(text[: mark.start()][-24:]))
        mark = next(marks, None)
        if mark:
            # "to win" is a whole purpose, "because" is not a whole reason.
            reason = text[mark.end() :].strip(" ().!;:*\n")
            # "Four to win" may be the name of the game.
            bare = _BARE_AIM.search(mark[0]) is not None
            if not reason and (
                sign is _WHY or (not bare and text[: mark.start()].strip().isalpha())
            ):
                continue
            if _GIVEN.search(mark[0]):
                reason = _sure(reason)
            faces = bool(reason) and _FACE.search(mark[0]) is not None
            yield Clause(
                text[: mark.start()],
                f"face {reason}" if faces else reason,
                later=sign is _AIM or _SO_THAT.search(mark[0]) is not None,
                outcome=faces or _OUTCOME.search(mark[0]) is not None,
            )
    since = _SINCE.match(text)
    if since:
        first = _comma_before_own(text) or text.rfind(",", 0, since.end())
        if first > 0:
            later = re.match(r"\W*(?:in order )?to\b", text, re.I) is not None
            yield Clause(text[first + 1 :], text[:first], later=later)
    for sign in (_SO, _ENDED):
        mark = next(reversed(list(sign.finditer(text))), None)
        if mark and mark.start():
            main, reason = text[mark.end() :], text[: mark.start()]
            # "You are late, so go left" is an order to another.
            if _OWN.match(main) or not _YOU.search(reason):
                known = _sure(_AIMED.sub("", reason)) if sign is _SO else reason
                later = _NEED.match(reason) is not None
                yield Clause(main, known, later=later, outcome=sign is _SO)
    for cut in _CUTS:
        found = cut.whole.fullmatch(text)
        if not found:
            continue
        reason = _LIKELY.sub("is", found["reason"]) if cut.states else found["reason"]
        if any(sign.search(reason) for sign in cut.unless) or (cut.states and not states(reason)):
            continue
        later = cut.later is not None and cut.later.match(text) is not None
        yield cut.clause._replace(main=found["main"], reason=reason, later=later)
    dash = _DASH.search(text, 1)
    if dash and not _BAD.search(text[dash.end() :]):
        yield Clause(text[: dash.start()], text[dash.end() :], strict=True, outcome=True)
    stops = list(_STOP.finditer(text))
    if stops:
        before, after = text[: stops[-1].start()], text[stops[-1].end() :]
        if not _OTHERS.search(before):
            yield Clause(after, before, strict=True, outcome=True)
        before, after = text[: stops[0].start()], text[stops[0].end() :]
        if not _BAD.search(after):
            yield Clause(before, after, strict=True, outcome=True)


def _sure(cause: str) -> str:
    """A cause without what makes it a guess; nothing but a guess stays one."""
    return _UNSURE.sub("", cause).strip(" ,.") or cause


def _comma_before_own(text: str) -> int:
    found = re.search(rf",\s*(?={_INTEND})", text, re.I)
    return found.start() if found else 0


def _alternatives(text: str) -> Iterator[Clause]:
    mark = _NOT.search(text, 1)
    out = text[mark.end() :].strip(" ().!;\n") if mark else ""
    if mark and out:
        yield Clause(text[: mark.start()], ruled_out=out)
    for sign in (_NOT_BEFORE, _WONT, _RATHER, _CORRECTED):
        found = sign.fullmatch(text)
        if found:
            yield Clause(found["main"], ruled_out=found["out"])


def is_reason(text: str) -> bool:
    """Whether what is told beside an action tells of nothing that could turn it round."""
    return not _HARMFUL.search(text) and not _PLAN.search(text)


def states(text: str) -> frozenset[str]:
    """The words before a thing in a statement of how things are, "the pot is full"; none where a
    text is no such statement, or judges what to do."""
    stated = _STATES.search(text) is not None and not _JUDGES.search(text)
    return _BEFORE_THINGS if stated else frozenset()


def pieces(text: str) -> list[str] | None:
    """The sentences and clauses of a reason, none of which may be an action; None if there are too
    many."""
    found = [piece.strip() for piece in _PIECE.split(text)]
    found = [piece for piece in [text.strip(), *found] if piece]
    return list(dict.fromkeys(found)) if len(found) <= _MOST_PIECES else None
