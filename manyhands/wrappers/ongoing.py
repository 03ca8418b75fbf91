"""Answers that go on with the skill under way: "as before", "keep chopping", "still on my way"."""

from __future__ import annotations

from collections.abc import Iterable

from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.words import tokens

_UNDERWAY = (
    "([(that is|that's|which is)] [(already|still|now|currently)] "
    "(under way|underway|in progress|going on|running)"
    "|[that] i (started|began|have started|'ve started|have begun|am doing))"
)
_IT = (
    "(it|this|that|what i am doing|what i'm doing|what i was doing|as before|as planned|same|"
    "what i (started|began|have started|'ve started)|where i left off"
    "|[my] [same|current|last] (skill|plan|task|action|thing|option)"
    f"|[my] [same|current] (skill|plan|task|action|thing|option|work|job|move) {_UNDERWAY})"
)
# What is under way is a way, and no rest.
_TRIP = f"[my] [same|current] (flight|trip|walk|way|course|trajectory|route|path) [{_UNDERWAY}]"
_KEEP = "(continue|go on|keep going|carry on|keep on|proceed|resume)"
_SPOT = (
    "[(that|this|same|planned|chosen)] (spot|place|position|target|destination|point|location|goal)"
)
_SAME_WAY = (
    "[(there|[in|along|on] (that|this|same|current) (direction|way|course|line|path|heading)"
    f"|(to|for|toward) {_SPOT})]"
)
_GO = "(go|fly|walk|move|head|run|travel|drive|march|wander|drop back|fall back|back off|retreat)"
_STICK = (
    "(continue [(with|to|on|at)]|keep [(on|at|with|up|to)]|carry on [with]|go on [with]"
    "|keep going [(with|for)]|proceed (with|to)|resume|stick (with|to)|stay (with|on|at)"
    "|persist (in|with)|(press|push|get) on with|onward with|keep busy [with]|maintain|hold)"
)
_MINE = "[(my|our|this|that)] [(same|current)]"
_GO_ON = Grammar(
    {
        True: [
            f"{_KEEP} [[with|doing] {_IT}]",
            f"(keep|keep on) (doing|at) {_IT}",
            "keep [(to|with)] [(my|our)] [(same|current)] (skill|plan|task|action|option|play)",
            "keep (it|on) going",
            "again",
            "repeat",
            f"(stick|stay) with {_IT}",
            "keep it up",
            "[and] on (we|i) go",
            "[next step] [more] of the same",
            "same [(skill|thing|option|plan|play|task|action)] [(again|as before)]",
            "(do|repeat) (same [thing|skill|option]|it again|that again)",
            "as before",
            "[and] on (i|we) go",
            "[(i'm|i am|we're|we are)] still (at it|on it|on my way)",
            "(next|one more|another) step of (it|this|that|same [(skill|plan|task|thing)])",
            "no change [of (plan|course|mind)] [(here|needed|required|necessary)]",
            "[no change [.]] (finish|complete|see through|stick with|keep to) (my|the) "
            f"[same|current] (skill|plan|task|action|move|job) [{_UNDERWAY}]",
            "[no change [.]] (finish|complete|see through) "
            "(what|[my] (move|action|job|task|skill|thing) [that]) "
            "[(i|i've|i have)] (started|began|am doing|'m doing|begun)",
            "see (it|this|that) through",
            "let (it|[my] [current] (skill|plan|action)) (run|run on|go on|continue|play out)",
            "(leave|keep) (everything|it|things|[my] (plan|course)) (as (it is|they are)"
            "|unchanged)",
        ],
        "trip": [
            f"{_KEEP} [(with|on)] {_TRIP}",
            f"(stick|stay|keep|remain) (with|to|on) {_TRIP}",
            f"[(i'm|i am|we're|we are)] still on (my|our) way [(there|over|(to|toward) {_SPOT})]",
            f"[(i'm|i am|we're|we are)] still {_GO} {_SAME_WAY}",
            f"(keep|keep on|continue|carry on|go on|just keep) {_GO} {_SAME_WAY}",
            "(go|move|press|push|carry|keep|head|walk|travel|fly) on [in|along] "
            "(that|this|same|current) (direction|way|course)",
            "(onward|onwards|press on|push on|forge ahead|steady on)",
            "(maintain|hold|keep|stay on|stick to|keep to) [(my|our|this|same|current)] "
            "(course|heading|direction|track)",
        ],
    }
)
# With what is under way told: "keep chopping", "stay with the block", "mine on".
_DOING = Grammar(
    {
        True: [
            f"{_STICK} {_MINE} {{deed}} [(up|on|away)] {_SAME_WAY} [(at|by|near) net]",
            f"({_STICK}|finish|complete|see through|follow through (with|on)|go through with) "
            f"{_MINE} {{deed}} {_UNDERWAY}",
            f"{_STICK} [(doing|with)] {_MINE} {{deed}} for [(some|more|a|1)] "
            "(more|while|bit|longer)",
            "[(just|i'm|i am|we're|we are)] still (busy|occupied|engaged) [(with|in|at)] {deed}",
            "{deed} (on|further|some more|away|onward|as before)",
            f"{_STICK} {_MINE} {{deed}} (as before|as planned|until [i (am|'m)] done)",
        ]
    },
    {"deed": {"nothing known": 0}},
)
# Verbs of names that are said of too much.
_PLAIN = frozenset(str.split("go give wait step use take get put place make do move request"))
_ALSO = {
    "spike": ("kill", "attack", "smash"),
    "hover": ("hang", "float"),
    "fetch": ("fetching",),
    "explore": ("exploration", "scout", "search"),
}


def goes_on(words: str) -> bool | str | None:
    """Whether a sentence goes on with what is under way, whatever that is; "trip" if only with what
    leads somewhere."""
    meanings = {reading.meaning for reading in _GO_ON.read(words)}
    return True if True in meanings else "trip" if meanings else None


def goes_on_with(words: str, name: str, doing: Iterable[str] = ()) -> bool:
    """Whether a sentence goes on with the skill of this name, for which there may be other words
    (`doing`), and names it."""
    verb, *rest = tokens(name)[:2] or [""]
    deeds = set(doing)
    if verb.isalpha() and verb not in _PLAIN:
        deeds |= {verb, *_ALSO.get(verb, ())}
        if rest and rest[0].isalpha() and rest[0] not in ("to", "until"):
            deeds.add(f"{verb} {rest[0]}")
    if not deeds:
        return False
    return bool(_DOING.read(words, {"deed": dict.fromkeys(deeds, 1)}))
