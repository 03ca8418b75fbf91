"""Reading an answer: the one action that it means.

A player may say an action as `choices` do ("take mug 2 from desk 1"), as ALFWorld's commands do
("put mug 2 in/on shelf 1", "use desklamp 1"), or otherwise ("grab the mug", "put it down"). What a
sentence names besides, a place or a tool, is checked against what is there: said of anything else,
it is refused.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any

from manyhands.core.answers import REASON, Answer, decide, instead, settled
from manyhands.core.choices import without_effect
from manyhands.core.env import IllegalAction
from manyhands.core.grammar import Grammar, Reading
from manyhands.core.phrases import WAITING
from manyhands.core.pronouns import before_it, named
from manyhands.envs.home import alfworld
from manyhands.envs.home.catalog import Catalog, words
from manyhands.envs.home.naming import Named, Names
from manyhands.envs.home.scene import (
    Facts,
    article,
    facts_of,
    goal_kind,
    handled,
    held,
    inside,
    joined,
    lamp_at,
    open_actions,
    place_of,
    preposition,
    the,
)
from manyhands.envs.home.state import HOLDS, NONE, SLICED, Actions, HomeState

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

SHOWN = 5  # choices that a refusal names at most
LOOKS = ("look", "inventory", "examine", "help")  # ALFWorld's commands that change nothing

# ---- the phrases ---------------------------------------------------------------------------------

_IT = "(it|that|this|them|object|item|thing|what i (hold|carry|have|am holding|am carrying))"
_THING = f"({{thing}}|{_IT})"
_IN = (
    "(in|on|into|onto|in / on|in or on|on or in|inside|inside of|in to|on to|to|at|upon|"
    "back in|back on|back into|back onto|over to|down on|down in|down onto|down at|away in)"
)
_FROM = "(from|out of|off|off of|in|on|at|inside|from inside|from in|from on)"
_WITH = "(with|in|at|using|by|on|by using|under|inside|via|through|use)"
_AFTER = "[(first|again)]"


@functools.lru_cache(maxsize=8)
def grammar(catalog: Catalog) -> Grammar:
    """The phrases of homes with a catalog; they do not depend on the state."""
    slots: dict[str, Any] = {
        "thing": Names(catalog.object_kinds),
        "place": Names(catalog.receptacle_kinds),
        "room": Names(catalog.room_kinds),
    }
    slots["side"] = {"left": 0, "right": 1}
    phrases: list[tuple[Any, Sequence[str]]] = [
        (
            "go",
            [
                "(go|walk|move|head|run|step|proceed|return|travel|navigate|go back|come back|"
                "head back|walk back|go over|walk over|head over|move over|get|get over|make my way"
                "|go on|go straight|go right|be off|hurry over|continue|switch|move back|going back"
                f"|go across) (to|towards|toward|into|for|over to|in|back to) {{place}} {_AFTER} "
                "[for {aim:thing}]",
                f"(goto|visit|approach|reach|check out|try|check) {{place}} {_AFTER}",
                "(go|walk|move|head) (to|towards|toward) {place} to (look|search|check|see)",
                "go {place}",
                "(go|walk|head|move|run|go back|return|proceed) [over] to {place} (in|inside|of) "
                "{room}",
                "(goto|visit|approach|check out|try|check|search) {place} (in|inside|of) {room}",
                "(go|walk|head) and (check|inspect|see|search) {place}",
                "go (check|see|inspect|search) {place}",
                "(be|stand|arrive) at {place}",
                "not {out:place} [.] [but] {place}",
            ],
        ),
        (
            "room",
            [
                "(go|walk|move|head|run|step|proceed|return|travel|navigate|go back|come back|"
                "head back|walk back|go over|walk over|head over|move over|get|get over|make my way"
                "|go on|continue|switch|move back) (to|towards|toward|into|for|over to|in|back to|"
                f"inside|through) [middle of] {{room}} {_AFTER}",
                "take {room}",
                "(go|walk|move|head|off|be off) (to|towards|toward|into) {room} to "
                "(look|search|explore) [(around|there|in it)]",
                f"(goto|visit|approach|reach|enter|try) {{room}} {_AFTER}",
                "go {room}",
                "not {out:room} [.] [but] {room}",
            ],
        ),
        (
            "open",
            [
                "open [up] [door of] ({place}|it|this|that|here|door) [door]",
                "({place}|it) (has|needs) to be opened [first]",
                "open [up]",
                "pull open ({place}|it|this)",
                "pull ({place}|it|this) open",
                "open (it|this|{place}) up",
                "open ({place}|it) to (look (in|inside)|(see|check) (what is|(whether|if) "
                "[there is] (a|an|some) {aim:thing} [is]) (in it|inside|in there|there))",
            ],
        ),
        (
            "close",
            [
                "(close|shut) [up] [door of] ({place}|it|this|here) [door]",
                "(close|shut) [again]",
                "(close|shut) ({place}|it) [up] again",
            ],
        ),
        (
            "take",
            [
                f"[go] [and] (take|get|grab|pick|pick up|fetch|collect|retrieve|remove|lift|"
                f"obtain|acquire|withdraw) {{thing}} [up] [{_FROM} ({{place}}|there|here|it)]",
                "(take|pick up|grab|hold|get) ({thing}|it) [up] (in|with|into) [(my|the)] "
                "[(free|empty)] [{side}] hand",
                f"(take|pull|get|lift) out {{thing}} [{_FROM} {{place}}]",
                "(take|pull|get|bring) {thing} out [of {place}]",
                f"pick {{thing}} [up] [{_FROM} {{place}}]",
                f"(take|get|grab|pick up|fetch|collect) (it|that|this) [{_FROM} {{place}}]",
                "(take|get) it out [of {place}]",
                f"pick (it|that|this) up [{_FROM} {{place}}]",
            ],
        ),
        (
            "put",
            [
                f"(put|place|set|lay|drop|leave|move|insert|deposit|store|return|stow|rest|drop off"
                f"|put down|set down|put back|place back|put away|lay down) {_THING} "
                f"[(down|back|away|off|here|there)] {_IN} ({{place}}|{{box:thing}}|here|there|it)",
                f"(put|place|set|lay|drop) down {_THING} [{_IN} ({{place}}|here|there)]",
                f"(put|place|set|lay) {_THING} (down [here]|here|down there|back here)",
                f"(put|place|set|lay|drop) [down] {_THING} [down] with ({{with:thing}} [in it]|"
                f"its content|what is in it) {_IN} ({{place}}|here)",
                f"(put|place|set|lay|drop) [down] {_THING} [down] [(from|in|of|with)] my {{side}} "
                "hand [down]",
                "(put|place|set|lay|drop) [down] (what is|what i hold|thing|object|one) in my "
                "{side} hand [down]",
                f"(drop|deposit|get rid of|let go of) {_THING} [(here|there|off)]",
                f"leave {_THING} here",
                f"(put|place) {_THING} (in|inside)",
            ],
        ),
        (
            "bring",
            [f"(bring|carry|take|deliver) {_THING} [back] [over] (to|into|in|on|onto) "
             "({place}|{room}|{box:thing})"],
        ),
        (
            "pack",
            [
                f"(pack|load|stash|pile|stack) {_THING} [{_IN} ({{box:thing}}|it)]",
                f"pack {_THING} up",
                f"(put|place) {_THING} (in|into|inside) ({{box:thing}})",
            ],
        ),
        (
            "clean",
            [
                f"(clean|wash|rinse|scrub|clean up|wash up|rinse off|wash off|clean off) {_THING} "
                f"[(off|up|clean)] [{_WITH} ({{place}}|here|it)] "
                "[under (tap|faucet|water|running water)]",
            ],
        ),
        (
            "heat",
            [
                f"(heat|warm|heat up|warm up|cook|microwave|reheat) {_THING} [up] "
                f"[{_WITH} ({{place}}|here|it)]",
                f"(make|get) {_THING} hot [{_WITH} {{place}}]",
            ],
        ),
        (
            "cool",
            [
                f"(cool|chill|cool down|refrigerate|cool off|chill down) {_THING} [(down|off)] "
                f"[{_WITH} ({{place}}|here|it)]",
                f"(make|get) {_THING} (cold|cool) [{_WITH} {{place}}]",
            ],
        ),
        (
            "use",
            [
                "(use|toggle|turn on|switch on|light|light up|activate|power on|toggle on|put on) "
                "{thing} [(on|at) {place}]",
                "(turn|switch|toggle|put) {thing} on [(on|at) {place}]",
                "(turn|switch) (it|this) on",
                "(turn|switch) on light",
                "(turn|switch) light on",
                "light on",
            ],
        ),
        (
            "slice",
            [
                "(slice|cut|cut up|slice up|chop) {thing} [up] [(with|using|by using) "
                "{tool:thing}]",
            ],
        ),
        (
            "wait",
            [
                *WAITING,
                "(wait|noop|none|pass|idle|skip|rest|stand still|do nothing|no op|stay put|"
                "no action|hold)",
                "(wait|stay|hold on) [here|there] for (player {n}|they|everyone|all|others|{thing})"
                " [(here|to (come|arrive|act|pass|answer|reply|catch up|finish|leave))]",
                "(wait|stay|remain|hold on|stand still) [(here|there|where i am|put|still)] "
                "(until|till) (player {n}|they|everyone|someone|somebody|all|others) "
                "((has|have|is|are) [been] (moved|left|gone|come|arrived|passed|finished|done|ready"
                "|back|here|answered|replied|acted|gone ahead)|move [on|away]|leave|come [back|over"
                "|by]|arrive|pass|finish|act|answer|reply|go [away|on]|return)",
                "(stay|wait|remain|hold) [(here|there|where i am|in place|still|at my place|put)] "
                "[for] [(one|1|a)] [(turn|step|moment|bit)]",
                "(stay|wait|remain) at {place}",
                "(stay|wait|remain) in {room}",
                "(skip|pass) [(my|this)] (turn|move|step)",
                "do nothing [at all] [(this|for one) (turn|step)]",
            ],
        ),
        ("look", ["look [around] [here]", "look around [(me|room|{room})]", "observe"]),
        (
            "inventory",
            ["[check] [my] inventory", "(check|show) [my] (inventory|hands)", "list inventory"],
        ),
        ("examine", ["(examine|inspect|look at|study) ({thing}|it)",
                     "(look in|look inside|look into) it", "examine"]),
        ("look at", ["(examine|inspect|look at|study|take a look at|have a look at|peek (in|into)"
                     "|look at [what is (in|on)]|see what is (in|on)) {place}"]),
        ("search", ["[go] [and] (search|check|explore|look in|look inside|look into|look through) "
                    "({place}|{room}) [for (a|an|any|some) {aim:thing}]"]),
        ("help", ["help"]),
    ]  # fmt: skip
    return Grammar(phrases, slots)


@functools.lru_cache(maxsize=8)
def bare(catalog: Catalog) -> Grammar:
    """Answers that are no more than a name."""
    slots = {
        "thing": Names(catalog.object_kinds),
        "place": Names(catalog.receptacle_kinds),
        "room": Names(catalog.room_kinds),
    }
    to = "[[(on|over|off|back)] to|into|next [(stop|room|place)] [is]]"
    short = {
        "take": ["{thing}", "not {out:thing} [.] [but] {thing}"],
        "go": [f"{to} {{place}} [in {{room}}]"],
        "room": [f"{to} {{room}}"],
        "wait": ["nothing"],
    }
    return Grammar({}, slots, short=short)


# ---- an answer -----------------------------------------------------------------------------------

_LABEL = re.compile(r"^(?:act|command|cmd)(?: ?\d{1,3})? ?[:>] ?|> ?")
_THOUGHT = re.compile(r"(?:> ?)?(?:think|thought|reason|reasoning)(?: ?\d{1,3})? ?[:>]", re.I)
_ACT = re.compile(r"\s*(?:>\s*(?:act(?: ?\d{1,3})? ?:)?|act(?:ion)?(?: ?\d{1,3})? ?:)\s*(.+)", re.I)


def _transcript(text: Any) -> Any:
    """An answer in the form of ReAct's prompts, lines of thoughts and one "> ..." or "Act 1: ...",
    with that line marked as the action; any other answer as it is."""
    if not isinstance(text, str):
        return text
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or len(lines) > 40:
        return text
    rest = [line for line in lines if not _THOUGHT.match(line)]
    if len(rest) != 1 or len(rest) == len(lines):
        return text
    act = _ACT.fullmatch(rest[0])
    if act:
        return f"ACTION: {act[1]}"
    # A short line alone, behind a thought that is ended.
    apart = rest[0] == lines[-1] and len(rest[0]) <= 60 and lines[-2][-1] in ".!"
    return f"ACTION: {rest[0]}" if apart else text


def parse(home: Home, text: Any, state: HomeState, agent: int) -> int:
    """The action that an answer names.

    Raises:
        IllegalAction: it names none, more than one, or one that is not open to the player now; as
            ALFWorld does, with `replies="alfworld"` a command that is not open is a wait.
    """
    facts = facts_of(home, state)
    open_ = open_actions(home, facts, agent)
    manner = home.replies == "alfworld"

    def refuse(reason: str) -> IllegalAction:
        return IllegalAction(functools.partial(refusal, reason))

    def refusal(reason: str) -> str:
        said = [short_words(home, facts, agent, action) for action in open_]
        return f"{reason[:200]}. Open to you: {instead(text, said, SHOWN)}."

    def mean(answer: Answer) -> int | None:
        plain = (
            _LABEL.sub("", answer.plain, count=1) if _LABEL.match(answer.plain) else answer.plain
        )
        plain = " ".join(plain.split()).rstrip(".")
        if ":" in plain:
            plain = without_effect(plain, home.choices(state, agent, None))
        for action in open_:
            if plain == short_words(home, facts, agent, action):
                return action
        if manner and _THOUGHT.match(plain):
            return Actions.WAIT
        readings = grammar(home.catalog).read(plain)
        if answer.kind != REASON:
            named = bare(home.catalog).read(plain)
            readings += [one for one in named if not _is_at(facts, agent, one)]
        try:
            return settled(
                (_action(home, facts, agent, reading) for reading in readings),
                open_,
                functools.partial(_why, home, facts, agent),
                refuse,
            )
        except IllegalAction:
            if manner:
                return Actions.WAIT
            raise

    listed = (short_words(home, facts, agent, action) for action in open_)
    said = _with_names(home, facts, agent, _transcript(text), listed)
    return int(decide(said, mean, refuse, me=home.agents[agent]))


_OF_IT = (
    before_it("place", "open open_up pull_open close shut"),
    before_it(
        "thing",
        "take get grab pick_up fetch collect retrieve take_out put place drop put_down set_down "
        "deposit bring carry deliver pack clean wash rinse scrub heat warm heat_up microwave cook "
        "cool chill cool_down slice cut",
    ),
)


def _with_names(home: Home, facts: Facts, agent: int, text: Any, listed: Iterable[str]) -> Any:
    """An answer with the names that its pronouns stand for ("shelf 1 has a mug, so I go there")."""
    catalog = home.catalog

    def name(said: list[str], start: int) -> Iterator[tuple[str, frozenset[int], int]]:
        for kind, kinds, slots in (
            ("place", catalog.receptacle_kinds, facts.kind),
            ("room", catalog.room_kinds, facts.room_kind),
            ("thing", catalog.object_kinds, facts.object_kind),
        ):
            for found, length in Names(kinds)(said, start):
                meant = _numbered(slots, found)
                if kind == "thing":
                    meant = [o for o in meant if _sees(home, facts, agent, o)]
                yield kind, frozenset(meant), length

    def here(meaning: Set[int]) -> bool:
        return agent < home.players and meaning == {facts.at[agent]}

    return named(text, name, _OF_IT, ("place", "room"), here, listed)


def _is_at(facts: Facts, agent: int, reading: Reading) -> bool:
    """Whether a player is at a place, or in a room, that it names."""
    if agent >= len(facts.at):
        return False
    if "place" in reading.values:
        return facts.at[agent] in _numbered(facts.kind, reading.values["place"])
    return "room" in reading.values and facts.player_room[agent] in _numbered(
        facts.room_kind, reading.values["room"]
    )


def short_words(home: Home, facts: Facts, agent: int, action: int) -> str:
    """A legal action in words, without its effect."""
    if home.replies == "alfworld":
        return alfworld.command(home, facts, agent, action)
    do = Actions(home)
    if action == do.WAIT:
        return "wait"
    if action < do.room:
        return f"go to {facts.receptacle_names[action - do.go]}"
    if action < do.open:
        return f"go to {facts.room_names[action - do.room]}"
    here = facts.receptacle_names[facts.at[agent]] if facts.at[agent] != NONE else "here"
    if action < do.take:
        return f"{'open' if action == do.open else 'close'} {here}"
    if action < do.put:
        return f"take {facts.object_names[action - do.take]} from {here}"
    if action == do.use:
        return f"use {facts.object_names[lamp_at(facts, facts.at[agent])]}"
    if action >= do.slice:
        return f"slice {facts.object_names[action - do.slice]}"
    verb, hand = handled(home, action)
    hands = held(home, facts, agent)
    name = facts.object_names[hands[hand]]  # type: ignore[index]
    if verb == "put":
        return f"put {name} {preposition(home.catalog, facts.kind[facts.at[agent]])} {here}"
    if verb == "pack":
        return f"pack {name} into {facts.object_names[hands[1 - hand]]}"  # type: ignore[index]
    return f"{verb} {name} with {here}"


# ---- what a reading means ------------------------------------------------------------------------


def _action(home: Home, facts: Facts, agent: int, reading: Reading) -> int | str:
    """The action that a reading means, or why it can mean none here."""
    if agent >= home.players:
        waits = reading.meaning == "wait"
        return Actions.WAIT if waits else "you have no hands: wait, and talk"
    do, what, values = Actions(home), reading.meaning, reading.values
    if what in LOOKS:
        return _looking(home, facts, agent, what)
    if what == "look at" and home.replies == "alfworld":
        return _looking(home, facts, agent, "examine")
    if what in ("search", "look at"):
        return _search(home, facts, agent, values, opens=what == "search")
    if what == "bring":
        return _bring(home, facts, agent, values)
    if what == "room":
        rooms = _numbered(facts.room_kind, values["room"])
        return do.room + rooms[0] if len(rooms) == 1 else _which(facts.room_names, rooms, "room")
    places = _numbered(facts.kind, values["place"]) if "place" in values else None
    at = facts.at[agent]
    if what == "go":
        if "room" in values:
            rooms = _numbered(facts.room_kind, values["room"])
            places = [place for place in places or () if facts.room[place] in rooms]
        if len(places or ()) == 1:
            return do.go + places[0]  # type: ignore[index]
        return _which(facts.receptacle_names, places or [], "receptacle")
    if what == "wait":
        return Actions.WAIT if _there(facts, agent, places, values) else "you are not there"
    if places is not None and at not in places:
        if not places:
            return "there is no such receptacle"
        there = facts.receptacle_names[places[0]] if len(places) == 1 else "any such receptacle"
        return f"you are {_at(facts, agent)}, not at {there}: go there first"
    if what == "use":
        return _lamp(home, facts, agent, values.get("thing"))
    if what in ("take", "slice"):
        thing = _here(home, facts, agent, values.get("thing"))
        if what == "slice" and home.slicing and "tool" in values:
            mine = [o for o in held(home, facts, agent) if o is not None]
            if not set(_numbered(facts.object_kind, values["tool"])) & set(mine):
                return "you do not hold that knife"
        if isinstance(thing, str):
            return thing
        if what == "take":
            hands = held(home, facts, agent)
            if "side" in values and None in hands and values["side"] != hands.index(None):
                return f"it comes into your {('left', 'right')[hands.index(None)]} hand"
            return do.take + thing
        return do.slice + thing if home.slicing else "nothing can be sliced in this home"
    if at == NONE and what != "pack":
        return f"you are {_at(facts, agent)}: go to a receptacle first"
    if what in ("open", "close"):
        return do.open if what == "open" else do.close
    hand = _hand(home, facts, agent, values, what == "pack")
    if isinstance(hand, str):
        return hand
    if "with" in values:
        box = held(home, facts, agent)[hand] or 0
        if not set(_numbered(facts.object_kind, values["with"])) & set(inside(home, facts, box)):
            return f"that is not in {facts.object_names[box]}"
    if "box" in values or what == "pack":
        other = held(home, facts, agent)[1 - hand] if home.hands > 1 else None
        boxes = _numbered(facts.object_kind, values["box"]) if "box" in values else [other]
        if other is None or other not in boxes:
            return "you do not hold such a container in your other hand"
        return do.pack + hand
    return {"put": do.put, "clean": do.clean, "heat": do.heat, "cool": do.cool}[what] + hand


def _bring(home: Home, facts: Facts, agent: int, values: dict[str, Any]) -> int | str:
    """To bring what one holds is to go there, or to put it there if one is there."""
    do = Actions(home)
    hand = _hand(home, facts, agent, values, False)
    if isinstance(hand, str):
        return hand
    if "box" in values:
        return _action(home, facts, agent, Reading("pack", values))
    if "room" in values:
        rooms = _numbered(facts.room_kind, values["room"])
        return do.room + rooms[0] if len(rooms) == 1 else _which(facts.room_names, rooms, "room")
    places = _numbered(facts.kind, values["place"])
    if facts.at[agent] in places:
        return do.put + hand
    if len(places) != 1:
        return _which(facts.receptacle_names, places, "receptacle")
    return do.go + places[0]


def _numbered(kinds: Sequence[int], named: Named) -> list[int]:
    """The slots that a name may mean."""
    found, count = [], dict.fromkeys(named.kinds, 0)
    for slot, kind in enumerate(kinds):
        if kind in count:
            count[kind] += 1
            if named.number in (None, count[kind]):
                found.append(slot)
    return found


def _which(names: Sequence[str], slots: Sequence[int], what: str) -> str:
    if not slots:
        return f"there is no such {what}"
    return f"it is open which is meant: {joined([names[slot] for slot in slots[:8]], 'or')}"


def _at(facts: Facts, agent: int) -> str:
    at = facts.at[agent]
    if at != NONE:
        return f"at {facts.receptacle_names[at]}"
    return f"in the middle of {the(facts.room_names[facts.player_room[agent]])}"


def _there(facts: Facts, agent: int, places: list[int] | None, values: dict[str, Any]) -> bool:
    """Whether one is where one says that one waits."""
    if "room" in values:
        return facts.player_room[agent] in _numbered(facts.room_kind, values["room"])
    return places is None or facts.at[agent] in places


def _looking(home: Home, facts: Facts, agent: int, what: str) -> str:
    mine = [facts.object_names[o] for o in held(home, facts, agent) if o is not None]
    if what == "inventory":
        return f"that is no action, and needs none: you hold {joined(mine) if mine else 'nothing'}"
    if what == "help":
        return "there is no help but the rules"
    return "looking is no action, and needs none: your text says all that you see"


def _search(
    home: Home, facts: Facts, agent: int, values: dict[str, Any], opens: bool = True
) -> int | str:
    """To search a place is to be there, and to open it; more is no action. To look at it does not
    open it."""
    do, at = Actions(home), facts.at[agent]
    if "room" in values:
        rooms = _numbered(facts.room_kind, values["room"])
        if len(rooms) != 1:
            return _which(facts.room_names, rooms, "room")
        own = rooms[0] == facts.player_room[agent]
        return _looking(home, facts, agent, "look") if own else do.room + rooms[0]
    places = _numbered(facts.kind, values["place"])
    if at != NONE and at in places:
        if opens and not facts.open[at]:
            return do.open
        if not facts.open[at]:
            return f"{facts.receptacle_names[at]} is closed: open it to see what is inside"
        return _looking(home, facts, agent, "look")
    if len(places) != 1:
        return _which(facts.receptacle_names, places, "receptacle")
    if not opens:
        name = facts.receptacle_names[places[0]]
        return f"looking is no action: to see what is in or on {name}, go there"
    return do.go + places[0]


def _sees(home: Home, facts: Facts, agent: int, o: int) -> bool:
    """Whether a player knows of an object."""
    return facts.object_kind[o] != NONE and facts.seen[agent][o] >= 0


def _here(home: Home, facts: Facts, agent: int, named: Named | None) -> int | str:
    """The one object of a name, or the only one, where the player is."""
    if named is None:
        do = Actions(home)
        takes = [a - do.take for a in open_actions(home, facts, agent) if do.take <= a < do.put]
        return takes[0] if len(takes) == 1 else "it is open what to take"
    known = [o for o in _numbered(facts.object_kind, named) if _sees(home, facts, agent, o)]
    at = facts.at[agent]
    if not known:
        return "you have not seen any such object"
    here = [o for o in known if facts.known_place[agent][o] == at != NONE]
    if len(here) == 1:
        return here[0]
    if here:
        return _which(facts.object_names, here, "object")
    if len(known) > 1:
        return f"none of them is {'here' if at == NONE else 'at ' + facts.receptacle_names[at]}"
    return f"{facts.object_names[known[0]]} is not here: {_last_seen(home, facts, agent, known[0])}"


def _last_seen(home: Home, facts: Facts, agent: int, o: int) -> str:
    receptacle, hand, box = place_of(home, facts.known_place[agent][o])
    if hand is not None:
        return "you hold it" if hand[0] == agent else f"{home.agents[hand[0]]} holds it"
    if receptacle is not None:
        way = preposition(home.catalog, facts.kind[receptacle])
        return f"you last saw it {way} {facts.receptacle_names[receptacle]}"
    if box is not None:
        return f"it is in {facts.object_names[box]}"
    return "you do not know where it is"


def _lamp(home: Home, facts: Facts, agent: int, named: Named | None) -> int | str:
    lamps = home.catalog.may["lamp"]
    if named is not None and not any(lamps[kind] for kind in named.kinds):
        return "only lamps can be used"
    here = lamp_at(facts, facts.at[agent]) if facts.at[agent] != NONE else -1
    if here < 0:
        return "no lamp is here"
    if named is not None and here not in _numbered(facts.object_kind, named):
        return f"that lamp is not here: {facts.object_names[here]} is"
    return Actions(home).use


def _hand(home: Home, facts: Facts, agent: int, values: dict[str, Any], packing: bool) -> int | str:
    """The hand that holds what is named, or the only one that holds anything."""
    hands = held(home, facts, agent)
    mine = [hand for hand, o in enumerate(hands) if o is not None]
    if not mine:
        return "your hands are empty" if home.hands > 1 else "your hand is empty"
    if "thing" in values:
        meant = _numbered(facts.object_kind, values["thing"])
        fitting = [hand for hand in mine if hands[hand] in meant]
        if not fitting:
            said = joined([facts.object_names[hands[h]] for h in mine])  # type: ignore[index]
            return f"you hold {said}, not that: take it first"
    else:
        fitting = mine
    if "side" in values:
        if values["side"] not in mine:
            return "you hold nothing in that hand"
        if values["side"] not in fitting:
            return "you hold that in your other hand"
        return int(values["side"])
    if "box" in values or packing:  # what goes into a container is no container itself
        fitting = [h for h in fitting if not facts.traits[hands[h] or 0] & HOLDS] or fitting
    if len(fitting) > 1:
        return _which(facts.object_names, [hands[h] or 0 for h in fitting], "object")
    return fitting[0]


def _why(home: Home, facts: Facts, agent: int, action: int) -> str:
    """Why an action is not open to a player, by what it knows."""
    do, catalog, at = Actions(home), home.catalog, facts.at[agent]
    name = facts.receptacle_names[at] if at != NONE else ""
    if action < do.room:
        return f"you are at {name} already" if action - do.go == at else "you cannot go there"
    if action < do.open:
        return f"you are in {the(facts.room_names[action - do.room])} already"
    if action < do.take:
        if not catalog.can["opens"][facts.kind[at]]:
            return f"{name} does not open or close"
        return f"{name} is {'open' if action == do.open else 'closed'} already"
    closed = at != NONE and not facts.open[at]
    hands = held(home, facts, agent)
    if do.take <= action < do.put:
        o = action - do.take
        if closed:
            return f"{name} is closed: open it first"
        if not catalog.may["carry"][facts.object_kind[o]]:
            return f"{facts.object_names[o]} cannot be carried: use it where it is"
        if None not in hands:
            full = "both your hands are" if home.hands > 1 else "your hand is"
            return f"{full} full: put something down first"
        done = facts.target[o] and facts.kind[at] == goal_kind(facts)
        why = "is delivered, and stays there" if done else "cannot be taken"
        return f"{facts.object_names[o]} {why}"
    if action == do.use:
        if closed:
            return f"{name} is closed: open it first"
        return f"{facts.object_names[lamp_at(facts, at)]} is on already"
    if action >= do.slice:
        return _why_uncut(home, facts, agent, action - do.slice)
    verb, hand = handled(home, action)
    o = hands[hand] or 0
    kind, thing = facts.object_kind[o], facts.object_names[o]
    if verb == "put":
        if closed:
            return f"{name} is closed: open it first"
        return f"{thing} cannot be put {preposition(catalog, facts.kind[at])} {name}"
    if verb == "pack":
        box = hands[1 - hand]
        if box is None or not catalog.holds[facts.object_kind[box]]:
            return "you hold no container in your other hand"
        if not catalog.may["pack"][kind]:
            return f"{thing} does not go into a container"
        room = f"{len(inside(home, facts, box))} things are in it"
        return f"{facts.object_names[box]} is full: {room}"
    if not catalog.may[verb][kind]:
        return f"{article(words(catalog.object_kinds[kind]))} cannot be made {_MADE[verb]}"
    able = [words(catalog.receptacle_kinds[k]) for k in catalog.can[f"{verb}s"].nonzero()[0]]
    return f"nothing is made {_MADE[verb]} at {name}: go to a {joined(able, 'or')}"


_MADE = {"clean": "clean", "heat": "hot", "cool": "cool"}


def _why_uncut(home: Home, facts: Facts, agent: int, o: int) -> str:
    catalog, kind = home.catalog, facts.object_kind[o]
    mine = [facts.object_kind[o] for o in held(home, facts, agent) if o is not None]
    if not catalog.may["slice"][kind]:
        return f"{article(words(catalog.object_kinds[kind]))} cannot be sliced"
    if not any(catalog.may["cut"][k] for k in mine):
        return "you hold no knife"
    if facts.bits[o] & SLICED:
        return f"{facts.object_names[o]} is sliced already"
    return f"{facts.object_names[o]} is not within reach"
