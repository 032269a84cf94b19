"""Pictures of decisions: states inside their boxes, boxes apart, everything there once, and all reproducible."""

import builtins
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import decisional as ds
from decisional import EpsilonMachine
from decisional.decisions.predictions import CellSet, Interval
from decisional.plot.diagrams import machine_diagram
from decisional.plot.figures import fill
from decisional.plot.wording import decision_texts, prediction_text, probability_text

UNSYNCHRONISED = [("A", 0, "A", 0.5), ("A", 1, "B", 0.5), ("B", 1, "A", 1), ("U", 0, "A", 1 / 3), ("U", 1, "U", 2 / 3)]


def ring(n: int, seed: int) -> EpsilonMachine:
    rng = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for state in range(n):
        p = rng.uniform(0.1, 0.9)
        rows += [(f"q{state}", 0, f"q{rng.integers(n)}", p), (f"q{state}", 1, f"q{(state + 1) % n}", 1 - p)]
    return EpsilonMachine(rows)


def letters(n: int, seed: int) -> EpsilonMachine:
    rng = np.random.default_rng(seed)
    rows = []
    for state in range(n):
        p = rng.permutation([0.5, 0.3, 0.15, 0.05])
        rows += [(state, s, int(rng.integers(n)) if k else (state + 1) % n, p[k]) for k, s in enumerate("ACGT")]
    return EpsilonMachine(rows)


MACHINES = {
    "even": ds.processes.even(),
    "unsynchronised": EpsilonMachine(UNSYNCHRONISED),
    "coin": ds.processes.coin(),
    "rrxor": ds.processes.rrxor(),
    "nemo": ds.processes.nemo(),
    "perturbed coin": ds.processes.perturbed_coin(),
    "butterfly": ds.processes.butterfly(),
    "letters": letters(6, 2),
    "weather": ring(12, 1),
    "twenty": ring(20, 3),
    "too many": ring(31, 1),
}


@cache
def chosen(name: str) -> ds.DecisionalStates:
    utility = ds.utility.table([[0, -1], [-2, 1]]) if name == "weather" else ds.utility.zero_one()
    delta = 0.1 if name in ("weather", "twenty", "too many") else None
    return ds.DecisionalStates(utility, delta=delta).fit(MACHINES[name])


@cache
def without_machine() -> ds.DecisionalStates:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 40, 4000)
    z = (rng.random(4000) < (x % 5 + 0.5) / 6).astype(int)
    return ds.DecisionalStates(ds.utility.zero_one()).fit(ds.observe.pairs(x, z))


@cache
def drawn(name: str) -> Axes:
    return ds.plot.decisions(chosen(name))


@cache
def related(name: str) -> Axes:
    return ds.plot.relations(without_machine() if name == "pairs" else chosen(name))


@pytest.mark.parametrize("draw", [drawn, related])
def test_few_states_have_the_colours_of_machines(draw: Callable[[str], Axes]) -> None:
    def colours(ax: Axes) -> list[str]:
        return sorted(to_hex(patch.get_facecolor()) for patch in ax.patches if isinstance(patch, Circle))

    assert colours(draw("even")) == colours(ds.plot.machine(MACHINES["even"]))


def texts(ax: Axes) -> list[str]:
    """What is written, without the caption."""
    return [text.get_text() for text in ax.texts if text.get_gid() != "caption"]


def patches(ax: Axes, *gids: str) -> list[Any]:
    return [patch for patch in ax.patches if patch.get_gid() in gids]


def corners(ax: Axes) -> Any:
    found = [(box.get_x(), box.get_y(), box.get_width(), box.get_height()) for box in patches(ax, "box")]
    return np.array([[[x, y], [x + w, y + h]] for x, y, w, h in found])


def check_nesting(ax: Axes, states: list[Any], labels: Any, gap: float) -> None:
    """Every state is in the box of its label and in no other; boxes are apart."""
    boxes = corners(ax)
    for state, label in zip(states, labels, strict=True):
        for k, (low, high) in enumerate(boxes):
            inside = (state.center - low - state.radius, high - state.center - state.radius)
            assert (np.min(inside) > 0) == (k == label)
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert np.max([other_low - high, low - other_high]) > gap


def check_limits(ax: Axes) -> None:
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    renderer = ax.figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for artist in [*ax.patches, *ax.texts]:
        box = artist.get_window_extent(renderer).transformed(ax.transData.inverted())
        assert (box.min >= low - 0.02).all()
        assert (box.max <= high + 0.02).all()


@pytest.mark.parametrize("name", MACHINES)
def test_causal_states_are_inside_their_decisional_states(name: str) -> None:
    ax, choice = drawn(name), chosen(name)
    assert len(patches(ax, "box")) == choice.n_states_
    states = patches(ax, "recurrent", "transient")
    check_nesting(ax, states, choice.states_.labels, 0.5)
    for i, one in enumerate(states):
        assert all(np.hypot(*np.subtract(one.center, other.center)) > one.radius + other.radius for other in states[:i])
    check_limits(ax)


@pytest.mark.parametrize("name", MACHINES)
def test_every_state_edge_and_label_is_drawn_once(name: str) -> None:
    ax, choice, machine = drawn(name), chosen(name), MACHINES[name]
    edges = machine_diagram(machine).edges
    assert len(patches(ax, "edge")) == sum(not edge.is_loop for edge in edges)
    assert len(patches(ax, "loop")) == sum(edge.is_loop for edge in edges)
    titles = [text.replace(",\n", ", ") for text in texts(ax)[: choice.n_states_]]
    assert titles == decision_texts(choice)
    expected = [*(edge.label for edge in edges), *map(str, machine.names)]
    assert sorted(texts(ax)[choice.n_states_ :]) == sorted(expected)


@pytest.mark.parametrize("name", ["even", "coin", "rrxor", "nemo", "perturbed coin", "butterfly", "weather"])
def test_texts_cover_neither_states_nor_each_other_nor_titles_lines(name: str) -> None:
    ax, choice = drawn(name), chosen(name)
    renderer = ax.figure.canvas.get_renderer()  # type: ignore[attr-defined]
    inverse = ax.transData.inverted()
    names = set(map(str, MACHINES[name].names))
    # The caption is the last.
    shown = [text for text in ax.texts[:-1] if text.get_text() not in names]
    boxes = [text.get_window_extent(renderer).transformed(inverse) for text in shown]
    for i, box in enumerate(boxes):
        for circle in (patch for patch in ax.patches if isinstance(patch, Circle)):
            nearest = np.clip(circle.center, box.min, box.max)
            assert np.hypot(*(nearest - circle.center)) > circle.radius
        assert not any(box.overlaps(other) for other in boxes[:i])
    for box, (low, high) in zip(boxes, corners(ax), strict=False):
        assert (box.min > low).all()
        assert (box.max < high).all()
    lines = np.concatenate([patch.get_path().vertices for patch in patches(ax, "edge", "loop")])
    for box in boxes[: choice.n_states_]:
        assert not ((lines > box.min) & (lines < box.max)).all(axis=1).any()


def test_titles_say_what_to_predict_and_what_it_is_worth() -> None:
    assert decision_texts(chosen("even")) == ["ω0: predict 0 or 1, worth 0.5", "ω1: predict 1, worth 1"]


@pytest.mark.parametrize(
    ("predictions", "text"),
    [
        (frozenset([1]), "1"),
        (frozenset([10, 9]), "9 or 10"),
        (frozenset("abc"), "a, b or c"),
        (frozenset(range(8)), "0, 1 or 6 more"),
        (frozenset([" "]), "' '"),
        (frozenset(["x" * 40]), "x" * 23 + "…"),
        (frozenset([(0, 1)]), "(0, 1)"),
        (Interval(0.5, 0.5), "0.5"),
        (Interval(1 / 3, 0.5), "0.3333 to 0.5"),
        ((0.1, 2.0), "0.1 or 2"),
        (CellSet([frozenset([0]), frozenset([1])]), "(0, 1)"),
        (CellSet([frozenset([0, 1]), frozenset([1])]), "{0, 1} × {1}"),
    ],
)
def test_sets_are_written_briefly(predictions: Any, text: str) -> None:
    assert prediction_text(predictions) == text


def test_self_loops_are_optional() -> None:
    ax = ds.plot.decisions(chosen("perturbed coin"), self_loops=False, title="Coin")
    assert ax.get_title() == "Coin"
    assert not patches(ax, "loop")
    assert len(patches(ax, "edge")) == 2
    graph = chosen("perturbed coin").graph_
    assert graph is not None
    assert len(patches(ds.plot.graph(graph), "loop")) == 2
    bare = ds.plot.graph(graph, self_loops=False)
    assert not patches(bare, "loop")
    assert sorted(texts(bare)) == ["0.25", "0.25", "ω0", "ω1"]


@pytest.mark.parametrize("name", ["rrxor", "weather"])
@pytest.mark.parametrize("kind", ["graph_", "iso_prediction_graph_", "iso_utility_graph_"])
def test_graphs_show_all_states_and_probabilities(name: str, kind: str) -> None:
    graph = getattr(chosen(name), kind)
    ax = ds.plot.graph(graph)
    expected = [*map(str, graph.names), *(probability_text(p) for p in graph.matrix.data.tolist())]
    assert sorted(texts(ax)) == sorted(expected)
    assert len(patches(ax, "edge", "loop")) == graph.matrix.nnz
    check_limits(ax)


@pytest.mark.parametrize("name", ["even", "unsynchronised", "rrxor", "butterfly", "weather", "twenty", "pairs"])
def test_relations(name: str) -> None:
    ax, choice = related(name), without_machine() if name == "pairs" else chosen(name)
    labels = choice.states_.labels
    order = np.argsort(labels, kind="stable")
    states = patches(ax, "recurrent", "transient")
    check_nesting(ax, states, labels[order], 0.1)
    names = range(labels.size) if choice.machine_ is None else choice.machine_.names
    shown = texts(ax)
    assert [text for text in shown if text in set(map(str, names))] == [str(names[k]) for k in order]
    for k, p in enumerate(choice.states_.probability):
        assert shown.count(f"ω{k}: {probability_text(float(p))}") == 1
    for letter, part in (("ψ", choice.iso_prediction_), ("υ", choice.iso_utility_)):
        assert sum(text.startswith(letter) for text in shown) == part.n_states
        assert {probability_text(float(p)) for p in part.probability} <= set(shown)
    assert len(patches(ax, "bar")) == choice.iso_prediction_.n_states + choice.iso_utility_.n_states
    check_limits(ax)


def test_relations_put_equal_predictions_in_rows_and_equal_utilities_in_columns() -> None:
    choice = chosen("weather")
    middle = corners(related("weather")).mean(axis=1)
    first = np.unique(choice.states_.labels, return_index=True)[1]
    for axis, part in ((1, choice.iso_prediction_), (0, choice.iso_utility_)):
        same = np.equal.outer(part.labels[first], part.labels[first])
        np.testing.assert_array_equal(np.isclose(*np.meshgrid(middle[:, axis], middle[:, axis])), same)
    order = np.argsort(middle[:, 0], kind="stable")
    assert (np.diff(choice.utility_[first][order]) > -0.3).all()


def test_relations_cut_long_lists() -> None:
    rng = np.random.default_rng(1)
    obs = ds.observe.pairs(rng.integers(0, 60, 3000), rng.integers(0, 2, 3000))
    choice = ds.DecisionalStates(ds.utility.zero_one(), delta=1.0, atol=1.0).fit(obs)
    ax = ds.plot.relations(choice)
    assert len(patches(ax, "recurrent")) == 24
    assert "36 more" in texts(ax)


@cache
def followed() -> ds.DecisionalStates:
    causal = ds.CausalStates().fit(ds.observe.series(MACHINES["even"].simulate(5000, rng=1), past=6))
    return ds.DecisionalStates(ds.utility.zero_one()).fit(causal)


def bands(ax: Axes) -> dict[int, list[tuple[float, float]]]:
    found = {}
    for collection in ax.collections:
        gid = str(collection.get_gid())
        if gid.startswith("band"):
            spans = [path.vertices[:, 0] for path in collection.get_paths()]
            found[int(gid.split()[1])] = [(x.min(), x.max()) for x in spans]
    return found


def line(ax: Axes) -> Any:
    (stairs,) = (patch for patch in ax.patches if hasattr(patch, "get_data"))
    return stairs.get_data()


def ticks(ax: Axes) -> Any:
    (found,) = (c for c in ax.collections if c.get_gid() == "event")
    return np.array([segment[0, 0] for segment in found.get_segments()])  # type: ignore[attr-defined]


def test_timeline_of_the_data_of_fit() -> None:
    choice = followed()
    ax = ds.plot.events(choice, start=100, stop=160)
    assert choice.causal_ is not None
    site = choice.causal_.observations_.site
    inside = (site >= 100) & (site < 160)
    np.testing.assert_array_equal(line(ax).values, choice.local_utility_[inside])
    position = choice.events().position
    np.testing.assert_array_equal(ticks(ax), position[(position >= 100) & (position < 160)] - 0.5)
    at = dict(zip(site[inside].tolist(), choice.labels_[inside].tolist(), strict=True))
    covered = 0
    for state, spans in bands(ax).items():
        for low, high in spans:
            inner = range(int(low + 0.5), int(high + 0.5))
            assert {at[i] for i in inner} == {state}
            covered += len(inner)
    assert covered == 60
    legend = ax.get_legend()
    assert legend is not None
    known = decision_texts(choice)
    assert [text.get_text() for text in legend.get_texts()] == [known[k] for k in sorted(bands(ax))]
    for state, entry in zip(sorted(bands(ax)), legend.get_patches(), strict=True):
        assert to_hex(entry.get_facecolor()) == fill(state)[0]


def test_timeline_of_new_data_and_of_what_is_not_known() -> None:
    machine = MACHINES["even"]
    choice = chosen("even")
    symbols = [1, 1, 1, *machine.simulate(500, rng=3).tolist()]
    ax = ds.plot.events(choice, X=symbols, start=0)
    known = machine.filter(symbols)[:200]
    assert ax.get_xlim() == (-0.5, 199.5)
    expected = np.where(known >= 0, choice.utility_[known], np.nan)
    np.testing.assert_array_equal(line(ax).values, expected)
    assert (known < 0).any()
    assert bands(ax)[-1][0][0] == -0.5
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_texts()[0].get_text() == "not known"
    obs = ds.observe.series(machine.simulate(300, rng=4), past=6)
    assert line(ds.plot.events(followed(), X=obs)).values.size == 200


def test_timeline_of_one_constant_utility_and_of_pairs() -> None:
    machine = MACHINES["butterfly"]
    ax = ds.plot.events(chosen("butterfly"), X=machine.simulate(100, rng=1))
    ax.figure.canvas.draw()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["0.5"]
    assert bands(ds.plot.events(without_machine()))


def test_timeline_with_dates() -> None:
    pd = pytest.importorskip("pandas")
    days = pd.date_range("2020-01-01", periods=600, freq="h")
    series = pd.Series(MACHINES["even"].simulate(600, rng=2), index=days)
    causal = ds.CausalStates(past=4).fit(series)
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(causal)
    ax = ds.plot.events(choice, start=100, stop=148)
    assert ax.get_xlabel() == "date"
    begin = (days[100] - pd.Timestamp(0)) / pd.Timedelta("1D")
    assert ax.get_xlim() == pytest.approx((begin - 0.5 / 24, begin + 47.5 / 24))
    position = choice.events().position
    expected = begin + (position[(position >= 100) & (position < 148)] - 100.5) / 24
    np.testing.assert_allclose(ticks(ax), expected, atol=1e-9)
    ax.figure.canvas.draw()
    assert "2020" in ax.xaxis.get_offset_text().get_text()
    bare = ds.plot.events(followed(), X=series.to_numpy(), stop=148)
    assert bare.get_xlabel() == "position"
    assert ds.plot.events(followed(), X=series.to_numpy(), stop=148, dates=days).get_xlabel() == "date"
    assert ds.plot.events(followed(), X=series, stop=148).get_xlabel() == "date"
    with pytest.raises(ValueError, match=r"^The 'dates' are 'today'; they must be a date for each value: "):
        ds.plot.events(followed(), X=series, dates="today")
    with pytest.raises(ValueError, match=r"^The 'dates' are 600 for 600 positions, or not in order"):
        ds.plot.events(followed(), X=series, dates=days[::-1])


DRAWINGS: list[Callable[[], Axes]] = [
    lambda: ds.plot.decisions(chosen("nemo")),
    lambda: ds.plot.relations(chosen("nemo")),
    lambda: ds.plot.graph(chosen("nemo").graph_),
    lambda: ds.plot.events(followed()),
]


@pytest.mark.parametrize("make", DRAWINGS)
def test_pictures_are_deterministic_and_unknown_to_pyplot(make: Callable[[], Axes], tmp_path: Any) -> None:
    import matplotlib.pyplot as plt

    for name in ("one.svg", "two.svg"):
        ds.plot.save(make(), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert plt.get_fignums() == []


def test_own_axes() -> None:
    axes = Figure(figsize=(12, 12)).subplots(2, 2).ravel()
    assert ds.plot.decisions(chosen("even"), ax=axes[0]) is axes[0]
    assert ds.plot.relations(chosen("even"), ax=axes[1]) is axes[1]
    assert ds.plot.graph(chosen("even").graph_, ax=axes[2]) is axes[2]
    assert ds.plot.events(followed(), ax=axes[3]) is axes[3]


def test_bad_input_is_refused_with_a_sentence() -> None:
    unfitted = ds.DecisionalStates(ds.utility.zero_one())
    for draw in (ds.plot.decisions, ds.plot.relations, ds.plot.events):
        with pytest.raises(ValueError, match=r"'choice' parameter must be a fitted DecisionalStates\. Got Decisional"):
            draw(unfitted)
    with pytest.raises(ValueError, match=r"'choice' has no machine, .*: draw them with relations instead"):
        ds.plot.decisions(without_machine())
    with pytest.raises(ValueError, match=r"^The 'graph' is None; it must be a TransitionGraph: give one, .*\.$"):
        ds.plot.graph(without_machine().graph_)
    with pytest.raises(ValueError, match="a machine has no data of its own: give a sequence"):
        ds.plot.events(chosen("even"))
    with pytest.raises(ValueError, match=r"^The 'start' of events is -1; it must be an integer of at least 0"):
        ds.plot.events(followed(), start=-1)
    with pytest.raises(ValueError, match="nothing between positions 50 and 40; the data have 5000 positions"):
        ds.plot.events(followed(), start=50, stop=40)
    with pytest.raises(ValueError, match="follows symbols: give 'X' as a sequence of symbols"):
        ds.plot.events(chosen("even"), X=ds.observe.series("0110", past=1))


@pytest.mark.parametrize("make", DRAWINGS)
def test_without_matplotlib(make: Callable[[], Axes], monkeypatch: pytest.MonkeyPatch) -> None:
    followed()
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def missing(name: str, *rest: Any, **options: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"Plotting needs matplotlib: pip install 'decisional\[plot\]'\."):
        make()


def test_states_of_fields_have_the_colours_of_maps() -> None:
    field = ds.processes.elementary_ca(54, 60, 60, rng=1)
    causal = ds.CausalStates().fit(ds.observe.light_cones(field, past=2, future=2))
    assert causal.n_states_ <= 12
    ax = ds.plot.relations(ds.DecisionalStates(ds.utility.matching_cells()).fit(causal))
    found = {to_hex(patch.get_facecolor()) for patch in ax.patches if isinstance(patch, Circle)}
    known = ds.plot.state_colours(causal.labels_)[causal.labels_ >= 0]
    assert found == {"#{:02x}{:02x}{:02x}".format(*rgb) for rgb in np.unique(known, axis=0).tolist()}
