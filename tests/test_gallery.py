"""Every example of the gallery runs, without a warning, and draws something."""

import runpy
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib")

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_the_example_runs_and_draws(example, monkeypatch):
    if example.stem == "plot_parquet":
        pytest.importorskip("pyarrow")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")
    monkeypatch.setattr(pyplot, "show", lambda: None)
    runpy.run_path(str(example), run_name="__main__")
    figures = [pyplot.figure(k) for k in pyplot.get_fignums()]
    pyplot.close("all")
    assert figures and all(figure.axes for figure in figures)
