"""Fields in words: rule book, description, and the true state. Choices are in `effects.py`, and
`reading.py` reads answers.

`describe` tells what the vector tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from manyhands.core.env import names_of
from manyhands.core.reading.answers import how_to_answer
from manyhands.envs.mission.field import effects, reading
from manyhands.envs.mission.field.events import body_name, happened, last_events
from manyhands.envs.mission.field.levels import written
from manyhands.envs.mission.field.look import (
    Look,
    all_see,
    body_words,
    cell_words,
    letter,
    look_of,
    steps,
    title_of,
)
from manyhands.envs.mission.field.state import (
    BOX,
    CELLS,
    COIN,
    DIRT,
    DOOR,
    EVENTS,
    FLAG,
    GROUPS,
    HEADINGS,
    KEY,
    LOCKED,
    MACHINE,
    PLATE,
    WALK,
    Beam,
    FieldState,
    Growth,
    Plan,
    Team,
)
from manyhands.envs.mission.text import all_of

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

DOORS = range(DOOR, DOOR + GROUPS)
parse, choices = reading.parse, effects.choices


# ---- description ---------------------------------------------------------------------------------


def describe(mission: Mission, state: FieldState, agent: int) -> str:
    """What the agent sees, as text."""
    plan, look = mission.plan, look_of(mission, state, agent)
    who = f"You are {title_of(mission, agent)}"
    if len(plan.teams) > 1:
        who += f", of the {plan.teams[int(plan.of_team[agent])].name}"
    if plan.token:
        who = f"You are {mission.agents[agent]}. The token (A) that you all move is"
    else:
        who += ","
    lines = [
        f"Step {mission.max_steps - look.left} of {mission.max_steps}. {who} "
        f"{body_words(mission, look, look.own, you=True)}."
    ]
    lines += _rooms(mission, look) if plan.exits is not None else _map(plan, look)
    if plan.bodies > 1 and not plan.token:
        listed = [
            f"{title_of(mission, body.number)} {body_words(mission, look, body, you=False)}"
            for body in look.others
        ]
        if mission.detail != "brief" or plan.exits is not None:
            lines.append(f"Others in view: {'; '.join(listed) or 'none'}.")
    if plan.groups:
        listed = [f"{k + 1} {'open' if door else 'closed'}" for k, door in enumerate(look.doors)]
        lines.append(f"Doors: {', '.join(listed)}.")
    if look.scores:
        scores = zip(plan.teams, look.scores, strict=True)
        counts = ", ".join(f"{team.name} {count}" for team, count in scores)
        lines.append(f"Flags brought home: {counts}.")
    if not look.open:
        lines.append("The episode is over.")
    else:
        names = [effects.word(mission, look, action) for action in look.open]
        lines.append(f"Open to you: {', '.join(names)}.")
    if mission.detail != "brief":
        lines += _last_step(mission, state, agent)
    if mission.detail == "full":
        lines.append(f"Remember: {_aim(mission)}")
    return "\n".join(lines)


def _map(plan: Plan, look: Look) -> list[str]:
    """The cells in view: bodies as letters, all else by its mark."""
    seen = np.argwhere(look.cells >= 0)
    if not len(seen):
        return ["You see nothing."]
    (top, left), (bottom, right) = seen.min(0).tolist(), seen.max(0).tolist()
    marks = [
        [CELLS[code].mark if code >= 0 else "?" for code in row] for row in look.cells.tolist()
    ]
    for body in sorted((look.own, *look.others), key=lambda b: (b is look.own, -b.number)):
        if body.row >= 0:
            marks[body.row][body.column] = letter(0 if plan.token else body.number)
    wide = len(str(right)) if right > 9 else 1
    head = " " * 2 + " " + " ".join(f"{x:>{wide}}" for x in range(left, right + 1))
    body_lines = [
        f"{y:>2} " + " ".join(f"{mark:>{wide}}" for mark in marks[y][left : right + 1])
        for y in range(top, bottom + 1)
    ]
    return [head, *body_lines]


def _rooms(mission: Mission, look: Look) -> list[str]:
    """What is in rooms."""
    plan, listed = mission.plan, []
    if not (look.cells >= 0).any():
        return ["You see nothing."]
    for k, code in enumerate(look.cells[0].tolist()):
        if code > 0:
            done = look.work[k] if look.work else 0
            more = f" (worked on for {done} of {plan.work})" if done else ""
            listed.append(f"{plan.room_names[k]}: {cell_words(mission, code)}{more}")
    if not listed:
        return []
    return [f"Rooms: {'; '.join(listed)}."]


def _last_step(mission: Mission, state: FieldState, agent: int) -> list[str]:
    """A line on what happened in the last step, if anything did."""
    said: dict[str, list[str]] = {}
    for event in last_events(mission, state, agent):
        own = event["agent"] == mission.agents[agent]
        said.setdefault(event["event"], []).append("you" if own else event["agent"])
    parts = _token_stayed(mission, agent, said.pop("blocked", [])) if mission.plan.token else []
    parts += _spotted(mission.plan, said)
    parts += _turned(mission, state, agent, said)
    for name, names in said.items():
        did = EVENTS[name]
        if len(names) > 1 or names == ["you"]:
            did = _plural(did, "your" if names == ["you"] else "their")
        token = mission.plan.token and name == "move"
        parts.append("the token moved" if token else f"{all_of(names)} {did}")
    return [f"Last step: {'; '.join(parts)}."] if parts else []


def _spotted(plan: Plan, said: dict[str, list[str]]) -> list[str]:
    """Whether a team that hides was seen, in one sentence for both teams, taken out of `said`."""
    if plan.spotting is None:
        return []
    hidden, looking = (plan.teams[k].name for k in plan.spotting)
    was_seen = [said.pop(name, None) for name in ("seen", "spotting")]
    was_hidden = [said.pop(name, None) for name in ("hidden", "searching")]
    if any(was_seen):
        return [f"the {looking} had one of the {hidden} in view"]
    return [f"the {looking} had none of the {hidden} in view"] if any(was_hidden) else []


def _token_stayed(mission: Mission, agent: int, named: list[str]) -> list[str]:
    """Why the one token did not move, as far as can be seen, of those who named a way in vain."""
    if not named:
        return []
    names = ("you" if k == agent else name for k, name in enumerate(mission.agents))
    rest = [name for name in names if name not in named]
    if rest:
        why = f"{all_of(named)} named a way, and {all_of(rest)} did not"
    else:
        why = "you did not all name the same way, or a wall is there"
    return [f"the token stayed where it was: {why}"]


def _turned(
    mission: Mission, state: FieldState, agent: int, said: dict[str, list[str]]
) -> list[str]:
    """Who wanted to go where nobody can, and only turned there, taken out of `said`."""
    plan, names = mission.plan, said.get("blocked", [])
    if "heading" not in plan.features or not names:
        return []
    look = look_of(mission, state, agent)
    bodies = {body_name(plan, body.number): body for body in look.others} | {"you": look.own}
    only = [name for name in names if effects.faces_solid(look, bodies[name])]
    said["blocked"] = [name for name in names if name not in only]
    if not said["blocked"]:
        said.pop("blocked")
    return [f"{all_of(only)} turned, and could not go on"] if only else []


def _plural(did: str, own: str) -> str:
    """What several, or "you", did."""
    did = did.replace("of its own", f"of {own} own")
    return did.replace("was ", "were ", 1) if did.startswith("was ") else did


# ---- rules ---------------------------------------------------------------------------------------


def rules(mission: Mission, agent: int) -> str:
    """The rule book of one agent."""
    plan = mission.plan
    own = plan.teams[int(plan.of_team[agent])]
    sections = [
        ("", _who(mission, agent, own)),
        ("AIM", [_aim(mission), *_rewards(mission, own), _ending(mission)]),
        ("MOVING", _moving(mission)),
        ("WHAT ELSE HAPPENS", _happenings(mission, own)),
        ("WHAT YOU SEE", _view(mission, agent)),
        (
            "HOW TO ANSWER",
            [f"Name one action: {_listed_actions(plan, agent)}. {how_to_answer(plan.actions[1])}"],
        ),
    ]
    lines = [mission.title.upper()]
    for title, body in sections:
        if body:
            lines += ["", title, *body] if title else body
    return "\n".join(lines)


def _who(mission: Mission, agent: int, own: Team) -> list[str]:
    plan = mission.plan
    name = mission.agents[agent]
    who = f"You are {name}."
    if not plan.token and plan.exits is None:
        who = f"You are {name}, {letter(agent)} on the map."
    mates = [body_name(plan, k) for k in range(own.first, own.first + own.size) if k != agent]
    if mates:
        who += f" You play with {all_of(mates)}."
    else:
        who += " You play alone."
    for team in plan.teams:
        if team is not own:
            names = [body_name(plan, k) for k in range(team.first, team.first + team.size)]
            by = "moved by the game" if team.mind else "other players"
            who += f" The {team.name}: {all_of(names)} ({by})."
    return [who]


def _aim(mission: Mission) -> str:
    return str(mission.scenario["aim"]) or "Get as much reward as you can."


_REWARDS = {
    "win": "winning", "loss": "losing", "step": "each step", "apple": "an apple",
    "coin": "a coin of your own", "theft": "a coin of another",
    "robbed": "a coin of yours that another takes", "iron": "iron", "gold": "gold",
    "hit": "each one that you hit", "struck": "being hit", "capture": "each one that you catch",
    "caught": "being caught", "delivery": "a flag brought home",
    "conceded": "a flag that others bring home", "flag": "taking a flag",
    "hidden": "each step in which none of your team is seen",
    "seen": "each step in which one of your team is seen",
    "spotting": "each step in which your team sees one of the others",
    "searching": "each step in which your team sees none of the others",
    "goal": "reaching a goal", "repair": "repairing a generator", "key": "taking a key",
    "open": "opening a door", "clean": "each cell of water cleaned", "move": "a move",
    "blocked": "a move that fails", "push": "pushing a box", "lock": "locking or unlocking a box",
    "press": "pressing a button", "drop": "putting a key down",
    "strike": "striking gold without effect",
}  # fmt: skip
assert set(_REWARDS) == set(EVENTS)


# Of these events each happens to one of two teams, the one that hides and the one that looks.
_SPOTTING = {"hidden": 0, "seen": 0, "spotting": 1, "searching": 1}


def _rewards(mission: Mission, own: Team) -> list[str]:
    parts, spotting = [], mission.plan.spotting
    for name in mission.terms:
        whose = spotting[_SPOTTING[name]] if spotting and name in _SPOTTING else None
        if whose is not None and mission.plan.teams[whose] is not own:
            continue
        weight = mission.reward_weights[name]
        if weight:
            team = ", for all of the team" if name in mission.plan.shared else ""
            parts.append(f"{weight:+g} for {_REWARDS[name]}{team}")
    return [f"Rewards: {'; '.join(parts)}."] if parts else []


def _ending(mission: Mission) -> str:
    plan, ways = mission.plan, []
    for end in plan.ends:
        team = plan.teams[end.team].name if end.team >= 0 else ""
        whose = "all" if end.all else "any"
        how = {
            "caught": f"{whose} of the {team} are caught",
            "goal": f"{whose} of the {team} {'are' if end.all else 'is'} on a goal (X)",
            "meet": f"all of the {team} are on one cell",
            "score": f"a team has {end.points} flags",
            "gone": f"no cell is {CELLS[end.code].words} any more",
        }[end.when]
        if plan.token and end.when == "goal":
            how = "the token is on the goal (X)"
        if end.repaired:
            how += " and all generators are repaired"
        if end.when == "score":
            how += ", and wins"
        elif end.wins >= 0:
            how += f"; then the {plan.teams[end.wins].name} win"
        else:
            how += "; then nobody wins"
        ways.append(how)
    limit = f"after {mission.max_steps} steps"
    return f"The episode ends {limit}" + (f", or when {'; or when '.join(ways)}." if ways else ".")


_CONFLICTS = {
    "priority": "No two are ever on one cell, and none swap places; one may enter a cell that "
    "another leaves. If several want one cell, one of them gets it, by turns.",
    "cancel": "If two or more want the same cell (whoever stays wants its own), none of them "
    "moves.",
    "chain": "No two are ever on one cell, and none swap places. If several queues want one free "
    "cell, the longest moves.",
    "share": "Several may be {cell}{shown}.",
    "agree": "The token moves only if all of you name the same way in the same step, and no wall "
    "is there. A way into a wall costs a step. Talk, if you can, before you answer.",
}


def _moving(mission: Mission) -> list[str]:
    plan = mission.plan
    rooms = plan.exits is not None
    lines = ["All act at once, one action a step."]
    if rooms:
        assert plan.exits is not None and plan.gates is not None
        lines[0] += " From a room one goes to those that its exits lead to:"
        for k, name in enumerate(plan.room_names):
            leads = [
                plan.room_names[j] + (f" (door {plan.gates[k, j]})" if plan.gates[k, j] else "")
                for j in np.flatnonzero(plan.exits[k])
            ]
            here = sorted({int(code) for code in plan.cells[:, k]} - {0})
            what = "".join(f"; {cell_words(mission, code)}" for code in here)
            lines.append(f"- room {name}: to {', '.join(leads) or 'no other'}{what}")
    else:
        rows, columns = plan.size
        lines[0] += (
            f" The field has {rows} rows and {columns} columns. North is up, to a smaller row; "
            "west is left, to a smaller column."
        )
    cell, shown = (
        ("in one room", "") if rooms else ("on one cell", "; the map has one letter there")
    )
    lines.append(_CONFLICTS[plan.conflict].format(cell=cell, shown=shown))
    solid = [code for code in plan.used if code not in (*WALK, BOX, LOCKED, *DOORS)]
    if solid and not rooms and not plan.token:
        turns = ", and a step that way turns you to it" if "heading" in plan.features else ""
        names = names_of([cell_words(mission, code) for code in solid])
        lines.append(f"Nobody can enter {names}{turns}.")
    if BOX in plan.used:
        lines.append(
            "Walking into a box pushes it, onto plain floor where nobody is or wants to be. Locked "
            "boxes cannot be pushed."
        )
    for team in plan.teams:
        if team.wait:
            lines.append(f"The {team.name} cannot act in the first {steps(team.wait)}.")
        if team.mind:
            lines.append(_mind(plan, team))
    return lines


def _mind(plan: Plan, team: Team) -> str:
    how = {
        "flee": "stay, or step to a free cell, whichever is furthest from the nearest other (rows "
        "and columns counted, walls left aside)",
        "wander": "go anywhere",
        "chase": "stay, or step to a free cell, whichever is closest to the nearest other (rows "
        "and columns counted, walls left aside)",
        "thief": "know to which rooms you want to go (your own, if you stay), and go (never stay, "
        "if an exit is open) to the room whose number is furthest from the nearest of these, of "
        "several to the first",
        "killer": "go to the room of a player beside them (of two to that of the one whom they are "
        "after), else to any room beside theirs",
    }[team.mind]
    if not team.rest:
        return f"The {team.name} {how}."
    first = [str(team.rest * k - 1) for k in (1, 2, 3)]
    return f"The {team.name} {how}, but rest in step {', '.join(first)} and so on."


def _happenings(mission: Mission, own: Team) -> list[str]:
    plan, lines = mission.plan, []
    for verb in own.verbs:
        if verb in plan.beams:
            lines.append(f"- {verb}: {_beam(plan, plan.beams[verb], own)}")
    for team in plan.teams:
        for verb in team.verbs:
            if team is not own and verb not in own.verbs and verb in plan.beams:
                lines.append(f"- The {team.name} can {verb}: {_beam(plan, plan.beams[verb], team)}")
    if "lock" in plan.verbs:
        who = [team.name for team in plan.teams if "lock" in team.verbs]
        lines.append(f"- lock: the {all_of(who)} can lock and unlock the box that they face.")
    if "press" in plan.verbs:
        lines.append(
            "- press: a button opens its door, or closes it, before anybody moves in that step."
        )
    if any(KEY <= code < KEY + 3 for code in plan.used):
        lines.append(
            "- Keys: coming onto a key with empty hands takes it. Walking into its door with it "
            "opens the door for good and uses the key up."
            + (" drop: puts it down, on plain floor." if "drop" in plan.verbs else "")
        )
    if any(PLATE <= code < PLATE + 3 for code in plan.used):
        lines.append(
            "- Plates: a door is open in a step if somebody stood on one of its plates at the end "
            "of the step before. Who is in a door when it closes can still go on."
        )
    if MACHINE in plan.used:
        lines.append(
            f"- repair: a generator is repaired when somebody has worked on it for "
            f"{steps(plan.work)} in a row; a step without work sets it back."
        )
    for capture in plan.captures:
        prey, by = plan.teams[capture.team].name, plan.teams[capture.by].name
        many = f"{capture.needed} of the {by} are" if capture.needed > 1 else f"one of the {by} is"
        here = "in its room" if plan.exits is not None else "on its cell"
        where = f"at most {steps(capture.reach)} away (not diagonally)" if capture.reach else here
        where += ", or passes it" if capture.passing else ""
        land = f" on the land or base of the {by}" if capture.land else ""
        then = {
            "caught": "it is out for good",
            "home": "it goes back to its start, and a flag that it carries to its base",
            "freeze": f"it cannot act for {steps(capture.steps)}",
        }[capture.effect]
        lines.append(f"- One of the {prey} is caught{land} when {many} {where}: {then}.")
    if any(code in plan.used for code in (FLAG, FLAG + 1)):
        lines.append(
            "- Flags: coming onto the base of the others takes their flag if it is there; bringing "
            "it onto the own base scores, and it goes back to its base."
        )
    if any(COIN <= code < COIN + 4 for code in plan.used):
        lines.append("- Coins: whoever comes onto one takes it.")
    lines += [f"- {_growth(mission, growth)}" for growth in plan.growths]
    if plan.spotting is not None:
        hidden, looking = (plan.teams[k].name for k in plan.spotting)
        lines.append(
            f"- From the step in which the {looking} may move, it counts in each step whether any "
            f"of the {looking} sees any of the {hidden}."
        )
    return lines


def _beam(plan: Plan, beam: Beam, own: Team) -> str:
    """What a beam of a team reaches and does."""
    if beam.around:
        reach = f"reaches up to {steps(beam.around)} away in any direction (not diagonally)"
    else:
        wide = f", and {beam.radius} to each side" if beam.radius else ""
        reach = f"reaches {beam.length} cells in the direction that you face (where you last \
wanted to go){wide}; walls, closed doors and boxes stop it"
    others = [team.name for team in plan.teams if team is not own]
    whom = f"any of the {all_of(others)} there" if others else "whoever is there"
    if others and beam.everybody:
        whom = "whoever is there, your own team too,"
    if effects.late(plan) and beam.effect in ("out", "freeze", "home"):
        whom += " once all have moved"
    does = {
        "out": f"{whom} is taken away for {steps(beam.steps)}, then comes back to its start",
        "freeze": f"{whom} cannot act for {steps(beam.steps)}, and cannot be hit meanwhile",
        "home": f"{whom} goes back to its start",
        "clean": "dirty water there becomes clean",
        "mine": f"the {'nearest' if beam.around else 'first'} ore there is struck. Iron is mined "
        "at once (of several who strike it together, by the one with the lowest number); gold when "
        f"{plan.needed} to {plan.most} strike it within 3 steps (if more do, "
        "nobody gets it)",
    }[beam.effect]
    again = f" It can be used again after {steps(beam.cooldown)}." if beam.cooldown else ""
    if again and len(plan.beams) > 1:
        again = f" After it you can use none of your beams for {steps(beam.cooldown)}."
    return f"{reach}; {does}.{again}"


def _growth(mission: Mission, growth: Growth) -> str:
    what = f"gets {CELLS[growth.code].words}"
    if COIN <= growth.code < COIN + 4:
        what = f"gets a coin of {mission.agents[growth.code - COIN]}"
    elif growth.code == DIRT:
        what = "becomes dirty"
    ground = "clean water" if growth.code == DIRT else "soil where nobody is"
    if growth.one:
        where = f"one cell of {ground} {what} with a chance of {growth.rates[0]:g} a step"
    elif len(growth.rates) == 1:
        where = f"each cell of {ground} {what} with a chance of {growth.rates[0]:g} a step"
    else:
        listed = ", ".join(
            f"{rate:g} with {k}{' or more' * (k == len(growth.rates) - 1)}"
            for k, rate in enumerate(growth.rates)
        )
        where = (
            f"each cell of {ground} {what} with a chance a step of {listed} of it within "
            f"a distance of {growth.radius} (in a straight line: {_corner(growth.radius)})"
        )
    after = f", from step {growth.after} on" if growth.after else ""
    clean = (
        f"; the chance falls to 0 as the share of dirty water rises to {growth.dirt_limit:g}"
        if growth.dirt_limit
        else ""
    )
    return f"Growth: {where}{after}{clean}."


def _corner(radius: int) -> str:
    """Which of the cells on a diagonal are within a straight distance."""
    if radius == 1:
        return "not diagonally"
    far = max(k for k in range(radius + 1) if 2 * k * k <= radius * radius)
    return f"diagonally up to {far} row{'s' * (far != 1)} and column{'s' * (far != 1)} away"


def _view(mission: Mission, agent: int) -> list[str]:
    plan = mission.plan
    if plan.exits is not None:
        return ["You see all rooms."]
    if plan.masks:
        view = (
            "You see about half of the cells, ? are the others; the other player sees exactly "
            "those that you do not. Both see the start, the goal and the token."
        )
        if plan.turned.any():
            view += (
                " Your maps are not alike: one of you sees the maze turned by half, and counts "
                "rows and columns and calls the ways accordingly: north of one is south of the "
                "other, and west is east. Ways are the same if they are the same in the maze, not "
                "if they have the same name."
            )
    elif plan.radius is None:
        view = "You see the whole field."
    else:
        view = f"You see up to {plan.radius} cells in each direction (diagonals too)."
        if plan.lines:
            view += (
                " Walls, closed doors and boxes hide what is behind them, which the map shows as ?."
            )
    legend = [f"{CELLS[code].mark} {cell_words(mission, code)}" for code in plan.used]
    letters = "A is the token" if plan.token else "Letters A, B, ... are players and others"
    return [view, f"{letters}; {'; '.join(legend)}."]


def _listed_actions(plan: Plan, agent: int) -> str:
    rooms = plan.exits is not None
    names = [
        name
        for k, name in enumerate(plan.actions)
        if plan.able[agent, k] and not (rooms and name.startswith("go to room "))
    ]
    if rooms:
        names.insert(1, f"go to room {plan.room_names[0]} (or another)")
    if "lock" in names:
        names.insert(names.index("lock") + 1, "unlock")
    return ", ".join(names)


# ---- the true state ------------------------------------------------------------------------------


def to_dict(mission: Mission, state: FieldState) -> dict[str, Any]:
    """The true state in plain names and numbers. `sees` says which cells each agent sees (1), where
    they do not see everything."""
    plan = mission.plan
    did = happened(plan, state)
    grid = np.asarray(state.cells).reshape(plan.size)
    found: dict[str, Any] = {
        "scenario": mission.scenario["name"],
        "size": list(plan.size),
        "bodies": {
            body_name(plan, i): _body(mission, state, i, did[i]) for i in range(plan.bodies)
        },
        "doors": {str(k + 1): int(held) for k, held in enumerate(np.asarray(state.doors))},
        "scores": {team.name: int(state.score[k]) for k, team in enumerate(plan.teams)},
        "level": int(state.level),
        "over": bool(state.over),
        "time": int(state.time),
        "steps_left": mission.max_steps - int(state.time),
    }
    if plan.exits is None:
        found["map"] = written(grid)
    else:
        found["rooms"] = {
            name: CELLS[code].name
            for name, code in zip(plan.room_names, grid[0].tolist(), strict=True)
        }
    if plan.work:
        found["work"] = np.asarray(state.work).tolist()
    if plan.masks:
        found["viewers"] = _digits(np.asarray(state.viewer).reshape(plan.size))
    if plan.masks or plan.radius is not None:
        sees = all_see(mission, state).cells.astype(int)
        found["sees"] = {
            name: _digits(sees[i].reshape(plan.size)) for i, name in enumerate(mission.agents)
        }
    return found


def _digits(grid: np.ndarray) -> list[str]:
    return ["".join(map(str, row)) for row in grid.tolist()]


def _body(mission: Mission, state: FieldState, i: int, did: Sequence[str]) -> dict[str, Any]:
    plan = mission.plan
    row, column = int(state.row[i]), int(state.column[i])
    found: dict[str, Any] = {"team": plan.teams[int(plan.of_team[i])].name}
    if plan.exits is None:
        found["position"] = [row, column] if row >= 0 else None
        found["start"] = [int(state.home_row[i]), int(state.home_column[i])]
        found["heading"] = HEADINGS[int(state.heading[i])]
    else:
        found["room"] = plan.room_names[column] if row >= 0 else None
        found["start"] = plan.room_names[int(state.home_column[i])]
    carry = int(state.carry[i])
    return found | {
        "carrying": CELLS[carry].name if carry else "",
        "out": int(state.out[i]),
        "cooldown": int(state.cool[i]),
        "strike": [int(state.struck[i]), int(state.ago[i])],
        "did": list(did),
    }
