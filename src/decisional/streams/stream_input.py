"""What a monitor is fed with from a file, a pipe or standard input, as it comes: plain symbols, or a column of a table.

What was seen is remembered by a checksum, by which a stream that is given again from its beginning is known.
"""

import os
import zlib
from collections.abc import Iterator
from typing import Any

from ..data.row_stream import CUT, RowStream, StreamRows
from ..support.files import file_name, text_stream
from .monitor import Monitor

# Bytes that are read at once.
CHUNK = 1 << 16
# Endings of the names of tables.
TABLES = (".csv", ".tsv", ".tab")


class StreamInput:
    """Symbols for a monitor, in the order of the stream, as many at once as there are.

    Parameters
    ----------
    monitor : Monitor
        The one that is fed: its alphabet tells whether symbols are characters or words.
    path : str, default="-"
        A file, a pipe, or "-" for standard input.
    table : dict, optional
        What `RowStream` is told of a table: column, time, step, missing, delimiter, header. Files that are called
        tables are read as such without it.
    skip_seen : bool, default=False
        The stream is given from its beginning: what the monitor has seen is skipped, and refused if it is not the same.
    goes_on : bool, default=False
        More may come in another run: a last line of a table without line end is left for it.
    """

    def __init__(
        self,
        monitor: Monitor,
        path: str = "-",
        table: dict[str, Any] | None = None,
        skip_seen: bool = False,
        goes_on: bool = False,
    ) -> None:
        self.monitor, self.path, self.name, self._goes_on = monitor, path, file_name(path), goes_on
        if table is None and is_called_table(path):
            table = {}
        before = monitor.source or {}
        if monitor.source is not None and (table is None) != ("table" not in before):
            raise ValueError(
                f"The {self.name} is read as {'symbols' if table is None else 'a table'}, and the monitor was fed with "
                f"{'a table' if table is None else 'symbols'} before: give the same options, or start anew."
            )
        place = None if skip_seen else before.get("table")
        self._rows = None
        if table is not None:
            self._rows = RowStream(self.name, **table, known=monitor.alphabet or (), place=place)
        self._place = before.get("table")
        # A monitor that was fed otherwise does not know what it has seen.
        known = 0 if monitor.position == 0 else None
        self._seen: int | None = before.get("seen", known)
        self._skip = monitor.position if skip_seen else 0

    def __iter__(self) -> Iterator[StreamRows]:
        skip, check = self._skip, 0
        for rows in self._all():
            passed = rows.symbols[:skip]
            skip, check = skip - len(passed), _checksum(passed, check)
            if passed and not skip:
                self._compare(check)
            if len(passed) < len(rows.symbols):
                yield rows.part(len(passed))
        if skip:
            raise ValueError(
                f"The {self.name} has {self._skip - skip} symbols and {self._skip} were seen, which must come first: "
                "give the whole stream, or, where it was cut or replaced, only what is new without 'skip_seen'."
            )

    def _compare(self, check: int) -> None:
        """Refuse a stream that does not begin with what was seen."""
        if self._seen not in (None, check):
            raise ValueError(
                f"The {self.name} begins with other symbols than the {self._skip} that were seen, which must come "
                "first: give the whole stream, or, where it was cut or replaced, only what is new without 'skip_seen'."
            )
        self._seen = check

    def _all(self) -> Iterator[StreamRows]:
        if self._rows is None:
            yield from self._plain()
            return
        for text in text_stream(self.path, CHUNK):
            yield self._rows.take(text)
        yield self._rows.end(not self._goes_on)

    def _plain(self) -> Iterator[StreamRows]:
        """Characters, or words between white space and commas where a symbol has several characters."""
        alphabet = self.monitor.alphabet
        words = alphabet is None or any(len(str(symbol)) != 1 for symbol in alphabet)
        rest = ""
        for text in text_stream(self.path, CHUNK):
            parts = (rest + text).replace(",", " ")
            found = parts.split() if words else list("".join(parts.split()))
            # The last word may go on.
            rest = found.pop() if words and found and not parts[-1].isspace() else ""
            yield StreamRows.of(found)
        yield StreamRows.of([rest] if rest else [])

    def note(self, rows: StreamRows, taken: int) -> None:
        """Tell the monitor that it took the first of some rows, to be saved with it."""
        rows = rows.part(0, taken)
        self._seen = None if self._seen is None else _checksum(rows.symbols, self._seen)
        source: dict[str, Any] = {} if self._seen is None else {"seen": self._seen}
        if self._rows is not None:
            self._place = self._rows.place(rows) or self._place
            source["table"] = self._place
        self.monitor.source = source


def is_called_table(path: str) -> bool:
    """Whether the name of a file is that of a table of text, compressed or not."""
    name, ending = os.path.splitext(path.lower())
    return (name if ending in (".gz", ".bz2", ".xz") else path.lower()).endswith(TABLES)


def _checksum(symbols: list[Any], before: int) -> int:
    """That of all symbols so far, however they are cut."""
    marks = ("\0" if symbol is None else "\1" if symbol is CUT else str(symbol) for symbol in symbols)
    return zlib.crc32("".join(mark + "\n" for mark in marks).encode(errors="surrogatepass"), before)
