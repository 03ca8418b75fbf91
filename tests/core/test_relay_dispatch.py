"""Relays and dispatchers: seats made of other seats."""

import asyncio

import coins
import pytest

import manyhands
from manyhands.baselines.arena import read_season, run_season
from manyhands.baselines.players.dispatch import Dispatch, TeamText, read_team
from manyhands.baselines.players.relay import Relay
from manyhands.core.env import SeatError
from manyhands.core.record import read
from manyhands.core.registry import SeatConfigError, register_seat, seat
from manyhands.core.view import Reply
from manyhands.wrappers.gymnasium import SeatEnv

BOARD = manyhands.make("tic_tac_toe")
TOGETHER = coins.Coins(turns=False)


def first(view):
    return view.choices[0].text


def last(view):
    return view.choices[-1].text


def moves(seats, steps=5):
    """(agent, action) of each step."""
    found = []

    def note(moment):
        if moment.turn is not None:
            found.extend(moment.turn.actions.values())

    manyhands.play(BOARD, seats, max_steps=steps, on_step=note, progress=False)
    return found


def test_a_relay_hands_over_at_a_step_or_an_event():
    assert moves([Relay(first, last, after=2), last]) == [0, 8, 7, 6, 5]
    assert moves([Relay(first, last, after=3), last]) == [0, 8, 1, 7, 6]
    assert moves([Relay(first, last, at="place", env=BOARD), last]) == [0, 8, 7, 6, 5]
    assert moves([Relay(first, last, at=lambda view: view.step == 2), last]) == [0, 8, 7, 6, 5]


def test_a_relay_begins_anew_in_every_episode():
    relay = Relay(first, last, after=2)
    assert moves([relay, last]) == moves([relay, last])


def test_seats_within_seats_are_in_parentheses():
    inner = "(relay:first=perfect,then=(solver:depth=2),after=1)"
    relay = seat(f"relay:first={inner},then=random,after=4", BOARD)
    assert relay.after == 4 and relay.first.after == 1 and relay.first.then.depth == 2
    result = manyhands.play(BOARD, ["relay:first=random,then=perfect,after=2", "perfect"], 3)
    assert (result.rewards <= 0).all()
    with pytest.raises(SeatConfigError, match="1 parentheses"):
        seat("relay:first=(random,then=perfect", BOARD)
    with pytest.raises(SeatConfigError, match="without then; its options are first, then, after"):
        seat("relay:first=random,after=2", BOARD)
    with pytest.raises(SeatConfigError, match='with att and without then; did you mean "at"'):
        seat("relay:first=random,att=place", BOARD)
    with pytest.raises(SeatError, match=r"'plcae' .*\"place\".* no move, draw or win"):
        seat("relay:first=random,then=perfect,at=plcae", BOARD)
    assert seat("relay:first=random,then=perfect,at=no move", BOARD).at == "no move"
    with pytest.raises(SeatError, match="after=STEP"):
        seat("relay:first=random,then=perfect", BOARD)
    with pytest.raises(SeatError, match="env="):
        Relay("random", last, after=1)
    with pytest.raises(SeatError, match=r"at\(view\) failed .*step 0.*ZeroDivision"):
        manyhands.play(BOARD, Relay("random", last, at=lambda view: 1 / 0, env=BOARD))


def test_an_event_is_looked_up_or_refused():
    class Told(coins.Coins):
        event_kinds = ("pile halved",)

        def last_events(self, state, agent=None):
            return [{"event": "pile halved"}] if int(state.pile) == 6 else []

    with pytest.raises(SeatError, match=r"'pile halved'.*test-coins.*event_kinds"):
        Relay(first, last, at="pile halved", env=coins.Coins())
    with pytest.raises(SeatError, match=r"'pile halved'.*env="):
        Relay(first, last, at="pile halved")
    with pytest.raises(SeatError, match=r"'halved'.*pile halved"):
        Relay(first, last, at="halved", env=Told())
    handed = []
    relay = Relay(
        lambda view: view.choices[1].text,
        lambda view: handed.append(view.step) or view.choices[0].text,
        at="pile halved",
        env=Told(),
    )
    manyhands.play(Told(turns=False), relay, max_steps=6, progress=False)
    assert handed[0] == 3  # both take one in each step
    # Without kinds, a function still decides.
    Relay(first, last, at=lambda view: bool(view.events), env=coins.Coins())


def test_relays_are_partners_in_gymnasium():
    env = SeatEnv(BOARD, seat=0, partners=Relay(last, "perfect", after=3, env=BOARD))
    env.reset(seed=1)
    observation, *_ = env.step(0)
    assert observation[1, 2, 2] == 1  # the last square
    env.step(4)


def test_one_call_answers_for_a_team():
    calls = []

    async def complete(messages):
        calls.append(messages)
        await asyncio.sleep(0)
        return "We split up.\n- player_0: take 1\n**player_1**: take 0\nplayer_1: take 2"

    team = Dispatch(TeamText(complete), agents=["player_0", "player_1"])
    found = []

    def note(moment):
        found.append(moment)

    result = manyhands.play(TOGETHER, [team, team], 2, max_steps=3, on_step=note, progress=False)
    assert len(calls) == 2 * 3 and result.episodes[0].illegal == (0, 0)
    turn = next(moment.turn for moment in found if moment.turn)
    assert turn.answers == {0: "take 1", 1: "take 2"} and "We split up" in turn.info[0]["reply"]
    asked = calls[0][1]["content"]
    assert asked.count("== player_") == 2 and asked.count("12 coins") == 2


def test_lines_of_a_team_are_read_in_any_dress():
    agents = ["player_0", "player_1", "player_2"]
    reply = "<think>\nplayer_2: take 3\n</think>\n1. **Player_0:** take 1\n> `player_1` : take 2"
    assert read_team(reply, agents) == {"player_0": "take 1", "player_1": "take 2"}
    assert read_team("player_0: take 1\n<think>player_1: take 2", agents) == {"player_0": "take 1"}


def test_an_object_of_a_team_is_read_and_a_plain_function_completes():
    agents = ["player_0", "player_1"]
    both = {"player_0": "take 1", "player_1": "take 2"}
    assert read_team('I split them.\n{"player_0": "take 1", "Player_1": "take 2"}', agents) == both
    assert read_team('{"actions": {"player_0": "take 1", "player_1": "take 2"}}', agents) == both
    assert read_team("player_0 -> take 1\nplayer_1 = take 2", agents) == both
    assert read_team('{"player_0": null, "note": "player_1: take 2"}', agents) == {}
    assert read_team('{"player_0": {"action": "take 1"}}', agents) == {
        "player_0": '{"action": "take 1"}'
    }
    words = Dispatch(TeamText(lambda messages: '{"player_0": "take 1", "player_1": "take 2"}'))
    result = manyhands.play(TOGETHER, [words, words], max_steps=2, progress=False)
    assert result.episodes[0].illegal == (0, 0)
    wrong = Dispatch(TeamText(lambda messages: ["take 1"]))
    with pytest.raises(SeatError, match="complete gives the reply as text"):
        manyhands.play(TOGETHER, [wrong, wrong], max_steps=2, progress=False)


def test_the_rules_of_a_team_are_told_once_and_stay_the_same():
    asked = []

    async def complete(messages):
        asked.append(messages)
        return "chef_0: stay\nchef_1: north; SAY: mind the pot"

    heard = []
    env = manyhands.make("chat", env=manyhands.make("kitchen"))
    team = Dispatch(TeamText(complete, speech=env.chat.max_length))
    manyhands.play(
        env, [team] * 2, max_steps=3, progress=False, on_step=lambda m: heard.append(m.turn)
    )
    systems = {messages[0]["content"] for messages in asked}
    assert len(asked) == 3 and len(systems) == 1  # caches of endpoints know it
    (system,) = systems
    assert system.count("You are chef_0") == system.count("You are chef_1") == 1
    assert system.count("SAY:") >= 1 and str(env.chat.max_length) in system
    assert heard[1].said == {1: "mind the pot"} and heard[1].answers[1].startswith("north")
    words = asked[1][1]["content"]
    assert "mind the pot" in words.partition("== chef_1 ==")[0]
    assert words.rstrip().splitlines()[-2].startswith("chef_0: ")


def test_missing_answers_are_illegal_and_wrong_ones_fail():
    result = manyhands.play(
        TOGETHER, [Dispatch(lambda views: {"player_1": "take 0"})] * 2, max_steps=2, progress=False
    )
    assert result.episodes[0].illegal == (2, 0)
    assert read_team("player_2: take 0\nplayer_0:", ["player_0", "player_1"]) == {}
    for policy, message in (
        (lambda views: {"player_9": "take 0"}, "player_9"),
        (lambda views: ["take 0"], "2 answers"),
        (lambda views: "ok", "the text .ok"),  # two letters for two agents
    ):
        with pytest.raises(SeatError, match=message):
            manyhands.play(TOGETHER, [Dispatch(policy)] * 2, max_steps=2, progress=False)
    alone = Dispatch(lambda views: ["take 0"], agents=["player_0"])
    with pytest.raises(SeatError, match="seated as player_1"):
        manyhands.play(TOGETHER, ["random", alone], max_steps=2, progress=False)
    with pytest.raises(SeatError, match="cannot dispatch"):
        Dispatch("random")


def dispatched(env):
    """A seat for all agents that tells how many it answers for at once."""
    return Dispatch(lambda views: [Reply(1, info={"team": len(views)}) for _ in views])


def test_a_dispatcher_is_asked_once_in_a_season_too(tmp_path):
    register_seat("test-dispatched", f"{__name__}:dispatched")
    game = '[games.coins]\nid = "test-coins"\nconfig = { turns = false }\nself_play = true\n'
    text = f'[players]\nteam = "test-dispatched"\nother = "random"\n{game}episodes = 1\n'
    run_season(read_season(text), tmp_path / "store")
    played = {e.players: e for p in (tmp_path / "store" / "records").iterdir() for e in read(p)}
    infos = played["team", "team"].steps[0].turn.info
    assert [infos[i]["team"] for i in (0, 1)] == [2, 2]
    assert played["team", "other"].steps[0].turn.info[0]["team"] == 1
