"""Asks the plugins that reject a pod what would undo it. Nothing is tried here; that is for `trials`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from schedctl.engine.attempts import Attempt
from schedctl.engine.faults import describe_fault
from schedctl.framework.faults import ESCAPING, wrong
from schedctl.framework.points import Plugin
from schedctl.framework.remedies import REMOVE_PODS, Advice, Reach, Rejection, Remedy, Together, remove_pods
from schedctl.framework.statuses import Code
from schedctl.reports.reasons import Reason


class PluginRemedies:
    """What the plugins of a profile offer for one pod.

    Attributes:
        faults: in words, what went wrong in asking them; each once.
    """

    def __init__(self, outcome: Attempt, hypothetical_nodes: Collection[str] = ()) -> None:
        """Prepare to ask.

        Args:
            outcome: the attempt in which they rejected it.
            hypothetical_nodes: nodes that are as a what-if has them, which no fix undoes.
        """
        self._hypothetical_nodes = hypothetical_nodes
        self._plugins = outcome.profile.plugins
        self._pod = outcome.pod
        self.faults: dict[str, None] = {}

    def of(self, rejection: Rejection) -> list[Together]:
        """Return what might undo a rejection on its node, the best choice first; empty where nothing is known."""
        found = [each for each in self._offers(rejection.plugin, rejection) if not isinstance(each, Advice)]
        if rejection.node in self._hypothetical_nodes:
            return [each for each in found if all(remedy.reach is not Reach.NODE for remedy in each)]
        return found

    def of_whole_pod(self, reason: Reason) -> Together:
        """Return the best choice against a rejection of the pod as a whole by PreFilter.

        Where several plugins together leave no node to search, the first is taken that knows a remedy.
        """
        offers = (offer for each in _whole_pod(reason) for offer in self._offers(each.plugin, each))
        return next((each for each in offers if not isinstance(each, Advice)), ())

    def advice(self, reasons: Iterable[Reason]) -> list[Advice]:
        """Return the steps that only people can take for a pod that was rejected as a whole."""
        rejections = (each for reason in reasons if reason.whole_pod for each in _whole_pod(reason))
        return [offer for each in rejections for offer in self._offers(each.plugin, each) if isinstance(offer, Advice)]

    def _offers(self, name: str, rejection: Rejection) -> Iterator[Together | Advice]:
        plugin = self._plugins.get(name)
        if plugin is None:  # an extender
            return
        for offer in self._guard(plugin, rejection):
            together = (offer,) if isinstance(offer, Remedy) else offer
            if not isinstance(together, Advice) and not _are_remedies(together):
                text = wrong(plugin, "remedies", offer, "a sequence of Remedy, tuples of Remedy, and Advice")
                self.faults[f"{name} failed: {text}"] = None
                return
            yield together

    def _guard(self, plugin: Plugin, rejection: Rejection) -> Iterator[Remedy | Together | Advice]:
        """Yield what a plugin offers, one after the other, up to its fault: an explanation is worth more without."""
        offers: Iterator[Remedy | Together | Advice] | None = None
        while True:
            try:
                offers = offers or iter(plugin.remedies(self._pod, rejection))
                offer = next(offers)
            except StopIteration:
                return
            except KeyboardInterrupt:
                raise
            except ESCAPING as fault:
                self.faults[f"{plugin.name} failed in remedies: {describe_fault(plugin, fault)}"] = None
                return
            yield offer


def _are_remedies(offer: object) -> bool:
    return isinstance(offer, tuple) and bool(offer) and all(isinstance(each, Remedy) for each in offer)


def join(found: Iterable[Together]) -> Together:
    """Return every remedy once; pods to be removed are removed by one of them."""
    remedies = dict.fromkeys(remedy for together in found for remedy in together)
    pods = {pod for remedy in remedies if remedy.kind == REMOVE_PODS for pod in remedy.removed_pods}
    kept = tuple(remedy for remedy in remedies if remedy.kind != REMOVE_PODS)
    return (*kept, remove_pods(sorted(pods))) if pods else kept


def _whole_pod(reason: Reason) -> list[Rejection]:
    """Return the rejection of the pod by each of the plugins that a reason names."""
    code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    return [
        Rejection(plugin, reason.reference, reason.text, code, "", reason.evidence)
        for plugin in reason.plugin.split(", ")
    ]
