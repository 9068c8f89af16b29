"""Files made by hand to deceive: each makes a false claim, or is malformed, and is refused."""

from __future__ import annotations

import io
import json
import math
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rectiline as rl
from certificates.make_vectors import write
from rectiline import verify

RNG = np.random.default_rng(8)
X = RNG.standard_normal((30, 2))
Y = X @ [1.0, -2.0] + RNG.standard_normal(30)

Header = dict[str, Any]
Arrays = dict[str, Any]


def honest(tmp_path: Path, **terms: Any) -> tuple[Header, Arrays]:
    """Return the parts of a true certificate."""
    problem = rl.Problem(X, Y, **{"loss": rl.losses.Absolute(), **terms})
    rl.solve(problem, tol=1e-9).save(tmp_path / "true.rlcert", problem)
    header, arrays = verify.read(tmp_path / "true.rlcert")
    return header, {name: array.copy() for name, array in arrays.items()}


def verdict(header: Any, arrays: Arrays, exact: bool = False, **names: Any) -> Any:
    """Write the parts as they are and check them."""
    file = io.BytesIO()
    write(file, header, arrays)
    file.seek(0)
    return verify.check(file, [(X, Y)], exact=exact)


def piece(*numbers: float) -> list[str]:
    return [float(number).hex() for number in numbers]


def claim(header: Header, objective: float, gap: float) -> None:
    header["claim"] = {"objective": float(objective).hex(), "gap": float(gap).hex()}


MALFORMED: dict[str, Callable[[Header, Arrays], Any]] = {
    "infinite knot": lambda h, a: h["losses"][0].update(knots=[math.inf.hex()]),
    "undefined knot": lambda h, a: h["losses"][0].update(knots=[math.nan.hex()]),
    "infinite piece": lambda h, a: h["losses"][0]["pieces"][0].__setitem__(1, math.inf.hex()),
    "undefined slope": lambda h, a: h["losses"][0]["pieces"][1].__setitem__(2, math.nan.hex()),
    "piece of three numbers": lambda h, a: h["losses"][0]["pieces"][0].pop(),
    "loss that jumps": lambda h, a: h["losses"][0]["pieces"].__setitem__(1, piece(0, 1, 1, 0)),
    "loss that bends down": lambda h, a: h["losses"][0]["pieces"].reverse(),
    "negative curvature": lambda h, a: h["losses"][0]["pieces"][1].__setitem__(3, (-1.0).hex()),
    "no losses": lambda h, a: h.update(losses=[]),
    "losses that are words": lambda h, a: h.update(losses="absolute"),
    "sizes that are words": lambda h, a: h.update(n_samples="30"),
    "sizes that are true": lambda h, a: h.update(n_equalities=True),
    "negative size": lambda h, a: h.update(n_columns=-3),
    "claim without end": lambda h, a: h["claim"].update(gap=math.inf.hex()),
    "claim in decimal": lambda h, a: h["claim"].update(gap=1e-3),
    "another radius": lambda h, a: h.update(radius=1),
    "a list of labels": lambda h, a: h.update(labels=[[1], [2]]),
    "labels of one kind": lambda h, a: h.update(labels=[1.0, 1.0]),
    "negative scale of weights": lambda h, a: h.update(weight_scale=(-1.0).hex()),
    "missing field": lambda h, a: h.pop("of"),
    "rows of slopes out of range": lambda h, a: a.update(slope_rows=a["slope_rows"] + 30),
    "slopes of another shape": lambda h, a: a.update(slopes=a["slopes"][:, None]),
    "weights of another shape": lambda h, a: a.update(weight=np.ones((30, 1))),
    "fewer weights": lambda h, a: a.update(weight=np.ones(29)),
    "negative weights": lambda h, a: a.update(weight=-np.ones(30)),
    "coefficients in a matrix": lambda h, a: a.update(coef=a["coef"][None]),
    "coefficients that are integers": lambda h, a: a.update(coef=a["coef"].astype(int)),
    "coefficients that are complex": lambda h, a: a.update(coef=a["coef"].astype(complex)),
    "coefficients that are objects": lambda h, a: a.update(coef=a["coef"].astype("U8")),
    "weights that are said to be equal": lambda h, a: a.update(weight=np.arange(1.0, 31.0)),
    "a column that the data do not have": lambda h, a: (
        h.update(n_columns=4),
        a.update({k: np.append(a[k], 0.0 * a[k][:1]) for k in ("coef", "rho", "l1", "strengths")}),
        a.update(
            {k: np.append(a[k], a[k][:1]) for k in ("split_coef", "lower", "upper", "groups")}
        ),
        a.update(A=np.zeros((0, 4)), E=np.zeros((0, 4))),
    ),
    "two losses without loss_index": lambda h, a: h.update(losses=h["losses"] * 2),
    "columns that are numbers": lambda h, a: h.update(columns=[1, 2]),
    "targets that are a number": lambda h, a: h.update(targets=5),
    "a snapshot that is a list": lambda h, a: h.update(source=[["delta"]]),
    "an array too many": lambda h, a: a.update(more=np.zeros(3)),
    "loss_index outside the list": lambda h, a: a.update(loss_index=np.full(30, 1)),
    "negative loss_index": lambda h, a: a.update(loss_index=np.full(30, -1)),
    "too many losses": lambda h, a: (
        h.update(losses=h["losses"] * 257),
        a.update(loss_index=np.zeros(30, dtype=int)),
    ),
    "a target that is false": lambda h, a: h.update(output=False),
    "a version in words": lambda h, a: h.update(version="2"),
    "a decimal number": lambda h, a: h.update(weight_scale="1.0"),
    "no weight at all": lambda h, a: h.update(weight_scale=(0.0).hex()),
    "no rows": lambda h, a: h.update(n_samples=0),
    "rows that are kept twice": lambda h, a: a.update(kept=np.full(30, 2)),
    "rows that are kept in part": lambda h, a: a.update(kept=np.full(30, 0.5)),
    "groups below -1": lambda h, a: a.update(groups=a["groups"] - 1),
    "groups that are no doubles": lambda h, a: a.update(groups=np.full(3, 2**60)),
    "groups that are negative once read": lambda h, a: a.update(
        groups=np.full(3, 2**63, dtype=np.uint64)
    ),
    "single precision": lambda h, a: a.update(coef=a["coef"].astype(np.float32)),
    "a negative factor of a label that no row has": lambda h, a: h.update(
        of="prediction", labels=["a", "b"], signs=[1, -1], factors=[(1.0).hex(), (-1.0).hex()]
    ),
}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("how", MALFORMED)
def test_malformed_files_are_refused(tmp_path: Path, how: str, exact: bool) -> None:
    header, arrays = honest(tmp_path)
    MALFORMED[how](header, arrays)
    header["arrays"] = sorted(arrays)
    with pytest.raises(verify.Refused):
        verdict(header, arrays, exact)


@pytest.mark.parametrize("header", [[], "text", 3, None, [[[]]]])
def test_headers_that_are_no_objects_are_refused(tmp_path: Path, header: Any) -> None:
    _, arrays = honest(tmp_path)
    with pytest.raises(verify.Refused, match="header is no object"):
        verdict(header, arrays)


def test_rows_cannot_be_left_out_by_a_loss_that_is_not_there(tmp_path: Path) -> None:
    header, arrays = honest(tmp_path)
    header["losses"] = header["losses"] * 2
    arrays["loss_index"] = np.full(30, 7)  # no row would be summed: any gap could be claimed
    header["arrays"] = sorted(arrays)
    claim(header, 0.0, 1e-9)
    with pytest.raises(verify.Refused, match="loss_index names no loss"):
        verdict(header, arrays)


@pytest.mark.parametrize("exact", [False, True])
def test_pieces_anchored_far_away_are_charged_for_cancellation(tmp_path: Path, exact: bool) -> None:
    """A parabola anchored at 1e12 has values of 1e24 that cancel: rounding is far above the gap."""
    header, arrays = honest(
        tmp_path, loss=rl.losses.SquaredError(), penalty=rl.penalties.Ridge(1.0)
    )
    objective = float.fromhex(header["claim"]["objective"])
    far = 2.0**40
    header["losses"][0]["pieces"] = 2 * [piece(far, far * far / 2, far, 1.0)]  # the same loss
    if exact:  # the claim is true, and rationals prove it
        claim(header, objective, 1e-6 * objective)
        assert verdict(header, arrays, exact).gap <= 1e-6 * objective
    else:
        claim(header, objective, 1e-6 * objective)
        with pytest.raises(verify.Refused, match=r"the proved gap|the objective is"):
            verdict(header, arrays)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_finite_bounds_are_not_cut(tmp_path: Path, exact: bool, side: str) -> None:
    """Prices in a linear term make the far end of a box optimal, however far it is."""
    sign = 1.0 if side == "lower" else -1.0
    far = 1e6
    box = rl.constraints.Box(-far, 1.0) if side == "lower" else rl.constraints.Box(-1.0, far)
    problem = rl.Problem(
        np.zeros((1, 1)), [0.0], "absolute", None, box, fit_intercept=False, linear=[sign]
    )
    rl.solve(problem).save(tmp_path / "true.rlcert", problem)
    header, arrays = verify.read(tmp_path / "true.rlcert")
    blocks = [(np.array([[0.0], [sign]]), np.zeros(2))]
    true = verify.check(tmp_path / "true.rlcert", blocks, exact)
    assert true is not None and true.radius == math.inf
    assert true.objective == -far
    arrays = {name: array.copy() for name, array in arrays.items()}
    arrays["coef"][:] = arrays["split_coef"][:] = -sign  # a point that is not optimal
    file = io.BytesIO()
    claim(header, -1.0, 0.5 * far)
    write(file, header, arrays)
    file.seek(0)
    with pytest.raises(verify.Refused, match="the proved gap 1e"):
        verify.check(file, blocks, exact)


def test_the_sentence_names_the_radius(tmp_path: Path) -> None:
    header, arrays = honest(tmp_path, penalty=None)
    found = verdict(header, arrays)
    assert found.radius == verify.RADIUS
    assert f"among coefficients up to {verify.RADIUS} sizes" in verify.sentence(found)
    header, arrays = honest(tmp_path, penalty=rl.penalties.Ridge(1.0), fit_intercept=False)
    found = verdict(header, arrays)
    assert found.radius == math.inf and "among" not in verify.sentence(found)


def infeasible(A: Any, c: Any, xi: Any) -> tuple[Header, Arrays]:
    A = np.array(A, dtype=float)
    d = A.shape[1]
    arrays = {"A": A, "c": np.array(c, dtype=float), "inequality": np.array(xi, dtype=float)}
    arrays |= {"E": np.zeros((0, d)), "f": np.zeros(0), "equality": np.zeros(0)}
    arrays |= {"lower": np.full(d, -np.inf), "upper": np.full(d, np.inf)}
    header = {"format": "rectiline-certificate", "version": 1, "kind": "infeasible"}
    return header | {"arrays": sorted(arrays)}, arrays


@pytest.mark.parametrize("exact", [False, True])
def test_infeasibility_has_no_slack(exact: bool) -> None:
    # b >= 1 and (1 + 1e-10) b <= 1 - 1e-5 contradict each other up to a size of 1e5 only.
    header, arrays = infeasible([[1.0], [-1.0 + 1e-10]], [-1.0, 1.0 - 1e-5], [1.0, 1.0])
    with pytest.raises(verify.Refused, match="do not cancel"):
        verdict(header, arrays, exact)
    header, arrays = infeasible([[1.0], [-1.0]], [-1.0, 1.0], [1.0, 1.0])  # b = 1 satisfies both
    with pytest.raises(verify.Refused, match="no contradiction"):
        verdict(header, arrays, exact)
    header, arrays = infeasible([[1.0], [-1.0]], [-1.0, 1.0 - 1e-12], [1.0, 1.0])
    assert verdict(header, arrays, exact) is None  # tiny, but a contradiction


@pytest.mark.parametrize("exact", [False, True])
def test_every_level_has_columns_of_its_own(tmp_path: Path, exact: bool) -> None:
    """The features of a level without columns would be left out of what is proved."""
    first = X[:, :1]
    problem = rl.Problem(first, Y, "absolute", rl.penalties.Ridge(1.0), fit_intercept=False)
    rl.solve(problem).save(tmp_path / "true.rlcert")
    header, arrays = verify.read(tmp_path / "true.rlcert")
    header |= {"losses": header["losses"] * 2, "levels": {"shared": False, "intercepts": False}}
    none = {"slope_rows": np.zeros(0, dtype=np.int64), "slopes": np.zeros(0)}
    claim(header, 0.0, 1e6)
    write(tmp_path / "false.rlcert", header, arrays | none)
    with pytest.raises(verify.Refused, match="the columns are not those of the data"):
        verify.check(tmp_path / "false.rlcert", [(first, Y)], exact)


@pytest.mark.parametrize("labels", [[2**53, 2**53 + 1], [0, 10**400], [1, True], [0, -0.0]])
def test_labels_that_a_target_equals_twice_are_refused(tmp_path: Path, labels: list[Any]) -> None:
    y = np.where(Y > 0, 2.0**53, 0.0)
    rl.solve(rl.Problem(X, y, "hinge")).save(tmp_path / "fit.rlcert")
    header, arrays = verify.read(tmp_path / "fit.rlcert")
    count = len(labels) + 1
    header |= {"labels": [0.5, *labels], "signs": [1] * count, "factors": [(1.0).hex()] * count}
    write(tmp_path / "false.rlcert", header, arrays)
    with pytest.raises(verify.Refused):
        verify.check(tmp_path / "false.rlcert", [(X, y)])


def patched(path: Path, name: str, **fields: int) -> None:
    """Change what the directory of an archive says about a member."""
    places = {"crc": 16, "packed": 20, "full": 24}
    content = bytearray(path.read_bytes())
    entry = content.rindex(name.encode()) - 46
    for field, value in fields.items():
        at = entry + places[field]
        content[at : at + 4] = value.to_bytes(4, "little")
    path.write_bytes(content)


@pytest.mark.parametrize("lie", ["packed", "full"])
def test_sizes_of_members_that_are_no_sizes(tmp_path: Path, lie: str) -> None:
    """A directory may say that a member is large in the file, or that it unpacks to a few bytes."""
    path, zeros = tmp_path / "bomb.rlcert", bytes(2**24)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        with archive.open("weight.npy", "w") as member:
            for _ in range(20):
                member.write(zeros)
    if lie == "packed":
        patched(path, "weight.npy", packed=2**31)
    else:
        patched(path, "weight.npy", full=100, crc=zlib.crc32(bytes(100)))
    tracemalloc.start()
    with pytest.raises(verify.Refused, match="unpacks to" if lie == "packed" else None):
        verify.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_many_problems_need_as_many_numbers(tmp_path: Path) -> None:
    """A few letters a problem must not take the memory of all its coefficients."""
    header, arrays = honest(tmp_path, fit_intercept=False)
    wide = ("coef", "split_coef", "lower", "upper", "rho", "l1", "strengths", "groups")
    arrays |= {name: np.resize(arrays[name], 2**17) for name in wide}
    header["problems"] = [{}] * 2**10
    write(tmp_path / "many.rlcert", header, arrays)
    with pytest.raises(verify.Refused, match="more problems than its arrays are for"):
        verify.read(tmp_path / "many.rlcert")


def test_columns_of_no_feature_take_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Levels may have columns of their own: rows are made so wide a few at a time."""
    header, arrays = honest(tmp_path, fit_intercept=False, penalty=rl.penalties.Ridge(1.0))
    d = 2**9
    header |= {"n_columns": d, "levels": {"shared": True, "intercepts": False}}
    for name in ("coef", "split_coef", "lower", "upper", "rho", "l1", "strengths", "groups"):
        arrays[name] = np.append(arrays[name], np.full(d - 2, arrays[name][0]))
    arrays |= {"A": np.zeros((0, d)), "E": np.zeros((0, d))}
    arrays["coef"][2:] = 0.0
    claim(header, float.fromhex(header["claim"]["objective"]), 1e-6)
    write(tmp_path / "wide.rlcert", header, arrays)
    monkeypatch.setattr(verify, "CHUNK", 2**12)
    design, sizes = verify.Checker.design, []

    def noted(self: Any, rows: Any, k: int) -> Any:
        sizes.append(design(self, rows, k).size)
        return design(self, rows, k)

    monkeypatch.setattr(verify.Checker, "design", noted)
    assert verify.check(tmp_path / "wide.rlcert", [(X, Y)]) is not None
    assert max(sizes) <= 2**12 < sum(sizes)


@pytest.mark.parametrize("exact", [False, True])
def test_weights_next_to_nothing_hide_no_loss(tmp_path: Path, exact: bool) -> None:
    """The bound on underflow of the weights, times a constant of the loss, was a large number."""
    small, steep, constant = 2.0**-1010, 2.0**1011, 2.0**1000
    one, y = np.ones((1, 1)), np.ones(1)
    problem = rl.Problem(one, y, "absolute", rl.penalties.L1(1.0), fit_intercept=False)
    rl.solve(problem).save(tmp_path / "true.rlcert")
    header, arrays = verify.read(tmp_path / "true.rlcert")
    pieces = [piece(0.0, constant, slope, 0.0) for slope in (-steep, steep)]
    header["losses"] = [{"knots": [(0.0).hex()], "pieces": pieces}]
    header["weight_scale"] = small.hex()
    arrays |= {"coef": np.zeros(1), "split_coef": np.zeros(1)}  # the optimum is 1
    arrays |= {"slope_rows": np.zeros(0, dtype=np.int64), "slopes": np.zeros(0)}
    claim(header, small * steep + small * constant, 0.5)
    write(tmp_path / "false.rlcert", header, arrays)
    with pytest.raises(verify.Refused, match="the proved gap"):
        verify.check(tmp_path / "false.rlcert", [(one, y)], exact)


def test_names_of_members_print_no_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "false.rlcert"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("a\nThe claim holds: as good as proved.npy", "no array")
    assert verify.main([str(path)]) == 1
    assert "The claim holds" not in capsys.readouterr().out


def test_deep_headers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.rlcert"
    for content in ("[" * 10**6, '{"a":' * 10**6, "1" * 10**6, '{"version": NaN}', "\ud800"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", content.encode("utf-8", "surrogatepass"))
        with pytest.raises(verify.Refused):
            verify.read(path)


def test_members_have_one_name(tmp_path: Path) -> None:
    header, arrays = honest(tmp_path)
    path = tmp_path / "twice.rlcert"
    write(path, header, arrays)
    buffer = io.BytesIO()
    np.save(buffer, arrays["coef"] + 1.0)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("coef", buffer.getvalue())  # instead of coef.npy, or beside it
    with pytest.raises(verify.Refused, match="a member is no array"):
        verify.check(path, [(X, Y)])


def test_columns_of_a_table_have_names_of_their_own(tmp_path: Path) -> None:
    path, table = tmp_path / "fit.rlcert", tmp_path / "data.csv"
    rl.solve(rl.Problem(X, Y, "absolute")).save(path, columns=["a", "b"])
    lines = [f"{a!r},{b!r},{y!r},0" for (a, b), y in zip(X.tolist(), Y.tolist())]
    table.write_text("\n".join(["a,b,y,a", *lines]), "utf-8")
    assert verify.main([str(path), str(table)]) == 2


def test_files_that_unpack_to_gigabytes_are_refused_unread(tmp_path: Path) -> None:
    header, arrays = honest(tmp_path)
    path = tmp_path / "bomb.rlcert"
    header["arrays"] = sorted([*arrays, "weight"])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        with archive.open("weight.npy", "w", force_zip64=True) as member:
            for _ in range(20):
                member.write(bytes(2**24))
    tracemalloc.start()
    with pytest.raises(verify.Refused, match="unpacks to"):
        verify.check(path, [(X, Y)])
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_an_array_that_declares_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    header, arrays = honest(tmp_path)
    path = tmp_path / "short.rlcert"
    write(path, header, arrays)
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": (2**40,)}
    )
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    parts["coef.npy"] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    with pytest.raises(verify.Refused, match=r"coef.npy is cut off"):
        verify.check(path, [(X, Y)])


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
    header, arrays = honest(tmp_path)
    write(tmp_path / "fit.rlcert", header, arrays)
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


def test_the_verdict_says_which_problem_was_proved(tmp_path: Path) -> None:
    header, arrays = honest(tmp_path, penalty=rl.penalties.L1(0.1))
    header["penalty"] = "none at all"  # words of the header do not count
    said = verify.sentence(verdict(header, arrays))
    assert "30 rows, 2 columns and an intercept" in said
    assert "slopes from -1 to 1" in said and "L1 on 2" in said and "none at all" not in said
