"""The four subcommands; `rectiline.cli.main` calls `run`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import rectiline as rl
from rectiline.cli import _fit as fitting
from rectiline.cli._model import Asked, Model
from rectiline.cli._table import read_blocks, read_table

EPILOG = (
    "Exit codes: 0 done (verify: the claim holds), 1 not solved to the tolerance (verify: the "
    "claim does not hold), 2 wrong use or input."
)
app = typer.Typer(
    help="Fit linear models with a proof of optimality.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Data = Annotated[
    Path,
    typer.Argument(
        help="A .csv, .tsv (also .gz), .parquet, .npz, .npy or .svmlight file; - reads CSV."
    ),
]
Target = Annotated[str, typer.Option(help="Column (or array) of the targets.")]
Weight = Annotated[str | None, typer.Option(help="Column of sample weights.")]
Missing = Annotated[str, typer.Option(help="Rows with a missing cell: error, or drop them.")]
Separator = Annotated[str | None, typer.Option(help="Of CSV fields; by default guessed.")]
Encoding = Annotated[str, typer.Option(help="Of CSV text.")]
Names = Annotated[str | None, typer.Option(help="Columns by comma.")]


def run(argv: list[str]) -> int:
    """Run the command; errors of input become one line and exit code 2."""
    try:
        code = app(args=argv, prog_name="rectiline", standalone_mode=False)
        return int(code or 0)
    except typer.Exit as done:
        return int(done.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
        return _complain(" ".join(str(error).split()))
    except Exception as error:  # what typer raises about wrong options
        if hasattr(error, "format_message"):
            return _complain(error.format_message())
        raise


def _complain(sentence: str) -> int:
    print(f"rectiline: {sentence}", file=sys.stderr)
    return 2


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Fit linear models with a proof of optimality."""
    if version:
        print(f"rectiline {rl.__version__}")
        raise typer.Exit


@app.command(epilog=EPILOG)
def fit(
    data: Data,
    target: Target = "y",
    loss: Annotated[
        str | None,
        typer.Option(
            help="NAME or NAME:NUMBER, say pinball:0.9; by default hinge for labels, else huber."
        ),
    ] = None,
    penalty: Annotated[
        str | None,
        typer.Option(
            help="ridge:STRENGTH (or l2:), l1:STRENGTH, elasticnet:L1,L2, slope:STRENGTH,Q or "
            "none, added to the sum of the losses; by default ridge with a strength from the data."
        ),
    ] = None,
    C: Annotated[float | None, typer.Option("--C", help="Factor on the losses.")] = None,
    constraints: Annotated[
        list[str] | None,
        typer.Option("--constraint", help='Such as "bmi >= 0" or "a + b == 1"; may be repeated.'),
    ] = None,
    weight: Weight = None,
    features: Names = None,
    drop: Names = None,
    categorical: Names = None,
    missing: Missing = "error",
    separator: Separator = None,
    encoding: Encoding = "utf-8",
    intercept: Annotated[bool, typer.Option(help="Whether to fit an intercept.")] = True,
    tol: Annotated[float, typer.Option(help="Largest certified relative gap.")] = 1e-6,
    time_limit: Annotated[float | None, typer.Option(help="Most seconds.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Model file.")] = None,
    certificate: Annotated[Path | None, typer.Option(help="Certificate file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """Fit a linear model, score it, and say how close to optimal it is proved to be."""
    given = dict(locals())
    terms = {k: v for k, v in given.items() if k not in ("output", "certificate", "as_json")}
    terms |= {"data": str(data), "constraints": list(constraints or [])}
    for name in ("features", "drop", "categorical"):
        parts = (terms[name] or "").split(",")
        terms[name] = [one.strip() for one in parts if one.strip()]
    for path in (output, certificate):
        fitting.checked_output(path)
    table = read_table(data, Asked.of(terms))
    shown = sys.stdout.isatty() and not as_json and str(output) != "-"
    try:
        estimator, model = fitting.fit_table(table, terms, progress_bar=shown)
    except rl.InfeasibleError:
        problem, solution = fitting.infeasible(table, terms)
        if certificate is not None:
            solution.save(certificate, problem, table.names)
        print(json.dumps({"status": "infeasible"}) if as_json else solution)
        return 1
    if output is not None:
        model.save(output)
    if certificate is not None:
        y = fitting.targets(table.y).view(fitting.NamedVector)
        y.name = target
        estimator.save_certificate(certificate, table.X, y, table.weight)
    text = json.dumps(model.result) if as_json else fitting.fit_text(data, table, estimator, model)
    print(text, file=sys.stderr if str(output) == "-" else sys.stdout)
    return 0 if model.result["status"] == "solved" else 1


@app.command(epilog=EPILOG)
def predict(
    model: Annotated[Path, typer.Argument(help="A model file that fit wrote.")],
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="CSV file to write; - prints.")
    ] = Path("-"),
) -> int:
    """Predict the rows of a table; rows with a missing cell get empty cells if fit dropped them."""
    fitted = Model.load(model)
    fitting.checked_output(output)
    asked = replace(Asked.of(fitted.terms), target=None, weight=None)
    table = read_table(data, asked, fitted.names)
    estimator = fitted.estimator()
    found: dict[str, Any] = {"prediction": estimator.predict(table.X)}
    if fitted.classes is not None:
        decisions = estimator.decision_function(table.X)
        columns = [decisions] if decisions.ndim == 1 else decisions.T
        names = ["decision"] if len(columns) == 1 else [f"decision {c}" for c in fitted.classes]
        found |= dict(zip(names, columns, strict=True))
    if table.n_dropped:
        for name, values in found.items():
            column = np.full(table.used.size, None, dtype=object)
            column[table.used] = values
            found[name] = column
    fitting.write_columns(output, found)
    return 0


@app.command(epilog=EPILOG)
def verify(
    claim: Annotated[Path, typer.Argument(help="A certificate file, or a model file.")],
    data: Annotated[Path | None, typer.Argument(help="The table it is about.")] = None,
    target: Annotated[
        str | None, typer.Option(help="Column of the targets, where the file does not name it.")
    ] = None,
    weight: Weight = None,
    missing: Missing = "error",
    separator: Separator = None,
    encoding: Encoding = "utf-8",
    exact: Annotated[bool, typer.Option("--exact", help="Rational numbers, small data.")] = False,
) -> int:
    """Check a certificate file against data without a solver, or prove a model again from data."""
    from rectiline import verify as checker

    if not claim.exists():
        raise ValueError(f"{claim}: there is no such file.")
    if claim.suffix == ".json":
        return _verify_model(claim, data)

    def rows(header: dict[str, Any]) -> Iterator[Any]:
        if data is None:
            raise ValueError("the data are needed: rectiline verify CERTIFICATE DATA.")
        named = (header.get("targets") or ["y"])[0]
        asked = Asked(named, weight, missing=missing, separator=separator, encoding=encoding)
        yield from read_blocks(data, asked, header["columns"])

    return checker.tell(claim, rows, target, exact)


def _verify_model(path: Path, data: Path | None) -> int:
    model = Model.load(path)
    if data is None:
        raise ValueError("the data are needed: rectiline verify MODEL DATA.")
    estimator = model.proved_estimator()
    table = read_table(data, Asked.of(model.terms), model.names)
    proofs = fitting.as_list(estimator.verify(table.X, fitting.targets(table.y), table.weight))
    holds = all(proof.holds(estimator.tol) for proof in proofs)
    print(f"The claim {'holds' if holds else 'does not hold'}: {fitting.proof_words(proofs)}.")
    print(fitting.scores(estimator, table))
    return 0 if holds else 1


@app.command(epilog=EPILOG)
def report(
    model: Annotated[Path, typer.Argument(help="A model file that fit wrote.")],
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")],
) -> int:
    """Write one self-contained HTML page about a fit."""
    fitted = Model.load(model)
    fitting.checked_output(output)
    estimator = fitted.proved_estimator()
    table = read_table(data, Asked.of(fitted.terms), fitted.names)
    about = {"data": fitted.terms.get("data", data), "target": fitted.terms["target"]}
    estimator.report(output, table.X, fitting.targets(table.y), table.weight, about=about)
    return 0
