"""What an estimator holds: its parameters, and after a failed fit what it held before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

__all__ = ["keep_parameters", "restored_on_failure"]

# scikit-learn keeps these on the estimator while a fit runs and takes them off itself.
_NOT_OURS = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")


def keep_parameters(estimator: Any, given: Mapping[str, Any]) -> None:
    """Set every parameter as it was given; `given` are the locals of the constructor."""
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


@contextmanager
def restored_on_failure(estimator: Any) -> Iterator[None]:
    """Put every attribute back if the block raises."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        running = {name: vars(estimator)[name] for name in _NOT_OURS if name in vars(estimator)}
        vars(estimator).clear()
        vars(estimator).update(before | running)
        raise
