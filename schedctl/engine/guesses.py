"""What a cycle's answer rests on that is not known: reads of kinds that could not be listed, and which of them matter.

A plugin that asks for objects of a missing kind gets those that are known, usually none, and answers as if there were
no others: a guess. So is the silence of an extender that should be asked and is not: as if it had no objection and no
preference. `decisive` says for which guesses the answer may not be true. The rule, in one place:

- Whatever was read at PreEnqueue, and all that was read before a fault, decides.
- That a pod is refused stands if somebody who did not guess refuses it as a whole, or each node first. What others
  would say besides can only change the reasons that are given. Else every guess of PreFilter and Filter decides.
- What preemption comes to stands if it found no node and asked no filter that guesses. Where it nominates a node,
  every guess before it decides, too.
- That a pod fits on just these nodes rests on every guess of PreFilter and Filter. Which of them is the best rests on
  every guess of PreScore and Score, unless there is one only, which kube-scheduler does not score.

A PreFilter that guesses stands for the plugin's Filter, and a PreScore for its Score, whether they were asked or
skipped. The rule errs on one side: an answer it lets pass is that of the whole cluster, but for the reasons given with
a refusal; one that it holds back may be, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from schedctl.engine.attempts import Attempt

ADMISSION = "admission"
"""Stands for the point at which a pod was made, before there was a cycle."""
FILTERING = frozenset(("preFilter", "filter"))
SCORING = frozenset(("preScore", "score"))


class Guess(NamedTuple):
    """A missing kind was read, or an extender gave no answer.

    Attributes:
        point: at which extension point of the cycle, as configurations call it.
        plugin: who read it; "" where every plugin does, as with nodes and pods; or the extender.
        kind: of which kind; of an extender, the class of `schedctl.framework.extenders.Unanswered` that says why.
    """

    point: str
    plugin: str
    kind: type


def decisive(outcome: Attempt) -> frozenset[Guess]:
    """Return the guesses of an attempt that its answer (verdict, nodes, nomination) rests on; none where it stands."""
    guesses = outcome.guesses
    if not guesses or outcome.error:
        return guesses
    deciding = {guess for guess in guesses if guess.point == "preEnqueue"}
    before = {guess for guess in guesses if guess.point in FILTERING}
    if outcome.scoring is not None:
        deciding |= before
        if len(outcome.scoring.nodes) > 1:
            deciding |= {guess for guess in guesses if guess.point in SCORING}
        return frozenset(deciding)
    tried = {guess for guess in guesses if guess.point == "postFilter"}
    nominates = outcome.post_filter is not None and outcome.post_filter.nominated_node
    if nominates or not _refused_for_sure(outcome, frozenset(guess.plugin for guess in before)):
        deciding |= before
    return frozenset(deciding | tried)


def _refused_for_sure(outcome: Attempt, guessing: frozenset[str]) -> bool:
    """Return whether plugins that did not guess refuse the pod as a whole, or every node before any other does."""
    if "" in guessing:
        return False
    if outcome.pre_filter.rejected and outcome.pre_filter.plugin:
        return outcome.pre_filter.plugin not in guessing
    if outcome.narrowing_plugins & guessing:
        return False
    return outcome.filtering is None or not outcome.filtering.refusing_plugins() & guessing
