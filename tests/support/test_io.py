"""Reading symbols and writing whole files."""

import bz2
import gzip
import io as buffers
import lzma
import os
import stat
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import decisional as ds
from decisional import observe, processes
from decisional.data import stores
from decisional.data.text import map_symbols, read_symbols
from decisional.support import files as io


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "symbols.txt"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"0110\n", ["0110"]),
        (b"0110", ["0110"]),
        (b"  0110  \n\n10\n", ["0110", "10"]),
        (b"\xef\xbb\xbf0110\r\n101\r\n", ["0110", "101"]),
        (b"01\r10\r", ["01", "10"]),
        (b"# comment, with words\n01\n#x\n", ["01"]),
        ("αβα\n".encode(), ["αβα"]),
        (b"0 1\t10\n", [["0", "1", "10"]]),
        (b"up, down,up,\n", [["up", "down", "up"]]),
        (b"up,\n", [["up"]]),
        (b"a b\nc\n", [["a", "b"], ["c"]]),
        (b"c\na b\n", [["c"], ["a", "b"]]),
    ],
)
def test_formats(file: Path, content: bytes, expected: list[object]) -> None:
    file.write_bytes(content)
    assert read_symbols(file) == expected
    assert read_symbols(str(file)) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no symbols"),
        (b"\n \n# only a comment\n", "has no symbols"),
        (b"01\x0001", "NUL byte at offset 2"),
        (b"01\xff1", "byte 0xff at offset 2"),
        (b"a,,b\n", "Line 1 of the file .* has an empty field"),
        (b",a\n", "empty field"),
        (b",\n", "empty field"),
        (b"a b\nsunny\n", "Line 2 of the file .* has no space or comma but line 1 has"),
    ],
)
def test_refused(file: Path, content: bytes, message: str) -> None:
    file.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_symbols(file)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.txt' does not exist"):
        read_symbols(tmp_path / "none.txt")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_symbols(tmp_path)


@pytest.mark.parametrize("binary", [True, False])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, binary: bool) -> None:
    stream = buffers.TextIOWrapper(buffers.BytesIO(b"0110\n")) if binary else buffers.StringIO("0110\n")
    monkeypatch.setattr(sys, "stdin", stream)
    assert read_symbols("-") == ["0110"]


def test_large_file_is_read_without_a_list(file: Path) -> None:
    file.write_bytes((np.random.default_rng(1).integers(2, size=10_000_000, dtype=np.uint8) + 48).tobytes())
    fastest = np.inf
    for _ in range(3):
        begin = time.perf_counter()
        series = read_symbols(file)
        fastest = min(fastest, time.perf_counter() - begin)
    assert isinstance(series[0], str)
    assert len(series[0]) == 10_000_000
    assert fastest < 0.5


@pytest.mark.parametrize(
    "content",
    [
        b"0110110010\n",
        b"0110110010",
        b"\xef\xbb\xbf# caf\xc3\xa9, au lait\n  0110110010 \r\n\n \n#x\n110101\n0\n",
        b"# many lines\n" + b"0110\r\n" * 1200 + b"# others\n\t10\n011 \n",
        b"#\n" * 3 + b"a#b#\n" * 1001 + b"#",
    ],
)
def test_mapped_symbols_are_those_that_are_read(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    series, mapped = read_symbols(file), map_symbols(file)
    assert mapped is not None
    lengths = [len(item) for item in series]
    assert (mapped.n_symbols, mapped.n_series, mapped.longest) == (sum(lengths), len(lengths), max(lengths))
    whole = observe.series(series, past=2, sequences=True)
    for chunks in (1, 3, 1000, None):
        sliced = observe.series(mapped.parts, past=2, missing=mapped.missing, chunks=chunks)
        assert sliced.letters == whole.letters
        for name in ("start", "outcome", "count"):
            np.testing.assert_array_equal(getattr(sliced.table(), name), getattr(whole.table(), name))
    if mapped.missing is None:
        assert [stores.load(part).decode() for part in mapped.parts] == series


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"# comment\n",
        b"0 1\n",
        b"01\n0,1\n",
        "αβ\n".encode(),
        b"0\x001\n",
        b"0\r1\n",
        b"#\n" * 1001 + b"01\n",
    ],
)
def test_what_cannot_be_mapped(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert map_symbols(file) is None
    assert map_symbols(file.parent) is None
    assert map_symbols("-") is None


def test_write_replaces_whole_files(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    io.write_text(path, "α\n")
    assert path.read_bytes() == b"\xce\xb1\n"
    io.write_bytes(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failure_keeps_the_earlier_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    path = tmp_path / "out.txt"
    io.write_text(path, "earlier")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="disk full"):
        io.write_text(path, "later")
    assert path.read_text() == "earlier"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "out.txt", tmp_path / "link.txt"
    io.write_text(path, "one")
    path.chmod(0o640)
    link.symlink_to(path)
    io.write_text(link, "two")
    assert link.is_symlink()
    assert path.read_text() == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_write_refusals(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder"):
        io.write_text(tmp_path, "x")
    with pytest.raises(FileNotFoundError, match="create the folder first"):
        io.write_text(tmp_path / "none" / "x.txt", "x")


def test_write_to_a_device() -> None:
    io.write_text(os.devnull, "x")
    assert not Path(os.devnull).is_file()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors of Linux")
def test_open_files_are_written_to_where_they_stand(tmp_path: Path) -> None:
    path, link = tmp_path / "log.txt", tmp_path / "link"
    path.write_text("earlier\n")
    with path.open("ab") as file:
        for name in (f"/dev/fd/{file.fileno()}", f"/proc/self/fd/{file.fileno()}", str(link)):
            link.unlink(missing_ok=True)
            link.symlink_to(f"/dev/fd/{file.fileno()}")
            io.write_text(name, "more\n")
        assert not file.closed
    # Neither replaced nor begun anew.
    assert path.read_text() == "earlier\nmore\nmore\nmore\n"
    first, second = os.pipe()
    io.write_text(f"/dev/fd/{second}", "piped")
    assert os.read(first, 9) == b"piped"
    os.close(first)
    with pytest.raises(OSError, match="is a pipe that is no longer read"):
        io.write_text(f"/dev/fd/{second}", "piped")
    os.close(second)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert io.descriptor(str(loop)) is None


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_what_a_pipe_said_is_kept(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert io.is_channel(str(pipe))
    assert not io.is_channel(str(tmp_path))
    assert not io.is_channel(str(tmp_path / "none"))
    for said in (b"one", b"two"):
        with ThreadPoolExecutor(1) as pool, io.channels_kept():
            pool.submit(pipe.write_bytes, said)
            assert io.read_bytes(pipe) == said
            with io.channels_kept():
                assert io.read_bytes(pipe) == said


TEXT = "a,été\nb,c\n"


@pytest.mark.parametrize("packed", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("size", [1, 3, 1 << 16])
def test_text_as_it_comes(file: Path, size: int, packed: Callable[[bytes], bytes]) -> None:
    contents = [TEXT.encode(), TEXT.replace("\n", "\r\n").encode("utf-8-sig"), TEXT.replace("\n", "\r").encode()]
    for content in [*contents, TEXT.encode("utf-16")] if packed is bytes else contents:
        file.write_bytes(packed(content))
        assert "".join(io.text_stream(str(file), size)) == TEXT


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a\xff", "is not UTF-8 text"),
        (b"a\xc3", "is not UTF-8 text"),
        (b"a\0b", "NUL byte"),
        (gzip.compress(b"0" * 99, mtime=0)[:-9], "is compressed by gzip and damaged"),
        (lzma.compress(b"0" * 99)[:-9], "is compressed by lzma and damaged"),
        (b"\x1f\x8b nothing", "is compressed by gzip and damaged"),
    ],
)
def test_what_is_no_text_as_it_comes(file: Path, content: bytes, said: str) -> None:
    file.write_bytes(content)
    with pytest.raises(ValueError, match=said):
        list(io.text_stream(str(file), 8))


def test_files_that_change_while_they_are_read(file: Path) -> None:
    file.write_text("0" * 100_000)
    text = io.text_stream(str(file), 50_000)
    next(text)
    file.write_text("1")
    with pytest.raises(ValueError, match="was cut to 1 bytes while it was read"):
        list(text)
    file.write_text("0" * 100)
    text = io.text_stream(str(file), 60)
    assert next(text) == "0" * 60
    with file.open("a") as more:
        more.write("1")
    io.write_text(file, "2" * 200)
    with pytest.warns(UserWarning, match="was replaced or removed while it was read"):
        # What was opened is read to its end.
        assert "".join(text) == "0" * 40 + "1"


def test_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(OSError, match="The standard input is closed"):
        io.read_text("-")
    with pytest.raises(OSError, match="The standard input is closed"):
        next(io.text_stream("-", 8))
    monkeypatch.setattr(sys, "stdin", buffers.StringIO("01\n"))
    assert "".join(io.text_stream("-", 8)) == "01\n"
    with pytest.raises(FileNotFoundError, match="does not exist"):
        next(io.text_stream("none.txt", 8))


def _machine(path: Path) -> None:
    processes.even().save(path)


def _monitor(path: Path) -> None:
    ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(processes.even())).save(path)


def _values(path: Path) -> None:
    ds.write_values(ds.CausalStates().fit(observe.series("0110" * 100, past=2, chunks=150)), path)


def _report(path: Path) -> None:
    ds.report.write(path, title="Even", asked={}, command="", machine=processes.even())


def _picture(path: Path) -> None:
    figure = Figure(figsize=(1, 1))
    FigureCanvasAgg(figure)
    ds.plot.save(figure, path)


WRITERS = {".json": _machine, ".JSON": _monitor, ".npy": _values, ".html": _report, ".png": _picture}
writers = pytest.mark.parametrize("suffix", WRITERS, ids=["machine", "monitor", "write_values", "report", "plot"])


@writers
def test_links_are_followed_and_modes_kept(tmp_path: Path, suffix: str) -> None:
    path, link = tmp_path / f"out{suffix}", tmp_path / "links" / f"link{suffix}"
    link.parent.mkdir()
    path.write_bytes(b"earlier")
    path.chmod(0o600)
    link.symlink_to(path)
    WRITERS[suffix](link)
    assert link.is_symlink()
    assert path.stat().st_size > 20
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path / "links") == [link.name]
    assert sorted(os.listdir(tmp_path)) == ["links", path.name]


@writers
def test_pipes_are_written_to(tmp_path: Path, suffix: str) -> None:
    path, pipe = tmp_path / f"out{suffix}", tmp_path / f"pipe{suffix}"
    WRITERS[suffix](path)
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        WRITERS[suffix](pipe)
        assert len(read.result()) == path.stat().st_size
    assert pipe.is_fifo()
    assert sorted(os.listdir(tmp_path)) == [path.name, pipe.name]


@writers
def test_several_threads_write_one_path(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    WRITERS[suffix](path)
    whole = path.read_bytes()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(WRITERS[suffix], [path] * (40 if suffix.lower() == ".json" else 8)))
    assert path.read_bytes() == whole
    assert os.listdir(tmp_path) == [path.name]


@writers
@pytest.mark.parametrize("letter", ["a", "😀"])
def test_names_as_long_as_a_folder_holds(tmp_path: Path, suffix: str, letter: str) -> None:
    room = 255 - len(suffix)
    path = tmp_path / (letter * (room // len(letter.encode())) + suffix)
    for _ in range(2):
        WRITERS[suffix](path)
    assert os.listdir(tmp_path) == [path.name]


@writers
def test_content_is_on_disk_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path, steps = tmp_path / f"out{suffix}", []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: steps.append("fsync") or fsync(file))
    monkeypatch.setattr(os, "replace", lambda *paths: steps.append("replace") or replace(*paths))
    WRITERS[suffix](path)
    assert steps.count("replace") == 1
    place = steps.index("replace")
    assert "fsync" in steps[:place]
    assert steps[place + 1] == "fsync"


@pytest.mark.parametrize("path", ["", ".", "./", "inner/.."])
def test_no_file_takes_the_place_of_a_folder(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The empty path is that of the working folder to the system: it must not be replaced with all that is in it."""
    work = tmp_path / "work"
    (work / "inner").mkdir(parents=True)
    (work / "kept.txt").write_text("kept")
    monkeypatch.chdir(work)
    for save in (io.write_bytes, lambda name, data: ds.processes.even().save(name)):
        with pytest.raises((ValueError, IsADirectoryError)):
            save(path, b"data")
    (tmp_path / "part").write_text("part")
    with pytest.raises(IsADirectoryError):
        io.replace(str(tmp_path / "part"), str(work))
    assert (work / "kept.txt").read_text() == "kept"
