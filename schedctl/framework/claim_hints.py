"""Which claims of volumes a pod has, as the queueing hints of the volume plugins look at it.

A hint looks at the changed object and the pod's own volumes, nothing else; it may be too hopeful, never too gloomy.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.api.storage import PersistentVolumeClaim
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.events import Hint


def hint(queue: bool) -> Hint:
    """Return Queue or Skip."""
    return Hint.QUEUE if queue else Hint.SKIP


def claim_names(pod: PodInfo, *, generated: bool = True) -> Iterator[str]:
    """Yield the names of the claims a pod uses; with `generated`, of those made for it, too."""
    for volume in pod.pod.spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            yield volume.persistent_volume_claim.claim_name
        elif generated and volume.ephemeral is not None:
            yield f"{pod.pod.metadata.name}-{volume.name}"


def is_its_claim(pod: PodInfo, claim: PersistentVolumeClaim, *, generated: bool = True) -> bool:
    """Return whether a pod uses a claim; with `generated`, also one that is made for it."""
    metadata = claim.metadata
    return metadata.namespace == pod.namespace and metadata.name in claim_names(pod, generated=generated)


def after_claim(pod: PodInfo, before: PersistentVolumeClaim | None, after: PersistentVolumeClaim) -> Hint:
    """Does a claim of the pod exist or stand otherwise now?"""
    return hint(is_its_claim(pod, after))


def after_named_claim(pod: PodInfo, before: PersistentVolumeClaim | None, after: PersistentVolumeClaim) -> Hint:
    """The same of the claims that the pod names itself, without those that are made for it."""
    return hint(is_its_claim(pod, after, generated=False))
