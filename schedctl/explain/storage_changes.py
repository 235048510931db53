"""The changes to storage: claims that ask for less, for another class, or for another place; volumes that are moved.

A claim is changed in the fork as if somebody had written it so in the first place: what was promised to it, or made
for it, is not undone. Moving a volume stands for whatever gets the data there, a snapshot that is restored, say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from schedctl.api.meta import ObjectMeta
from schedctl.api.pods import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PersistentVolumeClaimVolumeSource,
    Pod,
    ResourceRequirements,
    Volume,
)
from schedctl.api.storage import (
    CSINode,
    CSINodeDriver,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeNodeAffinity,
)
from schedctl.cache.cluster import Cluster
from schedctl.explain.amounts import STORAGE, quantity
from schedctl.explain.changes import Change
from schedctl.explain.phrases import bare

SELECTED_NODE = "volume.kubernetes.io/selected-node"
WAITS = "WaitForFirstConsumer"
_SHARED = "ReadWriteOnce"
_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True)
class RenameClaim(Change):
    """A claim the pod mounts is not there, but one of a similar name is."""

    name: str
    meant: str

    kind: ClassVar[str] = "rename-claim"
    effort: ClassVar[int] = 0

    @property
    def subject(self) -> str:
        """The claim."""
        return self.name

    @property
    def condition(self) -> str:
        """``it mounted claim invoices``."""
        return f"it mounted claim {self.meant}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod mounting the other claim."""
        volumes = [self._renamed(volume) for volume in pod.spec.volumes or ()]
        return _replace(pod, spec=_replace(pod.spec, volumes=volumes or None))

    def _renamed(self, volume: Volume) -> Volume:
        source: PersistentVolumeClaimVolumeSource | None = volume.persistent_volume_claim
        if source is None or source.claim_name != self.name:
            return volume
        return _replace(volume, persistent_volume_claim=_replace(source, claim_name=self.meant))


@dataclass(frozen=True, slots=True)
class LowerClaim(Change):
    """A claim asks for more storage than can be made for it on any suitable node, but some have a little."""

    claim: str
    most: str

    kind: ClassVar[str] = "lower-claim"
    effort: ClassVar[int] = 2

    @classmethod
    def to(cls, claim: str, left: int) -> LowerClaim:
        """Return the change to at most what is left, as a quantity one can type."""
        return cls(claim, quantity(STORAGE, left))

    @property
    def subject(self) -> str:
        """The claim."""
        return self.claim

    @property
    def condition(self) -> str:
        """``claim data asked for 180Gi or less``."""
        return f"claim {bare(self.claim)} asked for {self.most} or less"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim with the smaller request."""
        claim = cluster.every(PersistentVolumeClaim)[self.claim]
        resources = claim.spec.resources or ResourceRequirements()
        lowered = _replace(resources, requests={**(resources.requests or {}), STORAGE: self.most})
        cluster.put(_replace(claim, spec=_replace(claim.spec, resources=lowered)))
        return pod


@dataclass(frozen=True, slots=True)
class UseStorageClass(Change):
    """The class of a claim has no storage where the pod may run; another one might."""

    claim: str
    storage_class: str

    kind: ClassVar[str] = "use-storage-class"
    effort: ClassVar[int] = 3

    @property
    def subject(self) -> tuple[str, str]:
        """The claim and the class."""
        return self.claim, self.storage_class

    @property
    def condition(self) -> str:
        """``claim data were of class ssd``."""
        return f"claim {bare(self.claim)} were of class {self.storage_class}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim with the other class."""
        claim = cluster.every(PersistentVolumeClaim)[self.claim]
        cluster.put(_replace(claim, spec=_replace(claim.spec, storage_class_name=self.storage_class)))
        return pod


@dataclass(frozen=True, slots=True)
class WaitForPod(Change):
    """A claim is to be bound without regard to its pod, and is not."""

    storage_classes: tuple[str, ...]

    kind: ClassVar[str] = "wait-for-first-consumer"
    effort: ClassVar[int] = 3

    @property
    def condition(self) -> str:
        """``class fast had volumeBindingMode WaitForFirstConsumer``."""
        classes = f"class{'es' if len(self.storage_classes) > 1 else ''} {' and '.join(self.storage_classes)}"
        return f"{classes} had volumeBindingMode {WAITS}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the classes with the other mode."""
        for name in self.storage_classes:
            storage_class = cluster.every(StorageClass)[name]
            cluster.put(_replace(storage_class, volume_binding_mode=WAITS))
        return pod


@dataclass(frozen=True, slots=True)
class ForgetSelectedNode(Change):
    """A volume for a claim is being made for a node that will not do, or is gone."""

    claim: str

    kind: ClassVar[str] = "forget-selected-node"
    effort: ClassVar[int] = 2

    @property
    def subject(self) -> str:
        """The claim."""
        return self.claim

    @property
    def condition(self) -> str:
        """``claim data were free to go to another node``."""
        return f"claim {bare(self.claim)} were free to go to another node"

    @property
    def command(self) -> str:
        """``kubectl annotate pvc data -n shop volume.kubernetes.io/selected-node-``."""
        namespace, _, name = self.claim.partition("/")
        return f"kubectl annotate pvc {name} -n {namespace} {SELECTED_NODE}-"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim without the annotation."""
        claim = cluster.every(PersistentVolumeClaim)[self.claim]
        kept = {key: value for key, value in (claim.metadata.annotations or {}).items() if key != SELECTED_NODE}
        cluster.put(_replace(claim, metadata=_replace(claim.metadata, annotations=kept or None)))
        return pod


@dataclass(frozen=True, slots=True)
class MoveVolume(Change):
    """The volume of a claim is where the pod may not run."""

    volume: str
    claim: str
    place: tuple[tuple[str, str], ...]

    kind: ClassVar[str] = "move-volume"
    effort: ClassVar[int] = 6

    @property
    def subject(self) -> str:
        """The volume."""
        return self.volume

    @property
    def condition(self) -> str:
        """``volume pvc-1 of claim data were moved to topology.kubernetes.io/zone=b``."""
        place = ", ".join(f"{key}={value}" for key, value in self.place)
        return f"volume {self.volume} of claim {bare(self.claim)} were moved to {place}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the volume with the place in its labels and its node affinity."""
        volume, place = cluster.every(PersistentVolume)[self.volume], dict(self.place)
        labels = {key: place.get(key, value) for key, value in (volume.metadata.labels or {}).items()}
        affinity = volume.spec.node_affinity
        if affinity is not None and affinity.required is not None:
            terms = [_there(term, place) for term in affinity.required.node_selector_terms or ()]
            affinity = VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms))
        metadata = _replace(volume.metadata, labels=labels or None)
        cluster.put(_replace(volume, metadata=metadata, spec=_replace(volume.spec, node_affinity=affinity)))
        return pod


@dataclass(frozen=True, slots=True)
class ShareClaim(Change):
    """Only one pod may use a claim, and another one does."""

    claim: str

    kind: ClassVar[str] = "share-claim"
    effort: ClassVar[int] = 5

    @property
    def subject(self) -> str:
        """The claim."""
        return self.claim

    @property
    def condition(self) -> str:
        """``claim data had access mode ReadWriteOnce``."""
        return f"claim {bare(self.claim)} had access mode {_SHARED}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim with the access mode."""
        claim = cluster.every(PersistentVolumeClaim)[self.claim]
        cluster.put(_replace(claim, spec=_replace(claim.spec, access_modes=[_SHARED])))
        return pod


@dataclass(frozen=True, slots=True)
class InstallDriver(Change):
    """A node that would do otherwise lacks a CSI driver that must be there before the pod."""

    node: str
    driver: str

    kind: ClassVar[str] = "install-driver"
    effort: ClassVar[int] = 4

    @property
    def subject(self) -> str:
        """The driver."""
        return self.driver

    @property
    def condition(self) -> str:
        """``CSI driver ebs.csi.aws.com were installed on node-3``."""
        return f"CSI driver {self.driver} were installed on {self.node}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the node's CSINode with the driver, which attaches any number of volumes."""
        node = cluster.get(CSINode, self.node) or CSINode(metadata=ObjectMeta(name=self.node))
        drivers = [*(node.spec.drivers or ()), CSINodeDriver(name=self.driver, node_id=self.node)]
        cluster.put(_replace(node, spec=_replace(node.spec, drivers=drivers)))
        return pod


def _there(term: NodeSelectorTerm, place: Mapping[str, str]) -> NodeSelectorTerm:
    """Return a term that wants the place instead."""
    moved = [
        NodeSelectorRequirement(key=each.key, operator="In", values=[place[each.key]]) if each.key in place else each
        for each in term.match_expressions or ()
    ]
    return _replace(term, match_expressions=moved or None)
