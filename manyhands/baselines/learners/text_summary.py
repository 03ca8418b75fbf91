"""What a run of the text learner came to, in lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def summary(card: Mapping[str, Any], out: str | Path) -> str:
    """What a run came to, in lines: where it is, how long it took, its last numbers by game."""
    names = [_name(spec) for spec in card["games"]]
    minutes = card["seconds"] / 60
    lines = [
        f"text policy for {', '.join(names)}, seed {card['seed']}: {card['cloned']} steps of "
        f"cloning, {card['updates']} updates, {minutes:.1f} minutes",
    ]
    for name, value in card["last"].items():
        # Such as return/0/1, of the first game and the second agent.
        found = re.fullmatch(r"(.*?)(?:/(\d+))?(?:/(\d+))?", name)
        assert found is not None
        label, game, agent = found[1].replace("_", " "), found[2], found[3]
        label += f" in {names[int(game)]}" if game else ""
        label += f", agent {agent}" if agent else ""
        if name not in ("cloned", "update", "game"):
            lines.append(f"  {label}: {value:.4g}")
    return "\n".join([*lines, f"  its seat: text:file={Path(out) / 'policy-0.safetensors'}"])


def _name(spec: Mapping[str, Any]) -> str:
    return f"{_name(spec['env'])} in {spec['id']}" if "env" in spec else str(spec["id"])
