"""Real-valued fields by short simulations: a coupled map lattice, turbulence that decays, a vortex street.

Each function returns float64 values, time first; flows have two space axes and give the vorticity.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import lattice_flow as kernels
from ..support import resources
from ..support.arguments import generator, integer, real, refusal
from ..support.arrays import Floats

# Cells along an axis, and steps, that a short simulation may have.
MOST = 1 << 20
# Weights and velocities (down, right) of the nine populations of a lattice gas; the opposite of each.
WEIGHTS = np.array([4 / 9, *[1 / 9] * 4, *[1 / 36] * 4])
VELOCITIES = np.array([[0, 0], [0, 1], [1, 0], [0, -1], [-1, 0], [1, 1], [1, -1], [-1, -1], [-1, 1]])
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])


def coupled_map_lattice(
    width: int, steps: int, coupling: float = 0.1, growth: float = 1.9, rng: Any = None, transient: int = 1000
) -> Floats:
    """Run Kaneko's lattice of logistic maps on a ring.

    A cell becomes (1 - coupling) f(x) + coupling / 2 (f(left) + f(right)) with f(x) = 1 - growth x^2.

    Parameters
    ----------
    width, steps : int
        Number of cells and of rows.
    coupling, growth : float
        From 0 to 1, and from 0 to 2. By default, domains that are frozen between chaotic defects.
    rng : None, int, or numpy Generator
        Seed of a first row of independent uniform cells between -1 and 1.
    transient : int
        Rows that are left out before the first one.

    Returns
    -------
    float array of shape (steps, width). Cost: O(width (steps + transient)).
    """
    width, steps = integer(width, "width", most=MOST), integer(steps, "steps", most=MOST)
    coupling, growth = real(coupling, "coupling", 0.0, most=1.0), real(growth, "growth", 0.0, most=2.0)
    transient = integer(transient, "transient", 0, MOST)
    _require(steps * width)
    row = generator(rng).uniform(-1.0, 1.0, width)
    field = np.empty((steps, width))
    for t in range(-transient, steps):
        if t >= 0:
            field[t] = row
        mapped = 1.0 - growth * row * row
        row = (1.0 - coupling) * mapped + 0.5 * coupling * (np.roll(mapped, 1) + np.roll(mapped, -1))
    return field


def decaying_turbulence(
    side: int, steps: int, viscosity: float = 1e-3, rng: Any = None, transient: float = 4.0, spacing: float = 0.1
) -> Floats:
    """Let a random flow of two dimensions decay: like vortices merge, until few are left.

    The vorticity equation on a torus of side 2 pi, by Fourier modes (products on the grid, the upper third of the modes
    left out) and steps of the rule of Runge and Kutta, with exact viscosity.

    Parameters
    ----------
    side : int
        Cells along both axes, even and at least 8.
    steps : int
        Number of frames.
    viscosity : float
    rng : None, int, or numpy Generator
        Seed of the first flow, whose modes of wave numbers around 6 are random, with a mean square velocity of 1.
    transient, spacing : float
        Time before the first frame, and between frames.

    Returns
    -------
    float array of shape (steps, side, side), the vorticity. Cost: 22 Fourier transforms for each step of time.
    """
    side, steps = integer(side, "side", 8, 4096), integer(steps, "steps", most=MOST)
    if side % 2:
        raise ValueError(f"The 'side' is {side}; it must be even: use {side + 1}.")
    viscosity = real(viscosity, "viscosity", 0.0, most=1.0)
    transient, spacing = real(transient, "transient", 0.0, most=1e3), real(spacing, "spacing", above=0.0, most=1e3)
    _require(steps * side * side)
    modes = _Modes(side, viscosity)
    flow, field = modes.random(generator(rng)), np.empty((steps, side, side))
    for t in range(steps):
        flow = modes.later(flow, transient if t == 0 else spacing)
        field[t] = np.fft.irfft2(flow, (side, side))
    return field


class _Modes:
    """Fourier modes of a flow on a torus: how their vorticity changes."""

    def __init__(self, side: int, viscosity: float) -> None:
        self.down = np.fft.fftfreq(side, 1.0 / side)[:, None]
        self.right = np.fft.rfftfreq(side, 1.0 / side)[None]
        self.square = self.down**2 + self.right**2
        self.inverse = 1.0 / np.where(self.square > 0.0, self.square, np.inf)
        self.kept = (np.abs(self.down) < side / 3) & (self.right < side / 3)
        self.side, self.viscosity = side, viscosity

    def random(self, rng: np.random.Generator) -> NDArray[np.complexfloating[Any]]:
        """A flow of wave numbers around 6."""
        noise = np.fft.rfft2(rng.normal(size=(self.side, self.side)))
        length = np.sqrt(self.square)
        flow = noise * length**1.5 * np.exp(-((length / 6.0) ** 2)) * self.kept
        speed = sum((part**2).mean() for part in self._velocity(flow))
        return np.asarray(flow / np.sqrt(speed))

    def _velocity(self, flow: NDArray[Any]) -> tuple[Floats, Floats]:
        stream, shape = flow * self.inverse, (self.side, self.side)
        return np.fft.irfft2(-1j * self.right * stream, shape), np.fft.irfft2(1j * self.down * stream, shape)

    def _carried(self, flow: NDArray[Any]) -> NDArray[Any]:
        """What the flow carries of its own vorticity into each mode."""
        down, right = self._velocity(flow)
        shape = (self.side, self.side)
        slopes = np.fft.irfft2(1j * self.down * flow, shape), np.fft.irfft2(1j * self.right * flow, shape)
        return np.asarray(-np.fft.rfft2(down * slopes[0] + right * slopes[1]) * self.kept)

    def later(self, flow: NDArray[Any], time: float) -> NDArray[Any]:
        """The modes after some time, in steps in which nothing moves by more than half a cell."""
        left = time
        while left > 0.0:
            fastest = max(float(np.abs(part).max()) for part in self._velocity(flow))
            step = min(left, np.pi / self.side / max(fastest, 1e-9))
            half = np.exp(-0.5 * step * self.viscosity * self.square)
            one = step * self._carried(flow)
            two = step * self._carried(half * (flow + 0.5 * one))
            three = step * self._carried(half * flow + 0.5 * two)
            four = step * self._carried(half * (half * flow + three))
            flow = half * (half * (flow + one / 6.0) + (two + three) / 3.0) + four / 6.0
            left -= step
        return flow


def vortex_street(
    shape: Sequence[int] = (60, 180), steps: int = 200, reynolds: float = 120.0, rng: Any = None, transient: int = 6000
) -> Floats:
    """Let a stream flow around a disc, behind which vortices part to both sides in turn: Karman's street.

    A lattice gas of nine velocities (lattice Boltzmann) with one time of relaxation, a disc that reflects it, and a
    stream of 0.1 cells for each step from the left; the upper and the lower edge meet.

    Parameters
    ----------
    shape : (height, width)
        Cells across and along the stream; the diameter of the disc is a sixth of the height.
    steps : int
        Number of frames, 20 steps of the gas apart.
    reynolds : float
        Number of Reynolds: diameter times speed over viscosity. Vortices part from about 50 on.
    rng : None, int, or numpy Generator
        Seed of small differences of the first stream, which make it leave its symmetry.
    transient : int
        Steps of the gas before the first frame.

    Returns
    -------
    float array of shape (steps, height, width), the vorticity, 0 in the disc. Cost: about 0.1 microseconds for each
    cell and step of the gas.
    """
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise ValueError(refusal("shape", shape, "two numbers of cells", "try shape=(60, 180)"))
    height, width = (integer(size, "shape", 24, 4096) for size in shape)
    steps, transient = integer(steps, "steps", most=MOST), integer(transient, "transient", 0, MOST)
    speed, diameter = 0.1, height / 6
    viscosity = speed * diameter / real(reynolds, "reynolds", 1.0, most=1e3, remedy="try reynolds=120")
    _require(steps * height * width)
    down, right = np.indices((height, width))
    disc = np.hypot(down - (height - 1) / 2, right - width / 6) < diameter / 2
    wind = np.zeros((2, height, width))
    wind[1] = speed * (1.0 + 0.05 * generator(rng).normal(size=(height, width)))
    gas = _settled(np.ones((height, width)), wind)
    field = np.empty((steps, height, width))
    relax, still = 1.0 / (3.0 * viscosity + 0.5), _settled(np.ones(1), np.array([[0.0], [speed]]))[:, 0]
    for t in range(steps):
        for _ in range(transient if t == 0 else 20):
            gas = kernels.gas_step(gas, disc, WEIGHTS, VELOCITIES, OPPOSITE, relax, still)
        moved = np.tensordot(VELOCITIES.T.astype(float), gas, 1) / gas.sum(axis=0)
        moved[:, disc] = 0.0
        field[t] = np.gradient(moved[0], axis=1) - np.gradient(moved[1], axis=0)
        field[t][disc] = 0.0
    return field


def _require(cells: int) -> None:
    """Refuse fields that do not fit in memory."""
    resources.require(8 * cells, f"a field of {cells:,} cells", "simulate fewer steps or cells")


def _settled(density: Floats, velocity: Floats) -> Floats:
    """(9, ...) populations of a gas of some density and velocity (2, ...) that is at rest with itself."""
    along = np.tensordot(VELOCITIES.astype(float), velocity, 1)
    square = (velocity**2).sum(axis=0)
    weights = WEIGHTS.reshape(-1, *(1,) * density.ndim)
    settled: Floats = weights * density * (1.0 + 3.0 * along + 4.5 * along**2 - 1.5 * square)
    return settled
