"""Pronouns in answers about a home: "shelf 1 has a mug, so I go there" is "..., so I go to
shelf 1"; likewise "it", "in there" and "that shelf"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING, Any

from manyhands.core.reading.pronouns import MOST, Mention, Verbs, before_it, mentions, named
from manyhands.envs.home.naming import Names
from manyhands.envs.home.referents import numbered, sees
from manyhands.envs.home.scene import Facts, held

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

_OPENING = "open open_up pull_open close shut search check explore look_in look_inside look_into"
_HANDLING = (
    "take get grab pick lift turn switch pick_up fetch collect retrieve take_out put place drop "
    "put_down set_down deposit bring carry deliver pack clean wash rinse scrub heat warm heat_up "
    "microwave cook cool chill cool_down slice cut"
)
_NEARING = (
    "go_to go_over_to walk_to walk_over_to walk_up_to step_to step_over_to step_up_to head_to "
    "head_over_to head_for move_to move_over_to get_to make_for set_out_for approach visit "
    "return_to go_back_to"
)
_LOOKING = "look have_a_look take_a_look take_a_peek search explore check"
_DOUBLED = frozenset(("put", "set", "get", "cut", "grab", "drop", "shut"))


def _with_ing(verbs: str) -> str:
    """A list of verbs with their `-ing` forms: "pick_up picking_up"."""
    found = []
    for verb in verbs.split():
        first, *rest = verb.split("_")
        stem = first + first[-1] if first in _DOUBLED else first.removesuffix("e")
        found += [verb, "_".join([f"{stem}ing", *rest])]
    return " ".join(found)


def _before_there(kind: str) -> Verbs:
    """ "Have a look in there", "search there"."""
    listed = "|".join(verb.replace("_", " ") for verb in _with_ing(_LOOKING).split())
    return Verbs(
        kind, re.compile(rf"\b(?P<way>(?:{listed})(?: in| inside| around)?) there\b", re.I)
    )


def _of_them(verbs: Verbs) -> Verbs:
    """The same before "them": "the tissues"."""
    return verbs._replace(pattern=re.compile(verbs.pattern.pattern.replace(" it", " them"), re.I))


_HANDLED = before_it("thing", _with_ing(_HANDLING))
_OF_IT = (
    before_it("place", _with_ing(_OPENING)),
    _HANDLED,
    _of_them(_HANDLED),
    _before_there("place"),
    _before_there("room"),
)
_NEAR_IT = tuple(before_it(kind, _with_ing(_NEARING)) for kind in ("place", "thing"))
_THAT = re.compile(r"\b(?:that|this|the same|that same|this same)\s+\Z", re.I)

_WALK = r"(?:walk|step|go|head|move|get|pop|nip|wander|hop|stroll|run|come|peek|slip)"
_ON_FOOT = rf"(?:{_WALK}|{_WALK}ing|popping|nipping|running|slipping)"
# Other ways to say "I go there" and "I take it".
_PLAINER: tuple[tuple[re.Pattern[str], str], ...] = (
    *((re.compile(rf"(?<=\bso )(?:{pattern})(?: (?:next|first|now))?(?=\W*$)", re.I), plain)
    for pattern, plain in (
        (
            r"(?:that|this|it)(?:'s| is) (?:my |the )?(?:next|first) "
            r"(?:stop|destination|target|place|goal|one|place to (?:look|check|search|be))",
            "I go there",
        ),
        (
            r"(?:that|this)(?:'s| is) where (?:i'm|i am|i'll|i will|i|we|we're)"
            r"(?: (?:go|am|be|head|walk|look|search|going|headed|heading|walking|off to|bound))+",
            "I go there",
        ),
        (r"(?:that|this)(?: one)? (?:comes|goes|is)(?: up)? (?:next|first)", "I go there"),
        (r"(?:that|this|it)(?:'s| is) (?:up )?next", "I go there"),
        (r"it (?:comes|goes) (?:with me|along(?: with me)?)", "I take it"),
    )),
    (re.compile(rf"\b{_ON_FOOT}(?: (?:on|right|straight|over))? in there\b", re.I), "go there"),
    (re.compile(rf"\b{_ON_FOOT} over(?: there)?(?= (?:with|to (?:see|check|look))\b)", re.I),
     "go there"),
    (re.compile(r"\b(?:step|pop|nip|wander|hop|stroll|slip)(?:ping|ing)?(?: over| across)? there\b",
                re.I), "go there"),
)  # fmt: skip
_ONE = re.compile(r"\bthe (first|second|third|fourth|1st|2nd|3rd|4th) one\b", re.I)
# "A fork is still on counter top 2": where it is to be taken.
_LIES_ON = re.compile(
    r"\s+(?:is|lies|sits|stands|rests|was|remains|is left)(?: \w+)? (?:on|in|at|inside)"
    r"(?: the)?\s+",
    re.I,
)


class _Name:
    """The names of places, rooms and objects that begin at a word, as `mentions` asks for them."""

    def __init__(self, home: Home, facts: Facts, agent: int):
        catalog = home.catalog
        self.facts, self.agent = facts, agent
        self.kinds = (
            ("place", Names(catalog.receptacle_kinds), facts.kind),
            ("room", Names(catalog.room_kinds), facts.room_kind),
            ("thing", Names(catalog.object_kinds), facts.object_kind),
        )

    def __call__(self, said: list[str], start: int) -> Iterator[tuple[str, frozenset[int], int]]:
        for kind, names, slots in self.kinds:
            for found, length in names(said, start):
                meant = numbered(slots, found)
                if kind == "thing":
                    meant = [o for o in meant if sees(self.facts, self.agent, o)]
                yield kind, frozenset(meant), length
                if kind == "place":
                    for rooms, more in self._in_room(said, start + length):
                        inside = frozenset(c for c in meant if self.facts.room[c] in rooms)
                        yield kind, inside, length + more

    def _in_room(self, said: list[str], start: int) -> Iterator[tuple[list[int], int]]:
        """The room that is told behind a place: "in this room", "in the kitchen"."""
        if said[start : start + 3] == ["in", "this", "room"]:
            yield self.facts.player_room[self.agent : self.agent + 1], 3
        first = start + 1 + (said[start + 1 : start + 2] == ["the"])
        if said[start : start + 1] == ["in"] and first < len(said):
            for found, length in self.kinds[1][1](said, first):
                yield numbered(self.facts.room_kind, found), first - start + length


def with_names(home: Home, facts: Facts, agent: int, text: Any, listed: Iterable[str]) -> Any:
    """An answer with the names that its pronouns stand for.

    Args:
        listed: the player's choices in words, as in `core/reading/pronouns.py`.
    """
    if not isinstance(text, str) or len(text) > MOST:
        return text
    name = _Name(home, facts, agent)
    for pattern, plain in _PLAINER:
        text = pattern.sub(plain, text)
    text = _lying(_nth_one(_that_one(text, name), name), name)
    of_it = _OF_IT + (_NEAR_IT if _near(home, facts, agent, text, name) else ())

    def here(meaning: Set[int]) -> bool:
        return agent < home.players and meaning == {facts.at[agent]}

    return named(text, name, of_it, ("place", "room"), here, listed)


def _near(home: Home, facts: Facts, agent: int, text: str, name: _Name) -> bool:
    """Whether going to "it" leads to one place, be it a thing there or the place itself."""
    if not any(verbs.pattern.search(text) for verbs in _NEAR_IT):
        return False
    found = list(mentions(text, name))
    places = [mention.meaning for mention in found if mention.kind == "place"]
    mine = {o for o in held(home, facts, agent) if o is not None}
    things = [m.meaning - mine for m in found if m.kind == "thing"]
    at = [{facts.known_place[agent][o] for o in meant} for meant in things]
    return all(not there or any(there & place for place in places) for there in at) or not places


def _that_one(text: str, name: _Name) -> str:
    """An answer in which "that drawer" is the one drawer that is named before by its number."""
    if not re.search(r"\b(?:that|this|same) ", text, re.I):
        return text
    known: list[Mention] = []
    parts, end = [], 0
    for mention in mentions(text, name):
        before = [m for m in known if m.kind == mention.kind and m.meaning <= mention.meaning]
        known.append(mention)
        pointed = _THAT.search(text, 0, mention.start)
        numbered_itself = text[mention.end - 1].isdigit()
        if numbered_itself or not pointed or len({m.meaning for m in before}) != 1:
            continue
        if len(before[0].meaning) == 1:
            parts += [text[end : pointed.start()], text[before[0].start : before[0].end]]
            end = mention.end
    return "".join([*parts, text[end:]])


def _nth_one(text: str, name: _Name) -> str:
    """ "An armchair is left, so I go to the first one": the first armchair."""
    found = _ONE.search(text)
    if not found:
        return text
    before = [m for m in mentions(text[: found.start()], name) if m.kind in ("place", "thing")]
    words = {text[m.start : m.end].lower() for m in before}
    if len(words) != 1 or not next(iter(words)).replace(" ", "").isalpha():
        return text
    return f"{text[: found.start()]}the {found[1]} {words.pop()}{text[found.end() :]}"


def _lying(text: str, name: _Name) -> str:
    """ "A fork is on desk 2, so I get it": the fork from desk 2."""
    if not _HANDLED.pattern.search(text) or not _LIES_ON.search(text):
        return text
    found = list(mentions(text, name))
    for thing, place in itertools.pairwise(found):
        between = text[thing.end : place.start]
        if (thing.kind, place.kind) == ("thing", "place") and _LIES_ON.fullmatch(between):
            said = f"{text[thing.start : thing.end]} from {text[place.start : place.end]}"
            return _HANDLED.pattern.sub(rf"\g<way> {said}", text)
    return text
