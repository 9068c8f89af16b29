"""Real tables: a folder of ``.npz`` files, else OpenML, else a stand-in of the same size.

Format of a file: ``format`` ("dense" or "csr"), ``X`` or ``data/indices/indptr/shape``, ``y``, and
optionally ``Z`` (sensitive attributes) and further targets such as ``rating``.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import _synthetic

FOLDER_VARIABLE = "RECTILINE_DATA"
OPENML_VARIABLE = "RECTILINE_OPENML"  # "0" keeps the run off the network


@dataclass(frozen=True)
class Known:
    """Size of a set (for its stand-in) and its OpenML name and version, if it has one."""

    n: int
    d: int
    openml: str | None = None
    version: int = 1
    density: float = 1.0
    heavy: bool = True


KNOWN = {
    "spf": Known(1941, 33, "steel-plates-fault"),
    "sylva_prior": Known(14395, 108, "sylva_prior"),
    "creditcard_subset14240": Known(14240, 29, "creditcard"),
    "liver_disorders": Known(345, 5, "liver-disorders"),
    "kin8nm": Known(8192, 8, "kin8nm", heavy=False),
    "house_8L": Known(22784, 8, "house_8L"),
    "adult": Known(48842, 101, "adult", 2),
    "census_kdd": Known(299285, 503, density=0.08),
    "kddcup99_10pc": Known(494020, 116, "KDDCup99", density=0.15),
    "diamonds": Known(53940, 26, "diamonds"),
    "keggundirected": Known(63608, 27),
    "cal_housing": Known(20640, 8, "houses"),
    "abalone": Known(4177, 10, "abalone"),
    "engel": Known(235, 1),
    "a9a": Known(48842, 123, "a9a", density=0.11),
    "w8a": Known(49749, 300, "w8a", density=0.04),
    "mnist_5k": Known(5000, 784, density=0.19),
    "connect4": Known(67557, 126, "connect-4", 2, density=0.33),
    "reuters21578_modapte_tfidf": Known(12902, 19425, density=0.0038),
    "news20_bydate_tfidf": Known(18846, 75878, density=0.002),
    "imdb_tfidf": Known(50000, 47934, density=0.0028),
}


def load(name: str, task: str, target: str, seed: int) -> tuple[Any, np.ndarray, Any, str]:
    """``X, y, Z, origin`` of a named set. ``origin`` says which of the three sources it was."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder and (path := Path(folder) / f"{name}.npz").exists():
        return *_from_file(path, target), "file"
    if name not in KNOWN:
        raise KeyError(f"data set {name!r}: not in {folder!r}, and no stand-in is described")
    known = KNOWN[name]
    where = f"no {name}.npz in {folder}" if folder else f"{FOLDER_VARIABLE} is not set"
    if known.openml and os.environ.get(OPENML_VARIABLE, "1") != "0" and target == "y":
        try:
            X, y = _from_openml(known, task)
            return X, y, None, f"OpenML {known.openml} ({where})"
        except Exception as error:  # whatever the network or the parser says, there is a stand-in
            where += f"; OpenML: {type(error).__name__}"
    X, y = _stand_in(known, task, seed)
    return X, y, None, f"synthetic stand-in ({where})"


def _from_file(path: Path, target: str) -> tuple[Any, np.ndarray, Any]:
    with np.load(path, allow_pickle=False) as archive:
        if str(archive["format"]) == "csr":
            from scipy import sparse

            parts = (
                archive["data"].astype(np.float64),
                archive["indices"].astype(np.int32),
                archive["indptr"].astype(np.int32),
            )
            X: Any = sparse.csr_matrix(parts, shape=tuple(int(k) for k in archive["shape"]))
        else:
            X = np.ascontiguousarray(archive["X"], dtype=np.float64)
        name, _, label = target.partition("=")
        y = np.asarray(archive[name], dtype=np.float64)
        y = np.where(y == float(label), 1.0, -1.0) if label else y
        Z = np.asarray(archive["Z"], dtype=np.float64) if "Z" in archive.files else None
    return X, y, Z


def _from_openml(known: Known, task: str) -> tuple[Any, np.ndarray]:
    """Numeric columns, then one-hot columns of the categorical ones; rows with NaN dropped."""
    from sklearn.datasets import fetch_openml

    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(20.0)
    try:
        bunch = fetch_openml(known.openml, version=known.version, as_frame="auto", n_retries=1)
    finally:
        socket.setdefaulttimeout(before)
    X, y = bunch.data, bunch.target
    if hasattr(X, "columns"):
        import pandas as pd

        numeric = X.select_dtypes("number")
        coded = pd.get_dummies(X.drop(columns=numeric.columns), dtype=float)
        table = np.hstack([numeric.to_numpy(float), coded.to_numpy(float)])
        keep = np.isfinite(table).all(axis=1)
        X, y = np.ascontiguousarray(table[keep]), np.asarray(y)[keep]
    if task == "margin":
        labels, codes = np.unique(np.asarray(y).astype(str), return_inverse=True)
        rarest = int(np.argmin(np.bincount(codes))) if len(labels) > 2 else 1
        return X, np.where(codes == rarest, 1.0, -1.0)
    return X, np.asarray(y, dtype=np.float64)


def _stand_in(known: Known, task: str, seed: int) -> tuple[Any, np.ndarray]:
    if known.density < 1.0:
        return _synthetic.sparse_rows(known.n, known.d, known.density, task, seed)
    profile = "heavy" if known.heavy else "good"
    return _synthetic.linear_model(profile, known.n, known.d, task, seed)
