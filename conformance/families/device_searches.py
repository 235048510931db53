"""Searches for devices that have to go back: alternatives for all devices, devices refused after they were looked at.

What a search keeps in mind of a device that it gave up, and in which order it tries them, differs between releases.
"""

from __future__ import annotations

from collections.abc import Callable

from families.cases import Case, Manifest
from families.devices import RESOURCE, device, device_claim, device_slice, driver, every, exactly, hold, use_claims

SIZES = ["5Gi", "10Gi", "20Gi"]


def _names(c: Case) -> list[str]:
    return [n["metadata"]["name"] for n in c.nodes]


def _ask(c: Case, want: Callable[[], Manifest], pods: int = 3) -> None:
    """A few pods with one or two claims each."""
    for i in range(pods):
        claims = []
        for j in range(c.r.randint(1, 2)):
            spec = want()
            device_claim(c, f"want-{i}-{j}", spec["requests"], constraints=spec.get("constraints", ()))
            claims.append(f"want-{i}-{j}")
        use_claims(c, f"new-{i}", claims)


def _own(d: str, name: str, value: str | int) -> list[Manifest]:
    written = f'"{value}"' if isinstance(value, str) else str(value)
    return [{"cel": {"expression": f'device.attributes["{d}"].{name} == {written}'}}]


def _alternative(name: str, request: Manifest) -> Manifest:
    return {**request["exactly"], "name": name}


def devices_choices(c: Case) -> None:
    """Requests with alternatives (DRAPrioritizedList), of which some want all devices that match."""
    c.cluster(2, 5)
    d = driver(c, "chosen")
    for n in _names(c):
        devices = [device(c, f"dev-{i}") for i in range(c.r.randint(1, 4))]
        device_slice(c, d, n, f"chosen-{n}", nodeName=n, devices=devices)
        if c.p(0.3):
            hold(c, f"held-chosen-{n}", n, d, n, "dev-0")

    def simple(name: str) -> Manifest:
        more = {}
        if c.p(0.6):
            selectors = _own(d, "model", c.pick(["a100", "l4"])) if c.p(0.6) else _own(d, "numa", c.r.randrange(2))
            more = {"selectors": selectors}
        if c.p(0.5):
            return every("chosen", name, **more)
        return exactly("chosen", name, count=c.r.randint(1, 3), **more)

    def want() -> Manifest:
        requests = []
        for i in range(c.r.randint(1, 2)):
            if c.p(0.75):
                choices = [_alternative(f"s{j}", simple("")) for j in range(c.r.randint(1, 3))]
                requests.append({"name": f"r{i}", "firstAvailable": choices})
            else:
                requests.append(simple(f"r{i}"))
        attribute = {"matchAttribute": f"{d}/{c.pick(['model', 'numa'])}"}
        return {"requests": requests, "constraints": [attribute] if c.p(0.2) else []}

    _ask(c, want)


def devices_refused(c: Case) -> None:
    """Devices with counters that taints, constraints or a lack of capacity refuse after counters were drawn on."""
    c.cluster(2, 4)
    d = driver(c, "refused")
    apart = c.p(0.5)  # counters in a slice of their own; v1.34 knows them beside the devices that draw on them alone
    for n in _names(c):
        counters = [{"name": "card", "counters": {"memory": {"value": c.pick(["20Gi", "40Gi"])}}}]
        parts = [_part(c, i) for i in range(c.r.randint(2, 5))]
        if apart:
            device_slice(c, d, n, f"refused-{n}-a", count=2, nodeName=n, sharedCounters=counters)
            device_slice(c, d, n, f"refused-{n}-b", count=2, nodeName=n, devices=parts)
        else:
            split = c.r.randint(0, 1)  # two cards, each with its own counters
            device_slice(c, d, n, f"refused-{n}-a", count=1 + split, nodeName=n, sharedCounters=counters, devices=parts)
            if split:
                more = [{**_part(c, i), "name": f"more-{i}"} for i in range(c.r.randint(1, 3))]
                device_slice(c, d, n, f"refused-{n}-b", count=2, nodeName=n, sharedCounters=counters, devices=more)
        if c.p(0.4):
            part = c.pick(parts)
            share = {"shareID": f"00000000-0000-4000-8000-{n[-3:]}000000001", "consumedCapacity": {"units": "1"}}
            hold(c, f"held-refused-{n}", n, d, n, part["name"], **(share if "allowMultipleAllocations" in part else {}))

    if c.p(0.25):  # v1.34 alone reads the class and the selectors of a rule
        where = c.some(
            [("driver", d), ("deviceClassName", c.pick(["refused", "gone"])), ("selectors", _own(d, "numa", 1))], 0, 3
        )
        taint = {"key": "ruled", "effect": c.pick(["NoSchedule", "NoExecute"])}
        rule = {"taint": taint, **({"deviceSelector": dict(where)} if c.p(0.8) else {})}
        c.add({"apiVersion": RESOURCE, "kind": "DeviceTaintRule", "metadata": {"name": "rule"}, "spec": rule})

    def want() -> Manifest:
        requests = [_request(c, d, f"r{i}") for i in range(c.r.randint(1, 2))]
        if c.p(0.2):
            choices = [_alternative(f"s{j}", _request(c, d, "")) for j in range(2)]
            requests[-1] = {"name": requests[-1]["name"], "firstAvailable": choices}
        kind = c.pick(["matchAttribute", "matchAttribute", "distinctAttribute"])
        constraint = {kind: f"{d}/{c.pick(['model', 'numa'])}"}
        return {"requests": requests, "constraints": [constraint] if c.p(0.4) else []}

    _ask(c, want)


def _part(c: Case, number: int) -> Manifest:
    part = device(c, f"part-{number}")
    if c.p(0.85):
        part["consumesCounters"] = [{"counterSet": "card", "counters": {"memory": {"value": c.pick(SIZES)}}}]
    if c.p(0.25):
        part["taints"] = [{"key": "broken", "value": "yes", "effect": c.pick(["NoSchedule", "NoExecute", "None"])}]
    if c.p(0.6):
        part["capacity"] = {"units": {"value": c.pick(["1", "2", "4"])}}
    if c.p(0.3):
        part["allowMultipleAllocations"] = True
    return part


def _request(c: Case, d: str, name: str) -> Manifest:
    more: Manifest = {}
    if c.p(0.3):
        more["capacity"] = {"requests": {"units": c.pick(["1", "2", "3"])}}
    if c.p(0.2):
        more["tolerations"] = [{"key": "broken", "operator": "Exists"}]
    if c.p(0.2):
        more["selectors"] = _own(d, "numa", c.r.randrange(2))
    return every("refused", name, **more) if c.p(0.15) else exactly("refused", name, count=c.r.randint(1, 3), **more)


SEARCH_FAMILIES: dict[str, Callable[[Case], None]] = {
    family.__name__: family for family in (devices_choices, devices_refused)
}
"""Those in which releases search in different ways."""
