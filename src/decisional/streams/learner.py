"""Learner: whether a machine still fits its stream, and learning another when it does not."""

from collections.abc import Callable, Hashable, Sequence
from math import log2
from typing import Any

import numpy as np

from .._kernels import drift as kernels
from ..data.alphabet import Alphabet, Lookup, plain
from ..decisions.events import Change, Event, Events, Refit
from ..machines import EpsilonMachine
from ..support.arrays import Ints
from .adapt import Adapt
from .drift_test import DriftTest
from .follower import Follower, Plan


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

    def extend(self, codes: Ints, gaps: Ints, value: Callable[[int], Any]) -> None:
        """Keep symbols by their numbers; value(i) is the i-th, asked for where it is not in the alphabet."""
        size = self.codes.size
        first = max(codes.size - size, 0)
        kept = codes[first:].astype(np.int32)
        kept[gaps[first:]] = -1
        for i in np.flatnonzero(kept == self.n_known).tolist():
            kept[i] = self._number(value(first + i))
        self.codes[(self.end + np.arange(kept.size)) % size] = kept
        self.end += kept.size
        if len(self.letters) > self.n_known + 2 * size:
            self._prune()

    def last(self, n: int) -> Ints:
        """The last n symbols, or as many as there are."""
        n = min(n, self.end, self.codes.size)
        found: Ints = self.codes[(self.end - n + np.arange(n)) % self.codes.size]
        return found

    def _number(self, value: Any) -> int:
        code = self._lookup(value)
        if code < 0:
            value = plain(value)
            value = value.decode("latin-1") if isinstance(value, bytes) else value
            code = self._lookup.add(value)
        return code

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
    plan : what to do with new DecisionalStates and their machine

    Attributes
    ----------
    test : DriftTest of the present machine
    recent : the last symbols
    change : the Change since which a new machine is learnt, or None
    start : position of the first symbol that it is learnt from
    needed : symbols that are needed for it
    due : symbols that a machine is learnt from again, in case that more tell more; 0 = no more
    had : symbols that there are since the start
    refit : position of the last refit, -1 = none yet
    """

    def __init__(
        self,
        adapt: Adapt,
        template: dict[str, Any],
        follower: Follower,
        plan: Callable[[Any, EpsilonMachine], Plan],
    ) -> None:
        self.adapt, self.template = adapt, template
        self._follower, self._plan = follower, plan
        self.test = DriftTest(follower.machine, adapt.refit_after, adapt, follower.stay)
        self.recent = Recent(adapt.memory, follower.machine.alphabet)
        self.change: Change | None = None
        self.start, self.needed, self.due, self.had, self.refit = 0, adapt.refit_after, 0, 0, -1

    @property
    def learning(self) -> bool:
        """Whether the machine was given up and no new one is learnt yet."""
        return self.change is not None

    @property
    def limit(self) -> int | None:
        """After how many symbols at most, at least 1, there is something to learn from; None = never."""
        wanted = self.needed if self.learning else self.due
        return max(wanted - self.had, 1) if wanted else None

    def gap(self) -> None:
        """Symbols are missing: one position for them."""
        self.test.gap()
        self.recent.append(-1)

    def push(self, code: int) -> Change | Refit | Event | None:
        """Take one symbol of the alphabet while nothing is to be learnt from it. Cost: O(1) mostly."""
        follower = self._follower
        codes, gaps = np.array([code], follower.code_type), np.zeros(1, bool)
        what, _ = self.test.run(codes, gaps, follower.position)
        self.recent.append(code)
        self.had += 1
        if what != kernels.FITS:
            return self._give_up(what, codes, gaps)
        state = follower.step(code)
        return follower.arrive(int(follower.walk(codes, gaps)[0]) if state < 0 else state)

    def take(
        self, codes: Ints, gaps: Ints, letter: Callable[[int], Any]
    ) -> tuple[int, list[Events | list[Change | Refit]]]:
        """Take symbols up to the first Change or Refit; return their number, and the events by machine.

        letter(i) is the i-th symbol, asked for where it is not in the alphabet.
        """
        follower = self._follower
        if self.learning:
            self._keep(codes, gaps, letter)
            follower.position += codes.size
            learnt = self._learn() if codes.size and self.had >= self.needed else None
            return codes.size, [] if learnt is None else [[learnt]]
        what, n = self.test.run(codes, gaps, follower.position)
        self._keep(codes[:n], gaps[:n], letter)
        better = None
        if what == kernels.FITS and n and 0 < self.due <= self.had:
            better = self._learnt(follower.position + n - 1)
        fits = n - (what != kernels.FITS or better is not None)
        told: list[Events | list[Change | Refit]] = [
            follower.events([follower.arrive_all(follower.walk(codes[:fits], gaps[:fits]))])
        ]
        if better is not None:
            follower.position += 1
            told.append([self._go_on(*better)])
        elif what != kernels.FITS:
            told.append([self._give_up(what, codes[fits:n], gaps[fits:n])])
        return n, told

    def _keep(self, codes: Ints, gaps: Ints, letter: Callable[[int], Any]) -> None:
        self.recent.extend(codes, gaps, letter)
        self.had += int(codes.size - gaps.sum())

    def _give_up(self, what: int, code: Ints, gap: Ints) -> Change | Refit:
        """Take the symbol at which the machine, or its probabilities, are given up."""
        follower = self._follower
        if what == kernels.LOST:
            self.change = self._lost(follower.position)
            follower.position, follower.state, follower.last = follower.position + 1, -1, -1
            return self.change
        follower.arrive_all(follower.walk(code, gap))
        since = int(self.test.marks[kernels.MOVED_SINCE])
        n = self.test.move()
        choice = decide(self.template, self.test.machine, n)
        follower.adopt(self.test.machine, self._plan(choice, self.test.machine))
        return Refit(follower.position - 1, since, True, choice)

    def _lost(self, position: int) -> Change:
        """The machine is given up after the symbol at a position."""
        marks = self.test.marks
        # What followed half of the evidence is new beyond doubt; where it began is an estimate.
        self.start = int(marks[kernels.HALF])
        since = int(marks[kernels.SINCE])
        # Beaten for most of its life, a machine was learnt from too few symbols; else it was right until the change.
        poor = self.refit >= 0 and since - self.refit <= position - since
        self.needed = min(2 * self.needed, self.adapt.memory) if poor else self.adapt.refit_after
        self.due = 0
        self.had = int((self.recent.last(position + 1 - self.start) >= 0).sum())
        return Change(position, since, log2(self.test.levels[kernels.RATIO]))

    def _learn(self) -> Refit | None:
        learnt = self._learnt(self._follower.position - 1)
        return None if learnt is None else self._go_on(*learnt)

    def _go_on(self, choice: Any, codes: Ints, gaps: Ints) -> Refit:
        """Follow a new machine, from the state to which the symbols it was learnt from lead."""
        follower = self._follower
        follower.adopt(self.test.machine, self._plan(choice, self.test.machine))
        follower.forget()
        if follower.missing == "raise" and gaps.any():
            codes = codes[np.flatnonzero(gaps)[-1] + 1 :]
            gaps = np.zeros(codes.size, bool)
        states = follower.walk(codes, gaps)
        follower.state = int(states[-1]) if states.size else -1
        return Refit(follower.position - 1, self.start, False, choice)

    def _learnt(self, position: int) -> tuple[Any, Ints, Ints] | None:
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
        self.due = 2 * max(self.due, self.needed) if 2 * max(self.due, self.needed) <= self.adapt.memory else 0
        enough = found.chosen.description_length - log2(self.adapt.alpha)
        if not self.learning and self._length(parts, letters) < enough:
            return None
        learnt = found.machine
        machine = EpsilonMachine.from_arrays(learnt.targets, learnt.emission, letters, learnt.names, learnt.weights)
        try:
            choice = decide(self.template, machine, self.had)
        except ValueError as error:
            self.needed, self.due = self.had + self.adapt.refit_after, 0
            raise ValueError(
                f"The machine learnt from position {self.start} on has no decisions, and is learnt on; {error}"
            ) from error
        self.test = DriftTest(machine, self.had, self.adapt, self._follower.stay)
        self.test.warm_up(codes, gaps, self.had, position + 1)
        self.recent = Recent(self.adapt.memory, letters)
        self.recent.extend(codes, gaps, str)
        self.change, self.refit = None, position
        return choice, codes.astype(np.uint8 if len(letters) < 256 else np.int32), gaps

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
        emission = np.pad(machine.emission, ((0, 0), (0, 1)))[:, column]
        return SymbolSeries(source.raw, source.lut, source.bounds, len(letters)).drive(targets, emission).length


def template(decision: Any) -> dict[str, Any]:
    """The parameters of fitted DecisionalStates, with the utility bound to its outcomes."""
    return {**decision.get_params(deep=False), "utility": decision._utility}


def decide(template: dict[str, Any], machine: EpsilonMachine, n: float) -> Any:
    """Decisional states of a machine that was learnt from n symbols: ties are judged by their sampling error."""
    from ..decisions.decisional_model import DecisionalModel

    return DecisionalModel(**template).fit_learnt(machine, n)
