"""Kitchens in which one recipe is asked for at a time, as in OvercookedV2 (Gessler et al.,
"OvercookedV2: Rethinking Overcooked for Zero-Shot Coordination", ICLR 2025): up to four kinds of
ingredients, the codes of what is made of them, and that game's layouts.

The layouts are those of JaxMARL 0.2.0, its start cells included, in the symbols of `levels.py`. Its
ingredients 0, 1, 2 and 3 are the onion, the tomato, the carrot and the mushroom.
"""

from __future__ import annotations

KINDS = ("onion", "tomato", "carrot", "mushroom")
PLURALS = ("onions", "tomatoes", "carrots", "mushrooms")
INGREDIENTS = (1, 2, 4, 5)  # the object code of each kind; 3 is the dish
SHIFTS = (2, 0, 5, 7)  # of the two bits of each kind in the code of a soup
SOUP = 16
WIDE = 512  # codes there are, soups included

Counts = tuple[int, ...]


def counts(code: int) -> Counts:
    """How many of each kind are in a soup, or in a pot."""
    return tuple(code >> shift & 3 for shift in SHIFTS)


def soup_code(recipe: Counts) -> int:
    """The code of a soup of these ingredients; `recipe` may leave out the last kinds."""
    code = SOUP
    for count, shift in zip(recipe, SHIFTS, strict=False):
        code |= count << shift
    return code


def _all_recipes() -> tuple[Counts, ...]:
    found: list[Counts] = []
    for total in (1, 2, 3):
        for code in range(4 ** len(KINDS)):
            recipe = tuple(code >> 2 * k & 3 for k in range(len(KINDS)))
            if sum(recipe) == total:
                found.append(recipe)
    return tuple(found)


RECIPES = _all_recipes()  # one to three ingredients together

_EITHER = ((3, 0), (0, 3))  # three onions or three tomatoes
PREFIX = "overcooked_v2/"
# Name -> (layout, recipes that may be asked for; None: all of three ingredients that there are).
_LAYOUTS: dict[str, tuple[str, tuple[Counts, ...] | None]] = {
    "cramped_room": (
        """
        XXPXX
        O2 1O
        X   X
        XDXSX
        """,
        ((3, 0),),
    ),
    "asymm_advantages": (
        """
        XXXXXXXXX
        O XSXOX S
        X   P   X
        X 1 P2  X
        XXXDXDXXX
        """,
        ((3, 0),),
    ),
    "coord_ring": (
        """
        XXXPX
        X 1 P
        D2X X
        O   X
        XOSXX
        """,
        ((3, 0),),
    ),
    "forced_coord": (
        """
        XXXPX
        O X1P
        O2X X
        D X X
        XXXSX
        """,
        ((3, 0),),
    ),
    "counter_circuit": (
        """
        XXXPPXXX
        X 2    X
        D XXXX S
        X     1X
        XXXOOXXX
        """,
        ((3, 0),),
    ),
    "cramped_room_v2": (
        """
        XXPXX
        O1 2T
        X   R
        XDXSX
        """,
        None,
    ),
    "asymm_advantages_recipes_center": (
        """
        XXXXXXXXX
        O XSROT S
        T   P   X
        X 1 P2  X
        XXXDXDXXX
        """,
        None,
    ),
    "asymm_advantages_recipes_right": (
        """
        XXXXXXXXX
        O XSXOT S
        T   P   R
        X 1 P2  X
        XXXDXDXXX
        """,
        None,
    ),
    "asymm_advantages_recipes_left": (
        """
        XXXXXXXXX
        O XSXOT S
        T   P   R
        R 1 P2  X
        XXXDXDXXX
        """,
        None,
    ),
    "two_rooms": (
        """
        XXXXXDTOX
        X   X   R
        P 1 X 2 X
        X   X   S
        XXXXXXXXX
        """,
        None,
    ),
    "two_rooms_both": (
        """
        XOTDXDTOX
        X   X   R
        P 1 X 2 X
        X   X   S
        XXXXXXXXX
        """,
        None,
    ),
    "long_room": (
        """
        XXXXXXXXXXXXXXX
        D            1P
        O             S
        XXXXXXXXXXXXXXX
        """,
        ((3, 0),),
    ),
    "fun_coordination": (
        """
        XXXXXXXXX
        O   S   C
        R1  P  2X
        T   D   M
        XXXXXXXXX
        """,
        ((2, 0, 1, 0), (0, 2, 0, 1)),
    ),
    "more_fun_coordination": (
        """
        XXXXXXXXX
        X   S   X
        R1  P  2T
        O   P   C
        X   D   X
        XXXXXXXXX
        """,
        ((1, 2), (1, 0, 2, 0)),
    ),
    "fun_symmetries": (
        """
        XXXXDXX
        C  X  O
        R 1P2 S
        C  X  T
        XXXXDXX
        """,
        _EITHER,
    ),
    "fun_symmetries_plates": (
        """
        XXXXXXX
        D  X  O
        R 1P2 S
        D  X  T
        XXXXXXX
        """,
        _EITHER,
    ),
    "fun_symmetries1": (
        """
        XXXXXDXX
        C  XX  O
        R 1XP2 S
        C  XX  T
        XXXXXDXX
        """,
        _EITHER,
    ),
    "grounded_coord_simple": (
        """
        XXCXXXXX
        X  XD  O
        R 1BP2 S
        X  XD  T
        XXCXXXXX
        """,
        _EITHER,
    ),
    "grounded_coord_ring": (
        """
        XXXCRCXXX
        X       X
        X XXBXX X
        C O   D C
        R1S2P S R
        C T   D C
        X XXBXX X
        X       X
        XXXCRCXXX
        """,
        _EITHER,
    ),
    "test_time_simple": (
        """
        XXCXXXXX
        X  XD  O
        R 1XP2 S
        X  XD  T
        XXCXXXXX
        """,
        _EITHER,
    ),
    "test_time_wide": (
        """
        XXSDXX
        O 1  O
        T    T
        XPXPXX
        M 2  M
        X    X
        XXRXXX
        """,
        _EITHER,
    ),
    "demo_cook_simple": (
        """
        XXXXXRCXOXX
        O      X  D
        X     1P2 S
        T      X  D
        XXXXXRCXTXX
        """,
        _EITHER,
    ),
    "demo_cook_wide": (
        """
        XXXXDSDXXXX
        XXXO 1 TXXX
        XXXXXPXXXXX
        X    2    X
        O  XMRMX  O
        XTXXXXXXXTX
        """,
        _EITHER,
    ),
}
LAYOUTS = {PREFIX + name: known for name, known in _LAYOUTS.items()}
