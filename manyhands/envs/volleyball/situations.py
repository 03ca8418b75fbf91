"""States as plain names and numbers, on the host: `place` builds one, `to_dict` shows one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from manyhands.core.config import boolean, one_of, whole
from manyhands.core.env import Array, ConfigError, shorten
from manyhands.envs.volleyball.frames import anchors, sides
from manyhands.envs.volleyball.referee import allowed
from manyhands.envs.volleyball.state import (
    DELAYS,
    LONG_AGO,
    NOISES,
    STEP,
    TEAMS,
    Setup,
    VolleyballState,
)

_LATEST = np.iinfo(np.int16).max  # steps of a point, and points, that a state can hold


def place(
    setup: Setup,
    start: Callable[[Array, Array, Array], VolleyballState],
    *,
    positions: Any = None,
    velocities: Any = None,
    quaternions: Any = None,
    rates: Any = None,
    thrust: Any = None,
    ball: Sequence[float] | None = None,
    ball_velocity: Sequence[float] | None = None,
    serving: str = "near",
    turn: str | None = None,
    touched: Sequence[str] = (),
    last: str | None = None,
    served: bool | None = None,
    score: Sequence[int] | None = None,
    clock: int = 0,
    swapped: bool = False,
    rotation: Sequence[int] = (0, 0),
) -> VolleyballState:
    """A situation from plain numbers, in the world's frame, to step from.

    What is not given is as at the start of a point: drones level and still at their anchors,
    rotors hovering, the ball at rest above the server.

    Args:
        start: `start.reset_without_noise` of this setup.
        positions, velocities, quaternions, rates, thrust: as in `physics.Bodies`: for all drones,
            [D, 3] or [D, 4], or `{"near_0": [...]}` for some. Quaternions are made unit length.
        ball, ball_velocity: three numbers each.
        serving: the team that has served, or will.
        turn: whose touch is next: `"near"` or `"far"` in 1v1, a drone (or `"done"`) in the drills
            of two.
        touched: drones that have touched the ball in this possession, a second ago.
        last: the drone that touched the ball last, a second ago.
        served: whether the first touch has been made; by default, if `turn`, `touched` or `last`
            says so.
        score: points of the near and of the far team.
        clock: steps of the point played.
        swapped, rotation: as in `Match`, in a match of several points.

    Raises:
        ConfigError: no such drone, a wrong shape, a number that is not finite, or an argument that
            the task has no use for.
    """
    one_of("serving", serving, TEAMS)
    clock = whole("clock", clock, 0, _LATEST)
    moved = _wholes("rotation", rotation, 2)
    if setup.points == 1 and (boolean("swapped", swapped) or any(moved)):
        raise ConfigError(
            f"swapped= and rotation= are of matches, points=2 or more; given swapped={swapped}, "
            f"rotation={moved} and points=1"
        )
    team = np.int8(TEAMS.index(serving) if setup.versus else 0)
    places = np.asarray([n % setup.team_size for n in moved], np.int8)
    state = jax.device_get(start(team, np.bool_(swapped), places))
    changed = {
        name: _rows(setup, name, value, np.asarray(getattr(state.bodies, name)))
        for name, value in {
            "position": positions,
            "quaternion": quaternions,
            "velocity": velocities,
            "rates": rates,
            "thrust": thrust,
        }.items()
        if value is not None
    }
    if "quaternion" in changed:
        size = np.linalg.norm(changed["quaternion"], axis=1, keepdims=True)
        if (size < 1e-6).any():
            raise ConfigError("quaternions are not zero")
        changed["quaternion"] = changed["quaternion"] / size
    for name, value in (("ball", ball), ("ball_velocity", ball_velocity)):
        if value is not None:
            changed[name] = _finite(name, value, (3,))
    bodies = dataclasses.replace(
        state.bodies, **{name: np.asarray(x, np.float32) for name, x in changed.items()}
    )
    if isinstance(touched, str) or not isinstance(touched, Sequence):
        raise ConfigError(f'touched is a list of drones, ["near_0"]; given {shorten(touched)}')
    if served is None:
        served = turn is not None or bool(touched) or last is not None
    hit = [_index(setup, agent) for agent in touched]
    point: dict[str, Any] = {
        "bodies": bodies,
        "served": np.bool_(boolean("served", served)),
        "clock": np.int16(clock),
        "touched": np.asarray([i in hit for i in range(setup.count)]),
        "hits": np.int16(len(hit)),
    }
    if turn is not None:
        point["turn"] = np.int8(_turn_number(setup, turn))
        if setup.versus:
            point["last"] = np.int8(1 - int(point["turn"]))
    if last is not None:
        point["last"] = np.int8(_index(setup, last))
        hit.append(_index(setup, last))
    ago = [round(1 / STEP) if i in hit else LONG_AGO for i in range(setup.count)]
    point["since"] = np.asarray(ago, np.int16)
    if ball is not None and float(ball[0]) != 0 and setup.task != "back_and_forth":
        side = np.int8((ball[0] > 0) == swapped)
        point["possession"] = side
        if setup.versus and setup.team_size > 1:
            point["turn"] = side
    if setup.sensing:
        copies = setup.sensor_delay + 1
        point["seen"] = jax.tree_util.tree_map(lambda leaf: np.stack([leaf] * copies), bodies)
    if setup.losing:
        seen = jax.tree_util.tree_map(lambda leaf: np.stack([leaf] * setup.count), bodies)
        point["held"] = seen
    if score is not None:
        point["score"] = np.asarray(_wholes("score", score, setup.plan.teams), np.int16)
    if not setup.versus:
        point["drill"] = dataclasses.replace(state.drill, apex=bodies.ball[2])
    placed: VolleyballState = dataclasses.replace(state, time=np.int32(clock), **point)
    return placed


def _index(setup: Setup, agent: str | int) -> int:
    if isinstance(agent, int) and 0 <= agent < setup.count:
        return agent
    if agent in setup.agents:
        return setup.agents.index(str(agent))
    raise ConfigError(f"no agent {agent!r} here; the agents are {', '.join(setup.agents)}")


def _turn_number(setup: Setup, turn: str) -> int:
    if setup.versus and setup.team_size == 1:
        return TEAMS.index(one_of("turn", turn, TEAMS))
    if setup.versus or setup.count == 1:
        raise ConfigError("turn= is for 1v1 and for the drills of two drones")
    if turn == "done" and setup.task != "bump_and_pass":
        return 2
    return _index(setup, turn)


def _rows(setup: Setup, name: str, given: Any, rows: np.ndarray) -> np.ndarray:
    """Rows with those replaced that are given, by agent or all."""
    if not isinstance(given, Mapping):
        return _finite(name, given, rows.shape)
    rows = rows.copy()
    for agent, values in given.items():
        rows[_index(setup, agent)] = _finite(f"{name} of {agent}", values, rows.shape[1:])
    return rows


def _wholes(name: str, given: Any, count: int) -> list[int]:
    """`count` whole numbers from 0, a list or a tuple of them."""
    if not isinstance(given, (Sequence, np.ndarray)) or len(given) != count:
        raise ConfigError(f"{name} is {count} whole numbers, given {shorten(given)}")
    return [whole(name, value, 0, _LATEST) for value in given]


def _finite(name: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        values = np.asarray(given, np.float32)
    except (TypeError, ValueError, OverflowError):
        values = np.zeros(0, np.float32)
    if values.shape != shape or not np.isfinite(values).all():
        raise ConfigError(f"{name} is {shape} finite numbers, given {shorten(given)}")
    return values


# ---- a state in names and numbers ----------------------------------------------------------------


def to_dict(setup: Setup, state: VolleyballState) -> dict[str, Any]:
    """The true state, ready for JSON."""
    agents, faults = setup.agents, np.asarray(state.faults)
    teams = TEAMS if setup.versus else ("drones",)
    found: dict[str, Any] = {
        "task": setup.task,
        "time": int(state.time),
        "steps_left": setup.max_steps - int(state.time),
        "point_steps": int(state.clock),
        "over": bool(state.over),
        "ball": {
            "position": _numbers(state.bodies.ball),
            "velocity": _numbers(state.bodies.ball_velocity),
        },
        "drones": _drones(setup, state),
        "served": bool(state.served),
        "last_touch": agents[int(state.last)] if bool(state.served) else None,
        "hits": int(state.hits),
        "crossings": int(state.crossings),
        "faults": {
            name: [team for t, team in enumerate(teams) if faults[f, t]]
            for f, name in enumerate(setup.faults)
        },
    }
    if setup.versus:
        found |= {
            "server": agents[int(state.server)],
            "possession": TEAMS[int(state.possession)],
            "turn": TEAMS[int(state.turn)],
            "score": dict(zip(TEAMS, map(int, np.asarray(state.score)), strict=True)),
        }
    else:
        turn, drill = int(state.turn), state.drill
        found["turn"] = agents[turn] if turn < setup.count else None
        found["drill"] = {
            "target": _numbers(drill.target),
            "streak": int(drill.streak),
            "apex": float(drill.apex),
            "apexes": float(drill.apexes),
            "done": int(drill.done),
        }
        if setup.task == "set_and_spike_hard":
            found["drill"] |= {"board": _numbers(drill.board), "tilt": _numbers(drill.tilt)}
    if setup.points > 1:
        match = state.match
        found["match"] = {
            "points": setup.points,
            "lead": setup.lead,
            "swapped": bool(match.swapped),
            "rotation": [int(r) for r in np.asarray(match.rotation)],
            "number": int(match.number),
            "seed": int(match.seed),
        }
    if setup.physical:
        found["params"] = _arrays(state.params)
    if setup.action_delay or setup.sensor_delay:
        found["delays"] = dict(zip(DELAYS, map(int, np.asarray(state.delays)), strict=True))
    if setup.action_delay:
        found["pending"] = np.asarray(state.pending).tolist()
    if setup.noisy:
        found["noise"] = dict(zip(NOISES, _numbers(state.noise), strict=True))
    if setup.sensing:
        found["seen"] = _arrays(state.seen)
    if setup.disturbed:
        found["disturbance"] = _arrays(state.disturbance)
    if setup.losing:
        found["held"] = _arrays(state.held)
    return found


def _drones(setup: Setup, state: VolleyballState) -> list[dict[str, Any]]:
    bodies, may_touch = state.bodies, np.asarray(allowed(setup, state))
    anchor = np.asarray(anchors(setup, state.match, ()))
    sign = np.asarray(sides(setup, state.match, ()))
    drones = []
    for i, agent in enumerate(setup.agents):
        drone: dict[str, Any] = {"name": agent}
        if setup.versus:
            drone |= {"team": TEAMS[setup.team[i]], "side": TEAMS[int(sign[i] < 0)]}
        for name in ("position", "quaternion", "velocity", "rates", "thrust"):
            drone[name] = _numbers(getattr(bodies, name)[i])
        drone |= {
            "anchor": _numbers(anchor[i]),
            "may_touch": bool(may_touch[i]),
            "touched": bool(state.touched[i]),
            "steps_since_touch": int(state.since[i]),
        }
        drones.append(drone)
    return drones


def _numbers(values: Any) -> list[float]:
    return [float(x) for x in np.asarray(values)]


def _arrays(struct: Any) -> dict[str, Any]:
    """The fields of a dataclass of arrays as lists, but for those that are None."""
    fields = [(field.name, getattr(struct, field.name)) for field in dataclasses.fields(struct)]
    return {name: np.asarray(value).tolist() for name, value in fields if value is not None}
