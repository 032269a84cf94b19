"""The picture of a signal: its last values by state, and what was predicted."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes
from matplotlib.figure import Figure

import decisional as ds


@cache
def wave(n: int = 400) -> tuple[np.ndarray, ds.DecisionalStates]:
    rng = np.random.default_rng(1)
    values = np.sin(np.arange(n) / 5) + 0.05 * rng.standard_normal(n)
    values[n - 30] = np.nan
    causal = ds.CausalStates(ds.Kernels(bandwidth=0.2)).fit(ds.observe.delays(values, 2))
    return values, ds.DecisionalStates(ds.utility.squared_error()).fit(causal)


def points(ax: Axes, label: str) -> Any:
    return next(np.asarray(c.get_offsets()) for c in ax.collections if c.get_label() == label)


@pytest.mark.parametrize(("n", "first"), [(400, 200), (190, 0)])
def test_last_values_and_predictions(n: int, first: int) -> None:
    values, choice = wave(n)
    figure = ds.plot.signal(choice, values, name="level")
    (ax,) = figure.axes
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(first, n))
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), values[first:])
    obs = choice.causal_.observations_
    site = obs.site[obs.site >= first]
    np.testing.assert_array_equal(points(ax, "value, by state"), np.column_stack([site, values[site]]))
    after, predicted = points(ax, "predicted").T
    np.testing.assert_array_equal(after, site + 1)
    known = np.isfinite(values[np.minimum(site + 1, n - 1)]) & (site + 1 < n)
    assert np.abs(predicted[known] - values[site[known] + 1]).mean() < 0.2
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("row", "level")


def test_given_axes_and_the_same_bytes(tmp_path: Path) -> None:
    values, choice = wave()
    figure = Figure()
    upper, lower = figure.subplots(2)
    assert ds.plot.signal(choice, values, ax=upper) is figure
    assert upper.get_ylabel() == "value"
    assert not lower.lines
    for name in ("a.svg", "b.svg"):
        ds.plot.save(ds.plot.signal(choice, values), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_what_is_no_signal() -> None:
    values, choice = wave()
    with pytest.raises(ValueError, match=r"^The 'signal' has shape \(399,\) and the states \(400,\); it must be .*\.$"):
        ds.plot.signal(choice, values[1:])
    with pytest.raises(ValueError, match=r"^The 'signal' is 'wave'; it must be the signal that was observed, .*\.$"):
        ds.plot.signal(choice, "wave")
    even = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())
    with pytest.raises(ValueError, match=r"^The 'choice' of signal was fitted to a machine, .*: fit it to causal stat"):
        ds.plot.signal(even, values)
    letters = ds.CausalStates().fit(ds.observe.series("abbabbb" * 9, 2))
    with pytest.raises(
        ValueError, match=r"^The 'predictions' is .*; a signal is drawn with predictions that are numbers"
    ):
        ds.plot.signal(ds.DecisionalStates(ds.utility.zero_one()).fit(letters), np.zeros(63))
    with pytest.raises(ValueError, match=r"'choice' parameter must be a fitted DecisionalStates\. Got NoneType"):
        ds.plot.signal(None, values)
