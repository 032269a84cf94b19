"""What a selection of machines found: all candidates, why one was chosen, and what speaks against trusting it."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..machines import EpsilonMachine
from ..machines.chains import Chain, closed_classes, renumbered
from ..machines.epsilon_machine import trusted_machine
from ..machines.isomorphism import isomorphic
from ..support.arguments import require
from ..support.arrays import Ints
from ..support.plurals import plural
from .doubt import hidden_gain
from .mixture import SECONDS, Mixture
from .search import Candidate, Proposal, SymbolSeries

# Descriptions closer than this many bits, odds of 16 to 1, cannot be told apart; so many are odds of 1000 to 1.
DOUBT = 4.0
CERTAIN = 10.0
# Machines of as many states and this close are the same.
SAME = 0.5
# Symbols that depend on what was before the state by chance less probable than this say that states are missing.
CHANCE = 0.03
# Machines with more states are doubted where all other proposals led elsewhere.
LARGE = 8

# How machines are found that are not from windows.
FOUND = {
    "contexts": "by merging contexts",
    "tree": "by pruning the tree of all contexts",
    "prefixes": "by merging prefixes",
    "cycles": "from a period",
    "shaken": "by leading edges of another machine elsewhere",
    "tables": "by climbing from machines drawn at random",
}


@dataclass(frozen=True, repr=False)
class Selection:
    """The whole picture of a selection: all machines that were considered for a series.

    Attributes
    ----------
    candidates : all candidates, shortest description first
    alphabet : the symbols
    n_symbols : how many symbols each candidate describes
    unexplained : bits that the symbols before tell of the next one beyond the state of the chosen machine
    cut : whether the search was ended by the time that it was given
    chance : how probable it is that symbols depend so much on what was before the state, if the machine is right
    bounded : whether the search was ended by the number of operations that it may take
    whole : whether the sequences are whole strings, whose end is the last symbol
    data : the series, and the number of each symbol of the alphabet in it, for `predictor`
    """

    candidates: tuple[Candidate, ...]
    alphabet: tuple[Hashable, ...]
    n_symbols: int
    unexplained: float = 0.0
    cut: bool = False
    chance: float = 1.0
    bounded: bool = False
    whole: bool = False
    data: tuple[SymbolSeries, Ints] | None = field(default=None, repr=False)

    def predictor(self, *, seconds: float = SECONDS) -> Mixture:
        """The average over machines and contexts whose weights follow their success: see `ds.Mixture`."""
        return Mixture(self, seconds=seconds)

    @cached_property
    def hidden(self) -> float:
        """Bits by which hidden states describe the beginning of the series shorter than the chosen machine.

        They are looked for when this is first asked, by `warning` and `why`; not where the search was ended.
        """
        if self.data is None or self.whole or self.cut or self.bounded:
            return 0.0
        series, place = self.data
        best, order = self.chosen, np.argsort(place)
        numbered = replace(best, targets=best.targets[:, order], counts=best.counts[:, order])
        return hidden_gain(series, numbered, self.chance)

    @property
    def chosen(self) -> Candidate:
        """The candidate with the shortest description."""
        return self.candidates[0]

    def __repr__(self) -> str:
        """What was chosen, among how many."""
        best, others = self.chosen, len(self.candidates)
        bits = f"{best.description_length:,.1f} bits for {plural(self.n_symbols, 'symbol')}"
        return f"Selection({states_told(n_recurrent(best))} chosen among {others} candidates, {bits})"

    @property
    def machine(self) -> EpsilonMachine:
        """The chosen machine."""
        return self.machine_of(self.chosen)

    def machine_of(self, candidate: Candidate) -> EpsilonMachine:
        """The EpsilonMachine of a candidate: its recurrent states, by decreasing probability."""
        require(candidate, "proposal", "candidate", "a Candidate", "give one of selection.candidates")
        label = recurrent_classes(candidate)
        states = np.flatnonzero(label >= 0)
        uses = np.round(candidate.counts.sum(axis=1)[states], 9)
        states = states[np.lexsort([states, -uses])]
        stays = (candidate.targets >= 0) & (label[candidate.targets] == label[:, None])
        targets = renumbered(np.where(stays, candidate.targets, -1), states)
        counts = np.where(targets >= 0, candidate.counts[states], 0.0)
        total = counts.sum(axis=1)
        emission, share = counts / np.maximum(total, 1.0)[:, None], total / total.sum()
        # The end of a string leads to the start, from wherever it can come.
        start = int(targets[:, -1].max()) if self.whole else None
        return trusted_machine(targets, emission, self.alphabet, share, counts=counts, smoothed=True, start=start)

    @property
    def rival(self) -> Candidate | None:
        """The best candidate that is another machine than the chosen one."""
        best = self.chosen.proposal
        return next((c for c in self.candidates[1:] if not same_machine(c.proposal, best)), None)

    @property
    def agreeing(self) -> int:
        """How many proposals led to the chosen machine, by its states and its length; to a tree's by its edges.

        All that were climbed to are one, as each begins with the last.
        """
        best = self.chosen

        def same(other: Candidate) -> bool:
            if best.how == "tree":
                return other is best or same_machine(other.proposal, best.proposal)
            return other.length < best.length + SAME

        found = [c.how for c in self.candidates if c.n_states == best.n_states and same(c)]
        return len(found) - max(found.count("tables") - 1, 0)

    @property
    def why(self) -> str:
        """The choice in a sentence."""
        best, rival = self.chosen, self.rival
        against = "no other machine was found"
        if rival is not None:
            gap = rival.description_length - best.description_length
            against = f"the best other machine, with {states_told(n_recurrent(rival))}, needs {gap:,.1f} bits more"
        search = " and the search" if best.searched else ""
        found = FOUND.get(best.how, f"from windows of {best.past} + {best.future} symbols{search}")
        doubt = "" if self.warning is None else f" {self.warning}"
        n = n_recurrent(best)
        describe, explain = ("describes", "explains") if n == 1 else ("describe", "explain")
        return (
            f"{states_told(n)}, found {found}, {describe} {plural(self.n_symbols, 'symbol')} in "
            f"{best.description_length:,.1f} bits and {explain} {100 * self.explained:.3g} % of what can be predicted; "
            f"{against}.{doubt}"
        )

    @property
    def explained(self) -> float:
        """Share of what can be predicted of the symbols, as far as is known, that the chosen machine predicts.

        What one state leaves open and the machine does not, to that and what the symbols before tell beyond the state.
        """
        total = self.chosen.counts.sum(axis=0)
        alone = -float(total[total > 0] @ np.log2(total[total > 0] / total.sum()))
        predicted, rest = alone + self.chosen.log_likelihood, max(self.unexplained, 0.0)
        return max(predicted, 0.0) / (max(predicted, 0.0) + rest) if rest else 1.0

    @property
    def warning(self) -> str | None:
        """What to know before the machine is trusted, in a sentence or several, else None.

        That the search was cut short, that the symbols before tell more than the state, that hidden states do, that
        another machine describes the data nearly as short, or that all other proposals led elsewhere.
        """
        found = [self._cut_short(), self._too_close(), self._lacking(), self._hidden(), self._alone()]
        return " ".join(sentence for sentence in found if sentence is not None) or None

    def _cut_short(self) -> str | None:
        if self.cut:
            return (
                "The search was ended by the time that it was given, with the best machine so far: give more 'seconds'."
            )
        if self.bounded:
            return "The search was ended by the work that it may take, with the best machine so far."
        return None

    def _lacking(self) -> str | None:
        if self.unexplained < CERTAIN and self.chance >= CHANCE:
            return None
        if self.unexplained < CERTAIN:
            return (
                f"Given the state, what was before still tells of the next symbol: so much would be chance in "
                f"{self.chance:.1g} of all cases, and states may be missing; more data would tell."
            )
        return (
            f"The machine explains {100 * self.explained:.3g} % of what can be predicted: given its state, the symbols "
            f"before still save {self.unexplained:,.0f} bits; its states are an approximation."
        )

    def _hidden(self) -> str | None:
        if self.hidden < CERTAIN:
            return None
        return (
            f"Hidden states, which symbols do not tell, describe the beginning {self.hidden:,.0f} bits shorter: there "
            "may be no finite machine; see ds.belief_machine."
        )

    def _alone(self) -> str | None:
        best, rival = self.chosen, self.rival
        # What is climbed to is found by chance, once in many draws, right or not.
        if rival is None or best.how == "tables" or best.n_states <= LARGE or self.agreeing > 1:
            return None
        gap = rival.description_length - best.description_length
        return (
            f"Proposals disagree: {len(self.candidates):,} led to this machine once, and otherwise to some that need "
            f"{gap:,.0f} bits more at least; a shorter one may exist."
        )

    def _too_close(self) -> str | None:
        best, near = self.chosen, self._nearest()
        if near is None:
            return None
        rival, gap = near
        kind = f"{states_told(n_recurrent(best))} from {states_told(n_recurrent(rival))}"
        if n_recurrent(rival) == n_recurrent(best):
            kind = f"two machines of {states_told(n_recurrent(best))}"
        # Rounded up, it could seem to be enough.
        return (
            f"{plural(self.n_symbols, 'symbol')} cannot separate {kind}: their descriptions differ by "
            f"{math.floor(10 * gap) / 10:.1f} bits of {best.description_length:,.0f}, and {DOUBT:.0f} are needed to be "
            "sure; more data would tell."
        )

    def _nearest(self) -> tuple[Candidate, float] | None:
        """Another machine that cannot be told from the chosen one, and the bits between their descriptions.

        Where there are many letters and few symbols, what a state never shows is by chance: it is to be named.
        """
        best = self.chosen
        own = best.length + best.left_out
        gaps = [c.length + c.left_out - own for c in self.candidates]
        for k in np.argsort(gaps, kind="stable"):
            if gaps[k] >= DOUBT:
                break
            if not same_machine(self.candidates[k].proposal, best.proposal):
                return self.candidates[k], max(gaps[k], 0.0)
        return None

    def by_past(self) -> dict[int, Candidate]:
        """The best reconstruction for each length of past, before the search: where it levels out is the plateau."""
        best: dict[int, Candidate] = {}
        for candidate in self.candidates:
            if not candidate.searched:
                best.setdefault(candidate.past, candidate)
        return dict(sorted(best.items()))


def same_machine(a: Proposal, b: Proposal) -> bool:
    """Whether two machines have the same states and edges, whatever their numbering and probabilities."""
    return isomorphic(a[0], np.zeros(a[0].shape), b[0], np.zeros(b[0].shape), atol=1.0)


def n_recurrent(candidate: Candidate) -> int:
    """The states of the machine of a candidate, which are recurrent."""
    return int(np.count_nonzero(recurrent_classes(candidate) >= 0))


def states_told(n: int) -> str:
    return plural(n, "state")


def recurrent_classes(candidate: Candidate) -> Ints:
    """(n_states,) number of the class of each state, closed or left once only, as if by accident; -1 = transient.

    Where the data end the machine need not. All states are one class where none is closed.
    """
    label, n = np.full(candidate.n_states, -1, np.int64), 0
    while (label < 0).any():
        left = np.flatnonzero(label < 0)
        targets, sink = renumbered(candidate.targets, left), left.size
        # What leads out more than once leads to a last state, which is never left.
        out = (candidate.targets[left] >= 0) & (targets < 0) & (candidate.counts[left] >= 2)
        inner = np.vstack([np.where(out, sink, targets), np.full((1, targets.shape[1]), sink)])
        chain = Chain.of_table(inner, np.where(inner >= 0, 1.0, 0.0))
        classes = [members for members in closed_classes(chain, aside=True) if sink not in members]
        if not classes:
            break
        for members in classes:
            label[left[members]] = n
            n += 1
    return label if n else label + 1
