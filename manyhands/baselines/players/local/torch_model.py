"""Any causal language model of `transformers`, with a cache of what prompts have in common.

The keys and values of a prefix (the rules) are computed once and kept. Tails of several prompts are
read together behind it, padded on the right; then their keys and values are moved so that each ends
where the answer begins, and answers are computed together, whoever's they are. So a token sees
those before it at their true distances, also in layers with a sliding window. Models whose memory
is not keys and values alone (recurrent ones) are computed without a cache.
"""

from __future__ import annotations

import functools
import inspect
import logging
import re
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from manyhands.baselines.players.local.model import Tokens
from manyhands.baselines.players.prompts import Messages, transcript
from manyhands.core.config import one_of
from manyhands.core.env import SeatError

DTYPES = ("auto", "float32", "bfloat16", "float16")
PREFIXES = 16  # whose keys and values are kept; the least recently used is dropped first
_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_MARK = "\u241fhere\u241f"  # finds where a template puts a reply

_Layers = list[
    tuple[Any, Any]
]  # keys and values of each layer: [rows, heads, tokens, size], or None


@functools.lru_cache(maxsize=2)  # one model may take several seats
def load(model: str, dtype: str = "auto", device: str = "auto") -> TransformersModel:
    """The model in a folder, or of this name on the Hugging Face hub.

    Raises:
        ConfigError: an unknown dtype.
        SeatError: there is no such model, its weights are pickled, it needs code of its own, or
            there is no such device.
    """
    one_of("dtype", dtype, DTYPES)
    folder = Path(model)
    local = folder.is_dir()
    if local:
        names = sorted(path.name for path in folder.iterdir())
        pickled = [name for name in names if name.endswith(_PICKLED)]
        if pickled and not any(name.endswith(".safetensors") for name in names):
            raise SeatError(
                f"the weights in {model!r} are pickled ({pickled[0]}), and reading them could run "
                "any code; save them as safetensors (save_pretrained does)"
            )
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    kind: Any = dtype if dtype == "auto" else getattr(torch, dtype)
    if dtype == "auto" and device == "cpu":
        kind = torch.float32
    safe = {"trust_remote_code": False, "local_files_only": local}
    try:
        with _quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(model, **safe)
            net = transformers.AutoModelForCausalLM.from_pretrained(
                model, dtype=kind, use_safetensors=True, **safe
            )
        net = net.to(torch.device(device))
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, AssertionError) as error:
        raise SeatError(
            f"no model can be loaded from {model!r} (device {device!r}): "
            f"{type(error).__name__}: {str(error).strip()[:500]}"
        ) from error
    return TransformersModel(net, tokenizer, folder.name if local else model)


class TransformersModel:
    """A causal language model and its tokenizer, as a `Model`.

    Args:
        net, tokenizer: of `transformers`.
        name: in records.
        cache: False computes every token of every prompt again, which takes longer and changes
            nothing but rounding.

    Attributes:
        cached: whether keys and values are kept.
        computed: tokens computed so far, paddings included.
    """

    def __init__(self, net: Any, tokenizer: Any, name: str, cache: bool = True):
        self.name, self.net, self.tokenizer = name, net.eval(), tokenizer
        config = net.config.get_text_config()
        self.context: int | None = getattr(config, "max_position_embeddings", None)
        self.device = next(net.parameters()).device
        self._takes = set(inspect.signature(net.forward).parameters)
        # The argument that takes keys and values was renamed in transformers 5.24.
        self._keeps = next((n for n in ("cache", "past_key_values") if n in self._takes), "")
        self.cached = cache and bool(self._keeps) and _keeps_keys(net.config)
        self.computed = 0
        self._prefixes: OrderedDict[tuple[int, ...], _Layers] = OrderedDict()
        self.chats = bool(tokenizer.chat_template)
        ends = getattr(net.generation_config, "eos_token_id", None)
        ends = ends if isinstance(ends, (list, tuple)) else [ends]
        self.ends = frozenset(int(e) for e in (*ends, tokenizer.eos_token_id) if e is not None)
        # Tokens that a text may name although they mark messages, longest first.
        added = tokenizer.added_tokens_decoder.values()
        marks = {str(token.content) for token in added if token.special}
        longest = sorted((mark for mark in marks if len(mark) > 1), key=len, reverse=True)
        self._marks = re.compile("|".join(map(re.escape, longest)) or r"(?!)")
        # Where a template knows no system message, it is put before the first one of the user.
        self._system = not self.chats or self._can_have_a_system_message()
        self.ending = self._ending()

    # ---- texts --------------------------------------------------------------------------------

    def render(self, messages: Messages, opening: str) -> str:
        messages = [{**message, "content": self._plain(message["content"])} for message in messages]
        if self.chats:
            if not self._system and messages[0]["role"] == "system":
                first, second, *rest = messages
                content = f"{first['content']}\n\n{second['content']}"
                messages = [{"role": "user", "content": content}, *rest]
            return self._template(messages, True) + opening
        begin = self.tokenizer("")["input_ids"][:1]
        bos = self.tokenizer.bos_token_id
        # Some tokenizers put an end behind a text, which a prompt must not have.
        start = self.tokenizer.bos_token if bos is not None and begin == [bos] else ""
        return start + transcript(messages, opening)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        found: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return found

    def decode(self, tokens: Tokens) -> str:
        # A mark that the model writes is no word of its reply.
        text: str = self.tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text

    def _plain(self, text: str) -> str:
        """A text in which nothing is read as a mark between messages."""
        return self._marks.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)

    def _template(self, messages: Sequence[Any], reply: bool) -> str:
        text: str = self.tokenizer.apply_chat_template(
            list(messages), tokenize=False, add_generation_prompt=reply
        )
        return text

    def _can_have_a_system_message(self) -> bool:
        messages = [{"role": "system", "content": _MARK}, {"role": "user", "content": "?"}]
        try:
            return _MARK in self._template(messages, True)
        except Exception:  # whatever the template raises
            return False

    def _ending(self) -> str:
        """What stands after a reply: in a transcript, the end of its line."""
        if not self.chats:
            return "\n"
        messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": _MARK}]
        return self._template(messages, False).rpartition(_MARK)[2] or "\n"

    # ---- likelihoods --------------------------------------------------------------------------

    @torch.inference_mode()
    def score(
        self,
        prefix: Tokens,
        tails: Sequence[Tokens],
        answers: Sequence[Sequence[Tokens]],
        batch: int,
    ) -> list[list[np.ndarray]]:
        found: list[list[np.ndarray]] = []
        for begin in range(0, len(tails), batch):
            part, theirs = tails[begin : begin + batch], answers[begin : begin + batch]
            if self.cached:
                found += self._score(prefix, part, theirs, batch)
            else:
                for tail, rows in zip(part, theirs, strict=True):
                    found.append(self._score_anew([*prefix, *tail], rows, batch))
        return found

    def _score(
        self,
        prefix: Tokens,
        tails: Sequence[Tokens],
        answers: Sequence[Sequence[Tokens]],
        batch: int,
    ) -> list[list[np.ndarray]]:
        # The last token of a prompt is read with the answers: it gives the first one's likelihood.
        read, lengths = self._read(prefix, [tail[:-1] for tail in tails])
        found: list[list[np.ndarray]] = [[] for _ in tails]
        pairs = [(i, answer) for i, theirs in enumerate(answers) for answer in theirs]
        for begin in range(0, len(pairs), batch):
            rows = pairs[begin : begin + batch]
            owners = [i for i, _ in rows]
            cache, mask = self._placed(read, lengths, owners)
            inputs, _ = self._padded([[tails[i][-1], *answer[:-1]] for i, answer in rows])
            out = self._forward(
                inputs,
                mask=torch.cat([mask, torch.ones_like(inputs)], 1),
                positions=lengths[owners, None] + torch.arange(inputs.shape[1], device=self.device),
                cache=cache,
            )
            likely = _likelihoods(out.logits, self._padded([answer for _, answer in rows])[0])
            for (i, answer), row in zip(rows, likely, strict=True):
                found[i].append(row[: len(answer)])
        return found

    def _score_anew(
        self, prompt: Tokens, answers: Sequence[Tokens], batch: int
    ) -> list[np.ndarray]:
        found: list[np.ndarray] = []
        for begin in range(0, len(answers), batch):
            rows = answers[begin : begin + batch]
            inputs, mask = self._padded([[*prompt, *answer[:-1]] for answer in rows])
            out = self._forward(inputs, mask=mask, last=inputs.shape[1] - len(prompt) + 1)
            likely = _likelihoods(out.logits, self._padded(rows)[0])
            found += [row[: len(answer)] for answer, row in zip(rows, likely, strict=True)]
        return found

    # ---- replies ------------------------------------------------------------------------------

    @torch.inference_mode()
    def start(self, prefix: Tokens, tails: Sequence[Tokens]) -> TorchStream:
        if not self.cached:
            return TorchStream(self, [[*prefix, *tail] for tail in tails])
        read, lengths = self._read(prefix, [tail[:-1] for tail in tails])
        cache, mask = self._placed(read, lengths, range(len(tails)))
        return TorchStream(self, [[tail[-1]] for tail in tails], cache, mask, lengths)

    # ---- computing ----------------------------------------------------------------------------

    def _padded(self, rows: Sequence[Tokens]) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows of tokens, padded on the right, and 1 where there is one: i64[rows, longest]."""
        width = max(map(len, rows))
        tokens = np.zeros((len(rows), width), np.int64)
        there = np.zeros((len(rows), width), np.int64)
        for k, row in enumerate(rows):
            tokens[k, : len(row)], there[k, : len(row)] = row, 1
        return torch.from_numpy(tokens).to(self.device), torch.from_numpy(there).to(self.device)

    def _forward(
        self,
        inputs: torch.Tensor,
        *,
        mask: torch.Tensor | None = None,
        positions: torch.Tensor | None = None,
        cache: DynamicCache | None = None,
        last: int = 0,
    ) -> Any:
        """The model's output; logits of the `last` tokens, 0: of all."""
        self.computed += inputs.numel()
        given = {
            "attention_mask": mask,
            "position_ids": positions,
            "logits_to_keep": last or None,
        }
        known = {name: value for name, value in given.items() if value is not None}
        takes = {name: value for name, value in known.items() if name in self._takes}
        if cache is not None:
            takes[self._keeps] = cache
        out = self.net(input_ids=inputs, use_cache=cache is not None, **takes)
        if last and "logits_to_keep" not in self._takes:
            out.logits = out.logits[:, -last:]
        return out

    def _prefix(self, prefix: tuple[int, ...]) -> _Layers:
        """The keys and values of a prefix, one row."""
        if prefix not in self._prefixes:
            cache = DynamicCache()
            inputs, mask = self._padded([prefix])
            self._forward(inputs, mask=mask, cache=cache, last=1)
            self._prefixes[prefix] = [(layer.keys, layer.values) for layer in cache.layers]
            if len(self._prefixes) > PREFIXES:
                self._prefixes.popitem(last=False)
        self._prefixes.move_to_end(prefix)
        return self._prefixes[prefix]

    def _read(self, prefix: Tokens, tails: Sequence[Tokens]) -> tuple[_Layers, torch.Tensor]:
        """The keys and values of prompts, padded on the right, and the lengths of the prompts,
        i64[rows]."""
        count, size = len(tails), len(prefix)
        lengths = torch.tensor([size + len(tail) for tail in tails], device=self.device)
        layers: _Layers = []
        if prefix:
            layers = [
                (None, None) if keys is None else (_rows(keys, count), _rows(values, count))
                for keys, values in self._prefix(tuple(prefix))
            ]
        if any(map(len, tails)):
            cache = DynamicCache(layers) if layers else DynamicCache()
            inputs, there = self._padded(tails)
            before = torch.ones((count, size), dtype=torch.int64, device=self.device)
            places = size + torch.arange(inputs.shape[1], device=self.device).expand(count, -1)
            mask = torch.cat([before, there], 1)
            self._forward(inputs, mask=mask, positions=places, cache=cache, last=1)
            layers = [(layer.keys, layer.values) for layer in cache.layers]
        return layers, lengths

    def _placed(
        self, layers: _Layers, lengths: torch.Tensor, owners: Sequence[int]
    ) -> tuple[DynamicCache, torch.Tensor]:
        """A cache with a row for each of `owners`, the numbers of prompts, that ends where its
        prompt does; and 1 where there is a token, i64[rows, longest]."""
        owner = torch.tensor(list(owners), device=self.device)
        longest = int(lengths[owner].max())
        if not longest:
            return DynamicCache(), torch.zeros((len(owner), 0), dtype=torch.int64).to(self.device)
        places = torch.arange(longest, device=self.device) - (longest - lengths[owner])[:, None]
        index, rows = places.clamp(min=0), owner[:, None]
        moved = [
            (None, None)
            if keys is None
            # [rows, tokens, heads, size]: indices around a slice come first.
            else (keys[rows, :, index].transpose(1, 2), values[rows, :, index].transpose(1, 2))
            for keys, values in layers
        ]
        return DynamicCache(moved), (places >= 0).long()


class TorchStream:
    """Replies while they are written; see `Stream`.

    Args:
        rows: the tokens to begin with: the last of each prompt behind a cache, else all of them.
        cache, mask, lengths: of the prompts before that, where there is a cache.
    """

    def __init__(
        self,
        model: TransformersModel,
        rows: Sequence[Tokens],
        cache: DynamicCache | None = None,
        mask: torch.Tensor | None = None,
        lengths: torch.Tensor | None = None,
    ):
        self._model, self._cache, self._mask, self._lengths = model, cache, mask, lengths
        self._rows = [list(row) for row in rows]
        self.logits = self._next()

    @torch.inference_mode()
    def push(self, keep: Sequence[int], tokens: Sequence[int]) -> None:
        if self._cache is None:
            pairs = zip(keep, tokens, strict=True)
            self._rows = [[*self._rows[row], int(token)] for row, token in pairs]
        else:
            self._rows = [[int(token)] for token in tokens]
            if len(keep) < len(self._mask):  # type: ignore[arg-type]
                index = torch.tensor(list(keep), device=self._model.device)
                self._cache.batch_select_indices(index)
                self._mask, self._lengths = self._mask[index], self._lengths[index]  # type: ignore[index]
        self.logits = self._next()

    def _next(self) -> np.ndarray:
        model = self._model
        if self._cache is None:
            # One at a time: a padding would be remembered by a recurrent model.
            each = [model._forward(*model._padded([row])[:1], last=1).logits for row in self._rows]
            return torch.cat(each)[:, -1].float().cpu().numpy()
        inputs, there = model._padded(self._rows)
        self._mask = torch.cat([self._mask, there], 1)  # type: ignore[list-item]
        out = model._forward(
            inputs,
            mask=self._mask,
            positions=self._lengths[:, None],  # type: ignore[index]
            cache=self._cache,
            last=1,
        )
        self._lengths = self._lengths + 1  # type: ignore[operator]
        found: np.ndarray = out.logits[:, -1].float().cpu().numpy()
        return found


def _rows(row: torch.Tensor, count: int) -> torch.Tensor:
    return row.expand(count, *row.shape[1:])


def _likelihoods(logits: torch.Tensor, tokens: torch.Tensor) -> np.ndarray:
    """f64[rows, tokens]: the log-probability of each token under the logits in its place,
    [rows, tokens, vocabulary]."""
    logits = logits.float()
    chosen = logits.gather(2, tokens[:, :, None])[:, :, 0]
    found: np.ndarray = (chosen - logits.logsumexp(2)).double().cpu().numpy()
    return found


def _keeps_keys(config: Any) -> bool:
    """Whether what a model remembers is keys and values of its tokens, and nothing else."""
    try:
        layers = DynamicCache(config=config).layers
    except (AttributeError, KeyError, TypeError, ValueError):
        return False
    return all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)


class _quiet:
    """Without progress bars and advice while a model is loaded."""

    def __enter__(self) -> None:
        logger = logging.getLogger("transformers")
        self._level, self._bars = logger.level, transformers.utils.logging.is_progress_bar_enabled()
        logger.setLevel(logging.ERROR)
        transformers.utils.logging.disable_progress_bar()

    def __exit__(self, *_: object) -> None:
        logging.getLogger("transformers").setLevel(self._level)
        if self._bars:
            transformers.utils.logging.enable_progress_bar()
