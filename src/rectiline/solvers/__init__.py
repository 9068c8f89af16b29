"""Solvers: `solve`, its answer, and the classes whose fields are the options of each solver."""

from rectiline.solvers._arguments import check_name as check_name
from rectiline.solvers._arguments import checked_limits as checked_limits
from rectiline.solvers._base import Callback, Progress, Solver
from rectiline.solvers._base import Candidate as Candidate
from rectiline.solvers._base import PathFollower as PathFollower
from rectiline.solvers._base import Session as Session
from rectiline.solvers._drive import solve
from rectiline.solvers._family import check_takes_rows as check_takes_rows
from rectiline.solvers._family import solve_family
from rectiline.solvers._polish import central_intercept as central_intercept
from rectiline.solvers._show import GapProgress as GapProgress
from rectiline.solvers._show import ProgressBar as ProgressBar
from rectiline.solvers._show import ReportingCallback as ReportingCallback
from rectiline.solvers._show import progress_line as progress_line
from rectiline.solvers._solution import Solution
from rectiline.solvers._status import Status
from rectiline.solvers._threads import limited_threads as limited_threads
from rectiline.solvers._threads import one_thread as one_thread
from rectiline.solvers.generation import Generation
from rectiline.solvers.interior import Interior
from rectiline.solvers.multitask import MultiTaskSolution, solve_multitask
from rectiline.solvers.multitask import round_solution as round_solution
from rectiline.solvers.newton import KinkedFollower as KinkedFollower
from rectiline.solvers.newton import Newton, ReducedNewton
from rectiline.solvers.newton import NewtonFollower as NewtonFollower
from rectiline.solvers.rehline import Rehline
from rectiline.solvers.rows._draw import RowSample as RowSample
from rectiline.solvers.rows._draw import draw_rows as draw_rows

__all__ = [
    "Callback",
    "Generation",
    "Interior",
    "MultiTaskSolution",
    "Newton",
    "Progress",
    "ReducedNewton",
    "Rehline",
    "Solution",
    "Solver",
    "Status",
    "solve",
    "solve_family",
    "solve_multitask",
]
