"""A study's file: what participants read, play and are asked, in TOML.

    title = "Cooking with strangers"
    instructions = "Cook and serve as many soups as you can."
    order = "latin"

    [partners]                          # name = a seat
    steady = "greedy"
    stranger = { pool = ["greedy:noise=0.3", "onion_only"], held_out = true }

    [games.first_steps]
    id = "kitchen"
    practice = true
    partners = ["steady"]

    [games.ring]
    id = "kitchen"
    config = { layout = "coordination_ring" }

    [[questions]]
    name = "fluent"
    when = "after_game"
    kind = "scale"
    text = "We worked well together."

Everything is checked before the first participant comes: an unknown key, game, seat or option is an
error that names the nearest one that exists.
"""

from __future__ import annotations

import functools
import hashlib
import os
import random
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manyhands.core.config import boolean, nearest, number, one_of, whole
from manyhands.core.env import ConfigError, Env, ManyhandsError, names_of
from manyhands.core.registry import load, make_wrapped
from manyhands.core.seats import seat_policy
from manyhands.web.tables import LEAVERS, PERSON

ORDERS = ("latin", "random", "fixed")
WHEN = ("before", "after_game", "end")
KINDS = ("choice", "scale", "text")
BETWEEN = ("", "partners", "games")
HELD_OUT = "held_out"  # a pool: the environment's own held-out partners
LONGEST_TEXT = 20_000  # characters of a text that participants read
LONGEST_ANSWER = 5_000  # characters of an answer
# What file names and tables can show, and no spreadsheet takes for a formula.
_NAME = re.compile(r"[A-Za-z][\w-]{0,39}")


@dataclass(frozen=True)
class Partner:
    """Who plays beside a participant, in all other seats.

    Attributes:
        name: in the file and the tables.
        seats: seats by name; with several, each game takes the next one. `PERSON` is another
            participant.
        pool: whether the environment's own held-out partners are meant instead.
        held_out: a partner that is not met in practice.
        otherwise: the seat that plays where no other participant comes in time.
    """

    name: str
    seats: tuple[str, ...]
    pool: bool = False
    held_out: bool = False
    otherwise: str = ""

    def seats_in(self, env: Env) -> tuple[str, ...]:
        """Its seats in an environment, in turn."""
        if not self.pool:
            return self.seats
        from manyhands.baselines.evaluation import held_out

        return tuple(held_out(env).values())


@dataclass(frozen=True)
class StudyGame:
    """A game of a study.

    Attributes:
        name: in the file and the tables.
        id, config, skills, chat, events: of the environment, as in `make_wrapped`.
        practice: whether it is played before the others, outside the design.
        partners: names of those it is played with, one after the other.
        episodes: games in a row with each of them.
        agent: the participant's, or "" if it changes from one participant to the next.
        clock: seconds of a step, None if the game waits.
        text: what is said above it.
    """

    name: str
    id: str
    config: Mapping[str, Any]
    skills: bool
    chat: bool
    events: str
    practice: bool
    partners: tuple[str, ...]
    episodes: int
    agent: str
    clock: float | None
    text: str

    @functools.cached_property
    def env(self) -> Env:
        return make_wrapped(
            self.id, self.config, skills=self.skills, events=self.events, chat=self.chat
        )


@dataclass(frozen=True)
class Question:
    """A question to participants.

    Attributes:
        name: of its column.
        when: one of `WHEN`.
        kind: one of `KINDS`.
        text: what is asked.
        options, many: of a choice: what can be chosen, and whether several may be.
        low, high, labels: of a scale: its ends, and the words at them.
        required: whether it has to be answered.
        correct: the right answer of a choice that tests whether instructions were understood: the
            study goes on only with it. "" if there is none.
    """

    name: str
    when: str
    kind: str
    text: str
    options: tuple[str, ...] = ()
    many: bool = False
    low: int = 1
    high: int = 7
    labels: tuple[str, ...] = ()
    required: bool = True
    correct: str = ""

    def words(self) -> dict[str, Any]:
        """For a page, without the right answer."""
        return {
            "name": self.name,
            "kind": self.kind,
            "text": self.text,
            "options": list(self.options),
            "many": self.many,
            "low": self.low,
            "high": self.high,
            "labels": list(self.labels),
            "required": self.required,
        }

    def check(self, given: Any) -> Any:
        """The value of an answer; None where there is none.

        Raises:
            ConfigError: it is missing, or none of those that can be given.
        """
        if given is None or given == "" or given == []:
            if self.required:
                raise ConfigError(f"please answer: {self.text}")
            return None
        if self.kind == "scale":
            return whole(self.name, given, self.low, self.high)
        if self.kind == "text":
            if not isinstance(given, str) or len(given) > LONGEST_ANSWER:
                raise ConfigError(f"{self.name} is a text of at most {LONGEST_ANSWER} characters")
            return given
        if not self.many:
            return one_of(self.name, given, self.options)
        if not isinstance(given, list) or len(given) > len(self.options):
            raise ConfigError(f"{self.name} is a list of choices")
        return [one_of(self.name, one, self.options) for one in given]


@dataclass(frozen=True)
class Stage:
    """One page of a participant's way through a study.

    Attributes:
        kind: "consent", "instructions", "questions", "game" or "end".
        when: of questions, one of `WHEN`.
        trial: number of the game, practice included, from 1; 0 elsewhere.
        game, partner: their names.
        agent: the participant's in the game.
        turn: chooses the partner's seat, where it has several.
    """

    kind: str
    when: str = ""
    trial: int = 0
    game: str = ""
    partner: str = ""
    agent: str = ""
    turn: int = 0


@dataclass(frozen=True)
class Study:
    """A study, read by `read_study`.

    Attributes:
        text: its file.
        name: of its folder.
        title, consent, instructions, thanks: what participants read; "" leaves a page out.
        code: what they hand in at the end, "" for a code of each one's own.
        link: where the last page leads to, "" for nowhere.
        external: the parameter of the study's address in which a recruiting site gives its own id
            of a participant; "" if anybody may come.
        order: of games: "latin" (balanced for position and for which comes after which), "random"
            or "fixed" (as in the file).
        between: "partners" or "games": each participant meets one of them only; "" for all of both.
        participants: after so many the study is full; 0 for no limit.
        wait: seconds to wait for other participants.
        patience, leaver: of a seat whose person leaves while others play, as in `Table`.
        seed: of games, and of the order "random".
    """

    text: str
    name: str
    title: str
    consent: str
    instructions: str
    thanks: str
    code: str
    link: str
    external: str
    order: str
    between: str
    participants: int
    wait: float
    patience: float
    leaver: str
    seed: int
    partners: Mapping[str, Partner] = field(default_factory=dict)
    games: Mapping[str, StudyGame] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()

    @property
    def digest(self) -> str:
        """Of all that participants meet."""
        return hashlib.blake2b(self.text.encode(), digest_size=8).hexdigest()

    @functools.cached_property
    def groups(self) -> dict[str, list[tuple[str, str]]]:
        """The (game, partner) pairs that each group of participants plays, in the file's order."""
        pairs = [
            (game.name, partner)
            for game in self.games.values()
            if not game.practice
            for partner in game.partners
        ]
        if not self.between:
            return {"all": pairs}
        place = 1 if self.between == "partners" else 0
        found: dict[str, list[tuple[str, str]]] = {}
        for pair in pairs:
            found.setdefault(pair[place], []).append(pair)
        return found

    def rows(self, group: str) -> int:
        """How many orders a group's participants take in turn."""
        return len(latin_square(len(self.groups[group]))) if self.order == "latin" else 1

    def ask(self, when: str) -> list[Question]:
        """The questions of a page."""
        return [question for question in self.questions if question.when == when]

    def stages(self, group: str, row: int, number: int) -> list[Stage]:
        """The way of a participant.

        Args:
            group: a key of `groups`.
            row: of the orders, less than `rows`.
            number: how many participants came before.
        """
        pairs = self.groups[group]
        if self.order == "latin":
            order = latin_square(len(pairs))[row]
        else:
            order = list(range(len(pairs)))
            if self.order == "random":
                random.Random(f"{self.seed} {number}").shuffle(order)
        stages = [Stage("consent")] if self.consent else []
        stages += [Stage("instructions")] if self.instructions else []
        stages += [Stage("questions", "before")] if self.ask("before") else []
        practice = [
            (game.name, partner)
            for game in self.games.values()
            if game.practice
            for partner in game.partners
        ]
        # Agents, and then partners of a pool, change when all groups and orders have been taken.
        cycle, trial = number // (len(self.groups) * self.rows(group)), 0
        for place, (game, partner) in enumerate((*practice, *(pairs[i] for i in order))):
            agents = self.games[game].env.agents
            agent = self.games[game].agent or agents[cycle % len(agents)]
            for episode in range(self.games[game].episodes):
                trial += 1
                turn = cycle // len(agents) + place + episode
                stages.append(Stage("game", "", trial, game, partner, agent, turn))
                if self.ask("after_game") and not self.games[game].practice:
                    stages.append(Stage("questions", "after_game", trial, game, partner))
        stages += [Stage("questions", "end")] if self.ask("end") else []
        return [*stages, Stage("end")]


def latin_square(n: int) -> list[list[int]]:
    """Orders of `n` things in which each stands in each place equally often, and comes right after
    each other one equally often: `n` orders, or 2 n where n is odd (Williams, 1949)."""
    first = [0]
    for step in range(1, n):
        first.append((step + 1) // 2 if step % 2 else n - step // 2)
    rows = [[(one + shift) % n for one in first] for shift in range(n)]
    return rows + [row[::-1] for row in rows] if n % 2 and n > 1 else rows


# ---- reading -------------------------------------------------------------------------------------

# What each table of the file may hold.
KEYS = {
    "study": (
        *("name", "title", "consent", "instructions", "thanks", "code", "link"),
        *("external", "order"),
        *("between", "participants", "wait", "patience", "leaver", "seed"),
        *("partners", "games", "questions"),
    ),
    "partners": ("seat", "pool", "held_out", "otherwise"),
    "games": (
        *("id", "config", "skills", "chat", "events", "practice", "partners", "episodes", "agent"),
        *("clock", "text"),
    ),
    "questions": (
        *("name", "when", "kind", "text", "options", "many", "low", "high", "labels"),
        *("required", "correct"),
    ),
}


def read_study(source: str | os.PathLike[str]) -> Study:
    """The study in a file.

    Raises:
        ConfigError: it cannot be read, or something in it makes no sense.
    """
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the study {os.fspath(source)}: {error}") from error
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the study {os.fspath(source)} is no TOML: {error}") from error
    _known("a study", given, KEYS["study"])
    name = given.get("name", path.stem if _NAME.fullmatch(path.stem) else "study")
    partners = {
        key: _partner(key, one) for key, one in _table("partners", given.get("partners")).items()
    }
    games = {
        key: _game(key, one, partners) for key, one in _table("games", given.get("games")).items()
    }
    questions = _questions(given.get("questions", []))
    code, link = _text("code", given.get("code", ""), 100), _text("link", given.get("link", ""))
    if link and not link.startswith("https://"):
        raise ConfigError(f"link is an address that begins with https://, given {link!r}")
    external = given.get("external", "")
    if external == "token":
        raise ConfigError("external is not 'token', which is the server's own parameter")
    study = Study(
        text=text,
        name=_name("the name of the study", name),
        title=_text("title", given.get("title", name), 200),
        **{key: _text(key, given.get(key, "")) for key in ("consent", "instructions", "thanks")},
        code=code,
        link=link,
        external=external and _name("external", external),
        order=one_of("order", given.get("order", "latin"), ORDERS),
        between=one_of("between", given.get("between", ""), BETWEEN),
        participants=whole("participants", given.get("participants", 0), 0),
        wait=number("wait", given.get("wait", 120.0), 0, 3600),
        patience=number("patience", given.get("patience", 60.0), 0, 3600),
        leaver=one_of("leaver", given.get("leaver", "bot"), LEAVERS),
        seed=whole("seed", given.get("seed", 0), 0, 2**31 - 1),
        partners=partners,
        games=games,
        questions=questions,
    )
    if not any(study.groups.values()):
        raise ConfigError("a study has at least one game that is no practice, with a partner")
    _check_seats(study)
    return study


def _partner(name: str, given: Any) -> Partner:
    _name("a partner", name)
    about = given if isinstance(given, Mapping) else {"seat": given}
    _known(f"the partner {name!r}", about, KEYS["partners"])
    if ("seat" in about) == ("pool" in about):
        raise ConfigError(f"the partner {name!r} has either seat or pool, given {given!r}")
    pool = about.get("pool") == HELD_OUT
    seats = [about["seat"]] if "seat" in about else about["pool"]
    seats = [] if pool else seats
    if not isinstance(seats, list) or not all(isinstance(one, str) and one for one in seats):
        raise ConfigError(
            f'the partner {name!r} is a seat, or a pool: a list of seats or "{HELD_OUT}"; '
            f"given {given!r}"
        )
    if not seats and not pool:
        raise ConfigError(f"the pool of the partner {name!r} is empty")
    if PERSON in seats and len(seats) > 1:
        raise ConfigError(f"the partner {name!r}: {PERSON} is no part of a pool")
    otherwise = _text("otherwise", about.get("otherwise", ""), 500)
    if otherwise and PERSON not in seats:
        raise ConfigError(f"the partner {name!r}: otherwise is for seat = {PERSON!r} alone")
    held_out = boolean(f"held_out of {name}", about.get("held_out", pool))
    return Partner(name, tuple(seats), pool, held_out, otherwise)


def _game(name: str, given: Any, partners: Mapping[str, Partner]) -> StudyGame:
    where = f"the game {name!r}"
    _name("a game", name)
    _known(where, _table(where, given), KEYS["games"])
    id = given.get("id", name)
    load(id)  # which names the nearest id
    practice = boolean(f"practice of {name}", given.get("practice", False))
    fitting = [key for key, one in partners.items() if not (practice and one.held_out)]
    wanted = given.get("partners", fitting)
    if not isinstance(wanted, list):
        raise ConfigError(f"the partners of {name!r} are a list of names, given {wanted!r}")
    for one in wanted:
        if one not in partners:
            raise ConfigError(
                f"{where} has no partner {one!r};{nearest(one, partners)} the partners are "
                f"{', '.join(partners) or 'none'}"
            )
        if practice and partners[one].held_out:
            raise ConfigError(
                f"{one!r} is held out, and {name!r} is practice: a held-out partner is not met "
                "before the games"
            )
    clock = given.get("clock")
    game = StudyGame(
        name=name,
        id=id,
        config=_table(f"config of {name}", given.get("config")),
        skills=boolean(f"skills of {name}", given.get("skills", False)),
        chat=boolean(f"chat of {name}", given.get("chat", False)),
        events=one_of(f"events of {name}", given.get("events", ""), ("", "agent", "team")),
        practice=practice,
        partners=tuple(wanted),
        episodes=whole(f"episodes of {name}", given.get("episodes", 1), 1, 100),
        agent=_text(f"agent of {name}", given.get("agent", ""), 100),
        clock=None if clock is None else number(f"clock of {name}", clock, 0.05, 60),
        text=_text(f"text of {name}", given.get("text", "")),
    )
    try:
        agents = game.env.agents
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    if game.agent and game.agent not in agents:
        raise ConfigError(
            f"{where} has no agent {game.agent!r};{nearest(game.agent, agents)} the agents are "
            f"{', '.join(agents)}"
        )
    if not game.partners and len(agents) > 1:
        raise ConfigError(f"{where} needs partners: there are none that it could be played with")
    return game


def _questions(given: Any) -> tuple[Question, ...]:
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise ConfigError("questions are tables: [[questions]]")
    found: list[Question] = []
    for place, one in enumerate(given, start=1):
        name = _name(f"question {place}", one.get("name"))
        where = f"the question {name!r}"
        _known(where, one, KEYS["questions"])
        if name in [other.name for other in found]:
            raise ConfigError(f"two questions are called {name!r}")
        kind = one_of(f"kind of {where}", one.get("kind", "text"), KINDS)
        theirs = {"choice": ("options", "many", "correct"), "scale": ("low", "high", "labels")}
        for other, keys in theirs.items():
            for key in keys:
                if key in one and kind != other:
                    raise ConfigError(f"{where} is a {kind}: {key} is for a {other}")
        options, labels = _words(where, one, "options"), _words(where, one, "labels")
        if kind == "choice" and (len(options) < 2 or len(set(options)) < len(options)):
            raise ConfigError(f"{where} has at least two different options, given {options}")
        low = whole(f"low of {where}", one.get("low", 1), -1000, 1000)
        question = Question(
            name=name,
            when=one_of(f"when of {where}", one.get("when", "end"), WHEN),
            kind=kind,
            text=_text(f"text of {where}", one.get("text", "")),
            options=options,
            many=boolean(f"many of {where}", one.get("many", False)),
            low=low,
            high=whole(f"high of {where}", one.get("high", low + 6), low + 1, low + 100),
            labels=labels,
            required=boolean(f"required of {where}", one.get("required", kind != "text")),
            correct=_text(f"correct of {where}", one.get("correct", "")),
        )
        if not question.text:
            raise ConfigError(f"{where} has a text")
        if question.correct:
            one_of(f"correct of {where}", question.correct, options)
            if question.when != "before" or question.many:
                raise ConfigError(f'{where}: correct is for one choice with when = "before"')
        found.append(question)
    return tuple(found)


def _check_seats(study: Study) -> None:
    """That every partner can play every game that it is met in."""
    for game in study.games.values():
        for partner in (study.partners[name] for name in game.partners):
            for seat in (*partner.seats_in(game.env), partner.otherwise):
                if seat in ("", PERSON):
                    continue
                try:
                    seat_policy(game.env, seat)
                except ManyhandsError as error:
                    raise ConfigError(
                        f"the partner {partner.name!r} cannot play {game.name!r}: {error}"
                    ) from error


def _known(what: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    for key in given:
        if key not in known:
            raise ConfigError(
                f"{what} has no {key!r};{nearest(key, known)} there are {names_of(list(known))}"
            )


def _table(what: str, given: Any) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ConfigError(f"{what} is a table, given {given!r}")
    return given


def _name(what: str, given: Any) -> str:
    if not isinstance(given, str) or not _NAME.fullmatch(given):
        raise ConfigError(
            f"{what} has a name of letters, digits, _ and -, at most 40 of them, given {given!r}"
        )
    return given


def _text(what: str, given: Any, longest: int = LONGEST_TEXT) -> str:
    if not isinstance(given, str) or len(given) > longest:
        raise ConfigError(f"{what} is a text of at most {longest} characters, given {given!r:.80}")
    return given.strip()


def _words(where: str, given: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found: Sequence[Any] = given.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
        raise ConfigError(f"{key} of {where} is a list of words, given {found!r}")
    return tuple(found)
