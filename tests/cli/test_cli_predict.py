"""decisional predict: a saved model applied to new files, of every kind of data."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import decisional as ds
from decisional import cli


def run(*arguments: object) -> int:
    return cli.main(list(map(str, arguments)))


def text(n: int, seed: int) -> str:
    return "".join(map(str, ds.processes.even().simulate(n, rng=seed).tolist())) + "\n"


def signal(n: int, seed: int) -> pd.DataFrame:
    noise = np.random.default_rng(seed).normal(size=n)
    dates = pd.date_range("2024-01-01", periods=n, freq="h")
    return pd.DataFrame({"date": dates, "load": np.sin(0.3 * np.arange(n)) + 0.1 * noise})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for k, name in enumerate(("old", "new")):
        Path(f"{name}.txt").write_text(text(2000, k))
        signal(200, k).to_csv(f"{name}.csv", index=False)
        np.save(f"{name}.npy", ds.processes.elementary_ca(110, 40, 50, k))
        rng = np.random.default_rng(k)
        np.save(f"{name}_real.npy", 0.1 * np.cumsum(rng.normal(size=(30, 25)), axis=0))
        np.save(f"{name}_image.npy", 50 + np.cumsum(rng.integers(-2, 3, (20, 20)), axis=1))
    return tmp_path


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_a_signal_with_dates(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = ("--column", "load", "--time", "date")
    assert run("signal", "old.csv", *table, "--past", 2, "--model", "model.json", "--quiet") == 0
    assert run("predict", "model.json", "new.csv", *table, "--labels", "states.csv", "--json", "summary.json") == 0
    told, summary = said(capsys), json.loads(Path("summary.json").read_text())
    labels = pd.read_csv("states.csv")
    choice = ds.DecisionalStates.load("model.json")
    found = choice.apply(signal(200, 1).set_index("date")["load"])
    assert labels.columns[0] == "date"
    assert labels.date.iloc[-1] == "2024-01-09 07:00:00"
    np.testing.assert_array_equal(labels.state, found.ahead)
    np.testing.assert_allclose(labels.surprise[found.observations.site], found.surprise)
    np.testing.assert_allclose(labels.decision[1:].astype(float), np.array(found.choices)[found.ahead[1:]])
    assert summary["observations"] == found.n == 198
    assert summary["surprise"] == pytest.approx(found.mean_surprise)
    assert summary["utility"] == pytest.approx(found.utility.mean())
    assert f"{found.n_states} of {choice.causal_.n_states_} occur, 0.00% of the observations" in told
    assert f"{found.mean_surprise:.4f} bits on average, {found.usual_surprise:.4f} in the data of the model" in told
    assert f"the states promised {found.expected_utility:.4f}" in told
    assert f"state {found.ahead[-1]} after the last value, predict" in told
    causal = choice.causal_
    outcomes = np.asarray(causal.outcomes_, float)
    np.testing.assert_allclose(labels["mean"][1:], (causal.distributions_ @ outcomes)[found.ahead[1:]])
    quantiles = labels[["q05", "q25", "q50", "q75", "q95"]]
    assert quantiles[:1].isna().all(axis=None)
    assert (quantiles[1:].diff(axis=1).iloc[:, 1:] >= 0).all(axis=None)
    order = np.argsort(outcomes)
    for state, median in zip(labels.state[1:], labels.q50[1:], strict=True):
        below = causal.distributions_[state, order][outcomes[order] < median].sum()
        assert below < 0.5 <= below + causal.distributions_[state, outcomes == median].sum() + 1e-12


@pytest.mark.parametrize("made", [("--past", 4, "--model"), ("--json",)])
def test_symbols(made: tuple[Any, ...], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("symbols", "old.txt", *made, "model.json", "--quiet") == 0
    assert run("predict", "model.json", "new.txt", "--labels", "states.csv") == 0
    labels = pd.read_csv("states.csv")
    assert len(labels) == 2000
    assert labels.state.iloc[-1] >= 0
    assert labels.surprise.mean() == pytest.approx(2 / 3, abs=0.1)
    assert list(labels.columns) == ["position", "state", "local_complexity", "surprise", "P(0)", "P(1)"]
    known = labels[labels.state >= 0]
    assert labels[labels.state < 0]["P(1)"].isna().all()
    np.testing.assert_allclose(known["P(0)"] + known["P(1)"], 1.0)
    symbols = np.array(list(Path("new.txt").read_text().strip())).astype(int)[known.index[1:]]
    chance = np.where(symbols == 1, known["P(1)"][:-1], known["P(0)"][:-1])
    np.testing.assert_allclose(-np.log2(chance), known.surprise[:-1], atol=1e-9)
    assert "Surprise" in said(capsys)


def test_standard_input_and_several_lines(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("symbols", "old.txt", "--past", 2, "--model", "model.json", "--quiet") == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("0110\n011\n"))
    assert run("predict", "model.json", "-", "--labels", "states.csv") == 0
    assert "3 observations" in said(capsys)
    assert pd.read_csv("states.csv").state.tolist()[3:6] != [-1, -1, -1]
    assert len(pd.read_csv("states.csv")) == 7
    assert run("predict", "-", "-") == 2


@pytest.mark.parametrize(("command", "name"), [("field", ""), ("field", "_real"), ("image", "_image")])
def test_fields_and_images(command: str, name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cones = ("--past", 2, "--future", 2) if command == "field" else ()
    assert run(command, f"old{name}.npy", *cones, "--model", "model.json", "--quiet") == 0
    for ending in ("csv", "npy"):
        assert run("predict", "model.json", f"new{name}.npy", "--labels", f"states.{ending}", "--quiet") == 0
    assert capsys.readouterr().out == ""
    labels, grid = pd.read_csv("states.csv"), np.load("states.npy")
    axes = ["time", "x"] if command == "field" else ["row", "column"]
    assert list(labels.columns[:2]) == axes
    place = tuple(labels[name_of] for name_of in axes)
    for k, column in enumerate(("state", "local_complexity", "surprise")):
        np.testing.assert_allclose(grid[(*place, k)], labels[column])
    assert np.isfinite(grid[..., 0]).sum() == len(labels)
    assert not np.signbit(labels.utility[labels.utility == 0]).any()
    if command == "field":
        assert len(labels.dropna()) == len(labels)


def test_beliefs_tell_what_comes_next(folder: Path) -> None:
    machine = ds.processes.mess3()
    ds.DecisionalStates(ds.utility.zero_one()).fit(machine).save("model.json")
    symbols = machine.simulate(50, rng=1)
    Path("new.txt").write_text("".join(map(str, symbols.tolist())) + "\n")
    assert run("predict", "model.json", "new.txt", "--labels", "states.csv", "--quiet") == 0
    columns = [f"P({symbol})" for symbol in machine.alphabet]
    found = pd.read_csv("states.csv")[columns]
    np.testing.assert_allclose(found, machine.predict_proba(symbols), atol=1e-9)


def test_of_many_outcomes_the_likeliest_is_told(folder: Path) -> None:
    assert run("field", "old.npy", "--past", 2, "--future", 3, "--model", "model.json", "--quiet") == 0
    assert run("predict", "model.json", "new.npy", "--labels", "states.csv", "--quiet") == 0
    labels, causal = pd.read_csv("states.csv"), ds.DecisionalStates.load("model.json").causal_
    assert len(causal.outcomes_) > 16
    best = causal.distributions_.argmax(axis=1)
    assert labels.likeliest.tolist() == [str(causal.outcomes_[best[state]]) for state in labels.state]
    np.testing.assert_allclose(labels["P(likeliest)"], causal.distributions_.max(axis=1)[labels.state])


@pytest.mark.parametrize("named", [True, False])
def test_pairs_in_a_table(named: bool, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def rows(seed: int) -> pd.DataFrame:
        x = np.random.default_rng(seed).normal(size=(150, 2))
        return pd.DataFrame({"u": x[:, 0], "v": x[:, 1], "w": np.where(x[:, 0] > 0, "up", "down")})

    old = rows(1)
    x = old[["v", "u"]] if named else old[["u", "v"]].to_numpy()
    causal = ds.CausalStates().fit(x, old["w"].to_numpy())
    ds.DecisionalStates(ds.utility.zero_one()).fit(causal).save("model.json")
    rows(2).to_csv("pairs.csv", index=False)
    assert run("predict", "model.json", "pairs.csv", "--column", "w", "--labels", "states.csv") == 0
    assert "the decisions brought" in said(capsys)
    labels = pd.read_csv("states.csv")
    assert (labels.decision == rows(2).w).mean() > 0.9
    np.testing.assert_allclose(labels["P(down)"] + labels["P(up)"], 1.0)
    assert (np.where(labels["P(up)"] > 0.5, "up", "down") == labels.decision).all()
    assert run("predict", "model.json", "pairs.csv", "--labels", "states.csv") == 0
    assert "brought" not in said(capsys)
    assert pd.read_csv("states.csv").surprise.isna().all()


def test_slices_save_a_model(folder: Path) -> None:
    for name, chunks in (("whole.json", ()), ("sliced.json", ("--chunks", 20))):
        assert run("field", "old.npy", "--past", 2, "--future", 2, *chunks, "--model", name, "--quiet") == 0
        assert run("predict", name, "new.npy", "--labels", f"{name}.npy", "--quiet") == 0
    np.testing.assert_array_equal(np.load("whole.json.npy"), np.load("sliced.json.npy"))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("predict new.csv new.csv", "is not JSON, and no model"),
        ("predict monitor.json new.txt", "has the format 'decisional.Monitor'"),
        ("predict list.json new.txt", "has no model of the library"),
        ("predict none.json new.txt", "does not exist"),
        ("predict cut.json new.txt", "is not JSON, and no model"),
        ("predict bad.json new.txt", "is corrupt, its digest differs"),
        ("predict later.json new.txt", "newer than 1, the last that this release reads"),
        ("predict model.json new.npy", "has 2 axes and the model is of a series"),
        ("predict model.json none.txt", "does not exist"),
        ("predict model.json new.txt --labels states.zarr", "must end in .csv or .npy"),
        ("predict model.json new.txt --labels none/states.csv", "does not exist: create it first"),
        ("predict model.json", "The command needs FILE"),
        ("symbols old.txt --model auto.json", "--model has no meaning with --past auto"),
    ],
)
def test_bad_input_gets_one_sentence(
    command: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("symbols", "old.txt", "--past", 2, "--model", "model.json", "--quiet") == 0
    ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())).save("monitor.json")
    whole = Path("model.json").read_text()
    Path("list.json").write_text("[1, 2]")
    Path("cut.json").write_text(whole[: len(whole) // 2])
    Path("bad.json").write_text(whole.replace('"theta": 0.95', '"theta": 0.96'))
    Path("later.json").write_text(whole.replace('"version": 1', '"version": 2'))
    assert run(*command.split()) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err
    assert told.err.count("\n") == 1
