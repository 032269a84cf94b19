"""Utilities by name and from tables, for machines of files."""

from pathlib import Path

import numpy as np
import pytest

from decisional import EpsilonMachine, processes, utility
from decisional.decisions.utility_files import machine_of_numbers


@pytest.mark.small
def test_by_name() -> None:
    for name, same in (
        ("zero-one", utility.zero_one()),
        ("squared-error", utility.squared_error()),
        ("absolute-error", utility.absolute_error()),
        ("tolerant:0.5", utility.tolerant(0.5)),
        ("newsvendor:3,1", utility.newsvendor(3, 1)),
    ):
        values = np.array([0.0, 1.0, 3.0])
        np.testing.assert_array_equal(utility.read_utility(name).matrix(values, values), same.matrix(values, values))
    alarm = utility.read_utility("alarm:2,10,1").matrix(["quiet", "alarm"], [1.0, 3.0])
    np.testing.assert_array_equal(alarm, utility.alarm(2, 10, 1).matrix(["quiet", "alarm"], [1.0, 3.0]))
    interval = utility.read_utility("interval-score:0.8").matrix([(0.0, 1.0)], [1.0, 3.0])
    np.testing.assert_array_equal(interval, utility.interval_score(0.8).matrix([(0.0, 1.0)], [1.0, 3.0]))
    with pytest.raises(ValueError, match="'luck' is unknown: choose one of zero-one"):
        utility.read_utility("luck")
    with pytest.raises(ValueError, match="must end in a number"):
        utility.read_utility("tolerant:much")
    for name in ("newsvendor:3", "newsvendor:3,0", "alarm:2,10", "alarm", "interval-score:90"):
        with pytest.raises(ValueError, match=f"{name.partition(':')[0]}:[0-9.,]+, for example"):
            utility.read_utility(name)


@pytest.mark.small
def test_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "bet.csv"
    path.write_text("U,0,1\nstay out,0,0\nbet on 1,-3,1\n")
    worth = utility.read_utility(path, outcomes=(0, 1))
    np.testing.assert_array_equal(worth.matrix(["bet on 1"], ["0", "1"]), [[-3, 1]])
    with pytest.raises(ValueError, match="no column for the outcome 2"):
        utility.read_utility(path, outcomes=(0, 1, 2))


@pytest.mark.small
def test_symbols_as_numbers() -> None:
    machine = EpsilonMachine([("A", "0", "A", 0.5), ("A", "1.5", "A", 0.5)])
    assert machine_of_numbers(machine).alphabet == (0, 1.5)
    assert machine_of_numbers(processes.even()).alphabet == processes.even().alphabet
    for symbol in ("1e3", "inf", "a", "01"):
        with pytest.raises(ValueError, match="plain numbers"):
            machine_of_numbers(EpsilonMachine([("A", symbol, "A", 1)]))
