"""What programs that are interrupted by a test need."""

import signal


def listening() -> None:
    """Take Ctrl-C: a shell that started the tests in the background may have told them to ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
