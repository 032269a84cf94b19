"""Similarity of distributions: when two x have the same P(Z|x), as far as the data can tell.

All of them compare normalised distributions p and q, given as counts over the outcomes:

==============  ==================================================  ============================
match           measure                                             they match if
==============  ==================================================  ============================
ChiSquare       two-sample chi-square, k - 1 degrees of freedom     p-value > alpha (corrected)
GTest           likelihood ratio of the same table                  p-value > alpha (corrected)
Bhattacharyya   sqrt(1 - sum sqrt(p q))                             distance < threshold
Variational     sum abs(p - q)                                      distance < threshold
HarmonicMean    1 - sum 2 p q / (p + q)                             distance < threshold
JensenShannon   H((p + q) / 2) - (H(p) + H(q)) / 2, in bits         distance < threshold
Exact           sum abs(p - q)                                      equal to rounding
==============  ==================================================  ============================
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kernels import distances as kernels
from ..support.arguments import as_table, flag, integer, is_number, real, refusal


class Measure(ABC):
    """A match with a compiled similarity: match if similarity > level(n).

    Attributes
    ----------
    metric : code of the similarity in `_kernels.distances`
    checked : whether rejections are confirmed with the mean of G under the null
    """

    metric: ClassVar[int]
    checked: bool = False

    @abstractmethod
    def level(self, n: int) -> float:
        """Similarity above which two distributions match, when n of them are compared."""

    def compiled(self, n: int) -> tuple[int, bool, float]:
        """What the kernels take, when n distributions are compared."""
        return self.metric, self.checked, self.level(n)

    def similarity(self, a: ArrayLike, b: ArrayLike, n: int = 1) -> float:
        """Similarity of two vectors of counts: a p-value, or minus a distance."""
        a, b = sorted(_counts(a, b), key=np.sum)
        return float(kernels.similarity(*self.compiled(integer(n, "n", most=1 << 62)), *_dense(a, b)))

    def __call__(self, a: ArrayLike, b: ArrayLike) -> bool:
        """Whether two vectors of counts match."""
        return self.similarity(a, b) > self.level(1)


@dataclass(frozen=True)
class TwoSampleTest(Measure):
    """A two-sample test of homogeneity.

    Parameters
    ----------
    alpha : probability of a false rejection: in any of the comparisons of one reconstruction with
        `family_wise`, in each of them without
    family_wise : divide alpha by the number of distributions compared (Bonferroni), and confirm each
        rejection with G divided by its exact mean under the null, which large alphabets with few counts
        need; without it, the plain textbook test
    """

    alpha: float = 0.01
    family_wise: bool = True

    @property
    def checked(self) -> bool:  # type: ignore[override]
        return flag(self.family_wise, "family_wise", of=type(self).__name__)

    def level(self, n: int) -> float:
        alpha = real(self.alpha, "alpha", above=0, below=1, remedy="try alpha=0.01", of=type(self).__name__)
        return alpha / max(n, 1) if self.checked else alpha

    def p_value(self, a: ArrayLike, b: ArrayLike) -> float:
        """p-value of the hypothesis that two vectors of counts come from one distribution."""
        return self.similarity(a, b)

    def statistic(self, a: ArrayLike, b: ArrayLike) -> tuple[float, int]:
        """The statistic and its degrees of freedom."""
        value, dof = kernels.statistic(self.metric, *_dense(*_counts(a, b)))
        return float(value), int(dof)


class ChiSquare(TwoSampleTest):
    __doc__ = TwoSampleTest.__doc__
    metric = kernels.CHI_SQUARE


class GTest(TwoSampleTest):
    __doc__ = TwoSampleTest.__doc__
    metric = kernels.G_TEST


@dataclass(frozen=True)
class Distance(Measure):
    """A distance between distributions.

    Parameters
    ----------
    threshold : two distributions match if their distance is smaller
    """

    threshold: float = 0.05
    # Between distributions that have nothing in common.
    largest: ClassVar[float] = 1.0

    def level(self, n: int) -> float:
        if not is_number(self.threshold) or not 0.0 < self.threshold <= self.largest:
            kind, rule = type(self).__name__, f"a number above 0 and at most {self.largest:g}, the largest distance"
            raise ValueError(refusal("threshold", self.threshold, rule, "try threshold=0.05", of=kind))
        return -self.threshold

    def distance(self, a: ArrayLike, b: ArrayLike) -> float:
        """Distance between two vectors of counts or probabilities."""
        return -self.similarity(a, b) + 0.0


class Bhattacharyya(Distance):
    __doc__ = Distance.__doc__
    metric = kernels.BHATTACHARYYA


class Variational(Distance):
    __doc__ = Distance.__doc__
    metric = kernels.VARIATIONAL
    largest = 2.0


class HarmonicMean(Distance):
    __doc__ = Distance.__doc__
    metric = kernels.HARMONIC_MEAN


class JensenShannon(Distance):
    __doc__ = Distance.__doc__
    metric = kernels.JENSEN_SHANNON


@dataclass(frozen=True)
class Exact(Distance):
    """Equal distributions, to rounding; counts are compared as fractions, without any."""

    threshold: float = 1e-12
    metric: ClassVar[int] = kernels.VARIATIONAL


@dataclass(frozen=True)
class Evidence:
    """States by a rule for all distributions, where two at a time do not tell enough.

    Kernel densities are told apart by observations that were not used to see the difference: see `evidence`. Light
    cones are as deep as what follows them differs from what follows others like them: see `cone_states`.

    Parameters
    ----------
    alpha : level of the tests, over the number of states. Of kernel densities that holds up to 500 observations; of
        more it falls with the power 1.5 of their number. Of light cones it is a hundredth for each row, and a tenth of
        it is the share of past cones that may be told apart by chance
    """

    alpha: float = 0.01

    def level(self) -> float:
        return real(self.alpha, "alpha", above=0, below=1, remedy="try alpha=0.01", of="Evidence")


# Defaults for counts; for those of light cones; for densities; and for densities where their clustering is given, which
# compares them in pairs.
DEFAULTS = {"counts": GTest(), "cones": Evidence(), "kernels": Evidence(), "pairs": Bhattacharyya()}


def resolve(match: Any, evidence: str = "counts") -> Any:
    """The match for a `match=` argument: None, "exact", or any callable of two count vectors.

    None is a G-test of counts; light cones, and kernel densities, which are no counts, are told apart by `Evidence`, or
    kernel densities by their Bhattacharyya distance where they are compared in pairs.
    """
    if match is None:
        return DEFAULTS[evidence]
    if isinstance(match, Evidence):
        if evidence not in ("cones", "kernels"):
            what = "counts" if evidence == "counts" else "densities that are compared in pairs by 'cluster' or 'kernel'"
            rule = f"another one for {what}"
            raise ValueError(refusal("match", match, rule, f"try match=ds.{type(DEFAULTS[evidence]).__name__}()"))
        match.level()
        return match
    if isinstance(match, str) and match == "exact":
        return Exact()
    if callable(match) and not isinstance(match, type):
        return match
    rule = "None, 'exact', a match such as ds.GTest(0.01) or a callable of two count vectors"
    raise ValueError(refusal("match", match, rule, "choose one"))


def _dense(a: NDArray[Any], b: NDArray[Any]) -> tuple[Any, ...]:
    """Two vectors as the kernels take them: outcomes, counts and sum of one; counts, sum and support of the other."""
    return np.arange(a.size), a, a.sum(), b, b.sum(), int((b > 0).sum())


def _counts(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    rule = "it must be finite non-negative counts: give the counts of the same outcomes."
    a, b = as_table(a, "a", rule, float), as_table(b, "b", rule, float)
    # Squares of larger numbers are none.
    good = a.ndim == 1 and a.shape == b.shape and max(a.max(initial=0.0), b.max(initial=0.0)) < 1e100
    if not good or not (np.isfinite(a).all() and np.isfinite(b).all() and (a >= 0).all() and (b >= 0).all()):
        raise ValueError(
            f"The counts 'a' and 'b' to compare must be two finite non-negative vectors of one length. Got shapes "
            f"{a.shape} and {b.shape}: give the counts of the same outcomes."
        )
    if a.sum() == 0 or b.sum() == 0:
        raise ValueError("The counts 'a' or 'b' are all zero; a distribution needs at least one count: check both.")
    return a, b
