"""Beliefs on the simplex: where a process leads an observer to, and the regions in which decisions are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..decisions.belief_regions import BeliefRegions
from ..machines import BeliefMachine
from ..support.arguments import integer, refusal
from ..support.arrays import Floats
from . import figures
from .wording import prediction_text, symbol_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Beliefs that are drawn at most, and bins of a line.
MOST, BINS = 1_000_000, 200
DOTS = "#1b3a57"
TRIANGLE = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
TETRAHEDRON = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])


def beliefs(
    machine: BeliefMachine,
    groups: Any = None,
    ax: Axes | None = None,
    *,
    n: int = 20_000,
    rng: Any = 0,
    title: str | None = None,
) -> Axes:
    """Draw beliefs that the process leads to, its causal states, on the simplex.

    Two hidden states span a line, along which a histogram stands; three a triangle, four a tetrahedron in space; those
    of more are projected to the plane in which they differ most. With decisions, the regions in which they are the same
    have a colour each: exactly on a line and in a triangle, by their borders in space, by the beliefs' colours beyond.

    Parameters
    ----------
    machine : BeliefMachine
        The machine, of at least two hidden states.
    groups : DecisionalStates, optional
        Fitted to the machine: regions share a colour and an entry of the legend.
    ax : matplotlib Axes, optional
        Where to draw, with ``projection="3d"`` for four hidden states; by default on a new figure, which is not
        registered with pyplot.
    n : int, default 20_000
        How many beliefs.
    rng : seed or numpy Generator, default 0
        Of the simulation.
    title : str, optional
        Title of the axes.

    Returns
    -------
    matplotlib Axes
        The axes; its figure is ``axes.figure``, and `save` writes it to a file.
    """
    figures.require_matplotlib()
    if not isinstance(machine, BeliefMachine) or machine.n_states < 2:
        rule = "a BeliefMachine of at least 2 hidden states"
        raise ValueError(refusal("machine", machine, rule, "give one, such as ds.belief_machine(symbols)"))
    regions = None if groups is None else _regions(machine, groups)
    size = integer(n, "n", most=MOST, remedy="try n=20_000", of="beliefs")
    in_space = machine.n_states == 4
    drawn: Any = ax
    if drawn is None:
        height = 3.2 if machine.n_states == 2 else 4.8
        drawn = figures.new_figure(5.6, height).add_subplot(projection="3d" if in_space else None)
    figures.require_axes(drawn)
    if (drawn.name == "3d") != in_space:
        raise ValueError(
            f"The 'ax' is {'in space' if drawn.name == '3d' else 'in the plane'} and the machine has "
            f"{machine.n_states} hidden states; give axes with projection='3d' for four of them only."
        )
    found = machine.beliefs(size, rng)
    draw = {2: _line, 3: _triangle, 4: _tetrahedron}.get(machine.n_states, _projection)
    draw(drawn, found, [symbol_text(name) for name in machine.names], regions)
    if regions is not None:
        texts = [f"predict {prediction_text(ys)}" for ys in regions.predictions]
        fills = {text: (figures.fill(k)[0], "") for k, text in enumerate(texts)}
        below = {2: -0.22, 3: 0.0, 4: 0.0}.get(machine.n_states, -0.12)
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, below)}
        figures.legend(drawn, fills, figures.LINE, 0.6, fontsize=figures.FONT, ncol=min(len(fills), 4), **place)
    if title is not None:
        drawn.set_title(title, fontsize=figures.FONT + 1, color=figures.INK)
    return drawn  # type: ignore[no-any-return]


def _regions(machine: BeliefMachine, groups: Any) -> BeliefRegions:
    """The regions of decisions on the machine; anything else is refused."""
    figures.require_fitted(groups)
    regions: BeliefRegions | None = groups.regions_
    if regions is None or not np.array_equal(regions.machine.steps, machine.steps):
        rule = "DecisionalStates fitted to this machine"
        raise ValueError(refusal("groups", groups, rule, "fit them to it: DecisionalStates(utility).fit(machine)"))
    return regions


def _dots(regions: BeliefRegions | None, beliefs: Floats) -> dict[str, Any]:
    """How beliefs are drawn as dots, in the colours of their regions."""
    if regions is None:
        return {"c": DOTS, "s": 5, "linewidths": 0.0}
    known = np.array([figures.fill(k)[0] for k in range(regions.n_regions)])
    return {"c": known[regions.number(beliefs)], "s": 9, "linewidths": 0.1, "edgecolors": "0.3"}


def _line(ax: Any, beliefs: Floats, names: list[str], regions: BeliefRegions | None) -> None:
    """A histogram of the belief in the second state, above the regions."""
    for k in range(0 if regions is None else regions.n_regions):
        assert regions is not None
        ends = regions.vertices(k)[:, 1]
        ax.axvspan(ends.min(), ends.max(), fc=figures.fill(k)[0], ec=figures.LINE, lw=0.8, zorder=0.1, gid="region")
    share = np.full(len(beliefs), 1.0 / len(beliefs))
    ax.hist(beliefs[:, 1], bins=BINS, range=(0.0, 1.0), weights=share, color=DOTS)
    figures.plain_axes(ax, f"P({names[1]})", "share of beliefs")
    ax.set_xlim(-0.01, 1.01)


def _triangle(ax: Any, beliefs: Floats, names: list[str], regions: BeliefRegions | None) -> None:
    """Beliefs as dots, above the polygons of the regions."""
    from matplotlib.patches import Polygon

    style: dict[str, Any] = {"ec": figures.LINE, "lw": 0.8, "closed": True}
    ax.add_patch(Polygon(TRIANGLE, fc="none", zorder=0.3, **style))
    for k in range(0 if regions is None else regions.n_regions):
        assert regions is not None
        outline = _around(regions.vertices(k) @ TRIANGLE)
        # Regions without an inside are lines or points, which are seen by their width alone.
        flat = {} if regions.has_inside[k] else {"ec": figures.fill(k)[0], "lw": 5.0, "joinstyle": "round"}
        ax.add_patch(Polygon(outline, fc=figures.fill(k)[0], zorder=0.1, gid="region", **style | flat))
    # Many dots are small, so that a fractal is seen.
    area = float(np.clip(2.0 * np.sqrt(20_000 / len(beliefs)), 0.5, 4.0))
    ax.scatter(*(beliefs @ TRIANGLE).T, c=DOTS, s=area, linewidths=0, zorder=1.0)
    for corner, name in zip(TRIANGLE, names, strict=True):
        x, y = corner + 0.05 * (corner - TRIANGLE.mean(axis=0))
        ax.text(x, y, name, ha="center", va="center", fontsize=figures.FONT, color=figures.INK, parse_math=False)
    _bare(ax)


def _tetrahedron(ax: Any, beliefs: Floats, names: list[str], regions: BeliefRegions | None) -> None:
    """Beliefs as dots in space, in the colour of their region, and the borders between regions."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    for i in range(4):
        for j in range(i):
            ax.plot(*TETRAHEDRON[[i, j]].T, color=figures.LINE, lw=0.8)
        place = 1.15 * TETRAHEDRON[i]
        ax.text(*place, names[i], fontsize=figures.FONT, color=figures.INK, ha="center", parse_math=False)
    ax.scatter(*(beliefs @ TETRAHEDRON).T, depthshade=False, **_dots(regions, beliefs))
    borders = [] if regions is None else [_around(part @ TETRAHEDRON) for part in _borders(regions)]
    if borders:
        ax.add_collection3d(Poly3DCollection(borders, fc="#00000014", ec=figures.LINE, lw=0.8))
    ax.set_box_aspect((1, 1, 1))
    _bare(ax)


def _borders(regions: BeliefRegions) -> list[Floats]:
    """Corners of each border between two regions, where it is a face."""
    inner = np.flatnonzero(regions.has_inside).tolist()
    corners, found = {k: regions.vertices(k) for k in inner}, []
    for i in inner:
        for j in inner[:i]:
            gap = regions.worth[regions.member[i]][0] - regions.worth[regions.member[j]][0]
            on = [points[np.abs(points @ gap) < 1e-7] for points in (corners[i], corners[j])]
            apart = np.abs(on[0][:, None] - on[1][None]).max(axis=2, initial=0.0) < 1e-7
            shared = on[0][apart.any(axis=1)]
            found += [shared] if len(shared) > 2 else []
    return found


def _projection(ax: Any, beliefs: Floats, names: list[str], regions: BeliefRegions | None) -> None:
    """Beliefs as dots in the plane in which they differ most, with the corners of the simplex."""
    centre = beliefs.mean(axis=0)
    axes = np.linalg.svd(beliefs - centre, full_matrices=False)[2][:2]
    # Which way an axis points is said by the state that it is most about.
    axes *= np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])[:, None]
    place = (beliefs - centre) @ axes.T
    ax.scatter(*place.T, **_dots(regions, beliefs))
    for name, corner in zip(names, (np.eye(len(names)) - centre) @ axes.T, strict=True):
        ax.text(*corner, name, fontsize=figures.FONT, color=figures.INK, ha="center", va="center", parse_math=False)
        ax.update_datalim([corner])
    ax.autoscale_view()
    ax.set_aspect("equal")
    figures.plain_axes(ax, "first axis", "second axis")


def _bare(ax: Any) -> None:
    ax.set_axis_off()
    if ax.name != "3d":
        ax.set_aspect("equal")
        ax.set_xlim(-0.1, 1.1)
        ax.set_ylim(-0.08, 0.95)


def _around(points: Floats) -> Floats:
    """Points of a plane, or of one in space, in their order around the middle."""
    apart = points - points.mean(axis=0)
    flat = apart @ np.linalg.svd(apart, full_matrices=False)[2][:2].T
    return points[np.argsort(np.arctan2(flat[:, -1], flat[:, 0]), kind="stable")]
