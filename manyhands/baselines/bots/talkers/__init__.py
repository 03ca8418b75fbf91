"""Scripted negotiators that speak and listen: `honest`, `bluffer`, `stubborn`, `fair:talk=true`.

They know what any player may know: their row of `Negotiation.perceive`, their legal actions and
what others say (`View.messages`), which they read with the grammars of the game (`hearing.py`).
From claims, wishes, offers and refusals they work out what the other probably values
(`beliefs.py`), and never believe all of it. In bargaining all do the same in another manner
(`bargaining.py`):

- They aspire to a part of what can be gained, between an equal one and the most, and concede with
  time, until their last useful offer, to a little more than what no deal is worth.
- Of what is worth as much as they aspire to, they offer what is best for both together.
- They accept what is worth as much as what they would offer next, and at the last chance whatever
  is better than no deal.
- Beside their moves they say what they value, a part at a time, and what they think of an offer.

`honest` says the truth and aspires to little more than an equal part; `fair` too, and concedes
sooner. `bluffer` says numbers that are better for it, and asks for more. `stubborn` says only what
it wants, asks for almost all and concedes late.

In the commons all catch their part of what grows back, less what others pledge beyond theirs, and
pledge it; `bluffer` breaks its pledge in the last month. As donors they give a share of what they
can, less to those who gave little (`sharing.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from manyhands.baselines.bots.talkers.bargaining import Dividing, Pricing, Splitting, Trading
from manyhands.baselines.bots.talkers.mind import MANNERS, Manner, Mind
from manyhands.baselines.bots.talkers.sharing import Fishing, Giving
from manyhands.core.env import Env, SeatError, unwrap
from manyhands.core.view import Reply, View
from manyhands.envs.negotiation.env import Negotiation
from manyhands.envs.negotiation.forms import Exchange, Gift, Harvest, Pool, Price, Shares
from manyhands.envs.negotiation.words import Observation


def honest(env: Env) -> Talker:
    """Tells the truth, and aspires to little more than an equal part."""
    return Talker(env, "honest")


def bluffer(env: Env) -> Talker:
    """Says numbers that are better for it, and asks for more."""
    return Talker(env, "bluffer")


def stubborn(env: Env) -> Talker:
    """Says what it wants alone, asks for almost all, and concedes late."""
    return Talker(env, "stubborn")


class Talker:
    """A host policy; see the module's docstring.

    Args:
        env: a negotiation, or a wrapper of one.
        style: one of `MANNERS`.
    """

    def __init__(self, env: Env, style: str):
        self._found = unwrap(env, Negotiation, SeatError)
        self.env, self.style, self.game = env, style, self._found.env
        data = self.game.scenario
        for form, mind in _MINDS:
            if isinstance(data, form):
                self._mind: Callable[..., Mind] = mind
                break
        else:
            raise SeatError(
                f"{style!r} does not know the form {type(data).__name__}; seat fair or random there"
            )
        self._minds: dict[tuple[int, int], Mind] = {}

    def act(self, views: Sequence[View]) -> list[Reply]:
        return [self._answer(view) for view in views]

    def _answer(self, view: View) -> Reply:
        key = view.episode, view.index
        if view.turn == 0 or key not in self._minds:
            while len(self._minds) >= 4096:  # long runs do not fill the memory
                self._minds.pop(next(iter(self._minds)))
            self._minds[key] = self._mind(self.game, MANNERS[self.style], view.index)
        mind = self._minds[key]
        legal = np.asarray(self._found.lower(np.asarray(view.legal)))
        names = [
            self.game.agents[(view.index + j) % len(self.game.agents)]
            for j in range(len(self.game.agents))
        ]
        seen = Observation(
            np.asarray(view.perception).astype(int),
            self.game.at,
            names,
            view.index,
            self.game.scenario.phases,
        )
        mind.look(seen, legal, [(m.sender, m.text) for m in view.messages])
        action = mind.move()
        say = mind.aloud()
        if self.env.chat is None:
            say = ""
        return Reply(np.asarray(self._found.lift(action)), say=say[:200] or None)


def _pool(game: Negotiation, manner: Manner, agent: int) -> Mind:
    kind = Splitting if len(game.scenario.goods) == 1 else Dividing
    return kind(game, manner, agent)


_MINDS: tuple[tuple[type, Callable[..., Mind]], ...] = (
    (Pool, _pool),
    (Shares, Splitting),
    (Price, Pricing),
    (Exchange, Trading),
    (Harvest, Fishing),
    (Gift, Giving),
)


__all__ = ["MANNERS", "Manner", "Talker", "bluffer", "honest", "stubborn"]
