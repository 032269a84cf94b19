"""Other methods of reconstruction, to compare with: the same data in, the same `EpsilonMachine` out."""

from .states.cssr import CssrResult, cssr, cssr_histories, cssr_result

__all__ = ["CssrResult", "cssr", "cssr_histories", "cssr_result"]
