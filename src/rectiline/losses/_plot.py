"""Draw a loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._curve import PLQCurve

_ARGUMENT = {
    "margin": "margin  t = y z",
    "residual": "residual  t = y - z",
    "prediction": "prediction  t = z",
}


def plot(curve: PLQCurve, title: str, of: str, ax: Any = None) -> Any:
    """Draw ``curve`` from a little left of its first knot to a little right of its last one."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(
                'Plots need matplotlib. Install it with: pip install "rectiline[plots]"'
            ) from error
        _, ax = plt.subplots()
    low, high = float(curve.knots[0]), float(curve.knots[-1])
    # Hinge and the like have a single knot and no width of their own.
    margin = max(high - low, 1.0 if high == low else 0.0, 1e-6 * max(abs(low), abs(high)))
    t = np.union1d(np.linspace(low - margin, high + margin, 401), curve.knots)
    ax.plot(t, curve.value(t))
    ax.plot(curve.knots, curve.values, linestyle="none", marker="o", markersize=4)
    ax.set_xlabel(_ARGUMENT[of])
    ax.set_ylabel("loss")
    ax.set_title(title)
    return ax
