"""ReHLine 0.1.4 through its lowest Python entry point, without estimator overhead.

Its problem is ``sum relu(u z + v) + rehu_tau(s z + t) + rho|b|_1 + |b|^2/2``: ours over ``l2``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..objective import Objective, Piece
from ._base import Answer, Rival, around, refuse

Vector = np.ndarray


class ReHLine(Rival):
    """Its default: random order with shrinking."""

    package = "rehline"
    shrink = 1
    tight = 1e-12

    def ladder(self, targets: tuple[float, ...], size: float) -> tuple[float, ...]:
        # It stops at gap <= tol * max(1, |P|, |D|): aim around each target in its own units.
        return around(targets, min(1.0, size / self.objective.l2))

    def skip(self, objective: Objective) -> str | None:
        return refuse(objective, ridge=True, intercept=False, constraints=True)

    def prepare(self, objective: Objective) -> None:
        from rehline._base import ReHLine_solver

        self.objective, self.call = objective, ReHLine_solver
        relu: list[tuple[Vector, Vector]] = []
        rehu: list[tuple[Vector, Vector, Vector]] = []
        for piece in (p.scaled(1.0 / objective.l2) for p in objective.pieces):
            for end in (piece.hi, piece.lo):
                if not np.any(end):
                    continue
                if np.all(piece.quad == 0):
                    relu.append((end, -end * piece.at))
                else:
                    rehu.append(_rehu(piece, end))
        if objective.case.loss in ("hinge", "smoothed_hinge", "squared_hinge", "modified_huber"):
            relu, rehu = _merge(relu), _merge(rehu)
        self.relu = [np.vstack(part) for part in zip(*relu, strict=True)] or [None, None]
        self.rehu = [np.vstack(part) for part in zip(*rehu, strict=True)] or [None, None, None]
        self.rho = np.full(objective.d, objective.l1 / objective.l2) if objective.l1 else None

    def solve(self, tol: float, time_limit: float) -> Any:
        (U, V), (S, T, Tau) = self.relu, self.rehu
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.call(
                self.objective.X,
                U,
                V,
                Tau=Tau,
                S=S,
                T=T,
                A=self.objective.A,
                b=self.objective.c,
                rho=self.rho,
                max_iter=2**30,
                tol=tol,
                shrink=self.shrink,
                verbose=0,
            )

    def answer(self, raw: Any) -> Answer:
        l2 = self.objective.l2
        dual = np.zeros(self.objective.n)
        if self.relu[0] is not None:
            dual += np.sum(self.relu[0] * np.asarray(raw.Lambda), axis=0)
        if self.rehu[0] is not None:
            dual += np.sum(self.rehu[0] * np.asarray(raw.Gamma), axis=0)
        xi = None if self.objective.A is None else l2 * np.asarray(raw.xi)
        word = {"iterations": int(raw.niter)}
        return Answer(np.array(raw.beta), 0.0, l2 * dual, xi, word)


class ReHLinePlain(ReHLine):
    """Cyclic order, no shrinking."""

    shrink = 0


def _rehu(piece: Piece, end: Vector) -> tuple[Vector, Vector, Vector]:
    """``max_{g between 0 and end} g (z - at) - quad g^2/2`` as ``rehu_tau(s z + t)``."""
    s = np.sign(end) / np.sqrt(piece.quad)
    root = np.sqrt(piece.quad)
    return s, -s * piece.at, np.abs(end) * root


def _merge(units: list[tuple[Vector, ...]]) -> list[tuple[Vector, ...]]:
    """A margin loss has one unit per row: the two class halves fit in one row of parameters."""
    if len(units) < 2:
        return units
    first, second = units
    choose = first[0] != 0
    return [tuple(np.where(choose, a, b) for a, b in zip(first, second, strict=True))]
