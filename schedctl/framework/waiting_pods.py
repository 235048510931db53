"""Pods that Permit holds back: they have a node, and wait for every plugin that said so to let them go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock

from schedctl.api.durations import SECOND, Duration
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.statuses import SUCCESS, Code, Status


class WaitingPod:
    """A pod waiting for Permit (upstream's ``framework.WaitingPod``). The first verdict counts.

    Plugins may allow and reject from threads of their own.

    Attributes:
        pod: the pod.
        node_name: the node it is assumed on.
        until: when each plugin's patience ends, in the seconds of the queue's clock; plugins that let it go are gone.
        waits: for how many seconds each plugin was willing to wait.
        verdict: what became of it, None while it waits.
    """

    def __init__(
        self,
        pod: PodInfo,
        node_name: str,
        waits: Mapping[str, float],
        now: float,
        on_verdict: Callable[[WaitingPod], object] | None = None,
    ) -> None:
        """Let a pod wait.

        Args:
            pod: the pod.
            node_name: the node it is assumed on.
            waits: for how many seconds each plugin is willing to wait.
            now: the time by the queue's clock.
            on_verdict: called right before there is a verdict.
        """
        self.pod = pod
        self.node_name = node_name
        self.waits = waits
        self.until = {plugin: now + seconds for plugin, seconds in waits.items()}
        self.verdict: Status | None = None
        self._on_verdict = on_verdict
        self._lock = Lock()

    def allow(self, plugin: str) -> None:
        """Let the pod go on, as far as a plugin is concerned; once all have, it does."""
        with self._lock:
            self.until.pop(plugin, None)
            if not self.until and self.verdict is None:
                self._decide(SUCCESS)

    def reject(self, plugin: str, message: str) -> bool:
        """Refuse the pod, and return whether that was still possible."""
        return self._stop(Status(Code.UNSCHEDULABLE, (message,), plugin))

    def preempt(self, plugin: str, message: str) -> bool:
        """Take the node away from the pod, which is no refusal of it; return whether that was still possible."""
        return self._stop(Status(Code.ERROR, (f"waiting on permit for pod: {message}",), plugin))

    def expire(self, now: float) -> None:
        """Refuse the pod in the name of the first plugin whose patience is over, if there is one."""
        # in Go each plugin has its timer, and chance decides between two that end together: here the name does
        with self._lock:
            over = min((until, plugin) for plugin, until in self.until.items()) if self.until else None
        if over is not None and over[0] <= now:
            plugin = over[1]
            waited = Duration(round(self.waits[plugin] * SECOND))
            self.reject(plugin, f"rejected due to timeout after waiting {waited} at plugin {plugin}")

    def _stop(self, verdict: Status) -> bool:
        with self._lock:
            if self.verdict is not None:
                return False
            self._decide(verdict)
            return True

    def _decide(self, verdict: Status) -> None:
        if self._on_verdict is not None:
            self._on_verdict(self)
        self.verdict = verdict
