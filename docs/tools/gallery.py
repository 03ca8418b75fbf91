"""docs/gallery.md and its pictures: every world in all its modes, drawn by the worlds themselves.

python docs/tools/gallery.py                # the page, and the pictures that are missing
python docs/tools/gallery.py volleyball     # also draws those of these worlds again
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import reference

import manyhands

DOCS = Path(__file__).parents[1]
MISSIONS = Path(manyhands.__file__).parent / "assets" / "mission"
SIZE = (480, 360)  # pixels
COLOURS = 64

HEAD = """\
# Gallery

Every world and its modes, a few steps into a game between scripted or random players. Written and
drawn by `python docs/tools/gallery.py`.
"""


@dataclasses.dataclass(frozen=True)
class Mode:
    """A picture of the gallery.

    Attributes:
        id, config: of the environment.
        seats: who plays; by default its scripted player, where it has one.
        steps: after how many the picture is taken.
        agent: whose view is drawn, "" for everything.
    """

    id: str
    config: dict[str, Any] = dataclasses.field(default_factory=dict)
    seats: Any = ""
    steps: int = 20
    agent: str = ""

    @property
    def call(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.config.items())
        return f'manyhands.make("{self.id}"{options})'.replace("'", '"')

    @property
    def file(self) -> str:
        words = [self.id, *(f"{name} {value}" for name, value in self.config.items())]
        return "-".join(re.findall(r"\w+", " ".join(words)))[:80].lower() + ".png"


def modes(id: str) -> Iterator[Mode]:
    """The modes of a world, from its own lists where it has them."""
    if id == "kitchen":
        layouts = "cramped_room asymmetric_advantages coordination_ring forced_coordination"
        for layout in [*layouts.split(), "counter_circuit"]:
            yield Mode(id, {"layout": layout}, steps=40)
        yield Mode(id, {"layout": "multiplayer_schelling"}, steps=40)
        yield Mode(id, {"layout": "overcooked_v2/grounded_coord_simple"}, "random", 30)
        yield Mode(id, {"layout": "generated", "chefs": 4}, steps=40)
    elif id in ("tic_tac_toe", "connect_four"):
        yield Mode(id, {}, "random", 5 if id == "tic_tac_toe" else 15)
        if id == "tic_tac_toe":
            yield Mode(id, {"rows": 8, "columns": 8, "connect": 5}, "random", 14)
    elif id == "kuhn_poker":
        yield Mode(id, {}, "random", 1)
        yield Mode(id, {"players": 4}, "random", 2)
    elif id == "leduc_holdem":
        yield Mode(id, {}, "random", 3, "player_0")
    elif id == "negotiation":
        from manyhands.envs.negotiation import SCENARIOS

        for scenario in SCENARIOS:
            yield Mode(id, {"scenario": scenario}, "fair", 3)
    elif id == "volleyball":
        for task in ("1v1", "3v3", "6v6"):
            yield Mode(id, {"task": task}, steps=60)
        drills = "back_and_forth hit solo_bump bump_and_pass set_and_spike set_and_spike_hard"
        for task in drills.split():
            yield Mode(id, {"task": task}, lambda view: "hover", 15)
    elif id == "drones":
        yield Mode(id, {"task": "formation"}, steps=60)
        yield Mode(id, {"task": "pursuit"}, steps=30)
    elif id == "craftworld":
        yield Mode(id, {"rules": "craftax_classic"}, "survivor", 60)
        yield Mode(id, {"rules": "crafter"}, "survivor", 60, "player_0")
        yield Mode(id, {"players": 3, "roles": "specialists"}, "survivor", 40, "player_1")
        yield Mode(id, {"players": 2, "joint": "bridge"}, "survivor", 40, "player_0")
    elif id == "mission":
        for path in sorted(MISSIONS.glob("*.json")):
            yield Mode(id, {"scenario": path.stem}, steps=8)
    elif id == "cuisine":
        for level in (0, 3, 10):
            yield Mode(id, {"level": level}, "dispatched", 15)
        yield Mode(id, {"level": "generated", "chefs": 4}, "dispatched", 15)
    elif id == "home":
        from manyhands.envs.home.env import PRESETS

        for task in PRESETS:
            yield Mode(id, {"task": task}, steps=8, agent="player_0")
    else:
        yield Mode(id)


def draw(mode: Mode) -> None:
    from PIL import Image

    env = manyhands.make(mode.id, **mode.config)
    seats = mode.seats or ("bot" if env.scripted_policy else "random")
    states: list[Any] = []
    manyhands.play(
        env, seats, seed=1, max_steps=mode.steps, on_step=lambda m: states.append(m.frame.state)
    )
    picture = manyhands.render(env, states[-1], mode.agent or None, SIZE)
    small = Image.fromarray(picture).quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(DOCS / "gallery" / mode.file, optimize=True)


def page() -> str:
    lines = [HEAD]
    for name, ids in reference.pages().items():
        found = re.match("# (.*)", (DOCS / name).read_text())
        title = found[1] if found else name
        lines += [f"## {title}", "", f"[{title}]({name})", ""]
        lines += ['<div class="gallery" markdown>', ""]
        for id in ids:
            for mode in modes(id):
                options = ", ".join(f"{k} {json.dumps(v)}" for k, v in mode.config.items())
                lines += [
                    f"![{id}: {options or 'as it is'}](gallery/{mode.file})",
                    f"`{mode.call}`",
                    "",
                ]
        lines += ["</div>", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    for id in manyhands.registered():
        for mode in modes(id):
            if id in sys.argv[1:] or not (DOCS / "gallery" / mode.file).exists():
                print(mode.call, flush=True)
                draw(mode)
    (DOCS / "gallery.md").write_text(page())
