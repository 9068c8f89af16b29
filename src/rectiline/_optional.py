"""Packages that only some features need, imported when they do."""

from __future__ import annotations

import sys
from typing import Any

_EXTRAS = {"formulaic": "formula", "matplotlib": "plots", "pyarrow": "arrow", "torch": "gpu"}


def optional(module: str, purpose: str) -> Any:
    """Return a module, or raise an error that says what it is for and how to install it.

    >>> optional("numpy.linalg", "Norms need NumPy").__name__
    'numpy.linalg'
    """
    package = module.partition(".")[0]
    try:
        __import__(module)
    except ImportError as error:
        extra = f' (the extra "{_EXTRAS[package]}")' if package in _EXTRAS else ""
        raise ImportError(f"{purpose}: pip install {package}{extra}.") from error
    return sys.modules[module]
