"""What stands at the margins of an answer, before or behind its action, and says nothing of it.

    "north - the safest option"       "column 3 is the way to go"
    "Best move: fold"                 "Good opportunity to bet 1"
    "My gut says east"                "wait (confidence: 90%)"
    "Tough call, but fold"            "Bottom line: pass"

It is praised, introduced, called a guess. `without_margins` takes that off: the words are a table
of kinds that have no condition, denial, question or other player in them, and reach to an end of
the answer. What is left is read like any other answer, so that no action comes from here.
"""

from __future__ import annotations

import re

MOST = 300  # characters of an answer that is looked at
_STRONG = (
    r"(?:best|safest|optimal|wisest|smartest|strongest|soundest|simplest|easiest|quickest|fastest"
    r"|cheapest|surest|most [a-z]+(?<!likely))"
)
_GOOD = (
    rf"(?:{_STRONG}|only|right|good|great|decent|solid|sensible|obvious|clear|logical|natural"
    r"|reasonable|sound|safe|correct|better|smart|wise|useful|fine|ideal|perfect|fair)"
)
_NOUN = (
    r"(?:option|choice|move|action|play|call|bet|one|pick|thing(?: to do)?|way(?: to go| forward)?"
    r"|idea|decision|step|line|answer|approach|plan)"
)
_NOW = (
    r"(?: (?:here|now|right now|for now|for me|to me|for us|i have|we have|i've got|available"
    r"|at the moment|in this (?:spot|position|situation|state)|this turn|at this point|left"
    r"|to make|to take|all things considered)){0,2}"
)
_PRAISE = (
    rf"(?:(?:clearly |definitely |by far |still |probably |simply )?"
    rf"(?:(?:the |my |our )?{_STRONG}(?: {_NOUN})?|(?:the |my |our |an? )?{_GOOD} {_NOUN})"
    rf"(?: of (?:all|them all|the (?:lot|bunch|two)))?{_NOW})"
)
_FITS = r"(?:right|good|fine|solid|sensible|reasonable|sound|safe|okay|ok|great|obvious|logical)"
_SEEMS = r"(?:seems?|looks?|feels?|sounds?)(?: like| to be)?"

# ---- behind the action ---------------------------------------------------------------------------

_OF_IT = (
    rf"(?:(?:i (?:think|guess|believe|feel) )?(?:it|this|that)(?:'s| is| will be| would be"
    rf"| should be| must be| {_SEEMS}) (?:{_PRAISE}|{_FITS}{_NOW})"
    rf"|{_SEEMS} (?:{_PRAISE}|{_FITS}{_NOW}))"
)
_GUESS = (
    r"(?:i'd say|i would say|of ?c(?:ourse)?|asap|ftw|rn|atm|real quick|it shall be"
    r"|as soon as possible|ffs|immediately|obviously|clearly|definitely|then|no (?:doubt|question)"
    r"|without question|for sure|for certain"
    r"|final answer|and that's (?:it|that|final))"
)
_SURE = (
    r"(?:(?:my )?(?:confidence|certainty)(?: level| score)?\s*[:=]?\s*(?:very )?(?:high|medium|low"
    r"|full|\d{1,3} ?%|[01]?\.\d+|\d{1,2}/10|\d{1,3})"
    r"|(?:about |around |~ ?)?\d{1,3} ?%(?: (?:sure|certain|confident|confidence))?)"
)
_SIGN = r"(?:\s*[,;:.!|=#\u2013\u2014]+\s*|\s+(?:--?|//|=>?|<-+)\s*|\s*[(\[]\s*|\s*\n\s*)"
_BEHIND = re.compile(
    rf"(?<=[\w)\"'*`])(?:{_SIGN}(?:{_PRAISE}|{_OF_IT}|{_GUESS}|{_SURE}"
    r"|no other (?:option|choice|move|action)s? (?:helps?|works?|makes? sense|is better"
    r"|comes? close)"
    r"|done|sounds good|easy|simple|let's (?:go|see)|i'm done"
    r"|(?:i )?hope (?:it|this|that) works|(?:that|this|it) should (?:do(?: it)?|work|help)"
    r"|over to you|this one"
    r"|nothing (?:else|better) to do)"
    rf"|\s+(?:{_GUESS}|i (?:guess|think|reckon),? (?:it|that)(?:'s| is) {_FITS}"
    r"|works(?: for me)?|all day(?: long)?|100 ?%|everyone|team"
    r"|mates?))[\s.!)\]*\u2026]*\Z",
    re.I,
)
# The action is what is spoken of: "north feels right", "folding is the way to go".
_IS = re.compile(
    rf"(?<=[\w)\"'*`])\s+(?:(?:is(?! best\W*\Z)|would be|will be|must be|has to be|might be)"
    rf" (?:{_PRAISE}|(?:what (?:i'd|i would|i'll|i will|we'd) (?:do|choose|pick|play"
    rf"|go (?:with|for)|take|say)|the (?:way (?:to go|forward)|move|play|call|answer|winner"
    rf"|one to (?:make|take|play))|(?:my|our) (?:next |final )?{_NOUN}){_NOW})"
    rf"|comes? out (?:ahead|on top)|{_SEEMS} (?:{_PRAISE}|{_FITS}{_NOW}))[\s.!*\u2026]*\Z",
    re.I,
)
_SIGNS_BEHIND = re.compile(r"(?:\s+(?:<3+|\^_?\^|\\o/)|[\s\u2705\u2713\u2714\ufe0f\U0001f44d]+)\Z")

# ---- before it -----------------------------------------------------------------------------------

# What is looked at; no cards, goods or players, which may be an action's.
_SEEN = (
    r"(?:(?:my|the|all(?: the| my)?|this|these|both|current|available|possible) ){0,3}(?:options?"
    r"|choices?|moves?|actions?|state|situation|board|map|position|everything|numbers|odds|risks?"
    r"|rewards?|facts|rules|layout|score|it|this|that|all|pros and cons|alternatives|possibilities"
    r"|observation|information|context|circumstances)"
)
_LOOKED = (
    rf"(?:after |having |by |upon )?(?:look(?:ing|ed) at|weigh(?:ing|ed)(?: up)?"
    rf"|consider(?:ing|ed)|review(?:ing|ed)|analy[sz](?:ing|ed)|assess(?:ing|ed)"
    rf"|evaluat(?:ing|ed)|balanc(?:ing|ed)|thinking (?:about|over)|given|based on|judging by)"
    rf" {_SEEN}(?: (?:and|against) {_SEEN})?{_NOW}\s*,"
)
_HEDGE = (
    r"(?:(?:it's |it is |that's |a |i'm |i am )?(?:bit )?(?:an? )?(?:tough|hard|close|difficult"
    r"|tricky|not (?:sure|certain|ideal|easy|perfect)|risky|boring|scary|bold|dull|hard to say"
    r"|unsure)(?: (?:one|call|choice|decision))?(?: here)?|(?:it )?could go either way),? but"
)
_VOICE = (
    r"(?:my |pure |the |all )?(?:board|signs|coin(?: flip| toss)?|gut(?: feeling)?|instincts?"
    r"|intuition|heart|head|experience|analysis"
    r"|reasoning|logic|maths?|strategy)"
    r" (?:says?(?: to)?|tells? me(?: to)?|suggests?|points? (?:to|at|towards?)|goes with|dictates?"
    r"|favou?rs?)"
)
_LABEL = (
    r"(?:final|chosen|selected|clear|obvious|easy|simple|next|next logical|logical|current)"
    r" (?:choice|action|move|option|pick|step)|(?:action|move|choice|option)"
    rf" to (?:take|make|do|play|choose){_NOW}|do|play|playing|doing|picked|picking|execute|run"
    r"|step(?: (?:1|one))?|mine|my turn|turn|optimal|strategy|input|cmd|locked in|ready|set"
    r"|(?:the )?bottom line|end result|net result|action performed|upshot|net|so|hence|ergo"
    r"|(?:one|two|three) words?|no question|no doubt|random pick|randomly|default"
    r"|plan [a1]"
    r"|(?:top |first )?priority|objective|task|to-?do|(?:choice|decision) (?:made|taken)|option"
    r"|option chosen|complying|i comply|go|(?:turn|round|step|move|t) ?[#=]? ?\d{1,3}|[>~=]+"
    r"|this one|currently best|best so far|(?:my )?first (?:step|move|action)|choose"
    r"|(?:for|in the interest of) (?:speed|efficiency|safety|simplicity)|(?:trying|aiming) to be"
    r" [a-z]+|next (?:step|move) (?:to|toward|towards) (?:the|my|our) goal"
    r"|eeny meeny(?: miny)? moe"
)
_MANNER = (
    r"(?:honestly|frankly|personally|tactically|strategically|logically|realistically|seriously"
    r"|strategy[ -]wise|simply put|put simply|trust me|anyways?|anyhow|screw it|sod it|duh|and"
    r"|also|plus|in short|for my part|as for me|oh well|eh|ooh|h+m+|mm+|naturally|surely"
    r"|certainly|absolutely|for sure|without question|alrighty|okie|k+|righto|roger(?: that)?|copy"
    r"|aye|affirmative|understood|noted|acknowledged|got it|gotcha|by default|per the rules"
    r"|following the rules|as a default|definitely|ah+(?: ok(?:ay)?)?|as (?:requested|instructed)"
    r"|as you wish|dear (?:game(?: master)?|gm))"
)
_BEFORE = re.compile(
    r"\A[\s#>*_]*(?:"
    rf"(?:the |my |our )?(?:final )?{_PRAISE}\s*(?:here )?(?:(?:is|would be)(?: here)?(?: to)?\b"
    r"\s*:?|[:=\u2013\u2014]|-+(?=\s))"
    rf"|(?:{_MANNER},? )?(?:it is |it's |probably )?(?:best|safest|wisest|smartest|better){_NOW}"
    r" to\b"
    rf"|(?:good|great|perfect|nice|excellent|ideal) (?:opportunity|chance|time|moment|spot){_NOW}"
    r" to\b"
    r"|(?:in summary|to (?:sum up|summari[sz]e)|summary|all in all|on balance)\s*[:,]"
    r"|(?:based on|judging by|following|from) (?:my|the|this|that|these|our|all)(?: [a-z]+){1,3},"
    rf"|{_LOOKED}|{_HEDGE}|{_VOICE}"
    rf"|(?:{_LABEL})\s*(?:[:=\u2192]|-+>)"
    rf"|(?:action|move|choice|option) to (?:take|make|do|play|choose){_NOW}(?: is\b)?"
    r"|(?:there's|there is|i see|i have) no (?:reason|need|point) (?:to|in) (?:wait(?:ing)?"
    r"|hesitat(?:e|ing)|delay(?:ing)?|hold(?:ing)? back),? so"
    r"|(?:let's |i'll |we'll )?make it(?= [a-z])|(?:i'll stick|sticking) with"
    r"|(?:just|please|pls|kindly|let's) do (?!it\b|this\b|that\b|so\b)"
    r"|(?:must|shall|will|gotta|i gotta)(?= [a-z])"
    # "It must be north" may tell where something is.
    r"|(?:it |this )?(?:has to|must|needs to) be(?= [a-z])(?! (?:north|south|east|west|up|down|left"
    r"|right|forward|in|on|at|near|beside|behind|under|to)\b)"
    r"|(?:my|the) (?:option|reply|response) is(?: to)?(?= [a-z])"
    r"|(?:my |the )?first (?:step|move) is(?: to)?(?= [a-z\d])"
    r"|<\|[a-z_]{2,20}\|>"
    r"|i (?:respond|answer|reply) with(?= [a-z])|(?:priority|goal|job) now is(?: to)?(?= [a-z])"
    r"|[*(\[](?:sighs?|thinks?|thinking|shrugs?|nods?|smiles?|pauses?|hmm+)[*)\]]"
    r"|- \[ ?\]"
    rf"|{_MANNER}\b[,.!\u2026\s]+"
    r"|(?:(?:ok(?:ay)?|well|right|alright|all right|fine|so),? )?then\b,?(?= [a-z])"
    r"|(?:yeah|yep|yup),?(?= (?:north|south|east|west|forward|go)\b)"
    r"|(?:i'll|i will|i'm|i am) (?:do|go with|going with|going for|opting for)(?= [a-z])"
    r"|#+\s|[$/]\s?(?=[a-z])|[\u2192\u2234\u27a1\u2705\u2713\u2714\ufe0f\U0001f449]+"
    r")[\s*_`]*(?=[\w\"'(])",
    re.I,
)

# "The natural idea is to fold, yet it has a problem": what is left goes on.
_TURNS = re.compile(
    r"\b(?:but|yet|however|though|although|unless|except|reject\w*|problems?|wrong|instead|rather"
    r"|mistake|still)\b",
    re.I,
)


def without_margins(text: str) -> str:
    """An answer without what says nothing of its action, at both ends; as it is if it asks
    something or is long."""
    if "?" in text or len(text) > MOST:
        return text
    rest = text.replace("\u2019", "'")
    for _ in range(3):
        before = _BEFORE.match(rest)
        rest = rest[before.end() :] if before else rest
        rest = _SIGNS_BEHIND.sub("", rest)
        behind = _BEHIND.search(rest) or _IS.search(rest)
        rest = rest[: behind.start()] if behind else rest
    return rest if re.search(r"\w", rest) and not _TURNS.search(rest) else text
