"""What a player sees in plain Python, and the words that all texts are made of."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.goals import Goal
from manyhands.envs.craftworld.observe import legal, perceive
from manyhands.envs.craftworld.rules import CraftRules
from manyhands.envs.craftworld.setting import UNKNOWN, Setting
from manyhands.envs.craftworld.state import HERE, VIEW, CraftState
from manyhands.envs.craftworld.world import LETTERS

ROWS, COLUMNS = VIEW
YOU = "@"  # the letter of the reader on its map
LETTER = {code: letter for letter, code in LETTERS.items()} | {rl.VOID: "-"}
NAMES = [name.replace("_", " ") for name in rl.MATERIALS]

# ---- what a player sees --------------------------------------------------------------------------


@dataclass(frozen=True)
class Body:
    """A creature or another player in view: `kind` as in `CREATURES`, from 1, or 0."""

    row: int  # in the view
    column: int
    kind: int
    player: int
    heading: int  # in `FACINGS`, or -1


@dataclass(frozen=True)
class Mate:
    """Another player, wherever it is; `rows` down, `columns` to the right of the reader. Of who is
    out of view nothing is known where `alive` is `setting.UNKNOWN`."""

    player: int
    rows: int
    columns: int
    alive: int
    asleep: bool
    facing: int
    health: int
    food: int
    request: int
    left: int
    role: int


@dataclass(frozen=True)
class Observation:
    """A row of `perceive` in plain Python; parts as in `CraftWorld`."""

    agent: int
    cells: np.ndarray  # u8[7, 9]
    bodies: tuple[Body, ...]  # in reading order
    facing: int
    items: dict[str, int]
    vitals: dict[str, int]
    asleep: bool
    alive: int
    light: int
    done: tuple[str, ...]
    table: bool
    furnace: bool
    role: int
    request: int
    left: int
    mates: tuple[Mate, ...]
    goal: Goal
    site: tuple[int, int]
    position: tuple[int, int]

    @property
    def front(self) -> tuple[int, int]:
        """Row and column of the faced cell in the view."""
        rows, columns = rl.DELTAS[self.facing]
        return HERE[0] + rows, HERE[1] + columns

    def at(self, cell: tuple[int, int]) -> Body | None:
        """The body in a cell of the view."""
        return next((b for b in self.bodies if (b.row, b.column) == cell), None)

    @property
    def abandoned(self) -> bool:
        """Whether the player is down and no other is up, which ends the episode."""
        up = (rl.ALIVE, UNKNOWN)
        return self.alive == rl.DOWN and not any(mate.alive in up for mate in self.mates)

    def helpless(self, env: Setting) -> bool:
        """Whether only `noop` is possible."""
        # Rested, one may wake at the start of a step, and act in it.
        rested = env.book.wakes_to_act and self.vitals["energy"] >= rl.MOST
        return self.alive != rl.ALIVE or (self.asleep and not rested)

    def met(self, env: Setting) -> Body | None:
        """What stands in the way in front; only in Crafter arrows do."""
        body = self.at(self.front)
        flies = body is not None and body.kind == rl.ARROW and not env.book.arrows_block
        return None if flies else body

    def mate(self, player: int) -> Mate:
        return next(mate for mate in self.mates if mate.player == player)


def parse_observation(env: Setting, row: np.ndarray, agent: int) -> Observation:
    """What a row of `perceive` says."""
    parts = {name: row[where].tolist() for name, where in env.layout.items()}
    cells = np.reshape(parts["cells"], (ROWS, COLUMNS)).astype(np.uint8)
    bodies = []
    for k, (code, heading) in enumerate(zip(parts["bodies"], parts["headings"], strict=True)):
        if code and code != len(rl.CREATURES) + 1 + agent:
            kind, player = (
                (code, -1) if code <= len(rl.CREATURES) else (0, code - 1 - len(rl.CREATURES))
            )
            bodies.append(Body(*divmod(k, COLUMNS), kind, player, heading - 1))
    others = [i for i in range(env.num_players) if i != agent]
    mates = []
    for i, player in enumerate(others):
        rows, columns, alive, asleep, *rest = parts["teammates"][10 * i : 10 * i + 10]
        mates.append(Mate(player, rows - 128, columns - 128, alive, bool(asleep), *rest))
    return Observation(
        agent,
        cells,
        tuple(bodies),
        parts["facing"][0],
        dict(zip(env.contents.items, parts["inventory"], strict=True)),
        dict(zip(rl.VITALS, parts["vitals"], strict=True)),
        bool(parts["asleep"][0]),
        parts["alive"][0],
        parts["light"][0],
        tuple(itertools.compress(env.contents.achievements, parts["achievements"])),
        bool(parts["near"][0]),
        bool(parts["near"][1]),
        parts["role"][0],
        parts["request"][0],
        parts["request"][1],
        tuple(mates),
        Goal.of_row(parts["goal"], env.craft),
        (parts["site"][0] - 128, parts["site"][1] - 128),
        (parts["position"][0], parts["position"][1]),
    )


@functools.lru_cache(maxsize=64)
def _observing(env: Setting) -> Any:
    return jax.jit(lambda state: (perceive(env, state), legal(env, state)))


_last: tuple[Any, Any, Any] = (None, None, None)  # one state is looked at by several in turn


def observe(env: Setting, state: CraftState, agent: int) -> tuple[Observation, np.ndarray]:
    """(what a player sees, bool[A] its legal actions)."""
    global _last
    whose, what, seen = _last
    if what is not state or whose is not env:
        seen = jax.device_get(_observing(env)(state))
        _last = env, state, seen
    rows, legal = seen
    return parse_observation(env, rows[agent], agent), legal[agent]


# ---- words ---------------------------------------------------------------------------------------


def listed(words: Sequence[str], last: str = "and") -> str:
    """ "a, b and c"."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def spaced(name: str) -> str:
    return name.replace("_", " ")


def counted(item: str, number: int) -> str:
    return f"{number} {spaced(item)}"


def direction(rows: int, columns: int) -> str:
    """ "3 right 2 up"; "here" for no distance."""
    parts = []
    if columns:
        parts.append(f"{abs(columns)} {'right' if columns > 0 else 'left'}")
    if rows:
        parts.append(f"{abs(rows)} {'down' if rows > 0 else 'up'}")
    return " ".join(parts) or "here"


def from_you(row: int, column: int) -> str:
    return direction(row - HERE[0], column - HERE[1])


def article(name: str) -> str:
    """With an article, where there is one."""
    if name in ("water", "grass", "sand", "lava", "coal", "iron", "stone"):
        return name
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def steps(number: int) -> str:
    return f"{number} step{'s' * (number != 1)}"


def name_of(env: Setting, body: Body) -> str:
    return rl.CREATURES[body.kind - 1] if body.kind else env.agents[body.player]


def faced(env: Setting, obs: Observation) -> str:
    """What is in front."""
    body = obs.at(obs.front)
    if body is not None:
        return name_of(env, body) if not body.kind else article(name_of(env, body))
    code = int(obs.cells[obs.front])
    return "the edge of the world" if code == rl.VOID else article(NAMES[code])


def cost(craft: CraftRules, tool: str) -> str:
    return listed([counted(item, number) for item, number in craft.make_cost(tool).items()])


def stations(craft: CraftRules, tool: str) -> str:
    return listed([article(rl.MATERIALS[code]) for code in craft.make_near(tool)])
