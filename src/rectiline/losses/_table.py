"""Look losses up by name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from ._base import Loss
from ._margin import Hinge, ModifiedHuber, SmoothedHinge, SquaredHinge
from ._residual import (
    Absolute,
    EpsilonInsensitive,
    Expectile,
    Huber,
    Pinball,
    SquaredEpsilonInsensitive,
    SquaredError,
)

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (
        Hinge,
        SquaredHinge,
        SmoothedHinge,
        ModifiedHuber,
        Absolute,
        EpsilonInsensitive,
        SquaredEpsilonInsensitive,
        Pinball,
        Huber,
        SquaredError,
        Expectile,
    )
}
LOSSES["quantile"] = Pinball


def get(name: str | Loss, **parameters: Any) -> Loss:
    """Return the loss of that name, made with ``parameters``; a loss is returned as it is.

    Examples
    --------
    >>> from rectiline.losses import get
    >>> get("huber", delta=2)
    Huber(delta=2.0)
    """
    if isinstance(name, Loss):
        if parameters:
            raise ValueError(f"loss={name!r} is made already; it takes no {sorted(parameters)}.")
        return name
    if not isinstance(name, str):
        raise TypeError(f"loss must be a name or a Loss, got {name!r}.")
    if name not in LOSSES:
        close = get_close_matches(name, LOSSES, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"loss={name!r} is not one of {', '.join(LOSSES)}.{hint}")
    return LOSSES[name](**parameters)
