"""Summary tables in every form, intervals and Wald tests."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import rectiline as rl

X, Y = rl.datasets.load_engel(return_X_y=True, as_frame=True)
MODEL = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(X, Y)
MANY = rl.QuantileRegressor(quantile=[0.75, 0.25], alpha=0).fit(X, Y)


def test_columns_belong_together():
    table = MODEL.summary(X, Y, kind="nid", level=0.9)
    assert table.names == ("(intercept)", "income") and table.kind == "nid"
    np.testing.assert_allclose(table.statistic, table.coef / table.std_error)
    np.testing.assert_allclose(table.p_value, 2 * stats.t.sf(np.abs(table.statistic), 233))
    cut = stats.t.ppf(0.95, 233)
    np.testing.assert_allclose(table.interval[:, 0], table.coef - cut * table.std_error)
    np.testing.assert_allclose(table.interval[:, 1], table.coef + cut * table.std_error)
    np.testing.assert_array_equal(MODEL.conf_int(X, Y, "nid", level=0.9), table.interval)


def test_text_names_kind_bandwidth_and_proof():
    shown = str(MODEL.summary(X, Y, kind="nid"))
    for part in ("at 0.5", "235 samples", "nid", "hall-sheather", "income", "19.2507", "gap"):
        assert part in shown
    assert repr(MODEL.summary(X, Y, kind="nid")) == shown


def test_markup():
    table = MODEL.summary(X, Y, kind="nid")
    assert table.to_html() == table._repr_html_()
    assert table.to_html().count("<tr>") == 4 and "<th>income</th>" in table.to_html()
    assert r"\begin{tabular}{lrrrrrr}" in table.to_latex() and r"income &" in table.to_latex()
    body = [line for line in table.to_markdown().splitlines() if line.startswith("|")]
    assert len(body) == 4 and all(line.replace(r"\|", "").count("|") == 8 for line in body)


def test_markup_escapes_names():
    odd = X.rename(columns={"income": "<in_come> & 5%|"})
    table = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(odd, Y).summary(odd, Y, kind="nid")
    assert "&lt;in_come&gt; &amp; 5%|" in table.to_html()
    assert r"\textgreater{} \& 5\%" in table.to_latex() and r"in\_come" in table.to_latex()


def test_frames():
    table = MODEL.summary(X, Y, kind="nid")
    frame = table.to_frame()
    assert isinstance(frame, pd.DataFrame) and list(frame.index) == list(table.names)
    np.testing.assert_array_equal(frame["std_error"], table.std_error)
    other = table.to_frame("polars")
    assert isinstance(other, pl.DataFrame) and other["name"].to_list() == list(table.names)
    with pytest.raises(ValueError, match="library='arrow'"):
        table.to_frame("arrow")


def test_several_levels():
    tables = MANY.summary(X, Y, kind="nid")
    assert len(tables) == 2 and tables[1].quantile == 0.25
    np.testing.assert_array_equal(tables.quantile, [0.75, 0.25])
    assert tables.interval.shape == (2, 2, 2) and tables.coef.shape == (2, 2)
    assert tables.to_frame().loc[(0.25, "income"), "coef"] == tables[1].coef[1]
    assert str(tables).count("Quantile regression") == 2
    for made in (tables.to_html(), tables.to_latex(), tables.to_markdown()):
        assert made.count("0.474103") == 1


def test_wald_test_of_one_coefficient_is_the_squared_t():
    table = MODEL.summary(X, Y, kind="nid")
    test = MODEL.wald_test(X, Y, "income", kind="nid")
    np.testing.assert_allclose(test.statistic, table.statistic[1] ** 2)
    np.testing.assert_allclose(test.p_value, table.p_value[1], atol=1e-12)
    by_row = MODEL.wald_test(X, Y, [0, 1])
    assert by_row.statistic == test.statistic and "income = 0" in str(test)


def test_wald_test_of_several_hypotheses():
    V = rl.inference.covariance(MODEL, X, Y)
    off = np.r_[MODEL.intercept_ - 80.0, MODEL.coef_[0] - 0.5]
    test = MODEL.wald_test(X, Y, np.eye(2), [80.0, 0.5])
    np.testing.assert_allclose(test.statistic, off @ np.linalg.solve(V, off) / 2)
    assert test.df == (2, 233)


@pytest.mark.parametrize(
    ("R", "message"),
    [
        ("age", "no coefficient 'age'"),
        ([1.0, 2.0, 3.0], "R must have 2 columns"),
        ([[1, 0], [2, 0]], "linearly dependent"),
    ],
)
def test_wald_test_checks_its_hypotheses(R, message):
    with pytest.raises(ValueError, match=message):
        MODEL.wald_test(X, Y, R)


def test_equal_slopes_needs_several_levels():
    with pytest.raises(ValueError, match="several quantiles"):
        rl.inference.equal_slopes(MODEL, X, Y)
    test = rl.inference.equal_slopes(MANY, X, Y, columns=["income"])
    assert test.df == (1, 469) and test.p_value < 1e-4


def test_a_summary_can_be_kept_at_the_fit():
    kept = rl.QuantileRegressor(quantile=0.5, alpha=0, inference="nid").fit(X, Y)
    assert str(kept.summary()) == str(MODEL.summary(X, Y, kind="nid"))
    np.testing.assert_array_equal(kept.summary_.interval, kept.summary().interval)
    kept.set_params(inference=None).fit(X, Y)
    with pytest.raises(ValueError, match="set the parameter inference"):
        kept.summary()
    penalised = rl.QuantileRegressor(quantile=0.5, alpha=0.1, inference="nid")
    with pytest.raises(ValueError, match="penalty"):
        penalised.fit(X, Y)
    assert not hasattr(penalised, "coef_")


def test_a_million_samples_are_printed_in_full():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 1))
    y = X[:, 0] + rng.standard_normal(40)
    weight = np.full(40, 50_000.0)
    model = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(X, y, sample_weight=weight)
    table = model.summary(X, y, kind="iid", sample_weight=weight)
    assert table.n_samples == 2_000_000 and isinstance(table.n_samples, int)
    assert "2000000 samples" in str(table)


def test_rank_tables_have_no_empty_columns():
    table = MODEL.summary(X, Y, kind="rank")
    assert "std error" not in str(table) and "P>|t|" not in str(table)
    assert r"\begin{tabular}{lrrr}" in table.to_latex()
    assert table.to_html().count("<th>") == 4 + 2


def test_latex_of_several_quantiles_is_one_table():
    table = MANY.summary(X, Y, kind="nid")
    text = table.to_latex()
    assert text.count(r"\begin{tabular}{lrr}") == 1
    assert r" & 0.75 & 0.25 \\" in text
    assert f"income & {table.coef[0, 1]:.6g} & {table.coef[1, 1]:.6g}" in text
    assert f" & ({table.std_error[0, 1]:.6g}) & ({table.std_error[1, 1]:.6g})" in text
    ranks = MANY.summary(X, Y, kind="rank")
    low, high = ranks.interval[0, 1]
    assert f"[{low:.6g}, {high:.6g}]" in ranks.to_latex()


def test_hypotheses_as_equations():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((200, 3)), columns=["a", "b", "c d"])
    y = table @ [1.0, 1.2, -1.0] + rng.standard_normal(200)
    model = rl.QuantileRegressor(quantile=[0.3, 0.6], alpha=0).fit(table, y)
    given = np.zeros((2, 2, 4))
    given[0, 0, 1:3] = given[1, 1, 1:3] = 1.0, -1.0
    by_rows = model.wald_test(table, y, given.reshape(2, 8))
    by_text = model.wald_test(table, y, "a = b")
    assert by_text.statistic == pytest.approx(by_rows.statistic, rel=1e-12)
    assert str(by_text).startswith("a = b: F = ")
    given[0, 0] = given[1, 1] = 0.0, 2.0, 0.0, 1.0
    by_rows = model.wald_test(table, y, given.reshape(2, 8), [1.5, 1.5])
    by_text = model.wald_test(table, y, ["2*a + `c d` = 1.5"])
    assert by_text.statistic == pytest.approx(by_rows.statistic, rel=1e-12)
    with pytest.raises(ValueError, match="a hypothesis is one equation"):
        model.wald_test(table, y, "a >= b")
    with pytest.raises(ValueError, match="X has no column 'e'"):
        model.wald_test(table, y, "a = e")


@pytest.mark.parametrize(
    ("given", "meant"), [("ker", "kernel"), ("boot", "bootstrap"), ("robust", "kernel")]
)
def test_names_of_other_packages_are_translated(given, meant):
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
        MODEL.summary(X, Y, kind=given)


def test_rank_test_is_that_of_r():
    """``anova(rq(foodexp ~ income), rq(foodexp ~ 1), test = "rank")``: R 4.2.2, quantreg 5.94."""
    found = rl.inference.rank_test(MODEL, X, Y, "income")
    assert found.statistic == pytest.approx(91.126551488579, rel=1e-9)
    assert found.df == (1.0, 233.0)
    weight = 1.0 + np.arange(235) % 3
    copies = np.repeat(np.arange(235), weight.astype(int))
    once = rl.QuantileRegressor(quantile=0.3, alpha=0).fit(X, Y, weight)
    often = rl.QuantileRegressor(quantile=0.3, alpha=0).fit(X.iloc[copies], Y.iloc[copies])
    ours = rl.inference.rank_test(once, X, Y, ["income"], sample_weight=weight)
    theirs = rl.inference.rank_test(often, X.iloc[copies], Y.iloc[copies], ["income"])
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-7)
    with pytest.raises(ValueError, match="intercept cannot be left out"):
        rl.inference.rank_test(MODEL, X, Y, "(intercept)")
    with pytest.raises(ValueError, match="for one quantile"):
        rl.inference.rank_test(MANY, X, Y, "income")
