"""How a snapshot is told from other documents: by its API version and kind."""

from __future__ import annotations

from typing import Any, Final

API_VERSION: Final = "schedctl.dev/v1alpha2"
EARLIER: Final = ("schedctl.dev/v1alpha1",)
"""The versions that are still read."""
KIND: Final = "Snapshot"
_GROUP = API_VERSION.partition("/")[0] + "/"


def is_snapshot(api_version: Any, kind: Any) -> bool:
    """Return whether an object that says this of itself is a snapshot, of whatever version."""
    return kind == KIND and isinstance(api_version, str) and api_version.startswith(_GROUP)
