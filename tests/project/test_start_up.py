"""Machines, states and decisions are found without scikit-learn, scipy.stats and pandas, which are slow to import."""

import subprocess
import sys

import pytest

HEAVY = ("sklearn", "scipy.stats", "pandas", "matplotlib")
MACHINE = "ds.epsilon_machine('0110111101' * 100)"
DECISIONS = """
from decisional.decisions.decisional_model import DecisionalModel
from decisional.states.causal_model import CausalModel

causal = CausalModel().fit(ds.observe.series('0110111101' * 100, past=3))
choice = DecisionalModel(ds.utility.zero_one()).fit(causal)
choice.decide('0110'), choice.regret('0110'), choice.events(), causal.labels_
ds.Monitor(choice).feed('0110')
with tempfile.TemporaryDirectory() as folder:
    ds.write_values(choice, folder + '/labels.npy')
"""


@pytest.mark.parametrize("code", [MACHINE, DECISIONS])
def test_heavy_modules_are_left_alone(code: str) -> None:
    program = f"import sys, tempfile\nimport decisional as ds\n{code}\nprint([m for m in {HEAVY} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
