"""Small runs of the benchmarks, so that they cannot rot."""

import importlib.util
import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_discrete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    discrete = load("discrete")
    monkeypatch.setattr(discrete, "SIZES", (2_000,))
    monkeypatch.setattr(discrete, "PASTS", (3,))
    monkeypatch.setattr(discrete, "__file__", str(tmp_path / "discrete.py"))
    monkeypatch.setattr(discrete, "peak_bytes", lambda n, past: 0.0)
    monkeypatch.setattr(discrete, "start_up", list)
    discrete.main()
    assert "| 2e+03 | 3 |" in capsys.readouterr().out
    assert "ns per symbol" in (tmp_path / "discrete.md").read_text()


def test_structures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    structures = load("structures")
    runs = [("gaps", structures.holes, 3_000, 2), ("coins", structures.coins, 2_000, 1)]
    monkeypatch.setattr(structures, "RUNS", runs)
    monkeypatch.setattr(structures, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(structures, "__file__", str(tmp_path / "structures.py"))
    monkeypatch.setattr(sys, "argv", ["structures.py"])
    structures.main()
    assert "| gaps | 3e+03 | 2/2 |" in capsys.readouterr().out
    assert "| coins | 2e+03 |" in (tmp_path / "structures.md").read_text()


def test_pautomac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pautomac = load("pautomac")
    rows = [(0, 0, 0, 0.3), (0, 1, 1, 0.7), (1, 0, 0, 0.5), (1, "<end>", 0, 0.5)]
    truth = pautomac.ds.EpsilonMachine(rows, start=0)
    train = truth.simulate(500, rng=1)
    test = {tuple(string.tolist()): string for string in truth.simulate(100, rng=2)}
    for name, strings in (("train", train), ("test", list(test.values()))):
        lines = [f"{len(strings)} 2", *(" ".join(map(str, [len(s), *s.tolist()])) for s in strings)]
        (tmp_path / f"1.pautomac.{name}").write_text("\n".join(lines) + "\n")
    chances = [2 ** truth.log_likelihood(string) for string in test.values()]
    (tmp_path / "1.pautomac_solution.txt").write_text("\n".join(map(str, [len(chances), *chances])))
    monkeypatch.setattr(sys, "argv", ["pautomac.py", str(tmp_path)])
    pautomac.main()
    printed = capsys.readouterr().out
    row = next(line for line in printed.splitlines() if line.startswith("| 1 |"))
    states, gap = row.split(" | ")[1:3]
    assert states == "2"
    assert 0 <= float(gap) < 0.2
    assert "geometric mean of 1, deterministic" in printed
    assert pautomac.gap(np.array(chances), np.log2(chances)) == pytest.approx(0.0, abs=1e-9)


def test_prediction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    prediction = load("prediction")
    few = {"DNA of a bacterium": prediction.genome()[:400], "coin": np.random.default_rng(1).integers(0, 2, 300)}
    monkeypatch.setattr(prediction, "series", lambda: few)
    monkeypatch.setattr(prediction, "__file__", str(tmp_path / "prediction.py"))
    monkeypatch.setattr(sys, "argv", ["prediction.py"])
    prediction.main()
    assert "| coin | 2 | 300 |" in capsys.readouterr().out
    assert "| DNA of a bacterium | 4 | 400 |" in (tmp_path / "prediction.md").read_text()
    # Of contexts of one symbol at most: the mean of two ways to count, each known in closed form.
    tree = prediction.ContextTree(2, 1, 0.5)
    assert tree.step([], 0, learns=True) == pytest.approx(-1.0)
    after = (0.75 * 0.5 + 0.5 * 0.5) / (0.5 + 0.5)
    assert tree.step([0], 0, learns=False) == pytest.approx(np.log2(after))


def test_monitor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monitor = load("monitor")
    monkeypatch.setattr(monitor, "N", 2_000)
    monkeypatch.setattr(monitor, "PUSHED", 100)
    # Of the tables of drift two rows each.
    for name in ("processes", "drifts"):
        rows = dict(list(getattr(monitor, name)().items())[:2])
        monkeypatch.setattr(monitor, name, lambda rows=rows: rows)
    monkeypatch.setattr(monitor, "__file__", str(tmp_path / "monitor.py"))
    monitor.main()
    assert "| Even, list | in chunks |" in capsys.readouterr().out
    written = (tmp_path / "monitor.md").read_text()
    assert "| never synchronised, array | batch filter |" in written
    assert "| golden mean | from 1e+04 | 2e+04 | yes | 0 | 0 |" in written
    assert "| Even, Golden Mean, Even | " in written


def test_rivals(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    rivals = load("rivals")
    small = {"RULES": (54,), "NOISES": (0.2,), "LATENT": (0.5,), "STEPS": 80, "WIDTH": 60}
    for name, value in small.items():
        monkeypatch.setattr(rivals.real_fields, name, value)
    monkeypatch.setattr(rivals, "CLUSTERS", (8,))
    rivals.main(["--seeds", "1"])
    shown = capsys.readouterr().out
    assert re.search(r"\| rule 54, noise 0.2 \| -?\d.\d\d \| -?\d.\d\d \|\n", shown)
    assert re.search(r"\| 7 latent levels, noise 0.5 \| 0.\d\d \| 0.\d\d \|\n", shown)


@pytest.mark.parametrize(
    ("table", "shown"),
    [
        ("bits", "| rule 18 | (3, 2) 0."),
        ("known", "| 60 | (3, 2) | 2 | 2 |"),
        ("noise", "| 2 colours, 1-D | 1 | (1, 2): 0, (2, 2): 0,"),
        ("test", "| 40, 60, 8 | "),
    ],
)
def test_cones(
    table: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cones = load("cones")
    small = {"FIELDS": {"rule 18": (cones.FIELDS["rule 18"][0], ((3, 2), (4, 3)))}, "KNOWN": {60: (2, 4, 4)}}
    small |= {"KNOWN_SIZE": 300, "NOISE": {"2 colours, 1-D": cones.NOISE["2 colours, 1-D"]}, "TABLES": {(40, 8): 60}}
    small |= {"DRAWS": 100, "__file__": str(tmp_path / "cones.py")}
    for name, value in small.items():
        monkeypatch.setattr(cones, name, value)
    cones.main(["--seeds", "1", "--runs", "1", "--tables", table])
    assert shown in capsys.readouterr().out


def test_real_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    real = load("real_fields")
    small = {"STEPS": 80, "WIDTH": 60, "SIDE": 12, "__file__": str(tmp_path / "real_fields.py")}
    small |= {"RULES": (54,), "NOISES": (0.2,), "LATENT": (0.5,), "SHAPES": ((80, 50),)}
    for name, value in small.items():
        monkeypatch.setattr(real, name, value)
    real.main(["--seeds", "1", "--runs", "1", "--times", "2"])
    said = capsys.readouterr().out
    assert "| rule 54, noise 0.2 | 0." in said
    assert "noise 80 x 50: more than one state in 0 of 1" in said
    assert "cells of a file in slices" in said


@pytest.mark.parametrize("table", ["states", "noise", "outliers"])
def test_signals(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    signals = load("signals")
    small = {"FINITE": {"two regimes": signals.FINITE["two regimes"]}, "PASTS": (1,), "OUTLIERS": (1e6,)}
    small |= {"NOISE_SIZES": (200,), "NOISE_PASTS": (1,), "NOISE": {"normal": signals.NOISE["normal"]}}
    small |= {"OUTLIER_SIZE": 300, "ProcessPoolExecutor": ThreadPoolExecutor, "__file__": str(tmp_path / "signals.py")}
    for name, value in small.items():
        monkeypatch.setattr(signals, name, value)
    monkeypatch.setattr(
        sys, "argv", ["signals.py", "--first", "7000", "--seeds", "1", "--sizes", "300", "--tables", table]
    )
    signals.main()
    right = {"states": "| all | 300 | 100.0% |", "noise": "| all | | 1 | 1 |", "outliers": "| 1e+06 | 1 % | 2 | 0.0% |"}
    assert right[table] in capsys.readouterr().out
    assert not (tmp_path / "signals.md").exists()


def test_pasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pasts = load("pasts")
    for name in ("SIGNALS", "SYMBOLS"):
        monkeypatch.setattr(pasts, name, dict(list(getattr(pasts, name).items())[:1]))
    for name, value in {"SIZES": (60,), "LENGTHS": (500,), "ALL": 1, "__file__": str(tmp_path / "pasts.py")}.items():
        monkeypatch.setattr(pasts, name, value)
    monkeypatch.setattr(sys, "argv", ["pasts.py"])
    pasts.main()
    assert "| white noise | 60 | 1 |" in capsys.readouterr().out
    assert "| coin | 500 | 1 | 1: 1 |" in (tmp_path / "pasts.md").read_text()


@pytest.mark.parametrize("run", ["known", "parametric", "small", "noise"])
def test_selection_runs(run: str) -> None:
    assert getattr(load("selection"), run)(1, 5_000) is True


def test_selection_asks_for_what_it_names() -> None:
    runs = load("selection").RUNS
    assert all(0 < asked <= 1 and times >= 1 and n >= 1000 for _, _, n, times, asked in runs)


def test_decisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("statsmodels")
    pytest.importorskip("vega_datasets")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    decisions = load("decisions")
    sunspots, few = decisions.real_series()["sunspots"], {"logistic": decisions.CONTINUA["logistic"]}
    monkeypatch.setattr(decisions, "real_series", lambda: {"sunspots": sunspots})
    for name, value in {"CONTINUA": few, "SEEDS": (2,), "LEARNT": 300}.items():
        monkeypatch.setattr(decisions, name, value)
    monkeypatch.setattr(decisions, "SIZES", ((30, 5, 4),))
    monkeypatch.setattr(decisions, "UTILITIES", {"table": decisions.UTILITIES["table"]})
    monkeypatch.setattr(decisions, "__file__", str(tmp_path / "decisions.py"))
    decisions.main()
    assert "| 30 × 5 × 4 | table | data |" in capsys.readouterr().out
    written = (tmp_path / "decisions.md").read_text()
    assert "peak MB" in written
    assert "| sunspots | 2 | tolerant, 1 sd | 4 → 4 / 3 | 0.0% ± 0.0% (0.00%) |" in written
    assert "- alarm: 1 / 1 of 1 series." in written
    states = next(line for line in written.splitlines() if line.startswith("| logistic | tolerant, 1 sd")).split("|")[3]
    causal, decided = states.split(" → ")
    assert float(decided.split("/")[0]) < 0.5 * float(causal)


def test_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("skimage")
    kernels = load("kernels")
    for name, value in {"SIDES": (24,), "LENGTHS": (200,), "NAIVE_SIDE": 24, "NAIVE_LENGTH": 200, "REPEATS": 1}.items():
        monkeypatch.setattr(kernels, name, value)
    monkeypatch.setattr(kernels, "peak_megabytes", lambda name, size: 0.0)
    monkeypatch.setattr(kernels, "__file__", str(tmp_path / "kernels.py"))
    kernels.main()
    printed = capsys.readouterr().out
    assert "| astronaut | 24² |" in printed
    differences = [float(line.split("|")[-2]) for line in printed.splitlines()[-3:]]
    assert max(differences) < 1e-6
    assert "| logistic | 200 |" in (tmp_path / "kernels.md").read_text()


def test_forecasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("statsmodels")
    pytest.importorskip("vega_datasets")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    forecasts = load("forecasts")
    few = {name: forecasts.CONTINUA[name] for name in ("ar1", "logistic")}
    nile = {"nile": forecasts.real_series()["nile"]}
    rows = forecasts.windows(forecasts.split("ar1", 120, 30, 1)[0], 1, 1)
    # The slow ones are run once, on few values.
    monkeypatch.setattr(forecasts, "LEVELS", np.array([0.1, 0.4, 0.6, 0.9]))
    for peer in ("GP", "boosting"):
        assert np.log2(forecasts.METHODS[peer](rows, rows)).mean() > -3
        monkeypatch.setitem(forecasts.METHODS, peer, lambda learnt, held_out: np.full(len(held_out[1]), 0.1))
    for name, value in {"CONTINUA": few, "SEEDS": (2,), "LEARNT": 300, "HELD_OUT": 200, "PASTS": (1, 2)}.items():
        monkeypatch.setattr(forecasts, name, value)
    monkeypatch.setattr(forecasts, "bits", cache(forecasts.bits))
    monkeypatch.setattr(forecasts, "real_series", lambda: nile)
    monkeypatch.setattr(forecasts, "__file__", str(tmp_path / "forecasts.py"))
    forecasts.main()
    assert "| nile | 100 |" in capsys.readouterr().out
    assert "| logistic |" in (tmp_path / "forecasts.md").read_text()
    line, parabola = (forecasts.bits(name, 2) for name in few)
    assert line["stack"] > line["true density"] - 0.1
    assert parabola["stack"] > parabola["kernels"]


def test_coordinates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    coordinates = load("coordinates")
    small = {"SYSTEMS": {"Lorenz": coordinates.SYSTEMS["Lorenz"]}, "TUNED": range(1), "FRESH": range(7000, 7001)}
    small |= {"LEARNT": 500, "HELD_OUT": 150, "NUMBERS": (3,), "LARGE": 600}
    for name, value in small.items():
        monkeypatch.setattr(coordinates, name, value)
    monkeypatch.setattr(coordinates, "measured", cache(coordinates.measured))
    monkeypatch.setattr(coordinates, "__file__", str(tmp_path / "coordinates.py"))
    coordinates.main()
    assert "| Lorenz | 3 |" in capsys.readouterr().out
    assert "600 values: three coordinates in" in (tmp_path / "coordinates.md").read_text()
    kept, ratio = coordinates.measured("Lorenz", 7000)[3]
    assert kept > 0.9
    assert ratio < 1.2


def test_signal_drift(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Delays, false alarms and speed, on one system each."""
    drift = load("signal_drift")
    make, past, drifts = drift.TUNED["two regimes"]
    small = {"SYSTEMS": {"two regimes": (make, past, {"level + 0.3": drifts["level + 0.3"]})}, "FIRST": 7000}
    small |= {"LEVELS": {2000: (1, 2000)}, "speed": list}
    for name, value in small.items():
        monkeypatch.setattr(drift, name, value)
    monkeypatch.setattr(drift, "__file__", str(tmp_path / "signal_drift.py"))
    monkeypatch.setattr("sys.argv", ["signal_drift.py"])
    drift.main()
    written = (tmp_path / "signal_drift.md").read_text()
    assert "| two regimes | 2,000 | level + 0.3 | 1 of 1 |" in written
    assert "| two regimes | 2,000 | 0 in 2,000 |" in written
    assert "level + 0.3" in capsys.readouterr().out


def test_levels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    levels = load("levels")
    small = {
        "SEEDS": 1,
        "WATCHED": 1,
        "FIRST": 7000,
        "NOISES": (0.1,),
        "PROCESSES": ("golden_mean",),
        "REFUSED": 1,
        "N": 600,
        "LONG": 2000,
    }
    small |= {"CONTINUA": {"ar1": levels.CONTINUA["ar1"]}, "REGIMES": ((0.1, 0.98),), "AT_ONCE": 1000}
    for name, value in small.items():
        monkeypatch.setattr(levels, name, value)
    monkeypatch.setattr(levels, "__file__", str(tmp_path / "levels.py"))
    levels.main()
    written = (tmp_path / "levels.md").read_text()
    for row in ("| golden_mean | 0.1 | 1 of 1 |", "| ar1 | 1 of 1 |", "| noise | 1 of 1 |", "2,000 values: "):
        assert row in written
    assert "| 100.0% | 0 | 0 |" in capsys.readouterr().out


def test_features(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    features = load("features")
    few = {name: features.SIMULATED[name] for name in ("days", "AR(2), three kinds")}
    small = {"SIMULATED": few, "SEEDS": (2,), "TRAINING": 24, "TESTING": 40, "FORESTS": 2, "peer": lambda: None}
    for name, value in small.items():
        monkeypatch.setattr(features, name, value)
    monkeypatch.setattr(features, "__file__", str(tmp_path / "features.py"))
    monkeypatch.setattr(sys, "argv", ["features.py"])
    features.main()
    assert "aeon is not installed" in capsys.readouterr().out
    rows = [line.split("|") for line in (tmp_path / "features.md").read_text().splitlines() if "±" in line]
    assert [row[1].strip() for row in rows] == list(few)
    for row in rows:
        own, shared = (float(cell.split("±")[0]) for cell in row[2:4])
        assert own + 0.05 < shared <= 1.0
    # The table of a data set, where there is none, has what a user would write.
    monkeypatch.setattr(features, "real", lambda name: features.simulated("days", 3))
    row = features.real_table(["days"])[2]
    assert row.startswith("| days | 24 + 40, 1 × 24, 2 |")
    split = features.simulated("days", 3)
    model = make_pipeline(features.ds.ComplexityFeatures(), features.RandomForestClassifier(random_state=0))
    right = model.fit(split.train, split.train_y).score(split.test, split.test_y)
    assert row.split("|")[5].strip() == f"{right:.3f}"


def test_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fields = load("fields")
    monkeypatch.setattr(fields, "SIZES", ((30, 40),))
    monkeypatch.setattr(fields, "KINDS", {"oldest row": "past_row_only=True"})
    monkeypatch.setattr(fields, "PLANES", [((8, 16), "game of life", fields.LIFE, 2)])
    # Every row is a process: one of them is enough.
    measure = fields.measure
    monkeypatch.setattr(fields, "measure", lambda *a: measure(*a) if "life" in a[0] else (0.1, 1.0, 0.1, [4, 3, 2, 4]))
    monkeypatch.setattr(fields, "__file__", str(tmp_path / "fields.py"))
    fields.main()
    assert "| rule 110 | 30 × 40 | oldest row |" in capsys.readouterr().out
    written = (tmp_path / "fields.md").read_text()
    assert "| game of life | 8 × 16 × 16 | by evidence, past 2 | 0." in written
    assert "x bare pass" in written


def test_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    campaign = load("campaign")
    # No process of its own here: these take their time.
    monkeypatch.setattr(campaign, "PROCESSES", 1e9)
    quick = [(fault, share) for fault, share in campaign.FAULTS if share >= 20]
    monkeypatch.setattr(campaign, "FAULTS", quick)
    found = campaign.campaign(300, 1, list(campaign.INPUTS), jobs=1)
    assert sum(part.tried for part in found.values()) == 300
    assert [finding for part in found.values() for finding in part.findings] == []


def test_campaign_covers_every_public_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    campaign = load("campaign")
    assert campaign.uncovered() == []
    # What has no values for a parameter, or no object for a method, is told.
    monkeypatch.setattr(campaign.ds.utility, "novel", lambda strange: strange, raising=False)
    monkeypatch.setattr(campaign.ds.utility, "__dir__", lambda: ["novel"], raising=False)
    assert campaign.uncovered() == ["utility.novel: no values for 'strange'"]


def test_campaign_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it looks for: each kind of finding is one."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    campaign = load("campaign")

    def named(path: str) -> None:
        raise OSError(2, "No such file", path)

    wrong: dict[str, Callable[[], object]] = {
        "silent": lambda: campaign.no_nan(float("nan"), "x"),
        "traceback": lambda: [][1],
        "unclear": lambda: int("x"),
        "warning": lambda: np.float32(1e38) * np.float32(1e38),
    }
    for kind, run in wrong.items():
        found = campaign.Found("part")
        campaign.attempt(found, kind, run)
        assert [what.split()[0].rstrip(":") for what, _ in found.findings] == [kind]
    found = campaign.Found("part")
    for run in (lambda: campaign.ds.processes.coin(2), lambda: named("x"), lambda: None):
        campaign.attempt(found, "fine", run)
    assert (found.tried, found.refused, found.findings) == (3, 2, [])


def test_startup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    startup = load("startup")
    assert {"symbols", "field", "demo"} <= set(startup.commands())
    monkeypatch.setattr(startup, "commands", lambda: ["watch"])
    monkeypatch.setattr(startup, "REPEATS", 1)
    # Compilation takes its time: another process stands in for the first machine.
    monkeypatch.setattr(startup, "first_machine", lambda: startup.BARE)
    monkeypatch.setattr(startup, "__file__", str(tmp_path / "startup.py"))
    startup.main()
    assert "| `decisional watch --help` |" in capsys.readouterr().out
    assert "first machine of 10,000 symbols, warm" in (tmp_path / "startup.md").read_text()


def test_accuracy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    accuracy = load("accuracy")
    few = {name: accuracy.ds.processes.catalogue[name] for name in ("coin", "golden_mean")}
    monkeypatch.setattr(accuracy.ds.processes, "catalogue", few)
    monkeypatch.setattr(accuracy, "STATES", range(1, 3))
    monkeypatch.setattr(accuracy, "__file__", str(tmp_path / "accuracy.py"))
    monkeypatch.setattr(sys, "argv", ["accuracy.py", "--sizes", "1000", "--seeds", "1"])
    accuracy.main()
    assert "| golden_mean | 2 | 1/1 |" in capsys.readouterr().out
    assert "| decisional, no parameters | 100% | 100% | 0.0" in (tmp_path / "accuracy.md").read_text()


def test_scale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    pytest.importorskip("zarr")
    scale = load("scale")
    monkeypatch.setattr(scale, "SYMBOLS", (40_000,))
    monkeypatch.setattr(scale, "SIDE", 60)
    monkeypatch.setattr(scale, "ROWS", 20)
    monkeypatch.setattr(scale, "BOUNDED", (10_000, 1e6))
    monkeypatch.setattr(scale, "WORKERS", (1,))
    monkeypatch.setattr(scale, "COUNTS", (0, 2))
    source = scale.__file__
    measured = scale.measure

    def measure(kind: str, path: Path, size: int, workers: int = 0) -> list[float]:
        # Every row is a process, which is enough where it has workers.
        if not workers:
            return scale.KINDS[kind](str(path), size, workers)
        monkeypatch.setattr(scale, "__file__", source)
        try:
            return measured(kind, path, size, workers)
        finally:
            monkeypatch.setattr(scale, "__file__", str(tmp_path / "scale.py"))

    monkeypatch.setattr(scale, "measure", measure)
    monkeypatch.setattr(scale, "__file__", str(tmp_path / "scale.py"))
    scale.main()
    assert "| series | 4e+04 | 2 Dask workers |" in capsys.readouterr().out
    assert "the wait alone" in (tmp_path / "scale.md").read_text()


def test_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    measures = load("measures")
    # Where sofic is not installed our own answers stand in for its.
    machine = measures.ds.processes.rip()
    monkeypatch.setattr(measures, "theirs", lambda other: measures.ours(machine) | {"R": 7, "E": 0.5})
    monkeypatch.setattr(measures.ds.EpsilonMachine, "to_sofic", lambda self: self)
    monkeypatch.setattr(measures, "PROCESSES", {"rip": lambda: machine})
    monkeypatch.setattr(measures, "__file__", str(tmp_path / "measures.py"))
    measures.main()
    assert "| rip | 0.0e+00 | E by 0.75; R = inf, sofic 7 |" in capsys.readouterr().out
    assert "sofic" in (tmp_path / "measures.md").read_text()


def test_intervals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    intervals = load("intervals")
    monkeypatch.setattr(intervals, "PROCESSES", ("coin",))
    monkeypatch.setattr(intervals, "covered", lambda seed, n: ([True, True, seed % 2 == 0, False], True))
    monkeypatch.setattr(intervals, "__file__", str(tmp_path / "intervals.py"))
    monkeypatch.setattr(sys, "argv", ["intervals.py", "--machines", "2", "2", "--seeds", "1"])
    intervals.main()
    assert "| 1,000 | 2 | 100.0% | 100.0% | 50.0% | 0.0% | 100.0% |" in capsys.readouterr().out
    assert "| true ties found as ties | 4 of 4 |" in (tmp_path / "intervals.md").read_text()


def test_renaming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    renaming = load("renaming")
    monkeypatch.setattr(renaming, "CASES", 5)
    monkeypatch.setattr(renaming, "__file__", str(tmp_path / "renaming.py"))
    monkeypatch.setattr(sys, "argv", ["renaming.py", "--cases", "5", "--first", "40"])
    renaming.main()
    assert capsys.readouterr().out.count("5 of 5") == 3
    assert "ds.baselines.cssr" in (tmp_path / "renaming.md").read_text()


def test_hard_inputs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    hard = load("hard_inputs")
    assert all(len(make(1, 2_000)) for make in hard.INPUTS.values())
    monkeypatch.setattr(sys, "argv", ["hard_inputs.py", "--size", "2000", "--only", "independent, 2 "])
    hard.main()
    assert "| independent, 2 letters | 1 |" in capsys.readouterr().out


def test_doubts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    doubts = load("doubts")
    runs = [("known", doubts.known, 1_000, 2), ("Mess3", doubts.mess3, 5_000, 1)]
    monkeypatch.setattr(doubts, "RUNS", runs)
    monkeypatch.setattr(doubts, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(doubts, "__file__", str(tmp_path / "doubts.py"))
    monkeypatch.setattr(sys, "argv", ["doubts.py"])
    doubts.main()
    assert "| Mess3 | 5e+03 | 0 of 0 | 0 of 0 | 1 of 1 | 0 of 0 |" in capsys.readouterr().out
    assert "| all |" in (tmp_path / "doubts.md").read_text()


def test_beliefs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    beliefs = load("beliefs")
    processes = beliefs.ds.processes
    assert [len(true.steps) for _, true in beliefs.sources(1)] == [3, 2, 2, 3, 3, 3, 3, 3]
    monkeypatch.setattr(beliefs, "FRESH", 2_000)
    assert len(dict(beliefs.decided_sources(1))) == 5
    for name in ("sources", "decided_sources"):
        monkeypatch.setattr(beliefs, name, lambda seed: iter([("SNS", processes.simple_nonunifilar())]))
    monkeypatch.setattr(processes, "catalogue", {"coin": processes.coin})
    monkeypatch.setattr(beliefs, "DRAWN", 1)
    monkeypatch.setattr(beliefs, "__file__", str(tmp_path / "beliefs.py"))
    monkeypatch.setattr(sys, "argv", ["beliefs.py", "--size", "2000", "--symbols", "3000"])
    beliefs.main()
    printed = capsys.readouterr().out
    row = next(line for line in printed.splitlines() if line.startswith("| SNS | 1 | 2 |")).split(" | ")
    assert float(row[4]) < 0.01
    assert float(row[5]) > 0.95
    assert "| SNS | 1 | odds |" in printed
    assert "| known processes | 1 | 1 |" in printed
    assert "| ratio |" in (tmp_path / "beliefs.md").read_text()
