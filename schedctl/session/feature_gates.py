"""The feature gates of a kube-scheduler, which of them can be set here, and how that was compared."""

from __future__ import annotations

import msgspec

from schedctl import shipped
from schedctl.releases import Release, gates_of
from schedctl.reports.listings import FeatureGateItem, GateProof


class _Proofs(msgspec.Struct):
    gates: dict[str, dict[str, GateProof]]


def list_gates(release: Release) -> list[FeatureGateItem]:
    """Return the gates of a release, by name."""
    proofs = msgspec.json.decode(shipped.proof().read_bytes(), type=_Proofs).gates.get(release.version, {})
    return [
        FeatureGateItem(
            name=gate.name,
            stage=gate.stage,
            default=gate.default,
            locked=gate.locked,
            decisive=gate.decisive,
            modelled=gate.modelled,
            only_off=gate.only_off,
            requires=list(gate.requires),
            proof=proofs.get(gate.name),
        )
        for gate in gates_of(release.version).values()
    ]
