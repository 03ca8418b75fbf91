"""How well policies play: a policy or a team in all seat orders, and zero-shot coordination."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from manyhands.baselines.evaluation.matches import Match, play_matches
from manyhands.baselines.evaluation.tables import INTERVAL, Estimate, described, markdown
from manyhands.core.env import (
    ConfigError,
    Env,
)
from manyhands.core.registry import seat
from manyhands.core.seats import seat_policy

# ---- policies by name ----------------------------------------------------------------------------


def players(env: Env, given: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """The policies that `given` means, and a name for each: a seat's name with options
    (`"greedy:noise=0.2"`), a policy file (`"runs/a.safetensors"`), or a policy. Files are named by
    what tells them apart."""
    policies, names = [], []
    files = [i for i, one in enumerate(given) if _is_file(one)]
    for one in given:
        if _is_file(one):
            policies.append(seat("policy", env, file=str(one)))
            names.append(str(one))
        else:
            policy, name = seat_policy(env, one)
            policies.append(policy)
            names.append(name)
    paths = [list(PurePath(names[i]).with_suffix("").parts) for i in files]
    while len(paths) > 1 and all(len(p) > 1 for p in paths) and len({p[0] for p in paths}) == 1:
        paths = [p[1:] for p in paths]
    while len(paths) > 1 and all(len(p) > 1 for p in paths) and len({p[-1] for p in paths}) == 1:
        paths = [p[:-1] for p in paths]
    if len(paths) == 1:
        paths = [paths[0][-1:]]
    for i, parts in zip(files, paths, strict=True):
        names[i] = "/".join(parts)
    twice = {name for name in names if names.count(name) > 1}
    named = [f"{name} #{i}" if name in twice else name for i, name in enumerate(names, start=1)]
    return policies, named


def _is_file(given: Any) -> bool:
    return isinstance(given, PurePath) or (
        isinstance(given, str) and given.endswith(".safetensors") and ":file=" not in given
    )


# ---- one pair, or team ---------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What `evaluate` gives back; print it.

    Attributes:
        env, seed: what was played.
        names: of the policies, in the order of the seats; one that sits in several is named once.
        matches: one for each seat order.
    """

    env: Env
    seed: int
    names: tuple[str, ...]
    matches: tuple[Match, ...]

    def quantities(self, match: Match) -> dict[str, np.ndarray]:
        """f64[E] by name: the mean return of the agents, that of each policy's own agents where
        they differ, the length, the terms (the mean of the agents) and the metrics."""
        values = {"return": match.returns.mean(axis=1)}
        shared = all((m.returns == m.returns[:, :1]).all() for m in self.matches)
        if len(self.names) > 1 and not shared:
            for number, name in enumerate(self.names):
                own = [a for a, player in enumerate(match.players) if player == number]
                values[f"return of {name}"] = match.returns[:, own].mean(axis=1)
        for what in ("illegal", "forfeits"):
            if any(getattr(m, what).any() for m in self.matches):
                for number, name in enumerate(self.names):
                    own = [a for a, player in enumerate(match.players) if player == number]
                    values[f"{what} of {name}"] = getattr(match, what)[:, own].sum(axis=1)
        values["length"] = match.lengths
        values |= {f"terms/{name}": v.mean(axis=1) for name, v in match.terms.items()}
        return values | {f"metrics/{name}": v for name, v in match.metrics.items()}

    @property
    def mean(self) -> dict[str, Estimate]:
        """Every quantity over all seat orders."""
        orders = [self.quantities(match) for match in self.matches]
        return {
            name: Estimate.of(np.mean([order[name] for order in orders], axis=0))
            for name in orders[0]
        }

    def _title(self, match: Match) -> str:
        return ", ".join(self.names[player] for player in match.players)

    def __str__(self) -> str:
        orders = [
            {name: Estimate.of(values) for name, values in self.quantities(match).items()}
            for match in self.matches
        ]
        header = ["mean of an episode", *(self._title(match) for match in self.matches)]
        if len(orders) > 1:
            header.insert(1, "all seat orders")
            orders.insert(0, self.mean)
        rows = [[name, *(order[name] for order in orders)] for name in orders[0]]
        count = len(self.matches[0].lengths)
        return (
            f"{described(self.env)}: {count} episode{'' if count == 1 else 's'} in each seat "
            f"order ({', '.join(self.env.agents)}), seed {self.seed}"
            f"\n\n{markdown(header, rows)}\n\n{INTERVAL}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        return {
            "environment": self.env.spec(),
            "seed": self.seed,
            "episodes": len(self.matches[0].lengths),
            "interval": INTERVAL,
            "mean": {name: value.to_dict() for name, value in self.mean.items()},
            "seat_orders": [
                {
                    "seats": [self.names[player] for player in match.players],
                    "mean": {
                        name: Estimate.of(values).to_dict()
                        for name, values in self.quantities(match).items()
                    },
                    "returns": match.returns.tolist(),
                }
                for match in self.matches
            ],
        }


def evaluate(env: Env, seats: Any, episodes: int = 100, seed: int = 0) -> Evaluation:
    """Play a policy or a team in all seat orders: in order `r` seat `s` plays agent
    `(s + r) % N`.

    Args:
        seats: one for all agents, or a sequence with one for each, of what `players` takes.

    Raises:
        ConfigError, SeatError, PolicyError: what was given makes no sense, or cannot play here.
    """
    n = env.num_agents
    if isinstance(seats, (str, PurePath)) or not isinstance(seats, Sequence):
        seats = [seats]
    if len(seats) not in (1, n):
        raise ConfigError(
            f"one policy for all agents or {n} are needed ({', '.join(env.agents)}), "
            f"{len(seats)} given"
        )
    numbers: dict[Any, int] = {}
    keys = [one if isinstance(one, (str, PurePath)) else id(one) for one in seats]
    for key in keys:
        numbers.setdefault(key, len(numbers))
    policies, names = players(env, [seats[keys.index(key)] for key in numbers])
    team = [numbers[key] for key in (keys * n if len(keys) == 1 else keys)]
    rows = [tuple(team[(a - r) % n] for a in range(n)) for r in range(n)]
    matches = play_matches(env, policies, list(dict.fromkeys(rows)), episodes, seed)
    return Evaluation(env, seed, tuple(names), tuple(matches))


# ---- zero-shot coordination ---------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ZeroShot:
    """What `zero_shot` gives back; print it.

    Attributes:
        env, seed: what was played.
        name: the policy's. partners: theirs.
        returns: f64[partners, N, E], the policy's own, by the agent that it played while the
            partner played all others.
    """

    env: Env
    seed: int
    name: str
    partners: tuple[str, ...]
    returns: np.ndarray

    @property
    def mean(self) -> Estimate:
        """Over all partners and seats."""
        return Estimate.of(self.returns.mean(axis=(0, 1)))

    def _estimates(self) -> list[tuple[str, list[Estimate]]]:
        """For each partner, and for all of them: over all seats, then by seat."""
        parts = [*zip(self.partners, self.returns, strict=True), ("mean", self.returns.mean(0))]
        return [
            (name, [Estimate.of(values.mean(0)), *(Estimate.of(row) for row in values)])
            for name, values in parts
        ]

    def __str__(self) -> str:
        header = ["partner", "all seats", *(f"as {agent}" for agent in self.env.agents)]
        rows = [[name, *estimates] for name, estimates in self._estimates()]
        count = self.returns.shape[-1]
        return (
            f"{described(self.env)}: {self.name} with partners that it has not met, "
            f"{count} episode{'' if count == 1 else 's'} each, seed {self.seed}; its mean return"
            f"\n\n{markdown(header, rows)}\n\n{INTERVAL}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        *partners, (_, overall) = self._estimates()

        def by_seat(estimates: list[Estimate]) -> dict[str, Any]:
            named = zip(("all", *self.env.agents), estimates, strict=True)
            return {name: estimate.to_dict() for name, estimate in named}

        return {
            "environment": self.env.spec(),
            "seed": self.seed,
            "episodes": self.returns.shape[-1],
            "interval": INTERVAL,
            "policy": self.name,
            "mean": by_seat(overall),
            "partners": {name: by_seat(estimates) for name, estimates in partners},
        }


def zero_shot(
    env: Env,
    policy: Any,
    partners: Mapping[str, Any] | Sequence[Any] | None = None,
    episodes: int = 100,
    seed: int = 0,
) -> ZeroShot:
    """Seat a policy as each agent in turn, with one partner in all other seats.

    Args:
        policy: as `players` takes it.
        partners: the same, or by name; by default the environment's `held_out` ones.

    Raises:
        ConfigError, SeatError, PolicyError: what was given makes no sense, or cannot play here.
    """
    if env.num_agents < 2:
        raise ConfigError(f"{env!r} has one agent, and no seat for a partner")
    given = held_out(env) if partners is None else partners
    if not given:
        raise ConfigError("no partners are given")
    own, own_name = players(env, [policy])
    others, names = players(env, list(given.values()) if isinstance(given, Mapping) else given)
    policies = [*own, *others]
    rows = [
        tuple(0 if a == where else other for a in range(env.num_agents))
        for other in range(1, len(policies))
        for where in range(env.num_agents)
    ]
    matches = play_matches(env, policies, rows, episodes, seed)
    own_returns = [match.returns[:, match.players.index(0)] for match in matches]
    returns = np.reshape(own_returns, (len(policies) - 1, env.num_agents, -1))
    names = list(given) if isinstance(given, Mapping) else names
    return ZeroShot(env, seed, own_name[0], tuple(names), returns)


def held_out(env: Env) -> dict[str, str]:
    """The partners that a policy is evaluated with because it has not met them: seats by name."""
    inner: Any = env
    while "env" in inner.spec():
        inner = inner.env
    module = f"manyhands.baselines.bots.{inner.id}"
    found: dict[str, str] | None = None
    if importlib.util.find_spec(module) is not None:
        bots = importlib.import_module(module)
        # Where scenarios differ in who plays them, a function of the environment.
        found = bots.held_out(inner) if hasattr(bots, "held_out") else bots.__dict__.get("HELD_OUT")
    if not found:
        raise ConfigError(
            f"{inner.id} has no held-out partners of its own; name the partners to evaluate with"
        )
    return found
