"""Exact game theory of small games: values, best responses, CFR, and the judgement of players
and records."""

from manyhands.baselines.game_theory.analysis import (
    Analysis,
    SeatReport,
    Share,
    analyse,
    dominated,
    equilibrium,
)
from manyhands.baselines.game_theory.cfr import ALGORITHMS, Solution, Solver, plot, solve
from manyhands.baselines.game_theory.judging import Chance, Judgement, judge
from manyhands.baselines.game_theory.policies import (
    TablePolicy,
    as_policy,
    average,
    best_response,
    expected_values,
    exploitability,
    from_counts,
    kuhn_equilibrium,
    nash_conv,
    one_hand,
    tabulate,
    tree_of,
    uniform,
)
from manyhands.baselines.game_theory.tree import Tree, unroll

__all__ = [
    "ALGORITHMS",
    "Analysis",
    "Chance",
    "Judgement",
    "SeatReport",
    "Share",
    "Solution",
    "Solver",
    "TablePolicy",
    "Tree",
    "analyse",
    "as_policy",
    "average",
    "best_response",
    "dominated",
    "equilibrium",
    "expected_values",
    "exploitability",
    "from_counts",
    "judge",
    "kuhn_equilibrium",
    "nash_conv",
    "one_hand",
    "plot",
    "solve",
    "tabulate",
    "tree_of",
    "uniform",
    "unroll",
]
