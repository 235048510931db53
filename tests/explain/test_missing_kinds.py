"""Explanations of pods on clusters of which a kind could not be listed."""

from schedctl.api.gaps import Gap
from schedctl.api.policies import LimitRange
from schedctl.engine.assumptions import Assumption
from schedctl.explain.explanations import explain, report
from schedctl.reports.explanations import Verdict
from schedctl.reports.metadata import MissingKind
from schedctl.scheduler import Scheduler
from schedctl.scheduler.gaps import log_assumptions, missing_kinds, weakened_plugins
from schedctl.testing.builders import ZONE, cluster, node, pod

WEB = {"app": "web"}


def cluster_lacking(*gaps):
    made = cluster(node("a", zone="x"), node("b", zone="y"), pod("other", on="a", cpu="1", labels=WEB))
    made.lack([Gap(*gap) for gap in gaps])
    return made


def test_the_chosen_node_is_a_guess_without_services_and_what_is_known_stays():
    found = explain(Scheduler(cluster_lacking(("Service", "Forbidden"))), pod(labels=WEB))
    assert (found.verdict, found.apparent, found.chosen) == (Verdict.INCONCLUSIVE, Verdict.SCHEDULED, "b")
    assert [score.node for score in found.scores] == ["b", "a"]
    assert [guess.text for guess in found.guesses] == [
        "PodTopologySpread would also look at Services, which may not be listed: the chosen node is a guess"
    ]
    assert found.hints == []


def test_a_refusal_that_others_justify_is_no_guess():
    found = explain(Scheduler(cluster_lacking(("Service", "Forbidden"))), pod(labels=WEB, cpu="64"))
    assert (found.verdict, found.apparent, found.guesses) == (Verdict.UNSCHEDULABLE, None, [])


def test_reasons_that_might_be_added_are_told_of_and_change_nothing():
    made = cluster(node("a", unschedulable=True))
    made.lack([Gap("PersistentVolumeClaim", "LeftOut"), Gap("Namespace", "Forbidden")])
    terms = [{"topologyKey": ZONE, "labelSelector": {}, "namespaceSelector": {"matchLabels": {"team": "a"}}}]
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    found = explain(Scheduler(made), pod(affinity=affinity))
    assert found.verdict is Verdict.UNSCHEDULABLE
    assert [(guess.plugin, guess.decides) for guess in found.guesses] == [("InterPodAffinity", False)]
    assert found.guesses[0].text.endswith("it might give other reasons, which would change nothing")


def test_what_made_the_pod_counts():
    made = cluster_lacking(("LimitRange", "Forbidden"))
    found = explain(Scheduler(made), pod(), assumptions=[Assumption("admission", "LimitRanger", LimitRange)])
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.guesses[0].text == (
        "LimitRanger would also look at LimitRanges, which may not be listed: that it fits, and where, is a guess"
    )


def test_an_inconclusive_answer_makes_the_exit_code_5_and_a_proven_no_wins():
    scheduler = Scheduler(cluster_lacking(("Service", "Forbidden")))
    guess, refusal = (explain(scheduler, pod(labels=WEB, cpu=cpu)) for cpu in ("1", "64"))
    assert report([guess]).summary.exit_code == 5
    assert report([guess, refusal]).summary.exit_code == 5
    assert report([guess, refusal], fail=True).summary.exit_code == 1


def test_a_report_names_what_is_missing_and_whom_that_weakens():
    made = cluster_lacking(("Service", "Forbidden", "no"), ("LimitRange", "LeftOut"), ("StorageClass", "Unread"))
    assert missing_kinds(made) == [
        MissingKind("Service", "Forbidden", ["PodTopologySpread"], "no"),
        MissingKind("LimitRange", "LeftOut", ["LimitRanger"]),
        MissingKind(
            "StorageClass", "Unread", ["NodeVolumeLimits", "VolumeBinding", "VolumeZone", "DefaultStorageClass"]
        ),
    ]


def test_without_pods_everybody_is_weakened():
    assert "NodeName" in weakened_plugins(type(pod().pod))


def test_a_command_rests_on_what_its_attempts_guess_and_on_what_makes_pods_reads():
    made = cluster_lacking(("Service", "Forbidden"), ("LimitRange", "Forbidden"))
    with log_assumptions(made) as gathered:
        made.every(LimitRange)
        Scheduler(made).attempt(pod(labels=WEB))
    assert [(guess.plugin, guess.kind) for guess in gathered.describe()] == [
        ("LimitRanger", "LimitRange"),
        ("PodTopologySpread", "Service"),
    ]
    with log_assumptions(made) as again:
        Scheduler(made).attempt(pod())
    assert again.describe() == []


def test_no_outlook_is_given_where_filters_guess():
    scheduler = Scheduler(cluster_lacking(("DeviceClass", "Forbidden")))
    assert explain(scheduler, pod(cpu="64")).outlook is not None
    assert explain(scheduler, pod(cpu="64", requests={"example.com/gpu": "1"})).outlook is None


def test_where_a_victim_would_go_is_left_open_where_it_is_a_guess():
    made = cluster(*(node(name, cpu="2") for name in "abc"), pod("low", on="a", cpu="2", labels=WEB, priority=0))
    made.lack([Gap("Service", "Forbidden")])
    found = explain(Scheduler(made), pod(cpu="2", priority=10, nodeSelector={"kubernetes.io/hostname": "a"}))
    assert (found.verdict, found.preemption.nominated_node) == (Verdict.UNSCHEDULABLE, "a")
    assert [victim.elsewhere for victim in found.preemption.evictions] == [None]
