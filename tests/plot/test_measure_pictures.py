"""Pictures of measures: the curves and bars are the measures."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

import decisional as ds


def test_block_entropies(tmp_path: Path) -> None:
    machine = ds.processes.nrps()
    figure = ds.plot.block_entropies(machine, 8)
    (ax,) = figure.axes
    drawn = {line.get_label(): np.asarray(line.get_ydata()) for line in ax.lines}
    curves = machine.block_entropies(8)
    np.testing.assert_array_equal(drawn["H(L)"], curves.entropy)
    np.testing.assert_array_equal(drawn["H(L, S)"], curves.with_state)
    assert drawn["E + h L"][0] == pytest.approx(machine.excess_entropy())
    assert ax.get_title(loc="left").endswith("cryptic order 3, Markov order 5")
    assert sorted(line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2) == [3, 5]
    ds.plot.save(figure, tmp_path / "words.png")
    assert (tmp_path / "words.png").stat().st_size > 1000
    (ax,) = ds.plot.block_entropies(ds.processes.even()).axes
    assert ax.get_title(loc="left").endswith("Markov order ∞")


@pytest.mark.parametrize("seed", [3, 4])
def test_information(seed: int) -> None:
    machine = ds.processes.random_machine(4, rng=seed)
    ax = Figure().add_subplot()
    assert ds.plot.information(machine, ax=ax) is ax.figure
    both = machine.bidirectional(atol=None if machine.reverse_is_finite() else 1e-6)
    widths = [bar.get_width() for bar in ax.patches]
    expected = [both.forward_crypticity, both.excess_entropy, both.excess_entropy, both.reverse_crypticity]
    expected += [both.predicted_information, both.bound_information, both.ephemeral_information]
    np.testing.assert_allclose(widths, expected, atol=1e-12)
    # The shared part is in the same place in both directions.
    assert ax.patches[1].get_x() == pytest.approx(ax.patches[2].get_x())


def test_refusals() -> None:
    with pytest.raises(TypeError, match="'machine' must be an EpsilonMachine"):
        ds.plot.information("even")
    with pytest.raises(ValueError, match="'n'"):
        ds.plot.block_entropies(ds.processes.even(), 0)
