"""ImageLocality: prefers nodes that have the pod's images already, large ones most.

An image counts by its size times the share of nodes that have it, so that pods do not all heap up on the one node that
happens to have pulled it. Of nodes that disagree about the size of an image the first by name is believed, as
kube-scheduler's cache keeps the size it met first.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.cache.arrays import IndexArray, IntArray
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.cycles import Cycle
from schedctl.framework.handles import Handle
from schedctl.framework.points import ScorePlugin
from schedctl.releases import ReleaseChange

MIN_THRESHOLD = 23 << 20
"""Bytes of images below which a node is as good as one without any."""
MAX_CONTAINER_THRESHOLD = 1000 << 20
"""Bytes of images, for each image of the pod, above which more count no more."""


class ImageLocality(ScorePlugin):
    """Prefers nodes that already have the images of the pod's containers and image volumes."""

    reads_feasible_set = False
    foreseeable = True

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._reads_volumes = self.release.includes(ReleaseChange.IMAGE_VOLUMES)
        self._counts_volumes = self.release.includes(ReleaseChange.IMAGES_OF_ALL)

    def signature(self, pod: PodInfo) -> Hashable:
        """Its images, as often as it names them."""
        return tuple(sorted(_images_of(pod.pod))), tuple(sorted(_volume_images_of(pod.pod)))

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Add up the images a node has, each scaled by the share of nodes that have it."""
        if nodes.bare:
            return np.zeros(len(nodes), np.int64)
        images = _images_of(cycle.pod.pod)
        counted_images = len(images)
        if self._reads_volumes:
            images += _volume_images_of(cycle.pod.pod)
        if self._counts_volumes:
            counted_images = len(images)
        index, table = nodes.cluster.derive(_ImageIndex, Node), nodes.descriptions
        sums = np.zeros(len(table.image_sets), np.int64)
        # all of them are added, so no short cut through any()
        found = [index.add(sums, image) for image in images]
        if not any(found):
            return np.zeros(len(nodes), np.int64)
        most = MAX_CONTAINER_THRESHOLD * counted_images
        counted = np.minimum(np.maximum(sums, MIN_THRESHOLD), most) - MIN_THRESHOLD
        by_set = MAX_NODE_SCORE * counted // (most - MIN_THRESHOLD)
        scores: IntArray = by_set[nodes.gather(table.images)]
        return scores


class _ImageIndex:
    """Where the images of a cluster are, by name.

    Nodes share sets of images, so an image is in some of the sets. For `ClusterView.derive`.
    """

    def __init__(self, cluster: ClusterView) -> None:
        self.total_nodes = len(cluster.rows)
        table = cluster.node_table
        codes = table.images[cluster.nodes_by_name.rows]
        self.nodes_with = np.bincount(codes, minlength=len(table.image_sets))
        self.size: dict[str, int] = {}
        sets: dict[str, list[int]] = {}
        for code in dict.fromkeys(codes.tolist()):
            for image in table.image_sets.values[code]:
                for name in image.names:
                    self.size.setdefault(name, image.size)
                    having = sets.setdefault(name, [])
                    if not having or having[-1] != code:  # an image may have a name twice
                        having.append(code)
        self.sets: dict[str, IndexArray] = {name: np.array(having, np.intp) for name, having in sets.items()}

    def add(self, sums: IntArray, image: str) -> bool:
        """Add what an image is worth to each set that has it, int64 (sets,), and return whether there is one."""
        sets = self.sets.get(image)
        if sets is None:
            return False
        spread = int(self.nodes_with[sets].sum()) / self.total_nodes
        sums[sets] += int(self.size[image] * spread)
        return True


def _images_of(pod: Pod) -> list[str]:
    spec = pod.spec
    return [_normalize_name(container.image) for container in (*(spec.init_containers or ()), *(spec.containers or ()))]


def _volume_images_of(pod: Pod) -> list[str]:
    return [_normalize_name(volume.image.reference) for volume in pod.spec.volumes or () if volume.image]


def _normalize_name(image: str) -> str:
    """Return the name with the tag ``latest`` where it has neither tag nor digest."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
