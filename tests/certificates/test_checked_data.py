"""Data that do not fit a file, or that cannot be used: a refusal, or no verdict at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rectiline as rl
from certificates.forge import (
    X,
    Y,
    honest,
)
from certificates.make_vectors import write
from rectiline import verify


def test_columns_of_a_table_have_names_of_their_own(tmp_path: Path) -> None:
    path, table = tmp_path / "fit.rlcert", tmp_path / "data.csv"
    rl.solve(rl.Problem(X, Y, "absolute")).save(path, columns=["a", "b"])
    lines = [f"{a!r},{b!r},{y!r},0" for (a, b), y in zip(X.tolist(), Y.tolist())]
    table.write_text("\n".join(["a,b,y,a", *lines]), "utf-8")
    assert verify.main([str(path), str(table)]) == 2


def test_weights_of_the_data_must_fit_those_of_the_file(tmp_path: Path) -> None:
    weight = np.arange(1.0, 31.0)
    problem = rl.Problem(X, Y, "absolute", sample_weight=weight)
    path = tmp_path / "fit.rlcert"
    rl.solve(problem).save(path, problem)
    assert verify.check(path, [(X, Y)]) is not None
    assert verify.check(path, [(X[:9], Y[:9], weight[:9]), (X[9:], Y[9:], weight[9:])]) is not None
    assert verify.check(path, [(X, Y, 3.0 * weight)]) is not None  # another unit
    with pytest.raises(verify.Refused, match="weights of the data"):
        verify.check(path, [(X, Y, np.ones(30))])


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ((X, Y), r"such as \[\(X, y\)\]"),
        ([(X, Y, None, None)], "blocks"),
        ([(X, Y[:3])], "3 targets"),
        ([(X[0], Y)], "shape"),
        ([(np.full((30, 2), np.nan), Y)], "X must hold finite numbers"),
        ([(X, np.full(30, np.inf))], "y must hold finite numbers"),
        ([(X.astype(str), Y)], "X must hold finite numbers"),
        ([(X, Y, -np.ones(30))], "weights"),
    ],
)
def test_data_that_cannot_be_used_are_no_verdict(tmp_path: Path, blocks: Any, said: str) -> None:
    problem = rl.Problem(X, Y, "absolute")
    rl.solve(problem).save(tmp_path / "fit.rlcert", problem)
    with pytest.raises(verify.CannotCheck, match=said):
        verify.check(tmp_path / "fit.rlcert", blocks)


def test_the_command_says_that_it_could_not_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, arrays = honest(tmp_path)
    path = tmp_path / "fit.rlcert"
    write(path, header, arrays)
    np.savez(tmp_path / "other.npz", Z=X)
    for data in ("missing.csv", "other.npz"):
        assert verify.main([str(path), str(tmp_path / data)]) == 2
    assert verify.main([str(tmp_path / "missing.rlcert"), str(tmp_path / "other.npz")]) == 2
    assert verify.main([str(path)]) == 2
    assert capsys.readouterr().out.count("Could not check: ") == 4
