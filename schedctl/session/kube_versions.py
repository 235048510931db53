"""Which kube-scheduler judges a state: the one that is asked for, else that of the cluster, else the newest.

Of a cluster the API server says it, or whoever wrote a snapshot, or the newest of the kubelets. A version that is not
reproduced is judged by the nearest one that is, which is said, and refused with ``--strict-version``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal, TypedDict

import msgspec

from schedctl.api.nodes import Node
from schedctl.errors import NotModelled, UsageError
from schedctl.releases import (
    NEWEST,
    RELEASES,
    GateError,
    Release,
    UnmodelledGateError,
    is_version,
    minor_of,
    nearest_release,
    of_unmodelled_groups,
    parse_gates,
)
from schedctl.reports.metadata import VersionSkew, VersionSource
from schedctl.session.version_options import VersionOptions

if TYPE_CHECKING:
    from schedctl.live.listing import Listing
    from schedctl.session.notifiers import Notifier
    from schedctl.sources import Manifests

Minor = tuple[int, int]
_KUBELET_SKEW: Final = 3
"""By how many minor versions a kubelet may be older than its API server."""
_CHANGES: Final[tuple[tuple[Minor, tuple[str, ...]], ...]] = (
    ((1, 27), ("minDomains and matchLabelKeys of spread constraints count", "scheduling gates hold pods back")),
    ((1, 31), ("matchLabelKeys of pod affinity count",)),
    ((1, 33), ("requests resized in place count",)),
    ((1, 34), ("ResourceClaims are allocated", "pod-level resources count")),
    ((1, 35), ("nodes are scored by alternatives of device requests", "values of distinctAttribute are compared")),
    (
        (1, 36),
        (
            "NodeResourcesBalancedAllocation scores how much the pod evens out the use of a node",
            "images of volumes count",
            "nodes without a declared feature are rejected",
            "devices answer extended resources",
            "device taints, partitions and shared capacity count",
        ),
    ),
    (
        (1, 37),
        (
            "NodeName is asked before NodeUnschedulable",
            "DeviceTaintRules count",
            "nodes are scored by storage capacity",
            "nodes without the CSI driver of a volume are rejected",
        ),
    ),
)
"""What changed for placements, by the minor version in which kube-scheduler does it by default for the first time."""


_WHOSE: Final = {"APIServer": "the API server is", "Snapshot": "the snapshot is of", "Kubelets": "the kubelets are"}


class StateVersion(msgspec.Struct, frozen=True):
    """The version of a state.

    Attributes:
        source: who says it.
        version: of the API server; of several kubelets the newest.
        schedulers: the oldest and the newest kube-scheduler that goes with it.
        oldest: of kubelets of several minor versions the oldest, else "".
    """

    source: Literal["APIServer", "Snapshot", "Kubelets"]
    version: str
    schedulers: tuple[Minor, Minor]
    oldest: str = ""


class Rules(msgspec.Struct, frozen=True):
    """The kube-scheduler that judges.

    Attributes:
        release: the kube-scheduler.
        source: why it is this one.
        skew: that the state is of another minor version, None where it is not or nobody says.
        nearest: the version that was asked for and is not reproduced, "" where it is.
        assumption: what is assumed of the version where kubelets differ, "" where nothing is.
    """

    release: Release = NEWEST
    source: VersionSource = "Newest"
    skew: VersionSkew | None = None
    nearest: str = ""
    assumption: str = ""


def rules_of(options: VersionOptions, state: StateVersion | None = None) -> Rules:
    """Return the kube-scheduler that judges a state.

    Args:
        options: what the options say.
        state: the version of the state, None where nobody says, or nothing is read yet.

    Raises:
        NotModelled: a gate is about pod groups that are not modelled.
        UsageError: the version is none, or is not reproduced and has to be; a gate cannot be set.
    """
    version = options.kube_version
    source: VersionSource = "Option" if version else "Newest"
    if not version and state is not None:
        version, source = state.version, state.source
    if not version:
        return Rules(_with_gates(NEWEST, options))
    minor = minor_of(version) if source != "Option" or is_version(version) else None
    if minor is None:
        message = f'{options.option} "{version}" is no version of Kubernetes'
        raise UsageError(message, f"e.g. `{options.setting or f'{options.option} '}1.36`; there are {_list_versions()}")
    release = nearest_release(minor)
    is_reproduced = release.minor == minor
    if options.strict and not is_reproduced:
        raise UsageError(f"kube-scheduler {version} is not reproduced", f"there are {_list_versions()}")
    nearest = version if source == "Option" and not is_reproduced else ""
    skew = _skew(state, release)
    assumption = _assumption(state, release) if state is not None and source == "Kubelets" and skew is None else ""
    return Rules(_with_gates(release, options), source, skew, nearest, assumption)


def release_of(version: str, notifier: Notifier, feature_gates: str = "") -> Release:
    """Return the kube-scheduler of a version, "" for the newest, with gates set, where no state is read.

    Raises:
        UsageError: it is no version, or a gate cannot be set.
    """
    rules = rules_of(VersionOptions(version, feature_gates=feature_gates))
    tell_nearest(rules, notifier)
    return rules.release


def state_version(manifests: Manifests, listing: Listing | None) -> StateVersion | None:
    """Return the version of a state, None where nobody says.

    By Kubernetes' version skew policy kube-scheduler is of the API server's minor version or one below. Kubelets of
    a cluster whose API server is known decide nothing; where they are all that is known, the API server is as new
    as the newest of them and at most three minor versions newer than the oldest.
    """
    version = listing.server_version if listing is not None else ""
    source: Literal["APIServer", "Snapshot"] = "APIServer"
    if not version:
        source, version = "Snapshot", _newest(header.server_version for header in manifests.snapshots)
    minor = minor_of(version)
    if minor is not None:
        return StateVersion(source, version, ((minor[0], minor[1] - 1), minor))
    nodes = (one.object for one in manifests.objects if isinstance(one.object, Node))
    kubelets = {node.status.node_info.kubelet_version for node in nodes}
    known = sorted((found, each) for each in kubelets if (found := minor_of(each)) is not None)
    if not known:
        return None
    (oldest, old), ((major, newest), new) = known[0], known[-1]
    schedulers = (major, newest - 1), (oldest[0], oldest[1] + _KUBELET_SKEW)
    return StateVersion("Kubelets", new, schedulers, old if oldest != (major, newest) else "")


class VersionFields(TypedDict):
    """What `schedctl.reports.metadata.Metadata` says of the version."""

    kubernetes_version: str
    version_source: VersionSource
    feature_gates: list[str]
    version_skew: VersionSkew | None


def fields(rules: Rules) -> VersionFields:
    """Return what reports say of the kube-scheduler that judges."""
    return VersionFields(
        kubernetes_version=rules.release.version,
        version_source=rules.source,
        feature_gates=[f"{name}={str(value).lower()}" for name, value in sorted(rules.release.switches.items())],
        version_skew=rules.skew,
    )


def tell_nearest(rules: Rules, notifier: Notifier) -> None:
    """Say that the version is not reproduced, where it is not."""
    if rules.nearest:
        notifier.warn(_nearest(rules), f"there are {_list_versions()}")


def tell(rules: Rules, notifier: Notifier) -> None:
    """Say what of the choice is not as one might expect."""
    if rules.nearest:
        notifier.warn(_nearest(rules), f"there are {_list_versions()}; `--strict-version` refuses others")
    if rules.skew is not None:
        notifier.warn(rules.skew.text, describe(rules.skew))
    if rules.assumption:
        notifier.warn(rules.assumption, "name kube-scheduler's own with `--kube-version`")


def describe(difference: VersionSkew) -> str:
    """Return what differs between the two versions, in words."""
    if not difference.differences:
        return "schedctl does not know the differences between them"
    state, rules = minor_of(difference.state_version), minor_of(difference.rules_version)
    differences = "; ".join(difference.differences)
    if state is None or rules is None:
        return f"changed by default since {difference.state_version}: {differences}"
    if rules < state:
        return f"not yet so by default in v{rules[0]}.{rules[1]}: {differences}"
    return f"changed by default since v{state[0]}.{state[1]}: {differences}"


def _skew(state: StateVersion | None, release: Release) -> VersionSkew | None:
    """Return how the version of a state differs from that of the rules, None where it does not or nobody says."""
    found = minor_of(state.version) if state is not None else None
    if state is None or found is None or found == release.minor:
        return None
    older, newer = sorted((found, release.minor))
    changes = [
        f"{what} (v{major}.{minor})"
        for (major, minor), texts in _CHANGES
        if older < (major, minor) <= newer
        for what in texts
    ]
    oldest, newest = state.schedulers
    subject, consequence = f"{_WHOSE[state.source]} {_version_range(state)}", ", but answers follow"
    if oldest <= release.minor <= newest:
        versions = f"v{oldest[0]}.{oldest[1]} to v{newest[0]}.{newest[1]}"
        consequence = f", so that kube-scheduler may be {versions}; answers follow"
    return VersionSkew(
        source=state.source,
        state_version=state.version,
        rules_version=release.version,
        differences=changes,
        text=f"{subject}{consequence} the rules of kube-scheduler {release.version}",
    )


def _version_range(state: StateVersion) -> str:
    return f"{state.oldest} to {state.version}" if state.oldest else state.version


def _assumption(state: StateVersion, release: Release) -> str:
    """Return what is assumed where kubelets are of several minor versions, as in an upgrade; "" where they agree."""
    if not state.oldest:
        return ""
    (_, oldest), (_, newest) = state.schedulers
    major, minor = release.minor
    may_be = f", but may be v{major}.{oldest} to v{major}.{newest}"
    if oldest > newest:
        may_be = f"; Kubernetes supports no cluster whose kubelets are more than {_KUBELET_SKEW} minor versions apart"
    return (
        f"the kubelets are {_version_range(state)}, and the API server's version is not known;"
        f" kube-scheduler is assumed to be v{major}.{minor}, as the newest kubelet{may_be}"
    )


def _with_gates(release: Release, options: VersionOptions) -> Release:
    try:
        return release.with_gates(parse_gates(options.feature_gates))
    except UnmodelledGateError as error:
        if what := of_unmodelled_groups(error.name, release.version):
            raise NotModelled(f"kube-scheduler {release.version}", what, f"--feature-gates {error.name}") from None
        raise UsageError(f"--feature-gates: {error} (kube-scheduler {release.version})", error.hint) from None
    except GateError as error:
        raise UsageError(f"--feature-gates: {error} (kube-scheduler {release.version})", error.hint) from None


def _nearest(rules: Rules) -> str:
    return f"kube-scheduler {rules.nearest} is not reproduced; answers follow {rules.release.version}, the nearest"


def _list_versions() -> str:
    return ", ".join(release.version for release in RELEASES)


def _newest(versions: Iterable[str]) -> str:
    """Return the version with the highest minor, "" where none can be read."""
    known = [(minor, version) for version in versions if (minor := minor_of(version)) is not None]
    return max(known)[1] if known else ""
