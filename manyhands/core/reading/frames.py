"""What is said around an action in any game: leads before what "I" do, and tails behind it.

The clauses of `cuts.py` know what may be told beside an action; here it is the other way
round: an own clause ("I go west", "to go west") is looked for between signs of punctuation and
words that join, and what stands around it may be anything but what is known to turn it round: a
condition, another time, a doubt, what others say, an alternative, a denial of it.

    "Call me old-fashioned, but I bet"               "I bet, a small step but a useful one"
    "It falls to me to fetch the dish, so I will"    "I bet with no regrets whatsoever"
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from manyhands.core.reading.signs import I_BET, MOCKING, NAME

# ---- what turns an action round ------------------------------------------------------------------

# Conditions, and what only may be.
_IF = (
    r"(?<!even )if|unless|pending|in the (?:unlikely |rare )?event|subject to|barring|contingent"
    r"|conditional"
    r"|on (?:the |one )?condition|failing|short of|lest|permitting|granted|with (?:your|his|her"
    r"|their)"
    r" (?:permission|consent|help)|whether|provided|providing|suppos\w+|imagin\w+|pretend\w*"
    r"|assum\w+|depend\w*"
    r"|(?<!just )in case|(?:as|so) long as|as soon as|by the time|(?<!at )the (?:moment|minute"
    r"|second|day)(?! (?:has come|is right|is now|is here|calls))"
    r"|had (?:i|we|he|she|they|it|things)|were (?:i|we|he|she|they|it)|hypothetical\w*|whoever"
    r"|until|till|once(?! (?:again|more)\b)|when\w*|only (?:when|then|after|before)"
)
# Other times and other worlds.
_TIMES = (
    r"tomorrow|yesterday|(?:next|last|previous|following|earlier|other|another|one|some"
    r"|in the first"
    r"|in the second) (?:turn|round|time|day|game|step|hand|match|episode)s?|earlier"
    r"|previous(?:ly)?"
    r"|eventually|some ?day|soon|later|afterwards?|ago|turns? from now|in (?:a|\d+|two|three|four"
    r"|five|some|an?other) (?:turn|round|step|moment|while|minute|second|hour|day)s?"
    r"|in (?:theory|principle|general|practice|an ideal|a perfect|a better|another|my dreams?)"
    r"|theoretically|ideally|normally|usually|typically|generally|often|sometimes|rarely|at the"
    r" (?:start|beginning|end)|back then|at first|initially|originally|almost|nearly"
)
# Doubts, other choices, what is said.
_DOUBTS = (
    r"maybe|perhaps|possibl[ey]|might|would|should|wonder\w*|doubt\w*|unsure|not sure|undecided"
    r"|torn|tempt\w+|otherwise|alternative\w*|for (?:example|instance)|one option|worst case"
    r"|plan b|at (?:best|worst|most)|wish\w*|dream\w*|regret\w*|hesitat\w+|used to|afraid"
)
_SPEECH = (
    r"says?|said|tell|tells|told|thinks|thought|wants?|wanted|asks?(?! for\b)|asked|suggest\w*"
    r"|advis\w+"
    r"|claim\w*|expects?|expected|believes?|wrote|according|rumou?r\w*|order\w*"
    r"|you (?:want|need|should|must|can|could|may|will|go|take|do|get|have to)\b|let (?!me\b|us\b)"
)
_JOKES = (
    r"kidding|jok\w+|sarcas\w+|yeah,? right|oh sure|as if|as though|scratch that|on second"
    r" thoughts?|never ?mind|forget (?:it|that|what)|hang on|wait,? (?:no|what|a)|hmm+|oops|sorry"
)
_THAT_NOT = (
    r"not that|not (?:until|because|as|yet)|never|no way|by no means|(?:under|in|at) no|no longer"
    r"|far from|neither|nor|hardly|scarcely"
)


def _any(*groups: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'])(?:{'|'.join(groups)})(?!\w)", re.I)


_AGAINST_LEAD = _any(
    _IF, _TIMES, _DOUBTS, _SPEECH, _JOKES, _THAT_NOT,
    r"then|could|no|or|either|you|(?:move|action|answer|choice|plan|idea) (?:is|was|would)|will"
    r"|before|after(?! (?:a|an|some|all|much|careful|quick|long|due|brief|weighing|thinking"
    r"|considering|looking|careful\w*)\b)|funny",
)  # fmt: skip
_AGAINST_SENTENCE = _any(
    _IF, _JOKES, _SPEECH, _DOUBTS.replace("|would|should", "").replace("|wish\\w*|", "|"),
    r"or|either|than|rather|funny|instead|except", r"(?<![\w ])\W*(?:then|next|later|but|last)",
)  # fmt: skip
# Before "but" or "so", a statement may doubt and tell what it will.
_AGAINST_STATEMENT = _any(
    _IF.replace("|until|till", ""), _JOKES, _THAT_NOT, _SPEECH,
    r"would|could|was|were|tempt\w+|or|either|otherwise|alternative\w*|wish\w*|you\w*",
)  # fmt: skip
_AGAINST_TAIL = _any(
    _IF, _TIMES, _DOUBTS.replace("|would|should", ""), _SPEECH, _JOKES,
    r"or|either|then|than|rather|funny|better (?:to|if|not|idea)|instead of|except|but (?:not|only"
    r"|no|i|we)"
    r"|only (?:if|as)|before (?:that|this)|after (?:that|this|you|they|he|she|it|the|my)",
)  # fmt: skip
# A denial of what was said, or of one's will.
_DENIES = re.compile(
    r"\A\W*(?:no|not|nope|nah|never|don't|do not|cannot)\b(?!,? (?:surprises?|regrets?|doubts?"
    r"|questions?|need|rush|hurry|problem|worries|more|less|matter|pressure|fuss|drama|fear"
    r"|big deal"
    r"|hard feelings|one else|because|a (?:big|bad)|too (?:bad|much|hard)|risk|harm|downside"
    r"|other|point (?:in )?(?:waiting|delay\w*)|sense (?:in )?(?:waiting|delay\w*)|time)\b)"
    r"|\b(?:i|we) (?:\w+ )?(?:won't|don't|can't|cannot|didn't|wouldn't|shouldn't|haven't|am not"
    r"|was|were|did|had|will not|do not|refuse)\b|\bi'm not\b(?! (?:sure why|too|one to))"
    r"|\b(?:it|that|this|so|which)(?:'s| is| was| would be| isn't| wasn't)? (?:\w+ )?(?:not|n't"
    r"|wrong"
    r"|bad|a mistake|foolish|stupid|silly|false|untrue|impossible|forbidden|illegal|worse|worst)\b"
    r"|\b(?:isn't|wasn't) (?:it|true|right|wise|so|what)\b|\bnot (?:really|true|yet|now|so"
    r"|at all)\b",
    re.I,
)
# What denies nothing of the action, though it sounds so.
_HARMLESS = re.compile(
    r"\b(?:no|without|not a|any) (?:\w+ )?(?:surprises?|regrets?|doubts?|questions?|rush|hurry"
    r"|problems?|worries|pressure|fuss|drama|fear|risk|harm|downside|hard feelings|hesitation"
    r"|hesitating|complaints?|objections?|delay)\b"
    r"|\bnot (?:very |too |exactly |particularly |the most |really )?(?:glamorous|pretty|elegant"
    r"|fancy"
    r"|original|exciting|flashy|spectacular|ideal|perfect|much|easy|fast|glorious|brilliant|subtle"
    r"|the \w+est(?: of \w+)?)\b|\bno more,? no less\b|\bnothing (?:more|less|fancy|else)\b"
    r"|\b(?:rather than|instead of) (?:just |simply |merely )?(?:stand\w*|sit\w*|wait\w*"
    r"|wast\w+(?: (?:a|my|our|the|any|more|another|time|turns?|moves?))*"
    r"|think\w*|dither\w*|hesitat\w*|linger\w*|idl\w+|do(?:ing)? nothing)\b|\bmore or less\b"
    r"|\bsee later\b|\bsooner or later\b|\bone way or (?:an)?other\b|\blast but not least\b"
    r"|\b(?:all|other) options? (?:open|on the table)\b|\bno time (?:to lose|like the present)\b",
    re.I,
)
# Another own deed.
_DEED = re.compile(
    r"\b(?:i'll|i'd|we'll|we'd|let me|let's|let us|i'm (?:going|about|gonna)|i am (?:going|about)"
    r"|(?:i|we)(?= ))\b(?! (?:admit|think|believe|guess|hope|suppose|am\b|are\b|do (?:so|it|that)"
    r"|trust|know|feel|mean it|promise|must (?:say|admit)|swear|see\b|like|love|have\b|agreed"
    r"|planned"
    r"|discussed|said|hear|reckon|figure|can (?:always|still|handle|live|manage|do|take it)"
    r"|stand by"
    r"|could|owe|need|want|wish|keep (?:it|things)|get (?:it|this)|may (?:say|add)|all\b|both\b"
    r"|understand|appreciate|expect|consider|find|enjoy|wonder|see (?:what|how|if|whether)))"
    r"|\b(?:i'm|i am) (?!hoping|trusting|counting|looking forward|keeping|leaving|thinking|doing"
    r"|feeling|sticking|relying|being|saving|following|taking (?:it|that|this)\b|losing|asking"
    r"|getting)\w+ing\b",
    re.I,
)

# Nothing that follows is an order of one's own; what is broken or scrapped is a plan.
_NO_ORDER = re.compile(
    r"\W*(?:assuming|as if|as though|depending on|by the time|in (?:an?|some) (?:perfect|ideal"
    r"|better)"
    r" world|in theory|if only (?!to\b|for\b)"
    r"|(?:my|the|that|this) (?:\w+ )?(?:habit|reasoning|idea|plan|thought|thinking|intention"
    r"|routine|instinct|reflex|logic)\b.*, (?:so |and )?(?:(?:i'm|i am|i|i'll|let's|let me) )?"
    r"(?:scrap|break|drop|ditch|bin|dump|discard|toss|trash|abandon|throw)(?:p?ing)? "
    r"(?:it|that|this)(?: (?:out|away))?(?: (?:today|now|here|at once))?\W*$"
    rf"|(?:please|kindly) [^,;:.!?\n]{{2,60}}, {NAME}\W*$"
    rf"|(?:wait|stay|hold|halt|stop|hang on)\b[^,;:.!?\n]{{0,30}}, {NAME}\W*$"
    rf"|(?!(?:i|i'll|let|we)\b)[^,;:.!?\n]{{2,60}}, {NAME},? please\W*$"
    rf"|(?:{NAME}|partner|team-?mate|mate|friend), please (?:request|ask for|move|go|step|stay"
    r"|wait|walk|fly|come|turn|face)\b"
    r"|(?:under no (?:circumstances?|conditions?)|on no account|in no (?:way|case)"
    r"|at no (?:time|point)"
    r"|over my dead body)\b"
    # one of several, or what others are said to do
    r"|(?:(?:there are|there're|i see|i have|we have|i've got|of) )?(?:the )?(?:two|three|four|five"
    r"|several|some|many|various|a few|both|a couple of) (?:\w+ )?(?:things|ways|moves|options"
    r"|actions|choices|possibilities|paths|plans|ideas)\b[^:.!?\n]{0,40}:[^.!?\n]*[.!\s]*$"
    r"|(?:here(?:'s| is) )?(?:what|how) (?!i\b|i'|we\b|the plan)(?:the )?\w+ \w+:[^.!?\n]*[.!\s]*$"
    r"|among (?:the|all|my) \w+ [^:.!?\n]{0,40}:[^.!?\n]*[.!\s]*$"
    r"|(?:rumou?r|legend|word) has it\b)",
    re.I,
)
# Where a sentence or an own clause begins.
_BEGINS = re.compile(
    r"[.!?\u2026]\s+|\n|[;:]\s+|\s[\u2013\u2014-]+\s+|,?\s(?:so|but)\s+|\bno wait,\s+", re.I
)
# No action, where "do" and "use" are some: "... and so I do", "I'll use this turn to ..."; and
# where "hurry" and "have" are: "hurry up", "I have beef".
NO_ACTION = re.compile(
    r"(?:and )?(?:so )?(?:i|we) do(?: so)?|do (?:so|here)"
    r"|(?:(?:i|i'll|i will|let me|we|we'll) )?use (?:this|my|the|that) (?:very )?(?:turn|move|step"
    r"|round"
    r"|moment|time|chance|opportunity)|hurry(?: it)? up(?:,? \w+)?"
    r"|i have (?:got )?(?:(?:an?|the|some) )?(?!to\b)\w+"
)

# ---- the own clause ------------------------------------------------------------------------------

_I = (
    r"(?:i'll|i will|i shall|(?:i'm|i am) (?:just |now |simply |also )?"
    r"(?!\w+ing (?:that|if|about)\b)(?:gonna|about|\w+ing)|i(?!'| am\b| was\b)"
    r"|let me|let's|let us|we'll|we will|we(?!'))\b"
)
_OWN = rf"(?P<main>{_I}(?! (?:would|could|might|may|should|can|thought|had|did)\b).+)"
_OTHERS = (
    rf"(?:{NAME}|he|she|they|you|your|his|her|their|them|(?:my|the|our) (?:\w+ )?(?:partner"
    rf"|opponent"
    r"|rival|team-?mate|mate|coach|other|others|chef|player|drone|robot)(?:'s)?|someone|somebody"
    r"|everyone|everybody|people|nobody|no one)"
)

# ---- leads ---------------------------------------------------------------------------------------

_LEAD = re.compile(
    r"(?P<lead>[^?:\n]{2,120}?)(?:,|\s--?|\s*[\u2013\u2014]|\.\.\.|\u2026|[.!;](?=\s))\s+"
    rf"(?:so |and so |and |thus |hence |now )?{_OWN}",
    re.I | re.S,
)
_STATEMENT = re.compile(
    r"(?P<lead>[^?:\n]{3,160}?)(?:[,.;!]|\s--?|\s*[\u2013\u2014])?\s+"
    r"(?P<join>but|so|and|which means(?: that)?|meaning(?: that)?|and so|so that's why|that's why"
    rf"|but still,?|and yet,?|yet|(?:and|so|but) (?:accordingly|therefore|thus|hence|now|of course"
    rf"|naturally|here and now|for now|once again|gladly|simply)) {_OWN}",
    re.I | re.S,
)
# What is said whatever was weighed before.
_ANYWAY = re.compile(
    r"(?P<lead>[^?\n]{0,160}?)\b(?:either way|in any case|in any event|anyway|regardless"
    r"|at any rate"
    r"|all the same|[\w-]+ or not|come what may|whatever happens|one way or another"
    rf"|(?:even|still) so|nevertheless|nonetheless),? (?:so |and |but )?{_OWN}",
    re.I | re.S,
)
# Courtesy that sounds like a condition, a question or an order.
_POLITE = re.compile(
    r"\W*(?:(?:if (?:you|nobody|no one) (?:don't |do not |doesn't )?(?:minds?|please|will excuse me"
    r"|excuse me)|if it's all the same to (?:you|everyone)|if i(?:'m| am) not mistaken"
    r"|if i may say so|if i (?:may|might)|since you (?:ask\w*|insist\w*|want to know)(?: so \w+)?"
    r"|you know what[?!]?|guess what[?!]?|what the heck[?!]?"
    r"|my (?:move|turn|choice|answer|decision|play|action)\?"
    r"|to be (?:honest|frank|fair|clear|precise|sure|safe)|not gonna lie|i won't lie|i must say"
    r"|i have to say|i must admit|no offen[cs]e|needless to say|it goes without saying(?: that)?"
    r"|as the saying goes(?:, [^,:]{3,40})?|better safe than sorry|(?:never say never|now or never)"
    r"|last but not least|if anything|if nothing else|if only for (?:safety|fun|now))"
    r"(?:[,:!.\u2026]|\s--?|\s*[\u2013\u2014])*\s+)(?P<main>(?!(?:not|no|never|don't)\b)\S.+)",
    re.I | re.S,
)
# A question of its own, answered at once.
_ASKS = re.compile(
    r"\W*(?:(?:so|well|okay|now|right|hmm)\W+)?(?:(?:what(?:'s| is) )?(?:my|the|next)"
    r" (?:\w+ ){0,2}?(?:move|plan|choice|answer|decision|action|play|turn|pick|verdict|call|step)"
    r"(?: (?:for|this|in|on) [^?]{0,30}| now| here)?|why not|why wait|what (?:now|next|else"
    r"|(?:do|should|shall|can) i do(?: now| here| next)?|to do(?: now| here| next)?"
    r"|am i waiting for)|what(?:'s| is)(?: hidden| hiding)? (?:in|inside|on|under|behind|up with)"
    r" (?:there|here|it|this|that)(?: one)?"
    r"|ready|my turn(?: (?:again|already|now))*)\?\s*(?:(?:that's )?(?:easy|simple|clear|obvious)"
    r"|well|easily|then)?\W*"
    r"(?P<main>(?!(?:no|not|nothing|never|yes|maybe|perhaps|good|hard|i don't|i'm not)\b)\w.+)",
    re.I | re.S,
)
# "Guess I'll wait", "looks like I fold after all".
_GUESS = re.compile(
    r"\W*(?:(?:well|okay|so|right|then|now)\W+)*(?:(?:i (?:guess|suppose|reckon|figure)|guess)"
    rf" (?=i(?:'ll| will|'m)\b|we)|(?:it )?(?:looks|seems)(?: like| that)? |(?:this|that"
    rf"|here)(?:'s| is) (?:where|why|the (?:moment|point)"
    rf" (?:when|where)) ){_OWN}",
    re.I | re.S,
)
# "I'll keep it simple and go west".
_AND_DO = re.compile(
    rf"\W*{_I}\s+(?:go with the (?:\w+ )?(?:one|choice|option|flow|plan)|keep (?:it|things) \w+"
    rf"|trust"
    r" (?:my|the) \w+|be (?:brave|bold|quick|careful|patient|smart|safe)|do my part|get on with it"
    r"|make (?:myself useful|the most of it)|cut to the chase|take (?:a|the|my|this) (?:chance|time"
    r"|opportunity|turn|moment)|stick (?:to|with) (?:the|my) (?:plan|role)|stay (?:true|loyal|calm"
    r"|focused|patient|put|on course|with it)"
    r"(?: to (?:the|my) \w+)?|make my (?:choice|move|decision)(?: with\w* [\w ]{3,30})?|continue as"
    r" (?:planned|before|agreed)|carry on as (?:planned|before)|keep (?:calm|going|cool|quiet"
    r"|at it)|act"
    r" (?:now|at once|quickly)|lead by example|follow (?:the|my) (?:plan"
    r"|instincts?|gut)|play it (?:safe|cool|simple)|save time) and (?:just "
    r"|simply )?(?P<main>[a-z].+)",
    re.I | re.S,
)
# "I can't see any better option than to wait".
_NOTHING_BUT = re.compile(
    r"\W*(?:(?:so|then|well|there(?:'s| is)|i have|i've|i see|that leaves me|leaves me"
    r"|it leaves me)"
    r"\W+)*(?:no|nothing|(?:i )?(?:can't|cannot|don't) (?:see|find|think of|have)|little"
    r"|not much)\b"
    r"(?: (?:any|much|a|real|really|other|better|else|left|for (?:it|me)|more|sensible|useful|good"
    r"|option|choice|way|alternative|thing|move|idea|to do|i can do|here|now|at this point"
    r"|anything))*"
    r" (?:but|than|except)(?: for me)?(?: to)? (?P<main>(?!for\b|that\b|this\b)[a-z].+)",
    re.I | re.S,
)
# Whatever the circumstances were.
_CIRCUMSTANCE = re.compile(
    r"\W*(?:(?:encouraged|inspired|reassured|motivated|undeterred|guided|pressed|warned) by|despite"
    r"|in spite of|regardless of|no matter (?:what|how|who)|thanks to|in response to"
    r"|because of|due to|in view of|based on|against all|without (?!your|his|her|their|my)"
    r"|(?:just |"
    r"exactly )?as (?:i|we) (?:promised|said|planned|agreed|discussed|announced|mentioned|hoped)"
    r"|before (?:time|any(?:one|body)|some(?:one|body)|it's too late|it is too late|things))\b",
    re.I,
)
# "It falls to me to ...", "my choice this turn is to ...", and what may not stand there.
_CHOOSES = re.compile(
    r"\b(?:best|right|smart\w*|sensible|sensibly|obvious|logical\w*|natural|safe\w*|wis\w+"
    r"|strong\w*"
    r"|efficient|useful|correct|optimal|prudent|reasonable|proper|sound|no-brainer|time|turn|choice"
    r"|choose|chosen|choosing|move|plan|decision|decid\w+|action|answer|thing|job|part|role|duty"
    r"|task|contribution|vote|pick|response|bid|entry"
    r"|priority|opportunity|moment|ready|happy|glad|pleased|delighted|content|opt\w*|elect"
    r"|need|needs|intend\w*|intention|confident|convinced|certain|calls|falls|points|leads|suggests"
    r"|demands|requires|instincts?|gut|bet|goal|aim|order|resolved?|determined|prepared|set|sense"
    r"|way forward|step|bid|settled?|mind|duty|privilege|pleasure|honou?r|going|gonna|about|like"
    r"|be the one)\b",
    re.I,
)
_OF_ME = re.compile(
    r"\W*(?:(?:so|now|then|well|okay|here|and|clearly|obviously|honestly)\W+)*(?:i|i'm|we|we're|my"
    r"|it"
    r"|it's|i'd say|let me|allow me|i'll|i will|i am|that|that's|this|what|all (?:i|that)|there"
    r"|there's|time|for me|everything|best|opting|off"
    r"|going|choosing|deciding|the (?:[\w-]+ ){0,3}(?:thing|move|action|choice|option|play|decision"
    r"|step|answer|plan|priority|task|job|role|call|course|way|bet|situation|moment|position"
    r"|time))\b",
    re.I,
)
_NOT_CHOSEN = re.compile(
    rf"\b(?:{_IF}|{_TIMES}|{_JOKES}|{_THAT_NOT}|no(?!-brainer)|not|nothing|none|\w+n't|too"
    rf"|would(?! (?:be (?:the"
    r" )?(?:best|wise\w*|smart\w*|right|prudent|good|sensible)|like|love)\b)|could|might|may|maybe"
    rf"|perhaps|should|shouldn't|was|were|did|had|been|used|than|or|either|{_OTHERS}|mistake|wrong"
    r"|bad|worse|worst|foolish|fool|stupid|silly|crazy|mad|dumb|risky|dangerous|last|late|early"
    r"|hard"
    r"|difficult|tempt\w+|afraid|reluctant|hesitant"
    r"|(?<!best )(?<!only )(?<!strongest )(?<!safest )option|another|first|thoughts?|idea|sav\w+"
    r"|wait\w*"
    r"|stay\w*|get|getting|keep\w*|remain\w*|hold\w*|avoid\w*|stop\w*|refus\w+|fail\w*|forg\w+"
    r"|promis\w+|wish\w*|hop\w+|want\w* (?:you|him|her|them|someone|my)|remind|expect\w*|allowed"
    r"|able"
    r"|possible|impossible|unable|free|why|how|what(?! (?:i|we|remains|the (?:situation|moment"
    r"|plan))"
    r"\b)|who|whether|without|against|yet|until|nobody|never|ought|except|but|dream\w*|instead"
    r"|rather"
    r"|avoid\w*|desperate|force[sd]?|forcing|make|makes(?! (?:the most |perfect |more "
    r"|good )?sense)|cost\w*|permission|reason|again|any ?more"
    r"|anything|said|saying|told|back|wanting|example|means|tried|trying|try|chance|hope)\b",
    re.I,
)
# "I'm pleased to announce that I ..."
_THAT = re.compile(
    r"(?P<lead>(?:i|i'm|we|my|it|the|this|that|everything|so|let me|here|what|please"
    r"|let the record)\b[^,;:.!?\n]{0,80}?"
    rf"\b(?:that|means|because)) {_OWN}",
    re.I | re.S,
)
_SURE = re.compile(
    r"\b(?:bottom line|fact|note|record|pleasure|honou?r|pride|joy|calls for|best|right|thing"
    r"|announce|say|declare|confident|certain|sure|convinced|clear|obvious|answer|decision|choice"
    r"|means|decided|conclude\w*|conclusion|agree|confirm|settled|final|move|think|believe"
    r"|plain)\b",
    re.I,
)
_NOT_SURE = re.compile(
    rf"\b(?:{_IF}|{_THAT_NOT}|{_JOKES}|no|not|\w+n't|would|could|might|may|was|were|had|false"
    rf"|untrue"
    rf"|wrong|doubt\w*|lie|lying|{_OTHERS}|wish\w*|hop\w+|afraid|fear\w*|worry|worried|idea|option"
    r"|rumou?r|claim\w*|pretend\w*|suppos\w*)\b",
    re.I,
)
# Before a colon and a bare action.
_HERE = re.compile(
    r"(?P<lead>[^:?\n]{2,80}):\s+(?P<main>[a-z][^:?]*)", re.I | re.S
)  # fmt: skip
# Who says what follows, or a part of an order: "the old man: I bet", "anything but pledge: I will".
_SPEAKER = re.compile(
    r"\W*(?:(?:the|an?|our|some|one) (?:[\w-]+ ){0,2}[\w-]+|[\w-]+|.*\b(?:(?:anything|nothing|all"
    r"|everything) but|(?<!act )than|for \w+|pledge|claim"
    r"|plan|says?|split up)\b.*)\W*",
    re.I,
)
_PRESENTS = re.compile(
    r"\b(?:easy|simple|obvious|(?:it's|it is|that's|this is|all|choice is) clear|decided|settled"
    r"|here goes(?: nothing)?|here's|here is|here it is"
    r"|here we go|no-brainer|straightforward|first things first|priority|priorities|verdict"
    r"|what i(?:'m| am|'ll| will)? (?:do|doing|play|choose|go with)\w*"
    r"|(?:my|the) (?:\w+ )?(?:part|pick|response|contribution|duty|job|way forward)"
    r"|(?:next|my) (?:\w+ )?move)\b",
    re.I,
)

# ---- tails ---------------------------------------------------------------------------------------

_MAIN = r"(?P<main>(?:[^,;:.!?\n()\u2013\u2014]|\.(?=\d)|,(?=\s?-?\d)|\([\d\s.,-]+\))+?)"
_TAIL = re.compile(
    rf"{_MAIN}(?:,|\s--?(?=\s)|\s*[\u2013\u2014]|\s*\((?!\s*-?\d)|(?P<stop>[.!;\u2026]+(?=\s))"
    rf"|\.\.\.)"
    r"\s*(?P<tail>[^:?\n]{2,160})",
    re.I | re.S,
)
_IN_COLON = re.compile(
    rf"{_MAIN}:\s+(?P<tail>(?:the|an?|my|it|that|this|simple|easy|because|just|better safe|safe"
    rf"|not)\b"
    r"[^:?\n]{2,120})",
    re.I | re.S,
)
# "... Why? Because it is near."
_WHY = re.compile(
    r"(?P<main>[^?]+?)[.!]\s*(?:why|how come|the reason)\?\s*(?P<tail>[^?\n]{3,160})", re.I | re.S
)
# "I'm inclined to bet, and so I will."
_CONFIRMED = re.compile(
    r"(?P<main>[^?\n]+?)[,;.!\u2013\u2014-]?\s+(?:and |so |and so )?(?:(?:that|this|it)(?:'s| is"
    r"| will be)"
    r" (?:exactly |just |simply |precisely )?(?:what (?:i(?:'m| am|'ll| will| shall)?|we) (?:do\w*"
    r"|choose|go with|will do|shall do|am doing)(?: now)?|my (?:\w+ )?(?:move|choice|decision"
    r"|action"
    r"|answer|pick|plan)|settled|decided|done)|(?:so )?i (?:will|shall|do|do so|do it)|here (?:i"
    r"|we) go"
    r"(?: again)?|off i go|consider it done|i'm (?:taking|doing|following|going with|sticking with"
    r"|choosing) (?:it|that|this)(?: now)?|i(?:'ll| will| shall)? do (?:just |exactly )?(?:that|it"
    r"|so)"
    r"(?: now| with a smile| gladly)?)\W*",
    re.I,
)
_LEANS = re.compile(
    r"\b(?:inclined|leaning|instincts?|gut|intuition|feeling|tempted|happy|ready|need|sense"
    r"|good idea"
    r"|want|like|logic|analysis|nature|duty|part|turn|wise|right|best|logical|sensible|falls"
    r"|time)\b",
    re.I,
)
# What may be a part of the order, or another: "..., for 3 wood", "..., take the dish".
_ORDERS = re.compile(
    r"\A\W*(?:for(?! (?:now|safety|sure|certain|good|the (?:time|moment|good|sake|best|win"
    r"|team))\b)"
    r"|in (?:exchange|return)|against|plus|minus|with(?! (?:no|a|all|my|full|every|great|some|any"
    r"|pleasure|care|caution|confidence|pride|joy|ease|patience|purpose|hope|luck|that|this"
    r"|apologies"
    r"|thanks|respect|regards|best|love)\b)"
    r"|and (?!with that|gladly|happily|willingly|proudly|stay (?:alert|ready|calm)|keep|hand"
    r"|call it|get it|take it from|pass the turn|be done|that's|that is|this is|it's|i'm|i am"
    r"|i do\b|off\b|no\b|hope(?! to\b)|hopefully|let's see|done"
    r"|nothing\b|then it's|proud|happy|we'll see|may\b|leave|trust)|or\b|so (?!that\b|be it|there"
    r"|it\b|we can|i can|far|long|nobody|no one|everyone|my|the|our|say|i think|goes)"
    r"|go\b|enter|take|put\b|get\b|open|close(?! enough)|move\b|turn\b|step\b|walk|run\b|drop|use\b"
    r"|grab|pick|place\b|return|come (?!what|on\b)|head\b|fly|stop\b|stay|wait\b|hold\b|eat|drink"
    r"|make\b|build|give\b|fetch|bring|cook|serve|push|pull|press|call\b|fold|raise|bet\b|check\b"
    r"|accept|reject|offer|claim|say\b|tell|ask\b|seen\b|the (?:rest|others?)\W*\Z|reason"
    r"|please (?!"
    r"don't worry|bear|excuse|forgive)|you\b|your (?:job|task|part)|\W*\d|(?:north|south|east|west"
    r"|up"
    r"|down|left|right)\b(?! (?:away|now|as|on|there|here|where))|not\b(?! (?:because|that|a big"
    r"|too"
    r"|the (?:flash|pretti|most|best)))|to\b(?! (?:be|keep|help|make|give|save|avoid|see|show"
    r"|say the"
    r" least|my)\b))",
    re.I,
)
# Joined without a sign.
_ADVERBS = (
    r"(?:right (?:away|now)|straight away|at once|at (?:this|the) (?:point|moment|stage"
    r"|very moment)"
    r"|(?:in|on|for|during|with) (?:this|my) (?:very )?(?:turn|move|round|step|action|time|one)"
    r"|this (?:very )?(?:turn|round|time|move|step)|here|here and now|now|again|once (?:more"
    r"|again)|instead"
    r"|after all|all the same|as well|too|for (?:now|safety|sure|certain|good measure|starters"
    r"|the (?:time being|moment|present|win|good of (?:the team|us all|everyone|all)|team"
    r"|sake of (?:the team|safety|progress|speed|tempo|peace|argument)|greater good|common good)"
    r"|(?:all|both) of us|a (?:start|change)|everyone's (?:sake|benefit)|(?:safety|clarity"
    r"|good)'s sake"
    r"|our common goal|simplicity|my part|what it's worth)"
    r"|just (?:in case|to be (?:safe|sure)|(?:like|as) (?:last time|before|planned|always"
    r"|we discussed))"
    r"|like (?:last time|before|always|i said|we said|we planned|we discussed)"
    r"|as (?:usual|always|ever|before|planned|agreed|discussed|promised|announced|intended|expected"
    r"|requested|i said|we said|(?:i|we) (?:agreed|planned|discussed|promised|said)(?: before"
    r"| earlier)?"
    r"|my (?:next |first |final )?(?:move|action|answer|choice|contribution|part))"
    r"|while (?:i|we|it) (?:still )?(?:can|may|lasts?)|while (?:there(?:'s| is) (?:still )?(?:time"
    r"|a chance)|the going is good|the others? (?:\w+ ){1,4}?(?:ready|busy|away|along))"
    r"|before (?:it(?:'s| is) too late|time runs out|things get worse|anyone (?:else )?(?:does|can)"
    r"|(?:somebody|someone) else does|the (?:clock|time) runs (?:out|down))"
    r"|(?:with|without) (?:a (?:good |great )?(?:deal|bit|lot|touch|sense|hint) of )?(?:(?:any|no"
    r"|a|an|all|my|full|every|great|some|much|further|more|little|good|due"
    r"|complete|total|utmost|quiet|clear|everyone's|the|your|kind|whole) )*(?:regrets?|smile"
    r"|confidence"
    r"|care|caution|pleasure|pride|joy|ease|patience|purpose|determination|conviction"
    r"|intent(?:ion)?"
    r"|hesitation|delay|fuss|doubts?|worr(?:y|ies)|respect|understanding|blessing|luck|hopes?|heart"
    r"|mind|courage|resolve|enthusiasm|style|ado|discussion|drama|rush|hurry|haste|fear|shame"
    r"|effort"
    r"|deliberation|thought|thinking|consideration|reservations?|apolog(?:y|ies)|complaints?|grin"
    r"|steady hand|calm|gratitude|excitement|vigou?r|energy)(?: (?:whatsoever|at all|in mind|and"
    r" \w+))?"
    r"|(?:gladly|happily|calmly|confidently|carefully|quickly|quietly|accordingly|of course|indeed"
    r"|obviously|clearly|naturally|definitely|certainly|surely|simply|immediately|promptly|today"
    r"|then and there|by default|without question|no matter what|nonetheless|nevertheless"
    r"|regardless"
    r"|either way|in any case|anyway|as is|then|real (?:quick|fast)|in (?:a|this) (?:spot|position"
    r"|situation|place|case|(?<!in a )moment|moment(?= like))"
    r"(?: like this)?|under the circumstances|(?:and )?then (?:it's"
    r"|it is)"
    r" (?:over to|up to|on|the turn of) (?:you|my partner|the others?)|over to you|if (?:i"
    r"|you) (?:may|don't mind|please)|if nothing else"
    r"|if only (?:to|for|because)\b.*|to (?:be (?:safe|sure|on the safe side)|(?:keep|get) things"
    r" (?:moving|going)|make progress|do my part|play it safe)))"
)
_JOINED = re.compile(
    rf"(?=\W*\w+\W+\w+\W+\w){_MAIN}[,]?\s+(?P<tail>{_ADVERBS})(?:\s*[.!,]*\s*)", re.I | re.S
)
_CLAUSES = re.compile(
    rf"{_MAIN},?\s+(?P<tail>(?:which(?:,| (?!pot|one|way|of|side|door|room|column|card|square)\b)"
    r"|in order (?:not )?to|so as (?:not )?to|for the simple reason that|so (?:that\b|nobody"
    r"|no one|nothing|everyone|(?:my|the|our) |we (?:can|don't|all|both|may|keep)"
    r"|i (?:can|don't|won't|may|keep|need not))|seeing (?:that|as|how)|given (?:that|how)"
    r"|considering"
    r"|in the hopes? (?:that|of)|in the (?:belief|knowledge|expectation) that|on the grounds that"
    r"|even (?:though|if)|although|though|whatever|no matter|thereby|thus \w+ing|hoping|trusting"
    r"|knowing|believing|figuring|relying|counting on|confident|certain|sure that|convinced|mindful"
    r"|aware|leaving (?:the rest|everything|room|my options|the others?|some)|keeping (?:my|our"
    r"|an eye"
    r"|things|everyone|it simple|the (?:pressure|peace|pace|balance|initiative|tempo))|making sure"
    r"|making the most|giving (?:us|my|the team|everyone|others)|saving (?:us|time|everyone|my)"
    r"|ready"
    r" (?:for|to (?:adapt|react|respond|help|adjust))|and (?:with that|that's|that is|this is|it's"
    r"|i'm|i am|i do"
    r" (?:so|it)|off i go|here i go|hope\w*(?! to\b)|may|no hard|nothing else|nothing more"
    r"|leave (?:the rest|it at that)|hand (?:it|over|the turn)|pass the turn on"
    r"|keep (?:an eye|watching|my eyes)|stay (?:alert|ready|calm)|call it a (?:turn|day)"
    r"|be done with it"
    r"|get it over with|take it from there|gladly|happily|willingly|proudly|trust"
    r"|we'll see|let's see)|but (?:only )?(?:because|for|with good|that's fine|in a good way)"
    r"|as (?:any|every|it|this|that|there|nobody|no one|nothing|everything|the|my|our|i"
    r"|we)\b)[^:?\n]*)",
    re.I | re.S,
)
# A tail of what others do, and one that takes the good of an action away.
_OF_OTHERS = re.compile(
    rf"\W*(?:(?:and|so|which|as|while) )*(?!nobody|no one|every){_OTHERS}\b"
    r"(?! (?:can|has|have|gets?|may|need(?: not|n't)?|doesn't|does not|won't|will|is free)\b)",
    re.I,
)
_BAD = re.compile(
    r"\b(?:los\w+|kill\w*|dead|hurt\w*|fail\w*|wast\w+|useless|pointless|ridiculous|suicid\w+"
    r"|terrible|awful|disast\w+|mistake|trap|wrong|stupid|silly|foolish)\b",
    re.I,
)
_NEGATED = re.compile(r"\b(?:no|not|never|nothing|nobody|without|\w+n't)\b", re.I)
_OF_SOMEBODY = re.compile(rf"\b{_OTHERS}\b", re.I)
# "For now I wait", and what is told within a choice: "my move, after some thought, is to bet".
_LED = re.compile(
    rf"\W*(?:(?:and|so|but|right|well|okay|yes)\W+)*(?:{_ADVERBS}),? {_OWN}", re.I | re.S
)
_ASIDE = re.compile(
    r"(\W*(?:my|the) [\w -]{3,50}), (?!or\b|not\b)[^,?:]{3,60}, (?=(?:is|will be) )", re.I
)
_OWN_AGAIN = re.compile(rf"[,;:.!]\s+(?:and |so |but )?{_I}", re.I)
_JOKING = _any(_JOKES, _IF)
# A statement, which "and I ..." goes on.
_STATES = re.compile(
    r"\b(?:is|are|am|i'm|it's|that's|has|have|see|know|needs?|there's|got|can)\b", re.I
)
_CALL = re.compile(rf"\W*(?:(?:hey|hi|ok|okay|dear|so)\s+)?{NAME}\W*", re.I)

_MOST = 4  # leads and tails around one clause
_LONGEST = 600  # characters of a sentence


def orders_nothing(text: str) -> bool:
    """Whether nothing of an answer's last sentence, or of one of its last clauses, is an order of
    one's own."""
    if len(text) > _LONGEST:
        return _NO_ORDER.match(text) is not None
    starts = [0]
    for mark in _BEGINS.finditer(text):
        ends = mark[0][0] in ".!?\u2026\n" and mark.end() < len(text)
        starts = [mark.end()] if ends else [*starts, mark.end()]
    return any(_NO_ORDER.match(text, start) for start in starts)


def framed(text: str) -> Iterator[tuple[str, str]]:
    """The own clauses of a sentence with what stands around each, which is no more than talk."""
    if len(text) > _LONGEST:
        return
    text = text.replace("\u2019", "'")
    seen = {text}
    waiting = [(text, "")]
    for _ in range(_MOST):
        found = []
        for words, told in waiting:
            for main, rest in (*_leads(words), *_tails(words)):
                main = main.strip(" ,;")
                if main and main not in seen:
                    seen.add(main)
                    found.append((main, f"{told}; {rest}" if told else rest))
        yield from found
        waiting = found
        if not found:
            return


def _leads(text: str) -> Iterator[tuple[str, str]]:
    for sign in (_POLITE, _ASKS, _GUESS, _AND_DO, _NOTHING_BUT, _LED):
        found = sign.match(text)
        if found:
            yield found["main"] if sign is not _AND_DO else f"I {found['main']}", ""
    if "?" in text or MOCKING.match(text) or I_BET.fullmatch(text.strip()):
        return
    anyway = _ANYWAY.fullmatch(text)
    if anyway and not _JOKING.search(anyway["lead"]):
        yield anyway["main"], anyway["lead"].strip(" ,.;!")
    for sign, against in ((_LEAD, _AGAINST_LEAD), (_STATEMENT, _AGAINST_STATEMENT)):
        found = sign.fullmatch(text)
        if found is None or _is_call(found["lead"]):
            continue
        lead = _HARMLESS.sub("", found["lead"])
        if _DEED.search(lead):  # two steps: "First I'll open the door. I'll go north."
            continue
        if against.search(lead) and not (sign is _LEAD and _is_circumstance(lead)):
            continue
        apart = found.groupdict().get("join", "") != "and" or "," in text[: found.start("main")]
        if apart or _STATES.search(lead):
            yield found["main"], found["lead"]
    that = _THAT.fullmatch(text)
    if that and _SURE.search(that["lead"]) and not _NOT_SURE.search(that["lead"]):
        yield that["main"], that["lead"]
    yield from _chosen(_ASIDE.sub(r"\1 ", text, count=1), _CHOOSES)
    here = _HERE.fullmatch(text)
    if here:
        before, _, lead = here["lead"].rpartition(",")
        own = _is_own(here["main"]) and not _SPEAKER.fullmatch(here["lead"])
        known = (own or _PRESENTS.search(lead)) and not _JOKING.search(before)
        told = _AGAINST_LEAD.search(lead) or _OF_SOMEBODY.search(here["lead"] if own else lead)
        if known and not told:
            yield here["main"], lead


def _chosen(text: str, choosing: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """What is chosen: "it falls to me to fetch the dish", "the thing to do now is wait"."""
    for mark in re.finditer(r"(?<=\w) (?:to|is)(?= (?!do\b)[a-z])", text[:160]):
        told, main = text[: mark.start()], text[mark.end() :].strip()
        cut = list(re.finditer(r"[,;:.!\n]\s*(?:so |and )?", told))
        before, lead = (told[: cut[-1].start()], told[cut[-1].end() :]) if cut else ("", told)
        if re.fullmatch(r"\W*(?:that's|that is|which is|namely|that being)", lead):
            lead = before  # "there's one thing to do, and that's to ..."
        if not (_OF_ME.match(lead) and choosing.search(lead)) or _NOT_CHOSEN.search(lead):
            continue
        if before and _AGAINST_LEAD.search(_HARMLESS.sub("", before)):
            continue
        if mark[0].strip() == "is" and (
            _OWN_AGAIN.search(main) or not re.search(r"\b(?:do|now|thing|move|action)\b", lead)
        ):
            continue
        yield f"I {main}", told


def _tails(text: str) -> Iterator[tuple[str, str]]:
    if MOCKING.match(text):
        return
    why = _WHY.fullmatch(text)
    if why and _is_own(why["main"]) and not _AGAINST_TAIL.search(why["tail"]):
        yield why["main"], why["tail"]
    if "?" in text:
        return
    confirmed = _CONFIRMED.fullmatch(text)
    if confirmed:
        yield confirmed["main"], ""
        yield from _chosen(confirmed["main"], _LEANS)
    joined = _JOINED.fullmatch(text)
    if joined:
        yield joined["main"], ""
    for sign in (_CLAUSES, _TAIL, _IN_COLON):
        found = sign.fullmatch(text)
        if not found or not _is_own(found["main"]):
            continue
        tail = _HARMLESS.sub("", found["tail"].strip(" ).!"))
        against = _AGAINST_TAIL
        if sign is _TAIL and found["stop"]:
            against = _AGAINST_SENTENCE
        if sign is _TAIL and _ORDERS.match(tail):
            continue
        if _OF_OTHERS.match(tail) or (_BAD.search(tail) and not _NEGATED.search(found["tail"])):
            continue
        if re.match(r"\W*(?:no matter|whatever|regardless)\b", tail, re.I):
            against = _JOKING
        if not (against.search(tail) or _DENIES.search(tail) or _DEED.search(tail)):
            yield found["main"], found["tail"].strip(" ).!")


def _is_circumstance(lead: str) -> bool:
    found = _CIRCUMSTANCE.match(lead)
    return found is not None and not _JOKING.search(lead[found.end() :])


def _is_call(lead: str) -> bool:
    """Whether a lead is the name of another alone: whose words follow is not told."""
    return _CALL.fullmatch(lead) is not None


def _is_own(main: str) -> bool:
    """Whether a clause is of what "I" do."""
    return re.match(rf"\W*{_I}", main, re.I) is not None
