"""The picture of coordinates: each observation where it is, in the colour of what is known there."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

import decisional as ds


@cache
def circle() -> ds.CausalStates:
    values = np.sin(0.4 * np.arange(300)) + 0.05 * np.random.default_rng(1).normal(size=300)
    return ds.CausalStates().fit(ds.observe.delays(values, 2))


def test_plane(tmp_path: Path) -> None:
    figure = ds.plot.coordinates(circle())
    found = circle().coordinates(2)
    (dots,) = figure.axes[0].collections
    np.testing.assert_array_equal(np.asarray(dots.get_offsets()), found.values)
    np.testing.assert_allclose(np.asarray(dots.get_array()), found.forecast().mean)
    assert figure.axes[0].get_xlabel() == f"coordinate 1 ({found.share[0]:.0%})"
    ds.plot.save(figure, tmp_path / "plane.png")
    assert (tmp_path / "plane.png").stat().st_size > 1000


def test_space_and_states() -> None:
    ax = Figure().add_subplot(projection="3d")
    figure = ds.plot.coordinates(circle(), 3, colour="state", ax=ax)
    assert figure is ax.figure
    (dots,) = ax.collections
    assert len(np.unique(dots.get_facecolors(), axis=0)) == circle().n_states_
    assert ax.get_zlabel().startswith("coordinate 3")


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"'causal' parameter must be a fitted CausalStates\. Got int"):
        ds.plot.coordinates(3)
    with pytest.raises(ValueError, match="'causal' parameter must be a fitted"):
        ds.plot.coordinates(ds.CausalStates())
    with pytest.raises(ValueError, match="'n' of coordinates is 4; it must be an integer from 2 to 3"):
        ds.plot.coordinates(circle(), 4)
    with pytest.raises(ValueError, match="'colour' of coordinates is 'red'"):
        ds.plot.coordinates(circle(), colour="red")
    with pytest.raises(ValueError, match="'ax' is in the plane and 'n' is 3"):
        ds.plot.coordinates(circle(), 3, ax=Figure().subplots())
