"""The results of a study in a file: a line of JSON for each scenario, in order, so that a stopped run goes on.

What is in the file is always the beginning of the whole; a line that was torn by a full disk or a kill is written anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from schedctl.errors import UsageError
from schedctl.reports.sweeps import SweepHead, SweepRow

PARQUET = ".parquet"
_ROWS_IN_GROUP = 50_000
_HEADS = msgspec.json.Decoder(SweepHead)
_ROWS = msgspec.json.Decoder(SweepRow)
_ENCODER = msgspec.json.Encoder()


class ResultsFile:
    """The file while a study is run.

    Attributes:
        path: the file.
        done: how many scenarios it has.
    """

    def __init__(self, path: str, head: SweepHead, *, anew: bool = False) -> None:
        """Open a file to go on with it, or begin it.

        Args:
            path: the file.
            head: of the study.
            anew: whether what is there is thrown away.

        Raises:
            UsageError: it has the results of another study, or cannot be written.
        """
        self.path, self.done, self._head = path, 0, head
        end = 0
        try:
            if not anew and Path(path).is_file():
                end = self._find_end()
            self._file = Path(path).open("r+b" if end else "wb")  # noqa: SIM115 - closed on exit
        except OSError as error:
            raise self._fault(error) from None
        try:
            if end:
                self._file.truncate(end)
                self._file.seek(end)
            else:
                self._write(head)
        except OSError as error:
            self._close()
            raise self._fault(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, traceback: TracebackType | None
    ) -> None:
        error = self._close()
        if error is not None and kind is None:
            raise self._fault(error) from None

    def add(self, row: SweepRow) -> None:
        """Write the row of the next scenario.

        Raises:
            UsageError: it cannot be written, e.g. since the disk is full; what was written before is kept.
        """
        try:
            self._write(row)
        except OSError as error:
            raise self._fault(error) from None
        self.done += 1

    def _close(self) -> OSError | None:
        """Close the file, and return what came of writing what was left to be written."""
        try:
            self._file.close()
        except OSError as error:
            return error
        return None

    def _write(self, line: SweepHead | SweepRow) -> None:
        self._file.write(_ENCODER.encode(line) + b"\n")
        self._file.flush()  # a scenario that somebody waited for is not lost with the process

    def _find_end(self) -> int:
        """Return where the last whole line ends, and count the rows."""
        end = 0
        with Path(self.path).open("rb") as file:
            for number, line in enumerate(file):
                try:
                    if number == 0:
                        self._check_head(_HEADS.decode(line))
                    elif not line.endswith(b"\n") or _ROWS.decode(line).scenario != number - 1:
                        break
                except msgspec.DecodeError:
                    if number == 0:
                        hint = "name another file, or `--restart` to write over it"
                        raise UsageError(f"{self.path} has no results of a study", hint) from None
                    break
                end += len(line)
                self.done = number
        return end

    def _check_head(self, found: SweepHead) -> None:
        if found == self._head:
            return
        if found.study != self._head.study:
            what = f"the results of study {found.study}"
        elif found.tool_version != self._head.tool_version:
            what = f"results of schedctl {found.tool_version}"
        else:
            what = "results of this study before it, or a file that it reads, was changed"
        raise UsageError(f"{self.path} has {what}", "name another file, or `--restart` to begin again")

    def _fault(self, error: OSError) -> UsageError:
        reason = (error.strerror or str(error)).lower()
        kept = f"; {self.done} of {self._head.scenarios} scenarios are kept" if self.done else ""
        hint = "make room, and run the same command: it goes on there" if self.done else ""
        return UsageError(f"the results cannot be written to {self.path}: {reason}{kept}", hint)


def rows_of(path: str) -> Iterator[SweepRow]:
    """Yield the rows of a file that was written here."""
    with Path(path).open("rb") as file:
        next(file)
        yield from map(_ROWS.decode, file)


def require_parquet() -> None:
    """Hold up a study whose results could not be written.

    Raises:
        UsageError: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise UsageError("Parquet needs pyarrow", "`pip install 'schedctl[parquet]'`, or name a .jsonl file") from None


def write_parquet(source: str, target: str) -> None:
    """Write the rows of a file as Parquet: a column for each axis and each value.

    Args:
        source: the lines of JSON.
        target: the file.

    Raises:
        UsageError: it cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    axes: dict[str, object] = {}
    values: dict[str, None] = {}
    for row in rows_of(source):
        for name, label in row.axes.items():
            is_text = isinstance(label, str) or axes.get(name) == pa.string()
            axes[name] = pa.string() if is_text else pa.int64()
        values |= dict.fromkeys(row.values)
    schema = pa.schema(
        [
            ("scenario", pa.int64()),
            *((f"axis.{name}", kind) for name, kind in axes.items()),
            *((name, pa.float64()) for name in values),
            ("pending.pods", pa.list_(pa.string())),
            ("error", pa.string()),
        ]
    )
    try:
        with pq.ParquetWriter(target, schema) as writer:
            for rows in _groups(source):
                flat = [_flat(row, axes, values) for row in rows]
                writer.write_table(pa.Table.from_pylist(flat, schema=schema))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"the results cannot be written to {target}: {reason}", f"{source} has all of them") from None


def _groups(source: str) -> Iterator[list[SweepRow]]:
    group: list[SweepRow] = []
    for row in rows_of(source):
        group.append(row)
        if len(group) == _ROWS_IN_GROUP:
            yield group
            group = []
    if group:
        yield group


def _flat(row: SweepRow, axes: dict[str, object], values: dict[str, None]) -> dict[str, object]:
    import pyarrow as pa

    labels = {
        f"axis.{name}": str(row.axes.get(name)) if kind == pa.string() else row.axes.get(name)
        for name, kind in axes.items()
    }
    numbers = {name: row.values.get(name) for name in values}
    return {"scenario": row.scenario, **labels, **numbers, "pending.pods": row.pending, "error": row.error}
