"""NodeDeclaredFeatures."""

import pytest

from schedctl.framework.cycles import Cycle
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status
from schedctl.plugins.node_declared_features.plugin import NodeDeclaredFeatures
from schedctl.testing.builders import cluster, handle, node, pod
from schedctl.testing.plugin_answers import parts_read

RESTART, USERS, MOUNT = (
    "RestartAllContainersOnContainerExits",
    "UserNamespacesHostNetworkSupport",
    "VolumeBindMountOptions",
)
REFUSED = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't match Pod's required features",))
PLUGIN = NodeDeclaredFeatures(None, handle())


def container(**fields):
    return {"name": "main", "image": "web", **fields}


RESTARTS = container(restartPolicyRules=[{"action": "Restart"}, {"action": "RestartAllContainers"}])
MOUNTS = container(volumeMounts=[{"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}])


@pytest.mark.parametrize(
    ("spec", "features"),
    [
        pytest.param({}, [], id="a plain pod needs nothing"),
        pytest.param({"containers": [RESTARTS]}, [RESTART], id="a rule that restarts all containers"),
        pytest.param({"initContainers": [RESTARTS]}, [RESTART], id="the same on an init container"),
        pytest.param(
            {"containers": [container(restartPolicyRules=[{"action": "Restart"}])]}, [], id="other rules need nothing"
        ),
        pytest.param({"hostNetwork": True, "hostUsers": False}, [USERS], id="a user namespace on the host network"),
        pytest.param({"hostNetwork": True}, [], id="the host network alone"),
        pytest.param({"hostNetwork": True, "hostUsers": True}, [], id="the host network and the host's users"),
        pytest.param({"hostUsers": False}, [], id="a user namespace alone"),
        pytest.param({"containers": [MOUNTS]}, [MOUNT], id="options of a bind mount"),
        pytest.param({"initContainers": [MOUNTS]}, [MOUNT], id="the same on an init container"),
        pytest.param({"ephemeralContainers": [MOUNTS]}, [MOUNT], id="and on an ephemeral container"),
        pytest.param(
            {"containers": [container(volumeMounts=[{"name": "v", "mountPath": "/v"}])]},
            [],
            id="a mount without options",
        ),
        pytest.param(
            {"containers": [RESTARTS, MOUNTS], "hostNetwork": True, "hostUsers": False},
            [RESTART, USERS, MOUNT],
            id="all of them",
        ),
    ],
)
def test_what_a_pod_needs(spec, features):
    incoming = pod(**spec)
    assert sorted(PLUGIN.required_features(incoming.pod.spec)) == features
    assert (PLUGIN.pre_filter(Cycle(incoming), cluster().nodes) == SKIP) is not bool(features)
    assert PLUGIN.signature(incoming) == frozenset(features)


NODES = cluster(
    node("none"),
    node("one", declared_features=[RESTART]),
    node("both", declared_features=["FromTheFuture", RESTART, MOUNT]),
    node("unsorted", declared_features=[MOUNT, RESTART]),
).nodes


def filtered(*containers):
    cycle = Cycle(pod(containers=list(containers)))
    PLUGIN.pre_filter(cycle, NODES)
    return PLUGIN.filter(cycle, NODES)


@pytest.mark.parametrize(
    ("containers", "accepted"),
    [
        pytest.param([RESTARTS], ["one", "both"], id="a node must declare the feature, in order of names"),
        pytest.param([RESTARTS, MOUNTS], ["both"], id="all features count"),
    ],
)
def test_nodes_that_do_not_declare_a_feature_are_refused(containers, accepted):
    found = filtered(*containers)
    statuses = {name: found.status(i) for i, name in enumerate(NODES.names)}
    assert statuses == {name: SUCCESS if name in accepted else REFUSED for name in NODES.names}


def test_the_evidence_is_what_the_node_lacks():
    (part,) = filtered(RESTARTS, MOUNTS).parts
    assert [part.at(i)["missing"] for i in range(4)] == [(RESTART, MOUNT), (MOUNT,), (), (RESTART,)]


def test_without_prefilter_the_filter_fails():
    found = PLUGIN.filter(Cycle(pod()), NODES)
    text = 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'
    assert found.status(0) == Status(Code.ERROR, (text,))


def test_only_a_change_of_the_node_affects_its_verdict():
    assert parts_read(PLUGIN, pod(containers=[RESTARTS]), NODES) == {"description"}
