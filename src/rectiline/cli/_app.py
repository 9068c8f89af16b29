"""The four subcommands; `rectiline.cli.main` calls `run`."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import rectiline as rl
from rectiline.cli._model import Model
from rectiline.cli._tables import Table, read_blocks, read_table, write_columns
from rectiline.cli._terms import read_constraints, read_loss, read_penalty

__all__ = ["run"]

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

Data = Annotated[Path, typer.Argument(help="A .csv, .parquet, .npz, .npy or .svmlight file.")]
Target = Annotated[str, typer.Option(help="Column (or array) of the targets.")]
Weight = Annotated[str | None, typer.Option(help="Column of sample weights.")]


def run(argv: list[str]) -> int:
    """Run the command; errors of input become one line and exit code 2."""
    try:
        code = app(args=argv, prog_name="rectiline", standalone_mode=False)
        return int(code or 0)
    except typer.Exit as done:
        return int(done.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except (ValueError, TypeError, OSError, ImportError) as error:
        return _complain(" ".join(str(error).split()))
    except Exception as error:  # what typer raises about wrong options
        if hasattr(error, "format_message"):
            return _complain(error.format_message())
        raise


def _complain(sentence: str) -> int:
    print(f"rectiline: {sentence}", file=sys.stderr)
    return 2


@app.command(epilog=EPILOG)
def fit(
    data: Data,
    target: Target = "y",
    loss: Annotated[str, typer.Option(help="NAME or NAME:NUMBER, say pinball:0.9.")] = "huber",
    penalty: Annotated[
        str,
        typer.Option(
            help="ridge:STRENGTH, l1:STRENGTH, elasticnet:L1,L2, slope:STRENGTH,Q or none, added "
            "to the sum of the losses."
        ),
    ] = "ridge:1.0",
    constraint: Annotated[
        list[str] | None,
        typer.Option(help='Such as "bmi >= 0" or "a + b == 1"; may be repeated.'),
    ] = None,
    weight: Weight = None,
    intercept: Annotated[bool, typer.Option(help="Whether to fit an intercept.")] = True,
    tol: Annotated[float, typer.Option(help="Largest certified relative gap.")] = 1e-6,
    time_limit: Annotated[float | None, typer.Option(help="Most seconds.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Model file.")] = None,
    certificate: Annotated[Path | None, typer.Option(help="Certificate file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """Fit a linear model and say how close to optimal it is proved to be."""
    terms = {
        "loss": loss,
        "penalty": penalty,
        "constraints": list(constraint or []),
        "target": target,
        "weight": weight,
        "intercept": intercept,
        "tol": tol,
    }
    of = read_loss(loss).of
    table = read_table(data, target, weight)
    problem = _problem(table, terms)
    shown = sys.stdout.isatty() and not as_json
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        solution = rl.solve(problem, tol=tol, time_limit=time_limit, progress_bar=shown)
    result = _result(solution)
    if solution.infeasibility is None:
        result["intercept"] = solution.intercept
        result["coef"] = dict(zip(table.names, solution.coef.tolist(), strict=True))
        model = Model(
            names=table.names,
            coef=solution.coef.tolist(),
            intercept=solution.intercept,
            of=of,
            labels=list(np.unique(table.y).tolist()) if of == "margin" else None,
            terms=terms,
            result=result,
        )
        if output is not None:
            model.save(output)
    if certificate is not None:
        solution.save(certificate, problem, table.names)
    if as_json:
        print(json.dumps(result))
    else:
        _show(solution, table.names)
    return 0 if solution.status == "solved" else 1


@app.command(epilog=EPILOG)
def predict(
    model: Annotated[Path, typer.Argument(help="A model file that fit wrote.")],
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="CSV file to write.")],
) -> int:
    """Predict the rows of a table and write them as CSV."""
    fitted = Model.load(model)
    table = read_table(data, names=fitted.names)
    write_columns(output, fitted.predict(table.X))
    return 0


@app.command(epilog=EPILOG)
def verify(
    certificate: Annotated[Path, typer.Argument(help="A certificate file.")],
    data: Annotated[Path | None, typer.Argument(help="The table it is about.")] = None,
    target: Target = "y",
    weight: Weight = None,
    exact: Annotated[bool, typer.Option("--exact", help="Rational numbers, small data.")] = False,
) -> int:
    """Check a certificate file against data, without a solver."""
    from rectiline import verify as checker

    if not certificate.exists():
        raise ValueError(f"{certificate}: there is no such file.")
    try:
        header, arrays = checker.read(certificate)
        if header["kind"] == "infeasible":
            print(checker.sentence(None, checker.check_infeasible(arrays)))
            return 0
        if data is None:
            raise ValueError("the data are needed: rectiline verify CERTIFICATE DATA.")
        blocks = read_blocks(data, target, weight, header["columns"])
        found = checker.check(certificate, blocks, exact)
    except checker.Refused as error:
        print(f"The claim does not hold: {error}.")
        return 1
    print(checker.sentence(found))
    return 0


@app.command(epilog=EPILOG)
def report(
    model: Annotated[Path, typer.Argument(help="A model file that fit wrote.")],
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")],
) -> int:
    """Write one self-contained HTML page about a fit."""
    from rectiline.reports import write_report

    fitted = Model.load(model)
    terms = fitted.terms
    table = read_table(data, terms["target"], terms["weight"], fitted.names)
    problem = _problem(table, terms)
    solution = rl.solve(problem, tol=terms["tol"])
    write_report(output, problem, solution, y=table.y, feature_names=table.names)
    return 0


def _problem(table: Table, terms: dict[str, Any]) -> rl.Problem:
    return rl.Problem(
        table.X,
        table.y,
        read_loss(terms["loss"]),
        read_penalty(terms["penalty"], len(table.names)),
        read_constraints(terms["constraints"], table.names),
        table.weight,
        terms["intercept"],
    )


def _result(solution: rl.Solution) -> dict[str, Any]:
    proof = solution.certificate
    numbers = {
        "objective": proof.primal,
        "relative_gap": proof.relative_gap,
        "gap": proof.gap,
        "violation": proof.violation,
    }
    finite = {k: v if abs(v) < float("inf") else None for k, v in numbers.items()}
    return {
        "status": str(solution.status),
        **finite,
        "solver": solution.solver,
        "n_iter": solution.n_iter,
        "seconds": solution.seconds,
    }


def _show(solution: rl.Solution, names: list[str]) -> None:
    print(solution if solution.infeasibility else f"{solution.status}: {solution.certificate}")
    if solution.infeasibility is None:
        width = max(map(len, [*names, "intercept"]))
        for name, value in [("intercept", solution.intercept), *zip(names, solution.coef)]:
            print(f"  {name:{width}}  {value: .6g}")
