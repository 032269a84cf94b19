"""The program: its commands, and one sentence for whatever goes wrong."""

from __future__ import annotations

import os
import re
import shlex
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from .. import __version__
from . import decision_commands, other_commands, state_commands, symbol_command
from .parser import Parser

COMMANDS = (symbol_command, state_commands, decision_commands, other_commands)
# Parameters of the library that are options here.
OPTIONS = ("column", "by", "time", "step", "missing", "delimiter", "decimal", "variable", "key")
EPILOG = """\
example:
  decisional demo
  decisional simulate even -n 20000 --out even.txt
  decisional symbols even.txt --json machine.json --plot machine.png
  decisional decide machine.json --utility zero-one

Each command has its own help and example: decisional symbols --help
"""


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _tell
        return _run(given)


def _tell(message: Warning | str, *_: Any, **__: Any) -> None:
    """What is doubtful, in one line on standard error."""
    print(f"decisional: {_sentence(message)}", file=sys.stderr)


def _run(given: list[str]) -> int:
    try:
        arguments = parser().parse_args(given)
        arguments.command = shlex.join(["decisional", *given])
        status = int(arguments.run(arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader, such as `head`, has had enough; Python must not complain again when it closes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        # Python ends itself by a signal if an import was interrupted inside exec, unless another one went well.
        exec("")
        return 130
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"decisional: {_sentence(error)}", file=sys.stderr)
        return 2
    except MemoryError:
        print("decisional: The data do not fit into memory: give less data or shorter windows.", file=sys.stderr)
        return 2


def _sentence(error: Exception | str) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is None:
        return " ".join(error.strerror.split())
    if isinstance(error, OSError) and error.strerror:
        return f"The path {error.filename!r} cannot be used ({error.strerror}): choose another."
    text = " ".join(str(error).split()).replace("The 'path' '", "The file '").replace("decimal=','", "--decimal ,")
    text = text.replace("header=False", "--header no")
    return re.sub(rf"'({'|'.join(OPTIONS)})'", r"--\1", text)


def parser() -> Parser:
    """The parser of all commands."""
    whole = Parser(
        prog="decisional",
        description="Hidden states from data, and the states that matter for a decision.",
        epilog=EPILOG,
    )
    whole.add_argument("--version", action="version", version=f"decisional {__version__}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in COMMANDS:
        module.add(commands)
    return whole
