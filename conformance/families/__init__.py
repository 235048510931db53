"""Random scheduling cases, by family.

Each family leans on one part of the scheduler; a family and a seed name a case for good. A family is a function of one
:class:`~families.cases.Case`, listed in :data:`FAMILIES`. It draws from that case's generator and nothing else, so the
cases of one family stay what they are while others change.
"""

from __future__ import annotations

from collections.abc import Callable

from families.amounts import pod_level, resources
from families.cases import Case, Manifest
from families.device_alphas import DEVICE_GATE_FAMILIES
from families.device_charges import CHARGE_FAMILIES
from families.device_concerns import devices_advanced
from families.device_names import NAME_FAMILIES
from families.device_searches import SEARCH_FAMILIES
from families.devices import devices, devices_claims, devices_extended
from families.evictions import nominated, preemption, preemption_pdb
from families.gates import GATE_FAMILIES
from families.groups import GROUP_FAMILIES
from families.placement import (
    declared_features,
    default_spread,
    images,
    names_gates,
    nodeaffinity,
    podaffinity,
    ports,
    spread,
    taints,
)
from families.resizes import RESIZE_FAMILIES
from families.storage import csi_limits, inline_disks, storage_scores, volume_states, volumes
from families.whole import edge_objects, mixed, profiles, sequence, sequence_claims

FAMILIES: dict[str, Callable[[Case], None]] = {
    family.__name__: family
    for family in (
        csi_limits,
        declared_features,
        default_spread,
        devices,
        devices_advanced,
        devices_claims,
        devices_extended,
        edge_objects,
        images,
        inline_disks,
        mixed,
        names_gates,
        nodeaffinity,
        nominated,
        pod_level,
        podaffinity,
        ports,
        preemption,
        preemption_pdb,
        profiles,
        resources,
        sequence,
        sequence_claims,
        spread,
        storage_scores,
        taints,
        volume_states,
        volumes,
    )
}


OF_PODS = (
    FAMILIES
    | DEVICE_GATE_FAMILIES
    | CHARGE_FAMILIES
    | NAME_FAMILIES
    | SEARCH_FAMILIES
    | GATE_FAMILIES
    | RESIZE_FAMILIES
)
"""All but those of pod groups, by name."""


def case(family: str, seed: int) -> Manifest:
    """The case of a family and a seed, in the form the oracle reads."""
    drawn = Case(family, seed)
    (OF_PODS | GROUP_FAMILIES)[family](drawn)
    return drawn.done()
