"""The time line of a stream by the letter: every position is kept."""

from collections import defaultdict


def bins(history, width, most, kinds, begin=0):
    """Bins of a width as {number: (positions with each label, worth, changes)}: the last `most`.

    `history` has (label, worth, changed) of each position from `begin` on; labels from `kinds` on are one, "other".
    """
    found = defaultdict(lambda: [defaultdict(int), 0.0, 0])
    for place, (label, worth, changed) in enumerate(history, start=begin):
        entry = found[place // width]
        entry[0]["none" if label < 0 else "other" if label >= kinds else label] += 1
        entry[1] += worth if label >= 0 else 0.0
        entry[2] += bool(changed)
    last = (begin + len(history) - 1) // width
    return {number: (dict(entry[0]), *entry[1:]) for number, entry in found.items() if number > last - most}


def standing(events, begin, end, label=-1, worth=float("nan")):
    """(label, worth, changed) of each position from begin up to end, after events as dicts of JSON."""
    at = {event["position"]: event for event in events}
    history = []
    for place in range(begin, end):
        if place in at:
            label, worth = at[place].get("after", -1), at[place].get("utility", float("nan"))
        history.append((label, worth, place in at))
    return history
