"""CraftWorld to look at: a player's own view, a camera that follows a player, the whole map.

The world is composed of sprites in NumPy, pixel by pixel, then enlarged a whole number of times;
only letters, bars and bubbles are painted at the resolution of the canvas. An agent's picture is
made of its row of `perceive`, and of nothing else.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pygame

from manyhands.core.config import one_of
from manyhands.core.paint import FADED, INK, PAPER, TURN, bar, bubble, label, mix
from manyhands.core.render import Colour, wrap, write
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld import sprites
from manyhands.envs.craftworld.goals import BUILD
from manyhands.envs.craftworld.setting import UNKNOWN, Setting
from manyhands.envs.craftworld.sprites import CELL, SIZE
from manyhands.envs.craftworld.state import HERE, CraftState
from manyhands.envs.craftworld.words import COLUMNS, ROWS, Observation, observe

BACKGROUND: Colour = (30, 29, 42)
PANEL: Colour = (42, 42, 60)
SLOT: Colour = (60, 61, 82)
DONE: Colour = (150, 220, 120)
LOW: Colour = (236, 92, 80)

# Colours of light, as factors of red, green and blue, from night over dusk to day.
_NIGHT, _DUSK, _DAY = (0.30, 0.34, 0.62), (0.98, 0.74, 0.60), (1.0, 1.0, 1.0)
_GLOW = {
    rl.LAVA: 2.2,
    rl.FURNACE: 2.6,
    rl.LIT_BEACON: 5.0,
}  # material: cells that it lights around it


# ---- a piece of the world ------------------------------------------------------------------------


@dataclass(frozen=True)
class Piece:
    """A rectangle of cells as it is to be seen.

    Attributes:
        cells: u8[rows, columns], codes of `rules.MATERIALS`.
        bodies: (row, column, picture u8[14, 14, 4]) of what stands on them, lowest first.
        light: 0 night to 1 day.
        corner: row and column of the world that the first cell is; chooses among kinds of grass.
    """

    cells: np.ndarray
    bodies: Sequence[tuple[int, int, np.ndarray]] = ()
    light: float = 1.0
    corner: tuple[int, int] = (0, 0)


def compose(piece: Piece, cell: int = SIZE) -> np.ndarray:
    """The piece as u8[rows * cell, columns * cell, 3]; `cell` is 14, or 7 for pictures at half
    their size."""
    rows, columns = piece.cells.shape
    flowers = _flowers(rows, columns, piece.corner) & (piece.cells == rl.GRASS)
    kinds = np.where(flowers, len(rl.MATERIALS), piece.cells)
    image = np.swapaxes(_pictures(cell)[kinds], 1, 2)  # [rows, cell, columns, cell, 3]
    image = np.ascontiguousarray(image)
    for y, x, picture in piece.bodies:
        small = picture if cell == SIZE else sprites.half(picture)
        image[y, :, x] = np.where(small[..., 3:] > 0, small[..., :3], image[y, :, x])
    flat = image.reshape(rows * cell, columns * cell, 3)
    return _lit(flat, piece, cell) if piece.light < 0.99 else flat


@functools.cache
def _pictures(cell: int) -> np.ndarray:
    """u8[materials + 1, cell, cell, 3] by code; the last one is grass with flowers."""
    pictures = [sprites.materials()[name] for name in (*rl.MATERIALS, "meadow")]
    return np.stack([p if cell == SIZE else sprites.half(p) for p in pictures])[..., :3]


def _flowers(rows: int, columns: int, corner: tuple[int, int]) -> np.ndarray:
    """bool[rows, columns]: cells whose grass has flowers, always the same ones, about 1 in 9."""
    y, x = np.ogrid[corner[0] : corner[0] + rows, corner[1] : corner[1] + columns]
    mixed = (y * 374761393 + x * 668265263) & 0xFFFFFFFF
    mixed = ((mixed ^ mixed >> 13) * 1274126177) & 0xFFFFFFFF
    return (mixed ^ mixed >> 16) % 9 == 0


def _lit(image: np.ndarray, piece: Piece, cell: int) -> np.ndarray:
    """The picture by the light of the hour, with fires that shine in the dark."""
    rows, columns = piece.cells.shape
    light = np.full((rows * cell, columns * cell), piece.light, np.float32)
    ys, xs = np.ogrid[: rows * cell, : columns * cell]
    for code, reach in _GLOW.items():
        for y, x in np.argwhere(piece.cells == code):
            # Only as far as it shines, in steps, like the pixels.
            box = tuple(
                slice(max(0, int((at - reach) * cell)), int((at + 1 + reach) * cell))
                for at in (y, x)
            )
            far = np.hypot(ys[box[0]] - (y + 0.5) * cell, xs[:, box[1]] - (x + 0.5) * cell) / cell
            near = np.floor(np.clip(1.15 - far / reach, 0, 1) * 5) / 5
            light[box] = np.maximum(light[box], near)
    colours = zip(_NIGHT, _DUSK, _DAY, strict=True)
    tint = np.stack([np.interp(light, (0.0, 0.55, 0.9), three) for three in colours], -1)
    return (image * tint).astype(np.uint8)


def _surface(image: np.ndarray, scale: int) -> pygame.Surface:
    """An image u8[height, width, 3], `scale` times as large with sharp edges."""
    large = image.repeat(scale, 0).repeat(scale, 1)
    return pygame.surfarray.make_surface(np.swapaxes(large, 0, 1))


@functools.lru_cache(maxsize=512)
def _icon(name: str, side: int) -> pygame.Surface:
    """An item or a vital sign on a clear ground."""
    picture = sprites.icons()[name]
    surface = pygame.Surface((SIZE, SIZE), pygame.SRCALPHA)
    pygame.surfarray.blit_array(surface, np.swapaxes(picture[..., :3], 0, 1))
    alpha = pygame.surfarray.pixels_alpha(surface)
    alpha[:] = picture[..., 3].T
    del alpha
    scale = side // SIZE
    if scale and side % SIZE == 0:
        return pygame.transform.scale(surface, (side, side))
    large = pygame.transform.scale(surface, (SIZE * 4, SIZE * 4))
    return pygame.transform.smoothscale(large, (side, side))


# ---- what is to be shown -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Player:
    """What is to be shown of a player.

    Attributes:
        place: row and column, in the world, or in the own view; None where that is not known.
        away: rows down and columns right of the onlooker.
        pose: a key of `sprites.player`.
        asks: the item that it asks for, or "".
    """

    name: str
    number: int
    place: tuple[int, int] | None
    pose: str
    vitals: Mapping[str, int]
    items: Mapping[str, int] = field(default_factory=dict)
    done: Sequence[str] = ()
    away: tuple[int, int] = (0, 0)
    asks: str = ""


def _pose(alive: int, asleep: bool, facing: int) -> str:
    return "downed" if alive != rl.ALIVE else "asleep" if asleep else rl.FACINGS[facing]


def _own_players(env: Setting, obs: Observation) -> list[_Player]:
    """Oneself, and the others as far as one knows of them."""
    pose = _pose(obs.alive, obs.asleep, obs.facing)
    found = [_Player(env.agents[obs.agent], obs.agent, HERE, pose, obs.vitals, obs.items, obs.done)]
    for mate in obs.mates:
        if mate.alive == UNKNOWN:
            continue
        place = HERE[0] + mate.rows, HERE[1] + mate.columns
        seen = mate.alive != rl.DEAD and 0 <= place[0] < ROWS and 0 <= place[1] < COLUMNS
        found.append(
            _Player(
                env.agents[mate.player],
                mate.player,
                place if seen else None,
                "dead" if mate.alive == rl.DEAD else _pose(mate.alive, mate.asleep, mate.facing),
                {"health": mate.health, "food": mate.food},
                away=(mate.rows, mate.columns),
                asks=env.craft.gifts[mate.request - 1] if mate.request else "",
            )
        )
    return found


def _own_piece(env: Setting, obs: Observation, players: Sequence[_Player]) -> Piece:
    """The view of a player."""
    bodies = [(b.row, b.column, sprites.body(b.kind, b.heading)) for b in obs.bodies if b.kind]
    bodies += [(*p.place, sprites.player(p.number)[p.pose]) for p in players if p.place]
    light = obs.light / 255 * (0.25 if obs.asleep else 1.0)
    return Piece(obs.cells, bodies, light)


def _all_players(env: Setting, state: CraftState) -> list[_Player]:
    """All players as they are."""
    found = []
    for i, name in enumerate(env.agents):
        alive, asks = int(state.alive[i]), int(state.request[i])
        row, column = (int(x) for x in state.position[i])
        pose = _pose(alive, bool(state.asleep[i]), int(state.facing[i]))
        found.append(
            _Player(
                name,
                i,
                None if alive == rl.DEAD else (row, column),
                "dead" if alive == rl.DEAD else pose,
                dict(zip(rl.VITALS, np.asarray(state.vitals[i]).tolist(), strict=True)),
                dict(zip(env.contents.items, np.asarray(state.inventory[i]).tolist(), strict=True)),
                [env.contents.achievements[k] for k in np.flatnonzero(state.achievements[i])],
                asks=env.craft.gifts[asks - 1] if asks else "",
            )
        )
    return found


def _true_piece(
    env: Setting,
    state: CraftState,
    players: Sequence[_Player],
    corner: tuple[int, int],
    rows: int,
    columns: int,
) -> Piece:
    """A rectangle of the world as it is."""
    edge = max(rows, columns)
    around = np.pad(np.asarray(state.map), edge, constant_values=rl.VOID)
    y, x = corner[0] + edge, corner[1] + edge
    cells = around[y : y + rows, x : x + columns]

    def inside(place: tuple[int, int]) -> bool:
        return 0 <= place[0] - corner[0] < rows and 0 <= place[1] - corner[1] < columns

    bodies = []
    kinds, places = np.asarray(state.kind), np.asarray(state.place)
    for kind, place, heading in zip(kinds, places.tolist(), np.asarray(state.heading), strict=True):
        if kind and inside(place):
            where = place[0] - corner[0], place[1] - corner[1]
            bodies.append(
                (*where, sprites.body(int(kind), int(heading) if kind == rl.ARROW else 0))
            )
    for p in players:
        if p.place and inside(p.place):
            picture = sprites.player(p.number)[p.pose]
            bodies.append((p.place[0] - corner[0], p.place[1] - corner[1], picture))
    light = observe(env, state, 0)[0].light / 255
    return Piece(cells, bodies, light, corner)


# ---- the pictures --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Frame:
    """Where things lie on a canvas.

    Attributes:
        world: the world's rectangle, in pixels; `side` pixels are a cell.
        corner: row and column of its first cell.
        bar: the strip below, for what a player has.
        beside: the column on the right.
        players: who is shown.
    """

    world: pygame.Rect
    side: int
    corner: tuple[int, int]
    bar: pygame.Rect
    beside: pygame.Rect
    players: Sequence[_Player]

    def point(self, place: tuple[int, int]) -> tuple[int, int]:
        """The upper left corner of a cell."""
        return (
            self.world.x + (place[1] - self.corner[1]) * self.side,
            self.world.y + (place[0] - self.corner[0]) * self.side,
        )


def draw(
    env: Setting,
    state: CraftState,
    canvas: pygame.Surface,
    agent: int | None = None,
    camera: str = "map",
) -> None:
    """Paint the world on a surface of any size.

    For an agent: what it sees, has and knows, and nothing else. For onlookers, by `camera`: "map",
    the whole world; or a player's name, whom the picture follows, with a small map in the corner.
    """
    canvas.fill(BACKGROUND)
    if agent is not None:
        obs, _ = observe(env, state, agent)
        frame = _own_frame(env, obs, canvas)
        image = compose(_own_piece(env, obs, frame.players))
        canvas.blit(pygame.transform.scale(_surface(image, 1), frame.world.size), frame.world)
        _site(canvas, frame, obs)
        _signs(canvas, frame, obs.agent)
        _arrows(canvas, frame)
        _slots(canvas, frame.bar, frame.players[0])
        names = env.contents.achievements
        _column(canvas, frame.beside, frame.players, names, obs.light, str(obs.goal))
        return
    frame = _true_frame(env, state, canvas, camera)
    rows, columns = frame.world.height // frame.side, frame.world.width // frame.side
    piece = _true_piece(env, state, frame.players, frame.corner, rows, columns)
    native = SIZE if frame.side > CELL else CELL
    # Enlarged with sharp edges, and from there made smaller to fit exactly.
    whole = _surface(compose(piece, native), -(-frame.side // native))
    canvas.blit(pygame.transform.smoothscale(whole, frame.world.size), frame.world)
    obs, _ = observe(env, state, 0)  # the hour and the goal are everyone's
    row, column = (int(x) for x in state.position[0])
    away = obs.site[0] + row - HERE[0], obs.site[1] + column - HERE[1]
    _site(canvas, frame, dataclasses.replace(obs, site=away))
    _signs(canvas, frame, None)
    if camera != "map":
        followed = frame.players[env.agents.index(camera)]
        _slots(canvas, frame.bar, followed)
        _minimap(env, state, canvas, frame, (rows, columns))
    _column(
        canvas,
        frame.beside,
        frame.players,
        env.contents.achievements,
        obs.light,
        str(obs.goal),
        int(env.played(state.clock)),
    )


def _own_frame(env: Setting, obs: Observation, canvas: pygame.Surface) -> _Frame:
    """The view as large as it fits with a strip below, cells a whole number of sprites where there
    is room for that."""
    width, height = canvas.get_size()
    side = max(1, min(width // COLUMNS, height * 9 // (ROWS * 11)))
    if side >= SIZE:
        side -= side % SIZE
    world = pygame.Rect(0, 0, COLUMNS * side, ROWS * side)
    rest = width - world.width
    beside = pygame.Rect(width, 0, 0, 0)
    if rest >= 90:
        beside = pygame.Rect(width - min(rest, 300), 0, min(rest, 300), world.height)
        rest -= beside.width
    world.x = rest // 2
    bar = pygame.Rect(0, world.height, width, height - world.height)
    return _Frame(world, side, (0, 0), bar, beside, _own_players(env, obs))


def _true_frame(env: Setting, state: CraftState, canvas: pygame.Surface, camera: str) -> _Frame:
    """The whole map, or as much as fits around a player."""
    width, height = canvas.get_size()
    players = _all_players(env, state)
    beside = pygame.Rect(width, 0, 0, 0)
    room = width
    if width >= 420:
        wide = min(260, max(150, width - height)) if camera == "map" else min(200, width // 4)
        beside = pygame.Rect(width - wide, 0, wide, height)
        room -= wide
    if camera == "map":
        side = max(1, min(room // env.width, height // env.height))
        world = pygame.Rect(0, 0, side * env.width, side * env.height)
        world.center = room // 2, height // 2
        return _Frame(world, side, (0, 0), pygame.Rect(0, height, 0, 0), beside, players)
    index = env.agents.index(one_of("camera", camera, env.cameras))
    tall = height * 9 // 11
    side = max(SIZE, min(room // COLUMNS, tall // ROWS) // SIZE * SIZE)
    if side > 3 * SIZE:  # rather see more than see it larger
        side -= SIZE
    rows, columns = max(1, -(-tall // side)), max(1, -(-room // side))
    row, column = (int(x) for x in state.position[index])

    def first(middle: int, count: int, size: int) -> int:
        return (
            max(0, min(middle - count // 2, size - count)) if count < size else (size - count) // 2
        )

    corner = first(row, rows, env.height), first(column, columns, env.width)
    world = pygame.Rect(0, 0, columns * side, rows * side)
    bar = pygame.Rect(0, tall, room, height - tall)
    return _Frame(world, side, corner, bar, beside, players)


def _site(canvas: pygame.Surface, frame: _Frame, obs: Observation) -> None:
    """Frames around the cells of a plan that is to be built, with the picture of what goes there;
    `obs.site` counts from the player's cell, whose place in the picture is that of the view."""
    if obs.goal.kind != BUILD:
        return
    icons = {"S": "stone", "P": "sapling"}
    for y, line in enumerate(obs.goal.plan.split("/")):
        for x, letter in enumerate(line):
            place = HERE[0] + obs.site[0] + y, HERE[1] + obs.site[1] + x
            box = pygame.Rect(frame.point(place), (frame.side, frame.side))
            if letter == "." or not frame.world.contains(box):
                continue
            pygame.draw.rect(canvas, TURN, box, max(1, frame.side // 28))
            if frame.side >= 2 * SIZE and letter in icons:
                canvas.blit(_icon(icons[letter], SIZE), (box.x + 3, box.y + 3))
            elif frame.side >= 2 * SIZE:
                words = {"T": "table", "F": "furnace"}.get(letter, "free")
                canvas.blit(write(words, 9, PAPER, INK), (box.x + 3, box.y + 2))


def _signs(canvas: pygame.Surface, frame: _Frame, own: int | None) -> None:
    """Names over heads, what is asked for, and rings where players are small."""
    for player in frame.players:
        if player.place is None or player.number == own:
            continue
        x, y = frame.point(player.place)
        if not frame.world.collidepoint(x, y):
            continue
        colour = sprites.shirt(player.number)[0]
        middle = x + frame.side // 2
        if frame.side < 2 * SIZE:
            pygame.draw.circle(
                canvas, INK, (middle, y + frame.side // 2), max(5, round(frame.side * 0.95)), 3
            )
            pygame.draw.circle(
                canvas, colour, (middle, y + frame.side // 2), max(4, round(frame.side * 0.85)), 2
            )
        name = write(player.name, 10 if frame.side < 2 * SIZE else 12, mix(colour, PAPER, 0.4), INK)
        place = name.get_rect(midbottom=(middle, y - (frame.side // 3 if frame.side < 28 else 0)))
        canvas.blit(name, place.clamp(frame.world.clip(canvas.get_rect())))
        if player.asks and frame.side >= 2 * SIZE:
            icon = _icon(player.asks, SIZE * 2)
            box = icon.get_rect(midbottom=(middle, place.y - 4)).inflate(6, 6)
            box.clamp_ip(frame.world)
            pygame.draw.rect(canvas, PAPER, box, border_radius=6)
            canvas.blit(icon, icon.get_rect(center=box.center))


def _arrows(canvas: pygame.Surface, frame: _Frame) -> None:
    """At the edge of the view, where players are that are out of sight."""
    for player in frame.players:
        if player.place is not None or player.pose == "dead":
            continue
        rows, columns = player.away
        far = max(abs(rows) / (ROWS / 2), abs(columns) / (COLUMNS / 2), 1e-6)
        x = frame.world.centerx + columns / far * frame.side
        y = frame.world.centery + rows / far * frame.side
        spot = pygame.Rect(0, 0, 18, 18)
        spot.center = round(x), round(y)
        spot.clamp_ip(frame.world)
        pygame.draw.circle(canvas, INK, spot.center, 10)
        pygame.draw.circle(canvas, sprites.shirt(player.number)[0], spot.center, 8)
        label(canvas, str(player.number), 11, INK, center=spot.center)


# ---- what stands around the world ----------------------------------------------------------------


def _slots(canvas: pygame.Surface, area: pygame.Rect, player: _Player) -> None:
    """Vital signs and items, in two rows of slots."""
    pygame.draw.rect(canvas, PANEL, area)
    if area.height < 12 or area.width < 80:
        return
    across = -(-(len(player.vitals) + len(player.items)) // 2)
    wide, high = area.width // across, area.height // 2
    values = {**player.vitals, **player.items}
    side = max(8, min(wide // 2, high - 8))
    if side >= SIZE:
        side -= side % SIZE
    size = max(8, min(20, round(side * 0.5)))
    for k, (name, value) in enumerate(values.items()):
        row, column = divmod(k, across)
        slot = pygame.Rect(area.x + column * wide, area.y + row * high, wide, high).inflate(-4, -4)
        vital = name in rl.VITALS
        pygame.draw.rect(canvas, SLOT if value or vital else PANEL, slot, border_radius=5)
        icon = _icon(name, side)
        if not value:
            icon = icon.copy()
            icon.set_alpha(50)
        canvas.blit(icon, icon.get_rect(midleft=(slot.x + 3, slot.centery)))
        if value or vital:
            colour = LOW if vital and value <= 3 else PAPER
            label(canvas, str(value), size, colour, midleft=(slot.x + side + 7, slot.centery))


def _column(
    canvas: pygame.Surface,
    area: pygame.Rect,
    players: Sequence[_Player],
    achievements: Sequence[str],
    light: int,
    goal: str,
    step: int | None = None,
) -> None:
    """The hour, the players, and the first one's achievements as far as there is room."""
    if area.width < 60:
        return
    pygame.draw.rect(canvas, PANEL, area)
    pad = 8
    x, y, room = area.x + pad, area.y + pad, area.width - 2 * pad
    _hour(canvas, (x + 9, y + 9), light)
    words = "day" if light > 190 else "dusk" if light > 100 else "night"
    words += f", step {step}" if step is not None else ""
    canvas.blit(write(words, 12, FADED), (x + 24, y + 3))
    y += 26
    for line in wrap(f"Goal: {goal}", 11, room, limit=3) if goal else ():
        canvas.blit(write(line, 11, TURN), (x, y))
        y += 15
    shown = list(players) if len(players) > 1 else []
    for player in shown:
        if y + 34 > area.bottom:
            return
        y += _card(canvas, pygame.Rect(x, y, room, 34), player)
    done = {name for player in players for name in player.done}
    title = write(f"{len(done)}/{len(achievements)} achievements", 11, FADED)
    if y + 18 > area.bottom:
        return
    canvas.blit(title, (x, y + 2))
    y += 18
    high = (area.bottom - pad - y) // len(achievements)
    if high < 9:  # no room for all: only those that are done
        for name in sorted(done):
            if y + 12 > area.bottom - pad:
                return
            _achievement(canvas, (x, y), room, 12, name, True)
            y += 12
        return
    for name in achievements:
        _achievement(canvas, (x, y), room, min(high, 18), name, name in done)
        y += min(high, 18)


def _achievement(
    canvas: pygame.Surface, place: tuple[int, int], room: int, high: int, name: str, done: bool
) -> None:
    size = max(8, min(12, high - 3))
    box = pygame.Rect(place[0], place[1] + (high - 7) // 2, 7, 7)
    pygame.draw.rect(canvas, DONE if done else SLOT, box, border_radius=2)
    text = wrap(name.replace("_", " "), size, room - 12, limit=1)[0]
    canvas.blit(write(text, size, PAPER if done else FADED), (place[0] + 12, place[1]))


def _card(canvas: pygame.Surface, area: pygame.Rect, player: _Player) -> int:
    """A player's name, health and food, and what it asks for; the height."""
    colour = sprites.shirt(player.number)[0]
    pygame.draw.rect(canvas, SLOT, area.inflate(0, -4), border_radius=5)
    pygame.draw.rect(canvas, colour, (area.x, area.y + 2, 5, area.height - 4), border_radius=2)
    state = f" ({player.pose})" if player.pose in ("dead", "downed", "asleep") else ""
    name = wrap(player.name + state, 11, area.width - 14, limit=1)[0]
    canvas.blit(
        write(name, 11, PAPER if player.pose != "dead" else FADED), (area.x + 10, area.y + 4)
    )
    bars = {"health": (228, 78, 70), "food": (244, 152, 52), "drink": (84, 156, 230),
            "energy": TURN}  # fmt: skip
    known = [(name, value) for name, value in player.vitals.items() if name in bars]
    wide = (area.width - 14 - (18 if player.asks else 0)) // max(len(known), 1)
    for k, (name, value) in enumerate(known):
        box = pygame.Rect(area.x + 10 + k * wide, area.bottom - 12, wide - 4, 5)
        bar(canvas, box, value / rl.MOST, bars[name])
    if player.asks:
        canvas.blit(_icon(player.asks, SIZE), (area.right - 18, area.bottom - 20))
    return area.height


def _hour(canvas: pygame.Surface, place: tuple[int, int], light: int) -> None:
    """A sun or a moon."""
    if light > 100:
        pygame.draw.circle(canvas, TURN if light > 190 else (244, 152, 52), place, 7)
        for k in range(8):
            turn = pygame.Vector2(1, 0).rotate(45 * k)
            pygame.draw.line(canvas, TURN, place + turn * 8, place + turn * 10, 1)
    else:
        pygame.draw.circle(canvas, (196, 201, 222), place, 7)
        pygame.draw.circle(canvas, PANEL, (place[0] + 4, place[1] - 2), 6)


def _minimap(
    env: Setting,
    state: CraftState,
    canvas: pygame.Surface,
    frame: _Frame,
    shown: tuple[int, int],
) -> None:
    """The whole world in the corner, a pixel or two a cell, and where the picture is in it."""
    colours = _pictures(CELL).mean((1, 2)).astype(np.uint8)
    image = colours[np.asarray(state.map)]
    room = min(frame.world.width, canvas.get_width() - frame.beside.width)
    scale = max(1, min(room, frame.bar.y) // 3 // max(env.height, env.width))
    small = _surface(image, scale)
    area = small.get_rect(topright=(room - 8, 8))
    pygame.draw.rect(canvas, INK, area.inflate(6, 6), border_radius=3)
    canvas.blit(small, area)
    seen = pygame.Rect(0, 0, shown[1] * scale, shown[0] * scale)
    seen.topleft = area.x + frame.corner[1] * scale, area.y + frame.corner[0] * scale
    pygame.draw.rect(canvas, PAPER, seen.clip(area), 1)
    for player in frame.players:
        if player.place is not None:
            spot = area.x + player.place[1] * scale, area.y + player.place[0] * scale
            pygame.draw.circle(canvas, INK, spot, 4)
            pygame.draw.circle(canvas, sprites.shirt(player.number)[0], spot, 3)


def bubbles(
    env: Setting,
    state: CraftState,
    canvas: pygame.Surface,
    texts: Mapping[int, str],
    agent: int | None = None,
    camera: str = "",
) -> None:
    """Paint what players say over a picture that `draw` made on this canvas: in bubbles at their
    heads, or, where a speaker is out of the picture, in the corner with its name."""
    if agent is not None:
        frame = _own_frame(env, observe(env, state, agent)[0], canvas)
    else:
        frame = _true_frame(env, state, canvas, camera or "map")
    size = max(10, min(15, canvas.get_height() // 34))
    corner = 6
    taken = [pygame.Rect(frame.point(p.place), (frame.side,) * 2) for p in frame.players if p.place]
    room = pygame.Rect(0, 0, canvas.get_width() - frame.beside.width, canvas.get_height())
    room.height = frame.bar.y or room.height
    wide = max(80, min(220, room.width // 2))
    for player in sorted(frame.players, key=lambda p: p.number):
        text = texts.get(player.number, "")
        if not text.strip():
            continue
        colour, tail = sprites.shirt(player.number)[0], None
        at = frame.point(player.place) if player.place is not None else None
        if at is None or not room.collidepoint(at):
            places = [("topleft", (6.0, float(corner)))]
            text = f"{player.name}: {text}"
        else:
            head = pygame.Rect(at, (frame.side, frame.side))
            tail = head.center
            places = [
                ("midbottom", (head.centerx, head.top - size - 4)),  # there stands the name
                ("midleft", (head.right + 4, head.centery)),
                ("midright", (head.left - 4, head.centery)),
                ("midtop", (head.centerx, head.bottom + 4)),
            ]
        box = bubble(canvas, text, size, wide, colour, places, tail, room=room, taken=taken)
        if tail is None:
            corner = box.bottom + 4
        taken.append(box)
