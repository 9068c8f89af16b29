"""Show a solve at work, by lines and by a bar of rich or tqdm; for `solve` and the estimators."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rectiline.solvers._base import Callback, Progress


def progress_line(progress: Progress) -> str:
    """Return what is known at a certificate, in one line."""
    proof = progress.certificate
    return (
        f"{progress.solver} {progress.n_iter} iterations, {progress.seconds:.2f} s: objective "
        f"{proof.primal:.8g}, relative gap {proof.relative_gap:.1e}, violation "
        f"{proof.violation:.1e}"
    )


class GapProgress:
    """How much of the way from the first certified gap to the target is done.

    Gaps shrink by factors, so the way is measured on a logarithmic scale. It never goes back.

    Examples
    --------
    >>> meter = GapProgress(tol=1e-6)
    >>> meter.share(1e-2), meter.share(1e-4), meter.share(1e-3), meter.share(0.0)
    (0.0, 0.5, 0.5, 1.0)
    """

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self._first: float | None = None
        self._done = 0.0

    def at_least(self, share: float) -> float:
        """Note that this share of the way is done, whatever the gap; return what is done."""
        self._done = max(self._done, min(share, 1.0))
        return self._done

    def share(self, relative_gap: float) -> float:
        """Note a gap; return the share that is done, between 0 and 1."""
        if not math.isfinite(relative_gap):
            return self._done
        if self._first is None:
            self._first = max(min(relative_gap, 1.0), self.tol)
        if relative_gap <= self.tol:
            self._done = 1.0
        elif self._first > self.tol:
            way = math.log(self._first / relative_gap) / math.log(self._first / self.tol)
            self._done = min(max(self._done, way), 1.0)
        return self._done


class ReportingCallback:
    """A callback made of two functions: for certificates, and for parts of passes.

    A callback that has `during_pass`, too, hears how far passes over the rows are.
    The user's callback `listener` hears about parts of passes as well, if it wants to.
    """

    def __init__(
        self,
        certificate: Callable[[Progress], Any],
        part: Callable[[float, str], None] | None,
        listener: Callback | None = None,
    ) -> None:
        self._certificate, self._part, self._listener = certificate, part, listener

    def __call__(self, progress: Progress) -> Any:
        """Tell about a certificate; whether to stop."""
        return self._certificate(progress)

    def during_pass(self, number: int, done: int, total: int | None) -> None:
        """Tell how far a pass is: the share of a fit that is likely done, and a few words.

        Pass 0 draws a sample from rows that have to be read for it. How many passes there will be
        is not known; each is taken to be half of what is left.
        """
        listener: Any = self._listener
        if hasattr(listener, "during_pass"):
            listener.during_pass(number, done, total)
        if self._part is None:
            return
        share = 0.0 if not total else min(done / total, 1.0)
        of = "" if total is None else f" of {total:,}"
        likely = 0.25 * share if number == 0 else 1.0 - 0.5 ** (number - 1 + share)
        name = f"pass {number}" if number else "sample"
        self._part(likely, f"{name}: {done:,}{of} rows")


Bar = tuple[Callable[[float, str], Any], Callable[[], Any]]


class ProgressBar:
    """A bar from 0 to `total`, drawn by rich, or else by tqdm.

    Raises ImportError, which names what to install, if neither is there.

    Attributes
    ----------
    set : callable
        Shows how much is done, and a few words.
    close : callable
        Leaves the bar as it is.
    """

    def __init__(self, total: float, title: str) -> None:
        bar = _rich_bar(total, title) or _tqdm_bar(total, title)
        if bar is None:
            raise ImportError(
                "progress_bar=True needs rich or tqdm: pip install rich, or pip install tqdm."
            )
        self.set, self.close = bar


def _rich_bar(total: float, title: str) -> Bar | None:
    try:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        return None
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[text]}"),
    )
    bar = Progress(*columns)
    task = bar.add_task(title, total=total, text="")
    bar.start()
    return lambda done, text: bar.update(task, completed=done, text=text), bar.stop


def _tqdm_bar(total: float, title: str) -> Bar | None:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    layout = "{desc} {percentage:3.0f}%|{bar}| {elapsed} {postfix}"
    bar = tqdm(total=total, desc=title, bar_format=layout)

    def show(done: float, text: str) -> None:
        bar.set_postfix_str(text, refresh=False)
        bar.update(max(done - bar.n, 0.0))

    return show, bar.close


@contextmanager
def showing(
    callback: Callback | None, verbose: bool, progress_bar: bool, tol: float
) -> Iterator[Callback]:
    """Give a callback that shows each certificate and then asks the user's callback."""
    bar = ProgressBar(1.0, "solve") if progress_bar else None
    meter = GapProgress(tol)

    def tell(progress: Progress) -> Any:
        if verbose:
            print(progress_line(progress))
        if bar is not None:
            share = meter.share(progress.relative_gap)
            bar.set(share, f"{progress.solver}, relative gap {progress.relative_gap:.1e}")
        return None if callback is None else callback(progress)

    def draw(share: float, text: str) -> None:
        if bar is not None:
            bar.set(meter.at_least(share), text)

    try:
        yield ReportingCallback(tell, None if bar is None else draw, callback)
    finally:
        if bar is not None:
            bar.close()
