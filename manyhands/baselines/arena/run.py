"""Playing a season: processes that claim matches, play them and store their rows."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from manyhands.baselines.arena.ratings import earned
from manyhands.baselines.arena.schedule import Match, blocks, matches, swiss_pairs
from manyhands.baselines.arena.season import GamePlan, Season
from manyhands.baselines.arena.store import LEASE, Heartbeat, Store, new_owner
from manyhands.core.env import Env, ManyhandsError, RecordError, is_device_policy
from manyhands.core.pack import forget
from manyhands.core.play import play
from manyhands.core.probes import Probes
from manyhands.core.record import Episode, read
from manyhands.core.redact import redact
from manyhands.core.view import BudgetSpent, Reply, View
from manyhands.core.writer import RecordBusy

POLL = 0.25  # seconds between looks at the store, where others play what is left
CONCURRENCY = 16  # episodes at once
COMPILED = 8  # games whose compiled programs a process keeps, before it begins anew
Say = Callable[[str], None]
Spent = Mapping[str, Collection[str]]  # by game, the players who play no further match of it


# ---- seats ---------------------------------------------------------------------------------------


class _Handed:
    """A policy in another one's place: whatever else `play` looks for (`needs_state`, `team`,
    `probe`, `ended`, `aclose`, ...) is that of `policy`."""

    policy: Any

    def __getattr__(self, member: str) -> Any:
        if member == "policy":  # before it is set: a copy in the making
            raise AttributeError(member)
        return getattr(self.policy, member)


@dataclasses.dataclass(frozen=True)
class Named(_Handed):
    """A device policy under the name of its player."""

    policy: Any
    name: str

    def init(self, env: Env, agent: int) -> Any:
        return self.policy.init(env, agent)

    def apply(self, env: Env, agent: int, memory: Any, key: Any, view: Any) -> Any:
        return self.policy.apply(env, agent, memory, key, view)


class Timed(_Handed):
    """A host policy under the name of its player, whose replies tell the seconds that they took:
    `Reply.info["seconds"]`, an equal share of a call that answered several views.

    Args:
        spent: gets the player and why, when the policy may spend no more (`BudgetSpent`).
    """

    def __init__(self, policy: Any, name: str, spent: dict[str, str]):
        self.policy, self.name, self._spent = policy, name, spent
        if callable(getattr(policy, "probe", None)):
            self.probe = self._probe

    def act(self, views: Sequence[View], *states: Sequence[bytes]) -> Any:
        with self._noted():
            began = time.perf_counter()
            return self._timed(self.policy.act(views, *states), began)

    async def _probe(self, *asked: Any) -> Any:
        with self._noted():
            answers = self.policy.probe(*asked)
            return await answers if inspect.isawaitable(answers) else answers

    @contextlib.contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except BudgetSpent as error:
            self._spent[self.name] = redact(str(error))
            raise

    def _timed(self, answers: Any, began: float) -> list[Reply]:
        answers = list(answers)
        share = round((time.perf_counter() - began) / max(len(answers), 1), 6)
        replies = [one if isinstance(one, Reply) else Reply(one) for one in answers]
        return [
            dataclasses.replace(one, info={"seconds": share, **(one.info or {})}) for one in replies
        ]


class TimedAsync(Timed):
    """The same of a policy whose `act` is a coroutine function."""

    async def act(self, views: Sequence[View], *states: Sequence[bytes]) -> list[Reply]:
        with self._noted():
            began = time.perf_counter()
            return self._timed(await self.policy.act(views, *states), began)


class Routed(Timed):
    """The same of a policy that names who answers a view: those are timed, each by itself."""

    def __init__(self, policy: Any, name: str, spent: dict[str, str]):
        super().__init__(policy, name, spent)
        self._inner: dict[int, Any] = {}  # by the id of a policy, which is kept with it

    def route(self, view: View) -> Any:
        policy = self.policy.route(view)
        if id(policy) not in self._inner:
            self._inner[id(policy)] = under_name(policy, self.name, self._spent)
        return self._inner[id(policy)]


def under_name(policy: Any, name: str, spent: dict[str, str]) -> Any:
    """A policy of any kind as the player of this name; `spent` as in `Timed`."""
    if hasattr(policy, "route"):
        return Routed(policy, name, spent)
    if is_device_policy(policy):
        return Named(policy, name)
    kind = TimedAsync if inspect.iscoroutinefunction(policy.act) else Timed
    return kind(policy, name, spent)


class Seats:
    """The players of a season, built when they first play a game: what they compile is kept.

    Attributes:
        spent: by game, the players whose seats may spend no more by their own options
            (`max_total_tokens=`), and why.
    """

    def __init__(self, season: Season):
        self.season = season
        self.spent: dict[str, dict[str, str]] = {game: {} for game in season.games}
        self._made: dict[tuple[str, str], Any] = {}

    def of(self, game: str, player: str) -> Any:
        if (game, player) not in self._made:
            policy = self.season.players[player].policy(self.season.games[game].env)
            self._made[game, player] = under_name(policy, player, self.spent[game])
        return self._made[game, player]


def play_match(seats: Seats, match: Match, record: Path) -> list[Episode]:
    """Play what is missing of a match into its record; returns its episodes: all of them, unless
    a seat may spend no more (`Seats.spent`)."""
    plan = seats.season.games[match.game]
    result = play(
        plan.env,
        [seats.of(match.game, player) for player in match.lineup],
        seed=plan.seed,
        only=match.numbers,
        record=record,
        resume=True,
        concurrency=CONCURRENCY,
        on_illegal=plan.on_illegal,
        allow_illegal=plan.allow_illegal,
        max_steps=plan.max_steps,
        probes=None if plan.probes is None else Probes(**plan.probes),
        progress=False,
    )
    found = []
    if result.episodes:
        found = [episode for episode in read(record) if episode.result.episode in match.numbers]
    if len(found) < match.episodes and not own_budgets(seats, match):
        raise RecordError(
            f"{record} holds {len(found)} of {match.episodes} episodes, although none is left to "
            "play; does something else write it? Remove it, and --resume plays the match anew"
        )
    return found


def own_budgets(seats: Seats, match: Match) -> dict[str, str]:
    """The players of a match whose seats may spend no more, and why."""
    return {name: why for name, why in seats.spent[match.game].items() if name in match.lineup}


def settle(
    season: Season,
    store: Store,
    owner: str,
    match: Match,
    episodes: list[Episode],
    seconds: float,
    own: Mapping[str, str],
) -> str | None:
    """Mark a match as done, or give it back where a seat may spend no more (`own_budgets`) before
    its last episode; returns what became of it, None if the claim was lost."""
    if len(episodes) == match.episodes:
        done = store.finish(match, owner, episodes, seconds, season)
        return f"{seconds:.1f} s" if done else None
    why = "; ".join(f"the seat of the player {name!r} has stopped: {own[name]}" for name in own)
    store.give_back(match.id, owner, why=why)
    return why


# ---- what is next --------------------------------------------------------------------------------


def exhausted(season: Season, store: Store) -> dict[str, str]:
    """Players whose budget is spent, and how; "" is the season."""
    spent = store.spent()
    found = {}
    for name, budget in [
        ("", season.budget),
        *((p.name, p.budget) for p in season.players.values()),
    ]:
        words = budget.spent(*spent.get(name, (0.0, 0.0, 0.0)))
        if words:
            found[name] = words
    return found


def draw_up(season: Season, store: Store, spent: Spent, games: Collection[str]) -> bool:
    """Draw up the next Swiss rounds of games whose last one is over; whether there are any new."""
    added = False
    for plan in season.games.values():
        if plan.pairing == "swiss" and plan.name in games:
            added |= _next_round(season, plan, store, spent[plan.name])
    return added


def rounds_so_far(season: Season, store: Store) -> list[Match]:
    """The matches of Swiss rounds that were drawn up, with the episodes that the season has now."""
    found: dict[tuple[Any, ...], Match] = {}
    for game, round, row, column, seats in store.query(
        'SELECT game, round, "row", "column", lineup FROM matches WHERE round > 0 ORDER BY id'
    ):
        plan, lineup = season.games.get(game), tuple(json.loads(seats))
        if plan is not None and plan.pairing == "swiss" and set(lineup) <= set(plan.players):
            for match in blocks(plan, Match(game, round, row, column, lineup, 0, 0)):
                found[game, round, lineup, match.first] = match
    return list(found.values())


def _next_round(season: Season, plan: GamePlan, store: Store, spent: Collection[str]) -> bool:
    played = store.query(
        'SELECT round, state, "row", "column", lineup, id FROM matches '
        "WHERE game = ? AND round > 0 ORDER BY id",
        (plan.name,),
    )
    last = max((row[0] for row in played), default=0)
    for _, state, *_, lineup, _ in played:
        blocked = state == "open" and any(f'"{player}"' in lineup for player in spent)
        if state in ("open", "claimed") and not blocked:
            return False
    if last >= plan.rounds:
        return False
    points: dict[str, float] = {}
    met: dict[tuple[int, str, str], None] = {}
    for round, _, row, column, lineup, id in played:
        met.setdefault((round, *sorted((row, column))))  # type: ignore[arg-type]
        results = store.query("SELECT rewards FROM episodes WHERE match = ?", (id,))
        for (rewards,) in results:
            won, lost = earned(lineup, row, column, rewards)
            share = (won > lost) + (won == lost) / 2
            points[row] = points.get(row, 0.0) + share
            points[column] = points.get(column, 0.0) + 1 - share
    players = [name for name in season.rows(plan.name) if name not in spent]
    if len(players) < 2:
        return False
    pairs = swiss_pairs(players, points, [(a, b) for _, a, b in met], f"{season.seed} {plan.name}")
    return store.add_round(plan.name, last + 1, matches(season, plan, pairs, last + 1))


# ---- the work of one process ---------------------------------------------------------------------


def work(
    season: Season,
    folder: str | os.PathLike[str],
    games: Collection[str],
    say: Say | None = None,
    lease: float = LEASE,
) -> None:
    """Play matches until none is left, or the season's budget is spent. Where other processes play
    the last ones, it waits: a match whose process is killed is taken over.

    Raises:
        ManyhandsError: the store cannot be used. A match that fails is marked, and others go on.
    """
    seats, owner = Seats(season), new_owner()
    compiled: set[str] = set()
    with Store(folder, lease=lease) as store:
        while True:
            match = next_match(season, store, owner, games, seats.spent)
            if match is None:
                return
            if match.game not in compiled and len(compiled) == COMPILED:
                forget()
                compiled.clear()
            compiled.add(match.game)
            began = time.monotonic()
            try:
                with Heartbeat(store, match.id, owner):
                    episodes = play_match(seats, match, store.record(match))
            except RecordBusy:  # its last owner stalled, and is not gone
                store.give_back(match.id, owner)
                time.sleep(POLL)
            except ManyhandsError as error:
                store.fail(match.id, owner, redact(f"{type(error).__name__}: {error}"))
                announce(say, store, match, games, f"FAILED: {redact(str(error))}")
            except BaseException:
                store.give_back(match.id, owner)
                raise
            else:
                seconds = time.monotonic() - began
                own = own_budgets(seats, match)
                what = settle(season, store, owner, match, episodes, seconds, own)
                if what is not None:
                    announce(say, store, match, games, what)


def next_match(
    season: Season,
    store: Store,
    owner: str,
    games: Collection[str],
    own: Spent,
    wait: bool = True,
) -> Match | None:
    """Claim a match, after waiting for those of others if need be; None if nothing is left.

    Args:
        own: players whose seats may spend no more, besides those of `exhausted`.
    """
    while True:
        all_games = exhausted(season, store)
        if "" in all_games:
            return None
        spent = {game: {*all_games, *own.get(game, ())} for game in season.games}
        drawn = draw_up(season, store, spent, games)
        match = store.claim(owner, spent, games)
        if match is not None or not wait:
            return match
        if not drawn:
            if not store.states(games)["claimed"]:
                return None
            time.sleep(POLL)


def announce(
    say: Say | None, store: Store, match: Match, games: Collection[str], what: str
) -> None:
    if say is not None:
        counts = store.states(games)
        count = f"{match.episodes} episode{'s'[: match.episodes != 1]}"
        say(
            f"{counts['done']}/{sum(counts.values())}  {match.game}: {', '.join(match.lineup)}: "
            f"{count}, {what}"
        )
