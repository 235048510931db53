"""VolumeBinding."""

from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from schedctl.api import storage, topology
from schedctl.config.args import UtilizationShapePoint, VolumeBindingArgs
from schedctl.errors import PluginError
from schedctl.framework.cycles import Cycle, Found
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status
from schedctl.framework.volume_matching import Mismatch
from schedctl.plugins.volume_binding.claims import Unbound, UnboundReason
from schedctl.plugins.volume_binding.plugin import VolumeBinding
from schedctl.plugins.volume_binding.search import Miss
from schedctl.testing.builders import HOSTNAME, ZONE, cluster, node, pod
from schedctl.testing.plugin_answers import parts_read

TO_BIND = "node(s) didn't find available persistent volumes to bind"
BEYOND = "node(s) didn't match PersistentVolume's node affinity"
FULL = "node(s) did not have enough free storage"
NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
SELECTED = "volume.kubernetes.io/selected-node"
COMPLETED = "pv.kubernetes.io/bind-completed"
OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
EBS_ZONE = "topology.ebs.csi.aws.com/zone"
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"
NOW = "2026-01-01T00:00:00Z"


def volume(name, size="5Gi", storage_class="local", *, on=None, zone=None, keep_for=None, phase="Available", **fields):
    """A volume: free, or kept for a claim of that name."""
    metadata = {"name": name, **fields.pop("metadata", {})}
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class}
    if on or zone:
        spec["nodeAffinity"] = affinity({HOSTNAME: on} if on else {ZONE: zone})
    if keep_for:
        spec["claimRef"] = {"namespace": "default", "name": keep_for}
    obj = {"metadata": metadata, "spec": {**spec, **fields}, "status": {"phase": phase}}
    return msgspec.convert(obj, storage.PersistentVolume)


def affinity(*terms):
    expressions = ([{"key": key, "operator": "In", "values": [value]} for key, value in each.items()] for each in terms)
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": each} for each in expressions]}}


def claim(
    name, size="5Gi", storage_class="local", *, to=None, annotations=None, phase="Pending", metadata=None, **spec
):
    """A claim: pending, or bound to a volume."""
    notes = {**({COMPLETED: "yes"} if to else {}), **(annotations or {})}
    about = {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": notes, **(metadata or {})}
    claim_spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size} if size else {}}}
    claim_spec |= {"storageClassName": storage_class, "volumeName": to or "", **spec}
    obj = {"metadata": about, "spec": claim_spec, "status": {"phase": phase}}
    return msgspec.convert(obj, storage.PersistentVolumeClaim)


def storage_class(name, provisioner="kubernetes.io/no-provisioner", mode="WaitForFirstConsumer", topologies=None):
    terms = topologies and [
        {"matchLabelExpressions": [{"key": key, "values": values} for key, values in term.items()]}
        for term in topologies
    ]
    obj = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}
    return msgspec.convert({**obj, "allowedTopologies": terms}, storage.StorageClass)


def driver(name, **spec):
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, storage.CSIDriver)


def left(name, size, where, storage_class="fast", **fields):
    obj = {"metadata": {"name": name, "namespace": "default"}, "storageClassName": storage_class, "capacity": size}
    return msgspec.convert({**obj, "nodeTopology": {"matchLabels": where}, **fields}, storage.CSIStorageCapacity)


def csi_node(name, *plugins, keys=()):
    metadata = {"name": name, "annotations": {MIGRATED: ",".join(plugins)}}
    spec = {"drivers": [{"name": "csi.example.com", "nodeID": name, "topologyKeys": list(keys)}]}
    return msgspec.convert({"metadata": metadata, "spec": spec}, storage.CSINode)


LOCAL, FAST, NOW_CLASS = (
    storage_class("local"),
    storage_class("fast", "csi.example.com"),
    storage_class("now", "csi.example.com", "Immediate"),
)
COUNTS = driver("csi.example.com", storageCapacity=True)
A, B, C = node("a", zone="z1"), node("b", zone="z1"), node("c", zone="z2")


def using(*claims, name="web", **spec):
    volumes = [
        {"name": f"v{i}", "persistentVolumeClaim": {"claimName": each}} if isinstance(each, str) else each
        for i, each in enumerate(claims)
    ]
    return pod(name, volumes=volumes, metadata={"uid": f"uid-{name}"}, **spec)


def judge(c, profile="default-scheduler", shape=None):
    args = VolumeBindingArgs(shape=shape) if shape else None
    return VolumeBinding(args, SimpleNamespace(cluster=c, profile_name=profile))


class Answer:
    """A cycle up to Filter, over all nodes."""

    def __init__(self, plugin, incoming):
        self.plugin, self.cluster = plugin, plugin.handle.cluster
        self.nodes = self.cluster.nodes
        self.cycle = Cycle(incoming)
        self.status = plugin.pre_filter(self.cycle, self.nodes)
        self.verdicts = None
        if self.status is None:
            self.verdicts = plugin.filter(self.cycle, self.nodes)
            if self.verdicts.findings is not None:
                every_node = np.ones(len(self.nodes), np.bool_)
                self.cycle.findings[plugin.name] = Found([(self.nodes.rows, every_node, self.verdicts.findings)])

    def refused(self):
        rows = enumerate(self.nodes.names)
        return {name: self.verdicts.status(row).reasons for row, name in rows if self.verdicts.at(row)}

    def codes(self):
        return {self.verdicts.status(row).code for row in range(len(self.nodes)) if self.verdicts.at(row)}

    def found(self, name):
        at = self.cycle.findings["VolumeBinding"].at(self.cluster.node_table.row_of[name])
        return at and {
            "static": {c.metadata.name: v.metadata.name for c, v in at.static},
            "dynamic": {c.metadata.name: left and left.metadata.name for c, left in at.dynamic},
        }

    def bound(self):
        """What each node would bind."""
        return {name: at["static"] for name in self.nodes.names if (at := self.found(name))}

    def evidence(self, name):
        row = self.nodes.names.index(name)
        return [part.at(row) for part in self.verdicts.at(row)]

    def scores(self):
        assert self.plugin.pre_score(self.cycle, self.nodes) is None
        standing = self.nodes.take([i for i in range(len(self.nodes)) if not self.verdicts.at(i)])
        return dict(zip(standing.names, self.plugin.score(self.cycle, standing).tolist(), strict=True))


def ask(objects, *claims, shape=None):
    return Answer(judge(cluster(*objects), shape=shape), using(*claims))


# -- PreFilter -------------------------------------------------------------------

OWNED = {"ownerReferences": [{"kind": "Pod", "name": "web", "uid": "uid-web", "controller": True}]}
SCRATCH = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}


@pytest.mark.parametrize(
    ("objects", "mount", "text"),
    [
        pytest.param([], "data", 'persistentvolumeclaim "data" not found', id="a claim that is not there"),
        pytest.param(
            [],
            SCRATCH,
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "web-scratch"',
            id="the claim of an ephemeral volume that is not there yet",
        ),
        pytest.param(
            [claim("data", to="pv", phase="Lost")],
            "data",
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"',
            id="a claim that lost its volume",
        ),
        pytest.param(
            [claim("data", to="pv", metadata={"deletionTimestamp": NOW})],
            "data",
            'persistentvolumeclaim "data" is being deleted',
            id="a claim on its way out",
        ),
        pytest.param(
            [claim("web-scratch", to="pv")],
            SCRATCH,
            "PVC default/web-scratch was not created for pod default/web (pod is not owner)",
            id="a claim of the right name that is not the pod's own",
        ),
        pytest.param(
            [NOW_CLASS, claim("data", storage_class="now")],
            "data",
            "pod has unbound immediate PersistentVolumeClaims",
            id="an unbound claim of a class that binds at once",
        ),
        pytest.param(
            [LOCAL, claim("data", volumeName="pv")],
            "data",
            "pod has unbound immediate PersistentVolumeClaims",
            id="a claim that names its volume but is not bound",
        ),
        pytest.param(
            [claim("data", storage_class=None)],
            "data",
            "pod has unbound immediate PersistentVolumeClaims",
            id="an unbound claim without a class",
        ),
        pytest.param(
            [claim("data", storage_class="gone")],
            "data",
            "pod has unbound immediate PersistentVolumeClaims",
            id="an unbound claim of a class that is not there",
        ),
    ],
)
def test_pre_filter_refuses_a_pod_with_an_unusable_claim(objects, mount, text):
    answer = ask([A, *objects], mount)
    assert answer.status == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))


@pytest.mark.parametrize(
    ("objects", "mount"),
    [
        pytest.param([LOCAL, claim("data")], "data", id="a claim that waits for its first consumer"),
        pytest.param([claim("data", to="pv")], "data", id="a bound claim"),
        pytest.param([LOCAL, claim("web-scratch", metadata=OWNED)], SCRATCH, id="the pod's own ephemeral claim"),
        pytest.param(
            [LOCAL, claim("data", storage_class="gone", annotations={OLD_CLASS: "local"})],
            "data",
            id="a class in the annotation of old, which comes first",
        ),
    ],
)
def test_pre_filter_leaves_other_claims_to_the_nodes(objects, mount):
    assert ask([A, *objects], mount).status is None


def test_a_class_without_a_binding_mode_is_a_fault():
    answer = ask([A, storage_class("odd", mode=None), claim("data", storage_class="odd")], "data")
    assert answer.status == Status(Code.ERROR, ('VolumeBindingMode not set for StorageClass "odd"',))


def test_a_pod_without_claims_is_skipped_and_scores_nothing():
    answer = ask([A], {"name": "tmp", "emptyDir": {}})
    assert answer.status == SKIP
    assert answer.plugin.pre_score(answer.cycle, answer.nodes) is None
    assert answer.plugin.score(answer.cycle, answer.nodes).tolist() == [0]
    assert answer.plugin.reserve(answer.cycle, "a") == answer.plugin.pre_bind(answer.cycle, "a") == SUCCESS


def test_the_evidence_of_unbound_immediate_claims_names_them():
    status = ask([A, claim("data", storage_class=None), claim("logs", storage_class=None)], "data", "logs").status
    (cause,) = status.causes
    assert cause.reference == "volume-binding/immediate"
    assert cause.evidence == {
        "unbound": [Unbound("default/data", UnboundReason.CLASSLESS), Unbound("default/logs", UnboundReason.CLASSLESS)]
    }


@pytest.mark.parametrize(
    ("objects", "found"),
    [
        pytest.param(
            [claim("data", storage_class="none")],
            Unbound("default/data", UnboundReason.NO_CLASS, "none"),
            id="its class does not exist",
        ),
        pytest.param(
            [FAST, claim("data", storage_class="fast", volumeName="pv")],
            Unbound("default/data", UnboundReason.NO_VOLUME, "fast", "pv"),
            id="the volume it names does not exist, though its class waits",
        ),
        pytest.param(
            [claim("data", volumeName="pv"), volume("pv", keep_for="other")],
            Unbound("default/data", UnboundReason.KEPT, "local", "pv", "default/other"),
            id="the volume it names is reserved for another claim",
        ),
        pytest.param(
            [claim("data", volumeName="pv"), volume("pv", keep_for="data")],
            Unbound("default/data", UnboundReason.UNFINISHED, "local", "pv"),
            id="its binding is not completed",
        ),
    ],
)  # fmt: skip
def test_the_evidence_says_why_a_claim_is_unbound(objects, found):
    (cause,) = ask([A, *objects], "data").status.causes
    assert cause.evidence == {"unbound": [found]}


# -- bound claims ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("required", "beyond"),
    [
        pytest.param(None, "", id="a volume without node affinity is within reach of every node"),
        pytest.param({}, "", id="so is one whose affinity requires nothing"),
        pytest.param(affinity({ZONE: "z2"}), "ab", id="a zone keeps other zones away"),
        pytest.param(affinity({ZONE: "z2"}, {HOSTNAME: "a"}), "b", id="one term is enough"),
        pytest.param(affinity({ZONE: "z1", HOSTNAME: "a"}), "bc", id="all conditions of a term must hold"),
        pytest.param({"required": {"nodeSelectorTerms": [{}]}}, "abc", id="a term without conditions matches no node"),
        pytest.param({"required": {"nodeSelectorTerms": []}}, "abc", id="nor does an affinity without terms"),
        pytest.param(
            {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "Near"}]}]}},
            "abc",
            id="a term that cannot be parsed matches no node",
        ),
        pytest.param(
            {
                "required": {
                    "nodeSelectorTerms": [
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
                    ]
                }
            },
            "",
            id="node names are not looked at, so a term of names matches every node",
        ),
    ],
)
def test_a_bound_claim_needs_a_node_that_reaches_its_volume(required, beyond):
    fields = {} if required is None else {"nodeAffinity": required}
    answer = ask([A, B, C, claim("data", to="pv"), volume("pv", keep_for="data", phase="Bound", **fields)], "data")
    assert answer.refused() == dict.fromkeys(beyond, (BEYOND,))
    assert answer.codes() <= {Code.UNSCHEDULABLE_AND_UNRESOLVABLE}


def test_the_first_bound_claim_out_of_reach_refuses_the_node():
    objects = [claim("near", to="here"), claim("far", to="gone"), volume("here", zone="z1")]
    assert ask([A, C, *objects], "near", "far").refused() == {"a": (NO_VOLUME,), "c": (BEYOND,)}
    assert ask([A, C, *objects], "far", "near").refused() == {"a": (NO_VOLUME,), "c": (NO_VOLUME,)}


def test_the_evidence_is_the_unmet_node_affinity_of_the_volume():
    answer = ask([A, C, claim("data", to="pv"), volume("pv", zone="z1")], "data")
    (evidence,) = answer.evidence("c")
    (((unmet,),)) = evidence.pop("unmet")
    assert evidence == {"claim": "default/data", "volume": "pv"}
    assert (unmet.key, unmet.values) == (ZONE, {"z1"})


EBS, GCE, AZURE = "kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "kubernetes.io/azure-disk"
NEW = node("new", zone="z1", labels={EBS_ZONE: "z1"})
OLD = node("old", zone="z1")
EBS_DISK = {"awsElasticBlockStore": {"volumeID": "vol-1"}}


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        pytest.param({"zone": "z1", **EBS_DISK}, "stale", id="its zone is looked for under the driver's label"),
        pytest.param({**EBS_DISK}, "", id="without a zone it is within reach of every node"),
        pytest.param(
            {"metadata": {"labels": {ZONE: "z1__z9"}}, **EBS_DISK},
            "stale",
            id="its own label stands in for the affinity, on migrated nodes only",
        ),
        pytest.param(
            {"metadata": {"labels": {topology.BETA_ZONE: "z9"}}, **EBS_DISK}, "new stale", id="so does the label of old"
        ),
        pytest.param(
            {"metadata": {"labels": {ZONE: "z9"}}, "zone": "z1", **EBS_DISK}, "stale", id="the affinity comes first"
        ),
        pytest.param(
            {"nodeAffinity": affinity({topology.BETA_ZONE: "z1"}), **EBS_DISK},
            "old stale",
            id="an affinity to the zone of old is read as well",
        ),
        pytest.param({"metadata": {"labels": {ZONE: " __"}}, **EBS_DISK}, "", id="a label that names no zone is none"),
        pytest.param(
            {"zone": "z1", "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1"}},
            "",
            id="a volume of the driver itself is taken as it is",
        ),
        pytest.param(
            {"zone": "z1", "vsphereVolume": {"volumePath": "x"}}, "", id="and so is a disk of a plugin nobody migrates"
        ),
    ],
)
def test_a_migrated_node_looks_at_an_in_tree_volume_as_its_driver_does(fields, refused):
    nodes = [OLD, NEW, node("stale", zone="z1"), csi_node("new", EBS), csi_node("stale", GCE, EBS), csi_node("old")]
    answer = ask([*nodes, claim("data", to="pv"), volume("pv", keep_for="data", **fields)], "data")
    assert answer.refused() == dict.fromkeys(refused.split(), (BEYOND,))


@pytest.mark.parametrize(
    ("source", "plugin", "problem"),
    [
        pytest.param(
            {"azureDisk": {"diskName": "d", "diskURI": "u", "kind": "Dedicated"}},
            AZURE,
            "kind(Dedicated) is not supported in csi migration",
            id="an Azure disk that is not managed",
        ),
        pytest.param(
            {"azureDisk": {"diskName": "d", "diskURI": "u"}},
            AZURE,
            "kind(Shared) is not supported in csi migration",
            id="an Azure disk of no kind, which is a shared one",
        ),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "aws://z1/disk"}},
            EBS,
            "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z1/disk)",
            id="an EBS volume that is none",
        ),
    ],
)
def test_a_volume_that_no_driver_can_serve_is_a_fault_on_migrated_nodes(source, plugin, problem):
    bound = [claim("data", to="pv"), volume("pv", zone="z2", **source)]
    answer = ask([OLD, NEW, csi_node("new", plugin), *bound, claim("more"), LOCAL], "data", "more")
    assert answer.refused() == {"old": (BEYOND, TO_BIND), "new": (f"could not translate pv: {problem}",)}
    assert answer.codes() == {Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.ERROR}


# -- volumes that are there ------------------------------------------------------


@pytest.mark.parametrize(
    ("volumes", "requirements", "chosen"),
    [
        pytest.param([volume("pv")], {}, "pv", id="a free volume that is just large enough"),
        pytest.param([volume("pv", "4Gi")], {}, None, id="a smaller one will not do"),
        pytest.param([volume("large", "9Gi"), volume("pv", "6Gi")], {}, "pv", id="the smallest of those large enough"),
        pytest.param([volume("b"), volume("a")], {}, "a", id="of equally large ones the first by name"),
        pytest.param([volume("pv", "1")], {"size": None}, "pv", id="a claim that asks for nothing takes the smallest"),
        pytest.param([volume("pv", phase="Released")], {}, None, id="one that is not available will not do"),
        pytest.param([volume("pv", metadata={"deletionTimestamp": NOW})], {}, None, id="nor one on its way out"),
        pytest.param([volume("pv", keep_for="other")], {}, None, id="nor one that is kept for another claim"),
        pytest.param([volume("pv", storage_class="fast")], {}, None, id="nor one of another class"),
        pytest.param(
            [volume("pv", storage_class="x", metadata={"annotations": {OLD_CLASS: "local"}})],
            {},
            "pv",
            id="its class may be in the annotation of old",
        ),
        pytest.param([volume("pv", volumeMode="Block")], {}, None, id="a block device is no file system"),
        pytest.param([volume("pv", volumeMode="Block")], {"volumeMode": "Block"}, "pv", id="but it is a block device"),
        pytest.param([volume("pv", volumeAttributesClassName="gold")], {}, None, id="attributes must be asked for"),
        pytest.param(
            [volume("pv", volumeAttributesClassName="gold")],
            {"volumeAttributesClassName": "gold"},
            "pv",
            id="attributes that are asked for do",
        ),
        pytest.param(
            [volume("pv")], {"accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}, None, id="every access mode is needed"
        ),
        pytest.param([volume("pv", accessModes=[])], {"accessModes": []}, "pv", id="no access mode is no demand"),
        pytest.param(
            [volume("pv", metadata={"labels": {"tier": "a"}})],
            {"selector": {"matchLabels": {"tier": "a"}}},
            "pv",
            id="labels that are asked for",
        ),
        pytest.param([volume("pv")], {"selector": {"matchLabels": {"tier": "a"}}}, None, id="labels it does not have"),
        pytest.param([volume("pv")], {"selector": {}}, "pv", id="an empty selector takes any"),
        pytest.param([volume("pv", zone="z2")], {}, None, id="one that cannot be reached will not do"),
        pytest.param(
            [volume("kept", "9Gi", keep_for="data", phase="Released"), volume("pv")],
            {},
            "kept",
            id="one that names the claim comes first, whatever its phase and size",
        ),
        pytest.param(
            [volume("kept", "4Gi", keep_for="data"), volume("pv")], {}, "pv", id="unless it is too small after all"
        ),
        pytest.param(
            [volume("kept", keep_for="data", zone="z2"), volume("pv")],
            {},
            None,
            id="one that names the claim and cannot be reached leaves no choice",
        ),
        pytest.param(
            [volume("kept", claimRef={"namespace": "default", "name": "data", "uid": "old"}), volume("pv", "9Gi")],
            {},
            "pv",
            id="one that names a claim of old with the same name is not for this one",
        ),
        pytest.param(
            [volume("kept", "9Gi", keep_for="data", storage_class="fast"), volume("pv")],
            {},
            "pv",
            id="one of another class does not count even if it names the claim",
        ),
    ],
)
def test_the_volume_a_claim_gets(volumes, requirements, chosen):
    answer = ask([A, LOCAL, FAST, claim("data", **requirements), *volumes], "data")
    if chosen is None:
        assert answer.refused() == {"a": (TO_BIND,)}
        assert answer.found("a") is None
    else:
        assert answer.refused() == {}
        assert answer.found("a") == {"static": {"data": chosen}, "dynamic": {}}


def test_each_node_gets_the_smallest_volume_it_can_reach():
    volumes = [volume("tiny", "5Gi", zone="z2"), volume("own", "6Gi", on="a"), volume("any", "7Gi")]
    answer = ask([A, B, C, LOCAL, claim("data"), *volumes], "data")
    assert answer.bound() == {"a": {"data": "own"}, "b": {"data": "any"}, "c": {"data": "tiny"}}


@pytest.mark.parametrize(
    ("volumes", "bound"),
    [
        pytest.param(
            [volume("v1", "2Gi"), volume("v2", "3Gi")],
            {name: {"small": "v1", "large": "v2"} for name in "ab"},
            id="the smaller claim chooses first",
        ),
        pytest.param([volume("v2", "3Gi")], {}, id="one volume is not enough for two claims"),
        pytest.param(
            [volume("v1", "3Gi", on="a"), volume("v2", "4Gi")],
            {"a": {"small": "v1", "large": "v2"}},
            id="on each node a claim passes over what the others of the pod have there",
        ),
        pytest.param(
            [volume("v1", "3Gi", on="a"), volume("v2", "4Gi", on="b"), volume("v3", "5Gi")],
            {"a": {"small": "v1", "large": "v3"}, "b": {"small": "v2", "large": "v3"}},
            id="and only there",
        ),
        pytest.param(
            [volume("v1", "3Gi", keep_for="small"), volume("v2", "4Gi", zone="z1"), volume("v3", "9Gi", on="a")],
            {name: {"small": "v1", "large": "v2"} for name in "ab"},
            id="a volume that names one of them is not for the other",
        ),
    ],
)
def test_two_claims_of_a_pod(volumes, bound):
    answer = ask([A, B, LOCAL, claim("large", "3Gi"), claim("small", "1Gi"), *volumes], "large", "small")
    assert answer.bound() == bound


def test_a_claim_that_is_mounted_twice_takes_two_volumes():
    answer = ask([A, LOCAL, claim("data"), volume("v1"), volume("v2", "9Gi"), volume("v3", "9Gi")], "data", "data")
    row = answer.cycle.findings["VolumeBinding"].at(0)
    assert [each.metadata.name for _, each in row.static] == ["v1", "v2"]


def test_a_volume_that_names_a_claim_is_not_taken_twice():
    objects = [A, B, LOCAL, claim("data"), volume("kept", keep_for="data", on="a"), volume("v1", "9Gi")]
    answer = ask(objects, "data", "data")
    row = answer.cycle.findings["VolumeBinding"].at(0)
    assert [each.metadata.name for _, each in row.static] == ["kept", "v1"]
    assert answer.refused() == {"b": (TO_BIND,)}


def test_a_selector_that_cannot_be_parsed_is_a_fault_everywhere_but_where_the_search_ends_before():
    broken = claim("data", selector={"matchExpressions": [{"key": "tier", "operator": "Near"}]})
    text = (
        'error creating internal label selector for claim: default/data: "Near" is not a valid label selector operator'
    )
    assert ask([A, B, LOCAL, broken], "data").refused() == {"a": (text,), "b": (text,)}
    promised = claim("other", storage_class="fast", annotations={SELECTED: "b"})
    assert ask([A, B, LOCAL, FAST, broken, promised], "data", "other").refused() == {"a": (TO_BIND,), "b": (text,)}


def test_the_evidence_counts_volumes_by_mismatch():
    volumes = [
        volume("v1", "1Gi"),
        volume("v2", "2Gi"),
        volume("v3", zone="z2"),
        volume("v4", keep_for="other"),
        volume("v5", volumeMode="Block"),
        volume("v6", volumeAttributesClassName="gold"),
        volume("v7", phase="Released"),
        volume("v8", accessModes=["ReadWriteMany"], metadata={"labels": {"tier": "a"}}),
        volume("v9", metadata={"deletionTimestamp": NOW, "labels": {"tier": "a"}}),
        volume("v10"),
        volume("v11", keep_for="data", zone="z2"),
        volume("elsewhere", storage_class="fast"),
    ]
    answer = ask([A, LOCAL, claim("data", selector={"matchLabels": {"tier": "a"}}), *volumes], "data")
    (evidence,) = answer.evidence("a")
    assert evidence == {
        "claim": "default/data",
        "storage_class": "local",
        "requested": 5 << 30,
        "provisioner": "kubernetes.io/no-provisioner",
        "volumes": {
            "too small": 2,
            "without the labels": 2,
            "reserved for others": 1,
            "of another volume mode": 1,
            "of another attributes class": 1,
            "not available": 1,
            "without the access modes": 1,
            "being deleted": 1,
            "unreachable": 1,
        },
        "nearest": Miss("v8", (Mismatch.ACCESS,), 5 << 30, ("ReadWriteMany",), "Available", ""),
    }


def test_the_evidence_names_the_nearest_volume_of_each_node():
    volumes = [
        volume("small", "1Gi", zone="z1"),
        volume("smaller", "512Mi", zone="z1"),
        volume("kept", keep_for="other", zone="z1"),
        volume("released", keep_for="other", zone="z2", phase="Released"),
        volume("tiny", "1Mi", zone="z2"),
    ]
    answer = ask([A, C, node("d", zone="z3"), LOCAL, claim("data"), *volumes], "data")
    nearest = {name: next(iter(answer.evidence(name)))["nearest"] for name in ("a", "c", "d")}
    assert {name: miss and (miss.volume, *miss.objections) for name, miss in nearest.items()} == {
        "a": ("small", Mismatch.SMALL),
        "c": ("released", Mismatch.RELEASED),
        "d": None,
    }


def test_a_volume_taken_by_another_claim_of_the_pod_has_no_mismatch():
    answer = ask([A, LOCAL, claim("data"), claim("logs"), volume("only")], "data", "logs")
    (evidence,) = answer.evidence("a")
    assert (evidence["nearest"].volume, evidence["nearest"].objections) == ("only", ())


def test_volumes_that_come_and_go_change_the_answer():
    c = cluster(A, LOCAL, claim("data"))
    plugin = judge(c)

    def chosen():
        answer = Answer(plugin, using("data"))
        return answer.bound().get("a", {}).get("data")

    assert chosen() is None
    c.put(volume("pv", "9Gi"))
    assert chosen() == "pv"
    c.put(volume("better", "6Gi"))
    assert chosen() == "better"
    c.put(volume("better", "6Gi", phase="Released"))
    assert chosen() == "pv"
    with c.fork():
        c.delete(volume("pv"))
        assert chosen() is None
    assert chosen() == "pv"
    c.add_node(node("a", zone="z2"))
    c.put(volume("pv", "9Gi", zone="z1"))
    assert chosen() is None
    c.add_node(node("a", zone="z1"))
    assert chosen() == "pv"


def test_each_of_a_thousand_local_volumes_is_bound_on_its_own_node():
    count = 1000
    nodes = [node(f"n{i:03}") for i in range(count)]
    volumes = [volume(f"pv{i:03}", f"{5 + i % 3}Gi", on=f"n{i:03}") for i in range(0, count, 2)]
    answer = ask([*nodes, LOCAL, claim("data"), *volumes], "data")
    assert answer.bound() == {f"n{i:03}": {"data": f"pv{i:03}"} for i in range(0, count, 2)}
    assert list(answer.refused()) == [f"n{i:03}" for i in range(1, count, 2)]


# -- volumes that are made -------------------------------------------------------


@pytest.mark.parametrize(
    ("topologies", "outside"),
    [
        pytest.param(None, "", id="a class without topologies allows every node"),
        pytest.param([], "", id="so does an empty list"),
        pytest.param([{ZONE: ["z1"]}], "c", id="a zone"),
        pytest.param([{ZONE: ["z2"]}, {HOSTNAME: ["a"]}], "b", id="one term is enough"),
        pytest.param([{ZONE: ["z1"], HOSTNAME: ["a", "c"]}], "bc", id="all labels of a term must be there"),
        pytest.param([{}], "abc", id="a term without labels allows no node"),
        pytest.param([{ZONE: []}], "abc", id="nor does one without values"),
        pytest.param([{ZONE: ["not a value"]}, {ZONE: ["z2"]}], "ab", id="a term that cannot be parsed is passed over"),
    ],
)
def test_allowed_topologies_of_a_class(topologies, outside):
    fast = storage_class("fast", "csi.example.com", topologies=topologies)
    answer = ask([A, B, C, fast, claim("data", storage_class="fast")], "data")
    assert answer.refused() == dict.fromkeys(outside, (TO_BIND,))
    assert all(answer.found(name) == {"static": {}, "dynamic": {"data": None}} for name in set("abc") - set(outside))


def test_a_class_without_a_provisioner_provisions_nothing():
    nobody = storage_class("nobody", "")
    assert ask([A, nobody, claim("data", storage_class="nobody")], "data").refused() == {"a": (TO_BIND,)}


IN_Z1 = {ZONE: "z1"}


@pytest.mark.parametrize(
    ("objects", "full"),
    [
        pytest.param([], "", id="a provisioner that is no CSI driver counts nothing"),
        pytest.param([driver("csi.example.com")], "", id="nor does a driver that does not say it does"),
        pytest.param([driver("csi.example.com", storageCapacity=False)], "", id="or says it does not"),
        pytest.param([COUNTS], "abc", id="where a driver counts there must be something left"),
        pytest.param([COUNTS, left("l", "5Gi", IN_Z1)], "c", id="and within reach"),
        pytest.param([COUNTS, left("l", "4Gi", IN_Z1)], "abc", id="and enough"),
        pytest.param([COUNTS, left("l", "5Gi", {})], "", id="an empty topology is every node"),
        pytest.param([COUNTS, left("l", "5Gi", None, nodeTopology=None)], "abc", id="no topology is no node"),
        pytest.param(
            [COUNTS, left("l", "5Gi", None, nodeTopology={"matchExpressions": [{"key": ZONE, "operator": "Near"}]})],
            "abc",
            id="nor is one that cannot be parsed",
        ),
        pytest.param([COUNTS, left("l", "9Gi", IN_Z1, "other")], "abc", id="another class's capacity does not count"),
        pytest.param(
            [COUNTS, left("l", "9Gi", IN_Z1, maximumVolumeSize="4Gi")], "abc", id="a largest size comes before the rest"
        ),
        pytest.param(
            [COUNTS, left("l", "1Gi", IN_Z1, maximumVolumeSize="5Gi")], "c", id="even where it is more than the rest"
        ),
        pytest.param([COUNTS, left("l", None, IN_Z1)], "abc", id="an unknown capacity is none"),
    ],
)
def test_nodes_without_enough_storage_capacity_are_refused(objects, full):
    answer = ask([A, B, C, FAST, claim("data", storage_class="fast"), *objects], "data")
    assert answer.refused() == dict.fromkeys(full, (FULL,))


def test_a_claim_that_names_no_size_fits_anywhere():
    answer = ask([A, FAST, COUNTS, claim("data", None, "fast")], "data")
    assert answer.found("a") == {"static": {}, "dynamic": {"data": None}}


def test_the_evidence_is_the_largest_capacity_in_reach():
    room = [left("l1", "1Gi", IN_Z1), left("l2", "3Gi", IN_Z1), left("l3", "2Gi", {HOSTNAME: "a"})]
    answer = ask([A, C, FAST, COUNTS, claim("data", storage_class="fast"), *room], "data")
    expected = {"claim": "default/data", "storage_class": "fast", "requested": 5 << 30, "volumes": {}}
    assert answer.evidence("a") == [{**expected, "largest": 3 << 30}]
    assert answer.evidence("c") == [{**expected, "largest": None}]


def test_the_first_capacity_by_name_that_fits_is_taken():
    room = [left("l3", "9Gi", IN_Z1), left("l1", "1Gi", IN_Z1), left("l2", "6Gi", {HOSTNAME: "a"})]
    answer = ask([A, B, FAST, COUNTS, claim("data", storage_class="fast"), *room], "data")
    assert [answer.found(name)["dynamic"] for name in "ab"] == [{"data": "l2"}, {"data": "l3"}]


def test_claims_without_a_matching_volume_are_provisioned():
    objects = [FAST, LOCAL, claim("data", "1Gi", "fast"), claim("logs", "2Gi", "fast"), claim("more", "3Gi")]
    volumes = [volume("v1", "1Gi", "fast", on="a"), volume("v2", "2Gi", "fast"), volume("v3", "3Gi", on="a")]
    answer = ask([A, B, *objects, *volumes], "more", "logs", "data")
    assert answer.found("a") == {"static": {"data": "v1", "logs": "v2", "more": "v3"}, "dynamic": {}}
    assert answer.refused() == {"b": (TO_BIND,)}
    answer = ask([A, B, *objects, *volumes], "logs", "data")
    assert answer.found("b") == {"static": {"data": "v2"}, "dynamic": {"logs": None}}


def test_the_smallest_claim_that_cannot_be_bound_refuses_the_node():
    picky = storage_class("picky", "csi.example.com", topologies=[{ZONE: ["z9"]}])
    for topology_first, text in ((True, TO_BIND), (False, FULL)):
        sizes = ("1Gi", "2Gi") if topology_first else ("2Gi", "1Gi")
        claims = [claim("outside", sizes[0], "picky"), claim("full", sizes[1], "fast")]
        assert ask([A, FAST, picky, COUNTS, *claims], "full", "outside").refused() == {"a": (text,)}


@pytest.mark.parametrize(
    ("selected", "refused"),
    [
        pytest.param("b", "ac", id="a claim whose volume is to be made for a node goes there"),
        pytest.param("ghost", "abc", id="even if that is nowhere"),
        pytest.param("", "abc", id="an empty annotation is a node that is not there"),
    ],
)
def test_a_claim_with_a_selected_node(selected, refused):
    data = claim("data", storage_class="fast", annotations={SELECTED: selected})
    answer = ask([A, B, C, FAST, data, volume("pv", storage_class="fast")], "data")
    assert answer.refused() == dict.fromkeys(refused, (TO_BIND,))
    assert answer.evidence("a") == [{"claim": "default/data", "selected_node": selected}]
    if selected == "b":
        assert answer.found("b") == {"static": {}, "dynamic": {"data": None}}


# -- Score -----------------------------------------------------------------------

RISING = (UtilizationShapePoint(utilization=0, score=0), UtilizationShapePoint(utilization=100, score=10))


@pytest.mark.parametrize(
    ("objects", "claims", "score"),
    [
        pytest.param([volume("v", "10Gi")], [claim("x", "4Gi")], 40, id="the share of a volume that is asked for"),
        pytest.param(
            [volume("v", "10Gi"), volume("w", "30Gi")],
            [claim("x", "5Gi"), claim("y", "15Gi")],
            50,
            id="volumes of a class are added up",
        ),
        pytest.param(
            [volume("v", "10Gi"), volume("w", "10Gi", "fast")],
            [claim("x", "5Gi"), claim("y", "8Gi", "fast")],
            65,
            id="classes are rated each and averaged",
        ),
        pytest.param(
            [volume("v", "8Gi"), volume("w", "3Gi", "fast")],
            [claim("x", "1Gi"), claim("y", "1Gi", "fast")],
            23,
            id="half a point is rounded up",
        ),
        pytest.param([volume("v", "0")], [claim("x", "0")], 100, id="a volume that holds nothing is full"),
        pytest.param(
            [COUNTS, left("l", "20Gi", {})], [claim("x", "5Gi", "fast")], 25, id="the share of what a driver has left"
        ),
        pytest.param(
            [COUNTS, left("l", "20Gi", {})],
            [claim("x", "5Gi", "fast"), claim("y", "10Gi", "fast")],
            75,
            id="which counts once for all claims of the class",
        ),
        pytest.param(
            [COUNTS, left("l", "20Gi", {})],
            [claim("x", "15Gi", "fast"), claim("y", "10Gi", "fast")],
            100,
            id="claims that fit only one by one make it full",
        ),
        pytest.param(
            [COUNTS, left("l", "20Gi", {}), volume("v", "10Gi")],
            [claim("x", "5Gi", "fast"), claim("y", "4Gi")],
            40,
            id="what is made does not count beside what is there",
        ),
        pytest.param([], [claim("x", "5Gi", "fast")], 0, id="what nobody counts is worth nothing"),
        pytest.param([COUNTS], [claim("x", None, "fast")], 0, id="and so is a claim that names no size"),
    ],
)
def test_scores_by_storage_use(objects, claims, score):
    names = [each.metadata.name for each in claims]
    assert ask([A, LOCAL, FAST, *objects, *claims], *names, shape=RISING).scores() == {"a": score}


def test_the_default_shape_prefers_storage_that_stays_empty():
    objects = [LOCAL, claim("data", "2Gi"), volume("v", "2Gi", on="a"), volume("w", "8Gi", on="b")]
    assert ask([A, B, *objects], "data").scores() == {"a": 0, "b": 75}


def test_only_what_filter_found_is_scored():
    answer = ask([A, LOCAL, claim("data"), volume("v", "9Gi")], "data", shape=RISING)
    answer.cycle.findings.clear()
    assert answer.scores() == {"a": 0}


@pytest.mark.parametrize(
    ("data", "room", "cause"),
    [
        pytest.param(
            claim("data", storage_class="fast"),
            left("l", None, {}, maximumVolumeSize="9Gi"),
            "CSIStorageCapacity default/l has a largest volume but no capacity",
            id="a capacity that knows only its largest volume",
        ),
        pytest.param(
            claim("data", storage_class=None, annotations={OLD_CLASS: "fast"}),
            left("l", "9Gi", {}),
            "PersistentVolumeClaim default/data names its class in an annotation",
            id="a class that only the annotation of old names",
        ),
    ],
)
def test_a_score_over_which_kube_scheduler_crashes_is_a_fault(data, room, cause):
    with pytest.raises(PluginError, match=f"kube-scheduler crashes here: {cause}"):
        ask([A, FAST, COUNTS, data, room], "data").scores()


# -- Reserve to PreBind ----------------------------------------------------------


def shared():
    objects = [A, B, LOCAL, FAST, claim("data"), claim("logs", storage_class="fast"), volume("v1"), volume("v2", "9Gi")]
    return cluster(*objects, claim("other"))


def test_an_assumed_volume_is_not_bound_to_the_next_pod():
    c = shared()
    plugin = judge(c)
    first = Answer(plugin, using("data", "logs"))
    assert plugin.reserve(first.cycle, "a") == SUCCESS
    assert Answer(plugin, using("other")).bound() == {name: {"other": "v2"} for name in "ab"}
    assert Answer(plugin, using("data")).bound() == {name: {"data": "v1"} for name in "ab"}
    assert Answer(plugin, using("logs")).refused() == {"b": (TO_BIND,)}


def test_other_plugins_and_profiles_do_not_see_assumed_volumes():
    c = shared()
    plugin = judge(c)
    stored = c.get(storage.PersistentVolume, "v1"), c.get(storage.PersistentVolumeClaim, "default/logs")
    plugin.reserve(Answer(plugin, using("data", "logs")).cycle, "a")
    assert (c.get(storage.PersistentVolume, "v1"), c.get(storage.PersistentVolumeClaim, "default/logs")) == stored
    assert Answer(judge(c, "batch"), using("other")).bound()["a"] == {"other": "v1"}
    assert Answer(judge(c), using("other")).bound()["a"] == {"other": "v2"}


@pytest.mark.parametrize("times", [1, 2])
def test_unreserve_forgets_assumed_volumes(times):
    c = shared()
    plugin = judge(c)
    first = Answer(plugin, using("data", "logs"))
    plugin.reserve(first.cycle, "a")
    for _ in range(times):
        plugin.unreserve(first.cycle, "a")
    assert Answer(plugin, using("other")).bound()["a"] == {"other": "v1"}
    assert Answer(plugin, using("logs")).refused() == {}


def test_reverting_a_fork_forgets_assumed_volumes():
    c = shared()
    plugin = judge(c)
    with c.fork():
        plugin.reserve(Answer(plugin, using("data", "logs")).cycle, "a")
        assert Answer(plugin, using("other")).bound()["a"] == {"other": "v2"}
    assert Answer(plugin, using("other")).bound()["a"] == {"other": "v1"}


def test_a_newer_volume_voids_what_was_assumed_of_the_older():
    c = shared()
    plugin = judge(c)
    plugin.reserve(Answer(plugin, using("data")).cycle, "a")
    c.put(volume("v1"))
    assert Answer(plugin, using("other")).bound()["a"] == {"other": "v1"}


@pytest.mark.parametrize(
    ("gone", "text"),
    [
        pytest.param(volume("v1"), 'persistentvolumes "v1" not found', id="a volume"),
        pytest.param(
            claim("logs", storage_class="fast"), 'persistentvolumeclaims "default/logs" not found', id="a claim"
        ),
    ],
)
def test_reserve_fails_for_deleted_volumes_and_claims(gone, text):
    c = shared()
    plugin = judge(c)
    answer = Answer(plugin, using("data", "logs"))
    c.delete(gone)
    assert plugin.reserve(answer.cycle, "a") == Status(Code.ERROR, (text,))
    c.put(gone)
    assert Answer(plugin, using("other")).bound()["a"] == {"other": "v1"}


def test_pre_bind_binds_the_volume_and_its_claim():
    c = shared()
    plugin = judge(c)
    answer = Answer(plugin, using("data"))
    plugin.reserve(answer.cycle, "a")
    assert plugin.pre_bind(answer.cycle, "a") == SUCCESS
    bound, taken = c.get(storage.PersistentVolumeClaim, "default/data"), c.get(storage.PersistentVolume, "v1")
    assert (bound.spec.volume_name, bound.status.phase, bound.status.capacity) == ("v1", "Bound", {"storage": "5Gi"})
    assert bound.metadata.annotations[COMPLETED] == "yes"
    assert (taken.spec.claim_ref.name, taken.spec.claim_ref.uid, taken.status.phase) == ("data", "uid-data", "Bound")
    again = Answer(judge(c, "batch"), using("data"))
    assert (again.status, again.refused()) == (None, {})
    assert plugin.reserve(again.cycle, "b") == plugin.pre_bind(again.cycle, "b") == SUCCESS


def test_pre_bind_provisions_volumes():
    c = shared()
    c.put(csi_node("b", keys=[ZONE, "no-such-label"]))
    c.add_node(C)
    plugin = judge(c)
    answer = Answer(plugin, using("logs"))
    plugin.reserve(answer.cycle, "b")
    assert plugin.pre_bind(answer.cycle, "b") == SUCCESS
    bound = c.get(storage.PersistentVolumeClaim, "default/logs")
    made = c.get(storage.PersistentVolume, bound.spec.volume_name)
    assert (made.metadata.name, made.spec.csi.driver, made.spec.capacity) == (
        "pvc-logs",
        "csi.example.com",
        {"storage": "5Gi"},
    )
    assert bound.metadata.annotations[SELECTED] == "b"
    assert Answer(plugin, using("logs")).refused() == {"c": (BEYOND,)}


def test_pre_bind_fails_where_the_driver_cannot_reach_the_volume():
    c = cluster(A, LOCAL, csi_node("a", EBS), claim("data"), volume("pv", zone="z1", **EBS_DISK))
    plugin = judge(c)
    answer = Answer(plugin, using("data"))
    assert answer.bound() == {"a": {"data": "pv"}}
    plugin.reserve(answer.cycle, "a")
    text = 'binding volumes: pv "pv" node affinity doesn\'t match node "a": no matching NodeSelectorTerms'
    assert plugin.pre_bind(answer.cycle, "a") == Status(Code.ERROR, (text,))
    assert Answer(plugin, using("data")).refused() == {"a": (BEYOND,)}


# -- reuse -----------------------------------------------------------------------


def test_pods_whose_claims_are_bound_and_reached_everywhere_have_one_signature():
    disk = {"awsElasticBlockStore": {"volumeID": "v"}}
    zoned = volume("z", **disk, metadata={"labels": {ZONE: "z1"}})
    bound = [claim("data", to="v"), claim("more", to="w"), claim("far", to="z"), claim("near", to="x"), claim("new")]
    c = cluster(A, LOCAL, *bound, volume("v"), volume("w", **disk), zoned, volume("x", on="b"))
    plugin = judge(c)
    assert plugin.signature(using("data")) == plugin.signature(using("more", "data")) not in (None, ())
    for other in ("far", "near", "new", "missing"):
        assert plugin.signature(using("data", other)) is None
    cycle = Cycle(using("data"))
    assert plugin.pre_filter(cycle, c.nodes) is None
    assert not plugin.filter(cycle, c.nodes).parts
    assert plugin.score(cycle, c.nodes).tolist() == [0]
    assert plugin.reserve(cycle, "a") == plugin.pre_bind(cycle, "a") == SUCCESS
    assert parts_read(plugin, using("data"), c.nodes) == {"objects"}


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param(claim("data", to="v", phase="Lost"), id="lost"),
        pytest.param(claim("data", to="v", metadata={"deletionTimestamp": NOW}), id="being deleted"),
        pytest.param(claim("data", to="gone"), id="bound to nothing"),
        pytest.param(claim("data", volumeName="v"), id="not bound yet"),
    ],
)
def test_claims_that_leave_a_pod_without_a_signature(spoilt):
    plugin = judge(cluster(A, LOCAL, spoilt, volume("v")))
    assert plugin.signature(using("data")) is None


def test_pods_with_unbound_claims_have_no_signature():
    plugin = judge(cluster())
    assert plugin.signature(using()) == plugin.signature(using({"name": "t", "emptyDir": {}})) == ()
    assert plugin.signature(using("data")) is plugin.signature(using(SCRATCH)) is None


def test_nothing_affects_the_answers_about_pods_without_claims():
    c = cluster(A, LOCAL, claim("data"), volume("v"))
    assert parts_read(judge(c), using(), c.nodes) == set()


def test_a_profile_without_its_prefilter_fails_as_upstream_does():
    c = cluster(A)
    plugin, cycle = judge(c), Cycle(using("data"))
    assert plugin.filter(cycle, c.nodes).status(0) == Status(Code.ERROR, ("not found",))
    missing = Status(Code.ERROR, ("not found",))
    assert plugin.pre_score(cycle, c.nodes) == plugin.reserve(cycle, "a") == plugin.pre_bind(cycle, "a") == missing
    with pytest.raises(PluginError, match="not found"):
        plugin.score(cycle, c.nodes)
