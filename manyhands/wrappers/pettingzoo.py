"""Any environment as a PettingZoo one: `Parallel` (all agents at once) and `Sequential` (AEC).

Agents may answer with numbers, with the names of actions or with sentences, mixed in one step:
text goes through the environment's own parser. Both classes are thin views of one `Game`
(`core/episode.py`), as `play` is.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any, ParamSpec

import gymnasium
import jax
import numpy as np
from gymnasium.utils import seeding
from pettingzoo.utils.env import AECEnv, ParallelEnv

from manyhands.core.config import check_reset_options, one_of, whole
from manyhands.core.env import (
    Action,
    ConfigError,
    Env,
    EpisodeOver,
    IllegalAction,
    episode_key,
    episode_keys_data,
    names_of,
    shorten,
)
from manyhands.core.episode import Game, check_action, not_legal
from manyhands.core.pack import (
    BLOCK,
    Frame,
    Report,
    no_actions,
    restore,
    restore_talk,
    stepper,
)
from manyhands.core.processes import check_process
from manyhands.core.registry import configured
from manyhands.core.render import camera_of, render
from manyhands.core.view import View

OBSERVE = ("vector", "text", "both")
INFOS = ("nested", "flat")
MASK = ("info", "observation")
EMPTY_MASK = ("none", "noop")
DTYPES = ("float32",)
ON_ILLEGAL = ("raise", "noop", "forfeit")
RENDER_MODES = ("rgb_array", "human", "ansi")
RENDER_FPS = 10
MAX_TEXT = 2**16  # characters in a text observation

_P = ParamSpec("_P")


def parallel_env(
    id: str,
    *,
    observe: str = "vector",
    infos: str = "nested",
    mask: str = "info",
    empty_mask: str = "none",
    dtype: str | None = None,
    on_illegal: str = "raise",
    allow_illegal: int | None = None,
    render_mode: str | None = None,
    camera: str = "",
    max_cycles: int | None = None,
    **config: Any,
) -> Parallel:
    """The environment `make(id, **config)` as a PettingZoo parallel one.

    Args:
        id: as in `make`: an id, or `"module:id"`, which imports the module first.
        observe: `"vector"` (arrays), `"text"` (words) or `"both"` (a dict of the two).
        infos, mask, empty_mask, dtype: the form of infos, masks and vectors; see `Format`.
        on_illegal: what an illegal or unreadable action does: `"raise"` an `IllegalAction`, play
            the environment's `"noop"` instead, or `"forfeit"`: the step is not played, and the
            episode ends, terminated for everybody; the reward is its price, `Env.forfeit_terms`.
        allow_illegal: how many of them cost no more than a no-op, as in `play`.
        render_mode: None, `"rgb_array"`, `"human"` (a window) or `"ansi"` (what agents read).
        camera: of the images, one of `Env.cameras` where there are several.
        max_cycles: PettingZoo's word for `max_steps`.
    """
    if max_cycles is not None:
        config.setdefault("max_steps", max_cycles)
    return Parallel(
        configured(id, config, parallel_env),
        observe=observe,
        infos=infos,
        mask=mask,
        empty_mask=empty_mask,
        dtype=dtype,
        on_illegal=on_illegal,
        allow_illegal=allow_illegal,
        render_mode=render_mode,
        camera=camera,
    )


def _in_turns(parallel: Callable[_P, Parallel]) -> Callable[_P, Sequential]:
    def env(*args: _P.args, **options: _P.kwargs) -> Sequential:
        """The same as a PettingZoo AEC environment; the arguments are those of `parallel_env`."""
        return Sequential(parallel(*args, **options))

    env.__qualname__ = "env"
    return env


env = raw_env = _in_turns(parallel_env)


class Format:
    """How observations, masks and infos are handed out: options that the views of one episode at a
    time share.

    Args:
        game: the environment.
        observe: `"vector"`, `"text"`, or `"both"`: {"vector": array, "text": words}.
        infos: `"nested"`, or `"flat"`: the mask and numbers alone, for libraries that stack infos:
            "terms/<name>", "metrics/<name>", and "illegal", which is 1 where the agent's action
            was illegal, else 0.
        mask: where the mask of legal actions is: in the `"info"`, or in the `"observation"`, which
            then is {"observation": as above, "action_mask": i8[A]}.
        empty_mask: what the mask allows an agent that is not to move: `"none"` of the actions, or
            the `"noop"` (action 0 where that is outside of the action space), for libraries that
            sample from every mask.
        dtype: of vectors: None is the environment's own; or `"float32"`.

    Raises:
        ConfigError: an option has no such value, or does not apply to this environment.
    """

    def __init__(
        self,
        game: Env,
        observe: str,
        infos: str,
        mask: str,
        empty_mask: str,
        dtype: str | None,
    ):
        one_of("observe", observe, OBSERVE)
        one_of("infos", infos, INFOS)
        one_of("mask", mask, MASK)
        one_of("empty_mask", empty_mask, EMPTY_MASK)
        self.game, self.observe = game, observe
        self.has_masks = not isinstance(game.action_space, gymnasium.spaces.Box)
        if mask == "observation" and not self.has_masks:
            raise ConfigError(
                f'mask="observation" needs actions that can be masked; those of {game.id} are '
                f"continuous, {game.action_space}: leave it out"
            )
        if dtype is not None:
            one_of("dtype", dtype, DTYPES)
            if observe == "text" or not isinstance(game.observation_space, gymnasium.spaces.Box):
                raise ConfigError(
                    f"dtype={dtype!r} is for arrays; given observe={observe!r} of "
                    f"{game.observation_space}"
                )
        self._dtype = None if dtype is None else np.dtype(dtype)
        self.flat, self.mask_observed = infos == "flat", mask == "observation"
        self.mask_in_info = self.has_masks and not self.mask_observed
        self.vectors_only = observe == "vector" and not self.mask_observed
        self._idle = _noop_mask(game) if empty_mask == "noop" and self.has_masks else None

    def space(self) -> gymnasium.Space:
        """A new space of one agent's observations."""
        vector = copy_space(self.game.observation_space)
        if self._dtype is not None and isinstance(vector, gymnasium.spaces.Box):
            low, high = vector.low.astype(self._dtype), vector.high.astype(self._dtype)
            vector = gymnasium.spaces.Box(low, high, dtype=self._dtype)  # type: ignore[arg-type]
        spaces = {"vector": vector, "text": Words()}
        both = gymnasium.spaces.Dict(spaces)
        space = both if self.observe == "both" else spaces[self.observe]
        if self.mask_observed:
            size = sum(_sizes(self.game.action_space))
            mask = gymnasium.spaces.Box(0, 1, (size,), np.int8)
            space = gymnasium.spaces.Dict({"observation": space, "action_mask": mask})
        return space

    def vectors(self, vector: np.ndarray) -> np.ndarray:
        """A copy of vectors, for the caller to keep and to write to."""
        return vector.copy() if self._dtype is None else vector.astype(self._dtype)

    def observation(self, episode: Game, index: int) -> Any:
        """What one agent observes; arrays are copies."""
        frame = episode.frame
        seen: Any = episode.text(index) if self.observe != "vector" else None
        if self.observe != "text":
            vector = self.vectors(frame.vector[index])
            seen = vector if self.observe == "vector" else {"vector": vector, "text": seen}
        if self.mask_observed:
            mask = self.masks(frame.report)[index].copy()
            seen = {"observation": seen, "action_mask": mask}
        return seen

    def masks(self, report: Report) -> Sequence[np.ndarray]:
        """By agent: the mask of legal actions, i8[A], read-only. Those of the components of a
        `MultiDiscrete` action are one after the other."""
        if self._idle is None:
            return report.masks
        return [
            mask if 1 in legal else self._idle for mask, legal in zip(report.masks, report.legal)
        ]

    def info(
        self,
        mask: np.ndarray,
        terms: dict[str, float],
        metrics: dict[str, float],
        parse: dict[str, Any],
    ) -> dict[str, Any]:
        """The info of one agent, from its mask and its unweighted terms, the metrics of the step,
        and how its action was read."""
        found: dict[str, Any] = {"terms": terms.copy(), "metrics": metrics.copy()}
        if self.flat:
            found = flat_info(found)
            found["illegal"] = int(parse["status"] in ("illegal", "forfeit"))
        else:
            found["parse"] = parse
        return {"action_mask": mask, **found} if self.mask_in_info else found

    def refusal(self, reason: str, masks: str) -> IllegalAction:
        """The error with `on_illegal="raise"`, which names the ways out; `masks` says where masks
        are. Its `reason` is the bare one, for the one who chose the action."""
        where = "in the observation" if self.mask_observed else masks
        shown = f"; the mask of legal actions is {where}" if self.has_masks else ""
        return IllegalAction(
            reason, f' (on_illegal="noop" or "forfeit" goes on instead of raising this{shown})'
        )


def flat_info(info: Mapping[str, Any]) -> dict[str, Any]:
    """An info without dicts: each of their entries becomes one of its own, "<dict>/<name>"."""
    found: dict[str, Any] = {}
    for name, value in info.items():
        if isinstance(value, Mapping):
            found |= {f"{name}/{inner}": item for inner, item in value.items()}
        else:
            found[name] = value
    return found


def _sizes(space: gymnasium.Space) -> list[int]:
    """How many choices each component of an action has."""
    if isinstance(space, gymnasium.spaces.MultiDiscrete):
        return [int(size) for size in space.nvec.ravel()]
    return [int(space.n)]  # type: ignore[attr-defined]


def _noop_mask(game: Env) -> np.ndarray:
    """i8[A], read-only: the no-op alone; action 0 where it is outside of the action space."""
    sizes, starts = _sizes(game.action_space), np.ravel(game.action_space.start)  # type: ignore[attr-defined]
    masks = []
    for size, first, noop in zip(sizes, starts, np.ravel(game.noop)):
        mask = np.zeros(size, np.int8)
        mask[noop - first if first <= noop < first + size else 0] = 1
        masks.append(mask)
    result = np.concatenate(masks)
    result.flags.writeable = False
    return result


class Parallel(ParallelEnv):
    """An environment whose agents act at once. In turn-taking games only the agents to move need
    to give an action; the others may give anything, or nothing.

    `infos[agent]` holds `"action_mask"` (int8[A]; not where actions are `Box`), `"terms"` (the
    parts of the reward, unweighted, by name), `"metrics"`, and `"parse"`: a dict with `"status"`,
    which is `"ok"`, `"illegal"` (the no-op was played), `"forfeit"` or `"none"` (no action was
    asked for), and, where something was wrong, the `"reason"`. Where the environment has a channel
    for talk, `"messages"` are what was said to the agent since it last acted, oldest first
    (`core.talk.Message`): the free words of an answer in text ("north; say: I take the onion") as
    they were said. `infos="flat"` and `mask="observation"` change this form (`Format`).

    Attributes:
        game: the `Env`.
        format: the options of `Format`.
        episode: the episode that is played (`core/episode.py`), None before the first reset.
        current: its true state, as NumPy views.
        frame: everything that the last reset or step yielded (`core/pack.py`).
        key_data: u32[2], the key of the episode.
        time: number of the step to come.
    """

    def __init__(
        self,
        game: Env,
        *,
        observe: str = "vector",
        infos: str = "nested",
        mask: str = "info",
        empty_mask: str = "none",
        dtype: str | None = None,
        on_illegal: str = "raise",
        allow_illegal: int | None = None,
        render_mode: str | None = None,
        camera: str = "",
    ):
        self.format = Format(game, observe, infos, mask, empty_mask, dtype)
        if allow_illegal is not None:
            allow_illegal = whole("allow_illegal", allow_illegal, 0)
        one_of("on_illegal", on_illegal, ON_ILLEGAL)
        if render_mode is not None:
            one_of("render_mode", render_mode, RENDER_MODES)
        self.game, self.render_mode, self.camera = game, render_mode, camera_of(game, camera)
        self.on_illegal, self.allow_illegal = on_illegal, allow_illegal
        self.metadata = {
            "name": f"{game.id}_v0",
            "render_modes": list(RENDER_MODES),
            "render_fps": RENDER_FPS,
            "is_parallelizable": True,
        }
        self.possible_agents = list(game.agents)
        self._index = {agent: i for i, agent in enumerate(game.agents)}
        self._numbers = range(game.num_agents)
        self.agents: list[str] = []
        # A space per agent: seeding one must not move another's random numbers.
        self.observation_spaces = {a: self.format.space() for a in game.agents}
        self.action_spaces = {a: copy_space(game.action_space) for a in game.agents}
        self.episode: Game | None = None
        self._stepper = stepper(game)
        self._np_random: np.random.Generator | None = None
        self._ahead: list[tuple[int, Frame]] = []  # episodes that begin without a seed
        space = game.action_space
        self._actions = self._stepper.actions
        self._box = (
            (space.shape, space.dtype, space.low, space.high)
            if isinstance(space, gymnasium.spaces.Box)
            else None
        )
        self._rows = no_actions(game)
        self._window: Window | None = None
        self._chat = game.chat
        self._said: dict[int, str] = {}  # by those who have answered in this step

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_window": None}

    # ---- PettingZoo's interface ---------------------------------------------------------------

    def observation_space(self, agent: str) -> gymnasium.Space:
        return self.observation_spaces[self.game.agents[self.game.index(agent)]]

    def action_space(self, agent: str) -> gymnasium.Space:
        return self.action_spaces[self.game.agents[self.game.index(agent)]]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin the episode that `seed` names; without one, the next of a random series, which
        the last seed given determines.

        Args:
            options: `"state"` begins from a state or a snapshot's bytes instead, as after
                `"time"` steps (0): with the same seed, what follows is what followed there.
                `"member"` (0) changes what players draw (`View.seed`), and nothing else, as in a
                group of `play(group=)`. `Env.reset_options` names what else an environment can
                begin with.

        Raises:
            ConfigError: there is no such option.
        """
        infos = self.begin(seed, options)
        return self._observations(self.agents), infos

    def begin(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> dict[str, dict[str, Any]]:
        """`reset`, but for the observations."""
        if options == {"options": 1}:  # so ask PettingZoo's own checkers
            options = None
        known = ("state", "time", "member", *self.game.reset_options)
        given = check_reset_options(options, known)
        first, member = (whole(name, given.get(name, 0), 0) for name in ("time", "member"))
        if seed is not None or self._np_random is None:
            self._np_random, _ = seeding.np_random(seed)
            self._ahead = []
        state = given.get("state")
        wishes = {name: given[name] for name in self.game.reset_options if name in given}
        if state is not None and wishes:
            raise ConfigError(f'options: "state" is all of it; leave out {", ".join(wishes)}')
        frame, talk = None, restore_talk(state) if isinstance(state, bytes) else ()
        if seed is None and not self._stepper.memoises:
            seed = int(self._np_random.integers(2**32))
        elif seed is None:
            # A small game's reset costs more than its steps, and in one call many cost little more.
            if not self._ahead:
                seeds = self._np_random.integers(2**32, size=BLOCK)
                frames = self._stepper.resets(episode_keys_data(seeds))
                self._ahead = list(zip(seeds.tolist(), frames))[::-1]
            seed, frame = self._ahead.pop()
        if state is None and wishes:
            state = self.game.reset_to(episode_key(seed), wishes)
        if state is not None:
            frame = self._stepper.view(
                restore(self.game, state) if isinstance(state, bytes) else state
            )
        self.episode = Game(
            self.game,
            seed,
            member=member,
            frame=frame,
            first=first,
            talk=talk,
            totals=False,
            on_illegal=self.on_illegal,
            allow_illegal=self.allow_illegal,
        )
        self._refused = False
        self.agents = list(self.game.agents)
        self._said = {}
        if self.render_mode == "human":
            self.render()
        return self._infos(self.episode.frame.report, [{"status": "none"} for _ in self.agents])

    def step(
        self, actions: Mapping[str, Action | str]
    ) -> tuple[
        dict[str, Any],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        agents, names, report = self.agents, self.possible_agents, self.playing().frame.report
        if type(actions) is not dict and not isinstance(actions, Mapping):
            raise ConfigError(
                f"actions are a dict, {{{agents[0]!r}: action, ...}}; given {shorten(actions)}"
            )
        self._said = {}
        expected = 0
        statuses: list[dict[str, Any]] = []
        rows, box, count, legal = self._rows, self._box, self._actions, report.legal
        live = len(agents) == len(names)
        unread: list[int] = []
        for i, acts in enumerate(report.acting):
            agent = names[i]
            if acts and (live or agent in agents):
                try:
                    action = actions[agent]
                except KeyError:
                    raise ConfigError(
                        f"no action for {agent!r}, who is to move; given actions for "
                        f"{', '.join(map(repr, actions)) or 'nobody'}"
                    ) from None
                expected += 1
                if type(action) is not int and isinstance(action, np.integer):
                    action = int(action)
                # The usual case, and quick.
                if type(action) is int and 0 <= action < count and legal[i][action]:
                    rows[i], status = action, {"status": "ok"}
                elif (
                    box is not None
                    and type(action) is np.ndarray
                    and action.shape == box[0]
                    and action.dtype == box[1]
                ):
                    rows[i], status = action, {"status": "ok"}
                    unread.append(i)
                else:
                    rows[i], status = self.read(i, action)
            else:
                rows[i], status = self.game.noop, {"status": "none"}
            statuses.append(status)
        if len(actions) != expected:
            for name in actions:
                if name not in agents:
                    raise ConfigError(
                        f"an action for {name!r}, who is not playing; playing are "
                        f"{', '.join(agents)}"
                    )
        # Numbers of all agents are checked at once, and one by one only to say what is wrong.
        if unread and not ((rows >= box[2]) & (rows <= box[3])).all():  # type: ignore[index]
            for i in unread:
                rows[i], statuses[i] = self.read(i, actions[names[i]])
        return self.play(rows, statuses)

    def state(self) -> np.ndarray:
        """The global state, for centralised critics: `Env.summary`."""
        return np.array(_summary(self.game)(self.current))

    @property
    def state_space(self) -> gymnasium.Space:
        shape = jax.eval_shape(lambda key: self.game.summary(self.game.reset(key)), episode_key(0))
        low, high = (-np.inf, np.inf)
        if not np.issubdtype(shape.dtype, np.floating):
            limits = (0, 1) if shape.dtype == bool else np.iinfo(shape.dtype)
            low, high = limits if isinstance(limits, tuple) else (limits.min, limits.max)
        return gymnasium.spaces.Box(low, high, shape.shape, shape.dtype)

    def render(self) -> Any:
        if self.render_mode is None:
            raise ConfigError(
                f"nothing to render: pass render_mode={names_of(list(map(repr, RENDER_MODES)))}"
            )
        state = self.current
        if self.render_mode == "ansi":
            parts = [f"[{a}]\n{self.game.describe(state, a)}" for a in self.game.agents]
            return "\n\n".join(parts)
        if self.render_mode == "rgb_array":
            return render(self.game, state, camera=self.camera)
        if self._window is None:
            self._window = Window(self.game, RENDER_FPS)
        self._window.show(state)
        return None

    def close(self) -> None:
        if self._window is not None:
            self._window.close()
            self._window = None

    # ---- what it adds -------------------------------------------------------------------------

    @property
    def current(self) -> Any:
        return self.frame.state

    @property
    def frame(self) -> Frame:
        return self._begun().frame

    @property
    def key_data(self) -> np.ndarray:
        return self._begun().key_data

    @property
    def time(self) -> int:
        return self._begun().step

    def snapshot(self) -> bytes:
        """The state and what was said, as bytes: for `reset(options={"state": ...})`, and to fork
        from with `play`."""
        return self._begun().snapshot()

    def view(self, agent: str | int) -> View:
        """All that an agent may know now: vector, legal actions, text, choices, rules, image."""
        return self._begun().views[self.game.index(agent)]

    def playing(self) -> Game:
        """The episode to act in; raises `EpisodeOver` if none is running."""
        episode = self._begun()
        if not self.agents:
            raise EpisodeOver("this episode is over; call reset() to begin another")
        return episode

    def read(self, index: int, action: Any) -> tuple[Action, dict[str, Any]]:
        """The action that an agent means, and its parse status. Raises `IllegalAction` with
        `on_illegal="raise"`."""
        frame = self.frame
        if self._said:
            self._said.pop(index, None)  # of an answer that was refused
        try:
            if isinstance(action, str):
                if self._chat is not None:
                    self._listen(index, action)
                action = frame.parse(action, index)
            elif isinstance(action, np.integer):
                action = int(action)
            # The usual cases, and quick.
            if type(action) is int and 0 <= action < self._actions:
                if frame.report.legal[index][action]:
                    return action, {"status": "ok"}
                if self.on_illegal != "raise":
                    return self._refuse(index, not_legal(action))
            elif action is None:
                raise IllegalAction("no action was given")
            return check_action(self.game, frame.legal[index], action), {"status": "ok"}
        except IllegalAction as error:
            if self.on_illegal == "raise":
                agent = self.game.agents[index]
                raise self.format.refusal(
                    f"{agent}: {error.reason}", f'infos[{agent!r}]["action_mask"]'
                ) from error
            return self._refuse(index, error.reason)

    def play(self, rows: np.ndarray, statuses: list[dict[str, Any]]) -> tuple[Any, ...]:
        """One step with actions that were read, [N, *action_space.shape]: what `step` returns."""
        agents = self.agents
        rest = self.advance(rows, statuses)
        return self._observations(agents), *rest

    def advance(
        self, rows: np.ndarray, statuses: list[dict[str, Any]]
    ) -> tuple[dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """`play`, but for the observations."""
        episode, agents, names = self.playing(), self.agents, self.possible_agents
        forfeits: tuple[int, ...] = ()
        if self._refused:
            answered = [i for i, status in enumerate(statuses) if status["status"] != "none"]
            refused = [i for i in answered if statuses[i]["status"] != "ok"]
            episode.count(answered, refused)
            forfeits = tuple(i for i in refused if statuses[i]["status"] == "forfeit")
            self._refused = any(episode.refused)
        if forfeits:
            episode.forfeit(forfeits)
            report = episode.frame.report
        else:
            episode.hear(compress(self._numbers, episode.frame.report.acting), self._said)
            report = episode.make(rows).report
        self._said = {}
        result = (
            dict(zip(names, report.reward)),
            dict(zip(names, report.terminated)),
            dict(zip(names, report.truncated)),
            self._infos(report, statuses),
        )
        if len(agents) < len(names):
            _keep(result, agents)
        if report.ends:
            ended = {n for n, a, b in zip(names, report.terminated, report.truncated) if a or b}
            self.agents = [agent for agent in agents if agent not in ended]
        if self.render_mode == "human":
            self.render()
        return result

    def observation(self, agent: str) -> Any:
        """What `agent` observes now."""
        index = self._index.get(agent)
        if index is None:
            index = self.game.index(agent)
        return self.format.observation(self._begun(), index)

    @property
    def movers(self) -> list[str]:
        """The agents that are to move now, in index order."""
        movers = compress(self.possible_agents, self.frame.report.acting)
        if len(self.agents) == len(self.possible_agents):
            return list(movers)
        return [agent for agent in movers if agent in self.agents]

    # ---- inside -------------------------------------------------------------------------------

    def _refuse(self, index: int, reason: str) -> tuple[Action, dict[str, Any]]:
        """What `read` gives for an illegal action."""
        self._refused = True
        status = "forfeit" if self._begun().forfeits_by(index) else "illegal"
        return self.game.noop, {"status": status, "reason": reason}

    def _begun(self) -> Game:
        if self.episode is None:
            raise EpisodeOver("no episode has begun; call reset() first")
        return self.episode

    def _observations(self, agents: list[str]) -> dict[str, Any]:
        episode = self._begun()
        if self.format.vectors_only and len(agents) == len(self.possible_agents):
            # A copy: the caller may write to it, and the frame's buffer stays as it is.
            vectors = self.format.vectors(self._stepper.fields["vector"](episode.frame.buffer))
            return dict(zip(agents, vectors))
        return {agent: self.format.observation(episode, self._index[agent]) for agent in agents}

    def _listen(self, index: int, answer: str) -> None:
        """Keep the free words in an answer until the step is played."""
        say = self._chat.speech(answer)  # type: ignore[union-attr]
        if say is not None:
            self._said[index] = say

    def _infos(self, report: Report, statuses: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
        metrics, form = report.metrics, self.format
        rows = zip(self.possible_agents, form.masks(report), report.terms, statuses)
        if form.flat or not form.mask_in_info:
            infos = {a: form.info(mask, terms, metrics, status) for a, mask, terms, status in rows}
        else:  # the usual case, and quick
            infos = {
                agent: {
                    "action_mask": mask,
                    "terms": terms.copy(),
                    "metrics": metrics.copy(),
                    "parse": status,
                }
                for agent, mask, terms, status in rows
            }
        if self._chat is not None and not self.format.flat:
            for i, found in enumerate(infos.values()):
                found["messages"] = self._begun().messages(i)
        return infos


def _keep(parts: tuple[dict[str, Any], ...], agents: list[str]) -> None:
    """Drop what concerns agents that had ended before."""
    for part in parts:
        for agent in set(part).difference(agents):
            del part[agent]


class Sequential(AECEnv):
    """The same game, one agent after the other. In each round every agent that is to move gives
    its action, in index order; then the step is played. A turn-taking game has one such agent.

    `game`, `current`, `view` and the infos are those of `Parallel`.
    """

    def __init__(self, parallel: Parallel):
        super().__init__()
        self.parallel = parallel
        self.game, self.metadata = parallel.game, parallel.metadata
        self.render_mode = parallel.render_mode
        self.possible_agents = parallel.possible_agents
        self.observation_spaces = parallel.observation_spaces
        self.action_spaces = parallel.action_spaces
        self.agents: list[str] = []
        self.agent_selection: str
        self._index = {agent: i for i, agent in enumerate(self.possible_agents)}
        self._rows = no_actions(self.game)

    @property
    def current(self) -> Any:
        return self.parallel.current

    @property
    def state_space(self) -> gymnasium.Space:
        return self.parallel.state_space

    def view(self, agent: str | int) -> View:
        return self.parallel.view(agent)

    def observation_space(self, agent: str) -> gymnasium.Space:
        return self.observation_spaces[self.game.agents[self.game.index(agent)]]

    def action_space(self, agent: str) -> gymnasium.Space:
        return self.action_spaces[self.game.agents[self.game.index(agent)]]

    def observe(self, agent: str) -> Any:
        return self.parallel.observation(agent)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self.agents:
            self.parallel.playing()  # says whether an episode is over, or none has begun
        return super().last(observe)

    def state(self) -> np.ndarray:
        return self.parallel.state()

    def render(self) -> Any:
        return self.parallel.render()

    def close(self) -> None:
        self.parallel.close()

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.infos = self.parallel.begin(seed, options)
        self.agents = list(self.parallel.agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._begin_round()

    def step(self, action: Action | str | None) -> None:
        parallel = self.parallel
        if not self.agents:
            parallel.playing()  # says whether an episode is over, or none has begun
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            if parallel.agents and self.agent_selection in parallel.agents:
                self.agent_selection = self._turns[0]
            return
        index = self._index[agent]
        self._rows[index], self._statuses[index] = parallel.read(index, action)
        self._cumulative_rewards[agent] = 0.0
        self._turns.pop(0)
        if self._turns and self._statuses[index]["status"] != "forfeit":
            self._clear_rewards()
            self.agent_selection = self._turns[0]
            return
        self.rewards, self.terminations, self.truncations, self.infos = parallel.advance(
            self._rows, self._statuses
        )
        self._accumulate_rewards()
        if parallel.agents:
            self._begin_round()
        if len(parallel.agents) < len(self.agents):
            self._deads_step_first()

    def _begin_round(self) -> None:
        self._rows[:] = self.game.noop
        self._statuses: list[dict[str, Any]] = [{"status": "none"} for _ in self.possible_agents]
        self._turns = self.parallel.movers
        self.agent_selection = self._turns[0]


class Words(gymnasium.spaces.Text):
    """A text space that contains every string up to a length. Samples are of printable ASCII;
    flattening counts characters beyond it as `?`."""

    def __init__(self, max_length: int = MAX_TEXT, seed: Any = None):
        letters = "\n" + "".join(chr(code) for code in range(32, 127))
        super().__init__(max_length, min_length=0, charset=letters, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def character_index(self, char: str) -> np.int32:
        return super().character_index(char if char in self.character_set else "?")

    def __repr__(self) -> str:
        return f"Words({self.max_length})"


class Window:
    """A window that shows a game while it is played; closing it does not stop the game."""

    def __init__(self, game: Env, fps: int, agent: int | None = None):
        import pygame  # loaded on first use: most programs open no window

        self.game, self.fps, self.agent = game, fps, agent
        self.clock = pygame.time.Clock()
        pygame.display.init()
        pygame.display.set_caption(f"Manyhands: {game.id}")
        self.canvas: Any = pygame.display.set_mode((640, 480), pygame.RESIZABLE)

    def show(self, state: Any) -> None:
        import pygame

        if self.canvas is None:
            return
        if pygame.event.get(pygame.QUIT):
            self.close()
            return
        pygame.event.pump()
        self.canvas = pygame.display.get_surface()
        self.game.draw(state, self.canvas, self.agent)
        pygame.display.flip()
        self.clock.tick(self.fps)

    def close(self) -> None:
        import pygame

        if self.canvas is not None:
            pygame.display.quit()
            self.canvas = None


def copy_space(space: gymnasium.Space) -> gymnasium.Space:
    """An equal space with random numbers of its own."""
    return copy.deepcopy(space)


def on_host(function: Any) -> Any:
    """`function`, compiled for the CPU, where single episodes are played."""
    cpu = jax.sharding.SingleDeviceSharding(jax.local_devices(backend="cpu")[0])
    compiled = jax.jit(function, in_shardings=cpu, out_shardings=cpu)

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        check_process()
        return compiled(*arguments)

    return call


@functools.lru_cache(maxsize=64)
def _summary(game: Env) -> Any:
    return on_host(game.summary)
