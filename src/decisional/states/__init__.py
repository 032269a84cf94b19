"""Steps 1 to 4 and 9 of the figure: densities, matching, clustering, determinism, and the choice of a machine."""
