"""Draw a loss; `Loss.plot` and the displays of losses use it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from rectiline._optional import optional

from ._curve import PLQCurve

_ARGUMENT = {
    "margin": "margin  t = y z",
    "residual": "residual  t = y - z",
    "prediction": "prediction  t = z",
}
_TITLE_CHARACTERS = 60  # characters of a title that fit above axes of the usual size
_TITLE_LINES = 3


def plot(
    curve: PLQCurve, title: str, of: str, ax: Any, label: str | None, style: Mapping[str, Any]
) -> Any:
    """Draw ``curve`` from a little left of its first knot to a little right of its last one."""
    if ax is None:
        pyplot = optional("matplotlib.pyplot", "Plots need matplotlib")
        _, ax = pyplot.subplots(layout="constrained")
    low, high = float(curve.knots[0]), float(curve.knots[-1])
    # Hinge and the like have a single knot and no width of their own.
    margin = max(high - low, 1.0 if high == low else 0.0, 1e-6 * max(abs(low), abs(high)))
    t = np.union1d(np.linspace(low - margin, high + margin, 401), curve.knots)
    (line,) = ax.plot(t, curve.value(t), **({} if label is None else {"label": label}), **style)
    ax.plot(
        curve.knots,
        curve.values,
        linestyle="none",
        marker="o",
        markersize=4,
        color=line.get_color(),
    )
    lines = textwrap.wrap(title, _TITLE_CHARACTERS, max_lines=_TITLE_LINES, placeholder=" ...")
    ax.set(xlabel=_ARGUMENT[of], ylabel="loss", title="\n".join(lines))
    if label is not None:
        ax.legend()
    return ax
