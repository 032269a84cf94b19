"""Sizes and numbers that no computer holds, and things given in place of others: one sentence, at once."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import decisional as ds
from decisional.machines import known_processes

NOISE = np.random.default_rng(0).normal(size=300)
FIELD = np.zeros((10, 10), int)
PAIRS = ds.CausalStates().fit([[1, 2], [3, 4]], [0, 1])
OBS = ds.observe.series("0110" * 50, past=3)


def signal(values: Any, **options: Any) -> Any:
    return ds.CausalStates(**options).fit(ds.observe.delays(values, past=2))


def spoilt(value: float) -> Any:
    values = NOISE.copy()
    values[5] = value
    return values


CASES = {
    "one large value": (lambda: signal(spoilt(1e200)), "'signal' has values of up to 1e\\+200, whose squares"),
    "large values": (lambda: signal(NOISE * 1e200), "'signal' has values of up to"),
    "small values": (lambda: signal(NOISE * 1e-200), "'signal' has values of up to"),
    "narrow kernel": (lambda: signal(NOISE, density=ds.Kernels(1e-300)), "'bandwidth' of Kernels is 1e-300"),
    "wide threshold": (lambda: signal(NOISE, match=ds.Bhattacharyya(1.5)), "'threshold' of Bhattacharyya is 1.5"),
    "targets": (lambda: ds.EpsilonMachine.from_arrays([[-2]], [[1.0]], ["a"]), "'targets' of state 0"),
    "squares": (lambda: ds.DecisionalStates(ds.utility.squared_error([1e308])).fit(ds.processes.even()), "1e\\+308"),
    "machine": (lambda: ds.processes.random_machine(True), "'n_states' is True"),
    "ragged rows": (lambda: ds.CausalStates().fit([[1, 2], [3]], [0, 1]), "'X' is list with rows of \\[1, 2\\]"),
    "ragged series": (lambda: ds.ComplexityFeatures().fit_transform([[[1, 2], [3]]]), "'X\\[0\\]' is list with rows"),
    "ragged rows later": (lambda: PAIRS.predict([[1, 2], [3]]), "'X' is list with rows of \\[1, 2\\]"),
    "series of no end": (lambda: ds.processes.even().simulate(2**60), "The 'n' is 1152921504606846976"),
    "states of no end": (lambda: ds.processes.random_machine(2**40), "The 'n_states' is 1099511627776"),
    "field of no end": (lambda: ds.processes.elementary_ca(110, 10, 2**62), "The 'steps' is 4611686018427387904"),
    "path of values": (lambda: ds.write_values(PAIRS, "a\0b.npy"), "it must be a name without NUL"),
    "path of a model": (lambda: ds.EpsilonMachine.load("a\0b"), "it must be a name without NUL"),
    "path of a monitor": (lambda: ds.Monitor.load("a\0b"), "it must be a name without NUL"),
    "path": (lambda: ds.read("a\0b"), "it must be a name without NUL"),
    "save": (lambda: ds.processes.even().save("a\0b"), "it must be a name without NUL"),
    "deep cones": (lambda: ds.observe.light_cones(FIELD, 3000, 2), "together need 3001"),
    "endless cones": (lambda: ds.observe.light_cones(FIELD, 2**64, 2), "together need 18446744073709551617"),
    "fast cones": (lambda: ds.observe.light_cones(FIELD, 2, 2, speed=10**9), "cones that reach 1000000000 cells"),
    "block": (lambda: ds.observe.image(FIELD, block=1000001), "'block' is 1000001 and the smallest side"),
    "long past": (lambda: ds.observe.series("01" * 50, 2**63), "no window of past \\+ future = 9223372036854775809"),
    "longer past": (lambda: ds.observe.series("01" * 50, 10**8), "no window of past \\+ future = 100000001"),
    "many delays": (lambda: ds.observe.delays(NOISE, 2**63), "'past' is 9223372036854775808"),
    "density": (lambda: ds.CausalStates(density=ds.Counts).fit(OBS), "'density' of CausalStates is <class"),
    "match": (lambda: ds.CausalStates(match=ds.GTest).fit(OBS), "'match' is <class"),
    "cluster": (lambda: ds.CausalStates(cluster=ds.clustering.Connect).fit(OBS), "'cluster' is <class"),
    "utility": (lambda: ds.DecisionalStates(ds.utility.zero_one).fit(ds.processes.even()), "call zero_one\\(...\\)"),
    "executor": (lambda: ds.CausalStates().fit(OBS, executor=5), "'executor' is 5"),
}


@pytest.mark.parametrize("name", CASES)
def test_one_sentence_at_once(name: str) -> None:
    call, said = CASES[name]
    tracemalloc.start()
    with pytest.raises((ValueError, TypeError), match=said) as caught:
        call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "\n" not in str(caught.value)
    # Nothing was built before the refusal; kernels may be compiled on the way.
    assert peak < 100_000_000


def test_machines_that_are_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_processes, "DRAWS", 20)
    with pytest.raises(ValueError, match="The 'n_states' is 20 and none of 20 machines"):
        ds.processes.random_machine(20, rng=1)
    with pytest.raises(ValueError, match="The 'n_states' are 40 with 2 symbols; so many are almost never connected"):
        ds.processes.random_machine(40, rng=1)


def test_values_are_not_written_by_what_takes_no_work(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="The 'executor' is 5"):
        ds.write_values(ds.CausalStates().fit(OBS), tmp_path / "labels.npy", executor=5)
    assert not list(tmp_path.iterdir())
