"""HTML that is escaped unless it says that it is HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape

__all__ = [
    "Html",
    "bar",
    "bars",
    "definitions",
    "element",
    "join",
    "number",
    "numbers",
    "plural",
    "section",
    "share",
    "table",
    "typeset",
]

# What no HTML page may hold, and lone surrogates, which file names may have and UTF-8 cannot write.
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


MINUS = re.compile(r"(?<![\w.-])-(?=\d)")
CELLS = re.compile(r"\(([\d−]+(?:, [\d−]+)+)\)")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def _safe(value: object) -> str:
    if isinstance(value, Html):
        return value
    return escape(FORBIDDEN.sub("\ufffd", str(value)))


def join(parts: Iterable[object], between: str = "") -> Html:
    """Put parts one after the other, escaped unless they are Html."""
    return Html(between.join(map(_safe, parts)))


def element(name: str, *children: object, **attributes: object) -> Html:
    """Return an element with its children; of the attributes, ``_`` stands for ``-`` and a last one is dropped.

    Examples
    --------
    >>> element("p", "1 < 2, ", element("b", "yes"), class_="note", aria_hidden="true")
    '<p class="note" aria-hidden="true">1 &lt; 2, <b>yes</b></p>'
    """
    given = {key.removesuffix("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    inside = "".join(f' {key}="{_safe(value)}"' for key, value in given.items())
    return Html(f"<{name}{inside}>{join(children)}</{name}>")


def table(
    head: Sequence[object], rows: Iterable[Sequence[object]], caption: object, numbers: Iterable[int] = ()
) -> Html:
    """Return a table whose first column heads the rows; `numbers` are the columns that are aligned to the right."""
    right = set(numbers)

    def cell(k: int, content: object, tag: str, scope: str | None = None) -> Html:
        return element(tag, content, scope=scope, class_="number" if k in right else None)

    top = element("tr", *(cell(k, text, "th", "col") for k, text in enumerate(head)))
    body = (
        element("tr", cell(0, row[0], "th", "row"), *(cell(k, text, "td") for k, text in enumerate(row) if k))
        for row in rows
    )
    whole = element("table", element("caption", caption), element("thead", top), element("tbody", *body))
    # The keyboard must be able to scroll what does not fit a narrow page.
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label="Table")


def definitions(entries: Iterable[tuple[object, object]]) -> Html:
    """Return labels with their values."""
    pairs = (element("div", element("dt", label), element("dd", value)) for label, value in entries)
    return element("dl", *pairs)


def section(name: str, title: str, *children: object) -> Html:
    """Return a section with its heading, which links lead to by its name."""
    return element(
        "section", element("h2", title, id=f"{name}-title"), *children, id=name, aria_labelledby=f"{name}-title"
    )


def bar(label: object, p: float) -> Html:
    """Return a probability as a small bar between its label and its number."""
    length = element("i", style=f"width:{100 * min(max(p, 0.0), 1.0):.1f}%")
    drawn = element("span", length, class_="track", aria_hidden="true")
    return element("span", element("span", label, class_="outcome"), drawn, share(p), class_="bar")


def bars(rows: Iterable[Html]) -> Html:
    """Return bars one below the other, their beginnings and ends aligned."""
    return element("span", *rows, class_="bars")


def share(p: float) -> str:
    """Write a probability.

    Examples
    --------
    >>> share(0.5), share(0.00004), share(0)
    ('0.500', '4e-05', '0')
    """
    return f"{p:.3f}" if p >= 0.0005 else f"{p:.0e}" if p > 0 else "0"


def number(value: float) -> str:
    """Write a number with three digits, and no more than that of what is almost nothing.

    Examples
    --------
    >>> number(2 / 3), number(-1.9e-9), number(-0.0), number(12345.6)
    ('0.667', '≈ 0', '0', '12,346')
    """
    if value != 0 and abs(value) < 1e-6:
        return "≈ 0"
    text = f"{value + 0.0:,.0f}" if abs(value) >= 1000 else f"{value + 0.0:.3g}"
    return typeset(text)


def numbers(values: Sequence[float]) -> list[str]:
    """Write the numbers of a column with the same decimals, of which the largest has three digits.

    Examples
    --------
    >>> numbers([0.0311, -0.05, 0.0]), numbers([7.44, 7.4]), numbers([2.0, -1.0])
    (['0.0311', '−0.0500', '0'], ['7.44', '7.40'], ['2', '−1'])
    """
    size = max((abs(value) for value in values), default=0.0)
    if size < 1e-4 or size >= 1000 or all(value == round(value) for value in values):
        return [number(value) for value in values]
    places = max(2 - math.floor(math.log10(size)), 0)
    return [typeset(f"{value:.{places}f}") if round(value, places) else number(value) for value in values]


def typeset(text: str) -> str:
    """Write minus signs as such, and cells one after the other without brackets.

    Examples
    --------
    >>> typeset("-5 to 7"), typeset("(1, 0, 1)"), typeset("low-cost")
    ('−5 to 7', '1 0 1', 'low-cost')
    """
    return CELLS.sub(lambda found: found[1].replace(",", ""), MINUS.sub("−", text))


def plural(n: int, word: str) -> str:
    """Write a count with its word.

    Examples
    --------
    >>> plural(1, "state"), plural(2000, "state")
    ('1 state', '2,000 states')
    """
    return f"{n:,} {word}{'' if n == 1 else 's'}"
