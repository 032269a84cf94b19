"""Causal states of light cones: each step against its naive twin, known answers, and what must not change them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_cone_states as slow
import naive_cones as naive
from decisional._kernels import nested_cones, sparse_tests
from decisional.data.nesting import UNIT
from decisional.states import cone_states
from naive_tallies import same_partition, same_states, same_tally

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def small_fields(draw, axes=(1, 1, 2)):
    """Fields, their options and what is missing."""
    rng, space = draw(seeds), draw(st.sampled_from(axes))
    options = {
        "past": draw(st.integers(1, 3 if space == 1 else 2)),
        "future": draw(st.integers(2, 3 if space == 1 else 2)),
        "boundary": draw(st.sampled_from(["periodic", "open", "reflect"])),
        "include_present": draw(st.booleans()),
        "past_row_only": draw(st.booleans()),
        "neighbourhood": draw(st.sampled_from(["moore", "von_neumann"])),
    }
    fields = []
    for _ in range(draw(st.integers(1, 2))):
        shape = (draw(st.integers(6, 9)), *(draw(st.integers(5, 8)) for _ in range(space)))
        fields.append(rng.integers(0, draw(st.integers(1, 3)), shape))
    masks = [rng.random(field.shape) < draw(st.sampled_from([0.0, 0.03])) for field in fields]
    return fields, masks, options


def observed(case):
    """Observations of a case, and the same by the naive twin."""
    fields, masks, options = case
    obs = ds.observe.light_cones(fields, mask=masks, **options)
    dicts = [naive.as_field(field, mask) for field, mask in zip(fields, masks, strict=True)]
    return obs, dicts, slow.occurrences(dicts, **options)


def cells(case):
    """The offsets of x and of z."""
    fields, _, o = case
    past = naive.past_cells(fields[0].ndim - 1, o["past"], 1, o["past_row_only"], o["neighbourhood"])
    return past, naive.future_cells(fields[0].ndim - 1, o["future"], 1, o["include_present"], o["neighbourhood"])


@settings(max_examples=40, deadline=None)
@given(small_fields())
def test_what_is_counted_of_dependence_is_that_of_the_naive_twin(case):
    try:
        obs, dicts, found = observed(case)
    except ValueError:
        return
    tally = obs.tally()
    dependence, (past, future) = tally.dependence, cells(case)
    words = [tuple(obs.letters[k] for k in word) for word in obs.words(np.arange(len(tally.x))).tolist()]
    assert dependence.nesting.past == tuple(slow.rows_of(past))
    boundary = case[2]["boundary"]
    for size, number, apart in zip(
        slow.rows_of(past), dependence.nesting.sub_cones(tally.x), dependence.apart, strict=True
    ):
        expected = slow.independent(found, size, future, dicts, boundary, UNIT)
        assert {word[:size]: int(apart[k]) for word, k in zip(words, number, strict=True)} == expected
        assert len(expected) == apart.size
    for places, code in zip(slow.levels_of(future), dependence.nesting.levels(tally.z), strict=True):
        named = {tuple(tuple(z)[i] for i in places): k for z, k in zip(obs.outcomes, code.tolist(), strict=True)}
        assert len(named) == code.max() + 1
        assert [named[tuple(tuple(z)[i] for i in places)] for z in obs.outcomes] == code.tolist()
    key, count = dependence.regional
    pair, region = np.divmod(key, dependence.n_regions)
    mine = {}
    for x, z, r, k in zip(*np.divmod(pair, len(tally.z)), region, count, strict=True):
        mine.setdefault((words[x], obs.outcomes[int(z)]), []).append((int(r), int(k)))
    theirs = {}
    for x, z, number, cell in found:
        parts = theirs.setdefault((x, z), {})
        part = slow.region_of(cell, dicts[number][1])
        parts[part] = parts.get(part, 0) + 1
    cuts = 4 if case[0][0].ndim == 2 else 2
    flat = {
        pair: sorted((sum(p * cuts**k for k, p in enumerate(part[::-1])), n) for part, n in parts.items())
        for pair, parts in theirs.items()
    }
    assert mine == flat


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_moments_of_the_statistic_are_exact(data):
    columns = data.draw(st.lists(st.integers(1, 5), min_size=2, max_size=4).filter(lambda t: sum(t) >= 6))
    a = data.draw(st.integers(1, sum(columns) - 1))
    mean, variance, third = slow.cumulants(a, columns)
    n, c = float(sum(columns)), float(len(columns))
    inverse, square = sum(1 / t for t in columns), sum(1 / t**2 for t in columns)
    assert (c - 1.0) * n / (n - 1.0) == pytest.approx(float(mean), rel=1e-12)
    assert sparse_tests.variance(a, n, c, inverse) == pytest.approx(float(variance), rel=1e-9, abs=1e-9)
    assert sparse_tests.third_cumulant(a, n, c, inverse, square) == pytest.approx(float(third), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(("a", "columns"), [(20, [50] * 4 + [1] * 20), (44, [4] * 512), (10**6, [10**5] * 100)])
def test_the_third_cumulant_of_large_tables_keeps_its_digits(a, columns):
    """Against fractions, from the factorial moments of the counts of single outcomes."""
    n = sum(columns)
    inverse, square = sum(1 / t for t in columns), sum(1 / t**2 for t in columns)
    expected = third_from_factorial_moments(a, columns)
    assert sparse_tests.third_cumulant(a, float(n), float(len(columns)), inverse, square) == pytest.approx(
        float(expected), rel=1e-6
    )


def third_from_factorial_moments(a, columns):
    """Return the third cumulant by sums over outcomes of polynomials, whose k-th term stands for (a)_k / (n)_k."""
    from fractions import Fraction

    stirling = {2: [0, 1, 1], 4: [0, 1, 7, 6, 1], 6: [0, 1, 31, 90, 65, 15, 1]}

    def falling(t, k):
        value = Fraction(1)
        for i in range(k):
            value *= t - i
        return value

    def times(p, q):
        product = [Fraction(0)] * (len(p) + len(q) - 1)
        for i, x in enumerate(p):
            for j, y in enumerate(q):
                product[i + j] += x * y
        return product

    def plus(*terms):
        size = max(len(p) for _, p in terms)
        return [sum(k * (p[i] if i < len(p) else 0) for k, p in terms) for i in range(size)]

    kinds = {t: columns.count(t) for t in set(columns)}
    power = {
        t: [[s * falling(t, k) / Fraction(t) ** m for k, s in enumerate(stirling[2 * m])] for m in (1, 2, 3)]
        for t in kinds
    }

    def total(make):
        return plus(*((number, make(power[t])) for t, number in kinds.items()))

    one, two, three = (total(lambda f, m=m: f[m]) for m in range(3))
    same2, same3 = total(lambda f: times(f[0], f[0])), total(lambda f: times(times(f[0], f[0]), f[0]))
    mixed = total(lambda f: times(f[1], f[0]))
    n = sum(columns)

    def mean(p):
        return sum(c * falling(a, k) / falling(n, k) for k, c in enumerate(p) if c)

    m1, m2 = mean(one), mean(plus((1, times(one, one)), (-1, same2), (1, two)))
    cube = plus((1, times(times(one, one), one)), (-3, times(one, same2)), (2, same3))
    m3 = mean(plus((1, cube), (3, times(two, one)), (-3, mixed), (1, three)))
    return Fraction(n * n, a * (n - a)) ** 3 * (m3 - 3 * m1 * m2 + 2 * m1**3)


def moments(a, columns):
    """Mean, variance and third cumulant in floats, by the kernels that were compared with fractions above."""
    n, c = float(sum(columns)), float(len(columns))
    inverse, square = sum(1 / t for t in columns), sum(1 / t**2 for t in columns)
    third = sparse_tests.third_cumulant(float(a), n, c, inverse, square)
    return (c - 1.0) * n / (n - 1.0), sparse_tests.variance(float(a), n, c, inverse), third


def structured(rng, steps=24, side=12, colours=2, noise=0.05):
    """An automaton with noise, whose cones differ."""
    rule = rng.integers(0, colours, 3 * colours)
    field = np.empty((steps, side), np.int64)
    field[0] = rng.integers(0, colours, side)
    for t in range(1, steps):
        total = field[t - 1] + np.roll(field[t - 1], 1) + np.roll(field[t - 1], -1)
        field[t] = np.where(rng.random(side) < noise, rng.integers(0, colours, side), rule[total])
    return field


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 3), st.integers(2, 3), st.sampled_from([0.01, 0.3]))
def test_rows_are_those_of_the_naive_twin(rng, past, future, alpha):
    obs = ds.observe.light_cones(structured(rng, steps=int(rng.integers(12, 60))), past, future)
    tally, table = obs.tally(), obs.table()
    nesting = tally.dependence.nesting
    levels, clumps = np.stack(nesting.levels(tally.z)), rng.uniform(1.0, 2.0, len(nesting.future) + 1)
    rows = cone_states.told_apart(tally, table, levels, clumps, alpha)
    words = list(map(tuple, obs.words(np.arange(table.n_x)).tolist()))
    z = list(map(tuple, obs.outcome_cells.tolist()))
    counts = {
        word: {z[table.outcome[i]]: int(table.count[i]) for i in range(table.start[k], table.start[k + 1])}
        for k, word in enumerate(words)
    }
    apart = [
        {word[:size]: value[k] / UNIT for word, k in zip(words, number, strict=True)}
        for size, number, value in zip(nesting.past, nesting.sub_cones(tally.x), tally.dependence.apart, strict=True)
    ]
    places = slow.levels_of(naive.future_cells(1, future, 1, False, "moore"))
    expected = slow.told_apart(counts, nesting.past, places, apart, clumps, cone_states.FALSE * alpha, moments)
    cells_of = (0, *nesting.past)
    found = {
        word: words[rows.member[row]][: cells_of[rows.depth[row]]] for word, row in zip(words, rows.of_x, strict=True)
    }
    assert found == expected


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(1, 3), st.integers(2, 12), st.sampled_from([0.3, 0.01, 1e-4]))
def test_states_are_those_of_the_naive_twin(rng, n_levels, n_rows, alpha):
    sizes = [2, 4, 9][:n_levels]
    kinds = rng.dirichlet(np.ones(sizes[-1]), 3)
    rows = []
    for _ in range(n_rows):
        draws = rng.choice(sizes[-1], int(rng.integers(1, 60)), p=kinds[rng.integers(3)])
        rows.append([{z: int((draws % size == z).sum()) for z in set((draws % size).tolist())} for size in sizes])
    total = [slow.added(row[level] for row in rows) for level in range(n_levels)]
    share = [{z: k / sum(t.values()) for z, k in t.items()} for t in total]
    apart = np.array([sum(row[-1].values()) for row in rows]) * rng.uniform(0.3, 1.0, n_rows)
    clumps, near = rng.uniform(1.0, 1.5, n_levels), min(1, n_levels - 1)
    order = rng.permutation(n_rows)
    expected = slow.visit(order, rows, apart, share, near, clumps, alpha, 4, moments)
    base = np.cumsum([0, *sizes])
    start, outcome, count = np.zeros((n_levels, n_rows + 1), np.int64), [], []
    for level in range(n_levels):
        for r in range(n_rows):
            start[level, r] = len(outcome)
            for z, k in sorted(rows[r][level].items()):
                outcome.append(base[level] + z)
                count.append(float(k))
        start[level, n_rows] = len(outcome)
    flat = np.zeros(base[-1])
    for level in range(n_levels):
        for z, p in share[level].items():
            flat[base[level] + z] = p
    n = np.array([float(sum(row[-1].values())) for row in rows])
    label = np.empty(n_rows, np.int64)
    how = near, flat, clumps, alpha, 4
    n_states = nested_cones.visit(order, start, np.array(outcome), np.array(count), n, apart, *how, label)
    assert label.tolist() == [expected[r] for r in range(n_rows)]
    assert n_states == max(expected.values()) + 1


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 6), st.integers(1, 4))
def test_differences_between_regions_are_those_of_the_naive_twin(rng, n_x, n_regions):
    regional = {}
    for x in range(n_x):
        for _ in range(int(rng.integers(1, 30))):
            place = int(rng.integers(0, 5)), int(rng.integers(0, n_regions))
            regional.setdefault(x, {})[place] = regional.get(x, {}).get(place, 0) + 1
    entries = sorted((x, z, r, k) for x, row in regional.items() for (z, r), k in row.items())
    x, z, r, k = map(np.array, zip(*entries, strict=True))
    start = np.searchsorted(x, np.arange(n_x + 1))
    found = nested_cones.differences(start, z, r, k, np.arange(5), n_regions)
    assert found == pytest.approx(slow.differences(regional), rel=1e-9, abs=1e-9)


AUTOMATA = {
    "rule 54": partial(ds.processes.elementary_ca, 54, 80, 120, rng=3),
    "rule 22": partial(ds.processes.elementary_ca, 22, 60, 150, rng=3),
    "life": partial(ds.processes.game_of_life, (20, 24), 40, rng=3),
    "cyclic": partial(ds.processes.cyclic_automaton, (20, 24), 30, colours=3, rng=3),
}


def cones_of(field, **options):
    past, future = (4, 3) if field.ndim == 2 else (2, 2)
    return ds.observe.light_cones(field, past, future, **options)


@pytest.mark.parametrize("name", AUTOMATA)
@pytest.mark.parametrize("boundary", ["periodic", "open", "reflect"])
def test_slices_and_merged_counts_have_the_same_states(name, boundary):
    field = AUTOMATA[name]()
    mask = np.random.default_rng(0).random(field.shape) < 0.002
    how = {"boundary": boundary, "mask": mask, "transitions": "time"}
    whole = ds.CausalStates().fit(cones_of(field, **how))
    assert whole.n_states_ > 2
    for chunks in (1, 7, 33):
        sliced = cones_of(field, chunks=chunks, **how)
        same_tally(whole.observations_.tally().observed(), sliced.tally())
        same_states(whole, ds.CausalStates().fit(sliced))
        added = ds.CausalStates()
        for piece in reversed(list(sliced.pieces())):
            added.partial_fit(piece)
        same_states(whole, added, labels=False)


@pytest.mark.parametrize("name", ["rule 22", "life"])
def test_fields_one_by_one_have_the_states_of_a_list(name):
    field = AUTOMATA[name]()
    parts = [field[:30], field[20:]]
    whole = ds.CausalStates().fit(ds.observe.light_cones(parts, 2, 2))
    first, second = (ds.CausalStates().fit(ds.observe.light_cones(part, 2, 2)) for part in parts)
    same_states(whole, first.merge(second), labels=False)


@pytest.mark.parametrize("name", AUTOMATA)
def test_names_of_colours_and_the_sides_of_space_do_not_matter(name):
    field = AUTOMATA[name]()
    plain = ds.CausalStates().fit(cones_of(field))
    labels = plain.observations_.field(plain.labels_)
    colours = np.array([5, 2, 9, 1])[field]
    changed = {"colours": (colours, lambda f: f)}
    changed |= {f"axis {k}": (np.flip(field, k), partial(np.flip, axis=k)) for k in range(1, field.ndim)}
    if field.ndim == 3:
        changed["axes"] = field.transpose(0, 2, 1), lambda f: f.transpose(0, 2, 1)
    for what, (other, back) in changed.items():
        causal = ds.CausalStates().fit(cones_of(np.ascontiguousarray(other)))
        found = back(causal.observations_.field(causal.labels_))
        known = ~np.isnan(labels)
        pairs = set(zip(labels[known].tolist(), found[known].tolist(), strict=True))
        assert causal.n_states_ == plain.n_states_, what
        assert len(pairs) == plain.n_states_, what
        assert causal.complexity_ == pytest.approx(plain.complexity_, abs=1e-12)


def test_labels_of_the_same_data_are_those_of_fit():
    for name in AUTOMATA:
        obs = cones_of(AUTOMATA[name]())
        causal = ds.CausalStates().fit(obs)
        assert (causal.predict(obs) == causal.labels_).all()


def test_unseen_cones_take_the_deepest_known_sub_cone():
    field = AUTOMATA["rule 22"]()
    causal = ds.CausalStates().fit(ds.observe.light_cones(field, 5, 3))
    other = ds.observe.light_cones(ds.processes.elementary_ca(22, 60, 150, rng=4), 5, 3)
    states = causal.predict(other)
    rows = causal._found.evidence.rows
    fitted, table = causal.observations_, causal.observations_.table()
    sizes = (0, *fitted.tally().dependence.nesting.past)
    words = list(map(tuple, fitted.words(np.arange(table.n_x)).tolist()))
    seen = dict(zip(words, causal.states_.labels.tolist(), strict=True))
    known = {
        words[m][: sizes[d]]: s
        for m, d, s in zip(rows.member, rows.depth, causal._found.evidence.row_states.tolist(), strict=True)
    }
    for x, state in zip(other.words(other.x).tolist(), states.tolist(), strict=True):
        word = tuple(x)
        expected = seen.get(word)
        for size in reversed(sizes):
            if expected is None:
                expected = known.get(word[:size])
        assert state == expected
    assert not set(map(tuple, other.words(np.arange(other.table().n_x)).tolist())) <= set(words)


@pytest.mark.parametrize(
    ("rule", "cones", "n_states"),
    [
        *((90, (4, 3), 1), (150, (4, 3), 1), (105, (3, 2), 1), (60, (3, 2), 2), (60, (4, 3), 4), (102, (3, 3), 4)),
        *((170, (3, 3), 2), (204, (3, 2), 8), (30, (3, 2), 4)),
    ],
)
def test_rules_with_known_states(rule, cones, n_states):
    field = ds.processes.elementary_ca(rule, 600, 500, rng=7)
    assert ds.CausalStates().fit(ds.observe.light_cones(field, *cones)).n_states_ == n_states


@pytest.mark.parametrize(
    ("shape", "colours"), [((200, 300), 2), ((200, 300), 4), ((30, 40, 40), 2), ((40, 9, 9, 9), 2)]
)
def test_noise_has_one_state(shape, colours):
    for seed in range(3):
        field = np.random.default_rng(seed).integers(0, colours, shape)
        for past in (1, 2, 3) if len(shape) < 4 else (1, 2):
            assert ds.CausalStates().fit(ds.observe.light_cones(field, past, 2)).n_states_ == 1


def test_deeper_cones_do_not_lose_states():
    field = ds.processes.elementary_ca(22, 600, 500, rng=1)[100:]
    found = [ds.CausalStates().fit(ds.observe.light_cones(field, past, 3)).n_states_ for past in (3, 5, 8)]
    assert found[0] > 10
    assert found == sorted(found)


def test_other_matches_are_there_by_name():
    obs = cones_of(AUTOMATA["rule 54"]())
    default = ds.CausalStates().fit(obs)
    assert default.match_ == ds.Evidence()
    same_states(default, ds.CausalStates(match=ds.Evidence()).fit(obs))
    for match in (ds.GTest(), ds.Variational(0.1), "exact"):
        causal = ds.CausalStates(match=match).fit(obs)
        assert causal.warning_ is None
        assert causal.n_states_ != default.n_states_
    assert ds.CausalStates(cluster="connect").fit(obs).match_ == ds.GTest()


def test_doubt_is_said():
    rng = np.random.default_rng(5)
    obs = ds.observe.light_cones(rng.integers(0, 4, (40, 60)), 4, 3)
    assert "too rare" in ds.CausalStates().fit(obs).warning_
    assert ds.CausalStates().fit(cones_of(AUTOMATA["rule 54"]())).warning_ is None


def test_chosen_observations_have_the_dependence_of_their_own():
    field = AUTOMATA["rule 22"]()
    whole = ds.observe.light_cones(field, 3, 3)
    some = whole[40:100]
    alone = ds.observe.light_cones(field[40 - 2 : 100 + 2], 3, 3).tally().dependence
    for one, two in zip(some.tally().dependence.apart, alone.apart, strict=True):
        assert np.array_equal(one, two)
    # All outcomes of the whole keep their numbers.
    assert np.array_equal(some.tally().dependence.regional[1], alone.regional[1])


def test_sparse_distributions_tell_the_same(monkeypatch):
    from decisional.report.findings import Findings
    from decisional.states import aggregation

    obs = cones_of(AUTOMATA["life"]())
    new = cones_of(ds.processes.game_of_life((20, 24), 40, rng=4))
    dense = ds.CausalStates().fit(obs)
    monkeypatch.setattr(aggregation, "DENSE", 10)
    sparse = ds.CausalStates().fit(obs)
    assert not isinstance(sparse.distributions_, np.ndarray)
    assert np.array_equal(sparse.distributions_.toarray(), dense.distributions_)
    assert np.array_equal(sparse.predict_proba(new).toarray(), dense.predict_proba(new))
    assert sparse.score(new) == dense.score(new)
    assert np.array_equal(sparse.path().merges, dense.path().merges)
    one, two = (causal.coarsen(n_states=5) for causal in (sparse, dense))
    assert np.allclose(one.distributions_.toarray(), two.distributions_, atol=1e-15)
    same_partition(one.states_, two.states_)
    for utility in (ds.utility.matching_cells(), ds.utility.zero_one()):
        choices = [ds.DecisionalStates(utility).fit(causal) for causal in (sparse, dense)]
        assert list(choices[0].predictions_) == list(choices[1].predictions_)
        assert choices[0].utility_ == pytest.approx(choices[1].utility_, abs=1e-12)
        assert choices[0].score(new) == choices[1].score(new)
    found = [Findings(causal=causal) for causal in (sparse, dense)]
    assert found[0].explained[0] == pytest.approx(found[1].explained[0], abs=1e-12)
    assert np.array_equal(found[0].distribution(3), found[1].distribution(3))
