"""What images choose themselves."""

import numpy as np
import pytest

import decisional as ds


@pytest.mark.small
def test_grey_levels() -> None:
    pixels = np.arange(100, dtype=np.uint8).reshape(10, 10)
    scale = ds.selection.grey_scale(pixels)
    assert scale == (0, 99, 1.5**0.5, 7)
    floats = ds.selection.grey_scale([pixels / 2.0, 127.5 + pixels / 99.0 * 127.5])
    assert floats == (0, 255, 1.5**0.5, 7)
    assert ds.selection.grey_scale(np.zeros((3, 3))).tolerance == 7
