"""The progress bar of `play`."""

from __future__ import annotations

from manyhands.core.env import Env
from manyhands.core.episode import EpisodeResult


class Bar:
    """The progress bar: filled by steps, labelled with the count of episodes."""

    def __init__(self, env: Env, episodes: int, max_steps: int | None):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._length = env.max_steps if max_steps is None else min(max_steps, env.max_steps)
        self._episodes, self._done, self._steps, self._reward = episodes, 0, 0, 0.0
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        total = episodes * self._length
        self._task = self._progress.add_task(env.id, total=total, note=f"0/{episodes} episodes")

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def stepped(self) -> None:
        self._progress.advance(self._task)

    def finished(self, result: EpisodeResult) -> None:
        """Count an episode; one that ended early fills the bar as if it had not."""
        self._done += 1
        self._reward += sum(result.rewards) / len(result.rewards)
        note = f"{self._done}/{self._episodes} episodes, mean reward {self._reward / self._done:g}"
        self._progress.update(self._task, advance=max(self._length - result.steps, 0), note=note)
