"""The picture of a signal: its values, what was predicted, and when it was in which state."""

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


def rows(ax: Axes) -> list[list[tuple[float, float]]]:
    """Begin and end of each band in each row of states."""
    found = (c for c in ax.collections if str(c.get_gid()).startswith("row"))
    return [[(p.vertices[:, 0].min(), p.vertices[:, 0].max()) for p in c.get_paths()] for c in found]


@pytest.mark.parametrize(("start", "stop"), [(None, None), (150, 250)])
def test_all_values_and_predictions_one_by_one(start: int | None, stop: int | None) -> None:
    values, choice = wave()
    figure = ds.plot.signal(choice, values, name="level", start=start, stop=stop)
    (ax,) = figure.axes
    first, last = start or 0, stop or len(values)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(first, last))
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), values[first:last])
    after, predicted = points(ax, "predicted").T
    expected = choice.causal_.observations_.site + 1
    shown = np.isfinite(predicted)
    np.testing.assert_array_equal(after[shown], expected[(expected >= first) & (expected < last)])
    known = shown & np.isfinite(values[first:last])
    assert np.abs(predicted - values[first:last])[known].mean() < 0.2
    assert ax.get_xlim() == (first - 0.5, last - 0.5)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("row", "level")


def test_each_state_has_a_row_that_shows_where_it_is() -> None:
    values, choice = wave()
    causal = choice.causal_
    (ax,) = ds.plot.signal(choice, values).axes
    shown = rows(ax)
    assert len(shown) == causal.n_states_ <= 12
    for k, spans in enumerate(shown):
        np.testing.assert_array_equal([a + 0.5 for a, _ in spans], causal.observations_.site[causal.labels_ == k])
    assert [tick.get_text() for tick in ax.get_yticklabels(minor=True)] == [f"state {k}" for k in range(len(shown))]
    # The values stay above the rows.
    pixels = ax.transData.transform(np.column_stack([np.zeros(len(values)), np.nan_to_num(values)]))
    assert ax.transAxes.inverted().transform(pixels)[:, 1].min() > len(shown) * 0.42 / max(len(shown), 6)


def test_a_long_signal_is_shown_whole_and_its_rare_states_are_seen() -> None:
    n = 5000
    rng = np.random.default_rng(2)
    values = np.where(np.arange(n) % 2, 1.0, -1.0) + 0.05 * rng.standard_normal(n)
    values[1234] = 9.0
    causal = ds.CausalStates(ds.Kernels(bandwidth=0.3)).fit(ds.observe.delays(values, 1))
    choice = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
    (ax,) = ds.plot.signal(choice, values).axes
    assert ax.get_xlim() == (-0.5, n - 0.5)
    assert ax.get_ylim()[1] > 9.0
    state = int(causal.labels_[causal.observations_.site == 1234][0])
    assert len(rows(ax)) == causal.n_states_
    assert any(a <= 1234 <= b for a, b in rows(ax)[state])


def test_many_states_share_a_row() -> None:
    rng, place = np.random.default_rng(3), np.arange(3000)
    values = np.sin(place / 60) * (1 + 0.3 * np.sin(place / 400)) + 0.05 * rng.standard_normal(3000)
    causal = ds.CausalStates(ds.Kernels(bandwidth=0.2)).fit(ds.observe.delays(values, 2))
    assert causal.n_states_ > 12
    choice = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
    (ax,) = ds.plot.signal(choice, values).axes
    assert len(rows(ax)) == 1
    ((colours,),) = ([c.get_facecolor() for c in ax.collections if c.get_gid() == "row 0"],)
    assert len(np.unique(colours, axis=0)) > 5


def test_dates_of_the_index_or_as_given() -> None:
    pd = pytest.importorskip("pandas")
    values, choice = wave()
    days = pd.date_range("2001-03-01", periods=len(values), freq="D")
    pictures = [
        ds.plot.signal(choice, values, dates=days),
        ds.plot.signal(choice, pd.Series(values, index=days)),
        ds.plot.signal(choice, values, dates=[str(day)[:10] for day in days]),
    ]
    for figure in pictures:
        (ax,) = figure.axes
        assert ax.get_xlabel() == "date"
        figure.canvas.draw()
        assert ax.lines[0].get_xdata()[0] == (np.datetime64("2001-03-01") - np.datetime64("1970-01-01")).astype(int)
    causal = ds.CausalStates(past=1).fit(pd.Series(values[:300], index=days[:300]))
    fitted = ds.DecisionalStates(ds.utility.squared_error()).fit(causal)
    assert ds.plot.signal(fitted, values[:300]).axes[0].get_xlabel() == "date"
    with pytest.raises(ValueError, match=r"^The 'dates' are 3 for 400 positions, or not in order; each position "):
        ds.plot.signal(choice, values, dates=days[:3])


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


def test_causal_states_alone_predict_means(tmp_path: Path) -> None:
    values, choice = wave()
    means = ds.DecisionalStates(ds.utility.squared_error()).fit(choice.causal_)
    for name, given in (("a.svg", choice.causal_), ("b.svg", means)):
        ds.plot.save(ds.plot.signal(given, values), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    with pytest.raises(ValueError, match="not fitted"):
        ds.plot.signal(ds.CausalStates(past=2), values)


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
