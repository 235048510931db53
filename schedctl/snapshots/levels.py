"""How much of a state goes into a snapshot: ``none`` is taken out, what nobody reads (``default``), or names too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

import msgspec

from schedctl.reports.snapshots import Header, Redaction
from schedctl.snapshots import documents
from schedctl.snapshots.allow_list import keep_allowed
from schedctl.snapshots.redaction import redact
from schedctl.snapshots.tokens import fingerprint

LEVELS: Final[tuple[Redaction, ...]] = ("none", "default", "strict")
"""From nothing taken out to all that can be."""
assert set(LEVELS) == set(get_args(Redaction))


def snapshot(header: Header, objects: Mapping[str, Sequence[Any]], level: Redaction, key: bytes = b"") -> bytes:
    """Return a snapshot of some objects as JSON.

    Args:
        header: what is known of them; the level, and what goes with it, is filled in.
        objects: by name of a kind; structs, or for ``none`` what the API server sent.
        level: how much is taken out.
        key: of the hashes, for ``strict``.
    """
    header = msgspec.structs.replace(header, redaction=level)
    if level == "none":
        return documents.encode(header, objects)
    kept = {kind: [*map(keep_allowed, found)] for kind, found in objects.items()}
    if level == "default":
        return documents.encode(header, kept)
    # What the header says of the cluster in words would be in clear: context, messages, configuration.
    header = msgspec.structs.replace(
        header,
        source="",
        key=fingerprint(key),
        missing=[msgspec.structs.replace(gap, text="") for gap in header.missing],
        scheduler_configuration="",
        configuration_left_out=bool(header.scheduler_configuration) or header.configuration_left_out,
    )
    return documents.encode(header, redact(kept, key))


def as_sent(obj: Any) -> Any:
    """Return an object as an API server sent it, without managed fields and nulls, which stand for absent fields."""
    if isinstance(obj, dict):
        return {name: as_sent(value) for name, value in obj.items() if value is not None and name != "managedFields"}
    return [as_sent(value) for value in obj] if isinstance(obj, list) else obj
