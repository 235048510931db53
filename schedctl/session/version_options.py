"""What the options say about the version: apart from `kube_versions`, which reads more than a command line needs."""

from __future__ import annotations

from typing import Final

import msgspec


class VersionOptions(msgspec.Struct, frozen=True):
    """What the options say about the version.

    Attributes:
        kube_version: the version to judge by, e.g. ``1.36``; "" for the cluster's.
        feature_gates: gates that are set, ``A=true,B=false``.
        strict: whether a version that is not reproduced is refused, instead of judged by the nearest.
        option: what sets the version, for messages about it.
        setting: how it is set there, but for the version; "" as an option is.
    """

    kube_version: str = ""
    feature_gates: str = ""
    strict: bool = False
    option: str = "--kube-version"
    setting: str = ""


DEFAULT_VERSION: Final = VersionOptions()
