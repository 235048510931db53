"""The contracts between the engine and the plugins: the scheduling framework itself (KEP-624).

``points`` has one base class per extension point; the other modules have what its methods take and return, or what the
plugins of several points share. What is listed here is what the author of a plugin needs::

    from schedctl.framework import FilterPlugin, Reason, per_node
"""

from schedctl.api.durations import Duration
from schedctl.cache.arrays import BoolArray, IntArray
from schedctl.cache.changes import Change, ChangeKind
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import ClusterView, NodeInfo, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.config.args import PluginArgs
from schedctl.framework.arithmetic import MAX_NODE_SCORE, default_normalize
from schedctl.framework.cycles import Cycle, CycleState, StateKey
from schedctl.framework.events import Action, ClusterEvent, Hint, Registration, Resource, registers
from schedctl.framework.handles import Handle
from schedctl.framework.lifting import per_node
from schedctl.framework.points import (
    BindPlugin,
    FilterPlugin,
    NodeSet,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from schedctl.framework.reasons import ACCEPT, CodeColumn, Lookup, Reason, Verdict, Verdicts
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status, error, unresolvable, unschedulable, wait
from schedctl.framework.waiting_pods import WaitingPod

__all__ = [
    "ACCEPT",
    "MAX_NODE_SCORE",
    "SKIP",
    "SUCCESS",
    "Action",
    "BindPlugin",
    "BoolArray",
    "Change",
    "ChangeKind",
    "Cluster",
    "ClusterEvent",
    "ClusterView",
    "Code",
    "CodeColumn",
    "Cycle",
    "CycleState",
    "Duration",
    "FilterPlugin",
    "Handle",
    "Hint",
    "IntArray",
    "Lookup",
    "NodeInfo",
    "NodeSet",
    "Nodes",
    "PermitPlugin",
    "Plugin",
    "PluginArgs",
    "PodInfo",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PostFilterResult",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFilterPlugin",
    "PreScorePlugin",
    "QueueSortPlugin",
    "Reason",
    "Registration",
    "ReservePlugin",
    "Resource",
    "ScorePlugin",
    "StateKey",
    "Status",
    "Verdict",
    "Verdicts",
    "WaitingPod",
    "default_normalize",
    "error",
    "per_node",
    "registers",
    "unresolvable",
    "unschedulable",
    "wait",
]
