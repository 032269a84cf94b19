"""Wrong invocations: one sentence on standard error, exit code 2, no file written."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from decisional import DecisionalStates, EpsilonMachine, Monitor, cli, utility

EVEN = EpsilonMachine([("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "1", "A", 1.0)])
LETTERS = EpsilonMachine([("A", "a", "A", 0.5), ("A", "b", "B", 0.5), ("B", "b", "A", 1.0)])
# A 2 × 1 colour PNG.
COLOUR = b"P6 2 1 255\n\xff\x00\x00\x00\xff\x00"


def write(name: str, content: bytes | str) -> None:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)


def damaged(name: str, source: str, change: Callable[[dict], object]) -> None:
    """A copy of a JSON file with something changed."""
    content = json.loads(Path(source).read_text())
    change(content)
    write(name, json.dumps(content))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        fill()
    return folder


def fill() -> None:
    """The files that the commands below are given, good and bad."""
    rng = np.random.default_rng(1)
    Path("folder").mkdir()
    write("even.txt", "".join(EVEN.simulate(2_000, rng=1).tolist()))
    write("short.txt", "0110\n")
    write("lines.txt", "0\n1\n1\n")
    write("empty.txt", "")
    write("junk.bin", b"\x00\x93\xffnot text")
    write("latin.txt", b"\xe9t\xe9")
    write("table.csv", "day,level,sky\nmon,1.5,dry\ntue,2.5,wet\nwed,x,dry\n")
    write("ragged.csv", "1,2\n3\n")
    write("two.csv", "a,b\n1,2\n3,4\n")
    write("words.csv", "up\ndown\n")
    write("few.csv", "1\n2\n")
    EVEN.save("machine.json")
    LETTERS.save("letters.json")
    Monitor(DecisionalStates(utility.zero_one()).fit(EVEN)).save("monitor.json")
    Monitor(DecisionalStates(utility.zero_one()).fit(LETTERS)).save("other.json")
    write("truncated.json", Path("machine.json").read_text()[:80])
    write("list.json", "[1, 2]")
    damaged("version.json", "machine.json", lambda c: c.update(version=99))
    damaged("probabilities.json", "machine.json", lambda c: c.update(emission=[[0.5, 0.7], [0, 1]]))
    damaged("keyless.json", "machine.json", lambda c: c.pop("targets"))
    damaged("state.json", "monitor.json", lambda c: c.update(belief=[0.5]))
    damaged("where.json", "monitor.json", lambda c: c.update(state=7))
    write("narrow.csv", "U,0,1\nout,0\n")
    write("nan.csv", "U,0,1\nout,0,nan\nbet,1,1\n")
    write("text.csv", "U,0,1\nout,0,much\n")
    write("outcomes.csv", "U,0,2\nout,0,0\n")
    write("twice.csv", "U,0,1\nout,0,0\nout,1,1\n")
    write("header.csv", "U,0,1\n")
    np.save("field.npy", rng.integers(0, 2, (20, 20)))
    np.savez("field.npz", a=np.zeros((20, 20), int))
    np.save("floats.npy", rng.random((20, 20)))
    np.save("line.npy", rng.integers(0, 2, 20))
    np.save("objects.npy", np.array([{}, []], object), allow_pickle=True)
    np.save("small.npy", np.zeros((3, 3), int))
    write("cut.npy", Path("field.npy").read_bytes()[:200])
    write("cut.npz", Path("field.npz").read_bytes()[:100])
    write("cut.nc", b"CDF\x01\x00")
    write("cut.pgm", b"P5 10 10 255\nabc")
    write("cut.png", b"\x89PNG\r\n\x1a\n")
    write("colour.ppm", COLOUR)
    np.save("colour.npy", np.zeros((9, 9, 3), np.uint8))
    write("alphabet", "01\n")
    write("ones", "1\n")
    write("repeated", "011\n")
    write("events.jsonl", '{"position": 0}\n')
    write("notes.txt", "not an event\n")


SYMBOLS = [
    ("symbols none.txt", "does not exist"),
    ("symbols folder", "is a folder"),
    ("symbols junk.bin", "NUL byte"),
    ("symbols latin.txt", "not UTF-8"),
    ("symbols empty.txt", "no symbols"),
    ("symbols lines.txt", "add --column 0"),
    ("symbols table.csv --column colour", "no column 'colour'"),
    ("symbols table.csv --column Levle", "no column 'Levle': did you mean 'level'"),
    ("symbols table.csv --column sky --by dya", "no column 'dya' for --by: did you mean 'day'"),
    ("symbols table.csv --column 9", "no column '9'"),
    ("symbols even.txt --past 0", "--past"),
    ("symbols even.txt --past many", "--past"),
    ("symbols even.txt --past", "--past has no value"),
    ("symbols short.txt --past 10", "needs at least 11"),
    ("symbols even.txt --past 3 --future 0", "--future"),
    ("symbols even.txt --past 3 --alpha 3", "alpha"),
    ("symbols even.txt --past 3 --alpha high", "--alpha must be a number"),
    ("symbols even.txt --past 3 --theta 0.2", "theta"),
    ("symbols even.txt --past 3 --min-count 0", "--min-count"),
    ("symbols even.txt --theta 0.9", "--past auto"),
    ("symbols even.txt --json none/machine.json", "--json 'none/machine.json' does not exist"),
    ("symbols even.txt --json folder", "is a folder"),
    ("symbols even.txt --dot even.txt/machine.dot", "does not exist"),
    ("symbols even.txt --out even.txt", "is a file"),
    ("symbols even.txt --out even.txt/results", "is a file"),
    ("symbols even.txt --plot machine.gif", "must end in .png"),
    ("symbols even.txt --report report.txt", "must end in .html"),
    ("symbols even.txt --json a --dot a", "same file"),
    ("symbols even.txt --colour red", "--colour"),
    ("symbols", "needs FILE"),
    ("", "No command is given"),
    ("symbol even.txt", "There is no command 'symbol'"),
]
FIELDS = [
    ("field none.npy", "does not exist"),
    ("field folder", "is a folder"),
    ("field even.txt", "of no kind that is known"),
    ("field empty.txt", "is empty"),
    ("field junk.bin", "of no kind that is known"),
    ("field cut.npy", "no complete array"),
    ("field objects.npy", "no complete array"),
    ("field cut.npz", "no complete .npz archive"),
    ("field field.npz --key b", "choose another --key"),
    ("field field.npy --key b", "--key is for"),
    ("field field.npy --variable b", "--variable is for"),
    ("field cut.pgm", "no complete PGM"),
    ("field cut.png", "no complete image"),
    ("field line.npy", "over time and space"),
    ("field small.npy", "rows in time"),
    ("field field.npy --past 0", "past"),
    ("field field.npy --future 1", "future"),
    ("field field.npy --past 15", "need"),
    (
        "field field.npy --boundary torus",
        "--boundary must be one of 'periodic', 'open', 'reflect'. Got 'torus' instead",
    ),
    ("field field.npy --match nearly", "--match must be one of"),
    ("image colour.npy", "colour image"),
    ("image small.npy", "at least 5 × 5"),
    ("image field.npy --bandwidth 0", "bandwidth"),
    ("image field.npy --bandwidth wide", "--bandwidth must be a number"),
    ("image field.npy --tau -1", "tau"),
    ("image field.npy --passes 0", "passes"),
    ("image folder", "is a folder"),
]
SIGNALS = [
    ("signal none.csv", "does not exist"),
    ("signal empty.txt", "no rows"),
    ("signal junk.bin", "not text"),
    ("signal words.csv", "'down'"),
    ("signal table.csv", "0 columns of numbers"),
    ("signal table.csv --column level", "Line 4 of the file 'table.csv' has 'x'"),
    ("signal table.csv --column colour", "no column 'colour'"),
    ("signal table.csv --column lvl", "no column 'lvl': did you mean 'level'"),
    ("signal table.csv --column level --step 1", "--step is for --time, which is not given"),
    ("signal two.csv", "2 columns of numbers ('a', 'b')"),
    ("signal ragged.csv", "Line 2 of the file 'ragged.csv' has 1 cells and the first row 2"),
    ("signal two.csv --column a --past 9", "values in a row"),
    ("signal few.csv", "too few"),
    ("signal two.csv --column a --inputs hour --past 1", "without dates"),
    ("signal two.csv --column a --inputs hours --past 1", "one of 'minute', 'hour'"),
    ("signal two.csv --column a --past -1", "--past"),
    ("signal two.csv --column a --past 1 --bandwidth -1", "bandwidth"),
    ("signal two.csv --column a --past 1 --tau -1", "tau"),
    ("signal two.csv --column a --past 1 --labels none/states.npy", "does not exist"),
]
DECISIONS = [
    ("decide none.json --utility zero-one", "none.json"),
    ("decide folder --utility zero-one", "folder"),
    ("decide even.txt --utility zero-one", "it must be 'decisional.EpsilonMachine'"),
    ("decide truncated.json --utility zero-one", "not JSON"),
    ("decide list.json --utility zero-one", "has format None; it must be 'decisional.EpsilonMachine'"),
    ("decide monitor.json --utility zero-one", "has format 'decisional.Monitor'"),
    ("decide version.json --utility zero-one", "upgrade decisional"),
    ("decide probabilities.json --utility zero-one", "corrupt"),
    ("decide keyless.json --utility zero-one", "corrupt"),
    ("decide machine.json", "--utility"),
    ("decide machine.json --utility luck", "The utility 'luck' is unknown"),
    ("decide machine.json --utility tolerant:much", "tolerant:0.5"),
    ("decide machine.json --utility tolerant:-1", "tolerant:0.5"),
    ("decide letters.json --utility squared-error", "plain numbers"),
    ("decide machine.json --utility none.csv", "does not exist"),
    ("decide machine.json --utility even.txt", "does not end in .csv"),
    ("decide machine.json --utility narrow.csv", "has 2 cells and the first row 3"),
    ("decide machine.json --utility nan.csv", "nan"),
    ("decide machine.json --utility text.csv", "'much', which is no number"),
    ("decide machine.json --utility outcomes.csv", "no column for the outcome '1'"),
    ("decide machine.json --utility twice.csv", "twice"),
    ("decide machine.json --utility header.csv", "needs 2 at least"),
    ("decide letters.json --utility zero-one --events even.txt", "unknown to the model"),
    ("decide machine.json --utility zero-one --events none.txt", "does not exist"),
    ("decide machine.json --utility zero-one --events table.csv --column skye", "did you mean 'sky'"),
    ("decide machine.json --utility zero-one --column 1", "--column is for --events"),
    ("decide machine.json --utility zero-one --labels d.csv", "--labels is for --events"),
    ("decide machine.json --utility zero-one --events even.txt --labels d.npy", "must end in .csv"),
    ("decide machine.json --utility zero-one --series-by 1", "--series-by is for --events"),
    ("decide machine.json --utility zero-one --header no", "--header is for --events"),
    ("decide machine.json --utility zero-one --monitor none/monitor.json", "--monitor"),
    ("decide machine.json --utility zero-one --level high", "--level"),
    ("watch none.json", "none.json"),
    ("watch machine.json", "give --utility"),
    ("watch monitor.json --utility zero-one", "leave --utility out"),
    ("watch truncated.json", "not JSON"),
    ("watch list.json", "has no model"),
    ("watch state.json", "corrupt"),
    ("watch monitor.json --state state.json", "corrupt"),
    ("watch monitor.json --state where.json", "corrupt"),
    ("watch monitor.json --state other.json", "another model"),
    ("watch monitor.json --state new.json --out events.jsonl", "has events already"),
    ("watch monitor.json --state monitor.json --out notes.txt", "no event"),
    ("watch monitor.json --skip-seen", "without --state"),
    ("watch monitor.json none.txt", "does not exist"),
    ("watch monitor.json folder", "is a folder"),
    ("watch monitor.json junk.bin", "not UTF-8 text"),
    ("watch monitor.json latin.txt", "not UTF-8"),
    ("watch monitor.json table.csv", "has 3 columns ('day', 'level', 'sky')"),
    ("watch monitor.json table.csv --column skye", "no column 'skye': did you mean 'sky'"),
    ("watch monitor.json table.csv --column sky", "'dry' at position 0"),
    ("watch monitor.json table.csv --column sky --time day", "'mon' in the column 'day', which is no time"),
    ("watch monitor.json --column 0 --step 1h", "--step is for --time, which is not given"),
    ("watch monitor.json --column 0 --delimiter ,,", "--delimiter is ',,'"),
    ("watch monitor.json --column 0 --series-by 1", "a monitor follows one"),
    ("watch monitor.json --by user", "--by must be one of"),
    ("watch monitor.json --out none/events.jsonl", "does not exist"),
    ("watch letters.json --utility zero-one --state new.json --out new.jsonl", "'0' at position 0"),
]
OTHERS = [
    ("symbols even.txt --utility bet.csv", "no option or argument --utility bet.csv: see 'decisional symbols --help'"),
    ("watch a b c", "no option or argument c: see 'decisional watch --help'"),
    ("--verbose demo", "no option or argument --verbose: see 'decisional --help'"),
    ("simulate luck", "There is no process 'luck'"),
    ("simulate even --param q=1", "no parameter of even"),
    ("simulate even --param p", "no parameter of even"),
    ("simulate even --param p=half", "no number"),
    ("simulate even --param p=2", "'p' of the process is 2.0; it must be a number above 0 and below 1"),
    ("simulate restricted_golden_mean --param k=0", "'k'"),
    ("simulate even -n 0", "-n must be an integer of at least 1"),
    ("simulate even -n many", "-n must be an integer"),
    ("simulate even --seed -1", "--seed"),
    ("simulate even --out folder", "is a folder"),
    ("demo --out even.txt", "is a file"),
    ("cssr none even.txt 3", "does not exist"),
    ("cssr alphabet none.txt 3", "does not exist"),
    ("cssr alphabet folder 3", "is a folder"),
    ("cssr ones even.txt 3", "not in the alphabet"),
    ("cssr repeated even.txt 3", "each symbol once"),
    ("cssr empty.txt even.txt 3", "each symbol once"),
    ("cssr alphabet short.txt 9", "L must be smaller"),
    ("cssr alphabet empty.txt 1", "L must be smaller"),
    ("cssr alphabet even.txt 0", "L must be"),
    ("cssr alphabet even.txt long", "L must be an integer"),
    ("cssr alphabet even.txt 3 -s 2", "-s must be"),
    ("cssr alphabet even.txt 3 --out even.txt", "is a file"),
]


def contents(folder: Path) -> dict[str, bytes | None]:
    return {str(path): None if path.is_dir() else path.read_bytes() for path in folder.rglob("*")}


@pytest.mark.parametrize(("line", "message"), [*SYMBOLS, *FIELDS, *SIGNALS, *DECISIONS, *OTHERS])
def test_one_sentence(
    inputs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    monkeypatch.chdir(inputs)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"0110")))
    before = contents(inputs)
    assert cli.main(line.split()) == 2
    shown, errors = capsys.readouterr()
    assert shown == ""
    assert errors.startswith("decisional: ")
    assert errors.count("\n") == 1
    assert errors.endswith((".\n", ". \n"))
    assert "Traceback" not in errors
    assert message in errors
    assert contents(inputs) == before


def test_colour_and_unreadable_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    image = pytest.importorskip("PIL.Image")
    pixels = np.zeros((9, 9, 3), np.uint8)
    pixels[2, 3, 0] = 200
    image.fromarray(pixels).save(tmp_path / "colour.png")
    for command in ("image", "field"):
        assert cli.main([command, str(tmp_path / "colour.png"), "--quiet"]) == 0
        told = f"decisional: The image {str(tmp_path / 'colour.png')!r} is in colour: its luminance is taken.\n"
        assert capsys.readouterr().err == told
    (tmp_path / "broken.png").write_bytes((tmp_path / "colour.png").read_bytes()[:48])
    assert cli.main(["image", str(tmp_path / "broken.png")]) == 2
    assert "is no complete image" in capsys.readouterr().err


def test_broken_netcdf(inputs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    xarray = pytest.importorskip("xarray")
    monkeypatch.chdir(inputs)
    assert cli.main(["field", "cut.nc"]) == 2
    assert "cannot be read by xarray" in capsys.readouterr().err
    cells = ("t", "x"), np.zeros((9, 9), np.int32)
    xarray.Dataset({"a": cells, "b": cells}).to_netcdf("two.nc")
    for options in ([], ["--variable", "c"]):
        assert cli.main(["field", "two.nc", *options]) == 2
        assert "has the variables 'a', 'b': choose one" in capsys.readouterr().err
    Path("two.nc").unlink()


def test_there_are_enough_of_them() -> None:
    assert len(SYMBOLS) + len(FIELDS) + len(SIGNALS) + len(DECISIONS) + len(OTHERS) >= 40


def test_interruption_of_code_that_is_being_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Python makes a SystemError of an interruption inside the loader of compiled code."""

    def interrupted(*_: object, **__: object) -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    (tmp_path / "text.txt").write_text("0110" * 50)
    monkeypatch.setattr("decisional.cli.symbol_command._fitted", interrupted)
    assert cli.main(["symbols", str(tmp_path / "text.txt"), "--past", "2"]) == 130
