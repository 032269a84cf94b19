"""Light cones and automata with dicts and loops: the oracle of `observe.light_cones` and `automata`.

A field is a dict from (time, *position) to a value, None where it is missing, and its shape.
"""

from __future__ import annotations

from itertools import product


def as_field(array, missing=None):
    """Return the dict of an array, with None where `missing` is true."""
    cells = product(*map(range, array.shape))
    return {c: None if missing is not None and missing[c] else array[c].item() for c in cells}, array.shape


def distance(offset, neighbourhood):
    """Return how far a cell is in space."""
    steps = [abs(d) for d in offset]
    return sum(steps) if neighbourhood == "von_neumann" else max(steps)


def near(axes, radius, neighbourhood):
    """Return the offsets within a distance, in the order of an array."""
    every = product(*[range(-radius, radius + 1)] * axes)
    return [offset for offset in every if distance(offset, neighbourhood) <= radius]


def place(position, size, boundary):
    """Return where a cell beyond the edges of an axis is taken from, None if nowhere."""
    if 0 <= position < size:
        return position
    if boundary == "periodic":
        while position < 0:
            position += size
        while position >= size:
            position -= size
        return position
    if boundary == "reflect":
        return -position if position < 0 else size - 1 - (position - (size - 1))
    return None


def look(field, cell, boundary):
    """Return the value of a cell that may be beyond the edges; None if there is none."""
    values, shape = field
    if not 0 <= cell[0] < shape[0]:
        return None
    found = [place(c, n, boundary) for c, n in zip(cell[1:], shape[1:], strict=True)]
    return None if None in found else values[(cell[0], *found)]


def past_cells(axes, past, speed, past_row_only, neighbourhood):
    """Return the offsets of x: the present row first, then the ones before it."""
    rows = [past - 1] if past_row_only else range(past)
    return [(-k, *offset) for k in rows for offset in near(axes, speed * k, neighbourhood)]


def future_cells(axes, future, speed, include_present, neighbourhood):
    """Return the offsets of z, in the order of time."""
    rows = range(0 if include_present else 1, future)
    return [(k, *offset) for k in rows for offset in near(axes, speed * k, neighbourhood)]


def next_cell(cell, shape, boundary, transitions):
    """Return the cell that a step leads to, None if there is none."""
    if transitions == "time":
        return (cell[0] + 1, *cell[1:])
    last = cell[-1] + 1
    if last == shape[-1]:
        if boundary != "periodic":
            return None
        last = 0
    return (*cell[:-1], last)


def observations(
    fields,
    past,
    future,
    speed=1,
    boundary="periodic",
    include_present=False,
    past_row_only=False,
    transitions=None,
    neighbourhood="moore",
):
    """Return the (x, z, site, symbol, successor) of several fields, None for symbols without a successor."""
    axes = len(fields[0][1]) - 1
    reached = past_cells(axes, past, speed, past_row_only, neighbourhood)
    ahead = future_cells(axes, future, speed, include_present, neighbourhood)
    found = []
    index = {}
    site = 0
    for number, field in enumerate(fields):
        for cell in product(*map(range, field[1])):
            # Rows of the cone that x leaves out must be inside the field too.
            inside = cell[0] >= past - 1 and cell[0] + future - 1 < field[1][0]
            if boundary == "open":
                reach = speed * (max(past, future) - 1)
                inside = inside and all(reach <= c < n - reach for c, n in zip(cell[1:], field[1][1:], strict=True))
            if inside:
                x = tuple(look(field, move(cell, offset), boundary) for offset in reached)
                z = tuple(look(field, move(cell, offset), boundary) for offset in ahead)
                if None not in x and None not in z:
                    index[number, cell] = len(found)
                    found.append((x, z, site, number, cell))
            site += 1
    step = {"time": (1, *(0,) * axes), "space": (*(0,) * axes, 1), None: None}[transitions]
    result = []
    for x, z, site, number, cell in found:
        symbol, successor = None, -1
        if step is not None:
            after = next_cell(cell, fields[number][1], boundary, transitions)
            successor = index.get((number, after), -1)
        if successor >= 0:
            # A cell of the cone at the end of the step, seen from its beginning, is new if the cone there lacks it.
            letters = zip(reached, found[successor][0], strict=True)
            symbol = tuple(letter for offset, letter in letters if move(offset, step) not in reached)
            symbol = symbol[0] if len(symbol) == 1 else symbol
        result.append((x, z, site, symbol, successor))
    return result


def move(cell, offset):
    """Return a cell displaced."""
    return tuple(c + d for c, d in zip(cell, offset, strict=True))


def table(observed):
    """Return x -> {z: how often} and (x, symbol, x') -> how often."""
    counts, steps = {}, {}
    for x, z, _, symbol, successor in observed:
        row = counts.setdefault(x, {})
        row[z] = row.get(z, 0) + 1
        if successor >= 0:
            key = x, symbol, observed[successor][0]
            steps[key] = steps.get(key, 0) + 1
    return counts, steps


def automaton(first, steps, rule):
    """Return the rows of an automaton: rule(look) gives a cell from a function of the offset, on a ring or torus."""
    rows = [first]
    for _ in range(steps - 1):
        before = rows[-1]
        shape = [1 + max(c[k] for c in before) for k in range(len(next(iter(before))))]

        def look_around(cell, before=before, shape=shape):
            def at(*offset):
                return before[tuple((c + d) % n for c, d, n in zip(cell, offset, shape, strict=True))]

            return at

        rows.append({cell: rule(look_around(cell)) for cell in before})
    return rows


def wolfram(rule, colours, radius):
    """Return the rule of a one-dimensional automaton by its number."""

    def follow(at):
        index = 0
        for d in range(-radius, radius + 1):
            index = index * colours + at(d)
        return rule // colours**index % colours

    return follow


def cyclic(colours, threshold, neighbourhood, radius):
    """Return the rule of the cyclic automaton."""

    def follow(at):
        after = (at(0, 0) + 1) % colours
        around = [offset for offset in near(2, radius, neighbourhood) if offset != (0, 0)]
        return after if sum(at(*offset) == after for offset in around) >= threshold else at(0, 0)

    return follow


def life(at):
    """Conway's rule."""
    alive = sum(at(a, b) for a, b in product((-1, 0, 1), repeat=2) if (a, b) != (0, 0))
    return int(alive == 3 or (alive == 2 and at(0, 0) == 1))
