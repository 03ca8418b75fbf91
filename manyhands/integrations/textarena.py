"""A game with TextArena's interface: `reset(num_players, seed)`, `get_observation()`, `step(words)`
and `close()`, for loops and agents that were written for TextArena.

`register_games()` adds every game to TextArena's own registry, as "Manyhands-<id>-v0". Tested with
textarena 0.7.4; the class alone needs no package.
"""

from __future__ import annotations

from typing import Any

from manyhands.core.config import whole
from manyhands.core.env import Env
from manyhands.core.registry import registered
from manyhands.wrappers.text_seat import TextTable


class TextArena:
    """All seats of one game, asked one after the other. Where agents act at once, the step is made
    when all have answered.

    An illegal answer gives the turn back to the same player, with the reason in its next
    observation; after `retries` in a row it forfeits.

    Args:
        game, options: as in `TextTable`.
    """

    def __init__(self, game: str | Env, **options: Any):
        self.table = TextTable(game, **options)
        self._told: set[int] = set()  # who has read the rules

    def reset(self, num_players: int | None = None, seed: int | None = None) -> None:
        """Begin a game. `num_players` is that of the game's configuration."""
        count = self.table.env.num_agents
        if num_players is not None:
            whole("num_players", num_players, count, count)
        self.table.reset(seed)
        self._told.clear()

    def get_observation(self) -> tuple[int, str]:
        """The number of the player to move, and what it reads; its first text holds the rules."""
        player = min(self.table.waiting, default=0)
        text = self.table.look(player)
        if player not in self._told:
            self._told.add(player)
            text = f"{self.table.rules(player)}\n\n{text}"
        return player, text

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Answer for that player: whether the game is over, and the info of `TextTable.act`."""
        info = self.table.act(min(self.table.waiting, default=0), action)
        return self.table.done, info

    def close(self) -> tuple[dict[int, float], dict[int, dict[str, Any]]]:
        """The rewards by player, and what TextArena tells of each. A game that is not over is
        forfeited by those to move. The table can be reset again."""
        rewards = dict(enumerate(map(float, self.table.finish())))
        result = self.table.result()
        infos = {
            player: {
                "role": agent,
                "turn_count": result.steps,
                "invalid_move": agent in result.forfeits,
                "illegal": self.table.illegal[player],
                "ended": result.ended,
            }
            for player, agent in enumerate(self.table.env.agents)
        }
        return rewards, infos


def register_games() -> list[str]:
    """Add every game to TextArena's registry, for `textarena.make`; returns the new ids."""
    from textarena.envs.registration import ENV_REGISTRY, register

    made = []
    for game in registered():
        id = f"Manyhands-{game}-v0"
        if id not in ENV_REGISTRY:
            register(id, TextArena, game=game)
        made.append(id)
    return made
