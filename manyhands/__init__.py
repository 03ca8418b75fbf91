"""Manyhands: many hands in one world.

Multi-agent worlds in which language agents, learned policies, scripts and people play the same
game through the same loop.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

# XLA reports what the command loads from its compilation cache as compiled for another machine, at
# great length: it compares its own tuning flags with the processor's features. The level is read
# once, when jax is imported.
if os.path.basename(next(iter(sys.argv), "")).partition(".")[0] == "manyhands" or (
    sys.argv[:1] == ["-m"] and "manyhands" in sys.orig_argv
):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax

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
    Wrapper,
    unwrap,
)
from manyhands.core.processes import ProcessError
from manyhands.core.registry import (
    Game,
    find_installed,
    make,
    register,
    register_seat,
    register_wrapper,
    registered,
    registered_seats,
    seat,
)

if TYPE_CHECKING:  # at run time they are loaded on first use, below
    from manyhands.core.pack import fingerprint, restore, snapshot
    from manyhands.core.play import play
    from manyhands.core.render import render
    from manyhands.core.rollout import rollout
    from manyhands.core.view import BudgetSpent, Reply, View
    from manyhands.wrappers.text_seat import text_seat
    from manyhands.wrappers.vector import vector

# By default JAX hands every call to another thread, even one that takes microseconds: on a CPU this
# doubles the time of a single step. It has no effect once JAX is in use, or where the variable
# is set; batched calls then block as NumPy does.
if "JAX_CPU_ENABLE_ASYNC_DISPATCH" not in os.environ:
    jax.config.update("jax_cpu_enable_async_dispatch", False)

register(Game("kitchen", "manyhands.envs.kitchen:Kitchen"))
register(Game("kuhn_poker", "manyhands.envs.poker:KuhnPoker"))
register(Game("leduc_holdem", "manyhands.envs.poker:LeducHoldem"))
register(Game("tic_tac_toe", "manyhands.envs.board:TicTacToe"))
register(Game("connect_four", "manyhands.envs.board:ConnectFour"))
register(Game("negotiation", "manyhands.envs.negotiation:Negotiation"))
register(Game("craftworld", "manyhands.envs.craftworld:CraftWorld", gym_id="CraftWorld"))
register(Game("mission", "manyhands.envs.mission:Mission"))
register(Game("cuisine", "manyhands.envs.cuisine:Cuisine"))
_TASKS = (
    *("1v1", "3v3", "6v6", "back_and_forth", "hit", "solo_bump", "bump_and_pass"),
    *("set_and_spike", "set_and_spike_hard"),
)
register(
    Game(
        "volleyball",
        "manyhands.envs.volleyball:Volleyball",
        variants={task: {"task": task} for task in _TASKS},
    )
)
register_wrapper("chat", "manyhands.wrappers.chat:Chat")
register_wrapper("skills", "manyhands.wrappers.skills:Skills")
register_wrapper("events", "manyhands.wrappers.events:Events")
register_wrapper("recent", "manyhands.wrappers.recent:Recent")
register_wrapper("retries", "manyhands.wrappers.retries:Retries")

register_seat("random", "manyhands.baselines.players.random:Random")
for _bot in ("onion_only", "plate_only", "stationary"):
    register_seat(_bot, f"manyhands.baselines.bots.kitchen:{_bot}")
register_seat("perfect", "manyhands.baselines.bots.board:Perfect")
register_seat("solver", "manyhands.baselines.bots.board:Searcher")
for _style in ("fair", "tit_for_tat", "boulware", "conceder"):
    register_seat(_style, f"manyhands.baselines.bots.negotiation:{_style}")
for _style in ("honest", "bluffer", "stubborn"):
    register_seat(_style, f"manyhands.baselines.bots.talkers:{_style}")
for _craft in ("survivor", "crew"):
    register_seat(_craft, f"manyhands.baselines.bots.craftworld:{_craft}")
for _bot in ("hover", "rally", "duel"):
    register_seat(_bot, f"manyhands.baselines.bots.volleyball:{_bot}")
for _bot in ("bot", "greedy", "team"):
    register_seat(_bot, f"manyhands.baselines.bots:{_bot}")
register_seat("forager", "manyhands.baselines.bots.mission:Forager")
register_seat("porter", "manyhands.baselines.bots.warehouse:Porter")
register_seat("ranger", "manyhands.baselines.bots.field:Ranger")
register_seat("dispatched", "manyhands.baselines.bots.cuisine:dispatched")
register_seat("text", "manyhands.baselines.players.reader:text")
register_seat("reader", "manyhands.baselines.players.reader:Reader")
register_seat("language", "manyhands.baselines.players.language:Language", extra="language")
register_seat("local", "manyhands.baselines.players.local:Local", extra="local")
register_seat("table", "manyhands.baselines.game_theory.policies:table_seat")
register_seat("equilibrium", "manyhands.baselines.game_theory.policies:equilibrium_seat")
register_seat("ippo", "manyhands.baselines.players.network:ippo", extra="train")
register_seat("psro", "manyhands.baselines.players.network:psro", extra="train")
register_seat("policy", "manyhands.baselines.players.network:from_file", extra="train")
register_seat("relay", "manyhands.baselines.players.relay:relay")
register_seat("search", "manyhands.baselines.search.seat:search")
register_seat("human", "manyhands.viewer.human:Human")
register_seat("terminal", "manyhands.viewer.terminal:Terminal")

find_installed()

# Loaded on first use, so that `import manyhands` stays light.
_LAZY = {
    "play": "manyhands.core.play",
    "View": "manyhands.core.view",
    "render": "manyhands.core.render",
    "Reply": "manyhands.core.view",
    "BudgetSpent": "manyhands.core.view",
    "rollout": "manyhands.core.rollout",
    "snapshot": "manyhands.core.pack",
    "restore": "manyhands.core.pack",
    "fingerprint": "manyhands.core.pack",
    "text_seat": "manyhands.wrappers.text_seat",
    "vector": "manyhands.wrappers.vector",
}


if not TYPE_CHECKING:  # which would take any name for a member

    def __getattr__(name: str) -> Any:
        if name == "envs":
            return importlib.import_module("manyhands.envs")
        if name in _LAZY:
            return getattr(importlib.import_module(_LAZY[name]), name)
        raise AttributeError(f"module 'manyhands' has no attribute {name!r}")


__all__ = [
    "BudgetSpent",
    "ConfigError",
    "Env",
    "EpisodeOver",
    "Game",
    "IllegalAction",
    "LayoutError",
    "ManyhandsError",
    "Outcome",
    "PolicyError",
    "ProcessError",
    "RecordError",
    "Reply",
    "SeatError",
    "SnapshotError",
    "View",
    "Wrapper",
    "__version__",
    "fingerprint",
    "make",
    "play",
    "register",
    "register_seat",
    "register_wrapper",
    "registered",
    "registered_seats",
    "render",
    "restore",
    "rollout",
    "seat",
    "snapshot",
    "text_seat",
    "unwrap",
    "vector",
]
