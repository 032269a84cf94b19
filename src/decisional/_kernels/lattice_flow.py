"""A lattice gas of nine velocities that streams and collides."""

import numpy as np

from . import kernel


@kernel
def gas_step(gas, disc, weights, velocities, opposite, relax, inflow):
    """The populations (9, height, width) one step later.

    They relax towards those of a gas at rest with itself, and stream: around the upper and lower edges, back from the
    disc, out of the right edge, where the column before is repeated; at the left edge `inflow` comes in.
    """
    height, width = disc.shape
    new = np.empty_like(gas)
    for a in range(height):
        for b in range(width):
            density, down, right = 0.0, 0.0, 0.0
            for k in range(9):
                density += gas[k, a, b]
                down += gas[k, a, b] * velocities[k, 0]
                right += gas[k, a, b] * velocities[k, 1]
            down /= density
            right /= density
            square = 1.5 * (down * down + right * right)
            for k in range(9):
                along = 3.0 * (velocities[k, 0] * down + velocities[k, 1] * right)
                settled = weights[k] * density * (1.0 + along + 0.5 * along * along - square)
                to_a, to_b = (a + velocities[k, 0]) % height, b + velocities[k, 1]
                if disc[a, b] or not 0 <= to_b < width:
                    continue
                value = gas[k, a, b] + relax * (settled - gas[k, a, b])
                if disc[to_a, to_b]:
                    new[opposite[k], a, b] = value
                else:
                    new[k, to_a, to_b] = value
    for a in range(height):
        for b in range(width):
            if disc[a, b]:
                new[:, a, b] = weights
    new[:, :, width - 1] = new[:, :, width - 2]
    for k in range(9):
        new[k, :, 0] = inflow[k]
    return new
