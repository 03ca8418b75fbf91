"""The glossary names every term and metric of every environment, and no other."""

import dataclasses
import re
from pathlib import Path

import jax
import pytest

import manyhands
from manyhands.core.episode import EpisodeResult
from manyhands.core.rollout import Statistics

PAGE = (Path(__file__).parents[1] / "docs" / "glossary.md").read_text()

CASES = {
    "kitchen": [{}, {"layout": "grounded_coord_simple", "dynamics": "manual"}],
    "tic_tac_toe": [{}],
    "connect_four": [{}],
    "kuhn_poker": [{}],
    "leduc_holdem": [{}],
    "negotiation": [
        {"scenario": "deal_or_no_deal"},
        {"scenario": "trade"},
        {"scenario": "buy_sell"},
        {"scenario": "ultimatum"},
        {"scenario": "divide"},
        {"scenario": "commons"},
        {"scenario": "donor"},
    ],
    "volleyball": [
        {"task": "1v1"},
        {"task": "3v3"},
        {"task": "back_and_forth"},
        {"task": "hit"},
        {"task": "solo_bump"},
        {"task": "bump_and_pass"},
        {"task": "set_and_spike_hard"},
    ],
    "drones": [{}, {"task": "pursuit"}],
    "mission": [
        {},
        {"scenario": "warehouse"},
        *({"scenario": name} for name in ("pursuit", "tag", "flag", "hide_and_seek", "maze_pair")),
        *({"scenario": name} for name in ("capture", "escape", "door_key", "harvest", "cleanup")),
        *({"scenario": name} for name in ("coins", "mining", "rendezvous")),
    ],
    "cuisine": [{}],
    "home": [{}, {"task": "house"}, {"task": "transport"}, {"task": "follow"}],
    "craftworld": [{"rules": "crafter"}, {"rules": "craftax_classic"}],
}


def table(title: str, head: str) -> set[str]:
    """The names in the first column of the table under a heading."""
    section = re.search(rf"^### {re.escape(title)}\n(.*?)(?=^#)", PAGE, re.M | re.S)
    assert section, f"docs/glossary.md has no section {title!r}"
    rows = re.search(rf"^\| {head} \|.*\n((?:\|.*\n)*)", section[1], re.M)
    if not rows:
        return set()
    return {
        name for row in rows[1].splitlines() for name in re.findall("`(.*?)`", row.split("|")[1])
    }


def title_of(id: str) -> str:
    (title,) = (t for t in re.findall(r"^### (.*)$", PAGE, re.M) if id in t.split(", "))
    return title


def names(env: manyhands.Env) -> tuple[set[str], set[str]]:
    """(terms, metrics) of a step; nothing is compiled."""
    key = jax.random.key(0)
    state = jax.eval_shape(env.reset, key)
    actions = jax.ShapeDtypeStruct((env.num_agents, *env.action_space.shape), "int32")
    if jax.numpy.issubdtype(env.action_space.dtype, jax.numpy.floating):
        actions = jax.ShapeDtypeStruct(actions.shape, "float32")
    _, outcome = jax.eval_shape(env.step, key, state, actions)
    return set(outcome.terms), set(outcome.metrics)


def test_every_environment_has_a_case():
    shipped = {id for id in manyhands.registered() if not id.startswith("test-")}
    assert shipped == set(CASES)


@pytest.mark.parametrize("id", CASES)
def test_terms_and_metrics_of_environments(id):
    found = [names(manyhands.make(id, **options)) for options in CASES[id]]
    title = title_of(id)
    assert set().union(*(terms for terms, _ in found)) == table(title, "Term")
    metrics = set().union(*(metrics for _, metrics in found))
    assert metrics == table(title, "Metric") | table("Every environment", "Metric")


def test_terms_and_metrics_of_wrappers():
    kitchen, court = manyhands.make("kitchen"), manyhands.make("volleyball")
    added_terms, added_metrics = set(), set()
    wrapped = ("chat", kitchen), ("skills", kitchen), ("events", court), ("retries", kitchen)
    for wrapper, env in wrapped:
        inner, outer = names(env), names(manyhands.make(wrapper, env=env))
        added_terms |= outer[0] - inner[0]
        added_metrics |= outer[1] - inner[1]
    assert added_terms == table("chat, skills, events, retries", "Term")
    assert added_metrics == table("chat, skills, events, retries", "Metric")


@pytest.mark.parametrize(
    ("title", "result"), [("Episode results", EpisodeResult), ("Rollout statistics", Statistics)]
)
def test_fields_of_results(title, result):
    assert {field.name for field in dataclasses.fields(result)} == table(title, "Field")
