"""The kinds that can be asked about, by the names that kubectl gives them, and those that have no pods."""

from __future__ import annotations

from typing import Final

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.api.short_names import NAMES
from schedctl.api.workloads import Service


class SubjectKind(msgspec.Struct, frozen=True):
    """A kind that can be asked about.

    Attributes:
        struct: its type.
        names: what kubectl calls it, shortest first; the API group may follow after a dot.
    """

    struct: type
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """The kind as manifests write it."""
        return self.struct.__name__


KINDS = tuple(SubjectKind(struct, names) for struct, names in NAMES.items())
POD = KINDS[0]
SERVICE = SubjectKind(Service, ("svc", "service", "services"))
"""It makes no pods; the pods that it selects are meant. A name without a kind is never that of a Service."""
POD_GROUP = SubjectKind(PodGroup, ("podgroup", "podgroups"))
"""It makes no pods either; those that name it are meant. A name without a kind is never that of a group."""
BY_NAME: Final = {name: kind for kind in (*KINDS, SERVICE, POD_GROUP) for name in kind.names}
_WITHOUT_PODS = {
    "ClusterRole": ("clusterrole", "clusterroles"),
    "ClusterRoleBinding": ("clusterrolebinding", "clusterrolebindings"),
    "ConfigMap": ("cm", "configmap", "configmaps"),
    "CustomResourceDefinition": ("crd", "crds", "customresourcedefinition", "customresourcedefinitions"),
    "EndpointSlice": ("endpointslice", "endpointslices"),
    "Endpoints": ("ep", "endpoints"),
    "Event": ("ev", "event", "events"),
    "HorizontalPodAutoscaler": ("hpa", "horizontalpodautoscaler", "horizontalpodautoscalers"),
    "Ingress": ("ing", "ingress", "ingresses"),
    "Lease": ("lease", "leases"),
    "LimitRange": ("limits", "limitrange", "limitranges"),
    "Namespace": ("ns", "namespace", "namespaces"),
    "NetworkPolicy": ("netpol", "networkpolicy", "networkpolicies"),
    "PersistentVolume": ("pv", "persistentvolume", "persistentvolumes"),
    "PersistentVolumeClaim": ("pvc", "persistentvolumeclaim", "persistentvolumeclaims"),
    "PodDisruptionBudget": ("pdb", "poddisruptionbudget", "poddisruptionbudgets"),
    "PriorityClass": ("pc", "priorityclass", "priorityclasses"),
    "ResourceQuota": ("quota", "resourcequota", "resourcequotas"),
    "Role": ("role", "roles"),
    "RoleBinding": ("rolebinding", "rolebindings"),
    "Secret": ("secret", "secrets"),
    "ServiceAccount": ("sa", "serviceaccount", "serviceaccounts"),
    "StorageClass": ("sc", "storageclass", "storageclasses"),
}
_WITHOUT_PODS_BY_NAME = {name: kind for kind, names in _WITHOUT_PODS.items() for name in names}
SHORT_NAMES = ", ".join(kind.names[0] for kind in KINDS)


def kind_named(text: str) -> SubjectKind | None:
    """Return the kind of that name, in any case and with or without its API group behind a dot; None for no kind."""
    return None if "/" in text else BY_NAME.get(text.lower().partition(".")[0])


def kind_without_pods(text: str) -> str:
    """Return the kind that a name of kubectl's stands for where its objects have no pods, "" for any other text."""
    return _WITHOUT_PODS_BY_NAME.get(text.lower().partition(".")[0], "")
