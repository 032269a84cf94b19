"""Pictures of machines: everything is there, nothing overlaps that must not, and all is reproducible."""

import builtins
import sys
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from decisional import EpsilonMachine, processes
from decisional import plot as plotting
from decisional.plot.diagrams import MAX_STATES
from decisional.plot.wording import probability_text

EVEN = [("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "1", "A", 1.0)]
UNSYNCHRONISED = [*EVEN, ("U", "0", "A", 1 / 3), ("U", "1", "U", 2 / 3)]
COIN = [("A", "0", "A", 0.5), ("A", "1", "A", 0.5)]
PERIOD_4 = [("A", "0", "B", 1), ("B", "0", "C", 1), ("C", "1", "D", 1), ("D", "1", "A", 1)]
RRXOR = [
    ("S", "0", "s0", 0.5), ("S", "1", "s1", 0.5), ("s0", "0", "F", 0.5), ("s0", "1", "T", 0.5),
    ("s1", "0", "T", 0.5), ("s1", "1", "F", 0.5), ("T", "1", "S", 1), ("F", "0", "S", 1),
]  # fmt: skip


def random_machine(n: int, seed: int, ring: bool = True) -> EpsilonMachine:
    """A binary machine; a ring of ones makes all its states recurrent."""
    rng = np.random.default_rng(seed)
    rows = []
    for state in range(n):
        p = rng.uniform(0.1, 0.9)
        rows.append((f"q{state}", 0, f"q{rng.integers(n)}", p))
        rows.append((f"q{state}", 1, f"q{(state + 1) % n if ring else rng.integers(n)}", 1 - p))
    return EpsilonMachine(rows)


MACHINES = {
    "even": EpsilonMachine(EVEN),
    "unsynchronised": EpsilonMachine(UNSYNCHRONISED),
    "coin": EpsilonMachine(COIN),
    "period 4": EpsilonMachine(PERIOD_4),
    "rrxor": EpsilonMachine(RRXOR),
    "dead end": EpsilonMachine.from_arrays([[1], [2], [-1]], [[1.0], [1.0], [0.0]], ["0"], ["A", "B", "C"]),
    "two classes": EpsilonMachine([("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "0", "B", 1), ("C", "0", "C", 1)]),
    "random 12": random_machine(12, 1),
    "random 20 with transients": random_machine(20, 3, ring=False),
}


@cache
def drawn(name: str) -> Axes:
    return plotting.machine(MACHINES[name])


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def patches(ax: Axes, gid: str) -> list[Any]:
    return [patch for patch in ax.patches if patch.get_gid() == gid]


@pytest.mark.parametrize("name", MACHINES)
def test_everything_is_drawn(name: str) -> None:
    machine = MACHINES[name]
    ax = drawn(name)
    shown = texts(ax)
    assert set(map(str, machine.names)) <= set(shown)
    lines = [line for text in shown for line in text.split("\n")]
    loops = set()
    for state, column in zip(*np.nonzero(machine.targets >= 0), strict=True):
        p = float(machine.emission[state, column])
        assert f"{machine.alphabet[column]} | {probability_text(p)}" in lines
        if machine.targets[state, column] == state:
            loops.add(state)
    assert len(patches(ax, "loop")) == len(loops)
    assert len(patches(ax, "recurrent")) == machine.recurrent.sum()
    assert len(patches(ax, "transient")) == (~machine.recurrent).sum()
    assert not ax.axison
    assert ax.get_aspect() == 1.0


@pytest.mark.parametrize("name", MACHINES)
def test_limits_hold_all_artists_and_states_are_apart(name: str) -> None:
    ax = drawn(name)
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    assert np.isfinite([low, high]).all()
    renderer = ax.figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for artist in [*ax.patches, *ax.texts]:
        box = artist.get_window_extent(renderer).transformed(ax.transData.inverted())
        assert (box.min >= low - 0.02).all()
        assert (box.max <= high + 0.02).all()
    circles = [patch for patch in ax.patches if isinstance(patch, Circle)]
    for i, one in enumerate(circles):
        for other in circles[:i]:
            gap = np.hypot(*np.subtract(one.center, other.center)) - one.radius - other.radius
            assert gap > 0.1


@pytest.mark.parametrize("name", ["even", "unsynchronised", "coin", "period 4", "rrxor"])
def test_labels_cover_neither_states_nor_each_other(name: str) -> None:
    ax = drawn(name)
    renderer = ax.figure.canvas.get_renderer()  # type: ignore[attr-defined]
    inverse = ax.transData.inverted()
    boxes = [text.get_window_extent(renderer).transformed(inverse) for text in ax.texts if "|" in text.get_text()]
    for i, box in enumerate(boxes):
        for circle in (patch for patch in ax.patches if isinstance(patch, Circle)):
            nearest = np.clip(circle.center, box.min, box.max)
            assert np.hypot(*(nearest - circle.center)) > circle.radius
        assert not any(box.overlaps(other) for other in boxes[:i])


WORDS = ["sunshine", "rain", "search page", "basket"]
MANY = {
    "10 states, 2 letters": lambda: processes.random_machine(10, 2, rng=2),
    "10 states, 3 letters": lambda: processes.random_machine(10, 3, rng=3),
    "10 states, 4 letters": lambda: processes.random_machine(10, 4, rng=4),
    "10 states, words": lambda: renamed(processes.random_machine(10, 2, rng=5)),
    "20 states, 2 letters": lambda: processes.random_machine(20, 2, rng=6),
    "20 states, words": lambda: renamed(processes.random_machine(20, 2, rng=7)),
}


def renamed(machine: EpsilonMachine) -> EpsilonMachine:
    return EpsilonMachine([(a, WORDS[symbol], b, p) for a, symbol, b, p in machine.transitions()])


def clashes(ax: Axes) -> tuple[int, int, int]:
    """Labels over each other or over states, lines through labels of others, labels nearer to lines of others."""
    renderer, inverse = ax.figure.canvas.get_renderer(), ax.transData.inverted()  # type: ignore[attr-defined]
    labels = [text for text in ax.texts if "|" in text.get_text() and text.get_gid() != "caption"]
    boxes = [text.get_window_extent(renderer).transformed(inverse) for text in labels]
    over = sum(box.overlaps(other) for i, box in enumerate(boxes) for other in boxes[:i])
    for circle in (patch for patch in ax.patches if isinstance(patch, Circle)):
        nearest = [np.clip(circle.center, box.min, box.max) - circle.center for box in boxes]
        over += sum(np.hypot(*away) < circle.radius for away in nearest)
    through = nearer = 0
    # Lines and labels are drawn in the order of the edges.
    lines = [patch.get_path().interpolated(5).vertices for patch in ax.patches if patch.get_gid() in ("edge", "loop")]
    for k, box in enumerate(boxes):
        away = [np.clip(np.maximum(box.min - line, line - box.max), 0, None) for line in lines]
        gap = np.array([np.hypot(*points.T).min() for points in away])
        own, others = gap[k], np.delete(gap, k)
        through += int((others <= 0).sum())
        nearer += int(others.min() < min(own, 0.1))
    return over, through, nearer


@pytest.mark.parametrize("name", MANY)
def test_labels_of_many_states_keep_off_the_lines_of_others(name: str) -> None:
    ax = plotting.machine(MANY[name]())
    over, through, nearer = clashes(ax)
    assert over == 0
    assert through <= 1
    assert nearer <= 1


def test_clashes_are_found() -> None:
    ax = plotting.machine(MANY["10 states, 3 letters"]())
    labels = [text for text in ax.texts if "|" in text.get_text() and text.get_gid() != "caption"]
    labels[0].set_position(labels[1].get_position())
    assert clashes(ax)[0] == 1
    middle = [patch for patch in ax.patches if patch.get_gid() == "edge"][3].get_path().vertices
    labels[0].set_position(middle[len(middle) // 2])
    assert clashes(ax)[1] >= 1


def test_a_caption_says_how_to_read_a_label() -> None:
    def caption(machine: EpsilonMachine) -> str:
        found = [text.get_text() for text in plotting.machine(machine).texts if text.get_gid() == "caption"]
        return " ".join(found).replace("\n", " ")

    assert caption(MACHINES["even"]) == "0 | 0.50: the next symbol is 0, with probability 0.50"
    assert caption(MACHINES["period 4"]) == "0 | 1: the next symbol is 0, with probability 1"
    assert caption(MACHINES["unsynchronised"]).endswith("with probability 0.50; dashed: left for good")
    bare = plotting.machine(MACHINES["even"], edge_labels=False)
    assert "caption" not in [text.get_gid() for text in bare.texts]


def test_opposite_edges_do_not_meet() -> None:
    there, back = (patch.get_path().vertices for patch in patches(plotting.machine(MACHINES["even"]), "edge"))
    gap = np.hypot(*np.moveaxis(there[:, None] - back, 2, 0))
    assert gap.min() > 0.1


def test_loops_point_outwards() -> None:
    rows = [("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "0", "A", 0.5), ("B", "1", "B", 0.5)]
    ax = plotting.machine(EpsilonMachine(rows))
    left, right = (patch.get_path().vertices[:, 0].mean() for patch in patches(ax, "loop"))
    (a, _), (b, _) = (patch.center for patch in patches(ax, "recurrent"))
    assert left < a < b < right


def test_area_is_probability_and_transients_look_different() -> None:
    machine = EpsilonMachine(UNSYNCHRONISED)
    ax = plotting.machine(machine)
    a, b = patches(ax, "recurrent")
    (u,) = patches(ax, "transient")
    assert a.radius**2 / b.radius**2 == pytest.approx(2.0)
    assert u.radius < b.radius
    assert u.get_linestyle() != a.get_linestyle()
    assert u.get_facecolor() != a.get_facecolor()


def test_many_symbols_share_one_label() -> None:
    rows = [("A", letter, "A", 1 / 26) for letter in "abcdefghijklmnopqrstuvwxyz"]
    ax = plotting.machine(EpsilonMachine(rows))
    assert len(patches(ax, "loop")) == 1
    assert "a | 0.04" in "\n".join(texts(ax))
    assert "19 more | 0.73" in "\n".join(texts(ax))


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.5, "0.50"),
        (1.0, "1"),
        (0.0, "0"),
        (1 / 3, "0.33"),
        (0.003, "0.003"),
        (0.9996, "0.9996"),
        (1e-9, "1e-09"),
    ],
)
def test_numbers_do_not_round_to_certainty(p: float, text: str) -> None:
    assert probability_text(p) == text


def test_awkward_names() -> None:
    rows = [
        ("$a_$", "$", "a very long name", 0.5),
        ("$a_$", " ", "$a_$", 0.5),
        ("a very long name", "", "$a_$", 1),
    ]
    svg = plotting.machine_svg(EpsilonMachine(rows))
    ElementTree.fromstring(svg)
    ax = plotting.machine(EpsilonMachine(rows), groups=["$_", "_hidden"])
    ax.figure.canvas.draw()
    assert {"$a_$", "a very long name"} <= set(texts(ax))


def test_groups_share_colours_and_a_legend() -> None:
    machine = MACHINES["period 4"]
    ax = plotting.machine(machine, groups=["x", "y", "x", "y"])
    colours = [to_hex(patch.get_facecolor()) for patch in patches(ax, "recurrent")]
    assert colours[0] == colours[2] != colours[1] == colours[3]
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["x", "y"]
    same = plotting.machine(machine, groups=SimpleNamespace(state_groups_=[0, 1, 0, 1]))
    assert [to_hex(patch.get_facecolor()) for patch in patches(same, "recurrent")] == colours
    many = plotting.machine(MACHINES["random 12"], groups=range(12))
    styles = {(to_hex(p.get_facecolor()), p.get_hatch()) for p in patches(many, "recurrent")}
    assert len(styles) == 12
    with pytest.raises(ValueError, match="'groups' parameter must have one group for each of the 4 states"):
        plotting.machine(machine, groups=["x"])


def test_own_axes_and_options() -> None:
    figure = Figure(figsize=(8, 4))
    left, right = figure.subplots(1, 2)
    assert plotting.machine(MACHINES["even"], ax=left, title="Even") is left
    assert left.get_title() == "Even"
    plotting.machine(MACHINES["even"], ax=right, edge_labels=False)
    assert texts(right) == ["A", "B"]


def test_the_room_shows_what_users_call() -> None:
    assert dir(plotting) == sorted(plotting.__all__)
    assert {"machine", "edges", "signal", "save"} <= set(dir(plotting))
    assert not {"diagrams", "layout", "require_matplotlib", "file_format"} & set(dir(plotting))


def test_nothing_leaks_into_pyplot() -> None:
    import matplotlib.pyplot as plt

    plotting.machine_html(MACHINES["even"])
    assert plt.get_fignums() == []


def test_output_is_deterministic(tmp_path: Path) -> None:
    machine = MACHINES["unsynchronised"]
    assert plotting.machine_svg(machine) == plotting.machine_svg(machine)
    for suffix in ("png", "svg", "pdf"):
        one, two = tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
        plotting.save(plotting.machine(machine), one)
        plotting.save(plotting.machine(machine).figure, two)
        assert one.read_bytes() == two.read_bytes()


def test_svg_and_html_are_well_formed() -> None:
    root = ElementTree.fromstring(plotting.machine_svg(MACHINES["rrxor"]))
    assert root.tag.endswith("svg")
    page = plotting.machine_html(MACHINES["unsynchronised"])
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(page).iter()}
    assert {"svg", "table", "caption", "th", "td"} <= tags
    for piece in ("C = 0.9183 bits", "h = 0.6667", "U (transient)", "P(0)", "0.3333"):
        assert piece in page


def test_html_escapes_and_cuts() -> None:
    rows = [("<b>", f"<{i}>", "<b>", 0.1) for i in range(10)]
    page = plotting.machine_html(EpsilonMachine(rows))
    assert "<b>" not in page
    assert "P(&lt;7&gt;)" in page
    assert "P(&lt;8&gt;)" not in page
    page = plotting.machine_html(random_machine(50, 1))
    assert "<svg" not in page
    assert page.count("<tr>") == 1 + MAX_STATES


def test_large_machines_still_draw() -> None:
    ax = plotting.machine(random_machine(MAX_STATES + 1, 1))
    assert len(patches(ax, "recurrent")) == MAX_STATES + 1


def test_unknown_format_and_failure_keep_the_earlier_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ax = plotting.machine(MACHINES["coin"])
    with pytest.raises(ValueError, match=r"machine\.gif'; a picture must end in \.png, \.svg or \.pdf: rename it\.$"):
        plotting.save(ax, tmp_path / "machine.gif")
    path = tmp_path / "machine.png"
    path.write_bytes(b"earlier")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("renderer")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(RuntimeError, match="renderer"):
        plotting.save(ax, path)
    assert path.read_bytes() == b"earlier"
    assert [p.name for p in tmp_path.iterdir()] == ["machine.png"]


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def missing(name: str, *rest: Any, **options: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"Plotting needs matplotlib: pip install 'decisional\[plot\]'\."):
        plotting.machine(MACHINES["even"])
    page = plotting.machine_html(MACHINES["even"])
    assert "<table>" in page
    assert "<svg" not in page


def test_an_arrow_marks_the_start_of_whole_strings() -> None:
    rows = [("A", 0, "B", 1.0), ("B", 1, "B", 0.5), ("B", EpsilonMachine.END, "A", 0.5)]
    texts = [text.get_text() for text in plotting.machine(EpsilonMachine(rows, start="A")).texts]
    assert "→A" in texts
    assert "B" in texts
    assert "<end> | 0.50" in texts
