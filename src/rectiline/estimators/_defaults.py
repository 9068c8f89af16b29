"""Default parameters of regressions that follow the unit of y: `delta`, `epsilon` and `C`.

Let s be the robust scale of the residuals (`scale_`) of a first fit by absolute errors, whose weak
ridge is relative to the spread of y itself. Then

    delta = 1.345 s        95 % efficiency at normal errors (Huber 1981)
    epsilon = 0.1 s        the usual 0.1 of support vector regression, for errors of size one
    C = penalty(u) / (d loss(s)),   u_j = s / (sqrt(d) spread of column j)

The coefficients u move predictions as much as the residuals vary, all d columns together. Their
penalty equals the loss of d residuals that lie a distance s beyond the loss's minimisers. For the
squared error and ridge that is the prior under which columns and noise explain equally much. The
L1 norm of an elastic net counts s times, so that both of its terms are squares of the unit of y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.estimators._parameters import make_loss
from rectiline.losses import Absolute, EpsilonInsensitive, Huber, Loss, SquaredEpsilonInsensitive
from rectiline.penalties import ElasticNet, Penalty, Ridge

Vector = NDArray[np.float64]

__all__ = ["RelativeLoss", "auto_C", "first_fit", "in_unit", "read_loss", "width_of"]

_LEAST, _MOST = 1e-150, 1e150  # of C


@dataclass(frozen=True)
class RelativeLoss:
    """A loss whose width is a multiple of the scale of the residuals."""

    kind: type[Loss]
    parameter: str
    multiple: float

    def at(self, scale: float) -> Loss:
        """Return the loss for residuals of this scale."""
        return self.kind(**{self.parameter: self.multiple * scale})


_RELATIVE = {
    kind.name: RelativeLoss(kind, parameter, multiple)
    for kind, parameter, multiple in (
        (Huber, "delta", 1.345),
        (EpsilonInsensitive, "epsilon", 0.1),
        (SquaredEpsilonInsensitive, "epsilon", 0.1),
    )
}


def read_loss(loss: Any, params: Mapping[str, Any] | None) -> Loss | RelativeLoss:
    """Return the loss of a regressor, relative if its width is "auto" or not given."""
    relative = _RELATIVE.get(loss) if isinstance(loss, str) else None
    if relative is not None and (params or {}).get(relative.parameter, "auto") == "auto":
        others = {key: value for key, value in (params or {}).items() if key != relative.parameter}
        make_loss(loss, others, of=("residual",))  # names parameters that do not exist
        return relative
    return make_loss(loss, params, of=("residual",))


def width_of(losses: list[Loss]) -> tuple[str, Vector] | None:
    """Return the name and the values of the width parameter, for losses that have one."""
    relative = _RELATIVE.get(losses[0].name)
    if relative is None:
        return None
    return relative.parameter, np.array([getattr(one, relative.parameter) for one in losses])


def first_fit(scale: float, spreads: Vector) -> tuple[Loss, Penalty | None]:
    """Return loss and penalty of the fit whose residuals give the scale.

    `scale` is that of the targets. The penalty is divided by the C of the formula above.
    """
    loss = Absolute()
    return loss, Ridge(1.0 / auto_C(Ridge(1.0), loss, scale, spreads))


def in_unit(penalty: Penalty | None, scale: float) -> Penalty | None:
    """Return the penalty with terms of one unit: an elastic net's L1 norm counts `scale` times.

    >>> from rectiline.penalties import ElasticNet
    >>> in_unit(ElasticNet(l1=0.5, l2=0.5), 10.0)
    ElasticNet(l1=5.0, l2=0.5)
    """
    if not isinstance(penalty, ElasticNet) or penalty.l2 == 0.0:
        return penalty
    l1 = float(np.clip(scale * penalty.l1, _LEAST, _MOST)) if penalty.l1 > 0 else 0.0
    return ElasticNet(l1, penalty.l2)


def auto_C(penalty: Penalty | None, loss: Loss, scale: float, spreads: Vector) -> float:
    """Return the default C for this penalty; 1 where there is nothing to penalise."""
    varying = spreads > 0
    d = int(varying.sum())
    if penalty is None or d == 0:
        return 1.0
    natural = np.zeros(spreads.size)
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        natural[varying] = scale / (np.sqrt(d) * spreads[varying])
        C = penalty.value(natural) / np.float64(d * _loss_beyond(loss, scale))
    return float(np.clip(C, _LEAST, _MOST)) if C > 0 else 1.0


def _loss_beyond(loss: Loss, distance: float) -> float:
    """Return the loss at this distance from its minimisers, the mean of both sides."""
    curve = loss.curve
    flat = (curve.left <= 0) & (curve.right >= 0)
    if not flat.any():  # the minimiser lies inside a piece
        curve = curve.canonical()
        flat = (curve.left <= 0) & (curve.right >= 0)
    ends = curve.knots[flat]
    least, low, high = curve.value([ends[0], ends[0] - distance, ends[-1] + distance]).tolist()
    return float(0.5 * (low + high) - least)
