"""What all pictures have in common."""

import pickle
from inspect import signature

import pytest

import decisional as ds
from decisional import plot as plotting
from decisional.plot.figures import figure_of

FILES_AND_TEXT = {"animate", "film", "grey", "machine_html", "machine_svg", "save", "state_colours"}


@pytest.mark.parametrize("name", sorted(set(plotting.__all__) - FILES_AND_TEXT))
def test_every_picture_takes_axes(name: str) -> None:
    parameters = signature(getattr(plotting, name)).parameters
    assert parameters["ax"].default is None


def test_pictures_show_themselves_in_notebooks() -> None:
    machine = ds.processes.even()
    assert plotting.machine(machine)._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    both = plotting.information(machine)
    assert figure_of(both)._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(both)) is not None
