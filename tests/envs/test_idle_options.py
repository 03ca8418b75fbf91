"""Options that would change nothing are refused, and taken where they change something."""

import pytest

import manyhands
from manyhands.core.env import ConfigError

FIELD = "WWWWWWW\nW.....W\nW.0.1.W\nW.....W\nWWWWWWW"
BEACON = FIELD.replace("..W\nWWW", "O.W\nWWW")
DIVIDE = {"scenario": "divide"}
GOODS = {
    "scenario": "trade",
    "goods": ["salt", "tea"],
    "holdings": [[1, 2], [3, 4]],
    "values": [[1, 2], [2, 1]],
}


@pytest.mark.parametrize(
    ("game", "options", "idle", "used"),
    [
        # (a game, options, where they are idle, where they are of use)
        ("kitchen", {"order_bonus": 3}, {}, {"bonus_orders": ["onion+onion+onion"]}),
        ("kitchen", {"starts": "jaxmarl"}, {"layout": "generated"}, {"layout": "cramped_room"}),
        ("kitchen", {"chefs": 2}, {"layout": "generated", "generator": {"chefs": 3}}, {}),
        (
            "kitchen",
            {"button_cost": 1},
            {"layout": "cramped_room", "asked": True},
            {"layout": "grounded_coord_simple"},
        ),
        (
            "kitchen",
            {"resample": True},
            {"layout": "cramped_room", "asked": True},
            {"layout": "grounded_coord_simple"},
        ),
        ("cuisine", {"alpha": 1.0}, {"interval": 5, "lifetime": 60}, {"interval": 5}),
        ("volleyball", {"downwash": True}, {"task": "hit"}, {"task": "bump_and_pass"}),
        ("volleyball", {"ball": "real"}, {"task": "back_and_forth"}, {"task": "hit"}),
        ("volleyball", {"rules": "volleybots"}, {"task": "back_and_forth"}, {"task": "hit"}),
        (
            "volleyball",
            {"randomise": {"ball_mass": [0.9, 1.1]}},
            {"task": "back_and_forth"},
            {"task": "hit"},
        ),
        ("craftworld", {"size": 32}, {"map": FIELD}, {}),
        ("craftworld", {"joint": "beacon"}, {"map": FIELD}, {"map": BEACON}),
        ("craftworld", {"helpers": 1}, {"map": FIELD}, {"map": BEACON}),
        ("craftworld", {"world": {"trees": 2.0}}, {"map": FIELD}, {}),
        ("craftworld", {"world": {"cows": 2.0}}, {"map": FIELD}, {"map": FIELD, "spawning": True}),
        ("craftworld", {"sees": "near"}, {}, {"players": 2}),
        ("craftworld", {"told": "first"}, {}, {"players": 2}),
        ("craftworld", {"friendly_fire": True}, {}, {"players": 2}),
        ("home", {"containers": "rare"}, {"task": "house"}, {"task": "transport"}),
        ("home", {"told": "first"}, {"task": "chore_small"}, {"task": "house"}),
        ("home", {"told": "first"}, {"task": "follow"}, {"task": "house"}),
        (
            "home",
            {"hidden": ["where"]},
            {"task": "follow", "told": "instructor"},
            {"task": "house", "told": "instructor"},
        ),
        ("mission", {"levels": 4}, {"scenario": "harvest"}, {"scenario": "pursuit"}),
        ("mission", {"level_seed": 4}, {"scenario": "capture"}, {"scenario": "pursuit"}),
        (
            "mission",
            {"sight": 2},
            {"scenario": "warehouse", "observation": "whole"},
            {"scenario": "warehouse"},
        ),
        (
            "mission",
            {"egocentric": True},
            {"scenario": "rendezvous", "observation": "grid"},
            {"scenario": "harvest", "observation": "grid"},
        ),
        ("negotiation", {"max_length": 50}, {"talk": False}, {}),
        ("negotiation", {"phrases": ["take it"]}, {"talk": False}, {}),
        ("negotiation", {"discussion": 2}, {"scenario": "divide", "talk": False}, DIVIDE),
        ("negotiation", {"discount": 0.5}, {"scenario": "ultimatum"}, DIVIDE),
        ("negotiation", {"preset": "spiral"}, GOODS, {"scenario": "trade"}),
    ],
)
def test_options_without_effect_are_refused(game, options, idle, used):
    manyhands.make(game, **used, **options)
    (name,) = options
    with pytest.raises(ConfigError, match=name):
        manyhands.make(game, **idle, **options)


def test_helpers_of_a_map_are_kept():
    env = manyhands.make("craftworld", map=BEACON, helpers=1)
    assert manyhands.make("craftworld", **env.config()).helpers == 1
