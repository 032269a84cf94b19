"""How results show themselves in a notebook: by functions of the rooms that look, which the package names here.

The rooms below never import those above; a result asks for its HTML by its kind.
"""

from importlib import import_module
from typing import Any

_functions: dict[str, str] = {}


def install(functions: dict[str, str]) -> None:
    """Say which "module:function" makes the HTML of each kind of result; modules are imported when first needed."""
    _functions.update(functions)


def html_of(kind: str, result: Any) -> str:
    """HTML of a result; ImportError where what draws it is not installed."""
    module, name = _functions[kind].split(":")
    html: str = getattr(import_module(module), name)(result)
    return html
