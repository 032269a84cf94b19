"""Densities of classes: those of the naive twin, without the folds that are left out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decisional.states.class_densities import GUARD, ODD, ClassCounts, ClassDensities
from naive_kernels import class_densities


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3), st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_as_naive(seed, dim, kinds, folds):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(40, dim)), rng.normal(size=40)
    kind, fold = np.append(rng.integers(0, kinds, 39), kinds - 1), rng.integers(0, folds, 40)
    model = ClassDensities.of(x, z, kind * folds + fold, (kinds, folds))
    new, at = rng.normal(size=(3, dim)), rng.normal(size=3) * 2
    scaled = model.x_scale.tame(x), model.z_scale.tame(z[:, None])[:, 0]
    asked = model.x_scale.tame(new), model.z_scale.tame(at[:, None])[:, 0]
    for left_out in range(-1, folds):
        together, each = model.bits(new, at, left_out)
        for i in range(3):
            how = model.width, model.z_width, left_out, GUARD, ODD
            expected = class_densities(asked[0][i], asked[1][i], *scaled, kind.tolist(), fold.tolist(), *how)
            assert 2 ** together[i] == pytest.approx(expected[0], rel=1e-6)
            assert 2 ** each[i] == pytest.approx(expected[1], rel=1e-6)


def test_a_class_that_saw_nothing_similar_says_what_all_say():
    rng = np.random.default_rng(0)
    kind = np.arange(200) % 2
    x = rng.normal(size=(200, 1)) * 0.1 + 5 * kind[:, None]
    model = ClassDensities.of(x, x[:, 0] + rng.normal(size=200), kind, (2, 1))._replace(width=np.array([0.05]))
    model = model._replace(x=(model.x_scale.tame(x)[np.argsort(kind, kind="stable")] / 0.05).T.copy())
    together, each = model.bits(x[:2], x[:2, 0], -1)
    for i, other in enumerate((1, 0)):
        assert each[i, other] == pytest.approx(together[i], abs=0.05)


def test_counts():
    words, after = [("a",), ("a",), ("a",), ("b",)], ["a", "b", "b", "a"]
    # Two classes of two folds.
    model = ClassCounts.of(words, after, np.array([0, 0, 2, 3]), (2, 2))
    blind = 1 / 3
    together, each = model.bits([("a",), ("c",)], ["b", "d"], -1)
    all_say = (1 - ODD) * (2 + GUARD * blind) / (3 + GUARD) + ODD * blind
    assert 2**together == pytest.approx([all_say, (1 - ODD) * blind + ODD * blind])
    first = (1 - ODD) * (1 + GUARD * all_say) / (2 + GUARD) + ODD * blind
    second = (1 - ODD) * (1 + GUARD * all_say) / (1 + GUARD) + ODD * blind
    assert 2 ** each[0] == pytest.approx([first, second])
    assert 2 ** model.bits([("a",)], ["b"], 0)[0] == pytest.approx(blind)
