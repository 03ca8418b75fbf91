"""Seats of one game in words, for trainers and hosts of language models.

`text_seat("kuhn_poker")` is one seat: `reset` gives a text, `act` takes words and gives the next
text. `TextTable` is one game with several seats that are played from outside, each asked when it is
to move. Both rest on one `Game`, as `play` does: a seed gives the same episode through each API.

Words never raise. An answer that cannot be read or is not legal is refused with its reason, and the
seat is asked again; after `retries` refusals in a row it forfeits, at the price that
`Env.forfeit_terms` names. An episode that is left unfinished is a forfeit as well (`finish`), so
that a policy which never acts earns no more than one that loses.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from manyhands.core.choices import Choice
from manyhands.core.config import check_reset_options, one_of, plain, whole
from manyhands.core.env import (
    DETAILS,
    ConfigError,
    Env,
    EpisodeOver,
    IllegalAction,
    episode_key,
)
from manyhands.core.episode import EpisodeResult, Game, Turn
from manyhands.core.pack import snapshot
from manyhands.core.registry import configured
from manyhands.core.talk import clean
from manyhands.core.view import View
from manyhands.wrappers.partners import Partners, fill

ON_ILLEGAL = ("forfeit", "noop")
_QUOTED = 1000  # characters of a message that a text repeats
# Numbers of episodes, so that partners who remember by episode and play at several tables do not
# mix them up.
_EPISODES = itertools.count()


def text_seat(
    game: str | Env,
    seat: int | str = 0,
    partners: Any = None,
    *,
    retries: int = 2,
    on_illegal: str = "forfeit",
    detail: str | None = None,
    **config: Any,
) -> TextSeat:
    """One seat of a game in words; the arguments are those of `TextTable`."""
    env = configured(game, config, text_seat)
    return TextSeat(
        TextTable(env, [seat], partners, retries=retries, on_illegal=on_illegal, detail=detail)
    )


class TextTable:
    """One game whose seats are played in words from outside, all of them or some.

    Where agents act at once, the step is made when each seat that is to move has answered.

    Args:
        game: an id, built with `**config`, or an `Env`.
        seats: indices or names of the agents that are played from outside; None: all.
        partners: who takes the other seats, as in `SeatEnv`. If an answer of theirs is illegal, the
            rule `on_illegal` applies to them as it does in `play`.
        retries: how often a seat is asked again, in a row, after an illegal answer.
        on_illegal: what follows then: `"forfeit"`, or `"noop"`: the environment's no-op is played
            (and a seat that others wait for forfeits after three of those in a row, as in `play`).
        detail: how much the texts tell: "brief", "normal" or "full"; None is the environment's own.

    Attributes:
        env: the environment.
        outside: indices of the seats that are played from outside.
        illegal: of each agent, how many of its answers were refused in this episode.

    Raises:
        ConfigError: an option does not fit; the wrong number of partners.
    """

    def __init__(
        self,
        game: str | Env,
        seats: Sequence[int | str] | None = None,
        partners: Any = None,
        *,
        retries: int = 2,
        on_illegal: str = "forfeit",
        detail: str | None = None,
        **config: Any,
    ):
        self.env = env = configured(game, config, TextTable)
        given = range(env.num_agents) if seats is None else [env.index(seat) for seat in seats]
        self.outside = tuple(sorted(set(given)))
        if not self.outside or len(self.outside) < len(given):
            raise ConfigError(f"the seats played from outside differ, at least one; given {seats}")
        self.retries = whole("retries", retries, 0)
        self.on_illegal = one_of("on_illegal", on_illegal, ON_ILLEGAL)
        self.detail = detail if detail is None else one_of("detail", detail, DETAILS)
        self._partners = Partners(env, fill(env, self.outside, partners))
        self._rng = np.random.default_rng()
        self._episode: Game | None = None
        self._turn = Turn()

    def reset(self, seed: int | None = None, member: int = 0, **options: Any) -> None:
        """Begin an episode, and play it until a seat from outside is to move.

        Args:
            seed: of the episode, as in `SeatEnv`: equal seeds begin alike. None: the next of a
                random series, which the last seed given determines.
            member: a number in a group of episodes with one seed, which start from the same state;
                in each member the partners draw differently, as in `play(group=)`.
            options: `Env.reset_options`.

        Raises:
            ConfigError: of a seed, a member or an option that cannot be.
        """
        env = self.env
        if seed is None:
            seed = int(self._rng.integers(2**32))
        else:
            seed = whole("seed", seed, 0)
            self._rng = np.random.default_rng(seed)
        member = whole("member", member, 0)
        wishes = check_reset_options(options, tuple(env.reset_options))
        fork = None
        if wishes:
            fork = snapshot(env, jax.device_get(env.reset_to(episode_key(seed), wishes)))
        self._episode = Game(
            env, seed, next(_EPISODES), member=member, fork=fork, on_illegal=self.on_illegal
        )
        self.illegal = [0] * env.num_agents
        self._refusals: dict[int, list[str]] = {}  # of the seats to move, since they last acted
        self._partners.begin(self._episode)
        self._turn = Turn()
        self._play_on()

    # ---- what a seat may know -----------------------------------------------------------------

    @property
    def episode(self) -> Game:
        """The episode that is played; raises `EpisodeOver` before the first `reset`."""
        if self._episode is None:
            raise EpisodeOver("no episode has begun; call reset() first")
        return self._episode

    @property
    def begun(self) -> bool:
        return self._episode is not None

    @property
    def done(self) -> bool:
        return self.episode.over

    @property
    def waiting(self) -> list[int]:
        """The seats from outside whose answers are waited for, by index."""
        if self.done:
            return []
        asked = self.episode.asked()
        return [i for i in asked if i in self.outside and i not in self._turn.actions]

    @property
    def rewards(self) -> np.ndarray:
        """f64[N], the total reward of each agent so far."""
        return self.episode.rewards

    def result(self) -> EpisodeResult:
        """The totals of the episode so far."""
        return self.episode.result(range(self.env.num_agents))

    def view(self, seat: int | str) -> View:
        return self.episode.views[self.env.index(seat)]

    def rules(self, seat: int | str) -> str:
        """The rules for this agent, and how to answer. Needs no episode."""
        return self.env.rules(self.env.index(seat))

    def choices(self, seat: int | str) -> list[Choice]:
        """The legal actions in words; none where the seat is not to move."""
        i = self.env.index(seat)
        return self.view(i).choices if i in self.waiting else []

    def look(self, seat: int | str) -> str:
        """What this agent reads now: why its last answer was refused, its observation, what it was
        told, and the legal actions; or how the episode ended."""
        i, game = self.env.index(seat), self.episode
        if game.forfeits:
            return self._ending(i)
        view = self.view(i)
        text = view.text if self.detail is None else view.describe(self.detail)
        parts = [text]
        heard = view.untold(text)
        if heard:
            parts.append(
                "Said to you:\n"
                + "\n".join(
                    f"- {m.sender}: {json.dumps(clean(m.text, _QUOTED), ensure_ascii=False)}"
                    for m in heard
                )
            )
        if game.over:
            parts.append(self._ending(i))
        elif i in self.waiting:
            if self._refusals.get(i):
                parts.insert(0, self._refusal(i))
            parts.append("What you may do now:\n" + "\n".join(f"- {c}" for c in view.choices))
        else:
            parts.append("Wait: it is not your turn.")
        return "\n\n".join(parts)

    # ---- answers ------------------------------------------------------------------------------

    def act(self, seat: int | str, words: str, say: str | None = None) -> dict[str, Any]:
        """Answer for a seat. The step is made as soon as all seats that are to move have answered.

        Args:
            words: the answer, as a player of `play` gives it. Anything but a string is read as its
                JSON.
            say: a message to the others, where there is a channel; by default what `words` mark as
                said.

        Returns:
            `"status"`: `"ok"`; `"illegal"` (not played: answer again; with `on_illegal="noop"` and
            no retries left, the no-op was); `"forfeit"`; `"waiting"` (it is not this seat's turn);
            or `"over"`. `"reason"` where the answer was not taken, `"action"` (JSON-ready) where it
            was, and `"illegal"`, the seat's refused answers in this episode.
        """
        i, game = self.env.index(seat), self.episode
        if i not in self.outside:
            raise ConfigError(f"{self.env.agents[i]} is played by a partner")
        if game.over:
            return self._answered(i, "over", reason="the game is over")
        if i not in self.waiting:
            return self._answered(i, "waiting", reason="it is not your turn")
        if not isinstance(words, str):
            words = _in_words(words)
        if say is None and self.env.chat is not None:
            say = self.env.chat.speech(words)
        try:
            action = game.read(i, words, say)
        except IllegalAction as error:
            return self._refuse(i, error.reason)
        self._turn.actions[i], self._turn.answers[i] = action, words
        if say is not None and self.env.chat is not None:
            self._turn.said[i] = say
        self._refusals.pop(i, None)
        found = self._answered(i, "ok", action=plain(action))
        self._play_on()
        return found

    def forfeit(self, seat: int | str) -> None:
        """Give up for a seat: the episode ends, at the price of a forfeit. Nothing where it is over
        already."""
        i = self.env.index(seat)
        if not self.done:
            noop = {i: self.env.noop}
            self.episode.advance(Turn(noop, illegal={i: "gave up"}, forfeits=(i,)))

    def finish(self) -> np.ndarray:
        """End the episode: f64[N], the total rewards. If it is not over, the seats that are waited
        for forfeit."""
        if not self.done:
            late = tuple(self.waiting)
            turn = Turn(dict.fromkeys(late, self.env.noop), forfeits=late)
            turn.illegal = dict.fromkeys(late, "no answer")
            self.episode.advance(turn)
        return self.rewards

    def close(self) -> None:
        """Finish the episode, and close what partners hold open."""
        if self.begun:
            self.finish()
        self._partners.close()

    def __enter__(self) -> TextTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- inside -------------------------------------------------------------------------------

    def _refuse(self, i: int, reason: str) -> dict[str, Any]:
        self.illegal[i] += 1
        refusals = self._refusals.setdefault(i, [])
        refusals.append(reason)
        if len(refusals) <= self.retries:
            return self._answered(i, "illegal", reason=reason)
        del self._refusals[i]
        self._turn.actions[i], self._turn.illegal[i] = self.env.noop, reason
        forfeits = self.episode.forfeits_by(i)
        if forfeits:  # the step is not played: the others' answers do not matter
            self._turn.forfeits = (i,)
            self.episode.advance(self._turn)
        found = self._answered(i, "forfeit" if forfeits else "illegal", reason=reason)
        self._play_on()
        return found

    def _answered(self, i: int, status: str, **more: Any) -> dict[str, Any]:
        return {"status": status, **more, "illegal": self.illegal[i]}

    def _play_on(self) -> None:
        """Make steps as long as nobody from outside is waited for."""
        game = self.episode
        while not game.over and not self.waiting:
            turn = self._partners.act(game)
            own, self._turn = self._turn, Turn()
            for name in ("actions", "said", "answers", "illegal"):
                getattr(turn, name).update(getattr(own, name))
            game.advance(turn)

    def _refusal(self, i: int) -> str:
        refusals = self._refusals[i]
        left = self.retries + 1 - len(refusals)
        then = "you forfeit the game" if self.on_illegal == "forfeit" else "your turn is lost"
        tries = "one more try" if left == 1 else f"{left} more tries in a row"
        return f"Your answer was not accepted: {refusals[-1]}\nYou have {tries}, then {then}."

    def _ending(self, i: int) -> str:
        game, names = self.episode, self.env.agents
        lines = ["The game is over."]
        if game.forfeits:
            who = ["you" if k == i else names[k] for k in game.forfeits]
            lines.append(f"Forfeited by {' and '.join(who)}.")
        lines.append(f"Your return: {game.rewards[i]:g}.")
        return " ".join(lines)


class TextSeat:
    """One seat of a game in words, the others taken by partners (`text_seat`).

    A table's seat may also be one of several: then `act` returns at once, and `look` tells to wait
    until the others have answered.

    Args:
        table: the game.
        seat: which one; the only one of the table by default.

    Attributes:
        table: the game, with its `env`, `episode` and `result()`.
        index, agent: of the agent.
    """

    def __init__(self, table: TextTable, seat: int | str | None = None):
        if seat is None and len(table.outside) != 1:
            raise ConfigError(f"this table has {len(table.outside)} seats; name one")
        self.table = table
        self.index = table.outside[0] if seat is None else table.env.index(seat)
        if self.index not in table.outside:
            raise ConfigError(f"{table.env.agents[self.index]} is played by a partner")
        self.agent = table.env.agents[self.index]

    def reset(self, seed: int | None = None, member: int = 0, **options: Any) -> str:
        """Begin an episode; the arguments are those of `TextTable.reset`. Returns what the agent
        reads. Where the episode ends before its first move, it is `done` at once."""
        self.table.reset(seed, member, **options)
        return self.look()

    def act(self, words: str, say: str | None = None) -> tuple[str, float, bool, dict[str, Any]]:
        """Answer in words, which are never a reason to raise.

        Returns:
            What the agent reads next, the reward since its answer, whether the episode is over, and
            the info: as `TextTable.act`, and after the last step also `"return"`, `"terms"`,
            `"metrics"`, `"steps"` and `"ended"` of the episode, as in `EpisodeResult`.
        """
        before = self.total
        info = self.table.act(self.index, words, say)
        if self.done:
            info |= self.summary()
        return self.look(), self.total - before, self.done, info

    def summary(self) -> dict[str, Any]:
        """The totals of the episode for this seat, JSON-ready."""
        result = self.table.result()
        return {
            "seed": result.seed,
            "member": result.member,
            "return": result.rewards[self.index],
            "terms": {name: values[self.index] for name, values in result.terms.items()},
            "metrics": result.metrics,
            "steps": result.steps,
            "ended": result.ended,
            "forfeited": self.forfeited,
            "illegal": self.illegal,
        }

    def look(self) -> str:
        """What the agent reads now (`TextTable.look`)."""
        return self.table.look(self.index)

    @property
    def rules(self) -> str:
        """The rules, and how to answer. Needs no episode."""
        return self.table.rules(self.index)

    @property
    def choices(self) -> list[Choice]:
        """The legal actions in words; none where the seat is not to move."""
        return self.table.choices(self.index)

    @property
    def view(self) -> View:
        """All that the agent may know now."""
        return self.table.view(self.index)

    @property
    def to_move(self) -> bool:
        return self.index in self.table.waiting

    @property
    def done(self) -> bool:
        return self.table.done

    @property
    def total(self) -> float:
        """The reward so far."""
        return float(self.table.rewards[self.index])

    @property
    def illegal(self) -> int:
        """Refused answers in this episode."""
        return self.table.illegal[self.index]

    @property
    def forfeited(self) -> bool:
        """Whether this seat ended the episode by a forfeit."""
        return self.index in self.table.episode.forfeits

    def finish(self) -> float:
        """The return of the episode; if it is not over, this seat forfeits."""
        self.table.forfeit(self.index)
        return self.total

    def close(self) -> None:
        """Finish the episode, and close what partners hold open."""
        if self.table.begun:
            self.finish()
        self.table.close()

    def __enter__(self) -> TextSeat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _in_words(answer: Any) -> str:
    try:
        return json.dumps(plain(answer), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(answer)
