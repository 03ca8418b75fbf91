"""A volleyball player that plays from words alone, as a language model would: it reads the text and
the choices at each event, and answers with a sentence and an ACTION line that names a skill.

It is stateless: the same text always gets the same answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from manyhands.baselines.players.macro import embody
from manyhands.core.env import Env, SeatError
from manyhands.core.view import Reply, View
from manyhands.wrappers.events import Events

Spot = tuple[float, float]

_COURT = re.compile(r"([\d.]+) m long, ([\d.]+) m wide")
_NAME = re.compile(r"You are (\w+)(?: with (.*?))?, against")
_LANDS = re.compile(r"Untouched, it lands at \((-?[\d.]+), (-?[\d.]+)\) m in ([\d.]+) s: (.*)\.")
_PLACE = re.compile(r"^(\w+): at \((-?[\d.]+), (-?[\d.]+), ", re.M)
_HOME = re.compile(r"your place is \((-?[\d.]+), (-?[\d.]+), ")
_TOUCHED = re.compile(r"Touched it since it came: (.*?)\.")
_SKILL = re.compile(r"([a-z ]+?)(?: \([^)]*\))?:")
_HEIGHT = {"go to": ", 1.6", "set to": ", 3"}  # m, of places that are not on the floor


class _Court:
    """The court, as far as the text describes it."""

    def __init__(self, view: View):
        text = view.describe("normal")
        size, name = _COURT.search(view.rules), _NAME.search(text)
        if size is None or name is None:
            raise SeatError(f"this reader plays volleyball; this is no match's text: {text[:60]!r}")
        self.length, self.width = float(size[1]) / 2, float(size[2]) / 2
        self.me = name[1]
        self.mates = re.findall(r"\w+_\d+", name[2] or "")
        places = {name: (float(x), float(y)) for name, x, y in _PLACE.findall(text)}
        self.places = {**places, self.me: places["You"]}
        home = _HOME.search(text)
        self.home = (float(home[1]), float(home[2])) if home else self.places[self.me]
        self.served = "has not been touched yet" not in text
        lands = _LANDS.search(text)
        self.lands = (float(lands[1]), float(lands[2])) if lands else None
        self.out = bool(lands) and "outside the court" in lands[4]  # type: ignore[index]
        touched = _TOUCHED.search(text)
        mine = "The ball is in your half" in text
        names = touched[1].split(", ") if touched and mine else []
        self.touched = [
            self.me if other == "you" else other for other in names if other != "nobody"
        ]
        found = [_SKILL.match(choice) for choice in view.choices]
        self.offers = {skill[1] for skill in found if skill}

    def nearest(self, kind: str, spot: Spot) -> str:
        """The choice of one kind nearest to a place: any numbers mean that."""
        x, y = (round(number, 2) for number in spot)
        return f"{kind} ({x:g}, {y:g}{_HEIGHT.get(kind, '')})"

    def closest(self, names: Sequence[str], spot: Spot) -> str:
        return min(names, key=lambda name: (math.dist(self.places[name], spot), name))


def _decide(court: _Court) -> tuple[str, str]:
    """(why, choice)."""
    if "serve" in court.offers:
        return "It is mine to serve.", "serve"
    home = court.nearest("go to", court.home)
    if not court.served or court.lands is None or court.lands[0] < 0:
        return "The ball is not coming: I wait at my place.", home
    if court.out:
        return "That ball goes out: I leave it.", home
    if not court.mates:
        if "bump to" not in court.offers:
            return "It is not mine to touch: I wait at my place.", home
        return "The ball is mine: I send it back.", court.nearest(
            "bump to", (-0.8 * court.length, 0.0)
        )
    return _in_team(court, home)


def _in_team(court: _Court, home: str) -> tuple[str, str]:
    """Receive, set, spike: by the nearest drone that has not touched the ball."""
    assert court.lands is not None
    setting, attack = (0.25 * court.length, 0.0), (0.4 * court.length, 0.5 * court.width)
    free = [name for name in (court.me, *court.mates) if name not in court.touched]
    if court.me not in free:
        return "I have had my touch: I cover.", home
    order = []
    for spot in ([court.lands, setting, attack], [court.lands, attack], [court.lands])[
        min(len(court.touched), 2)
    ]:
        if free:
            order.append(court.closest(free, spot))
            free.remove(order[-1])
    if order[0] != court.me or "receive" not in court.offers:
        if len(court.touched) == 0 and order[1:2] == [court.me]:
            return "I get ready to set.", court.nearest("go to", setting)
        if order[-1] == court.me:
            return "I get ready to attack.", court.nearest("go to", attack)
        return "It is another's ball: I cover.", home
    if len(court.touched) == 0:
        return "The ball is mine: I receive it.", "receive"
    if len(court.touched) == 1:
        return "I set it up.", court.nearest("set to", attack)
    others = [spot for spot in court.places.values() if spot[0] < 0]
    corners = [(-0.8 * court.length, side * court.width) for side in (-0.5, 0.5)]
    goal = max(corners, key=lambda spot: min(math.dist(spot, other) for other in others))
    return "I attack where they are not.", court.nearest("spike to", goal)


class VolleyballReader:
    """A text player for volleyball from event to event; a host policy."""

    name = "text"

    def act(self, views: Sequence[View]) -> list[Reply]:
        replies = []
        for view in views:
            why, choice = _decide(_Court(view))
            replies.append(Reply(f"{why}\nACTION: {choice.split(':')[0]}"))
        return replies


def reader(env: Env) -> object:
    """The text player for `env`, volleyball with or without the wrapper `events`: it always chooses
    skills from event to event."""
    if isinstance(env, Events) and env.per == "agent":
        return VolleyballReader()
    if env.id == "volleyball":
        return embody(VolleyballReader(), Events(env))
    raise SeatError(f"this reader plays volleyball, by itself or in `events`; given {env!r}")
