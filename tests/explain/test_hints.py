"""Next steps: found from the evidence, tried on the cluster in hand, and told only as far as they were."""

import msgspec
import pytest

from schedctl.api.policies import PriorityClass
from schedctl.api.topology import HOSTNAME, ZONE
from schedctl.explain.explanations import explain
from schedctl.explain.trials import MOST_TRIES, Trials
from schedctl.framework import similar
from schedctl.scheduler import Scheduler
from schedctl.session.explain import explain_objects
from schedctl.testing.builders import cluster, node, pod

NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def affinity(kind, key=ZONE, **labels):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def node_affinity(key, *values):
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def spread(key=ZONE, **labels):
    selector = {"matchLabels": labels}
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}]


def taint(key, value="", effect="NoSchedule"):
    return {"key": key, "value": value, "effect": effect}


@pytest.mark.parametrize(
    ("objects", "subject", "texts"),
    [
        pytest.param(
            [node("a", cpu="2"), node("b", cpu="1500m")],
            pod(cpu="4"),
            ["would fit on a if cpu <= 2"],
            id="a request is lowered to the largest free amount",
        ),
        pytest.param(
            [node("a", memory="1717986918")],
            pod(memory="2Gi"),
            ["would fit on a if memory <= 1638Mi"],
            id="an amount of memory is one that can be typed, and never more than there is",
        ),
        pytest.param(
            [node("a", cpu="1", memory="1Gi")],
            pod(cpu="2", memory="2Gi"),
            ["would fit on a if cpu <= 1 and memory <= 1Gi"],
            id="two shortages of a node are mended together",
        ),
        pytest.param(
            [node("a"), node("b", **{"nvidia.com/gpu": "1"}), pod("x", on="b", requests={"nvidia.com/gpu": "1"})],
            pod(requests={"nvidia.com/gpu": "1"}),
            ["would fit if another node like b is added"],
            id="of what no node has left there is no advice to ask for none",
        ),
        pytest.param(
            [node("a", **{"nvidia.com/gpu": "1"})],
            pod(requests={"nvidia.com/gpus": "1"}),
            [
                'no node offers nvidia.com/gpus (did you mean "nvidia.com/gpu"?);'
                " if fixed, the pod would be placed on a",
            ],
            id="a misspelt resource",
        ),
        pytest.param(
            [node("a", taints=[taint("team", "x")]), node("b", taints=[taint("team", "x")])],
            pod(),
            ["would fit on 2 nodes if it tolerates team=x:NoSchedule"],
            id="a taint of several nodes is tolerated, and stays: without it the nodes would be everybody's",
        ),
        pytest.param(
            [node("a", taints=[taint("team", "x")])],
            pod(),
            [
                "would fit on a if it tolerates team=x:NoSchedule",
                "would fit if taint team=x:NoSchedule is removed from a",
            ],
            id="a taint of one node alone may go as well",
        ),
        pytest.param(
            [node("a", taints=[taint("example.com/gpu")], **{"example.com/gpu": "1"})],
            pod(requests={"example.com/gpu": "1"}),
            ["would fit on a if it tolerates example.com/gpu:NoSchedule"],
            id="a taint that keeps a resource for who requests it stays",
        ),
        pytest.param(
            [node("a", cpu="2"), node("db-1", taints=[taint("dedicated", "db")])],
            pod(cpu="3"),
            [
                "would fit on a if cpu <= 2",
                "would fit on db-1, which is reserved for others, if it tolerates dedicated=db:NoSchedule",
            ],
            id="nodes that are reserved for others come last",
        ),
        pytest.param(
            [node("a", taints=[taint("team"), taint("gpu", effect="NoExecute")])],
            pod(),
            ["would fit on a if it tolerates team:NoSchedule, gpu:NoExecute"],
            id="what shows only after the first change is mended too",
        ),
        pytest.param(
            [node("a", taints=[NOT_READY])],
            pod(),
            ["would fit if a becomes Ready"],
            id="a node that is not ready is neither to be tolerated nor freed of its taint: it must become Ready",
        ),
        pytest.param(
            [node("a", taints=[taint("node.kubernetes.io/disk-pressure")])],
            pod(),
            ["would fit if condition DiskPressure of a becomes False"],
            id="a node under disk pressure is not to be tolerated either",
        ),
        pytest.param(
            [node("a", unschedulable=True, taints=[taint("node.kubernetes.io/unschedulable")])],
            pod(),
            ["would fit if a is uncordoned"],
            id="a cordon is lifted, with its taint",
        ),
        pytest.param(
            [node("a"), node("b")],
            pod(nodeSelector={"disk": "ssd"}),
            [
                'label "disk" is on no node',
                "would fit on 2 nodes if its nodeSelector does not require disk=ssd",
                "would fit if a has label disk=ssd",
            ],
            id="a label on no node, and the selector without it",
        ),
        pytest.param(
            [node("a", zone="x")],
            pod(nodeSelector={"zone": "x"}),
            [
                f'label "zone" is on no node (did you mean "{ZONE}"?); if fixed, the pod would be placed on a',
                "would fit on a if its nodeSelector does not require zone=x",
            ],
            id="a misspelt label",
        ),
        pytest.param(
            [node("a", labels={"disk": "ssd"})],
            pod(affinity=node_affinity("disk", "sdd")),
            [
                'no node has disk=sdd (did you mean "ssd"?); if fixed, the pod would be placed on a',
                "would fit on a if its nodeAffinity does not require disk=sdd",
            ],
            id="a misspelt value",
        ),
        pytest.param(
            [node("a", zone="x"), node("b", zone="y", cpu="1"), pod("w", on="a", labels={"app": "web"})],
            pod(cpu="2", labels={"app": "web"}, topologySpreadConstraints=spread(app="web")),
            ["would fit on b if cpu <= 1", f"would fit on a if maxSkew over {ZONE} is 2"],
            id="a skew is allowed",
        ),
        pytest.param(
            [
                node("a", zone="x"),
                node("b", zone="y", taints=[taint("team", "x")]),
                pod("w", on="a", labels={"app": "web"}),
            ],
            pod(labels={"app": "web"}, topologySpreadConstraints=spread(app="web")),
            [
                f"would fit on a if the spread over {ZONE} has `nodeTaintsPolicy: Honor`",
                f"would fit on a if maxSkew over {ZONE} is 2",
            ],
            id="a spread that counts nodes which the pod does not tolerate",
        ),
        pytest.param(
            [
                node("a", zone="x"),
                node("b", zone="y", taints=[NOT_READY]),
                node("c", zone="z", taints=[taint("team", "x")]),
                pod("w", on="a", labels={"app": "web"}),
            ],
            pod(labels={"app": "web"}, topologySpreadConstraints=spread(app="web")),
            [
                f"would fit on a if the spread over {ZONE} has `nodeTaintsPolicy: Honor`",
                f"would fit on a if maxSkew over {ZONE} is 2",
            ],
            id="a spread that counts reserved nodes, beside one that is not ready",
        ),
        pytest.param(
            [
                node("a", zone="x"),
                node("b", zone="y", taints=[NOT_READY]),
                pod("w", on="a", labels={"app": "web"}),
            ],
            pod(labels={"app": "web"}, topologySpreadConstraints=spread(app="web")),
            [
                f"would fit on a if maxSkew over {ZONE} is 2",
                "would fit if b becomes Ready",
            ],
            id="a node that is not ready is not to be left out of a spread, it must become Ready",
        ),
        pytest.param(
            [
                node("a", zone="x"),
                node("b", zone="y"),
                *(pod(f"w{name}", on=name, labels={"app": "web"}) for name in "ab"),
            ],
            pod(labels={"app": "web"}, topologySpreadConstraints=[{**spread(app="web")[0], "minDomains": 3}]),
            [
                f"would fit on 2 nodes if minDomains over {ZONE} is 2",
                "would fit if a node like a is added in a new zone",
            ],
            id="minDomains asks for more zones than there are",
        ),
        pytest.param(
            [node("a"), pod("w1", on="a", labels={"app": "web"})],
            pod(labels={"app": "web"}, topologySpreadConstraints=[{**spread(HOSTNAME, app="web")[0], "minDomains": 2}]),
            [
                f"would fit on a if minDomains over {HOSTNAME} is 1",
                "would fit if a node like a is added",
            ],
            id="minDomains asks for more nodes than there are",
        ),
        pytest.param(
            [
                node("a", zone="x"),
                node("b", zone="y", cpu="1"),
                *(pod(f"w{number}", on="a", labels={"app": "web"}) for number in range(2)),
            ],
            pod(cpu="2", labels={"app": "web"}, topologySpreadConstraints=[{**spread(app="web")[0], "minDomains": 3}]),
            [
                "would fit on b if cpu <= 1",
                f"would fit on a if maxSkew over {ZONE} is 3",
            ],
            id="lowering minDomains does not help a zone that is too full anyway",
        ),
        pytest.param(
            [node("a"), node("b", cpu="1", labels={"rack": "1"})],
            pod(cpu="2", topologySpreadConstraints=spread("rack", app="web")),
            [
                "would fit on b if cpu <= 1",
                "would fit on a if the spread over rack has whenUnsatisfiable: ScheduleAnyway",
            ],
            id="a node outside every domain",
        ),
        pytest.param(
            [node("a", zone="x"), pod("db", on="a", labels={"app": "database"})],
            pod(affinity=affinity("podAffinity", app="databse")),
            [
                'no running pod has app=databse (did you mean "database"?); if fixed, the pod would be placed on a',
                f"would fit on a if it does not require pod affinity over {ZONE}",
            ],
            id="misspelt company",
        ),
        pytest.param(
            [node("a", zone="x"), node("b"), pod("db", namespace="data", on="a", labels={"app": "db"})],
            pod(affinity=affinity("podAffinity", app="db")),
            [
                "would fit on a if its pod affinity to app=db has `namespaces: [data]`",
                f"would fit on 2 nodes if it does not require pod affinity over {ZONE}",
            ],
            id="company that runs in another namespace",
        ),
        pytest.param(
            [node("a", zone="x"), pod("db", on="a", labels={"app": "db"})],
            pod(affinity=affinity("podAntiAffinity", app="db")),
            [
                f"would fit on a if its pod anti-affinity over {ZONE} is preferred, not required",
                "would fit on a if pod default/db is deleted",
            ],
            id="a pod it must not meet",
        ),
        pytest.param(
            [node("a", zone="x"), pod("hermit", on="a", affinity=affinity("podAntiAffinity", app="web"))],
            pod(labels={"app": "web"}),
            ["would fit on a if pod default/hermit is deleted"],
            id="a pod that must not meet it",
        ),
        pytest.param(
            [node("a"), pod("x", on="a", ports=[{"containerPort": 80, "hostPort": 80}])],
            pod(ports=[{"containerPort": 80, "hostPort": 80}]),
            ["would fit on a if it does not request host port 80/TCP", "would fit if another node like a is added"],
            id="a busy port",
        ),
        pytest.param(
            [node("a")],
            pod(hostNetwork=True, hostUsers=False),
            ["would fit if the kubelet of a declares UserNamespacesHostNetworkSupport"],
            id="a feature the kubelet lacks",
        ),
        pytest.param(
            [node("a", pods="1"), pod("x", on="a")],
            pod(),
            ["would fit if another node like a is added"],
            id="a full node is added once more",
        ),
        pytest.param(
            [node("a", pods="0")],
            pod("web", namespace="shop"),
            [
                "the one change tried (add-node) does not make it fit; run it again with `--matrix` for the verdict of"
                " every filter"
            ],
            id="where nothing helps, how much was tried",
        ),
    ],
)
def test_every_refusal_ends_with_a_next_step_that_was_tried(ask, objects, subject, texts):
    found = ask(cluster(*objects), subject)
    assert found.verdict == "Unschedulable"
    assert [hint.text for hint in found.hints] == texts


_GATE = "find the controller that removes the gate: removing it by hand skips its check"


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        pytest.param(
            pod(cpu="1", schedulingGates=[{"name": "quota"}]),
            f"{_GATE}; once scheduling gate quota is removed, the pod would be placed on node-0",
            id="a gated pod that would fit",
        ),
        pytest.param(
            pod(cpu="64", schedulingGates=[{"name": "a"}, {"name": "b"}]),
            f"{_GATE}; once scheduling gates a, b are removed, the pod would still fit nowhere",
            id="a gated pod that would not fit",
        ),
        pytest.param(
            pod(cpu="1", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            "it is terminating and not scheduled any more; a new pod like it would be placed on node-0",
            id="a pod on its way out",
        ),
        pytest.param(
            pod(cpu="1", schedulerName="defualt-scheduler"),
            'did you mean schedulerName "default-scheduler"? with default-scheduler it would be placed on node-0',
            id="a misspelt scheduler",
        ),
        pytest.param(
            pod(cpu="1", schedulerName="volcano"),
            "with schedulerName default-scheduler it would be placed on node-0",
            id="another scheduler altogether",
        ),
    ],
)
def test_pods_that_are_not_even_judged_have_a_next_step_too(shop, ask, subject, text):
    (hint,) = ask(shop, subject).hints
    assert (hint.text, hint.tried) == (text, True)


def test_nothing_to_paste_skips_the_check_of_a_scheduling_gate(shop, ask):
    (hint,) = ask(shop, pod(cpu="1", schedulingGates=[{"name": "quota"}])).hints
    assert (hint.fits > 0, hint.command, hint.patches) == (True, "", [])


def test_a_hint_is_data_too(shop, ask):
    (lower, add) = ask(shop, pod(cpu="3")).hints
    assert (lower.type, lower.fits, lower.node, lower.tried) == ("lower-request", 2, "node-0", True)
    assert (add.type, add.fits, add.node) == ("add-node", 1, "another-node-0")


def test_a_pod_that_fits_needs_no_hint(shop, ask):
    assert ask(shop, pod(cpu="1")).hints == []


def test_no_advice_asks_for_more_than_other_advice_that_helps(ask):
    nodes = [node("tainted", taints=[taint("k")]), node("both", cpu="1", taints=[taint("k")])]
    texts = [hint.text for hint in ask(cluster(*nodes), pod(cpu="2")).hints]
    assert texts == ["would fit on tainted if it tolerates k:NoSchedule"]


SPOT = taint("spot", "true")


@pytest.mark.parametrize(
    ("objects", "subject", "texts"),
    [
        pytest.param(
            [node("a", cpu="1", taints=[SPOT])],
            pod(cpu="2"),
            ["would fit on a if it tolerates spot=true:NoSchedule and cpu <= 1"],
            id="a pair where no single change does",
        ),
        pytest.param(
            [node("a", cpu="2", taints=[SPOT]), node("b", cpu="1")],
            pod(cpu="2"),
            [
                "would fit on b if cpu <= 1",
                "would fit on a, which is reserved for others, if it tolerates spot=true:NoSchedule",
            ],
            id="no pair where a single change does",
        ),
        pytest.param(
            [node("a", unschedulable=True), node("b", cpu="1")],
            pod(cpu="2"),
            ["would fit on b if cpu <= 1", "would fit if a is uncordoned"],
            id="what the pod asks for before what is done to nodes",
        ),
        pytest.param(
            [node("a", unschedulable=True), node("b", labels={"disk": "hdd"})],
            pod(affinity=node_affinity(HOSTNAME, "a")),
            [
                f"would fit on b if its nodeAffinity does not require {HOSTNAME}=a",
                "would fit if a is uncordoned",
            ],
            id="the pod gives up a rule before a node is changed",
        ),
        pytest.param(
            [node("a", pods="1", taints=[SPOT]), pod("x", on="a")],
            pod(),
            ["would fit if another node like a is added and it tolerates spot=true:NoSchedule"],
            id="another node, and what it takes to go there",
        ),
        pytest.param(
            [node("a", zone="x", taints=[SPOT])],
            pod(nodeSelector={"zone": "x"}),
            [
                f'label "zone" is on no node (did you mean "{ZONE}"?); if fixed, the pod would still fit nowhere',
                f"would fit on a if label zone is called {ZONE} and it tolerates spot=true:NoSchedule",
                f"would fit if label zone is called {ZONE} and taint spot=true:NoSchedule is removed from a",
            ],
            id="a misspelt label, and what is in the way then",
        ),
        pytest.param(
            [node("a", taints=[SPOT]), pod("db", on="a", labels={"app": "db"})],
            pod(affinity=affinity("podAntiAffinity", HOSTNAME, app="db"), tolerations=[]),
            [
                "would fit on a if it tolerates spot=true:NoSchedule"
                f" and its pod anti-affinity over {HOSTNAME} is preferred, not required",
            ],
            id="two changes of the pod, and no set of several that reaches farther",
        ),
        pytest.param(
            [
                node("a", cpu="1", taints=[SPOT]),
                node("b"),
                pod("hermit", on="b", affinity=affinity("podAntiAffinity", HOSTNAME, app="web")),
            ],
            pod(cpu="2", labels={"app": "web"}),
            ["would fit if another node like b is added", "would fit on b if pod default/hermit is deleted"],
            id="another node before one other pod that goes",
        ),
        pytest.param(
            [node("a", labels={"pool": "spot"}, taints=[SPOT]), node("b", labels={"pool": "std"})],
            pod(nodeSelector={"pool": "spoot"}, tolerations=[{"key": "spot", "value": "yes"}]),
            [
                'no node has pool=spoot (did you mean "spot"?); if fixed, the pod would still fit nowhere',
                'would fit on a if it asks for pool=spot and toleration spot=yes has value: "true"',
                "would fit on b if its nodeSelector does not require pool=spoot",
            ],
            id="two mistakes that are corrected before a rule that is given up",
        ),
        pytest.param(
            [
                node("a", labels={"pool": "batch"}, taints=[SPOT]),
                node("b", labels={"disk": "ssd"}, taints=[SPOT]),
                node("c", labels={"disk": "hdd", "pool": "std"}),
            ],
            pod(nodeSelector={"pool": "batch", "disk": "ssd"}, tolerations=[{"key": "spot", "operator": "Exists"}]),
            [
                "would fit on a if its nodeSelector does not require disk=ssd",
                "would fit on b if its nodeSelector does not require pool=batch",
            ],
            id="one label that is dropped where one is enough, never both",
        ),
        pytest.param(
            [node("a", labels={"rack": "r1"}), node("b", labels={"rack": "r2"})],
            pod(affinity=node_affinity("rack", "r7")),
            [
                "no node has rack=r7",
                "would fit on 2 nodes if its nodeAffinity does not require rack=r7",
            ],
            id="no label for a node that has another value of it",
        ),
        pytest.param(
            [node("a", taints=[taint("node-role.kubernetes.io/control-plane")])],
            pod(),
            ["would fit on a if it tolerates node-role.kubernetes.io/control-plane:NoSchedule"],
            id="the taint of a control plane is not removed",
        ),
        pytest.param(
            [node("a", cpu="2", taints=[SPOT]), pod("low", on="a", cpu="1", priority=1)],
            pod(cpu="2", priority=5),
            ["would fit on a if it tolerates spot=true:NoSchedule and cpu <= 1"],
            id="a set that displaces nobody before one that preempts",
        ),
    ],
)
def test_the_smallest_and_least_invasive_set_that_works_is_told_first(ask, objects, subject, texts):
    assert [hint.text for hint in ask(cluster(*objects), subject).hints] == texts


def test_the_number_of_tries_is_limited(monkeypatch):
    made = []
    attempt = Trials.attempt
    monkeypatch.setattr(Trials, "attempt", lambda *args, **kwargs: made.append(1) or attempt(*args, **kwargs))
    nodes = [node(f"n{i}", pods="0", taints=[taint(f"k{i}")]) for i in range(60)]
    assert explain(Scheduler(cluster(*nodes)), pod()).hints[-1].type == "nothing-helps"
    assert len(made) <= MOST_TRIES


@pytest.mark.parametrize(
    "key",
    [
        "node.kubernetes.io/out-of-service",
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
        "karpenter.sh/disrupted",
    ],
)
def test_a_taint_of_a_machine_is_neither_tolerated_nor_removed(ask, key):
    hints = ask(cluster(node("a", taints=[taint(key)])), pod()).hints
    assert [hint.text for hint in hints] == ["would fit if another node like a is added"]


@pytest.mark.parametrize(
    "key",
    [
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cilium.io/agent-not-ready",
        "ebs.csi.aws.com/agent-not-ready",
    ],
)
def test_a_node_that_is_starting_is_looked_at(ask, key):
    (hint,) = ask(cluster(node("a", taints=[taint(key)])), pod()).hints
    assert hint.text == f"would fit if the agent behind taint {key} removes it from a"
    assert hint.command == "kubectl describe node a"


def test_a_node_that_becomes_ready_is_looked_at_first(ask):
    (hint,) = ask(cluster(node("a", taints=[NOT_READY])), pod()).hints
    assert (hint.fits, hint.command, hint.patches) == (1, "kubectl describe node a", [])


def test_a_taint_that_is_removed_is_a_command_and_a_patch(ask):
    *_, hint = ask(cluster(node("a", taints=[taint("team", "x")])), pod()).hints
    assert (hint.type, hint.command) == ("remove-taint", "kubectl taint node a team:NoSchedule-")
    assert [(each.kind, each.name, each.patch) for each in hint.patches] == [("Node", "a", {"spec": {"taints": None}})]


def test_a_label_for_a_node_is_a_command_and_a_patch(ask):
    *_, hint = ask(cluster(node("a")), pod(nodeSelector={"disk": "ssd"})).hints
    assert (hint.type, hint.command) == ("label-node", "kubectl label node a disk=ssd")
    assert [(each.kind, each.name, each.patch) for each in hint.patches] == [
        ("Node", "a", {"metadata": {"labels": {"disk": "ssd"}}})
    ]


def test_hints_can_be_left_out(shop, ask):
    assert ask(shop, pod(cpu="3"), hints=False).hints == []


@pytest.mark.parametrize(
    ("name", "texts", "commands"),
    [
        pytest.param(
            "hihg",
            [
                'priority class "hihg" is not in the cluster (did you mean "high"?);'
                " if fixed, the pod would be placed on a",
                "if PriorityClass hihg is created with value 0 the pod would be placed on a",
            ],
            ["", "kubectl create priorityclass hihg --value=0"],
            id="a misspelt class",
        ),
        pytest.param(
            "other",
            [
                'priority class "other" is not in the cluster;'
                " if PriorityClass other is created with value 0 the pod would be placed on a"
            ],
            ["kubectl create priorityclass other --value=0"],
            id="a class like no other",
        ),
    ],
)
def test_a_missing_priority_class_is_what_the_api_server_rejects_the_pod_for(name, texts, commands):
    high = msgspec.convert({"metadata": {"name": "high"}, "value": 1000}, PriorityClass)
    scheduler = Scheduler(cluster(node("a"), high))
    (found,) = explain_objects(scheduler, [pod("web", priorityClassName=name).pod])
    assert (found.verdict, found.chosen) == ("Rejected", "")
    assert found.error == f'pods "web" is forbidden: no PriorityClass with name {name} was found'
    assert [hint.text for hint in found.hints] == texts
    assert [hint.command for hint in found.hints] == commands


def test_a_pod_that_the_api_server_took_before_its_class_was_deleted_is_scheduled(ask):
    subject = pod(priorityClassName="gone", metadata={"uid": "1-2-3"})
    assert ask(cluster(node("a")), subject).chosen == "a"


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("zone", {ZONE, HOSTNAME}, ZONE),
        ("failure-domain.beta.kubernetes.io/zone", {ZONE, HOSTNAME}, ZONE),
        ("Disk", {"disk", "tier"}, "disk"),
        ("hostnam", {"hostname", "zone"}, "hostname"),
        ("colour", {"rack", "zone"}, ""),
        ("zone", set(), ""),
    ],
)
def test_what_may_have_been_meant(name, known, meant):
    assert similar.closest_name(name, known) == meant


@pytest.mark.parametrize(
    ("name", "known", "question"),
    [
        pytest.param("z-4", ["z-3", "z-1", "z-2"], ' (did you mean "z-1", "z-2" or "z-3"?)', id="all that tie"),
        pytest.param(
            "sdd", ["hdd", "ssd"], ' (did you mean "ssd"?)', id="of those that tie, the one that begins alike"
        ),
        pytest.param("z-9", [f"z-{n}" for n in range(5)], ' (did you mean "z-0", "z-1", "z-2" or 2 more?)', id="many"),
        pytest.param("colour", ["rack"], "", id="none"),
    ],
)
def test_names_that_are_equally_near_are_all_named(name, known, question):
    assert similar.did_you_mean(*similar.closest_names(name, known)) == question


def test_of_names_that_are_equally_near_one_is_told_with_which_the_pod_fits(ask):
    nodes = [node("a", zone="z-1", cpu="1"), node("b", zone="z-2"), node("c", zone="z-3")]
    fix, *_ = ask(cluster(*nodes), pod(cpu="2", nodeSelector={ZONE: "z-4"})).hints
    expected = f'no node has {ZONE}=z-4 (did you mean "z-1", "z-2" or "z-3"?); with "z-2" the pod would be placed on b'
    assert fix.text == expected


DAEMONSET = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "agent", "controller": True}


def pinned(name, *owners, **fields):
    """A pod that must go to the node of a name, as DaemonSet controllers make them."""
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return pod(affinity=affinity, metadata={"ownerReferences": list(owners)}, **fields)


def test_the_name_of_a_node_that_is_gone_is_corrected_unless_a_daemonset_controller_wrote_it(ask):
    state = cluster(node("n-1"))
    assert ask(state, pinned("n-9")).hints[0].type == "rename-node"
    (hint,) = ask(state, pinned("n-9", DAEMONSET)).hints
    assert hint.text == 'node "n-9" is not in the cluster: the DaemonSet controller deletes the pod'


def test_fixes_for_a_pod_of_a_daemonset_are_about_its_node(ask):
    full, other = node("a", cpu="1"), node("b")
    (hint,) = ask(cluster(full, other), pinned("a", DAEMONSET, cpu="2")).hints
    assert hint.text == "would fit on a if cpu <= 1"


@pytest.mark.parametrize(
    ("nodes", "selector", "labelled"),
    [
        pytest.param([node("a"), node("b")], {"team": "x"}, True, id="a label that nobody has yet"),
        pytest.param([node("a"), node("b", labels={"team": "y"})], {"team": "x"}, True, id="machines of one sort"),
        pytest.param(
            [node("a"), node("b", cpu="64", labels={"accelerator": "y"})],
            {"accelerator": "x"},
            False,
            id="only machines of another sort have it",
        ),
        pytest.param(
            [node("a"), node("b", **{"example.com/gpu": "1"})],
            {"gpu": "true"},
            False,
            id="it is called as a resource that nodes offer",
        ),
        pytest.param([node("a"), node("b", zone="y")], {ZONE: "x-1"}, False, id="a zone is a fact"),
        pytest.param([node("a")], {"kubernetes.io/arch": "arm64"}, False, id="so is an architecture"),
    ],
)
def test_labels_that_say_what_a_machine_is_are_not_offered_for_another(ask, nodes, selector, labelled):
    hints = ask(cluster(*nodes), pod(nodeSelector=selector)).hints
    assert ("label-node" in [hint.type for hint in hints]) is labelled


def test_a_node_with_more_room_is_planned_for_before_a_full_one_with_the_same_taint(ask):
    nodes = [node(name, cpu="8", taints=[taint("team")]) for name in ("a", "b")]
    hints = ask(cluster(*nodes, pod("x", on="a", cpu="7")), pod(cpu="9")).hints
    assert hints[0].text == "would fit on b if it tolerates team:NoSchedule and cpu <= 8"


def test_a_rule_that_was_corrected_is_not_given_up_as_well(ask):
    nodes = [node("a"), node("b", labels={"accelerator": "x"}, taints=[taint("team")])]
    hints = ask(cluster(*nodes), pod(affinity=node_affinity("acelerator", "x"))).hints
    assert [hint.text for hint in hints if hint.fits] == [
        "would fit on b if label acelerator is called accelerator and it tolerates team:NoSchedule",
        "would fit on a if its nodeAffinity does not require acelerator=x",
    ]


def test_requests_of_several_containers_are_lowered_in_proportion_and_init_containers_with_them(ask):
    containers = [
        {"name": "a", "resources": {"requests": {"cpu": "3"}}},
        {"name": "b", "resources": {"requests": {"cpu": "1"}}},
    ]
    init = [{"name": "i", "resources": {"requests": {"cpu": "6"}}}]
    subject = pod(containers=containers, initContainers=init)
    (hint,) = ask(cluster(node("a", cpu="2500m")), subject).hints
    assert hint.text == "would fit on a if cpu <= 2500m"


def test_no_fix_leaves_a_container_without_its_request(ask):
    containers = [
        {"name": "app", "resources": {"requests": {"cpu": "3"}}},
        {"name": "log", "resources": {"requests": {"cpu": "1m"}}},
    ]
    hints = ask(cluster(node("n", cpu="2")), pod(containers=containers)).hints
    assert [hint.type for hint in hints if hint.fits] == []


def test_what_containers_share_is_said_of_them_together(ask):
    containers = [{"name": name, "resources": {"requests": {"cpu": "2"}}} for name in ("app", "log")]
    hints = ask(cluster(node("n", cpu="2")), pod(containers=containers)).hints
    assert [hint.text for hint in hints] == ["would fit on n if cpu of app + log together <= 2"]


def test_anti_affinity_of_one_workload_changes_for_all_of_its_pods(ask):
    reference = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "1", "controller": True}
    options = {
        "labels": {"app": "db"},
        "affinity": affinity("podAntiAffinity", app="db"),
        "metadata": {"ownerReferences": [reference]},
    }
    state = cluster(node("a", zone="x"), node("b", zone="x"), pod("db-0", on="a", **options))
    assert [hint.text for hint in ask(state, pod("db-1", **options)).hints] == [
        f"would fit on b if its pod anti-affinity is over {HOSTNAME} instead of {ZONE}",
        f"would fit on 2 nodes if its pod anti-affinity over {ZONE} is preferred, not required",
    ]
