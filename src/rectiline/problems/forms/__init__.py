"""Canonical forms: what solvers see of a problem, and of the tasks of a multi-task problem."""

from rectiline.problems._samples import Samples, curve_arrays
from rectiline.problems._task import Pieces, Places, Task
from rectiline.problems.forms._base import Form, FormPoint, ProblemForm
from rectiline.problems.forms._composite import CompositeForm, LinearProgramForm
from rectiline.problems.forms._epigraph import EpigraphForm, Levels
from rectiline.problems.forms._rectified import RectifiedForm, ReducedForm
from rectiline.problems.forms._units import LossUnits, shapes_of

__all__ = [
    "CompositeForm",
    "EpigraphForm",
    "Form",
    "FormPoint",
    "Levels",
    "LinearProgramForm",
    "LossUnits",
    "Pieces",
    "Places",
    "ProblemForm",
    "RectifiedForm",
    "ReducedForm",
    "Samples",
    "Task",
    "curve_arrays",
    "shapes_of",
]
