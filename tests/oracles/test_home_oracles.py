"""Homes beside independent implementations: a machine in plain Python, written from the table of
ALFWorld's commands and the tables of kinds, and plans by `pyperplan` for a domain in PDDL.
"""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import episode_key
from manyhands.envs.home.plan import shortest

KEY = episode_key(0)
KINDS = json.loads(
    (Path(manyhands.__file__).parent / "assets" / "home" / "catalog.json").read_text()
)
ROOMS, PLACES, THINGS = (KINDS[name] for name in ("rooms", "receptacles", "objects"))


class Machine:
    """A home as dictionaries and sets, which is told actions as words.

    Objects are where `lies` says: ("at", receptacle), ("hand", player, hand), ("in", container) or
    None. What players know is `belief[player][object]`, (where, state, step), and
    `looks[player][receptacle]`, (open, step of the last look).
    """

    def __init__(self, env: Any, state: Any):
        table = {
            "room": sorted(ROOMS),
            "place": sorted(PLACES),
            "thing": sorted(THINGS),
        }
        s = jax.device_get(state)
        self.n, self.h = env.players, env.hands
        self.travel, self.view, self.family = env.travel, env.view, env.family
        self.rooms = [table["room"][k] for k in s.room_kind if k != 255]
        self.places = [table["place"][k] for k in s.kind if k != 255]
        self.things = {o: table["thing"][k] for o, k in enumerate(s.object_kind) if k != 255}
        self.room_of = [int(r) for r in s.room]
        self.doors = {
            (a, b)
            for a in range(len(self.rooms))
            for b in range(len(self.rooms))
            if s.steps[a, b] == 1
        }
        self.open = [bool(x) for x in s.open]
        self.where = [int(r) for r in s.player_room]
        self.at = [None if a == 255 else int(a) for a in s.at]
        self.C, self.O = env.receptacles, env.objects
        self.lies = {o: self.decode(int(s.place[o])) for o in self.things}
        self.state: dict[int, set[str]] = {o: set() for o in self.things}
        self.target = {o for o in self.things if s.target[o]}
        self.goal = [
            (int(k), int(c), self.words(int(b)), int(w))
            for k, c, b, w in zip(s.goal_kind, s.goal_count, s.goal_bits, s.goal_where, strict=True)
            if k != 255
        ]
        self.table = table
        self.time = 0
        self.belief: list[dict[int, Any]] = [{} for _ in range(self.n)]
        self.looks = [
            {c: [None if PLACES[k].get("opens") else True, -1] for c, k in enumerate(self.places)}
            for _ in range(self.n)
        ]
        self.numbers = self.actions(env)
        self.look()

    @staticmethod
    def words(bits: int) -> set[str]:
        names = {1: "clean", 2: "hot", 4: "cool", 8: "on", 16: "sliced"}
        return {name for bit, name in names.items() if bits & bit}

    def decode(self, code: int) -> Any:
        hands = self.C + self.n * self.h
        if code == 255:
            return None
        if code < self.C:
            return ("at", code)
        if code < hands:
            return ("hand", (code - self.C) // self.h, (code - self.C) % self.h)
        return ("in", code - hands)

    def actions(self, env: Any) -> list[tuple[str, Any]]:
        """What each number means, in order."""
        hands = range(self.h)
        found: list[tuple[str, Any]] = [("wait", None)]
        found += [("go", c) for c in range(env.receptacles)]
        found += [("room", r) for r in range(env.rooms)]
        found += [("open", None), ("close", None)]
        found += [("take", o) for o in range(env.objects)]
        for verb in ("put", "pack", "clean", "heat", "cool"):
            found += [(verb, hand) for hand in hands]
        found += [("use", None)]
        if env.slicing:
            found += [("slice", o) for o in range(env.objects)]
        return found

    # ---- rules

    def held(self, n: int, hand: int) -> int | None:
        return next((o for o, w in self.lies.items() if w == ("hand", n, hand)), None)

    def inside(self, o: int) -> list[int]:
        return [x for x, w in self.lies.items() if w == ("in", o)]

    def distance(self, a: int, b: int) -> int:
        near, found, steps = {a}, {a}, 0
        while b not in found:
            near = {y for x, y in self.doors if x in near} - found
            found, steps = found | near, steps + 1
            assert near, "no way"
        return steps

    def can(self, n: int, verb: str, x: Any) -> bool:
        at = self.at[n]
        place = None if at is None else PLACES[self.places[at]]
        reach = at is not None and self.open[at]
        if verb == "wait":
            return True
        if verb == "go":
            return x < len(self.places) and x != at
        if verb == "room":
            return x < len(self.rooms) and (x != self.where[n] or at is not None)
        if verb in ("open", "close"):
            return bool(place and place.get("opens")) and self.open[at] == (verb == "close")
        if verb == "take":
            if not reach or self.lies.get(x) != ("at", at) or THINGS[self.things[x]].get("lamp"):
                return False
            if self.family == "transport" and x in self.target and self.delivers(at):
                return False
            return any(self.held(n, hand) is None for hand in range(self.h))
        if verb == "use":
            return reach and any(
                THINGS[self.things[o]].get("lamp") and "on" not in self.state[o]
                for o, w in self.lies.items()
                if w == ("at", at)
            )
        if verb == "slice":
            knife = any(
                o is not None and THINGS[self.things[o]].get("cut")
                for o in (self.held(n, hand) for hand in range(self.h))
            )
            return (
                reach
                and knife
                and self.lies.get(x) == ("at", at)
                and bool(THINGS[self.things[x]].get("slice"))
                and "sliced" not in self.state[x]
            )
        o = self.held(n, x)
        if o is None:
            return False
        kind = self.things[o]
        if verb == "put":
            brought = self.family == "transport" and o in self.target and reach
            return bool(reach) and (
                kind in place["takes"] or (brought and self.delivers(at))  # type: ignore[index]
            )
        if verb == "pack":
            other = self.held(n, 1 - x) if self.h == 2 else None
            if self.family != "transport" or other is None or THINGS[kind].get("lamp"):
                return False
            room = THINGS[self.things[other]].get("holds", 0)
            return not THINGS[kind].get("holds") and len(self.inside(other)) < room
        ability = {"clean": "cleans", "heat": "heats", "cool": "cools"}[verb]
        return bool(place and place.get(ability) and THINGS[kind].get(verb))

    def delivers(self, at: int) -> bool:
        return self.places[at] == self.table["place"][self.goal[0][3]]

    def step(self, chosen: list[int]) -> dict[str, Any]:
        acts = [self.numbers[a] for a in chosen]
        allowed = [self.can(n, *act) for n, act in enumerate(acts)]
        raced = 0
        for n in sorted(range(self.n), key=lambda n: (n + self.time) % self.n):
            if not allowed[n]:
                continue
            if not self.can(n, *acts[n]):
                raced += 1
                continue
            self.act(n, *acts[n])
        self.time += 1
        self.look()
        return {"illegal": allowed.count(False), "raced": raced, "met": self.met()}

    def act(self, n: int, verb: str, x: Any) -> None:
        at = self.at[n]
        if verb == "wait":
            return
        if verb in ("go", "room"):
            goal = self.room_of[x] if verb == "go" else x
            if self.travel == "steps" and goal != self.where[n]:
                ways = sorted(b for a, b in self.doors if a == self.where[n])
                far = self.distance(self.where[n], goal)
                self.where[n] = next(b for b in ways if self.distance(b, goal) == far - 1)
                self.at[n] = None
            else:
                self.where[n], self.at[n] = goal, x if verb == "go" else None
        elif verb in ("open", "close"):
            self.open[at] = verb == "open"  # type: ignore[index]
        elif verb == "take":
            free = next(hand for hand in range(self.h) if self.held(n, hand) is None)
            self.lies[x] = ("hand", n, free)
        elif verb == "use":
            for o, w in self.lies.items():
                if w == ("at", at) and THINGS[self.things[o]].get("lamp"):
                    self.state[o].add("on")
        elif verb == "slice":
            self.state[x].add("sliced")
        else:
            o = self.held(n, x)
            assert o is not None
            if verb == "put":
                self.lies[o] = ("at", at)
                brings = self.family == "transport" and self.delivers(at)  # type: ignore[arg-type]
                if brings and THINGS[self.things[o]].get("holds"):
                    for each in self.inside(o):
                        self.lies[each] = ("at", at)
                    self.lies[o] = None
            elif verb == "pack":
                self.lies[o] = ("in", self.held(n, 1 - x))
            else:
                gone = {"heat": "cool", "cool": "hot"}.get(verb)
                self.state[o].discard(gone or "")
                self.state[o].add({"heat": "hot", "cool": "cool", "clean": "clean"}[verb])

    def met(self) -> int:
        total = 0
        for kind, count, bits, where in self.goal:
            found = 0
            for o, name in self.things.items():
                fits = o in self.target if kind == 254 else name == self.table["thing"][kind]
                w = self.lies[o]
                if where == 254:
                    there = (
                        w is not None
                        and w[0] == "hand"
                        and any(
                            v == ("at", self.at[w[1]]) and "on" in self.state[lamp]
                            for lamp, v in self.lies.items()
                        )
                    )
                else:
                    there = (
                        w is not None
                        and w[0] == "at"
                        and self.places[w[1]] == self.table["place"][where]
                    )
                found += fits and there and bits <= self.state[o]
            total += min(found, count)
        return total

    # ---- knowledge

    def sees(self, n: int) -> list[int]:
        """The receptacles that a player sees into."""
        if self.view == "receptacle":
            near = [] if self.at[n] is None else [self.at[n]]
        elif self.view == "room":
            near = [c for c in range(len(self.places)) if self.room_of[c] == self.where[n]]
        else:
            near = list(range(len(self.places)))
        for c in near:
            self.looks[n][c][0] = self.open[c]  # type: ignore[index]
        return [c for c in near if self.open[c]]  # type: ignore[index,misc]

    def look(self) -> None:
        for n in range(self.n):
            places = self.sees(n)
            people = [
                m for m in range(self.n) if self.view == "all" or self.where[m] == self.where[n]
            ]
            for c in places:
                self.looks[n][c][1] = self.time

            def shown(w: Any, places: Any = places, people: Any = people) -> bool:
                if w is None:
                    return False
                if w[0] == "at":
                    return w[1] in places
                if w[0] == "hand":
                    return w[1] in people
                return shown(self.lies[w[1]], places, people)

            def expected(w: Any, places: Any = places, people: Any = people) -> bool:
                return w is not None and shown(w, places, people)

            for o in self.things:
                if shown(self.lies[o]):
                    self.belief[n][o] = (self.lies[o], set(self.state[o]), self.time)
                elif o in self.belief[n] and expected(self.belief[n][o][0]):
                    _, known, when = self.belief[n][o]
                    self.belief[n][o] = (None, known, when)

    def compare(self, env: Any, state: Any) -> None:
        s = jax.device_get(state)
        assert [int(r) for r in s.player_room] == self.where
        assert [None if a == 255 else int(a) for a in s.at] == self.at
        assert [bool(x) for x in s.open[: len(self.places)]] == self.open[: len(self.places)]
        for o in self.things:
            assert self.decode(int(s.place[o])) == self.lies[o]
            assert self.words(int(s.bits[o])) == self.state[o]
            for n in range(self.n):
                where, known, when = self.belief[n].get(o, (None, set(), -1))
                assert self.decode(int(s.known_place[n, o])) == where, (n, o)
                assert self.words(int(s.known_bits[n, o])) == known
                assert int(s.seen[n, o]) == when
        for n in range(self.n):
            for c in range(len(self.places)):
                is_open, when = self.looks[n][c]
                assert int(s.known_open[n, c]) == {None: 0, False: 1, True: 2}[is_open]
                assert int(s.looked[n, c]) == when


WALKS: dict[str, dict[str, Any]] = {
    "a kitchen, knives": {"task": "chore_small", "slicing": True, "max_steps": 250},
    "a kitchen, three players": {"task": "chore_small", "players": 3, "slicing": True},
    "two hands, all seen": {"task": "chore_small", "hands": 2, "view": "all", "players": 2},
    "two rooms, at receptacles": {
        "task": ["heat", "look", "two"],
        "rooms": [2, 4],
        "receptacles": 14,
        "objects": [6, 9],
        "travel": "steps",
        "players": 2,
    },
    "help": {"task": "house", "rooms": 3, "receptacles": 18, "objects": 10, "players": 2},
    "transport": {"task": "transport", "rooms": 3, "receptacles": 13, "objects": 12, "players": 3},
}


@pytest.mark.parametrize("name", WALKS)
def test_agrees_with_a_machine_in_python(name):
    env = manyhands.make("home", **WALKS[name])
    reset, step, legal = jax.jit(env.reset), jax.jit(env.step), jax.jit(env.legal)
    rng = np.random.default_rng(1)
    raced = 0
    for seed in range(6):
        key = episode_key(seed)
        state = reset(key)
        machine = Machine(env, state)
        machine.compare(env, state)
        for t in range(60):
            mask = np.asarray(legal(state))
            for n in range(env.players):
                for number, act in enumerate(machine.numbers):
                    assert mask[n, number] == machine.can(n, *act), (n, act)
            # Going about is likelier than all else: other actions are wanted more often.
            weight = np.where(np.arange(mask.shape[1]) > env.receptacles + env.rooms, 4, 1)
            actions = []
            for n in range(env.players):
                chance = mask[n] * weight
                actions.append(int(rng.choice(mask.shape[1], p=chance / chance.sum())))
            if env.players > 1 and rng.random() < 0.7:
                # The same place and the same thing, so that players meet and race.
                actions = [actions[0]] * env.players
            if rng.random() < 0.1:
                actions[0] = int(rng.integers(mask.shape[1]))
            state, outcome = step(key, state, np.array(actions, np.int32))
            told = machine.step(actions)
            for metric in ("illegal", "raced"):
                assert float(outcome.metrics[metric]) == told[metric], (t, metric)
            asked = sum(count for _, count, _, _ in machine.goal)
            assert float(outcome.metrics["met"]) == pytest.approx(told["met"] / asked)
            assert bool(outcome.terminated[0]) == (told["met"] == asked)
            raced += told["raced"]
            machine.compare(env, state)
            if outcome.terminated.any():
                break
    assert raced or env.players == 1


# ---- plans ---------------------------------------------------------------------------------------

DOMAIN = """
(define (domain home)
  (:requirements :strips :typing)
  (:types place thing room)
  (:predicates
    (at ?c - place) (nowhere) (closed ?c - place) (open ?c - place) (lies ?o - thing ?c - place)
    (holds ?o - thing) (free) (takes ?c - place ?o - thing)
    (sink ?c - place) (oven ?c - place) (cold ?c - place)
    (cleanable ?o - thing) (heatable ?o - thing) (coolable ?o - thing) (carried ?o - thing)
    (clean ?o - thing) (hot ?o - thing) (cool ?o - thing) (lamp ?o - thing) (on ?o - thing)
    (reached))
  (:action go-first :parameters (?b - place)
    :precondition (nowhere) :effect (and (not (nowhere)) (at ?b)))
  (:action go :parameters (?a - place ?b - place)
    :precondition (at ?a) :effect (and (not (at ?a)) (at ?b)))
  (:action open :parameters (?c - place)
    :precondition (and (at ?c) (closed ?c)) :effect (and (not (closed ?c)) (open ?c)))
  (:action take :parameters (?o - thing ?c - place)
    :precondition (and (at ?c) (open ?c) (lies ?o ?c) (free) (carried ?o))
    :effect (and (not (lies ?o ?c)) (not (free)) (holds ?o)))
  (:action put :parameters (?o - thing ?c - place)
    :precondition (and (at ?c) (open ?c) (holds ?o) (takes ?c ?o))
    :effect (and (lies ?o ?c) (free) (not (holds ?o))))
  (:action wash :parameters (?o - thing ?c - place)
    :precondition (and (at ?c) (holds ?o) (sink ?c) (cleanable ?o)) :effect (clean ?o))
  (:action heat :parameters (?o - thing ?c - place)
    :precondition (and (at ?c) (holds ?o) (oven ?c) (heatable ?o))
    :effect (and (hot ?o) (not (cool ?o))))
  (:action cool :parameters (?o - thing ?c - place)
    :precondition (and (at ?c) (holds ?o) (cold ?c) (coolable ?o))
    :effect (and (cool ?o) (not (hot ?o))))
  (:action light :parameters (?o - thing ?c - place)
    :precondition (and (at ?c) (open ?c) (lies ?o ?c) (lamp ?o)) :effect (on ?o))
%s)
"""


def pddl(machine: Machine) -> tuple[str, str]:
    """The domain and the problem of a home; the goal is reached by an action for each way to reach
    it, since STRIPS has no alternatives."""
    kind = machine.table
    (number, count, bits, where) = machine.goal[0]
    name = kind["thing"][number]
    things = [o for o, each in machine.things.items() if each == name]
    facts = ["(free)", "(nowhere)"]
    for c, place in enumerate(machine.places):
        facts.append(f"({'open' if machine.open[c] else 'closed'} c{c})")
        for ability, word in (("cleans", "sink"), ("heats", "oven"), ("cools", "cold")):
            if PLACES[place].get(ability):
                facts.append(f"({word} c{c})")
        facts += [
            f"(takes c{c} o{o})"
            for o, each in machine.things.items()
            if each in PLACES[place]["takes"]
        ]
    for o, each in machine.things.items():
        facts.append(f"(lies o{o} c{machine.lies[o][1]})")
        about = THINGS[each]
        facts.append(f"({'lamp' if about.get('lamp') else 'carried'} o{o})")
        for verb in ("clean", "heat", "cool"):
            if about.get(verb):
                facts.append(f"({verb}able o{o})")
    ends = []
    if where == 254:
        lamps = [o for o, each in machine.things.items() if THINGS[each].get("lamp")]
        ends = [
            f"(holds o{o}) (at c{machine.lies[lamp][1]}) (on o{lamp})"
            for o in things
            for lamp in lamps
        ]
    else:
        goals = [c for c, place in enumerate(machine.places) if place == kind["place"][where]]
        state = [f"({bit} o%d)" for bit in sorted(bits)]
        single = [
            (o, f"(lies o{o} c{c}) " + " ".join(each % o for each in state))
            for o in things
            for c in goals
        ]
        if count == 1:
            ends = [text for _, text in single]
        else:
            ends = [f"{a} {b}" for o, a in single for p, b in single if o < p]
    last = "".join(
        f"(:action end{i} :parameters () :precondition (and {end}) :effect (reached))\n"
        for i, end in enumerate(ends)
    )
    # Constants, since the last actions name them.
    constants = (
        "(:constants "
        + " ".join(f"c{c}" for c in range(len(machine.places)))
        + " - place "
        + " ".join(f"o{o}" for o in machine.things)
        + " - thing)\n  (:predicates"
    )
    domain = (DOMAIN % last).replace("(:predicates", constants)
    problem = (
        f"(define (problem one) (:domain home)\n  (:init {' '.join(facts)})\n"
        "  (:goal (and (reached))))"
    )
    return domain, problem


def task_of(machine: Machine, folder: Path) -> Any:
    planner = pytest.importorskip("pyperplan.planner")
    names = []
    for name, text in zip(("domain", "problem"), pddl(machine), strict=True):
        path = folder / f"{name}.pddl"
        path.write_text(text)
        names.append(str(path))
    parsed = planner._parse(*names)
    return planner._ground(parsed, remove_irrelevant_operators=False)


@pytest.mark.parametrize("task", ["put", "look", "clean", "heat", "cool", "two"])
def test_plans_are_as_short_as_those_of_pyperplan(task, tmp_path):
    search = pytest.importorskip("pyperplan.search")
    heuristics = pytest.importorskip("pyperplan.heuristics.blind")
    env = manyhands.make("home", task=task, receptacles=8, objects=5)
    reset = jax.jit(env.reset)
    for seed in range(4):
        state = reset(episode_key(seed))
        grounded = task_of(Machine(env, state), tmp_path)
        plan = search.astar_search(grounded, heuristics.BlindHeuristic(grounded))
        assert shortest(env, state).steps == len(plan) - 1, seed  # less the action that ends it


def test_as_many_states_as_in_pddl(tmp_path):
    """All states that can be reached in a tiny home, by our steps and by the domain's."""
    start = {
        "rooms": ["kitchen"],
        "receptacles": [{"kind": "fridge"}, {"kind": "counter_top"}, {"kind": "microwave"}],
        "objects": [{"kind": "mug", "in": "counter top 1"}, {"kind": "apple", "in": "fridge 1"}],
        "goal": [{"kind": "apple", "where": "counter_top", "state": ["hot"]}],
    }
    env = manyhands.make("home", task="heat", receptacles=8, objects=3)
    first = env.reset_to(KEY, {"start": start})
    grounded = task_of(Machine(env, first), tmp_path)
    reached = {grounded.initial_state}
    queue = deque(reached)
    while queue:
        for operator, after in grounded.get_successor_states(queue.popleft()):
            if not operator.name.startswith("(end") and after not in reached:
                reached.add(after)
                queue.append(after)

    def facts(s: Any) -> tuple[Any, ...]:
        parts = (s.at, s.open, s.place, s.bits)
        return tuple(tuple(np.asarray(part).tolist()) for part in parts)

    step, legal = jax.jit(env.batch_step), jax.jit(env.batch_legal)
    found = {facts(first)}
    wave = [jax.device_get(first)]
    # The domain neither closes nor stands in the middle of the room again.
    count = env.action_space.n
    close = 1 + env.receptacles + env.rooms + 1
    left_out = {close, *range(1 + env.receptacles, 1 + env.receptacles + env.rooms)}
    keys = jax.vmap(jax.random.key)(np.zeros(count, np.uint32))
    actions = np.arange(count, dtype=np.int32)[None]
    while wave:
        state = wave.pop()
        many = jax.tree.map(lambda x: np.repeat(np.asarray(x)[..., None], count, -1), state)
        mask = np.asarray(legal(many))[0]
        after = jax.device_get(step(keys, many, actions)[0])
        for a in range(count):
            if not mask[a, a] or a in left_out:
                continue
            one = jax.tree.map(lambda x, a=a: x[..., a], after)
            if facts(one) not in found:
                found.add(facts(one))
                wave.append(one)
    assert len(found) == len(reached)
