"""Learner: whether a machine still fits its stream, and learning another when it does not.

The machine is compared by log-loss with predictors that do not know it. Let p be the probability that the machine gave
to a symbol, with its probabilities re-estimated all along, and q that of a mixture of Markov orders and of the states
of the machine, with short memories. While the machine is right, the product of q/p from any symbol on is a martingale:
it ever exceeds 1/alpha with a chance of at most alpha. The largest of these products (CUSUM) is what is watched.
"""

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np

from .._kernels import drift as kernels
from ..data.alphabet import Alphabet, Lookup, plain
from ..decisions.decisional_model import DecisionalModel
from ..decisions.events import Change, Event, Events, Refit
from ..machines import EpsilonMachine, walks
from ..support.arguments import integer, real, require, shown
from ..support.arrays import Floats, Ints
from .follower import Follower, Plan, Tracked
from .signal_followers import followed

# Symbols that are kept of a stream.
MOST = 1 << 30

WINDOW = 20_000
# Symbols that are kept, in half-lives: the next one would weigh a sixteenth.
HALF_LIVES = 4
# The alternative: its longest order, the cells of its longest table, its memories in visits of a word, and the share
# of its weights that goes round at each symbol.
ORDER, CELLS = 4, 100_000
LIMITS = (64, 2048)
SWITCH = 1 / 2048
# States that the fit hardly saw are trusted as if they had been seen so often.
SEEN = 8.0


@dataclass(frozen=True)
class Adapt:
    """How a Monitor adapts to a stream that drifts.

    Parameters
    ----------
    window : a new machine is learnt from at most so many of the last symbols, which are kept; 20,000 by default
    forget : half-life in symbols, instead of a window: the probabilities of the machine follow the stream with
        exponential forgetting, and the decisions follow them when that shortens the description of the symbols by
        log2(1/alpha) bits. New machines are learnt from at most four half-lives
    alpha : chance per symbol of giving up a machine that is right, at most
    refit_after : symbols that a new machine is learnt from, at least; more if it does not last

    Examples
    --------
    >>> Adapt()
    Adapt(window=20000, forget=None, alpha=1e-09, refit_after=1000)
    """

    window: int | None = None
    forget: int | None = None
    alpha: float = 1e-9
    refit_after: int = 1_000

    def __post_init__(self) -> None:
        if self.window is not None and self.forget is not None:
            raise ValueError(
                f"The 'window' of Adapt is {shown(self.window)} and 'forget' is {shown(self.forget)}; one of them is "
                "the memory: leave the other out."
            )
        if self.window is None and self.forget is None:
            object.__setattr__(self, "window", WINDOW)
        remedy = "give a number of symbols"
        for name, value in (("refit_after", self.refit_after), ("window", self.window), ("forget", self.forget)):
            if value is not None or name == "refit_after":
                # Small integers of numpy cannot be added to.
                object.__setattr__(self, name, integer(value, name, 10, MOST, remedy, "Adapt"))
        remedy = "give the chance of a false alarm per symbol"
        real(self.alpha, "alpha", above=0, below=1, remedy=remedy, of="Adapt")
        if self.refit_after > self.memory:
            raise ValueError(
                f"The 'refit_after' of Adapt is {self.refit_after} and only {self.memory} symbols are kept; a machine "
                "is learnt from what is kept: give a longer window."
            )

    @property
    def memory(self) -> int:
        """How many of the last symbols are kept."""
        return self.window if self.window is not None else HALF_LIVES * (self.forget or 0)


class DriftTest:
    """A machine against the alternative along a stream; see `_kernels.drift.test` for the state, named in `STATE`.

    Parameters
    ----------
    n : number of symbols that the probabilities of the machine are worth
    stay : whether the state stays at impossible symbols, and at gaps
    """

    STATE = ("counts", "frozen", "belief", "tables", "contexts", "weights", "levels", "marks")

    def __init__(self, machine: EpsilonMachine, n: float, adapt: Adapt, stay: tuple[bool, bool]) -> None:
        n_states, n_symbols = machine.emission.shape
        orders = [d for d in range(ORDER + 1) if d == 0 or (n_symbols + 1) ** (d + 1) <= CELLS]
        self.machine, self._targets, self._home = machine, machine.targets.astype(np.int64), walks.prior(machine)
        growth = 1.0 if adapt.forget is None else 2.0 ** (1.0 / adapt.forget)
        self._options = stay, 1.0 / adapt.alpha, growth, SWITCH
        offsets = np.cumsum([0, *((n_symbols + 1) ** d for d in orders)])
        self._experts = offsets, np.array(LIMITS), 1.0 / (1.0 + np.arange(max(LIMITS) + 1))
        n_experts = (len(orders) + 1) * len(LIMITS)
        self.counts = self._initial(n)
        self.frozen = np.empty((0, n_symbols)) if adapt.forget is None else machine.emission.copy()
        self.belief = self._home.copy()
        self.tables = np.zeros((int(offsets[-1]) + n_states, len(LIMITS), n_symbols + 2), np.int32)
        self.contexts = np.zeros(len(orders), np.int64)
        self.weights = np.full(n_experts, 1.0 / n_experts)
        self.levels = np.ones(3)
        self.marks = np.array([0, 0, 0, 0, -1])

    def run(self, codes: Ints, gaps: Ints, position: int) -> tuple[int, int]:
        """Take symbols from a position on; see `_kernels.drift.test`."""
        state = self.counts, self.frozen, self.belief, self.tables, *self._experts, self.contexts, self.weights
        fixed = self._targets, self._home, *self._options
        what, n = kernels.test(codes, gaps, position, *fixed, *state, self.levels, self.marks)
        return int(what), int(n)

    def warm_up(self, codes: Ints, gaps: Ints, n: float, position: int) -> None:
        """Let the alternative know the symbols that the machine was learnt from, and find the state."""
        options = self._options
        self._options = options[0], np.nan, *options[2:]  # a bound that nothing reaches
        self.run(codes, gaps, position - codes.size)
        self._options = options
        self.counts[:], self.levels[:] = self._initial(n), 1.0

    def is_possible(self) -> bool:
        """Whether a test can stand like this, as one that was read from a file must."""
        offsets, limits, _ = self._experts
        numbers = self.counts, self.frozen, self.belief, self.weights, self.levels
        words = np.diff(offsets)
        return bool(
            all(np.isfinite(values).all() and (values >= 0).all() for values in numbers)
            and np.isclose(self.belief.sum(), 1.0)
            and ((self.contexts >= 0) & (self.contexts < words)).all()
            and (self.tables >= 0).all()
            and (self.tables[..., -1] <= limits).all()
            and (self.marks[:-1] >= 0).all()
            and -1 <= self.marks[kernels.STATE] < len(self.belief)
        )

    def gap(self) -> None:
        """Forget the state: symbols are missing."""
        self.belief[:] = self._home
        self.marks[kernels.RUN], self.marks[kernels.STATE] = 0, -1

    def move(self) -> float:
        """Put the present probabilities in force; return the number of symbols that they are worth."""
        old, total = self.machine, self.counts[:, -1]
        used = np.where(old.targets >= 0, self.counts[:, :-2], 0.0)
        seen = used.sum(axis=1, keepdims=True)
        emission = np.divide(used, seen, out=old.emission.copy(), where=seen > 0)
        weights = total / total.sum()
        self.machine = EpsilonMachine.from_arrays(old.targets, emission, old.alphabet, old.names, weights)
        self._home = walks.prior(self.machine)
        self.frozen, self.levels[kernels.GAIN] = self.machine.emission.copy(), 1.0
        return float(total.sum() / self.levels[kernels.UNIT])

    def _initial(self, n: float) -> Floats:
        machine = self.machine
        weight = machine.stationary if machine.weights is None else machine.weights
        seen = np.maximum(n * weight, SEEN)[:, None] * machine.emission
        return np.column_stack([seen, np.zeros(len(seen)), seen.sum(axis=1)])


class Recent:
    """The last symbols as numbers of letters, in a ring; -1 is a gap.

    The letters are those of an alphabet, and others as they come; those that left the ring are forgotten in time.
    """

    def __init__(self, size: int, alphabet: Sequence[Hashable]) -> None:
        self.codes, self.end = np.full(size, -1, np.int32), 0
        self._lookup = Lookup(alphabet)
        self.n_known = len(alphabet)

    @property
    def letters(self) -> list[Hashable]:
        """What the numbers stand for."""
        return self._lookup.letters

    def append(self, code: int) -> None:
        """Keep one symbol of the alphabet, by its number."""
        self.codes[self.end % self.codes.size] = code
        self.end += 1

    def extend(self, codes: Ints, gaps: Ints, symbols: Sequence[Any]) -> None:
        """Keep symbols by their numbers, those that are not in the alphabet by what they are."""
        size = self.codes.size
        first = max(codes.size - size, 0)
        kept = codes[first:].astype(np.int32)
        kept[gaps[first:]] = -1
        for i in np.flatnonzero(kept == self.n_known).tolist():
            kept[i] = self._lookup(symbols[first + i])
            if kept[i] < 0:
                value = plain(symbols[first + i])
                kept[i] = self._lookup.add(value.decode("latin-1") if isinstance(value, bytes) else value)
        self.codes[(self.end + np.arange(kept.size)) % size] = kept
        self.end += kept.size
        if len(self.letters) > self.n_known + 2 * size:
            self._prune()

    def last(self, n: int) -> Ints:
        """The last n symbols, or as many as there are."""
        n = min(n, self.end, self.codes.size)
        found: Ints = self.codes[(self.end - n + np.arange(n)) % self.codes.size]
        return found

    def count(self, n: int) -> int:
        """How many of the last n are no gaps."""
        return int((self.last(n) >= 0).sum())

    def _prune(self) -> None:
        used = np.union1d(np.arange(self.n_known), self.codes[self.codes >= 0])
        number = np.full(len(self.letters) + 1, -1, np.int32)
        number[used] = np.arange(used.size)
        self.codes = number[self.codes]
        self._lookup = Lookup(self.letters[k] for k in used.tolist())


class Learner:
    """What a monitor that adapts knows beside what it follows.

    There is at most one event per symbol: a Change or a Refit takes the place of an Event, and as no decision is known
    then, the next symbol whose state is known makes one.

    Parameters
    ----------
    template : parameters of the DecisionalStates of new machines
    follower : what follows the machine, and is given the new ones

    Attributes
    ----------
    test : DriftTest of the present machine
    recent : the last symbols
    origin : the model that the follower began with, once it has another
    change : the Change since which a new machine is learnt, or None
    start : position of the first symbol that it is learnt from
    needed : symbols that are needed for it
    due : symbols that a machine is learnt from again, in case that more tell more; 0 = no more
    had : symbols that there are since the start
    refit : position of the last refit, -1 = none yet
    """

    test: Any
    recent: Any

    def __init__(self, adapt: Adapt, template: dict[str, Any], follower: Follower) -> None:
        self.adapt, self.template, self._follower = adapt, template, follower
        self._begin()
        self.origin: dict[str, Any] | None = None
        self.change: Change | None = None
        self.start, self.needed, self.due, self.had, self.refit = 0, adapt.refit_after, 0, 0, -1

    def _begin(self) -> None:
        follower, adapt = self._follower, self.adapt
        self._stay = follower.impossible == "stay", follower.missing == "stay"
        self.test = DriftTest(follower.machine, adapt.refit_after, adapt, self._stay)
        self.recent = Recent(adapt.memory, follower.machine.alphabet)

    @property
    def learning(self) -> bool:
        """Whether the machine was given up and no new one is learnt yet."""
        return self.change is not None

    @property
    def misfit(self) -> float:
        """Bits of evidence against the machine; those at which it was given up while another is learnt."""
        return self.change.bits if self.change is not None else log2(max(self.test.levels[kernels.RATIO], 1.0))

    @property
    def limit(self) -> int | None:
        """After how many symbols at most, at least 1, there is something to learn from; None = never."""
        wanted = self.needed if self.learning else self.due
        return max(wanted - self.had, 1) if wanted else None

    def at_once(self, code: Any) -> bool:
        """Whether `push` can take a symbol: one of the alphabet, from which nothing is to be learnt now."""
        return not self.learning and bool(code != len(self._follower.alphabet)) and self.limit != 1

    def gap(self) -> None:
        """Symbols are missing: one position for them."""
        self.test.gap()
        self.recent.append(-1)

    def push(self, code: int) -> Change | Refit | Event | None:
        """Take one symbol of the alphabet while nothing is to be learnt from it. Cost: O(1) mostly."""
        follower = self._follower
        codes, gaps = np.array([code], follower.alphabet.dtype), np.zeros(1, bool)
        what, _ = self.test.run(codes, gaps, follower.position)
        self.recent.append(code)
        self.had += 1
        if what != kernels.FITS:
            return self._give_up(what, codes, gaps)
        state = follower.step(code)
        if state < 0:
            state = follower.walk(codes, gaps).states.item()
        return follower.arrive(state, state)

    def take(self, codes: Ints, gaps: Ints, symbols: Sequence[Any]) -> tuple[int, list[Events | list[Change | Refit]]]:
        """Take symbols up to the first Change or Refit; return their number, and the events by machine."""
        follower, learning = self._follower, self.learning
        what, n = (kernels.FITS, len(codes)) if learning else self._tested(codes, gaps)
        end = follower.position + n
        self.recent.extend(codes[:n], gaps[:n], symbols)
        self.had += int(n - gaps[:n].sum())
        if learning:
            follower.position = end
        learnt, told = None, list[Events | list[Change | Refit]]()
        if what == kernels.FITS and n and 0 < (self.needed if learning else self.due) <= self.had:
            learnt = self._learnt(end - 1)
        fits = n - (what != kernels.FITS or learnt is not None)
        if not learning:
            told.append(follower.events([follower.arrive_all(self._walked(codes[:fits], gaps[:fits]))]))
        if learnt is not None:
            follower.position = end
            told.append([self._go_on(*learnt)])
        elif what != kernels.FITS:
            told.append([self._give_up(what, codes[fits:n], gaps[fits:n])])
        return n, told

    def _tested(self, codes: Ints, gaps: Ints) -> tuple[int, int]:
        """Whether the machine fits symbols, and how many of them were taken."""
        what, n = self.test.run(codes, gaps, self._follower.position)
        return what, n

    def _walked(self, codes: Ints, gaps: Ints) -> Tracked:
        """States along the first of the symbols that were tested."""
        return self._follower.walk(codes, gaps)

    def _give_up(self, what: int, code: Ints, gap: Ints) -> Change | Refit:
        """Take the symbol at which the machine, or its probabilities, are given up."""
        follower, marks, position = self._follower, self.test.marks, self._follower.position
        if what == kernels.LOST:
            since = int(marks[kernels.SINCE])
            # What followed half of the evidence is new beyond doubt; where it began is an estimate.
            self.start = int(marks[kernels.HALF])
            # Beaten for most of its life, a machine was learnt from too few symbols; else it was right until then.
            poor = self.refit >= 0 and since - self.refit <= position - since
            self.needed = min(2 * self.needed, self.adapt.memory) if poor else self.adapt.refit_after
            self.due, self.had = 0, self.recent.count(position + 1 - self.start)
            self.change = Change(position, since, log2(self.test.levels[kernels.RATIO]))
            follower.position, follower.state, follower.last = position + 1, -1, -1
            return self.change
        follower.arrive_all(follower.walk(code, gap))
        since, n = int(marks[kernels.MOVED_SINCE]), self.test.move()
        choice = self._decide(self.test.machine, n)
        self._adopt(choice)
        return Refit(position, since, True, choice)

    def _decide(self, machine: EpsilonMachine, n: float) -> Any:
        return DecisionalModel(**self.template).fit_learnt(machine, n)

    def _adopt(self, choice: Any) -> None:
        """Follow the machine of new decisions."""
        follower = self._follower
        if self.origin is None:
            # What no file can hold is never compared with one either.
            with suppress(TypeError):
                self.origin = follower.model()
        follower.adopt(followed(choice), Plan.of(choice, follower.by, follower.level))

    def _go_on(self, choice: Any, codes: Ints, gaps: Ints) -> Refit:
        """Follow a new machine, from the state to which the symbols it was learnt from lead."""
        follower = self._follower
        self._adopt(choice)
        follower.forget()
        if follower.missing == "raise" and gaps.any():
            codes = codes[np.flatnonzero(gaps)[-1] + 1 :]
            gaps = np.zeros(codes.size, bool)
        states = follower.walk(codes, gaps).states
        follower.state = int(states[-1]) if states.size else -1
        return Refit(follower.position - 1, self.start, False, choice)

    def _learnt(self, position: int) -> tuple[Any, Any, Any] | None:
        """A new machine with its decisions, and the symbols that it was learnt from: their columns, and gaps.

        None where there is a machine already, and no other describes the symbols since the change shorter by
        log2(1/alpha) bits. Cost: a selection on at most `memory` symbols.
        """
        # Imported when needed: most streams are followed without.
        from ..states.machine_selection import select

        letters, codes = self._since_start(position)
        gaps = codes == len(letters)
        parts = [part[part < len(letters)] for part in np.split(codes, np.flatnonzero(gaps))]
        parts = [part for part in parts if part.size]
        found = select(parts, sequences=True)
        again = 2 * max(self.due, self.needed)
        self.due = again if again <= self.adapt.memory else 0
        enough = found.chosen.description_length - log2(self.adapt.alpha)
        if not self.learning and self._length(parts, letters) < enough:
            return None
        learnt = found.machine
        machine = EpsilonMachine.from_arrays(learnt.targets, learnt.emission, letters, learnt.names, learnt.weights)
        try:
            choice = self._decide(machine, self.had)
        except ValueError as error:
            self.needed, self.due = self.had + self.adapt.refit_after, 0
            raise ValueError(
                f"The machine learnt from position {self.start} on has no decisions, and is learnt on; {error}"
            ) from error
        self.test = DriftTest(machine, self.had, self.adapt, self._stay)
        self.test.warm_up(codes, gaps, self.had, position + 1)
        self.recent = Recent(self.adapt.memory, letters)
        self.recent.extend(codes, gaps, ())
        self.change, self.refit = None, position
        return choice, codes.astype(Alphabet(letters).dtype), gaps

    def _since_start(self, position: int) -> tuple[tuple[Hashable, ...], Ints]:
        """Letters of the symbols since the change, in order, and the number of each symbol; gaps come after all."""
        numbers = self.recent.last(position + 1 - self.start)
        used = np.unique(numbers[numbers >= 0])
        found = [self.recent.letters[k] for k in used.tolist()]
        alphabet = Alphabet.of(found)
        column = np.full(len(self.recent.letters) + 1, len(alphabet), np.int64)
        column[used] = alphabet.places(found)
        return alphabet.letters, column[numbers]

    def _length(self, parts: list[Ints], letters: Sequence[Hashable]) -> float:
        """Bits in which the present machine describes symbols, as the selection counts them."""
        from ..data import sequences as reading
        from ..states.search import SymbolSeries

        source, machine = reading.read(parts, sequences=True), self.test.machine
        column = [machine.alphabet.index(a) if a in machine.alphabet else machine.emission.shape[1] for a in letters]
        targets = np.pad(machine.targets, ((0, 0), (0, 1)), constant_values=-1)[:, column]
        weights = machine.stationary[:, None] * np.pad(machine.emission, ((0, 0), (0, 1)))[:, column]
        return SymbolSeries(source.raw, source.lut, source.bounds, len(letters)).drive(targets, weights).length


def template(decision: Any) -> dict[str, Any]:
    """The parameters of fitted DecisionalStates, with the utility bound to its outcomes."""
    require(decision, "utility_", "decision", "fitted DecisionalStates", "give those the monitor was made with")
    return {**decision.get_params(deep=False), "utility": decision._utility}
