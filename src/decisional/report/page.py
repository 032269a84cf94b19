"""The report: one HTML page that needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..support import files as io
from ..support.arguments import as_table, require
from ..support.arguments import shown as shortened
from . import sections
from .caveats import caveats
from .content import Section, render
from .findings import Findings

if TYPE_CHECKING:
    from ..decisions.decisional_model import DecisionalModel
    from ..machines import EpsilonMachine
    from ..states.causal_model import CausalModel
    from ..states.selected import Selection


def page(
    *,
    title: str,
    asked: Mapping[str, object],
    command: str,
    seed: object = None,
    data: Mapping[str, object] | None = None,
    series: Any = None,
    field: Any = None,
    machine: EpsilonMachine | None = None,
    causal: CausalModel | None = None,
    choice: DecisionalModel | None = None,
    selection: Selection | None = None,
    warnings: Sequence[str] = (),
    code: str | None = None,
) -> str:
    """Explain a result on one HTML page: pictures, tables and words, without any other file.

    Sections appear for what is given. The same input gives the same bytes.

    Parameters
    ----------
    title : str
        Heading of the page.
    asked : mapping of label to text
        What was asked: the file, the options.
    command : str
        What was run, to be run again.
    seed : optional
        Seed of the random numbers.
    data : mapping of label to text, optional
        The data at a glance; what can be told from the other arguments is added.
    series : symbols or signal, optional
        The data of a time line.
    field : array, optional
        The field or image as it was observed.
    machine : EpsilonMachine, optional
        By default that of the states or of the selection.
    causal : fitted CausalStates, optional
        By default those of `choice`.
    choice : fitted DecisionalStates, optional
        The states that are listed are those it was fitted to.
    selection : Selection, optional
        As returned by `decisional.selection.select`.
    warnings : list of str, optional
        Sentences to be shown besides the warnings that follow from the result.
    code : str, optional
        Python code that gives the result; by default it is put together from the objects.

    Returns
    -------
    str
        A complete HTML document, to be written as UTF-8.

    Examples
    --------
    >>> import decisional as ds
    >>> text = page(title="Even", asked={}, command="decisional demo", machine=ds.processes.even())
    >>> text.startswith("<!doctype html>"), "2 states" in text
    (True, True)
    """
    if not isinstance(code, str | None):
        raise TypeError("The 'code' must be text, or None: give lines of Python, or leave it out.")
    if machine is not None:
        require(machine, "recurrent_part", "machine", "an EpsilonMachine", "give a machine, such as causal.machine_")
    if selection is not None:
        require(selection, "machine_of", "selection", "a Selection", "give what ds.selection.select returns")
    told_of = asked, {} if data is None else data
    if not all(isinstance(given, Mapping) for given in told_of) or not isinstance(warnings, (list, tuple)):
        raise TypeError("The 'asked' and 'data' must be dicts, and 'warnings' a list of sentences: give them as such.")
    if field is not None:
        rule = "it must be the field that was observed: give its cells."
        cells = as_table(field, "field", rule)
        if not cells.size or (cells.dtype.kind == "f" and np.isnan(cells).all()):
            raise ValueError(f"The 'field' is {shortened(field)}; {rule}")
    found = Findings(series, field, machine, causal, choice, selection)
    careful = caveats(found, warnings)
    told = [(label, str(value)) for label, value in asked.items()]
    along = sections.along(found)
    live = None if along.content is None else along.content.get("live")
    states = [Section("states", "The states", sections.states(found, command)), along]
    again = {"command": command, "seed": seed, "code": sections.python_code(found, command) if code is None else code}
    parts = [
        Section("summary", "In short", {}),
        Section("asked", "What was asked", {"entries": told} if told else None, "definitions"),
        Section("data", "The data at a glance", sections.data(found, {} if data is None else data), "definitions"),
        Section("machine", "The machine", sections.machine(found)),
        # Few states are read first, many are seen on the data first.
        *(states if found.kind == "series" else states[::-1]),
        Section("decisions", "Decisions and utilities", sections.decisions(found)),
        Section("events", "Events", sections.events(found, live)),
        Section("complexities", "Complexities", sections.complexities(found)),
        Section("selection", "Why this number of states", sections.selection(found)),
        Section("reproduce", "How to reproduce this", again),
        Section("words", "Words used here", {}),
    ]
    shown = [part for part in parts if part.content is not None]
    words = {"title": title, "version": __version__, "found": found, "warnings": careful}
    return render("page.html", **words, sections=shown, live=live)


def write(path: str | os.PathLike[str], **arguments: Any) -> None:
    """Write a report to a file, whole or not at all.

    Parameters
    ----------
    path : str or path
        Where to write.
    **arguments
        Those of `page`.
    """
    io.write_text(path, page(**arguments))
