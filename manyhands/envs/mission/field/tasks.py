"""The tasks of a generated field: levels by a seed and a density, for curricula.

space = mission.task_space()
task = {"seed": 7, "density": 0.2}
state = mission.reset_to(key, {"task": task})
space.decode(space.encode(task)) == task
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from manyhands.core.env import ConfigError, shorten
from manyhands.envs.mission.field import levels
from manyhands.envs.mission.field.scenario import fits

if TYPE_CHECKING:
    from manyhands.envs.mission.env import Mission

MOST_SEED = 2**20
HELD_OUT = range(2**19, MOST_SEED)  # seeds that are kept for testing


class TaskSpace(NamedTuple):
    """The tasks of a field.

    Attributes:
        schema: of a task, as JSON Schema.
        low, high: f64[2], bounds of encoded tasks: the seed, and the density of walls.
        scenario: what is generated.
        teams: for whom.
    """

    schema: dict[str, Any]
    low: np.ndarray
    high: np.ndarray
    scenario: Mapping[str, Any]
    teams: tuple[Any, ...]

    def check(self, task: Any) -> dict[str, Any]:
        """The task with all its fields; by default with the scenario's density.

        Raises:
            ConfigError: it is none.
        """
        if not isinstance(task, Mapping):
            raise ConfigError(f"a task is a mapping with a seed, given {shorten(task)}")
        fits(self.schema, task, "task")
        usual = self.scenario["generator"].get("density", 0.1)
        return {"seed": int(task["seed"]), "density": float(task.get("density", usual))}

    def encode(self, task: Any) -> np.ndarray:
        """f64[2], within `low` and `high`."""
        found = self.check(task)
        return np.array([found["seed"], found["density"]])

    def decode(self, values: Any) -> dict[str, Any]:
        """The task nearest to two numbers."""
        seed, density = np.clip(np.asarray(values, float), self.low, self.high).tolist()
        return {"seed": round(seed), "density": density}

    def held_out(self, task: Any) -> bool:
        """Whether it is one for testing alone, by its seed."""
        return self.check(task)["seed"] in HELD_OUT

    def sample(self, draws: np.random.Generator, held_out: bool = False) -> dict[str, Any]:
        """A random task, of those for training or of those for testing."""
        first, last = (HELD_OUT.start, HELD_OUT.stop) if held_out else (0, HELD_OUT.start)
        density = float(draws.uniform(self.low[1], self.high[1]))
        return {"seed": int(draws.integers(first, last)), "density": density}

    def level(self, task: Any) -> tuple[np.ndarray, np.ndarray]:
        """The map of a task, u8[rows, columns], and where bodies may start, bool[M, ...].

        Raises:
            ConfigError: none with that density can be played.
        """
        found = self.check(task)
        generator = {**self.scenario["generator"], "density": found["density"]}
        changed = {**self.scenario, "generator": generator}
        return levels.generate(changed, self.teams, found["seed"])


def task_space(mission: Mission) -> TaskSpace:
    """The tasks of a field with a generator.

    Raises:
        ConfigError: it has one map.
    """
    generator = mission.scenario["generator"] if mission.kind == "field" else None
    if not generator:
        raise ConfigError(f"{mission.scenario['name']} has no generator, and so no tasks")
    most = max(0.35, float(generator.get("density", 0.1)))
    schema = {
        "type": "object",
        "properties": {
            "seed": {"type": "integer", "minimum": 0, "maximum": MOST_SEED - 1},
            "density": {"type": "number", "minimum": 0, "maximum": most},
        },
        "required": ["seed"],
        "additionalProperties": False,
    }
    low, high = np.array([0, 0.0]), np.array([MOST_SEED - 1, most])
    return TaskSpace(schema, low, high, mission.scenario, mission.plan.teams)
