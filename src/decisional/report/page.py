"""The report: one HTML page that needs nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..plot import wording
from ..support import files as io
from . import sections
from .caveats import caveats
from .coloured_data import coloured_data
from .content import Section
from .findings import gather

if TYPE_CHECKING:
    from jinja2 import Environment

    from ..decisions.decisional_model import DecisionalModel
    from ..machines import EpsilonMachine
    from ..states.causal_model import CausalModel
    from ..states.machine_selection import Selection

# What no HTML page may hold, and lone surrogates, which file names may have and UTF-8 cannot write.
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


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
    warnings: Iterable[str] = (),
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
    warnings : iterable of str, optional
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
    found = gather(series, field, machine, causal, choice, selection)
    careful = caveats(found, warnings)
    states = [sections.states(found), coloured_data(found)]
    parts = [
        Section("summary", "In short"),
        sections.asked(asked),
        sections.data(found, data or {}),
        sections.machine(found),
        # Few states are read first, many are seen on the data first.
        *(states if found.kind == "series" else states[::-1]),
        sections.decisions(found),
        sections.events(found),
        sections.complexities(found),
        sections.selection(found),
        sections.reproduce(found, command, seed, code),
        Section("words", "Words used here"),
    ]
    shown = [part for part in parts if part is not None]
    return render("page.html", title=title, version=__version__, found=found, warnings=careful, sections=shown)


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


def render(template: str, **content: Any) -> str:
    """Fill in one of the templates; all text is escaped, and characters that HTML may not hold are replaced."""
    return FORBIDDEN.sub("\ufffd", _environment().get_template(template).render(content))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(__package__ or "", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "number": wording.number,
        "outcome": lambda outcome: wording.typeset(wording.outcome_text(outcome)),
        "percent": "{:.0%}".format,
        "plural": wording.plural,
        "share": wording.share,
    }
    return made
