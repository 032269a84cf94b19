"""Decisions on beliefs: regions against enumeration, their geometry, values, events and files, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_beliefs as naive
from decisional.decisions import belief_regions
from decisional.decisions.belief_regions import corners

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(autouse=True)
def _short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(belief_regions, "RUNS", 20)


def fitted(seed: int, n_states: int = 3, n_predictions: int = 4, **how: Any) -> tuple[Any, Any, Any]:
    """A table of utilities, a machine of three symbols, and what is decided."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_predictions, 3)).round(1)
    machine = ds.processes.random_hidden(n_states, 3, rng=rng)
    return table, machine, ds.DecisionalStates(table, **how).fit(machine)


def beliefs_of(n_states: int, n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).dirichlet(np.ones(n_states), n)


@settings(deadline=None, max_examples=15)
@given(seed=seeds, n_states=st.integers(1, 4))
def test_regions_have_the_best_predictions_and_cover_the_simplex(seed: int, n_states: int) -> None:
    table, machine, choice = fitted(seed, n_states)
    regions = choice.regions_
    beliefs = np.concatenate([beliefs_of(n_states, 60, seed), machine.beliefs(60, 1)])
    number, value = regions.number(beliefs), regions.value(beliefs)
    for belief, k, worth in zip(beliefs, number, value, strict=True):
        assert regions.predictions[k] == naive.best(table, machine.steps, belief)
        assert worth == pytest.approx(naive.worth(table, machine.steps, belief).max())
        assert (regions.half_spaces(k) @ belief >= -1e-9).all()
    assert choice.states_.probability.sum() == pytest.approx(1.0)
    assert choice.predictions_[:] == regions.predictions


@settings(deadline=None, max_examples=15)
@given(seed=seeds, n_states=st.integers(2, 4))
def test_regions_are_convex(seed: int, n_states: int) -> None:
    _, _, choice = fitted(seed, n_states)
    regions, rng = choice.regions_, np.random.default_rng(seed)
    beliefs = beliefs_of(n_states, 100, seed)
    number = regions.number(beliefs)
    i, j = rng.integers(100, size=(2, 200))
    i, j = i[number[i] == number[j]], j[number[i] == number[j]]
    share = rng.random(i.size)[:, None]
    mixed = share * beliefs[i] + (1.0 - share) * beliefs[j]
    assert np.array_equal(regions.number(mixed), number[i])
    # What decisions are worth is linear inside a region.
    value = share[:, 0] * regions.value(beliefs[i]) + (1.0 - share[:, 0]) * regions.value(beliefs[j])
    np.testing.assert_allclose(regions.value(mixed), value, atol=1e-12)


@settings(deadline=None, max_examples=20)
@given(seed=seeds, n_states=st.integers(1, 4))
def test_corners_are_those_of_all_choices_of_bounds(seed: int, n_states: int) -> None:
    _, _, choice = fitted(seed, n_states, 4)
    for k in range(choice.regions_.n_regions):
        half_spaces, found = choice.regions_.half_spaces(k), choice.regions_.vertices(k)
        expected = naive.corners(half_spaces)
        assert len(found) == len(expected)
        apart = np.abs(found[:, None] - expected[None]).max(axis=2)
        assert (apart.min(axis=1) < 1e-7).all()
        assert (apart.min(axis=0) < 1e-7).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0)


@settings(deadline=None, max_examples=15)
@given(seed=seeds, n_states=st.integers(2, 4))
def test_predictions_that_are_never_best_alone_have_no_region(seed: int, n_states: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(4, 3))
    # A mixture of two others is as good as both where these are equal; a lower one is never best.
    table[2], table[3] = table[:2].mean(axis=0), table[0] - 1e-6
    choice = ds.DecisionalStates(table).fit(ds.processes.random_hidden(n_states, 3, rng=rng))
    inner = [ys for ys, inside in zip(choice.regions_.predictions, choice.regions_.has_inside, strict=True) if inside]
    assert sorted(map(sorted, inner)) in ([[0]], [[1]], [[0], [1]])


@settings(deadline=None, max_examples=10)
@given(seed=seeds)
def test_what_leads_where_is_what_mixtures_of_corners_lead_to(seed: int) -> None:
    _, machine, choice = fitted(seed, 3, 3)
    regions, rng = choice.regions_, np.random.default_rng(seed)
    for before in range(regions.n_regions):
        points = regions.vertices(before)
        mixed = rng.dirichlet(np.full(len(points), 0.5), 400) @ points
        mixed = mixed[regions.number(mixed) == before]
        for symbol in range(3):
            after = np.array([naive.after(machine.steps, belief, symbol) for belief in mixed])
            seen = np.bincount(regions.number(after), minlength=regions.n_regions) > 0
            # Corners that are cut off are hit by few mixtures.
            assert not (seen & ~regions.leads[before, symbol]).any()


def test_every_step_along_data_is_one_that_there_can_be() -> None:
    _, machine, choice = fitted(5, 3, 5)
    symbols = machine.simulate(2_000, rng=1)
    number = choice.regions_.number(machine.filter(symbols))
    assert choice.regions_.leads[number[:-1], symbols[1:], number[1:]].all()
    expected = choice.graph_.matrix.toarray() > 0.0
    assert not (expected & ~choice.regions_.leads.any(axis=1)).any()


def test_a_unifilar_machine_is_decided_as_before_even_at_ties() -> None:
    even = ds.processes.even()
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.BeliefMachine.of(even))
    known = ds.DecisionalStates(ds.utility.zero_one()).fit(even)
    assert choice.predictions_[:] == known.predictions_[:]
    np.testing.assert_allclose(choice.utility_, known.utility_)
    np.testing.assert_allclose(choice.states_.probability, known.states_.probability, atol=0.01)
    # After a 1 that is the second of two, or a 0, both are equally good: a corner of the simplex.
    assert choice.regions_.vertices(0).tolist() == [[1.0, 0.0]]
    assert choice.regions_.has_inside.tolist() == [False, True]
    assert choice.regions_.leads.tolist() == [[[True, False], [False, True]], [[True, False], [True, True]]]


@settings(deadline=None, max_examples=10)
@given(seed=seeds)
def test_names_and_order_of_states_and_symbols_change_nothing(seed: int) -> None:
    table, machine, choice = fitted(seed)
    rng = np.random.default_rng(seed)
    states, symbols = rng.permutation(3), rng.permutation(3)
    steps = machine.steps[symbols][:, states][:, :, states]
    other = ds.BeliefMachine(steps, [f"s{k}" for k in symbols])
    again = ds.DecisionalStates(table[:, symbols]).fit(other)
    beliefs = beliefs_of(3, 50)
    np.testing.assert_allclose(choice.regions_.value(beliefs), again.regions_.value(beliefs[:, states]))
    there = {ys: k for k, ys in enumerate(again.regions_.predictions)}
    for k, ys in enumerate(choice.regions_.predictions):
        mine, others = choice.regions_.vertices(k), again.regions_.vertices(there[ys])
        mine, others = (part[np.lexsort(part.round(7).T)] for part in (mine[:, states], others))
        np.testing.assert_allclose(mine, others, atol=1e-9)


def test_a_resolution_cuts_regions_into_slabs() -> None:
    machine, bet = ds.processes.mess3(), ds.utility.zero_one()
    whole, fine = (ds.DecisionalStates(bet, delta=delta).fit(machine) for delta in (None, 0.05))
    assert fine.states_.n_states > whole.states_.n_states
    assert fine.prediction_complexity_ == pytest.approx(whole.prediction_complexity_)
    assert max(fine.prediction_complexity_, fine.utility_complexity_) <= fine.complexity_ + 1e-9
    assert fine.complexity_ <= fine.prediction_complexity_ + fine.utility_complexity_ + 1e-9
    beliefs = machine.beliefs(500, 1)
    cell = fine.cells_.number(beliefs)
    assert np.abs(fine.regions_.value(beliefs) - fine.utility_[cell]).max() <= 0.05 + 1e-9
    assert fine.expected_utility_ == pytest.approx(whole.expected_utility_)


def test_regions_that_are_worth_the_same_by_symmetry_are_one_iso_utility_state() -> None:
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.mess3())
    assert (choice.iso_prediction_.n_states, choice.iso_utility_.n_states, choice.states_.n_states) == (3, 1, 3)
    assert choice.utility_complexity_ == 0.0
    assert choice.complexity_ == choice.prediction_complexity_


def test_means_and_their_errors() -> None:
    label, value = np.array([[0, 0, 1], [0, 1, 1]]), np.array([[1.0, 2.0, 5.0], [4.0, 5.0, 5.0]])
    count, mean, error = belief_regions.means(label, value, 2)
    assert (count.tolist(), mean.tolist()) == ([3, 3], [7 / 3, 5.0])
    # The runs are 3 - 14/3 and 4 - 7/3 apart from what the mean lets expect.
    assert error == pytest.approx([np.sqrt(2 * ((5 / 3) ** 2 + (5 / 3) ** 2)) / 3, 0.0])


def test_what_it_is_worth_to_know() -> None:
    sensor = ds.processes.mess3()
    known = ds.DecisionalStates(ds.utility.zero_one()).fit(sensor).knowledge_
    assert known.nothing == pytest.approx(1 / 3)
    # The likeliest symbol of each hidden state: to stay and show its own, or to move and show it by accident.
    assert known.state == pytest.approx(0.9 * 0.85 + 2 * 0.05 * 0.075)
    assert known.nothing < known.past < known.state
    assert known.value_of_past + known.value_of_state == pytest.approx(known.state - known.nothing)
    symbols = sensor.simulate(40_000, rng=3)
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(sensor)
    found = choice.regret(symbols)
    assert abs(found.obtained - known.past) < 5 * np.hypot(found.error, known.error)
    assert choice.score(symbols) == found.obtained
    assert found.rivals()["always the same"].gain < 0.0


def test_events_are_changes_of_the_region() -> None:
    table, machine, choice = fitted(11, 3, 4)
    symbols = machine.simulate(300, rng=2).tolist()
    symbols[50], symbols[100] = None, 99
    beliefs, events = machine.filter(symbols), choice.events(symbols, initial=True)
    sets = [naive.best(table, machine.steps, belief) for belief in beliefs]
    changed = [t for t in range(300) if t == 0 or sets[t] != sets[t - 1]]
    assert [event.position for event in events] == changed
    for event in list(events)[1:]:
        assert event.predictions_after == sets[event.position]
        assert event.predictions_before == sets[event.position - 1]
        assert event.utility_before == pytest.approx(
            naive.worth(table, machine.steps, beliefs[event.position - 1]).max()
        )
    assert len(choice.events(symbols)) == len(events) - 1
    high = choice.regions_.value(beliefs) >= choice.expected_utility_
    crossings = choice.events(symbols, level=choice.expected_utility_)
    assert [event.position for event in crossings] == (np.flatnonzero(high[1:] != high[:-1]) + 1).tolist()
    frame = choice.to_frame(symbols)
    np.testing.assert_allclose(frame["utility"], choice.regions_.value(beliefs))
    assert [d in ys for d, ys in zip(choice.decide(symbols), sets, strict=True)] == [True] * 300
    assert choice.predict(symbols).tolist() == frame["state"].tolist()


def test_what_the_regions_say_of_new_data() -> None:
    _, machine, choice = fitted(11, 3, 4)
    symbols = machine.simulate(3_000, rng=2).tolist()
    symbols[70] = None
    found = choice.apply(symbols)
    frame = found.to_frame()
    assert frame["state"].tolist() == choice.causes(symbols).tolist()
    assert frame["decision"].tolist() == choice.decide(symbols).tolist()
    whole = choice.apply(symbols[:60]).surprise.sum() - machine.log_likelihood(symbols[:1])
    assert whole == pytest.approx(-machine.log_likelihood(symbols[:60]))
    assert found.mean_surprise == pytest.approx(found.usual_surprise, abs=0.1)
    assert found.utility.mean() == pytest.approx(choice.score(symbols), abs=0.01)
    two = choice.apply([symbols[:50], symbols[100:150]])
    assert two.n == 98
    other = ds.DecisionalStates(ds.utility.zero_one()).fit(machine)
    assert np.isinf(other.apply([*symbols[:3], 99]).surprise[-1])


def test_saved_decisions_are_the_same(tmp_path: Path) -> None:
    _, machine, choice = fitted(4, delta=0.1)
    choice.save(tmp_path / "choice.json")
    again = ds.DecisionalStates.load(tmp_path / "choice.json")
    symbols = machine.simulate(200, rng=1)
    assert np.array_equal(again.predict(symbols), choice.predict(symbols))
    assert again.complexity_ == choice.complexity_
    assert np.array_equal(again.regions_.machine.steps, machine.steps)


def test_whole_strings_begin_in_their_start() -> None:
    steps = np.zeros((3, 2, 2))
    for coin, heads in enumerate((0.9, 0.2)):
        for side, chance in enumerate((heads, 1.0 - heads)):
            steps[side, coin, coin] = 0.8 * chance
        steps[2, coin] = [0.06, 0.14]
    machine = ds.BeliefMachine(steps, ("h", "t", "<end>"), start=[0.3, 0.7])
    choice = ds.DecisionalStates(ds.utility.zero_one(["h", "t"])).fit(machine)
    assert choice.decide(["h", "h", "<end>", "t"]).tolist() == ["h", "h", "t", "t"]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"utility": ds.utility.squared_error()}, "give candidates y="),
        ({"utility": [[1, 0]], "indifference": 0.1}, "'indifference'"),
        ({"utility": [[1, 0]], "atol": 0.1}, "'atol'"),
        ({"utility": [[1, 0]], "delta": 0.0}, "'delta'"),
        ({"utility": [[1, 0]], "past": 3}, "'past'"),
        ({"utility": [[1, 0, 2]]}, "3 columns"),
    ],
)
def test_what_regions_cannot_be_exact_for_is_refused(how: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ds.DecisionalStates(**how).fit(ds.processes.simple_nonunifilar())
    choice = ds.DecisionalStates([[1, 0]]).fit(ds.processes.simple_nonunifilar())
    with pytest.raises(ValueError, match="give a series"):
        choice.to_frame()


def test_too_many_corners_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(belief_regions, "MOST_CORNERS", 3)
    with pytest.raises(ValueError, match="use its 'half_spaces'"):
        corners(np.array([[1.0, 1.0, -1.0, -1.0]]))
