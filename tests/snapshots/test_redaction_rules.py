"""Texts that mean more than their equality: what takes them apart finds the same in what stands for them."""

from __future__ import annotations

import ipaddress

import msgspec
import pytest

from schedctl.api import annotation_keys
from schedctl.api.field_errors import label_value_problems
from schedctl.api.kinds import kind_named
from schedctl.api.storage import claim_name
from schedctl.api.topology import BETA_ZONE, ZONE
from schedctl.framework import csi_migration
from schedctl.framework.csi_migration import UntranslatableError
from schedctl.snapshots.redaction import redact

KEY = b"a key of sixteen or more bytes"
NODE_SELECTOR_TERMS = "nodeSelectorTerms"


def hidden(**written):
    """Objects after redaction, by kind; each is written as a file has it."""
    objects = {
        kind: [msgspec.convert(one, kind_named(kind).struct) for one in found] for kind, found in written.items()
    }
    return redact(objects, KEY)


def pod(name: str = "web", **spec):
    return {"metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def node(**labels):
    return {"metadata": {"name": "a", "labels": {key.replace("_", "/"): value for key, value in labels.items()}}}


def volume(labels=None, **source):
    return {"metadata": {"name": "pv", "labels": labels or {}}, "spec": source}


# --- Names that are made of others ------------------------------------------------------------------------------------


def test_the_claim_of_an_ephemeral_volume_is_found_by_pod_and_volume():
    claim = {"metadata": {"name": "web-data", "namespace": "shop"}}
    found = hidden(Pod=[pod(volumes=[{"name": "data", "ephemeral": {}}])], PersistentVolumeClaim=[claim])
    (user,) = found["Pod"]
    assert claim_name(user, user.spec.volumes[0]) == found["PersistentVolumeClaim"][0].metadata.name


def test_pods_and_claims_of_a_stateful_set_are_counted_on():
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}
    member = pod("db-2", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-2"}}])
    member["metadata"]["ownerReferences"] = [owner]
    member["metadata"]["labels"] = {"statefulset.kubernetes.io/pod-name": "db-2", "apps.kubernetes.io/pod-index": "2"}
    template = {"metadata": {"name": "data"}, "spec": {}}
    stateful_set = {"metadata": {"name": "db", "namespace": "shop"}, "spec": {"volumeClaimTemplates": [template]}}
    claim = {"metadata": {"name": "data-db-2", "namespace": "shop"}}
    found = hidden(Pod=[member], StatefulSet=[stateful_set], PersistentVolumeClaim=[claim])
    (one,), (made,), (claimed,) = found["Pod"], found["StatefulSet"], found["PersistentVolumeClaim"]
    of_template = made.spec.volume_claim_templates[0].metadata.name
    assert one.metadata.name == f"{made.metadata.name}-2"
    assert one.metadata.labels["statefulset.kubernetes.io/pod-name"] == one.metadata.name
    assert one.metadata.labels["apps.kubernetes.io/pod-index"] == "2"
    assert claimed.metadata.name == f"{of_template}-{made.metadata.name}-2"
    assert one.spec.volumes[0].persistent_volume_claim.claim_name == claimed.metadata.name


def test_a_generated_name_begins_with_that_of_its_owner():
    made = pod("web-x1")
    made["metadata"]["generateName"] = "web-"
    (one,) = hidden(Pod=[made, pod("web")])["Pod"][:1]
    assert one.metadata.generate_name.endswith("-")
    assert hidden(Pod=[made, pod("web")])["Pod"][1].metadata.name + "-" == one.metadata.generate_name


# --- Labels -----------------------------------------------------------------------------------------------------------


def test_a_namespace_is_selected_by_its_name():
    namespace = {"metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}}}
    (one,), (user,) = hidden(Namespace=[namespace], Pod=[pod()]).values()
    assert one.metadata.name == one.metadata.labels["kubernetes.io/metadata.name"] == user.metadata.namespace


@pytest.mark.parametrize(("operator", "stays"), [("Gt", True), ("Lt", True), ("In", False)])
def test_values_that_are_compared_as_integers_stay(operator, stays):
    term = {"matchExpressions": [{"key": "cores", "operator": operator, "values": ["8"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {NODE_SELECTOR_TERMS: [term]}}}
    (user,), (host,) = hidden(Pod=[pod(affinity=affinity)], Node=[node(cores="16", pool="16")]).values()
    required = user.spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution
    (expression,) = required.node_selector_terms[0].match_expressions
    assert (expression.values == ["8"]) is stays
    assert (host.metadata.labels["cores"] == "16") is stays
    assert host.metadata.labels["pool"] != "16", "another label is no number to anybody"


def test_a_node_is_named_in_match_fields_as_it_is_called():
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {NODE_SELECTOR_TERMS: [term]}}}
    (user,), (host,) = hidden(Pod=[pod(affinity=affinity)], Node=[node()]).values()
    required = user.spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution
    assert required.node_selector_terms[0].match_fields[0].values == [host.metadata.name]


def test_a_volume_in_several_zones_names_each():
    (one,), (host,) = hidden(PersistentVolume=[volume({ZONE: "b__a"})], Node=[node(**{ZONE: "a"})]).values()
    zones = one.metadata.labels[ZONE].split("__")
    assert zones[1] == host.metadata.labels[ZONE]
    assert not label_value_problems(one.metadata.labels[ZONE])


# --- Disks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "handle"),
    [
        ({"awsElasticBlockStore": {"volumeID": "aws://eu-1a/vol-1"}}, "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, "vol-1"),
        ({"azureDisk": {"diskName": "d", "diskURI": "/sub/d", "kind": "Managed"}}, "/sub/d"),
        ({"cinder": {"volumeID": "1234-5678"}}, "1234-5678"),
        ({"gcePersistentDisk": {"pdName": "disk"}}, "projects/UNSPECIFIED/zones/eu-west1-b/disks/disk"),
    ],
    ids=["EBS with a zone", "EBS", "Azure", "Cinder", "GCE"],
)
def test_an_in_tree_disk_is_still_the_same_as_its_csi_volume(source, handle):
    in_tree = volume({ZONE: "eu-west1-b"}, **source)
    csi = volume(csi={"driver": "d", "volumeHandle": handle})
    one, other = hidden(PersistentVolume=[in_tree, csi])["PersistentVolume"]
    assert csi_migration.volume_handle(one) == other.spec.csi.volume_handle
    assert handle not in str(other)


def test_a_disk_in_a_region_stays_in_it():
    in_tree = volume({ZONE: "eu-west1-b__eu-west1-c"}, gcePersistentDisk={"pdName": "disk"})
    csi = volume(csi={"driver": "d", "volumeHandle": "projects/UNSPECIFIED/regions/eu-west1/disks/disk"})
    one, other = hidden(PersistentVolume=[in_tree, csi])["PersistentVolume"]
    assert csi_migration.volume_handle(one) == other.spec.csi.volume_handle


@pytest.mark.parametrize("labels", [{ZONE: "eu-west1-b__us-east1-c"}, {BETA_ZONE: "a__b"}])
def test_a_disk_that_is_in_no_region_is_in_none(labels):
    (one,) = hidden(PersistentVolume=[volume(labels, gcePersistentDisk={"pdName": "d"})])["PersistentVolume"]
    with pytest.raises(UntranslatableError):
        csi_migration.volume_handle(one)


@pytest.mark.parametrize("identity", ["aws://eu-1a/disk-1", "aws://eu-1a/vol-1/x"])
def test_a_disk_that_cannot_be_migrated_still_cannot(identity):
    (one,) = hidden(PersistentVolume=[volume(awsElasticBlockStore={"volumeID": identity})])["PersistentVolume"]
    with pytest.raises(UntranslatableError):
        csi_migration.volume_handle(one)


# --- The rest ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("address", "stays"), [("0.0.0.0", True), ("127.0.0.1", True), ("10.1.2.3", False)])
def test_redacted_address_is_an_address(address, stays):
    port = {"containerPort": 80, "hostPort": 80, "hostIP": address}
    (one,) = hidden(Pod=[pod(containers=[{"name": "c", "ports": [port]}])])["Pod"]
    written = one.spec.containers[0].ports[0].host_ip
    assert ipaddress.ip_address(written)
    assert (written == address) is stays


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        ("DeviceClass", "deviceclass.resource.kubernetes.io/{}"),
        ("StorageClass", "{}.storageclass.storage.k8s.io/requests.storage"),
        ("DeviceClass", "{}.deviceclass.resource.k8s.io/devices"),
    ],
)
def test_a_class_in_the_name_of_a_resource_is_the_class(kind, resource):
    quota = {
        "metadata": {"name": "q", "namespace": "shop"},
        "spec": {"hard": {resource.format("gold"): "1", "cpu": "1"}},
    }
    found = hidden(ResourceQuota=[quota], **{kind: [{"metadata": {"name": "gold"}}]})
    name = found[kind][0].metadata.name
    assert list(found["ResourceQuota"][0].spec.hard) == [resource.format(name), "cpu"]
    assert "gold" not in name


def test_the_selector_of_a_namespace_still_selects():
    notes = {
        annotation_keys.NODE_SELECTOR: "pool=batch, zone=a",
        annotation_keys.TOLERATIONS: '[{"key":"dedicated","value":"batch","effect":"NoSchedule"}]',
    }
    namespace = {"metadata": {"name": "shop", "annotations": notes}}
    (one,), (host,) = hidden(Namespace=[namespace], Node=[node(pool="batch")]).values()
    batch = host.metadata.labels["pool"]
    written = one.metadata.annotations
    assert written[annotation_keys.NODE_SELECTOR].startswith(f"pool={batch}, zone=")
    assert f'"value":"{batch}"' in written[annotation_keys.TOLERATIONS]
    assert '"key":"dedicated"' in written[annotation_keys.TOLERATIONS]


def test_requests_of_a_claim_keep_their_alternatives():
    claim = {
        "metadata": {"name": "c", "namespace": "shop"},
        "spec": {
            "devices": {"requests": [{"name": "gpu", "firstAvailable": [{"name": "big", "deviceClassName": "x"}]}]}
        },
        "status": {"allocation": {"devices": {"results": [{"request": "gpu/big", "driver": "d", "pool": "p"}]}}},
    }
    (one,) = hidden(ResourceClaim=[claim])["ResourceClaim"]
    (request,) = one.spec.devices.requests
    assert one.status.allocation.devices.results[0].request == f"{request.name}/{request.first_available[0].name}"


def test_what_the_scheduler_numbers_stays():
    claim = {
        "metadata": {"name": "c", "namespace": "shop"},
        "spec": {"devices": {"requests": [{"name": "container-0-request-1"}]}},
    }
    (one,) = hidden(ResourceClaim=[claim])["ResourceClaim"]
    assert one.spec.devices.requests[0].name == "container-0-request-1"
