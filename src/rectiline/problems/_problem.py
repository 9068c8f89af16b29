"""`Problem`: the convex program, its dual, and the certificate of a pair of points.

    minimise over b in R^d, b0     sum_i w_i L(y_i, x_i'b + b0) + Omega(b)
    subject to                     A b + c >= 0,  E b + f = 0,  lower <= b <= upper

With ``f_i(z) = w_i L(y_i, z)``, multipliers ``g_i`` in the range of slopes of ``f_i``, ``xi >= 0``
and ``nu``, and ``q = A'xi + E'nu - X'g``, weak duality reads

    P - D = sum_i [f_i(z_i) + f_i*(g_i) - g_i z_i]  +  [h(b) + h*(q) - q'b]
            + xi'(A b + c) + nu'(E b + f) + b0 sum_i g_i

where ``h`` is the penalty with the bounds. Every bracket is non-negative; a free intercept demands
``sum_i g_i = 0``. The certificate sums exactly these terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse as sp

from rectiline._frames import html_table
from rectiline._typing import Indices
from rectiline.backends import as_design
from rectiline.constraints import Constraint, ConstraintRows, LinearInequality
from rectiline.losses import Loss
from rectiline.penalties import Fused, Penalty
from rectiline.problems._arguments import DEFAULT_PENALTY, NOT_GIVEN, read_arrays, read_rows
from rectiline.problems._block_samples import Encoding
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._data import BlockData, Data
from rectiline.problems._from_units import rows_of_units
from rectiline.problems._problem_parts import ProblemParts
from rectiline.problems._region import Region
from rectiline.problems._terms import Terms
from rectiline.problems.proof._prove import Candidate, Proof, prove, unpacked
from rectiline.rows import RowBlocks


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Problem(ProblemParts):
    """A penalised, constrained linear model with a piecewise linear-quadratic loss.

    Parameters
    ----------
    X : array-like, data frame, scipy sparse matrix of shape (n_samples, n_features), or RowBlocks
        Used in place when it is float32 or float64 (any order) or CSR/CSC. Rows in blocks, see
        `rectiline.rows`, are read where they are and hold their own targets and weights. None for
        an optimisation problem that has a linear term and no data.
        ``Problem(rows, loss, penalty)`` has no place for y.
    y : array-like of shape (n_samples,), optional
        Targets; for margin losses any two labels, the larger one counts as +1. None in an
        optimisation problem: residuals are then those of zero targets.
    loss : str or Loss, or sequence of them with `loss_index`
        The loss of one sample, see `rectiline.losses`.
    penalty : str, Penalty, Fused or None, default=Ridge(1.0), or None where y is None
        The penalty on the coefficients, see `rectiline.penalties`; names have strength 1. The
        intercept is not penalised.
    constraints : Constraint, dict, or sequence of them, default=()
        Restrictions of the coefficients, see `rectiline.constraints`. A dict bounds columns by name
        or position: ``{"age": ">=0", "income": (0, None), 3: 1.5}``. Constraints that look at X
        (fairness, say) need it in memory.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the losses.
    fit_intercept : bool, optional
        Whether to add an unpenalised, unconstrained intercept; by default if there is a y.
    loss_index : array-like of int of shape (n_samples,), optional
        Row i has the loss ``loss[loss_index[i]]``; the losses are then of one kind (all of the
        residual, say) and at most 256.
    linear : array-like of shape (n_features,), optional
        Adds ``linear @ coef`` to the objective. Unless it is zero it is kept as a last row of X,
        which is copied for it, and has the last multiplier; there is no intercept then.
    feature_names : array-like of str of shape (n_features,), optional
        Names of the columns; by default those of a data frame.

    Attributes
    ----------
    source : Data or BlockData
        Rows of X and their losses, in memory or in blocks.
    terms : Terms
        The penalty and the constraints on the coefficients.
    feature_names : ndarray of str or None
        Names of the columns, where they are known.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> problem = rl.Problem(X, [0, 0, 1, 1], loss=rl.losses.Hinge())
    >>> float(problem.objective(np.array([2.0]), -3.0))
    2.0

    The portfolio with the least risk and a price on return, ``min |X b|^2 / 2 - r'b`` over
    ``b >= 0`` that sum to one:

    >>> returns = np.array([0.1, 0.2, 0.15])
    >>> budget = rl.constraints.LinearConstraint(np.ones(3), 1.0, 1.0)
    >>> portfolio = rl.Problem(
    ...     np.diag([0.1, 0.5, 0.2]), None, "squared_error", linear=-0.1 * returns,
    ...     constraints=[rl.constraints.Nonnegative(), budget],
    ... )
    >>> rl.solve(portfolio, tol=1e-9).coef.round(3)
    array([0.647, 0.066, 0.287])

    Rows that are read block by block:

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((5000, 3))
    >>> y = X @ np.array([1.0, 2.0, 3.0]) + rng.standard_normal(5000)
    >>> rows = rl.rows.from_arrays(X, y, block_rows=1000)
    >>> rl.Problem(rows, loss=rl.losses.Pinball(0.9))
    Problem(5000 x 3 rows in blocks, loss=Pinball(quantile=0.9), penalty=Ridge(strength=1.0),
    constraints=[], fit_intercept=True)
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike | None = None,
        loss: str | Loss | Sequence[str | Loss] | None = NOT_GIVEN,
        penalty: str | Penalty | Fused | None = DEFAULT_PENALTY,
        constraints: Any = (),
        sample_weight: ArrayLike | None = None,
        fit_intercept: bool | None = None,
        loss_index: ArrayLike | None = None,
        *,
        linear: ArrayLike | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> None:
        others: dict[str, Any] = {"sample_weight": sample_weight, "loss_index": loss_index}
        others |= {"linear": linear, "feature_names": feature_names}
        if isinstance(X, RowBlocks) and isinstance(y, (str, Loss)):
            # Rows hold their own y: loss and penalty may stand one place earlier.
            if loss is not NOT_GIVEN and penalty is not DEFAULT_PENALTY:
                raise TypeError(
                    "Problem(rows, loss, penalty) takes nothing else by position: rows hold their "
                    f"own y. Pass constraints=... by name; got {penalty!r}."
                )
            y, loss, penalty = None, y, penalty if loss is NOT_GIVEN else loss
        loss = None if loss is NOT_GIVEN else loss
        if isinstance(X, RowBlocks):
            parts = read_rows(X, loss, penalty, constraints, fit_intercept, y=y, **others)
        else:
            parts = read_arrays(X, y, loss, penalty, constraints, fit_intercept, **others)
        self.__dict__.update(zip(("source", "terms", "feature_names"), parts))

    @classmethod
    def of(
        cls, source: Data | BlockData, terms: Terms, feature_names: NDArray[Any] | None = None
    ) -> Self:
        """Return the problem with these parts, which have been checked."""
        problem = object.__new__(cls)
        problem.__dict__.update(source=source, terms=terms, feature_names=feature_names)
        return problem

    @classmethod
    def on_encoded_rows(
        cls,
        rows: RowBlocks,
        loss: Any,
        encoding: Encoding | None,
        penalty: Any = DEFAULT_PENALTY,
        constraints: Any = (),
        fit_intercept: bool = True,
    ) -> Self:
        """Return a problem on rows in blocks whose targets mean what `encoding` says."""
        return cls.of(*read_rows(rows, loss, penalty, constraints, fit_intercept, encoding))

    @classmethod
    def from_units(
        cls,
        X: Any,
        U: ArrayLike | None = None,
        V: ArrayLike | None = None,
        S: ArrayLike | None = None,
        T: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        A: ArrayLike | None = None,
        b: ArrayLike | None = None,
        penalty: str | Penalty | None = DEFAULT_PENALTY,
        constraints: Any = (),
    ) -> Problem:
        """Return the problem whose samples have sums of ReLU and ReHU units as losses.

        The loss of sample i at ``z_i = x_i'coef`` is ``sum_l max(U_li z_i + V_li, 0)`` plus
        ``sum_h ReHU(S_hi z_i + T_hi; tau_hi)``, where ``ReHU(a; tau)`` is ``max(a, 0)^2 / 2`` up to
        ``a = tau`` and a line from there on (Dai and Qiu 2023). There is no intercept; a column
        of ones in X is penalised.

        Each unit becomes a row: X is copied where samples have several units, or ReHU units whose
        `tau` is finite. The multipliers of a solution are those of the units that are not zero,
        sample by sample.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        U, V : array-like of shape (L, n_samples), optional
            Slopes and shifts of the ReLU units.
        S, T : array-like of shape (H, n_samples), optional
            Slopes and shifts of the ReHU units.
        tau : float or array-like of shape (H, n_samples), optional
            Where they turn into lines; nowhere by default.
        A, b : array-like of shape (k, n_features) and (k,), optional
            Constraints ``A @ coef + b >= 0``.
        penalty : Penalty, str or None, default=Ridge(1.0)
        constraints : Constraint, dict, or sequence of them, default=()
            Further ones.

        Returns
        -------
        Problem

        Examples
        --------
        A support vector machine, ``sum_i max(1 - y_i z_i, 0)``:

        >>> import numpy as np
        >>> import rectiline as rl
        >>> X, y = np.array([[1.0], [2.0], [-1.0], [-3.0]]), np.array([1.0, 1.0, -1.0, -1.0])
        >>> problem = rl.Problem.from_units(X, U=[-y], V=[np.ones(4)])
        >>> rl.solve(problem).coef.round(6)
        array([1.])
        """
        design = X if sp.issparse(X) else np.asarray(X)
        if design.ndim != 2:
            raise ValueError(f"X must be two-dimensional; got shape {design.shape}.")
        rows = rows_of_units(design, U, V, S, T, tau)
        if (A is None) != (b is None):
            raise ValueError("A and b must be given together: A @ coef + b >= 0.")
        if A is not None and b is not None:
            is_one = isinstance(constraints, (Constraint, Mapping))
            asked = [constraints] if is_one else constraints
            constraints = [*asked, LinearInequality(A, b)]
        return cls(**rows, penalty=penalty, constraints=constraints, fit_intercept=False)

    # ---- problems that share parts with this one ------------------------------------------------

    def with_penalty(self, penalty: str | Penalty | None) -> Problem:
        """Return this problem under another penalty; the data are shared."""
        return Problem.of(self.source, self.terms.with_penalty(penalty), self.feature_names)

    def with_loss(self, loss: str | Loss) -> Problem:
        """Return this problem under another loss of the same kind; everything else is shared.

        Examples
        --------
        Three quantiles, with one check of X and one copy of y:

        >>> import numpy as np
        >>> import rectiline as rl
        >>> X, y = np.arange(20.0)[:, None], np.arange(20.0) ** 2
        >>> median = rl.Problem(X, y, rl.losses.Pinball(0.5))
        >>> problems = [median.with_loss(rl.losses.Pinball(q)) for q in (0.1, 0.5, 0.9)]
        >>> [round(float(rl.solve(one).coef[0]), 2) for one in problems]
        [10.0, 16.0, 18.0]
        """
        return Problem.of(self.source.with_loss(loss), self.terms, self.feature_names)

    def with_sample_weight(self, sample_weight: ArrayLike) -> Self:
        """Return this problem under other weights; constraints stay as they were made."""
        samples = self.data.samples.with_weight(sample_weight)
        return self.of(Data(self.design, samples), self.terms)

    def on_rows(self, rows: Indices, sample_weight: ArrayLike | None = None) -> Problem:
        """Return this problem on some of the samples, which are copied.

        Parameters
        ----------
        rows : array of int
            Indices of the samples.
        sample_weight : array-like of shape (len(rows),), optional
            Their weights; by default those that they have here. Constraints stay as they were made.
        """
        return Problem.of(self.data.on_rows(rows, sample_weight), self.terms)

    def on_columns(self, columns: Indices) -> Problem:
        """Return this problem where only `columns`, which are copied, may differ from zero."""
        return Problem.of(self.data.on_columns(columns), self.terms.on_columns(columns))

    def with_design(self, X: Any, penalty: Penalty | None) -> Problem:
        """Return the losses on another design with as many rows, without constraints."""
        design = as_design(X)
        if design.n_samples != self.n_samples:
            raise ValueError(f"X must have {self.n_samples} rows; got {design.n_samples}.")
        region = Region(ConstraintRows.empty(design.n_features))
        return Problem.of(Data(design, self.data.samples), Terms(penalty, region))

    def _repr_html_(self) -> str:
        rows = [
            ("rows and columns", f"{self.n_samples:,} x {self.n_features:,}"),
            ("loss", ", ".join(map(repr, self.losses))),
            ("penalty", self.penalty),
            ("constraints", ", ".join(map(repr, self.constraints)) or "none"),
            ("intercept", "yes" if self.fit_intercept else "no"),
        ]
        return html_table("Problem", rows)

    def __repr__(self) -> str:
        return (
            f"Problem({self.source.shown}, loss={self.loss!r}, "
            f"penalty={self.penalty!r}, constraints={list(self.constraints)!r}, "
            f"fit_intercept={self.fit_intercept})"
        )

    # ---- values and proofs ----------------------------------------------------------------------

    def objective(self, coef: ArrayLike, intercept: float = 0.0) -> float:
        """Return the primal objective (constraints do not enter; see `violation`)."""
        b, b0 = self.checked_point(coef, intercept)
        if not self.is_in_memory:
            return self.certify(b, b0).primal
        return self.rows.loss(self.design.dot(b) + b0) + self.penalty_value(b)

    def certify(
        self,
        coef: ArrayLike | Candidate,
        intercept: float = 0.0,
        dual: DualPoint | ArrayLike | None = None,
    ) -> Certificate:
        """Certify how close to optimal any coefficients are.

        Parameters
        ----------
        coef : array-like of shape (n_features,), or Solution
            Coefficients; or an object with `coef`, `intercept` and `dual`, given alone.
        intercept : float, default=0.0
        dual : DualPoint or array-like of shape (n_samples,), optional
            Multipliers; an array is taken as the sample part. They are repaired to be feasible
            first; on rows in blocks they are the `SplitDual` of a solution. Without them slopes
            of the loss at the predictions are tried, which proves little unless it is smooth.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> import numpy as np
        >>> import rectiline as rl
        >>> X, y = np.array([[0.0], [2.0]]), np.array([-1, 1])
        >>> problem = rl.Problem(X, y, loss=rl.losses.Hinge())
        >>> proof = problem.certify([1.0], -1.0, dual=[0.5, -0.5])
        >>> proof.primal, proof.gap < 1e-14
        (0.5, True)
        >>> problem.certify(rl.solve(problem)).relative_gap <= 1e-6
        True
        """
        pair = unpacked(coef, intercept, dual)
        if self.is_in_memory:
            return prove(self, *pair, tol=0.0).certificate
        from rectiline.problems.blocks import prove_blocks

        return prove_blocks(self, *pair)

    def certify_many(self, candidates: Sequence[Candidate]) -> list[Certificate]:
        """Prove how close to optimal several answers are, in plain doubles where X is in memory.

        Parameters
        ----------
        candidates : sequence of Solution
            Objects with `coef`, `intercept` and `dual`; see `certify`.

        Returns
        -------
        list of Certificate

        Examples
        --------
        >>> import numpy as np
        >>> import rectiline as rl
        >>> X, y = np.array([[0.0], [2.0]]), np.array([-1, 1])
        >>> problem = rl.Problem(X, y, loss=rl.losses.Hinge())
        >>> fast, exact = rl.solve(problem, tol=1e-2), rl.solve(problem, tol=1e-9)
        >>> [proof.relative_gap <= 1e-2 for proof in problem.certify_many([fast, exact])]
        [True, True]
        """
        if not self.is_in_memory:
            return [self.certify(one) for one in candidates]
        return [prove(self, *unpacked(one, 0.0, None)).certificate for one in candidates]

    def prove(
        self,
        coef: ArrayLike,
        intercept: float = 0.0,
        dual: DualPoint | ArrayLike | None = None,
        tol: float | None = None,
    ) -> Proof[DualPoint]:
        """Return the certificate of a pair and the repaired multipliers behind it, for solvers.

        With `tol` the proof is computed in higher precision where that can decide whether the
        certificate holds to `tol`; without, plain doubles have to do.
        """
        return prove(self, coef, intercept, dual, tol)
