"""A seat for verl's rollouts: an agent loop whose environment is a game, answered in plain words by
the model, which plays with partners or with itself.

Tested with verl 0.9.1: its worker, with a stand-in for the inference server.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any
from uuid import uuid4

from omegaconf import OmegaConf
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopOutput

from manyhands.core.episode import episode_seed
from manyhands.wrappers.text_seat import TextSeat, TextTable


def rows(
    episodes: int, seed: int = 0, seats: Sequence[int] = (0,), agent: str = "manyhands"
) -> list[dict[str, Any]]:
    """Rows of verl's dataset, for a parquet file: episode `e` has the seed `episode_seed(seed, e)`,
    as in `play`, and is played once from each of `seats`. `agent` is the name of the loop."""
    made: list[dict[str, Any]] = []
    for e, seat in itertools.product(range(episodes), seats):
        made.append(
            {
                "prompt": [{"role": "user", "content": "The agent loop writes the prompt."}],
                "data_source": agent,
                "agent_name": agent,
                "seed": episode_seed(seed, e),
                "seat": seat,
                "extra_info": {"index": len(made)},
            }
        )
    return made


@dataclass
class _Talk:
    """What one seat has read and written: messages, and their tokens. `mask` and `logprobs` are of
    the tokens after the first prompt; the mask is 1 where the model wrote them."""

    messages: list[dict[str, str]]
    tokens: list[int]
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] | None = None
    name: str = field(default_factory=lambda: uuid4().hex)


# Tables that no rollout plays at, by their settings: verl makes a new loop for each rollout.
_FREE: dict[str, list[TextTable]] = {}


class SeatLoop(AgentLoopBase):
    """One rollout is one episode, seen from one seat; its score is the return. A rollout that
    reaches `rollout.response_length` has forfeited.

    Rows come from `rows`. Rollouts of one seed start from the same state; partners draw by the
    number that verl gives to each rollout of a batch ("priority").

    Args:
        args, verl: what verl gives to every loop.
        game: the id of an environment.
        partners: who takes the other seats; `"self"`: the model as it is now.
        show_rules: begin the prompt with the rules.
        options: more of `TextTable`'s, the game's configuration among them.
    """

    def __init__(
        self,
        *args: Any,
        game: str,
        partners: Any = "self",
        show_rules: bool = True,
        options: Any = None,
        **verl: Any,
    ):
        super().__init__(*args, **verl)
        self._game, self._show_rules = game, show_rules
        self._partners, self._options = _plain(partners), _plain(options or {})

    async def run(
        self,
        sampling_params: dict[str, Any],
        *,
        seed: int,
        seat: int | str = 0,
        priority: int = 0,
        **row: Any,
    ) -> AgentLoopOutput:
        alone = self._partners != "self"
        key = json.dumps([self._game, self._partners, self._options, str(seat) if alone else None])
        free = _FREE.setdefault(key, [])
        table = free.pop() if free else self._table(seat if alone else None)
        table.reset(int(seed), int(priority))
        own = TextSeat(table, seat)
        talks: dict[int, _Talk] = {}
        spent = [0.0]

        async def answer(i: int) -> None:
            talk = talks[i] = await self._read(talks.get(i), table, i)
            if len(talk.mask) >= self.rollout_config.response_length:
                table.forfeit(i)
                return
            began = perf_counter()
            found = await self.server_manager.generate(
                request_id=talk.name,
                prompt_ids=talk.tokens,
                sampling_params=sampling_params,
                priority=int(priority),
            )
            spent[0] += perf_counter() - began
            words = self.tokenizer.decode(found.token_ids, skip_special_tokens=True)
            await self._write(talk, words, found.token_ids, found.log_probs)
            table.act(i, words)

        while not table.done:
            await asyncio.gather(*(answer(i) for i in table.waiting))
        total = own.finish()
        talk = talks.get(own.index) or await self._read(None, table, own.index)
        if not talk.mask:  # the game was over before it could move
            talk.tokens.append(self.tokenizer.eos_token_id)
            talk.mask.append(0)
            talk.logprobs = [0.0] if sampling_params.get("logprobs") else None
        illegal, forfeited = own.illegal, own.forfeited
        free.append(table)
        start, cut = len(talk.tokens) - len(talk.mask), self.rollout_config.response_length
        return AgentLoopOutput(
            prompt_ids=talk.tokens[:start],
            response_ids=talk.tokens[start:][:cut],
            response_mask=talk.mask[:cut],
            response_logprobs=None if talk.logprobs is None else talk.logprobs[:cut],
            reward_score=float(total),
            num_turns=len(talk.messages),
            metrics={"generate_sequences": spent[0], "tool_calls": 0.0},
            extra_fields={
                "turn_scores": [],
                "tool_rewards": [],
                "reward_extra_info": {"illegal": illegal, "forfeited": float(forfeited)},
            },
        )

    def _table(self, seat: int | str | None) -> TextTable:
        if seat is None:
            return TextTable(self._game, **self._options)
        return TextTable(self._game, [seat], self._partners, **self._options)

    async def _read(self, talk: _Talk | None, table: TextTable, i: int) -> _Talk:
        """Add what a seat sees now. verl knows the chat template of the model."""
        text = table.look(i)
        if talk is None:
            if self._show_rules:
                text = f"{table.rules(i)}\n\n{text}"
            message = [{"role": "user", "content": text}]
            return _Talk(message, list(await self.ct_build_initial_tokens(message)))
        more = [*talk.messages, {"role": "user", "content": text}]
        merged, talk.mask, talk.logprobs = await self.ct_merge_context_msg(
            talk.messages, more, talk.tokens, talk.mask, talk.logprobs
        )
        talk.messages, talk.tokens = more, merged.token_ids
        return talk

    async def _write(
        self, talk: _Talk, words: str, tokens: list[int], logprobs: list[float] | None
    ) -> None:
        if logprobs and talk.logprobs is None:
            talk.logprobs = [0.0] * len(talk.mask)
        merged, talk.mask, talk.logprobs = await self.ct_merge_assistant_token(
            talk.tokens, tokens, talk.mask, talk.logprobs, logprobs or None
        )
        talk.tokens = merged.token_ids
        talk.messages = [*talk.messages, {"role": "assistant", "content": words}]


def _plain(value: Any) -> Any:
    """Values of a YAML file as lists, mappings, numbers and words."""
    return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value
