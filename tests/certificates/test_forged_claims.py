"""Files that claim what is not so are refused, and true ones say what they prove."""

from __future__ import annotations

import io
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from random_problems import random_problem

import rectiline as rl
from certificates.forge import (
    claim,
    honest,
    infeasible,
    piece,
    verdict,
)
from certificates.make_vectors import flat, write
from rectiline import verify


def test_rows_cannot_be_left_out_by_a_loss_that_is_not_there(tmp_path: Path) -> None:
    header, arrays = honest(tmp_path)
    header["losses"] = header["losses"] * 2
    arrays["copies"][0, 0] = -1
    arrays["loss_index"] = np.full(30, 7)  # no row would be summed: any gap could be claimed
    claim(header, 0.0, 1e-9)
    with pytest.raises(verify.Refused, match="no such loss"):
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
    header, arrays = flat(*verify.read(tmp_path / "true.rlcert"))
    blocks = [(np.array([[0.0], [sign]]), np.zeros(2))]
    true = verify.check(tmp_path / "true.rlcert", blocks, exact)
    assert true is not None and true.radius == math.inf
    assert true.objective == -far
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
def test_weights_next_to_nothing_hide_no_loss(tmp_path: Path, exact: bool) -> None:
    """The bound on underflow of the weights, times a constant of the loss, was a large number."""
    small, steep, constant = 2.0**-1010, 2.0**1011, 2.0**1000
    one, y = np.ones((1, 1)), np.ones(1)
    problem = rl.Problem(one, y, "absolute", rl.penalties.L1(1.0), fit_intercept=False)
    rl.solve(problem).save(tmp_path / "true.rlcert")
    header, arrays = flat(*verify.read(tmp_path / "true.rlcert"))
    pieces = [piece(0.0, constant, slope, 0.0) for slope in (-steep, steep)]
    header["losses"] = [{"knots": [(0.0).hex()], "pieces": pieces}]
    arrays["encoding"][0, 2] = small
    arrays |= {"coef": np.zeros(1), "split_coef": np.zeros(1)}  # the optimum is 1
    arrays |= {"slope_rows": np.zeros(0, dtype=np.int64), "slopes": np.zeros(0)}
    claim(header, small * steep + small * constant, 0.5)
    write(tmp_path / "false.rlcert", header, arrays)
    with pytest.raises(verify.Refused, match="the proved gap"):
        verify.check(tmp_path / "false.rlcert", [(one, y)], exact)


def test_the_verdict_says_which_problem_was_proved(tmp_path: Path) -> None:
    header, arrays = honest(tmp_path, penalty=rl.penalties.L1(0.1))
    header["penalty"] = "none at all"  # words of the header do not count
    said = verify.sentence(verdict(header, arrays))
    assert "30 rows, 2 columns and an intercept" in said
    assert "slopes from -1 to 1" in said and "L1 on 2" in said and "none at all" not in said


def test_the_command_prints_the_problem_that_was_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = rl.Problem(np.eye(3, 2), [1.0, 2.0, 3.0], rl.losses.Absolute(), rl.penalties.L1(0.1))
    rl.solve(problem).save(tmp_path / "fit.rlcert", problem)
    np.savez(tmp_path / "data.npz", X=np.eye(3, 2), y=[1.0, 2.0, 3.0])
    assert verify.main([str(tmp_path / "fit.rlcert"), str(tmp_path / "data.npz")]) == 0
    said = capsys.readouterr().out
    assert "3 rows, 2 columns and an intercept" in said and "L1 on 2" in said


def test_a_fall_that_the_answer_is_far_along_is_proved_from_near_zero(tmp_path: Path) -> None:
    """At 2^30 times the size of an answer of 8e22, rounding of a curved loss hides the fall."""
    given = random_problem(777123, 12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = rl.solve(given.problem())
    assert solution.status == "unbounded"
    solution.save(tmp_path / "fit.rlcert", given.problem())
    rows = np.vstack([given.X, given.linear]), np.append(given.y, 1.0)
    (found,) = verify.check_all(tmp_path / "fit.rlcert", [rows])
    assert found.kind == "unbounded" and found.objective < -1e9
