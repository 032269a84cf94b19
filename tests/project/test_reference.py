"""The answers to seeded inputs of every kind are those on file: integers and text to the letter, floats to 1e-12."""

import pytest

import reference

EXPECTED = reference.load()
FOUND = dict(reference.cases())
KNOWN = (
    "decisional: There is no process 'nothing': choose one of coin, biased_coin, golden_mean, even, odd, "
    "noisy_period_2, perturbed_coin, periodic, z1r, rrxor, rip, nemo, nrps, butterfly, restricted_golden_mean"
)
MORE = "alternating_biased_coins, rk_golden_mean, noisy_copy, multiples, irreversible, ehrenfest, ising, tent_map"
INFO = "/info: {!r} instead of {!r}".format(
    *(
        "Alphabet File: alphabet\nData File: even.txt\nHistory Length: 4\nSignificance Level: 0.001\n"
        "Multiline Mode: false\nChi-squared test used: false\nAlphabet Size: 2\n"
        f"Relative Entropy: {entropy}\nRelative Entropy Rate: {rate}\nStatistical Complexity: 0.918962\n"
        f"Entropy Rate: 0.665998\nVariation: {variation}\nNumber of Inferred States: 2\n"
        for entropy, rate, variation in (
            ("0.000366633", "0.000121791", "0.0196901"),
            ("0", "0.00012175", "0.0196555"),
        )
    )
)
# All that differs from the answers on file, because a defect was mended or a list is longer.
MENDED = {
    # A machine built by hand has its symbols in the order of the data, (1, 'b'), whatever the order of its rows.
    "monitors": {
        "/mixed/then/machine/targets/ints[0]: 1 instead of 0",
        "/mixed/then/machine/targets/ints[1]: 0 instead of 1",
        "/mixed/then/machine/targets/ints[2]: 0 instead of -1",
        "/mixed/then/machine/targets/ints[3]: -1 instead of 0",
        "/mixed/then/machine/emission/floats[2]: 1.0 instead of 0.0",
        "/mixed/then/machine/emission/floats[3]: 0.0 instead of 1.0",
        "/mixed/then/machine/alphabet[0]: '1' instead of \"'b'\"",
        "/mixed/then/machine/alphabet[1]: \"'b'\" instead of '1'",
    },
    # The relative entropy of CSSR divides by the windows that are counted.
    "command_data": {
        f'/help/errors[0]: "{KNOWN}, {MORE}." instead of "{KNOWN}."',
        "/cssr/out[11]: 'Variation: 0.0196901' instead of 'Variation: 0.0196555'",
        "/cssr/out[7]: 'Relative Entropy: 0.000366633' instead of 'Relative Entropy: 0'",
        "/cssr/out[8]: 'Relative Entropy Rate: 0.000121791' instead of 'Relative Entropy Rate: 0.00012175'",
        INFO,
        # Equally probable states are numbered by what they are seen with, not by names of symbols.
        "/f.npy/sha256: '921086bacdb3459717c4d1967afe9edf0494cb579c7b1db049fc50b7db77001e' instead of "
        "'53f48c7cb9ea12faf3677ba7f8b7d5a2437f85ce611b1ac655798c5a796b512d'",
    },
    # Files of estimated machines have the uses of edges, and whether these smooth.
    "machine_formats": {"/learnt/keys: 9 items instead of 7"},
    # χ and the two orders are told too.
    "command_symbols": {
        "/chunks/out: 22 items instead of 19",
        "/column/out: 26 items instead of 23",
        "/free/out: 21 items instead of 18",
        "/options/out: 22 items instead of 19",
        "/past/out: 24 items instead of 21",
        "/json/counts: only in one of them",
        "/json/smoothed: only in one of them",
    },
    # Files of monitors have a digest.
    "command_decisions": {"/monitor/check: only in one of them", "/monitor/version: 3 instead of 1"},
}


def test_all_inputs_are_on_file():
    assert list(FOUND) == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_answers(name):
    found = reference.differences(FOUND[name](), EXPECTED[name])
    wrong = sorted(MENDED.get(name, set()).symmetric_difference(found))
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:40])


@pytest.mark.parametrize("name", ["series_text", "epsilon_machines", "decisions_of_series"])
def test_other_answers_are_noticed(name):
    def changed(value):
        """Each leaf in turn is another one."""
        if isinstance(value, dict):
            for key in value:
                yield from ({**value, key: item} for item in changed(value[key]))
        elif isinstance(value, list):
            for k in range(min(len(value), 3)):
                yield from ([*value[:k], item, *value[k + 1 :]] for item in changed(value[k]))
        elif isinstance(value, bool) or value is None:
            yield 5
        elif isinstance(value, str):
            yield value + "."
        elif value != value:
            yield 0.0
        else:
            yield value + (1 if isinstance(value, int) else 1e-10 * max(1.0, abs(value)))

    expected = EXPECTED[name]
    others = [other for _, other in zip(range(200), changed(expected), strict=False)]
    assert len(others) > 20
    assert all(reference.differences(other, expected) for other in others)
    assert not reference.differences(expected, expected)
