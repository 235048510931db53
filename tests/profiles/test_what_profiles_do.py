"""Each profile that ships does what its first line says: pods are placed one after another on small clusters."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from schedctl.api.workloads import Service
from schedctl.config.loading import default, load
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod

PROFILES = Path(__file__).parents[2] / "profiles"
GPU = "nvidia.com/gpu"
WEB = {"app": "web"}


def web_service() -> Service:
    return msgspec.convert({"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": WEB}}, Service)


def placements(profile: str, objects, *pods, file: str = "") -> list[str]:
    """The nodes that pods get one after another, the first of equals by name; "" for none."""
    configuration = load((PROFILES / f"{file or profile}.yaml").read_bytes()) if profile else default()
    scheduler = Scheduler(cluster(*objects), configuration)
    nodes = []
    for one in pods:
        spec = msgspec.structs.replace(one.pod.spec, scheduler_name=profile or "default-scheduler")
        outcome = scheduler.attempt(msgspec.structs.replace(one.pod, spec=spec))
        if outcome.chosen:
            scheduler.place(outcome)
        nodes.append(outcome.chosen or "")
    return nodes


def webs(count: int, **fields):
    return [pod(f"web-{number}", labels=WEB, **{"cpu": "500m", "memory": "1Gi", **fields}) for number in range(count)]


def three_zones(**fields):
    return [node(f"{zone}{number}", zone=zone, **fields) for zone in "abc" for number in (1, 2)]


# -- Packing ---------------------------------------------------------------------------------------

EMPTY = [node("a", cpu="2", memory="4Gi"), node("b", cpu="2", memory="4Gi"), node("c", cpu="2", memory="4Gi")]


@pytest.mark.parametrize("profile", ["bin-packing", "autoscaler-friendly", "batch", "gpu-packing"])
def test_nodes_are_filled_one_after_another(profile):
    assert placements(profile, EMPTY, *webs(6)) == ["a", "a", "a", "a", "b", "b"]


@pytest.mark.parametrize("profile", ["", "spreading", "high-availability"])
def test_nodes_are_filled_evenly_by_profiles_that_do_not_pack(profile):
    assert Counter(placements(profile, EMPTY, *webs(6))) == {"a": 2, "b": 2, "c": 2}


def test_room_to_grow_is_left_with_headroom():
    chosen = placements("bin-packing-with-headroom", EMPTY, *webs(6), file="bin-packing")
    assert chosen == ["a", "a", "a", "b", "b", "b"]


@pytest.mark.parametrize("profile", ["bin-packing", "autoscaler-friendly", "batch"])
def test_the_pods_of_a_service_are_filled_in_as_well(profile):
    assert placements(profile, [*EMPTY, web_service()], *webs(4)) == ["a", "a", "a", "a"]


# -- Autoscaler ------------------------------------------------------------------------------------

LEAVING = {"key": "DeletionCandidateOfClusterAutoscaler", "value": "1", "effect": "PreferNoSchedule"}


def test_nodes_that_stay_empty_can_be_taken_away():
    nodes = [*EMPTY, *(node(name, cpu="2", memory="4Gi") for name in "defgh")]
    assert set(placements("autoscaler-friendly", nodes, *webs(8))) == {"a", "b"}
    assert len(set(placements("", nodes, *webs(8)))) == 8


def test_no_pod_goes_to_a_node_that_is_about_to_be_removed_however_full_it_is():
    objects = [
        node("leaving", cpu="2", memory="4Gi", taints=[LEAVING]),
        node("other", cpu="2", memory="4Gi"),
        pod("there", on="leaving", cpu="1500m", memory="3Gi"),
    ]
    assert placements("autoscaler-friendly", objects, *webs(1)) == ["other"]
    assert placements("bin-packing", objects, *webs(1)) == ["leaving"]


def test_a_pod_goes_to_a_node_that_is_about_to_be_removed_where_there_is_no_other():
    objects = [node("leaving", cpu="2", memory="4Gi", taints=[LEAVING])]
    assert placements("autoscaler-friendly", objects, *webs(1)) == ["leaving"]


def test_replicas_are_over_zones_where_that_costs_no_node():
    nodes = [node("a", zone="a"), node("b", zone="b")]
    running = [pod("x", on="a", cpu="2", memory="8Gi"), pod("y", on="b", cpu="2", memory="8Gi")]
    assert placements(
        "autoscaler-friendly", [*nodes, *running, web_service()], *webs(2, cpu="100m", memory="100Mi")
    ) == [
        "a",
        "b",
    ]


# -- GPUs ------------------------------------------------------------------------------------------


def gpu_node(name: str):
    return node(name, cpu="8", memory="32Gi", labels={"nvidia.com/gpu.present": "true"}, **{GPU: "4"})


def trainings(count: int, gpus: str = "1"):
    requests = {"cpu": "1", "memory": "4Gi", GPU: gpus}
    return [pod(f"training-{gpus}-{number}", requests=requests) for number in range(count)]


def test_gpu_nodes_are_filled_with_gpu_pods_first():
    nodes = [gpu_node("gpu-a"), gpu_node("gpu-b"), node("plain", cpu="8", memory="32Gi")]
    assert placements("gpu-packing", nodes, *trainings(6)) == [*["gpu-a"] * 4, *["gpu-b"] * 2]


def test_a_whole_node_of_gpus_stays_free_for_a_pod_that_needs_all_of_them():
    nodes = [gpu_node("gpu-a"), gpu_node("gpu-b")]
    assert placements("gpu-packing", nodes, *trainings(3), *trainings(1, "4"))[-1] == "gpu-b"
    assert placements("", nodes, *trainings(3), *trainings(1, "4"))[-1] == ""


@pytest.mark.parametrize("used", ["0", "7"])
def test_pods_without_a_gpu_are_kept_off_gpu_nodes_however_full_those_are(used):
    objects = [gpu_node("gpu-a"), node("plain", cpu="8", memory="32Gi"), pod("x", on="gpu-a", cpu=used, memory="28Gi")]
    assert placements("gpu-packing", objects, *webs(1)) == ["plain"]


def test_pods_without_a_gpu_run_on_gpu_nodes_where_every_other_node_is_full():
    objects = [gpu_node("gpu-a"), node("plain", cpu="1"), pod("x", on="plain", cpu="1")]
    assert placements("gpu-packing", objects, *webs(1)) == ["gpu-a"]


# -- Batch -----------------------------------------------------------------------------------------


def test_a_job_starts_where_its_image_is():
    image = {"names": ["registry.example/training:v1"], "sizeBytes": 2_000_000_000}
    nodes = [node("a"), node("b"), node("c", images=[image])]
    job = pod("job", cpu="100m", memory="100Mi", image="registry.example/training:v1")
    assert placements("batch", nodes, job) == ["c"]


def test_a_pod_that_needs_cpu_goes_beside_one_that_needs_memory():
    nodes = [node("a", cpu="10", memory="10Gi"), node("b", cpu="10", memory="10Gi")]
    running = [pod("x", on="a", cpu="5", memory="1Gi"), pod("y", on="b", cpu="1", memory="5Gi")]
    assert placements("batch", [*nodes, *running], pod("job", cpu="4", memory="500Mi")) == ["b"]


def test_batch_pods_wait_instead_of_evicting():
    objects = [node("a", cpu="1"), pod("low", on="a", cpu="1", priority=0)]
    urgent = pod("urgent", cpu="1", priority=1000)
    for profile, evicts in (("batch", False), ("bin-packing", True)):
        configuration = load((PROFILES / f"{profile}.yaml").read_bytes())
        batch_pod = msgspec.structs.replace(
            urgent.pod, spec=msgspec.structs.replace(urgent.pod.spec, scheduler_name=profile)
        )
        result = Scheduler(cluster(*objects), configuration).attempt(batch_pod).post_filter
        assert bool(result and result.victims) is evicts


# -- Availability ----------------------------------------------------------------------------------


def zone_counts(nodes) -> Counter:
    return Counter(name[:1] for name in nodes)


@pytest.mark.parametrize("profile", ["spreading", "high-availability"])
def test_replicas_are_over_zones_and_then_over_nodes(profile):
    nodes = placements(profile, [*three_zones(), web_service()], *webs(6))
    assert zone_counts(nodes[:3]) == {"a": 1, "b": 1, "c": 1}
    assert len(set(nodes)) == 6


@pytest.mark.parametrize("profile", ["spreading", "high-availability"])
def test_zones_count_more_than_room(profile):
    busy = [pod(f"x{number}", on=f"a{number}", cpu="3", memory="12Gi") for number in (1, 2)]
    assert zone_counts(placements(profile, [*three_zones(), *busy, web_service()], *webs(3))) == {
        "a": 1,
        "b": 1,
        "c": 1,
    }


def test_nothing_stays_pending_for_the_sake_of_evenness():
    nodes = [node("a", zone="a"), node("b", zone="b", cpu="1")]
    assert "" not in placements("high-availability", [*nodes, web_service()], *webs(6))
    assert "" in placements("spreading", [*nodes, web_service()], *webs(6))


def test_a_zone_under_repair_does_not_count():
    closed = [{"key": "repair", "effect": "NoSchedule"}]
    nodes = [node("a1", zone="a"), node("b1", zone="b"), node("c1", zone="c", taints=closed)]
    assert zone_counts(placements("high-availability", [*nodes, web_service()], *webs(4))) == {"a": 2, "b": 2}


def test_room_is_left_everywhere_for_what_a_failure_brings():
    busy = [pod("x", on="a1", cpu="3", memory="12Gi")]
    nodes = [node("a1", zone="a"), node("a2", zone="a")]
    assert placements("high-availability", [*nodes, *busy], *webs(1)) == ["a2"]


def test_the_default_profile_does_what_happens_without_one():
    objects = [*three_zones(), web_service()]
    assert placements("default-scheduler", objects, *webs(9), file="default") == placements("", objects, *webs(9))
