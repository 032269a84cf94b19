"""Machines and graphs as text: Graphviz, networkx, JSON files and plain tables."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["dot", "html_table", "networkx_graph", "read_json", "write_json"]

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
    try:
        import networkx
    except ImportError:
        raise ImportError(
            "to_networkx() needs networkx, which is not installed: pip install 'decisional[graph]'."
        ) from None
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


def _path(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"The 'path' is {path!r}; it must be a string or a Path: name the file.")
    return Path(path)


def write_json(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a JSON file whole or not at all: a temporary file in the same folder, then a rename."""
    path = _path(path)
    if path.is_dir():
        raise IsADirectoryError(f"The 'path' is {str(path)!r}, a folder: give the path of a file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The 'path' is {str(path)!r}, in a folder that does not exist: create it first.")
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text + "\n", encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_json(path: str | os.PathLike[str], format: str, version: int, keys: Iterable[str]) -> dict[str, Any]:
    """Read a JSON file, refusing with one sentence what is not JSON, of another format, newer or cut.

    Raises
    ------
    ValueError
        When the file is not what `format` and `version` announce, or lacks one of `keys`.
    """
    try:
        content = json.loads(_path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"The 'path' is {str(path)!r}; there is no such file: check the path.") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"The 'path' is {str(path)!r}, a folder: give the path of a file.") from None
    except ValueError:
        raise ValueError(f"The file '{path}' is not JSON; it must be written by save(): check the path.") from None
    found = content.get("format") if isinstance(content, dict) else None
    if found != format:
        raise ValueError(
            f"The file '{path}' has format {found!r}; it must be {format!r}: check the path, or load it with "
            "the type that wrote it."
        )
    written = content.get("version")
    if type(written) is not int or written < 1:
        raise ValueError(f"The file '{path}' has version {written!r}; it must be a positive integer: save it again.")
    if written > version:
        raise ValueError(
            f"The file '{path}' has version {written}, newer than {version}, the last that this release "
            "reads: upgrade decisional."
        )
    missing = [key for key in keys if key not in content]
    if missing:
        raise ValueError(f"The file '{path}' has no {missing[0]!r}; it is corrupt: save it again.")
    return dict(content)
