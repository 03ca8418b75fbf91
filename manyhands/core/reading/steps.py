"""A step in a direction, whatever is told around it.

    "I keep on westward to line up with the food"       go west
    "Another cell down gets me closer"                  go down
    "The food lies over there, so west again"           go west

Worlds with directions read "go west" in a few shapes each. Here the step is found by its head, a
verb of motion or a word for a cell that only words of manner part from the direction; what is told
before and behind it is a reason like any other (`asides.py`), and may be no action of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from manyhands.core.reading.cuts import Clause
from manyhands.core.reading.signs import NAME, PLACE

_COMPASS = r"(?:north|south|east|west)(?:wards?)?"
_SIDE = r"(?:up|down|left|right)(?:wards?)?"
_WAY = rf"(?P<way>{_COMPASS}|{_SIDE})"
# "northern wall", "north of it", "right beside", "up to the box" are no directions.
_NOT_BEHIND = (
    r"(?!ern|\w|-|\s+(?:of|side|wall|door|room|half|part|end|edge|corner|hand)\b"
    r"|(?<=up)\s+(?:to|next|against|with|here|there|on)\b|(?<=down)\s+(?:on|here|there)\b"
    r"|(?<=right)\s+(?:beside|next|behind|in|into|onto|on|at|under|below|above|up|down|now|away"
    r"|here|there|after|before|by|to|against|back|past|through|where|over|across|between)\b"
    r"|(?<=left)\s+(?:to|over|of|in|behind|on)\b)"
)
_MOVES = (
    r"(?:go(?:ing)?|walk(?:ing)?|mov(?:e|ing)|step(?:ping)?|head(?:ing)?|continu(?:e|ing)"
    r"|keep(?:ing)?|run(?:ning)?|sidestep(?:ping)?|stroll|retreat(?:ing)?|flee(?:ing)?"
    r"|drop(?:ping)?|climb(?:ing)?|slid(?:e|ing)|shift(?:ing)?|advanc(?:e|ing)"
    r"|proceed(?:ing)?|press(?:ing)? on"
    r"|push(?:ing)? on|carry(?:ing)? on|travel(?:l?ing)?|march|wander|return(?:ing)?|edge|creep"
    r"|sneak|dash|hurry|race|swing|hop|nudge|back out|back off|onwards?|on we go|off"
    r"|further|farther|deeper|follow(?:ing)? (?:it|them|the \w+))"
)
_CELLS = r"(?:cells?|steps?|squares?|tiles?|rows?|columns?|spaces?|moves?|fields?|spots?)"
_MANNER = (
    rf"(?:on|one|a|1|single|more|another|just|further|farther|once|again|along|still|straight|due"
    rf"|back|out|over|forward|ahead|this|my|the|same|in|to|towards?|from|here|going|heading|moving"
    rf"|walking|running|stepping|now|slowly|quickly|directly|by|row|column|corridor|hallway|lane"
    rf"|tunnel|path|line|direction|and|around|myself|me|{_CELLS})"
)
_STEP = re.compile(
    rf"\b(?:(?P<verb>{_MOVES})\s+(?:{_MANNER}\s+){{0,6}}?"
    r"|(?P<cell>(?:one|a|another|1|just one|my next|next|the next)\s+(?:more\s+|further\s+)?"
    rf"{_CELLS})\s+(?:(?:further|farther|more|back|on|over|is|goes|straight|to|towards?|the|my)\s+)"
    r"{0,4}?"
    rf"|(?P<bare>(?<=so )|(?<=so, )|\A))"
    rf"{_WAY}\b{_NOT_BEHIND}(?P<again>\s+(?:again|once more|it is|one more|another)\b)?",
    re.I,
)
# Who steps: "I", or nobody who is named.
_LEAD = re.compile(
    r"(?:\A|[,;.!\u2013\u2014]|\b(?:so|and|therefore|thus|hence)\b,?)\s*"
    r"(?:(?:i|i'll|i'm|i am|i will|i now|let me|let's|let us|we|we'll|please|now|so|time to|and"
    r"|just|simply|okay|ok|next|also|only|need to|want to|must|have to|shall|will"
    r"|going to|about to|am|take|make|i take|start(?:ing)? (?:by|with)|by"
    r"|to|still|with \w+ \w+|yes)\s*,?\s+)*\Z",
    re.I,
)
# Behind a step: where it leads, or its reason; how far it goes, or how, may make it another one.
_LEADS = re.compile(
    rf"\A\s*(?:\Z|[,;.!]|(?:to(?! the (?:bottom|top|end|last)\b)|so|and|because|since"
    rf"|as (?:it|the|there|i|my)|towards?|into|onto"
    rf"|out of|along|past|behind|under|beside|from|away|through|for|at full speed|by one|now"
    rf"|(?:a|one) (?:\w+ )?{_CELLS}|{_CELLS}|the (?:corridor|hallway|row|column|path"
    rf"|tunnel|lane|aisle)|puts|brings"
    r"|will|please|again|next)\b)",
    re.I,
)
# Behind a cell: what the step does, and not how things are there.
_DOES = re.compile(
    r"\A\s*(?:\Z|[,;.!]|(?:brings?|gets?|puts?|takes?|leads?|gives?|lets?|makes?|lines?"
    r"|to|so|for|and"
    r"|please|towards?|into|onto|along|again|next|because|since|as|from|away|past|behind|under"
    r"|before|will|now|one|with)\b)",
    re.I,
)
# What takes a step back, wherever it is said, and what does so unless it is of another clause.
_AGAINST = re.compile(
    r"\b(?:avoid\w*|he|she|they|his|her|their|you|your|was|were|did|had|went|would|could|should"
    r"|but|except|else|rather|instead|than|later|after|afterwards|blocked|wrong|mistake|bad|worse"
    r"|option\w*|choice\w*|example|wish\w*|both|either|if|or|unless|until|when|once|twice|times"
    r"|case|said|says|tells?|told|yourself|trouble|danger\w*|harm\w*|risk\w*|death|young"
    r"|every\w+|advice|soon|pay|pending|another (?:day|game|time)|too|los\w+|dead|turn\w*|true"
    r"|friend"
    rf"|(?:\d+|two|three|four|five)\s+(?:more\s+)?{_CELLS})\b"
    rf"|\A\s*partner\W*(?:,|\Z)|,\s*partner\b|(?:\A|,)\s*{NAME}\s*[,:!]|,\s*{NAME}\s*\Z",
    re.I,
)
_DENIES = re.compile(r"\b(?:no|not|never|cannot|\w+n't|nothing|nobody|none|without|then)\b", re.I)
_OTHER = re.compile(NAME, re.I)
_MINE = re.compile(r"\b(?:i|i'll|i'm|let me|we|we'll|let's)\b", re.I)
_ELSEWHERE = re.compile(
    rf"\b(?P<compass>{_COMPASS})(?:ern)?\b|\b{_WAY}\b{_NOT_BEHIND}",
    re.I,
)
_NEXT = re.compile(r"\bthe (?:next|first)\b(?= [a-z])", re.I)  # "for the next onion"
_JOINED = re.compile(r"\A\W*(?:and|so)\s+", re.I)
_AT_PLACE = re.compile(PLACE)
_KEEPS = re.compile(r"keep(?:ing)?\s+(?:up|down)", re.I)  # "keep up the pursuit"
_IDIOMS = re.compile(
    r"\b(?:lin\w+|end\w*|pick\w*|set\w*|stand\w*|wak\w+|catch\w*|clos\w+|speed\w*|free\w*|open\w*"
    r"|put\w*|hold\w*|slow\w*|sit\w*|lay\w*|cut\w*|keep\w*)(?: \w+){0,2} (?:up|down)\b"
    r"|\b(?:all right|right away|right now|is left|are left)\b"
    r"|\b(?:on|at) (?:my|the|its|our) (?:left|right)\b",
    re.I,
)


def step_clauses(text: str) -> Iterator[Clause]:
    """A sentence as the one step that it takes, and what is told around it; none if it takes
    several, or names another direction besides."""
    if len(text) > 300 or "?" in text or ":" in text or '"' in text:
        return
    if _AT_PLACE.search(text):  # "down to cell (1, 3)" leads as far as that
        return
    steps = [step for step in _STEP.finditer(text) if _is_own(text, step)]
    ways = {_way(step["way"]) for step in steps}
    if len(ways) != 1:
        return
    step = steps[0]
    before, after = text[: step.start()], _JOINED.sub("", text[step.end() :], count=1)
    lead = _LEAD.search(before)
    assert lead is not None
    before, mine = before[: lead.start()], _MINE.search(lead[0]) is not None
    reason = f"{before.strip(' ,;.!')} , {after.strip(' ,;.!')}".strip(" ,")
    # Others may be told of, and things denied, where it is plain who steps.
    if _AGAINST.search(reason) or _DENIES.search(reason if not mine else after):
        return
    if not mine and _OTHER.search(reason):
        return
    others = {
        _way(other["way"] or other["compass"])
        for other in _ELSEWHERE.finditer(_IDIOMS.sub("", reason))
    }
    if others <= (ways if step["verb"] or step["cell"] else set()):
        yield Clause(f"go {next(iter(ways))}", _NEXT.sub("the", reason), outcome=True)


def _is_own(text: str, step: re.Match[str]) -> bool:
    if not _LEAD.search(text[: step.start()]):
        return False
    behind = text[step.end() :]
    if step["verb"]:
        return _LEADS.match(behind) is not None and not _KEEPS.fullmatch(step[0])
    side = step["way"].lower() in ("left", "right")  # "right again", "one step left"
    if step["cell"]:
        own = not side or re.search(r"\bto\b", step[0]) is not None
        return own and _DOES.match(behind) is not None
    last = step.start() > 0 and re.fullmatch(r"\W*", behind) is not None
    return (step["again"] is not None or last) and not side


def _way(word: str) -> str:
    return re.sub(r"wards?\Z", "", word.lower())
