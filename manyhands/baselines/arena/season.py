"""A season's file: games, players, pairings and budgets, in TOML.

    name = "first"
    seed = 0

    [players]                      # name = a seat, with its options
    random = "random"
    searcher = "solver:depth=4"
    model = { seat = "language", options = { model = "m" }, price = "m", budget = { cost = 2.0 } }

    [games.connect_four]           # the id, or any name with id = "..."
    episodes = 20
    config = { rows = 6 }

Every table is checked before anything is played: an unknown key, game, seat or option is an error
that names the nearest one that exists. A season holds no secrets: an option such as `api_key` is
the name of an environment variable, under `secrets`.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from manyhands.baselines.evaluation import held_out
from manyhands.core.config import boolean, nearest, number, one_of, plain, whole
from manyhands.core.env import ConfigError, Env, SeatError, names_of
from manyhands.core.play import ON_ILLEGAL
from manyhands.core.probes import Probes, asks
from manyhands.core.redact import redact
from manyhands.core.registry import load, make_wrapped, registered, registered_seats, seat
from manyhands.core.seats import seat_policy

PAIRINGS = ("round_robin", "swiss", "pool")
SCORES = ("wins", "reward")
# Games of which one side wins what the other loses; volleyball if it has two sides. Who has more
# chips after a single hand of poker says little: there the chips count.
COMPETITIVE = ("tic_tac_toe", "connect_four", "kuhn_poker", "leduc_holdem", "volleyball")
STANDARD = "held_out"  # a pool: the environment's own held-out partners
# What tables, files and pages can show, and no spreadsheet takes for a formula.
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]{0,39}")


@dataclasses.dataclass(frozen=True)
class Budget:
    """Limits of spending; None is no limit.

    Attributes:
        tokens: of prompts and completions.
        cost: in the season's currency, by its table of prices.
        seconds: of thinking; for a season, of playing, summed over processes.
    """

    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None

    def spent(self, tokens: float, cost: float, seconds: float) -> str:
        """What of the budget is used up, in words; "" if nothing is."""
        given = {"tokens": tokens, "cost": cost, "seconds": seconds}
        for name, used in given.items():
            limit = getattr(self, name)
            if limit is not None and used >= limit:
                return f"{name}: {used:g} of {limit:g}"
        return ""


@dataclasses.dataclass(frozen=True)
class Price:
    """In the season's currency, per million tokens."""

    input: float
    output: float

    def of(self, prompt: int, completion: int) -> float:
        return (prompt * self.input + completion * self.output) / 1e6


@dataclasses.dataclass(frozen=True)
class Player:
    """A player of a season.

    Attributes:
        name: in tables.
        seat: its seat by name, which may hold options: "solver:depth=4".
        options: further options, as Python values.
        secrets: option -> environment variable.
        price: its row in the table of prices, "" if it costs nothing.
        budget: its own.
        held_out: whether it is a partner for others alone, and has no row in tables.
        games: the games that it plays; empty for all.
    """

    name: str
    seat: str
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    secrets: Mapping[str, str] = dataclasses.field(default_factory=dict)
    price: str = ""
    budget: Budget = Budget()
    held_out: bool = False
    games: tuple[str, ...] = ()

    def policy(self, env: Env) -> Any:
        """The seat, ready to play.

        Raises:
            SeatError, ConfigError, PolicyError: it cannot play here.
        """
        options = dict(self.options)
        for option, variable in self.secrets.items():
            if not os.environ.get(variable):
                raise SeatError(
                    f"the player {self.name!r} needs the environment variable {variable} for its "
                    f"option {option!r}, and it is not set"
                )
            options[option] = os.environ[variable]
        made = seat(self.seat, env, **options) if options else self.seat
        return seat_policy(env, made)[0]

    def fixed(self) -> dict[str, Any]:
        """What may not change while a season is continued."""
        return {"seat": self.seat, "options": plain(self.options), "held_out": self.held_out}


@dataclasses.dataclass(frozen=True)
class GamePlan:
    """A game of a season.

    Attributes:
        name: in tables.
        id, config: of the environment.
        skills, chat, events, recent, retries: its wrappers; `events` is "", "agent" or "team",
            `retries` their options, None for none.
        players: who plays it, held-out partners included.
        pairing: one of `PAIRINGS`.
        pool: with "pool": the players that all others meet.
        rounds: of "swiss".
        episodes: deals of each line-up, at most 10,000 blocks of them.
        duplicate: every deal is played in all seat orders.
        self_play: every player also meets itself.
        score: "wins" (who earned more won) or "reward".
        seed: of the deals.
        block: episodes of one match at most.
        on_illegal, allow_illegal, max_steps: as in `play`.
        probes: options of `Probes`, which ask the players what they know; None for no questions.
    """

    name: str
    id: str
    config: Mapping[str, Any]
    skills: bool
    chat: bool
    events: str
    players: tuple[str, ...]
    pairing: str
    pool: tuple[str, ...]
    rounds: int
    episodes: int
    duplicate: bool
    self_play: bool
    score: str
    seed: int
    block: int
    on_illegal: str
    allow_illegal: int | None
    max_steps: int | None
    probes: Mapping[str, Any] | None = None
    recent: bool = False
    retries: Mapping[str, Any] | None = None

    @functools.cached_property
    def env(self) -> Env:
        return make_wrapped(
            self.id,
            self.config,
            skills=self.skills,
            events=self.events,
            recent=self.recent,
            retries=self.retries,
            chat=self.chat,
        )

    def fixed(self) -> dict[str, Any]:
        """What may not change while a season is continued: players and episodes may be added."""
        free = ["name", "players", "pool", "rounds", "episodes"]
        # As seasons were stored before there were any.
        later = ("probes", "recent", "retries")
        free += [name for name in later if getattr(self, name) in (None, False)]
        fields = dataclasses.asdict(self)
        return {name: plain(value) for name, value in fields.items() if name not in free}


@dataclasses.dataclass(frozen=True)
class Season:
    """A season, read by `read_season`.

    Attributes:
        text: its file, which holds no secrets.
        name, seed: of it.
        currency: in which prices and costs are given.
        games, players, prices: by name.
        budget: of the whole season.
    """

    text: str
    name: str
    seed: int
    currency: str
    games: Mapping[str, GamePlan]
    players: Mapping[str, Player]
    prices: Mapping[str, Price]
    budget: Budget

    @property
    def digest(self) -> str:
        return hashlib.blake2b(self.text.encode(), digest_size=8).hexdigest()

    def price(self, player: str) -> Price | None:
        name = self.players[player].price
        return self.prices[name] if name else None

    def rows(self, game: str) -> list[str]:
        """The players of a game that tables have a row for."""
        columns = self.partners(game)
        return [name for name in self.games[game].players if name not in columns]

    def partners(self, game: str) -> list[str]:
        """The held-out players of a game and its pool, which are columns alone."""
        plan = self.games[game]
        return [n for n in plan.players if n in plan.pool or self.players[n].held_out]

    def check_seats(self, games: Collection[str]) -> None:
        """Build every player of these games once, so that what cannot play is found before anything
        is played.

        Raises:
            SeatError, ConfigError: a player cannot play a game.
        """
        for plan in (self.games[name] for name in games):
            for name in plan.players:
                try:
                    self.players[name].policy(plan.env)
                except (ConfigError, SeatError) as error:
                    raise type(error)(
                        f"the player {name!r} cannot play {plan.name!r}: {error}; leave it out by "
                        f"players = [...] in [games.{plan.name}], or games = [...] of the player"
                    ) from error


# ---- reading -------------------------------------------------------------------------------------

_MATCHES = 10_000  # of one line-up, at most
_TOP = ("name", "seed", "currency", "games", "players", "prices", "budget")
_GAME = (
    *("id", "config", "skills", "chat", "events", "players", "pairing", "pool", "rounds"),
    *("episodes", "duplicate", "self_play", "score", "seed", "block", "on_illegal"),
    *("allow_illegal", "max_steps", "probes", "recent", "retries"),
)
_WRAPPED = {"events": 'events = "agent"', "retries": "retries = { attempts = 3 }"}
_PLAYER = ("seat", "options", "secrets", "price", "budget", "held_out", "games")


def read_season(source: str | os.PathLike[str]) -> Season:
    """The season in a file, or in a text of several lines.

    Raises:
        ConfigError: it cannot be read, or something in it makes no sense.
    """
    if not isinstance(source, (str, os.PathLike)):
        raise ConfigError(f"a season is a file or a text of several lines, given {source!r}")
    text = os.fspath(source)
    if "\n" not in text:
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read the season {os.fspath(source)}: {error}") from error
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the season is no TOML: {error}") from error
    _known("a season", given, _TOP)
    name = _name("the name of the season", given.get("name", "season"))
    seed = whole("seed", given.get("seed", 0), 0)
    prices = {
        _name("a price", key): _price(key, value)
        for key, value in _table("prices", given.get("prices", {})).items()
    }
    players = {
        key: _player(_name("a player", key), value, prices)
        for key, value in _table("players", given.get("players", {})).items()
    }
    if not players:
        raise ConfigError('a season needs players: [players], with lines like random = "random"')
    tables = _table("games", given.get("games", {}))
    if not tables:
        raise ConfigError("a season needs games: [games.tic_tac_toe], with episodes = 20")
    for player in players.values():  # first: who is left without players is said to need them
        for wanted in player.games:
            if wanted not in tables:
                raise ConfigError(
                    f"players.{player.name}.games names {wanted!r}, which is no game of the "
                    f"season;{nearest(wanted, tables)} the games are {names_of(list(tables))}"
                )
    games: dict[str, GamePlan] = {}
    for key, value in tables.items():
        _name("a game", key)
        games[key] = _game(key, _table(f"games.{key}", value), players, seed)
    currency = given.get("currency", "USD")
    if not isinstance(currency, str) or not re.fullmatch(r"\w{1,8}", currency):
        raise ConfigError(f"currency is a short word such as EUR, given {currency!r}")
    budget = _budget("budget", given.get("budget", {}))
    if budget.cost is not None and not any(map(_priced, players.values())):
        raise ConfigError(
            f"budget.cost = {budget.cost:g} limits nothing: no player has a price; give players "
            "price = NAME, a row of [prices.NAME] with input and output, or a seat's option prices"
        )
    return Season(text, name, seed, currency, games, players, prices, budget)


def _known(where: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in given:
        if key not in known:
            raise ConfigError(
                f"{where} has no key {key!r};{nearest(key, known)} the keys are {names_of(known)}"
            )


def _table(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"[{where}] is a table, given {value!r}")
    return value


def _name(what: str, value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ConfigError(
            f"{what} is called by up to 40 letters, digits and _ . + -, a letter or digit first, "
            f"given {value!r}"
        )
    return value


def _words(where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ConfigError(f"{where} is a list of names, given {value!r}")
    twice = {one for one in value if value.count(one) > 1}
    if twice:
        raise ConfigError(f"{where} names {names_of(sorted(twice))} twice")
    return tuple(value)


def _budget(where: str, value: Any) -> Budget:
    given = _table(where, value)
    _known(f"[{where}]", given, ("tokens", "cost", "seconds"))
    return Budget(
        tokens=whole(f"{where}.tokens", given["tokens"], 1) if "tokens" in given else None,
        cost=number(f"{where}.cost", given["cost"], 0) if "cost" in given else None,
        seconds=number(f"{where}.seconds", given["seconds"], 0) if "seconds" in given else None,
    )


def _price(name: str, value: Any) -> Price:
    given = _table(f"prices.{name}", value)
    _known(f"[prices.{name}]", given, ("input", "output"))
    for key in ("input", "output"):
        if key not in given:
            raise ConfigError(f"[prices.{name}] needs {key}: the price of a million tokens")
    return Price(*(number(f"prices.{name}.{key}", given[key], 0) for key in ("input", "output")))


def _player(name: str, value: Any, prices: Mapping[str, Price]) -> Player:
    where = f"players.{name}"
    given = {"seat": value} if isinstance(value, str) else _table(where, value)
    _known(f"[{where}]", given, _PLAYER)
    called = given.get("seat")
    if not isinstance(called, str) or not called:
        raise ConfigError(f"{where}.seat is the name of a seat, given {called!r}")
    kind = called.partition(":")[0]
    if kind not in registered_seats():
        known = registered_seats()
        raise ConfigError(
            f"{where}: no seat is called {kind!r};{nearest(kind, known)} there are "
            f"{names_of(known)}"
        )
    if kind == "human":
        raise ConfigError(f"{where}: people play by `manyhands play`, not in seasons")
    options = _table(f"{where}.options", given.get("options", {}))
    for text in (called, *(f"{key}={_flat(option)}" for key, option in options.items())):
        if redact(text) != text:
            raise ConfigError(
                f"{where} holds what looks like a secret: {redact(text)}. A season is stored and "
                'shown; name an environment variable: secrets = { api_key = "MY_API_KEY" }'
            )
    secrets = _table(f"{where}.secrets", given.get("secrets", {}))
    for option, variable in secrets.items():
        if not isinstance(variable, str) or not re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable):
            raise ConfigError(
                f"{where}.secrets.{option} is the name of an environment variable, in capitals, "
                "such as MY_API_KEY; what is given is none (and is not shown)"
            )
    price = given.get("price", "")
    if not isinstance(price, str):
        raise ConfigError(f"{where}.price is the name of a row in [prices], given {price!r}")
    if price and price not in prices:
        raise ConfigError(
            f"{where}.price names {price!r}, which is not in [prices];{nearest(price, prices)} "
            f"there are {names_of(list(prices)) if prices else 'none'}"
        )
    made = Player(
        name,
        called,
        options,
        secrets,
        price,
        _budget(f"{where}.budget", given.get("budget", {})),
        boolean(f"{where}.held_out", given.get("held_out", False)),
        _words(f"{where}.games", given.get("games", [])),
    )
    if made.budget.cost is not None and not _priced(made):
        raise ConfigError(
            f"{where}.budget.cost = {made.budget.cost:g} limits nothing: its tokens have no price; "
            "add price = NAME, a row of [prices.NAME] with input and output, or the seat's option "
            "prices"
        )
    return made


def _priced(player: Player) -> bool:
    """Whether what a player spends is known in money: by the season, or by its seat."""
    inner = re.search(r"\bprices\s*=", player.seat)
    return bool(player.price or "prices" in player.options or inner)


def _flat(option: Any) -> str:
    """An option as text, nested ones too, to look for secrets in."""
    if isinstance(option, dict):
        return " ,".join(f"{key}={_flat(value)}" for key, value in option.items())
    return option if isinstance(option, str) else json.dumps(option, default=str)


def _game(name: str, given: dict[str, Any], players: dict[str, Player], seed: int) -> GamePlan:
    where = f"games.{name}"
    _known(f"[{where}]", given, _GAME)
    id = given.get("id", name)
    if id in registered(wrappers=True):
        raise ConfigError(
            f"{where}: {id!r} is a wrapper; name an environment, and write "
            f"{_WRAPPED.get(id, f'{id} = true')} in its table"
        )
    load(id)
    config = _table(f"{where}.config", given.get("config", {}))
    skills = boolean(f"{where}.skills", given.get("skills", False))
    chat = boolean(f"{where}.chat", given.get("chat", False))
    events = one_of(f"{where}.events", given.get("events", ""), ("", "agent", "team"))
    recent = boolean(f"{where}.recent", given.get("recent", False))
    retries = given.get("retries", False)
    if isinstance(retries, bool):
        retries = {} if retries else None
    else:
        retries = _table(f"{where}.retries", retries)
        if "env" in retries:
            raise ConfigError(f"{where}.retries has no option 'env': it is the game's own")
    try:
        env = make_wrapped(
            id,
            config,
            skills=skills,
            events=events,
            recent=recent,
            retries=retries,
            chat=chat,
        )
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    pairing = one_of(f"{where}.pairing", given.get("pairing", "round_robin"), PAIRINGS)
    own, pool = _players(where, given, players, env, pairing)
    base, alone = env.unwrapped, env.num_agents == 1
    against = base.id in COMPETITIVE and (base.id != "volleyball" or base.sides is not None)
    wins = against and base.config().get("hands") != 1
    score = one_of(f"{where}.score", given.get("score", "wins" if wins else "reward"), SCORES)
    if alone and score == "wins":
        raise ConfigError(f'{where}: one agent wins against nobody; score = "reward"')
    if pairing == "swiss" and (alone or score != "wins"):
        raise ConfigError(f"{where}: swiss pairs players by their wins, and here nobody wins")
    if "rounds" in given and pairing != "swiss":
        raise ConfigError(f'{where}.rounds belongs to pairing = "swiss"')
    rows = [one for one in own if one not in pool and not players[one].held_out]
    with_itself = pairing == "round_robin" and score == "reward" and not against
    self_play = boolean(f"{where}.self_play", given.get("self_play", with_itself))
    # One row will do, where it has a column: another player's, or with self-play its own.
    enough = 2 if alone or (self_play and score == "reward") else 3
    if len(rows) + len(own) < enough:
        shown = names_of(own) if own else "none"
        why = "; who is scored by wins wins nothing against itself" if self_play else ""
        raise ConfigError(f"{where} needs two players or more, given {shown}{why}")
    if not rows:
        raise ConfigError(f"{where}: all its players are held out or in the pool; nobody is rated")
    limit = given.get("allow_illegal")
    steps = given.get("max_steps")
    episodes = whole(f"{where}.episodes", given.get("episodes", 20), 1)
    block = whole(f"{where}.block", given.get("block", 50), 1)
    if -(-episodes // block) > _MATCHES:  # all of them are drawn up before the first is played
        raise ConfigError(
            f"{where}: {episodes} episodes in blocks of {block} are {-(-episodes // block)} "
            f"matches of each line-up, at most {_MATCHES}; give fewer episodes or a larger block"
        )
    return GamePlan(
        name=name,
        id=id,
        config=config,
        skills=skills,
        chat=chat,
        events=events,
        players=own,
        pairing=pairing,
        pool=pool,
        rounds=whole(f"{where}.rounds", given.get("rounds", 5), 1),
        episodes=episodes,
        duplicate=boolean(f"{where}.duplicate", given.get("duplicate", True)),
        self_play=self_play,
        score=score,
        seed=whole(f"{where}.seed", given.get("seed", seed), 0),
        block=block,
        on_illegal=one_of(f"{where}.on_illegal", given.get("on_illegal", "noop"), _EFFECTS),
        allow_illegal=None if limit is None else whole(f"{where}.allow_illegal", limit, 0),
        max_steps=None if steps is None else whole(f"{where}.max_steps", steps, 1),
        probes=_probes(f"{where}.probes", given.get("probes", False), env),
        recent=recent,
        retries=retries,
    )


def _probes(where: str, value: Any, env: Env) -> Mapping[str, Any] | None:
    if isinstance(value, bool):
        given: dict[str, Any] = {}
        if not value:
            return None
    else:
        given = _table(where, value)
    _known(f"[{where}]", given, ("every", "most", "kinds"))
    if "kinds" in given:
        given = given | {"kinds": list(_words(f"{where}.kinds", given["kinds"]))}
    if not asks(env):
        raise ConfigError(f"{where}: {env.id} asks no questions (`Env.questions`)")
    try:
        Probes(**given)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    return given


_EFFECTS = tuple(one for one in ON_ILLEGAL if one != "raise")  # a season goes on


def _players(
    where: str, given: dict[str, Any], players: dict[str, Player], env: Env, pairing: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The players of a game, and its pool; the standard partners of the environment are added to
    the season's players."""
    game = where.removeprefix("games.")
    everybody = [p.name for p in players.values() if not p.games or game in p.games]
    named = _words(f"{where}.players", given["players"]) if "players" in given else everybody
    wanted = given.get("pool", [])
    if wanted and pairing != "pool":
        raise ConfigError(f'{where}.pool belongs to pairing = "pool"')
    if wanted == STANDARD:
        pool = [_standard(game, name, called, players) for name, called in held_out(env).items()]
    else:
        pool = list(_words(f"{where}.pool", wanted))
    for name in (*named, *pool):
        if name not in players:
            raise ConfigError(
                f"{where} names the player {name!r}, who is not in [players];"
                f"{nearest(name, players)} there are {names_of(list(players))}"
            )
        if players[name].games and game not in players[name].games:
            raise ConfigError(
                f"{where} names the player {name!r}, whose own list of games leaves it out"
            )
    own = tuple(dict.fromkeys((*named, *pool)))
    if pairing == "pool" and not pool:
        pool = [name for name in own if players[name].held_out]
        if not pool:
            raise ConfigError(
                f'{where}: a pool is a list of players, pool = ["a", "b"], or "{STANDARD}"; or '
                "players with held_out = true"
            )
    return own, tuple(pool)


def _standard(game: str, name: str, called: str, players: dict[str, Player]) -> str:
    """Seat one of an environment's own held-out partners in a game; returns its name as a player.
    Games that share a partner share the player."""
    for key in (f"held_out.{name}", f"held_out.{game}.{name}"):
        known = players.get(key)
        if known is None:
            players[key] = Player(key, called, held_out=True, games=(game,))
            return key
        if known == Player(key, called, held_out=True, games=known.games) and known.games:
            games = tuple(dict.fromkeys((*known.games, game)))
            players[key] = dataclasses.replace(known, games=games)
            return key
    raise ConfigError(
        f"games.{game}.pool is {STANDARD!r}, whose partner {name!r} is called {key!r} here: give "
        "your own player of that name another one"
    )
