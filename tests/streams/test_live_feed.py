"""What is seen of a stream: counted by the letter, in memory that does not grow, and without waiting for anyone."""

import json
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
import naive_live
from decisional.streams import live_feed, pyramid
from decisional.streams.event_file import EventFile, event_content
from decisional.streams.live_feed import LiveFeed
from decisional.streams.pyramid import BINS, FACTOR, KINDS, NONE, OTHER, Pyramid

EVEN = ds.processes.even()


def monitor(**how):
    return ds.Monitor(ds.DecisionalStates(ds.utility.zero_one()).fit(EVEN), **how)


def as_dicts(line):
    """Bins of a line as the naive version has them."""
    names = [*range(KINDS), "other", "none"]
    found = {}
    for number, row in zip(line.number.tolist(), line.table, strict=True):
        counts = {name: int(n) for name, n in zip(names, row[: NONE + 1], strict=True) if n}
        found[number] = (counts, pytest.approx(row[pyramid.WORTH]), int(row[pyramid.CHANGED]))
    return found


@pytest.mark.small
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 700), min_size=1, max_size=5),
    st.integers(0, 3000),
    st.integers(1, KINDS + 3),
    st.integers(0, 1 << 32),
)
def test_bins_are_those_of_all_positions(sizes, begin, n_labels, seed):
    rng = np.random.default_rng(seed)
    line, history = Pyramid(begin), []
    for n in sizes:
        labels, worth = rng.integers(-1, n_labels, n), rng.normal(size=n)
        changed = rng.random(n) < 0.2
        line.add(labels, worth, changed)
        history += list(zip(labels.tolist(), worth.tolist(), changed.tolist(), strict=True))
    for seen in (0, begin, line.end - 1, int(rng.integers(begin, line.end))):
        lines = line.since(seen)
        for level, found in enumerate(lines):
            expected = naive_live.bins(history, FACTOR**level, BINS, KINDS, begin)
            assert found.width == FACTOR**level
            # A width is needed where the bins of the one before did not hold all.
            narrow = FACTOR ** (level - 1)
            new = level > 0 and (seen - 1) // narrow - begin // narrow < BINS
            assert as_dicts(found) == {k: v for k, v in expected.items() if new or k >= seen // found.width}
        # The widest holds all.
        assert begin // lines[-1].width > (line.end - 1) // lines[-1].width - BINS
    assert OTHER == KINDS


@pytest.mark.parametrize("adapt", [None, ds.Adapt(refit_after=200)])
def test_any_cut_shows_the_same(adapt, monkeypatch):
    monkeypatch.setattr(live_feed, "PENDING", 50)
    monkeypatch.setattr(live_feed, "PART", 70)
    golden = ds.processes.golden_mean()
    stream = np.concatenate([EVEN.simulate(700, rng=1), golden.simulate(600, rng=2)])
    told = [event_content(event) for event in monitor(adapt=adapt).feed(stream)]
    for cut in (3, 13, 400, 1300):
        follower = monitor(adapt=adapt)
        feed = LiveFeed(follower)
        for begin in range(0, stream.size, cut):
            feed.take(follower.feed(stream[begin : begin + cut]))
            if begin % 3 == 0:
                feed.since(None)
        found = feed.since("another run")
        assert found.whole
        history = naive_live.standing(told, 0, stream.size)
        for line in found.lines:
            assert as_dicts(line) == naive_live.bins(history, line.width, BINS, KINDS)
        drifts = [event for event in told if "after" not in event]
        assert [event["position"] for event in found.events] == [event["position"] for event in told[-100:]]
        assert [event["position"] for event in found.drifts] == [event["position"] for event in drifts]
        assert (found.n_events, found.n_drifts) == (len(told) - len(drifts), len(drifts))
        assert bool(drifts) == (adapt is not None)
        assert not any("transitions" in event.get("refit", ()) for event in found.drifts)
        now, other = found.now, follower
        assert (now.decision, now.state, now.learning) == (other.decision, other.state, other.learning)
        assert now.belief.tolist() == other.belief.tolist()
        assert found.position == follower.position == stream.size


def test_one_symbol_at_a_time():
    follower = monitor()
    feed, stream = LiveFeed(follower), EVEN.simulate(300, rng=3).tolist()
    for symbol in stream:
        event = follower.push(symbol)
        feed.take([] if event is None else [event])
    told = [event_content(event) for event in monitor().feed(stream)]
    line = feed.since(None).lines[0]
    assert as_dicts(line) == naive_live.bins(naive_live.standing(told, 0, 300), 1, BINS, KINDS)


def test_whoever_comes_back_gets_what_is_new_and_no_more():
    """Bins and events that are put together of the answers are those of one look at the end."""
    stream, follower, rng = EVEN.simulate(5000, rng=4), monitor(), np.random.default_rng(0)
    feed, seen, events, mark, at = LiveFeed(follower), {}, [], None, 0
    while at < stream.size:
        n = int(rng.integers(1, 30))
        feed.take(follower.feed(stream[at : at + n]))
        at += n
        if rng.random() < 0.7:
            update = feed.since(mark)
            assert update.whole == (mark is None)
            mark = update.mark
            for line in update.lines:
                seen.setdefault(line.width, {}).update(as_dicts(line))
            events += update.events
    update = feed.since(mark)
    events += update.events
    for line in update.lines:
        seen.setdefault(line.width, {}).update(as_dicts(line))
    positions = [event["position"] for event in events]
    assert positions == monitor().feed(stream).position.tolist()
    for line in feed.since(None).lines:
        assert {k: v[0] for k, v in as_dicts(line).items()}.items() <= {
            k: v[0] for k, v in seen[line.width].items()
        }.items()
    small = feed.since(mark)
    assert max(line.number.size for line in small.lines) < BINS
    # A mark of another run, or one that no run gave.
    for strange in ("0000-12", "", "x", f"{mark.partition('-')[0]}-999999999", f"{mark}é", f"{mark[:8]}-²"):
        assert feed.since(strange).whole


def test_memory_is_bounded():
    follower = monitor()
    feed, stream = LiveFeed(follower), EVEN.simulate(50_000, rng=5)
    # What a long stream needs is there after the first part.
    feed.take(follower.feed(stream))
    tracemalloc.start()
    try:
        feed.since(None)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            feed.take(follower.feed(stream))
            for symbol in stream[:50]:
                feed.take(follower.feed([symbol]))
        feed.since(None)
        assert tracemalloc.get_traced_memory()[0] < before + 100_000
    finally:
        tracemalloc.stop()
    found = feed.since(None)
    assert len(found.events) == live_feed.EVENTS
    assert sum(line.number.size for line in found.lines) <= BINS * len(found.lines)


def test_nobody_who_looks_is_waited_for():
    """Symbols are noted while others look all the time, and one keeps what it got for ever."""
    follower, stop = monitor(), threading.Event()
    feed, stream, wrong = LiveFeed(follower), EVEN.simulate(20_000, rng=6), []

    def look():
        mark = None
        while not stop.is_set():
            update = feed.since(mark)
            if sum(update.lines[0].table[:, : pyramid.WORTH].sum(axis=1)) != update.lines[0].number.size:
                wrong.append(update)
            mark = update.mark

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    longest, begin = 0.0, time.monotonic()
    while time.monotonic() < begin + 1.0:
        before = time.monotonic()
        feed.take(follower.feed(stream))
        longest = max(longest, time.monotonic() - before)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert follower.position == feed.position > stream.size
    assert longest < 2.0


@pytest.mark.small
def test_throughput():
    now = [100.0]
    meter = live_feed.Throughput(lambda: now[0])
    meter.note(7)
    now[0] += 0.5
    assert meter.rates() == (14.0, [])
    for second in range(200):
        now[0] = 101.0 + second
        meter.note(second)
    rate, rates = meter.rates()
    assert rates == list(range(139, 199))
    assert rate == np.mean([194, 195, 196, 197, 198])
    now[0] += 1000
    assert meter.rates() == (0.0, [0] * 60)


def test_a_stream_that_was_killed_shows_what_was(tmp_path, monkeypatch):
    out, state = str(tmp_path / "events.jsonl"), str(tmp_path / "state.json")
    stream = EVEN.simulate(900, rng=7)
    first = monitor()
    with EventFile(first, out, state, live=LiveFeed(first)) as file:
        file.feed(stream[:600].tolist())
    with open(out, "a") as file:
        file.write('{"position": 601')  # killed while it wrote
    again = ds.Monitor.load(state)
    feed = LiveFeed(again)
    with EventFile(again, out, state, resumed=True, live=feed) as file:
        assert feed.position == 600
        begun = feed.since(None)
        file.feed(stream[600:].tolist())
    told = [event_content(event) for event in monitor().feed(stream)]
    lines = [json.loads(line) for line in Path(out).read_text().splitlines()]
    assert lines == told
    history = naive_live.standing(told, 0, 900)
    offset = told[0]["position"]
    for line in feed.since(None).lines:
        assert as_dicts(line) == naive_live.bins(history[offset:], line.width, BINS, KINDS, offset)
    assert begun.events == [event for event in told if event["position"] < 600][-100:]
    assert feed.since(begun.mark).events == [event for event in told if event["position"] >= 600][-100:]
    # A long file is recalled in part, from a whole line on.
    monkeypatch.setattr(live_feed, "RECALLED", 1000)
    late = LiveFeed(ds.Monitor.load(state))
    late.recall(out)
    found = late.since(None)
    assert 3 < found.n_events < 20
    assert found.events == told[-found.n_events :]


def test_numbers_and_times():
    rng = np.random.default_rng(0)
    values = np.repeat(rng.integers(0, 2, 40), 25) + 0.1 * rng.normal(size=1000)
    choice = ds.DecisionalStates(ds.utility.alarm(0.5, missed=1, false=1)).fit(ds.epsilon_machine(values[:800]))
    follower = ds.Monitor(choice)
    feed = LiveFeed(follower)
    events = follower.feed(values)
    feed.take(events, [f"t{k}" for k in range(1000)])
    found = feed.since(None)
    assert found.time == "t999"
    assert [event["time"] for event in found.events] == [f"t{event.position}" for event in events]
    assert len(found.names) == len(found.plan.labels) == choice.machine_.n_states
    causal = ds.Monitor(ds.DecisionalStates(ds.utility.alarm(0.5, missed=1, false=1)).fit(
        ds.CausalStates(past=2).fit(values[:400])
    ))  # fmt: skip
    feed = LiveFeed(causal)
    feed.take(causal.feed(values))
    found = feed.since(None)
    assert list(found.names) == list(range(len(found.now.belief)))
    assert found.n_events == len(found.events) > 5
