"""Certificates of pairs between two others, without another look at the samples.

Let (b, g) and (b', g') be judged pairs at two strengths of a penalty, and take a share t of the way
from one to the other, in coefficients and multipliers alike. Losses and their conjugates are
convex, so the rows in between lose at most

    (1 - t) R + t R' + t (1 - t) (z' - z)'(g' - g),    (z' - z)'(g' - g) = (b' - b)'X'(g' - g) + ...

where R and R' are what they lose at the ends and the dots stand for the intercept. What columns
lose is known from b and X'g alone. Between two strengths of a penalty some share proves most: where
coefficients hardly change X'g grows with the strength, and so should the share; where X'g hardly
changes it is the inverse strength that the coefficients grow with.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rectiline import _core
from rectiline.problems._certificate import Certificate, DualPoint
from rectiline.problems._judged import JudgedPairs, PairTerms, RowSums, gaps_of, multiples

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["BetweenPair", "certify_between", "shares_between"]

_BLENDS = np.linspace(0.0, 1.0, 5)  # of the two ways in which shares may grow


class BetweenPair(NamedTuple):
    """A pair between two others, and its certificate: the objective is bounded from above."""

    coef: Vector
    intercept: float
    pull: Vector | None  # -X'g of the multipliers g, if it was worked out
    certificate: Certificate
    dual: DualPoint


class _MixedDual(DualPoint):
    """A mixture of multipliers that is worked out when somebody asks for it."""

    _made: tuple[DualPoint, DualPoint, float, float]

    @classmethod
    def of(cls, first: DualPoint, last: DualPoint, t: float, share: float) -> _MixedDual:
        new = cls.__new__(cls)
        nothing = np.zeros(0)
        made = first, last, t, share
        for name, value in (("_made", made), ("inequality", nothing), ("equality", nothing)):
            object.__setattr__(new, name, value)
        return new

    def any_inside(self, rows: _core.RowFunctions, margin: float) -> bool:
        """Whether a sample's multiplier lies inside its range, by a share `margin` of it."""
        first, last, t, share = self._made
        # What is inside at one end stays inside, by its part of the mixture.
        return (
            (t < 1 and first.any_inside(rows, margin / ((1 - t) * share)))
            or (t > 0 and last.any_inside(rows, margin / (t * share)))
            or super().any_inside(rows, margin)
        )

    @cached_property
    def sample(self) -> Vector:
        """A slope of each sample's weighted loss in its prediction."""
        first, last, t, share = self._made
        return share * ((1 - t) * first.sample + t * last.sample)


def shares_between(strengths: Vector, strongly_convex: bool) -> Matrix:
    """Return shares to try for the strengths between the first and the last, one row for each.

    Multipliers at the ends of an l1 penalty's range must shrink as the strength does.
    """
    inner, inverse = strengths[1:-1], 1.0 / strengths
    linear = (inner - strengths[0]) / (strengths[-1] - strengths[0])
    if not strongly_convex:
        return np.asarray(linear[:, None])
    harmonic = (inverse[1:-1] - inverse[0]) / (inverse[-1] - inverse[0])
    return np.asarray(np.outer(linear, _BLENDS) + np.outer(harmonic, 1 - _BLENDS))


def certify_between(pairs: JudgedPairs, first: int, strengths: Vector) -> list[BetweenPair]:
    """Return pairs at strengths between those of a judged pair and the next one.

    Parameters
    ----------
    pairs : JudgedPairs
    first : int
        The one before the strengths.
    strengths : ndarray of shape (k,)
        From large to small.

    Returns
    -------
    list of BetweenPair

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.problems import certify_between, judge_all
    >>> X, y = np.array([[0.0], [2.0]]), np.array([-1, 1])
    >>> problem = rl.Problem(X, y, loss=rl.losses.Hinge())
    >>> ends = np.ones((2, 1)), np.array([-1.0, -1.0]), np.array([[0.5, -0.5], [0.25, -0.25]])
    >>> pairs = judge_all(problem, np.array([1.0, 0.5]), *ends)
    >>> [found] = certify_between(pairs, 0, np.array([0.75]))
    >>> found.coef, found.certificate.gap, found.dual.sample
    (array([1.]), 0.0, array([ 0.375, -0.375]))
    """
    problem, ends = pairs.problem, slice(first, first + 2)
    grid = np.array([pairs.strengths[first], *strengths, pairs.strengths[first + 1]])
    table = shares_between(grid, problem.columns.strongly_convex)
    t = table.ravel()
    columns = multiples(problem, np.repeat(strengths, table.shape[1]))
    used = _columns_in_use(pairs, ends)

    def mixed(of: Matrix) -> Matrix:
        return np.asarray(np.multiply.outer(1 - t, of[0]) + np.multiply.outer(t, of[1]))

    coefs, q = mixed(pairs.terms.coefs[ends, used]), mixed(pairs.terms.q[ends, used])
    intercepts = mixed(pairs.terms.intercepts[ends])
    known = pairs.terms.rows
    rows = RowSums(
        mixed(known.losses[ends]),
        np.maximum(mixed(known.gaps[ends]) + t * (1 - t) * _apart(pairs, ends), 0.0),
        mixed(known.totals[ends]),
        mixed(known.sizes[ends]),
    )
    shares = np.ones(t.size)
    if not columns.strongly_convex:  # rounding alone can ask for less
        shares = columns.shares_within(mixed(columns.extent(pairs.terms.q[ends])))
        q *= shares[:, None]
        rows = rows.shrunk(shares, problem._least_loss)
    if not isinstance(used, slice):
        columns = columns.on(used)
    terms = PairTerms(coefs, intercepts, q, rows)
    gaps = gaps_of(problem, columns, terms).reshape(table.shape)
    best = np.argmin(gaps, axis=1) + np.arange(len(table)) * table.shape[1]
    duals = [
        _MixedDual.of(pairs.duals[first], pairs.duals[first + 1], float(t[k]), float(shares[k]))
        for k in best
    ]
    found = JudgedPairs.of(problem, strengths, columns.some(best), terms.some(best), duals)
    whole = np.zeros((strengths.size, problem.n_features))
    whole[:, used] = found.terms.coefs
    values = zip(whole, found.terms.intercepts.tolist(), found.proofs, strict=True)
    pulls = [None] * strengths.size if not isinstance(used, slice) else found.terms.q
    return [
        BetweenPair(coef, intercept, pull, *proof)
        for (coef, intercept, proof), pull in zip(values, pulls, strict=True)
    ]


def _columns_in_use(pairs: JudgedPairs, ends: slice) -> slice | NDArray[np.intp]:
    """Return the columns that matter: under an l1 penalty, those with a coefficient."""
    if not pairs.problem.columns.is_plain_l1:
        return slice(None)
    return np.flatnonzero(pairs.terms.coefs[ends].any(axis=0))


def _apart(pairs: JudgedPairs, ends: slice) -> float:
    """Return ``(z' - z)'(g' - g)`` of two pairs."""
    terms = pairs.terms
    [moves], [pulls] = np.diff(terms.coefs[ends], axis=0), np.diff(terms.q[ends], axis=0)
    apart = float(-moves @ pulls)
    if pairs.problem.fit_intercept:
        [shift], [change] = np.diff(terms.intercepts[ends]), np.diff(terms.rows.totals[ends])
        apart += float(shift * change)
    return apart
