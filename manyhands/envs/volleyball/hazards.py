"""What `randomise` does to flight and sight, in the words of the rule book."""

from __future__ import annotations

from collections.abc import Mapping


def hazards(ranges: Mapping[str, tuple[float, float]], ball: str) -> list[str]:
    """Lines of the rules; empty where nothing blows, pushes or hides. `ball` is the kind of ball,
    "" where there is none."""

    def span(name: str, unit: str) -> str:
        low, high = ranges[name]
        ends = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        return f"{ends} {unit}".strip()

    lines = []
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
            f"In a share of {span('dropout', '')} of the steps you see the others and the ball as "
            "you saw them last; yourself you always see."
        )
    return lines
