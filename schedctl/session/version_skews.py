"""Whether a state is of another minor version of Kubernetes than the rules by which it is judged, and what that means.

Which rules are in force does not depend on it: `schedctl.versions` names the one kube-scheduler that there is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from schedctl.reports.metadata import VersionSkew
from schedctl.versions import KUBERNETES_VERSION

if TYPE_CHECKING:
    from schedctl.cache.cluster import Cluster
    from schedctl.session.states import State

Minor = tuple[int, int]
_MINOR: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?!\d)")
_KUBELET_SKEW: Final = 3
"""By how many minor versions a kubelet may be older than its API server."""
_CHANGES: Final[tuple[tuple[Minor, tuple[str, ...]], ...]] = (
    ((1, 27), ("minDomains and matchLabelKeys of spread constraints count", "scheduling gates hold pods back")),
    ((1, 31), ("matchLabelKeys of pod affinity count",)),
    ((1, 33), ("requests resized in place count",)),
    ((1, 34), ("ResourceClaims are allocated", "pod-level resources count")),
    (
        (1, 36),
        (
            "nodes without a declared feature are rejected",
            "devices answer extended resources",
            "device taints, partitions and shared capacity count",
        ),
    ),
    (
        (1, 37),
        (
            "DeviceTaintRules count",
            "nodes are scored by storage capacity",
            "nodes without the CSI driver of a volume are rejected",
        ),
    ),
)
"""What changed for placements, by the minor version in which kube-scheduler does it by default for the first time."""


def skew(state: State) -> VersionSkew | None:
    """Return how the version of a state differs from that of the rules, None where it does not or nobody says."""
    source, version, schedulers = _version(state)
    found, rules = _minor(version), _minor(KUBERNETES_VERSION)
    if found is None or rules is None or found == rules:
        return None
    older = found < rules
    changes = [
        f"{what} (v{major}.{minor})"
        for (major, minor), texts in _CHANGES
        if older and found < (major, minor) <= rules
        for what in texts
    ]
    whose = {"APIServer": "the API server is", "Snapshot": "the snapshot is of", "Kubelets": "the kubelets are"}[source]
    oldest, newest = schedulers
    consequence = ", but answers follow"
    if oldest <= rules <= newest:
        versions = f"v{oldest[0]}.{oldest[1]} to v{newest[0]}.{newest[1]}"
        consequence = f", so that kube-scheduler may be {versions}; answers follow"
    return VersionSkew(
        source=source,
        state_version=version,
        rules_version=KUBERNETES_VERSION,
        differences=changes,
        text=f"{whose} {version}{consequence} the rules of kube-scheduler {KUBERNETES_VERSION}",
    )


def describe(difference: VersionSkew) -> str:
    """Return what differs between the two versions, in words."""
    if not difference.differences:
        return "schedctl does not know the differences between them"
    minor = _minor(difference.state_version)
    since = f"v{minor[0]}.{minor[1]}" if minor is not None else difference.state_version
    return f"changed by default since {since}: {'; '.join(difference.differences)}"


def _version(state: State) -> tuple[Literal["APIServer", "Snapshot", "Kubelets"], str, tuple[Minor, Minor]]:
    """Return the version of a state, who says so, and the oldest and newest kube-scheduler that goes with it.

    By Kubernetes' version skew policy kube-scheduler is of the API server's minor version or one below. Kubelets of
    a cluster whose API server is known decide nothing; where they are all that is known, the API server is as new
    as the newest of them and at most three minor versions newer than the oldest.
    """
    source: Literal["APIServer", "Snapshot"] = "APIServer"
    version = state.listing.server_version if state.listing is not None else ""
    if not version:
        source, version = "Snapshot", _newest([header.server_version for header in state.manifests.snapshots])
    if version:
        major, minor = _minor(version) or (0, 0)
        return source, version, ((major, minor - 1), (major, minor))
    kubelets = _kubelet_versions(state.assembled.cluster)
    oldest = min((found for each in kubelets if (found := _minor(each)) is not None), default=(0, 0))
    version = _newest(kubelets)
    major, minor = _minor(version) or (0, 0)
    return "Kubelets", version, ((major, minor - 1), (oldest[0], oldest[1] + _KUBELET_SKEW))


def _kubelet_versions(cluster: Cluster) -> set[str]:
    table = cluster.node_table
    return {table.objects[row].status.node_info.kubelet_version for row in table.row_of.values()}


def _newest(versions: set[str] | list[str]) -> str:
    """Return the version with the highest minor, "" where none can be read."""
    known = [(minor, version) for version in versions if (minor := _minor(version)) is not None]
    return max(known)[1] if known else ""


def _minor(version: str) -> Minor | None:
    found = _MINOR.match(version)
    return (int(found[1]), int(found[2])) if found else None
