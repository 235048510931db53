"""How rejections of VolumeZone read: where the volume is, and where the node."""

from __future__ import annotations

from schedctl.framework.remedies import Evidence
from schedctl.framework.wording import Wording


def _wrong_zone(evidence: Evidence) -> str:
    """``volume pv-1 of claim data is in topology.kubernetes.io/zone=b, the node in a``."""
    place = f"{evidence['label']}={' or '.join(evidence['wanted'])}"
    node = f"the node in {evidence['has']}" if evidence["has"] is not None else "the node has no such label"
    return f"volume {evidence['volume']} of claim {evidence['claim']} is in {place}, {node}"


WORDING = {"volume-zone/elsewhere": Wording(_wrong_zone), "volume-zone": Wording()}
