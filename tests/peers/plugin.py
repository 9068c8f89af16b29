"""A pytest plugin that puts our classes in the place of a peer's before its tests are imported.

`run.py` starts pytest with it. The environment variable PEERS_SUITE says which suite runs.
"""

from __future__ import annotations

import inspect
import os
import re
from typing import Any

import pytest
from reasons import CANNOT_APPLY
from suites import SUITES

SUITE = SUITES[os.environ["PEERS_SUITE"]]


def pytest_configure(config: Any) -> None:
    """Exchange the classes; modules of tests take them when they are imported."""
    SUITE.put_in_place()


def _is_about(item: Any) -> bool:
    """Whether a test is about our classes: by the values it is called with, or by its source."""
    if "[" in item.name and SUITE.word_in_values:
        return re.search(SUITE.about, item.name) is not None
    return re.search(SUITE.about, item.name + inspect.getsource(item.function)) is not None


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Keep the tests that are about our classes; skip those that cannot apply, with the reason."""
    chosen = [item for item in items if _is_about(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
    reasons = CANNOT_APPLY[SUITE.name]
    for item in items:
        for pattern, reason in reasons.items():
            if re.search(pattern, item.name):
                item.add_marker(pytest.mark.skip(reason=reason))
