"""One small adapter per solver. `get` looks a solver up by its name in a case.

Ours are ``rectiline`` and, for a named solver, ``rectiline:newton``.
Modules are imported on demand, so a missing package only skips its own adapter.
"""

from __future__ import annotations

from importlib import import_module

from ._base import Answer, Rival

_WHERE = {
    "rectiline-quantile": ("estimators", "RectilineQuantile"),
    "rehline": ("rehline", "ReHLine"),
    "rehline-plain": ("rehline", "ReHLinePlain"),
    "liblinear": ("liblinear", "Liblinear"),
    "liblinear-primal": ("liblinear", "LiblinearPrimal"),
    "snapml": ("snapml", "SnapML"),
    "skglm": ("skglm", "Skglm"),
    "statsmodels": ("statsmodels", "StatsmodelsQuantReg"),
    "pyfixest": ("pyfixest", "PyfixestFrischNewton"),
    "sklearn-quantile": ("sklearn_linear", "SklearnQuantile"),
    "sgd": ("sklearn_linear", "SklearnSGD"),
    "clarabel": ("clarabel", "Clarabel"),
    "cvxpy": ("cvxpy", "Cvxpy"),
    "piqp": ("piqp", "PIQP"),
    "osqp": ("osqp", "OSQP"),
    "highs": ("highs", "HiGHS"),
    "highs-primal": ("highs_written", "HiGHSPrimal"),
    "highs-groups": ("highs_written", "HiGHSGroups"),
}

NAMES = ("rectiline", *_WHERE)


def get(name: str) -> Rival:
    """The adapter called ``name``; raises ``KeyError`` with the known names."""
    if name.split(":")[0] == "rectiline":
        from .rectiline import Rectiline

        return Rectiline(name)
    if name not in _WHERE:
        raise KeyError(f"solver {name!r}: known are {', '.join(NAMES)}")
    module, attribute = _WHERE[name]
    adapter: Rival = getattr(import_module(f".{module}", __name__), attribute)()
    adapter.name = name
    return adapter


__all__ = ["NAMES", "Answer", "Rival", "get"]
