"""What tests of paths share."""

import pytest

from rectiline.solvers import Follower


@pytest.fixture
def lose_moves(monkeypatch):
    """Return a function that lets moves with certain numbers fail."""

    def apply(lost):
        move, calls = Follower.move, []

        def sometimes(self, strength, *others):
            calls.append(strength)
            return None if len(calls) - 1 in lost else move(self, strength, *others)

        monkeypatch.setattr(Follower, "move", sometimes)

    return apply
