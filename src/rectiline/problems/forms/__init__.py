"""Canonical forms: what solvers see of a problem."""

from rectiline.problems.forms._base import Form
from rectiline.problems.forms._composite import CompositeForm
from rectiline.problems.forms._epigraph import Epigraph, EpigraphForm
from rectiline.problems.forms._linear_program import Levels, LinearProgramForm
from rectiline.problems.forms._rectified import FormPoint, RectifiedForm
from rectiline.problems.forms._reduced import ReducedForm

__all__ = [
    "CompositeForm",
    "Epigraph",
    "EpigraphForm",
    "Form",
    "FormPoint",
    "Levels",
    "LinearProgramForm",
    "RectifiedForm",
    "ReducedForm",
]
