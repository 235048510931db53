"""Volumes and devices: what a pod that uses none of them gets from the plugins that look after them."""

import numpy as np
import pytest

from schedctl.api.devices import DeviceClass, DeviceClassSpec
from schedctl.api.meta import ObjectMeta
from schedctl.engine.handles import ProfileHandle
from schedctl.engine.nominators import Nominator
from schedctl.errors import PluginError
from schedctl.framework.cycles import Cycle
from schedctl.framework.statuses import SKIP, Code, Status
from schedctl.plugins.dynamic_resources.plugin import DynamicResources
from schedctl.plugins.node_volume_limits.plugin import NodeVolumeLimits
from schedctl.plugins.volume_binding.plugin import VolumeBinding
from schedctl.plugins.volume_restrictions.plugin import VolumeRestrictions
from schedctl.plugins.volume_zone.plugin import VolumeZone
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.plugin_answers import parts_read

CLAIM = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
EPHEMERAL = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
DISK = {"name": "disk", "gcePersistentDisk": {"pdName": "d"}}
PLAIN = [{"name": "tmp", "emptyDir": {}}, {"name": "settings", "configMap": {"name": "c"}}]
PLUGINS = [VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone, DynamicResources]


def made(plugin, c):
    return plugin(None, ProfileHandle(c, Nominator()))


def shelf(extended=None):
    """A cluster with a device class called ``gpu`` and a running pod that uses everything."""
    busy = pod("busy", on="a", volumes=[CLAIM, EPHEMERAL, DISK], resourceClaims=[{"name": "gpu"}])
    device_class = DeviceClass(metadata=ObjectMeta(name="gpu"), spec=DeviceClassSpec(extended_resource_name=extended))
    return cluster(node("a"), node("b"), busy, device_class)


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_pod_without_claims_skips_whatever_running_pods_mount(plugin):
    c = shelf()
    incoming = pod(cpu="1", requests={"example.com/fpga": "1"}, volumes=PLAIN)
    assert made(plugin, c).pre_filter(Cycle(incoming), c.nodes) == SKIP
    assert made(plugin, c).signature(incoming) is not None


@pytest.mark.parametrize("plugin", [VolumeBinding, DynamicResources])
def test_a_pod_without_claims_scores_nothing_but_is_scored(plugin):
    c = shelf()
    judge, cycle = made(plugin, c), Cycle(pod())
    judge.pre_filter(cycle, c.nodes)
    if plugin is VolumeBinding:
        assert judge.pre_score(cycle, c.nodes) is None
    raw = judge.score(cycle, c.nodes)
    assert (raw.dtype, raw.tolist()) == (np.int64, [0, 0])
    assert judge.normalize(cycle, c.nodes, raw).tolist() == [0, 0]


def test_a_profile_without_their_prefilter_fails_as_upstream_does():
    c = shelf()
    for plugin, text in (
        (VolumeRestrictions, 'cannot read "PreFilterVolumeRestrictions" from cycleState'),
        (VolumeBinding, "not found"),
        (DynamicResources, "not found"),
    ):
        found = made(plugin, c).filter(Cycle(pod()), c.nodes)
        assert (found.status(0).code, found.status(0).message) == (Code.ERROR, text)
    for plugin in (NodeVolumeLimits, VolumeZone):
        assert not made(plugin, c).filter(Cycle(pod()), c.nodes).parts
    assert made(VolumeBinding, c).pre_score(Cycle(pod()), c.nodes) == Status(Code.ERROR, ("not found",))
    for plugin in (VolumeBinding, DynamicResources):
        with pytest.raises(PluginError, match="not found"):
            made(plugin, c).score(Cycle(pod()), c.nodes)


def test_post_filter_of_dynamic_resources_leaves_a_pod_without_claims_to_preemption():
    c = shelf()
    devices, cycle = made(DynamicResources, c), Cycle(pod())
    devices.pre_filter(cycle, c.nodes)
    refused = np.full(2, Code.UNSCHEDULABLE, np.int8)
    assert devices.post_filter(cycle, c.nodes, refused).status == Status(Code.UNSCHEDULABLE)


def test_post_filter_of_dynamic_resources_fails_where_an_earlier_plugin_ended_prefilter():
    c = shelf()
    found = made(DynamicResources, c).post_filter(Cycle(pod()), c.nodes, np.zeros(2, np.int8))
    assert found.status == Status(Code.ERROR, ("not found",))


def test_nothing_affects_pods_without_claims():
    c = shelf()
    for plugin in PLUGINS:
        assert parts_read(made(plugin, c), pod(), c.nodes) == set()
