"""BeliefFollower: what is believed of hidden states along a stream, and the decision of the region that it is in."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._kernels import hidden_paths
from ..data.alphabet import Alphabet
from ..decisions.as_json import decode, encode
from ..decisions.belief_regions import (
    NOTHING,
    BeliefCells,
    BeliefChanges,
    BeliefPath,
    BeliefRegions,
    belief_events,
    changes_in_beliefs,
)
from ..decisions.events import Event, Events
from ..machines.belief_machine import Rate
from ..machines.packed import hidden_json, hidden_of
from ..support.arrays import Floats, Ints
from ..support.packing import pack, unpack_any
from .follower import POLICIES, Follower, Plan, Tracked

# What makes cells, besides their machine and candidates.
_REGIONS, _CELLS = ("worth", "member"), ("region", "slab", "probability", "utility", "error", "steps")


class BeliefFollower(Follower):
    """Follow the beliefs of a BeliefMachine; the states are numbers of its cells, and one is always known.

    Attributes
    ----------
    cells : the regions of beliefs, and what they are cut into
    worth : of the decision at the last belief, NaN = none yet
    """

    def adopt(self, machine: Any, plan: Plan) -> None:
        self.cells, self.plan, self.last, self.worth = machine, plan, -1, float("nan")
        self.machine = machine.regions.machine
        self.alphabet = Alphabet(self.machine.alphabet)
        self._known = frozenset(map(str, self.machine.alphabet))
        # A gap that is not to count leaves what is believed.
        self._steps = np.array(self.machine.with_gaps)
        if self.missing == "stay":
            self._steps[-1] = np.eye(self.machine.n_states)

    def model(self) -> dict[str, Any]:
        return {"beliefs": cells_json(self.cells), **self._how()}

    def begin(self) -> None:
        """Nothing has come yet: whole strings begin in their start, others anywhere."""
        self.forget()
        self.belief = np.array(self.machine.home)

    def forget(self) -> None:
        self.belief, self.state = np.array(self.machine.stationary), -1

    def settle(self) -> None:
        """Nothing to do: the belief is never behind."""

    def shares(self) -> Floats:
        """The belief lies in one cell, if in any."""
        found: Floats = (np.arange(self.cells.n_states) == self.state).astype(float)
        return found

    def standing(self) -> tuple[int, Any, float]:
        now = self._last()
        predictions = self.plan.predictions[self.last] if self.last >= 0 else None
        return int(now.label[0]), predictions, float(now.worth[0])

    def _last(self) -> BeliefPath:
        """What was known last."""
        return NOTHING if self.last < 0 else self._path(np.array([self.last]), np.array([self.worth]))

    def _path(self, cell: Ints, worth: Floats) -> BeliefPath:
        cells: BeliefCells = self.cells
        return cells.path_of(cell, worth, self.plan.labels, self.level)

    def step(self, code: int) -> int:
        return -1

    def walk(self, codes: Ints, gaps: Ints) -> Tracked:
        """Cells after each symbol, up to the first that is refused; the belief goes along."""
        codes = np.where(gaps, len(self.alphabet) + 1, codes).astype(np.int64)
        beliefs, chances = np.empty((codes.size, self.machine.n_states)), np.empty(codes.size)
        policy = POLICIES.index(self.impossible)
        home = np.array(self.machine.home)
        n = hidden_paths.follow(codes, self._steps, home, self.belief, policy, beliefs, chances)
        cell = self.cells.number(beliefs[:n])
        return Tracked(cell, cell, self.cells.regions.value(beliefs[:n]))

    def arrive_one(self, along: Tracked) -> Event | None:
        found: Events = self.events([self.arrive_all(along)])
        return found[0] if len(found) else None

    def arrive_all(self, along: Tracked) -> Any:
        assert along.worth is not None
        found = changes_in_beliefs(self._path(along.states, along.worth), self._last())
        found = found._replace(place=found.place + self.position)
        if along.states.size:
            self.position += along.states.size
            self.state = self.last = int(along.states[-1])
            self.worth = float(along.worth[-1])
        return found

    def events(self, arrivals: Sequence[Any]) -> Events:
        none = BeliefPath(*(np.zeros(0, kind) for kind in (np.int64, np.int64, float)))
        place, *sides = zip(*(BeliefChanges(np.zeros(0, np.int64), none, none), *arrivals), strict=True)
        paths = [BeliefPath(*map(np.concatenate, zip(*side, strict=True))) for side in sides]
        return belief_events(BeliefChanges(np.concatenate(place), *paths), self.plan.predictions)


def cells_json(cells: BeliefCells) -> dict[str, Any]:
    """All of the cells, exactly."""
    regions = cells.regions
    arrays = {name: getattr(regions, name) for name in _REGIONS} | {name: getattr(cells, name) for name in _CELLS}
    arrays["member"] = arrays["member"].astype(np.int8)
    candidates, machine = encode(list(regions.candidates)), hidden_json(regions.machine)
    given = {"machine": machine, "candidates": candidates, "delta": cells.delta, "past": list(cells.past)}
    return {**{name: pack(array) for name, array in arrays.items()}, **given}


def cells_of(content: dict[str, Any]) -> BeliefCells:
    """Undo `cells_json`."""
    arrays = {name: unpack_any(content[name]) for name in (*_REGIONS, *_CELLS)}
    member = arrays.pop("member").astype(bool)
    regions = BeliefRegions(hidden_of(content["machine"]), decode(content["candidates"]), arrays.pop("worth"), member)
    return BeliefCells(regions, content["delta"], **arrays, past=Rate(*content["past"]))
