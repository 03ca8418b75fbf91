"""Homes in words: parity with the vectors, goals, choices that hold, answers, ALFWorld's manner."""

from __future__ import annotations

import functools
import re
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import manyhands
from manyhands.core.env import ConfigError, IllegalAction, describe_with, episode_key
from manyhands.envs.home import features, goals
from manyhands.envs.home.catalog import shipped, words
from manyhands.envs.home.naming import plural
from manyhands.envs.home.observe import code_dtype, layout
from manyhands.envs.home.scene import facts_of
from manyhands.envs.home.state import BITS, OPEN, SHUT
from manyhands.testing.words import broken_facts

CATALOG = shipped()
SMALL = {"receptacles": [9, 12], "objects": [8, 12], "max_steps": 40}
CASES = {
    "chore": {"task": "chore", "slicing": True, "players": 2, **SMALL},
    "chore of one in rooms": {"task": "chore", "rooms": [1, 3], "receptacles": 20, "view": "all"},
    "house": {"task": "house", "players": 3, "max_steps": 300},
    "transport": {"task": "transport", "rooms": [3, 4], "receptacles": 20, "objects": 12},
    "follow": {"task": "follow", "players": 3},
    "instructor": {
        "task": "chore",
        "players": 2,
        "told": "instructor",
        "hidden": ["object", "where", "state"],
        "discussion": 2,
        "rooms": 3,
        "receptacles": 20,
        "travel": "steps",
        "view": "room",
    },
    "first": {"task": "watch_and_help", "told": "first", "hidden": ["object"]},
}


@functools.lru_cache
def make(name, **options):
    return manyhands.make("home", **{**CASES[name], **options})


@functools.lru_cache
def compiled(env):
    return jax.jit(env.reset), jax.jit(env.step), jax.jit(env.observe), jax.jit(env.legal)


def eager(mask, draw):
    """A legal action, going less often than there are places to go to."""
    legal = np.flatnonzero(mask)
    other = legal[legal > GOING[0]]
    return draw.choice(other if len(other) and draw.random() < 0.7 else legal)


GOING = [0]


def walk(env, steps, seed=0):
    """States of an episode of random players that like to do things."""
    reset, step, _, legal = compiled(env)
    draw = np.random.default_rng(seed)
    GOING[0] = env.receptacles + env.rooms
    state = jax.device_get(reset(episode_key(seed)))
    for _ in range(steps):
        yield state
        rows = [eager(mask, draw) for mask in np.asarray(legal(state))]
        state, outcome = jax.device_get(step(episode_key(0), state, np.array(rows, np.int32)))
        if outcome.terminated.any() or outcome.truncated.any():
            return


# ---- parity --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("detail", ["normal", "full"])
def test_the_vector_can_be_read_from_the_text(name, detail):
    env = make(name)
    observe = compiled(env)[2]
    for seed in range(2):
        for state in walk(env, 30, seed):
            seen = np.asarray(observe(state))
            names = facts_of(env, state).object_names
            for agent in range(env.num_agents):
                text = describe_with(env, state, agent, detail)
                read = Reader(env, text, agent, names if detail == "normal" else None)
                assert read.row().tolist() == seen[agent].tolist(), text


@pytest.mark.parametrize("name", ["chore", "house", "transport", "instructor"])
def test_features_follow_from_the_text(name):
    """Features are a function of the codes, and so of the text."""
    env = make(name, observation="features")
    observe = compiled(env)[2]
    network_input = jax.jit(functools.partial(features.network_input, env))
    scale = np.ones(env.observation_layout.size)
    scale[env.observation_layout["left"]] = 64
    for state in walk(env, 24, 2):
        seen = np.asarray(observe(state))
        for agent in range(env.num_agents):
            row = Reader(env, env.with_detail("full").describe(state, agent), agent).row()
            found = np.asarray(network_input(row.astype(code_dtype(env)))) * scale
            assert found.round(3).tolist() == seen[agent].tolist()


class Reader:
    """The observation from a text alone, and what never changes. Objects have their slots in full
    texts; of other texts `names` has them."""

    def __init__(self, env, text, agent, names=None):
        self.env, self.lines, self.agent = env, text.splitlines(), agent
        self.text = text
        self.layout = layout(env)
        self.out = {name: np.zeros(piece.shape, int) for name, piece in self.layout.pieces.items()}
        self.time = int(re.match(r"Step (\d+) of", text)[1])
        if names is None:
            listed = re.findall(r"(\d+) ([a-z ]+ \d+)", self.line("Slots of objects: "))
            self.objects = {name: int(slot) for slot, name in listed}
        else:
            self.objects = {name: o for o, name in enumerate(names) if name}

    def line(self, start):
        found = [line.removeprefix(start) for line in self.lines if line.startswith(start)]
        return found[0].rstrip(".") if found else ""

    def row(self):
        env, out = self.env, self.out
        out["time"][0], out["me"][0] = self.time, self.agent
        self.home()
        self.goal()
        if self.agent < env.players:
            self.me()
            self.places()
            self.others()
        return np.concatenate([out[name].ravel() for name in self.layout])

    # What is where in the home.

    def home(self):
        env, out = self.env, self.out
        rooms = re.findall(r"^- ([a-z0-9 ]+?)(?: \(to (.+?)\))?(?:: (.*))?$", self.text, re.M)
        here = re.search(r" in (?:the middle of )?(?:the )?([a-z0-9 ]+?)(?:, which|\. You|\. In)",
                         self.lines[1])  # fmt: skip
        self.sections = [(start, self.line(start), -1) for start in SECTIONS]
        self.rooms = [room for room, _, _ in rooms] or [here[1]]
        where = {}
        for r, (_, _, said) in enumerate(rooms):
            form = rf"({'|'.join(IN_ROOM)})(?: \[(\d+)\])?: (.*?)\.(?= [A-Z]|$)"
            found = [
                (IN_ROOM[head], part, int(age or -1)) for head, age, part in re.findall(form, said)
            ]
            self.sections += found
            names = [name for start, part, _ in found for name in named(start, part)]
            where |= dict.fromkeys(names or spread(said), r)
        for start, part, _ in self.sections:  # in the own room, or the only one
            for name in named(start, part):
                where.setdefault(name, self.rooms.index(here[1]))
        kinds = [words(name) for name in CATALOG.receptacle_kinds]

        def order(name):
            kind, number = name.rsplit(" ", 1)
            return kinds.index(kind), int(number)

        self.receptacles = sorted(where, key=order)
        for c, name in enumerate(self.receptacles):
            out["receptacle kinds"][c] = order(name)[0] + 1
            out["receptacle rooms"][c] = where[name] + 1
            out["open"][c] = 0 if CATALOG.can["opens"][order(name)[0]] else OPEN
        room_kinds = [words(name) for name in CATALOG.room_kinds]
        for r, room in enumerate(self.rooms):
            out["room kinds"][r] = room_kinds.index(re.sub(r" \d+$", "", room)) + 1
        if "doors" in out:
            doors = out["doors"].reshape(env.rooms, env.rooms)
            for r, (_, leads, _) in enumerate(rooms):
                for other in filter(None, leads.split(", ")):
                    doors[r, self.rooms.index(other)] = 1

    def at(self, said):
        """(room, receptacle), plus 1 each, of "the middle of the kitchen", "bed 1 in bedroom 2"."""
        middle = re.match(r"the middle of (?:the )?(.+)$", said)
        if middle:
            return self.rooms.index(middle[1]) + 1, 0
        name, _, room = said.partition(" in ")
        room = room.removeprefix("the ") or self.rooms[0]
        return self.rooms.index(room) + 1, self.receptacles.index(name) + 1

    # What the player knows.

    def me(self):
        env, out = self.env, self.out
        me = rf"You are {env.agents[self.agent]}, (?:at|in) (.+?)\. (.+)$"
        where, holding = re.match(me, self.lines[1].replace(", which is closed,", "")).groups()
        out["room"][0], out["at"][0] = self.at(where)
        first = env.receptacles + env.hands * self.agent
        hands = re.findall(r"In your (left|right) hand: (.*?)\.(?= In|$)", holding)
        for side, what in hands or [("left", holding.removeprefix("You hold ").rstrip("."))]:
            hand = ("left", "right").index(side)
            for o in self.things(what, first + hand, self.time):
                out["hands"][hand] = o + 1
        if "player rooms" in out:
            out["player rooms"][self.agent] = out["room"][0]
            out["player places"][self.agent] = out["at"][0]
            out["player seen"][self.agent] = self.time + 1

    def things(self, said, place, since):
        """Read a list of objects in a place; the slots of those outside of containers."""
        env, out, tops = self.env, self.out, []
        if said == "nothing":
            return tops
        inside = None
        pattern = (
            r"(?P<name>[a-z][a-z ]*? \d+)(?: \((?P<state>[^)]*)\))?(?: \[(?P<age>\d+)\])?"
            r"(?P<after>, | and | with | in it|$)"
        )
        end, depth = 0, since
        while end < len(said):
            found = re.compile(pattern).match(said, end)
            assert found, said[end:]
            end = found.end()
            o = self.objects[found["name"]]
            states = found["state"].split(", ") if found["state"] else []
            seen = depth if inside is not None else since
            seen = self.time - int(found["age"]) if found["age"] else seen
            kind = words_of(CATALOG.object_kinds).index(found["name"].rsplit(" ", 1)[0])
            out["object kinds"][o] = kind + 1
            where = place if inside is None else env.receptacles + env.hands * env.players + inside
            out["object places"][o] = 0 if where is None else where + 1
            out["object bits"][o] = sum(bit for bit, word in BITS.items() if word in states)
            out["object seen"][o] = seen + 1
            if "target" in states:
                out["targets"][o] = 1
            if inside is None:
                tops.append(o)
            if found["after"] == " with ":
                inside, depth = o, seen
            elif found["after"] == " in it":
                inside = None
                end += 2 if said[end : end + 2] == ", " else 0
        return tops

    def places(self):
        for start, said, age in self.sections:
            since = self.time - age if age >= 0 else -1
            for part in filter(None, said.split("; ")):
                if start in SEEN:
                    head, what = part.split(": ", 1)
                    now = start != "Seen before: "
                    head = head.split(" ", 1)[1] if now else head
                    self.receptacle(head, what, self.time if now else since)
                    continue
                mark = re.search(r" \[.*\]", part)
                for name in spread(part):
                    self.receptacle(name + (mark[0] if mark else ""), "nothing", since)
        for o in self.things(self.line("No longer where you saw it: ") or "nothing", None, -1):
            assert self.out["object places"][o] == 0

    def receptacle(self, head, what, since=-1):
        form = r"([a-z ]+ \d+)(?: \[(\d+)?(?:, )?(open|closed)?\])?$"
        name, age, door = re.match(form, head).groups()
        since = self.time - int(age) if age else since
        c = self.receptacles.index(name)
        self.out["looked"][c] = since + 1
        if door:
            self.out["open"][c] = OPEN if door == "open" else SHUT
        self.things(what, c, since)

    def others(self):
        env, out = self.env, self.out
        for line in self.lines:
            found = re.match(
                r"player_(\d) (?:is|was (\d+) steps? ago) (?:in|at) (.+), holding (.+?)"
                r"(?:, and has left this room)?\.$",
                line,
            )
            if not found:
                continue
            n, since = int(found[1]), self.time - int(found[2] or 0)
            out["player rooms"][n], out["player places"][n] = self.at(found[3])
            out["player seen"][n] = since + 1
            first = env.receptacles + env.hands * n
            if env.hands == 1 or found[4] == "nothing":
                self.things(found[4], first, since)
            else:
                for what, side in re.findall(r"(.+?) in the (left|right) hand(?: and )?", found[4]):
                    self.things(what, first + (side == "right"), since)

    # The goal.

    def goal(self):
        env, out = self.env, self.out
        said = self.line("Goal: ")
        if env.family == "follow":
            out["errand"][1] = int(re.search(r"Errands done: (\d+)", said)[1])
            upcoming = re.search(r"the next is at ([a-z ]+ \d+)", said)
            if upcoming:
                out["errand"][0] = self.receptacles.index(upcoming[1]) + 1
            return
        form = r"(?:put|look at|bring) (.+) (?:in|on|under|to) an? (.+?)(?:\. Done.*)?$"
        what, place = re.match(form, said).groups()
        if place == "place (untold)":
            where = 254
        else:
            where = 255 if place == "lamp" else words_of(CATALOG.receptacle_kinds).index(place) + 1
        items = re.split(r", (?!state)| and (?=an? |two|three|four|five)", what)
        for k, item in enumerate(items):
            many, noun, untold = re.match(r"(\w+) (.+?)(?: \(untold: (.+)\))?$", item).groups()
            states = re.match(r"(?:(?:clean|hot|cool|sliced)(?: and)? )*", noun)[0]
            out["goal kinds"][k] = NOUNS[noun.removeprefix(states)]
            out["goal counts"][k] = NUMBERS[many]
            bits = sum(bit for bit, word in BITS.items() if word in states.split())
            out["goal bits"][k] = 128 if "state" in (untold or "") else bits
            out["goal places"][k] = where


NUMBERS = {"a": 1, "an": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
NOUNS = {"target": 255, "targets": 255, "object": 254, "objects": 254}
for kind, name in enumerate(CATALOG.object_kinds, start=1):
    NOUNS |= {words(name): kind, plural(words(name)): kind}
SEEN = ("You see ", "In view: ", "Seen before: ")
SECTIONS = (*SEEN, "Empty when seen: ", "Never looked into: ")
IN_ROOM = dict(zip(("In view", "Seen", "Empty", "Not seen"), SECTIONS[1:], strict=True))


def named(start, said):
    """The receptacles that a part of a text tells of."""
    if start not in SEEN:
        return spread(said)
    return re.findall(r"(?:^|; )(?:in |on )?([a-z ]+ \d+)(?: \[[^]]*\])?:", said)


def words_of(names):
    return [words(name) for name in names]


def spread(said):
    """ "cabinet 1-2, 4; bed 1 [3]" -> each name."""
    found = []
    for part in said.split("; "):
        part = re.sub(r" \[.*\]$", "", part)
        match = re.match(r"([a-z ]+?) (\d.*)$", part)
        for piece in match[2].split(", ") if match else ():
            first, _, last = piece.partition("-")
            found += [f"{match[1]} {i}" for i in range(int(first), int(last or first) + 1)]
    return found


# ---- choices -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_choices_are_the_legal_actions_and_hold(name):
    """Each legal action has a line that means it, and what is certain happens whatever the others
    do, with as many of them at one place as can be."""
    env = make(name)
    legal, step = compiled(env)[3], compiled(env)[1]
    draw = np.random.default_rng(1)
    for t, state in enumerate(gathered(env, 24)):
        mask = np.asarray(legal(state))
        for agent in range(env.num_agents):
            offered = env.choices(state, agent, None)
            actions = [choice.action for choice in offered]
            assert actions == np.flatnonzero(mask[agent]).tolist()
            assert len(env.choices(state, agent)) <= len(offered)
            for choice in offered if t % 4 == agent % 4 else ():
                assert env.parse(choice.text, state, agent) == choice.action
                assert env.parse(str(choice), state, agent) == choice.action
                if not choice.certain:
                    assert "unless" in choice.effect
                    continue
                rows = [draw.choice(np.flatnonzero(row)) for row in mask]
                rows[agent] = choice.action
                after = jax.device_get(step(episode_key(0), state, np.array(rows, np.int32))[0])
                frame = SimpleNamespace(state=after, reward=np.zeros(env.num_agents), over=False)
                assert not broken_facts(env, choice, frame), (str(choice), rows)


def gathered(env, steps):
    """States of random players that go to the same receptacle now and then."""
    reset, step, _, legal = compiled(env)
    draw = np.random.default_rng(3)
    state = jax.device_get(reset(episode_key(5)))
    busy = env.receptacles + env.rooms
    for t in range(steps):
        yield state
        mask, meet = np.asarray(legal(state)), 1 + draw.integers(env.receptacles)
        rows = []
        for row in mask:
            other = [action for action in np.flatnonzero(row) if action > busy]
            rows.append(meet if t % 4 < 2 and row[meet] else draw.choice(other or [0]))
        state, outcome = jax.device_get(step(episode_key(0), state, np.array(rows, np.int32)))
        if outcome.terminated.any():
            return


def test_who_comes_later_is_told_that_others_may_be_faster():
    env = make("chore")
    doubts = [
        choice
        for state in gathered(env, 30)
        for agent in range(2)
        for choice in env.choices(state, agent, None)
        if not choice.certain
    ]
    assert {choice.text.split()[0] for choice in doubts} >= {"take"}
    assert all("unless player_" in choice.effect for choice in doubts)


def test_texts_are_short():
    env = manyhands.make("home")
    lengths = [
        (len(env.describe(state, 0)), sum(len(choice) + 1 for choice in env.choices(state, 0)))
        for seed in range(4)
        for state in walk(env, 30, seed)
    ]
    assert max(described for described, _ in lengths) <= 1200
    assert max(offered for _, offered in lengths) <= 800
    for name in CASES:
        for agent in range(make(name).num_agents):
            assert 1500 < len(make(name).rules(agent)) <= 5000


# ---- goals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CASES if name != "follow"])
def test_goals_are_read_from_their_own_sentences(name):
    env = make(name)
    for seed in range(12):
        state = jax.device_get(compiled(env)[0](episode_key(seed)))
        asked = goals.conditions_of(env, facts_of(env, state))
        said = goals.sentence(CATALOG, asked)
        assert goals.read(CATALOG, said) == tuple(asked), said
        fields = goals.fields(CATALOG, asked, env.conditions)
        for field, values in fields.items():
            assert values.tolist() == getattr(state, field).tolist()
        if name == "chore":
            alfworld = goals.alfworld_sentence(CATALOG, asked)
            assert goals.read(CATALOG, alfworld) == tuple(asked), alfworld


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ("Heat some egg and put it in diningtable.", "put a hot egg on a dining table"),
        ("find two soapbar and put them in cabinet", "put two soap bars in a cabinet"),
        ("examine the book with the desklamp", "look at a book under a lamp"),
        ("Your task is to: cool some pan and put it in stoveburner.",
         "put a cool pan on a stove burner"),
        ("bring 3 target objects to the bed", "bring three targets to a bed"),
        ("put a mug in a cabinet and put two forks in a drawer",
         "put a mug in a cabinet, and put two forks in a drawer"),
    ],
)  # fmt: skip
def test_goals_are_read_as_they_are_worded_elsewhere(said, same):
    assert goals.sentence(CATALOG, goals.read(CATALOG, said)) == same


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ("put a mugg in a cabinet", '"mug"'),
        ("put a hot book on a shelf", "hot"),
        ("put a towel in a fridge", "towel"),
        ("put a mug or a cup in a cabinet", "no goal"),
        ("put a bottle in a fridge", "no goal"),
        ("put a mug in cabinet 2", "no goal"),
        ("clean the kitchen", "no goal"),
        ("", "sentence"),
        (7, "sentence"),
    ],
)
def test_sentences_that_are_no_goal_are_refused(said, match):
    with pytest.raises(ConfigError, match=match):
        goals.read(CATALOG, said)


def test_a_home_can_be_described_with_a_sentence_for_its_goal():
    env = kitchen()
    state = start(env, apple_on_counter)
    home = {**env.task_space.describe(state), "goal": "heat some apple and put it in the fridge"}
    state = env.reset_to(episode_key(0), {"start": home})
    assert "Goal: put a hot apple in a fridge." in env.describe(state, 0)
    assert env.task_space.describe(state)["goal"] == goals.described(
        CATALOG, goals.read(CATALOG, home["goal"])
    )
    with pytest.raises(ConfigError, match="no goal"):
        env.reset_to(episode_key(0), {"start": {**home, "goal": "make the apple happy"}})


# ---- answers -------------------------------------------------------------------------------------


@functools.lru_cache
def kitchen(replies="facts"):
    env = manyhands.make(
        "home", task="chore_small", receptacles=12, objects=12, replies=replies, max_steps=60
    )
    return env


def start(env, suits):
    """The first state, by seed, that suits."""
    for seed in range(400):
        state = jax.device_get(compiled(env)[0](episode_key(seed)))
        if suits(env.to_dict(state)):
            return state
    raise AssertionError("no seed gives such a home")


def after(env, state, *said):
    for words_ in said:
        action = env.parse(words_, state, 0)
        state = jax.device_get(
            compiled(env)[1](episode_key(0), state, np.array([action], np.int32))[0]
        )
    return state


def apple_on_counter(told):
    return told["objects"].get("apple 1", {}).get("place") == "counter top 1"


def test_refusals_say_why():
    env = kitchen()
    state = start(env, apple_on_counter)

    def refused(state, said):
        with pytest.raises(IllegalAction) as error:
            env.parse(said, state, 0)
        assert len(error.value.reason) <= 400
        return error.value.reason

    assert "have not seen" in refused(state, "take apple 1")
    assert "go there first" in refused(state, "open fridge 1")
    assert "cabinet 1" in refused(state, "go to the cabinet")
    assert "no such receptacle" in refused(state, "go to cabinet 99")
    state = after(env, state, "go to the first counter")
    assert "empty" in refused(state, "put it down")
    assert "does not open" in refused(state, "open it")
    state = after(env, state, "grab apple 1")
    assert "apple 1 is not here: you hold it" in refused(state, "take apple 1")
    assert "you hold apple 1" in refused(state, "inventory")
    assert "hot at counter top 1: go to a microwave" in refused(state, "heat the apple")
    state = after(env, state, "go to the fridge")
    assert "is closed: open it first" in refused(state, "put the apple in the fridge")
    assert "closed already" in refused(state, "close it")
    state = after(env, state, "open it", "chill the apple", "put the apple inside the fridge")
    told = env.to_dict(state)
    assert told["objects"]["apple 1"] == {"place": "fridge 1", "state": ["cool"]}


# ---- ALFWorld's manner ---------------------------------------------------------------------------


def test_prompts_for_alfworld_can_be_used():
    """Names, commands, replies; what is not open is a wait to which nothing happens."""
    env = kitchen("alfworld")
    brief = env.with_detail("brief")
    state = start(env, apple_on_counter)
    first = brief.describe(state, 0)
    assert first.startswith("You are in the middle of a room.") and "a countertop 1" in first
    assert re.search(r"\nYour task is to: (put|look at) .+\.$", first)
    for said, reply in (
        (
            "go to countertop 1",
            r"You arrive at countertop 1\. On the countertop 1, you see an? .+\.",
        ),
        ("open fridge 1", r"Nothing happens\."),
        ("inventory", r"Nothing happens\."),
        ("take apple 1 from countertop 1", r"You pick up the apple 1 from the countertop 1\."),
        ("go to fridge 1", r"You arrive at fridge 1\. The fridge 1 is closed\."),
        ("open fridge 1", r"You open the fridge 1\. The fridge 1 is open\. In it, you see .+\."),
        ("cool apple 1 with fridge 1", r"You cool the apple 1 using the fridge 1\."),
        ("put apple 1 in/on fridge 1", r"You put the apple 1 in/on the fridge 1\."),
        ("close fridge 1", r"You close the fridge 1\."),
        ("> think: what else is there?", r"Nothing happens\."),
        ("go to microwave 1", r"You arrive at microwave 1\. The microwave 1 is closed\."),
    ):
        state = after(env, state, said)
        assert re.fullmatch(reply, brief.describe(state, 0)), brief.describe(state, 0)
    assert "You are carrying: nothing." in env.describe(state, 0)
    assert "Seen before: " in env.with_detail("full").describe(state, 0)
    admissible = [str(choice) for choice in env.choices(state, 0, None)]
    assert "open microwave 1" in admissible and "go to sinkbasin 1" in admissible
    actions = [choice.action for choice in env.choices(state, 0, None)]
    assert [env.parse(said, state, 0) for said in admissible] == actions
    with pytest.raises(IllegalAction):
        env.parse("don't open microwave 1", state, 0)
    assert manyhands.make("home", **env.config()) == env and env != kitchen()


# ---- talk ----------------------------------------------------------------------------------------


def test_what_is_hidden_can_be_asked_and_told():
    """A phrasebook with all that an instructor may have to say; what was said is in the text."""
    env = make("instructor")
    talk = manyhands.make("chat", env=env, takes_step=True)
    assert len(set(env.phrases)) == len(env.phrases) <= 250
    assert set(make("chore").phrases) < set(env.phrases)
    state = jax.device_get(jax.jit(talk.reset)(episode_key(0)))
    (kind, _, bits, where, _), *_ = goals.conditions_of(env, facts_of(env, state.inner))
    assert f"it is a {words(CATALOG.object_kinds[kind])}".replace("a a", "an a") in env.phrases
    said = [
        talk.parse(answer, state, agent)
        for agent, answer in enumerate(
            ("wait\nSAY: what is it?", "wait", "wait\nSAY: it is a credit card")
        )
    ]
    state, outcome = jax.device_get(jax.jit(talk.step)(episode_key(0), state, np.stack(said)))
    assert 'player_0 "what is it?"' in talk.describe(state, "instructor")
    assert 'instructor "it is a credit card"' in talk.describe(state, 1)
    with pytest.raises(IllegalAction, match="no hands"):
        talk.parse("go to cabinet 1", state, "instructor")
    assert [choice.text for choice in env.choices(state.inner, "instructor")] == ["wait"]
    assert outcome.metrics["messages"] == 2 and bits == 0 and where > 0


def test_talk_before_the_start():
    env = make("instructor")
    reset, step = compiled(env)[:2]
    state = jax.device_get(reset(episode_key(0)))
    for left in (2, 1):
        assert f"nobody can act for {left} step" in env.describe(state, 0)
        assert [choice.text for choice in env.choices(state, 0)] == ["wait"]
        state = jax.device_get(step(episode_key(0), state, np.zeros(3, np.int32))[0])
    assert len(env.choices(state, 0)) > 1 and "nobody can act" not in env.describe(state, 0)


# ---- a player that reads nothing but the texts ---------------------------------------------------


SINGLE = {plural(words(name)): words(name) for name in CATALOG.object_kinds}
MAKE = {"clean": ("clean", "sink basin"), "hot": ("heat", "microwave"), "cool": ("cool", "fridge")}


def cook(view):
    """Looks everywhere in turn until it finds what is asked for, changes it, brings it."""
    text = view.text
    goal = re.search(r"^Goal: (?:put|look at) (.+?) (?:in|on|under) an? ([a-z ]+)\.", text, re.M)
    what, where = goal.groups()
    noun = what.split(" ", 1)[1]
    noun = SINGLE.get(noun, noun)
    wants = re.match(r"(clean|hot|cool) ", noun)
    noun = noun.removeprefix(wants[0]) if wants else noun
    wants = wants[1] if wants else ""
    at = re.search(r"^You are player_0, at ([a-z ]+ \d+)(?:, which is closed,)? in ", text, re.M)
    at, shut = at and at[1], ", which is closed," in text
    holds = re.search(r"You hold ([a-z ]+?)(?: \d+)?(?: \((.*)\))?\.$", text, re.M).groups()
    known = {}
    for line in re.findall(r"^(?:You see|Seen before:) (.*)\.$", text, re.M):
        for part in line.split("; "):
            head, things = part.split(": ")
            place = re.match(r"(?:in |on )?([a-z ]+ \d+)", head)[1]
            known[place] = re.findall(r"([a-z ]+?) (\d+)(?: \((.*?)\))?(?:, |$)", things)
    unknown = re.search(r"^Never looked into: (.*)\.$", text, re.M)
    empty = re.search(r"^Empty when seen: (.*)\.$", text, re.M)
    unseen = spread(unknown[1]) if unknown else []
    places = [*known, *unseen, *(spread(empty[1]) if empty else [])]

    def get_to(place):
        if at != place:
            return f"go to {place}"
        return f"open {place}"

    if holds[0] == noun:
        if where == "lamp":
            lit = [p for p, there in known.items() if any("lamp" in thing[0] for thing in there)]
            if lit:
                return get_to(lit[0]) if at != lit[0] else "turn on the lamp"
            return get_to(at if shut else unseen[0])
        if wants and wants not in (holds[1] or ""):
            verb, tool = MAKE[wants]
            assert re.search(rf"{verb} (what you hold|it) at a {tool}", view.rules)
            if not (at or "").startswith(tool):
                return f"go to {next(place for place in places if place.startswith(tool))}"
            return f"{verb} the {noun}"
        if not at or not re.fullmatch(rf"{where} \d+", at):
            return get_to(next(place for place in places if re.fullmatch(rf"{where} \d+", place)))
        return f"open {at}" if shut else "put it down here"
    for place, there in known.items():
        for kind, number, states in there:
            done = re.fullmatch(rf"{where} \d+", place) and (not wants or wants in (states or ""))
            if kind == noun and not done:
                return f"take {kind} {number}" if at == place and not shut else get_to(place)
    return get_to(at if shut else unseen[0])


def test_chores_are_done_by_who_reads():
    env = manyhands.make("home", task="chore_small")
    result = manyhands.play(env, cook, 10, seed=3, on_illegal="raise", progress=False)
    assert result.rewards.tolist() == [[1.0]] * 10


def test_rules_tell_of_the_texts_that_there_are():
    """ALFWorld's replies have no memory, and "look" is its waiting."""
    facts, replies = kitchen("facts").rules(0), kitchen("alfworld").rules(0)
    assert "in square brackets" in facts and "in square brackets" not in replies
    assert '"look" is the command that waits' in replies and '"look"' not in facts
    assert "in square brackets" in kitchen("alfworld").with_detail("full").rules(0)


def test_who_does_nothing_is_told_so():
    home = make("house")
    reset, step, *_ = compiled(home)
    state, _ = step(episode_key(0), reset(episode_key(0)), np.array([0, 0, 2], np.int32))
    assert home.describe(state, 0).splitlines()[-1].startswith("Last step: you waited")
    last = home.describe(state, 2).splitlines()[-1]
    assert last.startswith("Last step: you went to") and "waited" not in last


def test_rules_of_following():
    """Nothing of the errands is hidden; the reward of each player is its own."""
    rules = manyhands.make("home", task="follow", told="instructor").rules("player_1")
    assert "player_0 has 12 errands" in rules and "untold" not in rules
    assert "must ask" not in rules and "The instructor, too, is told where player_0" in rules
    assert "1 for player_0 at each errand. Each player gets its own." in rules
    assert "must ask" in manyhands.make("home", task="house", told="first").rules("player_1")
    assert "Each player" not in manyhands.make("home", task="house").rules("player_1")


def test_a_delivery_is_told_and_stays():
    home = make("transport")
    assert "is delivered, and stays there" in home.rules(0)
    assert "- clean what you hold at a sink basin" in home.rules(0)  # it is a choice, too
    shown, refused = 0, 0
    for state in walk(home, 200, 1):
        facts = facts_of(home, state)
        for agent in range(home.num_agents):
            for choice in home.choices(state, agent):
                if choice.effect.startswith("deliver it"):
                    shown += 1
                    assert facts.target[facts.object_names.index(choice.text.split(" on ")[0][4:])]
            at = facts.at[agent]
            here = [o for o, place in enumerate(facts.place) if place == at and facts.target[o]]
            if here and facts.receptacle_names[at].startswith("bed "):
                refused += 1
                with pytest.raises(IllegalAction, match=r"is delivered, and|hand.* full"):
                    home.parse(f"take {facts.object_names[here[0]]}", state, agent)
    assert shown and refused


def played(env, seed, *steps):
    """The state after some steps, each an answer of every player."""
    state, key = jax.jit(env.reset)(episode_key(seed)), episode_key(seed + 1)
    for answers in steps:
        rows = [env.parse(text, state, i) for i, text in enumerate(answers)]
        state, *_ = jax.jit(env.step)(key, state, np.array(rows, np.int32))
    return state


def test_what_is_held_under_a_lamp_is_told_to_be_done():
    env = manyhands.make("home", task="chore_small")
    steps = (
        "go to desk 2",
        "take box of tissues 1 from desk 2",
        "go to armchair 2",
        "use floor lamp 1: it goes on",
    )
    before = played(env, 8, *((step,) for step in steps[:-1]))
    assert "Done, as far as you know: 0 of 1." in env.describe(before, 0)
    after = played(env, 8, *((step,) for step in steps))
    assert "Done, as far as you know: 1 of 1." in env.describe(after, 0)


def test_who_left_is_told_and_the_example_is_in_the_own_room():
    env = manyhands.make("home", task="watch_and_help")
    state = played(env, 8, ("wait", "go to kitchen"))
    assert "holding nothing, and has left this room." in env.describe(state, 0)
    assert "has left" not in env.describe(state, 1)
    going = next(c for c in env.choices(state, 0) if c.form is not None)
    assert going.form.example == "go to armchair 1"
