"""Modules of a room as its attributes: what is named in the reference is there after `import decisional`."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def modules_of(room: str) -> Callable[[str], ModuleType]:
    """The `__getattr__` of a package, which imports each of its modules when it is asked for.

    Examples
    --------
    >>> modules_of("decisional.data")("stores").__name__
    'decisional.data.stores'
    """

    def module(name: str) -> ModuleType:
        if not name.startswith("_"):
            try:
                return import_module(f"{room}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{room}.{name}":
                    raise
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    return module
