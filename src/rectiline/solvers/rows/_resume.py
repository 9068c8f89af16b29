"""Where a solve on rows in blocks goes on: from an earlier answer, or from a file after a pass."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rectiline.problems import Problem
from rectiline.problems.blocks import SplitDual, Totals, prove_answers
from rectiline.problems.proofs import Proof
from rectiline.solvers.rows._draw import RowSample

_FORMAT = 4


def evaluated_answers(
    problems: Sequence[Problem], answers: Sequence[Any], tol: float
) -> list[Proof[SplitDual]]:
    """Evaluate earlier answers on all rows, in one pass.

    None of them is evaluated if one does not fit: a pass is worth it for all or none.
    """
    pairs = list(zip(problems, answers, strict=True))
    if not pairs or not all(_fits(*pair) for pair in pairs):
        return []
    return prove_answers(
        [(one, answer.coef, answer.intercept, answer.dual) for one, answer in pairs], tol
    )


def _fits(problem: Problem, answer: Any) -> bool:
    """Whether an answer has the shape of a problem on rows in blocks."""
    if problem.is_in_memory or answer is None or not isinstance(answer.dual, SplitDual):
        return False
    region = problem.terms.region.rows
    return (
        answer.coef.shape == (problem.n_features,)
        and bool(np.isfinite(answer.coef).all())
        and answer.dual.inequality.size in (0, region.c.size)
        and answer.dual.equality.size in (0, region.f.size)
    )


class Checkpoint:
    """A file with what the first pass has found, for a solve that may be cut short.

    The file is a pickle, so only files of one's own may be read. It holds a sample of the rows, the
    rows near a knot, sums, and fingerprints of all blocks: the next pass refuses rows that have
    changed since.
    """

    def __init__(
        self, path: str | os.PathLike[str], problems: Sequence[Problem], tol: float, seed: int
    ) -> None:
        self._path, self._blocks = Path(path), problems[0].blocks
        stated = [(one.samples, one.terms.penalty, one.terms.region.rows) for one in problems]
        text = pickle.dumps((stated, self._blocks.feature_names, tol, seed))
        self._key = (_FORMAT, hashlib.sha256(text).hexdigest())

    def load(self) -> tuple[RowSample, list[Totals]] | None:
        """Return the sample and the sums of the first pass, if the file is about these problems."""
        if not self._path.exists():
            return None
        try:
            with open(self._path, "rb") as file:
                if pickle.load(file) != self._key:
                    return None
                marks, sample, totals = pickle.load(file)
        except Exception as error:  # what a damaged pickle raises is not documented
            raise ValueError(
                f"checkpoint={str(self._path)!r} is not a file that a solve has written "
                f"({type(error).__name__}: {error}). Remove it, or name another path."
            ) from error
        self._blocks.expect(marks)
        return sample, totals

    def save(self, sample: RowSample, totals: list[Totals]) -> None:
        """Write what the first pass has found, in one step."""
        draft = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with open(draft, "wb") as file:
            pickle.dump(self._key, file)
            pickle.dump((self._blocks.fingerprints, sample, totals), file)
        os.replace(draft, self._path)

    def remove(self) -> None:
        """Remove the file: there is an answer."""
        self._path.unlink(missing_ok=True)
