"""The models of states as estimators of scikit-learn: clone, pipelines, searches over parameters, notebook display."""

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ..decisions.decisional_model import DecisionalModel
from ..states.causal_model import CausalModel
from ..states.state_model import StateModel
from ..support.display import html_of


class _Estimator(BaseEstimator, StateModel):
    """A model with the contract of scikit-learn, which shows what it found once it is fitted."""

    _not_fitted = NotFittedError

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_fitted()

    past: int | str | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.past is None
        return tags

    def _repr_html_inner(self) -> str:
        html: str = html_of(self._kind, self) if self.is_fitted() else super()._repr_html_inner()
        return html

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        # It is not there where the user asked scikit-learn for plain text.
        if "text/html" in bundle and self.is_fitted():
            bundle["text/html"] = html_of(self._kind, self)
        return bundle


class CausalStates(_Estimator, CausalModel):
    __doc__ = CausalModel.__doc__


class DecisionalStates(_Estimator, DecisionalModel):
    __doc__ = DecisionalModel.__doc__
    _causal_model = CausalStates
