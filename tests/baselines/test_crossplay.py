"""Cross-play: the whole matrix, in both orders, saved so that it can be read."""

from __future__ import annotations

import csv
import dataclasses
import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import manyhands
from manyhands.baselines.evaluation import matches
from manyhands.baselines.evaluation.crossplay import CrossPlay, crossplay
from manyhands.baselines.learners.networks import Network, NetworkConfig
from manyhands.baselines.players.network import NetworkPolicy, load, save
from manyhands.cli import main
from manyhands.core.env import ConfigError


@dataclasses.dataclass(frozen=True)
class Always:
    """Takes one action."""

    action: int

    def init(self, env, agent):
        return ()

    def apply(self, env, agent, memory, key, view):
        return jnp.int32(self.action), memory


@pytest.fixture(scope="module")
def env():
    return manyhands.make("kuhn_poker")


@pytest.fixture(scope="module")
def result(env):
    """Kuhn poker: one who always bets takes one who never does for the ante, whoever opens."""
    return crossplay(env, {"bets": Always(1), "folds": Always(0), "random": "random"}, episodes=40)


def test_the_matrix_is_what_the_rules_say(result: Any) -> None:
    assert result.returns.shape == (2, 3, 3, 40)
    assert (result.returns[:, 0, 1] == 1).all() and (result.returns[:, 1, 0] == -1).all()
    # Two who always bet show their cards for two chips, two who never do for one.
    assert set(np.abs(result.returns[:, 0, 0]).ravel()) == {2.0}
    assert set(np.abs(result.returns[:, 1, 1]).ravel()) == {1.0}
    # What one wins in one seat the other loses in the other.
    assert np.array_equal(result.returns[0], -result.returns[1].swapaxes(0, 1))
    assert result.self_play.mean == 0 and result.cross_play.mean == 0


def test_a_cell_is_a_match_of_play(env: Any, result: Any) -> None:
    played = manyhands.play(env, ["random", Always(1)], 40).rewards
    assert np.array_equal(result.returns[0, 2, 0], played[:, 0])
    assert np.array_equal(result.returns[1, 0, 2], played[:, 1])
    cell = result.table(1)[2][0]
    assert cell.mean == pytest.approx(played[:, 0].mean()) and cell.count == 40


def test_more_than_two_agents() -> None:
    env = manyhands.make("kuhn_poker", players=3)
    result = crossplay(env, [Always(1), Always(0)], episodes=4)
    # One who bets against two who fold wins both antes; alone among two who bet it loses its own.
    assert (result.returns[:, 0, 1] == 2).all() and (result.returns[:, 1, 0] == -1).all()
    assert result.names == ("Always #1", "Always #2")


def test_all_pairs_are_one_program(env: Any) -> None:
    before = matches._compile.cache_info().misses
    crossplay(env, [Always(1), Always(0), "random", Always(1)], episodes=3)
    assert matches._compile.cache_info().misses == before + 1


@pytest.mark.slow
def test_networks_from_files_are_one_program(env: Any, tmp_path: Any) -> None:
    """Other parameters, and even the algorithm that trained them, compile nothing anew."""
    shape = NetworkConfig(width=8, layers=1)
    network = Network(shape, 2, head_scale=3.0)
    row = env.perceive(env.reset(jax.random.key(0)))[0]
    x = env.network_input(row)
    files = []
    for number, algorithm in enumerate(("ippo", "mappo", "ippo")):
        weights = network.init(jax.random.key(number), network.start(), x, jnp.bool_(False))
        params = {"network": weights, "mean": 0 * x, "scale": 1 + 0 * x}
        policy = NetworkPolicy(params, shape, "perception", env.spec(), False, algorithm)
        files.append(tmp_path / "runs" / f"seed-{number}" / "policy.safetensors")
        save(files[-1], policy, {})
    first = crossplay(env, [str(file) for file in files[:2]], episodes=30)
    assert first.names == ("seed-0", "seed-1")
    before = matches._compile.cache_info().misses
    with jax.no_tracing():
        second = crossplay(env, {"one": load(files[2]), "two": load(files[1])}, episodes=30)
    assert matches._compile.cache_info().misses == before
    assert np.array_equal(first.returns[:, 1, 1], second.returns[:, 1, 1])
    assert not np.array_equal(first.returns[:, 0, 0], second.returns[:, 0, 0])
    played = manyhands.play(env, [load(files[0]), load(files[1])], 30).rewards
    assert np.array_equal(first.returns[0, 0, 1], played[:, 0])


def test_files(result: Any, tmp_path: Any) -> None:
    paths = {path.suffix: path for path in result.save(tmp_path / "new")}
    rows = list(csv.DictReader(paths[".csv"].open()))
    assert len(rows) == 3 * 9  # all seats, and each of two
    cell = next(r for r in rows if (r["order"], r["row"], r["column"]) ==
                ("row as player_0", "bets", "folds"))  # fmt: skip
    assert float(cell["mean"]) == 1 and float(cell["low"]) == 1 and cell["episodes"] == "40"
    data = json.loads(paths[".json"].read_text())
    assert data["orders"]["row as player_1"][1][0]["mean"] == -1
    assert data["environment"] == result.env.spec() and data["policies"][0] == "bets"
    text = paths[".md"].read_text()
    assert "| bets" in text and "95% t-interval" in text and text.count("row with column") == 3
    import matplotlib.image

    picture = matplotlib.image.imread(paths[".png"])
    assert picture.shape[1] > picture.shape[0] > 200
    assert len(np.unique(picture.reshape(-1, picture.shape[-1]), axis=0)) > 10


def test_mistakes_are_explained(env: Any) -> None:
    with pytest.raises(ConfigError, match="two policies or more, 1 given"):
        crossplay(env, ["random"])
    with pytest.raises(ConfigError, match="nobody to play with"):
        crossplay(manyhands.make("kitchen", chefs=1), ["greedy", "random"])


def test_the_command(capsys: Any, tmp_path: Any) -> None:
    arguments = ["kuhn_poker", "hands=2", "random", "random", "--episodes", "3", "--out"]
    assert main(["crossplay", *arguments, str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "random #2" in out and "hands=2" in out and str(tmp_path / "crossplay.png") in out
    assert (tmp_path / "crossplay.png").read_bytes()[:4] == b"\x89PNG"
    before = (tmp_path / "crossplay.json").read_bytes()
    arguments[5] = "4"
    assert main(["crossplay", *arguments, str(tmp_path)]) == 2  # tables may be of hours of play
    assert "--overwrite" in capsys.readouterr().err
    assert (tmp_path / "crossplay.json").read_bytes() == before
    assert main(["crossplay", *arguments, str(tmp_path), "--overwrite"]) == 0
    assert (tmp_path / "crossplay.json").read_bytes() != before
    assert main(["crossplay", "kuhn_poker", "random", "--out", str(tmp_path / "new")]) == 2
    assert "two policies or more" in capsys.readouterr().err


def test_a_picture_of_one_value() -> None:
    """Where all policies score the same there is still something to see."""
    env = manyhands.make("kuhn_poker")
    flat = CrossPlay(env, 0, ("a", "b"), np.zeros((2, 2, 2, 1)))
    assert flat.heat_map()[:4] == b"\x89PNG"
