"""How a form is solved."""

from rectiline.solvers._base import (
    Callback,
    Candidate,
    PathFollower,
    Progress,
    Session,
    Solver,
)
from rectiline.solvers._drive import solve
from rectiline.solvers._family import check_takes_rows, solve_family
from rectiline.solvers._names import check_name
from rectiline.solvers._polish import central_intercept
from rectiline.solvers._show import GapProgress, ProgressBar, ReportingCallback, progress_line
from rectiline.solvers._solution import Solution
from rectiline.solvers._status import Status
from rectiline.solvers._threads import limited_threads, one_thread
from rectiline.solvers.generation import Generation
from rectiline.solvers.interior import Interior
from rectiline.solvers.multitask import MultiTaskSolution, round_solution, solve_multitask
from rectiline.solvers.newton import KinkedFollower, Newton, NewtonFollower, ReducedNewton
from rectiline.solvers.rehline import Rehline
from rectiline.solvers.rows import RowSample, draw_rows

__all__ = [
    "Callback",
    "Candidate",
    "GapProgress",
    "Generation",
    "Interior",
    "KinkedFollower",
    "MultiTaskSolution",
    "Newton",
    "NewtonFollower",
    "PathFollower",
    "Progress",
    "ProgressBar",
    "ReducedNewton",
    "Rehline",
    "ReportingCallback",
    "RowSample",
    "Session",
    "Solution",
    "Solver",
    "Status",
    "central_intercept",
    "check_name",
    "check_takes_rows",
    "draw_rows",
    "limited_threads",
    "one_thread",
    "progress_line",
    "round_solution",
    "solve",
    "solve_family",
    "solve_multitask",
]
