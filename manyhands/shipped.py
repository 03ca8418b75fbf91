"""What comes with the package, registered: games, wrappers and seats; and how JAX is set up.

`import manyhands` loads it, and so does the registry where it is asked before. Only the command
line does without until it knows what to run: it takes most of a second.
"""

from __future__ import annotations

import os

import jax

from manyhands.core.registry import (
    Game,
    find_installed,
    register,
    register_seat,
    register_wrapper,
)

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
register(Game("home", "manyhands.envs.home:Home"))
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
register(
    Game(
        "drones",
        "manyhands.envs.drones:Drones",
        variants={task: {"task": task} for task in ("formation", "pursuit")},
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
register_seat("random_skills", "manyhands.baselines.bots.kitchen_skills:random_skills")
register_seat("perfect", "manyhands.baselines.bots.board:Perfect")
register_seat("solver", "manyhands.baselines.bots.board:Searcher")
register_seat("decisive", "manyhands.baselines.bots.board:Decisive")
for _style in ("fair", "tit_for_tat", "boulware", "conceder"):
    register_seat(_style, f"manyhands.baselines.bots.negotiation:{_style}")
for _style in ("honest", "bluffer", "stubborn"):
    register_seat(_style, f"manyhands.baselines.bots.talkers:{_style}")
register_seat("barter", "manyhands.baselines.bots.barter:Barter")
for _craft in ("survivor", "crew"):
    register_seat(_craft, f"manyhands.baselines.bots.craftworld:{_craft}")
for _bot in ("hover", "rally", "duel", "spiker"):
    register_seat(_bot, f"manyhands.baselines.bots.volleyball:{_bot}")
for _bot in ("bot", "greedy", "team"):
    register_seat(_bot, f"manyhands.baselines.bots:{_bot}")
for _bot in ("tidy", "helper", "follower", "leader"):
    register_seat(_bot, f"manyhands.baselines.bots.home:{_bot}")
register_seat("instructor", "manyhands.baselines.players.home_reader:instructor")
register_seat("forager", "manyhands.baselines.bots.mission:Forager")
register_seat("porter", "manyhands.baselines.bots.warehouse:Porter")
register_seat("ranger", "manyhands.baselines.bots.field:Ranger")
for _bot in ("keeper", "chaser", "surround"):
    register_seat(_bot, f"manyhands.baselines.bots.drones:{_bot}")
register_seat("dispatched", "manyhands.baselines.bots.cuisine:dispatched")
register_seat("text", "manyhands.baselines.players.reader:text")
register_seat("reader", "manyhands.baselines.players.reader:Reader")
register_seat("language", "manyhands.baselines.players.language:Language", extra="language")
register_seat("local", "manyhands.baselines.players.local:Local", extra="local")
register_seat("table", "manyhands.baselines.game_theory.policies:table_seat")
register_seat("equilibrium", "manyhands.baselines.game_theory.policies:equilibrium_seat")
register_seat("ippo", "manyhands.baselines.players.network:ippo", extra="train")
register_seat("psro", "manyhands.baselines.players.network:psro", extra="train")
register_seat("self_play_pool", "manyhands.baselines.players.network:self_play_pool", extra="train")
register_seat("hsp", "manyhands.baselines.players.network:hsp", extra="train")
register_seat("policy", "manyhands.baselines.players.network:from_file", extra="train")
register_seat("relay", "manyhands.baselines.players.relay:relay")
register_seat("search", "manyhands.baselines.search.seat:search")
register_seat("human", "manyhands.viewer.human:Human")
register_seat("terminal", "manyhands.viewer.terminal:Terminal")

find_installed()
