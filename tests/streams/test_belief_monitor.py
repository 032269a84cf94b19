"""Monitors of beliefs: whatever the chunking, what batch filtering gives; gaps, policies, restarts."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import decisional as ds
from decisional.decisions import belief_regions
from decisional.streams.live_feed import LiveFeed
from decisional.streams.monitor import RefusedSymbol

streams = st.lists(st.integers(0, 2) | st.sampled_from([None, 7]), max_size=40)


def decided(strings: bool = False, **how: Any) -> Any:
    machine = ds.processes.mess3(0.1, 0.7)
    if strings:
        steps = np.concatenate([0.8 * machine.steps, np.broadcast_to(0.2 / 3, (1, 3, 3))])
        machine = ds.BeliefMachine(steps, [0, 1, 2, "<end>"], start=np.full(3, 1 / 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(belief_regions, "RUNS", 10)
        return ds.DecisionalStates(ds.utility.zero_one(), **how).fit(machine)


CHOICES = [decided(), decided(delta=0.05), decided(strings=True)]


def same(found: Any, expected: Any) -> None:
    """The worth before the first event is NaN."""
    assert repr(list(found)) == repr(list(expected))


@settings(deadline=None, max_examples=40)
@given(symbols=streams, which=st.integers(0, 2), cuts=st.lists(st.integers(0, 40), max_size=4), level=st.booleans())
def test_push_feed_and_batch_agree(symbols: list[Any], which: int, cuts: list[int], level: bool) -> None:
    choice = CHOICES[which]
    how = {"level": choice.expected_utility_ if level else None}
    expected = choice.events(symbols, initial=True, **how)
    monitor = ds.Monitor(choice, **how)
    same([event for event in map(monitor.push, symbols) if event is not None], expected)
    other, found = ds.Monitor(choice, **how), []
    ends = [0, *sorted(min(cut, len(symbols)) for cut in cuts), len(symbols)]
    for begin, end in pairwise(ends):
        found += other.feed(symbols[begin:end])
    same(found, expected)
    assert (other.position, other.state) == (monitor.position, monitor.state)
    if symbols:
        machine = choice.regions_.machine
        assert np.array_equal(monitor.belief, machine.filter(symbols)[-1])
        assert monitor.utility == choice.regions_.value(monitor.belief[None])[0]
        np.testing.assert_allclose(monitor.predict_proba(), machine.predict_proba(symbols)[-1])


@pytest.mark.parametrize("choice", CHOICES)
def test_a_monitor_goes_on_after_a_restart(choice: Any, tmp_path: Path) -> None:
    symbols, path = np.random.default_rng(1).integers(0, 3, 200).tolist(), tmp_path / "monitor.json"
    expected = list(choice.events(symbols, initial=True))
    for cut in (0, 1, 77):
        monitor = ds.Monitor(choice)
        found = list(monitor.feed(symbols[:cut]))
        monitor.save(path)
        again = ds.Monitor.load(path)
        assert again.same_model(monitor)
        same([*found, *again.feed(symbols[cut:])], expected)
    content = path.read_text()
    path.write_text(content.replace('"position": 77', '"position": 78'))
    with pytest.raises(ValueError, match="is corrupt"):
        ds.Monitor.load(path)


def test_policies() -> None:
    choice = CHOICES[0]
    machine = choice.regions_.machine
    for name, symbol in (("impossible", 7), ("missing", None)):
        with pytest.raises(RefusedSymbol, match="at position 2 ") as refused:
            ds.Monitor(choice, **{name: "raise"}).feed([0, 1, symbol, 2])
        same(refused.value.events, choice.events([0, 1], initial=True))
        monitor = ds.Monitor(choice, **{name: "raise"})
        with pytest.raises(RefusedSymbol):
            monitor.push(symbol)
        assert monitor.position == 0
        stays = ds.Monitor(choice, **{name: "stay"})
        stays.feed([0, 1, symbol, 2])
        np.testing.assert_allclose(stays.belief, machine.filter([0, 1, 2])[-1])
        assert stays.position == 4
    lost = ds.Monitor(choice)
    lost.feed([0, 0, 0])
    lost.gap()
    np.testing.assert_allclose(lost.belief, machine.stationary)
    assert (lost.position, lost.state, lost.decision) == (4, -1, choice.predict([0, 0, 0])[-1])
    with pytest.raises(ValueError, match="'adapt'"):
        ds.Monitor(choice, adapt=ds.Adapt())


def test_a_live_page_shows_the_region() -> None:
    pytest.importorskip("starlette")
    live_page = pytest.importorskip("decisional.cli.live_page")
    monitor = ds.Monitor(CHOICES[0])
    feed = LiveFeed(monitor)
    feed.take(monitor.feed(np.random.default_rng(2).integers(0, 3, 100).tolist()))
    update = feed.since(0)
    assert update.now.belief.tolist() == [float(k == monitor.state) for k in range(len(monitor.plan.labels))]
    said = live_page.worded(update, ("decision", None))
    assert said["decision"][0] == monitor.decision
    assert len(said["belief"]) == len(monitor.plan.labels)


def test_before_the_first_symbol_nothing_is_decided() -> None:
    monitor = ds.Monitor(CHOICES[2])
    assert (monitor.decision, monitor.predictions, np.isnan(monitor.utility)) == (-1, None, True)
    np.testing.assert_allclose(monitor.belief, 1 / 3)
    monitor.feed([0, 0, "<end>"])
    # All symbols are equally likely then: a tie, which comes back at each end.
    assert monitor.predictions == {0, 1, 2}
    np.testing.assert_allclose(monitor.belief, 1 / 3)
    assert monitor.alphabet == (0, 1, 2, "<end>")
    assert repr(monitor) == "Monitor(3 states, position 3, decision 3)"
