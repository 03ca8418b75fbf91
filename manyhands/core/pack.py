"""States as bytes: snapshots, fingerprints, and single stepping in one call.

Every input and output array of a compiled function costs time. `Stepper` therefore packs all inputs
of a step into one byte buffer, and all outputs into another, and returns NumPy views into the
buffer, with no copy and no further call.
"""

from __future__ import annotations

import functools
import hashlib
import json
import operator
import struct
import threading
import warnings
import zlib
from collections.abc import Sequence
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.core.env import (
    Action,
    Array,
    Env,
    SnapshotError,
    episode_key,
    own_key,
    shorten,
    wrap_key,
)
from manyhands.core.kept import kept
from manyhands.core.kernel import SmallCall
from manyhands.core.processes import check_process
from manyhands.core.talk import Message

# States may have a field of this name: what happened in the last step, from which nothing follows.
# It is no part of fingerprints, and snapshots made before there was one have zeros there.
RECENT = "recent"
MAGIC = b"MHSNAP\x00\x01"  # the last byte is the version of the format
_HEADER = struct.Struct("<8s16sQI")  # magic, digest of the environment, payload bytes, CRC-32
# Behind the state, if anything was said: what follows, its length, its CRC-32, and JSON.
_TALK, _TALK_MAGIC = struct.Struct("<4sII"), b"TALK"
_ALIGN = 8
_MEMORY, _TRIED = 2**15, 2**12  # frames that are remembered, and of a game that is not known yet
_MASKS = 2**10  # sets of masks that are remembered
_STATES = 2**9  # states whose texts are remembered
_SMALL = 64  # bytes of a state that may be one of few
BLOCK = 16  # resets that are drawn in one call


class Packing:
    """The layout of a pytree of arrays in one byte buffer: leaves grouped by dtype, each group
    aligned to 8 bytes."""

    def __init__(self, tree: Any):
        paths, self.treedef = jax.tree_util.tree_flatten_with_path(tree)
        leaves = [leaf for _, leaf in paths]
        # Whether a leaf is one of what happened in the last step, by leaf.
        self.recent = [RECENT in map(_name, path) for path, _ in paths]
        # What `body` joins: leaves, and between dtypes fillings, as (-1, bytes).
        self._pieces: list[tuple[int, bytes]] = []
        self.leaves = [(tuple(leaf.shape), np.dtype(leaf.dtype)) for leaf in leaves]
        self.counts = [int(np.prod(shape)) for shape, _ in self.leaves]
        self.groups: dict[np.dtype, list[int]] = {}
        for i, (_, dtype) in enumerate(self.leaves):
            self.groups.setdefault(dtype, []).append(i)
        self.offsets, self.size = [0] * len(leaves), 0
        for dtype, members in self.groups.items():
            for i in members:
                self.offsets[i] = self.size
                self.size += self.counts[i] * dtype.itemsize
                self._pieces.append((i, b""))
            self._pieces.append((-1, bytes(-self.size % _ALIGN)))
            self.size += -self.size % _ALIGN

    def pack(self, tree: Any) -> Array:
        """The tree as u8[size]; traceable."""
        leaves = jax.tree_util.tree_leaves(tree)
        parts = []
        for dtype, members in self.groups.items():
            group = jnp.concatenate([jnp.asarray(leaves[i], dtype).reshape(-1) for i in members])
            if dtype == np.bool_:
                raw = group.astype(jnp.uint8)
            else:
                raw = jax.lax.bitcast_convert_type(group, jnp.uint8).reshape(-1)
            parts += [raw, jnp.zeros(-raw.shape[0] % _ALIGN, jnp.uint8)]
        return jnp.concatenate(parts) if parts else jnp.zeros(0, jnp.uint8)

    def unpack(self, buffer: Array) -> Any:
        """The inverse of `pack`; traceable."""
        leaves: list[Array] = [None] * len(self.leaves)
        for dtype, members in self.groups.items():
            start = self.offsets[members[0]]
            count = sum(self.counts[i] for i in members)
            raw = buffer[start : start + count * dtype.itemsize]
            if dtype == np.bool_:
                group = raw != 0
            elif dtype.itemsize == 1:
                group = jax.lax.bitcast_convert_type(raw, dtype)
            else:
                group = jax.lax.bitcast_convert_type(raw.reshape(count, dtype.itemsize), dtype)
            for i in members:
                first = (self.offsets[i] - start) // dtype.itemsize
                leaves[i] = group[first : first + self.counts[i]].reshape(self.leaves[i][0])
        return jax.tree_util.tree_unflatten(self.treedef, leaves)

    def views(self, buffer: np.ndarray) -> Any:
        """The tree as NumPy views into a u8[size] buffer: no copy."""
        leaves = [
            np.ndarray(shape, dtype, buffer, offset)
            for (shape, dtype), offset in zip(self.leaves, self.offsets, strict=True)
        ]
        return jax.tree_util.tree_unflatten(self.treedef, leaves)

    def part(self, name: str, start: int) -> Any:
        """A function from a buffer, in which the tree (a dict) begins at byte `start`, to the views
        of its entry `name` alone."""
        indices = jax.tree_util.tree_unflatten(self.treedef, range(len(self.leaves)))[name]
        chosen, treedef = jax.tree_util.tree_flatten(indices)
        layout = [(*self.leaves[i], start + self.offsets[i]) for i in chosen]
        if not isinstance(indices, dict):
            ((shape, dtype, offset),) = layout
            return lambda buffer: np.ndarray(shape, dtype, buffer, offset)

        def views(buffer: np.ndarray) -> Any:
            leaves = [np.ndarray(shape, dtype, buffer, offset) for shape, dtype, offset in layout]
            return jax.tree_util.tree_unflatten(treedef, leaves)

        return views

    def check(self, tree: Any, env: Env) -> None:
        """Check that a tree is one state of `env`.

        Raises:
            SnapshotError: it is something else, or a batch of states.
        """
        leaves, treedef = jax.tree_util.tree_flatten(tree)
        if treedef != self.treedef:  # type: ignore[operator]
            raise SnapshotError(f"this is no state of {env!r}: {shorten(tree)}")
        for leaf, (shape, _) in zip(leaves, self.leaves, strict=True):
            if np.shape(leaf) != shape:
                raise SnapshotError(
                    f"one state of {env!r} was expected; an array in it is {list(shape)}, the one "
                    f"given {list(np.shape(leaf))}"
                )

    def body(self, tree: Any) -> bytes:
        """A tree of arrays, wherever they are, as bytes."""
        leaves = jax.tree_util.tree_leaves(tree)
        host = [
            np.asarray(leaf, dtype) for leaf, (_, dtype) in zip(leaves, self.leaves, strict=True)
        ]
        return b"".join([host[i].tobytes() if i >= 0 else gap for i, gap in self._pieces])

    def split(self, tree: Any, recent: bool) -> Any:
        """The leaves of a tree that tell of the last step, or the others, as a list."""
        leaves = jax.tree_util.tree_leaves(tree)
        return [leaf for leaf, own in zip(leaves, self.recent, strict=True) if own is recent]

    def join(self, lasting: Any, recent: Any) -> Any:
        """The tree of both parts (`split`)."""
        parts = iter(lasting), iter(recent)
        return jax.tree_util.tree_unflatten(self.treedef, [next(parts[own]) for own in self.recent])

    def fill(self, buffer: np.ndarray, tree: Any) -> None:
        """Write a tree of host arrays into the first `size` bytes of a u8 buffer."""
        leaves = jax.tree_util.tree_leaves(tree)
        for leaf, (shape, dtype), offset in zip(leaves, self.leaves, self.offsets, strict=True):
            np.ndarray(shape, dtype, buffer, offset)[...] = leaf


def _name(key: Any) -> str:
    """The name of one step of a path in a tree."""
    return str(getattr(key, "name", getattr(key, "key", "")))


class StatePacking:
    """The byte layout of an environment's states: first the fields that the future depends on,
    which fingerprints are of, then those named `RECENT`."""

    def __init__(self, example: Any):
        self.whole = Packing(example)
        self.lasting = Packing(self.whole.split(example, False))
        self.recent = Packing(self.whole.split(example, True))
        self.size = self.lasting.size + self.recent.size

    def body(self, state: Any) -> bytes:
        """The state as bytes."""
        if not self.recent.leaves:
            return self.whole.body(state)
        return self.lasting_body(state) + self.recent.body(self.whole.split(state, True))

    def lasting_body(self, state: Any) -> bytes:
        """What the future depends on, as bytes."""
        if not self.recent.leaves:
            return self.whole.body(state)
        return self.lasting.body(self.whole.split(state, False))

    def views(self, buffer: np.ndarray) -> Any:
        """The state as NumPy views into a u8 buffer: no copy."""
        if not self.recent.leaves:
            return self.whole.views(buffer)
        lasting = self.lasting.views(buffer[: self.lasting.size])
        return self.whole.join(lasting, self.recent.views(buffer[self.lasting.size :]))


def warn_of_x64() -> None:
    """Warn where JAX computes in 64 bits: states then have other bytes, so records, snapshots and
    fingerprints do not fit those of other processes."""
    if jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        warnings.warn(
            "jax_enable_x64 is set: states, snapshots, records and fingerprints differ from those "
            "made without it. Unset JAX_ENABLE_X64, or call "
            "jax.config.update('jax_enable_x64', False) before an environment is played; for your "
            "own computations in 64 bits use `with jax.enable_x64(True):`",
            stacklevel=3,
        )


@functools.lru_cache(maxsize=256)
def state_packing(env: Env) -> StatePacking:
    """The byte layout of an environment's states."""
    warn_of_x64()
    return StatePacking(jax.eval_shape(env.reset, episode_key(0)))


# ---- snapshots and fingerprints ------------------------------------------------------------------


@functools.lru_cache(maxsize=256)
def _digest(env: Env) -> bytes:
    return hashlib.blake2b(env.spec_json().encode(), digest_size=16).digest()


def snapshot(env: Env, state: Any, talk: Sequence[Message] = ()) -> bytes:
    """The exact state as bytes; `restore` is the inverse, here or in another process.

    Args:
        talk: what was said in the episode (`Game.talk`), which `restore_talk` reads.

    Raises:
        SnapshotError: `state` is no state of this environment, or a batch of them.
    """
    packing = state_packing(env)
    packing.whole.check(state, env)
    body = packing.body(state)
    data = _HEADER.pack(MAGIC, _digest(env), len(body), zlib.crc32(body)) + body
    if not talk:
        return data
    said = json.dumps([[m.step, m.sender, m.text, m.heard_by] for m in talk]).encode()
    return data + _TALK.pack(_TALK_MAGIC, len(said), zlib.crc32(said)) + said


def restore_talk(data: bytes) -> tuple[Message, ...]:
    """What was said before a snapshot was taken.

    Raises:
        SnapshotError: this part is damaged.
    """
    if len(data) < _HEADER.size:
        return ()
    end = _HEADER.size + _HEADER.unpack_from(data)[2]
    if len(data) <= end:
        return ()
    try:
        magic, size, checksum = _TALK.unpack_from(data, end)
        said = bytes(data[end + _TALK.size :])
        if (magic, size, checksum) != (_TALK_MAGIC, len(said), zlib.crc32(said)):
            raise ValueError("the checksum does not match")
        return tuple(
            Message(str(sender), str(text), int(step), tuple(map(str, heard_by)))
            for step, sender, text, heard_by in json.loads(said)
        )
    except (struct.error, ValueError, TypeError, RecursionError) as error:
        raise SnapshotError(f"the talk in the snapshot is damaged: {error}") from error


def restore(env: Env, data: bytes) -> Any:
    """The state that `snapshot` saved, as NumPy arrays that every function of `env` accepts.

    Raises:
        SnapshotError: `data` is cut off, damaged, no snapshot at all, or one of another environment
            or configuration.
    """
    if len(data) < _HEADER.size:
        raise SnapshotError(
            f"a snapshot has at least {_HEADER.size} bytes, given {len(data)}: cut off?"
        )
    magic, digest, size, checksum = _HEADER.unpack_from(data)
    if magic[:6] != MAGIC[:6]:
        raise SnapshotError("these bytes are no snapshot: they do not begin like one")
    if magic != MAGIC:
        raise SnapshotError(
            f"this snapshot has format version {magic[7]}; this Manyhands reads version {MAGIC[7]}"
        )
    if digest != _digest(env):
        raise SnapshotError(
            "this snapshot was taken in another environment or configuration; restore it with the "
            f"one it came from (given {env!r})"
        )
    restore_talk(data)  # raises if it is damaged
    body = bytes(data[_HEADER.size : _HEADER.size + size])
    packing = state_packing(env)
    if len(body) != size or size not in (packing.size, packing.lasting.size):
        raise SnapshotError(f"a snapshot of {packing.size} bytes was expected, {len(body)} given")
    if zlib.crc32(body) != checksum:
        raise SnapshotError("the snapshot is damaged: its checksum does not match its contents")
    body += bytes(packing.size - size)
    return packing.views(np.frombuffer(bytearray(body), np.uint8))


def fingerprint(env: Env, state: Any, agent: str | int | None = None) -> str:
    """A stable hash, 32 hexadecimal digits.

    Of the whole state, or, for one agent, of its whole observation: vector, legal actions and text.
    States that the agent cannot tell apart have the same fingerprint.
    """
    digest = hashlib.blake2b(digest_size=16)
    if agent is None:
        digest.update(_digest(env))
        digest.update(state_packing(env).lasting_body(state))
        return digest.hexdigest()
    index = env.index(agent)
    vector, legal, acting = jax.device_get(_observed(env)(state))
    for part in jax.tree_util.tree_leaves((vector, legal, acting)):
        digest.update(np.ascontiguousarray(part[index]).tobytes())
    digest.update(env.describe(state, index).encode())
    return digest.hexdigest()


@functools.lru_cache(maxsize=256)
def _observed(env: Env) -> Any:
    return jax.jit(lambda state: (env.observe(state), env.legal(state), env.acting(state)))


# ---- single stepping -----------------------------------------------------------------------------


class Frame:
    """The outputs of one reset or step: NumPy views into one buffer, made when first read.

    Frames are immutable: a frame and its state may be kept. Where steps are memoised
    (`Stepper.memoises`), equal frames are the same object in all episodes.

    Attributes:
        state: the state after the step.
        vector: [N, *observation_space.shape].
        perception: [N, ...], the input of scripted players; computed when first read.
        legal: bool[N, A].
        acting: bool[N].
        reward: f32[N]; zeros after a reset.
        terminated, truncated: bool[N].
        terms: name -> f32[N].
        metrics: name -> number, f32[].
        notes: cached values that depend only on this frame, by name.
    """

    def __init__(self, stepper: Stepper, buffer: np.ndarray):
        self._stepper, self.buffer = stepper, buffer
        self.notes: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        # Called once for each attribute: the view is kept.
        views = None if name.startswith("_") else self._stepper.fields.get(name)
        if views is None:
            raise AttributeError(f"a frame has no {name!r}")
        value = self.__dict__[name] = views(self.buffer)
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        return Frame, (self._stepper, self.buffer)

    @kept
    def report(self) -> Report:
        """The small parts as Python numbers."""
        return self._stepper.report(self)

    @property
    def over(self) -> bool:
        """Whether the episode has ended for every agent."""
        return bool((self.terminated | self.truncated).all())

    @property
    def env(self) -> Env:
        return self._stepper.env

    @kept
    def told(self) -> dict[Any, Any]:
        """Cached texts that depend only on the state, by name: shared by frames of equal states."""
        return self._stepper.told(self)

    def text(self, agent: int) -> str:
        """The text observation of an agent: `Env.describe`."""
        name = "text", agent, None
        found = self.told.get(name)
        if found is None:
            found = self.told[name] = self._stepper.env.describe(self.state, agent)
        return found

    def parse(self, text: str, agent: int) -> Action:
        """The action that an agent's answer names: `Env.parse`."""
        if not self._stepper.memoises or len(text) > 100:
            return self._stepper.env.parse(text, self.state, agent)
        answers = self.notes.setdefault(("answers", agent), {})
        action = answers.get(text)
        if action is None:
            action = self._stepper.env.parse(text, self.state, agent)
            if type(action) is int and len(answers) < 100:
                answers[text] = action
        return action


class Report:
    """The small parts of a frame as Python numbers; read-only.

    Attributes:
        acting, reward, terminated, truncated: by agent.
        ends: whether the episode ended for anybody.
        legal: by agent, bytes that are 1 where an action is legal, else 0; `masks` are the same as
            read-only arrays, i8[A].
        terms: by agent, the unweighted terms by name.
        metrics: by name.
    """

    __slots__ = (
        "acting", "ends", "legal", "masks", "metrics", "reward", "terminated", "terms", "truncated"
    )  # fmt: skip
    acting: tuple[bool, ...]
    ends: bool
    legal: list[bytes]
    masks: list[np.ndarray]
    metrics: dict[str, float]
    reward: tuple[float, ...]
    terminated: tuple[bool, ...]
    terms: list[dict[str, float]]
    truncated: tuple[bool, ...]


class _Reporter:
    """Reads a report directly from a frame's buffer: a tenth of the time of separate NumPy
    arrays."""

    def __init__(self, game: Env, frame: Frame):
        base = frame.buffer.__array_interface__["data"][0]
        self.names, self._agents = list(frame.metrics), game.num_agents
        self._masks: dict[bytes, tuple[list[bytes], list[np.ndarray]]] = {}
        parts = [frame.acting, frame.reward, frame.terminated, frame.truncated, frame.legal]
        parts += [frame.terms[name] for name in game.terms]
        parts += [frame.metrics[name] for name in self.names]
        starts = [part.__array_interface__["data"][0] - base for part in parts]
        order = sorted(range(len(parts)), key=starts.__getitem__)
        codes, end, count = ["="], starts[order[0]], 0
        where: list[list[int]] = [[]] * len(parts)
        for k in order:
            part = parts[k]
            if part is frame.legal:  # as bytes, to look its masks up
                codes.append(f"{starts[k] - end}x{part.size}s")
                where[k] = [count]
                end, count = starts[k] + part.nbytes, count + 1
                continue
            kind = {"l": "q", "L": "Q"}.get(part.dtype.char, part.dtype.char)  # as struct has them
            codes.append(f"{starts[k] - end}x{part.size}{kind}")
            where[k] = list(range(count, count + part.size))
            end, count = starts[k] + part.nbytes, count + part.size
        self._unpack, self._start = struct.Struct("".join(codes)).unpack_from, starts[order[0]]
        self._acting, self._reward, self._terminated, self._truncated = map(_picker, where[:4])
        (self._legal,) = where[4]
        terms = where[5 : 5 + len(game.terms)]
        self._terms = [_picker([column[i] for column in terms]) for i in range(game.num_agents)]
        self._term_names = game.terms
        self._metrics = _picker([k for part in where[5 + len(game.terms) :] for k in part])

    def report(self, frame: Frame) -> Report:
        values: tuple[Any, ...] = self._unpack(frame.buffer, self._start)  # type: ignore[arg-type]
        report = Report()
        report.acting, report.reward = self._acting(values), self._reward(values)
        report.terminated, report.truncated = self._terminated(values), self._truncated(values)
        report.ends = True in report.terminated or True in report.truncated
        raw = values[self._legal]
        # Masks come again and again: the same arrays are returned then.
        report.legal, report.masks = self._masks.get(raw) or self._split(raw)
        names = self._term_names
        report.terms = [dict(zip(names, pick(values))) for pick in self._terms]
        report.metrics = dict(zip(self.names, self._metrics(values)))
        return report

    def _split(self, raw: bytes) -> tuple[list[bytes], list[np.ndarray]]:
        """All masks as bytes -> `Report.legal` and `Report.masks`, remembered."""
        if len(self._masks) >= _MASKS:
            self._masks.clear()
        size = len(raw) // self._agents
        legal = [raw[size * i : size * (i + 1)] for i in range(self._agents)]
        found = self._masks[raw] = legal, [np.frombuffer(own, np.int8) for own in legal]
        return found


def _picker(indices: list[int]) -> Any:
    """A function from a tuple to the tuple of its items at `indices`."""
    first, count = (indices[0] if indices else 0), len(indices)
    if indices == list(range(first, first + count)):
        return operator.itemgetter(slice(first, first + count))
    return operator.itemgetter(*indices)


class Stepper:
    """Single stepping on the CPU: one compiled call a step, one buffer in, one buffer out.

    Obtain it with `stepper(env)`, which keeps one per environment, so that nothing compiles twice.

    Where states are small and steps do not use their keys, as in a hand of Kuhn poker, repeated
    steps are looked up: each frame stores the frames that its actions led to, computed by the
    environment's own `step` when first needed. Memoisation stops if a game has many states: too
    many, or so many that few steps lead to known ones.

    Attributes:
        memoises: whether steps are memoised.
        actions: how many actions there are, if they are whole numbers from 0; else 0.
        fields: name -> function from a frame's buffer to the view of that name.
    """

    def __init__(self, env: Env):
        check_process()
        warn_of_x64()
        self.env = env
        space = env.action_space
        plain = isinstance(space, gymnasium.spaces.Discrete) and space.start == 0
        self.actions = int(space.n) if plain else 0  # type: ignore[attr-defined]
        key_data = np.asarray(jax.random.key_data(episode_key(0)))
        # Inlined where they are called, and traced once for all the programs below.
        traced = functools.partial(jax.jit, inline=True)
        self._env_reset, self._env_step = traced(env.reset), traced(env.step)
        self._shown = traced(lambda s: (env.observe(s), env.legal(s), env.acting(s)))
        state = jax.eval_shape(self._env_reset, episode_key(0))
        self._state = Packing(state)
        self._order = Packing((key_data, np.int32(0), no_actions(env)))
        self._inputs = threading.local()
        # The states of all programs but the first come out of buffers.
        state = jax.eval_shape(self._state.unpack, np.zeros(self._state.size, np.uint8))
        self._outcome = jax.eval_shape(self._env_step, episode_key(0), state, no_actions(env))[1]
        shapes = jax.eval_shape(self._rest, state, None)
        self._result = Packing(shapes)
        self.memoises = self._state.size <= _SMALL and not draws_from_key(env, self._env_step)
        self._known: dict[bytes, Frame] = {}
        self._room, self._again = min(_TRIED, _MEMORY), 0  # of `_known`; steps that were looked up
        self._told: dict[bytes, dict[Any, Any]] = {}
        self._telling = threading.Lock()
        self._reporter: _Reporter | None = None  # made with the first frame that is read
        self.fields: dict[str, Any] = {"state": self._state.views}
        for name in shapes:
            self.fields[name] = self._result.part(name, self._state.size)
        self.fields["perception"] = self._perception
        self._reset = SmallCall(self._packed_reset, key_data.size, np.uint32)
        self._step = SmallCall(self._packed_step, self._state.size + self._order.size)

    def __reduce__(self) -> tuple[Any, ...]:
        return stepper, (self.env,)  # copies and other processes compile one or share it

    def report(self, frame: Frame) -> Report:
        """The report of a frame (`Frame.report`)."""
        if self._reporter is None:
            self._reporter = _Reporter(self.env, frame)
        return self._reporter.report(frame)

    def told(self, frame: Frame) -> dict[Any, Any]:
        """The texts of a frame's state that were made so far, to be added to. Frames of equal
        states share them, as many episodes begin alike."""
        contents = frame.buffer[: self._state.size].tobytes()
        with self._telling:
            texts = self._told.pop(contents, None)
            if texts is None:
                texts = {}
                if len(self._told) >= _STATES:
                    del self._told[next(iter(self._told))]  # the least recently used
            self._told[contents] = texts
        return texts

    def reset(self, key: Array) -> Frame:
        """First frame of the episode with this `key`: a typed key, or its data, u32[2]."""
        data = key if type(key) is np.ndarray else np.asarray(jax.random.key_data(own_key(key)))
        return self._frame(self._reset(data))

    def _frame(self, buffer: np.ndarray) -> Frame:
        if not self.memoises:
            return Frame(self, buffer)
        contents = buffer.tobytes()
        frame = self._known.get(contents)
        if frame is None:
            if len(self._known) >= self._room:
                if self._room < _MEMORY and 2 * self._again > self._room:
                    self._room, self._again = 2 * self._room, 0
                else:
                    self._known.clear()
                    self.memoises = False
            frame = self._known[contents] = Frame(self, np.frombuffer(contents, np.uint8))
        return frame

    def step(self, key_data: np.ndarray, time: int, before: Any, actions: Any) -> Frame:
        """One step.

        Args:
            key_data: u32[2], `np.asarray(jax.random.key_data(episode_key))`.
            time: the number of this step in its episode, from 0.
            before: the frame to step from, or any state (of a snapshot, of `env.reset`, …).
            actions: [N, *action_space.shape].
        """
        if not (self.memoises and type(before) is Frame):
            return self._frame(self._stepped(key_data, time, before, actions))
        led = before.notes.setdefault("steps", {})
        move = np.asarray(actions).tobytes()
        frame = led.get(move)
        if frame is None:
            frame = self._frame(self._stepped(key_data, time, before, actions))
            if len(led) < 1000:  # there are unboundedly many numbers that are not actions
                led[move] = frame
        else:
            self._again += 1
        return frame

    def resets(self, key_data: np.ndarray) -> list[Frame]:
        """First frames of the episodes of several keys, u32[BLOCK, 2], in one call."""
        return [self._frame(buffer) for buffer in self._resets(key_data.ravel())]

    @kept
    def _resets(self) -> SmallCall:
        def resets(data: Array) -> Array:
            return jax.vmap(self._packed_reset)(data.reshape(BLOCK, 2))

        return SmallCall(resets, 2 * BLOCK, np.uint32)

    def _stepped(self, key_data: np.ndarray, time: int, before: Any, actions: Any) -> np.ndarray:
        try:
            buffer, state, key, when, room = self._inputs.parts
        except AttributeError:
            buffer, state, key, when, room = self._inputs.parts = self._prepared()
        if type(before) is Frame:
            state[:] = before.buffer[: self._state.size]
        else:
            self._state.fill(buffer, before)
        key[:], when[0], room[...] = key_data, time, actions
        return self._step(buffer)

    def _prepared(self) -> tuple[np.ndarray, ...]:
        """A buffer for the inputs of steps, and its parts: the state as bytes, the key, the time
        as i32[1], and the actions. Each thread reuses one buffer: a step has ended when its outputs
        are read."""
        size = self._state.size
        buffer = np.zeros(size + self._order.size, np.uint8)
        key, time, actions = self._order.views(buffer[size:])
        return buffer, buffer[:size], key, time.reshape(1), actions

    def view(self, state: Any) -> Frame:
        """The frame of a restored state: its observations, with zero reward."""
        self._state.check(state, self.env)
        buffer = np.zeros(self._state.size, np.uint8)
        self._state.fill(buffer, jax.device_get(state))
        return self._frame(self._view(buffer))

    def forfeited(self, frame: Frame, agents: Sequence[int]) -> Frame:
        """The last frame of an episode that these agents end: the state as it was, nobody to move,
        and the price (`Env.forfeit_terms`) as the reward."""
        env = self.env
        last = Frame(self, np.array(self.view(frame.state).buffer))
        for name, values in env.forfeit_terms(frame.state, agents).items():
            last.terms[name][...] = np.asarray(values)
        last.reward[...] = sum(
            np.float32(env.reward_weights[name]) * last.terms[name] for name in env.terms
        )
        last.terminated[...], last.acting[...], last.legal[...] = True, False, False
        return last

    @kept
    def _view(self) -> SmallCall:
        def view(buffer: Array) -> Array:
            return self._pack(self._state.unpack(buffer), None)

        return SmallCall(view, self._state.size)

    @kept
    def _perceive(self) -> tuple[Packing, SmallCall]:
        traced = jax.jit(self.env.perceive, inline=True)
        state = jax.eval_shape(self._state.unpack, np.zeros(self._state.size, np.uint8))
        seen = Packing(jax.eval_shape(traced, state))
        return seen, SmallCall(
            lambda buffer: seen.pack(traced(self._state.unpack(buffer))), self._state.size
        )

    def _perception(self, buffer: np.ndarray) -> Any:
        seen, perceive = self._perceive
        return seen.views(perceive(buffer[: self._state.size]))

    def _packed_reset(self, key_data: Array) -> Array:
        return self._pack(self._env_reset(wrap_key(key_data)), None)

    def _packed_step(self, buffer: Array) -> Array:
        state = self._state.unpack(buffer[: self._state.size])
        key_data, time, actions = self._order.unpack(buffer[self._state.size :])
        key = jax.random.fold_in(wrap_key(key_data), time)
        return self._pack(*self._env_step(key, state, actions))

    def _pack(self, state: Any, outcome: Any) -> Array:
        rest = self._rest(state, outcome)
        return jnp.concatenate([self._state.pack(state), self._result.pack(rest)])

    def _rest(self, state: Any, outcome: Any) -> dict[str, Any]:
        if outcome is None:
            outcome = jax.tree_util.tree_map(lambda s: jnp.zeros(s.shape, s.dtype), self._outcome)
        vector, legal, acting = self._shown(state)
        return {
            "vector": vector,
            "legal": legal,
            "acting": acting,
            "reward": outcome.reward,
            "terminated": outcome.terminated,
            "truncated": outcome.truncated,
            "terms": outcome.terms,
            "metrics": outcome.metrics,
        }


@functools.lru_cache(maxsize=64)
def draws_from_key(env: Env, step: Any = None) -> bool:
    """Whether a step uses its key, according to its jaxpr. `step`: `env.step`, compiled."""
    state = jax.eval_shape(env.reset, episode_key(0))
    jaxpr = jax.make_jaxpr(step or env.step)(episode_key(0), state, no_actions(env)).jaxpr
    needed = set(map(id, jaxpr.outvars))
    for equation in reversed(jaxpr.eqns):
        if any(id(variable) in needed for variable in equation.outvars):
            needed.update(map(id, equation.invars))
    return id(jaxpr.invars[0]) in needed


@functools.lru_cache(maxsize=64)
def stepper(env: Env) -> Stepper:
    """The stepper of an environment; equal environments share one."""
    return Stepper(env)


def forget() -> None:
    """Let go of all compiled programs, which take up to 200 MB for an environment and its players;
    what is used again is compiled again."""
    stepper.cache_clear()
    jax.clear_caches()


def no_actions(env: Env) -> np.ndarray:
    """Zeros in the shape and dtype of all agents' actions, [N, *action_space.shape]."""
    dtype = jax.dtypes.canonicalize_dtype(env.action_space.dtype)
    return np.zeros((env.num_agents, *(env.action_space.shape or ())), dtype)


def full_actions(env: Env, actions: dict[int, Action]) -> np.ndarray:
    """Actions of all agents, `env.noop` where none is given."""
    rows = no_actions(env)
    for i in range(env.num_agents):
        rows[i] = actions.get(i, env.noop)
    return rows
