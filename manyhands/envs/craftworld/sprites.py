"""The pictures of CraftWorld: pixel art of 14 x 14 pixels, written as letters of a palette.

A row of 7 letters is the left half of a picture that is the same on both sides. The atlas of the
`pixels` observation has every picture at half its size, 7 x 7 pixels.
"""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.env import Array
from manyhands.core.render import Colour
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.setting import UNKNOWN, Setting
from manyhands.envs.craftworld.state import VIEW

SIZE = 14  # pixels of a picture's side
CELL = 7  # pixels of a cell's side in the `pixels` observation

# Blue and orange first: the pair that most colour-blind people tell apart best.
PLAYERS: tuple[Colour, ...] = (
    (62, 128, 222),
    (240, 132, 40),
    (190, 84, 200),
    (240, 205, 60),
    (46, 172, 176),
    (226, 84, 120),
    (150, 108, 66),
    (232, 236, 240),
)

PALETTE: dict[str, Colour] = {
    "k": (32, 28, 42),  # ink
    "w": (248, 246, 238),
    "l": (196, 201, 210),
    "m": (150, 156, 168),
    "d": (112, 117, 132),
    "n": (66, 68, 84),
    "G": (140, 200, 92),  # grass, from light to dark
    "g": (112, 178, 76),
    "h": (92, 158, 66),
    "f": (66, 136, 62),  # leaves
    "F": (42, 98, 56),
    "y": (252, 218, 98),
    "o": (244, 152, 52),
    "r": (220, 68, 60),
    "R": (150, 38, 48),
    "p": (242, 158, 164),
    "s": (244, 202, 158),  # skin
    "S": (212, 156, 114),
    "b": (84, 56, 44),  # wood, from dark to light
    "B": (142, 96, 58),
    "t": (186, 136, 84),
    "T": (224, 182, 122),
    "c": (150, 212, 246),  # water, from light to dark
    "u": (72, 146, 222),
    "U": (48, 104, 184),
    "i": (236, 164, 112),  # iron
    "I": (188, 108, 72),
    "a": (238, 222, 164),  # sand
    "A": (220, 200, 138),
    "q": (190, 170, 138),  # path
    "Q": (168, 147, 117),
    "v": (160, 112, 210),
    "V": (106, 66, 150),
}

# ---- the ground ----------------------------------------------------------------------------------

_GRASS = """
gggggggggggggg
ggGgggggggghgg
ggGghggggghggg
ggggghggggggGg
gggggggggggGgg
ghgggggggggggg
gghggGgggggggg
ggggGggggghggg
gggggggggggghg
ggggggggGggggg
gGggggggGggggg
ggGgghgggggggg
gggghgggggghgg
gggggggggGgggg
"""

_MEADOW = """
gggggggggggggg
gggghggggggggg
ggghgggggpgggg
ggggggggpypGgg
gGggggggGpgGgg
gGgggggggGgggg
gggggghggggggg
ggggghgggggggg
ggwgggggggghgg
gwywggggggghgg
ggwGgggGgggggg
ggGggggGgggggg
gggggggggghggg
ggggggggghgggg
"""

_WATER = """
uuuuuuuuuuuuuu
uuuuuuuuuuuuuu
uucccuuuuuuuuu
uuuuuccuuuuuuu
uuuuuuuuuuUUUu
uuuuuuuuuUuuuu
uuuuuuuuuuuuuu
UUuuuuuucccuuu
uuUUuuuuuuuccu
uuuuuuuuuuuuuu
uuuuUUUuuuuuuu
uuuuuuuuuuuuuu
ucccuuuuuuuUUu
uuuuuuuuuuuuuu
"""

_STONE = """
dmmmmmmdmmmmmd
mllmmmmdmlmmmd
mlmmmmddmmmmmd
mmmmmmdmmmmmdd
ddmmmddddddddm
mddddddmmmmmdm
mmmmmdmllmmmmd
mlmmmdmlmmmmmd
mmmmmdmmmmmmmd
mmmmddmmmmmmdd
dddddmdddddddm
mllmmmmdmllmmm
mlmmmmmdmlmmmm
mmmmmmddmmmmmm
"""

_PATH = """
qqqqqqqqqqqqqq
qqqqQqqqqqqqqq
qqqqqqqqqqQQqq
qqqqqqqqqqqqqq
qQQqqqqqqqqqqq
qqqqqqqQqqqqqq
qqqqqqqqqqqqQq
qqqqqqqqqqqqqq
qqqQqqqqqQQqqq
qqqqqqqqqqqqqq
qqqqqqqqqqqqqq
qQqqqqQQqqqqqq
qqqqqqqqqqqQqq
qqqqqqqqqqqqqq
"""

_SAND = """
aaaaaaaaaaaaaa
aaaaaaaaaAaaaa
aaAAaaaaaaaaaa
aaaaAaaaaaaAAa
aaaaaaaaaaaaaA
aaaaaaaAaaaaaa
aAaaaaaaaaaaaa
aaaaaaaaaaaaaa
aaaaaaAAAaaaaa
aaaaaaaaaAaAaa
aaAaaaaaaaaaaa
aaaaaaaaaaaaaa
aaaaAaaaaaAAaa
aaaaaaaaaaaaaa
"""

_LAVA = """
oooooorrroooor
oyyooooorroooo
oooyyooooooooo
rroooooooyyyoo
orrroooooooyoo
ooorooyyoooooo
oooooooyyyooor
yyoooooooooorr
oyyoooorrroooo
oooooorrrooyyo
oorrooooooooyy
orroooyyyooooo
ooooooooyyoooo
oyyoooooooorrr
"""

_TREE = """
.....FFFF.....
...FFffffFF...
..FffGgffffF..
.FffGGgffffFF.
.FfGGgfffffFF.
FffGgffffgffFF
FffffffffffFFF
FffffffFfffFFF
.FFffgffffFFF.
..FFFfFFFFFF..
....FFbBFF....
.....bBtb.....
.....bBtb.....
....bbBBbb....
"""

# Lumps in a rock.
_ORE = """
..............
...xx.........
..xXXx........
..xXXx...xx...
...xx...xXXx..
........xXXXx.
.........xXx..
...xx.........
..xXXx........
..xXXXx..xx...
...xXx..xXXx..
....x...xXXx..
.........xx...
..............
"""

_GEMS = """
..............
....cc........
...cwwc.......
..cwwwcu..c...
...cwcu..cwc..
....cu..cwwcu.
.........ccu..
...c......u...
..cwc.........
.cwwcu..cc....
..ccu..cwwc...
...u..cwwwcu..
.......ccuu...
..............
"""

_TABLE = """
bbbbbbbbbbbbbb
bTTTTTTTTTTTTb
bTttttttttttTb
bTtllttttbttTb
bTtldltttbttTb
bTttltbtlbltTb
bTtttbttlllBTb
bTttbttttltttb
bTTTTTTTTTTTTb
bBBBBBBBBBBBBb
bbbbbbbbbbbbbb
.bBBb....bBBb.
.bBBb....bBBb.
.bbbb....bbbb.
"""

_FURNACE = """
..nnnnn
.nlmmmm
nlmmmmm
nmmmdmm
nmmmmmm
nmdmmnn
nmmmnkk
nmmnkkk
nmmnkrk
ndmnkor
nmmnroy
nmmnoyy
nddnnnn
nnnnnnn
"""

_SAPLING = """
..............
..............
......F.......
.....FfF......
.....FGF..FF..
..FF..F..FGfF.
.FGfF.F.FfGF..
..FfGFFFGFF...
...FFfFfFF....
.....FfF......
......F.......
....bbFbb.....
...bBBBBBb....
....bbbbb.....
"""

_RIPE = """
......FF......
....FFffFF....
...FfrrGffF...
..FffrrffrrF..
..FGffffrrrF..
.FffrrffGrrfF.
.FGfrrrfffffF.
..FfGrrffrrF..
...FfffGfrrF..
....FFffFFF...
......FF......
....bbFFbb....
...bBBBBBBb...
....bbbbbb....
"""

_GAP = """
QQQQQQQQQQQQQQ
bQQbQbbQQbQQbb
bbbbbbbbbbbbbb
bbBbbbbbbBbbbb
nbbbbbbnbbbbbn
nnbnnbnnbnnbnn
nnnnnnnnnnnnnn
knnknnkknnnnkn
kkkkkkkkknkkkk
kkkkkkkkkkkkkk
kknkkkkkkkkkkk
kkkkkkkkkknkkk
kkkkknkkkkkkkk
kkkkkkkkkkkkkk
"""

_WALL = """
nnnnnnnnnnnnnn
mmmmnmmmmmmnmm
mdddnmdddddnmd
dddnndddddnndd
nnnnnnnnnnnnnn
mmnmmmmmmnmmmm
ddnmdddddnmddd
dnnddddddnnddd
nnnnnnnnnnnnnn
mmmmnmmmmmmnmm
mdddnmdddddnmd
dddnndddddnndd
nnnnnnnnnnnnnn
dddddndddddddn
"""

_BRIDGE = """
bbbbbbbbbbbbbb
TTTTTTTTTTTTTT
tttttttttttttt
bbbbbbbbbbbbbb
TTTTTTTTTTTTTT
ttttBttttttttt
bbbbbbbbbbbbbb
TTTTTTTTTTTTTT
tttttttttBtttt
bbbbbbbbbbbbbb
TTTTTTTTTTTTTT
tttBtttttttttt
bbbbbbbbbbbbbb
BBBBBBBBBBBBBB
"""

_GATE = """
nnnnnnn
nlmmmmn
nmnnnnn
nmnbBbB
nmnbtbt
nmnbtbt
nmnnnnn
nmnbtby
nmnbtby
nmnnnnn
nmnbtbt
nmnbtbt
nmnbBbB
nnnnnnn
"""

_BEACON = """
....yyy
...yoow
..yoyww
..yoyww
...yoow
....ryo
....nnn
...nlmm
...nmmm
..nmmmd
..nlmmm
.nmmmmd
.nddddd
nnnnnnn
"""

_BEACON_COLD = """
.......
.......
....ccc
...cvvw
...cVvv
....ccc
....nnn
...nlmm
...nmmm
..nmmmd
..nlmmm
.nmmmmd
.nddddd
nnnnnnn
"""

# ---- bodies --------------------------------------------------------------------------------------

_COW = """
..............
..............
.........k..k.
.kkkkkkkkkkwwk
kwwwbbwwwwwwkk
kwwbbbbwwwwwwk
kwwbbbbwwbwppp
kwwwbbwwbbkppp
kbwwwwwwbbkkkk
kbbwwwwwwwk...
kkkwkkkkwkk...
..kwk..kwk....
..kbk..kbk....
..kkk..kkk....
"""

_ZOMBIE = """
...kkkk
..kffff
..kfGGf
..kfFFf
..kfyrf
..kffff
...kfkw
..kkVVV
.kfkVVV
kfGkVVv
kfkkVVV
.kkkUUU
..kkUUk
..kkkk.
"""

_SKELETON = """
...kkkk
..kwwww
..kwwww
..kwkkw
..kwkrw
..kwwwk
...kwkw
...kkkk
..kwkww
.kwkkkw
.kwkwww
.kkkkkw
..kwwkk
..kwwk.
"""

_ARROW = """
..............
..............
..............
..............
..............
..........kk..
wk.......klmk.
kwtttttttttllk
wkBBBBBBBBlmk.
..........kk..
..............
..............
..............
..............
"""

# The shirt is in the letters x and X, which become the player's colour and its shade.
_FRONT = """
...kkkk
..kbbbb
..kbbbb
..kbsss
..kskss
..kskss
..kssss
...kssS
..kxxxx
.ksxxxx
.ksxxxX
.kkXXXX
..kUUUk
..kkkkk
"""

_BACK = """
...kkkk
..kbbbb
..kbbbb
..kbbbb
..kbbbb
..kbbbb
..ksbbb
...kSSS
..kxxxx
.ksxxxx
.ksxxxX
.kkXXXX
..kUUUk
..kkkkk
"""

_SIDE = """
....kkkkkk....
...kbbbbbbk...
...kbbbbbbk...
...kbbssssk...
...kbbsskss...
...kbbsskss...
...kbssssssk..
....ksssSSk...
....kxxxxk....
...kxxxxxkk...
...kxxXsssk...
...kXXXXkk....
...kUUkUUk....
...kkkkkkk....
"""

_ASLEEP = """
..............
.........www..
..........w...
.kkkk..w.w....
kbbbbk..www...
kbsssk........
kssssskkkkkk..
kskkssxxxxxxk.
kssssxxxxxxxk.
kbsskxXxxxXxk.
.kkkXXxxXXxxXk
..kxxxxxxxxxxk
..kXXXXXXXXXXk
...kkkkkkkkkk.
"""

_DOWN = """
..............
..............
..............
..............
...........r..
..........rwr.
...........r..
.kkkk.........
kbsksk.kkkkkk.
kbbssskxxxxUUk
kbsksskxxxxUUk
kbbsskXXXXXUUk
.kkkk.kkkkkkk.
..............
"""

# ---- things to carry -----------------------------------------------------------------------------

_HEART = """
..............
..kkk....kkk..
.krrrk..krrrk.
krwwrrkkrrrrrk
krwrrrrrrrrrRk
krrrrrrrrrrrRk
krrrrrrrrrrrRk
.krrrrrrrrrRk.
..krrrrrrrRk..
...krrrrrRk...
....krrrRk....
.....krRk.....
......kk......
..............
"""

_FOOD = """
..............
.......kkkk...
.....kkoooIk..
....kowoooIIk.
....kwoooooIk.
...kooooooIIk.
...koooooIIk..
...kIooIIIk...
....kIIIkk....
...kwkkk......
.kkwwk........
kwwwk.........
kwwk..........
.kk...........
"""

_DROP = """
......kk......
......kk......
.....kcuk.....
.....kuuk.....
....kcuuuk....
...kcuuuuUk...
..kcuuuuuUUk..
..kcuuuuuuUk..
.kcwuuuuuuUUk.
.kcwuuuuuuUUk.
.kucwuuuuUUUk.
..kuuuuuUUUk..
...kkUUUUkk...
.....kkkk.....
"""

_BOLT = """
.......kkkkk..
......kyyyok..
.....kyyyok...
....kwyyok....
....kyyok.....
...kyyyykkk...
..kyyyyyyok...
...kkkyyok....
.....kyok.....
....kyyk......
....kyk.......
...kyk........
...kk.........
..............
"""

_WOOD = """
..............
......kkkkkk..
....kkBttBbbk.
..kkBttttBBbk.
.kBtttttBbBbk.
kTTTtttBBtBbk.
kTtTTtBbBBbk..
kTBtTkBtBbk...
kTTtTkttbk....
kkTTkkBbk.....
.kkkkBbk......
...kkkk.......
..............
..............
"""

_ROCK = """
..............
..............
.....kkkkk....
...kklllmmk...
..klllmmmmdk..
..kllmmmmmddk.
.kllmmmmmmddk.
.klmmmmdmmmdk.
kllmmmmmdmddk.
klmmmmmmmmddk.
kmmmdmmmmdddk.
.kdddddddddk..
..kkkkkkkkk...
..............
"""

# A lump: x its colour, X its shade, w what shines.
_LUMP = """
..............
..............
....kkkk......
...kwwxxkkk...
..kwxxxkxxxk..
..kxxxXkwxxxk.
.kkxxXXkxxxXk.
kwxkkkkkxxXXk.
kxxxxkwwkXXk..
kxxxXkwxxkk...
kxxXXkxxxXk...
.kXXkkxXXXk...
..kk..kkkk....
..............
"""

_DIAMOND = """
..............
..............
...kkkkkkkk...
..kwwcccccuk..
.kwwcwccccuuk.
kwwccwwcccuuuk
kccccccuuuuuUk
.kcwccuuuuuUk.
..kcwcuuuuUk..
...kccuuuUk...
....kcuuUk....
.....kuUk.....
......kk......
..............
"""

# Tools: x the colour of the head, X its shade.
_PICKAXE = """
..............
...kkkkkkk....
..kxxxxxxxkk..
...kkkXxxxxXk.
......kkXxxBk.
.......kbxxxk.
......kbBkxxxk
.....kbBk.kxxk
....kbBk..kxxk
...kbBk...kxxk
..kbBk....kxXk
.kbBk......kk.
.kbk..........
..k...........
"""

_SWORD = """
...........kkk
..........kxxk
.........kxxXk
........kxxXk.
.......kxxXk..
......kxxXk...
.kk..kxxXk....
.kykkxxXk.....
..kykxXk......
...kykk.......
..kbBkyk......
.kbBk.kyk.....
kyBk...kk.....
kkk...........
"""

_TOOLS = {"wood": "tB", "stone": "ld", "iron": "wi"}


def _read(art: str, swap: dict[str, Colour] | None = None) -> np.ndarray:
    """A picture from its letters, u8[14, 14, 4]; `swap` gives colours to the letters x and X."""
    colours = PALETTE | (swap or {})
    rows = [row if len(row) == SIZE else row + row[::-1] for row in art.split()]
    clear = (0, 0, 0, 0)
    return np.array(
        [[clear if c == "." else (*colours[c], 255) for c in row] for row in rows], np.uint8
    )


def _over(under: np.ndarray, over: np.ndarray) -> np.ndarray:
    return np.where(over[..., 3:] > 0, over, under)


def _inked(art: str, ink: str) -> np.ndarray:
    """A picture whose letters x and X are those of the palette."""
    return _read(art, {"x": PALETTE[ink[0]], "X": PALETTE[ink[1]]})


def shirt(player: int) -> tuple[Colour, Colour]:
    """The colour of a player and its shade."""
    r, g, b = PLAYERS[player % len(PLAYERS)]
    return (r, g, b), (r * 3 // 4, g * 3 // 4, b * 3 // 4)


@functools.cache
def materials() -> dict[str, np.ndarray]:
    """The picture of each material by name, without holes, u8[14, 14, 4]."""
    grass, stone, path = _read(_GRASS), _read(_STONE), _read(_PATH)
    return {
        "void": np.full((SIZE, SIZE, 4), (*PALETTE["k"], 255), np.uint8),
        "grass": grass,
        "meadow": _read(_MEADOW),
        "water": _read(_WATER),
        "stone": stone,
        "path": path,
        "sand": _read(_SAND),
        "lava": _read(_LAVA),
        "tree": _over(grass, _read(_TREE)),
        "coal": _over(stone, _inked(_ORE, "kn")),
        "iron": _over(stone, _inked(_ORE, "Ii")),
        "diamond": _over(stone, _read(_GEMS)),
        "table": _over(grass, _read(_TABLE)),
        "furnace": _over(path, _read(_FURNACE)),
        "plant": _over(grass, _read(_SAPLING)),
        "ripe plant": _over(grass, _read(_RIPE)),
        "gap": _read(_GAP),
        "bridge": _read(_BRIDGE),
        "gate": _read(_GATE),
        "beacon": _over(path, _read(_BEACON_COLD)),
        "lit beacon": _over(path, _read(_BEACON)),
        "wall": _read(_WALL),
    }


@functools.cache
def creatures() -> dict[str, np.ndarray]:
    """Creatures by "kind facing" (facings left, right, up, down), u8[14, 14, 4] with holes."""
    cow, arrow = _read(_COW), _read(_ARROW)
    zombie, skeleton = _read(_ZOMBIE), _read(_SKELETON)
    pictures = {}
    for facing, turns in (("left", 2), ("right", 0), ("up", 1), ("down", 3)):
        pictures[f"zombie {facing}"] = zombie
        pictures[f"skeleton {facing}"] = skeleton
        pictures[f"cow {facing}"] = cow[:, ::-1] if facing in ("left", "up") else cow
        pictures[f"arrow {facing}"] = np.rot90(arrow, turns)
    return pictures


def body(kind: int, heading: int = 0) -> np.ndarray:
    """The picture of a creature, by its codes in `rules`."""
    return creatures()[f"{rl.CREATURES[kind - 1]} {rl.FACINGS[heading]}"]


@functools.cache
def player(number: int) -> dict[str, np.ndarray]:
    """The pictures of a player: its four facings, "asleep" and "down", u8[14, 14, 4]."""
    colour, shade = shirt(number)
    swap = {"x": colour, "X": shade}
    side = _read(_SIDE, swap)
    return {
        "left": side[:, ::-1],
        "right": side,
        "up": _read(_BACK, swap),
        "down": _read(_FRONT, swap),
        "asleep": _read(_ASLEEP, swap),
        "downed": _read(_DOWN, swap),
    }


@functools.cache
def icons() -> dict[str, np.ndarray]:
    """Vital signs and items by name, u8[14, 14, 4] with holes."""
    found = {
        "health": _read(_HEART),
        "food": _read(_FOOD),
        "drink": _read(_DROP),
        "energy": _read(_BOLT),
        "sapling": _read(_SAPLING),
        "wood": _read(_WOOD),
        "stone": _read(_ROCK),
        "coal": _inked(_LUMP, "nk"),
        "iron": _inked(_LUMP, "iI"),
        "diamond": _read(_DIAMOND),
    }
    for name, ink in _TOOLS.items():
        found[f"{name}_pickaxe"] = _inked(_PICKAXE, ink)
        found[f"{name}_sword"] = _inked(_SWORD, ink)
    return found


# Digits of 3 x 5 pixels, row by row.
DIGITS = (
    "xxxx.xx.xx.xxxx",
    ".x.xx..x..x.xxx",
    "xxx..xxxxx..xxx",
    "xxx..x.xx..xxxx",
    "x.xx.xxxx..x..x",
    "xxxx..xxx..xxxx",
    "xxxx..xxxx.xxxx",
    "xxx..x.x..x..x.",
    "xxxx.xxxxx.xxxx",
    "xxxx.xxxx..xxxx",
)


def digit(number: int) -> np.ndarray:
    """A digit, bool[5, 3]."""
    return np.array([c == "x" for c in DIGITS[number]]).reshape(5, 3)


def half(picture: np.ndarray) -> np.ndarray:
    """A picture at half its size, u8[7, 7, 4]: means of 2 x 2 pixels; where less than half of them
    is covered there is a hole."""
    blocks = picture.reshape(CELL, 2, CELL, 2, 4).swapaxes(1, 2).reshape(CELL, CELL, 4, 4)
    seen = blocks[..., 3:] > 0
    count = seen.sum(axis=2)
    mean = np.where(seen, blocks, 0).sum(axis=2, dtype=np.int64) // np.maximum(count, 1)
    return np.where(count >= 2, mean, 0).astype(np.uint8)


# ---- the `pixels` observation --------------------------------------------------------------------

_BAR = 2 * 9  # slots below the view: 4 vitals, 12 items, and room for the others


@functools.lru_cache(maxsize=8)
def _atlas(players: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(materials u8[21, 7, 7, 3], bodies u8[n, 7, 7, 4], icons u8[16, 7, 7, 4], digits
    bool[10, 7, 7]). Bodies: zombie, skeleton, cow, arrows by heading, then six poses a player."""
    ground = np.stack([half(materials()[name])[..., :3] for name in rl.MATERIALS])
    beings = [body(kind) for kind in range(1, rl.ARROW)] + [body(rl.ARROW, way) for way in range(4)]
    for i in range(players):
        beings += [player(i)[pose] for pose in (*rl.FACINGS, "asleep", "downed")]
    carried = [half(icons()[name]) for name in (*rl.VITALS, *rl.ITEMS)]
    digits = np.zeros((10, CELL, CELL), bool)
    for i in range(10):
        digits[i, 2:, 4:] = digit(i)
    return ground, np.stack([half(b) for b in beings]), np.stack(carried), digits


def pixels(env: Setting, rows: Array) -> Array:
    """The `pixels` observation from rows of `perceive`, inside compiled code.

    Args:
        rows: u8[N, K, ...], one a player.

    Returns:
        u8[N, 63, 63, 3, ...]: 7 x 9 cells of 7 x 7 pixels; then 2 x 9 slots: the vitals, the items
        (a picture and a digit; dark without), and in the last two slots a block of 3 x 3 pixels for
        each other player, in its colour, the brighter the healthier, with a light pixel towards it.
    """
    n, batch = rows.shape[0], rows.shape[2:]
    ground, beings, carried, digits = _atlas(env.num_players)
    one = (1,) * len(batch)

    def part(name: str, *shape: int) -> Array:
        where = env.layout[name]
        return rows[:, where].reshape(n, *(shape or (where.stop - where.start,)), *batch)

    def spread(values: Array) -> Array:
        """[N, rows, columns, ...] as [N, rows, 1, columns, 1, 1, ...]."""
        return values.reshape(n, values.shape[1], 1, values.shape[2], 1, 1, *batch)

    def picture(values: np.ndarray) -> np.ndarray:
        """u8[7, 7, C] as [1, 1, 7, 1, 7, C, 1...]."""
        return values.reshape(1, 1, CELL, 1, CELL, values.shape[-1], *one)

    # The view.
    cells, over = spread(part("cells", *VIEW)), spread(_bodies(env, part))
    image = jnp.broadcast_to(picture(ground[0]), (n, VIEW[0], CELL, VIEW[1], CELL, 3, *batch))
    for code in env.codes[1:]:
        image = jnp.where(cells == code, picture(ground[code]), image)
    for code, being in enumerate(beings):
        covers = (over == code + 1) & picture(being[..., 3:] > 0)
        image = jnp.where(covers, picture(being[..., :3]), image)
    light = jnp.where(part("asleep") > 0, part("light") // 4, part("light"))
    light = light.reshape(n, 1, 1, 1, 1, 1, *batch).astype(jnp.uint16)
    night = picture(np.broadcast_to(np.array([77, 87, 158], np.uint16), (CELL, CELL, 3)))
    shade = night + ((256 - night) * light >> 8)
    image = (image.astype(jnp.uint16) * shade >> 8).astype(jnp.uint8)
    view = image.reshape(n, VIEW[0] * CELL, VIEW[1] * CELL, 3, *batch)

    # The slots.
    values = jnp.concatenate([part("vitals"), part("inventory")], axis=1)
    blank = jnp.zeros((n, _BAR - values.shape[1], *batch), values.dtype)
    values = jnp.concatenate([values, blank], axis=1).reshape(n, 2, 9, *batch)
    slots = spread(values)
    shown = jnp.minimum(slots, 9)
    number = jnp.arange(_BAR, dtype=jnp.uint8).reshape(2, 9)
    number = jnp.broadcast_to(number.reshape(1, 2, 1, 9, 1, 1, *one), slots.shape)
    bar = jnp.zeros((n, 2, CELL, 9, CELL, 3, *batch), jnp.uint8)
    for code, icon in enumerate(carried):
        covers = (number == code) & (slots > 0) & picture(icon[..., 3:] > 0)
        bar = jnp.where(covers, picture(icon[..., :3]), bar)
    for code, shape in enumerate(digits[1:], start=1):
        bar = jnp.where((shown == code) & picture(shape[..., None]), np.uint8(255), bar)
    low = bar.reshape(n, 2 * CELL, 9 * CELL, 3, *batch)
    if env.num_players > 1:
        panel = _mates(env, part("teammates"))
        low = low.at[:, CELL:, 7 * CELL :].set(panel)
    return jnp.concatenate([view, low], axis=1)


def _bodies(env: Setting, part: Any) -> Array:
    """u8[N, 7, 9, ...]: 0, or 1 + the number of a body in the atlas."""
    n = env.num_players
    codes, headings = part("bodies", *VIEW), part("headings", *VIEW)
    turn = jnp.where(headings > 0, headings - 1, 0)
    found = jnp.where(codes < rl.ARROW, codes, 0)
    found = jnp.where(codes == rl.ARROW, rl.ARROW + turn, found)
    first, poses = rl.ARROW + 4, len(rl.FACINGS) + 2
    own = part("asleep"), part("alive"), part("facing")
    mates = part("teammates") if n > 1 else None
    lies, sleeps = jnp.uint8(len(rl.FACINGS) + 1), jnp.uint8(len(rl.FACINGS))
    for j in range(n):
        pose = turn
        if mates is not None:
            # Whose row it is decides where player j stands in the list of the others.
            state = []
            for i in range(n):
                k = min(j - (j > i), n - 2)
                state.append(mates[i, 10 * k + 2 : 10 * k + 4])
            alive, asleep = jnp.moveaxis(jnp.stack(state), 1, 0)[:, :, None, None]
            pose = jnp.where(asleep > 0, sleeps, jnp.where(alive != rl.ALIVE, lies, pose))
        found = jnp.where(codes == len(rl.CREATURES) + 1 + j, first + poses * j + pose, found)
    asleep, alive, facing = own
    pose = jnp.where(alive != rl.ALIVE, lies, jnp.where(asleep > 0, sleeps, facing))
    which = jnp.arange(n, dtype=jnp.uint8).reshape(n, *(1,) * (pose.ndim - 1))
    me = (first + poses * which + pose)[:, :, None]
    middle = np.zeros(VIEW, bool)
    middle[VIEW[0] // 2, VIEW[1] // 2] = True
    middle = middle.reshape(1, *VIEW, *(1,) * (found.ndim - 3))
    return jnp.where(middle, me, found).astype(jnp.uint8)


def _mates(env: Setting, mates: Array) -> Array:
    """The block of the others, u8[N, 7, 14, 3, ...]."""
    n, batch = mates.shape[0], mates.shape[2:]
    panel = jnp.zeros((n, CELL, 2 * CELL, 3, *batch), jnp.uint8)
    one = (1,) * len(batch)
    ys, xs = np.mgrid[:3, :3].astype(np.uint8).reshape(2, 1, 3, 3, 1, *one)
    for k in range(n - 1):
        rows, columns, alive, _, _, health = (
            mates[:, 10 * k + i].reshape(n, 1, 1, 1, *batch) for i in range(6)
        )
        who = [shirt(k + (k >= i))[0] for i in range(n)]
        colour = jnp.asarray(who, jnp.uint16).reshape(n, 1, 1, 3, *one)
        tone = (colour * (health.astype(jnp.uint16) + 2) // 16).astype(jnp.uint8)
        tone = jnp.where(alive == rl.DOWN, np.uint8(20), tone)
        y = 1 + (rows > 128).astype(jnp.uint8) - (rows < 128)
        x = 1 + (columns > 128).astype(jnp.uint8) - (columns < 128)
        block = jnp.where((ys == y) & (xs == x), np.uint8(255), tone)
        block = jnp.where((alive == rl.DEAD) | (alive == UNKNOWN), np.uint8(0), block)
        top, left = 4 * (k // 4), 3 * (k % 4)
        panel = panel.at[:, top : top + 3, left : left + 3].set(block)
    return panel
