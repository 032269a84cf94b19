"""Pictures of beliefs: dots where beliefs are, regions where decisions are the same."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

import decisional as ds
from decisional.decisions import belief_regions
from decisional.plot import belief_pictures


@cache
def decided(n_states: int) -> tuple[Any, Any]:
    machine = ds.processes.mess3() if n_states == 3 else ds.processes.random_hidden(n_states, 3, rng=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(belief_regions, "RUNS", 10)
        return machine, ds.DecisionalStates(ds.utility.zero_one()).fit(machine)


def test_a_triangle_has_beliefs_and_regions(tmp_path: Path) -> None:
    machine, choice = decided(3)
    ax = ds.plot.beliefs(machine, choice, n=500, title="Mess3")
    (dots,) = ax.collections
    np.testing.assert_allclose(dots.get_offsets(), machine.beliefs(500, 0) @ belief_pictures.TRIANGLE)
    drawn = [patch for patch in ax.patches if patch.get_gid() == "region"]
    assert len(drawn) == choice.regions_.n_regions == 3
    assert [text.get_text() for text in ax.texts] == ["A", "B", "C"]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == [f"predict {next(iter(ys))}" for ys in choice.regions_.predictions]
    # Each dot lies in the polygon of its own region alone.
    number = choice.regions_.number(machine.beliefs(500, 0))
    inside = np.array([patch.get_path().contains_points(dots.get_offsets()) for patch in drawn])
    assert inside[number, np.arange(500)].mean() > 0.99
    assert inside.sum(axis=0).max() == 1
    assert ax.get_title() == "Mess3"
    ds.plot.save(ax, tmp_path / "mess3.png")
    assert (tmp_path / "mess3.png").stat().st_size > 1000


def test_a_line_has_a_histogram_and_spans() -> None:
    machine = ds.processes.misread(ds.processes.even(), 0.05)
    choice = ds.DecisionalStates([[1, 0], [0, 0.6]]).fit(machine)
    ax = ds.plot.beliefs(machine, choice, n=1_000)
    spans = [patch for patch in ax.patches if patch.get_gid() == "region"]
    heights = [patch.get_height() for patch in ax.patches if patch.get_gid() != "region"]
    assert (len(spans), sum(heights)) == (2, pytest.approx(1.0))
    assert ax.get_xlabel() == "P(B)"
    assert spans[0].get_facecolor() != spans[1].get_facecolor()


def test_space_for_four_and_a_projection_beyond() -> None:
    machine, choice = decided(4)
    ax = Figure().add_subplot(projection="3d")
    assert ds.plot.beliefs(machine, choice, ax=ax, n=200) is ax
    assert len(ax.lines) == 6
    assert len(ax.collections) == 2
    machine, choice = decided(6)
    flat = ds.plot.beliefs(machine, choice, n=200)
    assert len(flat.texts) == 6
    assert len(flat.collections[0].get_offsets()) == 200
    assert len(ds.plot.beliefs(machine, n=200).collections) == 1


def test_a_tie_is_drawn_where_it_is() -> None:
    steps = np.zeros((2, 3, 3))
    # The first state is left by either symbol alike, and is known when it comes.
    steps[:, 0, 1] = 0.5
    steps[0, 1, 0], steps[1, 1, 2], steps[0, 2, 0] = 0.2, 0.8, 1.0
    machine = ds.BeliefMachine(steps)
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(machine)
    ax = ds.plot.beliefs(machine, choice, n=100)
    assert not choice.regions_.has_inside.all()
    assert sum(patch.get_gid() == "region" for patch in ax.patches) == choice.regions_.n_regions == 3


def test_the_time_line_has_the_worth_of_each_belief() -> None:
    machine, choice = decided(3)
    symbols = machine.simulate(60, rng=1)
    ax = ds.plot.events(choice, symbols)
    (stairs,) = [patch for patch in ax.patches if hasattr(patch, "get_data")]
    np.testing.assert_allclose(stairs.get_data().values, choice.regions_.value(machine.filter(symbols)))


def test_refusals() -> None:
    machine, choice = decided(3)
    with pytest.raises(ValueError, match="at least 2 hidden states"):
        ds.plot.beliefs(ds.processes.even())
    with pytest.raises(ValueError, match="'groups' is"):
        ds.plot.beliefs(machine, decided(4)[1])
    with pytest.raises(ValueError, match="must be a fitted DecisionalStates"):
        ds.plot.beliefs(machine, ["a", "b", "c"])
    with pytest.raises(ValueError, match="'ax' is in space and the machine has 3"):
        ds.plot.beliefs(machine, ax=Figure().add_subplot(projection="3d"))
    with pytest.raises(ValueError, match="'n' of beliefs is 0"):
        ds.plot.beliefs(machine, choice, n=0)
