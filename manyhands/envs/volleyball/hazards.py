"""What `randomise` does to bodies, flight and sight, in the words of the rule book."""

from __future__ import annotations

from collections.abc import Mapping

# What an episode draws of the bodies, in words: factors, and values with their units.
_FACTORS = {
    "mass": "mass of the drones",
    "inertia": "inertia",
    "thrust": "greatest thrust",
    "moment": "turning moment of the rotors",
    "lag": "lag of the motors",
    "ball_mass": "mass of the ball",
}
_VALUES = {
    "drag": ("drag of the drones", "kg/s"),
    "restitution": ("share of its speed that a bounce gives back to the ball", ""),
}
_ERRORS = {
    "position_noise": ("positions", "m"),
    "attitude_noise": ("attitudes", "rad"),
    "velocity_noise": ("velocities", "m/s"),
    "rate_noise": ("rates of turning", "rad/s"),
}


def hazards(
    ranges: Mapping[str, tuple[float, float]], ball: str, others: str = "the others and the ball"
) -> list[str]:
    """Lines of the rules; empty where nothing blows, pushes or hides. `ball` is the kind of ball,
    "" where there is none; `others` is what an agent may lose sight of."""

    def span(name: str, unit: str) -> str:
        low, high = ranges[name]
        ends = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        if ends == "1" and unit in ("steps", "times"):
            unit = unit.removesuffix("s")
        return f"{ends} {unit}".strip()

    lines = []
    drawn = [f"{word} ({span(name, 'times')})" for name, word in _FACTORS.items() if name in ranges]
    drawn += [
        f"{word} ({span(name, unit)})" for name, (word, unit) in _VALUES.items() if name in ranges
    ]
    if drawn:
        lines.append(f"Drawn anew for each episode, and told to nobody: {', '.join(drawn)}.")
    if "wind" in ranges or "gusts" in ranges:
        parts = []
        if "wind" in ranges:
            parts.append(f"a level wind of {span('wind', 'm/s')} from one side all the time")
        if "gusts" in ranges:
            parts.append(
                f"gusts of {span('gusts', 'm/s')} (one standard deviation, along each axis) that "
                "last about a second"
            )
        felt = "Drones and ball feel it" if ball == "real" else "Drones feel it, the ball does not"
        felt = felt if ball else "Drones feel it"
        lines.append(f"The air moves: {' and '.join(parts)}. {felt}; nothing measures it.")
    if "push" in ranges:
        lines.append(
            f"Each drone is pushed by chance, {span('push_rate', 'times')} a second, with "
            f"{span('push', 'N s')} in any direction."
        )
    if "lag_rise" in ranges or "lag_fall" in ranges:
        parts = [
            f"{span(name, 's')} to {verb}"
            for name, verb in (("lag_rise", "gain thrust"), ("lag_fall", "lose it"))
            if name in ranges
        ]
        lines.append(f"The motors' time constants: {', '.join(parts)}.")
    if "ground_effect" in ranges:
        lines.append("Rotors give more thrust close to the floor.")
    if "dropout" in ranges:
        lines.append(
            f"In a share of {span('dropout', '')} of the steps you see {others} as you saw "
            "them last; yourself you always see."
        )
    if "action_delay" in ranges:
        lines.append(f"Your actions take effect {span('action_delay', 'steps')} late.")
    if "sensor_delay" in ranges:
        lines.append(f"What you see is {span('sensor_delay', 'steps')} old.")
    errors = [
        f"{word} by {span(name, unit)}" for name, (word, unit) in _ERRORS.items() if name in ranges
    ]
    if errors:
        lines.append(f"Sensors err (one standard deviation): {', '.join(errors)}.")
    return lines
