"""Machines without parameters: known answers, noise, short data, and what is refused."""

import re
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import decisional as ds
from decisional.data import sequences as reading
from decisional.data import slices, stored_symbols, stores
from decisional.states import bootstraps, merging, search
from decisional.states import machine_selection as selection
from decisional.states.search import StoredSeries, SymbolSeries

PROCESSES = {name: make() for name, make in ds.processes.catalogue.items()}


def machine_of(symbols: object, **options: int) -> ds.EpsilonMachine:
    return selection.select(symbols, **options).machine


@pytest.mark.parametrize("name", PROCESSES)
def test_every_process_is_found_without_parameters(name: str) -> None:
    true = PROCESSES[name]
    for n, seed in ((3_000, 1), (20_000, 2)):
        found = machine_of(true.simulate(n, rng=seed))
        assert found.is_isomorphic(true, atol=0.1), (n, seed, found)
        assert np.all(np.diff(found.weights) <= 0)


def test_random_machines() -> None:
    generator = np.random.default_rng(5)
    right = 0
    for _ in range(12):
        true = ds.processes.random_machine(int(generator.integers(2, 7)), int(generator.integers(2, 4)), generator)
        right += machine_of(true.simulate(30_000, rng=generator)).is_isomorphic(true, atol=0.1)
    assert right >= 11


@pytest.mark.parametrize(("n", "letters"), [(10, 8), (10, 26), (30, 26), (10, 4)])
def test_states_of_few_independent_letters_are_doubted(n: int, letters: int) -> None:
    """What a state never shows is by chance where there are few symbols."""
    for seed in range(10):
        found = selection.select(np.random.default_rng([letters, n, seed]).integers(0, letters, n))
        assert found.machine.n_states == 1 or found.warning is not None, seed


@pytest.mark.parametrize(("n", "letters"), [(300, 50), (3_000, 300), (5_000, 1_000)])
def test_many_independent_letters_are_one_state_without_a_warning(n: int, letters: int) -> None:
    found = selection.select(np.random.default_rng(0).integers(0, letters, n))
    assert (found.machine.n_states, found.warning) == (1, None)


def test_noise_makes_one_state() -> None:
    for letters in (2, 5, 26):
        for seed in range(4):
            noise = np.random.default_rng([letters, seed]).integers(0, letters, 3000)
            assert machine_of(noise).n_states == 1, (letters, seed)


def test_a_source_with_infinitely_many_states_gets_a_finite_machine() -> None:
    """The simple non-unifilar source; its entropy rate is 0.677867 bits."""
    generator = np.random.default_rng(0)
    coins = generator.random(200_000) < 0.5
    symbols, hidden = np.ones(coins.size, np.uint8), 0
    for i, stay in enumerate(coins):
        if hidden == 0:
            hidden = 0 if stay else 1
        elif not stay:
            symbols[i], hidden = 0, 0
    found = machine_of(symbols)
    assert 2 <= found.n_states < 20
    assert found.entropy_rate() == pytest.approx(0.677867, abs=0.005)


def test_several_sequences_and_gaps() -> None:
    nemo = ds.processes.nemo()
    parts = [nemo.simulate(200, rng=seed) for seed in range(60)]
    assert machine_of(parts).is_isomorphic(nemo, atol=0.1)
    holed = nemo.simulate(12_000, rng=1).astype(float)
    holed[::97] = np.nan
    assert machine_of(holed).is_isomorphic(nemo, atol=0.1)


def test_the_whole_picture() -> None:
    text = "".join(map(str, ds.processes.even().simulate(5_000, rng=2)))
    said: list[str] = []
    picture = selection.select(text, progress=said.append)
    said_of_it = rf"Selection\({picture.chosen.n_states} states chosen among {len(picture.candidates)} candidates, "
    assert re.fullmatch(said_of_it + r"[\d,.]+ bits for [\d,]+ symbols\)", repr(picture))
    assert picture.machine.is_isomorphic(ds.processes.even(), atol=0.05)
    assert picture.machine.alphabet == ("0", "1")
    # Equal machines, found in different ways, come by their pasts.
    lengths = [round(c.description_length, 2) for c in picture.candidates]
    assert lengths == sorted(lengths)
    assert picture.chosen is picture.candidates[0]
    assert picture.rival is not None
    assert picture.rival.description_length > picture.chosen.description_length
    plateau = picture.by_past()
    assert list(plateau) == sorted(plateau)
    assert plateau[max(plateau)].n_states == 2
    assert "2 states" in picture.why
    assert picture.warning is None
    assert any(line.startswith("past 3, future 1: 2 states") for line in said)
    # The likelihood is that of the machine, up to the unknown first state.
    assert picture.chosen.log_likelihood == pytest.approx(picture.machine.log_likelihood(text), abs=3)


def test_all_candidates_describe_the_same_symbols() -> None:
    picture = selection.select(ds.processes.rip().simulate(4_000, rng=2))
    for candidate in picture.candidates:
        assert candidate.counts.sum() + candidate.misses == pytest.approx(4_000)


def test_short_data_are_said_to_be_short() -> None:
    short = ds.processes.perturbed_coin(0.35).simulate(80, rng=0)
    picture = selection.select(short)
    assert picture.warning is not None
    assert picture.warning.startswith("80 symbols cannot separate 3 states from 2 states")
    with pytest.warns(UserWarning, match="80 symbols cannot separate"):
        ds.epsilon_machine(short)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds.epsilon_machine(ds.processes.perturbed_coin(0.35).simulate(5000, rng=1))


def test_limits_are_kept() -> None:
    picture = selection.select(ds.processes.even().simulate(3000, rng=1), max_past=2, max_future=1)
    assert {(c.past, c.future) for c in picture.candidates} == {(0, 0), (1, 1), (2, 1)}
    long = selection.select(ds.processes.periodic("0" * 29 + "1").simulate(6000, rng=1))
    assert long.machine.n_states == 30


def test_trivial_series() -> None:
    assert machine_of("aaaaaaa").n_states == 1
    assert machine_of("ab").n_states == 1
    assert machine_of(["a", "b"], sequences=True).n_states == 1
    with pytest.raises(ValueError, match="empty"):
        selection.select("")


def test_progress_is_told() -> None:
    told: list[str] = []
    ds.epsilon_machine("0110" * 30, progress=told.append)
    assert told[0].startswith("past 1, future 1: ")


def test_bootstrap() -> None:
    even = ds.processes.even()
    result = bootstraps.bootstrap(even, 1000, n=5, rng=1)
    assert result.same_topology == 1.0
    assert result.n_states == (2.0, 2.0)
    rates = sorted(machine.entropy_rate() for machine in result.replicates)
    assert rates[0] <= result.entropy_rate[0] < result.entropy_rate[1] <= rates[-1]
    assert rates == pytest.approx([2 / 3] * 5, abs=0.05)
    again = bootstraps.bootstrap(even, 1000, n=5, rng=1)
    assert again.statistical_complexity == result.statistical_complexity
    short = bootstraps.bootstrap(ds.processes.rrxor(), 60, n=3, rng=1)
    assert short.same_topology < 1.0


@pytest.mark.small
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: selection.select("0101", max_past=0),
            "'max_past' of select is 0; it must be an integer of at least 1: give one, or None",
        ),
        (lambda: selection.select("0101", max_future=1.5), "'max_future' of select"),
        (lambda: bootstraps.bootstrap(ds.processes.even(), 0), "'n_symbols' of bootstrap"),
        (lambda: bootstraps.bootstrap(ds.processes.even(), 10, n=0), "'n' of bootstrap"),
        (
            lambda: bootstraps.bootstrap(ds.processes.even(), 10, level=1.0),
            "'level' of bootstrap .* above 0 and below 1",
        ),
        (lambda: ds.processes.random_machine(0), "'n_states' is 0"),
        (lambda: ds.processes.random_machine(3, 2, least=0.6), "'least' is 0.6"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(call, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_random_machine_is_what_it_says() -> None:
    for seed in range(20):
        machine = ds.processes.random_machine(5, 3, rng=seed)
        assert machine.n_states == machine.recurrent_part().n_states == machine.minimise().n_states == 5
        assert machine.emission[machine.targets >= 0].min() >= 0.1 - 1e-12
        assert (machine.targets >= 0).any(axis=0).all()
        assert machine.is_isomorphic(ds.processes.random_machine(5, 3, rng=seed), atol=1e-12)


def kept(tmp_path: Path, values: Any, name: str = "symbols") -> Any:
    """Values in a file, as a memory map."""
    values = np.asarray(values)
    path = tmp_path / f"{name}.bin"
    values.tofile(path)
    return np.memmap(path, values.dtype, "r", shape=values.shape)


def in_slices(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Read even small files slice by slice."""
    monkeypatch.setattr(stores, "LARGE", 0)
    monkeypatch.setattr(slices, "BUDGET", rows * stored_symbols.SYMBOL_BYTES)


@pytest.mark.parametrize("rows", [1, 7, 63, 64, 65, 500, 10_000])
@pytest.mark.parametrize("kind", ["one", "gaps", "rows", "several", "wide"])
def test_driving_slice_by_slice_is_exact(rows: int, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_slices(monkeypatch, rows)
    generator = np.random.default_rng([rows, 1])
    values: Any = generator.integers(0, 3, 3000).astype(np.int64 if kind == "wide" else np.uint8)
    if kind == "gaps":
        values[generator.integers(0, 3000, 300)] = 9
        values[1000:1400] = 9
    given = (
        [values[:700], values[700:2999]] if kind == "several" else values.reshape(60, 50) if kind == "rows" else values
    )
    files = (
        [kept(tmp_path, part, str(i)) for i, part in enumerate(given)] if kind == "several" else kept(tmp_path, given)
    )
    data = stored_symbols.stored_symbols(files, 9)
    assert data is not None
    source = reading.read(given, 9)
    assert data.alphabet.letters == source.letters
    series = SymbolSeries(source.raw, source.lut, source.bounds, 3)
    whole = StoredSeries(data.pieces, data.size, 3)
    for n_states in (1, 2, 5):
        # Some edges are missing, so that states must be found anew.
        targets = generator.integers(-1, n_states, (n_states, 3))
        weights = generator.dirichlet(np.ones(3), n_states)
        a, b = series.drive(targets, weights), whole.drive(targets, weights)
        assert (a.start_bits, a.misses, a.length) == (b.start_bits, b.misses, b.length)
        assert np.array_equal(a.counts, b.counts)
        assert np.array_equal(a.targets, b.targets)


@pytest.mark.parametrize("name", ["even", "nemo", "rrxor"])
def test_stored_symbols_give_the_machine_of_those_in_memory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    symbols = np.asarray(PROCESSES[name].simulate(900_000, rng=3))
    inside = selection.select(symbols)
    in_slices(monkeypatch, 100_000)
    for sample in (1 << 20, 600_000):
        monkeypatch.setattr(selection, "SAMPLE", sample)
        picture = selection.select(kept(tmp_path, symbols))
        assert picture.machine.is_isomorphic(inside.machine, atol=1e-9)
        assert picture.chosen.description_length == pytest.approx(inside.chosen.description_length, abs=1e-6)
        assert picture.n_symbols == inside.n_symbols
        assert picture.alphabet == inside.alphabet
        assert list(picture.by_past())[:4] == list(inside.by_past())[:4]


@pytest.mark.parametrize("kind", ["zarr", "hdf5", "dask", "list", "floats", "text"])
def test_every_store_is_read(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    symbols = np.asarray(PROCESSES["golden_mean"].simulate(60_000, rng=3)).astype(np.uint8)
    in_slices(monkeypatch, 7_000)
    monkeypatch.setattr(selection, "SAMPLE", 30_000)
    monkeypatch.setattr(selection, "BLOCK", 10_000)
    given: Any
    if kind == "zarr":
        given = pytest.importorskip("zarr").array(symbols, chunks=5_000)
    elif kind == "hdf5":
        with pytest.importorskip("h5py").File(tmp_path / "a.h5", "w") as file:
            file["a"] = symbols
        given = stores.Stored(partial(stores._open_hdf5, str(tmp_path / "a.h5"), "a"))
    elif kind == "dask":
        given = pytest.importorskip("dask.array").from_array(symbols, chunks=5_000)
    elif kind == "list":
        given = [kept(tmp_path, part, str(i)) for i, part in enumerate(np.array_split(symbols, 3))]
    elif kind == "floats":
        given = kept(tmp_path, np.where(np.arange(symbols.size) % 1000 == 5, np.nan, symbols.astype(float)))
    else:
        (tmp_path / "a.txt").write_bytes((symbols + 48).tobytes())
        given = stores.text(tmp_path / "a.txt")
    said: list[str] = []
    picture = selection.select(given, progress=said.append)
    assert picture.machine.n_states == 2
    assert picture.alphabet == (("0", "1") if kind == "text" else (0, 1))
    assert picture.n_symbols == symbols.size - (60 if kind == "floats" else 0)
    assert any("60,000 symbols through" in line for line in said)


def test_stored_symbols_that_are_no_series_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_slices(monkeypatch, 100)
    monkeypatch.setattr(selection, "SAMPLE", 100)
    with pytest.raises(ValueError, match="3 dimensions"):
        selection.select(kept(tmp_path, np.zeros((5, 5, 5), np.uint8)))
    with pytest.raises(ValueError, match="2 dimensions"):
        selection.select([kept(tmp_path, np.zeros((5, 5), np.uint8))])
    with pytest.raises(ValueError, match="200 sequences of at most one symbol"):
        selection.select(kept(tmp_path, np.zeros((200, 1), np.uint8)))
    with pytest.raises(ValueError, match="All 200 'symbols' are missing"):
        selection.select(kept(tmp_path, np.zeros(200, np.uint8)), missing=0)


def test_sequences_that_never_meet_are_classes_of_their_own() -> None:
    machine = machine_of([[0] * 50, [1] * 50])
    assert machine.n_states == 2
    assert machine.recurrent.all()
    assert np.array_equal(machine.targets >= 0, machine.emission == 1.0)
    assert machine.weights.tolist() == [0.5, 0.5]


def test_transient_states_are_left_out_and_a_class_left_once_is_not() -> None:
    """A machine is recurrent; where one regime follows another, none of the two is a mere beginning."""
    chain = search.Candidate(
        np.array([[1, -1], [1, 2], [2, 0]])[:, ::-1], np.array([[5.0, 0], [60, 7], [80, 6]])[:, ::-1], 0.0, 0, 1.0
    )
    two = selection.Selection((chain,), ("b", "a"), 158)
    assert two.machine.n_states == 3
    left = replace(chain, targets=np.array([[1, 0], [1, 2], [-1, 2]]), counts=np.array([[2.0, 5], [60, 2], [0, 80]]))
    one = selection.Selection((left,), ("a", "b"), 149)
    assert one.machine.n_states == 1
    # What is told of it is of the machine.
    assert one.why.startswith("1 state, found")
    assert "Selection(1 state chosen" in repr(one)
    once = replace(left, counts=np.array([[1.0, 5], [60, 1], [0, 80]]))
    found = selection.Selection((once,), ("a", "b"), 147).machine
    assert found.n_states == 3
    assert found.recurrent.all()


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_gaps_hide_no_states(share: float) -> None:
    for name in ("even", "golden_mean", "rip"):
        generator = np.random.default_rng(11)
        symbols = np.asarray(PROCESSES[name].simulate(15_000, rng=generator)).astype(int)
        symbols[generator.random(symbols.size) < share] = -1
        assert machine_of(symbols, missing=-1).is_isomorphic(PROCESSES[name], atol=0.1), name


@pytest.mark.parametrize("seed", range(25))
def test_names_of_symbols_change_nothing(seed: int) -> None:
    generator = np.random.default_rng([9, seed])
    letters = int(generator.integers(2, 5))
    symbols = generator.integers(0, letters, 150)
    if seed % 3:
        symbols = ds.processes.random_machine(3, letters, generator).simulate(300, rng=generator)
    names = generator.permutation(letters)
    a, b = machine_of(symbols), machine_of(names[symbols])
    column = [b.alphabet.index(int(names[int(str(letter))])) for letter in a.alphabet]
    assert np.array_equal(a.targets, b.targets[:, column])
    assert a.emission == pytest.approx(b.emission[:, column], abs=1e-12)


def test_what_is_not_explained_is_said() -> None:
    """Memory of lag 3 that windows of one symbol cannot see, with the proposals that would find it switched off."""
    generator = np.random.default_rng(1)
    symbols = generator.integers(0, 2, 5_000)
    for i in range(3, symbols.size):
        symbols[i] = symbols[i - 3] ^ (generator.random() < 0.2)
    picture = selection.select(symbols)
    assert picture.machine.n_states == 8
    assert picture.warning is None
    assert picture.explained == 1.0
    coin = next(c for c in picture.candidates if c.n_states == 1)
    series = SymbolSeries(symbols.astype(np.uint8), np.arange(2), np.array([0, symbols.size]), 2)
    blind = replace(picture, candidates=(coin,), unexplained=merging.unexplained(series, coin))
    assert blind.unexplained > 1_000
    assert blind.explained < 0.05
    assert "explains" in blind.warning
    assert "symbols before still save" in blind.warning


def test_a_search_that_is_cut_says_so() -> None:
    symbols = np.random.default_rng(2).integers(0, 3, 20_000)
    symbols[9:] = (symbols[:-9] + symbols[4:-5]) % 3
    picture = selection.select(symbols, seconds=1e-6)
    assert picture.cut
    assert picture.warning.startswith("The search was ended by the time that it was given")
    with pytest.raises(ValueError, match="'seconds' of select is 0"):
        selection.select(symbols, seconds=0)
