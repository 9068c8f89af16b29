"""Block coordinate descent on the smoothed loss: one proximal step per group in turn.

A step on group g uses the Lipschitz constant of its own columns, ``|sqrt(w) X_g|^2 / mu``,
which is far larger a step than the whole gradient allows; the predictions are updated after
every group. Columns in no group are groups of their own; without groups every column is one.

Source: Section 4.3 of the L1-SVM column generation paper, equation (65).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rectiline.problems.forms import CompositeForm
from rectiline.solvers.first_order._smooth import SmoothedDescent

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

__all__ = ["BlockDescent"]


class BlockDescent(SmoothedDescent):
    """The running method on the whole form; starts and slopes are those of `SmoothedDescent`."""

    def __init__(self, form: CompositeForm, seed: int = 0) -> None:
        super().__init__(form, form.design, None, form.prox, form.weight, seed)
        groups = list(form.groups or [])
        owned = np.zeros(form.design.n_features, dtype=bool)
        for group in groups:
            owned[group] = True
        groups += [np.array([j]) for j in np.flatnonzero(~owned)]
        self._form = form
        self._blocks = [self._block(form, group) for group in groups]
        self._total = float(form.weight.sum())

    def _block(
        self, form: CompositeForm, group: Indices
    ) -> tuple[Indices, NDArray[np.float64], float, CompositeForm]:
        part = form.on_columns(group)
        X = part.design.X
        X = np.asarray(X.toarray() if form.design.is_sparse else X, dtype=np.float64)
        gram = X.T @ (X * self.weight[:, None])
        return group, X, float(np.linalg.eigvalsh(gram)[-1]), part

    def run(
        self,
        iterations: int,
        mu: float,
        tolerance: float,
        is_over: Callable[[], bool] = lambda: False,
    ) -> int:
        """Sweep over the groups; stop once a sweep moves little compared with the point."""
        coef, b0 = self.coef.copy(), self.intercept
        z = self.design.dot(coef) + b0
        done = 0
        while done < iterations:
            done += 1
            before = coef.copy()
            for group, X, size, part in self._blocks:
                if size == 0.0:
                    continue
                if is_over():
                    break
                step = mu / size
                new = part.prox(coef[group] - step * (X.T @ self.slopes(z, mu)), step)
                move = new - coef[group]
                if move.any():
                    z += X @ move
                    coef[group] = new
            if self.unit:
                shift = -mu / self._total * float(self.slopes(z, mu).sum())
                z, b0 = z + shift, b0 + shift
            if is_over() or np.linalg.norm(coef - before) <= tolerance * np.linalg.norm(coef):
                break
        self.start_at(coef, b0)
        return done
