"""What every object carries: names, labels, owners; and the label selector, which half of all kinds embed."""

from __future__ import annotations

from typing import Annotated, Protocol

import msgspec

Quantity = (
    Annotated[
        str,
        msgspec.Meta(
            pattern=r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)"
            r"([eE][+-]?0*(10000|[0-9]{1,4})|[KMGTPE]i|[numkMGTPE])?\Z",  # `$` would let a line break pass
            max_length=4000,
        ),
    ]
    | int
    | float
)
"""A quantity as written: text in Kubernetes' grammar, or a bare JSON number. See `schedctl.api.quantities`.

Text that it takes is text that can be worked out: no endless digits, no exponent beyond ten thousand.
"""

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
"""An integer that Kubernetes keeps in 32 bits; a larger one is refused when it is read."""

Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer that Kubernetes keeps in 64 bits; a larger one is refused when it is read."""


Time = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
        r"T([01]\d|2[0-3]):[0-5]\d:[0-5]\d([.,]\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)\Z"
    ),
]
"""A point in time as RFC 3339 writes it; `schedctl.api.times` gives its value."""


ELLIPSIS = "…"
"""Stands for the random end of a generated name, which nobody knows before the object is made."""


class Struct(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True, gc=False):
    """Base of all API structs: immutable, camelCase on the wire, untracked by the garbage collector (no cycles).

    A field that Kubernetes tells apart as *absent* and *empty* is ``X | None``; JSON ``null`` means absent.
    """


class OwnerReference(Struct, frozen=True):
    """``metav1.OwnerReference``; the one with ``controller: true`` is the pod's workload."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectMeta(Struct, frozen=True):
    """``metav1.ObjectMeta``, without managed fields."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    deletion_grace_period_seconds: Int64 | None = None
    finalizers: list[str] | None = None
    owner_references: list[OwnerReference] | None = None


class Described(Protocol):
    """Any object."""

    @property
    def metadata(self) -> ObjectMeta:
        """What it is called, among other things."""
        ...


def key_of(obj: Described) -> str:
    """Return ``namespace/name``, or the name of an object that is in no namespace."""
    metadata = obj.metadata
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


def controller_of(obj: Described) -> OwnerReference | None:
    """Return the owner that manages an object, None if it has none."""
    return next((owner for owner in obj.metadata.owner_references or () if owner.controller), None)


def is_controlled_by(obj: Described, owner: Described) -> bool:
    """Return whether an object is managed by another, which is known by its uid."""
    controller = controller_of(obj)
    return controller is not None and controller.uid == owner.metadata.uid


class LabelSelectorRequirement(Struct, frozen=True):
    """One ``matchExpressions`` entry: In, NotIn, Exists or DoesNotExist."""

    key: str
    operator: str
    values: list[str] | None = None


class LabelSelector(Struct, frozen=True):
    """``metav1.LabelSelector``: empty selects everything, an absent one (None where embedded) nothing."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[LabelSelectorRequirement] | None = None


class ObjectReference(Struct, frozen=True):
    """A reference by kind, namespace and name, e.g. a PersistentVolume's ``claimRef``."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class Namespace(Struct, frozen=True):
    """``v1.Namespace``; inter-pod affinity selects namespaces by its labels."""

    metadata: ObjectMeta = ObjectMeta()
