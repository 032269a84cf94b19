"""Pictures of epsilon-machines and of transition graphs, as matplotlib axes, as SVG, and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..machines import TransitionGraph
from ..support.arguments import refusal, require
from ..support.display import html_of
from .diagrams import FONT, Diagram, extent, graph_diagram, machine_diagram, place_labels, route
from .drawing import Canvas
from .figures import RECURRENT, TRANSIENT, fill, render, require_matplotlib
from .layout import layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..machines import EpsilonMachine


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
    An edge labelled ``1 | 0.50`` emits the symbol 1 with probability 0.50.

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
    return _draw(machine_diagram(machine), ax, _group_names(groups, machine.n_states), edge_labels, title)


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
    return _draw(graph_diagram(graph, self_loops), ax, title=title)


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


def _group_names(groups: Any, n_states: int) -> list[str] | None:
    if groups is None:
        return None
    given = getattr(groups, "state_groups_", groups)
    names = [str(group) for group in given] if isinstance(given, Iterable) else []
    if len(names) != n_states:
        raise ValueError(
            f"The 'groups' parameter must have one group for each of the {n_states} states of the machine. "
            f"Got {len(names)} groups instead."
        )
    return names


def _draw(
    diagram: Diagram,
    ax: Axes | None,
    groups: Sequence[str] | None = None,
    edge_labels: bool = True,
    title: str | None = None,
) -> Axes:
    """Draw a diagram on axes, or on a new figure; groups have a colour and an entry of the legend each."""
    layout(diagram)
    route(diagram)
    if edge_labels:
        place_labels(diagram)
    page = diagram.page()
    fills = {name: fill(k) for k, name in enumerate(dict.fromkeys(groups or []))}
    widest = max((extent(name)[0] for name in fills), default=0.0) + 4.5 * FONT
    columns = max(1, min(len(fills), int((page[1, 0] - page[0, 0]) / widest)))
    if groups is not None:
        page[0, 1] -= 1.5 * FONT * -(-len(fills) // columns) + 2 * FONT
    canvas = Canvas(page, ax, title)
    canvas.edges(diagram)
    if groups is None:
        canvas.states(diagram, [(RECURRENT if recurrent else TRANSIENT, "") for recurrent in diagram.recurrent])
    else:
        canvas.states(diagram, [fills[group] for group in groups])
        canvas.legend(fills, columns)
    return canvas.ax
