"""How estimators show themselves in a notebook."""

from abc import abstractmethod
from typing import Any

from sklearn.base import BaseEstimator

__all__ = ["Displayed"]


class Displayed(BaseEstimator):
    """An estimator that shows what it found once it is fitted; before that, scikit-learn shows its parameters."""

    @abstractmethod
    def _result_html(self) -> str:
        """HTML of the fitted estimator."""

    def _repr_html_inner(self) -> str:
        html: str = self._result_html() if _is_fitted(self) else super()._repr_html_inner()
        return html

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        # It is not there where the user asked scikit-learn for plain text.
        if "text/html" in bundle and _is_fitted(self):
            bundle["text/html"] = self._result_html()
        return bundle


def _is_fitted(estimator: Any) -> bool:
    return hasattr(estimator, "states_")
