"""Pictures of decisions: boxes of decisional states on top of the epsilon-machine, and how all states are nested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..support.arrays import Floats, Ints
from .diagrams import FONT, MARGIN, Diagram, Edge, Toll, extent, machine_diagram, outlines, place_labels, route, within
from .drawing import Canvas
from .figures import LINE, fill, require_fitted
from .layout import Boxes, nest
from .wording import causal_probabilities, decision_texts, mean_utility, probability_text, set_texts, worth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..decisions.decisional_model import DecisionalModel

PITCH = 0.86  # between causal states
PAD, GAP = 0.14, 0.12  # inside and around a box
BAR, THICK = 1.0, 0.2  # length of a bar of probability 1, and its thickness
MAX_SHOWN = 24  # causal states in one box


def decisions(
    choice: DecisionalModel, ax: Axes | None = None, self_loops: bool = True, title: str | None = None
) -> Axes:
    """Draw an epsilon-machine with its causal states inside their decisional states.

    Each decisional state is a box that says what to predict in it and what this is worth on average; circles and
    edges are those of `machine`. It is the paper's figure "Decisional states transition graph on top of the
    ε-machine".

    Parameters
    ----------
    choice : DecisionalStates
        Fitted to a machine, or to causal states that have one; it stays readable up to about 20 causal states.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.
    self_loops : bool, default True
        Whether to draw the edges from a causal state to itself.
    title : str, optional
        Title of the axes.

    Returns
    -------
    matplotlib Axes
        The axes; its figure is ``axes.figure``, and `save` writes it to a file.
    """
    require_fitted(choice)
    if choice.machine_ is None:
        raise ValueError(
            "The 'choice' has no machine, as its data have no symbols; decisions are drawn on top of one: "
            "draw them with relations instead."
        )
    diagram = machine_diagram(choice.machine_, self_loops)
    boxes = Boxes(diagram, choice.states_.labels, _titles(choice))
    nest(boxes)
    _connect(boxes)
    corners, page = boxes.corners(diagram.xy), diagram.page()
    page[0] = np.minimum(page[0], corners[:, 0].min(0) - MARGIN)
    page[1] = np.maximum(page[1], corners[:, 1].max(0) + MARGIN)
    canvas = Canvas(page, ax, title)
    canvas.boxes(corners)
    for text, place in zip(boxes.titles, boxes.titles_at(corners).mean(axis=1), strict=True):
        canvas.label(place, text, align="left")
    canvas.edges(diagram)
    canvas.states(diagram, [fill(k) for k in boxes.group.tolist()])
    return canvas.ax


def _titles(choice: DecisionalModel) -> list[str]:
    """Return the titles of the boxes, on two lines where there are too few states for a long one."""
    size = np.bincount(choice.states_.labels)
    texts = zip(decision_texts(choice), size.tolist(), strict=True)
    return [",\n".join(text.rsplit(", ", 1)) if n <= 2 else text for text, n in texts]


def _connect(boxes: Boxes) -> None:
    """Draw the curves and place their labels; boxes grow around those inside, and move apart for this."""
    diagram = boxes.diagram
    for last in (False, False, False, True):
        corners = boxes.corners(diagram.xy)
        titles = boxes.titles_at(corners)
        route(diagram, _toll(boxes, corners), [*outlines(corners, 0.05), *outlines(titles, 0.05)])
        place_labels(diagram, zip(titles.mean(axis=1), boxes.size / 2, strict=True), outlines(corners, 0.1))
        if last or not boxes.make_room():
            break
        boxes.place_titles()
        boxes.separate()


def _toll(boxes: Boxes, corners: Floats) -> Toll:
    """Return the cost of a curve for the titles, and for the boxes of other states, that it passes through."""
    margin = np.array([[-0.06], [0.06]])
    titles, walls = boxes.titles_at(corners) + margin, corners + margin

    def toll(edge: Edge, curve: Floats) -> float:
        points = curve[::4]
        inside = np.count_nonzero(within(points, walls), axis=1)
        inside[boxes.group[[edge.source, edge.target]]] = 0
        return float(0.4 * np.count_nonzero(within(points, titles)) + 0.15 * inside.sum())

    return toll


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
    require_fitted(choice)
    grid = _Grid(choice)
    canvas = Canvas(grid.page, ax)
    grid.draw(canvas)
    return canvas.ax


class _Grid:
    """The places of everything; rows run downwards from y = 0, columns to the right from x = 0."""

    def __init__(self, choice: DecisionalModel) -> None:
        prediction, utility, decision = choice.iso_prediction_, choice.iso_utility_, choice.states_
        self.choice, self.p = choice, causal_probabilities(choice)
        value = mean_utility(choice, utility)
        order = np.argsort(value, kind="stable")
        first = np.unique(decision.labels, return_index=True)[1]
        self.row, self.column = prediction.labels[first], np.argsort(order)[utility.labels[first]]
        self.heads = [(f"υ{k}: worth {worth(float(value[k]))}", float(utility.probability[k])) for k in order.tolist()]
        sides = enumerate(zip(set_texts(choice, prediction), prediction.probability.tolist(), strict=True))
        self.sides = [(f"ψ{k}: predict {text}", p) for k, (text, p) in sides]
        self.members = [self._likeliest(np.flatnonzero(decision.labels == k)) for k in range(decision.n_states)]
        hidden = np.bincount(decision.labels) - [len(members) for members in self.members]
        self.notes = [f"{n} more" if n else "" for n in hidden.tolist()]
        self.titles = [f"ω{k}: {probability_text(float(p))}" for k, p in enumerate(decision.probability)]
        self._measure()

    def _likeliest(self, members: Ints) -> Ints:
        return np.sort(members[np.argsort(-self.p[members], kind="stable")[:MAX_SHOWN]])

    def _measure(self) -> None:
        """Find the sizes of boxes, rows and columns, and of the page."""
        n = np.array([len(members) for members in self.members])
        self.across = np.ceil(np.sqrt(1.5 * n)).astype(int)
        self.strip = 1.1 * FONT + PAD
        text = [max(extent(title)[0], extent(note)[0]) for title, note in zip(self.titles, self.notes, strict=True)]
        height = PITCH * -(-n // self.across) + self.strip + PAD + [self.strip if note else 0.0 for note in self.notes]
        widths = np.array([extent(head)[0] + 2 * PAD for head, _ in self.heads])
        np.maximum.at(widths, self.column, np.maximum(PITCH * self.across, text) + 2 * PAD)
        heights = np.full(len(self.sides), 4 * FONT)
        np.maximum.at(heights, self.row, height)
        self.x = np.concatenate([[0.0], np.cumsum(widths + 2 * GAP)])
        self.y = -np.concatenate([[0.0], np.cumsum(heights + 2 * GAP)])
        low = np.stack([self.x[self.column], self.y[self.row + 1]], axis=1) + GAP
        high = np.stack([self.x[self.column + 1], self.y[self.row]], axis=1) - GAP
        self.corners = np.stack([low, high], axis=1)
        left = max(extent(side)[0] for side, _ in self.sides) + 2 * PAD
        right, below = (BAR * max(p for _, p in part) + GAP for part in (self.sides, self.heads))
        page = [[-left, self.y[-1] - below - 1.4 * FONT], [self.x[-1] + right + 3.6 * FONT, 2.0 * FONT]]
        self.page = np.array(page) + np.array([[-MARGIN], [MARGIN]])

    def _places(self) -> Floats:
        """Return the centres of the causal states that are shown, box by box."""
        found = []
        for members, n, (low, high) in zip(self.members, self.across.tolist(), self.corners, strict=True):
            k, n = np.arange(len(members)), min(n, len(members))
            top = high[1] - self.strip
            slack = (top - low[1] - PAD / 2 - PITCH * -(-len(members) // n)) / 2
            x = (low[0] + high[0]) / 2 + PITCH * (k % n - (n - 1) / 2)
            y = top - max(slack, 0.0) - PITCH * (k // n + 0.5)
            found.append(np.stack([x, y], axis=1))
        return np.concatenate(found)

    def draw(self, canvas: Canvas) -> None:
        """Draw lines, boxes, causal states and margins."""
        style: dict[str, Any] = {"color": LINE, "lw": 0.012 * canvas.points, "ls": (0, (1, 3)), "zorder": 0.2}
        for x in self.x.tolist():
            canvas.ax.plot([x, x], [self.y[-1], 0.0], **style, clip_on=False)
        for y in self.y.tolist():
            canvas.ax.plot([0.0, self.x[-1]], [y, y], **style, clip_on=False)
        canvas.boxes(self.corners)
        shown, machine = np.concatenate(self.members), self.choice.machine_
        names = range(len(self.p)) if machine is None else machine.names
        diagram = Diagram((names[k] for k in shown.tolist()), self.p[shown], self.p[shown] > 0)
        diagram.xy = self._places()
        canvas.states(diagram, [fill(k) for k in self.choice.states_.labels[shown].tolist()])
        for title, note, (low, high) in zip(self.titles, self.notes, self.corners, strict=True):
            middle = (low[0] + high[0]) / 2
            canvas.write(middle, high[1] - self.strip / 2, title)
            if note:
                canvas.write(middle, low[1] + self.strip / 2, note)
        self._margins(canvas)

    def _margins(self, canvas: Canvas) -> None:
        from matplotlib.patches import Rectangle

        style: dict[str, Any] = {"fc": "#8a8a8a", "ec": "none", "gid": "bar", "clip_on": False}
        for k, (side, p) in enumerate(self.sides):
            x, y = self.x[-1] + GAP, (self.y[k] + self.y[k + 1]) / 2
            canvas.write(-PAD, y, side, ha="right")
            canvas.ax.add_patch(Rectangle((x, y - THICK / 2), BAR * p, THICK, **style))
            canvas.write(x + BAR * p + 0.06, y, probability_text(p), ha="left")
        for k, (head, p) in enumerate(self.heads):
            x, y = (self.x[k] + self.x[k + 1]) / 2, self.y[-1] - GAP
            canvas.write(x, 1.2 * FONT, head)
            canvas.ax.add_patch(Rectangle((x - THICK / 2, y - BAR * p), THICK, BAR * p, **style))
            canvas.write(x, y - BAR * p - 0.7 * FONT, probability_text(p))
