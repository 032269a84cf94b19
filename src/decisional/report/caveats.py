"""What to be careful about, in plain words, from what was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..machines import chains
from ..plot.wording import number
from ..support.plurals import plural
from .findings import Findings

FEW, RARE = 1000, 30  # observations in all, and of a state
SEEN = 10  # how often each past should have been seen on average
CLOSE = 0.99  # share of the variance that hints at kernels that are too narrow
PASSING = 0.05  # probability of transient states that is worth a word
SHIFT, COMPARED = 0.1, 20  # change of the probabilities between halves, and states up to which they are compared


# What is checked here is told in templates/sections/summary.html, where nothing is wrong.
def caveats(found: Findings, given: Iterable[str] = ()) -> list[str]:
    """Return the given warnings, and those that follow from what was found."""
    own = [*_data(found), *_machine(found), *_halves(found)] if found.has_states else []
    if found.selection is not None and found.selection.warning is not None:
        own.insert(0, found.selection.warning)
    return list(dict.fromkeys([*map(str, given), *own]))


def _data(found: Findings) -> Iterator[str]:
    n, causal = found.n, found.causal
    if 0 < n < FEW and (causal is not None or found.selection is not None):
        verb = "is" if n == 1 else "are"
        yield f"There {verb} only {plural(n, 'observation')}: more would tell apart states that differ little."
    if np.count_nonzero(found.probability @ found.distributions) == 1:
        yield "Only one outcome was ever seen: there is nothing to predict."
    if causal is None:
        return
    if causal.warning_ is not None:
        yield causal.warning_
    seen = found.probability * n
    if found.n_states > max(30, n / 20):
        yield (
            f"There are {found.n_states:,} states for {n:,} observations, {number(n / found.n_states)} on average: the "
            "odds of a single state are rough. Compare distributions less strictly, or give more data."
        )
    elif (rare := int(np.count_nonzero(seen < RARE))) and found.n_states > 1:
        words = "One state was" if rare == 1 else f"{rare:,} of {found.n_states:,} states were"
        yield f"{words} seen fewer than {RARE} times: the odds there are rough."
    gain = found.explained if found.values is not None else None
    if gain is not None and gain[0] > CLOSE:
        yield (
            f"The states explain {gain[0]:.1%} of the variance of the very data that they come from. Unless the data "
            "are almost free of noise this is too good: try a larger bandwidth, or check on new data."
        )
    distinct = causal.states_.labels.size
    if found.kind == "series" and distinct * SEEN > n:
        yield (
            f"The {distinct:,} different pasts were each seen {number(n / distinct)} times on average: such long pasts "
            "need more data, or use a shorter one."
        )
    lost = int(np.count_nonzero(causal.labels_ < 0))
    if lost:
        yield f"For {lost:,} of {causal.labels_.size:,} observations no state is known (-1): a value is missing there."


def _machine(found: Findings) -> Iterator[str]:
    causal, machine = found.causal, found.states_machine
    if causal is not None and not causal.converged_:
        n = len(causal.unresolved_)
        yield (
            f"In {plural(n, 'case')} the same state and symbol lead to different states, so that the machine is only "
            "an approximation. A longer past or more data often helps."
        )
    if machine is None:
        return
    recurrent = machine.recurrent
    if not recurrent.any():
        yield "No state is ever met again in these data: they are too short for a machine."
        return
    passing = float(found.probability[~recurrent].sum())
    if passing > PASSING:
        yield (
            f"{passing:.0%} of the time the state is a transient one, because the last symbols do not tell the state. "
            "This is no fault of the data; a longer past makes it rarer."
        )
    elif np.count_nonzero(~recurrent) > np.count_nonzero(recurrent):
        n = int(np.count_nonzero(~recurrent))
        yield f"There are {n:,} transient states, more than recurrent ones: they are rare, and can be overlooked."
    classes = len(chains.closed_classes(chains.Chain.of_table(machine.targets, machine.emission)))
    if classes > 1:
        yield (
            f"The machine has {classes} parts that never lead into each other: these may be different systems. "
            "Averages mix them; look at each part alone."
        )


def _halves(found: Findings) -> Iterator[str]:
    """Compare the two halves of the data, which are alike if the source does not change."""
    if found.shown is not None or found.kind not in ("series", "signal"):
        return
    if not 2 <= found.n_states <= COMPARED or found.n < FEW or found.labels is None:
        return
    known = found.labels[found.labels >= 0]
    halves = [np.bincount(part, minlength=found.n_states) / max(part.size, 1) for part in np.array_split(known, 2)]
    shift = float(np.abs(halves[0] - halves[1]).sum() / 2)
    if shift > SHIFT:
        yield (
            f"The first and the second half of the data differ: {shift:.0%} of the time goes to other states. The "
            "source may change over time; look at parts of the data."
        )
