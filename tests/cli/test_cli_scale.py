"""The command line beyond memory and beyond one machine: slices, several files, labels on disk and clusters."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decisional import EpsilonMachine, cli, processes
from decisional.cli import symbol_command
from decisional.support import cluster
from interruption import listening

EVEN = EpsilonMachine([("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "1", "A", 1.0)])
CELLS = processes.elementary_ca(110, 40, 80, 1)[10:].astype(np.int32)
PAGE = "the first"


def run(*arguments: object) -> int:
    return cli.main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of all kinds, the same data in each."""
    folder = tmp_path_factory.mktemp("scale")
    text = "".join(EVEN.simulate(20_000, rng=1).tolist())
    (folder / "even.txt").write_text(text + "\n")
    (folder / "first.txt").write_text("# a comment, with words\n" + text[:8_000] + " \r\n")
    (folder / "second.txt").write_text(text[8_000:])
    (folder / "both.txt").write_text(f"{text[:8_000]}\n{text[8_000:]}\n")
    (folder / "lines.txt").write_text("".join(f"{text[k : k + 10]}\n" for k in range(0, 20_000, 10)))
    (folder / "words.txt").write_text(" ".join(text))
    np.save(folder / "even.npy", np.array(list(text), np.uint8))
    np.save(folder / "field.npy", CELLS)
    np.save(folder / "later.npy", CELLS[:30])
    rng = np.random.default_rng(1)
    np.save(folder / "wave.npy", np.sin(np.arange(300) / 3) + 0.1 * rng.normal(size=300))
    np.save(folder / "disc.npy", np.arange(576).reshape(24, 24) // 60 * 20)
    np.save(folder / "narrow.npy", CELLS[:, :30])
    np.save(folder / "floats.npy", rng.random((20, 20)))
    return folder


@pytest.fixture(autouse=True)
def _inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def results(tmp_path: Path, *arguments: object) -> tuple[dict[str, Any], Any]:
    """Summary and labels."""
    out = tmp_path / "result.json", tmp_path / "labels.npy"
    assert run(*arguments, "--json", out[0], "--labels", out[1], "--quiet") == 0
    content = json.loads(out[0].read_text())
    return {name: content[name] for name in content if name not in ("file", "files")}, np.load(out[1])


@pytest.mark.parametrize(
    ("whole", "sliced"),
    [
        ("symbols even.txt --past 5", "symbols even.txt --past 5 --chunks 700"),
        ("symbols both.txt --past 5", "symbols first.txt second.txt --past 5 --chunks 999"),
        ("symbols both.txt --past 5", "symbols first.txt second.txt --past 5"),
        ("symbols words.txt --past 3 --future 2", "symbols words.txt --past 3 --future 2 --chunks 700"),
        ("symbols even.npy --past 4", "symbols even.npy --past 4 --chunks 1000"),
        ("field field.npy --match exact", "field field.npy --match exact --chunks 9"),
        ("field field.npy later.npy", "field field.npy later.npy --chunks 16"),
        ("image disc.npy", "image disc.npy --chunks 5"),
        ("image disc.npy disc.npy --passes 1", "image disc.npy disc.npy --passes 1 --chunks 7"),
        ("signal wave.npy --past 2", "signal wave.npy --past 2 --chunks 50"),
        ("signal wave.npy wave.npy --past 2", "signal wave.npy wave.npy --past 2 --chunks 77"),
    ],
)
def test_slices_change_nothing(tmp_path: Path, whole: str, sliced: str) -> None:
    expected, labels = results(tmp_path, *whole.split())
    found, again = results(tmp_path, *sliced.split())
    assert found == expected
    np.testing.assert_array_equal(again, labels)


def test_many_lines_and_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / name for name in ("a.json", "b.json", "c.json")]
    assert run("symbols", "lines.txt", "--past", 4, "--json", paths[0], "--quiet") == 0
    assert run("symbols", "lines.txt", "--past", 4, "--json", paths[1], "--quiet", "--chunks", 1234) == 0
    monkeypatch.setattr(symbol_command, "LARGE", 1000)
    report = tmp_path / "report.html"
    assert run("symbols", "lines.txt", "--past", 4, "--json", paths[2], "--quiet", "--report", report) == 0
    assert paths[0].read_bytes() == paths[1].read_bytes() == paths[2].read_bytes()
    assert "20,000 symbols in 2,000 series" in report.read_text()
    # Labels have no place for line ends: the file is read at once.
    _, labels = results(tmp_path, "symbols", "lines.txt", "--past", 4)
    assert labels.shape == (20_000,)


def test_files_that_are_not_read_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zarr, h5py = pytest.importorskip("zarr", minversion="3"), pytest.importorskip("h5py")
    expected, labels = results(tmp_path, "field", "field.npy")
    zarr.create_array(str(tmp_path / "field.zarr"), data=CELLS, chunks=(8, 40))
    gaps = np.where(np.arange(40) == 3, -9, CELLS)
    with h5py.File(tmp_path / "field.h5", "w") as file:
        file["deep/cells"] = CELLS
        file["gaps"] = gaps
        file["gaps"].attrs["_FillValue"] = np.int32(-9)
        file["turned"] = CELLS.T
        file["turned"].dims[1].label = "time"
        file["line"] = CELLS[:, 0]
    for path in ("field.zarr", "field.h5:/deep/cells", "field.h5:/turned"):
        for options in ([], ["--chunks", 9]):
            found, again = results(tmp_path, "field", tmp_path / path, *options)
            assert found == expected
            np.testing.assert_array_equal(again, labels)
    once = results(tmp_path, "field", tmp_path / "field.h5", "--variable", "gaps")
    parts = results(tmp_path, "field", tmp_path / "field.h5", "--variable", "gaps", "--chunks", 9)
    assert once[0] == parts[0]
    np.testing.assert_array_equal(once[1], parts[1])
    assert (parts[1][:, 3] == -1).all()
    assert run("symbols", tmp_path / "field.h5", "--past", 2, "--chunks", 9) == 0
    capsys.readouterr()
    assert run("field", tmp_path / "field.h5") == 2
    assert "'deep/cells', 'gaps', 'turned': choose one with --variable" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "symbols first.txt second.txt --past 4 --chunks 500",
        "symbols words.txt --past 3 --chunks 700",
        "field field.npy later.npy --chunks 9",
        "image disc.npy --chunks 5",
        "signal wave.npy --past 1 --chunks 50",
    ],
)
def test_reports_and_pictures_of_slices(tmp_path: Path, line: str) -> None:
    pytest.importorskip("matplotlib")
    page, picture = tmp_path / "report.html", tmp_path / "picture.svg"
    assert run(*line.split(), "--quiet", "--report", page, "--plot", picture) == 0
    text = page.read_text()
    assert "as the data were read slice by slice; the states come from all of them" in text
    assert 'id="along-title"' in text or "<h2" in text
    assert picture.stat().st_size > 1000


def test_labels_go_on_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from decisional.data import outputs

    line = ["symbols", "even.txt", "--past", "4", "--chunks", "2000", "--quiet", "--labels", str(tmp_path / "l.npy")]
    assert cli.main(line) == 0
    expected = np.load(tmp_path / "l.npy")
    (tmp_path / "l.npy").unlink()
    write, calls = outputs.Npy.write, []

    def stop(self: Any, begin: int, rows: Any) -> None:
        calls.append(begin)
        if len(calls) == 5:
            raise KeyboardInterrupt
        write(self, begin, rows)

    monkeypatch.setattr(outputs.Npy, "write", stop)
    assert cli.main(line) == 130
    assert not (tmp_path / "l.npy").exists()
    assert cli.main(line) == 0
    assert len(calls) < 5 + 10
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), expected)
    assert os.listdir(tmp_path) == ["l.npy"]


def test_labels_in_zarr(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr", minversion="3")
    _, labels = results(tmp_path, "field", "field.npy", "--chunks", 9)
    for _ in range(2):
        assert run("field", "field.npy", "--chunks", 9, "--labels", tmp_path / "labels.zarr", "--quiet") == 0
        np.testing.assert_array_equal(zarr.open_array(str(tmp_path / "labels.zarr"), mode="r")[:], labels)


WRONG = [
    ("symbols even.txt --past 4 --chunks 0", "--chunks must be an integer of at least 1"),
    ("symbols even.txt --past 4 --chunks many", "--chunks must be an integer"),
    ("symbols even.txt --chunks 100", "--chunks has no meaning with --past auto"),
    ("symbols even.txt --cluster local", "this machine compares many lengths of the past: give --past too"),
    ("symbols even.txt --labels labels.npy", "--labels has no meaning with --past auto"),
    ("symbols even.txt --past 4 --cluster here", "--cluster must be 'local' or the address"),
    ("symbols even.txt --past 4 --cluster tcp://host", "such as tcp://host:8786. Got 'tcp://host' instead"),
    ("symbols even.txt --past 4 --labels labels.txt", "--labels must end in .npy or .zarr or .csv"),
    ("field field.npy --labels labels.csv", "--labels must end in .npy or .zarr"),
    ("symbols even.txt --past 4 --labels none/labels.npy", "--labels 'none/labels.npy' does not exist"),
    ("symbols lines.txt --past 4 --chunks 100 --labels labels.npy", "labels of 2,000 lines"),
    ("symbols even.txt none.txt --past 4 --chunks 100", "'none.txt' does not exist"),
    ("symbols even.txt even.npy --past 4", "'even.txt' is text and others are arrays"),
    ("symbols even.npy --past 4 --column 1", "--column is for text"),
    ("symbols even.txt --past 4 --variable a", "--variable is for"),
    ("symbols field.npy --past 4", "symbols are integers along one axis"),
    ("symbols even.txt --past 30000 --chunks 100", "needs at least 30001"),
    ("field field.npy narrow.npy", "(70, 40) and (70, 30); all but the first axis"),
    ("field field.npy --chunks 5 --key a", "--key is for"),
    ("image even.npy --chunks 5", "a grey level for each pixel"),
    ("signal field.npy", "a signal has numbers along one axis"),
    ("signal wave.npy --column a", "--column is for tables"),
    ("signal wave.npy --past 900 --chunks 50", "no observation"),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str], line: str, message: str) -> None:
    before = sorted(os.listdir(folder))
    assert cli.main(line.split()) == 2
    shown, errors = capsys.readouterr()
    assert shown == ""
    assert errors.startswith("decisional: ")
    assert errors.count("\n") == 1
    assert message in errors
    assert sorted(os.listdir(folder)) == before


def test_without_dask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    for line in ("symbols even.txt --past 4", "field field.npy", "image disc.npy", "signal wave.npy --past 1"):
        assert cli.main([*line.split(), "--cluster", "local"]) == 2
        assert capsys.readouterr().err.endswith("is not installed: pip install 'decisional[scale]'.\n")


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "decisional", *map(str, arguments)]


@pytest.fixture(scope="module")
def scheduler(folder: Path) -> Any:
    """A cluster of one worker, as elsewhere."""
    distributed = pytest.importorskip("distributed")
    import logging

    how = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    with distributed.LocalCluster(**how) as cluster:
        yield cluster


def test_cluster_at_an_address(scheduler: Any, tmp_path: Path) -> None:
    for line in ("symbols both.txt --past 5", "field field.npy", "image disc.npy", "signal wave.npy --past 2"):
        expected, labels = results(tmp_path, *line.split())
        where = ["--cluster", scheduler.scheduler_address, "--chunks", "3000" if "both" in line else "20"]
        found, again = results(tmp_path, *line.split(), *where)
        assert found == expected
        np.testing.assert_array_equal(again, labels)
    # It is left running.
    assert scheduler.status.name == "running"


def test_local_cluster_is_silent_and_closed(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    out = tmp_path / "machine.json"
    line = command("symbols", "even.txt", "--past", 5, "--cluster", "local", "--chunks", 6000, "--json", out, "--quiet")
    done = subprocess.run(line, capture_output=True, timeout=240, check=False, start_new_session=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert EpsilonMachine.load(out).recurrent_part().is_isomorphic(EVEN, atol=0.05)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs groups of processes")
@pytest.mark.parametrize("delay", [2.0, 5.0])
def test_interruption_ends_the_cluster(tmp_path: Path, delay: float) -> None:
    pytest.importorskip("distributed")
    line = command("symbols", "even.txt", "--past", 5, "--cluster", "local", "--chunks", 5)
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True, "preexec_fn": listening}
    with subprocess.Popen(line, **how) as process:
        time.sleep(delay)
        # Ctrl-C reaches the whole group.
        os.killpg(process.pid, signal.SIGINT)
        shown, errors = process.communicate(timeout=240)
        assert (process.returncode, shown, errors) == (130, b"", b""), errors.decode()
        for _ in range(50):
            try:
                os.killpg(process.pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.1)
        else:
            pytest.fail("workers are left")


def test_unreachable_scheduler(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "ANSWER", 1)
    begin = time.perf_counter()
    assert run("symbols", "even.txt", "--past", 4, "--cluster", "tcp://127.0.0.1:1") == 2
    assert time.perf_counter() - begin < 10
    shown, errors = capsys.readouterr()
    assert shown == ""
    assert "'tcp://127.0.0.1:1' does not answer" in errors
    assert errors.count("\n") == 1


def test_help_says_what_several_files_are(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("symbols", "field", "image", "signal"):
        with pytest.raises(SystemExit):
            cli.main([name, "--help"])
        shown = " ".join(capsys.readouterr().out.split())
        assert "one data set" in shown
        assert "--cluster" in shown
    code = (
        "import sys, decisional.cli.program as p; p.parser(); sys.exit('dask' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
