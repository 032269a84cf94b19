"""The answers to seeded inputs of every kind are those on file: integers and text to the letter, floats to 1e-12."""

import pytest

import reference

EXPECTED = reference.load()
FOUND = dict(reference.cases())


def test_all_inputs_are_on_file():
    assert list(FOUND) == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_answers(name):
    wrong = reference.differences(FOUND[name](), EXPECTED[name])
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
