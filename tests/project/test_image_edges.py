"""The paper's image filter, in small."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "paper").exists(), reason="the scripts are not in this distribution")


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def script() -> ModuleType:
    pytest.importorskip("skimage")
    return load("paper/image_edges.py")


def test_figures_and_noise(script: ModuleType, tmp_path: Path) -> None:
    shares = script.main(["--quick", "--out", str(tmp_path)])
    panels = ["statistical", *(f"prediction_{tau}" for tau in (0, 7, 20))]
    files = {f"{name}_{panel}.png" for name in ("astronaut", "camera") for panel in panels}
    assert {path.name for path in tmp_path.iterdir()} == files | {"image_edges.png", "image_tolerances.png"}
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in tmp_path.iterdir())
    # The utility removes noise from flat zones.
    assert all(share["prediction_7"] < share["statistical"] < 0.2 for share in shares.values())


def test_edges_are_dark(script: ModuleType) -> None:
    from skimage.filters import sobel

    pixels = script.images(quick=True)["camera"]
    choices, seconds = script.filtered(pixels)
    assert set(seconds) == {"densities", "clustering", "3 utilities"}
    inner = (slice(2, -2), slice(2, -2))
    gradient = sobel(pixels.astype(float))[inner]
    for picture in script.panels(choices).values():
        grey = picture[inner].astype(float)
        strong = grey[gradient >= np.quantile(gradient, 0.9)].mean()
        assert strong + 60 < grey[gradient <= np.quantile(gradient, 0.5)].mean()


def test_dark_pixels_in_flat_zones(script: ModuleType) -> None:
    pixels = np.zeros((20, 20), np.uint8)
    pixels[:, 15:] = 200
    picture = np.full(pixels.shape, 255, np.uint8)
    assert script.dark_share(picture, pixels) == 0
    picture[:, 12:] = 0  # the edge, and half of the flat zones on its left and right
    assert 0 < script.dark_share(picture, pixels) < 0.5
