"""The checker of the browser agrees with `rectiline.verify` on every vector, true and forged.

It runs under node, and in Chromium through the file inputs of its page, where these are installed.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz_certificates import VALID, odd_header
from fuzz_verify import another, forgeries, solved
from random_problems import random_problem

import rectiline as rl
from certificates.forge import MALFORMED, Arrays, Header, X, Y, claim, honest, infeasible
from certificates.make_vectors import flat, nested, write
from rectiline import reports, verify

HERE = Path(__file__).parent
VECTORS = HERE / "vectors"
PAGE = Path(reports.__file__).with_name("checker.html")
NODE, CHROMIUM = shutil.which("node"), shutil.which("chromium")
PROBLEMS = 12  # random problems whose true and false files are checked
MOST_LINES = 600

File = tuple[Path, Path, dict[str, str]]  # certificate, data, options of the page

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


def run(files: list[File], page: Path | None = None) -> list[dict[str, Any]]:
    """Return what the checker says under node, or in Chromium if a page is given."""
    if page is not None and CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    program = [HERE / "run_checker.js"] if page is None else [HERE / "run_chromium.js", CHROMIUM]
    lines = "\n".join(json.dumps([str(file), str(data), more]) for file, data, more in files)
    command = [NODE, *program, *([] if page is None else [page])]
    done = subprocess.run(
        list(map(str, command)), input=lines, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def vectors() -> list[File]:
    paths = sorted(VECTORS.glob("*.rlcert"))
    return [(path, VECTORS / f"{path.stem.split('_')[2]}.npz", {}) for path in paths]


def holds(file: Path, data: Path, exact: bool = False) -> bool:
    with np.load(data) as table:
        try:
            verify.check_all(file, [(table["X"], table["y"])], exact)
        except verify.Refused:
            return False
    return True


def forged(folder: Path) -> list[File]:
    """Write forged files, true ones among them."""
    data = folder / "data.npz"
    np.savez(data, X=X, y=Y)
    files: list[File] = []

    def put(header: Any, arrays: Arrays) -> Path:
        path = folder / f"{len(files)}.rlcert"
        write(path, header, arrays)
        files.append((path, data, {}))
        return path

    def parts(**terms: Any) -> tuple[Header, Arrays]:
        return honest(folder, **terms)

    for change in MALFORMED.values():
        header, arrays = parts()
        change(header, arrays)
        put(header, arrays)
    for header in ([], "text", 3, None, [[[]]]):
        put(header, parts()[1])
    header, arrays = parts()
    claim(header, 0.0, 1e-9)
    by_index = {"loss_index": np.full(30, 7), "copies": np.array([[-1, 0]])}
    put({**header, "losses": header["losses"] * 2}, arrays | by_index)
    for penalty in (None, rl.penalties.Ridge(1.0), rl.penalties.L1(0.1)):
        for gap in (1.0, 1e-9):
            header, arrays = parts(penalty=penalty)
            claim(header, float.fromhex(header["claim"]["objective"]), gap)
            arrays["coef"] = arrays["coef"] * 1.001
            put(header, arrays)
    for second, level in [
        (-1 + 1e-10, 1 - 1e-5),
        (-1.0, 1.0),
        (-1.0, 1 - 1e-12),
        (-1 + 1e-13, 0.5),
    ]:
        put(*infeasible([[1.0], [second]], [-1.0, level], [1.0, 1.0]))
    header, arrays = parts()
    with zipfile.ZipFile(put(header, arrays), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(nested(header, arrays)[0]))
        with archive.open("0/weight.npy", "w", force_zip64=True) as member:
            for _ in range(20):
                member.write(bytes(2**24))
    path = put(header, arrays)
    path.write_bytes(path.read_bytes()[:-40])
    path = put(header, arrays)
    path.write_bytes(b"")
    for side, sign in (("lower", 1.0), ("upper", -1.0)):  # finite bounds are not cut
        box = rl.constraints.Box(-1e6, 1.0) if side == "lower" else rl.constraints.Box(-1.0, 1e6)
        problem = rl.Problem(
            np.zeros((1, 1)), [0.0], "absolute", None, box, fit_intercept=False, linear=[sign]
        )
        rl.solve(problem).save(folder / "true.rlcert", problem)
        header, arrays = flat(*verify.read(folder / "true.rlcert"))
        np.savez(folder / f"{side}.npz", X=np.array([[0.0], [sign]]), y=np.zeros(2))
        for gap, coef in ((1.0, arrays["coef"]), (5e5, np.array([-sign]))):
            claim(header, float(coef[0] * sign), gap)
            put(header, {**arrays, "coef": coef, "split_coef": coef})
            files[-1] = (files[-1][0], folder / f"{side}.npz", {})
    return files


def fuzzed(folder: Path) -> list[File]:
    """Write true and false files of random problems."""
    files: list[File] = []
    for case in range(PROBLEMS):
        rng = np.random.default_rng(case)
        one = solved(random_problem(30, case))
        if one is None:
            continue
        data = folder / f"fuzzed_{case}.npz"
        np.savez(data, X=one.blocks[0][0], y=one.blocks[0][1])
        kind, changed = another(one.given, rng)
        other = solved(changed)
        found = [("true", one.header, one.arrays)]
        for _, header, arrays in found + (list(forgeries(kind, one, other, rng)) if other else []):
            path = folder / f"fuzzed_{case}_{len(files)}.rlcert"
            write(path, header, arrays)
            files.append((path, data, {}))
    return files


@pytest.mark.parametrize("page", [None, PAGE], ids=["node", "chromium"])
def test_vectors(page: Path | None) -> None:
    files = vectors()
    found = run(files, page)
    assert len(found) == len(files) == 72
    for (path, _, _), one in zip(files, found, strict=True):
        wanted = "holds" if path.stem.startswith("valid") else "refused"
        assert one["verdict"] == wanted, (path.stem, one)


@pytest.mark.parametrize("page", [None, PAGE], ids=["node", "chromium"])
def test_forged_files(tmp_path: Path, page: Path | None) -> None:
    files = forged(tmp_path) + fuzzed(tmp_path)
    found = run(files, page)
    said = [one["verdict"] for one in found]
    wanted = ["holds" if holds(file, data) else "refused" for file, data, _ in files]
    assert [pair for pair in zip(said, wanted, found, strict=True) if pair[0] != pair[1]] == []
    assert wanted.count("holds") > 10 and wanted.count("refused") > 50


def test_odd_headers(tmp_path: Path) -> None:
    """Both checkers have one schema."""
    rng = np.random.default_rng(3)
    files: list[File] = []
    for k in range(300):
        path = VALID[k % len(VALID)]
        data = VECTORS / f"{path.stem.split('_')[2]}.npz"
        files.append((tmp_path / f"{k}.rlcert", data, {}))
        write(files[-1][0], odd_header(path, rng), verify.read(path)[1])
    wanted = ["holds" if holds(file, data) else "refused" for file, data, _ in files]
    assert [one["verdict"] for one in run(files)] == wanted


def test_pieces_anchored_far_away(tmp_path: Path) -> None:
    """Sums of two doubles bear cancellation that double precision does not, up to their limit."""
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    files: list[File] = []
    for far in (2.0**20, 2.0**40):
        header, arrays = honest(tmp_path, loss=rl.losses.SquaredError())
        objective = float.fromhex(header["claim"]["objective"])
        numbers = [value.hex() for value in (far, far * far / 2, far, 1.0)]
        header["losses"][0]["pieces"] = 2 * [numbers]
        claim(header, objective, 1e-6 * objective)
        path = tmp_path / f"{len(files)}.rlcert"
        write(path, header, arrays)
        files.append((path, tmp_path / "data.npz", {}))
        assert holds(*files[-1][:2], exact=True)
    assert [one["verdict"] for one in run(files)] == ["holds", "refused"]


def test_a_page_that_cannot_compute_checksums_says_so() -> None:
    """Browsers offer SHA-256 to files and secure connections only."""
    file, data = VECTORS / "valid_06_numbers.rlcert", VECTORS / "numbers.npz"
    program = """
        Object.defineProperty(globalThis, "crypto", { value: undefined });
        const [, checker, ...files] = process.argv;
        const read = (path) => new Uint8Array(require("fs").readFileSync(path));
        require(checker).check(...files.map(read)).then((found) => console.log(found.text));
    """
    command = [NODE, "-e", program, PAGE.with_name("checker.js"), file, data]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("Could not check: the browser computes no checksums on this page")


def test_gaps_are_those_of_the_other_checker() -> None:
    for (path, data, _), one in zip(vectors(), run(vectors()), strict=True):
        if path.stem.startswith("valid") and "gap" in one:
            with np.load(data) as table:
                (other,) = verify.check_all(path, [(table["X"], table["y"])])
            assert 0.0 <= one["gap"] <= 1.01 * other.gap
            assert math.isclose(one["objective"], other.objective, rel_tol=1e-12)


def test_both_cut_competitors_off_where_only_that_proves_the_claim(tmp_path: Path) -> None:
    """Under an L1 norm the bound on norms is 2.4 times the one on coefficients of any size."""
    one = solved(random_problem(515253, 1000))
    assert one is not None
    np.savez(tmp_path / "data.npz", X=one.blocks[0][0], y=one.blocks[0][1])
    write(tmp_path / "fit.rlcert", one.header, one.arrays)
    for exact in (False, True):
        found = verify.check(tmp_path / "fit.rlcert", one.blocks, exact)
        assert found is not None and found.radius == verify.RADIUS and found.rounding >= 0.0
    (said,) = run([(tmp_path / "fit.rlcert", tmp_path / "data.npz", {})])
    assert said["verdict"] == "holds" and said["radius"] == verify.RADIUS


def test_tables_labels_and_weights(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    data = rng.standard_normal((50, 2))
    y = np.array(["no", "yes"])[(data[:, 0] + rng.standard_normal(50) > 0).astype(int)]
    weight = np.arange(1.0, 51.0)
    problem = rl.Problem(data, y, rl.losses.Hinge(), rl.penalties.Ridge(1.0), sample_weight=weight)
    fit, table = tmp_path / "fit.rlcert", tmp_path / "data.csv"
    rl.solve(problem).save(fit, columns=["a", 'b "or" c'])
    lines = ['"b ""or"" c",w,v,answer,a']
    lines += [
        f"{b!r},{i + 1},1,{one},{a!r}" for i, (a, b, one) in enumerate(zip(*data.T.tolist(), y))
    ]
    table.write_text("\n".join(lines), "utf-8")
    np.save(tmp_path / "data.npy", np.column_stack([data, np.zeros(50)]))
    asked = [
        (fit, table, {"target": "answer"}),
        (fit, table, {"target": "answer", "weight": "w"}),
        (fit, table, {"target": "answer", "weight": "v"}),
        (fit, table, {"target": "a"}),
        (fit, table, {"target": "missing"}),
        (fit, tmp_path / "data.npy", {}),
        (fit, fit, {}),
    ]
    equal = VECTORS / "valid_06_numbers.rlcert", VECTORS / "numbers.npz"
    asked += [(*equal, {"weight": "w"})]  # a file without weights takes those of the data
    said = [one["verdict"] for one in run(asked)]
    assert said[:4] == ["holds", "holds", "refused", "refused"]
    assert said[4:] == ["cannot", "refused", "cannot", "refused"]


@pytest.mark.parametrize("page", [None, PAGE], ids=["node", "chromium"])
def test_rows_in_blocks_with_weights_of_the_data(tmp_path: Path, page: Path | None) -> None:
    weight = np.linspace(0.5, 2.0, 30)
    np.savez(tmp_path / "data.npz", X=X, y=Y, w=weight)
    np.savez(tmp_path / "other.npz", X=X[::-1], y=Y[::-1], w=weight)
    rows = rl.rows.from_arrays(X, Y, weight, block_rows=7)
    problem = rl.Problem(rows, loss="absolute", penalty=rl.penalties.Ridge(1.0))
    rl.solve(problem).save(tmp_path / "fit.rlcert")
    options = {"weight": "w", **({} if page is None else {"drop": "yes"})}
    files: list[File] = [
        (tmp_path / "fit.rlcert", tmp_path / f"{name}.npz", options) for name in ("data", "other")
    ]
    found = run(files, page)
    assert [one["verdict"] for one in found] == ["holds", "refused"], found
    assert "weights of the data" in found[0]["text"]


def test_folds_of_a_search(tmp_path: Path) -> None:
    weight = np.linspace(0.5, 2.0, 30)
    np.savez(tmp_path / "data.npz", X=X, y=Y, w=weight)
    fit, forged = tmp_path / "fit.rlcert", tmp_path / "forged.rlcert"
    model = rl.PLQRegressorCV(Cs=3, cv=3).fit(X, Y, weight)
    model.save_certificate(fit, X, Y, weight, folds=True)
    header, arrays = verify.read(fit)
    write(forged, header, arrays | {"2/weight": arrays["1/weight"]})  # those of another fold
    asked: list[File] = [(one, tmp_path / "data.npz", {"weight": "w"}) for one in (fit, forged)]
    found = run(asked)
    assert [one["verdict"] for one in found] == ["holds", "refused"], found
    assert found[0]["text"].count("The claim holds") == 4
    assert not holds(forged, tmp_path / "data.npz")


def test_tables_with_texts(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b"])
    frame = frame.assign(city=np.resize(["Oslo", "Rome", "Bonn, West"], 30))
    model = rl.PLQRegressor("huber", penalty=None, categorical="onehot")
    price = pandas.Series(Y, name="price")
    model.fit(frame, price).save_certificate(tmp_path / "fit.rlcert", frame, price)
    frame.assign(price=Y).to_csv(tmp_path / "data.csv", index=False)
    turned = frame.assign(price=Y, city=np.roll(frame["city"], 1))
    turned.to_csv(tmp_path / "other.csv", index=False)
    files: list[File] = [
        (tmp_path / "fit.rlcert", tmp_path / f"{name}.csv", {}) for name in ("data", "other")
    ]
    assert [one["verdict"] for one in run(files)] == ["holds", "refused"]


def test_the_words_come_from_the_arrays(tmp_path: Path) -> None:
    header, arrays = honest(tmp_path, penalty=rl.penalties.L1(0.1))
    header |= {"penalty": "none at all", "source": "delta version 3", "targets": ["price"]}
    write(tmp_path / "fit.rlcert", header, arrays)
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    (found,) = run([(tmp_path / "fit.rlcert", tmp_path / "data.npz", {})])
    assert "30 rows, 2 columns and an intercept" in found["text"]
    assert "slopes from -1 to 1" in found["text"] and "L1 on 2" in found["text"]
    assert "none at all" not in found["text"]
    wanted = 'The file says, without a proof: target "price"; snapshot "delta version 3".'
    assert found["text"].endswith(wanted)


def test_a_report_carries_its_certificate_and_the_checker(tmp_path: Path) -> None:
    problem = rl.Problem(X, Y, "absolute", rl.penalties.L1(0.1))
    reports.write_report(tmp_path / "fit.html", problem, rl.solve(problem))
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    np.savez(tmp_path / "other.npz", X=X, y=Y + 1e-9)
    files: list[File] = [(tmp_path, tmp_path / f"{name}.npz", {}) for name in ("data", "other")]
    found = run(files, tmp_path / "fit.html")
    assert [one["verdict"] for one in found] == ["holds", "refused"]


def test_the_report_of_a_model_is_checked_on_the_users_labels(tmp_path: Path) -> None:
    names = np.array(["low", "middle", "high"])[np.digitize(Y, [-1.0, 1.0])]
    rl.PLQClassifier().fit(X, names).report(tmp_path / "fit.html", X, names)
    lines = ["label,x0,x1", *(f"{k},{a!r},{b!r}" for k, (a, b) in zip(names, X.tolist()))]
    (tmp_path / "data.csv").write_text("\n".join(lines), "utf-8")
    files: list[File] = [(tmp_path, tmp_path / "data.csv", {"target": "label"})]
    (found,) = run(files, tmp_path / "fit.html")
    assert found["verdict"] == "holds" and found["text"].count("The claim holds") == 3


def test_the_script_is_short_and_asks_nobody() -> None:
    script = PAGE.with_name("checker.js").read_text("utf-8")
    assert len(script.splitlines()) <= MOST_LINES
    for word in ("fetch(", "XMLHttpRequest", "WebSocket", "import(", "http", "eval(", "innerHTML"):
        assert word not in script
