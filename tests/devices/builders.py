"""Slices, classes and claims in one line each."""

import msgspec

from schedctl.api.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice
from schedctl.devices.allocated import AllocatedState, Holder

DRIVER = "gpu.example.com"


def device(name, *, model=None, memory=None, share=None, taint=None, counters=None, **spec):
    """A device; `taint` is ``key:effect``, `counters` are amounts of the counter set "set", `share` whether it may."""
    if model is not None:
        spec["attributes"] = {"model": {"string": model}, **spec.get("attributes", {})}
    if memory is not None:
        spec["capacity"] = {"memory": memory if isinstance(memory, dict) else {"value": memory}}
    if share is not None:
        spec["allowMultipleAllocations"] = share
    if taint is not None:
        key, effect = taint.split(":")
        spec["taints"] = [{"key": key, "effect": effect}]
    if counters is not None:
        amounts = {counter: {"value": amount} for counter, amount in counters.items()}
        spec["consumesCounters"] = [{"counterSet": "set", "counters": amounts}]
    return {"name": name, **spec}


def resource_slice(name, *devices, pool=None, driver=DRIVER, on=None, generation=1, count=1, **spec):
    """A slice of one pool; on the node `on`, on every node unless the spec says otherwise."""
    if on is not None:
        spec["nodeName"] = on
    elif not spec.keys() & {"nodeSelector", "perDeviceNodeSelection", "allNodes"}:
        spec["allNodes"] = True
    offered = [device(each) if isinstance(each, str) else each for each in devices]
    pool = {"name": pool or name, "generation": generation, "resourceSliceCount": count}
    spec = {"driver": driver, "pool": pool, **({"devices": offered} if offered else {}), **spec}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, ResourceSlice)


def counter_slice(name, *, pool, on=None, counters=None, sets=None, count=2):
    """A slice with the counter set "set", or several."""
    written = [
        {"name": key, "counters": {c: {"value": v} for c, v in (counters or {}).items()}} for key in sets or ["set"]
    ]
    return resource_slice(name, pool=pool, on=on, count=count, sharedCounters=written)


def zone_is(*zones):
    """A node selector."""
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": list(zones)}]}]}


def device_class(name="gpu", *expressions):
    """A class with these selectors."""
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    return msgspec.convert({"metadata": {"name": name}, "spec": {"selectors": selectors}}, DeviceClass)


def taint_rule(name, key, effect="NoSchedule", **selector):
    """A rule that taints the devices selected."""
    spec = {"taint": {"key": key, "effect": effect}, **({"deviceSelector": selector} if selector else {})}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, DeviceTaintRule)


def request(name="r", count=1, *, admin=None, tolerate=None, where=None, **spec):
    """A request for `count` devices, or "All" of them, of the class gpu."""
    exactly = {"deviceClassName": "gpu", **_amount_and_selection(count, tolerate, where), **spec}
    if admin is not None:
        exactly["adminAccess"] = admin
    return {"name": name, "exactly": exactly}


def either(name, *alternatives):
    """A request for the first of some that is available."""
    return {"name": name, "firstAvailable": list(alternatives)}


def alternative(name, count=1, *, tolerate=None, where=None, **spec):
    """One of several."""
    return {"name": name, "deviceClassName": "gpu", **_amount_and_selection(count, tolerate, where), **spec}


def memory_of(amount):
    """The capacity field of a request for memory."""
    return {"capacity": {"requests": {"memory": amount}}}


def claim(*requests, name="c", constraints=None):
    """A claim to be allocated."""
    spec = {"devices": {"requests": list(requests or [request()]), "constraints": constraints}}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return msgspec.convert({"metadata": metadata, "spec": spec}, ResourceClaim)


def holding(name, *results):
    """An allocated claim; each result is ``pool/device`` or its JSON."""
    written = [_held(each) if isinstance(each, str) else {**_held(each.pop("at")), **each} for each in results]
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    status = {"allocation": {"devices": {"results": written}}}
    return msgspec.convert({"metadata": metadata, "status": status}, ResourceClaim)


def allocated_state(claims):
    """What these claims take."""
    state = AllocatedState()
    for each in claims:
        state.hold(Holder(f"{each.metadata.namespace}/{each.metadata.name}"), each)
    return state


def share_of(place, share_id, **consumed):
    """What a claim holds that has a share of a device."""
    return {"at": place, "shareID": share_id, "consumedCapacity": consumed}


def _held(place):
    pool, name = place.split("/")
    return {"request": "r", "driver": DRIVER, "pool": pool, "device": name}


def _amount_and_selection(count, tolerate, where):
    spec = {"allocationMode": "All"} if count == "All" else {"allocationMode": "ExactCount", "count": count}
    if tolerate is not None:
        spec["tolerations"] = [{"key": tolerate, "operator": "Exists"}]
    if where is not None:
        spec["selectors"] = [{"cel": {"expression": where}}]
    return spec
