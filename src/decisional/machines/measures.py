"""Measures of the process that a machine generates, as methods of `EpsilonMachine`; the work is in other modules.

But for C and h, which are those of the states as they are, they are measures of the process: of its causal states, the
recurrent states of the machine once those of equal future are one, from a first state that is drawn from the stationary
distribution. Entropies are in bits.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support import arguments
from . import chains, divergence, spectra, synchronisation
from .mixed_states import SAME, BlockEntropies, MixedStates, block_entropies, closure, labelled
from .reversal import BidirectionalMachine, is_finite, reversed_beliefs
from .synchronisation import Synchronisation
from .transition_graph import StateGraph

if TYPE_CHECKING:
    from .epsilon_machine import EpsilonMachine

Array = NDArray[Any]

# Beliefs that are followed at most, by default.
BELIEFS = 100_000
REVERSE = 2_000


class Measures(StateGraph):
    """What can be said of a unifilar machine in bits and orders."""

    alphabet: tuple[Hashable, ...]
    targets: Array
    emission: Array

    @abstractmethod
    def _process(self) -> tuple[EpsilonMachine, Array]:
        """The causal states of the process, without transient ones, and their stationary probabilities."""

    @abstractmethod
    def _columns(self) -> dict[str, int]:
        """The columns of the symbols in use, by the symbols as they print."""

    def statistical_complexity(self) -> float:
        """Return C, the entropy in bits of the stationary distribution."""
        return float(chains.entropy(self.stationary))

    def entropy_rate(self) -> float:
        """Return h, the entropy of the next symbol given the state, in bits per symbol."""
        return float(self.stationary @ chains.entropy(self.emission))

    def excess_entropy(self, atol: float = 1e-10, with_error: bool = False) -> Any:
        """Return E, the information in bits that the past and the future share.

        Exact up to rounding when the `cryptic_order` is finite, or an observer who does not know the state can hold
        finitely many beliefs; otherwise within `atol`, unless the beliefs are too many: the error tells (see `chains`).

        Parameters
        ----------
        atol : float
            Largest error wanted, in bits.
        with_error : bool
            Return (E, error), the error being a bound in bits, rather than E alone.

        Returns
        -------
        float
            In bits.

        References
        ----------
        J. P. Crutchfield, C. J. Ellison, J. R. Mahoney, Time's barbed arrow: irreversibility, crypticity, and stored
        information, Phys. Rev. Lett. 103 (2009) 094101.
        """
        arguments.real(atol, "atol", least=0, remedy="try atol=1e-9")
        result, error = 0.0, 0.0
        if self.recurrent.any():
            minimal, mass = self._process()
            known = _excess_entropy(minimal.targets, minimal.emission, mass)
            result, error = known or chains.excess_entropy(minimal.targets, minimal.emission, mass, atol)
        return (result, error) if arguments.flag(with_error, "with_error") else result

    def crypticity(self) -> float:
        """Return χ = H[S | future] = C - E in bits: what the causal states hold and the future never shows.

        C is that of the causal states. Cost and error are those of `excess_entropy`.

        References
        ----------
        J. R. Mahoney, C. J. Ellison, J. P. Crutchfield, Information accessibility and cryptic processes, J. Phys. A 42
        (2009) 362002.

        Examples
        --------
        >>> from decisional import processes
        >>> round(processes.golden_mean().crypticity(), 6), round(processes.even().crypticity(), 6)
        (0.666667, 0.0)
        """
        if not self.recurrent.any():
            return 0.0
        return max(float(chains.entropy(self._process()[1])) - float(self.excess_entropy()), 0.0)

    def block_entropies(self, n: int) -> BlockEntropies:
        """Return the entropies of words of L = 0, 1, ..., n symbols: H(L), h(L) = H(L) - H(L - 1) and
        E(L) = H(L) - L h(L).

        Words that leave an observer with the same belief about the state are counted together, so that there may be
        many more of them than beliefs: exact up to rounding for any n where the beliefs are finitely many.

        Parameters
        ----------
        n : int
            Length of the longest words.

        Returns
        -------
        BlockEntropies
            Arrays of shape (n + 1,). Cost: O(n_states² n_symbols) for each belief that n symbols can lead to, 100,000
            at most; longer words are refused then.

        References
        ----------
        J. P. Crutchfield, D. P. Feldman, Regularities unseen, randomness observed: levels of entropy convergence, Chaos
        13 (2003) 25-54.

        Examples
        --------
        >>> from decisional import processes
        >>> processes.golden_mean().block_entropies(3).entropy.round(4)
        array([0.    , 0.9183, 1.585 , 2.2516])
        """
        n = arguments.integer(n, "n", 0, remedy="try n=10")
        machine, mass = self._process()
        found, reached = block_entropies(mass, labelled(machine.targets, machine.emission), n, BELIEFS)
        if reached < n:
            rule = f"at most {reached} for this machine, whose words leave too many beliefs"
            raise ValueError(arguments.refusal("n", n, rule, f"try n={reached}"))
        return found

    def markov_order(self) -> float:
        """Return R, the number of last symbols that always tell the state; `math.inf` if no number does.

        0 for independent symbols. Cost: O(n_states² n_symbols) for each symbol.

        References
        ----------
        R. G. James, J. R. Mahoney, C. J. Ellison, J. P. Crutchfield, Many roads to synchrony: natural time scales and
        their algorithms, Phys. Rev. E 89 (2014) 042135.

        Examples
        --------
        >>> from decisional import processes
        >>> processes.golden_mean().markov_order(), processes.even().markov_order()
        (1, inf)
        """
        return synchronisation.markov_order(self._process()[0].targets)

    def cryptic_order(self) -> float:
        """Return the smallest k such that the state after k symbols is known to who knows all symbols from the first
        one on for ever, H[S_k | X_0 X_1 ...] = 0; `math.inf` if there is none.

        Never above the Markov order, and 0 where `crypticity` is. Cost and reference are those of `markov_order`.

        Examples
        --------
        >>> from decisional import processes
        >>> processes.golden_mean().cryptic_order(), processes.even().cryptic_order(), processes.nemo().cryptic_order()
        (1, 0, inf)
        """
        return synchronisation.cryptic_order(self._process()[0].targets)

    def synchronisation(self) -> Synchronisation:
        """Return how an observer comes to know the state: the shortest word that tells it, the mean time until it is
        known, and the rate at which the probability that it is not known falls.

        Cost: O(n_symbols) for each set of states that is possible after some word and each state in it, which may be
        2^n_states; more than 50,000 of them are refused.

        References
        ----------
        N. F. Travers, J. P. Crutchfield, Exact synchronization for finite-state sources, J. Stat. Phys. 145 (2011)
        1181-1201.

        Examples
        --------
        >>> from decisional import processes
        >>> processes.even().synchronisation()
        Synchronisation(word=(0,), length=1, time=3.333333333333333, rate=0.7071067811865476)
        """
        machine, mass = self._process()
        found = synchronisation.synchronisation(machine.targets, machine.emission, mass, self.alphabet)
        if found is None:
            raise ValueError(
                f"The machine has {machine.n_states} states, of which more than {synchronisation.MOST:,} sets can be "
                "possible; synchronisation() needs fewer: ask for markov_order() instead."
            )
        return found

    def mixed_states(self, atol: float = 1e-12, most: int = 10_000) -> MixedStates:
        """Return the mixed-state presentation: the machine whose states are the beliefs of an observer of the symbols.

        Parameters
        ----------
        atol : float
            Beliefs whose probabilities round to the same multiple of it are one. Where they are infinitely many a
            coarser one makes them finite.
        most : int
            Beliefs to follow; more are refused.

        Returns
        -------
        MixedStates
            `machine` with the beliefs as states, and `beliefs` of shape (machine.n_states, n_states). Cost:
            O(n_states² n_symbols) for each belief.

        References
        ----------
        C. J. Ellison, J. R. Mahoney, J. P. Crutchfield, Prediction, retrodiction, and the amount of information stored
        in the present, J. Stat. Phys. 136 (2009) 1005-1034.

        Examples
        --------
        >>> from decisional import processes
        >>> mixed = processes.even().mixed_states()
        >>> mixed.beliefs.round(3).tolist()
        [[0.667, 0.333], [1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
        >>> mixed.machine.recurrent.tolist()
        [False, True, False, True]
        """
        atol = arguments.real(atol, "atol", least=1e-14, most=0.1, remedy="try atol=1e-6")
        most = arguments.integer(most, "most", remedy="try most=10_000")
        machine, mass = self._process()
        found = closure(mass[None], labelled(machine.targets, machine.emission), most, grid=atol)
        if not found.complete:
            rule = f"enough for all beliefs that differ by more than {atol:g}"
            raise ValueError(arguments.refusal("most", most, rule, "give more, or a larger 'atol'"))
        presentation = machine.from_arrays(found.targets, found.emission, machine.alphabet)
        return MixedStates(presentation, found.beliefs, machine)

    def _reversed(self, atol: float | None, most: int) -> tuple[EpsilonMachine, Array, EpsilonMachine]:
        """The reverse machine, P(S⁺, S⁻) (n_states, n_reverse), and the forward machine."""
        most = arguments.integer(most, "most", remedy=f"try most={REVERSE}")
        machine, mass = self._process()
        if atol is not None:
            atol = arguments.real(atol, "atol", least=SAME, most=0.1, remedy="try atol=1e-6")
        elif not is_finite(machine.targets, machine.emission):
            rule = "a number, as the reversed process has infinitely many states"
            raise ValueError(arguments.refusal("atol", atol, rule, "try atol=1e-6"))
        found = reversed_beliefs(machine.targets, machine.emission, mass, most, atol or SAME)
        if not found.complete:
            rule = "enough for all states of the reversed process"
            raise ValueError(arguments.refusal("most", most, rule, "give more, or a larger 'atol'"))
        weights = np.append(mass, np.zeros(len(found.beliefs) - len(mass)))
        names = range(len(found.beliefs))
        beliefs = machine.from_arrays(found.targets, found.emission, machine.alphabet, names, weights)
        reverse, share = beliefs._process()
        order = np.argsort(-np.round(share, 12), kind="stable")
        members = np.array([int(str(reverse.names[i])) for i in order])
        joint = share[order] * found.beliefs[members].T
        classes = len(chains.closed_classes(machine._chain))
        targets = chains.renumbered(reverse.targets, order)
        kept = (targets, reverse.emission[order], machine.alphabet, state_names(order.size))
        return machine.from_arrays(*kept, None if classes == 1 else share[order]), joint, machine

    def reverse_is_finite(self) -> bool:
        """Tell whether the process has finitely many causal states when it is read backwards.

        Cost: O(n_states² n_symbols). Reference: that of `reverse`.

        Examples
        --------
        >>> from decisional import processes
        >>> processes.rip().reverse_is_finite(), processes.random_machine(4, rng=3).reverse_is_finite()
        (True, False)
        """
        machine = self._process()[0]
        return is_finite(machine.targets, machine.emission)

    def reverse(self, atol: float | None = None, most: int = REVERSE) -> EpsilonMachine:
        """Return the epsilon-machine of the process read backwards; its `statistical_complexity` is C⁻.

        Its states are named A, B, ... by decreasing probability.

        Parameters
        ----------
        atol : float, optional
            A process with finitely many causal states may have infinitely many of them when it is read backwards, which
            is refused by default. With this, states whose beliefs about the forward state round to the same multiple of
            it are one.
        most : int
            Beliefs to follow; more are refused.

        Returns
        -------
        EpsilonMachine
            Recurrent states by decreasing probability.

        Notes
        -----
        Cost: O(n_states² n_symbols) for each belief.

        References
        ----------
        C. J. Ellison, J. R. Mahoney, R. G. James, J. P. Crutchfield, J. Reichardt, Information symmetries in
        irreversible processes, Chaos 21 (2011) 037107.

        Examples
        --------
        >>> from decisional import processes
        >>> processes.rip().reverse()
        EpsilonMachine(4 states, 2 symbols, C = 1.846 bits, h = 0.6 bits/symbol)
        """
        return self._reversed(atol, most)[0]

    def bidirectional(self, atol: float | None = None, most: int = REVERSE) -> BidirectionalMachine:
        """Return the causal states of both directions of time together, with C⁻, C±, the crypticities, oracular
        information, and the parts of a symbol's entropy.

        Parameters, cost and reference are those of `reverse`.

        Returns
        -------
        BidirectionalMachine
            The pairs of forward and reverse states, and their measures.
        """
        reverse, joint, forward = self._reversed(atol, most)
        return BidirectionalMachine(forward, reverse, joint)

    def relative_entropy_rate(self, other: EpsilonMachine) -> float:
        """Return the bits per symbol by which a code made for `other` is longer than need be on symbols of this
        machine: the limit of D(P || Q) / L over words of L symbols.

        0 if both are the same process, and `math.inf` if this one emits words that the other cannot. Symbols are
        compared as they print. Not symmetric.

        Parameters
        ----------
        other : EpsilonMachine

        Returns
        -------
        float
            In bits per symbol; infinite where `other` cannot emit what this machine does.

        Notes
        -----
        Exact. Cost: O(n_states n_other_states n_symbols), and a linear system of the pairs of states.

        References
        ----------
        Z. Rached, F. Alajaji, L. L. Campbell, The Kullback-Leibler divergence rate between Markov sources, IEEE Trans.
        Inf. Theory 50 (2004) 917-921.

        Examples
        --------
        >>> from decisional import processes
        >>> round(processes.golden_mean().relative_entropy_rate(processes.coin()), 6)
        0.333333
        """
        remedy = "compare two machines, such as causal.machine_"
        arguments.require(other, "_process", "other", "an EpsilonMachine", remedy)
        (mine, mass), (theirs, _) = self._process(), other._process()
        columns, others = mine._columns(), theirs._columns()
        used = list(columns.values())
        known = [others.get(symbol, -1) for symbol in columns]
        # What the other cannot emit is a last column without targets.
        targets = np.column_stack([theirs.targets, np.full(theirs.n_states, -1)])[:, known]
        emission = np.column_stack([theirs.emission, np.zeros(theirs.n_states)])[:, known]
        return divergence.relative_entropy_rate(mine.targets[:, used], mine.emission[:, used], mass, targets, emission)

    def _numbers(self, values: ArrayLike | None) -> Array:
        """What the symbols stand for."""
        given = list(self.alphabet) if values is None else values
        rule = f"one number for each of the {len(self.alphabet)} symbols: give 'values'."
        numbers = arguments.as_table(given, "values", f"it must be {rule}", float)
        if numbers.shape != (len(self.alphabet),) or not np.isfinite(numbers).all():
            raise ValueError(arguments.refusal("values", given, rule[:-16], "give them in the order of 'alphabet'"))
        return numbers

    def autocovariance(self, n: int, values: ArrayLike | None = None) -> Array:
        """Return Cov(X_0, X_k) for k = 0, ..., n, shape (n + 1,), the first one being the variance.

        Parameters
        ----------
        n : int
            Largest lag.
        values : n_symbols numbers, optional
            What the symbols stand for, in the order of `alphabet`; by default the symbols themselves.

        Returns
        -------
        array of float
            Cov(X_0, X_k) for k = 0, ..., n.

        Notes
        -----
        Cost: O(n n_states²).

        References
        ----------
        P. M. Riechers, J. P. Crutchfield, Spectral simplicity of apparent complexity, II: exact complexities and
        complexity spectra, Chaos 28 (2018) 033116.

        Examples
        --------
        >>> from decisional import processes
        >>> processes.golden_mean().autocovariance(2).round(4)
        array([ 0.2222, -0.1111,  0.0556])
        """
        n = arguments.integer(n, "n", 0, remedy="try n=10")
        machine, mass = self._process()
        return spectra.autocovariance(machine.targets, machine.emission, mass, self._numbers(values), n)

    def power_spectrum(self, frequencies: ArrayLike, values: ArrayLike | None = None) -> Array:
        """Return the power at frequencies in cycles per symbol, the continuous part of the Fourier transform of
        `autocovariance`; its mean over 0..1 is the variance that is not in lines.

        Parameters
        ----------
        frequencies : array of shape (m,)
        values : as for `autocovariance`

        Returns
        -------
        array of float
            The power at each frequency.

        Notes
        -----
        The lines of periodic processes are left out. Cost: O(n_states³) for each frequency. Reference: that of
        `autocovariance`.

        Examples
        --------
        >>> from decisional import processes
        >>> processes.golden_mean().power_spectrum([0.0, 0.5]).round(4)
        array([0.0741, 0.6667])
        """
        rule = "it must be a list of finite numbers: try frequencies=[0, 0.25, 0.5]."
        wanted = arguments.as_table(frequencies, "frequencies", rule, float)
        if wanted.ndim != 1 or not np.isfinite(wanted).all():
            raise ValueError(f"The 'frequencies' is {arguments.shown(frequencies)}; {rule}")
        machine, mass = self._process()
        return spectra.power_spectrum(machine.targets, machine.emission, mass, self._numbers(values), wanted)


def _excess_entropy(targets: Array, emission: Array, stationary: Array) -> tuple[float, float] | None:
    """E and the error of rounding by H[X_0 ... X_k-1, S_k] = E + h k at the cryptic order k, None where that is
    infinite or takes too many beliefs."""
    order = synchronisation.cryptic_order(targets)
    if math.isinf(order):
        return None
    curves, reached = block_entropies(stationary, labelled(targets, emission), int(order), BELIEFS)
    rate = float(stationary @ chains.entropy(emission))
    return (max(float(curves.with_state[-1]) - reached * rate, 0.0), chains.ROUNDING) if reached == order else None


def state_names(n: int) -> tuple[str, ...]:
    """A, B, ..., Z, then S26, S27, ..."""
    return tuple(chr(65 + i) if i < 26 else f"S{i}" for i in range(n))
