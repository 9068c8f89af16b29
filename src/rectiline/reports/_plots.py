"""Where displays draw; matplotlib is imported when first needed."""

from __future__ import annotations

from typing import Any

__all__ = ["axes"]


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
    return plt.subplots(ncols=n_columns)[1]
