"""What networks know: linear probes on what they see or compute (Alain & Bengio 2017).

A network has no words. Its knowledge is read from its numbers: a linear map from them to the answer
of a question, fitted on some episodes, is asked in others, as any seat is (`core/probes.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.learners.networks import Network, actions_of, inputs
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.core.config import number
from manyhands.core.env import ConfigError, Env
from manyhands.core.play import play
from manyhands.core.probes import Probes, Question
from manyhands.core.view import View

Features = Callable[[View], np.ndarray]


def hidden(policy: NetworkPolicy, env: Env) -> Features:
    """What the last hidden layer of a network gives for a view, f32[width].

    Raises:
        ConfigError: it is recurrent, has no hidden layer, or holds several snapshots: its
            activations are then no function of one view.
    """
    network = policy.network
    if network.recurrent or policy.snapshots or not network.layers:
        raise ConfigError(
            f"hidden needs a feed-forward network with hidden layers, given {network}"
        )
    module = Network(network, actions_of(env.action_space).size)

    @jax.jit
    def activations(row: Any) -> Any:
        x = (inputs(env, policy.reads, row, 0) - policy.params["mean"]) * policy.params["scale"]
        _, found = module.apply(
            policy.params["network"],
            jnp.zeros(0),
            x,
            jnp.bool_(False),
            capture_intermediates=True,
            mutable=["intermediates"],
        )
        last = f"{'LayerNorm' if network.layer_norm else 'Dense'}_{network.layers - 1}"
        return found["intermediates"][last]["__call__"][0].reshape(-1)

    def features(view: View) -> np.ndarray:
        row = view.perception if policy.reads == "perception" else view.vector
        return np.asarray(activations(row))

    return features


class LinearProbe:
    """Answers questions by a ridge regression on features of a view, one for each text of a
    question; `probe` makes it a member of `Probes(ask=)`.

    Args:
        features: of a view, f[K]; by default the agent's perception as numbers.
        learns: `"believed"`, the answers of the agent's knowledge, or `"true"`.
        ridge: weight of the squared coefficients.
    """

    def __init__(
        self, features: Features | None = None, learns: str = "believed", ridge: float = 1.0
    ):
        if learns not in ("believed", "true"):
            raise ConfigError(f"learns is 'believed' or 'true', given {learns!r}")
        self.features = features if features is not None else _perception
        self.learns, self.ridge = learns, number("ridge", ridge, 0)
        self._rows: dict[str, list[np.ndarray]] = defaultdict(list)
        self._answers: dict[str, list[str]] = defaultdict(list)
        self._fitted: dict[str, tuple[list[str], np.ndarray, np.ndarray]] = {}

    def fit(self, env: Env | str, seats: Any, episodes: int, seed: int = 0, **probes: Any) -> int:
        """Play episodes, note features and answers, and fit; the number of answers it learnt from.

        Args:
            env, seats, episodes, seed: as in `play`.
            probes: options of `Probes`.
        """

        def note(view: View, question: Question) -> str:
            self._rows[question.text].append(self._row(view))
            answer: str = getattr(question, self.learns)
            self._answers[question.text].append(answer)
            return answer

        play(env, seats, episodes, seed, probes=Probes(note, **probes), progress=False)
        for text, rows in self._rows.items():
            answers = self._answers[text]
            names = sorted(set(answers))
            x = np.stack(rows).astype(np.float64)
            mean = x.mean(0)
            y = np.array([[answer == name for name in names] for answer in answers], np.float64)
            centred = np.concatenate([x - mean, np.ones((len(x), 1))], axis=1)
            weights = np.full(centred.shape[1], max(self.ridge, 1e-6))
            weights[-1] = 1e-6
            gram = centred.T @ centred + np.diag(weights)
            self._fitted[text] = names, mean, np.linalg.solve(gram, centred.T @ y)
        return sum(map(len, self._answers.values()))

    def probe(self, views: Sequence[View], questions: Sequence[Question]) -> list[str | None]:
        """The likeliest answers; None to questions that it never saw."""
        found: list[str | None] = []
        for view, question in zip(views, questions, strict=True):
            if question.text not in self._fitted:
                found.append(None)
                continue
            names, mean, weights = self._fitted[question.text]
            scores = np.append(self._row(view) - mean, 1.0) @ weights
            found.append(names[int(np.argmax(scores))])
        return found

    def _row(self, view: View) -> np.ndarray:
        return np.asarray(self.features(view), np.float64).reshape(-1)


def _perception(view: View) -> np.ndarray:
    return np.asarray(view.perception)
