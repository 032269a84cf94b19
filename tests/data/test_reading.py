"""One reader for all files."""

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import decisional as ds
from decisional.data.stores import Stored
from decisional.data.text import MappedText

CELLS = np.random.default_rng(1).integers(0, 3, (12, 7))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_text(folder: Path) -> None:
    Path("chars.txt").write_text("0110\n1011\n")
    Path("words.txt").write_text("up, down, up\n")
    Path("sky.csv").write_text("day,sky,rain\n1,dry,0\n2,wet,3.5\n3,dry,NA\n")
    assert ds.read("chars.txt") == ds.read(Path("chars.txt"), "symbols") == ["0110", "1011"]
    assert ds.read("words.txt") == [["up", "down", "up"]]
    assert ds.read("sky.csv", column="sky").tolist() == ["dry", "wet", "dry"]
    with pytest.raises(ValueError, match=r"has 3 columns .*: choose it with 'column'"):
        ds.read("sky.csv")
    rain, name = ds.read("sky.csv", "signal", column=2, named=True)
    assert name == "rain"
    np.testing.assert_array_equal(rain, [0, 3.5, np.nan])
    assert ds.read("sky.csv", "table")[:2] == [["day", "sky", "rain"], ["1", "dry", "0"]]
    mapped = ds.read("chars.txt", sliced=True)
    assert isinstance(mapped, MappedText)
    assert (mapped.n_symbols, len(mapped.parts)) == (8, 2)
    # Words have no place of their own in a file.
    assert ds.read("words.txt", sliced=True) == [["up", "down", "up"]]


def test_arrays_and_pictures(folder: Path) -> None:
    np.save("cells.npy", CELLS)
    np.savez("cells.npz", other=CELLS + 1, cells=CELLS)
    Path("grey.pgm").write_bytes(b"P5 7 12 255\n" + CELLS.astype(np.uint8).tobytes())
    Path("plain.pbm").write_text("P1\n# a comment\n3 2\n010\n1 1 1\n")
    for found in (ds.read("cells.npy"), ds.read("cells.npz", key="cells"), ds.read("grey.pgm")):
        np.testing.assert_array_equal(found, CELLS)
    np.testing.assert_array_equal(ds.read("cells.npz", "field"), CELLS + 1)
    np.testing.assert_array_equal(ds.read("plain.pbm"), [[0, 1, 0], [1, 1, 1]])
    left = ds.read("cells.npy", "field", sliced=True)
    assert isinstance(left, Stored)
    np.testing.assert_array_equal(left[3:5], CELLS[3:5])


@pytest.mark.parametrize("sliced", [False, True])
@pytest.mark.parametrize("kind", ["h5", "zarr", "nc"])
def test_missing_cells_are_masked_and_missing_numbers_nan(folder: Path, kind: str, sliced: bool) -> None:
    path = _dataset(kind)
    found = ds.read(path, "field", sliced=sliced)
    masked = found.read() if isinstance(found, Stored) else found
    np.testing.assert_array_equal(np.ma.getmaskarray(masked), CELLS == 2)
    np.testing.assert_array_equal(masked[CELLS != 2], CELLS[CELLS != 2])
    expected = ds.observe.light_cones(np.ma.masked_equal(CELLS, 2), 1, 2).table()
    observed = ds.observe.light_cones(found, 1, 2).table()
    for name in ("start", "outcome", "count"):
        np.testing.assert_array_equal(getattr(observed, name), getattr(expected, name))
    line = ds.read(path, "signal", variable="line", sliced=sliced)
    np.testing.assert_array_equal(np.asarray(line), [0.0, 1, np.nan, 3])
    with pytest.raises(ValueError, match=r"has the variables .*: choose one with 'variable'"):
        ds.read(path, variable="none")


def _dataset(kind: str) -> str:
    line = np.array([0, 1, 2, 3])
    path = f"data.{kind}"
    if kind == "h5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            for name, values in (("cells", CELLS), ("line", line)):
                file[name] = values
                file[name].attrs["_FillValue"] = 2
        return path
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr" if kind == "zarr" else "h5netcdf")
    data = xarray.Dataset({"cells": (("time", "x"), CELLS), "line": ("x0", line)})
    encoding: dict[str, Any] = {name: {"_FillValue": 2} for name in data}
    if kind == "zarr":
        data.to_zarr(path, encoding=encoding, zarr_format=2)
    else:
        data.to_netcdf(path, encoding=encoding, engine="h5netcdf")
    return path


@pytest.mark.small
def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"0110\n")))
    assert ds.read("-") == ["0110"]
    content = io.BytesIO()
    np.save(content, CELLS)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.getvalue())))
    np.testing.assert_array_equal(ds.read("-", "field"), CELLS)


def test_refusals(folder: Path) -> None:
    np.save("cells.npy", CELLS)
    Path("chars.txt").write_text("0110\n")
    Path("empty.npy").touch()
    for options, message in (
        ({"kind": "image"}, "The 'kind' is 'image'; it must be one of"),
        ({"key": "a"}, "'key' is for .npz"),
        ({"variable": "a"}, "'variable' is for netCDF"),
        ({"column": 1}, "'column' is for text"),
    ):
        with pytest.raises(ValueError, match=message):
            ds.read("cells.npy", **options)
    with pytest.raises(ValueError, match="'variable' is for netCDF"):
        ds.read("chars.txt", variable="a")
    with pytest.raises(ValueError, match="is empty"):
        ds.read("empty.npy", "field")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        ds.read("none.npy", "field")
