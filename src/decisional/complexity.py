"""Complexities in bits, of the whole system and at each observation: steps 10 and 11 of the figure."""

from .states.partition import global_complexity, local_complexity, ranks

__all__ = ["global_complexity", "local_complexity", "ranks"]
