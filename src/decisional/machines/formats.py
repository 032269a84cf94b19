"""Machines and graphs as text: Graphviz, networkx, JSON files and plain tables."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.arguments import package

Array = NDArray[Any]


def _quoted(text: str) -> str:
    """Return a Graphviz string: quotes and backslashes escaped, line ends kept as breaks."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def dot(names: Sequence[Hashable], probability: Array, recurrent: Array, edges: Iterable[tuple[int, int, str]]) -> str:
    """Return a Graphviz description: circles sized by probability, transient states dashed.

    Parameters
    ----------
    names : sequence of n_states names
    probability, recurrent : arrays of shape (n_states,)
    edges : rows (source number, target number, label)
    """
    lines = ["digraph machine {", "  rankdir=LR;", "  node [shape=circle, fixedsize=true, fontsize=10];"]
    for i, name in enumerate(names):
        width = 0.6 + 0.8 * float(np.sqrt(probability[i]))
        style = "" if recurrent[i] else ", style=dashed"
        # The break is Graphviz's own, added after quoting.
        label = _quoted(str(name))[:-1] + f'\\n{probability[i]:.3g}"'
        lines.append(f"  {i} [label={label}, width={width:.3f}{style}];")
    lines += [f"  {i} -> {j} [label={_quoted(text)}];" for i, j, text in edges]
    return "\n".join([*lines, "}"]) + "\n"


def networkx_graph(
    names: Sequence[Hashable],
    probability: Array,
    recurrent: Array,
    edges: Iterable[tuple[int, int, float, Hashable]],
    labelled: bool,
) -> Any:
    """Return a networkx graph whose nodes are state names: a MultiDiGraph if labelled, else a DiGraph."""
    networkx = package("networkx", "to_networkx() needs networkx, which is not installed", "graph")
    graph = networkx.MultiDiGraph() if labelled else networkx.DiGraph()
    for name, p, inside in zip(names, probability.tolist(), recurrent.tolist(), strict=True):
        graph.add_node(name, probability=p, recurrent=inside)
    for i, j, p, symbol in edges:
        if labelled:
            graph.add_edge(names[i], names[j], key=symbol, symbol=symbol, probability=p)
        else:
            graph.add_edge(names[i], names[j], probability=p)
    return graph


def html_table(title: str, rows: Iterable[Sequence[object]]) -> str:
    """Return a heading and rows of cells as preformatted text."""
    lines = [title, *("  ".join(f"{cell!s:>8}" for cell in row) for row in rows)]
    return "<pre>" + escape("\n".join(lines)) + "</pre>"
