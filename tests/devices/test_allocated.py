"""What is in use."""

import msgspec

from schedctl.api.meta import ObjectMeta
from schedctl.api.quantities import parse
from schedctl.devices.allocated import DeviceID, PendingAllocation, Use, devices_in_use
from schedctl.testing.builders import cluster
from tests.devices.builders import DRIVER, allocated_state, claim, holding, share_of

X, Y = DeviceID(DRIVER, "p", "x"), DeviceID(DRIVER, "p", "y")


def test_a_claim_without_allocation_takes_nothing():
    assert not allocated_state([claim()]).pools


def test_devices_are_held_whole_or_in_shares():
    state = allocated_state(
        [holding("c", "p/x", share_of("p/y", "1", memory="1Gi")), holding("d", share_of("p/y", "2", memory="2Gi"))]
    )
    assert state.use_of(X) == Use(whole=True, shared=False)
    assert state.use_of(Y) == Use(whole=False, shared=True, capacity=(("memory", parse("3Gi")),))
    assert state.holders(Y) == ("default/c", "default/d")


def test_admin_access_takes_nothing():
    assert allocated_state([holding("c", {"at": "p/x", "adminAccess": True})]).use_of(X) is None


def test_a_device_that_two_claims_hold_is_free_when_both_are_deallocated():
    made = cluster(holding("c", "p/x"), holding("d", "p/x"))
    assert devices_in_use(made).use_of(X) == Use(whole=True, shared=False)
    made.delete(holding("c"))
    assert devices_in_use(made).use_of(X) == Use(whole=True, shared=False)
    made.put(msgspec.structs.replace(claim(), metadata=ObjectMeta(name="d", namespace="default")))
    assert devices_in_use(made).use_of(X) is None


def test_a_pending_allocation_is_in_use():
    made = cluster(claim())
    made.put(PendingAllocation(metadata=ObjectMeta(name="uid-c"), claim=holding("c", "p/x")))
    assert devices_in_use(made).use_of(X) == Use(whole=True, shared=False)
    assert devices_in_use(made).holders(X) == ("default/c",)
    made.delete(PendingAllocation(metadata=ObjectMeta(name="uid-c"), claim=claim()))
    assert devices_in_use(made).use_of(X) is None


def test_reverting_a_fork_restores_what_is_in_use():
    made = cluster(holding("c", share_of("p/y", "1", memory="1Gi")))
    before = devices_in_use(made).use_of(Y)
    with made.fork():
        made.put(holding("d", "p/x", share_of("p/y", "2", memory="1Gi")))
        assert devices_in_use(made).use_of(Y) == Use(whole=False, shared=True, capacity=(("memory", parse("2Gi")),))
    assert devices_in_use(made).use_of(Y) == before
    assert devices_in_use(made).use_of(X) is None


def test_the_state_is_updated_in_place_with_the_pools_that_changed():
    made = cluster(holding("c", "p/x"), holding("d", "q/x"))
    state = devices_in_use(made)
    version = state.version
    made.put(holding("e", "p/y"))
    assert devices_in_use(made) is state
    assert [pool.pool for pool, changed in state.changed.items() if changed > version] == ["p"]
