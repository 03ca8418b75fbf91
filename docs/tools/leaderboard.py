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
# The seat that the season leaves out, besides people and what needs a model, a file or other seats.
LEFT_OUT = ("instructor",)

HEAD = """\
# Leaderboard

Players that come with the package, in one season of the [arena](arena.md). Written by
`python docs/tools/leaderboard.py` from
[`benchmarks/results/{file}`](../benchmarks/results/{file}); the season was played on {date}, with
{cores} cores, by

```sh
manyhands solve leduc_holdem --iterations 1000 --out runs/leduc
{command}
```

It holds {part}. Of the package's seats {absent}
plays in none of them: it has a role that no other player can take. Intervals: {interval}.
[The arena](arena.md#the-first-season) says how to read the figures, and how to add a player of your
own.

## Overall

`scaled` is the mean over a player's games: of its share of games won, or, where rewards count, of
its mean reward, from 0 for the worst player of that game to 1 for the best. It compares players of
different games badly: look at a game.
"""


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
        "| Player | Score | With itself | With others | Bradley-Terry | Illegal | Episodes |",
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
        HEAD.format(
            file=SEASON.name,
            command=season["command"].partition(" (")[0],
            date=season["machine"]["date"],
            cores=season["machine"]["cores"],
            part=season["note"].partition(";")[0],
            absent=", ".join(f"`{seat}`" for seat in LEFT_OUT),
            interval=season["interval"],
        ),
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
