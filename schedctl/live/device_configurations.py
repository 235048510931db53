"""The configuration that an allocation hands on to the drivers of its devices.

No plugin reads it, so the structs leave it out; but it is part of what kube-scheduler writes, and a driver without it
would prepare a device wrongly. It is put together from the objects as the API server has them: that of the classes
first, each class once, then that of the claim, as far as it is about a request that was served. What is about all
requests names none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedctl.live.sightings import Object


def configurations(spec: Object, allocation: Object, device_class: Callable[[str], Object]) -> list[Any]:
    """Return the configuration of an allocation.

    Args:
        spec: the claim's.
        allocation: the devices it is given.
        device_class: finds a class by its name.
    """
    devices = spec.get("devices") or {}
    served = [_served(request, allocation) for request in devices.get("requests") or ()]
    found: list[dict[str, Any]] = []
    of_class: dict[str, list[dict[str, Any]]] = {}
    for _, name, class_name in served:
        if class_name in of_class:
            for entry in of_class[class_name]:
                entry["requests"].append(name)
            continue
        given = device_class(class_name)["spec"].get("config") or ()
        of_class[class_name] = [{"source": "FromClass", "requests": [name], **each} for each in given]
        found += of_class[class_name]
    for each in devices.get("config") or ():
        about = each.get("requests") or []
        if not about or any(request in about or name in about for request, name, _ in served):
            found.append({**each, "source": "FromClaim", "requests": list(about)})
    for entry in found:
        if all(request in entry["requests"] or name in entry["requests"] for request, name, _ in served):
            entry["requests"] = []
    return [{key: value for key, value in entry.items() if value != []} for entry in found]


def _served(request: Object, allocation: Object) -> tuple[str, str, str]:
    """Return a request, the alternative of it that was served (itself where it has none), and its class."""
    name = request["name"]
    if "exactly" in request:
        return name, name, request["exactly"]["deviceClassName"]
    results = {result["request"] for result in allocation["devices"].get("results") or ()}
    chosen = next(each for each in request["firstAvailable"] if f"{name}/{each['name']}" in results)
    return name, f"{name}/{chosen['name']}", chosen["deviceClassName"]
