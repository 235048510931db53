"""What files say of groups of nodes: the instance types there are, and groups as people describe them."""

from __future__ import annotations

import msgspec

from schedctl.autoscaling import files, instance_types
from schedctl.autoscaling.detection import NodeGroups, detect
from schedctl.autoscaling.files import WrittenGroups
from schedctl.autoscaling.instance_types import NO_TYPES, Catalogue
from schedctl.cache.cluster import Cluster


class GroupFiles(msgspec.Struct, frozen=True):
    """What has been read of them.

    Attributes:
        catalogue: the instance types of which new nodes may be.
        written: the groups that are described, None where no file does.
    """

    catalogue: Catalogue = NO_TYPES
    written: WrittenGroups | None = None

    def groups(self, cluster: Cluster) -> NodeGroups:
        """Return the groups of nodes of a cluster: those that are detected, changed and completed by what is written.

        Raises:
            InputError: a node or a type that is written is not there; with every problem.
        """
        found = detect(cluster, self.catalogue)
        return found if self.written is None else files.with_written(found, self.written, cluster, self.catalogue)


NO_FILES = GroupFiles()
"""Nothing is known but the state."""


def read(node_groups: str = "", types: str = "") -> GroupFiles:
    """Return what files say, each "" for none.

    Raises:
        InputError: a file cannot be read or understood.
    """
    return GroupFiles(
        instance_types.load(types) if types else NO_TYPES, files.load(node_groups) if node_groups else None
    )
