"""Which cluster, and as whom: what kubectl's flags say, before anything is opened."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a cluster; "" and None stand for what the kubeconfig says.

    Attributes:
        context: the context of the kubeconfig, "" for the current one.
        kubeconfig: the file, "" for ``$KUBECONFIG``, ``~/.kube/config``, or the account of the pod that this runs in.
        user: whom to impersonate, "" for nobody.
        groups: the groups to impersonate.
        timeout: seconds that one request may take, None for no limit but a patience of our own.
    """

    context: str = ""
    kubeconfig: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()
    timeout: float | None = None
