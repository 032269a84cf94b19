"""What signals and images choose themselves."""

import numpy as np
import pytest

import decisional as ds

WAVE = np.sin(np.arange(500) / 3) + 0.05 * np.random.default_rng(1).normal(size=500)


def test_the_past_is_the_one_that_predicts_best() -> None:
    lines: list[str] = []
    past = ds.selection.best_past([WAVE[:50], WAVE], progress=lines.append)
    scores = {}
    for k in (1, 2, 3, 5):
        learnt, held_out = ds.observe.delays(WAVE[:333], k), ds.observe.delays(WAVE[333:], k)
        scores[k] = ds.CausalStates(ds.Kernels()).fit(learnt).score(held_out)
    assert past == max(scores, key=scores.__getitem__)
    assert lines == [f"past {k}: {score:.3f} bits per value" for k, score in scores.items()]


@pytest.mark.small
def test_gaps_that_leave_no_window() -> None:
    gaps = np.where(np.arange(90) % 3 == 2, np.nan, 1.0 + np.arange(90) % 7)
    assert ds.selection.best_past(gaps, ds.Kernels(bandwidth=0.5)) == 1
    with pytest.raises(ValueError, match="'signals' have 2 values, too few"):
        ds.selection.best_past([1.0, 2.0])


@pytest.mark.small
def test_grey_levels() -> None:
    pixels = np.arange(100, dtype=np.uint8).reshape(10, 10)
    scale = ds.selection.grey_scale(pixels)
    assert scale == (0, 99, 1.5**0.5, 7)
    floats = ds.selection.grey_scale([pixels / 2.0, 127.5 + pixels / 99.0 * 127.5])
    assert floats == (0, 255, 1.5**0.5, 7)
    assert ds.selection.grey_scale(np.zeros((3, 3))).tolerance == 7
