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

from manyhands.core.reading.cuts import (
    BEFORE_THINGS,
    CUTS,
    INTEND,
    LIKELY,
    NOTHING_BUT,
    SELF,
    STATES,
    Clause,
)
from manyhands.core.reading.signs import (
    HARMFUL,
    I_BET,
    JUDGES,
    MOCKING,
    NAME,
    NO_NOTE,
    NOT_WEIGHED,
    OTHERS,
    PLACE,
    PLAN,
)
from manyhands.core.reading.steps import step_clauses

MOST = 600  # characters of a sentence that is taken apart; a longer one must mark its action
_MOST_PIECES = 12  # sentences and clauses of a reason
_MOST_AGAIN = 8  # words of an action that is named as what is not done
_BLANKS = re.compile(r"[ \t]{2,}")

_CALLED = (
    rf"(?:{NAME}|(?:my |dear )*(?:partner|friend|mate|buddy|pal|team|teammate|everyone|everybody"
    r"|folks|guys|all))"
)
_GREETING = r"(?:ok|okay|alright|all right|sure|yes|hi|hey|hello|thanks|thank you|sorry|no problem)"

# Whom it is said to, before and behind what "I" do.
_TO_BEFORE = re.compile(
    rf"\W*(?:(?:{_GREETING},? )?{_CALLED}\s*[,!]"
    rf"|(?:heads[ -]up|attention|listen up|fyi|note),? {_CALLED}\s*[,!:])\s*(?={SELF}\b)",
    re.I,
)
_TO_BEHIND = re.compile(rf",\s*{_CALLED}\W*$", re.I)
_OWN = re.compile(rf"\W*{SELF}\b", re.I)

# Who does what: "hunter_1, you take room 9, I take room 5".
_SHARED = re.compile(
    rf"(?P<told>\W*(?:{_GREETING},? )?{_CALLED}\s*[,:!]\s*(?:you|please) (?:take|cover|guard"
    rf"|watch|go|get"
    r"|handle|do|hold|fetch|chase|block|stay|keep|move|fly|bring|cook|wait)\b[^,;:.!?\n]{0,60})"
    r"(?:[,;.!]|\s+and|\s+while)\s+(?:and |while )?(?P<main>(?:i|i'll|i'm)\b(?! (?:would|could"
    r"|might|may)\b).+)",
    re.I | re.S,
)
# As whom: "as the nearest drone I go east".
_ROLE = re.compile(
    r"\W*as (?!\w+ as\b)"
    r"(?![^,]*\b(?:says?|said|tells?|told|wants?|asks?|asked|thinks?|suggest\w*|advise[sd]?"
    r"|knows?|expects?|hopes?)\b)"
    rf"(?:(?:an?|the|your|our) )?(?:{_CALLED}|[a-z-]+(?: [a-z-]+){{0,2}}),? "
    rf"(?={INTEND})",
    re.I,
)
# Words of conclusion before the action, and a label or a call around it.
_LABEL = re.compile(
    r"\W*(?:(?:so|therefore|thus|hence|consequently|accordingly|ultimately|overall)\b\s*[,:]?\s*"
    r"|(?:in conclusion|in the end|after all|all in all|as a result|on balance|that said)\s*,\s*"
    r"|(?:first(?: of all)?|now|okay|ok|alright|well),?\s+(?=(?:i|i'll|i'm|let me|let's|we)\b)"
    r"|i(?:'ve| have) (?:decided|chosen)\s*:\s*"
    r"|i(?:'ll| will)? (?:choose|pick|select|take|play|go with|do)\s*:\s*"
    r"|(?:the|my) (?:best|right|safest|smartest) (?:action|move|choice|option|play)"
    r"(?: (?:for (?:me|us)|here|now|this turn))? is\s*:\s*"
    rf"|{NOTHING_BUT}"
    r"|(?:the )?(?:safest|simplest|easiest|wisest|smartest|surest)(?: (?:here|now|for me))? is to "
    r"|that leaves (?:me )?(?:with )?(?:only )?one (?:thing|option|choice|move)\s*:\s*"
    r"|that(?:'s| is) what i(?:'ll| will| shall)? do\s*:\s*"
    r"|(?:(?:first|next|this) step|step (?:one|1)|first(?: off)?|next(?: up| stop)?|now)\s*:\s*"
    r"|(?:(?:my|the|final)\s+)?(?:selected|final|output|best|pick|selection"
    r"|verdict|priority)"
    r"(?:\s+(?:skill|action|move|option))?\s*:\s*"
    r"|(?:(?:my|the|an?)\s+)?(?:safe|simple|simplest|easy|obvious|sensible|logical|smart|solid)\s+"
    r"(?:option|choice|move|play|call|action|bet|answer|thing)\s*:\s*"
    r"|(?:(?:my|the) plan|(?:my |the )?(?:best|chosen|final) (?:option|pick|plan|skill|play))"
    r"\s*:\s*"
    r"|(?:->|=>|\u2192|\u27a1\ufe0f?)\s*"
    r"|(?:(?:ok|okay|alright|well|so|right|fine),?\s+)?"
    r"(?:(?:my|the|final|best|next)\s+){0,2}(?:action|answer|move|choice|decision)"
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
    r"\s*[,;(\u2013\u2014-]*\s*\b(?:because|since|now that|so that|in order to|in order that"
    r"|so (?:i|we) (?:can|could|may|have|keep|know|see|get|am|are)"
    r"|before (?=\w+ing\b)|so (?:i'm|i am|we're|we are) (?=(?:beside|next|near"
    r"|closer|nearer|in|at|by|on|facing|ready|free|set|out of)\b)"
    r"|(?<!soon )(?<!long )(?<!far )(?<!much )(?<!well )as (?:it|this|the|there|i|we|my|our)\b"
    rf"|(?<!soon )(?<!long )as (?={NAME}\b)"
    r"|so (?:the |my |our )*[\w]+(?: \w+)? (?:can|can't|cannot|could|couldn't|won't|doesn't|don't"
    r"|stays?|remains?|keeps?|opens|closes|gets|becomes?)"
    r"|so (?:the|my|our) \w+(?: \w+)? (?:is|are|has|have|will|get)"
    r"|(?<=, )now (?=(?:it|the|there|that)\b)"
    r"|(?<=, )need(?= (?:an?|the|some|more|that|\w+\W*\Z))"
    r"|(?<=, )(?:there(?:'s| is) )?nothing (?:else|better|more|useful) (?=(?:for me )?to do\b)"
    r"|(?:reason(?:ing)?|explanation|rationale|justification)(?=\W{0,3}:)"
    r"|(?<=, )where|(?<=, )which (?:has|holds|contains)"
    r"|(?<=, )which (?:is|are) (?=(?:also |still |just |now |right |already |only )*(?:open|closed"
    r"|empty|full|free|close|near\w*|next|on|in|at|beside|by|adjacent|one|two|three|\d+|north"
    r"|south|east|west|above|below|ready|running|cooking|waiting|the (?:closest|nearest))\b)"
    r"|(?<=, )which (?=(?:(?:also|then|soon|will|at once) )*(?!(?:is|was|has|does|says|means"
    r"|tells|asks|seems|looks|loses|fails|costs|kills|hurts)\b)(?:[a-z]+s|(?<=will )[a-z]+)\b)"
    r"|and (?:then )?(?:hope|pray|trust)(?: that| for)?"
    r"|before (?=(?:the|my|our|its?|he|she|they|somebody|anyone|another|[a-z]+_\d)\b)"
    r"|while (?:it|this|the|my|our)\b|towards?|in the direction of)\b",
    re.I,
)
# A purpose: "west, to get an onion".
_AIM = re.compile(
    r"\s*[,;(\u2013\u2014-]*\s*\b(?:(?<=, )(?:ready|planning|intending|hoping|prepared|aiming)"
    r" (?:to|for)\b|to (?:get|reach|face|grab"
    r"|pick|fetch|block|avoid|keep|help|prevent"
    r"|see|use|prepare|ensure|start|collect|approach|clear|free|deliver|serve|cook|gather|line"
    r"|cool|heat|clean|wash|rinse|put|place|take|open|slice|cut|chop|drop|bring|attack|kill|eat"
    r"|trap|bluff|induce|tempt|drink|make|build|craft|mine|carry|return|hand|join|follow|catch"
    r"|give|gain|position|set up"
    r"|protect|flee|escape|evade|hide|defend|tag|dodge|chase|check|look|search|find|pass|save"
    r"|maximi[sz]e|secure|stay|win|let|bump|hit|spike|receive|dig|touch|fly|move|load"
    r"|unload|push|press|repair|meet|lead|leave|score|stop|guard|stand|line"
    r"|restore|regain|recover|refill|satisfy|quench|heal|survive|earn|obtain|acquire|increase|reduce"
    r"|improve|test|probe|show|signal|achieve|complete|finish|advance|explore|scout|enter|unlock"
    r"|extract|control|balance|disguise|represent|minimi[sz]e|limit|create|form|threaten|deny|fight"
    r"|spread|corner|surround|cover|be|stay|become|end up|widen|tighten|narrow|close|squeeze|draw"
    r"|lure|bait|force|disrupt|deflect|match|beat|punish|reward|support|assist|rescue|relieve|free"
    r"|bring back|top|plate|fry|boil|bake|mix|add|warm|chill|dry|plant|sleep|rest|wake|fill|empty"
    r"|swap|buy|sell|cheat|sneak|slip|cross|level|steady|aim|point"
    r"|inspect|examine|read|count|hunt|retrieve|recover|tuck|remain|continue|speed|slow"
    r"|apply|maintain|preserve|conserve|establish|encourage|discourage|demonstrate|foster|promote"
    r"|intercept|counter|neutrali[sz]e|exploit|capitali[sz]e|gauge|assess|observe|strengthen"
    r"|provide|facilitate|generate|mitigate|cut off|respond|discover|learn|reposition|regroup)\b"
    # "c3, creating two threats": what comes of it.
    r"|(?<=, )(?:creating|forming|building|threatening|completing|blocking|preparing|setting up"
    r"|keeping|protecting|saving|denying|giving me|making (?=(?:it|room|way|sure|a|an|two|three)"
    r"\b))\b)",
    re.I,
)
# "I refuse to pass" names no purpose.
_NO_AIM = re.compile(
    r"\b(?:refuse|decline|hesitate|hate|fail|forget|want|like|love|wish|hope|need|plan|mean|tend|try"
    r"|afraid|\w*able|\w*willing|reluctant|tempt\w+|about|going|early|late|wrong|hard)\W*$",
    re.I,
)
_BECOMES = re.compile(r"\bto (?:be|stay|become|end up|remain|continue|rest|sleep|wake)\b", re.I)
# "I'd like the apple to be cool" is a wish.
_WISHED = re.compile(
    r"\b(?:like|love|want|wish|need|prefer|expect|allow|ask|force|got|get|have)\b", re.I
)
# What the action does at once: "turn right, to face south".
_FACE = re.compile(r"\bto face\W*$", re.I)
_OUTCOME = re.compile(r"\b(?:so that|because|since)\b", re.I)
# "to see if anything is there" sets no condition.
_LOOKS = re.compile(r"\b(?:see|check|find|look|test|probe|inspect|explore)\W*$", re.I)
_WHETHER = re.compile(r"\A(?:out )?(?:if|whether)\b", re.I)
_SO_THAT = re.compile(r"\b(?:so (?:that|i|we|.* (?:can|could))|before)\b", re.I)
# "As it might hold one": what is not sure in a cause leaves the action as it is.
_GIVEN = re.compile(r"\b(?:because|since|as)\b", re.I)
_UNSURE = re.compile(r"\b(?:maybe|perhaps|possibly|probably|might)\b", re.I)
_OR = re.compile(r"(?<!whether )(\b(?!either\b)[a-z]+),? or (?=[a-z])", re.I)
# A purpose without an object: "west, to flee".
_NOTHING = re.compile(r"\W*(?:nothing|none|no action|nowhere)\W*", re.I)
_BARE_AIM = re.compile(r"\b(?:flee|escape|hide|defend)\b", re.I)
_COMMA = re.compile(r",(?![^()]*\))")  # but not that of "(7, 1)"
# Before it.
_SINCE = re.compile(
    r"\W*(?:because|since|as|given that|now that|given(?! up\b)|in order to|to)\b[^.;:!\n]*", re.I
)
_SO = re.compile(
    r"(?:[,.;!\n\u2013\u2014]|\s-)\s*(?:and |and, )?(?:so|thus|therefore|hence|that's why"
    r"|which is why|for that reason|as a result|consequently)\b\s*[,:]?\s*(?=\w)"
    rf"|\s+so\s+(?={SELF}\b)",
    re.I,
)
# What is intended for later: "I'll let player_0 do the work, so I stay".
_AIMED = re.compile(
    r"\A\W*(?:i'll|i will|i'm going to|i am going to|let me)\s+|\s+(?:later|afterwards|first)\Z",
    re.I,
)
# What is needed is done later: "I need to cool the mug, so I go to the fridge".
_NEED = re.compile(r"\W*(?:i|we)(?: \w+)? (?:need|have|must|want)\b", re.I)
_ENDED = re.compile(r"(?:[.;!\n\u2013\u2014]|\s-)\s*(?:now,?\s+|but\s+)?(?=" + INTEND + ")", re.I)
# "If I don't take c2, O wins, so c2": what follows from not doing what is done.
_IF_NOT = re.compile(
    r"\W*if (?:i|we) (?:don't|do not|fail to) (?P<again>[^,;:.!?\n]{1,60}?)(?:, |\s)(?:then )?"
    r"(?P<else>(?!(?:and|or|but|to|in|at|on)\b)[^;:.!?\n]{2,60}?)"
    r"(?:[,;.\u2014]|\s-+)\s*(?:and )?(?:so|therefore|thus|hence|which is "
    r"why)\b,?:?\s*(?P<main>[^?]+)",
    re.I,
)
# "I must take c2 or O wins": what follows is another's, and bad.
_OR_ELSE = re.compile(
    r"(?P<main>\W*(?:i|we)(?:'d| had)? (?:must|have to|need to|better|gotta"
    r"|should)\b[^,;:.!?\n]+?),?\s+"
    r"(?:or(?: else)?|otherwise),?\s+(?!i (?!lose\b)|we (?!lose\b|all\b|both\b)|to\b|the \w+ "
    r"(?:one|way)\b)"
    r"(?:\w+ ){1,3}?(?:will |would |can |could |may |might )?(?:wins?|loses?|escapes?|gets? away"
    r"|completes?|connects?|slips? away|scores?|burns?|leaves?)\b[^,;:.!?\n]{0,40}[.!]*",
    re.I,
)
# A no of its own before what "I" do; where it is an answer, it is an action that differs.
_NO = re.compile(rf"\W*(?P<no>no|nope|nah)\s*[,.;!\u2013\u2014]+\s*(?={SELF}\b)", re.I)
# A note in brackets behind the action: "bet 1 (strong hand)".
_NOTE = re.compile(r"(?P<main>[^()]+?)\s*\((?P<note>[^()]{1,80})\)\W*", re.S)

# "west \u2014 the pot is there".
_DASH = re.compile(r"\s+(?:[\u2013\u2014]|--?)\s+(?=[^\W\d])")

# Two sentences, of which one is the action and the other tells why.
_STOP = re.compile(r"[.!](?=\s)\s*(?=\w)|\s*[;\n]\s*(?=\w)")
_YOU = re.compile(r"\byou(?:r|'re)?\b", re.I)

# An alternative that is ruled out.
_NOT = re.compile(
    r"\s*(?:[,;(\u2013\u2014-]\s*(?:and )?|\band )(?:definitely )?not\b\s*"
    r"|\s*[,;(\u2013\u2014-]*\s*\b(?:rather than|instead of|as opposed to)\b\s*",
    re.I,
)
_POINTED = re.compile(r"(?:this|that)(?: one)?|here|the other(?: one)?", re.I)
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
    rf"|instead,?\s+|rather,?\s+)*(?={INTEND})|[.:;!\n]\s*)(?P<main>.+)",
    re.I | re.S,
)
# What was thought of first: "I wanted to hold, but we lose time, so I close ranks".
_THOUGHT_OF = re.compile(
    r"\W*(?:at first,? )?i(?: (?:first|initially|originally|almost|nearly|had|was))* "
    r"(?:wanted to|thought (?:of|about)|considered|going to|about to|tempted (?:by|to)|meant to"
    r"|planned to)\s+[^,;:.!?\n]+?(?:[,;]\s*|\s+)but\s+(?P<reason>(?:[^;:.!?\n]|\.(?=\d))+?)"
    r"(?:[;:.]\s+|,\s+so\s+)(?P<main>[^;:!?\n]+)",
    re.I,
)
# "The crate is on the desk, so that's where I'm going."
_WHERE_TO = re.compile(
    r"\W*(?P<told>(?:[^,;:.!?\n]+ (?:is|are|lies?|sits?|stands?)"
    r"(?: (?!not\b|no\b|never\b)\w+){0,2}? (?:on|in|at|inside|near|by) "
    r"(?P<where>[^,;:.!?\n]+)|(?P<what>[^,;:.!?\n]+?) (?:has|holds|contains) [^,;:.!?\n]+)),? "
    r"(?:so|and so|and) (?:that's|that is|there's|this is) where (?:i'm|i am|i'll|i) "
    r"(?:going|headed|heading|head|go|walk|off)(?: to)?(?: now| next)?\W*",
    re.I,
)
# "Four coins is what I'm giving away", "column 6 is where I play".
_IS_WHAT = re.compile(
    r"\W*(?!(?:no|not|nothing|never)\b)(?P<what>[^,;:.!?\n]+?) (?:is|are) (?:what|where) "
    r"(?P<who>i(?:'m|'ll| am| will| shall)?|we(?:'ll| will)?) "
    r"(?P<does>(?!(?:was|did|had|would|could|should|might|may|can|cannot|never"
    r"|hate|fear|lack|miss|said|not|don't|won't)\b)\w+(?: \w+){0,2}?)"
    r"(?: (?:now|next|here|this turn))*\W*",
    re.I,
)
_CHOSEN = re.compile(r"(?:need|want|choose|pick|prefer|like|do|play|go for|make)\Z", re.I)
# "I'll use the pot later, for now south."
_FOR_NOW = re.compile(
    r"\W*[^,;:.!?\n]+ later(?: on)?,? (?:but |so |and )?for now,? (?P<main>[^,;:!?\n]+)", re.I
)
# "I'll press it next turn; first I walk there."
_FIRST_NOW = re.compile(
    r"\W*(?:then )?(?:i'll|i will|i'm going to|i can|i want to|i plan to) [^;.!?\n]{3,80}? (?:next"
    r" (?:turn|step|round|time)|later(?: on)?|afterwards|after that|soon)\s*[;.,]\s*(?:but )?"
    r"(?:first|for now|now|this turn|right now),? (?P<main>(?:i|i'll|i'm|let me)\b[^?]+)",
    re.I,
)
_COULD = re.compile(
    r"\W*(?:i|we) (?:could|can|might) (?:also )?(?P<out>[^,;:.!?\n]+?),? but (?:now |first )?"
    rf"(?P<main>{INTEND}.+)",
    re.I | re.S,
)
# "I'd bet here": no condition follows.
_WOULD_HERE = re.compile(
    r"\W*(?:i'd|i would) (?P<main>(?!(?:not|never)\b)[^,;:.!?\n]+?) (?:here|now|right now)\W*", re.I
)
# What is said first is taken back: "hold, no wait, advance".
_CORRECTED = re.compile(
    r"(?P<out>[^,;:.!?\n\u2013\u2014]+?)\s*[,;.!\n\u2026\u2013\u2014-]+\s*"
    r"(?:no wait|wait,? no|scratch that|on second thoughts?|correction)\b"
    r"\s*[,;:.!\u2026\u2014-]*\s*(?P<main>\w[^,;:!?\n]*)",
    re.I,
)
# A question that is answered at once: "Fold? No. I call.", "Should I fold? Yes, I fold."
_ASKING = (
    r"\W*(?:(?:so|well|now|hm+|ok(?:ay)?)\W+)*(?:(?:should|shall|do|must|will|can) (?:i|we) "
    r"(?:just |really |simply |now )?|better to )"
)
_ASKED = re.compile(
    rf"(?:{_ASKING}|\W*)(?P<out>[^,;.:!?\n]+)\?\s*(?:no|nope|nah|not yet|not now)"
    r"\s*[,.;!\n\u2013\u2014]+\s*(?:(?:instead|so|but|rather)\W+)?(?P<main>[^?]+)",
    re.I,
)
_YES = r"(?:yes|yep|yeah|yup|sure|definitely|of course|i think so)"
_ASKED_AND_DONE = re.compile(
    rf"\W*(?:should|shall|do) i (?P<main>[^,;.:!?\n]+)\?\s*{_YES}[.!]*\s*", re.I
)
_ASKED_AGAIN = re.compile(
    rf"{_ASKING}(?P<out>[^,;.:!?\n]+)\?\s*{_YES}\s*[,.;!\n\u2013\u2014]+\s*"
    r"(?:so\W+)?(?P<main>[^?]+)",
    re.I,
)
# "Fold or call? Call.": one of two.
_ASKED_OF_TWO = re.compile(
    rf"(?:{_ASKING}|\W*(?:(?:so|well|now|hm+|ok(?:ay)?)\W+)*)(?P<one>[^,;.:!?\n]{{1,60}}?),? or "
    r"(?P<two>[^,;.:!?\n]{1,60})\?\s*(?P<main>(?!(?:no|neither|both|either)\b)[^?]+)",
    re.I,
)
_RATHER = re.compile(
    r"\W*(?:i'd|i would|i will|i'll|i) rather (?P<main>[^.;!\n]+?),? than (?P<out>[^.;!\n]+)",
    re.I,
)

# A sentence that chooses, behind whatever was weighed: "Option 1: ... Option 2: ... I pick west."
_CHOSE = re.compile(
    r"(?P<weighed>.+[.;!\n])\s*(?:(?:so|therefore|thus|hence),?\s+)?(?P<main>(?:i|we)(?:'ll| will)?"
    r" (?:now )?(?:pick|choose|select|opt for|go with|settle (?:on|for)|decide (?:on|for))\s"
    r"[^.;!?\n]+[.!]*)\s*",
    re.I | re.S,
)
_OPTION = re.compile(
    r"\b(?:option|choice|possibility|candidate|plan|move)s?(?: \w{1,2})?\s*[:)\u2013\u2014-]"
    r"[^.;!\n]*",
    re.I,
)
# "Check. If they bet, I will fold": what is done once others have moved.
_ONCE = re.compile(
    r"(?P<main>[^.;:!?\n]+)[.;!]\s+if (?:they|he|she|(?:my|the) (?:opponent|partner|rival|other)"
    rf"|{NAME})\b[^.;:!?\n]*?,?\s+(?:then\s+)?i(?:'ll| will| can)\b[^.;:!?\n]*[.!]*",
    re.I,
)
_PLANS = re.compile(r"\b(?:ready|planning|intending|hoping|prepared|aiming)\b", re.I)
_IN_CASE = re.compile(r"\b(?:if|when|once|unless)\b.*", re.I | re.S)
_ITEMS = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*\u2022])\s+", re.M)

# What sounds like more than it is in a reason: where things lie, what a goal asks for, what is next
# door; each with words that say the same and mean nothing else.
_FACTS = tuple(
    (re.compile(pattern, re.I), words)
    for pattern, words in (
        (
            r"\blies?\b(?=\W+(?:in|on|at|by|near|beside|behind|around|beyond"
            r"|under|next|right|ahead|there|straight"
            r"|one|two|three|\d|(?:to the )?(?:north|south|east|west|left))\b|\W*$)",
            "is",
        ),
        (
            r"\b(forecast|sensors?|text|map|history|score|clock|odds|maths?|numbers|theory|logic"
            r"|books?) (?:says?|tells?)\b",
            r"\1 shows",
        ),
        (r"\bwhat (?:i|we) (?:(?:hope|ask|look|pay)\w* for|(?:want|need|expect)\w*)\b", "mine"),
        (r"\A\W*(?:this|that) (?=\w+ \w+s\b)", "the "),
        (r"\b(is|are) (?:asked|called) for\b", r"\1 needed"),
        (r"\b(?:asks?|calls?) for\b", "needs"),
        (r"\b(?:goes|belongs) (?=(?:in|into|on|onto)\b)", "is for "),
        (r"\bnext door\b", "near"),
        (r"\b(see|check|find out|look|know|learn|test) (?:if|whether)\b", r"\1 that"),
        (r"\b(is|are|comes?) next\b(?! to\b)", r"\1 due"),
        (
            r"\b(is|are|'s)(?:(?:,| and|, and)? (?:\d+|a|one|two|three|four|five|six|seven|some"
            r"|several|a few) (?:rows?|columns?|cells?|steps?|squares?|tiles?) (?:to the )?"
            r"(?:left|right|up|down|above|below|higher|lower|north|south|east|west|ahead|away)"
            r"\b)+",
            r"\1 there",
        ),
        (r"\bthe (?:first|next|only) (?=\w+ (?:needed|missing|left)\b)", "the "),
        (r"\bthe first (?=thing to do\b)", "the best "),
        (r"\b(my|the) (?:first|next) (?=(?:priority|goal|step|task)\b)", r"\1 "),
        (
            r"\A\W*(?:(?:my|the) )?(?:reasoning|reasons?|thoughts?|thinking|analysis|rationale"
            r"|explanation|observations?|situation|assessment|context)\s*:\s*",
            "",
        ),
        (
            rf"\A((?:\W*(?:so|and|now|while)\b)*\W*(?:you|{NAME},)(?: just| please)?) wait\b",
            r"\1 stay",
        ),
        (r"\A((?:\W*(?:so|and|now)\b)*\W*you \w+) first\b", r"\1"),
        (r"\A\W*you (?=(?:see|have|hold|stand)\b)", "I "),
        (r"\A\W*you are (?=(?:in|at|on|next|holding|carrying)\b)", "I am "),
    )
)
# "Anything but / north".
_OPEN = re.compile(r"\b(?:but|not|never|or|than|except|unless|if|to|of|says?)\W*\Z", re.I)
# "Do not go north: ..."
_FORBIDS = re.compile(r"\W*(?:do not|don't|never|not|avoid|no longer|refuse to)\b", re.I)
# Behind a purpose: "ready to take it next".
_LATER = re.compile(r",?\s+(?:next|later|afterwards|then|first|soon)\W*\Z", re.I)

_PLACE = re.compile(PLACE)
# "b2 and a1 are taken" is one clause.
_PIECE = re.compile(r"[.,](?!\d)|[;!\n\u2013\u2014]| - | but | and (?![a-z]?\d|\S+(?: \S+)? are\b)")


# "chef_1 is at the dispenser: takes a dish", "the storage, where I threw it away".
_OF_OTHERS = re.compile(
    rf"\W*(?:{NAME}|he|she|they|it|(?:my|the) (?:partner|opponent|other)\w*)\b", re.I
)
_THEIRS = re.compile(
    r"\W*(?!pass|press|cross|toss|yes|always|as\b|is\b|this\b)[a-z]{2,}s\s+\w", re.I
)
_WHERE_WAS = re.compile(
    r"\W*(?:i|we|he|she|they|it) (?:\w+ed|threw|went|was|were|left|put|had|took|got|saw|found)\b",
    re.I,
)
_GOES = re.compile(r"\b(?:go|walk|head|move|back|return|off|run|step|to)\b", re.I)


def main_clauses(text: str) -> Iterator[Clause]:
    """The ways to take a sentence apart; none if it asks something, or quotes."""
    for clause in _clauses(text):
        if _OF_OTHERS.match(clause.reason) and _THEIRS.match(clause.main):
            continue
        reason = _LATER.sub("", clause.reason) if clause.later else clause.reason
        yield clause._replace(reason=_plain(reason)) if reason else clause


def _plain(reason: str) -> str:
    for sign, words in _FACTS:
        reason = sign.sub(words, reason)
    return reason


def _clauses(text: str) -> Iterator[Clause]:
    if len(text) > MOST or "\uff1f" in text:
        return
    text = _BLANKS.sub(" ", text.replace("\u2019", "'"))
    if "?" in text:
        asked = _ASKED.fullmatch(text)
        if asked:
            yield Clause(asked["main"], ruled_out=asked["out"])
        asked = _ASKED_AND_DONE.fullmatch(text)
        if asked:
            yield Clause(asked["main"])
        asked = _ASKED_AGAIN.fullmatch(text)
        if asked:
            yield Clause(asked["main"], asked["out"], later=True, again=True)
        asked = _ASKED_OF_TWO.fullmatch(text)
        if asked:
            yield Clause(asked["main"], asked["one"], asked["two"], later=True, again=True)
            yield Clause(asked["main"], asked["two"], asked["one"], later=True, again=True)
        return
    call = _CALL.fullmatch(text.strip(" ;`"))
    if call:
        yield Clause(call["main"].strip(" \"'"))
        return
    if any(sign in text for sign in '"\u201c\u201d'):
        return
    label = _TO_BEFORE.match(text) or _ROLE.match(text) or _LABEL.match(text)
    if label and label.end():
        yield Clause(text[label.end() :])
    shared = _SHARED.fullmatch(text)
    if shared:
        yield Clause(shared["main"], shared["told"], later=True)
    thinks = _THINKS.fullmatch(text)
    if thinks:
        yield Clause(thinks["main"])
    behind = _TO_BEHIND.search(text)
    if behind and _OWN.match(text):
        yield Clause(text[: behind.start()])
    if MOCKING.match(text) or I_BET.fullmatch(text.strip()):
        return
    would = _WOULD_HERE.fullmatch(text)
    if would:
        yield Clause(would["main"])
    unless_done = _IF_NOT.match(text)
    if unless_done:
        words = text[unless_done.start("again") : unless_done.end("else")].split()
        for k in range(1, min(len(words), _MOST_AGAIN)):
            again = " ".join(words[:k])
            yield Clause(unless_done["main"], again.strip(" ,"), later=True, again=True)
    or_else = _OR_ELSE.fullmatch(text)
    if or_else:
        yield Clause(or_else["main"])
    no = _NO.match(text)
    if no:
        yield Clause(text[no.end() :], no["no"])
    note = _NOTE.fullmatch(text)
    if note and not NO_NOTE.search(note["note"]):
        yield Clause(note["main"], note["note"], strict=True, outcome=True)
    chose = _CHOSE.fullmatch(text)
    if chose and not NOT_WEIGHED.search(chose["weighed"]):
        yield Clause(chose["main"], _OPTION.sub("", chose["weighed"]), outcome=True)
    once = _ONCE.fullmatch(text)
    if once:
        yield Clause(once["main"])
    yield from _reasons(_ITEMS.sub("", text) if "\n" in text else text)
    yield from _alternatives(text)
    yield from step_clauses(text)


def _reasons(text: str) -> Iterator[Clause]:
    for sign in (_WHY, _AIM):
        marks = sign.finditer(text, 1)
        if sign is _AIM:
            marks = (
                mark
                for mark in marks
                if not _NO_AIM.search(text[: mark.start()][-24:])
                and not (_BECOMES.search(mark[0]) and _WISHED.search(text[: mark.start()]))
            )
        mark = next(marks, None)
        if mark:
            # "to win" is a whole purpose, "because" is not a whole reason.
            reason = text[mark.end() :].strip(" ().!;:*\n")
            # "Nothing to take here" is no waiting.
            if sign is _AIM and _NOTHING.fullmatch(text[: mark.start()]):
                continue
            # "Four to win" may be the name of the game.
            bare = _BARE_AIM.search(mark[0]) is not None
            told = mark[0].endswith("where") and _WHERE_WAS.match(reason)
            if told and not _GOES.search(text[: mark.start()]):
                continue
            if not reason and (
                sign is _WHY or (not bare and text[: mark.start()].strip().isalpha())
            ):
                continue
            if _GIVEN.search(mark[0]):
                reason = _sure(reason)
            if _LOOKS.search(mark[0]):
                reason = _WHETHER.sub("that", reason)
            if _PLANS.search(mark[0]):
                reason = _IN_CASE.sub("", reason).strip() or "it"
            faces = bool(reason) and _FACE.search(mark[0]) is not None
            yield Clause(
                text[: mark.start()],
                f"face {reason}" if faces else reason,
                later=sign is _AIM or _SO_THAT.search(mark[0]) is not None,
                outcome=faces or _OUTCOME.search(mark[0]) is not None,
            )
    where = _WHERE_TO.fullmatch(text)
    if where:
        yield Clause(f"go to {where['where'] or where['what']}", where["told"], later=True)
    what = _IS_WHAT.fullmatch(text)
    if what:
        yield Clause(f"{what['who']} {what['does']} {what['what']}")
        yield Clause(f"{what['who']} {what['does']} to {what['what']}")
        if _CHOSEN.match(what["does"]):
            yield Clause(what["what"])
    for_now = _FOR_NOW.fullmatch(text)
    if for_now and not (HARMFUL.search(text) or OTHERS.search(text)):
        yield Clause(for_now["main"])
    turned = _FIRST_NOW.fullmatch(text)
    if turned:
        yield Clause(turned["main"])
    thought = _THOUGHT_OF.fullmatch(text)
    if thought:
        yield Clause(thought["main"], thought["reason"], strict=True, outcome=True)
    since = _SINCE.match(text)
    if since:
        commas = [mark.start() for mark in _COMMA.finditer(text, 0, since.end())]
        first = _comma_before_own(text) or (commas[-1] if commas else 0)
        if first > 0:
            later = re.match(r"\W*(?:in order )?to\b", text, re.I) is not None
            yield Clause(text[first + 1 :], text[:first], later=later)
    for sign in (_SO, _ENDED):
        mark = next(reversed(list(sign.finditer(text))), None)
        if mark and mark.start():
            main, reason = text[mark.end() :], text[: mark.start()]
            # "You are late, so go left" is an order to another.
            if _OWN.match(main) or not _YOU.search(reason):
                known = reason
                if sign is _SO:
                    known = _AIMED.sub("", reason)
                    # Not sure, or one of several: what follows from it is chosen.
                    known = _OR.sub(r"\1, ", _sure(known)) if _OWN.match(main) else _sure(known)
                elif _OWN.match(main):
                    known = _sure(known)
                later = _NEED.match(reason) is not None
                yield Clause(main, known, later=later, outcome=sign is _SO)
    for cut in CUTS:
        found = cut.whole.fullmatch(text)
        if not found:
            continue
        reason = _plain(found["reason"] or "")
        if _FORBIDS.match(reason):
            continue
        reason = LIKELY.sub("is", reason) if cut.states else reason
        if any(sign.search(reason) for sign in cut.unless) or (cut.states and not states(reason)):
            continue
        later = cut.clause.later or (cut.later is not None and cut.later.match(text) is not None)
        yield cut.clause._replace(main=found["main"], reason=reason, later=later)
    dash = _DASH.search(text, 1)
    if dash and not NO_NOTE.search(text[dash.end() :]):
        yield Clause(text[: dash.start()], text[dash.end() :], strict=True, outcome=True)
    stops = list(_STOP.finditer(text))
    if stops:
        before, after = text[: stops[-1].start()], text[stops[-1].end() :]
        if not OTHERS.search(_plain(before)) and not _OPEN.search(before):
            yield Clause(after, before, strict=True, outcome=True)
        before, after = text[: stops[0].start()], text[stops[0].end() :]
        if not NO_NOTE.search(after):
            yield Clause(before, after, strict=True, outcome=True)


def _sure(cause: str) -> str:
    """A cause without what makes it a guess; nothing but a guess stays one."""
    return _UNSURE.sub("", cause).strip(" ,.") or cause


def _comma_before_own(text: str) -> int:
    found = re.search(rf",\s*(?={INTEND})", text, re.I)
    return found.start() if found else 0


def _alternatives(text: str) -> Iterator[Clause]:
    mark = _NOT.search(text, 1)
    out = text[mark.end() :].strip(" ().!;\n") if mark else ""
    if mark and out:
        pointed = mark[0].strip(" ,;").lower() == "instead of" and _POINTED.fullmatch(out)
        yield Clause(text[: mark.start()], ruled_out="" if pointed else out)
    for sign in (_NOT_BEFORE, _WONT, _RATHER, _COULD, _CORRECTED):
        found = sign.fullmatch(text)
        if found:
            yield Clause(found["main"], ruled_out=found["out"])


def is_reason(text: str) -> bool:
    """Whether what is told beside an action tells of nothing that could turn it round."""
    return not HARMFUL.search(text) and not PLAN.search(text)


def states(text: str) -> frozenset[str]:
    """The words before a thing in a statement of how things are, "the pot is full"; none where a
    text is no such statement, or judges what to do."""
    stated = STATES.search(text) is not None and not JUDGES.search(text)
    return BEFORE_THINGS if stated else frozenset()


def pieces(text: str) -> list[str] | None:
    """The sentences and clauses of a reason, none of which may be an action; None if there are too
    many."""
    found = [piece.strip() for piece in _PIECE.split(_PLACE.sub("there", text))]
    found = [piece for piece in [text.strip(), *found] if piece]
    return list(dict.fromkeys(found)) if len(found) <= _MOST_PIECES else None
