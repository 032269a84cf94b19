"""Arguments: types, options that commands share, and errors of one sentence."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, NoReturn

PICTURE = "save a picture: .png, .svg or .pdf"
LABELS = ", -1 = none: .npy or .zarr; the same command goes on after an interruption"
ADDRESS = re.compile(r"(?:[a-z]+://)?(?:[^\s/:]+|\[[0-9a-fA-F:.]+\]):\d{1,5}/?")
VARIABLE = "array of an HDF5, netCDF or zarr file (default: the only one)"
# What argparse says, and what we say instead.
REWORDED = (
    (r"argument (\S+?)(?:/\S+)?: expected .*argument.*", r"The option \1 has no value: give one"),
    (r"argument COMMAND: invalid choice: (.*) \(choose from (.*)\)", r"There is no command \1: choose one of \2"),
    (
        r"argument (\S+?)(?:/\S+)?: invalid choice: (.*) \(choose from (.*)\)",
        r"The \1 must be one of \3. Got \2 instead",
    ),
    (r"argument (\S+?)(?:/\S+)?: (.*)", r"The \1 \2"),
    (r"the following arguments are required: COMMAND", r"No command is given: see '{prog} --help'"),
    (r"the following arguments are required: (.*)", r"The command needs \1: see '{prog} --help'"),
    (r"unrecognized arguments: (.*)", r"The command has no option or argument \1: see '{prog} --help'"),
)


class Parser(argparse.ArgumentParser):
    """A parser that raises ValueError with one sentence instead of leaving with several lines."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        for found, said in REWORDED:
            match = re.fullmatch(found, message, re.DOTALL)
            if match:
                message = match.expand(said).replace("{prog}", self.prog)
                break
        raise ValueError(message.removesuffix(".") + ".")


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], help: str, description: str, epilog: str
) -> Parser:
    """A command whose help ends with `epilog`, an example."""
    command: Parser = commands.add_parser(name, help=help, description=description, epilog=epilog)
    command.set_defaults(run=run, name=name)
    return command


def add_outputs(command: Parser, seed: bool = False, **files: str) -> None:
    """Options for result files by name and help, and those that go with them.

    `--out` and `--report` are for all commands that leave results, `--seed` for those with random numbers.
    """
    group = command.add_argument_group("results")
    group.add_argument("--out", metavar="DIR", help="write all of the following into a folder, under default names")
    for name, help in files.items():
        group.add_argument(f"--{name}", metavar="FILE", help=help)
    group.add_argument("--report", metavar="FILE", help="save a page that explains the result: .html")
    group.add_argument("--quiet", action="store_true", help="print no summary")
    if seed:
        command.add_argument("--seed", type=integer(0), metavar="S", help="seed of the random numbers")


def add_scale(command: Parser, rows: str) -> None:
    """Options for large data, `rows` being what a slice has."""
    group = command.add_argument_group("large data")
    chunks = f"read slice by slice, with so many {rows} in each (large files always are)"
    group.add_argument("--chunks", type=integer(1), metavar="N", help=chunks)
    where = "count on a cluster: local (a worker process on each core) or the address of a Dask scheduler"
    group.add_argument("--cluster", type=_where, metavar="WHERE", help=f"{where}, such as tcp://host:8786")


def _where(text: str) -> str:
    if text != "local" and ADDRESS.fullmatch(text) is None:
        rule = "must be 'local' or the address of a Dask scheduler, such as tcp://host:8786"
        raise argparse.ArgumentTypeError(f"{rule}. Got {text!r} instead")
    return text


def is_sliced(arguments: argparse.Namespace) -> bool:
    """Whether slices were asked for: workers read their own part of a file."""
    return arguments.chunks is not None or arguments.cluster is not None


def _finite(text: str) -> float | None:
    """The finite number in a text, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def column(text: str) -> int | str:
    """A type: a column by number or by name."""
    return int(text) if text.removeprefix("-").isdecimal() else text


def integer(least: int | None = None) -> Callable[[str], int]:
    """A type: whole numbers, of at least `least`."""

    def read(text: str) -> int:
        value = int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else None
        if value is None or (least is not None and value < least):
            rule = "" if least is None else f" of at least {least}"
            raise argparse.ArgumentTypeError(f"must be an integer{rule}. Got {text!r} instead")
        return value

    return read


def number(rule: str = "", holds: Callable[[float], bool] | None = None) -> Callable[[str], float]:
    """A type: finite numbers for which a rule holds, which is told in words."""

    def read(text: str) -> float:
        value = _finite(text)
        if value is None or (holds is not None and not holds(value)):
            raise argparse.ArgumentTypeError(f"must be a number{rule and ' ' + rule}. Got {text!r} instead")
        return value

    return read


POSITIVE = number("above 0", lambda value: value > 0)
NOT_NEGATIVE = number("of at least 0", lambda value: value >= 0)
LEVEL = number("between 0 and 1", lambda value: 0 < value < 1)


def whole_or_auto(text: str) -> int | None:
    """A length of at least 1, or None for "auto"."""
    if text == "auto":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be 'auto' or an integer of at least 1. Got {text!r} instead")
    return int(text)
