"""Counts with their words."""


def plural(n: int, word: str) -> str:
    """Write a count with its word.

    Examples
    --------
    >>> plural(1, "state"), plural(1200, "state")
    ('1 state', '1,200 states')
    """
    return f"{n:,} {word}{'' if n == 1 else 's'}"
