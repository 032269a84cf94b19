"""The picture of a selection: all candidates, the plateau and the choice."""

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from decisional import plot as plotting
from decisional import processes
from decisional.states.machine_selection import select
from decisional.states.selected import DOUBT, Selection


@cache
def selected(name: str = "nemo", n: int = 4000) -> Selection:
    return select(processes.catalogue[name]().simulate(n, rng=1), max_past=6)


def labelled(ax: Axes, begin: str) -> list[tuple[float, float]]:
    """Points of the line whose label begins like that."""
    line = next(line for line in ax.lines if str(line.get_label()).startswith(begin))
    return [(float(x), float(y)) for x, y in line.get_xydata()]


def test_every_candidate_is_drawn() -> None:
    selection = selected()
    upper, lower = plotting.selection(selection).axes
    best = selection.chosen.description_length
    for future in (1, 2):
        found = sorted((c for c in selection.candidates if not c.searched and c.future == future), key=lambda c: c.past)
        label = f"future of {future} symbol"
        assert labelled(upper, label) == [(c.past, pytest.approx(c.description_length - best)) for c in found]
        assert labelled(lower, label) == [(c.past, c.n_states) for c in found]


def test_the_choice_is_marked() -> None:
    selection = selected()
    upper, lower = plotting.selection(selection).axes
    assert labelled(upper, "chosen") == [(selection.chosen.past, 0.0)]
    assert labelled(lower, "chosen") == [(selection.chosen.past, selection.chosen.n_states)]
    assert labelled(upper, "too close")[0][1] == DOUBT
    assert upper.get_title(loc="left") == f"3 states, chosen among {len(selection.candidates)} candidates"


def test_the_plateau_is_shaded() -> None:
    selection = selected()
    upper, _ = plotting.selection(selection).axes
    truth = processes.nemo()
    expected = [
        past
        for past, candidate in selection.by_past().items()
        if selection.machine_of(candidate).is_isomorphic(truth, atol=0.2)
    ]
    assert [round(patch.get_x() + 0.5) for patch in upper.patches] == expected
    assert expected


def test_doubts_are_told_in_a_word() -> None:
    selection = next(
        s for n in range(30, 400, 10) if (s := select(processes.golden_mean().simulate(n, rng=1))).warning is not None
    )
    words = plotting.selection(selection).axes[0].get_title(loc="left")
    assert words.endswith("; in doubt, see its warning")
    assert len(words) < 80


def test_given_axes_and_no_title() -> None:
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert plotting.selection(selected(), axes, title=False) is figure
    assert axes[0].get_title(loc="left") == ""
    with pytest.raises(ValueError, match=r"^The 'axes' are 1 for 2 panels; these are bits and states: make them with"):
        plotting.selection(selected(), [axes[0]])


def test_both_in_one_axes() -> None:
    figure = Figure(layout="constrained")
    ax = figure.subplots()
    assert plotting.selection(selected(), ax=ax) is figure
    upper, lower = ax.child_axes
    assert upper.get_xlim() == lower.get_xlim()
    figure.canvas.draw()
    assert not upper.get_tightbbox().overlaps(lower.get_window_extent())
    with pytest.raises(ValueError, match=r"^Both 'ax' and 'axes' are given"):
        plotting.selection(selected(), [upper, lower], ax=ax)


@pytest.mark.parametrize("symbols", ["01", "0000000", "0110" * 20])
def test_short_series(symbols: str, tmp_path: Path) -> None:
    plotting.save(plotting.selection(select(symbols)), tmp_path / "selection.png")
    assert (tmp_path / "selection.png").stat().st_size > 1000


def test_many_states_are_on_a_logarithmic_axis() -> None:
    selection = selected("rrxor", 10_000)
    most = max(c.n_states for c in selection.candidates)
    assert most > 20
    lower = plotting.selection(selection).axes[1]
    assert lower.get_yscale() == "log"
    assert lower.get_ylim()[1] > most


def test_same_bytes(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        plotting.save(plotting.selection(selected()), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
