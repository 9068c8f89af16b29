"""Errors and warnings of the library."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import ConvergenceWarning

__all__ = ["ConvergenceWarning", "InfeasibleError", "NoAnswerError", "UnsupportedProblemError"]


class UnsupportedProblemError(ValueError):
    """Raised when the chosen solver cannot take a problem; the message says why and what can."""


class NoAnswerError(RuntimeError):
    """Raised when a time limit or a callback ends a solve before any answer is known."""


class InfeasibleError(ValueError):
    """Raised when no coefficients satisfy the constraints.

    Attributes
    ----------
    certificate : InfeasibilityCertificate or None
        Multipliers that prove it, see `rectiline.problems.InfeasibilityCertificate`; None if the
        message names two bounds of one column, which are proof enough.
    """

    def __init__(self, message: str, certificate: Any = None) -> None:
        super().__init__(message)
        self.certificate = certificate
