"""The versions of Kubernetes that a policy is for, as in ``>=1.35 <1.38``, and what to say of any other."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Final

import msgspec

from schedctl.releases import minor_of
from schedctl.reports.metadata import Metadata

Minor = tuple[int, int]
_COMPARISONS: Final[dict[str, Callable[[Minor, Minor], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "!=": operator.ne,
    "": operator.eq,
}
_BOUND: Final = re.compile(r"(>=|<=|!=|>|<|=|)\s*v?([0-9]{1,4})\.([0-9]{1,4})")
_NEXT: Final = re.compile(r"\s*,\s*|\s+|\Z")


class VersionDemand(msgspec.Struct, frozen=True):
    """The minor versions that a policy is for.

    Attributes:
        text: as written.
        bounds: comparisons and what a version is compared with, all of which must hold.
    """

    text: str
    bounds: tuple[tuple[str, Minor], ...]

    @classmethod
    def parse(cls, text: str) -> VersionDemand:
        """Return what a text demands.

        Raises:
            ValueError: it is no demand.
        """
        bounds, at = [], 0
        text = text.strip()
        while at < len(text):
            bound = _BOUND.match(text, at)
            separator = _NEXT.match(text, bound.end()) if bound is not None else None
            if bound is None or separator is None:
                raise ValueError(f'"{text}" names no minor versions')
            bounds.append((bound[1], (int(bound[2]), int(bound[3]))))
            at = separator.end()
        if not bounds:
            raise ValueError("it names no minor version")
        return cls(text, tuple(bounds))

    def allows(self, minor: Minor) -> bool:
        """Return whether a minor version is among them."""
        return all(_COMPARISONS[comparison](minor, bound) for comparison, bound in self.bounds)


def version_doubt(demand: VersionDemand | None, metadata: Metadata) -> tuple[str, str] | None:
    """Return why a policy cannot be judged in this version and the next step, None where it can.

    An answer by the rules of ``--kube-version`` is about that version, whatever the state has.
    """
    if demand is None:
        return None
    purpose = f"the policy is for Kubernetes {demand.text}"
    if metadata.version_source == "Newest":
        hint = "`--kube-version 1.36` names one; live clusters and snapshots have theirs"
        return f"{purpose}, and the state has no version", hint
    skew = metadata.version_skew if metadata.version_source != "Option" else None
    for version in (skew.state_version if skew is not None else "", metadata.kubernetes_version):
        minor = minor_of(version)
        if minor is not None and not demand.allows(minor):
            hint = (
                "`--kube-version` judges by the rules of another version; `spec.kubeVersion` says which ones are meant"
            )
            return f"{purpose}, and this is {version}", hint
    return None
