"""Blocks of data lose no state, and packed arrays come out as they went in."""

import base64
import json
import zlib
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from decisional.report.blocks import DTYPES, compact, extremes, fitting, label_sets, packed, rarest_cells

pytestmark = pytest.mark.small


def unpacked(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of a packed text, read in the plainest way."""
    data = zlib.decompress(base64.b64decode(text))
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    body = data[4 + length :]
    found = {}
    for name, kind, begin, size in header.pop("arrays"):
        assert begin % 8 == 0
        found[name] = np.frombuffer(body, DTYPES[kind], size, begin)
    return header, found


def naive_sets(labels: list[int], size: int) -> list[list[int]]:
    """The different labels of each block, one place at a time."""
    blocks = [labels[begin : begin + size] for begin in range(0, len(labels), size)]
    return [sorted({label for label in block if label >= 0}) for block in blocks]


def naive_rarest(labels: Any, sides: tuple[int, int, int]) -> dict[tuple[int, ...], int]:
    """The first cell of the rarest label in each block, one cell at a time."""
    count: dict[int, float] = {-1: float("inf")}
    for label in labels.ravel().tolist():
        if label >= 0:
            count[label] = count.get(label, 0) + 1
    found: dict[tuple[int, ...], tuple[float, int]] = {}
    for number, place in enumerate(product(*map(range, labels.shape))):
        block = tuple(k // side for k, side in zip(place, sides, strict=True))
        inside = tuple(k % side for k, side in zip(place, sides, strict=True))
        entry = (count[int(labels[place])], inside, number)
        if block not in found or entry < found[block]:  # type: ignore[operator]
            found[block] = entry  # type: ignore[assignment]
    return {block: entry[-1] for block, entry in found.items()}


@given(st.lists(st.integers(-1, 6), min_size=1, max_size=60), st.integers(1, 9))
def test_sets_of_blocks(labels: list[int], size: int) -> None:
    count, label = label_sets(np.array(labels), size)
    assert [part.tolist() for part in np.split(label, np.cumsum(count)[:-1])] == naive_sets(labels, size)
    assert set(label.tolist()) == {k for k in labels if k >= 0}


@given(st.lists(st.floats(-9, 9) | st.just(float("nan")) | st.just(float("inf")), min_size=1), st.integers(1, 9))
def test_extremes_of_blocks(values: list[float], size: int) -> None:
    found = np.column_stack(extremes(np.array(values), size)).tolist()
    blocks = [[v for v in values[k : k + size] if np.isfinite(v)] for k in range(0, len(values), size)]
    wanted = [[min(block), max(block)] if block else [float("nan")] * 2 for block in blocks]
    np.testing.assert_array_equal(found, wanted)


@given(
    arrays.arrays(np.int64, arrays.array_shapes(min_dims=3, max_dims=3, max_side=7), elements=st.integers(-1, 4)),
    st.tuples(*[st.integers(1, 4)] * 3),
)
@settings(deadline=None)
def test_rarest_cells_stand_for_their_blocks(labels: Any, sides: tuple[int, int, int]) -> None:
    found = rarest_cells(labels, sides)
    assert dict(np.ndenumerate(found)) == naive_rarest(labels, sides)


def test_a_state_that_occurs_once_is_kept_whatever_the_blocks() -> None:
    labels = np.zeros(100_000, np.int64)
    labels[77_777] = 3
    cells = np.zeros((1, 300, 400), np.int64)
    cells[0, 123, 321] = 1
    for size in (1, 2, 64, 100_000):
        assert 3 in label_sets(labels, size).label
        assert 1 in cells.ravel()[rarest_cells(cells, (1, size, size))]


@given(st.lists(st.integers(0, 2**33), max_size=9), st.lists(st.floats(width=64), max_size=9), st.text(max_size=9))
def test_packed_arrays_come_out_as_they_went_in(whole: list[int], real: list[float], words: str) -> None:
    given = {"whole": np.array(whole, np.int64), "none": np.zeros(0), "real": np.array(real)}
    header, found = unpacked(packed({"words": words}, given))
    assert header == {"words": words}
    assert found["whole"].tolist() == whole
    known = [v for v in real if np.isfinite(v)]
    room = 1e-7 * (max(known) / 2 - min(known) / 2) * 2 if known else 0.0
    np.testing.assert_allclose(found["real"], real, rtol=0, atol=min(room, 1e300) * 1.01)


def test_large_numbers_with_small_differences_keep_them() -> None:
    values = 1e9 + np.arange(5.0)
    assert compact(values).tolist() == values.tolist()
    assert compact(np.array([0.1, 0.9])).dtype == np.float32


def test_blocks_grow_until_they_fit() -> None:
    asked = []

    def pack(size: int) -> str:
        asked.append(size)
        return "x" * (1000 // size)

    assert len(fitting(pack, 1000, room=300)) == 250
    assert asked == [1, 4]
    fitting(pack, 10_000_000, room=300)
    fitting(pack, 10_000_000, 2, room=300)
    assert asked[2:] == [8, 4]
