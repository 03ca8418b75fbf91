"""Settings that learners start from in an environment: what the command line changes."""

from __future__ import annotations

from typing import Any

from manyhands.core.env import Env

_SHAPING = (("pot_placement", 1.0), ("dish_pickup", 1.0), ("soup_pickup", 1.0))
_KITCHEN: dict[str, Any] = {
    "total_steps": 1_000_000,
    "num_envs": 128,
    "num_steps": 50,
    "epochs": 2,
    "learning_rate": 4e-3,
    "reward_scale": 0.1,
    "shaping": _SHAPING,
    "width": 32,
    "activation": "relu",
}
_KITCHEN_CENTRAL: dict[str, Any] = {
    "total_steps": 3_000_000,
    "num_envs": 128,
    "num_steps": 50,
    "learning_rate": 2e-3,
    "reward_scale": 0.1,
    "shaping": _SHAPING,
}
# What one hands over pays when the other uses it.
_HAND_OVER: dict[str, Any] = {"total_steps": 2_000_000, "team_shaping": True}
# Both pots are soon full there, and both chefs hold onions: from that state, or from the start, a
# first delivery is hardly ever stumbled on.
_CIRCUIT: dict[str, Any] = {
    "total_steps": 2_000_000,
    "num_envs": 256,
    "shaping_share": 0.7,
    "start_player": "greedy:noise=0.2",
    "start_share": 0.9,
}
# Beside others who may not help one has to be able to do everything: much entropy, and shaping that
# pays more for what is rarer, or nobody learns to.
_KITCHEN_PARTNERS: dict[str, Any] = {
    "total_steps": 5_000_000,
    "num_steps": 50,
    "epochs": 2,
    "learning_rate": 4e-3,
    "entropy": 0.04,
    "entropy_end": 0.0,
    "shaping": (("pot_placement", 1.0), ("dish_pickup", 2.0), ("soup_pickup", 3.0)),
    "shaping_share": 0.8,
    "width": 64,
    "activation": "relu",
}
_KITCHEN_LAPSES: dict[str, Any] = _KITCHEN_PARTNERS | {
    "num_envs": 256,
    "lapses": 0.9,
    "own_lapses": 0.15,
    "lapse_steps": 10,
    "start_player": "",
}
# Values take many small steps, each from little data (Gallici et al. 2024).
_KITCHEN_VALUES: dict[str, Any] = {
    "total_steps": 5_000_000,
    "num_envs": 128,
    "num_steps": 25,
    "epochs": 2,
    "minibatches": 16,
    "learning_rate": 1e-3,
    "reward_scale": 0.1,
    "shaping": _SHAPING,
}
# Much randomness at first, less later, keeps self-play near enough to equilibrium for its average
# over the second half to be one: docs/training.md has its exploitability.
_KUHN: dict[str, Any] = {
    "total_steps": 3_000_000,
    "num_envs": 128,
    "num_steps": 64,
    "epochs": 2,
    "minibatches": 2,
    "learning_rate": 0.02,
    "learning_rate_end": 0.1,
    "discount": 1.0,
    "entropy": 0.3,
    "entropy_end": 0.03,
    "advantage": "role",
    "average": 64,
    "width": 32,
    "layers": 1,
}
# Drones: inputs of many sizes, and little noise, with which they stay in the air from the start.
_FLIGHT: dict[str, Any] = {
    "total_steps": 12_000_000,
    "num_envs": 256,
    "num_steps": 64,
    "entropy": 0.0,
    "entropy_end": 0.0,
    "reward_scale": 0.05,
    "noise": 0.1,
    "normalise": True,
}
# As in Craftax's own baselines (Matthews et al. 2024), but a small network and larger steps, for a
# budget of minutes.
_CRAFT: dict[str, Any] = {
    "total_steps": 4_000_000,
    "num_envs": 256,
    "num_steps": 64,
    "epochs": 4,
    "minibatches": 8,
    "learning_rate": 1e-3,
    "learning_rate_end": 0.1,
    "gae_lambda": 0.9,
    "entropy": 0.01,
    "width": 128,
}
# Observations tell how many steps are left: with a guess of what would come after the last, two of
# three runs went astray. Homes differ, and a small pool of them is learned by heart.
_HOME: dict[str, Any] = {
    "total_steps": 4_000_000,
    "num_envs": 512,
    "num_steps": 32,
    "epochs": 2,
    "minibatches": 4,
    "learning_rate": 3e-3,
    "learning_rate_end": 0.1,
    "discount": 0.99,
    "bootstrap": False,
    "entropy": 0.02,
    "entropy_end": 0.002,
    "pool": 8192,
    "width": 64,
    "activation": "relu",
    "shaping": (("progress", 0.3), ("subgoal", 0.3), ("step", -0.01)),
    "shaping_share": 1.0,
}
# A step of these grids costs less than the network's: many environments, few passes and large steps
# learn most in a second of a CPU.
_MISSION: dict[str, Any] = {
    "total_steps": 2_000_000,
    "num_envs": 512,
    "num_steps": 32,
    "epochs": 2,
    "learning_rate": 4e-3,
    "activation": "relu",
}
# A pair that acts at random loads together once in hundreds of episodes: exploration has to last
# until values have caught on, and returns of at most a half, shared out, are small for them.
_MISSION_VALUES: dict[str, Any] = {
    "total_steps": 3_000_000,
    "num_envs": 512,
    "num_steps": 16,
    "epochs": 2,
    "minibatches": 8,
    "learning_rate": 2e-3,
    "width": 64,
    "reward_scale": 5.0,
    "epsilon_share": 0.6,
}
# What a hit was worth is known when the ball comes down, a second later.
_HIT: dict[str, Any] = {
    "total_steps": 6_000_000,
    "learning_rate": 2e-3,
    "reward_scale": 0.1,
    "discount": 0.998,
    "gae_lambda": 0.98,
    "noise": 0.3,
}
# The same holds for a serve.
_DUEL: dict[str, Any] = {
    "total_steps": 20_000_000,
    "learning_rate": 2e-3,
    "discount": 0.998,
    "gae_lambda": 0.98,
    "noise": 0.3,
}
# A choice of skills lasts about a second: few decisions a point, each of them dear to play.
_STRATEGY: dict[str, Any] = {
    "total_steps": 120_000,
    "num_envs": 128,
    "num_steps": 16,
    "learning_rate": 2e-3,
    "entropy": 0.02,
    "entropy_end": 0.0,
    "discount": 0.99,
    "reward_scale": 0.01,
    "normalise": True,
}
# Among 72 options a learner finds a safe rally before it finds an attack, and stays there, unless
# it tries much, or a script teaches it (`teacher`). Everybody stays an opponent, or a response
# forgets how to win from the first ones.
_RESPONSE: dict[str, Any] = {
    "total_steps": 600_000,
    "num_envs": 256,
    "entropy": 0.03,
    "entropy_end": 0.003,
    "width": 128,
    "decided_by": "win",
    "meta_solver": "uniform",
    "strategies": 4,
    "checks": 6,
    "enough": 0.95,
}
# Drones that controllers fly: velocities at 10 Hz.
_DRONES: dict[str, Any] = {
    "total_steps": 1_200_000,
    "num_envs": 128,
    "num_steps": 32,
    "learning_rate_end": 0.1,
    "entropy": 0.0,
    "entropy_end": 0.0,
    "reward_scale": 0.2,
    "noise": 0.4,
    "normalise": True,
}
# By environment id, algorithm and, where it matters, layout or task: the keyword arguments of the
# algorithm's configuration that differ from its own defaults. The layout's come on top of the
# environment's.
PRESETS: dict[tuple[str, ...], dict[str, Any]] = {
    ("kuhn_poker", "ippo"): _KUHN,
    ("kitchen", "ippo"): _KITCHEN,
    ("kitchen", "ippo", "forced_coordination"): _HAND_OVER,
    ("kitchen", "mappo"): _KITCHEN_CENTRAL,
    # Four members and three checkpoints of each: less than the paper's, for two cores.
    ("kitchen", "fcp"): {
        "members": 4,
        "member_steps": 1_000_000,
        "num_envs": 192,
        "total_steps": 2_000_000,
    },
    ("kitchen", "fcp", "forced_coordination"): {"member_steps": 2_000_000},
    ("kitchen", "fcp", "counter_circuit_o_1order"): {
        "member_steps": 2_000_000,
        "total_steps": 3_000_000,
    },
    ("kitchen", "mep"): _KITCHEN_PARTNERS | {"members": 5, "num_envs": 240},
    ("kitchen", "self_play_pool"): _KITCHEN_LAPSES,
    # Nobody can do everything alone there.
    ("kitchen", "self_play_pool", "forced_coordination"): {"lapses": 0.5},
    ("kitchen", "ippo", "counter_circuit_o_1order"): _CIRCUIT,
    ("kitchen", "mappo", "counter_circuit_o_1order"): _CIRCUIT
    | {"total_steps": 4_000_000, "learning_rate": 1e-3},
    ("craftworld", "ippo"): _CRAFT,
    ("craftworld", "mappo"): _CRAFT,
    ("home", "ippo"): _HOME,
    ("home", "mappo"): _HOME,
    ("kitchen", "vdn"): _KITCHEN_VALUES,
    ("kitchen", "qmix"): _KITCHEN_VALUES,
    ("events", "ippo"): _STRATEGY,
    ("events", "psro"): _RESPONSE,
    ("mission", "ippo"): _MISSION,
    ("mission", "mappo"): _MISSION,
    ("mission", "vdn"): _MISSION_VALUES,
    ("mission", "qmix"): _MISSION_VALUES,
    ("drones", "ippo"): _DRONES,
    ("drones", "mappo"): _DRONES,
    ("volleyball", "ippo"): _FLIGHT,
    ("volleyball", "ippo", "hit"): _HIT,
    ("volleyball", "ippo", "1v1"): _DUEL,
    ("volleyball", "mappo"): _FLIGHT,
}


def preset(env: Env, algorithm: str) -> dict[str, Any]:
    """The settings of `algorithm` in `env`, beyond the algorithm's own."""
    settings = dict(PRESETS.get((env.id, algorithm), {}))
    config = env.config()
    level = config.get("layout", config.get("task"))
    if isinstance(level, str):
        settings.update(PRESETS.get((env.id, algorithm, level), {}))
    return settings
