"""How rejections of NodeName read."""

from __future__ import annotations

from schedctl.framework.wording import Wording

WORDING = {"node-name/other": Wording(summary=lambda found: f"spec.nodeName is {found[0]['requested']}")}
