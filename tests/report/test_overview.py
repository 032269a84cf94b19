"""The whole of the data on a page: small, complete and safe; a real browser zooms, asks and searches it."""

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_blocks import unpacked

import decisional as ds
from decisional import report
from decisional.cli import main
from decisional.report import overview
from decisional.report.findings import Findings

pytest.importorskip("bokeh")
pytest.importorskip("matplotlib")

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "$$x^2$$", "</script>", "a&b", '"']
MOST = 6_000_000  # characters of a page


def page(**given: Any) -> str:
    return report.page(title="", asked={}, command="decisional signal x.csv", **given)


def held(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The words and arrays that a page holds."""
    found = re.search(r'id="overview-data">([^<]*)<', text)
    assert found is not None
    return unpacked(found[1])


def labels_of(arrays: dict[str, Any]) -> Any:
    """The state of each single place again, -1 where there is none."""
    found = np.full(arrays["state_count"].size, -1)
    found[arrays["state_count"] > 0] = arrays["state_label"]
    return found


@cache
def dated() -> dict[str, Any]:
    """A signal with dates and a gap, of few states."""
    rng = np.random.default_rng(2)
    n = 400
    values = np.repeat(rng.integers(0, 2, n // 20), 20) * 5.0 + 0.3 * rng.standard_normal(n)
    signal = pd.Series(values, index=pd.date_range("2024-02-01", periods=n, freq="h"))
    signal.iloc[100] = np.nan
    causal = ds.CausalStates().fit(ds.observe.delays(signal, past=1))
    return {"series": signal, "choice": ds.DecisionalStates(ds.utility.tolerant(0.5)).fit(causal)}


@cache
def symbols() -> dict[str, Any]:
    """Symbols that want to be tags, and a machine whose state has such a name."""
    given = np.random.default_rng(1).choice(np.array(HOSTILE, object), 2000).tolist()
    machine = ds.EpsilonMachine([(HOSTILE[0], symbol, HOSTILE[0], 1 / len(HOSTILE)) for symbol in HOSTILE])
    utility = ds.utility.zero_one()
    return {"series": given, "choice": ds.DecisionalStates(utility).fit(machine)}


@cache
def field() -> dict[str, Any]:
    cells = ds.processes.elementary_ca(110, 90, 70, 1)
    causal = ds.CausalStates(match="exact").fit(ds.observe.light_cones(cells, past=2, future=2))
    return {"field": cells, "choice": ds.DecisionalStates(ds.utility.matching_cells()).fit(causal)}


def test_a_page_holds_every_value_state_and_event() -> None:
    given = dated()
    header, arrays = held(page(**given))
    choice, signal = given["choice"], given["series"]
    assert header["size"] == 1
    np.testing.assert_allclose(arrays["low"], signal, atol=1e-6)
    np.testing.assert_array_equal(labels_of(arrays), Findings(series=signal, choice=choice).labels)
    events = choice.events()
    assert np.cumsum(arrays["event_step"]).tolist() == events.position.tolist()
    assert (arrays["event_after"].astype(int) - 1).tolist() == events.cause_after.tolist()
    dates = pd.to_datetime(np.cumsum([header["begin"], *arrays["date"].tolist()]), unit="ms")
    assert dates.tolist() == signal.index.tolist()
    assert arrays["worth"].size == len(choice.utility_) == len(header["decision"])


def test_a_page_holds_every_symbol_of_several_series() -> None:
    series = ["0110111101" * 5, "0111101" * 4]
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())
    header, arrays = held(page(series=series, choice=choice))
    assert "".join(header["letters"][code] for code in arrays["letter_label"]) == "".join(series)
    assert arrays["start"].tolist() == [50]
    events = [choice.events(part).position + at for part, at in zip(series, (0, 50), strict=True)]
    assert np.cumsum(arrays["event_step"]).tolist() == np.concatenate(events).tolist()


def test_a_page_holds_every_cell() -> None:
    given = field()
    header, arrays = held(page(**given))
    causal = given["choice"].causal_
    grid = np.nan_to_num(causal.observations_.field(causal.labels_), nan=-1)
    assert header["sides"] == [1, 1, 1]
    assert (arrays["label"].astype(int) - 1).reshape(grid.shape).tolist() == grid.tolist()
    assert arrays["value"].reshape(grid.shape).tolist() == given["field"].tolist()


def test_a_film_keeps_its_moments() -> None:
    cells = np.random.default_rng(1).integers(0, 2, (12, 9, 11))
    causal = ds.CausalStates().fit(ds.observe.light_cones(cells, past=1, future=2))
    text = page(field=cells, causal=causal)
    assert held(text)[0]["blocks"] == [12, 9, 11]
    assert 'data-part="moment"' in text


def test_a_million_symbols_fit() -> None:
    symbols = ds.processes.even().simulate(1_000_000, rng=1)
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())
    text = page(series=symbols, choice=choice)
    assert len(text.encode()) < MOST
    header, arrays = held(text)
    assert header["size"] == 1
    assert np.bincount(arrays["letter_label"]).tolist() == np.bincount(symbols).tolist()
    assert arrays["event_step"].size == min(header["events"], overview.MOST_EVENTS)


def test_a_million_values_fit_in_blocks_that_keep_what_is_rare() -> None:
    rng = np.random.default_rng(1)
    n = 1_000_000
    values, labels = rng.standard_normal(n), rng.integers(0, 300, n)
    values[123_456], labels[654_321] = 99.0, 300
    scene = overview.Scene({"kind": "line"}, {}, {})
    found = overview._packed_line(scene, labels, None, values, None)
    assert len(found.data) + len(found.library) < MOST - 1_000_000
    header, arrays = unpacked(found.data)
    assert header["size"] > 1
    assert arrays["high"][123_456 // header["size"]] == 99.0
    begin = np.cumsum(arrays["state_count"])
    assert np.searchsorted(begin, np.flatnonzero(arrays["state_label"] == 300), side="right") == [
        654_321 // header["size"]
    ]


def test_events_of_rare_kinds_are_all_listed() -> None:
    position, before = np.arange(1000), np.zeros(1000, np.int64)
    after = np.ones(1000, np.int64)
    after[[7, 500, 999]] = 2
    track = overview.listed(position, before, after, 10)
    assert track.total == 1000
    assert track.position.size == 10
    assert {7, 500, 999} <= set(track.position.tolist())
    assert (np.diff(track.position) > 0).all()


def test_nothing_of_the_data_is_markup() -> None:
    text = page(**symbols())
    # Packed text is letters and digits.
    assert re.search(r'id="overview-library">[A-Za-z0-9+/=]+</script>', text)
    assert re.search(r'id="overview-data">[A-Za-z0-9+/=]+</script>', text)
    assert "<img src=x" not in text
    assert "<script>alert" not in text
    assert set(held(text)[0]["letters"]) == set(HOSTILE)
    assert not re.search("https?://", text)


def test_series_of_a_table_keep_their_dates_beside_a_machine(tmp_path: Path) -> None:
    machine, table = tmp_path / "machine.json", tmp_path / "doors.csv"
    ds.processes.even().save(machine)
    hours = pd.date_range("2024-01-01", periods=60, freq="h")
    pd.DataFrame({"hour": hours, "door": ds.processes.even().simulate(60, rng=1)}).to_csv(table, index=False)
    arguments = ["--utility", "zero-one", "--events", str(table), "--column", "door", "--time", "hour", "--quiet"]
    path = tmp_path / "report.html"
    assert main(["decide", str(machine), *arguments, "--report", str(path)]) == 0
    header, arrays = held(path.read_text("utf-8"))
    dates = pd.to_datetime(np.cumsum([header["begin"], *arrays["date"].tolist()]), unit="ms")
    assert dates.tolist() == hours.tolist()


def test_the_machine_tells_symbols_from_series() -> None:
    same = ["0110111101", "0110111101"]
    assert Findings(series=same, machine=ds.processes.even()).starts.tolist() == [10]
    words = ds.EpsilonMachine([("A", same[0], "A", 1.0)])
    assert Findings(series=same, machine=words).starts.tolist() == []


def test_dates_that_are_not_in_order_are_left_out() -> None:
    signal = dated()["series"]
    backwards = signal.set_axis(signal.index[::-1])
    causal = ds.CausalStates(ds.Kernels(bandwidth=1.0)).fit(ds.observe.delays(backwards, past=1))
    assert Findings(series=backwards, causal=causal).dates is None


def test_many_states_are_grouped_and_the_command_for_fewer_is_told() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 40, 4000)
    z = (rng.random(4000) < x / 40).astype(int)
    causal = ds.CausalStates(match="exact").fit(x[:, None], z)
    assert causal.n_states_ > 30
    found = Findings(causal=causal)
    assert found.path is not None
    assert found.lanes.grouped
    weight = np.bincount(found.lanes.of_state, found.probability)
    assert weight.size == 12
    assert (np.diff(weight) <= 1e-12).all()
    again = np.unique(causal.path().groups(12), return_inverse=True)[1]
    assert len(set(zip(again.tolist(), found.lanes.of_state.tolist(), strict=True))) == 12
    text = page(causal=causal)
    assert "in 12 groups of similar ones" in text
    assert "decisional signal x.csv --states 12" in text
    assert "causal.coarsen(n_states=12)" in text


def test_without_the_library_the_page_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given = dated()
    for name in [name for name in sys.modules if name.split(".")[0] == "bokeh"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "bokeh", None)
    for kind in (given, field()):
        text = page(**kind)
        assert "pip install &#39;decisional[interactive]&#39;" in text or "decisional[interactive]" in text
        assert "overview-data" not in text
        assert "<noscript>" not in text


# What a reader does: zoom in, point at places, click a state, search the events. What is seen is noted.
PROBE = """<script>
(async () => {
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  const root = document.getElementById("overview"), told = {};
  for (let k = 0; k < 200 && !root.dataset.ready; k++) await pause(50);
  const tip = root.querySelector("[data-part=tip]"), state = root.querySelector("[data-part=state]");
  const deep = (node, name) => {
    for (const part of node.querySelectorAll("*")) {
      if (part.matches(name)) return part;
      const inner = part.shadowRoot && deep(part.shadowRoot, name);
      if (inner) return inner;
    }
    return null;
  };
  const point = async () => {
    const target = deep(root, ".bk-events"), box = target.getBoundingClientRect();
    const place = { clientX: box.left + box.width * 0.6, clientY: box.top + box.height * 0.5 };
    Object.assign(place, { bubbles: true, composed: true, isPrimary: true, pointerType: "mouse" });
    for (const kind of ["pointerover", "pointermove"]) target.dispatchEvent(new PointerEvent(kind, place));
    await pause(100);
    return tip.hidden ? "" : tip.textContent;
  };
  try {
    const view = window.decisionalOverview;
    told.ready = root.dataset.ready;
    told.before = [view.window(), state.textContent, await point()];
    for (let k = 0; k < 12; k++) root.querySelector("[data-move=in]").click();
    await pause(100);
    told.near = [view.window(), state.textContent, await point()];
    root.querySelector("[data-move=on]").click();
    await pause(100);
    told.moved = view.window();
    root.querySelector("[data-move=reset]").click();
    await pause(100);
    told.all = view.window();
    const chip = document.querySelector("[data-state]");
    chip.click();
    told.marked = [view.marked, chip.getAttribute("aria-pressed")];
    told.drawn = view.sources.has("states") ? view.sources.get("states").data.left.length : 1;
    const table = document.getElementById("event-table");
    if (table) {
      const part = (name) => table.querySelector(`[data-part=${name}]`);
      told.events = [part("count").textContent];
      part("words").value = "no such words";
      part("words").dispatchEvent(new Event("input"));
      told.events.push(part("count").textContent);
      part("words").value = "";
      part("words").dispatchEvent(new Event("input"));
      const button = part("rows").querySelector("button");
      if (button) {
        button.click();
        told.events.push(button.textContent);
        told.there = [view.window(), view.data.event_at[0]];
        part("window").click();
        await pause(400);
        told.events.push(part("count").textContent);
      }
    }
    told.outside = performance.getEntriesByType("resource").map((entry) => entry.name);
  } catch (error) { told.error = String(error); }
  document.body.dataset.told = JSON.stringify(told);
})();
</script>"""


@cache
def told(kind: str, folder: Path) -> dict[str, Any]:
    """What a browser tells of a page."""
    assert BROWSER is not None
    given = {"dated": dated, "symbols": symbols, "field": field}[kind]()
    path = folder / f"{kind}.html"
    path.write_text(page(**given).replace("</body>", PROBE + "</body>"), "utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=30000", "--enable-logging=stderr"]
    options += ["--window-size=1280,900", f"--user-data-dir={folder / 'profile'}", "--dump-dom", path.as_uri()]
    done = subprocess.run([BROWSER, *options], capture_output=True, text=True, timeout=240, check=True)
    assert "CONSOLE" not in done.stderr, done.stderr
    found = re.search(r'data-told="([^"]*)"', done.stdout)
    assert found is not None
    return dict(json.loads(unescape(found[1])))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser")


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
@pytest.mark.parametrize("kind", ["dated", "symbols", "field"])
def test_in_a_browser_all_can_be_zoomed_and_asked(kind: str, folder: Path) -> None:
    found = told(kind, folder)
    assert "error" not in found, found
    assert found["ready"] == "true"
    assert found["outside"] == []
    (start, end), far, _ = found["before"]
    (low, high), near, _ = found["near"]
    assert start <= low < high <= end
    assert high - low < 0.2 * (end - start)
    assert near.endswith("are shown.")
    assert ("Aggregated" in far) == (kind == "symbols")
    assert found["moved"] != [low, high]
    assert found["all"] == [start, end]
    assert found["marked"] == [0, "true"]
    assert found["drawn"] > 0


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_in_a_browser_the_pointer_tells_date_value_state_decision_and_worth(folder: Path) -> None:
    given = dated()
    tip = told("dated", folder)["near"][2]
    found = re.fullmatch(r"Position (\d+)Date (.*)Value (.*)State (\d+)Predict (.*)Worth (.*?)(Event .*)?", tip)
    assert found is not None, tip
    place, state = int(found[1]), int(found[4])
    signal, choice = given["series"], given["choice"]
    assert pd.Timestamp(found[2]) == signal.index[place]
    assert float(found[3].replace("−", "-")) == pytest.approx(signal.iloc[place], rel=1e-3)
    assert state == Findings(series=signal, choice=choice).labels[place]  # type: ignore[index]
    assert float(found[6].replace("−", "-").replace("≈ ", "")) == pytest.approx(
        choice.utility_[state], rel=1e-2, abs=1e-6
    )
    assert re.search(r"Time \d+Place \d+Value \dState \d+Predict .*Worth", told("field", folder)["near"][2])
    assert re.search(r"Position [\d,]+Symbol .*State <script>alert", told("symbols", folder)["near"][2])


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_in_a_browser_events_are_filtered_and_lead_to_their_places(folder: Path) -> None:
    found, events = told("dated", folder), dated()["choice"].events()
    every, none, first, inside = found["events"]
    assert every == f"1 to {min(25, len(events))} of {len(events)} events"
    assert none == "No such event"
    assert first.startswith(f"{events[0].position} · 2024-02-")
    (low, high), place = found["there"]
    signal = dated()["series"]
    assert place == events[0].position
    assert low <= signal.index[place].timestamp() * 1000 <= high
    times = signal.index[events.position].astype("datetime64[ms, UTC]" if signal.index.tz else "datetime64[ms]")
    there = sum(low <= time.timestamp() * 1000 <= high for time in times)
    assert inside.endswith(f"of {there} event{'' if there == 1 else 's'}")


def test_the_command_keeps_as_many_states_as_it_is_told(tmp_path: Path) -> None:
    cells = ds.processes.elementary_ca(110, 40, 40, 1)
    np.save(tmp_path / "cells.npy", cells)
    out = tmp_path / "found.json"
    options = ["--past", "2", "--future", "2", "--match", "exact", "--states", "3", "--json", str(out)]
    assert main(["field", str(tmp_path / "cells.npy"), *options, "--quiet"]) == 0
    assert json.loads(out.read_text())["causal_states"] == 3


def test_numbers_of_real_fields_are_curves() -> None:
    field = np.cumsum(np.random.default_rng(1).normal(size=(60, 40)), axis=0)
    causal = ds.CausalStates().fit(ds.observe.light_cones(field, past=2, future=2))
    page = report.page(title="", asked={}, command="", field=field, causal=causal)
    assert "The small curves run from" in page
