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


def shares_between(
    strengths: Vector, before: Vector | float, after: Vector | float, strongly_convex: bool
) -> Matrix:
    """Return shares to try at strengths between one before and one after, one row for each.

    Multipliers at the ends of an l1 penalty's range must shrink as the strength does.
    """
    linear = (strengths - before) / (after - before)
    if not strongly_convex:
        return np.asarray(linear[:, None])
    harmonic = linear * after / strengths  # linear in the inverse strength
    return np.asarray(np.outer(linear, _BLENDS) + np.outer(harmonic, 1 - _BLENDS))


def certify_between(pairs: JudgedPairs, strengths: Vector) -> list[BetweenPair]:
    """Return pairs at strengths between those of judged pairs.

    Parameters
    ----------
    pairs : JudgedPairs
        In the order of their strengths, from large to small.
    strengths : ndarray of shape (k,)
        Each between those of two of the pairs.

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
    >>> [found] = certify_between(pairs, np.array([0.75]))
    >>> found.coef, found.certificate.gap, found.dual.sample
    (array([1.]), 0.0, array([ 0.375, -0.375]))
    """
    problem, known = pairs.problem, pairs.terms
    _check_order(pairs.strengths, strengths)
    before = np.searchsorted(-pairs.strengths, -strengths, side="left") - 1
    ends = pairs.strengths[before], pairs.strengths[before + 1]
    table = shares_between(strengths, *ends, problem.columns.strongly_convex)
    n_tried = table.shape[1]
    t, first = table.ravel(), np.repeat(before, n_tried)
    columns = multiples(problem, np.repeat(strengths, n_tried))
    extents = None if columns.strongly_convex else columns.extent(known.q)
    used = columns.in_use(known.coefs)
    if used is not None:
        columns, known = columns.on(used), known.on(used)

    def mixed(of: Matrix) -> Matrix:
        share = t if of.ndim == 1 else t[:, None]
        return np.asarray((1 - share) * of[first] + share * of[first + 1])

    apart = _apart(known, problem.fit_intercept)[first]
    rows = RowSums(
        mixed(known.rows.losses),
        np.maximum(mixed(known.rows.gaps) + t * (1 - t) * apart, 0.0),
        mixed(known.rows.totals),
        mixed(known.rows.sizes),
    )
    q, shares = mixed(known.q), np.ones(t.size)
    if extents is not None:  # rounding alone can ask for less
        shares = columns.shares_within(mixed(extents))
        q *= shares[:, None]
        rows = rows.shrunk(shares, problem.least_loss)
    terms = PairTerms(mixed(known.coefs), mixed(known.intercepts), q, rows)
    gaps = gaps_of(problem, columns, terms).reshape(table.shape)
    best = np.argmin(gaps, axis=1) + np.arange(len(table)) * n_tried
    duals = [
        _MixedDual.of(pairs.duals[k], pairs.duals[k + 1], share, part)
        for k, share, part in zip(before, t[best].tolist(), shares[best].tolist(), strict=True)
    ]
    found = JudgedPairs.of(problem, strengths, columns.some(best), terms.some(best), duals)
    whole = found.terms.coefs
    pulls: list[Vector | None] = list(found.terms.q)
    if used is not None:
        whole = np.zeros((strengths.size, problem.n_features))
        whole[:, used] = found.terms.coefs
        pulls = [None] * strengths.size
    values = zip(whole, found.terms.intercepts.tolist(), pulls, found.proofs, strict=True)
    return [BetweenPair(coef, b0, pull, *proof) for coef, b0, pull, proof in values]


def _check_order(known: Vector, strengths: Vector) -> None:
    """Refuse strengths beyond the ends: what lies outside is no mixture, and nothing is proved."""
    if known.size < 2 or not (np.diff(known) < 0).all():
        raise ValueError(
            f"pairs must be two or more, with strengths from large to small; got {known.tolist()}."
        )
    if not ((known[-1] < strengths) & (strengths < known[0])).all():
        raise ValueError(
            f"strengths must lie between {known[-1]:.4g} and {known[0]:.4g}, those of the pairs; "
            f"got {strengths.tolist()}."
        )


def _apart(terms: PairTerms, fit_intercept: bool) -> Vector:
    """Return ``(z' - z)'(g' - g)`` of every pair and the next."""
    apart = -np.einsum("kj,kj->k", np.diff(terms.coefs, axis=0), np.diff(terms.q, axis=0))
    if fit_intercept:
        apart += np.diff(terms.intercepts) * np.diff(terms.rows.totals)
    return np.asarray(apart)
