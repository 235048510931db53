"""A page about a cluster whose names are written by somebody who means harm; no API server would let them in."""

from __future__ import annotations

import msgspec

from schedctl.explain.explanations import explain, report
from schedctl.render.html import documents
from schedctl.reports.reasons import Hint
from schedctl.scheduler import Scheduler
from schedctl.simulation.node_maps import node_map
from schedctl.testing.builders import cluster, node, pod

MARKUP = "<img src=x onerror=alert(1)>"
SCRIPT = "</script><script>alert(2)</script>"
QUOTED = '" onmouseover="alert(3)'
REVERSED = "evil\u202egnp.exe"
LONG = "a" * 10_000
NAMES = (MARKUP, SCRIPT, QUOTED, REVERSED, LONG)


def hostile_page() -> str:
    """Return a page in which names, zones, pools, taints, commands and texts mean harm."""
    taints = [{"key": QUOTED, "value": SCRIPT, "effect": "NoSchedule"}]
    nodes = [
        node(
            name, zone=NAMES[number - 1], labels={"node-pool": NAMES[number - 2]}, taints=taints if number % 2 else None
        )
        for number, name in enumerate(NAMES)
    ]
    state = cluster(*nodes, pod("other", on=MARKUP, labels={"app": SCRIPT}))
    asked = pod(
        MARKUP,
        namespace=SCRIPT,
        cpu="100",
        labels={"app": SCRIPT},
        image=QUOTED,
        topologySpreadConstraints=[
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": SCRIPT}},
            }
        ],
    )
    answer = explain(Scheduler(state), asked)
    hints = [Hint("lower-request", SCRIPT, tried=True, fits=1, node=MARKUP, command=f"echo '{MARKUP}' {QUOTED}")]
    answer = msgspec.structs.replace(answer, hints=hints, notes=[MARKUP, REVERSED, LONG], pods=[MARKUP])
    return documents.document(msgspec.structs.replace(report([answer]), node_map=node_map(state)))
