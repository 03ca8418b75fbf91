"""One seat of an environment as a Gymnasium environment, the other seats taken by partners.

`gym.make("manyhands/Kitchen-v0", partners="greedy")` seats partners of any kind, one episode at a
time; `gym.make_vec("manyhands/Kitchen-v0", num_envs=1024)` steps a batch on the device, with device
policies as partners inside the compiled call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from manyhands.core.batch import seats_of
from manyhands.core.config import check_reset_options, one_of, whole
from manyhands.core.env import (
    Action,
    ConfigError,
    Env,
    EpisodeOver,
    IllegalAction,
    SeatError,
    episode_key,
)
from manyhands.core.episode import Game, Turn
from manyhands.core.pack import snapshot
from manyhands.core.registry import configured
from manyhands.core.render import render
from manyhands.core.view import View
from manyhands.wrappers.partners import Partners, fill
from manyhands.wrappers.pettingzoo import (
    INFOS,
    OBSERVE,
    ON_ILLEGAL,
    RENDER_FPS,
    RENDER_MODES,
    Format,
    Window,
    copy_space,
    flat_info,
)
from manyhands.wrappers.vector import Vector, uncopied

_SKIPPED = 1000  # episodes without a move of the seat, after which `reset` gives up


class SeatEnv(gymnasium.Env):
    """One seat of an environment.

    Args:
        game: an id, built with `**config`, or an `Env`.
        seat: index or name of the agent that is played from outside.
        partners: who takes the other seats: a seat's name, a `Policy`, a `DevicePolicy`, a function
            of a `View`; one for all, or a list or mapping with one for each; by default the game's
            `default_policy`. Where a partner's answer is illegal, `on_illegal` applies as in
            `play`; with `"raise"` as with `"noop"`.
        observe: `"vector"`, `"text"` or `"both"`.
        infos, mask, empty_mask, dtype: the form of infos, masks and vectors; see `Format` in
            `wrappers/pettingzoo.py`.
        on_illegal: what an illegal action does: `"raise"` an `IllegalAction`, `"noop"`, or
            `"forfeit"`: the episode ends, terminated, the step is not played, and the reward is the
            price, `Env.forfeit_terms`.
        allow_illegal: how many illegal actions cost no more than a no-op, as in `play`.
        render_mode: None, `"rgb_array"`, `"human"` (a window) or `"ansi"`: what the seat sees.

    `step` takes a number of the action space, or words. Where agents take turns, it lasts until the
    seat is to move again, with rewards, terms and metrics summed. The info holds `"action_mask"`
    (int8[A]; not where actions are `Box`), `"terms"`, `"metrics"` and `"parse"`, as in
    `wrappers/pettingzoo.py`, unless `infos` and `mask` ask for another form.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}  # noqa: RUF012

    def __init__(
        self,
        game: str | Env,
        *,
        seat: int | str = 0,
        partners: Any = None,
        observe: str = "vector",
        infos: str = "nested",
        mask: str = "info",
        empty_mask: str = "none",
        dtype: str | None = None,
        on_illegal: str = "raise",
        allow_illegal: int | None = None,
        render_mode: str | None = None,
        **config: Any,
    ):
        one_of("on_illegal", on_illegal, ON_ILLEGAL)
        if allow_illegal is not None:
            allow_illegal = whole("allow_illegal", allow_illegal, 0)
        if render_mode is not None:
            one_of("render_mode", render_mode, RENDER_MODES)
        self.game = configured(game, config, SeatEnv)
        self.format = Format(self.game, observe, infos, mask, empty_mask, dtype)
        self.seat = self.game.index(seat)
        self.on_illegal, self.allow_illegal = on_illegal, allow_illegal
        self.render_mode = render_mode
        self.observation_space = self.format.space()
        self.action_space = copy_space(self.game.action_space)
        self._partners = Partners(self.game, fill(self.game, (self.seat,), partners))
        self._episode: Game | None = None
        self._over = True
        self._window: Window | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_window": None}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """As `Parallel.reset`; the options are `"member"` and `Env.reset_options`. Resets of one
        seed begin alike; in each member partners play differently, as in `play(group=)`."""
        given = check_reset_options(options, ("member", *self.game.reset_options))
        member = whole("member", given.get("member", 0), 0)
        wishes = {name: given[name] for name in self.game.reset_options if name in given}
        super().reset(seed=seed)
        for _ in range(_SKIPPED):
            number = int(self.np_random.integers(2**32)) if seed is None else seed
            fork = None
            if wishes:
                first = self.game.reset_to(episode_key(number), wishes)
                fork = snapshot(self.game, jax.device_get(first))
            episode = Game(
                self.game,
                number,
                member=member,
                fork=fork,
                on_illegal="noop" if self.on_illegal == "raise" else self.on_illegal,
                allow_illegal=self.allow_illegal,
            )
            seed = None
            self._partners.begin(episode)
            while not episode.done[self.seat] and self.seat not in episode.asked():
                episode.advance(self._partners.act(episode))
            if not episode.done[self.seat]:  # else it ended before the seat's first move
                break
        else:
            raise SeatError(
                f"{_SKIPPED} episodes in a row ended before {self.game.agents[self.seat]}'s first "
                f"move; the last one so: {episode.result(()).ended}"
            )
        self._episode, self._over = episode, False
        if self.render_mode == "human":
            self.render()
        frame = episode.frame
        terms = dict.fromkeys(self.game.terms, 0.0)
        return self._observation(), self._info(terms, dict.fromkeys(frame.metrics, 0.0), "none")

    def step(self, action: Action | str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        episode, seat = self._playing(), self.seat
        reward, terms = 0.0, dict.fromkeys(self.game.terms, 0.0)
        metrics = dict.fromkeys(episode.frame.metrics, 0.0)
        status, reason, refused = "ok", None, {}
        said = None
        if self.game.chat is not None and isinstance(action, str):
            said = self.game.chat.speech(action)
        try:
            action = episode.read(seat, action, None)
        except IllegalAction as error:
            if self.on_illegal == "raise":
                masks = 'given by action_masks() and info["action_mask"]'
                raise self.format.refusal(error.reason, masks) from error
            status, reason = "illegal", error.reason
            action, refused = self.game.noop, {seat: error.reason}
        if refused and episode.forfeits_by(seat):
            status = "forfeit"
            turn = Turn({seat: action}, illegal=refused, forfeits=(seat,))
        else:
            turn = self._partners.act(episode)
            turn.actions[seat] = action
            turn.illegal |= refused
            if said is not None:
                turn.said[seat] = said
        while True:
            episode.advance(turn)
            report = episode.frame.report
            reward += report.reward[seat]
            for name, value in report.terms[seat].items():
                terms[name] += value
            for name, value in report.metrics.items():
                metrics[name] += value
            self._over = episode.done[seat]
            if self._over or seat in episode.asked():
                break
            turn = self._partners.act(episode)
        if self.render_mode == "human":
            self.render()
        flags = report.terminated[seat], report.truncated[seat]
        return self._observation(), reward, *flags, self._info(terms, metrics, status, reason)

    def render(self) -> Any:
        if self._episode is None:
            raise EpisodeOver("no episode has begun; call reset() first")
        state = self._episode.frame.state
        if self.render_mode == "ansi":
            return self.game.describe(state, self.seat)
        if self.render_mode == "rgb_array":
            return render(self.game, state, self.seat)
        if self.render_mode is None:
            gymnasium.logger.warn("nothing is rendered: make the environment with a render_mode")
            return None
        if self._window is None:
            self._window = Window(self.game, RENDER_FPS, self.seat)
        self._window.show(state)
        return None

    def close(self) -> None:
        self._partners.close()
        if self._window is not None:
            self._window.close()
            self._window = None

    @property
    def current(self) -> Any:
        """The true state."""
        if self._episode is None:
            raise EpisodeOver("no episode has begun; call reset() first")
        return self._episode.frame.state

    def view(self) -> View:
        """All that the seat may know now: vector, legal actions, text, choices, rules, image."""
        return self._playing().views[self.seat]

    def action_masks(self) -> np.ndarray:
        """bool[A]: the actions that are legal now, as sb3-contrib's MaskablePPO asks for them; the
        masks of the components of a `MultiDiscrete` action are one after the other."""
        if self._episode is None:
            raise EpisodeOver("no episode has begun; call reset() first")
        if not self.format.has_masks:
            raise ConfigError(f"actions of {self.action_space} cannot be masked")
        return self.format.masks(self._episode.frame.report)[self.seat].astype(bool)

    def _playing(self) -> Game:
        if self._episode is None:
            raise EpisodeOver("no episode has begun; call reset() first")
        if self._over:
            raise EpisodeOver("this episode is over; call reset() to begin another")
        return self._episode

    def _observation(self) -> Any:
        assert self._episode is not None
        return self.format.observation(self._episode, self.seat)

    def _info(
        self, terms: dict[str, float], metrics: dict[str, float], status: str, reason: Any = None
    ) -> dict[str, Any]:
        assert self._episode is not None
        parse = {"status": status} if reason is None else {"status": status, "reason": reason}
        mask = self.format.masks(self._episode.frame.report)[self.seat].copy()
        return self.format.info(mask, terms, metrics, parse)


class SeatVectorEnv(VectorEnv):
    """One seat of many environments at once, on the device, partners included.

    The arguments are those of `SeatEnv`, but partners are device policies, and observations are
    vectors. Seeds, automatic resets and turns are as in `wrappers/vector.py`: environment `i` of
    `reset(seed=s)` first plays the episode of the seed `s + i`.

    With NumPy arrays the infos are those of Gymnasium's own vector environments: `info["_x"]` says
    for which environments `info["x"]` holds, and in a step that ends episodes there are
    `"final_obs"` (an object array) and `"final_info"`. With `arrays="jax"` nothing waits for the
    device: `"final_obs"` (one dense array) and `"final_info"` are always there, for the
    environments that `"_final_obs"` marks.

    Args:
        infos: `"nested"`, or `"flat"`: "terms/<name>" and "metrics/<name>" in place of dicts.
        autoreset_mode: `"SameStep"`, `"NextStep"` or `"Disabled"`, or Gymnasium's constants.
        arrays: `"numpy"`, or `"jax"`: arrays stay on the device.
    """

    def __init__(
        self,
        game: str | Env,
        num_envs: int = 1,
        *,
        seat: int | str = 0,
        partners: Any = None,
        observe: str = "vector",
        infos: str = "nested",
        arrays: str = "numpy",
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
        **config: Any,
    ):
        one_of("arrays", arrays, ("numpy", "jax"))
        one_of("observe", observe, OBSERVE)
        one_of("infos", infos, INFOS)
        single = {"mask", "empty_mask", "dtype", "on_illegal", "allow_illegal"}.intersection(config)
        if single:
            raise ConfigError(
                f"{', '.join(sorted(single))} is for single environments; "
                'pass vectorization_mode="sync", or leave it out'
            )
        if observe != "vector":
            raise ConfigError(
                f"observe={observe!r} cannot be batched on the device; "
                'pass vectorization_mode="sync", or observe="vector"'
            )
        if render_mode is not None:
            one_of("render_mode", render_mode, ("rgb_array",))
        self.game = configured(game, config, SeatVectorEnv)
        self.seat = self.game.index(seat)
        players = seats_of(self.game, fill(self.game, (self.seat,), partners))
        self._vector = Vector(
            self.game,
            num_envs,
            arrays=arrays,
            autoreset_mode=autoreset_mode,
            seat=self.seat,
            partners=players if self.game.num_agents > 1 else None,
        )
        self.num_envs, self.arrays, self.render_mode = num_envs, arrays, render_mode
        self._flat = infos == "flat"
        self.autoreset_mode = self._vector.autoreset_mode
        self.metadata = {
            "render_modes": ["rgb_array"],
            "render_fps": RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space = self._vector.single_observation_space
        self.single_action_space = self._vector.single_action_space
        self.observation_space = self._vector.observation_space
        self.action_space = self._vector.action_space
        self._all: Any = jnp.ones(num_envs, bool) if arrays == "jax" else None

    def __reduce__(self) -> Any:
        raise TypeError(uncopied(self))

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        if isinstance(seed, int):
            super().reset(seed=seed)
        observation, info = self._vector.reset(seed, options)
        mask = (options or {}).get("reset_mask")
        return observation, self._masked(info, mask)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        observation, reward, terminated, truncated, found = self._vector.step(actions)
        final = {name: found.pop(name, None) for name in ("final_obs", "_final_obs", "final_info")}
        info = self._masked(found)
        over, last = final["_final_obs"], final["final_obs"]
        if over is not None:
            if self.arrays == "numpy":
                last = np.full(self.num_envs, None, object)
                for i in np.flatnonzero(over):
                    last[i] = final["final_obs"][i].copy()
            info |= {"final_obs": last, "_final_obs": over}
            info |= {"final_info": self._masked(final["final_info"], over), "_final_info": over}
        return observation, reward, terminated, truncated, info

    def render(self) -> tuple[np.ndarray, ...]:
        """A picture of each environment, as the seat sees it."""
        if self.render_mode is None:
            raise ConfigError('nothing to render: pass render_mode="rgb_array"')
        states = jax.device_get(self._vector.states)
        leaves, tree = jax.tree_util.tree_flatten(states)
        each = [
            jax.tree_util.tree_unflatten(tree, [leaf[..., i] for leaf in leaves])
            for i in range(self.num_envs)
        ]
        return tuple(render(self.game, state, self.seat) for state in each)

    def _masked(self, info: dict[str, Any], mask: Any = None) -> dict[str, Any]:
        """Gymnasium's form: beside each entry, for which environments it is there."""
        result: dict[str, Any] = {}
        for name, value in (flat_info(info) if self._flat else info).items():
            if isinstance(value, dict):
                value = self._masked(value, mask)
            if mask is not None:
                there = mask
            else:
                there = np.ones(self.num_envs, bool) if self._all is None else self._all
            result[name], result[f"_{name}"] = value, there
        return result
