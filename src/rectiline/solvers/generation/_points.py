"""Records that the masters of `generation` return: points with multipliers."""

from __future__ import annotations

from dataclasses import dataclass

from rectiline._typing import Vector

__all__ = ["MasterPoint", "ProximalPoint"]


@dataclass(frozen=True, slots=True, eq=False)
class MasterPoint:
    """A solution of the restricted linear program."""

    lengths: Vector
    coef: Vector
    intercept: float
    sample: Vector
    constraint: Vector


@dataclass(frozen=True, slots=True, eq=False)
class ProximalPoint:
    """A point of the restricted problem, in the form's own units."""

    coef: Vector  # on the working set
    intercept: float
    sample: Vector
    constraint: Vector
