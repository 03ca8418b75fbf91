"""The page of each game in docs/: the same headings everywhere, the options that there are with
their true defaults, and the observation as it is declared."""

import ast
import inspect
import itertools
import re
from pathlib import Path
from typing import Any

import pytest

import manyhands
from manyhands.core import registry

DOCS = Path(__file__).parents[1] / "docs"
# Page -> the games on it.
PAGES = {
    "kitchen": ["kitchen"],
    "board": ["tic_tac_toe", "connect_four"],
    "poker": ["kuhn_poker", "leduc_holdem"],
    "negotiation": ["negotiation"],
    "volleyball": ["volleyball"],
    "drones": ["drones"],
    "craftworld": ["craftworld"],
    "mission": ["mission"],
    "cuisine": ["cuisine"],
    "home": ["home"],
}
HEADINGS = [
    "At a glance",
    "Text sample",
    "Picture",
    "Rules",
    "Options",
    "Observations",
    "Rewards and metrics",
    "Scores",
    "Speed",
    "Differences from the original",
]
# Page -> environments whose `observation_layout.table()` stands on it.
TABLES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "kitchen": [
        ("kitchen", {}),
        ("kitchen", {"observation": "features"}),
        ("kitchen", {"observation": "routes"}),
        ("kitchen", {"layout": "grounded_coord_simple"}),
    ],
    "board": [("tic_tac_toe", {})],
    "poker": [("leduc_holdem", {"hands": 2})],
    "mission": [
        ("mission", {}),
        ("mission", {"observation": "grid"}),
        ("mission", {"scenario": "warehouse"}),
        ("mission", {"scenario": "warehouse", "observation": "grid"}),
        ("mission", {"scenario": "warehouse", "observation": "whole"}),
        ("mission", {"scenario": "pursuit"}),
        ("mission", {"scenario": "cleanup"}),
        ("mission", {"scenario": "hide_and_seek", "observation": "grid"}),
    ],
    "cuisine": [("cuisine", {})],
    "drones": [("drones", {}), ("drones", {"task": "pursuit"})],
    "home": [("home", {})],
}


def text(page: str) -> str:
    return (DOCS / f"{page}.md").read_text()


def section(page: str, heading: str) -> str:
    """What stands below a heading, without code."""
    plain = re.sub(r"```.*?```", "", text(page), flags=re.DOTALL)
    return plain.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def options(page: str, id: str) -> dict[str, Any]:
    """Option -> default, by the first table below "Options". Its column of defaults is called
    "Default", or by the game's id where there are several; an empty cell is no option of it."""
    lines = itertools.dropwhile(lambda line: line[:1] != "|", section(page, "Options").split("\n"))
    rows = [line.strip("|").split("|") for line in itertools.takewhile(bool, lines)]
    head, _, *body = [[cell.strip().strip("`") for cell in row] for row in rows]
    column = head.index("Default" if "Default" in head else id)
    return {row[0]: ast.literal_eval(row[column]) for row in body if row[column]}


def defaults(id: str) -> dict[str, Any]:
    """Option -> default by the signature of the class."""
    parameters = inspect.signature(registry.load(id)).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is not p.VAR_KEYWORD}


def test_every_game_has_a_page():
    games = {id for id in manyhands.registered() if not id.startswith("test-")}
    assert games == {id for ids in PAGES.values() for id in ids}


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_the_same_headings(page):
    plain = re.sub(r"```.*?```", "", text(page), flags=re.DOTALL)
    assert re.findall(r"^## (.*)$", plain, re.MULTILINE) == HEADINGS


@pytest.mark.parametrize(("page", "id"), [(page, id) for page in PAGES for id in PAGES[page]])
def test_options_are_those_of_the_class(page, id):
    assert options(page, id) == defaults(id)
    documented = " ".join(kind.__doc__ or "" for kind in registry.load(id).__mro__[:2])
    assert [name for name in defaults(id) if not re.search(rf"\b{name}\b", documented)] == []


@pytest.mark.parametrize("page", TABLES)
def test_observations_are_those_declared(page):
    shown = section(page, "Observations")
    for id, config in TABLES[page]:
        layout = manyhands.make(id, **config).observation_layout
        missing = [line for line in layout.table().splitlines() if line not in shown]
        assert not missing, "\n".join(missing)
