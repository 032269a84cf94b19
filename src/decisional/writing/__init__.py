"""Values of each observation, written to disk slice by slice."""

from .values import write_values

__all__ = ["write_values"]
