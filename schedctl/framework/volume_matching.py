"""Whether a volume suits a claim, wherever it can be reached from.

VolumeBinding of the scheduler and the volume controller (``workloads.volume_controller``) go by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from schedctl.api import meta, quantities, selectors, storage
from schedctl.errors import PluginError

STORAGE = "storage"
AVAILABLE, RELEASED = "Available", "Released"
_NONE = quantities.Amount(0, 0)
_FILESYSTEM = "Filesystem"


class Mismatch(StrEnum):
    """What keeps a volume of the right class from a claim, the most easily mended first."""

    RELEASED = "released by another claim"
    SMALL = "too small"
    ACCESS = "without the access modes"
    LABELS = "without the labels"
    MODE = "of another volume mode"
    ATTRIBUTES = "of another attributes class"
    PHASE = "not available"
    REACH = "unreachable"
    DELETING = "being deleted"
    KEPT = "reserved for others"


class ClaimRequirements:
    """What a claim asks of a volume, read once.

    Args:
        claim: the claim.
        attributes_classes: whether it may name a VolumeAttributesClass (the gate of this name).

    Attributes:
        claim: the claim.
        size: in thousandths of a byte, as exact as the API server keeps it.
        mode: Filesystem or Block.
        attributes: the VolumeAttributesClass, "" for none.
        access: the access modes a volume must have, all of them.
        selector: the labels a volume must have, None where any do.

    Raises:
        PluginError: the selector cannot be parsed, or the claim names a VolumeAttributesClass and may not.
    """

    def __init__(self, claim: storage.PersistentVolumeClaim, *, attributes_classes: bool = True) -> None:
        spec = claim.spec
        if spec.volume_attributes_class_name and not attributes_classes:
            raise PluginError(
                f"unsupported volumeAttributesClassName is set on claim {meta.key_of(claim)} when the feature-gate"
                " VolumeAttributesClass is disabled"
            )
        self.claim = claim
        self.size = size(claim)
        self.mode = spec.volume_mode or _FILESYSTEM
        self.attributes = spec.volume_attributes_class_name or ""
        self.access = frozenset(spec.access_modes or ())
        try:
            self.selector: selectors.LabelQuery | None = (
                None if spec.selector is None else selectors.compile_selector(spec.selector)
            )
        except selectors.SelectorError as fault:
            raise PluginError(
                f"error creating internal label selector for claim: {meta.key_of(claim)}: {fault}"
            ) from fault

    def is_met_by(self, volume: storage.PersistentVolume) -> bool:
        """Return whether a volume is large enough, of the right mode and attributes, and not on its way out."""
        return (
            thousandths(capacity(volume)) >= self.size
            and mode_of(volume) == self.mode
            and attributes_of(volume) == self.attributes
            and volume.metadata.deletion_timestamp is None
        )

    def objections(self, volume: storage.PersistentVolume) -> Iterator[Mismatch]:
        """Yield what keeps a volume of the claim's class from it on every node, in the order of the binding."""
        named = volume.spec.claim_ref is not None
        ours = named and is_reserved_for(volume, self.claim)
        if named and not ours:
            yield Mismatch.RELEASED if volume.status.phase == RELEASED else Mismatch.KEPT
        if volume.metadata.deletion_timestamp is not None:
            yield Mismatch.DELETING
        if thousandths(capacity(volume)) < self.size:
            yield Mismatch.SMALL
        if mode_of(volume) != self.mode:
            yield Mismatch.MODE
        if attributes_of(volume) != self.attributes:
            yield Mismatch.ATTRIBUTES
        if not named and volume.status.phase != AVAILABLE:
            yield Mismatch.PHASE
        if not ours and self.selector is not None and not self.selector.matches(volume.metadata.labels):
            yield Mismatch.LABELS
        if not ours and not self.access <= set(volume.spec.access_modes or ()):
            yield Mismatch.ACCESS


def is_reserved_for(volume: storage.PersistentVolume, claim: storage.PersistentVolumeClaim) -> bool:
    """Return whether a volume names a claim; one without a uid names any claim of that name."""
    reference, metadata = volume.spec.claim_ref, claim.metadata
    return (
        reference is not None
        and (reference.namespace, reference.name) == (metadata.namespace, metadata.name)
        and reference.uid in ("", metadata.uid)
    )


def requested_storage(claim: storage.PersistentVolumeClaim) -> quantities.Amount:
    """Return how much storage a claim asks for, 0 where it does not say."""
    resources = claim.spec.resources
    written = (resources.requests or {}).get(STORAGE) if resources is not None else None
    return quantities.stored_amount(written) if written is not None else _NONE


def size(claim: storage.PersistentVolumeClaim) -> int:
    """Return how much storage a claim asks for, in thousandths of a byte."""
    return thousandths(requested_storage(claim))


def capacity(volume: storage.PersistentVolume) -> quantities.Amount:
    """Return how much storage a volume holds, 0 where it does not say."""
    written = (volume.spec.capacity or {}).get(STORAGE)
    return quantities.stored_amount(written) if written is not None else _NONE


def thousandths(amount: quantities.Amount) -> int:
    """Return an amount in thousandths."""
    return int(amount.unscaled * 10 ** (amount.exponent - quantities.MILLI))


def mode_of(volume: storage.PersistentVolume) -> str:
    """Return whether a volume is a Filesystem or a Block."""
    return volume.spec.volume_mode or _FILESYSTEM


def attributes_of(volume: storage.PersistentVolume) -> str:
    """Return the VolumeAttributesClass of a volume, "" for none."""
    return volume.spec.volume_attributes_class_name or ""
