"""In words, which claims of pods were bound here rather than in the cluster, and what is assumed of their volumes.

``workloads.volume_controller`` bound them; `explain` notes it for each pod, reports of whole runs for each class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schedctl.api import storage
from schedctl.api.pods import Pod
from schedctl.cache.cluster import Cluster
from schedctl.reports.metadata import AssumedVolumes
from schedctl.workloads import provisioners
from schedctl.workloads.volume_controller import CompletedClaim


def claim_notes(pod: Pod, cluster: Cluster) -> list[str]:
    """Return a note for each claim of a pod that was bound here."""
    return [_note(each, cluster) for each in _completed_claims(pod, cluster)]


def assumed_volumes(pods: Iterable[Pod], cluster: Cluster) -> list[AssumedVolumes]:
    """Return what is assumed of volumes that were provisioned here for claims of pods, by the name of their class."""
    claims: dict[str, dict[str, storage.StorageClass]] = {}
    for pod in pods:
        for each in _completed_claims(pod, cluster):
            if each.provisioned_by is not None:
                key = f"{each.metadata.namespace}/{each.metadata.name}"
                claims.setdefault(each.provisioned_by.metadata.name, {})[key] = each.provisioned_by
    return [_assumption(name, of_class, cluster) for name, of_class in sorted(claims.items())]


def _completed_claims(pod: Pod, cluster: Cluster) -> Iterator[CompletedClaim]:
    for volume in pod.spec.volumes or ():
        name = storage.claim_name(pod, volume)
        found = cluster.get(CompletedClaim, f"{pod.metadata.namespace}/{name}") if name is not None else None
        if found is not None:
            yield found


def _note(claim: CompletedClaim, cluster: Cluster) -> str:
    name, storage_class = claim.metadata.name, claim.provisioned_by
    if storage_class is None:
        return f"claim {name} is not bound in the state: the volume controller would bind it to volume {claim.volume}"
    provisioned = f"{storage_class.provisioner} would provision a volume"
    assumption = _reach(storage_class, cluster, "it", "it")
    return (
        f"claim {name}: class {storage_class.metadata.name} binds immediately, so {provisioned}; assumed: {assumption}"
    )


def _assumption(name: str, claims: dict[str, storage.StorageClass], cluster: Cluster) -> AssumedVolumes:
    storage_class = next(iter(claims.values()))
    volumes, them = (f"{len(claims)} volumes", "them") if len(claims) > 1 else ("volume", "it")
    subject = f"the {volumes} of class {name} that {storage_class.provisioner} would provision"
    return AssumedVolumes(
        storage_class=name,
        provisioner=storage_class.provisioner,
        claims=list(claims),
        certain=not provisioners.tie(storage_class, cluster),
        text=_reach(storage_class, cluster, subject, them),
    )


def _reach(storage_class: storage.StorageClass, cluster: Cluster, subject: str, pronoun: str) -> str:
    """``every node can reach it; parameter zone of the class may tie it to fewer nodes``."""
    tie = provisioners.tie(storage_class, cluster)
    nodes = "every node of the allowedTopologies" if storage_class.allowed_topologies else "every node"
    return f"{nodes} can reach {subject}" + (f"; {tie} may tie {pronoun} to fewer nodes" if tie else "")
