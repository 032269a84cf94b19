"""How the states are nested: causal states in decisional ones, in a table of iso-prediction by iso-utility states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import artists
from .drawing import MARGIN
from .geometry import Floats, Ints
from .labels import FONT, extent
from .states import States, radii
from .wording import (
    causal_names,
    causal_probabilities,
    mean_utility,
    probability_text,
    require_fitted,
    set_texts,
    worth,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..decisions.decisional_model import DecisionalModel
    from ..states.partition import Partition

__all__ = ["relations"]

PITCH = 0.86  # between causal states
PAD, GAP = 0.14, 0.12  # inside and around a box
BAR, THICK = 1.0, 0.2  # length of a bar of probability 1, and its thickness
MAX_SHOWN = 24  # causal states in one box


def relations(choice: DecisionalModel, ax: Axes | None = None) -> Axes:
    """Draw how causal, decisional, iso-prediction and iso-utility states are nested.

    Rows are iso-prediction states ψ with their sets Y, columns are iso-utility states υ with their utility, from the
    lowest to the highest. Each box is a decisional state ω with its probability, and holds its causal states:
    circles whose area is probability, down to a size that still holds a name. Bars in the margins are the
    probabilities of rows and columns. It is the paper's figure "Relations between the different states".

    Parameters
    ----------
    choice : DecisionalStates
        With or without a machine, without which the causal states are numbered. The 24 most probable causal states
        of each decisional state are drawn.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.

    Returns
    -------
    matplotlib Axes
        The axes; its figure is ``axes.figure``, and `save` writes it to a file.
    """
    artists.require_matplotlib()
    require_fitted(choice)
    table = _Table(choice)
    if ax is None:
        ax = artists.new_axes(table.page)
    points = artists.fit(ax, table.page)
    table.draw(ax, points)
    return ax


class _Table:
    """The places of everything; rows run downwards from y = 0, columns to the right from x = 0."""

    def __init__(self, choice: DecisionalModel) -> None:
        self.p = causal_probabilities(choice)
        self.choice = choice
        prediction, utility, decision = choice.iso_prediction_, choice.iso_utility_, choice.states_
        value = mean_utility(choice, utility)
        self.columns = np.argsort(value, kind="stable")
        rank = np.argsort(self.columns)
        first = np.unique(decision.labels, return_index=True)[1]
        self.row, self.column = prediction.labels[first], rank[utility.labels[first]]
        self.heads = [f"υ{k}: worth {worth(float(value[k]))}" for k in self.columns.tolist()]
        self.sides = [f"ψ{k}: predict {text}" for k, text in enumerate(set_texts(choice, prediction))]
        self.members = [self._likeliest(np.flatnonzero(decision.labels == k)) for k in range(decision.n_states)]
        hidden = np.bincount(decision.labels) - [len(members) for members in self.members]
        self.notes = [f"{n} more" if n else "" for n in hidden.tolist()]
        self.titles = [f"ω{k}: {probability_text(float(p))}" for k, p in enumerate(decision.probability)]
        self._measure(prediction, utility)

    def _likeliest(self, members: Ints) -> Ints:
        return np.sort(members[np.argsort(-self.p[members], kind="stable")[:MAX_SHOWN]])

    def _measure(self, prediction: Partition, utility: Partition) -> None:
        """Find the sizes of boxes, rows and columns, and of the page."""
        across = [int(np.ceil(np.sqrt(1.5 * len(members)))) for members in self.members]
        self.across = across
        down = [-(-len(members) // n) for members, n in zip(self.members, across, strict=True)]
        text = np.array([np.maximum(extent(t), extent(n)) for t, n in zip(self.titles, self.notes, strict=True)])
        self.strip = 1.1 * FONT + PAD
        width = np.maximum(PITCH * np.array(across), text[:, 0]) + 2 * PAD
        height = PITCH * np.array(down) + self.strip + PAD
        height += [self.strip if note else 0.0 for note in self.notes]
        widths = np.array([extent(head)[0] + 2 * PAD for head in self.heads])
        np.maximum.at(widths, self.column, width)
        heights = np.full(len(self.sides), 4 * FONT)
        np.maximum.at(heights, self.row, height)
        self.x = np.concatenate([[0.0], np.cumsum(widths + 2 * GAP)])
        self.y = -np.concatenate([[0.0], np.cumsum(heights + 2 * GAP)])
        low = np.stack([self.x[self.column], self.y[self.row + 1]], axis=1) + GAP
        high = np.stack([self.x[self.column + 1], self.y[self.row]], axis=1) - GAP
        self.corners = np.stack([low, high], axis=1)
        self.side = max(float(extent(side)[0]) for side in self.sides) + 2 * PAD
        right, below = (BAR * float(part.probability.max()) + GAP for part in (prediction, utility))
        high = np.array([self.x[-1] + right + 3.6 * FONT, 2.0 * FONT])
        self.page = np.array([[-self.side, self.y[-1] - below - 1.4 * FONT], high])
        self.page += np.array([[-MARGIN], [MARGIN]])

    def _places(self) -> Floats:
        """Return the centres of the causal states that are shown, box by box."""
        found = []
        for members, n, (low, high) in zip(self.members, self.across, self.corners, strict=True):
            k = np.arange(len(members))
            n = min(n, len(members))
            middle, top = (low[0] + high[0]) / 2, high[1] - self.strip
            last = -(-len(members) // n)
            slack = (top - low[1] - PAD / 2 - PITCH * last) / 2
            x = middle + PITCH * (k % n - (n - 1) / 2)
            y = top - max(slack, 0.0) - PITCH * (k // n + 0.5)
            found.append(np.stack([x, y], axis=1))
        return np.concatenate(found)

    def draw(self, ax: Axes, points: float) -> None:
        """Draw lines, boxes, causal states and margins."""
        style: dict[str, Any] = {
            "color": artists.LINE,
            "lw": 0.012 * points,
            "ls": (0, (1, 3)),
            "zorder": 0.2,
            "clip_on": False,
        }
        for x in self.x.tolist():
            ax.plot([x, x], [self.y[-1], 0.0], **style)
        for y in self.y.tolist():
            ax.plot([0.0, self.x[-1]], [y, y], **style)
        colours = [artists.fill(k)[0] for k in range(len(self.titles))]
        artists.draw_boxes(ax, self.corners, colours, points)
        shown = np.concatenate(self.members)
        names, recurrent = causal_names(self.choice), self.p[shown] > 0
        states = States(tuple(names[k] for k in shown.tolist()), radii(self.p[shown], recurrent), recurrent)
        fills = [artists.fill(k) for k in self.choice.states_.labels[shown].tolist()]
        artists.draw_states(ax, states, self._places(), fills, points)
        for title, note, (low, high) in zip(self.titles, self.notes, self.corners, strict=True):
            self._text(ax, (low[0] + high[0]) / 2, high[1] - self.strip / 2, title, "center", points)
            self._text(ax, (low[0] + high[0]) / 2, low[1] + self.strip / 2, note, "center", points)
        self._margins(ax, points)

    def _margins(self, ax: Axes, points: float) -> None:
        from matplotlib.patches import Rectangle

        style: dict[str, Any] = {"fc": "#8a8a8a", "ec": "none", "gid": "bar", "clip_on": False}
        for k, (side, p) in enumerate(zip(self.sides, self.choice.iso_prediction_.probability.tolist(), strict=True)):
            y, x = (self.y[k] + self.y[k + 1]) / 2, self.x[-1] + GAP
            self._text(ax, -PAD, y, side, "right", points)
            ax.add_patch(Rectangle((x, y - THICK / 2), BAR * p, THICK, **style))
            self._text(ax, x + BAR * p + 0.06, y, probability_text(p), "left", points)
        shares = self.choice.iso_utility_.probability[self.columns].tolist()
        for k, (head, p) in enumerate(zip(self.heads, shares, strict=True)):
            x, y = (self.x[k] + self.x[k + 1]) / 2, self.y[-1] - GAP
            self._text(ax, x, 1.2 * FONT, head, "center", points)
            ax.add_patch(Rectangle((x - THICK / 2, y - BAR * p), THICK, BAR * p, **style))
            self._text(ax, x, y - BAR * p - 0.7 * FONT, probability_text(p), "center", points)

    def _text(self, ax: Axes, x: float, y: float, text: str, align: str, points: float) -> None:
        if text:
            ax.text(x, y, text, ha=align, va="center", size=FONT * points, color=artists.INK, parse_math=False)
