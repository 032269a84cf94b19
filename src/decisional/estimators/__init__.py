"""CausalStates, DecisionalStates and ComplexityFeatures for scikit-learn, and values of each observation on disk.

- `scikit_learn`: the models of `states` and `decisions` as estimators
- `features`: complexities of whole series as features
- `write_values`: labels, local complexities and utilities on the data's grid, slice by slice

Nothing is imported here: `write_values` does without scikit-learn.
"""

from typing import TYPE_CHECKING

from ..support.rooms import modules_of

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
