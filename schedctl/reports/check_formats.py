"""The forms that a report of ``schedctl check`` can take: for the option, the setting, and those who write them."""

from __future__ import annotations

from typing import Final

CHECK_FORMATS: Final = (
    "text",
    "json",
    "yaml",
    "junit",
    "sarif",
    "github",
    "gitlab",
    "tap",
    "markdown",
    "html",
    "openreports",
    "policyreports",
)
"""What ``-o`` of ``check`` takes, the default first."""
