"""The examples in the README and in the user guide run and show what they say."""

import doctest
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.rst") if "gallery" not in page.parts)
PYTHON = re.compile(r"^\.\. code-block:: python\n((?:[ ]+.*\n|\n)+)", re.M)


def test_readme_and_landing_page_run_with_the_wheel_alone():
    """In a process in which the packages of all extras are hidden."""
    command = [sys.executable, str(ROOT / "tests" / "door.py"), "--block"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"1 blocks and \d+ examples run\n", done.stdout)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_guide_examples_run(page):
    if page.stem == "mapie":
        pytest.importorskip("mapie", reason="the page shows our class inside MAPIE")
    failed, _ = doctest.testfile(
        str(page), module_relative=False, encoding="utf-8", optionflags=FLAGS
    )
    assert failed == 0


def test_blocks_of_python_run():
    """Blocks without prompts are run as well; one that needs more than a computer says so."""
    count = 0
    for page in PAGES:
        names: dict[str, object] = {}
        for block in PYTHON.findall(page.read_text("utf-8")):
            code = compile(textwrap.dedent(block), page.name, "exec")
            if re.search("# needs a (network|cluster|GPU)", block):
                continue
            if "rl.formula" in block:
                pytest.importorskip("formulaic")
            exec(code, names)
            count += 1
    assert count >= 1


# Measured cases, ratios, seconds and megabytes come from result files as |name|.
MEASURED = re.compile(
    r"(?<![\w.,|])\d[\d.,]*(?: to [\d.,]+)? ?(?:x (?:faster|slower)|"
    r"times (?:faster|slower|as fast|as long)|cases|races|seconds|ms|s|minutes|MB|GB)(?![\w%])"
)


def test_pages_state_no_measurement_of_their_own():
    """Text outside of examples has no measured number that is not read from a result file."""
    found = []
    for page in PAGES:
        if page.stem in ("changelog", "pending_changes") or "generated" in page.parts:
            continue
        lines = page.read_text("utf-8").splitlines()
        prompt = False
        for line in lines:
            prompt = line.lstrip().startswith((">>>", "...")) or (prompt and line.strip() != "")
            indented = line.startswith("   ") and not line.lstrip().startswith(("*", "-"))
            if prompt or (indented and re.match(r"\s+\S+ = |\s+make ", line)):
                continue
            found += [f"{page.name}: {hit}" for hit in MEASURED.findall(line)]
    assert not found, found


def test_links_between_documents_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *(ROOT / "changes").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text("utf-8")):
            assert (document.parent / link).exists(), f"{document.name}: {link}"


def test_notes_of_changes_quote_code_as_the_changelog_reads_it():
    """One backquote on each side: the changelog makes two of them."""
    for note in (ROOT / "changes").glob("*.md"):
        assert "``" not in note.read_text("utf-8"), note.name


def test_the_page_about_the_code_is_true_of_the_code():
    """Files that it names exist, and protocols have the methods that it lists."""
    from rectiline.problems.forms._base import Form
    from rectiline.rows import RowBlocks
    from rectiline.solvers._base import PathFollower, Solver

    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    if (ROOT / "benchmarks").exists():
        for name in re.findall(r"`([\w./]+(?:/|\.py|\.hpp|\.csv))`", text):
            assert (ROOT / name).exists() or (ROOT / "src" / "rectiline" / name).exists(), name
    for protocol in (Form, Solver, PathFollower, RowBlocks):
        listed = re.search(rf"\| `{protocol.__name__}` \|([^|]*)\|", text).group(1)
        methods = set(re.findall(r"`(\w+)", listed)) - {"learn"}  # which only some solvers have
        assert methods and all(hasattr(protocol, method) for method in methods), protocol


def test_the_readme_states_what_was_measured():
    """Numbers of the README are those of the result files; the pages read them when built."""
    if not (ROOT / "benchmarks").exists():
        pytest.skip("the source archive has no benchmarks")
    sys.path.insert(0, str(ROOT))
    from benchmarks.figures import figures

    measured = figures()
    text = " ".join((ROOT / "README.md").read_text("utf-8").split())
    stated = {
        "races": r"On the (\d+) cases that another solver also solved",
        "races_mean": r"`auto` is ([\d.]+)x faster than the best of them",
        "races_near": r"within 1\.25x on (\d+) % of the cases",
        "install_all": r"these six \((\d+) MB installed",
        "install_none": r"(\d+) MB without extras",
        "gpu_billion_rows": r"a billion rows of 10 columns in ([\d.]+ to [\d.]+) s",
        "door_adult_rectiline": r"SVM on Adult takes ([\d.]+) s",
        "door_adult_cvxpy": r"SVM on Adult takes [\d.]+ s; cvxpy takes ([\d.]+) s",
        "door_adult_rehline": r"cvxpy takes [\d.]+ s, rehline ([\d.]+) s",
        "door_cal_housing_rectiline": r"California housing takes ([\d.]+) s",
        "door_cal_housing_statsmodels": r"housing takes [\d.]+ s; statsmodels takes ([\d.]+) s",
        "door_cal_housing_sklearn_quantile": r"QuantileRegressor ([\d.]+) s",
        "door_diamonds_rectiline": r"Diamonds takes ([\d.]+) s",
        "door_diamonds_statsmodels": r"Diamonds takes [\d.]+ s; statsmodels takes ([\d.]+) s",
        "door_diamonds_cvxpy": r"statsmodels takes [\d.]+ s, cvxpy ([\d.]+) s",
    }
    for name, pattern in stated.items():
        assert re.search(pattern, text).group(1) == measured[name], name
    prose = re.sub(r"```.*?```", "", (ROOT / "README.md").read_text("utf-8"), flags=re.S)
    for hit in MEASURED.findall(prose):
        number = re.match(r"[\d.,]+(?: to [\d.,]+)?", hit).group()
        assert number in {*measured.values(), "60"}, hit  # 60 s is the time limit of the picture
    assert measured["races_lost_by_half"] == "0" and "within 2x on all" in text
    assert measured["door_adult_liblinear"] == "none" and "LinearSVC does not get there" in text
