"""Pictures of fields and images: cells, local complexities, expected utility and states, side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..decisions.decisional_model import DecisionalModel
from ..states.causal_model import CausalModel
from ..states.partition import ranks
from ..support.arguments import require, some_of
from ..support.arrays import Ints
from .figures import (
    animate,
    axes_or_new,
    figure_of,
    given_panels,
    grey,
    new_figure,
    observed,
    plain_axes,
    require_data,
    require_matplotlib,
    state_colours,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches: the width of a page, and the largest side of a panel; points: a title above it.
PAGE, PANEL, TITLE = 9.0, 4.2, 10
TITLES = {
    "raw": "Raw cells",
    "C": "Local statistical complexity",
    "U": "Expected utility",
    "P": "Local iso-prediction complexity",
    "D": "Local decisional complexity",
    "V": "Local iso-utility complexity",
    "states": "Causal states",
    "over": "Causal states over raw cells",
    "decisions": "Decisional states",
}
# Panels that show the field that was observed.
RAW = ("raw", "over")
COLOURED = ("states", "decisions")
# What holds the values of a panel: in causal states, and in decisional ones.
CAUSAL = {"C": "local_complexity_", "states": "labels_"}
DECIDED = {"U": "local_utility_", "P": "local_prediction_complexity_", "D": "local_complexity_"}
DECIDED |= {"V": "local_utility_complexity_", "decisions": "labels_"}


def fields(
    states: CausalModel | DecisionalModel,
    raw: ArrayLike | None = None,
    panels: Sequence[str] | None = None,
    frame: int | None = None,
    axes: Sequence[Axes] | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw fields of fitted states side by side, as in the paper: grey, dark = complex.

    Parameters
    ----------
    states : fitted DecisionalStates, or CausalStates
    raw : the field that was observed, for the panels "raw" (1 = white) and "over"
    panels : which panels: "raw", "C", "U", "P", "D", "V", and in colour "states", "over" (states, as bright as the raw
        cells) and "decisions"; by default raw (if given), C, and for decisional states U and P
    frame : with two or three space axes, which time to show; by default the middle of those with states
    axes : matplotlib axes to draw on, one for each panel; by default a new figure
    ax : matplotlib axes that all panels share, instead of axes

    Returns
    -------
    matplotlib Figure
    """
    causal, choice = _on_a_field(states)
    shape = causal.observations_.shape
    panels = _panels(panels, raw, choice)
    times = _times(causal)
    pictures = [one_moment(_picture(panel, raw, causal, choice), len(shape), times, frame) for panel in panels]
    given = given_panels(axes, ax, len(panels), _columns(len(panels)), _rule(len(panels)))
    given = _new_axes(len(panels), pictures[0].shape) if given is None else given
    return _draw_panels(given, [TITLES[panel] for panel in panels], pictures)


def film(
    states: CausalModel | DecisionalModel,
    path: str | os.PathLike[str],
    raw: ArrayLike | None = None,
    panels: Sequence[str] | None = None,
    fps: float = 10,
    scale: int = 1,
) -> None:
    """Write panels of fitted states of a field with two space axes as an animation, side by side.

    Parameters
    ----------
    states, raw, panels : see `fields`
    path : .gif, or .mp4 where ffmpeg is installed
    fps : frames per second
    scale : side of a cell in pixels
    """
    causal, choice = _on_a_field(states)
    shape = causal.observations_.shape
    if len(shape) != 3:
        raise ValueError(
            f"The states live on a grid of shape {shape}; a film has two space axes: use ds.plot.fields for others."
        )
    pictures = [_picture(panel, raw, causal, choice)[_times(causal)] for panel in _panels(panels, raw, choice)]
    coloured = [picture if picture.ndim == 4 else picture[..., None].repeat(3, axis=3) for picture in pictures]
    # White between the panels.
    wide = [np.pad(picture, ((0, 0), (0, 0), (0, 2), (0, 0)), constant_values=255) for picture in coloured]
    animate(np.concatenate(wide, axis=2)[:, :, :-2], path, fps, scale)


def bits_path(states: CausalModel, ax: Axes | None = None) -> Figure:
    """Draw how many bits about the future fewer and fewer states keep, by their number.

    Parameters
    ----------
    states : CausalStates
        Fitted to observations of any kind.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.

    Returns
    -------
    matplotlib Figure
        The figure; `save` writes it to a file.
    """
    require_matplotlib()
    require(states, "observations_", "states", "fitted CausalStates", "fit them on observations first")
    drawn = axes_or_new(ax, 4.8, 3.2)
    path = states.path()
    drawn.semilogx(path.n_states, path.bits, "o-", color="#005a94", ms=3, lw=1.2)
    plain_axes(drawn, "number of states", "bits about the future")
    drawn.set_ylim(bottom=0.0)
    return figure_of(drawn)


def _on_a_field(states: Any) -> tuple[CausalModel, DecisionalModel | None]:
    """Causal states of a field, and decisional ones where these were given."""
    require_matplotlib()
    choice = states if isinstance(states, DecisionalModel) and states.is_fitted() else None
    causal = states if choice is None else choice.causal_
    remedy = "fit them on observations first"
    require(causal, "observations_", "states", "fitted CausalStates or DecisionalStates", remedy)
    assert isinstance(causal, CausalModel)
    shape = causal.observations_.shape
    if len(shape) < 2:
        raise ValueError(
            f"The states live on a grid of shape {shape}; fields have time and space: observe light cones."
        )
    return causal, choice


def _times(causal: CausalModel) -> Ints:
    """The times that have states."""
    obs = causal.observations_
    return np.unique(obs.site // int(np.prod(obs.shape[1:])))


def edges(
    choice: DecisionalModel, image: ArrayLike, axes: Sequence[Axes] | None = None, *, ax: Axes | None = None
) -> Figure:
    """Draw a grey image and where it is hard to predict, its edges: dark = complex, by rank.

    Side by side are the image, the ranks of its local statistical complexity, and those of its local iso-prediction
    complexity, which sees only what changes the best predictions.

    Parameters
    ----------
    choice : DecisionalStates
        Fitted to causal states of the image.
    image : (height, width) numbers
        The image that was observed; several of the same width one below the other.
    axes : sequence of three matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.
    ax : matplotlib Axes, optional
        Axes that all three share, instead of `axes`.

    Returns
    -------
    matplotlib Figure
        The figure; `save` writes it to a file.
    """
    causal = require_data(choice, "edges")
    obs = causal.observations_
    rule = "it must be the image that was observed, an array (height, width) of numbers: give it as image=pixels."
    pixels = observed(image, "image", obs.shape, rule, ndim=2)
    panels = {
        "Image": grey(-pixels),
        TITLES["C"]: grey(obs.field(ranks(causal.local_complexity_))),
        TITLES["P"]: grey(obs.field(ranks(choice.local_prediction_complexity_))),
    }
    given = given_panels(axes, ax, len(panels), len(panels), _rule(len(panels)))
    given = _new_axes(len(panels), pixels.shape) if given is None else given
    for one in given:
        one.set_axis_off()
    return _draw_panels(given, list(panels), list(panels.values()))


def _panels(panels: Any, raw: ArrayLike | None, choice: DecisionalModel | None) -> list[str]:
    """The panels to draw, which must be known, and have what they need."""
    if panels is None:
        return [*(["raw"] if raw is not None else []), "C", *(["U", "P"] if choice is not None else [])]
    chosen = some_of(panels, "panels", TITLES, least=1)
    for panel in chosen:
        if panel in RAW and raw is None:
            raise ValueError(f"The panel {panel!r} needs the field that was observed: give it as raw=field.")
        if panel in DECIDED and choice is None:
            raise ValueError(f"The panel {panel!r} needs decisional states: fit ds.DecisionalStates(utility) first.")
    return chosen


def _picture(
    panel: str, raw: ArrayLike | None, causal: CausalModel, choice: DecisionalModel | None
) -> NDArray[np.uint8]:
    """Grey levels or colours of a panel on the grid of the data."""
    obs = causal.observations_
    if panel in RAW:
        rule = "it must be the field that was observed, an array of numbers: give it as raw=field."
        cells = 255 - grey(observed(raw, "raw", obs.shape, rule))
        if panel == "raw":
            return cells
        light = 0.4 + 0.6 * cells[..., None] / 255
        return (state_colours(obs.field(causal.labels_)) * light).astype(np.uint8)
    values = obs.field(getattr(causal, CAUSAL[panel]) if panel in CAUSAL else getattr(choice, DECIDED[panel]))
    return state_colours(values) if panel in COLOURED else grey(values)


def one_moment(picture: NDArray[Any], axes: int, times: Ints, frame: int | None = None) -> NDArray[Any]:
    """Two axes to show: the times with states against space, or one moment, the middle of a third space axis."""
    if axes == 2:
        return picture[times[0] : times[-1] + 1]
    picture = picture[times[times.size // 2] if frame is None else frame]
    return picture if axes == 3 else picture[len(picture) // 2]


def _columns(n: int) -> int:
    """How many of n panels stand side by side."""
    return n if n < 4 else 2


def _rule(n: int) -> str:
    return f"there must be one for each: give {n}."


def _new_axes(n: int, shape: tuple[int, ...]) -> list[Axes]:
    """Axes for n pictures of one shape, in a figure without white between them, as wide as a page at most."""
    columns = _columns(n)
    rows = -(-n // columns)
    most = min(PANEL, PAGE / columns)
    height = min(max(most * shape[0] / shape[1], 1.0), 2 * PANEL)
    width = min(most, max(height * shape[1] / shape[0], 2.0))
    # Above each picture there is room for a title, of two lines where it is narrow.
    figure = new_figure(columns * width, (height + (0.25 if width > 2.5 else 0.45)) * rows)
    grid = np.ravel(figure.subplots(rows, columns, squeeze=False))
    for ax in grid[n:]:
        ax.set_axis_off()
    return list(grid[:n])


def _draw_panels(given: Sequence[Axes], titles: Sequence[str], pictures: Sequence[NDArray[np.uint8]]) -> Figure:
    """Show pictures, in grey or colour, on axes for each; return their figure."""
    for ax, title, picture in zip(given, titles, pictures, strict=True):
        ax.imshow(picture, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        ax.set_title(_wrapped(ax, title), fontsize=TITLE)
        ax.set_xticks([])
        ax.set_yticks([])
    return figure_of(given[0])


def _wrapped(ax: Axes, title: str) -> str:
    """A title on as many lines as it needs above axes."""
    points = 72 * ax.get_window_extent().width / figure_of(ax).dpi
    # A letter is a little more than half as wide as high.
    return fill(title, max(int(points / (0.53 * TITLE)), 12), break_long_words=False, break_on_hyphens=False)
