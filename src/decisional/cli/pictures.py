"""Pictures of images and signals."""

from __future__ import annotations

from typing import Any

__all__ = ["save_edges", "save_signal"]

# Values that are still told apart on a page.
STRETCH = 200


def save_edges(path: str, pixels: Any, choice: Any) -> None:
    """The image, ranks of its local complexity, and those of its local iso-prediction complexity."""
    import numpy as np

    from .. import plot as plotting
    from ..states import complexity

    causal = choice.causal_
    place = causal.observations_.field
    panels = {
        "Image": -np.asarray(pixels, float),
        "Local statistical complexity": place(complexity.ranks(causal.local_complexity_)),
        "Local iso-prediction complexity": place(complexity.ranks(choice.local_prediction_complexity_)),
    }
    height = min(max(3.2 * pixels.shape[0] / pixels.shape[1], 1.0), 8.0)
    figure, axes = _figure((9.6, height + 0.3), len(panels))
    for ax, (title, values) in zip(axes, panels.items(), strict=True):
        ax.imshow(plotting.grey(values), cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        ax.set_title(title, fontsize=9)
        ax.set_axis_off()
    plotting.save(figure, path)


def save_signal(path: str, signal: Any, choice: Any, name: str) -> None:
    """The last values, each in the colour of the state it leads to, and what is predicted for the next one."""
    import numpy as np

    from .. import plot as plotting

    causal = choice.causal_
    obs = causal.observations_
    first = max(len(signal) - STRETCH, 0)
    best = np.array([float(y) for y in choice.predictions_.choice()])[causal.states_.labels[obs.x]]
    shown = obs.site >= first
    colours = plotting.state_colours(causal.labels_[shown]) / 255.0
    figure, (ax,) = _figure((9.6, 3.2), 1)
    time = np.arange(first, len(signal))
    ax.plot(time, signal[first:], color="0.75", lw=0.8, zorder=1)
    ax.scatter(obs.site[shown] + 1, best[shown], s=14, marker="_", color="#b04020", label="predicted", zorder=2)
    edge = {"edgecolors": "0.4", "linewidths": 0.3}
    ax.scatter(obs.site[shown], np.asarray(signal)[obs.site[shown]], s=16, c=colours, label="value, by state", **edge)
    ax.set_xlabel("row")
    ax.set_ylabel(name if not name.isdecimal() else "value")
    ax.legend(fontsize=8, frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    plotting.save(figure, path)


def _figure(size: tuple[float, float], panels: int) -> tuple[Any, Any]:
    """A figure that is not registered with pyplot, and its axes in a row."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, panels, squeeze=False)[0]
