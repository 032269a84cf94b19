"""Docstrings as the reference shows them: descriptions, what comes back, and links."""

import inspect
import re
import types
import typing
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SECTION = re.compile(r"(Parameters|Attributes|Returns|Yields)$")
ENTRY = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.+)$")
CLASS = re.compile(r"^\.\. autoclass:: (\S+)$", re.MULTILINE)
# Words for types, and where they lead: the names of other_libraries.py, and the classes of the reference.
LINKS = {"array": "numpy.ndarray", "matplotlib Figure": "matplotlib.figure.Figure"}
LINKS |= {"matplotlib Axes": "matplotlib.axes.Axes"}
LINKS |= {name: name for name in ("pandas.Series", "pandas.DataFrame", "networkx.DiGraph", "networkx.MultiDiGraph")}
LINKS |= {path.rpartition(".")[2]: path for path in CLASS.findall((Path(__file__).parents[1] / "api.md").read_text())}
KNOWN = re.compile(r"(?<![\w.`<])(" + "|".join(sorted(map(re.escape, LINKS), key=len, reverse=True)) + r")(?![\w.`(])")
NUMBERS = {"integer": " of int", "int": " of int", "float": " of float", "bool": " of bool", "uint": " of int"}


def described(entry: tuple[str, str] | None, line: str, following: str) -> bool:
    """Whether an entry is already a type, which is short, and what it describes on the next line, with a capital."""
    return entry is None or (following.startswith("    ") and following.strip()[:1].isupper() and len(line) < 100)


def linked(words: str) -> str:
    """Words for a type with links."""
    return KNOWN.sub(lambda found: f":py:class:`{found[1]} <{LINKS[found[1]]}>`", words)


def said(lines: list[str]) -> Iterator[str]:
    """Make "name : a description, perhaps on more lines" a description rather than a type."""
    inside = ""
    for k, line in enumerate(lines):
        following = lines[k + 1] if k + 1 < len(lines) else ""
        if following and set(following) == {"-"}:
            inside = line if SECTION.match(line) else ""
        entry = ENTRY.match(line) if inside else None
        comes_back = inside in ("Returns", "Yields") and line[:1].strip() and set(line) != {"-"} and line != inside
        if entry and not described(entry.groups(), line, following):
            yield linked(entry[1]) if comes_back else entry[1]
            yield f"    {entry[2]}"
        elif comes_back:
            yield linked(line)
        else:
            yield line


def in_words(kind: Any) -> str:
    """A type as words; nothing where anything may come."""
    if kind is None or kind is types.NoneType:
        return "None"
    if kind is typing.Self:
        return "object of this class"
    if kind is Any:
        return ""
    if isinstance(kind, str):
        return {"Array": "array", "Any": "", "Self": ""}.get(kind, kind.replace(" | ", " or "))
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        words = [in_words(part) for part in parts]
        return " or ".join(words) if all(words) else ""
    name = getattr(origin or kind, "__name__", str(kind))
    if name == "ndarray":
        of = re.search(r"(integer|uint|int|float|bool)", str(parts))
        return "array" + (NUMBERS[of[1]] if of else "")
    items = [in_words(part) for part in parts if part is not Ellipsis]
    if not items or not all(items):
        return name.lower() if name == "Iterator" else name
    if name == "dict":
        return f"dict of {items[0]}: {items[1]}"
    return f"{name.lower()} of {', '.join(items)}"


def comes_back(obj: Any) -> str:
    """What a function returns, in words, from its annotation; nothing where it returns nothing."""
    function = inspect.unwrap(getattr(obj, "__func__", obj))
    kind = getattr(function, "__annotations__", {}).get("return")
    if isinstance(kind, str):
        with suppress(NameError):  # imported for checks of types alone
            kind = typing.get_type_hints(function)["return"]
    return "" if kind in (None, types.NoneType, "None") else in_words(kind)


def complete(obj: Any, lines: list[str]) -> list[str]:
    """A docstring with what comes back, which short ones leave to the annotation."""
    if any(line in ("Returns", "Yields", "Parameters") for line in lines) or not (words := comes_back(obj)):
        return lines
    ends = [k for k, line in enumerate(lines) if lines[k + 1 : k + 2] and re.match(r"-{3,}$", lines[k + 1])]
    end = ends[0] if ends else len(lines)
    return [*lines[:end], "", "Returns", "-------", words, "", *lines[end:]]


def rewrite(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    full = complete(obj, lines) if what in ("function", "method") else lines
    lines[:] = list(said(full))


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("autodoc-process-docstring", rewrite, priority=400)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
