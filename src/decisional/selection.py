"""The machine of a series without parameters: all candidates, the choice, and how sure it is."""

from .states.selection import Bootstrap, Candidate, Selection, bootstrap, epsilon_machine, select

__all__ = ["Bootstrap", "Candidate", "Selection", "bootstrap", "epsilon_machine", "select"]
