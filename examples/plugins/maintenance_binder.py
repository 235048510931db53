"""MaintenanceBinder: a Bind that has the last word about nodes under maintenance.

For operators whose tooling marks nodes by the annotation ``maintenance.example.com/until``, not by a taint. A Filter
would keep pods away as well; a binder also refuses where a decision was made on an old view of the node.

Extension point: ``bind``, before DefaultBinder::

    schedctl simulate web.yaml -f cluster.yaml --plugin examples/plugins/maintenance_binder.py \
        --scheduler-config examples/profiles/maintenance-binder.yaml
"""

from __future__ import annotations

from schedctl.framework.cycles import Cycle
from schedctl.framework.points import BindPlugin
from schedctl.framework.reasons import Reason
from schedctl.framework.statuses import SKIP, Status

UNTIL = "maintenance.example.com/until"


class MaintenanceBinder(BindPlugin):
    """Refuses to bind to nodes under maintenance; all others it leaves to the next binder."""

    closed = Reason("node {node} is under maintenance until {until}")

    def bind(self, cycle: Cycle, node_name: str) -> Status:
        """Look at the annotation of the node."""
        node = self.handle.cluster.nodes_named([node_name]).object(0)
        until = (node.metadata.annotations or {}).get(UNTIL)
        return SKIP if until is None else self.closed.status(node=node_name, until=until)
