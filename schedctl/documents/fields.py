"""What fields of a configuration are made of, beyond plain types and the integers of `schedctl.api.meta`."""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec


class ConfigStruct(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Base of the structs of a configuration: immutable, camelCase in files."""


class _Mark(Enum):
    ZERO_IS_ABSENT = "zero is absent"


ZERO_IS_ABSENT: Final = _Mark.ZERO_IS_ABSENT
"""Annotates a field whose zero value (0, empty text, empty list) is replaced by the default."""
