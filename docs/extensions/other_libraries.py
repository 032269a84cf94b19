"""Links from names in docstrings to the pages of other libraries.

Inventories are usually fetched while pages are built; these are written from the list below, so that nothing is asked
of the network. Names are those that the docstrings use; a page without an anchor leads to its top.
"""

import zlib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

# Library: its pages, and the page of each name.
LIBRARIES = {
    "python": (
        "https://docs.python.org/3/",
        {
            "concurrent.futures.Executor": "library/concurrent.futures.html#concurrent.futures.Executor",
            "Executor": "library/concurrent.futures.html#concurrent.futures.Executor",
            "threading.Event": "library/threading.html#threading.Event",
        },
    ),
    "numpy": (
        "https://numpy.org/doc/stable/",
        {
            "array": "reference/generated/numpy.ndarray.html",
            "ndarray": "reference/generated/numpy.ndarray.html",
            "numpy.ndarray": "reference/generated/numpy.ndarray.html",
            "Generator": "reference/random/generator.html",
            "numpy Generator": "reference/random/generator.html",
            "numpy.random.Generator": "reference/random/generator.html",
            "numpy.random.default_rng": "reference/random/generator.html",
            "numpy.asarray": "reference/generated/numpy.asarray.html",
            "numpy.digitize": "reference/generated/numpy.digitize.html",
            "numpy.load": "reference/generated/numpy.load.html",
            "numpy.memmap": "reference/generated/numpy.memmap.html",
            "numpy.pad": "reference/generated/numpy.pad.html",
        },
    ),
    "scikit-learn": (
        "https://scikit-learn.org/stable/",
        {
            f"sklearn.{name}": f"modules/generated/sklearn.{name}.html"
            for name in (
                "base.BaseEstimator",
                "base.ClusterMixin",
                "base.TransformerMixin",
                "base.clone",
                "model_selection.GridSearchCV",
                "model_selection.TimeSeriesSplit",
                "pipeline.Pipeline",
            )
        },
    ),
    "pandas": (
        "https://pandas.pydata.org/docs/",
        {f"pandas.{name}": f"reference/api/pandas.{name}.html" for name in ("Series", "DataFrame", "NA")},
    ),
    "matplotlib": (
        "https://matplotlib.org/stable/",
        {
            "matplotlib Axes": "api/axes_api.html",
            "matplotlib.axes.Axes": "api/axes_api.html",
            "matplotlib Figure": "api/figure_api.html",
            "matplotlib.figure.Figure": "api/figure_api.html",
        },
    ),
    "networkx": (
        "https://networkx.org/documentation/stable/",
        {
            "networkx.MultiDiGraph": "reference/classes/multidigraph.html",
            "networkx.DiGraph": "reference/classes/digraph.html",
        },
    ),
}


def inventory(library: str, names: dict[str, str]) -> bytes:
    """An inventory as Sphinx writes it."""
    head = f"# Sphinx inventory version 2\n# Project: {library}\n# Version: \n"
    head += "# The remainder of this file is compressed using zlib.\n"
    lines = "".join(f"{name} py:class 1 {page} -\n" for name, page in sorted(names.items()))
    return head.encode() + zlib.compress(lines.encode(), 9)


def write_inventories(app: Sphinx, config: Config) -> None:
    """Write them beside the pages that are built, and tell intersphinx where they are."""
    folder = Path(app.outdir).parent / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    for library, (pages, names) in LIBRARIES.items():
        path = folder / f"{library}.inv"
        path.write_bytes(inventory(library, names))
        config.intersphinx_mapping[library] = (pages, str(path))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", write_inventories, priority=100)  # before intersphinx reads the mapping
    return {"parallel_read_safe": True, "parallel_write_safe": True}
