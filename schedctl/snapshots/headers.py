"""What a snapshot says of itself."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from schedctl.api.gaps import Gap

API_VERSION: Final = "schedctl.dev/v1alpha2"
EARLIER: Final = ("schedctl.dev/v1alpha1",)
"""The versions that are still read."""
KIND: Final = "Snapshot"

Redaction = Literal["default", "strict", "none"]
When = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^((?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
        r"T([01]\d|2[0-3]):[0-5]\d:[0-5]\d([.,]\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?\Z"
    ),
]
"""A point in time as RFC 3339 writes it, or ""."""


class Header(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The ``metadata`` of a snapshot.

    Attributes:
        tool_version: of the schedctl that wrote it.
        source: where it is from, e.g. ``context prod``, or ``files``; "" under strict redaction.
        server_version: the API server's, "" where unknown.
        taken: when the cluster looked like this, RFC 3339; "" where unknown.
        redaction: how much was taken out: ``none`` nothing but managed fields, ``default`` what scheduling does not
            read, ``strict`` names and values besides.
        key: a fingerprint of the key that names were hashed with, "" where they were not; never the key.
        digest: ``sha256:...`` of the objects as they are in the file.
        counts: how many objects there are of each kind.
        missing: the kinds that could not be listed.
        scheduler_configuration: the KubeSchedulerConfiguration in force, as text; "" where none was given.
        configuration_left_out: whether there was one, and strict redaction has taken it out.
    """

    tool_version: str = ""
    source: str = ""
    server_version: str = ""
    taken: When = ""
    redaction: Redaction = "default"
    key: str = ""
    digest: str = ""
    counts: dict[str, int] = {}
    missing: list[Gap] = []
    scheduler_configuration: str = ""
    configuration_left_out: bool = False
