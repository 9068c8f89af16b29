"""Axes for the displays; matplotlib is imported when it is first needed."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

__all__ = ["axes", "fitted", "short"]

_LONGEST = 32  # characters of a legend entry that leave room for the curves


def fitted(estimator: Any, attribute: str, needed: str) -> Any:
    """Return a fitted attribute of an estimator; `needed` says which estimators have it."""
    check_is_fitted(estimator)
    if not hasattr(estimator, attribute):
        raise TypeError(f"estimator must be {needed}; got {type(estimator).__name__}.")
    return getattr(estimator, attribute)


def short(label: Any) -> str:
    """Return a label cut to what fits into a legend."""
    text = str(label)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def axes(ax: Any = None, n_columns: int = 1) -> Any:
    """Return the axes to draw on, new ones if none are given."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'Plots need matplotlib. Install it with: pip install "rectiline[plots]"'
        ) from error
    if ax is not None:
        return ax
    return plt.subplots(ncols=n_columns, layout="constrained")[1]
