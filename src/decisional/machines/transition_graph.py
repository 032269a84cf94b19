"""Graphs of states: what they have in common with symbols or without, and those without."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.arguments import as_table, integer, package
from ..support.arrays import read_only
from ..support.plurals import plural
from . import chains, checks

Array = NDArray[Any]


class StateGraph:
    """What graphs of states have in common, with symbols or without.

    Attributes are set once, through the instance's dictionary.
    """

    names: tuple[Hashable, ...]
    _networkx: ClassVar[str]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; '{name}' is read-only: make a new one.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Copies and pickles of arrays are writeable.
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        vars(self).update(state)

    @property
    @abstractmethod
    def _chain(self) -> chains.Chain:
        """The probabilities from state to state."""

    @property
    @abstractmethod
    def _observed(self) -> Array | None:
        """Observed probabilities of the states."""

    @abstractmethod
    def _edges(self) -> Iterable[tuple[Any, ...]]:
        """Source number, target number, probability, and the symbol where there is one."""

    @property
    def n_states(self) -> int:
        """Number of states, transient ones included."""
        return len(self.names)

    @cached_property
    def recurrent(self) -> Array:
        """Mask of the states in closed classes, shape (n_states,)."""
        mask = np.zeros(self.n_states, dtype=bool)
        for members in chains.closed_classes(self._chain):
            mask[members] = True
        return read_only(mask)

    @cached_property
    def stationary(self) -> Array:
        """Stationary distribution, shape (n_states,): zero on transient states.

        Several closed classes are weighted by the probability of ending in each, from the observed probabilities of
        the states or uniformly.
        """
        return read_only(chains.stationary(self._chain, self._observed))

    @property
    def _shown(self) -> Array:
        """The probabilities that pictures show."""
        return self.stationary if self._observed is None else self._observed

    def _dot_ends(self) -> list[str]:
        """Lines of what a description shows beside states and their edges."""
        return []

    def _dot_target(self, target: int, symbol: Sequence[Any]) -> str:
        """Where an edge is drawn to."""
        return str(target)

    def to_dot(self) -> str:
        """Return a Graphviz description: edges "symbol | probability", transient states dashed.

        Of a machine of whole strings an arrow shows where they begin, and the ends lead to a double circle.
        """
        lines = ["digraph machine {", "  rankdir=LR;", "  node [shape=circle, fixedsize=true, fontsize=10];"]
        for i, (name, p, lasts) in enumerate(zip(self.names, self._shown, self.recurrent, strict=True)):
            style = "" if lasts else ", style=dashed"
            # The break is Graphviz's own, added after quoting.
            label = _quoted(str(name))[:-1] + f'\\n{p:.3g}"'
            lines.append(f"  {i} [label={label}, width={0.6 + 0.8 * float(np.sqrt(p)):.3f}{style}];")
        for i, j, p, *symbol in self._edges():
            label = _quoted(" | ".join([*map(str, symbol), f"{p:.3g}"]))
            lines.append(f"  {i} -> {self._dot_target(j, symbol)} [label={label}];")
        return "\n".join([*lines, *self._dot_ends(), "}"]) + "\n"

    def to_networkx(self) -> Any:
        """Return a networkx graph of the state names (extra ``decisional[graph]``).

        Returns
        -------
        networkx.DiGraph
            Or where edges have symbols a networkx.MultiDiGraph, keyed by symbol.
        """
        networkx = package("networkx", "to_networkx() needs networkx, which is not installed", "graph")
        graph = getattr(networkx, self._networkx)()
        for name, p, lasts in zip(self.names, self._shown.tolist(), self.recurrent.tolist(), strict=True):
            graph.add_node(name, probability=p, recurrent=lasts)
        for i, j, p, *symbol in self._edges():
            keyed = {"key": symbol[0], "symbol": symbol[0]} if symbol else {}
            graph.add_edge(self.names[i], self.names[j], probability=p, **keyed)
        return graph


def _quoted(text: str) -> str:
    """A Graphviz string: quotes and backslashes escaped, line ends kept as breaks."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class TransitionGraph(StateGraph):
    """States and the probabilities of going from one to another, without symbols.

    Parameters
    ----------
    matrix : array or sparse array of shape (n_states, n_states)
        Transition probabilities, kept as CSR. Rows sum to 1; a row of zeros is a dead end, a transient state
        that was seen only at the end of the data.
    weight : array of shape (n_states,), optional
        Observed probability of each state.
    names : sequence of n_states hashables, optional
        0, 1, ... by default.
    """

    matrix: Any
    weight: Array | None
    _networkx = "DiGraph"

    def __init__(self, matrix: Any, weight: ArrayLike | None = None, names: Iterable[Hashable] | None = None) -> None:
        from scipy import sparse

        rule = "it must be a square table of probabilities: give one row and one column per state."
        table: Any = matrix if sparse.issparse(matrix) else np.atleast_2d(as_table(matrix, "matrix", rule, np.float64))
        if table.ndim != 2:
            raise ValueError(f"The 'matrix' has shape {table.shape}; {rule}")
        csr: Any = sparse.csr_array(table, dtype=np.float64, copy=True)
        csr.eliminate_zeros()
        with np.errstate(over="ignore", invalid="ignore"):
            total = csr.sum(axis=1) if csr.shape[0] else np.zeros(0)
        names = range(csr.shape[0]) if names is None else names
        names = checks.checked_names(names, "names")
        if csr.shape[0] != csr.shape[1] or len(names) != csr.shape[0]:
            raise ValueError(
                f"The 'matrix' has shape {csr.shape} with {len(names)} names; it must be n_states × n_states "
                "with one name per state: give one row and one column per state."
            )
        wrong = np.flatnonzero((np.abs(total - 1.0) > 1e-9) & (total != 0.0))
        if wrong.size or not (csr.data >= 0.0).all():
            i = int(wrong[0]) if wrong.size else int(np.searchsorted(csr.indptr, np.argmin(csr.data), "right") - 1)
            raise ValueError(
                f"Row {names[i]!r} of 'matrix' sums to {total[i]:.12g}; its probabilities must be "
                "non-negative and sum to 1, or all be 0 for a dead end: normalise it."
            )
        for part in (csr.data, csr.indices, csr.indptr):
            part.flags.writeable = False
        vars(self).update(matrix=csr, names=names, weight=checks.checked_weights(weight, csr.shape[0], "weight"))

    @classmethod
    def from_counts(
        cls,
        source: ArrayLike,
        target: ArrayLike,
        count: ArrayLike,
        n_states: int,
        weight: ArrayLike | None = None,
        names: Iterable[Hashable] | None = None,
    ) -> TransitionGraph:
        """Estimate the probabilities from counts of transitions; repeated (source, target) are added.

        States without outgoing counts become dead ends. `weight` is by default the share of the counts that
        leave each state.
        """
        from scipy import sparse

        n_states = integer(n_states, "n_states", 0, 1 << 31, remedy="count the states")
        rule = f"it must be one state number below {n_states} for each transition: check it."
        ends = (as_table(source, "source", rule, np.intp), as_table(target, "target", rule, np.intp))
        size = as_table(count, "count", "it must be one number for each transition: check it.", np.float64)
        if not ends[0].shape == ends[1].shape == size.shape or size.ndim != 1:
            raise ValueError(
                f"The 'source', 'target' and 'count' have shapes {ends[0].shape}, {ends[1].shape} and {size.shape}; "
                "there must be one of each for each transition: give three sequences of one length."
            )
        for name, end in zip(("source", "target"), ends, strict=True):
            if end.size and not 0 <= end.min() <= end.max() < n_states:
                raise ValueError(f"The {name!r} goes from {end.min()} to {end.max()}; {rule}")
        if not (np.isfinite(size) & (size >= 0.0)).all():
            raise ValueError(
                f"The 'count' has a smallest value of {size.min():.6g}; counts must be finite and not negative: "
                "correct them."
            )
        counts = sparse.csr_array((size, ends), shape=(n_states, n_states))
        total: Array = np.asarray(counts.sum(axis=1))
        scale = np.divide(1.0, total, out=np.zeros(n_states), where=total > 0.0)
        if weight is None and total.sum() > 0.0:
            weight = total / total.sum()
        return cls(counts.multiply(scale[:, None]), weight, names)

    @property
    def _chain(self) -> chains.Chain:
        return chains.Chain(self.matrix.indptr, self.matrix.indices, self.matrix.data)

    @property
    def _observed(self) -> Array | None:
        return self.weight

    def without_self_loops(self) -> TransitionGraph:
        """Return the graph of the changes of state: no self-loop, rows normalised again.

        A state that only led to itself becomes a dead end.
        """
        edges = self.matrix.tocoo()
        keep = edges.row != edges.col
        ends = (edges.row[keep], edges.col[keep])
        graph = self.from_counts(*ends, edges.data[keep], self.n_states, names=self.names)
        vars(graph)["weight"] = self.weight
        return graph

    def _edges(self) -> Iterable[tuple[Any, ...]]:
        edges = self.matrix.tocoo()
        return zip(edges.row.tolist(), edges.col.tolist(), edges.data.tolist(), strict=True)

    def __repr__(self) -> str:
        return f"TransitionGraph({plural(self.n_states, 'state')}, {plural(self.matrix.nnz, 'edge')})"
