"""The feature gates of a kube-scheduler, and which of them can be set here."""

from __future__ import annotations

from schedctl.releases import Release, gates_of
from schedctl.reports.listings import FeatureGateItem


def list_gates(release: Release) -> list[FeatureGateItem]:
    """Return the gates of a release, by name."""
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
        )
        for gate in gates_of(release.version).values()
    ]
