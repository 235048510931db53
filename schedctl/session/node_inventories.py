"""What is known of the groups of nodes of a state, and of instance types: detected, and from files."""

from __future__ import annotations

import msgspec

from schedctl.api import autoscalers
from schedctl.api.kinds import Kind
from schedctl.autoscaling import group_files
from schedctl.autoscaling.detection import NodeGroups
from schedctl.autoscaling.instance_types import Catalogue
from schedctl.session.sessions import Session
from schedctl.session.states import StateSource


class Inventory(msgspec.Struct, frozen=True):
    """What is known of groups and prices.

    Attributes:
        groups: the groups of nodes.
        catalogue: the instance types.
    """

    groups: NodeGroups
    catalogue: Catalogue


def inventory(session: Session, node_groups: str = "", types: str = "") -> Inventory:
    """Return the groups of nodes of a state, and the instance types.

    Args:
        session: with its state loaded and its what-ifs made.
        node_groups: the file that describes groups, "" for none.
        types: the file of instance types, "" for none.

    Raises:
        InputError: a file cannot be read or understood.
    """
    read = group_files.read(node_groups, types)
    return Inventory(read.groups(session.cluster), read.catalogue)


class GroupOptions(msgspec.Struct, frozen=True):
    """Whether a question that is about pods is to say what groups of nodes could do for them.

    Attributes:
        required: whether it is in any case; else it is where files have objects of an autoscaler.
        node_groups: the file that describes groups, "" for none.
        instance_types: the file of instance types, "" for none.
    """

    required: bool = False
    node_groups: str = ""
    instance_types: str = ""

    def kinds(self, source: StateSource) -> tuple[Kind, ...]:
        """Return the kinds that are read of a state; a live cluster is asked for further ones only if need be."""
        return autoscalers.KINDS if self._are_needed or not source.of_cluster else ()

    def groups(self, session: Session) -> NodeGroups | None:
        """Return the groups of a state, None where nothing is to be said of them.

        Raises:
            InputError: a file cannot be read or understood.
        """
        if not (self._are_needed or any(session.cluster.every(kind.struct) for kind in autoscalers.KINDS)):
            return None
        found = inventory(session, self.node_groups, self.instance_types).groups
        return found if self._are_needed or found.autoscaled else None

    @property
    def _are_needed(self) -> bool:
        return self.required or bool(self.node_groups or self.instance_types)


NO_GROUP_OPTIONS = GroupOptions()
"""Nothing was said of groups."""
