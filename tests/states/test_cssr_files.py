"""What the program CSSR writes of its states."""

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


@pytest.mark.small
def test_refusals() -> None:
    with pytest.raises(ValueError, match="'alphabet' must have each symbol once"):
        baselines.cssr_result(["01"], 1, alphabet="011")
    with pytest.raises(ValueError, match="'lines' have the symbol '1'"):
        baselines.cssr_result(["01"], 1, alphabet="0")
