"""The rule book of a player, written from the numbers of the rules in force."""

from __future__ import annotations

from manyhands.core.answers import how_to_answer
from manyhands.envs.craftworld import rules as rl
from manyhands.envs.craftworld.goals import depths, requirements
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
        ("ACTIONS (number, name)", _actions(env)),
        ("WHAT do DOES TO WHAT IS IN FRONT OF YOU", _doing(env)),
        ("PLACING SOMETHING INTO THE CELL IN FRONT OF YOU", _placing(env)),
        ("MAKING TOOLS AND WEAPONS", _making(env)),
        ("CREATURES", _creatures(env)),
        ("DAY, NIGHT AND SLEEP", _sleeping(env)),
        ("PLANTS", _plants(env)),
        ("ACHIEVEMENTS, AND WHAT EACH NEEDS FIRST", _graph(env)),
        ("THE OTHERS", _others(env, agent) if env.num_players > 1 else []),
        ("HOW TO PLAY WELL", _advice(env)),
        ("HOW TO ANSWER", _answering(env)),
    ]
    return "\n\n".join("\n".join([title, *lines]) for title, lines in sections if lines)


def _aim(env: Setting, agent: int) -> list[str]:
    others = [name for i, name in enumerate(env.agents) if i != agent]
    role = rl.ROLES[1 + agent % (len(rl.ROLES) - 1)] if env.roles != "none" else ""
    mates = f"together with {listed(others)}" if others else "alone"
    name = env.agents[agent] + (f", {article(role)}," if role else "")
    weights, craft = env.reward_weights, env.craft
    parts = []
    if weights["achievements"]:
        once = "each achievement that you unlock for the first time in the episode"
        if not craft.achievement_each:
            once = "a step in which you unlock one or more achievements for the first time"
        parts.append(f"{weights['achievements']:g} for {once}")
    if weights["health"]:
        parts.append(f"{weights['health']:g} for each point of health won, and minus that for each "
                     "lost")  # fmt: skip
    if weights["joint"] and env.has_joint:
        parts.append(f"{weights['joint']:g} for your part in a joint work")
    if weights["goal"] and env.goal:
        parts.append(f"{weights['goal']:g} for all of you when the goal is reached")
    share = {
        "own": "",
        "team": " Everyone gets the sum of what all players earn.",
        "mixed": " Everyone gets half of what it earns and half of what all players earn.",
    }[env.reward]
    end = "you die" if not others else "nobody is up any more"
    lines = [
        f"You are {name} in a wild land, {mates}. Gather, build, make tools, eat, drink, "
        f"sleep and stay alive. There are {len(env.contents.achievements)} achievements to unlock; "
        "most need others first. In each step "
        f"{'every player chooses' if others else 'you choose'} one action. The episode ends when "
        f"{end}, or after {env.max_steps} steps.",
        f"Your reward: {'; '.join(parts) or 'none'}.{share if others else ''}",
    ]
    if env.goal:
        lines.append(f"The goal is: {env.goal}. The episode ends as soon as it is reached.")
    return lines


def _life(env: Setting) -> list[str]:
    craft = env.craft
    capacity = ""
    if env.roles != "none":
        capacity = f" (food and drink of a forager {craft.forager_capacity})"
    down = "you die."
    if env.num_players > 1 and env.death == "down":
        down = (
            "you fall down: you can do nothing until another player stands beside you and does you "
            f"(then you rise with {craft.revive_health} health)."
        )
    return [
        f"Health, food, drink and energy go from 0 to {rl.MOST}{capacity}. Food falls by 1 about "
        f"every {craft.hunger + 1} steps, drink every {craft.thirst + 1}, energy every "
        f"{craft.fatigue + 1} while awake; asleep, food and drink fall half as fast. While food, "
        f"drink and energy are all above 0, health rises by 1 every {craft.heal + 1} steps (twice "
        f"as fast asleep). If any of them is 0, health falls by 1 every {craft.harm + 1} steps. At "
        f"health 0 {down}",
    ]


def _seeing(env: Setting) -> list[str]:
    known = [code for code in LETTER if code in env.codes]
    letters = ", ".join(
        f"{LETTER[code]} {NAMES[code] if code != rl.VOID else 'outside the world'}"
        for code in sorted(known)
    )
    return [
        f"You see {COLUMNS} columns and {ROWS} rows of cells, yourself ({YOU}) in the middle. Up "
        "is the top of the map. Places are told from you: '3 right 2 up' is three columns to the "
        "right and two rows up.",
        f"Letters: {letters}; z zombie, k skeleton, c cow, < > ^ v an arrow and where it flies"
        + (", a digit another player." if env.num_players > 1 else "."),
        f"You can walk on {listed([NAMES[code] for code in rl.WALKABLE if code in known])}. "
        "Nothing else can be entered, except lava, which kills at once.",
    ]


def _actions(env: Setting) -> list[str]:
    craft, lines = env.craft, []
    lines.append("0 noop: wait.")
    lines.append(
        "1 move_left, 2 move_right, 3 move_up, 4 move_down: turn that way and, if the cell there "
        "is free, step onto it. If it is not free you only turn to face it."
    )
    lines.append(
        "5 do: use the one cell in front of you, the one that you face. To use a thing, stand "
        "beside it (not diagonally), turn to it by moving against it, then do."
    )
    lines.append(f"6 sleep: see below. Possible below {rl.MOST} energy.")
    places = ", ".join(f"{rl.PLACE + i} place_{name}" for i, name in enumerate(rl.PLACES))
    makes = ", ".join(f"{rl.MAKE + i} make_{name}" for i, name in enumerate(env.contents.makes))
    lines.append(f"{places}: see below.")
    lines.append(f"{makes}: see below.")
    if env.num_players > 1:
        gives = ", ".join(f"{i} give_{name}" for i, name in enumerate(craft.gifts, craft.give))
        asks = ", ".join(f"{i} request_{name}" for i, name in enumerate(craft.gifts, craft.request))
        lines.append(f"{gives}: hand 1 of it to the player in front of you.")
        lines.append(f"{asks}: let everyone see for {craft.request_steps} steps that you need it.")
    lines.append("You hold at most 9 of each item. An action that is not possible does nothing.")
    return lines


def _doing(env: Setting) -> list[str]:
    craft, lines = env.craft, []
    for code, (item, tool, left) in env.contents.collect.items():
        needs = f" (needs {article(spaced(tool))})" if tool else ""
        if code == rl.GRASS:
            who = ", for foragers" if env.roles != "none" else ""
            lines.append(
                f"- grass: with a chance of {craft.sapling_chance:.0%} 1 sapling{who}; the grass "
                "stays. Try again and again."
            )
        elif code == rl.WATER:
            lines.append("- water: 1 drink; the water stays.")
        else:
            lines.append(f"- {NAMES[code]}: 1 {spaced(item)}{needs}; {NAMES[left]} is left there.")
    lines.append(f"- ripe plant: {craft.plant_food} food; a sapling is left, which grows again.")
    who = ", for foragers" if env.roles != "none" else ""
    lines.append(
        f"- cow: hit it until it falls ({craft.cow_health} health); then you have eaten it: "
        f"{craft.cow_food} food{who}."
    )
    hits = ", ".join(
        f"{damage} with {name}"
        for damage, name in zip(
            craft.damage,
            ("bare hands", *(article(spaced(sword)) for sword in env.contents.swords)),
            strict=True,
        )
    )
    lines.append(
        f"- zombie ({craft.zombie_health} health), skeleton ({craft.skeleton_health} health): hit "
        f"it. A hit takes {hits}; your best sword counts by itself."
    )
    if env.num_players > 1:
        if env.death == "down":
            lines.append("- a player who is down: it rises again.")
        if env.friendly_fire:
            lines.append("- a player who is up: you hurt it.")
    for name, (before, after) in rl.JOINT.items():
        if env.has_joint and (env.chart is not None or name == env.joint):
            lines.append(
                f"- {NAMES[before]}: becomes {article(NAMES[after])} when {env.helpers} players do "
                "it in one and the same step."
            )
    return lines


def _placing(env: Setting) -> list[str]:
    craft, lines = env.craft, []
    for name in rl.PLACES:
        item, number = craft.place_cost(name)
        grounds = listed([NAMES[code] for code in craft.place_on(name)], "or")
        what = "sapling" if name == "plant" else name
        who = ", by miners only" if name == "stone" and env.roles != "none" else ""
        lines.append(
            f"- place_{name}: costs {counted(item, number)}; {what} onto free {grounds}{who}."
        )
    lines.append(
        "Stone can be taken back with a pickaxe: bridge water, make lava safe, wall yourself in."
    )
    return lines


def _making(env: Setting) -> list[str]:
    craft, lines = env.craft, []
    for tool in env.contents.makes:
        lines.append(
            f"- make_{tool}: costs {cost(craft, tool)}; needs {stations(craft, tool)} within reach."
        )
    lines.append(
        "Within reach is any of the 8 cells around you. You need not face it, and it is not "
        "used up."
    )
    if env.roles != "none":
        lines.append("Only miners make pickaxes, only warriors make swords.")
    return lines


def _creatures(env: Setting) -> list[str]:
    craft = env.craft
    lines = [
        "- cow: wanders on grass and does no harm.",
        f"- zombie: on grass, many more in the dark; comes to you and, beside you, hits for "
        f"{craft.zombie_damage} ({craft.zombie_damage_asleep} if you sleep), then rests "
        f"{craft.zombie_cooldown} steps. Face it and do, again and again.",
        f"- skeleton: in the dark paths of caves; shoots arrows of {craft.arrow_damage} damage "
        "along rows and columns. Step out of its line, or come close and hit it.",
    ]
    if craft.trampled:
        lines.append("A zombie, skeleton or cow beside a plant destroys it.")
    return lines


def _sleeping(env: Setting) -> list[str]:
    craft = env.craft
    lengths = [str(n) for n in sorted({world.day_length for world in env.worlds})]
    waking = "Waking by being hurt is no achievement."
    if craft.zombie_wakes:
        waking = "Being woken by a zombie counts as wake_up, too, but costs health."
    return [
        f"A day and night take {listed(lengths, 'or')} steps. The lower the light, "
        "the more zombies. Asleep you do nothing, "
        f"energy rises by 1 about every {craft.rest + 1} steps, and you wake once it is {rl.MOST} "
        f"(achievement wake_up), or when you are hurt. {waking}",
        "Before you sleep, wall yourself in: place stone on the free cells left, right, up and "
        "down of you.",
    ]


def _plants(env: Setting) -> list[str]:
    craft = env.craft
    ruin = (
        " Zombies, skeletons and cows beside it destroy it: fence it with stone."
        if craft.trampled
        else ""
    )
    return [
        f"A sapling that you place on grass is ripe after {craft.ripe} steps; then it looks "
        f"different (P) and can be eaten. Unripe it cannot.{ruin} Place one early and come back.",
    ]


def _graph(env: Setting) -> list[str]:
    """The dependency graph, in order of depth."""
    craft = env.craft
    needs, depth = requirements(craft), depths(craft)
    lines = []
    for level in range(1, max(depth.values()) + 1):
        for name in env.contents.achievements:
            if depth[name] != level:
                continue
            before = [spaced(n) for n in needs[name]]
            arrow = f" <- {', '.join(before)}" if before else ""
            lines.append(f"{level}. {spaced(name)}{arrow}")
    return ["(level. achievement <- achievements that come before it)", *lines]


def _others(env: Setting, agent: int) -> list[str]:
    lines = [
        "You always know where the others are, and their health and food. Two players are never in "
        "one cell. Within a step the players act one after the other, and another one begins each "
        "step, so nobody is always first.",
        "To hand something over stand beside the other, turn to it, and give. "
        f"A request is shown to all for {env.craft.request_steps} steps.",
    ]
    if env.roles != "none":
        roles = [f"{name} is a {rl.ROLES[1 + i % 3]}" for i, name in enumerate(env.agents)]
        lines.append(
            f"Roles: {', '.join(roles)}. Only foragers eat cows and plants and collect saplings; "
            "only miners make pickaxes and place stone; only warriors make swords, and they hit "
            f"{env.craft.warrior_damage} times as hard. So share: food, tools, protection."
        )
    if env.death == "down":
        lines.append(
            "A player without health lies down; help it up by doing it, before everyone is down. "
            "Lava kills for good."
        )
    else:
        lines.append("A player without health is dead for good.")
    return lines


def _advice(env: Setting) -> list[str]:
    craft = env.craft
    wood = craft.table_wood + 2
    stone = craft.furnace_stone + 3 + 2 * craft.iron_stone
    return [
        f"1. Collect about {wood} wood from trees, place a table beside the trees, and make a wood "
        "pickaxe and a wood sword there. Try grass in passing for a sapling, and place it.",
        f"2. Find stone (grey hills), collect {stone} or more: for a stone pickaxe and sword (with "
        "2 more wood, at a table), a furnace, walls. Place one stone. Tables are cheap: carry wood "
        "and place a new one where you need it.",
        "3. Mine coal (black dots) and iron (orange dots, near tunnels and caves; it needs the "
        "stone pickaxe). With a table and a furnace both within reach make the iron pickaxe first, "
        f"then the iron sword. Each costs {cost(craft, 'iron_pickaxe')}, so keep wood for both.",
        "4. Diamonds (white) lie deep in the hills, often near lava: look at each cell before you "
        "step, and place stone on lava.",
        "5. Drink whenever water is near and drink is below 7; eat a cow when food is below 6. "
        "Fight zombies face to face. Below 4 energy, or at night, wall yourself in and sleep.",
        "6. If nothing of use is in view, walk in one direction for many steps rather than to and "
        "fro; remember where water, table and plants were.",
    ]


def _answering(env: Setting) -> list[str]:
    return [
        'Name one action, by name ("move_left", "make wood pickaxe"), by number ("5") or by one of '
        'the choices offered, or say what it does now ("collect wood" facing a tree).',
        how_to_answer("move_left"),
    ]
