"""Adapt: how a Monitor adapts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Adapt"]

WINDOW = 20_000
# Symbols that are kept, in half-lives: the next one would weigh a sixteenth.
HALF_LIVES = 4


@dataclass(frozen=True)
class Adapt:
    """How a Monitor adapts to a stream that drifts.

    Parameters
    ----------
    window : a new machine is learnt from at most so many of the last symbols, which are kept; 20,000 by default
    forget : half-life in symbols, instead of a window: the probabilities of the machine follow the stream with
        exponential forgetting, and the decisions follow them when that shortens the description of the symbols by
        log2(1/alpha) bits. New machines are learnt from at most four half-lives
    alpha : chance per symbol of giving up a machine that is right, at most
    refit_after : symbols that a new machine is learnt from, at least; more if it does not last

    Examples
    --------
    >>> Adapt()
    Adapt(window=20000, forget=None, alpha=1e-09, refit_after=1000)
    """

    window: int | None = None
    forget: int | None = None
    alpha: float = 1e-9
    refit_after: int = 1_000

    def __post_init__(self) -> None:
        if self.window is not None and self.forget is not None:
            raise ValueError(
                f"The 'window' of Adapt is {self.window!r} and 'forget' is {self.forget!r}; one of them is the memory: "
                "leave the other out."
            )
        if self.window is None and self.forget is None:
            object.__setattr__(self, "window", WINDOW)
        for name, least in (("refit_after", 10), ("window", 10), ("forget", 10)):
            value = getattr(self, name)
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least
            if not whole and not (value is None and name != "refit_after"):
                raise ValueError(
                    f"The '{name}' of Adapt is {value!r}; it must be an integer of at least {least}: give a number of "
                    "symbols."
                )
        number = isinstance(self.alpha, (int, float, np.number)) and not isinstance(self.alpha, bool)
        if not number or not 0.0 < self.alpha < 1.0:
            raise ValueError(
                f"The 'alpha' of Adapt is {self.alpha!r}; it must be a number in (0, 1): give the chance of a false "
                "alarm per symbol."
            )
        if self.refit_after > self.memory:
            raise ValueError(
                f"The 'refit_after' of Adapt is {self.refit_after} and only {self.memory} symbols are kept; a machine "
                "is learnt from what is kept: give a longer window."
            )

    @property
    def memory(self) -> int:
        """How many of the last symbols are kept."""
        return self.window if self.window is not None else HALF_LIVES * (self.forget or 0)
