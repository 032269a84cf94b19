"""The report: one HTML page that needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..plot.wording import symbol_text
from ..support import files as io
from .along import along_section
from .cautions import CHECKS, cautions
from .choices import decisions_section
from .code import reproduce_section
from .findings import Findings, gather
from .happenings import events_section
from .markup import Html, bar, bars, definitions, element, join, number, plural, section
from .measures import complexities_section, selection_section
from .states import machine_section, states_section
from .words import GLOSSARY, summary, tiles

if TYPE_CHECKING:
    from ..estimators import CausalStates, DecisionalStates
    from ..machines import EpsilonMachine
    from ..states.selection import Selection

__all__ = ["page", "write"]

MOST_SYMBOLS = 12


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
    causal: CausalStates | None = None,
    choice: DecisionalStates | None = None,
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
    careful = cautions(found, tuple(warnings))
    sections = [
        section("asked", "What was asked", definitions(asked.items())) if asked else Html(),
        _data(found, data or {}),
        machine_section(found),
        *_by_size(found),
        decisions_section(found),
        events_section(found),
        complexities_section(found),
        selection_section(found),
        reproduce_section(found, command, seed, code),
        _glossary(),
    ]
    return _document(title, found, careful, [part for part in sections if part])


def _by_size(found: Findings) -> list[Html]:
    """Return states and data coloured by them: few states are read first, many are seen on the data first."""
    parts = [states_section(found), along_section(found)]
    return parts if found.kind == "series" else parts[::-1]


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


def _document(title: str, found: Findings, careful: list[str], sections: list[Html]) -> str:
    resource = files(__package__)
    style = Html((resource / "page.css").read_text("utf-8"))
    script = Html((resource / "page.js").read_text("utf-8"))
    head = [
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark">'),
        # An address of its own, or the browser asks the server for one.
        Html('<link rel="icon" href="data:,">'),
        element("title", title),
        element("style", style),
    ]
    links = [element("a", text, href=f"#{name}") for name, text in _headings(sections)]
    body = [
        element("a", "Skip to the result", href="#summary", class_="skip"),
        element("header", element("h1", title), element("p", f"Report of decisional {__version__}", class_="kicker")),
        element("main", _summary(found, careful), element("nav", *links, aria_label="Sections"), *sections),
        element("footer", element("p", f"Made by decisional {__version__}. This page needs no network.")),
        element("script", script),
    ]
    html = join(
        [
            Html("<!doctype html>"),
            Html('<html lang="en">'),
            element("head", *head),
            element("body", *body),
            Html("</html>"),
        ],
        "\n",
    )
    return f"{html}\n"


def _headings(sections: list[Html]) -> list[tuple[str, Html]]:
    """Return the name and the title of each section, as they stand in it."""
    found = []
    for text in sections:
        name = text.split('id="', 1)[1].split('"', 1)[0]
        found.append((name.removesuffix("-title"), Html(text.split(">", 2)[2].split("</h2>", 1)[0])))
    return found


def _summary(found: Findings, careful: list[str]) -> Html:
    words = [
        element("p", element("strong", f"{lead}. "), text, class_="lead") for lead, text in summary(found, len(careful))
    ]
    facts = [element("div", element("b", value), element("span", name)) for value, name in tiles(found)]
    if careful:
        heading = "1 warning" if len(careful) == 1 else f"{len(careful)} warnings"
        trust = element(
            "div", element("h3", heading), element("ul", *(element("li", text) for text in careful)), class_="cautions"
        )
    elif found.has_states:
        trust = element("p", f"No warning. Checked were: {CHECKS}.", class_="fine")
    else:
        trust = Html()
    parts = [*words, element("div", *facts, class_="tiles") if facts else Html(), trust]
    return section("summary", "In short", *parts)


def _data(found: Findings, given: Mapping[str, object]) -> Html:
    entries = [*given.items(), *((label, text) for label, text in _known(found) if label not in given)]
    return section("data", "The data at a glance", definitions(entries)) if entries else Html()


def _known(found: Findings) -> list[tuple[str, object]]:
    """Return what the objects tell of the data."""
    entries: list[tuple[str, object]] = []
    source = found.source
    if source is not None:
        lengths = np.diff(source.bounds)
        several = f" in {lengths.size:,} series" if lengths.size > 1 else ""
        entries.append(("Length", f"{int(lengths.sum()):,} symbols{several}"))
        codes = source.lut[source.raw]
        count = np.bincount(codes[codes >= 0], minlength=len(source.letters))
        top = np.argsort(-count, kind="stable")[:MOST_SYMBOLS]
        shown = [bar(symbol_text(source.letters[k]), float(count[k] / count.sum())) for k in sorted(top.tolist())]
        more: list[object] = [bars(shown)]
        if len(source.letters) > MOST_SYMBOLS:
            more.append(f"and {len(source.letters) - MOST_SYMBOLS} rarer symbols")
        entries.append((plural(len(source.letters), "symbol"), join(more)))
        if source.has_gaps:
            entries.append(("Missing", f"{int(np.count_nonzero(codes < 0)):,} symbols"))
    elif found.kind == "signal" and found.series is not None:
        entries += _numbers(found.series if np.ndim(found.series) else [found.series])
    elif found.field is not None:
        values = np.asarray(found.field)
        entries.append(("Size", " × ".join(f"{n:,}" for n in values.shape)))
        if values.dtype.kind in "biuf":
            entries.append(("Values", f"from {number(float(np.nanmin(values)))} to {number(float(np.nanmax(values)))}"))
    if found.causal is not None:
        entries.append(("Observations", f"{found.n:,}"))
    if found.shown is not None:
        why = f"the first {found.shown:,}, as the data were read slice by slice; the states come from all of them"
        entries.append(("Shown on this page", why))
    return entries


def _numbers(series: Any) -> list[tuple[str, object]]:
    several = isinstance(series, (list, tuple)) and len(series) > 0 and np.ndim(series[0]) > 0
    values = np.concatenate([np.ravel(np.asarray(part, float)) for part in (series if several else [series])])
    known = values[np.isfinite(values)]
    entries: list[tuple[str, object]] = [("Length", f"{values.size:,} values")]
    if known.size:
        entries.append(("Range", f"from {number(float(known.min()))} to {number(float(known.max()))}"))
        entries.append(("Mean", f"{number(float(known.mean()))}, standard deviation {number(float(known.std()))}"))
    if known.size < values.size:
        entries.append(("Missing", f"{values.size - known.size:,} values"))
    return entries


def _glossary() -> Html:
    return section("words", "Words used here", definitions(GLOSSARY))
