"""Turn a curve into ReLU and ReHU units, for `Loss.units`.

Walk outwards from the minimiser t0, which is a knot of a canonical curve. To the right, at each
knot t_k the jump J of the slope (at t0 the whole right slope) is the unit relu(J (t - t_k)), and a
piece of curvature a that starts at t_k is rehu_tau(sqrt(a) (t - t_k)) with tau = sqrt(a) times its
length. To the left the same in a mirror. What remains is the least value, the constant.
"""

from __future__ import annotations

import numpy as np

from ._curve import PLQCurve
from ._units import PLQUnits


def decompose(curve: PLQCurve) -> PLQUnits:
    """Write ``curve`` as a constant plus ReLU and ReHU units, none of them redundant.

    Units are sorted outwards from the minimiser, those to its right first, so that no two curved
    stretches overlap. A function unbounded below raises ValueError.

    Parameters
    ----------
    curve : PLQCurve
        ``loss.curve`` of any loss.

    Returns
    -------
    PLQUnits

    Examples
    --------
    >>> from rectiline.losses import Huber, decompose
    >>> units = decompose(Huber(delta=2.0).curve)
    >>> units.rehu_s, units.rehu_t, units.rehu_tau
    (array([ 1., -1.]), array([0., 0.]), array([2., 2.]))
    """
    curve = curve.canonical()
    at, constant = curve.minimum()
    m = int(np.searchsorted(curve.knots, at))
    relu: list[tuple[float, float]] = []
    rehu: list[tuple[float, float, float]] = []
    for sign in (1.0, -1.0):
        if sign > 0:
            knots, inner, outer = curve.knots[m:], curve.left[m:], curve.right[m:]
            curvature = curve.curvature[m + 1 :]
        else:
            knots, inner, outer = (v[m::-1] for v in (curve.knots, -curve.right, -curve.left))
            curvature = curve.curvature[m::-1]
        # Half of what the kink at the minimiser turns is ours: the slope outwards from level.
        jumps = outer - inner
        jumps[0] = max(outer[0], 0.0)
        lengths = np.append(np.abs(np.diff(knots)), np.inf)
        before = 0.0
        for knot, jump, bend, length in zip(knots, jumps, curvature, lengths):
            if jump > 0:
                relu.append((sign * jump, -sign * jump * knot))
            s = float(np.sqrt(bend))
            if bend > 0 and abs(bend - before) <= 1e-14 * bend:  # a kink in a curved stretch
                rehu[-1] = (*rehu[-1][:2], rehu[-1][2] + s * length)
            elif bend > 0:
                rehu.append((sign * s, -sign * s * knot, s * length))
            before = bend
    u, v = np.array(relu).reshape(-1, 2).T
    s_, t_, tau = np.array(rehu).reshape(-1, 3).T
    return PLQUnits(u, v, s_, t_, tau, constant)
