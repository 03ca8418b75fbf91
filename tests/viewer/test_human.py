"""A person's seat, played by posted keys."""

import asyncio

import jax
import pygame
import pytest

from manyhands.core.choices import pointed
from manyhands.core.env import ConfigError, SeatError
from manyhands.core.pack import stepper
from manyhands.core.play import play
from manyhands.core.registry import make, seat
from manyhands.core.talk import Message
from manyhands.core.view import Reply, View
from manyhands.envs.kitchen.env import Kitchen
from manyhands.viewer.human import Human, bind


@pytest.fixture
def kitchen():
    return Kitchen()


@pytest.fixture
def view(kitchen):
    return View(kitchen, stepper(kitchen).reset(jax.random.key(0)), 0)


@pytest.fixture(autouse=True)
def window():
    pygame.display.init()
    pygame.display.set_mode((1000, 600))
    yield
    pygame.display.quit()


def press(*keys):
    for given in keys:
        code, letter = given if isinstance(given, tuple) else (given, "")
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=code, unicode=letter))


def type_in(text):
    press(pygame.K_RETURN, *((0, letter) for letter in text), pygame.K_RETURN)


def ask(human, view):
    return asyncio.run(asyncio.wait_for(human.act([view]), 20))[0]


@pytest.mark.parametrize(
    ("key", "word"),
    [
        (pygame.K_UP, "north"),
        (pygame.K_w, "north"),
        (pygame.K_DOWN, "south"),
        (pygame.K_LEFT, "west"),
        (pygame.K_d, "east"),
        (pygame.K_SPACE, "interact"),
        (pygame.K_PERIOD, "stay"),
        (pygame.K_x, "stay"),
    ],
)
def test_keys_of_the_kitchen(kitchen, view, key, word):
    press(pygame.K_F5, key)  # a key without a meaning is passed over
    action = ask(Human(kitchen), view).action
    assert action in view.choices and action.startswith(word)


def test_other_games_get_numbers():
    assert bind(["fold", "call 2", "raise to 4"]) == {"1": 0, "2": 1, "3": 2}
    # Not one "go" for two choices, and no more than ten numbers.
    keys = bind(["up", "wait here", "wait there", *(f"bid {i}" for i in range(12))])
    assert keys["up"] == 0 and keys["1"] == 1 and keys["2"] == 2 and len(keys) == 11


def test_numbers_choose(view):
    class Bids:
        chat, keys, noop = None, {}, 0

    view.choices = ["fold", "call 2", "raise to 4"]
    press((pygame.K_3, "3"))
    assert ask(Human(Bids()), view).action == "raise to 4"


def test_a_click_chooses(kitchen, view):
    human = Human(kitchen)
    human.paint(pygame.display.get_surface(), view)
    assert len(human._boxes) == len(view.choices)
    pygame.event.post(
        pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=human._boxes[2].center)
    )
    assert ask(human, view).action == view.choices[2]


def test_a_click_on_the_picture():
    home = make("home", task="chore_small")
    view = View(home, stepper(home).reset(jax.random.key(0)), 0)
    human = Human(home)
    human.paint(pygame.display.get_surface(), view)
    spot = next(spot for spot in view.spots if spot.text.startswith("go to "))
    area = human._picture
    x, y = spot.left + spot.width / 2, spot.top + spot.height / 4
    at = (round(area.x + x * area.width), round(area.y + y * area.height))
    beside = (area.right + 2, area.bottom - 2)
    for pos in (beside, at):
        pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=pos))
    assert ask(human, view).action == pointed(view.spots, x, y) == spot.text


def test_words_are_typed_and_refused_with_the_reason(kitchen, view):
    human = Human(kitchen)
    human.paint(before := pygame.Surface((1000, 600)), view)
    type_in("fly away")
    press(pygame.K_F5)
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(human.act([view]), 0.3))
    assert "fly away" in human._problem
    human.paint(after := pygame.Surface((1000, 600)), view)
    assert (pygame.surfarray.array3d(after) != pygame.surfarray.array3d(before)).any()
    type_in("east")
    assert ask(human, view).action == "east"
    assert not human._problem


def test_editing_a_line(kitchen, view):
    press(pygame.K_RETURN, (0, "x"), pygame.K_BACKSPACE, (0, "e"), (0, "a"), (0, "s"), (0, "t"))
    press(pygame.K_RETURN)
    assert ask(Human(kitchen), view).action == "east"
    # Escape leaves the line, not the game; letters in a line are no moves.
    press(pygame.K_RETURN, (pygame.K_w, "w"), pygame.K_ESCAPE, pygame.K_LEFT)
    assert ask(Human(kitchen), view).action.startswith("west")


def test_messages_go_with_the_next_action(kitchen, view):
    class Talking(Kitchen):
        chat = True

    press((pygame.K_t, "t"), (0, "h"), (0, "i"), pygame.K_RETURN, pygame.K_UP, pygame.K_UP)
    human = Human(Talking())
    assert ask(human, view).say == "hi"
    assert ask(human, view).say is None
    press((pygame.K_t, "t"), pygame.K_UP)  # without a channel t means nothing
    assert ask(Human(kitchen), view) == Reply(view.choices[0])


def test_what_was_heard_is_shown(kitchen):
    frame = stepper(kitchen).reset(jax.random.key(0))
    pictures = []
    for messages in ((), (Message("chef_1", "the pot is ready"),)):
        canvas = pygame.Surface((1000, 600))
        Human(kitchen).paint(canvas, View(kitchen, frame, 0, messages=messages))
        pictures.append(pygame.surfarray.array3d(canvas).tobytes())
    assert pictures[0] != pictures[1]


def test_pace_plays_without_an_answer(kitchen, view):
    assert ask(Human(kitchen, pace=0.05), view).action == kitchen.noop
    with pytest.raises(ConfigError, match="pace"):
        Human(kitchen, pace=0)


@pytest.mark.parametrize("leave", ["escape", "cross"])
def test_leaving_ends_the_run(kitchen, leave):
    press(pygame.K_UP)
    if leave == "escape":
        press(pygame.K_ESCAPE)
    else:
        pygame.event.post(pygame.event.Event(pygame.QUIT))
    human = seat("human", kitchen)
    with pytest.raises(SeatError, match="has left the game"):
        play(kitchen, [human, "random"], 4, concurrency=2)
    assert not pygame.display.get_init()


def test_a_person_plays_beside_others(kitchen):
    answers = []

    class Sure(Human):
        async def act(self, views):
            press(pygame.K_LEFT)
            answers.extend(await super().act(views))
            return answers[-len(views) :]

    moments = []
    play(kitchen, [Sure(kitchen), "random"], max_steps=3, on_step=moments.append)
    assert [reply.action.partition(":")[0] for reply in answers] == ["west"] * 3
    assert [moment.turn.actions[0] for moment in moments[1:]] == [3, 3, 3]


def test_two_people_take_turns_at_the_window(kitchen):
    moments = []
    press(pygame.K_LEFT, pygame.K_RIGHT, pygame.K_UP, pygame.K_DOWN)
    # One of them answers, then the other: keys are not lost between them.
    play(kitchen, [Human(kitchen), Human(kitchen)], max_steps=2, on_step=moments.append)
    used = [moment.turn.actions[i] for moment in moments[1:] for i in (0, 1)]
    assert used == [3, 2, 0, 1]
