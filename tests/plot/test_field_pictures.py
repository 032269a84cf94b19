"""Pictures of fields: grey levels, colours of states, panels and animations."""

from functools import cache
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure
from PIL import Image

import decisional as ds
from decisional.plot.field_pictures import TITLES


def decide(obs: ds.Observations) -> ds.DecisionalStates:
    return ds.DecisionalStates(ds.utility.matching_cells()).fit(ds.CausalStates(match="exact").fit(obs))


@cache
def line() -> tuple[np.ndarray, ds.DecisionalStates]:
    field = ds.processes.elementary_ca(110, 60, 40, 1)
    return field, decide(ds.observe.light_cones(field, 3, 2))


@cache
def plane() -> tuple[np.ndarray, ds.DecisionalStates]:
    field = ds.processes.cyclic_automaton((16, 24), 12, colours=4, rng=1)
    return field, decide(ds.observe.light_cones(field, 2, 2, neighbourhood="von_neumann"))


def shown(figure: Figure) -> list[np.ndarray]:
    return [np.asarray(ax.images[0].get_array()) for ax in figure.axes if ax.images]


def titles(figure: Figure) -> list[str]:
    """The titles of all pictures, on one line each."""
    return [ax.get_title().replace("\n", " ") for ax in figure.axes if ax.images]


def test_grey_is_dark_where_values_are_large():
    assert ds.plot.grey([0.0, 0.5, 1.0]).tolist() == [255, 128, 0]
    assert ds.plot.grey([[3, 5]]).tolist() == [[255, 0]]
    assert ds.plot.grey([-1e9, 1e9]).dtype == np.uint8


def test_grey_of_constant_missing_and_no_values():
    assert ds.plot.grey([2.0, 2.0]).tolist() == [255, 255]
    assert ds.plot.grey([np.nan, 0.0, 1.0, np.inf]).tolist() == [255, 255, 0, 255]
    assert ds.plot.grey([np.nan, np.nan]).tolist() == [255, 255]
    assert ds.plot.grey(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("n", [1, 2, 12, 100])
def test_colours_of_states_differ(n: int):
    labels = np.repeat(np.arange(n), np.arange(n, 0, -1))
    colours = ds.plot.state_colours(labels)
    assert colours.shape == (labels.size, 3)
    assert len(np.unique(colours, axis=0)) == n
    assert (colours.astype(int).sum(axis=1) < 3 * 255).all()


def test_colours_common_states_are_pale_and_rare_ones_strong():
    labels = np.repeat([0, 1, 2, 3], [1000, 990, 30, 1])
    spread = np.ptp(ds.plot.state_colours(labels)[[0, 1000, 1990, 2020]].astype(int), axis=1)
    assert (spread[:2] < 40).all()
    assert 40 < spread[2] < spread[3]
    assert spread[3] > 150


def test_colours_unknown_states_are_white():
    colours = ds.plot.state_colours([[0.0, np.nan], [1.0, -1.0]])
    assert colours.shape == (2, 2, 3)
    assert (colours[:, 1] == 255).all()
    assert (ds.plot.state_colours([-1, -1]) == 255).all()


def test_panels_of_the_paper():
    field, choice = line()
    figure = ds.plot.fields(choice, raw=field)
    assert titles(figure) == [TITLES[name] for name in ("raw", "C", "U", "P")]
    raw, local, *_ = shown(figure)
    assert np.array_equal(raw, 255 * field[2:-1])  # the rows that have states
    place = choice.causal_.observations_.field
    assert np.array_equal(local, ds.plot.grey(place(choice.causal_.local_complexity_))[2:-1])


def test_every_panel():
    field, choice = line()
    figure = ds.plot.fields(choice, raw=field, panels=list(TITLES))
    assert titles(figure) == list(TITLES.values())
    assert [picture.ndim for picture in shown(figure)] == [2] * 6 + [3] * 3
    assert len(figure.axes) == len(TITLES) + len(TITLES) % 2
    assert len(ds.plot.fields(choice, panels=["C", "U", "P", "D", "V"]).axes) == 6  # the last one empty


def test_causal_states_only():
    field, choice = line()
    assert titles(ds.plot.fields(choice.causal_)) == [TITLES["C"]]
    assert titles(ds.plot.fields(choice.causal_, field)) == [TITLES["raw"], TITLES["C"]]
    with pytest.raises(ValueError, match=r"^The panel 'U' needs decisional states: .*\.$"):
        ds.plot.fields(choice.causal_, panels=["U"])


def test_one_moment_of_a_plane():
    field, choice = plane()
    middle, chosen = (ds.plot.fields(choice, field, ["raw", "states"], frame) for frame in (None, 3))
    assert [picture.shape for picture in shown(chosen)] == [(16, 24), (16, 24, 3)]
    levels = 255 - ds.plot.grey(field)
    assert np.array_equal(shown(middle)[0], levels[6])  # states at 1 to 10
    assert np.array_equal(shown(chosen)[0], levels[3])


def test_the_middle_of_a_volume():
    field = np.random.default_rng(0).integers(0, 2, (4, 5, 6, 7))
    causal = ds.CausalStates(match="exact").fit(ds.observe.light_cones(field, 1, 2, neighbourhood="von_neumann"))
    assert [picture.shape for picture in shown(ds.plot.fields(causal, panels=["C", "states"]))] == [(6, 7), (6, 7, 3)]


@pytest.mark.parametrize("shape", [(20, 20), (10, 100), (60, 30)])
def test_the_figure_has_the_shape_of_its_panels(shape: tuple[int, int]):
    field = np.random.default_rng(1).integers(0, 2, (6, *shape))
    causal = ds.CausalStates().fit(ds.observe.light_cones(field, 1, 2))
    figure = ds.plot.fields(causal, field)
    figure.canvas.draw()
    left, right = (ax.get_window_extent() for ax in figure.axes)
    assert right.x0 - left.x1 < 0.25 * left.width + 60


def test_given_axes():
    field, choice = line()
    figure = Figure()
    axes = figure.subplots(1, 3)
    assert ds.plot.fields(choice, axes=axes) is figure
    assert titles(figure) == [TITLES[name] for name in ("C", "U", "P")]
    with pytest.raises(ValueError, match=r"^The 'axes' are 3 for 4 panels; there must be one for each: give 4\.$"):
        ds.plot.fields(choice, raw=field, axes=axes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"panels": ["E"]}, r"^The 'panels' is 'E'; it must be one of 'raw', 'C', .*\.$"),
        ({"panels": ["raw"]}, r"^The panel 'raw' needs the field that was observed: .*\.$"),
    ],
)
def test_panels_that_cannot_be(arguments: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        ds.plot.fields(line()[1], **arguments)


def test_series_have_no_field():
    causal = ds.CausalStates().fit(ds.observe.series("0110111" * 50, past=2))
    with pytest.raises(ValueError, match=r"grid of shape \(350,\); fields have time and space: observe light cones\.$"):
        ds.plot.fields(causal)


def test_gif(tmp_path: Path):
    field, choice = plane()
    obs = choice.causal_.observations_
    for values in (
        field,
        obs.field(choice.causal_.local_complexity_),
        ds.plot.state_colours(obs.field(choice.labels_)),
    ):
        ds.plot.animate(values, tmp_path / "film.gif", fps=5, scale=2)
        with Image.open(tmp_path / "film.gif") as film:
            assert (film.format, film.size, film.n_frames) == ("GIF", (48, 32), 12)
            assert film.info["duration"] == 200
    assert [path.name for path in tmp_path.iterdir()] == ["film.gif"]


def test_frames_of_a_gif_are_the_grey_levels(tmp_path: Path):
    values = np.arange(24.0).reshape(2, 3, 4)
    ds.plot.animate(values, tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as film:
        for k, levels in enumerate(ds.plot.grey(values)):
            film.seek(k)
            assert np.abs(np.asarray(film.convert("L")).astype(int) - levels).max() <= 1


def test_mp4(tmp_path: Path):
    if which("ffmpeg") is None:
        with pytest.raises(ValueError, match=r"needs the program ffmpeg: install it, or write a \.gif\.$"):
            ds.plot.animate(plane()[0], tmp_path / "film.mp4")
        assert not list(tmp_path.iterdir())
    else:
        ds.plot.animate(plane()[0], tmp_path / "film.mp4")
        assert (tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize(
    ("shape", "name", "message"),
    [
        ((3, 4, 4), "film.avi", r"film\.avi'; an animation must end in \.gif or \.mp4: rename it\.$"),
        ((4, 4), "film.gif", r"^The 'values' have shape \(4, 4\); an animation needs .*: select two space axes\.$"),
        ((0, 4, 4), "film.gif", r"^The 'values' have shape \(0, 4, 4\); "),
        ((2, 4, 4, 2), "film.gif", r"^The 'values' have shape \(2, 4, 4, 2\); "),
    ],
)
def test_no_animation(shape: tuple[int, ...], name: str, message: str, tmp_path: Path):
    with pytest.raises(ValueError, match=message):
        ds.plot.animate(np.zeros(shape), tmp_path / name)
    assert not list(tmp_path.iterdir())


@cache
def disc() -> tuple[np.ndarray, ds.DecisionalStates]:
    row, column = np.mgrid[:24, :32]
    noise = np.random.default_rng(1).integers(0, 6, (24, 32))
    image = (60 + 120 * ((row - 12) ** 2 + (column - 16) ** 2 < 60) + noise).astype(np.uint8)
    causal = ds.CausalStates(ds.Kernels(bandwidth=1.5**0.5)).fit(ds.observe.image(image))
    return image, ds.DecisionalStates(ds.utility.tolerant(7.0)).fit(causal)


def test_edges_of_an_image() -> None:
    image, choice = disc()
    figure = ds.plot.edges(choice, image)
    assert titles(figure) == ["Image", TITLES["C"], TITLES["P"]]
    assert not any(ax.axison for ax in figure.axes)
    place = choice.causal_.observations_.field
    pixels, causal, decided = shown(figure)
    assert np.array_equal(pixels, ds.plot.grey(-image.astype(float)))
    assert np.array_equal(causal, ds.plot.grey(place(ds.complexity.ranks(choice.causal_.local_complexity_))))
    assert np.array_equal(decided, ds.plot.grey(place(ds.complexity.ranks(choice.local_prediction_complexity_))))


def test_panels_share_one_axes() -> None:
    field, choice = line()
    image, decided = disc()
    figure = Figure(layout="constrained")
    upper, lower = figure.subplots(2, 1)
    assert ds.plot.fields(choice, field, panels=["raw", "C", "P", "V"], ax=upper) is figure
    assert ds.plot.edges(decided, image, ax=lower) is figure
    figure.canvas.draw()
    for ax, n in ((upper, 4), (lower, 3)):
        assert not ax.axison
        boxes = [part.get_tightbbox() for part in ax.child_axes]
        assert len(boxes) == n
        assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    with pytest.raises(ValueError, match=r"^Both 'ax' and 'axes' are given; a picture has one place: give one of them"):
        ds.plot.edges(decided, image, [upper] * 3, ax=lower)


def test_titles_are_as_wide_as_their_panels_at_most() -> None:
    field, choice = line()
    for panels in (["C", "U", "P"], ["raw", "C", "P", "V"], ["C"]):
        figure = ds.plot.fields(choice, field, panels=panels)
        figure.canvas.draw()
        assert figure.get_figwidth() <= 9.0
        for ax in figure.axes:
            assert ax.title.get_fontsize() >= 10
            assert ax.title.get_window_extent().width <= ax.get_window_extent().width


def test_edges_on_given_axes() -> None:
    image, choice = disc()
    figure = Figure()
    axes = figure.subplots(1, 3)
    assert ds.plot.edges(choice, image, axes) is figure
    with pytest.raises(ValueError, match=r"^The 'axes' are 2 for 3 panels; there must be one for each: give 3\.$"):
        ds.plot.edges(choice, image, axes[:2])


def test_edges_of_what_is_no_image() -> None:
    image, choice = disc()
    with pytest.raises(
        ValueError, match=r"^The 'image' has shape \(24, 31\) and the states \(24, 32\); it must be .*\.$"
    ):
        ds.plot.edges(choice, image[:, 1:])
    with pytest.raises(ValueError, match=r"^The 'image' is 'disc'; it must be the image that was observed, .*\.$"):
        ds.plot.edges(choice, "disc")
    with pytest.raises(ValueError, match=r"'choice' parameter must be a fitted DecisionalStates\. Got CausalStates"):
        ds.plot.edges(choice.causal_, image)
    even = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())
    with pytest.raises(
        ValueError, match=r"^The 'choice' of edges was fitted to a machine, .*: fit it to causal states"
    ):
        ds.plot.edges(even, image)
    series = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.CausalStates().fit(ds.observe.series("0110111" * 9, 2)))
    with pytest.raises(
        ValueError, match=r"^The 'image' has shape \(63,\) and the states \(63,\); it must be the image"
    ):
        ds.plot.edges(series, np.zeros(63))


def test_the_path_of_bits_is_drawn() -> None:
    causal = line()[1].causal_
    drawn = ds.plot.bits_path(causal).axes[0].lines[0]
    np.testing.assert_array_equal(drawn.get_xdata(), causal.path().n_states)
    np.testing.assert_array_equal(drawn.get_ydata(), causal.path().bits)


def test_films_have_the_panels_side_by_side(tmp_path: Path) -> None:
    field = ds.processes.game_of_life((12, 14), 20, rng=1)
    causal = ds.CausalStates().fit(ds.observe.light_cones(field, 2, 2))
    ds.plot.film(causal, tmp_path / "life.gif", raw=field, panels=["raw", "over", "C"], scale=2)
    with Image.open(tmp_path / "life.gif") as made:
        assert made.n_frames == 18
        assert made.size == (2 * (3 * 14 + 4), 24)
    row = ds.CausalStates().fit(ds.observe.light_cones(field[:, 0], 2, 2))
    with pytest.raises(ValueError, match="two space axes"):
        ds.plot.film(row, tmp_path / "row.gif")


def test_states_over_raw_cells_are_as_bright_as_these() -> None:
    field = ds.processes.elementary_ca(90, 30, 30, rng=1)
    causal = ds.CausalStates().fit(ds.observe.light_cones(field, 2, 2))
    states, over = (part.astype(float) for part in shown(ds.plot.fields(causal, field, ["states", "over"])))
    bright = field[1:29] == 1
    np.testing.assert_allclose(over[bright], states[bright], atol=1)
    np.testing.assert_allclose(over[~bright], 0.4 * states[~bright], atol=1)
    with pytest.raises(ValueError, match="'over' needs the field"):
        ds.plot.fields(causal, panels=["over"])
