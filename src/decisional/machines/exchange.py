"""Machines for other libraries, and from them: sofic, hmmlearn."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support import arguments

if TYPE_CHECKING:
    from .epsilon_machine import EpsilonMachine


def to_sofic(machine: EpsilonMachine) -> Any:
    """A `sofic.EpsilonMachine` of a machine without dead ends."""
    processes = arguments.package(
        "sofic.examples.epsilon_machines", "to_sofic() needs sofic, which is not installed", "bench"
    )
    matrices = {symbol: np.zeros((machine.n_states,) * 2) for symbol in machine.alphabet}
    for i, j, p, symbol in machine._edges():
        matrices[symbol][i, j] = p
    first = dict(zip(machine.names, machine.stationary.tolist(), strict=True))
    return processes.from_symbol_matrices(machine.names, machine.alphabet, matrices, initial_distribution=first)


def rows_of_sofic(other: Any) -> list[tuple[Hashable, Hashable, Hashable, float]]:
    """The rows (source, symbol, target, probability) of a machine of sofic."""
    remedy = "give a sofic.EpsilonMachine"
    arguments.require(other, "transitions", "other", "a machine of sofic", remedy)
    edges = list(other.transitions())
    for edge in edges:
        arguments.require(edge, "data", "other", "a machine of sofic", remedy)
    return [(edge.source, edge.data["emission"], edge.target, float(edge.data["prob"])) for edge in edges]


def to_hmmlearn(machine: EpsilonMachine) -> Any:
    """An `hmmlearn.hmm.CategoricalHMM` of a machine without dead ends: its hidden states are the edges."""
    models = arguments.package("hmmlearn.hmm", "to_hmmlearn() needs hmmlearn, which is not installed", "bench")
    source, symbol = np.nonzero(machine.targets >= 0)
    leads = machine.targets[source, symbol][:, None] == source
    chance = machine.emission[source, symbol]
    model = models.CategoricalHMM(n_components=source.size, n_features=len(machine.alphabet))
    model.startprob_ = machine.stationary[source] * chance
    model.transmat_ = leads * chance
    model.emissionprob_ = np.eye(len(machine.alphabet))[symbol]
    return model
