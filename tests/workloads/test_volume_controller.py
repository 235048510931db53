"""What the volume controller does to a state: what a person wrote is completed, what a cluster had is left as it is.

Which volume a claim gets is told in ``tests/simulation/test_volumes.py``, beside the real controller.
"""

from __future__ import annotations

import json

import pytest

from schedctl.api.gaps import Gap
from schedctl.api.storage import PersistentVolume, PersistentVolumeClaim
from schedctl.sources import load_text
from schedctl.workloads.clusters import assemble
from schedctl.workloads.volume_controller import CompletedClaim, VolumeController, complete_written
from tests.cluster.volume_stories import claim, storage_class, volume


def state(*objects, missing=()):
    """A cluster of objects, in which some kinds could not be listed."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
    gaps = [Gap(kind, "Forbidden") for kind in missing]
    return assemble((one.object for one in load_text(text.encode(), "state.json").objects), gaps).cluster


def of_cluster(obj):
    """An object as it comes out of a cluster."""
    return {**obj, "metadata": {**obj["metadata"], "uid": f"uid-{obj['metadata']['name']}"}}


def volume_of(cluster):
    return cluster.every(PersistentVolumeClaim)["shop/data"].spec.volume_name


WRITTEN = volume("pv", "5Gi", "manual"), claim("shop", storage_class="manual")


@pytest.mark.parametrize(
    ("objects", "name"),
    [
        pytest.param(WRITTEN, "pv", id="a claim and a volume that a person wrote are bound"),
        pytest.param((WRITTEN[0], of_cluster(WRITTEN[1])), "pv", id="so is a claim of a cluster to a written volume"),
        pytest.param(
            ({**of_cluster(WRITTEN[0]), "status": {"phase": "Available"}}, WRITTEN[1]),
            "pv",
            id="and a written claim to a volume of a cluster",
        ),
        pytest.param(
            ({**of_cluster(WRITTEN[0]), "status": {"phase": "Available"}}, of_cluster(WRITTEN[1])),
            "",
            id="what a controller has seen in a cluster is left as it is",
        ),
        pytest.param(
            (storage_class("manual"), of_cluster(WRITTEN[1])), "", id="nothing is provisioned for a claim of a cluster"
        ),
        pytest.param(
            (storage_class("manual"), WRITTEN[1]), "pvc-shop-data", id="a written claim gets a volume provisioned"
        ),
    ],
)
def test_a_state_is_completed(objects, name):
    cluster = state(*objects)
    complete_written(cluster)
    assert volume_of(cluster) == name
    assert list(cluster.every(CompletedClaim)) == (["shop/data"] if name else [])


def test_a_fork_takes_back_what_was_bound_in_it():
    cluster = state(*WRITTEN)
    with cluster.fork():
        complete_written(cluster)
        assert volume_of(cluster) == "pv"
    assert volume_of(cluster) == ""
    assert not cluster.every(CompletedClaim)
    complete_written(cluster)
    assert volume_of(cluster) == "pv"


@pytest.mark.parametrize("kind", ["PersistentVolume", "StorageClass"])
def test_nothing_is_bound_where_a_better_volume_or_a_class_may_be_unknown(kind):
    cluster = state(*WRITTEN, missing=[kind])
    complete_written(cluster)
    assert volume_of(cluster) == ""


@pytest.mark.parametrize(
    ("written", "phase"),
    [
        pytest.param(volume("pv"), "Available", id="one without a claim"),
        pytest.param(volume("pv", claim="shop/data"), "Available", id="one that is kept for a claim"),
        pytest.param(volume("pv", claim="shop/data", uid="gone"), "Released", id="one whose claim is gone"),
        pytest.param({**volume("pv"), "status": {"phase": "Failed"}}, "Failed", id="one that has a phase"),
    ],
)
def test_a_written_volume_gets_its_first_phase(written, phase):
    cluster = state(written)
    complete_written(cluster)
    assert cluster.every(PersistentVolume)["pv"].status.phase == phase


def test_a_volume_that_joins_is_offered_to_claims_that_wait():
    cluster = state(WRITTEN[1])
    controller = VolumeController(cluster)
    controller.synchronize()
    (late,) = state(WRITTEN[0]).every(PersistentVolume).values()
    cluster.put(late)
    controller.on_object(late)
    assert volume_of(cluster) == "pv"
