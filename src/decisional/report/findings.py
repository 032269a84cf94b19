"""What a report is about, read once from the objects that were given."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data import sequences as reading
from ..data.frames import dates_along
from ..data.slices import Sliced
from ..estimators.first_part import FirstPart, on_first_part
from ..machines.chains import entropy
from ..plot.diagrams import probabilities
from ..plot.wording import symbol_text
from ..states.causal_model import step_machine
from ..states.coarsening import BitsPath, bits_path
from ..support.arguments import as_table, shown
from ..support.arrays import Floats, Ints, row_sums

if TYPE_CHECKING:
    from ..decisions.cross_fitting import Estimate
    from ..decisions.decisional_model import DecisionalModel
    from ..decisions.events import Events
    from ..decisions.regret import Regret
    from ..machines import EpsilonMachine
    from ..states.causal_model import CausalModel
    from ..states.selected import Selection

# Outcomes times states up to which decisions are compared with a fixed and a perfect forecast.
MOST_COMPARED = 10_000_000
# By P(Z|x) each x of the data would be decided with the help of its own outcome.
AGAINST = ("persistence", "ar")
MOST_SYMBOLS = 200_000  # the same where a machine follows symbols one by one
# States that have a row each along the data; groups of more of them, and work that grouping may take.
MOST_LANES, GROUPS, MOST_WORK = 24, 12, 500_000_000
STEPS = 40  # of numbers, where states are grouped by many outcomes
UNITS = {"series": "symbol", "field": "cell", "image": "pixel", "signal": "value", "pairs": "case"}


class Lanes(NamedTuple):
    """Rows that states are shown in.

    Attributes
    ----------
    names : of the rows
    of_state : (n_states,) the row of each state
    grouped : whether rows are groups of similar states
    """

    names: list[str]
    of_state: Ints
    grouped: bool


class Findings:
    """The objects of a report, completed with what they hold, and what follows from them.

    Parameters
    ----------
    series, field : the data, or None
    machine, causal, choice, selection : what was found, or None

    Attributes
    ----------
    kind : "series", "field", "image", "signal" or "pairs"
    unit : what one observation is of
    shown : how many of the observations can be shown along the data, or None: all
    states_machine : the machine whose states are those of the table, or None
    recurrent : (n_states,) mask, or None without a machine
    probability : (n_states,) observed, or stationary for an exact machine
    outcomes, distributions : z, and (n_states, n_outcomes) P(Z|state)
    """

    def __init__(
        self,
        series: Any = None,
        field: Any = None,
        machine: EpsilonMachine | None = None,
        causal: CausalModel | None = None,
        choice: DecisionalModel | None = None,
        selection: Selection | None = None,
    ) -> None:
        for name, value, attribute in (("causal", causal, "observations_"), ("choice", choice, "iso_prediction_")):
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
        if machine is None and causal is not None:
            machine = step_machine(causal)
        elif machine is None and selection is not None:
            machine = selection.machine
        self.series, self.field, self.machine, self.causal = series, field, machine, causal
        self.choice, self.selection = choice, selection
        self._read_states()

    def _read_states(self) -> None:
        causal, machine = self.causal, self.machine
        self.has_states = causal is not None or machine is not None
        self.kind = "field" if self.field is not None and machine is None else "series"
        self.shown: int | None = None
        self.states_machine = machine
        self.probability: Floats = np.zeros(0)
        self.outcomes: Sequence[Any] = ()
        if causal is not None:
            obs, self.states_machine = causal.observations_, step_machine(causal)
            self.kind, self.shown = obs.kind, obs.n if isinstance(obs, FirstPart) else None
            self.probability, self.outcomes, self.distributions = (causal.states_.probability, *_in_order(causal))
        elif machine is not None:
            self.probability, self.distributions = probabilities(machine), machine.emission
            self.outcomes = machine.alphabet
        self.unit, self.n_states = UNITS[self.kind], len(self.probability)
        names = range(self.n_states) if self.states_machine is None else self.states_machine.names
        self.names = [symbol_text(name) for name in names]
        self.recurrent = None if self.states_machine is None else self.states_machine.recurrent

    def distribution(self, k: int) -> Floats:
        """(n_outcomes,) P(Z|state) of one state."""
        row = self.distributions[[k]]
        found: Floats = (row if isinstance(row, np.ndarray) else row.toarray())[0]
        return found

    @property
    def n_recurrent(self) -> int:
        """Number of the states that come back for ever; of all states without a machine, or where none does."""
        recurrent = self.recurrent
        return self.n_states if recurrent is None or not recurrent.any() else int(recurrent.sum())

    @cached_property
    def values(self) -> Floats | None:
        """(n_outcomes,) the outcomes as increasing numbers, or None where they are few, or no such numbers."""
        if len(self.outcomes) <= 8 or not all(isinstance(z, (int, float, np.number)) for z in self.outcomes):
            return None
        values = np.array([float(z) for z in self.outcomes])
        return values if (np.diff(values) > 0).all() else None

    @property
    def relative(self) -> bool:
        """Whether outcomes and predictions are grey levels above the darkest pixel around."""
        way = None if self.causal is None else self.causal.observations_.way
        return way is not None and bool(way.given.get("subtract_min"))

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
    def size(self) -> int:
        """Length of a series of symbols, or the number of observations."""
        return self.n if self.source is None or self.shown is not None else int(self.source.raw.size)

    @cached_property
    def source(self) -> reading.Symbols | None:
        """The symbols with their numbers, or None where the data are no symbols."""
        found = self.causal.observations_.source if self.causal is not None else None
        if found is not None or self.series is None or self.kind != "series":
            return found
        if self.machine is not None:
            alphabet = set(map(str, self.machine.alphabet))
            for sequences in (None, True, False):
                # What may be symbols or series is told by the symbols of the machine.
                with suppress(ValueError):
                    source = reading.read(self.series, sequences=sequences)
                    if {str(letter) for letter in source.letters} <= alphabet:
                        return source
        return reading.read(self.series)

    @property
    def signals(self) -> list[Floats]:
        """The signals that were given, one or several."""
        several = isinstance(self.series, (list, tuple)) and len(self.series) > 0 and np.ndim(self.series[0]) > 0
        rule = "it must be the signal that was observed: give one number, or one row of numbers, for each time."
        found = [as_table(part, "series", rule, float) for part in (self.series if several else [self.series])]
        if any(part.ndim not in (1, 2) for part in found):
            raise ValueError(f"The 'series' is {shown(self.series)}; {rule}")
        return found

    def sequences(self) -> list[Any]:
        """The sequences of symbols, as they can be given to a machine."""
        source = self.source
        assert source is not None
        if len(source.bounds) == 2 and isinstance(self.series, (str, np.ndarray)) and np.ndim(self.series) < 2:
            return [self.series]
        return [source.sequence(k) for k in range(len(source.bounds) - 1)]

    @cached_property
    def labels(self) -> Ints | None:
        """(n,) state at each position of data with one dimension, -1 where none is known."""
        if self.causal is not None:
            obs = self.causal.observations_
            labels = np.full(int(np.prod(obs.shape)), -1, np.int64)
            labels[obs.site] = self.causal.states_.labels[obs.x]
            return labels
        if self.source is None or self.machine is None:
            return None
        return np.concatenate([self.machine.filter(symbols) for symbols in self.sequences()]).astype(np.int64)

    @property
    def starts(self) -> Ints:
        """Where each series after the first begins, along data with one dimension."""
        if self.source is not None:
            return self.source.bounds[1:-1]
        parts = self.signals if self.kind == "signal" and self.series is not None else []
        return np.cumsum([len(part) for part in parts], dtype=np.int64)[:-1]

    @cached_property
    def dates(self) -> NDArray[Any] | None:
        """(n,) the date at each position of data with one dimension, None where not all have one, in order."""
        index = None
        if self.causal is not None:
            obs = self.causal.observations_
            index = (obs.inner if isinstance(obs, FirstPart) else obs).index
        return None if self.labels is None else dates_along(self.series, self.labels.size, index)

    @cached_property
    def changes(self) -> list[Events] | None:
        """The events along each series; None without decisions, or where the data have no order in time."""
        choice = self.choice
        if choice is None:
            return None
        if choice.causal_ is not None:
            return None if choice.causal_.observations_.successor is None else [choice.events()]
        return None if self.source is None else [choice.events(symbols) for symbols in self.sequences()]

    @cached_property
    def path(self) -> BitsPath | None:
        """How many bits fewer states keep, where states are many; numbers that are very many count by steps."""
        if self.n_states <= MOST_LANES:
            return None
        p: Any = self.distributions
        entries = p.size if isinstance(p, np.ndarray) else p.nnz
        if entries * self.n_states > MOST_WORK and self.values is not None:
            share = np.linspace(self.values[0], self.values[-1], STEPS + 1)[1:-1]
            step = np.searchsorted(share, self.values)
            p = p @ np.eye(STEPS)[step]
            entries = p.size
        return bits_path(p, self.probability) if entries * self.n_states <= MOST_WORK else None

    @cached_property
    def lanes(self) -> Lanes:
        """The rows of the states: one for each, or groups of similar ones; else the most probable, and the others."""
        n, path = self.n_states, self.path
        if n <= MOST_LANES:
            return Lanes(self.names, np.arange(n), False)
        if path is None:
            order = np.argsort(-self.probability, kind="stable")
            rows = np.full(n, GROUPS - 1)
            rows[order[: GROUPS - 1]] = np.arange(GROUPS - 1)
            return Lanes([*(self.names[k] for k in order[: GROUPS - 1].tolist()), "others"], rows, False)
        groups = path.groups(GROUPS)
        weight = np.bincount(groups, self.probability)
        place = np.argsort(np.argsort(-weight, kind="stable"), kind="stable")
        return Lanes([f"group {k}" for k in range(1, weight.size + 1)], place[groups], True)

    @cached_property
    def explained(self) -> tuple[float, str] | None:
        """Share of the uncertainty that the state removes, and of what: variance where outcomes are numbers."""
        p, q = self.probability, self.distributions
        if self.values is not None:
            total = float(p @ q @ self.values**2 - (p @ q @ self.values) ** 2)
            within = float(p @ (q @ self.values**2 - (q @ self.values) ** 2))
            name = f"variance of the {'next value' if self.kind == 'signal' else self.unit}"
        else:
            total, within = float(entropy(p @ q)), float(p @ _entropies(q))
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
            return self.choice.regret(self.sequences()[0], against=AGAINST) if short else None
        obs = self.choice.causal_.observations_
        work = len(self.choice.predictions_) * len(obs.outcomes)
        return self.choice.regret(obs, against=AGAINST) if work <= MOST_COMPARED else None

    @cached_property
    def honest(self) -> Estimate | None:
        """Worth of the decisions by data that they were not made from, where that can be told."""
        return None if self.choice is None or self.shown is not None else self.choice.honest_utility_


def _in_order(causal: CausalModel) -> tuple[Sequence[Any], Any]:
    """Outcomes and P(Z|state), numbers in increasing order."""
    outcomes, p = causal.outcomes_, causal.distributions_
    if len(outcomes) == 0 or not all(isinstance(z, (float, np.floating)) for z in outcomes):
        return outcomes, p
    order = np.argsort(np.asarray(outcomes, float), kind="stable")
    return [outcomes[k] for k in order.tolist()], p[:, order]


def _entropies(p: Any) -> Floats:
    """Entropy of each row of an array, dense or sparse, in bits."""
    dense = isinstance(p, np.ndarray)
    found: Floats = entropy(p) if dense else row_sums(p.indptr, -p.data * np.log2(np.maximum(p.data, 1e-300)))
    return found
