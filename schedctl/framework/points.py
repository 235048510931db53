"""The extension points: one base class each, with one method a plugin must have.

A plugin is a class that inherits the points it takes part in, made once per profile with its arguments and a `Handle`;
`Plugin` says what all of them have in common, `POINTS` has them in the order of a cycle. What the methods take and
return is in `cycles`, `reasons`, `statuses` and `events`; `lifting` makes a column's method of one written for a node.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from schedctl.api.kinds import Kind
from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.config.args import PluginArgs
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import EVERY_EVENT, Registration
from schedctl.framework.handles import Handle
from schedctl.framework.reasons import CodeColumn, Verdicts
from schedctl.framework.remarks import Remark, Trials
from schedctl.framework.statuses import Status
from schedctl.releases import Release

if TYPE_CHECKING:  # for explanations, which a run does without
    from schedctl.framework.domain_counts import DomainCounts
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Allocation, Wording
    from schedctl.reports.explanations import Preemption


@dataclass(frozen=True, slots=True)
class NodeSet:
    """PreFilter's answer that only these nodes can do, by name."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """What PostFilter achieved.

    Attributes:
        status: Success when the pod may be tried again on the nominated node.
        nominated_node: the node it was nominated to, "" for none; None leaves a nomination as it was.
        victims: the pods that have to go, the most important first; those on their way out already are among them.
        findings: what the plugin found out on the way, for explanations; of a type of its own.
        objects: objects as the plugin would leave them in the cluster, such as a claim without its devices.
        removed: objects that the plugin would delete.
    """

    status: Status
    nominated_node: str | None = None
    victims: tuple[PodInfo, ...] = ()
    findings: Any = None
    objects: tuple[Any, ...] = ()
    removed: tuple[Any, ...] = ()

    @property
    def settles(self) -> bool:
        """Whether objects are changed or deleted."""
        return bool(self.objects or self.removed)


class Plugin(ABC):  # noqa: B024 - abstract until it takes part in a point
    """Anything with a name. `args` are the plugin's typed arguments from the profile, None where it takes none.

    Methods that look at nodes take a column (`Nodes`) and answer for all of it at once. A plugin writes nothing but the
    cycle's state, and that only in the ``pre_`` methods; every other method gives the same answer however often and in
    whatever order rows are asked about. Reserve, Unreserve and PreBind alone change the cluster: they put what they
    took into it as objects, so that the next pod, and a fork undone, see it. Refusals are values (`Verdicts`,
    `Status`); an exception is a fault and ends the cycle with an Error in the plugin's name.

    Attributes:
        name: the name in configurations and output; the class name unless set.
        reads: the kinds that it reads besides nodes and pods; where one is missing, its answers may be guesses.
        kinds: those among them that are not Kubernetes' own; they are read and listed for its sake, and their objects
            are in the cluster under their structs, as all others are. No event tells of their changes.
        skips_resizes: whether it has nothing to say of a running pod that waits for more of its node (KEP-5836), for
            what it judges was judged when the pod came there.
        reads_feasible_set: whether raw scores, or what PreScore says, depend on which nodes are feasible; True, the
            default, is always right.
        foreseeable: whether it may be asked about pods that are not there yet, and about nodes that others reject: all
            that `signature` reads of a pod is what a template writes (namespace, labels, owner references, spec), what
            the kubelet has granted it, and whether it is on its way out; and but for counters, its answer about a node
            reads nothing of the pods there but what they take, nor does it depend on the feasible nodes whether its
            PreScore skips. False, the default, is always right.
        memory_only: whether nothing that it does from Reserve on has an effect outside of the process, but what PreBind
            puts into the cluster of volumes and claims. Such a plugin takes part in the plan of a bind, which is shown
            before anything is done; of others the plan says that they would be called. Under ``bind --execute`` the
            volumes and claims are written to the API server.
        wants_client: whether it asks the API server itself under ``bind --execute``, by ``handle.client``.
        args_type: the type of the arguments of a plugin that is not Kubernetes' own; None where it takes any, as they
            are written. (Those of Kubernetes' own are in `schedctl.config.args`.)
    """

    name: ClassVar[str] = ""
    args_type: ClassVar[type[PluginArgs] | None] = None
    reads: ClassVar[tuple[type, ...]] = ()
    kinds: ClassVar[tuple[Kind, ...]] = ()
    skips_resizes: ClassVar[bool] = False
    reads_feasible_set: ClassVar[bool] = True
    foreseeable: ClassVar[bool] = False
    memory_only: ClassVar[bool] = False
    wants_client: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # a class of its own has a name of its own: the one inherited is that of another plugin
        if not cls.__dict__.get("name"):
            cls.name = cls.__name__

    def __init__(self, args: Any, handle: Handle) -> None:
        self.args = args
        self.handle = handle

    @property
    def release(self) -> Release:
        """The kube-scheduler whose rules hold; its version and gates choose, when a plugin is made, what it does."""
        return self.handle.cluster.release

    def signature(self, pod: PodInfo) -> Hashable | None:
        """Return all this plugin reads of a pod, hashable; None, the default, has it asked anew for every pod.

        Two pods of equal signatures get equal answers on an equal cluster, and the plugin is asked again only where
        what it has read of that has changed: of nodes what `Nodes` says of them, objects it has looked up, counters.
        What other plugins leave in the cycle's state is not to be read by a plugin that has a signature. One that is
        the same for all pods written alike, whatever the cluster holds, may say so, and is asked for once: it is then
        an `AsWritten` of `schedctl.framework.signatures`.
        """
        return None

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that could make the plugin accept a pod it has refused, with their hints.

        Called once, when a queue is made, of plugins that can refuse: PreEnqueue, PreFilter, Filter, Reserve, Permit. A
        pod refused by plugins that hear of no event comes back only after it has waited for long. A hint reads of a
        pod what `signature` covers. The default, every event without a hint, is always right, and costs attempts.
        """
        return EVERY_EVENT

    def remarks(self, cycle: Cycle, trials: Trials) -> Sequence[Remark]:
        """Return what there is to say of a pod beyond what its own cycle shows, such as how its group stands.

        Called after a cycle that somebody wants explained, never in a run. Nothing but `trials` may be changed by it.
        """
        return ()

    def domain_counts(self, cycle: Cycle) -> Sequence[DomainCounts]:
        """Return how the pods that this pod is to be spread among are spread now, an entry for each rule.

        Called after a cycle that somebody wants explained, never in a run; it changes nothing.
        """
        return ()

    def warnings(self, pod: PodInfo, replicas: int) -> Sequence[Remark]:
        """Return what in a pod's spec does not do what was probably meant, such as a selector that matches no pod.

        Told whether or not the pod finds a node. Called outside of cycles, never in a run; it changes nothing.

        Args:
            pod: the pod.
            replicas: how many pods like it its workload is to have, 1 where that is not known.
        """
        return ()

    def violations(self, pod: PodInfo) -> Mapping[str, str]:
        """Return which of a pod's rules the pods of its workload do not keep on the cluster as it is.

        Explanations ask before and after a fix, and tell what is new. Called outside of cycles, never in a run.

        Returns:
            By what the rule is about, such as a topology key, what stands behind the workload's name: ``has skew 2 …``.
        """
        return {}

    def wording(self) -> Mapping[str, Wording]:
        """Return how the evidence of this plugin's reasons reads, by reference (``team-fence/foreign``).

        An entry of the plugin's name alone (``team-fence``) is for all its other reasons. The evidence of a reason
        without an entry is listed name by name. This and what follows is asked for explanations, never in a run: what
        it needs is best imported in the method.
        """
        return {}

    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        """Return what might undo one of this plugin's rejections of a pod, the best choice first.

        Each is a `Remedy`, or a tuple of them that only help together; `explain` tries them on a fork, together with
        those of the other plugins that reject the node, and tells those after which the pod fits. Nothing may be
        changed by asking. `Advice` is told untried, of a pod that is rejected as a whole.
        """
        return ()

    def allocations(self, finding: Any) -> Iterable[Allocation]:
        """Return what the pod would be given on a node, of what the plugin's Filter found out about that node."""
        return ()

    def notes(self, cycle: Cycle) -> Iterable[str]:
        """Return what to know about the answers of this plugin's Filter, such as what it could not judge."""
        return ()


class PreEnqueuePlugin(Plugin):
    """May keep a pod out of the queue."""

    @abstractmethod
    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Called whenever the pod would enter the active queue. Anything but Success keeps it out, gated."""


class QueueSortPlugin(Plugin):
    """Orders the queue; a profile has exactly one, and all profiles of a scheduler the same."""

    @abstractmethod
    def sort_key(self, pod: PodInfo, arrival: float) -> Any:
        """Return what to sort a queued pod by, least first; `arrival` is when it came, in seconds."""


class PreFilterPlugin(Plugin):
    """Looks at the pod once before any node is asked."""

    @abstractmethod
    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | NodeSet | None:
        """Called once per cycle with all nodes. Writes the plugin's state.

        None goes on; a `NodeSet` narrows the search, sets of several plugins are intersected; Skip leaves the plugin's
        Filter out; Unschedulable lets the other PreFilters run but refuses the pod; UnschedulableAndUnresolvable
        refuses it at once; Error ends the cycle.
        """

    def with_pods(self, cycle: Cycle, nodes: Nodes) -> None:
        """Replace the plugin's state in ``cycle.state`` by one that fits a supposed column (AddPod and RemovePod).

        Called with a scratch cycle and a column with `changes`, only where `pre_filter` did not skip. States that do
        not count pods have nothing to do, which is the default: such plugins see the change through the row.
        """


class FilterPlugin(Plugin):
    """Says which nodes are rejected.

    Attributes:
        filters_all_nodes: whether Filter wants to be asked about all nodes at once, those that filters before it have
            rejected among them. Its answers are kept only then. False, the default, has it asked as kube-scheduler
            asks: about nodes still standing.
    """

    filters_all_nodes: ClassVar[bool] = False

    @abstractmethod
    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Called once per cycle, with the nodes still standing or with all. A row's verdict depends on that row alone.

        Called again with other columns for nominated pods, by preemption and for the full matrix.
        """


class PostFilterPlugin(Plugin):
    """Tries to make room when no node is feasible."""

    @abstractmethod
    def post_filter(self, cycle: Cycle, nodes: Nodes, codes: CodeColumn) -> PostFilterResult:
        """Called in profile order until one succeeds, fails or says UnschedulableAndUnresolvable.

        Args:
            cycle: the failed cycle.
            nodes: all nodes.
            codes: int8 (n,), why each was refused; unresolvable for nodes PreFilter ruled out.
        """

    def explain_preemption(self, result: PostFilterResult, answer: Preemption) -> Preemption:
        """Return what an explanation says of the preemption, filled in with what this plugin found out on the way.

        Called of each plugin, whose findings they may not be; the default adds nothing.
        """
        return answer

    def preemption_notes(self, result: PostFilterResult) -> Iterable[str]:
        """Return what went wrong on the way and was passed over, such as extenders that did not answer."""
        return ()


class PreScorePlugin(Plugin):
    """Looks at the feasible nodes once before any is scored."""

    @abstractmethod
    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Called once per cycle with the feasible nodes. Skip leaves Score out, other refusals are faults."""


class ScorePlugin(Plugin):
    """Ranks feasible nodes.

    Attributes:
        normalizes_by_extremes: whether a normalised score depends on nothing but the raw one and the least and the
            largest raw score of the feasible nodes; False, the default, is always right.
    """

    normalizes_by_extremes: ClassVar[bool] = False

    @abstractmethod
    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Return the raw score of each feasible node, int64 (n,); a row's score depends on that row alone."""

    def normalize(self, cycle: Cycle, nodes: Nodes, scores: IntArray) -> IntArray:
        """Return the scores scaled to 0..100 over the whole feasible set, int64 (n,); unchanged by default."""
        return scores


class ReservePlugin(Plugin):
    """Keeps what a pod needs from being given to another between the decision and the bind."""

    def pod_on_node(self, cycle: Cycle, pod: PodInfo, node_name: str) -> PodInfo:
        """Return the pod as it stands on the chosen node from `reserve` on: with what its status says from then on."""
        return pod

    @abstractmethod
    def reserve(self, cycle: Cycle, node_name: str) -> Status:
        """Called once the node is chosen; anything but Success undoes all reservations and fails the cycle."""

    @abstractmethod
    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Called for every Reserve plugin, last first, when a later step fails; must be idempotent."""


class PermitPlugin(Plugin):
    """May hold a pod back, or refuse it, just before it is bound."""

    @abstractmethod
    def permit(self, cycle: Cycle, node_name: str) -> Status:
        """Success approves, a refusal undoes the reservation, Wait holds the pod for at most the given seconds."""


class PreBindPlugin(Plugin):
    """Does the work that must be done before the bind.

    Under ``bind --execute`` `handle.journal` writes objects, which are taken back if the pod is not bound in the end.
    """

    @abstractmethod
    def pre_bind(self, cycle: Cycle, node_name: str) -> Status:
        """Called in the binding cycle; anything but Success undoes the reservation."""

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> bool:
        """Return whether `pre_bind` has anything to do for the pod; it has, unless a plugin knows better."""
        return True


class BindPlugin(Plugin):
    """Binds the pod."""

    @abstractmethod
    def bind(self, cycle: Cycle, node_name: str) -> Status:
        """Called in order until one does not answer Skip.

        Success is believed: the plugin has bound the pod, by ``handle.bind`` or by itself. A dry run binds nothing.
        """


class PostBindPlugin(Plugin):
    """Is told of a bound pod."""

    @abstractmethod
    def post_bind(self, cycle: Cycle, node_name: str) -> None:
        """Called after the bind went through; in a dry run, when it would have."""


# The order of calls in one pod's cycle; Unreserve is called when anything from Reserve on fails:
#   pre_enqueue, queue_sort | pre_filter, filter, post_filter | pre_score, score, normalize | reserve, permit |
#   pre_bind, bind, post_bind
POINTS: dict[str, type[Plugin]] = {
    "preEnqueue": PreEnqueuePlugin,
    "queueSort": QueueSortPlugin,
    "preFilter": PreFilterPlugin,
    "filter": FilterPlugin,
    "postFilter": PostFilterPlugin,
    "preScore": PreScorePlugin,
    "score": ScorePlugin,
    "reserve": ReservePlugin,
    "permit": PermitPlugin,
    "preBind": PreBindPlugin,
    "bind": BindPlugin,
    "postBind": PostBindPlugin,
}
"""Extension points by their name in configurations, in the order of a cycle."""
