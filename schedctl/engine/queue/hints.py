"""Which plugins hear of which event, and whether the event may help a pod that they refused.

`Hints` looks the registrations of all profiles up by event, for the queue; pods of one `Hints.equivalence_key` are
asked about once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from enum import IntEnum
from typing import Any, NamedTuple

import msgspec

from schedctl.api.devices import ResourceClaim
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.cache.pod_info import PodInfo
from schedctl.engine import answers
from schedctl.engine.faults import PASSING, plugin_fault
from schedctl.engine.reporters import Reporter
from schedctl.framework import events, faults, points
from schedctl.framework.events import Action, ClusterEvent, Hint
from schedctl.framework.extenders import EXTENDER_PLUGIN
from schedctl.framework.points import Plugin
from schedctl.framework.profiles import Profile
from schedctl.releases import GENERIC_WORKLOAD, NEWEST, Release, ReleaseChange

# plugins that only score or bind cannot refuse a pod, so that no event is awaited for them
_REFUSING = (
    points.PreEnqueuePlugin,
    points.PreFilterPlugin,
    points.FilterPlugin,
    points.ReservePlugin,
    points.PermitPlugin,
)


class Strategy(IntEnum):
    """What becomes of a pod in the light of an event; of several the highest counts."""

    SKIP = 0
    AFTER_BACKOFF = 1
    IMMEDIATELY = 2


class _Listener(NamedTuple):
    plugin: str
    hint: events.QueueingHint | None


class Hints:
    """The registrations of the plugins of some profiles.

    Attributes:
        profiles: by scheduler name.
        release: the kube-scheduler whose rules hold.
    """

    def __init__(self, profiles: Iterable[Profile], reporter: Reporter, release: Release = NEWEST) -> None:
        self.profiles = {profile.scheduler_name: profile for profile in profiles}
        self.release = release
        self._reporter = reporter
        self._hears_of_other_targets = release.includes(ReleaseChange.TARGET_POD_EVENTS)
        self._registered: dict[str, list[tuple[str, events.Registration]]] = {
            name: [
                (plugin.name, registration)
                for plugin in profile.plugins.values()
                if isinstance(plugin, _REFUSING)
                for registration in registrations(plugin, release)
            ]
            # extenders register nothing: a pod that one refused hears of every event
            + [(EXTENDER_PLUGIN, registration) for registration in events.EVERY_EVENT if profile.extenders]
            for name, profile in self.profiles.items()
        }
        self._readers = {name: _readers_of(registered) for name, registered in self._registered.items()}
        self._listeners: dict[ClusterEvent, dict[str, tuple[_Listener, ...]]] = {}

    def listeners(self, event: ClusterEvent) -> dict[str, tuple[_Listener, ...]]:
        """Return who hears of an event, by scheduler name; profiles in which nobody does are absent."""
        known = self._listeners.get(event)
        if known is None:
            heard = {
                name: tuple(_Listener(plugin, r.hint) for plugin, r in registered if r.event.covers(event))
                for name, registered in self._registered.items()
            }
            known = self._listeners[event] = {name: listeners for name, listeners in heard.items() if listeners}
        return known

    def has_listeners(self, event: ClusterEvent) -> bool:
        """Return whether anybody hears of an event."""
        return event.wildcard or bool(self.listeners(event))

    def hears(self, event: ClusterEvent, plugin: str) -> bool:
        """Return whether a plugin, of any profile, hears of an event."""
        return any(listener.plugin == plugin for heard in self.listeners(event).values() for listener in heard)

    def strategy(
        self,
        pod: PodInfo,
        unschedulable: frozenset[str],
        pending: frozenset[str],
        event: ClusterEvent,
        before: Any,
        after: Any,
    ) -> Strategy:
        """Return what an event means for a pod.

        Args:
            pod: the pod.
            unschedulable: the plugins that refused it.
            pending: those that said Pending; a hint of theirs lets the pod skip its backoff.
            event: what happened.
            before: the object before.
            after: the object after.
        """
        if not unschedulable and not pending:  # a fault, or no nodes at all: any event may help
            return Strategy.AFTER_BACKOFF
        if event.wildcard:
            # without an object it is for all pods, as a timeout is; with a pod, such as one activated, for that one
            other = after is not None and (not isinstance(after, PodInfo) or after.uid != pod.uid)
            return Strategy.SKIP if other else Strategy.AFTER_BACKOFF
        if event.resource is events.Resource.TARGET_POD and not self._hears_of_other_targets and after.uid != pod.uid:
            return Strategy.SKIP
        strategy = Strategy.SKIP
        for plugin, hint in self.listeners(event).get(pod.pod.spec.scheduler_name, ()):
            if plugin not in unschedulable and plugin not in pending:
                continue
            if hint is not None and self._ask(plugin, hint, pod, before, after) is Hint.SKIP:
                continue
            if plugin in pending:
                return Strategy.IMMEDIATELY
            strategy = Strategy.AFTER_BACKOFF
            if not pending:  # otherwise a later hint may still let the pod skip its backoff
                break
        return strategy

    def equivalence_key(self, pod: PodInfo, plugins: Iterable[str]) -> Hashable:
        """Return something that is equal for pods about which hints of these plugins say the same."""
        profile = self.profiles[pod.pod.spec.scheduler_name]
        parts: list[Hashable] = []
        for name in sorted(plugins):
            plugin: Plugin | None = profile.plugins.get(name)
            signature = self._read_by_hints(profile.scheduler_name, plugin, pod) if plugin is not None else None
            if plugin is None or signature is None:  # equal to no other pod
                return pod.key
            parts.append((name, signature, _claims(plugin, pod)))
        return profile.scheduler_name, tuple(parts)

    def _read_by_hints(self, scheduler_name: str, plugin: Plugin, pod: PodInfo) -> Hashable | None:
        """Return what the hints of a plugin read of a pod, None where nobody says."""
        readers = self._readers[scheduler_name].get(plugin.name)
        if readers is None:
            return _signature(plugin, pod)
        try:
            read = tuple(reader(pod) for reader in readers)
            hash(read)
        except KeyboardInterrupt:
            raise
        except faults.ESCAPING:
            return None
        return read

    def _ask(self, plugin: str, hint: events.QueueingHint, pod: PodInfo, before: Any, after: Any) -> Hint:
        """Ask a hint; one that fails counts as Queue, as in kube-scheduler, and is reported."""
        try:
            answer: object = hint(pod, before, after)
        except KeyboardInterrupt:
            raise
        except faults.ESCAPING as fault:  # a plugin's fault must not leave a pod stuck
            text = faults.describe(fault, self.profiles[pod.pod.spec.scheduler_name].plugins.get(plugin))
        else:
            if isinstance(answer, Hint):
                return answer
            text = f"a hint returned {faults.quote(answer)}, expected Hint.QUEUE or Hint.SKIP"
        self._reporter.plugin_failed(plugin, f'plugin "{plugin}" failed: {text}')
        return Hint.QUEUE


def registrations(plugin: Plugin, release: Release) -> tuple[events.Registration, ...]:
    """Return the events that a plugin registers with kube-scheduler of a release.

    Raises:
        CycleError: it fails, or what it registers are no events.
    """
    try:
        registered = answers.registrations(plugin, plugin.events_to_register())
    except PASSING:
        raise
    except faults.ESCAPING as fault:
        raise plugin_fault(plugin, fault) from fault
    if registered == events.EVERY_EVENT and release.enabled(GENERIC_WORKLOAD):
        registered = events.EVERY_EVENT_WITH_GROUPS
    return registered if release.includes(ReleaseChange.REGISTERED_TAINTS) else _with_taints(registered)


def _with_taints(registered: tuple[events.Registration, ...]) -> tuple[events.Registration, ...]:
    """Return registrations with all changes of taints, if they name new nodes and no changes of taints."""
    actions = Action(0)
    for registration in registered:
        if registration.event.resource is events.Resource.NODE:
            actions |= registration.event.action
    if Action.ADD not in actions or Action.UPDATE_NODE_TAINT in actions:
        return registered
    return (*registered, events.registers(events.Resource.NODE, Action.UPDATE_NODE_TAINT))


def _readers_of(
    registered: Iterable[tuple[str, events.Registration]],
) -> dict[str, tuple[Callable[[PodInfo], Hashable], ...]]:
    """Return by plugin what tells all that its hints read of a pod; plugins of which a hint has no such are absent."""
    readers: dict[str, dict[Callable[[PodInfo], Hashable] | None, None]] = {}
    for plugin, registration in registered:
        if registration.hint is not None:
            readers.setdefault(plugin, {})[registration.reads] = None
    return {
        plugin: tuple(reader for reader in found if reader is not None)
        for plugin, found in readers.items()
        if None not in found
    }


def _claims(plugin: Plugin, pod: PodInfo) -> Hashable:
    """Return what a plugin that reads claims reads of a pod to know which are the pod's own.

    Its signature may tell no more of them than what they ask for.
    """
    if ResourceClaim in plugin.reads and pod.pod.spec.resource_claims:
        return pod.key
    volumes = pod.pod.spec.volumes if PersistentVolumeClaim in plugin.reads else None
    if not volumes:
        return ()
    generated = any(volume.ephemeral is not None for volume in volumes)
    return pod.key if generated else (pod.namespace, msgspec.json.encode(volumes))


def _signature(plugin: Plugin, pod: PodInfo) -> Hashable | None:
    """Return the signature of a pod, None where the plugin fails over it, which the pod's attempt tells of."""
    try:
        signature = plugin.signature(pod)
        hash(signature)
    except KeyboardInterrupt:
        raise
    except faults.ESCAPING:
        return None
    return signature
