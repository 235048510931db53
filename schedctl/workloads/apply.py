"""What `kubectl apply` leaves of an object and the one that is in the cluster."""

from __future__ import annotations

from typing import Any

import msgspec

from schedctl.api.devices import ResourceClaim
from schedctl.api.meta import ObjectMeta
from schedctl.api.storage import PersistentVolume

_replace = msgspec.structs.replace


def apply(obj: Any, live: Any) -> Any:
    """Return an object as applying it leaves it.

    It keeps what only a cluster knows of it, its uid and status, and labels and annotations it does not mention.

    Args:
        obj: the object; one with a uid comes out of a cluster, so it is taken as it is.
        live: the one that is there, None if there is none.
    """
    if live is None or obj.metadata.uid:
        return obj
    if isinstance(obj, ResourceClaim):
        return live  # its spec is immutable
    metadata: ObjectMeta = obj.metadata
    changes: dict[str, Any] = {
        "metadata": _replace(
            live.metadata,
            labels={**(live.metadata.labels or {}), **(metadata.labels or {})} or None,
            annotations={**(live.metadata.annotations or {}), **(metadata.annotations or {})} or None,
        )
    }
    if hasattr(obj, "status"):
        changes["status"] = live.status
    if isinstance(obj, PersistentVolume) and obj.spec.claim_ref is None:
        # The volume controller wrote it, and its claim is bound to it.
        changes["spec"] = _replace(obj.spec, claim_ref=live.spec.claim_ref)
    return _replace(obj, **changes)
