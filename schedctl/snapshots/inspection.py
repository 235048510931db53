"""What a snapshot holds, and which names can be read in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from schedctl.api import devices, nodes, pods, storage
from schedctl.api.autoscalers import ConfigMap
from schedctl.api.meta import LabelSelector, Namespace, ObjectMeta
from schedctl.documents.autoscaler_status import read_status
from schedctl.reports.metadata import MissingKind
from schedctl.reports.snapshots import InClear, SnapshotReport
from schedctl.snapshots.documents import ReadSnapshot
from schedctl.snapshots.rewriters import Rewriter
from schedctl.snapshots.tokens import WELL_KNOWN, is_token

_SORTS: dict[str, tuple[tuple[type[msgspec.Struct], str], ...]] = {
    "names of objects": ((ObjectMeta, "name"),),
    "namespaces": ((ObjectMeta, "namespace"),),
    "label keys": ((ObjectMeta, "labels"), (LabelSelector, "match_labels")),
    "label values": ((ObjectMeta, "labels"),),
    "annotation values": ((ObjectMeta, "annotations"),),
    "messages of conditions": ((pods.PodCondition, "message"),),
    "containers": ((pods.Container, "name"),),
    "images": ((pods.Container, "image"), (nodes.ContainerImage, "names")),
    "addresses": ((pods.ContainerPort, "host_ip"),),
    "disks": (
        (pods.AWSElasticBlockStoreVolumeSource, "volume_id"),
        (pods.AzureDiskVolumeSource, "disk_uri"),
        (pods.GCEPersistentDiskVolumeSource, "pd_name"),
        (storage.CSIPersistentVolumeSource, "volume_handle"),
        (storage.PersistentVolumeDisk, "volume_id"),
        (storage.PersistentVolumeGCEDisk, "pd_name"),
        (storage.PersistentVolumeAzureDisk, "disk_uri"),
    ),
    "device attributes": ((devices.DeviceAttribute, "string_value"),),
    "CEL expressions": ((devices.CELDeviceSelector, "expression"),),
    "node groups of Cluster Autoscaler": (),
}
_KEYS = "label keys"
_GROUPS = "node groups of Cluster Autoscaler"


def report(
    file: str, size: int, unpacked: int, read: ReadSnapshot, weakens: Callable[[str], Iterable[str]]
) -> SnapshotReport:
    """Return the report of a snapshot.

    Args:
        file: its name.
        size: its bytes on disk.
        unpacked: the bytes of the document.
        read: what it holds.
        weakens: by name of a kind, the plugins whose answers are guesses without it.
    """
    header = read.header
    return SnapshotReport(
        file=file,
        size=size,
        unpacked=unpacked,
        intact=read.intact,
        snapshot=header,
        objects={kind.name: len(found) for kind, found in read.objects},
        missing=[
            MissingKind(kind=gap.kind, reason=gap.reason, text=gap.text, plugins=[*weakens(gap.kind)])
            for gap in header.missing
        ],
        in_clear=in_clear(obj for _, found in read.objects for obj in found),
    )


def in_clear(objects: Iterable[Any]) -> list[InClear]:
    """Return which sorts of texts can be read in objects, and how many; tokens and what every cluster has count not."""
    seen: dict[str, set[str]] = {sort: set() for sort in _SORTS}
    rules: dict[tuple[type[msgspec.Struct], str], Callable[[Any], Any]] = {}
    for sort, fields in _SORTS.items():
        for field in fields:
            rules[field] = _collector(seen[sort], keys=sort == _KEYS, before=rules.get(field))
    collector = Rewriter(rules)
    for obj in objects:
        collector(obj)
        if isinstance(obj, Namespace):
            seen["namespaces"].add(obj.metadata.name)
        elif isinstance(obj, ConfigMap):
            seen[_GROUPS].update(each.name for text in (obj.data or {}).values() for each in read_status(text))
    counts = {sort: sum(not (text in WELL_KNOWN or is_token(text)) for text in found) for sort, found in seen.items()}
    return [InClear(sort=sort, count=count) for sort, count in counts.items() if count]


def _collector(seen: set[str], *, keys: bool, before: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    def note(value: Any) -> Any:
        if isinstance(value, str):
            seen.add(value)
        elif isinstance(value, dict):
            seen.update(value if keys else value.values())
        else:
            seen.update(value)
        return before(value) if before is not None else value

    return note
