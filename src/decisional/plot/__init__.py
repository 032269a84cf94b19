"""Pictures of epsilon-machines and of decisions, for papers and notebooks.

Everything is laid out in one unit of length, fonts and line widths included, and scaled once to the axes:
the same machine always gives the same picture, and the picture is the same at any size.
"""

from .artists import require_matplotlib
from .decisions import decisions
from .fields import animate, edges, fields, grey, state_colours
from .machines import graph, machine
from .markup import machine_html, machine_svg
from .relations import relations
from .saving import file_format, save
from .selections import selection
from .timeline import events, signal

__all__ = [
    "animate",
    "decisions",
    "edges",
    "events",
    "fields",
    "file_format",
    "graph",
    "grey",
    "machine",
    "machine_html",
    "machine_svg",
    "relations",
    "require_matplotlib",
    "save",
    "selection",
    "signal",
    "state_colours",
]
