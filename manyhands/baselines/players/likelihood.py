"""Choices by their likelihood: reading the log-probabilities of prompts, and a distribution over
choices from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_PIECES = str.maketrans({"\u2581": " ", "\u0120": " ", "\u010a": "\n"})  # as some tokenizers show


def log_likelihood(completion: Any, prompt: str, choice: str) -> tuple[float, int] | None:
    """The log-likelihood of a choice after a prompt, and its number of tokens.

    Args:
        completion: one of `choices` of a completion of `prompt + choice` with `echo` and
            `logprobs`. Tokens that the endpoint put before (a beginning of text) or generated after
            it do not count; a token that holds the end of the prompt and the beginning of the
            choice does.
        prompt, choice: not empty.

    Returns:
        None if the completion does not hold it.
    """
    found = completion.get("logprobs")
    if not isinstance(found, dict):
        return None
    tokens, values = found.get("tokens"), found.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return None
    if not all(isinstance(token, str) for token in tokens):
        return None
    whole = prompt + choice
    begin, ends = "".join(tokens).find(whole), np.cumsum([len(token) for token in tokens])
    if begin < 0:
        begin = "".join(tokens).translate(_PIECES).find(whole)
    starts: Any = [0, *ends[:-1].tolist()]
    if begin < 0:  # tokens that are parts of characters: where they begin is given
        starts = found.get("text_offset")
        if not isinstance(starts, list) or len(starts) != len(tokens):
            return None
        begin, ends = 0, np.array([*starts[1:], len(whole)])
    first, last = begin + len(prompt), begin + len(whole)
    own = [
        value
        for value, start, end in zip(values, starts, ends.tolist(), strict=True)
        if end > first and start < last
    ]
    if not own or not all(isinstance(value, (int, float)) for value in own):
        return None
    return float(sum(own)), len(own)


def policy_of(
    scores: Sequence[tuple[float, int]], normalise: bool, temperature: float
) -> np.ndarray:
    """The probabilities of choices, f64[K], from their log-likelihoods and numbers of tokens:
    the softmax of the log-likelihoods (of their means per token, if `normalise`), divided by the
    temperature; at 0, the likeliest choice."""
    values = np.array([total / count if normalise else total for total, count in scores])
    values = np.nan_to_num(values, nan=-1e9, posinf=0.0, neginf=-1e9)
    if temperature == 0:
        return np.eye(len(values))[int(values.argmax())]
    weights = np.exp((values - values.max()) / temperature)
    return weights / weights.sum()
