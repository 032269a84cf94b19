"""The contract of observations: every kind of data, in memory, in slices and as counts, has the same of everything."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decisional as ds
from decisional.data.observations import Observations, Tallied
from naive_tallies import KINDS, attempt, equal, same_counts, same_tally
from strategies_symbols import examples

SIGNAL = np.sin(np.arange(40.0))
FIELD = np.eye(9, 8, dtype=int)

OBSERVED = {
    "series": partial(ds.observe.series, "0110101101" * 4, past=3),
    "field": partial(ds.observe.light_cones, FIELD, past=2, future=2, transitions="time"),
    "image": partial(ds.observe.image, np.arange(56).reshape(7, 8) ** 2 % 11, "3x3"),
    "signal": partial(ds.observe.delays, SIGNAL, past=3, future=2),
    "pairs": partial(ds.observe.pairs, list("abcabd"), list("uvwuvv"), list("xyxyxy")),
}
WORDS = ("series", "field", "pairs")
REPRS = {
    "series": "Observations(series: 37 pairs, past 3, future 1, 2 letters)",
    "field": "Observations(field: 56 pairs, past 4, future 3, 2 letters)",
    "image": "Observations(image: 30 pairs, x of 8 numbers, z of 1)",
    "signal": "Observations(signal: 36 pairs, x of 3 numbers, z of 2)",
    "pairs": "Observations(pairs: 6 pairs, past 1, future 1, 4 letters)",
}
every = pytest.mark.parametrize("kind", OBSERVED)


@pytest.mark.small
@pytest.mark.parametrize("kind", KINDS)
@examples(15, small=5)
@given(data=st.data(), chunks=st.integers(1, 12))
def test_memory_slices_and_counts_have_one_table(kind, data, chunks):
    observe = data.draw(KINDS[kind])
    whole = attempt(observe)
    if isinstance(whole, type):
        return
    for other in (observe(chunks=chunks), Tallied(whole.tally()), Tallied(observe(chunks=chunks).tally())):
        same_counts(whole, other)
        same_tally(whole.tally(), other.tally())


@pytest.mark.small
@every
def test_all_say_what_the_data_are(kind):
    whole, sliced = OBSERVED[kind](), OBSERVED[kind](chunks=4)
    for obs in (whole, sliced, *whole.pieces(), *sliced.pieces(), Tallied(whole.tally())):
        assert obs.kind == kind
        assert obs.has_suffixes == (kind == "series")
        assert (obs.points is None) == (kind in WORDS) == (len(obs.letters) > 0)
        assert (obs.source is None) == (kind != "series" or isinstance(obs, Tallied))
        obs.check_memory()
    assert whole.table().n_x == len(whole.tally().x)
    assert whole.future == whole.tally().z.width
    assert ds.CausalStates().fit(whole).observations_.kind == kind


@pytest.mark.small
@every
def test_one_line_says_what_they_are(kind, monkeypatch):
    whole, sliced = OBSERVED[kind](), OBSERVED[kind](chunks=4)
    counted = Tallied(whole.tally())
    fresh = OBSERVED[kind]()
    with monkeypatch.context() as patch:
        patch.setattr(Observations, "_counted", lambda self: pytest.fail("counted"))
        assert repr(fresh) == REPRS[kind]
        assert (
            repr(sliced) == f"Observations({kind}: {len(sliced.parts)} slices of shape {whole.shape}, not counted yet)"
        )
    sliced.table()
    assert repr(counted) == repr(sliced) == REPRS[kind]


@pytest.mark.small
def test_numbers_of_one_are_not_plural():
    assert repr(ds.observe.series("aa", 1)) == "Observations(series: 1 pair, past 1, future 1, 1 letter)"
    assert repr(ds.observe.delays([0.5, 1.5], 1)) == "Observations(signal: 1 pair, x of 1 number, z of 1)"
    assert repr(ds.observe.series("ab" * 9, 1, chunks=99)).startswith("Observations(series: 1 slice of shape (18,)")


@pytest.mark.small
def test_vectors_of_different_data_are_counted_together_as_pairs():
    x = np.arange(16).reshape(4, 4) ** 2 % 7
    image = ds.observe.image(x, "3x3").tally()
    pairs = ds.observe.pairs(image.x.rows + 0.5, np.arange(len(image.x)) + 0.5).tally()
    for both in (image.merge(pairs), pairs.merge(image)):
        assert Tallied(both).kind == "pairs"
    assert Tallied(image.merge(image)).kind == "image"


@pytest.mark.small
@every
def test_arrays_of_slices_are_those_of_the_whole(kind):
    whole, sliced = OBSERVED[kind](), OBSERVED[kind](chunks=3)
    for name in ("x", "z", "site"):
        equal(getattr(whole, name), getattr(sliced, name))
    equal(whole.field(whole.x), sliced.field(sliced.x))
