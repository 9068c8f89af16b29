"""Hand SciPy's Cholesky and symmetric product to the compiled core.

SciPy exports the Fortran routines it is built on for use from compiled code. The core calls them
with 32-bit integers; where an export is missing or has another shape, it keeps its own loops.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rectiline import _core

__all__ = ["take_routines"]

_ARGUMENTS = (5, 8, 10)  # of potrf, potrs and syrk


def take_routines() -> bool:
    """Use SciPy's routines if they can be used; return whether."""
    try:
        lapack: dict[str, Any] = import_module("scipy.linalg.cython_lapack").__pyx_capi__
        blas: dict[str, Any] = import_module("scipy.linalg.cython_blas").__pyx_capi__
        double, single = (
            (lapack[f"{kind}potrf"], lapack[f"{kind}potrs"], blas[f"{kind}syrk"]) for kind in "ds"
        )
    except (ImportError, AttributeError, KeyError):
        return False
    for capsule, count in zip(double + single, _ARGUMENTS * 2, strict=True):
        signature = repr(capsule)  # <capsule object "void (char *, int *, ...)" at ...>
        if signature.count("*") != count or "int *" not in signature:
            return False
    _core.use_dense_routines(*double)
    _core.use_single_routines(*single)
    return True
