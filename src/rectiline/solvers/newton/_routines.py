"""Hand SciPy's Cholesky and symmetric product to the compiled core; `_model.py` does it on import.

SciPy exports the Fortran routines it is built on as capsules, each named after the C type of its
function. The core takes them if they have the type it calls, with 32-bit integers, and keeps its
own loops otherwise.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rectiline import _core

__all__ = ["take_routines"]


def take_routines() -> bool:
    """Use SciPy's routines if they can be used; return whether."""
    try:
        lapack: dict[str, Any] = import_module("scipy.linalg.cython_lapack").__pyx_capi__
        blas: dict[str, Any] = import_module("scipy.linalg.cython_blas").__pyx_capi__
        _core.use_dense_routines(lapack["dpotrf"], lapack["dpotrs"], blas["dsyrk"])
    except (ImportError, AttributeError, KeyError, ValueError):
        return False
    return True
