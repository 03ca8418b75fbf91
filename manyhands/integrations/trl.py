"""Seats for TRL's `GRPOTrainer`: an `environment_factory`, whose tool is a turn of the game, and a
`rollout_func`, in which the model answers in plain words, by itself or against itself.

Tested with trl 1.16.0 and transformers 5.23.0.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from manyhands.core.config import whole
from manyhands.core.env import ConfigError, Env
from manyhands.core.episode import episode_seed
from manyhands.wrappers.text_seat import TextSeat, TextTable, text_seat

Tokens = list[int]


def rows(episodes: int, seed: int = 0, seats: Sequence[int] = (0,)) -> list[dict[str, Any]]:
    """Rows of a dataset: episode `e` has the seed `episode_seed(seed, e)`, as in `play`, and is
    played once from each of `seats`. `datasets.Dataset.from_list(rows(64))` is what both ways of
    training take."""
    made = []
    for e, seat in itertools.product(range(episodes), seats):
        start = {"seed": episode_seed(seed, e), "seat": seat}
        made.append({"prompt": json.dumps(start), **start})
    return made


def tool_rows(episodes: int, seed: int = 0) -> list[dict[str, Any]]:
    """Rows for `environment_factory`: what `reset` returns is appended to their message."""
    words = "Play this game with the tool `act`, until it is over.\n\n"
    prompt = [{"role": "user", "content": words}]
    return [{"prompt": prompt, "seed": episode_seed(seed, e)} for e in range(episodes)]


def returns(prompts: Any, completions: Any, game_return: list[float], **_: Any) -> list[float]:
    """The reward function that belongs to `Rollouts`."""
    return game_return


def environment_factory(
    game: str | Env, seat: int | str = 0, partners: Any = None, **options: Any
) -> Callable[[], Any]:
    """A class for `GRPOTrainer(environment_factory=...)`: each rollout is an episode, its tool
    `act` a turn, and the reward its return. A rollout that stops before the end has forfeited.

    The column "seed" of the dataset is the episode's. The k-th rollout of a seed is member k of its
    group: it starts from the same state, and partners draw differently.

    Args:
        game, seat, partners, options: as in `text_seat`.

    Raises:
        ConfigError, SeatError: as `text_seat`, at once.
    """
    visits: Counter[int] = Counter()
    # The first is made now: what does not fit is said before a model is loaded.
    made = [text_seat(game, seat, partners, **options)]

    class ManyhandsSeat:
        def __init__(self) -> None:
            self._seat = made.pop() if made else text_seat(game, seat, partners, **options)

        def reset(self, seed: int = 0, **row: Any) -> str:
            seed = int(seed)
            member, visits[seed] = visits[seed], visits[seed] + 1
            return f"{self._seat.rules}\n\n{self._seat.reset(seed, member)}"

        def act(self, action: str) -> str:
            """Take your turn in the game.

            Args:
                action: your action, in the words of one of the legal actions.

            Returns:
                What you see next, or how the game ended.
            """
            return self._seat.act(action)[0]

        def get_reward(self) -> float:
            return self._seat.finish()

    return ManyhandsSeat


@dataclass
class _Row:
    """One rollout while it is made: tokens, and which of them the model wrote."""

    seat: TextSeat
    prompt: Tokens = field(default_factory=list)
    completion: Tokens = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    # What each seat of the table has read and written so far.
    read: dict[int, Tokens] = field(default_factory=dict)


class Rollouts:
    """A `rollout_func` of `GRPOTrainer`: every row is an episode, seen from one seat, in the words
    of the model. All episodes of a batch go on together, so each round is one call of `generate`.

    Rows come from `rows`; rows with the same prompt are members of one group. The output has the
    returns ("game_return", for the reward function `returns`), the refused answers ("illegal") and
    whether the seat forfeited ("forfeited"). Tokens of observations are masked ("env_mask").

    Args:
        game, options: as in `TextTable`.
        partners: who takes the other seats; `"self"`: the model as it is now.
        show_rules: begin each prompt with the rules.
        max_tokens: of a row, prompt included; a longer one forfeits.
        generate: `generate(trainer, prompts)` returns a completion for each prompt (lists of token
            numbers); by default that of transformers, with the trainer's generation settings.
    """

    def __init__(
        self,
        game: str | Env,
        partners: Any = "self",
        *,
        show_rules: bool = True,
        max_tokens: int = 4096,
        generate: Callable[[Any, list[Tokens]], list[Tokens]] | None = None,
        **options: Any,
    ):
        self.show_rules, self.max_tokens = show_rules, whole("max_tokens", max_tokens, 1)
        self._generate = generate or generate_with_transformers
        self._game, self._partners, self._options = game, partners, options
        self._tables: dict[int | str, list[TextTable]] = {}
        self._visits: Counter[str] = Counter()
        self._table(0, 0)  # what does not fit is said before a model is loaded

    def __call__(self, prompts: list[Any], trainer: Any) -> dict[str, Any]:
        tokenizer = getattr(trainer.processing_class, "tokenizer", trainer.processing_class)
        made = [self._begin(k, prompt) for k, prompt in enumerate(prompts)]
        while True:
            waiting = [(row, i) for row in made for i in row.seat.table.waiting]
            asked = [(row, i) for row, i in waiting if self._ask(row, i, tokenizer)]
            if not asked:
                break
            answers = self._generate(trainer, [row.read[i] for row, i in asked])
            for (row, i), answer in zip(asked, answers, strict=True):
                row.read[i] += answer
                if i == row.seat.index:
                    row.completion += answer
                    row.mask += [1] * len(answer)
                row.seat.table.act(i, tokenizer.decode(answer, skip_special_tokens=True))
        totals = [row.seat.finish() for row in made]
        for row in made:
            if not row.completion:  # the game was over before it could move
                row.prompt = opened(tokenizer, self._first(row.seat.table, row.seat.index))
                row.completion, row.mask = [tokenizer.eos_token_id], [0]
        return {
            "prompt_ids": [row.prompt for row in made],
            "completion_ids": [row.completion for row in made],
            "logprobs": None,
            "env_mask": [row.mask for row in made],
            "game_return": totals,
            "illegal": [row.seat.illegal for row in made],
            "forfeited": [float(row.seat.forfeited) for row in made],
        }

    def _table(self, k: int, seat: int | str) -> TextTable:
        """The table of the k-th row; those of earlier batches are used again."""
        pool = self._tables.setdefault(seat, [])
        while len(pool) <= k:
            alone = self._partners != "self"
            pool.append(
                TextTable(
                    self._game,
                    [seat] if alone else None,
                    self._partners if alone else None,
                    **self._options,
                )
            )
        return pool[k]

    def _begin(self, k: int, prompt: Any) -> _Row:
        text = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        try:
            start = json.loads(text)
            seed, seat = start["seed"], start["seat"]
        except (ValueError, TypeError, KeyError):
            raise ConfigError(f"a prompt of `rows` is needed, given {text[:80]!r}") from None
        table = self._table(k, seat)
        member, self._visits[text] = self._visits[text], self._visits[text] + 1
        table.reset(seed, member)
        return _Row(TextSeat(table, seat))

    def _first(self, table: TextTable, i: int) -> str:
        head = f"{table.rules(i)}\n\n" if self.show_rules else ""
        return head + table.look(i)

    def _ask(self, row: _Row, i: int, tokenizer: Any) -> bool:
        """Have a seat read what it sees now; False if it has read too much and forfeits."""
        table, own = row.seat.table, i == row.seat.index
        if table.done:
            return False
        if i not in row.read:
            row.read[i] = opened(tokenizer, self._first(table, i))
            if own:
                row.prompt = list(row.read[i])
        else:
            ended = row.read[i][-1] == tokenizer.eos_token_id
            more = continued(tokenizer, table.look(i), ended)
            row.read[i] += more
            if own:
                row.completion += more
                row.mask += [0] * len(more)
        if len(row.read[i]) > self.max_tokens:
            table.forfeit(i)
        return not table.done


# ---- tokens --------------------------------------------------------------------------------------

_MARK = "(an answer)"


def opened(tokenizer: Any, text: str) -> Tokens:
    """The tokens of a first prompt: in the chat template where there is one, else plain."""
    if not tokenizer.chat_template:
        found: Tokens = tokenizer(text + "\n")["input_ids"]
        return found
    message = [{"role": "user", "content": text}]
    words = tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=False)
    return list(tokenizer(words, add_special_tokens=False)["input_ids"])


def continued(tokenizer: Any, text: str, ended: bool) -> Tokens:
    """The tokens between an answer and the next one: the end of the message, unless the model has
    `ended` it itself, and what it reads then."""
    if tokenizer.chat_template:
        messages = [
            {"role": "user", "content": "."},
            {"role": "assistant", "content": _MARK},
            {"role": "user", "content": text},
        ]
        words = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        words = words.partition(_MARK)[2]
        if ended:
            words = words.removeprefix(tokenizer.eos_token)
    else:
        words = f"\n{text}\n"
    return list(tokenizer(words, add_special_tokens=False)["input_ids"])


def generate_with_transformers(trainer: Any, prompts: list[Tokens]) -> list[Tokens]:
    """A sampled completion for each prompt, up to and including the end-of-sequence token."""
    import torch
    from trl.models import unwrap_model_for_generation

    tokenizer = getattr(trainer.processing_class, "tokenizer", trainer.processing_class)
    pad, end, device = tokenizer.pad_token_id, tokenizer.eos_token_id, trainer.accelerator.device
    width = max(map(len, prompts))
    ids = torch.tensor([[pad] * (width - len(p)) + p for p in prompts], device=device)
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=device)
    with (
        unwrap_model_for_generation(trainer.model_wrapped, trainer.accelerator) as model,
        torch.no_grad(),
    ):
        out = model.generate(
            input_ids=ids, attention_mask=mask, generation_config=trainer.generation_config
        )
    answers = []
    for answer in out[:, width:].tolist():
        cut = answer.index(end) + 1 if end in answer else len(answer)
        answers.append(answer[:cut])
    return answers
