"""The loop: many episodes at once, and the result."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import gc
import inspect
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyhands.core.clock import WAITING, Clock
from manyhands.core.coach import Coaches, deaf
from manyhands.core.config import boolean, one_of, positive, whole
from manyhands.core.env import ConfigError, Env, IllegalAction, SeatError, shorten
from manyhands.core.episode import EpisodeResult, Game, Moment, Turn, episode_seed, routed
from manyhands.core.probes import Probes
from manyhands.core.progress import Bar
from manyhands.core.registry import from_spec, make
from manyhands.core.seats import Table, seat_policies, seat_policy
from manyhands.core.view import BudgetSpent, Reply, View


@dataclass(frozen=True)
class Result:
    """The result of `play`; print it.

    Attributes:
        env: the environment.
        seats: the names of the seats, in the order given.
        episodes: one `EpisodeResult` each, by episode number.
        stopped: why episodes are missing, if a seat's budget was spent (`BudgetSpent`); else empty.
    """

    env: Env
    seats: tuple[str, ...]
    episodes: tuple[EpisodeResult, ...]
    stopped: str = ""

    @property
    def rewards(self) -> np.ndarray:
        """f64[episodes, N], total rewards by agent."""
        return np.array([e.rewards for e in self.episodes], np.float64).reshape(
            len(self.episodes), self.env.num_agents
        )

    @property
    def seat_rewards(self) -> np.ndarray:
        """f64[episodes, N], total rewards by seat, which differ from `rewards` if seats rotate."""
        by_seat = np.zeros_like(self.rewards)
        for row, rewards, episode in zip(by_seat, self.rewards, self.episodes, strict=True):
            row[list(episode.players)] = rewards
        return by_seat

    def refused(self, number: int) -> tuple[int, int]:
        """(illegal answers, forfeits) of a seat, by its number."""
        places = [(e, e.players.index(number)) for e in self.episodes]
        agents = self.env.agents
        return (
            sum(e.illegal[agent] for e, agent in places),
            sum(agents[agent] in e.forfeits for e, agent in places),
        )

    @property
    def mean(self) -> dict[str, float]:
        """Means over episodes: the length, the metrics, and each term (the mean of the agents)."""
        count = max(len(self.episodes), 1)
        total, metrics = {"steps": 0.0}, dict[str, float]()
        for episode in self.episodes:
            total["steps"] += episode.steps
            for name, values in episode.terms.items():
                total[name] = total.get(name, 0.0) + sum(values) / len(values)
            for name, value in episode.metrics.items():
                metrics[name] = metrics.get(name, 0.0) + value
        # A metric comes before a term of the same name.
        return {name: value / count for name, value in (total | metrics).items()}

    def __str__(self) -> str:
        count = len(self.episodes)
        ids: list[str] = []
        spec: Mapping[str, Any] = self.env.spec()
        while spec:
            ids.insert(0, spec["id"])
            spec = spec.get("env", {})
        lines = [f"{' + '.join(ids)}: {count} episode{'' if count == 1 else 's'}"]
        if self.stopped:
            lines.append(f"  stopped: {self.stopped}; resume the record to play the rest")
        if not count:
            return "\n".join(lines)
        moved = any(e.players != self.episodes[0].players for e in self.episodes)
        table = self.seat_rewards
        for number, name in enumerate(self.seats):
            agent = self.episodes[0].players.index(number)
            where = "in turn in every seat" if moved else self.env.agents[agent]
            spread = f" ± {table[:, number].std(ddof=1) / count**0.5:.2f}" if count > 1 else ""
            lines.append(f"  {name} ({where}): reward {table[:, number].mean():.2f}{spread}")
        lines.append("  " + ", ".join(f"{k} {v:g}" for k, v in self.mean.items()) + " (means)")
        for number, name in enumerate(self.seats):
            illegal, forfeits = self.refused(number)
            if illegal:
                lines.append(f"  {name}: {illegal} illegal answers, {forfeits} forfeits")
        return "\n".join(lines)


ON_ILLEGAL = ("noop", "raise", "forfeit")


def play(
    env: Env | str | Mapping[str, Any],
    seats: Any,
    episodes: int = 1,
    seed: int = 0,
    *,
    only: Iterable[int] | None = None,
    group: int = 1,
    fork: bytes | Sequence[bytes] | None = None,
    record: str | os.PathLike[str] | None = None,
    resume: bool = False,
    concurrency: int = 16,
    rotate: bool = False,
    on_illegal: str = "noop",
    allow_illegal: int | None = None,
    max_steps: int | None = None,
    fingerprint_every: int = 10,
    progress: bool | None = None,
    on_step: Callable[[Moment], None] | None = None,
    coach: Any = None,
    clock: float | None = None,
    probes: Any = None,
) -> Result:
    """Play episodes of `env` with any policy in any seat.

    Episode `e` has the seed `episode_seed(seed, e // group)`, from which all its randomness
    derives: it does not depend on which other episodes are played, or how many at once.

    Args:
        env: an environment, its id, or its `spec()`.
        seats: one for each agent, in a sequence or a mapping by agent name (or one for all): a name
            (`"greedy"`, `"language:model=x"`), a `Policy`, a `DevicePolicy`, or a function of one
            `View`. One object may take several seats. A policy whose `act` is a coroutine function
            is called for each episode separately, and delays only that episode; any other is called
            once for all waiting episodes.
        episodes, seed: how many (groups of episodes, where `group` is given), and the seed of the
            run.
        only: the numbers of the episodes to play, instead of `range(episodes * group)`.
        group: how often each of the `episodes` is played. Episode `e` is member `e % group` of
            group `e // group`. Members have the same initial state and the same environment
            randomness at the same step; the randomness of the seats (`View.seed`, the keys of
            device policies) differs, by `member_seed`. The first member equals the episode without
            groups.
        fork: a snapshot (`core/pack.py`) to start from instead of a reset, or several: then group
            `g` starts from number `g % len(fork)`. Step numbers continue from the clock of the
            state (its `time`; from 0 if it has none), and step `t` gets the key of step `t` of any
            episode of this seed: a fork with the seed and number of the episode that it came from
            meets the same environment randomness.
        record: a file to write each episode to when it ends (`core/record.py`).
        resume: continue `record`: episodes that it holds are not played again.
        concurrency: how many episodes run at once.
        rotate: in group `g` seat `s` plays agent `(s + g) % N`, which is fair in comparisons; a
            group is an episode, unless `group` is given.
        on_illegal: the effect of an illegal answer: `"noop"` plays `env.noop`, `"raise"` raises
            `IllegalAction`, `"forfeit"` ends the episode, at the price of `Env.forfeit_terms`.
        allow_illegal: how many illegal answers an agent may give first: with `"forfeit"` in an
            episode (0), after which `env.noop` is played, too; with `"noop"` in a row (3), where
            the others wait for the answer: so nobody can stall a game of turns.
        max_steps: stop episodes after so many steps, even if the environment would continue.
        fingerprint_every: steps between the fingerprints in the record.
        progress: show a progress bar; by default if stderr is a terminal.
        on_step: called with every `Moment` of every episode, the start included.
        coach: who reads an agent's view before the agent does and advises it (`View.advice`), and
            who judges its answer: scores it, or refuses it once (`core/coach.py`). One for all
            agents, or a mapping by agent name: a `Coach`, an object with `advise` or `judge`, or
            any seat, whose answer in words is the advice. What it did is in the record,
            `info["coach"]`.
        clock: seconds of a step: the world steps on time, whether or not a seat has answered
            (`core/clock.py`). What is late counts when it comes; the record tells when
            (`info["clock"]`). Such a run depends on the speed of its seats, not on `seed` alone.
            Seats should answer in coroutines: others hold up the clock.
        probes: questions about what agents know, asked outside of the game (`core/probes.py`):
            `Probes`, or who answers them as `Probes(ask)` takes it; True: the seats themselves.
            Answers are in `Probes.answers` and in the record, `info["probes"]`.

    Raises:
        SeatError: a seat failed; its exception is chained. No further episode starts, and running
            episodes are finished and recorded first. Where a seat raised `BudgetSpent`, nothing is
            raised: episodes that cannot go on without it are dropped, the others are finished, and
            the result says why it `stopped`; the record is not closed, and `resume=True` plays the
            rest.
        IllegalAction: with `on_illegal="raise"`.
        RecordError: the file cannot be written, or holds another run.
        SnapshotError: `fork` is no snapshot of this environment.
    """
    if isinstance(env, str):
        env = make(env)
    elif not isinstance(env, Env):
        env = from_spec(env)
    one_of("on_illegal", on_illegal, ON_ILLEGAL)
    for name, value in (
        ("episodes", episodes),
        ("group", group),
        ("concurrency", concurrency),
        ("max_steps", 1 if max_steps is None else max_steps),
        ("fingerprint_every", fingerprint_every),
    ):
        whole(name, value, 1)
    if allow_illegal is not None:
        allow_illegal = whole("allow_illegal", allow_illegal, 0)
    if resume and record is None:
        raise ConfigError("resume=True needs record=, the file to continue")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise ConfigError(f"seed is a whole number, given {seed!r}")
    if only is not None and (isinstance(only, (str, Mapping)) or not isinstance(only, Iterable)):
        raise ConfigError(f"only lists numbers of episodes, given {only!r}")
    every = range(int(episodes) * int(group))
    numbers = every if only is None else sorted({whole("only", number, 0) for number in only})
    rotate, resume = boolean("rotate", rotate), boolean("resume", resume)
    if record is not None and not isinstance(record, (str, os.PathLike)):
        raise ConfigError(f"record is the path of a file, given {record!r}")
    if on_step is not None and not callable(on_step):
        raise ConfigError(f"on_step is a function of a Moment, given {on_step!r}")
    policies, names = seat_policies(env, seats)
    forks = _forks(env, fork)
    options = {
        "rotate": bool(rotate),
        "on_illegal": on_illegal,
        "max_steps": max_steps,
        "group": int(group),
    }
    if allow_illegal is not None:
        options["allow_illegal"] = allow_illegal
    coaches = None if coach is None else Coaches(env, coach, seat_policy)
    if coaches is not None:
        options["coach"] = coaches.names
    if clock is not None:
        if coaches is not None or probes is not None:
            raise ConfigError(f"clock= goes with neither coach= nor probes=; given {clock!r}")
        options["clock"] = positive("clock, the seconds of a step,", clock)
    if probes is not None:
        probes = Probes.of(probes, env)
        options["probes"] = probes.about()
    with contextlib.ExitStack() as stack:
        writer = None
        results: dict[int, EpisodeResult] = {}
        if record is not None:
            from manyhands.core.writer import Writer

            writer = stack.enter_context(
                Writer(record, env, int(seed), names, options, fingerprint_every, resume, forks)
            )
            results = {number: writer.done[number] for number in numbers if number in writer.done}
        missing = [number for number in numbers if number not in results]
        if progress is None:
            progress = sys.stderr.isatty()
        bar = stack.enter_context(Bar(env, len(missing), max_steps)) if progress else None
        run = _Run(
            env,
            policies,
            names,
            int(seed),
            options,
            forks,
            writer,
            on_step,
            bar,
            results,
            coaches,
            probes,
        )
        if missing:
            at_once = min(len(missing), int(concurrency))
            with _settled() if at_once >= _MANY else contextlib.nullcontext():
                _complete(run.all(missing, int(concurrency)))
            if probes is not None:
                probes.warn()
        if writer is not None and run.failure is None and not run.stopped:
            writer.close()
    if run.failure is not None:
        raise run.failure
    return Result(env, names, tuple(results[number] for number in sorted(results)), run.stopped)


def _forks(env: Env, fork: Any) -> tuple[bytes, ...]:
    """What `play(fork=)` was given, each tried once before anything is played."""
    if fork is None:
        return ()
    given = fork if isinstance(fork, (list, tuple)) else [fork]
    if not given or not all(isinstance(one, (bytes, bytearray, memoryview)) for one in given):
        raise ConfigError(
            f"fork is a snapshot (the bytes of `snapshot`), or a list of them, given "
            f"{shorten(fork)}"
        )
    forks = tuple(bytes(one) for one in given)
    for one in forks:
        Game(env, 0, fork=one)
    return forks


@dataclass
class _Run:
    """One call of `play`."""

    env: Env
    policies: list[Any]
    names: tuple[str, ...]
    seed: int
    options: dict[str, Any]
    forks: tuple[bytes, ...]
    writer: Any
    on_step: Callable[[Moment], None] | None
    bar: Bar | None
    results: dict[int, EpisodeResult]
    coaches: Coaches | None = None
    probes: Probes | None = None
    failure: Exception | None = None
    stopped: str = ""

    async def all(self, numbers: list[int], concurrency: int) -> None:
        """Play these episodes, `concurrency` at once; `failure` is the first thing to go wrong, and
        `stopped` says which budget was spent."""
        table = Table(self.env, self.policies)
        waiting = iter(numbers)
        count = min(concurrency, len(numbers))
        loop = asyncio.get_running_loop()
        # A few after the other, where seats wait for something: the first requests are under way
        # while further episodes are set up. To open a connection takes several turns of the event
        # loop, each as long as it takes to set up as many episodes.
        gates: list[asyncio.Future[None]] = []
        if any(inspect.iscoroutinefunction(getattr(one, "act", None)) for one in self.policies):
            gates = [loop.create_future() for _ in range(0, count, _START)]
            gates[0].set_result(None)

        async def worker(place: int) -> None:
            block, first = divmod(place, _START)
            if gates:
                await gates[block]
            if gates and not first and block + 1 < len(gates):
                loop.call_soon(_open, gates[block + 1])
            while self.failure is None and not self.stopped:
                number = next(waiting, None)
                if number is None:
                    return
                try:
                    await self.one(number, table)
                except BudgetSpent as error:
                    self.stopped = self.stopped or str(error)
                except Exception as error:
                    if self.failure is None:
                        self.failure = error
                finally:
                    table.forget(number)

        try:
            await asyncio.gather(*map(worker, range(count)))
        finally:
            everyone = [*self.policies, *(self.coaches.policies if self.coaches else ())]
            for policy in {id(policy): policy for policy in everyone}.values():
                if hasattr(policy, "aclose"):
                    await policy.aclose()

    async def one(self, number: int, table: Table) -> None:
        env, n = self.env, self.env.num_agents
        group, member = divmod(number, self.options["group"])
        fork = self.forks[group % len(self.forks)] if self.forks else None
        seed = episode_seed(self.seed, group)
        game = Game(
            env,
            seed,
            number,
            group=group,
            member=member,
            fork=fork,
            on_illegal=self.options["on_illegal"],
            allow_illegal=self.options.get("allow_illegal"),
        )
        shift = group % n if self.options["rotate"] else 0
        players = tuple((i - shift) % n for i in range(n))
        seats = tuple(self.names[player] for player in players)
        limit = self.options["max_steps"]
        log = self.writer.episode(game) if self.writer is not None else None
        if self.on_step is not None:
            self.on_step(game.moment(None, seats, game.over))
        clock = Clock(self.options["clock"]) if "clock" in self.options else None
        with contextlib.closing(clock) if clock is not None else contextlib.nullcontext():
            while not game.over and (limit is None or game.made < limit):
                turn = await self.turn(game, players, table, clock)
                game.advance(turn)
                over = game.over or game.made == limit
                if over:
                    await self.end(game, players, turn)
                if log is not None:
                    log.add(turn, over)
                if self.on_step is not None:
                    self.on_step(game.moment(turn, seats, over))
                if self.bar is not None:
                    self.bar.stepped()
        result = game.result(players)
        if log is not None:
            self.writer.write(log.body(result))
        self.results[number] = result
        if self.bar is not None:
            self.bar.finished(result)

    async def end(self, game: Game, players: tuple[int, ...], turn: Turn) -> None:
        """Tell the policies that have `ended` of the end of an episode. What they give back is
        added to the `info` of the last turn."""
        seats: dict[int, list[int]] = {}
        for i, player in enumerate(players):
            if hasattr(self.policies[player], "ended"):
                seats.setdefault(id(self.policies[player]), []).append(i)
        for agents in seats.values():
            player = players[agents[0]]
            try:
                views = [game.views[i] for i in agents]
                found = await end_episode(self.policies[player], views, game.result(players))
            except Exception as error:
                raise SeatError(
                    f"the seat {self.names[player]!r} failed (end of episode {game.episode}): "
                    f"{type(error).__name__}: {error}"
                ) from error
            for i, info in found.items():
                turn.info[i] = {**turn.info.get(i, {}), **info}

    async def turn(
        self, game: Game, players: tuple[int, ...], table: Table, clock: Clock | None
    ) -> Turn:
        """Query the agents that are to move."""
        turn, forfeits = Turn(), []
        asked = game.asked()
        notes: dict[int, Any] = {}
        futures: Sequence[Awaitable[Any]]
        if self.probes is not None:
            seats = {i: routed(self.policies[players[i]], game.views[i]) for i in asked}
            probed = await self.probes.ask(game, asked, seats)
            turn.info |= {i: {"probes": found} for i, found in probed.items()}
        if clock is not None:
            new = clock.unasked(asked)
            clock.ask(game.step, new, table.ask(game, new, players))
            turn.actions |= await clock.tick(game, asked)
            turn.info |= {i: {"clock": WAITING} for i in turn.actions}
            asked = [i for i in asked if i not in turn.actions]
            futures = [clock.awaited(i) for i in asked]
        elif self.coaches is None:
            # Without a task of its own: with hundreds of episodes, each time that an episode waits
            # for the event loop it waits for all that the others do meanwhile.
            alone = table.alone(game, asked[0], players) if len(asked) == 1 else None
            futures = table.ask(game, asked, players) if alone is None else [alone]
            if game.made % _BREATH == _BREATH - 1:
                await asyncio.sleep(0)
        else:
            futures, notes = await self.coached(self.coaches, game, asked, players, table)
        for i, future in zip(asked, futures, strict=True):
            where = f"agent {self.env.agents[i]}, episode {game.episode}, step {game.step}"
            reply = await self.reply(game, i, players[i], future, futures)
            if clock is not None:
                note = {"clock": clock.answered(i, game.step)}
                reply = dataclasses.replace(reply, info={**reply.info, **note})
            if reply.info or i in notes:
                noted = {"coach": notes[i]} if i in notes else {}
                turn.info[i] = {**turn.info.get(i, {}), **reply.info, **noted}
            if getattr(routed(self.policies[players[i]], game.views[i]), "needs_state", False):
                turn.info[i] = {**turn.info.get(i, {}), "true_state": True}
            say = reply.say
            if isinstance(reply.action, str):
                turn.answers[i] = reply.action
                if say is None and self.env.chat is not None:
                    say = self.env.chat.speech(reply.action)
            try:
                if reply.action is None and reply.error:
                    raise IllegalAction(reply.error)
                turn.actions[i] = game.read(i, reply.action, say)
            except IllegalAction as error:
                turn.illegal[i] = error.reason
                if self.options["on_illegal"] == "raise":
                    _abandon(futures)
                    error.add_note(f"seat {self.names[players[i]]!r}, {where}")
                    raise
                if reply.forfeit or game.forfeits_by(i):
                    forfeits.append(i)
                turn.actions[i] = self.env.noop
            if say is not None:
                turn.said[i] = say
        turn.forfeits = tuple(forfeits)
        return turn

    async def reply(
        self,
        game: Game,
        index: int,
        player: int,
        future: Awaitable[Any],
        others: Sequence[Awaitable[Any]],
    ) -> Reply:
        """The answer of a seat; if it fails, the `others` are abandoned."""
        try:
            answer = await future
        except BaseException as error:
            _abandon(others)
            if not isinstance(error, Exception) or isinstance(error, BudgetSpent):
                raise
            where = f"agent {self.env.agents[index]}, episode {game.episode}, step {game.step}"
            raise SeatError(
                f"the seat {self.names[player]!r} failed ({where}): {type(error).__name__}: {error}"
            ) from error
        return answer if isinstance(answer, Reply) else Reply(answer)

    async def coached(
        self,
        coaches: Coaches,
        game: Game,
        asked: Sequence[int],
        players: Sequence[int],
        table: Table,
    ) -> tuple[list[asyncio.Future[Any]], dict[int, Any]]:
        """Query agents with advice, have their answers judged, and query once more whose answer was
        refused. Returns the answers, and notes for the record."""
        notes = await coaches.advise(game, asked, table.query)
        replies: dict[int, Reply] = {}
        again = list(asked)
        for first in (True, False):
            futures = table.ask(game, again, players)
            for i, future in zip(again, futures, strict=True):
                replies[i] = await self.reply(game, i, players[i], future, futures)
            judged = {i: replies[i] for i in again}
            refused = await coaches.judge(game, judged, table.query, notes)
            policies = {i: routed(self.policies[players[i]], game.views[i]) for i in refused}
            again = [i for i, policy in policies.items() if not deaf(policy)]
            if not (first and again):
                break
        loop = asyncio.get_running_loop()
        given = {i: loop.create_future() for i in asked}
        for i, future in given.items():
            future.set_result(replies[i])
        return list(given.values()), notes


async def end_episode(
    policy: Any, views: Sequence[View], result: EpisodeResult
) -> Mapping[int, dict[str, Any]]:
    """Tell a policy that an episode is over, if it wants to hear of it: `policy.ended(views,
    result)`, which may be a coroutine function, with the last views of the agents that it played.

    Returns:
        What it adds to the `info` of their last turn, by agent index.
    """
    if not hasattr(policy, "ended"):
        return {}
    found = policy.ended(views, result)
    return (await found if inspect.isawaitable(found) else found) or {}


def _open(gate: asyncio.Future[None]) -> None:
    if not gate.done():
        gate.set_result(None)


def _abandon(futures: Sequence[Awaitable[Any]]) -> None:
    """Stop waiting for answers, and drop their errors."""
    for future in futures:
        if not isinstance(future, asyncio.Future):  # a coroutine that was awaited
            continue
        if not future.done():
            future.cancel()
        elif not future.cancelled():
            future.exception()


# Steps after which an episode lets others go on, whose seats answer without ever waiting.
_BREATH = 16

# Episodes that are set up in one turn of the event loop.
_START = 4

# Episodes at once, from which `_settled` saves more time than it costs: the first collection after
# it looks through all objects.
_MANY = 64

# New objects after which the garbage collector looks at them; by default 700 to 2,000.
_YOUNG = 10_000


@contextlib.contextmanager
def _settled() -> Iterator[None]:
    """Keep the garbage collector from looking through all that was there before, JAX above all,
    each time that hundreds of episodes have made enough new objects, and from doing so more often
    than they need: what they drop is rarely in a cycle, and JAX looks for buffers of its own at
    each collection."""
    if gc.get_freeze_count():  # by whoever called, or by a run around this one
        yield
        return
    young, *older = gc.get_threshold()
    gc.freeze()
    if young:  # else it is switched off
        gc.set_threshold(max(young, _YOUNG), *older)
    try:
        yield
    finally:
        gc.set_threshold(young, *older)
        gc.unfreeze()


def _complete(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, also where an event loop is running already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    started: concurrent.futures.Future[Any] = concurrent.futures.Future()

    async def main() -> None:
        started.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        await work

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        ended = pool.submit(asyncio.run, main())
        try:
            ended.result()
        except KeyboardInterrupt:
            loop, task = started.result()
            with contextlib.suppress(RuntimeError):  # the loop is closed already
                loop.call_soon_threadsafe(task.cancel)
            raise
