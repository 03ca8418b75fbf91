"""The kitchen: an Overcooked-like world for 1 to 6 chefs."""

from manyhands.envs.kitchen.env import Kitchen, KitchenState, unpack

__all__ = ["Kitchen", "KitchenState", "unpack"]
