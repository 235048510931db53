"""How rejections of NodeVolumeLimits read: how many volumes are attached, and for whom; and what nobody can know."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.api.storage import NO_PROVISIONER, CSIDriver, CSINode
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.remedies import Evidence
from schedctl.framework.wording import Wording, few
from schedctl.plugins.node_volume_limits.volumes import attachments


def _attachment_count(evidence: Evidence) -> str:
    """``2 of at most 2 volumes attached, by lab/gitea, lab/notebook; used by no pod: pv-old``."""
    holders = few(list(evidence["holders"]))
    number = f"{evidence['used']} of at most {evidence['limit']} volumes attached"
    text = f"{number}, by {holders}" if holders else number
    unused = [each["volume"] for each in evidence["attached"] if not each["pods"]]
    return f"{text}; used by no pod: {few(unused)}" if unused else text


def _new_attachments(all_evidence: Sequence[Evidence]) -> str:
    """``cinder.csi.openstack.org: 1 more for volume results``."""
    lines = {
        f"{evidence['driver']}: {evidence['new']} more for volume{'s' if len(evidence['volumes']) > 1 else ''}"
        f" {few(evidence['volumes'])}": None
        for evidence in all_evidence
    }
    return "; ".join(lines)


def excess(evidence: Evidence) -> int:
    """Return by how many volumes a limit would be exceeded."""
    return int(evidence["used"] + evidence["new"] - evidence["limit"])


def _need_driver(evidence: Evidence) -> str:
    """``volume data needs it``."""
    volumes = evidence["volumes"]
    return f"volume{'s' if len(volumes) > 1 else ''} {few(volumes)} need{'' if len(volumes) > 1 else 's'} it"


def _unreadable(evidence: Evidence) -> str:
    """``because of pod shop/web``."""
    return f"because of pod {evidence['pod']}" if "pod" in evidence else ""


def unknown_limits(pod: PodInfo, cluster: Cluster) -> str:
    """Return the note that no limit of attached volumes is known, "" where one is, or where none concerns the pod."""
    if cluster.every(CSINode):
        return ""
    required = attachments(cluster, pod, migrating=True, running=False)
    drivers = [driver for driver in required.drivers if _attaches(driver, cluster)]
    if not drivers:
        return ""
    return f"the state has no CSINode: how many volumes of {few(drivers)} a node can attach is unknown and not checked"


def _attaches(driver: str, cluster: Cluster) -> bool:
    known = cluster.get(CSIDriver, driver)
    return driver != NO_PROVISIONER and (known is None or known.spec.attach_required is not False)


WORDING = {
    "node-volume-limits/driverless": Wording(_need_driver),
    "node-volume-limits/exceeded": Wording(_attachment_count, _new_attachments, excess),
    "node-volume-limits/unreadable": Wording(_unreadable),
    "node-volume-limits": Wording(),
}
