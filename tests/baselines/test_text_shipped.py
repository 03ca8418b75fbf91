"""The text policy in the package: its file, and what it still reaches."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import manyhands
from manyhands.baselines.game_theory import policies as tables
from manyhands.baselines.learners.text_lessons import tabulate, views_of
from manyhands.baselines.players import text_policy as words
from manyhands.core.env import ConfigError, PolicyError, SeatError
from manyhands.core.episode import Game

FILE = Path(str(resources.files("manyhands"))) / "assets" / "policies" / "text"
SHIPPED = FILE / "shipped.safetensors"
TRADE = FILE / "negotiation.safetensors"


def test_it_is_small_and_says_what_it_reached():
    assert SHIPPED.stat().st_size < 5e6
    scores = json.loads(SHIPPED.with_suffix(".json").read_text())["scores"]
    assert {"kuhn_poker", "tic_tac_toe", "kitchen"} <= scores.keys()
    assert TRADE.stat().st_size < 1e6
    assert "trade" in json.loads(TRADE.with_suffix(".json").read_text())["scores"]


def test_it_has_a_network_for_each_game():
    for game in ("kuhn_poker", "tic_tac_toe", "kitchen"):
        model, games = words.load(SHIPPED, game)
        assert model.tokenizer.size <= model.shape.vocabulary and games
    with pytest.raises(PolicyError, match="not for leduc_holdem"):
        manyhands.seat("text:file=shipped", manyhands.make("leduc_holdem"))


def test_it_plays_what_it_was_trained_on():
    kitchen = manyhands.make("kitchen", layout="cramped_room")
    ring = manyhands.make("skills", env=manyhands.make("kitchen", layout="coordination_ring"))
    for env, words_ in (
        (manyhands.make("negotiation", scenario="divide"), ["'trade'", "'divide'"]),
        (
            manyhands.make("tic_tac_toe", rows=4, columns=4, connect=4),
            ["connect=3", "rows=3", "rows=4"],
        ),
        (manyhands.make("kuhn_poker", players=3), ["players=2", "players=3"]),
        (manyhands.make("kuhn_poker", hands=20), ["hands=1", "hands=20"]),
        (kitchen, ["for kitchen in skills", "not for kitchen:"]),
        (ring, ["layout='cramped_room'", "layout='coordination_ring'"]),
        (manyhands.make("chat", env=manyhands.make("kuhn_poker")), ["kuhn_poker in chat"]),
    ):
        with pytest.raises(PolicyError) as caught:
            manyhands.seat("text:file=shipped", env)
        assert all(word in str(caught.value) for word in words_), str(caught.value)
    shorter = manyhands.make("kitchen", layout="cramped_room", max_steps=120)
    assert manyhands.seat("text:file=shipped", manyhands.make("skills", env=shorter))


@pytest.mark.parametrize(
    "option",
    ["constrained=maybe", "greedy=maybe", "policy=5", "patience=-1", "patience=x", "skills=maybe"],
)
def test_its_options_are_checked(option):
    name, _, value = option.partition("=")
    with pytest.raises(ConfigError, match=f"^{name} .*{value}"):
        manyhands.seat(f"text:file=shipped,{option}", manyhands.make("kuhn_poker"))


def test_its_offers_are_kept_to_legal_ones_unless_it_is_to_write_freely():
    trade = manyhands.make("negotiation", scenario="trade")
    assert manyhands.seat("text:file=shipped", trade).constrained
    assert not manyhands.seat("text:file=shipped,constrained=false", trade).constrained
    assert not manyhands.seat("text:file=shipped", manyhands.make("kuhn_poker")).constrained
    result = manyhands.play(trade, "text:file=shipped", 6, seed=5, progress=False)
    assert result.refused(0)[0] == result.refused(1)[0] == 0
    # It still reads the texts as when it was learned: otherwise what it offers is legal, and silly.
    assert result.seat_rewards.mean() > 5


def test_without_a_file_it_says_at_set_up_what_it_plays():
    with pytest.raises(SeatError, match=r"(?s)kitchen.*volleyball.*home.*KuhnPoker"):
        manyhands.seat("text", manyhands.make("kuhn_poker"))
    with pytest.raises(ConfigError, match=r"^file .*5"):
        manyhands.seat("text:file=5", manyhands.make("kuhn_poker"))


def test_kuhn_poker():
    env = manyhands.make("kuhn_poker")
    tree = tables.tree_of(env)
    table, mass = tabulate(words.load(SHIPPED, "kuhn_poker")[0], tree, views_of(tree))
    assert tables.exploitability(tree, table) <= 0.10
    assert mass.min() > 0.99


@pytest.mark.parametrize(("other", "most"), [("random", 0.06), ("perfect", 0.2)])
def test_tic_tac_toe(other, most):
    """60 matches: fewer lost than three standard errors more than what is promised."""
    env = manyhands.make("tic_tac_toe")
    result = manyhands.play(
        env, ["text:file=shipped,policy=false", other], 60, 3, rotate=True, progress=False
    )
    own = result.seat_rewards[:, 0]
    assert (own < 0).mean() <= most
    assert result.refused(0)[0] <= 6
    assert np.isfinite(own).all()


def test_the_kitchen_by_skills_still_reads_as_when_it_was_learned():
    """A text that changed is another language to so small a network: every answer was refused."""
    env = manyhands.make("skills", env=manyhands.make("kitchen", layout="cramped_room"))
    player = manyhands.seat("text:file=shipped,policy=false", env)
    game = Game(env, 0)
    for _ in range(16):
        replies = player.act([game.views[i] for i in game.asked()])
        skills = [env.parse(r.action, game.frame.state, i) for i, r in enumerate(replies)]
        game.make(np.array(skills))
    assert game.metrics["illegal"] == 0 and game.metrics["skills_done"] > 2


@pytest.mark.slow
def test_the_kitchen_by_skills():
    env = manyhands.make("skills", env=manyhands.make("kitchen", layout="cramped_room"))
    result = manyhands.play(env, "text:file=shipped,policy=false", 1, 4, progress=False)
    assert result.seat_rewards.mean() >= 120
