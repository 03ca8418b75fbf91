"""Set phrases around an action that say nothing of it: "nothing to lose, north", "bet, why not".

`without_idioms` takes them off either end of a sentence, before any reader looks at it. A phrase
belongs here if the sentence without it means the same, whatever it says: it denies nothing, sets no
condition, and tells of nobody else. Each line is a pattern; two spaces go on with the one above.
"""

from __future__ import annotations

import re

MOST = 600  # characters of an answer that is looked at: the patterns are not linear


def _lines(text: str) -> str:
    lines = text.strip().replace("\n  ", "").splitlines()
    return "|".join(f"(?:{line})" for line in lines)


# At either end: "why not, north", "north, why not".
_EITHER = r"""
why (?:ever |the heck |the hell )?not
what the (?:heck|hell)
(?:(?:i|we)(?:'ve| have) )?(?:got )?nothing to lose(?: here| by it)?
(?:there(?:'s| is) )?no harm (?:in (?:it|that|this|trying(?: it)?|a try)|done)
(?:it |this |that )?(?:can't|cannot|can not|won't|couldn't|shouldn't) hurt(?: (?:me|us|anyone
  |to try))?
(?:it |this |that )?costs? (?:me |us )?(?:nothing|little|next to nothing)(?: anyway| to try)?
(?:i|we) (?:might|may) as well|(?:might|may) as well
(?:wish (?:me|us) luck|fingers crossed|knock on wood|touch wood)
(?:please |pls )?do ?n[o']?t (?:judge|blame|shoot|quote|laugh at|hate) me(?: for it| on that)?
do ?n[o']?t ask(?: me)?(?: why)?
(?:and )?(?:that's|this is) (?:final|that|settled)|end of story|full stop|that settles it|so be it
no (?:regrets|hesitation|hesitating|second thoughts|hard feelings|drama|fuss|frills|ifs,?
   (?:or|and|no) buts)
no time to (?:lose|waste)|time flies|the clock is ticking
(?:an? )?no[ -]?brainer|easy(?: (?:call|choice|decision|one|enough|peasy))?
just because|just this once|once (?:more|again)|one more time|as (?:always|usual|before|promised)
business as usual|same as (?:before|always|usual|ever)|out of habit|old habits
slow(?:ly)? (?:and|but) (?:steady|steadily|sure|surely)|nice and (?:easy|slow|steady)
(?:boring|dull|safe|simple|quick|cheap|slow|quiet|calm|clean|short|patient|sly|sneaky|cautious
  |careful|smooth|nice) (?:and|but) (?:safe|simple|steady|correct|solid|sound|effective|dirty
  |cheerful|sneaky|sly|patient|quiet|sweet|easy|calm|careful|slow|smooth|sure|clean|simple)
with a (?:heavy|light) heart
with (?:some |much |great )?(?:relief|pleasure|regret|confidence|conviction)
hands down|all the way|for better or worse|rain or shine|come what may|whatever happens
(?:pointless|silly|odd|risky|pretty|boring|exciting|useful|fancy) or not
like it or not
one way or another
no pressure|no worries|no problem|no offence|no offense|piece of cake|lovely|onwards?
(?:for|to) what it's worth
to be (?:quite |very |perfectly |completely )?(?:honest|open|frank|fair|straight|clear|transparent
  |blunt|precise)(?: with (?:you|everyone))?
to be safe
to be sure
in all honesty
between us
between you and me
(?:for|to) (?:the )?(?:good|glory|honou?r|sake) of (?:the )?(?:team|us all|us both)
"""
# Before it only.
_OPENING = r"""
how about (?:this|it|the following)
(?:just )?(?:for the record|so you know|for your information|to let you know|to be clear|fyi)
oh well
oh fine
fine then
well then
right then
alright(?:,? alright)*
ok(?:ay)? then
all right then
okey ?dokey
(?:tough|nice|good|bad|quiet|lazy|brave|safe|stealth|beast|chill|hero|panic|greedy
  |generous)[ -](?:guy|cop|girl|boy|kid)?[ -]?mode(?: (?:on|engaged|activated))?
no (?:more )?(?:dawdling|dithering|faffing|messing|fooling|stalling|overthinking|delays?)
  (?: about| around)?
enough (?:said|talk)
full (?:throttle|steam ahead|speed ahead|speed|power|send)
eenie meenie(?: miney mo)?|coin (?:toss|flip)|drum ?roll(?:,? please)?|ta[ -]?da+|voil[a\u00e0]
decision (?:time|made|reached)|time to decide|moment of truth|game on|showtime
let me think (?:aloud|out loud)|thinking (?:aloud|out loud)
(?:all )?(?:other |tempting )?(?:alternatives|temptations|jokes|kidding) aside
fair (?:enough|point)
(?:it's |it is )?time to (?:be|get|act|play it) (?:brave|bold|aggressive|tough|smart|careful
  |greedy|patient|safe|serious|cautious|generous|nice|sneaky|fancy|clever)(?: with (?:my|this
  |these) \w+)?
first things first|one thing at a time|step by step|one step at a time|baby steps
(?:after|upon|on) (?:a |an |some |much |due |careful |brief |long |short |quick |little
   |bit of |lot of |good |honest |closer |further |more |mature )*(?:think|thought|thinking
  |consideration|reflection|deliberation|look|pause|hesitation|inspection|analysis)
(?:with|having) (?:nothing|not much) (?:better|else|more useful) to do(?: here| now| right now)?
(?:for|in) (?:lack|want|the absence) of (?:a |an |any |anything )?(?:better|other|good)(?:
   (?:idea|option|plan|choice|move|thing)s?)?
with (?:my|our) hands (?:full|empty)|hands (?:full|empty)|eyes on the prize
(?:it's )?my turn (?:at last|now|again|already)|(?:finally|at last),? my turn
(?:back to|on with) (?:work|business|the job|the task|the plan|it|the show)
new plan|change of plan|quick one|(?:let's |i )?switch(?:ing)?(?: (?:plans?|targets?|it up|pots?
  |things))?
gut (?:feeling|call|instinct)
going with my gut
going on instinct
call it (?:a hunch|instinct|habit)
(?:i'm|i am) (?:a bit |a little )?(?:torn|undecided|nervous|scared|hesitant),? but
all things considered
everything considered
(?:my|the) (?:choice|decision|plan|answer|move|path|way|next step) is (?:clear|simple|easy
  |obvious|made|plain|settled)
"""
# Behind it only.
_CLOSING = r"""
(?:and |then |and then )(?:let's |we'll |i'll |we |let us )?(?:see|regroup|breathe|relax
  |go from there|take it from there)
and (?:fast|quick|quickly|now|how|nothing else|nothing more|nothing but that)
(?:too |way )?easy
then
(?:this is |that's |it's )?(?:my |your |the )?(?:last|final) (?:chance|offer|word|call)
feeling (?:lucky|generous|brave|bold|cautious|greedy|good|confident|nice|frisky|safe)(?: today
  | now)?
that(?:'s| is) (?:exactly )?what i(?:'m| am|'ll| will)? (?:propose|offer|suggest|do|play|choose
  |pick|go (?:for|with)|propos(?:e|ing)|offering|doing|playing|choosing|going (?:for|with))
before (?:it|this|that|things?|(?:his|her|their|the|that|this|these|those) [a-z]+(?: of (?:his
  |hers|theirs|mine))?) (?:gets?|grows?|becomes?|turns?) (?:any |even |too )?(?:[a-z]+er
  |more [a-z]+|worse|ugly|big|late|out of hand)
with (?:this|that|it|the|all this|all that)(?: (?:thing|stuff|lot|load))?
(?:that's|this is) (?:my|our|the) (?:offer|bid|move|choice|answer|decision|pick|call|play
  |final answer|final offer|action)(?: for now| then)?
(?:god |heaven |only god )?(?:who|god) knows (?:what|where|who|how|why|whether|when|if)?
  (?: [a-z'_0-9]+){0,9}
(?:thank you|thanks|cheers|ta)(?: (?:very much|a lot|so much))?|please and thank you
"""
# It is introduced: "my pick for this turn: north", "everything points to north".
_PRESENTS = r"""
(?:my |the |this (?:step|turn|round|move)'s )?(?:\w+ )?(?:pick|command|order|choice|decision
  |action|move|answer|verdict|input|reply) for (?:this|the|my|our)(?: (?:next|current
  |present))? (?:step|turn|move|round|moment|tick|hand|go)(?: is| will be)?
(?:my|our) (?:next |one |only )?(?:move|action|choice|decision|step|plan|play|answer)
  (?: for)? (?:this (?:time|turn|step|round)|now|here) (?:is|will be|shall be)(?: to)?
(?:and )?(?:therefore|thus|hence|so),? (?:the|my) (?:cure|answer|remedy|fix|winner|solution
  |way out|verdict|choice|pick|move|action)(?: here| now)? is
(?:my|the) (?:pick|command|answer|winner|remedy|cure|verdict|vote|input)(?: here| now| today)?
  (?: is| goes to)
(?:my |the |our )?(?:first|next|current) (?:ingredient|item|task|errand|job|thing|mission
  |stop|order of business|on (?:my|the) list)(?: is)?(?=:)
(?:everything|all(?: signs)?|it all|every sign) (?:points?|pointing) (?:to|at|towards?)
(?:sounds|looks|seems) like a (?:job|case|moment|time) for
(?:this|now) (?:is|calls for) (?:a (?:job|case|moment) for|the (?:time|moment) for)
(?:so )?(?:sign me up for|i'm all for|i am all for|make mine)
i (?:can't|cannot|couldn't) (?:resist|help but)
(?:so )?(?:all (?:that's|that is) left(?: for me)? is(?: to)?|(?:the )?(?:least|best|most)
   (?:i|we) can do(?: here| now| for now)? is(?: to)?)
"""
# What takes back what was said before it, in any chain: "argh no, other way, north".
_FILLS = (
    r"a+r+gh+|u+gh+|gah|oh|ah|uh+|um+|hm+|er+m?|eh|lol|ha(?:ha)*|ok(?:ay)?"
    r"|(?:no+|nope|nah)(?=\s*[,.;!\u2026\u2013\u2014])"
)
_BACK = (
    r"(?:no,? )?wait(?:,? wait)*(?: a (?:sec(?:ond)?|minute|moment))?|hang on|hold (?:on|up)"
    r"|nvm|never ?mind"
    r"|(?:scratch|scrap|strike|forget|ignore|cancel|undo|belay) that|actually|correction"
    r"|my (?:bad|mistake)"
    r"|(?:the )?other (?:way|one|side)(?: (?:round|around))?|(?:wh)?oops(?:ie)?|sorry"
    r"|on second thoughts?"
    r"|(?:i )?(?:mean|meant)|wrong (?:way|one|place|thing|spot|item|tool|drawer"
    r"|cabinet|station|button|key|direction|door|room|pot"
    r"|column|side|word)"
)
_PAUSE = r"[\s,;:.!\u2026\u2013\u2014-]"
_TAKEN_BACK = re.compile(
    rf"(?:\A\W*|(?<!{_PAUSE}){_PAUSE}+)(?:(?:{_FILLS}"
    rf"|(?P<back>{_BACK}))(?:{_PAUSE}+(?=[\w(]))){{2,7}}",
    re.I,
)
_ENOUGH = re.compile(
    r" (?:is|will be|should be|would be|it is) (?:quite |just )?(?:plenty|enough|close enough"
    r"|near enough|far enough|it|the one)(?=[.!\s]*\Z)",
    re.I,
)
_SIGN = r"\s*(?:[,:;.!\u2026\u2013\u2014]+|-+\s|->)\s*"
_START = r"(?:\A\W*|(?<=[.!\n] ))"
_HEAD = re.compile(rf"{_START}(?:(?:{_lines(_EITHER)}|{_lines(_OPENING)}){_SIGN})+(?=\w)", re.I)
_LEAD = re.compile(rf"{_START}(?:{_lines(_PRESENTS)})(?:\s*:\s*|\s+)(?=[\w*\"'`(])", re.I)
_TAIL = re.compile(
    rf"(?<!{_PAUSE})(?:\s*(?:[,;.!\u2026\u2013\u2014]+|\s-+)\s*"
    rf"(?:{_lines(_EITHER)}|{_lines(_CLOSING)}))+"
    r"(?=[.!\u2026)\s]*\Z)",
    re.I,
)
# What behind a lead makes it more than one: "everything points to north being a trap".
_MORE = re.compile(
    r"\b(?:being|is|was|not|but|or|if|unless|though|my (?:head|heart|gut|mind)|\w+n't|the most"
    r"|the least|say|said)\b|[,;?]",
    re.I,
)


def without_idioms(text: str) -> str:
    """An answer without the set phrases at its ends; as it is if it is long, asks something, or is
    nothing but such phrases."""
    if "?" in text or len(text) > MOST:
        return text
    said = text.replace("\u2019", "'")
    rest = _TAIL.sub("", _HEAD.sub("", _taken_back(said)))
    found = _LEAD.search(rest)
    if found and not _MORE.search(rest, found.end()):
        rest = rest[: found.start()] + rest[found.end() :]
    return rest if rest != said and re.search(r"\w", rest) else text


def _taken_back(text: str) -> str:
    """An answer with "no wait" for all words that take something back, or none at its start."""
    found = next((chain for chain in _TAKEN_BACK.finditer(text) if chain["back"]), None)
    if not found:
        return text
    before, after = text[: found.start()], _ENOUGH.sub("", text[found.end() :])
    if re.search(r"\w", before):
        return f"{before}... no wait, {after}"
    # "Wait, no, left": to wait may be what is taken back.
    others = re.sub(r"\bwait\b", "", found[0], flags=re.I)
    return after if re.search(rf"\b(?:{_BACK})\b", others, re.I) else text
