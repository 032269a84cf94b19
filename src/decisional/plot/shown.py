"""Figures and axes that show themselves in a notebook, which pyplot would do if it knew them."""

from io import BytesIO
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .figures import figure_of

DPI = 100


class ShownAxes(Axes):
    """Axes that show their figure."""

    def _repr_png_(self) -> bytes:
        return png(figure_of(self))


class ShownFigure(Figure):
    """A figure that shows itself, and whose plain axes do."""

    def _repr_png_(self) -> bytes:
        return png(self)

    def add_subplot(self, *args: Any, **kwargs: Any) -> Any:
        return super().add_subplot(*args, **_shown(kwargs))

    def add_axes(self, *args: Any, **kwargs: Any) -> Any:
        return super().add_axes(*args, **_shown(kwargs))


def png(figure: Any) -> bytes:
    """The picture as bytes."""
    data = BytesIO()
    figure.savefig(data, format="png", dpi=DPI, bbox_inches="tight")
    return data.getvalue()


def _shown(how: dict[str, Any]) -> dict[str, Any]:
    """Axes of a projection have a class of their own."""
    return how if how.get("projection") is not None else {**how, "axes_class": ShownAxes}
