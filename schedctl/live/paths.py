"""Where an API server keeps the objects of a kind."""

from __future__ import annotations

from urllib.parse import quote

from schedctl.api.kinds import Kind


def collection(kind: Kind, namespace: str = "") -> str:
    """Return the path of the objects of a kind, of one namespace where one is given."""
    root = "/apis" if "/" in kind.api_version else "/api"
    within = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    return f"{root}/{kind.api_version}{within}/{kind.resource}"


def path_of(kind: Kind, key: str) -> str:
    """Return the path of one object by ``namespace/name``, or by the name alone where its kind is in no namespace."""
    namespace, _, name = key.rpartition("/")
    return f"{collection(kind, namespace)}/{quote(name, safe='')}"
