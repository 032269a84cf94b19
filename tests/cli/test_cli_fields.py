"""Fields from netCDF files and zarr stores, where the libraries for them are installed."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decisional import cli, processes

CELLS = processes.elementary_ca(110, 40, 30, 1)[10:].astype(np.int32)


def states(path: Path, *options: str) -> Any:
    out = path.with_name("states.npy")
    arguments = ["field", str(path), "--past", "2", "--future", "2", "--labels", str(out), "--quiet", *options]
    assert cli.main(arguments) == 0
    return np.load(out)


@pytest.fixture
def expected(tmp_path: Path) -> Any:
    np.save(tmp_path / "field.npy", CELLS)
    return states(tmp_path / "field.npy")


def dataset(**variables: Any) -> Any:
    return pytest.importorskip("xarray").Dataset({name: (("time", "x"), values) for name, values in variables.items()})


@pytest.mark.parametrize("engine", ["scipy", "netcdf4", "h5netcdf"])
def test_netcdf(engine: str, tmp_path: Path, expected: Any) -> None:
    pytest.importorskip({"netcdf4": "netCDF4"}.get(engine, engine))
    dataset(cells=CELLS).to_netcdf(tmp_path / "field.nc", engine=engine)
    np.testing.assert_array_equal(states(tmp_path / "field.nc"), expected)
    # Time is found by its name.
    dataset(cells=CELLS).transpose("x", "time").to_netcdf(tmp_path / "turned.nc", engine=engine)
    np.testing.assert_array_equal(states(tmp_path / "turned.nc"), expected)


# What zarr says of its own formats while the stores are written.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("version", [2, 3])
def test_zarr(version: int, tmp_path: Path, expected: Any) -> None:
    zarr = pytest.importorskip("zarr", minversion="3")
    for name in ("field.zarr", "folder"):
        dataset(cells=CELLS).to_zarr(tmp_path / name, zarr_format=version)
        np.testing.assert_array_equal(states(tmp_path / name), expected)
    gaps = CELLS.astype(float)
    gaps[:, 3] = np.nan
    how = {"cells": {"dtype": "int16", "_FillValue": -9}}
    dataset(cells=gaps).to_zarr(tmp_path / "gaps.zarr", zarr_format=version, encoding=how)
    assert (states(tmp_path / "gaps.zarr")[:, 3] == -1).all()
    zarr.save_array(tmp_path / "bare.zarr", CELLS, zarr_format=version)
    group = zarr.open_group(tmp_path / "group.zarr", mode="w", zarr_format=version)
    group.create_array("cells", data=CELLS)
    for name in ("bare.zarr", "group.zarr"):
        np.testing.assert_array_equal(states(tmp_path / name), expected)


@pytest.mark.filterwarnings("ignore")
def test_zipped_zarr(tmp_path: Path, expected: Any) -> None:
    storage = pytest.importorskip("zarr.storage")
    store = storage.ZipStore(tmp_path / "field.zarr.zip", mode="w")
    dataset(cells=CELLS).to_zarr(store)
    store.close()
    np.testing.assert_array_equal(states(tmp_path / "field.zarr.zip"), expected)


@pytest.mark.parametrize(
    ("name", "begin", "missing", "message"),
    [
        ("field.nc", b"\x89HDF\r\n", ("netCDF4", "h5netcdf"), "netCDF4 must be installed: pip install 'decisional[x"),
        ("field.nc", b"CDF\x01", ("xarray",), "xarray must be installed: pip install 'decisional[xarray]'."),
        ("field.zarr", None, ("zarr",), "zarr must be installed: pip install 'decisional[xarray]' zarr."),
    ],
)
def test_missing_libraries(
    name: str,
    begin: bytes | None,
    missing: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("xarray")
    from decisional.data import datasets

    found = datasets.find_spec
    monkeypatch.setattr(datasets, "find_spec", lambda package: None if package in missing else found(package))
    if begin is None:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_bytes(begin + bytes(99))
    assert cli.main(["field", str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_no_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import io
    import zipfile

    with zipfile.ZipFile(tmp_path / "text.zip", "w") as archive:
        archive.writestr("text.txt", "no array")
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"CDF\x01" + bytes(9))))
    said = {"text.zip": "is no array", "broken.zip": "no complete .npz", "-": "cannot be read from a pipe"}
    for name, message in said.items():
        assert cli.main(["field", name if name == "-" else str(tmp_path / name)]) == 2
        assert message in capsys.readouterr().err
    assert cli.main(["field", str(tmp_path)]) == 2
    assert "no zarr store" in capsys.readouterr().err
