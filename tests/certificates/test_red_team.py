"""Files and data made by hand against both checkers: what they say is true, and ends in no error.

Each case is checked in double precision, in rational numbers and by the script of the browser.
"""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rectiline as rl
from certificates.forge import LOSS, X, Y, falling, hand_made, honest, infeasible, piece
from certificates.make_vectors import flat, write
from certificates.test_browser import NODE, run
from rectiline import verify

HOLDS, REFUSED, CANNOT = 0, 1, 2
CODES = {"holds": HOLDS, "refused": REFUSED, "cannot": CANNOT}


def said_by_all(
    path: Path, data: Path, capsys: pytest.CaptureFixture[str], code: int, **options: str
) -> list[str]:
    """Return what the checkers say, which must be what is expected."""
    named = [word for name, value in options.items() for word in (f"--{name}", value)]
    texts = []
    for exact in ([], ["--exact"]):
        found = verify.main([str(path), str(data), *named, *exact])
        texts.append(capsys.readouterr().out)
        assert found == code, texts
    if NODE is not None:
        (found,) = run([(path, data, options)])
        texts.append(found["text"])
        assert CODES[found["verdict"]] == code, texts
    return texts


@pytest.fixture
def checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that writes parts of a file and data, and has them checked."""

    def check(header: Any, arrays: Any, code: int, x: Any = X, y: Any = Y) -> list[str]:
        write(tmp_path / "file.rlcert", header, arrays)
        np.savez(tmp_path / "data.npz", X=np.asarray(x), y=np.asarray(y))
        return said_by_all(tmp_path / "file.rlcert", tmp_path / "data.npz", capsys, code)

    return check


def test_a_problem_without_columns(checked: Any) -> None:
    x, y = np.zeros((3, 0)), [1.0, 2.0, 3.0]
    checked(*hand_made(x, y, [], 6.0, 1e-9), HOLDS, x, y)
    checked(*hand_made(x, y, [], 5.0, 0.5), REFUSED, x, y)


LINEAR = {"knots": [], "pieces": [piece(0, 0, 1, 0)]}
CONSTANT = {"knots": [], "pieces": [piece(0, -1e9, 0, 0)]}


@pytest.mark.parametrize(
    ("loss", "direction", "upper", "code"),
    [
        (LINEAR, 1.0, np.inf, HOLDS),
        (LINEAR, -1.0, np.inf, REFUSED),
        (LINEAR, 1.0, 1e10, REFUSED),  # a bound that the far point does not reach
        (CONSTANT, 1.0, np.inf, REFUSED),  # low everywhere, and nowhere falling
        (LINEAR, 0.0, np.inf, REFUSED),
    ],
)
def test_objectives_that_do_not_fall_without_end(
    checked: Any, loss: Any, direction: float, upper: float, code: int
) -> None:
    parts = hand_made([[1.0]], [0.0], [0.0], 0.0, 0.0, loss, upper=[upper])
    checked(*falling(*parts, [direction]), code, [[1.0]], [0.0])


@pytest.mark.parametrize(
    ("A", "c", "xi", "code"),
    [
        ([[5e-324], [-5e-324]], [-5e-324, 0.0], [5e-324, 5e-324], HOLDS),  # far below all doubles
        ([[1e308], [-1e308]], [-1e308, 0.0], [1e308, 1e308], HOLDS),  # and far above
        ([[1.0], [-1.0]], [-1.0, 1.0], [5e-324, 5e-324], REFUSED),
        ([[1.0], [-1.0]], [-1.0, 0.5], [5e-324, 0.0], REFUSED),
        ([[1.0], [1.0]], [-1.0, 0.5], [1.0, -1.0], REFUSED),
    ],
)
def test_contradictions_of_any_size(checked: Any, A: Any, c: Any, xi: Any, code: int) -> None:
    for text in checked(*infeasible(A, c, xi), code):
        assert code == REFUSED or ("Problem: " in text and "bounds" in text)


@pytest.mark.parametrize("k", [0, 1])
def test_slopes_beyond_the_last_one_by_an_ulp(checked: Any, k: int) -> None:
    x, y, slopes = [[1.0], [1.0]], [0.0, 2.0], np.array([-1.0, 1.0])
    for code in (HOLDS, REFUSED):
        listed = {"slope_rows": [0, 1], "slopes": slopes.copy()}
        checked(*hand_made(x, y, [1.0], 2.0, 1e-9, **listed), code, x, y)
        slopes[k] *= 1.0 + 2.0**-52


def test_thousands_of_jumps_within_rounding_add_up_to_a_gap(checked: Any) -> None:
    """Every step down is allowed, all together are not: the supremum is over all pieces."""
    values = np.cumprod(np.full(2000, 1.0 - 2.0**-40))
    steps = {"knots": [float(k).hex() for k in range(1999)]}
    steps["pieces"] = [piece(0, value, 0, 0) for value in values]
    checked(*hand_made([[1.0]], [0.0], [0.5], 1.0, 1e-12, steps), REFUSED, [[1.0]], [0.0])


@pytest.mark.parametrize("size", [1e-300, 5e-324])
def test_strengths_next_to_nothing_are_no_penalty(checked: Any, size: float) -> None:
    x, y = np.eye(2), [1.0, 1.0]
    group = {"groups": [0, 0], "strengths": [size, size], "slope_rows": [0, 1], "slopes": [1, 1.0]}
    checked(*hand_made(x, y, [0.0, 0.0], 2.0, 1e-6, **group), REFUSED, x, y)


def test_words_list_the_losses_that_rows_have(checked: Any) -> None:
    """Losses that no row has could hide the one that counts behind three dots."""
    x, y = [[1.0], [1.0]], [1.0, 1.0]
    header, arrays = hand_made(
        x, y, [1.0], 0.0, 1e-9, copies=[[-1, 0]], loss_index=[3, 3], slope_rows=[0], slopes=[-1.0]
    )
    steep = {"knots": LOSS["knots"], "pieces": [piece(0, 0, -1, 0), piece(0, 0, 7, 0)]}
    header["losses"] = [LOSS, LOSS, LOSS, steep]
    arrays |= {"slope_rows": np.array([0, 1]), "slopes": np.array([-1.0, 1.0])}
    assert all("slopes from -1 to 7" in text for text in checked(header, arrays, HOLDS, x, y))


def test_words_name_strengths(checked: Any, tmp_path: Path) -> None:
    header, arrays = honest(tmp_path, penalty=rl.penalties.L1(0.25))
    assert all("L1 on 2 (0.25 to 0.25)" in text for text in checked(header, arrays, HOLDS))


NAMES = np.where(Y > 0, "yes", "no")


def labelled(folder: Path, y: Any = NAMES) -> tuple[Any, Any]:
    problem = rl.Problem(X, y, "hinge", rl.penalties.Ridge(1.0))
    rl.solve(problem).save(folder / "labels.rlcert")
    return flat(*verify.read(folder / "labels.rlcert"))


@pytest.mark.parametrize(
    "labels", [["no", "yes\0"], ["no", "y\u0435s"], ["yes", "no"], ["no", "no"], ["no", None]]
)
def test_labels_that_look_alike(checked: Any, tmp_path: Path, labels: Any) -> None:
    header, arrays = labelled(tmp_path)
    checked(header | {"labels": labels}, arrays, REFUSED, X, NAMES)


@pytest.mark.parametrize("more", ["x" * 10_000, "\u202e", "a\nThe claim holds: b"])
def test_labels_hide_nothing_of_a_verdict(checked: Any, tmp_path: Path, more: str) -> None:
    header, arrays = labelled(tmp_path)
    arrays["encoding"] = np.vstack([arrays["encoding"], [[-1.0, 0.0, 0.125]]])
    for text in checked(header | {"labels": [*header["labels"], more]}, arrays, HOLDS, X, NAMES):
        assert "- z times 0.125" in text and "\u202e" not in text
        assert len([line for line in text.splitlines() if line.startswith("The claim")]) == 1


def test_labels_count_for_targets(checked: Any, tmp_path: Path) -> None:
    header, arrays = labelled(tmp_path)
    arrays["copies"][0, 1] = -1  # all rows would be those of the first label
    checked(header, arrays, REFUSED, X, NAMES)


def test_integers_are_no_label_that_they_round_to(checked: Any, tmp_path: Path) -> None:
    header, arrays = labelled(tmp_path, np.where(Y > 0, 2.0, 1.0))
    y = np.where(Y > 0, 2**53 + 2, 2**53 + 1)
    checked(header | {"labels": [2.0**53, 2.0**53 + 2]}, arrays, REFUSED, X, y)


@pytest.mark.parametrize(
    "kind", ["bool", "int64", "uint64", ">f8", "fortran", "float32", "object", "complex", "y"]
)
def test_arrays_of_any_kind(checked: Any, kind: str) -> None:
    x = np.array([[2**53 + 1, 0], [1, 2**60 + 1], [3, 4]], dtype=np.int64)
    x, y = (X > 0, Y) if kind == "bool" else (X, Y) if kind == "float32" else (x, np.arange(3.0))
    same = {"fortran": np.asfortranarray(x), "y": x}
    given = same[kind] if kind in same else x.astype(kind)
    code = {"float32": REFUSED, "object": CANNOT, "complex": CANNOT, "y": CANNOT}.get(kind, HOLDS)
    fixed = {"lower": [0.0, 0.0], "upper": [0.0, 0.0]}
    parts = hand_made(x, y, [0.0, 0.0], abs(y).sum(), 1e-9, **fixed)
    checked(*parts, code, given, y[:, None, None] if kind == "y" else y)


BROKEN = {
    "names.csv": b"a," + b"b" * 200_000 + b",y\n1,2,3\n",
    "zeros.csv": b"a\0,b,y\n1,2,3\n",
    "letters.csv": b"a,b,\xff\n1,2,3\n",
    "empty.csv": b"",
    "twice.csv": b"a,b,y,a\n1,2,3,4\n",
    "nan.csv": b"a,b,y\n" + b"1,nan,3\n" * 30,
    "empty.npz": b"",
    "text.npz": b"no archive",
    "cut.npz": b"PK\3\4" + bytes(200),
}


@pytest.mark.parametrize("name", BROKEN)
def test_data_that_cannot_be_read(tmp_path: Path, capsys: Any, name: str) -> None:
    path = tmp_path / "file.rlcert"
    rl.solve(rl.Problem(X, Y, "absolute")).save(path, columns=["a", "b"])
    (tmp_path / name).write_bytes(BROKEN[name])
    for text in said_by_all(path, tmp_path / name, capsys, CANNOT):
        assert text.startswith("Could not check: ")


def test_tables_with_blank_lines_and_labels_of_digits(tmp_path: Path, capsys: Any) -> None:
    path, table, y = tmp_path / "file.rlcert", tmp_path / "data.csv", np.where(Y > 0, "01", "1")
    rl.solve(rl.Problem(X, y, "hinge")).save(path, columns=["a", "b"])
    lines = [f"{a!r},{b!r},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    table.write_text("\n".join(["a,b,y", *lines, "", ""]), "utf-8")
    said_by_all(path, table, capsys, HOLDS)


def directory(raw: bytes, offset: int, form: str, value: int) -> bytes:
    """Change a field at the end of an archive."""
    changed = bytearray(raw)
    struct.pack_into(form, changed, changed.rindex(b"PK\5\6") + offset, value)
    return bytes(changed)


def test_archives_have_one_directory(tmp_path: Path, capsys: Any) -> None:
    """Readers that look for it in different places would see two files."""
    header, arrays = honest(tmp_path)
    stream, path = io.BytesIO(), tmp_path / "file.rlcert"
    write(stream, header, arrays)
    raw = stream.getvalue()
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    again = raw[:-2] + struct.pack("<H", 22) + raw[-22:]
    for content in (directory(raw, 16, "<I", 2**32 - 1), directory(raw, 12, "<I", 10), again):
        path.write_bytes(content)
        said_by_all(path, tmp_path / "data.npz", capsys, REFUSED)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}".encode("utf-16"))
    said_by_all(path, tmp_path / "data.npz", capsys, REFUSED)


@pytest.mark.parametrize("k", [0, 1])
def test_one_false_problem_among_true_ones(tmp_path: Path, capsys: Any, k: int) -> None:
    path = tmp_path / "file.rlcert"
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    rl.QuantileRegressor(quantile=[0.2, 0.8], alpha=0.1).fit(X, Y).save_certificate(path, X, Y)
    said_by_all(path, tmp_path / "data.npz", capsys, HOLDS)
    header, arrays = verify.read(path)
    arrays[f"{k}/coef"] = 1.1 * arrays[f"{k}/coef"]
    write(path, header, arrays)
    said_by_all(path, tmp_path / "data.npz", capsys, REFUSED)
