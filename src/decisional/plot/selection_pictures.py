"""Why a machine was chosen: description length and number of states against the length of the past."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..support.arguments import require
from .drawing import INK, LINE, RECURRENT, figure_of, new_figure, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..states.machine_selection import Selection
    from ..states.search import Candidate

# Lines of one future each; markers too, for grey print.
COLOURS = ("#777777", "#005a94", "#e08b1a", "#009e73", "#bb5590", "#7a3300")
MARKERS = "ho^sDvp"
CHOSEN = "#c1121f"
FONT = 9


def selection(selection: Selection, axes: Sequence[Axes] | None = None, *, title: bool = True) -> Figure:
    """Draw the candidates of a selection: bits above the shortest description, and states, against the past.

    Each line has one length of future. Filled markers are the chosen machine, found again; the pasts whose best
    reconstruction it is are shaded: the plateau. The star is the choice; small stars are other outcomes of the
    search, at the past that it started from.

    Parameters
    ----------
    selection : Selection
        As returned by `decisional.selection.select`.
    axes : sequence of two matplotlib Axes, optional
        Where to draw bits and states; by default on a new figure, which is not registered with pyplot.
    title : bool, default True
        Whether to write the choice in a sentence, and the warning if there is one, above.

    Returns
    -------
    matplotlib Figure
        The figure; `save` writes it to a file.
    """
    require_matplotlib()
    require(selection, "machine_of", "selection", "a Selection", "give what ds.selection.select returns")
    upper, lower = new_figure(8.0, 5.2).subplots(2, 1, sharex=True) if axes is None else _two(axes)
    same = _same_machine(selection)
    for ax, value in ((upper, _bits(selection)), (lower, _states)):
        _shade(ax, selection, same)
        _lines(ax, selection, same, value)
        _stars(ax, selection, value)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=FONT, colors=INK)
    _scales(upper, lower, selection)
    upper.legend(frameon=False, fontsize=FONT, loc="center left", bbox_to_anchor=(1.01, 0.5))
    if title:
        upper.set_title(_sentences(selection), fontsize=FONT + 1, loc="left", color=INK, parse_math=False)
    return figure_of(upper)


def _two(axes: Sequence[Axes]) -> tuple[Axes, Axes]:
    given = list(axes) if isinstance(axes, Iterable) else [axes]
    if len(given) != 2:
        raise ValueError(
            f"The 'axes' parameter must hold two axes, for bits and for states. Got {len(given)} instead: "
            "make them with figure.subplots(2, 1, sharex=True)."
        )
    return given[0], given[1]


def _same_machine(selection: Selection) -> list[bool]:
    """Whether each candidate has the states and edges of the chosen machine."""
    chosen = selection.machine
    return [
        c.n_states == chosen.n_states and selection.machine_of(c).is_isomorphic(chosen, atol=1.0)
        for c in selection.candidates
    ]


def _bits(selection: Selection) -> Any:
    best = selection.chosen.description_length
    return lambda candidate: candidate.description_length - best


def _states(candidate: Candidate) -> int:
    return candidate.n_states


def _shade(ax: Axes, selection: Selection, same: list[bool]) -> None:
    """Shade the pasts whose best reconstruction is the chosen machine."""
    found = {id(c) for c, is_same in zip(selection.candidates, same, strict=True) if is_same}
    label: str | None = "plateau"
    for past, candidate in selection.by_past().items():
        if id(candidate) in found:
            ax.axvspan(past - 0.5, past + 0.5, color=RECURRENT, alpha=0.6, lw=0, zorder=0, label=label)
            label = None


def _lines(ax: Axes, selection: Selection, same: list[bool], value: Any) -> None:
    """Draw one line for each future; filled markers where the machine is the chosen one."""
    pairs = [(c, s) for c, s in zip(selection.candidates, same, strict=True) if not c.searched]
    for future in sorted({c.future for c, _ in pairs}):
        line = sorted(((c.past, value(c), s) for c, s in pairs if c.future == future), key=lambda point: point[0])
        # Smaller and smaller, so that markers at the same place are all seen.
        style: dict[str, Any] = {"color": COLOURS[future % len(COLOURS)], "marker": MARKERS[future % len(MARKERS)]}
        style |= {"ms": 9.0 - 2.0 * (future % 4), "zorder": 3 + future}
        ax.plot([x for x, _, _ in line], [y for _, y, _ in line], **style, mfc="white", lw=1.2, label=_label(future))
        ax.plot([x for x, _, full in line if full], [y for _, y, full in line if full], **style, ls="none")


def _label(future: int) -> str:
    if future == 0:
        return "no window: one state"
    return f"future of {future} symbol{'s' if future != 1 else ''}"


def _stars(ax: Axes, selection: Selection, value: Any) -> None:
    """Mark the choice, and the other outcomes of the search."""
    best = selection.chosen
    others = [c for c in selection.candidates[1:] if c.searched]
    if others:
        style: dict[str, Any] = {"marker": "*", "ms": 8, "mfc": "white", "mec": CHOSEN, "ls": "none", "zorder": 11}
        ax.plot([c.past for c in others], [value(c) for c in others], **style, label="other outcome of the search")
    label = "chosen" + (", after the search" if best.searched else "")
    ax.plot(
        [best.past], [value(best)], "*", ms=15, color=CHOSEN, mec="white", mew=0.8, ls="none", zorder=12, label=label
    )


def _scales(upper: Axes, lower: Axes, selection: Selection) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

    from ..states.machine_selection import DOUBT

    # Linear where differences mean nothing, so that the best, 0 bits, has a place.
    most = max(c.description_length for c in selection.candidates) - selection.chosen.description_length
    upper.set_yscale("symlog", linthresh=DOUBT, linscale=0.8)
    upper.set_ylim(-0.25 * DOUBT, max(3 * most, 3 * DOUBT))
    upper.yaxis.set_major_formatter(FuncFormatter(lambda bits, _: f"{bits:,.0f}"))
    upper.yaxis.set_minor_locator(NullLocator())
    upper.axhline(DOUBT, color=LINE, lw=0.8, ls=(0, (4, 3)), zorder=1, label="too close to tell below")
    upper.set_ylabel("bits above the shortest", fontsize=FONT, color=INK)
    most_states = max(c.n_states for c in selection.candidates)
    lower.set_ylim(0, most_states + 1)
    if most_states > 20:
        lower.set_yscale("log")
        lower.set_ylim(0.8, 1.5 * most_states)
        lower.set_yticks([n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n <= most_states])
        lower.yaxis.set_minor_locator(NullLocator())
    else:
        lower.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    lower.yaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))
    lower.axhline(selection.chosen.n_states, color=CHOSEN, lw=0.8, zorder=1)
    lower.set_ylabel("states", fontsize=FONT, color=INK)
    lower.set_xlabel("past, symbols", fontsize=FONT, color=INK)
    lower.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    pasts = [c.past for c in selection.candidates]
    lower.set_xlim(min(pasts) - 0.7, max(pasts) + 0.7)


def _sentences(selection: Selection) -> str:
    parts = [selection.why] + ([selection.warning] if selection.warning is not None else [])
    return "\n".join(textwrap.fill(part, 95) for part in parts)
