"""What is known in advance: calendar parts of dates, and numbers on the times of a signal."""

import datetime
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decisional as ds
from strategies_symbols import examples

HOURS = pd.date_range("2024-02-27 20:00", periods=120, freq="h")
WAVE = pd.Series(np.sin(np.arange(120) / 4).round(3), index=HOURS)


def naive_share(time: datetime.datetime, part: str) -> float:
    """How far a part of the calendar has gone round."""
    year = datetime.datetime(time.year + 1, 1, 1) - datetime.datetime(time.year, 1, 1)
    return {
        "minute": (60 * time.minute + time.second) / 3600,
        "hour": (3600 * time.hour + 60 * time.minute + time.second) / 86_400,
        "weekday": time.weekday() / 7,
        "month": (time.month - 1) / 12,
        "yearday": (time.timetuple().tm_yday - 1) / year.days,
    }[part]


@pytest.mark.small
@given(
    st.lists(st.datetimes(datetime.datetime(1899, 1, 1), datetime.datetime(2101, 1, 1)), min_size=1, max_size=5),
    st.lists(st.sampled_from(["minute", "hour", "weekday", "month", "yearday"]), min_size=1, max_size=3),
)
@examples(100, 30)
def test_parts_are_those_of_datetimes(times: list[datetime.datetime], parts: list[str]) -> None:
    times = [time.replace(microsecond=0) for time in times]
    angles = 2 * np.pi * np.array([[naive_share(time, part) for part in parts] for time in times])
    found = ds.observe.calendar(times, parts)
    np.testing.assert_allclose(found[:, ::2], np.cos(angles), atol=1e-12)
    np.testing.assert_allclose(found[:, 1::2], np.sin(angles), atol=1e-12)
    np.testing.assert_array_equal(ds.observe.calendar(pd.DatetimeIndex(times), parts), found)


def test_dates_in_any_form() -> None:
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    expected = ds.observe.calendar(HOURS, ["hour", "yearday"])
    plain = HOURS.to_numpy()
    local = HOURS.tz_localize("Europe/Paris")
    forms: dict[str, Any] = {
        "numpy": plain,
        "text": [str(time) for time in plain],
        "series": pd.Series(plain),
        "index of a series": WAVE,
        "column": pd.DataFrame({"time": plain, "value": 1.0}),
        "local time": local,
        "local column": pd.Series(local),
        "period": HOURS.to_period("h"),
        "groups": pd.Series(1.0, index=pd.MultiIndex.from_arrays([["a"] * 120, HOURS])),
        "polars": pl.Series(plain),
        "polars zone": pl.Series(plain).dt.replace_time_zone("Europe/Paris"),
        "arrow": pa.chunked_array([plain]),
        "arrow table": pa.table({"time": plain, "value": np.ones(120)}),
    }
    for name, form in forms.items():
        np.testing.assert_allclose(ds.observe.calendar(form, ["hour", "yearday"]), expected, err_msg=name)
    lost = ds.observe.calendar(pd.Series([plain[0], None, plain[2]]), "hour")
    assert np.isnan(lost).all(axis=1).tolist() == [False, True, False]
    for wrong in ([1, 2, 3], ["noon"], np.arange(3.0), pd.Series([1.0, 2.0]), pa.array([1, 2])):
        with pytest.raises(ValueError, match=r"'times' are .*a date for each value"):
            ds.observe.calendar(wrong, "hour")
    with pytest.raises(ValueError, match="at least 1"):
        ds.observe.calendar(plain, [])


def test_calendar_inputs_of_signals() -> None:
    pl = pytest.importorskip("polars")
    columns = ds.observe.calendar(HOURS, ["hour", "weekday"])
    by_name = partial(ds.observe.delays, past=2, future=2, step=3, inputs=["hour", "weekday"])
    obs = by_name(WAVE)
    x = obs.points[obs.x]
    # The inputs are those of the first time of z.
    np.testing.assert_array_equal(x[:, 2:], columns[obs.site + 3])
    np.testing.assert_array_equal(x[:, 0], WAVE.to_numpy()[obs.site])
    same = ds.observe.delays(WAVE, past=2, future=2, step=3, inputs=columns)
    np.testing.assert_array_equal(same.points[same.x], x)
    frame = pd.DataFrame({"time": HOURS, "wave": WAVE.to_numpy()})
    for form in (WAVE.to_frame(), frame, pl.from_pandas(frame)):
        other = by_name(form)
        np.testing.assert_array_equal(other.points[other.x], x)
    chosen = by_name(frame.assign(twice=2 * WAVE.to_numpy()), target="twice")
    np.testing.assert_allclose(np.array(chosen.outcomes)[chosen.z], 2 * np.array(obs.outcomes)[obs.z])
    groups = {"a": WAVE.iloc[:50], "b": WAVE.iloc[50:]}
    parts = by_name(groups)
    np.testing.assert_array_equal(parts.points[parts.x][:, 2:], columns[parts.site + 3])
    sliced = by_name(groups, chunks=17)
    np.testing.assert_array_equal(sliced.points[sliced.x], parts.points[parts.x])
    np.testing.assert_array_equal(sliced.site, parts.site)
    assert (obs.known, sliced.known, obs[:50].known) == (4, 4, 4)


def test_inputs_on_other_times_are_refused() -> None:
    rain = pd.Series(np.arange(120.0), index=HOURS)
    assert ds.observe.delays(WAVE, past=1, inputs=rain).points[0, 1] > 0
    for wrong in (rain.shift(1, "h"), rain.reset_index(drop=True), rain[::-1]):
        with pytest.raises(ValueError, match="another index"):
            ds.observe.delays(WAVE, past=1, inputs=wrong)
    parts = {"a": WAVE.to_numpy()[:50], "b": WAVE.to_numpy()[50:]}
    known = {"b": rain.to_numpy()[50:], "a": rain.to_numpy()[:50]}
    obs = ds.observe.delays(parts, past=1, inputs=known)
    np.testing.assert_array_equal(obs.points[obs.x][:, 1], obs.site + 1)
    for data in (WAVE.reset_index(drop=True), pd.Series(WAVE.to_numpy()), [WAVE, WAVE.to_numpy()]):
        with pytest.raises(ValueError, match="without dates"):
            ds.observe.delays(data, past=1, inputs="hour")


def test_estimators_look_at_the_calendar() -> None:
    rng = np.random.default_rng(0)
    hours = pd.date_range("2024-01-01", periods=480, freq="h")
    # What follows depends on the hour alone.
    signal = pd.Series(np.where(hours.hour < 12, -1.0, 1.0) + 0.1 * rng.normal(size=480), index=hours)
    how: dict[str, Any] = {"density": ds.Kernels(bandwidth=0.1), "inputs": ["hour"]}
    causal = ds.CausalStates(past=1, **how).fit(signal)
    obs = ds.observe.delays(signal, past=1, inputs=["hour"])
    np.testing.assert_array_equal(causal.predict(signal)[obs.site], causal.predict(obs))
    forecast = causal.predict_proba(signal) @ np.array(causal.outcomes_)
    # At 11 h the next value is one of the afternoon, and after the last one, of 23 h, it is night.
    assert forecast[11] > 0.5
    assert forecast[-1] < -0.5
    assert causal.score(signal) > ds.CausalStates(ds.Kernels(bandwidth=0.1), past=1).fit(signal).score(signal)
    for X, inputs in ((signal, signal.to_numpy()), (pd.Series(list("abab") * 9, index=hours[:36]), ["hour"])):
        with pytest.raises(ValueError, match=r"The 'inputs' are .* for plain series"):
            ds.CausalStates(past=1, inputs=inputs).fit(X)


def test_columns_of_dated_frames_are_found_by_name() -> None:
    frame = pd.DataFrame({"time": HOURS, "wave": WAVE.to_numpy(), "twice": 2 * WAVE.to_numpy() + 1})
    turned = frame[["twice", "time", "wave"]]
    alike = ds.observe.delays([frame, frame], 1, target="twice", inputs="hour")
    for parts in ([frame, turned], {"a": frame, "b": turned}):
        obs = ds.observe.delays(parts, 1, target="twice", inputs="hour")
        np.testing.assert_array_equal(obs.points[obs.x], alike.points[alike.x])
        np.testing.assert_array_equal(obs.targets, alike.targets)
    known = frame[["wave", "twice"]]
    swapped = [known, known[["twice", "wave"]]]
    np.testing.assert_array_equal(
        ds.observe.delays([WAVE.to_numpy()] * 2, 1, inputs=swapped).points,
        ds.observe.delays([WAVE.to_numpy()] * 2, 1, inputs=[known, known]).points,
    )
    causal = ds.CausalStates(ds.Kernels(bandwidth=0.5), past=1, inputs=["hour"]).fit(frame)
    assert causal.feature_names_in_.tolist() == ["wave", "twice"]
    np.testing.assert_array_equal(causal.predict(turned), causal.predict(frame))
    with pytest.raises(ValueError, match="no column 'wave'"):
        causal.predict(frame.rename(columns={"wave": "w"}))
    with pytest.raises(ValueError, match="2 columns 'time'"):
        ds.observe.delays(frame.set_axis(["time", "time", "b"], axis=1), 1, inputs="hour")


def test_decisions_look_at_the_calendar() -> None:
    choice = ds.DecisionalStates(ds.utility.squared_error(), past=1, inputs=["hour"]).fit(WAVE)
    assert choice.causal_.observations_.known == 2
    assert choice.to_frame(WAVE).index.equals(WAVE.index)
    frame = pd.DataFrame({"time": HOURS, "wave": WAVE.to_numpy()})
    np.testing.assert_array_equal(choice.to_frame(frame)["state"], choice.predict(WAVE))


@pytest.mark.small
def test_inputs_without_a_plain_series_are_refused() -> None:
    obs = ds.observe.delays(WAVE, 1)
    rows = np.zeros((3, 1))
    for call in (
        lambda: ds.CausalStates(inputs=["hour"]).fit(obs),
        lambda: ds.CausalStates(inputs=["hour"]).fit(rows, [0, 1, 0]),
        lambda: ds.DecisionalStates(ds.utility.zero_one(), inputs=["hour"]).fit(ds.processes.even()),
    ):
        with pytest.raises(ValueError, match=r"The 'inputs' of .* is \['hour'\]; it must be None for"):
            call()
