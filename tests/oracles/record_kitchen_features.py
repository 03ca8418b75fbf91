"""Record what Overcooked-AI tells of random states and single steps, for test_kitchen_features.py.

    pip install overcooked-ai==1.1.0
    python tests/oracles/record_kitchen_features.py

Each trial draws a state (chefs with things in their hands before counters and stations, things on
counters, pots in all stages), and makes one step of it. What is written: the state in the codes of
our kitchen (see record_kitchen.py), the actions, `featurize_state` before the step, and how many
events of each type the step logged.
"""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

DATA = Path(__file__).parent / "data" / "overcooked_ai_features.json.gz"
LAYOUTS = (
    *("cramped_room", "asymmetric_advantages", "forced_coordination_tomato", "counter_circuit"),
    *("inverse_marshmallow_experiment", "marshmallow_experiment", "multiplayer_schelling"),
)
TRIALS = 220
CODES = {"onion": 1, "tomato": 2, "dish": 3}


class Drawn:
    """A random state of a layout's game."""

    def __init__(self, mdp: Any, rng: random.Random):
        from overcooked_ai_py.mdp import actions  # type: ignore[import-not-found]
        from overcooked_ai_py.mdp import overcooked_mdp as game  # type: ignore[import-not-found]

        self.mdp, self.rng, self.game = mdp, rng, game
        self.state = mdp.get_standard_start_state()
        cells = rng.sample(mdp.get_valid_player_positions(), len(self.state.players))
        every = actions.Direction.ALL_DIRECTIONS
        for chef, cell in zip(self.state.players, cells, strict=True):
            faced = [
                d
                for d in every
                if mdp.get_terrain_type_at_pos(actions.Action.move_in_direction(cell, d)) != " "
            ]
            chef.position, chef.orientation = cell, rng.choice(faced or every)
            held = self.thing(cell, [None, None, "onion", "tomato", "dish", "dish", "soup"])
            if held is not None:
                chef.set_object(held)
        for cell in mdp.get_counter_locations():
            lying = self.thing(cell, [None, None, None, "onion", "tomato", "dish", "soup"])
            if lying is not None:
                self.state.add_object(lying)
        for cell in mdp.get_pot_locations():
            stage = rng.choice(("empty", "idle", "idle", "cooking", "ready"))
            if stage != "empty":
                self.state.add_object(self.soup(cell, stage))

    def thing(self, cell: Any, kinds: list[str | None]) -> Any:
        kind = self.rng.choice(kinds)
        if kind == "soup":
            return self.soup(cell, "ready")
        return None if kind is None else self.game.ObjectState(kind, cell)

    def soup(self, cell: Any, stage: str) -> Any:
        total = self.rng.choice((1, 2, 3))
        onions = self.rng.randint(0, total)
        soup = self.game.SoupState.get_soup(
            cell, num_onions=onions, num_tomatoes=total - onions, finished=stage == "ready"
        )
        if stage == "cooking":
            soup.begin_cooking()
            for _ in range(self.rng.randint(0, soup.cook_time - 1)):
                soup.cook()
        return soup

    def codes(self) -> dict[str, Any]:
        """The state in our codes; objects as (cell, object, timer)."""
        width = self.mdp.width
        facing = [(0, -1), (0, 1), (1, 0), (-1, 0)]
        objects = []
        for item in self.state.objects.values():
            timer, (x, y) = 0, item.position
            if item.name == "soup" and self.mdp.get_terrain_type_at_pos(item.position) == "P":
                left = item.cook_time_remaining if item.is_cooking else 0
                timer = 1 if item.is_ready else left + 1 if item.is_cooking else 0
            objects.append((y * width + x, code(item), timer))
        chefs = [
            (
                c.position[1] * width + c.position[0],
                facing.index(c.orientation),
                code(c.held_object),
            )
            for c in self.state.players
        ]
        return {"chefs": chefs, "objects": objects}


def code(item: Any) -> int:
    if item is None:
        return 0
    if item.name != "soup":
        return CODES[item.name]
    return 16 | item.ingredients.count("onion") << 2 | item.ingredients.count("tomato")


def main() -> None:
    from overcooked_ai_py.mdp.actions import Action  # type: ignore[import-not-found]
    from overcooked_ai_py.mdp.overcooked_mdp import (  # type: ignore[import-not-found]
        OvercookedGridworld,
    )
    from overcooked_ai_py.planning.planners import (  # type: ignore[import-not-found]
        MotionPlanner,
    )

    found = {}
    for name in LAYOUTS:
        mdp, rng = OvercookedGridworld.from_layout_name(name), random.Random(name)
        # All that `featurize_state` needs of a manager; as with NO_COUNTERS_PARAMS.
        manager = SimpleNamespace(motion_planner=MotionPlanner(mdp, []))
        trials = []
        for _ in range(TRIALS):
            drawn = Drawn(mdp, rng)
            features = mdp.featurize_state(drawn.state, manager, num_pots=2)
            actions = [rng.choice((0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 5)) for _ in drawn.state.players]
            trial = {**drawn.codes(), "actions": actions}
            trial["potential"] = round(
                mdp.potential_function(drawn.state, manager.motion_planner), 4
            )
            trial["features"] = [[int(number) for number in row] for row in features]
            moves = [Action.INDEX_TO_ACTION[action] for action in actions]
            _, told = mdp.get_state_transition(drawn.state, moves)
            logged = {event: sum(by) for event, by in told["event_infos"].items() if any(by)}
            trials.append({**trial, "events": logged})
        grid = ["".join(row) for row in mdp.terrain_mtx]
        rows = [list(row) for row in grid]
        for number, (x, y) in enumerate(mdp.start_player_positions, start=1):
            rows[y][x] = str(number)
        orders = [recipe["ingredients"] for recipe in mdp.start_all_orders]
        bonus = [recipe["ingredients"] for recipe in mdp.start_bonus_orders]
        about = {
            "grid": "\n".join("".join(row) for row in rows),
            "start_all_orders": [{"ingredients": list(map(str, order))} for order in orders],
            "start_bonus_orders": [{"ingredients": list(map(str, order))} for order in bonus],
            "order_bonus": mdp.order_bonus,
        }
        for option in ("recipe_values", "recipe_times", "onion_value", "tomato_value",
                       "onion_time", "tomato_time"):  # fmt: skip
            if option in mdp.recipe_config:
                about[option] = mdp.recipe_config[option]
        found[name] = {"layout": about, "trials": trials}
    with gzip.GzipFile(DATA, "wb", mtime=0) as file:
        file.write(json.dumps(found, separators=(",", ":")).encode())
    print(f"{DATA}: {DATA.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
