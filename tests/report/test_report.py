"""The report is complete, safe and the same each time, also in a real browser; notebooks show estimators."""

import os
import re
import shutil
import subprocess
import sys
from base64 import b64decode
from functools import cache
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from markupsafe import Markup
from PIL import Image
from sklearn.pipeline import make_pipeline

import decisional as ds
from decisional import report
from decisional.report.caveats import caveats
from decisional.report.content import Bars, Chip, Svg, TableContent, png, render
from decisional.report.findings import Findings

pytest.importorskip("matplotlib")

VOID = {"meta", "link", "br", "img", "input"}
KINDS = ("series", "field", "image", "signal")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = ["<script>alert(1)</script>", '"quoted"', "a&b", "it's", "$x_1^2$", "</style>", "\x00\x07", "日本"]


class Page(HTMLParser):
    """The tags, texts and addresses of a page, whose elements must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), (tag, attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]

    @property
    def ids(self) -> list[str]:
        return [str(attrs["id"]) for _, attrs in self.tags if "id" in attrs]

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


@cache
def inputs(kind: str) -> dict[str, Any]:
    """Small data of each kind, with what was found in them."""
    if kind == "series":
        symbols = ds.processes.even().simulate(3000, rng=1)
        chosen = ds.selection.select(symbols, max_past=5)
        bet = ds.utility.table([[0, 0], [-3, 1]], y=["stay out", "bet on 1"])
        found = {"selection": chosen, "choice": ds.DecisionalStates(bet).fit(chosen.machine)}
        return {"series": symbols, **found}
    if kind == "field":
        cells = ds.processes.elementary_ca(110, 60, 50, 1)
        causal = ds.CausalStates(match="exact").fit(ds.observe.light_cones(cells, past=2, future=2))
        return {"field": cells, "choice": ds.DecisionalStates(ds.utility.matching_cells()).fit(causal)}
    rng = np.random.default_rng(1)
    if kind == "image":
        pixels = (np.add.outer(np.arange(20), np.arange(24)) * 5 + rng.integers(0, 3, (20, 24))).astype(np.uint8)
        causal = ds.CausalStates(density=ds.Kernels(bandwidth=1.5**0.5), passes=3).fit(ds.observe.image(pixels))
        return {"field": pixels, "choice": ds.DecisionalStates(ds.utility.tolerant(7)).fit(causal)}
    signal = np.empty(400)
    signal[0] = 0.4
    for t in range(399):
        signal[t + 1] = 3.8 * signal[t] * (1 - signal[t])
    signal = signal + 0.02 * rng.standard_normal(400)
    signal[100] = np.nan
    causal = ds.CausalStates(match=ds.Bhattacharyya(0.05)).fit(ds.observe.delays(signal, past=2))
    return {"series": signal, "choice": ds.DecisionalStates(ds.utility.squared_error()).fit(causal)}


def made(kind: str, **more: Any) -> str:
    asked = {"File": f"{kind}.txt", "Past": "auto"}
    return report.page(title=f"A {kind}", asked=asked, command=f"decisional {kind} {kind}.txt", **inputs(kind), **more)


@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_whole(kind: str) -> None:
    text = made(kind, seed=7, warnings=["The file has 3 empty lines."], data={"Read from": "a disk"})
    found = Page(text)
    assert text.startswith('<!doctype html>\n<html lang="en">')
    assert len(set(found.ids)) == len(found.ids)
    assert len(text.encode()) < 2_000_000
    links = {str(attrs["href"]) for attrs in found.all("a")}
    assert links == {f"#{name}" for name in found.ids if f"{name}-title" in found.ids}
    sections = {"summary", "asked", "data", "states", "decisions", "complexities", "along", "reproduce", "words"}
    sections |= {"series": {"machine", "selection", "events"}, "signal": {"events"}}.get(kind, set())
    assert sections == {link[1:] for link in links}
    for words in ("The file has 3 empty lines.", "a disk", f"{kind}.txt", "What was found", "How sure", "What next"):
        assert words in found.words
    assert "import decisional as ds" in found.words
    assert ds.__version__ in found.words
    assert "Seed 7" in found.words
    assert all(attrs.get("alt") for attrs in found.all("img"))
    assert all(attrs.get("aria-label") for attrs in found.all("svg") if attrs.get("role") == "img")
    assert all(attrs.get("scope") in ("col", "row") for attrs in found.all("th"))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_comes_from_elsewhere(kind: str) -> None:
    text = made(kind)
    assert not re.search(r"https?://", text)
    found = Page(text)
    for tag, attrs in found.tags:
        for name in ("src", "href", "xlink:href", "action", "data", "srcset"):
            assert (attrs.get(name) or "#").startswith(("#", "data:")), (tag, attrs)
    assert not re.search(r"@import|url\((?!#)", text)
    assert [attrs for attrs in found.all("script") if "src" in attrs] == []


def test_the_same_input_gives_the_same_page() -> None:
    for kind in KINDS:
        assert made(kind) == made(kind)
    code = "import sys, test_report; sys.stdout.buffer.write(test_report.made('series').encode())"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parent,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {made("series").encode()}


def test_series_tells_states_decisions_and_events() -> None:
    words = Page(made("series")).words
    for text in (
        "2 states",
        "recurrent",
        "stay out",
        "bet on 1",
        "Statistical complexity",
        "Excess entropy",
        "plateau",
    ):
        assert text in words
    assert inputs("series")["selection"].why in words
    choice, symbols = inputs("series")["choice"], inputs("series")["series"]
    events = choice.events(symbols)
    assert f"There are {len(events):,} events" in words
    assert f"Position {events[0].position}" in words
    assert "No warning" in words
    assert "ds.utility.table([[0.0, 0.0], [-3.0, 1.0]], y=['stay out', 'bet on 1'])" in words


def test_causal_states_of_a_series_come_with_their_windows() -> None:
    symbols = ds.processes.even().simulate(5000, rng=1)
    causal = ds.CausalStates().fit(ds.observe.series(symbols, past=5))
    found = Page(report.page(title="", asked={}, command="", series=symbols, causal=causal))
    assert "ds.observe.series(symbols, past=5)" in found.words
    assert "transient" in found.words
    assert "(a utility)" in found.words
    assert "asked" not in found.ids
    assert "decisions" not in found.ids


def test_one_best_prediction_is_not_different() -> None:
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.biased_coin(0.7))
    words = Page(report.page(title="", asked={}, command="", choice=choice)).words
    assert "1 best prediction in every state" in words


def test_decisions_of_one_state_each_are_a_table_alone() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 5, 3000)
    causal = ds.CausalStates().fit(ds.observe.pairs(x, np.where(rng.random(3000) < 0.9, x, (x + 1) % 5)))
    for utility, pictures in ((ds.utility.zero_one(), 0), (ds.utility.squared_error(), 1)):
        choice = ds.DecisionalStates(utility, delta=0.05).fit(causal)
        found = Page(report.page(title="", asked={}, command="", causal=causal, choice=choice))
        labels = [attrs.get("aria-label") or "" for attrs in found.all("svg")]
        assert sum(label.startswith("States inside") for label in labels) == pictures
        assert "5 decisional states" in found.words


def test_maps_have_the_size_of_the_field() -> None:
    found = Page(made("field"))
    assert [(attrs["width"], attrs["height"]) for attrs in found.all("img")] == [("60", "48")] * 5
    assert "machine" not in found.ids
    assert "past=2, future=2" in found.words


def test_grey_levels_above_the_darkest_are_said_to_be_so() -> None:
    said = "Outcomes and predictions are grey levels above the darkest pixel around."
    assert said in Page(made("image")).words
    pixels = inputs("image")["field"]
    causal = ds.CausalStates(ds.Kernels(bandwidth=1.5)).fit(ds.observe.image(pixels, subtract_min=False))
    assert said not in Page(report.page(title="", asked={}, command="", field=pixels, causal=causal)).words
    assert said not in Page(made("field")).words


def test_many_states_are_cut_with_a_note() -> None:
    words = Page(made("signal")).words
    n = inputs("signal")["choice"].causal_.n_states_
    assert n > 30
    assert f"{n:,} states; the 12 most probable ones are listed" in words
    assert "Missing 1 value " in words


def test_signals_in_slices_are_shown_as_far_as_they_have_states() -> None:
    signal = np.sin(np.arange(600) / 5) + 0.05 * np.random.default_rng(1).standard_normal(600)
    causal = ds.CausalStates(ds.Kernels(bandwidth=0.2)).fit(ds.observe.delays(signal, 2, chunks=100))
    words = Page(report.page(title="", asked={}, command="", series=signal, causal=causal)).words
    assert "Length 600 values" in words
    assert "Positions 0 to 101," in words
    assert "read slice by slice" in words


def test_large_fields_stay_small() -> None:
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 2, (500, 900))
    causal = ds.CausalStates(match="exact").fit(ds.observe.light_cones(cells, past=2, future=2))
    choice = ds.DecisionalStates(ds.utility.matching_cells()).fit(causal)
    text = report.page(title="", asked={}, command="", field=cells, choice=choice)
    assert len(text) < 2_000_000
    assert "each pixel stands for 3 × 3 cells" in text


def test_three_axes_are_shown_at_one_moment() -> None:
    cells = np.random.default_rng(1).integers(0, 2, (12, 9, 11))
    causal = ds.CausalStates().fit(ds.observe.light_cones(cells, past=1, future=2))
    found = Page(report.page(title="", asked={}, command="", field=cells, causal=causal))
    assert {(attrs["width"], attrs["height"]) for attrs in found.all("img")} == {("11", "9")}


@pytest.mark.parametrize("fitted", [False, True])
def test_hostile_symbols_are_text(fitted: bool) -> None:
    symbols = np.random.default_rng(1).choice(np.array(HOSTILE, object), 3000).tolist()
    machine = ds.EpsilonMachine([(HOSTILE[0], symbol, HOSTILE[0], 1 / len(HOSTILE)) for symbol in HOSTILE])
    source: Any = ds.CausalStates().fit(ds.observe.series(symbols, past=1)) if fitted else machine
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(source)
    hostile = HOSTILE[0] + HOSTILE[1] + HOSTILE[5] + "\udc80"
    text = report.page(
        title=hostile,
        asked={hostile: hostile},
        command=hostile,
        seed=hostile,
        data={hostile: hostile},
        series=symbols,
        choice=choice,
        warnings=[hostile],
        code=hostile,
    )
    text.encode("utf-8")
    found = Page(text)
    assert [attrs.get("id") for attrs in found.all("script")] == [None, "overview-library", "overview-data", None]
    assert len(found.all("style")) == 1
    assert HOSTILE[0] in found.words
    assert not re.search("[\x00-\x08]", text)
    for tag, attrs in found.tags:
        assert not any(name.startswith("on") for name in attrs), tag


def test_several_series_and_machines_alone() -> None:
    series = ["0110111101" * 5, "0111101" * 4]
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())
    words = Page(report.page(title="", asked={}, command="", series=series, choice=choice)).words
    assert "78 symbols in 2 series" in words
    assert "Series 1, position" in words
    alone = Page(report.page(title="", asked={}, command="", machine=ds.processes.golden_mean()))
    assert {"machine", "states", "complexities"} <= set(alone.ids)
    assert "along" not in alone.ids
    empty = Page(report.page(title="Nothing yet", asked={}, command="decisional"))
    assert "no states have been reconstructed" in empty.words


def test_pairs_have_a_page() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, (3000, 1))
    z = (rng.random(3000) < 0.2 + 0.3 * x[:, 0]).astype(int)
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.CausalStates().fit(x, z))
    found = Page(report.page(title="", asked={}, command="", choice=choice))
    assert "decisions" in found.ids
    assert "events" not in found.ids


def derived(**given: Any) -> str:
    return " ".join(caveats(Findings(**given)))


def test_warnings_follow_from_the_result() -> None:
    short = ds.CausalStates().fit(ds.observe.series("0110111101" * 4, past=4))
    text = derived(causal=short)
    assert "only 36 observations" in text
    assert "different pasts" in text
    parts = ds.EpsilonMachine([("A", 0, "A", 1.0), ("B", 1, "B", 1.0)])
    assert "2 parts that never lead into each other" in derived(machine=parts)
    halves = np.concatenate([ds.processes.coin(0.9).simulate(3000, rng=1), ds.processes.even().simulate(3000, rng=1)])
    changing = ds.CausalStates().fit(ds.observe.series(halves, past=3))
    assert "first and the second half" in derived(causal=changing, series=halves)
    even = ds.processes.even().simulate(10_000, rng=1)
    passing = ds.CausalStates().fit(ds.observe.series(even, past=3))
    assert "transient one" in derived(causal=passing)
    lost = ds.CausalStates().fit(np.array([[0.0], [np.nan], [1.0]] * 500), np.arange(1500) % 2)
    assert "no state is known (-1)" in derived(causal=lost)
    close = ds.selection.select(ds.processes.even().simulate(40, rng=2))
    if close.warning is not None:
        assert close.warning in derived(selection=close)
    assert derived(machine=ds.processes.even()) == ""


def test_unfitted_estimators_are_refused() -> None:
    with pytest.raises(ValueError, match="must be fitted"):
        report.page(title="", asked={}, command="", causal=ds.CausalStates())
    with pytest.raises(ValueError, match="must be fitted"):
        report.page(title="", asked={}, command="", choice=ds.DecisionalStates(ds.utility.zero_one()))


def test_files_are_whole_or_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    given = {"title": "Even", "asked": {}, "command": "decisional demo", "machine": ds.processes.even()}
    report.write(path, **given)
    assert path.read_text("utf-8") == report.page(**given)
    path.write_text("before")
    with monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise OSError("disk full")

        patch.setattr("decisional.support.files.os.replace", full)
        with pytest.raises(OSError, match="disk full"):
            report.write(path, **given)
    with pytest.raises(ValueError, match="must be fitted"):
        report.write(path, **given, causal=ds.CausalStates())
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_pages_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = inputs("series"), inputs("field")
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for given in wanted:
        found = Page(report.page(title="", asked={}, command="", **given))
        assert "matplotlib" in found.words
        assert "states" in found.ids
        assert "<table>" in report.decisions_html(given["choice"])


def test_only_what_is_html_is_not_escaped() -> None:
    picture = Svg(Markup("<b></b>"), '"', 1.0, "<i>")
    table = TableContent(["&", "", '"'], [["<", Chip("'", '"'), Bars([("<u>\x00", 0.5)])]], "")
    text = render("notebook.html", picture=picture, caption="</p>\x07\udc80", content=table)
    for words in (
        '<svg viewBox="&#34;" role="img" aria-label="&lt;i&gt;" style="max-width:1px"><b></b></svg>',
        "<p>&lt;/p&gt;\ufffd\ufffd</p>",
        '<th scope="col">&amp;</th>',
        '<th scope="row">&lt;</th>',
        '<span class="chip" style="background:&#34;">&#39;</span>',
        '<span class="outcome">&lt;u&gt;\ufffd</span>',
    ):
        assert words in text


@pytest.mark.parametrize("most", [2, 256])
@pytest.mark.parametrize("shape", [(30, 40), (30, 40, 3)])
def test_images_keep_every_pixel(most: int, shape: tuple[int, ...]) -> None:
    pixels = np.random.default_rng(1).integers(0, most, shape).astype(np.uint8)
    address = png(pixels)
    head, _, data = address.partition(",")
    assert head == "data:image/png;base64"
    with Image.open(BytesIO(b64decode(data))) as image:
        found = np.asarray(image.convert("RGB"))
    assert (found == (pixels if pixels.ndim == 3 else pixels[..., None])).all()


def test_public_names_only() -> None:
    assert dir(report) == ["causal_html", "decisions_html", "machine_html", "page", "write"]


@pytest.fixture
def estimators() -> tuple[Any, Any]:
    return ds.CausalStates(), ds.DecisionalStates(ds.utility.zero_one())


def test_notebooks_show_estimators(estimators: tuple[Any, Any]) -> None:
    causal, choice = estimators
    for estimator in estimators:
        before = estimator._repr_mimebundle_()["text/html"]
        assert "sk-" in before
        assert "sk-" in estimator._repr_html_()
        assert "sk-" in make_pipeline(estimator)._repr_html_()
    causal.fit(ds.observe.series(ds.processes.even().simulate(3000, rng=1), past=3))
    choice.fit(causal)
    for estimator, words in ((causal, "3 causal states"), (choice, "decisional states of 3 causal states")):
        text = estimator._repr_html_()
        assert estimator._repr_mimebundle_()["text/html"] == text
        found = Page(text)
        assert words in found.words
        assert len(found.all("svg")) == 1
        assert len(found.all("table")) == 1
        assert repr(estimator) == estimator._repr_mimebundle_()["text/plain"]
        with sklearn.config_context(display="text"):
            assert "text/html" not in estimator._repr_mimebundle_()
            assert not hasattr(estimator, "_repr_html_")


@pytest.mark.parametrize("kind", ["field", "image", "signal"])
def test_notebooks_show_states_without_machine(kind: str) -> None:
    choice = inputs(kind)["choice"]
    for estimator in (choice, choice.causal_):
        found = Page(estimator._repr_html_())
        assert len(found.all("table")) == 1
        assert len(found.all("tr")) <= 13


# What a reader does: the page is asked for its colours, its diagram and what a key does to it.
PROBE = """<script>
const stage = document.querySelector(".stage"), svg = stage && stage.querySelector("svg");
const before = svg && svg.getAttribute("viewBox");
if (stage) stage.dispatchEvent(new KeyboardEvent("keydown", {key: "+"}));
const zoomed = svg && svg.getAttribute("viewBox") !== before;
if (stage) stage.dispatchEvent(new KeyboardEvent("keydown", {key: "0"}));
const buttons = [...document.querySelectorAll("figure .controls")].every((part) => !part.hidden);
const images = [...document.images].every((image) => image.complete && image.naturalWidth > 0);
const wide = document.documentElement.scrollWidth > window.innerWidth;
const size = svg ? svg.getBoundingClientRect().width : 0;
const colour = getComputedStyle(document.body).backgroundColor;
document.body.dataset.probe = [colour, zoomed, buttons, images, wide, size > 100].join("|");
</script>"""


# Zoomed by a key, buttons shown, images loaded, page too wide, diagram large: without and with a diagram.
PROBED = (["", "true", "true", "false", "false"], ["true", "true", "true", "false", "true"])


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
@pytest.mark.parametrize("kind", KINDS)
def test_in_a_browser(kind: str, tmp_path: Path) -> None:
    assert BROWSER is not None
    path = tmp_path / "report.html"
    text = made(kind)
    expected = PROBED['class="stage"' in text]
    path.write_text(text.replace("</body>", PROBE + "</body>"), "utf-8")
    common = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=2000",
        "--enable-logging=stderr",
        "--v=0",
    ]
    for scheme, width, background in ((0, 1200, "rgb(16, 17, 18)"), (1, 500, "rgb(245, 246, 248)")):
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        look = [f"--blink-settings=preferredColorScheme={scheme}", f"--window-size={width},900", profile]
        done = subprocess.run(
            [BROWSER, *common, *look, "--dump-dom", path.as_uri()],
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
        )
        assert "CONSOLE" not in done.stderr, done.stderr
        probe = re.search(r'data-probe="([^"]*)"', done.stdout)
        assert probe is not None
        assert probe.group(1).split("|") == [background, *expected]
        if kind == "series":
            assert '<g id="machine-figure_1">' in done.stdout
            assert '<g id="decisions-figure_1">' in done.stdout


def test_the_start_of_whole_strings_is_told() -> None:
    chosen = ds.selection.select(["ab", "abab", "ab", "ababab"] * 20, whole=True)
    text = report.page(title="Words", asked={}, command="decisional symbols", selection=chosen)
    assert "start of the strings" in text
    assert "whole=True" in text
