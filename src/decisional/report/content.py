"""What a page shows, as plain data: the templates make HTML of it, and write the words around it.

Strings are text, never HTML: the templates escape them. Only the inside of a picture is `Markup`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes
    ----------
    name : what links lead to
    title : the heading
    content : what its template shows, besides the findings that all templates know
    form : name of its template, by default that of the section
    """

    name: str
    title: str
    content: Mapping[str, Any] = field(default_factory=dict)
    form: str = ""

    @property
    def template(self) -> str:
        return f"sections/{self.form or self.name}.html"


@dataclass(frozen=True)
class Chip:
    """The name of a state on its colour; plain without one."""

    text: str
    colour: str | None
    form: ClassVar = "chip"


@dataclass(frozen=True)
class Bars:
    """Probabilities as small bars between their labels and their numbers, and a note below."""

    rows: Sequence[tuple[str, float]]
    note: str = ""
    form: ClassVar = "bars"


@dataclass(frozen=True)
class Curve:
    """A small curve of a distribution: the path of an SVG of 40 by 20, what is seen on it, and the mean."""

    path: str
    label: str
    mean: float
    form: ClassVar = "curve"


Cell = str | Chip | Bars | Curve


@dataclass(frozen=True)
class TableContent:
    """A table whose first column heads the rows; the columns `numbers` are aligned to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str
    numbers: Collection[int] = ()


@dataclass(frozen=True)
class Legend:
    """What colours mean: states by name, or where these are many the ends of a scale of expected values."""

    n_states: int
    chips: Sequence[Chip] = ()
    scale: tuple[float, float] | None = None


@dataclass(frozen=True)
class Svg:
    """A picture inside a page: its inside, the part of the plane that it shows, and what is seen on it."""

    inside: Markup | None
    view: str
    width: float
    label: str

    @property
    def missing(self) -> bool:
        """Whether it could not be drawn, for want of matplotlib."""
        return self.inside is None
