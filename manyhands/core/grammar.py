"""Sentences that name an action, read word by word.

A `Grammar` holds the phrases of a game. It reads a sentence only if every word of it is accounted
for: as part of one phrase, or as courtesy around it ("I'll ...", "please"). Whatever is left over
(a denial, a condition, a question, an alternative, a report of what others did) makes the sentence
name nothing. So nothing is guessed, and no list of dangerous words has to be complete.

A phrase is a pattern: words; `(a|b)` for alternatives; `[a]` for what may be left out; `{slot}` or
`{label:slot}` for a value. Plural and `-ing` forms of words are understood, as are number words and
both spellings of names ("chef_1", "chef 1").

    grammar = Grammar({"raise": ["(raise|bet) [by] {n} [chip]"], "fold": ["fold", "give up"]})
    grammar.read("I'll raise by two chips, please")   # [Reading("raise", {"n": 2})]

Time is linear in the length of the sentence: all phrases are followed at once, word by word.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

MOST_WORDS = 80  # of a sentence; a longer one names nothing
_MOST_CACHED = 1_000  # sentences of a grammar whose readings are kept
_MOST_PATHS = 2_000  # readings followed at once, far more than any game needs


# ---- words ---------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<rank>(?:st|nd|rd|th)\b)?"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?)|(?P<sign>->|\S|\n)"
)
_DROPPED = frozenset(",:\"'`*()_~\u201c\u201d\u2018\uff0c\u3001\uff1a")
_STOPS = {
    "!": ".",
    ";": ".",
    "\n": ".",
    "\u3002": ".",
    "\uff01": ".",
    "\uff1b": ".",
    "\u2026": ".",
    "\u2014": ".",
    "\u2192": "->",
}

# Pictures that add nothing to words: smiles, applause, food, plants and animals. Any other may turn
# a sentence round (a thumb down, laughter, a white flag), and is a word that no pattern has.
_CHEER = re.compile(
    "[\U0001f600\U0001f601\U0001f603\U0001f604\U0001f607\U0001f60a-\U0001f60e\U0001f642"
    "\U0001f917\U0001f920\U0001f973\u263a\U0001f44c\U0001f44d\U0001f44f\U0001f4aa\U0001f64c"
    "\U0001f64f\U0001f389\U0001f525\U0001f4af\U0001f680\U0001f3af\U0001f4b0\U0001f32d-\U0001f37f"
    "\U0001f400-\U0001f43f\U0001f950-\U0001f97f\U0001f9c0-\U0001f9cb\u2705\u2714\u2728\u2764"
    "\u2b50\ufe0f]"
)

_NUMBER_SIGN = re.compile(r"\bno\. (?=[0-9])")  # "onion no. 3" denies nothing

_list = str.split
_UNITS = _list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = _list("twenty thirty forty fifty sixty seventy eighty ninety")
_NUMBERS = {word: i for i, word in enumerate(_UNITS)}
_NUMBERS |= {word: 20 + 10 * i for i, word in enumerate(_TENS)}
_ORDINALS = _list("first second third fourth fifth sixth seventh eighth ninth tenth")
_RANKS = {word: i for i, word in enumerate(_ORDINALS, start=1)}
_NUMERALS = {
    f"{i}{('th', 'st', 'nd', 'rd')[i if i < 4 else 0]}": word for word, i in _RANKS.items()
}


def tokens(text: str) -> list[str]:
    """The words, numbers and signs of a sentence, in lower case. Names with underscores and words
    with hyphens come apart; commas, quotation marks and round brackets are left out; what ends a
    sentence is "."; a minus stays with its number, and "twenty-five" is "25"."""
    found: list[str] = []
    text = text.lower().replace("\u2019", "'")
    if not text.isascii():
        text = _CHEER.sub(" ", text)
    if "no. " in text:
        text = _NUMBER_SIGN.sub("number ", text)
    for match in _TOKEN.finditer(text):
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        token = _STOPS.get(match[0], match[0])
        if token in _DROPPED or (token == "." and found[-1:] in ([], ["."])):
            continue
        if token in "-\u2013":
            # A hyphen within a word, or the mark of a list; before a number it is a minus.
            if (before.isalpha() and after.isalpha()) or (not found and after.isspace()):
                continue
            token = "-"
        signed = match["number"] and found[-1:] == ["-"] and before in ("-", "\u2013")
        if signed and not text[match.start() - 2 : match.start() - 1].isalnum():
            found[-1] = f"-{token}"
            continue
        if 0 < _NUMBERS.get(token, 0) < 10 and found[-1:] and found[-1] in _TENS:
            found[-1] = str(_NUMBERS[found[-1]] + _NUMBERS[token])
            continue
        found.append(token)
    return found


# Words that say the same as another one in every game, more loosely; patterns hold the plain word.
# None is also the past of a verb ("saw"), or says more than the plain word ("lend", "done").
_LOOSE = {
    "grab": "snag nab snatch swipe pluck",
    "put": "stick pop plonk plop slap shove stuff plunk",
    "throw": "chuck toss fling hurl sling",
    "go": "stroll saunter scoot wander hop trot march dash nip hike amble trek trudge stride tread "
    "hurry sidestep drift pop",
    "hit": "whack smack clobber bash thump wallop slug hunt",
    "chop": "hack",
    "mine": "quarry excavate",
    "drink": "sip gulp slurp swig",
    "make": "whittle assemble fabricate",
    "give": "slip",
    "wait": "linger loiter chill",
    "turn": "swivel swing pivot rotate",
}
_PLAIN: dict[str, list[str]] = {}
for _word, _others in _LOOSE.items():
    for _other in _list(_others):
        _PLAIN.setdefault(_other, []).append(_word)


@functools.lru_cache(maxsize=4096)
def _forms(token: str) -> tuple[str, ...]:
    """A word, and what it may be a plural or an `-ing` form of; numbers in digits, too."""
    forms = [token]
    if token in _NUMBERS:
        forms.append(str(_NUMBERS[token]))
    elif token in _NUMERALS:
        forms.append(_NUMERALS[token])
    if len(token) > 3 and token.endswith("s") and not token.endswith("ss"):
        forms.append(token[:-1])
        if token.endswith("es"):
            forms.append(token[:-2])
        if token.endswith("ies"):
            forms.append(token[:-3] + "y")
    if len(token) > 4 and token.endswith("ing"):
        stem = token[:-3]
        forms += [stem, stem + "e"]
        if stem[-1] == stem[-2]:
            forms.append(stem[:-1])
    return tuple(forms)


@functools.lru_cache(maxsize=4096)
def _loose_forms(token: str) -> tuple[str, ...]:
    """`_forms`, and the plain words for all of them."""
    forms = _forms(token)
    return tuple(dict.fromkeys((*forms, *(w for form in forms for w in _PLAIN.get(form, ())))))


def whole_number(token: str) -> int | None:
    """The whole number that a token is: "12", "-3", "seven"."""
    if token in _NUMBERS:
        return _NUMBERS[token]
    digits = token.removeprefix("-")
    return int(token) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def names(words: Iterable[str], *, values: Iterable[Hashable] | None = None) -> dict[str, Any]:
    """A slot of names: each of `words`, in any spelling, with its value (by default its index)."""
    words = list(words)
    return dict(zip(words, range(len(words)) if values is None else values, strict=True))


# ---- courtesy ------------------------------------------------------------------------------------

# Words without meaning at any place of a sentence.
_SKIPPED = frozenset(
    _list(
        "the a an please pls plz kindly now just then simply quickly quietly carefully gladly "
        "happily swiftly calmly promptly duly hereby humbly cheerfully boldly instantly"
    )
)
_NOUN = "(move|action|choice|answer|decision|play)"
_AIM = "(step|plan|intention|aim|pick|task|job|selection|preference|strategy|approach)"
_WHO = (
    "(chef|captain|skipper|coach|boss|sir|madam|folks|guys|lads|mate|pal|buddy|gentlemen|ladies"
    "|everybody|comrade|my (dear|friend))"
)
_POLITE = (
    "(if i may|if i might|if you please|if you will|with pleasure|by all means|with your leave)"
)
# What is chosen for being best, before and behind the action.
BEST = (
    "(the|my) (most (sensible|natural|useful|obvious|logical|promising|efficient|effective"
    "|productive|reasonable|strategic|profitable|appropriate|beneficial|valuable|prudent)"
    "|best|safest|smartest|wisest|optimal|right|correct|logical|natural|sensible|obvious"
    "|only sensible|appropriate|recommended|suggested|strongest|proper|ideal|preferred) "
    "[next] (thing|move|choice|option|step|action|play|call|course [of action]"
    "|strategy|decision|square|column|skill|answer|response|approach|bet|chance) "
    "[to (do|take|make)] [here|now] "
    "[(is|would be)] [to]"
)
IS_BEST = (
    "(is|seems|looks) the (best|safest|most sensible) (move|choice|option|action|play|thing) "
    "[here|now|for me]",
    "(seems|looks) best [here|now|for me]",
    "(seems|looks|feels|sounds) like [the|a] "
    "(best|right|safest|smart|sensible|logical|obvious|good) "
    "(call|move|choice|option|play|action|idea|thing [to do]) [here|now|for me]",
    "is the right (call|decision) [here|now]",
    "make [the] [(most|perfect|good)] sense [here|now]",
)
_DONE = (
    "(is what (i|we) (do|choose|pick|play|go (with|for))"
    "|is what (i'll|i will|we'll|i want to|i'm going to) do)"
)
_DECIDED = (
    "(i|i'll|i will|i'm going to|i am going to|let me|let's) (play it (safe|cool)"
    "|be (aggressive|careful|patient|cautious|bold|safe|honest|generous|nice)) [and]",
    "(it is|it's) (best|safest|wise|wisest|sensible|smart|smartest) [here|now] to",
    "it makes [the] [(most|perfect|good)] sense [here|now] to",
    "my vote [is]",
    "(i've|i have) thought about it and",
    "that leaves [me] [with] [only] one (thing|option|choice|move|action)",
    "without (delay|hesitation|further thought)",
    "let's go",
    "(i|we|i'll|let me) keep it simple [and]",
)
_HEAD = (
    BEST,
    *_DECIDED,
    "(i|we) [(will|shall|am|choose|pick|select|decide|have decided|take the action)]",
    "(i|i'll|i'm|we|we'll) also",
    "(i'll|i'm|i've decided|we'll|we're) [go with|go for|opt for|choose|do|going (for|with)]",
    "(i'd|i would) (go (with|for)|choose|pick|opt for)",
    "(i'd|i had) better",
    "i (should|ought to) [(now|just|definitely|simply)]",
    "(i|we) [(will|shall)] (opt for|opt to|settle (for|on)|plump for|choose to|go ahead and)",
    "(i|we|i'll|we'll|let me|let's) (start|begin) by",
    "(i've|i have) (chosen|opted|resolved|settled|picked|selected) [(to|for|on)]",
    "(i|we) don't have (much|another|any other) choice",
    "(this|that) should be (safe|fine|ok|okay)",
    "same as before",
    "(i'll|i will|let me|i'm|let's) (try|attempt|trying|attempting) to",
    "[i] (might|may) as well",
    "(i|we|i'll|i'm) (lock in|locking in|confirm|commit to|committing to|elect to|resolve to)",
    "(locking in|committing to|confirmed|decided|in short|short answer|long story short)",
    "(after|upon|on) [careful|some|much|further|due] "
    "(reflection|consideration|deliberation|thought)",
    "with (this|that) in mind",
    "that being said",
    "(under (these|the) circumstances|given the circumstances|in (this|that) case)",
    "(ok|okay|all right|alright|right) then",
    "((i've|i have) made up my mind|my mind is made up)",
    "(there is|there's) nothing better [to do]",
    "off (we|i) go",
    "the play is [to]",
    "(i am|i'm) going",
    "(i|we|i'll) [will] (need to|have to|must|try to|intend to|plan to|am about to|am ready to)",
    "(i would like|i'd like|i want|i wish|i would rather|i'd rather|i prefer|i'd prefer)",
    "(i should like|i would love|i mean|i intend|i propose) to",
    "(i'd love|i would love|i fancy|i'd better|i had better|i'm off to|gonna|i'm (gonna|about to))",
    "(i am|i'm|we are|we're|i'd be|i would be|i'll be|i shall be) "
    "(happy|glad|ready|content|pleased|set|planning|determined) to",
    "[(i am|we are|we're)] off to",
    "(go ahead|let me go ahead|let's go ahead|i'll go ahead) [and]",
    "(i think|i believe)",
    "(let me|let us|let's|allow me to|permit me to)",
    "(i say|i'd say|have to|need to|obviously|clearly|definitely|of course|certainly|absolutely)",
    f"(my|final|best|(here is|here's) my) [final|next|best|first] {_NOUN} "
    "[for (this|my) [next] (turn|step|move)] [is|will be|=]",
    f"(my|the) [next|first|final|best|current] {_AIM} (is|will be)",
    f"(my|the) next {_NOUN} would be [to]",
    f"the ({_NOUN}|option|one) i (want|choose|pick|take|select|prefer|like) is [to]",
    f"({_NOUN}|option|skill) (chosen|selected|taken)",
    f"i (choose|pick|select|take) ({_NOUN}|option)",
    "current (plan|action|move|step|choice) [is]",
    "(the|my) next (logical|sensible|obvious|natural|best) (step|move|action|thing) is [to]",
    "it would be (best|wise|wisest|sensible|smart|safest) to",
    "(i|we) (chose|picked|selected)",
    "(i'll|i will|i'm) (settle for|stick with|sticking with|continue to)",
    "(picking|choosing|selecting)",
    "what (i'll do|i will do|i want to do|i do|i'm going to do) [now|here|next] is [to]",
    "(all|the (only|best) thing) i can do [now|here] is [to]",
    "[it] (looks|seems) (like|that) i (should|have to|need to|must)",
    "[it] (looks|seems) best [here|now] to",
    "(the|my) (safest|best|wisest|smartest) is to",
    f"a (good|reasonable|sensible|solid|safe|decent) ({_NOUN}|option) [here|now] is [to]",
    "(i've|i have) (analysed|analyzed|considered|weighed|assessed|evaluated) "
    "(the (situation|options|board|state|position)|my options|everything) and",
    "(my|the) (analysis|reasoning|assessment) (suggests|indicates) [that] i should",
    "((my|the) (analysis|reasoning|assessment)|this|that|which) leads me to",
    "((that's|that is) why|for (this|that|these) (reason|reasons))",
    "the situation (calls for|requires) me to",
    "(it is|it's) (clear|obvious) [that] i should",
    f"(there is|there's|i have|i only have) [only] one [(sensible|good|reasonable|real|logical)] "
    f"({_NOUN}|thing|option) [to (do|make|take)]",
    f"as my [next] {_NOUN}",
    "(i've|i have) decided on",
    "((it is|it's) my turn|sure thing|yup|happy to|glad to)",
    "(i|we|i'll|i will) select",
    "i vote [(for|to)]",
    "(response|keep it simple|for (now|the moment))",
    "(all things considered|(considering|given) (everything|all (this|that|of (this|that)))"
    "|taking everything into account|to be [on the] safe [side])",
    "(proceed|proceeding) (to|with)",
    "(executing|execute|performing|perform|submitting|selecting)",
    "(right now|at this (point|moment|time|stage))",
    "(without|with no) (further|more|additional|other) (information|details|options)",
    "(no doubt|without [a] doubt|undoubtedly|surely|let's do (this|it))",
    "(my|the) [next|first|final] (choice|pick|decision|preference) (fall|settle|land) (on|upon)",
    "(my|the) (first|next|only|best) thing to do [here] is [to]",
    "(action|answer|move|choice|decision|next|first) [is]",
    "(it is|it's) time [for]",
    "time for",
    "(i|we) [(decided|opt|go)] (for|with|to)",
    "(decision|conclusion|plan|result|verdict) [is|=] [to]",
    "(go|going) (for|with)",
    "(for|on|in|with) (this|my) [next] (turn|move|step|round|action)",
    "this (turn|time|step)",
    "my vote (is|goes) (for|to)",
    "(put me down|count me in|mark me down) for",
    "here (i|we) go",
    "(time|to|so|okay|ok|alright|all right|sure|well|hm|hmm|very well|fair enough|no rush)",
    "(well then|here goes|steady as she goes|no worries|no problem|not to worry|my turn)",
    "without further ado",
    "(yes|yeah|yep|thanks|thank you|hello|hi|hey) [everyone|all|partner|friend|team|there]",
    f"(yes|yeah|yep|right|okay|ok|alright|thanks) {_WHO}",
    f"{_WHO} (i|i'll|i'm|i'd|let me|let us|let's|my)",
    "good (game|luck)",
    "(.|=)",
    _POLITE,
)
_THEY = "(you|they|he|she|(my|the) (opponent|partner|rival|other) [player])"
_TAIL = (
    *IS_BEST,
    _DONE,
    "[the] best (option|choice|move|action)",
    "and thank you",
    "(thanks|thank you|thank you very much|many thanks) [everyone|all|partner|friend|team]",
    "(this|in this|on this|for this) (time|turn|move|step|round|one)",
    "(for now|right now|at once|immediately|here|again|once more|once again|instead|next|today"
    "|this time)",
    "(straight away|right away|straightaway|without (delay|fuss|hesitation|further ado)|first"
    "|for the moment|at this point|at this moment|to begin with|to start with|first of all)",
    f"(it is|[(that is|that's)] (is|that's) my [next|first|final] ({_NOUN}|{_AIM}))",
    f"as my [next|first] ({_NOUN}|{_AIM})",
    f"(as my|for my|with my) [next|first] (turn|{_NOUN}|{_AIM})",
    "(good luck|good game|gg|okay|ok|.)",
    "no rush",
    "(too|also|as well|anyway|anyhow|for the win)",
    "(i think|i believe|i'd say)",
    "(myself|on my own|on the way|along the way)",
    "and (be|i'm|i am) done [with it]",
    "and hope [for the best]",
    "and (that's|that is) (it|that|all)",
    "and finish (the|my|this) (chore|task|job)",
    "and see",
    f"(and|then) [then] (see|watch|wait and see) (what happens [next]|how it goes|what {_THEY} do"
    f"|how {_THEY} (react|respond))",
    "(it is|obviously|clearly|definitely|of course|for sure|certainly)",
    f"[thanks|thank you] {_WHO}",
    "from me",
    "(on my (part|side)|from my (side|end))",
    _POLITE,
)
# Around phrases that name no more than a thing ("bread"): there, other courtesy would make a
# sentence of its own of it ("I'm bread", "time to bread").
_FEW_HEAD = (
    BEST,
    *_DECIDED,
    "i think",
    "(i'd|i would) (say|go (with|for)|pick|choose)",
    "(i|we) [(will|shall)] (choose|select|opt for|go (with|for))",
    "(i'll|we'll|i'd|let's) (choose|select|opt for|go (with|for))",
    "[(i|we|i'll|we'll|let me|let's)] (start|begin) (with|at|in)",
    "(okay|ok|alright|all right|sure|so|well|very well|fair enough|no rush|here goes|next|.|=)",
    "(yes|yeah|yep) [partner|team]",
    f"(yes|yeah|yep|okay|ok|alright) {_WHO}",
    f"(my|the) [final|next|best|first] ({_NOUN}|{_AIM}) [is|will be|=|fall on]",
    _POLITE,
)
_FEW_TAIL = (
    *IS_BEST,
    _DONE,
    "[the] best (option|choice|move|action)",
    "and thank you",
    "(thanks|thank you|thank you very much|many thanks) [everyone|all|partner|friend|team]",
    f"(it is|is my [next|first|final] ({_NOUN}|{_AIM})|.|for now|next|first|this time)",
    "(from|for) me",
    "(anyway|for the win)",
    "(i think|i believe|i'd say)",
    f"[thanks|thank you] {_WHO}",
    _POLITE,
)


# ---- word order ----------------------------------------------------------------------------------

_ME = frozenset(_list("i we"))
_MODALS = frozenset(_list("shall will now then just"))
# What may stand before "I" if the verb comes last: "off to the storage I go".
_BEFORE_ME = frozenset(
    _list(
        "off over back round around into in onto on to toward towards up down out across away "
        "forward forwards left right leftward leftwards rightward rightwards upward upwards "
        "downward downwards backward backwards ahead along north south east west northward "
        "northwards southward southwards eastward eastwards westward westwards straight here "
        "at beside near through under home higher lower sideways next"
    )
)
_NO_FRONT = frozenset(
    _list("then when time turn step round end if win case order until till what that")
)
# After "goes": "the onion goes into the pot".
_GOES = frozenset(_list("into in onto on to down up out back over across"))
_GOING = frozenset(_list("goes lands falls drops slides"))
_NO_THING = frozenset(
    _list("you he she they it who that this there here everyone everybody nobody i we what which")
)
_COUNTED = frozenset(("both", "all", *_UNITS[2:13], *map(str, range(2, 100))))
# With these, "X is what I ..." tells how things are.
_STATES = frozenset(
    _list(
        "see hold have need know want like hate fear see face mean say said hear expect think "
        "am was do believe love"
    )
)
_IRREGULAR = {
    "put": "put", "set": "set", "laid": "lay", "taken": "take", "given": "give", "cut": "cut",
    "sent": "send", "made": "make", "brought": "bring", "thrown": "throw", "built": "build",
    "drunk": "drink", "eaten": "eat", "held": "hold", "left": "leave", "bet": "bet",
    "begun": "begin", "got": "get", "spun": "spin", "hit": "hit", "struck": "strike",
    "dug": "dig", "sown": "sow",
}  # fmt: skip
# "Right" is a direction, too: "right, down" is two moves.
_OPENING = re.compile(
    r"\W*(?:(?:great|good|nice|fine|perfect|excellent|splendid|lovely|brilliant|cool)(?: then)?"
    r"|right(?: then)?(?=\W+(?:i|i'll|i'm|i'd|we|we'll|let|let's|let us|my|a|an|the|time|off) ))"
    r"\s*[,.!;:\u2013\u2014-]+\s+(?=\w)",
    re.I,
)


def orders(words: list[str]) -> Iterator[list[str]]:
    """A sentence in the plain order of words, in each way that it may be a turned one: "an onion is
    what I shall fetch", "off to the pot I go", "in goes the onion", "the onion goes into the pot",
    "let the tomato be chopped"."""
    while words and words[-1] == ".":
        words = words[:-1]
    yield from _kept_up(words)
    yield from _on_the_way(words)
    marks = _TURNED.intersection(words)
    if not marks:
        return
    if "what" in marks:
        yield from _cleft(words)
    if marks & _GOING or ("go" in marks and (words[0] in _COUNTED or words[0] in _GOES)):
        yield from _going(words)
    if "with" in marks:
        yield from _with(words)
    if words[1:3] == ["you", "go"] and len(words) > 3 and words[0] in ("in", "into", "out", "down"):
        yield ["put", *words[3:], words[0]]
    if not _ME.isdisjoint(marks):
        yield from _fronted(words)
    if "be" in marks and words[0] == "let":
        at = words.index("be")
        if 1 < at < len(words) - 1:
            for verb in _infinitives(words[at + 1]):
                yield [verb, *words[1:at], *words[at + 2 :]]


_ONGOING = frozenset(("keep", "start", "begin", "continue", "resume"))


def _kept_up(words: list[str]) -> Iterator[list[str]]:
    """ "I keep on repairing it", "start fixing it": one does it now."""
    for k, word in enumerate(words[:3]):
        if word in _ONGOING:
            doing = k + 2 if words[k + 1 : k + 2] == ["on"] else k + 1
            if doing < len(words) and len(words[doing]) > 4 and words[doing].endswith("ing"):
                yield [*words[:k], *words[doing:]]
            return


def _on_the_way(words: list[str]) -> Iterator[list[str]]:
    """ "I'm still on my way to the sink": one goes there."""
    at = words.index("way") if "way" in words[:6] else 0
    own = words[at - 2 : at] in (["on", "my"], ["on", "our"]) and _UNDERWAY.issuperset(
        words[: at - 2]
    )
    if own and len(words) > at + 2:
        yield ["i", "go", *words[at + 1 :]]


_UNDERWAY = frozenset(_list("i'm we're i am we are still and now"))
_TURNED = _GOING | {"what", "go", "i", "we", "be", "with"}


def _cleft(words: list[str]) -> Iterator[list[str]]:
    at = words.index("what")
    thing, rest = words[: at - 1], words[at + 2 :]
    said = at + 1 < len(words) and words[at - 1 : at] == ["is"]
    if not said or not thing or thing[0] in _NO_THING:
        return
    if words[at + 1] not in ("i", "we", "i'll", "we'll", "i'm"):
        return
    willed = words[at + 1] in ("i'll", "we'll")
    while rest and rest[0] in _MODALS:
        willed, rest = willed or rest[0] in ("shall", "will"), rest[1:]
    for willing in (
        ["am", "going", "to"],
        ["going", "to"],
        ["want", "to"],
        ["would", "like", "to"],
    ):
        if rest[: len(willing)] == willing:
            rest = rest[len(willing) :]
    if not rest or rest[0] in _STATES or (rest[0] == "get" and not willed):
        return
    yield ["i", *rest, *thing]
    if len(rest) > 1:
        yield ["i", rest[0], *thing, *rest[1:]]


def _going(words: list[str]) -> Iterator[list[str]]:
    at = next(k for k, word in enumerate(words) if word in _GOING or word == "go")
    if at + 1 >= len(words) or at == 0:
        return
    where, thing = words[at + 1 :], words[:at]
    if words[at] == "go" and words[0] in _GOES and where[0] not in _COUNTED:
        return
    if words[0] in _GOES:  # "into the water goes a stone"
        where, thing = thing, where
    yield from _moved(thing, where)


def _with(words: list[str]) -> Iterator[list[str]]:
    """ "Into pot A with this onion", "with the onion to pot A"."""
    at = words.index("with")
    if at:
        if words[at + 1 :] == ["it"] and words[0] in _GOES:
            yield ["put", "it", *words[:at]]
        yield from _moved(words[at + 1 :], words[:at])
        return
    to = next((k for k, word in enumerate(words) if k > 1 and word in _GOES), 0)
    if to:
        yield from _moved(words[1:to], words[to:])


def _moved(thing: list[str], where: list[str]) -> Iterator[list[str]]:
    if thing and (thing[0] == "this" or thing[0] not in _NO_THING) and where[0] in _GOES:
        yield ["put", *thing, *where]
        if where[0] in ("to", "over", "back", "across"):
            yield ["carry", *thing, *where]


def _fronted(words: list[str]) -> Iterator[list[str]]:
    at = next((k for k, word in enumerate(words) if word in _ME), 0)
    front, rest = words[:at], words[at + 1 :]
    if not front or not rest or front[0] not in _BEFORE_ME or not _NO_FRONT.isdisjoint(front):
        return
    while rest[1:] and rest[0] in _MODALS:
        rest = rest[1:]
    end = len(rest) - (rest[-1] == ".")
    yield ["i", rest[0], *front, *rest[1:]]
    if end > 1:
        yield ["i", *rest[:end], *front]


def _infinitives(participle: str) -> tuple[str, ...]:
    if participle in _IRREGULAR:
        return (_IRREGULAR[participle],)
    if not participle.endswith("ed") or len(participle) < 5:
        return ()
    stem = participle[:-2]
    return (stem, stem + "e", *([stem[:-1]] if stem[-1] == stem[-2] else []))


def as_own(text: str, me: str) -> str:
    """A sentence in which a player calls itself by its name ("player_0 bets a chip", "near_0 will
    serve"), as of "I". The name of anybody else, or with a verb of the past, stays a report."""
    name = re.escape(me).replace("_", "[_ ]?")
    label = re.match(rf"\W*{name}\W*:\W*(?=\w)", text, re.I)
    if label:  # "player_0: check"
        return text[label.end() :]
    found = re.match(rf"\s*{name}\s+(.+)", text, re.I | re.S)
    if found is None:
        return text
    said, first = found[1], tokens(found[1][:60])[:2]
    if first[:1] in (["will"], ["shall"]) or first == ["would", "like"]:
        return f"I {said}"
    if first[:1] == ["is"] and first[1:] and first[1].endswith("ing"):
        return f"I'm {said[2:].lstrip()}"
    own = first and first[0].isalpha() and first[0].endswith("s") and first[0] not in _THIRD
    return f"I {said}" if own else text


_THIRD = frozenset(_list("is was has does yes its his this thus always"))


# ---- waiting -------------------------------------------------------------------------------------

NEWS = (
    "(change|event|news|something|anything|signal|answer|reply|response|message|what happens"
    "|next (event|change|thing))"
)
UNTIL = (
    "(until|till) ((something|anything) (happen|change|concern (me|us)|matter)"
    "|there is (change|event|news|something new)|it concerns (me|us)|next (event|change))"
)
TIME = (
    "[[for] [just] [(a|an|1|one|this|another)] [(more|little|short|brief|single)] "
    "(step|turn|tick|moment|second|sec|round|bit|while|beat|instant)]"
)
# Patterns of "wait", "keep waiting", "wait until something happens", "wait 5 steps", for the action
# of a world that runs on without an answer.
WAITING = (
    "[(keep|keep on|continue|continue to|go on|still)] wait [(here|there|still|in place|quietly)] "
    f"[(for [(a|an|any|some)] {NEWS} [to (happen|change)]|{UNTIL})]",
    "[(keep|keep on|continue|continue to|go on)] wait [for] {count} [more] "
    "(step|turn|tick|moment|second|sec|round|bit|while)",
    "wait [here] for (my|the|our) (partner|teammate|colleague|friend|other|turn|(partner|teammate)"
    " s turn)",
    "[(keep|keep on)] wait [(moment|sec|bit|while|little|little while|longer|on)]",
    f"(hold on|stand by|stay|do nothing|idle|stay put) {UNTIL}",
    "(hang on|hang about|hang back|hold on|hold still|sit tight|stand by|stand still|stand back"
    "|keep still|keep put|stay put|stay still|stay|remain|bide my time|mark time|linger|tarry) "
    f"[(here|there|where i (am|stand)|in place|right here|right where i am)] {TIME}",
    f"(stay|remain|stand|keep|wait) [exactly|right] (where i (am|stand)|as i am) {TIME}",
    f"(have|take|make) [a] [(short|brief|quick|little|tiny)] (wait|pause|breather) {TIME}",
    f"[(a|1)] (short|brief|quick|little|tiny) (wait|pause|breather) {TIME} [for me]",
    "[just] [one] (1|another|more) (moment|second|step|turn|beat|tick) [more] (here|of waiting)",
    "(sit|wait) [out] (this|1) (one|1|turn|step|round) [out]",
    "(let (this|1|my) (turn|step) (pass|go by)|(pass|skip) (this|my) (turn|step))",
)


# ---- phrases -------------------------------------------------------------------------------------


class Reading(NamedTuple):
    """What a sentence means: the phrase's meaning, and the values of its slots by label."""

    meaning: Any
    values: dict[str, Any]


Slot = Callable[[list[str], int], Iterable[tuple[Hashable, int]]]


class _Node:
    """A state of the automaton: where a word, a slot or nothing leads to."""

    def __init__(self) -> None:
        self.words: dict[str, list[_Node]] = {}
        self.slots: list[tuple[str, str, _Node]] = []  # label, slot, where to
        self.free: list[_Node] = []
        self.meanings: list[Any] = []


_PIECE = re.compile(r"\s*([()\[\]|]|\{[^{}]*\}|[^\s()\[\]|{}]+)")


class Grammar:
    """The phrases of a game.

    Args:
        phrases: meaning -> its patterns, or pairs of both.
        slots: name -> words with their values (phrases of several words are allowed), or a function
            of the words of a sentence and a place among them that yields each (value, number of
            words) that the slot can take from there. `n` (a whole number), `count` (also "a", "an")
            and `ordinal` ("first", "2nd") are there.
        courtesy: whether "I will ...", "please" and the like may stand around a phrase.
        keep: words that are no courtesy here, since they mean something.
        short: phrases that name no more than a thing ("bread"); only a few words of courtesy may
            stand around them.
    """

    def __init__(
        self,
        phrases: Mapping[Any, Iterable[str]] | Iterable[tuple[Any, Iterable[str]]],
        slots: Mapping[str, Mapping[str, Any] | Slot] | None = None,
        *,
        courtesy: bool = True,
        keep: Iterable[str] = (),
        short: Mapping[Any, Iterable[str]] | Iterable[tuple[Any, Iterable[str]]] = (),
    ):
        self._cache: dict[str, list[Reading]] = {}
        self._skipped = _SKIPPED - frozenset(keep) if courtesy else frozenset()
        self._slots = {name: _slot(words) for name, words in (slots or {}).items()}
        kept = frozenset(keep)
        self._starts: list[_Node] = []
        self._tails: set[_Node] = set()
        for given, head, tail in ((phrases, _HEAD, _TAIL), (short, _FEW_HEAD, _FEW_TAIL)):
            start, body, end = _Node(), _Node(), _Node()
            start.free.append(body)
            if courtesy:
                for node, lines in ((start, head), (end, tail)):
                    for line in lines:
                        self._add(line, node, kept).free.append(node)
            for meaning, patterns in given.items() if isinstance(given, Mapping) else given:
                for pattern in patterns:
                    last = self._add(pattern, body)
                    last.meanings.append(meaning)
                    last.free.append(end)
            self._starts.append(start)
            self._tails.add(end)

    def read(
        self, sentence: str, slots: Mapping[str, Mapping[str, Any] | Slot] | None = None
    ) -> list[Reading]:
        """Everything that a sentence means as a whole, without repetitions; empty if nothing.
        `slots` stand in for slots of the same names in this sentence."""
        cached = self._cache.get(sentence) if slots is None else None
        if cached is not None:
            return list(cached)
        found = self._read_all(sentence, slots)
        if slots is None and len(sentence) <= 200:  # scripts say the same again and again
            if len(self._cache) >= _MOST_CACHED:
                self._cache.clear()
            self._cache[sentence] = found
        return list(found)

    def _read_all(
        self, sentence: str, slots: Mapping[str, Mapping[str, Any] | Slot] | None
    ) -> list[Reading]:
        """What a sentence means, in all orders that its words may have been turned to."""
        words = tokens(sentence)
        found = self._read(words, slots)
        opening = _OPENING.match(sentence)
        others = [tokens(sentence[opening.end() :])] if opening else []
        for start in (words, *others[:]):
            others += orders(start)
        for other in others:
            found += [reading for reading in self._read(other, slots) if reading not in found]
        return found

    def _read(
        self, words: list[str], slots: Mapping[str, Mapping[str, Any] | Slot] | None
    ) -> list[Reading]:
        if not 0 < len(words) <= MOST_WORDS:
            return []
        known = self._slots | {name: _slot(words) for name, words in (slots or {}).items()}
        # At each place, the nodes that are reached there, with what was read on the way.
        Path = tuple[_Node, tuple[tuple[str, Any], ...], Any]
        places: list[dict[Path, None]] = [{} for _ in range(len(words) + 1)]
        places[0].update(((start, (), None), None) for start in self._starts)
        for i, word in enumerate([*words, ""]):
            paths, counted = list(places[i]), False
            # A loose verb alone may mean something else: "I'll stick".
            last = i + 1 >= len(words) or words[i + 1] == "."
            forms = _forms(word) if last else _loose_forms(word)
            for path in paths:  # grows
                node, values, meaning = path
                for other in node.free:
                    said = node.meanings if other in self._tails and node.meanings else [meaning]
                    for what in said:
                        new = (other, values, what)
                        if new not in places[i]:
                            places[i][new] = None
                            paths.append(new)
                if len(paths) > _MOST_PATHS:
                    return []
                if i == len(words):
                    continue
                for form in forms:
                    for other in node.words.get(form, ()):
                        places[i + 1][other, values, meaning] = None
                for label, slot, other in node.slots:
                    for value, length in _values(known.get(slot), slot, words, i):
                        new = (other, (*values, (label, value)), meaning)
                        places[i + length][new] = None
                        counted = True
            if word in self._skipped and not counted:  # "a" may be a number
                places[i + 1].update(dict.fromkeys(paths))
        found = [
            Reading(what, dict(values)) for node, values, what in places[-1] if node in self._tails
        ]
        return [reading for k, reading in enumerate(found) if reading not in found[:k]]

    def meaning(self, sentence: str) -> Any:
        """The one thing that a sentence means; None if it means nothing, or several things."""
        found = {reading.meaning for reading in self.read(sentence)}
        return found.pop() if len(found) == 1 else None

    def _add(self, pattern: str, start: _Node, keep: frozenset[str] = frozenset()) -> _Node:
        """The node at the end of a pattern that begins at `start`."""
        pieces = _PIECE.findall(pattern)
        end, rest = self._sequence(pieces, 0, start, pattern, keep)
        if rest != len(pieces):
            raise ValueError(f"{pattern!r}: a bracket or bar too much at {pieces[rest]!r}")
        return end

    def _sequence(
        self, pieces: list[str], i: int, node: _Node, pattern: str, keep: frozenset[str]
    ) -> tuple[_Node, int]:
        while i < len(pieces) and pieces[i] not in ")]|":
            piece, after = pieces[i], _Node()
            if piece in "([":
                close, start, last = ")]"["([".index(piece)], node, "|"
                while last == "|":
                    end, i = self._sequence(pieces, i + 1, start, pattern, keep)
                    end.free.append(after)
                    last = pieces[i] if i < len(pieces) else ""
                if last != close:
                    raise ValueError(f"{pattern!r}: {close!r} is missing")
                if piece == "[":
                    start.free.append(after)
            elif piece[0] == "{":
                label, _, slot = piece[1:-1].rpartition(":")
                if slot not in ("n", "count", "ordinal") and slot not in self._slots:
                    raise ValueError(f"{pattern!r}: there is no slot {slot!r}")
                node.slots.append((label or slot, slot, after))
            else:
                for word in tokens(piece) or [piece]:
                    step = _Node()
                    if word not in keep:
                        node.words.setdefault(word, []).append(step)
                    node = step
                node.free.append(after)
            node, i = after, i + 1
        return node, i


def _values(known: Any, slot: str, words: list[str], i: int) -> Iterator[tuple[Any, int]]:
    """(value, number of words) of what a slot can take from place `i` on."""
    word = words[i]
    if callable(known):
        yield from known(words, i)
    elif slot in ("n", "count"):
        number = whole_number(word)
        if number is not None:
            yield number, 1
        elif slot == "count" and word in ("a", "an"):
            yield 1, 1
    elif slot == "ordinal":
        if word in _RANKS:
            yield _RANKS[word], 1
        elif word[-2:] in ("st", "nd", "rd", "th") and word[:-2].isdigit():
            yield int(word[:-2]), 1
    else:
        branches = [known]
        for length, word in enumerate(words[i:], start=1):
            branches = [b[form] for b in branches for form in _forms(word) if form in b]
            if not branches:
                return
            for branch in branches:
                if None in branch:
                    yield branch[None], length


def _slot(words: Mapping[str, Any] | Slot) -> Any:
    return words if callable(words) else _tree(words)


def _tree(words: Mapping[str, Any]) -> dict[Any, Any]:
    """A tree of words, with the value under None where a name ends."""
    tree: dict[Any, Any] = {}
    for name, value in words.items():
        branch = tree
        for word in tokens(name):
            branch = branch.setdefault(word, {})
        branch[None] = value
    return tree
