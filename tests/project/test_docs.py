"""The README and every page of the documentation run as written, with the output they show."""

import contextlib
import importlib.util
import io
import re
from pathlib import Path

import pytest

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


SCRIPTS = [(page, script, shown) for page in PAGES for script, shown in SCRIPT.findall(page.read_text())]


@pytest.mark.parametrize(("page", "script", "shown"), SCRIPTS, ids=[script for _, script, _ in SCRIPTS])
def test_examples_print_and_draw_what_the_page_shows(page: Path, script: str, shown: str, tmp_path: Path) -> None:
    for name, package in (
        ("weather", "vega_datasets"),
        ("hourly", "vega_datasets"),
        ("continuous", "statsmodels"),
        ("ocean", "iris_sample_data"),
    ):
        if script == f"examples/{name}.py":
            pytest.importorskip(package)
    assert run(ROOT / script, tmp_path)[1] == shown
    pictures = [path.name for path in tmp_path.iterdir()]
    assert pictures
    for name in pictures:
        assert f"images/{name}\n" in page.read_text()
        assert (tmp_path / name).stat().st_size > 1000


def test_every_example_is_in_the_documentation() -> None:
    assert {script for _, script, _ in SCRIPTS} == {
        f"examples/{path.name}" for path in (ROOT / "examples").glob("*.py")
    }


def test_the_weather_pays(tmp_path: Path) -> None:
    pytest.importorskip("vega_datasets")
    means = run(ROOT / "examples/weather.py", tmp_path)[0]
    assert isinstance(means, dict)
    followed = means["following the decisional states"]
    assert means["always in"] < means["always out"] < followed < means["a perfect forecast"]
    assert followed >= means["as if yesterday's weather lasted"]


def test_section_4_agrees_with_its_formulas(tmp_path: Path) -> None:
    pairs = run(ROOT / "examples/closed_forms.py", tmp_path)[0]
    assert isinstance(pairs, list)
    for ours, formula in pairs:
        assert ours == pytest.approx(formula, abs=1e-3)
