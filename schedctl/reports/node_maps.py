"""The nodes of a cluster with their place and how full they are: what a picture of them is drawn from."""

from __future__ import annotations

from schedctl.reports.metadata import Record


class MappedNode(Record, frozen=True):
    """A node, where it stands and what its pods request; amounts are in the scheduler's units.

    Attributes:
        name: its name.
        zone, pool: what its labels say, "" where they do not.
        unschedulable: whether it is cordoned.
        cpu, memory, pods: what its pods request, and how many there are; of a run or a drain, in the end.
        cpu_before, memory_before, pods_before: likewise, before; for a question that moves no pod the same.
        cpu_allocatable, memory_allocatable, pods_allocatable: what it offers.
    """

    name: str
    zone: str = ""
    pool: str = ""
    unschedulable: bool = False
    cpu: int = 0
    memory: int = 0
    pods: int = 0
    cpu_before: int = 0
    memory_before: int = 0
    pods_before: int = 0
    cpu_allocatable: int = 0
    memory_allocatable: int = 0
    pods_allocatable: int = 0


class NodeMap(Record, frozen=True):
    """All nodes of a cluster.

    Attributes:
        pool_label: the label that puts nodes into pools, "" where none does.
        nodes: by name.
    """

    pool_label: str
    nodes: list[MappedNode]
