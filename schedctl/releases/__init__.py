"""The kube-scheduler releases whose decisions are reproduced: versions, feature gates, and what changed between minors.

A `Release` is a value that the cluster carries and plugins read when they are made; no rule compares version numbers.
"""

from schedctl.releases.changes import ReleaseChange
from schedctl.releases.gates import (
    GENERIC_WORKLOAD,
    OF_GROUPS,
    Gate,
    GateError,
    UnmodelledGateError,
    gates_of,
    of_unmodelled_groups,
    parse_gates,
)
from schedctl.releases.releases import (
    NEWEST,
    OLDEST,
    RELEASES,
    Release,
    is_version,
    minor_of,
    nearest_release,
    parse_release,
    release_named,
)

__all__ = [
    "GENERIC_WORKLOAD",
    "NEWEST",
    "OF_GROUPS",
    "OLDEST",
    "RELEASES",
    "Gate",
    "GateError",
    "Release",
    "ReleaseChange",
    "UnmodelledGateError",
    "gates_of",
    "is_version",
    "minor_of",
    "nearest_release",
    "of_unmodelled_groups",
    "parse_gates",
    "parse_release",
    "release_named",
]
