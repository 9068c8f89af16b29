"""Look losses up by name, as estimators and problems take them."""

from __future__ import annotations

from typing import Any

from rectiline._suggest import not_an_object, unknown_name

from . import _margin, _residual
from ._base import Loss

LOSSES: dict[str, type[Loss]] = {
    kind.name: kind
    for module in (_margin, _residual)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Loss) and kind is not Loss
}
LOSSES["quantile"] = _residual.Pinball
# What other libraries call them.
_ALIASES = {
    "absolute_error": "absolute",
    "l1": "absolute",
    "l2": "squared_error",
    "least_squares": "squared_error",
    "mae": "absolute",
    "mse": "squared_error",
    "svm": "hinge",
    "svr": "epsilon_insensitive",
}
_NOT_QUADRATIC = ("cross_entropy", "log", "log_loss", "logistic", "logloss")


def get(name: str | Loss, **parameters: Any) -> Loss:
    """Return the loss of that name, made with ``parameters``; a loss is returned as it is.

    Parameters
    ----------
    name : str or Loss
        Such as "hinge" or "huber".
    **parameters
        Parameters of the class.

    Returns
    -------
    Loss

    Examples
    --------
    >>> from rectiline.losses import get
    >>> get("huber", delta=2)
    Huber(delta=2.0)
    """
    if isinstance(name, Loss):
        if parameters:
            raise ValueError(
                f"loss={name!r} is an object with its own parameters; {sorted(parameters)} go with "
                "a loss by name."
            )
        return name
    if not isinstance(name, str):
        raise not_an_object("loss", name, Loss, "rectiline.losses.Huber(), or the name of one")
    if name in _NOT_QUADRATIC:
        raise ValueError(
            f"loss={name!r}: the logistic loss is not piecewise linear-quadratic. 'smoothed_hinge' "
            "and 'modified_huber' are close to it."
        )
    if name not in LOSSES:
        raise ValueError(unknown_name("loss", name, LOSSES, _ALIASES))
    kind = LOSSES[name]
    known = list(kind._rules)
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise TypeError(
            f"loss={name!r} takes {', '.join(map(repr, known)) or 'no parameters'}; got "
            f"{', '.join(map(repr, unknown))}."
        )
    if kind is _residual.Pinball and not parameters:
        raise ValueError(
            f"loss={name!r} needs its quantile, such as 0.9: loss_params={{'quantile': 0.9}} of an "
            "estimator, or the object Pinball(0.9). The median is loss='absolute'."
        )
    return kind(**parameters)
