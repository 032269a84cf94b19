"""What labels any x: densities, beliefs and places, against literal sums."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decisional.states.bandwidths import BLIND
from decisional.states.labelling import BACK_OFF, ENOUGH, Densities, Labeller, sure_states
from decisional.states.scales import Scale
from strategies_symbols import examples

pytestmark = pytest.mark.small


def scale(d):
    return Scale(np.zeros(d), np.ones(d), np.full(d, -9.0), np.full(d, 9.0))


@st.composite
def labellers(draw, k=1):
    """Labels of x in so many dimensions, outcomes at points in k dimensions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, points, groups = draw(st.integers(30, 60)), draw(st.integers(1, 2)), 9, draw(st.integers(1, 4))
    kernel = rng.dirichlet(np.ones(points), 5)
    # Wide enough for many to be near: then no wider kernels are asked.
    densities = Densities(rng.normal(size=(n, d)), rng.integers(0, 5, n), np.full(d, 3.0), kernel, kernel.mean(axis=0))
    tables = np.log(rng.dirichlet(np.ones(points), groups))
    state = np.unique(rng.integers(0, groups, groups), return_inverse=True)[1]
    at = np.linspace(-2.0, 2.0, points)[:, None] if k == 1 else rng.normal(size=(points, k))
    return Labeller(scale(d), densities, tables, state, scale(k), at), rng.normal(size=(7, d)).clip(-2.0, 2.0), rng


def literal(labeller, x):
    """P(Z|x), the mass near x, and the belief in each state."""
    own = labeller.densities
    sums, mass = [0.0] * own.kernel.shape[1], 0.0
    for point, place in zip(own.x, own.bin, strict=True):
        weight = math.exp(-0.5 * sum(((a - b) / w) ** 2 for a, b, w in zip(point, x, own.width, strict=True)))
        mass += weight
        sums = [s + weight * share for s, share in zip(sums, own.kernel[place], strict=True)]
    assert mass > ENOUGH
    p = [(s + BLIND * q) / (mass + BLIND) for s, q in zip(sums, own.prior, strict=True)]
    score = [sum(a * b for a, b in zip(p, row, strict=True)) for row in labeller.tables]
    weights = [math.exp((mass + BACK_OFF) * (s - max(score))) for s in score]
    belief = [
        sum(w for w, own in zip(weights, labeller.state, strict=True) if own == k) for k in range(labeller.n_states)
    ]
    return p, [b / sum(belief) for b in belief], score


@examples(40, 10)
@given(labellers())
def test_beliefs_are_what_bayes_makes_of_neighbours(case):
    labeller, x, _ = case
    looked = labeller.look(x)
    for row, point in enumerate(x):
        p, belief, score = literal(labeller, point)
        assert np.abs(looked.p[row] - p).max() < 1e-6
        assert np.abs(looked.belief[row] - belief).max() < 1e-4
        if np.ptp(np.sort(score)[-2:]) > 1e-5:
            assert looked.state[row] == labeller.state[int(np.argmax(score))]
    assert (labeller.label(x) == looked.state).all()
    far = labeller._replace(densities=labeller.densities._replace(width=np.full(x.shape[1], 0.01)))
    assert (far.look(np.full((1, x.shape[1]), 8.0)).state == -1).all()


@examples(40, 10)
@given(labellers())
def test_places_of_numbers_are_their_distribution(case):
    labeller, x, rng = case
    p, z = labeller.look(x).p, rng.normal(size=(7, 1)) * 1.5
    at, step = labeller.at[:, 0], labeller.at[1, 0] - labeller.at[0, 0]
    for place, row, value in zip(labeller.places(p, z), p, z[:, 0], strict=True):
        # A point stands for what is nearer to it than to others.
        shares = [min(max((value - (a - 0.5 * step)) / step, 0.0), 1.0) for a in at]
        assert place == pytest.approx(sum(s * q for s, q in zip(shares, row, strict=True)) / sum(row), abs=1e-9)


@examples(40, 10)
@given(labellers(k=2))
def test_places_of_vectors_are_what_is_likelier(case):
    labeller, x, rng = case
    p, z = labeller.look(x).p, rng.normal(size=(7, 2))
    for place, row, value in zip(labeller.places(p, z), p, z, strict=True):
        own = row[int(np.argmin([math.dist(value, point) for point in labeller.at]))]
        assert place == pytest.approx((sum(q for q in row if q > own) + 0.5 * own) / sum(row), abs=1e-9)


@examples(40, 10)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([0.5, 0.8, 0.98]))
def test_states_are_known_where_their_labels_are(seed, n, sure):
    rng = np.random.default_rng(seed)
    belief = rng.dirichlet(np.full(n, 0.3), 20)
    state = np.where(rng.random(20) < 0.1, -1, belief.argmax(axis=1))
    labels = rng.integers(0, 3, n)
    for own, row, found in zip(state, belief, sure_states(state, belief, labels, sure), strict=True):
        together = sum(b for b, label in zip(row, labels, strict=True) if label == labels[own])
        assert found == (own if own >= 0 and together >= sure else -1)
