"""The rule book of a player, written from the numbers of the rules in force."""

from __future__ import annotations

from manyhands.core.reading.answers import how_to_answer
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.goals import HOLD, UNLOCK_MANY, UNLOCK_ONE, parse_goal
from manyhands.envs.craftworld.setting import Setting
from manyhands.envs.craftworld.words import (
    COLUMNS,
    LETTER,
    NAMES,
    ROWS,
    YOU,
    article,
    cost,
    counted,
    listed,
    spaced,
    stations,
)


def rules(env: Setting, agent: int) -> str:
    """The rule book of one player, written from the numbers of the rules in force."""
    sections = [
        ("CRAFTWORLD", _aim(env, agent)),
        ("YOUR LIFE", _life(env)),
        ("WHAT YOU SEE", _seeing(env)),
        ("ACTIONS", _actions(env)),
        ("do, BY WHAT IS IN FRONT", _doing(env)),
        ("PLACING IN FRONT", _placing(env)),
        ("MAKING", _making(env)),
        ("CREATURES", _creatures(env)),
        ("DAY, SLEEP, PLANTS", _sleeping(env)),
        ("THE OTHERS", _others(env) if env.num_players > 1 else []),
        ("ACHIEVEMENTS", _achievements(env)),
        ("ADVICE", _advice(env)),
        ("HOW TO ANSWER", _answering(env)),
    ]
    return "\n\n".join("\n".join([title, *lines]) for title, lines in sections if lines)


def _aim(env: Setting, agent: int) -> list[str]:
    others = [name for i, name in enumerate(env.agents) if i != agent]
    role = rl.ROLES[1 + agent % (len(rl.ROLES) - 1)] if env.roles != "none" else ""
    mates = f"together with {listed(others)}" if others else "alone"
    if len(others) > 3:
        mates = f"together with {len(others)} others"
    name = env.agents[agent] + (f", {article(role)}," if role else "")
    weights = env.reward_weights
    parts = []
    if weights["achievements"]:
        once = "each new achievement of yours"
        if not env.craft.achievement_each:
            once = "a step with new achievements of yours"
        parts.append(f"{weights['achievements']:g} for {once}")
    if weights["health"]:
        worth = weights["health"]
        parts.append(f"{worth:g} for each point of health won, {-worth:g} for each lost")
    if weights["joint"] and env.has_joint:
        parts.append(f"{weights['joint']:g} for your part in a joint work")
    if weights["goal"] and env.goal:
        parts.append(f"{weights['goal']:g} for all when the goal is reached")
    share = {
        "own": "",
        "team": " Everyone gets the sum of what all earn.",
        "mixed": " Everyone gets half of its own and half of what all earn.",
    }[env.reward]
    chooses = "all players choose" if others else "you choose"
    end = "nobody is up any more" if others else "you die"
    lines = [
        f"You are {name} in a wild land, {mates}. In each step {chooses} one action. The episode "
        f"ends when {end}, or after {env.max_steps} steps.",
        f"Your reward: {'; '.join(parts) or 'none'}.{share if others else ''}",
    ]
    if env.told == "first" and agent:
        lines.append(
            f"There may be a goal for the team, which only {env.agents[0]} is told: ask, and "
            f"listen. Reaching it ends the episode.{_reached(env)}{_plans(env)}"
        )
    elif env.goal:
        lines.append(
            f"The goal is: {env.goal}. Reaching it ends the episode.{_reached(env)}{_plans(env)}"
        )
    if env.told == "first" and not agent and others:
        lines.append(f"Only you are told the goal; tell it to {listed(others)}.")
    return lines


def _reached(env: Setting) -> str:
    """When the goals of this world are reached; a plan tells that itself."""
    together = "you" if env.num_players == 1 else "you together"
    when = {
        (HOLD, False): f"{together} hold so many at one time",
        (HOLD, True): "each of you holds so many at one time",
        (UNLOCK_ONE, False): "one of you unlocks it",
        (UNLOCK_ONE, True): "each of you has unlocked it",
        (UNLOCK_MANY, False): f"{together} have unlocked so many different ones",
        (UNLOCK_MANY, True): "each of you has unlocked so many",
    }
    named = {HOLD: "collect N", UNLOCK_ONE: "an achievement", UNLOCK_MANY: "unlock N"}
    goals = [parse_goal(text, env.num_players, env.craft) for text in env.goals]
    kinds = list(dict.fromkeys((goal.kind, goal.everyone) for goal in goals))
    told = [kind for kind in kinds if kind in when and (env.num_players > 1 or kind[0] == HOLD)]
    if len(kinds) == 1 and told:
        return f" It is reached when {when[told[0]]}."
    parts = [
        f"'{'everyone: ' * everyone}{named[kind]}' when {when[kind, everyone]}"
        for kind, everyone in told
    ]
    return f" Reached: {'; '.join(parts)}." if parts else ""


def _plans(env: Setting) -> str:
    """What plans are made of, where one may be the goal."""
    if not any(goal.startswith("build") for goal in env.goals):
        return ""
    return (
        " In a plan / ends a row; S stone, T table, F furnace, P plant, _ free ground, . anything."
    )


def _life(env: Setting) -> list[str]:
    craft = env.craft
    capacity = ""
    if env.roles != "none":
        capacity = f" (food and drink of a forager to {craft.forager_capacity})"
    down = "you die."
    if env.num_players > 1 and env.death == "down":
        down = (
            "you fall, helpless until a player beside you uses do on you; then you rise with "
            f"{craft.revive_health} health."
        )
    elif env.num_players > 1:
        down = "you are dead for good."
    return [
        f"Health, food, drink, energy go from 0 to {rl.MOST}{capacity}. Food falls by 1 every "
        f"{craft.hunger + 1} steps, drink every {craft.thirst + 1}, energy every "
        f"{craft.fatigue + 1} awake. While these are above 0, health rises by 1 every "
        f"{craft.heal + 1} steps; if one is 0, health falls by 1 every {craft.harm + 1}. Asleep, "
        f"health rises twice as fast, and what falls falls half as fast. At health 0 {down}",
    ]


def _seeing(env: Setting) -> list[str]:
    known = [code for code in LETTER if code in env.codes]
    letters = ", ".join(
        f"{LETTER[code]} {NAMES[code] if code != rl.VOID else 'outside the world'}"
        for code in sorted(known)
    )
    return [
        f"{COLUMNS} columns and {ROWS} rows of cells, yourself ({YOU}) in the middle; the top is "
        "up. Places count from you: '3 right 2 up'.",
        f"{letters}; z zombie, k skeleton, c cow, < > ^ v an arrow and where it flies"
        + (", a digit another player." if env.num_players > 1 else "."),
        f"You walk on {listed([NAMES[code] for code in rl.WALKABLE if code in known])}. "
        "Lava lets you in, and kills for good.",
    ]


def _actions(env: Setting) -> list[str]:
    craft, makes = env.craft, env.contents.makes
    lines = [
        "0 noop: wait. 6 sleep: below 9 energy.",
        "1 move left, 2 move right, 3 move up, 4 move down: turn that way, and step there if the "
        "cell is free.",
        "5 do: use the cell that you face. To face a thing, stand beside it (not diagonally) and "
        "move against it.",
    ]
    if env.num_players > 1:
        goods = ", ".join(gift for gift in craft.gifts if gift not in makes)
        first, last = craft.gifts[0], spaced(craft.gifts[-1])
        lines.append(
            f"{craft.give} give {first} to {craft.request - 1} give {last}: hand 1 of {goods} and "
            f"the {len(makes)} tools, in this order, to the player that you face. {craft.request} "
            f"request {first} to {len(env.actions) - 1} request {last}: all see for "
            f"{craft.request_steps} steps that you need it."
        )
    lines.append(f"You hold at most {rl.MOST} of each item; more is lost.")
    return lines


def _doing(env: Setting) -> list[str]:
    craft, lines = env.craft, []
    mined: dict[str, list[str]] = {}  # what is like its name, by what is left
    for code, (item, tool, left) in env.contents.collect.items():
        if code in (rl.GRASS, rl.WATER):
            continue
        needs = f" (needs {article(spaced(tool))})" if tool else ""
        if item == NAMES[code]:
            mined.setdefault(NAMES[left], []).append(f"{NAMES[code]}{needs}")
        else:
            lines.append(f"- {NAMES[code]}: 1 {spaced(item)}{needs}; {NAMES[left]} is left.")
    lines += [f"- {', '.join(names)}: 1 of it; {left} is left." for left, names in mined.items()]
    lines.append(
        f"- water: 1 drink. Grass: a chance of {craft.sapling_chance:.0%} of 1 sapling. Ripe "
        f"plant: {craft.plant_food} food; a sapling is left."
    )
    hits = ", ".join(
        f"{damage} with {name}"
        for damage, name in zip(
            craft.damage,
            ("bare hands", *(article(spaced(sword)) for sword in env.contents.swords)),
            strict=True,
        )
    )
    best = "several of a kind add up" if craft.swords_add_up else "the best sword counts"
    lines.append(
        f"- cow ({craft.cow_health} health), zombie ({craft.zombie_health}), skeleton "
        f"({craft.skeleton_health}): a hit takes {hits}; {best}. A cow at 0 is eaten: "
        f"{craft.cow_food} food."
    )
    if env.num_players > 1 and env.friendly_fire:
        lines.append("- a player who is up: you hurt it.")
    joint = {
        NAMES[before]: NAMES[after]
        for name, (before, after) in rl.JOINT.items()
        if name == env.joint or (env.chart is not None and bool((env.chart.ground == before).any()))
    }
    if joint:
        become = "becomes" if len(joint) == 1 else "become"
        lines.append(
            f"- {', '.join(joint)}: {become} {', '.join(joint.values())} when {env.helpers} "
            f"player{'s' * (env.helpers > 1)} do it in the same step."
        )
    return lines


def _placing(env: Setting) -> list[str]:
    craft, lines = env.craft, []
    for i, name in enumerate(rl.PLACES, rl.PLACE):
        item, number = craft.place_cost(name)
        grounds = listed([NAMES[code] for code in craft.place_on(name)], "or")
        lines.append(f"- {i} place {name}: costs {counted(item, number)}; onto free {grounds}.")
    return lines


def _making(env: Setting) -> list[str]:
    groups: dict[tuple[str, str], list[str]] = {}
    for i, tool in enumerate(env.contents.makes, rl.MAKE):
        needs = cost(env.craft, tool), stations(env.craft, tool)
        groups.setdefault(needs, []).append(f"{i} make {spaced(tool)}")
    lines = [
        f"- {', '.join(tools)}: costs {price}; needs {near}."
        for (price, near), tools in groups.items()
    ]
    lines.append("Table and furnace: in the 8 cells around you; not used up.")
    return lines


def _creatures(env: Setting) -> list[str]:
    craft = env.craft
    trampled = " Creatures beside a plant destroy it." if craft.trampled else ""
    return [
        f"Cows do no harm. Zombies come on grass, more in the dark; beside you one hits for "
        f"{craft.zombie_damage} ({craft.zombie_damage_asleep} if you sleep), then rests "
        f"{craft.zombie_cooldown} steps. Skeletons, from dark paths, shoot arrows of "
        f"{craft.arrow_damage} damage along rows and columns; one that hits a table or furnace "
        f"destroys it. Both go where you can.{trampled}"
    ]


def _sleeping(env: Setting) -> list[str]:
    craft = env.craft
    lengths = [str(n) for n in sorted({world.day_length for world in env.worlds})]
    waking = "being hurt is none"
    if craft.zombie_wakes:
        waking = "a zombie's hit is one, too"
    return [
        f"A day and night take {listed(lengths, 'or')} steps. Asleep, you gain 1 energy every "
        f"{craft.rest + 1} steps, and wake at {rl.MOST} (an achievement) or when you are hurt "
        f"({waking}).",
        f"A placed sapling is ripe (P) and can be eaten after {craft.ripe} steps.",
    ]


def _achievements(env: Setting) -> list[str]:
    """All of them, by their verbs."""
    verbs: dict[str, list[str]] = {}
    for name in env.contents.achievements:
        verb, _, noun = name.partition("_")
        if verb == "make":
            noun = "each tool"
        if noun not in verbs.setdefault(verb, []):
            verbs[verb].append(spaced(noun))
    return ["; ".join(f"{verb} {', '.join(nouns)}" for verb, nouns in verbs.items()) + "."]


def _others(env: Setting) -> list[str]:
    known = "You always know where the others are, their health and food."
    if env.sees == "near":
        known = (
            "You know of the others only while they are in view: where they are, their health, "
            "food and requests."
        )
    lines = [
        f"{known} In a step the players act "
        "one after the other, a different one first each time; the first gets the tree or "
        "cell. Then the creatures move."
    ]
    if env.roles != "none":
        lines.append(
            "Roles in turn: forager, miner, warrior. Only foragers eat "
            "cows and plants and collect saplings; only miners make pickaxes and place stone; only "
            f"warriors make swords, and they hit {env.craft.warrior_damage} times as hard."
        )
    return lines


def _advice(env: Setting) -> list[str]:
    craft = env.craft
    wood = craft.table_wood + 2
    stone = craft.furnace_stone + 3 + 2 * craft.iron_stone
    return [
        f"First {wood} wood for a table, a wood pickaxe and a sword; then {stone} stone and more "
        "wood. Coal and iron lie in hills near caves, diamonds deep in them, near lava. Eat and "
        "drink before 4. Sleep closed in by stone or water: zombies come in the open. If nothing "
        "of use is seen, walk one way.",
    ]


def _answering(env: Setting) -> list[str]:
    return [
        'By name or number, or by what it does now ("collect wood").',
        how_to_answer("move left"),
    ]
