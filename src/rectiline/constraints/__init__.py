"""Constraints restrict the coefficients; each is written as linear rows and bounds."""

from rectiline.constraints._base import Constraint
from rectiline.constraints._base import DesignLike as DesignLike
from rectiline.constraints._bounds import Box, Nonnegative
from rectiline.constraints._fairness import Fairness
from rectiline.constraints._linear import LinearConstraint, LinearEquality, LinearInequality
from rectiline.constraints._monotone import Monotone
from rectiline.constraints._named import named_constraints as named_constraints
from rectiline.constraints._parity import DemographicParity, EqualOpportunity
from rectiline.constraints._rows import ConstraintRows
from rectiline.constraints._rows import combine as combine

__all__ = [
    "Box",
    "Constraint",
    "ConstraintRows",
    "DemographicParity",
    "EqualOpportunity",
    "Fairness",
    "LinearConstraint",
    "LinearEquality",
    "LinearInequality",
    "Monotone",
    "Nonnegative",
]
