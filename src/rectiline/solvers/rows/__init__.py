"""The solver `passes`: it skips rows that are far from every knot of their loss."""

from rectiline.solvers.rows._draw import RowSample, draw_rows
from rectiline.solvers.rows._resume import Checkpoint, evaluated_answers
from rectiline.solvers.rows.solver import EvaluatedInPasses, RowGroup, Rows, RowsTrial

__all__ = [
    "Checkpoint",
    "EvaluatedInPasses",
    "RowGroup",
    "RowSample",
    "Rows",
    "RowsTrial",
    "draw_rows",
    "evaluated_answers",
]
