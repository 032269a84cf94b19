"""The monitor: whatever the chunking, what batch filtering gives; policies, gaps, and going on after a restart."""

import base64
import copy
import json
import math
import pickle
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import decisional as ds
from decisional.decisions.as_json import decode, encode
from decisional.streams import monitor as module
from decisional.streams.monitor import Monitor, RefusedSymbol
from strategies import machines
from strategies_symbols import examples

POLICIES = ("reset", "stay", "raise")
GAPS = (None, math.nan, np.ma.masked)


class Naive:
    """The monitor with dicts and loops: a belief, and the last known causal state."""

    def __init__(self, decision, labels, impossible, missing):
        self.machine, self.decision, self.labels = decision.machine_, decision, labels
        self.policy = {False: impossible, True: missing}
        self.home = {i: p for i, p in enumerate(self.machine.stationary.tolist()) if p > 0}
        self.belief, self.position, self.state, self.last = dict(self.home), 0, -1, -1

    def after(self, belief, symbol):
        mass = {}
        if symbol in self.machine.alphabet:
            a = self.machine.alphabet.index(symbol)
            for i, p in belief.items():
                if p * self.machine.emission[i, a] > 0:
                    j = int(self.machine.targets[i, a])
                    mass[j] = mass.get(j, 0.0) + p * self.machine.emission[i, a]
        total = sum(mass.values())
        return {j: p / total for j, p in mass.items()}

    def push(self, symbol, gap):
        belief = {} if gap else self.after(self.belief, symbol)
        lost = False
        if not belief:
            policy = self.policy[gap]
            if policy == "raise":
                raise ValueError
            belief = self.belief
            if policy == "reset":
                belief = {} if gap else self.after(self.home, symbol)
                lost = not belief
                belief = belief or dict(self.home)
        self.belief, self.position = belief, self.position + 1
        self.state = next(iter(belief)) if len(belief) == 1 and not lost else -1
        if self.state < 0:
            return None
        before, self.last = self.last, self.state
        if before >= 0 and self.labels[before] == self.labels[self.state]:
            return None
        known, utility = before >= 0, self.decision.utility_.tolist()
        return ds.Event(
            self.position - 1,
            int(self.labels[before]) if known else -1,
            int(self.labels[self.state]),
            self.decision.predictions_[before] if known else None,
            self.decision.predictions_[self.state],
            utility[before] if known else math.nan,
            utility[self.state],
        )

    def gap(self):
        self.belief, self.position, self.state = dict(self.home), self.position + 1, -1


def same(found, expected):
    """Events are the same, the missing utility before the first one included."""
    assert repr(list(found)) == repr(list(expected))


def decide(machine, seed=0):
    values = np.random.default_rng(seed).integers(0, 3, (3, len(machine.alphabet)))
    return ds.DecisionalStates(ds.utility.table(values, y=["a", "b", "c"])).fit(machine)


@st.composite
def streams(draw, gaps=True):
    """A decision, the words that a monitor may know it by, and symbols: its own, impossible, foreign, missing."""
    machine = draw(machines(dead_ends=True))
    assume(machine.recurrent.any())
    decision = decide(machine, draw(st.integers(0, 50)))
    symbols = []
    for _ in range(draw(st.integers(0, 4))):
        symbols += machine.simulate(draw(st.integers(0, 12)), rng=draw(st.integers(0, 99))).tolist()
        other = st.integers(0, len(machine.alphabet))
        symbols += draw(st.lists(st.one_of(other, other, st.sampled_from(GAPS)) if gaps else other, max_size=4))
    by = draw(st.sampled_from(["decision", "prediction", "utility"]))
    level = draw(st.sampled_from([None, None, 0.5, 1.0]))
    return decision, {"by": by, "level": level}, symbols


def labels_of(decision, by, level):
    kinds = {"decision": decision.states_, "prediction": decision.iso_prediction_, "utility": decision.iso_utility_}
    return kinds[by].labels if level is None else (decision.utility_ >= level).astype(int)


def run(monitor, symbols, cuts, path, data):
    """Feed pieces in ways that are drawn, going on after refusals; return events, states and refusals."""
    found, states, refused = [], [], []
    bounds = sorted({0, len(symbols), *(min(cut, len(symbols)) for cut in cuts)})
    for begin, end in pairwise(bounds):
        how = data.draw(st.sampled_from(["push", "feed", "watch", "save"]))
        if how == "save":
            monitor.save(path)
            monitor = Monitor.load(path)
        while begin < end:
            try:
                if how == "push":
                    event = monitor.push(symbols[begin])
                    found += [] if event is None else [event]
                    begin += 1
                elif how == "watch":
                    for event in monitor.watch(symbols[begin:end]):
                        assert event.position == monitor.position - 1
                        found.append(event)
                    begin = end
                else:
                    found += monitor.feed(symbols[begin:end])
                    begin = end
            except RefusedSymbol as error:
                found += error.events
                refused.append((error.position, monitor.position))
                begin = error.position if how == "watch" else begin + error.index
                monitor.gap()
                begin += 1
            states.append((begin, monitor.position, monitor.state, monitor.decision, monitor.predictions))
    return found, states, refused


@pytest.mark.small
@examples(150, 25)
@given(streams(), st.sampled_from(POLICIES), st.sampled_from(POLICIES), st.lists(st.integers(0, 60)), st.data())
def test_agrees_with_naive(tmp_path_factory, stream, impossible, missing, cuts, data):
    decision, kind, symbols = stream
    labels = labels_of(decision, **kind)
    twin = Naive(decision, labels, impossible, missing)
    expected, after, refusals = [], [(-1, None)], []
    for symbol in symbols:
        try:
            event = twin.push(symbol, symbol is np.ma.masked or symbol is None or symbol != symbol)
            expected += [] if event is None else [event]
        except ValueError:
            refusals.append((twin.position, twin.position))
            twin.gap()
        after.append((twin.state, twin.last))
    path = tmp_path_factory.getbasetemp() / "monitor.json"
    monitor = Monitor(decision, **kind, impossible=impossible, missing=missing)
    found, states, refused = run(monitor, symbols, cuts, path, data)
    same(found, expected)
    assert refused == refusals
    for begin, position, state, label, predictions in states:
        assert position == begin
        last = after[begin][1]
        assert state == after[begin][0]
        assert label == (-1 if last < 0 else labels[last])
        assert predictions == (None if last < 0 else decision.predictions_[last])


@pytest.mark.small
@examples(100, 25)
@given(streams(gaps=False), st.sampled_from(POLICIES[:2]), st.lists(st.integers(0, 60)), st.data())
def test_agrees_with_batch(tmp_path_factory, stream, impossible, cuts, data):
    decision, kind, symbols = stream
    path = tmp_path_factory.getbasetemp() / "batch.json"
    monitor = Monitor(decision, **kind, impossible=impossible)
    found, states, _ = run(monitor, symbols, cuts, path, data)
    batch = decision.machine_.filter(symbols, impossible=impossible)
    for begin, _, state, _, _ in states:
        assert state == batch[begin - 1]
    if impossible == "reset":
        same(found, decision.events(symbols, **kind, initial=True))


def test_agrees_with_batch_on_long_streams(monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 1000)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        machine = ds.processes.random_machine(int(rng.integers(2, 9)), 3, rng=seed)
        decision = decide(machine, seed)
        symbols = machine.simulate(3500, rng=seed)
        symbols[rng.integers(0, symbols.size, 50)] = rng.integers(0, 4, 50)
        expected = decision.events(symbols, initial=True)
        whole = Monitor(decision)
        same(whole.feed(symbols), expected)
        assert (whole.position, whole.state) == (symbols.size, machine.filter(symbols)[-1])
        monitor, found = Monitor(decision), []
        for part in np.array_split(symbols, np.sort(rng.integers(0, symbols.size, 40))):
            found += list(monitor.watch(part)) if part.size < 50 else monitor.feed(part)
        same(found, expected)


def test_beliefs_stay_equal_to_the_last_bit(tmp_path):
    # No word tells the states apart for certain: from each state both symbols lead on.
    rows = [("A", 0, "A", 0.3), ("A", 1, "B", 0.7), ("B", 0, "B", 0.6), ("B", 1, "A", 0.4)]
    decision = decide(ds.EpsilonMachine(rows))
    symbols = decision.machine_.simulate(300, rng=0)
    one, other = Monitor(decision), Monitor(decision)
    one.feed(symbols[:150])
    for part in np.array_split(symbols[:150], 7):
        other.save(tmp_path / "belief.json")
        other = Monitor.load(tmp_path / "belief.json")
        assert other.push(part[0]) is None
        assert len(other.feed(part[1:])) == 0
    assert one.state == other.state == -1
    np.testing.assert_array_equal(one.belief, other.belief)
    # They are told apart as surely as rounding can.
    assert one.belief.min() > 2.0**-50
    one.feed(symbols[150:])
    assert one.state == other.machine.filter(symbols)[-1] >= 0


@pytest.fixture
def even():
    return ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())


@pytest.mark.small
def test_by_hand(even):
    monitor = Monitor(even)
    assert (monitor.position, monitor.state, monitor.decision, monitor.predictions) == (0, -1, -1, None)
    assert math.isnan(monitor.utility)
    assert repr(monitor) == "Monitor(2 states, position 0, decision -1)"
    assert monitor.push(1) is None
    event = monitor.push(0)
    assert event[:3] == (1, -1, even.states_.labels[0])
    assert event.predictions_before is None
    assert (monitor.state, monitor.predictions, monitor.utility) == (0, frozenset({0, 1}), 0.5)
    assert monitor.push(0) is None
    event = monitor.push(1)
    assert event[0] == 3
    assert event[3:] == (frozenset({0, 1}), frozenset({1}), 0.5, 1.0)
    # The last known decision stands.
    monitor.gap()
    assert (monitor.position, monitor.state, monitor.decision, monitor.utility) == (5, -1, event.after, 1.0)
    assert monitor.push(1) is None
    assert monitor.push(0).position == 6
    assert len(monitor.feed("")) == 0
    assert repr(monitor) == "Monitor(2 states, position 7, decision 0)"


@pytest.mark.small
def test_crossings_of_a_level(even):
    symbols = "0110111100"
    crossings = [event[:3] for event in Monitor(even, level=0.7).feed(symbols)]
    assert crossings == [(0, -1, 0), (1, 0, 1), (2, 1, 0), (4, 0, 1), (5, 1, 0), (6, 0, 1), (7, 1, 0)]
    assert [event[:3] for event in Monitor(even, level=0.1).feed(symbols)] == [(0, -1, 1)]


@pytest.mark.small
def test_symbols_of_all_kinds(even):
    word = "0110111100"
    numbers = [int(letter) for letter in word]
    expected = Monitor(even).feed(numbers)
    assert len(expected) > 4
    forms = [word, word.encode(), bytes(numbers), memoryview(bytes(numbers)), list(word), np.array(numbers)]
    forms += [np.array(list(word)), np.array(numbers, float), np.array(numbers, object), np.ma.array(numbers)]
    for form in [*forms, bytearray(numbers), tuple(numbers), np.array([c.encode() for c in word])]:
        same(Monitor(even).feed(form), expected)
        same(Monitor(even).watch(form), expected)
    same(Monitor(even).feed(iter(numbers)), expected)
    same(Monitor(even).watch(iter(numbers)), expected)
    # What prints the same is the same symbol, but only that: 0 is "0" and 0.0 is not.
    text = ds.DecisionalStates(ds.utility.zero_one()).fit(
        ds.EpsilonMachine([("A", "0", "A", 0.5), ("A", "1", "A", 0.5)])
    )
    monitor = Monitor(text, impossible="raise")
    monitor.push(0)
    for symbol in (0.0, False):
        with pytest.raises(RefusedSymbol):
            monitor.push(symbol)
    assert monitor.push(np.int64(1)) is monitor.push(b"0") is monitor.push(np.str_("1")) is None
    many = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.EpsilonMachine([(0, a, 0, 1 / 300) for a in range(300)]))
    monitor = Monitor(many)
    assert [monitor.push(a) is None for a in (300, 299, 0)] == [True, False, True]
    assert monitor.state == 0


@pytest.mark.small
def test_gaps_of_all_kinds(even):
    for gap in (None, math.nan, np.nan, np.float32("nan"), np.ma.masked, np.datetime64("NaT")):
        monitor = Monitor(even, impossible="raise")
        monitor.push(0)
        assert monitor.push(gap) is None
        assert (monitor.position, monitor.state, monitor.decision) == (2, -1, 0)
        assert len(monitor.feed([0, gap, 1, 1])) == 0
        assert (monitor.position, monitor.state) == (6, -1)
    stream = [0.0, 1.0, math.nan, 1.0, 0.0]
    expected = Monitor(even, impossible="raise").feed(stream)
    assert expected.position.tolist() == [0, 1, 4]
    masked = np.ma.array([0, 1, 1, 1, 0], mask=[0, 0, 1, 0, 0])
    for form in (np.array(stream), masked, np.array(stream, object), SimpleNamespace(to_numpy=lambda: stream)):
        same(Monitor(even, impossible="raise").feed(form), expected)
    same(Monitor(even, impossible="raise").watch(masked), expected)
    assert Monitor(even, missing="stay").feed(masked).position.tolist() == [0, 1, 3]


@pytest.mark.small
def test_a_symbol_of_the_alphabet_is_no_gap():
    machine = ds.EpsilonMachine([("A", None, "A", 0.5), ("A", "nan", "B", 0.5), ("B", "nan", "A", 1)])
    decision = decide(machine)
    symbols = [None, math.nan, math.nan, None]
    monitor = Monitor(decision, missing="raise", impossible="raise")
    monitor.feed(symbols)
    assert monitor.state == machine.filter(symbols)[-1] == 0
    for symbol in symbols:
        monitor.push(symbol)
    assert (monitor.state, monitor.position) == (0, 8)
    for refused in (lambda: monitor.push(np.ma.masked), lambda: monitor.feed([np.ma.masked])):
        with pytest.raises(RefusedSymbol, match=r"The value masked at position 8 is missing"):
            refused()


@pytest.mark.small
def test_refusals_lose_nothing(even):
    monitor = Monitor(even, impossible="raise")
    with pytest.raises(
        ValueError, match=r"The symbol '0' at position 3 is impossible there; .*gap.*'reset' or 'stay'"
    ) as e:
        monitor.feed("0010110")
    assert e.value.events.position.tolist() == [0, 2]
    assert (e.value.symbol, e.value.position, e.value.index, monitor.position, monitor.state) == ("0", 3, 3, 3, 1)
    with pytest.raises(RefusedSymbol, match="symbol 'x' at position 3") as e:
        monitor.push("x")
    assert len(e.value.events) == 0
    assert monitor.push("1").position == 3
    with pytest.raises(RefusedSymbol, match="'y' at position 5") as e:
        monitor.feed("1y")
    assert (e.value.index, e.value.events.position.tolist()) == (1, [4])
    rest = iter("01x0")
    with pytest.raises(RefusedSymbol, match="'0' at position 5"):
        list(monitor.watch(rest))
    assert list(monitor.watch("")) == []
    monitor.gap()
    with pytest.raises(RefusedSymbol, match="'x' at position 7"):
        list(monitor.watch(rest))
    assert [event.position for event in monitor.watch(rest)] == [7]
    with pytest.raises(
        RefusedSymbol, match=r"The value nan at position 1 is missing; gaps are refused: .*missing='reset'"
    ):
        Monitor(even, missing="raise").feed(np.array([0, np.nan]))
    with pytest.raises(RefusedSymbol, match=r"The symbol 7 at position 1 is impossible"):
        Monitor(even, missing="raise", impossible="raise").feed(np.ma.array([0, 7], mask=[0, 0]))


@pytest.mark.small
def test_wrong_input_changes_nothing(even):
    monitor = Monitor(even)
    monitor.feed("01")
    with pytest.raises(TypeError, match=r"'symbol' is \[0\]; it must be hashable: give one symbol"):
        monitor.push([0])
    for wrong in (5, [0, [1]]):
        with pytest.raises(TypeError, match="sequence of hashable values"):
            monitor.feed(wrong)
    with pytest.raises(ValueError, match="2 dimensions"):
        monitor.feed(np.zeros((2, 2), int))
    assert (monitor.position, monitor.state) == (2, 1)


@pytest.mark.small
def test_wrong_parameters_are_refused(even):
    for wrong in (ds.processes.even(), ds.DecisionalStates(ds.utility.zero_one()), None):
        with pytest.raises(ValueError, match=r"'decision' is .*: fit them on a machine, or on the causal states"):
            Monitor(wrong)
    pairs = ds.CausalStates().fit(ds.observe.pairs([0, 1] * 20, [0, 1] * 20))
    with pytest.raises(ValueError, match="'decision' is DecisionalStates"):
        Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(pairs))
    for name in ("impossible", "missing"):
        with pytest.raises(ValueError, match=f"The '{name}' is 'skip'; it must be one of 'reset', 'stay', 'raise'"):
            Monitor(even, **{name: "skip"})
    with pytest.raises(ValueError, match="'by' of events is 'state'"):
        Monitor(even, by="state")


def test_from_data():
    symbols = ds.processes.even().simulate(20_000, rng=1)
    decision = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.CausalStates().fit(ds.observe.series(symbols, past=5)))
    same(Monitor(decision).feed(symbols), decision.events(symbols, initial=True))
    by_x = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.observe.series(symbols, past=3))
    same(Monitor(by_x, by="prediction").watch(symbols), by_x.events(symbols, by="prediction", initial=True))


@pytest.mark.small
def test_pickle(even):
    monitor = Monitor(even)
    monitor.feed("0101")
    twin = pickle.loads(pickle.dumps(monitor))
    same(twin.feed("1011"), monitor.feed("1011"))


def numbers(symbols):
    return ds.EpsilonMachine(
        [("A", a, "BA"[i], 1 / len(symbols)) for i, a in enumerate(symbols)] + [("B", symbols[1], "A", 1)]
    )


def bump(y, z):
    return np.exp(-(((y - z) / 0.05) ** 2))


SETS = {
    "finite": (ds.utility.zero_one(), numbers([0, 1]), None),
    "mixed": (ds.utility.table([[0, 1], [0, 1], [2, 0]], y=["in", ("a", 1), None]), numbers([0.5, 1.5]), None),
    "interval": (ds.utility.absolute_error(), numbers([0.1, 1 / 3]), None),
    "cells": (ds.utility.matching_cells(), numbers([(0, 1), (1, 1)]), None),
    "text": (ds.utility.matching_cells(), numbers(["ab", "bb"]), None),
    "single": (ds.utility.matching_cells(), numbers([2, 5]), None),
    "points": (bump, numbers([0.25, 0.75]), ds.utility.GlobalMaxima(bounds=[(0, 1)])),
}


@pytest.mark.parametrize("name", SETS)
def test_save_and_load(name, tmp_path):
    utility, machine, optimise = SETS[name]
    decision = ds.DecisionalStates(utility, optimise=optimise).fit(machine)
    monitor = Monitor(decision, by="prediction", level=math.inf if name == "finite" else None, missing="stay")
    symbols = [machine.alphabet[k] for k in (1, 0, 1, 1, 0, 1)]
    monitor.feed(symbols)
    monitor.save(tmp_path / "monitor.json")
    twin = Monitor.load(str(tmp_path / "monitor.json"))
    assert [path.name for path in tmp_path.iterdir()] == ["monitor.json"]
    for option in ("by", "level", "impossible", "missing", "position", "state", "decision", "predictions", "utility"):
        assert getattr(twin, option) == getattr(monitor, option)
    kept = twin._follower.plan.predictions
    assert kept == list(decision.predictions_)
    assert [list(map(type, y)) for y in kept] == [list(map(type, y)) for y in decision.predictions_]
    assert (twin.machine.alphabet, twin.machine.names) == (machine.alphabet, machine.names)
    symbols += ["?", None, machine.alphabet[1]]
    same(twin.feed(symbols), monitor.feed(symbols))
    assert (twin.position, twin.state) == (monitor.position, monitor.state)
    np.testing.assert_array_equal(twin.belief, monitor.belief)


@pytest.mark.small
def test_files_of_other_kinds_are_refused(even, tmp_path):
    path = tmp_path / "file.json"
    even.machine_.save(path)
    with pytest.raises(ValueError, match=r"has format 'decisional.EpsilonMachine'; it must be 'decisional.Monitor'"):
        Monitor.load(path)
    Monitor(even).save(path)
    with pytest.raises(ValueError, match=r"it must be 'decisional.EpsilonMachine'"):
        ds.EpsilonMachine.load(path)
    content = json.loads(path.read_text())
    changes = [("labels", [0]), ("state", 2), ("last", -2), ("belief", [0.1, 0.1]), ("predictions", [{"what": 1}] * 2)]
    changes += [("machine", []), ("impossible", "skip"), ("home", "x"), ("position", None), ("position", -5)]
    changes += [("utility", [None, 1.0]), ("belief", [2.0, -1.0]), ("labels", [-1, -1]), ("by", "x"), ("level", "x")]
    changes += [("home", [1e400, 0]), ("position", True), ("labels", [0.0, 1.0]), ("utility", [{"float": "nan"}, 1.0])]
    changes += [("predictions", "ab"), ("predictions", [1, 2]), ("state", 0), ("position", 10**400)]
    for name, value in changes:
        path.write_text(json.dumps({**content, name: value}))
        with pytest.raises(ValueError, match=r"is corrupt, its digest differs|is not JSON"):
            Monitor.load(path)
        # As the first version wrote it, without a digest.
        path.write_text(json.dumps({**content, "version": 1, name: value}))
        with pytest.raises(ValueError, match=f"'{path}' is corrupt, save the monitor again: |is not JSON"):
            Monitor.load(path)
    # A number that no float holds.
    path.write_text(json.dumps({**content, "utility": [0.5, "large"]}).replace('"large"', "1e999"))
    with pytest.raises(ValueError, match=f"'{path}' is corrupt, its digest differs"):
        Monitor.load(path)
    path.write_text(json.dumps({name: value for name, value in content.items() if name != "last"}))
    with pytest.raises(ValueError, match="has no 'last'"):
        Monitor.load(path)


def damaged(draw, content):
    """A file with one value changed or lost, wherever it is."""
    place, keys = content, []
    while isinstance(place, (dict, list)) and place and (not keys or draw(st.booleans())):
        key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        keys.append((place, key))
        place = place[key]
    inner, key = keys[-1]
    values = [None, True, -1, -5, 0, 1, 2, 10**30, 1e300, 0.5, "", "x", "AAAA", [], {}, [[]], {"float": "nan"}, [2, -1]]
    value = draw(st.sampled_from(values))
    if isinstance(inner, dict) and draw(st.booleans()):
        del inner[key]
    else:
        inner[key] = value
    return content


@pytest.mark.small
@settings(deadline=None, max_examples=150)
@given(data=st.data(), adapt=st.booleans(), version=st.sampled_from([1, 2, 3]))
def test_damaged_files_are_refused_in_a_sentence_or_work(tmp_path_factory, data, adapt, version):
    path = tmp_path_factory.mktemp("damaged") / "monitor.json"
    choice = ds.DecisionalStates(ds.utility.zero_one()).fit(ds.processes.even())
    monitor = Monitor(choice, adapt=ds.Adapt(window=200, refit_after=50) if adapt else None)
    monitor.feed([1, 1, 0, 1, 1, 1, 1, 0] * 5)
    monitor.save(path)
    whole = json.loads(path.read_text())
    content = damaged(data.draw, {**json.loads(path.read_text()), "version": version})
    path.write_text(json.dumps(content))
    try:
        found = Monitor.load(path)
    except ValueError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert refused.endswith(".")
        return
    # With a digest nothing but what was saved is read; without one, what is read can be followed and saved.
    assert version < 3 or content in (whole, {**whole, "version": content["version"]})
    found.feed([1, 1, 0, 1, 1])
    found.save(path)
    assert Monitor.load(path).position == found.position


def test_little_of_a_bomb_is_unpacked(even, tmp_path):
    path = tmp_path / "monitor.json"
    Monitor(even, adapt=ds.Adapt(window=2000)).save(path)
    content = json.loads(path.read_text())
    content["version"] = 2
    bomb = base64.b64encode(zlib.compress(bytes(200_000_000), 9)).decode()
    content["drift"]["recent"]["codes"]["data"] = bomb
    path.write_text(json.dumps(content))
    tracemalloc.start()
    with pytest.raises(ValueError, match="corrupt"):
        Monitor.load(path)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
    content["drift"]["adapt"]["window"] = 10**10
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="corrupt"):
        Monitor.load(path)


@pytest.mark.parametrize("adapt", [None, ds.Adapt(window=2000)])
def test_threads_lose_no_symbols(even, adapt):
    monitor = Monitor(even, adapt=adapt)
    symbols = even.machine_.simulate(20_000, rng=1)

    def work(k):
        for part in np.array_split(symbols, 100):
            monitor.feed(part)
        for symbol in symbols[:500].tolist():
            monitor.push(symbol)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert monitor.position == 4 * 20_500
    assert copy.deepcopy(monitor).position == pickle.loads(pickle.dumps(monitor)).position == monitor.position


@pytest.mark.small
def test_what_a_file_cannot_hold_is_refused_and_the_old_file_stays(even, tmp_path):
    path = tmp_path / "monitor.json"
    Monitor(even).save(path)
    old = path.read_text()
    machine = ds.EpsilonMachine([("A", frozenset({1}), "A", 0.5), ("A", 1j, "A", 0.5)])
    with pytest.raises(TypeError, match="value 1j cannot be saved; a file holds strings, numbers"):
        Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(machine)).save(path)
    assert path.read_text() == old


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=8,
)


@pytest.mark.small
@examples(100, 50)
@given(VALUES | st.frozensets(st.integers() | st.text(max_size=2) | st.tuples(st.booleans(), st.floats(0, 1))))
def test_values_come_back_from_json(value):
    found = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
    assert repr(found) == repr(value) if not isinstance(value, frozenset) else found == value


def whole_strings():
    """Decisions of a machine of whole strings, and a stream of them."""
    end = ds.EpsilonMachine.END
    rows = [("in", "a", "busy", 0.6), ("in", "b", "in", 0.4), ("busy", "a", "in", 0.5), ("busy", end, "in", 0.5)]
    machine = ds.EpsilonMachine(rows, start="in")
    decision = ds.DecisionalStates(ds.utility.zero_one()).fit(machine)
    stream = [symbol for string in machine.simulate(50, rng=1) for symbol in [*string, end]]
    return machine, decision, stream


def test_whole_strings_begin_in_the_start_and_again_after_the_end():
    machine, decision, stream = whole_strings()
    monitor = Monitor(decision)
    assert monitor.state == machine.start
    assert monitor.decision == -1  # no symbol has come that it could be told at
    assert monitor.predict_proba().tolist() == machine.emission[machine.start].tolist()
    expected, begins = machine.filter(stream), machine.start
    for symbol, state in zip(stream, expected.tolist(), strict=True):
        monitor.push(symbol)
        assert monitor.state == state
        assert symbol != machine.END or monitor.state == begins


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_events_of_whole_strings_are_those_of_all_at_once(size, tmp_path):
    _, decision, stream = whole_strings()
    monitor, events = Monitor(decision), []
    monitor.save(tmp_path / "new.json")
    assert Monitor.load(tmp_path / "new.json").state == monitor.state
    for begin in range(0, len(stream), size):
        events += list(monitor.feed(stream[begin : begin + size]))
        monitor.save(tmp_path / "monitor.json")
        again = Monitor.load(tmp_path / "monitor.json")
        assert again.machine.start == monitor.machine.start
        assert (again.state, again.position) == (monitor.state, monitor.position)
        assert again.same_model(monitor)
        monitor = again
    assert [str(event) for event in events] == [str(event) for event in decision.events(stream, initial=True)]


def test_a_gap_in_a_string_is_known_again_after_its_end():
    machine, decision, _ = whole_strings()
    monitor = Monitor(decision)
    monitor.feed(["b", None])
    assert monitor.state == -1
    monitor.push(machine.END)
    assert monitor.state == machine.start
