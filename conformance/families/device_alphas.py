"""Dynamic resource allocation with the fields of features that are off by default: lists, derived attributes and so on.

Each family is about one feature gate; with the gate off its cases show what kube-scheduler makes of the fields anyway.
"""

from __future__ import annotations

from collections.abc import Callable

from families.cases import Case, Manifest
from families.devices import device, device_claim, device_slice, driver, every, exactly, hold, use_claims

OPERATIONS = "DRAOptionalNodeOperations"


def _names(c: Case) -> list[str]:
    return [n["metadata"]["name"] for n in c.nodes]


def _ask(c: Case, want: Callable[[], Manifest], pods: int = 3) -> None:
    """A few pods with one or two claims each; `want` draws the spec of one: its requests and constraints."""
    for i in range(pods):
        claims = []
        for j in range(c.r.randint(1, 2)):
            spec = want()
            device_claim(c, f"want-{i}-{j}", spec["requests"], constraints=spec.get("constraints", ()))
            claims.append(f"want-{i}-{j}")
        use_claims(c, f"new-{i}", claims)


def devices_lists(c: Case) -> None:
    """Attributes that are lists (DRAListTypeAttributes): what devices have in common, what none of them may share."""
    c.cluster(2, 5)
    d = driver(c, "listed")

    def listed() -> Manifest:
        kind = c.pick(["strings", "strings", "ints", "bools", "versions", "string", "int", "version"])
        values = {
            "strings": c.some(["pci0", "pci1", "pci2", "pci3"], 0, 3),
            "ints": c.some([0, 1, 2, 3], 1, 3),
            "bools": c.some([True, False], 1, 2),
            "versions": c.some(["1.0.0", "1.2.0", "2.0.0"], 1, 2),
            "string": c.pick(["pci0", "pci1"]),
            "int": c.r.randrange(3),
            "version": c.pick(["1.0.0", "1.2.0"]),
        }
        return {kind: values[kind]}

    for n in _names(c):
        devices = []
        for i in range(c.r.randint(2, 6)):
            # one list to a device: releases that see none name one of them in an error, by chance
            devices.append(device(c, f"dev-{i}"))
            if c.p(0.9):
                common = {"strings": c.some(["pci0", "pci1", "pci2"], 1, 2)}
                devices[-1]["attributes"]["roots"] = common if c.p(0.7) else listed()
        device_slice(c, d, n, f"listed-{n}", nodeName=n, devices=devices)
        if c.p(0.4):
            hold(c, f"held-listed-{n}", n, d, n, "dev-0")

    def want() -> Manifest:
        requests = [exactly("listed", f"r{i}", count=c.r.randint(1, 3)) for i in range(c.r.randint(1, 3))]
        if c.p(0.15):
            requests[0] = every("listed", "r0")
        if c.p(0.3):
            expression = c.pick(
                [
                    f'device.attributes["{d}"].roots.exists(x, x == "pci1")',
                    f'"pci0" in device.attributes["{d}"].roots',
                    f'has(device.attributes["{d}"].roots)',
                ]
            )
            requests[-1]["exactly"]["selectors"] = [{"cel": {"expression": expression}}]
        constraints = []
        for _ in range(c.r.randint(1, 2)):
            attribute = f"{d}/{c.pick(['roots', 'roots', 'roots', 'numa'])}"
            constraint: Manifest = {c.pick(["matchAttribute", "matchAttribute", "distinctAttribute"]): attribute}
            if c.p(0.4):
                constraint["requests"] = c.some([r["name"] for r in requests], 1, 2)
            constraints.append(constraint)
        return {"requests": requests, "constraints": constraints}

    _ask(c, want)


def devices_derived(c: Case) -> None:
    """Attributes that requests compute from others (DRADerivedAttributes), and constraints on them."""
    c.cluster(2, 5)
    d = driver(c, "derived")
    for n in _names(c):
        devices = []
        for i in range(c.r.randint(1, 4)):
            devices.append(device(c, f"dev-{i}", capacity={"memory": {"value": c.pick(["8Gi", "16Gi"])}}))
            devices[-1]["attributes"] |= {"firmware": {"version": c.pick(["1.2.0", "1.10.0-rc.1+b2"])}}
            if c.p(0.2):
                devices[-1]["attributes"]["roots"] = {"strings": c.some(["pci0", "pci1", "pci2"], 1, 2)}
        device_slice(c, d, n, f"derived-{n}", nodeName=n, devices=devices)
    own = f'device.attributes["{d}"]'
    sound = [
        f"{own}.numa",
        f'{own}.model + "-" + string({own}.numa)',
        f"{own}.numa % 2 == 0",
        f"{own}.firmware",
        f"[{own}.model]",
        f"{own}.?roots.orValue([{own}.model])",
        f'has({own}.roots) ? "many" : "one"',
        f'device.capacity["{d}"].memory.compareTo(quantity("10Gi"))',
        "device.driver",
    ]
    broken = [f"{own}.nope", "1.5", "device.capacity", f"{own}.numa +", "dyn(1.5)", "dyn([1, 'x'])", "dyn({})", "[[1]]"]

    def want() -> Manifest:
        requests = []
        for i in range(c.r.randint(1, 2)):
            request = exactly("derived", f"r{i}", count=c.r.randint(1, 2))
            if c.p(0.8):
                expression = c.pick(broken) if c.p(0.08) else c.pick(sound)
                request["exactly"]["derivedAttributes"] = [{"name": f"{d}/kin", "expression": expression}]
            if c.p(0.15):
                request["exactly"].setdefault("derivedAttributes", []).append(
                    {"name": f"{d}/model", "expression": '"same"'}
                )
            requests.append(request)
        constraints = []
        for _ in range(c.r.randint(1, 2)):
            attribute = f"{d}/{c.pick(['kin', 'kin', 'model'])}"
            constraint: Manifest = {c.pick(["matchAttribute", "matchAttribute", "distinctAttribute"]): attribute}
            if c.p(0.3):
                constraint["requests"] = c.some([r["name"] for r in requests], 1, 2)
            constraints.append(constraint)
        if c.p(0.2):  # an alternative without the attribute
            requests[0] = {
                "name": "r0",
                "firstAvailable": [
                    {**requests[0]["exactly"], "name": "first", "count": 2},
                    {"name": "second", "deviceClassName": "derived", "allocationMode": "ExactCount", "count": 1},
                ],
            }
        return {"requests": requests, "constraints": constraints}

    _ask(c, want)


def devices_grouped(c: Case) -> None:
    """Partitions that go together only in common groups (DRADeviceCompatibilityGroups)."""
    c.cluster(2, 5)
    d = driver(c, "grouped")
    for n in _names(c):
        split = c.p(0.3)  # half of the partitions in a slice of their own, perhaps without groups
        cards = [f"card-{i}" for i in range(c.r.randint(1, 2))]
        counters = [{"name": card, "counters": {"memory": {"value": "40Gi"}}} for card in cards]
        parts = []
        for i in range(c.r.randint(2, 6)):
            consumed = []
            for card in c.some(cards, 1, 2) if c.p(0.2) else [c.pick(cards)]:
                use: Manifest = {"counterSet": card, "counters": {"memory": {"value": c.pick(["5Gi", "10Gi"])}}}
                if c.p(0.75):
                    use["compatibilityGroups"] = c.some(["mig", "mps", "vgpu"], 1, 2)
                consumed.append(use)
            more = {"allowMultipleAllocations": True} if c.p(0.15) else {}
            parts.append(device(c, f"part-{i}", consumesCounters=consumed, **more))
        if c.p(0.2):
            parts.append(device(c, "plain"))
        device_slice(c, d, n, f"grouped-{n}-a", count=2 + split, nodeName=n, sharedCounters=counters)
        half = len(parts) // 2 if split else 0
        device_slice(c, d, n, f"grouped-{n}-b", count=2 + split, nodeName=n, devices=parts[half:])
        if split:
            device_slice(c, d, n, f"grouped-{n}-c", count=3, nodeName=n, devices=parts[:half])
        for part in c.some([part["name"] for part in parts], 0, 2):
            shared = next(each for each in parts if each["name"] == part).get("allowMultipleAllocations")
            more = {"shareID": f"00000000-0000-4000-8000-{n[-3:]}000000001"} if shared and c.p(0.8) else {}
            hold(c, f"held-grouped-{n}-{part}", n, d, n, part, **more)

    def want() -> Manifest:
        requests = [exactly("grouped", f"r{i}", count=c.r.randint(1, 3)) for i in range(c.r.randint(1, 2))]
        return {"requests": [every("grouped")] if c.p(0.1) else requests}

    _ask(c, want)


def devices_fractional(c: Case) -> None:
    """Shares whose sizes are fractions (DRAFractionalCapacityRange)."""
    c.cluster(2, 4)
    d = driver(c, "fractional")
    ranges: list[Manifest] = [
        {"min": "0.5", "step": "0.25"},
        {"min": "500m", "step": "250m", "max": "1.75"},
        {"min": "100m", "step": "300m", "max": "2"},
        {"min": "1", "step": "1", "max": "4"},
        {"min": "1.5", "step": "1"},
        {"min": "0.5", "step": "0.0005"},
        {"min": "0", "step": "1.5", "max": "9000000000000000000"},
        {"min": "750m", "max": "3"},
    ]
    for n in _names(c):
        devices = []
        for i in range(c.r.randint(1, 2)):
            limits = c.pick(ranges)
            policy = {"default": c.pick([limits["min"], limits["min"], "0.7"]), "validRange": limits}
            compute = {"value": c.pick(["1", "2", "2.2", "4"]), "requestPolicy": policy}
            devices.append(device(c, f"dev-{i}", capacity={"compute": compute}, allowMultipleAllocations=c.p(0.85)))
        device_slice(c, d, n, f"fractional-{n}", nodeName=n, devices=devices)
        for i in range(len(devices)):
            if devices[i]["allowMultipleAllocations"] and c.p(0.5):
                more = {"shareID": f"00000000-0000-4000-8000-{n[-3:]}00000000{i}"}
                hold(c, f"held-fractional-{n}-{i}", n, d, n, f"dev-{i}", consumedCapacity={"compute": "0.5"}, **more)

    def want() -> Manifest:
        sizes = ["0.3", "0.5", "0.6", "750m", "1", "1.1", "1.25", "1.6", "2", "0.0001", "9223372036854775807", "9e15"]
        more = {"capacity": {"requests": {"compute": c.pick(sizes)}}} if c.p(0.85) else {}
        request = every("fractional", **more) if c.p(0.1) else exactly("fractional", count=c.r.randint(1, 2), **more)
        return {"requests": [request]}

    _ask(c, want)


def devices_unprepared(c: Case) -> None:
    """Devices for which nothing is done on the node (DRAOptionalNodeOperations), which the node has to know of."""
    c.cluster(2, 6)
    d = driver(c, "unprepared")
    for n in c.nodes:
        if c.p(0.5):
            n["status"]["declaredFeatures"] = c.pick([[OPERATIONS], ["GuaranteedQoSPodCPUResize", OPERATIONS], []])
    skips: list[Manifest] = [
        {"skipNodeOperations": ["*"]},
        {"skipNodeOperations": ["NodePrepareResources", "NodeUnprepareResources"]},
        {"skipNodeOperations": []},
        {},
    ]
    for n in _names(c):
        for i in range(c.r.randint(0, 2)):
            devices = [device(c, f"dev-{i}-{j}") for j in range(c.r.randint(1, 2))]
            device_slice(c, d, f"{n}-{i}", f"unprepared-{n}-{i}", nodeName=n, devices=devices, **c.pick(skips))
    if c.p(0.7):
        devices = [device(c, f"any-{i}") for i in range(c.r.randint(1, 4))]
        device_slice(c, d, "any", "unprepared-any", allNodes=True, devices=devices, **c.pick(skips))
    for i in range(c.r.randint(0, 2)):
        n = c.pick(_names(c))
        hold(c, f"held-unprepared-{i}", n, d, f"{n}-0", "dev-0-0", **(c.pick(skips)))

    def want() -> Manifest:
        return {"requests": [every("unprepared") if c.p(0.15) else exactly("unprepared", count=c.r.randint(1, 3))]}

    _ask(c, want)
    if c.p(0.5):  # an allocated claim that needs such a node
        claim = device_claim(c, "taken", [exactly("unprepared")])
        result = {"request": "r0", "driver": d, "pool": "any", "device": "any-0", **c.pick(skips)}
        claim["status"]["allocation"] = {"devices": {"results": [result]}}
        use_claims(c, "new-taken", ["taken"])


DEVICE_GATE_FAMILIES: dict[str, Callable[[Case], None]] = {
    family.__name__: family
    for family in (devices_derived, devices_fractional, devices_grouped, devices_lists, devices_unprepared)
}
"""Those about the gates of dynamic resource allocation that are off by default."""
