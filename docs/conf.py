"""Sphinx configuration: Markdown pages, numpydoc docstrings."""

import decisional

project = "decisional"
author = "The decisional developers"
release = version = decisional.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "decisional"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
