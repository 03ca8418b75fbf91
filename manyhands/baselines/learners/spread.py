"""A training run over several devices, of one process or of several.

Every process makes the same call, after `jax.distributed.initialize()`, and holds its part of the
run's arrays. Seeds are divided over the devices if their number can be; otherwise the environments
are, and everything else is on each device. Sums over environments are then added up in another
order than on one device, so that results differ in the last digits.

The first process writes the run's folder. The others work in scratch folders of their own, and need
none that is shared.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from manyhands.core.env import ConfigError

_AXIS = "devices"


class Spread:
    """How the arrays of a run are divided over devices.

    Args:
        devices: of all processes, in the same order in each; None for JAX's default device alone.
        seeds: how many seeds train.

    Raises:
        ConfigError: no devices, or none of this process.
    """

    def __init__(self, devices: Sequence[Any] | None, seeds: int):
        self._mesh: Mesh | None = None
        self._by_seed = False
        self.processes = 1
        if devices is None:
            return
        owners = {device.process_index for device in devices}
        if jax.process_index() not in owners:
            raise ConfigError(
                f"devices= holds none of this process (number {jax.process_index()}); name some of "
                "each process that trains, jax.devices() for all"
            )
        self._mesh = Mesh(np.asarray(devices), (_AXIS,))
        self._by_seed = seeds % len(devices) == 0
        self.processes = len(owners)
        if self.processes != 1 and self.processes != jax.process_count():
            raise ConfigError(
                f"devices= are of {self.processes} processes of {jax.process_count()}; all train "
                "together, or each one alone with jax.local_devices()"
            )

    @property
    def first(self) -> bool:
        """Whether this process writes the run's folder."""
        return self.processes == 1 or jax.process_index() == 0

    @contextlib.contextmanager
    def folder(self, out: Path) -> Iterator[Path]:
        """`out` in the first process, a scratch folder in the others."""
        if self.first:
            yield out
            return
        with tempfile.TemporaryDirectory(prefix="manyhands-") as scratch:
            yield Path(scratch)

    def everywhere(self) -> Any:
        """The sharding of what every device has; None for JAX's default device."""
        return None if self._mesh is None else NamedSharding(self._mesh, PartitionSpec())

    def shardings(self, make: Callable[[], Any]) -> Any:
        """The shardings of the state that `make` makes (`training.train`); None by default."""
        if self._mesh is None:
            return None
        return jax.tree_util.tree_map_with_path(self._sharding, jax.eval_shape(make))

    def _sharding(self, path: Any, leaf: Any) -> NamedSharding:
        assert self._mesh is not None
        name, count = jax.tree_util.keystr(path), self._mesh.size
        spec = PartitionSpec()
        if self._by_seed and name.startswith("['progress']"):
            spec = PartitionSpec(_AXIS)
        elif ".playing" in name and leaf.ndim > 1 and leaf.shape[-1] % count == 0:
            # Environments: the last axis of what is being played, after that of seeds.
            spec = PartitionSpec(*[None] * (leaf.ndim - 1), _AXIS)
        return NamedSharding(self._mesh, spec)

    def put(
        self,
        make: Callable[[], Any],
        tensors: Mapping[str, np.ndarray],
        where: Path,
        restore: Callable[..., Any],
    ) -> Any:
        """The state that `restore` makes of arrays that every process has, divided over devices."""
        shardings = self.shardings(make)
        if shardings is None:
            return restore(make, tensors, where)
        # Compiled, since arrays of one process cannot be moved to devices of others.
        whole = jax.jit(lambda arrays: restore(make, arrays, where), out_shardings=shardings)
        return whole(dict(tensors))

    def whole(self, state: Any) -> Any:
        """A state with all its arrays in every process. All processes call it."""
        if self.processes == 1:
            return state
        return jax.jit(lambda tree: tree, out_shardings=self.everywhere())(state)

    def any(self, flag: bool) -> bool:
        """Whether the flag of any process is set. All processes call it."""
        if self.processes == 1:
            return flag
        from jax.experimental import multihost_utils

        return bool(np.any(multihost_utils.process_allgather(np.asarray(flag))))

    def from_first(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """The first process's arrays. All processes call it, with arrays of the same shapes."""
        if self.processes == 1:
            return dict(arrays)
        from jax.experimental import multihost_utils

        told: dict[str, Any] = multihost_utils.broadcast_one_to_all(dict(arrays))
        return told
