"""What a snapshot says of itself."""

from __future__ import annotations

from typing import Final

API_VERSION: Final = "schedctl.dev/v1alpha2"
EARLIER: Final = ("schedctl.dev/v1alpha1",)
"""The versions that are still read."""
KIND: Final = "Snapshot"
