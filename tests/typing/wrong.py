"""A script of a user with a mistake in each of its last lines. It is checked, never run.

Each line names the mistake that type checkers have to find there: mypy complains of a comment that
is not needed (`make lint`), so a mistake that goes unnoticed fails.
"""

import manyhands
from manyhands.envs import kitchen
from manyhands.wrappers import pettingzoo

env = manyhands.make("kitchen")
manyhands.vector("kitchen", num_envs="four")  # type: ignore[arg-type]
manyhands.vector("kitchen", num_envs=4, arrays=3)  # type: ignore[arg-type]
count: int = manyhands.play("kitchen", "random")  # type: ignore[assignment]
manyhands.play("kitchen", "random", episods=3)  # type: ignore[call-arg]
manyhands.play("kitchen", "random").rewardz  # type: ignore[attr-defined]
manyhands.text_seat("kuhn_poker", retries="two")  # type: ignore[arg-type]
kitchen.parallel_env(3)  # type: ignore[arg-type]
kitchen.parallel_env(observe=3)  # type: ignore[arg-type]
kitchen.env().game.descibes  # type: ignore[attr-defined]
pettingzoo.env("kitchen", infos=3)  # type: ignore[arg-type]
manyhands.envs.kitchen.Kitchin  # type: ignore[attr-defined]
pettingzoo.parallel_env("kitchen", observe=3)  # type: ignore[arg-type]
manyhands.snapshott(env, None)  # type: ignore[attr-defined]
text: str = manyhands.snapshot(env, None)  # type: ignore[assignment]
manyhands.restore(env, 3)  # type: ignore[arg-type]
manyhands.rollout(env, "random", 4)  # type: ignore[call-arg]
env.descibe(None, 0)  # type: ignore[attr-defined]
manyhands.make(3)  # type: ignore[arg-type]
manyhands.Reply(1, sya="hello")  # type: ignore[call-arg]
manyhands.render(env)  # type: ignore[call-arg]
