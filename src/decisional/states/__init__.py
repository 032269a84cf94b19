"""Steps 1 to 4 and 9 of the figure: densities, matching, clustering, determinism, and the choice of a machine."""

from typing import TYPE_CHECKING

from ..support.rooms import modules_of

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
