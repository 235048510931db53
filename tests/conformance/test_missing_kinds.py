"""Missing kinds over the recorded corpus: an answer that is not the whole cluster's never passes for one.

Of every family some cases are asked twice: as they were recorded, and once for every kind they hold without its objects
and with the kind marked as one that could not be listed.
"""

import gzip
from typing import NamedTuple

import msgspec
import pytest

from schedctl.api.gaps import Gap
from schedctl.api.kinds import KINDS
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.engine.certainty import assumptions_affecting_verdict
from schedctl.engine.fit_error import message
from schedctl.errors import NotModelled
from schedctl.plugins.in_tree import IN_TREE
from schedctl.scheduler import Scheduler
from tests.conformance.test_replay import CORPUS, FAMILIES

CASES = 6
"""How many cases of a family are asked."""
PODS = 3
"""About how many pods of each."""
RESOLVED = ("PriorityClass",)
"""What an API server has read by the time a pod is scheduled; cases are given as they were before."""


class Answer(NamedTuple):
    """What is said of a pod: all but the reasons must be right where nothing is called a guess."""

    error: bool
    ties: tuple[str, ...]
    nominated: str
    victims: frozenset[str]
    message: str


def attempts_of(case, missing=None):
    """The pods of a case, with what is said of each, by key."""
    cluster, pods = cluster_of(case)
    if missing is not None:
        cluster.lack([Gap(missing, "Forbidden")])
    scheduler = Scheduler(cluster, configuration(case))
    for pod in [each for each in pods if scheduler.profile_of(each)][:PODS]:
        try:
            yield pod.key, scheduler.attempt(pod)
        except NotModelled:
            yield pod.key, None


def answer(outcome):
    result = outcome.post_filter
    return Answer(
        bool(outcome.error),
        tuple(outcome.ties),
        (result.nominated_node or "") if result else "",
        frozenset(info.key for info in result.victims) if result else frozenset(),
        message(outcome),
    )


def sample_of(family):
    lines = gzip.decompress((CORPUS / f"{family}.jsonl.gz").read_bytes()).splitlines()
    for line in lines[:: max(len(lines) // CASES, 1)][:CASES]:
        yield msgspec.convert(msgspec.json.decode(line)["case"], Case)


def without(case, kind):
    return msgspec.structs.replace(case, objects=[obj for obj in case.objects or () if obj.get("kind") != kind])


@pytest.mark.parametrize("family", FAMILIES)
def test_an_answer_without_a_kind_is_the_same_or_a_guess(family):
    for case in sample_of(family):
        whole = {key: answer(outcome) for key, outcome in attempts_of(case) if outcome is not None}
        held = {obj.get("kind") for obj in case.objects or ()}
        for kind in (each.name for each in KINDS if each.name in held):
            if kind in ("Pod", "Node", *RESOLVED):
                continue
            for key, outcome in attempts_of(without(case, kind), missing=kind):
                if outcome is None or key not in whole:
                    continue
                ours, where = answer(outcome), f"{case.id} without {kind}: {key}"
                assert ours[:-1] == whole[key][:-1] or assumptions_affecting_verdict(outcome), where
                assert ours == whole[key] or outcome.assumptions, where
                read = {each.plugin for each in outcome.assumptions if each.kind not in IN_TREE[each.plugin].reads}
                assert not read, f"{where}: {read} read what they do not declare"
