"""Seats for the tests of the arena, also in processes of their own: run as a program, it plays the
season in a file into a store, beside others."""

from __future__ import annotations

import sys
import time

import numpy as np

from manyhands.core.registry import register_seat
from manyhands.core.view import BudgetSpent, Reply

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    "\u202egnp.exe\u202c\x07\x1b[2J<!--\u2028&lt;\U0001f600"
)


class Chosen:
    """Takes the first legal action (or the last, or any), after a while, and tells its tokens."""

    def __init__(self, which: str, seconds: float = 0.0, tokens: int = 0):
        self.which, self.seconds, self.tokens = which, seconds, tokens

    def act(self, views):
        if self.seconds:
            time.sleep(self.seconds)
        return [Reply(self._choose(view), info=self._info()) for view in views]

    def _info(self):
        if not self.tokens:
            return {}
        return {"prompt_tokens": self.tokens, "completion_tokens": self.tokens // 10}

    def _choose(self, view):
        legal = np.flatnonzero(view.legal)
        if self.which == "any":
            return int(view.rng().choice(legal))
        return int(legal[0 if self.which == "first" else -1])


def first(env, seconds=0.0, tokens=0):
    return Chosen("first", seconds, tokens)


def last(env, seconds=0.0, tokens=0):
    return Chosen("last", seconds, tokens)


def anything(env, seconds=0.0, tokens=0):
    return Chosen("any", seconds, tokens)


class Asked(Chosen):
    """Answers probes, too: by what it was shown, or always by the first option."""

    def __init__(self, knows):
        super().__init__("any")
        self.knows = knows

    def probe(self, views, questions):
        info = {"prompt_tokens": 7, "completion_tokens": 2}
        return [Reply(q.believed if self.knows else q.options[0], info=info) for q in questions]


def asked(env, knows=True):
    return Asked(knows)


def hostile(env):
    """Says what would do harm in a page, and is refused each time."""
    return lambda view: Reply(f"ACTION: {HOSTILE}", say=f"I say {HOSTILE}", info={"seconds": 0.5})


def broken(env, seconds=0.0):
    def act(view):
        raise ValueError("answered 500: https://me:hidden@example.org/?api_key=hidden")

    return act


class Sighted(Chosen):
    """Wants the states of the episodes; tells how many bytes it was given."""

    needs_state = True

    def act(self, views, states):
        return [
            Reply(self._choose(view), info={"bytes": len(state)})
            for view, state in zip(views, states, strict=True)
        ]


def sighted(env):
    return Sighted("first")


class Spender(Chosen):
    """May make so many decisions, or answer so many questions."""

    def __init__(self, most, probed):
        super().__init__("any")
        self.left, self.probed = most, probed
        if probed:
            self.probe = self._probe

    def _spend(self, count):
        self.left -= count
        if self.left < 0:
            raise BudgetSpent("the budget of decisions is spent")

    def act(self, views):
        if not self.probed:
            self._spend(len(views))
        return super().act(views)

    def _probe(self, views, questions):
        self._spend(1)
        return [question.options[0] for question in questions]


def spender(env, most=4, probed=False):
    return Spender(most, probed)


class Hearer(Chosen):
    """Hears of the ends of episodes, and writes as many tokens of notes."""

    async def ended(self, views, result):
        notes = {"text": "noted", "prompt_tokens": 100, "completion_tokens": 10}
        return {view.index: {"new_notes": notes} for view in views}


def hearer(env):
    return Hearer("first")


SEATS = (
    *("first", "last", "anything", "asked", "hostile", "broken"),
    *("sighted", "hearer", "spender"),
)
for _name in SEATS:
    register_seat(f"arena-{_name}", f"{__name__}:{_name}")

if __name__ == "__main__":
    for _name in SEATS:
        register_seat(f"arena-{_name}", f"arena_seats:{_name}")
    from manyhands.baselines.arena import read_season
    from manyhands.baselines.arena.run import work

    season = read_season(sys.argv[1])
    work(season, sys.argv[2], list(season.games), lease=float(sys.argv[3]))
