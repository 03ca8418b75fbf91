"""Which rotors run, in words: "only the front right one", "all four at full thrust", "motors off".

For actions that only switch rotors on or off; each sentence has to tell it of all four.
"""

from __future__ import annotations

import functools

from manyhands.core.grammar import Grammar
from manyhands.envs.volleyball.orders import ROTORS

_ALL = frozenset(range(len(ROTORS)))
_MOTOR = "(rotor|motor|propeller|prop|engine)"
_ROTOR = f"({_MOTOR}|1)"
_FULL = "(full [(thrust|power|throttle|speed|blast)]|max|maximum [(thrust|power|throttle)]|100 %)"
_ON = f"([(at|on|to|with)] {_FULL}|on|running)"
_OFF = "(off|at (0|zero) [%]|0 %)"
_RUN = "(fire [up]|run|power [up]|spin [up]|use|drive|start|(switch|turn|put) on|give)"
_STOP = "(cut|kill|stop|switch off|turn off|shut off|shut down)"
_SOME = f"{{a:rotors}} [{_ROTOR}] [and] [{{b:rotors}} [{_ROTOR}]] [and] [{{c:rotors}} [{_ROTOR}]]"
_EVERY = f"(all [of] [4] [{_ROTOR}]|every {_ROTOR}|4 {_ROTOR}|everything)"
_ONLY = "(only|just|nothing but|none but)"
_REST = "(rest|other [(2|3)]|all other|everything else|2 other|3 other)"
_GO_UP = "((go|fly|move|climb|rise|ascend|shoot|straight|lift) [straight] [up|off|higher]|up|climb)"
_ALL_OF_IT = f"[give] ({_FULL}|everything|all [of it]|all [the] (thrust|power|throttle))"
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
        f"({_EVERY}|{_RUN} {_EVERY}) (but|except) {_SOME} [{_ON}]",
    ],
    "bare": [_SOME],
    "all": [
        f"[{_RUN}] {_EVERY} {_ON}",
        f"{_FULL} (on|to|for|with|from) {_EVERY}",
        f"{_RUN} {_EVERY}",
        f"[(go|give it|give|use|apply)] {_FULL}",
        f"{_GO_UP} (at|with|on) {_FULL}",
        f"{_GO_UP} {_FULL}",
    ],
    "none": [
        f"({_EVERY}|[my] {_MOTOR}) {_OFF}",
        f"{_STOP} ({_EVERY}|[my] {_MOTOR}|[my] (thrust|power|throttle))",
        f"(no|zero|0) (thrust|power|throttle) [at all] [(on|to|for|from) {_EVERY}]",
        f"(no|none of [4] [my]) {_MOTOR} [(on|running)]",
    ],
}


def _called() -> dict[str, frozenset[int]]:
    """The rotors by name, and pairs on one side."""
    found: dict[str, frozenset[int]] = {}
    for i, name in enumerate(ROTORS):
        length, side = name.split()
        for along in (length, *(("rear",) if length == "back" else ())):
            found |= dict.fromkeys((f"{along} {side}", f"{side} {along}"), frozenset((i,)))
            pair = frozenset(k for k, other in enumerate(ROTORS) if length in other.split())
            for word in (along, f"two {along}", f"both {along}", f"{along} two"):
                found |= _pairs(word, pair)
        pair = frozenset(k for k, other in enumerate(ROTORS) if side in other.split())
        for word in (side, f"two {side}", f"both {side}", f"{side} two"):
            found |= _pairs(word, pair)
    return found


def _pairs(word: str, pair: frozenset[int]) -> dict[str, frozenset[int]]:
    """Ways to say both rotors of a side, which is no side alone."""
    told = word.split()[0] in ("two", "both") or word.endswith(" two")
    ends = ("rotors", "motors", "propellers", "ones", "pair", "engines")
    return dict.fromkeys([f"{word} {end}" for end in ends] + [word] * told, pair)


@functools.cache
def _grammar() -> Grammar:
    return Grammar(_PHRASES, {"rotors": _called()}, keep=("just",))


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
        if "off" in values and values["off"] != _ALL - running:
            return None  # it does not tell of all four
        found.add({"off": _ALL - running, "all": _ALL}.get(meaning, running))
    if len(found) != 1:
        return None
    (running,) = found
    return tuple(1.0 if i in running else -1.0 for i in range(len(ROTORS)))
