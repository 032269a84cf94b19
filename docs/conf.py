"""Sphinx configuration: Markdown pages, numpydoc docstrings."""

import re
from typing import Any

import decisional

project = "decisional"
author = "The decisional developers"
release = version = decisional.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "decisional"
html_static_path = ["static"]
html_css_files = ["pages.css"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
# Types in docstrings are words, such as "fitted CausalStates", not names to look up.
nitpick_ignore_regex = [("py:class", ".*")]
# Words of shapes, such as n_states, are attributes of several classes: no link is meant.
suppress_warnings = ["ref.python"]

SECTION = re.compile(r"(Parameters|Attributes|Returns|Yields)$")
ENTRY = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.+)$")


def describe(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Make "name : a description, perhaps on more lines" a description rather than a type."""
    found, inside = [], ""
    for k, line in enumerate(lines):
        following = lines[k + 1] if k + 1 < len(lines) else ""
        if following and set(following) == {"-"}:
            inside = line if SECTION.match(line) else ""
        entry = ENTRY.match(line) if inside in ("Parameters", "Attributes") else None
        # A type is short, and what it describes starts with a capital letter on the next line.
        described = following.startswith("    ") and following.strip()[:1].isupper() and len(line) < 100
        if entry and not described:
            found += [entry[1], f"    {entry[2]}"]
        else:
            found.append(line)
    lines[:] = found


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", describe, priority=400)  # before napoleon
