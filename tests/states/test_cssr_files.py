"""What the program CSSR writes of its states."""

import math

import pytest

from decisional import baselines, processes


def test_result_of_the_program() -> None:
    symbols = "".join(map(str, processes.even().simulate(5_000, rng=1).tolist()))
    found = baselines.cssr_result([symbols, symbols[:100]], past=3, alphabet="210")
    assert set(found.machine.alphabet) == {"0", "1"}
    assert found.targets.shape == found.emission.shape == (found.machine.n_states, 3)
    assert (found.targets[:, 0] == -1).all()
    assert [len(walk) for walk in found.walks] == [5_000, 100]
    assert found.probability.sum() == pytest.approx(1)
    assert 0 <= found.relative_entropy < 0.1
    assert 0 <= found.relative_entropy_rate < 0.1
    assert 0 <= found.variation < 0.2
    assert "Alphabet Size: 3\n" in found.info({"Data File": "x"})


@pytest.mark.parametrize("n", [200, 201, 208])
def test_distances_are_those_of_the_windows(n: int) -> None:
    """The words that have a next symbol, and those of the machine, by their definition; also for 200 = 8 modulo 16."""
    symbols = "".join(map(str, processes.golden_mean().simulate(n, rng=3).tolist()))
    found = baselines.cssr_result([symbols], past=2)
    words = [symbols[i : i + 2] for i in range(n - 2)]
    seen = {word: words.count(word) / len(words) for word in set(words)}
    given = dict.fromkeys(seen, 0.0)
    for word in given:
        for state in range(found.machine.n_states):
            p, at = found.probability[state], state
            for symbol in word:
                p, at = p * found.emission[at, int(symbol)], found.targets[at, int(symbol)]
                if at < 0:
                    break
            given[word] += p
    entropy = sum(p * math.log2(p / given[word]) for word, p in seen.items())
    assert found.relative_entropy == pytest.approx(entropy, abs=1e-12)
    assert found.variation == pytest.approx(sum(abs(p - given[word]) for word, p in seen.items()), abs=1e-12)


@pytest.mark.small
def test_refusals() -> None:
    with pytest.raises(ValueError, match="'alphabet' must have each symbol once"):
        baselines.cssr_result(["01"], 1, alphabet="011")
    with pytest.raises(ValueError, match="'lines' have the symbol '1'"):
        baselines.cssr_result(["01"], 1, alphabet="0")
