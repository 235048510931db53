"""What devices are called by: pools of several drivers that have one name, rules that choose devices by class or CEL.

Each family shows one change between releases that no other shows.
"""

from __future__ import annotations

from collections.abc import Callable

from families.cases import Case, Manifest
from families.devices import RESOURCE, device, device_claim, device_slice, driver, exactly, hold, use_claims

_SIZES = ["5Gi", "10Gi", "20Gi"]


def devices_namesakes(c: Case) -> None:
    """Drivers whose pools are named after their node, with counters of one name or of several."""
    c.cluster(2, 4)
    drivers = {concern: driver(c, concern) for concern in ("alpha", "beta")}
    for n in [node["metadata"]["name"] for node in c.nodes]:
        for concern, d in drivers.items():
            card = c.pick(["card", "card", concern])
            counters = [{"name": card, "counters": {"memory": {"value": c.pick(["10Gi", "20Gi"])}}}]
            parts = [
                device(
                    c,
                    f"part-{i}",
                    consumesCounters=[{"counterSet": card, "counters": {"memory": {"value": c.pick(_SIZES)}}}],
                )
                for i in range(c.r.randint(1, 3))
            ]
            device_slice(c, d, n, f"{concern}-{n}-a", count=2, nodeName=n, sharedCounters=counters)
            device_slice(c, d, n, f"{concern}-{n}-b", count=2, nodeName=n, devices=parts)
            if c.p(0.4):
                hold(c, f"held-{concern}-{n}", n, d, n, "part-0")
    for i in range(3):
        claims = [
            device_claim(c, f"want-{i}-{concern}", [exactly(concern, count=c.pick([1, 1, 2]))])["metadata"]["name"]
            for concern in c.some(drivers)
        ]
        use_claims(c, f"new-{i}", claims)


def devices_ruled(c: Case) -> None:
    """DeviceTaintRules that choose devices by class and by CEL, which v1.34 alone knows."""
    c.cluster(2, 4)
    d = driver(c, "ruled")
    driver(c, "other")
    for n in [node["metadata"]["name"] for node in c.nodes]:
        devices = [device(c, f"dev-{i}") for i in range(c.r.randint(1, 3))]
        device_slice(c, d, n, f"ruled-{n}", nodeName=n, devices=devices)
    for i in range(c.r.randint(1, 2)):
        selector: Manifest = {}
        if c.p(0.5):
            selector["deviceClassName"] = c.pick(["ruled", "other", "missing"])
        if not selector or c.p(0.5):
            expression = f'device.attributes["{d}"].model == "{c.pick(["a100", "l4"])}"'
            selector["selectors"] = [{"cel": {"expression": expression}}]
        if c.p(0.3):
            selector["pool"] = c.pick(c.nodes)["metadata"]["name"]
        taint = {"key": "broken", "value": str(i), "effect": c.pick(["NoSchedule", "NoExecute"])}
        rule = {"deviceSelector": selector, "taint": taint}
        c.add({"apiVersion": RESOURCE, "kind": "DeviceTaintRule", "metadata": {"name": f"rule-{i}"}, "spec": rule})
    for i in range(3):
        more: Manifest = {"tolerations": [{"key": "broken", "operator": "Exists"}]} if c.p(0.2) else {}
        claim = device_claim(c, f"want-{i}", [exactly("ruled", count=c.r.randint(1, 2), **more)])
        use_claims(c, f"new-{i}", [claim["metadata"]["name"]])


NAME_FAMILIES: dict[str, Callable[[Case], None]] = {
    "devices_namesakes": devices_namesakes,
    "devices_ruled": devices_ruled,
}
"""Those about what devices are called by."""
