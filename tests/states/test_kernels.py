"""Kernel densities, their widths and their clustering against loops over all pairs."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import decisional as ds
import naive_densities as naive
import naive_states
from decisional.states import aggregation, bandwidths
from decisional.states import kernels as module
from decisional.states.aggregation import Aggregate, Connect
from decisional.support import executors
from strategies_symbols import COMPILED, examples

WIDTHS = st.sampled_from([0.3, 0.7, 1.0, 2.5])


def triangle(square):
    return np.maximum(0.0, 1.0 - np.sqrt(square))


def observed(obs):
    """Observations as a list of (x, z), tuples of Python values."""
    z = [value if isinstance(value, tuple) else (value,) for value in obs.outcomes]
    points = list(map(tuple, obs.points.tolist()))
    return [(points[i], z[k]) for i, k in zip(obs.x, obs.z, strict=True)]


def compare(kernels, obs, sigma, z_sigma, query=None, **options):
    """Densities of the library at the distinct x, or sums at others, against those of loops."""
    model = kernels.model(obs)
    samples = [value if isinstance(value, tuple) else (value,) for value in model.samples]
    points = obs.points if query is None else query
    expected = np.array(
        naive.sums(observed(obs), samples, sigma, z_sigma, list(map(tuple, points.tolist())), **options)
    )
    if query is not None:
        assert np.allclose(model(query), expected.reshape(len(query), len(samples)), rtol=1e-5, atol=1e-6)
        return
    if (expected.sum(axis=1) == 0).any():
        with pytest.raises(ValueError, match="give more samples"):
            kernels.estimate(obs)
        return
    p = kernels.estimate(obs).p
    # Shares of next to nothing are those of rounding; each observation may lose what is cut off, jointly or not.
    total = expected.sum(axis=1, keepdims=True)
    exact = 1e-6 + obs.n * (1e-9 if options.get("joint") else 0.0) / total
    assert (np.abs(p - expected / total) < exact)[total[:, 0] >= 1e-6].all()


@st.composite
def observations(draw, z="numbers"):
    """Continuous pairs with copies of x and of z."""
    d = draw(st.integers(1, 3))
    value = st.integers(-24, 24).map(lambda v: v / 8 + 0.01)
    base = draw(st.lists(st.tuples(*[value] * d), min_size=1, max_size=8))
    if z == "numbers":
        outcome = st.sampled_from(draw(st.lists(value, min_size=1, max_size=6)))
    elif z == "vectors":
        outcome = st.tuples(value, value).map(list)
    else:
        outcome = st.sampled_from("abc")
    pairs = draw(st.lists(st.tuples(st.sampled_from(base), outcome), min_size=1, max_size=14))
    return ds.observe.pairs(np.array([x for x, _ in pairs]), [z for _, z in pairs]), d


# ---------------------------------------------------------------------------------------------- densities


@pytest.mark.small
@given(observations(), st.data(), st.booleans(), st.sampled_from([1e-9, 1e-9, 0.01, 0.3]))
@examples(150, 25)
def test_densities_are_those_of_loops(case, data, joint, cutoff):
    obs, d = case
    widths = (
        [data.draw(WIDTHS)] * d if data.draw(st.booleans()) else data.draw(st.lists(WIDTHS, min_size=d, max_size=d))
    )
    z_sigma = data.draw(WIDTHS)
    samples = data.draw(st.sampled_from([None, 2, 7, np.array([-1.0, 0.01, 2.0, 0.5])]))
    query = np.array(data.draw(st.lists(st.tuples(*[st.floats(-3, 3)] * d), max_size=3))).reshape(-1, d)
    kernels = ds.Kernels(widths, z_sigma, joint=joint, cutoff=cutoff, samples=samples)
    compare(kernels, obs, widths, z_sigma, cutoff=cutoff, joint=joint)
    # The cut-off of the product and that of its factors differ by what is as good as nothing.
    compare(kernels, obs, widths, z_sigma, query, cutoff=cutoff, joint=joint)


@pytest.mark.small
@given(observations(), WIDTHS, st.booleans(), st.sampled_from([None, 5]))
@examples(80, 15)
def test_any_kernel_is_that_of_loops(case, sigma, joint, samples):
    obs, d = case
    kernels = ds.Kernels(sigma, kernel=triangle, joint=joint, samples=samples)
    scalar = lambda square: max(0.0, 1.0 - math.sqrt(square))  # noqa: E731
    compare(kernels, obs, [sigma] * d, sigma, kernel=scalar, joint=joint)


@pytest.mark.small
@given(observations("kinds"), WIDTHS, st.booleans())
@examples(60, 15)
def test_kinds_are_kept_apart(case, sigma, joint):
    obs, d = case
    compare(ds.Kernels(sigma), obs, [sigma] * d, 0.0)
    compare(ds.Kernels(sigma, kernel=lambda s: np.exp(-0.5 * s), joint=joint), obs, [sigma] * d, 0.0, joint=joint)


@pytest.mark.small
@given(observations("vectors"), WIDTHS, WIDTHS)
@examples(60, 15)
def test_vectors_of_z(case, sigma, z_sigma):
    obs, d = case
    compare(ds.Kernels(sigma, z_sigma), obs, [sigma] * d, z_sigma)
    compare(ds.Kernels([sigma] * d + [z_sigma], samples=3), obs, [sigma] * d, z_sigma)


@pytest.mark.small
@given(observations(), WIDTHS)
@examples(60, 15)
def test_no_width_keeps_values_of_z_apart(case, sigma):
    obs, d = case
    compare(ds.Kernels(sigma, z_bandwidth=0), obs, [sigma] * d, 0.0)


@pytest.mark.small
def test_integers_and_images():
    rng = np.random.default_rng(0)
    obs = ds.observe.image(rng.integers(0, 4, (7, 7)).astype(np.uint8), "cross")
    assert obs.points.dtype.kind in "iu"
    compare(ds.Kernels(1.5**0.5), obs, [1.5**0.5] * 4, 1.5**0.5)
    compare(ds.Kernels([1.0, 2.0, 3.0, 1.0], 0.5), obs, [1.0, 2.0, 3.0, 1.0], 0.5)


@pytest.mark.parametrize("samples", [None, 40, "quantiles", "random"])
@pytest.mark.parametrize("z_sigma", [0.002, 0.02, 0.3, 3.0])
def test_many_values_of_z(samples, z_sigma):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(700, 1))
    obs = ds.observe.pairs(x, x[:, 0] + 0.1 * rng.normal(size=700))
    assert len(obs.outcomes) > module.ALL
    kernels = ds.Kernels(0.3, z_sigma, samples=samples, random_state=3)
    model = kernels.model(obs)
    if z_sigma > 0.1:
        # Bins of z, with cubics between them.
        assert model._z((np.arange(2), np.arange(1), np.ones(1)))[1] < 700
    square = (obs.points[::50, None, 0] - x[None, :, 0]) ** 2 / 0.09
    near = np.exp(-0.5 * square)
    kz = np.exp(
        -0.5 * ((x[:, 0] * 0 + np.array(obs.outcomes)[obs.z])[:, None] - np.array(model.samples)) ** 2 / z_sigma**2
    )
    expected = np.where(near < 1e-9, 0, near) @ np.where(kz < 1e-9, 0, kz)
    found = model(obs.points[::50])
    assert (np.abs(found - expected) <= 1e-6 * np.maximum(expected.sum(1, keepdims=True), 1e-3)).all()
    assert (found >= 0).all()


@pytest.mark.small
def test_sample_points():
    rng = np.random.default_rng(2)
    z = rng.normal(size=600)
    obs = ds.observe.pairs(rng.normal(size=600), z)
    at = {s: ds.Kernels(0.5, samples=s).model(obs).samples for s in (None, 30, "quantiles", "random")}
    assert at[None] == np.linspace(z.min(), z.max(), 200).tolist()
    assert at[30] == np.linspace(z.min(), z.max(), 30).tolist()
    assert set(at["quantiles"]) < set(z)
    assert len(at["quantiles"]) == len(at["random"]) == 200
    assert abs(np.median(at["quantiles"]) - np.median(z)) < 0.02
    again = ds.Kernels(0.5, samples="random", random_state=0).model(obs).samples
    assert again == ds.Kernels(0.5, samples="random", random_state=0).model(obs).samples
    # All values where they are evenly spaced or repeat; otherwise sums over them would lean to where many are.
    few = ds.observe.pairs(rng.normal(size=100), rng.normal(size=100))
    assert len(ds.Kernels(0.5).model(few).samples) == 200
    steps = ds.observe.pairs(rng.normal(size=100), rng.integers(0, 20, 100) / 10)
    assert ds.Kernels(0.5).model(steps).samples == steps.outcomes
    kinds = ds.observe.pairs(rng.normal(size=100), rng.choice([0.1, 0.15, 7.0, 8.123], 100))
    assert ds.Kernels(0.5).model(kinds).samples == [0.1, 0.15, 7.0, 8.123]


@pytest.mark.small
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=40))
@examples(80, 15)
def test_the_delta_kernel_counts(pairs):
    x = np.array([[k, k / 2 + 0.25] for k, _ in pairs])
    for z in ([k for _, k in pairs], [k + 0.5 for _, k in pairs]):
        obs = ds.observe.pairs(x, z)
        counts, delta = ds.Counts().estimate(obs), ds.Kernels(kernel="delta").estimate(obs)
        assert (delta.start == counts.start).all()
        assert (delta.outcome == counts.outcome).all()
        assert (delta.count == counts.count).all()
        a = ds.CausalStates(density=ds.Counts(), match="exact").fit(x, z)
        b = ds.CausalStates(density=ds.Kernels(kernel="delta"), match="exact").fit(x, z)
        assert (a.labels_ == b.labels_).all()
        assert a.outcomes_ == b.outcomes_
        assert np.allclose(a.distributions_, b.distributions_, rtol=0, atol=1e-15)
        assert np.isnan(b.predict_proba(x + 0.1)).all()


@pytest.mark.small
def test_states_average_over_their_observations():
    rng = np.random.default_rng(5)
    obs = ds.observe.pairs(rng.normal(size=60).round(1), rng.choice([0.5, 1.5, 3.5], 60))
    causal = ds.CausalStates(density=ds.Kernels(0.5), match=ds.Bhattacharyya(0.1)).fit(obs)
    p, weight = ds.Kernels(0.5).estimate(obs).p, obs.table().weight
    for state in range(causal.n_states_):
        inside = causal.states_.labels == state
        assert np.allclose(causal.distributions_[state], weight[inside] @ p[inside] / weight[inside].sum(), atol=1e-6)


# ------------------------------------------------------------------------------------------------- widths


@pytest.mark.small
def test_given_widths():
    obs = ds.observe.pairs(np.array([[0.5, 1.0], [1.5, 2.0], [2.0, 0.0]]), [0.5, 1.0, 2.0])

    def chosen(*arguments):
        widths = bandwidths.choose(*arguments, obs)
        assert widths.x_scale is widths.z_scale is None
        return [*widths.sigma.tolist(), widths.z_sigma]

    assert chosen(2.0, None) == [2, 2, 2]
    assert chosen([1.0, 3.0], None) == [1, 3, 2]
    assert chosen([1.0, 3.0, 5.0], None) == [1, 3, 5]
    assert chosen(2.0, 0.25) == [2, 2, 0.25]
    distance = np.mean([math.dist(a, b) for a, b in [((0.5, 1, 0.5), (1.5, 2, 1)), ((1.5, 2, 1), (0.5, 1, 0.5))]])
    far = math.dist((2.0, 0, 2), (1.5, 2, 1))
    assert chosen("nearest", None) == pytest.approx(
        [(2 * distance + min(far, math.dist((2, 0, 2), (0.5, 1, 0.5)))) / 6] * 3
    )
    spread = np.array([np.std([0.5, 1.5, 2]), np.std([1, 2, 0]), np.std([0.5, 1, 2])])
    assert chosen("rule", None) == pytest.approx((spread * 3 ** (-1 / 7)).tolist())


@pytest.mark.small
def test_cross_validation_is_the_likelihood_of_the_others():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2))
    obs = ds.observe.pairs(x, x[:, 0] + rng.normal(size=40))
    sample = bandwidths.sampled(obs)
    task = bandwidths._Task(sample, False, 0.0)
    at = np.log([0.4, 0.9, 0.5])
    z = np.array(obs.outcomes)[obs.z]
    sx, sz = sample.x_scale.scale, sample.z_scale.scale[0]
    total = 0.0
    for i in range(40):
        others = [j for j in range(40) if j != i]
        w = {j: math.exp(-0.5 * sum(((x[i] - x[j]) / sx / [0.4, 0.9]) ** 2)) for j in others}
        k = {j: math.exp(-0.5 * ((z[i] - z[j]) / sz / 0.5) ** 2) / math.sqrt(2 * math.pi) / 0.5 for j in others}
        # Not to know costs: what is known without x is worth a tenth.
        blind = 1e-3 * 0.1 * np.mean(list(k.values()))
        p = (sum(w[j] * k[j] for j in others) + blind) / (sum(w.values()) + 1e-3)
        total += math.log(p + 1 / (20 * 40)) / 40
    loss, gradient = task.loss(at)
    # Exponentials of the kernels are exact to 1e-11.
    assert loss == pytest.approx(-total, rel=1e-11)
    assert gradient == pytest.approx(slopes(task, at), abs=1e-8)


@pytest.mark.small
def test_cross_validation_of_kinds_and_of_integers():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2))
    kinds = bandwidths._Task(bandwidths.sampled(ds.observe.pairs(x, (x[:, 0] > 0).tolist())), False, 0.0)
    at = np.log([0.4, 0.9, 1.0])
    assert kinds.loss(at)[1] == pytest.approx(slopes(kinds, at), abs=1e-8)
    obs = ds.observe.image(rng.integers(0, 9, (8, 9)).cumsum(axis=1))
    integers = bandwidths._Task(bandwidths.sampled(obs), False, 0.01)
    assert integers.loss(at[1:])[1] == pytest.approx(slopes(integers, at[1:]), abs=1e-8)


def slopes(task, at):
    return [(task.loss(at + e)[0] - task.loss(at - e)[0]) / 2e-5 for e in 1e-5 * np.eye(at.size)]


def test_cross_validation_ignores_dimensions_that_say_nothing():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3000, 3)) * [1.0, 5.0, 0.1]
    obs = ds.observe.pairs(x, np.sin(2 * x[:, 0]) + 0.2 * rng.normal(size=3000))
    sigma, z_sigma, *_ = bandwidths.choose("cv", None, obs)
    assert sigma[0] < 0.3
    assert sigma[1] > 5
    assert sigma[2] > 0.1
    assert 0.02 < z_sigma < 0.2
    assert bandwidths.choose("cv", 0.7, ds.observe.pairs(x, x[:, 1]))[1] == 0.7
    kinds = bandwidths.choose("cv", None, ds.observe.pairs(x, (x[:, 0] > 0).tolist()))
    assert kinds[1] == 0
    assert kinds[0][0] < 1 < kinds[0][1]


def test_integers_have_one_width_and_lattices_a_least_one():
    rng = np.random.default_rng(2)
    image = rng.integers(0, 9, (40, 40)).cumsum(axis=1)
    sigma, z_sigma, *_ = bandwidths.choose("cv", None, ds.observe.image(image))
    assert np.unique(sigma).size == 1
    assert z_sigma >= 0.49
    steps = np.round(rng.normal(size=3000), 2)
    assert bandwidths.choose("cv", None, ds.observe.delays(steps, 1))[1] >= 0.0049


@pytest.mark.small
def test_progress_is_told():
    lines = []
    rng = np.random.default_rng(0)
    obs = ds.observe.pairs(rng.normal(size=50), rng.normal(size=50))
    ds.Kernels(progress=lines.append).estimate(obs)
    assert any("bandwidth" in line for line in lines)
    assert any("kernel sums" in line for line in lines)


@pytest.mark.small
def test_parameters_are_those_of_scikit_learn():
    kernels = ds.Kernels(bandwidth=np.array([1.0, 2.0]), samples=30)
    copy = clone(kernels)
    assert copy == kernels
    assert copy is not kernels
    assert hash(copy) == hash(kernels)
    assert repr(kernels) == "Kernels(bandwidth=array([1., 2.]), samples=30)"
    assert repr(ds.Counts(3)) == "Counts(min_count=3)"
    assert ds.Counts() == ds.Counts()
    assert ds.Counts(2) != ds.Counts(3)
    assert ds.Kernels() != ds.Counts()
    assert kernels.set_params(samples=None).samples is None
    with pytest.raises(ValueError, match="no parameter 'width'"):
        kernels.set_params(width=1)
    causal = ds.CausalStates(density=ds.Kernels(1.0)).set_params(density__bandwidth=2.0)
    assert causal.get_params()["density__bandwidth"] == 2.0


def test_search_over_widths():
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, (400, 1))
    z = np.sin(3 * x[:, 0]) + 0.1 * rng.normal(size=400)
    widths = [0.001, 0.08, 3.0]
    nested = GridSearchCV(ds.CausalStates(density=ds.Kernels()), {"density__bandwidth": widths}, cv=3).fit(x, z)
    assert nested.best_params_ == {"density__bandwidth": 0.08}
    whole = GridSearchCV(ds.CausalStates(), {"density": [ds.Kernels(width, 0.1) for width in widths]}, cv=3).fit(x, z)
    assert whole.best_params_["density"].bandwidth == 0.08


@pytest.mark.small
def test_score_is_the_log_density():
    rng = np.random.default_rng(4)
    x = rng.normal(size=300)
    causal = ds.CausalStates(density=ds.Kernels(0.5, 0.3)).fit(x[:, None], x + rng.normal(size=300))
    z = np.array([0.0, 1.0, -1.0])  # integers among numbers are numbers
    expected = []
    for a, b in zip([0.1, 0.2, 0.3], z, strict=True):
        fitted = np.array(causal.observations_.outcomes)[causal.observations_.z]
        w = np.exp(-0.5 * ((x - a) / 0.5) ** 2)
        expected.append(np.log2(w @ np.exp(-0.5 * ((fitted - b) / 0.3) ** 2) / w.sum() / 0.3 / np.sqrt(2 * np.pi)))
    assert causal.score([[0.1], [0.2], [0.3]], z) == pytest.approx(np.mean(expected), abs=0.02)
    # Nothing near x, or z far from everything.
    assert causal.score([[99.5]], [0.5]) == pytest.approx(np.log2(1e-6))
    assert causal.score([[0.5]], [99.5]) == pytest.approx(np.log2(1e-6))
    # Sample points that are not evenly spaced give the same densities.
    uneven = np.concatenate([np.linspace(-6, 0, 40), np.linspace(0.01, 6, 300)])
    other = ds.CausalStates(density=ds.Kernels(0.5, 0.3, samples=uneven)).fit(x[:, None], fitted)
    assert other.score([[0.1], [0.2], [0.3]], z) == pytest.approx(np.mean(expected), abs=0.02)


# --------------------------------------------------------------------------------------------- clustering


def rows(seed, n, bins=12, kinds=4):
    """Noisy copies of a few densities, as `Distributions` of kernels."""
    rng = np.random.default_rng(seed)
    base = rng.dirichlet(np.full(bins, 0.7), kinds)
    p = base[rng.integers(0, kinds, n)] * rng.uniform(0.8, 1.25, (n, bins)) * rng.uniform(1, 9, (n, 1))
    p[rng.random(p.shape) < 0.1] = 0.0
    plain = naive_states.distributions(p)
    weight = rng.integers(1, 5, n)
    fields = {f: getattr(plain, f) for f in ("start", "outcome", "count", "n_outcomes", "row", "member", "depth")}
    return p, type(plain)(weight=weight, samples=list(range(bins)), **fields)


@pytest.mark.small
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 3), st.sampled_from([0.003, 0.05, 0.1, 0.2, 0.5]))
@examples(80, 15)
def test_leaders_are_those_of_loops(seed, n, passes, threshold):
    p, densities = rows(seed, n)
    labels = Aggregate(passes=passes)(densities, ds.Bhattacharyya(threshold))
    order = np.argsort(-densities.total, kind="stable").tolist()
    expected = naive.lead(p.tolist(), densities.weight.tolist(), threshold, order, passes)
    assert naive_states.canonical(labels) == naive_states.canonical(expected)


@pytest.mark.small
@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from(["Variational", "HarmonicMean", "JensenShannon"]))
@examples(60, 10)
def test_other_distances_and_single_link(seed, n, name):
    p, densities = rows(seed, n)
    match = getattr(ds, name)(0.1)
    order = np.argsort(-densities.total, kind="stable").tolist()

    def alike(a, b):
        return naive_states.similarity(match, a, b)

    try:
        expected = naive_states.aggregate(p.tolist(), alike, -0.1, order, 2)
    except naive_states.Tie:
        assume(False)
    found = Aggregate(passes=2)(densities, match)
    assert naive_states.canonical(found) == naive_states.canonical(expected)
    for other in (match, ds.Bhattacharyya(0.1)):
        linked = naive_states.components(n, lambda i, j, m=other: naive_states.similarity(m, p[i], p[j]) > -0.1)
        assert naive_states.canonical(Connect()(densities, other)) == naive_states.canonical(linked)


@pytest.mark.small
@pytest.mark.parametrize("match", [ds.Variational(0.3), ds.HarmonicMean(0.1), ds.JensenShannon(0.1), "exact", None])
@pytest.mark.parametrize("cluster", ["aggregate", "connect"])
def test_all_matches_work_on_kernel_densities(match, cluster):
    rng = np.random.default_rng(6)
    x = rng.normal(size=60)
    causal = ds.CausalStates(density=ds.Kernels(0.4), match=match, cluster=cluster).fit(
        x[:, None], x + rng.normal(size=60)
    )
    assert 1 <= causal.n_states_ <= 60
    assert np.allclose(causal.distributions_.sum(axis=1), 1)
    assert causal.predict(x[:, None]).shape == (60,)


@pytest.mark.small
def test_tests_of_counts_are_refused():
    x = np.linspace(0.1, 2.0, 20)[:, None]
    for match in (ds.GTest(), ds.ChiSquare()):
        with pytest.raises(ValueError, match="Bhattacharyya"):
            ds.CausalStates(density=ds.Kernels(0.4), match=match).fit(x, x[:, 0])
    # Those of the delta kernel are counts.
    ds.CausalStates(density=ds.Kernels(kernel="delta"), match=ds.GTest()).fit(x, x[:, 0])


@pytest.mark.skipif(not COMPILED, reason="large")
def test_nothing_depends_on_threads_or_blocks(monkeypatch):
    rng = np.random.default_rng(7)
    series = np.sin(np.arange(1000) / 5) + 0.2 * rng.normal(size=1000)
    obs = ds.observe.delays(series, 2)

    def fit():
        causal = ds.CausalStates(passes=2).fit(obs)
        return causal.states_.labels, causal.distributions_, causal.predict_proba(obs)

    base = fit()
    for threads, block in ((1, 1 << 13), (3, 100), (7, 1)):
        for owner in (executors, aggregation, module.kernel_sums.__globals__):
            if isinstance(owner, dict):
                monkeypatch.setitem(owner, "workers", lambda n=threads: n)
            else:
                monkeypatch.setattr(owner, "workers", lambda n=threads: n)
        monkeypatch.setattr(aggregation, "BLOCK", block)
        monkeypatch.setattr(module, "ROWS", block + 6)
        assert all((a == b).all() for a, b in zip(fit(), base, strict=True))


# ------------------------------------------------------------------------------------------- hard corners


@pytest.mark.small
@pytest.mark.parametrize("bandwidth", ["nearest", "rule", "cv", 1.0])
def test_constants_and_single_observations(bandwidth):
    kernels = ds.Kernels(bandwidth)
    for obs in (
        ds.observe.image(np.full((8, 8), 7, np.uint8)),
        ds.observe.image(np.full((8, 8), 0.3)),
        ds.observe.delays(np.full(20, 1.5), 3),
        ds.observe.delays([0.5, 1.5], 1),
        ds.observe.pairs([0.5], [0.25]),
        ds.observe.pairs([0.5], ["a"]),
    ):
        causal = ds.CausalStates(density=kernels).fit(obs)
        assert causal.n_states_ == 1
        assert causal.complexity_ == 0
        assert causal.distributions_.tolist() == [[1.0]]
        assert causal.predict(obs).tolist() == [0] * obs.n
        assert np.isfinite(causal.score(obs))
        choice = ds.DecisionalStates(ds.utility.zero_one()).fit(causal)
        assert choice.n_states_ == 1
    grid = ds.CausalStates(density=ds.Kernels(bandwidth, samples=9)).fit(ds.observe.delays(np.full(20, 1.5), 3))
    assert grid.outcomes_ == [1.5]


@pytest.mark.small
def test_missing_values_have_no_state():
    rng = np.random.default_rng(8)
    X, z = rng.normal(size=(30, 2)), rng.normal(size=30)
    X[3, 1], X[7], z[11] = np.nan, np.nan, np.nan
    causal = ds.CausalStates(density=ds.Kernels(0.8)).fit(X, z)
    gone = [3, 7, 11]
    assert np.flatnonzero(causal.labels_ < 0).tolist() == gone
    assert np.flatnonzero(np.isnan(causal.local_complexity_)).tolist() == gone
    assert causal.labels_.shape == (30,)
    known = np.delete(np.arange(30), gone)
    whole = ds.CausalStates(density=ds.Kernels(0.8)).fit(X[known], z[known])
    assert (whole.labels_ == causal.labels_[known]).all()
    assert np.flatnonzero(causal.predict(X) < 0).tolist() == gone[:2]
    p = causal.predict_proba(X)
    assert np.flatnonzero(np.isnan(p).all(axis=1)).tolist() == gone[:2]
    assert np.allclose(np.delete(p, gone[:2], axis=0).sum(axis=1), 1)
    assert causal.predict(np.full((2, 2), np.nan)).tolist() == [-1, -1]
    assert np.isnan(causal.predict_proba(np.full((2, 2), np.nan))).all()
    assert causal.predict([[1e6, 1e6]]).tolist() == [-1]
    choice = ds.DecisionalStates(ds.utility.squared_error()).fit(X, z)
    assert np.flatnonzero(choice.labels_ < 0).tolist() == gone
    with pytest.raises(ValueError, match="no complete pair"):
        ds.CausalStates(density=ds.Kernels()).fit(np.full((3, 2), np.nan), [1.5, 2.5, 3.0])


@pytest.mark.small
def test_integers_as_floats_and_integers():
    X = np.array([[0.0, 1.0], [2.0, 1.0], [0.0, 1.0], [5.0, 5.0]])
    z = [0, 1, 0, 1]
    expected = ds.CausalStates(density=ds.Kernels(1.0)).fit(X, z)
    other = ds.CausalStates(density=ds.Kernels(1.0)).fit(X.astype(int), z)
    assert (expected.labels_ == other.labels_).all()
    mixed = ds.CausalStates().fit(np.array([[0.5, 1.0], [2.0, 1.0]]), [0.5, 1.5])
    assert mixed.predict([[0, 1]]).shape == (1,)
    assert mixed.predict_proba(np.array([[2, 1]])).shape == (1, 2)


@pytest.mark.small
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"bandwidth": 0}, "'bandwidth'.*positive"),
        ({"bandwidth": -1.0}, "'bandwidth'.*positive"),
        ({"bandwidth": math.nan}, "'bandwidth'.*positive"),
        ({"bandwidth": math.inf}, "'bandwidth'.*positive"),
        ({"bandwidth": [1.0, 0.0]}, "'bandwidth'.*positive"),
        ({"bandwidth": [1.0, 1.0, 1.0, 1.0]}, "each of the 2 dimensions"),
        ({"bandwidth": "silverman"}, "'nearest', 'rule', 'cv'"),
        ({"bandwidth": None}, "'bandwidth'.*positive"),
        ({"bandwidth": True}, "'bandwidth'.*positive"),
        ({"bandwidth": [[1.0]]}, "'bandwidth'.*positive"),
        ({"z_bandwidth": -1}, "'z_bandwidth'"),
        ({"z_bandwidth": math.nan}, "'z_bandwidth'"),
        ({"z_bandwidth": "rule"}, "'z_bandwidth'"),
        ({"samples": 1}, "from 2 to"),
        ({"samples": 0}, "from 2 to"),
        ({"samples": -5}, "from 2 to"),
        ({"samples": True}, "from 2 to"),
        ({"samples": [1.0]}, "at least 2"),
        ({"samples": [1.0, 1.0]}, "different"),
        ({"samples": [1.0, math.nan]}, "finite"),
        ({"samples": [[1.0, 2.0]]}, "dimensions of z"),
        ({"samples": "all"}, "'quantiles' or 'random'"),
        ({"samples": [1e6, 2e6]}, "give more samples"),
        ({"kernel": "box"}, "'gaussian', 'delta' or a callable"),
        ({"kernel": lambda s: 1.0}, "a number for each squared distance"),
        ({"cutoff": 0}, "'cutoff'"),
        ({"cutoff": 1.0}, "'cutoff'"),
        ({"cutoff": math.nan}, "'cutoff'"),
    ],
)
def test_parameters_are_refused_in_one_sentence(options, reason):
    rng = np.random.default_rng(0)
    obs = ds.observe.pairs(rng.normal(size=(20, 2)), rng.normal(size=20))
    with pytest.raises(ValueError, match=reason) as error:
        ds.Kernels(**{"bandwidth": 1.0, **options}).estimate(obs)
    assert "\n" not in str(error.value)


@pytest.mark.small
def test_new_x_are_refused_in_one_sentence():
    rng = np.random.default_rng(0)
    causal = ds.CausalStates(density=ds.Kernels(1.0)).fit(rng.normal(size=(20, 2)), rng.normal(size=20))
    for method in (causal.predict, causal.predict_proba):
        with pytest.raises(ValueError, match=r"3 features.*expecting 2"):
            method(np.ones((4, 3)))
        with pytest.raises(ValueError, match="Reshape"):
            method(np.ones(4))
        with pytest.raises(ValueError, match="infinite"):
            method([[np.inf, 0.0]])
        with pytest.raises(ValueError, match=r"3 columns.*of fit 2"):
            method(ds.observe.delays(rng.normal(size=9), 3))
        with pytest.raises(ValueError, match="not real numbers"):
            method([["a", "b"]])
    with pytest.raises(ValueError, match="kernels need x as numbers"):
        ds.CausalStates(density=ds.Kernels()).fit(ds.observe.series("0101101", 1))


@pytest.mark.small
def test_what_does_not_fit_in_memory_is_refused(monkeypatch):
    rng = np.random.default_rng(0)
    obs = ds.observe.pairs(rng.normal(size=(50, 1)), rng.normal(size=50))
    with pytest.raises(ValueError, match=r"GB are free.*samples=200"):
        ds.Kernels(1.0, samples=1 << 28).estimate(obs)
    monkeypatch.setattr(module, "_free_memory", lambda: 10_000.0)
    with pytest.raises(ValueError, match=r"0\.0 GB are free"):
        ds.Kernels(1.0).estimate(obs)
    with pytest.raises(ValueError, match="z_bandwidth above 0"):
        ds.Kernels(kernel="delta").estimate(obs)


def test_narrow_widths_leave_no_value_between_samples():
    rng = np.random.default_rng(9)
    x = rng.normal(size=3000)
    obs = ds.observe.pairs(x, x + 1e-4 * rng.normal(size=3000))
    model = ds.Kernels("nearest").model(obs)
    assert model.z_sigma == pytest.approx(0.5 * (model.samples[1] - model.samples[0]))
    assert model.estimate(obs).n_rows == 3000
    with pytest.raises(ValueError, match="give more samples"):
        ds.Kernels("nearest", z_bandwidth=1e-5).estimate(obs)
