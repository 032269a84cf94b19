"""What field, image and signal have in common: states of observations, as options, files and tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from . import summary
from .outputs import LABELS, Outputs, announce, label_writer, write_json
from .parser import PICTURE, Parser, add_outputs
from .scale import add_scale
from .series import called

__all__ = ["add_state_outputs", "extremes", "finish", "outputs_of", "rows_shown", "visible"]

FILES = {"json": "{}.json", "plot": "{}.png", "labels": "labels.npy", "report": "report.html"}
# Places that are shown of data that were read slice by slice.
SHOWN = 1_000_000


def add_state_outputs(command: Parser, states: str, rows: str) -> None:
    """Options for the result files, `states` being what has a state, and for slices of `rows`."""
    files = {"json": "save the summary: .json", "plot": PICTURE}
    add_outputs(command, seed=True, **files, labels=f"save the state {states}{LABELS}")
    add_scale(command, rows)


def outputs_of(arguments: argparse.Namespace, name: str) -> Outputs:
    """The files that were asked for, under default names after the command."""
    return Outputs(arguments, {option: file.format(name) for option, file in FILES.items()})


def rows_shown(values: Any, least: int) -> int:
    """How many of the first rows of an array are shown, where not all can be."""
    row = max(int(values.size) // max(len(values), 1), 1)
    return min(max(SHOWN // row, least), len(values))


def visible(choice: Any, outputs: Outputs, observe: Callable[[], tuple[Any, Any]]) -> tuple[Any, Any]:
    """The states along the first part of data that were read in slices, and that part.

    Parameters
    ----------
    observe : reads the first part; returns its observations and it
    """
    from ..estimators.first_part import on_first_part

    if not {"plot", "report"} & outputs.paths.keys():
        return choice, None
    try:
        first, data = observe()
    except ValueError:
        # Nothing can be observed there.
        first, data = next(choice.causal_.observations_.pieces()), None
    return on_first_part(choice, first), data


def extremes(arrays: list[Any]) -> tuple[float, float, int]:
    """The smallest and the largest number of arrays of any size, and how many are missing."""
    import numpy as np

    from ..data.stores import cuts

    low, high, missing = np.inf, -np.inf, 0
    for array in arrays:
        for a, b in cuts(array, 0, len(array), max(rows_shown(array, 1), 1)):
            values = np.asarray(array[a:b])
            known = values[np.isfinite(values)]
            if known.size:
                low, high = min(low, known.min()), max(high, known.max())
            missing += values.size - known.size
    return float(low), float(high), missing


def finish(
    arguments: argparse.Namespace,
    outputs: Outputs,
    states: Any,
    rows: list[tuple[str, str]],
    plot: Callable[[str], None],
    executor: Any,
    **report: Any,
) -> int:
    """Write the files of decisional states and print the summary, of which `rows` are the first lines."""
    causal = states.causal_
    writers = {
        "json": lambda path: write_json(path, _json(states, arguments.files)),
        "plot": plot,
        "labels": label_writer(causal, arguments, executor),
    }
    title = f"Hidden states of {called(arguments.files)}"
    written = outputs.write(writers, title=title, **report)
    if not arguments.quiet:
        rows = [*rows, ("States", f"{causal.n_states_} causal, {states.n_states_} decisional")]
        lines = [*summary.facts(rows), "", *_table(causal), ""]
        print("\n".join([*lines, *summary.decisions(states, causal.complexity_)]))
        announce(written)
    return 0


def _table(causal: Any, most: int = 10) -> list[str]:
    """The most common states with their local complexity."""
    import numpy as np

    probability = causal.states_.probability
    rows = [["state", "probability", "local C"]]
    for state, p in enumerate(probability[:most].tolist()):
        rows.append([str(state), f"{p:.4f}", f"{-np.log2(p):.2f} bits"])
    return summary.align(rows, len(probability) - most, "states")


def _json(choice: Any, files: list[str]) -> dict[str, Any]:
    """The summary as JSON."""
    causal = choice.causal_
    return {
        **({"file": files[0]} if len(files) == 1 else {"files": files}),
        "observations": int(causal.observations_.n),
        "causal_states": int(causal.n_states_),
        "decisional_states": int(choice.n_states_),
        "iso_prediction_states": int(choice.iso_prediction_.n_states),
        "iso_utility_states": int(choice.iso_utility_.n_states),
        "probability": causal.states_.probability.tolist(),
        "C": causal.complexity_,
        "D": choice.complexity_,
        "P": choice.prediction_complexity_,
        "V": choice.utility_complexity_,
        "expected_utility": choice.expected_utility_,
    }
