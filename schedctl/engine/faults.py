"""How a fault inside a cycle travels: as an exception up to the attempt, which records it."""

from __future__ import annotations

from schedctl.api.texts import clip
from schedctl.errors import NotModelled, PluginError
from schedctl.framework import faults
from schedctl.framework.points import Plugin
from schedctl.framework.statuses import Status


class CycleError(Exception):
    """A plugin failed; the cycle is abandoned with this message, worded as kube-scheduler words it.

    Attributes:
        plugin: whose fault it is.
    """

    def __init__(self, message: str, plugin: str = "") -> None:
        super().__init__(message)
        self.plugin = plugin


PASSING = (NotModelled, CycleError, KeyboardInterrupt)
"""What a plugin may let out that is no fault of its own: a guess it refuses, a fault told already, or Ctrl-C."""


def failure(what: str, status: Status) -> CycleError:
    """Return the error of a plugin that answered neither success nor refusal."""
    return CycleError(f"{what}: {status.message}", status.plugin)


def plugin_fault(plugin: Plugin, fault: BaseException) -> CycleError:
    """Return the error of a plugin that let an exception out, with the line that it comes from."""
    return CycleError(f'plugin "{plugin.name}" failed: {describe_fault(plugin, fault)}', plugin.name)


def describe_fault(plugin: Plugin, fault: BaseException) -> str:
    """Return an exception in words; one that says itself what is the matter needs neither its class nor its line."""
    return clip(str(fault)) if isinstance(fault, PluginError) else faults.describe(fault, plugin)
