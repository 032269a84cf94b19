"""The layers of the design: a module imports only from the layers below its own."""

import ast
from pathlib import Path

import decisional

ROOT = Path(decisional.__file__).parent
LAYERS = [
    {"_kernels", "arguments"},
    {"structures", "protocols", "executors", "resources", "chains"},
    {
        "observe",
        "densities",
        "matching",
        "clustering",
        "determinism",
        "graphs",
        "complexity",
        "search",
        "utility",
        "decisions",
        "events",
    },
    {"algorithm", "automata", "processes", "selection", "baselines"},
    {"estimators"},
    {"drift"},
    {"monitor", "features"},
    {"plotting", "io", "report", "writing", "cli"},
]
# A machine, and fitted states, draw themselves in a notebook: the only looks upwards, inside functions.
ALLOWED = {("graphs", "plotting"), ("estimators", "report")}


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
    return found


def test_imports_go_down() -> None:
    level = {name: depth for depth, names in enumerate(LAYERS) for name in names}
    wrong = []
    for path in ROOT.rglob("*.py"):
        module = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if module == "__init__":
            continue
        assert module in level, f"{module} has no layer"
        for other in imports(path) & level.keys() - {module}:
            same = level[other] == level[module] and level[module] not in (1, 3, 7)
            if (level[other] > level[module] or same) and (module, other) not in ALLOWED:
                wrong.append((module, other))
    assert not wrong


def test_modules_are_small() -> None:
    long = {path.name: n for path in ROOT.rglob("*.py") if (n := len(path.read_text().splitlines())) > 400}
    assert not long


def test_nothing_outside_the_project_is_read() -> None:
    here = Path(__file__).resolve().parents[1]
    for folder in ("src", "tests", "paper", "benchmarks", "examples", "docs"):
        for path in (here / folder).rglob("*.py"):
            assert "../" + "shared" not in path.read_text(), path
