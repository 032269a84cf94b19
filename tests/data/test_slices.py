"""Slices of data of every kind: observed, fitted, added and merged in any way, they are the whole bit for bit."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decisional as ds
from naive_tallies import (
    KINDS,
    attempt,
    equal,
    same_counts,
    same_decisions,
    same_observations,
    same_states,
    seeds,
)
from strategies_symbols import examples, sequences

chunk_sizes = st.integers(1, 12) | st.sampled_from([1, 2, 3, 1000])
kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.small
@kinds
@examples(30, small=8)
@given(data=st.data(), chunks=chunk_sizes)
def test_slices_are_the_whole(kind, data, chunks):
    observe = data.draw(KINDS[kind])
    whole, sliced = attempt(observe), attempt(partial(observe, chunks=chunks))
    if isinstance(whole, type):
        # Observations that were never counted say so when they are.
        assert attempt(lambda: observe(chunks=chunks).table()) is whole
        return
    same_observations(whole, sliced)


@pytest.mark.filterwarnings("ignore:Values far from the rest")
@kinds
@examples(12)
@given(data=st.data(), chunks=chunk_sizes)
def test_states_of_slices_are_those_of_the_whole(kind, data, chunks):
    observe = data.draw(KINDS[kind])
    whole = attempt(observe)
    if isinstance(whole, type):
        return
    causal, sliced = (attempt(lambda obs=obs: ds.CausalStates().fit(obs)) for obs in (whole, observe(chunks=chunks)))
    if isinstance(causal, type):
        assert sliced is causal
        return
    same_states(causal, sliced)
    same_decisions(causal, sliced)


# ----------------------------------------------------------------------------------------- what slices lack


@pytest.mark.small
@pytest.mark.parametrize("chunks", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "symbols",
    [
        [True, b"x", "a", True, b"x", "a", True],
        [1, 2.5, "a", 2.5, 1, "a", 1, 2.5],
        [1, 2.5, 1, 2.5, 2.5, 1, 1, 2.5],
        [0.5, 1.5, 0.5, 1.5, 1.5, 0.5, 0.5, 1.5],
        np.array([0.5, 1.5, 0.5, 1.5, 1.5, 0.5, 0.5, 1.5]),
        [10**30, 1, "a", 10**30, 1, 1, "a"],
        [1, None, 2**63, -1, 1, 1, 2**63, 2**63],
        [[1, 2, 1, 2], ["a", 1, "a", 1, 1]],
        [np.array([1, 2, 1, 2]), np.array([0.5, 1.0, 0.5, 1.0])],
        [np.array([2**63, 1, 1], np.uint64), np.array([-1, 1, 1, -1])],
    ],
)
def test_letters_mean_the_same_whatever_else_a_slice_has(symbols, chunks):
    whole = ds.observe.series(symbols, past=1)
    sliced = ds.observe.series(symbols, past=1, chunks=chunks)
    same_observations(whole, sliced)


@pytest.mark.small
@pytest.mark.parametrize("chunks", [1, 2, 3, 7])
@pytest.mark.parametrize("x", [[0.5, None, 1.5, 2, 0.5], [1, 2.5, "a", 1, 2.5], [None, 1.0, 2.0, None, 1]])
def test_pairs_mean_the_same_whatever_else_a_slice_has(x, chunks):
    z = [2.5, None, 1, True, "q"]
    for a, b in ((x, z), (z, x), (x, [0.5, 1.5, 2.5, 0.5, 1.5]), ([0.5, 1.5, 2.5, 0.5, 1.5], x)):
        whole, sliced = ds.observe.pairs(a, b), ds.observe.pairs(a, b, chunks=chunks)
        same_observations(whole, sliced)


@pytest.mark.small
@pytest.mark.parametrize("chunks", [1, 2, 5])
@pytest.mark.parametrize("mask", [np.arange(5) == 2, np.eye(5, dtype=bool)[1:2], False, np.zeros((5, 1), bool)])
def test_masks_are_broadcast_to_the_whole_field(mask, chunks):
    field = np.random.default_rng(1).integers(0, 2, (5, 5))
    options = {"past": 1, "future": 2, "mask": mask}
    same_observations(ds.observe.light_cones(field, **options), ds.observe.light_cones(field, **options, chunks=chunks))


@pytest.mark.small
@pytest.mark.parametrize("chunks", [1, 2, 9])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_fields_too_short_for_a_cone_still_have_letters(rows, chunks):
    rng = np.random.default_rng(2)
    fields = [rng.integers(0, 2, (9, 7)), np.arange(7 * rows).reshape(rows, 7), rng.integers(0, 2, (9, 7))]
    options = {"past": 2, "future": 4, "transitions": "time"}
    same_observations(
        ds.observe.light_cones(fields, **options), ds.observe.light_cones(fields, **options, chunks=chunks)
    )


@pytest.mark.small
@pytest.mark.parametrize("symbols", ["", [], np.array([], int), [None, None], "ab"])
def test_nothing_to_observe_is_refused(symbols):
    with pytest.raises(ValueError, match="symbols"):
        ds.observe.series(symbols, past=2)
    with pytest.raises(ValueError, match="hold no observation"):
        ds.observe.series(symbols, past=2, chunks=1).table()


@pytest.mark.small
@pytest.mark.parametrize("chunks", [0, -1, 1.5, "2", True])
def test_chunks_are_checked(chunks):
    with pytest.raises(ValueError, match="The 'chunks' is "):
        ds.observe.series("0101", past=1, chunks=chunks)


# ------------------------------------------------------------------------------------ adding and merging


@kinds
@examples(12)
@given(data=st.data(), chunks=chunk_sizes)
def test_pieces_add_up_to_the_whole_in_any_order_and_grouping(kind, data, chunks):
    observe = data.draw(KINDS[kind])
    whole = attempt(observe)
    if isinstance(whole, type):
        return
    # Rules for bandwidths look at the data one by one, which counts have forgotten: see the next test.
    numbers = {"density": ds.Kernels(bandwidth=1.0), "match": ds.Bhattacharyya(0.05)}
    how = numbers if whole.points is not None else {}
    causal = attempt(lambda: ds.CausalStates(**how).fit(whole))
    if isinstance(causal, type):
        return
    pieces = list(observe(chunks=chunks).pieces())
    rng = data.draw(seeds)
    added = ds.CausalStates(**how)
    for i in rng.permutation(len(pieces)):
        added.partial_fit(pieces[i])
    grouped = [ds.CausalStates(**how).partial_fit(piece) for piece in pieces]
    while len(grouped) > 1:
        i, j = rng.choice(len(grouped), 2, replace=False)
        grouped[i].merge(grouped[j])
        grouped.pop(j)
    for found in (added, grouped[0]):
        same_counts(whole, found.observations_)
        same_states(causal, found, labels=False)
        same_decisions(causal, found, labels=False)
        if whole.points is None:
            equal(causal.labels_, found.predict(whole))


def test_steps_of_slices_are_counted_but_not_listed():
    obs = ds.observe.series("01101101", past=2, chunks=3)
    for name in ("symbol", "successor"):
        with pytest.raises(
            ValueError, match=f"'{name}' of each observation is not listed.*ds.Monitor, or observe them"
        ):
            getattr(obs, name)


def test_cross_validation_needs_the_data():
    estimator = ds.CausalStates().partial_fit(ds.observe.delays(np.sin(np.arange(60) ** 1.3), past=1))
    for how in ({}, {"match": ds.Bhattacharyya(0.05)}, {"match": None, "density": ds.Kernels(bandwidth=0.5)}):
        estimator.set_params(**how)
        with pytest.raises(ValueError, match=r"Only counts .* were kept; .* use a bandwidth 'rule'"):
            estimator.n_states_  # noqa: B018
    estimator.set_params(match=ds.Bhattacharyya(0.05))
    assert estimator.n_states_ >= 1


@pytest.mark.parametrize("rule", ["rule", "nearest"])
def test_bandwidths_follow_from_counts(rule):
    signal = np.sin(np.arange(60) ** 1.3)
    how = ds.Kernels(bandwidth=rule), ds.Bhattacharyya(0.05)
    estimator = ds.CausalStates(*how)
    whole = ds.CausalStates(*how).fit(ds.observe.delays(signal, past=1))
    for piece in ds.observe.delays(signal, past=1, chunks=17).pieces():
        estimator.partial_fit(piece)
    same_states(whole, estimator, labels=False)


@examples(40)
@given(sequences(max_sequences=4), st.integers(1, 4), st.integers(1, 2), st.data())
def test_sequences_observed_apart_are_the_list_of_them(found, past, future, data):
    found = [s for s in found if any(v is not None for v in s)]
    apart = [attempt(lambda s=s: ds.observe.series([s], past, future)) for s in found]
    kept = [k for k, obs in enumerate(apart) if not isinstance(obs, type)]
    if not kept:
        return
    whole = ds.CausalStates().fit(ds.observe.series([found[k] for k in kept], past, future))
    parts = ds.CausalStates()
    for k in data.draw(st.permutations(kept)):
        parts.partial_fit(apart[k])
    same_counts(whole.observations_, parts.observations_)
    same_states(whole, parts, labels=False)
    equal(whole.labels_, parts.predict(whole.observations_))


def test_fitting_and_adding_go_on_from_each_other():
    symbols = ds.processes.even().simulate(2000, rng=1)
    first, second = (ds.observe.series(part, past=3) for part in (symbols[:900], symbols[900:]))
    both = ds.CausalStates().fit(ds.observe.series([symbols[:900], symbols[900:]], past=3))
    same_states(both, ds.CausalStates().fit(first).partial_fit(second), labels=False)
    same_states(both, ds.CausalStates().fit(second).merge(ds.CausalStates().fit(first)), labels=False)
    same_states(ds.CausalStates().fit(first), ds.CausalStates().partial_fit(second).fit(first))
    with pytest.raises(ValueError, match="The 'x' of each observation is not known"):
        ds.CausalStates().partial_fit(first).labels_  # noqa: B018


@kinds
@examples(12)
@given(data=st.data(), chunks=chunk_sizes)
def test_values_come_back_to_their_sites(kind, data, chunks):
    observe = data.draw(KINDS[kind])
    whole = attempt(observe)
    if isinstance(whole, type):
        return
    values = np.arange(whole.table().n_x) + 0.5
    expected = whole.field(values[whole.x])
    sliced = observe(chunks=chunks)
    assert [part.begin for part in sliced.parts][1:] == [part.end for part in sliced.parts][:-1]
    assert sliced.parts[0].begin == 0
    equal(expected, np.concatenate(list(map(sliced.filling(values, np.nan), sliced.parts))))
