"""Batches for Stable-Baselines3: one seat of many environments, or every seat of them, as the
`VecEnv` that its learners want. Masks reach sb3-contrib's MaskablePPO.

Tested with stable-baselines3 2.9.2 and sb3-contrib 2.9.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from manyhands.core.env import ConfigError, Env
from manyhands.wrappers.gymnasium import SeatVectorEnv


class SB3VecEnv(VecEnv):
    """`SeatVectorEnv` for Stable-Baselines3: `num_envs` environments, stepped on the device by one
    compiled call, the other seats taken by device policies.

    Infos hold what SB3 reads ("terminal_observation" and "TimeLimit.truncated"), and at the end of
    an episode its "terms" and "metrics" of the last step.

    Args:
        game, num_envs, options: as in `SeatVectorEnv`.
    """

    def __init__(self, game: str | Env, num_envs: int, **options: Any):
        self.envs = SeatVectorEnv(game, num_envs, **options)
        self._info: dict[str, Any] = {}
        self._actions: Any = None
        super().__init__(
            num_envs, self.envs.single_observation_space, self.envs.single_action_space
        )

    def reset(self) -> np.ndarray:
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        options = {name: value for given in self._options for name, value in given.items()}
        observation, self._info = self.envs.reset(seed=seeds, options=options or None)
        self._reset_seeds()
        self._reset_options()
        return observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> Any:
        # Copies: SB3 makes torch tensors of them, which cannot be read-only.
        observation, reward, terminated, truncated, info = self.envs.step(self._actions)
        self._info = info
        done = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(done):
            last = info["final_info"]
            infos[i] = {
                "terminal_observation": info["final_obs"][i],
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                "terms": {
                    name: float(values[i])
                    for name, values in last["terms"].items()
                    if not name.startswith("_")
                },
                "metrics": {
                    name: float(values[i])
                    for name, values in last["metrics"].items()
                    if not name.startswith("_")
                },
            }
        return observation.copy(), reward.astype(np.float32), done, infos

    def action_masks(self) -> np.ndarray:
        """bool[num_envs, A]: the actions that are legal now."""
        return np.array(self._info["action_mask"], bool)

    def close(self) -> None:
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        if attr_name == "action_masks":
            return [self.action_masks] * len(self._rows(indices))
        return [getattr(self.envs, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise ConfigError(f"{attr_name} cannot be set: the environments of a batch are one")

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        if method_name == "action_masks":
            masks = self.action_masks()
            return [masks[i] for i in self._rows(indices)]
        raise ConfigError(f"the environments of a batch are one; they have no {method_name!r}")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * len(self._rows(indices))

    def _rows(self, indices: int | Sequence[int] | None) -> Sequence[int]:
        if indices is None:
            return range(self.num_envs)
        return [indices] if isinstance(indices, int) else indices
