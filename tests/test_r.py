"""The script for R runs and finds what Python finds; skipped without R and reticulate."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rectiline

ROOT = Path(__file__).resolve().parents[1]
RSCRIPT = shutil.which("Rscript")


def _why_not():
    """Return why the script cannot run here, or None."""
    # reticulate takes arrays of NumPy 2 since version 1.36.
    least = "1.36" if int(np.__version__.split(".")[0]) >= 2 else "1.20"
    call = [
        "-e",
        "quit(status = !requireNamespace('reticulate', quietly = TRUE)"
        f" || packageVersion('reticulate') < '{least}')",
    ]
    found = subprocess.run([RSCRIPT, *call], capture_output=True, timeout=60).returncode == 0
    return None if found else f"needs the R package reticulate {least} or newer"


@pytest.mark.skipif(RSCRIPT is None, reason="needs R")
def test_the_script_runs_in_r():
    reason = _why_not()
    if reason is not None:
        pytest.skip(reason)
    source = str(Path(rectiline.__file__).parents[1])
    environment = {
        **os.environ,
        "RETICULATE_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")])),
    }
    script = ROOT / "examples" / "r" / "rectiline.R"
    done = subprocess.run(
        [RSCRIPT, str(script)], capture_output=True, text=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "certified relative gap at most 1e-9: TRUE" in done.stdout
    assert "signs hold: TRUE" in done.stdout
    assert "status: solved" in done.stdout
    assert "The claim holds" in done.stdout


def test_the_page_and_the_script_name_things_that_exist():
    """Every ``rl$a$b`` in the script and on the page is an attribute of the package."""
    text = (ROOT / "examples" / "r" / "rectiline.R").read_text("utf-8")
    text += (ROOT / "docs" / "r.rst").read_text("utf-8")
    names = set(re.findall(r"\brl\$([\w$]+)", text))
    assert len(names) >= 6
    for name in names:
        found = rectiline
        for part in name.split("$"):
            found = getattr(found, part)
