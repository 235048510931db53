"""Whatever a plugin of somebody else's lets out or answers, it becomes a fault in its name, and nothing crashes."""

from __future__ import annotations

import re
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from schedctl import framework
from schedctl.api.meta import Namespace, ObjectMeta
from schedctl.cache.nodes import NodeInfo
from schedctl.engine.attempts import matrix
from schedctl.engine.reporters import Reporter
from schedctl.errors import ConfigError
from schedctl.explain.explanations import explain
from schedctl.framework.remedies import Remedy
from schedctl.framework.statuses import Code
from schedctl.reports.explanations import Verdict, Victim
from schedctl.scheduler import Scheduler
from schedctl.scheduler.configurations import load_configuration
from schedctl.simulation.outcomes import PodState
from schedctl.simulation.runs import run
from schedctl.testing import cluster, node, pod

BASES = (
    framework.PreEnqueuePlugin,
    framework.QueueSortPlugin,
    framework.PreFilterPlugin,
    framework.FilterPlugin,
    framework.PostFilterPlugin,
    framework.PreScorePlugin,
    framework.ScorePlugin,
    framework.ReservePlugin,
    framework.PermitPlugin,
    framework.PreBindPlugin,
    framework.BindPlugin,
    framework.PostBindPlugin,
)
FINE = {
    "pre_enqueue": lambda self, pod: framework.SUCCESS,
    "sort_key": lambda self, pod, arrival: arrival,
    "pre_filter": lambda self, cycle, nodes: None,
    "filter": lambda self, cycle, nodes: framework.ACCEPT,
    "post_filter": lambda self, cycle, nodes, codes: framework.PostFilterResult(framework.unschedulable("nothing")),
    "pre_score": lambda self, cycle, nodes: None,
    "score": lambda self, cycle, nodes: np.zeros(len(nodes), np.int64),
    "reserve": lambda self, cycle, node_name: framework.SUCCESS,
    "unreserve": lambda self, cycle, node_name: None,
    "permit": lambda self, cycle, node_name: framework.SUCCESS,
    "pre_bind": lambda self, cycle, node_name: framework.SUCCESS,
    "bind": lambda self, cycle, node_name: framework.SKIP,
    "post_bind": lambda self, cycle, node_name: None,
}


def plugin(**methods):
    """A plugin that takes part in everything and is fine but for these methods."""
    return type("Odd", BASES, {**FINE, **methods, "__module__": __name__})


def raising(*_):
    raise KeyError("team")


def answering(answer):
    return lambda self, *_: answer(*_) if callable(answer) else answer


class RecordingReporter(Reporter):
    def __init__(self):
        self.messages = []

    def plugin_failed(self, plugin, message):
        self.messages.append(message)


def scheduler_with(kind, *objects):
    configuration, registry = load_configuration(b"", [kind])
    reporter = RecordingReporter()
    scheduler = Scheduler(cluster(*objects or (node("a"), node("b"))), configuration, registry, reporter)
    return scheduler, reporter


def simulate_with(kind, *objects, **more):
    scheduler, reporter = scheduler_with(kind, *(objects or (node("a"), node("b"), pod("web", **more))))
    return run(scheduler).pods["default/web"], reporter


PLACE = r" \(test_faulty_plugins\.py:\d+\)"
MASK = framework.Reason("refused for {why}")
IN_CYCLE = ["pre_filter", "filter", "pre_score", "score", "normalize", "signature"]
AFTER = {"reserve": "Reserve", "permit": "Permit", "pre_bind": "PreBind", "bind": "Bind"}


@pytest.mark.parametrize("method", IN_CYCLE)
def test_an_exception_in_a_cycle_ends_it_with_an_error(method):
    scheduler, _ = scheduler_with(plugin(**{method: raising}))
    expected = rf"plugin \"Odd\" failed: KeyError: 'team'{PLACE}"
    assert re.fullmatch(expected, scheduler.attempt(pod()).error)
    outcome, _ = simulate_with(plugin(**{method: raising}))
    assert outcome.fault
    assert re.fullmatch(expected, outcome.message)


def quitting(*_):
    raise SystemExit(0)


QUIT = rf"SystemExit: 0{PLACE}"


class NoException(BaseException):
    """What only the interpreter and its libraries should raise, such as ``asyncio.CancelledError``."""


def raising_no_exception(*_):
    raise NoException("team")


NO_EXCEPTION = rf"NoException: team{PLACE}"


ESCAPES = [
    pytest.param(quitting, QUIT, id="SystemExit"),
    pytest.param(raising_no_exception, NO_EXCEPTION, id="no exception"),
]


@pytest.mark.parametrize(("raises", "text"), ESCAPES)
@pytest.mark.parametrize("method", [*IN_CYCLE, *AFTER, "pre_enqueue", "sort_key"])
def test_what_ends_a_program_is_a_fault_in_a_plugin(method, raises, text):
    outcome, _ = simulate_with(plugin(**{method: raises}))
    assert outcome.state is not PodState.BOUND
    assert re.search(text, outcome.message)


@pytest.mark.parametrize(("raises", "text"), ESCAPES)
def test_what_ends_a_program_is_a_fault_in_unreserve_post_bind_or_init(raises, text):
    kind = plugin(unreserve=raises, permit=answering(framework.unschedulable("no")))
    assert re.search(text, simulate_with(kind)[0].message)
    outcome, reporter = simulate_with(plugin(post_bind=raises))
    assert outcome.state is PodState.BOUND
    assert re.search(text, reporter.messages[0])
    for method in ("__init__", "events_to_register"):
        with pytest.raises(ConfigError, match=text):
            scheduler_with(plugin(**{method: raises}))


def test_system_exit_in_the_text_of_a_fault_is_a_fault():
    class Odd(Exception):
        __str__ = quitting

    def raises(*_):
        raise Odd

    assert re.search(rf"failed: Odd{PLACE}", scheduler_with(plugin(filter=raises))[0].attempt(pod()).error)


def test_an_exception_in_with_pods_ends_the_cycle_that_supposes_pods():
    promised = pod("promised", priority=10, status={"phase": "Pending", "nominatedNodeName": "a"})
    scheduler, _ = scheduler_with(plugin(with_pods=raising), node("a"), promised)
    assert re.fullmatch(rf"plugin \"Odd\" failed: KeyError: 'team'{PLACE}", scheduler.attempt(pod()).error)


@pytest.mark.parametrize(("method", "point"), AFTER.items())
def test_an_exception_after_the_choice_undoes_it_with_an_error(method, point):
    expected = rf"running {point} plugin \"Odd\": KeyError: 'team'{PLACE}"
    outcome, _ = simulate_with(plugin(**{method: raising}))
    assert outcome.state is not PodState.BOUND
    assert outcome.fault
    assert re.fullmatch(expected, outcome.message)


def test_an_exception_in_pre_enqueue_keeps_the_pod_out():
    kind = plugin(pre_enqueue=raising)
    expected = rf"plugin \"Odd\" failed: KeyError: 'team'{PLACE}"
    gated = scheduler_with(kind)[0].attempt(pod()).gated
    assert gated.code is Code.ERROR
    assert re.fullmatch(expected, gated.message)
    outcome, _ = simulate_with(kind)
    assert outcome.state is PodState.GATED
    assert re.fullmatch(expected, outcome.message)


def test_an_exception_in_sort_key_keeps_the_pod_out():
    outcome, _ = simulate_with(plugin(sort_key=raising))
    assert outcome.state is PodState.GATED
    assert re.fullmatch(rf"plugin \"Odd\" failed: KeyError: 'team'{PLACE}", outcome.message)


def test_an_exception_in_post_filter_stands_beside_the_refusals():
    scheduler, _ = scheduler_with(plugin(post_filter=raising), node("a", cpu="1"))
    outcome = scheduler.attempt(pod(cpu="2", priority=5, preemptionPolicy="Never"))
    assert outcome.filtering.histogram() == {"Insufficient cpu": 1}
    assert outcome.post_filter.status.code in (Code.ERROR, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.UNSCHEDULABLE)
    alone, _ = simulate_with(plugin(post_filter=raising), node("a", cpu="1"), pod("web", cpu="2"))
    assert alone.state is PodState.UNSCHEDULABLE


def test_an_exception_in_unreserve_is_the_fault_and_the_pod_is_taken_back():
    kind = plugin(unreserve=raising, permit=answering(framework.unschedulable("no")))
    outcome, reporter = simulate_with(kind)
    assert outcome.fault
    assert re.fullmatch(rf"no, plugin \"Odd\" failed: KeyError: 'team'{PLACE}", outcome.message)
    assert reporter.messages


def test_an_exception_in_post_bind_is_reported_and_the_pod_is_bound():
    outcome, reporter = simulate_with(plugin(post_bind=raising))
    assert outcome.state is PodState.BOUND
    assert re.fullmatch(rf"plugin \"Odd\" failed: KeyError: 'team'{PLACE}", reporter.messages[0])


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (raising, rf"KeyError: 'team'{PLACE}"),
        (quitting, QUIT),
        (lambda *_: True, "a hint returned True, expected Hint.QUEUE or Hint.SKIP"),
    ],
)
def test_a_failing_hint_counts_as_queue_and_is_reported(hint, message):
    kind = plugin(
        filter=lambda self, cycle, nodes: MASK.where(nodes.pod_count == 0, why="emptiness"),
        events_to_register=lambda self: (
            framework.registers(framework.Resource.ASSIGNED_POD, framework.Action.ADD, hint),
        ),
    )
    first = pod("first", priority=9)
    _, reporter = simulate_with(kind, node("a"), node("b"), pod("on", on="a"), pod("web"), first)
    assert not reporter.messages  # everything was placed on the node that is not empty
    never = plugin(
        filter=lambda self, cycle, nodes: MASK.where(
            np.full(len(nodes), cycle.pod.pod.metadata.name == "web"), why="its name"
        ),
        events_to_register=lambda self: (
            framework.registers(framework.Resource.ASSIGNED_POD, framework.Action.ADD, hint),
        ),
    )
    outcome, reporter = simulate_with(never, node("a"), pod("web"), pod("later"))
    assert outcome.state is PodState.UNSCHEDULABLE
    assert re.fullmatch(rf"plugin \"Odd\" failed: {message}", reporter.messages[0])


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        pytest.param({"__init__": raising}, 'initializing plugin "Odd": KeyError', id="__init__ raises"),
        pytest.param({"events_to_register": raising}, "plugin \"Odd\" failed: KeyError: 'team'", id="events raise"),
        pytest.param(
            {"events_to_register": answering(None)},
            "events_to_register returned None, expected a sequence of Registration",
            id="no events",
        ),
        pytest.param(
            {
                "events_to_register": answering(
                    lambda: [framework.ClusterEvent(framework.Resource.NODE, framework.Action.ADD)]
                )
            },
            "events_to_register returned a ClusterEvent, expected a sequence of Registration",
            id="events instead of registrations",
        ),
    ],
)
def test_a_plugin_that_cannot_be_made_is_a_fault_of_the_configuration(methods, message):
    with pytest.raises(ConfigError) as raised:
        scheduler_with(plugin(**methods))
    assert message in str(raised.value)
    assert "test_faulty_plugins.py:" in str(raised.value)


def rows(nodes, value=True):
    return np.full(len(nodes), value)


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("pre_filter", True, "pre_filter returned True, expected a Status, a NodeSet or None"),
        ("pre_filter", framework.wait(3), "pre_filter answered Wait, expected one of Success, Error, Unschedulable"),
        ("pre_filter", framework.NodeSet(["a"]), "pre_filter gave a list for names, expected a frozenset"),
        (
            "pre_filter",
            framework.Status(Code.UNSCHEDULABLE, "no"),
            "pre_filter gave 'no' for reasons, expected a tuple of texts",
        ),
        ("pre_filter", framework.NodeSet(frozenset(("a", 7))), "pre_filter gave 7 among names, expected texts"),
        ("filter", None, "filter returned None, expected Verdicts"),
        ("filter", lambda cycle, nodes: rows(nodes), "filter returned an array of bool (2), expected Verdicts"),
        (
            "filter",
            lambda cycle, nodes: MASK.where(rows(nodes)[:1], why="x"),
            "filter gave an array of bool (1) for the rows of refused for {why}, expected an array of bool (2)",
        ),
        ("filter", lambda cycle, nodes: MASK.where(rows(nodes, 1), why="x"), "filter gave an array of int64 (2)"),
        ("filter", lambda cycle, nodes: MASK.where(rows(nodes)), 'filter gave no "why"'),
        (
            "filter",
            lambda cycle, nodes: MASK.where(rows(nodes), why=np.arange(3)),
            'filter gave an array of int64 (3) for "why"',
        ),
        (
            "filter",
            lambda cycle, nodes: MASK.where(rows(nodes), why=framework.Lookup("x", np.zeros(1, np.int64))),
            "expected 2 values",
        ),
        (
            "filter",
            lambda cycle, nodes: MASK.where(rows(nodes), unresolvable=rows(nodes)[:1], why="x"),
            "for the unresolvable rows",
        ),
        ("pre_score", 0, "pre_score returned 0, expected a Status or None"),
        ("pre_score", framework.wait(1), "pre_score answered Wait"),
        ("score", lambda cycle, nodes: [1, 2], "score returned a list, expected an array of int64 (2)"),
        ("score", lambda cycle, nodes: np.zeros(2), "score returned an array of float64 (2), expected"),
        ("score", lambda cycle, nodes: np.full(2, np.nan), "score returned an array of float64 (2), expected"),
        ("score", lambda cycle, nodes: np.zeros(1, np.int64), "score returned an array of int64 (1), expected"),
        ("normalize", lambda cycle, nodes, scores: None, "normalize returned None, expected an array of int64 (2)"),
        ("normalize", lambda cycle, nodes, scores: scores / 2, "normalize returned an array of float64 (2), expected"),
        ("signature", [], "signature returned a list, expected what can be hashed, such as a tuple of texts"),
    ],
)
def test_an_invalid_answer_ends_the_cycle_with_an_error(method, answer, message):
    kind = plugin(**{method: answering(answer)})
    error = scheduler_with(kind)[0].attempt(pod()).error
    assert error.startswith('plugin "Odd" failed: ')
    assert message in error
    outcome, _ = simulate_with(kind)
    assert outcome.fault
    assert message in outcome.message


@pytest.mark.parametrize("score", [-1, 101])
def test_a_normalised_score_outside_the_range_is_kube_schedulers_own_error(score):
    kind = plugin(normalize=lambda self, cycle, nodes, scores: scores + score)
    assert f'plugin "Odd" returns an invalid score {score}' in scheduler_with(kind)[0].attempt(pod()).error


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("reserve", None, 'running Reserve plugin "Odd": reserve returned None, expected a Status'),
        ("reserve", framework.wait(1), 'running Reserve plugin "Odd": reserve answered Wait, expected one of Success'),
        ("permit", None, 'running Permit plugin "Odd": permit returned None, expected a Status'),
        ("permit", framework.wait(0), 'running Permit plugin "Odd": permit would wait for 0, expected seconds above 0'),
        ("permit", framework.SKIP, 'running Permit plugin "Odd": permit answered Skip, expected one of Success'),
        ("pre_bind", False, 'running PreBind plugin "Odd": pre_bind returned False, expected a Status'),
        ("bind", "done", "running Bind plugin \"Odd\": bind returned 'done', expected a Status"),
        ("bind", framework.wait(1), 'running Bind plugin "Odd": bind answered Wait'),
    ],
)
def test_an_invalid_answer_after_the_choice_undoes_it(method, answer, message):
    outcome, _ = simulate_with(plugin(**{method: answering(answer)}))
    assert outcome.state is not PodState.BOUND
    assert outcome.fault
    assert message in outcome.message


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("pre_enqueue", None, "pre_enqueue returned None, expected a Status"),
        ("pre_enqueue", framework.SKIP, "pre_enqueue answered Skip"),
        ("sort_key", None, "sort_key returned None, expected a number, a text, or a tuple of them"),
        ("sort_key", float("nan"), "sort_key returned nan"),
        ("sort_key", lambda pod, arrival: {}, "sort_key returned a dict"),
    ],
)
def test_an_invalid_answer_of_pre_enqueue_keeps_the_pod_out(method, answer, message):
    outcome, _ = simulate_with(plugin(**{method: answering(answer)}))
    assert outcome.state is PodState.GATED
    assert message in outcome.message


def test_sort_keys_that_cannot_be_compared_keep_the_later_pod_out():
    kind = plugin(sort_key=lambda self, pod, arrival: arrival if pod.pod.metadata.name == "other" else "text")
    scheduler, _ = scheduler_with(kind, node("a"), pod("other"), pod("web"))
    pods = run(scheduler).pods
    assert pods["default/other"].state is PodState.BOUND
    assert "sort_key returned what cannot be compared with the first" in pods["default/web"].message


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "post_filter returned None, expected a PostFilterResult"),
        (
            framework.PostFilterResult(framework.SUCCESS, "nowhere"),
            "post_filter nominates 'nowhere', expected the name of a node",
        ),
        (
            framework.PostFilterResult(framework.SUCCESS, "a", ("web",)),
            "post_filter gave a tuple for victims, expected a tuple of pods",
        ),
        (framework.PostFilterResult(framework.SUCCESS, "a", (pod("gone"),)), "post_filter would evict default/gone"),
        (framework.PostFilterResult(None), "post_filter returned None, expected a Status"),
    ],
)
def test_an_invalid_answer_of_post_filter_makes_no_room(answer, message):
    text = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint: {enabled: [{name: Odd}]}
    postFilter: {enabled: [{name: Odd}], disabled: [{name: '*'}]}
    queueSort: {enabled: [{name: PrioritySort}], disabled: [{name: '*'}]}
"""
    configuration, registry = load_configuration(text, [plugin(post_filter=answering(lambda *_: answer))])
    scheduler = Scheduler(cluster(node("a", cpu="1")), configuration, registry)
    status = scheduler.attempt(pod(cpu="2")).post_filter.status
    assert status.code is Code.ERROR
    assert message in status.message


def test_a_filter_that_fails_says_so_of_every_node_of_the_matrix():
    calls = SimpleNamespace(count=0)

    def sometimes(self, cycle, nodes):
        calls.count += 1
        return framework.ACCEPT if calls.count == 1 else raising()

    scheduler, _ = scheduler_with(plugin(filter=sometimes))
    verdicts = matrix(scheduler.attempt(pod()))["Odd"]
    assert verdicts.status(0).code is Code.ERROR
    assert re.fullmatch(rf"plugin \"Odd\" failed: KeyError: 'team'{PLACE}", verdicts.status(1).message)


@pytest.mark.parametrize("method", IN_CYCLE)
def test_what_is_no_exception_ends_the_cycle_with_an_error_too(method):
    scheduler, _ = scheduler_with(plugin(**{method: raising_no_exception}))
    assert re.fullmatch(rf"plugin \"Odd\" failed: {NO_EXCEPTION}", scheduler.attempt(pod()).error)


def test_offers_that_nobody_wants_any_more_are_no_fault():
    """The first that helps is enough, and the rest is not asked for."""

    def offers(self, pod, rejection):
        return [Remedy(f"remedy-{number}", f"{number} is done") for number in range(9)]

    def refuses(self, cycle, nodes):
        return framework.unresolvable("never")

    scheduler, _ = scheduler_with(plugin(pre_filter=refuses, remedies=offers))
    assert "failed in remedies" not in repr(explain(scheduler, pod().pod))


def of_text(self, *_):
    return "team"


def of_numbers(self, *_):
    return [7]


WORDS = ["wording", "remedies", "notes", "remarks", "warnings", "violations", "explain_preemption"]


def test_notes_cannot_replace_the_state_of_the_cycle():
    scheduler, _ = scheduler_with(plugin(notes=replacing_the_state))
    assert explain(scheduler, pod().pod).verdict is Verdict.SCHEDULED


@pytest.mark.parametrize("how", [raising, quitting, raising_no_exception, of_numbers, answering(None)])
@pytest.mark.parametrize("method", WORDS)
def test_fault_of_what_a_plugin_adds_costs_an_explanation_no_more_than_that(method, how):
    kind = plugin(filter=lambda self, cycle, nodes: MASK.where(rows(nodes), why="x"), **{method: how})
    scheduler, _ = scheduler_with(kind)
    answer = explain(scheduler, pod().pod)
    assert answer.verdict is Verdict.UNSCHEDULABLE
    assert "refused for x" in answer.message
    if method != "violations":  # which are asked only after a fix
        assert f"failed in {method}" in repr(answer) or f"{method} returned" in repr(answer)


def finding_something(self, cycle, nodes):
    return framework.Verdicts((), findings=SimpleNamespace(at=lambda row: "something"))


@pytest.mark.parametrize("how", [raising, quitting, of_text, of_numbers])
def test_fault_of_allocations_is_told_beside_them(how):
    scheduler, _ = scheduler_with(plugin(filter=finding_something, allocations=how))
    (taken,) = explain(scheduler, pod().pod).takes
    assert "failed" in taken.text


def test_evictions_that_are_not_those_of_the_victims_are_a_fault():
    def invents(self, result, answer):
        return msgspec.structs.replace(answer, evictions=[Victim("shop/nobody", 0)])

    kind = plugin(filter=lambda self, cycle, nodes: MASK.where(rows(nodes), why="x"), explain_preemption=invents)
    answer = explain(scheduler_with(kind)[0], pod().pod)
    assert answer.preemption.text == "Odd failed: explain_preemption tells of 1 eviction, expected 0"


def replacing_the_state(self, cycle, *_):
    cycle.state = None


@pytest.mark.parametrize("method", IN_CYCLE[:5])
def test_state_of_the_cycle_that_is_replaced_is_a_fault(method):
    scheduler, _ = scheduler_with(plugin(**{method: replacing_the_state}))
    outcome = scheduler.attempt(pod())
    assert outcome.error == (
        'plugin "Odd" failed: cycle.state was replaced by None, expected `cycle.state[KEY] = value`'
    )


def test_state_of_the_cycle_that_pre_bind_replaces_is_a_fault():
    outcome, _ = simulate_with(plugin(pre_bind=replacing_the_state))
    assert "cycle.state was replaced by None" in outcome.message


def writing(self, *arguments):
    arguments[-1][:] = 0
    return arguments[-1]


@pytest.mark.parametrize("method", ["normalize", "post_filter"])
def test_arrays_that_are_handed_in_cannot_be_written_to(method):
    scheduler, _ = scheduler_with(plugin(**{method: writing}))
    outcome = scheduler.attempt(pod(cpu="8" if method == "post_filter" else "1"))
    text = outcome.error or outcome.post_filter.status.message
    assert re.search(rf"ValueError: assignment destination is read-only{PLACE}", text)


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda nodes, pod: NodeInfo(nodes, 0).labels.update(team="red"), id="the labels of a node"),
        pytest.param(lambda nodes, pod: NodeInfo(nodes, 0).taints.clear(), id="the taints of a node"),
        pytest.param(lambda nodes, pod: nodes.names.append("c"), id="the names of nodes"),
        pytest.param(lambda nodes, pod: nodes.rows.fill(0), id="the rows of nodes"),
        pytest.param(lambda nodes, pod: pod.demand.fit_requests.update(cpu=0), id="what a pod requests"),
        pytest.param(lambda nodes, pod: pod.requests.exact.clear(), id="what a pod takes"),
        pytest.param(lambda nodes, pod: nodes.cluster.pending.clear(), id="the pending pods"),
        pytest.param(lambda nodes, pod: nodes.cluster.every(Namespace).clear(), id="the objects of a kind"),
        pytest.param(lambda nodes, pod: setattr(pod.pod, "spec", None), id="an API object"),
    ],
)
def test_what_plugins_look_at_cannot_be_written_to(write):
    def scribbling(self, cycle, nodes):
        write(nodes, cycle.pod)
        return framework.ACCEPT

    scheduler, _ = scheduler_with(plugin(filter=scribbling))
    error = scheduler.attempt(pod(cpu="1")).error
    assert re.fullmatch(rf"plugin \"Odd\" failed: (Attribute|Type|Value)Error: .*{PLACE}", error)


class Mute:
    """A value without words."""

    def __str__(self):
        raise RuntimeError("no words")


CIRCLE = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("value", "text", "told"),
    [
        pytest.param(
            Mute(), "RuntimeError: no words", "Mute that cannot be told (RuntimeError: no words", id="no text"
        ),
        pytest.param(CIRCLE, "[[...]]", "list that cannot be told (RecursionError", id="a circle"),
        pytest.param("\ud800", "\ufffd", "\ufffd", id="half a character"),
        pytest.param("x" * 70_000, "… (70,012 characters)", "… (70,000 characters)", id="a text of many pages"),
        pytest.param(b"x", "b'x'", "b'x'", id="bytes"),
        pytest.param({(1, 2): {3}}, "{(1, 2): {3}}", {"[1, 2]": [3]}, id="a mapping by tuples"),
        pytest.param(float("nan"), "nan", None, id="no number"),
    ],
)
@pytest.mark.parametrize("whole_pod", [False, True], ids=["Filter", "PreFilter"])
def test_evidence_of_any_kind_is_told(value, text, told, whole_pod):
    def refuses(self, cycle, nodes):
        return MASK.status(why=value) if whole_pod else MASK.where(rows(nodes), why=value)

    scheduler, _ = scheduler_with(plugin(**{"pre_filter" if whole_pod else "filter": refuses}))
    answer = explain(scheduler, pod().pod)
    assert text in answer.message
    document = msgspec.json.decode(msgspec.json.encode(answer))
    (reason,) = document["reasons"]
    why = (reason if whole_pod else reason["groups"][0])["evidence"]["why"]
    assert why == told or told in why


def test_reason_of_many_megabytes_is_cut():
    kind = plugin(pre_filter=answering(framework.unschedulable("x" * 9_000_000)))
    error = scheduler_with(kind)[0].attempt(pod()).pre_filter.message
    assert (len(error) < 2000, error.endswith("… (9,000,000 characters)")) == (True, True)


def test_pods_on_a_node_are_a_list_of_ones_own():
    scheduler, _ = scheduler_with(
        plugin(filter=lambda self, cycle, nodes: [nodes.pods_on(0).clear(), framework.ACCEPT][1]),
        *(node("a"), pod("runs", on="a")),
    )
    assert scheduler.attempt(pod()).error == ""
    assert len(scheduler.cluster.nodes.pods_on(0)) == 1


def test_ctrl_c_in_a_plugin_ends_the_program():
    def interrupted(*_):
        raise KeyboardInterrupt

    scheduler, _ = scheduler_with(plugin(filter=interrupted))
    with pytest.raises(KeyboardInterrupt):
        scheduler.attempt(pod())


def removing_a_node(self, *_):
    self.handle.cluster.remove_node("a")


@pytest.mark.parametrize("method", [*IN_CYCLE[:4], "pre_enqueue", "post_filter"])
@pytest.mark.parametrize(
    "change",
    [
        removing_a_node,
        lambda self, *_: self.handle.cluster.add_node(node("c")),
        lambda self, *_: self.handle.cluster.add_pod(pod("more", on="a")),
        lambda self, *_: self.handle.cluster.remove_pod(next(iter(self.handle.cluster.pod_table))),
        lambda self, *_: self.handle.cluster.put(Namespace(ObjectMeta(name="more"))),
    ],
    ids=["a node removed", "a node added", "a pod added", "a pod removed", "an object put"],
)
def test_a_plugin_that_changes_the_cluster_in_a_cycle_fails_with_its_line(method, change):
    scheduler, _ = scheduler_with(plugin(**{method: change}), node("a"), node("b"), pod("runs", on="a", cpu="1"))
    generation = scheduler.cluster.generation
    outcome = scheduler.attempt(pod(cpu="8" if method == "post_filter" else "1"))
    texts = [outcome.error, *(outcome.gated.reasons if outcome.gated else ())]
    texts += outcome.post_filter.status.reasons if outcome.post_filter else ()
    expected = r"RuntimeError: the cluster is only read here: Reserve, Unreserve and PreBind alone change it"
    assert any(re.search(expected + PLACE, text) for text in texts), texts
    assert scheduler.cluster.generation == generation


def test_the_cluster_may_be_changed_after_a_cycle_that_failed():
    scheduler, _ = scheduler_with(plugin(filter=raising), node("a"))
    scheduler.attempt(pod())
    scheduler.cluster.add_node(node("b"))


def test_a_fault_on_empty_nodes_is_told_beside_the_answer():
    kind = plugin(with_pods=raising)
    scheduler, _ = scheduler_with(kind, node("a", cpu="1"), pod("runs", on="a", cpu="1"))
    answer = explain(scheduler, pod(cpu="1").pod)
    assert answer.verdict is Verdict.UNSCHEDULABLE
    assert answer.outlook is None
