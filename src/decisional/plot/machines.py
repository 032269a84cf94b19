"""Pictures of epsilon-machines and of transition graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..support.arguments import require
from .artists import require_matplotlib
from .diagrams import graph_edges, read_edges
from .drawing import draw
from .states import graph_states, machine_states

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..machines import EpsilonMachine, TransitionGraph

__all__ = ["graph", "machine"]


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
    names = _group_names(groups, machine.n_states)
    return draw(machine_states(machine), read_edges(machine), ax, names, edge_labels, title)


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
    if not hasattr(graph, "without_self_loops"):
        raise ValueError(
            "The 'graph' parameter must be a TransitionGraph, such as the 'graph_' of DecisionalStates. "
            f"Got {type(graph).__name__} instead."
        )
    edges = [edge for edge in graph_edges(graph) if self_loops or not edge.is_loop]
    return draw(graph_states(graph), edges, ax, title=title)


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
