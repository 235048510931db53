"""What would undo a rejection of NodeVolumeLimits: volumes that are detached, or a driver that is installed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from schedctl.api import meta, storage
from schedctl.api.pods import Pod
from schedctl.cache.cluster import Cluster
from schedctl.framework.remedies import MOST_REMOVED_PODS, Evidence, Reach, Rejection, Remedies, Remedy, remove_pods
from schedctl.framework.wording import name_with_verb
from schedctl.plugins.node_volume_limits.wording import excess

_replace = msgspec.structs.replace


def remedies(rejection: Rejection) -> Remedies:
    """Return that volumes are detached, or that the driver is installed."""
    match rejection.reference:
        case "node-volume-limits/exceeded":
            return _make_room(rejection.node, rejection.evidence)
        case "node-volume-limits/driverless":
            return [_install_driver(rejection.node, rejection.evidence["driver"])]
    return []


def _make_room(node: str, evidence: Evidence) -> list[Remedy]:
    """Detach what no pod uses, or let pods go whose volumes make room: one if one is enough, else the largest."""
    missing, attached = excess(evidence), evidence["attached"]
    unused = [each for each in attached if not each["pods"]]
    idle = [_detach(node, (), unused[:missing])] if len(unused) >= missing else []
    holders = sorted(evidence["holders"].items(), key=lambda holder: (holder[1], holder[0]))
    enough = [pod for pod, volumes in holders if volumes >= missing]
    if enough:
        return idle + [_detach(node, (pod,), attached) for pod in enough[:MOST_REMOVED_PODS]]
    pods: list[str] = []
    for pod, volumes in reversed(holders):
        pods.append(pod)
        missing -= volumes
        if missing <= 0:
            break
    fits = missing <= 0 and len(pods) <= MOST_REMOVED_PODS
    return [*idle, _detach(node, tuple(sorted(pods)), attached)] if fits else idle


def _detach(node: str, pods: tuple[str, ...], attached: Sequence[Evidence]) -> Remedy:
    """Let pods go with those of the attached volumes that no other pod there uses.

    A volume stays attached when its pod goes, until its VolumeAttachment is deleted too.
    """
    theirs = [each for each in attached if set(each["pods"]) <= set(pods) and (each["pods"] or not pods)]
    removal = remove_pods(pods)
    if not theirs:
        return removal
    volumes, attachments = (tuple(each[of] for each in theirs) for of in ("volume", "attachment"))

    def detach(pod: Pod, cluster: Cluster) -> Pod:
        for name in attachments:
            attachment = cluster.get(storage.VolumeAttachment, name)
            if attachment is not None:
                cluster.delete(attachment)
        return pod

    condition = f"{name_with_verb('volume', volumes)} detached from {node}"
    reach = Reach.OTHER_PODS if pods else Reach.NODE
    if pods:
        condition = f"{removal.condition} and {condition}"
    return Remedy("detach-volumes", condition, detach, effort=4, removed_pods=pods, reach=reach, size=max(len(pods), 1))


def _install_driver(name: str, driver: str) -> Remedy:
    """Install a driver on a node, which attaches any number of volumes then."""

    def install(pod: Pod, cluster: Cluster) -> Pod:
        node = cluster.get(storage.CSINode, name) or storage.CSINode(metadata=meta.ObjectMeta(name=name))
        drivers = [*(node.spec.drivers or ()), storage.CSINodeDriver(name=driver, node_id=name)]
        cluster.put(_replace(node, spec=_replace(node.spec, drivers=drivers)))
        return pod

    condition = f"CSI driver {driver} is installed on {name}"
    return Remedy("install-driver", condition, install, effort=4, subject=driver, reach=Reach.NODE)
