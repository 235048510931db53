"""The changes to a pod: what it asks for, tolerates, selects, keeps away from, or is called; and that it is unbound."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from schedctl.api.amounts import quantity
from schedctl.api.meta import LabelSelector
from schedctl.api.nodes import Taint
from schedctl.api.pods import (
    Affinity,
    Container,
    ContainerPort,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    ResourceRequirements,
    Toleration,
)
from schedctl.api.quantities import parse
from schedctl.api.resources import CPU
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.explain.changes import Change
from schedctl.framework import wording
from schedctl.framework.pod_edits import map_requests

_REQUIRED = "required_during_scheduling_ignored_during_execution"
_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True)
class LowerRequest(Change):
    """The pod asks for more of a resource than any suitable node has left, but some have a little."""

    resource: str
    most: str

    kind: ClassVar[str] = "lower-request"
    effort: ClassVar[int] = 2

    @classmethod
    def to(cls, resource: str, free: int) -> LowerRequest:
        """Return the change to at most what is free, as a quantity one can type."""
        return cls(resource, quantity(resource, free))

    @property
    def subject(self) -> Hashable:
        """The resource."""
        return self.resource

    @property
    def condition(self) -> str:
        """``cpu <= 1850m``."""
        return f"{self.resource} <= {self.most}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod with its largest requests cut until they add up to no more."""
        spec = pod.spec
        if spec.resources is not None and self.resource in (spec.resources.requests or {}):
            return _replace(pod, spec=_replace(spec, resources=self._limited(spec.resources, self.most)))
        containers = list(spec.containers or ())
        inits = [self._capped(container) for container in spec.init_containers or ()]
        pod = _replace(pod, spec=_replace(spec, init_containers=inits or None))
        for index in sorted(range(len(containers)), key=lambda i: -self._asked(containers[i])):
            over = PodInfo(pod).demand.pending.get(self.resource, 0) - self._parsed(self.most)
            asked = self._asked(containers[index])
            if over <= 0 or asked <= 0:
                break
            left = max(asked - over, 0)
            containers[index] = self._with(containers[index], f"{left}m" if self.resource == CPU else str(left))
            pod = _replace(pod, spec=_replace(pod.spec, containers=containers))
        return pod

    def _capped(self, container: Container) -> Container:
        return self._with(container, self.most) if self._asked(container) > self._parsed(self.most) else container

    def _with(self, container: Container, amount: str) -> Container:
        assert container.resources is not None
        return _replace(container, resources=self._limited(container.resources, amount))

    def _limited(self, resources: ResourceRequirements, amount: str) -> ResourceRequirements:
        return _replace(resources, requests={**(resources.requests or {}), self.resource: amount})

    def _asked(self, container: Container) -> int:
        asked = (container.resources and container.resources.requests) or {}
        return self._parsed(asked[self.resource]) if self.resource in asked else 0

    def _parsed(self, written: Any) -> int:
        amount = parse(written)
        return amount.milli_value if self.resource == CPU else amount.value


@dataclass(frozen=True, slots=True)
class DropRequest(Change):
    """Nodes that would do otherwise have nothing at all left of a resource, or never had any."""

    resource: str

    kind: ClassVar[str] = "drop-request"
    effort: ClassVar[int] = 5

    @property
    def subject(self) -> Hashable:
        """The resource."""
        return self.resource

    @property
    def condition(self) -> str:
        """``it did not ask for nvidia.com/gpu``."""
        return f"it did not ask for {self.resource}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod without its requests of the resource."""
        return map_requests(pod, lambda asked: {name: asked[name] for name in asked if name != self.resource})


@dataclass(frozen=True, slots=True)
class RenameResource(Change):
    """No node offers a resource the pod asks for, but some offer one of a similar name."""

    resource: str
    meant: str

    kind: ClassVar[str] = "rename-resource"
    effort: ClassVar[int] = 0

    @property
    def subject(self) -> Hashable:
        """The resource."""
        return self.resource

    @property
    def condition(self) -> str:
        """``it asked for nvidia.com/gpu``."""
        return f"it asked for {self.meant}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod asking for the other resource."""
        return map_requests(
            pod, lambda asked: {self.meant if name == self.resource else name: asked[name] for name in asked}
        )


@dataclass(frozen=True, slots=True)
class Tolerate(Change):
    """A taint keeps the pod off nodes that would do otherwise."""

    taint: Taint

    kind: ClassVar[str] = "add-toleration"
    effort: ClassVar[int] = 2

    @property
    def subject(self) -> Hashable:
        """The taint."""
        return self.taint

    @property
    def condition(self) -> str:
        """``it tolerated dedicated=gpu:NoSchedule``."""
        return f"it tolerated {wording.taint(msgspec.to_builtins(self.taint))}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod with a toleration of just this taint."""
        toleration = Toleration(key=self.taint.key, operator="Equal", value=self.taint.value, effect=self.taint.effect)
        return _replace(pod, spec=_replace(pod.spec, tolerations=[*(pod.spec.tolerations or ()), toleration]))


@dataclass(frozen=True, slots=True)
class DropNodeSelector(Change):
    """Entries of ``nodeSelector`` rule out nodes that would do otherwise."""

    keys: tuple[str, ...]
    written: str

    kind: ClassVar[str] = "drop-node-selector"
    effort: ClassVar[int] = 3

    @property
    def subject(self) -> Hashable:
        """The labels."""
        return self.keys

    @property
    def condition(self) -> str:
        """``its nodeSelector did not ask for disk=ssd``."""
        return f"its nodeSelector did not ask for {self.written}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod without these entries."""
        kept = {key: value for key, value in (pod.spec.node_selector or {}).items() if key not in self.keys}
        return _replace(pod, spec=_replace(pod.spec, node_selector=kept or None))


@dataclass(frozen=True, slots=True)
class DropNodeAffinity(Change):
    """Required node affinity rules out nodes that would do otherwise."""

    written: str

    kind: ClassVar[str] = "drop-node-affinity"
    effort: ClassVar[int] = 3

    @property
    def condition(self) -> str:
        """``its node affinity did not require disk=ssd``."""
        return f"its node affinity did not require {self.written or 'what no node can have'}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod without required node affinity."""
        affinity = pod.spec.affinity
        if affinity is None or affinity.node_affinity is None:
            return pod
        return _with_affinity(pod, node_affinity=_replace(affinity.node_affinity, **{_REQUIRED: None}))


@dataclass(frozen=True, slots=True)
class RenameLabel(Change):
    """A label the pod asks nodes for is on none of them, but one with a similar key is."""

    key: str
    meant: str

    kind: ClassVar[str] = "rename-label"
    effort: ClassVar[int] = 0

    @property
    def subject(self) -> Hashable:
        """The label."""
        return self.key

    @property
    def condition(self) -> str:
        """``label zone were called topology.kubernetes.io/zone``."""
        return f"label {self.key} were called {self.meant}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod with the key replaced in its node selector, node affinity and every topology key."""
        selector = pod.spec.node_selector or {}
        spec = _replace(
            pod.spec,
            node_selector={self._renamed(key): value for key, value in selector.items()} or None,
            topology_spread_constraints=[
                _replace(each, topology_key=self._renamed(each.topology_key))
                for each in pod.spec.topology_spread_constraints or ()
            ]
            or None,
        )
        pod = _map_node_requirements(_replace(pod, spec=spec), self._requirement)
        return _map_pod_terms(pod, lambda term: _replace(term, topology_key=self._renamed(term.topology_key)))

    def _renamed(self, key: str) -> str:
        return self.meant if key == self.key else key

    def _requirement(self, written: NodeSelectorRequirement) -> NodeSelectorRequirement:
        return _replace(written, key=self._renamed(written.key))


@dataclass(frozen=True, slots=True)
class ReplaceValue(Change):
    """The value the pod asks a node label to have is on no node, but a similar one is."""

    key: str
    value: str
    meant: str

    kind: ClassVar[str] = "replace-label-value"
    effort: ClassVar[int] = 0

    @property
    def subject(self) -> Hashable:
        """The label and the value."""
        return self.key, self.value

    @property
    def condition(self) -> str:
        """``it asked for disk=ssd``."""
        return f"it asked for {self.key}={self.meant}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod with the value replaced in its node selector and node affinity."""
        selector = {
            key: self.meant if (key, value) == (self.key, self.value) else value
            for key, value in (pod.spec.node_selector or {}).items()
        }
        pod = _replace(pod, spec=_replace(pod.spec, node_selector=selector or None))
        return _map_node_requirements(pod, self._requirement)

    def _requirement(self, written: NodeSelectorRequirement) -> NodeSelectorRequirement:
        if written.key != self.key or not written.values:
            return written
        return _replace(written, values=[self.meant if value == self.value else value for value in written.values])


@dataclass(frozen=True, slots=True)
class RaiseMaxSkew(Change):
    """Every domain with suitable nodes has so many of the counted pods already that one more is too many."""

    topology_key: str
    skew: int

    kind: ClassVar[str] = "raise-max-skew"
    effort: ClassVar[int] = 3

    @property
    def subject(self) -> Hashable:
        """The topology key."""
        return self.topology_key

    @property
    def condition(self) -> str:
        """``its maxSkew over topology.kubernetes.io/zone were 2``."""
        return f"its maxSkew over {self.topology_key} were {self.skew}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod with the skew allowed."""
        constraints = [
            _replace(each, max_skew=max(each.max_skew, self.skew)) if each.topology_key == self.topology_key else each
            for each in pod.spec.topology_spread_constraints or ()
        ]
        return _replace(pod, spec=_replace(pod.spec, topology_spread_constraints=constraints or None))


@dataclass(frozen=True, slots=True)
class SoftenSpread(Change):
    """Nodes that would do otherwise have no label for a topology key the pod is spread over."""

    topology_key: str

    kind: ClassVar[str] = "soften-spread"
    effort: ClassVar[int] = 3

    @property
    def subject(self) -> Hashable:
        """The topology key."""
        return self.topology_key

    @property
    def condition(self) -> str:
        """``its spread over rack were whenUnsatisfiable: ScheduleAnyway``."""
        return f"its spread over {self.topology_key} were whenUnsatisfiable: ScheduleAnyway"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod with the constraint softened."""
        constraints = [
            _replace(each, when_unsatisfiable="ScheduleAnyway") if each.topology_key == self.topology_key else each
            for each in pod.spec.topology_spread_constraints or ()
        ]
        return _replace(pod, spec=_replace(pod.spec, topology_spread_constraints=constraints or None))


@dataclass(frozen=True, slots=True)
class DropPodAffinity(Change):
    """The company the pod requires is nowhere, or nowhere with room."""

    topology_key: str

    kind: ClassVar[str] = "drop-pod-affinity"
    effort: ClassVar[int] = 4

    @property
    def subject(self) -> Hashable:
        """The topology key."""
        return self.topology_key

    @property
    def condition(self) -> str:
        """``it did not require pod affinity over topology.kubernetes.io/zone``."""
        return f"it did not require pod affinity over {self.topology_key}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod without the required terms over the key."""
        return _drop_pod_terms(pod, "pod_affinity", self.topology_key)


@dataclass(frozen=True, slots=True)
class ReplaceCompany(Change):
    """No running pod has the label the required company must have, but some have one with a similar value."""

    key: str
    value: str
    meant: str

    kind: ClassVar[str] = "replace-company"
    effort: ClassVar[int] = 0

    @property
    def subject(self) -> Hashable:
        """The label and the value."""
        return self.key, self.value

    @property
    def condition(self) -> str:
        """``its pod affinity asked for app=database``."""
        return f"its pod affinity asked for {self.key}={self.meant}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod with the value replaced in the selectors of its required affinity terms."""
        return _map_pod_terms(pod, lambda term: _replace(term, label_selector=self._selector(term.label_selector)))

    def _selector(self, written: LabelSelector | None) -> LabelSelector | None:
        if written is None:
            return None
        labels = written.match_labels or {}
        expressions = [
            _replace(each, values=[self._value(value) for value in each.values])
            if each.key == self.key and each.values
            else each
            for each in written.match_expressions or ()
        ]
        return _replace(
            written,
            match_labels={key: self._value(labels[key]) if key == self.key else labels[key] for key in labels} or None,
            match_expressions=expressions or None,
        )

    def _value(self, value: str) -> str:
        return self.meant if value == self.value else value


@dataclass(frozen=True, slots=True)
class DropPodAntiAffinity(Change):
    """Pods the pod must not meet are in every domain that would do otherwise."""

    topology_key: str

    kind: ClassVar[str] = "drop-pod-anti-affinity"
    effort: ClassVar[int] = 4

    @property
    def subject(self) -> Hashable:
        """The topology key."""
        return self.topology_key

    @property
    def condition(self) -> str:
        """``it did not require pod anti-affinity over kubernetes.io/hostname``."""
        return f"it did not require pod anti-affinity over {self.topology_key}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod without the required terms over the key."""
        return _drop_pod_terms(pod, "pod_anti_affinity", self.topology_key)


@dataclass(frozen=True, slots=True)
class DropHostPorts(Change):
    """Other pods hold host ports the pod asks for."""

    ports: tuple[str, ...]

    kind: ClassVar[str] = "drop-host-ports"
    effort: ClassVar[int] = 3

    @property
    def subject(self) -> Hashable:
        """The ports."""
        return self.ports

    @property
    def condition(self) -> str:
        """``it did not ask for host port 8080/TCP``."""
        return f"it did not ask for host port{'s' if len(self.ports) > 1 else ''} {', '.join(self.ports)}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod without these ports."""

        def without(container: Container) -> Container:
            kept = [each for each in container.ports or () if self._written(each) not in self.ports]
            return _replace(container, ports=kept or None)

        spec = pod.spec
        containers = [without(each) for each in spec.containers or ()]
        inits = [without(each) for each in spec.init_containers or ()]
        return _replace(pod, spec=_replace(spec, containers=containers or None, init_containers=inits or None))

    def _written(self, port: ContainerPort) -> str:
        return f"{port.host_port}/{port.protocol or 'TCP'}"


@dataclass(frozen=True, slots=True)
class RemoveGates(Change):
    """Scheduling gates keep the pod out of the queue."""

    gates: tuple[str, ...]

    kind: ClassVar[str] = "remove-gates"
    effort: ClassVar[int] = 1

    @property
    def condition(self) -> str:
        """``scheduling gate quota were removed``."""
        return f"scheduling gate{'s' if len(self.gates) > 1 else ''} {', '.join(self.gates)} were removed"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod without gates."""
        return _replace(pod, spec=_replace(pod.spec, scheduling_gates=None))


@dataclass(frozen=True, slots=True)
class UseScheduler(Change):
    """No profile serves the pod's ``schedulerName``."""

    name: str

    kind: ClassVar[str] = "use-scheduler"
    effort: ClassVar[int] = 1

    @property
    def subject(self) -> Hashable:
        """The scheduler."""
        return self.name

    @property
    def condition(self) -> str:
        """``its schedulerName were default-scheduler``."""
        return f"its schedulerName were {self.name}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod asking for the scheduler."""
        return _replace(pod, spec=_replace(pod.spec, scheduler_name=self.name))


@dataclass(frozen=True, slots=True)
class Replace(Change):
    """The pod is being deleted; its controller will make another like it."""

    kind: ClassVar[str] = "replace-pod"
    effort: ClassVar[int] = 1

    @property
    def condition(self) -> str:
        """``it were a new pod``."""
        return "it were a new pod"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod as if nobody had deleted it."""
        return _replace(pod, metadata=_replace(pod.metadata, deletion_timestamp=None))


def _with_affinity(pod: Pod, **changed: Any) -> Pod:
    affinity: Affinity = pod.spec.affinity or Affinity()
    return _replace(pod, spec=_replace(pod.spec, affinity=_replace(affinity, **changed)))


def _map_node_requirements(pod: Pod, change: Callable[[NodeSelectorRequirement], NodeSelectorRequirement]) -> Pod:
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if affinity is None or required is None:
        return pod

    def mapped(term: NodeSelectorTerm) -> NodeSelectorTerm:
        return _replace(term, match_expressions=[change(each) for each in term.match_expressions or ()] or None)

    terms = [mapped(term) for term in required.node_selector_terms or ()]
    changed = _replace(affinity, **{_REQUIRED: _replace(required, node_selector_terms=terms)})
    return _with_affinity(pod, node_affinity=changed)


def _map_pod_terms(pod: Pod, change: Callable[[PodAffinityTerm], PodAffinityTerm]) -> Pod:
    for field in ("pod_affinity", "pod_anti_affinity"):
        affinity: PodAffinity | None = getattr(pod.spec.affinity, field) if pod.spec.affinity else None
        terms = affinity.required_during_scheduling_ignored_during_execution if affinity else None
        if affinity and terms:
            changed = _replace(affinity, **{_REQUIRED: [change(term) for term in terms]})
            pod = _with_affinity(pod, **{field: changed})
    return pod


def _drop_pod_terms(pod: Pod, field: str, topology_key: str) -> Pod:
    affinity: PodAffinity | None = getattr(pod.spec.affinity, field) if pod.spec.affinity else None
    if affinity is None:
        return pod
    terms = affinity.required_during_scheduling_ignored_during_execution or ()
    kept = [term for term in terms if term.topology_key != topology_key]
    return _with_affinity(pod, **{field: _replace(affinity, **{_REQUIRED: kept or None})})
