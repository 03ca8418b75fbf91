"""Kinds of rooms, receptacles and objects, and what can be done with them: data
(`assets/home/catalog.json`), by name in alphabetical order."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

ASSET = Path(__file__).parents[2] / "assets" / "home" / "catalog.json"
PROPERTIES = ("clean", "heat", "cool", "slice", "cut", "lamp")  # of objects
ABILITIES = ("opens", "cleans", "heats", "cools")  # of receptacles


class Catalog:
    """The kinds of a home as tables.

    Args:
        source: as in the shipped file. `rooms`: the receptacles that each `needs`. `receptacles`:
            the `rooms` where they stand, the kinds of objects that each `takes`, how many there are
            at `most` in a room (by default one), and its abilities: `opens` (and closes),
            `cleans`, `heats`, `cools`. `objects`: what can be done to them (`clean`, `heat`,
            `cool`, `slice`) or with them (`cut`, `lamp`), and how many objects each `holds`.

    Attributes:
        room_kinds, receptacle_kinds, object_kinds: names.
        can: by ability, bool[kinds of receptacles]; `"takes"`: bool[kinds of receptacles, kinds of
            objects].
        may: by property, bool[kinds of objects]; `"carry"`: all but lamps; `"pack"`: all that can
            be put into a container.
        holds: u8[kinds of objects], how many objects a container holds; 0: it is none.
        most: u8[kinds of receptacles], how many of a kind are in a room at most.
        stands: bool[kinds of rooms, kinds of receptacles], where receptacles may stand.
        needs: bool of the same shape, without which there is no such room.
    """

    def __init__(self, source: Mapping[str, Any]):
        self.source = source
        rooms, receptacles, objects = (source[key] for key in ("rooms", "receptacles", "objects"))
        self.room_kinds = tuple(sorted(rooms))
        self.receptacle_kinds = tuple(sorted(receptacles))
        self.object_kinds = tuple(sorted(objects))
        kinds = [receptacles[name] for name in self.receptacle_kinds]
        self.can = {a: np.array([bool(kind.get(a)) for kind in kinds]) for a in ABILITIES}
        self.can["takes"] = np.array(
            [[name in kind["takes"] for name in self.object_kinds] for kind in kinds]
        )
        things = [objects[name] for name in self.object_kinds]
        self.may = {p: np.array([bool(thing.get(p)) for thing in things]) for p in PROPERTIES}
        self.holds = np.array([thing.get("holds", 0) for thing in things], np.uint8)
        self.may["carry"] = ~self.may["lamp"]
        self.may["pack"] = self.may["carry"] & (self.holds == 0)
        self.most = np.array([kind.get("most", 1) for kind in kinds], np.uint8)
        self.stands = np.array(
            [[room in kind["rooms"] for kind in kinds] for room in self.room_kinds]
        )
        self.needs = np.array(
            [
                [name in rooms[room]["needs"] for name in self.receptacle_kinds]
                for room in self.room_kinds
            ]
        )


def words(name: str) -> str:
    """The name of a kind as it is said: `"wine bottle"`."""
    return name.replace("_", " ")


@functools.cache
def shipped() -> Catalog:
    """The catalog that comes with the package."""
    return Catalog(json.loads(ASSET.read_text()))
