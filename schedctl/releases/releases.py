"""`Release`: one kube-scheduler, a version with its gates, and which of them there are.

A release is asked two things: whether a gate is on, and whether a `ReleaseChange` is part of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from schedctl.releases.changes import ReleaseChange
from schedctl.releases.gates import has_groups, settle

Minor = tuple[int, int]


@dataclass(frozen=True)
class Release:
    """One kube-scheduler.

    Attributes:
        version: e.g. ``v1.36.3``.
        switches: the gates that are set, by name, beside their defaults.

    Raises:
        GateError: a gate cannot be set so.
    """

    version: str
    switches: Mapping[str, bool] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.switches:
            _ = self._on

    @cached_property
    def minor(self) -> Minor:
        """The minor version, e.g. ``(1, 36)``."""
        major, minor, _ = self.version.removeprefix("v").split(".")
        return int(major), int(minor)

    @cached_property
    def _on(self) -> frozenset[str]:
        return settle(self.version, self.switches)

    def enabled(self, gate: str) -> bool:
        """Return whether a gate is on; one that this version does not have is off."""
        return gate in self._on

    @property
    def has_groups(self) -> bool:
        """Whether it knows the pod groups of scheduling.k8s.io/v1beta1, behind a gate or not."""
        return has_groups(self.version)

    def includes(self, change: ReleaseChange) -> bool:
        """Return whether a change is part of this version."""
        return self.minor >= change.since

    def with_gates(self, switches: Mapping[str, bool]) -> Release:
        """Return the same version with gates set.

        Raises:
            GateError: a gate cannot be set so.
        """
        return replace(self, switches=dict(self.switches) | dict(switches)) if switches else self


RELEASES: Final = tuple(Release(version) for version in ("v1.34.4", "v1.35.4", "v1.36.3", "v1.37.1"))
"""Those that are reproduced, oldest first."""
NEWEST: Final = RELEASES[-1]
OLDEST: Final = RELEASES[0]


_VERSION: Final = re.compile(r"v?\d{1,4}\.\d{1,4}(\.\d{1,4})?([-+]\S*)?")
_MINOR: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?!\w)")


def minor_of(version: str) -> Minor | None:
    """Return the minor version that a text begins with, e.g. ``v1.29.3-eks-5e0fdde`` or ``1.36``, None for none."""
    found = _MINOR.match(version)
    return (int(found[1]), int(found[2])) if found else None


def is_version(text: str) -> bool:
    """Return whether a text is a version as people and clouds write it, e.g. ``1.36``, ``v1.29.3-eks-5e0fdde``."""
    return _VERSION.fullmatch(text.strip()) is not None


def parse_release(version: str) -> Release:
    """Return the release of a version, whatever its patch.

    Raises:
        ValueError: it is no version, or none that is reproduced.
    """
    minor = minor_of(version)
    found = release_named(minor) if minor is not None else None
    if found is None:
        raise ValueError(f"no kube-scheduler {version}: there are {', '.join(each.version for each in RELEASES)}")
    return found


def release_named(minor: Minor) -> Release | None:
    """Return the release of a minor version, None where it is not reproduced."""
    return next((release for release in RELEASES if release.minor == minor), None)


def nearest_release(minor: Minor) -> Release:
    """Return the release of a minor version, or the nearest to it."""
    return release_named(minor) or (OLDEST if minor < OLDEST.minor else NEWEST)
