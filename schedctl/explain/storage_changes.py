"""The changes to storage: claims that ask for less, for another class, or for another place; volumes that are moved.

A claim is changed in the fork as if somebody had written it so in the first place: what was promised to it, or made
for it, is not undone. Moving a volume stands for whatever gets the data there, a snapshot that is restored, say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from schedctl.api.amounts import STORAGE, quantity
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
    SELECTED_NODE,
    CSINode,
    CSINodeDriver,
    PersistentVolume,
    PersistentVolumeClaim,
    VolumeAttachment,
    VolumeNodeAffinity,
)
from schedctl.cache.cluster import Cluster
from schedctl.explain.changes import Change
from schedctl.explain.cluster_changes import RemovePods
from schedctl.framework.wording import name_of

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
        return f"claim {name_of(self.claim)} asked for {self.most} or less"

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
        return f"claim {name_of(self.claim)} were of class {self.storage_class}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim with the other class."""
        claim = cluster.every(PersistentVolumeClaim)[self.claim]
        cluster.put(_replace(claim, spec=_replace(claim.spec, storage_class_name=self.storage_class)))
        return pod


@dataclass(frozen=True, slots=True)
class GiveStorageClass(UseStorageClass):
    """A claim says nothing of a class, which is the one time that it may still be given one."""

    kind: ClassVar[str] = "give-storage-class"
    effort: ClassVar[int] = 2

    @property
    def command(self) -> str:
        """``kubectl patch pvc data -n shop -p '{"spec":{"storageClassName":"ssd"}}'``."""
        namespace, _, name = self.claim.partition("/")
        return (
            f"""kubectl patch pvc {name} -n {namespace} -p '{{"spec":{{"storageClassName":"{self.storage_class}"}}}}'"""
        )


@dataclass(frozen=True, slots=True)
class ForgetVolumeName(Change):
    """A claim names a volume that it cannot have, where its class would find one."""

    claim: str

    kind: ClassVar[str] = "forget-volume-name"
    effort: ClassVar[int] = 2

    @property
    def subject(self) -> str:
        """The claim."""
        return self.claim

    @property
    def condition(self) -> str:
        """``claim data were made anew without a volumeName``."""
        return f"claim {name_of(self.claim)} were made anew without a volumeName"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim without the name."""
        claim = cluster.every(PersistentVolumeClaim)[self.claim]
        cluster.put(_replace(claim, spec=_replace(claim.spec, volume_name="")))
        return pod


@dataclass(frozen=True, slots=True)
class AskAccessModes(Change):
    """A claim asks for an access mode that a volume which would do otherwise does not have."""

    claim: str
    modes: tuple[str, ...]

    kind: ClassVar[str] = "ask-access-modes"
    effort: ClassVar[int] = 3

    @property
    def subject(self) -> str:
        """The claim."""
        return self.claim

    @property
    def condition(self) -> str:
        """``claim data asked for ReadWriteOnce``."""
        return f"claim {name_of(self.claim)} asked for {' and '.join(self.modes)}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim with the modes of the volume."""
        claim = cluster.every(PersistentVolumeClaim)[self.claim]
        cluster.put(_replace(claim, spec=_replace(claim.spec, access_modes=list(self.modes))))
        return pod


@dataclass(frozen=True, slots=True)
class ClearClaimRef(Change):
    """A volume is still kept for a claim that was deleted; somebody must say that its data may go."""

    volume: str

    kind: ClassVar[str] = "clear-claim-ref"
    effort: ClassVar[int] = 3

    @property
    def subject(self) -> str:
        """The volume."""
        return self.volume

    @property
    def condition(self) -> str:
        """``the claimRef of Released volume pv-1 were cleared, its data no longer needed``."""
        return f"the claimRef of Released volume {self.volume} were cleared, its data no longer needed"

    @property
    def command(self) -> str:
        """``kubectl patch pv pv-1 --type=json -p '[{"op":"remove","path":"/spec/claimRef"}]'``."""
        return f"""kubectl patch pv {self.volume} --type=json -p '[{{"op":"remove","path":"/spec/claimRef"}}]'"""

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the volume without the reference, in phase Available."""
        volume = cluster.every(PersistentVolume)[self.volume]
        freed = _replace(volume, spec=_replace(volume.spec, claim_ref=None))
        cluster.put(_replace(freed, status=_replace(volume.status, phase="Available")))
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
        return f"claim {name_of(self.claim)} were free to go to another node"

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
        return f"volume {self.volume} of claim {name_of(self.claim)} were moved to {place}"

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
class DetachVolumes(Change):
    """A node has as many volumes attached as it can; those of pods that go stay until they are detached too."""

    node: str
    volumes: tuple[str, ...]
    attachments: tuple[str, ...]
    pods: tuple[str, ...] = ()

    kind: ClassVar[str] = "detach-volumes"
    effort: ClassVar[int] = 4

    @property
    def condition(self) -> str:
        """``pod shop/db-0 were not there and volume pv-1 were detached from node-3``."""
        volumes = f"volume{'s' if len(self.volumes) > 1 else ''} {' and '.join(self.volumes)}"
        detached = f"{volumes} were detached from {self.node}"
        return f"{RemovePods(self.pods).condition} and {detached}" if self.pods else detached

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Remove the pods, then the VolumeAttachments."""
        for name in self.attachments:
            attachment = cluster.get(VolumeAttachment, name)
            if attachment is not None:
                cluster.delete(attachment)
        return RemovePods(self.pods).apply(pod, cluster)


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
