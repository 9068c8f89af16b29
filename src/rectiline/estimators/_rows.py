"""Sources of rows as data of estimators: recognised, read and predicted block by block."""

from __future__ import annotations

import os
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rectiline import rows as row_sources
from rectiline._typing import Vector
from rectiline.estimators._check import as_numpy, like, linear_scores, on_host
from rectiline.estimators._encode import new_rows
from rectiline.rows import Block, RowBlocks

_TENSOR_ENTRIES_AT_ONCE = 1 << 26  # converted to float64 at a time


def as_rows(X: Any, y: Any = None, sample_weight: Any = None) -> RowBlocks | None:
    """Return the rows of sources that are read block by block; None for arrays in memory."""
    if row_sources.is_source(X):
        return row_sources.of(X, y, sample_weight)
    if row_sources.is_elsewhere(X):
        raise TypeError(
            f"X is a {type(X).__name__}, whose rows are not in memory. Pass rectiline.rows.of(X, "
            "target=...) with the name of the column of targets; it reads them in blocks."
        )
    return None


def note_columns(estimator: Any, rows: RowBlocks) -> None:
    """Set what scikit-learn notes about the columns of X."""
    estimator.n_features_in_ = rows.n_features
    estimator.__dict__.pop("feature_names_in_", None)
    if rows.feature_names is not None:
        estimator.feature_names_in_ = np.asarray(rows.feature_names, dtype=object)


def refuse_on_rows(estimator: Any, **asked: bool) -> None:
    """Raise about the first thing asked for that needs arrays in memory."""
    for what, is_asked in asked.items():
        if is_asked:
            raise ValueError(
                f"{type(estimator).__name__}: {what} needs X and y in memory, and cannot go with "
                "rows in blocks. Leave it out, or pass arrays."
            )


def count_labels(rows: RowBlocks) -> tuple[NDArray[Any], Vector]:
    """Return the labels of all rows, sorted, with their total weights, in one pass."""
    labels, totals = zip(*rows.map_targets(_block_labels, None), strict=True)
    classes, place = np.unique(np.concatenate(labels), return_inverse=True)
    return classes, np.bincount(place, np.concatenate(totals)).astype(np.float64)


def _block_labels(block: Block, _: None) -> tuple[NDArray[Any], Vector]:
    """Return the labels in a block and their weights."""
    if block.is_tensor:
        import torch

        found, places = torch.unique(block.y, return_inverse=True)
        weight = torch.ones_like(places, dtype=torch.float64)
        weight = weight if block.weight is None else block.weight.double()
        mass = torch.zeros(len(found), dtype=torch.float64, device=places.device)
        mass.index_add_(0, places, weight)
        labels, total = found.cpu().numpy(), mass.cpu().numpy()
    else:
        labels, place = np.unique(np.asarray(block.y), return_inverse=True)
        total = np.bincount(place, block.weight, minlength=labels.size).astype(np.float64)
    if labels.dtype.kind == "f" and not (labels == np.floor(labels)).all():
        value = labels[np.argmax(labels != np.floor(labels))]
        raise ValueError(
            f"y must hold labels of classes; it holds {value}, which is not a whole number. For "
            "numbers use PLQRegressor."
        )
    return labels, total


# ---- predictions ----------------------------------------------------------------------------


def predicted(
    estimator: Any, X: Any, blocks: bool, method: str = "_from_scores", to: Any = None
) -> Any:
    """Return what the estimator says about new data.

    Parameters
    ----------
    X : array-like, sparse matrix, source of rows, or path of a file or folder of Parquet
    blocks : bool
        Whether to return an iterator with one array for each block, instead of one array.
    method : str
        The method that turns scores, ``X @ coef_.T + intercept_``, into the answer.
    to : path, optional
        A folder to write the answer to, as Parquet; the paths of its files are returned.
    """
    check_is_fitted(estimator)
    if isinstance(X, str | os.PathLike):  # columns of files are found by the names of the fit
        names = getattr(estimator, "feature_names_in_", None)
        options = {} if names is None or str(X).endswith(".npy") else {"columns": list(names)}
        X = row_sources.of(X, **options)
    rows, given = as_rows(X), X
    if rows is None and to is not None:
        rows = row_sources.of(X)
    if rows is None:
        X = on_host(X)
        X = new_rows(estimator, X)
        if not blocks:
            made: NDArray[Any] = getattr(estimator, method)(linear_scores(estimator, X))
            return cast(NDArray[Any], like(made, given))
        rows = row_sources.of(X)
    check_columns(estimator, rows)
    if to is not None:
        return row_sources.write_parquet(rows, _predict_block, (estimator, method), to)
    parts = rows.map_blocks(_predict_block, (estimator, method))
    return parts if blocks else cast(NDArray[Any], like(np.concatenate(list(parts)), given))


def with_targets(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return X, y and weights; rows in blocks hold those that are not given."""
    if y is not None:
        return X, y, sample_weight
    if not isinstance(X, RowBlocks) or not X.has_target:
        raise ValueError(
            "score needs targets y, or rows that hold them, such as "
            "rectiline.rows.from_parquet(path, target=...)."
        )
    parts = list(X.map_targets(_targets, None))
    y = np.concatenate([part for part, _ in parts])
    weight = np.concatenate([part for _, part in parts]) if X.has_weight else sample_weight
    return X, y, weight


def _targets(block: Block, _: None) -> tuple[Any, Any]:
    parts = (block.y, block.weight)
    y, weight = (part.cpu().numpy() if hasattr(part, "cpu") else part for part in parts)
    return y, weight


def check_columns(estimator: Any, rows: RowBlocks) -> None:
    """Raise if rows have other columns than those of the fit."""
    d = estimator.n_features_in_
    if rows.n_features != d:
        raise ValueError(
            f"X has {rows.n_features} features, but {type(estimator).__name__} is expecting {d} "
            "features as input."
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is None or rows.feature_names is None or tuple(known) == rows.feature_names:
        return
    place = next(k for k, name in enumerate(rows.feature_names) if name != known[k])
    raise ValueError(
        f"The columns of X must be those of the fit, in the same order: column {place} is "
        f"{rows.feature_names[place]!r}, at the fit it was {known[place]!r}."
    )


def _predict_block(block: Block, state: tuple[Any, str]) -> NDArray[Any]:
    """Return what an estimator says about a block."""
    estimator, method = state
    scores = _tensor_scores if block.is_tensor else linear_scores
    found = scores(estimator, block.X)
    if not np.isfinite(found).all():
        raise ValueError(
            "X must hold finite numbers whose predictions do not overflow; it does not in the "
            f"block that starts at row {block.start}."
        )
    answer: NDArray[Any] = getattr(estimator, method)(found)
    return answer


def _tensor_scores(estimator: Any, X: Any) -> Vector:
    """Return the scores of a tensor, computed in float64 on its device."""
    import torch

    coef = torch.as_tensor(np.ascontiguousarray(as_numpy(estimator.coef_).T), device=X.device)
    intercept = torch.as_tensor(as_numpy(estimator.intercept_), device=X.device)
    step = max(1, _TENSOR_ENTRIES_AT_ONCE // X.shape[1])
    parts = [
        (X[first : first + step].double() @ coef + intercept).cpu().numpy()
        for first in range(0, X.shape[0], step)
    ]
    return np.concatenate(parts)
