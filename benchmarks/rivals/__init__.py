"""One small adapter per solver. `get` looks a solver up by its name in a case.

Ours are ``rectiline`` and, for a named solver, ``rectiline:newton``.
Packages are imported on demand, so a missing one only skips its own adapter.
"""

from __future__ import annotations

from . import ours, packages, programs
from ._base import MARGIN, Answer, Rival

_CLASSES: dict[str, type[Rival]] = {
    "rectiline-classifier": ours.RectilineClassifier,
    "rectiline-quantile": ours.RectilineQuantile,
    "rehline": packages.ReHLine,
    "rehline-plain": packages.ReHLinePlain,
    "liblinear": packages.Liblinear,
    "liblinear-primal": packages.LiblinearPrimal,
    "snapml": packages.SnapML,
    "skglm": packages.Skglm,
    "statsmodels": packages.StatsmodelsQuantReg,
    "pyfixest": packages.PyfixestFrischNewton,
    "sklearn-quantile": packages.SklearnQuantile,
    "sgd": packages.SklearnSGD,
    "cvxpy": packages.Cvxpy,
    "clarabel": programs.Clarabel,
    "piqp": programs.PIQP,
    "osqp": programs.OSQP,
    "highs": programs.HiGHS,
    "highs-primal": programs.HiGHSPrimal,
    "highs-groups": programs.HiGHSGroups,
}

NAMES = ("rectiline", *_CLASSES)


def get(name: str) -> Rival:
    """The adapter called ``name``; raises ``KeyError`` with the known names."""
    if name.split(":")[0] == "rectiline":
        return ours.Rectiline(name)
    if name not in _CLASSES:
        raise KeyError(f"solver {name!r}: known are {', '.join(NAMES)}")
    return _CLASSES[name]()


__all__ = ["MARGIN", "NAMES", "Answer", "Rival", "get"]
