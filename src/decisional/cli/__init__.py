"""Command line. Heavy modules are imported inside the commands, so that --help answers at once."""

from .program import main

__all__ = ["main"]
