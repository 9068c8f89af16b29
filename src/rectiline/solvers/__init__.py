"""How a form is solved."""

from rectiline.solvers._base import Progress, Solution, Solver, Status
from rectiline.solvers._drive import solve
from rectiline.solvers.rehline import Rehline

__all__ = ["Progress", "Rehline", "Solution", "Solver", "Status", "solve"]
