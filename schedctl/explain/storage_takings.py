"""The volumes a pod takes along on a node: which one each waiting claim is bound to there, or that one is made."""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.api.amounts import STORAGE, amount
from schedctl.api.meta import key_of
from schedctl.api.storage import StorageClass, class_of
from schedctl.cache.cluster import Cluster
from schedctl.framework.wording import name_of
from schedctl.plugins.volume_binding.plugin import VolumeBinding
from schedctl.plugins.volume_binding.search import PodVolumes
from schedctl.plugins.volume_binding.volumes import capacity, requested
from schedctl.reports.explanations import Taking


def volumes(found: PodVolumes, cluster: Cluster) -> Iterator[Taking]:
    """Yield the volumes for the waiting claims of a pod: first those that are there, then those that are made."""
    for claim, volume in found.static:
        key, name = key_of(claim), volume.metadata.name
        held, asked = capacity(volume).value, requested(claim).value
        size = f"{amount(STORAGE, held)}{'' if held == asked else f' for {amount(STORAGE, asked)}'}"
        text = f"claim {name_of(key)} is bound to volume {name} ({size})"
        yield Taking(plugin=VolumeBinding.__name__, claim=key, names=[name], text=text)
    for claim, left in found.dynamic:
        key, storage_class = key_of(claim), class_of(claim)
        known = cluster.get(StorageClass, storage_class)
        maker = f" by {known.provisioner}" if known is not None else ""
        of = f"{amount(STORAGE, requested(claim).value)} of class {storage_class}"
        room = f", where {left.capacity} is left" if left is not None and left.capacity else ""
        text = f"a volume is made{maker} for claim {name_of(key)}: {of}{room}"
        yield Taking(plugin=VolumeBinding.__name__, claim=key, made=True, text=text)
