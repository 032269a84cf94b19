"""Pictures of epsilon-machines and transition graphs, of decisions on top of them, and of how all states are nested."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..machines import TransitionGraph
from ..support.arguments import flag, refusal, require
from ..support.arrays import Floats
from ..support.display import html_of
from .diagrams import FONT, MARGIN, Canvas, Diagram, extent, graph_diagram, machine_diagram, route, with_room
from .figures import (
    LINE,
    RECURRENT,
    STATE_COLOURS,
    TRANSIENT,
    fill,
    rarity_colours,
    render,
    require_fitted,
    require_matplotlib,
)
from .labels import arrange
from .layout import Boxes, layout, nest
from .wording import causal_probabilities, decision_texts, mean_utility, probability_text, set_texts, worth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..decisions.decisional_model import DecisionalModel
    from ..machines import EpsilonMachine

PITCH = 0.86  # between causal states
PAD, GAP = 0.14, 0.12  # inside and around a box
BAR, THICK = 1.0, 0.2  # length of a bar of probability 1, and its thickness
MAX_SHOWN = 24  # causal states in one box


def machine(
    machine: EpsilonMachine,
    ax: Axes | None = None,
    groups: Sequence[object] | Any | None = None,
    *,
    edge_labels: bool = True,
    title: str | None = None,
) -> Axes:
    """Draw an epsilon-machine.

    States are circles whose area is their probability, down to a size that still holds a name; recurrent
    states are filled, transient ones small, pale and dashed.
    An edge labelled ``1 | 0.50`` emits the symbol 1 with probability 0.50; a line below the picture says so. Labels
    stand beside their edges, or on them where there are many edges.

    Parameters
    ----------
    machine : EpsilonMachine
        The machine to draw; it stays readable up to about 20 states.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.
    groups : sequence of hashables, or object with ``state_groups_``, optional
        One group per state: states of the same group share a colour and an entry of the legend.
    edge_labels : bool, default True
        Whether to write the symbols and probabilities on the edges.
    title : str, optional
        Title of the axes.

    Returns
    -------
    matplotlib Axes
        The axes; its figure is ``axes.figure``, and `save` writes it to a file.
    """
    require_matplotlib()
    remedy = "give a machine, such as the 'machine_' of fitted CausalStates"
    require(machine, "recurrent_part", "machine", "an EpsilonMachine", remedy)
    given = getattr(groups, "state_groups_", groups)
    names = [str(group) for group in given] if isinstance(given, Iterable) and getattr(given, "ndim", None) != 0 else []
    if groups is not None and len(names) != machine.n_states:
        raise ValueError(
            f"The 'groups' parameter must have one group for each of the {machine.n_states} states of the machine. "
            f"Got {len(names)} groups instead."
        )
    return _draw(machine_diagram(machine), ax, names, flag(edge_labels, "edge_labels"), title)


# In functions whose parameter is a machine too.
_draw_machine = machine


def graph(graph: TransitionGraph, ax: Axes | None = None, self_loops: bool = True, *, title: str | None = None) -> Axes:
    """Draw a transition graph: states as in `machine`, edges with their probabilities alone.

    Parameters
    ----------
    graph : TransitionGraph
        The graph to draw, such as ``choice.graph_``; it stays readable up to about 20 states.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which is not registered with pyplot.
    self_loops : bool, default True
        Whether to draw the edges from a state to itself. Without them the other probabilities stay as they are;
        those of the changes of state alone are in ``graph.without_self_loops()``.
    title : str, optional
        Title of the axes.

    Returns
    -------
    matplotlib Axes
        The axes; its figure is ``axes.figure``, and `save` writes it to a file.
    """
    require_matplotlib()
    given: Any = graph
    if not isinstance(given, TransitionGraph):
        remedy = "give one, such as the 'graph_' of DecisionalStates"
        raise ValueError(refusal("graph", given, "a TransitionGraph", remedy))
    return _draw(graph_diagram(graph, flag(self_loops, "self_loops")), ax, title=title)


def machine_svg(machine: EpsilonMachine, groups: Sequence[object] | Any | None = None) -> str:
    """Draw an epsilon-machine as SVG text.

    Parameters
    ----------
    machine : EpsilonMachine
        The machine to draw.
    groups : sequence of hashables, or object with ``state_groups_``, optional
        As in `decisional.plot.machine`.

    Returns
    -------
    str
        A complete SVG document.
    """
    return render(_draw_machine(machine, groups=groups), "svg").decode("utf-8")


def machine_html(machine: EpsilonMachine) -> str:
    """Show an epsilon-machine in a notebook: its picture and a table of its states.

    Parameters
    ----------
    machine : EpsilonMachine
        The machine to show; beyond 30 states there is no picture, and the table is cut.

    Returns
    -------
    str
        HTML. Without matplotlib it is the table alone.
    """
    return html_of("machine", machine)


def _draw(
    diagram: Diagram, ax: Axes | None, groups: Sequence[str] = (), edge_labels: bool = True, title: str | None = None
) -> Axes:
    """Draw a diagram on axes, or on a new figure; groups have a colour and an entry of the legend each."""
    layout(diagram)
    if edge_labels:
        arrange(diagram)
    else:
        route(diagram)
    page, caption = with_room(diagram.page(), diagram.caption() if edge_labels else "")
    columns, legend = 0, 0.0
    fills = {name: fill(k) for k, name in enumerate(dict.fromkeys(groups))}
    if fills:
        widest = max(extent(name)[0] for name in fills) + 4.5 * FONT
        columns = max(1, min(len(fills), int((page[1, 0] - page[0, 0]) / widest)))
        legend = 1.5 * FONT * -(-len(fills) // columns) + 2 * FONT
        page[0, 1] -= legend
    canvas = Canvas(page, ax, title)
    canvas.edges(diagram)
    if fills:
        canvas.states(diagram, [fills[group] for group in groups])
        canvas.legend(fills, columns)
    else:
        canvas.states(diagram, [(colour, "") for colour in _colours(diagram)])
    canvas.caption(caption, legend)
    return canvas.ax


def _colours(diagram: Diagram) -> list[str]:
    """The colours of states: few have those that they have on pages, many tell only whether they are recurrent."""
    if len(diagram.recurrent) <= len(STATE_COLOURS):
        return list(STATE_COLOURS[: len(diagram.recurrent)])
    return [RECURRENT if recurrent else TRANSIENT for recurrent in diagram.recurrent]


def _inside(choice: DecisionalModel) -> list[tuple[str, str]]:
    """Colours and hatchings of states: few have those that they have everywhere, many those of their decisions."""
    groups, causal = choice.states_.labels, choice.causal_
    if len(groups) > len(STATE_COLOURS):
        return [fill(k) for k in groups.tolist()]
    if causal is None or causal.observations_.kind not in ("field", "image"):
        return [(colour, "") for colour in STATE_COLOURS[: len(groups)]]
    # As on maps.
    count = np.round(causal.states_.probability * causal.observations_.n)
    return [("#{:02x}{:02x}{:02x}".format(*rgb), "") for rgb in rarity_colours(count).tolist()]


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
    diagram = machine_diagram(choice.machine_, flag(self_loops, "self_loops"))
    texts = zip(decision_texts(choice), np.bincount(choice.states_.labels).tolist(), strict=True)
    # On two lines where there are too few states for a long one.
    titles = [",\n".join(text.rsplit(", ", 1)) if n <= 2 else text for text, n in texts]
    boxes = Boxes(diagram, choice.states_.labels, titles)
    nest(boxes)
    boxes.connect()
    corners, page = boxes.corners(diagram.xy), diagram.page()
    page[0] = np.minimum(page[0], corners[:, 0].min(0) - MARGIN)
    page[1] = np.maximum(page[1], corners[:, 1].max(0) + MARGIN)
    page, caption = with_room(page, diagram.caption())
    canvas = Canvas(page, ax, title)
    canvas.boxes(corners)
    for text, place in zip(boxes.titles, boxes.titles_at(corners).mean(axis=1), strict=True):
        canvas.label(place, text, align="left")
    canvas.edges(diagram)
    canvas.states(diagram, _inside(choice))
    canvas.caption(caption)
    return canvas.ax


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
        groups = [np.flatnonzero(decision.labels == k) for k in range(decision.n_states)]
        self.members = [np.sort(group[np.argsort(-self.p[group], kind="stable")[:MAX_SHOWN]]) for group in groups]
        hidden = np.bincount(decision.labels) - [len(members) for members in self.members]
        self.notes = [f"{n} more" if n else "" for n in hidden.tolist()]
        self.titles = [f"ω{k}: {probability_text(float(p))}" for k, p in enumerate(decision.probability)]
        self._measure()

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
        fills = _inside(self.choice)
        canvas.states(diagram, [fills[k] for k in shown.tolist()])
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
