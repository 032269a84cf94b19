"""Codes of cones of real numbers against their naive twins."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import naive_cone_codes as slow
import naive_cones as naive
from decisional.data.coding import Quantiser
from decisional.data.cones import stacked
from decisional.data.real_cones import Cells
from decisional.observe import light_cones
from decisional.states import cone_coder


@st.composite
def fields(draw):
    """Small real-valued fields and the options of `light_cones`."""
    axes, variables = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    options = {"past": draw(st.integers(1, 2)), "future": 2, "past_end": draw(st.integers(0, 1))}
    options["boundary"] = draw(st.sampled_from(["periodic", "open", "reflect"]))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    field = rng.normal(size=(draw(st.integers(4, 6)), *(draw(st.integers(5, 7)) for _ in range(axes)), variables))
    field[rng.random(field.shape) < draw(st.sampled_from([0.0, 0.02]))] = np.nan
    return field, options, rng


@settings(max_examples=30, deadline=None)
@given(fields())
def test_codes_on_a_grid_are_the_naive_ones(case):
    field, options, rng = case
    try:
        obs = light_cones(field, variables=True, **options)
    except ValueError as refusal:
        if "leaves no observation" in str(refusal):
            reject()
        raise
    axes, variables = field.ndim - 2, field.shape[-1]
    missing = np.isnan(field).any(axis=-1)
    twins = [naive.as_field(field[..., k], missing) for k in range(variables)]
    deepest = options["past"] + options["past_end"]
    past = [c for c in naive.past_cells(axes, deepest, 1, False, "moore") if -c[0] >= options["past_end"]]
    future = naive.future_cells(axes, 2, 1, False, "moore")
    d, r = len(past) * variables, int(rng.integers(0, 3))
    parts = rng.normal(size=d), rng.random(d), rng.normal(size=(d, r)), rng.normal(size=(9, r or d))
    quantiser = Quantiser(*parts, np.arange(9)[:, None])
    (grid,) = obs.grids
    codes = grid.picked(quantiser.on_grid(grid, stacked(obs.cone.past, grid)))
    expected, sites = [], []
    for site, cell in enumerate(product(*map(range, field.shape[:-1]))):
        vector = slow.cone_vector(twins, cell, past, options["boundary"])
        if vector is not None and slow.cone_vector(twins, cell, future, options["boundary"]) is not None:
            shift, scale, filters, centres = (part.tolist() for part in parts)
            expected.append(slow.nearest(slow.seen(vector, shift, scale, filters), centres))
            sites.append(site)
    assert obs.site.tolist() == sites
    assert codes.tolist() == expected
    cells = Cells(obs.grids, obs.cone, 10**6)
    assert np.array_equal(quantiser.numbers(cells.vectors(obs.cone.past)), codes)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 999))
def test_sums_are_the_naive_ones(seed):
    rng = np.random.default_rng(seed)
    d, m, k = rng.integers(1, 4, 3)
    x, w, b = rng.normal(size=(9, d)), rng.normal(size=(d, m)), rng.normal(size=m)
    linear, bent = rng.normal(size=(d, k)), rng.normal(size=(m, k))
    fast = cone_coder.gradient_products(x @ w + b > 0.0, w, linear, bent)
    assert fast == pytest.approx(np.array(slow.gradient_products(*(a.tolist() for a in (x, w, b, linear, bent)))))
    label, z, new_label, new_z = rng.integers(0, 3, (4, 20))
    twin = slow.held_out_bits(*(a.tolist() for a in (label, z, new_label, new_z)))
    assert cone_coder.held_out_bits(label, z, new_label, new_z) == pytest.approx(twin)


def test_means_are_where_points_are():
    rng = np.random.default_rng(1)
    truth = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 7.0], [6.0, 6.0]])
    points = np.concatenate([centre + 0.1 * rng.normal(size=(50, 2)) for centre in truth])
    centres = cone_coder.means(points, 4)
    order = np.lexsort(centres.round().T[::-1])
    assert np.abs(centres[order] - truth[np.lexsort(truth.T[::-1])]).max() < 0.1
    # Equal points cannot be cut, and few have few centres.
    assert len(cone_coder.means(np.ones((30, 2)), 4)) == 1
    assert len(cone_coder.means(points[:9], 4)) <= 2


def test_groups_of_centres_are_nested():
    words = cone_coder.nested(np.random.default_rng(2).normal(size=(40, 3)), (4, 16, 40))
    assert [len(np.unique(words[:, k])) for k in range(3)] == [4, 16, 40]
    for k in range(2):
        inside = {(a, b) for a, b in words[:, k : k + 2].tolist()}
        assert len(inside) == len(np.unique(words[:, k + 1]))


def test_filters_find_the_cells_that_matter():
    rng = np.random.default_rng(4)
    field = rng.normal(size=(120, 60))
    for t in range(1, 120):
        field[t] = np.sin(2.0 * (np.roll(field[t - 1], 1) - field[t - 1])) + 0.2 * rng.normal(size=60)
    obs = light_cones(field, past=1, future=1, include_present=True, past_end=1)
    cells = Cells(obs.grids, obs.cone, 20_000)
    axes = cone_coder.predictive_axes(cells, cone_coder._FutureCodes(cells).targets(cells))
    first = axes[:, 0] / np.linalg.norm(axes[:, 0])
    assert abs(first @ np.array([1.0, -1.0, 0.0]) / np.sqrt(2.0)) > 0.99
