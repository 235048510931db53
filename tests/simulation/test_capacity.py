"""Capacity: how many more fit, where, what stops the next, and how large one pod could be."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from schedctl.api.policies import ResourceQuota
from schedctl.api.resources import CPU, MEMORY
from schedctl.api.storage import StorageClass
from schedctl.api.workloads import StatefulSet
from schedctl.framework.points import FilterPlugin
from schedctl.framework.reasons import Reason
from schedctl.reports.metadata import Metadata
from schedctl.scheduler import Scheduler
from schedctl.simulation import capacity_report_builder
from schedctl.simulation.capacities import CopiesOfPod, StatefulSetCopies, fill, largest, resize
from schedctl.testing.builders import cluster, node, pod

GIB = 1 << 30
WEB = {"app": "web"}


def spread(key: str, skew: int = 1) -> dict:
    return {
        "topologySpreadConstraints": [
            {
                "maxSkew": skew,
                "topologyKey": key,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": WEB},
            }
        ]
    }


def filled(state, like, *, most: int = 1000):
    return fill(
        Scheduler(state), CopiesOfPod(like.pod, state), most=most, read_reasons=lambda outcome: [outcome.generation]
    )


def test_as_many_fit_as_the_nodes_have_room_for():
    state = cluster(node("a", cpu="4"), node("b", cpu="2"), pod("x", on="a", cpu="1"))
    facts = filled(state, pod(cpu="500m"))
    assert (facts.fits, facts.placed, facts.limited) == (10, {"b": 4, "a": 6}, False)
    assert facts.message.startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert facts.plugins == ("NodeResourcesFit",)
    assert len(facts.reasons) == 1
    assert (list(state.pod_table.row_of), dict(state.pending)) == (["default/x"], {})


def test_rules_of_the_pods_count_also_between_them():
    zones = (node("a", zone="1"), node("b", zone="2", cpu="1"))
    facts = filled(cluster(*zones), pod(cpu="1", labels=WEB, **spread("topology.kubernetes.io/zone")))
    assert facts.placed == {"a": 2, "b": 1}
    anti = {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": WEB}}
        ]
    }
    assert filled(cluster(*zones), pod(labels=WEB, affinity={"podAntiAffinity": anti})).placed == {"a": 1, "b": 1}


def test_no_more_are_tried_than_asked_for():
    facts = filled(cluster(node("a")), pod(cpu="1"), most=3)
    assert (facts.fits, facts.limited, facts.message) == (3, True, "")
    assert facts.largest[0].after is None


def test_nobody_is_evicted_but_it_is_said_where_that_would_make_room():
    state = cluster(node("a", cpu="2"), pod("low", on="a", cpu="1"))
    facts = filled(state, pod(cpu="1", priority=5))
    assert (facts.fits, facts.nominated, facts.victims) == (1, "a", 1)


def test_a_pod_that_asks_for_nothing_is_stopped_by_the_number_of_pods():
    facts = filled(cluster(node("a", pods="3")), pod())
    assert (facts.fits, facts.largest) == (3, [])
    assert "1 Too many pods" in facts.message


def test_a_quota_is_said_beside_the_number_that_fits():
    quota = msgspec.convert(
        {"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": {"pods": "2"}}}, ResourceQuota
    )
    facts = filled(cluster(node("a"), quota), pod(cpu="1"))
    assert (facts.fits, facts.within_quota) == (4, 2)
    assert "exceeded quota: q" in facts.quota
    assert filled(cluster(node("a", cpu="1"), quota), pod(cpu="1")).within_quota is None


def test_each_pod_of_a_stateful_set_has_claims_of_its_own():
    claims = [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]
    spec = {
        "selector": {"matchLabels": WEB},
        "template": {"metadata": {"labels": WEB}, "spec": {"containers": [{"name": "c"}]}},
    }
    data = {"metadata": {"name": "db", "namespace": "default"}, "spec": {**spec, "volumeClaimTemplates": claims}}
    state = cluster(node("a"), pod("db-1", on="a"))
    copies = StatefulSetCopies(msgspec.convert(data, StatefulSet), state)
    made = [copies.next(state) for _ in range(2)]
    assert [info.key for info in made] == ["default/db-0", "default/db-2"]
    assert [info.pod.spec.volumes[0].persistent_volume_claim.claim_name for info in made] == ["data-db-0", "data-db-2"]


def test_claims_of_a_class_that_binds_immediately_are_provisioned_for_each_pod():
    claims = [
        {
            "metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "disks"},
        }
    ]
    spec = {
        "selector": {"matchLabels": WEB},
        "template": {"metadata": {"labels": WEB}, "spec": {"containers": [{"name": "c"}]}},
        "volumeClaimTemplates": claims,
    }
    data = {"metadata": {"name": "db", "namespace": "default"}, "spec": spec}
    state = cluster(node("a", pods="3"))
    disks = {"metadata": {"name": "disks"}, "provisioner": "disks.example.com", "volumeBindingMode": "Immediate"}
    state.put(msgspec.convert(disks, StorageClass))
    copies = StatefulSetCopies(msgspec.convert(data, StatefulSet), state)
    facts = fill(Scheduler(state), copies, most=10, read_reasons=lambda outcome: [])
    assert facts.fits == 3
    assert facts.claim_notes == [
        "claim data-db-0: class disks binds immediately, so disks.example.com would provision a volume;"
        " assumed: every node can reach it"
    ]


# -- the largest pod -------------------------------------------------------------


def test_the_largest_pod_is_found_to_the_last_unit_before_and_after():
    state = cluster(
        node("a", cpu="4", memory="8Gi"), node("b", cpu="3500m", memory="16Gi"), pod("x", on="a", cpu="300m")
    )
    facts = filled(state, pod(cpu="1", memory="1Gi"))
    cpu, memory = facts.largest
    assert (cpu.resource, cpu.requested, cpu.alone, cpu.after) == (CPU, 1000, 3700, 700)
    assert (memory.resource, memory.requested, memory.alone, memory.after) == (MEMORY, GIB, 16 * GIB, None)


def test_the_largest_pod_leaves_room_for_its_overhead_whoever_requests():
    state = cluster(node("a", cpu="4"))
    at_pod_level = pod(cpu="1", resources={"requests": {"cpu": "2"}}, overhead={"cpu": "250m"})
    assert largest(Scheduler(state), at_pod_level.pod, CPU) == 4000


class SmallPods(FilterPlugin):
    """Refuses pods that request more than two cores."""

    large = Reason("node(s) are for small pods")

    def filter(self, cycle, nodes):
        return self.large.where(np.full(len(nodes), cycle.pod.requests.exact[CPU] > 2000))


def test_something_else_can_be_in_the_way_of_large_pods():
    state = cluster(node("a", cpu="4"), node("b", cpu="1"))
    assert largest(Scheduler.configured(state, plugins=[SmallPods]), pod(cpu="1").pod, CPU) == 2000


def test_what_the_roomiest_node_has_left_is_tried_first(monkeypatch):
    tried, attempt = [], Scheduler.attempt

    def note_attempt(self, info, **how):
        tried.append(info.requests.exact[MEMORY])
        return attempt(self, info, **how)

    monkeypatch.setattr(Scheduler, "attempt", note_attempt)
    roomier = node("b", memory="64Gi", taints=[{"key": "k", "effect": "NoSchedule"}])
    state = cluster(node("a", memory="16Gi"), roomier, pod("x", on="a", memory="3Gi"))
    assert largest(Scheduler(state), pod(memory="1Gi").pod, MEMORY) == 13 * GIB
    assert tried == [0, 13 * GIB, 13 * GIB + 1]


def test_something_else_can_be_in_the_way_of_any_size():
    state = cluster(node("a", taints=[{"key": "k", "effect": "NoSchedule"}]))
    assert largest(Scheduler(state), pod(cpu="1").pod, CPU) is None


@pytest.mark.parametrize(
    "like",
    [
        pytest.param(pod(cpu="1"), id="of one container"),
        pytest.param(
            pod(cpu="1", initContainers=[{"name": "i", "resources": {"requests": {"cpu": "3"}}}]),
            id="with a greedy init container",
        ),
        pytest.param(pod(cpu="1", overhead={"cpu": "250m"}), id="with overhead"),
        pytest.param(
            pod(containers=[{"name": name, "resources": {"requests": {"cpu": "1"}}} for name in "ab"]),
            id="of two containers",
        ),
        pytest.param(pod(cpu="1", resources={"requests": {"cpu": "2"}}), id="with a request of its own"),
        pytest.param(
            pod(cpu="1", resources={"requests": {"cpu": "2"}}, overhead={"cpu": "250m"}),
            id="with a request of its own and overhead, which comes on top of it",
        ),
    ],
)
def test_a_pod_is_resized(like):
    from schedctl.cache.pod_info import PodInfo

    assert PodInfo(resize(like.pod, CPU, 1700)).demand.fit_requests[CPU] == 1700


# -- the report ------------------------------------------------------------------


def reported(state, like, by: str, **options):
    labels = capacity_report_builder.labels_of(state, by)
    facts = fill(Scheduler(state), CopiesOfPod(like.pod, state), most=1000, read_reasons=lambda outcome: [])
    return capacity_report_builder.report(
        [capacity_report_builder.result(facts, state, subject="pod web", by=labels)], metadata=Metadata(), **options
    )


def test_the_deprecated_zone_label_groups_nodes_that_have_no_other():
    old = {"failure-domain.beta.kubernetes.io/zone": "1"}
    state = cluster(node("a", cpu="2", zone="1"), node("b", cpu="1", labels=old))
    (grouping,) = reported(state, pod(cpu="1"), "zone").results[0].by
    assert [(group.name, group.fits) for group in grouping.groups] == [("1", 3)]


POOLS = (
    node("a", cpu="2", zone="1", labels={"pool": "x"}),
    node("b", cpu="1", zone="1", labels={"pool": "y"}),
    node("c", cpu="500m", zone="2", labels={"pool": "x"}),
)


@pytest.mark.parametrize(
    ("by", "fits"),
    [
        pytest.param(
            "",
            {"topology.kubernetes.io/zone": {"1": 3, "2": 0}, "pool": {"x": 2, "y": 1}},
            id="zone and pool by themselves",
        ),
        pytest.param("zone", {"topology.kubernetes.io/zone": {"1": 3, "2": 0}}, id="the zone"),
        pytest.param("pool", {"pool": {"x": 2, "y": 1}}, id="any label"),
        pytest.param("node", {"node": {"a": 2, "b": 1}}, id="nodes one by one, those that take some"),
        pytest.param("nothing", {"nothing": {"": 3}}, id="a label that no node has"),
    ],
)
def test_pods_are_counted_by(by, fits):
    (result,) = reported(cluster(*POOLS), pod(cpu="1"), by).results
    assert {one.label: {group.name: group.fits for group in one.groups} for one in result.by} == fits
    assert result.nodes == {"a": 2, "b": 1}


def test_the_exit_code_says_no_where_it_was_asked_and_none_fits():
    assert reported(cluster(*POOLS), pod(cpu="1"), "", fail=True).summary.exit_code == 0
    assert reported(cluster(*POOLS), pod(cpu="3"), "", fail=True).summary.exit_code == 1
    assert reported(cluster(*POOLS), pod(cpu="3"), "").summary.exit_code == 0
