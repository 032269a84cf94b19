"""Running the scripts of the gallery, in full or with smaller numbers."""

import ast
import contextlib
import io
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def is_flat(path: Path) -> bool:
    """Whether a script is one of the gallery: cells, and no `main` to be called."""
    return "\n# %%\n" in path.read_text()


def run(name: str, **sizes: Any) -> tuple[dict[str, Any], str]:
    """The names that a script leaves behind and what it printed; `sizes` replace constants at its top."""
    path = EXAMPLES / f"{name}.py"
    tree = ast.parse(path.read_text())
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id in sizes:
            node.value = ast.copy_location(ast.Constant(sizes.pop(target.id)), node.value)
    assert not sizes, f"{path.name} has no constant {', '.join(sizes)}"
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, str(path), "exec"), names)
    return names, printed.getvalue()
