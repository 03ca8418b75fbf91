"""Missions in words: rule book, description, choices, and reading what a player answers.

`describe` says what the vector observation and the mask of legal actions say: positions are those
of the player's window. Besides, it names the other players in view and says which step it is.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.core.choices import Choice
from manyhands.core.env import IllegalAction, names_of
from manyhands.core.reading.answers import decide, how_to_answer
from manyhands.core.reading.grammar import Grammar, Reading
from manyhands.core.reading.parts import REASON, Answer
from manyhands.core.reading.phrases import TIME, WAITING
from manyhands.core.reading.words import tokens
from manyhands.envs.mission.aims import that_way, without_aim
from manyhands.envs.mission.events import KINDS
from manyhands.envs.mission.state import (
    ACTIONS,
    COLUMNS,
    LOAD,
    ROWS,
    STAY,
    MissionConfig,
    MissionState,
    highest_food,
)

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

LETTERS = "ABCDEFGHIJ"  # of the players, on maps
_DID = {
    "move": "{} moved",
    "blocked": "{} could not move, as the cell was wanted by another",
    "load": "{} loaded food",
    "failed load": "{} failed to load food, with too few levels",
}


class Thing(NamedTuple):
    """A player or food in view: its place in the window, its level, and its number."""

    row: int
    column: int
    level: int
    number: int


def in_view(mission: MissionConfig, state: MissionState, agent: int) -> tuple[list[Thing], ...]:
    """(food, players) that a player sees, itself among them; on the host."""
    sight = mission.sight
    row, column = int(state.row[agent]), int(state.column[agent])
    top, left = max(row - sight, 0), max(column - sight, 0)
    food = [
        Thing(int(y) - top, int(x) - left, int(level), k)
        for k, (y, x, level) in enumerate(
            zip(state.food_row, state.food_column, state.food_level, strict=True)
        )
        if level and abs(int(y) - row) <= sight and abs(int(x) - column) <= sight
    ]
    players = [
        Thing(int(y) - top, int(x) - left, int(level), i)
        for i, (y, x, level) in enumerate(zip(state.row, state.column, state.level, strict=True))
        if 0 <= int(y) - top <= 2 * sight and 0 <= int(x) - left <= 2 * sight
    ]
    return food, players


# ---- description ---------------------------------------------------------------------------------


def describe(mission: Mission, state: MissionState, agent: int) -> str:
    """What the player sees, as text."""
    food, players = in_view(mission, state, agent)
    own = next(thing for thing in players if thing.number == agent)
    lines = [
        f"{step_of(mission, state)} You are {mission.agents[agent]}, {LETTERS[agent]} on the map, "
        f"of level {own.level}, at {_place(own)}."
    ]
    lines += _map(mission, food, players)
    if mission.detail != "brief":
        listed = [f"level {thing.level} at {_place(thing)}" for thing in food]
        lines.append(f"Food in view: {'; '.join(listed) or 'none'}.")
        listed = [
            f"{mission.agents[thing.number]} ({LETTERS[thing.number]}) of level {thing.level} at "
            f"{_place(thing)}"
            for thing in players
            if thing.number != agent
        ]
        lines.append(f"Other players in view: {'; '.join(listed) or 'none'}.")
    open_ = [ACTIONS[action] for action in _free(mission, state, agent)]
    if not open_:
        lines.append("No food is left: the episode is over.")
    else:
        lines.append(f"Open to you: {', '.join(open_)}.")
    lines += last_step(mission, state, agent, _DID)
    if mission.detail == "full" and open_:
        lines.append(
            "Remember: food is loaded when the players beside it that load in the same step have "
            "at least its level together."
        )
    return "\n".join(lines)


def step_of(mission: Mission, state: Any) -> str:
    """Which step it is; the published vectors do not say it, but whoever counts knows it."""
    return f"Step {int(state.time)} of {mission.max_steps}."


def last_step(mission: Mission, state: Any, agent: int, did: Mapping[str, str]) -> list[str]:
    """A line on what happened in the last step, if anything did, in the words for each event."""
    said = [
        did[event["event"]].format(
            "you" if event["agent"] == mission.agents[agent] else event["agent"]
        )
        for event in mission.last_events(state, agent)
    ]
    return [f"Last step: {'; '.join(said)}."] if said else []


def _place(thing: Thing) -> str:
    return f"row {thing.row}, column {thing.column}"


def _map(mission: Mission, food: list[Thing], players: list[Thing]) -> list[str]:
    """The window: players as letters, levels of food as numbers."""
    rows, columns = (min(side, 2 * mission.sight + 1) for side in mission.size)
    cells = [["."] * columns for _ in range(rows)]
    for thing in food:
        cells[thing.row][thing.column] = str(thing.level)
    for thing in players:
        cells[thing.row][thing.column] = LETTERS[thing.number]
    wide = max(2, len(str(columns - 1)))
    head = " " * wide + " " + " ".join(f"{x:>{wide}}" for x in range(columns))
    body = [
        f"{y:>{wide}} " + " ".join(f"{mark:>{wide}}" for mark in row) for y, row in enumerate(cells)
    ]
    return [head, *body]


def _free(mission: Mission, state: MissionState, agent: int) -> list[int]:
    """The legal actions, on the host."""
    food = {
        (int(y), int(x))
        for y, x, level in zip(state.food_row, state.food_column, state.food_level, strict=True)
        if level
    }
    if not food:
        return []
    row, column = int(state.row[agent]), int(state.column[agent])
    around = [(row + ROWS[way], column + COLUMNS[way]) for way in range(1, LOAD)]
    rows, columns = mission.size
    found = [STAY]
    for way, (y, x) in enumerate(around, start=1):
        if 0 <= y < rows and 0 <= x < columns and (y, x) not in food:
            found.append(way)
    if any(cell in food for cell in around):
        found.append(LOAD)
    return found


def choices(mission: Mission, state: MissionState, agent: int) -> list[Choice]:
    """The legal actions of the player, in action order."""
    return [_choice(mission, state, agent, action) for action in _free(mission, state, agent)]


def _choice(mission: Mission, state: MissionState, agent: int, action: int) -> Choice:
    food, players = in_view(mission, state, agent)
    own = next(thing for thing in players if thing.number == agent)
    path = f"players.{mission.agents[agent]}.position"
    here = int(state.row[agent]), int(state.column[agent])
    if action == STAY:
        return Choice("stay", "stay where you are", action, facts={path: list(here)})
    if action == LOAD:
        found = next(t for t in food if abs(t.row - own.row) + abs(t.column - own.column) == 1)
        what = f"the food of level {found.level} at {_place(found)}"
        if own.level >= found.level:
            facts: dict[str, Any] = {f"food.{found.number}.level": 0}
            return Choice("load", f"take {what}", action, facts=facts)
        return Choice(
            "load",
            f"take {what}, if players beside it with {found.level - own.level} more in levels "
            "load too",
            action,
            certain=False,
        )
    row, column = own.row + ROWS[action], own.column + COLUMNS[action]
    near = any(
        thing.number != agent and abs(thing.row - row) + abs(thing.column - column) <= 1
        for thing in players
    )
    step = f"step to {_place(Thing(row, column, 0, 0))}"
    if near or mission.sight < 2:
        return Choice(
            ACTIONS[action], f"{step}, unless another player wants it", action, certain=False
        )
    facts = {path: [here[0] + ROWS[action], here[1] + COLUMNS[action]]}
    return Choice(ACTIONS[action], step, action, facts=facts)


def all_of(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ---- rules ---------------------------------------------------------------------------------------


def rules(mission: Mission, agent: int) -> str:
    """The rule book of one player."""
    rows, columns = mission.size
    low, high = mission.player_levels
    others = [name for i, name in enumerate(mission.agents) if i != agent]
    whole = mission.sight >= max(rows, columns)
    view = (
        "You see the whole field."
        if whole
        else f"You see food up to {mission.sight} cells away in each direction (diagonals too). "
        "The map is the part that you see: its row 0 and column 0 are the first that you see, "
        "so that the numbers change as you walk. Players are seen up to row and column "
        f"{2 * mission.sight} of the map. What lies beyond an edge looks like free cells."
    )
    load, failed = (mission.reward_weights[name] for name in mission.terms)
    lines = [
        mission.title.upper(),
        f"You are {mission.agents[agent]}, {LETTERS[agent]} on the map. "
        + (f"You play with {all_of(others)}." if others else "You play alone."),
        "",
        "AIM",
        "Load all food. Each player has a level "
        f"({low} to {high}), each food too (up to {highest_food(mission)}). All players act at "
        "once. Food is loaded when the players beside it (above, below, left or right) that choose "
        "to load in the same step have levels whose sum is at least the food's. It vanishes, and "
        "each of them gets its own level times the food's level, divided by the sum of their "
        f"levels and by the sum of all levels of food at the start (times {load:g}).",
    ]
    if failed:
        lines.append(f"An attempt with too few levels gives {failed:g}.")
    if mission.coop:
        lines.append("All food has the highest level.")
    lines += [
        "",
        "MOVING",
        f"The field has {rows} rows and {columns} columns. North is up, to a smaller row; west is "
        "left, to a smaller column. Nobody can enter a cell with food, or leave the field. If two "
        "or more players want the same cell (whoever stays or loads wants its own), none of them "
        "moves. Two players may swap places, and one may enter a cell that another wants to leave: "
        "only if that one is then kept from moving do two share a cell.",
        f"The episode ends when no food is left, and after {mission.max_steps} steps.",
        "",
        "THE MAP",
        f"Letters are players, numbers are the levels of food, . is a free cell. {view}",
        "",
        "HOW TO ANSWER",
        f"Name one action: {', '.join(ACTIONS)}. {how_to_answer('north')}",
    ]
    return "\n".join(lines)


# ---- reading an answer ---------------------------------------------------------------------------


def wait_for(slot: str) -> tuple[str, ...]:
    """Patterns of waiting for others, whose names are a slot."""
    stay = (
        "(wait|stay|stay put|stay here|hold|hold on|hold [my] position|remain|pause|stop|stand by)"
        " [(here|there|where i am|in place)] [(a|one|1) (step|turn|moment)]"
    )
    who = (
        f"([(the|my)] (other|others|partner|teammate|mate)|{{{slot}}}|they|everyone|everybody|all"
        "|it|he|she|him|her|them)"
    )
    come = (
        "(come|arrive|move|pass|act|move on|leave|go first|go ahead|join me|catch up|help|get here"
        "|get there|get closer|come closer|come here|get into position|go by|clear the way"
        "|come to me|join us|reach me|pass me|pass by|step aside|finish"
        "|(press|push|use) [the|my|its|that] button|(open|unlock|pass|go through) [the|that] door"
        "|(get|take|bring|fetch|pick up|have) [the] key|come (over|back)|return|(reposition"
        "|decide|act)"
        " [first]|(repair|fix) [the|its] generator|clean [the] river|come out [(to me|of there)]"
        "|(show|give|betray) (itself|himself|herself|themselves) [(away|up)]|(turn|show) up"
        "|commit [(itself|himself|themselves)] [to (something|someone|somebody|(a|1|one) "
        "(way|side|room|direction|exit)|(one|1) of us)]|make (a|its|his|her|their) [next] move"
        "|run into me|(flush|drive|chase|force) (it|him|her|them) [(out|back)] "
        "[(to|into|towards) me]"
        "|do the (chasing|work|hunting|running)|wake [up]|thaw|(can|be able to) (act|move) [again]"
        "|(act|move) again|recover|unfreeze)"
    )
    there = (
        "(closer|near|nearer|here|there|ready|in place|in position|beside me|next to me|gone|past"
        "|close [enough]|adjacent|out of the way|beside it|next to it|back|done)"
    )
    return (
        f"[(stay|stay put|stay here|stay right here|remain here|stand still) and] {stay} [for] "
        f"[frozen] {who} [to {come}]",
        f"{stay} (until|till) {who} ({come}|(is|be|has|have|get) {there}|has (moved|passed|left"
        "|arrived|come) [(on|away|off|by|past)])",
        f"{stay} and (let|allow) {who} [to] {come}",
        f"{stay} so [that] {who} [(can|will|may|must|(has|have|is forced) to)] {come}",
        f"({stay}|stand still {TIME}|(pass|skip) (this|my) (turn|move|step)) "
        f"[(and|to)] (watch|observe|mark|keep an eye on|see) "
        f"({who}|(what|where|which way|how) {who} (do|go|move|turn|head|want|{come}) [next])",
        f"let {who} {come} [first]",
        f"{stay} while {who} ({come}|(is|be) {there})",
        f"{stay} (until|till) [my|the] (way|path|coast|corridor|aisle) (is|be) (clear|free|open)",
        f"(stay|keep) out of [the|my|{{{slot}}} s] way and (wait|hold)",
    )


_OPENING = re.compile(r"(?:now|for now|first|just|again|once more)\b[,:]? +(?=\w)")
_CLOSING = (" again", " once more", " once again", " one more time", " for now", " now")
_NO_COMMA = re.compile(r"^no[,:] ")  # "no, move" is not "no move"
_ITS = re.compile(r"\b(food|fruit|apple|\d+)'s\b")  # "the food's left side"
_JUST = re.compile(
    r"\b((?:i'll|i will|i'm going to|let me|let's|we'll)) (?:just|now|first) (?=\w)"
    r"|^(i) (?:just|now) (?=\w)"
)


def opened(plain: str) -> str:
    """An answer without "now" or "first" before it, "again" or "now" behind it and "just" or "now"
    behind "I'll": words that are no courtesy where they stand behind "right" or between two
    moves."""
    if _OPENING.match(plain):
        plain = _OPENING.sub("", plain, count=1)
    plain = _NO_COMMA.sub("no . ", plain)
    plain = _ITS.sub(r"\1 s", plain)
    plain = _JUST.sub(lambda found: f"{found[1] or found[2]} ", plain)
    ends = (end for end in _CLOSING if plain.endswith(end))
    rest = next((plain[: -len(end)] for end in ends), plain)
    # "Right again" praises, and "go right now" may say where or when.
    return plain if rest == "right" or plain.endswith("right now") else rest


# Not to move is to stay.
NO_MOVE = (
    f"(no|zero) (action|move|movement|moving|motion) {TIME} [(at all|from me|for me|today)]",
    "no (action|move|movement) [(this|on this|for this)] (turn|step|time|round)",
    f"(not to|to not) (move|act|step|do anything|go anywhere|budge|stir) "
    f"[at all|anywhere|an inch|1 step] {TIME}",
    f"[i] (choose|prefer|decide|opt|elect|plan|intend|like|want|wish) (not to|to not) "
    f"(move|act|step|do anything|go anywhere|budge|stir) [at all|anywhere|an inch|1 step] {TIME}",
    f"(refrain from|avoid|skip) (move|any (move|movement)|any action) {TIME}",
    f"without (move|any (move|movement)) {TIME}",
    f"no (action|move|movement|step) (from|by|for) me {TIME}",
    "(do not|don't|dont|won't|wont|will not|shall not|i'll not|i'm not|am not|not) [even] "
    "(move|go anywhere|drive|drive anywhere|budge|stir|leave (this|my) (cell|place|spot|square"
    "|room)) "
    f"[(at all|an inch|anywhere|a step|1 step|myself)] {TIME} [.] [(stay|wait)]",
)
NEXT_CELL = (
    "[(next|adjacent|free|empty|neighbouring|neighboring|corner)] "
    "(cell|square|tile|field|spot|corner) "
    "((to|on|at|in) [my|the] {way} [side] [of me|of here]|{way:near} [me]|{way} (of|from) (me"
    "|here))"
)
# Why one goes aside.
MAKE_ROOM = (
    "(make [some] (room|way|space) [for ({who:player}|them|him|her|it|(the|my) "
    "(other|others|partner|mate|teammate))]"
    "|(clear|free) [up] (the|this|my) (way|path|corridor|passage|cell|spot|door|doorway|aisle)"
    "|(get|step|move|stay|keep) out of (the|{who:player} s|his|her|their|its) way"
    "|give way [to {who:player}]|(let|allow) {who:player} [to] (pass|by|through|go by))"
)
HOLD = "(hold|keep|maintain) [(my|this)] [current] (position|place|ground)"
_GO = (
    "(go|move|step|walk|head|run|travel|proceed|advance|shift|slide|edge|inch|continue|keep going"
    "|dodge|flee|escape|retreat"
    "|make my way|keep moving|move myself|(take|make) (a|one|1|another) [(single|more|further)] "
    "(step|move|pace)|carry on|keep on|press on|push on|sidestep|drop|get|hop|back up"
    "|close in|set off|[turn [(around|round|back)] and] (walk|go|head|move)"
    "|keep (go|head|walk|move))"
)
_CELL = "(step|cell|square|field|tile|pace|space|block|row|column)"
_FAR = (
    f"[(one|1|a single|single|one more|1 more|another) [{_CELL}] [(further|more)]|a {_CELL}|{_CELL}"
    "|over|back|off|once [more]|again|onward|straight|due|along (this|my|the|that|same) {line:line}"
    "|further|on|now|first|right now|right away]"
)
_AIM = "[(to|towards|toward|in|into|for)] [my] [the]"
_PLACE = (
    "[(cell|square|tile|spot|position)] [(at|in|on)] "
    "(row {row:n} [and|.] column {column:n}|{pair_row:n} {pair_column:n})"
)
_TO = f"[(to|onto|on|into|at) {_PLACE}|[(up|down)] to row {{row:n}}|[over] to column {{column:n}}]"
_SOME = (
    "[(some|that|this|my|1|one|a|the|any)] [(last|only|remaining|final|nearest|closest|next)] "
    "[(adjacent|nearby|neighbouring|neighboring)] "
    "[piece of|bit of]"
)
_THING = "(food|fruit|apple|berry|meal|crop|harvest|item|snack)"
# What one may go towards.
_GOAL = (
    f"([(the|that|a|this)] [(other|big|bigger|small|smaller|{{which:sided}})] [level "
    f"{{to_level:n}}] {_THING} [(of|at"
    "|with) level {to_level:n}] "
    "[(at|on|in)] [row {to_row:n} [and|.] column {to_column:n}|{to_row:n} {to_column:n}|row "
    "{to_row:n}]"
    "|(one|1|food) (on|to|at) [(my|the)] {which:way} [side]|{to_player:player}"
    "|(the|that|this) {to_level:n})"
)
_APPROACH = "(approach|go after|close in on|get closer to|get near|aim for|make for)"
_TOWARDS = (
    f"(to|for|(towards|toward|in direction of|closer to|nearer to)) {_GOAL}"
    "|(towards|toward|in direction of) (row {to_row:n} [and|.] column {to_column:n}|row {to_row:n}"
    "|column {to_column:n})"
)
_LEVEL = "[(of|at|with) level {level:n}|level {level:n}]"
_BESIDE = (
    "[right|just|directly] [(beside|next to|near|by) me|here"
    "|(to|on|in|at) [my] {side:way} [side] [of me]|{side:way} of me"
    f"|{{side:near}} [me]|[(at|on|in)] {_PLACE}|[right|just|directly] (in front|ahead) of me]"
)
_FOOD = (
    f"({_SOME} [level {{level:n}}] {_THING} {_LEVEL} {_BESIDE}|it|this|that [up]"
    f"|(the|that) (one|1) {_BESIDE}|(the|that|this) {{level:n}} {_BESIDE}) [(now|first|right now"
    f"|right away|at once|immediately)]"
)
_TAKE = (
    "(load|take|collect|gather|pick|pick up|eat|harvest|grab|forage|fetch|lift|get|reap|pluck|bag"
    "|scoop|scoop up|bring in|load up|gather up|help myself to|take up|consume|snatch|seize|pocket)"
)
_ALSO = {
    "north": "up|upward|northward|n|\u2191|\u2b06",
    "south": "down|downward|southward|s|\u2193|\u2b07",
    "west": "left|leftward|westward|w|\u2190|\u2b05",
    "east": "right|rightward|eastward|e|->|\u27a1",
}
_WAYS = {
    word: ACTIONS.index(way) for way, also in _ALSO.items() for word in (way, *also.split("|"))
}
SIDES = {"north": "northern|upper|top", "south": "southern|lower|bottom",
"west": "western|left hand",
         "east": "eastern|right hand"}  # fmt: skip
_SIDED = {word: ACTIONS.index(way) for way, also in SIDES.items() for word in also.split("|")}
ARROWS = {word: way for word, way in _WAYS.items() if not word.isalpha()}
# "Pick up" is no direction.
COURSES = {word: way for word, way in _WAYS.items() if word not in ("up", "down")}
_CLEAR = {
    word: way for word, way in _WAYS.items() if len(word) > 1 and word not in ("left", "right")
}
_STAY = (
    "(stay|wait|noop|none|pass|idle|skip|hold|rest|stand still|do nothing|no op|stay put|halt|pause"
    "|freeze|stop|chill|take no action|stay idle|stay as i am)"
)
GRAMMAR = Grammar(
    {
        "go": [
            f"{_GO} {_FAR} {_AIM} {{way}} [side|direction] {_FAR} {_TO}",
            f"{_GO} {_FAR} {_AIM} {{way}} [by] {_FAR} {_TO}",
            f"{_GO} [over|back] (to|onto|into) {_PLACE}",
            f"(take|enter|occupy|reach|step on|stand (on|at)) {_PLACE} [(beside|next to) {_GOAL}]",
            f"{_GO} [over|back] (to|onto|into) {_PLACE} (beside|next to) {_GOAL}",
            f"(join|follow|help) {{who:player}} [.] [{_GO}] {{way}}",
            f"(follow|continue after|go after) ({{who:player}}|it|him|her|them) [.] [back] "
            f"([(one|1|a)] {_CELL} {{way}}|{{way}} [(one|1|a)] [{_CELL}]) [again]",
            f"(one|1|another) {_CELL} {{way}} [again] (after|behind) ({{who:player}}|it|him|her)",
            f"[again] {_GO} {_FAR} {{way}} [(one|1|a)] [{_CELL}] (after|behind) ({{who:player}}|it"
            "|him|her)",
            f"[{_GO}] {{way}} [.] (into|onto) ({{who:player}} s|{{who:owner}}) "
            "(cell|square|spot|place)",
            f"({_GO} (to|onto|into)|take|enter|occupy) {NEXT_CELL}",
            "(take|choose|pick|try) [(the way|way|direction)] {way:course}",
            "(my|the) only (way|option|direction) [(forward|on|out|left|open)] (is|be|lead) [to] "
            "{way}",
            f"{_GO} (aside|away|out of [the|my] way) [to] [my] [the] {{way}} [side]",
            f"{MAKE_ROOM} [.] [(by|with|and)] [{_GO}|(1|one|a) {_CELL}] {_AIM} {{way}} "
            "[side] [by] [(1|one|a)] [(step|cell|square)]",
            f"(swap|swap [places|cells]|trade places) with {{who:player}} [.] [{_GO}] {{way}}",
            f"(to|first) step [(of|in|to) (that|it|this)] [.] [is] [{_GO}] {{way}}",
            f"{_GO} {_AIM} {{way}} and (let|help) {{who:player}} [come|pass|load|with (it|that)]",
            f"{_GO} [over|back|up|down] (to|onto|into) (row {{row:n}}|column {{column:n}})",
            f"{_GO} [over] (to|onto|into) {NEXT_CELL}",
            f"(my|the) [next] (step|move|way) (go|lead|take me|be) {_AIM} {{way}}",
            "(1|one|a|another) (step|pace|cell|square) [back|further] [to] [the] {way}",
            f"(1|one|another) [more] {_CELL} [(more|further|back)] [to] [the] {{way}} "
            f"[(along|in|on|of)] [(this|my|the|that|same)] [{{line:line}}] {_TO}",
            f"(1|one|a|another|{_GO}) [{_CELL}] (toward|towards|to) [the] {{way:edge}} "
            "[(edge|side|end|row|border)] [of the (map|field|grid)]",
            "{way:rise} [(1|one|a|another)] [more] (row|cell|step)",
            f"{_GO} {_FAR} {_AIM} {{way}} {_FAR} {_TO} [(along|in|on)] [(this|my|the|that|same)] "
            "{line:line}",
            f"(face|turn|steer) {_AIM} {{way}} and (go|move|step|walk)",
        ],
        "towards": [
            f"{_GO} {_FAR} {_AIM} {{way}} {_FAR} ({_TOWARDS})",
            f"{_GO} {_FAR} (towards|toward|to) {_GOAL}",
            f"({_GO} {_FAR} (towards|toward|to|for)|{_APPROACH}) {_GOAL} {{way:near}} [me]",
            f"({_GO} {_FAR} (towards|toward|to|for)|{_APPROACH}) {_GOAL} [(up|down|over) "
            "[there]] [.] "
            f"[{_GO}] [(to|in|on|at)] [the] {{way}} [(by|1|one)] {_FAR} [side]",
            f"({_GO} {_FAR} (towards|toward|to|for)|{_APPROACH}) {_GOAL}",
            f"{_GO} {_FAR} (towards|toward|to|for) {_GOAL} [.] (1|one|another) [more] {_CELL} "
            "[(more|further)] [to] [the] {way}",
            f"{_APPROACH} {_GOAL} by {_GO} {_FAR} {_AIM} {{way}} {_FAR}",
            f"(1|one|another) [more] {_CELL} [(more|further)] [to] [the] {{way}} ({_TOWARDS})",
        ],
        # To a cell beside food.
        "beside": [
            f"({_GO} [{{way}}] {_FAR}|get|[go] stand|position myself|place myself|{{way}} "
            f"[(one|1)]) [to] (beside|next to|adjacent to) {_GOAL} [(to|in|on) [the] {{way}}]",
            f"{_APPROACH} {_GOAL} from [the] {{of:way}} [side]",
            f"({_GO} [(to|onto|into)]|get to|take|enter|occupy) [(the|a)] (cell|square|spot|tile) "
            f"(beside|next to|adjacent to|{{of:way}} of|{{of:near}}) {_GOAL}",
            f"({_GO}|get) (to|on|onto) [the|its] {{of:way}} side of {_GOAL}",
            f"{_GO} [back] [(to|onto|into)] (cell|square|spot|place|position) (on|at|to|by) "
            f"{_GOAL} s {{of:way}} [side]",
        ],
        STAY: [
            *WAITING,
            f"{_STAY} {TIME}",
            "(stay|wait|remain|hold) [(here|there|where i am|in place|still|at my place)] "
            "[for] [(one|1|a)] [(turn|step|moment|bit)]",
            "(skip|pass) [(my|this)] (turn|move|step)",
            "do nothing [at all]",
            HOLD,
            f"(stay|wait|remain) (at|on|in) ({_PLACE}|my (cell|place|spot|square))",
            "(hold still|stay|wait) me",
            *wait_for("player"),
            *NO_MOVE,
        ],
        LOAD: [
            f"[(try|attempt) to] {_TAKE} {_FOOD} [up] [(with [the] help of {{by:player}}|together "
            "[with {by:player}])]",
            f"(pick|take|load|gather) {_FOOD} (up|in)",
            f"{_TAKE}",
            f"{_TAKE} [{_THING}] of level {{level:n}}",
            f"{_TAKE} [at] {_PLACE}",
            f"{_TAKE} [(now|right now|right away|at once)]",
            f"(have|take) [a] (bite|meal) [of {_FOOD}]",
            "(finish|end|complete|wrap up|close) [(the|my|this)] "
            f"[(job|game|it|thing|task|episode)] (by|with) {_TAKE} {_FOOD}",
        ],
    },
    {
        "way": _WAYS,
        "sided": _SIDED,
        "clear": _CLEAR,
        "course": COURSES,
        "arrow": ARROWS,
        "owner": {},
        "rise": {"climb": 1, "climb up": 1, "descend": 2, "climb down": 2},
        "line": {"row": (3, 4), "column": (1, 2)},
        "edge": {"top": 1, "bottom": 2, "left": 3, "right": 4, **_SIDED},
        "near": {
            "above": 1,
            "over": 1,
            "below": 2,
            "beneath": 2,
            "under": 2,
            "underneath": 2,
            "left of": 3,
            "right of": 4,
        },
        "height": {"higher": 1, "higher up": 1, "lower": 2, "lower down": 2},
        "player": {},
    },
    keep=("right", "left", "a", "first", "now", "then", "just", "again", "yeah", "away"),
    # Alone, a direction tells of something else after "I": "I left", "I'm down".
    short={
        "go": [
            f"[straight|due] {_AIM} {{way}} [by] [(one|1|a) {_CELL}] {_TO}",
            f"to {_PLACE}",
            "(cell|square|tile|spot) [(at|in|on)] (row {row:n} [and|.] column {column:n}"
            "|{pair_row:n} {pair_column:n})",
            f"({{way:near}} me|to [my] {{way}} [side]) [.] {_PLACE}",
            "(to|into) (row {row:n}|column {column:n})",
            "{way} (ho|bound|first)",
            "{way} {same:arrow}",
            NEXT_CELL,
            f"(1|one|a) {_CELL} {{way}} [from here]",
            "(1|one) [over] {way:clear} [from here]",
            "(1|one) over to [the|my] {way} [side]",
            f"(1|one|a) {_CELL} {{way:near}} [me]",
            f"(1|one|a|another) [more] {_CELL} {{way:height}}",
            "[(northern|southern)] {way:sided} (cell|square|spot)",
            f"{{way}} [again] [.] [to] {_PLACE}",
        ],
        "towards": [
            f"[straight|due] {{way}} {_FAR} ({_TOWARDS})",
            f"({_TOWARDS}) [.] {{way}} [by] {_FAR}",
            f"({_TOWARDS}) [.] [of course] [.] {{way}} [by] {_FAR}",
            f"{{way}} {_FAR} to {_GOAL} by {{who:player}}",
        ],
        LOAD: [
            "[time for|(i'll|i will) have] [(some|1|one|a|an|another)] "
            f"[level {{level:n}}] {_THING} {_LEVEL} {_BESIDE}"
        ],
    },
)


def parse(mission: Mission, text: Any, state: MissionState, agent: int) -> int:
    """The action that an answer names; `IllegalAction` if it names none, more than one, or one that
    is not open to the player now."""
    open_ = _free(mission, state, agent)
    if not open_:
        raise IllegalAction("The episode is over; there is nothing to answer.")

    def refuse(reason: str) -> IllegalAction:
        allowed = names_of([ACTIONS[action] for action in open_])
        return IllegalAction(f"{reason}. Answer with exactly one action: {allowed}.")

    def mean(answer: Answer) -> int | None:
        offered = offered_action(choices(mission, state, agent), answer.plain)
        if offered is not None:
            return offered
        others = {
            name: i
            for i, own in enumerate(mission.agents)
            for name in (own, LETTERS[i])
            if i != agent
        }
        owners = {f"{name}'s": i for name, i in others.items()}
        named: set[int] = set()
        reason = ""
        slots = {"player": others, "owner": owners}
        readings = GRAMMAR.read(opened(answer.plain), slots)
        for head in () if readings else without_aim(answer.plain, others):
            readings = readings or GRAMMAR.read(opened(head), slots)
        for reading in readings:
            action = _named(mission, state, agent, reading)
            # "I stand beside the food now": where one is.
            if answer.kind == REASON and action == _NOT_NEAR:
                continue
            if isinstance(action, str):
                reason = reason or action
            else:
                named.add(action)
        if reason and not named:
            raise refuse(reason)
        if len(named) != 1:
            return None
        (action,) = named
        if action not in open_:
            raise refuse(_why(mission, state, agent, action))
        return action

    return int(decide(that_way(text), mean, refuse, me=mission.agents[agent], written=text))


def offered_action(offered: Sequence[Choice], plain: str) -> int | None:
    """The action of a line of `choices` that was copied whole."""
    if ": " not in plain:
        return None
    return _lines(tuple((int(choice.action), str(choice)) for choice in offered)).meaning(plain)


@functools.lru_cache(maxsize=256)
def _lines(offered: tuple[tuple[int, str], ...]) -> Grammar:
    return Grammar([(action, [" ".join(tokens(line))]) for action, line in offered])


def _named(mission: Mission, state: MissionState, agent: int, reading: Reading) -> int | str:
    """The action of a reading, or why what it says does not hold here."""
    values, cell = reading.values, None
    if reading.meaning in ("towards", "beside"):
        return _towards(mission, state, agent, reading)
    row = values.get("row", values.get("pair_row"))
    column = values.get("column", values.get("pair_column"))
    if row is not None and column is not None:
        cell = f"row {row}, column {column}"
    elif row is not None or column is not None:
        cell = f"row {row}" if column is None else f"column {column}"
    told = {int(choice.action): str(choice) for choice in choices(mission, state, agent)}
    if reading.meaning == STAY:
        own = int(state.row[agent]), int(state.column[agent])
        return STAY if (row, column) in ((None, None), own) else "you are not there"
    if reading.meaning == "go":
        if values.get("same", values.get("way")) != values.get("way"):
            return "it names two ways"
        if "line" in values and values.get("way") not in values["line"]:
            return "that does not lead along it"
        steps = [action for action in told if action not in (STAY, LOAD)]
        fits = [action for action in steps if cell is None or _at(cell, told[action])]
        if "pair_row" in values and "way" not in values:  # it may be column and row
            turned = f"row {column}, column {row}"
            if row != column and any(_at(turned, told[action]) for action in steps):
                return "say which is the row and which the column"
        if "way" not in values and (row is None) != (column is None):  # "to row 3" is up or down
            moved = COLUMNS if row is None else ROWS
            fits = [action for action in fits if moved[action]]
        way = values.get("way", fits[0] if len(fits) == 1 else None)
        if cell is not None and way not in fits:
            return f"{cell} is not one step that way"
        return "say which way" if way is None else int(way)
    offer = told.get(LOAD, "")
    if offer and "level" in values and f"level {values['level']}" not in offer:
        return f"there is no food of level {values['level']} beside you"
    side = values.get("side")
    if side is not None and not _food_at(state, agent, side):
        return f"there is no food {ACTIONS[side]} of you"
    if offer and cell and not _at(cell, offer):
        return f"there is no food at {cell}"
    return LOAD


def _at(cell: str, told: str) -> bool:
    """Whether a choice leads to a cell."""
    return f"{cell}," in f"{told},"


def _towards(mission: Mission, state: MissionState, agent: int, reading: Reading) -> int | str:
    """The way that is named, if what it should lead towards lies on that side."""
    values = reading.values
    food, players = in_view(mission, state, agent)
    own = next(thing for thing in players if thing.number == agent)
    if "to_player" in values:
        goals = [(one.row, one.column) for one in players if one.number == values["to_player"]]
    elif "to_level" in values or not {"to_row", "to_column"} & set(values):
        goals = [
            (one.row, one.column)
            for one in food
            if one.level == values.get("to_level", one.level)
            and one.row == values.get("to_row", one.row)
            and one.column == values.get("to_column", one.column)
        ]
    else:
        goals = [(values.get("to_row", own.row), values.get("to_column", own.column))]
    if reading.meaning == "beside":
        return _beside(mission, state, agent, values, goals)
    if "way" not in values:
        near = "to_player" in values  # who is beside the player is reached already
        aligned = [
            _straight(own, (y, x))
            for y, x in goals
            if not (near and abs(y - own.row) + abs(x - own.column) < 2)
        ]
        if "which" in values:
            aligned = [way for way in aligned if way == values["which"]]
        return aligned[0] if len(aligned) == 1 and aligned[0] else "say which way"
    way = int(values["way"])
    if values.get("which", way) != way:
        return f"what you name is not {ACTIONS[way]} of you"
    for row, column in goals:
        if (row - own.row) * ROWS[way] > 0 or (column - own.column) * COLUMNS[way] > 0:
            return way
    return f"what you name is not {ACTIONS[way]} of you"


def _straight(own: Any, goal: tuple[int, int]) -> int:
    """The way to a goal in the same row or column, 0 for another one."""
    down, across = goal[0] - own.row, goal[1] - own.column
    return next(
        (
            way
            for way in range(1, LOAD)
            if (ROWS[way] * down > 0 and not across) or (COLUMNS[way] * across > 0 and not down)
        ),
        0,
    )


def _beside(
    mission: Mission,
    state: MissionState,
    agent: int,
    values: dict[str, Any],
    goals: Sequence[tuple[int, int]],
) -> int | str:
    """The only step to a cell beside one of some goals, on the side of it that is named."""
    sides = [values["of"]] if "of" in values else range(1, LOAD)
    cells = [f"row {y + ROWS[way]}, column {x + COLUMNS[way]}" for y, x in goals for way in sides]
    told = {int(choice.action): str(choice) for choice in choices(mission, state, agent)}
    fits = [
        action
        for action in told
        if action not in (STAY, LOAD)
        and values.get("way", action) == action
        and any(_at(cell, told[action]) for cell in cells)
    ]
    if len(fits) > 1:  # where nobody stands
        fits = [action for action in fits if "unless" not in told[action]]
    if len(fits) == 1:
        return fits[0]
    return "say which way" if fits else _NOT_NEAR


_NOT_NEAR = "that is not one step away"


def _food_at(state: MissionState, agent: int, way: int) -> bool:
    row, column = int(state.row[agent]) + ROWS[way], int(state.column[agent]) + COLUMNS[way]
    there = (state.food_row == row) & (state.food_column == column) & (state.food_level > 0)
    return bool(np.asarray(there).any())


def _why(mission: Mission, state: MissionState, agent: int, action: int) -> str:
    if action == LOAD:
        return "there is no food beside you to load"
    row = int(state.row[agent]) + ROWS[action]
    column = int(state.column[agent]) + COLUMNS[action]
    inside = 0 <= row < mission.size[0] and 0 <= column < mission.size[1]
    what = "there is food, which cannot be entered" if inside else "the field ends"
    return f"{ACTIONS[action]} of you {what}"


# ---- the true state ------------------------------------------------------------------------------


def to_dict(mission: Mission, state: MissionState) -> dict[str, Any]:
    """The true state in plain names and numbers."""
    recent = np.asarray(state.recent).tolist()
    return {
        "scenario": mission.scenario["name"],
        "size": list(mission.size),
        "players": {
            name: {
                "position": [int(state.row[i]), int(state.column[i])],
                "level": int(state.level[i]),
                "did": KINDS.get(recent[i], ""),
            }
            for i, name in enumerate(mission.agents)
        },
        "food": [
            {"position": [int(y), int(x)], "level": int(level)}
            for y, x, level in zip(state.food_row, state.food_column, state.food_level, strict=True)
        ],
        "spawned": int(state.spawned),
        "time": int(state.time),
        "steps_left": mission.max_steps - int(state.time),
    }
