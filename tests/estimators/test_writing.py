"""Values written to disk slice by slice: the same as in memory, whatever happens on the way."""

import contextlib
import errno
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import decisional as ds
from decisional.data import outputs, slices
from decisional.estimators import write_values as writing

RNG = np.random.default_rng(0)
SYMBOLS = ds.processes.even().simulate(3000, rng=1)
CAUSAL = ("labels", "local_complexity")
DECISIONAL = (
    *CAUSAL,
    "iso_prediction",
    "iso_utility",
    "local_prediction_complexity",
    "local_utility_complexity",
    "local_utility",
)


def gaps() -> list[Any]:
    symbols: list[Any] = SYMBOLS[:900].tolist()
    symbols[100] = symbols[450] = None
    return symbols


def signal_with_gaps() -> Any:
    values = np.round(np.sin(np.arange(400) / 9) + 0.1 * RNG.normal(size=400), 1)
    values[[40, 230]] = np.nan
    return values


FIELD = ds.processes.elementary_ca(110, width=40, steps=60, rng=1)
FILM = RNG.integers(0, 2, (14, 9, 8))
IMAGE = RNG.integers(0, 3, (24, 19))
SIGNAL = signal_with_gaps()
X, Z = RNG.integers(0, 4, 500), RNG.integers(0, 2, 500)
MISSING = np.where(np.arange(500) % 17 == 0, np.nan, Z)
OBSERVED = {
    "series": lambda **k: ds.observe.series(SYMBOLS, past=3, **k),
    "gaps": lambda **k: ds.observe.series(gaps(), past=3, **k),
    "several": lambda **k: ds.observe.series([SYMBOLS[:700], SYMBOLS[700:1000], SYMBOLS[1000:1002]], past=3, **k),
    "field": lambda **k: ds.observe.light_cones(FIELD, past=2, future=2, **k),
    "fields": lambda **k: ds.observe.light_cones([FIELD[:25], FIELD[25:]], past=2, future=2, **k),
    "open field": lambda **k: ds.observe.light_cones(FIELD, past=2, future=2, boundary="open", **k),
    "film": lambda **k: ds.observe.light_cones(FILM, past=1, future=2, **k),
    "image": lambda **k: ds.observe.image(IMAGE, **k),
    "mirrored": lambda **k: ds.observe.image(IMAGE, border="mirror", **k),
    "pairs": lambda **k: ds.observe.pairs(X, MISSING, **k),
    "delays": lambda **k: ds.observe.delays(SIGNAL, past=2, **k),
}


def fitted(name: str, **how: Any) -> ds.CausalStates:
    density = ds.Kernels(bandwidth=0.3) if name == "delays" else ds.Counts() if name in ("image", "mirrored") else None
    return ds.CausalStates(density=density).fit(OBSERVED[name](**how))


def expected(estimator: Any, values: str) -> Any:
    """What the output must be, from the estimator's own attributes, of observations in memory."""
    causal = getattr(estimator, "causal_", estimator)
    if values.startswith("iso"):
        found = getattr(estimator, values + "_").labels[causal.labels_]
    else:
        found = getattr(estimator, values + "_")
    grid = causal.observations_.field(found)
    return np.where(np.isnan(grid), -1, grid).astype(np.int32) if found.dtype.kind == "i" else grid


def same(path: Path, wanted: Any) -> None:
    if path.suffix == ".npy":
        found = np.load(path, mmap_mode="r")
    else:
        found = pytest.importorskip("zarr").open_array(path, mode="r")[...]
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    assert sorted(p.name for p in path.parent.iterdir() if p.name.startswith(path.name)) == [path.name]


@pytest.mark.parametrize("name", OBSERVED)
def test_as_in_memory_for_any_slicing(name: str, tmp_path: Path) -> None:
    whole = fitted(name)
    wanted = {values: expected(whole, values) for values in CAUSAL}
    rows = len(wanted["labels"])
    for chunks in (None, 1 if rows < 100 else 37, 11, 100, 10**6):
        causal = whole if chunks is None else fitted(name, chunks=chunks)
        for values in CAUSAL if chunks in (None, 100) else CAUSAL[:1]:
            ds.write_values(causal, tmp_path / "values.npy", values)
            same(tmp_path / "values.npy", wanted[values])


def test_all_values_of_decisional_states(tmp_path: Path) -> None:
    bet = ds.utility.table([[0, 0], [-3, 1]])
    whole = ds.DecisionalStates(bet).fit(fitted("gaps"))
    choice = ds.DecisionalStates(bet).fit(fitted("gaps", chunks=100))
    for values in DECISIONAL:
        for estimator in (whole, choice):
            ds.write_values(estimator, tmp_path / "values.npy", values)
            same(tmp_path / "values.npy", expected(whole, values))


def test_rows_of_an_array(tmp_path: Path) -> None:
    causal = ds.CausalStates().fit(X[:, None], MISSING)
    ds.write_values(causal, tmp_path / "labels.npy")
    same(tmp_path / "labels.npy", causal.labels_)


def test_memory_is_written_in_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    causal, lines = fitted("field"), []
    monkeypatch.setattr(writing, "SLICE", 7 * 40 * 4)
    ds.write_values(causal, tmp_path / "labels.npy", progress=lines.append)
    same(tmp_path / "labels.npy", expected(causal, "labels"))
    assert lines == [f"labels: {k} of 9 slices" for k in range(1, 10)]


@pytest.mark.parametrize("suffix", [".npy", ".zarr"])
@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_workers_write_themselves(pool: Any, suffix: str, tmp_path: Path) -> None:
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    path = tmp_path / f"labels{suffix}"
    wanted = expected(fitted("field"), "labels")
    np.save(tmp_path / "field.npy", FIELD)
    stored = np.load(tmp_path / "field.npy", mmap_mode="r")
    causal = ds.CausalStates().fit(ds.observe.light_cones(stored, past=2, future=2, chunks=10))
    with pool(2) as executor:
        ds.write_values(causal, path, executor=executor)
        same(path, wanted)
        # An earlier output is replaced.
        ds.write_values(causal, path, "local_complexity", executor=executor)
        same(path, expected(fitted("field"), "local_complexity"))


def test_dask_cluster(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    causal, wanted = fitted("field", chunks=10), expected(fitted("field"), "labels")
    how = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        ds.write_values(causal, tmp_path / "labels.npy", executor=client)
    same(tmp_path / "labels.npy", wanted)


@pytest.mark.parametrize("name", OBSERVED)
@pytest.mark.parametrize("chunks", [7, 100])
def test_zarr(name: str, chunks: int, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    path, whole = tmp_path / "values.zarr", fitted(name)
    chunks = chunks if whole.observations_.shape[0] < 100 else 9 * chunks
    causal = fitted(name, chunks=chunks)
    for values in CAUSAL:
        ds.write_values(causal, path, values)
        same(path, expected(whole, values))
    # One chunk for each slice, where these are alike.
    if name == "series":
        assert zarr.open_array(path, mode="r").chunks == (chunks,)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The first row of each slice that is computed."""
    begins: list[int] = []
    original = slices.values_on_grid

    def count(*args: Any) -> Any:
        begins.append(args[-1].begin)
        return original(*args)

    monkeypatch.setattr(slices, "values_on_grid", count)
    return begins


class Stop(Exception):
    pass


def stop_after(k: int) -> Any:
    def progress(line: str) -> None:
        if line.startswith(f"labels: {k} of"):
            raise Stop

    return progress


@pytest.mark.parametrize("suffix", [".npy", ".zarr"])
def test_goes_on_where_it_was(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    path = tmp_path / f"labels{suffix}"
    causal, wanted = fitted("field", chunks=5), expected(fitted("field"), "labels")
    parts = len(causal.observations_.parts)
    monkeypatch.setattr(writing, "map_slices", lambda chunk, parts, executor: map(chunk, parts))
    begins, lines = counted(monkeypatch), []
    with pytest.raises(Stop):
        ds.write_values(causal, path, progress=stop_after(4))
    assert not path.exists()
    assert len(begins) == 4
    ds.write_values(causal, path, progress=lines.append)
    assert len(begins) == len(set(begins)) == parts
    assert lines[:2] == [f"labels: 4 of {parts} slices were there", f"labels: 5 of {parts} slices"]
    same(path, wanted)


def test_another_model_data_or_slices_start_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, data = tmp_path / "labels.npy", tmp_path / "data.npy"
    np.save(data, SYMBOLS)

    def stored(chunks: int = 500, past: int = 3) -> ds.CausalStates:
        return ds.CausalStates().fit(ds.observe.series(np.load(data, mmap_mode="r"), past=past, chunks=chunks))

    def interrupted() -> None:
        with pytest.raises(Stop):
            ds.write_values(stored(), path, progress=stop_after(3))

    begins = counted(monkeypatch)
    for other in (lambda: stored(250), lambda: stored(past=2), lambda: fitted("series", chunks=500)):
        interrupted()
        begins.clear()
        causal = other()
        ds.write_values(causal, path)
        assert len(begins) == len(causal.observations_.parts)
    interrupted()
    os.utime(data, ns=(1, 1))
    begins.clear()
    ds.write_values(stored(), path)
    assert len(begins) == 6
    interrupted()
    (tmp_path / "labels.npy.part").write_bytes(b"short")
    begins.clear()
    ds.write_values(stored(), path)
    assert len(begins) == 6
    same(path, expected(fitted("series"), "labels"))


def test_a_line_that_was_cut_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, causal = tmp_path / "labels.npy", fitted("series", chunks=500)
    with pytest.raises(Stop):
        ds.write_values(causal, path, progress=stop_after(3))
    book = tmp_path / "labels.npy.journal"
    text = book.read_text()
    first, *others = map(json.loads, text.splitlines())
    assert first["shape"] == [3000]
    assert [line["slice"] for line in others] == [0, 1, 2]
    book.write_text(text[:-3])
    begins = counted(monkeypatch)
    ds.write_values(causal, path)
    assert sorted(begins) == [1000, 1500, 2000, 2500]
    same(path, expected(fitted("series"), "labels"))


SCRIPT = """
import os, pickle, signal, sys
import decisional as ds
from concurrent.futures import ProcessPoolExecutor

model, path, how, k = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
with open(model, "rb") as file:
    causal = pickle.load(file)
calls = 0

def die(*args):
    os.killpg(0, signal.SIGKILL)  # the workers too, which would wait for ever

def progress(line):
    if how != "inside" and line.startswith(f"labels: {k} of"):
        die()

def replace(self, target):
    global calls
    calls += 1
    return die() if calls > k else move(self, target)

if how == "inside" and path.endswith(".zarr"):  # a chunk is written, but has not its name yet
    from pathlib import Path
    move, Path.replace = Path.replace, replace
elif how == "inside":  # half a slice is written
    original = os.pwrite
    def pwrite(file, data, offset):
        global calls
        calls += 1
        if calls <= k:
            return original(file, data, offset)
        original(file, data[: len(data) // 2], offset)
        die()
    os.pwrite = pwrite
if how == "renamed":
    from decisional.data.outputs import Journal
    Journal.remove = lambda self: die() if os.path.exists(path) else None
executor = ProcessPoolExecutor(2) if how == "processes" else None
ds.write_values(causal, path, executor=executor, progress=progress)
"""


def killed(causal: ds.CausalStates, path: Path, how: str, k: int) -> None:
    model = path.with_suffix(".pickle")
    model.write_bytes(pickle.dumps(causal))
    command = [sys.executable, "-c", SCRIPT, str(model), str(path), how, str(k)]
    run = subprocess.run(command, check=False, capture_output=True, start_new_session=True, timeout=240)
    assert run.returncode == -signal.SIGKILL, run.stderr.decode()


def contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return {str(p.relative_to(path)): p.read_bytes() for p in files}


@pytest.mark.parametrize(
    ("how", "suffix", "k"),
    [
        ("outside", ".npy", 5),
        ("inside", ".npy", 8),
        ("processes", ".npy", 5),
        ("outside", ".zarr", 5),
        ("inside", ".zarr", 20),
    ],
)
def test_killed_while_writing(how: str, suffix: str, k: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGKILL: a restart computes what is missing, and every byte is that of a run without interruption."""
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    path, other = tmp_path / f"labels{suffix}", tmp_path / f"other{suffix}"
    np.save(tmp_path / "field.npy", FIELD)
    stored = np.load(tmp_path / "field.npy", mmap_mode="r")
    causal = ds.CausalStates().fit(ds.observe.light_cones(stored, past=2, future=2, chunks=4))
    parts = len(causal.observations_.parts)
    ds.write_values(causal, other)
    ds.write_values(causal, path, "local_complexity")
    earlier = contents(path)
    # Two threads may be ahead of the journal by a few slices.
    killed(causal, path, how, k)
    assert contents(path) == earlier
    assert Path(f"{path}.part").exists()
    written = len(Path(f"{path}.journal").read_text().splitlines()) - 1
    assert written == k if how != "inside" else 2 <= written < parts
    begins = counted(monkeypatch)
    ds.write_values(causal, path)
    assert len(begins) == parts - written
    assert contents(path) == contents(other)
    same(path, expected(fitted("field"), "labels"))


def test_killed_after_the_last_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, causal = tmp_path / "labels.npy", fitted("series", chunks=500)
    killed(causal, path, "renamed", 100)
    begins = counted(monkeypatch)
    ds.write_values(causal, path, overwrite=False)
    assert not begins
    same(path, expected(fitted("series"), "labels"))


def test_killed_between_two_folders(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    path, causal = tmp_path / "labels.zarr", fitted("series", chunks=500)
    ds.write_values(causal, path, "local_complexity")
    path.rename(tmp_path / "labels.zarr.earlier")
    with pytest.raises(FileExistsError, match="overwrite"):
        ds.write_values(causal, path, overwrite=False)
    same(path, expected(fitted("series"), "local_complexity"))


def test_a_worker_that_outlived_its_run_is_refused(tmp_path: Path) -> None:
    path, causal = tmp_path / "labels.npy", fitted("series", chunks=500)
    with pytest.raises(Stop):
        ds.write_values(causal, path, progress=stop_after(3))
    old = outputs.Journal(f"{path}.journal", Path(f"{path}.journal").read_text().splitlines()[0] + "\n")
    old.check()
    with pytest.raises(Stop):
        ds.write_values(fitted("series", chunks=300), path, progress=stop_after(3))
    with pytest.raises(RuntimeError, match="once at a time"):
        old.check()
    ds.write_values(causal, path)
    with pytest.raises(RuntimeError, match="once at a time"):
        old.check()


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a small disk may not be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("suffix", [".npy", ".zarr"])
def test_full_disk(suffix: str, tmp_path: Path) -> None:
    """One sentence, an earlier output as it was; with room again, it goes on."""
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    # As many states as values, at random: hardly to be compressed.
    x = RNG.integers(0, 4096, 400_000)
    small = ds.CausalStates(match="exact").fit(ds.observe.pairs(X, Z))
    causal = ds.CausalStates(match="exact").fit(ds.observe.pairs(x, x, chunks=50_000))
    folder = tmp_path / "disk"
    with small_disk(folder, "1500k"):
        path = folder / f"labels{suffix}"
        ds.write_values(small, path)
        before = contents(path)
        ballast = folder / "ballast"
        ballast.write_bytes(bytes(shutil.disk_usage(folder).free - 65_536))
        with pytest.raises(OSError, match=r"no room for .*labels.* bytes .*free some space") as caught:
            ds.write_values(causal, path)
        assert caught.value.errno == errno.ENOSPC
        assert contents(path) == before
        if suffix == ".npy":
            assert "1,600,128 bytes" in str(caught.value)
            assert sorted(os.listdir(folder)) == ["ballast", "labels.npy"]
        else:
            ballast.unlink()
            ds.write_values(causal, path)
            same(path, causal.labels_)


def test_disk_gets_full_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, causal, original, calls = tmp_path / "labels.npy", fitted("series", chunks=500), os.pwrite, []

    def pwrite(file: int, data: Any, offset: int) -> int:
        calls.append(offset)
        if len(calls) > 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return original(file, data[:100], offset)  # a system may write less than it was asked to

    ds.write_values(causal, path, "local_complexity")
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", pwrite)
        with pytest.raises(OSError, match="the slices written so far are kept and an earlier output is intact"):
            ds.write_values(causal, path)
    assert path.read_bytes() == before
    ds.write_values(causal, path)
    same(path, expected(fitted("series"), "labels"))


def test_without_reservation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Systems and disks that cannot reserve space: what is free counts."""
    path, causal = tmp_path / "labels.npy", fitted("series", chunks=500)
    monkeypatch.delattr(os, "posix_fallocate")
    ds.write_values(causal, path)
    same(path, expected(fitted("series"), "labels"))
    monkeypatch.setattr(outputs.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 10}))
    with pytest.raises(OSError, match="where 10 are free; nothing was written"):
        ds.write_values(causal, path, "local_complexity")
    same(path, expected(fitted("series"), "labels"))


def test_mode_and_links_are_kept(tmp_path: Path) -> None:
    path, link, causal = tmp_path / "labels.npy", tmp_path / "link.npy", fitted("series", chunks=500)
    path.write_bytes(b"earlier")
    path.chmod(0o640)
    link.symlink_to(path)
    ds.write_values(causal, link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    same(path, expected(fitted("series"), "labels"))


def test_hdf5_zarr_and_dask_sources(tmp_path: Path) -> None:
    h5py, zarr, dask = (pytest.importorskip(name) for name in ("h5py", "zarr", "dask.array"))
    wanted, path = expected(fitted("series"), "labels"), tmp_path / "labels.npy"
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["symbols"] = SYMBOLS
    zarr.create_array(store=tmp_path / "data.zarr", data=SYMBOLS, chunks=(400,))
    with h5py.File(tmp_path / "data.h5") as file:
        sources = [file["symbols"], zarr.open_array(tmp_path / "data.zarr", mode="r"), dask.from_array(SYMBOLS, 700)]
        for source in sources:
            causal = ds.CausalStates().fit(ds.observe.series(source, past=3, chunks=800))
            with pytest.raises(Stop):
                ds.write_values(causal, path, progress=stop_after(2))
            lines: list[str] = []
            ds.write_values(causal, path, progress=lines.append)
            assert lines[0] == f"labels: 2 of {len(causal.observations_.parts)} slices were there"
            same(path, wanted)
        with pytest.raises(ValueError, match="that of the data"):
            ds.write_values(ds.CausalStates().fit(ds.observe.series(sources[1], past=3)), tmp_path / "data.zarr")


def test_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    causal, path = fitted("series", chunks=500), tmp_path / "labels.npy"
    counts = ds.CausalStates().partial_fit(ds.observe.series(SYMBOLS, past=3))
    machine = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "group.zarr").mkdir()
    (tmp_path / "there.npy").touch()
    calls: list[tuple[type[Exception], list[str], Any]] = [
        (
            ValueError,
            ["'label'", "'labels', 'local_complexity':"],
            lambda: ds.write_values(causal, path, "label"),
        ),
        (ValueError, ["local_utility", "None"], lambda: ds.write_values(machine, path, None)),  # type: ignore[arg-type]
        (ValueError, ["'labels.txt'", ".npy or .zarr"], lambda: ds.write_values(causal, "labels.txt")),
        (ValueError, ["path", "3"], lambda: ds.write_values(causal, 3)),  # type: ignore[arg-type]
        (FileNotFoundError, ["no folder"], lambda: ds.write_values(causal, tmp_path / "none" / "labels.npy")),
        (IsADirectoryError, ["is a folder"], lambda: ds.write_values(causal, tmp_path / "folder.npy")),
        (FileExistsError, ["no zarr array"], lambda: ds.write_values(causal, tmp_path / "group.zarr")),
        (FileExistsError, ["overwrite"], lambda: ds.write_values(causal, tmp_path / "there.npy", overwrite=False)),
        (NotFittedError, ["not fitted", "call 'fit'"], lambda: ds.write_values(ds.CausalStates(), path)),
        (ValueError, ["machine", "CausalStates"], lambda: ds.write_values(machine, path)),
        (ValueError, ["only the counts", "chunks=..."], lambda: ds.write_values(counts, path)),
        (TypeError, ["EpsilonMachine"], lambda: ds.write_values(ds.processes.even(), path)),  # type: ignore[arg-type]
        (TypeError, ["progress=print"], lambda: ds.write_values(causal, path, progress=3)),  # type: ignore[arg-type]
    ]
    monkeypatch.setitem(sys.modules, "zarr", None)
    calls.append((ImportError, ["decisional[scale]", ".npy"], lambda: ds.write_values(causal, tmp_path / "a.zarr")))
    for kind, said, call in calls:
        with pytest.raises(kind) as caught:
            call()
        message = str(caught.value)
        assert all(word in message for word in said), message
        assert message[0].isupper()
        assert message.endswith(".")
        assert not re.search(r"\. [A-Z]", message), message
    assert sorted(os.listdir(tmp_path)) == ["folder.npy", "group.zarr", "there.npy"]
