"""docs/leaderboard.md from the season that is kept in benchmarks/results.

    python docs/tools/leaderboard.py          # writes the page
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SEASON = ROOT / "benchmarks" / "results" / "arena-first.json"
PAGE = ROOT / "docs" / "leaderboard.md"


def number(value: float | None) -> str:
    """Three significant digits; what was not measured is empty."""
    return "" if value is None else f"{value + 0.0:.3g}".replace("e+0", "e")


def mean(score: dict[str, Any] | None) -> str:
    """A mean with its interval."""
    if not score:
        return ""
    return f"{number(score['mean'])} ({number(score['low'])} to {number(score['high'])})"


def rating(row: dict[str, Any] | None) -> str:
    return "" if not row or row["value"] is None else f"{row['value']:.0f}"


def game(name: str, season: dict[str, Any]) -> list[str]:
    """The section of one game, its best player first."""
    options = ", ".join(f"{k}={json.dumps(v)}" for k, v in season["environment"]["config"].items())
    wins = season["score"] == "wins"
    rows = sorted(season["players"], key=lambda row: -row["score"]["mean"])
    lines = [
        f"### {name}",
        "",
        f"`{season['environment']['id']}`"
        + (f", `{options}`" if len(options) < 200 else "")
        + f"; {'share of games won' if wins else 'mean reward'}, {season['pairing']}, "
        f"{season['episodes']} deals a line-up.",
        "",
        "| Player | Score (95 %) | With itself | With others | Bradley-Terry | Illegal | Episodes |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [
            f"`{row['player']}`",
            mean(row["score"]),
            mean(row["with_itself"]),
            mean(row["with_others"]),
            rating(row["bradley_terry"]),
            f"{row['illegal']:.1%}",
            f"{row['episodes']:,}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def page() -> str:
    season = json.loads(SEASON.read_text())
    games, overall = season["games"], season["overall"]
    lines = [
        "# Leaderboard",
        "",
        "The players that come with the package, in one season of the [arena](arena.md). This page is",
        "written by `python docs/tools/leaderboard.py` from",
        f"[`benchmarks/results/{SEASON.name}`](../benchmarks/results/{SEASON.name}); the season was",
        "played by",
        "",
        "```sh",
        season["command"].partition(" (")[0],
        "```",
        "",
        f"on {season['machine']['date']}, with {season['machine']['cores']} cores. It holds "
        f"{season['matches']['done']} matches, {season['note'].partition(' matches;')[0]}.",
        f"Intervals: {season['interval']}. [The arena](arena.md#the-first-season) says how to read",
        "them, and how to add a player of your own.",
        "",
        "## Overall",
        "",
        "`scaled` is the mean over games of the score on the scale from the worst player of a game, 0,",
        "to its best, 1. Players that played few games are listed all the same: compare players within",
        "a game.",
        "",
        "| Player | Games | Episodes | Decisions | Scaled | Illegal |",
        "|---|---|---|---|---|---|",
    ]
    for row in sorted(overall, key=lambda row: (-row["scaled"], row["player"])):
        lines.append(
            f"| `{row['player']}` | {row['games']} | {row['episodes']:,} | {row['decisions']:,} "
            f"| {number(row['scaled'])} | {row['illegal']:.1%} |"
        )
    lines += ["", "## By game", ""]
    for name, played in games.items():
        lines += game(name, played)
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
