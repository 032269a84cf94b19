"""Counts of slices with dicts, data of every kind with any slicing, and what "bit for bit" means: shared by the tests
of slices, tallies, stores and executors."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
from hypothesis import strategies as st

import decisional as ds

# ------------------------------------------------------------------------------------------------ oracle


def value_of(vocabulary, row):
    """Return an entry of a vocabulary by value: a tuple of letters, or of numbers."""
    word = vocabulary.words([row])[0].tolist()
    return tuple(vocabulary.letters[code] for code in word) if vocabulary.letters else tuple(word)


def as_dicts(tally):
    """Return {(x, z): count} and {(x, symbol, x'): count} (None without own steps), all by value."""
    x = [value_of(tally.x, row) for row in range(len(tally.x))]
    z = [value_of(tally.z, row) for row in range(len(tally.z))]
    assert len(set(x)) == len(x)
    assert len(set(z)) == len(z)
    pairs = {}
    for pair, n in zip(tally.pairs.tolist(), tally.counts.tolist(), strict=True):
        pairs[x[pair // len(z)], z[pair % len(z)]] = n
    assert len(pairs) == tally.pairs.size
    if tally.steps is None:
        return pairs, None
    name = [()] if tally.symbols is None else [value_of(tally.symbols, row) for row in range(len(tally.symbols))]
    columns = [getattr(tally.steps, c).tolist() for c in ("source", "symbol", "target", "count")]
    steps = {(x[i], name[a], x[j]): n for i, a, j, n in zip(*columns, strict=True)}
    assert len(steps) == tally.steps.count.size
    return pairs, steps


def added(*dicts):
    """Return the sum of counts by key; None where there are none."""
    return None if None in dicts else dict(sum(map(Counter, dicts), Counter()))


# -------------------------------------------------------------------------------------------- comparisons


def equal(a, b):
    """Compare arrays in values, shape and kind; anything else as it is."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        np.testing.assert_array_equal(a, b, strict=False)
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype.kind == np.asarray(b).dtype.kind
    else:
        assert a == b


def same_steps(a, b):
    assert (a is None) == (b is None)
    if a is not None:
        for name in ("source", "symbol", "target", "count"):
            equal(getattr(a, name), getattr(b, name))


def same_vocabulary(a, b):
    assert type(a) is type(b)
    assert a.letters == b.letters
    equal(getattr(a, "keys", None), getattr(b, "keys", None))
    equal(getattr(a, "rows", None), getattr(b, "rows", None))


def same_tally(a, b):
    """Bit for bit."""
    assert (a.kind, a.made, a.slices, a.n) == (b.kind, b.made, b.slices, b.n)
    same_vocabulary(a.x, b.x)
    same_vocabulary(a.z, b.z)
    for name in ("pairs", "counts", "patterns", "weight"):
        equal(getattr(a, name), getattr(b, name))
    assert (a.symbols is None) == (b.symbols is None)
    if a.symbols is not None:
        same_vocabulary(a.symbols, b.symbols)
    same_steps(a.steps, b.steps)
    assert (a.dependence is None) == (b.dependence is None)
    if a.dependence is not None:
        assert (a.dependence.nesting, a.dependence.n_regions) == (b.dependence.nesting, b.dependence.n_regions)
        for one, two in zip(
            (*a.dependence.apart, *a.dependence.regional), (*b.dependence.apart, *b.dependence.regional), strict=True
        ):
            equal(one, two)
    assert list(a.spell(a.z)) == list(b.spell(b.z))


def same_counts(whole, other):
    """Compare what follows from counts, in observations."""
    for name in ("kind", "overlap", "has_suffixes", "n", "past", "future", "letters", "alphabet"):
        assert getattr(whole, name) == getattr(other, name), name
    assert list(whole.outcomes) == list(other.outcomes)
    one, two = whole.table(), other.table()
    for name in ("start", "outcome", "count", "shared", "weight"):
        equal(getattr(one, name), getattr(two, name))
    assert one.n_outcomes == two.n_outcomes
    same_steps(one.steps, two.steps)
    rows = np.arange(one.n_x)
    equal(whole.words(rows), other.words(rows))
    for name in ("points", "targets"):
        equal(getattr(whole, name), getattr(other, name))


def same_observations(whole, other):
    same_counts(whole, other)
    assert whole.shape == other.shape
    for name in ("x", "z", "site"):
        equal(getattr(whole, name), getattr(other, name))


def same_graph(a, b):
    assert (a is None) == (b is None)
    if a is not None:
        assert a.names == b.names
        equal(a.matrix.toarray(), b.matrix.toarray())
        equal(a.weight, b.weight)


def same_machine(a, b):
    assert (a is None) == (b is None)
    if a is not None:
        assert (a.alphabet, a.names) == (b.alphabet, b.names)
        for name in ("targets", "emission", "weights", "stationary"):
            equal(getattr(a, name), getattr(b, name))


def same_partition(a, b):
    equal(a.labels, b.labels)
    equal(a.probability, b.probability)


def same_states(a, b, labels=True):
    """Compare fitted causal states bit for bit; `labels`: those of each observation too."""
    assert (a.n_states_, a.converged_, a.unresolved_) == (b.n_states_, b.converged_, b.unresolved_)
    assert (a.complexity_, a.recurrent_complexity_) == (b.complexity_, b.recurrent_complexity_)
    same_partition(a.states_, b.states_)
    equal(a.distributions_, b.distributions_)
    assert list(a.outcomes_) == list(b.outcomes_)
    same_machine(a.machine_, b.machine_)
    same_graph(a.graph_, b.graph_)
    if labels:
        equal(a.labels_, b.labels_)
        equal(a.local_complexity_, b.local_complexity_)


def same_decisions(a, b, labels=True):
    """Compare decisional states of two causal states."""
    one, two = (ds.DecisionalStates(ds.utility.zero_one()).fit(causal) for causal in (a, b))
    for name in ("states_", "iso_prediction_", "iso_utility_"):
        same_partition(getattr(one, name), getattr(two, name))
    assert list(one.predictions_) == list(two.predictions_)
    equal(one.utility_, two.utility_)
    for name in ("n_states_", "expected_utility_", "complexity_", "prediction_complexity_", "utility_complexity_"):
        assert getattr(one, name) == getattr(two, name)
    same_graph(one.graph_, two.graph_)
    if labels:
        equal(one.labels_, two.labels_)
        equal(one.local_utility_, two.local_utility_)


def attempt(function, *args):
    """Return a result, or the kind of the error that stood in its way."""
    try:
        return function(*args)
    except (ValueError, TypeError) as error:
        return type(error)


# ---------------------------------------------------------------------------------------------------- data
# A case is a function of `chunks` alone: partial(ds.observe.series, ...), and so on.

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def recurrent(rng, n, letters):
    """Return symbols with stretches that come again, so that windows recur."""
    stretch = rng.integers(0, letters, max(n // 3, 1))
    return np.resize(np.concatenate([stretch, stretch, rng.integers(0, letters, n)]), n)


@st.composite
def series_cases(draw, long=False):
    """Symbol series of all kinds."""
    rng, letters = draw(seeds), draw(st.integers(1, 4))
    kind = draw(st.sampled_from(["text", "bytes", "hashables", "integers", "rows", "masked", "floats"]))
    options = {"past": draw(st.integers(1, 5)), "future": draw(st.integers(1, 3) | st.just(1))}
    if long:
        options["past"] = draw(st.integers(60, 75))
    least = 30 + options["past"]
    codes = [recurrent(rng, least + draw(st.integers(0, 40)), letters) for _ in range(draw(st.integers(1, 3)))]
    # A letter that few slices have, one that stands between gaps (code -1), and a whole slice of gaps.
    codes[0][rng.integers(0, least)] = letters
    if draw(st.booleans()):
        at = rng.integers(1, least - 8)
        codes[-1][at - 1 : at + 2] = [-1, letters + 1, -1]
        codes[-1][at + 3 : at + 8] = -1
    data, more = as_symbols(draw, kind, codes)
    return partial(ds.observe.series, data, **options, **more)


def as_symbols(draw, kind, codes):
    """Return coded sequences as data of a kind, and the options that these need."""
    first = draw(st.sampled_from([0, 3, 250, 40000]))
    if kind in ("text", "bytes"):
        characters = draw(st.sampled_from(["abcdef?", "01234 \n", "zaybxc_"] + ["αβγδεζ∅"] * (kind == "text")))
        data = ["".join(characters[code] for code in part) for part in codes]
        missing = characters[-1]
        if kind == "bytes":
            data, missing = [part.encode() for part in data], missing.encode()
        return (data[0] if len(data) == 1 else data), {"missing": missing, "sequences": len(data) > 1}
    if kind == "hashables":
        names = draw(
            st.sampled_from([("b", (1, "x"), 10, 9, b"z", frozenset()), tuple("qponml"), (7, 11, -3, 2, 0, 5)])
        )
        data = [[None if code < 0 else names[code] for code in part] for part in codes]
        return (data[0] if len(data) == 1 else data), {}
    if kind == "floats":
        data = [np.where(part < 0, np.nan, part + float(first)) for part in codes]
        return (data[0] if len(data) == 1 else data), {}
    if kind == "masked":
        return [np.ma.masked_less(part, 0) for part in codes], {}
    dtype = draw(st.sampled_from([np.int16, np.int32, np.int64, np.uint16, np.uint32, np.uint64, np.uint8, np.int8]))
    shift = min(first, np.iinfo(dtype).max - 10)
    data = [(part + shift + 1).astype(dtype) for part in codes]
    if kind == "rows":
        width = min(map(len, data)) // 2
        data = [np.concatenate([part[: 2 * width].reshape(2, width) for part in data])]
    return (data[0] if len(data) == 1 else data), {"missing": shift}


@st.composite
def field_cases(draw):
    """Fields of 1 to 3 space axes."""
    rng, axes = draw(seeds), draw(st.sampled_from([1, 1, 2, 3]))
    options = {
        "past": draw(st.integers(1, {1: 3, 2: 2, 3: 1}[axes])),
        "future": draw(st.integers(2, 3 if axes == 1 else 2)),
        "boundary": draw(st.sampled_from(["periodic", "open", "reflect"])),
        "transitions": draw(st.sampled_from([None, "time", "space"])),
        "include_present": draw(st.booleans()),
        "past_row_only": draw(st.booleans()),
    }
    space = tuple(draw(st.integers(5, 7)) if axes < 3 else 3 for _ in range(axes))
    low, fields, masks = draw(st.sampled_from([0, -2, 250, 1 << 20])), [], []
    for _ in range(draw(st.integers(1, 3))):
        steps = draw(st.integers(6, 14))
        few = rng.integers(0, 2, (3, *space))
        field = few[rng.integers(0, 3, steps)]
        field[rng.integers(0, steps)] = rng.integers(0, 4, space)  # letters that few slices have
        fields.append((field + low).astype(draw(st.sampled_from([np.int64, np.int32]))))
        mask = rng.random(field.shape) < 0.02
        mask[: draw(st.sampled_from([0, 0, 4]))] = True  # slices without a known cell
        masks.append(mask if draw(st.booleans()) else None)
    several = len(fields) > 1
    return partial(
        ds.observe.light_cones, fields if several else fields[0], mask=masks if several else masks[0], **options
    )


@st.composite
def image_cases(draw):
    """Grey images with any border and block."""
    rng, width = draw(seeds), draw(st.integers(5, 9))
    kind = draw(st.sampled_from([np.uint8, np.int16, np.int64, float, np.uint16]))
    images = []
    for _ in range(draw(st.integers(1, 3))):
        grey = rng.integers(0, 3, (draw(st.integers(5, 12)), width))
        if draw(st.booleans()):
            grey[rng.integers(0, len(grey))] *= 100  # some slices need more bits than others
        images.append(grey.astype(kind) * draw(st.sampled_from([1, 1, 60] if kind is np.uint16 else [1])))
    options = {
        "neighbourhood": draw(st.sampled_from(["rounded5x5", "3x3", "cross", "5x5"])),
        "subtract_min": draw(st.booleans()),
        "border": draw(st.sampled_from(["interior", "mirror"])),
    }
    options["block"] = draw(st.sampled_from([1, 3])) if options["neighbourhood"] in ("rounded5x5", "5x5") else 1
    return partial(ds.observe.image, images if len(images) > 1 else images[0], **options)


@st.composite
def delay_cases(draw):
    """Continuous series with gaps, lags and several variables."""
    rng, width = draw(seeds), draw(st.sampled_from([0, 0, 1, 2, 3]))
    signals = []
    for _ in range(draw(st.integers(1, 3))):
        values = rng.integers(-4, 5, (draw(st.integers(8, 40)), max(width, 1))) / 4 * rng.choice([1.0, -1.0])
        values[rng.random(values.shape) < draw(st.sampled_from([0.0, 0.05]))] = np.nan
        signals.append(values if width else values[:, 0])
    options = {"future": draw(st.integers(1, 2)), "difference": draw(st.booleans()), "step": draw(st.integers(1, 2))}
    if draw(st.booleans()):
        options["lags"] = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True))
    else:
        options["past"] = draw(st.integers(1, 3))
    if width > 1 and draw(st.booleans()):
        options["target"] = draw(st.integers(-width, width - 1))
    if draw(st.booleans()):
        known = [rng.integers(-4, 5, (len(values), 2)) / 4 for values in signals]
        options["inputs"] = known if len(known) > 1 else known[0]
    return partial(ds.observe.delays, signals if len(signals) > 1 else signals[0], **options)


@st.composite
def pair_cases(draw):
    """Pairs of values or vectors, some missing, with or without symbols."""
    rng, n = draw(seeds), draw(st.integers(2, 40))
    kind = draw(st.sampled_from(["values", "words", "rows", "numbers", "vectors"]))
    lost = draw(st.sampled_from([0.0, 0.2, 0.5]))
    code = rng.integers(0, 4, n)
    code[rng.integers(0, n)] = 5
    if kind == "values":
        x = [None if gone else int(c) for c, gone in zip(code, rng.random(n) < lost, strict=True)]
    elif kind == "words":
        names = ["b", "a", (1, 2), 30, 4, b"c"]
        x = [None if gone else names[c] for c, gone in zip(code, rng.random(n) < lost, strict=True)]
    elif kind == "rows":
        x = np.stack([code, code[::-1] % 2], axis=1)
    else:
        x = np.where(rng.random(n) < lost, np.nan, code + rng.integers(0, 2, n) / 2)
        x = np.stack([x, x[::-1]], axis=1) if kind == "vectors" else x
    kinds = draw(st.booleans())
    outcome = rng.integers(0, 3, n)
    if kinds:
        z = [None if gone else "uvw"[c] for c, gone in zip(outcome, rng.random(n) < lost, strict=True)]
    else:
        z = np.where(rng.random(n) < lost, np.nan, outcome / (2 if draw(st.booleans()) else 1))
        z = np.stack([z, z], axis=1) if draw(st.booleans()) else z
    symbols = None
    if draw(st.booleans()):
        symbols = [None if gone else "xyz"[c] for c, gone in zip(code % 3, rng.random(n) < lost, strict=True)]
        symbols = symbols[: n - draw(st.integers(0, 1))]
    return partial(ds.observe.pairs, x, z, symbols)


KINDS = {
    "series": series_cases(),
    "long words": series_cases(long=True),
    "fields": field_cases(),
    "images": image_cases(),
    "delays": delay_cases(),
    "pairs": pair_cases(),
}
