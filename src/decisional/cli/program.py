"""The program: its commands, and one sentence for whatever goes wrong."""

from __future__ import annotations

import errno
import io
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from .. import __version__
from ..support.files import channels_kept
from . import decision_commands, other_commands, predict_command, state_commands, symbol_command
from .parser import Parser, PrintCompletion
from .results import bar

COMMANDS = (symbol_command, state_commands, decision_commands, predict_command, other_commands)
# Shells that are told how to complete a line.
SHELLS = ("bash", "zsh", "tcsh")
# Parameters of the library that are options here.
OPTIONS = ("column", "by", "time", "step", "missing", "delimiter", "decimal", "variable", "key")
# After these words there are names and cells of the data, which may be called the same.
SAID = ("column ", "no by ", "no time ", "times ", "mean ", "one of ", "has ", ", ", "(")
PARAMETER = re.compile("".join(rf"(?<!{re.escape(words)})" for words in SAID) + rf"'({'|'.join(OPTIONS)})'")
# A full disk, a full share of it, and a file as large as it may be.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
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
    with _standard_streams(), channels_kept(), warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _tell
        return _run(given)


class ClosedOutput(io.TextIOBase):
    """In place of a standard output that was closed: what is written to it is refused, not lost."""

    def write(self, text: str) -> int:
        raise ValueError("The standard output is closed: leave it open, or write to files, with --quiet.")


@contextmanager
def _standard_streams() -> Iterator[None]:
    """Let nothing take the place of standard streams that were closed: a file would be mixed with what is printed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The system gives the lowest number that is free.
            os.open(os.devnull, os.O_RDWR)
    out, err = sys.stdout, sys.stderr
    # Python has None for streams that were closed.
    with open(os.devnull, "w") as nowhere:
        sys.stdout, sys.stderr = out or cast(TextIO, ClosedOutput()), err or nowhere
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out, err


def _tell(message: Warning | str, *_: Any, **__: Any) -> None:
    """What is doubtful, in one line on standard error."""
    from ..support.progress import hide

    hide()
    print(f"decisional: {_sentence(message)}", file=sys.stderr)


def _run(given: list[str]) -> int:
    try:
        arguments = parser().parse_args(given)
        arguments.command = shlex.join(["decisional", *given])
        with bar(arguments):
            status = int(arguments.run(arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader, such as `head`, has had enough; Python must not complain again when it closes.
        with suppress(io.UnsupportedOperation):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, SystemError) as error:
        # Compiled code that is interrupted while it is loaded raises a SystemError from it.
        if not _interrupted(error):
            raise
        # Python ends itself by a signal if an import was interrupted inside exec, unless another one went well.
        exec("")
        return 130
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"decisional: {_sentence(error)}", file=sys.stderr)
        return 2
    except MemoryError:
        print("decisional: The data do not fit into memory: give less data or shorter windows.", file=sys.stderr)
        return 2


def _interrupted(error: BaseException | None) -> bool:
    """Whether the user's interruption is what an error came from."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _sentence(error: Exception | str) -> str:
    if isinstance(error, OSError) and error.errno in FULL:
        return f"There is no room to write ({error.strerror}): make room, and run the command again."
    if isinstance(error, OSError) and error.strerror and error.filename is None:
        return " ".join(error.strerror.split())
    if isinstance(error, OSError) and error.strerror:
        return f"The path {error.filename!r} cannot be used ({error.strerror}): choose another."
    text = " ".join(str(error).split()).replace("The 'path' '", "The file '").replace("decimal=','", "--decimal ,")
    text = text.replace("header=False", "--header no").replace("header=True", "--header yes")
    return PARAMETER.sub(r"--\1", text.replace("'skip_seen'", "--skip-seen"))


def parser() -> Parser:
    """The parser of all commands."""
    whole = Parser(
        prog="decisional",
        description="Hidden states from data, and the states that matter for a decision.",
        epilog=EPILOG,
    )
    whole.add_argument("--version", action="version", version=f"decisional {__version__}")
    how: dict[str, Any] = {"metavar": "SHELL", "choices": SHELLS, "action": PrintCompletion}
    whole.add_argument("--print-completion", **how, help=f"print the completion for {', '.join(SHELLS)}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in COMMANDS:
        module.add(commands)
    return whole
