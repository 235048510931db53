"""Pods that arrive and go: traces that are read, when pods come, what becomes of them, and what is measured."""

from __future__ import annotations

import random

import pytest

from schedctl.errors import InputError, UsageError
from schedctl.framework import ScorePlugin
from schedctl.scheduler import Scheduler
from schedctl.simulation import timeline
from schedctl.simulation.outcomes import PodState
from schedctl.simulation.tie_breaking import first_in_shuffled_order
from schedctl.studies import arrivals, forms, traces
from schedctl.studies.arrival_runs import ArrivalRun, RunObserver, run_with_queue
from schedctl.studies.arrivals import Arrival
from schedctl.studies.metrics import AnnotatedResource, ArrivalMetrics, CountedResource, capacity_of
from schedctl.studies.questions import resources_of
from schedctl.studies.traces import GPU, GPU_COUNT, TracedPod
from schedctl.testing.builders import cluster, node, pod
from tests.devices.builders import DRIVER, holding, resource_slice

PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\n"
NODES = "sn,cpu_milli,memory_mib,gpu,model\n"
GPUS = AnnotatedResource("gpu", (GPU_COUNT, GPU), GPU)


def written(tmp_path, text):
    file = tmp_path / "list.csv"
    file.write_text(text)
    return str(file)


def traced(*amounts, lifetime=None):
    return [TracedPod(f"p{n}", pod(f"p{n}", cpu=cpu), float(n), lifetime) for n, cpu in enumerate(amounts)]


# -- traces -----------------------------------------------------------------------------------


def test_pods_of_openb_ask_for_gpus_by_annotations(tmp_path):
    shared, whole, plain = traces.read_openb_pods(
        written(tmp_path, PODS + "a,4000,8192,1,250,5,65\nb,1000,1,2,1000,7,8\nc,500,1,0,0,9,9\n")
    )
    assert (GPUS.amount(shared.model), GPUS.amount(whole.model), GPUS.amount(plain.model)) == (250, 2000, 0)
    assert (shared.arrives, shared.lifetime) == (5, 60)
    assert shared.model.demand.fit_requests == {"cpu": 4000, "memory": 8192 << 20}
    assert shared.copy("x").key == "openb/x"


def test_nodes_of_openb_offer_a_thousand_for_each_gpu(tmp_path):
    nodes = traces.read_openb_nodes(written(tmp_path, NODES + "n1,64000,262144,2,P100\nn2,32000,1024,0,\n"))
    assert nodes[0].status.allocatable[GPU] == "2000"
    assert nodes[0].metadata.labels["alibabacloud.com/gpu-card-model"] == "P100"
    assert GPU not in nodes[1].status.allocatable


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        pytest.param(PODS + "a,,8192,1,250,5,65\n", ["2: cpu_milli is 'missing', expected a whole number"], id="a gap"),
        pytest.param(
            PODS + "a,1,2,0,0,1,2\nb,1\n",
            ["3: memory_mib is 'missing'", "3: num_gpu", "3: gpu_milli", "3: creation_time", "3: deletion_time"],
            id="a short line",
        ),
        pytest.param(PODS + "a,-1,2,0,0,1,2\n", ["2: cpu_milli is '-1'"], id="a negative number"),
        pytest.param(PODS + f"a,{'9' * 5000},2,0,0,1,2\n", ["2: cpu_milli is '999"], id="a number without end"),
        pytest.param(PODS + "a,1,2,0,0,5,2\n", ["2: deletion_time is before creation_time"], id="gone before it came"),
        pytest.param(
            PODS + "a,1,2,0,0,1,2\nb,1,2,0,0,1,2\na,1,2,0,0,3,4\n,1,2,0,0,1,2\n,1,2,0,0,1,2\n",
            ["4: name a is that of line 2, too", "5: name is missing", "6: name is missing"],
            id="a name twice, and none",
        ),
        pytest.param("name,cpu\n", ["1: no column cpu_milli, memory_mib"], id="other columns"),
        pytest.param(PODS, ["no rows"], id="an empty list"),
    ],
)
def test_a_trace_with_gaps_is_refused_with_every_line(tmp_path, text, problems):
    with pytest.raises(InputError) as fault:
        traces.read_openb_pods(written(tmp_path, text))
    assert len(fault.value.problems) == len(problems)
    for found, expected in zip(fault.value.problems, problems, strict=True):
        assert expected.replace(": ", ": ", 1) in f"{found.line}: {found.message}"


def test_a_missing_trace_is_named():
    with pytest.raises(InputError, match=r"nowhere\.csv: cannot be read: no such file or directory"):
        traces.read_openb_pods("nowhere.csv")


def test_a_timeline_says_when_pods_came_and_how_long_they_ran(tmp_path):
    records = [
        timeline.Moved(3.0, "default/a", "Active", event="UnscheduledPodAdd"),
        timeline.Bound(4.0, "default/a", "n"),
        timeline.Moved(5.0, "default/b", "Active"),
        timeline.Moved(6.0, "default/b", "Backoff", "Active"),
        timeline.Gone(14.0, "default/a", "n"),
    ]
    file = written(tmp_path, b"\n".join(timeline.lines(records)).decode())
    known = {key: pod(key.partition("/")[2], on="n").pod for key in ("default/a", "default/b")}
    first, second = traces.read_timeline(file, known)
    assert (first.name, first.arrives, first.lifetime) == ("default/a", 3.0, 10.0)
    assert (second.arrives, second.lifetime) == (5.0, None)
    assert first.model.pod.spec.node_name == ""
    assert [each.pod.key for each in arrivals.as_traced([first, second])] == ["default/a", "default/b"]
    assert next(arrivals.poisson([first], 1, rate=1.0, count=1)).pod.key == "default/a-0"


def test_pods_of_a_timeline_that_nobody_describes_are_all_told(tmp_path):
    records = [timeline.Moved(float(number), f"default/p{number}", "Active") for number in range(7)]
    file = written(tmp_path, b"\n".join(timeline.lines(records)).decode())
    names = ", ".join(f"default/p{number}" for number in range(1, 6))
    with pytest.raises(InputError, match=f"6 pods of the timeline in none of the manifests: {names} and 1 more"):
        traces.read_timeline(file, {"default/p0": pod("p0").pod})


def test_a_timeline_in_which_no_pod_arrives_is_told(tmp_path):
    file = written(tmp_path, b"\n".join(timeline.lines([timeline.Ended(1.0, "settled")])).decode())
    with pytest.raises(InputError, match="no pod arrives in this timeline"):
        traces.read_timeline(file, {})


# -- when pods come ---------------------------------------------------------------------------


def test_traced_pods_come_in_the_order_of_their_times():
    pods = [TracedPod("late", pod("late"), 9.0, 1.0), TracedPod("early", pod("early"), 2.0)]
    assert [(each.at, each.pod.key) for each in arrivals.as_traced(pods)] == [
        (2.0, "default/early"),
        (9.0, "default/late"),
    ]
    assert [each.lifetime for each in arrivals.as_traced(pods, lifetimes=False)] == [None, None]


def test_a_seed_shuffles_pods_that_come_at_once():
    pods = traced(*["1"] * 20)
    orders = [[each.pod.key for each in arrivals.at_once(pods, seed)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    assert [each.pod.key for each in arrivals.at_once(pods)] == [f"default/p{number}" for number in range(20)]


def test_a_poisson_process_has_its_rate_and_pods_of_names_of_their_own():
    found = [*arrivals.poisson(traced("1", "2"), 3, rate=2.0, count=4000)]
    assert found[-1].at == pytest.approx(2000, rel=0.05)
    assert len({each.pod.key for each in found}) == 4000
    assert found == [] or [each.at for each in found] == sorted(each.at for each in found)


def test_pods_are_cloned_until_the_share_of_the_capacity_would_be_passed():
    pods = traced("1", "1", "2")
    found = [*arrivals.inflated(pods, 1, share=1.5, capacity=10_000, amount=CountedResource("cpu").amount)]
    total = sum(each.pod.demand.fit_requests["cpu"] for each in found)
    assert 13_000 < total <= 15_000
    assert {each.pod.key for each in found[:3]} == {"default/p0", "default/p1", "default/p2"}


def test_pods_that_ask_for_nothing_of_it_are_not_cloned_for_ever():
    found = [*arrivals.inflated(traced("1"), 1, share=2, capacity=10, amount=lambda pod: 0)]
    assert len(found) == 1


# -- the run ----------------------------------------------------------------------------------


def run(state, coming, **options):
    loop = ArrivalRun(Scheduler(state), **options)
    return loop.run(coming)


def test_pods_that_fit_nowhere_are_dropped():
    counts = run(cluster(node("a", cpu="2")), arrivals.as_traced(traced("1", "2", "1")))
    assert (counts.arrived, counts.bound, counts.dropped) == (3, 2, 1)


def test_pods_leave_at_the_end_of_their_lifetime_and_make_room():
    state = cluster(node("a", cpu="1"))
    counts = run(state, arrivals.as_traced(traced("1", "1", "1", lifetime=1.5)))
    assert (counts.bound, counts.dropped, counts.gone) == (2, 1, 1)
    assert list(state.pod_table.row_of) == ["default/p2"]


def test_a_run_ends_at_its_horizon():
    counts = run(cluster(node("a", cpu="9")), arrivals.as_traced(traced("1", "1", "1", lifetime=0.5)), horizon=1.7)
    assert (counts.arrived, counts.gone, counts.now) == (2, 2, 1.7)


def test_times_that_go_back_are_refused():
    with pytest.raises(UsageError, match=r"pod default/p0 arrives at 0\.0 s, before 1\.0 s"):
        run(cluster(node("a")), [*reversed(arrivals.as_traced(traced("1", "1")))])


def test_pods_of_other_schedulers_are_refused():
    foreign = Arrival(0.0, pod("x", schedulerName="volcano"))
    with pytest.raises(UsageError, match='no profile serves schedulerName "volcano"'):
        run(cluster(node("a")), [foreign])


def test_observers_hear_what_happens():
    said = []

    class Log(RunObserver):
        def on_start(self, scheduler, counts):
            said.append("start")

        def on_bound(self, arrival, node):
            said.append(f"{arrival.pod.key} on {node}")

        def on_dropped(self, arrival, message):
            said.append(f"{arrival.pod.key} dropped")

        def on_gone(self, arrival, node):
            said.append(f"{arrival.pod.key} gone")

    run(cluster(node("a", cpu="1")), arrivals.as_traced(traced("1", "2", "1", lifetime=2.0)), observers=[Log()])
    assert said == ["start", "default/p0 on a", "default/p1 dropped", "default/p0 gone", "default/p2 on a"]


def test_pods_that_are_retried_wait_in_the_queue_until_others_go():
    facts = run_with_queue(Scheduler(cluster(node("a", cpu="1"))), arrivals.as_traced(traced("1", "1", lifetime=100.0)))
    assert [outcome.state for outcome in facts.pods.values()] == [PodState.GONE, PodState.GONE]
    assert facts.pods["default/p1"].attempts == 2


def test_an_order_of_nodes_that_a_seed_shuffles_decides_between_ties_for_the_whole_run():
    nodes = [f"n{number}" for number in range(20)]

    def placed(seed):
        state = cluster(*(node(name, cpu="2") for name in nodes))
        run(state, arrivals.as_traced(traced("1", "1")), choose=first_in_shuffled_order(nodes, seed))
        return [state.node_of(f"default/p{number}") for number in range(2)]

    order = sorted(nodes)
    random.Random("7/nodes").shuffle(order)
    assert placed(7) == placed(7) == order[:2]
    assert placed(8) != placed(7)


def test_a_node_that_comes_later_stands_behind_the_shuffled_order():
    state = cluster(node("m", cpu="2"), node("n", cpu="2"))
    scheduler = Scheduler(state)
    choose = first_in_shuffled_order(["m", "n"], 7)
    first = choose(scheduler.attempt(pod("x", cpu="1")), 1)
    state.add_node(node("a", cpu="2"))
    state.add_node(node("b", cpu="2"))
    assert choose(scheduler.attempt(pod("x", cpu="1")), 1) == first
    state.remove_node("m")
    state.remove_node("n")
    assert choose(scheduler.attempt(pod("x", cpu="1")), 1) == "a"


def test_observers_hear_of_a_run_with_a_queue_too():
    said = []

    class Log(RunObserver):
        def on_arrived(self, arrival):
            said.append(f"{arrival.pod.key} arrived")

        def on_bound(self, arrival, node):
            said.append(f"{arrival.pod.key} on {node}")

        def on_gone(self, arrival, node):
            said.append(f"{arrival.pod.key} gone")

        def on_arrival_done(self):
            said.append("done")

    state = cluster(node("a", cpu="1"))
    run_with_queue(Scheduler(state), arrivals.as_traced(traced("1", "1", lifetime=100.0)), observers=[Log()])
    assert said == [
        *("default/p0 arrived", "default/p0 on a", "done", "default/p1 arrived"),
        *("default/p0 gone", "default/p1 on a", "default/p1 gone", "done"),
    ]


def test_metrics_of_a_run_with_a_queue_count_pods_that_wait():
    metrics = ArrivalMetrics([CountedResource("cpu")], "cpu")
    run_with_queue(
        Scheduler(cluster(node("a", cpu="2"))), arrivals.as_traced(traced("1", "2", "1")), observers=[metrics]
    )
    table = metrics.table()
    assert {at: (row["allocated.cpu"], row["pending"], row["dropped"]) for at, row in table.items()} == {
        50: (50.0, 0, 0),
        150: (50.0, 1, 0),
        200: (100.0, 1, 0),
    }


# -- metrics ----------------------------------------------------------------------------------


def test_metrics_are_averages_over_the_arrivals_of_a_percent():
    metrics = ArrivalMetrics([CountedResource("cpu")], "cpu")
    run(cluster(node("a", cpu="2"), node("b", cpu="2")), arrivals.as_traced(traced("2", "1", "2")), observers=[metrics])
    table = metrics.table()
    assert {percent: row["allocated.cpu"] for percent, row in table.items()} == {50: 50.0, 75: 75.0, 125: 75.0}
    assert table[125]["dropped"] == 1
    assert table[50]["balance.cpu"] == 50.0


def test_what_ran_before_the_first_arrival_is_allocated_too():
    metrics = ArrivalMetrics([CountedResource("cpu")], "cpu")
    run(cluster(node("a", cpu="4"), pod("old", on="a", cpu="1")), arrivals.as_traced(traced("2")), observers=[metrics])
    assert metrics.table()[50]["allocated.cpu"] == 75.0


def test_what_arrivals_evict_is_not_allocated_any_more():
    state = cluster(node("a", cpu="4"), pod("old", on="a", cpu="3", terminationGracePeriodSeconds=0))
    metrics = ArrivalMetrics([CountedResource("cpu")], "cpu")
    urgent = TracedPod("urgent", pod("urgent", cpu="2", priority=10), 0.0)
    run_with_queue(Scheduler(state), arrivals.as_traced([urgent]), observers=[metrics])
    assert metrics.table()[50]["allocated.cpu"] == 50.0


def test_attempts_are_counted_one_for_each_arrival_or_as_the_queue_makes_them():
    pods = traced("1", "1", lifetime=100.0)
    dropping, retrying = (ArrivalMetrics([CountedResource("cpu")], "cpu") for _ in range(2))
    run(cluster(node("a", cpu="1")), arrivals.as_traced(pods), observers=[dropping])
    run_with_queue(Scheduler(cluster(node("a", cpu="1"))), arrivals.as_traced(pods), observers=[retrying])
    assert {at: row["attempts"] for at, row in dropping.table().items()} == {100: 1, 200: 2}
    assert {at: row["attempts"] for at, row in retrying.table().items()} == {100: 1, 200: 3}


def test_fragmentation_is_what_is_free_where_the_average_pod_has_no_room():
    metrics = ArrivalMetrics([CountedResource("cpu")], "cpu")
    state = cluster(node("a", cpu="4"), node("b", cpu="2"))
    run(state, arrivals.as_traced(traced("1", "3")), observers=[metrics], choose=lambda attempt, number: "a")
    # pods ask for 1, of which there is room on both nodes, and then for 2 on average: 2 are free on one, none on a
    assert {at: row["fragmentation.cpu"] for at, row in metrics.table().items()} == {17: 0.0, 67: 0.0}
    metrics = ArrivalMetrics([CountedResource("cpu")], "cpu")
    run(cluster(node("a", cpu="4"), node("b", cpu="1")), arrivals.as_traced(traced("2")), observers=[metrics])
    assert metrics.table()[40]["fragmentation.cpu"] == pytest.approx(100 / 3, abs=1e-3)


def test_a_resource_of_any_name_is_counted_as_pods_request_it():
    state = cluster(node("a", **{"example.com/card": "4"}))
    asking = pod("x", requests={"cpu": "1", "example.com/card": "3"})
    metrics = ArrivalMetrics([CountedResource("card", "example.com/card")], "card")
    run(state, [Arrival(0.0, asking)], observers=[metrics])
    row = metrics.table()[75]
    assert (row["allocated.card"], row["balance.card"], row["fragmentation.card"]) == (75.0, 0.0, 100.0)


def test_a_study_counts_what_pods_request_unless_it_names_annotations():
    found = resources_of(
        forms.RunForm(
            resources=(
                forms.ResourceForm("nvidia.com/gpu"),
                forms.ResourceForm("share", ("example.com/share",), "example.com/gpu"),
            )
        )
    )
    assert found == [
        *(CountedResource("cpu"), CountedResource("memory"), CountedResource("nvidia.com/gpu")),
        AnnotatedResource("share", ("example.com/share",), "example.com/gpu"),
    ]


def test_devices_that_claims_hold_are_counted_by_driver():
    state = cluster(node("a"), node("b"))
    for made in (
        resource_slice("a", "d0", "d1", on="a"),
        resource_slice("b", "d0", "d1", on="b"),
        holding("c", "a/d1"),
    ):
        state.put(made)
    metrics = ArrivalMetrics([CountedResource("cpu")], "cpu")
    run(state, arrivals.as_traced(traced("1")), observers=[metrics])
    assert metrics.table()[12][f"devices.{DRIVER}"] == 25.0


def test_annotated_resources_are_counted_and_given_back():
    state = cluster(node("a", **{GPU: "2000"}))
    annotated = pod("x", cpu="1", metadata={"annotations": {GPU_COUNT: "2", GPU: "500"}})
    metrics = ArrivalMetrics([GPUS], "gpu")
    run(state, [Arrival(0.0, annotated, 1.0), Arrival(5.0, pod("y"))], observers=[metrics])
    assert capacity_of(state, GPUS) == 2000
    # both arrivals are at 50 %: the first has 50 % allocated, and is gone when the second comes
    assert metrics.table()[50]["allocated.gpu"] == 25.0


def test_an_annotation_that_is_no_number_is_told():
    with pytest.raises(UsageError, match=r'annotation .*gpu-count of pod default/x is "two"'):
        GPUS.amount(pod("x", metadata={"annotations": {GPU_COUNT: "two", GPU: "500"}}))


def test_a_resource_that_nobody_counts_or_offers_is_told():
    with pytest.raises(UsageError, match='no resource "gpu" is counted'):
        ArrivalMetrics([CountedResource("cpu")], "gpu")
    with pytest.raises(UsageError, match="no node offers gpu"):
        run(cluster(node("a")), [], observers=[ArrivalMetrics([GPUS], "gpu")])


def test_what_plugins_measure_is_a_column():
    class Thermometer(ScorePlugin):
        name = "Thermometer"

        def score(self, cycle, nodes):
            return nodes.pod_count * 0

        def measure(self):
            return {"degrees": 20 + len(self.handle.cluster.pod_table)}

    state = cluster(node("a", cpu="9"))
    metrics = ArrivalMetrics([CountedResource("cpu")], "cpu")
    loop = ArrivalRun(Scheduler.configured(state, plugins=[Thermometer]), observers=[metrics])
    loop.run(arrivals.as_traced(traced("1", "3")))
    assert [row["Thermometer.degrees"] for row in metrics.table().values()] == [21, 22]
