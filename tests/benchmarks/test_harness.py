"""The machinery of the benchmarks: honest ratios, whole suites, files that take two writers."""

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

from benchmarks import against, judge, rows, store, suites, verdict  # noqa: E402
from benchmarks.__main__ import _shard  # noqa: E402
from benchmarks.build import build  # noqa: E402
from benchmarks.cases import Case, Need, margin, residual  # noqa: E402
from benchmarks.rivals import NAMES, get  # noqa: E402


def _record(ours, theirs, *, limit=None, need=1.0, target=1e-6):
    """A result in which ``rectiline`` and ``rehline`` took these times (``None``: stopped)."""

    def entry(seconds):
        run = {"tol": target, "primal": 1.0, "bound": 1.0, "violation": 0.0, "capped": False}
        if seconds is None:
            return {"runs": [{"tol": target, "error": "killed", "timeout": True}], "limit": limit}
        return {"runs": [{**run, "cpus": [seconds], "walls": [seconds]}], "reached": 0.0}

    case = Case(
        margin("good", 50, 3),
        "hinge",
        solvers=("rectiline", "rehline"),
        needs=(Need(("rehline",), need, target),),
    )
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
    (row,) = rows.rows([{"suite": "rehline", "cases": [record]}])
    return row


@pytest.mark.parametrize("suite", suites.NAMES)
def test_cases_of_a_suite_invite_known_solvers_and_promise_about_them(suite):
    for case in suites.cases(suite):
        assert case.ours.startswith("rectiline")
        for name in case.solvers[1:]:
            assert name in NAMES or name.startswith("rectiline")
        for need in case.needs:
            assert set(need.rivals) <= set(case.solvers)
            assert need.target is None or need.target in case.targets


def test_a_rival_stopped_by_the_clock_proves_only_that_it_is_slower_than_that():
    assert _row(_record(1.0, None, limit=10.0, need=20.0)).kept is False
    assert _row(_record(1.0, None, limit=30.0, need=20.0)).kept is True


def test_what_we_fail_comes_first_and_breaks_its_promise():
    failed, lost, won = (_row(_record(*times)) for times in ((None, 1.0), (2.0, 1.0), (1.0, 2.0)))
    assert sorted([won, lost, failed], key=lambda row: row.badness) == [failed, lost, won]
    assert (failed.kept, lost.kept, won.kept) == (False, False, True)


def test_the_promise_over_two_suites_counts_all_their_cases():
    def results(slow):
        cases = [_record(1.0, 1.0)] * (20 - slow) + [_record(2.0, 1.0)] * slow
        return [{"suite": name, "cases": cases} for name in verdict.PROMISED]

    assert verdict.verdict(verdict.shares(results(1)))[-1].endswith("ok)")
    assert verdict.verdict(verdict.shares(results(2)))[-1].endswith("BROKEN)")


def test_shards_share_out_every_case():
    cases = list(suites.cases("rehline"))
    first, second = _shard(cases, "1/2"), _shard(cases, "2/2")
    assert sorted(c.name for c in first + second) == sorted(c.name for c in cases)
    assert not {c.data for c in first} & {c.data for c in second}
    with pytest.raises(SystemExit, match="K/M"):
        _shard(cases, "two")


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
def test_the_judge_and_the_library_agree(case):
    """Two independent computations of objective and bound."""
    objective, _ = build(case)
    ours = get("rectiline")
    ours.prepare(objective)
    solution = ours.solve(1e-9, 60.0)
    score = judge.score(objective, ours.answer(solution))
    proof = ours.problem.certify(solution.coef, solution.intercept, solution.dual)
    np.testing.assert_allclose(score.primal, proof.primal, rtol=1e-12)
    np.testing.assert_allclose(score.bound, proof.dual, rtol=1e-7)
    assert judge.relative(score.primal, score.bound) < 1e-7
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
    assert {path.suffix for path in store.RESULTS.iterdir()} <= {".csv", ".json", ".png"}
    assert set(suites.NAMES) <= set(stems)
