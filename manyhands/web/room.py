"""A study while it runs: which page a participant sees, and what follows it.

The way of each participant lies in the ledger; here are only the tables where they sit, and who
waits for whom. So a server that was killed goes on where it was.
"""

from __future__ import annotations

import contextlib
import math
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from manyhands.core.env import ConfigError, ManyhandsError
from manyhands.core.episode import EpisodeResult
from manyhands.web.house import House
from manyhands.web.ledger import Ledger, Participant
from manyhands.web.study import Stage, Study, StudyGame
from manyhands.web.tables import PERSON, Payload, Table
from manyhands.web.workers import FarTable

MOST_TRIES = 3  # of a game that breaks off, after which it is left out
EXTERNAL = re.compile(r"[A-Za-z0-9_-]{1,64}")  # an id of a recruiting site
FRESH = 5.0  # seconds: who has not asked for so long does not wait any more


@dataclass
class _Waiting:
    """One who waits for others."""

    participant: Participant
    since: float
    asked: float = field(default=0.0)


class Room:
    """The pages of a study.

    Args:
        study, ledger: what is studied, and its store.
        house: where the tables are.
        clock: seconds since 1970.
    """

    def __init__(
        self, study: Study, ledger: Ledger, house: House, clock: Callable[[], float] = time.time
    ):
        self.study, self.ledger, self.house, self._clock = study, ledger, house, clock
        self._lock = threading.RLock()
        self._seated: dict[tuple[str, int], tuple[Table | FarTable, int]] = {}
        self._waiting: dict[tuple[str, str], dict[str, _Waiting]] = {}
        self._broken: dict[tuple[str, int], int] = {}  # games that broke off since the server began
        ledger.recover()

    def about(self) -> Payload:
        """What anybody may know."""
        study = self.study
        return {"title": study.title, "name": study.name, "external": study.external}

    def enter(self, external: Any = None) -> Payload:
        """A new participant, or one whom a recruiting site sends again: the token.

        Args:
            external: the site's id of the person, where the study asks for it.

        Raises:
            ConfigError: the study is full, or the id is missing or none.
        """
        wanted = self.study.external
        if not wanted:
            external = ""
        elif not isinstance(external, str) or not EXTERNAL.fullmatch(external):
            raise ConfigError(
                f"the address of this study ends in ?{wanted}= and the id that you have where you "
                "found it: please follow the link there"
            )
        token = self.ledger.enter(self._clock(), external)
        if token is None:
            raise ConfigError("this study has all the participants that it needs; thank you")
        return {"participant": token}

    def page(self, token: str) -> Payload:
        """What a participant sees now.

        Raises:
            ConfigError: there is no such participant.
        """
        with self._lock:
            participant = self.ledger.participant(token, self._clock())
            if participant is None:
                raise ConfigError("there is no such participant")
            return self._page(participant)

    def turn(self, token: str, stage: Any, given: Any) -> Payload:
        """Go on from a page, with what was said on it; gives the next page, or the same one if it
        is not done yet.

        Raises:
            ConfigError: there is no such participant, or an answer cannot be.
        """
        with self._lock:
            participant = self.ledger.participant(token, self._clock())
            if participant is None:
                raise ConfigError("there is no such participant")
            if participant.stage != stage:  # from another tab, or clicked twice
                return self._page(participant)
            answers = given if isinstance(given, Mapping) else {}
            now = participant.now
            if now.kind == "consent" and answers.get("consent") is not True:
                self.ledger.withdraw(participant)
                return {"kind": "refused", "title": self.study.title}
            if now.kind == "end" or (now.kind == "game" and not self._over(participant)):
                return self._page(participant)
            kept = self._answers(now, answers) if now.kind == "questions" else {}
            participant = self.ledger.advance(participant, kept)
            if participant.now.kind == "end":
                self.ledger.save_tables()
            return self._page(participant)

    def close(self) -> None:
        """Write the tables, as far as the study has come."""
        self.ledger.save_tables()

    # ---- pages -----------------------------------------------------------------------------------

    def _page(self, participant: Participant) -> Payload:
        study, stage = self.study, participant.now
        page: Payload = {
            "kind": stage.kind,
            "title": study.title,
            "stage": participant.stage,
            "stages": len(participant.stages),
        }
        if stage.kind in ("consent", "instructions"):
            page["text"] = getattr(study, stage.kind)
        elif stage.kind == "questions":
            page["questions"] = [question.words() for question in study.ask(stage.when)]
            if stage.when == "before" and any(q.correct for q in study.ask("before")):
                page["text"] = study.instructions
        elif stage.kind == "end":
            page |= {"text": study.thanks, "code": participant.code, "link": study.link}
        else:
            page |= self._game(participant)
        return page

    def _answers(self, stage: Stage, given: Mapping[str, Any]) -> dict[str, Any]:
        questions = self.study.ask(stage.when)
        unknown = set(given) - {question.name for question in questions}
        if unknown:
            raise ConfigError(f"there is no question {', '.join(sorted(map(repr, unknown)))}")
        kept = {}
        for question in questions:
            value = question.check(given.get(question.name))
            if question.correct and value != question.correct:
                raise ConfigError(f"Please read the instructions again: {question.text}")
            if value is not None:
                kept[question.name] = value
        return kept

    # ---- games -----------------------------------------------------------------------------------

    def _over(self, participant: Participant) -> bool:
        """Whether a participant may go on from a game."""
        key = participant.id, participant.stage
        return self.ledger.finished(participant) or self._broken.get(key, 0) >= MOST_TRIES

    def _game(self, participant: Participant) -> Payload:
        stage = participant.now
        game, partner = self.study.games[stage.game], self.study.partners[stage.partner]
        about = {"practice": game.practice, "trial": stage.trial, "text": game.text}
        # As participants count: practice is no game.
        counted = [
            one.trial
            for one in participant.stages
            if one.kind == "game" and not self.study.games[one.game].practice
        ]
        about["number"] = sum(trial <= stage.trial for trial in counted)
        about["numbers"] = len(counted)
        if self._over(participant):
            return {**about, "over": True}
        key = participant.id, participant.stage
        table, index = self._seated.get(key, (None, 0))
        if table is None or table.closed or table.failure:
            self._seated.pop(key, None)
            together = [participant]
            if PERSON in partner.seats:
                found = self._company(participant, game, partner.otherwise)
                if not found:
                    waited = (
                        self._clock()
                        - self._waiting[stage.game, stage.partner][participant.id].since
                    )
                    return {**about, "kind": "wait", "seconds": max(self.study.wait - waited, 0)}
                together = found
            if self._over(participant):  # nobody came
                return {**about, "over": True}
            self._open(together, game)
            table, index = self._seated[key]
        return {**about, "over": False, "table": table.id, "seat": table.guests[index].token}

    def _company(
        self, participant: Participant, game: StudyGame, otherwise: str
    ) -> list[Participant]:
        """Those who play together with a participant; empty while others are waited for."""
        now, stage = self._clock(), participant.now
        queue = self._waiting.setdefault((stage.game, stage.partner), {})
        mine = queue.setdefault(participant.id, _Waiting(participant, now))
        if now - mine.asked > FRESH and mine.asked:
            mine.since = now  # it was away
        mine.participant, mine.asked = participant, now
        there = [one for one in queue.values() if now - one.asked <= FRESH]
        there.sort(key=lambda one: one.since)
        wanted = game.env.num_agents
        if len(there) < wanted and now - mine.since < self.study.wait:
            return []
        found = [one.participant for one in there[:wanted]]
        if participant.id not in [one.id for one in found]:
            return []
        for one in found:
            del queue[one.id]
        if len(found) < wanted and not otherwise:  # nobody came, and nobody stands in
            self._broken[participant.id, participant.stage] = MOST_TRIES
            return [participant]
        return found

    def _open(self, together: list[Participant], game: StudyGame) -> None:
        """Open a table for participants; the first has the agent of its stage, others those after
        it."""
        env, first = game.env, together[0]
        stage = first.now
        partner = self.study.partners[stage.partner]
        seats = (partner.otherwise,) if PERSON in partner.seats else partner.seats_in(env)
        place = env.index(stage.agent)
        names = [seats[stage.turn % len(seats)] if seats else ""] * env.num_agents
        places = [(place + i) % env.num_agents for i in range(len(together))]
        for at in places:
            names[at] = PERSON
        alone = len(together) == 1
        attempt = self.ledger.attempts(first)
        record = f"records/{first.id}-{stage.trial}-{attempt}.jsonl"
        seed = (self.study.seed + 1009 * first.number + 31 * stage.trial + attempt) % 2**31
        table = self.house.host(
            env,
            names,
            seed=seed,
            clock=game.clock,
            # Nobody waits for one who plays with bots: the table is closed when it was idle.
            patience=math.inf if alone else self.study.patience,
            leaver="bot" if alone else self.study.leaver,
            stand_in=env.scripted_policy and "bot",
            pace=env.pace,
            record=self.ledger.folder / record,
            once=True,
            blind=True,
            ended=lambda table, result: self._ended(table, record, result),
        )
        seated = dict(zip(env.agents, names, strict=True))
        for one, at in zip(together, places, strict=True):
            self.ledger.begin(one, env.agents[at], seated, seed, record)
            self._seated[one.id, one.stage] = table, at

    def _ended(self, table: Table | FarTable, record: str, result: EpisodeResult | None) -> None:
        """A game has ended, or was cut off; called in a thread of its own."""
        if result is not None:
            self.ledger.done(record, result, table.env.agents)
            return
        with contextlib.suppress(ManyhandsError):
            self.ledger.lost(record, table.failure or "the table was closed")
        if table.failure:
            with self._lock:
                for key, (other, _) in self._seated.items():
                    if other is table:
                        self._broken[key] = self._broken.get(key, 0) + 1
