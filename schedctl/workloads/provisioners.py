"""What is known of the volumes that the provisioner of a StorageClass makes: from where they can be reached.

Where an external provisioner puts the volume of a claim that no pod was chosen for is its own choice. It is assumed
to be reachable from everywhere that the class allows; `tie` says what speaks against that.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.api import storage
from schedctl.api.pods import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from schedctl.cache.cluster import Cluster
from schedctl.framework.claim_binding import driver_of
from schedctl.framework.csi_migration import MIGRATIONS

_TYING_WORDS = ("zone", "region", "topolog", "locality", "segment", "datacenter", "rack", "node", "host")
"""Parts of the names of parameters by which classes say where volumes are."""
_SAYS_NOTHING = ("", "false", "disabled", "none", "no", "0")


def allowed_reach(storage_class: storage.StorageClass) -> storage.VolumeNodeAffinity | None:
    """Return the nodes that the class's ``allowedTopologies`` allow, None for all."""
    terms = [
        NodeSelectorTerm(
            match_expressions=[
                NodeSelectorRequirement(key=each.key, operator="In", values=each.values)
                for each in term.match_label_expressions or ()
            ]
        )
        for term in storage_class.allowed_topologies or ()
        if term.match_label_expressions
    ]
    return storage.VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms)) if terms else None


def tie(storage_class: storage.StorageClass, cluster: Cluster) -> str:
    """Return what may tie a volume of a class to fewer nodes than all, "" where nothing says so.

    That is ``allowedTopologies of the class``, ``parameter zone of the class`` or ``topology key zone of its driver``.
    """
    if storage_class.allowed_topologies:
        return "allowedTopologies of the class"
    for name, value in sorted((storage_class.parameters or {}).items()):
        if value.lower() not in _SAYS_NOTHING and any(word in name.lower() for word in _TYING_WORDS):
            return f"parameter {name} of the class"
    driver = driver_of(storage_class)
    if storage.CSINode in cluster.missing:
        return "a topology key of its driver, CSINodes not being known,"
    installed = list(_topology_keys(driver, cluster))
    # where no node says anything of the driver, what Kubernetes knows of it counts
    known = installed or [(each.topology_key,) for each in MIGRATIONS if each.driver == driver]
    key = next((key for keys in known for key in keys if key), "")
    return f"topology key {key} of its driver" if key else ""


def _topology_keys(driver: str, cluster: Cluster) -> Iterator[tuple[str, ...]]:
    """Yield the keys by which a driver tells places apart, for each node that it is installed on."""
    for node in cluster.every(storage.CSINode).values():
        for each in node.spec.drivers or ():
            if each.name == driver:
                yield tuple(each.topology_keys or ())
