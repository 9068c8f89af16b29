"""Solvers of multi-task problems with a shared subspace."""

from rectiline.solvers.multitask._drive import SOLVERS, MultiTaskSolution, solve_multitask
from rectiline.solvers.multitask._round import Rounded, round_solution, shared_directions

__all__ = [
    "SOLVERS",
    "MultiTaskSolution",
    "Rounded",
    "round_solution",
    "shared_directions",
    "solve_multitask",
]
