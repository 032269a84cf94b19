"""Other methods of reconstruction, to compare with: the same data in, the same `EpsilonMachine` out."""

from .cssr import cssr

__all__ = ["cssr"]
