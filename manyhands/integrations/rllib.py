"""RLlib's PPO with our masks: its default networks, which read the observation alone and never draw
an illegal action. For RLlib's new API stack.

Tested with ray 2.60.0.
"""

from __future__ import annotations

from typing import Any

from gymnasium.spaces.utils import flatten_space
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.core.columns import Columns


class MaskedPPO(DefaultPPOTorchRLModule):
    """For environments made with `mask="observation"`: `{"observation": ..., "action_mask": ...}`.

    An agent that is not to move has no legal action: its draws are from all, and ignored. Boards
    and grids are read as flat vectors, unless the model's configuration has "conv_filters".
    """

    def __init__(self, *, observation_space: Any, model_config: Any = None, **options: Any):
        self._whole_space = observation_space
        seen = observation_space["observation"]
        self._flat = not (isinstance(model_config, dict) and model_config.get("conv_filters"))
        if self._flat:
            seen = flatten_space(seen)
        super().__init__(observation_space=seen, model_config=model_config, **options)

    def setup(self) -> None:
        super().setup()
        self.observation_space = self._whole_space  # as RLlib compares it with the environment's

    def _forward(self, batch: dict[str, Any], **options: Any) -> dict[str, Any]:
        return _masked(batch, super()._forward(self._seen(batch), **options))

    def _forward_train(self, batch: dict[str, Any], **options: Any) -> dict[str, Any]:
        return _masked(batch, super()._forward_train(self._seen(batch), **options))

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        return super().compute_values(self._seen(batch), embeddings)

    def _seen(self, batch: dict[str, Any]) -> dict[str, Any]:
        """The batch as the networks read it: without masks."""
        found = batch[Columns.OBS]["observation"]
        if self._flat:
            found = found.flatten(-len(self._whole_space["observation"].shape))
        return {**batch, Columns.OBS: found}


def _masked(batch: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    legal = batch[Columns.OBS]["action_mask"].bool()
    legal = legal | ~legal.any(-1, keepdim=True)
    logits = found[Columns.ACTION_DIST_INPUTS]
    return {**found, Columns.ACTION_DIST_INPUTS: logits.masked_fill(~legal, -1e9)}
