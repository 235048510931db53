"""Narration: hooks the engine calls as it goes, all of which do nothing here."""

from __future__ import annotations

from schedctl.cache.pod_info import PodInfo
from schedctl.framework.statuses import Status


class Reporter:
    """Told what the engine is doing. Inherit and override what you want to hear of."""

    def pod_assumed(self, pod: PodInfo, node_name: str) -> None:
        """Called when a pod is assumed on a node."""

    def pod_forgotten(self, pod: PodInfo, status: Status) -> None:
        """Called when a pod that was assumed on a node is forgotten again."""

    def plugin_called(self, pod: PodInfo, point: str, plugin: str, status: Status) -> None:
        """Called after each call of a binding cycle: Reserve to PostBind and Unreserve, and an extender's bind."""

    def plugin_failed(self, plugin: str, message: str) -> None:
        """Called when a plugin fails where nothing can come of it: a hint, a listener, PostBind, Unreserve."""
