"""Machines as files and drawings."""

import json
import math
import sys
import types

import numpy as np
import pytest
from hypothesis import given, settings

from decisional import processes
from decisional.machines import EpsilonMachine
from strategies import machines

QUICK = settings(max_examples=60, deadline=None)


@QUICK
@given(machines(dead_ends=True))
def test_save_and_load(tmp_path_factory, machine):
    path = tmp_path_factory.mktemp("machine") / "m.json"
    machine.save(path)
    loaded = EpsilonMachine.load(path)
    assert loaded.alphabet == machine.alphabet
    assert loaded.names == machine.names
    np.testing.assert_array_equal(loaded.emission, machine.emission)
    np.testing.assert_array_equal(loaded.targets, machine.targets)
    assert [p.name for p in path.parent.iterdir()] == ["m.json"]


@pytest.mark.small
def test_files_keep_types_and_weights(tmp_path):
    path = tmp_path / "m.json"
    machine = EpsilonMachine.from_arrays([[0, 0, 0, 0]], [[0.1, 0.2, 0.3, 0.4]], [1, "1", 2.5, "ø"], ["A"], [1.0])
    machine.save(path)
    loaded = EpsilonMachine.load(str(path))
    assert [type(symbol) for symbol in loaded.alphabet] == [int, str, float, str]
    assert loaded.weights.tolist() == [1.0]
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["format"] == "decisional.EpsilonMachine"
    assert content["version"] == 1


@pytest.mark.small
@pytest.mark.parametrize("symbol", [(0, 1), None, b"a", math.inf, math.nan, frozenset()])
def test_names_that_files_cannot_hold(tmp_path, symbol):
    with pytest.raises(TypeError, match=r"'alphabet' contain .*; a file can only hold"):
        EpsilonMachine([("A", symbol, "A", 1)]).save(tmp_path / "m.json")
    with pytest.raises(TypeError, match="'names' contain"):
        EpsilonMachine([(symbol, 0, symbol, 1)]).save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.small
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "has format 'other'"),
        ({"version": 2}, "version 2, newer than 1, .*upgrade"),
        ({"version": "1"}, "must be a positive integer"),
        ({"emission": [[0.5, 0.4], [0, 1]]}, "is corrupt, save the machine again: .* sum to 0.9"),
        ({"emission": [["x", 1], [0, 1]]}, "is corrupt"),
        ({"emission": 3}, "is corrupt"),
        ({"targets": [[0, 5], [-1, 0]]}, "is corrupt"),
        ({"targets": [[0, 1], [0]]}, "is corrupt"),
        ({"names": ["A"]}, "is corrupt"),
        ({"names": [["A"], "B"]}, "is corrupt"),
        ({"alphabet": None}, "is corrupt"),
        ({"weights": [1]}, "is corrupt"),
        ({"names": ...}, "has no 'names'; it is corrupt"),
    ],
)
def test_wrong_files_are_refused(tmp_path, change, message):
    path = tmp_path / "m.json"
    processes.even().save(path)
    content = json.loads(path.read_text()) | change
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not ...}))
    with pytest.raises(ValueError, match=message):
        EpsilonMachine.load(path)


@pytest.mark.small
def test_files_that_are_not_json(tmp_path):
    for content in (b"", b"{", b"\xff\xfe", b"[1, 2]"):
        (tmp_path / "m.json").write_bytes(content)
        with pytest.raises(ValueError, match=r"is not JSON|has format None"):
            EpsilonMachine.load(tmp_path / "m.json")


@pytest.mark.small
def test_dot():
    text = EpsilonMachine([('a"\\', 0, "b\nc", 1), ("b\nc", 0, "b\nc", 0.25), ("b\nc", 1, "b\nc", 0.75)]).to_dot()
    assert text.startswith("digraph machine {\n")
    assert text.endswith("}\n")
    assert '0 [label="a\\"\\\\\\n0", width=0.600, style=dashed];' in text
    assert '1 [label="b\\nc\\n1"' in text
    assert '1 -> 1 [label="1 | 0.75"];' in text
    assert text.count("->") == 3
    assert text.count("dashed") == 1
    plain = processes.even().graph.to_dot()
    assert '0 -> 1 [label="0.5"];' in plain


def test_networkx(monkeypatch):
    networkx = pytest.importorskip("networkx")
    graph = processes.even().to_networkx()
    assert isinstance(graph, networkx.MultiDiGraph)
    assert graph.nodes["A"]["probability"] == pytest.approx(2 / 3)
    assert graph.edges["A", "B", 1]["probability"] == 0.5
    plain = processes.even().graph.to_networkx()
    assert sorted(plain.edges) == [("A", "A"), ("A", "B"), ("B", "A")]
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"pip install 'decisional\[graph\]'"):
        processes.even().to_networkx()


@pytest.mark.small
def test_text_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "decisional.report", None)
    text = EpsilonMachine([("<", 0, "<", 1)])._repr_html_()
    assert text.startswith("<pre>EpsilonMachine(1 state, 1 symbol")
    assert "&lt;" in text


def test_sofic_and_hmmlearn(monkeypatch):
    """What is handed over to the two packages, by stand-ins; benchmarks/measures.py has the packages themselves."""

    class Edge:
        def __init__(self, source, target, data):
            self.source, self.target, self.data = source, target, data

    class Machine:
        def __init__(self, states, symbols, matrices, initial_distribution):
            self.first, self.symbols = initial_distribution, symbols
            self.edges = [
                Edge(states[i], states[j], {"emission": symbol, "prob": matrix[i, j]})
                for symbol, matrix in matrices.items()
                for i, j in np.argwhere(matrix > 0)
            ]

        def transitions(self):
            return iter(self.edges)

    class CategoricalHMM:
        def __init__(self, n_components, n_features):
            self.size = n_components, n_features

    examples = types.SimpleNamespace(from_symbol_matrices=Machine)
    monkeypatch.setitem(sys.modules, "sofic", types.ModuleType("sofic"))
    monkeypatch.setitem(sys.modules, "sofic.examples", types.ModuleType("sofic.examples"))
    monkeypatch.setitem(sys.modules, "sofic.examples.epsilon_machines", examples)
    monkeypatch.setitem(sys.modules, "hmmlearn", types.ModuleType("hmmlearn"))
    monkeypatch.setitem(sys.modules, "hmmlearn.hmm", types.SimpleNamespace(CategoricalHMM=CategoricalHMM))
    machine = processes.rip(0.3, 0.8)
    given = machine.to_sofic()
    assert given.first == dict(zip(machine.names, machine.stationary, strict=True))
    assert EpsilonMachine.from_sofic(given).is_isomorphic(machine, atol=1e-15)
    model = machine.to_hmmlearn()
    assert model.size == model.emissionprob_.shape == (5, 2)
    np.testing.assert_allclose(model.transmat_.sum(axis=1), 1.0)
    for word in ("0", "01", "0110", "00", "10111"):
        forward = model.startprob_
        for place, symbol in enumerate(word):
            forward = (forward if place == 0 else forward @ model.transmat_) * model.emissionprob_[:, int(symbol)]
        assert forward.sum() == pytest.approx(2.0 ** machine.log_likelihood(word), abs=1e-12)
    for other in ("even", types.SimpleNamespace(transitions=lambda: [1])):
        with pytest.raises(TypeError, match="'other' must be a machine of sofic"):
            EpsilonMachine.from_sofic(other)
    monkeypatch.setitem(sys.modules, "sofic.examples.epsilon_machines", None)
    with pytest.raises(ImportError, match=r"pip install 'decisional\[bench\]'"):
        machine.to_sofic()


@pytest.mark.small
def test_earlier_files_of_estimated_machines(tmp_path):
    """They have the number of symbols, and counts only where machines were smoothed."""
    path = tmp_path / "m.json"
    machine = processes.even()
    machine.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "n_observed": 300.0}), encoding="utf-8")
    loaded = EpsilonMachine.load(path)
    assert loaded.n_observed == pytest.approx(300.0)
    np.testing.assert_allclose(loaded.counts, [[100.0, 100.0], [0.0, 100.0]])
    assert not loaded.smoothed
    counts = [[90.0, 110.0], [0.0, 100.0]]
    path.write_text(json.dumps({**content, "n_observed": 300.0, "counts": counts}), encoding="utf-8")
    loaded = EpsilonMachine.load(path)
    assert loaded.smoothed
    assert loaded.counts.tolist() == counts
