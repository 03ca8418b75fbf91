"""The report as one HTML page that needs nothing else.

What players said and what seats are called may be written to mislead or to do harm. So every text
is escaped where it enters the page (`E`), and characters that do not show, or turn the direction of
what follows, are written as their codes (`visible`). The data of replays is JSON in which `<`, `>`
and `&` are escaped, in a block that is never executed; the page's one script puts it on the page as
text. A content security policy allows that script and that style by their hashes, and nothing else:
no other script, no request, no form.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import itertools
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from manyhands.baselines.arena.matrices import Matrix
from manyhands.baselines.arena.ratings import Rating
from manyhands.baselines.arena.replays import replays
from manyhands.baselines.arena.report import (
    BELIEFS,
    OVERALL,
    GameReport,
    Report,
    Row,
    columns_of,
    left_out,
)
from manyhands.baselines.arena.store import Store, record_name
from manyhands.baselines.evaluation.tables import INTERVAL, Estimate
from manyhands.core.env import RecordError
from manyhands.core.files import replace

LARGEST = 4 << 20  # bytes of replays on a page, shared by the cells
# Control and format characters and private ones, except line feeds and tabs: they do not show, or
# change how the text around them shows (Unicode Technical Report 36).
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ue000-\uf8ff"
    "\U000f0000-\U0010ffff]"
)


def visible(text: str) -> str:
    """A text with its hidden characters as codes, such as \\u202e."""
    return _HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], text)


class E(str):
    """HTML: what is marked so is not escaped again."""

    @classmethod
    def of(cls, value: Any) -> E:
        return value if isinstance(value, E) else cls(html.escape(visible(str(value))))


def tag(name: str, *children: Any, **attributes: Any) -> E:
    """An element; texts and attributes are escaped. `class_` is the attribute `class`, `data_v` is
    `data-v`; attributes that are None are left out."""
    parts = [
        f' {key.rstrip("_").replace("_", "-")}="{E.of(value)}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inner = "".join(E.of(child) for child in children)
    return E(f"<{name}{''.join(parts)}>{inner}</{name}>")


def embedded(data: Any) -> E:
    """Data as a block of JSON, which cannot end before its end."""
    text = json.dumps(data, separators=(",", ":"))  # ASCII alone
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return E(f'<script type="application/json" id="data">{text}</script>')


def page(report: Report, count: int = 2) -> str:
    """The page of a report.

    Args:
        count: replays of each line-up of a cell.
    """
    return _page(report, *_data(report, count))


# By game and cell, the number of its replays in the list of all.
_Links = dict[str, dict[tuple[str, str], int]]


def _page(report: Report, data: list[Any], links: _Links, missing: Sequence[str]) -> str:
    season = report.season
    states = ", ".join(f"{n} {what}" for what, n in report.states.items() if n)
    body = [
        tag("h1", f"Season {season.name}"),
        tag(
            "p",
            f"Seed {season.seed}; matches: {states}; {report.seconds:.0f} s of playing. "
            f"{INTERVAL}.",
        ),
        *(tag("p", note, class_="note") for note in (*report.notes(), *missing)),
        tag(
            "nav",
            *(
                tag("a", name, href=f"#{_anchor(number)}")
                for number, name in enumerate((OVERALL, *report.games))
            ),
        ),
        _section(0, OVERALL, _overall(report)),
    ]
    for number, (name, game) in enumerate(report.games.items(), start=1):
        body.append(_section(number, name, _game(game, season.currency, links.get(name, {}))))
    if any(row.beliefs is not None for row in report.overall):
        body.append(tag("p", f"{BELIEFS}.", class_="note"))
    policy = (
        f"default-src 'none'; style-src '{_hash(_STYLE)}'; script-src '{_hash(_SCRIPT)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = [
        E('<meta charset="utf-8">'),
        E(f'<meta http-equiv="Content-Security-Policy" content="{E.of(policy)}">'),
        E('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        E('<meta name="referrer" content="no-referrer">'),
        tag("title", f"Season {season.name}"),
        E(f"<style>{_STYLE}</style>"),
    ]
    dialog = tag("div", id="replay", hidden="", tabindex="-1")
    whole = tag(
        "html",
        tag("head", *head),
        tag("body", tag("main", *body), dialog, embedded(data), E(f"<script>{_SCRIPT}</script>")),
        lang="en",
    )
    return f"<!doctype html>\n{whole}\n"


def save(
    report: Report,
    folder: str | os.PathLike[str] | None = None,
    replays: int = 2,
    say: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write results.json, players.csv, cells.csv and report.html; gives their paths.

    Args:
        folder: by default the season's own.
        replays: of each line-up of a cell on the page; 0 for none.
        say: gets a sentence for each kind of replays that the page lacks, which has it, too.
    """
    data, links, missing = _data(report, replays)
    if say is not None:
        for sentence in missing:
            say(sentence)
    where = Path(report.folder if folder is None else folder)
    files = {"results.json": json.dumps(report.to_dict(), indent=1) + "\n"}
    files |= report.to_csv() | {"report.html": _page(report, data, links, missing)}
    for name, text in files.items():
        replace(where / name, text.encode())
    return [where / name for name in files]


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _anchor(number: int) -> str:
    return f"part-{number}"


def _section(number: int, title: str, children: Sequence[E]) -> E:
    return tag("section", tag("h2", title), *children, id=_anchor(number))


def _data(report: Report, count: int) -> tuple[list[Any], _Links, list[str]]:
    """The replays of all cells, where they are in the list, and sentences about what is left
    out."""
    cells: list[_Cell] = []
    unread: dict[str, list[str]] = {}
    for name, game in report.games.items() if count else ():
        lineups = _lineups(report, name)
        made: dict[int, _Replays] = {}
        for key, played in game.cells.items():
            chosen: dict[tuple[str, ...], int] = {}
            for id in played.matches:  # one match of every line-up
                chosen.setdefault(lineups[id][0], id)
            for seats, id in chosen.items():
                if id not in made:
                    wanted, said = min(count, lineups[id][1]), unread.setdefault(name, [])
                    made[id] = _Replays(report.folder, id, seats, wanted, said)
            # The first of each line-up, then the second ones: what comes last is left out first.
            ranks = itertools.product(range(count), (made[id] for id in chosen.values()))
            queue = [(match, rank) for rank, match in ranks if rank < match.count]
            cells.append(_Cell(name, key, queue))
    while any(cell.queue for cell in cells):
        share = _share([cell.size for cell in cells], LARGEST)
        for cell in cells:
            cell.go_on(share)
    words = [left_out(name, "report.html", said) for name, said in unread.items() if said]
    share = _share([cell.size for cell in cells], LARGEST)
    data: list[Any] = []
    links: _Links = {}
    missing = shortened = 0
    for cell in cells:
        kept, cut = _fitting(cell.found, share)
        missing, shortened = missing + len(cell.found) - len(kept) + cell.skipped, shortened + cut
        if kept:
            links.setdefault(cell.game, {})[cell.key] = len(data)
            row, column = cell.key
            data.append({"game": cell.game, "row": row, "column": column, "replays": kept})
    total = sum(len(cell.found) + cell.skipped for cell in cells)
    if missing or shortened:
        words.append(
            f"The page holds {LARGEST >> 20} MiB of replays, a share for each cell: {missing} of "
            f"{total} are left out, and {shortened} end early. The records hold all of them."
        )
    return data, links, words


class _Replays:
    """The first `count` episodes of a match, each made when it is asked for, as far as its record
    can be read; if not, `unread` gets why."""

    def __init__(self, folder: Path, id: int, seats: Sequence[str], count: int, unread: list[str]):
        self._record, self._seats, self.count = folder / "records" / record_name(id), seats, count
        self._unread, self._found = unread, list[Any]()
        self._rest = self._made()

    def get(self, rank: int) -> Any:
        """The replay of this rank, or None."""
        while len(self._found) <= rank < self.count:
            one = next(self._rest, None)
            if one is None:
                return None
            self._found.append(one)
        return self._found[rank] if rank < self.count else None

    def _made(self) -> Iterator[Any]:
        made = 0
        try:
            for one in replays(self._record, self._seats, self.count):
                made += 1
                yield _shown(one)
            if made < self.count:
                raise RecordError(f"it holds {made} finished episodes, not {self.count}")
        except RecordError as error:
            self._unread.append(f"{self._record.name}: {error}")


@dataclasses.dataclass
class _Cell:
    """A cell of a game's matrix: the replays that it may get, as matches and ranks in them, those
    that it has, how many characters these are, and how many were not made."""

    game: str
    key: tuple[str, str]
    queue: list[tuple[_Replays, int]]
    found: list[Any] = dataclasses.field(default_factory=list)
    size: int = 0
    skipped: int = 0

    def go_on(self, share: float) -> None:
        """Take the next replay, if there is room."""
        if self.size > share:
            self.skipped, self.queue = self.skipped + len(self.queue), []
        elif self.queue:
            match, rank = self.queue.pop(0)
            one = match.get(rank)
            if one is not None:
                self.found.append(one)
                self.size += _size(one)


def _size(replay: Any) -> int:
    return len(embedded(replay))


def _share(sizes: Sequence[int], room: int) -> float:
    """The most that each may have, so that all together have no more than the room: what the small
    ones leave is for the large ones."""
    left = float(room)
    for k, size in enumerate(sorted(sizes)):
        share = left / (len(sizes) - k)
        if size > share:
            return share
        left -= size
    return math.inf


def _fitting(found: Sequence[Any], room: float) -> tuple[list[Any], bool]:
    """The first replays of a cell that fit into its room, and whether the last one is shortened:
    where not even one fits, its first steps stand for it."""
    kept: list[Any] = []
    for one in found:
        room -= _size(one)
        if room < 0:
            break
        kept.append(one)
    if kept or not found:
        return kept, False
    first = dict(found[0])
    room += _size(first) - _size(first | {"steps": []})
    steps: list[Any] = []
    for step in first["steps"]:
        room -= _size(step)
        if room < 0:
            break
        steps.append(step)
    return ([first | {"steps": steps}], True) if steps else ([], False)


def _shown(value: Any) -> Any:
    """Data with all hidden characters visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(key): _shown(one) for key, one in value.items()}
    return [_shown(one) for one in value] if isinstance(value, list) else value


def _lineups(report: Report, game: str) -> dict[int, tuple[tuple[str, ...], int]]:
    """Of each match the player of each agent, and how many episodes."""
    with Store(report.folder) as store:
        rows = store.query("SELECT id, lineup, episodes FROM matches WHERE game = ?", (game,))
    return {id: (tuple(json.loads(lineup)), episodes) for id, lineup, episodes in rows}


# ---- tables --------------------------------------------------------------------------------------


def _table(rows: Sequence[Row], currency: str, overall: bool) -> E:
    columns = columns_of(rows, currency, overall)
    head = tag("tr", *(tag("th", tag("button", one.title, type="button")) for one in columns))
    lines = []
    for row in rows:
        cells = []
        for column in columns:
            value = column.value(row)
            known = value is not None and math.isfinite(value)
            cells.append(tag("td", column.text(row), data_v=f"{value:.9g}" if known else None))
        lines.append(tag("tr", *cells))
    table = tag("table", tag("thead", head), tag("tbody", *lines), class_="sortable")
    return tag("div", table, class_="scroll")


def _overall(report: Report) -> list[E]:
    found = [
        _table(report.overall, report.season.currency, True),
        tag(
            "p",
            "The mean score is over the games that a player played: a share of wins as it is, a "
            "reward on a scale from the lowest score in its game (0) to the highest (1). It "
            "depends on who takes part. Ratings are of the games that are scored by wins.",
            class_="note",
        ),
    ]
    rated = [(row.player, row.bradley_terry) for row in report.overall]
    found += _plot("Bradley-Terry rating, 95 % bootstrap interval over deals", rated)
    matrices = _matrices(report.matrices(), {})
    if matrices:
        note = (
            "Over all games every game counts once, and a cell is over those in which the two met. "
            "Rewards of different games have different units, so that each cell is placed between "
            "the lowest and the highest of its game first."
        )
        found += [*matrices, tag("p", note, class_="note")]
    return found


def _game(game: GameReport, currency: str, links: dict[tuple[str, str], int]) -> list[E]:
    plan = game.plan
    found = [
        tag(
            "p",
            f"{game.about}; {plan.pairing.replace('_', ' ')}, {plan.episodes} deals of each "
            f"line-up; scored by {plan.score}.",
            class_="note",
        ),
        _table(game.rows, currency, False),
    ]
    if plan.score == "wins":
        rated = [(row.player, row.bradley_terry) for row in game.rows]
        found += _plot("Bradley-Terry rating, 95 % bootstrap interval over deals", rated)
    else:
        scores = [(row.player, _rated(row.score)) for row in game.rows]
        found += _plot("Score: mean reward, 95 % interval", scores)
    found += _matrices(game.matrices(), links)
    if game.partners:
        found.append(tag("p", "Columns in italics are held out: they have no row.", class_="note"))
    return found


def _rated(score: Estimate | None) -> Rating | None:
    if score is None:
        return None
    return Rating(score.mean, score.mean - score.margin, score.mean + score.margin)


def _matrices(matrices: Sequence[Matrix], links: dict[tuple[str, str], int]) -> list[E]:
    """Tables with a heading each."""
    found = []
    for matrix in matrices:
        found.append(tag("h3", f"Row with column: {matrix.title}"))
        found.append(_matrix(matrix, links))
    return found


def _matrix(matrix: Matrix, links: dict[tuple[str, str], int]) -> E:
    titles = [
        tag("th", tag("em", name) if name in matrix.partners else name) for name in matrix.columns
    ]
    lines = [tag("tr", tag("th", ""), *titles)]
    for row in matrix.rows:
        cells = []
        for column in matrix.columns:
            entry = matrix.entries.get((row, column))
            if entry is None:
                cells.append(tag("td", ""))
                continue
            number = links.get((row, column))
            inner = (
                entry.text
                if number is None
                else tag("button", entry.text, type="button", data_replay=number)
            )
            heat = f"heat{round(10 * entry.share)}"
            cells.append(tag("td", inner, class_=heat, title=entry.about))
        lines.append(tag("tr", tag("th", row), *cells))
    return tag("div", tag("table", tag("tbody", *lines), class_="matrix"), class_="scroll")


# ---- plots ---------------------------------------------------------------------------------------


def _plot(title: str, rated: Sequence[tuple[str, Rating | None]]) -> list[E]:
    """Points with intervals, a line for each player, as SVG."""
    known = [(name, one) for name, one in rated if one is not None and math.isfinite(one.value)]
    if len(known) < 2:
        return []
    known.sort(key=lambda one: -one[1].value)
    ends = [v for _, one in known for v in (one.low, one.value, one.high) if math.isfinite(v)]
    low, high = min(ends), max(ends)
    room = (high - low) * 0.05 or 1.0
    low, high = low - room, high + room
    left, width, line = 200, 480, 22

    def x(value: float) -> str:
        return f"{left + width * (value - low) / (high - low):.1f}"

    height = line * len(known) + 30
    parts = []
    for tick in _ticks(low, high):
        parts.append(tag("line", x1=x(tick), x2=x(tick), y1=0, y2=height - 24, class_="grid"))
        parts.append(tag("text", f"{tick:g}", x=x(tick), y=height - 8, text_anchor="middle"))
    for k, (name, one) in enumerate(known):
        y = line * k + line / 2
        label = name if len(name) < 28 else f"{name[:27]}…"
        parts.append(tag("text", label, x=left - 10, y=y + 4, text_anchor="end"))
        if math.isfinite(one.low):
            parts.append(tag("line", x1=x(one.low), x2=x(one.high), y1=y, y2=y, class_="range"))
        parts.append(tag("circle", cx=x(one.value), cy=y, r=4, class_="point"))
    size = f"0 0 {left + width + 20} {height}"
    drawn = tag("svg", *parts, viewBox=size, role="img", aria_label=title)
    return [tag("figure", tag("figcaption", title), drawn)]


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high, about six."""
    step = 10 ** math.floor(math.log10((high - low) / 5))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (step * k) <= 7)
    first = math.ceil(low / step)
    return [round(k * step, 10) for k in range(first, math.floor(high / step) + 1)]


_HEAT = "".join(
    f".heat{k}{{background:hsl({round(10 + 14 * k)} 60% var(--heat))}}" for k in range(11)
)
_STYLE = (
    """
:root{color-scheme:light dark;--heat:86%;--ink:#1c1f24;--soft:#667;--line:#d5d8de;--paper:#fff;
--mark:#2060b0}
@media (prefers-color-scheme:dark){:root{--heat:24%;--ink:#e6e8ec;--soft:#9aa2b1;--line:#3a404b;
--paper:#16181d;--mark:#7fb2f0}}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1200px;margin:0 auto;padding:1rem 1.5rem 6rem}
h1{font-size:1.6rem}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}
nav{display:flex;flex-wrap:wrap;gap:.3rem 1rem}a{color:var(--mark)}
.note,figcaption{color:var(--soft)}figure{margin:1rem 0;max-width:760px}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:right;
white-space:nowrap}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--paper)}
button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer}
th button{font-weight:bold}th[aria-sort=ascending] button::after{content:" \\2191"}
th[aria-sort=descending] button::after{content:" \\2193"}
td button{text-decoration:underline dotted}button:focus-visible{outline:2px solid var(--mark)}
svg text{font-size:13px;fill:var(--ink)}svg .grid{stroke:var(--line)}
svg .range{stroke:var(--mark);stroke-width:2}svg .point{fill:var(--mark)}
#replay{position:fixed;inset:auto 0 0 0;max-height:70vh;overflow:auto;padding:1rem 1.5rem;
background:var(--paper);border-top:3px solid var(--mark)}
#replay[hidden]{display:none}#replay .close{float:right;font-weight:bold}
#replay details{margin:.4rem 0}#replay summary{cursor:pointer}
#replay pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2rem 0;padding:.4rem .6rem;
border-left:3px solid var(--line);color:var(--soft);font-size:13px}
#replay p{margin:.1rem 0;overflow-wrap:anywhere}#replay bdi{unicode-bidi:isolate}
#replay .who{color:var(--mark)}#replay .refused{color:#c03030}
"""
    + _HEAT
    + "\n"
)
_SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const box = document.getElementById("replay");
function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}
function move(one) {
  const line = element("p");
  line.append(element("span", one.agent + " (" + one.player + "): ", "who"));
  line.append(element("bdi", one.does));
  if (one.says !== undefined) {
    line.append(" says: ");
    line.append(element("bdi", one.says));
  }
  if (one.refused !== undefined) line.append(element("bdi", " refused: " + one.refused, "refused"));
  if (one.forfeits !== undefined) line.append(element("span", " forfeits", "refused"));
  return line;
}
function played(game) {
  const part = element("details");
  const seats = game.agents.map((agent, k) => agent + ": " + game.players[k]).join(", ");
  const title = "deal " + game.deal + " \\u2014 " + seats + " \\u2014 rewards " +
    game.rewards.join(", ") + ", " + game.length + " steps, " + game.ended;
  part.append(element("summary", title));
  part.addEventListener("toggle", () => {
    if (part.childElementCount > 1) return;
    for (const step of game.steps) {
      if (step.seen !== undefined) part.append(element("pre", step.by + " sees:\\n" + step.seen));
      for (const one of step.moves) part.append(move(one));
      if (step.terms !== undefined) part.append(element("p", "\\u2192 " + step.terms, "note"));
    }
    if (game.length > game.steps.length) {
      part.append(element("p", (game.length - game.steps.length) + " more steps", "note"));
    }
  });
  return part;
}
function show(number) {
  const cell = data[number];
  const close = element("button", "close", "close");
  close.type = "button";
  close.addEventListener("click", () => { box.hidden = true; });
  box.replaceChildren(close, element("h3", cell.game + ": " + cell.row + " with " + cell.column));
  for (const game of cell.replays) box.append(played(game));
  box.hidden = false;
  box.focus();
}
for (const button of document.querySelectorAll("button[data-replay]")) {
  button.addEventListener("click", () => show(Number(button.dataset.replay)));
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") box.hidden = true;
});
function sort(table, column, head) {
  const falls = head.getAttribute("aria-sort") !== "descending";
  for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", falls ? "descending" : "ascending");
  const body = table.tBodies[0];
  const key = (row) => {
    const cell = row.cells[column];
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return cell.textContent;
  };
  const rows = Array.from(body.rows);
  rows.sort((a, b) => {
    const x = key(a), y = key(b);
    if (x === "" || y === "") return (x === "") - (y === "");
    const order = typeof x === "number" && typeof y === "number" ? x - y
      : String(x).localeCompare(String(y));
    return falls ? -order : order;
  });
  body.append(...rows);
}
for (const table of document.querySelectorAll("table.sortable")) {
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    head.firstChild.addEventListener("click", () => sort(table, column, head));
  });
}
"""
