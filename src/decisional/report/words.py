"""The result in plain words, for a reader who has never heard of causal states."""

from __future__ import annotations

import numpy as np

from .findings import Findings
from .markup import number, plural

__all__ = ["GLOSSARY", "explained", "summary", "tiles"]

GLOSSARY = (
    ("State", "A group of situations that give the same odds for what comes next. Also called a causal state."),
    ("Machine", "The states with arrows between them: which symbol leads from which state to which. Also ε-machine."),
    (
        "Recurrent, transient",
        "A recurrent state comes back for ever; a transient one is left for good sooner or later.",
    ),
    ("Bit", "The answer to one question of yes or no between equal odds; the unit of information."),
    ("Utility, worth", "What a prediction brings when something happens, on a scale that the user chose."),
    ("Decision", "The best predictions of a state together with what they are worth. Also decisional state."),
    ("Event", "A place in the data where the decision changes."),
)
SITUATIONS = {
    "series": "all that matters of the past for the next symbol is which of {} it is in",
    "signal": "all that matters of the last values for the next one is which of {} they are in",
    "field": "all that matters of the cells that can have influenced a cell, for what becomes of it, is which of {} "
    "they are in",
    "image": "all that matters of the pixels around a pixel, for predicting it, is which of {} they are in",
    "pairs": "all that matters of what is known for the outcome is which of {} it is in",
}
MANY = 30


def tiles(found: Findings) -> list[tuple[str, str]]:
    """Return the few numbers that sum up a result, each with its name."""
    if not found.has_states:
        return []
    shown = [(f"{found.size:,}", f"{found.unit}s observed")] if found.size else []
    recurrent = found.recurrent
    n = found.n_states if recurrent is None or not recurrent.any() else int(recurrent.sum())
    shown.append((f"{n:,}", f"state{'' if n == 1 else 's'}" + ("" if n == found.n_states else " that recur")))
    if found.choice is not None:
        m = found.choice.iso_prediction_.n_states
        shown.append((f"{m:,}", "different best prediction" + ("" if m == 1 else "s")))
    gain = explained(found)
    if gain is not None:
        shown.append((f"{gain[0]:.0%}", gain[1]))
    if found.choice is not None:
        shown.append((number(found.choice.expected_utility_), f"expected worth per {found.unit}"))
    return shown


def summary(found: Findings, n_cautions: int) -> list[tuple[str, str]]:
    """Return what was found, how sure it is and what to do next."""
    if not found.has_states:
        return [("What was found", "Only the data were looked at: no states have been reconstructed yet.")]
    parts = [("What was found", _found(found))]
    if found.choice is not None:
        parts.append(("What to do", _decisions(found)))
    return [*parts, ("How sure", _certainty(found)), ("What next", _next(found, n_cautions))]


def _found(found: Findings) -> str:
    n, unit = found.size, found.unit
    data = f"these {n:,} {unit}s" if n else "this process"
    recurrent = found.recurrent
    states = found.n_states if recurrent is None or not recurrent.any() else int(recurrent.sum())
    if states == 1:
        return f"No structure was found in {data}: what is known beforehand does not help, and one state says all."
    text = (
        f"In {data}, {SITUATIONS[found.kind].format(f'{states:,} states')}. Two situations are in the same state when "
    )
    text += "they give the same odds for what is to be predicted."
    if states < found.n_states:
        more = found.n_states - states
        text += (
            f" ({plural(more, 'more state')} occur{'s' if more == 1 else ''} only while the state is not yet clear.)"
        )
    gain = explained(found)
    if gain is not None:
        text += f" Knowing the state removes {gain[0]:.0%} of {gain[2]}."
    if states > MANY:
        text += " So many states are not to be read one by one: look at the " + (
            "maps, where what is rare stands out dark." if found.kind in ("field", "image") else "time line."
        )
    return text


def explained(found: Findings) -> tuple[float, str, str] | None:
    """Share of the uncertainty that the state removes, with a short and a long name."""
    p, q = found.probability, found.distributions
    if found.values is not None:
        total = float(p @ q @ found.values**2 - (p @ q @ found.values) ** 2)
        within = float(p @ (q @ found.values**2 - (q @ found.values) ** 2))
        name = f"variance of the {'next value' if found.kind == 'signal' else found.unit}"
    else:
        total, within = _entropy((p @ q)[None])[0], float(p @ _entropy(q))
        name = f"uncertainty about {'the next symbol' if found.kind == 'series' else 'the outcome'}"
    if total <= 1e-12:
        return None
    return max(0.0, 1 - within / total), f"of the {name.split(' ')[0]} explained", f"the {name}"


def _entropy(p: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(-(p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=1))


def _decisions(found: Findings) -> str:
    choice, unit, regret = found.choice, found.unit, found.regret
    assert choice is not None
    m = choice.iso_prediction_.n_states
    if m == 1:
        text = "With the given utility the same prediction is best in every state"
    else:
        text = f"With the given utility the states call for {m:,} different predictions"
    text += f"; following them is worth {number(choice.expected_utility_)} per {unit} on average"
    if regret is not None:
        text += f", where never changing the prediction brings at most {number(regret.best_fixed)}"
    return text + "."


def _certainty(found: Findings) -> str:
    chosen = found.selection
    if chosen is not None:
        if chosen.warning is not None:
            return chosen.warning
        rival = chosen.rival
        if rival is None:
            return "No other machine was found that describes the data nearly as shortly."
        gap = rival.description_length - chosen.chosen.description_length
        return (
            f"The number of states was chosen from the data. The best other explanation, with "
            f"{plural(rival.n_states, 'state')}, needs {gap:,.0f} bits more to describe them; 10 bits, odds of 1000 to "
            "1, would be enough to prefer this one."
        )
    if found.causal is None:
        return "The machine was given and not estimated here: its probabilities are taken as exact."
    if found.kind == "series":
        return (
            f"The length of the past, {found.causal.observations_.past}, was given and not chosen from the data: "
            "ds.selection.select, or --past auto on the command line, tells whether the number of states holds."
        )
    return (
        "The number of states depends on how much is looked at, on how similar odds must be, and "
        "on the amount of data: rely on what stays when these are changed a little."
    )


def _next(found: Findings, n_cautions: int) -> str:
    text = ""
    if n_cautions:
        text = "Read the warning below first. " if n_cautions == 1 else f"Read the {n_cautions} warnings below first. "
    if found.choice is None:
        return (
            text + "Say what right and wrong predictions are worth (a utility), to see which states call for the same."
        )
    if found.kind in ("field", "image"):
        text += "Compare the maps with what you know of the data. "
    text += "Check the decisions on new data with choice.regret(new)"
    return text + (", then follow a stream with ds.Monitor." if found.kind == "series" else ".")
