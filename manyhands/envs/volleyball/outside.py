"""Forces on drones that MuJoCo's step knows nothing of: air, the wind of others, the ground."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from manyhands.envs.volleyball.vectors import add, dot, scale, sub


class Outside(NamedTuple):
    """What acts on drones besides MuJoCo's step: `Params.drag`, `downwash`, `wind`, `ground`."""

    drag: Any = None
    downwash: Any = None
    wind: Any = None
    ground: Any = None


def outside_forces(outside: Outside, x: Any, v: Any, axis: Any, lift: Any, of: Any = jnp) -> Any:
    """The forces on the drones that MuJoCo's step knows nothing of, N in the world.

    **Drag** is -drag (v - wind).

    **Downwash.** The wind of a drone blows against its thrust. Another one, z below it along its
    axis and r to the side, feels of it thrust * exp(-(spread r / z)² / 2) / (1 + fading z)².

    **Ground effect.** A rotor of radius R at the height z over the floor gives 1 / (1 - (R / 4z)²)
    of its thrust (Cheeseman and Bennett, "The effect of the ground on a helicopter rotor in forward
    flight", ARC R&M 3021, 1955; of a hovering rotor, for z > R / 2). Nearer, it stays at that
    height's 4/3; at z = 2R it is 1.6%. The height is that of the drone's centre, and all four
    rotors gain alike.

    Args:
        outside: with axes for the batch.
        x, v, axis: places, velocities and z axes of the drones, each a tuple of f[D, ...].
        lift: f[D, ...], N, the thrust of each drone.
        of: whose arrays these are, `jax.numpy` or `numpy` (`engine.py`).
    """
    drag, downwash, wind, ground = outside
    force = tuple(of.zeros_like(c) for c in v)
    if drag is not None:
        through = v if wind is None else sub(v, wind)
        force = tuple(-drag * c for c in through)
    if downwash is not None:
        spread, fading = downwash[0], downwash[1]
        between = tuple(c[None, :] - c[:, None] for c in x)  # [lower, upper]
        z = dot(between, tuple(c[None, :] for c in axis))
        below = z > 0
        z = of.where(below, z, 1)
        sideways = of.maximum(dot(between, between) - z * z, 0)
        share = of.exp(-0.5 * spread**2 * sideways / (z * z)) / (1 + fading * z) ** 2
        felt = of.where(below, share, 0) * lift[None, :]
        force = tuple(f - of.sum(felt * c[None, :], 1) for f, c in zip(force, axis, strict=True))
    if ground is not None:
        # R / 4z, which is 1/2 at most; a radius of 0 has no effect.
        near = ground / of.maximum(of.maximum(4 * x[2], 2 * ground), 1e-6)
        gained = lift * (1 / (1 - near * near) - 1)
        force = add(force, scale(gained, axis))
    return force
