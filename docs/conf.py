"""Settings of the documentation; ``make docs`` builds it with warnings as errors."""

import html
import re
import sys
from pathlib import Path

from docutils import nodes

import rectiline

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.figures import figures
from benchmarks.page import write_page

project = "Rectiline"
author = "The Rectiline developers"
copyright = "The Rectiline developers, BSD 3-Clause"
release = rectiline.__version__
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "**/sg_execution_times.rst"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(demo|many_rows)\.py",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # that page would load scripts from elsewhere
    "doc_module": ("rectiline",),
    "backreferences_dir": "gallery/backreferences",
    "inspect_global_variables": False,
}
# Examples draw figures of their own making; none needs a special warning filter.
# Pictures are drawn by the code that pages show.
plot_include_source = True
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 110)]
plot_rcparams = {"savefig.bbox": "tight"}
plot_pre_code = "import matplotlib.pyplot as plt\nimport numpy as np\nimport rectiline as rl"
suppress_warnings = ["config.cache"]  # the settings of the gallery cannot be pickled
templates_path = ["_templates"]
default_role = "py:obj"  # `Problem` in a docstring links to its page
# Copying leaves out prompts and output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Numbers in the text come from the result files of the benchmarks: |races_mean| and the like.
rst_prolog = "\n".join(f".. |{name}| replace:: {value}" for name, value in figures().items())

html_math_renderer = "mathml"  # formulas are part of the page: no script, no network
html_theme = "furo"
html_title = f"Rectiline {release}"
html_static_path = ["_static"]
html_css_files = ["rectiline.css"]

autodoc_member_order = "bysource"
autosummary_imported_members = True
autosummary_generate = True
# Methods of these are described where they are defined: in scikit-learn, or once for all losses,
# penalties, constraints, sources of rows and displays.
autosummary_context = {
    "bases_left_out": "BaseEstimator, ClassifierMixin, RegressorMixin, LinearClassifierMixin, "
    "SparseCoefMixin, CallbackSupportMixin, _MetadataRequester, object, tuple, str, Exception, "
    "Warning, Loss, Penalty, Constraint, RowBlocks, Display"
}
autodoc_typehints = "none"  # the docstrings already tell the types, in words
numpydoc_show_class_members = False  # autodoc lists the members itself


def _escape_bars(app, what, name, obj, options, lines):
    """Keep |b| in a docstring an absolute value: markup would take it for a substitution."""
    for k, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")):
            continue
        parts = re.split(r"(`+[^`]*`+)", line)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[k] = "".join(parts)


def _add_examples(app, what, name, obj, options, lines):
    """End the page of a class or function with the examples of the gallery that use it."""
    if what not in ("class", "function"):
        return
    folder = Path(app.srcdir) / "gallery" / "backreferences"
    short = name.rsplit(".", 1)[-1]
    room = ".".join(name.split(".")[:2])
    for known in dict.fromkeys([name, f"{room}.{short}", f"rectiline.{short}"]):
        files = [folder / f"{known}.examples", *sorted(folder.glob(f"{known}.*.examples"))]
        used = [one.stem for one in files if one.exists() and one.stat().st_size]
        if used:
            listed = " ".join(used)
            lines += [
                "",
                ".. rubric:: Examples in the gallery",
                "",
                f".. minigallery:: {listed}",
                "",
            ]
            return


def _write_pending_changes(app):
    """Join the notes in changes/ that are in no version yet, for the top of the changelog."""
    kinds = ("added", "changed", "removed", "faster", "fixed")
    lines = []
    for kind in kinds:
        for file in sorted((Path(app.srcdir).parent / "changes").glob(f"*.{kind}.md")):
            text = re.sub(r"`([^`]+)`", r"``\1``", " ".join(file.read_text("utf-8").split()))
            lines.append(f"* {kind.capitalize()}: {text}")
    title = ["Not yet in a version", "-" * 20, ""] if lines else []
    target = Path(app.srcdir) / "pending_changes.inc"
    target.write_text("\n".join([*title, *lines, ""]), "utf-8")


def _write_measurements(app):
    """Make the tables and pictures of measurements from the result files."""
    write_page(Path(app.srcdir) / "measured")


def _skip_requests(app, what, name, obj, skip, options):
    """Leave out what scikit-learn adds to every estimator for metadata routing."""
    return True if name.startswith("set_") and name.endswith("_request") else skip


def _mathml(latex, display):
    from latex2mathml.converter import convert

    return convert(latex, display=display)


def _visit_inline_math(self, node):
    self.body.append(_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _visit_block_math(self, node):
    label = html.escape(node.astext(), quote=True)
    self.body.append(f'<div class="math" title="{label}">{_mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app):
    """Write formulas as MathML; hook into the reading of docstrings, before numpydoc does."""
    app.add_html_math_renderer("mathml", (_visit_inline_math, None), (_visit_block_math, None))
    app.connect("builder-inited", _write_pending_changes)
    app.connect("builder-inited", _write_measurements)
    app.connect("autodoc-process-docstring", _escape_bars, priority=400)
    app.connect("autodoc-process-docstring", _add_examples, priority=900)
    app.connect("autodoc-skip-member", _skip_requests)
