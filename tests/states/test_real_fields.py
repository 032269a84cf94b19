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
    field, clean = noisy(shape=(180, 150))
    causal = ds.CausalStates().fit(ds.observe.light_cones(field, past=3, future=2))
    exact = ds.CausalStates().fit(ds.observe.light_cones(clean, past=3, future=2))
    assert adjusted_rand_score(exact.labels_, causal.labels_) > 0.7
    assert causal.warning_ is None


@pytest.mark.parametrize("shape", [(150, 120), (30, 24, 26)])
def test_noise_has_one_state(shape):
    field = np.random.default_rng(3).normal(size=shape)
    causal = ds.CausalStates().fit(ds.observe.light_cones(field, past=2, future=2))
    assert causal.n_states_ == 1


@pytest.fixture(scope="module")
def fitted():
    field, _ = noisy(shape=(140, 100))
    return field, ds.CausalStates().fit(ds.observe.light_cones(field, past=2, future=2))


def test_slices_and_threads_have_the_same_states(fitted, monkeypatch):
    field, whole = fitted
    for chunks, small in ((7, None), (50, 1)):
        if small is not None:
            monkeypatch.setattr("decisional.support.executors.SMALL", small)
        obs = ds.observe.light_cones(field, past=2, future=2, chunks=chunks)
        assert "not counted yet" in repr(obs)
        causal = ds.CausalStates().fit(obs)
        assert np.array_equal(causal.labels_, whole.labels_)
        assert np.array_equal(causal.distributions_, whole.distributions_)
        assert causal.outcomes_ == whole.outcomes_


def test_large_fields_learn_from_runs_of_times_in_memory_and_in_slices(monkeypatch):
    monkeypatch.setattr("decisional.data.real_cones.MOST", 4000)
    field, _ = noisy(shape=(220, 100))
    mask = np.random.default_rng(1).random(field.shape) < 0.01
    whole, sliced = (
        ds.CausalStates().fit(ds.observe.light_cones(field, 2, 2, boundary="open", mask=mask, chunks=chunks))
        for chunks in (None, 33)
    )
    assert np.array_equal(whole.labels_, sliced.labels_)
    assert whole.observations_.coder.made == sliced.observations_.coder.made


def test_space_may_be_mirrored_and_values_moved(fitted):
    field, whole = fitted
    grid = whole.observations_.field(whole.labels_)
    causal = ds.CausalStates().fit(ds.observe.light_cones(3.0 - 4.0 * field[:, ::-1], past=2, future=2))
    mirrored = causal.observations_.field(causal.labels_)[:, ::-1]
    known = ~np.isnan(grid)
    assert adjusted_rand_score(grid[known], mirrored[known]) > 0.99


def test_axes_of_space_may_be_exchanged():
    rng = np.random.default_rng(2)
    clean = ds.processes.cyclic_automaton((20, 22), 32, colours=4, rng=3)
    field = clean + 0.1 * rng.normal(size=clean.shape)
    one, two = (ds.CausalStates().fit(ds.observe.light_cones(f, 2, 2)) for f in (field, np.swapaxes(field, 1, 2)))
    grid, turned = one.observations_.field(one.labels_), two.observations_.field(two.labels_).swapaxes(1, 2)
    known = ~np.isnan(grid)
    assert one.n_states_ > 3
    assert adjusted_rand_score(grid[known], turned[known]) > 0.99


def test_new_fields_have_states_and_missing_cells_none(fitted):
    field, causal = fitted
    again = causal.predict(ds.observe.light_cones(field, past=2, future=2))
    assert np.array_equal(again, causal.labels_)
    gaps = field.copy()
    gaps[50, 40] = np.nan
    obs = ds.observe.light_cones(gaps, past=2, future=2)
    grid, known = obs.field(causal.predict(obs)), causal.observations_.field(causal.labels_)
    lost = np.isnan(grid) & ~np.isnan(known)
    # The cell itself, those whose past has it, and those whose future has it.
    assert sorted(zip(*np.nonzero(lost), strict=True)) == [
        *((49, c) for c in (39, 40, 41)),
        (50, 40),
        *((51, c) for c in (39, 40, 41)),
    ]
    assert np.array_equal(grid[~np.isnan(grid)], known[~np.isnan(grid)])
    masked = ds.observe.light_cones(np.where(np.isnan(gaps), 7.0, gaps), 2, 2, mask=np.isnan(gaps))
    assert np.array_equal(causal.predict(masked), causal.predict(obs))
    assert causal.score(masked) == pytest.approx(causal.score(ds.observe.light_cones(field, 2, 2)), abs=0.05)


def test_decisions_are_about_the_middle_cell(fitted):
    field, causal = fitted
    assert causal.local_complexity_.mean() == pytest.approx(causal.complexity_)
    best = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
    obs = ds.observe.light_cones(field, past=2, future=2)
    site = obs.site + field.shape[1]
    error = np.mean((np.array(best.decide(obs), float) - field.ravel()[site]) ** 2)
    assert error < 0.8 * field.var()
    assert -best.expected_utility_ == pytest.approx(error, rel=0.05)
    alarm = ds.DecisionalStates(ds.utility.tolerant(0.3)).fit(causal)
    assert 1 <= alarm.n_states_ <= causal.n_states_


def test_cells_may_have_several_variables(fitted):
    field, whole = fitted
    noise = np.random.default_rng(8).normal(size=field.shape)
    both = np.stack([field, 100.0 * noise], axis=-1)
    causal = ds.CausalStates().fit(ds.observe.light_cones(both, past=2, future=2, variables=True))
    assert adjusted_rand_score(whole.labels_, causal.labels_) > 0.3
    assert len(causal.outcomes_[0]) == 2
    sliced = ds.CausalStates().fit(ds.observe.light_cones(both, past=2, future=2, variables=True, chunks=40))
    assert np.array_equal(causal.labels_, sliced.labels_)
    choice = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
    assert choice.expected_utility_ < 0.0


def test_refusals(fitted):
    field, causal = fitted
    obs = ds.observe.light_cones(field, past=2, future=2)
    with pytest.raises(ValueError, match="codes that are learnt from it, and are not known yet: fit CausalStates"):
        obs.table()
    with pytest.raises(ValueError, match=r"4 and 3 cells .* both must be made alike: observe with the same parameters"):
        causal.predict(ds.observe.light_cones(field, past=3, future=2))
    with pytest.raises(ValueError, match="field of symbols and those of fit of a real-valued field"):
        causal.predict(ds.observe.light_cones((field > 0.5).astype(int), past=2, future=2))
    symbols = ds.CausalStates().fit(ds.observe.light_cones((field > 0.5).astype(int), past=2, future=2))
    with pytest.raises(ValueError, match="real-valued field and those of fit of a field of symbols"):
        symbols.predict(obs)
    with pytest.raises(ValueError, match="besides the variables"):
        ds.observe.light_cones(field, past=2, future=2, variables=True)


def test_more_data_are_counted_by_the_codes_of_the_first(fitted):
    field, causal = fitted
    obs = ds.observe.light_cones(field, past=2, future=2, chunks=30)
    more = ds.CausalStates()
    for piece in obs.coded(causal.observations_.coder).pieces():
        more.partial_fit(piece)
    assert np.array_equal(more.distributions_, causal.distributions_)
    again = ds.CausalStates()
    for piece in obs.pieces():
        again.partial_fit(piece)
    assert again.observations_.n == causal.observations_.n
    assert (again.predict(ds.observe.light_cones(field, past=2, future=2)) >= 0).all()
    with pytest.raises(ValueError, match="only observations made alike can be counted together"):
        again.merge(causal)


def test_some_times_can_be_chosen(fitted):
    field, causal = fitted
    obs = ds.observe.light_cones(field, past=2, future=2)
    first, second = obs[:60], obs[60:]
    assert first.n + second.n == obs.n
    states = np.concatenate([causal.predict(first), causal.predict(second)])
    assert np.array_equal(states, causal.labels_)
