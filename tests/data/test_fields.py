"""Fields from cells to decisions: rule 110 as the reference program draws it, and automata with known answers."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import decisional as ds

HERE = Path(__file__).parents[1]
EXACT = json.loads((HERE / "answers" / "exact.json").read_text())["cellular_automata"]["rows"]
CASES = [(row, rule) for row in EXACT for rule in row["rules"]]


def script():
    path = HERE.parent / "paper" / "rule110.py"
    if not path.exists():
        pytest.skip("the scripts of the paper are not in this distribution")
    spec = importlib.util.spec_from_file_location("rule110", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rule_110_is_the_reference_to_the_pixel():
    image = pytest.importorskip("PIL.Image")
    paper = script()
    field, choice = paper.rule110()
    causal = choice.causal_
    assert causal.n_states_ == choice.iso_utility_.n_states == choice.n_states_ == 112
    assert choice.iso_prediction_.n_states == 63
    for local, low, high in (
        (causal.local_complexity_, 4.18639, 11.5873),
        (choice.local_prediction_complexity_, 3.86845, 10.4297),
    ):
        assert float(f"{local.min():.6g}") == low
        assert float(f"{local.max():.6g}") == high
    for name, picture in paper.panels(field, choice).items():
        golden = np.array(image.open(HERE / "answers" / "golden" / f"rule110_{name}.png"))
        assert np.array_equal(picture, golden), name


def test_the_script_of_the_paper(tmp_path):
    pytest.importorskip("matplotlib")
    script().main(["--quick", "--out", str(tmp_path)])
    names = {"rule110.png", "rules.png", "spirals.png", "spirals.gif"}
    panels = ("raw", "local_statistical_complexity", "expected_utility", "local_prediction_complexity")
    assert {path.name for path in tmp_path.iterdir()} == names | {f"rule110_{panel}.png" for panel in panels}


def every_row(rule, past, future):
    """A ring with each row that a pair of cones can begin with exactly once: a de Bruijn sequence."""
    width = 2 * (past - 1 + 2 * (future - 1)) + 1
    seen, row = {0}, [0] * width
    # Prefer-one: append 1 unless that word occurred.
    word, mask = 0, (1 << width) - 1
    while True:
        one, zero = (word << 1 | 1) & mask, word << 1 & mask
        following = one if one not in seen else zero
        if following in seen:
            break
        seen.add(following)
        row.append(following & 1)
        word = following
    assert len(seen) == 1 << width
    return ds.processes.elementary_ca(rule, 1 << width, past + future - 1, row[: 1 << width])


@pytest.mark.parametrize(("row", "rule"), CASES, ids=[f"{rule}-{row['past']}-{row['future']}" for row, rule in CASES])
def test_automata_with_known_answers(row, rule):
    obs = ds.observe.light_cones(every_row(rule, row["past"], row["future"]), row["past"], row["future"])
    causal = ds.CausalStates(match="exact").fit(obs)
    choice = ds.DecisionalStates(ds.utility.matching_cells()).fit(causal)
    found = (causal.n_states_, choice.iso_utility_.n_states, choice.iso_prediction_.n_states, choice.n_states_)
    assert found == (row["causal"], row["iso_utility"], row["iso_prediction"], row["decisional"])
    values = {
        "C": causal.complexity_,
        "V": choice.utility_complexity_,
        "P": choice.prediction_complexity_,
        "D": choice.complexity_,
        "EU": choice.expected_utility_,
    }
    assert values == pytest.approx({name: row[name] for name in values}, abs=1e-6)


@pytest.mark.small
def test_a_moving_pattern_says_the_same_at_all_times():
    row = np.random.default_rng(0).integers(0, 3, 40)
    moved = np.array([np.roll(row, 3 * t) for t in range(12)])
    still = np.tile(row, (12, 1))
    other = np.random.default_rng(1).integers(0, 3, (12, 40))
    for field, overlap in ((moved, 12.0), (still, 12.0), (other, 3.0), (np.vstack([moved, other]), 3.0)):
        assert ds.observe.light_cones(field, 2, 2).overlap == overlap
    plane = np.random.default_rng(2).integers(0, 2, (5, 6))
    moved = np.array([np.roll(plane, t, axis=1) for t in range(20)])
    assert ds.observe.light_cones(moved, 1, 2).overlap == 20.0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("rule", "past", "future", "states"), [(90, 4, 3, 1), (170, 4, 3, 2), (30, 3, 2, 4)])
def test_states_of_random_fields(rule, past, future, states, seed):
    field = ds.processes.elementary_ca(rule, 2000, 2000, seed)
    assert ds.CausalStates().fit(ds.observe.light_cones(field, past, future)).n_states_ == states


def test_predict_on_a_new_field():
    fields = [ds.processes.elementary_ca(110, 200, 100, seed) for seed in (1, 2)]
    train, new = (ds.observe.light_cones(field, 3, 2) for field in fields)
    causal = ds.CausalStates(match="exact").fit(train)
    assert np.array_equal(causal.predict(train), causal.labels_)
    words = map(tuple, train.words(np.arange(train.table().n_x)))
    seen = dict(zip(words, causal.states_.labels, strict=True))
    words = new.words(np.arange(new.table().n_x))[new.x]
    assert causal.predict(new).tolist() == [seen.get(tuple(word), -1) for word in words]


@pytest.mark.parametrize("transitions", ["time", "space"])
def test_transitions(transitions):
    field = ds.processes.elementary_ca(18, 200, 100, 1)
    obs = ds.observe.light_cones(field, 2, 2, transitions=transitions)
    causal = ds.CausalStates(match="exact").fit(obs)
    choice = ds.DecisionalStates(ds.utility.matching_cells()).fit(causal)
    assert causal.machine_.n_states == causal.n_states_ == causal.graph_.n_states
    labels, after = causal.labels_, obs.successor
    moved = after >= 0
    counts = np.zeros((causal.n_states_, causal.n_states_))
    np.add.at(counts, (labels[moved], labels[after[moved]]), 1)
    expected = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    assert np.allclose(causal.graph_.matrix.toarray(), expected)
    assert choice.graph_.n_states == choice.n_states_
    changes = choice.labels_[moved] != choice.labels_[after[moved]]
    assert len(choice.events()) == changes.sum()
