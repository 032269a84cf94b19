"""Adapt: how a Monitor adapts."""

from dataclasses import dataclass

from ..support.arguments import integer, real

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
        remedy = "give a number of symbols"
        for name, value in (("refit_after", self.refit_after), ("window", self.window), ("forget", self.forget)):
            if value is not None or name == "refit_after":
                integer(value, name, least=10, remedy=remedy, of="Adapt")
        remedy = "give the chance of a false alarm per symbol"
        real(self.alpha, "alpha", above=0, below=1, remedy=remedy, of="Adapt")
        if self.refit_after > self.memory:
            raise ValueError(
                f"The 'refit_after' of Adapt is {self.refit_after} and only {self.memory} symbols are kept; a machine "
                "is learnt from what is kept: give a longer window."
            )

    @property
    def memory(self) -> int:
        """How many of the last symbols are kept."""
        return self.window if self.window is not None else HALF_LIVES * (self.forget or 0)
