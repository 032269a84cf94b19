"""Causal states of real-valued fields: light cones by codes that the fit learns."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import decisional as ds


def noisy(rule=110, noise=0.2, shape=(220, 200), seed=5):
    """Return a field of an automaton with normal noise, and the clean one."""
    clean = ds.processes.elementary_ca(rule, shape[1], shape[0], rng=seed)[20:]
    return clean + noise * np.random.default_rng(seed).normal(size=clean.shape), clean


def test_states_of_a_noisy_automaton_are_those_of_the_clean_one():
    field, clean = noisy()
    causal = ds.CausalStates().fit(ds.observe.light_cones(field, past=3, future=2))
    exact = ds.CausalStates().fit(ds.observe.light_cones(clean, past=3, future=2))
    assert adjusted_rand_score(exact.labels_, causal.labels_) > 0.7
    assert causal.warning_ is None


@pytest.mark.parametrize("shape", [(150, 120), (30, 24, 26)])
def test_noise_has_one_state(shape):
    field = np.random.default_rng(3).normal(size=shape)
    causal = ds.CausalStates().fit(ds.observe.light_cones(field, past=2, future=2))
    assert causal.n_states_ == 1
