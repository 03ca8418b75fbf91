"""What text policies learn from first: decisions of bots, as prompts and answers; and their
strategies in games with a tree, as tables."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from manyhands.baselines.players import text_policy as words
from manyhands.baselines.players.text_policy import TextModel
from manyhands.core.config import nearest
from manyhands.core.env import ConfigError, Env
from manyhands.core.episode import Game, Moment
from manyhands.core.pack import Frame
from manyhands.core.play import play
from manyhands.core.reading.parts import divide
from manyhands.core.registry import seat
from manyhands.core.view import Reply, View
from manyhands.envs.board.env import Board

# Whom a game is first learned from, if nothing is said: seats for all of its agents, in turn. Not
# `perfect`: it acts on the device, and only players on the host wander and can be asked anywhere.
TEACHERS: dict[str, tuple[str, ...]] = {
    "tic_tac_toe": ("solver:depth=9 random", "random solver:depth=9", "solver:depth=9"),
    "connect_four": ("solver:depth=4 random", "random solver:depth=4"),
    "kitchen": ("text:skills=true",),
    "negotiation": ("fair", "honest"),
}


class Lessons(Protocol):
    """The settings of `text.TextConfig` that are read here."""

    @property
    def teachers(self) -> str: ...

    @property
    def demonstrations(self) -> int: ...

    @property
    def wander(self) -> float: ...

    @property
    def patience(self) -> int: ...

    @property
    def positions(self) -> int: ...


# ---- from bots -----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Demonstration:
    """A decision of a teacher in words: what it read, what it answered."""

    game: str
    system: str
    prompt: str
    answer: str


class _Wandering:
    """A host policy that sometimes does something else: one of the choices at random, or with a
    `student` what that one answers.

    Attributes:
        meant: by episode, agent index and step, what it was about to answer when it was asked: the
            action, the words beside it, and its thoughts. (A held skill is an answer only where it
            was chosen.)
    """

    def __init__(self, policy: Any, share: float, student: Any = None):
        self._policy, self._share, self._student = policy, share, student
        self.meant: dict[tuple[int, int, int], tuple[Any, str | None, str]] = {}
        self.name = getattr(policy, "name", type(policy).__name__)

    def act(self, views: Sequence[View]) -> list[Reply]:
        replies = []
        own = [None] * len(views) if self._student is None else self._student.act(views)
        for view, answer, other in zip(views, self._policy.act(views), own, strict=True):
            reply = answer if isinstance(answer, Reply) else Reply(answer)
            draw = view.rng()
            thoughts = str(reply.info.get("thoughts", ""))
            meant = reply.action, reply.say, thoughts
            self.meant[view.episode, view.index, view.step] = meant
            if draw.random() < self._share:
                choices = view.choices
                drawn = Reply(choices[int(draw.integers(len(choices)))].text)
                reply = drawn if other is None else other
            replies.append(reply)
        return replies


def _parted(teachers: str) -> list[tuple[str, str]]:
    """(the game that a lineup is for, "" for any; the lineup) of each of `teachers`."""
    found = []
    for part in teachers.split(";"):
        named = re.match(r"\s*(\w+)=(.*)", part, re.S)
        if part.strip():
            found.append((named[1], named[2].strip()) if named else ("", part.strip()))
    return found


def lineups_of(game: str, teachers: str) -> list[str]:
    """The lineups that a game is learned from: those of `teachers` that name it or no game; if
    there are none, those of `TEACHERS`; else random players."""
    found = [lineup for name, lineup in _parted(teachers) if name in ("", game)]
    return found or list(TEACHERS.get(game, ("random",)))


def check_lessons(envs: Sequence[Env], config: Lessons) -> None:
    """That `teachers` and `positions` are for games that are learned.

    Raises:
        ConfigError: a lineup is for another game, or no game is a board game.
    """
    games = [env.unwrapped.id for env in envs]
    for name, lineup in _parted(config.teachers):
        if name and name not in games:
            raise ConfigError(
                f"teachers has the lineup {lineup!r} for {name!r}, which is not learned;"
                f"{nearest(name, games)} learned are {', '.join(games)}"
            )
    if config.positions and not any(isinstance(env.unwrapped, Board) for env in envs):
        raise ConfigError(
            f"positions={config.positions} is for board games, given {', '.join(games)}; leave it "
            "out, and teachers play"
        )


def demonstrate(
    env: Env, config: Lessons, seed: int, student: TextModel | None = None, share: float = 0.75
) -> list[Demonstration]:
    """At least `config.demonstrations` decisions of a game's teachers, in whole episodes.

    With a `student` the teachers answer where it is led by its own answers (DAgger, Ross et al.
    2011): it acts in their place in `share` of their decisions, and what they would have answered
    is learned. Teachers on the device, random ones and those in brackets act for themselves.

    Raises:
        ConfigError: a lineup does not fit the game, or nobody of it is learned from.
    """
    lineups = lineups_of(env.unwrapped.id, config.teachers)
    if config.positions and isinstance(env.unwrapped, Board):
        taught = every_position(env, tuple(lineups[0].split()), config.positions)
        return [] if student else list(taught)
    found: list[Demonstration] = []
    for number, lineup in enumerate(lineups):
        names = lineup.split()
        names = names * env.num_agents if len(names) == 1 else names
        if len(names) != env.num_agents:
            raise ConfigError(f"the teachers {lineup!r} are not {env.num_agents} seats")
        own = None if student is None else words.TextPolicy(env, student, policy=False)
        wander = config.wander if own is None else share
        hosts = {name: _host(env, name, wander, own) for name in dict.fromkeys(names)}
        made = {name: _seated(env, name, host, config) for name, host in hosts.items()}
        learned = [
            not _aside(name) and (name != "random" or set(names) == {"random"}) for name in names
        ]
        if not any(learned):
            raise ConfigError(f"of the teachers {lineup!r} none is learned from")
        seats = [made[name] for name in names]
        asked = [hosts[name] for name in names]
        last: dict[int, Moment] = {}

        def watch(
            moment: Moment,
            learned: list[bool] = learned,
            last: dict[int, Moment] = last,
            asked: list[_Wandering | None] = asked,
        ) -> None:
            before, turn = last.get(moment.episode), moment.turn
            if moment.over:
                last.pop(moment.episode, None)
            else:
                last[moment.episode] = moment
            if before is None or turn is None:
                return
            for i, action in turn.actions.items():
                if not learned[i]:
                    continue
                host, view, thoughts, said = asked[i], before.views[i], "", turn.said.get(i)
                if host is not None:
                    key = view.episode, view.index, view.step
                    action, said, thoughts = host.meant.pop(key, (None, None, ""))
                answer = _answered(view, action, said)
                if answer and thoughts:
                    answer = f"{thoughts}\n{answer}"
                if answer:
                    system, prompt = words.texts(env, before.views[i])
                    found.append(Demonstration(env.spec_json(), system, prompt, answer))

        wanted = -(-config.demonstrations * (number + 1) // len(lineups))
        begun, block = len(found), 2
        episodes = 0
        while len(found) < wanted:
            play(
                env,
                seats,
                block,
                (seed * 100 + number) * 1000 + episodes,
                on_step=watch,
                on_illegal="noop" if env.id == "skills" else "forfeit",
                progress=False,
            )
            episodes += block
            if len(found) == begun:
                raise ConfigError(f"the teachers {lineup!r} decide nothing in {env!r}")
            each = (len(found) - begun) / episodes
            block = max(1, min(256, int((wanted - len(found)) / each) + 1))
    return found


@functools.lru_cache(maxsize=4)
def every_position(env: Env, names: tuple[str, ...], times: int) -> tuple[Demonstration, ...]:
    """What a teacher answers in the positions of a board game, with every last move that can have
    led to them: all those to which the teacher itself can come, whatever the other one does, and
    all to which it can come if one of its moves was another one.

    Args:
        names: of the teacher's seat in each agent's place, or one for all. It acts on the host.
        times: how often the first kind counts; the second counts once.

    Raises:
        ConfigError: the teacher acts on the device, or there are more than 20,000 positions.
    """
    names = names if len(names) > 1 else names * env.num_agents
    seats = [seat(name, env) for name in names]
    if not all(callable(getattr(policy, "act", None)) for policy in seats):
        raise ConfigError(
            f"{' '.join(names)} acts on the device; here solver:depth=9, say, can ask"
        )
    found: list[Demonstration] = []
    known: dict[Any, Any] = {}  # answers by stones
    # By what is seen: its frame, and how many moves each agent made, and at least made otherwise
    # than taught.
    level = {"": (Game(env, 0).frame, np.zeros(2, int), np.zeros(2, int))}
    start = int(env.action_space.start)  # type: ignore[attr-defined]
    for step in itertools.count():
        after: dict[str, tuple[Frame, np.ndarray, np.ndarray]] = {}
        for frame, moves, strays in level.values():
            game = Game(env, 0, frame=frame, first=step, totals=False)
            mover = game.asked()[0]
            for _ in range(moves[mover]):
                game.hear([mover], {})
            view = game.views[mover]
            stones = view.perception[:2].tobytes()
            if stones not in known:
                reply = seats[mover].act([view])[0]
                known[stones] = reply.action if isinstance(reply, Reply) else reply
            action = int(known[stones])
            if strays[mover] < 2:
                answer = _answered(view, action, None)
                lesson = Demonstration(env.spec_json(), *words.texts(env, view), answer)
                found += [lesson] * (1 if strays[mover] else times)
            if len(found) > 20_000 * times:
                raise ConfigError(f"{env!r} has more positions than can be learned one by one")
            own = (np.arange(2) == mover).astype(int)
            for move in np.flatnonzero(view.legal):
                astray = strays + own * (int(move) + start != action)
                if astray.min() > 1:
                    continue
                rows = np.full(env.num_agents, env.noop)
                rows[mover] = move + start
                later = Game(env, 0, frame=frame, first=step, totals=False)
                later.make(rows)
                if later.asked():
                    seen = later.views[later.asked()[0]].text
                    _, _, least = after.get(seen, (None, None, astray))
                    after[seen] = later.frame, moves + own, np.minimum(least, astray)
        if not after:
            return tuple(found)
        level = after
    raise AssertionError("an endless board game")


def _aside(name: str) -> bool:
    """Whether a seat of a lineup only plays, as "(honest)"."""
    return name.startswith("(") and name.endswith(")")


def _host(env: Env, name: str, wander: float, student: Any) -> _Wandering | None:
    """A teacher on the host, that wanders; None for one on the device, and for random ones."""
    if _aside(name):
        return None
    policy = seat(name, env)
    if name == "random" or not callable(getattr(policy, "act", None)):
        return None
    return _Wandering(policy, wander, student)


def _seated(env: Env, name: str, host: _Wandering | None, config: Lessons) -> Any:
    if _aside(name):
        name = name[1:-1]
    return seat(name, env) if host is None else words.held(host, env, config.patience)


def _answered(view: View, action: Any, said: str | None) -> str:
    """The answer to learn from a bot's action; "" if it gave none."""
    if action is None:
        return ""
    if isinstance(action, str):
        _, aloud, own = divide(action)
        own, said = own or f"ACTION: {action}", said or aloud
        return own if not said else f"{own}\nSAY: {said}"
    return words.written(words.answer_of(view, action), said)


# ---- games with a tree ---------------------------------------------------------------------------


def views_of(tree: Any) -> list[View]:
    """A view at each information set of a tree: what its owner reads there."""
    env, views = tree.env, []
    first = Game(env, 0)
    states = [env.with_deal(first.frame.state, deal) for deal, _ in env.deals()]
    for i in range(tree.num_infosets):
        point = tree.example(i)
        frame = first.stepper.view(states[int(tree.deal[point])])
        game = Game(env, 0, frame=frame, totals=False)
        for agent, action in tree.line(point):
            rows = np.full(env.num_agents, env.noop)
            rows[agent] = action + int(env.action_space.start)
            game.hear([agent], {})
            game.make(rows)
        views.append(game.views[int(tree.owner[i])])
    return views


def tabulate(model: TextModel, tree: Any, views: Sequence[View]) -> tuple[np.ndarray, np.ndarray]:
    """(the strategy of a text policy f64[I, A], the probability f64[I] that it answers with one of
    the choices) at each information set of a tree."""
    questions = [model.question(*words.texts(tree.env, view)) for view in views]
    answers = [[words.written(c.text) for c in view.all_choices] for view in views]
    table = np.zeros(tree.legal.shape)
    masses = np.zeros(len(views))
    for i, logs in enumerate(model.likelihoods(questions, answers)):
        chances = np.exp(logs)
        masses[i] = chances.sum()
        table[i, tree.legal[i]] = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    return table, masses
