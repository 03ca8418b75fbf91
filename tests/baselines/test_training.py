"""Training: a learner that costs nothing, and all that can happen to a run of it."""

from __future__ import annotations

import dataclasses
import errno
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from manyhands.baselines.learners import results, runs, training
from manyhands.baselines.learners.networks import Network, NetworkConfig, actions_of
from manyhands.baselines.learners.ppo import PPO, PPOConfig
from manyhands.baselines.learners.presets import PRESETS
from manyhands.baselines.players import network as policies
from manyhands.cli import main
from manyhands.cli.train import training_jobs
from manyhands.core.env import ConfigError, Env, TrainingError, state_dataclass
from manyhands.core.registry import register

UPDATES, PER_REPORT = 11, 2  # so that the last interval is a short one
TRACES: list[int] = []


@state_dataclass
class TossState:
    time: jax.Array


class Toss(Env[TossState]):
    """Every step earns one, and is the last of the episode with a chance of one in four."""

    id = "test-toss"
    agents = ("heads", "tails")
    terms = ("step",)
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(0, 255, (3,), np.uint8)

    def __init__(self, max_steps=6):
        self.max_steps, self.reward_weights = max_steps, {"step": 1.0}

    def config(self):
        return {"max_steps": self.max_steps}

    def reset(self, key):
        return TossState(jnp.int32(0))

    def step(self, key, state, actions):
        time, ones = state.time + 1, jnp.ones(2)
        over = jax.random.uniform(key, ()) < 0.25
        metrics = {"tosses": jnp.float32(1), "illegal": jnp.float32(0)}
        late = time >= self.max_steps
        return TossState(time), self.outcome(
            {"step": ones}, (ones > 0) & over, (ones > 0) & late & ~over, metrics
        )

    def observe(self, state):
        return jnp.full((2, 3), state.time, jnp.uint8)

    def legal(self, state):
        return jnp.ones((2, 2), bool)

    def acting(self, state):
        return jnp.ones(2, bool)

    def choices(self, state, agent):
        return ["heads", "tails"]

    def draw(self, state, canvas, agent=None):
        canvas.fill((40 * int(state.time) % 256, 90, 90))


class Jump(Toss):
    """Toss by another name."""

    id = "test-jump"


register("test-toss", "test_training:Toss")
register("test-jump", "test_training:Jump")


@dataclasses.dataclass(frozen=True)
class DriftConfig:
    total_steps: int = 4 * UPDATES
    num_envs: int = 4
    rate: float = 0.1
    odd_seeds_diverge: int = 0
    pairs: tuple[tuple[str, float], ...] = ()


@state_dataclass
class DriftProgress:
    params: dict
    key: jax.Array
    seed: jax.Array
    count: jax.Array
    scale: jax.Array


@dataclasses.dataclass(frozen=True)
class Drift:
    """Learns nothing: parameters drift at random. Every other update finishes no episode."""

    env: Env
    config: DriftConfig = DriftConfig()
    name = "drift"
    steps_per_update = 4

    @property
    def num_updates(self):
        return self.config.total_steps // 4

    def _network(self):
        return Network(NetworkConfig(4, 1), actions_of(self.env.action_space).size)

    def init(self, key):
        row = self.env.perceive(self.env.reset(key))[0]
        x = self.env.network_input(row)
        network = self._network()
        params = network.init(key, network.start(), x, jnp.bool_(False))
        return DriftProgress(
            params={"network": params, "mean": jnp.zeros_like(x), "scale": jnp.ones_like(x)},
            key=key,
            seed=jax.random.key_data(key)[-1],
            count=jnp.int32(0),
            scale=jax.lax.full((), 1.0) * 2,
        )

    def update(self, progress):
        TRACES.append(1)
        key, draw = jax.random.split(progress.key)
        noise = self.config.rate * jax.random.normal(draw)
        params = jax.tree.map(lambda leaf: leaf + noise, progress.params)
        count = progress.count + 1
        bad = (self.config.odd_seeds_diverge == count) & (progress.seed % 2 == 1)
        none = count % 2 == 0
        metrics = {
            "return": jnp.where(none, jnp.nan, count + noise),
            "episodes": jnp.where(none, 0.0, count.astype(jnp.float32)),
            "length": jnp.where(none, jnp.nan, 6.0),
            "metrics/soups": jnp.where(none, jnp.nan, noise),
            "entropy": noise,
            "loss": jnp.where(bad, jnp.inf, noise**2),
        }
        return DriftProgress(params, key, progress.seed, count, progress.scale), metrics

    def policy(self, progress):
        params = jax.device_get(progress.params)
        config = NetworkConfig(4, 1)
        return policies.NetworkPolicy(params, config, "perception", self.env.spec(), False, "drift")


@pytest.fixture(scope="module")
def learner():
    return Drift(Toss())


def go(learner, out, seeds=2, **options):
    given = {"updates_per_report": PER_REPORT, "checkpoint_minutes": 0, "episodes": 8}
    return training.train(learner, seeds, out, **{**given, "progress": False, **options})


@pytest.fixture(scope="module")
def whole(learner, tmp_path_factory):
    """A run that nothing happened to."""
    out = tmp_path_factory.mktemp("training") / "whole"
    reports = []
    result = go(learner, out, report=reports.append, command="manyhands train drift")
    return result, reports


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch):
    """They take most of the time of a run that costs nothing; `whole` has made some by now."""
    with monkeypatch.context() as patch:
        patch.setattr(training, "plot", lambda *_: b"")
        patch.setattr(training, "render_gif", lambda *_: None)
        yield


def learned(out):
    """The bytes of what a run learned, the last checkpoint included."""
    files = sorted(out.glob("policy-*.safetensors"))
    tensors, _ = policies.read_tensors(max((out / "checkpoints").iterdir()))
    return [file.read_bytes() for file in files], {k: v.tobytes() for k, v in tensors.items()}


def checkpoints(out):
    return sorted(file.name for file in (out / "checkpoints").iterdir())


# ---- what comes out ------------------------------------------------------------------------------


def test_a_run_leaves_everything_in_its_folder(whole, learner):
    result, _ = whole
    out = result.out
    assert (out / "curve.png").read_bytes()[:4] == b"\x89PNG"
    assert (out / "episode.gif").read_bytes()[:4] == b"GIF8"
    assert checkpoints(out) == ["update-000000010.safetensors", "update-000000011.safetensors"]
    assert not list(out.glob(".[!l]*"))  # nothing half-written, only the lock
    about = json.loads((out / "run.json").read_text())
    assert about["environment"] == json.loads(learner.env.spec_json())
    assert about["settings"]["rate"] == 0.1 and about["seeds"] == [0, 1]
    assert about["versions"]["jax"] == jax.__version__
    card = json.loads((out / "policy-1.json").read_text())
    assert card["seed"] == 1 and card["steps"] == 4 * UPDATES
    assert card["command"] == "manyhands train drift"
    assert card["score"]["return"] == result.scores[1].mean
    assert card["seconds"] > 0 and card["score"]["episodes"] == 8
    again = policies.load(out / "policy-1.safetensors", learner.env)
    assert again.spec == learner.env.spec()
    np.testing.assert_array_equal(again.params["mean"], result.policies[1].params["mean"])


def test_seeds_train_as_if_alone(whole, learner):
    """The same as a plain loop of each seed's own updates."""
    (result, reports), update = whole, jax.jit(learner.update)
    for i, seed in enumerate((0, 1)):
        progress, values = learner.init(jax.random.key(seed)), []
        for _ in range(UPDATES):
            progress, metrics = update(progress)
            values.append(metrics)
        shift = progress.params["mean"]
        np.testing.assert_allclose(result.policies[seed].params["mean"], shift, rtol=1e-5)
        for at, first in zip(reports, range(0, UPDATES, 2), strict=True):
            # Of two updates one finishes episodes, and its mean is the mean.
            np.testing.assert_allclose(at.metrics["return"][i], values[first]["return"], rtol=1e-5)
            assert at.metrics["episodes"][i] == first + 1
            part = [float(v["entropy"]) for v in values[first : first + 2]]
            np.testing.assert_allclose(at.metrics["entropy"][i], np.mean(part), rtol=1e-4)
    assert [at.update for at in reports] == [2, 4, 6, 8, 10, 11]
    assert reports[-1].steps == 44 and reports[-1].seconds_left == 0


def test_means_are_weighted_by_episodes():
    nan = np.nan
    rows = {
        "return": np.array([[1.0, nan], [4.0, nan]]),
        "episodes": np.array([[1.0, 0.0], [2.0, 0.0]]),
        "loss": np.array([[1.0, nan], [4.0, 2.0]]),
    }
    means = training._means(rows)
    np.testing.assert_array_equal(means["return"], [3.0, nan])
    np.testing.assert_array_equal(means["loss"], [2.5, 2.0])
    np.testing.assert_array_equal(means["episodes"], [3.0, 0.0])


def test_the_logs_say_the_same(whole):
    result, reports = whole
    lines = training.read_curve(result.out / "curve.jsonl")
    assert [line["update"] for line in lines] == [2, 4, 6, 8, 10, 11]
    for line, at in zip(lines, reports, strict=True):
        assert line == json.loads(json.dumps(at.line()))
    for i, seed in enumerate((0, 1)):
        events = EventAccumulator(str(result.out / "tensorboard" / f"seed-{seed}")).Reload()
        scalars = events.Scalars("return")
        assert [scalar.step for scalar in scalars] == [line["steps"] for line in lines]
        means = [line["metrics"]["return"][i] for line in lines]
        np.testing.assert_allclose([scalar.value for scalar in scalars], means, rtol=1e-6)
        assert "metrics/soups" in events.Tags()["scalars"]


def test_one_program_for_the_whole_run(learner, tmp_path):
    """Nothing is traced or compiled after the first report, and nothing but the means is fetched:
    the loop itself runs under JAX's transfer guard, which an upload would trip."""
    compiled, at_first = [], []

    def listen(event, seconds, **_):
        if "compile" in event:
            compiled.append(event)

    def report(at):
        if not at_first:
            TRACES.clear()
            compiled.clear()
        at_first.append((len(TRACES), len(compiled)))

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        TRACES.clear()
        go(learner, tmp_path, report=report, checkpoint_minutes=60)
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert at_first == [(0, 0)] * 6
    assert compiled  # evaluation compiles: the listener listens


def test_a_score_counts_every_episode_once(learner):
    """Episodes of Toss last as long as they earn: 1 + 3/4 + ... + (3/4)^5 steps on average. Were
    the short ones that fit twice into the time counted twice, it would be less."""
    policy = learner.policy(learner.init(jax.random.key(0)))
    score = training.Evaluation(learner.env, policy, 1024)(policy, jax.random.key(0))
    expected = sum(0.75**k for k in range(6))
    assert score.episodes == 1024 and score.mean == score.length == score.metrics["tosses"]
    assert abs(score.mean - expected) < 4 * score.standard_error
    assert 1.8 / 32 < score.standard_error < 2.0 / 32  # their deviation is 1.9
    np.testing.assert_array_equal(score.by_agent, [score.mean] * 2)


@pytest.mark.parametrize("episodes", [0, 10_000_000_000, 1.5])
def test_a_number_of_episodes_that_no_memory_holds_is_refused_at_once(learner, tmp_path, episodes):
    with pytest.raises(ConfigError, match="episodes is a whole number from 1 to 1000000"):
        training.train(learner, 1, tmp_path / "run", episodes=episodes)
    assert not (tmp_path / "run").exists()


def test_long_episodes_are_evaluated_piece_by_piece(learner, monkeypatch):
    policy = learner.policy(learner.init(jax.random.key(0)))
    at_once = training.Evaluation(learner.env, policy, 16)(policy, jax.random.key(0))
    monkeypatch.setattr(results, "_BLOCK", 1)
    in_pieces = training.Evaluation(learner.env, policy, 16)(policy, jax.random.key(0))
    assert dataclasses.asdict(at_once).pop("mean") == in_pieces.mean


def test_the_summary_says_who_was_best(whole):
    result, _ = whole
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(training.summary(result))
    text = console.export_text()
    assert "(best)" in text and "policy-1.safetensors" in text and "44 steps" in text


# ---- stopping and going on -----------------------------------------------------------------------


class Killed(BaseException):
    """As if the process were gone: nothing is rescued."""


def killer(update):
    def report(at):
        if at.update == update:
            raise Killed

    return report


@pytest.mark.parametrize("update", [2, 6, 10])
def test_killed_and_resumed_it_ends_the_same(whole, learner, tmp_path, monkeypatch, update):
    with monkeypatch.context() as patch:
        patch.setattr(training.Run, "rescue", lambda run: None)
        with pytest.raises(Killed):
            go(learner, tmp_path, report=killer(update))
    before = len(training.read_curve(tmp_path / "curve.jsonl"))
    assert before == update // 2
    with open(tmp_path / "curve.jsonl", "ab") as file:
        file.write(b'{"update": 9')  # and it was writing
    (tmp_path / "checkpoints").mkdir(exist_ok=True)
    (tmp_path / "checkpoints" / ".update-000000004.safetensors.x").write_bytes(b"half")
    (tmp_path / ".notes.txt").write_text("mine")
    resumed = go(learner, tmp_path, resume=True)
    assert learned(tmp_path) == learned(whole[0].out)
    assert resumed.scores[1].mean == whole[0].scores[1].mean
    assert len(checkpoints(tmp_path)) == 2
    assert (tmp_path / ".notes.txt").exists()
    theirs = training.read_curve(whole[0].out / "curve.jsonl")
    ours = training.read_curve(tmp_path / "curve.jsonl")
    assert [line["metrics"] for line in ours] == [line["metrics"] for line in theirs]
    assert sorted(line["seconds"] for line in ours) == [line["seconds"] for line in ours]
    events = EventAccumulator(str(tmp_path / "tensorboard" / "seed-1")).Reload()
    steps = [scalar.step for scalar in events.Scalars("return")]
    assert steps == [8, 16, 24, 32, 40, 44]


def test_an_error_leaves_a_checkpoint_of_where_it_happened(learner, whole, tmp_path):
    def report(at):
        if at.update == 6:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        go(learner, tmp_path, report=report, checkpoint_minutes=60)
    assert checkpoints(tmp_path) == ["update-000000006.safetensors"]
    go(learner, tmp_path, resume=True)
    assert learned(tmp_path) == learned(whole[0].out)


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_signals_stop_it_after_a_checkpoint(learner, tmp_path, capsys, number, error):
    def report(at):
        if at.update == 4:
            signal.raise_signal(number)

    handler = signal.getsignal(number)
    with pytest.raises(error) as stopped:
        go(learner, tmp_path, report=report, checkpoint_minutes=60, progress=None)
    assert signal.getsignal(number) is handler
    assert checkpoints(tmp_path) == ["update-000000004.safetensors"]
    assert "after update 4 of 11" in capsys.readouterr().err
    if error is SystemExit:
        assert stopped.value.code == 143
    assert go(learner, tmp_path, resume=True).steps == 44


CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
import test_training as t
print("ready", flush=True)
t.go(t.Drift(t.Toss()), sys.argv[2], resume=True, report=lambda at: t.time.sleep(0.05))
"""


@pytest.mark.slow
def test_a_process_killed_at_any_moment_can_be_resumed(learner, whole, tmp_path):
    """kill -9 after ever more reports, wherever it is then, until it comes through."""
    out, deaths = tmp_path / "run", 0
    for lines in (1, 2, 4, 5, 6, 99):
        command = [sys.executable, "-c", CHILD, str(Path(__file__).parent), str(out)]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        curve = out / "curve.jsonl"
        while child.poll() is None:
            if curve.exists() and curve.read_bytes().count(b"\n") >= lines:
                time.sleep(0.01 * lines)
                child.kill()
                deaths += 1
                break
            time.sleep(0.002)
        child.wait()
    assert child.returncode == 0 and deaths >= 3
    assert learned(out) == learned(whole[0].out)


@pytest.mark.slow
def test_a_real_learner_goes_on_bit_for_bit(tmp_path):
    """PPO, with its optimiser, environments and keys."""
    config = PPOConfig(total_steps=128, num_envs=4, num_steps=8, epochs=2, minibatches=2, width=8)
    ppo, through, stopped = PPO(Toss(), config), tmp_path / "through", tmp_path / "stopped"
    go(ppo, through, updates_per_report=1)
    with pytest.raises(Killed):
        go(ppo, stopped, updates_per_report=1, report=killer(2))
    go(ppo, stopped, updates_per_report=1, resume=True)
    assert learned(stopped) == learned(through)
    first, last = (
        policies.read_tensors(through / "checkpoints" / f"update-00000000{n}.safetensors")[0]
        for n in (3, 4)
    )
    moved = [name for name in first if not np.array_equal(first[name], last[name])]
    assert any("optimiser" in name for name in moved) and any("params" in name for name in moved)


def test_a_finished_run_is_not_trained_again(learner, whole):
    reports = []
    again = go(learner, whole[0].out, resume=True, report=reports.append)
    assert not reports and again.scores[0].mean == whole[0].scores[0].mean


def test_fewer_updates_than_an_interval(learner, tmp_path):
    result = go(learner, tmp_path, seeds=[5], updates_per_report=100)
    assert result.best == 5 and list(result.scores) == [5]
    assert len(training.read_curve(tmp_path / "curve.jsonl")) == 1


# ---- damaged and foreign folders -----------------------------------------------------------------


@pytest.fixture
def stopped(learner, tmp_path):
    """A run that stopped after update 6, with checkpoints of 4 and 6."""
    with pytest.raises(Killed):
        go(learner, tmp_path, report=killer(6))
    assert checkpoints(tmp_path) == ["update-000000004.safetensors", "update-000000006.safetensors"]
    return tmp_path


def cut(data):
    return data[: len(data) // 2]


def flip(data):
    return data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]


@pytest.mark.parametrize("damage", [cut, flip, lambda data: b""])
def test_a_damaged_checkpoint_is_passed_over(learner, whole, stopped, damage, capsys):
    newest = stopped / "checkpoints" / "update-000000006.safetensors"
    newest.write_bytes(damage(newest.read_bytes()))
    reports = []
    go(learner, stopped, resume=True, report=reports.append, progress=None)
    assert "warning: " in (err := capsys.readouterr().err) and newest.name in err
    assert reports[0].update == 6  # from 4 on
    assert learned(stopped) == learned(whole[0].out)


def test_no_whole_checkpoint_at_all(learner, stopped):
    for file in (stopped / "checkpoints").iterdir():
        file.write_bytes(cut(file.read_bytes()))
    with pytest.raises(TrainingError, match=r"no checkpoint.*overwrite"):
        go(learner, stopped, resume=True)
    assert go(learner, stopped, overwrite=True).steps == 44


def test_a_run_of_something_else_is_refused(learner, stopped):
    other = dataclasses.replace(learner, config=DriftConfig(rate=0.2))
    with pytest.raises(TrainingError, match=r"settings.rate is 0.1, this run's is 0.2"):
        go(other, stopped, resume=True)
    with pytest.raises(TrainingError, match=r"environment.config.max_steps is 6, this run's is 7"):
        go(Drift(Toss(7)), stopped, resume=True)
    with pytest.raises(TrainingError, match=r"seeds is \[0, 1\], this run's is \[0, 1, 2\]"):
        go(learner, stopped, 3, resume=True)
    (stopped / "run.json").unlink()  # the checkpoints themselves say it, too
    with pytest.raises(TrainingError, match=r"safetensors belongs to another run.*settings.rate"):
        go(other, stopped, resume=True)


def test_a_folder_that_holds_a_run_is_left_alone(learner, stopped):
    with pytest.raises(TrainingError, match="holds a run already"):
        go(learner, stopped)
    with pytest.raises(ConfigError, match="choose one"):
        go(learner, stopped, resume=True, overwrite=True)
    assert len(checkpoints(stopped)) == 2
    (stopped / "mine.txt").write_text("kept")
    result = go(learner, stopped, overwrite=True, updates_per_report=11)
    assert result.steps == 44 and (stopped / "mine.txt").exists()
    assert len(list(stopped.glob("tensorboard/seed-0/*"))) == 1
    assert checkpoints(stopped) == ["update-000000011.safetensors"]


def test_two_runs_do_not_share_a_folder(learner, tmp_path):
    def report(at):
        with pytest.raises(TrainingError, match="another run is training"):
            go(learner, tmp_path, resume=True)
        raise Killed

    with pytest.raises(Killed):
        go(learner, tmp_path, report=report)


def test_another_version_of_jax_is_said(learner, stopped, capsys):
    about = json.loads((stopped / "run.json").read_text())
    about["versions"]["jax"] = "0.1"
    about["machine"]["devices"] = 64
    (stopped / "run.json").write_text(json.dumps(about))
    go(learner, stopped, resume=True, progress=None)
    warnings = capsys.readouterr().err
    assert "began with jax 0.1" in warnings and "began with devices 64" in warnings


def test_a_checkpoint_of_another_shape_is_refused(learner, stopped):
    newest = stopped / "checkpoints" / "update-000000006.safetensors"
    tensors, metadata = policies.read_tensors(newest)
    name = next(name for name in tensors if "mean" in name)
    tensors[name] = tensors[name][:, :-1]
    policies.write_tensors(newest, tensors, {**metadata, "sum": runs.checksum(tensors)})
    with pytest.raises(TrainingError, match=r"mean.*float32\[2, 2\], expected float32\[2, 3\]"):
        go(learner, stopped, resume=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": 0}, "seeds are"),
        ({"seeds": [1, 1]}, "different"),
        ({"seeds": [-1]}, "a seed is"),
        ({"updates_per_report": -1}, "updates_per_report"),
        ({"updates_per_report": 0}, "updates_per_report"),  # no default
        ({"checkpoint_minutes": float("nan")}, "checkpoint_minutes"),
        ({"episodes": 0}, "episodes"),
    ],
)
def test_what_makes_no_sense_is_said(learner, tmp_path, options, message):
    with pytest.raises(ConfigError, match=message):
        go(learner, tmp_path / "never", **options)
    assert not (tmp_path / "never").exists()


# ---- divergence, and a full disk -----------------------------------------------------------------


def test_a_seed_that_diverges_stops_and_the_others_go_on(learner, whole, tmp_path, capsys):
    unlucky = dataclasses.replace(learner, config=DriftConfig(odd_seeds_diverge=5))
    with pytest.raises(TrainingError, match=r"seed 1 in update 5 of 11 \(loss is inf\)") as error:
        go(unlucky, tmp_path, progress=None)
    assert "seed 1 diverged in update 5: loss is inf" in capsys.readouterr().err
    result = error.value.result
    assert result.failed == {1: 5} and result.best == 0 and list(result.scores) == [0]
    assert "update-000000011" in str(error.value)
    assert not (tmp_path / "policy-1.safetensors").exists()
    ours, theirs = result.policies[0].params, whole[0].policies[0].params
    np.testing.assert_array_equal(ours["mean"], theirs["mean"])  # nothing of seed 1 reached it
    # Its state is that after update 4.
    tensors, _ = policies.read_tensors(tmp_path / "checkpoints" / "update-000000011.safetensors")
    counts = next(array for name, array in tensors.items() if "count" in name)
    assert counts.tolist() == [11, 4]
    line = training.read_curve(tmp_path / "curve.jsonl")[-1]
    assert line["metrics"]["loss"][1] is None and line["metrics"]["loss"][0] is not None


def test_when_all_diverge_it_stops_and_stays_so(learner, tmp_path):
    unlucky = dataclasses.replace(learner, config=DriftConfig(odd_seeds_diverge=5))
    for resume in (False, True):
        with pytest.raises(TrainingError, match="seed 3 in update 5"):
            go(unlucky, tmp_path, [1, 3], resume=resume)
        assert checkpoints(tmp_path)[-1] == "update-000000006.safetensors"
    assert len(training.read_curve(tmp_path / "curve.jsonl")) == 3


class Overflow(Drift):
    def update(self, progress):
        progress, metrics = super().update(progress)
        large = jnp.where(progress.count == 3, jnp.inf, 0.0)
        params = {**progress.params, "mean": progress.params["mean"] + large}
        return dataclasses.replace(progress, params=params), metrics


def test_parameters_must_stay_finite(learner, tmp_path):
    with pytest.raises(TrainingError, match=r"update 3 of 11 \(a parameter is not finite\)"):
        go(Overflow(learner.env), tmp_path, 1)


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_while_a_checkpoint_is_written(learner, whole, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:

        def report(at):
            if at.update == 6:
                patch.setattr(os, "fsync", full)

        with pytest.raises(TrainingError, match=r"No space left.*after update 6.*update-000000004"):
            go(learner, tmp_path, report=report)
    assert checkpoints(tmp_path) == ["update-000000002.safetensors", "update-000000004.safetensors"]
    go(learner, tmp_path, resume=True)
    assert learned(tmp_path) == learned(whole[0].out)


def test_a_full_disk_while_the_curve_is_written(learner, whole, tmp_path, monkeypatch):
    """Half a line fits; it is taken back."""
    write, fits = os.write, [100]

    def nearly_full(file, data):
        if not fits:
            full()
        return write(file, data[: fits.pop()])

    with monkeypatch.context() as patch:

        def report(at):
            if at.update == 6:
                patch.setattr(os, "write", nearly_full)

        with pytest.raises(TrainingError, match=r"curve.jsonl: No space left.*update-000000008"):
            go(learner, tmp_path, report=report)
    assert (tmp_path / "curve.jsonl").read_bytes().count(b"\n") == 3
    assert (tmp_path / "curve.jsonl").read_bytes().endswith(b"}\n")
    go(learner, tmp_path, resume=True)
    assert learned(tmp_path) == learned(whole[0].out)


def test_a_full_disk_at_the_end(learner, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(policies, "save", full)
        with pytest.raises(TrainingError, match=r"No space left.*--resume"):
            go(learner, tmp_path)
    assert not list(tmp_path.glob("policy*"))
    assert go(learner, tmp_path, resume=True).best in (0, 1)


def test_a_folder_that_cannot_be(learner, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrainingError, match="cannot write"):
        go(learner, tmp_path / "file")


# ---- what is seen --------------------------------------------------------------------------------


def test_lines_where_there_is_no_terminal(learner, tmp_path, capsys):
    go(learner, tmp_path, progress=None)
    lines = capsys.readouterr().err.splitlines()
    shown = [line for line in lines if "env-steps/s" in line]
    assert len(shown) == 6
    for word in ("100%", "return", "±", "best", "entropy", "loss", "left"):
        assert word in shown[-1]


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def drift(monkeypatch):
    entry = ("test_training:Drift", "test_training:DriftConfig")
    monkeypatch.setitem(training.ALGORITHMS, "drift", training.Algorithm(*entry, {"rate": 0.5}))
    return ["--algorithm", "drift", "--episodes", "4", "--updates-per-report", "6"]


def run(capsys, *words):
    status = main(["train", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.slow
def test_one_command_trains_several_environments(drift, capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(PRESETS, ("test-toss", "drift"), {"total_steps": 28, "rate": 0.25})
    out = tmp_path / "runs"
    words = ["test-toss", "max_steps=5", "test-toss", *drift, "--seeds", "7,9", "--out", out]
    status, _, err = run(capsys, *words)
    assert status == 2 and "share a folder" in err
    monkeypatch.setitem(PRESETS, ("test-jump", "drift"), {"pairs": (("a", 1.0),)})
    words[2] = "test-jump"
    status, shown, err = run(capsys, *words, "--num-envs", "5", "--max-steps", "9")
    assert status == 0 and shown.count("(best)") == 2 and "env-steps/s" in err
    first = json.loads((out / "test-toss" / "run.json").read_text())
    second = json.loads((out / "test-jump" / "run.json").read_text())
    assert first["environment"]["config"] == {"max_steps": 5}  # pairs go before flags
    assert second["environment"]["config"] == {"max_steps": 9}
    settings = {"total_steps": 28, "num_envs": 5, "rate": 0.25, "pairs": []}
    assert first["settings"] == settings | {"odd_seeds_diverge": 0}
    assert second["settings"]["total_steps"] == 4 * UPDATES
    assert second["settings"]["rate"] == 0.5 and second["settings"]["pairs"] == [["a", 1.0]]
    assert first["seeds"] == [7, 9]
    assert first["command"].startswith("manyhands train test-toss max_steps=5 test-jump")
    card = json.loads((out / "test-toss" / "policy-9.json").read_text())
    assert card["command"] == first["command"] and card["steps"] == 28
    assert run(capsys, *words, "--num-envs", "5", "--max-steps", "9")[0] == 1
    words += ["--num-envs", "5", "--max-steps", "9", "--resume"]
    assert run(capsys, *words)[0] == 0


def test_a_run_that_diverges_has_an_exit_status(drift, capsys, tmp_path):
    words = ["test-toss", *drift, "--seeds", "2", "--odd-seeds-diverge", "3", "--out", tmp_path]
    status, shown, err = run(capsys, *words)
    assert status == 1 and "seed 1 in update 3" in err and "diverged in update 3" in shown


def jobs(*words):
    return training_jobs([*map(str, words)])


def test_flags_go_where_they_belong():
    (env, options, config, out), = jobs(
        "kitchen", "--layout", "coordination_ring", "--algorithm", "mappo", "--seeds", "4",
        "--learning-rate", "3e-4", "--num-envs=64", "--recurrent", "--max-steps=200",
        "--reward-weights", '{"delivery": 2}', "--shaping", "dish_pickup", "3",
    )  # fmt: skip
    assert env.max_steps == 200 and env.reward_weights["delivery"] == 2
    assert env.config()["layout"] == "coordination_ring"
    assert (config.learning_rate, config.num_envs, config.recurrent) == (3e-4, 64, True)
    assert config.centralised_critic and config.shaping == (("dish_pickup", 3.0),)
    assert options.seeds == "4" and out == Path("runs/kitchen-coordination_ring-mappo")
    ((_, _, config, out),) = jobs("kitchen")
    assert not config.centralised_critic and out == Path("runs/kitchen-cramped_room-ippo")


def test_settings_from_a_file(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text('{"learning_rate": 1, "width": 32, "shaping": [["dish_pickup", 2.0]]}')
    ((_, _, config, _),) = jobs("kitchen", "--config", path, "--width", "16")
    assert (config.learning_rate, config.width) == (1.0, 16)
    assert config.shaping == (("dish_pickup", 2.0),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"learning_rat": 1}', "learning_rat'; the settings are total_steps"),
        ('{"width": "wide"}', "width in .* is a int such as 32, given 'wide'"),
        ('{"recurrent": 1}', "recurrent in .* is a bool"),
        ("[1]", "no JSON object"),
        ("{", "cannot be read as JSON"),
    ],
)
def test_a_file_of_nonsense(tmp_path, text, message):
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        jobs("kitchen", "--config", path)


def test_presets_of_a_layout_come_on_top(monkeypatch):
    monkeypatch.setitem(PRESETS, ("kitchen", "ippo"), {"width": 48, "layers": 3})
    monkeypatch.setitem(PRESETS, ("kitchen", "ippo", "cramped_room"), {"width": 40})
    (_, _, one, _), (_, _, other, _) = jobs("kitchen", "kitchen", "layout=forced_coordination")
    assert (one.width, one.layers) == (40, 3) and (other.width, other.layers) == (48, 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "which environment"),
        (["kitchn"], "no environment is called"),
        (["layout=cramped_room"], "an environment comes before"),
        (["kitchen", "--layout"], "--layout wants a value"),
        (["kitchen", "--layout", "--resume"], "--layout wants a value"),
        (["kitchen", "colour=red"], "colour"),
        (["kitchen", "--algorithm", "magic"], "no algorithm is called 'magic'; there are"),
        (["kitchen", "--num-envs", "0"], "num_envs"),
        (["kitchen", "--seeds", "four"], "3,5,8"),
        (["kitchen", "--seeds", "0"], "seeds are"),
        (["kitchen", "--config", "missing.json"], "missing.json"),
    ],
)
def test_mistakes_are_explained(capsys, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, *words)
    assert status == 2 and message in err and "Traceback" not in err
    assert not (tmp_path / "runs").exists()


def test_help_lists_what_can_be_set(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["train", "kitchen", "--algorithm", "mappo", "--help"])
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    for word in ("--seeds", "--learning-rate", "--layout", "--recurrent", "mappo", "--resume"):
        assert word in shown
    with pytest.raises(SystemExit) as stopped:
        main(["train", "kitchen", "--learnin-rate", "1"])
    assert stopped.value.code == 2


def test_without_the_extra_it_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tyro", None)
    status, _, err = run(capsys, "kitchen")
    assert status == 1 and 'pip install "manyhands[train]"' in err and "'tyro'" in err


def test_the_command_is_light_until_it_trains():
    code = (
        "import sys, manyhands.cli; "
        "print([m for m in ('flax', 'optax', 'tyro', 'tensorboard') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"
