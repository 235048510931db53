"""What-ifs: changes to a cluster that somebody thinks about making, as values that compose.

A `Change` makes itself on a cluster, a fork or one that is not needed afterwards, on what the changes before have left;
nothing is scheduled here. They are a closed set, which ``what_if_syntax`` reads from command lines and policy files.
"""

from __future__ import annotations

from schedctl.simulation.what_ifs.changes import WhatIf, WhatIfResult, apply
from schedctl.simulation.what_ifs.displacement import is_mirror, pods_on, stays
from schedctl.simulation.what_ifs.nodes import (
    AddNodes,
    AddNodesLike,
    ClearTaint,
    Cordon,
    Drain,
    Lose,
    RemoveNode,
    SetLabel,
    SetTaint,
    remove_nodes,
)
from schedctl.simulation.what_ifs.phrases import abbreviate
from schedctl.simulation.what_ifs.workloads import Scale, SetPriority, Subject

__all__ = [
    "AddNodes",
    "AddNodesLike",
    "ClearTaint",
    "Cordon",
    "Drain",
    "Lose",
    "RemoveNode",
    "Scale",
    "SetLabel",
    "SetPriority",
    "SetTaint",
    "Subject",
    "WhatIf",
    "WhatIfResult",
    "abbreviate",
    "apply",
    "is_mirror",
    "pods_on",
    "remove_nodes",
    "stays",
]
