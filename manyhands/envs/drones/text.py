"""Drones in words: rule book, description, choices, and the true state.

`describe` says what the observation says, with places in the arena instead of differences. How
answers are read is in `reading.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.choices import Choice
from manyhands.core.env import names_of
from manyhands.core.reading.answers import how_to_answer
from manyhands.envs.drones import moves, reading
from manyhands.envs.drones.commands import commands, effect_of, rounded, spoken_four
from manyhands.envs.drones.observe import as_read, goal_of, slot_error
from manyhands.envs.drones.rules import bounds
from manyhands.envs.drones.state import IN_SHAPE, REACHED, SPACING, STEP, DronesState
from manyhands.envs.volleyball.hazards import hazards
from manyhands.envs.volleyball.physics import matrix

if TYPE_CHECKING:
    from manyhands.envs.drones.env import Drones

parse = reading.parse


def _row(values: Any) -> str:
    """ "(1.00, -2.50, 0.00)"."""
    return "(" + ", ".join(f"{value + 0.0:.2f}" for value in rounded(values)) + ")"


def _all(names: list[str]) -> str:
    """`a, b and c`."""
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last


# ---- description ---------------------------------------------------------------------------------


def describe(drones: Drones, state: DronesState, agent: int) -> str:
    """What the drone knows, as text."""
    state = as_read(drones, state, agent)
    brief, full = drones.detail == "brief", drones.detail == "full"
    bodies, n = state.bodies, drones.team
    place, velocity = np.asarray(bodies.position), np.asarray(bodies.velocity)
    left = (drones.max_steps - int(state.time)) * drones.repeat * STEP
    lines = [f"{left:.2f} s are left.", _yourself(drones, state, agent)]
    if drones.actions == "moves" and int(state.recent[agent]):
        played = moves.move_names(drones)[int(state.recent[agent]) - 1]
        lines.append(f"Your last move: {played}.")
    for i, name in enumerate(drones.agents[:n]):
        if i != agent:
            lines.append(
                f"{name} is at {_row(place[i])}"
                + ("" if brief else f", moving {_row(velocity[i])}")
                + (f", {math.dist(place[i], place[agent]):.2f} m from you." if full else ".")
            )
    posts = [_row(post) for post in np.asarray(state.cylinders)]
    if posts:
        lines.append(f"Cylinders stand at {', '.join(posts)}.")
    lines += _evader(drones, state, agent) if drones.pursuit else _shape(drones, state, agent)
    said = [_event(drones, state, event, agent) for event in drones.last_events(state, agent)]
    if said:
        lines.append(f"Last step: {'; '.join(said)}.")
    if bool(state.over):
        lines.append("The episode is over.")
    elif int(state.time) >= drones.max_steps:
        lines.append("The time is up." + " The evader got away." * drones.pursuit)
    return "\n".join(lines)


def _yourself(drones: Drones, state: DronesState, agent: int) -> str:
    bodies = state.bodies
    turned = np.asarray(matrix(np.asarray(bodies.quaternion)[agent : agent + 1]))[0]
    heading = math.degrees(math.atan2(turned[1, 0], turned[0, 0]))
    line = (
        f"You are {drones.agents[agent]}, at {_row(bodies.position[agent])}, moving "
        f"{_row(bodies.velocity[agent])}, nose at {round(heading, 1) + 0.0:.1f} degrees"
    )
    if drones.actions in ("rotors", "ctbr"):
        line += (
            f"; your axis is {_row(turned[:, 2])}, your rates {_row(bodies.rates[agent])}, your "
            f"rotors give {_row(bodies.thrust[agent])}"
        )
    return f"{line}."


def _evader(drones: Drones, state: DronesState, agent: int) -> list[str]:
    known = np.asarray(state.known)
    brief = drones.detail == "brief"
    if agent == drones.team:
        seen = "They see you." if np.asarray(state.seen).any() else _out_of_sight(state, "They see")
        return [seen]
    how = "" if brief else f", moving {_row(known[3:])}"
    if np.asarray(state.seen).any():
        lines = [f"The evader is in sight, at {_row(known[:3])}{how}."]
    else:
        lines = [_out_of_sight(state, "You all see" if drones.team > 1 else "You see")]
        lines.append(f"It was seen last at {_row(known[:3])}{how}.")
    if drones.detail == "full":
        gap = math.dist(known[:3], np.asarray(state.bodies.position)[agent])
        lines.append(f"That is {gap:.2f} m from you; {drones.capture:g} m are near enough.")
    return lines


def _out_of_sight(state: DronesState, who: str) -> str:
    seconds = int(state.unseen) * STEP
    evader = "you" if who.startswith("They") else "the evader"
    return f"{who} nothing of {evader}, for {seconds:.2f} s now."


def _shape(drones: Drones, state: DronesState, agent: int) -> list[str]:
    goal, places = np.asarray(goal_of(state)), np.asarray(state.bodies.position)
    left = drones.goals - int(state.reached)
    slots = [f"slot {k + 1} {_row(goal + slot)}" for k, slot in enumerate(drones.slots)]
    error = float(slot_error(drones, places))
    lines = [f"The error of the shape is {error:.2f} m."]
    if left:
        lines = [
            f"{left} of {drones.goals} goals {'is' if left == 1 else 'are'} left; the shape's "
            f"middle is to be at {_row(goal)}.",
            f"Its places there: {', '.join(slots)}; yours is slot {agent + 1}.",
            *lines,
        ]
    if drones.detail != "brief":
        middle = places.mean(0)
        lines.append(
            f"The drones' middle is at {_row(middle)}, {math.dist(middle, goal):.2f} m from the "
            "goal."
        )
    return lines


def _event(drones: Drones, state: DronesState, event: dict[str, Any], agent: int) -> str:
    kind = event["event"]
    if "agent" in event:
        you = event["agent"] == drones.agents[agent]
        who = "you" if you else event["agent"]
        if kind == "collision":
            return f"{who} touched something{_nearest(drones, state, agent) if you else ''}"
        return f"{who} caught the evader"
    told = {
        "sighted": "the evader came into sight",
        "lost": "the evader went out of sight",
        "crash": "the collision ended the episode",
    }
    return told.get(kind) or f"you all reached goal {event['goal']}"


def _nearest(drones: Drones, state: DronesState, agent: int) -> str:
    """What is nearest to a drone now, of what it may have touched."""
    places = np.asarray(state.bodies.position)
    here, body, (x, y), z = places[agent], drones.body, drones.plan.half, drones.plan.height
    gaps = {"a wall": min(x - abs(here[0]), y - abs(here[1])) - body}
    gaps |= {"the floor": here[2] - body, "the ceiling": z - here[2] - body}
    for post in np.asarray(state.cylinders):
        gap = math.dist(post, here[:2]) - drones.plan.radius - body
        gaps["a cylinder"] = min(gap, gaps.get("a cylinder", gap))
    for i, name in enumerate(drones.agents[: drones.team]):
        if i != agent:
            gaps[name] = math.dist(places[i], here) - 2 * body
    name = min(gaps, key=lambda name: gaps[name])
    return f" (nearest now: {name}, {max(float(gaps[name]), 0):.2f} m)"


# ---- choices -------------------------------------------------------------------------------------


def choices(drones: Drones, state: DronesState, agent: int) -> list[Choice]:
    """The named actions of the drone, in action order; none where it does not act."""
    if bool(state.over) or int(state.time) >= drones.max_steps:
        return []
    return [
        Choice(name, effect, action, certain=False)
        for name, (action, effect) in commands(drones, state, agent).items()
    ]


def spoken(drones: Drones, action: Any) -> str | None:
    """A set-point in metres and degrees; None of other actions."""
    return spoken_four(drones, action) if drones.actions == "position" else None


# ---- rules ---------------------------------------------------------------------------------------


def rules(drones: Drones, agent: int) -> str:
    """The rule book of one drone."""
    me, plan = drones.agents[agent], drones.plan
    team = [name for i, name in enumerate(drones.agents[: drones.team]) if i != agent]
    (x, y), z = plan.half, plan.height
    seconds = drones.repeat * STEP
    if agent == drones.team:
        company = f"{_all(team)} pursue{'s' * (len(team) == 1)} you."
    else:
        company = f"With you fly {_all(team)}." if team else "You are alone."
    lines = [
        plan.title.upper(),
        f"You are {me}. {company}",
        "",
        "AIM",
        *(_hunt(drones, agent) if drones.pursuit else _fly(drones)),
        "",
        "ARENA",
        f"x is east, y is north, z is up; places are in m, velocities in m/s. The arena reaches "
        f"from -{x:g} to {x:g} east, from -{y:g} to {y:g} north and {z:g} up. "
        + (
            f"{drones.cylinders} cylinders of radius {plan.radius:g} stand in it from floor to "
            "ceiling. "
            if drones.cylinders
            else ""
        )
        + f"A drone has a radius of {drones.body:g} where it touches things; cylinders and walls "
        "stop it.",
        f"Whoever touches a cylinder, a wall, the floor or another drone gets "
        f"{drones.reward_weights['collision']:g} for each second of steps with a touch"
        + (
            f"; the episode ends then, too, at {drones.reward_weights['crash']:g} for all"
            + (" of that side." if drones.versus else ".")
            if drones.collisions == "end"
            else "."
        ),
        *hazards(drones.ranges, "", _read_of(drones, agent)),
        "",
        "WHAT YOU CAN DO",
        f"A step lasts {seconds:g} s, an episode {drones.max_steps} steps at most. All drones act "
        "at once." + f" Your full speed is {drones.speeds[agent]:.2g} m/s." * _limited(drones),
        *_actions(drones, agent),
        "",
        "HOW TO ANSWER",
        f"Name one action. {how_to_answer(_example(drones, agent))}",
    ]
    return "\n".join(lines)


def _read_of(drones: Drones, agent: int) -> str:
    """What an agent reads beside itself."""
    if not drones.pursuit:
        return "the others"
    if agent == drones.team:
        return "the pursuers, and whether they see you,"
    return "the others, the evader among them,"


def _limited(drones: Drones) -> bool:
    """Whether the speed of agents is limited: who turns rotors flies as fast as they can."""
    return drones.actions not in ("rotors", "ctbr")


def _fastest(drones: Drones) -> str:
    """How fast who is limited flies, in pursuit."""
    if drones.versus and not _limited(drones):
        return ""
    others = f", pursuers at {drones.speed:g}" * _limited(drones)
    return f" It flies at {drones.speeds[-1]:.2g} m/s at most{others}."


def _fly(drones: Drones) -> list[str]:
    weights = drones.reward_weights
    slots = ", ".join(f"slot {k + 1} {_row(slot)}" for k, slot in enumerate(drones.slots))
    return [
        f"Be at {drones.goals} goals one after the other, in the shape: a {drones.shape} with "
        f"{SPACING:g} m between neighbours. Its places about its middle: {slots}. Who is in which "
        "does not matter.",
        f"A goal is reached when the drones' middle is within {REACHED:g} m of it and the error of "
        f"the shape is below {IN_SHAPE:g} m. The error is the greatest distance of a drone from "
        "the nearest place, or of a place from the nearest drone, with the places about the "
        "drones' middle.",
        f"All get {weights['reached']:g} for each goal reached, {weights['progress']:g} for each m "
        "that their middle comes nearer to it, as much less for each m that it moves away, and "
        f"{weights['shape']:g} for each m of error and second. The episode ends with the last "
        "goal.",
    ]


def _hunt(drones: Drones, agent: int) -> list[str]:
    weights = drones.reward_weights
    evader = agent == drones.team
    lines = [
        f"The evader is caught when a pursuer is within {drones.capture:g} m of it; the episode "
        f"ends then.{_fastest(drones)}",
        f"A pursuer sees it within {drones.sight:g} m where no cylinder is between"
        + (", and tells the others" if drones.team > 1 else "")
        + ". Where it starts is known.",
    ]
    if not drones.versus:
        lines.append("It sees everything, and flees from pursuers, walls and cylinders.")
    capture, approach = weights["capture"], weights["approach"]
    if evader:
        lines.append(
            f"A capture costs you {capture:g}; for each m that the nearest pursuer falls behind, "
            f"you get {approach:g}, and as much less for each m that it comes nearer. You see "
            "everything."
        )
    else:
        lines.append(
            f"A capture gives all pursuers {capture:g}; for each m that you come nearer you get "
            f"{approach:g}, and as much less for each m that you fall behind."
        )
    return lines


def _led(drones: Drones, agent: int) -> str:
    """What moves see to by themselves."""
    evader = agent == drones.team
    others = "pursuers" if evader else "your team-mates" if drones.team > 1 else ""
    around = "lead around cylinders" + _LED * (drones.actions == "moves")
    parts = [around] * bool(drones.cylinders)
    parts += [f"keep off {others}"] * bool(others)
    return _all(parts)


_MOMENTUM = (
    "A move lasts one step; name it again to go on. It does not stop you at once: a drone that "
    "flies another way has to brake and turn first, and drifts on meanwhile."
)
_LED = f" (from {moves.CLEAR:g} m of one on: at full speed you may still touch it)"


def _actions(drones: Drones, agent: int) -> list[str]:
    names, open_ = moves.move_names(drones), moves.allowed(drones)[agent]
    named = [f"- {names[m]}: {effect_of(drones, names[m], agent)}" for m in np.flatnonzero(open_)]
    led = _led(drones, agent)
    if drones.actions == "moves":
        return [
            _MOMENTUM,
            f"One of these moves{f', which {led}' * bool(led)}:",
            *named,
        ]
    if drones.actions == "position":
        low, high = bounds(drones)
        return [
            f"Name a place to fly to and a heading: x, y, z in m between {_row(low)} and "
            f"{_row(high)}, and degrees to the left of east; or a move, which stands for the place "
            f"it flies to now{f'; moves {led}' * bool(led)}:",
            *named,
        ]
    if drones.actions == "velocity":
        return [
            "Name four numbers between -1 and 1: the velocity to the east, to the north and up, "
            f"where 1 is {drones.speeds[agent]:.2g} m/s (a longer vector is shortened to it), and "
            "the rate of yaw, where 1 is 2 rad/s to the left; or a move, which stands for the "
            f"velocity it flies at now{f'; moves {led}' * bool(led)}:",
            *named,
        ]
    what = (
        "the thrust of the rotors front right, back left, front left and back right"
        if drones.actions == "rotors"
        else "the rates about your x, y and z axes (1 is 144 degrees/s), and the thrust"
    )
    known = ["hover", "climb", "sink"]
    return [
        f"Name four numbers between -1 and 1: {what}, of which -1 is none and 1 all; or "
        f"{names_of(known)}, at the thrust that carries a level drone, more, or less."
    ]


def _example(drones: Drones, agent: int) -> str:
    if drones.actions in ("rotors", "ctbr"):
        return "hover"
    if drones.pursuit:
        return "flee" if agent == drones.team else "cut off"
    return "advance"


# ---- the true state ------------------------------------------------------------------------------


def to_dict(drones: Drones, state: DronesState) -> dict[str, Any]:
    """The true state in plain names and numbers: m, m/s, degrees."""
    bodies = state.bodies
    turned = np.asarray(matrix(np.asarray(bodies.quaternion)))
    names = [*drones.agents[: drones.team], *(["evader"] if drones.pursuit else [])]
    found: dict[str, Any] = {
        "task": drones.task,
        "drones": {
            name: {
                "place": np.asarray(bodies.position)[i].tolist(),
                "velocity": np.asarray(bodies.velocity)[i].tolist(),
                "heading": math.degrees(math.atan2(turned[i, 1, 0], turned[i, 0, 0])),
                "rates": np.asarray(bodies.rates)[i].tolist(),
                "thrust": np.asarray(bodies.thrust)[i].tolist(),
                "touching": bool(state.touched[i]),
            }
            for i, name in enumerate(names)
        },
        "cylinders": np.asarray(state.cylinders).tolist(),
        "collisions": int(state.collisions),
        "crashed": bool(state.crashed),
        "over": bool(state.over),
        "time": int(state.time),
        "steps_left": drones.max_steps - int(state.time),
    }
    if drones.pursuit:
        known = np.asarray(state.known).tolist()
        catcher = int(state.catcher)
        found |= {
            "seen_by": [drones.agents[i] for i in np.flatnonzero(np.asarray(state.seen)).tolist()],
            "known": {"place": known[:3], "velocity": known[3:]},
            "unseen": int(state.unseen) * STEP,
            "caught_by": drones.agents[catcher - 1] if catcher else "",
        }
    else:
        found |= {
            "goals": np.asarray(state.goals).tolist(),
            "reached": int(state.reached),
            "shape_error": float(slot_error(drones, np.asarray(bodies.position))),
        }
    return found
