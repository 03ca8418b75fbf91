"""How kinds of things may be called, for readers of sentences: the names of the catalog, their
everyday names, and ALFWorld's, which are written in one word ("countertop 1")."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from manyhands.core.reading.words import tokens, whole_number
from manyhands.envs.home.catalog import words

_list = str.split
# Kind -> everyday names. A name may belong to several kinds.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "armchair": ("arm chair", "easy chair", "chair"),
    "bathtub_basin": ("bathtub", "bath tub", "tub", "bath"),
    "bed": (),
    "cabinet": ("cupboard",),
    "coffee_machine": ("coffee maker", "coffeemaker", "espresso machine"),
    "coffee_table": ("table",),
    "counter_top": ("counter", "kitchen counter", "countertop", "worktop", "work surface"),
    "desk": ("writing desk", "work desk"),
    "dining_table": ("dinner table", "kitchen table", "table"),
    "dishwasher": ("dish washer", "dishwashing machine"),
    "drawer": (),
    "dresser": ("chest of drawers",),
    "floor_corner": ("corner", "corner of the floor", "corner of floor", "corner on the floor"),
    "fridge": ("refrigerator", "icebox"),
    "garbage_can": (
        *("trash can", "rubbish bin", "waste bin", "bin", "dustbin", "garbage bin"),
        *("trash", "garbage", "wastebasket", "trashcan", "trash bin", "waste basket", "rubbish"),
        "the can",  # as "can" alone is a verb
    ),
    "hand_towel_holder": (
        *("hand towel rack", "hand towel rail", "hand towel hanger", "hand towel hook"),
        *("hand towel bar", "hand towel stand", "hand towel thing"),
    ),
    "microwave": ("microwave oven",),
    "shelf": ("shelves", "bookshelf", "bookcase"),
    "side_table": ("nightstand", "night stand", "bedside table", "table"),
    "sink_basin": ("sink", "basin", "washbasin", "wash basin", "hand basin"),
    "sofa": ("couch", "settee", "divan"),
    "stove_burner": (
        *("burner", "stove", "hob", "cooker", "cooktop", "stovetop", "stove top", "hotplate"),
        *("burner on the stove", "burner of the stove", "hot plate"),
    ),
    "toilet": ("loo", "toilet bowl", "lavatory", "wc"),
    "toilet_paper_hanger": (
        *("toilet paper holder", "toilet roll holder", "toilet roll hanger", "loo roll holder"),
        *("toilet paper rack", "toilet paper stand", "toilet paper dispenser"),
        *("toilet paper thing", "toilet paper hook", "paper hanger"),
    ),
    "towel_holder": (
        *("towel rack", "towel rail", "towel bar", "towel hanger", "towel hook", "towel stand"),
        *("towel thing",),
    ),
    "tv_stand": ("television stand", "tv table", "tv unit", "tv cabinet", "telly stand"),
    "alarm_clock": ("clock",),
    "box_of_tissues": ("tissue box", "tissues", "box of tissue"),
    "bread": ("loaf of bread", "loaf"),
    "cd": ("compact disc", "disc", "disk"),
    "cloth": ("rag",),
    "coffeepot": ("coffee pot",),
    "credit_card": ("card",),
    "desk_lamp": ("lamp", "table lamp"),
    "dish_sponge": ("sponge",),
    "floor_lamp": ("lamp", "standing lamp"),
    "glass_bottle": ("bottle",),
    "key_chain": ("keys", "bunch of keys", "key ring", "keyring"),
    "laptop": ("computer", "laptop computer", "notebook"),
    "pepper_shaker": ("pepper",),
    "phone": ("cell phone", "mobile phone", "mobile", "smartphone"),
    "pan": ("frying pan", "fry pan", "skillet"),
    "pen": ("ballpoint", "ballpoint pen", "biro"),
    "plate": ("dish",),
    "pot": ("cooking pot", "saucepan"),
    "kettle": ("tea kettle", "teakettle"),
    "juice": ("bottle of juice", "carton of juice", "juice carton", "juice bottle"),
    "mug": ("coffee mug",),
    "cup": ("teacup", "tea cup", "coffee cup"),
    "lettuce": ("head of lettuce", "salad"),
    "magazine": ("journal",),
    "newspaper": ("paper",),
    "plunger": ("toilet plunger",),
    "poundcake": ("pound cake", "cake"),
    "statue": ("statuette", "figurine", "sculpture"),
    "wine": ("glass of wine",),
    "remote": ("remote control", "tv remote", "clicker"),
    "salt_shaker": ("salt",),
    "soap_bar": ("soap", "bar of soap"),
    "soap_bottle": ("bottle of soap", "bottle"),
    "spray_bottle": ("spray", "bottle"),
    "toilet_paper": ("toilet roll", "roll of toilet paper"),
    "watch": ("wristwatch", "wrist watch"),
    "wine_bottle": ("bottle of wine", "bottle"),
    "wardrobe": ("closet",),
    "bathroom": ("bath room", "washroom", "restroom"),
    "bedroom": ("bed room",),
    "living_room": ("lounge", "sitting room", "front room"),
    "office": ("study", "home office", "workroom"),
}
# What a name may stand for where nobody knows of anything that is called so.
LOOSELY: Mapping[str, str] = {"wine": "wine_bottle"}
# ALFWorld's names, where they are not the same words written together.
ALFWORLD: Mapping[str, str] = {
    "box_of_tissues": "tissuebox",
    "phone": "cellphone",
    "remote": "remotecontrol",
}
_PLURALS = {"knives": "knife", "loaves": "loaf", "boxes": "box", "shelves": "shelf"}
_ORDINALS = {word: k for k, word in enumerate(_list(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth"), start=1)}  # fmt: skip
_LONGEST = 5  # words of a name
MOST_NUMBER = 99
POINTED = ("this", "other")
# "The last mug" is the one that is there, and one of two is none.
_SINGLE = (
    *(("last",), ("only",), ("remaining",), ("final",), ("sole",), ("another",), ("one", "more")),
    *(("last", "remaining"), ("only", "remaining"), ("only", "other"), ("very", "last")),
    *(("one", "last"), ("1", "more"), ("1", "last"), ("one", "remaining"), ("single",)),
)
_OF_ALL = ("the", "these", "those", "my", "two", "three", "four", "2", "3", "4")


class Named(NamedTuple):
    """A thing as a sentence names it.

    Attributes:
        kinds: the kinds that it may be.
        number: its number within its kind, or None if the sentence gives none.
        pointed: "this", what is here or held; "other", the one beside it; "last", what is alone of
            its kind; "" without any.
    """

    kinds: tuple[int, ...]
    number: int | None
    pointed: str = ""


def alfworld_name(kind: str) -> str:
    """A kind of the catalog as ALFWorld writes it."""
    return ALFWORLD.get(kind, kind.replace("_", ""))


def plural(name: str) -> str:
    """Several things of a kind: "mugs", "boxes of tissues"."""
    head, of, rest = name.partition(" of ")
    if head.endswith("knife"):
        several = f"{head[:-2]}ves"
    elif head.endswith(("s", "x", "ch", "sh", "tomato", "potato")):
        several = f"{head}es"
    elif head == "shelf":
        several = "shelves"
    else:
        several = f"{head}s"
    return several + of + rest


@functools.cache
def vocabulary(
    names: tuple[str, ...], several: bool = False
) -> dict[tuple[str, ...], tuple[int, ...]]:
    """The words of every name of some kinds -> the kinds that it may be, by index. A kind's own
    name means that kind alone.

    Args:
        several: whether plurals are among them.
    """

    def forms(name: str) -> tuple[str, ...]:
        return (name, plural(name)) if several else (name,)

    found: dict[tuple[str, ...], tuple[int, ...]] = {}
    for kind, name in enumerate(names):
        for alias in ALIASES.get(name, ()):
            for said in forms(alias):
                key = tuple(tokens(said))
                found[key] = (*(k for k in found.get(key, ()) if k != kind), kind)
    for kind, name in enumerate(names):
        for own in (words(name), alfworld_name(name)):
            for said in forms(own):
                found[tuple(tokens(said))] = (kind,)
    return found


class Names:
    """A slot of a `Grammar`: things with their numbers, as `Named`; "mug 2", "mug two", "mug #2",
    "the second mug", "the second of the mugs", "the mug", "the last mug"; "mugs", where there may
    be `several`; and "this mug" and "the other mug", where a sentence may be `pointing`."""

    def __init__(self, names: tuple[str, ...], several: bool = False, pointing: bool = False):
        self.known = vocabulary(names, several)
        self.pointing = pointing
        self.all_known = vocabulary(names, True)
        self.begin = {key[0] for key in self.all_known}

    def __call__(self, said: list[str], start: int) -> Iterator[tuple[Named, int]]:
        pointed = said[start] if self.pointing and said[start] in POINTED else ""
        rank = _rank(said[start])
        single = _singled(said, start)
        first = start + (rank is not None or bool(pointed)) + single
        if rank is not None and said[first : first + 1] == ["of"]:
            yield from self._of_all(said, start, first + 1, rank)
            return
        if first >= len(said) or said[first] not in self.begin:
            return
        for length in range(1, min(_LONGEST, len(said) - first) + 1):
            kinds = self.known.get(tuple(said[first : first + length]))
            if kinds is None:
                continue
            end = first + length
            yield Named(kinds, rank, "last" if single and self.pointing else pointed), end - start
            if rank is None and not pointed and not single:
                end += end < len(said) and said[end] in ("number", "numbered", "no", "nr", "#")
                number = whole_number(said[end]) if end < len(said) else None
                if number is not None and 0 < number <= MOST_NUMBER:
                    yield Named(kinds, number), end + 1 - start

    def _of_all(
        self, said: list[str], start: int, first: int, rank: int
    ) -> Iterator[tuple[Named, int]]:
        """ "The second of the two shelves"."""
        while first < len(said) and said[first] in _OF_ALL:
            first += 1
        for length in range(1, min(_LONGEST, len(said) - first) + 1):
            kinds = self.all_known.get(tuple(said[first : first + length]))
            if kinds is not None:
                yield Named(kinds, rank), first + length - start


def _singled(said: list[str], start: int) -> int:
    """The number of words that say that one alone is meant: "last", "one more"."""
    fits = (len(words) for words in _SINGLE if tuple(said[start : start + len(words)]) == words)
    return max(fits, default=0)


def _rank(word: str) -> int | None:
    """The number of an ordinal: "second", "2nd"."""
    if word in _ORDINALS:
        return _ORDINALS[word]
    if word[-2:] in ("st", "nd", "rd", "th") and word[:-2].isdigit():
        return int(word[:-2])
    return None
