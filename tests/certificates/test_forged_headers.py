"""Headers and arrays that are not those of the format, and labels that are equal, are refused."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rectiline as rl
from certificates.forge import (
    MALFORMED,
    X,
    Y,
    claim,
    honest,
    verdict,
)
from certificates.make_vectors import flat, write
from rectiline import verify


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("how", MALFORMED)
def test_malformed_files_are_refused(tmp_path: Path, how: str, exact: bool) -> None:
    header, arrays = honest(tmp_path)
    MALFORMED[how](header, arrays)
    with pytest.raises(verify.Refused):
        verdict(header, arrays, exact)


@pytest.mark.parametrize("header", [[], "text", 3, None, [[[]]]])
def test_headers_that_are_no_objects_are_refused(tmp_path: Path, header: Any) -> None:
    _, arrays = honest(tmp_path)
    with pytest.raises(verify.Refused, match="header is no object"):
        verdict(header, arrays)


def test_deep_headers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.rlcert"
    for content in ("[" * 10**6, '{"a":' * 10**6, "1" * 10**6, '{"version": NaN}', "\ud800"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", content.encode("utf-8", "surrogatepass"))
        with pytest.raises(verify.Refused):
            verify.read(path)


@pytest.mark.parametrize("labels", [[2**53, 2**53 + 1], [0, 10**400], [1, True], [0, -0.0]])
def test_labels_that_a_target_equals_twice_are_refused(tmp_path: Path, labels: list[Any]) -> None:
    y = np.where(Y > 0, 2.0**53, 0.0)
    rl.solve(rl.Problem(X, y, "hinge")).save(tmp_path / "fit.rlcert")
    header, arrays = flat(*verify.read(tmp_path / "fit.rlcert"))
    header["labels"] = [0.5, *labels]
    arrays["encoding"] = np.tile([1.0, 0.0, 1.0], (len(labels) + 1, 1))
    write(tmp_path / "false.rlcert", header, arrays)
    with pytest.raises(verify.Refused):
        verify.check(tmp_path / "false.rlcert", [(X, y)])


@pytest.mark.parametrize("exact", [False, True])
def test_every_level_has_columns_of_its_own(tmp_path: Path, exact: bool) -> None:
    """The features of a level without columns would be left out of what is proved."""
    first = X[:, :1]
    problem = rl.Problem(first, Y, "absolute", rl.penalties.Ridge(1.0), fit_intercept=False)
    rl.solve(problem).save(tmp_path / "true.rlcert")
    header, arrays = flat(*verify.read(tmp_path / "true.rlcert"))
    header["losses"] = header["losses"] * 2
    arrays["copies"] = np.array([[0, 0], [1, 0]])
    arrays |= {"slope_rows": np.zeros(0, dtype=np.int64), "slopes": np.zeros(0)}
    claim(header, 0.0, 1e6)
    for second in ([-1, -1], [1, -1]):  # no column, and one that is not there
        arrays["columns"] = np.array([[0, -1], second])
        write(tmp_path / "false.rlcert", header, arrays)
        with pytest.raises(verify.Refused, match="columns are odd"):
            verify.check(tmp_path / "false.rlcert", [(first, Y)], exact)
