"""Section 6.3: edges as places that are hard to predict. Regenerates the figure on two images of scikit-image.

x is the neighbourhood of a pixel (two pixels each way without the corners), z the pixel; the darkest neighbour is
subtracted from both. Densities by Gaussian kernels with sigma² = 1.5 (the paper's kernel width), causal states by three
passes, decisional states with U(y, z) = -max(0, |y - z| - tau). The pictures are ranks of local complexities: dark =
complex. Beside them Sobel's and Canny's edges. Needs scikit-image: pip install '.[image,plot]'.

    python paper/image_edges.py --out paper/out
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import decisional as ds

SIGMA, PASSES, TAU = 1.5**0.5, 3, 7
TAUS = (0, 7, 20)
# A flat zone has the weakest third of the gradients (Sobel); a dark pixel is in the upper half of the ranks.
FLAT, DARK = 1 / 3, 128


def images(quick: bool) -> dict[str, np.ndarray]:
    """Grey levels 0..255 of the astronaut and the camera, whole or 96 × 96 pixels of each."""
    from skimage import data
    from skimage.color import rgb2gray

    astronaut = np.rint(255 * rgb2gray(data.astronaut())).astype(np.uint8)
    camera = data.camera()
    if quick:
        astronaut, camera = astronaut[60:156, 160:256], camera[150:246, 150:246]
    return {"astronaut": astronaut, "camera": camera}


def filtered(pixels: np.ndarray) -> tuple[dict[int, ds.DecisionalStates], dict[str, float]]:
    """Decisional states for each tolerance, from the same causal states, and the seconds of each phase."""
    times = [time.perf_counter()]

    def cluster(densities: Any, match: Any) -> np.ndarray:
        times.append(time.perf_counter())
        labels = ds.clustering.Aggregate(passes=PASSES)(densities, match)
        times.append(time.perf_counter())
        return labels

    causal = ds.CausalStates(density=ds.Kernels(bandwidth=SIGMA), cluster=cluster).fit(ds.observe.image(pixels))
    times.append(time.perf_counter())
    choices = {tau: ds.DecisionalStates(ds.utility.tolerant(tau)).fit(causal) for tau in TAUS}
    times.append(time.perf_counter())
    _, densities, clustering, rest, utilities = np.diff(times, prepend=times[0])
    return choices, {"densities": densities, "clustering": clustering + rest, f"{len(TAUS)} utilities": utilities}


def panels(choices: dict[int, ds.DecisionalStates]) -> dict[str, np.ndarray]:
    """Ranks of the local complexity, and of the local iso-prediction complexity for each tolerance, as grey levels."""
    causal = choices[TAU].causal_
    place = causal.observations_.field
    ranks = {f"prediction_{tau}": choices[tau].local_prediction_complexity_ for tau in choices}
    ranks = {"statistical": causal.local_complexity_, **ranks}
    return {name: ds.plot.grey(place(ds.complexity.ranks(local))) for name, local in ranks.items()}


def dark_share(picture: np.ndarray, pixels: np.ndarray) -> float:
    """Share of dark pixels in the flat zones of an image, its border left out."""
    from skimage.filters import sobel

    inner = (slice(2, -2), slice(2, -2))
    gradient = sobel(pixels.astype(float))[inner]
    return float((picture[inner][gradient <= np.quantile(gradient, FLAT)] < DARK).mean())


def figure(rows: Sequence[Sequence[tuple[str, np.ndarray]]]) -> Any:
    """Pictures in rows, each with a title."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    side = 9.0 / len(rows[0])
    drawing = Figure(figsize=(9.0, (side + 0.3) * len(rows)), layout="constrained")
    FigureCanvasAgg(drawing)
    grid = drawing.subplots(len(rows), len(rows[0]), squeeze=False)
    for ax, (title, picture) in zip(grid.ravel(), (panel for row in rows for panel in row), strict=True):
        ax.imshow(picture, cmap="gray", vmin=0, vmax=255)
        ax.set_title(title, fontsize=10)
        ax.set_axis_off()
    return drawing


def main(argv: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out")
    parser.add_argument("--quick", action="store_true", help="96 × 96 pixels of each image")
    arguments = parser.parse_args(argv)
    arguments.out.mkdir(parents=True, exist_ok=True)
    from PIL import Image
    from skimage.feature import canny
    from skimage.filters import sobel

    edges, tolerances, shares = [], [], {}
    for name, pixels in images(arguments.quick).items():
        choices, seconds = filtered(pixels)
        choice, pictures = choices[TAU], panels(choices)
        print(
            f"{name} {pixels.shape[0]} × {pixels.shape[1]}: {choice.causal_.n_states_} causal states; tau = {TAU}: "
            f"{choice.iso_prediction_.n_states} iso-prediction, {choice.iso_utility_.n_states} iso-utility, "
            f"{choice.n_states_} decisional states"
        )
        print("  seconds: " + ", ".join(f"{phase} {taken:.2f}" for phase, taken in seconds.items()))
        shares[name] = {panel: dark_share(picture, pixels) for panel, picture in pictures.items()}
        share = ", ".join(f"tau = {tau} {shares[name][f'prediction_{tau}']:.2%}" for tau in TAUS)
        print(f"  dark pixels in flat zones: {shares[name]['statistical']:.2%} before the utility; {share}")
        for panel, picture in pictures.items():
            Image.fromarray(picture).save(arguments.out / f"{name}_{panel}.png")
        edges.append(
            [
                ("Statistical\ncomplexity", pictures["statistical"]),
                ("Original", pixels),
                (f"Iso-prediction\ncomplexity, τ = {TAU}", pictures[f"prediction_{TAU}"]),
                ("Sobel", ds.plot.grey(sobel(pixels.astype(float)))),
                ("Canny", ds.plot.grey(canny(pixels / 255.0, sigma=1.0))),
            ]
        )
        tolerances.append([(f"τ = {tau}", pictures[f"prediction_{tau}"]) for tau in TAUS])
    ds.plot.save(figure(edges), arguments.out / "image_edges.png")
    ds.plot.save(figure(tolerances), arguments.out / "image_tolerances.png")
    return shares


if __name__ == "__main__":
    main()
