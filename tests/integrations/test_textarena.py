"""TextArena's interface, through its own registry and its own wrappers."""

import random

import textarena
from measure import legal, overhead, pick

from manyhands.integrations.textarena import TextArena, register_games


def played(env, seed, act, players=2):
    env.reset(num_players=players, seed=seed)
    done, seen = False, []
    while not done:
        player, text = env.get_observation()
        seen.append((player, text))
        done, _ = env.step(act(text))
    return (*env.close(), seen)


def test_its_registry_makes_our_games():
    assert "Manyhands-kuhn_poker-v0" in register_games()
    assert register_games() == register_games()
    env = textarena.make("Manyhands-kuhn_poker-v0")
    rewards, infos, seen = played(env, 5, lambda text: f"I think. [{legal(text)[0]}]")
    assert [player for player, _ in seen] == [0, 1] and all("KUHN" in text for _, text in seen)
    assert sorted(rewards.values()) == [-1.0, 1.0]
    assert infos[0]["turn_count"] == 2 and not infos[0]["invalid_move"]


def test_its_wrappers_wrap_ours():
    class Loud(textarena.ActionWrapper):
        def action(self, action):
            return action.upper()

    rewards, infos, _ = played(Loud(TextArena("tic_tac_toe")), 0, lambda text: legal(text)[0])
    assert sum(rewards.values()) == 0 and infos[0]["illegal"] == 0


def test_seeds_reach_the_game():
    texts = [played(TextArena("kuhn_poker"), seed, pick)[2][0][1] for seed in (3, 3, 4, 5, 6)]
    assert texts[0] == texts[1] and len(set(texts)) > 1


def test_illegal_answers_are_told_apart():
    env = TextArena("kuhn_poker", retries=1)
    env.reset(2, seed=1)
    done, info = env.step("purple elephants")
    assert (done, info["status"]) == (False, "illegal")
    player, text = env.get_observation()
    assert player == 0 and "purple" in text
    done, info = env.step("purple elephants")
    assert (done, info["status"]) == (True, "forfeit")
    rewards, infos = env.close()
    assert rewards == {0: -1.0, 1: 1.0}
    assert infos[0]["invalid_move"] and not infos[1]["invalid_move"]


def test_several_at_once():
    rng = random.Random(0)
    envs = [TextArena("kuhn_poker") for _ in range(4)]
    for seed, env in enumerate(envs):
        env.reset(2, seed=seed)
    open_ = list(range(4))
    while open_:
        k = rng.choice(open_)
        done, _ = envs[k].step(legal(envs[k].get_observation()[1])[0])
        if done:
            open_.remove(k)
    alone = [
        played(TextArena("kuhn_poker"), seed, lambda text: legal(text)[0])[0] for seed in range(4)
    ]
    assert [env.close()[0] for env in envs] == alone


def test_overhead():
    ours, theirs = TextArena("kuhn_poker"), textarena.make("KuhnPoker-v0-short")
    played(ours, 0, pick)
    with overhead("TextArena's interface, Kuhn poker") as count:
        for seed in range(300):
            count.n += len(played(ours, seed, pick)[2])
    with overhead("TextArena's own Kuhn poker") as count:
        for seed in range(100):
            theirs.reset(num_players=2, seed=seed)
            done = False
            while not done:
                theirs.get_observation()
                done, _ = theirs.step(random.choice(["[check]", "[bet]"]))
                count.n += 1
            theirs.close()
