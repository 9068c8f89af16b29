"""The command ``rectiline``: fit, predict, verify and report on files. Needs the extra ``cli``."""

from __future__ import annotations

import sys

from rectiline.cli._model import load_model, save_model

__all__ = ["load_model", "main", "save_model"]


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 not proved, 2 wrong use or input.

    Parameters
    ----------
    argv : list of str, optional
        Arguments of the command; by default those of the process.

    Returns
    -------
    int
    """
    try:
        import pyarrow  # noqa: F401
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        print(
            f"rectiline: the command needs {error.name}: pip install pyarrow typer rich (the extra "
            '"cli").',
            file=sys.stderr,
        )
        return 2
    from rectiline.cli._app import run

    return run(sys.argv[1:] if argv is None else argv)
