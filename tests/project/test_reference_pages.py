"""The reference names all that is public, under names that are there after one import, and tells what comes back."""

import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import decisional as ds

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = (ROOT / "docs" / "api.md").read_text()
DIRECTIVE = re.compile(r"^\.\. auto(function|class|module):: (\S+)\n((?:   .*\n)*)", re.MULTILINE)
NAMED = {path: (kind, options) for kind, path, options in DIRECTIVE.findall(REFERENCE)}
DOORS = sorted(name for name in ds.__all__ if inspect.ismodule(getattr(ds, name)))


def entries() -> ModuleType:
    """What writes the entries of the reference."""
    path = ROOT / "docs" / "extensions" / "reference.py"
    spec = importlib.util.spec_from_file_location("reference_entries", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def found(path: str) -> Any:
    value: Any = ds
    for name in path.split(".")[1:]:
        value = getattr(value, name)
    return value


def functions() -> Iterator[tuple[str, Any]]:
    """The functions and methods that the reference shows."""
    for path, (kind, options) in NAMED.items():
        value = found(path)
        members = re.search(r":members:(.*)", options)
        if kind == "function":
            yield path, value
        elif kind == "module" and members:
            yield from ((f"{path}.{name}", getattr(value, name)) for name in value.__all__)
        elif members:
            chosen = [name.strip() for name in members[1].split(",") if name.strip()]
            names = chosen or [name for name in vars(value) if not name.startswith("_")]
            yield from ((f"{path}.{name}", inspect.getattr_static(value, name)) for name in names)


def plain(value: Any) -> Any:
    return inspect.unwrap(getattr(value, "__func__", value))


def test_public_names_are_in_the_reference() -> None:
    shown = {path for path, _ in functions()} | set(NAMED)
    public = {f"decisional.{name}" for name in ds.__all__}
    public |= {f"decisional.{door}.{name}" for door in DOORS for name in found(f"decisional.{door}").__all__}
    # Names with two doors are shown at one.
    twice = {path for path in public if any(found(path) is found(other) for other in shown)}
    assert public - shown - twice == set()


def test_modules_are_in_the_reference() -> None:
    modules = {module.name for module in pkgutil.iter_modules(ds.__path__) if not module.name.startswith("_")}
    assert {name for name in modules if not re.search(rf"decisional\.{name}\b|`{name}`", REFERENCE)} == set()


def test_what_the_reference_names_is_there_after_one_import() -> None:
    modules = [name for _, name, package in pkgutil.walk_packages(ds.__path__, "decisional.") if not package]
    rooms = [name for name in modules if not re.search(r"\._|decisional\.(plot|report|cli)\.", name)]
    code = "import sys, decisional\nfor path in sys.argv[1:]:\n    eval(path)"
    # The last ones first, so that none is there because another one has imported it.
    for paths in (list(NAMED), rooms[::-1]):
        subprocess.run([sys.executable, "-c", code, *paths], check=True, timeout=900)


def test_modules_that_are_not_there_are_refused_as_attributes() -> None:
    with pytest.raises(AttributeError, match=r"module 'decisional\.data' has no attribute 'nothing'"):
        found("decisional.data.nothing")
    with pytest.raises(AttributeError, match=r"module 'decisional' has no attribute 'nothing'"):
        found("decisional.nothing")


def test_what_comes_back_is_told() -> None:
    """By a section where there are parameters, else by the annotation, of which the reference makes one."""
    page = entries()
    silent = []
    for path, value in functions():
        function = plain(value)
        if not inspect.isfunction(function) or function.__annotations__.get("return") in (None, "None"):
            continue
        lines = page.complete(value, (inspect.getdoc(function) or "").splitlines())
        if not any(line in ("Returns", "Yields") for line in lines):
            silent.append(path)
    assert silent == []


def test_entries_become_descriptions_with_links() -> None:
    page = entries()
    lines = ["Words.", "", "Returns", "-------", "EpsilonMachine : states by", "    probability", "", "Examples"]
    assert list(page.said(lines)) == [
        *lines[:4],
        ":py:class:`EpsilonMachine <decisional.EpsilonMachine>`",
        "    states by",
        *lines[5:],
    ]
    assert page.complete(ds.processes.coin, ["Words."]) == ["Words.", "", "Returns", "-------", "EpsilonMachine", ""]
    assert page.in_words(dict[str, float]) == "dict of str: float"
    assert page.in_words(list[int] | None) == "list of int or None"
