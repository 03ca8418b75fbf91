"""`manyhands serve`: play, watch, look at records, and hold studies in the browser."""

from __future__ import annotations

import argparse
import ipaddress
import secrets
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import manyhands
from manyhands.cli.common import command, make_env, read_pairs
from manyhands.core.config import number, whole
from manyhands.core.env import ConfigError, Env, ManyhandsError
from manyhands.core.processes import usable_cores
from manyhands.core.seats import seat_policy

SEATS = ("bot", "random")
ALONE = 8  # games that one process plays with time to spare (benchmarks/web_load.py)


def add(commands: Any) -> None:
    parser = command(
        commands,
        "serve",
        run,
        "Play, watch, look at records, and hold studies in the browser.",
        "It prints the address of a page where people choose a game, a seat and partners, invite\n"
        "others by a link, and look at records. A game in quotes takes a configuration:\n\n"
        "  manyhands serve\n"
        "  manyhands serve 'kitchen layout=coordination_ring' connect_four --partners ippo solver\n"
        "  manyhands serve --records runs/\n"
        "  manyhands serve --study examples/study.toml\n\n"
        "Only this machine can reach it, unless --host says otherwise; then the address holds a\n"
        "token, without which nothing is answered.",
    )
    parser.add_argument(
        "games", nargs="*", metavar="GAME", help="what can be played (default: every game)"
    )
    parser.add_argument(
        "--partners", nargs="+", default=[], metavar="SEAT", help="players that may be chosen, too"
    )
    parser.add_argument(
        "--records",
        nargs="+",
        type=Path,
        default=[],
        metavar="PATH",
        help="records, or folders of records and of seasons (manyhands arena)",
    )
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="write a record of each game")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at")
    parser.add_argument("--port", type=int, default=8000, help="port (default 8000; 0: any)")
    parser.add_argument(
        "--name", action="append", default=[], help="a name by which browsers may ask for it"
    )
    parser.add_argument("--tables", type=int, default=64, help="games at once (default 64)")
    parser.add_argument(
        "--processes",
        type=int,
        metavar="N",
        help="play the games in N other processes; 0: in this one alone (default: others, as many "
        f"as there are cores, play what is more than {ALONE} games)",
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=60.0,
        help="seconds that the others wait for somebody who left (default 60)",
    )
    parser.add_argument(
        "--leaver",
        choices=("bot", "forfeit"),
        default="bot",
        help="what happens then: a bot plays (the default), or the seat forfeits the game",
    )
    parser.add_argument(
        "--study", type=Path, metavar="FILE", help="hold the study in this file (.toml)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="of the study (default runs/study/NAME)"
    )
    parser.add_argument(
        "--export",
        action="store_true",
        help="write the CSV files of the study as far as it has come, and end",
    )


def run(options: argparse.Namespace) -> int:
    if options.processes is not None and options.processes < 0:
        raise ConfigError(f"--processes is 0 or more, given {options.processes}")
    whole("--port", options.port, 0, 65535)  # beyond, the system would take it modulo 65536
    whole("--tables", options.tables, 1)
    number("--patience", options.patience, 0)
    try:
        import starlette  # noqa: F401
        import uvicorn
        from PIL import Image  # noqa: F401
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"manyhands serve needs the extra `web` ({error.name} is missing): "
            'pip install "manyhands[web]"'
        ) from error
    from manyhands.web.house import House
    from manyhands.web.replays import Library
    from manyhands.web.server import application

    study = None
    if options.study is None:
        for name in ("out", "export"):
            if getattr(options, name):
                raise ConfigError(f"--{name} is for a study: give --study FILE, too")
    else:
        for name in ("games", "partners", "records", "record"):
            if getattr(options, name):
                raise ConfigError(
                    f"{name} are not for a study, whose file says what is played; records are "
                    "kept in its folder (--out)"
                )
        study, ledger = _study(options)
        if options.export:
            for path in ledger.save_tables():
                print(f"wrote {path}")
            return 0
    if options.record is not None:
        options.record.mkdir(parents=True, exist_ok=True)
    house = House(
        [] if study else offers(options.games, options.partners),
        most=options.tables,
        patience=options.patience,
        leaver=options.leaver,
        record=options.record,
        processes=usable_cores() if options.processes is None else options.processes,
        alone=ALONE if options.processes is None else 0,
    )
    room = None
    if study is not None:
        from manyhands.web.room import Room

        room = Room(study, ledger, house)
        print(f"{study.title}: kept in {ledger.folder}", file=sys.stderr)
    token = "" if _loopback(options.host) else secrets.token_urlsafe(16)
    hosts = [*LOCAL, *([] if options.host in EVERYWHERE else [options.host]), *options.name]
    if options.host in EVERYWHERE and not options.name:
        hosts = ["*"]  # the token tells who may; which names this machine has is not known
    app = application(house, Library(options.records), hosts=hosts, token=token, study=room)

    class Server(uvicorn.Server):
        async def startup(self, *arguments: Any, **more: Any) -> None:
            await super().startup(*arguments, **more)
            for server in self.servers:
                for socket in server.sockets:
                    port = socket.getsockname()[1]
                    host = "localhost" if options.host in EVERYWHERE else options.host
                    host = f"[{host}]" if ":" in host else host
                    query = f"?token={token}" if token else ""
                    print(f"http://{host}:{port}/{query}", flush=True)
                    return

    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        ws_max_size=1 << 16,
        ws_per_message_deflate=False,  # pictures are compressed already
        timeout_graceful_shutdown=2,
    )
    server = Server(config)
    server.run()
    if not server.started:
        print(f"manyhands: cannot listen at {options.host}:{options.port}", file=sys.stderr)
        return 1
    return 0


def _study(options: argparse.Namespace) -> tuple[Any, Any]:
    """The study that a command line names, and its store."""
    from manyhands.web.ledger import Ledger
    from manyhands.web.study import read_study

    study = read_study(options.study)
    folder = options.out or Path("runs") / "study" / study.name
    return study, Ledger(study, folder, read_only=options.export)


LOCAL = ("localhost", "127.0.0.1", "[::1]")
EVERYWHERE = ("0.0.0.0", "::")


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def offers(games: Iterable[str], partners: Iterable[str]) -> list[Any]:
    """The games of a server, each with the players that can take a seat in it.

    Raises:
        ConfigError: a game cannot be made, or a partner plays none of them.
    """
    from manyhands.web.house import Offer

    given, asked = list(games) or list(manyhands.registered()), list(dict.fromkeys(partners))
    found, failed = [], dict.fromkeys(asked, "")
    for game in given:
        id, *pairs = shlex.split(game)
        env = make_env(id, read_pairs(pairs))
        seats = []
        for seat in (*asked, *SEATS):
            reason = _cannot(env, seat)
            if not reason:
                seats.append(seat)
                failed.pop(seat, None)
            elif seat in failed:
                failed[seat] = reason
        found.append(Offer(game, env, tuple(dict.fromkeys(seats))))
    for seat, reason in failed.items():
        raise ConfigError(f"{seat!r} can play none of these games: {reason}")
    return found


def _cannot(env: Env, seat: str) -> str:
    """Why a seat cannot play an environment; empty if it can."""
    try:
        seat_policy(env, seat)
    except ManyhandsError as error:
        return str(error)
    return ""
