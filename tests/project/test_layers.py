"""The rooms of the design: a module imports only from its own room and those below, nowhere else, not even inside a
function."""

import ast
from collections import Counter
from pathlib import Path

import decisional

ROOT = Path(decisional.__file__).parent
ROOMS = [
    "_kernels",
    "support",
    "data",
    "machines",
    "states",
    "decisions",
    "estimators",
    "streams",
    "plot",
    "report",
    "cli",
]
# The public face: tables of contents, which, like the public names, only the command line uses from inside.
FACE = {"__init__", "__main__", "baselines", "clustering", "complexity", "observe", "processes", "selection", "utility"}


def imports(path: Path) -> set[str]:
    """First component below the package of every module that a file imports from it."""
    package = ("decisional", *path.relative_to(ROOT).parent.parts)
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            name = (*base, *(node.module or "").split(".")) if node.module else base
            names = [(*name, alias.name) for alias in node.names] if len(name) == 1 else [name]
        elif isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        else:
            continue
        found |= {parts[1] for parts in names if parts[0] == "decisional" and len(parts) > 1}
    return found - {"__version__"}


def test_imports_go_down() -> None:
    wrong = []
    for path in ROOT.rglob("*.py"):
        room = path.relative_to(ROOT).parts[0].removesuffix(".py")
        assert room in ROOMS or room in FACE, f"{room} is no room"
        below = set(ROOMS) if room in FACE else set(ROOMS[: ROOMS.index(room) + 1])
        allowed = below | FACE | set(decisional.__all__) if room == "cli" or room in FACE else below
        wrong += [(str(path.relative_to(ROOT)), other) for other in imports(path) - allowed]
    assert not wrong


def test_nothing_outside_the_project_is_read() -> None:
    here = Path(__file__).resolve().parents[2]
    for folder in ("src", "tests", "paper", "benchmarks", "examples", "docs"):
        for path in (here / folder).rglob("*.py"):
            assert "../" + "shared" not in path.read_text(), path


def test_names_of_modules_and_classes_occur_once() -> None:
    files = [path for path in ROOT.rglob("*.py") if path.name != "__init__.py"]
    modules = Counter(path.name for path in files)
    classes = Counter(
        node.name for path in files for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)
    )
    assert [name for name, n in (modules + classes).items() if n > 1] == []


def test_functions_are_short() -> None:
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
                assert (node.end_lineno or 0) - first.lineno < 60, f"{path.name}: {node.name}"
