"""Renaming the symbols changes no states."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
from decisional.states import neutral
from decisional.states.distributions import Counts


def together(labels: object, others: object) -> bool:
    """Whether two labellings put the same elements together."""
    pairs = set(zip(list(labels), list(others), strict=True))  # type: ignore[call-overload]
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def series(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Noise, a random machine or a noisy word; a permutation of its symbols; a length of past."""
    rng = np.random.default_rng([77, seed])
    k, n = int(rng.integers(2, 6)), int(rng.choice([30, 100, 300, 1000]))
    if seed % 3 == 0:
        symbols = rng.integers(0, k, n)
    elif seed % 3 == 1:
        machine = ds.processes.random_machine(int(rng.integers(2, 7)), k, rng)
        symbols = np.asarray(machine.simulate(n, rng=rng)).astype(int)
    else:
        symbols = np.resize(rng.integers(0, k, int(rng.integers(2, 12))), n)
        wrong = rng.random(n) < 0.1
        symbols[wrong] = rng.integers(0, k, wrong.sum())
    return symbols, np.roll(np.arange(k), 1) if seed % 2 else np.arange(k)[::-1], int(rng.integers(1, 5))


@pytest.mark.small
@settings(max_examples=60, deadline=None)
@given(
    symbols=st.lists(st.integers(0, 2), min_size=12, max_size=80), past=st.integers(1, 3), order=st.permutations("012")
)
def test_names_change_no_causal_states(symbols: list[int], past: int, order: list[str]) -> None:
    one, other = (
        ds.CausalStates(density=Counts(min_count=2)).fit(ds.observe.series(data, past))
        for data in (symbols, [order[s] for s in symbols])
    )
    assert together(one.labels_, other.labels_)
    assert one.complexity_ == pytest.approx(other.complexity_, abs=1e-12)
    # Equally probable states may be numbered otherwise only where counts do not tell them apart.
    if np.unique(np.bincount(one.labels_)).size == one.n_states_:
        assert one.labels_.tolist() == other.labels_.tolist()


def test_names_change_no_states_of_series() -> None:
    for seed in range(60):
        symbols, name, past = series(seed)
        one, other = (ds.CausalStates().fit(ds.observe.series(data, past)) for data in (symbols, name[symbols]))
        assert together(one.labels_, other.labels_), seed


def test_names_change_no_machine() -> None:
    for seed in range(12):
        symbols, name, _ = series(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            one, other = ds.epsilon_machine(symbols[:300]), ds.epsilon_machine(name[symbols[:300]])
        old = np.argsort(name)
        rows = [(a, int(old[x]), b, p) for a, x, b, p in other.transitions()]
        assert one.is_isomorphic(ds.EpsilonMachine(rows, alphabet=one.alphabet)), seed


def test_names_change_no_states_of_fields() -> None:
    for seed in range(4):
        field = ds.processes.elementary_ca(110, 40, 40, rng=seed)
        one, other = (ds.CausalStates().fit(ds.observe.light_cones(data, 2, 2)) for data in (field, 1 - field))
        assert np.ravel(one.labels_).tolist() == np.ravel(other.labels_).tolist()


@pytest.mark.small
def test_equally_frequent_symbols_are_told_apart_by_what_they_are_with() -> None:
    # All come equally often, but only a follows itself.
    obs = ds.observe.series(list("aabcbc" * 10), 1)
    found = neutral.Neutral.of(obs, Counts(min_count=1).estimate(obs))
    again = ds.observe.series(list("zzxyxy" * 10), 1)
    renamed = neutral.Neutral.of(again, Counts(min_count=1).estimate(again))
    places = [np.arange(3) if one is None else one.letters for one in (found, renamed)]
    assert places[0].tolist() == places[1][[2, 0, 1]].tolist()


def test_names_change_nothing_of_cssr() -> None:
    for seed in range(60):
        symbols, name, past = series(seed)
        one, other = (ds.baselines.cssr(data, past) for data in (symbols, name[symbols]))
        old = np.argsort(name)
        rows = [(a, int(old[x]), b, p) for a, x, b, p in other.transitions()]
        assert one.is_isomorphic(ds.EpsilonMachine(rows, alphabet=one.alphabet)), seed
