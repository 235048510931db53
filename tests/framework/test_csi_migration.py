"""In-tree volumes and the handles they have with CSI drivers."""

import msgspec
import pytest

from schedctl.api.pods import Volume
from schedctl.api.storage import PersistentVolume
from schedctl.api.topology import BETA_ZONE, ZONE
from schedctl.framework.csi_migration import (
    UntranslatableError,
    inline_handle,
    migration_of,
    volume_handle,
)


def disk(name="d", **labels):
    source = {"gcePersistentDisk": {"pdName": name}}
    return msgspec.convert({"metadata": {"name": "pv", "labels": labels}, "spec": source}, PersistentVolume)


def inline(**source):
    return msgspec.convert({"name": "v", **source}, Volume)


@pytest.mark.parametrize(
    ("labels", "handle"),
    [
        pytest.param({}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d", id="a disk of unknown zone"),
        pytest.param({ZONE: "us-a-1"}, "projects/UNSPECIFIED/zones/us-a-1/disks/d", id="a disk of a zone"),
        pytest.param(
            {BETA_ZONE: "us-a-2", ZONE: "us-a-1"},
            "projects/UNSPECIFIED/zones/us-a-2/disks/d",
            id="the old label goes first",
        ),
        pytest.param(
            {BETA_ZONE: "", ZONE: "us-a-1"}, "projects/UNSPECIFIED/zones/us-a-1/disks/d", id="unless it is empty"
        ),
        pytest.param(
            {ZONE: "us-a-1__us-a-2"}, "projects/UNSPECIFIED/regions/us-a/disks/d", id="a disk of two zones has a region"
        ),
    ],
)
def test_gce_handles(labels, handle):
    assert volume_handle(disk(**labels)) == handle


@pytest.mark.parametrize(
    ("zones", "text"),
    [
        pytest.param(
            "us-a-1__x",
            "zone in unexpected format, expected: {locale}-{region}-{zone}, got: x",
            id="a zone that is not written as GCE writes zones",
        ),
        pytest.param(
            "us-b-1__us-a-1",
            "multiple or no regions gotten from zones, got: map[us-a:{} us-b:{}]",
            id="zones of two regions",
        ),
    ],
)
def test_a_disk_of_no_region(zones, text):
    with pytest.raises(UntranslatableError) as refusal:
        volume_handle(disk(**{ZONE: zones}))
    assert str(refusal.value) == f"failed to get region from zones: {text}"


@pytest.mark.parametrize(
    ("written", "handle"),
    [
        pytest.param("vol-1", "vol-1", id="a handle is one already"),
        pytest.param("anything", "anything", id="whatever it looks like"),
        pytest.param("aws://zone/vol-1", "vol-1", id="a URL has it behind the zone"),
        pytest.param("aws:///vol-1", "vol-1", id="which may be left out"),
        pytest.param("aws://zone//vol-1/", "vol-1", id="slashes around it are nothing"),
        pytest.param("aws://zone/vol-1?a=b#c", "vol-1", id="nor is what follows it"),
        pytest.param("aws://zone/vol-%31", "vol-1", id="it may be escaped"),
    ],
)
def test_ebs_handles(written, handle):
    assert inline_handle(inline(awsElasticBlockStore={"volumeID": written})) == handle


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("aws://zone/disk", "format for AWS volume (aws://zone/disk)"),
        ("aws://zone/a/vol-1", "format for AWS volume (aws://zone/a/vol-1)"),
        ("aws://a b/vol-1", 'disk name (aws://a b/vol-1): parse "aws://a b/vol-1": invalid character " " in host name'),
    ],
)
def test_what_is_no_ebs_volume(written, text):
    with pytest.raises(UntranslatableError) as refusal:
        inline_handle(inline(awsElasticBlockStore={"volumeID": written}))
    assert str(refusal.value) == f"failed to translate Kubernetes ID to EBS Volume ID Invalid {text}"


@pytest.mark.parametrize(
    ("source", "plugin"),
    [
        ({"awsElasticBlockStore": {"volumeID": "v"}}, "kubernetes.io/aws-ebs"),
        ({"gcePersistentDisk": {"pdName": "v"}}, "kubernetes.io/gce-pd"),
        ({"azureDisk": {"diskURI": "v"}}, "kubernetes.io/azure-disk"),
        ({"azureFile": {"shareName": "v"}}, "kubernetes.io/azure-file"),
        ({"cinder": {"volumeID": "v"}}, "kubernetes.io/cinder"),
        ({"portworxVolume": {"volumeID": "v"}}, "kubernetes.io/portworx-volume"),
        ({"vsphereVolume": {"volumePath": "v"}}, "kubernetes.io/vsphere-volume"),
        ({"rbd": {"image": "v"}}, None),
        ({"emptyDir": {}}, None),
    ],
)
def test_who_was_migrated(source, plugin):
    found = migration_of(inline(**source))
    assert (found.plugin if found is not None else None) == plugin


def test_azure_disks_must_be_managed():
    managed = {"diskName": "d", "diskURI": "/u", "kind": "managed"}
    assert inline_handle(inline(azureDisk=managed)) == "/u"
    with pytest.raises(UntranslatableError, match=r"kind\(Shared\) is not supported in csi migration"):
        inline_handle(inline(azureDisk={"diskName": "d", "diskURI": "/u"}))
