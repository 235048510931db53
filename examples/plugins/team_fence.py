"""TeamFence: a Filter that keeps the pods of other teams off the nodes of a team.

For clusters in which teams bring their own nodes. A node with the label ``team`` takes only pods with the same label;
a node without it takes everybody.

Extension point: ``filter``::

    schedctl explain pod web-0 -n shop -f cluster.yaml --plugin examples/plugins/team_fence.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.cache.nodes import NodeInfo
from schedctl.cache.pod_info import PodInfo
from schedctl.config.args import PluginArgs
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.lifting import per_node
from schedctl.framework.points import FilterPlugin
from schedctl.framework.reasons import Reason, Verdict

if TYPE_CHECKING:  # what only an explanation needs is imported where it is used
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


class TeamFenceArgs(PluginArgs, frozen=True):
    """The label, of nodes and of pods, that names the team."""

    label: str = "team"


class TeamFence(FilterPlugin):
    """Refuses the nodes of other teams.

    It says itself how its rejections read and what would undo them: `explain` tries the pod with the label of each team
    in turn.
    """

    args_type = TeamFenceArgs

    other_team = Reason("node(s) belong to team {owner}", unresolvable=True)

    def signature(self, pod: PodInfo) -> str:
        """The team of the pod."""
        return pod.labels.get(self._label, "")

    def events_to_register(self) -> tuple[Registration, ...]:
        """A node that is new or has other labels, if it would take the pod; and other labels of the pod."""
        return (
            registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL, self._after_node),
            registers(Resource.TARGET_POD, Action.UPDATE_POD_LABEL),
        )

    @per_node  # enough to try a rule out, and fast enough for a few thousand nodes
    def filter(self, cycle: Cycle, node: NodeInfo) -> Verdict | None:
        """Compare the team of the node with that of the pod."""
        owner = node.labels.get(self._label, "")
        return self.other_team(owner=owner) if owner not in ("", self.signature(cycle.pod)) else None

    def wording(self) -> Mapping[str, Wording]:
        """Whose the node is."""
        from schedctl.framework.wording import Wording

        return {self.other_team.reference: Wording(lambda evidence: f"belongs to team {evidence['owner']}")}

    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        """The pod may belong to the team of the node, if somebody only forgot to say so."""
        from schedctl.framework.remedies import Remedy, edit_pod

        owner = rejection.evidence["owner"]

        def join(written: Pod) -> Pod:
            labels = {**(written.metadata.labels or {}), self._label: owner}
            return msgspec.structs.replace(written, metadata=msgspec.structs.replace(written.metadata, labels=labels))

        return [Remedy("join-team", f"it had label {self._label}={owner}", edit_pod(join), effort=2, subject=owner)]

    @property
    def _label(self) -> str:
        args: TeamFenceArgs = self.args or TeamFenceArgs()
        return args.label

    def _after_node(self, pod: PodInfo, before: Node | None, after: Node) -> Hint:
        owner = (after.metadata.labels or {}).get(self._label, "")
        return Hint.QUEUE if owner in ("", self.signature(pod)) else Hint.SKIP
