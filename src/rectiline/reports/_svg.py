"""Pictures of the HTML report: what matplotlib draws, as inline SVG in the colours of the page."""

from __future__ import annotations

import io
from collections.abc import Callable

_INCHES = (5.8, 2.6)
# Colours of matplotlib, and the variables of the page that stand for them.
_COLOURS = {"#1b1f24": "ink", "#c9d1d9": "line", "#0b63c5": "mark", "#b3421b": "minus"}
_INK, _LINE, _MARK, _MINUS = _COLOURS
_STYLE = {
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _INK,
    "axes.prop_cycle": f"cycler('color', ['{_MARK}', '{_MINUS}'])",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "legend.frameon": False,
    "patch.facecolor": _MARK,
    "svg.fonttype": "none",
    "svg.hashsalt": "rectiline",
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}


def picture(draw: Callable[..., object], inches: tuple[float, float] = _INCHES) -> str:
    """Return what a function draws on axes; a sentence if matplotlib is not installed."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        return '<p>Pictures need matplotlib: pip install matplotlib (the extra "plots").</p>'
    file = io.StringIO()
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=inches, layout="constrained")
        draw(ax=figure.subplots())
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", transparent=True, metadata=nothing)
    text = file.getvalue()
    for colour, name in _COLOURS.items():
        text = text.replace(colour, f"var(--{name})")
    return text[text.index("<svg") :]
