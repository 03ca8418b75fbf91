"""The forms that negotiations take: one file each, of the interface in `base.py`."""

from manyhands.envs.negotiation.forms.base import Bargain, Choice, Deal, Scenario, Turn
from manyhands.envs.negotiation.forms.exchange import Exchange
from manyhands.envs.negotiation.forms.gift import Gift
from manyhands.envs.negotiation.forms.harvest import Harvest
from manyhands.envs.negotiation.forms.pool import Pool
from manyhands.envs.negotiation.forms.price import Price
from manyhands.envs.negotiation.forms.shares import Shares

__all__ = [
    "Bargain",
    "Choice",
    "Deal",
    "Exchange",
    "Gift",
    "Harvest",
    "Pool",
    "Price",
    "Scenario",
    "Shares",
    "Turn",
]
