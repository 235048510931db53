"""One allocator serves one state of the devices, however many ask for it, and no other."""

import msgspec
import pytest

from schedctl.api.devices import DeviceTaintRule
from schedctl.api.meta import ObjectMeta
from schedctl.api.storage import StorageClass
from schedctl.devices.allocated import PendingAllocation
from schedctl.devices.allocator import allocator_of
from schedctl.devices.row_changes import device_rows_of
from schedctl.testing.builders import cluster, node, pod
from tests.devices.builders import claim, device_class, holding, resource_slice


def made():
    return cluster(node("a"), resource_slice("s", "x", "y", on="a"))


def taint_rule():
    spec = {"taint": {"key": "k", "effect": "NoSchedule"}}
    return msgspec.convert({"metadata": {"name": "t"}, "spec": spec}, DeviceTaintRule)


def pending(name, taken):
    return PendingAllocation(metadata=ObjectMeta(name=name), claim=holding(name, taken))


@pytest.mark.parametrize(
    ("happens", "rows"),
    [
        pytest.param(lambda of: of.put(device_class()), [], id="the first class comes"),
        pytest.param(lambda of: of.put(holding("h", "s/x")), [0], id="a claim is allocated"),
        pytest.param(lambda of: of.put(pending("h", "s/x")), [0], id="a claim is about to be allocated"),
        pytest.param(lambda of: of.put(resource_slice("s", "x", on="a")), None, id="a slice changes"),
        pytest.param(lambda of: of.put(taint_rule()), None, id="devices are tainted"),
        pytest.param(lambda of: of.add_node(node("b")), None, id="a node comes"),
    ],
)
def test_an_allocator_is_another_once_something_has_happened_to_devices(happens, rows):
    of = made()
    before, changes, since = allocator_of(of), device_rows_of(of), of.generation
    happens(of)
    now = allocator_of(of)
    assert now is not before
    changed = changes.rows_changed(since)
    assert (None if changed is None else changed.tolist()) == rows
    assert now is allocator_of(of)
    with of.fork():
        of.put(holding("other", "s/y"))
        assert allocator_of(of) is not now


def test_an_allocator_stays_while_only_other_things_happen():
    of = made()
    before = allocator_of(of)
    of.add_pod(pod("p", on="a"))
    of.put(msgspec.convert({"metadata": {"name": "c"}, "provisioner": "p"}, StorageClass))
    assert allocator_of(of) is before


def test_classes_that_come_after_an_allocator_was_made_are_seen():
    of = made()
    assert not allocator_of(of).can_allocate(0, [claim()])
    of.put(device_class())
    assert allocator_of(of).can_allocate(0, [claim()])
