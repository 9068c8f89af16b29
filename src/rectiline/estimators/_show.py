"""What a fit shows: progress to callbacks and readers, and its proof in a notebook."""

from __future__ import annotations

from inspect import signature
from threading import Lock
from typing import Any, Literal, Self

from rectiline._frames import html_table
from rectiline.problems import Certificate
from rectiline.solvers import (
    GapProgress,
    MultiTaskSolution,
    Progress,
    ProgressBar,
    ReportingCallback,
    Solution,
    progress_line,
)

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
except ImportError:  # pragma: no cover - older versions have no callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in where scikit-learn has no callback protocol."""


try:  # scikit-learn 1.7 and later
    from sklearn.utils._repr_html.estimator import _VisualBlock
except ImportError:
    from sklearn.utils._estimator_html_repr import _VisualBlock


_MOST_LISTED = 12  # problems listed before the rest is summed up


class FitReport:
    """Tell everyone who listens about each certified point of a fit, which runs inside `with`.

    A true return value of any listener stops the problem it was told about; the fit then keeps the
    best certified answer and its status is "stopped".
    """

    def __init__(
        self,
        estimator: Any,
        n_problems: int,
        X: Any = None,
        y: Any = None,
        kind: Literal["problem", "path", "round"] = "problem",
    ) -> None:
        self.estimator = estimator
        self.n_problems = n_problems
        self.kind = kind  # of what is counted: a round is a part of a search on rows in blocks
        self.X, self.y = X, y
        self._lock = Lock()  # problems report from threads
        self._shares = [0.0] * n_problems
        name = type(estimator).__name__
        self._bar = ProgressBar(n_problems, name) if estimator.progress_bar else None
        self._root = self._begin()

    def _begin(self) -> Any:
        """Open scikit-learn's context of the fit, if anyone listens."""
        start = getattr(self.estimator, "_init_callback_context", None)
        if start is None or not getattr(self.estimator, "_skl_callbacks", None):
            return None
        root = start(max_subtasks=self.n_problems, sequential_subtasks=False)
        root.call_on_fit_task_begin(estimator=self.estimator, X=self.X, y=self.y)
        return root

    def for_problem(self, index: int) -> ReportingCallback | None:
        """Return the callback of one problem, or None if nobody listens."""
        estimator = self.estimator
        # A search has so many certificates that only those who ask for more see them.
        prints = estimator.verbose > (self.kind != "problem")
        drawn = self._bar is not None and self.kind != "path"
        if self._root is None and not (prints or drawn) and estimator.callback is None:
            return None
        meter = GapProgress(estimator.tol)
        context: Any = None
        if self._root is not None:
            with self._lock:
                context = self._root.subcontext(
                    task_name=self.kind, task_id=index, max_subtasks=None
                )
                context.call_on_fit_task_begin(estimator=estimator, X=self.X, y=self.y)

        def tell(progress: Progress) -> bool:
            with self._lock:
                stop = False
                if prints:
                    print(f"{self._head(index)} {progress_line(progress)}")
                if drawn and self.kind == "problem":
                    gap = progress.relative_gap
                    text = f"{progress.solver}, relative gap {gap:.1e}"
                    self._draw(index, meter.share(gap), text)
                if estimator.callback is not None:
                    stop = bool(estimator.callback(progress))
                if context is not None:
                    step = context.subcontext(task_name="certificate")
                    step.call_on_fit_task_begin(estimator=estimator)
                    stop = bool(step.call_on_fit_task_end(estimator=estimator)) or stop
                return stop

        def draw(share: float, text: str) -> None:
            with self._lock:
                self._draw(index, meter.at_least(share), text)

        return ReportingCallback(tell, draw if drawn else None, estimator.callback)

    def _draw(self, index: int, share: float, text: str = "") -> None:
        """Note how much of a problem is done and draw the bar."""
        if self._bar is None:
            return
        self._shares[index] = share
        ended = sum(one >= 1.0 for one in self._shares)
        head = f"{ended} of {self.n_problems} {self.kind}s" if self.n_problems > 1 else ""
        self._bar.set(sum(self._shares), ", ".join(part for part in (head, text) if part))

    def _head(self, index: int) -> str:
        name = type(self.estimator).__name__
        which = f" {self.kind} {index + 1}/{self.n_problems}" if self.n_problems > 1 else ""
        return f"[{name}]{which}"

    def solved(self, index: int, solution: Solution | MultiTaskSolution) -> None:
        """Print how a problem ended, if anyone reads, and move the bar."""
        self.ended(index, f"ended after {solution.seconds:.2f} s ({solution.status})")

    def ended(self, index: int, found: Any) -> None:
        """Print what a path or a round came to, if anyone reads, and move the bar."""
        with self._lock:
            self._draw(index, 1.0)
            if self.estimator.verbose:
                print(f"{self._head(index)} {found}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Leave the bar as it is; without an error, close the contexts that were opened."""
        if self._bar is not None:
            self._bar.close()
        if kind is not None or self._root is None:
            return
        for context in (*self._root._children_map.values(), self._root):
            context.call_on_fit_task_end(estimator=self.estimator, X=self.X, y=self.y)


# ---- the proof in a notebook --------------------------------------------------------------------


def visual_block(estimator: Any) -> Any:
    """Return the block of an estimator in scikit-learn's diagrams.

    A line under the name says what is proved, also inside a Pipeline; the diagram of the estimator
    itself ends with the table of `certificate_html`.
    """
    summary = certificate_line(estimator)
    details = f"{estimator}\n{summary}" if summary else str(estimator)
    given: dict[str, Any] = {"names": type(estimator).__name__, "name_details": details}
    if summary and "name_caption" in signature(_VisualBlock).parameters:
        given["name_caption"] = summary
    return _VisualBlock("single", estimator, **given)


def _entries(estimator: Any) -> list[tuple[str, Certificate, str]]:
    """Return status, proof and solver of each problem of the fit; nothing before the fit."""
    proofs = getattr(estimator, "certificate_", None)
    if proofs is None:
        return []
    columns = (estimator.status_, proofs, estimator.solver_)
    return [columns] if isinstance(proofs, Certificate) else list(zip(*columns, strict=True))


def certificate_line(estimator: Any) -> str:
    """Return the worst status and the largest relative gap of the fit; nothing before the fit."""
    entries = _entries(estimator)
    if not entries:
        return ""
    unsolved = [status for status, _, _ in entries if status != "solved"]
    gap = max(proof.relative_gap for _, proof, _ in entries)
    return f"{unsolved[0] if unsolved else 'solved'}, relative gap {gap:.1e}"


def certificate_html(estimator: Any) -> str:
    """Return a small table with one line per problem of the fit; nothing before the fit."""
    entries = _entries(estimator)
    if not entries:
        return ""
    lines: list[Any] = [("status", "objective", "relative gap", "violation", "solver")]
    for status, proof, solver in entries[:_MOST_LISTED]:
        gaps = (f"{proof.relative_gap:.1e}", f"{proof.violation:.1e}")
        lines.append((status, proof.primal, *gaps, solver))
    if len(entries) > _MOST_LISTED:
        worst = max(proof.relative_gap for _, proof, _ in entries)
        rest = len(entries) - _MOST_LISTED
        lines.append((f"{rest} more", "", f"at most {worst:.1e}", "", ""))
    return f"<div class='rectiline-certificate'>{html_table('certificate', lines)}</div>"
