"""The convex program and what can be proved about a point."""

from rectiline.problems._between import BetweenPair, certify_between, shares_between
from rectiline.problems._certificate import Certificate, DualPoint, InfeasibilityCertificate
from rectiline.problems._judged import JudgedPairs, can_judge
from rectiline.problems._many import certify_all, judge_all, predict_all
from rectiline.problems._multitask import MultiTaskProblem
from rectiline.problems._problem import Problem
from rectiline.problems._saved import save_infeasibility, save_optimality
from rectiline.problems._slopes import (
    SlopeMultipliers,
    certify_slopes,
    gather_slopes,
    judge_slopes,
)
from rectiline.problems._span import certify_span

__all__ = [
    "BetweenPair",
    "Certificate",
    "DualPoint",
    "InfeasibilityCertificate",
    "JudgedPairs",
    "MultiTaskProblem",
    "Problem",
    "SlopeMultipliers",
    "can_judge",
    "certify_all",
    "certify_between",
    "certify_slopes",
    "certify_span",
    "gather_slopes",
    "judge_all",
    "judge_slopes",
    "predict_all",
    "save_infeasibility",
    "save_optimality",
    "shares_between",
]
