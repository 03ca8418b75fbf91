"""How command lines are parsed. It imports the standard library alone: so `--help` is quick."""

from __future__ import annotations

import argparse
from typing import Any


class CommandParser(argparse.ArgumentParser):
    """The arguments of one command. Where it has `config`, NAME=VALUE words may stand anywhere:
    `argparse` would take those behind an option for its values, or for words too many. Only what an
    option cannot do without is its own: the file of `--record a=b`."""

    def __init__(self, **options: Any):
        self._by_name: dict[str, argparse.Action] = {}
        super().__init__(**options)

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        action = super().add_argument(*names, **options)
        self._by_name.update(dict.fromkeys(action.option_strings, action))
        return action

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self.get_default("config") is None:
            return super().parse_known_args(args, namespace)
        rest, pairs, needed = [], [], False
        for word in args:
            if is_pair(word) and not needed:
                pairs.append(word)
                continue
            rest.append(word)
            near = next((name for name in self._by_name if name.startswith(word)), "")
            option = self._by_name.get(word) or self._by_name.get(near)
            needed = word.startswith("--") and option is not None and option.nargs in (None, "+")
        options, unknown = super().parse_known_args(rest, namespace)
        options.config = [*options.config, *pairs]
        return options, unknown


def is_pair(word: str) -> bool:
    """Whether a word of the command line is of the form NAME=VALUE."""
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()
