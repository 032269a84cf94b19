"""Events: the naive twin along series, rows and symbols."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_decisions as naive
from decisional import utility
from decisional.decisions import events
from strategies import machines_and_symbols


def as_list(found):
    return list(zip(found.position.tolist(), found.cause_before.tolist(), found.cause_after.tolist(), strict=True))


def kinds(choice, level):
    yield {"by": "decision"}, choice.states_.labels
    yield {"by": "prediction"}, choice.iso_prediction_.labels
    yield {"by": "utility"}, choice.iso_utility_.labels
    yield {"level": level}, [int(u >= level) for u in choice.utility_]


def runs(obs, causes):
    """Causes and positions of each sequence of observations that follow one another."""
    part = []
    for i in range(obs.n):
        part.append(i)
        if obs.successor[i] < 0:
            yield causes[part].tolist(), obs.site[part].tolist()
            part = []


@pytest.fixture(scope="module")
def series():
    """Several sequences of the golden mean process, of different lengths."""
    parts = [ds.processes.golden_mean().simulate(n, rng=n).tolist() for n in (400, 7, 4, 900, 250)]
    return ds.CausalStates().fit(ds.observe.series(parts, past=3))


@pytest.mark.parametrize("initial", [False, True])
def test_along_series(series, initial):
    choice = ds.DecisionalStates(utility.zero_one()).fit(series)
    obs = series.observations_
    causes = series.states_.labels[obs.x]
    assert len(list(runs(obs, causes))) >= 4
    level = float(np.sort(choice.utility_)[-1])
    for how, labels in kinds(choice, level):
        wanted = [e for part, site in runs(obs, causes) for e in naive.events(part, labels, site, initial)]
        found = choice.events(initial=initial, **how)
        assert as_list(found) == wanted
        assert found.after.tolist() == [labels[e[2]] for e in wanted]
        assert found.before.tolist() == [labels[e[1]] if e[1] >= 0 else -1 for e in wanted]
        assert len(found) == len(wanted) > 0


def test_no_events_across_sequences():
    """Each sequence is constant: nothing ever changes inside one."""
    causal = ds.CausalStates(constraints="none").fit(ds.observe.series([[0] * 50, [1] * 50, [0] * 50], past=2))
    choice = ds.DecisionalStates(utility.zero_one()).fit(causal)
    assert causal.n_states_ == 2
    assert len(choice.events()) == 0
    assert [e.before for e in choice.events(initial=True)] == [-1, -1, -1]


def test_on_new_series(series):
    choice = ds.DecisionalStates(utility.zero_one()).fit(series)
    new = ds.observe.series([ds.processes.golden_mean().simulate(n, rng=n).tolist() for n in (300, 20)], past=3)
    causes = series.predict(new)
    wanted = [e for part, site in runs(new, causes) for e in naive.events(part, choice.states_.labels, site, True)]
    assert as_list(choice.events(new, initial=True)) == wanted
    assert np.array_equal(choice.events(series.observations_).position, choice.events().position)


@pytest.mark.small
@given(machines_and_symbols(max_states=4), st.booleans())
@settings(deadline=None)
def test_along_symbols(case, initial):
    """Also impossible and foreign symbols: where the state is not known, what was known last stands."""
    machine, symbols = case
    symbols = [s for s in symbols if s in machine.alphabet]
    choice = ds.DecisionalStates(utility.zero_one()).fit(machine)
    causes = machine.filter(symbols).tolist()
    for how, labels in kinds(choice, 0.6):
        found = choice.events(symbols, initial=initial, **how)
        assert as_list(found) == naive.events(causes, labels, initial=initial)


def test_impossible_symbols():
    choice = ds.DecisionalStates(utility.zero_one()).fit(ds.processes.golden_mean())
    found = choice.events([1, 1, 0, 0, 1, 1, 1, 0], initial=True)
    machine = choice.machine_
    assert as_list(found) == naive.events(
        machine.filter([1, 1, 0, 0, 1, 1, 1, 0]).tolist(), choice.states_.labels, None, True
    )


@pytest.mark.small
@given(st.lists(st.integers(-1, 3), max_size=12), st.integers(-1, 3))
@settings(deadline=None)
def test_changes_in_pieces(causes, last):
    """A sequence may come in pieces: what was known last is handed on."""
    labels = np.array([0, 1, 1, 2])
    whole = events.changes_in_sequence(np.array(causes, np.int64), labels, last)
    half = len(causes) // 2
    first = np.array(causes[:half], np.int64)
    known = first[first >= 0]
    middle = int(known[-1]) if known.size else last
    one = events.changes_in_sequence(first, labels, last)
    two = events.changes_in_sequence(np.array(causes[half:], np.int64), labels, middle)
    joined = [
        np.concatenate([one[0], two[0] + half]),
        *(np.concatenate(pair) for pair in zip(one[1:], two[1:], strict=True)),
    ]
    assert all(np.array_equal(a, b) for a, b in zip(whole, joined, strict=True))


def test_one_event_as_a_person_reads_it():
    choice = ds.DecisionalStates([[0, -1], [-2, 1]]).fit(ds.processes.golden_mean())
    found = choice.events([0, 1, 0, 0], initial=True)
    first, second, third = found
    assert (first.position, first.before, first.predictions_before) == (0, -1, None)
    assert np.isnan(first.utility_before)
    assert second.position == 1
    assert second.after != first.after == third.after
    assert second.predictions_before == first.predictions_after
    assert second.utility_before == first.utility_after
    assert str(second).startswith("1: ")
    assert "(was " in str(second)
    assert "(was " not in str(first)
    assert str(found) == "\n".join(map(str, [first, second, third]))
    assert len(found[1:]) == 2
    assert list(found[1:]) == [second, third]
    assert found[-1] == third
    tie = ds.DecisionalStates(utility.zero_one()).fit(ds.processes.golden_mean())
    assert "0 or 1" in str(tie.events([0, 1, 0]))


def test_along_rows():
    """Rows without successors are taken in their order."""
    X = np.repeat([[0], [1], [0]], 40, axis=0)
    z = np.repeat([0, 1, 0], 40)
    choice = ds.DecisionalStates(utility.zero_one()).fit(ds.CausalStates().fit(X, z))
    assert choice.events().position.tolist() == [40, 80]
    assert choice.events(initial=True).position.tolist() == [0, 40, 80]


def test_refused(series):
    choice = ds.DecisionalStates(utility.zero_one()).fit(series)
    with pytest.raises(ValueError, match="'by' of events is 'state'; it must be one of 'decision', 'predic"):
        choice.events(by="state")
    machine = ds.DecisionalStates(utility.zero_one()).fit(ds.processes.even())
    with pytest.raises(ValueError, match="'X' of events is missing"):
        machine.events()
    with pytest.raises(TypeError, match="'symbols' are EpsilonMachine"):
        machine.events(ds.processes.even())
    with pytest.raises(ValueError, match="A machine was fitted, which follows symbols"):
        machine.events(series.observations_)
    for level in (np.nan, "high", True):
        with pytest.raises(ValueError, match=r"'level' of events is .*; it must be a number"):
            choice.events(level=level)


@pytest.mark.parametrize("rows", [["a", "?", "b", "a"], ["?", "b", "a"]])
def test_what_was_known_last_stands(rows):
    causal = ds.CausalStates().fit(ds.observe.pairs(["a", "b"] * 50, [0, 1] * 50, symbols=["s"] * 100))
    choice = ds.DecisionalStates(utility.zero_one()).fit(causal)
    new = ds.observe.pairs(rows, [0] * len(rows), symbols=["s"] * len(rows))
    causes = causal.predict(new).tolist()
    assert -1 in causes
    assert as_list(choice.events(new, initial=True)) == naive.events(causes, choice.states_.labels, None, True)
