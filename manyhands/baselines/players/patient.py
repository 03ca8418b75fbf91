"""Standing orders: answers that hold until something concerns the player.

A player that is expensive to query, such as a language model, may answer "wait until something
happens", or "go on" with what it does: it is then not asked again until something concerns its
agent (`View.concerns`), somebody speaks to it, what it does becomes impossible, or its patience
ends.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manyhands.core.config import whole
from manyhands.core.env import Action, Env, IllegalAction
from manyhands.core.episode import EpisodeResult, check_action
from manyhands.core.play import end_episode
from manyhands.core.reading.answers import decide
from manyhands.core.reading.grammar import Grammar
from manyhands.core.reading.parts import Answer
from manyhands.core.reading.phrases import NEWS, UNTIL
from manyhands.core.view import Reply, View

_EPISODES = 4096  # episodes remembered at once; the least recently used is dropped first

_UNTIL = f"(for [(a|an|any|some)] {NEWS}|{UNTIL}|(until|till) (i am|i'm) (needed|asked|spoken to))"
_IDLE = "wait|stay|hold|rest|idle|do nothing"
_ORDERS = Grammar(
    {
        "wait": [
            f"({_IDLE}|keep waiting|stay put) [here] {_UNTIL}",
            "keep waiting",
            "wait on",
            "wait (and see|for now)",
        ],
        "go on": [
            "(go on|continue|keep going|carry on|keep on|proceed) "
            f"[with (it|this|that|the same|what i am doing|what i'm doing)] [{_UNTIL}]",
            f"(keep|keep on) (doing it|doing this|at it) [{_UNTIL}]",
        ],
    }
)
_STEPS = Grammar({"wait": [f"({_IDLE}) [for] {{steps:n}} (step|turn|tick)"]})


@dataclass
class _Order:
    """What an agent does until further notice, and for how many more steps."""

    words: str
    action: Action | str
    left: int


class Patience:
    """The standing orders of the agents of many episodes.

    Args:
        env: the environment.
        steps: after how many steps an agent is asked again in any case.
    """

    def __init__(self, env: Env[Any], steps: int):
        self.env, self.steps = env, whole("patience", steps, 0)
        self._orders: OrderedDict[tuple[int, int], _Order] = OrderedDict()
        self._last: OrderedDict[tuple[int, int], Action | str] = OrderedDict()

    def rules(self) -> str:
        """What a player is told of it; empty without patience."""
        if not self.steps:
            return ""
        return (
            '\nYou may also answer "wait until something happens", "wait 5 steps", or "go on" with '
            "what you do: you are then asked again when something concerns you, and after "
            f"{self.steps} steps at the latest."
        )

    def due(self, view: View) -> Reply | None:
        """The answer under a standing order; None if the player is to be asked."""
        where = view.episode, view.index
        if view.turn == 0:
            self._orders.pop(where, None)
            self._last.pop(where, None)
        order = self._orders.pop(where, None)
        if order is None or order.left < 1 or view.messages or view.concerns:
            return None
        try:
            action = view.parse(order.action) if isinstance(order.action, str) else order.action
            check_action(self.env, view.legal, action)
        except IllegalAction:
            return None
        order.left -= 1
        _keep(self._orders, where, order)
        return Reply(order.action, info={"standing_order": order.words})

    def note(self, view: View, reply: Reply) -> Reply:
        """A player's answer, with the action that its order means now, if it is one."""
        where = view.episode, view.index
        found = self.read(reply.action) if self.steps else None
        if found is None:
            if reply.action is not None:
                _keep(self._last, where, reply.action)
            return reply
        kind, steps = found
        action: Action | str = "wait" if kind == "wait" else str(reply.action)
        if kind == "go on" and not self._reads(view, action):
            if where not in self._last:
                return reply
            action = self._last[where]
        elif not self._reads(view, action):
            action = self.env.noop
        _keep(self._orders, where, _Order(str(reply.action), action, steps - 1))
        return Reply(action, reply.say, reply.error, reply.info)

    def read(self, answer: Any) -> tuple[str, int] | None:
        """("wait" or "go on", for how many steps at most) of an answer that is an order."""
        if not isinstance(answer, str):
            return None

        def mean(part: Answer) -> Any:
            orders = {reading.meaning for reading in _ORDERS.read(part.plain)}
            if len(orders) == 1:
                return (orders.pop(), self.steps)
            counts = {reading.values["steps"] for reading in _STEPS.read(part.plain)}
            return ("wait", min(counts.pop(), self.steps)) if len(counts) == 1 else None

        try:
            found: tuple[str, int] = decide(answer, mean)
        except IllegalAction:
            return None
        return found

    def _reads(self, view: View, words: Action | str) -> bool:
        try:
            view.parse(str(words))
        except IllegalAction:
            return False
        return True


def _keep(orders: OrderedDict[Any, Any], where: Any, order: Any) -> None:
    orders[where] = order
    orders.move_to_end(where)
    if len(orders) > _EPISODES:
        orders.popitem(last=False)


class Patient:
    """A player in words that may give standing orders.

    Args:
        policy: who is asked: a `Policy`, or a function of one `View`, which answers in words.
        env: the environment.
        patience: after how many steps it is asked again in any case.
    """

    def __init__(self, policy: Any, env: Env[Any], patience: int = 20):
        self.policy, self.patience = policy, Patience(env, whole("patience", patience, 1))
        name = getattr(policy, "name", getattr(policy, "__name__", type(policy).__name__))
        self.name = f"patient {name}"

    async def ended(self, views: Sequence[View], result: EpisodeResult) -> Any:
        """The end of an episode, passed on."""
        return await end_episode(self.policy, views, result)

    async def aclose(self) -> None:
        """Close what the other player holds open."""
        if hasattr(self.policy, "aclose"):
            await self.policy.aclose()

    async def act(self, views: Sequence[View]) -> list[Reply]:
        """One reply for each view."""
        replies = []
        for view in views:
            reply = self.patience.due(view)
            if reply is None:
                asked = hasattr(self.policy, "act")
                answer = self.policy.act([view]) if asked else self.policy(view)
                if inspect.isawaitable(answer):
                    answer = await answer
                answer = answer[0] if asked else answer
                reply = answer if isinstance(answer, Reply) else Reply(answer)
                reply = self.patience.note(view, reply)
            replies.append(reply)
        return replies
