"""A seat as an Inspect task: episodes are samples, the solver plays, the scorer gives the return.

    inspect eval manyhands/integrations/inspect_ai.py -T game=kuhn_poker --model MODEL

Tested with inspect-ai 0.3.285.
"""

from __future__ import annotations

import asyncio
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from manyhands.core.episode import episode_seed
from manyhands.wrappers.text_seat import text_seat


@solver
def play_seat(game: str, seat: int | str = 0, partners: Any = None, **options: Any) -> Solver:
    """Plays one episode, whose seed and member are the sample's metadata. The arguments are those
    of `text_seat`, as JSON has them."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        player = text_seat(game, seat, partners, **options)
        start = state.metadata
        text = await asyncio.to_thread(player.reset, start["seed"], start.get("member", 0))
        state.messages = [ChatMessageSystem(content=player.rules), ChatMessageUser(content=text)]
        while not player.done:
            state = await generate(state)
            if state.completed:  # a limit of the run: messages, tokens, time
                break
            # Partners may take their time: other samples go on.
            text, *_ = await asyncio.to_thread(player.act, state.output.completion)
            state.messages.append(ChatMessageUser(content=text))
        player.finish()
        state.store.set("manyhands", player.summary())
        player.close()
        return state

    return solve


@scorer(metrics=[mean(), stderr()])
def game_return() -> Scorer:
    """The return of the episode, forfeits at their price; its totals are the metadata."""

    async def score(state: TaskState, target: Target) -> Score:
        totals = state.store.get("manyhands")
        return Score(value=float(totals["return"]), metadata=totals)

    return score


@scorer(metrics=[mean(), stderr()])
def illegal_answers() -> Scorer:
    """How many answers of the episode were refused."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=float(state.store.get("manyhands")["illegal"]))

    return score


@task
def manyhands_task(
    game: str = "kuhn_poker",
    episodes: int = 20,
    seed: int = 0,
    group: int = 1,
    seat: int | str = 0,
    partners: Any = None,
    **options: Any,
) -> Task:
    """Episodes of one seat.

    Args:
        game, seat, partners, options: as in `text_seat`.
        episodes, seed, group: as in `play`: each of the `episodes` is played by `group` samples,
            which start alike.
    """
    samples = [
        Sample(
            input=f"{game}, episode {e}",
            id=f"{e}.{member}",
            metadata={"seed": episode_seed(seed, e), "member": member},
        )
        for e in range(episodes)
        for member in range(group)
    ]
    return Task(
        dataset=MemoryDataset(samples, name=f"manyhands-{game}"),
        solver=play_seat(game, seat, partners, **options),
        scorer=[game_return(), illegal_answers()],
    )
