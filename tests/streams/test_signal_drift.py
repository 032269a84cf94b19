"""Drift of signals: the test of places and its twin; level, spread and dynamics; learning anew, files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decisional as ds
from decisional._kernels import value_drift
from decisional.streams.signal_learner import BORDERS, LEAN, LIMITS, MOST, PRIOR, SCORES, SHARE, TRUST, PlaceTest
from naive_value_drift import Places
from strategies_symbols import examples


@pytest.mark.small
@examples(60, 10)
@given(st.integers(0, 2**32 - 1), st.integers(1, 120), st.integers(0, 3), st.sampled_from([2.0, 50.0, 1e9]))
def test_places_are_compared_as_the_twin_does(seed, n, n_states, bound):
    rng = np.random.default_rng(seed)
    letters = rng.choice(PRIOR.size, n, p=PRIOR) if rng.random() < 0.5 else rng.choice([0, 4, 9], n)
    letters = np.where(rng.random(n) < rng.choice([0.0, 0.02, 0.1]), -1, letters)
    states = rng.integers(-1, n_states, n)
    limits = LIMITS / 16
    twin = Places(PRIOR.tolist(), TRUST, LEAN, SHARE, limits.tolist(), bound, MOST, BORDERS, SCORES)
    test = PlaceTest(n_states, ds.Adapt())
    state = tuple(getattr(test, name) for name in test.STATE)
    taken, lost, cut = 0, False, int(rng.integers(0, n + 1))
    for part in (slice(0, cut), slice(cut, n)):
        if not lost:
            fixed = part.start, bound, MOST, PRIOR, TRUST, LEAN, SHARE, limits, BORDERS, SCORES
            m, lost = value_drift.test(letters[part], states[part], *fixed, *state)
            taken += m
    given_up = next(
        (t for t in range(n) if twin.take(None if letters[t] < 0 else int(letters[t]), int(states[t]), t)), None
    )
    assert taken == (n if given_up is None else given_up + 1)
    assert lost == (given_up is not None)
    assert test.levels[0] == pytest.approx(twin.ratio, rel=1e-9)
    assert test.marks.tolist() == [twin.since, twin.half]
    known = twin.letters[: -test.last.size - 1 : -1]
    assert test.last.tolist() == known + [-1] * (test.last.size - len(known))
    assert test.weights == pytest.approx(twin.weights, rel=1e-9)
    rules = [[np.append(rule.coefficients, rule.spread) for rule in kind] for kind in twin.rules]
    assert test.rules == pytest.approx(np.array(rules), rel=1e-7, abs=1e-9)
    assert test.is_possible()


def autoregression(n, seed, phi=0.7, sd=1.0):
    rng = np.random.default_rng(seed)
    x = np.zeros(n)
    e = sd * rng.normal(size=n)
    for t in range(1, n):
        x[t] = phi * x[t - 1] + e[t]
    return x


def tent(n, seed):
    rng = np.random.default_rng(seed)
    x, found = rng.random(), np.empty(n)
    for t in range(n):
        x = 1.9 * min(x, 1.0 - x)
        found[t] = x
    return found + 0.05 * rng.normal(size=n)


def regimes(n, seed, stay=0.95, sd=0.2, low=0.0):
    rng = np.random.default_rng(seed)
    return low + np.cumsum(rng.random(n) > stay) % 2 + sd * rng.normal(size=n)


@pytest.fixture(scope="module")
def smooth():
    causal = ds.CausalStates().fit(ds.observe.delays(autoregression(2000, 7100), past=1))
    return ds.DecisionalStates(ds.utility.alarm(1.0, missed=2, false=1)).fit(causal)


@pytest.fixture(scope="module")
def stepped():
    return ds.DecisionalStates(ds.utility.alarm(0.5, missed=1, false=1)).fit(ds.epsilon_machine(regimes(1500, 7101)))


# Values until the change is told, at most: benchmarks/signal_drift.py measures how long it takes.
SMOOTH = {
    "level": (autoregression(4000, 7103) + 2.0, 2000),
    "spread": (autoregression(4000, 7104, sd=2.0), 300),
    "dynamics": (autoregression(4000, 7105, phi=0.0, sd=1.4), 1000),
}
STEPPED = {
    "level": (regimes(4000, 7106, low=0.4), 300),
    "spread": (regimes(4000, 7107, sd=0.4), 1000),
    "dynamics": (regimes(4000, 7108, stay=0.7), 1000),
}


@pytest.mark.parametrize("what", SMOOTH)
def test_drift_of_causal_states_is_told(smooth, what):
    _told(smooth, autoregression(3000, 7102), *SMOOTH[what])


@pytest.mark.parametrize("what", STEPPED)
def test_drift_of_a_machine_with_levels_is_told(stepped, what):
    _told(stepped, regimes(3000, 7109), *STEPPED[what])


def test_a_change_of_rhythm_is_told():
    """Values stay where they were; only their order over several steps is another."""

    def sine(n, seed, period):
        noise = 0.25 * np.random.default_rng(seed).normal(size=n)
        return np.sin(2 * np.pi * np.arange(n) / period) + noise

    causal = ds.CausalStates().fit(ds.observe.delays(sine(500, 7113, 10), past=3))
    choice = ds.DecisionalStates(ds.utility.alarm(0.8, missed=2, false=1)).fit(causal)
    monitor = ds.Monitor(choice, adapt=ds.Adapt())
    assert not [event for event in monitor.feed(sine(3000, 7114, 10)) if isinstance(event, ds.Change)]
    assert any(isinstance(event, ds.Change) for event in monitor.feed(sine(1000, 7115, 8)))


def test_faults_that_a_model_always_had_are_no_drift():
    """Those of states that few values were learnt from are found in time, by long memories as soon as by short ones."""
    causal = ds.CausalStates().fit(ds.observe.delays(tent(500, 109), past=1))
    choice = ds.DecisionalStates(ds.utility.alarm(0.8, missed=2, false=1)).fit(causal)
    events = ds.Monitor(choice, adapt=ds.Adapt()).feed(tent(15_000, 409))
    assert not [event for event in events if isinstance(event, ds.Change)]


def _told(choice, before, after, most):
    monitor = ds.Monitor(choice, adapt=ds.Adapt())
    assert not [event for event in monitor.feed(before) if isinstance(event, ds.Change)]
    events = monitor.feed(after)
    change = next(event for event in events if isinstance(event, ds.Change))
    assert before.size <= change.position < before.size + most
    assert change.bits > 29.0
    refit = next(event for event in events if isinstance(event, ds.Refit))
    assert refit.position > change.position
    assert not monitor.learning
    assert refit.since <= change.position
    # New states fit: they are not given up again.
    again = [event for event in events if isinstance(event, ds.Change)]
    assert len(again) == 1
    assert f"since {refit.since}" in str(refit)


def test_a_file_keeps_what_was_learnt(smooth, stepped, tmp_path):
    for choice, drifted, cuts in ((smooth, SMOOTH["spread"][0], (101, 1300)), (stepped, STEPPED["level"][0], (1,))):
        values = drifted[:2000].copy()
        values[[100, 101, 900]] = np.nan
        whole = list(map(str, ds.Monitor(choice, adapt=ds.Adapt(window=2000)).feed(values)))
        assert any("no longer fits" in event for event in whole)
        for cut in cuts:
            first = ds.Monitor(choice, adapt=ds.Adapt(window=2000))
            events = list(map(str, first.feed(values[:cut])))
            first.save(tmp_path / "monitor.json")
            second = ds.Monitor.load(tmp_path / "monitor.json")
            assert second.same_model(ds.Monitor(choice, adapt=ds.Adapt(window=2000)))
            assert [*events, *map(str, second.feed(values[cut:]))] == whole


def test_a_file_with_another_test_begins_a_new_one(smooth, tmp_path, monkeypatch):
    monitor = ds.Monitor(smooth, adapt=ds.Adapt(window=2000))
    monitor.feed(autoregression(500, 7116))
    with monkeypatch.context() as earlier:
        earlier.setattr(PlaceTest, "STATE", PlaceTest.STATE[:6])
        monitor.save(tmp_path / "monitor.json")
    again = ds.Monitor.load(tmp_path / "monitor.json")
    drifted, most = SMOOTH["spread"]
    assert not [event for event in again.feed(autoregression(3000, 7117)) if isinstance(event, ds.Change)]
    assert any(isinstance(event, ds.Change) for event in again.feed(drifted[:most]))


def test_pushed_values_are_learnt_from_like_fed_ones(stepped):
    values = np.concatenate([regimes(50, 7110), STEPPED["level"][0][:1300]])
    fed, pushed = (ds.Monitor(stepped, adapt=ds.Adapt()) for _ in range(2))
    one = [str(event) for value in values.tolist() if (event := pushed.push(value)) is not None]
    assert one == list(map(str, fed.feed(values)))
    assert any("no longer fits" in event for event in one)


def test_what_cannot_drift_is_refused(smooth):
    with pytest.raises(ValueError, match="states of numbers are learnt from a window"):
        ds.Monitor(smooth, adapt=ds.Adapt(forget=1000))
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    pairs = ds.CausalStates().fit(x, np.sign(x[:, 0]) + 0.1 * rng.normal(size=300))
    choice = ds.DecisionalStates(ds.utility.squared_error()).fit(pairs)
    with pytest.raises(ValueError, match="drift is found where the outcomes are values of the stream"):
        ds.Monitor(choice, adapt=ds.Adapt())


def test_a_continuum_is_waited_out(stepped):
    monitor = ds.Monitor(stepped, adapt=ds.Adapt(window=1500))
    drifted = 3.0 + autoregression(1200, 7111, phi=0.9)
    told = monitor.feed(drifted)
    assert [type(event) for event in told if not isinstance(event, ds.Event)] == [ds.Change]
    assert monitor.learning
    later = monitor.feed(regimes(6000, 7112, low=5.0))
    assert any(isinstance(event, ds.Refit) for event in later)
    assert not monitor.learning
