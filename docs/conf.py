"""Sphinx configuration: Markdown pages, numpydoc docstrings."""

import sys
from pathlib import Path

import decisional

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "decisional"
author = "The decisional developers"
project_copyright = author
release = version = decisional.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
# Source of what is documented, buttons that copy code, links to other libraries, dark pictures for the dark theme.
extensions += [
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx.ext.intersphinx",
    "other_libraries",
    "dark_pictures",
    "reference",
]
myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_block", "attrs_inline"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    # Scripts of the guides alone, which show their output.
    "ignore_pattern": r"(closed_forms|continuous|eeg)\.py$",
    "within_subsection_order": "ExampleTitleSortKey",
    "image_srcset": ["2x"],
    "download_all_examples": False,
    # Its page asks the network for scripts.
    "write_computation_times": False,
    "first_notebook_cell": "# pip install 'decisional[examples]'\n%matplotlib inline",
    "abort_on_example_error": True,
}
html_theme = "furo"
html_title = f"decisional {version}"
html_static_path = ["static"]
html_css_files = ["pages.css"]
pygments_dark_style = "github-dark"
# What the interpreter prints before and after code is not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_selector = "div.highlight-python pre, div.highlight-sh pre, div.highlight-pycon pre, div.doctest pre"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
# Types in docstrings are words, such as "fitted CausalStates", not names to look up; so is what stands in backticks.
nitpick_ignore_regex = [("py:class", ".*"), ("py:obj", ".*")]
default_role = "py:obj"
# Words of shapes, such as n_states, are attributes of several classes: no link is meant.
suppress_warnings = ["ref.python"]
