"""Timelines as JSON lines: written, read back, and compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

import msgspec

from schedctl.simulation.records import AnyRecord, Bound

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[AnyRecord] = msgspec.json.Decoder(AnyRecord)


class Difference(NamedTuple):
    """Where two timelines part.

    Attributes:
        line: the first line that differs, from 1.
        before: what one has there, None if it has ended.
        after: what the other has there, None if it has ended.
    """

    line: int
    before: AnyRecord | None
    after: AnyRecord | None


def lines(records: Iterable[AnyRecord]) -> Iterator[bytes]:
    """Yield each record as a line of JSON, without the end of line."""
    return map(_ENCODER.encode, records)


def read(written: Iterable[bytes | str]) -> Iterator[AnyRecord]:
    """Yield the record of each line; empty lines are passed over.

    Raises:
        msgspec.ValidationError: a line is no record.
        msgspec.DecodeError: a line is no JSON.
    """
    return (_DECODER.decode(line) for line in written if line.strip())


def difference(before: Iterable[AnyRecord], after: Iterable[AnyRecord]) -> Difference | None:
    """Return where two timelines part, None where they are equal."""
    for line, (one, other) in enumerate(zip_longest(before, after), 1):
        if one != other:
            return Difference(line, one, other)
    return None


def placements(records: Iterable[AnyRecord]) -> dict[str, str]:
    """Return the node each bound pod was bound to last, for `schedctl.simulation.choices.replayed`."""
    return {record.pod: record.node for record in records if isinstance(record, Bound)}
