"""What decisions brought, beside others: standard errors, persistence, autoregression, P(Z|x); honest expectations."""

import copy
import pickle

import numpy as np
import pytest
from scipy.stats import norm

import decisional as ds
from decisional import utility
from decisional.decisions.autoregression import Autoregression
from decisional.decisions.cross_fitting import cross_fitted, few_values
from decisional.decisions.regret import block_error, certain, signal_of, utilities_of


def autoregressive(n, seed, coefficient=(0.6, 0.3), mean=0.0):
    rng = np.random.default_rng(seed)
    values = np.zeros(n + 100)
    for t in range(len(coefficient), n + 100):
        values[t] = sum(a * values[t - k - 1] for k, a in enumerate(coefficient)) + rng.normal()
    return values[100:] + mean


@pytest.fixture(scope="module")
def forecast():
    signal = autoregressive(900, 7, (0.8,), 10.0)
    causal = ds.CausalStates(match=ds.Bhattacharyya(0.3)).fit(ds.observe.delays(signal[:600], past=2))
    return causal, signal


# ------------------------------------------------------------------------------------------------------- regret


@pytest.mark.small
def test_a_regret_is_three_numbers_and_more():
    symbols = ds.processes.even().simulate(2_000, rng=1)
    choice = ds.DecisionalStates(utility.zero_one()).fit(ds.processes.even())
    regret = choice.regret(symbols)
    obtained, fixed, perfect = regret
    assert (obtained, fixed, perfect) == (regret.obtained, regret.best_fixed, regret.perfect)
    assert 0 < regret.error < 0.05
    for same in (copy.copy(regret), copy.deepcopy(regret), pickle.loads(pickle.dumps(regret))):
        assert same == regret
        assert same.persistence == regret.persistence
    text = str(regret)
    assert "as if the last value came again" in text
    assert "autoregression" not in text
    assert set(regret.rivals()) == {"always the same", "as if the last value came again", "by P(Z|x) of each x"}
    assert regret.ar is None


def test_errors_over_blocks_know_that_neighbours_are_alike():
    means, errors = [], []
    for seed in range(200):
        values = autoregressive(900, 5000 + seed, (0.7,))
        means.append(values.mean())
        errors.append(block_error(values))
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.25)
    assert np.mean(errors) > 1.7 * np.sqrt(1 / (1 - 0.49) / 900)
    independent = [block_error(np.random.default_rng(seed).normal(size=400)) for seed in range(100)]
    assert np.mean(independent) == pytest.approx(0.05, rel=0.1)
    assert np.isnan(block_error(np.ones(1)))


def test_rivals_of_symbols():
    symbols = ds.processes.golden_mean().simulate(3_000, rng=4)
    causal = ds.CausalStates().fit(ds.observe.series(symbols[:2000], past=3))
    choice = ds.DecisionalStates(utility.zero_one()).fit(causal)
    new = ds.observe.series(symbols[2000:], past=3)
    z = np.array(symbols[2003:])
    for regret, last, happened in (
        (choice.regret(new), np.array(symbols[2002:-1]), z),
        (choice.regret(symbols[2000:]), np.array(symbols[2000:-1]), np.array(symbols[2001:])),
    ):
        assert regret.persistence.utility == pytest.approx(np.mean(last == happened))
        assert regret.persistence.gain == pytest.approx(regret.persistence.utility - regret.obtained)
        common = np.bincount(symbols[:2000]).argmax()
        assert regret.fixed.utility == pytest.approx(np.mean(happened == common))
        assert (regret.by_x.gain, regret.by_x.error, regret.by_x.differ) == (0.0, 0.0, 0.0)
        assert regret.ar is None
    assert choice.score(new) == choice.regret(new, against=()).obtained
    assert choice.regret(new, against=()).rivals() == {}
    with pytest.raises(ValueError, match="'against' of regret is 'luck'; it must be one of 'fixed', "):
        choice.regret(new, against=["luck"])


def test_rivals_of_a_signal(forecast):
    causal, signal = forecast
    worth = utility.newsvendor(3, 1)
    choice = ds.DecisionalStates(worth, indifference=0.05).fit(causal)
    new = ds.observe.delays(signal[600:], past=2)
    regret = choice.regret(new)
    z, last = signal[602:], signal[601:-1]

    def cost(y):
        return np.mean(3 * np.maximum(z - y, 0) + np.maximum(y - z, 0))

    assert regret.persistence.utility == pytest.approx(-cost(last))
    assert regret.fixed.utility == pytest.approx(-cost(choice._choices()[-1]))
    assert regret.obtained == pytest.approx(-cost(choice.decide(new).astype(float)))
    assert regret.by_x.utility == pytest.approx(-cost(choice.decide(new, by="x").astype(float)))
    assert regret.by_x.differ > 0.5
    assert regret.expected == pytest.approx(choice.utility_[causal.predict(new)].mean())
    model = Autoregression.fit(signal[:600])
    wanted = model.forecast(np.stack([signal[601 - k : signal.size - 1 - k] for k in range(12)], axis=1))
    assert regret.ar.utility == pytest.approx(-cost(wanted + model.sigma * norm.ppf(0.75)), rel=0.01)
    # The truth is an autoregression.
    assert regret.ar.gain > -regret.ar.error


def test_decisions_by_x_are_those_of_its_distribution(forecast):
    causal, signal = forecast
    new = ds.observe.delays(signal[600:700], past=2)
    p = causal.predict_proba(new)
    alarm = utility.alarm(11.0, 3, 1)
    choice = ds.DecisionalStates(alarm).fit(causal)
    likely = p @ (np.array(causal.outcomes_) > 11.0)
    assert choice.decide(new, by="x").tolist() == ["alarm" if q > 0.25 else "quiet" for q in likely]
    intervals = ds.DecisionalStates(utility.interval_score(0.8)).fit(causal).decide(new, by="x")
    assert all(low < high for low, high in intervals)
    states = ds.DecisionalStates(utility.zero_one(), indifference=0.6).fit(ds.processes.even())
    assert states.decide([0, 1, 1, 0]).tolist() == [1, 1, 1, 1]
    assert states.decide([0, 1, 1, 0], by="x").tolist() == [0, 1, 0, 0]
    with pytest.raises(ValueError, match="'by' of decide is 'y'; it must be one of 'state', 'x'"):
        choice.decide(new, by="y")


def test_utilities_of_many_predictions(monkeypatch):
    rng = np.random.default_rng(0)
    y, z = rng.normal(size=700).tolist(), rng.normal(size=900).tolist()
    choice, number = rng.integers(0, 700, 2000), rng.integers(0, 900, 2000)
    whole = utilities_of(utility.squared_error(), y, choice, z, number)
    monkeypatch.setattr("decisional.decisions.regret.BLOCK", 10)
    assert utilities_of(utility.squared_error(), y, choice, z, number) == pytest.approx(whole)
    assert whole == pytest.approx(-((np.array(y)[choice] - np.array(z)[number]) ** 2))


@pytest.mark.parametrize("size", [1, 7, 1 << 22])
def test_what_is_certain_is_the_best_of_all_candidates(monkeypatch, size):
    """Whatever may be predicted, also what is worth more than the value that comes, and in whatever blocks."""
    monkeypatch.setattr("decisional.decisions.regret.BLOCK", size)
    known = np.random.default_rng(3).normal(size=30).round(3).tolist()

    def worth(y, z):
        return np.sin(3.0 * y * z) - 0.1 * y**2

    table = worth(np.array(known)[:, None], np.array(known)[None, :20])
    value, choices = certain(utility.as_utility(worth), known[:20], known, None)
    assert value == pytest.approx(table.max(axis=0))
    assert choices == [known[k] for k in table.argmax(axis=0)]
    value, choices = certain(utility.as_utility(worth), known[:20], known, lambda value, outcomes: outcomes[:1])
    assert choices == [known[0]] * 20
    assert value == pytest.approx(table[0])


def test_what_is_certain_needs_no_other_values():
    z = list(range(600))
    for worth in (utility.newsvendor(3, 1), utility.alarm(300, 2, 1), utility.as_utility(lambda y, z: -np.abs(y - z))):
        value, choices = certain(worth, z[:500], z, None)
        assert value.tolist() == [0.0] * 500
        assert choices == (["quiet"] * 301 + ["alarm"] * 199 if worth.maker == "alarm" else z[:500])


# ---------------------------------------------------------------------------------------------- autoregression


def test_order_by_aic_and_least_squares():
    """Against a fit of each order by itself."""
    for seed in range(5000, 5005):
        values = autoregressive(400, seed, (0.5, 0.0, 0.3), 100.0)
        found = Autoregression.fit(values)
        rows = np.lib.stride_tricks.sliding_window_view(values, 13)
        aic = []
        for order in range(13):
            x = np.column_stack([np.ones(len(rows)), *(rows[:, 11 - k] for k in range(order))])
            fitted, rest = np.linalg.lstsq(x, rows[:, 12], rcond=None)[:2]
            aic.append((len(rows) * np.log(rest[0] / len(rows)) + 2 * order, order, fitted))
        _, order, fitted = min(aic, key=lambda entry: entry[0])
        assert found.coefficient == pytest.approx(fitted[1:], abs=1e-8)
        past = values[None, ::-1][:, :20]
        assert found.forecast(past)[0] == pytest.approx(fitted[0] + fitted[1:] @ past[0, :order])
        assert found.sigma == pytest.approx(1.0, rel=0.15)


def test_decisions_of_a_normal_distribution():
    model = Autoregression(0.0, np.array([1.0]), 0.5, 0.0)
    past = np.array([[-100.0], [0.0], [3.0], [1000.0]])
    for worth, apart in ((utility.squared_error(), 0.0), (utility.newsvendor(3, 1), 0.5 * norm.ppf(0.75))):
        assert np.array(model.decide(past, worth)) == pytest.approx(past[:, 0] + apart, abs=0.05)
    ends = np.array(model.decide(past, utility.interval_score(0.8)))
    assert ends - past == pytest.approx(np.tile(0.5 * norm.ppf([0.1, 0.9]), (4, 1)), abs=0.05)
    assert model.decide(past, utility.alarm(2.9, 1, 1)) == ["quiet", "quiet", "alarm", "alarm"]
    # What is not known of the past is the mean.
    assert model.forecast(np.array([[np.nan]])).tolist() == [0.0]


def test_few_or_constant_values():
    assert Autoregression.fit(np.arange(3.0)) is None
    assert Autoregression.fit(np.full(100, np.nan)) is None
    constant = Autoregression.fit(np.full(100, 2.0))
    assert constant.forecast(np.full((1, 12), 2.0)) == pytest.approx([2.0])
    straight = Autoregression.fit(np.arange(200.0))
    assert straight.decide(np.arange(20.0, 8.0, -1.0)[None], utility.squared_error()) == pytest.approx([21.0], abs=1e-3)


def test_the_signal_behind_observations():
    gaps = autoregressive(60, 1)
    gaps[20:23] = np.nan
    other = autoregressive(30, 2)
    values, place = signal_of(ds.observe.delays([gaps, other], past=3))
    runs = [part for part in np.split(values, np.flatnonzero(np.isnan(values))) if part[~np.isnan(part)].size]
    found = [part[~np.isnan(part)] for part in runs]
    for part, wanted in zip(found, (gaps[:20], gaps[23:], other), strict=True):
        np.testing.assert_array_equal(part, wanted)
    obs = ds.observe.delays([gaps, other], past=3)
    np.testing.assert_array_equal(values[place], obs.points[obs.x][:, 0])
    np.testing.assert_array_equal(values[place + 1], np.array(obs.outcomes)[obs.z])
    two = np.column_stack([autoregressive(50, 3), autoregressive(50, 4)])
    second, where = signal_of(ds.observe.delays(two, past=2, target=1))
    np.testing.assert_array_equal(second[where], two[1:-1, 1])
    # The value after the next is no value that comes next.
    assert signal_of(ds.observe.delays(other, past=2, step=2)) is None
    assert signal_of(ds.observe.delays(other, past=2, future=2)) is None
    assert signal_of(ds.observe.pairs(other[:, None], other)) is None


# ------------------------------------------------------------------------------------------- honest expectations


def test_an_honest_expectation_of_a_fair_coin():
    """20 states of 15 fair coins each: the majority promises 0.6, and brings 0.5."""
    promised, honest, errors = [], [], []
    for seed in range(5000, 5060):
        rng = np.random.default_rng(seed)
        x, z = np.arange(300) % 20, rng.integers(0, 2, 300)
        causal = ds.CausalStates(cluster=lambda densities, match: np.arange(20), constraints="none").fit(x[:, None], z)
        choice = ds.DecisionalStates(utility.zero_one()).fit(causal)
        promised.append(choice.expected_utility_)
        honest.append(choice.honest_utility_.value)
        errors.append(choice.honest_utility_.error)
    assert np.mean(promised) > 0.58
    assert np.mean(honest) == pytest.approx(0.5, abs=0.02)
    # That of the outcomes, without that of the decisions: by theory sqrt(1/4 / 300).
    assert np.mean(errors) == pytest.approx(0.0289, rel=0.1)


def test_an_honest_expectation_against_the_naive_one():
    rng = np.random.default_rng(3)
    state, z = rng.integers(0, 3, 200), rng.integers(0, 4, 200)
    found = cross_fitted(state, z, [0, 1, 2, 3], utility.newsvendor(3, 1))
    fold = [i // 10 % 10 for i in range(200)]
    total = []
    for i in range(200):
        rest = sorted(z[j] for j in range(200) if state[j] == state[i] and fold[j] != fold[i])
        costs = {y: sum(3 * max(v - y, 0) + max(y - v, 0) for v in rest) for y in np.arange(0, 3.1, 0.5)}
        least = [y for y, cost in costs.items() if cost == min(costs.values())]
        y = 0.5 * (min(least) + max(least))
        total.append(-(3 * max(z[i] - y, 0) + max(y - z[i], 0)))
    assert found.value == pytest.approx(np.mean(total))
    assert found.error == pytest.approx(block_error(np.array(total)))


def test_honest_expectations_that_there_are_not(forecast):
    assert ds.DecisionalStates(utility.zero_one()).fit(ds.processes.even()).honest_utility_ is None
    assert cross_fitted(np.zeros(15, int), np.zeros(15, int), [0], utility.zero_one()) is None
    counted = ds.CausalStates().partial_fit(ds.observe.series("0110" * 30, past=2))
    assert ds.DecisionalStates(utility.zero_one()).fit(counted).honest_utility_ is None
    causal, _ = forecast
    found = ds.DecisionalStates(utility.squared_error()).fit(causal)
    assert found.honest_utility_.value == pytest.approx(found.expected_utility_, rel=0.5)


def test_few_values_stand_for_many():
    z = np.random.default_rng(0).normal(size=5000)
    values, number = few_values(z.tolist(), np.arange(5000))
    assert len(values) == 512
    assert np.abs(np.array(values)[number] - z).mean() < 0.01
    assert few_values(["a", "b"], np.array([0, 1]))[0] == ["a", "b"]
