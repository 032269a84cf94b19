"""Coarser states keep as much information about the future as so many can."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decisional as ds
from decisional.states.coarsening import bits_path
from strategies_symbols import examples


def information(p, weight):
    """Mutual information of state and outcome, in bits, by its definition."""
    prior = [sum(w * row[z] for w, row in zip(weight, p, strict=True)) for z in range(len(p[0]))]
    return sum(
        w * q * math.log2(q / prior[z])
        for w, row in zip(weight, p, strict=True)
        for z, q in enumerate(row)
        if w * q > 0
    )


def pooled(p, weight, groups):
    """Distributions and weights of groups of states."""
    rows, sizes = [], []
    for g in sorted(set(groups)):
        members = [k for k, own in enumerate(groups) if own == g]
        size = sum(weight[k] for k in members)
        rows.append([sum(weight[k] * p[k][z] for k in members) / size for z in range(len(p[0]))])
        sizes.append(size)
    return rows, sizes


@pytest.mark.small
@given(st.integers(0, 2**32 - 1))
@examples(60, 10)
def test_the_pair_that_loses_least_is_merged(seed):
    rng = np.random.default_rng(seed)
    k, n_z = int(rng.integers(1, 7)), int(rng.integers(2, 5))
    p, weight = rng.dirichlet(np.full(n_z, 0.5), k), rng.dirichlet(np.ones(k))
    path = bits_path(p, weight)
    assert path.n_states.tolist() == list(range(k, 0, -1))
    groups = list(range(k))
    for n in range(k, 0, -1):
        assert path.bits[k - n] == pytest.approx(information(*pooled(p.tolist(), weight.tolist(), groups)), abs=1e-9)
        assert len(set(path.groups(n).tolist())) == n
        if n > 1:
            tries = []
            for a, b in combinations(sorted(set(groups)), 2):
                merged = [a if g == b else g for g in groups]
                tries.append((information(*pooled(p.tolist(), weight.tolist(), merged)), merged))
            best = max(value for value, _ in tries)
            groups = path.groups(n - 1).tolist()
            assert information(*pooled(p.tolist(), weight.tolist(), groups)) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("data", ["symbols", "numbers"])
def test_coarse_states_are_unions_of_fine_ones(data):
    rng = np.random.default_rng(1)
    if data == "symbols":
        causal = ds.CausalStates().fit(ds.observe.series(ds.processes.nemo().simulate(5000, rng=1), past=4))
    else:
        x = rng.uniform(-3, 3, 1200)
        causal = ds.CausalStates().fit(x[:, None], np.round(x) + 0.2 * rng.normal(size=1200))
    assert causal.n_states_ > 2
    coarse = causal.coarsen(n_states=2)
    assert coarse.n_states_ == 2
    assert coarse.machine_ is None
    assert causal.states_.refines(coarse.states_)
    assert coarse.states_.probability.tolist() == sorted(coarse.states_.probability, reverse=True)
    assert np.allclose(
        coarse.states_.probability @ coarse.distributions_, causal.states_.probability @ causal.distributions_
    )
    # Labels and new data agree.
    fine, few = causal.predict(causal.observations_), coarse.predict(coarse.observations_)
    assert all(np.unique(few[fine == k]).size == 1 for k in np.unique(fine))
    assert coarse.complexity_ <= causal.complexity_
    if causal.graph_ is not None:
        assert coarse.graph_.n_states == 2
    path = causal.path()
    assert causal.coarsen(bits=0.0).n_states_ == 1
    assert causal.coarsen(bits=float(path.bits[-2])).n_states_ == 2
    assert causal.coarsen(n_states=100).n_states_ == causal.n_states_


def test_refusals():
    causal = ds.CausalStates().fit(ds.observe.series("0110" * 100, past=2))
    for how, said in (
        ({}, "exactly one"),
        ({"n_states": 2, "bits": 1}, "exactly one"),
        ({"n_states": 0}, "'n_states' is 0"),
        ({"bits": 9.0}, "'bits' is 9.0"),
    ):
        with pytest.raises(ValueError, match=said):
            causal.coarsen(**how)
