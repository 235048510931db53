"""The configuration that a cluster's kube-scheduler runs with, where an installer keeps it in a ConfigMap.

Only on request, and only ConfigMaps of these names are asked for, each by its name, so that a role can allow exactly
these. Many clusters have none: kubeadm and k3s keep the configuration in a file or in flags of the control plane, and
hosted control planes keep it to themselves.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from schedctl import shipped
from schedctl.errors import ClusterError
from schedctl.live import codes
from schedctl.live.connections import Connection
from schedctl.live.faults import Refused

CONFIG_MAPS: Final = (
    ("openshift-kube-scheduler", "config"),
    ("kube-system", "scheduler-config"),
    ("kube-system", "kube-scheduler-config"),
    ("kube-system", "kube-scheduler"),
    ("kube-system", "my-scheduler-config"),
)
"""Where installers and the documentation put it: namespaces and names, the scheduler of the control plane first."""
_DISPLAY_ORDER = sorted(CONFIG_MAPS, key=lambda each: each[0])
"""The same in the order in which a user is told: most clusters have no namespace of OpenShift's."""
_KIND = re.compile(r"""^[ \t]*[{,]?[ \t]*["']?kind["']?[ \t]*:[ \t]*["']?KubeSchedulerConfiguration\b""", re.MULTILINE)
_INLINE = re.compile(r"""[{,]\s*"kind"\s*:\s*"KubeSchedulerConfiguration\"""")


class ClusterConfiguration(msgspec.Struct, frozen=True):
    """A configuration in a cluster.

    Attributes:
        text: the configuration, YAML or JSON.
        origin: where it was, in words.
    """

    text: str
    origin: str


class _ConfigMap(msgspec.Struct):
    data: dict[str, str] = {}


def find(connection: Connection) -> ClusterConfiguration | None:
    """Return the configuration that a cluster keeps in a ConfigMap, None where there is none.

    Raises:
        ClusterError: the server cannot be asked, or there is none among the ConfigMaps that we may read.
    """
    forbidden: dict[tuple[str, str], Refused] = {}
    for namespace, name in CONFIG_MAPS:
        try:
            body = connection.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}").body
            data = msgspec.json.decode(body, type=_ConfigMap).data
        except Refused as fault:
            if fault.code == codes.FORBIDDEN:
                forbidden[namespace, name] = fault
            elif fault.code != codes.NOT_FOUND:
                raise
            continue
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        for key, text in sorted(data.items()):
            if _KIND.search(text) or _INLINE.search(text):
                return ClusterConfiguration(text, f"ConfigMap {namespace}/{name}, {key}, of {connection.name}")
    if forbidden:
        first = next(each for each in _DISPLAY_ORDER if each in forbidden)
        raise ClusterError(
            f"{forbidden[first]}; and no other ConfigMap has a KubeSchedulerConfiguration",
            f"{shipped.roles()} and openshift.yaml beside it have Roles for {config_map_names()}; or name a file"
            " with `--scheduler-config FILE` instead",
        )
    return None


def config_map_names() -> str:
    """Return the names of the ConfigMaps, in words."""
    return ", ".join(f"{namespace}/{name}" for namespace, name in _DISPLAY_ORDER)
