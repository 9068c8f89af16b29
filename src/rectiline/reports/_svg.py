"""Small plots as inline SVG that follow the colours of the page; used by the HTML report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from rectiline._typing import Vector

__all__ = ["bars", "histogram", "line"]

_WIDTH, _HEIGHT = 560, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 12, 12, 40


def line(
    x: Sequence[float] | Vector,
    y: Sequence[float] | Vector,
    labels: tuple[str, str],
    log: bool = False,
    dots: bool = False,
) -> str:
    """Return a curve; `log`: the vertical axis shows powers of ten, and values must be positive."""
    across = np.asarray(x, dtype=np.float64)
    values = np.asarray(y, dtype=np.float64)
    up = np.log10(values) if log else values
    frame = _Frame(across, up, labels, log)
    points = " ".join(f"{frame.x(a):.1f},{frame.y(b):.1f}" for a, b in zip(across, up, strict=True))
    marks = "".join(
        f'<circle cx="{frame.x(a):.1f}" cy="{frame.y(b):.1f}" r="3" class="mark"/>'
        for a, b in zip(across, up, strict=True)
        if dots
    )
    return frame.svg(f'<polyline points="{points}" class="curve"/>{marks}')


def histogram(values: Vector, labels: tuple[str, str], bins: int = 40) -> str:
    """Return a histogram of finite values."""
    counts, edges = np.histogram(values, bins=bins)
    frame = _Frame(edges, np.append(counts, 0).astype(np.float64), labels, False)
    boxes = "".join(
        f'<rect x="{frame.x(a):.1f}" y="{frame.y(c):.1f}" class="bar" '
        f'width="{max(frame.x(b) - frame.x(a) - 1, 0.5):.1f}" '
        f'height="{frame.y(0.0) - frame.y(c):.1f}"/>'
        for a, b, c in zip(edges[:-1], edges[1:], counts, strict=True)
    )
    return frame.svg(boxes)


def bars(names: Sequence[str], values: Vector) -> str:
    """Return horizontal bars around zero, one for each name."""
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    step, middle = 20, 360
    rows = []
    for k, (name, value) in enumerate(zip(names, values, strict=True)):
        length = 180 * abs(value) / size
        start = middle if value >= 0 else middle - length
        shown = name if len(name) <= 24 else name[:23] + "…"
        rows.append(
            f'<text x="170" y="{k * step + 14}" text-anchor="end">{escape(shown)}</text>'
            f'<rect x="{start:.1f}" y="{k * step + 4}" width="{length:.1f}" height="12" '
            f'class="{"bar" if value >= 0 else "bar negative"}"><title>{escape(name)}: '
            f"{value:.6g}</title></rect>"
        )
    height = step * len(values) + 4
    axis = f'<line x1="{middle}" y1="0" x2="{middle}" y2="{height}" class="axis"/>'
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img">{axis}{"".join(rows)}</svg>'


class _Frame:
    """Axes with ticks, and the map from numbers to places."""

    def __init__(self, x: Vector, y: Vector, labels: tuple[str, str], log: bool) -> None:
        self._x, self._y = _range(x), _range(y)
        if log:
            self._y = (math.floor(self._y[0]), math.ceil(self._y[1]))
        self._labels, self._log = labels, log

    def x(self, value: float) -> float:
        low, high = self._x
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        low, high = self._y
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (value - low) / (high - low)

    def svg(self, content: str) -> str:
        """Return the drawing with axes around it."""
        bottom, parts = _HEIGHT - _BOTTOM, [content]
        parts.append(f'<path d="M{_LEFT} {_TOP}V{bottom}H{_WIDTH - _RIGHT}" class="axis"/>')
        for value in _ticks(*self._x):
            at = self.x(value)
            parts.append(
                f'<text x="{at:.1f}" y="{bottom + 16}" text-anchor="middle">{value:.4g}</text>'
            )
        for value in _ticks(*self._y, whole=self._log):
            shown = f"1e{value:.0f}" if self._log else f"{value:.4g}"
            at = self.y(value) + 4
            parts.append(f'<text x="{_LEFT - 6}" y="{at:.1f}" text-anchor="end">{shown}</text>')
        across, up = (escape(one) for one in self._labels)
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        parts.append(f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{across}</text>')
        parts.append(
            f'<text transform="translate(12 {(_TOP + bottom) / 2}) rotate(-90)" '
            f'text-anchor="middle">{up}</text>'
        )
        return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{"".join(parts)}</svg>'


def _range(values: Vector) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    if low == high:
        pad = abs(low) or 1.0
        return low - 0.5 * pad, high + 0.5 * pad
    return low, high


def _ticks(low: float, high: float, whole: bool = False) -> list[float]:
    """Return a few round numbers between two others."""
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (f * step) <= 6)
    if whole:
        step = max(1.0, math.ceil(step))
    first = math.ceil(low / step)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
