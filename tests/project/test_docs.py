"""The README and every page of the documentation run as written, with the output they show."""

import contextlib
import importlib.util
import io
import re
from pathlib import Path

import pytest

import gallery

ROOT = Path(__file__).resolve().parents[2]
# tests/cli/test_jobs.py runs the page of jobs, with its commands.
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "jobs.md")]
BLOCK = re.compile(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)
SCRIPT = re.compile(r"<!-- (examples/\w+\.py) -->\n+```text\n(.*?)```", re.DOTALL)

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda page: page.name)
def test_blocks_print_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code, shown in BLOCK.findall(page.read_text()):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page.name, "exec"), names)
        assert printed.getvalue() == shown
    for picture in tmp_path.glob("*.png"):
        assert picture.stat().st_size > 1000


def run(path: Path, out: Path) -> tuple[object, str]:
    """What the main function of a script returns and prints; its pictures go to a folder."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        result = module.main(out)
    return result, printed.getvalue()


ALL = [(page, script, shown) for page in PAGES for script, shown in SCRIPT.findall(page.read_text())]
SCRIPTS = [case for case in ALL if not gallery.is_flat(ROOT / case[1])]
QUOTED = [case for case in ALL if gallery.is_flat(ROOT / case[1])]


def section_4_agrees_with_its_formulas(pairs: object) -> None:
    assert isinstance(pairs, list)
    for ours, formula in pairs:
        assert ours == pytest.approx(formula, abs=1e-3)


def continuous_series_are_predicted(results: object) -> None:
    assert isinstance(results, dict)
    for name in ("logistic map", "Rössler"):
        assert 0.5 < results[name].skill <= 1
        assert 0.5 < results[name].skill_states <= 1
        assert results[name].within > results[name].within_persistence
    assert results["sunspots"].skill > -0.5


# What the numbers that an example returns must tell.
CHECKS = {
    "examples/closed_forms.py": section_4_agrees_with_its_formulas,
    "examples/continuous.py": continuous_series_are_predicted,
}


@pytest.mark.parametrize(("page", "script", "shown"), SCRIPTS, ids=[script for _, script, _ in SCRIPTS])
def test_examples_print_and_draw_what_the_page_shows(page: Path, script: str, shown: str, tmp_path: Path) -> None:
    if script == "examples/continuous.py":
        pytest.importorskip("statsmodels")
    result, printed = run(ROOT / script, tmp_path)
    assert printed == shown
    if script in CHECKS:
        CHECKS[script](result)
    pictures = [path.name for path in tmp_path.iterdir()]
    assert pictures
    for name in pictures:
        assert f"images/{name}\n" in page.read_text()
        assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize(("page", "script", "shown"), QUOTED, ids=[script for _, script, _ in QUOTED])
def test_pages_quote_examples_of_the_gallery(
    page: Path, script: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib.pyplot as plt

    if script in ("examples/weather.py", "examples/hourly.py"):
        pytest.importorskip("vega_datasets")
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    plt.switch_backend("agg")
    assert shown in gallery.run(Path(script).stem)[1]


def test_every_example_is_in_the_documentation() -> None:
    others = [path for path in (ROOT / "examples").glob("*.py") if not gallery.is_flat(path)]
    assert {script for _, script, _ in SCRIPTS} == {f"examples/{path.name}" for path in others}
    assert set(CHECKS) <= {script for _, script, _ in SCRIPTS}
