"""Reports: one self-contained HTML page that explains a result, and the display of results in notebooks."""

from .notebook import causal_html, decisions_html, machine_html
from .page import page, write

__all__ = ["causal_html", "decisions_html", "machine_html", "page", "write"]


def __dir__() -> list[str]:
    return sorted(__all__)
