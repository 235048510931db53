"""Methods that do nothing for a pod of which their plugin's PreFilter says Skip, and so need not be called for it.

The mark is on the method and not on the plugin: a plugin that inherits from another and overrides the method is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from schedctl.framework.points import Plugin

M = TypeVar("M", bound=Callable[..., Any])


def idle_when_skipped(method: M) -> M:
    """Mark a method that does nothing but succeed for a pod of which PreFilter says Skip."""
    method.idle_when_skipped = True  # type: ignore[attr-defined]
    return method


def is_idle_when_skipped(plugin: Plugin, method: str) -> bool:
    """Return whether a method of a plugin is marked."""
    return getattr(getattr(plugin, method), "idle_when_skipped", False)
