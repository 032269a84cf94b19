"""Guard rails: memory that there is, estimates before a run, and clean refusals instead of a killed process."""

import math
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import decisional as ds
from decisional.data import keys as counting
from decisional.data import slices
from decisional.support import resources

RNG = np.random.default_rng(0)
COIN = RNG.integers(0, 2, 400_000).astype(np.uint8)


def symbols(name: str, n: int) -> Any:
    return np.asarray(getattr(ds.processes, name)().simulate(n, rng=1))


def little(monkeypatch: pytest.MonkeyPatch, n_bytes: float) -> None:
    monkeypatch.setattr(resources, "available", lambda: float(n_bytes))


def test_available_is_a_sensible_number() -> None:
    free = resources.available()
    assert 1e7 < free < 1e15 or free == math.inf
    assert free <= resources._system() * 1.5


@pytest.mark.parametrize("version", [1, 2])
def test_control_groups_limit_what_is_free(tmp_path: Path, version: int) -> None:
    member, inner = tmp_path / "cgroup", tmp_path / "a" / "b"
    names = {2: ("memory.max", "memory.current"), 1: ("memory.limit_in_bytes", "memory.usage_in_bytes")}[version]
    if version == 1:
        inner = tmp_path / "memory" / "a" / "b"
    inner.mkdir(parents=True)
    member.write_text("3:cpu:/x\n4:memory:/a/b\n" if version == 1 else "0::/a/b\n")
    assert resources._control_group(tmp_path, member) == math.inf
    prefix = "total_" if version == 1 else ""
    for folder, limit, used in ((inner, "max", "100"), (inner.parent, "1000", "600")):
        (folder / names[0]).write_text(limit + "\n")
        (folder / names[1]).write_text(used + "\n")
        (folder / "memory.stat").write_text(f"{prefix}inactive_file 50\n{prefix}active_file 30\nanon 1\n")
    assert resources._control_group(tmp_path, member) == 480
    assert resources._control_group(tmp_path, tmp_path / "none") == math.inf


def test_require_says_what_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    little(monkeypatch, 3e9)
    resources.require(2e9, "things", "use fewer")
    with pytest.raises(MemoryError, match=r"^The things need up to 5\.0 GB and 3\.0 GB are free;.*: use fewer\.$"):
        resources.require(5e9, "things", "use fewer")


@pytest.mark.parametrize(
    ("name", "past"),
    [("even", 10), ("even", 24), ("golden_mean", 20), ("nemo", 16), ("nemo", 22), ("rrxor", 16), ("coin", 12)],
)
def test_distinct_x_and_memory_are_known_within_a_factor_of_3(name: str, past: int) -> None:
    def observed() -> Any:
        return ds.observe.series(symbols(name, 2_000_000), past, chunks=200_000)

    cost = observed().cost()
    obs = observed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ds.CausalStates().fit(ds.observe.series(symbols(name, 10_000), 3, chunks=2_000))  # compiled before
        tracemalloc.start()
        ds.CausalStates().fit(obs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    distinct = obs.table().n_x
    assert distinct / 3 <= cost.distinct <= 3 * distinct
    assert cost.slices == 10
    assert cost.seconds > 0
    # What one slice takes does not grow with the data.
    assert cost.memory <= 3 * peak
    assert peak <= 3 * cost.memory + 3e7


@pytest.mark.parametrize("n_slices", [1, 2, 3, 7])
def test_cost_with_few_slices_and_words_of_every_length(n_slices: int) -> None:
    obs = ds.observe.series(COIN, 70, chunks=-(-COIN.size // n_slices))
    cost = obs.cost()
    assert cost.distinct == pytest.approx(obs.n, rel=0.1)
    assert str(cost).startswith("about ")
    assert f"in {n_slices} slice" in str(cost)


OTHERS: dict[str, Any] = {
    "field": lambda: ds.observe.light_cones(ds.processes.elementary_ca(110, 200, 500, rng=1), 3, 2, chunks=150),
    "steps": lambda: ds.observe.light_cones(RNG.integers(0, 2, (90, 50)), 1, 2, transitions="time", chunks=30),
    "pairs": lambda: ds.observe.pairs(RNG.integers(0, 50, 50_000), RNG.integers(0, 3, 50_000), chunks=5_000),
    "symbols": lambda: ds.observe.pairs(list("abc" * 9000), list("xyz" * 9000), list("uvw" * 9000), chunks=5_000),
    "rows": lambda: ds.observe.series(RNG.integers(0, 2, (500, 200)), 3, chunks=50),
    "gaps": lambda: ds.observe.series([None] * 900 + list("0110" * 500), 2, chunks=300),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_cost_of_other_observations(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "SAMPLE", (100, 1000))
    obs = OTHERS[kind]()
    assert obs.table().n_x / 3 <= obs.cost().distinct <= 3 * obs.table().n_x


@pytest.mark.parametrize("kind", ["delays", "image"])
def test_cost_of_numbers(kind: str) -> None:
    values = np.random.default_rng(1).normal(size=(300, 300))
    obs = (
        ds.observe.delays(values.ravel(), 3, chunks=9_000) if kind == "delays" else ds.observe.image(values, chunks=30)
    )
    assert obs.cost().distinct == pytest.approx(len(obs.tally().x), rel=0.2)


def test_fit_warns_or_refuses_before_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    def observed() -> Any:
        return ds.observe.series(COIN, 30, chunks=50_000)

    expected = observed().cost().memory
    counted = []
    monkeypatch.setattr(slices.Sliced, "_count", lambda self, executor: counted.append(1))
    little(monkeypatch, expected / 3)
    with pytest.raises(MemoryError, match=r"distinct x need up to .* GB are free;.*shorter past"):
        ds.CausalStates().fit(observed())
    assert not counted
    little(monkeypatch, expected)
    with pytest.warns(UserWarning, match=r"expected to take about .*are free; .*shorter past"):
        observed().check_memory()
    little(monkeypatch, 3 * expected)
    observed().check_memory()


def test_small_data_are_not_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices.Sliced, "cost", lambda self: pytest.fail("sampled"))
    ds.CausalStates().fit(ds.observe.series(COIN[:20_000], 3, chunks=5_000))


def test_tables_ask_before_they_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = RNG.permutation(400_000)
    counter = counting.KeyCounter()
    little(monkeypatch, 1e6)
    with pytest.raises(MemoryError, match=r"distinct keys need up to .*shorter past"):
        counter.add(keys)
    with pytest.raises(MemoryError, match="distinct keys"):
        counting.add((keys, keys), (keys, keys))
    few = counting.KeyCounter()
    few.add(keys[:1000])
    assert few.counted()[0].size == 1000


def test_merges_and_arrays_ask_before_they_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    obs = ds.observe.series(COIN, 16, chunks=50_000)
    causal = ds.CausalStates().fit(obs)
    little(monkeypatch, 1e6)
    for name in ("x", "z", "site"):
        with pytest.raises(MemoryError, match=rf"'{name}' of .*write_values"):
            getattr(obs, name)
    with pytest.raises(MemoryError, match="write_values"):
        _ = causal.labels_
    with pytest.raises(MemoryError, match=r"merged counts of up to .* distinct x"):
        slices._merge(obs.tally(), obs.tally())


LIMITED = """
import resource, numpy as np, decisional as ds, warnings
from decisional.support import resources
warnings.simplefilter("ignore")
x = np.random.default_rng(0).integers(0, 2, 6_000_000).astype(np.uint8)
ds.CausalStates().fit(ds.observe.series(x[:20_000], 3, chunks=5_000))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000, resource.RLIM_INFINITY))
assert resources.available() < 3.1e8
obs = ds.observe.series(x, 40, chunks=250_000)
try:
    {run}
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
@pytest.mark.parametrize("run", ["ds.CausalStates().fit(obs)", "obs.table()"])
def test_a_process_with_little_memory_ends_with_a_sentence(run: str) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED.format(run=run)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "GB are free; they must fit in memory" in done.stdout
