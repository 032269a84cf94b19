"""Arrays on disk: sliced without being read, sent as references, cut along their chunks, and counted like those in
memory."""

import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decisional as ds
from decisional.data import stores
from decisional.data.slices import Sliced
from decisional.data.stores import cuts, is_stored, load, stored
from naive_tallies import equal, same_observations, same_states, seeds
from strategies_symbols import examples

VALUES = np.random.default_rng(0).integers(0, 3, (40, 6), dtype=np.int16)


def mapped(path, values, offset=0):
    """Write values after some other bytes, and map them."""
    path.write_bytes(bytes(offset) + values.tobytes())
    return np.memmap(path, values.dtype, "r", offset, values.shape)


def as_zarr(path, values, chunks=7):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(path, shape=values.shape, chunks=(chunks, *values.shape[1:]), dtype=values.dtype)
    array[...] = values
    return zarr.open_array(path, mode="r")


def as_hdf5(path, values, chunks=7):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        rows = min(chunks, len(values))
        file.create_dataset("some/values", data=values, chunks=(rows, *values.shape[1:]))
    return h5py.File(path, "r")["some/values"]


def as_dask(path, values, chunks=7):
    return pytest.importorskip("dask.array").from_array(values, chunks=(chunks, *(-1,) * (values.ndim - 1)))


def as_xarray(path, values, chunks=7):
    xarray = pytest.importorskip("xarray")
    return xarray.DataArray(as_dask(path, values, chunks), dims=[f"d{k}" for k in range(values.ndim)])


WAYS = {"memmap": mapped, "zarr": as_zarr, "hdf5": as_hdf5, "dask": as_dask, "xarray": as_xarray}
ways = pytest.mark.parametrize("way", WAYS)


@pytest.fixture
def small_maps(monkeypatch):
    """Memory maps of any size are read slice by slice."""
    monkeypatch.setattr(stores, "LARGE", 0)


# ---------------------------------------------------------------------------------------------- references


@ways
def test_what_is_stored_is_sliced_and_read_like_an_array(way, tmp_path, small_maps):
    array = WAYS[way](tmp_path / "values", VALUES)
    assert is_stored(array)
    reference = stored(array)
    assert (reference.shape, reference.ndim, reference.dtype) == (VALUES.shape, 2, VALUES.dtype)
    assert (len(reference), reference.size, reference.nbytes) == (40, VALUES.size, VALUES.nbytes)
    equal(load(reference), VALUES)
    for key in (slice(3, 9), slice(-5, None), slice(None, -38), slice(9, 3), slice(50, 60), slice(-99, 99)):
        equal(load(reference[key]), VALUES[key])
        assert reference[key].shape == VALUES[key].shape
    equal(load(reference[5:30][3:-4][1:]), VALUES[5:30][3:-4][1:])


@pytest.mark.parametrize("way", ["memmap", "zarr", "hdf5"])
def test_what_is_stored_is_sent_as_a_reference(way, tmp_path, small_maps, monkeypatch):
    values = np.zeros((200_000, 2), np.int32)
    values[1234] = 5, 6
    part = stored(WAYS[way](tmp_path / "values", values, *[20_000] * (way != "memmap")))[1230:1240]
    sent = pickle.dumps(part)
    assert len(sent) < 2000
    monkeypatch.chdir("/")
    again = pickle.loads(sent)
    equal(load(again), values[1230:1240])
    assert load(again).flags.owndata or way == "memmap"


def test_relative_paths_are_found_from_anywhere(tmp_path, small_maps, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts = [stored(mapped(Path("map"), VALUES)), stored(as_hdf5("file.h5", VALUES)), stores.text("map")]
    monkeypatch.chdir("/")
    equal(load(parts[0]), VALUES)
    equal(load(parts[1]), VALUES)
    assert load(parts[2]) == VALUES.tobytes()


@pytest.mark.small
@examples(60, small=20)
@given(offset=st.sampled_from([0, 1, 16, 4096, 5003]), first=st.integers(0, 40), last=st.integers(0, 40), seed=seeds)
def test_parts_of_memory_maps_begin_where_they_should(offset, first, last, seed, tmp_path_factory):
    path = tmp_path_factory.mktemp("maps") / "map"
    whole = mapped(path, seed.integers(0, 99, (40, 3)).astype(np.int32), offset)
    expected = np.array(whole)
    part = whole[first:last]
    for view, wanted in (
        (part, expected[first:last]),
        (part[1:], expected[first:last][1:]),
        (whole.reshape(-1)[7:50], expected.reshape(-1)[7:50]),
        (whole[4:30].view(np.int16), expected[4:30].view(np.int16)),
    ):
        if view.size:
            equal(load(stored(view)), wanted)
            equal(load(pickle.loads(pickle.dumps(stored(view)))), wanted)


@pytest.mark.small
def test_what_is_not_as_in_the_file_is_in_memory(tmp_path):
    whole = mapped(tmp_path / "map", VALUES)
    assert stored(whole.T) is stored(whole[::2]) is stored(whole[:, :3]) is stored(whole + 1) is None
    assert stored(np.asarray(whole)) is stored(VALUES) is stored([1, 2]) is stored("ab") is None
    changed = np.memmap(tmp_path / "map", VALUES.dtype, "c", shape=VALUES.shape)
    changed[0] = 99
    assert stored(changed) is None
    assert not is_stored(whole), "small maps are read as a whole"


def test_hdf5_in_memory_is_read_as_it_is():
    h5py = pytest.importorskip("h5py")
    with h5py.File("nowhere.h5", "w", driver="core", backing_store=False) as file:
        dataset = file.create_dataset("values", data=VALUES)
        assert stored(dataset) is None
        obs = ds.observe.light_cones(dataset, past=1, future=2, chunks=7)
        same_observations(ds.observe.light_cones(VALUES, past=1, future=2), obs)


def test_steps_are_refused(tmp_path):
    with pytest.raises(ValueError, match="in steps of 2; only runs"):
        stored(mapped(tmp_path / "map", VALUES))[::2]


# ---------------------------------------------------------------------------------------------------- cuts


class Chunked:
    """Rows in chunks of a store that begins before them."""

    def __init__(self, chunk, first):
        self.chunk, self.first = chunk, first


@pytest.mark.small
@examples(200)
@given(
    st.integers(0, 50), st.integers(0, 60), st.integers(1, 30), st.integers(1, 12), st.integers(0, 20)
)  # fmt: skip
def test_cuts_cover_and_keep_to_chunks(begin, size, rows, chunk, first):
    end = begin + size
    found = cuts(Chunked(chunk, first), begin, end, rows)
    assert [k for a, b in found for k in range(a, b)] == list(range(begin, end))
    assert all(0 < b - a <= rows for a, b in found)
    if chunk <= rows:
        assert all((first + b) % chunk == 0 for _, b in found[:-1])
    # No more ranges than needed: one more for each end that is not at a border of chunks.
    assert len(found) <= size // (rows // chunk * chunk or rows) + 2


@examples(60)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(1, 30), st.data())
def test_cuts_keep_to_uneven_chunks(sizes, rows, data):
    array = pytest.importorskip("dask.array").zeros((sum(sizes), 2), chunks=(tuple(sizes), 2))
    begin = data.draw(st.integers(0, sum(sizes)))
    end = data.draw(st.integers(begin, sum(sizes)))
    found = cuts(array, begin, end, rows)
    assert [k for a, b in found for k in range(a, b)] == list(range(begin, end))
    assert all(0 < b - a <= rows for a, b in found)
    if max(sizes) <= rows:
        edges = set(np.cumsum([0, *sizes]).tolist())
        assert all(b in edges for _, b in found[:-1])


# ------------------------------------------------------------------------------------------------ counting

SYMBOLS = ds.processes.even().simulate(600, rng=3).astype(np.uint8)
FIELD = np.random.default_rng(4).integers(0, 2, (60, 8)).astype(np.int16)
IMAGE = np.random.default_rng(5).integers(0, 3, (30, 12)).astype(np.uint8)
SIGNAL = np.sin(np.arange(300) ** 1.3)
OBSERVED = {
    "series": (SYMBOLS, partial(ds.observe.series, past=4, future=2)),
    "field": (FIELD, partial(ds.observe.light_cones, past=2, future=2, transitions="time")),
    "image": (IMAGE, partial(ds.observe.image, neighbourhood="3x3", border="mirror")),
    "signal": (SIGNAL, partial(ds.observe.delays, past=2)),
    "pairs": (FIELD[:, :2], lambda x, **more: ds.observe.pairs(x, FIELD[:, 2], **more)),
}


@ways
@pytest.mark.parametrize("chunks", [None, 5, 23])
@pytest.mark.parametrize("kind", OBSERVED)
def test_what_is_stored_counts_like_what_is_in_memory(way, kind, chunks, tmp_path, small_maps):
    values, observe = OBSERVED[kind]
    array = WAYS[way](tmp_path / "values", values)
    obs = observe(array, chunks=chunks)
    assert isinstance(obs, Sliced)
    same_observations(observe(values), obs)


@ways
@pytest.mark.parametrize("kind", ["series", "field", "image", "signal"])
def test_several_files_are_one_data_set(way, kind, tmp_path, small_maps):
    values, observe = OBSERVED[kind]
    parts = [values[:17], values[17:22], values[22:]]
    arrays = [WAYS[way](tmp_path / f"values{k}", part) for k, part in enumerate(parts)]
    obs = observe(arrays)
    assert isinstance(obs, Sliced)
    same_observations(observe(parts), obs)


def test_rows_of_a_stored_array_are_series(tmp_path, small_maps):
    table = SYMBOLS.reshape(30, 20)
    obs = ds.observe.series(mapped(tmp_path / "map", table), past=3, chunks=7)
    same_observations(ds.observe.series(table, past=3), obs)
    assert obs.shape == (30, 20)


@pytest.mark.parametrize("chunks", [None, 7, 400])
def test_text_files_are_characters(chunks, tmp_path):
    text = "".join("ab c\n"[k] for k in np.random.default_rng(6).integers(0, 5, 1000))
    (tmp_path / "text").write_text(text)
    obs = ds.observe.series(stores.text(tmp_path / "text"), past=3, missing="\n", chunks=chunks)
    # White space of all kinds ends a line.
    whole = ds.observe.series(text.replace(" ", "\n"), past=3, missing="\n")
    assert isinstance(obs, Sliced)
    same_observations(whole, obs)
    same_states(ds.CausalStates().fit(whole), ds.CausalStates().fit(obs))


COUNT = """
import sys
import numpy as np
import decisional as ds

def private():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon")) / 1024

path, chunks, large = sys.argv[1], eval(sys.argv[2]), int(sys.argv[3])
from decisional.data import stores
stores.LARGE = large
symbols = np.memmap(path, np.uint8, "r")
obs = ds.observe.series(symbols, past=8, chunks=chunks)
import threading, time
most, done = 0, False
def watch():
    global most
    while not done:
        most = max(most, private())
        time.sleep(0.01)
watcher = threading.Thread(target=watch)
watcher.start()
table = obs.table()
done = True
watcher.join()
print(type(obs).__name__, int(table.count.sum()), most)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize(("chunks", "large"), [(None, 1 << 40), (None, 0), (10_000_000, 0)])
def test_counting_a_memory_map_takes_little_memory(chunks, large, big_map):
    command = [sys.executable, "-c", COUNT, str(big_map), str(chunks), str(large)]
    kind, n, most = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert kind == ("CodedWindows" if large else "Sliced")
    assert int(n) == 200_000_000 - 8
    assert float(most) < 600


@pytest.fixture(scope="module")
def big_map(tmp_path_factory):
    path = tmp_path_factory.mktemp("big") / "map"
    block = np.random.default_rng(7).integers(0, 2, 2_000_000, dtype=np.uint8).tobytes()
    with path.open("wb") as file:
        for _ in range(100):
            file.write(block)
    yield path
    path.unlink()
