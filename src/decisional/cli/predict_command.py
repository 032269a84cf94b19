"""decisional predict: what a saved model says of new files."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..support.plurals import plural
from . import parser, results, summary

EPILOG = """\
MODEL is what `field`, `image`, `signal` or `symbols --past N` wrote with --model, what `CausalStates.save` or
`DecisionalStates.save` wrote, or the machine of `symbols --json`. FILE is read and observed as the data of the model
were. Of pairs, FILE is a table with the columns of the fit, or as many columns, and --column has the outcomes.

--labels has a row for each place, with its date or position: the state, the decision and what it brought, the local
complexity -log2 P(state), the surprise -log2 P(z|state), in bits, and P(Z|x), that of the state: of each symbol, of
more than 16 outcomes the likeliest, or of numbers the mean and quantiles. .npy has the state, the local complexity and
the surprise on the grid of the data.

example:
  decisional signal yesterday.csv --column load --time date --model model.json
  decisional predict model.json today.csv --column load --time date --labels today_states.csv
"""
OF = {"series": "a series", "field": "a field", "image": "an image", "signal": "a signal", "pairs": "pairs"}
KINDS = {"series": "symbols", "field": "field", "image": "field", "signal": "signal", "pairs": "pairs"}


def add(commands: Any) -> None:
    """Add the command to the parser."""
    about = "Apply a saved model to new data: states, decisions, local complexity and surprise."
    command = parser.add_command(commands, "predict", run, "what a saved model says of new files", about, EPILOG)
    option = parser.option
    option(command, "model", "MODEL", "states written by --model, or machine written by --json")
    option(command, "file", "FILE", "new data of the same kind, or - for standard input")
    option(command, "--labels", "FILE", "save what is known of each place: .csv, or .npy")
    option(command, "--json", "FILE", "save the summary: .json")
    command.add_argument("--quiet", action="store_true", help="print no summary")
    parser.add_table(command, "column of the data, of the outcomes of pairs: name or number from 0")
    option(command, "--variable", "V", parser.VARIABLE)
    option(command, "--key", "K", "array of an .npz archive (default: the first)")
    option(command, "--levels", "K", "number the grey levels of pictures from 0 to K - 1", parser.integer(2))
    command.set_defaults(out=None)


def run(arguments: argparse.Namespace) -> int:
    """Load, read, apply, write and print."""
    if arguments.model == arguments.file == "-":
        raise ValueError("The MODEL '-' is standard input, where the data come from: give the path of a file.")
    outputs = results.Outputs(arguments, {"labels": None, "json": None})
    from ..decisions.load_model import load_model
    from ..decisions.odds import odds
    from ..machines import EpsilonMachine
    from ..states.applied import apply_machine

    model: Any = load_model(arguments.model)
    machine = isinstance(model, EpsilonMachine)
    causal = None if machine else getattr(model, "causal_", model)
    kind = "series" if causal is None else causal.observations_.kind
    data, z = _pairs(causal, arguments) if kind == "pairs" else (_read(kind, arguments), None)
    found = apply_machine(model, data) if machine else model.apply(data, z)
    save, tell = lambda path: _save(found, path, odds(model, found, data)), lambda path: _json(found, path, model)
    written = outputs.write({"labels": save, "json": tell})
    if not arguments.quiet:
        print("\n".join(_summary(found, model, kind, arguments)))
        results.announce(written)
    return 0


def _read(kind: str, arguments: argparse.Namespace) -> Any:
    """The data of a file, as the model takes them."""
    from .. import read

    how = {"variable": arguments.variable, "key": arguments.key, "levels": arguments.levels}
    data = read(arguments.file, KINDS[kind], **how, **parser.table_options(arguments))
    axes = getattr(data, "ndim", 1)
    if (axes == 1) != (kind in ("series", "signal")):
        raise ValueError(
            f"The file {arguments.file!r} has {axes} axes and the model is of {OF[kind]}: give data of the same kind."
        )
    # Each line is a series of characters.
    return [list(part) for part in data] if isinstance(data, list) and isinstance(data[0], str) else data


def _pairs(causal: Any, arguments: argparse.Namespace) -> tuple[Any, Any]:
    """The rows of x of a table, and the outcomes if these are named."""
    import numpy as np

    from .. import read

    options = {**parser.table_options(arguments), "column": None}
    names: Any = list(vars(causal).get("feature_names_in_", range(vars(causal).get("n_features_in_", 1))))
    columns = [read(arguments.file, **{**options, "column": name}) for name in names]
    z = None if arguments.column is None else read(arguments.file, **{**options, "column": arguments.column})
    if any(isinstance(part, list) for part in (*columns, z)):
        raise ValueError(
            f"The table {arguments.file!r} has several series and rows of x are one table: leave out --by and --time."
        )
    if "n_features_in_" not in vars(causal):
        return columns[0].to_numpy(), None if z is None else z.to_numpy()
    import pandas as pd

    named = "feature_names_in_" in vars(causal)
    x = pd.concat(columns, axis=1) if named else np.column_stack([part.to_numpy() for part in columns])
    return x, None if z is None else z.to_numpy()


def _save(found: Any, path: str, odds: Mapping[str, Any]) -> None:
    """Write what is known of each place."""
    if path.endswith(".csv"):
        results.save_table(found.to_frame().assign(**odds), path)
        return
    from io import BytesIO

    import numpy as np

    from ..support.files import write_bytes

    data = BytesIO()
    np.save(data, found.on_grid(), allow_pickle=False)
    write_bytes(path, data.getvalue())


def _json(found: Any, path: str, model: Any) -> None:
    """Write the summary."""
    numbers: dict[str, Any] = {
        "observations": found.n,
        "states": _n_states(model),
        "states_seen": found.n_states,
        "unseen": found.unseen,
        "surprise": _finite(found.mean_surprise),
        "usual_surprise": found.usual_surprise,
    }
    if found.utility is not None:
        numbers |= {"utility": float(found.utility.mean()), "expected_utility": found.expected_utility}
    results.save_json(numbers, path)


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _n_states(model: Any) -> int:
    """Causal states, or those of a machine."""
    if hasattr(model, "causal_"):
        return int(model.utility_.size)
    return int(model.n_states if hasattr(model, "n_states") else model.n_states_)


def _summary(found: Any, model: Any, kind: str, arguments: argparse.Namespace) -> list[str]:
    n, decided = _n_states(model), found.decision is not None
    states = plural(n, "causal state") + (f" and {plural(model.n_states_, 'decisional state')}" if decided else "")
    seen = f"{found.n_states} of {n} occur, {found.unseen:.2%} of the observations have an x that is not known"
    rows = [("Model", f"{arguments.model}: {states}, of {OF[kind]}")]
    rows += [("Data", f"{arguments.file}: {plural(found.n, 'observation')}"), ("States", seen)]
    if found.mean_surprise == found.mean_surprise:
        said = f"{found.mean_surprise:z.4f} bits on average, {found.usual_surprise:z.4f} in the data of the model"
        rows.append(("Surprise", said))
    if found.utility is not None:
        from ..decisions.regret import block_error

        worth = f"{found.utility.mean():z.4f} ± {block_error(found.utility):.2g} each"
        rows.append(("Worth", f"the decisions brought {worth}, the states promised {found.expected_utility:z.4f}"))
    if found.ahead is not None and found.ahead[-1] >= 0:
        last = int(found.ahead[-1])
        chosen = None if found.choices is None else found.choices[last]
        text = f"{chosen:.4g}" if isinstance(chosen, float) else str(chosen)
        rows.append(("Now", f"state {last} after the last value" + ("" if chosen is None else f", predict {text}")))
    return summary.facts(rows)
