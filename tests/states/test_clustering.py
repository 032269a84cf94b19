"""Clustering: the kernels against dicts and loops, order, ties, permutations, averages, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import naive_densities
import naive_states
from decisional._kernels import clusters
from decisional.states import matching
from decisional.states.aggregation import Aggregate, Connect, _merge_by_callable, average, resolve

QUICK = settings(max_examples=25, deadline=None)
MEASURES = [
    matching.ChiSquare(0.05),
    matching.ChiSquare(0.2, family_wise=False),
    matching.GTest(0.05),
    matching.GTest(0.2, family_wise=False),
    matching.Bhattacharyya(0.2),
    matching.Variational(0.4),
    matching.HarmonicMean(0.05),
    matching.JensenShannon(0.05),
    matching.Exact(),
]


def name(measure):
    return f"{type(measure).__name__}-{getattr(measure, 'family_wise', '')}"


every_measure = pytest.mark.parametrize("measure", MEASURES, ids=name)


@st.composite
def tables(draw, max_rows=12, max_outcomes=4):
    """Rows of counts around a few shapes, so that some match, some do not, and states drift and merge."""
    n_outcomes = draw(st.integers(1, max_outcomes))
    shapes = draw(
        st.lists(
            st.lists(st.integers(0, 12), min_size=n_outcomes, max_size=n_outcomes).filter(any), min_size=1, max_size=4
        )
    )
    n = draw(st.integers(1, max_rows))
    rows = []
    for _ in range(n):
        shape = np.array(draw(st.sampled_from(shapes))) * draw(st.sampled_from([1, 1, 2, 5, 10]))
        noise = draw(st.lists(st.integers(0, 3), min_size=n_outcomes, max_size=n_outcomes))
        rows.append((shape + draw(st.sampled_from([0, 1])) * np.array(noise)).tolist())
    return rows


def expected_labels(rows, measure, order, passes):
    """The naive answer; examples that rounding could decide either way are left out."""
    n = len(rows)

    def alike(a, b):
        return naive_states.similarity(measure, a, b, n)

    try:
        return naive_states.aggregate(rows, alike, measure.level(n), order, passes)
    except naive_states.Tie:
        assume(False)


def by_count(rows):
    return sorted(range(len(rows)), key=lambda r: -sum(rows[r]))


# --------------------------------------------------------------------------------------------------- aggregate


@pytest.mark.small
@every_measure
@QUICK
@given(rows=tables(), passes=st.integers(1, 3), order=st.sampled_from(["count", "given"]))
@example(  # a rare outcome: chi-square rejects, G does not
    rows=[[1, 1, 4], [0, 10, 40], [1, 10, 40], [2, 1, 4], [0, 1, 4], [0, 5, 20]], passes=1, order="count"
)
def test_aggregate_is_its_naive_twin(measure, rows, passes, order):
    visits = by_count(rows) if order == "count" else range(len(rows))
    expected = expected_labels(rows, measure, visits, passes)
    found = Aggregate(order, passes)(naive_states.distributions(rows), measure)
    assert found.tolist() == expected


@pytest.mark.small
@QUICK
@given(rows=tables(), seed=st.integers(0, 1000), passes=st.integers(1, 3))
def test_random_order_is_reproducible_and_the_naive_one(rows, seed, passes):
    measure = matching.Variational(0.4)
    densities = naive_states.distributions(rows)
    cluster = Aggregate("random", passes, random_state=seed)
    found = cluster(densities, measure)
    assert found.tolist() == cluster(densities, measure).tolist()
    visits = np.random.RandomState(seed).permutation(len(rows)).tolist()
    assert found.tolist() == expected_labels(rows, measure, visits, passes)


@pytest.mark.small
def test_random_order_changes_the_labels():
    densities = naive_states.distributions(np.eye(9, dtype=int) * 10)
    labels = {tuple(Aggregate("random", random_state=seed)(densities, matching.Exact())) for seed in range(5)}
    assert len(labels) == 5
    assert all(len(set(each)) == 9 for each in labels)


@pytest.mark.small
@pytest.mark.parametrize("measure", [matching.GTest(0.05), matching.Variational(0.4), matching.Exact()], ids=name)
@QUICK
@given(rows=tables(max_rows=9), passes=st.integers(1, 3))
def test_a_callable_clusters_as_the_kernel_does(measure, rows, passes):
    n = len(rows)
    expected_labels(rows, measure, by_count(rows), passes)  # leaves out what rounding decides
    densities = naive_states.distributions(rows)
    cluster = Aggregate(passes=passes)
    expected = cluster(densities, measure)
    found = cluster(densities, lambda a, b: measure.similarity(a, b, n) - measure.level(n))
    assert found.tolist() == expected.tolist()
    linked = Connect()(densities, lambda a, b: measure.similarity(a, b, n) > measure.level(n))
    assert naive_states.canonical(linked) == naive_states.canonical(Connect()(densities, measure))


@pytest.mark.small
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[1, 5], [5, 3], [5, 8]], [1, 0, 1]),
        ([[8, 3], [4, 4], [6, 4], [8, 1]], [0, 0, 0, 1]),
        ([[6, 6], [7, 3], [5, 5], [6, 1]], [0, 1, 0, 1]),
    ],
)
def test_a_row_leaves_its_state_before_it_is_compared(rows, expected):
    # With its own counts still in its state, a row would look more like it than it is.
    measure = matching.Variational(0.5)
    assert expected_labels(rows, measure, by_count(rows), 2) == expected
    densities = naive_states.distributions(rows)
    for match in (measure, lambda a, b: 0.5 - measure.distance(a, b)):
        assert Aggregate(passes=2)(densities, match).tolist() == expected


@pytest.mark.small
def test_more_states_than_there_was_room_for():
    rows = np.eye(30, dtype=int) * np.arange(31, 1, -1)[:, None]
    for passes in (1, 2):
        assert Aggregate(passes=passes)(naive_states.distributions(rows), matching.Exact()).tolist() == list(range(30))


# All distances of the next two tests are sums of dyadic fractions, exact in floating point.


@pytest.mark.small
def test_a_row_between_two_states_goes_to_the_first():
    rows = naive_states.distributions([[8, 0], [0, 8], [2, 2]])
    half_way = matching.Variational(1.25)
    for match in (half_way, lambda a, b: 1.25 - half_way.distance(a, b)):
        assert Aggregate("given")(rows, match).tolist() == [0, 1, 0]


@pytest.mark.small
def test_of_equal_pairs_the_first_is_merged():
    # States 0 and 1, 1 and 2 are equally near; once 0 and 1 are one state, 2 is too far from it.
    states = np.array([[7.0, 1.0], [4.0, 4.0], [1.0, 7.0]])
    near = matching.Variational(0.8)
    target, labels = np.empty(3, np.int64), np.arange(3)
    clusters.merge_states(near.metric, False, near.level(3), states.copy(), np.full(3, 8.0), np.full(3, 2), target)
    assert target.tolist() == [0, 0, 2]
    _merge_by_callable(list(states), lambda a, b: 0.8 - near.distance(a, b), labels)
    assert labels.tolist() == [0, 0, 2]


@pytest.mark.small
@every_measure
@QUICK
@given(rows=tables(), scale=st.sampled_from([1.0, 0.5, 0.1]))
def test_states_are_merged_most_similar_pair_first(measure, rows, scale):
    n = len(rows)
    # Tests know nothing of fractions of counts.
    scale = 1.0 if isinstance(measure, (matching.GTest, matching.ChiSquare)) else scale
    label, members = dict(enumerate(range(n))), {r: {r} for r in range(n)}
    try:
        naive_states.merge(
            rows, members, label, lambda a, b: naive_states.similarity(measure, a, b, n), measure.level(n)
        )
    except naive_states.Tie:
        assume(False)
    dense = np.array([*rows, [0] * len(rows[0])], float) * scale  # the last state is empty
    target = np.empty(n + 1, np.int64)
    how = measure.metric, measure.checked, measure.level(n)
    clusters.merge_states(*how, dense, dense.sum(axis=1), (dense > 0).sum(axis=1), target)
    assert target.tolist() == [*(label[r] for r in range(n)), n]


@pytest.mark.small
def test_a_new_state_takes_the_first_empty_place():
    row, dense = np.array([3.0, 1.0]), np.array([[0.0, 0.0], [0.0, 8.0], [0.0, 0.0], [0.0, 0.0]])
    measure, labels = matching.Exact(), np.array([-1])
    arrays = np.array([0]), np.array([0, 2]), np.arange(2), row, np.array([4.0])
    how = measure.metric, measure.checked, measure.level(1)
    support = np.array([0, 1, 0, 0])
    dense, *_, n = clusters.visit_rows(*arrays, *how, dense, dense.sum(axis=1), support, 3, labels)
    assert n == 3
    assert labels.tolist() == [0]
    assert dense[0].tolist() == [3.0, 1.0]


@pytest.mark.small
def test_what_rounding_leaves_is_nothing():
    assert clusters._left(0.1 + 0.2 - 0.1, 0.2) == 0.0
    assert clusters._left(0.3 - 0.1, 0.2) == 0.0
    assert clusters._left(5.0, 2.0) == 3.0


@pytest.mark.small
def test_the_best_match_is_taken_not_the_first():
    rows = [[60, 40], [20, 80], [30, 70]]
    found = Aggregate("given")(naive_states.distributions(rows), matching.Variational(0.65))
    # Row 2 is within reach of both states, nearer to the second; then the states are too far apart to merge.
    assert found.tolist() == [0, 1, 1]


@pytest.mark.small
def test_a_second_pass_moves_a_row_that_came_too_early():
    # Row 1 joins row 0, the only state there is, and moves when its own kind has come.
    rows = naive_states.distributions([[50, 50], [30, 70], [12, 88], [14, 86]])
    measure = matching.Variational(0.45)
    assert Aggregate("given", 1)(rows, measure).tolist() == [0, 0, 1, 1]
    assert Aggregate("given", 2)(rows, measure).tolist() == [0, 1, 1, 1]
    assert Aggregate("given", 9)(rows, measure).tolist() == [0, 1, 1, 1]


@pytest.mark.small
def test_a_merged_state_is_gone():
    # In the second pass row 0 goes to row 5 and brings both to the others; in the third row 5 is alone again, and
    # must not find what was its state.
    rows = naive_states.distributions([[35, 15], [45, 5], [50, 0], [5, 45], [45, 5], [25, 25]])
    found = [Aggregate("given", passes)(rows, matching.Variational(0.7)).tolist() for passes in (1, 2, 3)]
    assert found == [[0, 0, 0, 1, 0, 2], [0, 0, 0, 1, 0, 0], [0, 0, 0, 1, 0, 2]]


@pytest.mark.small
def test_a_row_that_leaves_when_there_is_no_room_leaves_once():
    # Rows 2 and 3 draw the state away from row 1, which opens a fifth state where there is room for four.
    pulled = [[50, 50, 0, 0, 0], [30, 70, 0, 0, 0], [60, 40, 0, 0, 0], [65, 35, 0, 0, 0]]
    rows = naive_states.distributions(pulled + (100 * np.eye(5, dtype=int)[2:]).tolist())
    measure = matching.Variational(0.45)
    assert Aggregate("given", 1)(rows, measure).tolist() == [0, 0, 0, 0, 1, 2, 3]
    assert Aggregate("given", 2)(rows, measure).tolist() == [0, 4, 0, 0, 1, 2, 3]


@pytest.mark.small
@QUICK
@given(rows=tables(), passes=st.integers(1, 3))
def test_fractional_evidence_clusters_like_counts(rows, passes):
    # A tenth is no binary fraction: what a row leaves behind when it moves must not count as a state.
    measure = matching.Bhattacharyya(0.2)
    expected = expected_labels(rows, measure, range(len(rows)), passes)
    counts = naive_states.distributions(rows)
    found = Aggregate("given", passes)(replace(counts, count=counts.count * 0.1), measure)
    assert naive_states.canonical(found) == naive_states.canonical(expected)


@pytest.mark.small
@QUICK
@given(rows=tables(), cluster=st.sampled_from([Aggregate(), Aggregate(passes=2), Connect()]))
def test_exact_match_groups_proportional_counts(rows, cluster):
    found = cluster(naive_states.distributions(rows), matching.Exact())

    def proportional(i, j):
        return all(u * sum(rows[j]) == v * sum(rows[i]) for u, v in zip(rows[i], rows[j], strict=True))

    expected = naive_states.components(len(rows), proportional)
    assert naive_states.canonical(found) == naive_states.canonical(expected)


# ----------------------------------------------------------------------------------------------------- connect


@pytest.mark.small
@every_measure
@QUICK
@given(rows=tables(), data=st.data())
def test_connect_finds_components_in_any_order(measure, rows, data):
    n = len(rows)
    level = measure.level(n)
    alike = [[naive_states.similarity(measure, a, b, n) for b in rows] for a in rows]
    assume(all(abs(value - level) > 1e-7 * abs(level) for row in alike for value in row))
    expected = naive_states.components(n, lambda i, j: alike[i][j] > level)
    densities = naive_states.distributions(rows)
    assert naive_states.canonical(Connect()(densities, measure)) == naive_states.canonical(expected)
    order = data.draw(st.permutations(range(n)))
    shuffled = Connect()(naive_states.distributions([rows[i] for i in order]), measure)
    back = [0] * n
    for place, i in enumerate(order):
        back[i] = int(shuffled[place])
    assert naive_states.canonical(back) == naive_states.canonical(expected)


@pytest.mark.small
def test_connect_chains_what_aggregate_keeps_apart():
    rows = [[10 + i, 20 - i] for i in range(11)]
    densities = naive_states.distributions(rows)
    match = matching.Variational(0.1)
    assert set(Connect()(densities, match).tolist()) == {0}
    assert len(set(Aggregate()(densities, match).tolist())) > 1


@pytest.mark.small
def test_answers_that_are_no_match():
    densities = naive_states.distributions([[1, 0], [0, 1], [1, 1]])
    for answer in (False, np.False_, -1, -0.5, np.nan):
        for cluster in (Aggregate(passes=2), Connect()):
            assert len(set(cluster(densities, lambda a, b, answer=answer: answer).tolist())) == 3
    for answer in (True, np.True_, 0, 0.5, 3):
        for cluster in (Aggregate(passes=2), Connect()):
            assert len(set(cluster(densities, lambda a, b, answer=answer: answer).tolist())) == 1


# ----------------------------------------------------------------------------------------------------- average


@pytest.mark.small
@QUICK
@given(rows=tables(), data=st.data())
def test_average_is_the_weighted_mean(rows, data):
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    labels = np.array(naive_states.canonical(labels))
    densities = naive_states.distributions(rows)
    found = average(labels, densities)
    assert found.shape == (labels.max() + 1, densities.n_outcomes)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    for s in range(labels.max() + 1):
        weight = [sum(row) for row in rows]
        mean = sum(np.array(rows[r]) / weight[r] * weight[r] for r in np.flatnonzero(labels == s))
        np.testing.assert_allclose(found[s], mean / sum(weight[r] for r in np.flatnonzero(labels == s)), rtol=1e-12)


@pytest.mark.small
@QUICK
@given(rows=tables(), data=st.data())
def test_densities_are_averaged_by_their_own_observations(rows, data):
    n = len(rows)
    labels = np.array(naive_states.canonical(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))))
    # The evidence of a row, as its sum of kernels, says nothing about how often it was observed.
    weight = data.draw(st.lists(st.integers(1, 50), min_size=n, max_size=n))
    densities = replace(naive_states.distributions(rows), weight=np.array(weight))
    found = average(labels, densities)
    p = [naive_states.normalised(row) for row in rows]
    for s in range(labels.max() + 1):
        expected = naive_densities.mean(p, weight, np.flatnonzero(labels == s).tolist())
        np.testing.assert_allclose(found[s], expected, rtol=1e-12, atol=1e-15)


@pytest.mark.small
def test_a_density_seen_three_times_counts_three_times():
    densities = replace(naive_states.distributions([[1, 0], [0, 1]]), weight=np.array([3, 1]))
    assert average(np.zeros(2, int), densities).tolist() == [[0.75, 0.25]]


# ---------------------------------------------------------------------------------------------------- refusals

ONE = naive_states.distributions([[1, 2]])


@pytest.mark.small
@pytest.mark.parametrize("passes", [0, -1, 1.5, "2", None])
def test_wrong_passes_are_refused(passes):
    message = r"^The 'passes' of Aggregate is .*; it must be an integer of at least 1: try passes=1\.$"
    with pytest.raises(ValueError, match=message):
        Aggregate(passes=passes)(ONE, matching.GTest())


@pytest.mark.small
@pytest.mark.parametrize("order", ["size", None, 3])
def test_wrong_order_is_refused(order):
    message = r"^The 'order' of Aggregate is .*; it must be one of 'count', 'random', 'given': choose one\.$"
    with pytest.raises(ValueError, match=message):
        Aggregate(order=order)(ONE, matching.GTest())


@pytest.mark.small
def test_wrong_levels_are_refused_by_both():
    for cluster in (Aggregate(), Connect()):
        with pytest.raises(ValueError, match="'alpha' of GTest"):
            cluster(ONE, matching.GTest(2.0))
        with pytest.raises(ValueError, match="'threshold' of Variational"):
            cluster(ONE, matching.Variational(0.0))


@pytest.mark.small
def test_resolve():
    assert resolve(None, 3, 7) == Aggregate(passes=3, random_state=7)
    assert resolve("aggregate", 2, None) == Aggregate(passes=2)
    assert resolve("connect", 2, None) == Connect()
    own = Aggregate("given")
    assert resolve(own, 2, None) is own
    for wrong in ("single", 3, Aggregate, Connect):
        with pytest.raises(ValueError, match=r"^The 'cluster' is .*; it must be 'aggregate', .*: choose one\.$"):
            resolve(wrong, 1, None)
