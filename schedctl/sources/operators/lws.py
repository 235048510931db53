"""LeaderWorkerSet, as its controller and pod webhook of v0.10 make its StatefulSets and pods.

Workers with an exclusive topology follow their leader by pod affinity, where the webhook waits for the leader and then
writes a node selector; and they do not wait for a leader that has to be ready first (``LeaderReady``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from schedctl.sources.operators.fields import (
    Fields,
    Manifest,
    controlled_by,
    name_of,
    service,
    stateful_pod,
    stateful_set,
    with_exclusive_affinity,
    with_metadata,
)

_DOMAIN = "leaderworkerset.sigs.k8s.io"
_NAME, _WORKER, _SIZE = f"{_DOMAIN}/name", f"{_DOMAIN}/worker-index", f"{_DOMAIN}/size"
_GROUP, _GROUP_KEY = f"{_DOMAIN}/group-index", f"{_DOMAIN}/group-key"
_SUBGROUP, _SUBGROUP_KEY = f"{_DOMAIN}/subgroup-index", f"{_DOMAIN}/subgroup-key"
_EXCLUSIVE, _SUBGROUP_EXCLUSIVE = f"{_DOMAIN}/exclusive-topology", f"{_DOMAIN}/subgroup-exclusive-topology"


def objects_of(resource: Fields, notes: list[str]) -> Iterator[Manifest]:
    """Yield the StatefulSet of leaders, one of workers for each of them, their pods and the headless Services."""
    spec, name = resource.at("spec"), name_of(resource)
    templates = spec.at("leaderWorkerTemplate")
    workers = templates.at("workerTemplate")
    leaders = templates.at("leaderTemplate") if "leaderTemplate" in templates else workers
    size, replicas = templates.number("size", 1), spec.number("replicas", 1)
    if spec.text("startupPolicy") == "LeaderReady" and size > 1:
        notes.append("startupPolicy LeaderReady: its workers are created as soon as their leader is")
    annotations = {_SIZE: str(size)}
    claims = [each.value for each in templates.each("volumeClaimTemplates") if each.at("metadata").required("name")]
    for template_of_pods in (leaders, workers):
        template_of_pods.at("spec").each("volumes")  # the claims take the place of volumes of their names
    of_leaders = {_NAME: name, _WORKER: "0"}
    shared = spec.at("networkConfig").text("subdomainPolicy", "Shared") == "Shared"
    if shared:
        yield service(name, {_NAME: name})
    template = with_metadata(leaders, of_leaders, annotations)
    owner = stateful_set(name, replicas, of_leaders, template, claims)
    yield owner
    pods = _Pods(resource, size)
    for index in range(replicas):
        yield from pods.of(owner, leaders, index, index, 0)
    for index in range(replicas):
        leader = f"{name}-{index}"
        group = {_GROUP: str(index), _NAME: name, _GROUP_KEY: pods.group_key(index)}
        if not shared:
            yield service(leader, {_NAME: name, _GROUP: str(index)})
        if size <= 1:
            continue
        template = with_metadata(workers, group, {**annotations, f"{_DOMAIN}/leader-name": leader})
        of_group = stateful_set(leader, size - 1, group, template, claims, ordinals={"start": 1})
        of_group["metadata"]["ownerReferences"] = [
            controlled_by({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": leader}})
        ]
        yield of_group
        for worker in range(1, size):
            yield from pods.of(of_group, workers, worker, index, worker)


class _Pods:
    """The pods as the webhook changes them: labels of their group, and affinity where it has a domain for itself."""

    def __init__(self, resource: Fields, size: int) -> None:
        self._name, self._size = name_of(resource), size
        self._namespace = resource.at("metadata").text("namespace", "default")
        annotations = resource.at("metadata", "annotations")
        policy = resource.at("spec", "leaderWorkerTemplate", "subGroupPolicy")
        self._subgroup_size = policy.number("subGroupSize", 0)
        self._leader_apart = policy.text("subGroupPolicyType", policy.text("type")) == "LeaderExcluded"
        self._exclusive = annotations.text(_EXCLUSIVE)
        self._subgroup_exclusive = annotations.text(_SUBGROUP_EXCLUSIVE)

    def group_key(self, index: int) -> str:
        """Return the label that all pods of a group share."""
        return _sha1(f"{self._namespace}/{self._name}-{index}")

    def of(self, owner: Manifest, template: Fields, ordinal: int, index: int, worker: int) -> Iterator[Manifest]:
        """Yield a pod of a group with its claims."""
        key, spec = self.group_key(index), template.at("spec")
        labels = {_WORKER: str(worker), _GROUP: str(index), _GROUP_KEY: key}
        if self._exclusive:
            affinity = with_exclusive_affinity(spec, _GROUP_KEY, key, self._exclusive)
            spec = Fields({**spec.value, "affinity": affinity}, spec.path)
        if self._subgroup_size and (worker or not self._leader_apart):
            subgroup = str(self._subgroup(worker))
            labels[_SUBGROUP] = subgroup
            labels[_SUBGROUP_KEY] = _sha1(f"{self._name}-{index}/{subgroup}")
            if self._subgroup_exclusive:
                affinity = with_exclusive_affinity(spec, _SUBGROUP_KEY, labels[_SUBGROUP_KEY], self._subgroup_exclusive)
                spec = Fields({**spec.value, "affinity": affinity}, spec.path)
        yield from stateful_pod(owner, ordinal, labels, **spec.copied("affinity"))

    def _subgroup(self, worker: int) -> int:
        # a leader beside equal subgroups of workers is in the first of them
        if worker and (self._size - 1) % self._subgroup_size == 0 and self._size % self._subgroup_size:
            return (worker - 1) // self._subgroup_size
        return worker // self._subgroup_size


def _sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
