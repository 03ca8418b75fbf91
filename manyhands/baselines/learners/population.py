"""PPO with partners: past selves, a population, or a fixed policy.

`Partnered` turns an environment into one of the learner's own agents: in every environment of a
batch the learner has a seat, or all seats of a side, and one partner of a pool has all others. Each
partner has a block of neighbours in the batch for each seat of the learner, so that networks are
evaluated for all environments in one batched matrix product (`evaluation.matches.Lineup`). Seats
and partners are stratified, not drawn. An environment keeps its partner, whose parameters may
change.

- `BestResponse`: the partner is any device policy, `"greedy"` for example.
- `SelfPlayPool`: some partners are the learner itself, the others past selves, sampled uniformly
  from all of its past (reservoir sampling, Vitter 1985). With `lapses` some of them act at random
  for a part of the time, as in E3T (Yan et al., "An Efficient End-to-End Training Approach for
  Zero-Shot Human-AI Coordination", NeurIPS 2023), where the partner is a mixture of the learner
  itself and of a random policy.
- `FCP`, fictitious co-play (Strouse et al., "Collaborating with Humans without Human Data", NeurIPS
  2021): first several agents learn in self-play; then the learner is trained with three frozen
  checkpoints of each: its first, its last, and one with about half of the last one's return.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from manyhands.baselines.evaluation.matches import NOBODY, Lineup, Program
from manyhands.baselines.learners.ppo import PPO, PPOConfig, Progress
from manyhands.baselines.players.network import NetworkPolicy
from manyhands.core.batch import view_of
from manyhands.core.env import (
    Array,
    ConfigError,
    Env,
    Outcome,
    SeatError,
    is_device_policy,
    state_dataclass,
)
from manyhands.core.registry import seat

SPELLS = 1_000_001  # folded into a step's key: beyond all agents' numbers
# Kinds of spells: the first step, what it likes, any action, one action again and again.
FIRST, ITSELF, WILD, STUCK = range(4)


@state_dataclass
class Spells:
    """kind: i32[N], of each agent's spell. stuck: i32[N], the actions that would be repeated."""

    kind: Array
    stuck: Array


@dataclasses.dataclass(frozen=True)
class Lapses:
    """Agents that at times forget what they do. Every agent goes through spells of random length,
    and in each it either acts as it likes, or takes any action at each step, or repeats one action,
    drawn at its start. The first step of an episode is a spell of its own, without a lapse.

    Attributes:
        shares: [blocks][agents], the chance that a spell is a lapse, of either kind equally often.
        steps: mean length of a spell, geometrically distributed.
    """

    shares: tuple[tuple[float, ...], ...]
    steps: int

    def act(self, key: Array, count: int, spells: Spells, actions: Array) -> tuple[Array, Spells]:
        """(what the agents do, i32[N, B]; their spells in the next step).

        Args:
            key: of this step. count: of different actions, from 0.
            spells: in this step.
            actions: i32[N, B], what the agents would do.
        """
        ends, chance, which = jax.random.uniform(key, (3, *actions.shape))
        drawn = (which * count).astype(jnp.int32)
        odd = jnp.where(spells.kind == WILD, drawn, spells.stuck)
        done = jnp.where(spells.kind <= ITSELF, actions, odd)
        share = np.repeat(
            np.array(self.shares, np.float32).T, actions.shape[1] // len(self.shares), axis=1
        )
        next_kind = jnp.where(chance < share / 2, WILD, jnp.where(chance < share, STUCK, ITSELF))
        begins = (spells.kind == FIRST) | (ends < 1 / self.steps)
        kind = jnp.where(begins, next_kind, spells.kind)
        return done, Spells(kind, jnp.where(begins, drawn, spells.stuck))


def lapses_of(env: Env, partners: Sequence[float], own: float, steps: int) -> Lapses | None:
    """The lapses of partners with these shares, and of the learner, in the blocks of `pairing`;
    None if nobody has any.

    Raises:
        ConfigError: a share or a length makes no sense, or actions are not `Discrete`.
    """
    if steps < 1 or not all(0 <= share <= 1 for share in (*partners, own)):
        raise ConfigError(
            "lapses and own_lapses are shares from 0 to 1, lapse_steps from 1; given "
            f"{max(partners)}, {own} and {steps}"
        )
    if not any((*partners, own)):
        return None
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        raise ConfigError(f"lapses need Discrete actions, not {env.action_space}")
    n = env.num_agents
    rows = [tuple(own if a == seat else p for a in range(n)) for seat in range(n) for p in partners]
    return Lapses(tuple(rows), steps)


def spread(most: float, count: int) -> list[float]:
    """`count` shares at even distances from 0 to `most`; of a single one, `most`."""
    return [most * (k + 1 if count == 1 else k) / max(count - 1, 1) for k in range(count)]


@state_dataclass
class PartneredState:
    """state: of the environment inside. memory: of the partners, by agent and program. spells: of
    `Lapses`, or None."""

    state: Any
    memory: Any
    spells: Spells | None = None


class Partnered(Env[PartneredState]):
    """The environment of the learner alone; its functions take batches, of `num_envs` only.

    Args:
        env: the environment, of two agents or more.
        lineup, stacked: the partners (see `evaluation.Lineup`); in each block one agent, or as many
            as in every other block, is played by `NOBODY`: the learner.
        lapses: of the partners and of the learner, if there are any. In its own ones the learner is
            not `acting`: what it does then is nothing to learn from, but what comes of it is.
        team_terms: the learner is told the sums of the reward terms over all agents, not its own.
    """

    id = "partnered"
    batched = True

    def __init__(
        self,
        env: Env,
        lineup: Lineup,
        stacked: Any,
        lapses: Lapses | None = None,
        team_terms: bool = False,
    ):
        self.env, self._lineup, self._lapses, self._team_terms = env, lineup, lapses, team_terms
        self._arranged = lineup.arrange(stacked)
        self._seats = np.array(
            [[a for a, player in enumerate(row) if player == NOBODY] for row in lineup.players]
        )
        team = self._seats.shape[1]
        self.agents = tuple(f"learner_{k}" for k in range(team)) if team > 1 else ("learner",)
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.terms, self.reward_weights = env.terms, env.reward_weights
        self.max_steps, self.noop = env.max_steps, env.noop
        self.deterministic_reset, self.reset_pool = env.deterministic_reset, env.reset_pool

    def config(self) -> dict[str, Any]:
        return {"env": self.env.spec(), "players": self._lineup.players}

    def reset(self, key: Array) -> PartneredState:
        memory = [
            [
                jax.tree_util.tree_map(
                    jnp.asarray,
                    self._lineup.programs[number]
                    .policy([leaf[0] for leaf in arrays])
                    .init(self.env, a),
                )
                for (number, _, _), arrays in zip(self._lineup.blocks(a), by_program, strict=True)
            ]
            for a, by_program in enumerate(self._arranged)
        ]
        if self._lapses is None:
            return PartneredState(self.env.reset(key), memory)
        none = jnp.zeros(self.env.num_agents, jnp.int32)
        return PartneredState(self.env.reset(key), memory, Spells(none + FIRST, none))

    def step(
        self, key: Array, state: PartneredState, actions: Array
    ) -> tuple[PartneredState, Outcome]:
        env, inner = self.env, state.state
        memory = self._each_memory(self._gather, state.memory)
        played, memory = self._lineup.apply(env, self._arranged, memory, key, view_of(env, inner))
        agents = np.arange(env.num_agents).reshape(-1, *[1] * (played.ndim - 1))
        for own, action in zip(self._seat(key.shape[0]), actions, strict=True):
            played = jnp.where(own == agents, action, played)
        spells = state.spells
        if self._lapses is not None and spells is not None:
            first, count = int(env.action_space.start), int(env.action_space.n)  # type: ignore[attr-defined]
            spell_key = jax.random.fold_in(key[0], SPELLS)
            played, spells = self._lapses.act(spell_key, count, spells, played - first)
            played = played + first
        inner, outcome = env.batch_step(key, inner, played)
        outcome = Outcome(
            self._own(outcome.reward),
            self._own(outcome.terminated),
            self._own(outcome.truncated),
            {name: self._term(values) for name, values in outcome.terms.items()},
            outcome.metrics,
        )
        memory = self._each_memory(self._scatter, memory)
        return PartneredState(inner, memory, spells), outcome

    def observe(self, state: PartneredState) -> Array:
        return self._own(self.env.batch_observe(state.state))

    def perceive(self, state: PartneredState) -> Array:
        return self._own(self.env.batch_perceive(state.state))

    def network_input(self, row: Array) -> Array:
        return self.env.network_input(row)

    def legal(self, state: PartneredState) -> Array:
        return self._own(self.env.batch_legal(state.state))

    def acting(self, state: PartneredState) -> Array:
        acting = self.env.batch_acting(state.state)
        if state.spells is not None:
            acting = acting & (state.spells.kind <= ITSELF)
        return self._own(acting)

    def summary(self, state: PartneredState) -> Array:
        return self.env.batch_summary(state.state)

    def _seat(self, count: int) -> np.ndarray:
        """The learner's seats in each of `count` environments, [seats, count]."""
        return np.repeat(self._seats, count // len(self._seats), axis=0).T

    def _own(self, rows: Array) -> Array:
        """The learner's rows of [N, ..., B]: [seats, ..., B]."""
        own = []
        for seats in self._seat(rows.shape[-1]):
            row = rows[0]
            for a in range(1, self.env.num_agents):
                row = jnp.where(seats == a, rows[a], row)
            own.append(row)
        return jnp.stack(own)

    def _term(self, values: Array) -> Array:
        """What the learner is told of a reward term, [N, B]."""
        if self._team_terms:
            values = jnp.broadcast_to(jnp.sum(values, axis=0, keepdims=True), values.shape)
        return self._own(values)

    def _each_memory(self, change: Any, memory: Any) -> Any:
        """`change(blocks, leaf)` of every leaf."""
        return [
            [
                jax.tree_util.tree_map(functools.partial(change, blocks), tree)
                for (_, blocks, _), tree in zip(self._lineup.blocks(a), trees, strict=True)
            ]
            for a, trees in enumerate(memory)
        ]

    def _gather(self, blocks: np.ndarray, leaf: Array) -> Array:
        """[..., B] -> [..., some blocks, environments]."""
        *shape, size = leaf.shape
        count = len(self._seats)
        return leaf.reshape(*shape, count, size // count)[..., blocks, :]

    def _scatter(self, blocks: np.ndarray, leaf: Array) -> Array:
        """The inverse; what belongs to no block is nobody's, and 0."""
        *shape, _, size = leaf.shape
        count = len(self._seats)
        wide = jnp.zeros((*shape, count, size), leaf.dtype).at[..., blocks, :].set(leaf)
        return wide.reshape(*shape, count * size)


def pairing(env: Env, num_envs: int, partners: int) -> tuple[tuple[int, ...], ...]:
    """`Lineup.players`: the learner in each seat with each partner."""
    blocks = env.num_agents * partners
    if env.num_agents < 2:
        raise ConfigError(f"{env!r} has one agent, and no seat for a partner")
    if num_envs % blocks:
        raise ConfigError(
            f"num_envs={num_envs} cannot be divided among {partners} partners and "
            f"{env.num_agents} seats; choose a multiple of {blocks}"
        )
    return tuple(
        tuple(NOBODY if a == own else partner for a in range(env.num_agents))
        for own in range(env.num_agents)
        for partner in range(partners)
    )


def with_networks(
    env: Env,
    num_envs: int,
    pool: NetworkPolicy,
    lapses: Lapses | None = None,
    team_terms: bool = False,
    others: Sequence[Any] = (),
) -> Partnered:
    """The learner with networks of one shape, and with other device policies behind them; the
    arrays of `pool` are [partners, ...]."""
    leaves, treedef = jax.tree_util.tree_flatten(pool)
    shapes = tuple((leaf.shape[1:], leaf.dtype.name) for leaf in leaves)
    program = Program(treedef, (None,) * len(leaves), shapes)
    partners = len(leaves[0])
    behind, stacked = Lineup.of(others, ())
    kinds = tuple((0, row) for row in range(partners))
    kinds += tuple((1 + number, row) for number, row in behind.kinds)
    players = pairing(env, num_envs, partners + len(others))
    lineup = Lineup((program, *behind.programs), kinds, players)
    return Partnered(env, lineup, (tuple(leaves), *stacked), lapses, team_terms)


def beside_settings(config: PPOConfig) -> PPOConfig:
    """The settings of a learner with partners: they show it the game from its first steps on, so
    that it needs no episodes of others to start in; and `Partnered` sums up the team's terms."""
    return dataclasses.replace(config, start_player="", team_shaping=False)


def _partner(name: str, env: Env) -> Any:
    """A seat that plays inside of a compiled loop."""
    partner = seat(name, env)
    if not is_device_policy(partner):
        raise SeatError(
            f"the seat {name!r} cannot play inside a compiled loop; a partner to learn with is a "
            "network or a scripted player in JAX"
        )
    return partner


def empty_pool(solo: PPO, partners: int) -> NetworkPolicy:
    """A pool of zeros, for its shapes alone."""
    shape = jax.eval_shape(lambda: solo.player(solo.init(jax.random.key(0))))
    return jax.tree_util.tree_map(lambda leaf: jnp.zeros((partners, *leaf.shape)), shape)


def labelled(policy: NetworkPolicy, env: Env, name: str) -> NetworkPolicy:
    """A policy as that of `env`, trained by `name`, on the host."""
    policy = dataclasses.replace(jax.device_get(policy), spec=env.spec(), algorithm=name)
    return policy


# ---- best response -------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class BestResponseConfig(PPOConfig):
    """Beyond `PPOConfig`:

    Attributes:
        partner: who plays all other seats and does not learn: any device policy by name, such as
            "greedy:noise=0.2" or "policy:file=PATH.safetensors".
    """

    partner: str = "greedy"


@dataclasses.dataclass(frozen=True)
class BestResponse:
    """A learner with one fixed partner."""

    env: Env
    config: BestResponseConfig

    def __post_init__(self) -> None:
        self._ppo  # noqa: B018 - raises if this cannot be learned

    @property
    def name(self) -> str:
        return "best_response"

    @functools.cached_property
    def _ppo(self) -> PPO:
        partner = _partner(self.config.partner, self.env)
        players = pairing(self.env, self.config.num_envs, 1)
        lineup, stacked = Lineup.of([partner], players)
        beside = Partnered(self.env, lineup, stacked, team_terms=self.config.team_shaping)
        return PPO(beside, beside_settings(self.config))

    @property
    def steps_per_update(self) -> int:
        return self._ppo.steps_per_update

    @property
    def num_updates(self) -> int:
        return self._ppo.num_updates

    def init(self, key: Array) -> Progress:
        return self._ppo.init(key)

    def update(self, progress: Progress) -> tuple[Progress, dict[str, Array]]:
        return self._ppo.update(progress)

    def policy(self, progress: Progress) -> NetworkPolicy:
        return labelled(self._ppo.player(progress), self.env, self.name)


# ---- self-play with a pool of past selves --------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class SelfPlayPoolConfig(PPOConfig):
    """Beyond `PPOConfig`:

    Attributes:
        partners: partners at once, each in an equal share of the environments.
        latest: how many of them are the learner as it is now; the others are past selves.
        snapshots: how many past selves are put forward for the pool over the whole run.
        lapses: for what share of the time the partners act at random (see `Lapses`): from 0 for the
            first to this for the last, of those that are the present self and of the others.
        own_lapses: for what share of the time the learner does, to see more of the game.
        lapse_steps: mean length of the spells in which they do.
        others: further partners, which neither learn nor lapse: device seats with blanks between
            them, each in as many environments as a self; "random_skills greedy", for example.
    """

    partners: int = 8
    latest: int = 4
    snapshots: int = 50
    lapses: float = 0.0
    own_lapses: float = 0.0
    lapse_steps: int = 20
    others: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.latest < self.partners or self.snapshots < 1:
            raise ConfigError(
                "latest is from 0 and below partners, snapshots from 1; given "
                f"latest={self.latest}, partners={self.partners}, snapshots={self.snapshots}"
            )


@state_dataclass
class SelfPlayPoolProgress:
    """All that changes: the learner, and the past selves, whose arrays are [pool, ...]."""

    learner: Progress
    past: NetworkPolicy

    @property
    def params(self) -> Any:
        return self.learner.params


@dataclasses.dataclass(frozen=True)
class SelfPlayPool:
    """A learner with itself and its past selves as partners."""

    env: Env
    config: SelfPlayPoolConfig

    def __post_init__(self) -> None:
        pairing(self.env, self.config.num_envs, self.config.partners + len(self._others))
        self._lapses  # noqa: B018 - raises if it makes no sense
        self._solo  # noqa: B018 - raises if this cannot be learned

    @property
    def name(self) -> str:
        return "self_play_pool"

    @functools.cached_property
    def _solo(self) -> PPO:
        return PPO(self.env, self.config)

    @property
    def steps_per_update(self) -> int:
        return self._solo.steps_per_update

    @property
    def num_updates(self) -> int:
        return self._solo.num_updates

    @functools.cached_property
    def _others(self) -> list[Any]:
        return [_partner(name, self.env) for name in self.config.others.split()]

    @property
    def _lapses(self) -> Lapses | None:
        c = self.config
        shares = spread(c.lapses, c.latest) + spread(c.lapses, c.partners - c.latest)
        shares += [0.0] * len(self._others)
        return lapses_of(self.env, shares, c.own_lapses, c.lapse_steps)

    def _with_partners(self, pool: NetworkPolicy) -> PPO:
        c = self.config
        beside = with_networks(
            self.env, c.num_envs, pool, self._lapses, c.team_shaping, self._others
        )
        return PPO(beside, beside_settings(c))

    def init(self, key: Array) -> SelfPlayPoolProgress:
        c = self.config
        learner = self._with_partners(empty_pool(self._solo, c.partners)).init(key)
        past = jax.tree_util.tree_map(
            lambda leaf: jnp.broadcast_to(leaf, (c.partners - c.latest, *leaf.shape)),
            self._solo.player(learner),
        )
        return SelfPlayPoolProgress(learner, past)

    def update(
        self, progress: SelfPlayPoolProgress
    ) -> tuple[SelfPlayPoolProgress, dict[str, Array]]:
        c, past = self.config, progress.past
        now = self._solo.player(progress.learner)
        past = self._remember(progress.learner, now, past)
        pool = jax.tree_util.tree_map(
            lambda new, old: jnp.concatenate([jnp.broadcast_to(new, (c.latest, *new.shape)), old]),
            now,
            past,
        )
        learner, metrics = self._with_partners(pool).update(progress.learner)
        return SelfPlayPoolProgress(learner, past), metrics

    def _remember(self, learner: Progress, now: NetworkPolicy, past: NetworkPolicy) -> Any:
        """The pool with the present self put forward, where it is time: each that ever was has the
        same chance of being in it."""
        room = self.config.partners - self.config.latest
        every = max(1, self.num_updates // self.config.snapshots)
        number = learner.update // every  # of this self, from 1
        key = jax.random.fold_in(jax.random.fold_in(learner.key, 1_000_000), number)
        drawn = jax.random.randint(key, (), 0, jnp.maximum(number, 1))
        place = jnp.where(number <= room, number - 1, drawn)
        enters = (learner.update % every == 0) & (number > 0) & (place < room)
        chosen = enters & (jnp.arange(room) == place)

        def put(new: Array, old: Array) -> Array:
            return jnp.where(chosen.reshape(-1, *[1] * new.ndim), new, old)

        return jax.tree_util.tree_map(put, now, past)

    def policy(self, progress: SelfPlayPoolProgress) -> NetworkPolicy:
        return labelled(self._solo.player(progress.learner), self.env, self.name)


# ---- fictitious co-play --------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class FCPConfig(PPOConfig):
    """Beyond `PPOConfig`, whose `total_steps` are those of the learner:

    Attributes:
        members: agents that first learn in self-play, to be partners.
        member_steps: environment steps of each of them.
        snapshots: checkpoints kept of each, at even distances, from which the middle one is chosen.
        lapses: for what share of the time these partners act at random (see `Lapses`): from 0 for
            those of the first member to this for the last one's.
        own_lapses: for what share of the time the learner does, to see more of the game.
        lapse_steps: mean length of the spells in which they do.
    """

    num_envs: int = 384
    members: int = 8
    member_steps: int = 5_000_000
    snapshots: int = 10
    lapses: float = 0.0
    own_lapses: float = 0.0
    lapse_steps: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.members < 1 or self.snapshots < 2:
            raise ConfigError(
                f"members is from 1 and snapshots from 2, given {self.members}, {self.snapshots}"
            )
        update = self.num_envs * self.num_steps
        for name, steps in (
            ("member_steps", update * self.snapshots),
            ("total_steps", update * self.members),
        ):
            if getattr(self, name) < steps:
                raise ConfigError(
                    f"{name}={getattr(self, name)} is too little: {steps} at least, with "
                    f"num_envs x num_steps = {update}, {self.members} members and "
                    f"{self.snapshots} snapshots"
                )


@state_dataclass
class FCPProgress:
    """All that changes.

    Attributes:
        members: `ppo.Progress` of each, [members, ...].
        snapshots: their policies, [1 + snapshots, members, ...], the untrained ones first.
        scores: f32[1 + snapshots, members], their mean returns then.
        score: f32[members], the newest of these.
        learner: who meets them.
        update: i32[], updates made, of both stages.
    """

    members: Progress
    snapshots: NetworkPolicy
    scores: Array
    score: Array
    learner: Progress
    update: Array

    @property
    def params(self) -> Any:
        return self.members.params, self.learner.params


@dataclasses.dataclass(frozen=True)
class FCP:
    """Fictitious co-play. An update is one of each member in the first stage, and as many of the
    learner in the second: always the same number of steps."""

    env: Env
    config: FCPConfig

    def __post_init__(self) -> None:
        pairing(self.env, self.config.num_envs, self._places)
        self._lapses  # noqa: B018 - raises if it makes no sense
        self._solo  # noqa: B018 - raises if this cannot be learned

    @property
    def name(self) -> str:
        return "fcp"

    @property
    def _places(self) -> int:
        """Partners of the learner at once."""
        return 3 * self.config.members

    @functools.cached_property
    def _solo(self) -> PPO:
        steps = self.config.member_steps
        return PPO(self.env, dataclasses.replace(self.config, total_steps=steps))

    def _member(self, members: Progress) -> PPO:
        """The learner of one of the members, which are all as they are now."""
        return self._solo

    @property
    def steps_per_update(self) -> int:
        return self._solo.steps_per_update * self.config.members

    @property
    def stages(self) -> tuple[int, int]:
        """Updates of the first stage, and of the second."""
        return self._solo.num_updates, self.config.total_steps // self.steps_per_update

    @property
    def num_updates(self) -> int:
        return sum(self.stages)

    @property
    def _lapses(self) -> Lapses | None:
        c = self.config
        shares = spread(c.lapses, c.members) * 3
        return lapses_of(self.env, shares, c.own_lapses, c.lapse_steps)

    def _with_partners(self, pool: NetworkPolicy) -> PPO:
        c = self.config
        beside = with_networks(self.env, c.num_envs, pool, self._lapses, c.team_shaping)
        return PPO(beside, beside_settings(c))

    def init(self, key: Array) -> FCPProgress:
        c = self.config
        member_key, learner_key = jax.random.split(key)
        members = jax.vmap(self._solo.init)(jax.random.split(member_key, c.members))
        snapshots = jax.tree_util.tree_map(
            lambda leaf: jnp.broadcast_to(leaf, (1 + c.snapshots, *leaf.shape)),
            jax.vmap(self._solo.player)(members),
        )
        return FCPProgress(
            members=members,
            snapshots=snapshots,
            scores=jnp.zeros((1 + c.snapshots, c.members)),
            score=jnp.zeros(c.members),
            learner=self._with_partners(empty_pool(self._solo, self._places)).init(learner_key),
            update=jnp.int32(0),
        )

    def update(self, progress: FCPProgress) -> tuple[FCPProgress, dict[str, Array]]:
        first = self.stages[0]
        made: tuple[FCPProgress, dict[str, Array]] = staged(
            lambda progress: (progress.update >= first).astype(jnp.int32),
            (self._train_members, self._train_learner),
            progress,
        )
        return made

    def _train_members(self, progress: FCPProgress) -> tuple[FCPProgress, dict[str, Array]]:
        """Stage 1: every member trains in self-play."""
        members, metrics = jax.vmap(self._member(progress.members).update)(progress.members)
        score = jnp.where(jnp.isnan(metrics["return"]), progress.score, metrics["return"])
        due = np.linspace(0, self.stages[0], 1 + self.config.snapshots).round().astype(np.int32)
        now = (due == progress.update + 1) & (due > 0)
        policies = jax.vmap(self._solo.player)(members)

        def put(new: Array, old: Array) -> Array:
            return jnp.where(now.reshape(-1, *[1] * new.ndim), new, old)

        progress = dataclasses.replace(
            progress,
            members=members,
            snapshots=jax.tree_util.tree_map(put, policies, progress.snapshots),
            scores=put(score, progress.scores),
            score=score,
            update=progress.update + 1,
        )
        return progress, combined(metrics, stage=1)

    def _train_learner(self, progress: FCPProgress) -> tuple[FCPProgress, dict[str, Array]]:
        """Stage 2: the learner trains with the pool."""
        ppo = self._with_partners(self.pool(progress))
        learner, metrics = jax.lax.scan(
            lambda learner, _: ppo.update(learner),
            progress.learner,
            length=self.config.members,
        )
        progress = dataclasses.replace(progress, learner=learner, update=progress.update + 1)
        return progress, combined(metrics, stage=2)

    def pool(self, progress: FCPProgress) -> NetworkPolicy:
        """The partners, [3 members, ...]: all first ones, then the middle ones, then the last."""
        scores = progress.scores
        distance = jnp.abs(scores[1:-1] - scores[-1] / 2)
        middle = 1 + jnp.argmin(distance, axis=0)
        member = jnp.arange(self.config.members)
        return jax.tree_util.tree_map(
            lambda leaf: jnp.concatenate([leaf[0], leaf[middle, member], leaf[-1]]),
            progress.snapshots,
        )

    def policy(self, progress: FCPProgress) -> NetworkPolicy:
        return labelled(self._solo.player(progress.learner), self.env, self.name)


def staged(
    stage: Callable[[Any], Array], updates: Sequence[Callable[[Any], Any]], progress: Any
) -> Any:
    """What the update of the present stage makes of `progress`. All seeds are in the same stage; a
    plain `switch`, mapped over them, would make the updates of all stages.

    Args:
        stage: i32[] of the progress of one seed, from 0.
        updates: one for each stage.
    """

    @jax.custom_batching.custom_vmap
    def advance(progress: Any) -> Any:
        return jax.lax.switch(stage(progress), updates, progress)

    @advance.def_vmap
    def _(axis_size: int, mapped: list[Any], progress: Any) -> Any:
        progress = jax.tree_util.tree_map(
            lambda leaf, has: leaf if has else jnp.broadcast_to(leaf, (axis_size, *leaf.shape)),
            progress,
            mapped[0],
        )
        first = jax.tree_util.tree_map(lambda leaf: leaf[0], progress)
        out = jax.lax.switch(stage(first), [jax.vmap(update) for update in updates], progress)
        return out, jax.tree_util.tree_map(lambda _: True, out)

    return advance(progress)


def combined(metrics: dict[str, Array], stage: int) -> dict[str, Array]:
    """The metrics of several updates, [n] each, as those of one."""
    episodes = metrics["episodes"]
    over_episodes = {"return", "length"}
    combined = {"stage": jnp.float32(stage), "episodes": jnp.sum(episodes)}
    for name, values in metrics.items():
        if name in over_episodes or name.startswith(("metrics/", "terms/")):
            total = jnp.sum(jnp.where(episodes > 0, values * episodes, 0.0))
            combined[name] = total / combined["episodes"]
        elif not name.startswith("return/") and name != "episodes":  # agents are others by stage
            combined[name] = jnp.mean(values)
    return combined
