"""Objects that machines make of themselves: nodes, what their drivers offer, and what is attached to them.

Among the manifests of a check they would be room that is not there, in which everything fits.
"""

from __future__ import annotations

from msgspec.structs import replace

from schedctl.api.kinds import kind_named
from schedctl.sources import Manifests

_KINDS = tuple(
    kind_named(name).struct for name in ("Node", "CSINode", "CSIStorageCapacity", "VolumeAttachment", "ResourceSlice")
)
_MESSAGE = "is made by kubelets and drivers, not by manifests: it could be room that is not there"
_HINT = "what the cluster has belongs to its state: -f FILE"


def refuse_machine_objects(manifests: Manifests) -> Manifests:
    """Return manifests without the objects that machines make, each of which is a problem instead."""
    made = [one for one in manifests.objects if isinstance(one.object, _KINDS)]
    if not made:
        return manifests
    return replace(
        manifests,
        objects=[one for one in manifests.objects if not isinstance(one.object, _KINDS)],
        problems=[*manifests.problems, *(one.problem(_MESSAGE, (), _HINT) for one in made)],
    )
