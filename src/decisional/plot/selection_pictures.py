"""Why a machine was chosen: description length and number of states against the length of the past."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..support.arguments import flag, require
from ..support.plurals import plural
from .figures import FONT, INK, LINE, RECURRENT, figure_of, given_panels, new_figure, plain_axes, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..states.search import Candidate
    from ..states.selected import Selection

# Lines of one future each; markers too, for grey print.
COLOURS = ("#777777", "#005a94", "#e08b1a", "#009e73", "#bb5590", "#7a3300")
MARKERS = "ho^sDvp"
CHOSEN = "#c1121f"


def selection(
    selection: Selection, axes: Sequence[Axes] | None = None, *, title: bool = True, ax: Axes | None = None
) -> Figure:
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
        Whether to write the number of states above, and whether the choice is in doubt. In whole sentences it is
        ``selection.why``, and the doubts are ``selection.warning``.
    ax : matplotlib Axes, optional
        Axes that both share, instead of `axes`.

    Returns
    -------
    matplotlib Figure
        The figure; `save` writes it to a file.
    """
    require_matplotlib()
    require(selection, "machine_of", "selection", "a Selection", "give what ds.selection.select returns")
    upper, lower = _two_axes(axes, ax)
    best, chosen = selection.chosen.description_length, selection.machine
    # The candidates with the states and edges of the chosen machine.
    alike = (c for c in selection.candidates if c.n_states == chosen.n_states)
    same = {id(c) for c in alike if selection.machine_of(c).is_isomorphic(chosen, atol=1.0)}
    _candidates(upper, selection, same, lambda c: c.description_length - best)
    _candidates(lower, selection, same, lambda c: c.n_states)
    _scale_bits(upper, selection)
    _scale_states(lower, selection)
    upper.legend(frameon=False, fontsize=FONT, loc="center left", bbox_to_anchor=(1.01, 0.5))
    if flag(title, "title"):
        doubt = "" if selection.warning is None else "; in doubt, see its warning"
        words = f"{plural(chosen.n_states, 'state')}, chosen among {len(selection.candidates):,} candidates{doubt}"
        upper.set_title(words, fontsize=FONT + 1, loc="left", color=INK)
    return figure_of(upper)


def _two_axes(axes: Any, ax: Axes | None) -> tuple[Axes, Axes]:
    """The axes for bits and for states, one below the other if they are new."""
    rule = "these are bits and states: make them with figure.subplots(2, 1, sharex=True)."
    given = given_panels(axes, ax, 2, 1, rule)
    upper, lower = new_figure(8.0, 5.0).subplots(2, 1, sharex=True) if given is None else given
    if ax is not None:
        lower.sharex(upper)
        upper.tick_params(labelbottom=False)
    return upper, lower


def _candidates(ax: Axes, selection: Selection, same: set[int], value: Callable[[Candidate], float]) -> None:
    """Shade the plateau, draw a line for each future, filled where its machine is the chosen one, mark the choice."""

    def plot(candidates: Sequence[Candidate], **style: Any) -> None:
        ax.plot([c.past for c in candidates], [value(c) for c in candidates], **style)

    plateau = [past for past, candidate in selection.by_past().items() if id(candidate) in same]
    for past in plateau:
        label = "plateau" if past == plateau[0] else None
        ax.axvspan(past - 0.5, past + 0.5, color=RECURRENT, alpha=0.6, lw=0, zorder=0, label=label)
    found = sorted((c for c in selection.candidates if not c.searched), key=lambda c: (c.future, c.past))
    for future in dict.fromkeys(c.future for c in found):
        line = [c for c in found if c.future == future]
        # Smaller and smaller, so that markers at the same place are all seen.
        style: dict[str, Any] = {"color": COLOURS[future % len(COLOURS)], "marker": MARKERS[future % len(MARKERS)]}
        style |= {"ms": 9.0 - 2.0 * (future % 4), "zorder": 3 + future}
        label = f"future of {plural(future, 'symbol')}" if future else "no window: one state"
        plot(line, **style, mfc="white", lw=1.2, label=label)
        plot([c for c in line if id(c) in same], **style, ls="none")
    others = [c for c in selection.candidates[1:] if c.searched]
    star: dict[str, Any] = {"marker": "*", "ls": "none"}
    if others:
        plot(others, **star, ms=8, mfc="white", mec=CHOSEN, zorder=11, label="other outcome of the search")
    label = "chosen" + (", after the search" if selection.chosen.searched else "")
    plot([selection.chosen], **star, ms=15, color=CHOSEN, mec="white", mew=0.8, zorder=12, label=label)


def _scale_bits(ax: Axes, selection: Selection) -> None:
    from matplotlib.ticker import FuncFormatter, NullLocator

    from ..states.selected import DOUBT

    # Linear where differences mean nothing, so that the best, 0 bits, has a place.
    most = max(c.description_length for c in selection.candidates) - selection.chosen.description_length
    ax.set_yscale("symlog", linthresh=DOUBT, linscale=0.8)
    ax.set_ylim(-0.25 * DOUBT, max(3 * most, 3 * DOUBT))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda bits, _: f"{bits:,.0f}"))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.axhline(DOUBT, color=LINE, lw=0.8, ls=(0, (4, 3)), zorder=1, label="too close to tell below")
    plain_axes(ax, "", "bits above the shortest")


def _scale_states(ax: Axes, selection: Selection) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

    most, pasts = max(c.n_states for c in selection.candidates), [c.past for c in selection.candidates]
    ax.set_ylim(0, most + 1)
    if most > 20:
        ax.set_yscale("log")
        ax.set_ylim(0.8, 1.5 * most)
        ax.set_yticks([n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n <= most])
        ax.yaxis.set_minor_locator(NullLocator())
    else:
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))
    ax.axhline(selection.chosen.n_states, color=CHOSEN, lw=0.8, zorder=1)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlim(min(pasts) - 0.7, max(pasts) + 0.7)
    plain_axes(ax, "past, symbols", "states")
