"""States that are decided alike: the fewest predictions with which no state loses more than matters, or than is known.

The predictions tried are those that are best in some state, and, where states are few, in two of them together, unless
each is the result of a search. A prediction serves a state if it loses no more there than the user's indifference,
against what is best there, or no more than some standard errors of that loss: of the mean of U(best, z) - U(y, z) over
the observations of the state. The prediction that serves the most probability is taken first, then the one that serves
most of what is left, and so on; each state follows the one of these that loses least there. At last those that follow
the same take what is best for all of them together, if that serves them, and who is alone does what is best.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..states.partition import Partition
from ..support.arrays import Bools, Floats, Ints
from .predictions import Optimum, Predictions, Slack, numbered, variances
from .solving import solve
from .utilities import Utility

# Iso-prediction states, up to which what is best for two of them is tried too.
FEW = 64
# Entries of a block of states that is looked at at once.
BLOCK = 1 << 21
# Losses that differ by no more are the same.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Alike:
    """What K states do in common.

    Attributes
    ----------
    groups : partition of the states by what they do
    predictions : their sets Y, the same for all states of a group; a single prediction where their own sets differed
    utility : (K,) what the common prediction is worth in each state
    """

    groups: Partition
    predictions: Predictions
    utility: Floats


@dataclass(frozen=True, eq=False)
class Losses:
    """What predictions lose in K states against the best of each.

    Attributes
    ----------
    p, outcomes, utility : (K, n_z) distributions, what their columns mean, and U
    choices : K predictions, one that is best for each
    indifference, errors : what a state may lose, in units of U, and in standard errors of the loss
    n : (K,) observations of each state, which these errors are of; None: there are none
    integrate, optimise : as in `solving`
    """

    p: Any
    outcomes: Sequence[Any]
    utility: Utility
    choices: Sequence[Any]
    indifference: float = 0.0
    errors: float = 0.0
    n: Floats | None = None
    integrate: Any = None
    optimise: Any = None

    def of(self, predictions: Sequence[Any]) -> Iterator[tuple[slice, Floats, Floats]]:
        """States in blocks, with their losses (n, n_predictions), and what of these they may lose."""
        m, (K, n_z) = len(predictions), self.p.shape
        size = max(1, min(1024, BLOCK // (m + n_z)))
        for begin in range(0, K, size):
            part = slice(begin, min(begin + size, K))
            p = self.p[part] if isinstance(self.p, np.ndarray) else self.p[part].toarray()
            tried, place = numbered([*predictions, *self.choices[part]])
            u = self.utility.matrix(tried, self.outcomes)
            value = p @ u.T if self.integrate is None else np.asarray(self.integrate(p, u), float)
            lost = np.maximum(np.take_along_axis(value, place[m:, None], axis=1) - value[:, place[:m]], 0.0)
            yield part, lost, self._bearable(part, p, u[place[:m]], u[place[m:]])

    def _bearable(self, part: slice, p: Floats, tried: Floats, own: Floats) -> Floats:
        """What some states may lose with predictions, given U of these (n_predictions, n_z) and of the own (n, n_z)."""
        if self.n is None or self.errors == 0.0:
            return np.full((1, 1), self.indifference)
        # Both are tried on the same observations.
        error = np.sqrt(np.maximum(variances(p, tried, own), 0.0) / self.n[part, None])
        bearable: Floats = np.maximum(self.errors * error, self.indifference)
        return bearable

    def serves(self, predictions: Sequence[Any], psi: Partition) -> Bools:
        """(n, n_predictions) whether a prediction loses little enough in all states of an iso-prediction state."""
        found = np.ones((psi.n_states, len(predictions)), bool)
        for part, lost, bearable in self.of(predictions):
            np.logical_and.at(found, psi.labels[part], lost <= bearable + ROUNDING)
        return found

    def least(self, predictions: Sequence[Any], serves: Bools, psi: Partition) -> Ints:
        """(n,) which of the predictions that serve it loses least in each iso-prediction state, the first of equals."""
        total: Floats = np.zeros((psi.n_states, len(predictions)))
        weight = _weights(psi)
        for part, lost, _ in self.of(predictions):
            np.add.at(total, psi.labels[part], weight[part, None] * lost)
        total[~serves] = np.inf
        found: Ints = (total <= total.min(axis=1, keepdims=True) + ROUNDING * weight.sum()).argmax(axis=1)
        return found

    def at(self, predictions: Sequence[Any], number: Ints) -> Floats:
        """(K,) what one of the predictions, by its number, loses in each state."""
        found = np.zeros(number.size)
        for part, lost, _ in self.of(predictions):
            found[part] = np.take_along_axis(lost, number[part, None], axis=1)[:, 0]
        return found

    def best_together(self, psi: Partition, member: Bools) -> Predictions:
        """What is best in iso-prediction states (n_groups, n) together."""
        from scipy.sparse import csr_array

        weight = csr_array(member[:, psi.labels] * _weights(psi))
        p = weight @ (self.p if isinstance(self.p, np.ndarray) else csr_array(self.p))
        total: Floats = np.asarray(weight.sum(axis=1)).reshape(-1, 1)
        p = p / total if isinstance(p, np.ndarray) else csr_array(p.multiply(1.0 / total))
        return solve(p, self.outcomes, self.utility, Slack(), self.integrate, self.optimise).predictions


def _weights(psi: Partition) -> Floats:
    """(K,) weights of the states; all alike in iso-prediction states that are never seen."""
    assert psi.weight is not None
    return np.where(psi.probability[psi.labels] > 0.0, psi.weight, 1.0)


def decide_alike(losses: Losses, best: Optimum, psi: Partition) -> Alike:
    """Group iso-prediction states into those that can do the same.

    Parameters
    ----------
    losses : what predictions lose, and may lose
    best, psi : best predictions of each state, and the iso-prediction states, whose states are decided alike anyway

    Cost: O(K m n_z) for the m different predictions that are tried, and m bytes for each iso-prediction state.
    """
    assert psi.weight is not None
    # The most probable state speaks for its iso-prediction state.
    order = np.argsort(-psi.weight, kind="stable")
    speaker = order[np.unique(psi.labels[order], return_index=True)[1]]
    n, sets = psi.n_states, best.predictions.taken(speaker, np.zeros(psi.n_states, bool))
    # A search for each pair would take much longer than one for each state.
    if 2 < n <= FEW and losses.optimise is None:
        pairs = np.array(list(combinations(range(n), 2)))
        member = np.zeros((len(pairs), n), bool)
        np.put_along_axis(member, pairs, True, axis=1)
        sets = sets.join([losses.best_together(psi, member)])
    tried, number = numbered(sets.choice())
    serves = losses.serves(tried, psi)
    serves[np.arange(n), number[:n]] = True
    taken = _cover(serves, psi.probability)
    follows = taken[losses.least([tried[y] for y in taken], serves[:, taken], psi)]
    row = np.unique(number, return_index=True)[1][follows]
    # What is best for all that follow the same; who is alone with it has no reason to.
    groups, group = np.unique(follows, return_inverse=True)
    member = group.reshape(-1) == np.arange(groups.size)[:, None]
    together = losses.best_together(psi, member)
    serves = losses.serves(together.choice(), psi)
    better = (member.sum(axis=1) > 1) & (serves.T | ~member).all(axis=1)
    row = np.where(member.sum(axis=1)[group] == 1, np.arange(n), np.where(better[group], len(sets) + group, row))
    sets = sets.join([together])
    # Predictions that are the same in the end are one.
    choices, choice = numbered(sets.choice())
    found = choice[row][psi.labels]
    shared = np.bincount(choice[row], minlength=len(choices)) > 1
    first = np.full(len(choices), len(sets))
    np.minimum.at(first, choice[row], row)
    utility = best.utility - losses.at(choices, found)
    return Alike(Partition(found, psi.weight), sets.taken(first[found], shared[found]), utility)


def _cover(serves: Bools, weight: Floats) -> Ints:
    """Predictions that serve all rows between them, each the one that serves most of the weight left."""
    taken: list[int] = []
    left, mass, same = np.ones(len(serves), bool), weight @ serves, 1e-12 * weight.sum()
    while left.any():
        y = int((mass >= mass.max() - same).argmax())
        served = left & serves[:, y]
        mass -= weight[served] @ serves[served]
        mass[y] = -np.inf
        left &= ~served
        if served.any():
            taken.append(y)
    return np.array(taken)
