"""Observations: one contract for every kind of data, and those of which only the counts are known."""

from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.arguments import as_table
from ..support.arrays import Ints, read_only
from ..support.plurals import plural
from . import keys
from .frames import Index
from .nesting import Dependence
from .sequences import Symbols
from .tally import Table, Tally, count_steps, symbol_names
from .vocabularies import Vectors, Vocabulary


class CountsOnly(ValueError):
    """What is asked for belongs to each observation, and only counts were kept."""


class Delays(NamedTuple):
    """How the x and z of a signal are made of its values.

    Attributes
    ----------
    lags, ahead : x has the values at t - lag, z those at t + ahead
    difference : whether values are differenced first
    width, target : number of variables, and the one that z has, None = all
    """

    lags: tuple[int, ...]
    ahead: tuple[int, ...]
    difference: bool
    width: int
    target: int | None


class Way(NamedTuple):
    """How data were observed, so that others can be observed alike.

    Attributes
    ----------
    function : of `decisional.observe`
    given : its parameters by name, without the data and what belongs to these alone
    """

    function: str
    given: dict[str, Any]


class Observations:
    """Pairs (x, z) with their distinct values numbered, made when asked for where the data are large.

    A configuration x is a word of `past` letters (one letter for pairs), or a vector of `past` numbers.

    Attributes
    ----------
    kind : what the data are: "series", "field", "image", "signal" or "pairs"
    past, future : symbols, cells or numbers in x and in z
    letters : the values a symbol of x can take; code k in a word means letters[k]. () where x are vectors
    alphabet : the symbols of the steps x -> x', or None
    shape : shape of the data's grid
    overlap : how many observations share each piece of their outcomes: so much less do they count as evidence
    source : the numbered symbols of a series in memory, or None
    known : how many numbers at the end of x are inputs that are known in advance
    delays : how x and z are made of a signal, or None
    index : the index of the series or frame that the data came as, or None
    way : how the data were observed, or None where that is not known
    """

    kind: str
    past: int
    future: int
    letters: tuple[Hashable, ...]
    alphabet: tuple[Hashable, ...] | None
    shape: tuple[int, ...]
    overlap: float = 1.0
    known: int = 0
    delays: Delays | None = None
    index: Index | None = None
    way: Way | None = None
    source: Symbols | None = None
    _counts: Tally | None = None
    _table: Table | None = None

    @cached_property
    def n(self) -> int:
        """Number of observations."""
        return self._counted().n

    def _count(self, executor: Executor | None) -> Tally:
        """Count all observations: done once, when that is asked for."""
        raise AssertionError("They are counted already.")

    def _counted(self, executor: Executor | None = None) -> Tally:
        if self._counts is None:
            self._counts = self._count(executor)
        return self._counts

    def tally(self, executor: Executor | None = None) -> Tally:
        """Counts by values that mean the same in all data: those of several observations can be merged."""
        return self._counted(executor)

    @property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The distinct x, and the distinct z."""
        return self._counted().x, self._counted().z

    def table(self, executor: Executor | None = None) -> Table:
        """Counts over the distinct x; computed once and kept."""
        if self._table is None:
            self._table = self._counted(executor).table()
        return self._table

    @cached_property
    def outcomes(self) -> Sequence[Any]:
        """The values z can take; outcome number k means outcomes[k]."""
        tally = self._counted()
        return tally.spell(tally.z)

    def words(self, rows: Ints) -> NDArray[Any]:
        """(len(rows), past) symbol codes of distinct x, most recent first; or their numbers, where x are vectors."""
        return self._counted().x.words(rows)

    @property
    def points(self) -> NDArray[Any] | None:
        """(n_x, past) the distinct x as vectors of numbers, or None where they are words."""
        return self._vectors("x")

    @property
    def targets(self) -> NDArray[Any] | None:
        """(n_outcomes, future) the distinct z as vectors of numbers, or None where they are kinds."""
        return self._vectors("z")

    def _vectors(self, name: str) -> NDArray[Any] | None:
        # Where x are words, z are kinds: no need to count.
        values = None if self.letters else getattr(self._counted(), name)
        return values.rows if isinstance(values, Vectors) else None

    def _unknown(self, what: str) -> NoReturn:
        raise CountsOnly(
            f"The '{what}' of each observation is not known, only counts were kept; labels need the data: use "
            "predict(obs), or observe all data at once, with chunks=..., and fit."
        )

    @cached_property
    def x(self) -> Ints:
        """(n,) row of each observation's x in the table."""
        self._unknown("x")

    @cached_property
    def z(self) -> Ints:
        """(n,) outcome number of each observation."""
        self._unknown("z")

    @cached_property
    def symbol(self) -> Ints | None:
        """(n,) code of the symbol of the step to the successor, or None."""
        self._unknown("symbol")

    @cached_property
    def successor(self) -> Ints | None:
        """(n,) index of the next observation, -1 where there is none; or None."""
        self._unknown("successor")

    @cached_property
    def site(self) -> Ints:
        """(n,) flat position of each observation on the data's grid."""
        self._unknown("site")

    @property
    def has_suffixes(self) -> bool:
        """Whether x is a word in time, so that its endings are configurations too."""
        return self.kind == "series"

    @property
    def nested(self) -> bool:
        """Whether x and z are light cones, whose sub-cones are known too."""
        return False

    def _dependence_of(self, kept: Ints | None) -> Dependence | None:
        """How far observations are independent of each other, all or those with some numbers; None = not known."""
        return None

    @property
    def uncoded(self) -> bool:
        """Whether x and z are numbers of a field, for which codes are to be learnt before they can be counted."""
        return False

    @property
    def coder(self) -> Any:
        """What made the codes that x and z are, None where they are the data themselves."""
        return None

    def coded(self, coder: Any) -> "Observations":
        """The same observations of a real-valued field, by their codes."""
        raise AssertionError("They need no codes.")

    def excerpt(self) -> "Observations":
        """Some observations of a real-valued field, in memory: all, or of some runs of times where they are many."""
        raise AssertionError("They need no codes.")

    def pieces(self) -> "Iterator[Observations]":
        """The observations of each slice of data that are read slice by slice; else all of them."""
        yield self

    def check_memory(self) -> None:
        """Warn where the counts of data that are read slice by slice may not fit, and refuse where they cannot."""

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, rows: Any) -> "Observations":
        """The observations at some places of the data, as for cross-validation.

        Parameters
        ----------
        rows : slice, integers or mask along the first axis of the data's grid: positions of a series, times of a field,
            rows of pairs

        Examples
        --------
        >>> import decisional as ds
        >>> obs = ds.observe.series("0110110111", past=2)
        >>> obs[:5].site
        array([1, 2, 3, 4])
        """
        rows = rows[0] if isinstance(rows, tuple) and rows[1:] == (Ellipsis,) else rows
        wanted = np.zeros(self.shape[0], bool)
        wanted[rows] = True
        return Chosen(self, np.flatnonzero(wanted[self.site // int(np.prod(self.shape[1:]))]))

    def __iter__(self) -> NoReturn:
        raise TypeError("Observations are taken as a whole: use obs.x, obs.z and obs.site for each of them.")

    def __repr__(self) -> str:
        about = f"past {self.past}, future {self.future}, {plural(len(self.letters), 'letter')}"
        if not self.letters:
            about = f"x of {plural(self.past, 'number')}, z of {self.future}"
        return f"Observations({self.kind}: {plural(self.n, 'pair')}, {about})"

    def field(self, values: ArrayLike) -> NDArray[Any]:
        """Put one value per observation back on the data's grid; NaN where there is no observation.

        Parameters
        ----------
        values : (n,) or (n, k)

        Returns
        -------
        array of shape `shape` (+ (k,)); integers become floats, to have room for NaN.
        """
        values = as_table(values, "values", "it must be an array with one value for each observation: give such.")
        if values.shape[:1] != (self.n,):
            raise ValueError(
                f"The 'values' have {values.shape[0] if values.ndim else 0} entries; there are {self.n} "
                "observations: give one value per observation."
            )
        dtype = np.result_type(values.dtype, np.float32) if values.dtype.kind in "biu" else values.dtype
        grid = np.empty((int(np.prod(self.shape)), *values.shape[1:]), dtype)
        self._lay(values, grid, np.nan)
        return grid.reshape(*self.shape, *values.shape[1:])

    def frame(self, **columns: ArrayLike) -> Any:
        """Values of each observation as columns of a frame, on the index of the data.

        Parameters
        ----------
        columns : (n,) values by name

        Returns
        -------
        pandas.DataFrame, or a frame of the library that the data came with: a row for each place of the data, on their
        index if they have one. Where there is no observation integers are -1, numbers NaN and all else None.

        Examples
        --------
        >>> import decisional as ds
        >>> ds.observe.series("0110", past=2).frame(x=[5, 6]).x.tolist()
        [-1, 5, 6, -1]
        """
        if len(self.shape) > 1:
            raise ValueError(
                f"The data have shape {self.shape}; a frame has one row for each place of a series: use field(values)."
            )
        grids = {name: self.laid(name, np.asarray(values)) for name, values in columns.items()}
        return (self.index or Index("pandas", None, self.shape[0])).frame(grids)

    def laid(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        """Values of each observation at the places of the data, as `frame` has them in the column of that name."""
        if values.shape != (self.n,):
            raise ValueError(
                f"The {name!r} has shape {values.shape}; there are {self.n} observations: give one value for each."
            )
        kind = values.dtype.kind
        missing = {"f": np.nan, "i": -1, "u": -1}.get(kind)
        kept = values.dtype if kind in "if" else np.dtype(np.int64 if kind == "u" else object)
        grid: NDArray[Any] = np.empty(self.shape, kept)
        self._lay(values, grid, missing)
        return grid

    def _lay(self, values: NDArray[Any], grid: NDArray[Any], missing: Any) -> None:
        """Put the value of each observation at its place on the flat grid, and what is missing at the others."""
        grid[:] = missing
        grid[self.site] = values


class Chosen(Observations):
    """Some of the observations of others; their x are those that occur among them.

    Parameters
    ----------
    whole : all observations
    kept : (n,) the numbers of some of them, increasing
    """

    def __init__(self, whole: Observations, kept: Ints) -> None:
        if not kept.size:
            raise ValueError(
                f"None of {whole.n} observations is at the places that were chosen; at least one must be: choose more."
            )
        self._whole, self._kept = whole, kept
        for name in ("kind", "past", "future", "letters", "alphabet", "shape", "overlap"):
            setattr(self, name, getattr(whole, name))
        for name in ("known", "delays", "index", "way"):
            setattr(self, name, getattr(whole, name))
        every, after = whole.x, whole.successor
        tally, x = whole._counted(), every[kept]
        pairs, counts = keys.count_slices(x, whole.z[kept], len(tally.z))
        steps = None
        if tally.steps is not None and after is not None and whole.symbol is not None:
            target = np.where(after[kept] >= 0, every[after[kept]], -1)
            steps = count_steps(x, whole.symbol[kept], target, len(tally.x), len(tally.symbols or ()))
        self._all = replace(tally, pairs=pairs, counts=counts, steps=steps, dependence=None)
        self._number = np.cumsum(self._all.weight > 0) - 1
        self._counts = self._all.observed()

    def tally(self, executor: Executor | None = None) -> Tally:
        dependence = self._dependence_of(None) if self._counted().dependence is None else None
        if dependence is not None:
            whole = self._whole.tally(executor)
            counted = replace(self._all, dependence=dependence, slices=whole.slices, patterns=whole.patterns)
            self._counts = counted.observed()
        return self._counted()

    def _dependence_of(self, kept: Ints | None) -> Dependence | None:
        return self._whole._dependence_of(self._kept if kept is None else self._kept[kept])

    @property
    def nested(self) -> bool:
        return self._whole.nested

    @property
    def coder(self) -> Any:
        return self._whole.coder

    @property
    def n(self) -> int:
        return self._kept.size

    @property
    def x(self) -> Ints:
        return read_only(self._number[self._whole.x[self._kept]])

    @property
    def z(self) -> Ints:
        return read_only(self._whole.z[self._kept])

    @property
    def symbol(self) -> Ints | None:
        symbol = self._whole.symbol
        return None if symbol is None else read_only(symbol[self._kept])

    @property
    def successor(self) -> Ints | None:
        after = self._whole.successor
        if after is None:
            return None
        number = np.full(self._whole.n + 1, -1, np.int64)
        number[self._kept] = np.arange(self.n)
        return read_only(number[after[self._kept]])

    @property
    def site(self) -> Ints:
        return read_only(self._whole.site[self._kept])


class Tallied(Observations):
    """Observations of which only the counts are known.

    Parameters
    ----------
    tally : the counts
    whole : whether x that are only led to stay rows, as they are where a tally is that of observations as it stands
    """

    def __init__(self, tally: Tally, whole: bool = False) -> None:
        self.kind = tally.kind
        self._counts = tally if whole else tally.observed()
        if not self._counts.n:
            raise ValueError(
                "There is no observation in the counts; at least one must fit the data: use a shorter past or more "
                "data."
            )
        self.shape = (self._counts.n,)

    @cached_property
    def letters(self) -> tuple[Hashable, ...]:  # type: ignore[override]
        return self._counted().x.letters

    @cached_property
    def past(self) -> int:  # type: ignore[override]
        return self._counted().x.width

    @cached_property
    def future(self) -> int:  # type: ignore[override]
        return self._counted().z.width

    @cached_property
    def alphabet(self) -> tuple[Hashable, ...] | None:  # type: ignore[override]
        symbols = self._counted().symbols
        return symbol_names(symbols) if symbols is not None else self.letters if self.has_suffixes else None

    @cached_property
    def overlap(self) -> float:  # type: ignore[override]
        """See `Cones.overlap`."""
        tally = self._counted()
        cells = self.future if tally.dependence is None else tally.dependence.nesting.cells
        return max(float(cells), tally.slices / tally.patterns.size) if tally.slices else 1.0

    @property
    def coder(self) -> Any:
        return self._counted().coder

    @property
    def nested(self) -> bool:
        return self._counted().dependence is not None
