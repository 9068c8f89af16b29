"""Solvers of multi-task problems with a shared subspace."""

from rectiline.solvers.multitask._drive import SOLVERS, MultiTaskSolution, solve_multitask

__all__ = ["SOLVERS", "MultiTaskSolution", "solve_multitask"]
