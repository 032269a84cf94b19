"""Pictures of epsilon-machines, decisions, fields, images and signals, for papers and notebooks.

Diagrams are laid out in one unit of length, fonts and line widths included, and scaled once to the axes:
the same machine always gives the same picture, and the picture is the same at any size.
"""

from .belief_pictures import beliefs
from .coordinate_pictures import coordinates
from .field_pictures import bits_path, edges, fields, film
from .figures import animate, grey, save, state_colours
from .figures import file_format as file_format
from .figures import require_matplotlib as require_matplotlib
from .machine_pictures import decisions, graph, machine, machine_html, machine_svg, relations
from .measure_pictures import block_entropies, information
from .selection_pictures import selection
from .timelines import events, signal

__all__ = [
    "animate",
    "beliefs",
    "bits_path",
    "block_entropies",
    "coordinates",
    "decisions",
    "edges",
    "events",
    "fields",
    "film",
    "graph",
    "grey",
    "information",
    "machine",
    "machine_html",
    "machine_svg",
    "relations",
    "save",
    "selection",
    "signal",
    "state_colours",
]


def __dir__() -> list[str]:
    return __all__
