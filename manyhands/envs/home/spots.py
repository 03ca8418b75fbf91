"""What a click on a picture of a home means: a place is gone to or used, a thing is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pygame

from manyhands.core.choices import Spot
from manyhands.envs.home.draw import RUG, Scene, Seen, in_hand, laid_out, room_for
from manyhands.envs.home.scene import facts_of, held, open_actions
from manyhands.envs.home.state import CLEAN, COOL, HOT, LIGHTS, Actions, HomeState
from manyhands.envs.home.text import choices

if TYPE_CHECKING:
    from manyhands.envs.home.env import Home

_DOOR = 0.3  # of a square: the strip at the foot of a receptacle that opens or shuts it


def spots(home: Home, state: HomeState, size: tuple[int, int], agent: int) -> list[Spot]:
    """The areas of a player's picture that stand for an action which is possible now: a room, or a
    receptacle, to go there; the receptacle where it is, to do there what is possible with what it
    holds, else to open it, turn its lamp on, or shut it; its foot, to open or shut it in any case;
    an object there, to take it; what it holds, to pack it, or as the receptacle; itself, to wait.
    """
    if agent >= home.players:
        return []
    facts, do = facts_of(home, state), Actions(home)
    actions = open_actions(home, facts, agent)
    words = dict(zip(actions, (choice.text for choice in choices(home, state, agent)), strict=True))
    seen = Seen(home, state, agent)
    scene = Scene(seen, pygame.Surface(size))
    hands = {h: o for h, o in enumerate(held(home, facts, agent)) if o is not None}
    at = facts.at[agent]
    found: list[Spot] = []

    def add(left: float, top: float, wide: float, high: float, *wanted: int) -> None:
        """The first action of those wanted that is possible."""
        for action in wanted:
            if action in words:
                box = (left / size[0], top / size[1], wide / size[0], high / size[1])
                found.append(Spot(*box, words[action]))
                return

    # What is clean already need not be cleaned again, so that a click puts it down.
    bits = {h: facts.bits[o] for h, o in hands.items()}
    changes = [
        first + h
        for first, bit in ((do.clean, CLEAN), (do.heat, HOT), (do.cool, COOL))
        for h in hands
        if not bits[h] & bit
    ]
    here = [*changes, do.open, *(do.put + h for h in hands), do.use, do.close]
    for room in seen.rooms:
        box = scene.boxes[room]
        add(box.x, box.y, box.width, box.height, do.room + room)
        for place in scene.slots[room]:
            x, y, side = scene.squares[room, place]
            if place == RUG:
                continue
            mine = place == at
            add(x, y, side, side, *(here if mine else [do.go + place]))
            if mine:
                add(x, y + (1 - _DOOR) * side, side, _DOOR * side, do.open, do.close)
                things = laid_out(seen.inside(place), room_for(seen, scene, room, place))
                for thing, left, top, wide in things:
                    lamp = [do.use] if facts.traits[thing] & LIGHTS else []
                    cut = [do.slice + thing] if home.slicing else []
                    add(left, top, wide, wide, do.take + thing, *cut, *lamp)
    if agent in scene.spots:
        x, y, cell = scene.spots[agent]
        add(x + 0.2 * cell, y, 0.6 * cell, cell, do.WAIT)
        for h in hands:
            left, top, wide = in_hand(scene, agent, h)
            own = [
                action for action in changes if action in (do.clean + h, do.heat + h, do.cool + h)
            ]
            add(left, top, wide, wide, do.pack + h, *own, do.put + h)
    return found
