"""What is built is what is meant: contents, metadata and versions."""

import re
import tarfile
import tomllib
from email import message_from_string
from email.message import Message
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import decisional as ds

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = {
    "aeon",
    "plot",
    "interactive",
    "graph",
    "image",
    "parquet",
    "xarray",
    "scale",
    "live",
    "completion",
    "all",
    "docs",
    "bench",
    "examples",
    "test",
}


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    builders = pytest.importorskip("hatchling.builders.wheel")
    (path,) = builders.WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")))
    return ZipFile(path)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builders = pytest.importorskip("hatchling.builders.sdist")
    (path,) = builders.SdistBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("sdist")))
    return Path(path)


@pytest.fixture(scope="module")
def metadata(wheel: ZipFile) -> Message:
    return message_from_string(wheel.read(f"decisional-{ds.__version__}.dist-info/METADATA").decode())


def sources(folder: str) -> set[str]:
    """The files of a folder that are no leftovers of running it."""
    paths = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in paths if "__pycache__" not in path.parts}


def test_wheel_holds_the_package_and_nothing_else(wheel: ZipFile) -> None:
    names = set(wheel.namelist())
    held = {name for name in names if name.startswith("decisional/")}
    assert held == {name.removeprefix("src/") for name in sources("src/decisional")}
    templates = {
        f"decisional/report/templates/{name}" for name in ("page.html", "page.css", "page.js", "sections/states.html")
    }
    assert {"decisional/py.typed", *templates} <= held
    assert {Path(name).suffix or Path(name).name for name in held} <= {".py", ".html", ".css", ".js", ".typed"}
    info = f"decisional-{ds.__version__}.dist-info"
    expected = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    assert names - held == {f"{info}/{name}" for name in expected}
    assert wheel.read(f"{info}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()


def test_sizes(wheel: ZipFile, sdist: Path) -> None:
    assert wheel.filename is not None
    assert Path(wheel.filename).stat().st_size < 2e6
    assert sdist.stat().st_size < 10e6


def test_wheel_is_pure(wheel: ZipFile) -> None:
    tags = message_from_string(wheel.read(f"decisional-{ds.__version__}.dist-info/WHEEL").decode())
    assert tags["Root-Is-Purelib"] == "true"
    assert tags["Tag"] == "py3-none-any"


def test_metadata(metadata: Message) -> None:
    assert metadata["Name"] == "decisional"
    assert metadata["Version"] == project()["version"]
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert set(metadata.get_all("Provides-Extra", [])) == EXTRAS
    doi = re.search(r"^  doi: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert doi is not None
    assert metadata.get_all("Project-URL") == [f"Article, https://doi.org/{doi[1]}"]
    assert metadata.get_payload() == (ROOT / "README.md").read_text()


def test_dependencies_have_lower_bounds_and_no_upper_ones(metadata: Message) -> None:
    required = metadata.get_all("Requires-Dist", [])
    others = [line for line in required if not line.startswith("decisional[")]
    bounds = [line.partition(";")[0].strip() for line in others]
    assert all(re.fullmatch(r"[\w-]+(\[[\w,]+\])?>=[\d.]+", bound) for bound in bounds), bounds
    always = {line.partition(">=")[0] for line in others if "extra ==" not in line}
    assert always == {
        "numpy",
        "scipy",
        "numba",
        "scikit-learn",
        "threadpoolctl",
        "jinja2",
        "pandas",
        "narwhals",
        "tqdm",
    }


def test_program(wheel: ZipFile) -> None:
    text = wheel.read(f"decisional-{ds.__version__}.dist-info/entry_points.txt").decode()
    assert text.split() == ["[console_scripts]", "decisional", "=", "decisional.cli:main"]


def test_source_distribution_holds_what_its_tests_read(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = sources("src") | sources("tests") | {"pyproject.toml", "README.md", "LICENSE", "Makefile"}
    # `make docs` leaves its pages and the gallery there.
    needed |= {name for name in sources("docs") if not re.match(r"docs/(_build/|gallery/|sg_execution_times)", name)}
    needed |= {name for name in sources("paper") if not name.startswith("paper/out/")}
    needed |= sources("examples") | sources("benchmarks")
    assert needed - names == set()
    junk = [name for name in names if re.search(r"(^|/)(_build|out|__pycache__|\.venv|\.ci|demo|dist)/", name)]
    assert junk == []


def test_versions_agree() -> None:
    version = project()["version"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert version == cited[1] == ds.__version__


def test_changelog_sections() -> None:
    """Newest first: [Unreleased], or the version with its date."""
    titles = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    released = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d\d-\d\d", title) for title in titles]
    assert titles[0] == "[Unreleased]" or released[0] is not None
    assert all(match is not None for match in released[1:])
    numbers = [tuple(map(int, match.groups())) for match in released if match is not None]
    assert numbers == sorted(numbers, reverse=True)
    current = tuple(map(int, project()["version"].split(".")))
    assert current in numbers or titles[0] == "[Unreleased]"
