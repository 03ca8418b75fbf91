"""Harvest: everybody takes from one stock that regrows, all at the same time, month by month."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from manyhands.core.axes import repeat
from manyhands.core.choices import Form
from manyhands.core.env import Array, ConfigError
from manyhands.core.reading.grammar import Reading
from manyhands.envs.negotiation.forms.base import Choice, Deal, Turn
from manyhands.envs.negotiation.state import NegotiationState
from manyhands.envs.negotiation.words import Observation, amount


@dataclass(frozen=True, eq=False, kw_only=True)
class Harvest(Choice):
    """A choice is i16[1], the tons that a player wants to catch.

    Attributes:
        growth: what the rest is multiplied with after each month, rounded down.
        capacity: tons that the lake holds at most.
        collapse: with fewer tons than this left after a harvest all is over.
    """

    terms = ("gain", "win", "survival", "efficiency", "equality", "truthful", "untruthful")
    event_kinds = ("catch", "collapse", "regrowth")
    chooses = "all"
    how_to_offer = '"catch <tons>"'
    round_name = "month"
    pool_place = "In the lake"
    owning = ("have caught", "has caught")
    choice_phase = "Harvest."
    choosing_nothing = "catch nothing"
    surface = "lake"
    units = ("tonne", "unit", "fish", "t")

    growth: float
    capacity: int
    collapse: int

    # ---- rules ------------------------------------------------------------------------------

    def fits(self, state: NegotiationState, i: int, xp: Any) -> Array:
        return xp.all(self.enumerated(state) <= state.pool[None], axis=1)

    def settle(self, state: NegotiationState, turn: Turn) -> Turn:
        now, stock = turn.finished, state.pool[0]
        wished = jnp.where(now[None], turn.content[:, 0], 0).astype(jnp.int32)
        total = jnp.sum(wished, axis=0)
        share = wished * stock // jnp.maximum(total, 1)
        caught = jnp.where(total > stock, share, wished)
        left = stock - jnp.sum(caught, axis=0)
        collapsed = now & (left < self.collapse)
        grown = jnp.asarray(self.regrown)[left]
        stock = jnp.where(now, jnp.where(collapsed, left, grown), stock)
        caught = caught.astype(jnp.int16)
        pledged = turn.claims[:, 0] - 1
        due = now[None] & (pledged >= 0)
        return turn._replace(
            pool=stock[None],
            holdings=turn.holdings + caught[:, None],
            gain=caught * state.values.astype(jnp.int32)[:, 0],
            shown=caught[:, None],
            truthful=(due & (caught <= pledged)).astype(jnp.float32),
            untruthful=(due & (caught > pledged)).astype(jnp.float32),
            claims=jnp.where(now[None, None], 0, turn.claims),
            terms={"survival": repeat((now & ~collapsed).astype(jnp.float32), self.players)},
            collapsed=collapsed,
            over=turn.over | collapsed,
        )

    def grades(
        self, before: NegotiationState, after: NegotiationState, total: Array, envy: Array
    ) -> dict[str, Array]:
        caught = jnp.sum(after.holdings[:, 0].astype(jnp.float32), axis=0)
        share = repeat(caught / np.float32(self.most_catch[0]), self.players)
        return super().grades(before, after, total, envy) | {"efficiency": share}

    @functools.cached_property
    def regrown(self) -> np.ndarray:
        """i16[capacity + 1]: the stock a month after so many tons were left."""
        left = np.arange(self.capacity + 1)
        return np.minimum(np.floor(left * self.growth + 1e-9), self.capacity).astype(np.int16)

    @functools.cached_property
    def most_catch(self) -> tuple[int, list[int]]:
        """The largest catch of all players together in all months, and the catches by month that
        make it (exact, by dynamic programming over the stock)."""
        limit = self.players * int(self.offers.max())
        value = np.zeros(self.capacity + 1, np.int64)
        plans: list[np.ndarray] = []
        for _ in range(self.rounds):
            best, plan = np.zeros_like(value), np.zeros_like(value)
            for stock in range(self.capacity + 1):
                left = np.arange(max(stock - limit, 0), stock + 1)
                later = np.where(left < self.collapse, 0, value[self.regrown[left]])
                total = stock - left + later
                chosen = int(np.argmax(total))
                best[stock], plan[stock] = total[chosen], stock - left[chosen]
            value = best
            plans.insert(0, plan)
        now, catches = int(self.pool[0]), []
        for plan in plans:
            catches.append(int(plan[now]))
            rest = now - catches[-1]
            if rest < self.collapse:
                break
            now = int(self.regrown[rest])
        return int(value[self.pool[0]]), catches

    def best_joint(self, state: NegotiationState) -> Deal:
        """Where a ton is worth the same to all; the terms are the catches of all players together,
        month by month."""
        values = np.asarray(state.values, int)
        if len(np.unique(values)) > 1:
            raise ConfigError("the best catch is known only where a ton is worth the same to all")
        total, months = self.most_catch
        each, extra = divmod(total, self.players)
        gains = tuple((each + (i < extra)) * int(values[0, 0]) for i in range(self.players))
        return Deal(gains, {"catches": months})

    # ---- observations -----------------------------------------------------------------------

    @property
    def most_owned(self) -> int:
        return int(self.pool.max()) * self.rounds

    @property
    def most_offered(self) -> int:
        return int(self.pool.max())

    # ---- words ------------------------------------------------------------------------------

    def rules_words(self) -> list[str]:
        private = ""
        low, high = self.values[0, 0].tolist()
        if low != high:
            private = f" A ton is worth something else ({low} to {high}) to each of you."
        return [
            f"You fish in one lake, for {self.rounds} months. In each month all catch at the same "
            f"time, 0 to {int(self.offers.max())} tons each; if together you want more than there "
            "is, each gets the same share of its wish, rounded down. Then what is left is "
            f"multiplied by {self.growth:g}, up to {self.capacity} tons. If fewer than "
            f"{self.collapse} tons are left after a harvest, the lake is empty for ever and the "
            "game is over. You gain what "
            f"you catch.{private}",
        ]

    def answer_words(self, agent: int) -> str:
        return f'"catch {min(10, int(self.offers.max()))}"'

    def decision_words(self) -> str:
        return "All choose their catch at the same time."

    def offer_words(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        return amount(self.goods, content)

    def chosen_words(self, seen: Observation, maker: int, content: np.ndarray) -> str:
        return f"caught {amount(self.goods, content)}"

    def choice_words(self, seen: Observation, content: np.ndarray) -> str:
        catch = f"catch {amount(self.goods, content)}"
        if self._is_sure(int(content[0]), int(seen["pool"][0])):
            return f"{catch}: you gain {seen.worth(content)}"
        return f"{catch}: you gain up to {seen.worth(content)}, less if all want more than there is"

    def _is_sure(self, wish: int, stock: int) -> bool:
        """Whether so much can be had even if all others want as much as they can."""
        return wish + (self.players - 1) * min(int(self.offers.max()), stock) <= stock

    def choice_facts(
        self, state: NegotiationState, agent: int, content: np.ndarray
    ) -> dict[str, Any] | None:
        wish = int(content[0])
        if not self._is_sure(wish, int(state.pool[0])):
            return None
        caught = int(state.holdings[agent, 0]) + wish
        gain = wish * int(state.values[agent, 0])
        return {f"players.{agent}.holdings.{self.goods[0]}": caught, "gain": gain}

    def choice_forms(self, seen: Observation, contents: np.ndarray) -> Sequence[Form | None]:
        low, high = int(contents.min()), int(contents.max())
        value = int(seen["own_values"][0])
        effect = f"any whole number from {low} to {high}; you gain {value} a ton"
        if not self._is_sure(high, int(seen["pool"][0])):
            effect += ", and get less if all together want more than there is"
        return [Form("catch {tons}", effect, {"tons": (low, high)})] * len(contents)

    def choice_event(self, content: Sequence[int]) -> dict[str, Any]:
        return {"event": "catch", "tons": int(content[0])}

    def outcome_events(self, state: NegotiationState) -> list[dict[str, Any]]:
        stock = int(state.pool[0])
        collapsed = stock < self.collapse
        return [{"event": "collapse" if collapsed else "regrowth", "stock": stock}]

    def full_words(self, seen: Observation) -> list[str]:
        stock = int(seen["pool"][0])
        spare = max(stock - self.most_left, 0)
        return [
            f"If all together catch at most {spare} tons ({spare // self.players} each), the lake "
            f"is full again, with {self.capacity} tons.",
            f"If more than {max(stock - self.collapse, 0)} tons are caught, all is over.",
        ]

    @property
    def most_left(self) -> int:
        """The least number of tons that grow back to a full lake."""
        return int(np.argmax(self.regrown == self.regrown[-1]))

    def bounds_words(self, seen: Observation, content: np.ndarray) -> str:
        most = min(int(self.offers.max()), int(seen["pool"][0]))
        return f"you can catch at most {most} tons"

    def offer_phrases(self, agent: int) -> Mapping[str, Sequence[str]]:
        lake = "[of fish] [from the lake|out of the lake] [this month]"
        catch = (
            "[i] (catch|harvest|take|fish|fish for|haul in|go for|go with|limit myself to"
            "|limit my (catch|harvest) to|stick (to|with)|settle for)"
        )
        return {
            "catch": [
                f"{catch} {{amount}} {lake}",
                "catch ton {amount}",
                f"i want [to catch|to take|to harvest] {{amount}} {lake}",
                f"[my|a] (catch|harvest) [this month|for this month] [is|of|will be] {{amount}} "
                f"{lake}",
                f"[i] (keep|stick to|honour|honor) my (pledge|promise|word) [.] [and] {catch} "
                f"{{amount}} {lake}",
                f"{{amount}} {lake} (is|are|will be|should be) [quite|just] (enough|plenty|all i "
                f"(want|need|take)|sufficient|what i (take|catch|want)) [for me]",
                f"(my (net|boat|boats|nets|line|fleet|crew)) (take|takes|bring|brings|catch|catches"
                f"|haul|hauls|land|lands) [home|in|up|ashore] {{amount}} {lake} [home|in|ashore]",
                f"(put|mark|write) me down for {{amount}} {lake}",
                f"count me in for {{amount}} {lake}",
                f"as (pledged|promised|announced|agreed|i (pledged|promised|said)) [.] [(just"
                f"|only)]"
                f" {{amount}} {lake}",
                f"{{amount}} {lake} [.] as (pledged|promised|announced|agreed|i (pledged|promised"
                f"|said))",
                f"[only|just|(a [sustainable|modest|small|fair|moderate|full|good|safe] catch)] "
                f"{{amount}} {lake} [for (me|myself)]",
            ],
            "nothing": [
                f"nothing (for|from) me {lake}",
                f"{catch} (nothing|no fish|none|no ton) [at all] {lake}",
                f"no fish {lake} [from me|for me]",
                "[i] leave the (fish|lake|stock|water) (alone|in peace|be|untouched) [this month]",
                "[i] (let|give) the (lake|fish|stock) [a] (recover|regrow|grow|grow back|rest|breed"
                "|multiply|breather|break) [this month]",
                "[i] (leave|keep) my (net|nets|boat|boats) (dry|ashore|at home|in port|empty) "
                "[this month]",
                "[i] skip (fishing|the harvest) [this month]",
                f"[i] let the lake (recover|regrow|grow|grow back|rest) [.] [and] {catch} "
                f"(nothing|no fish|none) {lake}",
            ],
        }

    def offered(self, seen: Observation, reading: Reading) -> np.ndarray:
        return np.array([reading.values.get("amount", 0)])

    # ---- scripted players -------------------------------------------------------------------

    def scripted(
        self, style: str, seen: dict[str, Array], legal: Array, last: Array, count: Array
    ) -> tuple[Array, Array]:
        """`fair` catches its share of what grows back, `tit_for_tat` as much as the others did on
        average in the month before."""
        n, stock = self.players, seen["pool"][0]
        keep = -int(-self.capacity // self.growth)
        share = jnp.maximum(stock - keep, 0) // n
        share = jnp.where(seen["rounds_left"][0] == 1, stock // n, share)
        total = jnp.sum(seen["other_holdings"]).astype(jnp.float32)
        if style == "tit_for_tat":
            mean = jnp.round((total - last) / (n - 1)).astype(jnp.int32)
            share = jnp.where(count > 0, mean, share)
        return jnp.minimum(share, jnp.sum(legal)), total
