"""Manyhands: many hands in one world.

Multi-agent worlds in which language agents, learned policies, scripts and people play the same
game through the same loop.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import gymnasium
import jax
import pettingzoo

from manyhands._version import __version__
from manyhands.core.env import (
    ConfigError,
    Env,
    EpisodeOver,
    IllegalAction,
    LayoutError,
    ManyhandsError,
    Outcome,
    PolicyError,
    RecordError,
    SeatError,
    SnapshotError,
    make,
    register,
    register_seat,
    registered,
    registered_seats,
    seat,
)

# By default JAX hands every call to another thread, even one that takes microseconds: on a CPU this
# doubles the time of a single step. It has no effect once JAX is in use, or where the variable
# is set; batched calls then block as NumPy does.
if "JAX_CPU_ENABLE_ASYNC_DISPATCH" not in os.environ:
    jax.config.update("jax_cpu_enable_async_dispatch", False)

register("kitchen", "manyhands.envs.kitchen:Kitchen")
register("kuhn_poker", "manyhands.envs.poker:KuhnPoker")
register("leduc_holdem", "manyhands.envs.poker:LeducHoldem")
register("tic_tac_toe", "manyhands.envs.board:TicTacToe")
register("connect_four", "manyhands.envs.board:ConnectFour")
register("negotiation", "manyhands.envs.negotiation:Negotiation")
register("volleyball", "manyhands.envs.volleyball:Volleyball")
register("craftworld", "manyhands.envs.craftworld:CraftWorld")
register("chat", "manyhands.wrappers.chat:Chat", wrapper=True)
register("skills", "manyhands.wrappers.skills:Skills", wrapper=True)
register("events", "manyhands.wrappers.skills:Events", wrapper=True)

register_seat("random", "manyhands.baselines.random:Random")
for _bot in ("greedy", "onion_only", "plate_only", "stationary"):
    register_seat(_bot, f"manyhands.baselines.bots.kitchen:{_bot}")
register_seat("perfect", "manyhands.baselines.bots.board:Perfect")
register_seat("solver", "manyhands.baselines.bots.board:Searcher")
for _style in ("fair", "tit_for_tat", "boulware", "conceder"):
    register_seat(_style, f"manyhands.baselines.bots.negotiation:{_style}")
for _craft in ("survivor", "crew"):
    register_seat(_craft, f"manyhands.baselines.bots.craftworld:{_craft}")
for _bot in ("hover", "rally", "team"):
    register_seat(_bot, f"manyhands.baselines.bots.volleyball:{_bot}")
register_seat("bot", "manyhands.baselines.bots:bot")
register_seat("text", "manyhands.baselines.reader:text")
register_seat("reader", "manyhands.baselines.reader:Reader")
register_seat("language", "manyhands.baselines.language:Language")
register_seat("table", "manyhands.baselines.game_theory.policies:table_seat")
register_seat("equilibrium", "manyhands.baselines.game_theory.policies:equilibrium_seat")
register_seat("ippo", "manyhands.baselines.policies:ippo", extra="train")
register_seat("psro", "manyhands.baselines.policies:psro", extra="train")
register_seat("policy", "manyhands.baselines.policies:from_file", extra="train")
register_seat("human", "manyhands.viewer.human:Human")

_VOLLEYBALL = (
    *("1v1", "3v3", "6v6", "back_and_forth", "hit", "solo_bump", "bump_and_pass"),
    *("set_and_spike", "set_and_spike_hard"),
)
for _kind, _function in (("parallel", "parallel_env"), ("aec", "env")):
    pettingzoo.register(_kind, "manyhands/kitchen-v0", f"manyhands.envs.kitchen:{_function}")
    for _game in ("kuhn_poker", "leduc_holdem"):
        _entry = f"manyhands.envs.poker:{_function}"
        pettingzoo.register(_kind, f"manyhands/{_game}-v0", _entry, kwargs={"game": _game})
    for _game in ("tic_tac_toe", "connect_four"):
        _entry = f"manyhands.envs.board:{_function}"
        pettingzoo.register(_kind, f"manyhands/{_game}-v0", _entry, kwargs={"game": _game})
    pettingzoo.register(
        _kind, "manyhands/negotiation-v0", f"manyhands.envs.negotiation:{_function}"
    )
    pettingzoo.register(_kind, "manyhands/craftworld-v0", f"manyhands.envs.craftworld:{_function}")
    pettingzoo.register(_kind, "manyhands/volleyball-v0", f"manyhands.envs.volleyball:{_function}")
    for _task in _VOLLEYBALL:
        pettingzoo.register(
            _kind,
            f"manyhands/volleyball_{_task}-v0",
            f"manyhands.envs.volleyball:{_function}",
            kwargs={"task": _task},
        )

gymnasium.register(
    "manyhands/Kitchen-v0",
    entry_point="manyhands.wrappers.gymnasium:SeatEnv",
    vector_entry_point="manyhands.wrappers.gymnasium:SeatVectorEnv",
    kwargs={"game": "kitchen"},
)

for _name, _game in (
    ("KuhnPoker", "kuhn_poker"),
    ("LeducHoldem", "leduc_holdem"),
    ("TicTacToe", "tic_tac_toe"),
    ("ConnectFour", "connect_four"),
):
    gymnasium.register(
        f"manyhands/{_name}-v0",
        entry_point="manyhands.wrappers.gymnasium:SeatEnv",
        vector_entry_point="manyhands.wrappers.gymnasium:SeatVectorEnv",
        kwargs={"game": _game},
    )
gymnasium.register(
    "manyhands/Negotiation-v0",
    entry_point="manyhands.wrappers.gymnasium:SeatEnv",
    vector_entry_point="manyhands.wrappers.gymnasium:SeatVectorEnv",
    kwargs={"game": "negotiation", "partners": "fair"},
)
for _task in ("", *_VOLLEYBALL):
    gymnasium.register(
        f"manyhands/Volleyball{_task.title().replace('V', 'v').replace('_', '')}-v0",
        entry_point="manyhands.wrappers.gymnasium:SeatEnv",
        vector_entry_point="manyhands.wrappers.gymnasium:SeatVectorEnv",
        kwargs={"game": "volleyball", **({"task": _task} if _task else {})},
    )
gymnasium.register(
    "manyhands/CraftWorld-v0",
    entry_point="manyhands.wrappers.gymnasium:SeatEnv",
    vector_entry_point="manyhands.wrappers.gymnasium:SeatVectorEnv",
    kwargs={"game": "craftworld"},
)

# Loaded on first use, so that `import manyhands` stays light.
_LAZY = {
    "play": "manyhands.core.play",
    "View": "manyhands.core.play",
    "render": "manyhands.core.render",
    "Reply": "manyhands.core.play",
    "rollout": "manyhands.core.rollout",
    "snapshot": "manyhands.core.pack",
    "restore": "manyhands.core.pack",
    "fingerprint": "manyhands.core.pack",
    "vector": "manyhands.wrappers.vector",
}


def __getattr__(name: str) -> Any:
    if name == "envs":
        return importlib.import_module("manyhands.envs")
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'manyhands' has no attribute {name!r}")


__all__ = [
    "ConfigError",
    "Env",
    "EpisodeOver",
    "IllegalAction",
    "LayoutError",
    "ManyhandsError",
    "Outcome",
    "PolicyError",
    "RecordError",
    "SeatError",
    "SnapshotError",
    "__version__",
    "make",
    "register",
    "register_seat",
    "registered",
    "registered_seats",
    "seat",
    *_LAZY,
]
