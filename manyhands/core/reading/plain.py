"""Answers in plain words: chat's spellings, and what says nothing of an action at either end.

`plainly` reads "im", "headin", "lol" and "let me think" as what they stand for or nothing;
`clearly` takes "right now" for "now" where "right" is no direction.
"""

from __future__ import annotations

import re

from manyhands.core.reading.idioms import without_idioms
from manyhands.core.reading.margins import without_margins

_MOST = 600  # characters of an answer that is put so: the patterns are not linear

_SPELT = tuple(
    (re.compile(pattern, re.I), words)
    for pattern, words in (
        (r"\bim\b(?! \d)", "I'm"),
        (
            r"\b(go|do|head|turn|mov|com|walk|fly|step|grabb|tak|gett|putt|dropp|wait|chill|hold"
            r"|stay|play|call|fold|bett|pass|sitt|tuck|push|stack|slid|keep|try|ask|offer|claim"
            r"|stand|look|mak|giv|us|leav|sett|climb|bumpp?|serv|block|hover|idl|fetch|throw|lay)"
            r"in\b'?",
            r"\1ing",
        ),
        # As those write who learnt the language: "I go for take the dish".
        (
            r"\bfor (?=(?:take|bring|serve|get|put|find|make|reach|collect|deliver|grab|fetch|go"
            r"|search|pick up|see|wash|drop|give|open|build|cook) (?:an?|the|my|our|one|some|more"
            r"|others?|another|it|this|that|new|[a-z]+ \d+)\b)",
            "to ",
        ),
        (r"\b(I|we) (must|will) to (?=[a-z])", r"\1 \2 "),
        (r"\b(until|till) (?=(?:have|hold)\b)", r"\1 I "),
        (
            r"\b(steps?|cells?|go|going|move|moving|walk|walking|turn|turning) at (?:the )?"
            r"(?=(?:north|south|east|west|left|right)\b)",
            r"\1 to the ",
        ),
        (
            r"\b(go|going|walk|walking) until (?=the [a-z]+(?: [a-z]+)?(?: \d+)?\W*$)",
            r"\1 to ",
        ),
        (r"\b(follow|following) to (?=(?:[a-z]+_\d|my|the)\b)", r"\1 "),
        (r"\bwaiting (?=(?:the|my) (?!whole|full|entire|next|turn|step|round))", "waiting for "),
        (r"\binside of\b", "inside"),
        (r"\bin front to me\b", "in front of me"),
        (r"\bI turn me (?=to\b)", "I turn "),
        (
            r"(?:\A\W*|(?<=[.;!] ))better (?=I (?:go|take|put|wait|stay|get|bring)\b)"
            r"(?!.*\bthan\b)",
            "",
        ),
        (r"\b((?:to|at) the [a-z]{3,20}) for (?:one|some|more|another|it|them)(?=\W*$)", r"\1"),
        (r"\b(so it) (begin|start|become|need)\b", r"\1 \2s"),
        (
            r"\b(?:that|which) is (?=(?:on|at|to|in|beside|near|next to|by|above|below|under) "
            r"(?:my|me|the)\b)",
            "",
        ),
        (r"(?:\A\W*|(?<=[.!] ))(?:that|this|which) means (?=[a-z]+ing\b)", "I'm "),
        (r"\blil\b", "little"),
        (
            r"(?:^|(?<=[.;:!] ))(?:(?:i'll|i will|let me|let's|lets) )?try (?=[a-z]{2,}ing\b)",
            "",
        ),
        (r"\blft\b", "left"),
        (r"\b(?:rgt|rght)\b", "right"),
        (r"\b(?:dn|dwn)\b", "down"),
        (r"(?<=\w )'?til\b", "until"),
        (r"\bw/o\b", "without"),
        (r"\bw/(?: (?=\w)|(?=[a-z]{2}))", "with "),
        (r"(?:^|(?<=[,.;:!] ))ill (?=[a-z])", "I'll "),
        (r"(?:^|(?<=[,.;:!] ))id (?=(?:say|go|rather|like|love|better|pick|choose) )", "I'd "),
        (r"(?<=[a-z\d] )ill (?=(?:give|take|keep|go|pay|trade|do|get|play|put|let)\b)", "I'll "),
        (r"\bfwd\b", "forward"),
        (r"\A\W*(?:just )?chill(?:ing|in)?(?: out| here| for now)?\W*\Z", "wait"),
        (r"\b(?:imma|ima)\b", "I'll"),
        (r"(?:^|(?<=[.,;:!] ))gonna (?=[a-z])", "I'm going to "),
        (r"\s*(?:=+>|\u21d2)\s*(?=\w)", ", so "),
        (r"(?:^|(?<=[.;:!] ))lets (?=[a-z])", "let's "),
        (r"\blemme\b", "let me"),
        (r"\bgimme\b", "give me"),
        (r"\burs\b", "yours"),
        (r"\A\W*(no|nope|nah|yes|yeah|yep)(?:[\s,.!]+\1\b)+\W*\Z", r"\1"),
        (r"(?<=[a-z] )4 (?=\d+ [a-z])", "for "),
        (r"(?<=[a-z] )4 (?=(?:my|your|ur|his|her|their) [a-z])", "for "),
        (r"\bwann?a\b", "want to"),
        (r"\bwhats\b", "what's"),
        (
            r"\bI no (?=(?:put|go|take|want|need|have|do|move|wait|serve|cook|like|drop|use|turn"
            r"|get|pick|open|give|hit|eat|sleep|walk)\b)",
            "I don't ",
        ),
        (
            r"(?:\A\W*|(?<=[.;!] ))(?:(?:i )?guess i )?better (?=(?:get|go|move|wait|stay|take"
            r"|turn|put|grab|head|step|keep|hold|open|bring|fetch|start|make|use|leave|serve|drop"
            r"|walk)\b)(?!.*\bthan\b)",
            "I'd better ",
        ),
        (
            r"(?:\A\W*|(?<=[.;!] ))me (?=(?:go|take|want|wait|stay|move|get|put|turn|walk|pick|cook"
            r"|open|use|drop|serve|fetch|bring|give|make|hit|cut)\b)",
            "I ",
        ),
        # "Grab that spatula", but not "use this turn to ...".
        (
            r"\b((?:take|grab|pick up|get|collect|fetch|drop|put|place|open|close|shut|wash|clean"
            r"|heat|cool|chop|cut|hit|serve|deliver|face|approach|eat|attack|leave|push|use|load"
            r"|hold|fry|boil|steam|grill|bake|blend|mince|mix|slice|dice|cook|plate|mine|dig|break|kill"
            r"|smash|harvest|bring|carry|move|enter|check|search|try|visit|fill|start|activate"
            r"|switch on|turn on|throw|toss|chuck|dump|keep|give|hand|plant)(?:ing)?)"
            r" (?:that|this|these|those) (?=[a-z]{3,})(?!(?:way|time|turn|step|round"
            r"|one|move|moment|direction|action|side|chance|opportunity|instead|now|and|then|over"
            r"|there|here|with|from|into|onto|down|back|away|off|out|for|was|were|would|could"
            r"|should|which|who|what|right|left|first|next)\b)",
            r"\1 the ",
        ),
        (r"\bgotta\b", "have to"),
        (r"\bu\b", "you"),
        (r"\bur\b", "your"),
        (r"\bthats\b", "that's"),
        (r"(?<=\ba )sec\b", "second"),
        (
            r"\b(?:a|one)(?: (?:single|plain|simple|mere|little|small))+ (?=(?:cell|step"
            r"|square|field|row)\b)",
            "one ",
        ),
        (
            r"\b(?:sit|hang)(?:ting|ing)? (?:tight|back)\b|\bstand(?:ing)? still\b"
            r"|\bstay(?:ing)? put\b",
            "wait",
        ),
        (
            r"\b(?:not|without) mov(?:e|ing) (?:a (?:muscle|finger|bit)|an inch|at all|from"
            r" (?:here|this (?:spot|cell)))\b"
            r"|\b(?:sit|sitting) (?:on|with) my hands(?: folded)?\b|\bhold(?:ing)? my horses\b"
            r"|\btwiddl(?:e|ing) my thumbs\b|\bhang(?:ing)? (?:around|about|tight|loose)\b"
            r"|\bkeep(?:ing)? my feet (?:still|put|where (?:they|i) (?:are|am))\b"
            r"|\bkick(?:ing)? my heels\b|\b(?:stand|sit|loaf)(?:ing)? (?:around|about|idle)\b"
            r"|\b(?:tak|admir|enjoy|watch)(?:e|ing)? (?:in )?the (?:scenery|view|landscape)\b"
            r"|\b(?:paus(?:e|ing) for|tak(?:e|ing)|catch(?:ing)?) (?:a|my) (?:beat|breather"
            r"|breath)\b"
            r"|\b(?:stay|remain)(?:ing)? (?:seated|idle|passive|motionless|as i am)\b"
            r"|\bcool(?:ing)? my heels\b|\bfreez(?:e|ing) (?:in place|on the spot)\b"
            r"|\blet(?:ting)? (?:this|the|one) (?:tick|step|turn|round|moment) (?:go by|pass"
            r"|slip by"
            r"|go|slide)(?: without (?:do|touch|mov|act)ing(?: (?:anything|a thing|a finger))?)?",
            "wait",
        ),
        (
            r"\b(?:(?:just )?breathe|wait)(?:,| and|, and) (?:just |simply )?(?:do(?:ing)? nothing"
            r"|breathe|wait)\b|\bdo(?:ing)? nothing(?:,| and|, and) (?:just |simply )?(?:breathe"
            r"|wait)\b",
            "wait",
        ),
        (r"\bhalf a dozen\b", "six"),
        (r"\ba dozen\b", "twelve"),
        (r"(?:(?<=, )|(?<=[.!;] ))of course,? (?=i\b)", ""),
        (
            r"\b(met(?:re|er)s?|m|steps?|cells?|notch|touch|bit|foot|feet|yards?|degrees?) or so"
            r"(?=\W*$|[,;.!])",
            r"\1",
        ),
        (r"(?:(?<=\bso )|(?<=\bso, )|(?<=, )|(?<=\bhence ))off to (?=\w)", "I go to "),
        (r"\bmake (?:a beeline|straight|tracks) (?:for|to)\b", "go to"),
        (r"\bmaking (?:a beeline|straight|tracks) (?:for|to)\b", "going to"),
        (r"\bit is for me\b", "it is"),
        (
            r"\bfor (?:this|the|one|a) (?:half|single|short|brief) (?:second|moment|step)\b",
            "for now",
        ),
        (r"\bthis one (?=step|turn|round|moment)", "this "),
        (r"\bthis time a?round\b", "this time"),
        (r"\bI can afford to (?=[a-z])", "I'll "),
        (
            r"\b(I'll|I will|I'm going to|let me) (?:be \w+|act \w+(?: with my \w+(?: card| "
            r"hand)?)?"
            r"|play it \w+|go ahead|keep (?:it"
            r"|things) \w+"
            r"|take (?:a|the|my) (?:chance|risk|gamble|shot)|bite the bullet|do my (?:bit|part|job)"
            r"|follow (?:suit|the plan)|stick to (?:the|my) plan) and (?=[a-z])",
            r"\1 ",
        ),
        (
            r"(?<=[a-z] )n (?=(?:both|all|my|your|\d+|let|see|wait|hope|the|i|go|grab|get|put|take"
            r"|watch|\w+ing)\b)",
            "and ",
        ),
        (r"\bgo(?:ing)? 2 (?=[a-z])", "go to "),
        (
            r"(?<=[a-z] )2 (?=(?:get|grab|see|find|fetch|cook|take|the|make|help|pick|reach)\b)",
            "to ",
        ),
        (r"\b(?:cuz|cos|coz|bc)\b|\bseeing (?:as|that)\b", "because"),
        (
            r"(?<=[\w,] )'?cause (?=(?:i|i'm|we|he|he's|she|it|it's|they|there|that|the|my"
            r"|\w+_\d+)\b)",
            "because ",
        ),
        (r"\b(noth|someth|anyth|everyth)in\b'?", r"\1ing"),
        (r"\boutta\b", "out of"),
        (r"\b(?:the )?(?:whole|entire) (?=[a-z])", "the "),
        (r"\b(?:one|a single|a) pace\b", "one step"),
        (
            r"\b(?:have|take) (?:a|another|one) (?:good |quick |proper |long "
            r"|better )?look (?=around|about)",
            "look ",
        ),
        (r"\b(?:(?:back|right|straight|on) )?over to (?=\w)", "to "),
        (r"(?:^|(?<=[.;:!] ))off to (?=\w)", "going to "),
        (
            r"\b(?:mosey|tiptoe|sneak|dart|zip|shuffle|scurry|saunter|scoot|scooch|hurry"
            r"|trot|stroll|wander|march)(ing)? "
            r"(?=(?:to|left|right|up|down|north|south|east|west|back|into|towards?)\b)",
            r"go\1 ",
        ),
        (r", please(?=[:;])", ""),
        (r"\bmy (?:legs|feet|wheels|wings|rotors) (?:carry|take|bring|lead) me (?=\w)", "I go "),
        (
            r"\b(choose|pick|take|select|go (?:with|for)|settle (?:on|for)) the (?:first"
            r"|second|third"
            r"|fourth|fifth|last|middle|top|bottom|former|latter)(?: (?:one|option|choice))?"
            r"(?:,|:|\s[\u2013\u2014-])\s(?=[a-z])",
            r"\1 ",
        ),
        (
            r"\bthe right (?=(?:move|call|choice|option|action|play|decision|thing|answer)\b)",
            "the best ",
        ),
    )
)
# An answer that is nothing but an arrow, whose tip may be a sign that wraps others.
_ARROW = re.compile(r"[\s*_`\"']*(?:(\^)|(v)|(<-*)|(-*>))[\s*_`\"']*")
_POINTS = ("up", "down", "left", "right")
_LAUGH = r"(?:lo+l|lmao|rofl|(?:ha){2,}h?|(?:he){2,}|xd|[>:]*[:=]-?[)dp])"
_OPENS = re.compile(
    r"\W*(?:(?:nah|nope)[,.! ]+(?=(?:i|i'll|ill|i'm|im|\w+ing) )"
    r"|nah[,.! ]+(?=(?!(?:deal|ok|okay|yes|yeah|yep|accept|agreed?|sure|fine|done|sold|not|no|never"
    r"|nah|don't|dont|won't|wont|can't|cant)\b)[a-z])"
    r"|no,? wait,\s*(?=\w)"
    rf"|(?:(?:{_LAUGH}|u[hm]+|erm?|ugh|welp|meh|aight|yo|bro|dude|ha|ah|aha|oh well|okey|okie|k"
    r"|eh|oops|whoops|yay|yippee|woo+(?:hoo)?|hoo?ray|hurra[hy]|wow|ooh+|yum(?:my)?|phew|bingo"
    r"|boom|brr+|whee+"
    r"|(?:(?:glug|nom|yum|blah|beep|moo|choo)[ ,!-]+)+(?:glug|nom|yum|blah|beep|moo|choo))"
    r"\b[,.!\s]*)+"
    r"(?=\w)|(?:(?:let me (?:think|see)|let's (?:see|think)|thinking)\b[,.!:\u2026\s]+)+(?=\w))",
    re.I,
)
# Sentences behind an action that say no more of it than that it is one.
_GOOD = r"(?:best|right|safest|most \w+)(?: (?:option|choice|move|action|play|call|thing to do))?"
_HELPS = re.compile(
    r"(?:,? (?:and |and then |then )(?:see|watch) what happens(?: next)?"
    r"|, (?:see|watch) (?:what happens|(?:what|how) (?:[a-z]+_\d|he|she|they|the others?)"
    r" (?:does|do|plays?|reacts?|answers?))(?: next)?"
    r"|(?<=[.!;,]) *(?:that|this|it) (?:should|will|would|'ll) (?:help|work|do|make progress"
    r"|be (?:enough|fine|good|best)|keep (?:us|me|things) going)"
    rf"|(?<=[.!;]) *(?:this|that|it) (?:seems|looks|feels)(?: like| to be)? (?:the )?{_GOOD}"
    r"(?: here| now| for me)?"
    r"|(?<=[.!;]) *(?:done|(?:your (?:turn|move)|over to you)(?:,? [a-z]+_\d)?"
    r"|(?:i hope|hopefully) (?:this|that|it)"
    r" (?:works|helps)|no other (?:option|choice|move|action) makes sense)"
    r"|[,;.!] *(?:and |then )?(?:let's|let me|we'll) (?:see|find out|watch|learn) (?:whether|if"
    r"|what"
    r"|how|who|where) (?!.*\b(?:or|better|instead|first|before|should|could|i)\b)[\w' ]{3,60}"
    r"|(?<=[.!;\u2014-]) *(?:(?:there(?:'s| is) )?(?:not much|nothing) (?:else|more|better)"
    r" (?:to do|i can do)|no (?:question|doubt)(?: about it)?|i have no doubt"
    r"|i'm (?:sure|confident)(?: in (?:this|that|it))?)"
    r"|(?<=[.!;]) *(?:let's|we'll|i'll) see (?:what happens|how (?:it|that|this) goes))[.!\s]*$",
    re.I,
)
_BAR = re.compile(
    r"\s*\|\s*(?=(?:reason(?:ing)?|rationale|explanation|because|justification)\b)", re.I
)
_CLOSES = re.compile(
    rf"[,.!\s]+(?:{_LAUGH}|i guess|tbh|imo|imho|ngl|obvs?|yolo|gg|bro|dude|man|fam|thx|ty|boys|baby"
    r"|asap|(?:real )?quick|rn|ta|pls|plz)[.!\s]*$",
    re.I,
)

# "Go north right now" and "right now I go north", but not "go right now".
_RIGHT_NOW = re.compile(r"(?<![\w'-])(?P<before>[\w'-]+,? )?right now(?=\b(?P<after>\W+\w)?)", re.I)
_MOVES = re.compile(
    r"(?:go|mov|turn|step|head|walk|fac|look|shift|slid|fly|run|strafe?|dash|edg|push|travel|bank"
    r"|advanc|roll|lean)(?:e|ing|n)?,? |(?:to|the|my|its?|their|your|his|her|on|from|then|and|a)"
    r",? |left,? ",
    re.I,
)
_GOES_NOTHING = re.compile(r"\bhere goes nothing\b", re.I)
# "I'll do this: turn left" is no "I'll do, this turn, left".
_DO_THIS = re.compile(
    r"\A\W*(?:(?:i'll|i will|i'm going to|let me|let's|i)\s+)?(?:do|try)\s+(?:this|the following)"
    r"\s*(?::|->)\s*",
    re.I,
)


def clearly(text: str) -> str:
    """An answer with "now" for "right now" where "right" is no direction, without "I'll do this:",
    and with "go" where a direction is the verb: "I'll east"."""

    def told(found: re.Match[str]) -> str:
        before = found["before"] or ""
        if _MOVES.fullmatch(before) or not (before or found["after"]):
            return found[0]
        return f"{before}now"

    text = _GO.sub(r"\1 go \2", _GOES_NOTHING.sub("here goes", _DO_THIS.sub("", text)))
    return without_idioms(_RIGHT_NOW.sub(told, text))


_GO = re.compile(
    r"\b(i'll|i will|i shall) ((?:north|south|east|west|forwards?)\b|(?:left|right)(?= of\b)"
    r"|(?:up|down)(?=\W*(?:[.,;!\n]|$)))",
    re.I,
)


# Who speaks, and what it does beside speaking: "Player: north", "*thinks* north".
# A stage direction may be the action itself, "*raises to 4*".
_STAGED = re.compile(
    r"\A\s*[*(]?(?!i\b|(?:bet|fold|call|raise|check|goe|move|walk|turn|step|head|wait|stay|take|put"
    r"|drop|pick|place|play|offer|accept|reject|chase|hold|interact|open|close|claim|pledge)s\b"
    r"|passes\b)[a-z]+s\b[^()*\n]{3,80}[*)]\s*(?=[A-Z])"
)
_POLITE = re.compile(
    r"\W*(?:with (?:a|an|my|this|the) [a-z]+(?: [a-z]+)?(?: in (?:my )?hand)?,? (?=(?:i|i'll|i'm"
    r"|i'd)\b)"
    r"|(?:with (?:all )?(?:due )?(?:respect|pleasure|your permission|a smile)[^,.;:!?]{0,40},"
    r"|(?:given|considering|based on|looking at|in view of) (?!the (?:chance|choice|option))"
    r"(?:the|my|this|that|these|all|everything)\b[^,.;:!?]{0,50},(?= (?:i|i'll|i'm|my)\b)"
    r"|(?:ok(?:ay)?|alright|sure|right),? let(?:'s| me) do (?:this|it)[.!]+"
    r"|let(?:'s| us| me) (?:see|find out) (?:how|what|if|whether|who) [^,.;:!?\n]{3,50}[.!]+"
    r"|good luck(?: (?:everyone|everybody|all|to (?:all|you|everyone)|guys|folks))?[,.!]+"
    r"|let(?:'s| us| me) not (?:waste|lose) (?:any |a |more |another )?"
    r"(?:time|turns?|steps?|moves?)(?: here| on this)?[:,.;!]+)\s*)(?=\w)",
    re.I,
)
# An answer as the end of a function in Python: `return "north"`, `return Action.NORTH`.
_RETURNED = re.compile(
    r"\A\s*(?:```\w*\s*)?(?:def \w{1,40}\([^()\n]{0,60}\)[^:\n]{0,40}:[ \t]*\n)?"
    r"(?:[ \t]*#[^\n]{0,200}\n)*[ \t]*return (?:[A-Z]\w{0,20}\.(?P<name>\w{1,40})"
    r"|(?P<quote>[\"'])(?P<said>[^\"'\n]{1,80})(?P=quote)?)"
    r"[ \t]*;?[ \t]*(?:#[^\n]{0,200})?\s*(?:```\s*)?\Z"
)
_SPEAKER = re.compile(
    r"\W*(?:(?:assistant|ai|bot|agent|player|model|ans|cmd)\s*:|tl;?dr\b\s*[:,]?"
    r"|[(*](?:thinking|thinks|pauses|sighs|shrugs|nods|smiles|ponders|hmm+)[^()*]{0,30}[)*])\s*",
    re.I,
)


def pointed(text: str) -> str:
    """An answer with the direction in words where it is nothing but an arrow, "->"."""
    found = _ARROW.fullmatch(text) if len(text) <= 12 else None
    return text if found is None else _POINTS[(found.lastindex or 1) - 1]


def plainly(text: str) -> str:
    """An answer in the spelling of books, without what says nothing of an action at its ends: who
    speaks, laughter, "let me think", "that should help"."""
    if len(text) > _MOST:
        return text
    returned = _RETURNED.match(text)
    if returned:
        text = returned["said"] or returned["name"].replace("_", " ")
    for sign in (_STAGED, _SPEAKER, _POLITE):
        found = sign.match(text)
        text = text[found.end() :] if found else text
    opening = _OPENS.match(text)
    text = text[opening.end() :] if opening else text
    for sign, words in _SPELT:
        text = sign.sub(words, text)
    text = _HELPS.sub("", _BAR.sub(", ", text)).rstrip(" \u2014-")
    for _ in range(2):
        text = _CLOSES.sub("", text)
    return without_margins(text)
