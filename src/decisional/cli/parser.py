"""Arguments: types, options that commands share, and errors of one sentence."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, NoReturn

PICTURE = "save a picture: .png, .svg or .pdf"
LABELS = ", -1 = none: .npy or .zarr; the same command goes on after an interruption"
MODEL = "save the states for predict: .json"
ADDRESS = re.compile(r"(?:[a-z]+://)?(?:[^\s/:]+|\[[0-9a-fA-F:.]+\]):\d{1,5}/?")
VARIABLE = "array of an HDF5, netCDF or zarr file (default: the only one)"
_CHOICE = r"invalid choice: (.*) \(choose from (.*)\)"
# What argparse says, and what we say instead.
REWORDED = (
    (r"argument (\S+?)(?:/\S+)?: expected .*argument.*", r"The option \1 has no value: give one"),
    (rf"argument COMMAND: {_CHOICE}", r"There is no command \1: choose one of \2"),
    (rf"argument (\S+?)(?:/\S+)?: {_CHOICE}", r"The \1 must be one of \3. Got \2 instead"),
    (r"argument (\S+?)(?:/\S+)?: (.*)", r"The \1 \2"),
    (r"the following arguments are required: COMMAND", r"No command is given: see '{prog} --help'"),
    (r"the following arguments are required: (.*)", r"The command needs \1: see '{prog} --help'"),
    (r"unrecognized arguments: (.*)", r"The command has no option or argument \1: see '{prog} --help'"),
)


class Parser(argparse.ArgumentParser):
    """A parser that raises ValueError with one sentence instead of leaving with several lines."""

    def __init__(self, **options: Any) -> None:
        self._is_mixing = False
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Options may stand between the arguments of a command, as in `watch MODEL --column C DATA`."""
        if self._subparsers is not None or self._is_mixing:
            return super().parse_known_args(args, namespace)
        self._is_mixing = True
        # After -- everything is an argument, which argparse forgets where it mixes.
        parse = super().parse_known_args if "--" in (args or ()) else self.parse_known_intermixed_args
        try:
            found, unknown = parse(args, namespace)
        finally:
            self._is_mixing = False
        if unknown:
            # Here the command is still known.
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        for found, said in REWORDED:
            match = re.fullmatch(found, message, re.DOTALL)
            if match:
                message = match.expand(said).replace("{prog}", self.prog)
                break
        raise ValueError(message.removesuffix(".") + ".")


class PrintCompletion(argparse.Action):
    """An option that prints what a shell needs to complete commands and options."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: Any = None) -> None:
        from ..support.arguments import package

        shtab = package("shtab", "Completion needs shtab, which is not installed", "completion")
        print(shtab.complete(parser, shell=values))
        parser.exit()


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], help: str, description: str, epilog: str
) -> Parser:
    """A command whose help ends with `epilog`, an example."""
    command: Parser = commands.add_parser(name, help=help, description=description, epilog=epilog)
    command.set_defaults(run=run, name=name)
    return command


def option(command: Any, name: str, metavar: str, help: str, type: Any = None, **how: Any) -> None:
    """An option with a value, of a command or of a group of options."""
    command.add_argument(name, metavar=metavar, help=help, type=type, **how)


def add_outputs(command: Parser, seed: bool = False, **files: str) -> None:
    """Options for result files by name and help, and those that go with them.

    `--out` and `--report` are for all commands that leave results, `--seed` for those with random numbers.
    """
    group = command.add_argument_group("results")
    option(group, "--out", "DIR", "write all of the following into a folder, under default names")
    for name, help in files.items():
        option(group, f"--{name}", "FILE", help)
    option(group, "--report", "FILE", "save a page that explains the result: .html")
    group.add_argument("--quiet", action="store_true", help="print no summary")
    if seed:
        option(command, "--seed", "S", "seed of the random numbers", integer(0))


def add_table(command: Parser, column_help: str, by: str = "--by") -> None:
    """Options for data that are columns of a table; `by` is the name of the one for groups."""
    group = command.add_argument_group("tables (csv, tsv, parquet, or any text with rows of cells)")
    option(group, "--column", "C", column_help)
    groups = "columns that tell the series of a row, such as a user or a day"
    option(group, by, "C", groups, action="append", dest="groups")
    option(group, "--time", "C", "column of times, by which rows are put in order; jumps in time are gaps")
    option(group, "--step", "T", "time between two rows, such as 1h or 0.5 (default: the usual one)")
    option(group, "--missing", "WORD", "cell where a value is missing, besides empty ones", action="append")
    option(group, "--delimiter", "D", "between cells: a character, or tab (default: the one in every row)")
    option(group, "--decimal", "D", "decimal mark (default: .)", default=".")
    choices = {"choices": ("yes", "no")}
    option(group, "--header", "yes|no", "whether the first row has names (default: what it looks like)", **choices)


def table_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What `ds.read` is told of tables."""
    given = {name: getattr(arguments, name) for name in ("column", "time", "step", "delimiter", "decimal")}
    header = None if arguments.header is None else arguments.header == "yes"
    return {**given, "by": arguments.groups, "missing": arguments.missing or (), "header": header}


def add_scale(command: Parser, rows: str) -> None:
    """Options for large data, `rows` being what a slice has."""
    group = command.add_argument_group("large data")
    chunks = f"read slice by slice, with so many {rows} in each (large files always are)"
    option(group, "--chunks", "N", chunks, integer(1))
    where = "count on a cluster: local (a worker process on each core) or the address of a Dask scheduler"
    option(group, "--cluster", "WHERE", f"{where}, such as tcp://host:8786", WHERE)


def is_sliced(arguments: argparse.Namespace) -> bool:
    """Whether slices were asked for: workers read their own part of a file."""
    return arguments.chunks is not None or arguments.cluster is not None


def _type(rule: str, read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A type: what `read` makes of a text, which must be as the rule says where that is None."""

    def checked(text: str) -> Any:
        value = read(text)
        if value is None:
            raise argparse.ArgumentTypeError(f"must be {rule}. Got {text!r} instead")
        return value

    return checked


def integer(least: int) -> Callable[[str], Any]:
    """A type: whole numbers, of at least `least`."""
    form = re.compile(r"[+-]?\d{1,18}")
    rule = f"an integer of at least {least}"
    return _type(rule, lambda text: int(text) if form.fullmatch(text) and int(text) >= least else None)


def number(rule: str = "", holds: Callable[[float], bool] = lambda value: True) -> Callable[[str], Any]:
    """A type: finite numbers for which a rule holds, which is told in words."""

    def read(text: str) -> float | None:
        try:
            value = float(text)
        except ValueError:
            return None
        return value if abs(value) < float("inf") and holds(value) else None

    return _type(f"a number{rule and ' ' + rule}", read)


POSITIVE = number("above 0", lambda value: value > 0)
NOT_NEGATIVE = number("of at least 0", lambda value: value >= 0)
LEVEL = number("between 0 and 1", lambda value: 0 < value < 1)
WHERE = _type(
    "'local' or the address of a Dask scheduler, such as tcp://host:8786",
    lambda text: text if text == "local" or ADDRESS.fullmatch(text) else None,
)


def _served(text: str) -> tuple[str, int] | None:
    """Host and port of [HOST:]PORT, where an address with colons stands in brackets."""
    host, _, port = text.rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else "" if ":" in host else host
    if not re.fullmatch(r"\d{1,5}", port) or int(port) > 65535 or (not host and text != port):
        return None
    return host or "127.0.0.1", int(port)


SERVED = _type("a port, or HOST:PORT such as 0.0.0.0:8765", _served)
_LENGTH = _type("'auto' or an integer of at least 1", lambda text: int(text) or None if text.isdecimal() else None)


def names(text: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def whole_or_auto(text: str) -> int | None:
    """A length of at least 1, or None for "auto"."""
    return None if text == "auto" else int(_LENGTH(text))
