"""What options mean: columns, and short forms of losses and penalties (``pinball:0.9``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rectiline import losses, penalties

# How each penalty is written, and how it is made of the number of columns and the numbers given.
_PENALTIES: dict[str, tuple[str, Callable[..., penalties.Penalty | None]]] = {
    "ridge": ("ridge:STRENGTH", lambda d, strength: penalties.Ridge(strength)),
    "l2": ("l2:STRENGTH", lambda d, strength: penalties.Ridge(strength)),
    "l1": ("l1:STRENGTH", lambda d, strength: penalties.L1(strength)),
    "elasticnet": ("elasticnet:L1,L2", lambda d, l1, l2: penalties.ElasticNet(l1, l2)),
    "slope": ("slope:STRENGTH,Q", lambda d, s, q: penalties.Slope.bh(d, q=q, strength=s)),
    # Without a penalty an estimator would leave out a level of each category, here all are kept.
    "none": ("none", lambda d: penalties.Columnwise([0.0] * d, [0.0] * d)),
}


@dataclass(frozen=True)
class Asked:
    """What the options of the command say about the columns."""

    target: str | None = None
    weight: str | None = None
    features: list[str] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    categorical: list[str] = field(default_factory=list)
    missing: str = "error"
    separator: str | None = None
    encoding: str = "utf-8"

    @classmethod
    def of(cls, terms: Mapping[str, Any]) -> Asked:
        """Return what the options of a fit say about the columns."""
        return cls(**{name: terms[name] for name in cls.__dataclass_fields__ if name in terms})

    def without_target(self) -> Asked:
        """Return what is needed to predict."""
        return replace(self, target=None, weight=None, features=[], drop=[], categorical=[])


def read_loss(text: str) -> losses.Loss:
    """Return the loss of a short form, NAME or NAME:NUMBER[,NUMBER]."""
    name, numbers = _split("loss", text)
    if not numbers or name not in losses.LOSSES:
        return losses.get(name)
    loss: Any = losses.LOSSES[name]
    try:
        made: losses.Loss = loss(*numbers)
        return made
    except TypeError:
        raise ValueError(f"--loss {text}: {name} does not take {len(numbers)} numbers.") from None


def read_penalty(text: str, n_features: int) -> penalties.Penalty | None:
    """Return the penalty of a short form."""
    name, numbers = _split("penalty", text)
    if name not in _PENALTIES:
        forms = ", ".join(form for form, _ in _PENALTIES.values())
        raise ValueError(f"--penalty {text}: unknown; use one of {forms}.")
    form, make = _PENALTIES[name]
    if len(numbers) != len(re.findall("[A-Z]+[0-9]?", form)):
        raise ValueError(f"--penalty {text}: write {form}.")
    return make(n_features, *numbers)


def _split(option: str, text: str) -> tuple[str, list[float]]:
    name, _, rest = text.partition(":")
    try:
        numbers = [float(one) for one in rest.split(",")] if rest else []
    except ValueError:
        raise ValueError(f"--{option} {text}: {rest!r} are not numbers.") from None
    return name.strip().lower().replace("-", "_"), numbers
