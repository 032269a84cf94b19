"""How numbers, counts and outcomes are written on a page."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..plot.wording import symbol_text

__all__ = ["number", "numbers", "outcome_text", "plural", "share", "typeset"]

MOST_LETTERS = 24  # of an outcome
MINUS = re.compile(r"(?<![\w.-])-(?=\d)")
CELLS = re.compile(r"\(([\d−]+(?:, [\d−]+)+)\)")


def share(p: float) -> str:
    """Write a probability.

    Examples
    --------
    >>> share(0.5), share(0.00004), share(0)
    ('0.500', '4e-05', '0')
    """
    return f"{p:.3f}" if p >= 0.0005 else f"{p:.0e}" if p > 0 else "0"


def number(value: float) -> str:
    """Write a number with three digits, and no more than that of what is almost nothing.

    Examples
    --------
    >>> number(2 / 3), number(-1.9e-9), number(-0.0), number(12345.6)
    ('0.667', '≈ 0', '0', '12,346')
    """
    if value != 0 and abs(value) < 1e-6:
        return "≈ 0"
    text = f"{value + 0.0:,.0f}" if abs(value) >= 1000 else f"{value + 0.0:.3g}"
    return typeset(text)


def numbers(values: Sequence[float]) -> list[str]:
    """Write the numbers of a column with the same decimals, of which the largest has three digits.

    Examples
    --------
    >>> numbers([0.0311, -0.05, 0.0]), numbers([7.44, 7.4]), numbers([2.0, -1.0])
    (['0.0311', '−0.0500', '0'], ['7.44', '7.40'], ['2', '−1'])
    """
    size = max((abs(value) for value in values), default=0.0)
    if size < 1e-4 or size >= 1000 or all(value == round(value) for value in values):
        return [number(value) for value in values]
    places = max(2 - math.floor(math.log10(size)), 0)
    return [typeset(f"{value:.{places}f}") if round(value, places) else number(value) for value in values]


def typeset(text: str) -> str:
    """Write minus signs as such, and cells one after the other without brackets.

    Examples
    --------
    >>> typeset("-5 to 7"), typeset("(1, 0, 1)"), typeset("low-cost")
    ('−5 to 7', '1 0 1', 'low-cost')
    """
    return CELLS.sub(lambda found: found[1].replace(",", ""), MINUS.sub("−", text))


def plural(n: int, word: str) -> str:
    """Write a count with its word.

    Examples
    --------
    >>> plural(1, "state"), plural(2000, "state")
    ('1 state', '2,000 states')
    """
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def outcome_text(outcome: Any) -> str:
    """Write an outcome: a symbol, a number, or several of them.

    Examples
    --------
    >>> outcome_text("a"), outcome_text((0, 1, 1)), outcome_text(0.123456)
    ('a', '0 1 1', '0.123')
    """
    if isinstance(outcome, tuple):
        return " ".join(map(outcome_text, outcome))
    if isinstance(outcome, (float, np.floating)):
        return f"{outcome:.3g}"
    text = symbol_text(outcome if isinstance(outcome, str) else str(outcome))
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"
