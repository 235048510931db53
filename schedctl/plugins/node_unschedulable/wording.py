"""How rejections of NodeUnschedulable read."""

from __future__ import annotations

from schedctl.framework.wording import Wording

WORDING = {"node-unschedulable/cordoned": Wording(lambda evidence: "cordoned")}
