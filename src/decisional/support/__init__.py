"""What every room may use: argument checks, arrays, executors, memory and cost, files."""

from typing import TYPE_CHECKING

from .rooms import modules_of

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
