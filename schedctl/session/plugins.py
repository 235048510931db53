"""The scheduler plugins there are, and how exactly each is modelled."""

from __future__ import annotations

import json
from collections.abc import Sequence

from schedctl import shipped
from schedctl.config import loading
from schedctl.config.expansion import expand_all
from schedctl.framework.group_points import GROUP_POINTS
from schedctl.framework.points import POINTS
from schedctl.plugins.in_tree import IN_TREE
from schedctl.reports.listings import PluginItem, Proof
from schedctl.scheduler import discovery
from schedctl.scheduler.discovery import PluginCatalog
from schedctl.session.notifiers import SILENT, Notifier

KUBERNETES = "Kubernetes"
"""The origin of the plugins that kube-scheduler has."""
YOURS = "yours"
"""The fidelity of plugins that are not Kubernetes' own, of which nobody but their authors can speak."""


def list_plugins(plugins: Sequence[str] = (), notifier: Notifier = SILENT) -> list[PluginItem]:
    """Return Kubernetes' own plugins, those that installed packages offer, and some more.

    Args:
        plugins: what ``--plugin`` names.
        notifier: hears which installed plugins cannot be loaded.

    Raises:
        UsageError: one of `plugins` cannot be loaded.
    """
    found = discovery.with_installed(discovery.find(plugins))
    for fault in found.broken.values():
        notifier.say(f"warning: {fault}")
    return list_items(found)


def list_items(found: PluginCatalog) -> list[PluginItem]:
    """Return all plugins there are: Kubernetes' own in the order of the default profile, then the others."""
    proofs = _proofs()
    configuration = loading.default()
    expanded, _ = expand_all(configuration, IN_TREE)
    weights = {plugin.name: plugin.weight for plugin in expanded[configuration.profiles[0].scheduler_name]["score"]}
    return [
        PluginItem(
            name=name,
            origin=found.origins.get(name, KUBERNETES),
            extension_points=[point for point in (*POINTS, *GROUP_POINTS) if found.registry.implements(name, point)],
            weight=weights.get(name, 0),
            fidelity=YOURS if name in found.origins else _fidelity(proofs.get(name)),
            proof=proofs.get(name),
            description=(plugin.__doc__ or "").partition("\n")[0].replace("``", ""),
        )
        for name, plugin in found.registry.items()
    ]


def _fidelity(proof: Proof | None) -> str:
    return "partial" if proof is not None and proof.differences else "exact"


def _proofs() -> dict[str, Proof]:
    """Return what was compared with kube-scheduler, by plugin."""
    proof = json.loads(shipped.proof().read_bytes())
    families = proof["families"]
    return {
        plugin: Proof(
            kubernetes_version=proof["kubernetesVersion"],
            seeds=proof["seeds"],
            cycles=cycles,
            differences=sum(families[family]["differences"] + families[family]["notModelled"] for family in cycles),
        )
        for plugin, cycles in proof["plugins"].items()
    }
