"""Which rotors run, in words: "only the front right one", "all four at full thrust", "motors off".

For actions that only switch rotors on or off; each sentence has to tell it of all four.
"""

from __future__ import annotations

import functools

from manyhands.core.reading.grammar import Grammar
from manyhands.envs.volleyball.orders import ROTORS

_ALL = frozenset(range(len(ROTORS)))
_MOTOR = "(rotor|motor|propeller|prop|engine)"
_ROTOR = f"({_MOTOR}|1)"
_FULL = (
    "(full [(thrust|power|throttle|speed|blast|lift)]|max|maximum [(thrust|power|throttle|lift)]"
    "|100 %|[their] limit)"
)
_ON = f"([(at|on|to|with)] {_FULL}|on|running)"
_OFF = "(off|at (0|zero) [%]|0 %)"
_RUN = (
    "(fire [up]|run|power [up]|spin [up]|use|drive|start|(switch|turn|put) on|give|open [up]"
    "|max out|rev [up]|throttle [up])"
)
_SET = "(put|set|push|bring|take|keep|hold|drive)"
_STOP = "(cut|kill|stop|switch off|turn off|shut off|shut down)"
_SOME = f"{{a:rotors}} [{_ROTOR}] [and] [{{b:rotors}} [{_ROTOR}]] [and] [{{c:rotors}} [{_ROTOR}]]"
_EVERY = f"(all [of] [4] [{_ROTOR}]|every {_ROTOR}|4 {_ROTOR}|everything)"
_ONLY = "(only|just|nothing but|none but)"
_REST = "(rest|other [(2|3)]|all other|everything else|2 other|3 other)"
_GO_UP = "((go|fly|move|climb|rise|ascend|shoot|straight|lift) [straight] [up|off|higher]|up|climb)"
_ALL_OF_IT = f"[give] ({_FULL}|everything|all [of it]|all [the] (thrust|power|throttle))"
_BRIEFLY = "[(briefly|for [1] [(short|brief)] (moment|step|instant|while|bit|tick|second))]"
_TO = "(to|so [that] i|so as to|in order to)"
_HEIGHT = "[my] (height|altitude)"
# What all rotors or none are for.
_UP = "((climb|rise|go up|lift off|ascend) [up]|gain [(some|more)] [of] (height|altitude))"
HIGHER = (
    f"[({_TO} ({_UP}|(hold|keep|regain|maintain|save) {_HEIGHT}"
    "|(stay|keep|remain) (up|aloft|airborne|in [the] air)|(stop|avoid) (sink|fall|drop)"
    "|(stop|arrest|break|check|halt|slow) (my|the) (fall|descent|sink|drop)"
    "|(don't|do not) (sink|fall|drop|lose height|crash) [further]"
    "|(get|be|come|stay) level with ball)"
    f"|and ({_UP}|stay (aloft|airborne)))]"
)
_DOWN = "((sink|drop|fall|descend|go down|come down) [down|lower]|lose (height|altitude))"
LOWER = (
    f"[({_TO} ({_DOWN}|(stop|avoid) (climb|rise)|(don't|do not) (rise|climb|go|fly|get) "
    f"[(too|any)] (high|higher|far up|up|far))|and {_DOWN})]"
)
_NOTHING = "(none|nothing|zero|0|no (thrust|power|throttle))"
_PHRASES = {
    "on": [
        f"{_ONLY} {_SOME} [{_ON}]",
        f"{_RUN} {_ONLY} {_SOME} [{_ON}]",
        f"{_ONLY} {_RUN} {_SOME} [{_ON}]",
        f"{_SOME} {_ON} [and] [{_REST} {_OFF}]",
        f"{_RUN} {_SOME} [{_ON}] and ({_STOP} {_REST}|{_REST} {_OFF})",
        f"{_FULL} (on|to|for|with|from) {_ONLY} {_SOME}",
        f"{_FULL} (on|to|for|with|from) {_SOME}",
        f"{_ALL_OF_IT} (on|to|for|from) {_SOME} [and {_NOTHING} (on|to|for|from) "
        f"({_REST}|{{off:rotors}} [{_ROTOR}])]",
        f"{_SOME} {_ON} [and] [{{off:rotors}} [{_ROTOR}] {_OFF}]",
    ],
    "off": [
        f"{_ONLY} {_SOME} {_OFF}",
        f"{_SOME} {_OFF} [and] {_REST} {_ON}",
        f"{_STOP} {_ONLY} {_SOME}",
        f"[(run|fire|use|{_FULL} (on|to|for|with|from)) [on]] {_EVERY} (but|except) {_SOME} "
        f"[{_ON}]",
    ],
    "bare": [_SOME],
    # Rotors that run for a motion that takes these alone.
    "for": [
        f"{_RUN} [with] {_SOME} {_BRIEFLY} (and|{_TO}) {{goal:motion}} {_BRIEFLY}",
        f"[{_FULL}] (thrust|power) (on|to|from) {_SOME} {_BRIEFLY} (and|{_TO}) {{goal:motion}}",
        f"{{goal:motion}} (with|by|using) [(fire|run|use)] [only] {_SOME}",
    ],
    "all": [
        f"({way}) {_BRIEFLY} {HIGHER}"
        for way in (
            f"[({_RUN}|{_SET})] {_EVERY} {_ON}",
            f"[give [it]] {_FULL} (on|to|for|with|from) {_EVERY}",
            f"[(give|put) [some]] (thrust|power|throttle up|power up|rev up) "
            f"(on|to|for|with|from) {_EVERY}",
            f"give [it] (everything|all [of it]) (on|to|for|with|from) {_EVERY}",
            f"{_RUN} [it] {_EVERY}",
            f"[(go|go to|give it|give|use|apply)] {_FULL} [(on|with) {_EVERY}]",
            f"[(go|go to|give it|give|use|apply)] {_FULL} (everywhere|all round|all around)",
            f"{_GO_UP} (at|with|on) {_FULL}",
            f"{_GO_UP} {_FULL}",
        )
    ]
    + [f"(power|throttle|rev) up and {_UP}"],
    "none": [
        f"[let (it|me|myself) (drop|sink|fall) (by|and)] ({way}) {_BRIEFLY} {LOWER}"
        for way in (
            f"({_EVERY}|[my] {_MOTOR}) {_OFF}",
            f"{_STOP} ({_EVERY}|[my] {_MOTOR}|[my] (thrust|power|throttle))",
            f"(no|zero|0) (thrust|power|throttle) [at all] "
            f"[(on|to|for|from) ({_EVERY}|any {_ROTOR})]",
            f"(no|none of [4] [my]) {_MOTOR} [(on|running)]",
        )
    ],
}


def _called() -> dict[str, frozenset[int]]:
    """The rotors by name, and pairs on one side."""
    found: dict[str, frozenset[int]] = {}
    for i, name in enumerate(ROTORS):
        length, side = name.split()
        for along in (length, *(("rear",) if length == "back" else ())):
            found |= dict.fromkeys((f"{along} {side}", f"{side} {along}"), frozenset((i,)))
            pair = _side(length)
            for word in (along, f"two {along}", f"both {along}", f"{along} two"):
                found |= _pairs(word, pair)
        pair = _side(side)
        for word in (side, f"two {side}", f"both {side}", f"{side} two"):
            found |= _pairs(word, pair)
    return found


def _pairs(word: str, pair: frozenset[int]) -> dict[str, frozenset[int]]:
    """Ways to say both rotors of a side, which is no side alone."""
    told = word.split()[0] in ("two", "both") or word.endswith(" two")
    ends = ("rotors", "motors", "propellers", "ones", "pair", "engines")
    return dict.fromkeys([f"{word} {end}" for end in ends] + [word] * told, pair)


def _motions() -> dict[str, frozenset[int]]:
    """The motions by name, and the rotors that alone make each."""
    nose = {
        "up": ("lift", "raise", "pull up", "bring up"),
        "down": ("dip", "lower", "drop", "push down", "tip down"),
    }
    found: dict[str, frozenset[int]] = {}
    for way, verbs in nose.items():
        pair = _side("front" if way == "up" else "back")
        found |= dict.fromkeys((f"pitch {way}", f"nose {way}"), pair)
        for the in ("nose", "the nose", "my nose"):
            found |= dict.fromkeys([f"{verb.split()[0]} {the} {way}" for verb in verbs], pair)
            found |= dict.fromkeys([f"{verb} {the}" for verb in verbs], pair)
    for side, other in (("left", "right"), ("right", "left")):
        ends = (side, f"to {side}", f"to the {side}", f"over to the {side}")
        verbs = ("roll", "bank", "lean", "tilt", "tip")
        found |= {f"{verb} {end}": _side(other) for verb in verbs for end in ends}
        crossed = frozenset((ROTORS.index(f"front {side}"), ROTORS.index(f"back {other}")))
        found |= {f"{verb} {end}": crossed for verb in ("turn", "yaw", "spin") for end in ends}
    return found


def _side(word: str) -> frozenset[int]:
    return frozenset(k for k, name in enumerate(ROTORS) if word in name.split())


@functools.cache
def _grammar() -> Grammar:
    return Grammar(_PHRASES, {"rotors": _called(), "motion": _motions()}, keep=("just",))


def thrusts(sentence: str, bare: bool = False) -> tuple[float, ...] | None:
    """The thrusts, each -1 or 1, that a sentence means; None if it means none, or several. `bare`
    names of rotors are those that run."""
    found: set[frozenset[int]] = set()
    for meaning, values in _grammar().read(sentence):
        if meaning == "bare" and not bare:
            continue
        named = [values[label] for label in ("a", "b", "c") if label in values]
        if sum(map(len, named)) != len(frozenset().union(*named)):
            return None  # one of them twice
        running = frozenset().union(*named)
        if values.get("goal", running) != running:
            return None  # they make another motion
        if "off" in values and values["off"] != _ALL - running:
            return None  # it does not tell of all four
        found.add({"off": _ALL - running, "all": _ALL}.get(meaning, running))
    if len(found) != 1:
        return None
    (running,) = found
    return tuple(1.0 if i in running else -1.0 for i in range(len(ROTORS)))
