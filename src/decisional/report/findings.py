"""What a report is about, read once from the objects that were given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data import sequences as reading
from ..data.slices import Sliced
from ..estimators.first_part import FirstPart, on_first_part
from ..plot.wording import symbol_text

if TYPE_CHECKING:
    from ..decisions.decisional_model import DecisionalModel, Regret
    from ..machines import EpsilonMachine
    from ..states.causal_model import CausalModel
    from ..states.machine_selection import Selection

# Outcomes times states up to which decisions are compared with a fixed and a perfect forecast.
MOST_COMPARED = 10_000_000
MOST_SYMBOLS = 200_000  # the same where a machine follows symbols one by one
UNITS = {"series": "symbol", "field": "cell", "image": "pixel", "signal": "value", "pairs": "case"}


@dataclass(frozen=True, eq=False)
class Findings:
    """The objects of a report, and what follows from them.

    Attributes
    ----------
    kind : "series", "field", "image", "signal" or "pairs"
    machine, causal, choice, selection : what was found, or None
    series, field : the data, or None
    """

    kind: str
    machine: EpsilonMachine | None
    causal: CausalModel | None
    choice: DecisionalModel | None
    selection: Selection | None
    series: Any
    field: Any

    @property
    def unit(self) -> str:
        """What one observation is of."""
        return UNITS[self.kind]

    @property
    def states_machine(self) -> EpsilonMachine | None:
        """The machine whose states are those of the table, or None."""
        return self.machine if self.causal is None else self.causal.machine_

    @property
    def has_states(self) -> bool:
        return self.causal is not None or self.machine is not None

    @cached_property
    def probability(self) -> NDArray[Any]:
        """(n_states,) observed, or stationary for an exact machine."""
        if self.causal is not None:
            return np.asarray(self.causal.states_.probability)
        assert self.machine is not None
        return self.machine.stationary if self.machine.weights is None else self.machine.weights

    @property
    def n_states(self) -> int:
        return len(self.probability)

    @property
    def n_recurrent(self) -> int:
        """Number of the states that come back for ever; of all states without a machine, or where none does."""
        recurrent = self.recurrent
        return self.n_states if recurrent is None or not recurrent.any() else int(recurrent.sum())

    @cached_property
    def names(self) -> list[str]:
        machine = self.states_machine
        return [symbol_text(name) for name in (range(self.n_states) if machine is None else machine.names)]

    @property
    def recurrent(self) -> NDArray[Any] | None:
        """(n_states,) mask, or None without a machine."""
        return None if self.states_machine is None else self.states_machine.recurrent

    @cached_property
    def distributions(self) -> NDArray[Any]:
        """(n_states, n_outcomes) P(Z|state)."""
        if self.causal is not None:
            return np.asarray(self.causal.distributions_)
        assert self.machine is not None
        return self.machine.emission

    @cached_property
    def outcomes(self) -> Sequence[Any]:
        if self.causal is not None:
            return self.causal.outcomes_
        assert self.machine is not None
        return self.machine.alphabet

    @cached_property
    def values(self) -> NDArray[Any] | None:
        """(n_outcomes,) the outcomes as increasing numbers, or None where they are few, or no such numbers."""
        if len(self.outcomes) <= 8 or not all(isinstance(z, (int, float, np.number)) for z in self.outcomes):
            return None
        values = np.array([float(z) for z in self.outcomes])
        return values if (np.diff(values) > 0).all() else None

    @property
    def n(self) -> int:
        """Number of observations, 0 where it is not known."""
        if self.causal is not None:
            obs = self.causal.observations_
            return obs.whole.n if isinstance(obs, FirstPart) else obs.n
        if self.selection is not None:
            return self.selection.n_symbols
        return 0 if self.source is None else int(self.source.raw.size)

    @property
    def shown(self) -> int | None:
        """How many of the observations can be shown along the data, or None: all."""
        obs = None if self.causal is None else self.causal.observations_
        return obs.n if isinstance(obs, FirstPart) else None

    @property
    def size(self) -> int:
        """Length of a series of symbols, or the number of observations."""
        return self.n if self.source is None or self.shown is not None else int(self.source.raw.size)

    @cached_property
    def source(self) -> reading.Symbols | None:
        """The symbols with their numbers, or None where the data are no symbols."""
        found = self.causal.observations_.source if self.causal is not None else None
        if found is not None or self.series is None or self.kind != "series":
            return found
        alphabet = None if self.machine is None else set(map(str, self.machine.alphabet))
        for sequences in (None, True, False):
            source = reading.read(self.series, sequences=sequences)
            if alphabet is None or {str(letter) for letter in source.letters} <= alphabet:
                return source
        return reading.read(self.series)

    def symbols(self, sequence: int) -> Any:
        """One of the sequences of symbols, as it can be given to a machine."""
        source = self.source
        assert source is not None
        if len(source.bounds) == 2 and isinstance(self.series, (str, np.ndarray)) and np.ndim(self.series) < 2:
            return self.series
        return source.sequence(sequence)

    @cached_property
    def labels(self) -> NDArray[Any] | None:
        """(n,) state at each position of data with one dimension, -1 where none is known."""
        if self.causal is not None:
            obs = self.causal.observations_
            labels = np.full(int(np.prod(obs.shape)), -1, np.int64)
            labels[obs.site] = self.causal.states_.labels[obs.x]
            return labels
        if self.source is None or self.machine is None:
            return None
        parts = [self.machine.filter(self.symbols(k)) for k in range(self.source.bounds.size - 1)]
        return np.concatenate(parts).astype(np.int64)

    @cached_property
    def explained(self) -> tuple[float, str] | None:
        """Share of the uncertainty that the state removes, and of what: variance where outcomes are numbers."""
        p, q = self.probability, self.distributions
        if self.values is not None:
            total = float(p @ q @ self.values**2 - (p @ q @ self.values) ** 2)
            within = float(p @ (q @ self.values**2 - (q @ self.values) ** 2))
            name = f"variance of the {'next value' if self.kind == 'signal' else self.unit}"
        else:
            total, within = float(_entropy((p @ q)[None])[0]), float(p @ _entropy(q))
            name = f"uncertainty about {'the next symbol' if self.kind == 'series' else 'the outcome'}"
        return None if total <= 1e-12 else (max(0.0, 1 - within / total), name)

    @cached_property
    def regret(self) -> Regret | None:
        """Worth of the decisions on the data that they were made from, where that is cheap to tell."""
        if self.choice is None or self.shown is not None:
            return None
        if self.choice.causal_ is None:
            source = self.source
            short = source is not None and source.bounds.size == 2 and 2 <= source.raw.size <= MOST_SYMBOLS
            return self.choice.regret(self.symbols(0)) if short else None
        obs = self.choice.causal_.observations_
        work = len(self.choice.predictions_) * len(obs.outcomes)
        return self.choice.regret(obs) if work <= MOST_COMPARED else None


def gather(
    series: Any = None,
    field: Any = None,
    machine: EpsilonMachine | None = None,
    causal: CausalModel | None = None,
    choice: DecisionalModel | None = None,
    selection: Selection | None = None,
) -> Findings:
    """Check what was given, and complete it with what it holds."""
    for name, value, attribute in (("causal", causal, "states_"), ("choice", choice, "iso_prediction_")):
        if value is not None and not hasattr(value, attribute):
            raise ValueError(
                f"The '{name}' of a report must be fitted. Got {type(value).__name__} before fit: fit it first."
            )
    if choice is not None:
        # The states of the table are those that were decided for.
        causal = choice.causal_
        machine = choice.machine_ if causal is None else machine
    if causal is not None and isinstance(causal.observations_, Sliced):
        # Data that were read slice by slice cannot be shown whole.
        first = next(causal.observations_.pieces())
        choice = None if choice is None else on_first_part(choice, first)
        causal = on_first_part(causal, first) if choice is None else choice.causal_
    if machine is None:
        machine = causal.machine_ if causal is not None else selection.machine if selection is not None else None
    return Findings(_kind(causal, machine, field), machine, causal, choice, selection, series, field)


def _kind(causal: CausalModel | None, machine: EpsilonMachine | None, field: Any) -> str:
    if causal is None:
        return "field" if field is not None and machine is None else "series"
    return causal.observations_.kind


def _entropy(p: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(-(p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=1))
