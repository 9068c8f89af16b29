"""The tasks of a multi-task problem, and the program of one when the subspace is fixed.

With the subspace fixed, ``S = eta I + M``, the task costs

    sum_i w_i L(y_i, x_i'u + b) + (strength/2) (u - start)' S^-1 (u - start).

Put ``u = start + T v`` with ``T T' = S``: then the penalty is a plain ridge in v, and the program
is one that every solver takes. ``T = [sqrt(eta) I, P sqrt(g)]`` leaves sparse rows sparse, with a
few dense entries more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse as sp

from rectiline._lazy import cached_property
from rectiline._suggest import not_an_object
from rectiline._typing import AnyMatrix, Matrix, Vector
from rectiline.backends import Design, as_design
from rectiline.constraints import Constraint, ConstraintRows, combine
from rectiline.losses import Loss
from rectiline.penalties import Ridge, Subspace
from rectiline.problems._arguments import check_size, terms_of
from rectiline.problems._certificate import DualPoint
from rectiline.problems._data import Data
from rectiline.problems._problem import Problem
from rectiline.problems._region import Region
from rectiline.problems._samples import Samples, checked_weight
from rectiline.problems._terms import Terms

Places = NDArray[np.intp]


class Task(Problem):
    """A problem whose weights sum to one and whose bounds are rows: its penalty is that of all."""

    @classmethod
    def make(cls, design: Design, samples: Samples, constraints: Any) -> Task:
        """Return the task with these rows."""
        check_size(samples)
        terms = terms_of(None, constraints, design.n_features, None, design)
        return cls.of(Data(design, samples), replace(terms, has_joint_penalty=True))

    @cached_property
    def quadratic_target(self) -> tuple[float, Vector] | None:
        """``(a, y~)`` if the loss is ``a/2 (z - y~)^2`` plus a constant, else None."""
        curve = self.losses[0].curve
        a = float(curve.curvature[0])
        if not curve.is_parabola:
            return None
        vertex, _ = curve.minimum()
        return a, self.direction * (vertex - self.offset)

    @cached_property
    def pieces(self) -> Pieces:
        """Places of the rows on the graph of their slopes."""
        return Pieces(self.data.samples)

    @cached_property
    def row_squares(self) -> Vector:
        """Squared length of each row."""
        return self.design.row_squares()

    def holding_rows(self, dual: DualPoint) -> Matrix:
        """Return the constraint rows that hold the coefficients: active ones and equalities."""
        level = 1e-7 * max(float(np.abs(dual.sample).max(initial=0.0)), 1e-300)
        rows = self.constraint_rows
        active = dual.inequality > level if dual.inequality.size else np.zeros(rows.c.size, bool)
        held = sp.vstack([sp.csr_array(rows.A)[active], sp.csr_array(rows.E)])
        return np.asarray(held.toarray())

    # ---- the step -----------------------------------------------------------------------------

    def step(
        self, space: Subspace, eta: float, strength: float, start: Vector | None = None
    ) -> TaskStep:
        """Return the program of this task for a fixed subspace, as described above."""
        return TaskStep(self, space, eta, strength, start)


class TaskStep:
    """A rectified program in v, and the way back to the coefficients of the task.

    Attributes
    ----------
    problem : Problem
    """

    def __init__(
        self, task: Task, space: Subspace, eta: float, strength: float, start: Vector | None
    ) -> None:
        self._space, self._eta = space, eta
        self._root, self._soft = (eta + space.floor) ** 0.5, np.sqrt(space.weights - space.floor)
        self._start = np.zeros(task.n_features) if start is None else start
        samples, rows = task.data.samples, task.constraint_rows
        if start is not None:  # the losses as functions of the change from its predictions
            moved = samples.offset + samples.direction * task.design.dot(start)
            samples = replace(samples, offset=moved)
        design, A, E = map(self._times_T, (task.design.X, rows.A, rows.E))
        c, f = rows.c + rows.A @ self._start, rows.f + rows.E @ self._start
        d = design.shape[1]
        region = Region(
            combine([ConstraintRows.make(d, A=A, c=c, E=E, f=f)], d)
        )  # sparse if it pays
        data, terms = Data(as_design(design), samples), Terms(Ridge(strength), region)
        self.problem = Problem.of(data, terms)

    def _times_T(self, rows: AnyMatrix) -> AnyMatrix:
        """Return ``rows @ T``, sparse if `rows` are."""
        further = np.asarray(rows @ self._space.basis) * self._soft
        if sp.issparse(rows):
            return sp.hstack([self._root * rows, sp.csr_array(further)], format="csr")
        return np.hstack([self._root * rows, further])

    def coef(self, v: Vector) -> Vector:
        """Return ``u = start + T v``."""
        d = self._start.size
        moved = self._root * v[:d] + self._space.basis @ (self._soft * v[d:])
        return np.asarray(self._start + moved)

    def variable(self, coef: Vector) -> Vector:
        """Return the shortest v with ``u = start + T v``."""
        moved = self._space.times(coef - self._start, self._eta, -1.0)
        return np.asarray(self._times_T(moved[None])[0])


class Pieces:
    """Places of the rows of one task and what holds there; rows of weight zero are at place 0.

    The graph of all pairs (argument, slope) of a convex piecewise linear-quadratic function is a
    staircase: even places are its pieces, odd places its kinks, where the argument stands still
    while the slope moves. Once the place of every row is known, a task with a quadratic penalty is
    a system of linear equations.

    Examples
    --------
    >>> from rectiline.losses import Hinge
    >>> pieces = Pieces(Samples((Hinge(),), None, np.ones(3), np.zeros(3), np.ones(3), False))
    >>> pieces.place(np.array([0.0, 1.0, 2.0]), np.array([-1.0, -0.5, 0.0]), np.ones(3))
    array([0, 1, 2])
    """

    def __init__(self, samples: Samples) -> None:
        curve, weight = samples.losses[0].curve, samples.weight
        self._curve = curve
        self.direction, self.offset = samples.direction, samples.offset
        self.scale = weight * self.direction  # multiplier = scale * slope of the curve
        self._counts = None if (weight > 0).all() else weight > 0
        count = curve.knots.size
        anchor = curve.knots[np.maximum(np.arange(count + 1) - 1, 0)]
        slope = np.append(curve.left[:1], curve.right)
        curved = curve.curvature > 0
        inverse = np.divide(1.0, curve.curvature, out=np.zeros(count + 1), where=curved)
        self._inverse, self._level, self._slope = (np.zeros(2 * count + 1) for _ in range(3))
        self._inverse[::2], self._slope[::2] = inverse, slope
        self._level[::2], self._level[1::2] = anchor - slope * inverse, curve.knots
        self._resists = np.ones(2 * count + 1, dtype=bool)
        self._resists[::2] = curved

    def place(self, z: Vector, g: Vector, reach: Vector) -> Places:
        """Return where ``argument + reach * slope`` meets the graph, row by row."""
        used = True if self._counts is None else self._counts
        slopes = np.divide(g, self.scale, out=np.zeros(g.size), where=used)
        sought = self.direction * z + self.offset + reach * slopes
        found = self._curve.places(sought, reach)
        return found if self._counts is None else found * self._counts

    def resisting(self, places: Places) -> NDArray[np.intp]:
        """Return the rows on a kink or on a curved piece."""
        resists = self._resists[places]
        return np.flatnonzero(resists if self._counts is None else resists & self._counts)

    def resting(self, places: Places) -> Vector:
        """Return the multipliers of the rows on straight pieces, 0 elsewhere."""
        kept = np.where(self._resists, 0.0, self._slope)
        return np.asarray(self.scale * kept[places])

    def lines(self, places: Places, rows: NDArray[np.intp]) -> tuple[Vector, Vector]:
        """Return (level, give) of resisting rows: there ``z = level + give * multiplier``."""
        at, sign = places[rows], self.direction[rows]
        level = (self._level[at] - self.offset[rows]) / sign
        return level, self._inverse[at] / (sign * self.scale[rows])


def make_tasks(
    X: Any,
    y: Sequence[ArrayLike],
    loss: Loss,
    constraints: Any,
    sample_weight: Sequence[ArrayLike] | None,
    fit_intercept: bool,
) -> tuple[Task, ...]:
    """Return one task per entry of y."""
    if not isinstance(loss, Loss):
        raise TypeError(f"loss must be a Loss such as rectiline.losses.Hinge(); got {loss!r}.")
    targets = [np.ravel(np.asarray(one)) for one in y]
    if not targets:
        raise ValueError("y must hold the targets of at least one task; got none.")
    designs = _designs(X, len(targets))
    for t, (design, one) in enumerate(zip(designs, targets)):
        if design.n_samples != one.size:
            raise ValueError(
                f"y[{t}] has {one.size} entries but X[{t}] has {design.n_samples} rows."
            )
        if design.n_features != designs[0].n_features:
            raise ValueError(
                f"X[{t}] has {design.n_features} columns but X[0] has {designs[0].n_features}; all "
                "tasks need the same columns."
            )
    weights = normalized_weights(sample_weight, designs)
    per_task = _constraints(constraints, len(targets))
    samples = _samples_of_tasks(loss, targets, weights, fit_intercept)
    return tuple(map(Task.make, designs, samples, per_task))


def _samples_of_tasks(
    loss: Loss, targets: list[NDArray[Any]], weights: list[NDArray[np.float64]], fit_intercept: bool
) -> list[Samples]:
    """Check the targets of all tasks together and return the samples of each.

    Margin losses take two labels over all tasks; one task alone may hold only one of them. If all
    labels are -1 or 1 these are the signs, even if one of them never occurs.
    """
    together = np.concatenate(targets)
    if loss.of == "margin" and together.dtype.kind in "iuf":
        signs = np.array([-1, 1], dtype=together.dtype if together.dtype.kind != "u" else int)
        if np.isin(together, signs).all():
            together = np.concatenate([together, signs])  # both are known, present or not
    encoded = loss.encode(together)
    found = []
    for end, weight in zip(np.cumsum([one.size for one in targets]), weights):
        direction, offset = (part[end - weight.size : end].copy() for part in encoded)
        found.append(Samples((loss,), None, direction, offset, weight, bool(fit_intercept)))
    return found


def _designs(X: Any, n_tasks: int) -> list[Design]:
    if isinstance(X, (list, tuple)) and not _is_matrix_of_numbers(X):
        if len(X) != n_tasks:
            raise ValueError(f"X holds {len(X)} tasks but y holds {n_tasks}.")
        seen: dict[int, Design] = {}
        designs = []
        for t, one in enumerate(X):  # tasks with the same matrix share it, and its checks
            if id(one) not in seen:
                seen[id(one)] = as_design(one, f"X[{t}]")
            designs.append(seen[id(one)])
        return designs
    return [as_design(X)] * n_tasks


def _is_matrix_of_numbers(X: Sequence[Any]) -> bool:
    """Whether a list is one matrix written as rows of numbers."""
    first = X[0] if len(X) else None
    return isinstance(first, (list, tuple)) and bool(first) and np.isscalar(first[0])


def normalized_weights(
    given: Sequence[ArrayLike] | None, designs: list[Design]
) -> list[NDArray[np.float64]]:
    """Return weights that sum to one in each task, or raise where they cannot."""
    if given is not None and len(given) != len(designs):
        raise ValueError(f"sample_weight holds {len(given)} tasks but y holds {len(designs)}.")
    pairs = enumerate(zip([None] * len(designs) if given is None else given, designs, strict=True))
    weights = [checked_weight(w, one.n_samples, f"sample_weight[{t}]") for t, (w, one) in pairs]
    return [one / one.sum() for one in weights]


def _constraints(given: Any, n_tasks: int) -> list[Any]:
    """Return the constraints of each task: the same for all, or one entry per task."""
    if given is None or isinstance(given, Constraint):
        return [given] * n_tasks
    if not isinstance(given, Iterable):
        raise not_an_object("constraints", given, Constraint, "rectiline.constraints.Nonnegative()")
    listed = tuple(given)
    if all(isinstance(one, Constraint) for one in listed):
        return [listed] * n_tasks
    if len(listed) != n_tasks:
        raise ValueError(
            f"constraints must hold Constraint objects, or one sequence of them per task: "
            f"{n_tasks} tasks, but {len(listed)} entries."
        )
    return list(listed)
