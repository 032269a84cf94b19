"""Other methods of reconstruction, to compare with: the same data in, the same `EpsilonMachine` out."""

from .states.cssr import cssr, cssr_histories

__all__ = ["cssr", "cssr_histories"]
