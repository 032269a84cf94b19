"""Command line. Heavy modules are imported inside the commands, so that --help answers at once."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the program.

    Returns
    -------
    int
        Exit status: 0 if all went well, 2 for bad input, 130 when interrupted.
    """
    try:
        from .program import run
    except KeyboardInterrupt:
        return 130
    return run(argv)
