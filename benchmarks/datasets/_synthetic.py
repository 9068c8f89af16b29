"""Random tables with known character."""

from __future__ import annotations

import numpy as np
from scipy import sparse

Vector = np.ndarray


def linear_model(
    profile: str, n: int, d: int, task: str, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """A linear model plus noise on columns of the given profile.

    good
        independent standard normal columns
    bad
        the same with column scales ``10 ** uniform(-2, 2)``
    correlated
        five common factors and a little noise
    sparse_model
        independent standard normal columns, of which the first twenty matter
    heavy
        Student t columns with 2.5 degrees of freedom, scaled to sd 1
    quarter
        a quarter of the entries of the first, in a sparse matrix
    """
    rng = np.random.default_rng(seed)
    if profile in ("good", "sparse_model"):
        X = rng.standard_normal((n, d))
    elif profile == "bad":
        X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-2, 2, d)
    elif profile == "correlated":
        factors = rng.standard_normal((n, 5)) @ rng.standard_normal((5, d))
        X = factors + 0.3 * rng.standard_normal((n, d))
    elif profile == "heavy":
        X = rng.standard_t(2.5, (n, d))
        X /= X.std(axis=0)
    elif profile == "quarter":
        X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.25)
    else:
        raise ValueError(
            f"profile={profile!r}: allowed are good, bad, correlated, heavy, sparse_model, quarter"
        )
    coef = rng.standard_normal(d) / np.sqrt(d) / X.std(axis=0)
    if profile == "sparse_model":
        coef = np.where(np.arange(d) < 20, 2.0 * np.sqrt(d) * coef, 0.0)
    z = X @ coef
    if profile == "quarter":
        X = sparse.csr_array(X)
    if task == "margin":
        return X, np.where(z + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, z + 0.5 * rng.standard_t(3, n)


def two_gaussians(
    n: int, d: int, seed: int, relevant: int = 10, correlation: float = 0.1, group: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The design of the L1-SVM paper: class means of +-1 on the relevant columns, unit columns.

    With ``group > 0`` columns are correlated inside groups of that size only, and ``relevant``
    counts groups.
    """
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    shared = 1 if group == 0 else d // group
    common = np.sqrt(correlation) * rng.standard_normal((n, shared))
    X = np.sqrt(1.0 - correlation) * rng.standard_normal((n, d))
    X += common if group == 0 else np.repeat(common, group, axis=1)
    X[:, : relevant * max(group, 1)] += y[:, None]
    X /= np.linalg.norm(X, axis=0)
    return X, y


def correlated_groups(
    n: int, d: int, seed: int, shift: float = 0.5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two classes on groups of 2 to 50 columns, correlation 0.5 inside; and the groups' labels.

    The class means are +-shift on the first ten groups; columns have unit length.
    """
    rng = np.random.default_rng(seed)
    ends = np.cumsum(rng.integers(2, 51, d))
    labels = np.searchsorted(ends, np.arange(d), side="right")
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    common = rng.standard_normal((n, labels.max() + 1))
    X = np.sqrt(0.5) * (common[:, labels] + rng.standard_normal((n, d)))
    X[:, labels < 10] += shift * y[:, None]
    return X / np.linalg.norm(X, axis=0), y, labels


def sparse_rows(n: int, d: int, density: float, task: str, seed: int) -> tuple[object, np.ndarray]:
    """Unit-norm sparse rows with power-law column frequencies, as tf-idf text has."""
    from scipy import sparse

    rng = np.random.default_rng(seed)
    per_row = max(1, int(density * d))
    columns = np.minimum((d * rng.random((n, per_row)) ** 3).astype(np.int64), d - 1)
    values = rng.gamma(2.0, size=(n, per_row))
    rows = np.repeat(np.arange(n), per_row)
    X = sparse.csr_matrix((values.ravel(), (rows, columns.ravel())), shape=(n, d))
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel()
    X = sparse.csr_matrix(sparse.diags(1.0 / norms) @ X)
    z = X @ rng.standard_normal(d)
    noise = 0.3 * z.std() * rng.standard_normal(n)
    return X, np.where(z + noise > 0, 1.0, -1.0) if task == "margin" else z + noise
