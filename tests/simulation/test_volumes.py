"""The volume controller in a run: claims get their volumes before the scheduler looks at the pods that wait for them.

The stories are those that the real controllers act out in ``tests/cluster/test_real_volumes``.
"""

from __future__ import annotations

import json

import pytest

from schedctl.api.storage import PersistentVolumeClaim
from tests.cluster.volume_stories import ANYWHERE, PROVISIONED, STORIES, claim, nodes, pod, storage_class, volume


def listing(*objects):
    """A List of objects, as text."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def volumes_of(space, cluster):
    """The volume of each claim of a namespace, "" for none; those that were made have no name of their own."""
    found = {}
    for each in cluster.every(PersistentVolumeClaim).values():
        if each.metadata.namespace == space:
            name = each.spec.volume_name if each.status.phase == "Bound" else ""
            found[each.metadata.name] = PROVISIONED if name.startswith("pvc-") else name
    return found


def nodes_of(space, facts):
    """The node of each pod of a namespace, "" for none."""
    return {key.partition("/")[2]: pod.node for key, pod in facts.run.pods.items() if key.startswith(f"{space}/")}


def matches(expected, found):
    """Whether pods are where they are expected."""
    return expected.keys() == found.keys() and all(
        bool(found[name]) if node == ANYWHERE else found[name] == node for name, node in expected.items()
    )


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_story_of_real_controllers(simulate, story):
    release = simulate(listing(*nodes()), listing(*story.objects))
    assert volumes_of(story.space, release.scheduler.cluster) == story.volumes
    assert matches(story.nodes, nodes_of(story.space, release.facts))


def test_claim_of_two_gets_what_the_other_left(simulate):
    objects = [
        volume("small", "5Gi", "manual"),
        volume("large", "10Gi", "manual"),
        *(claim("shop", name, "3Gi", "manual") for name in ("one", "two", "three")),
    ]
    release = simulate(listing(*nodes()), listing(*objects))
    assert volumes_of("shop", release.scheduler.cluster) == {"one": "small", "two": "large", "three": ""}


def test_claim_that_was_in_the_cluster_is_not_provisioned_in_the_run(simulate):
    waiting = claim("shop", storage_class="disks")
    waiting["metadata"]["uid"] = "1"
    release = simulate(listing(*nodes(), storage_class("disks"), waiting), listing(pod("shop")))
    assert volumes_of("shop", release.scheduler.cluster) == {"data": ""}


def test_pending_claim_of_the_cluster_is_bound_to_a_volume_of_the_release(simulate):
    waiting = claim("shop", storage_class="manual")
    waiting["metadata"]["uid"] = "1"
    release = simulate(listing(*nodes(), waiting), listing(volume("new", "5Gi", "manual"), pod("shop")))
    assert volumes_of("shop", release.scheduler.cluster) == {"data": "new"}


def test_claim_with_a_selector_is_never_provisioned(simulate):
    selecting = claim("shop", storage_class="disks", selector={"matchLabels": {"tier": "fast"}})
    release = simulate(listing(*nodes()), listing(storage_class("disks"), selecting, pod("shop")))
    assert volumes_of("shop", release.scheduler.cluster) == {"data": ""}


def test_report_says_what_is_assumed_of_provisioned_volumes(simulate):
    release = simulate(
        listing(*nodes()), listing(storage_class("disks"), claim("shop", storage_class="disks"), pod("shop"))
    )
    (assumed,) = release.report.assumed_volumes
    assert (assumed.storage_class, assumed.claims, assumed.certain) == ("disks", ["shop/data"], True)
    assert assumed.text == "every node can reach the volume of class disks that disks.example.com would provision"


def test_claim_that_no_pod_mounts_is_no_assumption(simulate):
    release = simulate(listing(*nodes()), listing(storage_class("disks"), claim("shop", storage_class="disks")))
    assert release.report.assumed_volumes == []


def csi_node(name, keys):
    drivers = [{"name": "disks.example.com", "nodeID": name, "topologyKeys": keys}]
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name},
        "spec": {"drivers": drivers},
    }


ZONES = [{"matchLabelExpressions": [{"key": "kubernetes.io/hostname", "values": ["b"]}]}]


@pytest.mark.parametrize(
    ("of_class", "others", "tie"),
    [
        pytest.param({}, (), "", id="nothing"),
        pytest.param({"parameters": {"numberOfReplicas": "3"}}, (), "", id="a parameter about something else"),
        pytest.param({"parameters": {"dataLocality": "disabled"}}, (), "", id="a parameter that is switched off"),
        pytest.param({"parameters": {"zone": "a"}}, (), "parameter zone of the class", id="a parameter about a place"),
        pytest.param({"allowedTopologies": ZONES}, (), "allowedTopologies of the class", id="its allowed topologies"),
        pytest.param(
            {}, (csi_node("a", ["rack"]),), "topology key rack of its driver", id="the topology keys of its driver"
        ),
        pytest.param({}, (csi_node("a", None),), "", id="a driver without topology keys"),
        pytest.param(
            {"provisioner": "ebs.csi.aws.com"},
            (),
            "topology key topology.ebs.csi.aws.com/zone of its driver",
            id="a driver of which Kubernetes knows that it makes volumes of a zone",
        ),
    ],
)
def test_what_ties_a_provisioned_volume(simulate, of_class, others, tie):
    objects = [{**storage_class("disks"), **of_class}, claim("shop", storage_class="disks"), pod("shop")]
    release = simulate(listing(*nodes(), *others), listing(*objects))
    (assumed,) = release.report.assumed_volumes
    assert assumed.certain == (not tie)
    assert assumed.text.partition("; ")[2] == (f"{tie} may tie it to fewer nodes" if tie else "")


def test_provisioned_volume_is_reachable_from_the_allowed_topologies_only(simulate):
    restricted = {**storage_class("disks"), "allowedTopologies": ZONES}
    release = simulate(listing(*nodes()), listing(restricted, claim("shop", storage_class="disks"), pod("shop")))
    assert nodes_of("shop", release.facts) == {"web": "b"}
