"""The seat `local`: a language model in this process that chooses among the legal actions by their
likelihood, or answers in words.

**Score.** The prompt ends with `ACTION:`, and each legal choice is one way to go on: its words and
what ends a reply. Where the words begin within a token depends on the tokenizer, so prompt and
choice are tokenized as one text; the tokens that all of these texts and the prompt have in common
are the condition, and the rest of each is its answer. The end counts as well, since one choice may
be the beginning of another ("offer 2 wheat", "offer 2 wheat for 1 wood").

**Generate.** The reply is sampled token by token. It stops after its answer line, and with
`constrained` it can only be a choice. It is read as any other answer, and asked for again with the
reason if it is refused.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manyhands.baselines.players import prompts
from manyhands.baselines.players.local.model import Model, Stream, Tokens, Trie, common
from manyhands.core.coach import shown
from manyhands.core.config import boolean, number, one_of, whole
from manyhands.core.env import DETAILS, ConfigError, Env, SeatError
from manyhands.core.probes import Question
from manyhands.core.view import Reply, View

MODES = ("score", "generate")
NORMALISE = ("length", "sum")
_BACKEND = "manyhands.baselines.players.local.torch_model"  # loaded where a model is named
_KEPT = 4096  # distributions that are kept; the least recently used is dropped first
_SENT_BACK = 2_000  # characters of a refused reply that are repeated in the next prompt
_OPENING = "ACTION:"
_LINE = re.compile(r"^\W*ACTION\s*:[^\S\n]*\S[^\n]*\n", re.I | re.M)

_CHOOSE = """\
How to answer: one line that begins with "ACTION:" and names one of the actions that you may take
now, in its words, and nothing else."""
_THINK = """\
How to answer: think as briefly as you can, then end with one line that begins with "ACTION:" and
names your action, and nothing else. Only that line counts."""
_SAY = """
To say something to the others, write a line that begins with "SAY:" above it (at most {limit}
characters)."""


@dataclass
class _Prompt:
    """A prompt as tokens, and how a view's choices go on with it."""

    prefix: list[int]
    tail: list[int]
    answers: list[list[int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.prefix) + len(self.tail)


@dataclass
class _Written:
    """A generated reply: its text, whether it stopped by itself, and its number of tokens."""

    text: str
    stopped: bool
    tokens: int


class Local:
    """A language model of `transformers` as a player, or any `Model`.

    In score mode a reply has the distribution that it was drawn from, `info["policy"]`, one number
    for each of `View.all_choices`. The seat remembers nothing between turns: the distribution
    depends on the view alone (its text, messages and choices), up to rounding, which may differ
    with how many prompts are computed at once.

    Args:
        env: the environment; wrap it in skills to have the model choose skills.
        model: a folder with a model and its tokenizer, or a name on the Hugging Face hub; or a
            `Model`. Weights are read from safetensors only, and no code that comes with a model is
            run.
        mode: `"score"`: the likelihood of each legal choice; `"generate"`: a reply in words.
        normalise: of a choice's log-likelihood in score mode: `"length"`: the mean of its tokens,
            `"sum"`: their sum, which favours short choices.
        temperature: of the softmax over these, or of the tokens in generate mode. 0: always the
            most likely one.
        batch: sequences computed at once, at most.
        dtype: of the weights: `"float32"`, `"bfloat16"`, `"float16"`, or `"auto"`: float32 on a
            CPU, elsewhere as they were saved.
        device: `"cpu"`, `"cuda"`, `"cuda:1"`, ..., or `"auto"`: a GPU if there is one.
        max_tokens: limit of one reply in generate mode.
        constrained: in generate mode, only let it write the words of a legal choice.
        retries: in generate mode, further prompts, with the reason, after a reply that is refused.
            After that the loop's `on_illegal` applies.
        show_choices: list the legal actions in the prompt.
        detail: how much the texts tell: "brief", "normal" or "full"; by default as the environment
            is configured.
        shots: example turns in the prompt, from random play (`prompts.examples`).
        max_choices: the most choices that are scored; the seat fails where there are more.

    Raises:
        ConfigError: an option is out of range.
        SeatError: the extra `local` is not installed, or the model cannot be loaded.
    """

    def __init__(
        self,
        env: Env,
        model: str | os.PathLike[str] | Model = "",
        *,
        mode: str = "score",
        normalise: str = "length",
        temperature: float = 1.0,
        batch: int = 16,
        dtype: str = "auto",
        device: str = "auto",
        max_tokens: int = 256,
        constrained: bool = False,
        retries: int = 2,
        show_choices: bool = True,
        detail: str | None = None,
        shots: int = 0,
        max_choices: int = 512,
    ):
        self.env = env
        self.mode = one_of("mode", mode, MODES)
        self.normalise = one_of("normalise", normalise, NORMALISE)
        self.temperature = number("temperature", temperature, 0.0)
        self.batch = whole("batch", batch, 1)
        self.max_tokens = whole("max_tokens", max_tokens, 1)
        self.constrained = boolean("constrained", constrained)
        self.retries = whole("retries", retries, 0)
        self.show_choices = boolean("show_choices", show_choices)
        self.detail = detail if detail is None else one_of("detail", detail, DETAILS)
        self.shots = whole("shots", shots, 0)
        self.max_choices = whole("max_choices", max_choices, 1)
        if isinstance(model, (str, os.PathLike)):
            name = os.fspath(model)
            if not name:
                raise ConfigError(
                    "no model is named: pass model=, a folder or a name on the Hugging Face hub"
                )
            self.model: Model = _loaded(name, str(dtype), str(device))
        else:
            self.model = model
        self.name = f"local:model={self.model.name}"  # in results and records
        self._heads: dict[int, tuple[list[dict[str, str]], list[int]]] = {}
        self._known: OrderedDict[bytes, tuple[np.ndarray, int]] = OrderedDict()

    def __repr__(self) -> str:
        return f"Local(model={self.model.name!r}, mode={self.mode!r})"

    def act(self, views: Sequence[View]) -> list[Reply]:
        """One reply for each view, computed together."""
        return self._score(views) if self.mode == "score" else self._generate(views)

    def probe(self, views: Sequence[View], questions: Sequence[Question]) -> list[Reply]:
        """The most likely answers to questions outside of the game (`core/probes.py`), by the
        likelihood of the options, in any mode."""
        asked: dict[bytes, _Prompt] = {}
        for k, (view, question) in enumerate(zip(views, questions, strict=True)):
            seen = prompts.situation(view, self.detail)
            content = f"{seen}\n\n{prompts.question(question)}"
            chat = [*self._head(view)[0], {"role": "user", "content": content}]
            text = self.model.render(chat, "ANSWER:")
            asked[b"probe %d" % k] = self._prompt(view, text, question.options)
        self._learn(asked)
        replies = []
        for key, question in zip(asked, questions, strict=True):
            scores, tokens = self._known.pop(key)
            info = {"policy": softmax(scores, 1.0).tolist(), "prompt_tokens": tokens}
            replies.append(Reply(question.options[int(np.argmax(scores))], info=info))
        return replies

    # ---- prompts ------------------------------------------------------------------------------

    def messages(self, view: View) -> list[dict[str, str]]:
        """The prompt of a view as a chat: the rules, examples, and what the agent knows now."""
        parts = [prompts.situation(view, self.detail)]
        if view.advice:
            parts.append(shown(view.advice))
        if self.show_choices:
            parts.append(prompts.options(view))
        head, _ = self._head(view)
        return [*head, {"role": "user", "content": "\n\n".join(parts)}]

    def _head(self, view: View) -> tuple[list[dict[str, str]], list[int]]:
        """The messages that begin every prompt of an agent, and the tokens of their text."""
        if view.index not in self._heads:
            chat = self.env.chat
            how = _CHOOSE if self.mode == "score" or self.constrained else _THINK
            if chat is not None and how is _THINK:
                how += _SAY.format(limit=chat.max_length)
            head = [{"role": "system", "content": prompts.system(self.env, view, how)}]
            head += prompts.examples(
                self.env, view.index, self.shots, self.detail, self.show_choices
            )
            # What two prompts have in common that differ from here on.
            texts = [
                self.model.render([*head, {"role": "user", "content": content}], "")
                for content in ("a", "b")
            ]
            size = next(
                k for k, (one, other) in enumerate(zip(*texts, strict=False)) if one != other
            )
            tokens = self.model.encode([texts[0][:size]])[0]
            self._heads[view.index] = head, tokens
        return self._heads[view.index]

    def _prompt(self, view: View, text: str, choices: Sequence[Any] = ()) -> _Prompt:
        """A prompt, and the choices as ways to go on with it."""
        _, head = self._head(view)
        words = [getattr(choice, "text", choice) for choice in choices]
        ways = [f"{text} {way}{self.model.ending}" for way in words]
        tokens, *joined = self.model.encode([text, *ways])
        # What all of them begin with is known; an empty tail would leave nothing to go on from.
        known = max(1, common([tokens, *joined]))
        shared = min(common([head, tokens]), known - 1)
        answers = [row[known:] for row in joined]
        prompt = _Prompt(tokens[:shared], tokens[shared:known], answers)
        longest = max(map(len, answers), default=self.max_tokens)
        most = self.model.context
        if most is not None and prompt.size + longest > most:
            raise SeatError(
                f"a prompt of {prompt.size} tokens and an answer of {longest} are more than the "
                f"{most} that {self.model.name!r} reads; try detail=brief, show_choices=false, "
                "fewer shots or a smaller max_tokens"
            )
        return prompt

    def _grouped(self, items: Sequence[_Prompt]) -> list[list[int]]:
        """The numbers of prompts with the same prefix."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for k, item in enumerate(items):
            groups.setdefault(tuple(item.prefix), []).append(k)
        return list(groups.values())

    # ---- by likelihood ------------------------------------------------------------------------

    def _score(self, views: Sequence[View]) -> list[Reply]:
        began = time.monotonic()
        asked: dict[bytes, _Prompt] = {}
        keys = []
        for view in views:
            choices = view.all_choices
            if not choices:
                raise SeatError(f"{view.agent} has no choices in words to score in {self.env!r}")
            if len(choices) > self.max_choices:
                raise SeatError(
                    f"{view.agent} has {len(choices)} choices; max_choices={self.max_choices} are "
                    "scored. Give max_choices=, or mode=generate"
                )
            text = self.model.render(self.messages(view), _OPENING)
            texts = "\0".join([text, *(choice.text for choice in choices)])
            key = hashlib.blake2b(texts.encode("utf-8", "replace"), digest_size=16).digest()
            keys.append(key)
            if key not in self._known and key not in asked:
                asked[key] = self._prompt(view, text, choices)
        self._learn(asked)
        # Read before anything is dropped; `asked` may be larger than what is kept.
        found = [self._known[key] for key in keys]
        for key in keys:
            self._known.move_to_end(key)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        seconds = round((time.monotonic() - began) / max(1, len(views)), 6)
        replies = []
        for view, (scores, tokens) in zip(views, found, strict=True):
            policy = softmax(scores, self.temperature)
            drawn = int(view.rng().choice(len(policy), p=policy))
            info = {
                "model": self.model.name,
                "policy": policy.tolist(),
                "prompt_tokens": tokens,
                "completion_tokens": 0,
                "seconds": seconds,
            }
            replies.append(Reply(view.all_choices[drawn].text, info=info))
        return replies

    def _learn(self, asked: dict[bytes, _Prompt]) -> None:
        """Compute and keep the scores of prompts."""
        keys, items = list(asked), list(asked.values())
        for group in self._grouped(items):
            logps = self.model.score(
                items[group[0]].prefix,
                [items[k].tail for k in group],
                [items[k].answers for k in group],
                self.batch,
            )
            for k, rows in zip(group, logps, strict=True):
                mean = self.normalise == "length"
                scores = np.array([row.mean() if mean else row.sum() for row in rows], np.float64)
                if not np.isfinite(scores).all():
                    raise SeatError(
                        f"{self.model.name!r} gives a likelihood that is no number; try "
                        "dtype=float32"
                    )
                self._known[keys[k]] = scores, items[k].size

    # ---- in words -----------------------------------------------------------------------------

    def _generate(self, views: Sequence[View]) -> list[Reply]:
        began = time.monotonic()
        chats = [self.messages(view) for view in views]
        rngs = [view.rng() for view in views]
        logs: list[list[dict[str, Any]]] = [[] for _ in views]
        done: dict[int, prompts.Read] = {}
        opening = _OPENING if self.constrained or not self.model.chats else ""
        for _ in range(self.retries + 1):
            waiting = [k for k in range(len(views)) if k not in done or done[k].error]
            if not waiting:
                break
            items = []
            for k in waiting:
                text = self.model.render(chats[k], opening)
                choices = views[k].all_choices if self.constrained else ()
                items.append(self._prompt(views[k], text, choices))
            written = self._write(items, [rngs[k] for k in waiting], opening)
            for k, item, reply in zip(waiting, items, written, strict=True):
                result = prompts.read(reply.text, views[k], cut_off=not reply.stopped)
                logs[k].append(
                    {
                        "status": result.status,
                        "reason": result.error,
                        "reply": reply.text,
                        "prompt_tokens": item.size,
                        "completion_tokens": reply.tokens,
                    }
                )
                done[k] = result
                if result.error:
                    if result.status in ("unparsable", "illegal"):
                        said = reply.text[-_SENT_BACK:]
                        chats[k].append({"role": "assistant", "content": said})
                        chats[k].append({"role": "user", "content": result.error})
                    else:  # two messages of the user in a row: some templates refuse that
                        last = chats[k][-1]["content"]
                        chats[k][-1] = {"role": "user", "content": f"{last}\n\n{result.error}"}
        seconds = round((time.monotonic() - began) / max(1, len(views)), 6)
        replies = []
        for k, log in enumerate(logs):
            info = {
                "model": self.model.name,
                "prompt_tokens": sum(entry["prompt_tokens"] for entry in log),
                "completion_tokens": sum(entry["completion_tokens"] for entry in log),
                "seconds": seconds,
                "attempts": log,
            }
            say = done[k].say if self.env.chat is not None else None
            replies.append(Reply(done[k].action, say, done[k].error, info))
        return replies

    def _write(
        self, items: Sequence[_Prompt], rngs: Sequence[np.random.Generator], opening: str
    ) -> list[_Written]:
        written: list[_Written | None] = [None] * len(items)
        for group in self._grouped(items):
            for begin in range(0, len(group), self.batch):
                part = group[begin : begin + self.batch]
                stream = self.model.start(items[part[0]].prefix, [items[k].tail for k in part])
                tries = [Trie(items[k].answers) if self.constrained else None for k in part]
                found = self._follow(stream, tries, [rngs[k] for k in part], opening)
                for k, reply in zip(part, found, strict=True):
                    written[k] = reply
        return [reply for reply in written if reply is not None]

    def _follow(
        self,
        stream: Stream,
        tries: Sequence[Trie | None],
        rngs: Sequence[np.random.Generator],
        opening: str,
    ) -> list[_Written]:
        """Sample replies, one token of all of them at a time."""
        rows = list(range(len(rngs)))  # the replies that are still being written
        tokens: list[list[int]] = [[] for _ in rngs]
        nodes, texts, stopped = list(tries), [opening] * len(rngs), [False] * len(rngs)
        while True:
            keep, chosen, left = [], [], []
            for row, k in enumerate(rows):
                node = nodes[k]
                allowed = None if node is None else list(node.next)
                token = sample(stream.logits[row], self.temperature, rngs[k], allowed)
                tokens[k].append(token)
                if node is not None:
                    nodes[k] = node = node.next[token]
                    stopped[k] = not node.next
                else:
                    stopped[k] = token in self.model.ends
                texts[k] = f"{opening}{self.model.decode(tokens[k])}"
                if not stopped[k]:
                    texts[k], stopped[k] = self._cut(texts[k])
                if not stopped[k] and (node is not None or len(tokens[k]) < self.max_tokens):
                    keep.append(row)
                    chosen.append(token)
                    left.append(k)
            rows = left
            if not rows:
                break
            stream.push(keep, chosen)
        return [
            _Written(text.strip(), stop, len(row))
            for text, stop, row in zip(texts, stopped, tokens, strict=True)
        ]

    def _cut(self, text: str) -> tuple[str, bool]:
        """A reply up to the end of its answer line, and whether it is there; a model without a
        form for chats may go on with the turns of the others, which are no part of its reply."""
        ends = [found.end() for found in [_LINE.search(text)] if found]
        if not self.model.chats:
            ends += [at for at in (text.find(turn) for turn in prompts.TURNS) if at >= 0]
        return (text[: min(ends)], True) if ends else (text, False)


def softmax(scores: np.ndarray, temperature: float) -> np.ndarray:
    """f64[K] probabilities of log-likelihoods; at temperature 0 the first of the highest gets 1."""
    scores = np.asarray(scores, np.float64)
    if temperature == 0:
        return (np.arange(len(scores)) == scores.argmax()).astype(np.float64)
    weights = np.exp((scores - scores.max()) / temperature)
    return weights / weights.sum()


def sample(
    logits: np.ndarray,
    temperature: float,
    rng: np.random.Generator,
    allowed: Tokens | None = None,
) -> int:
    """The next token, drawn from its logits, f32[vocabulary], or of those `allowed`."""
    among = np.arange(len(logits)) if allowed is None else np.asarray(allowed)
    # One number is drawn for each token, whatever the temperature and the vocabulary.
    draw = rng.random()
    total = np.cumsum(softmax(np.asarray(logits)[among], temperature))
    found = int(np.searchsorted(total, draw * total[-1], side="right"))
    return int(among[min(found, len(among) - 1)])


def _loaded(model: str, dtype: str, device: str) -> Model:
    try:
        backend = importlib.import_module(_BACKEND)
    except ModuleNotFoundError as error:
        raise SeatError(
            f"the seat 'local' needs the package {error.name!r}: pip install \"manyhands[local]\""
        ) from error
    loaded: Model = backend.load(model, dtype, device)
    return loaded
