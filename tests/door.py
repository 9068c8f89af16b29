"""Run every example of the README and of the landing page, as someone does who has the wheel alone.

python tests/door.py             in an environment with the wheel alone (make test-door)
python tests/door.py --block     elsewhere: packages that the wheel does not bring are hidden
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.abc
import io
import os
import re
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("index.rst", "installation.rst")
NUMBERS_OF_ROUNDING = re.compile(r"\d\.\de-\d\d")  # gaps at the level of rounding differ by machine


class Hidden(importlib.abc.MetaPathFinder):
    """Refuses to import the packages of all extras."""

    def __init__(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        listed = [one for extra in project["optional-dependencies"].values() for one in extra]
        names = {re.match(r"[\w-]+", one).group().replace("-", "_") for one in listed}
        needed = {
            re.match(r"[\w-]+", one).group().replace("-", "_") for one in project["dependencies"]
        }
        self.names = names - needed - {"rectiline"} | {"tqdm", "click"}

    def find_spec(self, name, path=None, target=None):
        """Raise for a hidden package; leave all others to the finders after this one."""
        if name in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def plain(text: str) -> str:
    """Return printed text without the digits that rounding decides."""
    return NUMBERS_OF_ROUNDING.sub("#", text)


def run_readme() -> int:
    """Run the blocks of Python in the README and compare what they print; return their number."""
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", text, re.S)
    assert len(blocks) == text.count("```python"), "a block without its output"
    for block, output in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, "README.md", "exec"), {})
        assert plain(printed.getvalue()) == plain(output), printed.getvalue()
    return len(blocks)


def run_pages() -> int:
    """Run the examples of the landing page and of the installation page; return their number."""
    flags, count = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, 0
    for page in PAGES:
        failed, tried = doctest.testfile(
            str(ROOT / "docs" / page), module_relative=False, encoding="utf-8", optionflags=flags
        )
        assert not failed, page
        count += tried
    return count


if __name__ == "__main__":
    if "--block" in sys.argv:
        sys.meta_path.insert(0, Hidden())
    os.chdir(tempfile.mkdtemp())
    print(f"{run_readme()} blocks and {run_pages()} examples run")
