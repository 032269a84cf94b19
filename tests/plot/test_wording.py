"""How symbols, numbers, outcomes and sets Y are written, and which files hold pictures."""

from collections.abc import Callable
from typing import Any

import pytest

from decisional.plot import file_format, wording


@pytest.mark.parametrize(
    ("write", "cases"),
    [
        (wording.probability_text, {1 / 3: "0.33", 0.9996: "0.9996", 1.0: "1"}),
        (wording.share, {0.5: "0.500", 0.00004: "4e-05", 0: "0"}),
        (wording.number, {2 / 3: "0.667", -1.9e-9: "≈ 0", -0.0: "0", 12345.6: "12,346"}),
        (wording.typeset, {"-5 to 7": "−5 to 7", "(1, 0, 1)": "1 0 1", "low-cost": "low-cost"}),
        (wording.outcome_text, {"a": "a", (0, 1, 1): "0 1 1", 0.123456: "0.123"}),
        (
            wording.prediction_text,
            {frozenset("a"): "a", frozenset([10, 9]): "9 or 10", frozenset(range(8)): "0, 1 or 6 more"},
        ),
        (wording.worth, {2 / 3: "0.667", -0.0: "0"}),
        (file_format, {"machine.PDF": "pdf"}),
    ],
)
def test_what_is_written(write: Callable[[Any], str], cases: dict[Any, str]) -> None:
    assert {value: write(value) for value in cases} == cases


def test_numbers_of_a_column_have_the_same_decimals() -> None:
    assert wording.numbers([0.0311, -0.05, 0.0]) == ["0.0311", "−0.0500", "0"]
    assert wording.numbers([7.44, 7.4]) == ["7.44", "7.40"]
    assert wording.numbers([2.0, -1.0]) == ["2", "−1"]
