"""What would undo a rejection of NodeDeclaredFeatures: a kubelet that has the features, and has them switched on."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from schedctl.api.nodes import Node
from schedctl.framework.remedies import Reach, Rejection, Remedies, Remedy, edit_node


def remedies(rejection: Rejection) -> Remedies:
    """Return that the node declares what it lacks."""
    if rejection.reference != "node-declared-features/unmatched":
        return []
    return [_declare_features(rejection.node, rejection.evidence["missing"])]


def _declare_features(node: str, features: Sequence[str]) -> Remedy:
    def declare(written: Node) -> Node:
        declared = sorted({*(written.status.declared_features or ()), *features})
        return msgspec.structs.replace(
            written, status=msgspec.structs.replace(written.status, declared_features=declared)
        )

    return Remedy(
        "declare-features",
        f"the kubelet of {node} declares {' and '.join(features)}",
        edit_node(node, declare),
        effort=5,
        reach=Reach.NODE,
    )
