"""The checker of certificate files: its vectors, its numbers, and files with flipped bytes."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from fuzz_certificates import (
    PROOFS,
    VALID,
    change_the_header,
    flip_an_array,
    flip_the_archive,
)

import rectiline as rl
from rectiline import verify

VECTORS = Path(__file__).parent / "vectors"
CORRUPTED = sorted(VECTORS.glob("corrupted_*.rlcert"))


def table(path: Path) -> Path:
    """Return the data that a vector is about."""
    return VECTORS / f"{path.stem.split('_')[2]}.npz"


def blocks(path: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    with np.load(table(path)) as data:
        return [(data["X"], data["y"])]


def test_the_radius_is_that_of_certificates(tmp_path: Path) -> None:
    from rectiline.problems.proof._balance import RADIUS

    assert verify.RADIUS == RADIUS
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    problem = rl.Problem(X, y, "absolute", None)
    rl.solve(problem).save(tmp_path / "fit.rlcert")
    header, arrays = verify.read(tmp_path / "fit.rlcert")
    header["problems"][0]["radius"] = header["radius"] = 1  # a file does not choose it
    (checker,) = verify.problems(header, arrays)
    verify.show_rows([checker], [(X, y)])
    assert checker.verdict().radius == RADIUS
    assert verify.check_all(VALID[0], blocks(VALID[0]))[0].radius == verify.FIRST_RADIUS == 100


def test_there_are_vectors_of_both_formats() -> None:
    assert [len(VALID), len(CORRUPTED)] == [32, 40]
    formats = [verify.read(path)[0]["version"] for path in VALID]
    assert formats == [1] * 20 + [2] * 12


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_valid_files_are_accepted(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main([str(path), str(table(path))]) == 0
    assert capsys.readouterr().out.startswith("The claim holds: ")


@pytest.mark.parametrize("path", CORRUPTED, ids=lambda path: path.stem)
def test_corrupted_files_are_refused(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main([str(path), str(table(path))]) == 1
    said = capsys.readouterr().out
    assert said.startswith("The claim does not hold: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("path", PROOFS, ids=lambda path: path.stem)
def test_rational_arithmetic_confirms_the_bound_of_double_precision(path: Path) -> None:
    verdicts = (verify.check_all(path, blocks(path), exact) for exact in (False, True))
    for rounded, exact in zip(*verdicts, strict=True):
        assert exact.rounding == 0.0
        assert exact.gap <= rounded.gap
        assert exact.objective == pytest.approx(rounded.objective, rel=1e-12)


@pytest.mark.parametrize("path", PROOFS[::3], ids=lambda path: path.stem)
def test_blocks_may_be_cut_anywhere(path: Path) -> None:
    ((X, y),) = blocks(path)
    whole = verify.check_all(path, [(X, y)])
    parts = verify.check_all(path, [(X[:7], y[:7]), (X[7:7], y[7:7]), (X[7:], y[7:])])
    for cut, one in zip(parts, whole, strict=True):
        # Sums are added in another order: by at most 0.053 of what rounding may add, in all files.
        assert abs(cut.gap - one.gap) <= 0.1 * one.rounding


def test_a_changed_entry_of_the_data_is_noticed() -> None:
    ((X, y),) = blocks(VALID[0])
    X = X.copy()
    X[3, 1] = np.nextafter(X[3, 1], 1.0)
    with pytest.raises(verify.Refused, match="the data are not those of the certificate"):
        verify.check(VALID[0], [(X, y)])


def test_one_file_is_enough(tmp_path: Path) -> None:
    copy = tmp_path / "verify.py"
    shutil.copy(verify.__file__, copy)
    command = [sys.executable, "-I", str(copy), str(VALID[0]), str(table(VALID[0]))]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    imports = "import sys, runpy; runpy.run_path({!r}); print('rectiline' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", imports.format(str(copy))], capture_output=True, text=True
    )
    assert done.stdout.strip() == "False"


def test_csv_without_names_in_the_file(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    ((X, y),) = blocks(VALID[6])
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert verify.main([str(VALID[6]), str(tmp_path / "data.csv")]) == 0
    assert verify.main([str(VALID[6]), str(tmp_path / "data.csv"), "--target", "y"]) == 0


def test_a_column_that_the_table_lacks_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data.csv").write_text("a,b,c,d,target\n1,2,3,4,5\n")
    assert verify.main([str(VALID[6]), str(tmp_path / "data.csv")]) == 2
    said = capsys.readouterr().out
    assert "the table has no column 'y'; its columns are 'a', 'b', 'c', 'd', 'target'" in said


@pytest.mark.parametrize("data", ["two arguments", "one block", "nothing", "a number"])
def test_odd_data_are_not_blamed_on_the_file(data: str) -> None:
    ((X, y),) = blocks(VALID[0])
    given = {
        "two arguments": (X, y),
        "one block": ((X, y),),
        "nothing": (None,),
        "a number": (5,),
    }
    with pytest.raises(verify.CannotCheck, match=r"such as \[\(X, y\)\]"):
        verify.check(VALID[0], *given[data])


def test_flipped_bits_of_files_are_refused_or_harmless() -> None:
    rng = np.random.default_rng(0)
    found = Counter(flip_the_archive(VALID[k % len(VALID)], rng) for k in range(1000))
    assert 0 < found["archive unchanged"] < 300


def test_flipped_bits_of_arrays_prove_nothing_false() -> None:
    """Flips that the archive's checksums would hide: what is accepted is still a proof."""
    rng = np.random.default_rng(1)
    found = Counter(flip_an_array(PROOFS[k % len(PROOFS)], rng) for k in range(150))
    assert found["array harmless"] > 5 and found["array refused"] > 5


def test_odd_headers_are_refused_or_harmless() -> None:
    rng = np.random.default_rng(2)
    found = Counter(change_the_header(VALID[k % len(VALID)], rng) for k in range(300))
    assert found["header refused"] > 200


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("intercept", [False, True])
def test_solutions_of_any_scale_can_be_saved(tmp_path: Path, scale: float, intercept: bool) -> None:
    rng = np.random.default_rng(5)
    X = scale * rng.standard_normal((60, 3))
    y = X @ [1.0, -1.0, 0.5] + scale * rng.standard_normal(60)
    problem = rl.Problem(
        X, y, rl.losses.Pinball(0.4), rl.penalties.L1(scale), fit_intercept=intercept
    )
    solution = rl.solve(problem)
    solution.save(tmp_path / "fit.rlcert", problem)
    found = verify.check(tmp_path / "fit.rlcert", [(X, y)])
    assert found is not None
    assert found.gap <= 1e-5 * abs(found.objective)


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (False, True), (2.5, 7.0)])
def test_labels_are_those_of_the_data(tmp_path: Path, labels: tuple[object, object]) -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50, 2))
    y = np.array(labels)[(X[:, 0] > 0).astype(int)]
    problem = rl.Problem(X, y, rl.losses.Hinge())
    rl.solve(problem).save(tmp_path / "fit.rlcert")
    assert verify.check(tmp_path / "fit.rlcert", [(X, y)]) is not None
    with pytest.raises(verify.Refused, match="labels other than"):
        verify.check(tmp_path / "fit.rlcert", [(X, np.full(50, 99))])


def test_a_solution_holds_its_problem_unless_it_was_pickled(tmp_path: Path) -> None:
    solution = rl.solve(rl.Problem(np.eye(2), [1.0, 2.0], rl.losses.Absolute()))
    solution.save(tmp_path / "fit.rlcert")
    assert verify.check(tmp_path / "fit.rlcert", [(np.eye(2), [1.0, 2.0])]) is not None
    loaded = pickle.loads(pickle.dumps(solution))
    with pytest.raises(ValueError, match=r"pass it: save\(path, problem\)"):
        loaded.save(tmp_path / "other.rlcert")
    assert not (tmp_path / "other.rlcert").exists()


def test_infeasible_problems_are_saved_too(tmp_path: Path) -> None:
    both = [
        rl.constraints.Nonnegative(),
        rl.constraints.LinearInequality([[-1.0, -1.0]], [-1.0]),
    ]
    problem = rl.Problem(np.eye(2), [1.0, 2.0], rl.losses.Absolute(), constraints=both)
    solution = rl.solve(problem)
    assert solution.status == "infeasible"
    solution.save(tmp_path / "fit.rlcert")
    assert verify.check(tmp_path / "fit.rlcert") is None
