"""Labels, local complexities and utilities of each observation, on the data's grid on disk."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.observations import Observations, Tallied
from ..data.outputs import Journal, Npy, Zarr, header, inode, is_zarr_array, one_at_a_time, output, recover, room
from ..data.slices import Part, Sliced
from ..decisions.decisional_model import DecisionalModel
from ..states.causal_model import CausalModel
from ..support.arguments import choice, flag, shown
from ..support.executors import check_executor, map_slices
from ..support.files import beside, checked_path, replace
from ..support.progress import Progress, check_progress, counted, tell, told

# Names of values, and the partition that has them.
LABELS = {"labels": "states_", "iso_prediction": "iso_prediction_", "iso_utility": "iso_utility_"}
LOCAL = {
    "local_complexity": "states_",
    "local_prediction_complexity": "iso_prediction_",
    "local_utility_complexity": "iso_utility_",
}
OF_CAUSAL = ("labels", "local_complexity")
OF_DECISIONAL = (*LABELS, *LOCAL, "local_utility")
# Bytes of output in a slice, where the observations are in memory.
SLICE = 1 << 26

Fill = Callable[[Part], NDArray[Any]]


def write_values(
    estimator: CausalModel | DecisionalModel,
    path: str | os.PathLike[str],
    values: str = "labels",
    executor: Executor | None = None,
    progress: Progress = None,
    overwrite: bool = True,
) -> None:
    """Write a value of each observation to its place on the data's grid, slice by slice.

    Killed at any moment, the same call goes on where it was if model, data and slices are the same, else it starts
    anew. An output that was at `path` before stays as it is until the new one is whole.

    Parameters
    ----------
    estimator : fitted CausalStates or DecisionalStates; where data are read slice by slice, no more than a slice for
        each worker is in memory
    path : ``"*.npy"``, for ``numpy.load(path, mmap_mode="r")``, or ``"*.zarr"`` (extra ``decisional[scale]``), chunked
        along the first axis; ``path + ".part"`` and ``path + ".journal"`` are there while it is written
    values : "labels", "local_complexity"; of DecisionalStates also "iso_prediction" and "iso_utility" (their labels),
        "local_prediction_complexity", "local_utility_complexity", "local_utility"
    executor : where slices are computed and written: any concurrent.futures executor or a Dask client, whose workers
        see the folder of `path`; default threads. Not used where the observations are in memory
    progress : True for a bar, or a function of a line of text such as ``"labels: 12 of 60 slices"``, called after each
        slice
    overwrite : whether an earlier output may be replaced

    Notes
    -----
    The output has the shape of the data's grid, `observations_.shape`: labels in int32, -1 where there is no
    observation; others in float64, NaN where there is none. Space for a ``.npy`` is reserved before anything is
    computed. Cost: that of counting the data once more, without the slices that were written before, and 4 or 8 bytes
    on disk for each place of the grid, less for a ``.zarr``, which is compressed.

    Examples
    --------
    >>> import tempfile
    >>> import decisional as ds
    >>> causal = ds.CausalStates().fit(ds.observe.series("0110" * 500, past=2, chunks=1000))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_values(causal, folder + "/labels.npy", progress=print)
    ...     np.load(folder + "/labels.npy").shape
    labels: 1 of 2 slices
    labels: 2 of 2 slices
    (2000,)
    """
    overwrite = flag(overwrite, "overwrite")
    check_progress(progress)
    check_executor(executor)
    obs, vector, missing = _wanted(estimator, values)
    target = _target(path)
    with one_at_a_time(target):
        recover(target)
        fill, parts = _slices(obs, vector, missing)
        begins = [part.begin for part in parts]
        file = output(target, obs.shape, vector.dtype, missing, begins)
        journal = Journal(beside(target, ".journal"), header(obs, vector, parts, values, target))
        done = journal.done(len(parts))
        if journal.finished is not None and journal.finished == inode(target):
            journal.remove()
            return
        if not overwrite and os.path.lexists(target):
            raise FileExistsError(f"The path {target!r} exists and 'overwrite' is {overwrite}: give another path.")
        with room(target, file.nbytes), told(progress):
            rest = _rest(values, file, journal, parts, done)
            written = _write(file, journal, fill, parts, rest, executor if isinstance(obs, Sliced) else None)
            for _ in counted(written, values, len(parts), "slices", done=len(parts) - len(rest)):
                pass
            file.finish(begins)
            journal.add({"finished": inode(file.part)})
        replace(file.part, target)
        journal.remove()


def _rest(values: str, file: Npy | Zarr, journal: Journal, parts: list[Part], done: set[int]) -> list[int]:
    """The slices that are not there yet: all of them, where the file is not whole."""
    if done and file.is_whole():
        tell(f"{values}: {len(done)} of {len(parts)} slices were there")
        return [k for k in range(len(parts)) if k not in done]
    journal.remove()
    file.create()
    journal.begin()
    return list(range(len(parts)))


def _write(
    file: Npy | Zarr, journal: Journal, fill: Fill, parts: list[Part], rest: list[int], executor: Executor | None
) -> Iterator[None]:
    """Write the rest of the slices, each followed by a line of the journal."""
    written = map_slices(partial(_write_slice, file, journal, fill), [parts[k] for k in rest], executor)
    for k, _ in zip(rest, written, strict=True):
        journal.add({"slice": k})
        yield


def _write_slice(file: Npy | Zarr, journal: Journal, fill: Fill, part: Part) -> None:
    """Compute one slice and write it, wherever this runs: values do not travel."""
    rows = fill(part)
    # A worker may outlive the run that it belongs to.
    journal.check()
    file.write(part.begin, rows)


def _wanted(estimator: Any, name: Any) -> tuple[Observations, NDArray[Any], Any]:
    """The observations, (n_x,) the value of each of their distinct x, and that of a place without observation."""
    if not isinstance(estimator, (CausalModel, DecisionalModel)):
        raise TypeError(
            f"The 'estimator' is {type(estimator).__name__}; values are those of fitted states: give CausalStates or "
            "DecisionalStates."
        )
    known = OF_DECISIONAL if isinstance(estimator, DecisionalModel) else OF_CAUSAL
    choice(name, "values", known, of=f"fitted {type(estimator).__name__}")
    estimator.check_fitted()
    causal = estimator.causal_ if isinstance(estimator, DecisionalModel) else estimator
    if causal is None:
        raise ValueError(
            "The 'estimator' was fitted to a machine, which has no observations to write values of: fit it to "
            "CausalStates."
        )
    if isinstance(causal.observations_, Tallied) and not isinstance(causal.observations_, Sliced):
        raise ValueError(
            "The 'estimator' has only the counts of partial_fit or merge, and values need the data: observe all data "
            "at once, with chunks=..., and call fit."
        )
    missing: Any = -1 if name in LABELS else np.nan
    if name in LABELS:
        vector = getattr(estimator, LABELS[name]).labels.astype(np.int32)
    elif name in LOCAL:
        vector = getattr(estimator, LOCAL[name]).local().astype(np.float64)
    else:
        assert isinstance(estimator, DecisionalModel)
        vector = np.asarray(estimator.utility_, np.float64)
    if isinstance(estimator, DecisionalModel):
        vector = np.append(vector, np.array(missing, vector.dtype))[causal.states_.labels]
    return causal.observations_, vector, missing


def _target(path: Any) -> str:
    """Where the output will be, with links followed, if one can be written there."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(name, str) or not name.endswith((".npy", ".zarr")):
        raise ValueError(f"The 'path' is {shown(path)}; it must end in .npy or .zarr, which is the format: rename it.")
    target = os.path.realpath(checked_path(name))
    if not target.endswith(os.path.splitext(name)[1]):
        raise ValueError(f"The 'path' {name!r} is a link to {target!r}, which ends otherwise: give another path.")
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"The path {name!r} has no folder to be written in: create the folder first.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"The path {name!r} may not be written by this user: choose another folder.")
    if name.endswith(".npy") and os.path.isdir(target):
        raise IsADirectoryError(f"The path {name!r} is a folder: give the path of a file.")
    if name.endswith(".zarr") and os.path.lexists(target) and not is_zarr_array(target):
        raise FileExistsError(f"The path {name!r} is there and is no zarr array to be replaced: give another path.")
    return target


def _slices(obs: Observations, vector: NDArray[Any], missing: Any) -> tuple[Fill, list[Part]]:
    """What makes the values of a slice, and all slices."""
    if isinstance(obs, Sliced):
        return obs.filling(vector, missing), obs.parts
    grid = np.full(obs.shape, missing, vector.dtype)
    grid.reshape(-1)[obs.site] = vector[obs.x]
    rows = max(SLICE * len(grid) // grid.nbytes, 1)
    parts = [Part((grid[a : a + rows],), a, min(a + rows, len(grid)), a) for a in range(0, len(grid), rows)]
    return lambda part: part.data[0], parts
