"""Watching a stream: send over a radio link now, slowly, or wait?

The link delivers a packet (".") or loses it ("x"); losses come in bursts. What a slot is worth: a packet at full rate
brings 1 if it is delivered and costs 2 if it is lost, one at a low rate brings 0.4 or costs 0.3, waiting costs nothing.
States and decisions are learnt from a log; a monitor then follows the live link, and speaks only when the advice
changes. Half-way the program stops; what it saved goes on from there.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import decisional as ds

LINK = ds.EpsilonMachine(
    [
        *[("good", ".", "good", 0.97), ("good", "x", "bad", 0.03)],
        *[("bad", "x", "bad", 0.7), ("bad", ".", "fading", 0.3)],
        *[("fading", ".", "good", 0.65), ("fading", "x", "bad", 0.35)],
    ]
)


def main(out: Path | None = None) -> dict[str, float]:
    """Print the decisions and the events of the stream; with a folder, save the picture there."""
    log = "".join(LINK.simulate(20_000, rng=1))
    worth = ds.utility.table([[1, -2], [0.4, -0.3], [0, 0]], y=["send", "slow", "wait"], z=[".", "x"])
    choice = ds.DecisionalStates(worth).fit(ds.CausalStates().fit(ds.observe.series(log, past=5)))
    print(f"{choice.n_states_} decisions, {choice.expected_utility_:.2f} per slot on average")

    stream = "".join(LINK.simulate(120, rng=4))
    with TemporaryDirectory() as folder:
        saved = Path(folder) / "monitor.json"
        monitor = ds.Monitor(choice)
        events = [*monitor.feed(stream[:60])]
        monitor.save(saved)  # the program stops here ...
        events += ds.Monitor.load(saved).feed(stream[60:])  # ... and another one goes on
    for event in events:
        print(event)

    result = choice.regret("".join(LINK.simulate(20_000, rng=2)))
    print(
        f"new data: {result.obtained:.2f} per slot, best fixed {result.best_fixed:.2f}, foresight {result.perfect:.2f}"
    )
    if out is not None:
        ds.plot.save(ds.plot.events(choice, stream, stop=120), out / "link.png")
    return {"obtained": result.obtained, "fixed": result.best_fixed, "perfect": result.perfect}


if __name__ == "__main__":
    main(Path.cwd())
