"""A script of a user in which type checkers find nothing. It is checked, never run.

mypy reports what is wrong with these lines, and in `wrong.py` each line that it does not complain
of: `make lint`.
"""

import numpy as np

import manyhands
from manyhands import ConfigError, Env, Outcome, Reply, View
from manyhands.envs import kitchen

env: Env = manyhands.make("kitchen", layout="cramped_room")
result = manyhands.play(env, ["random", "greedy"], episodes=2, seed=1)
rewards: np.ndarray = result.rewards
lengths: list[int] = [episode.steps for episode in result.episodes]


def player(view: View) -> Reply:
    return Reply(view.choices[0], say=f"step {view.step}")


def ended(outcome: Outcome) -> bool:
    return outcome is not None


manyhands.play("kitchen", [player, player])
batch = manyhands.vector("kitchen", num_envs=4, arrays="jax", layout="cramped_room")
observations, info = batch.reset(seed=0)
games = kitchen.parallel_env(observe="text", layout="cramped_room")
names: list[str] = games.possible_agents
data: bytes = manyhands.snapshot(env, manyhands.restore(env, b""))
print_of: str = manyhands.fingerprint(env, None, "chef_0")
seat = manyhands.text_seat("kuhn_poker", 1, partners="random", retries=1)
text: str = seat.reset(seed=3, member=1)
text, reward, done, info = seat.act(seat.choices[0].text)
ids: tuple[str, ...] = manyhands.registered(wrappers=True)
try:
    env.index("nobody")
except ConfigError as error:
    print(error)
