"""PlacementRecords: a PreBind that writes down what it would have done, as an object in the cluster.

A PreBind of a real scheduler writes before the pod is bound: an annotation for a device plugin, an address in an IPAM.
In a dry run it goes into the cluster, where later pods, tests and whoever uses schedctl as a library find it; here a
ledger of who runs where, at whose cost, by the label ``cost-center``: ``cluster.every(PlacementRecord)``.

Extension point: ``preBind``::

    schedctl simulate jobs.yaml -f cluster.yaml --plugin examples/plugins/placement_records.py \
        --scheduler-config examples/profiles/placement-records.yaml
"""

from __future__ import annotations

from schedctl.api.meta import ObjectMeta, Struct
from schedctl.config.args import PluginArgs
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import PreBindPlugin
from schedctl.framework.reasons import Reason
from schedctl.framework.statuses import SUCCESS, Status

COST_CENTER = "cost-center"


class PlacementRecord(Struct, frozen=True):
    """Who runs where, at whose cost; it is named like the pod."""

    metadata: ObjectMeta
    node: str
    cost_center: str = ""


class PlacementRecordsArgs(PluginArgs, frozen=True):
    """Whether a pod without a cost center is refused."""

    required: bool = False


class PlacementRecords(PreBindPlugin):
    """Records each placement before the pod is bound."""

    args_type = PlacementRecordsArgs
    memory_only = True

    nobody_pays = Reason("pod has no label {label}", unresolvable=True)

    def pre_bind(self, cycle: Cycle, node_name: str) -> Status:
        """Put the record into the cluster."""
        pod = cycle.pod
        center = pod.labels.get(COST_CENTER, "")
        args: PlacementRecordsArgs = self.args or PlacementRecordsArgs()
        if args.required and not center:
            # refused at the last moment, the pod gives back all that was reserved for it
            return self.nobody_pays.status(label=COST_CENTER)
        metadata = ObjectMeta(name=pod.pod.metadata.name, namespace=pod.namespace)
        self.handle.cluster.put(PlacementRecord(metadata=metadata, node=node_name, cost_center=center))
        return SUCCESS
