"""`observe.series` and `observe.delays`, whose past may be "auto": the data choose it, see `decisional.selection`."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec

from ..data.observations import Observations
from ..data.series import series as _series
from ..data.signals import delays as _delays

P = ParamSpec("P")


def _choosing(observe: Callable[P, Observations], choose: Callable[[dict[str, Any]], int]) -> Callable[P, Observations]:
    """The same function of data, whose past may be "auto"."""
    known = signature(observe)

    @wraps(observe)
    def observed(*args: P.args, **how: P.kwargs) -> Observations:
        given = known.bind(*args, **how)
        past = given.arguments.get("past")
        if isinstance(past, str) and past == "auto" and given.arguments.get("lags") is None:
            given.arguments["past"] = choose({**given.arguments})
        return observe(*given.args, **given.kwargs)

    # Where it is found, by pickle too.
    observed.__module__ = "decisional.observe"
    return observed


def _best_past(given: dict[str, Any]) -> int:
    # Only here: those who give the past need not wait for what kernels import.
    from .pasts import best_past

    how = {name: given[name] for name in ("future", "step", "difference", "target", "inputs") if name in given}
    return best_past(given["signal"], **how)


def _best_window(given: dict[str, Any]) -> int:
    from .machine_selection import best_window

    how = {name: given[name] for name in ("missing", "sequences") if name in given}
    return best_window(given["symbols"], **how)


delays = _choosing(_delays, _best_past)
series = _choosing(_series, _best_window)
