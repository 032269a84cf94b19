"""Exact epsilon-machines of well-known processes, with integer symbols 0, 1, ...

Each function returns the minimal `EpsilonMachine`, to simulate or to compare estimates with. `catalogue` maps
names to functions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..support import arguments
from . import EpsilonMachine

MOST_STATES = 10_000
# Shares of random machines that are connected, below which none would be found in reasonable time.
HOPELESS = 1e-4
# Machines of 14 states take some hundreds of draws, of 20 some thousands.
DRAWS = 50_000


def _inside(name: str, value: float) -> float:
    """A probability that leaves both possible, or ValueError."""
    return arguments.real(value, name, above=0, below=1, remedy="choose a probability, such as 0.5", of="the process")


def _binary(states: Mapping[Any, tuple[float, Hashable, Hashable]]) -> EpsilonMachine:
    """The machine of states: the probability of 1, and the states after a 1 and after a 0, None if it cannot come."""
    rows = [row for a, (p, one, zero) in states.items() for row in ((a, 0, zero, 1.0 - p), (a, 1, one, p))]
    # Some parameters make two states alike, as a perturbed coin with p = 0.5.
    return EpsilonMachine(rows).minimise()


def coin(p: float = 0.5) -> EpsilonMachine:
    """Independent symbols; p is the probability of 1."""
    return _binary({"A": (_inside("p", p), "A", "A")})


def biased_coin(p: float = 0.7) -> EpsilonMachine:
    """Independent symbols, unbalanced by default; p is the probability of 1."""
    return coin(p)


def golden_mean(p: float = 0.5) -> EpsilonMachine:
    """Any sequence without two 1 in a row; p is the probability of 1 after a 0."""
    return _binary({"A": (_inside("p", p), "B", "A"), "B": (0.0, None, "A")})


def even(p: float = 0.5) -> EpsilonMachine:
    """Blocks of 1 of even length between 0; p is the probability that a block starts or goes on.

    Examples
    --------
    >>> even()
    EpsilonMachine(2 states, 2 symbols, C = 0.9183 bits, h = 0.6667 bits/symbol)
    """
    return _binary({"A": (_inside("p", p), "B", "A"), "B": (1.0, "A", None)})


def odd(p: float = 0.5) -> EpsilonMachine:
    """Blocks of 1 of odd length between 0; p is the probability of 1 wherever both symbols may come."""
    p = _inside("p", p)
    return _binary({"A": (p, "B", "A"), "B": (p, "C", "A"), "C": (1.0, "B", None)})


def noisy_period_2(p: float = 0.5) -> EpsilonMachine:
    """A 0 at every other place, a coin between; p is the coin's probability of 1."""
    return _binary({"A": (0.0, None, "B"), "B": (_inside("p", p), "A", "A")})


def perturbed_coin(p: float = 0.25) -> EpsilonMachine:
    """Each symbol repeats the last one or changes; p is the probability of a change."""
    p = _inside("p", p)
    return _binary({"A": (p, "B", "A"), "B": (1.0 - p, "B", "A")})


def periodic(word: str | Sequence[Hashable] = "0011") -> EpsilonMachine:
    """A word repeated for ever; the states are the positions in its shortest period.

    Parameters
    ----------
    word : str or sequence of symbols
        A string of digits gives integer symbols, other words their own characters or items.

    Returns
    -------
    EpsilonMachine
        With one state for each position.

    Examples
    --------
    >>> periodic("0101").n_states
    2
    """
    letters: list[Any] = list(word) if isinstance(word, Iterable) and getattr(word, "ndim", 1) == 1 else []
    if not letters:
        rule = "a sequence of at least one symbol"
        raise ValueError(arguments.refusal("word", word, rule, "give the one to repeat"))
    if isinstance(word, str) and word.isascii() and word.isdigit():
        letters = [int(letter) for letter in word]
    n = len(letters)
    try:
        period = next(k for k in range(1, n + 1) if n % k == 0 and letters[:k] * (n // k) == letters)
    except (TypeError, ValueError):
        rule = "symbols that can be compared, none of them missing"
        raise ValueError(arguments.refusal("word", word, rule, "give the one to repeat")) from None
    return EpsilonMachine([(i, letters[i], (i + 1) % period, 1.0) for i in range(period)])


def z1r(p: float = 0.5) -> EpsilonMachine:
    """Zero, one, random, again and again; p is the probability of 1 at the random place."""
    return _binary({"A": (0.0, None, "B"), "B": (1.0, "C", None), "C": (_inside("p", p), "A", "A")})


def rrxor(p: float = 0.5, q: float = 0.5) -> EpsilonMachine:
    """Two random symbols, then their exclusive or; p and q are the probabilities of 1 of the two."""
    p, q = _inside("p", p), _inside("q", q)
    random = {"S": (p, "s1", "s0"), "s0": (q, "T", "F"), "s1": (q, "F", "T")}
    return _binary({**random, "T": (1.0, "S", None), "F": (0.0, None, "S")})


def rip(p: float = 0.5, q: float = 0.5) -> EpsilonMachine:
    """Random insertion process: after a 0, one more random symbol is inserted before the next 1.

    p is the probability of that 0, q the probability that the inserted symbol is 0.
    """
    p, q = _inside("p", p), _inside("q", q)
    return _binary({"A": (1.0 - p, "C", "B"), "B": (1.0 - q, "C", "C"), "C": (1.0, "A", None)})


def nemo(p: float = 0.5, q: float = 0.5) -> EpsilonMachine:
    """Runs of 1, then two 0 and a random symbol that no finite past or future places for sure.

    p is the probability of 1 in the run, q the probability that the random symbol is 0.
    """
    p, q = _inside("p", p), _inside("q", q)
    return _binary({"A": (p, "A", "B"), "B": (0.0, None, "C"), "C": (1.0 - q, "A", "A")})


def nrps(p: float = 0.5, q: float = 0.5) -> EpsilonMachine:
    """Noisy random phase slip: the pattern 1 0 1 random 0, with any number of 0 before each.

    p is the probability that the pattern starts, q the probability of 1 at its random place.
    """
    p, q = _inside("p", p), _inside("q", q)
    pattern = {"A": (p, "B", "A"), "B": (0.0, None, "C"), "C": (1.0, "D", None)}
    return _binary({**pattern, "D": (q, "E", "E"), "E": (0.0, None, "A")})


def butterfly(p: float = 0.5) -> EpsilonMachine:
    """Two wings of two states each over eight symbols; p is the probability of staying in a wing's state."""
    _inside("p", p)
    rows: list[tuple[Any, ...]] = [("A", 2, "B", 0.5), ("A", 3, "D", 0.5)]
    for state, loop, out, after in (("B", 4, 0, "C"), ("C", 6, 1, "A"), ("D", 5, 0, "E"), ("E", 7, 1, "A")):
        rows += [(state, loop, state, p), (state, out, after, 1.0 - p)]
    return EpsilonMachine(rows).minimise()


def restricted_golden_mean(k: int = 2, p: float = 0.5) -> EpsilonMachine:
    """Every 0 is followed by at least k symbols 1; p is the probability of 1 where both may come."""
    k = arguments.integer(k, "k", most=MOST_STATES, of="the process")
    forced = {i: (1.0, (i + 1) % (k + 1), None) for i in range(1, k + 1)}
    return _binary({0: (_inside("p", p), 0, 1), **forced})


def rk_golden_mean(order: int = 3, cryptic: int = 2, p: float = 0.5) -> EpsilonMachine:
    """A 0 is followed by `order` - 1 more, then by at least `cryptic` symbols 1; p is the probability of 1 where both
    may come.

    Its Markov order is the larger of the two, its cryptic order is `cryptic`: the R-k golden mean of James and others
    (2014), with R = `order` and k = `cryptic`.
    """
    sizes = (order, "order"), (cryptic, "cryptic")
    order, cryptic = (arguments.integer(size, name, most=MOST_STATES, of="the process") for size, name in sizes)
    n = order + cryptic
    forced = {i: (0.0, None, i + 1) if i < order else (1.0, (i + 1) % n, None) for i in range(1, n)}
    return _binary({0: (_inside("p", p), 0, 1), **forced})


def alternating_biased_coins(p: float = 0.75, q: float = 0.25) -> EpsilonMachine:
    """Two coins in turn, with probabilities p and q of 1: no finite word tells whose turn it is."""
    return _binary({"A": (_inside("p", p), "B", "B"), "B": (_inside("q", q), "A", "A")})


def noisy_copy(p: float = 0.5, q: float = 0.5) -> EpsilonMachine:
    """Random noisy copy: a coin, then a 0 after 0, and a coin after 1; p and q are their probabilities of 1."""
    p, q = _inside("p", p), _inside("q", q)
    return _binary({"A": (p, "C", "B"), "B": (0.0, None, "A"), "C": (q, "A", "A")})


def multiples(n: int = 3, p: float = 0.5) -> EpsilonMachine:
    """Blocks of 1 of lengths that are multiples of n between 0; p is the probability that a block starts or goes on.

    n = 2 is the Even process.
    """
    n = arguments.integer(n, "n", most=MOST_STATES, of="the process")
    p = _inside("p", p)
    if n == 1:
        return coin(p)
    return _binary({0: (p, 1, 0), **{i: (1.0, (i + 1) % n, None) for i in range(1, n)}})


def irreversible(p: float = 0.5, q: float = 0.5) -> EpsilonMachine:
    """Two states over three symbols, which emit 0 or 1, and 1 or 2; p and q are their probabilities of staying.

    Backwards it has other causal states (Ellison and others, 2011).
    """
    p, q = _inside("p", p), _inside("q", q)
    return EpsilonMachine([("A", 0, "A", p), ("A", 1, "B", 1.0 - p), ("B", 1, "B", q), ("B", 2, "A", 1.0 - q)])


def ehrenfest(n: int = 5, p: float = 0.5) -> EpsilonMachine:
    """Ehrenfest's urns: one of n balls changes its urn with probability p; symbols are the balls in the first urn."""
    n = arguments.integer(n, "n", most=MOST_STATES, of="the process")
    p = _inside("p", p)
    rows = [(i, j, j, p * share) for i in range(n + 1) for j, share in ((i + 1, (n - i) / n), (i - 1, i / n)) if share]
    return EpsilonMachine([*rows, *((i, i, i, 1.0 - p) for i in range(n + 1))]).minimise()


def ising(coupling: float = 0.5, field: float = 0.2, temperature: float = 1.0) -> EpsilonMachine:
    """Spins in a row, each coupled to its neighbours and to a field, in equilibrium; 1 is up.

    The transfer matrix gives the probabilities (Feldman and Crutchfield, 1998).
    """
    remedy = "try such a number"
    coupling = arguments.real(coupling, "coupling", least=-100, most=100, remedy=remedy, of="the process")
    field = arguments.real(field, "field", least=-100, most=100, remedy=remedy, of="the process")
    temperature = arguments.real(temperature, "temperature", above=0, remedy=remedy, of="the process")
    spin = np.array([-1.0, 1.0])
    energy = (coupling * np.outer(spin, spin) + field * np.add.outer(spin, spin) / 2.0) / temperature
    transfer = np.exp(energy - energy.max())
    vector = np.linalg.eigh(transfer)[1][:, -1]
    p = transfer * vector / (transfer @ vector)[:, None]
    return _binary({i: (float(p[i, 1]), 1, 0) for i in (0, 1)})


def tent_map() -> EpsilonMachine:
    """Whether the tent map with a³ = 2a + 2 is above its middle: four states with h = log2 a, where a = 1.7693 is the
    Misiurewicz parameter of James, Burke and Crutchfield (2014)."""
    root = np.sqrt(19.0 / 27.0)
    a = float(np.cbrt(1.0 + root) + np.cbrt(1.0 - root))
    states = {"D": ((a * a - 2.0) / 2.0, "D", "C"), "C": ((a + 1.0) / (a + 2.0), "D", "A")}
    return _binary({**states, "B": (a / (2.0 * a + 2.0), "A", "C"), "A": (1.0, "B", None)})


def random_machine(n_states: int, n_symbols: int = 2, rng: Any = None, least: float = 0.1) -> EpsilonMachine:
    """Draw a minimal, strongly connected machine that uses all its symbols 0, 1, ...

    Each edge is present with probability 0.7 and leads anywhere; the probabilities of a state are uniform over those
    that are at least `least`. Machines that are not minimal or not strongly connected are drawn again.

    Parameters
    ----------
    n_states, n_symbols : int
    rng : None, int, or numpy Generator
    least : float
        Smallest probability of an edge, at most 1 / n_symbols.

    Returns
    -------
    EpsilonMachine
        Of as many states and symbols.
    """
    sizes = (n_states, "n_states"), (n_symbols, "n_symbols")
    n_states, n_symbols = (arguments.integer(size, name, most=MOST_STATES) for size, name in sizes)
    share = arguments.is_number(least) and 0.0 <= least <= 1.0
    if not share or least * n_symbols > 1.0 or (n_symbols == 1 and n_states > 1):
        raise ValueError(
            f"The 'least' is {arguments.shown(least)} with {n_symbols} symbols; so many probabilities of at least that "
            "must be able to sum to 1, and one symbol makes one state: choose a smaller one or other sizes."
        )
    # Each state has an edge, and is led to.
    if ((1.0 - 0.3**n_symbols) * (1.0 - np.exp(-0.7 * n_symbols))) ** n_states < HOPELESS:
        raise ValueError(
            f"The 'n_states' are {n_states} with {n_symbols} symbols; so many are almost never connected when they are "
            "drawn at random: give fewer states or more symbols."
        )
    generator = arguments.generator(rng)
    for _ in range(DRAWS):
        edges = generator.random((n_states, n_symbols)) < 0.7
        if not edges.any(axis=1).all() or not edges.any(axis=0).all():
            continue
        shares = np.where(edges, generator.exponential(size=edges.shape), 0.0)
        free = 1.0 - least * edges.sum(axis=1, keepdims=True)
        emission = np.where(edges, least + free * shares / shares.sum(axis=1, keepdims=True), 0.0)
        targets = np.where(edges, generator.integers(0, n_states, edges.shape), -1)
        machine = EpsilonMachine.from_arrays(targets, emission, range(n_symbols))
        if machine.recurrent.any() and machine.recurrent_part().minimise().n_states == n_states:
            return machine
    raise ValueError(
        f"The 'n_states' is {n_states} and none of {DRAWS:,} machines that were drawn is minimal and connected with so "
        "many; it must be smaller, or 'n_symbols' larger: try n_states=10."
    )


catalogue: dict[str, Callable[..., EpsilonMachine]] = {
    process.__name__: process
    for process in (
        *(coin, biased_coin, golden_mean, even, odd, noisy_period_2, perturbed_coin, periodic, z1r),
        *(rrxor, rip, nemo, nrps, butterfly, restricted_golden_mean),
        *(alternating_biased_coins, rk_golden_mean, noisy_copy, multiples),
        *(irreversible, ehrenfest, ising, tent_map),
    )
}
