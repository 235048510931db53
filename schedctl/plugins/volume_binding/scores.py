"""How full the storage would get that a pod's claims take on a node, as a score (KEP-4049).

Each storage class is rated by itself with the configured shape, and the mean of the classes is the score.
"""

from __future__ import annotations

import numpy as np

from schedctl.api.meta import key_of
from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.errors import PluginError
from schedctl.framework.arithmetic import round_half_away
from schedctl.framework.resource_scoring import Rate
from schedctl.framework.volume_matching import requested_storage
from schedctl.plugins.volume_binding.node_terms import NOTHING
from schedctl.plugins.volume_binding.search import Dynamic, Outcome, Static


class _Use:
    """The use of one storage class on n nodes.

    Attributes:
        requested, capacity: int64 (n,), in bytes; they wrap.
        counted: bool (n,), the nodes where the class takes part.
    """

    def __init__(self, nodes: int) -> None:
        self.requested = np.zeros(nodes, np.int64)
        self.capacity = np.zeros(nodes, np.int64)
        self.counted = np.zeros(nodes, np.bool_)


def scores(outcome: Outcome, rows: IndexArray, rate: Rate) -> IntArray:
    """Return the scores of some nodes by row, int64 (n,).

    Raises:
        PluginError: kube-scheduler crashes over what it meets here.
    """
    uses: dict[str, _Use] = {}
    bound = np.zeros(len(rows), np.bool_)
    for static in outcome.static:
        bound |= _bind(static, rows, uses)
    for dynamic in outcome.dynamic:
        # where a claim is bound to a volume, provisioning does not count at all
        _provision(dynamic, rows, dynamic.rows[rows] & ~bound, uses)
    total, classes = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for use in uses.values():
        nothing = use.capacity == 0
        rated = rate(np.where(nothing, 2, use.requested), np.where(nothing, 1, use.capacity))  # more than there is
        total += np.where(use.counted, rated, 0)
        classes += use.counted
    return round_half_away(total / np.maximum(classes, 1)).astype(np.int64)


def _bind(static: Static, rows: IndexArray, uses: dict[str, _Use]) -> BoolArray:
    """Count a claim in where it is bound to a volume; return the nodes, bool (n,)."""
    positions = static.positions[rows]
    bound: BoolArray = positions != NOTHING
    where = np.flatnonzero(bound)
    capacities, classes = static.choices.capacities(positions[where])
    for code in np.unique(classes).tolist():
        use = uses.setdefault(static.choices.classes.values[code], _Use(len(rows)))
        of_class = classes == code
        at = where[of_class]
        use.requested[at] += requested_storage(static.claim).value
        use.capacity[at] += capacities[of_class]
        use.counted[at] = True
    return bound


def _provision(dynamic: Dynamic, rows: IndexArray, here: BoolArray, uses: dict[str, _Use]) -> None:
    """Count a claim in on the nodes where it is provisioned, bool (n,), from a capacity that somebody counts."""
    if dynamic.capacities is None or dynamic.positions is None or not here.any():
        return
    name = dynamic.claim.spec.storage_class_name
    if name is None:
        raise _crash(f"PersistentVolumeClaim {key_of(dynamic.claim)} names its class in an annotation")
    at = np.flatnonzero(here)
    positions = dynamic.positions[rows[at]]
    unknown = np.flatnonzero(~dynamic.capacities.known[positions])
    if len(unknown):
        metadata = dynamic.capacities.objects[int(positions[unknown[0]])].metadata
        raise _crash(f"CSIStorageCapacity {metadata.namespace}/{metadata.name} has a largest volume but no capacity")
    use = uses.setdefault(name, _Use(len(rows)))
    use.requested[at] += requested_storage(dynamic.claim).value
    use.capacity[at] = dynamic.capacities.values[positions]
    use.counted[at] = True


def _crash(cause: str) -> PluginError:
    return PluginError(f"kube-scheduler crashes here: {cause}")
