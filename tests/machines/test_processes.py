"""Exact machines against the known answers of tests/answers/exact.json."""

import json
from pathlib import Path

import numpy as np
import pytest

from decisional import EpsilonMachine, processes

EXACT = json.loads((Path(__file__).parents[1] / "answers" / "exact.json").read_text())["processes"]
BUILT = {
    "biased_coin_0.7": processes.biased_coin,
    "perturbed_coin_0.25": processes.perturbed_coin,
    "period_4_0011": processes.periodic,
    "restricted_golden_mean_2": processes.restricted_golden_mean,
}


@pytest.mark.small
@pytest.mark.parametrize("name", EXACT)
def test_known_answers(name):
    exact = EXACT[name]
    built = BUILT.get(name) or processes.catalogue[name]
    from_rows, from_library = EpsilonMachine(exact["rows"]), built()
    assert from_rows.is_isomorphic(from_library)
    assert from_library.is_isomorphic(from_rows, atol=1e-12)
    for machine in (from_rows, from_library):
        assert machine.n_states == exact["n"] == machine.minimise().n_states
        assert machine.statistical_complexity() == pytest.approx(exact["C"], abs=1e-9)
        assert machine.entropy_rate() == pytest.approx(exact["h"], abs=1e-9)
        value, error = machine.excess_entropy(with_error=True)
        assert value == pytest.approx(exact["E"], abs=1e-9)
        assert 0.0 <= error < 1e-9
        assert machine.excess_entropy() == value
        rows = np.unique(np.round(machine.emission, 12), axis=0)
        assert len(rows) == exact.get("one_step_states", len(rows))


@pytest.mark.parametrize("name", processes.catalogue)
def test_symbols_are_integers(name):
    machine = processes.catalogue[name]()
    assert all(type(symbol) is int for symbol in machine.alphabet)
    assert machine.alphabet[:1] == (0,)
    assert machine.simulate(5, rng=0).dtype == np.uint8


@pytest.mark.small
@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_probabilities_outside_are_refused(value):
    for name, function in processes.catalogue.items():
        if name not in ("periodic", "ising", "tent_map"):
            with pytest.raises(ValueError, match="above 0 and below 1"):
                function(p=value)
    two = (processes.alternating_biased_coins, processes.noisy_copy, processes.irreversible)
    for function in (processes.rip, processes.nemo, processes.rrxor, processes.nrps, *two):
        with pytest.raises(ValueError, match="'q'"):
            function(q=value)


@pytest.mark.small
def test_parameters_mean_what_they_say():
    assert processes.coin(0.3).emission.tolist() == [[0.7, 0.3]]
    assert processes.perturbed_coin(0.5).n_states == 1
    assert processes.golden_mean(0.9).predict_proba([0])[0].tolist() == pytest.approx([0.1, 0.9])
    assert processes.restricted_golden_mean(k=4).n_states == 5
    assert processes.restricted_golden_mean(k=1).n_states == 2
    with pytest.raises(ValueError, match="'k'"):
        processes.restricted_golden_mean(k=0)


@pytest.mark.small
def test_periodic_words():
    assert processes.periodic("010101").n_states == 2
    assert processes.periodic("0").n_states == 1
    assert processes.periodic("aab").alphabet == ("a", "b")
    assert processes.periodic([5, 7, 7]).alphabet == (5, 7)
    word = processes.periodic("0012").simulate(8, start=0).tolist()
    assert word == [0, 0, 1, 2, 0, 0, 1, 2]
    with pytest.raises(ValueError, match="'word'"):
        processes.periodic("")


@pytest.mark.small
def test_elementary_ca():
    field = processes.elementary_ca(90, 7, 3, rng=[0, 0, 0, 1, 0, 0, 0])
    assert field.tolist() == [[0, 0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 0, 1, 0]]
    again = processes.elementary_ca(110, 50, 20, rng=3)
    assert again.shape == (20, 50)
    np.testing.assert_array_equal(again, processes.elementary_ca(110, 50, 20, rng=3))
    # Rule 110: the cell survives unless its neighbourhood is 111, 100 or 000.
    left, middle, right = np.roll(again[:-1], 1, axis=1), again[:-1], np.roll(again[:-1], -1, axis=1)
    np.testing.assert_array_equal(again[1:], (middle | right) & ~(left & middle & right) & 1)
    for wrong in ({"rule": 256}, {"width": 0}, {"steps": 0}):
        with pytest.raises(ValueError, match=f"'{next(iter(wrong))}'"):
            processes.elementary_ca(**({"rule": 1, "width": 2, "steps": 2} | wrong))
    with pytest.raises(ValueError, match="first row"):
        processes.elementary_ca(1, 3, 2, rng=[0, 1])
