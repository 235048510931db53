"""Following a live cluster: it ends in time whatever happens, and what is not heard any more is not known."""

from __future__ import annotations

import pytest

from schedctl.api.kinds import named
from schedctl.cli.watch import _until_bound
from schedctl.explain.explanations import explain
from schedctl.live.watching import Removed, Trouble
from schedctl.scheduler import Scheduler
from schedctl.session.watch import Troubles, applied
from schedctl.testing.builders import node, pod
from schedctl.workloads.clusters import assemble

SERVICE, NODE = named("Service"), named("Node")


@pytest.fixture
def assembled():
    return assemble([node("a"), node("b"), pod("web", labels={"app": "web"}, metadata={"uid": "1"}).pod])


def asking(assembled):
    return lambda now: explain(Scheduler(assembled.cluster), now, hints=False)


def test_patience_ends_although_something_happens_all_the_time(assembled):
    (waiting,) = assembled.cluster.pending.values()
    beat = Removed(NODE, b'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "nobody"}}')
    told = []
    code = _until_bound(
        assembled,
        waiting.pod,
        asking(assembled),
        lambda left: [beat],
        told.append,
        seconds=0.05,
        said=lambda news: None,
        news_of=lambda answer: answer,
    )
    assert code == 1
    assert told[-1].text == "pod default/web is still pending"


def test_a_kind_whose_changes_are_not_seen_makes_what_needs_it_a_guess(assembled):
    (waiting,) = assembled.cluster.pending.values()
    assert asking(assembled)(waiting.pod).verdict == "Scheduled"
    assert applied(assembled, [Trouble(SERVICE, "services is forbidden", lasting=True)])
    answer = asking(assembled)(waiting.pod)
    assert answer.verdict == "Inconclusive"
    assert "whose changes are not seen" in answer.guesses[0].text


def test_trouble_is_said_once_until_that_kind_is_heard_again(capsys):
    troubles = Troubles(quiet=False)
    trouble, other = Trouble(SERVICE, "it fell silent", lasting=False), Removed(NODE, b"{}")
    for news in ([trouble], [other], [trouble], [Removed(SERVICE, b"{}")], [trouble]):
        troubles.said(news)
    assert capsys.readouterr().err.count("cannot be watched for the moment") == 2
