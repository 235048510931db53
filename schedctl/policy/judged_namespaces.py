"""The namespaces that a policy is about."""

from __future__ import annotations

from schedctl.policy.findings import View
from schedctl.policy.namespaces import namespaces_of

_NAMESPACED = ("Namespace", "ResourceQuota")


def judged_namespaces(view: View) -> list[str]:
    """Return the namespaces that the policy is about: of workloads, and of quotas and namespaces in the manifests."""
    found = namespaces_of(view.workloads)
    for (kind, namespace, name), sourced in view.situation.sourced.items():
        inside = name if kind == "Namespace" else namespace
        if kind in _NAMESPACED and view.match.selects(kind, inside, name, sourced.object.metadata.labels):
            found.add(inside)
    return sorted(found)
