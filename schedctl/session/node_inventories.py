"""What is known of the groups of nodes of a state, and of instance types: detected, and from files."""

from __future__ import annotations

from dataclasses import dataclass

from schedctl.autoscaling import files, instance_types
from schedctl.autoscaling.detection import NodeGroups, detect
from schedctl.autoscaling.instance_types import NO_TYPES, Catalogue
from schedctl.session.sessions import Session


@dataclass(frozen=True, slots=True)
class Inventory:
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
    catalogue = instance_types.load(types) if types else NO_TYPES
    found = detect(session.cluster, catalogue)
    if node_groups:
        found = files.with_written(found, files.load(node_groups), session.cluster, catalogue)
    return Inventory(found, catalogue)
