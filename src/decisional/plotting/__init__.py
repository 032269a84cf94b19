"""Pictures of epsilon-machines, for papers and notebooks.

Everything is laid out in one unit of length, fonts and line widths included, and scaled once to the axes:
the same machine always gives the same picture, and the picture is the same at any size.
"""

from .files import file_format, save
from .machines import machine, require_matplotlib
from .markup import machine_html, machine_svg
from .selections import selection

__all__ = ["file_format", "machine", "machine_html", "machine_svg", "require_matplotlib", "save", "selection"]
