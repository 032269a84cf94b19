"""Start-up: from the shell to the first answer, each in a process of its own.

Prints a table and writes it to benchmarks/startup.md. Times are those of whole processes, the best of several: by the
clock, and of the processor. The column "x bare Python" is the ratio of processor seconds to `python -c pass` in the
same run, which other programs disturb least, and is what to compare between machines. The first machine is
`ds.epsilon_machine` of 10,000 symbols: cold, once, with an empty folder for numba's compiled kernels, and warm, with
the folder that the cold run has filled. A help that loads an array library is a mistake, and fails.
"""

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

REPEATS = 5
SYMBOLS = 10_000
PYTHON = (sys.executable,)
PROGRAM = (*PYTHON, "-m", "decisional")
BARE = (*PYTHON, "-c", "pass")
IMPORT = (*PYTHON, "-c", "import decisional")
HEAVY = ("numpy", "scipy", "numba", "sklearn", "matplotlib", "networkx", "xarray")


def seconds(command: Sequence[str], cache: Path | None = None) -> tuple[float, float]:
    """Seconds of one process by the clock and of the processor, with numba's kernels in the folder `cache` if given."""
    extra: Mapping[str, str] = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=os.environ | extra, stdout=subprocess.DEVNULL, check=True)
    spent, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_machine() -> tuple[str, ...]:
    code = f"import decisional as ds; ds.epsilon_machine(ds.processes.even().simulate({SYMBOLS}, rng=1))"
    return *PYTHON, "-c", code


def commands() -> list[str]:
    """The names of the program's commands, as its help shows them."""
    shown = subprocess.run([*PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    listed = shown.split("COMMAND\n", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^    (\w+)", listed, re.MULTILINE)


def loaded(*arguments: str) -> list[str]:
    """The heavy libraries that the program loads for some arguments."""
    done = subprocess.run(
        [*PYTHON, "-X", "importtime", "-m", "decisional", *arguments], capture_output=True, text=True, check=True
    )
    modules = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    return [name for name in HEAVY if name in modules]


def main() -> None:
    helps = [("--help",), *((name, "--help") for name in commands())]
    for arguments in helps:
        if heavy := loaded(*arguments):
            raise SystemExit(f"decisional {' '.join(arguments)} loads {', '.join(heavy)}.")
    runs = {"`python -c pass`": BARE, "`import decisional`": IMPORT}
    runs |= {f"`decisional {' '.join(arguments)}`": (*PROGRAM, *arguments) for arguments in helps}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    # In turns, so that a busy moment of the machine does not fall on one row only; the first turn warms up.
    for turn in range(REPEATS + 1):
        for name, command in runs.items():
            spent = seconds(command)
            if turn:
                times[name].append(spent)
    first = f"first machine of {SYMBOLS:,} symbols"
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        times[f"{first}, cold"] = [seconds(first_machine(), cache)]
        times[f"{first}, warm"] = [seconds(first_machine(), cache) for _ in range(REPEATS)]
    best = {name: tuple(map(min, zip(*spent, strict=True))) for name, spent in times.items()}
    bare = best["`python -c pass`"][1]
    lines = ["| process | seconds | of the processor | x bare Python |", "|---|---|---|---|"]
    lines += [f"| {name} | {clock:.3f} | {cpu:.3f} | {cpu / bare:.1f} |" for name, (clock, cpu) in best.items()]
    text = "\n".join(lines)
    print(text)
    head = "# Start-up\n\nWritten by `make bench`; see `startup.py` for what is measured.\n\n"
    Path(__file__).with_suffix(".md").write_text(head + text + "\n")


if __name__ == "__main__":
    main()
