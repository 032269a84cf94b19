"""Streams that drift: changes are told soon and learnt right, what stays is left alone, nothing is lost on disk."""

import io
import json
import math
import pickle
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import decisional as ds
import naive_drift
from decisional import cli
from decisional.streams import monitor as module
from decisional.streams.learner import Recent
from decisional.streams.monitor import Monitor, RefusedSymbol
from strategies import machines
from strategies_symbols import examples

EVEN, GOLDEN = ds.processes.even(), ds.processes.golden_mean()
# Levels that no ratio of small counts can equal.
QUICK = ds.Adapt(window=60, alpha=0.0123, refit_after=15)
FORGETFUL = ds.Adapt(forget=20, alpha=0.0123, refit_after=15)


def decide(machine):
    return ds.DecisionalStates(ds.utility.zero_one()).fit(machine)


def drifting(*processes, n=5_000, seed=0):
    return np.concatenate([process.simulate(n, rng=seed + i) for i, process in enumerate(processes)])


def turns(events):
    """What is told beside decisions."""
    return [event for event in events if not isinstance(event, ds.Event)]


def text(events):
    """Events as they are, but for the machines, which are named by what they say."""
    return [repr((*e[:3], e.machine.emission.tolist())) if isinstance(e, ds.Refit) else repr(e) for e in events]


@st.composite
def streams(draw):
    """A machine, and symbols of it and of others, with gaps and symbols that it does not know."""
    machine = draw(machines(max_states=3))
    assume(machine.recurrent.any())
    symbols = []
    for _ in range(draw(st.integers(1, 4))):
        other = machine if draw(st.booleans()) else draw(machines(max_states=2))
        symbols += other.simulate(draw(st.integers(0, 60)), rng=draw(st.integers(0, 99))).tolist()
        symbols += draw(st.lists(st.sampled_from([0, 1, 2, 3, "new", None]), max_size=2))
    return machine, symbols


@pytest.mark.small
@examples(60, 2)
@given(streams(), st.sampled_from([QUICK, FORGETFUL]), st.booleans(), st.booleans(), st.data())
def test_agrees_with_naive(tmp_path_factory, stream, adapt, stay, stay_gap, data):
    machine, symbols = stream
    decision = decide(machine)
    policies = {"impossible": "stay" if stay else "reset", "missing": "stay" if stay_gap else "reset"}
    twin = naive_drift.Monitor(decision, adapt, (stay, stay_gap))
    expected = [twin.push(naive_drift.GAP if symbol is None else symbol) for symbol in symbols]
    expected = [found for found in expected if found is not None]
    monitor = Monitor(decision, adapt=adapt, **policies)
    path = tmp_path_factory.getbasetemp() / "drift.json"
    cuts = data.draw(st.lists(st.integers(0, len(symbols)), max_size=6))
    events = []
    for begin, end in pairwise(sorted({0, len(symbols), *cuts})):
        how = data.draw(st.sampled_from(["push", "feed", "watch", "save", "pickle"]))
        if how == "save":
            monitor.save(path)
            monitor = Monitor.load(path)
        elif how == "pickle":
            monitor = pickle.loads(pickle.dumps(monitor))
        if how == "push":
            events += [e for e in map(monitor.push, symbols[begin:end]) if e is not None]
        else:
            events += monitor.watch(symbols[begin:end]) if how == "watch" else monitor.feed(symbols[begin:end])
    assert (monitor.position, monitor.learning) == (len(symbols), twin.learning)
    found = turns(events)
    assert [e.position for e in found] == [e[1] for e in expected]
    for event, (kind, _, since, what) in zip(found, expected, strict=True):
        assert event.since == since
        if kind == "change":
            assert math.isclose(event.bits, what, rel_tol=1e-6)
        else:
            assert event.moved == (kind == "moved")
            other = what if kind == "moved" else what.machine_
            assert event.machine.alphabet == other.alphabet
            np.testing.assert_array_equal(event.machine.targets, other.targets)
            np.testing.assert_allclose(event.machine.emission, other.emission, rtol=1e-6, atol=1e-12)
    places = [e.position for e in events]
    assert places == sorted(set(places))
    if not monitor.learning:
        test = monitor._learner.test
        assert math.isclose(test.levels[0], twin.test.ratio, rel_tol=1e-6)
        assert {i: p for i, p in enumerate(monitor_belief(test)) if p > 0} == pytest.approx(twin.test.belief)


def monitor_belief(test):
    state = int(test.marks[4])
    return np.eye(test.belief.size)[state] if state >= 0 else test.belief


@pytest.mark.parametrize("adapt", [ds.Adapt(), ds.Adapt(forget=5_000), ds.Adapt(window=1_000)])
def test_even_golden_mean_even(adapt):
    processes = (EVEN, GOLDEN, EVEN)
    found = turns(Monitor(decide(EVEN), adapt=adapt).feed(drifting(*processes)))
    assert [type(event) for event in found] == [ds.Change, ds.Refit] * 2
    for k, (change, refit) in enumerate(zip(found[::2], found[1::2], strict=True), 1):
        assert 5_000 * k <= change.position < 5_000 * k + 100
        assert abs(change.since - 5_000 * k) < 100
        assert refit.position < 5_000 * k + 2_000
        assert refit.machine.is_isomorphic(processes[k], atol=0.1)
        assert not refit.moved


@pytest.mark.parametrize(
    ("before", "after", "delay"),
    [
        (EVEN, ds.processes.even(0.3), 2_000),
        (ds.processes.coin(), EVEN, 800),
        (GOLDEN, ds.processes.noisy_period_2(), 1_200),
        (ds.processes.coin(), ds.processes.rrxor(), 2_000),
        (ds.processes.rrxor(), ds.processes.coin(), 200),
    ],
)
def test_other_changes(before, after, delay):
    change = turns(Monitor(decide(before), adapt=ds.Adapt()).feed(drifting(before, after)))[0]
    assert 5_000 <= change.position < 5_000 + delay


@pytest.mark.parametrize("adapt", [ds.Adapt(), ds.Adapt(forget=20_000)])
@pytest.mark.parametrize("name", ["even", "nemo", "coin", "fitted"])
def test_nothing_is_told_of_what_stays(name, adapt):
    machine = EVEN if name == "fitted" else getattr(ds.processes, name)()
    known = ds.epsilon_machine(machine.simulate(2_000, rng=5)) if name == "fitted" else machine
    monitor = Monitor(decide(known), adapt=adapt)
    plain, symbols = Monitor(decide(known)), machine.simulate(1_000_000, rng=1)
    found, expected = monitor.feed(symbols), plain.feed(symbols)
    # Counts from 2,000 symbols may be put right without giving up the machine.
    assert not [event for event in found if isinstance(event, ds.Change)] if name == "fitted" else not turns(found)
    if name != "fitted":
        assert len(found) == len(expected)
        assert (monitor.state, monitor.decision) == (plain.state, plain.decision)


def test_events_before_a_change_are_those_without_adapting():
    symbols = drifting(EVEN, GOLDEN, n=3_000)
    found = list(Monitor(decide(EVEN), adapt=ds.Adapt()).feed(symbols))
    change = next(i for i, event in enumerate(found) if isinstance(event, ds.Change))
    plain = [e for e in Monitor(decide(EVEN)).feed(symbols) if e.position < found[change].position]
    assert repr(found[:change]) == repr(plain)
    refit, first = found[change + 1], found[change + 2]
    assert isinstance(refit, ds.Refit)
    assert (first.position, first.before) == (refit.position + 1, -1)


def test_while_learning_nothing_is_decided():
    symbols = drifting(EVEN, GOLDEN, n=3_000)
    monitor = Monitor(decide(EVEN), adapt=ds.Adapt())
    for symbol in symbols.tolist():
        event = monitor.push(symbol)
        if isinstance(event, ds.Change):
            break
    assert monitor.learning
    assert (monitor.state, monitor.decision, monitor.predictions) == (-1, -1, None)
    assert math.isnan(monitor.utility)
    assert str(event).startswith(f"{event.position}: the machine no longer fits since about {event.since} (")
    assert str(event).endswith(" bits): learning anew")
    found = monitor.feed(symbols[monitor.position :])
    assert str(found[0]).endswith(f": a new machine of 2 states, learnt from the symbols since {found[0].since}")
    assert not monitor.learning
    assert monitor.decision >= 0
    # Ties are those of the sample: the coin of the new machine is one.
    assert frozenset({0, 1}) in list(found[0].choice.predictions_)


def test_chunks_and_restarts_change_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 700)
    symbols = drifting(EVEN, GOLDEN, ds.processes.even(0.3), n=2_500).tolist()
    symbols[100] = symbols[2_700] = symbols[2_701] = None
    for adapt in (ds.Adapt(refit_after=500), ds.Adapt(forget=1_000, refit_after=500)):
        expected = text(Monitor(decide(EVEN), adapt=adapt).feed(symbols))
        assert any("the machine" in line or "Change" in line for line in expected)
        rng = np.random.default_rng(1)
        monitor, found = Monitor(decide(EVEN), adapt=adapt), []
        for part in np.split(np.array(symbols, object), np.sort(rng.integers(0, len(symbols), 30))):
            monitor.save(tmp_path / "monitor.json")
            monitor = Monitor.load(tmp_path / "monitor.json")
            found += list(monitor.watch(part)) if part.size < 150 else monitor.feed(part)
        assert text(found) == expected


def test_new_symbols_are_learnt():
    new = ds.EpsilonMachine([("A", "0", "A", 0.5), ("A", "2", "B", 0.5), ("B", "2", "A", 1)])
    letters = ["".join(map(str, m.simulate(3_000, rng=1).tolist())) for m in (EVEN, new)]
    expected = None
    for form in ("".join(letters), "".join(letters).encode(), list("".join(letters))):
        monitor = Monitor(decide(EVEN), adapt=ds.Adapt())
        found = turns(monitor.feed(form))
        assert [type(event) for event in found] == [ds.Change, ds.Refit]
        assert set(map(str, monitor.machine.alphabet)) == {"0", "2"}
        assert monitor.machine.n_states == 2
        expected = expected or text(found)
        assert text(found) == expected
    monitor = Monitor(decide(EVEN), adapt=ds.Adapt())
    assert text(turns(monitor.watch("".join(letters).encode()))) == expected


def test_outcomes_without_utility_are_refused_and_learning_goes_on():
    choice = ds.DecisionalStates(ds.utility.table([[0, 0], [-3, 1]])).fit(EVEN)
    monitor = Monitor(choice, adapt=ds.Adapt())
    assert len(turns(monitor.feed(drifting(EVEN, GOLDEN)))) == 2
    symbols = np.random.default_rng(0).integers(0, 3, 3_000)
    with pytest.raises(ValueError, match=r"from position \d+ on has no decisions, and is learnt on; .*2 is asked for"):
        monitor.feed(symbols)
    assert monitor.learning
    position = monitor.position
    monitor.feed(symbols[:10])
    assert monitor.position == position + 10


@pytest.mark.parametrize(
    ("machine", "least"),
    [(ds.processes.random_machine(8, 3, rng=2), 1_000), (ds.processes.random_machine(7, rng=3), 100)],
)
def test_a_machine_learnt_from_too_few_symbols_is_learnt_from_more(machine, least):
    monitor = Monitor(decide(EVEN), adapt=ds.Adapt(refit_after=least))
    found = turns(monitor.feed(machine.simulate(20_000, rng=1)))
    refits = [event for event in found if isinstance(event, ds.Refit)]
    # What a state emits that comes 0.6 % of the time is known roughly when its machine is.
    assert not refits[0].machine.is_isomorphic(machine, atol=0.2)
    assert monitor.machine.is_isomorphic(machine, atol=0.2)


def test_slow_drift_of_probabilities():
    chances = np.linspace(0.5, 0.2, 10)
    symbols = drifting(*map(ds.processes.even, chances), n=20_000)
    monitor = Monitor(decide(EVEN), adapt=ds.Adapt(forget=5_000))
    found = turns(monitor.feed(symbols))
    assert len(found) > 3
    assert all(event.moved for event in found)
    assert abs(monitor.machine.emission[0].min() - 0.2) < 0.05
    assert str(found[0]) == f"{found[0].position}: new probabilities in the same 2 states"


def test_gaps_are_refused_in_their_place():
    symbols = drifting(EVEN, GOLDEN, n=1_500).astype(float)
    symbols[[700, 1_800]] = np.nan
    monitor, found = Monitor(decide(EVEN), missing="raise", adapt=ds.Adapt()), []
    begin, refused = 0, []
    while True:
        try:
            found += monitor.feed(symbols[begin:])
            break
        except RefusedSymbol as error:
            refused.append((error.position, monitor.position, begin + error.index))
            found += error.events
            begin = error.position + 1
            monitor.gap()
    assert refused == [(700,) * 3, (1_800,) * 3]
    assert text(found) == text(Monitor(decide(EVEN), adapt=ds.Adapt()).feed(symbols))
    assert len(turns(found)) == 2
    with pytest.raises(RefusedSymbol):
        monitor.push(None)


@pytest.mark.parametrize("missing", ["reset", "stay"])
def test_masked_symbols_may_come_one_at_a_time(missing):
    symbols = np.ma.masked_array(drifting(EVEN, n=300), mask=np.arange(300) % 50 == 20)
    one, whole = (Monitor(decide(EVEN), missing=missing, adapt=ds.Adapt()) for _ in range(2))
    found = [event for symbol in symbols if (event := one.push(symbol)) is not None]
    assert text(found) == text(whole.feed(symbols))
    assert (one.position, one.state) == (whole.position, whole.state)


@pytest.mark.small
def test_memory_is_bounded():
    recent = Recent(10, "ab")
    for i in range(1_000):
        recent.extend(np.array([i % 2, 2]), np.zeros(2, bool), ["ab"[i % 2], f"new {i}"])
    assert recent.codes.size == 10
    assert len(recent.letters) <= 2 + 2 * 10 + 1
    assert [recent.letters[k] for k in recent.last(4)] == ["a", "new 998", "b", "new 999"]


@pytest.mark.small
def test_happenings():
    monitor = Monitor(decide(EVEN), adapt=ds.Adapt())
    found = monitor.feed("0110")
    assert len(found) == 3
    assert repr(list(found)) == repr([found[0], found[1], found[-1]]) == repr(found[:])
    assert str(found).splitlines() == [str(event) for event in found]
    with pytest.raises(IndexError):
        found[3]


@pytest.mark.small
def test_files(tmp_path):
    path = tmp_path / "monitor.json"
    monitor = Monitor(decide(EVEN), adapt=ds.Adapt(forget=500))
    monitor.feed("0110")
    monitor.save(path)
    content = json.loads(path.read_text())
    assert content["version"] == 3
    assert Monitor.load(path).same_model(monitor)
    assert not monitor.same_model(Monitor(decide(EVEN)))
    assert not monitor.same_model(Monitor(decide(EVEN), adapt=ds.Adapt()))
    Monitor(decide(EVEN)).save(path)
    assert "drift" not in json.loads(path.read_text())
    for name, value in (("test", {}), ("adapt", {"window": 0}), ("recent", None)):
        path.write_text(json.dumps({**content, "version": 2, "drift": {**content["drift"], name: value}}))
        with pytest.raises(ValueError, match="is corrupt, save the monitor again"):
            Monitor.load(path)


def test_the_model_is_the_one_that_the_monitor_began_with(tmp_path):
    monitor = Monitor(decide(EVEN), adapt=ds.Adapt())
    monitor.feed(drifting(EVEN, GOLDEN))
    assert monitor.machine.is_isomorphic(GOLDEN, atol=0.1)
    monitor.save(tmp_path / "monitor.json")
    assert Monitor.load(tmp_path / "monitor.json").same_model(Monitor(decide(EVEN), adapt=ds.Adapt()))


def bonus(y, z):
    return 1.0 * (y == z)


@pytest.mark.small
def test_utilities_in_files(tmp_path):
    path = tmp_path / "monitor.json"
    utility = ds.utility
    named = utility.table([[0, 1], [2, 0], [1, 1]], y=["a", "b", None])
    numeric = utility.newsvendor(3, 1), utility.interval_score(0.5), utility.alarm(0.5, 3, 1, below=True, y=(0, 1))
    for worth in (named, utility.tolerant(0.2), utility.squared_error(), utility.absolute_error(y=[0, 1]), *numeric):
        decision = ds.DecisionalStates(worth, delta=0.1).fit(EVEN)
        Monitor(decision, adapt=ds.Adapt()).save(path)
        found = Monitor.load(path)._learner.template
        assert repr(found["utility"]) == repr(decision._utility)
        assert (found["delta"], found["atol"]) == (0.1, None)
    Monitor(ds.DecisionalStates(named, indifference=0.25).fit(EVEN), adapt=ds.Adapt()).save(path)
    assert Monitor.load(path)._learner.template["indifference"] == 0.25
    decision = ds.DecisionalStates(bonus).fit(EVEN)
    Monitor(decision, adapt=ds.Adapt()).save(path)
    with pytest.raises(ValueError, match="its utility is a function, which no file holds: give load the 'decision'"):
        Monitor.load(path)
    assert Monitor.load(path, decision)._learner.template["utility"] is decision._utility


@pytest.mark.small
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"window": 100, "forget": 100}, "The 'window' of Adapt is 100 and 'forget' is 100; one of them is the memory"),
        ({"window": 2.5}, "The 'window' of Adapt is 2.5; it must be an integer from 10 to"),
        ({"forget": 0}, "The 'forget' of Adapt is 0; it must be an integer"),
        ({"refit_after": None}, "The 'refit_after' of Adapt is None; it must be an integer"),
        ({"refit_after": True}, "The 'refit_after' of Adapt is True; it must be an integer"),
        ({"alpha": 0}, "The 'alpha' of Adapt is 0; it must be a number above 0 and below 1"),
        ({"alpha": "x"}, "The 'alpha' of Adapt is 'x'"),
        ({"window": 500}, "The 'refit_after' of Adapt is 1000 and only 500 symbols are kept"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ds.Adapt(**parameters)


@pytest.mark.small
def test_wrong_combinations():
    with pytest.raises(ValueError, match="The 'adapt' is True and"):
        Monitor(decide(EVEN), adapt=True)
    with pytest.raises(ValueError, match=r"'impossible' is 'raise'; .* use impossible='reset' or 'stay'"):
        Monitor(decide(EVEN), impossible="raise", adapt=ds.Adapt())
    monitor = Monitor(decide(EVEN), adapt=ds.Adapt())
    with pytest.raises(TypeError, match="must be hashable"):
        monitor.push([0])
    with pytest.raises(TypeError, match="sequence of hashable values"):
        monitor.feed([0, [1]])
    assert monitor.position == 0


def test_from_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = ("A", "0", "A", 0.5), ("A", "1", "B", 0.5), ("B", "1", "A", 1.0)
    ds.EpsilonMachine(names).save("machine.json")
    symbols = "".join(map(str, drifting(EVEN, GOLDEN, n=2_000).tolist())) + "2"

    def watch(text, *arguments):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return cli.main(["watch", "machine.json", "--utility", "zero-one", *arguments])

    assert watch(symbols, "--adapt", "5000") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    change, refit = (line for line in lines if "change" in line or "refit" in line)
    assert 2_000 <= change["position"] < 2_100
    assert abs(change["change"]["since"] - 2_000) < 100
    assert len(refit["refit"]["transitions"]) == 3
    files = "--state", "state.json", "--out", "events.jsonl", "--adapt", "5000"
    assert watch(symbols[:2_500], *files) == 0
    assert watch(symbols, *files, "--skip-seen", "--quiet") == 0
    assert [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()] == lines
    Monitor(decide(EVEN)).save("machine.json")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert cli.main(["watch", "machine.json", "--adapt"]) != 0
    assert "leave --adapt out" in capsys.readouterr().err


@pytest.mark.small
def test_the_alphabet_does_not_depend_on_which_symbol_came_first():
    machine = ds.EpsilonMachine([("A", 0, "A", 1.0)])
    monitor = Monitor(decide(machine), adapt=QUICK)
    events = monitor.feed([0, 0, 0, "new", 1, "new", *[0] * 13])
    assert [event.machine.alphabet for event in turns(events) if isinstance(event, ds.Refit)] == [(0, 1, "new")]


def test_a_monitor_is_saved_right_after_it_learnt(tmp_path):
    first, second = ds.processes.golden_mean(), ds.processes.even()
    symbols = np.concatenate([first.simulate(300, rng=1), second.simulate(3_000, rng=2)])
    monitor = ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(first), adapt=ds.Adapt(refit_after=200))
    known = 0
    for place, symbol in enumerate(symbols):
        if isinstance(monitor.push(symbol), ds.Refit):
            known += monitor.state >= 0
            monitor.save(tmp_path / "monitor.json")
            again = ds.Monitor.load(tmp_path / "monitor.json")
            assert (again.state, again.position) == (monitor.state, place + 1)
    assert known
