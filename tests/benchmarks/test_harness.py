"""The machinery of the benchmarks: ratios, whole suites, files that take two writers."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import rectiline as rl

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "benchmarks").exists():
    pytest.skip("the source archive has no benchmarks", allow_module_level=True)
sys.path.insert(0, str(ROOT))

from benchmarks import against, results, scoring, store, suites  # noqa: E402
from benchmarks.cases import Case, margin, residual  # noqa: E402
from benchmarks.objective import build  # noqa: E402
from benchmarks.rivals import NAMES, get  # noqa: E402


def _record(ours, theirs, *, limit=None, target=1e-6):
    """A result in which ``rectiline`` and ``rehline`` took these times (``None``: stopped)."""

    def entry(seconds):
        run = {"tol": target, "primal": 1.0, "bound": 1.0, "violation": 0.0}
        if seconds is None:
            return {"runs": [{"tol": target, "error": "killed", "timeout": True}], "limit": limit}
        return {"runs": [{**run, "cpus": [seconds], "walls": [seconds]}], "reached": 0.0}

    case = Case(margin("good", 50, 3), "hinge", solvers=("rectiline", "rehline"))
    definition = json.loads(json.dumps(case, default=lambda c: c.__dict__))
    return {
        "name": case.name,
        "definition": definition,
        "bound": 1.0,
        "best": 1.0,
        "zero": 2.0,
        "solvers": {"rectiline": entry(ours), "rehline": entry(theirs)},
    }


def _row(record):
    (row,) = results.rows([{"suite": "rehline", "cases": [record]}])
    return row


@pytest.mark.parametrize("suite", suites.NAMES)
def test_cases_of_a_suite_invite_known_solvers(suite):
    for case in suites.cases(suite):
        assert case.ours.startswith("rectiline")
        for name in case.solvers[1:]:
            assert name in NAMES or results.is_ours(name)


def test_a_rival_stopped_by_the_clock_is_only_known_to_be_slower_than_that():
    row = _row(_record(1.0, None, limit=10.0))
    assert (row.at_least, row.ratio, row.cells()[0]) == (10.0, 10.0, ">10x")


def test_what_we_fail_comes_first():
    cases = [_record(*times) for times in ((1.0, 2.0), (2.0, 1.0), (None, 1.0))]
    found = results.rows([{"suite": "rehline", "cases": cases}])
    assert [row.ratio for row in found] == [0.0, 0.5, 2.0]
    assert found[0].cells()[0] == "not solved"


def test_the_shares_of_a_suite_count_all_its_cases():
    times = [(1.0, 1.0), (1.0, 2.0), (1.4, 1.0), (3.0, 1.0), (None, 1.0)]
    cases = [_record(*pair) for pair in times]
    assert results.shares([{"suite": "small", "cases": cases}]) == [("small", 5, 4, 3, 2)]


def test_options_of_a_table_have_the_types_of_their_defaults(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(store, "RESULTS", tmp_path)
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "__file__", "one.py", raising=False)
    monkeypatch.setattr(sys, "argv", ["one", "part", "--sizes", "3", "4", "--slow"])
    seen = {}

    def rows(**options):
        seen.update(options)
        yield {"row": "a", "value": 1}

    store.run(rows, ("row",), name=str, sizes=[1], slow=False, limit=2.0)
    assert seen == {"name": "part", "sizes": [3, 4], "slow": True, "limit": 2.0}
    assert store.read_table("one") == [{"row": "a", "value": "1"}]
    assert capsys.readouterr().out == "row=a  value=1\n"


def test_updates_of_a_result_file_add_up(tmp_path):
    path = tmp_path / "deep" / "file.json"
    store.update(path, lambda old: {**old, "a": [{"x": 1}]})
    store.update(path, lambda old: {**old, "b": None})
    assert store.read(path) == {"a": [{"x": 1}], "b": None}


@pytest.mark.parametrize(
    "case",
    [
        Case(margin("good", 60, 4), "hinge", C=3.0, intercept=True),
        Case(margin("good", 60, 4), "squared_hinge", C=3.0, fairness=0.01),
        Case(residual("good", 60, 4), "pinball", 0.3, C=3.0, l1=0.2, l2=0.5),
        Case(residual("good", 60, 4), "huber", 1.0, l1=0.02, l2=0.0, intercept=True),
    ],
    ids=lambda case: case.loss,
)
def test_the_score_and_the_library_agree(case):
    """Two independent computations of objective and bound."""
    objective, _ = build(case)
    ours = get("rectiline")
    ours.prepare(objective)
    solution = ours.solve(1e-9, 60.0)
    score = scoring.score(objective, ours.answer(solution))
    proof = ours.problem.certify(solution.coef, solution.intercept, solution.dual)
    np.testing.assert_allclose(score.primal, proof.primal, rtol=1e-12)
    np.testing.assert_allclose(score.bound, proof.dual, rtol=1e-7)
    assert scoring.relative(score.primal, score.bound) < 1e-7
    assert isinstance(ours.problem, rl.Problem)


def test_rows_of_a_table_replace_those_with_the_same_key(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "RESULTS", tmp_path)
    store.write_table("one", [{"row": "a", "ratio": 1}, {"row": "b", "ratio": 2}], ("row",))
    store.write_table("one", [{"row": "a", "ratio": 3, "note": "new"}], ("row",))
    assert store.read_table("one") == [
        {"row": "a", "ratio": "3", "note": "new"},
        {"row": "b", "ratio": "2", "note": ""},
    ]
    assert store.read_table("two") == []


def test_the_summary_of_a_comparison():
    ratios = [1.0, 2.0, 0.5, 1.1, 0.9, 1.0, 1.2, 1.3, 1.0, 1.0]
    assert against.summary("small", ratios) == (
        "small: 10 rows, median 1.000, 90 % at most 1.300, worst 2.000"
    )


@pytest.mark.parametrize("suite", ["small", "generation", against.SEARCHES])
def test_the_quick_comparison_has_a_few_rows(suite):
    some = against.rows_of(suite, "", quick=True)
    assert 0 < len(some) < 25
    assert len(some) <= len(against.rows_of(suite, "", quick=False))


def test_results_have_one_file_per_suite():
    stems = [path.stem for path in store.RESULTS.iterdir() if path.suffix in (".csv", ".json")]
    assert len(stems) == len(set(stems))
    assert {path.suffix for path in store.RESULTS.iterdir()} <= {".csv", ".json"}
    assert set(suites.NAMES) <= set(stems)
