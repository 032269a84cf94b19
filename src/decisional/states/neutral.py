"""Orders of symbols, outcomes and rows that counts alone decide, so that the names of symbols change no result.

Where states tie, the order in which rows are visited decides; and sums of the same numbers in another order differ by
rounding. So all is done in an order that renaming the symbols does not change: symbols by how often they are seen, and
those seen equally often by what they are seen with. Only where exchanging two symbols leaves every count as it is does
their own order decide.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..data.observations import Observations
from ..data.tally import Steps
from ..data.vocabularies import pack
from ..support.arrays import Ints, entries
from .aggregation import mixed
from .determinism import Unifilar
from .distributions import Distributions

# Letters of words that are looked at for an order; more of them keep the order of their letters.
MOST = 1 << 25
Codes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Neutral:
    """An order of the letters, outcomes and rows of what was observed.

    Attributes
    ----------
    letters, outcomes, rows : place of each in the order
    """

    letters: Ints
    outcomes: Ints
    rows: Ints

    @classmethod
    def of(cls, obs: Observations, densities: Distributions) -> "Neutral | None":
        """That of the rows of a reconstruction; None where they are no words, or in that order already.

        Cost: O(past n_rows + m) for m counts, some times that where symbols are seen equally often, and sorting.
        """
        words_of_cells = obs.kind in ("series", "field") and densities.samples is None
        if not words_of_cells or densities.n_rows * obs.past > MOST:
            return None
        words = obs.words(densities.member)
        words = np.where(np.arange(words.shape[1]) < densities.depth[:, None], words, -1)
        alike = obs.has_suffixes and densities.n_outcomes == len(obs.letters)
        letters, outcomes = _ranked(words, densities, len(obs.letters), alike)
        if (np.diff(letters) > 0).all() and (np.diff(outcomes) > 0).all():
            return None
        keys = pack(np.append(letters, -1)[words] + 1, letters.size + 1)
        return cls(letters, outcomes, places(np.lexsort(keys.T[::-1])))

    def densities(self, own: Distributions) -> Distributions:
        """The rows and outcomes in this order."""
        order = np.argsort(self.rows)
        size = np.diff(own.start)[order]
        start = np.concatenate([[0], np.cumsum(size)])
        entry = entries(own.start[order], size)
        outcome = self.outcomes[own.outcome[entry]]
        entry = entry[np.lexsort((outcome, np.repeat(np.arange(order.size), size)))]
        return replace(
            own,
            start=start,
            outcome=self.outcomes[own.outcome[entry]],
            count=own.count[entry],
            weight=own.weight[order],
            row=np.where(own.row >= 0, self.rows[own.row], -1),
            member=own.member[order],
            depth=own.depth[order],
        )

    def steps(self, own: Steps) -> Steps:
        """Steps between the rows in this order, by the letters in this order."""
        return replace(own, symbol=self.letters[own.symbol]).relabel(self.rows)

    def words(self, own: Ints) -> Ints:
        """(n_rows, past) words of the rows in this order."""
        ordered: Ints = np.append(self.letters, -1)[own[np.argsort(self.rows)]]
        return ordered

    def given_back(self, found: Unifilar) -> Unifilar:
        """What was found in this order, for the rows and letters as they were."""
        letter = np.argsort(self.letters)
        unresolved = sorted((s, int(letter[a]), share) for s, a, share in found.unresolved)
        columns = found.targets[:, self.letters], found.emission[:, self.letters]
        return Unifilar(found.labels[self.rows], *columns, tuple(unresolved))


def places(order: Ints) -> Ints:
    """(n,) the place of each number in an order of them."""
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    return place


def _ranked(words: Ints, densities: Distributions, n_letters: int, alike: bool) -> tuple[Ints, Ints]:
    """Places of the letters and of the outcomes; `alike`: each outcome is a letter."""
    seen = np.zeros(densities.n_outcomes, np.int64)
    np.add.at(seen, densities.outcome, densities.count.astype(np.int64))
    if alike:
        shown = seen
    else:
        shown = np.bincount(words[:, 0][words[:, 0] >= 0], weights=densities.weight[words[:, 0] >= 0])
        shown = np.append(shown, np.zeros(n_letters - shown.size)).astype(np.int64)
    letters, outcomes = _mix(shown.astype(np.uint64)), _mix(seen.astype(np.uint64))
    known, n = 0, _kinds(letters) + _kinds(outcomes)
    while known < n < letters.size + outcomes.size:
        letters, outcomes = _refined(words, densities, letters, outcomes, alike)
        known, n = n, _kinds(letters) + _kinds(outcomes)
    return places(np.lexsort((letters, -shown))), places(np.lexsort((outcomes, -seen)))


def _refined(
    words: Ints, densities: Distributions, letters: Codes, outcomes: Codes, alike: bool
) -> tuple[Codes, Codes]:
    """Letters and outcomes told apart by the rows that they are in, and these by theirs: a step of refinement."""
    rows = np.repeat(np.arange(densities.n_rows), np.diff(densities.start))
    count = _mix(densities.count.astype(np.uint64))
    own = np.zeros(densities.n_rows, np.uint64)
    np.add.at(own, rows, _mix(outcomes[densities.outcome] ^ count))
    coded = np.append(letters, np.uint64(0))
    for k in range(words.shape[1]):
        own += _mix(coded[words[:, k]] + np.uint64(k))
    own = _mix(own)
    found = np.zeros(coded.size, np.uint64)
    for k in range(words.shape[1]):
        np.add.at(found, words[:, k], _mix(own + np.uint64(k)))
    followed = np.zeros(outcomes.size, np.uint64)
    np.add.at(followed, densities.outcome, _mix(own[rows] ^ count))
    if alike:
        both = _mix(letters ^ _mix(found[:-1] ^ _mix(followed)))
        return both, both
    return _mix(letters ^ _mix(found[:-1])), _mix(outcomes ^ _mix(followed))


def _mix(codes: Codes) -> Codes:
    return mixed(codes, 0xD6E8FEB86659FD93)


def _kinds(codes: Codes) -> int:
    return int(np.unique(codes).size)
