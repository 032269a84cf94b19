"""What all pictures have in common."""

from inspect import signature

import pytest

from decisional import plot as plotting

FILES_AND_TEXT = {"animate", "film", "grey", "machine_html", "machine_svg", "save", "state_colours"}


@pytest.mark.parametrize("name", sorted(set(plotting.__all__) - FILES_AND_TEXT))
def test_every_picture_takes_axes(name: str) -> None:
    parameters = signature(getattr(plotting, name)).parameters
    assert parameters["ax"].default is None
