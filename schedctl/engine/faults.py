"""How a fault inside a cycle travels: as an exception up to the attempt, which records it."""

from __future__ import annotations

from schedctl.framework.statuses import Status


class CycleError(Exception):
    """A plugin failed; the cycle is abandoned with this message, worded as kube-scheduler words it.

    Attributes:
        plugin: whose fault it is.
    """

    def __init__(self, message: str, plugin: str = "") -> None:
        super().__init__(message)
        self.plugin = plugin


def failure(what: str, status: Status) -> CycleError:
    """Return the error of a plugin that answered neither success nor refusal."""
    return CycleError(f"{what}: {status.message}", status.plugin)
