"""NodeDeclaredFeatures: keeps pods off nodes whose kubelet does not declare a feature they need (KEP-5328).

What a pod needs is read off its spec. The features so far have no version from which every node has them, so a need
is a need whatever the version of a node.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from schedctl.api.nodes import Node
from schedctl.api.pods import Container, PodSpec, VolumeMount
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.handles import Handle
from schedctl.framework.points import FilterPlugin, PreFilterPlugin
from schedctl.framework.reasons import ACCEPT, Lookup, Reason, Verdicts
from schedctl.framework.statuses import SKIP, Code, Status
from schedctl.releases import Release, ReleaseChange

if TYPE_CHECKING:
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


REQUIRED = StateKey[frozenset[str]]("PreFilterNodeDeclaredFeatures")


class NodeDeclaredFeatures(PreFilterPlugin, FilterPlugin):
    """Rejects nodes that do not declare every feature the pod needs."""

    skips_resizes = True
    filters_all_nodes = True
    foreseeable = True

    unmatched = Reason("node(s) didn't match Pod's required features", unresolvable=True)
    lacking = Reason("node declared features check failed - unsatisfied requirements: {names}", unresolvable=True)
    unprepared = Reason(f'error reading "{REQUIRED.name}" from cycle-state: not found', code=Code.ERROR)

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._features = features_of(self.release)
        self._names_features = not self.release.includes(ReleaseChange.UNNAMED_FEATURES)

    def signature(self, pod: PodInfo) -> Hashable:
        """The features it needs."""
        return self.required_features(pod.pod.spec)

    def events_to_register(self) -> tuple[Registration, ...]:
        """A node that declares other features, and a pod that needs others."""
        return (
            registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE, _after_node),
            registers(Resource.TARGET_POD, Action.UPDATE, self._after_update),
        )

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Read off the pod what it needs; Skip where that is nothing special."""
        required = self.required_features(cycle.pod.pod.spec)
        if not required:
            return SKIP
        cycle.state[REQUIRED] = required
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Refuse nodes that lack a feature; those it lacks are the evidence."""
        if REQUIRED not in cycle.state:
            return self.unprepared.where(np.ones(len(nodes), np.bool_))
        required = cycle.state[REQUIRED]
        table = nodes.descriptions
        missing = [tuple(sorted(required - declared)) for declared in table.feature_sets.values]
        lacking = np.array([bool(features) for features in missing], np.bool_)
        sets = nodes.gather(table.features).astype(np.intp)
        refused = lacking[sets]
        if not refused.any():
            return ACCEPT
        if self._names_features:
            names = [", ".join(features) for features in missing]
            return self.lacking.where(refused, missing=Lookup(missing, sets), names=Lookup(names, sets))
        return self.unmatched.where(refused, missing=Lookup(missing, sets))

    def required_features(self, spec: PodSpec) -> frozenset[str]:
        """Return the features a node must declare to run such a pod."""
        return frozenset(name for name, needed in self._features.items() if needed(spec))

    def _after_update(self, pod: PodInfo, before: PodInfo, after: PodInfo) -> Hint:
        same = self.required_features(before.pod.spec) == self.required_features(after.pod.spec)
        return Hint.SKIP if same else Hint.QUEUE

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.node_declared_features.wording import WORDING

        return WORDING

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.node_declared_features.remedies import remedies

        return remedies(rejection)


def _after_node(pod: PodInfo, before: Node | None, after: Node) -> Hint:
    same = before is not None and (before.status.declared_features or []) == (after.status.declared_features or [])
    return Hint.SKIP if same else Hint.QUEUE


def _restarts_all_containers(spec: PodSpec) -> bool:
    rules = (rule for container in _containers(spec) for rule in container.restart_policy_rules or ())
    return any(rule.action == "RestartAllContainers" for rule in rules)


def _has_user_namespace_on_host_network(spec: PodSpec) -> bool:
    return spec.host_network and spec.host_users is False


def _has_bind_mount_options(spec: PodSpec) -> bool:
    return any(mount.bind_mount_options for mount in _mounts(spec))


def _containers(spec: PodSpec) -> Iterator[Container]:
    yield from spec.containers or ()
    yield from spec.init_containers or ()


def _mounts(spec: PodSpec) -> Iterator[VolumeMount]:
    for container in (*_containers(spec), *(spec.ephemeral_containers or ())):
        mounts: Iterable[VolumeMount] = container.volume_mounts or ()
        yield from mounts


_FEATURES: dict[str, tuple[ReleaseChange | None, Callable[[PodSpec], bool]]] = {
    "RestartAllContainersOnContainerExits": (None, _restarts_all_containers),
    "UserNamespacesHostNetworkSupport": (ReleaseChange.HOST_USER_NAMESPACES, _has_user_namespace_on_host_network),
    "VolumeBindMountOptions": (ReleaseChange.BIND_MOUNT_OPTIONS, _has_bind_mount_options),
}
"""The features that decide where a pod may run, with what brought them; others only decide what may be updated."""


def features_of(release: Release) -> Mapping[str, Callable[[PodSpec], bool]]:
    """Return the features that a release asks nodes for, each with which pods need it."""
    return {name: needed for name, (change, needed) in _FEATURES.items() if change is None or release.includes(change)}
