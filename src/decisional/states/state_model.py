"""What models of states and densities have in common: parameters by name; what `fit` accepts, the refusal before it."""

from collections.abc import Hashable, Iterable, Sized
from dataclasses import dataclass
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..data.alphabet import Alphabet, distinct, is_missing
from ..data.calendars import are_names, calendar
from ..data.frames import Index, aligned, index_of, is_frame, numbers_of, unwrapped
from ..data.observations import Observations, Way
from ..data.pairs import is_continuous, pairs, vectors
from ..data.sequences import as_array, split, unpacked
from ..data.series import series as symbol_series
from ..data.signals import dates_of_series, delays, read_signal
from ..support.arguments import refusal, shown
from ..support.arrays import Bools
from ..support.display import html_of


class NotFitted(ValueError, AttributeError):
    """A result is asked for before `fit`."""


class Parameters:
    """The parameters are the arguments of `__init__`, kept as they are given; `fit` checks them."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def __repr__(self) -> str:
        default = {name: parameter.default for name, parameter in signature(type(self)).parameters.items()}
        given = {name: value for name, value in self.get_params().items() if not _same(value, default[name])}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and bool(np.array_equal(a, b)))


class DensityParameters(Parameters):
    """Base of density estimators: dataclasses that scikit-learn can copy and search over; equal if all parameters are.

    >>> from decisional import Kernels
    >>> Kernels(1.5).set_params(samples=100)
    Kernels(bandwidth=1.5, samples=100)
    """

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                kind = type(self).__name__
                raise ValueError(f"{kind} has no parameter {name!r}; it must be one of {', '.join(known)}: choose one.")
            setattr(self, name, value)
        return self

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        theirs = other.get_params()
        return all(_same(value, theirs[name]) for name, value in self.get_params().items())

    def __hash__(self) -> int:
        # Arrays are no keys: equal estimators have equal types at least.
        return hash(type(self))


class StateModel(Parameters):
    """Base of `CausalModel` and `DecisionalModel`."""

    # What it is to `support.display`.
    _kind: str
    # What is raised before `fit`; the estimators raise that of scikit-learn.
    _not_fitted: type[ValueError] = NotFitted

    def _repr_html_(self) -> str | None:
        return html_of(self._kind, self) if self.is_fitted() else None

    def is_fitted(self) -> bool:
        """Whether there are states."""
        return False

    def check_fitted(self) -> None:
        """Refuse a model without states."""
        if not self.is_fitted():
            raise self._not_fitted(
                f"This {type(self).__name__} instance is not fitted yet: call 'fit' before asking for its results."
            )


@dataclass(frozen=True, eq=False)
class PlainSeries:
    """Series of symbols or of numbers, before they are observed.

    Attributes
    ----------
    parts : the values of each
    numbers : whether they are numbers with fractions
    dates : of the values of each, or None
    index : of all
    """

    parts: list[Any]
    numbers: bool
    dates: list[NDArray[Any]] | None
    index: Index | None


def plain_series(X: Any, numbers: bool | None = None, inputs: Any = None, names: Iterable[Any] = ()) -> PlainSeries:
    """One or several series, as `ds.observe.series` and `ds.observe.delays` take them; (T, 1) is one.

    Parameters
    ----------
    numbers : what the values are, where that is known
    inputs : names of calendar parts that are asked for, or None
    names : the columns of frames, in the order they are meant; by default those of the first
    """
    if isinstance(X, str):
        unpacked(X)
    values, index = unwrapped(X, "X", aligned(names, dated=inputs is not None))
    several = isinstance(values, (list, tuple)) and len(values) > 0 and np.ndim(values[0]) > 0
    parts = [_one_series(part) for part in values] if several else [_one_series(values)]
    numbers = any(map(is_continuous, parts)) if numbers is None else numbers
    if inputs is None:
        return PlainSeries(parts, numbers, None, index)
    if not are_names(inputs) or not numbers:
        what = "are known of the times of numbers" if are_names(inputs) else "must be names of calendar parts"
        raise ValueError(
            f"The 'inputs' are {shown(inputs)}; for plain series they {what}: give such as ['hour', 'month'], or "
            "Observations by ds.observe.delays(signal, past, inputs=...)."
        )
    return PlainSeries(parts, numbers, dates_of_series(X, inputs), index)


def observed_series(
    series: PlainSeries,
    past: int,
    future: int,
    inputs: Any = None,
    ahead: bool = False,
    letters: tuple[Hashable, ...] = (),
) -> tuple[Observations, Bools]:
    """Windows of symbols, or delay vectors of numbers.

    Parameters
    ----------
    inputs : names of calendar parts, where there are dates
    ahead : let each series go on, so that its last values are observed too, with an outcome that means nothing
    letters : symbols that are known; where none of them occurs, those that print the same are meant

    Returns
    -------
    observations, and which places of their data are those of the series
    """
    more = future if ahead else 0
    own = np.concatenate([np.repeat([True, False], [len(part), more]) for part in series.parts])
    meant = _meant(series.parts, letters) if letters and not series.numbers else series.parts
    parts = [_prolonged(part, more) for part in meant]
    if series.numbers:
        known = series.dates and [calendar(_later(dates, more), inputs) for dates in series.dates]
        found = delays(parts, past, future, inputs=known)
    else:
        found = symbol_series(parts, past, future, sequences=True)
    found.index = series.index
    return found, own


def signal_ahead(data: Any, way: Way) -> tuple[Observations, Bools]:
    """Delay vectors as `observe_again` makes them, of series that go on so that their last values are observed too.

    Returns
    -------
    observations, whose last outcomes mean nothing, and which places of their data are those of the series
    """
    given = way.given
    more = int(given["step"] * given["future"])
    signal = read_signal(data, None, given["target"])
    parts = [_prolonged(part[:, 0] if part.shape[1] == 1 else part, more) for part in signal.series]
    own = np.concatenate([np.repeat([True, False], [len(part), more]) for part in signal.series])
    names, known = given["inputs"], None
    if names is not None:
        known = [calendar(_later(dates, more), names) for dates in dates_of_series(data, names)]
    found = delays(parts, **{**given, "inputs": known})
    return found, own


def _later(dates: NDArray[Any], n: int) -> NDArray[Any]:
    """Dates that go on in their usual step."""
    steps = np.diff(dates)
    step = np.median(steps[~np.isnat(steps)]) if (~np.isnat(steps)).any() else np.timedelta64(0, "s")
    return np.append(dates, dates[-1:] + step * np.arange(1, n + 1)) if dates.size else dates


def _one_series(values: Any) -> Any:
    """A series that can be cut, without the second axis that scikit-learn likes."""
    if isinstance(values, (str, bytes)):
        return values
    if not isinstance(values, Iterable):
        raise TypeError(refusal("X", values, "a series, or several in a list", "give a sequence"))
    array = values if isinstance(values, np.ndarray) else as_array(*split(values, False))
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _meant(parts: list[Any], letters: tuple[Hashable, ...]) -> list[Any]:
    """Series in other symbols than those that are known, in the ones that print the same, as machines read them."""
    found = {symbol for part in parts if np.ndim(part) <= 1 for symbol in distinct(part)[1]}
    if not found.isdisjoint(letters) or any(np.ndim(part) > 1 for part in parts):
        return parts
    return [as_array(Alphabet(letters).meant(part)) for part in parts]


def _prolonged(part: Any, n: int) -> Any:
    """A series that goes on with a value that it has."""
    if isinstance(part, np.ndarray):
        known = [
            k for k in range(len(part) - 1, -1, -1) if not np.any(is_missing(part[k]) if part.ndim == 1 else False)
        ]
        return np.concatenate([part, part[[known[0]] * n]]) if known and n else part
    return part + part[-1:] * n


def as_observations(X: Any, z: Any, numbers: bool = False, fitting: bool = False) -> Observations:
    """X itself, or pairs of rows of X and outcomes z (all alike where only x matters); `numbers` for kernels."""
    if isinstance(X, Observations):
        if z is not None:
            raise ValueError("The 'z' are given together with Observations, which hold them already: leave 'z' out.")
        return X
    if z is None and fitting:
        raise ValueError(
            f"The 'z' of 'X', {type(X).__name__}, are missing (it requires y to be passed, but the target y is None); "
            "causal states are of pairs: give the outcome of each row, or past=5, say, for a series, or Observations."
        )
    refuse_sparse(X)
    if (len(X) if isinstance(X, Sized) and getattr(X, "ndim", None) != 0 else 0) == 0:
        raise ValueError(
            f"The 'X' is {type(X).__name__} of 0 sample(s) while a minimum of 1 is required: give one row for each "
            "observation."
        )
    shape = refuse_ragged(X, "X")
    if np.iscomplexobj(X):
        raise ValueError(f"Complex data not supported: the 'X' is {type(X).__name__} of them; give real numbers.")
    if len(shape) == 2 and 0 in shape:
        raise ValueError(
            f"The 'X' has 0 feature(s) (shape={shape}) while a minimum of 1 is required: give one column or more."
        )
    index, X = index_of(X), numbers_of(X, "X") if is_frame(X) else unwrapped(X, "X")[0]
    z = unwrapped(z, "z")[0]
    if isinstance(X, np.ndarray) and X.dtype.kind == "O" and X.ndim == 2:
        X = np.asarray(X, float)
    found = vectors(X, z) if numbers else pairs(X, np.zeros(len(X), np.int64) if z is None else z)
    found.index = index
    return found


def refuse_ragged(X: Any, name: str) -> tuple[int, ...]:
    """The shape of data; rows of several lengths have none."""
    try:
        return np.shape(X)
    except ValueError:
        lengths = sorted({len(row) for row in X if isinstance(row, Sized)})
        raise ValueError(
            f"The {name!r} is {type(X).__name__} with rows of {lengths} values; rows must have one length: give one "
            "row of numbers for each observation, or past=5, say, for several series."
        ) from None


def refuse_sparse(X: Any) -> None:
    """Refuse sparse matrices."""
    from scipy.sparse import issparse

    if issparse(X):
        raise ValueError(
            f"The 'X' is a sparse {type(X).__name__}; sparse data are not supported, x must be rows of a dense array: "
            "use X.toarray()."
        )


def at_rows(values: NDArray[Any], obs: Observations, missing: Any) -> NDArray[Any]:
    """Values of pairs back at the places of their rows."""
    result = np.full((obs.shape[0], *values.shape[1:]), missing, values.dtype)
    result[obs.site] = values
    return result
