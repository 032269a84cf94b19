"""Section 6.2: filters for cellular automata from light cones. Regenerates the figure on rule 110, and a gallery.

The four panels are those of the reference program: 400 cells, 300 steps after 100, past 4, future 3, the present cell
in the future cone and only the oldest row of the past cone; grey, dark = complex (raw cells: 1 = white).

    python paper/rule110.py --out paper/out
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import decisional as ds

WIDTH, STEPS, DROPPED, PAST, FUTURE = 400, 300, 100, 4, 3
GALLERY = (54, 110, 146, 18)


def reference_row(width: int = WIDTH) -> np.ndarray:
    """The reference program's first row: bit 17 of the outputs of MT19937 with the classic seeding by 42."""
    generator = np.random.MT19937()
    generator._legacy_seeding(42)
    return ((generator.random_raw(width) >> 17) & 1).astype(np.uint8)


def rule110() -> tuple[np.ndarray, ds.DecisionalStates]:
    """The field whose present rows are those of the reference, and its decisional states."""
    rows = ds.processes.elementary_ca(110, WIDTH, DROPPED + PAST - 1 + STEPS + FUTURE - 1, reference_row())
    field = rows[DROPPED:]
    obs = ds.observe.light_cones(field, PAST, FUTURE, include_present=True, past_row_only=True)
    return field, filtered(obs)


def filtered(obs: ds.Observations) -> ds.DecisionalStates:
    causal = ds.CausalStates(match="exact").fit(obs)
    return ds.DecisionalStates(ds.utility.matching_cells()).fit(causal)


def panels(field: np.ndarray, choice: ds.DecisionalStates) -> dict[str, np.ndarray]:
    """The four pictures as grey levels, only the rows that have states."""
    causal = choice.causal_
    place = causal.observations_.field
    rows = ~np.isnan(place(causal.local_complexity_)).any(axis=1)
    return {
        "raw": 255 * field[rows],
        "local_statistical_complexity": ds.plot.grey(place(causal.local_complexity_)[rows]),
        "expected_utility": ds.plot.grey(place(choice.local_utility_)[rows]),
        "local_prediction_complexity": ds.plot.grey(place(choice.local_prediction_complexity_)[rows]),
    }


def gallery(width: int, steps: int, out: Path) -> None:
    """Four rules from a random row: raw cells, local C, expected utility, local P."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.8 * len(GALLERY)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(GALLERY), 4)
    for rule, axes in zip(GALLERY, grid, strict=True):
        field = ds.processes.elementary_ca(rule, width, 100 + steps, 1)[100:]
        choice = filtered(ds.observe.light_cones(field, 4, 3))
        ds.plot.fields(choice, raw=field, axes=axes)
        axes[0].set_ylabel(f"rule {rule}", fontsize=10)
        if rule != GALLERY[0]:
            for ax in axes:
                ax.set_title("")
    ds.plot.save(figure, out / "rules.png")


def spirals(side: int, steps: int, out: Path) -> None:
    """A cyclic automaton in two dimensions: the fronts where waves meet are rare, hence of high local complexity."""
    field = ds.processes.cyclic_automaton((side, side), 100 + steps, colours=8, rng=1)[100:]
    obs = ds.observe.light_cones(field, 2, 2, neighbourhood="von_neumann")
    choice = filtered(obs)
    ds.plot.save(ds.plot.fields(choice, raw=field, panels=["raw", "C", "states"]), out / "spirals.png")
    ds.plot.animate(obs.field(choice.causal_.local_complexity_)[1:-1], out / "spirals.gif")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out")
    parser.add_argument("--quick", action="store_true", help="small gallery")
    arguments = parser.parse_args(argv)
    arguments.out.mkdir(parents=True, exist_ok=True)
    field, choice = rule110()
    causal = choice.causal_
    print(
        f"rule 110: {causal.n_states_} causal, {choice.iso_prediction_.n_states} iso-prediction, "
        f"{choice.iso_utility_.n_states} iso-utility, {choice.n_states_} decisional states"
    )
    for name, local in (("C", causal.local_complexity_), ("P", choice.local_prediction_complexity_)):
        print(f"local {name} from {local.min():.5f} to {local.max():.5f} bits")
    from matplotlib.image import imsave

    for name, picture in panels(field, choice).items():
        imsave(arguments.out / f"rule110_{name}.png", picture, cmap="gray", vmin=0, vmax=255)
    ds.plot.save(ds.plot.fields(choice, raw=field), arguments.out / "rule110.png")
    gallery(*((100, 60) if arguments.quick else (WIDTH, STEPS)), arguments.out)
    spirals(*((32, 20) if arguments.quick else (160, 60)), arguments.out)


if __name__ == "__main__":
    main()
